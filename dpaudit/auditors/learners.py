"""Learning scores from samples of two inputs: which ones suit outputs of a form, and how each is fitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from dpaudit.auditors.bits import BitsScore
from dpaudit.auditors.columns import Columns
from dpaudit.auditors.mixtures import MixtureScore
from dpaudit.auditors.outputs import OutputsLike, as_outputs, coding_of, joined, outcome_keys
from dpaudit.auditors.rowscores import (
    AdditiveScore,
    ExtremeScore,
    LinearScore,
    PairScore,
    Transform,
    cell_numbers,
)
from dpaudit.auditors.scores import ColumnScore, OutcomeScore, Score
from dpaudit.auditors.tables import Table
from dpaudit.auditors.trees import BoostedScore

Fitter = Callable[[OutputsLike, OutputsLike], Score | None]
"""Makes a score from samples of both inputs; None where it has nothing to say."""


@dataclass(frozen=True, slots=True)
class Learner:
    """A way of making a score.

    Attributes
    ----------
    fit
        Makes the score.
    rare
        Whether it looks for what is rare, so that its worth shows on all samples only.
    learns
        Whether samples decide what the score is; one that they do not decide may be judged on all of them.
    """

    fit: Fitter
    rare: bool = False
    learns: bool = True


_LOOKED_AT = 20_000
_FEW_NUMBERS = 16
_FEW_OUTCOMES = 64
"""Distinct outputs, at most, for which counting them is all that there is to do."""

_WIDE = 256
"""Columns up to which they are also looked at in other coordinates, and by trees."""

_MOST_SOLVED, _MOST_LINEAR = 2000, 1000
"""Columns up to which a linear score weighs all of them, since that takes the cube of their number; and how many it
weighs of more: those whose means differ most."""

_REPEAT_CELLS = 2_000_000
_PAIR_ROWS = 100_000
_PAIR_CELLS = 16
_MOST_PAIR_COLUMNS = 40
_MOST_PAIRS = 16
_SURPRISING_PAIR = 5.0
_COMMON, _ALIGNED = 2.0, 1.0
"""Standard errors by which all columns' means must differ in common to be pooled as they are, or else each column's
own to be pooled with its sign."""

_PROBE_ROWS, _PROBE_ROUNDS = 10_000, 20
_BOOSTED_CELLS, _BOOSTED_ROUNDS = 2_000_000, 60
_LEAST_BOOSTED_ROWS = 1000


def learners(x: OutputsLike, y: OutputsLike, *, thorough: bool = True) -> tuple[list[Learner], int]:
    """Ways of scoring that suit outputs of this form, the cheapest first.

    Parameters
    ----------
    x, y
        Samples of the two inputs, of one form.
    thorough
        Whether ways that take long take part.

    Returns
    -------
    ways : list
        The ways.
    width : int
        Numbers in an output, 1 where it has none.
    """
    found = [Learner(OutcomeScore.fit, rare=True)]
    x, y = as_outputs(x), as_outputs(y)
    first = joined([x[:2000], y[:2000]])
    distinct = len(np.unique(outcome_keys(first, coding_of(first))))
    one_number = x.dtype.kind in "biuf" and x.width == 1
    if distinct <= (_FEW_NUMBERS if one_number else _FEW_OUTCOMES):
        return found, 1
    columns = x.columns_with(y)
    if columns is None:
        return found, 1
    width = x[:1].rows(columns).shape[1]
    identity = Transform("identity", columns)
    if width == 1:
        column = ColumnScore(None if x.ndim == 1 else 0) if columns.numeric else ColumnScore(0, columns=columns)
        # Which categories there are is learned, too.
        found.append(Learner(partial(_half_line, column), rare=True, learns=not columns.numeric))
        found += [Learner(partial(_distance, column)), Learner(partial(_whole_table, identity))]
        return found + _bits(columns, x), 1
    if not thorough:
        found += [Learner(partial(_additive, _identity, columns)), Learner(partial(_linear, identity))]
        return found, width
    if x.dtype.kind not in "biu":
        found.append(Learner(partial(_repeats, identity), rare=True))
    found.append(Learner(partial(_extreme, identity), rare=True))
    if x.dtype.kind in "biuf" or not columns.numeric:
        found.append(Learner(partial(_best_half_line, columns)))
    # Of many columns, what is told of each at all takes long enough to learn.
    changes = (_identity,) if width > _WIDE else (_identity, _differences, _ordered, _innovations)
    for make in changes:
        found += [Learner(partial(_additive, make, columns)), Learner(partial(_pooled, make, columns))]
    found += [
        Learner(partial(_linear, identity)),
        Learner(partial(_pairs, identity)),
        Learner(partial(_mixture, identity)),
    ]
    return found + _bits(columns, x), width


def _bits(columns: Columns, x: OutputsLike) -> list[Learner]:
    """Bit patterns, where there may be floating-point numbers."""
    return [Learner(partial(BitsScore.fit, columns))] if x.dtype.kind not in "biuc" else []


def _half_line(column: ColumnScore, x: OutputsLike, y: OutputsLike) -> Score:
    return column


def _distance(column: ColumnScore, x: OutputsLike, y: OutputsLike) -> Score | None:
    some = np.concatenate([column(side[:_LOOKED_AT]) for side in (x, y)])
    some = some[np.isfinite(some)]
    return replace(column, centre=float(np.median(some))) if some.size else None


def _whole_table(identity: Transform, x: OutputsLike, y: OutputsLike) -> Score | None:
    table = Table.fit(identity(x)[:, 0], identity(y)[:, 0])
    return AdditiveScore(identity, (table,)) if table.spread > 0 else None


def _repeats(identity: Transform, x: OutputsLike, y: OutputsLike) -> Score | None:
    """Numbers that come more than once in a column: such a one may be rare and decisive."""
    rows = max(_LOOKED_AT, _REPEAT_CELLS // as_outputs(x).width)
    x, y = (identity(side[:rows]) for side in (x, y))
    made = AdditiveScore(identity, tuple(Table.of_repeats(a, b) for a, b in zip(x.T, y.T, strict=True)))
    return made if any(table.spread > 0 for table in made.tables) else None


def _best_half_line(columns: Columns, x: OutputsLike, y: OutputsLike) -> Score:
    """Column whose ranks differ most between the inputs; equal numbers share theirs."""
    rows_x, rows_y = (as_outputs(side[:_LOOKED_AT]).rows(columns) for side in (x, y))
    shift = []
    for of_x, of_y in zip(rows_x.T, np.sort(rows_y, axis=0).T, strict=True):
        below, up_to = (np.searchsorted(of_y, of_x, side=side).mean() for side in ("left", "right"))
        shift.append(abs(below + up_to - len(of_y)))
    return ColumnScore(int(np.argmax(shift)), columns=None if columns.numeric else columns)


MakeTransform = Callable[[Columns, OutputsLike, OutputsLike], Transform | None]


def _identity(columns: Columns, x: OutputsLike, y: OutputsLike) -> Transform:
    return Transform("identity", columns)


def _differences(columns: Columns, x: OutputsLike, y: OutputsLike) -> Transform:
    return Transform("differences", columns)


def _ordered(columns: Columns, x: OutputsLike, y: OutputsLike) -> Transform:
    return Transform("ordered", columns)


def _innovations(columns: Columns, x: OutputsLike, y: OutputsLike) -> Transform | None:
    """Leave of every number what the numbers before it do not predict linearly."""
    rows = Transform("identity", columns)(joined([x[:_PAIR_ROWS], y[:_PAIR_ROWS]])).astype(float, copy=False)
    low, high = np.quantile(rows[: 2 * _LOOKED_AT], [0.001, 0.999], axis=0)
    limited = np.clip(rows, low, high)
    if not np.isfinite(limited).all():
        return None
    covariance = np.cov(limited, rowvar=False)
    scale = np.sqrt(np.diag(covariance))
    covariance += np.diag(np.where(scale > 0, 1e-9 * scale**2, 1.0))
    try:
        inverse = np.linalg.inv(np.linalg.cholesky(covariance))
    except np.linalg.LinAlgError:
        return None
    # Every number keeps its own scale.
    matrix = np.asarray((inverse / np.diag(inverse)[:, None]).T)
    return Transform("innovations", columns, matrix) if np.isfinite(matrix).all() else None


def _additive(make: MakeTransform, columns: Columns, x: OutputsLike, y: OutputsLike) -> AdditiveScore | None:
    transform = make(columns, x, y)
    if transform is None:
        return None
    made = _tables(transform, transform(x), transform(y))
    return made if any(table.spread > 0 for table in made.tables) else None


def _tables(transform: Transform, x: np.ndarray, y: np.ndarray) -> AdditiveScore:
    return AdditiveScore(transform, tuple(Table.fit_quickly(a, b) for a, b in zip(x.T, y.T, strict=True)))


def _pooled(make: MakeTransform, columns: Columns, x: OutputsLike, y: OutputsLike) -> Score | None:
    """One function for all columns, centred, scaled and turned alike: it learns from all of them at once."""
    transform = make(columns, x, y)
    if transform is None:
        return None
    x, y = (transform(side).astype(float, copy=False) for side in (x, y))
    some = np.concatenate([x[:_LOOKED_AT], y[:_LOOKED_AT]])
    low, centre, high = np.quantile(some, [0.25, 0.5, 0.75], axis=0)
    scale = np.where(high > low, high - low, 1.0)
    # Columns of few values are turned and scaled into values that differ by rounding alone.
    if len(np.unique(some[:1000])) <= _FEW_OUTCOMES:
        return None
    means, variances = [], []
    for side in (x, y):
        standard = np.clip((side - centre) / scale, -20, 20)
        means.append(standard.mean(axis=0))
        variances.append(standard.var(axis=0))
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
    aligned = [((side[:, part] - centre[part]) / (scale * signs)[part]).ravel() for side in (x, y)]
    table = Table.fit_quickly(aligned[0], aligned[1], bins=192)
    if not table.spread > 0:
        return None
    nothing = Table(np.empty(0), np.zeros(1))
    turned = zip(centre, scale, signs, strict=True)
    return AdditiveScore(transform, tuple(table.mirrored(m, s * sign) if sign else nothing for m, s, sign in turned))


def _linear(transform: Transform, x: OutputsLike, y: OutputsLike) -> LinearScore | None:
    """Fisher's linear discriminant of the limited columns."""
    x, y = (transform(side).astype(float, copy=False) for side in (x, y))
    low, high = np.quantile(np.concatenate([x[:_LOOKED_AT], y[:_LOOKED_AT]]), [0.001, 0.999], axis=0)
    sides = [np.clip(side, low, high) for side in (x, y)]
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
    weights = np.zeros(len(shift))
    weights[chosen] = _solved(within + np.diag(1e-9 * np.diag(within)), shift[chosen])
    return LinearScore(transform, low, high, weights)


def _solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve a symmetric system: quickly where it is large and positive definite, by least squares otherwise."""
    if len(matrix) > _WIDE:
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


def _extreme(transform: Transform, x: OutputsLike, y: OutputsLike) -> ExtremeScore:
    rows = np.concatenate([transform(side[:_LOOKED_AT]) for side in (x, y)]).astype(float, copy=False)
    low, centre, high = np.quantile(rows, [0.25, 0.5, 0.75], axis=0)
    return ExtremeScore(transform, centre, np.where(high > low, high - low, 1.0))


def _pairs(transform: Transform, x: OutputsLike, y: OutputsLike) -> PairScore | None:
    """Tables of the pairs of columns that say most beyond the columns one by one."""
    x, y = (transform(side[:_PAIR_ROWS]) for side in (x, y))
    edges = tuple(_cell_edges(np.concatenate([a, b])) for a, b in zip(x[:_LOOKED_AT].T, y[:_LOOKED_AT].T, strict=True))
    columns = [i for i in range(x.shape[1]) if len(edges[i])]
    if not 2 <= len(columns) <= _MOST_PAIR_COLUMNS:
        return None
    cells = [{i: cell_numbers(edges[i], side[:, i]) for i in columns} for side in (x, y)]
    alone = {i: _log_ratios(cells[0][i], cells[1][i], len(edges[i]) + 1)[0] for i in columns}
    found: list[tuple[float, int, int, np.ndarray]] = []
    for place, i in enumerate(columns):
        for j in columns[place + 1 :]:
            size = len(edges[j]) + 1
            of_x, of_y = (side[i] * size + side[j] for side in cells)
            ratios, variances = _log_ratios(of_x, of_y, (len(edges[i]) + 1) * size)
            extra = ratios - np.add.outer(alone[i], alone[j]).ravel()
            # Chance makes the sum of squares about as large as there are cells, give or take twice its root.
            surprise = float(np.sum(extra**2 / variances) - len(extra)) / np.sqrt(2 * len(extra))
            found.append((surprise, i, j, extra))
    found.sort(key=lambda item: -item[0])
    chosen = [item for item in found[:_MOST_PAIRS] if item[0] > _SURPRISING_PAIR]
    if not chosen:
        return None
    pairs = np.array([[i, j] for _, i, j, _ in chosen])
    return PairScore(_tables(transform, x, y), edges, pairs, tuple(extra for *_, extra in chosen))


def _mixture(transform: Transform, x: OutputsLike, y: OutputsLike) -> MixtureScore | None:
    """Columns that depend on something hidden."""
    x, y = (transform(side[:_PAIR_ROWS]) for side in (x, y))
    if not 2 <= x.shape[1] <= _MOST_PAIR_COLUMNS:
        return None
    edges = tuple(_cell_edges(np.concatenate([a, b])) for a, b in zip(x[:_LOOKED_AT].T, y[:_LOOKED_AT].T, strict=True))
    return MixtureScore.fit(transform, edges, x, y)


def _log_ratios(x: np.ndarray, y: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray]:
    a, b = (np.bincount(side, minlength=cells) + 0.5 for side in (x, y))
    return np.log(a / b), 1 / a + 1 / b


def _cell_edges(values: np.ndarray) -> np.ndarray:
    distinct = np.unique(values)
    if len(distinct) <= _PAIR_CELLS:
        return distinct[1:].astype(float)
    levels = np.linspace(0, 1, _PAIR_CELLS + 1)[1:-1]
    return np.unique(np.quantile(values, levels, method="lower")).astype(float)


def boosted_score(x: OutputsLike, y: OutputsLike, others: tuple[Score, ...], *, probe: bool) -> BoostedScore | None:
    """Gradient-boosted trees on the columns and the other scores; quickly, to see whether they have anything to add.

    None where there are too few samples, only one number, or very many.
    """
    x, y = as_outputs(x), as_outputs(y)
    columns = x.columns_with(y) if len(x) >= _LEAST_BOOSTED_ROWS else None
    if columns is None:
        return None
    width = x[:1].rows(columns).shape[1]
    if not 1 < width <= _WIDE:
        return None
    rows = _PROBE_ROWS if probe else max(2 * _PROBE_ROWS, _BOOSTED_CELLS // width)
    rounds = _PROBE_ROUNDS if probe else _BOOSTED_ROUNDS
    return BoostedScore.fit(x[:rows], y[:rows], columns, others, rounds=rounds)
