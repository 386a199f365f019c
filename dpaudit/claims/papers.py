"""Papers, and places in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import total_ordering
from typing import Any, Final

from dpaudit.errors import ParameterError

KINDS: Final = (
    "definition",
    "algorithm",
    "line",
    "equation",
    "fact",
    "observation",
    "lemma",
    "proposition",
    "theorem",
    "corollary",
    "remark",
    "figure",
    "table",
)
"""What is numbered within a section, in the order in which it is listed there."""

_WITH_SECTION = ("figure", "table")

STATEMENTS: Final = ("definition", "fact", "observation", "lemma", "proposition", "theorem", "corollary", "remark")
"""What one counter may number together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Erratum:
    """Something printed that cannot be what the authors meant.

    Attributes
    ----------
    where
        The place in the paper; plain words where there is no `Paper`.
    printed, meant, reason
        What is printed, what is implemented instead, and how we know.

    Examples
    --------
    >>> import dpaudit
    >>> wrong = dpaudit.Erratum(where="Equation 3", printed="2/n", meant="2/m", reason="The proof divides by m.")
    >>> wrong.meant
    '2/m'
    """

    where: Place | str
    printed: str
    meant: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """Something that a paper asserts and that is not audited.

    Attributes
    ----------
    where
        The place in the paper.
    says
        What it asserts there, in a plain sentence.
    reason
        Why it is left alone: ``a proof step without a number``, ``about other people's systems``.

    Examples
    --------
    >>> import dpaudit
    >>> paper = dpaudit.Paper(key="mine2026", title="A coin", authors=("Mine",), year=2026)
    >>> left = dpaudit.Assertion(where=paper.at(section="2"), says="The coin is fast.", reason="no number is given")
    >>> str(left.where)
    'Mine 2026, Section 2'
    """

    where: Place
    says: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """A published work whose claims are audited.

    Attributes
    ----------
    key
        Name of its package in the catalogue, of its plan and of its report: ``yan2020``.
    title, authors, year, venue, doi, url
        Bibliographic data; authors by family name, as citations print them.
    sections
        Titles by number, or the titles alone where sections have no numbers, in the paper's order. Places in sections
        that are listed here are sorted by that order, and others by their number.
    symbols
        The paper's symbols and the plain names that stand for them in code.
    one_counter
        Whether one counter numbers theorems, lemmas and the like: Lemma 10 then comes between Corollary 9 and
        Theorem 11.

    Examples
    --------
    >>> paper = Paper(key="yan2020", title="…", authors=("Yan", "Li", "Liu"), year=2020)
    >>> str(paper.at(section="5.4", figure=6))
    'Yan, Li, Liu 2020, Section 5.4, Figure 6'
    """

    key: str
    title: str
    authors: tuple[str, ...]
    year: int
    venue: str = ""
    doi: str = ""
    url: str = ""
    sections: Sequence[str] | Mapping[str, str] = ()
    symbols: Mapping[str, str] = field(default_factory=dict)
    one_counter: bool = False

    @property
    def citation(self) -> str:
        """Authors and year, as a reference in running text."""
        names = ", ".join(self.authors) if len(self.authors) <= 6 else f"{self.authors[0]} et al."
        return f"{names} {self.year}"

    def at(self, *, part: str = "", note: str = "", **steps: Any) -> Place:
        """Return a place in this paper.

        Parameters
        ----------
        part
            What of it: ``proof``, ``before``, ``after``.
        note
            What is read into it, in words: ``with the best constant``.
        steps
            From the section inwards: ``section="5.4", figure=6``, ``algorithm=1, line=4``, ``theorem=2``. Several
            numbers in one step are a tuple. With a section, a theorem is listed there, though its name needs none.

        Raises
        ------
        ParameterError
            A step is of no known kind.
        """
        found = []
        for kind, number in steps.items():
            if kind != "section" and kind not in KINDS:
                raise ParameterError(f"{self.key}: a place has no {kind!r}; it has section, {', '.join(KINDS)}")
            numbers = number if isinstance(number, tuple | list) else (number,)
            found.append((kind, tuple(str(each) for each in numbers)))
        return Place(paper=self, steps=tuple(found), part=part, note=note)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Paper) and self.key == other.key


@total_ordering
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Place:
    """Where in a paper something stands: Theorem 2; Section 5.4, Figure 6; Algorithm 1, line 4.

    Places sort as a reader expects: by section, and within a section by what is numbered there; Theorem 2 comes before
    Theorem 10. They are made by `Paper.at`.

    Attributes
    ----------
    paper
        The paper.
    steps
        From the section inwards, each a kind with its numbers: ``(("theorem", ("2",)),)``.
    part
        What of it: ``proof``, ``before``, ``after``.
    note
        What is read into it, in words.

    Examples
    --------
    >>> import dpaudit
    >>> paper = dpaudit.Paper(key="mine2026", title="A coin", authors=("Mine",), year=2026)
    >>> place = paper.at(theorem=2, part="proof")
    >>> place.label
    'proof of Theorem 2'
    >>> sorted([paper.at(theorem=10), paper.at(theorem=2)])[0].label
    'Theorem 2'
    """

    paper: Paper
    steps: tuple[tuple[str, tuple[str, ...]], ...] = ()
    part: str = ""
    note: str = ""

    @property
    def label(self) -> str:
        """The place without the paper."""
        shown = [step for step in self.steps if step[0] != "section"]
        if not shown or shown[0][0] in _WITH_SECTION:
            shown = list(self.steps)
        names = [_step_label(kind, numbers) for kind, numbers in shown]
        words = ", ".join(names)
        if self.part:
            part = f"{self.part} of" if self.part.startswith("proof") else self.part
            inside = f"{', '.join(names[1:])} in the " if len(names) > 1 and self.part.startswith("proof") else ""
            words = f"{inside}{part} {names[0] if inside else words}".strip() if names else self.part
        return f"{words}, {self.note}" if words and self.note else words or self.note

    @property
    def sort_key(self) -> tuple[Any, ...]:
        """Key by which places sort."""
        listed = list(self.paper.sections)
        steps = dict(self.steps)
        section = steps.get("section", ("",))[0]
        where = (0, listed.index(section), ()) if section in listed else (1 if section else 2, 0, _natural(section))
        inside = [(self._rank(kind), *map(_natural, numbers)) for kind, numbers in self.steps if kind != "section"]
        return (self.paper.year, self.paper.key, where, inside, _PARTS.get(self.part.split(" ")[0], 1), self.note)

    def _rank(self, kind: str) -> int:
        together = self.paper.one_counter and kind in STATEMENTS
        return KINDS.index("fact" if together else kind)

    def __str__(self) -> str:
        return f"{self.paper.citation}, {self.label}" if self.label else self.paper.citation

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self.sort_key == other.sort_key and self.label == other.label

    def __lt__(self, other: Place) -> bool:
        return (self.sort_key, self.label) < (other.sort_key, other.label)

    def __hash__(self) -> int:
        return hash((self.paper, self.steps, self.part, self.note))


_PARTS = {"before": 0, "": 1, "proof": 2, "after": 3}


def _step_label(kind: str, numbers: tuple[str, ...]) -> str:
    word = kind if kind == "line" else kind.capitalize()
    if kind == "section" and not any(character.isdigit() or character in "IVX" for character in numbers[0][:1]):
        return " and ".join(numbers)
    if len(numbers) == 1:
        return f"{word} {numbers[0]}"
    plural = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{plural} {', '.join(numbers[:-1])} and {numbers[-1]}"


def _natural(text: str) -> tuple[tuple[int, str], ...]:
    """Key that sorts numbers within a text by their size; roman numerals of sections count as numbers."""
    if re.fullmatch(r"[IVXL]+(-[A-Z])?", text):
        roman, _, letter = text.partition("-")
        return ((_roman(roman), ""), (0, letter))
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"\d+|\D+", text))


def _roman(text: str) -> int:
    values = [{"I": 1, "V": 5, "X": 10, "L": 50}[letter] for letter in text]
    return sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True))
