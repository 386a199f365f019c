"""Approximate differential privacy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.claims.guarantees.base import (
    ANY_DELTA,
    PART_OF_PROBABILITY,
    ROUNDING,
    Guarantee,
    ProfilePoint,
    exceeds,
    rounded_up,
)
from dpaudit.claims.ranges import in_range
from dpaudit.errors import ParameterError

if TYPE_CHECKING:
    from dpaudit.laws.base import Comparison, Event

_FLOOR = 1e-9


@dataclass(frozen=True, slots=True)
class ApproximateDP(Guarantee):
    """(epsilon, delta)-differential privacy; pure differential privacy where delta is 0.

    Parameters
    ----------
    epsilon
        Finite, at least 0.
    delta
        In [0, 1].

    Raises
    ------
    ParameterError
        A parameter is out of its range.

    References
    ----------
    Dwork, Roth, "The algorithmic foundations of differential privacy", 2014, Definition 2.4.

    Examples
    --------
    >>> import dpaudit
    >>> promise = dpaudit.ApproximateDP(1.0, 1e-6)
    >>> round(promise.most(0.1), 4)
    0.2718
    >>> promise.forces(0.5, 0.1) > 1.6
    True
    >>> dpaudit.ApproximateDP(-1.0)
    Traceback (most recent call last):
        ...
    dpaudit.errors.ParameterError: epsilon must be a finite number >= 0, got -1.0
    """

    kind: ClassVar[str] = "approximate-dp"
    forced: ClassVar[str] = "epsilon"

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        if not in_range(self.epsilon, 0):
            raise ParameterError(f"epsilon must be a finite number >= 0, got {self.epsilon}")
        if not in_range(self.delta, 0, 1):
            raise ParameterError(f"delta must be in [0, 1], got {self.delta}")

    def most(self, q: float) -> float:
        """Return e^epsilon q + delta, at most 1."""
        return min(1.0, math.exp(min(0.0, self.epsilon + math.log(q))) + self.delta) if q else self.delta

    def forces(self, p: Any, q: Any) -> Any:
        """Return log((p - delta) / q), at least 0."""
        if type(p) is float and type(q) is float:
            if p - self.delta <= q:
                return 0.0
            return math.log(p - self.delta) - math.log(q) if q > 0 else math.inf
        low = np.asarray(p) - self.delta
        with np.errstate(divide="ignore", invalid="ignore"):
            bound = np.log(low) - np.log(q)
        return np.where(low > q, bound, 0.0)[()]

    @property
    def by_ratio(self) -> bool:
        """True: an event forces log(p / q) + log(1 - delta / p)."""
        return True

    def forces_by_ratio(self, ratio: Any, p: Any) -> Any:
        """Return ratio + log(1 - delta / p), at least 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = ratio + np.log1p(-self.delta / np.asarray(p)) if self.delta else np.asarray(ratio)
        return np.where(np.greater(p, self.delta) & (found > 0), found, 0.0)[()]

    @property
    def ratio_alone(self) -> bool:
        """Whether delta is 0."""
        return self.delta == 0

    def exceeds(self, value: float, parameter: str | None = None) -> bool:
        """As for any guarantee; an excess of delta is relative to delta, which may be tiny."""
        if parameter == "delta":
            return value > self.delta * (1 + ROUNDING)
        return exceeds(value, self.epsilon)

    @property
    def decisive(self) -> str:
        """Epsilon of pure differential privacy, otherwise delta at the claimed epsilon."""
        return "epsilon" if self.delta == 0 else "delta"

    def measure(self, comparison: Comparison) -> Mapping[str, Interval]:
        """Return epsilon at the claimed delta, and delta at the claimed epsilon."""
        delta = Interval.exact(0.0)  # where no privacy loss exceeds the claimed epsilon
        if self.delta > 0 or self.exceeds(comparison.max_divergence()):
            delta = comparison.delta(self.epsilon)
        return {"epsilon": comparison.epsilon(self.delta), "delta": delta}

    def worst_event(self, comparison: Comparison, *, frequent: bool = False) -> Event:
        """Return the outcome of the largest likelihood ratio (delta = 0), or all outcomes with a ratio above e^epsilon.

        With ``frequent`` always the latter, because the outcome of the largest ratio alone may be rare.
        """
        if frequent:
            return comparison.worst_event(rounded_up(self.epsilon), max(self.delta, ANY_DELTA))
        return comparison.worst_event(self.epsilon, self.delta)

    @property
    def profile_point(self) -> ProfilePoint:
        """Epsilon and delta."""
        return ProfilePoint(self.epsilon, self.delta)

    def largest(self, q: float) -> float:
        """Return log((1 - delta) / q)."""
        return math.log((1 - self.delta) / q)

    @property
    def balanced(self) -> float:
        """(1 - delta) / (1 + e^epsilon), as for randomized response."""
        return (1 - self.delta) * math.exp(-self.epsilon) / (1 + math.exp(-self.epsilon))

    def steps(self, p: Any, q: Any) -> tuple[Any, Any]:
        """Return p - delta and q."""
        return p - self.delta, q

    def expected(self, hits_p: np.ndarray, hits_q: np.ndarray, trials: int, alpha: float) -> np.ndarray:
        """As for any guarantee, with the standard error of the logarithm of the ratio."""
        from scipy.special import ndtri

        p, q = hits_p, hits_q
        by_ratio = np.log(p / q) + ndtri(alpha) * np.sqrt(1 / p + 1 / q)
        if self.ratio_alone:
            return np.asarray(by_ratio)
        excess = p / trials - self.delta
        spread = np.sqrt(p * np.maximum(1 - p / trials, 1 / trials)) / trials
        ratio = np.log(np.maximum(excess, _FLOOR) * trials / q)
        penalty = ndtri(alpha / 2) * (spread / np.maximum(excess, _FLOOR) + 1 / np.sqrt(q))
        with np.errstate(divide="ignore", invalid="ignore"):
            least = p / trials + ndtri(alpha * PART_OF_PROBABILITY) * spread
            with_delta = np.where(least > self.delta, by_ratio + np.log1p(-self.delta / least), -np.inf)
        return np.where(excess > _FLOOR, np.maximum(ratio + penalty, with_delta), -1e6 + excess)

    def __str__(self) -> str:
        """The guarantee as papers write it."""
        return f"({self.epsilon:g}, {self.delta:g})-DP" if self.delta else f"{self.epsilon:g}-DP"
