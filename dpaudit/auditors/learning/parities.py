"""A score of parities of bits of whole numbers, alone or beside a sign, as reports of Hadamard responses are.

All parities of the bits of a number are its Walsh functions, whose means one fast transform gives at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dpaudit.auditors.learning.row_scores import AdditiveScore
from dpaudit.auditors.learning.tables import Table
from dpaudit.auditors.learning.transforms import Parities, Transform
from dpaudit.auditors.outputs.outputs import OutputsLike
from dpaudit.auditors.sampling.pace import check_time

_LEAST_NUMBERS = 32
"""The largest number of a column, at least. Chosen by hand: each of fewer numbers is seen often enough on its own."""

_MOST_COLUMNS = 8
"""Columns of whole numbers that are looked at, and of two values beside them, at most. Chosen by hand, for time."""

_SURPRISING = 1.5
"""Standard errors beyond the largest that chance alone is expected to make of so many parities. Chosen by hand: of
32, chance lets one through in one of 870 audits, and of 2^16 in one of 29,000, by the normal approximation."""

_MOST_TELLING = 8
"""Parities, at most, that a score looks at. Chosen by hand: a report tells of its own input and of the other one."""


def learn_parities(identity: Transform, x: OutputsLike, y: OutputsLike) -> AdditiveScore | None:
    """Step functions of the parities whose means differ clearly between the inputs; None where none do."""
    x, y = identity(x), identity(y)
    found: list[tuple[float, tuple[int, int, int | None, float]]] = []
    tried = 0
    for column, other, larger in _candidates(x, y):
        check_time()
        size = 1 << int(max(x[:, column].max(), y[:, column].max())).bit_length()
        means = [_walsh(_signed(side, column, other, larger, size)) / len(side) for side in (x, y)]
        apart = np.abs(means[0] - means[1]) / math.sqrt(1 / len(x) + 1 / len(y))
        tried += size
        found += [
            (float(apart[bits]), (column, int(bits), other, larger)) for bits in np.argsort(-apart)[:_MOST_TELLING]
        ]
    least = math.sqrt(2 * math.log(max(tried, 2))) + _SURPRISING
    telling = sorted((item for item in found if item[0] > least), key=lambda item: -item[0])[:_MOST_TELLING]
    if not telling:
        return None
    transform = Parities(identity.columns, tuple(function for _, function in telling))
    return AdditiveScore(transform, tuple(Table.fit_columns(transform.of_rows(x), transform.of_rows(y))))


def _candidates(x: np.ndarray, y: np.ndarray) -> Iterator[tuple[int, int | None, float]]:
    """Columns of whole numbers of many values, alone and beside each column of two values with the larger of these."""
    whole, signs = [], []
    for column, (of_x, of_y) in enumerate(zip(x.T, y.T, strict=True)):
        low, high = min(of_x.min(), of_y.min()), max(of_x.max(), of_y.max())
        if low < high and all(((side == low) | (side == high)).all() for side in (of_x, of_y)):
            signs.append((column, float(high)))
        elif low >= 0 and _LEAST_NUMBERS <= high < Parities.MOST and all((s == np.rint(s)).all() for s in (of_x, of_y)):
            whole.append(column)
    for column in whole[:_MOST_COLUMNS]:
        yield column, None, 0.0
        yield from ((column, sign, larger) for sign, larger in signs[:_MOST_COLUMNS])


def _signed(rows: np.ndarray, column: int, other: int | None, larger: float, size: int) -> np.ndarray:
    """How often each number comes, those beside the larger of two values taken off."""
    signs = None if other is None else np.where(rows[:, other] >= larger, -1.0, 1.0)
    return np.bincount(rows[:, column].astype(np.intp), weights=signs, minlength=size).astype(float)


def _walsh(counts: np.ndarray) -> np.ndarray:
    """Sums of the counts; in each, those whose place has an odd number of bits in common with its own are taken off."""
    step = 1
    while step < len(counts):
        halves = counts.reshape(-1, 2, step)
        counts = np.stack([halves[:, 0] + halves[:, 1], halves[:, 0] - halves[:, 1]], axis=1).ravel()
        step *= 2
    return counts
