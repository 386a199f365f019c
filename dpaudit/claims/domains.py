"""Domains of a lemma's variables and of a transformation's inputs, without naming the library that draws from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Floats:
    """Floating-point numbers in the closed interval [``low``, ``high``].

    Infinities are among them where a bound is infinite, and NaN where ``nan`` says so. ``bits`` is 32 or 64.
    """

    low: float = -math.inf
    high: float = math.inf
    nan: bool = False
    bits: int = 64

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ParameterError(f"Floats needs low <= high, got {self.low} and {self.high}")
        if self.bits not in (32, 64):
            raise ParameterError(f"Floats: bits must be 32 or 64, got {self.bits}")


@dataclass(frozen=True, slots=True)
class Choices:
    """One of some values, the simplest first; ``complete`` says whether these are all that there are."""

    values: tuple[Any, ...]
    complete: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))
        if not self.values:
            raise ParameterError("Choices needs at least one value")


@dataclass(frozen=True, slots=True)
class Nullable:
    """A value of another domain, or None."""

    of: Element


@dataclass(frozen=True, slots=True)
class Rows:
    """Tuples with a value of each domain: a record of several columns."""

    columns: tuple[Element, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        if not self.columns:
            raise ParameterError("Rows needs at least one column")


@dataclass(frozen=True, slots=True)
class Datasets:
    """Lists of values of a domain: of exactly ``size``, of at most ``longest``, or of any length."""

    of: Element
    size: int | None = None
    longest: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("size", self.size), ("longest", self.longest)):
            if value is not None and value < 0:
                raise ParameterError(f"Datasets: {name} must be at least 0, got {value}")


Element = Reals | Integers | Floats | Choices | Nullable | Rows
InputSpace = Element | Datasets
