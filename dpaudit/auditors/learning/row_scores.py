"""Scores of rows of numbers: sums of step functions, linear, of pairs of columns, of extremes.

Structured outputs are taken apart into rows of numbers first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dpaudit.auditors.learning.lookup import Lookup
from dpaudit.auditors.learning.tables import Table
from dpaudit.auditors.learning.transforms import Coded, Identity, Transform, weighted
from dpaudit.auditors.outputs import column_words as columnwords
from dpaudit.auditors.outputs.column_words import PLAIN, Naming
from dpaudit.auditors.outputs.event_words import (
    LONGEST_RULE,
    MOST_NAMED,
    added,
    beginning,
    half_line,
    interval,
    number,
    rounded_down,
    rounded_up,
    rule,
    with_rule,
)
from dpaudit.auditors.outputs.outputs import OutputsLike

_BLOCK_VALUES = 1 << 15
"""Numbers that are scored at a time, so that they stay in the cache."""

_EXACT_INTEGERS = 1 << 53
_DOUBLE = 8
"""Bytes of a number in double precision."""


@dataclass(frozen=True, slots=True)
class AdditiveScore:
    """Sum over the columns of a function of each; the log-ratio itself where the columns are independent."""

    cost: ClassVar[int] = 2
    log_ratio: ClassVar[bool] = True

    transform: Transform
    tables: tuple[Table, ...]
    lookup: Lookup | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lookup", Lookup.of(self.tables))

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        return self.of_rows(self.transform(outputs, self._reach))

    @property
    def _reach(self) -> int:
        """How many columns hold all that the score looks at."""
        return len(self.tables) if self.lookup is None else int(self.lookup.columns[-1]) + 1

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """Score of rows that have been transformed already."""
        if self.lookup is not None and rows.dtype.itemsize <= _DOUBLE:
            return self.lookup(rows)
        score = np.zeros(len(rows))
        for column, table in enumerate(self.tables):
            score += table(rows[:, column]) if table.spread > 0 else table.values[0]
        return score

    def describe(self, threshold: float, *, above: bool, naming: Naming = PLAIN) -> Any:
        """Half-line or intervals in one column; otherwise which columns there are, and the rule where it is short."""
        relevant = {i: table for i, table in enumerate(self.tables) if table.spread > 0}
        transform, columns, width = self.transform, list(relevant), len(self.tables)
        score = of_some(self.of_rows, columns, width)
        rest = sum(float(other.values[0]) for i, other in enumerate(self.tables) if i not in relevant)
        if len(relevant) == 1:
            ((column, table),) = relevant.items()
            axis = transform.axis(column, width, table.edges, naming)
            if axis.values is not None:
                ratios = table(axis.points)
                inside = (ratios >= threshold - rest if above else ratios <= threshold - rest).tolist()
                return {f"{axis.name} is any of": [v for v, each in zip(axis.values, inside, strict=True) if each]}
            intervals = _intervals(table, threshold - rest, above=above)
            explained = transform.explained(columns, width, naming)
            if len(intervals) == 1 and np.isinf(intervals[0]).sum() == 1:
                ends = (beginning(end) if np.isfinite(end) else None for end in intervals[0])
                return {axis.name: interval("", *ends).strip(), **explained}
            event = {f"{axis.name} in [from, to)": intervals, **explained}
            single = any(high == np.nextafter(low, np.inf) for low, high in intervals)
            return with_rule(event, rule([axis], score, threshold, above=above) if single else "")
        what = transform.listed(columns, width, naming, [table.spread for table in relevant.values()])
        event = {
            f"sum of step functions of {what}": half_line(threshold, above=above),
            **transform.explained(columns, width, naming),
        }
        axes = [transform.axis(column, width, table.edges, naming) for column, table in relevant.items()]
        text = rule(axes, score, threshold, above=above)
        if not 0 < len(text) <= _PLAIN_RULE:
            values = [table(axis.points) for axis, table in zip(axes, relevant.values(), strict=True)]
            text = added(axes, values, lambda rows: score(rows) - rest, threshold - rest, above=above) or text
        return with_rule(event, text)

    def to_json(self) -> dict[str, Any]:
        """Transform and tables."""
        tables = [{"edges": table.edges.tolist(), "values": table.values.tolist()} for table in self.tables]
        return {"kind": "additive", "transform": self.transform.to_json(), "tables": tables}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> AdditiveScore:
        """Make the score again."""
        return cls(Transform.from_json(raw["transform"]), tuple(_table(table) for table in raw["tables"]))


_FEW_NAMES, _FEW_LIMITS = 8, 4
"""Columns of which a weighted sum is written out, at most, and its limits."""

_LIMIT_OFF = 0.001
"""Part of the range between two limits that they may be off by in words."""

_PLAIN_RULE = 120
"""Characters from which on conditions are harder to read than a sum of what every number adds."""


def of_some(score: Callable[[np.ndarray], np.ndarray], columns: Sequence[int], width: int) -> Any:
    """Score of rows of some of the columns, of whose others it says the same whatever they are."""

    def scored(rows: np.ndarray) -> np.ndarray:
        step = max(1, _BLOCK_VALUES // width)
        parts = [rows[start : start + step] for start in range(0, len(rows), step)]
        return np.concatenate([of_part(part) for part in parts])

    def of_part(rows: np.ndarray) -> np.ndarray:
        every = np.zeros((len(rows), width))
        every[:, list(columns)] = rows
        return score(every)

    return scored


def _table(raw: dict[str, Any]) -> Table:
    return Table(np.array(raw["edges"], dtype=float), np.array(raw["values"], dtype=float))


def _intervals(table: Table, threshold: float, *, above: bool) -> list[list[float]]:
    bounds = np.r_[-np.inf, table.edges, np.inf]
    chosen = table.values >= threshold if above else table.values <= threshold
    starts = np.flatnonzero(chosen & ~np.r_[False, chosen[:-1]])
    ends = np.flatnonzero(chosen & ~np.r_[chosen[1:], False])
    return [[float(bounds[i]), float(bounds[j + 1])] for i, j in zip(starts, ends, strict=True)]


def _range(low: float, high: float) -> str:
    off = _LIMIT_OFF * (high - low)
    return f"{number(low, off)} to {number(high, off)}"


def _first(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return the smallest number that something holds for, which does not hold for ``low`` but does for ``high``."""
    while low < (middle := low + (high - low) / 2) < high:
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


@dataclass(frozen=True, slots=True)
class LinearScore:
    """Weighted sum of the columns, each limited to the range where most values lie.

    Attributes
    ----------
    transform
        The columns.
    low, high, weights
        Limits and weight of each.
    spread
        Standard deviation of each within its limits, by which the columns that weigh most are named; None for the width
        of the limits. Of bits that are hardly ever set, weights are large and say little.
    """

    cost: ClassVar[int] = 2
    log_ratio: ClassVar[bool] = True

    transform: Transform
    low: np.ndarray
    high: np.ndarray
    weights: np.ndarray
    spread: np.ndarray | None = None

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        limited = np.maximum(self.transform(outputs), self.low)
        return np.asarray(np.minimum(limited, self.high, out=limited) @ self.weights)

    def describe(self, threshold: float, *, above: bool, naming: Naming = PLAIN) -> Any:
        """Half-space, after the limits."""
        transform, width = self.transform, len(self.weights)
        chosen = np.flatnonzero(self.weights).tolist() or list(range(width))
        names = [columnwords.named(transform.columns, column, width, naming) for column in chosen]
        if not isinstance(transform, Identity) or len(chosen) > _FEW_NAMES:
            size = np.abs(self.weights) * (self.high - self.low if self.spread is None else self.spread)
            what = f"weighted sum of {transform.listed(chosen, width, naming, size[chosen].tolist())}"
        else:
            what = weighted(list(zip(self.weights[chosen].tolist(), names, strict=True)))
        limits = ""
        if len(chosen) <= _FEW_LIMITS:
            limits = f" ({', '.join(_range(float(self.low[column]), float(self.high[column])) for column in chosen)})"
        return {
            f"{what}, each limited to its usual range{limits}": half_line(threshold, above=above),
            **(columnwords.legend(transform.columns, chosen) if isinstance(transform, Identity) else {}),
            **transform.explained(chosen, width, naming),
        }

    def to_json(self) -> dict[str, Any]:
        """Transform, limits, weights and standard deviations."""
        return {
            "kind": "linear",
            "transform": self.transform.to_json(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "weights": self.weights.tolist(),
            **({} if self.spread is None else {"spread": self.spread.tolist()}),
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> LinearScore:
        """Make the score again."""
        low, high, weights = (np.array(raw[name], dtype=float) for name in ("low", "high", "weights"))
        spread = np.array(raw["spread"], dtype=float) if "spread" in raw else None
        return cls(Transform.from_json(raw["transform"]), low, high, weights, spread)


@dataclass(frozen=True, slots=True)
class QuadraticScore:
    """Weighted sum of the columns and of their squares: the log-ratio of independent normal laws."""

    cost: ClassVar[int] = 3
    log_ratio: ClassVar[bool] = True

    transform: Transform
    weights: np.ndarray
    squares: np.ndarray

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        numbers = self.transform(outputs)
        with np.errstate(over="ignore", invalid="ignore"):
            score = numbers @ self.weights + np.square(numbers) @ self.squares
        # Squares of opposite signs that are both infinite say nothing.
        return np.where(np.isnan(score), 0.0, score)

    def describe(self, threshold: float, *, above: bool, naming: Naming = PLAIN) -> Any:
        """Side of a quadric."""
        width = len(self.weights)
        names = [f"({self.transform.named(column, width, naming)})" for column in range(width)]
        terms = [
            term
            for weight, square, name in zip(self.weights.tolist(), self.squares.tolist(), names, strict=True)
            for term in ((weight, name), (square, f"{name}**2"))
        ]
        return {
            weighted(terms): half_line(threshold, above=above),
            **self.transform.explained(range(width), width, naming),
        }

    def to_json(self) -> dict[str, Any]:
        """Transform and weights."""
        return {
            "kind": "quadratic",
            "transform": self.transform.to_json(),
            "weights": self.weights.tolist(),
            "squares": self.squares.tolist(),
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> QuadraticScore:
        """Make the score again."""
        weights, squares = (np.array(raw[name], dtype=float) for name in ("weights", "squares"))
        return cls(Transform.from_json(raw["transform"]), weights, squares)


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
        return self.of_rows(self.additive.transform(outputs))

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """Score of rows that have been transformed already."""
        cells = {int(column): cell_numbers(self.edges[column], rows[:, column]) for column in np.unique(self.pairs)}
        score = self.additive.of_rows(rows)
        for (i, j), table in zip(self.pairs.tolist(), self.tables, strict=True):
            score += table[cells[i] * (len(self.edges[j]) + 1) + cells[j]]
        return score

    def describe(self, threshold: float, *, above: bool, naming: Naming = PLAIN) -> Any:
        """Name the columns and the pairs of them, with the rule where it is short."""
        transform, width = self.additive.transform, len(self.edges)
        weights = [table.spread for table in self.additive.tables]
        for (i, j), table in zip(self.pairs.tolist(), self.tables, strict=True):
            for column in {i, j}:
                weights[column] += float(np.ptp(table))
        columns = [column for column, weight in enumerate(weights) if weight > 0]
        pairs = [", ".join(transform.named(i, width, naming) for i in pair) for pair in self.pairs.tolist()]
        if len(pairs) > MOST_NAMED:
            pairs[MOST_NAMED:] = [f"and {len(pairs) - MOST_NAMED} more"]
        if isinstance(transform, Coded) and self._crosses_counts(transform, width):
            event: dict[str, Any] = transform.crossed_sum(columns, width, naming, half_line(threshold, above=above))
        else:
            what = transform.listed(columns, width, naming, [weights[column] for column in columns])
            event = {
                f"sum of step functions of {what}, and of pairs of them": half_line(threshold, above=above),
                "pairs": pairs,
                **transform.explained(columns, width, naming),
            }
        paired = set(self.pairs.ravel().tolist())
        axes = []
        for column in columns:
            own = self.additive.tables[column].edges
            edges = np.concatenate([own, self.edges[column]]) if column in paired else own
            axes.append(transform.axis(column, width, edges, naming))
        return with_rule(event, rule(axes, of_some(self.of_rows, columns, width), threshold, above=above))

    def _crosses_counts(self, transform: Coded, width: int) -> bool:
        """Whether the pairs are the smallest number with each count of a code, as `learn_coded` makes them."""
        counts = range(width - len(transform.codes), width)
        return bool(self.pairs.tolist() == [[counts.start - 2, count] for count in counts])

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
    if numbers.dtype.kind == "b":
        numbers = numbers.astype(np.int8)
    exact = numbers.dtype.kind in "iu" and len(edges) and abs(edges[0]) <= _EXACT_INTEGERS
    if exact and np.array_equal(edges, edges[0] + np.arange(len(edges))):
        first, last, limits = int(edges[0]) - 1, int(edges[-1]), np.iinfo(numbers.dtype)
        if limits.min <= first and last <= limits.max:
            # Limited first: the difference of two whole numbers may be too large for one.
            return np.asarray(np.clip(numbers, first, last).astype(np.int64) - first)
    return np.searchsorted(edges, numbers, side="right")


@dataclass(frozen=True, slots=True)
class CoordinateScore:
    """One column of changed coordinates, as it is.

    Attributes
    ----------
    transform
        The change of coordinates.
    column, width
        Which of so many columns.
    """

    cost: ClassVar[int] = 1
    log_ratio: ClassVar[bool] = False

    transform: Transform
    column: int
    width: int

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        return self.transform(outputs, self.column + 1)[:, self.column].astype(float, copy=False)

    def describe(self, threshold: float, *, above: bool, naming: Naming = PLAIN) -> Any:
        """Half-line in the column."""
        return {
            self.transform.named(self.column, self.width, naming): half_line(threshold, above=above),
            **self.transform.explained([self.column], self.width, naming),
        }

    def to_json(self) -> dict[str, Any]:
        """Transform and column."""
        return {
            "kind": "coordinate",
            "transform": self.transform.to_json(),
            "column": self.column,
            "width": self.width,
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> CoordinateScore:
        """Make the score again."""
        column, width = raw["column"], raw["width"]
        if not (type(column) is int and type(width) is int and 0 <= column < width):
            raise ValueError("'column' of a coordinate must be a whole number below its 'width'")
        return cls(Transform.from_json(raw["transform"]), column, width)


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

    def describe(self, threshold: float, *, above: bool, naming: Naming = PLAIN) -> Any:
        """Bound on all deviations."""
        width = len(self.scale)
        columns = range(width)
        event = {
            f"largest deviation of {self.transform.listed(columns, width, naming)} from their medians, in "
            "interquartile ranges": half_line(threshold, above=above),
            **columnwords.legend(self.transform.columns, columns),
        }
        if width > _FEW_LIMITS or not isinstance(self.transform, Identity):
            return event
        terms = []
        for column in columns:
            ends = self._ends(column, threshold, above=above)
            if ends is None:
                return event
            name, apart = columnwords.named(self.transform.columns, column, width, naming), ends[1] - ends[0]
            if above:
                terms.append(f"{name} <= {rounded_up(ends[0], apart)} or {name} >= {rounded_down(ends[1], apart)}")
            else:
                terms.append(f"{rounded_down(ends[0], apart)} <= {name} <= {rounded_up(ends[1], apart)}")
        text = (" or " if above else " and ").join(terms)
        return with_rule(event, text if len(text) <= LONGEST_RULE else "")

    def _ends(self, column: int, threshold: float, *, above: bool) -> tuple[float, float] | None:
        """Return the last number of the event below a centre and the first above it, or its ends around the centre.

        None where a column alone never decides.
        """
        centre, unit = float(self.centre[column]), float(1 / self.scale[column])

        def within(value: float) -> bool:
            deviation = abs((value - centre) * unit)
            return deviation < threshold if above else deviation <= threshold

        reach = 2 * threshold / unit
        low, high = math.nextafter(centre - reach, -math.inf), math.nextafter(centre + reach, math.inf)
        if not within(centre) or within(low) or within(high):
            return None
        first, beyond = _first(within, low, centre), _first(lambda value: not within(value), centre, high)
        return (math.nextafter(first, -math.inf), beyond) if above else (first, math.nextafter(beyond, -math.inf))

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
