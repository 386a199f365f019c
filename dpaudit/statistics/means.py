"""Confidence intervals for the mean of a bounded quantity."""

from __future__ import annotations

import math

import numpy as np

from dpaudit.statistics.proportions import clopper_pearson


def mean_interval(values: np.ndarray, *, support: tuple[float, float], confidence: float) -> tuple[float, float, float]:
    """Lower bound, estimate and upper bound of the mean of independent values in a known range.

    Boolean values are counted (Clopper-Pearson). Others get the narrower of Hoeffding's and the empirical Bernstein
    interval, each at half the error probability.

    Parameters
    ----------
    values
        Independent values, shape (n,), n >= 1; booleans for a proportion.
    support
        Smallest and largest possible value.
    confidence
        Coverage, in (0, 1).

    Returns
    -------
    tuple of float
        (lower, estimate, upper).

    Notes
    -----
    **Guarantee.** The interval contains the mean with probability at least ``confidence``, whatever the law on the
    range. Empirical Bernstein: Maurer and Pontil, "Empirical Bernstein bounds and sample variance penalization",
    COLT 2009, Theorem 4, on both sides.
    **Checked against** simulated coverage on Bernoulli, beta and two-point laws.
    """
    low, high = support
    width = high - low
    count = len(values)
    estimate = float(np.mean(values))
    if values.dtype == np.bool_:
        below, above = clopper_pearson(int(np.count_nonzero(values)), count, confidence)
        return below, estimate, above
    alpha = (1 - confidence) / 2
    radius = width * math.sqrt(math.log(2 / alpha) / (2 * count))
    if count > 1:
        variance = float(np.var(values, ddof=1))
        log_term = math.log(4 / alpha)
        radius = min(radius, math.sqrt(2 * variance * log_term / count) + 7 * width * log_term / (3 * (count - 1)))
    return max(low, estimate - radius), estimate, min(high, estimate + radius)
