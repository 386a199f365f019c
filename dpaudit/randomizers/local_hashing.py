"""Local hashing: a public random hash of the value, under generalised randomized response."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from dpaudit.errors import ParameterError
from dpaudit.laws import PublicMixtureLaw
from dpaudit.messages import announces
from dpaudit.randomizers.generalized import GeneralizedRandomizedResponse
from dpaudit.randomizers.oracle import FrequencyOracle, check_oracle, check_truths

_LISTED = 1 << 13


@dataclass(frozen=True, slots=True)
class LocalHashing(FrequencyOracle):
    """Reports a random function from the k values to g hashes, and the hash of the value by randomized response.

    Every user draws a function of their own from all g^k of them. With a family that is only universal, single
    estimates have the same law, and those of two values need not be independent.

    Parameters
    ----------
    values
        Number of values k, at least 2.
    epsilon
        Above 0, finite.
    hashes
        Number of hashes g, at least 2.

    References
    ----------
    Wang, Blocki, Li, Jha, "Locally differentially private protocols for frequency estimation", USENIX Security 2017;
    with two hashes Bassily and Smith, "Local, private, efficient protocols for succinct histograms", STOC 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.randomizers import LocalHashing
    >>> LocalHashing.optimal(100, np.log(3)).hashes
    4
    >>> LocalHashing.binary(100, 1.0).hashes
    2
    """

    values: int
    epsilon: float
    hashes: int

    def __post_init__(self) -> None:
        check_oracle(self.values, self.epsilon)
        if self.hashes < 2:
            raise ParameterError(f"hashes must be at least 2, got {self.hashes}")

    @classmethod
    def binary(cls, values: int, epsilon: float) -> Self:
        """Two hashes."""
        return cls(values, epsilon, 2)

    @classmethod
    def optimal(cls, values: int, epsilon: float) -> Self:
        """The integer next to e^epsilon + 1 hashes, which is the least variance for a rare value."""
        check_oracle(values, epsilon)
        return cls(values, epsilon, round(math.exp(min(epsilon, 40.0))) + 1)

    @property
    def response(self) -> GeneralizedRandomizedResponse:
        """What a hash goes through."""
        return GeneralizedRandomizedResponse(self.hashes, self.epsilon)

    @property
    def own(self) -> float:
        """e^epsilon / (e^epsilon + g - 1)."""
        return self.response.own

    @property
    def other(self) -> float:
        """1 / g: another value has the reported hash by chance."""
        return 1 / self.hashes

    @announces(lambda truths, rng: len(truths))
    def randomize(self, truths: npt.ArrayLike, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Hashes of all values and the reported hash, shape (n, k + 1)."""
        held = check_truths(truths, self.values)
        tables = rng.integers(0, self.hashes, (len(held), self.values))
        hashed = np.take_along_axis(tables, held[:, None], axis=1)[:, 0]
        return np.concatenate([tables, self.response.randomize(hashed, rng)], axis=1)

    def supports(self, reports: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Count the reports whose hash each value has."""
        return np.asarray((reports[:, :-1] == reports[:, -1:]).sum(axis=0))

    def law(self, value: int) -> PublicMixtureLaw | None:
        """Law of the function, given by all its hashes, and of the reported hash."""
        functions = self.hashes**self.values
        if functions > _LISTED:
            return None
        tables = list(itertools.product(range(self.hashes), repeat=self.values))
        parts = [self.response.law(hashed) for hashed in range(self.hashes)]
        chosen = [part for table in tables if (part := parts[table[value]]) is not None]
        return PublicMixtureLaw(tables, np.full(functions, -math.log(functions)), chosen)
