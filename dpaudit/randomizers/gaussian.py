"""Additive Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from dpaudit.errors import ParameterError
from dpaudit.laws import GaussianLaw, compare
from dpaudit.messages import announces


@dataclass(frozen=True, slots=True)
class GaussianNoise:
    """Adds noise of density exp(-x^2 / (2 scale^2)) / (scale sqrt(2 pi)).

    Parameters
    ----------
    scale
        Standard deviation: above 0, finite.

    Examples
    --------
    >>> from dpaudit.randomizers import GaussianNoise
    >>> round(GaussianNoise.analytic(1.0, 1e-5, sensitivity=1.0).scale, 3)
    3.731
    >>> GaussianNoise(2.0).law(0.0)
    GaussianLaw(location=0.0, scale=2.0)
    """

    scale: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise ParameterError(f"scale must be a finite number above 0, got {self.scale}")

    @classmethod
    def classical(cls, epsilon: float, delta: float, *, sensitivity: float) -> Self:
        """Return the classical calibration, sensitivity * sqrt(2 ln(1.25 / delta)) / epsilon.

        Parameters
        ----------
        epsilon, delta
            Target; proved to be met for 0 < epsilon < 1 only, though the formula is defined beyond.
        sensitivity
            L2 sensitivity of what is released.

        Raises
        ------
        ParameterError
            epsilon, delta or sensitivity is out of range.

        References
        ----------
        Dwork and Roth, "The Algorithmic Foundations of Differential Privacy", 2014, Theorem A.1.
        """
        _check_target(epsilon, delta, sensitivity)
        return cls(sensitivity * math.sqrt(2 * math.log(1.25 / delta)) / epsilon)

    @classmethod
    def analytic(cls, epsilon: float, delta: float, *, sensitivity: float) -> Self:
        """Return the least noise that is (epsilon, delta)-DP, to 12 digits, rounded towards more noise.

        Raises
        ------
        ParameterError
            epsilon, delta or sensitivity is out of range.

        References
        ----------
        Balle and Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018, Theorem 8.
        """
        from scipy.optimize import brentq

        _check_target(epsilon, delta, sensitivity)

        def excess(log_scale: float) -> float:
            made = cls(math.exp(log_scale))
            found = compare(made.law(1.0), made.law(0.0)).delta(epsilon).upper or 0.0
            return math.log(max(found, min(1e-323, delta)) / delta)

        high = 0.0
        while excess(high) > 0:
            high += 1.0
        low = high - 1.0
        while excess(low) <= 0:
            low -= 1.0
        return cls(sensitivity * math.exp(brentq(excess, low, high, xtol=1e-14)) * (1 + 1e-12))

    @announces(lambda values, rng: np.size(values), adds_noise=True)
    def randomize(self, values: npt.ArrayLike, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        """Every value plus its own noise; same shape."""
        truth = np.asarray(values, dtype=float)
        return truth + rng.normal(0.0, self.scale, truth.shape)

    def law(self, value: float) -> GaussianLaw:
        """Law of one noisy value."""
        return GaussianLaw(float(value), self.scale)

    def log_below(self, threshold: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Log-probability that the noise is below a threshold; accurate in both tails."""
        from scipy.special import log_ndtr

        return np.asarray(log_ndtr(np.asarray(threshold, dtype=float) / self.scale))

    def log_density(self, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Log-density of the noise."""
        z = np.asarray(values, dtype=float) / self.scale
        return np.asarray(-(z**2) / 2 - math.log(self.scale * math.sqrt(2 * math.pi)))


def _check_target(epsilon: float, delta: float, sensitivity: float) -> None:
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ParameterError(f"epsilon must be a finite number above 0, got {epsilon}")
    if not 0 < delta < 1:
        raise ParameterError(f"delta must be above 0 and below 1 for Gaussian noise, got {delta}")
    if not (math.isfinite(sensitivity) and sensitivity > 0):
        raise ParameterError(f"sensitivity must be a finite number above 0, got {sensitivity}")
