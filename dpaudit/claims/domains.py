"""Domains of a lemma's variables and of a transformation's inputs, without naming the library that draws from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpaudit.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Reals:
    """Finite real numbers in the closed interval [``low``, ``high``].

    Attributes
    ----------
    low, high
        Both ends of the range; finite.

    Raises
    ------
    ParameterError
        The range is empty or not one of numbers.

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.Reals(0.0, 1.0).high
    1.0
    >>> dpaudit.Reals(1.0, 0.0)
    Traceback (most recent call last):
        ...
    dpaudit.errors.ParameterError: Reals needs finite low <= high, got 1.0 and 0.0
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise ParameterError(f"Reals needs finite low <= high, got {self.low} and {self.high}")


@dataclass(frozen=True, slots=True)
class Integers:
    """Whole numbers from ``low`` to ``high``, both included.

    Attributes
    ----------
    low, high
        Both ends of the range.

    Raises
    ------
    ParameterError
        The range is empty or not one of numbers.

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.Integers(1, 6).high
    6
    >>> dpaudit.Integers(6, 1)
    Traceback (most recent call last):
        ...
    dpaudit.errors.ParameterError: Integers needs low <= high, got 6 and 1
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ParameterError(f"Integers needs low <= high, got {self.low} and {self.high}")


@dataclass(frozen=True, slots=True)
class RankingProfiles:
    """Arrays of shape (n, m) whose rows are rankings, 1 <= n <= ``agents`` and 2 <= m <= ``alternatives``.

    Attributes
    ----------
    agents
        Largest number of rows, at least 1.
    alternatives
        Largest number of columns, at least 2.

    Raises
    ------
    ParameterError
        A size is too small.

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.RankingProfiles(agents=5, alternatives=3).agents
    5
    >>> dpaudit.RankingProfiles(agents=5, alternatives=1)
    Traceback (most recent call last):
        ...
    dpaudit.errors.ParameterError: RankingProfiles needs agents >= 1 and alternatives >= 2, got 5 and 1
    """

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

    Attributes
    ----------
    low, high
        Both ends of the range; infinite by default.
    nan
        Whether NaN is among the numbers.
    bits
        32 or 64.

    Raises
    ------
    ParameterError
        The range is empty or not one of numbers.

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.Floats(0.0, 1.0, nan=True).bits
    64
    >>> dpaudit.Floats(1.0, 0.0)
    Traceback (most recent call last):
        ...
    dpaudit.errors.ParameterError: Floats needs low <= high, got 1.0 and 0.0
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
    """One of some values, the simplest first; ``complete`` says whether these are all that there are.

    Attributes
    ----------
    values
        The values, at least one.
    complete
        Whether these are all that there are.

    Raises
    ------
    ParameterError
        There is no value.

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.Choices(("low", "high")).values
    ('low', 'high')
    >>> dpaudit.Choices(())
    Traceback (most recent call last):
        ...
    dpaudit.errors.ParameterError: Choices needs at least one value
    """

    values: tuple[Any, ...]
    complete: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))
        if not self.values:
            raise ParameterError("Choices needs at least one value")


@dataclass(frozen=True, slots=True)
class Nullable:
    """A value of another domain, or None.

    Attributes
    ----------
    of
        The domain of the values that are not None.

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.Nullable(dpaudit.Integers(0, 9)).of
    Integers(low=0, high=9)
    """

    of: Element


@dataclass(frozen=True, slots=True)
class Rows:
    """Tuples with a value of each domain: a record of several columns.

    Attributes
    ----------
    columns
        The domains of the columns, at least one.

    Raises
    ------
    ParameterError
        There is no column.

    Examples
    --------
    >>> import dpaudit
    >>> len(dpaudit.Rows((dpaudit.Integers(0, 9), dpaudit.Reals(0.0, 1.0))).columns)
    2
    >>> dpaudit.Rows(())
    Traceback (most recent call last):
        ...
    dpaudit.errors.ParameterError: Rows needs at least one column
    """

    columns: tuple[Element, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        if not self.columns:
            raise ParameterError("Rows needs at least one column")


@dataclass(frozen=True, slots=True)
class Datasets:
    """Lists of values of a domain: of exactly ``size``, of at most ``longest``, or of any length.

    Attributes
    ----------
    of
        The domain of one value.
    size
        Length of every list; None for lists of several lengths.
    longest
        Largest length; None for any.

    Raises
    ------
    ParameterError
        A length is negative.

    Examples
    --------
    >>> import dpaudit
    >>> lists = dpaudit.Datasets(dpaudit.Integers(0, 9), longest=5)
    >>> lists.longest
    5
    >>> dpaudit.Datasets(dpaudit.Integers(0, 9), size=-1)
    Traceback (most recent call last):
        ...
    dpaudit.errors.ParameterError: Datasets: size must be at least 0, got -1
    """

    of: Element
    size: int | None = None
    longest: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("size", self.size), ("longest", self.longest)):
            if value is not None and value < 0:
                raise ParameterError(f"Datasets: {name} must be at least 0, got {value}")


Element = Reals | Integers | Floats | Choices | Nullable | Rows
InputSpace = Element | Datasets
