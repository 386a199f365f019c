"""The utility auditor: a measured or exact expectation against the bound that a theorem gives."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dpaudit.auditors.budget import Budget
from dpaudit.auditors.streams import Streams
from dpaudit.claims.claims import Measurements, UtilityClaim
from dpaudit.claims.evidence import Evidence, Interval, Witness
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import CheckError
from dpaudit.statistics import mean_interval

ROUNDING = 1e-9
"""Relative excess over a bound that double precision cannot tell from rounding."""

ABSOLUTE_ROUNDING = 1e-12
"""The same where the bound is 0."""

_BATCH = 256
_FEWEST_BATCHES = 4
_TELLING_BATCH = 16


def audit_utility(claim: UtilityClaim, *, budget: Budget, streams: Streams) -> Evidence:
    """Decide whether a bound on an expectation holds, and whether it says anything.

    Parameters
    ----------
    claim
        The claim, with its exact value or its measurement.
    budget, streams
        Number of runs, confidence, and random streams.

    Returns
    -------
    Evidence
        ``refuted`` (the value, or its whole confidence interval, is beyond the bound), ``vacuous`` (nothing can
        violate the bound, or a trivial method meets it), ``proved`` (exact), ``certified`` (the whole interval is
        within the bound) or ``inconclusive``.

    Raises
    ------
    CheckError
        A measurement has the wrong shape, is not a number, or lies outside its declared support.

    Notes
    -----
    **Guarantee.** A measured verdict is wrong with probability at most 1 - confidence.
    **Checked against** closed forms, and the rate of false refutations where the bound is met with equality.
    """
    worst = claim.support[1] if claim.direction == "at-most" else claim.support[0]
    scope = f"{claim.quantity}; {claim.scope or 'at these parameters'}"
    unbreakable = _within(worst, claim.bound, claim)
    samples = 0
    beside: dict[str, Interval] = {}
    if claim.measure is not None:
        samples = budget.samples or claim.runs
        # Where nothing can violate the bound, measure only enough to see that the support is what it is said to be.
        samples = min(samples, _BATCH) if unbreakable or claim.exact is not None else samples
        beside = _measure(claim, samples, budget, streams)
    if claim.exact is not None:
        method, value = "exact", Interval.exact(_checked_exact(claim, beside.get("value")))
    else:
        method, value = "simulation", beside["value"]
    beside.pop("value", None)
    known = {name: Interval.exact(number) for name, number in claim.beside.items()}
    if unbreakable:
        return Evidence(
            verdict=Verdict.VACUOUS,
            scope=scope,
            method="exact",
            measured={"worst": Interval.exact(worst), **known},
            note=f"nothing can violate it: the value is never worse than {worst:.6g}",
            samples=samples,
        )

    assert value.lower is not None
    assert value.upper is not None
    measured = {"value": value, **beside, **known}
    if claim.trivial is not None:
        measured["trivial"] = Interval.exact(claim.trivial)
    at_best, at_worst = (value.lower, value.upper) if claim.direction == "at-most" else (value.upper, value.lower)
    trivially = claim.trivial is not None and _within(claim.trivial, claim.bound, claim)
    witness, note = None, ""
    if not _within(at_best, claim.bound, claim):
        verdict = Verdict.REFUTED
        witness = Witness(
            data=scope,
            event={claim.quantity: claim.direction.replace("-", " "), "p": "measured at best", "q": "claimed"},
            p=at_best,
            q=claim.bound,
        )
    elif not _within(at_worst, claim.bound, claim):
        verdict = Verdict.INCONCLUSIVE
        note = "the bound lies inside the confidence interval; raise --samples"
    elif trivially:
        verdict, note = Verdict.VACUOUS, claim.trivial_reason
    else:
        verdict = Verdict.PROVED if method == "exact" else Verdict.CERTIFIED
    if claim.bound > 0 and value.lower > 0:
        measured["slack"] = Interval(lower=claim.bound / value.upper, upper=claim.bound / value.lower)
    return Evidence(
        verdict=verdict, scope=scope, method=method, measured=measured, witness=witness, note=note, samples=samples
    )


def _within(value: float, bound: float, claim: UtilityClaim) -> bool:
    excess = value - bound if claim.direction == "at-most" else bound - value
    return excess <= (ROUNDING * abs(bound) if bound else ABSOLUTE_ROUNDING)


def _checked_exact(claim: UtilityClaim, measured: Interval | None) -> float:
    """Exact value, held to the declared support and to the measurement where there is one."""
    assert claim.exact is not None
    value = float(claim.exact())
    low, high = claim.support
    if not np.isfinite(value):
        raise CheckError(f"{claim.id}: the exact value is {value}, not a finite number")
    slack = ROUNDING * max(1.0, abs(value))
    if not low - slack <= value <= high + slack:
        raise CheckError(
            f"{claim.id}: the exact value is {value:g}, outside the declared support [{low:g}, {high:g}]; "
            "declare `support`"
        )
    if measured is not None and not (measured.lower or 0.0) - slack <= value <= (measured.upper or 0.0) + slack:
        raise CheckError(
            f"{claim.id}: `exact` gives {value:g}, but `measure` a mean between {measured.lower:g} and "
            f"{measured.upper:g}; mend whichever is wrong"
        )
    return value


def _measure(claim: UtilityClaim, runs: int, budget: Budget, streams: Streams) -> dict[str, Interval]:
    assert claim.measure is not None
    parts: dict[str, list[np.ndarray]] = {}
    size = min(_BATCH, -(-runs // _FEWEST_BATCHES))
    for batch in range(-(-runs // size)):
        count = min(size, runs - batch * size)
        named = _named(claim.measure(count, streams.generator("runs", batch)))
        if batch and set(named) != set(parts):
            raise CheckError(
                f"{claim.id}: `measure` returned {sorted(named)} after {sorted(parts)}; name the same always"
            )
        for name, values in named.items():
            array = np.asarray(values)
            if array.shape != (count,) or array.dtype.kind not in "biuf":
                raise CheckError(
                    f"{claim.id}: `measure({count}, rng)` returned shape {array.shape} and dtype {array.dtype} for "
                    f"{name!r}; return one real number per run, shape ({count},)"
                )
            parts.setdefault(name, []).append(array)
    if "value" not in parts:
        raise CheckError(f"{claim.id}: `measure` returned {sorted(parts)}; name the audited quantity 'value'")
    _check_independent(claim, parts["value"])
    # All the intervals of one measurement hold together.
    confidence = 1 - budget.alpha / len(parts)
    return {name: _interval(name, np.concatenate(values), claim, confidence) for name, values in parts.items()}


def _check_independent(claim: UtilityClaim, batches: list[np.ndarray]) -> None:
    """Refuse values that are all alike within every call but differ between calls: one run copied is not many runs."""
    full = [values for values in batches if len(values) >= _TELLING_BATCH]
    alike = all((values == values[0]).all() for values in full)
    if len(full) > 1 and alike and len({float(values[0]) for values in full}) > 1:
        raise CheckError(f"{claim.id}: `measure` returned one value many times; return independent runs")


def _named(measurements: Measurements) -> Mapping[str, np.ndarray]:
    return measurements if isinstance(measurements, Mapping) else {"value": measurements}


def _interval(name: str, values: np.ndarray, claim: UtilityClaim, confidence: float) -> Interval:
    support = claim.support if name == "value" else claim.beside_support or claim.support
    low, high = support
    if not np.isfinite(values).all():
        raise CheckError(f"{claim.id}: `measure` returned a {name!r} that is not a finite number")
    if values.min() < low or values.max() > high:
        raise CheckError(
            f"{claim.id}: `measure` returned {name!r} between {values.min():g} and {values.max():g}, "
            f"outside the declared support [{low:g}, {high:g}]"
        )
    lower, estimate, upper = mean_interval(values, support=support, confidence=confidence)
    return Interval(lower=lower, estimate=estimate, upper=upper)
