"""A score of the bit patterns of floating-point numbers.

A sampler in floating point does not produce every number, and which ones it produces may depend on the input, although
the real-valued law that it approximates keeps its promise (Mironov, "On significance of the least significant bits for
differential privacy", CCS 2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit.auditors.columns import Columns
from dpaudit.auditors.outputs import OutputsLike, as_outputs
from dpaudit.auditors.rowscores import columns_from_json, places_to_json
from dpaudit.auditors.tables import Table

_LOOKED_AT = 20_000
_LOOKED_AT_NUMBERS = 640_000
_FEWEST_ROWS = 2000
_MOST_COLUMNS = 256
_FEW_WHOLE = 0.01
"""Part of the numbers that must not be whole for bits to be looked at."""

_MANTISSA = 52
_SHORT_MANTISSA = 23
_OF_ZERO = 1100.0
_PARTS = 3


@dataclass(frozen=True, slots=True)
class BitsScore:
    """Sum over the numbers of a function of the lowest bits of each.

    Attributes
    ----------
    columns
        How outputs become rows of numbers.
    tables
        Three functions for every number: of the exponent of its lowest bit that is set, of how many bits of its
        significand are used, and of its two lowest bits.
    """

    cost: ClassVar[int] = 2
    log_ratio: ClassVar[bool] = True

    columns: Columns
    tables: tuple[Table, ...]

    @classmethod
    def fit(cls, columns: Columns, x: OutputsLike, y: OutputsLike) -> BitsScore | None:
        """Learn from samples of both inputs; None where a part of them shows nothing, or numbers are whole."""
        x, y = as_outputs(x), as_outputs(y)
        rows = min(_LOOKED_AT, max(_FEWEST_ROWS, _LOOKED_AT_NUMBERS // x.width))
        some = [side[:rows].rows(columns) for side in (x, y)]
        if some[0].dtype.kind != "f" or some[0].shape[1] > _MOST_COLUMNS:
            return None
        finite = np.concatenate(some)
        finite = finite[np.isfinite(finite)]
        if not finite.size or np.mean(finite != np.rint(finite)) < _FEW_WHOLE:
            return None
        made = cls._of_rows(columns, *some)
        if made is None or len(x) <= rows:
            return made
        return cls._of_rows(columns, x.rows(columns), y.rows(columns))

    @classmethod
    def _of_rows(cls, columns: Columns, x: np.ndarray, y: np.ndarray) -> BitsScore | None:
        tables: list[Table] = []
        for column in range(x.shape[1]):
            parts = [_bit_columns(side[:, column]) for side in (x, y)]
            tables += [Table.fit_quickly(a, b) for a, b in zip(*parts, strict=True)]
        return cls(columns, tuple(tables)) if any(table.spread > 0 for table in tables) else None

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        rows = as_outputs(outputs).rows(self.columns)
        score = np.zeros(len(rows))
        for column in range(rows.shape[1]):
            tables = self.tables[_PARTS * column : _PARTS * (column + 1)]
            if all(table.spread == 0 for table in tables):
                score += sum(float(table.values[0]) for table in tables)
                continue
            for table, part in zip(tables, _bit_columns(rows[:, column]), strict=True):
                score += table(part) if table.spread > 0 else table.values[0]
        return score

    def describe(self, threshold: float, *, above: bool) -> Any:
        """Name the numbers whose bits are looked at."""
        width = len(self.tables) // _PARTS
        names = self.columns.names or (("output",) if width == 1 else tuple(f"output[{i}]" for i in range(width)))
        looked_at = [
            names[i] for i in range(width) if any(t.spread > 0 for t in self.tables[_PARTS * i : _PARTS * (i + 1)])
        ]
        return {
            "sum of functions of the lowest bits of numbers": f"{'>=' if above else '<='} {threshold:.17g}",
            "numbers": looked_at,
        }

    def to_json(self) -> dict[str, Any]:
        """Columns and tables."""
        return {
            "kind": "bits",
            "positions": self.columns.positions,
            "categories": list(self.columns.categories),
            **places_to_json(self.columns),
            "tables": [{"edges": table.edges.tolist(), "values": table.values.tolist()} for table in self.tables],
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> BitsScore:
        """Make the score again."""
        tables = (
            Table(np.array(table["edges"], dtype=float), np.array(table["values"], dtype=float))
            for table in raw["tables"]
        )
        return cls(columns_from_json(raw), tuple(tables))


def _bit_columns(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Exponent of the lowest set bit, used bits of the significand, and the two lowest bits of every number."""
    short = values.dtype == np.float32
    mantissa = _SHORT_MANTISSA if short else _MANTISSA
    numbers = np.ascontiguousarray(values, dtype=np.float32 if short else np.float64)
    bits = numbers.view(np.uint32 if short else np.uint64).astype(np.uint64)
    fraction = bits & np.uint64((1 << mantissa) - 1)
    biased = (bits >> np.uint64(mantissa)).astype(np.int64) & (0xFF if short else 0x7FF)
    # The leading bit of a normal number is not stored.
    significand = np.where(biased > 0, fraction | np.uint64(1 << mantissa), fraction).astype(np.int64)
    lowest = (significand & -significand).astype(np.float64)
    zeros = np.frexp(lowest)[1] - 1.0
    is_zero = significand == 0
    exponent = np.maximum(biased, 1) - (0x7F if short else 0x3FF) - mantissa + zeros
    exponent[is_zero] = _OF_ZERO
    used = np.where(is_zero, -1.0, mantissa - zeros)
    return exponent, used, (bits & np.uint64(3)).astype(float)
