"""Measurements of a claim in batches of independent runs, with intervals for their means."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dpaudit.auditors.sampling.budget import Budget
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.claims import FigureClaim, Measurements, UtilityClaim
from dpaudit.claims.evidence import Interval
from dpaudit.errors import CheckError
from dpaudit.statistics import mean_interval, student_interval

BATCH = 256
"""Runs, at most, of one call of ``measure``."""

_FEWEST_BATCHES = 4
_TELLING_BATCH = 16


def measured_intervals(
    claim: UtilityClaim | FigureClaim, runs: int, budget: Budget, streams: Streams
) -> dict[str, Interval]:
    """Run a claim's measurement and return an interval for the mean of each quantity; all of them hold together.

    Rigorous for a bound; Student's for a published figure, which is a mean of as many runs as its authors could afford.

    Raises
    ------
    CheckError
        A measurement has the wrong shape, is not a number, lies outside its declared support, or is one run copied.
    """
    assert claim.measure is not None
    parts: dict[str, list[np.ndarray]] = {}
    size = min(BATCH, -(-runs // _FEWEST_BATCHES))
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


def _check_independent(claim: UtilityClaim | FigureClaim, batches: list[np.ndarray]) -> None:
    """Refuse values that are all alike within every call but differ between calls: one run copied is not many runs."""
    full = [values for values in batches if len(values) >= _TELLING_BATCH]
    alike = all((values == values[0]).all() for values in full)
    if len(full) > 1 and alike and len({float(values[0]) for values in full}) > 1:
        raise CheckError(f"{claim.id}: `measure` returned one value many times; return independent runs")


def _named(measurements: Measurements) -> Mapping[str, np.ndarray]:
    return measurements if isinstance(measurements, Mapping) else {"value": measurements}


def _interval(name: str, values: np.ndarray, claim: UtilityClaim | FigureClaim, confidence: float) -> Interval:
    support = _support(claim, name)
    low, high = support
    if not np.isfinite(values).all():
        raise CheckError(f"{claim.id}: `measure` returned a {name!r} that is not a finite number")
    if values.min() < low or values.max() > high:
        raise CheckError(
            f"{claim.id}: `measure` returned {name!r} between {values.min():g} and {values.max():g}, "
            f"outside the declared support [{low:g}, {high:g}]"
        )
    interval = student_interval if isinstance(claim, FigureClaim) else mean_interval
    lower, estimate, upper = interval(values, support=support, confidence=confidence)
    return Interval(lower=lower, estimate=estimate, upper=upper)


def _support(claim: UtilityClaim | FigureClaim, name: str) -> tuple[float, float]:
    if name == "value":
        return claim.support
    if name == "over" and isinstance(claim, FigureClaim):
        return claim.over_support or claim.support
    return claim.beside_support or claim.support
