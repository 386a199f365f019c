"""Domains of a lemma's variables, declared without naming the library that draws from them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpaudit.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Reals:
    """Finite real numbers in the closed interval [``low``, ``high``]."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise ParameterError(f"Reals needs finite low <= high, got {self.low} and {self.high}")


@dataclass(frozen=True, slots=True)
class Integers:
    """Whole numbers from ``low`` to ``high``, both included."""

    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ParameterError(f"Integers needs low <= high, got {self.low} and {self.high}")


@dataclass(frozen=True, slots=True)
class RankingProfiles:
    """Arrays of shape (n, m) whose rows are rankings, 1 <= n <= ``agents`` and 2 <= m <= ``alternatives``."""

    agents: int
    alternatives: int

    def __post_init__(self) -> None:
        if self.agents < 1 or self.alternatives < 2:
            raise ParameterError(
                f"RankingProfiles needs agents >= 1 and alternatives >= 2, got {self.agents} and {self.alternatives}"
            )


Domain = Reals | Integers | RankingProfiles
