"""Sums of step functions of many columns, looked up in even cells instead of searched edge by edge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dpaudit.auditors.learning.tables import Table

_BLOCK_VALUES = 1 << 17
"""Numbers that are looked up at a time: enough that the cells of a column, once in the cache, serve for many rows."""

_CELLS_PER_EDGE = 256
_LEAST_CELLS, _MOST_CELLS = 64, 4096
_ALL_CELLS = 1 << 17
"""Limits of the cells of a column, and of all columns together as long as each has the least."""

_WITHIN = 0.1
"""Part of the edges on either end that the even cells need not reach: a few far edges would make them too wide."""

_SINGLE_CELLS = 1 << 20
"""Cells from 0 to either end of a column, below which single precision tells numbers a sixteenth of a cell apart."""

_SINGLE = 1e37
"""Numbers below this, and above its inverse, are numbers of single precision to full accuracy."""

_NARROW = 1e9
"""Cells to a unit, or to the size of the edge, where there is only one: hardly a number is in the cell of the edge."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """Sum over columns of a step function of each.

    A number's cell decides its value, but for cells with an edge inside, in which the number is compared with the
    edges. The sum is the same to the last bit as that of the tables one by one, in their order.

    Attributes
    ----------
    columns
        Which columns vary, shape (k,).
    low, factor
        Cell of a number ``v`` of a column: the whole part of ``(v - low) * factor``, limited to 0 to ``cells - 1``;
        shape (k, 1), in the precision in which cells are worked out.
    cells
        Cells of every column.
    known
        Value of every cell, those of one column after those of the other; NaN where edges are inside.
    first
        Place among ``edges`` of the first edge that is not below the cell; one more than there are cells.
    edges, values
        Edges of all columns, and values of all pieces; those of column i begin i places later among the values.
    base
        Sum of the functions that do not vary.
    """

    columns: np.ndarray
    low: np.ndarray
    factor: np.ndarray
    cells: int
    known: np.ndarray
    first: np.ndarray
    edges: np.ndarray
    values: np.ndarray
    base: float

    @classmethod
    def of(cls, tables: Sequence[Table]) -> Self | None:
        """Prepare tables; None where none varies."""
        columns = np.array([i for i, table in enumerate(tables) if table.spread > 0], dtype=np.intp)
        if not len(columns):
            return None
        varying = [tables[i] for i in columns]
        most = max(len(table.edges) for table in varying)
        within = max(_LEAST_CELLS, min(_MOST_CELLS, _CELLS_PER_EDGE * most, _ALL_CELLS // len(columns)))
        low, factor = np.empty((len(columns), 1)), np.empty((len(columns), 1))
        for place, table in enumerate(varying):
            low[place], factor[place] = _even(table.edges[np.isfinite(table.edges)].astype(float), within)
        cells = within + 3
        if _single_suffices(low, factor, cells):
            low, factor = low.astype(np.float32), factor.astype(np.float32)
        edges = np.concatenate([table.edges for table in varying]).astype(float)
        column_of = np.repeat(np.arange(len(columns)), [len(table.edges) for table in varying])
        numbers = _cell_numbers(edges, low[column_of, 0], factor[column_of, 0], cells)
        numbers += column_of * cells
        first = np.r_[0, np.cumsum(np.bincount(numbers, minlength=len(columns) * cells))]
        values = np.concatenate([table.values for table in varying])
        known = values[first[:-1] + np.repeat(np.arange(len(columns)), cells)]
        known[first[1:] > first[:-1]] = np.nan
        base = float(sum(table.values[0] for table in tables if not table.spread > 0))
        return cls(columns, low, factor, cells, known, first, edges, values, base)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Sum for every row, shape (size,)."""
        score = np.empty(len(rows))
        for at, found in self._found(rows):
            score[at] = found.sum(axis=0)
        return score + self.base if self.base else score

    def each(self, rows: np.ndarray, dtype: Any = float) -> np.ndarray:
        """Value of every column that varies, shape (size, k)."""
        made = np.empty((len(rows), len(self.columns)), dtype=dtype)
        for at, found in self._found(rows):
            made[at] = found.T
        return made

    def _found(self, rows: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield the values of the columns, shape (k, rows), for some rows at a time."""
        count = len(self.columns)
        some = None if count == rows.shape[1] else self.columns
        step = max(1, _BLOCK_VALUES // count)
        begins = (np.arange(count, dtype=np.int32) * self.cells)[:, None]
        if rows.dtype.kind != "f":
            # Whole numbers are compared as numbers of double precision: only of these is the cell a rising function.
            rows = rows.astype(float)
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            if some is not None:
                block = block[:, some]
            at = _cell_numbers(block.T, self.low, self.factor, self.cells)
            at += begins
            found = self.known.take(at)
            inside = np.flatnonzero(np.isnan(found))
            if len(inside):
                column = inside // len(block)
                numbers = block[inside - column * len(block), column]
                found.ravel()[inside] = self._searched(numbers, at.ravel()[inside], column)
            yield slice(start, start + step), found

    def _searched(self, numbers: np.ndarray, cells: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Value at numbers in cells with edges: mostly one, and else by bisection."""
        found, high = self.first[cells], self.first[cells + 1]
        several = np.flatnonzero(high - found > 1)
        if len(several):
            low, high, some = found[several], high[several], numbers[several]
            for _ in range(int((high - low).max()).bit_length()):
                middle = (low + high) >> 1
                open_ = low < high
                reached = open_ & (some >= self.edges[np.minimum(middle, len(self.edges) - 1)])
                low, high = np.where(reached, middle + 1, low), np.where(open_ & ~reached, middle, high)
        found += numbers >= self.edges[found]
        if len(several):
            found[several] = low
        return np.asarray(self.values[found + columns])


def _even(edges: np.ndarray, cells: int) -> tuple[float, float]:
    """Return where the cells of a column begin and how many there are to a unit.

    Any answer is right; a good one leaves few numbers in the cells of edges.
    """
    if not len(edges):
        return 0.0, 1.0
    far = int(_WITHIN * (len(edges) - 1))
    near, middle = edges[far], edges[-1 - far]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        low, high = max(edges[0], 2 * near - middle), min(edges[-1], 2 * middle - near)
        factor = cells / (high - low) if high > low else _NARROW / max(abs(low), 1.0)
        low -= 1 / factor  # the first cell is for what lies below all edges, or all but a few
    return (float(low), float(factor)) if np.isfinite(low) and 0 < factor < np.inf else (0.0, 1.0)


def _single_suffices(low: np.ndarray, factor: np.ndarray, cells: int) -> bool:
    """Whether numbers of single precision, of which twice as many are worked on at a time, tell all cells apart."""
    with np.errstate(over="ignore"):
        ends = np.maximum(np.abs(low), np.abs(low + cells / factor))
        suits = (ends * factor < _SINGLE_CELLS) & (np.maximum(ends, factor) < _SINGLE) & (factor > 1 / _SINGLE)
    return bool(suits.all())


def _cell_numbers(numbers: np.ndarray, low: np.ndarray, factor: np.ndarray, cells: int) -> np.ndarray:
    """Cells of numbers: a rising function, so that an edge in another cell is below or above a number for certain."""
    with np.errstate(over="ignore", invalid="ignore"):  # numbers may be infinite
        at = numbers.astype(low.dtype, order="C")
        at -= low
        at *= factor
        np.clip(at, 0, cells - 1, out=at)
        if np.isnan(np.vdot(at, at)):
            np.fmax(at, 0, out=at)
    return at.astype(np.int32)
