"""Second-order marginals (Section IV-A): the places of every two alternatives at once."""

from __future__ import annotations

import itertools
from functools import cache
from math import factorial, perm

import numpy as np
import numpy.typing as npt

import dpaudit
from dpaudit import rankings

from .riffle import FloatArray, IntArray

MOST_ITEMS = 10
"""Most items of which all rankings are listed."""

_MOST_COUNTED = 6
"""Alternatives, at most, whose rankings are counted one by one: 720, where runs have thousands of users."""


def second_order_marginals(orders: npt.ArrayLike) -> FloatArray:
    """Share of the rankings that place two alternatives at two given places.

    Parameters
    ----------
    orders : array_like of int, shape (n, m), n >= 1, m >= 2
        Rankings, best first.

    Returns
    -------
    ndarray of float64, shape (m (m-1) / 2, m, m)
        Entry [p, s, t]: the first of the p-th pair of `alternative_pairs(m)` is at place s and the second at t.

    Raises
    ------
    DataError
        When a row is not a permutation.
    """
    places = rankings.positions(orders)
    n, m = places.shape
    columns = np.ascontiguousarray(places.T)
    counts = [
        np.bincount(columns[first] * m + columns[second], minlength=m * m)
        for first, second in rankings.alternative_pairs(m).tolist()
    ]
    return np.asarray(np.array(counts).reshape(-1, m, m) / n)


def second_order_of_indices(indices: IntArray, m: int) -> FloatArray:
    """As `second_order_marginals`, of rankings given by their lexicographic indices, as `ranking_index` numbers them.

    Few rankings are counted, and each count goes to the cells of its ranking; the numbers are the same.

    Parameters
    ----------
    indices : ndarray of int64, shape (n,), n >= 1
        Values 0 to m! - 1.
    m : int
        Number of alternatives, at least 2.
    """
    if m > _MOST_COUNTED:
        return second_order_marginals(rankings.ranking_at(indices, m))
    counts = np.bincount(indices, minlength=factorial(m))
    return np.asarray((_cells_of_rankings(m) @ counts).reshape(-1, m, m) / len(indices))


@cache
def _cells_of_rankings(m: int) -> FloatArray:
    """Which cells of the second-order marginals each ranking of m alternatives is in: shape (cells, m!)."""
    marginals = [second_order_marginals(order[None]).ravel() for order in rankings.all_rankings(m)]
    return np.ascontiguousarray(np.array(marginals).T)


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
    if not 2 <= m <= MOST_ITEMS or table.shape != (factorial(m),):
        raise dpaudit.ParameterError(f"weights have shape {table.shape} for m = {m}; give m! of them, m from 2 to 10")
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
    pairs = rankings.alternative_pairs(m)
    return np.asarray(joint[pairs[:, 0], :, pairs[:, 1], :])


def variation_distances(found: npt.ArrayLike, true: npt.ArrayLike, axes: int) -> FloatArray:
    """Half the L1 distance of each marginal; the last ``axes`` axes are the cells of one marginal."""
    cells = tuple(range(-axes, 0))
    return np.asarray(np.abs(np.asarray(found, dtype=float) - np.asarray(true, dtype=float)).sum(axis=cells) / 2)


def _one_hot(m: int) -> FloatArray:
    """Which alternative is at which place, for all rankings of m alternatives: shape (m!, m * m)."""
    places = rankings.positions(rankings.all_rankings(m)) if m else np.zeros((1, 0), dtype=np.int64)
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
