"""Parts of outputs that look like random digits, which together may hide what each of them does not show.

A salt and a digest as two lists of bytes, a ciphertext as an image, random bits of which the last is a hash of the
others, and a shuffled deck say nothing number by number and nothing pair by pair. That is all that scores look at, but
for trees, which look at a few numbers together. Whatever else the numbers say jointly stays hidden where rows of them
hardly ever come again: a difference in the parity of half of 20 fair coins is not told from none by any score.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from scipy.special import chdtrc

from dpaudit.auditors.outputs.flat import Uniform, paths
from dpaudit.auditors.outputs.leaves import Values
from dpaudit.auditors.outputs.outputs import Outputs, outcome_keys
from dpaudit.auditors.sampling.pace import check_time

_NOT_UNIFORM = 1e-6
"""Level of the test that leaves a column out whose values are not equally frequent. Chosen by hand: what looks a little
uneven goes into the test of all columns together."""

_ALL_TOGETHER = _IN_A_PAIR = 1e-4
"""Level of each of the tests that all columns together are uniform and independent, in total and in every pair. Chosen
by hand: as often, each of them takes what is hidden for honest noise; a lower level would take more of little honest
noise for digits."""

_DETERMINED = 0.5
"""Cramer's V squared from which on one column is taken for a copy of another, and left out. Chosen by hand."""

_MOSTLY_NEW = 0.5
"""Share of rows of digits that are new, from which on they identify. Chosen by hand, as for single columns."""

_LEAST_ROWS = 1500
"""Outputs of either input, at least, that are looked at. Chosen by hand: fewer do not tell little honest noise from
none. Randomized responses of 20 attributes with an epsilon of 1 altogether were taken for digits in 86 % of samples of
1,000 outputs, 60 % of 1,500, 27 % of 2,000 and 0.5 % of 3,200, about as many as choose the event of 20,000."""

_FIRST, _GLANCE = 200, 1000
"""Rows that say whether a number ever comes again, and whether a column may be uniform. Chosen by hand, for time."""

_FIRST_COLUMNS, _GLANCED_AT, _LOOKED_AT = 1 << 16, 1024, 256
"""Columns, at most, of which this is asked, and of which all rows are looked at. Chosen by hand, for time: 256 columns
of digits hide as much as more."""

_FEW_CELLS, _CELLS = 16, 256
"""Bins of a column of too many values to count each, in a glance and in all rows. Chosen by hand."""

_CONTINUOUS = 0.9
"""Share of distinct values in a glance above which numbers that are not whole are no digits: 0.9 for 5,000 values."""

_PER_CELL = 5
"""Rows for every value of a column, at least, for each to be counted. Chosen by hand: statistics of many values are
added, so that few rows of each will do."""

_PAIR_CELLS, _PAIR_WIDTH = 8, 256
"""Bins of a column in tests of pairs, at most, and of all columns together. Chosen by hand, for time."""

_OTHERS = 64
"""Columns, at most, that are no digits but may depend on them. Chosen by hand, for time."""

_NUMBERS = 32
"""Numbers of a permutation, at most, that are looked at. Chosen by hand, for time: as for columns."""

_TEXTS = 4096
"""Distinct texts in one place, at most, that are digits. Chosen by hand: more are rarely all seen often enough."""

_LAST_STEP = re.compile(r"(\[[^\[\]]*\]|\.\w+)$")
"""The last step of a path in a structured output."""

Found = tuple[int | str, ...]
"""Parts of outputs: numbers of columns, or paths of values in structured outputs."""


@dataclass(frozen=True, slots=True)
class _Digit:
    """A column as whole numbers from 0 on, and how many of them there may be.

    Attributes
    ----------
    codes
        The number of every row.
    shares
        Part of the rows that have each number, if the column is uniform.
    of
        Columns of the outputs that it comes from.
    """

    codes: np.ndarray
    shares: np.ndarray
    of: tuple[int, ...]


def digits_in(both: Outputs, rows: np.ndarray, first: int, outputs: int) -> Found:
    """Which parts of outputs look together like random digits (see `random_digits`); empty where there are none.

    Parameters
    ----------
    both, rows
        Outputs of the first input before those of the second, and as rows of numbers.
    first, outputs
        As for `random_digits`.
    """
    placed = None if both.dtype.kind in "biufc" else _values_by_path(both)
    if placed is None:
        return random_digits(list(rows.T), first, outputs)
    known = {path: column for path, column in placed.items() if column is not None}
    digits = random_digits(list(known.values()), first, outputs)
    return _holding([list(known)[place] for place in digits], list(placed))


def random_digits(columns: Sequence[np.ndarray], first: int, outputs: int) -> tuple[int, ...]:
    """Which columns look together like random digits.

    They are uniform over their values on both inputs, pairwise independent, and their total varies as that of
    independent ones; and together they hardly ever come again. Numbers of a permutation are looked at as its Lehmer
    code, whose digits are independent and uniform if, and only if, all permutations are equally likely.

    Parameters
    ----------
    columns
        Numbers of either input, those of the first before those of the second.
    first
        How many outputs are of the first input.
    outputs
        Outputs of both inputs that there are to learn from, of which these are the first.

    Returns
    -------
    tuple of int
        Numbers of the columns, ascending; empty where too few are of that kind.
    """
    single = [_digit(columns[place], place) for place in _candidates(columns, first)[:_LOOKED_AT]]
    found = _of_permutations([digit for digit in single if digit is not None])
    uniform = [digit for digit in found if _chance(*_unevenness(digit, first)) > _NOT_UNIFORM]
    if len(uniform) < 2 or not _hardly_come_again(uniform, outputs):
        return ()
    known = {place for digit in uniform for place in digit.of}
    others = [column for place, column in enumerate(columns[:_GLANCED_AT]) if place not in known]
    if _chance(*np.sum([_unevenness(digit, first) for digit in uniform], axis=0)) <= _ALL_TOGETHER:
        return ()
    kept, rest = _independent(uniform, others[:_OTHERS], first)
    if not kept or not _totals_vary_enough(kept, first) or not _hardly_come_again(kept, outputs):
        return ()
    return tuple(sorted({place for digit in kept + rest for place in digit.of}))


def _values_by_path(both: Outputs) -> dict[str, np.ndarray | None] | None:
    """Values at every place of structured outputs, as numbers; None where these are not all of one structure.

    Places of too many texts have None.
    """
    found: dict[str, list[Values]] = {}
    structures = set()
    for flat in chain.from_iterable(both.apart()):
        if not isinstance(flat, Uniform):
            return None
        structures.add(flat.structure)
        if len(structures) > 1:
            return None
        for path, values in zip(paths(flat.structure), flat.columns, strict=True):
            found.setdefault(path, []).append(values)
    return {path: _as_numbers(parts) for path, parts in found.items()}


def _as_numbers(parts: list[Values]) -> np.ndarray | None:
    """Numbers as they are; texts and other categories by their order, None where they are too many for digits."""
    if all(isinstance(values, np.ndarray) and values.dtype.kind in "biuf" for values in parts):
        return np.concatenate([np.asarray(values) for values in parts]).astype(float)
    texts: dict[Any, int] = {}
    try:
        numbers = [texts.setdefault(value, len(texts)) for value in chain.from_iterable(parts)]
    except TypeError:  # they are not hashable
        return None
    if len(texts) > _TEXTS:
        return None
    # Where several places hold the same texts, equal ones have equal numbers.
    ranks = np.empty(len(texts))
    # Python does not write whole numbers of thousands of digits in decimals.
    names = [hex(text) if type(text) is int else repr(text) for text in texts]
    ranks[sorted(range(len(texts)), key=names.__getitem__)] = np.arange(len(texts))
    return np.asarray(ranks[numbers])


def _holding(found: Sequence[str], every: Sequence[str]) -> Found:
    """Write paths as the path of the largest part that holds nothing else."""
    known = set(found)
    others = [path for path in every if path not in known]
    names: dict[str, None] = {}
    for path in found:
        name = path
        while name and not any(path.startswith(_without_last_step(name)) for path in others):
            name = _without_last_step(name)
        names[name] = None
    return tuple(names)


def _without_last_step(path: str) -> str:
    return _LAST_STEP.sub("", path) if _LAST_STEP.search(path) else ""


def _candidates(columns: Sequence[np.ndarray], first: int) -> list[int]:
    """Columns whose first values, of either input, look like uniform digits."""
    if not len(columns) or min(first, len(columns[0]) - first) < _LEAST_ROWS:
        return []
    found = []
    for place, column in enumerate(columns[:_FIRST_COLUMNS]):
        if not place % _LOOKED_AT:
            check_time()
        few = np.sort(column[:_FIRST])
        comes_again = bool((few[1:] == few[:-1]).any())
        if few[0] < few[-1] and np.isfinite(few[-1]) and (comes_again or np.array_equal(few, np.floor(few))):
            found.append(place)
        if len(found) == _GLANCED_AT:
            break
    half = _GLANCE // 2
    return [p for p in found if _may_be_uniform(np.concatenate([columns[p][:half], columns[p][first:][:half]]))]


def _may_be_uniform(values: np.ndarray) -> bool:
    """Whether a few values may be those of a uniform column, by the counts of the values or of few bins."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) * _PER_CELL > len(values):
        low, high = float(distinct[0]), float(distinct[-1])
        whole = np.array_equal(distinct, np.floor(distinct))
        if not np.isfinite(high - low) or (len(distinct) > _CONTINUOUS * len(values) and not whole):
            return False
        counts, _ = np.histogram(values, bins=np.linspace(low, high + whole, _FEW_CELLS + 1))
    even = len(values) / len(counts)
    return bool(_chance(np.sum((counts - even) ** 2) / even, len(counts) - 1) > _NOT_UNIFORM)


def _digit(column: np.ndarray, place: int) -> _Digit | None:
    """Return a column as digits; None where it has too many values that are not whole."""
    check_time()
    distinct, codes = np.unique(column, return_inverse=True)
    if len(distinct) * _PER_CELL <= len(column):
        return _Digit(codes, np.full(len(distinct), 1 / len(distinct)), (place,))
    span = float(distinct[-1]) - float(distinct[0]) + 1
    if not span < 2**53 or not np.array_equal(distinct, np.floor(distinct)):
        return None
    # Whole numbers between the ends of a bin are counted exactly: bins need not be equally likely.
    codes = ((column - distinct[0]) * (_CELLS / span)).astype(int).clip(0, _CELLS - 1)
    return _Digit(codes, np.diff(np.ceil(np.arange(_CELLS + 1) * (span / _CELLS))) / span, (place,))


def _unevenness(digit: _Digit, first: int) -> tuple[float, float]:
    """Chi-squared statistic of both inputs, and its degrees of freedom."""
    total = 0.0
    for side in (digit.codes[:first], digit.codes[first:]):
        expected = digit.shares * len(side)
        total += float(np.sum((np.bincount(side, minlength=len(expected)) - expected) ** 2 / expected))
    return total, 2.0 * (len(digit.shares) - 1)


def _chance(statistic: Any, freedom: Any) -> Any:
    """Probability of a chi-squared statistic as large, or larger."""
    return chdtrc(freedom, statistic)


def _of_permutations(digits: list[_Digit]) -> list[_Digit]:
    """Put the Lehmer code of rows without repetition in place of numbers of the same range."""
    made: list[_Digit] = []
    by_range: dict[int, list[_Digit]] = {}
    for digit in digits:
        by_range.setdefault(len(digit.shares), []).append(digit)
    for most, group in by_range.items():
        size = min(len(group), most)
        parts = [group[start : start + size] for start in range(0, len(group), size)]
        if size > 1 and all(_without_repetition(part) for part in parts):
            parts = [_lehmer(part, most) for part in parts]
        made += [digit for part in parts for digit in part]
    return made


def _without_repetition(part: list[_Digit]) -> bool:
    for rows in (slice(_FIRST), slice(None)):
        ordered = np.sort(np.column_stack([digit.codes[rows] for digit in part]), axis=1)
        if (ordered[:, 1:] == ordered[:, :-1]).any():
            return False
    return True


def _lehmer(part: list[_Digit], most: int) -> list[_Digit]:
    """For every number, how many of those that are left are smaller."""
    made: list[_Digit] = []
    everything = tuple(place for digit in part for place in digit.of)
    for i, digit in enumerate(part[:_NUMBERS]):
        check_time()
        if most - i > 1:
            smaller = sum((earlier.codes < digit.codes for earlier in part[:i]), np.zeros(len(digit.codes), dtype=int))
            made.append(_Digit(digit.codes - smaller, np.full(most - i, 1 / (most - i)), everything))
    return made


def _independent(digits: list[_Digit], others: list[np.ndarray], first: int) -> tuple[list[_Digit], list[_Digit]]:
    """Digits that no digit before them determines, and those that are too many to look at in pairs.

    There are none where others depend on each other, in a pair or in all pairs together, or on another column of the
    outputs: scores see that, and the digits describe something.
    """
    cells = [min(_PAIR_CELLS, len(digit.shares)) for digit in digits]
    count = int(np.searchsorted(np.cumsum(cells), _PAIR_WIDTH, side="right"))
    codes = [digit.codes * size // len(digit.shares) for digit, size in zip(digits[:count], cells, strict=False)]
    rest = [binned for column in others if (binned := _binned(column)) is not None]
    statistic, freedom, most = _dependence(codes, codes, first)
    kept: list[int] = []
    for place in range(count):
        if not (statistic[place, kept] > _DETERMINED * most[place, kept]).any():
            kept.append(place)
    if len(kept) < 2:
        return [], []
    pairs = np.triu_indices(len(kept), 1)
    of_digits, freedom = (table[np.ix_(kept, kept)][pairs] for table in (statistic, freedom))
    of_others = np.ones(1)
    if rest:
        of_others = _chance(*_dependence([codes[place] for place in kept], rest, first)[:2])
    if (
        _chance(of_digits, freedom).min() <= _IN_A_PAIR / of_digits.size
        or of_others.min() <= _IN_A_PAIR / of_others.size
        or _chance(of_digits.sum(), freedom.sum()) <= _ALL_TOGETHER
    ):
        return [], []
    return [digits[place] for place in kept], digits[count:]


def _binned(column: np.ndarray) -> np.ndarray | None:
    """Numbers of few bins that hold about equally many values each; None where there is but one."""
    with np.errstate(invalid="ignore"):
        some = np.sort(column[:: max(1, len(column) // _GLANCE)])
    edges = np.unique(some[np.linspace(0, len(some), _PAIR_CELLS, endpoint=False).astype(int)])
    bins = np.searchsorted(edges[1:], column, side="right")
    return None if (bins == bins[0]).all() else bins


def _dependence(
    codes: list[np.ndarray], others: list[np.ndarray], first: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Chi-squared statistics of independence of every pair, their degrees of freedom, and the most they can be."""
    sizes = [np.array([int(each.max()) + 1 for each in some]) for some in (codes, others)]
    statistic = np.zeros((len(codes), len(others)))
    for side in (slice(None, first), slice(first, None)):
        check_time()
        one, two = (
            _standardised([each[side] for each in some], width)
            for some, width in zip((codes, others), sizes, strict=True)
        )
        squares = (one.T @ two).astype(float) ** 2
        by_rows = np.add.reduceat(squares, np.cumsum(sizes[0]) - sizes[0], axis=0)
        statistic += len(one) * np.add.reduceat(by_rows, np.cumsum(sizes[1]) - sizes[1], axis=1)
    freedom = 2.0 * np.outer(sizes[0] - 1, sizes[1] - 1)
    return statistic, freedom, len(codes[0]) * (np.minimum.outer(*sizes) - 1.0)


def _standardised(codes: list[np.ndarray], sizes: np.ndarray) -> np.ndarray:
    """Whether each row has each code, less the share of rows that have, in units in which products are correlations."""
    rows = len(codes[0])
    there = np.zeros((rows, int(sizes.sum())), dtype=np.float32)
    for begin, code in zip(np.cumsum(sizes) - sizes, codes, strict=True):
        there[np.arange(rows), begin + code] = 1
    shares = there.mean(axis=0, dtype=float)
    return np.asarray(((there - shares) / np.sqrt(np.maximum(rows * shares, 1.0))).astype(np.float32))


def _totals_vary_enough(digits: list[_Digit], first: int) -> bool:
    """Whether totals of digits vary as if they were independent: their sum, and how many of each row are alike.

    What is shuffled, or sampled with a common probability, depends on each other too little to show in pairs.
    """
    total = np.zeros(len(digits[0].codes))
    alike: dict[int, list[_Digit]] = {}
    for digit in digits:
        numbers = np.arange(len(digit.shares))
        mean = float(numbers @ digit.shares)
        total += (digit.codes - mean) / float(np.sqrt((numbers - mean) ** 2 @ digit.shares))
        alike.setdefault(len(digit.shares), []).append(digit)
    scores = [total**2 - len(digits)]
    scores += [_alike(group) for group in alike.values() if len(group) > 1]
    # Each score has the mean 0 if the digits are independent.
    sides = [side for score in scores for side in (score[:first], score[first:])]
    squares = [len(side) * side.mean() ** 2 / max(side.var(), np.finfo(float).tiny) for side in sides]
    return bool(_chance(sum(squares), len(squares)) > _ALL_TOGETHER)


def _alike(digits: list[_Digit]) -> np.ndarray:
    """Chi-squared statistic of the counts of digits in each row, in few bins, less its mean."""
    size = min(_PAIR_CELLS, len(digits[0].shares))
    cells = np.arange(len(digits[0].shares)) * size // len(digits[0].shares)
    expected = len(digits) * np.bincount(cells, weights=digits[0].shares)
    counts = np.zeros((len(digits[0].codes), size))
    rows = np.arange(len(counts))
    for digit in digits:
        counts[rows, cells[digit.codes]] += 1
    return np.asarray(np.sum((counts - expected) ** 2 / expected, axis=1) - (size - 1))


def _hardly_come_again(digits: list[_Digit], outputs: int) -> bool:
    """Whether most rows of digits would be new among so many, if all that there may be were equally likely."""
    rows = np.column_stack([digit.codes for digit in digits])
    again = len(rows) - len(np.unique(outcome_keys(rows, "row")))
    if again > (1 - _MOSTLY_NEW) * len(rows):
        return False
    # Of n rows, n^2 / 2m come again, about, if there may be m.
    many = outputs * 2 * again / len(rows) ** 2
    return many <= 0 or -np.expm1(-many) > _MOSTLY_NEW * many
