"""Running cells on workers: results do not depend on how many there are."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from dpaudit.auditors.sampling.pace import Announce
from dpaudit.auditors.sampling.work import Part
from dpaudit.claims.kept import Keep
from dpaudit.claims.record import Result
from dpaudit.errors import OutputError
from dpaudit.runner.cells import Cell
from dpaudit.runner.keys import key_of
from dpaudit.runner.outcome import (
    Outcome,
    Settings,
    announcer,
    answered,
    late_result,
    not_begun,
    run_cell,
    run_in_parts,
    run_part,
    told_anew,
)
from dpaudit.runner.parts import Parts
from dpaudit.runner.prepare import Prepared, load_target
from dpaudit.runner.processes import Answer, Finished, Request
from dpaudit.runner.witnesses import witness_name, write_witness

Progress = Callable[[Cell, Result | None], None]
"""Called with each cell that is begun, without a result, and with each result as it arrives."""


class Lookup(Protocol):
    """What is known already, under keys."""

    def get(self, keys: Iterable[str]) -> Outcome | None:
        """Outcome under one of several keys; None where there is none."""


class Keeper(Protocol):
    """Where outcomes are kept as they arrive."""

    def put(self, key: str, outcome: Outcome, seconds: float) -> None:
        """Keep an outcome under its key, with the time that it took."""

    def parts(self, cell: str) -> dict[str, bytes]:
        """Outcomes of the parts of a cell's audit that has not ended, by name."""

    def put_parts(self, cell: str, parts: Mapping[str, bytes], without: Iterable[str] = ()) -> None:
        """Keep outcomes of parts, and drop others."""

    def drop_parts(self, cell: str) -> None:
        """Drop the parts of an audit that has ended."""


class Done(NamedTuple):
    """What came of cells.

    Attributes
    ----------
    results
        Their results, in order.
    interrupted
        Whether the run was interrupted; then some results are missing.
    taken
        How many results were known already.
    problems
        Why results could not be kept.
    missing
        Why cells were left out, one for each: their data are not at hand.
    numbers
        Number of each result's cell.
    """

    results: Sequence[Result]
    interrupted: bool
    taken: int
    problems: tuple[str, ...]
    missing: tuple[str, ...] = ()
    numbers: Sequence[int] = ()


class Workers(Protocol):
    """What calls functions."""

    def answers(
        self, requests: Iterable[Request], *, width: int = 1, until: float | None = None
    ) -> Iterator[tuple[Any, Answer]]:
        """Call functions, several at a time; return what became of them as it does."""


def run_cells(
    prepared: Prepared,
    settings: Settings,
    team: Workers,
    *,
    workers: int = 1,
    progress: Progress | None = None,
    output: Path | None = None,
    known: Iterable[Lookup] = (),
    keeper: Keeper | None = None,
    tell: bool = False,
) -> Done:
    """Run cells.

    Parameters
    ----------
    prepared
        What to run.
    settings
        What all cells share. When its time is over no further cell is begun, and audits by sampling end with what they
        have; what could not be decided is ``inconclusive``.
    team, workers
        What runs them, and how many at a time.
    progress
        Called with each cell as it is begun, and with each result as it arrives.
    output
        Folder of the report, into whose folder of witnesses the refutations go; None where none are wanted.
    known
        Where results may be that need not be computed again.
    keeper
        Where results are kept as they arrive.
    tell
        Whether to say on standard error how far cells in parts have come.
    """
    cells, known = prepared.cells, list(known)
    results = Keep()
    begun: dict[int, float] = {}
    announcers: dict[int, Announce] = {}
    late: set[int] = set()
    problems: list[str] = []
    missing: list[str] = []
    taken = 0

    def keep(i: int, outcome: Outcome, *, new: bool = True) -> None:
        result = replace(outcome.result, key=key_of(prepared.keys[i], outcome.result))
        if new and keeper is not None and result.key and not problems:
            took = time.monotonic() - begun.get(i, time.monotonic())
            try:
                keeper.put(result.key, replace(outcome, result=result), took)
            except OutputError as error:
                # The results that are still to come are worth more than what keeps them.
                problems.append(str(error))
        result = _with_witness(cells[i], told_anew(result, cells[i], settings), outcome, output)
        results.add(i, result)
        begun.pop(i, None)
        announcers.pop(i, None)
        if progress:
            progress(cells[i], result)

    waiting: list[int] = []

    def begin(i: int) -> Request | None:
        """What is asked for of a cell; nothing where the time is over."""
        if settings.last is not None and time.time() >= settings.last:
            keep(i, not_begun(cells[i], settings))
            return None
        if settings.late:
            late.add(i)
            return _request(i, cells[i], late_result, settings)
        begun[i] = time.monotonic()
        if progress:
            progress(cells[i], None)
        if settings.spread:
            return _request(i, cells[i], run_in_parts, settings, parts.known(i))
        return _request(i, cells[i], run_cell, settings)

    def ask(i: int, part: Part) -> Request:
        return _request((i, part.name), cells[i], run_part, settings, part)

    def announce(i: int, words: str) -> None:
        announcers.setdefault(i, announcer(cells[i]))(words)

    def lose(error: OutputError) -> None:
        problems.append(str(error))

    homes = [_home(candidates) for candidates in prepared.keys]
    parts = Parts(
        homes, keeper if settings.spread else None, begin=begin, ask=ask, lose=lose, announce=announce if tell else None
    )
    interrupted = False
    try:
        for i, cell in enumerate(cells):
            known_outcome = _found(known, cell, prepared.keys[i]) if known else None
            if known_outcome is not None:
                keep(i, known_outcome, new=False)
                taken += 1
            elif cell.missing:
                missing.append(cell.missing)
            else:
                waiting.append(i)
        parts.begin_with(waiting)
        for key, answer in team.answers(parts, width=workers, until=settings.last):
            for i, last in parts.take(key, answer):
                lost = i in late and not isinstance(last, Finished)
                keep(i, not_begun(cells[i], settings) if lost else answered(cells[i], settings, last))
                parts.end(i)
    except KeyboardInterrupt:
        interrupted = True
    numbers, found = results.results()
    return Done(found, interrupted, taken, tuple(problems), tuple(missing), numbers)


def _request(key: Any, cell: Cell, function: Callable[..., Any], *arguments: Any) -> Request:
    path = (cell.file or cell.data[0]) if cell.data else None
    load = (load_target, (cell.reference, path))
    return Request(key=key, function=function, arguments=(cell, *arguments), load=load)


def _home(candidates: Mapping[Any, str]) -> str:
    """Where the parts of a cell's audit are kept; empty where nothing fixes its result."""
    keys = sorted(set(candidates.values()))
    return hashlib.sha256("\n".join(keys).encode()).hexdigest()[:16] if keys else ""


def _found(known: Iterable[Lookup], cell: Cell, candidates: Mapping[Any, str]) -> Outcome | None:
    for each in known:
        outcome = each.get(dict.fromkeys(candidates.values()))
        # A key is a hash of these as well; a file may have been edited.
        if outcome is not None and (outcome.result.target, outcome.result.claim) == (cell.target, cell.claim):
            return outcome
    return None


def _with_witness(cell: Cell, result: Result, outcome: Outcome, output: Path | None) -> Result:
    """Return the result, with its witness file written."""
    if outcome.witness is None or output is None:
        return replace(result, witness_file=None)
    try:
        name = witness_name(cell, result.parameters)
        return replace(result, witness_file=write_witness(outcome.witness, output, name))
    except OutputError as error:
        return replace(result, note=f"{result.note}; the witness file could not be written ({error})")
