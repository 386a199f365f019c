"""A score of rows in which one column says what the others mean, such as a cohort beside the bits that it hashes to.

The outputs with the same value in that column are a group, and within each group the other columns have step functions
of their own. Of many columns with few values, the one is taken within whose groups the others say most beyond what
they say alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from dpaudit.auditors.learning.row_scores import AdditiveScore, PairScore, cell_numbers
from dpaudit.auditors.learning.tables import Table
from dpaudit.auditors.learning.transforms import Transform
from dpaudit.auditors.outputs.outputs import OutputsLike
from dpaudit.auditors.sampling.pace import check_time

_FIRST = 2000
"""Outputs of both inputs together from which columns of few values are told. Chosen by hand: a value that is one of a
hundred comes 20 times in them."""

_MOST_GROUPS = 128
"""Values of a column that makes groups, at most. Chosen by hand: `_ROWS` outputs leave each group some 800."""

_LEAST_IN_GROUP = 2
"""How often these values come in the first outputs in the mean, at least. Chosen by hand: numbers with noise come
once."""

_CELLS = 4
"""Cells of a column within a group; columns of up to twice as many values have one for each. Chosen by hand: each of
128 groups then leaves a cell some 200 outputs."""

_ROWS = 100_000
"""Outputs of either input that learn. Chosen by hand, for time, as for pairs of columns."""

_VALUES = 8_000_000
"""Numbers in these outputs, at most: wider rows teach by fewer. Chosen by hand, for time and memory."""

_COMPARED = 20_000
"""Outputs of either input by which the columns that may make groups are compared, at most. Chosen by hand, for time."""

_OPERATIONS = 4e9
"""Additions and multiplications that this takes for either input, at most: less than half a second. Chosen by hand."""

_BLOCK_ROWS = 4096
"""Outputs that are compared at a time, so that what is worked out from them stays small. Chosen by hand."""

_SURPRISING = 5.0
"""Standard deviations of chance from which on groups say something beyond the columns alone, as for pairs of columns:
of 256 columns of which none does, chance lets one through in about 10,000 scores."""

_LEAST_SURPRISING = 2.0
"""The same for each column within the groups that were taken. Chosen by hand: of 128 columns that say nothing there,
chance leaves three in the score."""


def learn_groups(transform: Transform, x: OutputsLike, y: OutputsLike) -> PairScore | None:
    """Step functions of all columns, alone and within the groups that one of them makes; None where none does."""
    first = np.concatenate([transform(side[: _FIRST // 2]) for side in (x, y)])
    grouping = [i for i, column in enumerate(first.T) if _has_few_values(column)]
    if first.shape[1] < 2 or not grouping:
        return None
    rows = max(_FIRST, min(_ROWS, _VALUES // first.shape[1]))
    x, y = (transform(side[:rows]) for side in (x, y))
    some = np.concatenate([x[:_COMPARED], y[:_COMPARED]]).T
    edges = [_edges(column, 2 * _CELLS) for column in some]
    columns = [_Cells.of(dict(enumerate(edges)), side) for side in (x, y)]
    of_groups = _affordable({i: _edges(some[i], _MOST_GROUPS) for i in grouping}, columns[0].total)
    groups = [_Cells.of(of_groups, side) for side in (x, y)]
    group = _most_surprising(groups, columns)
    if group is None:
        return None
    edges[group] = of_groups[group]
    pairs, tables = [], []
    for other in columns[0].sizes:
        check_time()
        if other != group:
            extra, variances = _beyond_alone(
                [_counted(*both, group, other) for both in zip(groups, columns, strict=True)]
            )
            if _surprise(float(np.sum(extra**2 / variances)), extra.size) > _LEAST_SURPRISING:
                pairs.append([group, other])
                tables.append(_shrunk(extra, np.sqrt(variances)).ravel())
    if not pairs:
        return None
    alone = AdditiveScore(transform, tuple(Table.fit_columns(x, y)))
    return PairScore(alone, tuple(edges), np.array(pairs), tuple(tables))


def _has_few_values(column: np.ndarray) -> bool:
    values = np.unique(column)
    return 1 < len(values) <= _MOST_GROUPS and len(values) * _LEAST_IN_GROUP <= len(column)


def _edges(column: np.ndarray, most: int) -> np.ndarray:
    """Where cells begin: at every value but the smallest of a column of few, and else at quantiles."""
    values = np.unique(column)
    if len(values) <= most:
        return values[1:].astype(float)
    return np.unique(np.quantile(column, np.arange(1, _CELLS) / _CELLS, method="nearest")).astype(float)


def _affordable(edges: dict[int, np.ndarray], total: int) -> dict[int, np.ndarray]:
    """Columns that there is time to compare as groups, those of fewest values first."""
    left, kept = _OPERATIONS / (2 * total * _FIRST), {}
    for i in sorted(edges, key=lambda i: len(edges[i])):
        left -= len(edges[i]) + 1
        if left >= 0:
            kept[i] = edges[i]
    return kept


class _Cells(NamedTuple):
    """Cell of every output in some columns that have several, and how many these have, by column."""

    numbers: dict[int, np.ndarray]
    sizes: dict[int, int]

    @classmethod
    def of(cls, edges: dict[int, np.ndarray], rows: np.ndarray) -> Self:
        varying = {i: edge for i, edge in edges.items() if len(edge)}
        numbers = {i: cell_numbers(edge, rows[:, i]) for i, edge in varying.items()}
        return cls(numbers, {i: len(edge) + 1 for i, edge in varying.items()})

    @property
    def total(self) -> int:
        """Cells of all these columns."""
        return sum(self.sizes.values())

    def inside(self, outputs: slice) -> np.ndarray:
        """Whether some outputs are in each cell, shape (cells, size)."""
        made = [self.numbers[i][outputs] == np.arange(size)[:, None] for i, size in self.sizes.items()]
        return np.concatenate(made).astype(np.float32)


def _counted(groups: _Cells, columns: _Cells, i: int, j: int) -> np.ndarray:
    """How many outputs are in every cell of a column that makes groups and of another one, together."""
    shape = groups.sizes[i], columns.sizes[j]
    return np.bincount(groups.numbers[i] * shape[1] + columns.numbers[j], minlength=math.prod(shape)).reshape(shape)


def _log_ratios(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log-ratios of counts, and their variances."""
    return np.log((x + 0.5) / (y + 0.5)), 1 / (x + 0.5) + 1 / (y + 0.5)


def _beyond_alone(counts: Sequence[np.ndarray], rows: int = 0, columns: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """What cells of two columns say together beyond the two alone, and the variances of that.

    Counts are those of both inputs, in cells of several columns by several others where ``rows`` and ``columns`` say
    how many the first of each have: all outputs are in one of these.
    """
    ratios, variances = _log_ratios(counts[0], counts[1])
    first, _ = _log_ratios(*(each[:, : columns or None].sum(axis=1) for each in counts))
    second, _ = _log_ratios(*(each[: rows or None].sum(axis=0) for each in counts))
    return ratios - np.add.outer(first, second), variances


def _surprise(squares: float, count: int) -> float:
    """Standard deviations by which a sum of so many squares is larger than chance makes it."""
    return (squares - count) / math.sqrt(2 * count)


def _most_surprising(groups: Sequence[_Cells], columns: Sequence[_Cells]) -> int | None:
    """Column within whose groups all others together say most beyond what they say alone; None where chance does."""
    of_groups, of_columns = groups[0].sizes, columns[0].sizes
    if not (of_groups and of_columns):
        return None
    rows = len(next(iter(groups[0].numbers.values())))
    rows = int(min(_COMPARED, rows, max(_FIRST, _OPERATIONS / (2 * groups[0].total * columns[0].total))))
    counts = []
    for each, others in zip(groups, columns, strict=True):
        together = np.zeros((each.total, others.total))
        for begin in range(0, rows, _BLOCK_ROWS):
            check_time()
            block = slice(begin, min(begin + _BLOCK_ROWS, rows))
            together += each.inside(block) @ others.inside(block).T
        counts.append(together)
    extra, variances = _beyond_alone(counts, next(iter(of_groups.values())), next(iter(of_columns.values())))
    starts = np.cumsum([0, *of_columns.values()])[:-1]
    squares = np.add.reduceat(extra**2 / variances, starts, axis=1)
    most, found = _SURPRISING, None
    for i, of_one in zip(of_groups, np.split(squares, np.cumsum(list(of_groups.values()))[:-1]), strict=True):
        different = np.array([j != i for j in of_columns])
        count = of_groups[i] * sum(size for j, size in of_columns.items() if j != i)
        surprise = _surprise(float(of_one[:, different].sum()), count) if count else 0.0
        if surprise > most:
            most, found = surprise, i
    return found


def _shrunk(values: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Estimates of values with such standard errors, each moved towards 0 by the same number of these.

    The number is that for which Stein's unbiased estimate of the mean squared error, in units of the standard errors,
    is least: a few large values among many that are nothing keep their size, and many that are small shrink little.
    Donoho and Johnstone, "Adapting to unknown smoothness via wavelet shrinkage", Journal of the American Statistical
    Association 1995, section 2.
    """
    sizes = np.abs(values / errors)
    ordered = np.sort(sizes.ravel())
    count = len(ordered)
    below = np.arange(1, count + 1)
    risks = count - 2 * below + np.cumsum(ordered**2) + (count - below) * ordered**2
    moved = float(ordered[np.argmin(risks)]) if risks.min() < count else 0.0
    return np.asarray(np.sign(values) * np.maximum(sizes - moved, 0.0) * errors)
