"""Kemeny rankings: exact dynamic programme and certified integer programme."""

from dataclasses import dataclass
from itertools import combinations
from math import ceil, isfinite
from typing import Literal

import numpy as np
import numpy.typing as npt

from dpaudit.errors import DpauditError, ParameterError
from dpaudit.rankings.kendall import kendall_cost
from dpaudit.rankings.orders import FloatArray, IntArray, alternative_pairs, invert
from dpaudit.rankings.pairwise import check_counts
from dpaudit.rankings.subsets import level_sets, subset_bits

AUTO_DP = 14
MAX_DP = 18


@dataclass(frozen=True, slots=True)
class KemenyResult:
    """A ranking with its Kendall cost and a certified lower bound on the cost of every ranking.

    Examples
    --------
    >>> from dpaudit.rankings import kemeny, pairwise_counts
    >>> kemeny(pairwise_counts([[0, 1, 2], [0, 2, 1], [1, 0, 2]]))
    KemenyResult(ranking=(0, 1, 2), cost=2, lower_bound=2)
    """

    ranking: tuple[int, ...]
    cost: int
    lower_bound: int

    @property
    def optimal(self) -> bool:
        """Whether the bound proves the ranking optimal."""
        return self.cost == self.lower_bound


def kemeny(counts: npt.ArrayLike, *, method: Literal["auto", "dp", "milp"] = "auto", gap: float = 0.0) -> KemenyResult:
    """Find a ranking of least total Kendall tau distance to the agents.

    Parameters
    ----------
    counts : array_like of int, shape (m, m)
        Pairwise counts of the profile.
    method : {"auto", "dp", "milp"}
        Dynamic programme over subsets (m <= 18; auto uses it to m = 14) or `scipy.optimize.milp` on the ordering
        variables x_jl, j < l, with the triangle inequalities 0 <= x_jk + x_kl - x_jl <= 1.
    gap : float
        Relative gap in [0, 1) at which the integer programme may stop; the dynamic programme is always exact.

    Returns
    -------
    KemenyResult

    Raises
    ------
    DataError
        When `counts` is not a square matrix of non-negative integers.
    ParameterError
        When the method is unknown, the gap out of range or m too large for the method.
    DpauditError
        When the solver fails.

    Examples
    --------
    >>> from dpaudit.rankings import kemeny, pairwise_counts
    >>> found = kemeny(pairwise_counts([[0, 1, 2], [0, 2, 1], [1, 0, 2]]))
    >>> print(found.ranking, found.cost)
    (0, 1, 2) 2
    """
    table = check_counts(counts)
    m = len(table)
    if method not in ("auto", "dp", "milp"):
        raise ParameterError(f"method {method!r} is unknown; use 'auto', 'dp' or 'milp'")
    if not isfinite(gap) or not 0 <= gap < 1:
        raise ParameterError(f"gap is {gap!r}; give a number from 0 to below 1")
    if method == "dp" and m > MAX_DP:
        raise ParameterError(f"m is {m}; the dynamic programme takes at most {MAX_DP}, use method='milp'")
    if m == 1:
        return KemenyResult((0,), 0, 0)
    if method == "dp" or (method == "auto" and m <= AUTO_DP):
        ranking = _dynamic_programme(table)
        cost = int(kendall_cost(ranking, table))
        return KemenyResult(tuple(ranking.tolist()), cost, cost)
    ranking, dual = integer_programme(table.astype(np.float64), gap)
    bound = ceil(dual - 1e-6 - 1e-9 * abs(dual))
    cost = int(kendall_cost(ranking, table))
    pairwise_bound = int(np.minimum(table, table.T).sum()) // 2
    return KemenyResult(tuple(ranking.tolist()), cost, min(cost, max(bound, pairwise_bound)))


def _dynamic_programme(counts: IntArray) -> IntArray:
    """Least cost of ordering each subset, by the choice of its last member."""
    m = len(counts)
    bits = subset_bits(m)
    best = np.full(1 << m, np.iinfo(np.int64).max)
    best[0] = 0
    last = np.zeros(1 << m, dtype=np.int8)
    appended = [_subset_sums(row) for row in counts]
    for subsets in level_sets(m)[1:]:
        for item in range(m):
            holders = subsets[bits[subsets, item]]
            rest = holders ^ (1 << item)
            cost = best[rest] + appended[item][rest]
            better = cost < best[holders]
            best[holders[better]] = cost[better]
            last[holders[better]] = item
    ranking = np.empty(m, dtype=np.int64)
    mask = (1 << m) - 1
    for place in range(m - 1, -1, -1):
        ranking[place] = last[mask]
        mask ^= 1 << int(last[mask])
    return ranking


def _subset_sums(values: IntArray) -> IntArray:
    sums = np.zeros(1, dtype=np.int64)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums


def integer_programme(counts: FloatArray, gap: float) -> tuple[IntArray, float]:
    """Find a ranking of least cost by the integer programme of `kemeny`.

    Parameters
    ----------
    counts : ndarray of float64, shape (m, m)
        Entry [j, l] is the weight of those who prefer j to l.
    gap : float
        Relative gap at which the programme may stop.

    Returns
    -------
    ranking : ndarray of int64, shape (m,)
    bound : float
        Dual bound on the cost of every ranking.

    Raises
    ------
    DpauditError
        When the solver fails.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.rankings import integer_programme
    >>> counts = np.array([[0.0, 2.0, 3.0], [1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])
    >>> ranking, bound = integer_programme(counts, 0.0)
    >>> print(ranking, round(bound, 6))
    [0 1 2] 2.0
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    m = len(counts)
    pairs = alternative_pairs(m)
    ahead, behind = counts[pairs[:, 1], pairs[:, 0]], counts[pairs[:, 0], pairs[:, 1]]
    # the last variable is fixed at 1 and carries the constant, so that the relative gap is one of the Kendall cost
    objective = np.append(ahead - behind, behind.sum()).astype(np.float64)
    lower = np.append(np.zeros(len(pairs)), 1.0)
    constraints = []
    if m > 2:
        triples = np.array(list(combinations(range(m), 3)), dtype=np.int64)
        number = np.zeros((m, m), dtype=np.int64)
        number[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
        columns = np.stack([number[triples[:, a], triples[:, b]] for a, b in ((0, 1), (1, 2), (0, 2))], axis=1)
        rows = np.repeat(np.arange(len(triples)), 3)
        signs = np.tile([1.0, 1.0, -1.0], len(triples))
        matrix = csr_array((signs, (rows, columns.reshape(-1))), shape=(len(triples), len(objective)))
        constraints.append(LinearConstraint(matrix, 0, 1))
    result = milp(
        objective,
        integrality=np.ones(len(objective)),
        bounds=Bounds(lower, np.ones(len(objective))),
        constraints=constraints,
        options={"mip_rel_gap": gap},
    )
    if result.status != 0 or result.x is None:
        raise DpauditError(
            f"the integer programme for {m} alternatives failed: {result.message}; raise the gap or drop alternatives"
        )
    precedes = np.zeros((m, m), dtype=bool)
    first = np.rint(result.x[:-1]).astype(bool)
    precedes[pairs[:, 0], pairs[:, 1]] = first
    precedes[pairs[:, 1], pairs[:, 0]] = ~first
    places = precedes.sum(axis=0).astype(np.int64)
    if len(np.unique(places)) != m:
        raise DpauditError(f"the integer programme for {m} alternatives returned no ranking; use method='dp' or a gap")
    dual = result.fun if result.mip_dual_bound is None else result.mip_dual_bound
    return invert(places), float(dual)
