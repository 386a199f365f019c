"""Additive Laplace noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from dpaudit.errors import ParameterError
from dpaudit.laws import LaplaceLaw
from dpaudit.messages import announces


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """Adds noise of density exp(-|x| / scale) / (2 scale).

    Parameters
    ----------
    scale
        Above 0, finite.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.randomizers import LaplaceNoise
    >>> noise = LaplaceNoise.for_epsilon(0.5, sensitivity=1.0)
    >>> noise.scale
    2.0
    >>> noise.randomize([0.0, 10.0], np.random.default_rng(1)).shape
    (2,)
    """

    scale: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise ParameterError(f"scale must be a finite number above 0, got {self.scale}")

    @classmethod
    def for_epsilon(cls, epsilon: float, *, sensitivity: float) -> Self:
        """Return the one that makes a number of that sensitivity epsilon-DP: scale = sensitivity / epsilon."""
        if not epsilon > 0:
            raise ParameterError(f"epsilon must be above 0, got {epsilon}")
        return cls(sensitivity / epsilon)

    @announces(lambda values, rng: np.size(values), adds_noise=True)
    def randomize(self, values: npt.ArrayLike, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        """Every value plus its own noise; same shape."""
        truth = np.asarray(values, dtype=float)
        return truth + rng.laplace(0.0, self.scale, truth.shape)

    def law(self, value: float) -> LaplaceLaw:
        """Law of one noisy value."""
        return LaplaceLaw(float(value), self.scale)

    def log_below(self, threshold: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Log-probability that the noise is below a threshold; accurate in both tails."""
        z = np.asarray(threshold, dtype=float) / self.scale
        return np.where(z < 0, np.minimum(z, 0) - math.log(2), np.log1p(-np.exp(-np.maximum(z, 0)) / 2))

    def log_density(self, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Log-density of the noise."""
        return np.asarray(-np.abs(np.asarray(values, dtype=float)) / self.scale - math.log(2 * self.scale))
