"""Exact laws of KwikSort together with the number of comparisons that it makes."""

from math import comb, factorial

import numpy as np
import numpy.typing as npt

from dpaudit import ParameterError
from dpaudit.rankings import all_rankings

from .kemeny_weights import FloatArray

MAX_COUNTED = 6
ROUNDING = 1e-9


def kwiksort_counted_law(before_probability: npt.ArrayLike) -> FloatArray:
    """Joint law of KwikSort's ranking and its number of comparisons, each pair compared independently at random.

    Parameters
    ----------
    before_probability : array_like of float, shape (m, m), m <= 6
        Entry [i, p] is the probability that item i is placed before pivot p; [i, p] and [p, i] add up to 1.

    Returns
    -------
    ndarray of float64, shape (m!, m (m - 1) / 2 + 1)
        Row r, column k: the probability of ranking r, in the order of `all_rankings(m)`, after k comparisons. Every
        step adds and multiplies non-negative numbers, so each entry has full relative accuracy unless it underflows.

    Raises
    ------
    ParameterError
        When the shape does not fit, m > 6 or the entries are not such probabilities.
    """
    table = np.asarray(before_probability, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not 1 <= len(table) <= MAX_COUNTED:
        raise ParameterError(f"before_probability has shape {table.shape}; give (m, m) with m from 1 to {MAX_COUNTED}")
    m = len(table)
    i, p = np.triu_indices(m, k=1)
    both = np.stack([table[i, p], table[p, i]])
    if not ((both >= 0).all() and (np.abs(both.sum(axis=0) - 1) <= ROUNDING).all()):
        raise ParameterError("the two probabilities of a pair must be at least 0 and add up to 1; mend the table")
    orders = all_rankings(m)
    # The parts are the contiguous pieces a, ..., b-1 of the output, and only pairs with their pivot are compared.
    kept = table[orders[:, :, None], orders[:, None, :]]
    law = {(a, b): np.ones((factorial(m), 1)) for a in range(m + 1) for b in (a, a + 1) if b <= m}
    for length in range(2, m + 1):
        for a in range(m - length + 1):
            b = a + length
            total = np.zeros((factorial(m), comb(length, 2) + 1))
            for place in range(a, b):
                chance = kept[:, a:place, place].prod(axis=1) * kept[:, place, place + 1 : b].prod(axis=1)
                left, right = law[a, place], law[place + 1, b]
                for count in range(left.shape[1]):
                    first = length - 1 + count
                    total[:, first : first + right.shape[1]] += (chance * left[:, count])[:, None] * right
            law[a, b] = total / length
    counted = np.zeros((factorial(m), comb(m, 2) + 1))
    counted[:, : law[0, m].shape[1]] = law[0, m]
    return counted


def kwiksort_wrong_pairs(alternatives: int, flip: float) -> FloatArray:
    """Expected Kendall tau distance of KwikSort to the true order where every comparison errs independently.

    Parameters
    ----------
    alternatives : int
        m, at least 1.
    flip : float
        Probability in [0, 1] that a comparison contradicts the true order, the same for every pair.

    Returns
    -------
    ndarray of float64, shape (m + 1,)
        Entry s is the expectation for s items. Which items a part holds does not matter, only how many, so the
        recursion over the size of the part and the rank of its pivot is exact; O(m^2) time.

    Raises
    ------
    ParameterError
        When m or the probability is out of range.
    """
    m = alternatives
    if m < 1:
        raise ParameterError(f"the number of alternatives is {m!r}; give an integer of at least 1")
    if not 0 <= flip <= 1:
        raise ParameterError(f"flip is {flip!r}; give a probability")
    keep = 1 - flip
    wrong = np.zeros(m + 1)
    # Probability generating functions of the number of items before a pivot, summed over its ranks 0, ..., s-1.
    before = np.ones(1)
    beyond = np.ones(1)
    for size in range(2, m + 1):
        beyond = np.convolve(beyond, (keep, flip))
        before = np.convolve(before, (flip, keep)) + beyond
        below = np.arange(size)
        above = size - 1 - below
        same_side = (below * (below - 1) + above * (above - 1)) / 2
        split = flip * keep * same_side.sum() + flip**2 * (below * above).sum()
        parts = before @ (wrong[:size] + wrong[size - 1 :: -1])
        wrong[size] = (size - 1) * flip + (split + parts) / size
    return wrong
