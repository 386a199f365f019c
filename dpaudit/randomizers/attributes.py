"""Frequencies of many attributes, each user asked about one of them that is drawn at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dpaudit.errors import ParameterError
from dpaudit.laws import FiniteLaw
from dpaudit.messages import announces
from dpaudit.randomizers.generalized import generalized_response
from dpaudit.randomizers.oracle import check_oracle
from dpaudit.randomizers.projection import hadamard

Projection = Literal["hadamard", "random"]


@dataclass(frozen=True, slots=True, eq=False)
class SampledResponse:
    """One attribute of the user, drawn uniformly, by generalised randomized response (SAFA).

    Parameters
    ----------
    sizes
        Domain size m_j of every attribute, at least 2 each.
    epsilon
        Above 0, finite.

    References
    ----------
    Yang, Cheng, Su, Chen, Ren, Liu, "Collecting preference rankings under local differential privacy", ICDE 2019,
    Algorithms 1 and 2.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.randomizers import SampledResponse
    >>> collection = SampledResponse(np.array([2, 4]), np.log(3))
    >>> collection.own.round(4)
    array([0.75, 0.5 ])
    >>> collection.other.round(4)
    array([0.25  , 0.1667])
    """

    sizes: npt.NDArray[np.int64]
    epsilon: float

    def __post_init__(self) -> None:
        sizes = np.array(self.sizes, dtype=np.int64)
        if sizes.ndim != 1 or not len(sizes):
            raise ParameterError(f"sizes must be one domain size per attribute, got {self.sizes}")
        check_oracle(int(sizes.min()), self.epsilon)
        sizes.setflags(write=False)
        object.__setattr__(self, "sizes", sizes)

    @property
    def attributes(self) -> int:
        """Number of attributes |A|."""
        return len(self.sizes)

    @property
    def own(self) -> npt.NDArray[np.float64]:
        """p_j: probability of the true value, shape (|A|,)."""
        return np.asarray(1 / (1 + (self.sizes - 1) * math.exp(-self.epsilon)))

    @property
    def other(self) -> npt.NDArray[np.float64]:
        """q_j: probability of each other value, shape (|A|,)."""
        return self.own * math.exp(-self.epsilon)

    def assign(self, users: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Attribute that each user is asked about, shape (n,)."""
        return rng.integers(0, self.attributes, users)

    @announces(lambda asked, truths, rng: len(asked))
    def randomize(
        self, asked: npt.NDArray[np.int64], truths: npt.NDArray[np.int64], rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """Reported value of every user, shape (n,), from the attribute asked about and its true value."""
        return generalized_response(truths, self.sizes[asked], self.epsilon, rng)

    def tally(self, asked: npt.NDArray[np.int64], reports: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Count the reports of each value, shape (|A|, largest domain); what lies beyond a domain stays 0."""
        width = int(self.sizes.max())
        counts = np.bincount(asked * width + reports, minlength=self.attributes * width)
        return np.asarray(counts.reshape(self.attributes, width))

    def estimate(self, tally: npt.NDArray[np.int64], users: int) -> npt.NDArray[np.float64]:
        """Unbiased frequencies (|A| z_j[k] - n q_j) / (n (p_j - q_j)), and 0 beyond a domain, like ``tally``."""
        own, other = self.own[:, None], self.other[:, None]
        estimates = (self.attributes * tally / users - other) / (own - other)
        return np.where(np.arange(tally.shape[1]) < self.sizes[:, None], estimates, 0.0)

    def variance(self, frequency: npt.ArrayLike, users: int, attribute: int = 0) -> npt.NDArray[np.float64]:
        """Exact variance of the estimate of a value of an attribute, given the share of the users who hold it."""
        share, count = np.asarray(frequency, dtype=float), self.attributes
        p, q = float(self.own[attribute]), float(self.other[attribute])
        bits = share * p * (count - p) + (1 - share) * q * (count - q)
        return np.asarray(bits / (users * (p - q) ** 2))

    def law(self, truths: Sequence[int] | npt.NDArray[np.int64]) -> FiniteLaw:
        """Law of (attribute asked about, reported value) for a user who holds these values, one per attribute."""
        outcomes, log_p = [], []
        for attribute, (size, truth) in enumerate(zip(self.sizes.tolist(), np.asarray(truths).tolist(), strict=True)):
            log_own = -math.log1p((size - 1) * math.exp(-self.epsilon)) - math.log(self.attributes)
            outcomes += [(attribute, value) for value in range(size)]
            log_p += [log_own if value == truth else log_own - self.epsilon for value in range(size)]
        return FiniteLaw(outcomes, np.array(log_p))


@dataclass(frozen=True, slots=True, eq=False)
class SampledProjection:
    """One attribute of the user, drawn uniformly, by one sign of a projection (Harmony for categorical attributes).

    Parameters
    ----------
    attributes
        Number of attributes |A|, at least 1.
    values
        Domain size m of every attribute, at least 2.
    epsilon
        Above 0, finite.
    projection
        ``hadamard``: the first m columns of the smallest Hadamard matrix that has so many, which are orthogonal.
        ``random``: independent fair signs of shape (m, m), public and drawn anew by every call of ``matrices``.

    References
    ----------
    Nguyen et al., "Collecting and analyzing data from smart device users with local differential privacy", 2016.

    Examples
    --------
    >>> from dpaudit.randomizers import SampledProjection
    >>> collection = SampledProjection(attributes=3, values=4, epsilon=1.0)
    >>> round(collection.own, 4)
    0.7311
    """

    attributes: int
    values: int
    epsilon: float
    projection: Projection = "hadamard"

    def __post_init__(self) -> None:
        check_oracle(self.values, self.epsilon)
        if self.attributes < 1:
            raise ParameterError(f"attributes must be at least 1, got {self.attributes}")

    @property
    def rows(self) -> int:
        """Rows of each matrix."""
        return 1 << (self.values - 1).bit_length() if self.projection == "hadamard" else self.values

    @property
    def own(self) -> float:
        """Probability that a sign is reported as it is: e^epsilon / (e^epsilon + 1)."""
        return 1 / (1 + math.exp(-self.epsilon))

    @property
    def scale(self) -> float:
        """(e^epsilon + 1) / (e^epsilon - 1), by which a reported sign is multiplied."""
        return 1 / math.tanh(self.epsilon / 2)

    def orthogonal(self) -> npt.NDArray[np.int64]:
        """Signs with orthogonal columns, the same for all attributes, shape (1, rows, m); for ``hadamard`` only."""
        return hadamard(self.rows)[None, :, : self.values]

    def matrices(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Public signs of shape (|A|, rows, m), or (1, rows, m) where all attributes share them."""
        if self.projection == "hadamard":
            return self.orthogonal()
        return 2 * rng.integers(0, 2, (self.attributes, self.rows, self.values)) - 1

    def assign(self, users: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Attribute that each user is asked about, shape (n,)."""
        return rng.integers(0, self.attributes, users)

    @announces(lambda matrices, asked, truths, rng: len(asked))
    def randomize(
        self,
        matrices: npt.NDArray[np.int64],
        asked: npt.NDArray[np.int64],
        truths: npt.NDArray[np.int64],
        rng: np.random.Generator,
    ) -> npt.NDArray[np.int64]:
        """Row and reported sign of every user, shape (n, 2)."""
        rows = rng.integers(0, self.rows, len(truths))
        signs = matrices[asked % len(matrices), rows, truths]
        return np.stack([rows, np.where(rng.random(len(truths)) < self.own, signs, -signs)], axis=1)

    def estimate(
        self, matrices: npt.NDArray[np.int64], asked: npt.NDArray[np.int64], reports: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """Frequencies, shape (|A|, m): |A| / n times the sum of scaled signs times the signs of each value."""
        cells = asked * self.rows + reports[:, 0]
        totals = np.bincount(cells, weights=reports[:, 1], minlength=self.attributes * self.rows)
        signed = np.einsum(
            "ar,arm->am",
            totals.reshape(self.attributes, self.rows),
            np.broadcast_to(matrices, (self.attributes, self.rows, self.values)),
        )
        return np.asarray(self.attributes * self.scale / len(asked) * signed)

    def variance(self, frequencies: npt.ArrayLike, users: int) -> npt.NDArray[np.float64]:
        """Exact variance of the estimates of one attribute's values, shape (m,), given all its frequencies.

        For random signs over their draw as well: a value leaks into another by a sum of ``rows`` signs, of mean 0 and
        variance 1 / rows, which more users do not make smaller.
        """
        shares = np.asarray(frequencies, dtype=float)
        square = self.attributes * self.scale**2
        if self.projection == "hadamard":
            return np.asarray((square - shares) / users)
        leaked = (np.sum(shares**2) - shares**2) / self.rows
        return np.asarray((square - shares - (1 - shares) / self.rows) / users + leaked)

    def law(self, truths: Sequence[int] | npt.NDArray[np.int64], matrices: npt.NDArray[np.int64]) -> FiniteLaw:
        """Law of (attribute, row, sign) for a user who holds these values, one per attribute, given the matrices."""
        log_keep = -math.log1p(math.exp(-self.epsilon)) - math.log(self.attributes * self.rows)
        outcomes, log_p = [], []
        for attribute, truth in enumerate(np.asarray(truths).tolist()):
            for row, sign in enumerate(matrices[attribute % len(matrices), :, truth].tolist()):
                outcomes += [(attribute, row, 1), (attribute, row, -1)]
                log_p += [log_keep - (0.0 if reported == sign else self.epsilon) for reported in (1, -1)]
        return FiniteLaw(outcomes, np.array(log_p))
