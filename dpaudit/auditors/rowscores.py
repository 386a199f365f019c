"""Scores of rows of numbers: sums of step functions, linear, of pairs of columns, of extremes.

Structured outputs are taken apart into rows of numbers first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dpaudit.auditors.columns import Columns
from dpaudit.auditors.lookup import Lookup
from dpaudit.auditors.outputs import OutputsLike, as_outputs
from dpaudit.auditors.tables import Table

_STEPS = 8
_BLOCK_VALUES = 1 << 15
"""Numbers that are put in order at a time, so that they stay in the cache."""

_LARGEST = 1e300
_EXACT_INTEGERS = 1 << 53
_DOUBLE = 8
"""Bytes of a number in double precision."""


@dataclass(frozen=True, slots=True)
class Transform:
    """Linear change of coordinates, after structured outputs have been taken apart.

    Attributes
    ----------
    name
        ``identity``, ``differences`` (of every number to the one before it), ``ordered`` (the numbers in ascending
        order, and the gaps between them), ``innovations`` (what a linear prediction from the numbers before it
        leaves) or ``coded`` (the numbers, the smallest and the largest that are no codes, or the first code where all
        are, and how often each code occurs).
    matrix
        Of innovations: the transform is ``numbers @ matrix``.
    codes
        Of coded numbers: the values that stand for something else than their size, ascending.
    """

    name: str
    columns: Columns
    matrix: np.ndarray | None = None
    codes: tuple[float, ...] = ()

    def __call__(self, outputs: OutputsLike, first: int | None = None) -> np.ndarray:
        """Numbers of every output, shape (size, width); at least the first so many columns where that is given."""
        rows = as_outputs(outputs).rows(self.columns)
        # What becomes of a number must not depend on those beside it. A finite sum of squares leaves none to limit.
        if rows.dtype.kind == "f" and (rows.dtype.itemsize > 8 or not np.isfinite(np.vdot(rows, rows))):
            rows = np.clip(rows.astype(float), -_LARGEST, _LARGEST)
        if self.name == "differences":
            return np.diff(rows.astype(float, copy=False), axis=1, prepend=0.0)
        if self.name == "ordered":
            return _ordered(rows, gaps=first is None or first > rows.shape[1])
        if self.name == "coded":
            return _coded(rows.astype(float, copy=False), self.codes)
        return rows if self.matrix is None else rows.astype(float, copy=False) @ self.matrix

    def to_json(self) -> dict[str, Any]:
        """Name and numbers."""
        return {
            "name": self.name,
            "positions": self.columns.positions,
            "categories": list(self.columns.categories),
            "matrix": None if self.matrix is None else self.matrix.tolist(),
            **({"codes": list(self.codes)} if self.codes else {}),
            **places_to_json(self.columns),
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Transform:
        """Make the transform again."""
        matrix = None if raw["matrix"] is None else np.array(raw["matrix"], dtype=float)
        return cls(raw["name"], columns_from_json(raw), matrix, tuple(map(float, raw.get("codes", ()))))

    def named(self, column: int, width: int) -> str:
        """Return what a column is, in words; ``width`` is the number of columns."""
        if self.name == "ordered":
            return f"ordered[{column}]"
        if self.name == "coded" and (beyond := column - (width - 2 - len(self.codes))) >= 0:
            described = ["smallest number", "largest number", *(f"occurrences of {code:g}" for code in self.codes)]
            return described[beyond]
        names = self.columns.names
        what = names[column] if names else "output" if width == 1 else f"output[{column}]"
        return what if self.name in ("identity", "coded") else f"{self.name[:-1]} at {what}"


def _ordered(rows: np.ndarray, *, gaps: bool) -> np.ndarray:
    """Numbers of every row in ascending order, and the gaps between them where these are wanted."""
    width = rows.shape[1]
    if not gaps:
        return np.sort(rows.astype(float, copy=False), axis=1)
    made = np.empty((len(rows), 2 * width - 1))
    step = max(1, _BLOCK_VALUES // width)
    for start in range(0, len(rows), step):
        block = made[start : start + step]
        block[:, :width] = np.sort(rows[start : start + step].astype(float, copy=False), axis=1)
        np.subtract(block[:, 1:width], block[:, : width - 1], out=block[:, width:])
    return made


def _coded(rows: np.ndarray, codes: tuple[float, ...]) -> np.ndarray:
    """Numbers of every row; the smallest and the largest that are no codes; how often each code occurs."""
    width = rows.shape[1]
    made = np.empty((len(rows), width + 2 + len(codes)))
    step = max(1, _BLOCK_VALUES // width)
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        to = made[start : start + step]
        to[:, :width] = block
        # A reduction along a short axis is slow.
        turned = np.ascontiguousarray(block.T)
        is_code = np.zeros(turned.shape, dtype=bool)
        for place, code in enumerate(codes):
            equal = turned == code
            is_code |= equal
            to[:, width + 2 + place] = equal.sum(axis=0)
        for place, (reduction, none) in enumerate(((np.minimum, np.inf), (np.maximum, -np.inf))):
            found = reduction.reduce(np.where(is_code, none, turned), axis=0)
            to[:, width + place] = np.where(np.isinf(found), codes[0], found)
    return made


def places_to_json(columns: Columns) -> dict[str, Any]:
    """Columns of structured outputs as data; nothing for others."""
    return {} if columns.paths is None else {"paths": list(columns.paths), "kept": list(columns.kept)}


def columns_from_json(raw: dict[str, Any]) -> Columns:
    """Make columns again."""
    paths = raw.get("paths")
    if paths is None:
        return Columns(raw["positions"], tuple(raw["categories"]))
    return Columns(None, tuple(raw["categories"]), tuple(map(str, paths)), tuple(map(int, raw["kept"])))


@dataclass(frozen=True, slots=True)
class AdditiveScore:
    """Sum over the columns of a function of each; the log-ratio itself where the columns are independent."""

    cost: ClassVar[int] = 2
    log_ratio: ClassVar[bool] = True

    transform: Transform
    tables: tuple[Table, ...]
    steps: _Steps | None = field(init=False)
    lookup: Lookup | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", _steps(self.tables))
        object.__setattr__(self, "lookup", None if self.steps is not None else Lookup.of(self.tables))

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        return self.of_rows(self.transform(outputs, self._reach))

    @property
    def _reach(self) -> int:
        """How many columns hold all that the score looks at."""
        columns = self.steps[0] if self.steps is not None else None if self.lookup is None else self.lookup.columns
        return len(self.tables) if columns is None else int(columns[-1]) + 1

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """Score of rows that have been transformed already."""
        if self.steps is not None:
            columns, edges, weights, base = self.steps
            if len(columns) < rows.shape[1]:
                rows = rows[:, columns]
            score = np.full(len(rows), base)
            for edge, weight in zip(edges, weights, strict=True):
                score += (rows >= edge) @ weight
            return score
        if self.lookup is not None and rows.dtype.itemsize <= _DOUBLE:
            return self.lookup(rows)
        score = np.zeros(len(rows))
        for column, table in enumerate(self.tables):
            score += table(rows[:, column]) if table.spread > 0 else table.values[0]
        return score

    def describe(self, threshold: float, *, above: bool) -> Any:
        """Intervals where there is one column; otherwise the tables."""
        relevant = {i: table for i, table in enumerate(self.tables) if table.spread > 0}
        columns = self.transform.columns
        if len(relevant) == 1 and self.transform.name == "identity" and columns.positions is None:
            ((column, table),) = relevant.items()
            rest = sum(float(other.values[0]) for i, other in enumerate(self.tables) if i != column)
            what = self.transform.named(column, len(self.tables))
            if not columns.numeric and columns.value_of(column, 0.0) is not None:
                codes = np.arange(-1, len(columns.categories) + 2)
                ratios = table(codes.astype(float))
                inside = codes[ratios >= threshold - rest if above else ratios <= threshold - rest]
                return {f"{what} is any of": [columns.value_of(column, code) for code in inside.tolist()]}
            return {f"{what} in [from, to)": _intervals(table, threshold - rest, above=above)}
        return {
            f"sum over {len(relevant)} {_NUMBERS[self.transform.name]} of a step function of each": (
                f"{'>=' if above else '<='} {threshold:.17g}"
            )
        }

    def to_json(self) -> dict[str, Any]:
        """Transform and tables."""
        tables = [{"edges": table.edges.tolist(), "values": table.values.tolist()} for table in self.tables]
        return {"kind": "additive", "transform": self.transform.to_json(), "tables": tables}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> AdditiveScore:
        """Make the score again."""
        return cls(Transform.from_json(raw["transform"]), tuple(_table(table) for table in raw["tables"]))


_FEW_NAMES = 8
"""Columns of which a weighted sum is written out, at most, where they have names."""

_POSITION = re.compile(r"output(\[\d+\])*")
"""What a column is called that has no name."""

_NUMBERS = {
    "identity": "numbers",
    "differences": "differences",
    "ordered": "ordered numbers and gaps",
    "innovations": "innovations",
    "coded": "numbers, extremes of them, and counts of codes",
}


def _table(raw: dict[str, Any]) -> Table:
    return Table(np.array(raw["edges"], dtype=float), np.array(raw["values"], dtype=float))


_Steps = tuple[np.ndarray, np.ndarray, np.ndarray, float]
"""Columns, edges (round, column), weights (round, column), and the value below all edges."""


def _steps(tables: tuple[Table, ...]) -> _Steps | None:
    """All tables as a few rounds of comparisons, one edge of every column a round; None where that is not faster."""
    columns = np.array([i for i, table in enumerate(tables) if table.spread > 0], dtype=int)
    most = max((len(tables[i].edges) for i in columns), default=0)
    if most > _STEPS or len(columns) < 2:
        return None
    edges, weights = np.full((most, len(columns)), np.inf), np.zeros((most, len(columns)))
    for place, column in enumerate(columns):
        table = tables[column]
        edges[: len(table.edges), place] = table.edges
        weights[: len(table.edges), place] = np.diff(table.values)
    return columns, edges, weights, float(sum(table.values[0] for table in tables))


def _intervals(table: Table, threshold: float, *, above: bool) -> list[list[float]]:
    bounds = np.r_[-np.inf, table.edges, np.inf]
    chosen = table.values >= threshold if above else table.values <= threshold
    starts = np.flatnonzero(chosen & ~np.r_[False, chosen[:-1]])
    ends = np.flatnonzero(chosen & ~np.r_[chosen[1:], False])
    return [[float(bounds[i]), float(bounds[j + 1])] for i, j in zip(starts, ends, strict=True)]


@dataclass(frozen=True, slots=True)
class LinearScore:
    """Weighted sum of the columns, each limited to the range where most values lie."""

    cost: ClassVar[int] = 2
    log_ratio: ClassVar[bool] = True

    transform: Transform
    low: np.ndarray
    high: np.ndarray
    weights: np.ndarray

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        limited = np.maximum(self.transform(outputs), self.low)
        return np.asarray(np.minimum(limited, self.high, out=limited) @ self.weights)

    def describe(self, threshold: float, *, above: bool) -> Any:
        """Half-space, after the limits."""
        what = self._in_names() or f"weighted sum of {len(self.weights)} {_NUMBERS[self.transform.name]}"
        return {f"{what}, each limited to its usual range": f"{'>=' if above else '<='} {threshold:.17g}"}

    def _in_names(self) -> str:
        """Return the sum of few columns with names of their own in words; empty for others."""
        if self.transform.name != "identity" or len(self.weights) > _FEW_NAMES:
            return ""
        names = self.transform.columns.names
        if len(names) != len(self.weights) or all(_POSITION.fullmatch(name) for name in names):
            return ""
        return " + ".join(f"{weight:.4g} {name}" for weight, name in zip(self.weights, names, strict=True))

    def to_json(self) -> dict[str, Any]:
        """Transform, limits and weights."""
        return {
            "kind": "linear",
            "transform": self.transform.to_json(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "weights": self.weights.tolist(),
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> LinearScore:
        """Make the score again."""
        low, high, weights = (np.array(raw[name], dtype=float) for name in ("low", "high", "weights"))
        return cls(Transform.from_json(raw["transform"]), low, high, weights)


@dataclass(frozen=True, slots=True)
class PairScore:
    """An additive score plus what pairs of columns say beyond it.

    Attributes
    ----------
    additive
        The score of the columns one by one.
    edges
        Cells of every column.
    pairs, tables
        Pairs of columns, shape (k, 2), and the extra log-ratio of every pair of cells, flattened.
    """

    cost: ClassVar[int] = 3
    log_ratio: ClassVar[bool] = True

    additive: AdditiveScore
    edges: tuple[np.ndarray, ...]
    pairs: np.ndarray
    tables: tuple[np.ndarray, ...]

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        rows = self.additive.transform(outputs)
        cells = {int(column): cell_numbers(self.edges[column], rows[:, column]) for column in np.unique(self.pairs)}
        score = self.additive.of_rows(rows)
        for (i, j), table in zip(self.pairs.tolist(), self.tables, strict=True):
            score += table[cells[i] * (len(self.edges[j]) + 1) + cells[j]]
        return score

    def describe(self, threshold: float, *, above: bool) -> Any:
        """Name the pairs of columns."""
        transform = self.additive.transform
        return {
            "sum of step functions of each number and of pairs of them": f"{'>=' if above else '<='} {threshold:.17g}",
            "pairs": [", ".join(transform.named(i, len(self.edges)) for i in pair) for pair in self.pairs.tolist()],
        }

    def to_json(self) -> dict[str, Any]:
        """Additive part and tables."""
        return {
            "kind": "pairs",
            "additive": self.additive.to_json(),
            "edges": [edges.tolist() for edges in self.edges],
            "pairs": self.pairs.tolist(),
            "tables": [table.tolist() for table in self.tables],
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> PairScore:
        """Make the score again."""
        return cls(
            AdditiveScore.from_json(raw["additive"]),
            tuple(np.array(edges, dtype=float) for edges in raw["edges"]),
            np.array(raw["pairs"], dtype=int).reshape(-1, 2),
            tuple(np.array(table, dtype=float) for table in raw["tables"]),
        )


def cell_numbers(edges: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Number of edges that each number reaches."""
    exact = numbers.dtype.kind in "biu" and len(edges) and abs(edges[0]) <= _EXACT_INTEGERS
    if exact and np.array_equal(edges, edges[0] + np.arange(len(edges))):
        return np.clip(numbers.astype(np.int64) - int(edges[0]) + 1, 0, len(edges))
    return np.searchsorted(edges, numbers, side="right")


@dataclass(frozen=True, slots=True)
class ExtremeScore:
    """Largest deviation of any column from its centre, in units of its usual spread."""

    cost: ClassVar[int] = 2
    log_ratio: ClassVar[bool] = False

    transform: Transform
    centre: np.ndarray
    scale: np.ndarray

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        deviations = self.transform(outputs) - self.centre
        deviations *= 1 / self.scale
        # A reduction along a short axis is slow.
        return np.asarray(np.abs(deviations, out=deviations).T.copy().max(axis=0))

    def describe(self, threshold: float, *, above: bool) -> Any:
        """Bound on all deviations."""
        return {
            f"largest deviation of {len(self.scale)} {_NUMBERS[self.transform.name]} from their medians, in "
            "interquartile ranges": f"{'>=' if above else '<='} {threshold:.17g}"
        }

    def to_json(self) -> dict[str, Any]:
        """Transform, centres and scales."""
        return {
            "kind": "extreme",
            "transform": self.transform.to_json(),
            "centre": self.centre.tolist(),
            "scale": self.scale.tolist(),
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> ExtremeScore:
        """Make the score again."""
        centre, scale = (np.array(raw[name], dtype=float) for name in ("centre", "scale"))
        return cls(Transform.from_json(raw["transform"]), centre, scale)
