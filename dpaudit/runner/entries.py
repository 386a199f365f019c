"""What a record says of papers, systems and claims, besides the results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dpaudit.claims.declarations import Declaration
from dpaudit.claims.entries import ClaimEntry, ErratumEntry, PaperEntry, paper_entries
from dpaudit.claims.papers import Assertion, Erratum, Paper, Place
from dpaudit.claims.record import SystemEntry
from dpaudit.mechanism import Mechanism
from dpaudit.registry.catalogue import catalogue_papers, definition
from dpaudit.runner.cells import Cell


def claim_entries(cells: Iterable[Cell]) -> dict[str, ClaimEntry]:
    """Entries of the claims of cells that are declared, by id."""
    return {name: ClaimEntry.of(each, definition(each)) for name, each in _declarations(cells).items()}


def _declarations(cells: Iterable[Cell]) -> dict[str, Declaration]:
    firsts = {cell.claim: cell for cell in cells if cell.declared}
    found = ((name, cell.declaration()) for name, cell in firsts.items())
    return {name: declaration for name, declaration in found if declaration is not None}


def paper_entries_of(cells: Sequence[Cell]) -> dict[str, PaperEntry]:
    """Entries of the papers that claims of cells stand under, with their errata and what is left alone."""
    papers = {place.paper for each in _declarations(cells).values() for place in each.places[:1]}
    targets = {cell.target: cell.reference.load() for cell in cells}
    errata = [(erratum, name) for name, target in targets.items() for erratum in target.errata]
    if not papers:
        return {}
    # An erratum of a paper that concerns no system stands among the paper's own.
    errata += [(erratum, "") for paper in papers for erratum in _errata_of(paper)]
    return paper_entries(papers, errata, [each for paper in papers for each in _left_alone(paper)])


def _errata_of(paper: Paper) -> Sequence[Erratum]:
    entry = catalogue_papers().get(paper.key)
    return () if entry is None else entry.errata


def _left_alone(paper: Paper) -> Sequence[Assertion]:
    entry = catalogue_papers().get(paper.key)
    return () if entry is None else entry.left_alone


def system_entries(cells: Sequence[Cell]) -> dict[str, SystemEntry]:
    """Entries of the targets of cells, by name."""
    firsts = {cell.target: cell for cell in reversed(cells)}
    return {
        cell.target: system_entry(firsts[cell.target].reference.load(), firsts[cell.target].instance())
        for cell in firsts.values()
    }


def system_entry(target: type[Mechanism], instance: Mechanism) -> SystemEntry:
    """Entry of one target."""
    return SystemEntry(
        title=target.summary(),
        description=target.trust,
        source=target.cited(),
        errata=tuple(ErratumEntry.of(each) for each in target.errata if not isinstance(each.where, Place)),
        model=target.model,
        notations=_notations(instance),
    )


def _notations(target: Mechanism) -> dict[str, str]:
    try:
        return {name: view.notation for name, view in target.views().items() if view.notation}
    except Exception:
        # A target that raises says so in its results.
        return {}
