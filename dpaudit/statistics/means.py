"""Confidence intervals for the mean of a bounded quantity."""

from __future__ import annotations

import numpy as np

from dpaudit.statistics.betting import BettingMeans
from dpaudit.statistics.proportions import clopper_pearson


def mean_interval(values: np.ndarray, *, support: tuple[float, float], confidence: float) -> tuple[float, float, float]:
    """Lower bound, estimate and upper bound of the mean of independent values in a known range.

    Boolean values are counted (Clopper-Pearson). Others get the interval by betting, which adapts to their variance.

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
    range; see `BettingMeans`.
    **Checked against** simulated coverage on Bernoulli, beta and two-point laws, and the widths of Hoeffding's and the
    empirical Bernstein interval.
    """
    low, high = support
    estimate = float(np.mean(values))
    if values.dtype == np.bool_:
        below, above = clopper_pearson(int(np.count_nonzero(values)), len(values), confidence)
        return below, estimate, above
    shares = np.clip((values - low) / (high - low), 0.0, 1.0)
    game = BettingMeans(np.full(1, (1 - confidence) / 2), horizon=len(shares))
    start = 0
    while start < len(shares):
        block = shares[start : start + game.block_size]
        game.update(len(block), [block])
        start += len(block)
    lower, upper = (low + (high - low) * float(bound[0]) for bound in game.bounds())
    return min(max(low, lower), estimate), estimate, max(min(high, upper), estimate)
