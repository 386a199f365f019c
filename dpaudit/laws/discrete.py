"""Discrete Laplace and discrete Gaussian laws: noise on whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.claims.ranges import in_range
from dpaudit.errors import CheckError, ParameterError
from dpaudit.laws.base import Comparison, Event, Law, UncomposableError
from dpaudit.laws.finite import FiniteComparison, FiniteLaw
from dpaudit.laws.loss import PrivacyLoss
from dpaudit.laws.trade_off import normal_quantile, tails, trade_off

_MOST_OUTCOMES = 1 << 24
_REACH = 40.0
"""Standard deviations of a discrete Gaussian law that are kept; what is left out is below 1e-300 of the whole."""

_LEFT_OUT = 1e-300
_SCALES = 1e-150, 1e150

_FARTHEST = 1 << 20
"""Outcomes, at most, on either side among which the largest mu of a discrete Gaussian law is looked for."""


def _check(what: str, location: float, scale: float) -> None:
    if not (in_range(location) and float(location).is_integer()):
        raise ParameterError(f"{what} needs a whole number as location, got {location}")
    if not in_range(scale, *_SCALES):
        raise ParameterError(f"{what} needs a finite scale above 0, from {_SCALES[0]:g} to {_SCALES[1]:g}, got {scale}")


def _check_scales(what: str, scale: float, other: float) -> None:
    if not math.isclose(scale, other, rel_tol=1e-12):
        raise CheckError(
            f"{what} laws of different scales ({scale:g} and {other:g}) have no closed form here; "
            "audit by sampling (--method black-box)"
        )


def _half_line(location: int, sign: int, distance: int) -> dict[str, int]:
    """Outcomes at most so far from a location, in the direction away from the other location, and all beyond."""
    return {"at most" if sign > 0 else "at least": location + sign * distance}


def _finite(location: int, scale: float, log_weight: Callable[[np.ndarray], np.ndarray]) -> FiniteLaw | None:
    far = math.ceil(_REACH * scale) + 1
    if far > _FARTHEST:
        return None
    steps = np.arange(-far, far + 1)
    logs = log_weight(steps / scale)
    return FiniteLaw((steps + int(location)).tolist(), logs - np.logaddexp.reduce(logs))


@dataclass(frozen=True, slots=True)
class DiscreteLaplaceLaw(Law):
    """Law on whole numbers k with probability proportional to exp(-|k - location| / scale).

    Parameters
    ----------
    location
        A whole number.
    scale
        Above 0: sensitivity over epsilon.

    References
    ----------
    Ghosh, Roughgarden, Sundararajan, "Universally utility-maximizing privacy mechanisms", STOC 2009, where it is the
    geometric mechanism.

    Examples
    --------
    >>> import dpaudit
    >>> comparison = dpaudit.compare(dpaudit.DiscreteLaplaceLaw(0, 2.0), dpaudit.DiscreteLaplaceLaw(1, 2.0))
    >>> round(comparison.epsilon(0.0).upper, 6)
    0.5
    """

    location: int
    scale: float

    def __post_init__(self) -> None:
        _check("a discrete Laplace law", self.location, self.scale)

    def listed(self) -> FiniteLaw | None:
        """Return the law of the outcomes within 40 scales, whose probability is 1 but for 1e-17; None if too many."""
        return _finite(self.location, self.scale, lambda steps: -np.abs(steps))

    def against(self, other: Law) -> DiscreteLaplaceComparison:
        """Compare with a discrete Laplace law of the same scale."""
        assert isinstance(other, DiscreteLaplaceLaw)
        _check_scales("discrete Laplace", self.scale, other.scale)
        return DiscreteLaplaceComparison.of(int(self.location), int(other.location), self.scale)


@dataclass(frozen=True, slots=True, eq=False)
class DiscreteLaplaceComparison(FiniteComparison):
    """Two discrete Laplace laws of one scale, by the outcomes between their locations and one on either side.

    The privacy loss takes as many values as there are whole numbers between the locations: it is the same for all
    outcomes beyond either of them.
    """

    p_location: int
    q_location: int

    @classmethod
    def of(cls, p_location: int, q_location: int, scale: float) -> DiscreteLaplaceComparison:
        """Compare the laws at two locations."""
        distance = abs(p_location - q_location)
        if distance >= _MOST_OUTCOMES:
            raise CheckError(f"discrete Laplace laws {distance:,} apart have too many outcomes between them")
        # From P's location on, in the direction of Q's; first and last stand for all beyond, too.
        steps = np.arange(distance + 1.0)
        log_whole = math.log(math.tanh(1 / (2 * scale)))
        log_half = -math.log1p(math.exp(-1 / scale))  # of a location and all on one side of it
        log_p = log_whole - steps / scale
        log_p[0], log_p[-1] = log_half, log_half - distance / scale
        if distance == 0:
            log_p[0] = 0.0
        return cls(range(distance + 1), log_p, log_p[::-1].copy(), p_location, q_location)

    def worst_event(self, epsilon: float, delta: float) -> Event:
        """Half-line of the outcomes whose ratio exceeds e^epsilon, or is largest."""
        distance = len(self.log_p) - 1
        if distance == 0:
            return Event(outcomes="every output", log_p=0.0, log_q=0.0)
        ratio = self.log_p - self.log_q
        last = max(int(np.count_nonzero(ratio > epsilon)) - 1, 0) if delta > 0 else 0
        return Event(
            outcomes=_half_line(self.p_location, 1 if self.q_location > self.p_location else -1, last),
            log_p=float(np.logaddexp.reduce(self.log_p[: last + 1])),
            log_q=float(np.logaddexp.reduce(self.log_q[: last + 1])),
        )


@dataclass(frozen=True, slots=True)
class DiscreteGaussianLaw(Law):
    """Law on whole numbers k with probability proportional to exp(-(k - location)^2 / (2 scale^2)).

    Parameters
    ----------
    location
        A whole number.
    scale
        Above 0; close to the standard deviation.

    References
    ----------
    Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020.

    Examples
    --------
    >>> import dpaudit
    >>> comparison = dpaudit.compare(dpaudit.DiscreteGaussianLaw(0, 3.0), dpaudit.DiscreteGaussianLaw(1, 3.0))
    >>> round(comparison.delta(1.0).upper, 6)
    0.000218
    """

    location: int
    scale: float

    def __post_init__(self) -> None:
        _check("a discrete Gaussian law", self.location, self.scale)

    def listed(self) -> FiniteLaw | None:
        """Return the law of the outcomes within 40 scales, whose probability is 1 but for 1e-300; None if too many."""
        return _finite(self.location, self.scale, lambda steps: -(steps**2) / 2)

    def against(self, other: Law) -> DiscreteGaussianComparison:
        """Compare with a discrete Gaussian law of the same scale."""
        assert isinstance(other, DiscreteGaussianLaw)
        _check_scales("discrete Gaussian", self.scale, other.scale)
        return DiscreteGaussianComparison(int(self.location), int(other.location), self.scale)


@dataclass(frozen=True, slots=True)
class DiscreteGaussianComparison(Comparison):
    """Two discrete Gaussian laws of one scale.

    Sums leave out outcomes further than 40 scales from both locations, whose probability is below 1e-300.

    References
    ----------
    Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020, Theorems 4 and 7.
    """

    p_location: int
    q_location: int
    scale: float

    @property
    def distance(self) -> int:
        """Distance of the locations."""
        return abs(self.p_location - self.q_location)

    @property
    def _rate(self) -> float:
        """Rho."""
        ratio = self.distance / self.scale
        return ratio * ratio / 2

    def _listed(self, reach: int | None = None) -> FiniteComparison:
        """Outcomes by how far they are from P's location in the direction of Q's, with their log-probabilities."""
        far = math.ceil(_REACH * self.scale) + 1 if reach is None else reach
        if far + self.distance >= _MOST_OUTCOMES:
            raise self._too_long()
        steps = np.arange(-far, self.distance + far + 1)
        log_all = self._log_total(0.0)
        log_p, log_q = (-(((steps - place) / self.scale) ** 2) / 2 - log_all for place in (0, self.distance))
        return FiniteComparison(range(-far, self.distance + far + 1), log_p, log_q)

    def _too_long(self) -> UncomposableError:
        return UncomposableError(f"a discrete Gaussian law of scale {self.scale:g} has too many outcomes to be listed")

    def _log_total(self, shift: float) -> float:
        """Logarithm of the sum of exp(-(k + shift)^2 / (2 scale^2)) over whole numbers k."""
        far = math.ceil(_REACH * self.scale) + 1
        if far >= _MOST_OUTCOMES:
            raise self._too_long()
        steps = np.arange(-far, far + 1) + (shift - round(shift))
        return math.log(math.fsum(np.exp(-((steps / self.scale) ** 2) / 2)))

    def loss(self) -> PrivacyLoss:
        """Distribution of the privacy loss."""
        return self._listed().loss()

    def bounding_losses(self) -> tuple[PrivacyLoss, PrivacyLoss]:
        """Privacy losses that enclose this one: the outcomes left out count for nothing, or tell the laws apart."""
        loss = self.loss()
        rare = math.log(_LEFT_OUT)
        return loss, PrivacyLoss(
            np.r_[-np.inf, loss.losses, np.inf],
            np.r_[-np.inf, loss.log_p, rare],
            np.r_[rare, loss.log_q, -np.inf],
        )

    def max_divergence(self) -> float:
        """Infinite, unless the laws are equal."""
        return math.inf if self.distance else 0.0

    def delta(self, epsilon: float) -> Interval:
        """Hockey-stick divergence."""
        return self._listed().delta(epsilon)

    def privacy_profile(self, epsilons: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Hockey-stick divergence at many epsilons."""
        return self._listed().privacy_profile(epsilons)

    def epsilon(self, delta: float) -> Interval:
        """Invert the privacy profile."""
        return Interval.exact(self.max_divergence()) if delta == 0 else self._listed().epsilon(delta)

    def renyi(self, order: float) -> Interval:
        """Renyi divergence: order d^2 / (2 scale^2) and a term of the sum's periodicity, 0 at whole orders."""
        if math.isinf(order):
            return Interval.exact(self.max_divergence())
        rate = self._rate
        excess = order - 1
        if excess == 0:
            return Interval.exact(rate)
        wave = (self._log_total(excess * self.distance) - self._log_total(0.0)) / excess
        return Interval.exact(max(0.0, order * rate + min(wave, 0.0)))

    def concentration(self) -> Interval:
        """d^2 / (2 scale^2), which every whole order attains."""
        return Interval.exact(self._rate)

    def gaussian_shift(self) -> Interval:
        """Bound mu from below, by half-lines whose end is within 30 squared scales; nothing is known from above."""
        if self.distance == 0:
            return Interval.exact(0.0)
        far = min(max(math.ceil(_REACH * self.scale), math.ceil(30 * self.scale**2)) + 1, _FARTHEST)
        log_p, log_q, log_not_p, log_not_q = tails(self._listed(far).loss())
        with np.errstate(invalid="ignore"):
            values = normal_quantile(log_p, log_not_p) - normal_quantile(log_q, log_not_q)
        return Interval(lower=max(0.0, float(np.nanmax(values))), upper=None)

    def trade_off(self, type_one: float) -> Interval:
        """Least type II error, by the half-lines and their mixtures."""
        found = trade_off(self._listed(), type_one)
        assert found is not None
        return found

    def worst_event(self, epsilon: float, delta: float) -> Event:
        """Half-line of the outcomes whose ratio exceeds e^epsilon (e^(epsilon + 1) if delta = 0)."""
        if self.distance == 0:
            return Event(outcomes="every output", log_p=0.0, log_q=0.0)
        listed = self._listed()
        ratio = listed.log_p - listed.log_q
        count = max(int(np.count_nonzero(ratio > (epsilon if delta > 0 else epsilon + 1.0))), 1)
        return Event(
            outcomes=_half_line(
                self.p_location, 1 if self.q_location > self.p_location else -1, int(listed.outcomes[count - 1])
            ),
            log_p=min(0.0, float(np.logaddexp.reduce(listed.log_p[:count]))),
            log_q=min(0.0, float(np.logaddexp.reduce(listed.log_q[:count]))),
        )
