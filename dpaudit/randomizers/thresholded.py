"""A noisy number that is sent as one bit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dpaudit.laws import FiniteLaw
from dpaudit.messages import announces
from dpaudit.randomizers.randomized_response import Users, ones_drawn


class Noise(Protocol):
    """Additive noise with a symmetric law, such as `LaplaceNoise` or `GaussianNoise`."""

    def randomize(self, values: npt.ArrayLike, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        """Every value plus its own noise."""
        ...

    def log_below(self, threshold: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Log-probability that the noise is below a threshold."""
        ...


@dataclass(frozen=True, slots=True)
class Thresholded:
    """Reports whether a value plus symmetric noise is above a threshold.

    Parameters
    ----------
    noise
        The noise.
    threshold
        The report is 1 above it, and 0 elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.randomizers import LaplaceNoise, Thresholded
    >>> bit = Thresholded(LaplaceNoise.for_epsilon(1.0, sensitivity=1.0))
    >>> np.exp(bit.law(1.0).log_probabilities).round(4)
    array([0.3033, 0.6967])
    """

    noise: Noise
    threshold: float = 0.5

    @announces(lambda values, rng: np.size(values), adds_noise=True)
    def randomize(self, values: npt.ArrayLike, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        """Report of every value, independently; same shape."""
        return self.noise.randomize(values, rng) > self.threshold

    @announces(lambda bits, users, rng, size=None: ones_drawn(users, size))
    def count_ones(
        self, bits: Sequence[bool], users: Sequence[Users], rng: np.random.Generator, size: int | None = None
    ) -> npt.NDArray[np.int64]:
        """Draw how many users report 1, ``size`` times or once, where ``users[i]`` of them hold ``bits[i]``."""
        drawn = [
            rng.binomial(number, math.exp(self.law(bit).log_probabilities[1]), size)
            for bit, number in zip(bits, users, strict=True)
        ]
        return np.asarray(sum(drawn))

    def law(self, value: float) -> FiniteLaw:
        """Law of the report of one value; both its probabilities keep their digits."""
        gap = self.threshold - float(value)
        return FiniteLaw([0, 1], np.minimum(0.0, [self.noise.log_below(gap), self.noise.log_below(-gap)]))
