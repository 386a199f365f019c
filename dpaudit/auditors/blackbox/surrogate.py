"""A surrogate of a mechanism: a model of how its outputs depend on its inputs, by which a search proposes pairs.

A search looks at few of all pairs, and draws few outputs of each. But outputs on one input say something of all inputs
that have something in common with it: to first order, a step of one coordinate changes the log-probability of an output
by about the same amount wherever it is taken. What the model promises proves nothing; pairs that it proposes are
compared by outputs of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dpaudit.auditors.learning.counts import FinalTest
from dpaudit.auditors.learning.tables import just_above
from dpaudit.auditors.learning.threads import one_thread
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.forms import concatenated
from dpaudit.auditors.outputs.outputs import Outputs, outcome_keys
from dpaudit.claims.inputs import Pair, input_key

_MOST_COLUMNS = 128
"""Columns of outputs up to which there is a model of all inputs; outputs with more are compared by themselves alone.
Chosen by hand: even two cells of each are then `_MOST_CELLS`."""

_MOST_CELLS = 256
"""Cells that all columns are cut into together, about. Chosen by hand: a fit takes the cube of their number, some 2 *
10^7 operations."""

_CELLS = 8
"""Cells of a column, at most. Chosen by hand."""

_LEAST_CELLS = 2
"""Cells of a column, at least: with one it would say nothing."""

_REPEATED = 0.01
"""Part of the outputs from which on a value has a cell of its own. Chosen by hand."""

_MOST_COORDINATES = 64
"""Coordinates of an input up to which it is described by them and their squares. Chosen by hand: the slopes of every
cell have as many numbers."""

_MOST_VALUES = 16
"""Distinct values among the parts of inputs up to which inputs are also described by how often each occurs. Chosen by
hand: the slopes of every cell have as many numbers."""

_LARGEST = 1e100
"""Size of a coordinate up to which an input is described by them: squares of such numbers, and sums of squares, are
finite in double precision, which ends at 1e308."""

_KEPT = 2000
"""Distinct outputs on either input of a comparison that the model learns from, at most. Chosen for time; it was 4000
before. Where few are distinct, all outputs are counted."""

_KEPT_VALUES = 1 << 14
"""Numbers in these outputs, at most: fewer outputs are kept of wide ones. Chosen for time; it was twice as much
before."""

_REPEATING = 0.25
"""Part of some outputs that are distinct, up to which all outputs are counted. Chosen by hand: a table of them is then
a quarter as long as they are, or shorter still with more outputs."""

_MOST_ROWS = 1024
"""Distinct outputs by which pairs are valued, at most. Chosen by hand: valuing a pair takes time in proportion."""

_ROWS_OF_COVARIANCE = 20_000
"""Outputs from which the covariance of the cells is taken. Chosen by hand: its entries are then known to less than a
hundredth."""

_PRIORS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Standard deviations, before any output is seen, of what a step of the inputs does to the log-probability of a cell.
The likeliest is taken: one fixed in advance let noise propose pairs where few inputs had been seen. Steps of about a
factor of three, chosen by hand."""

_DEVIATIONS = (0.01, 0.03, 0.1)
"""Standard deviations that the slope of one output may have around the sum over its cells; the likeliest is taken.
Chosen by hand; for time, there were five of them before."""

_MOST_CORRECTED = 256
"""Outputs, or patterns of them, whose slopes are corrected by their own counts, at most. Chosen by hand. That such
corrections are made is measured: without them, the pair found for sparse vector 2 at 10^7 samples had 0.88 of the
oracle's bound in place of 0.93 (benchmarks/pair_search.md)."""

_LEAST_COUNT = 10
"""How often each of these has come, at least. Chosen by hand: rarer ones say little beside the prior."""

_LEAST_INFORMATION = 1e-9
"""Part of the largest information of a direction below which another one counts as not seen at all. Rounding makes
about 1e-15 of nothing; chosen by hand, far above that."""

_NEWTON_STEPS = 3
"""Steps of Newton's method for the corrected slopes. Chosen by hand: it begins at the sum over the cells, which is
close."""

_MOST_LOG = 50.0
"""Size of a logarithm of a probability beyond which it is cut off, so that no exponential overflows. No sample holds
events of probability e^-50."""

_CAUTION = 1.0
"""Standard errors of a slope by which a pair is valued lower. Chosen by hand."""

_THRESHOLDS = 64
"""Thresholds by which a pair is valued, evenly spread by the logarithm of the outputs beyond them. Chosen by hand, for
time."""

_BATCH = 16
"""Variations of a pair of which the best is taken in a step of a climb. Chosen by hand."""

_STEPS = 10
"""Steps of a climb, at most. Chosen for time, 12 before; longer climbs found no better pairs
(benchmarks/pair_search.md)."""

_PATIENCE = 2
"""Steps in a row without gain after which a climb ends. Chosen for time, 3 before."""

_LEAST_HITS = 1e-3
"""Occurrences that stand for none where a bound is worked out from expected counts, so that no logarithm is infinite.
Any number far below one would do."""


@dataclass(frozen=True, slots=True)
class Cells:
    """How outputs become numbers of cells, one in each column.

    Attributes
    ----------
    columns
        How outputs become rows of numbers.
    edges
        For every column, where a new cell begins, ascending.
    patterns
        For every cell of all columns, a number that cells of one column share unless they hold a single value.
    """

    columns: Columns
    edges: tuple[np.ndarray, ...]
    patterns: np.ndarray

    @classmethod
    def of(cls, outputs: Outputs) -> Cells | None:
        """Cells by the values that come again and by quantiles of the others; None for outputs without columns."""
        columns = outputs.columns_with(outputs[:0])
        if columns is None:
            return None
        rows = outputs.rows(columns)
        if not 0 < rows.shape[1] <= _MOST_COLUMNS:
            return None
        most = min(_CELLS, max(_LEAST_CELLS, _MOST_CELLS // rows.shape[1]))
        cut = [_cut(column, most) for column in rows.T]
        shared = [np.where(single, np.arange(len(single)), len(single)) for _, single in cut]
        starts = np.cumsum([0, *(len(single) + 1 for single in shared)])
        patterns = np.concatenate([start + places for start, places in zip(starts, shared, strict=False)])
        return cls(columns, tuple(edges for edges, _ in cut), patterns)

    @property
    def starts(self) -> np.ndarray:
        """Number of the first cell of every column among those of all, and of all cells at the end."""
        return np.cumsum([0, *(len(edges) + 1 for edges in self.edges)])

    def __call__(self, outputs: Outputs) -> np.ndarray | None:
        """Cell of every output in every column, shape (size, columns), as numbers among the cells of all columns.

        None for outputs that are not of the kind that the cells were made for, such as None where those were numbers.
        """
        rows = outputs.rows(self.columns)
        if rows.dtype.kind == "O":
            return None
        cells = [
            start + np.searchsorted(edges, column, side="right")
            for start, edges, column in zip(self.starts, self.edges, rows.T, strict=False)
        ]
        return np.column_stack(cells).astype(np.int16)


def _cut(values: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges of at most about so many cells, and whether each cell holds a single value, which comes again and again."""
    with np.errstate(over="ignore"):  # extended precision may exceed the range of double precision
        numbers = values.astype(float)
    ordered = np.sort(numbers[np.isfinite(numbers)])
    distinct, counts = np.unique(ordered, return_counts=True)
    if len(distinct) <= most:
        return distinct[1:], np.ones(max(1, len(distinct)), dtype=bool)
    common = np.argsort(-counts, kind="stable")[: most // 2]
    common = distinct[np.sort(common[counts[common] >= max(2.0, _REPEATED * len(ordered))])]
    others = ordered[~np.isin(ordered, common)]
    quantiles = np.quantile(others, np.arange(1, most - len(common)) / (most - len(common)), method="nearest")
    edges = np.unique(np.concatenate([common, just_above(common), quantiles]))
    return edges, np.isin(np.concatenate([[-np.inf], edges]), common)


class Counted(NamedTuple):
    """Outputs, and how often each of them came."""

    outputs: np.ndarray
    counts: np.ndarray


def counted(outputs: np.ndarray) -> Counted:
    """Outputs of a comparison that the model learns from: all of them where few are distinct, or else some."""
    every = Outputs(outputs)
    most = min(_KEPT, max(1, _KEPT_VALUES // every.width))
    some = every[:most]
    if len(outputs) > most and outputs.dtype.kind in "biuf":
        coding = every.coding()
        if len(np.unique(some.keys(coding))) <= _REPEATING * most:
            _, first, counts = np.unique(every.keys(coding), return_index=True, return_counts=True)
            if len(first) <= most:
                return Counted(outputs[first], counts)
    return Counted(outputs[:most].copy(), np.ones(len(some), dtype=np.int64))


class Surrogate:
    """Log-linear model of the outputs on all inputs at once.

    The logarithm of an output's probability is taken as linear in the numbers that describe the input. Its slope is a
    sum over the columns of what the cell there adds, and for outputs that come often it is corrected by their own
    counts. To first order, the mean number of outputs in every cell is linear in the input too, so that a regression of
    those means gives what the cells add (as in linear discriminant analysis).

    Parameters
    ----------
    test
        The test that pairs are valued for.

    Attributes
    ----------
    wanted
        Whether a search asks for it, so that outputs are worth keeping.
    """

    def __init__(self, test: FinalTest) -> None:
        self._test = test
        self._new: list[tuple[Pair, Counted, Counted]] = []
        self._pairs: list[Pair] = []
        self._inputs: dict[Hashable, _Seen] = {}
        self._cells: Cells | None = None
        self._model: _Model | None = None
        self.wanted = False

    def begin(self) -> None:
        """Take note of what is added from now on."""
        self.wanted = True

    def add(self, pair: Pair, of_x: Counted, of_y: Counted) -> None:
        """Take note of some outputs on the inputs of a pair."""
        self._new.append((pair, of_x, of_y))

    @property
    def fitted(self) -> bool:
        """Whether inputs and outputs are such that there is a model."""
        if self._new:
            self._take()
            try:
                self._model = self._fit()
            except np.linalg.LinAlgError:  # Inputs differ in size by more than double precision holds.
                self._model = None
        return self._model is not None

    def values(self, pairs: Sequence[Pair]) -> np.ndarray:
        """Bound that each pair promises by the model; ``-inf`` where it has none."""
        if not self.fitted or self._model is None:
            return np.full(len(pairs), -np.inf)
        return self._model.values(pairs)

    def climbed(self, pair: Pair, vary: Callable[[Pair], Pair]) -> Pair:
        """Best pair found by going, several times, to the best of some variations of a pair."""
        (value,) = self.values([pair])
        failed = 0
        for _ in range(_STEPS):
            varied = [vary(pair) for _ in range(_BATCH)]
            promised = self.values(varied)
            best = int(np.argmax(promised))
            if promised[best] > value:
                pair, value, failed = varied[best], promised[best], 0
            else:
                failed += 1
            if failed == _PATIENCE:
                break
        return pair

    def _take(self) -> None:
        """Count the new outputs in cells, which the first of them decide."""
        new, self._new = self._new, []
        new = [each for each in new if all(input_key(data) is not None for data in each[0])]
        sides = [(data, seen) for pair, *both in new for data, seen in zip(pair, both, strict=True)]
        if self._cells is None and sides:
            self._cells = Cells.of(Outputs(concatenated([_repeated(seen) for _, seen in sides])))
        if self._cells is None:
            return
        for pair, *both in new:
            cells = [rows for seen in both if (rows := self._cells(Outputs(seen.outputs))) is not None]
            if len(cells) < len(both):
                continue
            self._pairs.append(pair)
            for data, seen, rows in zip(pair, both, cells, strict=True):
                of_input = self._inputs.setdefault(input_key(data), _Seen(data))
                of_input.rows.append(rows)
                of_input.counts.append(seen.counts)

    @one_thread()
    def _fit(self) -> _Model | None:
        inputs = list(self._inputs.values())
        encoding = _Encoding.of([seen.data for seen in inputs])
        if encoding is None or self._cells is None:
            return None
        psi = np.stack([encoding(seen.data) for seen in inputs])
        steps = np.stack([encoding(x) - encoding(y) for x, y in self._pairs])
        if not (np.isfinite(psi).all() and np.isfinite(np.vdot(psi, psi))):
            return None
        sizes = np.array([sum(int(part.sum()) for part in seen.counts) for seen in inputs])
        moved = np.sqrt(np.mean(steps**2, axis=0))
        unit = np.where(moved > 0, moved, 1.0)
        centre = np.average(psi, axis=0, weights=sizes)
        psi = (psi - centre) / unit
        rows = np.concatenate([part for seen in inputs for part in seen.rows])
        counts = np.concatenate([part for seen in inputs for part in seen.counts])
        of_input = np.repeat(np.arange(len(sizes)), [sum(map(len, seen.rows)) for seen in inputs])
        pool = _Pool.of(rows, counts, self._cells.patterns)
        cells = int(self._cells.starts[-1])
        in_cells = _counts(of_input, len(sizes), rows, counts, cells)
        effects = _effects(in_cells, _covariance(pool, rows, cells), sizes, psi)
        slopes = effects[pool.rows].sum(axis=1)
        corrections = _corrections(pool, rows, counts, effects, of_input, sizes, psi)
        if corrections is not None:
            slopes += corrections.slopes[corrections.places]
        # What an output has at the centre of the inputs, so that it has its own part on the average over the inputs.
        at_centre = sizes @ np.exp(np.clip(psi @ slopes.T, -_MOST_LOG, _MOST_LOG))
        weights = pool.weights / np.maximum(at_centre, math.exp(-_MOST_LOG))
        return _Model(encoding, centre, unit, slopes, corrections, weights / weights.sum(), self._test)


@dataclass(slots=True)
class _Seen:
    """An input, the cells of distinct outputs on it, and how often each of them came."""

    data: Any
    rows: list[np.ndarray] = field(default_factory=list)
    counts: list[np.ndarray] = field(default_factory=list)


class _Pool(NamedTuple):
    """Outputs by which pairs are valued.

    ``rows`` are their cells and ``weights`` how often each came; ``groups`` says for each which output, or pattern of
    outputs, it is, and ``of_all`` the same for all outputs seen.
    """

    rows: np.ndarray
    weights: np.ndarray
    groups: np.ndarray
    of_all: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, counts: np.ndarray, patterns: np.ndarray) -> _Pool:
        """Distinct outputs, or some outputs and their patterns where there are too many."""
        _, first, of_all = np.unique(outcome_keys(rows, "row"), return_index=True, return_inverse=True)
        if len(first) <= _MOST_ROWS:
            return cls(rows[first], np.bincount(of_all, counts), np.arange(len(first)), of_all)
        until = np.cumsum(counts)
        at = np.searchsorted(until, np.linspace(0, until[-1] - 1, _MOST_ROWS).astype(int), side="right")
        of_all = np.unique(outcome_keys(patterns[rows], "row"), return_inverse=True)[1]
        return cls(rows[at], np.ones(len(at)), of_all[at], of_all)


def _repeated(seen: Counted) -> np.ndarray:
    """Distinct outputs, about as often as they came but no more than ``_KEPT`` altogether."""
    until = np.cumsum(seen.counts)
    kept = min(_KEPT, int(until[-1])) if len(until) else 0
    return seen.outputs[np.searchsorted(until, np.linspace(0, until[-1] - 1, kept).astype(int), side="right")]


def _counts(groups: np.ndarray, width: int, rows: np.ndarray, counts: np.ndarray, cells: int) -> np.ndarray:
    """How many of the outputs of every group are in every cell, shape (width, cells)."""
    inside = np.zeros(width * cells)
    for column in rows.T:
        inside += np.bincount(groups * cells + column, weights=counts, minlength=width * cells)
    return inside.reshape(width, cells)


def _covariance(pool: _Pool, rows: np.ndarray, cells: int) -> np.ndarray:
    """Covariance of the indicators of all cells."""
    some, weights = pool.rows, pool.weights
    if pool.weights.max() == 1:
        some = rows[:: -(-len(rows) // _ROWS_OF_COVARIANCE)]
        weights = np.ones(len(some))
    inside = np.zeros((len(some), cells))
    np.put_along_axis(inside, some.astype(np.intp), 1.0, axis=1)
    inside -= np.average(inside, axis=0, weights=weights)
    return np.asarray((inside * weights[:, None]).T @ inside / weights.sum())


def _effects(counts: np.ndarray, covariance: np.ndarray, sizes: np.ndarray, psi: np.ndarray) -> np.ndarray:
    """What every cell adds to the slope of an output, shape (cells, numbers), from counts, shape (inputs, cells).

    The ridge estimate for the Fisher information, a Kronecker product, in its eigenvectors, with the prior under which
    what was seen is likeliest.
    """
    overall = counts.sum(axis=0) / sizes.sum()
    crossed = (counts - sizes[:, None] * overall).T @ psi
    own, turn = np.linalg.eigh(covariance)
    other, turn_inputs = np.linalg.eigh((psi * sizes[:, None]).T @ psi)
    information = np.maximum(own, 0)[:, None] * np.maximum(other, 0)
    seen = turn.T @ crossed @ turn_inputs
    known = information > _LEAST_INFORMATION * information.max(initial=0.0)
    if not known.any():
        return np.zeros_like(crossed)

    def likelihood(prior: float) -> float:
        excess = 1 + information[known] * prior**2
        return -float(np.sum(np.log(excess) + seen[known] ** 2 / (information[known] * excess)))

    effects = turn @ (seen / (information + max(_PRIORS, key=likelihood) ** -2)) @ turn_inputs.T
    return np.asarray(effects - overall @ effects / max(float(overall.sum()), 1.0))


class _Corrections(NamedTuple):
    """What is added to the slopes of groups of outputs, the covariances of that, and the group of every output.

    The last group is that of all others, to which nothing is added.
    """

    slopes: np.ndarray
    covariances: np.ndarray
    places: np.ndarray


def _corrections(
    pool: _Pool,
    rows: np.ndarray,
    counts: np.ndarray,
    effects: np.ndarray,
    of_input: np.ndarray,
    sizes: np.ndarray,
    psi: np.ndarray,
) -> _Corrections | None:
    """Correct slopes of what comes often by its own counts, with as strong a prior as makes these likeliest."""
    total = np.bincount(pool.of_all, counts)
    common = np.argsort(-total, kind="stable")[:_MOST_CORRECTED]
    common = common[total[common] >= _LEAST_COUNT]
    if not len(common):
        return None
    place = np.full(len(total), len(common))
    place[common] = np.arange(len(common))
    groups, width = place[pool.of_all], len(common) + 1
    came = np.bincount(of_input * width + groups, counts, minlength=len(sizes) * width).reshape(-1, width)[:, :-1]
    inside = _counts(groups, width, rows, counts, len(effects))
    prior = (inside[:-1] / total[common][:, None]) @ effects
    fits = [_poisson(came, sizes, psi, prior, deviation) for deviation in _DEVIATIONS]
    _, slopes, covariances = max(fits, key=lambda fit: fit[0])
    nothing = np.zeros((1, *slopes.shape[1:])), np.zeros((1, *covariances.shape[1:]))
    return _Corrections(
        np.concatenate([slopes - prior, nothing[0]]), np.concatenate([covariances, nothing[1]]), place[pool.groups]
    )


def _poisson(
    counts: np.ndarray, sizes: np.ndarray, psi: np.ndarray, prior: np.ndarray, deviation: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """Slopes of the logarithms of expected counts, shape (groups, numbers), with a normal prior, by Newton's method.

    Returns the logarithm of the marginal likelihood by Laplace's method, but for a constant, the slopes, and their
    covariances.
    """
    total = counts.sum(axis=0)
    precision = deviation**-2
    products = psi[:, :, None] * psi[:, None, :]
    slopes = prior

    def expected_of(slopes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logs = np.clip(psi @ slopes.T, -_MOST_LOG, _MOST_LOG)
        sums = sizes @ np.exp(logs)
        return sizes[:, None] * np.exp(logs) * (total / sums), logs - np.log(sums)

    for _ in range(_NEWTON_STEPS):
        expected, _ = expected_of(slopes)
        gradient = (counts - expected).T @ psi - (slopes - prior) * precision
        means = expected.T @ psi / total[:, None]
        hessian = np.tensordot(expected.T, products, axes=1)
        hessian -= total[:, None, None] * means[:, :, None] * means[:, None, :]
        hessian += np.eye(psi.shape[1]) * precision
        slopes = slopes + np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
    likelihood = float(np.sum(counts * expected_of(slopes)[1]) - np.sum((slopes - prior) ** 2) * precision / 2)
    likelihood -= float(np.sum(np.linalg.slogdet(hessian)[1] - np.log(precision) * psi.shape[1])) / 2
    return likelihood, slopes, np.linalg.inv(hessian)


@dataclass(frozen=True, slots=True)
class _Model:
    """Fitted slopes.

    Attributes
    ----------
    encoding, centre, unit
        How inputs become rows of numbers: less the centre, over the unit.
    slopes
        What those numbers are multiplied with for the log-probability of some outputs, shape (outputs, numbers).
    corrections
        How slopes of outputs that come often were corrected.
    weights
        Part of each of these outputs at the centre of the inputs.
    test
        The test that pairs are valued for.
    """

    encoding: _Encoding
    centre: np.ndarray
    unit: np.ndarray
    slopes: np.ndarray
    corrections: _Corrections | None
    weights: np.ndarray
    test: FinalTest

    @one_thread()
    def values(self, pairs: Sequence[Pair]) -> np.ndarray:
        """Bound that each pair promises; ``-inf`` for inputs of another kind."""
        known = [i for i, pair in enumerate(pairs) if all(self.encoding.suits(data) for data in pair)]
        found = np.full(len(pairs), -np.inf)
        if known:
            encoded = np.stack([[self.encoding(data) for data in pairs[i]] for i in known])
            with np.errstate(over="ignore", invalid="ignore"):
                promised = self._values((encoded - self.centre) / self.unit)
            found[known] = np.where(np.isnan(promised), -np.inf, promised)
        return found

    def _values(self, encoded: np.ndarray) -> np.ndarray:
        """Promise of pairs, from their numbers, shape (pairs, 2, numbers)."""
        logs = self.slopes @ encoded.reshape(-1, encoded.shape[-1]).T
        masses = self.weights[:, None] * np.exp(logs - logs.max(axis=0))
        masses = (masses / masses.sum(axis=0)).reshape(len(masses), -1, 2)
        masses = np.maximum(masses, math.exp(-2 * _MOST_LOG))
        order = np.argsort(masses[:, :, 1] / masses[:, :, 0], axis=0)
        uncertain = self._variances(encoded[:, 0] - encoded[:, 1]) * masses[:, :, 0] * masses[:, :, 1]
        masses = np.take_along_axis(masses, order[:, :, None], axis=0)
        uncertain = np.take_along_axis(uncertain, order, axis=0)
        at = np.unique(np.geomspace(1, len(masses), _THRESHOLDS).astype(int)) - 1
        best = np.full(masses.shape[1], -np.inf)
        for side in (0, 1):
            tails, squares = (np.cumsum(part if side == 0 else part[::-1], axis=0)[at] for part in (masses, uncertain))
            errors = np.sqrt(squares / (tails[:, :, 0] * tails[:, :, 1]))
            hits = np.maximum(np.minimum(tails, 1.0) * self.test.size, _LEAST_HITS)
            p, q = hits[:, :, side], hits[:, :, 1 - side] * np.exp(_CAUTION * errors)
            q = np.minimum(q, self.test.size)
            expected = self.test.guarantee.expected(p, q, self.test.size, self.test.alpha)
            best = np.maximum(best, np.max(expected, axis=0))
        return best

    def _variances(self, steps: np.ndarray) -> np.ndarray:
        """Variances of the corrections of log-ratios, shape (outputs, pairs)."""
        if self.corrections is None:
            return np.zeros((len(self.slopes), len(steps)))
        of_groups = np.sum((steps @ self.corrections.covariances) * steps, axis=-1)
        return np.asarray(of_groups[self.corrections.places])


@dataclass(frozen=True, slots=True)
class _Encoding:
    """Inputs as rows of numbers: coordinates and their squares, and how often each value occurs.

    Attributes
    ----------
    length
        Coordinates; 0 where inputs have none in common.
    middle
        What is taken from coordinates before they are squared.
    values
        Values that are counted.
    """

    length: int
    middle: np.ndarray = field(default_factory=lambda: np.empty(0))
    values: tuple[Hashable, ...] = ()

    @classmethod
    def of(cls, inputs: Sequence[Any]) -> _Encoding | None:
        """Encoding that suits these inputs; None where nothing does."""
        vectors = [_vector(data) for data in inputs]
        lengths = {0 if vector is None else len(vector) for vector in vectors}
        length = lengths.pop() if len(lengths) == 1 else 0
        middle = np.empty(0)
        if length:
            middle = np.mean([vector for vector in vectors if vector is not None], axis=0)
        values: tuple[Hashable, ...] = ()
        if all(type(data) in (tuple, list) for data in inputs):
            try:
                values = tuple(dict.fromkeys(part for data in inputs for part in data))
            except TypeError:
                values = ()
            values = values if len(values) <= _MOST_VALUES else ()
        return cls(length, middle, values) if length or values else None

    def suits(self, data: Any) -> bool:
        """Whether an input can be described."""
        if input_key(data) is None:
            return False
        vector = _vector(data) if self.length else None
        if self.length and (vector is None or len(vector) != self.length):
            return False
        return not self.values or type(data) in (tuple, list)

    def __call__(self, data: Any) -> np.ndarray:
        """Numbers of an input that suits."""
        counts = np.array([sum(part == value for part in data) for value in self.values], dtype=float)
        if not self.length:
            return counts
        vector = _vector(data)
        assert vector is not None
        centred = vector - self.middle
        return np.concatenate([vector, centred**2, [centred.sum() ** 2], counts])


def _vector(data: Any) -> np.ndarray | None:
    """Coordinates of an input; None for inputs that are no numbers, or too many or too large."""
    try:
        vector = np.asarray(data)
    except (TypeError, ValueError):
        return None
    if vector.dtype.kind not in "biuf" or not 0 < vector.size <= _MOST_COORDINATES:
        return None
    vector = vector.astype(float).ravel()
    return vector if float(np.abs(vector).max()) <= _LARGEST else None
