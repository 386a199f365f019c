"""The Mallows model of rankings."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, inf, isfinite, log
from typing import Literal

import numpy as np
import numpy.typing as npt

from dpaudit.errors import DataError, ParameterError
from dpaudit.rankings.kendall import kendall_tau
from dpaudit.rankings.orders import FloatArray, IntArray, as_positive_int, check_rankings, invert, row_chunks

_CACHED = 128
"""Width of a row for which pieces of the places stay in a processor's cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Mallows:
    """Mallows model: P(ranking) proportional to phi^(Kendall tau distance to the centre).

    Parameters
    ----------
    centre : array_like of int, shape (m,)
        The most likely ranking.
    phi : float
        Dispersion in [0, 1]: 0 is a point mass at the centre, 1 the uniform law.

    Raises
    ------
    DataError
        When the centre is not one ranking.
    ParameterError
        When phi is outside [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.rankings import Mallows
    >>> model = Mallows([0, 1, 2], 0.5)
    >>> round(float(np.exp(model.log_pmf([0, 1, 2]))), 4)
    0.381
    >>> model.sample(4, np.random.default_rng(1)).shape
    (4, 3)
    """

    centre: IntArray
    phi: float

    def __post_init__(self) -> None:
        centre = np.array(check_rankings(self.centre))
        if centre.ndim != 1:
            raise DataError(f"the centre has shape {centre.shape}; give one ranking of shape (m,)")
        phi = _number(self.phi, "phi")
        if not 0 <= phi <= 1:
            raise ParameterError(f"phi is {self.phi!r}; give a number from 0 (point mass) to 1 (uniform)")
        centre.setflags(write=False)
        object.__setattr__(self, "centre", centre)
        object.__setattr__(self, "phi", phi)

    @classmethod
    def from_dispersion(
        cls, theta: float, convention: Literal["yan", "permallows"] = "yan", *, centre: npt.ArrayLike
    ) -> "Mallows":
        """Build the model from the parameter theta of another source.

        Parameters
        ----------
        theta : float
            "yan" (Yan, Li, Liu 2020): phi = 1 - theta, theta in [0, 1].
            "permallows" (R package PerMallows): phi = exp(-theta), theta >= 0.
        convention : {"yan", "permallows"}
        centre : array_like of int, shape (m,)

        Returns
        -------
        Mallows

        Raises
        ------
        ParameterError
            When the convention is unknown or theta out of its range.
        """
        value = _number(theta, "theta")
        if convention == "yan":
            if not 0 <= value <= 1:
                raise ParameterError(f"theta is {theta!r}; the convention 'yan' takes 0 (uniform) to 1 (point mass)")
            phi = 1 - value
        elif convention == "permallows":
            if value < 0:
                raise ParameterError(f"theta is {theta!r}; the convention 'permallows' takes 0 (uniform) and above")
            phi = exp(-value)
        else:
            raise ParameterError(f"convention {convention!r} is unknown; use 'yan' or 'permallows'")
        return cls(np.asarray(centre), phi)

    @property
    def alternatives(self) -> int:
        """Number of alternatives m."""
        return len(self.centre)

    def log_pmf(self, rankings: npt.ArrayLike) -> FloatArray:
        """Return log-probabilities: d log(phi) minus the log of the product of (1 + phi + ... + phi^(i-1)).

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
        distance = kendall_tau(rankings, self.centre)
        log_normaliser = float(np.log(np.cumsum(self._powers(self.alternatives))).sum())
        if self.phi == 0:
            return np.where(distance == 0, 0.0, -inf)
        return np.asarray(distance * log(self.phi) - log_normaliser, dtype=np.float64)

    def expected_distance(self) -> float:
        """Return the expected Kendall tau distance to the centre.

        Returns
        -------
        float
            Sum over i of the mean of the i-th insertion, phi^k on k = 0..i-1 up to scale.
        """
        powers = self._powers(self.alternatives)
        return float((np.cumsum(np.arange(self.alternatives) * powers) / np.cumsum(powers)).sum())

    def pairwise_probability(self) -> FloatArray:
        """Return the probability that one alternative is preferred to another.

        Returns
        -------
        ndarray of float64, shape (m, m)
            Entry [j, l]: probability that j is preferred to l; the diagonal is 0. For j ahead of l by d places in the
            centre it is h(d+1) - h(d) with h(k) = k / (1 - phi^k) (Mallows 1957), evaluated here as
            sum_{s<d} (s+1) phi^s / (S_d S_{d+1}), S_k = 1 + ... + phi^(k-1), which has no cancellation.
        """
        m = self.alternatives
        ahead, behind = np.zeros(m), np.zeros(m)
        powers = self._powers(m)
        sums = np.cumsum(powers)
        weighted = np.cumsum(np.arange(1, m + 1) * powers)
        for d in range(1, m):
            scale = sums[d - 1] * sums[d]
            ahead[d] = weighted[d - 1] / scale
            behind[d] = powers[d] * (np.arange(d, 0, -1) * powers[:d]).sum() / scale
        places = invert(self.centre)
        gap = places[None, :] - places[:, None]
        return np.asarray(np.where(gap > 0, ahead[np.abs(gap)], behind[np.abs(gap)]), dtype=np.float64)

    def sample(self, size: int, rng: np.random.Generator) -> IntArray:
        """Draw rankings by repeated insertion (Doignon, Pekec, Regenwetter 2004).

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
        size = as_positive_int(size, "size", least=0)
        m = self.alternatives
        cumulative = np.cumsum(self._powers(m))
        # One row for each alternative, of the smallest type: the comparisons below are what takes the time.
        places = np.zeros((m, size), dtype=np.min_scalar_type(m))
        for item in range(1, m):
            law = cumulative[: item + 1] / cumulative[item]
            place = item - np.searchsorted(law, rng.random(size), side="right")
            np.copyto(places[item], place, casting="unsafe")
            for piece in row_chunks(size, _CACHED):
                earlier = places[:item, piece]
                earlier += earlier >= places[item, piece]
        rankings = np.empty((size, m), dtype=np.int64)
        run = np.arange(size)
        for alternative, place in zip(self.centre, places, strict=True):
            rankings[run, place] = alternative
        return rankings

    def sample_chunks(self, size: int, rng: np.random.Generator, chunk: int = 65536) -> Iterator[IntArray]:
        """Draw `size` rankings in pieces of at most `chunk`, so that memory stays bounded.

        Parameters
        ----------
        size : int
            Number of rankings, at least 0.
        rng : numpy.random.Generator
        chunk : int
            Largest piece, at least 1.

        Returns
        -------
        iterator of ndarray of int64, shape (<= chunk, m)

        Raises
        ------
        ParameterError
            When size or chunk is out of range.
        """
        total, step = as_positive_int(size, "size", least=0), as_positive_int(chunk, "chunk")
        return (self.sample(min(step, total - start), rng) for start in range(0, total, step))

    def _powers(self, length: int) -> FloatArray:
        return np.power(self.phi, np.arange(length), dtype=np.float64)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mallows):
            return NotImplemented
        return self.phi == other.phi and np.array_equal(self.centre, other.centre)

    def __hash__(self) -> int:
        return hash((self.centre.tobytes(), self.phi))


def _number(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ParameterError(f"{what} is {value!r}; give a number")
    if not isfinite(value):
        raise ParameterError(f"{what} is {value!r}; give a finite number")
    return float(value)
