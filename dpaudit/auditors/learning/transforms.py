"""Changes of coordinates: what the rows of numbers that outputs become are looked at as, and what that is in words.

Structured outputs are taken apart into rows of numbers first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import factorial
from typing import Any, ClassVar, Self

import numpy as np

from dpaudit.auditors.outputs import column_words as columnwords
from dpaudit.auditors.outputs.column_words import PLAIN, Naming
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.event_words import MOST_NAMED, Axis, in_full, listed
from dpaudit.auditors.outputs.outputs import OutputsLike, as_outputs

_LARGEST = 1e300
"""Size that numbers are limited to, where infinity less infinity would be no number."""

_BLOCK_VALUES = 1 << 15
"""Numbers that are put in order at a time, so that they stay in the cache."""

_MOST_TERMS = 3
"""Terms of a weighted sum that are written out, at most."""

_OCCURRENCES = "occurrences of"


@dataclass(frozen=True, slots=True)
class Transform:
    """A change of coordinates of rows of numbers, which looks at every output alone.

    Attributes
    ----------
    columns
        How outputs become rows of numbers.
    """

    name: ClassVar[str]
    """What stands for the kind of transform in JSON."""

    columns: Columns

    def __call__(self, outputs: OutputsLike, first: int | None = None) -> np.ndarray:
        """Numbers of every output, shape (size, width); at least the first so many columns where that is given."""
        rows = as_outputs(outputs).rows(self.columns)
        # Each row is transformed independently of the others. A finite sum of squares leaves no number to limit.
        if rows.dtype.kind == "f" and (rows.dtype.itemsize > 8 or not np.isfinite(np.vdot(rows, rows))):
            rows = np.clip(rows.astype(float), -_LARGEST, _LARGEST)
        return self.of_rows(rows, first)

    def of_rows(self, rows: np.ndarray, first: int | None = None) -> np.ndarray:
        """As a call, of rows whose numbers are finite."""
        raise NotImplementedError

    def own(self, width: int) -> int:
        """Numbers of an output, of which so many columns are made."""
        return width

    def named(self, column: int, width: int, naming: Naming = PLAIN) -> str:
        """Return what a column is, in words; ``width`` is the number of columns."""
        raise NotImplementedError

    def listed(self, columns: Sequence[int], width: int, naming: Naming, weights: Sequence[float] | None = None) -> str:
        """List columns in words, those of the largest weights where there are many."""
        return listed([self.named(column, width, naming) for column in columns], weights)

    def explained(self, columns: Sequence[int], width: int, naming: Naming) -> dict[str, Any]:
        """Say what the words are about that `named` has for these columns."""
        return {}

    def axis(self, column: int, width: int, edges: np.ndarray, naming: Naming) -> Axis:
        """Return a column cut into cells."""
        return Axis.of_numbers(self.named(column, width, naming), edges)

    def to_json(self) -> dict[str, Any]:
        """Name and numbers."""
        return {
            "name": self.name,
            "positions": self.columns.positions,
            "categories": list(self.columns.categories),
            "matrix": None,
            **self._own_json(),
            **places_to_json(self.columns),
        }

    def _own_json(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Transform:
        """Make the transform again, of whichever kind it is."""
        if raw["name"] not in _KINDS:
            raise ValueError(f"'name' of a transform must be one of {', '.join(_KINDS)}")
        return _KINDS[raw["name"]]._of_json(columns_from_json(raw), raw)

    @classmethod
    def _of_json(cls, columns: Columns, raw: dict[str, Any]) -> Self:
        return cls(columns)


@dataclass(frozen=True, slots=True)
class Identity(Transform):
    """The numbers as they are."""

    name = "identity"

    def of_rows(self, rows: np.ndarray, first: int | None = None) -> np.ndarray:
        return rows

    def named(self, column: int, width: int, naming: Naming = PLAIN) -> str:
        return columnwords.part(self.columns, column, width, naming)

    def listed(self, columns: Sequence[int], width: int, naming: Naming, weights: Sequence[float] | None = None) -> str:
        if len(columns) > MOST_NAMED and self.columns.numeric and not naming.supported:
            first, last = columns[0], columns[-1]
            if list(columns) == list(range(first, last + 1)):
                return f"{naming.of(first, width)} to {naming.of(last, width)}"
        return listed([self.named(column, width, naming) for column in columns], weights)

    def axis(self, column: int, width: int, edges: np.ndarray, naming: Naming) -> Axis:
        return columnwords.axis(self.columns, column, width, edges, naming)


@dataclass(frozen=True, slots=True)
class Differences(Transform):
    """The difference of every number to the one before it."""

    name = "differences"

    def of_rows(self, rows: np.ndarray, first: int | None = None) -> np.ndarray:
        return np.diff(rows.astype(float, copy=False), axis=1, prepend=0.0)

    def named(self, column: int, width: int, naming: Naming = PLAIN) -> str:
        what = columnwords.named(self.columns, column, width, naming)
        return f"{what} - {columnwords.named(self.columns, column - 1, width, naming)}" if column else what

    def explained(self, columns: Sequence[int], width: int, naming: Naming) -> dict[str, Any]:
        before = {column - 1 for column in columns if column}
        return columnwords.legend(self.columns, [*columns, *before])


@dataclass(frozen=True, slots=True)
class Ordered(Transform):
    """The numbers in ascending order, and the gaps between them."""

    name = "ordered"

    def of_rows(self, rows: np.ndarray, first: int | None = None) -> np.ndarray:
        width = rows.shape[1]
        if first is not None and first <= width:
            return np.sort(rows.astype(float, copy=False), axis=1)
        made = np.empty((len(rows), 2 * width - 1))
        step = max(1, _BLOCK_VALUES // width)
        for start in range(0, len(rows), step):
            block = made[start : start + step]
            block[:, :width] = np.sort(rows[start : start + step].astype(float, copy=False), axis=1)
            np.subtract(block[:, 1:width], block[:, : width - 1], out=block[:, width:])
        return made

    def own(self, width: int) -> int:
        return (width + 1) // 2

    def named(self, column: int, width: int, naming: Naming = PLAIN) -> str:
        own = self.own(width)
        if column < own:
            return _rank(column, own)
        return f"{_rank(column - own + 1, own)} less {_rank(column - own, own)}"

    def explained(self, columns: Sequence[int], width: int, naming: Naming) -> dict[str, Any]:
        own = self.own(width)
        numbers = {"the numbers in order are": numbers_of(self.columns, own, naming)}
        return {**numbers, **columnwords.legend(self.columns, range(own))}


@dataclass(frozen=True, slots=True)
class Innovations(Transform):
    """What a linear prediction of every number from those before it leaves.

    Attributes
    ----------
    matrix
        What rows are multiplied with, shape (numbers, numbers), upper triangular with ones on its diagonal.
    """

    name = "innovations"

    matrix: np.ndarray

    def of_rows(self, rows: np.ndarray, first: int | None = None) -> np.ndarray:
        return np.asarray(rows.astype(float, copy=False) @ self.matrix)

    def named(self, column: int, width: int, naming: Naming = PLAIN) -> str:
        return self._written(column, width, naming, full=False)

    def axis(self, column: int, width: int, edges: np.ndarray, naming: Naming) -> Axis:
        return Axis.of_numbers(self._written(column, width, naming, full=True), edges)

    def _written(self, column: int, width: int, naming: Naming, *, full: bool) -> str:
        what = columnwords.named(self.columns, column, width, naming)
        before = [(float(self.matrix[i, column]), i) for i in range(column) if self.matrix[i, column]]
        if len(before) > _MOST_TERMS:
            return f"{what} less what the numbers before it predict"
        terms = [(1.0, what), *((weight, columnwords.named(self.columns, i, width, naming)) for weight, i in before)]
        return weighted(terms, full=full)

    def explained(self, columns: Sequence[int], width: int, naming: Naming) -> dict[str, Any]:
        return columnwords.legend(self.columns, range(width))

    def _own_json(self) -> dict[str, Any]:
        return {"matrix": self.matrix.tolist()}

    @classmethod
    def _of_json(cls, columns: Columns, raw: dict[str, Any]) -> Self:
        return cls(columns, np.array(raw["matrix"], dtype=float))


@dataclass(frozen=True, slots=True)
class Directions(Transform):
    """Weighted sums of the numbers.

    Attributes
    ----------
    matrix
        Weights, shape (numbers, sums).
    """

    name = "directions"

    matrix: np.ndarray

    def of_rows(self, rows: np.ndarray, first: int | None = None) -> np.ndarray:
        return np.asarray(rows.astype(float, copy=False) @ self.matrix)

    def own(self, width: int) -> int:
        return len(self.matrix)

    def named(self, column: int, width: int, naming: Naming = PLAIN) -> str:
        return self._written(column, naming, full=False)

    def axis(self, column: int, width: int, edges: np.ndarray, naming: Naming) -> Axis:
        return Axis.of_numbers(self._written(column, naming, full=True), edges)

    def _written(self, column: int, naming: Naming, *, full: bool) -> str:
        weights = self.matrix[:, column].tolist()
        terms = [(weight, i) for i, weight in enumerate(weights) if weight]
        if len(terms) > _MOST_TERMS:
            return f"weighted sum {column + 1}"
        names = [columnwords.named(self.columns, i, len(weights), naming) for _, i in terms]
        return weighted([(weight, name) for (weight, _), name in zip(terms, names, strict=True)], full=full)

    def explained(self, columns: Sequence[int], width: int, naming: Naming) -> dict[str, Any]:
        own = self.own(width)
        return {
            "the weighted sums are of": numbers_of(self.columns, own, naming),
            **columnwords.legend(self.columns, range(own)),
        }

    def _own_json(self) -> dict[str, Any]:
        return {"matrix": self.matrix.tolist()}

    @classmethod
    def _of_json(cls, columns: Columns, raw: dict[str, Any]) -> Self:
        matrix = np.array(raw["matrix"], dtype=float)
        if matrix.ndim != 2 or not np.isfinite(matrix).all():
            raise ValueError("'matrix' of directions must be rows of finite numbers")
        return cls(columns, matrix)


@dataclass(frozen=True, slots=True)
class Places(Transform):
    """The order of few numbers, as one permutation; of more, where the largest and the smallest of them are.

    Of equal numbers, the first counts as the larger where the largest is asked for, and as the smaller otherwise.
    """

    name = "places"

    MOST_ORDERED: ClassVar[int] = 5
    """Numbers whose order is one of at most 120 permutations."""

    def of_rows(self, rows: np.ndarray, first: int | None = None) -> np.ndarray:
        width = rows.shape[1]
        if width > self.MOST_ORDERED:
            return np.column_stack([rows.argmax(axis=1), rows.argmin(axis=1)])
        # Lehmer's code: how many of the numbers after it each number is larger than.
        code = np.zeros(len(rows), dtype=np.int64)
        for place in range(width - 1):
            larger = (rows[:, place, None] > rows[:, place + 1 :]).sum(axis=1)
            code += larger * factorial(width - 1 - place)
        return code[:, None]

    def named(self, column: int, width: int, naming: Naming = PLAIN) -> str:
        return ("place of the largest number", "place of the smallest number")[column] if width > 1 else "order"

    def explained(self, columns: Sequence[int], width: int, naming: Naming) -> dict[str, Any]:
        if width > 1:
            return {"places": "count from 0 along the numbers of the output"}
        return {"order": "how many of the numbers after it each number exceeds, read as a number in factorial base"}


@dataclass(frozen=True, slots=True)
class Phases(Transform):
    """Where numbers are in periods that they go through, from 0 to below 1.

    Attributes
    ----------
    periods
        Columns, with the period of each.
    """

    name = "phases"

    periods: tuple[tuple[int, float], ...]

    def of_rows(self, rows: np.ndarray, first: int | None = None) -> np.ndarray:
        return np.column_stack([phase(rows[:, column], period) for column, period in self.periods])

    def own(self, width: int) -> int:
        return 1 + max(column for column, _ in self.periods)

    def named(self, column: int, width: int, naming: Naming = PLAIN) -> str:
        place, period = self.periods[column]
        what = columnwords.named(self.columns, place, self.own(width), naming)
        return f"{what} / {in_full(period)} % 1"

    def _own_json(self) -> dict[str, Any]:
        return {"periods": [[column, period] for column, period in self.periods]}

    @classmethod
    def _of_json(cls, columns: Columns, raw: dict[str, Any]) -> Self:
        periods = tuple((column, float(period)) for column, period in raw["periods"])
        if not periods or not all(type(column) is int and column >= 0 and period > 0 for column, period in periods):
            raise ValueError("'periods' must list columns with periods above 0")
        return cls(columns, periods)


@dataclass(frozen=True, slots=True)
class Decimals(Transform):
    """How many decimals numbers have, as written in single precision where that has them, else in double precision.

    Attributes
    ----------
    places
        Columns that are looked at.
    """

    name = "decimals"

    MOST: ClassVar[int] = 6
    """Decimals that are told apart: more are one more. Numbers of single precision have seven digits."""

    places: tuple[int, ...]

    def of_rows(self, rows: np.ndarray, first: int | None = None) -> np.ndarray:
        return np.column_stack([decimals(rows[:, place], self.MOST) for place in self.places])

    def own(self, width: int) -> int:
        return 1 + max(self.places)

    def named(self, column: int, width: int, naming: Naming = PLAIN) -> str:
        return f"decimals of {columnwords.named(self.columns, self.places[column], self.own(width), naming)}"

    def explained(self, columns: Sequence[int], width: int, naming: Naming) -> dict[str, Any]:
        return {"decimals": f"how many digits after the point a number has, {self.MOST + 1} for any more"}

    def _own_json(self) -> dict[str, Any]:
        return {"places": list(self.places)}

    @classmethod
    def _of_json(cls, columns: Columns, raw: dict[str, Any]) -> Self:
        places = tuple(raw["places"])
        if not places or not all(type(place) is int and place >= 0 for place in places):
            raise ValueError("'places' must list columns")
        return cls(columns, places)


@dataclass(frozen=True, slots=True)
class Totals(Transform):
    """What numbers of an output are together: sums of them, of squares and sizes, the nearest two, ties, and bends.

    Attributes
    ----------
    of
        Columns of these numbers; none for all.
    """

    name = "totals"

    NAMES: ClassVar[tuple[str, ...]] = (
        "sum of the numbers",
        "sum of their squares",
        "binary logarithm of the smallest difference of two numbers",
        "how many distinct numbers there are",
        "how often the most frequent number occurs",
        "sum of the sizes of the numbers",
        "binary logarithm of the smallest difference of two sizes of numbers",
        "binary logarithm of the smallest second difference of neighbouring numbers",
        "binary logarithm of the smallest second difference of every second number",
        "binary logarithm of the smallest second difference of every third number",
        "logarithm of the sum of their exponentials",
    )

    EQUAL: ClassVar[float] = -1100.0
    """What stands for the logarithm of 0: less than that of any number, -1074."""

    of: tuple[int, ...] = ()

    def of_rows(self, rows: np.ndarray, first: int | None = None) -> np.ndarray:
        rows = (rows[:, self.of] if self.of else rows).astype(float, copy=False)
        made = np.empty((len(rows), min(first or len(self.NAMES), len(self.NAMES))))
        step = max(1, _BLOCK_VALUES // rows.shape[1])
        for start in range(0, len(rows), step):
            for to, total in zip(
                made[start : start + step].T, self._of_block(rows[start : start + step]), strict=False
            ):
                to[:] = total
        return made

    def _of_block(self, block: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the totals one by one, each as it is asked for."""
        # A reduction along a short axis is slow.
        ordered = np.ascontiguousarray(np.sort(block, axis=1).T)
        with np.errstate(over="ignore"):
            yield ordered.sum(axis=0)
            yield np.minimum(np.square(ordered).sum(axis=0), _LARGEST)
        gaps = np.diff(ordered, axis=0)
        yield self._logarithm(gaps.min(axis=0))
        ties = gaps == 0
        yield len(ordered) - np.count_nonzero(ties, axis=0)
        run, most = np.zeros(len(block)), np.zeros(len(block))
        for tied in ties:
            run = (run + 1) * tied
            np.maximum(most, run, out=most)
        yield most + 1
        yield np.abs(ordered).sum(axis=0)
        sizes = np.ascontiguousarray(np.sort(np.abs(block), axis=1).T)
        yield self._logarithm(np.diff(sizes, axis=0).min(axis=0))
        turned = np.ascontiguousarray(block.T)
        for lag in (1, 2, 3):
            yield self._least_bend(turned, lag)
        yield ordered[-1] + np.log(np.exp(ordered - ordered[-1]).sum(axis=0))

    def _logarithm(self, least: np.ndarray) -> np.ndarray:
        return np.asarray(np.log2(least, out=np.full(len(least), self.EQUAL), where=least > 0))

    def _least_bend(self, turned: np.ndarray, lag: int) -> np.ndarray:
        """Logarithm of the smallest second difference along outputs: interpolation puts three numbers on a line."""
        if len(turned) <= 2 * lag:
            return np.zeros(turned.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            slopes = turned[lag:] - turned[:-lag]
            return self._logarithm(np.fmin.reduce(np.abs(slopes[lag:] - slopes[:-lag]), axis=0))

    def named(self, column: int, width: int, naming: Naming = PLAIN) -> str:
        if not self.of:
            return self.NAMES[column]
        first, last = (
            columnwords.part(self.columns, each, max(self.of) + 1, naming) for each in self.of[:: len(self.of) - 1]
        )
        return f"{self.NAMES[column]}, of {first} to {last}"

    def _own_json(self) -> dict[str, Any]:
        return {"of": list(self.of)} if self.of else {}

    @classmethod
    def _of_json(cls, columns: Columns, raw: dict[str, Any]) -> Self:
        of = tuple(raw.get("of", ()))
        if len(of) == 1 or not all(isinstance(column, int) and column >= 0 for column in of):
            raise ValueError("'of' of totals must be numbers of two or more columns, from 0 on")
        return cls(columns, of)


@dataclass(frozen=True, slots=True)
class Successions(Transform):
    """How often one number is directly followed by another, anywhere along an output.

    Attributes
    ----------
    pairs
        The number and the one that follows it, of every column.
    """

    name = "successions"

    pairs: tuple[tuple[float, float], ...]

    def of_rows(self, rows: np.ndarray, first: int | None = None) -> np.ndarray:
        turned = np.ascontiguousarray(rows.T)
        made = np.empty((len(rows), len(self.pairs)), dtype=np.int64)
        for column, (number, following) in enumerate(self.pairs):
            made[:, column] = ((turned[:-1] == number) & (turned[1:] == following)).sum(axis=0)
        return made

    def named(self, column: int, width: int, naming: Naming = PLAIN) -> str:
        number, following = map(self._value, self.pairs[column])
        return f"how often {number} is directly followed by {following}"

    def _value(self, number: float) -> str:
        """Write a number, or what it stands for in columns that hold none; both where some hold numbers."""
        columns = range(len(columnwords.names_of(self.columns)))
        values = [columnwords.value_of(self.columns, column, number) for column in columns]
        texts = [str(value) for value in values if value is not None]
        if not texts:
            return in_full(number)
        return texts[0] if len(texts) == len(values) else f"{texts[0]} (or {in_full(number)})"

    def _own_json(self) -> dict[str, Any]:
        return {"pairs": [list(pair) for pair in self.pairs]}

    @classmethod
    def _of_json(cls, columns: Columns, raw: dict[str, Any]) -> Self:
        pairs = tuple((float(number), float(following)) for number, following in raw["pairs"])
        if not pairs:
            raise ValueError("'pairs' must list two numbers each")
        return cls(columns, pairs)


@dataclass(frozen=True, slots=True)
class Parities(Transform):
    """Parities of some bits of whole numbers, turned round where another number is the larger of its two values.

    Attributes
    ----------
    functions
        Column, the bits of it that are counted, the other column or None, and the larger value of that.
    """

    name = "parities"

    MOST: ClassVar[int] = 1 << 16
    """Numbers from 0 to below this are looked at."""

    functions: tuple[tuple[int, int, int | None, float], ...]

    def of_rows(self, rows: np.ndarray, first: int | None = None) -> np.ndarray:
        made = np.empty((len(rows), len(self.functions)), dtype=np.int8)
        for to, (column, bits, other, larger) in zip(made.T, self.functions, strict=True):
            usual = np.nan_to_num(np.clip(rows[:, column], 0, self.MOST - 1))
            to[:] = parity(usual.astype(np.int64) & bits)
            if other is not None:
                to ^= rows[:, other] >= larger
        return made

    def own(self, width: int) -> int:
        return 1 + max(max(column, -1 if other is None else other) for column, _, other, _ in self.functions)

    def named(self, column: int, width: int, naming: Naming = PLAIN) -> str:
        place, bits, other, larger = self.functions[column]
        own = self.own(width)
        text = f"parity of the bits of {columnwords.named(self.columns, place, own, naming)} & {bits:#b}"
        if other is None:
            return text
        value = columnwords.value_of(self.columns, other, larger)
        if value is not None:
            return f"{text}, turned round where {columnwords.part(self.columns, other, own, naming)} is {value}"
        return f"{text}, turned round where {columnwords.named(self.columns, other, own, naming)} >= {in_full(larger)}"

    def explained(self, columns: Sequence[int], width: int, naming: Naming) -> dict[str, Any]:
        return columnwords.legend(self.columns, sorted({self.functions[column][0] for column in columns}))

    def _own_json(self) -> dict[str, Any]:
        return {"functions": [list(each) for each in self.functions]}

    @classmethod
    def _of_json(cls, columns: Columns, raw: dict[str, Any]) -> Self:
        functions = tuple((place, bits, other, float(larger)) for place, bits, other, larger in raw["functions"])
        for place, bits, other, _ in functions:
            if not all(type(each) is int and each >= 0 for each in (place, bits, 0 if other is None else other)):
                raise ValueError("'functions' must list columns, bits, other columns or null, and values")
        if not functions:
            raise ValueError("'functions' must list at least one")
        return cls(columns, functions)


@dataclass(frozen=True, slots=True)
class Unpacked(Transform):
    """The bits of whole numbers from 0 on, the lowest first, in the place of these; other numbers as they are.

    Attributes
    ----------
    bits
        Bits of every number, 0 of those that stay.
    """

    name = "unpacked"

    MOST: ClassVar[int] = 64
    """Bits of a number, at most."""

    bits: tuple[int, ...]

    @property
    def width(self) -> int:
        """Columns that are made."""
        return sum(max(bits, 1) for bits in self.bits)

    def of_rows(self, rows: np.ndarray, first: int | None = None) -> np.ndarray:
        made = np.empty((len(rows), self.width), dtype=np.uint8 if all(self.bits) else float)
        at = 0
        for column, bits in enumerate(self.bits):
            numbers = rows[:, column]
            if not bits:
                made[:, at] = numbers
            else:
                made[:, at : at + bits] = _bits(numbers, bits)
            at += max(bits, 1)
        return made

    @property
    def _places(self) -> list[tuple[int, int | None]]:
        """Number of an output, and its bit or None, of every column."""
        return [(place, bit if bits else None) for place, bits in enumerate(self.bits) for bit in range(max(bits, 1))]

    @property
    def are_bits(self) -> list[bool]:
        """Whether each column that is made is a bit."""
        return [bit is not None for _, bit in self._places]

    def own(self, width: int) -> int:
        return len(self.bits)

    def named(self, column: int, width: int, naming: Naming = PLAIN) -> str:
        place, bit = self._places[column]
        if bit is None:
            return columnwords.part(self.columns, place, self.own(width), naming)
        return f"bit {bit} of {columnwords.named(self.columns, place, self.own(width), naming)}"

    def axis(self, column: int, width: int, edges: np.ndarray, naming: Naming) -> Axis:
        place, bit = self._places[column]
        if bit is None:
            return columnwords.axis(self.columns, place, self.own(width), edges, naming)
        return Axis.of_numbers(self.named(column, width, naming), edges)

    def explained(self, columns: Sequence[int], width: int, naming: Naming) -> dict[str, Any]:
        places = self._places
        legend = columnwords.legend(self.columns, sorted({places[column][0] for column in columns}))
        return {**legend, "bits": "counted from 0, the lowest"}

    def _own_json(self) -> dict[str, Any]:
        return {"bits": list(self.bits)}

    @classmethod
    def _of_json(cls, columns: Columns, raw: dict[str, Any]) -> Self:
        bits = tuple(raw["bits"])
        if not any(bits) or not all(type(each) is int and 0 <= each <= cls.MOST for each in bits):
            raise ValueError(f"'bits' must list numbers from 0 to {cls.MOST}, at least one of them above 0")
        return cls(columns, bits)


@dataclass(frozen=True, slots=True)
class Coded(Transform):
    """The numbers; the smallest and the largest that are no codes, or the first code where all are; counts of codes.

    Attributes
    ----------
    codes
        The values that stand for something else than their size, ascending.
    """

    name = "coded"

    codes: tuple[float, ...]

    def of_rows(self, rows: np.ndarray, first: int | None = None) -> np.ndarray:
        rows = rows.astype(float, copy=False)
        width = rows.shape[1]
        made = np.empty((len(rows), width + 2 + len(self.codes)))
        step = max(1, _BLOCK_VALUES // width)
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            to = made[start : start + step]
            to[:, :width] = block
            # A reduction along a short axis is slow.
            turned = np.ascontiguousarray(block.T)
            is_code = np.zeros(turned.shape, dtype=bool)
            for place, code in enumerate(self.codes):
                equal = turned == code
                is_code |= equal
                to[:, width + 2 + place] = equal.sum(axis=0)
            for place, (reduction, none) in enumerate(((np.minimum, np.inf), (np.maximum, -np.inf))):
                found = reduction.reduce(np.where(is_code, none, turned), axis=0)
                to[:, width + place] = np.where(np.isinf(found), self.codes[0], found)
        return made

    def own(self, width: int) -> int:
        return width - 2 - len(self.codes)

    def named(self, column: int, width: int, naming: Naming = PLAIN) -> str:
        own = self.own(width)
        if column >= own:
            return ("smallest number", "largest number", *map(self._occurrences, self.codes))[column - own]
        return columnwords.part(self.columns, column, own, naming)

    def explained(self, columns: Sequence[int], width: int, naming: Naming) -> dict[str, Any]:
        own = self.own(width)
        return self._extremes(own, naming) if max(columns, default=0) >= own else {}

    def crossed_sum(self, columns: Sequence[int], width: int, naming: Naming, side: str) -> dict[str, str]:
        """Describe a sum over numbers, extremes and counts of codes that crosses the smallest with the counts."""
        own = self.own(width)
        numbers = Identity(self.columns).listed([column for column in columns if column < own], own, naming)
        counts = listed([self._occurrences(code) for code in self.codes]).replace(f"{_OCCURRENCES} ", "")
        each = "each of " if len(self.codes) > 1 else ""
        what = f"{numbers}, of the smallest and the largest number, of how often {each}{counts} occurs"
        return {
            f"sum of step functions of {what}, and of the smallest number with each of these counts": side,
            **self._extremes(own, naming),
        }

    def axis(self, column: int, width: int, edges: np.ndarray, naming: Naming) -> Axis:
        own = self.own(width)
        if column < own:
            return columnwords.axis(self.columns, column, own, edges, naming)
        return Axis.of_numbers(self.named(column, width, naming), edges)

    def _extremes(self, own: int, naming: Naming) -> dict[str, str]:
        """Say which numbers the smallest and the largest are looked for among, and codes are counted in."""
        codes = listed(list(map(in_full, self.codes)))
        return {
            "codes are counted in": numbers_of(self.columns, own, naming),
            "smallest and largest": f"of these that are not {codes}",
        }

    def _occurrences(self, code: float) -> str:
        """Say what is counted: a code, and what it stands for where an output has other values than numbers."""
        own = len(columnwords.names_of(self.columns))
        kinds = [column for column in range(own) if columnwords.value_of(self.columns, column, 0) is not None]
        if not kinds or not code.is_integer() or not -1 <= code <= len(self.columns.categories) + 1:
            return f"{_OCCURRENCES} {in_full(code)}"
        text = columnwords.value_of(self.columns, kinds[0], code)
        return f"{_OCCURRENCES} {text}" + (f" (or {in_full(code)})" if len(kinds) < own else "")

    def _own_json(self) -> dict[str, Any]:
        return {"codes": list(self.codes)}

    @classmethod
    def _of_json(cls, columns: Columns, raw: dict[str, Any]) -> Self:
        return cls(columns, tuple(map(float, raw["codes"])))


_KINDS: dict[str, type[Transform]] = {
    kind.name: kind
    for kind in (
        Identity,
        Differences,
        Ordered,
        Innovations,
        Directions,
        Places,
        Phases,
        Decimals,
        Totals,
        Successions,
        Parities,
        Unpacked,
        Coded,
    )
}


def _bits(numbers: np.ndarray, count: int) -> np.ndarray:
    """Lowest bits of whole numbers, shape (size, count); of fractions below 0 or from 2^63 on, all are 0."""
    if numbers.dtype.kind == "f":
        # What is no whole number of this size is none of those that are looked at.
        numbers = np.where((numbers >= 0) & (numbers < 2.0**63), numbers, 0.0)
    whole = np.ascontiguousarray(numbers).astype("<u8")
    return np.unpackbits(whole.view(np.uint8).reshape(-1, 8), axis=1, count=count, bitorder="little")


def parity(numbers: np.ndarray) -> np.ndarray:
    """Whether the number of bits that are set is odd, of whole numbers below 2^16; 1 or 0."""
    for shift in (8, 4, 2, 1):
        numbers = numbers ^ (numbers >> shift)
    return np.asarray(numbers & 1)


def phase(numbers: np.ndarray, period: float) -> np.ndarray:
    """Where each number is in its period, from 0 to below 1; 0 where that is lost to rounding."""
    with np.errstate(over="ignore", invalid="ignore"):
        turns = numbers.astype(float, copy=False) / period
        part = turns - np.floor(turns)
    return np.where(part < 1, part, 0.0)


def decimals(numbers: np.ndarray, most: int) -> np.ndarray:
    """Return how many digits after the point each number has; one more than ``most`` for any more."""
    double = numbers.astype(float, copy=False)
    found = np.full(len(double), most + 1, dtype=np.int8)
    with np.errstate(over="ignore", invalid="ignore"):
        single = double.astype(np.float32)
        as_single = single == double
        for digits in range(most, -1, -1):
            rounded = np.round(double, digits)
            found[(rounded == double) | (as_single & (rounded.astype(np.float32) == single))] = digits
    return found


def numbers_of(columns: Columns, own: int, naming: Naming) -> str:
    """List the numbers of an output."""
    if columns.numeric:
        return Identity(columns).listed(range(own), own, naming)
    return listed([columnwords.named(columns, column, own, naming) for column in range(own)])


def weighted(terms: Sequence[tuple[float, str]], *, full: bool = False) -> str:
    """Write a weighted sum, with four digits of each weight or all.

    Examples
    --------
    >>> weighted([(1.0, "output[1]"), (-0.25, "output[0]")])
    'output[1] - 0.25 output[0]'
    >>> weighted([(1.0, "output[1]"), (-1 / 3, "output[0]")]), weighted([(1 / 3, "output[0]")], full=True)
    ('output[1] - 0.3333 output[0]', '0.3333333333333333 output[0]')
    """
    text = ""
    for weight, name in terms:
        size = "" if abs(weight) == 1 else f"{in_full(abs(weight)) if full else f'{abs(weight):.4g}'} "
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


def places_to_json(columns: Columns) -> dict[str, Any]:
    """Columns of structured outputs as data; nothing for others."""
    return {} if columns.paths is None else {"paths": list(columns.paths), "kept": list(columns.kept)}


def columns_from_json(raw: dict[str, Any]) -> Columns:
    """Make columns again."""
    paths = raw.get("paths")
    if paths is None:
        return Columns(raw["positions"], tuple(raw["categories"]))
    return Columns(None, tuple(raw["categories"]), tuple(map(str, paths)), tuple(map(int, raw["kept"])))
