"""Running cells: in this process or on several workers, with equal results."""

from __future__ import annotations

import json
import multiprocessing
import shlex
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.audit import view_of
from dpaudit.auditors.pace import Announce
from dpaudit.claims.claims import Claim, FigureClaim, PrivacyClaim, RateClaim, UtilityClaim
from dpaudit.claims.evidence import Evidence, Violation
from dpaudit.claims.record import METHOD_RAISED, METHOD_UNUSABLE, Result, plain
from dpaudit.claims.verdicts import Verdict, status_of
from dpaudit.errors import DpauditError, PlanError, TargetRaisedError
from dpaudit.mechanism import Mechanism
from dpaudit.runner.cells import Cell, setting
from dpaudit.runner.instances import claims_of, described_parameters
from dpaudit.runner.witnesses import WitnessFile, make_witness, witness_name, write_witness

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
        Print the tracebacks of what targets raise to standard error.
    output
        Folder of the report, into whose folder of witnesses the refutations go; None where none are wanted.
    seconds, deadline
        What the whole run may take, and the time (in seconds since the epoch) at which that is over.
    announce
        Say on standard error where sampling will take long.
    """

    seed: int
    confidence: float
    debug: bool = False
    output: str | None = None
    seconds: float | None = None
    deadline: float | None = None
    announce: bool = False

    def limited(self, seconds: float | None) -> Settings:
        """Return these settings with a time limit that begins now."""
        return replace(self, seconds=seconds, deadline=None if seconds is None else time.time() + seconds)

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return self.deadline is not None and time.time() >= self.deadline


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A result and its witness file, as plain data that can leave a worker."""

    result: Result
    witness: WitnessFile | None = None


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
        After this long no further cell is begun, and audits by sampling end with what they have; what could not be
        decided is ``inconclusive``.
    progress
        Called with each result as it arrives.
    """
    settings = settings.limited(seconds)
    results: dict[int, Result] = {}

    def keep(i: int, outcome: Outcome) -> None:
        results[i] = _kept(cells[i], outcome, settings)
        if progress:
            progress(cells[i], results[i])

    interrupted = False
    others = set(multiprocessing.active_children())
    try:
        if workers == 1 or len(cells) < 2:
            for i, cell in enumerate(cells):
                keep(i, late_result(cell, settings) if settings.late else run_cell(cell, settings))
        else:
            _run_in_pool(cells, settings, workers, keep)
    except KeyboardInterrupt:
        interrupted = True
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
    return [results[i] for i in sorted(results)], interrupted


def _kept(cell: Cell, outcome: Outcome, settings: Settings) -> Result:
    """Return the result, with its witness file written."""
    result = outcome.result
    if outcome.witness is None or settings.output is None:
        return result
    try:
        name = witness_name(cell, result.parameters)
        return replace(result, witness_file=write_witness(outcome.witness, Path(settings.output), name))
    except OSError as error:
        return replace(result, note=f"{result.note}; the witness file could not be written ({error.strerror or error})")


def _run_in_pool(
    cells: Sequence[Cell],
    settings: Settings,
    workers: int,
    keep: Callable[[int, Outcome], None],
) -> None:
    pending = list(range(len(cells)))[::-1]
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
        evidence = Evidence(
            verdict=Verdict.ERROR,
            scope="at these parameters",
            method=METHOD_RAISED,
            note="the process that ran the target ended abruptly (out of memory, or the target ended it)",
        )
        return _unrun(cell, settings, evidence)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def run_cell(cell: Cell, settings: Settings) -> Outcome:
    """Audit one cell; whatever the target raises becomes a result."""
    try:
        target = cell.instance()
        return audited(cell, target, settings)
    except (Exception, SystemExit) as error:
        _show(error, settings)
        return Outcome(result=_result(cell, settings, failure(error)))


def audited(cell: Cell, target: Mechanism, settings: Settings) -> Outcome:
    """Audit one cell on a given instance of its target."""
    claim = _claim(cell, target)
    parameters = described_parameters(target, cell.data)
    key = json.dumps(parameters, sort_keys=True)
    streams = Streams(settings.seed, (cell.target, cell.claim, key))
    budget = Budget(
        samples=cell.samples,
        confidence=settings.confidence,
        method=cell.method,
        stop_early=cell.stop_early,
        features=cell.features,
        deadline=settings.deadline,
        announce=_announcer(cell) if settings.announce and settings.deadline is None else None,
    )
    try:
        evidence = audit(target, claim, budget=budget, streams=streams)
    except (Exception, SystemExit) as error:
        _show(error, settings)
        evidence = failure(error)
    evidence = _unless_too_few(cell, evidence)
    witness = None
    if settings.output is not None and isinstance(claim, PrivacyClaim):
        witness = make_witness(cell, claim, evidence, budget, streams, _command(cell, settings))
    return Outcome(result=_result(cell, settings, evidence, target, claim), witness=witness)


def _unless_too_few(cell: Cell, evidence: Evidence) -> Evidence:
    """Evidence as it is, or ``inconclusive`` where it falls short of what is expected of more samples.

    That a fraction of the plan's samples finds neither a proof nor a violation is no news about the claim.
    """
    if cell.planned is None or not evidence.samples:
        return evidence
    spent = f"the plan spends {cell.planned} samples here, not {cell.samples}"
    if evidence.verdict is Verdict.INCONCLUSIVE:
        return replace(evidence, note=f"{evidence.note}; {spent}" if evidence.note else spent)
    if evidence.verdict is not Verdict.CONSISTENT or cell.expected not in (Verdict.CERTIFIED, Verdict.REFUTED):
        return evidence
    note = (
        f"too few samples to tell whether it is {cell.expected}, as expected; {spent}: leave --quick or --samples out"
    )
    return replace(evidence, verdict=Verdict.INCONCLUSIVE, note=note)


def _announcer(cell: Cell) -> Announce:
    """Return what tells the user, on one line, that sampling for this cell will take long."""
    told = False

    def announce(seconds: float) -> None:
        nonlocal told
        if not told:
            told = True
            sys.stderr.write(
                f"dpaudit: {cell.target}, {cell.claim}: sampling will take about {_duration(seconds)}; "
                "--samples N draws fewer, --seconds S ends it in time\n"
            )
            sys.stderr.flush()

    return announce


def _duration(seconds: float) -> str:
    for unit, name in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.0f} seconds"


def _claim(cell: Cell, target: Mechanism) -> Claim:
    claim = next(claim for claim in claims_of(target) if claim.id == cell.claim)
    if cell.published is not None:
        if not isinstance(claim, FigureClaim):
            raise PlanError(f"claim {claim.id} is about no figure; leave the key 'published' out of the plan")
        claim = replace(claim, published=cell.published[0], tolerance=cell.published[1])
    return claim


def _show(error: BaseException, settings: Settings) -> None:
    if settings.debug:
        traceback.print_exception(error)


def failure(error: BaseException) -> Evidence:
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
        claimed = dict(claim.guarantee.parameters)
        if target is not None and evidence.verdict is not Verdict.ERROR:
            # Of a claim that was not audited, `neighbours` need not be usable.
            with suppress(Exception):
                relation = view_of(target, claim)[1].relation
    elif isinstance(claim, UtilityClaim):
        claimed = {"bound": claim.bound}
    elif isinstance(claim, FigureClaim):
        name = "published" if claim.direction == "equal" else "bound"
        claimed = {} if claim.published is None else {name: claim.published}
    elif isinstance(claim, RateClaim):
        claimed = {"exponent": claim.exponent}
    witness = evidence.witness
    if witness is not None:
        # As JSON holds them: any object may be an input or an outcome, and not every object can leave a worker.
        inner = ("data", "neighbour", "event") if isinstance(witness, Violation) else ("instance",)
        witness = replace(witness, **{name: plain(getattr(witness, name)) for name in inner})
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
        witness=witness,
        note=evidence.note,
        samples=evidence.samples,
        seed=settings.seed,
        command=_command(cell, settings),
        curves=evidence.curves,
        growth=evidence.growth,
        timed=isinstance(claim, FigureClaim) and claim.timed,
    )


def _command(cell: Cell, settings: Settings) -> str:
    words = ["dpaudit", "check", cell.called, "--claim", cell.claim]
    for name, value in cell.parameters.items():
        words += ["--set", f"{name}={setting(value)}"]
    if cell.data is not None:
        words += ["--data", cell.data[0]]
    if cell.method != "auto":
        words += ["--method", cell.method]
    if cell.samples is not None:
        words += ["--samples", str(cell.samples)]
    if cell.stop_early:
        words += ["--stop-early"]
    if cell.features != "none":
        words += ["--features", cell.features]
    if settings.seconds is not None:
        words += ["--seconds", f"{settings.seconds:g}"]
    words += ["--confidence", repr(settings.confidence), "--seed", str(settings.seed)]
    return shlex.join(words)


def late_result(cell: Cell, settings: Settings) -> Outcome:
    """Result of a cell that the time limit left no time for."""
    evidence = Evidence(
        verdict=Verdict.INCONCLUSIVE,
        scope="at these parameters",
        method="none",
        note="not begun: the time that --seconds allows was over",
    )
    return _unrun(cell, settings, evidence)


def _unrun(cell: Cell, settings: Settings, evidence: Evidence) -> Outcome:
    """Result of a cell that did not run to its end, with the claim's words as far as the target still gives them."""
    try:
        target = cell.instance()
        return Outcome(result=_result(cell, settings, evidence, target, _claim(cell, target)))
    except Exception:
        return Outcome(result=_result(cell, settings, evidence))
