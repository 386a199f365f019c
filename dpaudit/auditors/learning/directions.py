"""Directions in which rows of two inputs differ most in their variance, and the one in which their means differ most.

A change of a weighted sum of many columns, or of what nearly cancels in one, shows in no column alone. The quadratic
discriminant finds it: the eigenvectors of the covariance on one input, relative to that on both.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import eigh

from dpaudit.auditors.learning.quantiles import quantiles_of_columns
from dpaudit.auditors.learning.transforms import Directions, Identity
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.outputs import OutputsLike

_ROWS = 50_000
"""Outputs of either input that covariances are taken from, at most: their errors are then a hundredth."""

_LOOKED_AT = 20_000
"""Outputs of either input from which the usual range of every column is taken. Chosen by hand, for time."""

_LEAST_ROWS = 4
"""Rows for every column, at least: the covariances of fewer say nearly nothing of any direction."""

_USUAL = (0.001, 0.999)
"""Quantiles of a column between which its numbers are usual; rows with others are left out, because a few far numbers
decide a variance."""

_LEAST_USUAL = 0.25
"""Part of the rows, at least, that have only usual numbers."""

_BEYOND_CHANCE = 3.0
"""Standard errors by which a direction must be farther from equal variances than chance puts the farthest one."""

_MOST = 32
"""Directions of different variance, at most: a series has as many as it has frequencies."""

_TELLING = 4.0
"""Standard errors by which means must differ, in all columns together, for the sum in which they differ most."""

_NEARLY_CANCELLING = 0.01
"""Variance of a direction, in units in which every column has one, below which limits on single columns blur it."""

_ROUNDING = 16.0
"""Size of an eigenvalue, in units of the precision of the largest and as many as there are, below which rounding may
decide it. Measured: of 300 tables one of whose columns was the sum of the others, up to 1.0 of these units."""


def directions_transform(columns: Columns, x: OutputsLike, y: OutputsLike) -> Directions | None:
    """Weighted sums whose variances differ between the inputs; None where chance explains all such differences.

    The sum whose means differ most is among them where there are such, and where some sum nearly cancels: the linear
    score, which limits every column, does not see that one as it is.
    """
    identity = Identity(columns)
    sides = [identity(side[:_ROWS]).astype(float, copy=False) for side in (x, y)]
    low, high = quantiles_of_columns(np.concatenate([side[:_LOOKED_AT] for side in sides]), _USUAL)
    centre, scale = (low + high) / 2, (high - low) / 2
    varying = np.flatnonzero(np.isfinite(scale) & (scale > 0))
    if len(varying) < 2:
        return None
    usual = [_usual(side[:, varying], low[varying], high[varying]) for side in sides]
    least = max(_LEAST_ROWS * len(varying), int(_LEAST_USUAL * len(sides[0])))
    if min(map(len, usual)) < least:
        return None
    of_x, of_y = ((side - centre[varying]) / scale[varying] for side in usual)
    found = _found(of_x, of_y)
    if found is None:
        return None
    matrix = np.zeros((sides[0].shape[1], found.shape[1]))
    matrix[varying] = found / scale[varying, None]
    return Directions(columns, matrix) if np.isfinite(matrix).all() else None


def _usual(rows: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Rows all of whose numbers are within their limits."""
    return rows[((rows >= low) & (rows <= high)).all(axis=1)]


def _found(x: np.ndarray, y: np.ndarray) -> np.ndarray | None:
    """Directions, shape (columns, directions), of rows on either input."""
    own = [np.cov(side, rowvar=False) for side in (x, y)]
    within = (own[0] + own[1]) / 2
    spread = np.sqrt(np.diag(within))
    kept = np.flatnonzero(spread > 0)
    if len(kept) < 2:
        return None
    unit = 1 / np.outer(spread[kept], spread[kept])
    sizes, axes = eigh(within[np.ix_(kept, kept)] * unit)
    real = sizes > _ROUNDING * len(sizes) * np.finfo(float).eps * sizes[-1]
    whiten = axes[:, real] / np.sqrt(sizes[real])
    ratios, turned = eigh(whiten.T @ (own[0][np.ix_(kept, kept)] * unit) @ whiten)
    apart = np.abs(ratios - 1)
    # The largest eigenvalue of the difference of two sample covariances of noise (Marchenko and Pastur), over 2.
    rows = 1 / (1 / len(x) + 1 / len(y))
    by_chance = (math.sqrt(len(ratios)) + _BEYOND_CHANCE) / math.sqrt(rows) + len(ratios) / rows / 4
    different = np.argsort(-apart, kind="stable")[:_MOST]
    different = different[apart[different] > by_chance]
    # Of numbers with far tails, variances vary by chance as their fourth moments are, which are 3 for normal ones.
    along = whiten @ turned[:, different]
    fourth = sum(_fourth_moments(side[:, kept] / spread[kept] @ along) for side in (x, y)) / 2
    different = different[apart[different] > by_chance * np.sqrt(np.maximum(fourth - 1, 2) / 2)]
    chosen = turned[:, different]
    shift = whiten.T @ ((x.mean(axis=0) - y.mean(axis=0))[kept] / spread[kept])
    # What the means differ in along the others, these say.
    shift -= chosen @ (chosen.T @ shift)
    free = len(shift) - len(different)
    telling = free > 0 and rows * float(shift @ shift) > free + _TELLING * math.sqrt(2 * free)
    if telling and (len(different) or sizes[0] < _NEARLY_CANCELLING):
        chosen = np.column_stack([chosen, shift / np.linalg.norm(shift)])
    if not chosen.shape[1]:
        return None
    made = np.zeros((x.shape[1], chosen.shape[1]))
    made[kept] = (whiten @ chosen) / spread[kept, None]
    return made


def _fourth_moments(rows: np.ndarray) -> np.ndarray:
    """Fourth moment of every column, in units of its squared variance."""
    squares = np.square(rows - rows.mean(axis=0))
    return np.asarray(np.square(squares).mean(axis=0) / np.square(squares.mean(axis=0)))
