"""A score of rows in which some values are codes beside numbers, as where a query was answered, refused, or not asked.

Such columns are seldom independent: what a code in one column says depends on those before it. So their step functions
are fitted together, by logistic regression, with those of the smallest and the largest number and of how often each
code occurs, and with what the smallest number and each of these counts say beyond the two alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import block_diag, solve_triangular
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit

from dpaudit.auditors.learning.lookup import Lookup
from dpaudit.auditors.learning.row_scores import AdditiveScore, PairScore
from dpaudit.auditors.learning.tables import Table, just_above
from dpaudit.auditors.learning.transforms import Coded, Identity, Transform
from dpaudit.auditors.outputs.outputs import OutputsLike, as_outputs

_FIRST = 2000
"""Outputs of either input in which codes are looked for. Chosen by hand: a code that is one in a hundred of all numbers
comes 40 times in them for every column."""

_LOOKED_AT = 20_000
"""Outputs of either input by which columns are cut into cells. Chosen by hand: a cell of a twenty-fourth of them has
1,700 outputs, give or take 2 %."""

_REPEATED = 0.01
"""Part of all numbers from which on a value is taken for a code, and which the other numbers must be at least. Chosen
by hand: numbers with noise hardly repeat at all."""

_MOST_CODES = 4
"""Codes, at most; outputs with more values that repeat are not taken for codes beside numbers. Chosen by hand: refused,
not asked, stopped and the like."""

_DISTINCT = 0.5
"""Part of the other numbers that are distinct, at least: whole numbers repeat although they are no codes. Chosen by
hand, between the parts near 1 of continuous noise and near 0 of counts."""

_CELLS = 24
"""Cells of a column, at most. Chosen by hand."""

_ALL_CELLS = 480
"""Cells of all columns together, about: wider rows get fewer cells each. Chosen by hand; choosing the standard
deviations of the priors takes the cube of all cells. Rows of `MOST_PAIR_COLUMNS` numbers with `_MOST_CODES` codes still
have ten cells a column."""

_CROSSED = 16
"""Cells of the smallest number where it is crossed with how often each code occurs. Chosen by hand: fewer than of the
column alone, since every count multiplies them."""

_MOST_VALUES = 1 << 24
"""Numbers of either input that are learned from, at most: 16 million cell numbers of four bytes each, which are held in
memory, take 64 MiB."""

_BLOCK_VALUES = 1 << 20
"""Numbers that are cut into cells at a time: 8 MiB, beside the cells of all. Chosen by hand."""

_COMMON = 0.005
"""Part of a column from which on a value has a cell of its own there. Chosen by hand, below `_REPEATED`, since a code
may be rare in one column."""

_PRIORS = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Standard deviations that what a cell adds to the log-ratio may have before any output is seen, of a column and of a
pair of them; the likeliest are taken. Steps of about a factor of three, from effects that a cell of 40,000 outputs
hardly shows to those that four show: the standard error is two over the root of the outputs."""

_ROWS_OF_INFORMATION = 50_000
"""Outputs of either input from which the curvature of the log-likelihood is taken. Chosen by hand: it only chooses the
priors and the coordinates, not the fit itself, and takes the square of the columns for every output."""

_ROUNDS = 40
"""Rounds of the fit (L-BFGS), at most. Chosen by hand: in its coordinates the posterior is nearly a sphere, for which
few rounds do."""


def learn_coded(identity: Transform, x: OutputsLike, y: OutputsLike) -> PairScore | None:
    """Fit step functions of all columns together; None where there are no codes beside numbers."""
    codes = _codes(np.concatenate([identity(side[:_FIRST]) for side in (x, y)]))
    if not codes:
        return None
    transform = Coded(identity.columns, codes)
    some = np.concatenate([transform(side[:_LOOKED_AT]) for side in (x, y)])
    width = some.shape[1]
    smallest = width - 2 - len(codes)
    most = min(_CELLS, _ALL_CELLS // width)
    columns = [_Column.cut(column, most) for column in some.T]
    crossed = _Column.cut(some[:, smallest], _CROSSED)
    pairs = [(smallest, smallest + 2 + place) for place in range(len(codes))]
    pieces = _Pieces(columns, {pair: (crossed, columns[pair[1]]) for pair in pairs})
    rows = _MOST_VALUES // width
    cells_x, cells_y = (pieces.of(transform, side[:rows]) for side in (x, y))
    tables, of_pairs = pieces.split(_fitted(cells_x, cells_y, *pieces.priors()))
    edges = tuple(crossed.edges if i == smallest else column.edges for i, column in enumerate(columns))
    made = tuple(Table(column.edges, values) for column, values in zip(columns, tables, strict=True))
    return PairScore(AdditiveScore(transform, made), edges, np.array(pairs), tuple(of_pairs))


def has_codes(x: OutputsLike, y: OutputsLike) -> bool:
    """Whether some outputs are rows of numbers with codes among them, of which `learn_coded` makes a score."""
    x, y = as_outputs(x), as_outputs(y)
    columns = x.columns_with(y)
    if columns is None:
        return False
    identity = Identity(columns)
    return bool(_codes(np.concatenate([identity(side) for side in (x, y)])))


def _codes(some: np.ndarray) -> tuple[float, ...]:
    """Values that come again and again among numbers that do not."""
    values, counts = np.unique(some[np.isfinite(some)], return_counts=True)
    common = counts >= max(2.0, _REPEATED * some.size)
    others = counts[~common]
    if not 0 < common.sum() <= _MOST_CODES or others.sum() < _REPEATED * some.size:
        return ()
    return tuple(map(float, values[common].tolist())) if len(others) >= _DISTINCT * others.sum() else ()


@dataclass(frozen=True, slots=True)
class _Column:
    """Cells of a column.

    Attributes
    ----------
    edges
        Where a new cell begins, ascending.
    single
        Whether each cell holds a single value, which comes again and again.
    """

    edges: np.ndarray
    single: np.ndarray

    @classmethod
    def cut(cls, column: np.ndarray, most: int) -> Self:
        """At most about so many cells: at and after each common value, and at quantiles of the others."""
        values, counts = np.unique(column, return_counts=True)
        if len(values) <= most:
            return cls(values[1:], np.ones(len(values), dtype=bool))
        common = np.sort(values[np.argsort(-counts, kind="stable")[: most // 4]])
        common = common[np.isin(common, values[counts >= _COMMON * len(column)])]
        others = column[~np.isin(column, common)]
        cells = most - 2 * len(common)
        quantiles = np.quantile(others, np.arange(1, cells) / cells, method="nearest")
        edges = np.unique(np.concatenate([common, just_above(common), quantiles]))
        edges = edges[edges > values[0]]
        return cls(edges, np.isin(np.concatenate([values[:1], edges]), common))

    @property
    def size(self) -> int:
        """Cells."""
        return len(self.single)

    def prior(self) -> np.ndarray:
        """Matrix that makes of independent numbers what the cells add: alone for values, a random walk for others."""
        walked = np.flatnonzero(~self.single)
        made = np.diag(self.single.astype(float))
        steps = np.tri(len(walked)) / math.sqrt(max(len(walked), 1))
        steps[:, :1] = 1.0
        made[np.ix_(walked, walked)] = steps
        return made


class _Pieces:
    """Cells of all columns, and of pairs of columns, numbered one after the other."""

    def __init__(self, columns: list[_Column], pairs: dict[tuple[int, int], tuple[_Column, _Column]]) -> None:
        self._columns, self._pairs = columns, pairs
        self._lookup = Lookup.of([Table(column.edges, np.arange(float(column.size))) for column in columns])
        self._varying = np.array([i for i, column in enumerate(columns) if column.size > 1], dtype=int)
        sizes = [column.size for column in columns] + [first.size * second.size for first, second in pairs.values()]
        self._begins = np.cumsum([0, *sizes])

    def of(self, transform: Transform, outputs: OutputsLike) -> np.ndarray:
        """Cells of every output, shape (columns that vary and pairs, size)."""
        made = np.empty((len(self._varying) + len(self._pairs), len(outputs)), dtype=np.int32)
        step = max(1, _BLOCK_VALUES // len(self._columns))
        for start in range(0, len(outputs), step):
            self._fill(made[:, start : start + step], transform(outputs[start : start + step]))
        return made

    def _fill(self, cells: np.ndarray, rows: np.ndarray) -> None:
        assert self._lookup is not None
        own = len(self._varying)
        cells[:own] = self._lookup.each(rows, np.int32)
        cells[:own] += self._begins[self._varying, None].astype(np.int32)
        begins = self._begins[len(self._columns) :].tolist()
        for to, begin, ((i, j), columns) in zip(cells[own:], begins, self._pairs.items(), strict=False):
            first, second = (
                np.searchsorted(column.edges, rows[:, k], side="right")
                for k, column in zip((i, j), columns, strict=True)
            )
            to[:] = begin + first * columns[1].size + second

    def priors(self) -> tuple[np.ndarray, np.ndarray]:
        """Matrix that makes of independent numbers what the cells add, and which of these numbers are of pairs."""
        parts = [column.prior() for column in self._columns]
        parts += [np.kron(first.prior(), np.eye(second.size)) for first, second in self._pairs.values()]
        return block_diag(*parts), np.arange(self._begins[-1]) >= self._begins[len(self._columns)]

    def split(self, weights: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """What the cells of every column, and those of every pair, add."""
        parts = np.split(weights, self._begins[1:-1])
        return parts[: len(self._columns)], parts[len(self._columns) :]


def _fitted(x: np.ndarray, y: np.ndarray, matrix: np.ndarray, paired: np.ndarray) -> np.ndarray:
    """What every cell adds to the log-ratio: logistic regression with normal priors.

    The standard deviations of columns and of pairs are those under which the counts are likeliest, as far as the
    log-likelihood is quadratic around no difference. Coordinates in which the posterior is a sphere there need few
    rounds.
    """
    count, size = len(matrix), x.shape[1]
    some = min(size, _ROWS_OF_INFORMATION)
    information = sum(_crossed(side[:, :some], count) for side in (x, y)) * (size / some / 4)
    halves = np.full(size, 0.5)
    gradient = _summed(x, halves, count) - _summed(y, halves, count)
    matrix = _scaled(information, gradient, matrix, paired)
    root = np.linalg.cholesky(matrix.T @ information @ matrix + np.eye(count))

    def numbers_of(turned: np.ndarray) -> np.ndarray:
        return np.asarray(solve_triangular(root, turned, trans="T", lower=True))

    def loss(turned: np.ndarray) -> tuple[float, np.ndarray]:
        numbers = numbers_of(turned)
        weights = matrix @ numbers
        value, slope = float(numbers @ numbers) / 2, np.zeros(count)
        for side, sign in ((x, 1.0), (y, -1.0)):
            logit = np.zeros(size)
            for cells in side:
                logit += weights.take(cells)
            logit *= sign
            value += float(np.logaddexp(0, -logit).sum())
            slope -= sign * _summed(side, expit(-logit), count)
        return value, solve_triangular(root, matrix.T @ slope + numbers, lower=True)

    found = minimize(loss, np.zeros(count), jac=True, method="L-BFGS-B", options={"maxiter": _ROUNDS})
    return np.asarray(matrix @ numbers_of(found.x))


def _summed(cells: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """Sum of the values of the outputs in every cell."""
    return np.asarray(sum(np.bincount(each, weights=values, minlength=count) for each in cells))


def _crossed(cells: np.ndarray, count: int) -> np.ndarray:
    """How many outputs every two cells have in common."""
    ends = np.arange(0, cells.size + 1, len(cells), dtype=np.int32)
    inside = csr_array((np.ones(cells.size), cells.T.ravel(), ends), shape=(cells.shape[1], count))
    return np.asarray((inside.T @ inside).toarray())


def _scaled(information: np.ndarray, gradient: np.ndarray, matrix: np.ndarray, paired: np.ndarray) -> np.ndarray:
    """Return the matrix of the prior with the standard deviations under which the counts are likeliest.

    That of columns is chosen first, while pairs have the least one.
    """
    information, gradient = matrix.T @ information @ matrix, matrix.T @ gradient

    def evidence(alone: float, together: float) -> float:
        scale = np.where(paired, together, alone)
        root = np.linalg.cholesky(information * np.outer(scale, scale) + np.eye(len(scale)))
        seen = solve_triangular(root, gradient * scale, lower=True)
        return float(seen @ seen) / 2 - float(np.log(np.diag(root)).sum())

    alone = max(_PRIORS, key=lambda each: evidence(each, _PRIORS[0]))
    together = max(_PRIORS, key=lambda each: evidence(alone, each))
    return matrix * np.where(paired, together, alone)
