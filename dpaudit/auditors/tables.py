"""Piecewise constant estimates of the log likelihood ratio along one number, with no more pieces than samples show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

_ATOMS = 256
_ATOM_COUNT = 3
_BLOCK = 16
"""Values in half of the smallest block that is looked at."""

_SPAN = 4096
"""Whole numbers that are counted one by one."""

_LEAST_BINS = 8
_INT64 = (1 << 63) - 1

_SOME = 4000
_SORTED = 100_000

_STEPS = 8
"""Edges, at most, that are evaluated by comparisons, which is faster than a search."""


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
        some = np.concatenate([x[:_SOME], y[:_SOME]])
        low, high = np.quantile(some, [0.002, 0.998], method="nearest")
        cells = min(bins, max(_LEAST_BINS, int(np.sqrt(len(x)) / 2)))
        factor = cells / (high - low) if low < high else 0.0
        # Too far apart, or too near to each other, for their distance to be a number to divide by.
        if not 0 < factor < np.inf or len(np.unique(some)) < len(some):
            return cls.fit(x[:_SORTED], y[:_SORTED], bins=bins)
        counts = []
        for side in (x, y):
            at = ((np.clip(side, low, high) - low) * factor).astype(np.int64)
            counts.append(np.bincount(np.minimum(at, cells - 1), minlength=cells))
        return cls._of_counts(low + np.arange(1, cells) / factor, counts[0], counts[1], len(x), len(y))

    @classmethod
    def of_repeats(cls, x: np.ndarray, y: np.ndarray) -> Self:
        """Log-ratio of the numbers that come more than once, as far as they tell the inputs apart; 0 elsewhere."""
        xs, ys = np.sort(x), np.sort(y)
        pooled = np.sort(np.concatenate([xs, ys]), kind="stable")
        values = np.unique(pooled[1:][pooled[1:] == pooled[:-1]]).astype(float)
        counts = [np.searchsorted(s, values, side="right") - np.searchsorted(s, values, side="left") for s in (xs, ys)]
        ratios = np.log(counts[0] + 0.5) - np.log(counts[1] + 0.5) + np.log(len(y) / len(x))
        telling = np.sort(np.argsort(-np.abs(ratios), kind="stable")[:_ATOMS])
        values, ratios = values[telling], ratios[telling]
        edges = np.column_stack([values, np.nextafter(values, np.inf)]).ravel()
        return cls(edges, np.r_[0.0, np.column_stack([ratios, np.zeros(len(values))]).ravel()])

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
        return Table(np.nextafter(edges[::-1], np.inf), self.values[::-1])

    @property
    def spread(self) -> float:
        """Largest minus smallest value; 0 where the number says nothing."""
        return float(np.ptp(self.values))


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
    edges += [atoms, np.nextafter(atoms, np.inf)]
    return np.unique(np.concatenate(edges))


def _conspicuous_blocks(pooled: np.ndarray, xs: np.ndarray) -> np.ndarray:
    """Edges of the blocks of values, at all dyadic scales, in which the share of one input is most surprising."""
    n, mean = len(pooled), len(xs) / len(pooled)
    ranks = np.arange(0, n, _BLOCK)
    below = np.searchsorted(xs, pooled[ranks], side="left")
    found: list[int] = []
    stride = 2
    while stride < len(ranks) // 4:
        width = stride * _BLOCK
        hits = (below[stride:] - below[:-stride])[:: stride // 2]
        surprise = np.abs(hits - width * mean) / np.sqrt(width * mean * (1 - mean))
        for i in np.argsort(-surprise, kind="stable")[:2]:
            if surprise[i] > np.sqrt(2 * np.log(len(surprise))) + 0.5:
                start = int(i) * (stride // 2)
                found += [start, start + stride]
        stride *= 2
    return pooled[ranks[found]]


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
