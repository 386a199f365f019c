"""Piecewise constant estimates of the log likelihood ratio along one number, with no more pieces than samples show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from dpaudit.auditors.sampling.pace import check_time

_ATOMS = 256
"""Values of a number that have pieces of their own, at most: up to so many distinct ones all do, and of more those that
come most often, or tell the inputs apart best. Chosen by hand; joining pieces takes the square of all cells."""

_ATOM_COUNT = 3
"""Occurrences from which on a value is one that comes again and again. Chosen by hand: rounding makes pairs of equal
numbers by chance, and seldom three."""

_BLOCK = 16
"""Values in half of the smallest block that is looked at for a large part of one input. Chosen by hand: of 32 values,
some 29 must be of one input to be conspicuous."""

_DENSE = ((4, 1 / 500), (8, 1 / 30), (32, 1 / 4))
"""Steps between distinct numbers in a row, with the part of as many steps around them that they are shorter than in all
where they are taken for a narrow peak. Of 200,000 uniform numbers, none do that by chance in more than one of 1,000
samples. That such peaks have cells of their own brought a needle of probability 0.001 from 0.95 of the oracle's bound
to 1.01, in the mean of four seeds (benchmarks/README.md)."""

_AROUND = 8
"""Times as many steps before and after them that they are compared with. Chosen by hand, before the parts in `_DENSE`,
which depend on it."""

_MOST_TRIMMED = 8192
"""Values in the largest block in which, and around which, a part of nearly one input alone is looked for. Chosen by
hand, for time. That such parts are cut out is measured: a needle of probability 0.001 had 0.88 of the oracle's bound in
the mean of 16 seeds and has 0.95 (benchmarks/README.md)."""

_SPAN = 4096
"""Distance of the largest whole number from the smallest, below which all between them are counted one by one. Chosen
by hand: the counts take 32 KiB."""

_LEAST_BINS = 8
"""Even cells that the range of a number is cut into, at least. Chosen by hand."""

_INT64 = (1 << 63) - 1
"""The largest signed whole number of 64 bits; larger ones are unsigned."""

_SOME = 4000
"""Values of either input whose quantiles at `_USUAL` are the range that even cells cover. Chosen by hand: 16 of the
8,000 values are then beyond either end."""

_USUAL = np.array([0.002, 0.998])
"""Levels of these quantiles. Chosen by hand."""

_CONCENTRATED = (32, 1 / 64)
"""How many of these values in a smaller part of an even cell are too many for even cells: one in 250 within a 64th.
Chosen by hand: none of 300 samples of Laplace, normal, exponential, lognormal and Student's noise has 32 so near."""

_SORTED = 100_000
"""Values of either input that are sorted, at most, where even cells do not suit them. Chosen by hand, for time."""

_CACHED = 1 << 15
"""Values that are counted at a time, so that what is worked out from them, 256 KiB, stays in the cache. Chosen by hand,
for time."""

_STEPS = 8
"""Edges, at most, that are evaluated by comparisons, which is faster than a search. Chosen by hand, for time."""


Blocks = Callable[[], Iterator[np.ndarray]]
"""Values of one input, block by block, from the first to the last."""


@dataclass(frozen=True, slots=True)
class Table:
    """A function of one number: ``values[i]`` from ``edges[i - 1]`` to below ``edges[i]``.

    Attributes
    ----------
    edges
        Ascending, shape (k,).
    values
        Shape (k + 1,).
    """

    edges: np.ndarray
    values: np.ndarray

    @classmethod
    def fit(cls, x: np.ndarray, y: np.ndarray, *, bins: int = 192) -> Self:
        """Estimate log p(v | x) - log p(v | y) from values on both inputs, which may repeat or be infinite.

        Fine cells (``bins`` quantiles, tails down to a few samples, repeated values, and blocks at any scale in which
        one input is conspicuous) are joined where they do not differ by more than chance.
        """
        xs, ys = np.sort(x), np.sort(y)
        edges = _cells(xs, ys, bins)
        counts = [np.diff(np.r_[0, np.searchsorted(side, edges, side="left"), len(side)]) for side in (xs, ys)]
        return cls._of_counts(edges, counts[0], counts[1], len(xs), len(ys))

    @classmethod
    def fit_quickly(cls, x: np.ndarray, y: np.ndarray, *, bins: int = 128) -> Self:
        """As :meth:`fit`, on even cells over the usual range; where values repeat, on the values themselves."""
        if x.dtype.kind in "biu":
            low, high = int(min(x.min(), y.min())), int(max(x.max(), y.max()))
            if high - low < _SPAN:
                wide = np.uint64 if high > _INT64 else np.int64
                offsets = [(side.astype(wide) - low).astype(np.int64) for side in (x, y)]
                counts = [np.bincount(side, minlength=high - low + 1) for side in offsets]
                present = np.flatnonzero(counts[0] + counts[1])
                return cls._of_counts(present[1:] + float(low), counts[0][present], counts[1][present], len(x), len(y))
            return cls.fit(x, y, bins=bins)
        blocks = (partial(_blocks, side) for side in (x, y))
        return cls.fit_blocks(*blocks, size=len(x), bins=bins)

    @classmethod
    def fit_blocks(cls, x: Blocks, y: Blocks, *, size: int, bins: int = 128) -> Self:
        """As :meth:`fit_quickly`, of so many fractions that come block by block, as often as they are asked for."""
        first_x, first_y = (_first_values(side()) for side in (x, y))
        even = _even_cells(first_x, first_y, _even_count(size, bins))
        if even is None:
            return cls.fit(first_x, first_y, bins=bins)
        low, high, factor = even
        cells = _even_count(size, bins)
        counts = [
            np.sum([_even_counts(block, low, high, factor, cells) for block in side()], axis=0) for side in (x, y)
        ]
        rows = [int(each.sum()) for each in counts]
        return cls._of_counts(low + np.arange(1, cells) / factor, counts[0], counts[1], rows[0], rows[1])

    @classmethod
    def fit_columns(cls, x: np.ndarray, y: np.ndarray, *, bins: int = 128) -> list[Self]:
        """As :meth:`fit_quickly`, of every column of rows; those on even cells are counted together."""
        columns = list(zip(x.T, y.T, strict=True))
        made: list[Self] = []
        if x.dtype != np.float64 or y.dtype != np.float64:
            for sides in columns:
                check_time()
                made.append(cls.fit_quickly(*sides, bins=bins))
            return made
        cells = _even_count(len(x), bins)
        even = []
        for sides in columns:
            check_time()
            even.append(_even_cells(*sides, cells))
        places = [i for i, found in enumerate(even) if found is not None]
        low, high, factor = np.array([found for found in even if found is not None]).reshape(-1, 3).T[:, :, None]
        counts = [_even_counts_of_columns(side, places, low, high, factor, cells) for side in (x, y)]
        place = 0
        for found, (of_x, of_y) in zip(even, columns, strict=True):
            check_time()
            if found is None:
                made.append(cls.fit(of_x[:_SORTED], of_y[:_SORTED], bins=bins))
            else:
                edges = found[0] + np.arange(1, cells) / found[2]
                made.append(cls._of_counts(edges, counts[0][place], counts[1][place], len(x), len(y)))
                place += 1
        return made

    @classmethod
    def of_repeats(cls, x: np.ndarray, y: np.ndarray) -> Self:
        """Log-ratio of numbers that repeat, and of narrow peaks, as far as they tell the inputs apart; 0 elsewhere.

        A narrow peak is a few numbers that are far nearer to each other than those around them are, on both inputs
        together.
        """
        pooled = np.sort(np.concatenate([x, y]))
        repeated = pooled[1:] == pooled[:-1]
        values = np.unique(pooled[1:][repeated]).astype(float)
        distinct = pooled[np.r_[True, ~repeated]] if len(values) else pooled
        begins, lasts = _dense(distinct.astype(float, copy=False))
        # Numbers that come again have edges of their own.
        alone = np.searchsorted(values, lasts, side="right") == np.searchsorted(values, begins)
        begins, lasts = np.r_[values, begins[alone]], np.r_[values, lasts[alone]]
        if not len(begins):
            return cls(values, np.zeros(1))
        xs, ys = np.sort(x), np.sort(y)
        counts = [np.searchsorted(s, lasts, side="right") - np.searchsorted(s, begins, side="left") for s in (xs, ys)]
        ratios = np.log(counts[0] + 0.5) - np.log(counts[1] + 0.5) + np.log(len(y) / len(x))
        telling = np.argsort(-np.abs(ratios), kind="stable")[:_ATOMS]
        telling = telling[np.argsort(begins[telling])]
        begins, lasts, ratios = begins[telling], lasts[telling], ratios[telling]
        edges = np.column_stack([begins, just_above(lasts)]).ravel()
        return cls(edges, np.r_[0.0, np.column_stack([ratios, np.zeros(len(ratios))]).ravel()])

    @classmethod
    def _of_counts(cls, edges: np.ndarray, of_x: np.ndarray, of_y: np.ndarray, rows_x: int, rows_y: int) -> Self:
        kept, a, b = _merged(edges, of_x.astype(float), of_y.astype(float))
        return cls(kept, np.log(a + 0.5) - np.log(b + 0.5) + np.log(rows_y / rows_x))

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        """Value at every number; same shape."""
        if len(self.edges) <= _STEPS:
            result = np.full(numbers.shape, self.values[0])
            for edge, step in zip(self.edges, np.diff(self.values), strict=True):
                result += step * (numbers >= edge)
            return result
        return self.values[np.searchsorted(self.edges, numbers, side="right")]

    def mirrored(self, centre: float, scale: float) -> Table:
        """Return the table of ``centre + scale * number``; a negative scale reverses it."""
        edges = centre + scale * self.edges
        if scale > 0:
            return Table(edges, self.values)
        # A piece is closed on its left, so that its mirror image has to begin just above the edge.
        return Table(just_above(edges[::-1]), self.values[::-1])

    @property
    def spread(self) -> float:
        """Largest minus smallest value; 0 where the number says nothing."""
        return float(np.ptp(self.values))


def just_above(values: np.ndarray) -> np.ndarray:
    """Return the next larger number of each; infinity after the largest."""
    with np.errstate(over="ignore"):
        return np.asarray(np.nextafter(values, np.inf))


def _blocks(values: np.ndarray) -> Iterator[np.ndarray]:
    return (values[start : start + _CACHED] for start in range(0, len(values), _CACHED))


def _first_values(blocks: Iterator[np.ndarray]) -> np.ndarray:
    """Return the first values, as many as are sorted."""
    found: list[np.ndarray] = []
    for block in blocks:
        found.append(block)
        if sum(map(len, found)) >= _SORTED:
            break
    return np.concatenate(found)[:_SORTED]


def _even_count(values: int, bins: int) -> int:
    """How many even cells suit so many values."""
    return min(bins, max(_LEAST_BINS, int(np.sqrt(values) / 2)))


def _even_cells(x: np.ndarray, y: np.ndarray, cells: int) -> tuple[Any, Any, Any] | None:
    """Lowest and highest of the usual values, and cells to a unit; None where even cells do not suit them."""
    some = np.sort(np.concatenate([x[:_SOME], y[:_SOME]]))
    low, high = some[np.rint(_USUAL * (len(some) - 1)).astype(np.intp)]
    factor = cells / (high - low) if low < high else 0.0
    # Too far apart, or too near to each other, for their distance to be a number to divide by.
    if not 0 < factor < np.inf or (some[1:] == some[:-1]).any():
        return None
    many, part = _CONCENTRATED
    if len(some) == 2 * _SOME and (some[many:] - some[:-many]).min() * factor < part:
        return None
    return low, high, factor


def _even_counts_of_columns(
    rows: np.ndarray, places: list[int], low: np.ndarray, high: np.ndarray, factor: np.ndarray, cells: int
) -> np.ndarray:
    """Values of these columns in every even cell, shape (columns, cells)."""
    count = len(places)
    if not count:
        return np.zeros((0, cells), dtype=np.intp)
    counts = np.zeros(count * cells, dtype=np.intp)
    begins = (np.arange(count) * cells)[:, None]
    step = max(1, _CACHED // count)
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        inside = np.array((block if count == rows.shape[1] else block[:, places]).T, order="C")
        np.clip(inside, low, high, out=inside)
        inside -= low
        inside *= factor
        at = inside.astype(np.intp)
        np.minimum(at, cells - 1, out=at)
        at += begins
        counts += np.bincount(at.ravel(), minlength=count * cells)
    return counts.reshape(count, cells)


def _even_counts(values: np.ndarray, low: Any, high: Any, factor: Any, cells: int) -> np.ndarray:
    """Values in every even cell, those beyond the limits in the cells at the ends."""
    inside = np.clip(values, low, high)
    inside -= low
    inside *= factor
    return np.bincount(np.minimum(inside.astype(np.intp), cells - 1), minlength=cells)


def _cells(xs: np.ndarray, ys: np.ndarray, bins: int) -> np.ndarray:
    """Edges of the fine cells, ascending and distinct."""
    pooled = np.sort(np.concatenate([xs, ys]), kind="stable")  # two sorted runs: merged, not sorted
    n = len(pooled)
    starts = np.flatnonzero(np.r_[True, pooled[1:] != pooled[:-1]])
    if len(starts) <= _ATOMS:
        return pooled[starts[1:]]
    tail = 4 * 2 ** np.arange(max(0, int(np.log2(max(n / bins / 4, 1)))))
    ranks = np.concatenate([np.linspace(0, n, bins + 1)[1:-1].astype(int), tail, n - tail])
    edges = [pooled[ranks], _conspicuous_blocks(pooled, xs)]
    repeats = np.diff(np.r_[starts, n])
    often = np.flatnonzero(repeats >= _ATOM_COUNT)
    if len(often) > _ATOMS:
        often = often[np.argsort(-repeats[often], kind="stable")[:_ATOMS]]
    atoms = pooled[starts[often]].astype(float)
    edges += [atoms, just_above(atoms)]
    return np.unique(np.concatenate(edges))


def _conspicuous_blocks(pooled: np.ndarray, xs: np.ndarray) -> np.ndarray:
    """Edges of the blocks of values, at all dyadic scales, in which the share of one input is most surprising."""
    n, mean = len(pooled), len(xs) / len(pooled)
    ranks = np.arange(0, n, _BLOCK)
    below = np.searchsorted(xs, pooled[ranks], side="left")
    found: list[int] = []
    trimmed: list[np.ndarray] = []
    stride = 2
    while stride < len(ranks) // 4:
        width = stride * _BLOCK
        hits = (below[stride:] - below[:-stride])[:: stride // 2]
        surprise = np.abs(hits - width * mean) / np.sqrt(width * mean * (1 - mean))
        for i in np.argsort(-surprise, kind="stable")[:2]:
            if surprise[i] > np.sqrt(2 * np.log(len(surprise))) + 0.5:
                start = int(i) * (stride // 2)
                found += [start, start + stride]
                if width <= _MOST_TRIMMED:
                    around = slice(max(0, ranks[start] - width // 2), ranks[start] + width + width // 2)
                    trimmed.append(_trimmed(pooled[around], xs, mean))
        stride *= 2
    return np.concatenate([pooled[ranks[found]], *trimmed])


def _dense(ordered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last numbers of narrow peaks, among distinct ones in ascending order."""
    peaks = np.zeros(len(ordered), dtype=bool)
    for steps, part in _DENSE:
        around = _AROUND * steps
        if len(ordered) <= 2 * around + steps:
            break
        with np.errstate(over="ignore", invalid="ignore"):
            along = ordered[around:] - ordered[:-around]
            least = np.minimum(along[: -around - steps], along[around + steps :])
            least *= part / _AROUND
            lengths = ordered[around + steps : -around] - ordered[around : -around - steps]
            dense = np.flatnonzero(lengths < least) + around
        for first in dense:
            peaks[first : first + steps + 1] = True
    within = np.r_[False, peaks, False]
    begins, ends = np.flatnonzero(within[1:] & ~within[:-1]), np.flatnonzero(within[:-1] & ~within[1:])
    sharp = [_sharpened(ordered, int(begin), int(end) - 1) for begin, end in zip(begins, ends, strict=True)]
    firsts, lasts = np.array(sharp, dtype=np.intp).reshape(-1, 2).T
    return ordered[firsts], ordered[lasts]


def _sharpened(ordered: np.ndarray, first: int, last: int) -> tuple[int, int]:
    """Places of a peak's first and last number, without those at its ends that are as far apart as others are.

    A few steps belong to it that are shorter than the geometric mean of those in its middle and those around it. Where
    none are, because the numbers right beside it lie as close, it stays as it is.
    """
    few = _DENSE[0][0]
    around = _AROUND * few
    low, high = max(0, first - around), min(len(ordered) - 1, last + around)
    lengths = ordered[first + few : last + 1] - ordered[first : last + 1 - few]
    with np.errstate(over="ignore"):
        outside = (ordered[high] - ordered[last] + ordered[first] - ordered[low]) / (high - last + first - low)
        short = np.flatnonzero(lengths <= np.sqrt(np.median(lengths)) * np.sqrt(few * outside))
    if not len(short):
        return first, last
    return first + int(short[0]), first + int(short[-1]) + few


def _trimmed(values: np.ndarray, xs: np.ndarray, mean: float) -> np.ndarray:
    """Edges of the parts of some ordered values that are nearly all of one input.

    Such a part has the largest sum of how much more often its values are of that input than halfway between the share
    of it in all values and certainty.
    """
    distinct, counts = np.unique(values, return_counts=True)
    of_x = np.searchsorted(xs, distinct, side="right") - np.searchsorted(xs, distinct, side="left")
    counts = np.maximum(counts, of_x)
    edges = []
    for excess in (of_x - (1 + mean) / 2 * counts, mean / 2 * counts - of_x):
        sums = np.r_[0.0, np.cumsum(excess)]
        rises = sums[1:] - np.minimum.accumulate(sums[:-1])
        last = int(rises.argmax())
        first = int(sums[: last + 1].argmin())
        # Values that come again and again have edges of their own.
        if rises[last] > 0 and counts[first : last + 1].max() < _ATOM_COUNT:
            edges += [distinct[first], distinct[min(last + 1, len(distinct) - 1)]]
    return np.array(edges, dtype=values.dtype)


def _merged(edges: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join cells to the pieces of largest penalised likelihood, by dynamic programming over their last edges."""
    cells = len(a)
    penalty = 1 + np.log(cells)
    before_a, before_b = np.r_[0.0, np.cumsum(a)], np.r_[0.0, np.cumsum(b)]
    ends, begins_at = np.tril_indices(cells + 1, -1)
    gains = np.empty((cells + 1, cells + 1))
    gains[ends, begins_at] = (
        _log_likelihood(before_a[ends] - before_a[begins_at], before_b[ends] - before_b[begins_at]) - penalty
    )
    best = np.zeros(cells + 1)
    begins = [0] * (cells + 1)
    for end in range(1, cells + 1):
        reached = best[:end] + gains[end, :end]
        begins[end] = int(reached.argmax())
        best[end] = reached[begins[end]]
    starts = []
    end = cells
    while end:
        end = begins[end]
        starts.append(end)
    pieces = np.array(starts[::-1])
    return edges[pieces[1:] - 1], np.add.reduceat(a, pieces), np.add.reduceat(b, pieces)


def _log_likelihood(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    total = np.maximum(a + b, 1)
    return np.asarray(a * np.log(np.maximum(a, 1) / total) + b * np.log(np.maximum(b, 1) / total))
