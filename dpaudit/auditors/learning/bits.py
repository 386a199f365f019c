"""A score of what floating-point numbers carry in their lowest bits, beyond what rounding alone puts there.

Adding noise to different numbers rounds differently, so that any sampler in floating point that does this breaks its
promise in the last bits (Mironov, "On significance of the least significant bits for differential privacy", CCS 2012).
That is looked at on demand (``--features float-bits``). By default only such bits are looked at as sums of numbers of
full length do not have: rounding and cancellation make zeros, so that a lowest bit that is mostly 1 was put there; and
they make many trailing zeros very rarely, so that numbers on a coarse grid were put there too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit.auditors.learning.tables import Table
from dpaudit.auditors.learning.transforms import columns_from_json, places_to_json
from dpaudit.auditors.outputs import column_words as columnwords
from dpaudit.auditors.outputs.column_words import PLAIN, Naming
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.event_words import Axis, half_line, listed, rule, with_rule
from dpaudit.auditors.outputs.grids import is_short, short_from_json
from dpaudit.auditors.outputs.outputs import OutputsLike, as_outputs
from dpaudit.auditors.sampling.pace import check_time

_LOOKED_AT = 20_000
_LOOKED_AT_NUMBERS = 640_000
_FEWEST_ROWS = 2000
_MOST_COLUMNS = 256
_FEW_WHOLE = 0.01
"""Part of the numbers that must not be whole for bits to be looked at."""

_COARSE, _SHORT_COARSE = 20, 12
"""Trailing zeros of a significand that sums of full-length numbers have with probability 2 ** -20, about."""

_BITS = ("a 0", "a 1", f"{_COARSE} zeros ({_SHORT_COARSE} in single precision)")
"""What a number may end in, which a table distinguishes."""

_MOSTLY = 0.7
"""Part of the lowest bits on one input that must be 1: multiplication alone makes up to about 0.6 of them, and division
of whole numbers by 3 just 2/3, so that chance would decide."""

_OFTEN, _RARELY = 0.02, 0.5
"""Part of the numbers on one input that must be on a coarse grid, and the part of that on the other input, at most."""

_DISTINCT = 0.9
"""Part of the numbers that must be distinct: others are counted one by one."""


@dataclass(frozen=True, slots=True)
class BitsScore:
    """Sum over the numbers of a function of the lowest bits of each.

    Attributes
    ----------
    columns
        How outputs become rows of numbers.
    tables
        A function of the lowest bits of every number: 0 or 1, the lowest bit itself; 2 where many bits are zero.
    short
        Whether these are the bits of numbers in single precision, because all numbers were such; None, as in older
        records, where the type of an array decides.
    """

    cost: ClassVar[int] = 2
    log_ratio: ClassVar[bool] = True

    columns: Columns
    tables: tuple[Table, ...]
    short: bool | None = None

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
        # Equal numbers have equal bits, whatever type holds them in a call.
        short = is_short(finite)
        if not any(_remarkable(a, b, short) for a, b in zip(some[0].T, some[1].T, strict=True)):
            return None
        return cls._of_rows(columns, short, *(some if len(x) <= rows else (side.rows(columns) for side in (x, y))))

    @classmethod
    def _of_rows(cls, columns: Columns, short: bool, x: np.ndarray, y: np.ndarray) -> BitsScore | None:
        tables = []
        for a, b in zip(x.T, y.T, strict=True):
            check_time()
            if _remarkable(a[:_LOOKED_AT], b[:_LOOKED_AT], short):
                tables.append(Table.fit_quickly(_lowest_bits(a, short), _lowest_bits(b, short)))
            else:
                tables.append(Table(np.empty(0), np.zeros(1)))
        return cls(columns, tuple(tables), short) if any(table.spread > 0 for table in tables) else None

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        rows = as_outputs(outputs).rows(self.columns)
        score = np.zeros(len(rows))
        for column, table in enumerate(self.tables):
            score += table(_lowest_bits(rows[:, column], self.short)) if table.spread > 0 else table.values[0]
        return score

    def describe(self, threshold: float, *, above: bool, naming: Naming = PLAIN) -> Any:
        """Name the numbers whose bits are looked at, with the rule where there is one number."""
        relevant = {i: table for i, table in enumerate(self.tables) if table.spread > 0}
        names = [columnwords.named(self.columns, i, len(self.tables), naming) for i in relevant]
        what = listed(names, [table.spread for table in relevant.values()])
        event = {f"sum of functions of the lowest bits of {what}": half_line(threshold, above=above)}
        if len(relevant) > 1:
            return event
        (table,) = relevant.values()
        rest = sum(float(other.values[0]) for i, other in enumerate(self.tables) if i not in relevant)
        bits = np.arange(len(_BITS))
        axis = Axis("the end of the significand", bits.astype(float), bits[1:].astype(float), _BITS)
        return with_rule(event, rule([axis], lambda rows: table(rows[:, 0]) + rest, threshold, above=above))

    def to_json(self) -> dict[str, Any]:
        """Columns and tables."""
        return {
            "kind": "bits",
            "positions": self.columns.positions,
            "categories": list(self.columns.categories),
            **places_to_json(self.columns),
            "short": self.short,
            "tables": [{"edges": table.edges.tolist(), "values": table.values.tolist()} for table in self.tables],
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> BitsScore:
        """Make the score again."""
        tables = (
            Table(np.array(table["edges"], dtype=float), np.array(table["values"], dtype=float))
            for table in raw["tables"]
        )
        return cls(columns_from_json(raw), tuple(tables), short_from_json(raw.get("short")))


def _lowest_bits(values: np.ndarray, short: bool | None) -> np.ndarray:
    """Lowest bit of every number; 2 where many bits are zero."""
    if short is None:
        short = values.dtype == np.float32
    coarse = _SHORT_COARSE if short else _COARSE
    with np.errstate(over="ignore"):
        numbers = np.ascontiguousarray(values, dtype=np.float32 if short else np.float64)
    bits = numbers.view(np.uint32).astype(np.int64) if short else numbers.view(np.int64)
    return np.where(bits & ((1 << coarse) - 1), bits & 1, 2)


def _remarkable(x: np.ndarray, y: np.ndarray, short: bool) -> bool:
    """Whether the lowest bits of a column are such as rounding does not make."""
    if min(len(np.unique(side[:_FEWEST_ROWS])) / len(side[:_FEWEST_ROWS]) for side in (x, y)) < _DISTINCT:
        return False
    bits = [_lowest_bits(side, short) for side in (x, y)]
    if max(np.mean(side == 1) for side in bits) > _MOSTLY:
        return True
    coarse = sorted(float(np.mean(side == 2)) for side in bits)
    return coarse[1] > _OFTEN and coarse[0] < _RARELY * coarse[1]
