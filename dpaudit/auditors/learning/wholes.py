"""Scores of what the numbers of an output are together, wherever in it they stand.

One of them in order, such as the largest, totals, ties, and successions.
"""

from __future__ import annotations

import math
import re

import numpy as np

from dpaudit.auditors.learning.counts import caution_for
from dpaudit.auditors.learning.members import likelihood_ratios
from dpaudit.auditors.learning.row_scores import AdditiveScore, CoordinateScore
from dpaudit.auditors.learning.tables import Table
from dpaudit.auditors.learning.transforms import Identity, Ordered, Successions, Totals
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.outputs import OutputsLike, as_outputs, joined
from dpaudit.auditors.sampling.pace import check_time

_FIRST = 500
"""Outputs of either input from which it is told whether few numbers make up all outputs. Chosen by hand, for time."""

_MOST_NUMBERS = 64
"""Numbers that make up all outputs, at most, where successions are looked at: they have 4,096 pairs. Chosen by hand:
the letters of texts, or the states of a history."""

_LEAST_LONG = 8
"""Numbers in an output, at least, for that. Chosen by hand: of shorter ones, pairs of columns say as much."""

_CELLS = 2_000_000
"""Numbers of either input, about, in which successions are counted. Chosen by hand, for time."""

_EVIDENCE = 2.0
"""Twice the logarithm of the likelihood ratio of a succession that is taken, at least, over the logarithm of the number
of successions. Chosen by hand: of 144 successions that tell nothing, chance lets one through in one of four audits."""

_MOST_TELLING = 16
"""Successions, at most, that a score looks at. Chosen by hand, for time."""

_MOST_PARTS = 8
"""Lists, dicts and rows whose totals are looked at, at most; the first ones. Chosen by hand, for time."""

_STEP = re.compile(r"\[[^\[\]]*\]|\.\w+")
"""Step of a path, from a list, a dict or an object to what is in it."""

_COORDINATE_ROWS = 8000
"""Outputs of either input by which one number in order, or one total, is chosen. Chosen by hand, for time: an event of
one output in 250 comes 32 times."""

_RANKS = 12
"""Thresholds at either end that are looked at for this choice, evenly spread by the logarithm of their rank. Chosen by
hand: each has some 1.9 times the outputs of the one before."""

_LEAST_RANK = 8
"""Outputs of both inputs beyond the outermost of them. Chosen by hand: of 8, all are of one input by luck once in 128
times."""

_ANSCOMBE = 3 / 8
"""What is added to a count so that its square root has a standard deviation of nearly 1/2 (Anscombe, Biometrika
1948)."""

_NONE = 1e-3
"""Count that stands for none, so that no logarithm is infinite. Any number far below one would do."""


def learn_coordinate(columns: Columns, x: OutputsLike, y: OutputsLike) -> CoordinateScore:
    """One number in order, one gap between two of these, or one total, whose best half-line promises most."""
    x, y = as_outputs(x)[:_COORDINATE_ROWS], as_outputs(y)[:_COORDINATE_ROWS]
    # Of two that promise as much, a number in order is the simpler one to read.
    made = [(transform, transform(x), transform(y)) for transform in (Ordered(columns), Totals(columns))]
    caution = caution_for([len(x)] * sum(of_x.shape[1] for _, of_x, _ in made))
    found: list[tuple[float, CoordinateScore]] = []
    for transform, of_x, of_y in made:
        width = of_x.shape[1]
        for column in range(width):
            check_time()
            promised = _promised(np.sort(of_x[:, column]), np.sort(of_y[:, column]), caution)
            found.append((promised, CoordinateScore(transform, column, width)))
    return max(found, key=lambda item: item[0])[1]


def _promised(x: np.ndarray, y: np.ndarray, caution: float) -> float:
    """Largest log-ratio of how often ordered numbers of two inputs are beyond a threshold, at the ends of intervals.

    These are of so many standard errors of the square roots of counts, which hardly depend on the counts.
    """
    pooled = np.sort(np.concatenate([x, y]), kind="stable")
    half = max(len(pooled) // 2, 1)
    ranks = np.unique(np.geomspace(min(_LEAST_RANK, half), half, _RANKS).astype(int))
    thresholds = np.concatenate([pooled[ranks], pooled[-ranks]])
    below = np.stack([np.searchsorted(side, thresholds) for side in (x, y)])
    counts = np.stack([below, np.array([[len(x)], [len(y)]]) - below])
    roots = np.sqrt(counts + _ANSCOMBE)
    least = np.square(np.maximum(roots - caution / 2, 0.0)) - _ANSCOMBE
    most = np.square(roots + caution / 2) - _ANSCOMBE
    ratios = np.log(np.maximum(least, _NONE)) - np.log(most[:, ::-1])
    return float(np.max(ratios))


def learn_totals(columns: Columns, x: OutputsLike, y: OutputsLike) -> AdditiveScore | None:
    """Step functions, on fine cells, of what `Totals` says of all numbers."""
    return _totals(Totals(columns), x, y)[1]


def learn_totals_of_parts(columns: Columns, x: OutputsLike, y: OutputsLike) -> AdditiveScore | None:
    """The same of the numbers of that list, dict or row in an output whose totals tell most; None where there is none.

    A vector beside a number has a length of its own.
    """
    made = [_totals(Totals(columns, of), x, y) for of in _parts(columns, as_outputs(x).shape[1:])]
    return max(made, key=lambda item: item[0])[1] if made else None


def _totals(transform: Totals, x: OutputsLike, y: OutputsLike) -> tuple[float, AdditiveScore | None]:
    """A score of totals, and how much the one of them tells that tells most: a divergence of the two inputs."""
    tables, apart = [], [0.0]
    for of_x, of_y in zip(transform(x).T, transform(y).T, strict=True):
        check_time()
        tables.append(table := Table.fit(of_x, of_y))
        if table.spread > 0:
            # Of Jeffreys; the range of log-ratios would be that of a few values that chance puts together.
            apart.append(float(table(of_x).mean() - table(of_y).mean()))
    return max(apart), AdditiveScore(transform, tuple(tables)) if len(apart) > 1 else None


def _parts(columns: Columns, shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Columns of the numbers of every list, dict or object in outputs, or of every row of tables."""
    if columns.numeric:
        rows, width = shape if len(shape) == 2 and shape[1] > 1 else (0, 0)
        return [tuple(range(row * width, (row + 1) * width)) for row in range(rows)][:_MOST_PARTS]
    found: dict[str, list[int]] = {}
    numbers = [column for column, kept in enumerate(columns.kept) if kept % 2]
    for column in numbers:
        path = (columns.paths or ())[columns.kept[column] // 2]
        # Contents, which are written as objects of JSON, are in nothing.
        for step in [] if path.startswith("{") else _STEP.finditer(path):
            found.setdefault(path[: step.start()], []).append(column)
    # Those that are in few others come first. Of one that has all numbers, these are the totals of the whole output.
    ordered = sorted(found, key=lambda path: len(_STEP.findall(path)))
    several = dict.fromkeys(tuple(found[path]) for path in ordered if 1 < len(found[path]) < len(numbers))
    return list(several)[:_MOST_PARTS]


def learn_successions(columns: Columns, x: OutputsLike, y: OutputsLike) -> AdditiveScore | None:
    """Step functions of how often one number directly follows another; None where that tells nothing.

    A succession counts once in an output. Those whose counts on the two inputs are likelier by two probabilities than
    by one are taken, as values in lists are.
    """
    identity = Identity(columns)
    values = np.unique(identity(joined([x[:_FIRST], y[:_FIRST]])))
    width = as_outputs(x).width if columns.numeric else len(identity(x[:1])[0])
    if width < _LEAST_LONG or not 1 < len(values) <= _MOST_NUMBERS:
        return None
    rows = max(_FIRST, _CELLS // width)
    counts = np.zeros((2, len(values) ** 2))
    sizes = np.zeros((2, 1))
    for side, outputs in enumerate((x, y)):
        check_time()
        codes = np.searchsorted(values, identity(outputs[:rows]))
        codes = np.minimum(codes, len(values) - 1)
        pairs = np.sort(codes[:, :-1] * len(values) + codes[:, 1:], axis=1)
        once = np.column_stack([np.ones(len(pairs), dtype=bool), np.diff(pairs, axis=1) > 0])
        counts[side] = np.bincount(pairs[once], minlength=counts.shape[1])
        sizes[side] = len(pairs)
    ratios = likelihood_ratios(counts, sizes)
    least = _EVIDENCE * math.log(max(2, int(np.count_nonzero(counts.sum(axis=0)))))
    telling = [i for i in np.argsort(-ratios, kind="stable")[:_MOST_TELLING].tolist() if ratios[i] > least]
    if not telling:
        return None
    chosen = tuple((float(values[i // len(values)]), float(values[i % len(values)])) for i in telling)
    transform = Successions(columns, chosen)
    return AdditiveScore(transform, tuple(Table.fit_columns(transform(x), transform(y))))
