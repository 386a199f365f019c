"""The six sparse vector algorithms of Lyu, Su and Li (2017), and the numerical one of Wang et al. (2019)."""

import math
from functools import cache, lru_cache
from itertools import combinations, product

import numpy as np

import dpaudit
from suite import inputs
from suite.case import Audited, Case, Cells, block_pairs, enumerated_epsilon, step_pairs
from suite.laws import (
    combination_cells,
    laplace_cdf,
    laplace_index,
    laplace_masses,
    laplace_quadrature,
    log_laplace_cdf,
)

SOURCE = "Lyu, Su, Li, PVLDB 2017, Figure 1, Algorithm {}; T = 1, c = 2 and 10 queries as in DP-Sniper"

BELOW, ABORTED = -1000.0, -2000.0
"""Codes among numbers: the answer is below the threshold; no query is answered any more."""


class SparseVector(Audited):
    """Whether each answer is above a noisy threshold, until ``positives`` of them were: 1, 0, and -1 thereafter."""

    queries: int = dpaudit.parameter(10, minimum=1)
    positives: int = dpaudit.parameter(2, minimum=1)
    threshold: float = dpaudit.parameter(1.0)

    @property
    def limit(self):
        """Positive answers after which the algorithm stops; None for no limit."""
        return self.positives

    @property
    def threshold_scale(self):
        return 2 / self.epsilon

    @property
    def query_scale(self):
        """Scale of the noise of a query; 0 for none."""
        raise NotImplementedError

    def above(self, data, size, rng):
        """Which answers are above, as if the algorithm did not stop, and the noisy answers."""
        noisy = np.asarray(data, float)
        if self.query_scale:
            noisy = noisy + rng.laplace(scale=self.query_scale, size=(size, self.queries))
        return noisy >= self.threshold + rng.laplace(scale=self.threshold_scale, size=(size, 1)), noisy

    def aborted(self, above):
        """Which queries come after the last one that is answered."""
        before = np.cumsum(above, axis=1, dtype=np.int8) - above
        return before >= self.positives

    def sample(self, data, size, rng):
        above, _ = self.above(data, size, rng)
        output = above.astype(np.int8)
        if self.limit is not None:
            output[self.aborted(above)] = -1
        return output

    def neighbours(self):
        return inputs.vectors(self.queries)


class SparseVector1(SparseVector):
    """Lyu, Su and Li's own sparse vector algorithm."""

    name = "sparse-vector-1"

    @property
    def query_scale(self):
        return 4 * self.positives / self.epsilon


class SparseVector2(SparseVector):
    """Dwork and Roth's sparse vector algorithm: a new noisy threshold after every positive answer."""

    name = "sparse-vector-2"

    @property
    def threshold_scale(self):
        return 2 * self.positives / self.epsilon

    @property
    def query_scale(self):
        return 4 * self.positives / self.epsilon

    def above(self, data, size, rng):
        noisy = np.asarray(data, float) + rng.laplace(scale=self.query_scale, size=(size, self.queries))
        above = np.empty((size, self.queries), dtype=bool)
        threshold = self.threshold + rng.laplace(scale=self.threshold_scale, size=size)
        for i in range(self.queries):
            above[:, i] = noisy[:, i] >= threshold
            again = np.flatnonzero(above[:, i])
            threshold[again] = self.threshold + rng.laplace(scale=self.threshold_scale, size=len(again))
        return above, noisy


class SparseVector3(SparseVector):
    """Roth's lecture notes: the noisy answer itself is given out where it is above (broken)."""

    name = "sparse-vector-3"

    @property
    def query_scale(self):
        return 2 * self.positives / self.epsilon

    def sample(self, data, size, rng):
        above, noisy = self.above(data, size, rng)
        output = np.where(above, noisy, BELOW)
        output[self.aborted(above)] = ABORTED
        return output


class SparseVector4(SparseVector):
    """Lee and Clifton's: the noise of the queries does not grow with the number of positives (broken)."""

    name = "sparse-vector-4"

    @property
    def threshold_scale(self):
        return 4 / self.epsilon

    @property
    def query_scale(self):
        return 4 / (3 * self.epsilon)


class SparseVector5(SparseVector):
    """Stoddard, Chen and Machanavajjhala's: no noise on the queries, no limit (broken)."""

    name = "sparse-vector-5"

    @property
    def limit(self):
        return None

    @property
    def query_scale(self):
        return 0.0


class SparseVector6(SparseVector):
    """Chen et al.'s: no limit on the number of positives (broken)."""

    name = "sparse-vector-6"

    @property
    def limit(self):
        return None

    @property
    def query_scale(self):
        return 2 / self.epsilon


class NumericalSparseVector(SparseVector):
    """Sparse vector that gives out answers above the threshold with noise of their own; 0 below, -1000 thereafter."""

    @property
    def threshold_scale(self):
        return 3 / self.epsilon

    @property
    def query_scale(self):
        return 6 * self.positives / self.epsilon

    @property
    def value_scale(self):
        return 3 * self.positives / self.epsilon

    def sample(self, data, size, rng):
        above, _ = self.above(data, size, rng)
        output = np.zeros((size, self.queries))
        aborted = self.aborted(above)
        rows, columns = np.nonzero(above & ~aborted)
        output[rows, columns] = np.asarray(data)[columns] + rng.laplace(scale=self.value_scale, size=len(rows))
        output[aborted] = BELOW
        return output


@cache
def answers(queries, limit):
    """Possible answers, each by the positions of its positives; shapes (k, queries) of positives and of negatives."""
    most = queries if limit is None else min(limit, queries)
    positions = [places for count in range(most + 1) for places in combinations(range(queries), count)]
    positives = np.zeros((len(positions), queries))
    negatives = np.zeros((len(positions), queries))
    for row, places in enumerate(positions):
        positives[row, list(places)] = 1
        end = places[-1] if limit is not None and len(places) == limit else queries
        negatives[row, :end] = 1
    return positions, positives, negatives - negatives * positives


@cache
def starting_pairs(queries, limit):
    """Pairs among which the search for the worst begins.

    The ratio of an answer's probabilities grows with every step that lifts a query answered negatively and lowers one
    answered positively, so that the worst pair for an answer takes the full step everywhere. What is left to choose is
    where in the range each step lies. Without a limit the order of the queries does not matter, and blocks suffice.
    """
    found = set(block_pairs(queries))
    if limit is not None:
        positions, _, negatives = answers(queries, limit)
        for places, negative in zip(positions, negatives, strict=True):
            for lifted, lowered in product([(0, 1), (1, 2)], [(1, 0), (2, 1)]):
                steps = [lifted if negative[i] else lowered if i in places else (1, 1) for i in range(queries)]
                found.add(step_pairs(steps))
    return sorted(found)


def answer_index(positive, queries, limit):
    """Number of the answer, in the order of :func:`answers`, of rows of booleans."""
    _, positives, _ = answers(queries, limit)
    weights = 1 << np.arange(queries)
    table = np.zeros(1 << queries, dtype=int)
    table[(positives @ weights).astype(int)] = np.arange(len(positives))
    return table[positive.astype(int) @ weights]


def _log_below(mechanism, data, nodes):
    """Log-probabilities, at noise ``nodes`` of the threshold, that every answer is below it, and above."""
    gaps = nodes + mechanism.threshold - np.asarray(data, float)[:, None]
    return log_laplace_cdf(gaps, mechanism.query_scale), log_laplace_cdf(-gaps, mechanism.query_scale)


def _quadrature(mechanism, kinks):
    return laplace_quadrature(mechanism.threshold_scale, np.asarray(kinks) - mechanism.threshold, mechanism.query_scale)


@lru_cache(maxsize=4096)
def answer_law(mechanism, data):
    """Probability of every possible answer: the threshold's noise is integrated over."""
    _, positives, negatives = answers(mechanism.queries, mechanism.limit)
    nodes, weights = _quadrature(mechanism, data)
    below, above = _log_below(mechanism, data, nodes)
    return np.exp(negatives @ below + positives @ above) @ weights


@lru_cache(maxsize=4096)
def renewed_law(mechanism, data):
    """The same where the noise of the threshold is drawn anew after every positive: a product of integrals."""
    positions, _, _ = answers(mechanism.queries, mechanism.limit)
    nodes, weights = _quadrature(mechanism, data)
    below, above = _log_below(mechanism, data, nodes)
    until = np.pad(np.cumsum(below, axis=0), ((1, 0), (0, 0)))

    @cache
    def positive_after(start, at):
        return float(np.exp(until[at] - until[start] + above[at]) @ weights)

    @cache
    def none_after(start):
        return float(np.exp(until[-1] - until[start]) @ weights)

    law = []
    for places in positions:
        starts = (0, *(place + 1 for place in places))
        mass = math.prod(positive_after(*segment) for segment in zip(starts, places, strict=False))
        law.append(mass if len(places) == mechanism.limit else mass * none_after(starts[-1]))
    return np.array(law)


@lru_cache(maxsize=4096)
def noiseless_law(mechanism, data):
    """The same without noise on the queries: the answers depend on where the threshold lies among them."""
    gaps = np.asarray(data, float) - mechanism.threshold
    levels = np.unique(gaps)
    cumulative = np.r_[0.0, laplace_cdf(levels, mechanism.threshold_scale), 1.0]
    # A threshold noise in (levels[i-1], levels[i]] leaves the answers from levels[i] on above.
    law = np.zeros(1 << mechanism.queries)
    rows = np.array([gaps >= level for level in levels] + [np.zeros(len(gaps), dtype=bool)])
    np.add.at(law, answer_index(rows, mechanism.queries, None), np.diff(cumulative))
    return law


def answers_case(mechanism, number, law, epsilon=None):
    def cells(x, y):
        return Cells(
            p=law(mechanism, tuple(x)),
            q=law(mechanism, tuple(y)),
            index=lambda outputs: answer_index(outputs == 1, mechanism.queries, mechanism.limit),
        )

    def pairs():
        return starting_pairs(mechanism.queries, mechanism.limit)

    return Case(
        mechanism=mechanism,
        source=SOURCE.format(number),
        epsilon=epsilon or (lambda: enumerated_epsilon(cells, pairs(), steps=True)),
        cells=cells,
        pairs=pairs,
        steps=True,
    )


def _values(outputs, positive, count, which):
    """Positions and values of the ``which``-th positives of rows with ``count`` of them."""
    rows = np.flatnonzero(count > which)
    at = np.argmax(np.cumsum(positive[rows], axis=1) == which + 1, axis=1)
    return rows, at, outputs[rows, at]


def _numbers_index(mechanism, outputs, positive, value_cells, cell_of):
    """Cell of rows of numbers: the answer, and the cells of its values."""
    positions, _, _ = answers(mechanism.queries, mechanism.limit)
    sizes = np.array([value_cells ** len(places) for places in positions])
    offsets = np.r_[0, np.cumsum(sizes)[:-1]]
    count = positive.sum(axis=1)
    within = np.zeros(len(outputs), dtype=int)
    for which in range(mechanism.positives):
        rows, at, values = _values(outputs, positive, count, which)
        within[rows] = within[rows] * value_cells + cell_of(values, at)
    return offsets[answer_index(positive, mechanism.queries, mechanism.limit)] + within


def numerical_case(mechanism):
    def cells(x, y, fine=24):
        levels_x, levels_y = np.asarray(x, float), np.asarray(y, float)
        differ = levels_x != levels_y
        nothing = np.r_[1.0, np.zeros(fine + 1)]
        parts = [
            laplace_masses(abs(a - b) / mechanism.value_scale, fine) if a != b else (nothing, nothing)
            for a, b in zip(x, y, strict=True)
        ]
        positions, _, _ = answers(mechanism.queries, mechanism.limit)

        def masses(data, side):
            law = answer_law(mechanism, tuple(data))
            return np.concatenate(
                [
                    mass * combination_cells([parts[place][side] for place in places] or [np.ones(1)])
                    for mass, places in zip(law, positions, strict=True)
                ]
            )

        def cell_of(values, at):
            found = np.zeros(len(values), dtype=int)
            rows = np.flatnonzero(differ[at])
            found[rows] = laplace_index(values[rows], levels_x[at[rows]], levels_y[at[rows]], fine)
            return found

        def index(outputs):
            # A value is 0 or -1000 with probability 0.
            return _numbers_index(mechanism, outputs, (outputs != 0) & (outputs != BELOW), fine + 2, cell_of)

        return Cells(p=masses(x, 0), q=masses(y, 1), index=index)

    def coarse(x, y):
        return cells(x, y, 1)

    def pairs():
        return starting_pairs(mechanism.queries, mechanism.limit)

    return Case(
        mechanism=mechanism,
        source="Wang, Ding, Wang, Kifer, Zhang, PLDI 2019; T = 1, c = 2 and 10 queries as in DP-Sniper",
        # The values are independent given the answer, and their largest log-ratio is in the outermost cells.
        epsilon=lambda: enumerated_epsilon(coarse, pairs(), steps=True),
        cells=cells,
        pairs=pairs,
        steps=True,
        coarse=coarse,
    )


def value_edges(mechanism, fine):
    """Edges of the cells of a noisy answer: finer where the answers lie."""
    far = mechanism.query_scale * np.geomspace(0.05, 14, fine)
    return np.unique(np.r_[inputs.LOW - far, np.linspace(inputs.LOW, inputs.HIGH, fine), inputs.HIGH + far])


@lru_cache(maxsize=256)
def numbers_law(mechanism, data, fine):
    """Masses of all answers with the cells of their numbers (Algorithm 3): exact, given the threshold's noise.

    A noisy answer v counts as positive where it is above the noisy threshold, and both are given by one integral.
    """
    positions, _, negatives = answers(mechanism.queries, mechanism.limit)
    edges = value_edges(mechanism, fine)
    nodes, weights = _quadrature(mechanism, np.r_[edges, data])
    below, _ = _log_below(mechanism, data, nodes)
    # Mass of every cell above the threshold, shape (queries, cells, nodes): the part of [low, high) beyond it.
    low, high = np.r_[-np.inf, edges], np.r_[edges, np.inf]
    levels = np.asarray(data, float)
    distinct, which = np.unique(levels, return_inverse=True)
    start = np.maximum(low[:, None], nodes + mechanism.threshold)
    reached = start < high[:, None]
    table = []
    for level in distinct:
        beyond = laplace_cdf(level - start, mechanism.query_scale) - laplace_cdf(
            level - high[:, None], mechanism.query_scale
        )
        table.append(np.where(reached, np.maximum(beyond, 0.0), 0.0))
    masses = []
    for places, negative in zip(positions, negatives, strict=True):
        given = np.exp(negative @ below) * weights
        if not places:
            masses.append(given.sum(keepdims=True))
        elif len(places) == 1:
            masses.append(table[which[places[0]]] @ given)
        else:
            first, second = (table[which[place]] for place in places)
            masses.append(((first * given) @ second.T).ravel())
    return np.concatenate(masses)


def numbers_case(mechanism):
    def cells(x, y, fine=24):
        edges = value_edges(mechanism, fine)

        def index(outputs):
            positive = (outputs != BELOW) & (outputs != ABORTED)
            return _numbers_index(
                mechanism, outputs, positive, len(edges) + 1, lambda values, at: np.searchsorted(edges, values)
            )

        return Cells(p=numbers_law(mechanism, tuple(x), fine), q=numbers_law(mechanism, tuple(y), fine), index=index)

    return Case(
        mechanism=mechanism,
        source=SOURCE.format(3),
        # Every answer contributes a factor of at most e^(1 / scale), whatever the threshold's noise; a small number
        # given out forces the threshold down, where all of them contribute it.
        epsilon=lambda: mechanism.queries / mechanism.query_scale,
        cells=cells,
        pairs=lambda: starting_pairs(mechanism.queries, mechanism.limit),
        steps=True,
        coarse=lambda x, y: cells(x, y, 4),
    )


def cases():
    return [
        answers_case(SparseVector1(), 1, answer_law),
        answers_case(SparseVector2(), 2, renewed_law),
        numbers_case(SparseVector3()),
        answers_case(SparseVector4(), 4, answer_law),
        # Two answers that change their order can be told apart for certain.
        answers_case(SparseVector5(), 5, noiseless_law, epsilon=lambda: math.inf),
        answers_case(SparseVector6(), 6, answer_law),
        numerical_case(NumericalSparseVector()),
    ]
