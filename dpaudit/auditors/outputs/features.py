"""Feature maps: what to look at in the outputs, where that is not the outputs themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.claims.inputs import short_repr
from dpaudit.errors import CheckError, ParameterError

FeatureMap = Callable[[np.ndarray], np.ndarray]


def float_bits(outputs: np.ndarray) -> np.ndarray:
    """Bit patterns of double-precision numbers, beside the numbers themselves.

    A sampler in floating point does not produce every number, and which ones it produces may depend on the input,
    although the real-valued law that it approximates keeps its promise.

    Several numbers that are computed from one noisy number, such as it and the ends of an interval around it, may show
    this without bit patterns, by the rounding errors of their differences.

    Parameters
    ----------
    outputs
        Floating-point numbers, shape (size, ...).

    Returns
    -------
    ndarray
        Shape (size, 4 times the numbers in an output): for every number its value, its binary exponent, the exponent
        of its lowest bit that is set (what power of two it is a multiple of; 1024 for zero, 1025 for negative zero),
        and its eight lowest bits.

    Raises
    ------
    CheckError
        The outputs are not floating-point numbers.

    References
    ----------
    Mironov, "On significance of the least significant bits for differential privacy", CCS 2012.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit
    >>> dpaudit.float_bits(np.array([1.0, 1.5, 2.0])).shape
    (3, 4)
    """
    if outputs.dtype.kind != "f":
        raise CheckError(
            f"float-bits looks at floating-point outputs, but these have dtype {outputs.dtype}; leave it out"
        )
    rows = np.ascontiguousarray(outputs.reshape(len(outputs), -1), dtype=np.float64)
    bits = rows.view(np.uint64)
    fraction = bits & np.uint64((1 << 52) - 1)
    biased = (bits >> np.uint64(52)).astype(np.int64) & 0x7FF
    # The leading bit of a normal number is not stored.
    significand = np.where(biased > 0, fraction | np.uint64(1 << 52), fraction).astype(np.int64)
    lowest = significand & -significand
    zeros = np.where(significand > 0, np.log2(np.maximum(lowest, 1)).astype(np.int64), 0)
    exponent = np.where(significand > 0, np.maximum(biased, 1) - 1075 + zeros, 1024 + np.signbit(rows))
    parts = (rows, biased - 1023, exponent, (bits & np.uint64(0xFF)).astype(np.int64))
    return np.stack([part.astype(float) for part in parts], axis=2).reshape(len(rows), -1)


FEATURES: dict[str, FeatureMap] = {"float-bits": float_bits}
"""Feature maps by the name under which the command line knows them."""


def feature_map(features: Any) -> FeatureMap | None:
    """Return the map of a name, or the function that was given; None for None.

    Raises
    ------
    ParameterError
        It is neither.
    """
    if features is None or callable(features):
        found: FeatureMap | None = features
        return found
    if not isinstance(features, str) or features not in FEATURES:
        raise ParameterError(f"features must be a function or one of {', '.join(FEATURES)}, got {short_repr(features)}")
    return FEATURES[features]


def may_hide(features: FeatureMap | None) -> bool:
    """Whether outputs that differ may have equal features: those of a map with a name hold the outputs."""
    return features is not None and features not in FEATURES.values()
