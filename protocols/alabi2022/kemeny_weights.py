"""Kemeny rankings of real-valued pairwise weights, such as noisy ones: one at a time, or many at once."""

from dataclasses import dataclass
from math import isfinite
from typing import Literal

import numpy as np
import numpy.typing as npt

from dpaudit import DataError, ParameterError
from dpaudit.rankings import integer_programme, level_sets, row_chunks, subset_bits

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

MAX_BATCH_DP = 14
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class WeightedKemeny:
    """A ranking with its cost and a certified lower bound on the cost of every ranking."""

    ranking: tuple[int, ...]
    cost: float
    lower_bound: float

    @property
    def ratio(self) -> float:
        """Certified approximation ratio: cost over the lower bound, 1 where both are 0."""
        if self.cost == self.lower_bound:
            return 1.0
        return self.cost / self.lower_bound if self.lower_bound > 0 else float("inf")


def weighted_cost(ranking: npt.ArrayLike, weights: npt.ArrayLike) -> FloatArray:
    """Cost of rankings: the sum of weights[l, j] over the pairs that a ranking puts j before l.

    Parameters
    ----------
    ranking : array_like of int, shape (..., m)
        Valid rankings, best first.
    weights : array_like of float, shape (m, m) or (..., m, m)
        Entry [j, l] is the weight of those who prefer j to l.

    Returns
    -------
    ndarray of float64, shape (...)
    """
    rows, table = np.asarray(ranking), np.asarray(weights, dtype=np.float64)
    placed = np.take_along_axis(np.broadcast_to(table, (*rows.shape, rows.shape[-1])), rows[..., :, None], axis=-2)
    placed = np.take_along_axis(placed, rows[..., None, :], axis=-1)
    return np.asarray(np.tril(placed, k=-1).sum(axis=(-2, -1)), dtype=np.float64)


def kemeny_weighted(
    weights: npt.ArrayLike, *, method: Literal["auto", "dp", "milp"] = "auto", gap: float = 0.0
) -> WeightedKemeny:
    """Find a ranking of least cost for real-valued pairwise weights.

    Parameters
    ----------
    weights : array_like of float, shape (m, m)
        Entry [j, l] is the weight of those who prefer j to l: finite, at least 0, zeros on the diagonal.
    method : {"auto", "dp", "milp"}
        As for `dpaudit.rankings.kemeny`.
    gap : float
        Relative gap in [0, 1) at which the integer programme may stop: cost - lower_bound <= gap * cost, so that the
        cost is at most 1 / (1 - gap) times the least one.

    Returns
    -------
    WeightedKemeny
        By the dynamic programme the bound is the cost, which rounding may leave 1e-12 above the least one.

    Raises
    ------
    DataError
        When the weights are no such matrix.
    ParameterError
        When the method is unknown, the gap out of range or m too large for the method.
    DpauditError
        When the solver fails.
    """
    table = _checked(weights)
    if table.ndim != 2:
        raise DataError(f"weights have shape {table.shape}; give one matrix (m, m), or call kemeny_rankings")
    m = len(table)
    if method not in ("auto", "dp", "milp"):
        raise ParameterError(f"method {method!r} is unknown; use 'auto', 'dp' or 'milp'")
    if not isfinite(gap) or not 0 <= gap < 1:
        raise ParameterError(f"gap is {gap!r}; give a number from 0 to below 1")
    if method == "dp" and m > MAX_BATCH_DP:
        raise ParameterError(f"m is {m}; the dynamic programme takes at most {MAX_BATCH_DP}, use method='milp'")
    if m == 1:
        return WeightedKemeny((0,), 0.0, 0.0)
    if method == "dp" or (method == "auto" and m <= MAX_BATCH_DP):
        ranking = _dynamic_programme(table[None])[0]
        cost = float(weighted_cost(ranking, table))
        return WeightedKemeny(tuple(ranking.tolist()), cost, cost)
    ranking, dual = integer_programme(table, gap)
    cost = float(weighted_cost(ranking, table))
    pairwise = float(np.triu(np.minimum(table, table.T), k=1).sum()) * (1 - 1e-12)
    bound = max(dual - _ROUNDING * max(1.0, abs(dual)), pairwise)
    return WeightedKemeny(tuple(ranking.tolist()), cost, min(cost, bound))


def kemeny_rankings(weights: npt.ArrayLike, rng: np.random.Generator, *, gap: float = 0.0) -> IntArray:
    """Kemeny rankings of many weight matrices, all alternatives treated alike.

    The alternatives get random labels before each matrix is solved, so that ties do not follow the labels; where three
    alternatives form a perfect cycle each of the three best rankings has probability 1/3.

    Parameters
    ----------
    weights : array_like of float, shape (B, m, m)
        As for `kemeny_weighted`.
    rng : numpy.random.Generator
    gap : float
        As for `kemeny_weighted`; read beyond m = 14 only, up to where the rankings are exact.

    Returns
    -------
    ndarray of int64, shape (B, m)
        Best first.

    Raises
    ------
    DataError
        When the weights are no such matrices.
    ParameterError
        When the gap is out of range.
    DpauditError
        When the solver fails.
    """
    table = _checked(weights)
    if table.ndim != 3:
        raise DataError(f"weights have shape {table.shape}; give (B, m, m)")
    runs, m = table.shape[:2]
    labels = rng.permuted(np.tile(np.arange(m), (runs, 1)), axis=1)
    rankings = np.empty((runs, m), dtype=np.int64)
    for piece in row_chunks(runs, m << min(m, MAX_BATCH_DP)):
        names = labels[piece]
        renamed = np.take_along_axis(table[piece], names[:, :, None], axis=1)
        renamed = np.take_along_axis(renamed, names[:, None, :], axis=2)
        if m <= MAX_BATCH_DP:
            found = _dynamic_programme(renamed)
        else:
            found = np.array([kemeny_weighted(one, method="milp", gap=gap).ranking for one in renamed])
        rankings[piece] = np.take_along_axis(names, found, axis=1)
    return rankings


def _checked(weights: npt.ArrayLike) -> FloatArray:
    table = np.asarray(weights)
    if table.dtype.kind not in "iuf":
        raise DataError(f"weights hold values of type {table.dtype}; give numbers")
    if table.ndim not in (2, 3) or table.shape[-1] != table.shape[-2] or table.shape[-1] == 0:
        raise DataError(f"weights have shape {table.shape}; give square matrices (m, m) or (B, m, m)")
    values = table.astype(np.float64)
    if not np.isfinite(values).all() or (values < 0).any():
        raise DataError("a weight is below 0 or not finite; clip noisy weights before ranking by them")
    if np.diagonal(values, axis1=-2, axis2=-1).any():
        raise DataError("the diagonal of the weights is not 0; an alternative is not preferred to itself")
    return values


def _dynamic_programme(tables: FloatArray) -> IntArray:
    """Least cost of ordering each subset, by the choice of its last member, for all tables (B, m, m) at once."""
    runs, m = tables.shape[:2]
    bits = subset_bits(m)
    best = np.full((1 << m, runs), np.inf)
    best[0] = 0.0
    last = np.zeros((1 << m, runs), dtype=np.int8)
    appended = [_subset_sums(tables[:, item].T) for item in range(m)]
    for subsets in level_sets(m)[1:]:
        for item in range(m):
            holders = subsets[bits[subsets, item]]
            rest = holders ^ (1 << item)
            cost = best[rest] + appended[item][rest]
            current = best[holders]
            better = cost < current
            best[holders] = np.where(better, cost, current)
            last[holders] = np.where(better, np.int8(item), last[holders])
    rankings = np.empty((runs, m), dtype=np.int64)
    mask = np.full(runs, (1 << m) - 1)
    for place in range(m - 1, -1, -1):
        rankings[:, place] = last[mask, np.arange(runs)]
        mask ^= 1 << rankings[:, place]
    return rankings


def _subset_sums(values: FloatArray) -> FloatArray:
    sums = np.zeros((1, values.shape[1]))
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums
