"""Running cells: in this process or on several workers, with equal results."""

from __future__ import annotations

import json
import multiprocessing
import shlex
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.audit import view_of
from dpaudit.claims.claims import Claim, PrivacyClaim, UtilityClaim
from dpaudit.claims.evidence import Evidence
from dpaudit.claims.record import METHOD_RAISED, METHOD_UNUSABLE, Result, plain
from dpaudit.claims.verdicts import Verdict, status_of
from dpaudit.errors import DpauditError, TargetRaisedError
from dpaudit.mechanism import Mechanism
from dpaudit.runner.cells import Cell, described_parameters

Progress = Callable[[Cell, Result], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What all cells of a run share.

    Attributes
    ----------
    seed
        Seed of the run.
    confidence
        Confidence of each cell's own statements.
    debug
        Let exceptions of targets through.
    """

    seed: int
    confidence: float
    debug: bool = False


def run_cells(
    cells: Sequence[Cell],
    settings: Settings,
    *,
    workers: int = 1,
    seconds: float | None = None,
    progress: Progress | None = None,
) -> tuple[list[Result], bool]:
    """Run cells and return their results in order, and whether the run was interrupted.

    Parameters
    ----------
    cells, settings
        What to run.
    workers
        Processes; 1 runs here.
    seconds
        Cells not begun after this many seconds come out ``inconclusive``.
    progress
        Called with each result as it arrives.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    results: dict[int, Result] = {}
    interrupted = False
    try:
        if workers == 1 or len(cells) < 2:
            for i, cell in enumerate(cells):
                results[i] = _late(cell, settings) if _passed(deadline) else run_cell(cell, settings)
                if progress:
                    progress(cell, results[i])
        else:
            _run_in_pool(cells, settings, workers, deadline, results, progress)
    except KeyboardInterrupt:
        interrupted = True
    return [results[i] for i in sorted(results)], interrupted


def _run_in_pool(
    cells: Sequence[Cell],
    settings: Settings,
    workers: int,
    deadline: float | None,
    results: dict[int, Result],
    progress: Progress | None,
) -> None:
    pending = list(range(len(cells)))[::-1]
    running: dict[Future[Result], int] = {}

    def keep(i: int, result: Result) -> None:
        results[i] = result
        if progress:
            progress(cells[i], result)

    # Fresh interpreters, so that a worker's state is the same on every platform.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context)
    try:
        while pending or running:
            while pending and len(running) < workers:
                i = pending.pop()
                if _passed(deadline):
                    keep(i, _late(cells[i], settings))
                else:
                    running[pool.submit(run_cell, cells[i], settings)] = i
            if not running:
                continue
            done, _ = wait(running, return_when="FIRST_COMPLETED")
            for future in done:
                i = running.pop(future)
                try:
                    keep(i, future.result())
                except BrokenProcessPool:
                    # Nobody can say which of the running cells ended the worker: run each of them on its own.
                    for j in (i, *running.values()):
                        keep(j, _run_alone(cells[j], settings))
                    running.clear()
                    pool.shutdown(wait=False, cancel_futures=True)
                    pool = ProcessPoolExecutor(workers, mp_context=context)
                    break
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _run_alone(cell: Cell, settings: Settings) -> Result:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            return pool.submit(run_cell, cell, settings).result()
        except BrokenProcessPool:
            return _result(
                cell,
                settings,
                Evidence(
                    verdict=Verdict.ERROR,
                    scope="at these parameters",
                    method=METHOD_RAISED,
                    note="the process that ran the target ended abruptly (out of memory, or the target ended it)",
                ),
            )


def run_cell(cell: Cell, settings: Settings) -> Result:
    """Audit one cell; whatever the target raises becomes a result."""
    try:
        target = cell.instance()
        return audited(cell, target, settings)
    except Exception as error:
        if settings.debug:
            raise
        return _result(cell, settings, failure(error))


def audited(cell: Cell, target: Mechanism, settings: Settings) -> Result:
    """Audit one cell on a given instance of its target."""
    claim = next(claim for claim in target.claims() if claim.id == cell.claim)
    parameters = described_parameters(target, cell.data)
    key = json.dumps(parameters, sort_keys=True)
    streams = Streams(settings.seed, (cell.target, cell.claim, key))
    budget = Budget(samples=cell.samples, confidence=settings.confidence, method=cell.method)
    try:
        evidence = audit(target, claim, budget=budget, streams=streams)
    except Exception as error:
        if settings.debug:
            raise
        evidence = failure(error)
    return _result(cell, settings, evidence, target, claim)


def failure(error: Exception) -> Evidence:
    """Evidence that stands for an exception: the target is unusable, or it raised."""
    unusable = isinstance(error, DpauditError) and not isinstance(error, TargetRaisedError)
    note = str(error) if isinstance(error, DpauditError) else f"raised {type(error).__name__}: {error}"
    return Evidence(
        verdict=Verdict.ERROR,
        scope="at these parameters",
        method=METHOD_UNUSABLE if unusable else METHOD_RAISED,
        note=note,
    )


def _result(
    cell: Cell,
    settings: Settings,
    evidence: Evidence,
    target: Mechanism | None = None,
    claim: Claim | None = None,
) -> Result:
    view = relation = None
    claimed: dict[str, float] = {}
    if isinstance(claim, PrivacyClaim):
        view = claim.view
        claimed = {"epsilon": claim.epsilon, "delta": claim.delta}
        if target is not None and evidence.verdict is not Verdict.ERROR:
            relation = view_of(target, claim)[1].relation
    elif isinstance(claim, UtilityClaim):
        claimed = {"bound": claim.bound}
    parameters = dict(plain(cell.parameters)) if target is None else described_parameters(target, cell.data)
    return Result(
        target=cell.target,
        claim=cell.claim,
        kind=claim.kind if claim else "unknown",
        source=claim.source if claim else "",
        statement=claim.statement if claim else "",
        parameters=parameters,
        view=view,
        relation=relation,
        scope=evidence.scope,
        method=evidence.method,
        verdict=evidence.verdict,
        expected=cell.expected,
        reason=cell.reason,
        ok=status_of(evidence.verdict, cell.expected) == 0,
        claimed=claimed,
        measured=evidence.measured,
        witness=evidence.witness,
        note=evidence.note,
        samples=evidence.samples,
        seed=settings.seed,
        command=_command(cell, settings),
    )


def _command(cell: Cell, settings: Settings) -> str:
    words = ["dpaudit", "check", cell.called, "--claim", cell.claim]
    for name, value in cell.parameters.items():
        words += ["--set", f"{name}={value}"]
    if cell.data is not None:
        words += ["--data", cell.data[0]]
    if cell.method != "auto":
        words += ["--method", cell.method]
    if cell.samples is not None:
        words += ["--samples", str(cell.samples)]
    words += ["--confidence", repr(settings.confidence), "--seed", str(settings.seed)]
    return shlex.join(words)


def _late(cell: Cell, settings: Settings) -> Result:
    evidence = Evidence(
        verdict=Verdict.INCONCLUSIVE,
        scope="at these parameters",
        method="none",
        note="not begun: the time that --seconds allows was over",
    )
    return _result(cell, settings, evidence)


def _passed(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline
