"""The words that reports use, each with what it means, and links from where they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A word, and what it means here."""

    name: str
    meaning: str

    @property
    def anchor(self) -> str:
        """What its id on a page ends with."""
        return self.name.replace(" ", "-")


GLOSSARY = tuple(
    Term(name=name, meaning=meaning)
    for name, meaning in (
        (
            "claim",
            "One statement that an audit can decide: of privacy, of utility, of a rate, a lemma, or a published "
            "number. Where print and evident meaning differ, both are claims.",
        ),
        (
            "setting",
            "One choice of all parameters. A claim is audited at several settings and has a verdict at each; nothing "
            "is said of settings that were not audited.",
        ),
        (
            "view",
            "What the adversary sees: one report, the shuffled reports, or the released output. A privacy claim holds "
            "for one view.",
        ),
        (
            "relation",
            "Which two inputs count as neighbours: one agent's ranking replaced (substitution), one added or removed "
            "(add-remove), or any two inputs of one agent (any-two-inputs).",
        ),
        (
            "tightness",
            "The claimed privacy parameter divided by the measured one. At 1 the claim is tight, above 1 less noise "
            "would do, and below 1 the claim is refuted.",
        ),
        (
            "slack",
            "The factor between a claimed bound and the measured value. Above 1 the bound is kept with room to spare; "
            "below 1 it is broken.",
        ),
        (
            "detection limit",
            "The smallest violation that the samples would have shown with 95 % power, if an event about as likely as "
            "the one chosen forces it, or a rarer one where none as likely can. Where no violation was found, one "
            "below this limit may still exist, and one above it that other events show.",
        ),
        (
            "witness",
            "What refutes a claim and can be recomputed: for privacy two inputs, an event and its two probabilities p "
            "and q; for other claims an instance, the number that was measured and the number that is claimed.",
        ),
        (
            "interval",
            "A number with two more in brackets is an estimate and its confidence interval; two numbers with “to” "
            "enclose the true value.",
        ),
        (
            "control",
            "A broken variant of a system, with one known bug. Every run must refute it, or a clean report would mean "
            "nothing.",
        ),
    )
)
"""The words, in the order in which a reader meets them."""

_LINKED = {term.name: term for term in GLOSSARY if term.name in ("tightness", "slack", "detection limit", "view")}
_WORDS = re.compile("|".join(rf"\b{name}\b" for name in _LINKED))


def with_links(text: str) -> str:
    """Return text as HTML, in which the first of each word that needs a meaning leads to the glossary."""
    seen: set[str] = set()

    def link(found: re.Match[str]) -> str:
        if found[0] in seen:
            return found[0]
        seen.add(found[0])
        return f'<a href="#term-{_LINKED[found[0]].anchor}">{found[0]}</a>'

    return _WORDS.sub(link, escape(text))
