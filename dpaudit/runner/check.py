"""The whole way: a request, or an instance, to a record."""

from __future__ import annotations

import math
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dpaudit.auditors.sampling.arguments import check_seed, check_true_or_false
from dpaudit.auditors.sampling.budget import DEFAULT_CONFIDENCE, Budget, Features, Method, complement
from dpaudit.auditors.sampling.work import Part
from dpaudit.claims.inputs import short_repr
from dpaudit.claims.kept import kept
from dpaudit.claims.record import Partial, Record, Result, Shard, summarise, summed_errors
from dpaudit.errors import ParameterError, TargetError
from dpaudit.mechanism import Mechanism
from dpaudit.plan import MOST_SAMPLES, Scalar
from dpaudit.registry import called, reference_of, suggestion
from dpaudit.runner.cells import Cell
from dpaudit.runner.entries import system_entry
from dpaudit.runner.execute import Lookup, Progress, run_cells
from dpaudit.runner.executors import OnExecutor, width_of
from dpaudit.runner.instances import claims_of
from dpaudit.runner.outcome import (
    Settings,
    answered,
    audited,
    check_samples_of,
    late_result,
    not_begun,
    run_in_parts,
    run_part,
)
from dpaudit.runner.parts import Parts
from dpaudit.runner.prepare import Prepared, load_targets, prepare
from dpaudit.runner.processes import Request as WorkerRequest
from dpaudit.runner.processes import Team
from dpaudit.runner.processes.here import Here
from dpaudit.runner.request import MOST_CELLS, Request
from dpaudit.runner.store import NAME, Store
from dpaudit.runner.version import dpaudit_version

_MOST_WORKERS = 1024
_LIBRARIES = ("numpy", "scipy", "hypothesis", "scikit-learn", "statsmodels", "pydantic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What came of a request.

    Attributes
    ----------
    record
        What was done.
    prepared
        What was to be done.
    interrupted
        Whether the run was interrupted; then the record holds what was done until then.
    taken
        How many results were known already, and not computed again.
    problems
        Why results could not be kept in the store.
    missing
        Why cells were left out, one for each: the data that the plan names are not at hand.
    """

    record: Record
    prepared: Prepared
    interrupted: bool = False
    taken: int = 0
    problems: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def check(
    target: str | Mechanism | Sequence[str] = (),
    *,
    claims: Sequence[str] = (),
    set: Mapping[str, Scalar | list[Scalar]] | None = None,  # noqa: A002 - the option's name
    data: str | None = None,
    samples: int | None = None,
    seconds: float | None = None,
    confidence: float | None = None,
    method: Method | None = None,
    stop_early: bool = False,
    features: Features = "none",
    seed: int = 0,
    max_cells: int = MOST_CELLS,
    workers: int = 1,
    executor: Executor | None = None,
    debug: bool = False,
) -> Record:
    """Audit a mechanism, or targets by name, and return the record.

    Parameters
    ----------
    target
        An instance of a mechanism; or one TARGET or several as on the command line; none for every plan found.
    claims
        Claim ids to keep; none for all.
    set
        Parameter values, or lists of them, in place of the plan's (not with an instance).
    data
        Data file to measure on (not with an instance).
    samples
        Samples per input of a privacy audit, at least 1000 where it samples, or runs of a measurement, at least 1.
        Where neither this nor the plan says, a privacy audit by sampling draws 1,000,000 per input.
    seconds
        After this long no further claim is begun, and audits by sampling end with what they have, after the call of
        ``sample`` that is under way. What is undecided by then is ``inconclusive`` where the samples are too few to
        show anything, or fewer than ``samples`` says. Where the time is over decides what is known, so that records
        with equal seeds may differ.
    confidence
        Probability, at least, with which the statistical statements of each result are true: 0.999 where neither this
        nor the plan says another. The record states the sum of the error probabilities.
    method
        ``auto``, ``exact``, ``likelihood`` or ``black-box``.
    stop_early
        Stop a black-box audit as soon as the claim is refuted; other methods ignore it.
    features
        ``float-bits``: let a black-box audit look at the bit patterns of floating-point outputs too. It implies the
        method ``black-box``, and no other can be asked for beside it.
    seed
        Equal seeds give equal records, but for environment and timing.
    max_cells
        How many cells, that is claims at combinations of values, are allowed; they are counted before any is made.
    workers
        Processes (with an instance there are none: it is audited in this one).
    executor
        What runs the audits in place of processes of this machine: an executor of `concurrent.futures`, such as
        ``distributed.Client(...).get_executor(pure=False)``. Its workers need dpaudit, and what the target imports;
        they get the target itself, an instance as a pickle.
    debug
        Print the traceback of what the target raises to standard error.

    Returns
    -------
    Record

    Raises
    ------
    DpauditError
        The call, the plan, the data or the target cannot be used.
    KeyboardInterrupt
        The run was interrupted; a record of a part of it would pass for the whole.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit
    >>> class Bit(dpaudit.Mechanism):
    ...     epsilon: float = 1.0
    ...     def sample(self, data, size, rng):
    ...         return np.where(rng.random(size) < 1 / (1 + np.exp(-self.epsilon)), data, 1 - data)
    ...     def law(self, data):
    ...         keep = 1 / (1 + np.exp(-self.epsilon))
    ...         return dpaudit.FiniteLaw.from_probabilities([data, 1 - data], [keep, 1 - keep])
    ...     def neighbours(self):
    ...         return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")
    ...     def claims(self):
    ...         return [dpaudit.PrivacyClaim(id="bit.privacy", statement="The bit is ε-LDP.", epsilon=self.epsilon)]
    >>> record = dpaudit.check(Bit(epsilon=1.0), seed=1)
    >>> str(record.results[0].verdict), record.results[0].measured["epsilon"].upper
    ('proved', 1.0)
    """
    budget = Budget(
        samples=samples,
        confidence=DEFAULT_CONFIDENCE if confidence is None else confidence,
        method=method or "auto",
        stop_early=stop_early,
        features=features,
    )
    check_seed(seed)
    check_true_or_false(stop_early=stop_early, debug=debug)
    check_run(seconds, seed, workers)
    _check_claims(claims)
    if isinstance(target, Mechanism):
        if set or data:
            raise ParameterError("an instance has its parameters already; leave `set` and `data` out")
        return _check_instance(target, claims, budget, seconds, seed, debug, executor)
    request = Request(
        targets=_names(target),
        claims=claims,
        set={name: value if isinstance(value, list) else [value] for name, value in (set or {}).items()},
        data=data,
        samples=samples,
        confidence=confidence,
        method=method,
        stop_early=stop_early,
        features=features,
        seed=seed,
        max_cells=max_cells,
    )
    run = run_request(request, seconds=seconds, workers=workers, debug=debug, executor=executor)
    if run.interrupted:
        raise KeyboardInterrupt
    return run.record


def _check_claims(claims: Any) -> None:
    """Raise ParameterError where claims to keep are no list of ids."""
    if isinstance(claims, str) or not isinstance(claims, Sequence) or not all(isinstance(name, str) for name in claims):
        raise ParameterError(f"claims must be a list of claim ids, such as ['noisy-count'], got {short_repr(claims)}")


def _names(target: Any) -> list[str]:
    """Return targets by name.

    Raises
    ------
    ParameterError
        They are none.
    """
    if isinstance(target, type):
        raise ParameterError(f"{target.__name__} is a class; give an instance with its parameters")
    names = [target] if isinstance(target, str) else target
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise ParameterError(
            f"target must be an instance of a mechanism, or one name or several as on the command line, got "
            f"{short_repr(target)}"
        )
    return list(names)


def run_request(
    request: Request,
    *,
    seconds: float | None = None,
    started: float | None = None,
    workers: int | None = 1,
    debug: bool = False,
    begin: Callable[[Prepared], Progress | None] = lambda prepared: None,
    output: Path | None = None,
    store: Path | None = None,
    fresh: bool = False,
    known: Sequence[Lookup] = (),
    announce: bool = False,
    stop: Callable[[], bool] = lambda: False,
    apart: bool = True,
    executor: Executor | None = None,
) -> Run:
    """Run a request.

    Parameters
    ----------
    request, seconds, debug
        As for `check`.
    started
        Time, in seconds since the epoch, from which ``seconds`` count; None for now.
    workers
        Processes; None for one per processor, as far as there are cells for them.
    begin
        Called with what is to be done; returns what is called with each cell as it is begun, without a result, and
        with each result as it arrives.
    output
        Folder of the report: witness files go to its folder ``witnesses``.
    store
        File of the store of results, by default ``results.sqlite`` in that folder: what it knows is not computed again.
    fresh
        Forget what the store knows.
    known
        Where else results may be that need not be computed again.
    announce
        Say on standard error where sampling will take long.
    stop
        Tells whether the run should stop, as an interrupt does.
    apart
        Load and run targets in processes of their own. Without it a target may end this one.
    executor
        What runs the cells, in place of processes of this machine.

    Raises
    ------
    DpauditError
        The request cannot be run, or the store cannot be used.
    KeyboardInterrupt
        The run was interrupted before any cell was begun.
    """
    check_run(seconds, request.seed, 1 if workers is None else workers)
    check_budget(request)
    started = time.time() if started is None else started
    settings = Settings(seed=request.seed, debug=debug, witnesses=output is not None, announce=announce)
    settings = settings.limited(seconds, started)
    # One process gains by parts only what is kept of them.
    spread = workers != 1 or executor is not None or output is not None or store is not None
    settings = replace(settings, spread=spread, announce=announce and executor is None)
    if executor is not None:
        workers = width_of(executor)
    with ExitStack() as stack:
        team = stack.enter_context(Team(stop=stop)) if apart else Here()
        needed = (load_targets, (tuple(request.targets), request.data))
        prepared: Prepared = team.call(prepare, request, seconds is not None, load=needed, until=settings.last)
        file = store or (None if output is None else output / NAME)
        kept = None if file is None else stack.enter_context(Store(file, fresh=fresh))
        done = run_cells(
            prepared,
            settings,
            team if executor is None else OnExecutor(executor, stop=stop),
            workers=workers or max(1, min(os.cpu_count() or 1, len(prepared.cells))),
            progress=begin(prepared),
            output=output,
            known=[*([] if kept is None else [kept]), *known],
            keeper=kept,
            tell=announce,
        )
    command = request.command if seconds is None else f"{request.command} --seconds {seconds:g}"
    record = make_record(done.results, prepared, seed=request.seed, command=command, started=started)
    cells = len(prepared.cells) - len(done.missing)
    if done.interrupted and len(done.results) < cells:
        record = replace(record, partial=Partial(cells=cells, results=len(done.results)))
    if request.shard is not None:
        number, of = request.shard
        places = tuple(prepared.places[each] for each in done.numbers)
        record = replace(record, shard=Shard(number=number, of=of, cells=cells, places=places, code=prepared.code))
    return Run(
        record=record,
        prepared=prepared,
        interrupted=done.interrupted,
        taken=done.taken,
        problems=done.problems,
        missing=done.missing,
    )


def make_record(
    results: Sequence[Result], prepared: Prepared | None, *, seed: int, command: str, started: float
) -> Record:
    """Return the record of results."""
    return Record(
        version=dpaudit_version(),
        seed=seed,
        command=command,
        error_probability=summed_errors(results),
        papers=prepared.papers if prepared else {},
        systems=prepared.systems if prepared else {},
        claims=prepared.claims if prepared else {},
        results=kept(results),
        summary=summarise(results),
        environment={**_environment(), **({"sources": prepared.origins} if prepared and prepared.origins else {})},
        timing={"started": started, "seconds": time.time() - started},
    )


def check_budget(request: Request) -> None:
    """Raise ParameterError where an option of a request is out of range."""
    if request.samples is not None and request.samples > MOST_SAMPLES:
        raise ParameterError(f"samples must be at most 10^15, got {request.samples}")
    Budget(
        samples=request.samples,
        confidence=DEFAULT_CONFIDENCE if request.confidence is None else request.confidence,
        method=request.method or "auto",
        features=request.features,
    )
    if request.max_cells < 1:
        raise ParameterError(f"max-cells must be at least 1, got {request.max_cells}")


def _check_instance(
    target: Mechanism,
    claims: Sequence[str],
    budget: Budget,
    seconds: float | None,
    seed: int,
    debug: bool,
    executor: Executor | None,
) -> Record:
    started = time.time()
    made = {claim.id: claim.kind for claim in claims_of(target)}
    unknown = [name for name in claims if name not in made]
    if unknown or not made:
        raise TargetError(
            f"unknown claim {unknown[0]!r}{suggestion(unknown[0], made)}; {target.name} makes: {', '.join(made)}"
            if unknown
            else f"{target.name} makes no claim; define `claims`"
        )
    settings = Settings(seed=seed, debug=debug).limited(seconds)
    reference = reference_of(type(target))
    cells = [
        Cell(
            reference=reference,
            called=called(reference, target.name),
            target=target.name,
            claim=name,
            kind=kind,
            parameters=target.parameters(),
            samples=budget.samples,
            method=budget.method,
            stop_early=budget.stop_early,
            features=budget.features,
            error_probability=complement(budget.confidence),
            confidence=None if budget.confidence == DEFAULT_CONFIDENCE else budget.confidence,
        )
        for name, kind in made.items()
        if not claims or name in claims
    ]
    check_samples_of(cells, target)
    if executor is not None:
        results = _on_executor(executor, cells, target, settings)
    else:
        results = [
            (late_result(cell, settings) if settings.late else audited(cell, target, settings)).result for cell in cells
        ]
    record = make_record(results, None, seed=seed, command="", started=started)
    return replace(record, systems={target.name: system_entry(type(target), target)})


def _on_executor(executor: Executor, cells: Sequence[Cell], target: Mechanism, settings: Settings) -> list[Result]:
    """Results of the claims of an instance, audited elsewhere."""
    settings, results = replace(settings, spread=True), {}

    def begin(i: int) -> WorkerRequest | None:
        if settings.last is not None and time.time() >= settings.last:
            results[i] = not_begun(cells[i], settings).result
            return None
        return WorkerRequest(key=i, function=run_in_parts, arguments=(cells[i], settings, parts.known(i), target))

    def ask(i: int, part: Part) -> WorkerRequest:
        return WorkerRequest(key=(i, part.name), function=run_part, arguments=(cells[i], settings, part, target))

    parts = Parts([""] * len(cells), None, begin=begin, ask=ask)
    parts.begin_with(range(len(cells)))
    for key, answer in OnExecutor(executor).answers(parts, width=width_of(executor), until=settings.last):
        for i, last in parts.take(key, answer):
            results[i] = answered(cells[i], settings, last).result
            parts.end(i)
    return [results[i] for i in sorted(results)]


def check_run(seconds: float | None, seed: int, workers: int) -> None:
    """Raise ParameterError where an option of a run is out of range."""
    if seconds is not None and not 0 < seconds < math.inf:
        raise ParameterError(f"seconds must be above 0 and finite, got {seconds}")
    if seed < 0:
        raise ParameterError(f"seed must be at least 0, got {seed}")
    if not 1 <= workers <= _MOST_WORKERS:
        raise ParameterError(f"workers must be at least 1 and at most {_MOST_WORKERS}, got {workers}")


def _environment() -> dict[str, Any]:
    libraries = {}
    for name in _LIBRARIES:
        try:
            libraries[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processors": os.cpu_count() or 1,
        "libraries": libraries,
    }
