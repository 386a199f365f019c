"""A score of what whole numbers, and numbers on a grid, carry in their residues: in the lowest digit, or in a checksum.

Where noise is far larger than the last digit, nearly all numbers come once, and no interval of them says what their
last digit does. Neither does an interval say which offset a grid has that noise was rounded to, where the input is
added to it. The residue of a number says both, and that of a sum of numbers says what they share.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammaincc, gammaln, log_ndtr

from dpaudit.auditors.learning.transforms import columns_from_json, places_to_json
from dpaudit.auditors.outputs import column_words as columnwords
from dpaudit.auditors.outputs.column_words import PLAIN, Naming
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.event_words import half_line, in_full, listed
from dpaudit.auditors.outputs.grids import WHOLE, Grid, grid_from_json
from dpaudit.auditors.outputs.outputs import OutputsLike, as_outputs, joined
from dpaudit.auditors.sampling.pace import check_time

_GLANCE = 2000
_LOOKED_AT, _LEAST_LOOKED_AT, _LOOKED_AT_NUMBERS = 50_000, 2000, 320_000
"""Outputs of either input, at most and at least, and numbers, about, in which moduli are looked for."""

_MOST_COLUMNS = 256
_DISTINCT = 0.25
"""Part of the first numbers that must be distinct: others are counted one by one."""

_RESIDUES = {
    5040: [(1, m) for m in (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 20, 24, 30, 60)],
    9000: [*((1, m) for m in (25, 50, 100, 125, 250, 360, 500, 1000)), (10, 10), (100, 10)],
    1024: [*((1, 1 << power) for power in range(5, 11)), *((1 << power, 2) for power in range(1, 10))],
    2431: [(1, m) for m in (11, 13, 17)],
}
"""Divisors and moduli that are tried, by a number whose residues decide theirs."""

_EVERY = 128
"""Moduli up to which every one is tried. Chosen by hand, for time: a modulus to this size takes some 0.1 ms."""

_EVERY_SHARE = 4
"""One over the part of the rows on which those are tried that `_RESIDUES` leaves out. Chosen by hand, for time."""

_MOST_FOLDED = 1 << 14
"""Number, at most, whose residues are counted to decide those of its divisors. Chosen by hand: far fewer than the rows
that are counted."""

_HIGHER_DIGITS = {2: range(10, 62), 10: range(3, 18)}
"""Places of further binary and decimal digits that are looked at, of numbers of 64 bits."""

_WITHIN = 4.0
"""How many times a modulus must go into the middle half of the numbers: a smooth law is spread over all residues evenly
then, wherever its middle is."""

_ERROR = 0.05
"""Probability, about, with which some residue seems to tell the inputs apart where none does."""

_TOGETHER, _SETS = 4, 256
"""Numbers whose differences are looked at for a common divisor, and how many such sets of numbers."""

_COMMON_DIVISORS = 6
"""Common divisors, at most, that are tried: those that come most often."""

_MORE_OFTEN = 3
"""Times as often as by chance, and a few times, that a common divisor must come."""

_PARTS = 256
"""Parts that the step of a grid is divided into, where only the numbers of one input are on it."""

_PAIRED = 64
"""Columns up to which the parities of their pairs are looked at."""

_LEAST_PROBABILITY = 1e-290
_LISTED, _WRITTEN = 24, 5
"""Residues, and terms of a sum, that are written one by one, at most."""

_MOST_WEIGHED, _MOST_DIVIDED = 1 << 32, (1 << 63) - 1
"""Weight of a column, and product of a divisor and a modulus, at most: residues are numbers of 64 bits."""

_HIGH, _LOW = " // 2**32", " % 2**32"
"""Places of the two parts of a long whole number."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A weighted sum of columns, in steps of a grid.

    Attributes
    ----------
    columns, weights
        Which columns, and the whole number that each is multiplied by.
    grid
        What the numbers are on; whole numbers without one.
    """

    columns: tuple[int, ...]
    weights: tuple[int, ...]
    grid: Grid = WHOLE

    def residues(self, rows: np.ndarray, modulus: int, divisor: int = 1) -> np.ndarray:
        """Residue of every row, divided by the divisor before; the modulus itself where a number is not on the grid."""
        whole = modulus * divisor
        total, off = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=bool)
        for place, weight in enumerate(self.weights):
            numbers, beside = self.places(rows, place)
            found = _residues(numbers, whole)
            total += found if weight == 1 else found * (weight % whole)
            if beside is not None:
                off |= beside
        if len(self.columns) > 1:
            total = _residues(total, whole)
        if divisor > 1:
            total //= divisor
        total[off] = modulus
        return total

    def places(self, rows: np.ndarray, place: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Numbers of one of the columns in steps, and which are not on the grid; None where all are whole anyway."""
        numbers = rows[:, self.columns[place]]
        if numbers.dtype.kind != "f" and self.grid == WHOLE:
            return numbers, None
        steps, on_grid = self.grid.places(numbers)
        return steps, ~on_grid

    def named(self, names: Sequence[str]) -> str:
        """Write it down."""
        if len(self.columns) > _WRITTEN and self.columns == tuple(range(self.columns[0], self.columns[-1] + 1)):
            return f"(the sum of {self._term(names[self.columns[0]])} to {self._term(names[self.columns[-1]])})"
        terms = [
            self._term(names[column]) if weight == 1 else f"{weight} * {self._term(names[column])}"
            for column, weight in zip(self.columns, self.weights, strict=True)
        ]
        return f"({' + '.join(terms)})" if len(terms) > 1 else terms[0]

    def _term(self, name: str) -> str:
        """Number of the point that a column is at."""
        if self.grid == WHOLE:
            return name
        above = f"({name} - {in_full(self.grid.offset)})" if self.grid.offset else name
        return f"round({above} / {in_full(self.grid.step)})"


@dataclass(frozen=True, slots=True)
class Digit:
    """A function of the residue of a sum, or of a digit further up.

    Attributes
    ----------
    sum, modulus
        What the residue is of; one that equals the modulus stands for numbers that are not on the grid.
    divisor
        What the sum is divided by before, rounded down: a digit has as many below it as this has zeros.
    residues, values
        The residues that were seen, ascending, and the log-ratio of their counts; it is 0 for others.
    """

    sum: Sum
    modulus: int
    divisor: int
    residues: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, look: _Look, x: np.ndarray, y: np.ndarray) -> Self:
        """Count residues on both inputs."""
        sides = [look.sum.residues(side, look.modulus, look.divisor) for side in (x, y)]
        residues, at = np.unique(np.concatenate(sides), return_inverse=True)
        counts = (np.bincount(part, minlength=len(residues)) for part in np.split(at, [len(x)]))
        logs = [np.log(count + 0.5) for count in counts]
        ratios = logs[0] - logs[1] + math.log(len(y) / len(x))
        return cls(look.sum, look.modulus, look.divisor, residues, ratios)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Value of every row."""
        found = self.sum.residues(rows, self.modulus, self.divisor)
        at = np.minimum(np.searchsorted(self.residues, found), len(self.residues) - 1)
        return np.where(self.residues[at] == found, self.values[at], 0.0)

    def named(self, names: Sequence[str]) -> str:
        """Write down what the function is of."""
        divided = "" if self.divisor == 1 else f" // {self.divisor}"
        return f"{self.sum.named(names)}{divided} % {self.modulus}"


@dataclass(frozen=True, slots=True)
class ResidueScore:
    """Sum of functions of residues.

    Attributes
    ----------
    columns
        How outputs become rows of numbers.
    digits
        The functions.
    """

    cost: ClassVar[int] = 2
    log_ratio: ClassVar[bool] = True

    columns: Columns
    digits: tuple[Digit, ...]

    @classmethod
    def fit(cls, columns: Columns, x: OutputsLike, y: OutputsLike) -> ResidueScore | None:
        """Learn from samples of both inputs; None where a part of them shows nothing."""
        x, y = as_outputs(x), as_outputs(y)
        glance = joined([x[:_GLANCE], y[:_GLANCE]]).rows(columns)
        width = glance.shape[1]
        if width > _MOST_COLUMNS:
            return None
        sums = list(_sums(columns, glance[: len(x[:_GLANCE])], glance[len(x[:_GLANCE]) :]))
        if not sums:
            return None
        rows = min(_LOOKED_AT, max(_LEAST_LOOKED_AT, _LOOKED_AT_NUMBERS // width))
        some = x[:rows].rows(columns), y[:rows].rows(columns)
        found = [*_looks(sums, *some), *_parities(sums, *some)]
        enough = math.log(_ERROR / max(1, sum(look.looks for look in found)))
        telling = [look for look in found if look.luck < enough]
        if not telling:
            return None
        best = min(telling, key=lambda look: look.luck)
        chosen = [best]
        if len(best.sum.columns) == 1:
            # What one column says, a sum that it is part of may repeat, and so may another grid of the same column.
            of_column: dict[tuple[int, ...], _Look] = {}
            for look in sorted(telling, key=lambda look: look.luck):
                if len(look.sum.columns) == 1:
                    of_column.setdefault(look.sum.columns, look)
            chosen = sorted(of_column.values(), key=lambda look: look.sum.columns)
        chosen = [_best_multiple(look, *some) for look in chosen]
        sides = some if len(x) <= rows else (x.rows(columns), y.rows(columns))
        return cls(columns, tuple(Digit.of(look, *sides) for look in chosen))

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        """Score of every output, shape (size,)."""
        rows = as_outputs(outputs).rows(self.columns)
        score = np.zeros(len(rows))
        for digit in self.digits:
            score += digit(rows)
        return score

    def describe(self, threshold: float, *, above: bool, naming: Naming = PLAIN) -> Any:
        """List the residues of the event where one number is looked at, and name the numbers otherwise."""
        width = 1 + max(column for digit in self.digits for column in digit.sum.columns)
        names = [columnwords.named(self.columns, column, width, naming) for column in range(width)]
        told = [digit.named(names) for digit in self.digits]
        if len(told) > 1:
            weights = [float(np.ptp(digit.values)) for digit in self.digits]
            return {f"sum of functions of {listed(told, weights)}": half_line(threshold, above=above)}
        (digit,) = self.digits
        inside = digit.values >= threshold if above else digit.values <= threshold
        chosen = [int(each) if each < digit.modulus else "not on the grid" for each in digit.residues[inside].tolist()]
        event: dict[str, Any] = {f"{told[0]} is any of": chosen[:_LISTED]}
        if len(chosen) > _LISTED:
            event["and others, altogether"] = len(chosen)
        if threshold <= 0.0 if above else threshold >= 0.0:
            event["or"] = "a residue that the selection sample did not show"
        return event

    def to_json(self) -> dict[str, Any]:
        """Columns, sums, moduli and functions."""
        return {
            "kind": "residues",
            "positions": self.columns.positions,
            "categories": list(self.columns.categories),
            **places_to_json(self.columns),
            "digits": [
                {
                    "columns": list(digit.sum.columns),
                    "weights": list(digit.sum.weights),
                    "step": digit.sum.grid.step,
                    "offset": digit.sum.grid.offset,
                    "short": digit.sum.grid.short,
                    "modulus": digit.modulus,
                    "divisor": digit.divisor,
                    "residues": digit.residues.tolist(),
                    "values": digit.values.tolist(),
                }
                for digit in self.digits
            ],
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> ResidueScore:
        """Make the score again."""
        digits = tuple(map(_digit_from_json, raw["digits"]))
        if not digits:
            raise ValueError("'digits' must list at least one")
        return cls(columns_from_json(raw), digits)


def _digit_from_json(raw: dict[str, Any]) -> Digit:
    """Make a function of a residue again, if it is such as a search learns."""
    columns = _whole_numbers(raw["columns"], "columns", 0, _MOST_COLUMNS - 1)
    weights = _whole_numbers(raw["weights"], "weights", 1, _MOST_WEIGHED)
    if len(columns) != len(weights):
        raise ValueError("'columns' and 'weights' must be of one length")
    (divisor,) = _whole_numbers([raw["divisor"]], "divisor", 1, _MOST_DIVIDED // 2)
    (modulus,) = _whole_numbers([raw["modulus"]], "modulus", 2, _MOST_DIVIDED // divisor)
    residues = np.array(_whole_numbers(raw["residues"], "residues", 0, modulus), dtype=np.int64)
    if not (np.diff(residues) > 0).all():
        raise ValueError("'residues' must be ascending")
    values = raw["values"]
    if len(values) != len(residues) or not all(abs(each) <= sys.float_info.max for each in values):
        raise ValueError("'values' must be one number for every residue")
    grid = grid_from_json(raw["step"], raw["offset"], raw.get("short"))
    return Digit(Sum(columns, weights, grid), modulus, divisor, residues, np.array(values, dtype=float))


def _whole_numbers(raw: Any, what: str, low: int, high: int) -> tuple[int, ...]:
    if not isinstance(raw, list) or not raw or not all(type(each) is int and low <= each <= high for each in raw):
        raise ValueError(f"'{what}' must be whole numbers from {low} to {high}")
    return tuple(raw)


@dataclass(frozen=True, slots=True)
class _Look:
    """The residue, or the digit, of a sum that tells the inputs apart best.

    Attributes
    ----------
    sum, modulus, divisor
        Which it is, as of a `Digit`.
    luck
        Logarithm of the probability that its residues differ as much where none tells the inputs apart.
    looks
        How many of them were looked at.
    """

    sum: Sum
    modulus: int
    divisor: int
    luck: float
    looks: int


@dataclass(frozen=True, slots=True)
class _Moduli:
    """Moduli that are tried on a sum: divisors up to a largest one, and others."""

    largest: float
    others: tuple[int, ...] = ()


def _sums(columns: Columns, x: np.ndarray, y: np.ndarray) -> Iterator[tuple[Sum, _Moduli]]:
    """Yield what residues are looked at of, and by which moduli, as few rows decide it."""
    both = np.concatenate([x, y])
    grids: dict[Grid, list[int]] = {}
    for column in range(x.shape[1]):
        check_time()
        if not columns.numeric and not columns.kept[column] % 2:
            continue  # Categories are no numbers, and how many values there are is none of them.
        whole = both.dtype.kind in "biu"
        grid = WHOLE if whole else Grid.of(both[:, column])
        if grid is not None:
            grids.setdefault(grid, []).append(column)
        if min(_share_of_distinct(side[:, column]) for side in (x, y)) < _DISTINCT:
            continue
        if grid is not None:
            alone = Sum((column,), (1,), grid)
            yield alone, _Moduli(_spread(alone, both) / _WITHIN, _common_divisors(alone, x, y))
            continue
        # The numbers of each input may be on a grid, whose offset the input decides.
        for side in (x, y):
            grid = Grid.of(side[:, column])
            if grid is not None:
                yield Sum((column,), (1,), grid.divided(_PARTS)), _Moduli(0.0, (_PARTS,))
    for grid, members in grids.items():
        if len(members) > 1:
            total = Sum(tuple(members), (1,) * len(members), grid)
            yield total, _Moduli(max(2.0, _spread(total, both) / _WITHIN))
    for long in _long_numbers(columns, x.shape[1]):
        yield long, _Moduli(_spread(Sum(long.columns[1:], (1,)), both) / _WITHIN)


def _share_of_distinct(values: np.ndarray) -> float:
    return len(np.unique(values)) / max(1, len(values))


def _long_numbers(columns: Columns, width: int) -> Iterator[Sum]:
    """Whole numbers that two columns hold."""
    if columns.paths is None:
        return
    places = {columns.paths[(kept - 1) // 2]: at for at, kept in enumerate(columns.kept) if kept % 2}
    for place, at in places.items():
        low = places.get(place.removesuffix(_HIGH) + _LOW)
        if place.endswith(_HIGH) and low is not None:
            yield Sum((at, low), (1 << 32, 1))


def _spread(summed: Sum, rows: np.ndarray) -> float:
    """Steps between the quartiles of a sum."""
    total = np.zeros(len(rows))
    for column, weight in zip(summed.columns, summed.weights, strict=True):
        total += weight * rows[:, column].astype(float)
    finite = total[np.isfinite(total)]
    if not finite.size:
        return 0.0
    low, high = np.quantile(finite, [0.25, 0.75])
    return float(high - low) / summed.grid.step


def _common_divisors(summed: Sum, x: np.ndarray, y: np.ndarray) -> tuple[int, ...]:
    """Numbers that divide the differences of a few numbers of one input most often."""
    sets = []
    for side in (x, y):
        numbers = side[: _TOGETHER * _SETS, summed.columns[0]]
        if numbers.dtype.kind == "f" or summed.grid != WHOLE:
            numbers, _ = summed.grid.places(numbers)
        numbers = numbers[: len(numbers) // _TOGETHER * _TOGETHER].reshape(-1, _TOGETHER)
        # Unsigned, so that differences of numbers of 64 bits fit.
        wide = numbers.astype(np.uint64 if numbers.dtype.kind == "u" else np.int64).view(np.uint64)
        lowest = numbers.argmin(axis=1)[:, None]
        sets.append(np.gcd.reduce(wide - np.take_along_axis(wide, lowest, axis=1), axis=1))
    divisors, counts = np.unique(np.concatenate(sets), return_counts=True)
    # That numbers of all kinds have a common divisor is rarer the larger it is.
    by_chance = counts.sum() / divisors.astype(float).clip(1) ** (_TOGETHER - 1)
    often = (divisors > 1) & (divisors < 1 << 62) & (counts > _MORE_OFTEN * (by_chance + 1))
    divisors, counts = divisors[often], counts[often]
    return tuple(map(int, divisors[np.argsort(-counts, kind="stable")][:_COMMON_DIVISORS]))


@cache
def _every_modulus() -> tuple[tuple[int, list[tuple[int, int]]], ...]:
    """Moduli up to `_EVERY` that `_RESIDUES` leaves out, as there: each by a common multiple of several of them."""
    known = {modulus for residues in _RESIDUES.values() for divisor, modulus in residues if divisor == 1}
    left = [modulus for modulus in range(_EVERY, 1, -1) if modulus not in known]
    found: list[tuple[int, list[tuple[int, int]]]] = []
    while left:
        multiple = 1
        for modulus in left:
            if math.lcm(multiple, modulus) <= _MOST_FOLDED:
                multiple = math.lcm(multiple, modulus)
        found.append((multiple, [(1, modulus) for modulus in left if multiple % modulus == 0]))
        left = [modulus for modulus in left if multiple % modulus]
    return tuple(found)


def _looks(sums: Sequence[tuple[Sum, _Moduli]], x: np.ndarray, y: np.ndarray) -> list[_Look]:
    """Of every sum, the modulus that tells the inputs apart best; of all of them at once, which is faster."""
    found: list[list[tuple[float, int, int]]] = [[] for _ in sums]
    largest = np.array([moduli.largest for _, moduli in sums])
    few = len(x) // _EVERY_SHARE
    tables = [(each, x, y) for each in _RESIDUES.items()] + [(each, x[:few], y[:few]) for each in _every_modulus()]
    for (multiple, residues), *sides in tables:
        if largest.max() < min(divisor * modulus for divisor, modulus in residues):
            continue
        counts = [
            np.stack([np.bincount(summed.residues(side, multiple), minlength=multiple + 1) for summed, _ in sums])
            for side in sides
        ]
        for divisor, modulus in residues:
            tried = np.flatnonzero(largest >= divisor * modulus)
            if len(tried):
                luck = _luck(*(_folded(side[tried], divisor, modulus) for side in counts))
                for place, each in zip(tried.tolist(), luck.tolist(), strict=True):
                    found[place].append((each, divisor, modulus))
    for place, (summed, moduli) in enumerate(sums):
        found[place] += [(_luck_of(summed, modulus, x, y), 1, modulus) for modulus in moduli.others]
        found[place] += _higher_digits(summed, moduli.largest, x, y)
    best = ((summed, min(looks), len(looks)) for (summed, _), looks in zip(sums, found, strict=True) if looks)
    return [_Look(summed, modulus, divisor, luck, looks) for summed, (luck, divisor, modulus), looks in best]


def _luck_of(summed: Sum, modulus: int, x: np.ndarray, y: np.ndarray) -> float:
    """As :func:`_luck`, of the residues of one sum by one modulus."""
    sides = [summed.residues(side, modulus) for side in (x, y)]
    _, at = np.unique(np.concatenate(sides), return_inverse=True)
    count = int(at.max()) + 1
    of_x, of_y = (np.bincount(part, minlength=count)[None] for part in np.split(at, [len(x)]))
    return float(_luck(of_x, of_y)[0])


def _best_multiple(look: _Look, x: np.ndarray, y: np.ndarray) -> _Look:
    """Return the residue by a multiple of a modulus where that tells more: all rows did not say it of every modulus."""
    if look.divisor > 1:
        return look
    multiples = range(look.modulus, max(look.modulus, _EVERY) + 1, look.modulus)
    luck, modulus = min((_luck_of(look.sum, multiple, x, y), multiple) for multiple in multiples)
    return replace(look, luck=luck, modulus=modulus)


def _higher_digits(summed: Sum, largest: float, x: np.ndarray, y: np.ndarray) -> Iterator[tuple[float, int, int]]:
    """Yield luck, divisor and modulus of further binary and decimal digits of one column."""
    if len(summed.columns) > 1:
        return
    sides = [summed.places(side, 0) for side in (x, y)]
    for base, powers in _HIGHER_DIGITS.items():
        divisors = [base**power for power in powers if base ** (power + 1) <= largest]
        if not divisors:
            continue
        counts = []
        for numbers, off in sides:
            on_grid = numbers if off is None else numbers[~off]
            digits = (_digit(on_grid, divisor, base) for divisor in divisors)
            table = np.zeros((len(divisors), base + 1), dtype=np.intp)
            table[:, :base] = [np.bincount(each, minlength=base) for each in digits]
            table[:, base] = len(numbers) - len(on_grid)
            counts.append(table)
        for luck, divisor in zip(_luck(*counts).tolist(), divisors, strict=True):
            yield luck, divisor, base


def _digit(numbers: np.ndarray, divisor: int, base: int) -> np.ndarray:
    # One input's numbers may be of a narrow type that does not hold the divisor.
    numbers = numbers.astype(np.uint64 if numbers.dtype.kind == "u" else np.int64, copy=False)
    if base == 2:
        return np.asarray(numbers >> (divisor.bit_length() - 1)).astype(np.int64) & 1
    return _residues(numbers // divisor, base)


def _folded(counts: np.ndarray, divisor: int, modulus: int) -> np.ndarray:
    """Counts of residues from those by a multiple; what is not on the grid stays apart."""
    inside = counts[:, :-1].reshape(len(counts), -1, modulus * divisor).sum(axis=1)
    inside = inside.reshape(len(counts), modulus, divisor).sum(axis=2)
    return np.concatenate([inside, counts[:, -1:]], axis=1)


def _luck(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Logarithm of the probability of counts so different by chance, by a chi-squared test of every row."""
    both = x + y
    share = x[0].sum() / both[0].sum()
    expected = both * share
    squares = (x - expected) ** 2 / np.maximum(expected * (1 - share), _LEAST_PROBABILITY)
    half = squares.sum(axis=1) / 2
    shape = np.maximum((both > 0).sum(axis=1) - 1, 1) / 2
    probability = gammaincc(shape, half)
    # Far out, the first term of the asymptotic series.
    far = (shape - 1) * np.log(np.maximum(half, 1.0)) - half - gammaln(shape)
    near = np.log(np.maximum(probability, _LEAST_PROBABILITY))
    return np.asarray(np.where(probability > _LEAST_PROBABILITY, near, far))


def _parities(sums: list[tuple[Sum, _Moduli]], x: np.ndarray, y: np.ndarray) -> Iterator[_Look]:
    """Yield the two columns whose sum is odd more often on one input than on the other."""
    totals = [summed for summed, _ in sums if len(summed.columns) > 2 and set(summed.weights) == {1}]
    for total in totals:
        if len(total.columns) > _PAIRED:
            continue
        alone = [Sum((column,), (1,), total.grid) for column in total.columns]
        odd = (np.stack([each.residues(side, 2) == 1 for each in alone]) for side in (x, y))
        signs = [1 - 2 * side.astype(np.float32) for side in odd]
        means = [(side @ side.T).astype(float) / side.shape[1] for side in signs]
        variance = sum((1 - mean**2) / side.shape[1] for mean, side in zip(means, signs, strict=True))
        apart = np.triu(np.abs(means[0] - means[1]) / np.sqrt(np.maximum(variance, 1e-300)), 1)
        i, j = np.unravel_index(int(apart.argmax()), apart.shape)
        pair = Sum((total.columns[i], total.columns[j]), (1, 1), total.grid)
        looks = len(alone) * (len(alone) - 1) // 2
        yield _Look(pair, 2, 1, float(log_ndtr(-apart[i, j])) + math.log(2), looks)


def _residues(numbers: np.ndarray, modulus: int) -> np.ndarray:
    if numbers.dtype.kind == "u":
        return (numbers.astype(np.uint64, copy=False) % np.uint64(modulus)).astype(np.int64)
    numbers = numbers.astype(np.int64)
    if modulus & (modulus - 1) == 0:
        return np.asarray(numbers & (modulus - 1))
    # Faster than a remainder, and rounded down as well.
    return np.asarray(numbers - numbers // modulus * modulus)
