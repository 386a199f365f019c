"""Records of schema version 1, read into today's types.

In version 1 one type of witness stood for violations and counterexamples, and roles, remedies and the error probability
of a result were not written; they follow from names, notes and the confidence of the run as far as that version had
them. Papers and places were not written either, so that results of such a record are grouped by target alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from dpaudit.claims.evidence import Counterexample, Curves, Growth, Interval, Remedy, Role, Violation
from dpaudit.claims.record import Record, Result, SystemEntry, summed_errors
from dpaudit.claims.verdicts import Verdict

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SCHEMA: Final = "dpaudit.record/1"

_FORBID_UNKNOWN = {"extra": "forbid"}
_DIRECTIONS: Mapping[str, Literal["at-most", "at-least", "equal"]] = {
    "at most": "at-most",
    "at least": "at-least",
    "published": "equal",
}
_OWN = {"value", "over", "slack", "worst", "trivial"}
_MEAN_OF_RUNS = re.compile(r"mean of \d+ runs")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Witness:
    __pydantic_config__: ClassVar[Any] = _FORBID_UNKNOWN

    data: Any
    neighbour: Any = None
    event: Any
    p: float
    q: float
    epsilon: float | None = None
    delta: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    __pydantic_config__: ClassVar[Any] = _FORBID_UNKNOWN

    target: str
    claim: str
    kind: str
    source: str
    statement: str
    parameters: Mapping[str, Any]
    view: str | None
    relation: str | None
    scope: str
    method: str
    verdict: Verdict
    expected: Verdict | None
    reason: str
    ok: bool
    claimed: Mapping[str, float]
    measured: Mapping[str, Interval]
    witness: _Witness | None
    note: str
    samples: int
    seed: int
    command: str
    curves: Curves | None = None
    growth: Growth | None = None
    witness_file: str | None = None
    timed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Times:
    __pydantic_config__: ClassVar[Any] = _FORBID_UNKNOWN

    measured: Mapping[str, Interval]
    witness: _Witness | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    __pydantic_config__: ClassVar[Any] = _FORBID_UNKNOWN

    schema: Literal["dpaudit.record/1"]
    version: str
    seed: int
    confidence: float
    systems: Mapping[str, SystemEntry] = field(default_factory=dict)
    results: tuple[_Result, ...]
    summary: Mapping[str, int]
    command: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    timing: Mapping[str, float | Mapping[str, _Times]] = field(default_factory=dict)


def read(raw: Any) -> Record:
    """Return the record that parsed JSON of version 1 holds.

    Raises
    ------
    pydantic.ValidationError
        It is no such record.
    """
    old = _adapter().validate_python(raw)
    timing: dict[str, Any] = dict(old.timing)
    times = timing.pop("measured", None)
    # Version 1 divided one minus the confidence of a run among its results.
    error = round(1 - old.confidence, 15) / max(len(old.results), 1)
    results = []
    for place, result in enumerate(old.results):
        timed = times.get(str(place)) if result.timed and isinstance(times, Mapping) else None
        results.append(_result(result, error, timed))
    return Record(
        version=old.version,
        seed=old.seed,
        error_probability=summed_errors(results),
        command=old.command,
        systems=old.systems,
        results=tuple(results),
        summary=old.summary,
        environment=old.environment,
        timing=timing,
    )


def _result(old: _Result, error: float, timed: _Times | None) -> Result:
    measured = old.measured if timed is None else timed.measured
    witness = old.witness if timed is None else timed.witness
    values = {name: getattr(old, name) for name in _Result.__dataclass_fields__ if not name.startswith("__")}
    is_privacy = old.kind == "privacy"
    approximate = is_privacy and set(old.claimed) == {"epsilon", "delta"}
    values |= {
        "measured": {name: _with_role(old.kind, name, interval) for name, interval in measured.items()},
        "witness": None if witness is None else _violation(witness) if is_privacy else _counterexample(witness),
        "guarantee": "approximate-dp" if approximate else None,
        "error_probability": error if old.samples else None,
        "remedy": _remedy(old),
    }
    return Result(**values)


def _with_role(kind: str, name: str, interval: Interval) -> Interval:
    if kind not in ("utility", "figure") or name in _OWN:
        role = Role.VALUE
    elif _MEAN_OF_RUNS.fullmatch(name):
        role = Role.MEAN_OF_RUNS
    else:
        role = Role.BOUND if "bound" in name.replace("_", " ").split() else Role.COMPARISON
    return Interval(lower=interval.lower, upper=interval.upper, estimate=interval.estimate, role=role)


def _violation(old: _Witness) -> Violation:
    forces = {"epsilon": old.epsilon, "delta": old.delta}
    return Violation(
        data=old.data,
        neighbour=old.neighbour,
        event=old.event,
        p=old.p,
        q=old.q,
        forces={name: value for name, value in forces.items() if value is not None},
    )


def _counterexample(old: _Witness) -> Counterexample:
    event = old.event if isinstance(old.event, dict) else {}
    quantity, direction = next(
        (
            (name, _DIRECTIONS[side])
            for name, side in event.items()
            if isinstance(side, str) and side in _DIRECTIONS and name not in ("p", "q")
        ),
        (None, None),
    )
    words = str(event.get("p", "actual"))
    for end in (" at least", " at most"):
        words = words.removesuffix(end)
    return Counterexample(
        instance=old.data,
        quantity=quantity or words,
        measured=old.p,
        claimed=old.q,
        direction=direction or ("at-most" if old.p > old.q else "at-least"),
    )


def _remedy(old: _Result) -> Remedy | None:
    if old.verdict is not Verdict.INCONCLUSIVE or "--" in old.note or not old.samples:
        return None
    return Remedy.SAMPLES


@cache
def _adapter() -> TypeAdapter[_Record]:
    from pydantic import TypeAdapter

    return TypeAdapter(_Record)
