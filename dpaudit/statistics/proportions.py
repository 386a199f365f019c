"""Exact confidence bounds for a proportion."""

from __future__ import annotations

from typing import Any

import numpy as np

_ROUNDING = 1e-12
"""Relative margin by which bounds are moved outwards, above the error of the inverse beta function."""


def proportion_lower(successes: Any, trials: Any, alpha: float) -> Any:
    """One-sided Clopper-Pearson lower bound.

    Parameters
    ----------
    successes, trials
        Counts, 0 <= successes <= trials; broadcast against each other.
    alpha
        Probability, at most, that the bound exceeds the true proportion.

    Notes
    -----
    **Guarantee.** The bound is at most the true proportion with probability at least 1 - ``alpha``.
    **Checked against** scipy's ``binomtest`` and the exact coverage by enumeration.
    """
    from scipy.special import betaincinv

    k, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    with np.errstate(invalid="ignore"):
        bound = betaincinv(np.maximum(k, 1), n - np.maximum(k, 1) + 1, alpha)
    return np.where(k > 0, bound * (1 - _ROUNDING), 0.0)[()]


def proportion_upper(successes: Any, trials: Any, alpha: float) -> Any:
    """One-sided Clopper-Pearson upper bound; see :func:`proportion_lower`."""
    from scipy.special import betainccinv

    k, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    with np.errstate(invalid="ignore"):
        bound = betainccinv(k + 1, np.maximum(n - k, 1), alpha)
    return np.where(k < n, np.minimum(bound * (1 + _ROUNDING), 1.0), 1.0)[()]


def clopper_pearson(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """Two-sided Clopper-Pearson interval, equal error on both sides.

    Notes
    -----
    **Guarantee.** Contains the true proportion with probability at least ``confidence``.
    """
    alpha = (1 - confidence) / 2
    return float(proportion_lower(successes, trials, alpha)), float(proportion_upper(successes, trials, alpha))


def binomial_quantile(level: Any, trials: Any, probability: Any) -> Any:
    """Smallest count that a binomial number does not exceed with a probability of at least ``level``.

    By bisection between whole numbers, because scipy.stats takes half a second to load.

    Notes
    -----
    **Checked against** scipy.stats.
    """
    from scipy.special import bdtr

    level, trials, probability = np.broadcast_arrays(level, np.asarray(trials, dtype=np.int64), probability)
    if trials.ndim == 0:
        # The same steps in Python's own numbers, which are quicker one at a time.
        at_least, most, each = float(level), int(trials), float(probability)
        below, reaching = -1, most
        while reaching - below > 1:
            count = (below + reaching) // 2
            below, reaching = (below, count) if bdtr(float(count), most, each) >= at_least else (count, reaching)
        return np.int64(reaching)
    low, high = np.full(trials.shape, -1), trials.copy()
    while np.any(high - low > 1):
        middle = (low + high) // 2
        reached = bdtr(middle.astype(float), trials, probability) >= level
        low, high = np.where(reached, low, np.maximum(low, middle)), np.where(reached, middle, high)
    return high[()]
