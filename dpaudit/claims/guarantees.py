"""Guarantees: what a privacy claim promises about any two neighbouring inputs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from dpaudit.claims.evidence import Interval
from dpaudit.errors import ParameterError


class Divergences(Protocol):
    """What two output laws P and Q give, as far as guarantees need it; `dpaudit.laws.compare` returns one."""

    def max_divergence(self) -> float:
        """Largest privacy loss of P against Q."""

    def epsilon(self, delta: float) -> Interval:
        """Smallest epsilon for which P(S) <= e^epsilon Q(S) + delta for every event S."""

    def delta(self, epsilon: float) -> Interval:
        """Hockey-stick divergence of P from Q at e^epsilon."""


class Guarantee(ABC):
    """What a privacy claim promises.

    Each kind of guarantee knows three things: how probable an event may be on one input, given its probability on the
    other; what two output laws make of its parameters; and which value of its parameter an observation forces.

    Attributes
    ----------
    kind
        Name of the kind, as records hold it.
    forced
        The parameter that an observation forces, the others being as claimed.
    """

    kind: ClassVar[str]
    forced: ClassVar[str]

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, float]:
        """The claimed parameters, by name."""

    @abstractmethod
    def most(self, q: float) -> float:
        """Largest probability that an event may have on one input when it is ``q`` on the other."""

    @abstractmethod
    def forces(self, p: float, q: float) -> float:
        """Smallest value of the forced parameter that allows an event of probability ``p`` and ``q``."""

    @abstractmethod
    def measure(self, divergences: Divergences) -> Mapping[str, Interval]:
        """Exact values that two laws give each parameter, the others being as claimed."""

    @abstractmethod
    def __str__(self) -> str:
        """The guarantee as papers write it."""


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
    """

    kind: ClassVar[str] = "approximate-dp"
    forced: ClassVar[str] = "epsilon"

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.epsilon) and self.epsilon >= 0):
            raise ParameterError(f"epsilon must be a finite number >= 0, got {self.epsilon}")
        if not 0 <= self.delta <= 1:
            raise ParameterError(f"delta must be in [0, 1], got {self.delta}")

    @property
    def parameters(self) -> Mapping[str, float]:
        return {"epsilon": self.epsilon, "delta": self.delta}

    def most(self, q: float) -> float:
        return min(1.0, math.exp(min(self.epsilon, 745.0)) * q + self.delta)

    def forces(self, p: float, q: float) -> float:
        if p - self.delta <= q:
            return 0.0
        return math.log(p - self.delta) - math.log(q) if q > 0 else math.inf

    def measure(self, divergences: Divergences) -> Mapping[str, Interval]:
        return {"epsilon": divergences.epsilon(self.delta), "delta": divergences.delta(self.epsilon)}

    def __str__(self) -> str:
        return f"({self.epsilon:g}, {self.delta:g})-DP" if self.delta else f"{self.epsilon:g}-DP"
