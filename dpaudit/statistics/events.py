"""What the counts of an event on two inputs say of a guarantee: lower bounds on the value that the event forces.

Where the ratio of the two probabilities says most (`Guarantee.by_ratio`), the trials must have been assigned to the
inputs by fair coins; otherwise each input must have had a fixed number of them.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from dpaudit.claims.guarantees import PART_OF_PROBABILITY, Guarantee
from dpaudit.statistics.anytime import anytime_lower, anytime_upper
from dpaudit.statistics.proportions import binomial_quantile, proportion_lower, proportion_upper

_FARTHEST = 20.0
_LIMIT_DIGITS = 1e-6

Counts = tuple[int, int]
"""Of the input on which the event is likelier, and of the other."""


def forced_lower(
    guarantee: Guarantee,
    hits_p: Any,
    trials_p: Any,
    hits_q: Any,
    trials_q: Any,
    *,
    alpha: float = 0.001,
    share: float = 0.5,
) -> Any:
    """Lower bound on the value that an event forces, from two independent binomial counts.

    Parameters
    ----------
    guarantee
        The guarantee, of which a parameter is forced.
    hits_p, trials_p, hits_q, trials_q
        How often the event occurred on either input; broadcast against each other.
    alpha
        Probability, at most, that the bound exceeds the truth.
    share
        Part of ``alpha`` that the count on the first input gets, in (0, 1); the other count gets the rest.

    Returns
    -------
    float or ndarray
        The bound, 0 where nothing above 0 can be said.

    Notes
    -----
    **Guarantee.** With probability at least 1 - ``alpha``, no smaller value of the forced parameter holds.
    **Checked against** the exact coverage by enumeration.
    """
    low = proportion_lower(hits_p, trials_p, alpha * share)
    high = proportion_upper(hits_q, trials_q, alpha * (1 - share))
    return guarantee.forces(np.asarray(low), np.asarray(high))


BY_RATIO: Final = 0.0
"""Stands for a share where the split of the occurrences gives the bound, instead of a bound on each probability."""


def best_share(guarantee: Guarantee, hits_p: int, hits_q: int, trials: int, *, alpha: float = 0.001) -> float:
    """Part of the error probability that the first count of :func:`forced_lower` should get, or `BY_RATIO`.

    To be chosen on other samples than those that decide: the count whose relative error matters more gets more.

    Parameters
    ----------
    guarantee
        The guarantee.
    hits_p, hits_q, trials
        Occurrences on either input in other samples, and the number of those on each.
    alpha
        Error probability of the bound.
    """
    if guarantee.ratio_alone:
        return BY_RATIO
    p, q = (hits_p + 0.5) / (trials + 1), (hits_q + 0.5) / (trials + 1)
    step_p, step_q = guarantee.steps(p, q)
    of_p = math.sqrt(p * (1 - p)) / max(step_p, 1e-12)
    of_q = math.sqrt(q * (1 - q)) / max(step_q, 1e-12)
    share = float(min(max(of_p / (of_p + of_q), 0.05), 0.95))
    if guarantee.by_ratio:
        counts = (hits_p, hits_q), (trials, trials)
        ways = {way: bound_from_counts(guarantee, *counts, alpha=alpha, share=way) for way in (share, BY_RATIO)}
        return BY_RATIO if ways[BY_RATIO] > ways[share] else share
    return share


def log_ratio_lower(hits_p: Any, hits_q: Any, *, alpha: float = 0.001) -> Any:
    """Lower bound on log(p / q) from counts of which only the split matters.

    When each of a fixed number of trials goes to one of the inputs by a fair coin, the number of hits on P, given
    the hits altogether, is binomial with success probability p / (p + q); a Clopper-Pearson bound on that
    proportion bounds the ratio with the whole of ``alpha``.

    Notes
    -----
    **Guarantee.** With probability at least 1 - ``alpha`` the bound is not above log(p / q), provided that the trials
    were assigned by fair coins.
    Przyborowski and Wilenski, "Homogeneity of results in testing samples from Poisson series", Biometrika 1940,
    is the source of the conditional argument.
    **Checked against** the exact coverage by enumeration over trials and coins.
    """
    share = np.asarray(proportion_lower(hits_p, np.asarray(hits_p) + np.asarray(hits_q), alpha))
    with np.errstate(divide="ignore"):
        bound = np.log(share) - np.log1p(-share)
    return np.where(share > 0.5, bound, 0.0)[()]


def bound_from_counts(
    guarantee: Guarantee, hits: Counts, trials: Counts, *, alpha: float = 0.001, share: float = 0.5
) -> float:
    """Lower bound on the value that an event forces, by the way that ``share`` says.

    Parameters
    ----------
    guarantee, hits, trials, alpha
        As in `forced_lower`.
    share
        Part of ``alpha`` for the count on the first input, or `BY_RATIO`; see `best_share`. Where the ratio alone
        decides, it has no effect.

    Notes
    -----
    **Guarantee.** As `forced_lower`, provided that the trials were assigned as the guarantee asks for. By the ratio,
    the bounds on the ratio and on the probability of the event share the error probability; where that leaves nothing
    to the second, since the ratio alone decides, the first has all of it.
    **Checked against** the exact coverage by enumeration over trials and coins.
    """
    if guarantee.ratio_alone:
        return float(log_ratio_lower(*hits, alpha=alpha))
    if share == BY_RATIO:
        least = proportion_lower(hits[0], trials[0], alpha * PART_OF_PROBABILITY)
        ratio = log_ratio_lower(*hits, alpha=alpha * (1 - PART_OF_PROBABILITY))
        return float(guarantee.forces_by_ratio(ratio, least))
    return float(forced_lower(guarantee, hits[0], trials[0], hits[1], trials[1], alpha=alpha, share=share))


def anytime_bound(
    guarantee: Guarantee, hits: Counts, trials: Counts, *, alpha: float, prior: tuple[float, float], prior_trials: int
) -> float:
    """Lower bound on the value that an event forces, which holds at all times at once.

    Parameters
    ----------
    guarantee, hits, trials, alpha
        As in `bound_from_counts`.
    prior, prior_trials
        Occurrences on either input in other samples, and the number of those on each: where the bounds are tightest.

    Notes
    -----
    **Guarantee.** As `anytime_lower`.
    """
    p_prior, q_prior = prior
    if guarantee.ratio_alone:
        share = anytime_lower(*hits, alpha, prior=prior)
        return max(0.0, math.log(share) - math.log1p(-share)) if share > 0.5 else 0.0
    p = anytime_lower(hits[0], trials[0] - hits[0], alpha / 2, prior=(p_prior, prior_trials - p_prior + 1))
    q = anytime_upper(hits[1], trials[1] - hits[1], alpha / 2, prior=(q_prior, prior_trials - q_prior + 1))
    return float(guarantee.forces(p, q))


def event_that_forces(guarantee: Guarantee, value: float, q: float, complement: float) -> float:
    """Probability of the event that forces a value of the parameter, where that of an event at hand is too large.

    Parameters
    ----------
    guarantee
        The guarantee, of which a parameter is forced.
    value
        The value.
    q, complement
        Probabilities of the event at hand, and of its complement, each on the input where it is rarer.

    Returns
    -------
    float
        Probability of the event on the input where it is rarer: ``q`` where an event of that probability can force the
        value; otherwise that of the complement or of a balanced event (`Guarantee.balanced`), the smaller of the two.

    Notes
    -----
    An event of probability 1 on the likelier input and ``q`` on the other forces most (`Guarantee.largest`), in pure
    differential privacy log(1 / q). One of probability 1 on both forces nothing, and its complement, which was not seen
    in n outputs, is as rare as 1 / n. An event of probability 0.5 on both forces log 2 at most, and so does its
    complement; what forces more, such as randomized response, is rarer than either.

    Examples
    --------
    >>> from dpaudit.claims.guarantees import ApproximateDP
    >>> claim = ApproximateDP(1.0)
    >>> event_that_forces(claim, 1.0, 0.3, 0.7), event_that_forces(claim, 1.0, 0.9, 0.1)
    (0.3, 0.1)
    >>> round(event_that_forces(claim, 1.0, 0.5, 0.5), 3)
    0.269
    """
    if value <= guarantee.largest(q):
        return q
    return min(complement, guarantee.at(value).balanced)


def detection_limit(
    guarantee: Guarantee,
    q: float,
    trials: int,
    *,
    alpha: float,
    complement: float | None = None,
    power: float = 0.95,
    share: float = 0.5,
    prior_trials: int = 0,
) -> float:
    """Smallest true value of the forced parameter that would have been told from the claimed one, by such an event.

    The event has the probability ``rarer`` (`event_that_forces`) on one input and the largest that the value allows on
    the other, for pure differential privacy e^value * rarer, which is 1 at most. Its counts in the trials are taken
    to be no better than their quantiles at (1 - power) / 2; where these give a bound above the claimed value, so do
    better counts, so that the power is at least that.

    Parameters
    ----------
    guarantee
        The claim.
    q
        Probability of the event on the input where it is rarer.
    trials
        Trials on each input; where only the ratio counts, twice as many of which fair coins assign each to an input.
    alpha, power
        Error probability of the bound, and the probability with which the violation would have been found.
    complement
        Probability of the complement of the event on the input where that is rarer; by default 1 - ``q``. At a value
        that no event as likely as the one at hand can force, the limit is about another one (`event_that_forces`).
    share
        As in `bound_from_counts`.
    prior_trials
        Trials on each input in the other samples that say where `anytime_bound` is tightest, where that is the bound;
        0 where it is `bound_from_counts`.

    Returns
    -------
    float
        The detection limit; ``inf`` where no value would have been told from the claimed one.
    """

    def found(value: float) -> bool:
        true = guarantee.at(value)
        rarer = event_that_forces(guarantee, value, q, 1 - q if complement is None else complement)
        p = true.most(rarer)
        # With the given power neither count is worse than its quantile at half the remaining probability.
        half = (1 - power) / 2
        # Where fair coins assign the trials, the counts vary more than with `trials` on each input.
        drawn, part = (2 * trials, 0.5) if guarantee.by_ratio else (trials, 1.0)
        hits_p = binomial_quantile(half, drawn, part * p)
        hits_q = binomial_quantile(1 - half, drawn, part * rarer)
        counts = (int(hits_p), int(hits_q)), (trials, trials)
        if prior_trials:
            prior = (prior_trials * p + 0.5, prior_trials * rarer + 0.5)
            return anytime_bound(guarantee, *counts, alpha=alpha, prior=prior, prior_trials=prior_trials) > claimed
        return bound_from_counts(guarantee, *counts, alpha=alpha, share=share) > claimed

    claimed = guarantee.claimed
    if not (q > 0 and trials > 0 and math.isfinite(claimed) and guarantee.balanced > 0):
        return math.inf
    possible = guarantee.largest(q)
    low, high = claimed, possible
    if high <= claimed or math.isinf(high) or not found(high):
        low = claimed if math.isinf(possible) else max(claimed, possible)
        high = low + 0.5
        while not found(high):
            low, high = high, high + 2 * (high - low)
            # A large claim absorbs the step, so that nothing that can be written is so little above it.
            if high > claimed + _FARTHEST or high <= low:
                return math.inf
    while high - low > _LIMIT_DIGITS and low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if found(middle) else (middle, high)
    return high
