"""Whether what a caller gives for numbers are numbers, and in their range."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpaudit.errors import ParameterError

_TEXTS = (str, bytes, bytearray)


def in_range(
    value: Any,
    least: float = -math.inf,
    most: float = math.inf,
    *,
    without: tuple[float, ...] = (),
    infinite: bool = False,
) -> bool:
    """Whether a value is a number between two others; never for texts, arrays, NaN, and numbers too large to be held.

    Parameters
    ----------
    value
        Anything.
    least, most
        Smallest and largest value allowed.
    without
        Values between them that are not allowed.
    infinite
        Whether infinity is a number here.
    """
    if isinstance(value, _TEXTS) or np.ndim(value) > 0:
        return False
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return least <= number <= most and (infinite or math.isfinite(number)) and number not in without


def array_of(values: Any, what: str) -> np.ndarray:
    """Copy values to an array of floats.

    Raises
    ------
    ParameterError
        They are no numbers.
    """
    try:
        return np.array(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{what} must be numbers, got {values!r}") from None
