"""Grids that floating-point numbers lie on: whole numbers, decimals, multiples of any number from any offset."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

_GLANCE = 64
"""Numbers, spread over all, that say first whether there may be a grid of decimals or binary fractions."""

_MOSTLY = 0.9
"""Part of the numbers that must be on a grid of decimals or binary fractions, so that a few others may be beside it."""

_OFTEN = 0.02
"""Part of the numbers from which on a value that comes so often need not be on the grid of the others."""

_FRACTIONS = np.array([*(10.0**-digits for digits in range(7)), *(2.0**-digits for digits in range(1, 21))])
"""Steps that are tried by themselves."""

_USUAL, _OUTLIERS = 0.99, 1024
"""Quantile of the sizes of numbers that says how large they are; how many times as far out others are left aside."""

_ROUNDING = 4
"""Rounding errors of a large number by which two numbers at one point of a grid are apart, at most."""

_AMPLIFIED = 1024
"""Times as much that Euclid's algorithm makes of it, at most."""

_CLOSEST = 4
"""Times that distance which a step has, at least: what rounding alone makes is no grid."""

_OFF = 1e-3
"""Part of a step by which a number may be off a point, besides rounding."""

_FEWEST, _GAPS, _DISTANCES = 8, 32, 64
"""Gaps, at least, of a grid of any step; the smallest gaps and the distances by which the step is found, at most."""

_DOUBLE_EPS, _SHORT_EPS = float(np.finfo(np.float64).eps), float(np.finfo(np.float32).eps)
"""Rounding errors of numbers around 1 in double and in single precision."""

_LARGEST, _HUGE = float(1 << 62), 1e290
"""Steps from the offset within which points are numbered, and the size of numbers that cannot be divided by a fraction
any more."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Multiples of a step, from an offset on.

    Attributes
    ----------
    step, offset
        The points are ``offset + k * step`` for whole numbers k.
    short
        Whether numbers are on it as far as single precision says; None, as in older records, where the type of an
        array decides.
    """

    step: float = 1.0
    offset: float = 0.0
    short: bool | None = field(default=None, compare=False)

    @classmethod
    def of(cls, numbers: np.ndarray) -> Self | None:
        """Find the grid of numbers, most of which are on it; None where they are on none that rounding does not make.

        Sums of floating-point numbers of full length are multiples of their rounding error, which is no grid.
        """
        if numbers.dtype.kind != "f":
            return None
        eps, short = _eps(numbers), is_short(numbers)
        finite = numbers.astype(float)
        finite = finite[np.abs(finite) < _HUGE]
        if len(finite) < _FEWEST:
            return None
        largest = _usual_size(finite)
        # Further out, rounding alone makes all numbers whole.
        if largest * eps < 1 and np.mean(finite == np.rint(finite)) >= _MOSTLY:
            return cls(short=short)
        finite = finite[np.abs(finite) <= _OUTLIERS * largest]
        rounding = _ROUNDING * eps * largest
        glance = finite[:: max(1, len(finite) // _GLANCE)] / _FRACTIONS[:, None]
        near = np.abs(glance - np.rint(glance)) <= np.maximum(_OFF, rounding / _FRACTIONS)[:, None]
        for step in _FRACTIONS[near.mean(axis=1) >= _MOSTLY].tolist():
            grid = cls(step, short=short)
            if step >= _CLOSEST * rounding and grid._share(finite) >= _MOSTLY:
                return grid
        # Where numbers are limited, the limits need not be on the grid.
        values, counts = np.unique(finite, return_counts=True)
        values = values[counts <= max(_OFTEN * len(finite), counts.min())]
        step = _common_step(values, rounding)
        if step is None:
            return None
        offset = math.remainder(float(values[0]), step)
        grid = cls(step, offset if abs(offset) > rounding else 0.0, short)
        return grid if step >= _CLOSEST * rounding and grid._share(values) == 1 else None

    def places(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Number of the point next to every number, and whether the number is at that point."""
        eps = _eps(numbers) if self.short is None else _SHORT_EPS if self.short else _DOUBLE_EPS
        numbers = numbers.astype(float)
        with np.errstate(invalid="ignore", over="ignore"):
            steps = (numbers - self.offset) / self.step
            nearest = np.rint(steps)
            # Further out, rounding is by more of a step.
            off = np.abs(steps - nearest) > np.maximum(_OFF, np.abs(numbers) * (_ROUNDING * eps / self.step))
        beyond = ~(np.abs(nearest) < _LARGEST)
        return np.where(beyond, 0.0, nearest).astype(np.int64), ~(off | beyond)

    def divided(self, parts: int) -> Grid:
        """Return the grid of so many times the points."""
        return Grid(self.step / parts, self.offset, self.short)

    def _share(self, numbers: np.ndarray) -> float:
        """Part of the numbers that are on it."""
        return float(np.mean(self.places(numbers)[1]))


WHOLE = Grid()
"""The whole numbers."""


def grid_from_json(step: Any, offset: Any, short: Any) -> Grid:
    """Make a grid from what a record holds of it.

    Raises
    ------
    TypeError, ValueError
        It is no grid.
    """
    if not 0 < step < _HUGE or not abs(offset) < _HUGE:
        raise ValueError("'step' must be a number above 0, and 'offset' a number")
    return Grid(float(step), float(offset), short_from_json(short))


def short_from_json(short: Any) -> bool | None:
    """Whether numbers are in single precision, from what a record holds of it; ValueError where it says neither."""
    if short is not None and type(short) is not bool:
        raise ValueError("'short' must be true or false, or null")
    return short


def is_short(numbers: np.ndarray) -> bool:
    """Whether all numbers are such as single precision has, whatever type holds them."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array_equal(numbers, numbers.astype(np.float32), equal_nan=True)


def _usual_size(numbers: np.ndarray) -> float:
    """How large numbers are: a few may be far larger, and many may be 0."""
    sizes = np.abs(numbers[numbers != 0])
    return float(np.quantile(sizes, _USUAL)) if len(sizes) else 0.0


def _eps(numbers: np.ndarray) -> float:
    """Rounding error of numbers around 1 after they have become numbers of double precision."""
    return max(_DOUBLE_EPS, float(np.finfo(numbers.dtype).eps)) if numbers.dtype.kind == "f" else _DOUBLE_EPS


def _common_step(ordered: np.ndarray, rounding: float) -> float | None:
    """Largest step that divides all distances of ascending numbers, by Euclid's algorithm; None where none does."""
    rounding *= _AMPLIFIED
    gaps = np.diff(ordered)
    gaps = np.sort(gaps[gaps > rounding])[:_GAPS]
    if len(gaps) < _FEWEST:
        return None
    step = float(gaps[0])
    for gap in gaps[1:].tolist():
        while gap > rounding:
            step, gap = gap, abs(step - round(step / gap) * gap)
        if step < _CLOSEST * rounding:
            return None
    # The further numbers are apart, the better their distance says what the step is, if it says which multiple it is.
    distances = ordered[1:] - ordered[0]
    ranks = np.unique(np.geomspace(1, len(distances), _DISTANCES).astype(int)) - 1
    for distance in distances[ranks].tolist():
        multiple = round(distance / step)
        if multiple:
            step = distance / multiple
    return step
