"""Second-order marginals: the places of every two alternatives at once."""

from __future__ import annotations

import itertools
from functools import cache
from math import factorial, perm

import numpy as np
import numpy.typing as npt

from dpaudit.errors import ParameterError
from dpaudit.rankings.orders import (
    MAX_ENUMERATED,
    FloatArray,
    IntArray,
    all_rankings,
    alternative_pairs,
    check_rankings,
    invert,
    row_chunks,
)


def second_order_marginals(rankings: npt.ArrayLike) -> FloatArray:
    """Share of the rankings that place two alternatives at two given places.

    Parameters
    ----------
    rankings : array_like of int, shape (n, m), n >= 1, m >= 2

    Returns
    -------
    ndarray of float64, shape (m (m-1) / 2, m, m)
        Entry [p, s, t]: the first of the p-th pair of `alternative_pairs(m)` is at place s and the second at t.

    Raises
    ------
    DataError
        When a row is not a permutation.
    """
    rows = check_rankings(rankings)
    n, m = rows.shape
    pairs = alternative_pairs(m)
    totals = np.zeros((len(pairs), m * m))
    for piece in row_chunks(n, 4 * m):
        columns = np.ascontiguousarray(invert(rows[piece]).T)
        for number, (first, second) in enumerate(pairs.tolist()):
            totals[number] += np.bincount(columns[first] * m + columns[second], minlength=m * m)
    return np.asarray(totals.reshape(-1, m, m) / n)


def second_order_of_law(weights: npt.ArrayLike, m: int) -> FloatArray:
    """Second-order marginals of a law, or of any signed weights, on all m! rankings.

    Parameters
    ----------
    weights : array_like of float, shape (m!,)
        In lexicographic order of the rankings, as `all_rankings` has it.
    m : int
        Number of alternatives, 2 to 10.

    Returns
    -------
    ndarray of float64, shape (m (m-1) / 2, m, m)
        As `second_order_marginals`.

    Raises
    ------
    ParameterError
        When m is out of range or there are not m! weights.

    Notes
    -----
    Rankings are cut in two halves: for each set of alternatives in the first half, the weights are a matrix with a row
    for each order of the first half and a column for each order of the second, and two products give all marginals.
    """
    table = np.asarray(weights, dtype=float)
    if not 2 <= m <= MAX_ENUMERATED or table.shape != (factorial(m),):
        raise ParameterError(f"weights have shape {table.shape} for m = {m}; give m! of them, m from 2 to 10")
    width = m // 2
    first, second = _one_hot(width), _one_hot(m - width)
    sets, rows = _prefixes(m, width)
    grouped = table.reshape(-1, factorial(m - width))[rows]
    joint = np.zeros((m, m, m, m))  # alternative and place, twice
    early, late = np.arange(width), np.arange(width, m)
    for members, block in zip(sets, grouped, strict=True):
        rest = np.setdiff1d(np.arange(m), members)
        # One-hot matrices F and G: F^T diag(w) F within a half, F^T W G across.
        within = ((first * block.sum(axis=1)[:, None]).T @ first).reshape((width,) * 4)
        behind = ((second * block.sum(axis=0)[:, None]).T @ second).reshape((m - width,) * 4)
        across = (first.T @ block @ second).reshape(width, width, m - width, m - width)
        joint[np.ix_(members, early, members, early)] += within
        joint[np.ix_(rest, late, rest, late)] += behind
        joint[np.ix_(members, early, rest, late)] += across
        joint[np.ix_(rest, late, members, early)] += across.transpose(2, 3, 0, 1)
    pairs = alternative_pairs(m)
    return np.asarray(joint[pairs[:, 0], :, pairs[:, 1], :])


def variation_distances(found: npt.ArrayLike, true: npt.ArrayLike, axes: int) -> FloatArray:
    """Half the L1 distance of each marginal; the last ``axes`` axes are the cells of one marginal."""
    cells = tuple(range(-axes, 0))
    return np.asarray(np.abs(np.asarray(found, dtype=float) - np.asarray(true, dtype=float)).sum(axis=cells) / 2)


def _one_hot(m: int) -> FloatArray:
    """Which alternative is at which place, for all rankings of m alternatives: shape (m!, m * m)."""
    places = invert(all_rankings(m)) if m else np.zeros((1, 0), dtype=np.int64)
    return np.asarray((places[:, :, None] == np.arange(m)).reshape(len(places), m * m), dtype=float)


@cache
def _prefixes(m: int, width: int) -> tuple[IntArray, IntArray]:
    """Sets of the first `width` alternatives of a ranking, and the rows of their orders among all prefixes.

    Returns
    -------
    sets : shape (C(m, width), width)
    rows : shape (C(m, width), width!)
        Lexicographic index of each order of the set among the prefixes of that width.
    """
    prefixes = np.array(list(itertools.permutations(range(m), width)), dtype=np.int64).reshape(perm(m, width), width)
    masks = (1 << prefixes).sum(axis=1)
    rows = np.argsort(masks, kind="stable").reshape(-1, factorial(width))
    return np.sort(prefixes[rows[:, 0]], axis=1), rows
