"""The likelihood auditor: two-sided bounds on delta(epsilon) from samples whose likelihood ratio is known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.auditors.likelihood.losses import Losses, check_rows, sampled_losses
from dpaudit.auditors.likelihood.match import LargeLosses, Levels, check_match
from dpaudit.auditors.sampling.budget import DEFAULT_SAMPLES, Budget
from dpaudit.auditors.sampling.pace import OutOfTimeError, Pace
from dpaudit.auditors.sampling.sampler import Sampler
from dpaudit.auditors.sampling.streams import CHUNK, Streams
from dpaudit.claims.claims import PrivacyClaim
from dpaudit.claims.evidence import Curves, Evidence, Finding, Interval, Remedy, Violation
from dpaudit.claims.guarantees import Guarantee, ProfilePoint
from dpaudit.claims.inputs import Pair, input_key
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import CheckError, ParameterError
from dpaudit.laws import PrivacyProfileBounds
from dpaudit.laws.privacy_profile import LARGEST_EPSILON, short
from dpaudit.mechanism import Mechanism
from dpaudit.statistics import BettingMeans

_MAX_PAIRS = 256
_LEAST = 200
_PILOT_SHARE = 0.02
_FIRST_SHARE = 0.25
ENOUGH, _FEWEST = 1000, 20
"""Samples per input that may be asked for, and that are planned however little time there is."""

_SAMPLING_SHARE = 0.8
"""Part of the time until the deadline that sampling is planned for; the rest is for likelihoods and bounds."""

_TIMED_STEPS, _LEAST_STEP = 32, 64
"""Steps in which all directions get their samples where time may run out, and the fewest outputs of a step."""

_POINTS = 18
_NEAR = 3
_POWER = 0.95
_NO_LOSS = 1e-9
"""Losses below it are rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    """What all directions of all pairs share.

    Attributes
    ----------
    guarantee, point
        What is claimed, and the point of the privacy profile that it is equivalent to.
    epsilons
        Epsilons at which the privacy profile is bounded, ascending.
    at
        Which of them is the claimed one.
    levels
        Privacy losses from which on samples on either input are held against each other.
    """

    mechanism: Mechanism
    sampler: Sampler
    guarantee: Guarantee
    point: ProfilePoint
    epsilons: np.ndarray
    at: int
    alpha: np.ndarray
    levels: Levels
    horizon: int


class _Direction:
    """One pair of inputs in one direction, with what the samples so far say of it."""

    def __init__(self, index: int, p_input: Any, q_input: Any, setting: _Setting) -> None:
        self.p_input, self.q_input = p_input, q_input
        self._index, self._setting, self._draws = index, setting, 0
        self.divergences = BettingMeans(setting.alpha, horizon=setting.horizon)
        self.large = LargeLosses(setting.levels, horizon=setting.horizon)
        self.lower, self.upper = self.divergences.bounds()
        self.excess = -math.inf
        self.example: tuple[Any, float, float] | None = None
        self.hits, self.weight = 0, 0.0

    @property
    def count(self) -> int:
        """Outputs sampled."""
        return self.divergences.count

    def draw(self, size: int) -> None:
        """Sample more outputs and bound the profile anew."""
        setting = self._setting
        try:
            for losses in sampled_losses(
                setting.mechanism, setting.sampler, self.p_input, self.q_input, size, "final", self._index, self._draws
            ):
                self._take(losses)
        finally:
            self._draws += 1
            self.lower, self.upper = self.divergences.bounds()

    def _take(self, losses: Losses) -> None:
        setting, loss = self._setting, losses.loss
        start = 0
        while start < len(loss):
            part = np.sort(loss[start : start + self.divergences.block_size])
            rows = len(part)
            start += rows
            above = np.searchsorted(part, setting.epsilons, side="right")
            self.divergences.update(
                rows, [-np.expm1(e - part[i:]) for e, i in zip(setting.epsilons, above, strict=True)]
            )
            self.large.update(part)
        excess = losses.beyond(setting.point.epsilon)
        largest = int(np.argmax(excess))
        if self.example is None or excess[largest] > self.excess:
            self.excess = float(excess[largest])
            self.example = (losses.outputs[largest], float(losses.log_p[largest]), float(losses.log_q[largest]))
        beyond = excess > 0 if setting.point.delta == 0 else loss > setting.point.epsilon
        self.hits += int(np.count_nonzero(beyond))
        self.weight += float(np.exp(-loss[beyond]).sum())

    @property
    def violates(self) -> bool:
        """Whether the claim is refuted in this direction."""
        if self._setting.point.delta == 0:
            return self.excess > 0
        guarantee = self._setting.guarantee
        return guarantee.exceeds(float(self.lower[self._setting.at]), guarantee.decisive)

    @property
    def violation(self) -> Violation:
        """All outputs whose loss exceeds the claimed epsilon, with the one of the largest loss as an example."""
        assert self.example is not None
        output, log_p, log_q = self.example
        point = self._setting.point
        forced = point.epsilon + self.excess if point.delta == 0 else float(self.lower[self._setting.at])
        return Violation(
            data=self.p_input,
            neighbour=self.q_input,
            event={
                "outputs whose privacy loss exceeds": point.epsilon,
                "for example": output,
                "its log-likelihood on data": log_p,
                "its log-likelihood on neighbour": log_q,
            },
            p=self.hits / self.count,
            q=min(1.0, self.weight / self.count),
            forces={self._setting.guarantee.decisive: forced},
        )

    @property
    def finding(self) -> Finding:
        """The same event, to be counted in fresh samples on both inputs."""
        violation = self.violation
        return Finding(
            inputs=(self.p_input, self.q_input),
            event={"kind": "loss", "above": self._setting.point.epsilon},
            p=violation.p,
            q=violation.q,
        )


def audit_likelihood(
    mechanism: Mechanism,
    claim: PrivacyClaim,
    neighbouring: Neighbouring,
    *,
    budget: Budget,
    streams: Streams,
) -> Evidence:
    """Bound the hockey-stick divergence of every pair from both sides, with the mechanism's log-likelihood.

    All listed pairs (256 chosen at random among more) are sampled in both directions. With delta > 0 the directions
    whose upper bound is largest get the most samples; with delta = 0 all get as many.

    Parameters
    ----------
    mechanism
        The audited view, with ``sample`` and ``log_likelihood``.
    claim, neighbouring
        What is claimed, which must be equivalent to a point of the privacy profile, and the pairs to look at.
    budget
        Twice ``samples`` are drawn altogether, however many pairs share them, but at least 400 per direction.
    streams
        Random streams.

    Returns
    -------
    Evidence
        With delta > 0 ``refuted``, ``certified`` for the pairs sampled, or ``inconclusive`` where the confidence
        interval of the divergence contains delta. With delta = 0 ``refuted`` by an output whose likelihoods violate
        the claim, or ``consistent`` with the divergence that would have been found. Where the deadline passes and
        what there is does not refute the claim, ``inconclusive``.

    Raises
    ------
    CheckError
        There is no pair, ``sample`` or ``log_likelihood`` misbehaves, or they do not belong together.
    TargetRaisedError
        Either raised.

    Notes
    -----
    **Guarantee.** With the budget's confidence all bounds on delta and epsilon are true at once, for all pairs sampled
    in both directions and all epsilons (Bonferroni over pairs, directions, sides and a grid of epsilons, half of it
    spent on the claimed one; convexity between them; bounds by betting, valid at any time, so that the samples may be
    shared out by what came before, and end where a deadline passes). A refutation at delta = 0 needs no confidence
    statement: it rests on the likelihoods. They are tested by the share of large losses L, of which the samples on one
    input must agree with those on the other weighted by the likelihood ratio; a sound mechanism fails that with
    probability 1e-6 at most. An error of the likelihood that is common to both inputs of a pair cancels and is not
    looked for.
    **Checked against** closed forms, exact audits of finite laws, and the measured rates of false verdicts.
    """
    samples = budget.samples or DEFAULT_SAMPLES
    if samples < ENOUGH:
        raise ParameterError(f"samples must be at least {ENOUGH} for an audit by sampling, got {samples}")
    pace = budget.pace(2 * samples)
    sampler = Sampler(
        mechanism.sample,
        mechanism.name,
        streams.child("likelihood"),
        own_randomness=mechanism.own_randomness,
        pace=pace,
    )
    pairs, total = chosen_pairs(mechanism, neighbouring, streams)
    try:
        for pair in pairs:
            for data in pair:
                sampler.check_deterministic(data)
        check_rows(mechanism, pairs[0], streams)
        if pace.timed:
            keys = [input_key(data) for pair in pairs for data in pair]
            fitting = int(pace.outputs_within(_SAMPLING_SHARE, *keys)) * len(pairs)
            samples = min(samples, max(fitting, _FEWEST))
            pace.plan(2 * samples)
        pilot = max(_LEAST if samples >= ENOUGH else 1, int(2 * samples * _PILOT_SHARE) // (2 * len(pairs)))
        setting = _setting(mechanism, sampler, claim, pairs, pilot, samples, budget.alpha)
    except OutOfTimeError:
        return Evidence(
            verdict=Verdict.INCONCLUSIVE,
            scope=neighbouring.scope,
            method="likelihood",
            note=pace.out_of_time,
            samples=pace.drawn,
            remedy=Remedy.TIME,
        )
    directions = [
        _Direction(2 * i + side, *(pair if side == 0 else pair[::-1]), setting)
        for i, pair in enumerate(pairs)
        for side in (0, 1)
    ]
    late = samples < (budget.samples or DEFAULT_SAMPLES)
    try:
        with pace.told():
            _spend(directions, setting, 2 * samples - pilot * len(directions), timed=budget.deadline is not None)
    except OutOfTimeError:
        late = True
    for i, direction in enumerate(directions):
        other = directions[i ^ 1]
        check_match(mechanism, (direction.p_input, other.p_input), direction.large, other.large)
    searched = f"{len(pairs)} of {total}" if len(pairs) < total else f"{total}"
    scope = f"{neighbouring.scope}; {searched} pair{'s' if total != 1 else ''} in both directions"
    drawn = pilot * len(directions) + sum(direction.count for direction in directions)
    return _evidence(directions, setting, scope, drawn, pace if late else None)


def chosen_pairs(mechanism: Mechanism, neighbouring: Neighbouring, streams: Streams) -> tuple[list[Pair], int]:
    """Return all listed pairs, or 256 chosen at random among more, and how many there are."""
    pairs = list(neighbouring)
    if not pairs:
        raise CheckError(f"{mechanism.name}: `neighbours` lists no pair; list at least one")
    total = len(pairs)
    if total > _MAX_PAIRS:
        chosen = streams.generator("pairs").choice(total, _MAX_PAIRS, replace=False)
        pairs = [pairs[i] for i in sorted(chosen)]
    return pairs, total


def _setting(
    mechanism: Mechanism,
    sampler: Sampler,
    claim: PrivacyClaim,
    pairs: list[Pair],
    pilot: int,
    samples: int,
    alpha: float,
) -> _Setting:
    """Choose the points of the privacy profile by pilot samples, which play no further part."""
    point = claim.guarantee.profile_point
    assert point is not None
    found: list[float] = []
    near = []
    for i, pair in enumerate(pairs):
        for side, (p_input, q_input) in enumerate((pair, pair[::-1])):
            parts = sampled_losses(mechanism, sampler, p_input, q_input, pilot, "pilot", i, side)
            loss = np.concatenate([part.loss for part in parts])
            found.append(float(np.max(loss, where=np.isfinite(loss), initial=0.0)))
            near.append(_epsilon_of(loss, point.delta))
    # The largest loss of a pilot is not the largest there is; half as much again covers tails thinner by far.
    largest = max(found)
    top = min(1.5 * largest if largest > _NO_LOSS else max(point.epsilon, 1.0), LARGEST_EPSILON)
    step = top / (_POINTS - 1)
    points: list[np.ndarray] = [np.linspace(0, top, _POINTS)]
    if point.delta > 0:
        points.append(max(near) + step / _NEAR * np.arange(-_NEAR, _NEAR + 1))
    epsilons = short(np.clip(np.concatenate(points), 0, LARGEST_EPSILON))
    if point.epsilon > LARGEST_EPSILON:
        raise CheckError(f"{claim.id}: an epsilon above {LARGEST_EPSILON:g} cannot be audited by likelihoods")
    epsilons = np.unique(np.append(epsilons, point.epsilon))
    at = int(np.searchsorted(epsilons, point.epsilon))
    weights = np.full(len(epsilons), 0.5 / max(len(epsilons) - 1, 1))
    weights[at] = 0.5
    sides = 4 * len(pairs)  # two directions, and a bound on either side
    return _Setting(
        mechanism=mechanism,
        sampler=sampler,
        guarantee=claim.guarantee,
        point=point,
        epsilons=epsilons,
        at=at,
        alpha=alpha / sides * weights,
        levels=Levels.up_to(top, directions=2 * len(pairs)),
        horizon=max(_LEAST, samples // len(pairs)),
    )


def _epsilon_of(loss: np.ndarray, delta: float) -> float:
    """Epsilon, about, at which the divergence is ``delta``: where the observed one falls to it."""
    positive = np.sort(loss[np.isfinite(loss) & (loss > 0)])[::-1]
    if not positive.size or delta == 0:
        return 0.0
    # At its own losses: the number of larger ones less the sum of their e^(epsilon - loss).
    tail = np.arange(len(positive)) + np.count_nonzero(loss == np.inf)
    scaled = np.exp(np.clip(-positive, -LARGEST_EPSILON, 0.0))
    beyond = np.cumsum(scaled) - scaled
    divergence = (tail - beyond * np.exp(np.minimum(positive, LARGEST_EPSILON))) / len(loss)
    return float(positive[max(0, int(np.searchsorted(divergence, delta)) - 1)])


def _spend(directions: list[_Direction], setting: _Setting, left: int, *, timed: bool) -> None:
    """Draw the samples: those on whom the verdict hangs get the most, doubled again and again."""
    equal = setting.point.delta == 0 or len(directions) == 2
    least = 1 if timed else _LEAST
    first = max(least, int(left * (1 if equal else _FIRST_SHARE)) // len(directions))
    # Where time may run out, all directions get on side by side.
    step = min(CHUNK, max(_LEAST_STEP, first // _TIMED_STEPS)) if timed else first
    for start in range(0, first, step):
        for direction in directions:
            direction.draw(min(step, first - start))
    left -= first * len(directions)
    while not equal and left > 0:
        worst = max(directions, key=lambda direction: float(direction.upper[setting.at]))
        size = min(worst.count, left)
        worst.draw(size)
        left -= size


def _evidence(directions: list[_Direction], setting: _Setting, scope: str, samples: int, late: Pace | None) -> Evidence:
    point, at = setting.point, setting.at
    lower = np.max([direction.lower for direction in directions], axis=0)
    upper = np.max([direction.upper for direction in directions], axis=0)
    delta = Interval(lower=float(lower[at]), upper=float(upper[at]))
    violated = any(direction.violates for direction in directions)
    if point.delta == 0:
        worst = max(range(len(directions)), key=lambda i: directions[i].excess)
        epsilon = Interval(lower=max(0.0, point.epsilon + directions[worst].excess), upper=None)
        if not violated:
            delta = Interval(lower=0.0, upper=delta.upper)
    else:
        worst = max(range(len(directions)), key=lambda i: (directions[i].lower[at], directions[i].upper[at]))
        epsilon = PrivacyProfileBounds(setting.epsilons, lower, upper).epsilon(point.delta)
    measured = {"epsilon": epsilon, "delta": delta}
    fewest = min(direction.count for direction in directions)
    least = -math.log(1 - _POWER) / fewest if fewest else math.inf
    remedy = None
    if violated:
        verdict = Verdict.REFUTED
        note = (
            "the likelihoods of the output shown violate the claim by themselves; p and q are the frequency of all "
            "such outputs on data and its weighted counterpart on neighbour"
            if point.delta == 0
            else f"{directions[worst].hits} of {directions[worst].count} samples on data are in the event; q is "
            "estimated from them by their likelihood ratio"
        )
    elif late is not None:
        verdict, note, remedy = Verdict.INCONCLUSIVE, "", Remedy.TIME
    elif point.delta > 0 and upper[at] <= point.delta:
        verdict, note = Verdict.CERTIFIED, ""
    elif point.delta == 0:
        verdict = Verdict.CONSISTENT
        measured["detection_limit_delta"] = Interval.exact(least)
        note = (
            f"an event of outputs beyond the claimed epsilon, of probability {least:.3g} or more on one input, would "
            "have been seen with 95 % power; so would any delta of as much at that epsilon"
        )
    else:
        verdict, remedy = Verdict.INCONCLUSIVE, Remedy.SAMPLES
        note = "the confidence interval of delta contains the claimed one; raise --samples"
    if late is not None:
        note = f"{note}; {late.out_of_time}" if note else late.out_of_time
    return Evidence(
        verdict=verdict,
        scope=scope,
        method="likelihood",
        measured=measured,
        witness=directions[worst].violation if violated else None,
        note=note,
        samples=samples,
        curves=_curves(directions[worst], directions[worst ^ 1], setting) if fewest else None,
        remedy=remedy,
        finding=directions[worst].finding if violated else None,
    )


def _curves(direction: _Direction, reverse: _Direction, setting: _Setting) -> Curves:
    lower = np.maximum(direction.lower, reverse.lower)
    upper = np.maximum(direction.upper, reverse.upper)
    return PrivacyProfileBounds(setting.epsilons, lower, upper).curves(setting.epsilons)
