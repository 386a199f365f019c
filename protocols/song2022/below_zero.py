"""A claimed ϵ below 0: what Theorem 3.1 comes to where n' is larger than e^ϵ."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import dpaudit
from dpaudit import laws

ROUNDING = 1e-9
"""Relative excess over a claimed δ that double precision cannot tell from rounding."""


@dataclass(frozen=True, slots=True)
class ApproximateDPBelowZero(dpaudit.Guarantee):
    """(ϵ, δ)-differential privacy, read literally, for ϵ < 0.

    All outputs together have probability 1 on every input, and 1 <= e^ϵ + δ is false for δ < 1 - e^ϵ: then no mechanism
    has it, whatever its noise.

    Parameters
    ----------
    epsilon
        Finite, below 0.
    delta
        In [0, 1].
    """

    kind: ClassVar[str] = "approximate-dp-below-zero"
    forced: ClassVar[str] = "delta"

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.epsilon) and self.epsilon < 0 and 0 <= self.delta <= 1):
            raise dpaudit.ParameterError(f"epsilon must be below 0 and delta in [0, 1], got {self}")

    def most(self, q: float) -> float:
        """Return e^ϵ q + δ, at most 1."""
        return min(1.0, math.exp(self.epsilon) * q + self.delta)

    def forces(self, p: Any, q: Any) -> Any:
        """Return p - e^ϵ q, at least 0."""
        return np.maximum(np.asarray(p) - math.exp(self.epsilon) * np.asarray(q), 0.0)[()]

    def exceeds(self, value: float, parameter: str | None = None) -> bool:
        """Whether a value is above the claimed one by more than rounding, relative to δ."""
        return value > self.delta * (1 + ROUNDING) if parameter != "epsilon" else value > self.epsilon

    def measure(self, comparison: laws.Comparison) -> Mapping[str, dpaudit.Interval]:
        """Return δ at the claimed ϵ, and the least ϵ >= 0 at the claimed δ."""
        return {"delta": comparison.delta(self.epsilon), "epsilon": comparison.epsilon(self.delta)}

    def worst_event(self, comparison: laws.Comparison, *, frequent: bool = False) -> laws.Event:
        """Return all outcomes whose likelihood ratio exceeds e^ϵ, which are often all that there are."""
        return comparison.worst_event(self.epsilon, self.delta)

    def __str__(self) -> str:
        return f"({self.epsilon:g}, {self.delta:g})-DP"


def claimed_after_shuffling(epsilon: float, delta: float) -> dpaudit.Guarantee:
    """(ϵ, δ)-differential privacy, for ϵ of either sign."""
    return ApproximateDPBelowZero(epsilon, delta) if epsilon < 0 else dpaudit.ApproximateDP(epsilon, delta)
