"""Pairwise comparison queries: which pairs of alternatives each agent is asked about."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dpaudit.errors import ParameterError
from dpaudit.rankings.orders import IntArray


def random_subsets(population: int, subset: int, size: int, rng: np.random.Generator) -> IntArray:
    """Draw uniformly random subsets by Floyd's algorithm, for all rows at once.

    Parameters
    ----------
    population, subset
        Subsets of {0, ..., population - 1} with ``subset`` elements, 0 <= subset <= population.
    size
        Number of subsets.

    Returns
    -------
    ndarray of int64, shape (size, subset)
        Every row ascending.

    Raises
    ------
    ParameterError
        The subset is larger than the population.

    References
    ----------
    Bentley and Floyd, "A sample of brilliance", Communications of the ACM 30(9), 1987.
    """
    if not 0 <= subset <= population:
        raise ParameterError(f"a subset of {subset} elements cannot be drawn from {population}")
    if subset == population:
        return np.tile(np.arange(population, dtype=np.int64), (size, 1))
    rows = np.empty((size, subset), dtype=np.int64)
    for taken, last in enumerate(range(population - subset, population)):
        drawn = rng.integers(0, last + 1, size)
        repeated = (rows[:, :taken] == drawn[:, None]).any(axis=1)
        rows[:, taken] = np.where(repeated, last, drawn)
    rows.sort(axis=1)
    return rows


def pair_tally(pairs: npt.ArrayLike, values: npt.ArrayLike, count: int) -> npt.NDArray[np.float64]:
    """Sum values by pair.

    Parameters
    ----------
    pairs, values
        Pair number and value of every answer, same shape.
    count
        Number of pairs.

    Returns
    -------
    ndarray of float64, shape (count,)
    """
    return np.asarray(np.bincount(np.ravel(pairs), weights=np.ravel(values), minlength=count), dtype=np.float64)


def margin_matrix(pair_margins: npt.ArrayLike, alternatives: int) -> npt.NDArray[np.float64]:
    """Antisymmetric matrix of margins from one margin per pair j < l, in the order of ``alternative_pairs``.

    Parameters
    ----------
    pair_margins
        Shape (..., C(m, 2)); positive where j is preferred to l.
    alternatives
        m.

    Returns
    -------
    ndarray of float64, shape (..., m, m)
    """
    values = np.asarray(pair_margins, dtype=float)
    j, l = np.triu_indices(alternatives, k=1)  # noqa: E741 - the paper's index
    matrix = np.zeros((*values.shape[:-1], alternatives, alternatives))
    matrix[..., j, l] = values
    matrix[..., l, j] = -values
    return matrix


def overload_probability(queries: int, sets: int, most: int) -> float:
    """Exact probability that one of several sets of agents is assigned more than ``most`` of the queries.

    Parameters
    ----------
    queries
        Number of queries, at least 0, each assigned to a uniformly random set.
    sets
        Number of sets, at least 1.
    most
        Queries that a set may get, at least 0.

    Returns
    -------
    float
        O(queries^2 log sets) time. The numbers of queries are independent Poisson variables given their sum; sets are
        joined by doubling, those with an overloaded one among them apart, so that only positive numbers are added and
        a small probability keeps its digits.

    Raises
    ------
    ParameterError
        A number is out of range.
    """
    if queries < 0 or sets < 1 or most < 0:
        raise ParameterError(f"{queries} queries to {sets} sets, at most {most} each: out of range")
    from scipy.stats import poisson

    if most >= queries:
        return 0.0
    loads = np.arange(queries + 1)
    one = poisson.pmf(loads, queries / sets)
    calm, full = np.where(loads <= most, one, 0.0), np.where(loads > most, one, 0.0)

    def join(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        conv = [np.convolve(x, y)[: queries + 1] for x, y in ((a[0], b[0]), (a[1], b[0] + b[1]), (a[0], b[1]))]
        return conv[0], conv[1] + conv[2]

    empty = np.zeros(queries + 1)
    empty[0] = 1.0
    total, power = (empty, np.zeros(queries + 1)), (calm, full)
    left = sets
    while left:
        if left & 1:
            total = join(total, power)
        left >>= 1
        if left:
            power = join(power, power)
    return float(total[1][queries] / (total[0][queries] + total[1][queries]))
