"""Learning scores from samples of two inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import ndtr

from dpaudit.auditors.learning.lookup import Lookup
from dpaudit.auditors.learning.mixtures import MixtureScore
from dpaudit.auditors.learning.quantiles import lower_quantiles, quantiles_of_columns, turned
from dpaudit.auditors.learning.row_scores import (
    AdditiveScore,
    ExtremeScore,
    LinearScore,
    PairScore,
    QuadraticScore,
    cell_numbers,
)
from dpaudit.auditors.learning.scores import ColumnScore, Score
from dpaudit.auditors.learning.tables import Table
from dpaudit.auditors.learning.transforms import (
    Decimals,
    Differences,
    Identity,
    Innovations,
    Ordered,
    Places,
    Transform,
    decimals,
)
from dpaudit.auditors.learning.trees import BoostedScore
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.outputs import OutputsLike, as_outputs, joined
from dpaudit.auditors.sampling.pace import check_time

_LOOKED_AT = 20_000
"""Outputs of either input from which medians, quantiles and ranks are taken. Chosen by hand: a rank is then known to
less than half a per cent, and sorting takes milliseconds."""

_GLANCE = 500
"""Outputs of either input in which numbers of few decimals are looked for. Chosen by hand, for time."""

_MIXED = 0.005
"""Part of these numbers that must have few decimals, and that must have many, for decimals to be looked at. Chosen by
hand: five of a thousand. Of full fractions, one in a million has so few decimals by chance."""

_FEW_VALUES = 64
"""Distinct numbers, at most, that are not taken for those of a continuous law. Chosen by hand; they are counted among
the first thousand rows, which are nearly all distinct under such a law."""

_EXACT_STEP = 2.0**-24
"""What values of a function of few values are multiples of. Chosen by hand: far below what samples tell, and so that
sums of millions are exact."""

_MANY = 256
"""Columns from which on a linear system is solved as one that is positive definite. Chosen by hand, for time: least
squares take many times as long."""

_MOST_SOLVED = 2000
"""Columns up to which a linear score weighs all of them. Chosen by hand, for time, which is the cube of their number:
some 10^10 operations."""

_MOST_LINEAR = 1000
"""How many columns a linear score weighs of more: those whose means differ most. Chosen by hand, for time, some 10^9
operations."""

_LEAST_SPARSE = 64
"""Columns from which on a linear score may do without most of them. Chosen by hand: the noise of fewer weights takes
little from the score."""

_SUPPORTS = 12
"""Choices of a few columns that are compared, from one to half of them, as numbers of columns that grow by equal
factors. Chosen by hand: of 1,000 columns, each has not quite twice as many as the one before."""

_SPARSER = 1.05
"""How many times as far apart the inputs must be by a few columns for these to be preferred to all. Chosen by hand: the
best of several estimates is too large by luck."""

_BEYOND_CHANCE = 40.0
"""Standard errors that stand for more, as chance reaches neither: the density there, e^-800, is 0 in double precision,
and squares of larger numbers might overflow."""

_BLOCK_VALUES = 1 << 15
"""Numbers that are worked on at a time, where all of them would not fit into the cache: 256 KiB. Chosen by hand, for
time."""

_REPEAT_CELLS = 2_000_000
"""Numbers of either input, about, among which those that repeat are looked for. Chosen by hand, for time, which is
mostly that of sorting them."""

_POOLED_CELLS = 2_000_000
"""Numbers of either input, about, that a function for all columns is learned from. Chosen by hand, for time."""

_PAIR_ROWS = 100_000
"""Outputs of either input that pairs of columns, hidden classes and correlations are learned from. Chosen by hand, for
time."""

_PAIR_CELLS = 16
"""Cells of a column where pairs of columns are looked at. Chosen by hand: a pair has 256 cells, and 100,000 outputs
leave each some 400."""

MOST_PAIR_COLUMNS = 40
"""Columns up to which those that depend on each other are looked for. Chosen by hand, for time: they have 780 pairs."""

_MOST_PAIRS = 16
"""Pairs of columns in a score, at most. Chosen by hand: each is looked up for every output."""

_SURPRISING_PAIR = 5.0
"""Standard deviations of chance from which on a pair of columns says something beyond the two alone. Of 780 pairs of
which none does, chance lets one through in about 5,000 scores, if what they say is nearly normal."""

_SCREENED_PAIRS = 32
"""Pairs that are looked at in all rows, where there are more: those that look best in a part of the rows. Chosen for
time: twice as many as are taken."""

_SCREEN_SHARE = 4
"""One over this part of the rows. Chosen by hand, for time: screening then takes a quarter of what looking at all
would."""

_CORRELATED = 3.0
"""Standard errors by which correlations must be more than chance makes them for columns to predict one another. Chosen
by hand: chance does that once in 700 times."""

_NEARLY = 0.99
"""Part of these standard errors from which on the correlations are worked out to all digits, since those from sums of
products are rounded. Chosen by hand; 163 audits gave the same bounds to the last digit (benchmarks/speed.md)."""

_DOUBTFUL = 1e-6
"""Part of a column's range, both squared, below which its variance from sums of products is not trusted: rounding takes
some 1e-16 times the number of rows. Chosen by hand, like `_NEARLY`."""

_COMMON = 2.0
"""Standard errors by which all columns' means must differ in common to be pooled as they are. Chosen by hand: chance
does that once in 22 times."""

_ALIGNED = 1.0
"""Standard errors by which the mean of a column must differ to be pooled with its own sign, where all do not differ in
common. Chosen by hand: chance turns few of those that differ, and leaves a third of those that do not."""

_PROBE_ROWS = 10_000
"""Outputs of either input on which trees are tried before they learn from all. Chosen by hand, for time."""

_PROBE_ROUNDS = 20
"""Trees of that trial. Chosen by hand, for time: twelve that learn faster missed the parity of three columns."""

_BOOSTED_CELLS = 2_000_000
"""Numbers of either input, about, that trees learn from. Chosen by hand, for time."""

_BOOSTED_ROUNDS = 60
"""Trees of a score. Chosen by hand, for time."""

_LEAST_BOOSTED_ROWS = 1000
"""Outputs of either input from which on trees are learned. Chosen by hand: fewer teach them mostly luck."""


def learn_distance(column: ColumnScore, x: OutputsLike, y: OutputsLike) -> Score | None:
    """Distance of a number from the middle of all; None where none is finite."""
    some = np.concatenate([column(side[:_LOOKED_AT]) for side in (x, y)])
    some = some[np.isfinite(some)]
    return replace(column, centre=float(np.median(some))) if some.size else None


def learn_whole_table(identity: Transform, x: OutputsLike, y: OutputsLike) -> Score | None:
    """A step function of the one number, on fine cells; None where it says nothing."""
    table = Table.fit(identity(x)[:, 0], identity(y)[:, 0])
    return AdditiveScore(identity, (table,)) if table.spread > 0 else None


def _limited(rows: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Rows with every column within its limits; of many short rows, far faster than `np.clip`."""
    limited: np.ndarray = np.maximum(rows, low)
    np.minimum(limited, high, out=limited)
    return limited


def _row_blocks(rows: np.ndarray) -> Iterator[slice]:
    """Slices of rows that stay in the cache, with what is worked out from them."""
    step = max(1, _BLOCK_VALUES // rows.shape[1])
    return (slice(start, start + step) for start in range(0, len(rows), step))


def learn_repeats(transform: Transform, x: OutputsLike, y: OutputsLike) -> Score | None:
    """Numbers that come more than once in a column, or nearly so: such a one may be rare and decisive."""
    rows = max(_LOOKED_AT, _REPEAT_CELLS // as_outputs(x).width)
    x, y = (transform(side[:rows]) for side in (x, y))
    tables = []
    for sides in zip(x.T, y.T, strict=True):
        check_time()
        tables.append(Table.of_repeats(*sides))
    made = AdditiveScore(transform, tuple(tables))
    return made if any(table.spread > 0 for table in made.tables) else None


def learn_best_half_line(columns: Columns, x: OutputsLike, y: OutputsLike) -> Score:
    """Column whose ranks differ most between the inputs; equal numbers share theirs."""
    # Both in order, contiguously: far faster to search, and the means are the same.
    rows_x, rows_y = (np.sort(turned(as_outputs(side[:_LOOKED_AT]).rows(columns)), axis=1) for side in (x, y))
    shift = []
    for of_x, of_y in zip(rows_x, rows_y, strict=True):
        check_time()
        below, up_to = (np.searchsorted(of_y, of_x, side=side).mean() for side in ("left", "right"))
        shift.append(abs(below + up_to - len(of_y)))
    return ColumnScore(int(np.argmax(shift)), columns=None if columns.numeric else columns)


MakeTransform = Callable[[Columns, OutputsLike, OutputsLike], Transform | None]


def identity_transform(columns: Columns, x: OutputsLike, y: OutputsLike) -> Transform:
    """Leave the columns as they are."""
    return Identity(columns)


def differences_transform(columns: Columns, x: OutputsLike, y: OutputsLike) -> Transform:
    """Make of every number its difference to the one before it."""
    return Differences(columns)


def places_transform(columns: Columns, x: OutputsLike, y: OutputsLike) -> Places:
    """Say in which order the numbers are, or where the largest and the smallest of many are."""
    return Places(columns)


def decimals_transform(columns: Columns, x: OutputsLike, y: OutputsLike) -> Decimals | None:
    """Say how many decimals numbers have; None unless some fractions of either input have few, and some have many."""
    rows = Identity(columns)(joined([x[:_GLANCE], y[:_GLANCE]]))
    if rows.dtype.kind != "f":
        return None
    few = [np.mean(decimals(column, Decimals.MOST) <= Decimals.MOST) for column in rows.T]
    places = tuple(place for place, share in enumerate(few) if _MIXED <= share <= 1 - _MIXED)
    return Decimals(columns, places) if places else None


def ordered_transform(columns: Columns, x: OutputsLike, y: OutputsLike) -> Transform:
    """Put the numbers in ascending order, with the gaps between them."""
    return Ordered(columns)


def innovations_transform(columns: Columns, x: OutputsLike, y: OutputsLike) -> Transform | None:
    """Leave of every number what the numbers before it do not predict linearly; None where they predict nothing."""
    rows = Identity(columns)(joined([x[:_PAIR_ROWS], y[:_PAIR_ROWS]])).astype(float, copy=False)
    low, high = quantiles_of_columns(rows[: 2 * _LOOKED_AT], [0.001, 0.999])
    some = min(len(x), _PAIR_ROWS)
    if not _maybe_correlated(rows, low, high, some):
        return None
    limited = _limited(rows, low, high)
    if not np.isfinite(limited).all():
        return None
    covariance = np.cov(limited, rowvar=False)
    apart = limited[:some].mean(axis=0) - limited[some:].mean(axis=0)
    if not _correlated(covariance - np.outer(apart, apart) / 4, len(limited)):
        return None
    scale = np.sqrt(np.diag(covariance))
    covariance += np.diag(np.where(scale > 0, 1e-9 * scale**2, 1.0))
    try:
        inverse = np.linalg.inv(np.linalg.cholesky(covariance))
    except np.linalg.LinAlgError:
        return None
    # Every number keeps its own scale.
    matrix = np.asarray((inverse / np.diag(inverse)[:, None]).T)
    return Innovations(columns, matrix) if np.isfinite(matrix).all() else None


def _maybe_correlated(rows: np.ndarray, low: np.ndarray, high: np.ndarray, some: int) -> bool:
    """Whether columns, within their limits, may be correlated; the first rows are of one input, the others of another.

    Mostly they are not, which sums of products show to some digits, taken block by block while these are in the cache.
    """
    products = np.zeros((rows.shape[1], rows.shape[1]))
    sums = np.zeros((2, rows.shape[1]))
    for side, part in enumerate((rows[:some], rows[some:])):
        for at in _row_blocks(part):
            block = _limited(part[at], low, high)
            block -= (low + high) / 2
            products += block.T @ block
            sums[side] += block.sum(axis=0)
    sizes = np.array([some, len(rows) - some])
    mean = sums.sum(axis=0) / len(rows)
    covariance = (products - len(rows) * np.outer(mean, mean)) / (len(rows) - 1)
    apart = sums[0] / sizes[0] - sums[1] / sizes[1]
    within = covariance - np.outer(apart, apart) / 4
    scale = np.maximum(high - low, 0.0)
    exact = np.isfinite(within).all() and (np.diag(within) > _DOUBTFUL * scale**2).all()
    return not exact or _correlated(within, len(rows), _NEARLY * _CORRELATED)


def _correlated(covariance: np.ndarray, rows: int, errors: float = _CORRELATED) -> bool:
    """Whether so many rows show, by that many standard errors, that columns of these covariances are correlated.

    Where they are not, each squared correlation times the rows is about 1, give or take the square root of 2.
    """
    scale = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    varying = np.flatnonzero(scale > 0)
    pairs = len(varying) * (len(varying) - 1) / 2
    if not pairs:
        return False
    ratios = covariance[np.ix_(varying, varying)] / np.outer(scale[varying], scale[varying])
    total = rows * (float(np.sum(ratios**2)) - len(varying)) / 2
    return bool(total - pairs > errors * np.sqrt(2 * pairs))


def learn_additive(make: MakeTransform, columns: Columns, x: OutputsLike, y: OutputsLike) -> AdditiveScore | None:
    """Sum of a step function of every column; None where none says anything."""
    transform = make(columns, x, y)
    if transform is None:
        return None
    made = _tables(transform, transform(x), transform(y))
    return made if any(table.spread > 0 for table in made.tables) else None


def _tables(transform: Transform, x: np.ndarray, y: np.ndarray) -> AdditiveScore:
    return AdditiveScore(transform, tuple(Table.fit_columns(x, y)))


def learn_pooled(make: MakeTransform, columns: Columns, x: OutputsLike, y: OutputsLike) -> Score | None:
    """One function for all columns, centred, scaled and turned alike: it learns from all of them at once.

    Columns of few values are taken as they are: the sum then says how often each value comes in an output.
    """
    x, y = as_outputs(x), as_outputs(y)
    transform = make(columns, x, y)
    if transform is None:
        return None
    rows = max(_LOOKED_AT, _POOLED_CELLS // x[:1].rows(columns).shape[1])
    x, y = (transform(side[:rows]).astype(float, copy=False) for side in (x, y))
    some = np.concatenate([x[:_LOOKED_AT], y[:_LOOKED_AT]])
    low, centre, high = quantiles_of_columns(some, [0.25, 0.5, 0.75])
    scale = np.where(high > low, high - low, 1.0)
    # Columns of few values would be turned and scaled into values that differ by rounding alone.
    if len(np.unique(some[:1000])) <= _FEW_VALUES:
        return _pooled_values(transform, x, y) if isinstance(transform, Identity) and columns.numeric else None
    means, variances = zip(*(_limited_moments(side, centre, scale) for side in (x, y)), strict=True)
    shift = means[0] - means[1]
    spread = np.sqrt((variances[0] + variances[1]) / len(x))
    apart = shift / np.maximum(spread, 1e-300)
    if abs(apart.sum()) > _COMMON * np.sqrt(len(apart)):
        signs = np.full(len(apart), np.sign(apart.sum()))
    else:
        signs = np.where(np.abs(apart) > _ALIGNED, np.sign(apart), 0.0)
    part = np.flatnonzero(signs)
    if len(part) < 2:
        return None
    blocks = (partial(_aligned, side, part, centre, scale * signs) for side in (x, y))
    table = Table.fit_blocks(*blocks, size=len(x) * len(part), bins=192)
    if not table.spread > 0:
        return None
    nothing = Table(np.empty(0), np.zeros(1))
    turned = zip(centre, scale, signs, strict=True)
    return AdditiveScore(transform, tuple(table.mirrored(m, s * sign) if sign else nothing for m, s, sign in turned))


def _pooled_values(transform: Transform, x: np.ndarray, y: np.ndarray) -> AdditiveScore | None:
    """One function of the values of all columns."""
    table = Table.fit(x.ravel(), y.ravel())
    if not table.spread > 0:
        return None
    # Sums are exact, so that outputs with the same values in another order have the same score.
    table = Table(table.edges, np.round(table.values / _EXACT_STEP) * _EXACT_STEP)
    return AdditiveScore(transform, (table,) * x.shape[1])


def _limited_moments(rows: np.ndarray, centre: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances of the columns in units of their scale, limited to 20 of these."""
    sums, squares = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    for at in _row_blocks(rows):
        standard = rows[at] - centre
        standard /= scale
        np.clip(standard, -20, 20, out=standard)
        sums += standard.sum(axis=0)
        squares += np.einsum("ij,ij->j", standard, standard)
    means = sums / len(rows)
    return means, np.maximum(squares / len(rows) - means**2, 0.0)


def _aligned(rows: np.ndarray, part: np.ndarray, centre: np.ndarray, scale: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the numbers of a part of the columns as distances from their centres in units of their scale."""
    for at in _row_blocks(rows):
        block = (rows[at] if len(part) == rows.shape[1] else rows[at][:, part]) - centre[part]
        block /= scale[part]
        yield block.ravel()


def learn_linear(transform: Transform, x: OutputsLike, y: OutputsLike) -> LinearScore | None:
    """Fisher's linear discriminant of the limited columns."""
    x, y = (transform(side).astype(float, copy=False) for side in (x, y))
    low, high = quantiles_of_columns(np.concatenate([x[:_LOOKED_AT], y[:_LOOKED_AT]]), [0.001, 0.999])
    sides = [_limited(side, low, high) for side in (x, y)]
    shift = sides[0].mean(axis=0) - sides[1].mean(axis=0)
    chosen = np.arange(len(shift))
    if len(shift) > _MOST_SOLVED:
        spread = np.sqrt((sides[0].var(axis=0) + sides[1].var(axis=0)) / 2)
        if not (np.isfinite(spread).all() and np.isfinite(shift).all()):
            return None
        apart = np.abs(shift) / np.maximum(spread, 1e-300)
        chosen = np.sort(np.argsort(-apart, kind="stable")[:_MOST_LINEAR])
        sides = [side[:, chosen] for side in sides]
    within = sum(np.cov(side, rowvar=False) for side in sides) / 2
    if not (np.isfinite(within).all() and np.isfinite(shift).all()):
        return None
    weights, spread = np.zeros(len(shift)), np.zeros(len(shift))
    spread[chosen] = np.sqrt(np.diag(within))
    within = within + np.diag(1e-9 * np.diag(within))
    weights[chosen] = _discriminant(within, shift[chosen], len(x), len(shift))
    return LinearScore(transform, low, high, weights, spread)


def _discriminant(within: np.ndarray, shift: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Weights of Fisher's discriminant: of all columns, or of the few that tell most where that tells more.

    Every weight has an error, by which a column of no shift adds only noise. With the columns whose weights are at
    least t of their standard errors, let the inputs be D apart in standard deviations of the sum. Were all columns
    without a shift, chance would put so many beyond t, and their part of the square of D is known; the others add
    the variance of a shift each. What is left of the square, over D, is how far apart the inputs are in other rows.
    """
    weights = _solved(within, shift)
    if columns < _LEAST_SPARSE:
        return weights
    variance = 2 / rows
    inverse = np.diag(np.linalg.pinv(within, hermitian=True))
    with np.errstate(over="ignore"):
        errors = np.abs(weights) / np.sqrt(np.maximum(inverse * variance, 1e-300))
    order = np.argsort(-errors, kind="stable")

    def apart(found: np.ndarray, which: np.ndarray) -> float:
        square = float(found @ shift[which])
        least = min(float(errors[which[-1]]), _BEYOND_CHANCE) if len(which) < len(order) else 0.0
        beyond = 2 * columns * float(ndtr(-least))
        by_chance = beyond + 2 * columns * least * math.exp(-(least**2) / 2) / math.sqrt(2 * math.pi)
        left = square - variance * (by_chance + max(len(which) - beyond, 0.0))
        return left / math.sqrt(square) if square > 0 else -math.inf

    best, most = weights, _SPARSER * apart(weights[order], order)
    for count in np.unique(np.geomspace(1, len(order) / 2, _SUPPORTS).astype(int)):
        few = order[:count]
        found = _solved(within[np.ix_(few, few)], shift[few])
        promised = apart(found, few)
        if promised > most:
            best, most = np.zeros_like(weights), promised
            best[few] = found
    return best


def _solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve a symmetric system: quickly where it is large and positive definite, by least squares otherwise."""
    if len(matrix) > _MANY:
        try:
            # A column that never varies is left to itself.
            found: np.ndarray = cho_solve(cho_factor(matrix + np.diag(np.diag(matrix) <= 0)), right)
        except np.linalg.LinAlgError:
            pass
        else:
            if np.isfinite(found).all():
                return found
    weights: np.ndarray = np.linalg.lstsq(matrix, right, rcond=1e-12)[0]
    return weights


def learn_quadratic(make: MakeTransform, columns: Columns, x: OutputsLike, y: OutputsLike) -> QuadraticScore | None:
    """Quadratic discriminant along the directions of a transform."""
    transform = make(columns, x, y)
    if transform is None:
        return None
    sides = [transform(side) for side in (x, y)]
    low, high = quantiles_of_columns(np.concatenate([side[:_LOOKED_AT] for side in sides]), [0.001, 0.999])
    limited = [_limited(side, low, high) for side in sides]
    means, variances = ([getattr(side, what)(axis=0) for side in limited] for what in ("mean", "var"))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        precisions = [1 / each for each in variances]
        weights = means[0] * precisions[0] - means[1] * precisions[1]
        squares = (precisions[1] - precisions[0]) / 2
    if not (np.isfinite(weights).all() and np.isfinite(squares).all()):
        return None
    return QuadraticScore(transform, weights, squares)


def learn_extreme(transform: Transform, x: OutputsLike, y: OutputsLike) -> ExtremeScore:
    """Largest deviation of any column from its median."""
    rows = np.concatenate([transform(side[:_LOOKED_AT]) for side in (x, y)]).astype(float, copy=False)
    low, centre, high = quantiles_of_columns(rows, [0.25, 0.5, 0.75])
    return ExtremeScore(transform, centre, np.where(high > low, high - low, 1.0))


def learn_pairs(transform: Transform, x: OutputsLike, y: OutputsLike) -> PairScore | None:
    """Tables of the pairs of columns that say most beyond the columns one by one."""
    x, y = (transform(side[:_PAIR_ROWS]) for side in (x, y))
    edges = tuple(_cell_edges(np.concatenate([a, b])) for a, b in zip(x[:_LOOKED_AT].T, y[:_LOOKED_AT].T, strict=True))
    columns = [i for i in range(x.shape[1]) if len(edges[i])]
    if not 2 <= len(columns) <= MOST_PAIR_COLUMNS:
        return None
    cells = [_cells_by_column(edges, columns, side) for side in (x, y)]
    candidates = [(i, j) for place, i in enumerate(columns) for j in columns[place + 1 :]]
    if len(candidates) > _SCREENED_PAIRS:
        some = [{i: numbers[: len(x) // _SCREEN_SHARE] for i, numbers in side.items()} for side in cells]
        looked_at = sorted(_beyond_alone(some, edges, candidates), key=lambda item: -item[0])
        candidates = sorted((i, j) for _, i, j, _ in looked_at[:_SCREENED_PAIRS])
    found = _beyond_alone(cells, edges, candidates)
    found.sort(key=lambda item: -item[0])
    chosen = [item for item in found[:_MOST_PAIRS] if item[0] > _SURPRISING_PAIR]
    if not chosen:
        return None
    pairs = np.array([[i, j] for _, i, j, _ in chosen])
    return PairScore(_tables(transform, x, y), edges, pairs, tuple(extra for *_, extra in chosen))


def _cells_by_column(edges: tuple[np.ndarray, ...], columns: list[int], rows: np.ndarray) -> dict[int, np.ndarray]:
    """Cell of every row in every one of the columns."""
    if rows.dtype.kind != "f":
        return {i: cell_numbers(edges[i], rows[:, i]) for i in columns}
    lookup = Lookup.of([Table(edge, np.arange(len(edge) + 1.0)) for edge in edges])
    assert lookup is not None
    return dict(zip(columns, lookup.each(rows, np.intp), strict=True))


def _beyond_alone(
    cells: list[dict[int, np.ndarray]], edges: tuple[np.ndarray, ...], pairs: list[tuple[int, int]]
) -> list[tuple[float, int, int, np.ndarray]]:
    """How surprising it is what every pair of columns says beyond the two alone, and what it says in each cell."""
    alone = {i: _log_ratios(cells[0][i], cells[1][i], len(edges[i]) + 1)[0] for i in cells[0]}
    found: list[tuple[float, int, int, np.ndarray]] = []
    for i, j in pairs:
        size = len(edges[j]) + 1
        of_x, of_y = (side[i] * size + side[j] for side in cells)
        ratios, variances = _log_ratios(of_x, of_y, (len(edges[i]) + 1) * size)
        extra = ratios - np.add.outer(alone[i], alone[j]).ravel()
        # Chance makes the sum of squares about as large as there are cells, give or take twice its root.
        surprise = float(np.sum(extra**2 / variances) - len(extra)) / np.sqrt(2 * len(extra))
        found.append((surprise, i, j, extra))
    return found


def learn_mixture(transform: Transform, x: OutputsLike, y: OutputsLike) -> MixtureScore | None:
    """Columns that depend on something hidden."""
    x, y = (transform(side[:_PAIR_ROWS]) for side in (x, y))
    if not 2 <= x.shape[1] <= MOST_PAIR_COLUMNS:
        return None
    edges = tuple(_cell_edges(np.concatenate([a, b])) for a, b in zip(x[:_LOOKED_AT].T, y[:_LOOKED_AT].T, strict=True))
    return MixtureScore.fit(transform, edges, x, y)


def _log_ratios(x: np.ndarray, y: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray]:
    a, b = (np.bincount(side, minlength=cells) + 0.5 for side in (x, y))
    return np.log(a / b), 1 / a + 1 / b


def _cell_edges(values: np.ndarray) -> np.ndarray:
    values = np.sort(values)
    distinct = values[np.r_[True, values[1:] != values[:-1]]]
    if len(distinct) <= _PAIR_CELLS:
        return distinct[1:].astype(float)
    levels = np.linspace(0, 1, _PAIR_CELLS + 1)[1:-1]
    return np.unique(lower_quantiles(values, levels)).astype(float)


def boosted_score(x: OutputsLike, y: OutputsLike, others: tuple[Score, ...], *, probe: bool) -> BoostedScore | None:
    """Gradient-boosted trees on the columns and the other scores; quickly, to see whether they have anything to add.

    None where there are too few samples, or only one number.
    """
    x, y = as_outputs(x), as_outputs(y)
    columns = x.columns_with(y) if len(x) >= _LEAST_BOOSTED_ROWS else None
    if columns is None:
        return None
    width = x[:1].rows(columns).shape[1]
    if width < 2:
        return None
    rows = _PROBE_ROWS if probe else max(2 * _PROBE_ROWS, _BOOSTED_CELLS // width)
    rounds = _PROBE_ROUNDS if probe else _BOOSTED_ROUNDS
    return BoostedScore.fit(x[:rows], y[:rows], columns, others, rounds=rounds)
