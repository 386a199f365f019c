"""The whole way: a request, or an instance, to a record."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dpaudit.auditors.budget import DEFAULT_CONFIDENCE, Budget, Features, Method
from dpaudit.registry import called, reference_of, suggestion
from dpaudit.claims.record import Record, Result, SystemEntry, summarise
from dpaudit.errors import ParameterError, TargetError
from dpaudit.mechanism import Mechanism
from dpaudit.plan import Scalar
from dpaudit.runner.cells import Cell, Request, build_cells
from dpaudit.runner.execute import Progress, Settings, audited, late_result, run_cells
from dpaudit.runner.freshness import sources_of
from dpaudit.runner.instances import claims_of
from dpaudit.runner.version import dpaudit_version

_LIBRARIES = ("numpy", "scipy", "hypothesis", "scikit-learn", "statsmodels", "pydantic")


def check(
    target: str | Mechanism | Sequence[str] = (),
    *,
    claims: Sequence[str] = (),
    set: Mapping[str, Scalar | list[Scalar]] | None = None,  # noqa: A002 - the option's name
    data: str | None = None,
    samples: int | None = None,
    seconds: float | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    method: Method | None = None,
    stop_early: bool = False,
    features: Features = "none",
    seed: int = 0,
    workers: int = 1,
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
        PrefLib file to measure on (not with an instance).
    samples
        Samples per input, or runs of a measurement, at least 1.
    seconds
        After this long no further claim is begun, and audits by sampling end with what they have, after the call of
        ``sample`` that is under way; what is undecided by then is ``inconclusive``. Where the time is over decides
        what is known, so that records with equal seeds may differ.
    confidence
        Probability, at least, with which every statistical statement of the run is true.
    method
        ``auto``, ``exact``, ``likelihood`` or ``black-box``.
    stop_early
        Stop a black-box audit as soon as the claim is refuted; other methods ignore it.
    features
        ``float-bits``: let a black-box audit look at the bit patterns of floating-point outputs too. It implies the
        method ``black-box``, and no other can be asked for beside it.
    seed
        Equal seeds give equal records, but for environment and timing.
    workers
        Processes (1 with an instance).
    debug
        Print the traceback of what the target raises to standard error.

    Returns
    -------
    Record

    Raises
    ------
    DpauditError
        The call, the plan, the data or the target cannot be used.
    """
    budget = Budget(
        samples=samples, confidence=confidence, method=method or "auto", stop_early=stop_early, features=features
    )
    check_run(seconds, seed, workers)
    if isinstance(target, Mechanism):
        if set or data:
            raise ParameterError("an instance has its parameters already; leave `set` and `data` out")
        return _check_instance(target, claims, budget, seconds, seed, debug)
    request = Request(
        targets=[target] if isinstance(target, str) else list(target),
        claims=claims,
        set={name: value if isinstance(value, list) else [value] for name, value in (set or {}).items()},
        data=data,
        samples=samples,
        confidence=confidence,
        method=method,
        stop_early=stop_early,
        features=features,
        seed=seed,
    )
    record, _ = run_request(request, seconds=seconds, workers=workers, debug=debug)
    return record


def run_request(
    request: Request,
    *,
    seconds: float | None = None,
    workers: int = 1,
    debug: bool = False,
    cells: Sequence[Cell] | None = None,
    progress: Progress | None = None,
    output: Path | None = None,
    announce: bool = False,
) -> tuple[Record, bool]:
    """Run a request; return the record, and whether the run was interrupted (the record holds what was done).

    Witness files go to the folder ``witnesses`` of ``output``, if there is one. With ``announce`` a line on standard
    error says where sampling will take long.
    """
    check_run(seconds, request.seed, workers)
    Budget(
        samples=request.samples,
        confidence=request.confidence,
        method=request.method or "auto",
        features=request.features,
    )
    started = time.time()
    cells = build_cells(request) if cells is None else cells
    if not cells:
        raise TargetError("nothing to check: no claim of these targets applies; `dpaudit show TARGET` lists them")
    settings = Settings(
        seed=request.seed,
        confidence=_confidence_each(request.confidence, len(cells)),
        debug=debug,
        output=None if output is None else str(output),
        announce=announce,
    )
    results, interrupted = run_cells(cells, settings, workers=workers, seconds=seconds, progress=progress)
    firsts = {cell.target: cell for cell in reversed(cells)}
    systems = {
        cell.target: _system(firsts[cell.target].reference.load(), firsts[cell.target].instance()) for cell in cells
    }
    record = _record(tuple(results), systems, request.seed, request.confidence, started)
    command = request.command if seconds is None else f"{request.command} --seconds {seconds:g}"
    return replace(record, command=command, sources=sources_of(cells)), interrupted


def _check_instance(
    target: Mechanism,
    claims: Sequence[str],
    budget: Budget,
    seconds: float | None,
    seed: int,
    debug: bool,
) -> Record:
    started = time.time()
    made = [claim.id for claim in claims_of(target)]
    unknown = [name for name in claims if name not in made]
    if unknown or not made:
        raise TargetError(
            f"unknown claim {unknown[0]!r}{suggestion(unknown[0], made)}; {target.name} makes: {', '.join(made)}"
            if unknown
            else f"{target.name} makes no claim; define `claims`"
        )
    chosen = [name for name in made if not claims or name in claims]
    settings = Settings(seed=seed, confidence=_confidence_each(budget.confidence, len(chosen)), debug=debug)
    settings = settings.limited(seconds)
    reference = reference_of(type(target))
    results = []
    for name in chosen:
        cell = Cell(
            reference=reference,
            called=called(reference, target.name),
            target=target.name,
            claim=name,
            parameters=target.parameters(),
            samples=budget.samples,
            method=budget.method,
            stop_early=budget.stop_early,
            features=budget.features,
        )
        outcome = late_result(cell, settings) if settings.late else audited(cell, target, settings)
        results.append(outcome.result)
    return _record(tuple(results), {target.name: _system(type(target), target)}, seed, budget.confidence, started)


def _record(
    results: tuple[Result, ...],
    systems: Mapping[str, SystemEntry],
    seed: int,
    confidence: float,
    started: float,
) -> Record:
    return Record(
        version=dpaudit_version(),
        seed=seed,
        confidence=confidence,
        systems=systems,
        results=results,
        summary=summarise(results),
        environment=_environment(),
        timing={"started": started, "seconds": time.time() - started},
    )


def _system(target: type[Mechanism], instance: Mechanism) -> SystemEntry:
    return SystemEntry(
        title=target.summary(),
        description=target.trust,
        source=target.source,
        errata=tuple(target.errata),
        model=target.model,
        notations=_notations(instance),
    )


def _notations(target: Mechanism) -> dict[str, str]:
    try:
        return {name: view.notation for name, view in target.views().items() if view.notation}
    except Exception:
        # A target that raises says so in its results.
        return {}


def _confidence_each(confidence: float, cells: int) -> float:
    """Bonferroni: every cell is sure enough that all of them together are."""
    return 1 - (1 - confidence) / cells


def check_run(seconds: float | None, seed: int, workers: int) -> None:
    """Raise ParameterError where an option of a run is out of range."""
    if seconds is not None and not seconds > 0:
        raise ParameterError(f"seconds must be above 0, got {seconds}")
    if seed < 0:
        raise ParameterError(f"seed must be at least 0, got {seed}")
    if workers < 1:
        raise ParameterError(f"workers must be at least 1, got {workers}")


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
