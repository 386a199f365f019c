"""Running cells: in this process or on several workers, with equal results."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from dpaudit.claims.record import Result
from dpaudit.runner.cells import Cell
from dpaudit.runner.keys import Keys
from dpaudit.runner.outcome import Outcome, Settings, ended_abruptly, late_result, run_cell, told_anew
from dpaudit.runner.witnesses import witness_name, write_witness

Progress = Callable[[Cell, Result], None]


class Lookup(Protocol):
    """What is known already, under keys."""

    def get(self, keys: Iterable[str]) -> Outcome | None:
        """Outcome under one of several keys; None where there is none."""


class Keeper(Protocol):
    """Where outcomes are kept as they arrive."""

    def put(self, key: str, outcome: Outcome, seconds: float) -> None:
        """Keep an outcome under its key, with the time that it took."""


def run_cells(
    cells: Sequence[Cell],
    settings: Settings,
    *,
    workers: int = 1,
    seconds: float | None = None,
    progress: Progress | None = None,
    output: Path | None = None,
    known: Sequence[Lookup] = (),
    keeper: Keeper | None = None,
) -> tuple[list[Result], bool, int]:
    """Run cells and return their results in order.

    Parameters
    ----------
    cells, settings
        What to run.
    workers
        Processes; 1 runs here.
    seconds
        After this long no further cell is begun, and audits by sampling end with what they have; what could not be
        decided is ``inconclusive``.
    progress
        Called with each result as it arrives.
    output
        Folder of the report, into whose folder of witnesses the refutations go; None where none are wanted.
    known
        Where results may be that need not be computed again.
    keeper
        Where results are kept as they arrive.

    Returns
    -------
    results : list of Result
    interrupted : bool
        Whether the run was interrupted; then some results are missing.
    taken : int
        How many results were known already.
    """
    settings = settings.limited(seconds)
    keys = Keys(settings.seed)
    results: dict[int, Result] = {}
    begun: dict[int, float] = {}
    taken = 0

    def keep(i: int, outcome: Outcome, *, new: bool = True) -> None:
        result = replace(outcome.result, key=keys.key(cells[i], outcome.result))
        if new and keeper is not None and result.key:
            keeper.put(result.key, replace(outcome, result=result), time.monotonic() - begun.get(i, time.monotonic()))
        results[i] = _with_witness(cells[i], told_anew(result, cells[i], settings), outcome, output)
        if progress:
            progress(cells[i], results[i])

    interrupted = False
    others = set(multiprocessing.active_children())
    try:
        waiting = []
        for i, cell in enumerate(cells):
            found = _found(known, cell, keys.candidates(cell)) if known else None
            if found is None:
                waiting.append(i)
            else:
                keep(i, found, new=False)
                taken += 1
        if workers == 1 or len(waiting) < 2:
            for i in waiting:
                begun[i] = time.monotonic()
                keep(i, late_result(cells[i], settings) if settings.late else run_cell(cells[i], settings))
        else:
            _run_in_pool(cells, waiting, settings, workers, keep, begun)
    except KeyboardInterrupt:
        interrupted = True
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
    return [results[i] for i in sorted(results)], interrupted, taken


def _found(known: Sequence[Lookup], cell: Cell, candidates: Sequence[str]) -> Outcome | None:
    for each in known:
        outcome = each.get(candidates)
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
    except OSError as error:
        return replace(result, note=f"{result.note}; the witness file could not be written ({error.strerror or error})")


def _run_in_pool(
    cells: Sequence[Cell],
    chosen: Sequence[int],
    settings: Settings,
    workers: int,
    keep: Callable[[int, Outcome], None],
    begun: dict[int, float],
) -> None:
    pending = list(chosen)[::-1]
    running: dict[Future[Outcome], int] = {}
    pool = _pool(workers)
    try:
        while pending or running:
            broken: list[int] = []
            while pending and len(running) < workers and not broken:
                i = pending.pop()
                if settings.late:
                    keep(i, late_result(cells[i], settings))
                    continue
                begun[i] = time.monotonic()
                try:
                    running[pool.submit(run_cell, cells[i], settings)] = i
                except BrokenProcessPool:
                    broken.append(i)
            for future in wait(running, return_when="FIRST_COMPLETED").done if running else ():
                i = running.pop(future)
                try:
                    keep(i, future.result())
                except BrokenProcessPool:
                    broken.append(i)
            if broken:
                # Nobody can say which of the running cells ended the worker: run each of them on its own.
                for i in (*broken, *running.values()):
                    keep(i, _run_alone(cells[i], settings))
                running.clear()
                pool.shutdown(wait=False, cancel_futures=True)
                pool = _pool(workers)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _pool(workers: int) -> ProcessPoolExecutor:
    # Fresh interpreters, so that a worker's state is the same on every platform.
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"), initializer=_begin_worker)


def _begin_worker() -> None:
    # An interrupt is the parent's to handle, and standard output is the record's alone.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr


def _run_alone(cell: Cell, settings: Settings) -> Outcome:
    pool = _pool(1)
    try:
        return pool.submit(run_cell, cell, settings).result()
    except BrokenProcessPool:
        return ended_abruptly(cell, settings)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
