"""Sums of step functions of many columns, looked up in even cells instead of searched edge by edge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dpaudit.auditors.learning.tables import Table

_BLOCK_VALUES = 1 << 16
"""Numbers that are looked up at a time: enough that what a block takes however few they are hardly counts, and few
enough that what is worked out from them, some 20 bytes each, stays in the cache. Measured: 2^15 and 2^17 take a tenth
longer."""

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
    begins
        Number of the first cell of every column, shape (k, 1).
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
    begins: np.ndarray
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
        begins = cells * np.arange(len(columns), dtype=np.int32)[:, None]
        edges = np.concatenate([table.edges for table in varying]).astype(float)
        column_of = np.repeat(np.arange(len(columns)), [len(table.edges) for table in varying])
        numbers = _cell_numbers(edges, low[column_of, 0], factor[column_of, 0], begins[column_of, 0], cells)
        first = np.r_[0, np.cumsum(np.bincount(numbers, minlength=len(columns) * cells))]
        values = np.concatenate([table.values for table in varying])
        known = values[first[:-1] + np.repeat(np.arange(len(columns)), cells)]
        known[first[1:] > first[:-1]] = np.nan
        base = float(sum(table.values[0] for table in tables if not table.spread > 0))
        return cls(columns, low, factor, begins, cells, known, first, edges, values, base)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Sum for every row, shape (size,)."""
        score = np.empty(len(rows))
        for at, block, cells, found in self._found(rows):
            total = _sum(found)
            if np.isnan(total).any():
                self._search_open(block, cells, found)
                total = _sum(found)
            score[at] = total
        return score + self.base if self.base else score

    def each(self, rows: np.ndarray, dtype: Any = float) -> np.ndarray:
        """Value of every column that varies, shape (k, size)."""
        made = np.empty((len(self.columns), len(rows)), dtype=dtype)
        for at, block, cells, found in self._found(rows):
            self._search_open(block, cells, found)
            made[:, at] = found
        return made

    def _found(self, rows: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray, np.ndarray]]:
        """Yield some rows at a time: which, their numbers, and the cell and the value of each, shape (k, rows).

        A value is NaN where edges are inside of the cell. The next rows take the place of these.
        """
        count = len(self.columns)
        some = None if count == rows.shape[1] else self.columns
        step = max(1, min(_BLOCK_VALUES // count, len(rows)))
        numbers, narrow = np.empty(count * step, dtype=self.low.dtype), np.empty(count * step, dtype=np.int32)
        numbered, values = np.empty(count * step, dtype=np.intp), np.empty(count * step)
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            if rows.dtype.kind != "f":
                # Only of numbers of double precision, as which they are compared, is the cell a rising function.
                block = block.astype(float)
            if some is not None:
                block = block[:, some]
            shape = (count, len(block))
            at, found = (each[: block.size].reshape(shape) for each in (numbers, values))
            whole, cells = narrow[: block.size].reshape(shape), numbered[: block.size].reshape(shape)
            with np.errstate(over="ignore"):
                np.copyto(at, block.T, casting="same_kind")
            np.copyto(cells, _to_cells(at, whole, self.low, self.factor, self.begins, self.cells))
            # All cells are there, so that nothing is wrapped; this only spares a check.
            self.known.take(cells, mode="wrap", out=found)
            yield slice(start, start + step), block, cells, found

    def _search_open(self, block: np.ndarray, cells: np.ndarray, found: np.ndarray) -> None:
        """Put the value of a number in the place of NaN where edges are inside of its cell."""
        open_ = np.flatnonzero(np.isnan(found))
        if len(open_):
            column, row = np.divmod(open_, found.shape[1])
            found.ravel()[open_] = self._searched(block[row, column], cells.ravel()[open_], column)

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
        # The first cell is for what lies below all edges, or all but a few; rounding moves none of these into it.
        low -= 1.5 / factor
    return (float(low), float(factor)) if np.isfinite(low) and 0 < factor < np.inf else (0.0, 1.0)


def _single_suffices(low: np.ndarray, factor: np.ndarray, cells: int) -> bool:
    """Whether numbers of single precision, of which twice as many are worked on at a time, tell all cells apart."""
    with np.errstate(over="ignore"):
        ends = np.maximum(np.abs(low), np.abs(low + cells / factor))
        suits = (ends * factor < _SINGLE_CELLS) & (np.maximum(ends, factor) < _SINGLE) & (factor > 1 / _SINGLE)
    return bool(suits.all())


def _cell_numbers(
    numbers: np.ndarray, low: np.ndarray, factor: np.ndarray, begins: np.ndarray, cells: int
) -> np.ndarray:
    """Cells of numbers: a rising function, so that an edge in another cell is below or above a number for certain."""
    with np.errstate(over="ignore"):
        at = numbers.astype(low.dtype)
    return _to_cells(at, np.empty(at.shape, dtype=np.int32), low, factor, begins, cells)


def _to_cells(
    numbers: np.ndarray, whole: np.ndarray, low: np.ndarray, factor: np.ndarray, begins: np.ndarray, cells: int
) -> np.ndarray:
    """Cells of numbers, which are changed, as short integers: processors convert several numbers at a time to these."""
    with np.errstate(over="ignore", invalid="ignore"):  # numbers may be infinite
        numbers -= low
        numbers *= factor
        np.clip(numbers, 0, cells - 1, out=numbers)
        np.copyto(whole, numbers, casting="unsafe")
    # What is no number became one below all others, or 0.
    np.maximum(whole, 0, out=whole)
    whole += begins
    return whole


def _sum(found: np.ndarray) -> np.ndarray:
    """Sum of the values of all columns in their order, shape (rows,)."""
    # The numbers of a single row would be added up in another order.
    return np.asarray(found.sum(axis=0) if found.shape[1] > 1 else np.cumsum(found, axis=0)[-1])
