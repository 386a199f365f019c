"""One randomized bit of a projection onto signs: Hadamard and random matrices, and Hadamard response."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
import numpy.typing as npt

from dpaudit.errors import ParameterError
from dpaudit.laws import FiniteLaw
from dpaudit.messages import announces
from dpaudit.randomizers.oracle import FrequencyOracle, check_oracle, check_truths
from dpaudit.randomizers.randomized_response import RandomizedResponse


@lru_cache(maxsize=8)
def hadamard(order: int) -> npt.NDArray[np.int64]:
    """Sylvester's Hadamard matrix of +1 and -1, shape (order, order).

    Raises
    ------
    ParameterError
        The order is not a power of two.

    Examples
    --------
    >>> from dpaudit.randomizers import hadamard
    >>> hadamard(2)
    array([[ 1,  1],
           [ 1, -1]])
    """
    if order < 1 or order & (order - 1):
        raise ParameterError(f"a Hadamard matrix of Sylvester's kind has a power of two as its order, got {order}")
    matrix = np.ones((1, 1), dtype=np.int64)
    while len(matrix) < order:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    matrix.setflags(write=False)
    return matrix


@dataclass(frozen=True, slots=True, eq=False)
class SignProjection(FrequencyOracle):
    """Reports a uniformly random row of a public sign matrix and, by randomized response, the value's sign in it.

    Parameters
    ----------
    signs
        +1 and -1, shape (rows, k). The estimates are unbiased where the columns are orthogonal, as in ``hadamard``;
        with other matrices every value leaks into the others, see ``expectation``.
    epsilon
        Above 0, finite.

    References
    ----------
    Bassily and Smith, "Local, private, efficient protocols for succinct histograms", STOC 2015, with random signs;
    Nguyen et al., "Collecting and analyzing data from smart device users with local differential privacy", 2016.

    Examples
    --------
    >>> from dpaudit.randomizers import SignProjection
    >>> oracle = SignProjection.hadamard(4, 1.0)
    >>> oracle.signs.shape
    (4, 4)
    >>> round(oracle.response.epsilon, 4)
    1.0
    """

    signs: npt.NDArray[np.int64]
    epsilon: float

    def __post_init__(self) -> None:
        signs = np.array(self.signs, dtype=np.int64)
        if signs.ndim != 2 or not len(signs) or not (np.abs(signs) == 1).all():
            raise ParameterError(f"signs must be +1 and -1 of shape (rows, k), got shape {signs.shape}")
        check_oracle(signs.shape[1], self.epsilon)
        signs.setflags(write=False)
        object.__setattr__(self, "signs", signs)

    @classmethod
    def hadamard(cls, values: int, epsilon: float) -> Self:
        """The first k columns of the smallest Hadamard matrix that has so many."""
        check_oracle(values, epsilon)
        return cls(hadamard(1 << (values - 1).bit_length())[:, :values], epsilon)

    @classmethod
    def random(cls, values: int, epsilon: float, *, rows: int, rng: np.random.Generator) -> Self:
        """Independent fair signs."""
        return cls(2 * rng.integers(0, 2, (rows, values)) - 1, epsilon)

    @property
    def values(self) -> int:  # type: ignore[override]
        """Number of values k."""
        return int(self.signs.shape[1])

    @property
    def response(self) -> RandomizedResponse:
        """What a sign goes through."""
        return RandomizedResponse.for_epsilon(self.epsilon)

    @property
    def own(self) -> float:
        """e^epsilon / (e^epsilon + 1)."""
        return self.response.keep

    @property
    def other(self) -> float:
        """1/2, where the columns are orthogonal."""
        return 0.5

    @announces(lambda truths, rng: len(truths))
    def randomize(self, truths: npt.ArrayLike, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Row and sign, shape (n, 2)."""
        held = check_truths(truths, self.values)
        rows = rng.integers(0, len(self.signs), len(held))
        positive = self.response.randomize(self.signs[rows, held] > 0, rng)
        return np.stack([rows, np.where(positive, 1, -1)], axis=1)

    def supports(self, reports: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Count the reports whose sign each value has in the reported row."""
        totals = np.bincount(reports[:, 0], weights=reports[:, 1], minlength=len(self.signs))
        return np.asarray(np.rint(len(reports) + totals @ self.signs) / 2, dtype=np.int64)

    def law(self, value: int) -> FiniteLaw:
        """Law of row and sign."""
        rows = len(self.signs)
        outcomes = np.stack([np.repeat(np.arange(rows), 2), np.tile([1, -1], rows)], axis=1)
        true = np.repeat(self.signs[:, value], 2) == outcomes[:, 1]
        log_keep = -math.log1p(math.exp(-self.epsilon))
        return FiniteLaw(outcomes, np.where(true, log_keep, log_keep - self.epsilon) - math.log(rows))

    @announces(lambda counts, rng: np.sum(counts))
    def aggregate(self, counts: npt.ArrayLike, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Joint law: the users who hold a value spread over the rows, and in each row over the two signs."""
        held = np.asarray(counts, dtype=np.int64)
        rows = len(self.signs)
        spread = rng.multinomial(held, np.full(rows, 1 / rows))
        true = rng.binomial(spread, self.own)
        totals = ((2 * true - spread) * self.signs.T).sum(axis=0)
        return np.asarray((int(held.sum()) + totals @ self.signs) // 2)

    def expectation(self, frequencies: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Expected estimates, shape (k,), given all frequencies: those themselves where the columns are orthogonal."""
        return np.asarray(frequencies, dtype=float) @ self._overlaps()

    def variances(self, frequencies: npt.ArrayLike, users: int) -> npt.NDArray[np.float64]:
        """Exact variance of every estimate given this matrix, shape (k,), from all frequencies."""
        scale = 1 / (2 * self.own - 1) ** 2
        return np.asarray((scale - np.asarray(frequencies, dtype=float) @ self._overlaps() ** 2) / users)

    def _overlaps(self) -> npt.NDArray[np.float64]:
        return np.asarray(self.signs.T @ self.signs / len(self.signs))


@dataclass(frozen=True, slots=True)
class HadamardResponse(FrequencyOracle):
    """Reports a column of a Hadamard matrix, e^epsilon times as often one where the value's row is +1.

    Parameters
    ----------
    values
        Number of values k, at least 2; value v has row v + 1, for row 0 is constant.
    epsilon
        Above 0, finite.

    References
    ----------
    Acharya, Sun, Zhang, "Hadamard response: estimating distributions privately, efficiently, and with little
    communication", AISTATS 2019, the scheme for high privacy.

    Examples
    --------
    >>> from dpaudit.randomizers import HadamardResponse
    >>> oracle = HadamardResponse(5, 1.0)
    >>> oracle.order
    8
    >>> len(oracle.law(0).outcomes)
    8
    """

    values: int
    epsilon: float

    def __post_init__(self) -> None:
        check_oracle(self.values, self.epsilon)

    @property
    def order(self) -> int:
        """Columns: the smallest power of two above k."""
        return 1 << self.values.bit_length()

    @property
    def own(self) -> float:
        """e^epsilon / (e^epsilon + 1)."""
        return 1 / (1 + math.exp(-self.epsilon))

    @property
    def other(self) -> float:
        """1/2: two rows agree in half the columns."""
        return 0.5

    @announces(lambda truths, rng: len(truths))
    def randomize(self, truths: npt.ArrayLike, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Columns, shape (n, 1)."""
        held = check_truths(truths, self.values)
        columns = rng.integers(0, self.order, len(held))
        positive = RandomizedResponse.for_epsilon(self.epsilon).randomize(np.ones(len(held), bool), rng)
        wrong = (hadamard(self.order)[held + 1, columns] > 0) != positive
        # Flipping the lowest bit of v + 1 that is set moves a column to the other half, one to one.
        lowest = (held + 1) & -(held + 1)
        return np.where(wrong, columns ^ lowest, columns)[:, None]

    def supports(self, reports: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Count the reported columns in which each value's row is +1."""
        counts = np.bincount(reports[:, 0], minlength=self.order)
        return np.asarray((hadamard(self.order)[1 : self.values + 1] > 0) @ counts)

    def law(self, value: int) -> FiniteLaw:
        """Law of the column."""
        log_keep = -math.log1p(math.exp(-self.epsilon)) - math.log(self.order / 2)
        positive = hadamard(self.order)[value + 1] > 0
        return FiniteLaw(np.arange(self.order)[:, None], np.where(positive, log_keep, log_keep - self.epsilon))

    @announces(lambda counts, rng: np.sum(counts))
    def aggregate(self, counts: npt.ArrayLike, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Joint law: the users who hold a value spread over the columns."""
        held = np.asarray(counts, dtype=np.int64)
        signs = hadamard(self.order)[1 : self.values + 1] > 0
        chances = np.where(signs, self.own, 1 - self.own) / (self.order / 2)
        columns = rng.multinomial(held, chances / chances.sum(axis=1, keepdims=True)).sum(axis=0)
        return np.asarray(signs @ columns)
