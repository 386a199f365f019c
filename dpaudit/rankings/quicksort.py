"""How many comparisons QuickSort makes, and so KwikSort where the comparisons contradict each other nowhere."""

from __future__ import annotations

from functools import lru_cache
from math import comb, exp, fsum, log

import numpy as np

from dpaudit.errors import ParameterError
from dpaudit.rankings.orders import FloatArray, as_positive_int

MAX_EXACT = 128


_LAWS: list[FloatArray] = [np.ones(1), np.ones(1)]
"""Laws for 0, 1, ... alternatives, as far as they have been asked for."""


def _law(m: int) -> FloatArray:
    for size in range(len(_LAWS), m + 1):
        law = np.zeros(comb(size, 2) + 1)
        for left in range((size + 1) // 2):
            right = size - 1 - left
            both = np.convolve(_LAWS[left], _LAWS[right]) * (1 if left == right else 2) / size
            law[size - 1 : size - 1 + len(both)] += both
        _LAWS.append(law)
    return _LAWS[m]


def quicksort_comparisons(m: int) -> FloatArray:
    """Law of the number of comparisons that QuickSort with uniformly random pivots makes.

    Parameters
    ----------
    m : int
        Number of alternatives, 1 to 128.

    Returns
    -------
    ndarray of float64, shape (m (m - 1) / 2 + 1,)
        Probability of 0, 1, ... comparisons, each with full relative accuracy. It is that of KwikSort on transitive
        comparisons; on others it makes fewer on average (the scores of any tournament are majorised by 0, ..., m - 1).

    Raises
    ------
    ParameterError
        When m is out of range.

    Examples
    --------
    >>> from dpaudit.rankings import quicksort_comparisons
    >>> quicksort_comparisons(3).round(4)
    array([0.    , 0.    , 0.3333, 0.6667])
    """
    if as_positive_int(m, "m") > MAX_EXACT:
        raise ParameterError(f"m is {m}; the law is computed up to m = {MAX_EXACT}, take `quicksort_tail` beyond")
    return _law(m).copy()


def quicksort_expected_comparisons(m: int) -> float:
    """Expected number of comparisons, 2 (m + 1) H_m - 4 m with the harmonic number H_m.

    The largest expectation that KwikSort has on any comparisons.

    Examples
    --------
    >>> from dpaudit.rankings import quicksort_expected_comparisons
    >>> round(quicksort_expected_comparisons(3), 4)
    2.6667
    """
    m = as_positive_int(m, "m")
    return 2 * (m + 1) * fsum(1 / k for k in range(1, m + 1)) - 4 * m


def quicksort_tail(m: int, limit: int) -> float:
    """Probability of more than ``limit`` comparisons: exact up to m = 128, an upper bound beyond.

    Parameters
    ----------
    m : int
        Number of alternatives, at least 1.
    limit : int
        At least 0.

    Returns
    -------
    float
        Beyond m = 128 Chernoff's bound at the best of 200 rates, from the exact moment generating function.

    Raises
    ------
    ParameterError
        When m or the limit is out of range.

    Examples
    --------
    >>> from dpaudit.rankings import quicksort_tail
    >>> round(quicksort_tail(3, 2), 4)
    0.6667
    """
    m, limit = as_positive_int(m, "m"), as_positive_int(limit, "limit", least=0)
    if limit >= comb(m, 2):
        return 0.0
    if m <= MAX_EXACT:
        return fsum(_law(m)[limit + 1 :])
    return min(exp(min(0.0, log_mean - rate * (limit + 1))) for rate, log_mean in _moments(m))


@lru_cache(maxsize=8)
def _moments(m: int) -> tuple[tuple[float, float], ...]:
    """Rates r with the logarithm of the expectation of exp(r * comparisons)."""
    rates = np.geomspace(1e-3 / m, 40 / m, 200)
    table = np.zeros((m + 1, len(rates)))
    for size in range(2, m + 1):
        both = table[:size] + table[size - 1 :: -1]
        table[size] = rates * (size - 1) + np.logaddexp.reduce(both, axis=0) - log(size)
    return tuple(zip(rates.tolist(), table[m].tolist(), strict=True))
