"""Lower confidence bounds on epsilon from event counts on two inputs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpaudit.statistics.proportions import proportion_lower, proportion_upper

_FARTHEST = 20.0
_LIMIT_DIGITS = 1e-6


def epsilon_lower(
    hits_p: Any,
    trials_p: Any,
    hits_q: Any,
    trials_q: Any,
    *,
    delta: float = 0.0,
    alpha: float = 0.001,
    share: float = 0.5,
) -> Any:
    """Lower bound on log((p - delta) / q) from two independent binomial counts.

    Parameters
    ----------
    hits_p, trials_p, hits_q, trials_q
        How often the event occurred on either input; broadcast against each other.
    delta
        The claim's delta.
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
    **Guarantee.** With probability at least 1 - ``alpha``, no (epsilon, delta) with epsilon below the bound holds.
    **Checked against** the exact coverage by enumeration.
    """
    low = proportion_lower(hits_p, trials_p, alpha * share) - delta
    high = proportion_upper(hits_q, trials_q, alpha * (1 - share))
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = np.log(low) - np.log(high)
    return np.where(low > high, bound, 0.0)[()]


def best_share(hits_p: int, hits_q: int, trials: int, *, delta: float) -> float:
    """Part of the error probability that the first count of :func:`epsilon_lower` should get.

    To be chosen on other samples than those that decide: the count whose relative error matters more gets more.
    """
    p, q = (hits_p + 0.5) / (trials + 1), (hits_q + 0.5) / (trials + 1)
    of_p = math.sqrt(p * (1 - p)) / max(p - delta, 1e-12)
    of_q = math.sqrt(q * (1 - q)) / q
    return min(max(of_p / (of_p + of_q), 0.05), 0.95)


def conditional_epsilon_lower(hits_p: Any, hits_q: Any, *, alpha: float = 0.001) -> Any:
    """Lower bound on log(p / q) from counts of which only the split matters (delta = 0).

    When each of a fixed number of trials goes to one of the inputs by a fair coin, the number of hits on P, given
    the hits altogether, is binomial with success probability p / (p + q); a Clopper-Pearson bound on that
    proportion bounds the ratio with the whole of ``alpha``.

    Notes
    -----
    **Guarantee.** As :func:`epsilon_lower`, provided that the trials were assigned by fair coins.
    Przyborowski and Wilenski, "Homogeneity of results in testing samples from Poisson series", Biometrika 1940,
    is the source of the conditional argument.
    **Checked against** the exact coverage by enumeration over trials and coins.
    """
    share = np.asarray(proportion_lower(hits_p, np.asarray(hits_p) + np.asarray(hits_q), alpha))
    with np.errstate(divide="ignore"):
        bound = np.log(share) - np.log1p(-share)
    return np.where(share > 0.5, bound, 0.0)[()]


def refutable_epsilon(
    q: float, trials: int, claimed: float, *, delta: float = 0.0, alpha: float, power: float = 0.95
) -> float:
    """Smallest true epsilon that would have been told from the claimed one, along an event about as likely as this.

    Parameters
    ----------
    q
        Probability of the event on the input where it is rarer. For an epsilon at which no event of that probability
        could be so much likelier on the other input, that of randomized response is taken, 1 / (1 + e^epsilon).
    trials
        Trials on each input; where delta = 0, twice as many of which fair coins assign each to an input.
    claimed, delta
        The claim.
    alpha, power
        Error probability of the bound, and the probability with which the violation would have been found.

    Returns
    -------
    float
        The detection limit; ``inf`` where no epsilon would have been told from the claimed one.
    """
    from scipy.stats import binom

    def found(epsilon: float) -> bool:
        rarer = q if epsilon <= possible else (1 - delta) * math.exp(-epsilon) / (1 + math.exp(-epsilon))
        p = min(1.0, math.exp(min(0.0, epsilon + math.log(rarer))) + delta) if rarer else delta
        # With the given power neither count is worse than its quantile at half the remaining probability.
        half = (1 - power) / 2
        # At delta = 0 fair coins assign the trials, so that the counts vary more than with `trials` on each input.
        drawn, share = (2 * trials, 0.5) if delta == 0 else (trials, 1.0)
        hits_p, hits_q = binom.ppf(half, drawn, share * p), binom.ppf(1 - half, drawn, share * rarer)
        if delta == 0:
            return bool(conditional_epsilon_lower(hits_p, hits_q, alpha=alpha) > claimed)
        return bool(epsilon_lower(hits_p, trials, hits_q, trials, delta=delta, alpha=alpha) > claimed)

    if not (q > 0 and delta < 1 and math.isfinite(claimed)):
        return math.inf
    possible = math.log((1 - delta) / q)
    low, high = claimed, possible
    if high <= claimed or not found(high):
        low, high = max(claimed, possible), max(claimed, possible) + 0.5
        while not found(high):
            low, high = high, high + 2 * (high - low)
            if high > claimed + _FARTHEST:
                return math.inf
    while high - low > _LIMIT_DIGITS:
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high
