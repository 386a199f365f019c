"""Goodness of fit of samples to a law, and what it would have shown."""

from __future__ import annotations

import math

import numpy as np

from dpaudit.statistics.proportions import binomial_quantile


def goodness_of_fit(counts: np.ndarray, probabilities: np.ndarray) -> float:
    """p-value of the exact binomial tests of every outcome's count, Bonferroni-corrected.

    Parameters
    ----------
    counts, probabilities
        Observed counts and the law, shape (k,).

    Returns
    -------
    float
        p-value; 0 where something was observed that the law calls impossible.

    Notes
    -----
    **Guarantee.** If the samples follow the law, the p-value is at most a with probability at most a, for every
    number of samples. Pearson's chi-square test is no substitute: at the level of 5e-7 at which dpaudit holds a
    sampler to its law, its true size is up to forty times that when an outcome is expected 5 times.
    **Checked against** the exact size by enumeration, and simulated size and power.
    """
    from scipy.special import bdtr, bdtrc

    if np.any(counts[probabilities == 0] > 0):
        return 0.0
    possible = probabilities > 0
    observed, expected = counts[possible].astype(float), np.minimum(probabilities[possible], 1.0)
    trials = int(counts.sum())
    tails = np.minimum(bdtr(observed, trials, expected), bdtrc(observed - 1, trials, expected))
    return float(min(1.0, 2 * len(tails) * tails.min()))


def detectable_shifts(
    probabilities: np.ndarray, trials: int, *, alpha: float, power: float
) -> tuple[np.ndarray, np.ndarray]:
    """Least errors of a law's probabilities that `goodness_of_fit` would show.

    Parameters
    ----------
    probabilities
        The law, shape (k,).
    trials
        Number of samples, at least 1.
    alpha
        Level at which a p-value is taken to be too small.
    power
        Probability with which the error is to be seen.

    Returns
    -------
    up, down : ndarray, shape (k,)
        By how much an outcome's probability must be above, and below, the law's. Where even the largest error is not
        seen, that is what is returned: one minus the probability, or the probability.

    Notes
    -----
    **Guarantee.** If the true probability of any one outcome is off by at least as much, the p-value is at most
    ``alpha`` with a probability of at least ``power``, whatever the other outcomes' probabilities are.
    **Checked against** simulated power.
    """
    from scipy.special import betaincinv

    # Equal outcomes are common, and binomial quantiles slow.
    law, where = np.unique(np.minimum(probabilities, 1.0), return_inverse=True)
    level = alpha / (2 * max(1, int(np.count_nonzero(probabilities))))
    # Too many is a tail of the opposite outcomes, whose probabilities are near to 1 where the level is tiny. One
    # occurrence of an impossible outcome settles it.
    most = np.where(law > 0, trials - binomial_quantile(level, trials, 1 - law) + 1, 1)
    least = np.where(law > 0, binomial_quantile(level, trials, law) - 1, -1)
    above = np.where(most <= trials, betaincinv(np.minimum(most, trials), np.maximum(trials - most, 0) + 1, power), 1.0)
    below = np.where(least >= 0, betaincinv(np.maximum(least, 0) + 1, np.maximum(trials - least, 1), 1 - power), 0.0)
    return np.maximum(above - law, 0.0)[where], np.maximum(law - below, 0.0)[where]


def cdf_distance(values: np.ndarray, distribution: np.ndarray) -> float:
    """p-value of the largest distance between the empirical distribution function and a continuous law's.

    Parameters
    ----------
    values
        Samples in ascending order, shape (n,).
    distribution
        The law's distribution function there.

    Notes
    -----
    **Guarantee.** If the samples follow the law, the p-value is at most a with probability at most a, for every number
    of samples: the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant (Annals of Probability 1990).
    **Checked against** simulated size and power.
    """
    n = len(values)
    steps = np.arange(n + 1) / n
    distance = max(np.max(steps[1:] - distribution), np.max(distribution - steps[:-1]))
    return float(min(1.0, 2 * math.exp(-2 * n * distance**2)))


def cdf_shift(trials: int, *, alpha: float, power: float) -> float:
    """Least error of a distribution function, at any one point, that `cdf_distance` would show.

    Notes
    -----
    **Guarantee.** If the true distribution function is off by at least as much at any point, the p-value is at most
    ``alpha`` with a probability of at least ``power``, by Hoeffding's inequality there.
    **Checked against** simulated power.
    """
    return min(1.0, (math.sqrt(math.log(2 / alpha)) + math.sqrt(-math.log1p(-power))) / math.sqrt(2 * trials))
