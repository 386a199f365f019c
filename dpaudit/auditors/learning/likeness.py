"""Two columns of many that are more alike on one input than on the other, such as answers that share their noise.

Each of them alone shows nothing, and of hundreds of columns there are too many pairs for tables.
"""

from __future__ import annotations

import math

import numpy as np

from dpaudit.auditors.learning.quantiles import quantiles_of_columns
from dpaudit.auditors.learning.transforms import Directions, Identity
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.outputs import OutputsLike

MOST_COLUMNS = 2048
"""Columns, at most, all pairs of which are compared: two million. Chosen by hand, for time."""

MOST_SUMMED = 32
"""Columns, at most, of which one may be the sum of the others."""

_TELLING = 4.0
"""Standard errors, about, by which the numbers of exact totals on the two inputs must differ."""

_ROUNDING = 1e-14
"""Part of the sizes of all numbers by which a total may miss their sum, as floating-point numbers do."""

_ROWS = 4000
"""Outputs of either input that are compared, at most. Chosen by hand, for time."""

_LEAST_ROWS = 100
"""Outputs of either input, at least, that tell likeness from luck."""

_USUAL = (0.001, 0.999)
"""Quantiles that numbers beyond them count as, because a few far numbers decide a correlation."""

_APART = 6.5
"""Standard errors by which a correlation must differ between the inputs. Where no two of 2,048 normal columns differ in
that, one pair or more seems to with probability 2e-4."""

_MOST_PAIRS = 8
"""Pairs of columns, at most: those whose correlations differ most. Chosen by hand."""

_ONE_UNIT = 1.1
"""How many times as large as the other the standard deviation of one of two columns is for one unit, at most. Chosen by
hand."""

_NEARLY_ONE = 1 - 1e-6
"""Correlation that larger ones count as, which single precision does not tell apart."""


def others_transform(columns: Columns, x: OutputsLike, y: OutputsLike) -> Directions | None:
    """Columns less the sum of the others, of those that are just this sum more often on one input; None if none is."""
    sides = [Identity(columns)(side[:_ROWS]).astype(float, copy=False) for side in (x, y)]
    width = sides[0].shape[1]
    if not 2 < width <= MOST_SUMMED:
        return None
    counts = np.zeros((2, width))
    for count, side in zip(counts, sides, strict=True):
        with np.errstate(over="ignore", invalid="ignore"):
            left = 2 * side - side.sum(axis=1, keepdims=True)
            count += (np.abs(left) <= _ROUNDING * np.abs(side).sum(axis=1, keepdims=True)).sum(axis=0)
    least = _TELLING * np.sqrt(counts.sum(axis=0))
    totals = np.flatnonzero(np.abs(counts[0] / len(sides[0]) - counts[1] / len(sides[1])) * len(sides[0]) > least)
    return Directions(columns, (2 * np.eye(width) - 1)[:, totals]) if len(totals) else None


def alike_transform(columns: Columns, x: OutputsLike, y: OutputsLike) -> Directions | None:
    """Differences, or sums, of two columns of which one input makes nearly one number; None where there are none.

    Columns are in units of their standard deviation on the input on which they are more alike; in one, if these are
    about equal.
    """
    sides = [Identity(columns)(side[:_ROWS]).astype(float, copy=False) for side in (x, y)]
    width = sides[0].shape[1]
    if width > MOST_COLUMNS or min(map(len, sides)) < _LEAST_ROWS:
        return None
    low, high = quantiles_of_columns(np.concatenate(sides), _USUAL)
    usual = [np.clip(side, low, high) for side in sides]
    spreads = [side.std(axis=0) for side in usual]
    alike = [_correlations(side, spread) for side, spread in zip(usual, spreads, strict=True)]
    # Fisher's transform: its standard error is that of independent columns, whatever the correlation is.
    apart = np.abs(np.arctanh(alike[0]) - np.arctanh(alike[1]))
    apart[np.tril_indices(width)] = 0
    flat = apart.ravel()
    far = np.argpartition(flat, -min(_MOST_PAIRS, len(flat)))[-_MOST_PAIRS:]
    least = _APART * math.sqrt(1 / len(sides[0]) + 1 / len(sides[1]))
    pairs = [divmod(int(place), width) for place in far[np.argsort(-flat[far], kind="stable")] if flat[place] > least]
    if not pairs:
        return None
    matrix = np.zeros((width, len(pairs)))
    for number, (one, other) in enumerate(pairs):
        side = int(abs(alike[1][one, other]) > abs(alike[0][one, other]))
        units = spreads[side][[one, other]]
        if units.max() < _ONE_UNIT * units.min():
            # What two columns share exactly cancels exactly.
            units[:] = units.mean()
        matrix[[one, other], number] = 1 / units
        matrix[other, number] *= -math.copysign(1, alike[side][one, other])
    return Directions(columns, matrix) if np.isfinite(matrix).all() else None


def _correlations(rows: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Correlation of any two columns, short of one; 0 where one never varies."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        units = np.nan_to_num((rows - rows.mean(axis=0)) / spread, posinf=0.0, neginf=0.0).astype(np.float32)
    return np.asarray(np.clip(units.T @ units / np.float32(len(rows)), -_NEARLY_ONE, _NEARLY_ONE))
