"""The exact auditor: every neighbouring pair, from the laws of the outputs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit.claims.claims import PrivacyClaim
from dpaudit.claims.evidence import Curves, Evidence, Finding, Interval, Witness
from dpaudit.claims.inputs import input_key
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import CheckError
from dpaudit.laws import Comparison, GaussianLaw, LaplaceLaw, Law, ProfileBounds, compare
from dpaudit.laws.joint import flattened
from dpaudit.laws.profile import LARGEST_EPSILON, short
from dpaudit.mechanism import Mechanism

ROUNDING = 1e-9
"""Relative excess over a claimed epsilon or delta that double precision cannot tell from rounding."""

_CACHED_LAWS = 4096
_NEAR_POINTS, _FAR_POINTS, _FINE_POINTS = 17, 9, 65
_LITTLE = 1e-6
_ANY_DELTA = 1e-300


@dataclass(slots=True)
class _Worst:
    """The pair, in one direction, on which a quantity is largest."""

    lower: float = -math.inf
    upper: float = -math.inf
    p_input: Any = None
    q_input: Any = None
    comparison: Comparison | None = None

    def update(self, value: Interval, p_input: Any, q_input: Any, comparison: Comparison) -> None:
        lower = 0.0 if value.lower is None else value.lower
        upper = math.inf if value.upper is None else value.upper
        self.upper = max(self.upper, upper)
        # Of equal pairs the last: enumerations go from near inputs to far ones, which samples tell apart best.
        if lower >= self.lower - ROUNDING * max(1.0, abs(self.lower) if math.isfinite(self.lower) else 0.0):
            self.p_input, self.q_input, self.comparison = p_input, q_input, comparison
        self.lower = max(self.lower, lower)

    @property
    def interval(self) -> Interval:
        return Interval(lower=self.lower, upper=self.upper)


def exceeds(value: float, claimed: float) -> bool:
    """Whether a value is above the claimed one by more than rounding."""
    return value > claimed + ROUNDING * max(1.0, claimed)


def audit_exact(
    mechanism: Mechanism, claim: PrivacyClaim, neighbouring: Neighbouring
) -> tuple[Evidence, tuple[Any, Any]]:
    """Compute the worst privacy loss over all the given pairs, in both directions.

    Parameters
    ----------
    mechanism
        The audited view; its ``law`` must be known for every input of the pairs.
    claim, neighbouring
        What is claimed, and the pairs to look at.

    Returns
    -------
    evidence : Evidence
        ``refuted`` with the worst pair and event; ``proved`` if the pairs are complete in their scope, otherwise
        ``certified`` for the pairs listed.
    worst : tuple
        The pair of inputs, in the direction in which the loss is largest.

    Raises
    ------
    CheckError
        There is no pair, or a law is missing.

    Notes
    -----
    **Guarantee.** Exact up to a relative rounding error of 1e-9 in epsilon and 1e-9 of delta.
    **Checked against** closed forms, brute-force enumeration of events, and sampling.
    """
    laws: dict[Any, Law] = {}

    def law_of(data: Any) -> Law:
        key = input_key(data)
        law = laws.get(key)
        if law is None or key is None:
            law = mechanism.law(data)
            if law is None:
                raise CheckError(f"{mechanism.name}: `law` is not known for the input {data!r}")
            if len(laws) >= _CACHED_LAWS:
                laws.clear()
            laws[key] = law
        return law

    worst_epsilon, worst_delta = _Worst(), _Worst()
    pairs = 0
    for data, neighbour in neighbouring:
        pairs += 1
        for p_input, q_input in ((data, neighbour), (neighbour, data)):
            comparison = compare(law_of(p_input), law_of(q_input))
            worst_epsilon.update(comparison.epsilon(claim.delta), p_input, q_input, comparison)
            if claim.delta > 0 or exceeds(comparison.max_divergence(), claim.epsilon):
                worst_delta.update(comparison.delta(claim.epsilon), p_input, q_input, comparison)
    if not pairs:
        raise CheckError(f"{mechanism.name}: `neighbours` lists no pair; list at least one")
    if worst_delta.comparison is None:
        # No loss exceeds the claimed epsilon, so the divergence at that epsilon is 0.
        worst_delta = replace(worst_epsilon, lower=0.0, upper=0.0)

    worst = worst_epsilon if claim.delta == 0 else worst_delta
    measured = {"epsilon": worst_epsilon.interval, "delta": worst_delta.interval}
    if worst_epsilon.lower > 0 and claim.epsilon > 0:
        measured["tightness"] = Interval(
            lower=claim.epsilon / worst_epsilon.upper, upper=claim.epsilon / worst_epsilon.lower
        )
    if claim.delta == 0:
        refuted = exceeds(worst_epsilon.lower, claim.epsilon)
        holds = not exceeds(worst_epsilon.upper, claim.epsilon)
    else:
        refuted = worst_delta.lower > claim.delta * (1 + ROUNDING)
        holds = worst_delta.upper <= claim.delta * (1 + ROUNDING)

    assert worst.comparison is not None
    event = worst.comparison.worst_event(claim.epsilon, claim.delta)
    found = Witness(
        data=worst.p_input,
        neighbour=worst.q_input,
        event=event.outcomes,
        p=event.p,
        q=event.q,
        epsilon=worst_epsilon.lower if claim.delta == 0 else None,
        delta=worst_delta.lower if claim.delta > 0 else None,
    )
    if refuted:
        verdict = Verdict.REFUTED
    elif not holds:
        verdict = Verdict.INCONCLUSIVE
    else:
        verdict = Verdict.PROVED if neighbouring.complete else Verdict.CERTIFIED
    evidence = Evidence(
        verdict=verdict,
        scope=f"{neighbouring.scope}; {pairs} pair{'s' if pairs != 1 else ''} in both directions",
        method="exact",
        measured=measured,
        witness=found if refuted else None,
        note="the bounds on the privacy profile enclose the claim" if verdict is Verdict.INCONCLUSIVE else "",
        curves=_curves(worst.comparison, compare(law_of(worst.q_input), law_of(worst.p_input)), claim),
        finding=_finding(worst, law_of(worst.p_input), law_of(worst.q_input), claim) if refuted else None,
    )
    return evidence, (worst.p_input, worst.q_input)


def _finding(worst: _Worst, p: Law, q: Law, claim: PrivacyClaim) -> Finding | None:
    """Event to be checked by sampling: all outcomes whose ratio is above e^epsilon, or a half-line.

    All of them, because the outcome of the largest ratio alone, which the witness shows, may be rare.
    """
    flat = flattened(p), flattened(q)
    comparison = compare(flat[0], flat[1]) if flat[0] is not None and flat[1] is not None else worst.comparison
    assert comparison is not None
    event = comparison.worst_event(claim.epsilon + ROUNDING * max(1.0, claim.epsilon), max(claim.delta, _ANY_DELTA))
    if event.members is not None:
        recipe: dict[str, Any] = {"kind": "outcomes", "outcomes": list(event.members)}
    elif isinstance(event.outcomes, dict) and len(event.outcomes) == 1 and isinstance(p, LaplaceLaw | GaussianLaw):
        ((side, threshold),) = event.outcomes.items()
        score = {"kind": "column", "column": 0, "centre": None}
        recipe = {"kind": "score", "score": score, "threshold": threshold, "above": side == "at least"}
    else:
        return None
    return Finding(inputs=(worst.p_input, worst.q_input), event=recipe, p=event.p, q=event.q)


def _curves(comparison: Comparison, reverse: Comparison, claim: PrivacyClaim) -> Curves:
    """Privacy profile and trade-off function of one pair, from its profile at many points."""
    top = min(max(_largest_loss(comparison, claim), _largest_loss(reverse, claim)), LARGEST_EPSILON)
    end = max(top, min(claim.epsilon, LARGEST_EPSILON)) or 1.0
    # Where the claim is far off, both the part that matters and the way to the claim are shown.
    shown = short(np.r_[np.linspace(0, top, _NEAR_POINTS), np.linspace(0, end, _FAR_POINTS)])
    if claim.epsilon <= LARGEST_EPSILON:
        shown = np.unique(np.append(shown, claim.epsilon))
    points = np.unique(np.r_[shown, np.linspace(0, top, _FINE_POINTS)])
    lower, upper = np.maximum(comparison.profile(points), reverse.profile(points))
    return ProfileBounds(points, lower, upper).curves(shown)


def _largest_loss(comparison: Comparison, claim: PrivacyClaim) -> float:
    """Largest privacy loss, or where it is infinite the epsilon beyond which little is left to see."""
    largest = comparison.max_divergence()
    if math.isinf(largest):
        largest = comparison.epsilon(min(claim.delta / 100, _LITTLE) if claim.delta > 0 else _LITTLE).upper or 0.0
    return largest if math.isfinite(largest) else 2 * max(claim.epsilon, 1.0)
