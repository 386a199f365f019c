"""Preference profiles: rankings with the number of agents that hold each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpaudit.errors import DataError, ParameterError
from dpaudit.rankings.orders import (
    MAX_INDEXED,
    IntArray,
    all_rankings,
    alternative_pairs,
    as_positive_int,
    check_rankings,
    integer_array,
    lehmer_index,
    pair_index,
    positions,
    ranking_at,
    ranking_index,
    row_chunks,
)

__all__ = [
    "Profile",
    "all_rankings",
    "alternative_pairs",
    "check_rankings",
    "pair_index",
    "positions",
    "ranking_at",
    "ranking_index",
]

_HYPERGEOMETRIC_LIMIT = 10**9


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """The rankings of n agents over m alternatives; agents are anonymous, so equality is of multisets.

    Parameters
    ----------
    orders : array_like of int, shape (d, m)
        Rankings, best first, 0-based; they need not be distinct.
    counts : array_like of int, shape (d,)
        Number of agents who hold each ranking, at least 1.
    names : sequence of str, length m, optional
        Names of the alternatives; "0", "1", ... when left out.

    Raises
    ------
    DataError
        When a row is not a permutation, a count is not positive or a shape does not fit.

    Examples
    --------
    >>> from dpaudit.rankings import Profile
    >>> profile = Profile([[0, 1, 2], [2, 1, 0]], [3, 1])
    >>> profile.counts
    array([3, 1])
    >>> profile == Profile([[2, 1, 0], [0, 1, 2], [0, 1, 2]], [1, 1, 2])
    True
    """

    orders: IntArray
    counts: IntArray
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        shape = np.shape(integer_array(self.orders, "orders"))
        if len(shape) != 2 or 0 in shape:
            raise DataError(f"orders have shape {shape}; give (d, m) with at least one ranking and one alternative")
        orders = np.array(check_rankings(self.orders), order="C")
        counts = np.array(integer_array(self.counts, "counts"), dtype=np.int64)
        if counts.shape != (len(orders),):
            raise DataError(f"counts have shape {counts.shape} for {len(orders)} orders; give one count per order")
        if counts.min() < 1:
            row = int(np.argmax(counts < 1))
            raise DataError(f"row {row}: the count is {counts[row]}; give at least 1 or leave the row out")
        if isinstance(self.names, str):
            raise DataError("names is one string; give a sequence of one name per alternative")
        names = tuple(self.names) or tuple(str(j) for j in range(orders.shape[1]))
        if len(names) != orders.shape[1] or not all(isinstance(name, str) for name in names):
            raise DataError(f"{len(names)} names for {orders.shape[1]} alternatives; give one string per alternative")
        orders.setflags(write=False)
        counts.setflags(write=False)
        object.__setattr__(self, "orders", orders)
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "names", names)

    @classmethod
    def from_rankings(cls, rankings: npt.ArrayLike, names: Sequence[str] | None = None) -> "Profile":
        """Build a profile from one ranking per agent, equal rankings merged, in lexicographic order.

        Parameters
        ----------
        rankings : array_like of int, shape (n, m)
        names : sequence of str, length m, optional

        Returns
        -------
        Profile

        Raises
        ------
        DataError
            When a row is not a permutation or the shape is not (n, m).
        """
        rows = check_rankings(rankings)
        if rows.ndim != 2 or len(rows) == 0:
            raise DataError(f"rankings have shape {rows.shape}; give (n, m) with at least one ranking")
        orders, counts = _merge(rows, np.ones(len(rows), dtype=np.int64))
        return cls(orders, counts, () if names is None else tuple(names))

    @property
    def agents(self) -> int:
        """Number of agents n."""
        return int(self.counts.sum())

    @property
    def alternatives(self) -> int:
        """Number of alternatives m."""
        return int(self.orders.shape[1])

    def rankings(self) -> IntArray:
        """One ranking per agent, in the order of `orders`.

        Returns
        -------
        ndarray of int64, shape (n, m)
        """
        return np.repeat(self.orders, self.counts, axis=0)

    def relabelled(self, permutation: npt.ArrayLike) -> "Profile":
        """Return the profile in which alternative j is called permutation[j].

        Parameters
        ----------
        permutation : array_like of int, shape (m,)

        Returns
        -------
        Profile
            Names move along with their alternatives.

        Raises
        ------
        DataError
            When `permutation` is not a permutation of the m alternatives.
        """
        new = check_rankings(permutation)
        if new.shape != (self.alternatives,):
            raise DataError(f"the permutation has shape {new.shape}; give ({self.alternatives},)")
        names = [""] * self.alternatives
        for old, name in enumerate(self.names):
            names[new[old]] = name
        return Profile(new[self.orders], self.counts, tuple(names))

    def subsample(self, size: int, rng: np.random.Generator) -> "Profile":
        """Draw agents uniformly without replacement.

        Parameters
        ----------
        size : int
            Number of agents to draw, 1 to n.
        rng : numpy.random.Generator

        Returns
        -------
        Profile

        Raises
        ------
        ParameterError
            When the size is out of range or the profile has 10^9 agents or more.
        """
        size = as_positive_int(size, "size")
        if size > self.agents:
            raise ParameterError(f"size is {size} but the profile has {self.agents} agents; draw at most that many")
        if self.agents >= _HYPERGEOMETRIC_LIMIT:
            raise ParameterError(f"the profile has {self.agents} agents; subsampling takes fewer than 10^9")
        drawn = rng.multivariate_hypergeometric(self.counts, size, method="marginals")
        kept = drawn > 0
        return Profile(self.orders[kept], drawn[kept], self.names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Profile):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def _content(self) -> tuple[tuple[str, ...], bytes, bytes]:
        orders, counts = _merge(self.orders, self.counts)
        return self.names, orders.tobytes(), counts.tobytes()


def _merge(rows: IntArray, weights: IntArray) -> tuple[IntArray, IntArray]:
    m = rows.shape[1]
    if m <= MAX_INDEXED:
        index = np.empty(len(rows), dtype=np.int64)
        for piece in row_chunks(*rows.shape):
            index[piece] = lehmer_index(rows[piece])
        distinct, inverse = np.unique(index, return_inverse=True)
        orders = ranking_at(distinct, m)
    else:
        orders, inverse = np.unique(rows, axis=0, return_inverse=True)
    totals = np.zeros(len(orders), dtype=np.int64)
    np.add.at(totals, inverse.reshape(-1), weights)
    return orders, totals
