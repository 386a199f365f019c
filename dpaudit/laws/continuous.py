"""Gaussian and Laplace laws in closed form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.claims.ranges import in_range
from dpaudit.errors import CheckError, ParameterError
from dpaudit.laws.base import Comparison, Event, Law
from dpaudit.laws.loss import PrivacyLoss

_GRID_CELLS = 1 << 14
"""Cells, about, of the grid on which the losses of Laplace laws are composed."""


def _check_noise(what: str, location: float, scale: float) -> None:
    if not (in_range(location) and in_range(scale, 0, without=(0.0,))):
        raise ParameterError(f"{what} needs a finite location and a scale above 0, got {location} and {scale}")


@dataclass(frozen=True, slots=True)
class LaplaceLaw(Law):
    """Laplace law with density exp(-|x - location| / scale) / (2 scale).

    Parameters
    ----------
    location
        The mean.
    scale
        Above 0: sensitivity over epsilon.

    Examples
    --------
    >>> import dpaudit
    >>> comparison = dpaudit.compare(dpaudit.LaplaceLaw(0.0, 2.0), dpaudit.LaplaceLaw(1.0, 2.0))
    >>> comparison.epsilon(0.0).upper
    0.5
    """

    location: float
    scale: float

    def __post_init__(self) -> None:
        _check_noise("a Laplace law", self.location, self.scale)

    def against(self, other: Law) -> LaplaceComparison:
        """Compare with a Laplace law of the same scale."""
        assert isinstance(other, LaplaceLaw)
        if not math.isclose(self.scale, other.scale, rel_tol=1e-12):
            raise CheckError(
                f"Laplace laws of different scales ({self.scale:g} and {other.scale:g}) have no closed form here; "
                "audit by sampling (--method black-box)"
            )
        return LaplaceComparison(self.location, other.location, self.scale)


@dataclass(frozen=True, slots=True)
class LaplaceComparison(Comparison):
    """Two Laplace laws of one scale, at distance ``ratio`` scales from each other."""

    p_location: float
    q_location: float
    scale: float

    @property
    def ratio(self) -> float:
        """Distance of the locations over the scale."""
        return abs(self.p_location - self.q_location) / self.scale

    def max_divergence(self) -> float:
        """Distance over scale."""
        return self.ratio

    def delta(self, epsilon: float) -> Interval:
        """1 - exp((epsilon - ratio) / 2) between -ratio and ratio, 0 above and 1 - exp(epsilon) below."""
        return Interval.exact(-math.expm1(min(epsilon, (epsilon - self.ratio) / 2, 0.0)))

    def epsilon(self, delta: float) -> Interval:
        """Invert the privacy profile."""
        return Interval.exact(max(0.0, self.ratio + 2 * math.log1p(-delta)) if delta < 1 else 0.0)

    def worst_event(self, epsilon: float, delta: float) -> Event:
        """Half-line beyond the point where the ratio of the densities reaches e^epsilon (its maximum if delta = 0)."""
        level = self.ratio if delta == 0 else min(max(epsilon, -self.ratio), self.ratio)
        # Distance from Q's centre, towards P's, at which the log-ratio of the densities is `level`.
        distance = (self.ratio + level) / 2
        sign = 1.0 if self.p_location >= self.q_location else -1.0
        return Event(
            outcomes={"at least" if sign > 0 else "at most": self.q_location + sign * distance * self.scale},
            log_p=_log_laplace_tail(distance - self.ratio),
            log_q=_log_laplace_tail(distance),
        )


@dataclass(frozen=True, slots=True)
class GaussianLaw(Law):
    """Normal law.

    Parameters
    ----------
    location
        The mean.
    scale
        The standard deviation, above 0.

    Examples
    --------
    >>> import dpaudit
    >>> comparison = dpaudit.compare(dpaudit.GaussianLaw(0.0, 1.0), dpaudit.GaussianLaw(1.0, 1.0))
    >>> round(comparison.delta(1.0).upper, 4)
    0.1269
    >>> comparison.epsilon(0.0).upper
    inf
    """

    location: float
    scale: float

    def __post_init__(self) -> None:
        _check_noise("a Gaussian law", self.location, self.scale)

    def against(self, other: Law) -> GaussianComparison:
        """Compare with a Gaussian law of the same scale."""
        assert isinstance(other, GaussianLaw)
        if not math.isclose(self.scale, other.scale, rel_tol=1e-12):
            raise CheckError(
                f"Gaussian laws of different scales ({self.scale:g} and {other.scale:g}) have no closed form here; "
                "audit by sampling (--method black-box)"
            )
        return GaussianComparison(self.location, other.location, self.scale)


@dataclass(frozen=True, slots=True)
class GaussianComparison(Comparison):
    """Two normal laws of one scale, at distance ``ratio`` standard deviations from each other.

    References
    ----------
    Balle and Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018, Theorem 8.
    """

    p_location: float
    q_location: float
    scale: float

    @property
    def ratio(self) -> float:
        """Distance of the locations over the scale."""
        return abs(self.p_location - self.q_location) / self.scale

    def max_divergence(self) -> float:
        """Infinite, unless the laws are equal."""
        return math.inf if self.ratio > 0 else 0.0

    def delta(self, epsilon: float) -> Interval:
        """Exact privacy profile."""
        if self.ratio == 0:
            return Interval.exact(-math.expm1(min(epsilon, 0.0)))
        from scipy.special import log_ndtr

        log_p = float(log_ndtr(self.ratio / 2 - epsilon / self.ratio))
        log_q = epsilon + float(log_ndtr(-self.ratio / 2 - epsilon / self.ratio))
        return Interval.exact(math.exp(log_p) * -math.expm1(min(0.0, log_q - log_p)))

    def epsilon(self, delta: float) -> Interval:
        """Invert the privacy profile numerically."""
        if delta == 0:
            return Interval.exact(self.max_divergence())
        if self.delta_at(0.0) <= delta:
            return Interval.exact(0.0)
        from scipy.optimize import brentq

        high = 1.0
        while self.delta_at(high) > delta:
            high *= 2
        if math.isinf(high):
            return Interval.exact(math.inf)
        return Interval.exact(brentq(lambda epsilon: self.delta_at(epsilon) - delta, 0.0, high, xtol=1e-13))

    def delta_at(self, epsilon: float) -> float:
        """Privacy profile as a plain number."""
        value = self.delta(epsilon).upper
        assert value is not None
        return value

    def worst_event(self, epsilon: float, delta: float) -> Event:
        """Half-line beyond the point where the ratio of the densities is e^epsilon."""
        from scipy.special import log_ndtr

        if self.ratio == 0:
            return Event(outcomes="every output", log_p=0.0, log_q=0.0)
        level = epsilon if delta > 0 else epsilon + 1.0
        distance = level / self.ratio + self.ratio / 2
        sign = 1.0 if self.p_location >= self.q_location else -1.0
        return Event(
            outcomes={"at least" if sign > 0 else "at most": self.q_location + sign * distance * self.scale},
            log_p=float(log_ndtr(self.ratio - distance)),
            log_q=float(log_ndtr(-distance)),
        )


def _log_laplace_tail(distance: float) -> float:
    """Log-probability that a standard Laplace variable is at least ``distance``."""
    return -distance - math.log(2) if distance >= 0 else math.log1p(-math.exp(distance) / 2)


def bounding_laplace_losses(ratios: Sequence[float]) -> tuple[PrivacyLoss, PrivacyLoss]:
    """Privacy losses that enclose, from below and from above, that of independent Laplace laws at these ratios.

    The loss of every part is rounded down, or up, to its largest value minus a multiple of one step. The largest
    loss, which carries half of the mass, and for equal ratios the smallest one too, are on the grid.
    """
    total = math.fsum(ratios)
    step = 2 * total / _GRID_CELLS
    span = 2 * min(ratios)
    if span > step:
        step = span / math.ceil(span / step)
    below, above = zip(*(_rounded_laplace_loss(ratio, step) for ratio in ratios), strict=True)
    return _on_grid(reduce(np.convolve, below), total, step), _on_grid(reduce(np.convolve, above), total, step)


def _rounded_laplace_loss(ratio: float, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Masses under P of the loss rounded down, and up, to ``ratio - j * step``, j = 0, 1, ..."""
    cells = 2 * ratio / step
    aligned = math.isclose(cells, round(cells), rel_tol=1e-12)
    count = round(cells) if aligned else math.ceil(cells)
    # The loss is `ratio` with mass 1/2, -ratio with mass e^-ratio / 2, and has density e^((loss - ratio) / 2) / 4.
    depth = np.minimum(step * np.arange(count + 1), 2 * ratio)
    inside = -np.exp(-depth[:-1] / 2) * np.expm1(-np.diff(depth) / 2) / 2
    smallest = math.exp(-ratio) / 2
    down, up = np.r_[0.5, inside], np.r_[inside, 0.0]
    down[count] += smallest
    up[0] += 0.5
    up[count if aligned else count - 1] += smallest
    return down, up


def _on_grid(masses: np.ndarray, largest: float, step: float) -> PrivacyLoss:
    losses = largest - step * np.arange(len(masses) - 1, -1, -1)
    with np.errstate(divide="ignore"):
        log_p = np.log(masses[::-1])
    return PrivacyLoss(losses, log_p, log_p - losses)
