"""Renyi differential privacy, at one order and at several at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.claims.guarantees.base import Guarantee, ProfilePoint, listed, meets_closely, named_points, points_of
from dpaudit.claims.guarantees.bits import balanced, largest_allowed, renyi_of_bits
from dpaudit.claims.guarantees.decisions import decisions_of, worst_event_of
from dpaudit.claims.ranges import in_range
from dpaudit.errors import ParameterError

if TYPE_CHECKING:
    from dpaudit.laws.base import Comparison, Event


def _check_order(alpha: float) -> None:
    if not in_range(alpha, 1, without=(1.0,), infinite=True):
        raise ParameterError(f"alpha must be above 1 (infinite for pure differential privacy), got {alpha}")


@dataclass(frozen=True, slots=True)
class RenyiDP(Guarantee):
    """(alpha, epsilon)-Renyi differential privacy: the Renyi divergence of order alpha is at most epsilon.

    Parameters
    ----------
    alpha
        The order, above 1; ``math.inf`` for pure differential privacy.
    epsilon
        Finite, at least 0.

    Raises
    ------
    ParameterError
        A parameter is out of its range.

    Notes
    -----
    An event forces the divergence of the two bits that say whether it occurred, in whichever direction is larger.

    References
    ----------
    Mironov, "Renyi differential privacy", CSF 2017, Definition 4.

    Examples
    --------
    >>> import dpaudit
    >>> promise = dpaudit.RenyiDP(2.0, 0.5)
    >>> promise.kind
    'renyi-dp'
    >>> dpaudit.RenyiDP(1.0, 0.5)
    Traceback (most recent call last):
        ...
    dpaudit.errors.ParameterError: alpha must be above 1 (infinite for pure differential privacy), got 1.0
    """

    kind: ClassVar[str] = "renyi-dp"
    forced: ClassVar[str] = "epsilon"

    alpha: float
    epsilon: float

    def __post_init__(self) -> None:
        _check_order(self.alpha)
        if not in_range(self.epsilon, 0):
            raise ParameterError(f"epsilon must be a finite number >= 0, got {self.epsilon}")

    def most(self, q: float) -> float:
        """Return the largest p of two bits with that divergence."""
        return largest_allowed(self.forces, self.epsilon, q)

    def forces(self, p: Any, q: Any) -> Any:
        """Return the divergence of two bits, at least 0."""
        return renyi_of_bits(p, q, self.alpha)

    @property
    def balanced(self) -> float:
        """The probability q at which `most` is 1 - q."""
        return balanced(self.forces, self.epsilon)

    def meets(self, value: float, parameter: str | None = None) -> bool:
        """As for any guarantee, unless rounding is much beside the claim."""
        return meets_closely(value, self.epsilon)

    def measure(self, comparison: Comparison) -> Mapping[str, Interval] | None:
        """Return the divergence."""
        epsilon = decisions_of(comparison).renyi(self.alpha)
        return None if epsilon is None else {"epsilon": epsilon}

    def worst_event(self, comparison: Comparison, *, frequent: bool = False) -> Event:
        """Return the event that forces the largest divergence."""
        return worst_event_of(self, comparison, frequent=frequent)

    @property
    def profile_point(self) -> ProfilePoint | None:
        """Epsilon at delta 0 where the order is infinite: that is pure differential privacy."""
        return ProfilePoint(self.epsilon, 0.0) if math.isinf(self.alpha) else None

    def __str__(self) -> str:
        """The guarantee as papers write it."""
        return f"({self.alpha:g}, {self.epsilon:g})-RDP"


@dataclass(frozen=True, slots=True)
class RenyiCurve(Guarantee):
    """Renyi differential privacy at several orders at once.

    Parameters
    ----------
    points
        Pairs (alpha, epsilon), or a mapping of alpha to epsilon: at least one, orders distinct and above 1, epsilons
        finite and above 0.
    scale
        Finite, at least 0. What is promised is ``scale`` times each epsilon: the forced parameter, 1 as claimed.

    Raises
    ------
    ParameterError
        A parameter is out of its range.

    Notes
    -----
    As parameters, a record holds ``scale``, and each epsilon by its order: ``epsilon_at_2`` for alpha 2.

    Examples
    --------
    >>> print(RenyiCurve({2: 0.5, 8: 2.0}))
    RDP (2, 0.5), (8, 2)

    References
    ----------
    Mironov, "Renyi differential privacy", CSF 2017.
    """

    kind: ClassVar[str] = "renyi-curve"
    forced: ClassVar[str] = "scale"

    points: Any
    scale: float = 1.0

    def __post_init__(self) -> None:
        given: Any = self.points
        points = listed("RenyiCurve", given.items() if isinstance(given, Mapping) else given, "(alpha, epsilon)")
        for alpha, epsilon in points:
            _check_order(alpha)
            if not (math.isfinite(epsilon) and epsilon > 0):
                raise ParameterError(f"epsilon at alpha {alpha:g} must be a finite number > 0, got {epsilon}")
        if not in_range(self.scale, 0):
            raise ParameterError(f"scale must be a finite number >= 0, got {self.scale}")
        object.__setattr__(self, "points", points)

    @property
    def parameters(self) -> Mapping[str, float]:
        """``scale``, and the points."""
        return {"scale": self.scale, **named_points("epsilon", self.points)}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, float]) -> Self:
        """Make the guarantee of its parameters."""
        return cls(*points_of("epsilon", parameters, other="scale"))

    def most(self, q: float) -> float:
        """Return the largest p of two bits with these divergences."""
        return largest_allowed(self.forces, self.scale, q)

    def forces(self, p: Any, q: Any) -> Any:
        """Return the largest quotient of a divergence of two bits and the epsilon of its order."""
        return np.max([renyi_of_bits(p, q, alpha) / epsilon for alpha, epsilon in self.points], axis=0)[()]

    @property
    def balanced(self) -> float:
        """The probability q at which `most` is 1 - q."""
        return balanced(self.forces, self.scale)

    def measure(self, comparison: Comparison) -> Mapping[str, Interval] | None:
        """Return the largest quotient of a divergence and the epsilon of its order."""
        decisions = decisions_of(comparison)
        found = [(decisions.renyi(alpha), epsilon) for alpha, epsilon in self.points]
        if any(value is None for value, _ in found):
            return None
        lower = max((value.lower or 0.0) / epsilon for value, epsilon in found if value is not None)
        upper = max(
            (math.inf if value.upper is None else value.upper) / epsilon
            for value, epsilon in found
            if value is not None
        )
        return {"scale": Interval(lower=lower, upper=upper)}

    def worst_event(self, comparison: Comparison, *, frequent: bool = False) -> Event:
        """Return the event that forces the largest scale."""
        return worst_event_of(self, comparison, frequent=frequent)

    def __str__(self) -> str:
        """The guarantee as papers write it."""
        points = ", ".join(f"({alpha:g}, {epsilon * self.scale:g})" for alpha, epsilon in self.points)
        return f"RDP {points}"
