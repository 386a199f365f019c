"""The likelihood auditor of guarantees that no single point of the privacy profile decides.

Bounds on several points of the privacy profile, all true at once, decide privacy profiles and trade-off functions from
both sides, and bound mu from below. Renyi divergences are unbounded moments, of which samples say nothing from above;
moments of the privacy loss cut off at a level are bounded, and bound them from below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.auditors.likelihood.audit import ENOUGH, chosen_pairs
from dpaudit.auditors.likelihood.losses import Losses, check_rows, sampled_losses
from dpaudit.auditors.likelihood.match import LargeLosses, Levels, check_match
from dpaudit.auditors.sampling.budget import DEFAULT_SAMPLES, Budget
from dpaudit.auditors.sampling.pace import OutOfTimeError
from dpaudit.auditors.sampling.sampler import Sampler
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.claims import PrivacyClaim
from dpaudit.claims.evidence import Evidence, Finding, Interval, Remedy, Violation
from dpaudit.claims.guarantees import (
    GaussianDP,
    Guarantee,
    PrivacyProfile,
    RenyiCurve,
    RenyiDP,
    TradeOff,
    ZeroConcentratedDP,
)
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import ParameterError
from dpaudit.laws import PrivacyProfileBounds
from dpaudit.laws.privacy_profile import LARGEST_EPSILON, short
from dpaudit.laws.trade_off import shift_at
from dpaudit.mechanism import Mechanism
from dpaudit.statistics import BettingMeans

Bounds = tuple[np.ndarray, np.ndarray]
"""Lower and upper bounds on means, shape (k,) each."""

_PILOT_SHARE, _LEAST = 0.02, 200
_POINTS = 18
_BEYOND = 1.5
_NO_LOSS = 1e-9
_STEPS = 32
_EXCESSES = (0.05, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Orders less one whose divergences bound rho."""

_CUTS = (0.9, 0.99, 1.0)
"""Quantiles of the pilot's losses at which moments are cut off."""

_LIMIT_ERRORS = 2.0
"""Distances of a bound from its estimate that a violation must exceed to be found, about: chance and power together."""


def serves(guarantee: Guarantee) -> bool:
    """Whether likelihoods bound the forced parameter of a guarantee here."""
    if isinstance(guarantee, ZeroConcentratedDP):
        return guarantee.delta == 0
    return isinstance(guarantee, GaussianDP | PrivacyProfile | TradeOff) or bool(_orders(guarantee))


def _orders(guarantee: Guarantee) -> tuple[float, ...]:
    """Orders less one of the Renyi divergences that the guarantee is about; none where it is about none."""
    if isinstance(guarantee, ZeroConcentratedDP):
        return _EXCESSES
    alphas: tuple[float, ...] = ()
    if isinstance(guarantee, RenyiDP):
        alphas = (guarantee.alpha,)
    if isinstance(guarantee, RenyiCurve):
        alphas = tuple(alpha for alpha, _ in guarantee.points)
    return tuple(alpha - 1 for alpha in alphas) if all(map(math.isfinite, alphas)) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What is bounded, all at once: points of the privacy profile, or moments of the loss cut off at levels.

    ``event_levels`` has, for each direction, the level beyond which losses are the event that is counted.
    """

    guarantee: Guarantee
    epsilons: np.ndarray
    moments: tuple[tuple[float, float], ...]
    alpha: float
    levels: Levels
    horizon: int
    event_levels: tuple[float, ...]

    def values(self, part: np.ndarray) -> list[np.ndarray]:
        """Values in [0, 1] whose means are bounded, of a block of losses, ascending."""
        if self.moments:
            return [np.exp(s * (np.minimum(part, cut) - cut)) for s, cut in self.moments]
        above = np.searchsorted(part, self.epsilons, side="right")
        return [-np.expm1(e - part[i:]) for e, i in zip(self.epsilons, above, strict=True)]

    def forced(self, bounds: Sequence[Bounds]) -> Interval:
        """Interval of the forced parameter, from the bounds of all directions, each followed by its reverse."""
        if isinstance(self.guarantee, TradeOff):
            each = self.forced_by_each(bounds)
            return Interval(
                lower=max(value.lower or 0.0 for value in each), upper=max(value.upper or 0.0 for value in each)
            )
        lower, upper = (np.max(side, axis=0) for side in zip(*bounds, strict=True))
        return self._forced_by_one(lower, upper)

    def forced_by_each(self, bounds: Sequence[Bounds]) -> list[Interval]:
        """Interval of the forced parameter from each direction; the errors of tests need its reverse as well."""
        if isinstance(self.guarantee, TradeOff):
            return [self._forced_by_errors(here, bounds[i ^ 1]) for i, here in enumerate(bounds)]
        return [self._forced_by_one(*each) for each in bounds]

    def _forced_by_one(self, lower: np.ndarray, upper: np.ndarray) -> Interval:
        guarantee = self.guarantee
        if self.moments:
            return Interval(lower=self._by_moments(lower), upper=None)
        if isinstance(guarantee, GaussianDP):
            return Interval(lower=float(shift_at(self.epsilons, lower).max()), upper=None)
        assert isinstance(guarantee, PrivacyProfile)
        profile = PrivacyProfileBounds(self.epsilons, lower, upper)
        needed = [(profile.epsilon(delta), epsilon) for epsilon, delta in guarantee.points]
        if any(value.upper is None for value, _ in needed):
            most = None
        else:
            most = max(0.0, *((value.upper or 0.0) - epsilon for value, epsilon in needed))
        return Interval(lower=max(0.0, *((value.lower or 0.0) - epsilon for value, epsilon in needed)), upper=most)

    def _forced_by_errors(self, forward: Bounds, backward: Bounds) -> Interval:
        """Interval of the shift of a trade-off, from the bounds of one direction and of its reverse."""
        from scipy.special import ndtri

        assert isinstance(self.guarantee, TradeOff)
        first, second = (np.array(side) for side in zip(*self.guarantee.points, strict=True))
        least, most = PrivacyProfileBounds(self.epsilons, *forward).trade_off(
            first, PrivacyProfileBounds(self.epsilons, *backward)
        )
        lower, upper = (max(0.0, float(np.max(ndtri(second) - ndtri(reached)))) for reached in (most, least))
        return Interval(lower=lower, upper=upper)

    def _by_moments(self, lower: np.ndarray) -> float:
        guarantee = self.guarantee
        found = 0.0
        for (s, cut), mean in zip(self.moments, lower.tolist(), strict=True):
            divergence = cut + math.log(mean) / s if mean > 0 else 0.0
            if isinstance(guarantee, ZeroConcentratedDP):
                divergence /= 1 + s
            elif isinstance(guarantee, RenyiCurve):
                divergence /= next(epsilon for alpha, epsilon in guarantee.points if alpha - 1 == s)
            found = max(found, divergence)
        return found


class _Direction:
    """One pair of inputs in one direction, with what the samples so far say of it."""

    def __init__(self, index: int, p_input: Any, q_input: Any, plan: _Plan) -> None:
        self.p_input, self.q_input = p_input, q_input
        self._index, self._plan, self._draws = index, plan, 0
        count = len(plan.moments or plan.epsilons)
        self.means = BettingMeans(np.full(count, plan.alpha / count), horizon=plan.horizon)
        self.large = LargeLosses(plan.levels, horizon=plan.horizon)
        self.hits, self.weight = 0, 0.0

    def draw(self, mechanism: Mechanism, sampler: Sampler, size: int) -> None:
        """Sample more outputs."""
        purpose = ("final", self._index, self._draws)
        self._draws += 1
        for losses in sampled_losses(mechanism, sampler, self.p_input, self.q_input, size, *purpose):
            self._take(losses)

    def _take(self, losses: Losses) -> None:
        loss = losses.loss
        start = 0
        while start < len(loss):
            part = np.sort(loss[start : start + self.means.block_size])
            start += len(part)
            self.means.update(len(part), self._plan.values(part))
            self.large.update(part)
        beyond = loss > self._plan.event_levels[self._index]
        self.hits += int(np.count_nonzero(beyond))
        with np.errstate(over="ignore"):
            self.weight += float(np.exp(-loss[beyond]).sum())


def audit_by_likelihood_bounds(
    mechanism: Mechanism, claim: PrivacyClaim, neighbouring: Neighbouring, *, budget: Budget, streams: Streams
) -> Evidence:
    """Bound the forced parameter of a guarantee with the mechanism's log-likelihood.

    All listed pairs (256 chosen at random among more) get equally many samples, in both directions.

    Returns
    -------
    Evidence
        ``refuted``; ``certified`` for the pairs sampled, where a privacy profile or a trade-off function is claimed and
        the bounds show it; ``inconclusive`` where they enclose such a claim; otherwise ``consistent`` with about the
        smallest value that would have been refuted.

    Raises
    ------
    CheckError
        There is no pair, ``sample`` or ``log_likelihood`` misbehaves, or they do not belong together.
    TargetRaisedError
        Either raised.

    Notes
    -----
    **Guarantee.** With the budget's confidence the bounds are true for all pairs sampled, in both directions, and at
    all points or orders at once (Bonferroni; bounds by betting, valid at any time). Points, orders and cuts come from
    a pilot sample that plays no further part. A moment of the loss cut off at a level is at most the moment, so that
    its lower bound is one for the Renyi divergence.
    **Checked against** closed forms.
    """
    samples = budget.samples or DEFAULT_SAMPLES
    if samples < ENOUGH:
        raise ParameterError(f"samples must be at least {ENOUGH} for an audit by sampling, got {samples}")
    pace = budget.pace(2 * samples)
    own = mechanism.own_randomness
    sampler = Sampler(mechanism.sample, mechanism.name, streams.child("likelihood"), own_randomness=own, pace=pace)
    pairs, total = chosen_pairs(mechanism, neighbouring, streams)
    both = [sides for pair in pairs for sides in (pair, pair[::-1])]
    late, drawn = False, 0
    directions: list[_Direction] = []
    try:
        for pair in pairs:
            for data in pair:
                sampler.check_deterministic(data)
        check_rows(mechanism, pairs[0], streams)
        pilot = max(_LEAST, int(2 * samples * _PILOT_SHARE) // len(both))
        losses = []
        for i, (p_input, q_input) in enumerate(both):
            parts = sampled_losses(mechanism, sampler, p_input, q_input, pilot, "pilot", i)
            losses.append(np.concatenate([part.loss for part in parts]))
            drawn += pilot
        each = max(_LEAST, (2 * samples - drawn) // len(both))
        plan = _plan(claim.guarantee, losses, each, budget.alpha / len(both))
        directions = [_Direction(i, p_input, q_input, plan) for i, (p_input, q_input) in enumerate(both)]
        step = max(1, each // _STEPS) if pace.timed else each
        with pace.told():
            for start in range(0, each, step):
                for direction in directions:
                    direction.draw(mechanism, sampler, min(step, each - start))
    except OutOfTimeError:
        late = True
    scope = f"{neighbouring.scope}; {f'{len(pairs)} of ' if len(pairs) < total else ''}{total} pair"
    scope += f"{'s' if total != 1 else ''} in both directions"
    if not directions:
        return Evidence(
            verdict=Verdict.INCONCLUSIVE,
            scope=scope,
            method="likelihood",
            note=pace.out_of_time,
            samples=pace.drawn,
            remedy=Remedy.TIME,
        )
    for here, other in zip(directions, (directions[i ^ 1] for i in range(len(directions))), strict=True):
        check_match(mechanism, (here.p_input, other.p_input), here.large, other.large)
    drawn += sum(direction.means.count for direction in directions)
    return _evidence(directions, plan, scope, drawn, pace.out_of_time if late else "")


def _plan(guarantee: Guarantee, losses: list[np.ndarray], samples: int, alpha: float) -> _Plan:
    """Choose what is bounded by pilot samples of all directions."""
    finite = [loss[np.isfinite(loss)] for loss in losses]
    largest = max(float(loss.max(initial=0.0)) for loss in finite)
    top = min(_BEYOND * largest if largest > _NO_LOSS else 1.0, LARGEST_EPSILON)
    points = [np.linspace(0, top, _POINTS)]
    if isinstance(guarantee, PrivacyProfile):
        points.append(np.array([min(epsilon, LARGEST_EPSILON) for epsilon, _ in guarantee.points]))
    epsilons = np.unique(np.concatenate([short(points[0]), *points[1:]]))
    worst = max(range(len(losses)), key=lambda i: float(losses[i].mean()) if len(finite[i]) else math.inf)
    cuts = [max(float(np.quantile(finite[worst], cut)), 0.0) for cut in _CUTS] if len(finite[worst]) else [0.0]
    moments = tuple((s, cut) for s in _orders(guarantee) for cut in sorted(set(cuts)))
    return _Plan(
        guarantee=guarantee,
        epsilons=epsilons,
        moments=moments,
        alpha=alpha / 2,
        levels=Levels.up_to(top, directions=len(losses)),
        horizon=samples,
        event_levels=tuple(_best_level(guarantee, loss) for loss in losses),
    )


def _best_level(guarantee: Guarantee, loss: np.ndarray) -> float:
    """Level beyond which losses are an event that samples on both inputs will show most of."""
    ordered = np.sort(loss)[::-1]
    count = np.arange(1, len(ordered) + 1)
    with np.errstate(over="ignore"):
        p, q = count / len(ordered), np.minimum(np.cumsum(np.exp(-ordered)) / len(ordered), 1.0)
    best = int(np.argmax(guarantee.by_samples(p, q)))
    return float(np.nextafter(ordered[best], -math.inf))


def _evidence(directions: list[_Direction], plan: _Plan, scope: str, samples: int, late: str) -> Evidence:
    guarantee, name = plan.guarantee, plan.guarantee.forced
    bounds = [direction.means.bounds() for direction in directions]
    lower, upper = np.max([each[0] for each in bounds], axis=0), np.max([each[1] for each in bounds], axis=0)
    found = plan.forced(bounds)
    worst = int(np.argmax([each.lower or 0.0 for each in plan.forced_by_each(bounds)]))
    means = [direction.means.mean for direction in directions]
    estimate = plan.forced([(mean, mean) for mean in means]).lower or 0.0
    least = found.lower or 0.0
    measured = {name: found}
    violation = finding = remedy = None
    note = ""
    if guarantee.exceeds(least):
        verdict, direction = Verdict.REFUTED, directions[worst]
        count = max(direction.means.count, 1)
        p, q = direction.hits / count, min(1.0, direction.weight / count)
        level = plan.event_levels[worst]
        event = {"kind": "loss", "above": level}
        violation = Violation(
            data=direction.p_input,
            neighbour=direction.q_input,
            event={"outputs whose privacy loss exceeds": level},
            p=p,
            q=q,
            forces={name: least},
        )
        if guarantee.exceeds(float(guarantee.forces(p, q))):
            finding = Finding(inputs=(direction.p_input, direction.q_input), event=event, p=p, q=q)
        note = (
            f"{direction.hits} of {count} samples on data are in the event; q is estimated from them by their "
            f"likelihood ratio; {name} is bounded by the likelihoods of all of them"
        )
    elif late:
        verdict, remedy = Verdict.INCONCLUSIVE, Remedy.TIME
    elif found.upper is not None and guarantee.meets(found.upper):
        verdict = Verdict.CERTIFIED
    elif isinstance(guarantee, PrivacyProfile | TradeOff):
        verdict, remedy = Verdict.INCONCLUSIVE, Remedy.SAMPLES
        note = f"the confidence interval of {name} contains the claimed one; raise --samples"
    else:
        verdict = Verdict.CONSISTENT
        limit = guarantee.claimed + _LIMIT_ERRORS * max(estimate - least, 0.0)
        measured["detection_limit"] = Interval.exact(limit)
        note = f"no samples bound {name} from above; about {limit:.4g} or more would have been refuted"
    return Evidence(
        verdict=verdict,
        scope=scope,
        method="likelihood",
        measured=measured,
        witness=violation,
        note="; ".join(part for part in (note, late) if part),
        samples=samples,
        curves=None if plan.moments else PrivacyProfileBounds(plan.epsilons, lower, upper).curves(plan.epsilons),
        remedy=remedy,
        finding=finding,
    )
