"""Quantiles of the columns of rows, from one sort of each column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def turned(rows: np.ndarray) -> np.ndarray:
    """Columns of rows, each in one piece of memory, shape (columns, size)."""
    return np.ascontiguousarray(rows.T)


def quantiles_of_columns(rows: np.ndarray, levels: Sequence[float]) -> np.ndarray:
    """Quantiles of every column, shape (levels, columns), linear between the numbers, as `numpy.quantile` has them.

    One that is among the numbers is also right where the next number is infinite.
    """
    ordered = np.sort(turned(rows), axis=1)
    last = ordered.shape[1] - 1
    places = np.asarray(levels) * last
    below = places.astype(np.intp)
    part = (places - below)[:, None]
    low, high = (ordered[:, at].T for at in (below, np.minimum(below + 1, last)))
    with np.errstate(invalid="ignore"):  # numbers may be infinite
        step = np.where(part > 0, high - low, 0.0)
        return np.asarray(np.where(part < 0.5, low + step * part, high - step * (1 - part)))


def lower_quantiles(ordered: np.ndarray, levels: Sequence[float] | np.ndarray) -> np.ndarray:
    """Quantiles of ordered numbers that are among them: of two numbers that a quantile is between, the lower one."""
    return np.asarray(ordered[(np.asarray(levels) * (len(ordered) - 1)).astype(np.intp)])
