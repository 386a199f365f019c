"""The utility auditor: a measured or exact expectation against the bound that a theorem gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpaudit.auditors.measures.measurement import BATCH, measured_intervals
from dpaudit.auditors.sampling.budget import Budget
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.claims import UtilityClaim
from dpaudit.claims.evidence import Counterexample, Evidence, Interval, Remedy, Role
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import CheckError

ROUNDING = 1e-9
"""Relative excess over a bound that double precision cannot tell from rounding."""

ABSOLUTE_ROUNDING = 1e-12
"""The same where the bound is 0."""


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
        samples = min(samples, BATCH) if unbreakable or claim.exact is not None else samples
        beside = measured_intervals(claim, samples, budget, streams)
    if claim.exact is not None:
        method, value = "exact", Interval.exact(_checked_exact(claim, beside.get("value")))
    else:
        method, value = "simulation", beside["value"]
    beside.pop("value", None)
    compared = {name: replace(interval, role=Role.COMPARISON) for name, interval in beside.items()}
    known = {name: Interval.exact(number, role=Role.COMPARISON) for name, number in claim.beside.items()}
    known |= {name: Interval.exact(number, role=Role.BOUND) for name, number in claim.bounds.items()}
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
    measured = {"value": value, **compared, **known}
    if claim.trivial is not None:
        measured["trivial"] = Interval.exact(claim.trivial, role=Role.COMPARISON)
    at_best, at_worst = (value.lower, value.upper) if claim.direction == "at-most" else (value.upper, value.lower)
    trivially = claim.trivial is not None and _within(claim.trivial, claim.bound, claim)
    counterexample, remedy, note = None, None, ""
    if not _within(at_best, claim.bound, claim):
        verdict = Verdict.REFUTED
        counterexample = Counterexample(
            instance=scope,
            quantity=claim.quantity,
            measured=at_best,
            claimed=claim.bound,
            direction=claim.direction,
        )
    elif not _within(at_worst, claim.bound, claim):
        verdict, remedy = Verdict.INCONCLUSIVE, Remedy.SAMPLES
        note = "the bound lies inside the confidence interval; raise --samples"
    elif trivially:
        verdict, note = Verdict.VACUOUS, claim.trivial_reason
    else:
        verdict = Verdict.PROVED if method == "exact" else Verdict.CERTIFIED
    if claim.bound > 0 and value.lower > 0:
        # Above 1 there is room, whatever the direction.
        if claim.direction == "at-most":
            measured["slack"] = Interval(lower=claim.bound / value.upper, upper=claim.bound / value.lower)
        else:
            measured["slack"] = Interval(lower=value.lower / claim.bound, upper=value.upper / claim.bound)
    return Evidence(
        verdict=verdict,
        scope=scope,
        method=method,
        measured=measured,
        witness=counterexample,
        note=note,
        samples=samples,
        remedy=remedy,
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
