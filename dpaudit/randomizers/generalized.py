"""Generalised randomized response: the value itself, or any of the others."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpaudit.laws import FiniteLaw
from dpaudit.messages import announces
from dpaudit.randomizers.oracle import FrequencyOracle, check_oracle, check_truths

_LISTED = 1 << 16


@dataclass(frozen=True, slots=True)
class GeneralizedRandomizedResponse(FrequencyOracle):
    """Reports the value with probability p = e^epsilon / (e^epsilon + k - 1), any other with q = p / e^epsilon each.

    Parameters
    ----------
    values
        Number of values k, at least 2.
    epsilon
        Above 0, finite.

    References
    ----------
    Kairouz, Oh, Viswanath, "Extremal mechanisms for local differential privacy", NIPS 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.randomizers import GeneralizedRandomizedResponse
    >>> oracle = GeneralizedRandomizedResponse(4, np.log(3))
    >>> print(round(oracle.own, 4), round(oracle.other, 4))
    0.5 0.1667
    >>> np.exp(oracle.law(0).log_probabilities).round(4)
    array([0.5   , 0.1667, 0.1667, 0.1667])
    """

    values: int
    epsilon: float

    def __post_init__(self) -> None:
        check_oracle(self.values, self.epsilon)

    @property
    def own(self) -> float:
        """P."""
        return 1 / (1 + (self.values - 1) * math.exp(-self.epsilon))

    @property
    def other(self) -> float:
        """Q."""
        return self.own * math.exp(-self.epsilon)

    @announces(lambda truths, rng: len(truths))
    def randomize(self, truths: npt.ArrayLike, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Reported values, shape (n, 1)."""
        held = check_truths(truths, self.values)
        return generalized_response(held, np.full(len(held), self.values), self.epsilon, rng)[:, None]

    def supports(self, reports: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Count each reported value."""
        return np.bincount(reports[:, 0], minlength=self.values)

    def law(self, value: int) -> FiniteLaw | None:
        """Law of the reported value."""
        if self.values > _LISTED:
            return None
        log_own = -math.log1p((self.values - 1) * math.exp(-self.epsilon))
        log_p = np.full(self.values, log_own - self.epsilon)
        log_p[value] = log_own
        return FiniteLaw(np.arange(self.values)[:, None], log_p)

    @announces(lambda counts, rng: np.sum(counts))
    def aggregate(self, counts: npt.ArrayLike, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Joint law: with probability p - q a user reports the value, otherwise one of all k uniformly."""
        held = np.asarray(counts, dtype=np.int64)
        at = np.flatnonzero(held)
        kept = rng.binomial(held[at], self.own - self.other)
        drawn = np.bincount(rng.integers(0, self.values, int(held.sum() - kept.sum())), minlength=self.values)
        drawn[at] += kept
        return drawn


def generalized_response(
    truths: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64], epsilon: float, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Generalised randomized response of values from domains of different sizes, shape (n,) each."""
    other = rng.integers(0, np.maximum(sizes - 1, 1))
    other += other >= truths
    keeps = rng.random(len(truths)) < 1 / (1 + (sizes - 1) * math.exp(-epsilon))
    return np.where(keeps, truths, other)
