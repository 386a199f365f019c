"""A privacy profile as a guarantee."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.claims.guarantees.base import (
    ABSOLUTE_ROUNDING,
    ROUNDING,
    Guarantee,
    ProfilePoint,
    listed,
    named_points,
    points_of,
    points_promised,
)
from dpaudit.claims.guarantees.decisions import worst_event_of
from dpaudit.claims.ranges import in_range
from dpaudit.errors import ParameterError

if TYPE_CHECKING:
    from dpaudit.laws.base import Comparison, Event


@dataclass(frozen=True, slots=True)
class PrivacyProfile(Guarantee):
    """(epsilon, delta)-differential privacy at several epsilons at once.

    Parameters
    ----------
    points
        Pairs (epsilon, delta), at least one, epsilons distinct, finite and at least 0, deltas in [0, 1]; a mapping of
        epsilon to delta; or a function of epsilon, together with ``epsilons``.
    shift
        At least 0: what is promised is each delta at its epsilon plus ``shift``. The forced parameter, 0 as claimed.
    epsilons
        Where a function is promised. Between these points nothing is audited beyond what they imply.

    Raises
    ------
    ParameterError
        A parameter is out of its range, or a function comes without ``epsilons``.

    Notes
    -----
    A shift is the smallest number that must be added to every epsilon for the promise to hold. As parameters, a record
    holds ``shift``, and each delta by its epsilon: ``delta_at_0.5`` for epsilon 0.5.

    Examples
    --------
    >>> PrivacyProfile({0.0: 0.3, 1.0: 0.1}).most(0.5)
    0.8

    References
    ----------
    Balle, Barthe, Gaboardi, "Privacy profiles and amplification by subsampling", JPC 10(1), 2020.
    """

    kind: ClassVar[str] = "privacy-profile"
    forced: ClassVar[str] = "shift"

    points: Any
    shift: float = 0.0
    epsilons: InitVar[Sequence[float] | None] = None

    def __post_init__(self, epsilons: Sequence[float] | None) -> None:
        given: Any = self.points
        if callable(given):
            if epsilons is None:
                raise ParameterError("a privacy profile that is a function needs `epsilons` at which it is promised")
            given = points_promised("PrivacyProfile", given, "epsilons", epsilons)
        elif isinstance(given, Mapping):
            given = given.items()
        points = listed("PrivacyProfile", given, "(epsilon, delta)")
        for epsilon, delta in points:
            if not in_range(epsilon, 0):
                raise ParameterError(f"epsilon must be a finite number >= 0, got {epsilon}")
            if not in_range(delta, 0, 1):
                raise ParameterError(f"delta at epsilon {epsilon:g} must be in [0, 1], got {delta}")
        if not in_range(self.shift, 0):
            raise ParameterError(f"shift must be a finite number >= 0, got {self.shift}")
        object.__setattr__(self, "points", points)

    @property
    def parameters(self) -> Mapping[str, float]:
        """``shift``, and the points."""
        return {"shift": self.shift, **named_points("delta", self.points)}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, float]) -> Self:
        """Make the guarantee of its parameters."""
        return cls(*points_of("delta", parameters, other="shift"))

    def most(self, q: float) -> float:
        """Return the least of all e^(epsilon + shift) q + delta, at most 1."""
        if not q:
            return float(min(delta for _, delta in self.points))
        log_q = math.log(q)
        return float(min(1.0, *(math.exp(min(0.0, each + self.shift + log_q)) + delta for each, delta in self.points)))

    def forces(self, p: Any, q: Any) -> Any:
        """Return the largest of all log((p - delta) / q) - epsilon, at least 0."""
        return np.where(np.greater(p, q), np.maximum(self._needed(p, q), 0.0), 0.0)[()]

    def _needed(self, p: Any, q: Any) -> Any:
        """Shift that an event needs, below 0 where there is room for more."""
        p, q = np.broadcast_arrays(np.asarray(p, float), np.asarray(q, float))
        with np.errstate(divide="ignore", invalid="ignore"):
            each = [
                np.where(p > delta, np.log(np.maximum(p - delta, 0.0)) - np.log(q) - epsilon, -np.inf)
                for epsilon, delta in self.points
            ]
        return np.max(each, axis=0)

    def exceeds(self, value: float, parameter: str | None = None) -> bool:
        """Whether a shift is above the claimed one by more than 1e-9: a relative 1e-9 of e^epsilon is rounding."""
        return value > self.shift + ROUNDING

    def meets(self, value: float, parameter: str | None = None) -> bool:
        """Whether a shift is the claimed one, but for what rounding does to a small number."""
        smallest: float = min(epsilon for epsilon, _ in self.points)
        return value <= self.shift + ABSOLUTE_ROUNDING + ROUNDING * smallest

    def measure(self, comparison: Comparison) -> Mapping[str, Interval]:
        """Return the shift; a relative 1e-9 of delta is rounding."""
        lower = upper = 0.0
        for epsilon, delta in self.points:
            needed = comparison.epsilon(min(1.0, delta * (1 + ROUNDING)))
            lower = max(lower, (needed.lower or 0.0) - epsilon)
            upper = max(upper, (math.inf if needed.upper is None else needed.upper) - epsilon)
        return {"shift": Interval(lower=lower, upper=upper)}

    @property
    def promised(self) -> tuple[ProfilePoint, ...]:
        """All points, shifted."""
        return tuple(ProfilePoint(epsilon + self.shift, delta) for epsilon, delta in self.points)

    def worst_event(self, comparison: Comparison, *, frequent: bool = False) -> Event:
        """Return the event that forces the largest shift."""
        return worst_event_of(self, comparison, frequent=frequent, value=self._needed)

    def __str__(self) -> str:
        """The guarantee as papers write it."""
        points = ", ".join(f"({epsilon + self.shift:g}, {delta:g})" for epsilon, delta in self.points)
        return f"privacy profile {points}"
