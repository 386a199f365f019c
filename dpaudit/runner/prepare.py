"""What a run needs to know of its targets before it begins: found in a worker, where targets are loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dpaudit.claims.entries import ClaimEntry, PaperEntry
from dpaudit.claims.record import SystemEntry
from dpaudit.errors import TargetError
from dpaudit.registry import TargetReference
from dpaudit.runner.cells import Cell, choose, figures_not_on_data
from dpaudit.runner.entries import claim_entries, paper_entries_of, system_entries
from dpaudit.runner.instances import load_dataset
from dpaudit.runner.keys import Candidates, Keys
from dpaudit.runner.origins import origins
from dpaudit.runner.outcome import check_samples_of
from dpaudit.runner.request import Request
from dpaudit.runner.sources import declarations_by_id, sources_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A request's cells, and what a record says of them besides results, as plain data.

    Attributes
    ----------
    cells
        The cells, in a fixed order.
    keys
        Keys that the result of each cell may have.
    papers, systems, claims
        Entries of the record.
    figures_left_out
        How many published figures the request leaves out.
    figures_not_on_data
        Figures and tables that were asked for and have no part that is measured on data.
    places
        Place of each cell among those of the whole run.
    origins
        File and line of the targets, by name.
    without_claims
        Mechanisms of the files that make no claim, so that nothing of them is audited.
    code
        Digest of the code and the data of each target of the whole run, where this is a shard of it.
    """

    cells: tuple[Cell, ...]
    keys: tuple[Candidates, ...]
    papers: Mapping[str, PaperEntry] = field(default_factory=dict)
    systems: Mapping[str, SystemEntry] = field(default_factory=dict)
    claims: Mapping[str, ClaimEntry] = field(default_factory=dict)
    figures_left_out: int = 0
    figures_not_on_data: tuple[str, ...] = ()
    places: tuple[int, ...] = ()
    origins: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    without_claims: tuple[str, ...] = ()
    code: Mapping[str, str] = field(default_factory=dict)


def load_targets(targets: tuple[str, ...], data: str | None) -> None:
    """Load the targets of a request, and its data."""
    for source in sources_of(Request(targets=targets)):
        load_target(source.reference, data)


def load_target(reference: TargetReference, data: str | None) -> None:
    """Load what the cells of a target share: its code, the claims that papers declare about it, and its data."""
    declarations_by_id(reference)
    target = reference.load()
    # What checks the parameters is made once, and not in every cell's process.
    target.prepare_parameters()
    taken = target.dataset_parameter()
    if data is not None and taken is not None:
        load_dataset(taken[1], data)


def prepare(request: Request, timed: bool = False) -> Prepared:
    """Choose the cells of a request and describe them.

    Parameters
    ----------
    request
        What is asked for.
    timed
        Whether a time limit may end it.

    Raises
    ------
    DpauditError
        A target, claim, parameter, value, plan or data file is unknown or unusable, or nothing is left to check.
    """
    choice = choose(request)
    if not choice.cells:
        raise TargetError("nothing to check: no claim of these targets applies; `dpaudit show TARGET` lists them")
    cells = tuple(choice.cells[place] for place in choice.places)
    if timed:
        cells = tuple(replace(cell, timed=True) for cell in cells)
    check_samples_of(cells)
    keys = Keys(request.seed)
    return Prepared(
        cells=cells,
        keys=tuple(keys.by_auditors(cell) for cell in cells),
        papers=paper_entries_of(choice.cells),
        systems=system_entries(choice.cells),
        claims=claim_entries(choice.cells),
        figures_left_out=choice.figures_left_out,
        figures_not_on_data=tuple(figures_not_on_data(request)),
        places=choice.places,
        origins=origins(cells),
        without_claims=choice.without_claims,
        code={} if request.shard is None else keys.by_target(choice.cells),
    )
