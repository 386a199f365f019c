"""The rate auditor: the growth of an exact or measured quantity against the exponent that is claimed."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dpaudit.auditors.sampling.budget import Budget
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.claims import RateClaim
from dpaudit.claims.evidence import Counterexample, Evidence, Growth, Interval, Remedy
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import CheckError
from dpaudit.statistics import Exponent, fitted_exponent, local_exponents

_FIT = "exponent"
_TAIL = "exponent_of_the_larger_half"
_LIMIT = "exponent_in_the_limit"
_PARTS = 20


def audit_rate(claim: RateClaim, *, budget: Budget, streams: Streams) -> Evidence:
    """Decide whether a quantity grows as claimed over the points of the claim.

    Parameters
    ----------
    claim
        The claim, with its exact values or its measurement.
    budget, streams
        Runs per point, confidence, and random streams.

    Returns
    -------
    Evidence
        Three exponents are looked at: over all points, over the larger half of them, and over that half corrected for
        what small points add. ``refuted`` where all three, with their whole intervals, are beyond the claimed one by
        more than half the resolution; ``consistent`` where the latter two exclude every exponent that is a resolution
        beyond; otherwise ``inconclusive``. Never ``proved``: a rate is about what no finite range shows.

    Raises
    ------
    CheckError
        A value or the shape is not a finite number above 0, or a measurement has the wrong shape.

    Notes
    -----
    **Guarantee.** Exact values: the interval of an exponent is the range of the local ones, and involves no chance.
    Measured ones: as `fitted_exponent`, the three intervals together. Every verdict is about the range of the points:
    that all three must agree keeps curvature at small points, or noise at large ones, from refuting, but not a
    lower-order term that dominates the whole range; nor are logarithms told from a constant.
    **Checked against** power laws with lower-order terms and logarithms, and false refutations under noise.
    """
    points = np.array(claim.points, dtype=float)
    values, samples = _values(claim, budget, streams)
    if claim.measure is not None and (values == 0).any():
        return Evidence(
            verdict=Verdict.INCONCLUSIVE,
            scope=_scope(claim),
            method="simulation, fitted exponents",
            note=f"at {claim.variable} = {claim.points[int(np.argmax((values == 0).any(axis=1)))]:g} a "
            f"{_PARTS}th of the runs averages 0, which has no logarithm; raise --samples",
            samples=samples,
            remedy=Remedy.SAMPLES,
        )
    shape = _shape(claim)
    shaped = values / shape[:, None]
    half = len(points) // 2
    confidence = 1 - budget.alpha / 3

    def exponent(start: int, *, corrected: bool = False) -> Exponent:
        if claim.exact is not None:
            return local_exponents(points[start:], shaped[start:, 0], corrected=corrected)
        return fitted_exponent(points[start:], shaped[start:], confidence=confidence, corrected=corrected)

    fits = {_FIT: exponent(0), _TAIL: exponent(half), _LIMIT: exponent(half, corrected=True)}
    verdict, note, remedy = _decide(claim, fits)
    means = values.mean(axis=1)
    measured = {name: Interval(lower=fit.lower, estimate=fit.estimate, upper=fit.upper) for name, fit in fits.items()}
    return Evidence(
        verdict=verdict,
        scope=_scope(claim),
        method="exact values, local exponents" if claim.exact else "simulation, fitted exponents",
        measured=measured,
        witness=_counterexample(claim, means, fits) if verdict is Verdict.REFUTED else None,
        note=note,
        samples=samples,
        remedy=remedy,
        growth=Growth(
            variable=claim.variable,
            points=tuple(points.tolist()),
            values=tuple(means.tolist()),
            shape=tuple(shape.tolist()),
        ),
    )


def _scope(claim: RateClaim) -> str:
    range_ = f"{claim.quantity}; {claim.variable} from {claim.points[0]:g} to {claim.points[-1]:g}"
    return f"{range_}; {claim.scope}" if claim.scope else range_


def _decide(claim: RateClaim, fits: Mapping[str, Exponent]) -> tuple[Verdict, str, Remedy | None]:
    margin, resolution = claim.resolution / 2, claim.resolution
    if any(math.isnan(side) for fit in fits.values() for side in (fit.lower, fit.upper)):
        note = "the points are too small or too near to each other for double precision"
        return Verdict.INCONCLUSIVE, note, Remedy.POINTS
    above = min(fit.lower for fit in fits.values()) > claim.exponent + margin
    below = max(fit.upper for fit in fits.values()) < claim.exponent - margin
    if above or (below and claim.direction == "equal"):
        return Verdict.REFUTED, f"grows {'faster' if above else 'slower'} than claimed over this range", None
    judges = [fits[_TAIL], fits[_LIMIT]]
    highest, lowest = max(fit.upper for fit in judges), min(fit.lower for fit in judges)
    excluded = highest < claim.exponent + resolution
    if claim.direction == "equal":
        excluded = excluded and lowest > claim.exponent - resolution
    if not excluded:
        wanted = "raise --samples, or take a wider range of points" if claim.measure else "take a wider range of points"
        note = f"an exponent {resolution:g} beyond the claimed one is not excluded; {wanted}"
        return Verdict.INCONCLUSIVE, note, Remedy.SAMPLES if claim.measure else Remedy.POINTS
    beside = " beside the claimed factor" if claim.shape else ""
    note = f"an exponent above {highest:.3g}{beside} is excluded over this range"
    if claim.direction == "equal":
        note = f"exponents above {highest:.3g} and below {lowest:.3g}{beside} are excluded over this range"
    elif below:
        note += "; grows slower than claimed"
    return Verdict.CONSISTENT, f"{note}; exponents are told apart where they differ by {resolution:g}", None


def _counterexample(claim: RateClaim, means: np.ndarray, fits: Mapping[str, Exponent]) -> Counterexample:
    above = fits[_FIT].lower > claim.exponent
    bound = min(fit.lower for fit in fits.values()) if above else max(fit.upper for fit in fits.values())
    return Counterexample(
        instance={claim.variable: list(claim.points), claim.quantity: means.tolist()},
        quantity=f"exponent of {claim.variable}",
        measured=bound,
        claimed=claim.exponent,
        direction=claim.direction,
    )


def _shape(claim: RateClaim) -> np.ndarray:
    factors = np.array([1.0 if claim.shape is None else float(claim.shape(point)) for point in claim.points])
    _check_positive(claim, factors[:, None], "shape")
    return factors


def _values(claim: RateClaim, budget: Budget, streams: Streams) -> tuple[np.ndarray, int]:
    """Exact values, shape (k, 1), or means of parts of the runs, shape (k, parts), and how many runs there were."""
    if claim.exact is not None:
        exact = np.array([[float(claim.exact(point))] for point in claim.points])
        _check_positive(claim, exact, "exact")
        return exact, 0
    assert claim.measure is not None
    # A multiple, so that all parts are of one size.
    runs = -(-(budget.samples or claim.runs) // _PARTS) * _PARTS
    parts = []
    for place, point in enumerate(claim.points):
        drawn = np.asarray(claim.measure(point, runs, streams.generator("points", place)))
        if drawn.shape != (runs,) or drawn.dtype.kind not in "biuf":
            raise CheckError(
                f"{claim.id}: `measure({point:g}, {runs}, rng)` returned shape {drawn.shape} and dtype {drawn.dtype}; "
                f"return one real number per run, shape ({runs},)"
            )
        parts.append(drawn.reshape(_PARTS, -1).mean(axis=1))
    measured = np.array(parts)
    _check_positive(claim, measured, "measure")
    return measured, runs * len(parts)


def _check_positive(claim: RateClaim, values: np.ndarray, what: str) -> None:
    bad = ~(np.isfinite(values) & ((values > 0) | ((values == 0) & (what == "measure"))))
    if bad.any():
        place, part = np.argwhere(bad)[0]
        runs = f" on average over a {_PARTS}th of the runs" if what == "measure" else ""
        hint = "; raise --samples, or take points at which it is larger" if what == "measure" else ""
        raise CheckError(
            f"{claim.id}: `{what}` gives {values[place, part]:g}{runs} at {claim.variable} = {claim.points[place]:g}, "
            f"but a rate needs finite numbers above 0{hint}"
        )
