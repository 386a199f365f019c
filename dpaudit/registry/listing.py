"""The catalogue as plain data, for `dpaudit list`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from dpaudit.claims.declarations import Declaration
from dpaudit.errors import TargetError
from dpaudit.mechanism import Mechanism
from dpaudit.registry.catalogue import broken_papers, catalogue, catalogue_claims, catalogue_papers, definition
from dpaudit.registry.names import suggestion

Listing = tuple[list[dict[str, Any]], list[str]]
"""Entries of the catalogue, and what is left out of it and why."""


def listed_targets(paper: str | None = None, words: Collection[str] = ()) -> Listing:
    """Targets of the catalogue with their claims.

    Parameters
    ----------
    paper
        Key of a paper: targets that it defines, or makes claims about. None for all.
    words
        Texts that an entry has to hold, in capital or small letters.

    Raises
    ------
    TargetError
        There is no such paper.
    """
    declared = list(catalogue_claims().values())
    found = []
    for name, reference in catalogue().items():
        claims = [each for each in declared if name in target_names(each)]
        if _of_paper(paper, name, claims):
            found.append(_entry(name, reference.load(), claims))
    return [row for row in found if _holds(row, words)], list(broken_papers().values())


def listed_claims(paper: str | None = None, words: Collection[str] = ()) -> Listing:
    """Declared claims of the catalogue; see `listed_targets`.

    Raises
    ------
    TargetError
        There is no such paper.
    """
    declared = [each for each in catalogue_claims().values() if _of_paper(paper, "", [each])]
    rows = [claim_entry(each) for each in declared]
    return [row for row in rows if _holds(row, words)], list(broken_papers().values())


def claim_entry(declaration: Declaration) -> dict[str, Any]:
    """Plain data of a declared claim."""
    paper, place = declaration.paper, declaration.place
    return {
        "id": declaration.id,
        "kind": declaration.kind,
        "statement": declaration.statement,
        "paper": paper.key if paper else "",
        "place": place.label if place else "",
        "source": declaration.source,
        "targets": target_names(declaration),
        "ours": declaration.ours,
        "bug": declaration.bug,
        "reproduces": declaration.reproduces,
        "mends": list(declaration.mends),
        "definition": f"{definition(declaration)}:{declaration.line}",
    }


def target_names(declaration: Declaration) -> list[str]:
    """Names of the targets that a claim is about."""
    return [target.name for target in declaration.targets]


def _entry(name: str, target: type[Mechanism], declared: list[Declaration]) -> dict[str, Any]:
    return {
        "target": name,
        "title": target.summary(),
        "source": target.cited(),
        "papers": list(dict.fromkeys(each.paper.key for each in declared if each.paper)),
        "control": bool(declared) and all(each.bug for each in declared),
        "parameters": target.parameter_names(),
        "claims": [
            {"id": each.id, "kind": each.kind, "source": each.source, "statement": each.statement} for each in declared
        ],
    }


def _of_paper(key: str | None, target: str, claims: list[Declaration]) -> bool:
    if key is None:
        return True
    papers = catalogue_papers()
    known = {*papers, *(each.paper.key for each in catalogue_claims().values() if each.paper)}
    if key not in known:
        raise TargetError(
            f"--paper {key}: there is no such paper{suggestion(key, known)}; the catalogue has "
            f"{', '.join(sorted(known))}"
        )
    mine = papers.get(key)
    if mine is not None and target in mine.targets:
        return True
    return any((each.paper and each.paper.key == key) or (mine and each in mine.declarations) for each in claims)


def _holds(row: dict[str, Any], words: Collection[str]) -> bool:
    text = str(list(row.values())).casefold()
    return all(word.casefold() in text for word in words)
