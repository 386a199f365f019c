"""Which published figures and tables a name such as ``Figure 2`` or ``song2022`` means."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dpaudit.errors import TargetError
from dpaudit.registry import suggestion


def named_figures(known: Mapping[str, str], names: Sequence[str]) -> set[str]:
    """Return the ids of the claims that are meant; of all where there are no names.

    Parameters
    ----------
    known
        What each claim reproduces, such as ``Figure 1(a)``, by id; empty where nothing is said but the id.
    names
        Ids or how they begin (``song2022``, ``song2022.figure3``), figures and tables (``Figure 1``, which is also its
        parts, or ``fig. 1a``), or both (``yang2018 figure 1``). Case, spaces and punctuation do not count.

    Raises
    ------
    TargetError
        A name means nothing that is known.
    """
    if not names:
        return set(known)
    found: set[str] = set()
    for name in names:
        meant = {claim for claim, what in known.items() if _means(_plain(name), claim, what)}
        if not meant:
            titles = figure_titles(known)
            near = suggestion(name, [*known, *titles, *known.values(), *map(str.lower, titles)])
            raise TargetError(f"unknown figure {name!r}{near}; known: {', '.join(titles)}; ids of claims will do too")
        found |= meant
    return found


def figure_titles(known: Mapping[str, str]) -> list[str]:
    """Papers with their figures, such as ``song2022 Figure 2``; the id where a claim names no figure."""
    return sorted({f"{_paper(claim)} {what}" if what else claim for claim, what in known.items()})


def _means(name: str, claim: str, what: str) -> bool:
    words = (claim, what, f"{_paper(claim)}{what}")
    return bool(name) and any(_begins(_plain(word), name) for word in words if word)


def _begins(word: str, name: str) -> bool:
    """Whether a word begins with a name that does not end within a number: Figure 1 is not Figure 10."""
    rest = word.removeprefix(name)
    return word.startswith(name) and not (name[-1].isdigit() and rest[:1].isdigit())


def _paper(claim: str) -> str:
    return claim.partition(".")[0]


def _plain(text: str) -> str:
    letters = re.sub(r"[\W_]+", "", text.casefold())
    return re.sub(r"fig(?!ure)", "figure", letters)
