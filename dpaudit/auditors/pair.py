"""A lower confidence bound on epsilon for one pair of inputs, from samples alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit.auditors.budget import DEFAULT_CONFIDENCE, DEFAULT_SAMPLES, Budget
from dpaudit.auditors.exact import exceeds
from dpaudit.auditors.features import FEATURES, FeatureMap
from dpaudit.auditors.pace import OutOfTimeError
from dpaudit.auditors.sampler import CHUNK, SampleFunction, Sampler
from dpaudit.auditors.selection import Choice, Selection, select_events
from dpaudit.auditors.streams import Streams
from dpaudit.errors import ParameterError
from dpaudit.statistics import (
    anytime_lower,
    anytime_upper,
    best_share,
    conditional_epsilon_lower,
    epsilon_lower,
    refutable_epsilon,
)

LEAST_SAMPLES = 1000

_SELECTION_SHARE = 0.2
_MOST_SELECTED = 1_000_000
_GAMBLE_SHARE = 0.2
"""Part of the error probability that goes to the rarer of two events."""

_SEQUENTIAL_SHARE = 0.5
"""Part of the error probability that goes to the bound that holds at whatever time sampling stops."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LowerBound:
    """Lower confidence bound on epsilon for one pair of inputs.

    Attributes
    ----------
    epsilon
        The bound: with the stated confidence no smaller epsilon holds at ``delta``; 0 where nothing can be said.
    detection_limit
        Smallest epsilon that would have been refuted with 95 % power, had the event fallen as far short of it as it
        seems to fall short here; ``inf`` if none.
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
    stopped_early
        Whether sampling ended before the budget, because a bound above ``claimed`` had been reached.
    out_of_time
        Whether sampling ended before the budget, because its deadline had passed.
    recipe
        The event as data, from which `dpaudit verify` makes it again; None where it can only be learned again.
    candidate
        Which of the events chosen this one is: 0 for the safe one, 1 for the rarer one.
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
    stopped_early: bool = False
    out_of_time: bool = False
    recipe: dict[str, Any] | None = None
    candidate: int = 0


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
    stop_early: bool = False,
    features: FeatureMap | str | None = None,
    name: str = "the mechanism",
    own_randomness: bool = False,
) -> LowerBound:
    """Bound epsilon from below for one pair of inputs, from samples alone.

    A fifth of the samples (at most a million) chooses an event; the others, which played no part in that, bound its
    probabilities.

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
        Epsilon that the detection limit refers to, and that ``stop_early`` tries to refute; >= 0.
    stop_early
        Whether to stop as soon as a bound above ``claimed`` is reached; half of the error probability goes to that.
    features
        Function of an array of outputs that returns an array of what to look at, one row per output; or
        ``"float-bits"`` for the bit patterns of floating-point outputs. As long as it looks at every output on its
        own, it cannot make a bound invalid.
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
    Where two events go to the final sample, they share it too.
    **Checked against** closed forms and the rate of false refutations on mechanisms that meet their claim exactly.
    """
    Budget(samples=samples, confidence=confidence)
    check_samples(samples)
    if not 0 <= delta < 1:
        raise ParameterError(f"delta must be at least 0 and below 1 to be audited by sampling, got {delta}")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ParameterError(f"seed must be a whole number of at least 0, got {seed!r}")
    if not (math.isfinite(claimed) and claimed >= 0):
        raise ParameterError(f"claimed must be a finite number >= 0, got {claimed}")
    if isinstance(features, str) and features not in FEATURES:
        raise ParameterError(f"features must be a function or one of {', '.join(FEATURES)}, got {features!r}")
    sampler = Sampler(
        sample,
        name,
        Streams(seed, ("epsilon_lower_bound",)),
        own_randomness=own_randomness,
        features=FEATURES[features] if isinstance(features, str) else features,
    )
    return bound_pair(
        sampler,
        x,
        y,
        goal=Goal(delta=delta, claimed=claimed, samples=samples, alpha=1 - confidence, stop_early=stop_early),
    )


def check_samples(samples: int) -> None:
    """Raise ParameterError where samples are too few to be split."""
    if samples < LEAST_SAMPLES:
        raise ParameterError(f"samples must be at least {LEAST_SAMPLES} for an audit by sampling, got {samples}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What one pair is audited for: a claim, a number of samples per input, an error probability.

    ``most_selected`` limits the samples per input that choose the event; ``timed`` says that a deadline may end
    sampling at any time.
    """

    delta: float
    claimed: float
    samples: int
    alpha: float
    stop_early: bool = False
    timed: bool = False
    most_selected: int = _MOST_SELECTED

    @property
    def selection(self) -> int:
        """Samples per input that choose the event."""
        return min(max(LEAST_SAMPLES // 5, int(self.samples * _SELECTION_SHARE)), self.most_selected)

    @property
    def final(self) -> int:
        """Samples per input that bound its probabilities."""
        return self.samples - self.selection

    @property
    def sequential_share(self) -> float:
        """Part of the error probability that the bound gets which holds at all times."""
        return _SEQUENTIAL_SHARE if self.stop_early or self.timed else 0.0


def choose_for_pair(sampler: Sampler, x: Any, y: Any, goal: Goal) -> Selection:
    """Choose the events of a pair of inputs from its selection samples."""
    return select_events(
        sampler.draw(x, goal.selection, "selection", 0),
        sampler.draw(y, goal.selection, "selection", 1),
        delta=goal.delta,
        final=goal.final,
        alpha=goal.alpha,
    )


@dataclass(slots=True)
class _Count:
    """Occurrences of one event in the final sample so far, on its likelier input and on the other."""

    choice: Choice
    alpha: float
    hits: tuple[int, int] = (0, 0)
    trials: tuple[int, int] = (0, 0)

    def add(self, outputs: tuple[np.ndarray | None, np.ndarray | None]) -> None:
        """Count in outputs on the first and on the second input."""
        counts = [0 if side is None else int(np.count_nonzero(self.choice.event.contains(side))) for side in outputs]
        sizes = [0 if side is None else len(side) for side in outputs]
        if self.choice.reverse:
            counts, sizes = counts[::-1], sizes[::-1]
        self.hits = (self.hits[0] + counts[0], self.hits[1] + counts[1])
        self.trials = (self.trials[0] + sizes[0], self.trials[1] + sizes[1])

    def bound(self, delta: float, alpha: float) -> float:
        """Lower bound on epsilon from the whole final sample."""
        if delta == 0:
            return float(conditional_epsilon_lower(*self.hits, alpha=alpha))
        # How the two counts share the error probability is chosen on the judging sample.
        share = best_share(self.choice.p_hits, self.choice.q_hits, self.choice.rows, delta=delta)
        (hits_p, hits_q), (trials_p, trials_q) = self.hits, self.trials
        return float(epsilon_lower(hits_p, trials_p, hits_q, trials_q, delta=delta, alpha=alpha, share=share))

    def anytime_bound(self, delta: float, alpha: float) -> float:
        """Lower bound on epsilon that holds at all times at once."""
        p_prior, q_prior = self.choice.p_hits + 0.5, self.choice.q_hits + 0.5
        if delta == 0:
            share = anytime_lower(*self.hits, alpha, prior=(p_prior, q_prior))
            return max(0.0, math.log(share) - math.log1p(-share)) if share > 0.5 else 0.0
        rows = self.choice.rows
        p = anytime_lower(self.hits[0], self.trials[0] - self.hits[0], alpha / 2, prior=(p_prior, rows - p_prior + 1))
        q = anytime_upper(self.hits[1], self.trials[1] - self.hits[1], alpha / 2, prior=(q_prior, rows - q_prior + 1))
        return math.log(p - delta) - math.log(q) if p - delta > q else 0.0


def bound_pair(sampler: Sampler, x: Any, y: Any, *, goal: Goal) -> LowerBound:
    """Choose events for a pair of inputs and bound their probabilities on fresh samples.

    Raises
    ------
    OutOfTimeError
        The deadline passed before the final sample was begun.

    Notes
    -----
    **Guarantee.** As `epsilon_lower_bound`, also where sampling stops early. Two bounds share the error probability:
    one for the whole final sample, and one that holds at all times at once (`anytime_lower`). Whichever is reported,
    and whatever made sampling stop, be it the outcome so far or the time that the outputs took, it is wrong only where
    that bound is wrong at some time. A round of which only a part was drawn counts for nothing.
    """
    for data in (x, y):
        sampler.check_deterministic(data)
    goal = replace(goal, most_selected=sampler.selection_limit)
    selection = choose_for_pair(sampler, x, y, goal)
    shares = [1.0] if selection.gamble is None else [1 - _GAMBLE_SHARE, _GAMBLE_SHARE]
    counts = [_Count(choice, goal.alpha * share) for choice, share in zip(selection.choices, shares, strict=True)]
    at_any_time, stopped, late = goal.sequential_share, False, False
    try:
        for outputs in _final_rounds(sampler, x, y, goal.final, goal.delta):
            for count in counts:
                count.add(outputs)
            stopped = goal.stop_early and exceeds(_best(counts, goal, at_any_time, whole=False)[0], goal.claimed)
            if stopped:
                break
    except OutOfTimeError:
        late = True
    whole = not (stopped or late)
    bound, best = _best(counts, goal, 1 - at_any_time if whole else at_any_time, whole=whole)
    made = _lower_bound(best, bound, goal, 1 - at_any_time, candidate=int(best is not counts[0]))
    # Of samples that are missing nobody knows what they would have shown.
    limit = math.inf if late else made.detection_limit
    return replace(made, detection_limit=limit, stopped_early=stopped, out_of_time=late)


def _best(counts: list[_Count], goal: Goal, share: float, *, whole: bool) -> tuple[float, _Count]:
    """Return the largest bound, with that part of the error probability, and its event."""
    bounds = [(count.bound if whole else count.anytime_bound)(goal.delta, count.alpha * share) for count in counts]
    return max(bounds), counts[bounds.index(max(bounds))]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventBound:
    """Occurrences and trials of one event on its likelier input and on the other, and the epsilon that follows."""

    hits: tuple[int, int]
    trials: tuple[int, int]
    epsilon: float


def bound_event(
    sampler: Sampler, x: Any, y: Any, *, choice: Choice, samples: int, delta: float, alpha: float
) -> EventBound:
    """Bound epsilon by an event that other samples have chosen, from so many samples per input."""
    for data in (x, y):
        sampler.check_deterministic(data)
    count = _Count(choice, alpha)
    for outputs in _final_rounds(sampler, x, y, samples, delta):
        count.add(outputs)
    return EventBound(hits=count.hits, trials=count.trials, epsilon=max(count.bound(delta, alpha), 0.0))


def _final_rounds(
    sampler: Sampler, x: Any, y: Any, samples: int, delta: float
) -> Iterator[tuple[np.ndarray | None, np.ndarray | None]]:
    """Yield the final sample in rounds of about ``CHUNK`` outputs per input."""
    coins = sampler.coins("assignment")
    for number in range(-(-samples // CHUNK)):
        size = min(CHUNK, samples - number * CHUNK)
        sizes = (size, size)
        if delta == 0:
            # Fair coins assign the trials, so that the hits' split is binomial whatever their number.
            first = int(coins.binomial(2 * size, 0.5))
            sizes = (first, 2 * size - first)
        on_x, on_y = (
            sampler.draw_once(data, count, "final", side, number) if count else None
            for side, (data, count) in enumerate(zip((x, y), sizes, strict=True))
        )
        yield on_x, on_y


def _lower_bound(best: _Count, bound: float, goal: Goal, fixed: float, *, candidate: int) -> LowerBound:
    choice = best.choice
    log_ratio = math.log(max(choice.p_hits, 1) / max(choice.q_hits, 1))
    limit = math.inf
    if not choice.uninformed:
        rate = max(choice.q_hits, 1) / choice.rows
        limit = refutable_epsilon(rate, goal.final, goal.claimed, delta=goal.delta, alpha=best.alpha * fixed)
    return LowerBound(
        epsilon=max(bound, 0.0),
        delta=goal.delta,
        confidence=1 - goal.alpha,
        detection_limit=limit + max(0.0, choice.steepest - log_ratio),
        event=choice.event.describe(),
        reverse=choice.reverse,
        hits=best.hits,
        trials=best.trials,
        p=best.hits[0] / max(best.trials[0], 1),
        q=best.hits[1] / max(best.trials[1], 1),
        samples=2 * goal.selection + sum(best.trials),
        recipe=choice.event.to_json(),
        candidate=candidate,
    )
