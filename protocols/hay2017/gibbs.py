"""Gibbs laws of rankings, P(ranking) ~ exp(-beta cost), by dynamic programmes over subsets."""

from dataclasses import dataclass, field
from math import isfinite

import numpy as np
import numpy.typing as npt

from dpaudit import DataError, ParameterError
from dpaudit.rankings import all_rankings, check_rankings, level_sets, row_chunks, subset_bits

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

MAX_GIBBS = 18
MAX_LISTED = 8


@dataclass(frozen=True, slots=True, eq=False)
class Gibbs:
    """Law of rankings with P(ranking) proportional to exp(-beta cost), the cost a sum over pairs as Kendall tau's is.

    Of the items that are left, the first pays for its pairs with all the others; so the least cost, the partition
    function and the expected cost follow by recursion over subsets, in O(m 2^m) time and memory instead of m!.

    Parameters
    ----------
    weights : array_like of float, shape (m, m), m <= 18
        A ranking that puts j before l pays weights[l, j]: for pairwise counts that is the number of agents who
        disagree. The diagonal is not read.
    beta : float
        Inverse temperature, at least 0: 0 is the uniform law.

    Attributes
    ----------
    optimum : float
        Least cost of a ranking.
    log_partition : float
        log of the sum over all rankings of exp(-beta (cost - optimum)), from 0 to log m!.
    expected_excess : float
        Expected cost less the optimum; a sum of terms of one sign, so it keeps its relative accuracy however small.

    Raises
    ------
    DataError
        When the weights are not a square matrix of finite numbers.
    ParameterError
        When beta is out of range or m > 18.
    """

    weights: FloatArray
    beta: float
    optimum: float = field(init=False)
    log_partition: float = field(init=False)
    expected_excess: float = field(init=False)
    _excess_weights: FloatArray = field(init=False, repr=False)
    _least: float = field(init=False, repr=False)
    _log_choice: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        weights = _square(self.weights)
        if isinstance(self.beta, bool) or not isfinite(self.beta) or self.beta < 0:
            raise ParameterError(f"beta is {self.beta!r}; give a finite number of at least 0")
        unavoidable = np.minimum(weights, weights.T)
        excess_weights = weights - unavoidable
        least, log_partition, expected, log_choice = _programme(excess_weights, float(self.beta))
        for array in (weights, excess_weights, log_choice):
            array.setflags(write=False)
        values = {
            "weights": weights,
            "beta": float(self.beta),
            "optimum": float(unavoidable.sum()) / 2 + least,
            "log_partition": log_partition,
            "expected_excess": expected,
            "_excess_weights": excess_weights,
            "_least": least,
            "_log_choice": log_choice,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def alternatives(self) -> int:
        """Number of alternatives m."""
        return len(self.weights)

    @property
    def expected_cost(self) -> float:
        """Expected cost of a ranking drawn from the law."""
        return self.optimum + self.expected_excess

    def excess(self, rankings: npt.ArrayLike) -> FloatArray:
        """Cost of rankings less the least cost.

        Parameters
        ----------
        rankings : array_like of int, shape (..., m)

        Returns
        -------
        ndarray of float64, shape (...)

        Raises
        ------
        DataError
            When a row is not a permutation of the m alternatives.
        """
        rows = check_rankings(rankings)
        m = rows.shape[-1]
        if m != self.alternatives:
            raise DataError(f"rankings of {m} alternatives under a law of {self.alternatives}; give the same number")
        flat = rows.reshape(-1, m)
        excess = np.full(len(flat), -self._least)
        for piece in row_chunks(len(flat), m):
            for place in range(m - 1):
                later = self._excess_weights[flat[piece, place + 1 :], flat[piece, place, None]]
                excess[piece] += later.sum(axis=-1)
        return excess.reshape(rows.shape[:-1])

    def log_pmf(self, rankings: npt.ArrayLike) -> FloatArray:
        """Log-probabilities of rankings: -beta (cost - optimum) - log_partition.

        Parameters
        ----------
        rankings : array_like of int, shape (..., m)

        Returns
        -------
        ndarray of float64, shape (...)

        Raises
        ------
        DataError
            When a row is not a permutation of the m alternatives.
        """
        return np.asarray(-self.beta * self.excess(rankings) - self.log_partition, dtype=np.float64)

    def log_law(self) -> FloatArray:
        """Log-probabilities of all rankings.

        Returns
        -------
        ndarray of float64, shape (m!,)
            In the order of `all_rankings(m)`.

        Raises
        ------
        ParameterError
            When m > 8.
        """
        if self.alternatives > MAX_LISTED:
            raise ParameterError(f"m is {self.alternatives}; the law is listed up to m = {MAX_LISTED}, use log_pmf")
        return self.log_pmf(all_rankings(self.alternatives))

    def sample(self, size: int, rng: np.random.Generator) -> IntArray:
        """Draw rankings exactly, from the first place to the last.

        Parameters
        ----------
        size : int
            Number of rankings, at least 0.
        rng : numpy.random.Generator

        Returns
        -------
        ndarray of int64, shape (size, m)

        Raises
        ------
        ParameterError
            When size is negative or no integer.
        """
        if isinstance(size, bool) or size != int(size) or size < 0:
            raise ParameterError(f"size is {size!r}; give an integer of at least 0")
        m = self.alternatives
        rankings = np.empty((size, m), dtype=np.int64)
        for piece in row_chunks(size, m):
            part = rankings[piece]
            left = np.full(len(part), (1 << m) - 1)
            for place in range(m):
                law = np.cumsum(np.exp(self._log_choice[left]), axis=1)
                # An item that is not left adds nothing, so it is never the first to exceed the uniform number.
                part[:, place] = (law > (rng.random(len(part)) * law[:, -1])[:, None]).argmax(axis=1)
                left ^= 1 << part[:, place]
        return rankings


def _square(weights: npt.ArrayLike) -> FloatArray:
    array = np.array(weights, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.size == 0:
        raise DataError(f"weights have shape {array.shape}; give a square matrix (m, m)")
    if len(array) > MAX_GIBBS:
        raise ParameterError(
            f"m is {len(array)}; the Gibbs law of rankings is computed over 2^m subsets up to m = {MAX_GIBBS}"
        )
    np.fill_diagonal(array, 0.0)
    if not np.isfinite(array).all():
        l, j = np.argwhere(~np.isfinite(array))[0]  # noqa: E741
        raise DataError(f"the weight [{l}, {j}] is {array[l, j]}; give finite numbers")
    return array


def _programme(weights: FloatArray, beta: float) -> tuple[float, float, float, FloatArray]:
    """Least cost, log-partition function, expected excess, and log-probabilities of the next item.

    The table of the last has shape (2^m, m): row `mask`, column i is the log-probability that i comes next when the
    items of the mask are left. Costs count from the least cost of each subset, so that nothing is lost to
    cancellation at a large beta.
    """
    m = len(weights)
    bits = subset_bits(m)
    paid = bits.astype(np.float64) @ weights
    least, log_z, expected = (np.zeros(1 << m) for _ in range(3))
    log_choice = np.full((1 << m, m), -np.inf)
    items = np.arange(m)
    for level in level_sets(m)[1:]:
        for piece in row_chunks(len(level), m):
            subsets = level[piece]
            holds, rest = bits[subsets], subsets[:, None] ^ (1 << items)
            cost = np.where(holds, paid[rest, items] + least[rest], np.inf)
            least[subsets] = cost.min(axis=1)
            regret = np.where(holds, cost - least[subsets][:, None], 0.0)
            score = np.where(holds, log_z[rest] - beta * regret, -np.inf)
            log_z[subsets] = np.logaddexp.reduce(score, axis=1)
            log_choice[subsets] = score - log_z[subsets][:, None]
            expected[subsets] = (np.exp(log_choice[subsets]) * (regret + expected[rest])).sum(axis=1)
    return float(least[-1]), float(log_z[-1]), float(expected[-1]), log_choice
