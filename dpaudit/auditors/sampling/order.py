"""What the order of rows says against their independence, on which a bound from samples rests."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

_FEWEST = 100
"""Rows below which nothing is said."""

_MOST_COLUMNS = 64
_ERRORS = 8.0
"""Standard errors under a random order beyond which an order is not random."""

_FEW_VALUES = 50
"""Values up to which rows that stand together by their value are a grouped export."""


def order_notes(rows: np.ndarray, name: str) -> list[str]:
    """Return what is odd about the order of rows, in words that name what to do; a sorted or grouped order is not odd.

    Parameters
    ----------
    rows
        Outputs along axis 0, in the order of their file.
    name
        What the words call them.
    """
    if len(rows) < _FEWEST:
        return []
    columns = list(_columns(rows))
    counting = [label for label, values in columns if _counts_up(values)]
    notes = [
        f"{label or 'the output'} of {name} grows by the same step from row to row, as a row number does; leave it out "
        "unless the mechanism puts it out"
        for label in counting
    ]
    rest = [(label, values) for label, values in columns if label not in counting]
    if not rest or any(_is_sorted(values) for _, values in rest):
        return notes
    codes = _codes(rest)
    if 1 + int(np.count_nonzero(np.diff(codes))) == int(codes.max()) + 1 <= _FEW_VALUES:
        return notes
    if _repeats(codes) or any(_is_correlated(values) for _, values in rest):
        notes.append(
            f"rows of {name} seem to depend on those before them, as the steps of one run do, or outputs written more "
            "than once; the bound holds for independent rows alone: give each output of a run of its own once"
        )
    return notes


def _columns(rows: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the columns with what they are called; each as codes in the order of its values."""
    if rows.dtype.names:
        parts = [(f"column {name}", rows[name]) for name in rows.dtype.names]
    else:
        flat = rows.reshape(len(rows), -1)
        parts = [(f"column {i + 1}" if flat.shape[1] > 1 else "", flat[:, i]) for i in range(flat.shape[1])]
    for label, values in parts[:_MOST_COLUMNS]:
        if values.dtype.kind == "O":
            texts = [str(value) for value in values.tolist()]
            yield label, np.unique(np.array(texts), return_inverse=True)[1].astype(np.int64)
        elif values.dtype.kind in "biuf":
            yield label, values
        elif values.dtype.kind in "mM":
            yield label, values.astype(np.int64)


def _counts_up(values: np.ndarray) -> bool:
    if values.dtype.kind == "b" or not np.isfinite(values).all():
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.diff(values)
    return bool(steps[0] != 0 and (steps == steps[0]).all())


def _is_sorted(values: np.ndarray) -> bool:
    up, down = values[1:] >= values[:-1], values[1:] <= values[:-1]
    return bool(up.all() != down.all())


def _codes(columns: list[tuple[str, np.ndarray]]) -> np.ndarray:
    """Return a number for each row, equal for equal ones, from 0 on."""
    codes = np.zeros(len(columns[0][1]), dtype=np.int64)
    for _, values in columns:
        found = np.unique(values, return_inverse=True)[1].astype(np.int64)
        codes = np.unique(codes * (int(found.max()) + 1) + found, return_inverse=True)[1].astype(np.int64)
    return codes


def _repeats(codes: np.ndarray) -> bool:
    """Whether equal rows follow each other more often than in a random order."""
    counts = np.bincount(codes).astype(float)
    n, pairs = float(len(codes)), int(np.count_nonzero(codes[1:] == codes[:-1]))
    squares, cubes = float((counts**2).sum()), float((counts**3).sum())
    # The number of runs under a random order, by Barton and David.
    mean = (squares - n) / n
    variance = (squares * (squares + n * (n + 1)) - 2 * n * cubes - n**3) / (n**2 * (n - 1))
    return pairs - mean > _ERRORS * math.sqrt(max(variance, 1.0))


def _is_correlated(values: np.ndarray) -> bool:
    """Whether the ranks of neighbours are correlated."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks: Any = (ends - (counts - 1) / 2)[codes]
    ranks = ranks - ranks.mean()
    power = float((ranks**2).sum())
    if power == 0 or len(counts) < 3:
        return False
    return abs(float((ranks[1:] * ranks[:-1]).sum())) / power * math.sqrt(len(ranks)) > _ERRORS
