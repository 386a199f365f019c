"""The black-box auditor: a lower confidence bound on epsilon from samples alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.auditors.budget import DEFAULT_CONFIDENCE, DEFAULT_SAMPLES, Budget
from dpaudit.auditors.exact import exceeds
from dpaudit.auditors.sampler import SampleFunction, Sampler
from dpaudit.auditors.scores import Score, candidates
from dpaudit.auditors.streams import Streams
from dpaudit.claims.claims import PrivacyClaim
from dpaudit.claims.evidence import Evidence, Interval, Witness
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import CheckError, ParameterError
from dpaudit.mechanism import Mechanism
from dpaudit.statistics import (
    conditional_epsilon_lower,
    epsilon_lower,
    refutable_epsilon,
)

_SELECTION_SHARE = 0.2
_MAX_SELECTION = 1_000_000
_MIN_SELECTION = 200
_PILOT_SHARE = 0.25
_MAX_PAIRS = 256
_THRESHOLDS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class LowerBound:
    """Lower confidence bound on epsilon for one pair of inputs.

    Attributes
    ----------
    epsilon
        The bound: with the stated confidence no smaller epsilon holds at ``delta``; 0 where nothing can be said.
    detection_limit
        Smallest log-ratio of the chosen event's probabilities at which a bound above ``claimed`` would have come out
        with 95 % power; ``inf`` if none. A mechanism's epsilon is at least that of any event.
    event
        The event, in a form that can be recomputed.
    reverse
        Whether the event is likelier on the second input.
    hits, trials
        Occurrences and trials on the likelier and on the other input, in the final sample.
    p, q
        Observed frequencies of the event on the likelier and on the other input.
    samples
        Samples drawn from both inputs altogether.
    """

    epsilon: float
    delta: float
    confidence: float
    detection_limit: float
    event: Any
    reverse: bool
    hits: tuple[int, int]
    trials: tuple[int, int]
    p: float
    q: float
    samples: int


def epsilon_lower_bound(
    sample: SampleFunction,
    x: Any,
    y: Any,
    *,
    delta: float = 0.0,
    samples: int = DEFAULT_SAMPLES,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = 0,
    claimed: float = 0.0,
    name: str = "the mechanism",
    own_randomness: bool = False,
) -> LowerBound:
    """Bound epsilon from below for one pair of inputs, from samples alone.

    A fifth of the samples chooses an event; the others, which played no part in that, bound its probabilities.

    Parameters
    ----------
    sample
        ``sample(data, size, rng)`` returns ``size`` independent outputs along axis 0: numbers, rows of numbers,
        strings, or any values whose ``repr`` identifies them.
    x, y
        The two inputs; both directions are considered.
    delta
        In [0, 1).
    samples
        Samples per input, at least 1000.
    confidence
        In (0, 1).
    seed
        Equal seeds give equal results.
    claimed
        Epsilon that the detection limit refers to.
    name
        Name of the mechanism in messages.
    own_randomness
        Whether ``sample`` draws from a source that ``rng`` does not seed; equal seeds then give different results.

    Returns
    -------
    LowerBound

    Raises
    ------
    ParameterError
        A number is out of range.
    CheckError
        The sampler raises, returns the wrong shape or NaN, changes its input, or takes randomness from elsewhere.

    Notes
    -----
    **Guarantee.** With probability at least ``confidence`` the bound is not above the true epsilon at ``delta``.
    With delta = 0 the final trials are assigned to the inputs by fair coins, so that the split of the hits is
    binomial and the whole error probability goes into one Clopper-Pearson bound; with delta > 0 two bounds share it.
    **Checked against** closed forms and the rate of false refutations on mechanisms that meet their claim exactly.
    """
    Budget(samples=samples, confidence=confidence)
    if not 0 <= delta < 1:
        raise ParameterError(f"delta must be at least 0 and below 1 to be audited by sampling, got {delta}")
    if samples < 1000:
        raise ParameterError(f"samples must be at least 1000 for an audit by sampling, got {samples}")
    sampler = Sampler(sample, name, Streams(seed, ("epsilon_lower_bound",)), own_randomness=own_randomness)
    return _bound_pair(sampler, x, y, delta=delta, samples=samples, alpha=1 - confidence, claimed=claimed)


@dataclass(frozen=True, slots=True)
class _Choice:
    """An event chosen on the selection sample, with its predicted bound."""

    predicted: float
    score: Score
    threshold: float
    reverse: bool
    q: float

    def hits(self, outputs: np.ndarray) -> int:
        return int(np.count_nonzero(self.score(outputs) >= self.threshold))


def _bound_pair(
    sampler: Sampler, x: Any, y: Any, *, delta: float, samples: int, alpha: float, claimed: float
) -> LowerBound:
    for data in (x, y):
        sampler.check_deterministic(data)
    selection = min(max(_MIN_SELECTION, int(samples * _SELECTION_SHARE)), _MAX_SELECTION)
    final = samples - selection
    choice = _choose_event(
        sampler.draw(x, selection, "selection", 0),
        sampler.draw(y, selection, "selection", 1),
        delta=delta,
        final=final,
        alpha=alpha,
    )
    likelier, other = (y, x) if choice.reverse else (x, y)
    if delta == 0:
        # Fair coins assign the trials, so that the hits' split is binomial whatever their number.
        to_likelier = int(sampler.coins("assignment").binomial(2 * final, 0.5))
        trials = (to_likelier, 2 * final - to_likelier)
    else:
        trials = (final, final)
    hits = tuple(
        sum(choice.hits(chunk) for chunk in sampler.chunks(data, count, "final", side)) if count else 0
        for side, (data, count) in enumerate(zip((likelier, other), trials, strict=True))
    )
    if delta == 0:
        bound = float(conditional_epsilon_lower(hits[0], hits[1], alpha=alpha))
    else:
        bound = float(epsilon_lower(hits[0], trials[0], hits[1], trials[1], delta=delta, alpha=alpha))
    return LowerBound(
        epsilon=max(bound, 0.0),
        delta=delta,
        confidence=1 - alpha,
        detection_limit=refutable_epsilon(choice.q, final, claimed, delta=delta, alpha=alpha),
        event=choice.score.describe(choice.threshold),
        reverse=choice.reverse,
        hits=(hits[0], hits[1]),
        trials=trials,
        p=hits[0] / max(trials[0], 1),
        q=hits[1] / max(trials[1], 1),
        samples=2 * samples,
    )


def _choose_event(x: np.ndarray, y: np.ndarray, *, delta: float, final: int, alpha: float) -> _Choice:
    """Learn scores on one half of the selection sample, and choose among them and their thresholds on the other."""
    half = len(x) // 2
    best: _Choice | None = None
    for fit in candidates(np.concatenate([x[:half], y[:half]])):
        score = fit(x[:half], y[:half])
        for reverse, (p_side, q_side) in enumerate(((x[half:], y[half:]), (y[half:], x[half:]))):
            directed = score.negated() if reverse else score
            choice = _best_threshold(directed, p_side, q_side, bool(reverse), delta=delta, final=final, alpha=alpha)
            if best is None or choice.predicted > best.predicted:
                best = choice
    assert best is not None
    return best


def _best_threshold(
    score: Score, p_side: np.ndarray, q_side: np.ndarray, reverse: bool, *, delta: float, final: int, alpha: float
) -> _Choice:
    """Threshold whose bound, predicted from the counts here for the final sample size, is largest."""
    p_scores, q_scores = np.sort(score(p_side))[::-1], np.sort(score(q_side))[::-1]
    thresholds = np.unique(np.concatenate([p_scores, q_scores]))[::-1]
    if len(thresholds) > _THRESHOLDS:
        ranks = np.unique(np.geomspace(1, len(thresholds), _THRESHOLDS).astype(int)) - 1
        thresholds = thresholds[ranks]
    p_hits = np.searchsorted(-p_scores, -thresholds, side="right")
    q_hits = np.searchsorted(-q_scores, -thresholds, side="right")
    factor = final / len(p_side)
    # Rare events look best by luck, the more so the more pairs there are: take each count two standard errors to the
    # worse (score bounds of a Poisson mean, so that 0 hits may have been 4).
    expected_p = (p_hits + 2 - 2 * np.sqrt(p_hits + 1)) * factor
    expected_q = (q_hits + 2 + 2 * np.sqrt(q_hits + 1)) * factor
    if delta == 0:
        predicted = conditional_epsilon_lower(expected_p, expected_q, alpha=alpha)
    else:
        predicted = epsilon_lower(expected_p, final, np.minimum(expected_q, final), final, delta=delta, alpha=alpha)
    best = int(np.argmax(predicted))
    rare = max(int(q_hits[best]), 1) / len(q_side)
    return _Choice(float(predicted[best]), score, float(thresholds[best]), reverse, rare)


def audit_black_box(
    mechanism: Mechanism,
    claim: PrivacyClaim,
    neighbouring: Neighbouring,
    *,
    budget: Budget,
    streams: Streams,
) -> Evidence:
    """Look for a violation of a privacy claim by sampling.

    Up to 256 pairs (chosen at random among more) share a quarter of the samples in a pilot; the pair with the
    largest predicted bound gets fresh samples for the rest.

    Returns
    -------
    Evidence
        ``refuted`` with a witness, ``consistent`` with the detection limit, or ``inconclusive`` where no violation
        could have been found with this budget.

    Raises
    ------
    CheckError
        There is no pair, or the sampler misbehaves.
    """
    samples = budget.samples or DEFAULT_SAMPLES
    if samples < 1000:
        raise ParameterError(f"samples must be at least 1000 for an audit by sampling, got {samples}")
    sampler = Sampler(mechanism.sample, mechanism.name, streams, own_randomness=mechanism.own_randomness)
    pairs = list(neighbouring)
    if not pairs:
        raise CheckError(f"{mechanism.name}: `neighbours` lists no pair; list at least one")
    total = len(pairs)
    if total > _MAX_PAIRS:
        chosen = streams.generator("pairs").choice(total, _MAX_PAIRS, replace=False)
        pairs = [pairs[i] for i in sorted(chosen)]
    pilot = 0
    if len(pairs) > 1:
        pilot = max(_MIN_SELECTION, int(samples * _PILOT_SHARE) // len(pairs))
        final = samples - int(samples * _PILOT_SHARE)
        predicted = [
            _choose_event(
                sampler.draw(x, pilot, "pilot", i, 0),
                sampler.draw(y, pilot, "pilot", i, 1),
                delta=claim.delta,
                final=final,
                alpha=budget.alpha,
            ).predicted
            for i, (x, y) in enumerate(pairs)
        ]
        x, y = pairs[int(np.argmax(predicted))]
    else:
        final = samples
        x, y = pairs[0]
    bound = _bound_pair(sampler, x, y, delta=claim.delta, samples=final, alpha=budget.alpha, claimed=claim.epsilon)
    scope = neighbouring.scope
    searched = f"{len(pairs)} of {total}" if len(pairs) < total else f"{total}"
    scope += f"; {searched} pair{'s' if total != 1 else ''} searched"
    return _evidence(bound, claim, (x, y), scope, bound.samples + 2 * pilot * len(pairs) * (len(pairs) > 1))


def _evidence(bound: LowerBound, claim: PrivacyClaim, pair: tuple[Any, Any], scope: str, samples: int) -> Evidence:
    limit = bound.detection_limit
    measured = {"epsilon": Interval(lower=bound.epsilon, upper=None), "detection_limit": Interval.exact(limit)}
    counts = f"{bound.hits[0]} of {bound.trials[0]} and {bound.hits[1]} of {bound.trials[1]}"
    if exceeds(bound.epsilon, claim.epsilon):
        p_input, q_input = reversed(pair) if bound.reverse else pair
        witness = Witness(
            data=p_input, neighbour=q_input, event=bound.event, p=bound.p, q=bound.q, epsilon=bound.epsilon
        )
        verdict, note = Verdict.REFUTED, f"the event occurred {counts} times, which bounds epsilon from below"
    elif math.isinf(limit):
        witness, verdict = None, Verdict.INCONCLUSIVE
        note = "no violation could have been found with so few samples; raise --samples"
    else:
        witness, verdict = None, Verdict.CONSISTENT
        note = f"a log-ratio of {limit:.4g} or more on the event chosen would have been refuted with 95 % power"
    return Evidence(
        verdict=verdict,
        scope=scope,
        method="black-box",
        measured=measured,
        witness=witness,
        note=note,
        samples=samples,
    )
