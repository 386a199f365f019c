"""Scores of rows of numbers: sums of step functions, linear, of pairs of columns, of extremes.

Structured outputs are taken apart into rows of numbers first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from dpaudit.auditors import columnwords
from dpaudit.auditors.columns import Columns
from dpaudit.auditors.columnwords import PLAIN, Naming
from dpaudit.auditors.eventwords import (
    LONGEST_RULE,
    MOST_NAMED,
    Axis,
    added,
    half_line,
    listed,
    number,
    rule,
    with_rule,
)
from dpaudit.auditors.lookup import Lookup
from dpaudit.auditors.outputs import OutputsLike, as_outputs
from dpaudit.auditors.tables import Table

_OCCURRENCES = "occurrences of"

_TRANSFORMS = ("identity", "differences", "ordered", "innovations", "coded")

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
        if raw["name"] not in _TRANSFORMS:
            raise ValueError(f"'name' of a transform must be one of {', '.join(_TRANSFORMS)}")
        matrix = None if raw["matrix"] is None else np.array(raw["matrix"], dtype=float)
        return cls(raw["name"], columns_from_json(raw), matrix, tuple(map(float, raw.get("codes", ()))))

    def named(self, column: int, width: int, naming: Naming = PLAIN) -> str:
        """Return what a column is, in words; ``width`` is the number of columns."""
        own = self._own(width)
        if self.name == "ordered":
            if column < own:
                return _rank(column, own)
            return f"{_rank(column - own + 1, own)} less {_rank(column - own, own)}"
        if self.name == "coded" and column >= own:
            return ("smallest number", "largest number", *map(self._occurrences, self.codes))[column - own]
        if self.name in ("identity", "coded"):
            return columnwords.part(self.columns, column, own, naming)
        what = columnwords.named(self.columns, column, own, naming)
        if self.name == "differences":
            return f"{what} - {columnwords.named(self.columns, column - 1, own, naming)}" if column else what
        if self.matrix is None:
            return what
        before = [(float(self.matrix[i, column]), i) for i in range(column) if self.matrix[i, column]]
        if len(before) > _MOST_TERMS:
            return f"{what} less what the numbers before it predict"
        return weighted(
            [(1.0, what), *((weight, columnwords.named(self.columns, i, own, naming)) for weight, i in before)]
        )

    def listed(self, columns: Sequence[int], width: int, naming: Naming, weights: Sequence[float] | None = None) -> str:
        """List columns in words, those of the largest weights where there are many."""
        if self.name == "identity" and len(columns) > MOST_NAMED and self.columns.numeric and not naming.supported:
            first, last = columns[0], columns[-1]
            if list(columns) == list(range(first, last + 1)):
                return f"{naming.of(first, width)} to {naming.of(last, width)}"
        return listed([self.named(column, width, naming) for column in columns], weights)

    def _numbers(self, own: int, naming: Naming) -> str:
        """List the numbers of an output."""
        if self.columns.numeric:
            return replace(self, name="identity").listed(range(own), own, naming)
        return listed([columnwords.named(self.columns, column, own, naming) for column in range(own)])

    def explained(self, columns: Sequence[int], width: int, naming: Naming) -> dict[str, Any]:
        """Say what the words are about that `named` has for these columns."""
        own = self._own(width)
        every = range(own)
        if self.name == "ordered":
            return {"the numbers in order are": self._numbers(own, naming), **columnwords.legend(self.columns, every)}
        if self.name in ("differences", "innovations"):
            before = {column - 1 for column in columns if column}
            return columnwords.legend(self.columns, every if self.name == "innovations" else [*columns, *before])
        return self._extremes(own, naming) if self.name == "coded" and max(columns, default=0) >= own else {}

    def coded_sum(self, columns: Sequence[int], width: int, naming: Naming, side: str) -> dict[str, str]:
        """Describe a sum over numbers, extremes and counts of codes that crosses the smallest with the counts."""
        own = self._own(width)
        numbers = replace(self, name="identity").listed([column for column in columns if column < own], own, naming)
        counts = listed([self._occurrences(code) for code in self.codes]).replace(f"{_OCCURRENCES} ", "")
        each = "each of " if len(self.codes) > 1 else ""
        what = f"{numbers}, of the smallest and the largest number, of how often {each}{counts} occurs"
        return {
            f"sum of step functions of {what}, and of the smallest number with each of these counts": side,
            **self._extremes(own, naming),
        }

    def _extremes(self, own: int, naming: Naming) -> dict[str, str]:
        """Say which numbers the smallest and the largest are looked for among, and codes are counted in."""
        codes = listed([f"{code:g}" for code in self.codes])
        return {
            "codes are counted in": self._numbers(own, naming),
            "smallest and largest": f"of these that are not {codes}",
        }

    def axis(self, column: int, width: int, edges: np.ndarray, naming: Naming) -> Axis:
        """Return a column cut into cells."""
        own = self._own(width)
        if self.name in ("identity", "coded") and column < own:
            return columnwords.axis(self.columns, column, own, edges, naming)
        return Axis.of_numbers(self.named(column, width, naming), edges)

    def _own(self, width: int) -> int:
        """Numbers of an output, of which so many columns are made."""
        if self.name == "ordered":
            return (width + 1) // 2
        return width - 2 - len(self.codes) if self.name == "coded" else width

    def _occurrences(self, code: float) -> str:
        """Say what is counted: a code, and what it stands for where an output has other values than numbers."""
        own = len(columnwords.names_of(self.columns))
        kinds = [column for column in range(own) if columnwords.value_of(self.columns, column, 0) is not None]
        if not kinds or not code.is_integer() or not -1 <= code <= len(self.columns.categories) + 1:
            return f"{_OCCURRENCES} {code:g}"
        text = columnwords.value_of(self.columns, kinds[0], code)
        return f"{_OCCURRENCES} {text}" + (f" (or {code:g})" if len(kinds) < own else "")


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

    def describe(self, threshold: float, *, above: bool, naming: Naming = PLAIN) -> Any:
        """Intervals where there is one column; otherwise which columns there are, and the rule where it is short."""
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
            event = {f"{axis.name} in [from, to)": intervals, **transform.explained(columns, width, naming)}
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

_PLAIN_RULE = 120
"""Characters from which on conditions are harder to read than a sum of what every number adds."""

_MOST_TERMS = 3
"""Numbers before one from which it is predicted that are written out, at most."""


def weighted(terms: Sequence[tuple[float, str]]) -> str:
    """Write a weighted sum.

    Examples
    --------
    >>> weighted([(1.0, "output[1]"), (-0.25, "output[0]")])
    'output[1] - 0.25 output[0]'
    """
    text = ""
    for weight, name in terms:
        size = "" if abs(weight) == 1 else f"{abs(weight):.4g} "
        sign = (" - " if weight < 0 else " + ") if text else "-" if weight < 0 else ""
        text += f"{sign}{size}{name}"
    return text


def _rank(place: int, of: int) -> str:
    """Say which of so many numbers one is, counted from the smallest or the largest."""
    if of == 1:
        return "the number"
    side, count = ("smallest", place + 1) if 2 * place < of else ("largest", of - place)
    ending = "th" if 10 < count % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    return f"the {side}" if count == 1 else f"the {count}{ending} {side}"


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

    def describe(self, threshold: float, *, above: bool, naming: Naming = PLAIN) -> Any:
        """Half-space, after the limits."""
        transform, width = self.transform, len(self.weights)
        chosen = np.flatnonzero(self.weights).tolist() or list(range(width))
        names = [columnwords.named(transform.columns, column, width, naming) for column in chosen]
        if transform.name != "identity" or len(chosen) > _FEW_NAMES:
            size = np.abs(self.weights) * (self.high - self.low)
            what = f"weighted sum of {transform.listed(chosen, width, naming, size[chosen].tolist())}"
        else:
            what = weighted(list(zip(self.weights[chosen].tolist(), names, strict=True)))
        limits = ""
        if len(chosen) <= _FEW_LIMITS:
            ranges = (f"{number(self.low[column])} to {number(self.high[column])}" for column in chosen)
            limits = f" ({', '.join(ranges)})"
        return {
            f"{what}, each limited to its usual range{limits}": half_line(threshold, above=above),
            **(columnwords.legend(transform.columns, chosen) if transform.name == "identity" else {}),
            **transform.explained(chosen, width, naming),
        }

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
        if transform.name == "coded" and self._crosses_counts(width):
            event: dict[str, Any] = transform.coded_sum(columns, width, naming, half_line(threshold, above=above))
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

    def _crosses_counts(self, width: int) -> bool:
        """Whether the pairs are the smallest number with each count of a code, as `learn_coded` makes them."""
        counts = range(width - len(self.additive.transform.codes), width)
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

    def describe(self, threshold: float, *, above: bool, naming: Naming = PLAIN) -> Any:
        """Bound on all deviations."""
        width = len(self.scale)
        columns = range(width)
        event = {
            f"largest deviation of {self.transform.listed(columns, width, naming)} from their medians, in "
            "interquartile ranges": half_line(threshold, above=above),
            **columnwords.legend(self.transform.columns, columns),
        }
        text = ""
        if width <= _FEW_LIMITS:
            sides = zip(self.centre - threshold * self.scale, self.centre + threshold * self.scale, strict=True)
            named = [columnwords.named(self.transform.columns, column, width, naming) for column in columns]
            text = (" or " if above else " and ").join(
                f"{name} <= {number(low)} or {name} >= {number(high)}"
                if above
                else f"{number(low)} <= {name} <= {number(high)}"
                for name, (low, high) in zip(named, sides, strict=True)
            )
        return with_rule(event, text if len(text) <= LONGEST_RULE else "")

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
