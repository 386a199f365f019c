"""The figure auditor: a published number, or what is said of a figure, against the same measured again."""

from __future__ import annotations

import math
from dataclasses import replace

from dpaudit.auditors.measures.measurement import measured_intervals
from dpaudit.auditors.sampling.budget import Budget
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.claims import FigureClaim
from dpaudit.claims.evidence import Counterexample, Evidence, Interval, Remedy, Role
from dpaudit.claims.verdicts import Verdict

_WIDE = 0.1

_DETECTED = {
    "equal": "a published number outside of the interval and its tolerance would have been refuted",
    "at-most": "an interval wholly above the bound and its tolerance would have refuted it",
    "at-least": "an interval wholly below the bound and its tolerance would have refuted it",
}


def audit_figure(claim: FigureClaim, *, budget: Budget, streams: Streams) -> Evidence:
    """Measure a published number again.

    Parameters
    ----------
    claim
        The claim, with the published number, or the bound of an inequality, where there is one.
    budget, streams
        Number of runs, confidence, and random streams.

    Returns
    -------
    Evidence
        ``certified`` where the whole interval is within the tolerance of the published number, or on the right side of
        the bound; ``refuted`` where it is beyond; ``consistent`` where it is partly within, or where times are within;
        ``inapplicable`` where nothing is published, with the measured number all the same; ``inconclusive`` where the
        number that is divided by may be 0, or the interval is so wide that it tells nothing.

    Raises
    ------
    CheckError
        A measurement has the wrong shape, is not a number, or lies outside its declared support.

    Notes
    -----
    **Guarantee.** As `student_interval`, the intervals of numerator and denominator together: approximate. Where the
    published number is a mean of k runs itself, and n runs are measured, the interval is that for a mean of k further
    runs: Student's, wider by the square root of 1 + n / k.
    **Checked against** means and quotients that are known, and the rate of false refutations.
    """
    samples = budget.samples or claim.runs
    beside = measured_intervals(claim, samples, budget, streams)
    value, over = beside.pop("value"), beside.pop("over", None)
    beside = {name: replace(interval, role=Role.COMPARISON) for name, interval in beside.items()}
    number = value if over is None else _quotient(value, over)
    compared = number
    if claim.published_runs is not None:
        wider = math.sqrt(1 + samples / claim.published_runs)
        value, over = _widened(value, wider), None if over is None else _widened(over, wider)
        compared = value if over is None else _quotient(value, over)
    scope = f"{claim.quantity}; {claim.scope or 'at these parameters'}"
    if number is None or compared is None:
        return Evidence(
            verdict=Verdict.INCONCLUSIVE,
            scope=scope,
            method="simulation",
            measured=beside,
            note="what the number is divided by may be 0; raise --samples",
            samples=samples,
            remedy=Remedy.SAMPLES,
        )
    number, compared = _scaled(number, claim.factor), _scaled(compared, claim.factor)
    assert compared.lower is not None
    assert compared.upper is not None
    if claim.published_runs is not None:
        beside[f"mean of {claim.published_runs} runs"] = replace(compared, role=Role.MEAN_OF_RUNS)
    counterexample, remedy, note = None, None, ""
    if claim.published is None:
        verdict, note = Verdict.INAPPLICABLE, "nothing is published at these parameters"
    else:
        low, high = _allowed(claim, claim.published)
        if compared.lower > high or compared.upper < low:
            verdict = Verdict.REFUTED
            above = compared.lower > high
            counterexample = Counterexample(
                instance=scope,
                quantity=claim.quantity,
                measured=compared.lower if above else compared.upper,
                claimed=claim.published,
                direction=claim.direction,
            )
        elif _tells_nothing(claim, claim.published, number):
            verdict, remedy = Verdict.INCONCLUSIVE, Remedy.SAMPLES
            note = "too few runs to tell much; raise --samples"
        elif claim.timed:
            verdict = Verdict.CONSISTENT
            note = f"times of this machine; beyond {claim.published:g} by more than {claim.tolerance:g} it is refuted"
        elif low <= compared.lower and compared.upper <= high:
            verdict = Verdict.CERTIFIED
        else:
            verdict = Verdict.CONSISTENT
            note = _DETECTED[claim.direction]
    if claim.tolerance and claim.published is not None:
        note = f"{note}; " * bool(note) + f"tolerance {claim.tolerance:g}"
    return Evidence(
        verdict=verdict,
        scope=scope,
        method="simulation",
        measured={"value": number, **beside},
        witness=counterexample,
        note=note,
        samples=samples,
        remedy=remedy,
    )


def _allowed(claim: FigureClaim, published: float) -> tuple[float, float]:
    """Smallest and largest number that the claim, with its tolerance, lets be."""
    low = -math.inf if claim.direction == "at-most" else published - claim.tolerance
    high = math.inf if claim.direction == "at-least" else published + claim.tolerance
    return low, high


def _tells_nothing(claim: FigureClaim, published: float, number: Interval) -> bool:
    """Whether an interval would hide that nothing, or twice as much, is true; without such a scale, most differences.

    Of an inequality, and of a published 0, an interval tells little that spans a tenth of all possible values.
    """
    assert number.lower is not None
    assert number.upper is not None
    if claim.direction == "equal" and published:
        nothing, double = sorted((0.0, 2 * published))
        return number.lower <= nothing and number.upper >= double
    low, high = claim.support
    return number.upper - number.lower > _WIDE * (high - low) * abs(claim.factor)


def _quotient(value: Interval, over: Interval) -> Interval | None:
    """Interval of a quotient; None where the divisor is not known to be above 0."""
    sides = (value.lower, value.upper, over.lower, over.upper, value.estimate, over.estimate)
    assert not any(side is None for side in sides)
    low, high, below, above, mean, by = (float(side or 0.0) for side in sides)
    if below <= 0:
        return None
    return Interval(lower=min(low / below, low / above), estimate=mean / by, upper=max(high / below, high / above))


def _widened(interval: Interval, factor: float) -> Interval:
    """Interval whose sides are that many times as far from the estimate."""
    lower, estimate, upper = (float(side or 0.0) for side in (interval.lower, interval.estimate, interval.upper))
    return Interval(
        lower=estimate - factor * (estimate - lower), estimate=estimate, upper=estimate + factor * (upper - estimate)
    )


def _scaled(interval: Interval, factor: float) -> Interval:
    lower, estimate, upper = (
        None if side is None else side * factor for side in (interval.lower, interval.estimate, interval.upper)
    )
    return Interval(lower=lower, estimate=estimate, upper=upper)
