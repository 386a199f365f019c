"""Runs of KwikSort with what they ask for, and its expected cost: against recursions on lists and the law."""

import itertools

import numpy as np
import pytest

from dpaudit.errors import DataError, ParameterError
from dpaudit.rankings import all_rankings, kwiksort_expected_cost, kwiksort_law, kwiksort_runs

SEED = 20261121


def probabilities(m, seed=SEED):
    table = np.zeros((m, m))
    i, j = np.triu_indices(m, k=1)
    table[i, j] = np.random.default_rng(seed).random(len(i))
    table[j, i] = 1 - table[i, j]
    return table


def possible_transcripts(order, cap):
    """Sets of the first `cap` pairs compared, left part first, over all pivots and loops, by recursion on lists."""

    def paths(parts, asked):
        if not parts:
            yield asked
            return
        head, *rest = parts
        if not head:
            yield from paths(rest, asked)
            return
        for place, pivot in enumerate(head):
            left, right = head[:place], head[place + 1 :]
            for loop in itertools.permutations([*left, *right]):
                more = [frozenset((pivot, item)) for item in loop]
                yield from paths([left, right, *rest], [*asked, *more])

    return {frozenset(asked[:cap]) for asked in paths([order], [])}


@pytest.mark.parametrize("cap", [0, 2, 4, 6])
def test_asked_pairs_are_those_of_a_recursion_left_before_right(cap):
    m, runs, rng = 4, 20_000, np.random.default_rng(SEED)
    before = np.broadcast_to(np.triu(np.ones((m, m), dtype=bool), 1), (runs, m, m))
    made = kwiksort_runs(before, cap, rng)
    assert (made.rankings == np.arange(m)).all()
    i, j = np.triu_indices(m, k=1)
    assert (made.asked == made.asked.transpose(0, 2, 1)).all()
    assert (made.asked[:, i, j].sum(axis=1) == np.minimum(made.comparisons, cap)).all()
    seen = {
        frozenset(frozenset((int(i[k]), int(j[k]))) for k in np.flatnonzero(row))
        for row in np.unique(made.asked[:, i, j], axis=0)
    }
    assert seen == possible_transcripts(list(range(m)), cap)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_expected_cost_with_given_probabilities(m):
    table, rng = probabilities(m), np.random.default_rng(SEED)
    upper = np.triu(rng.integers(0, 6, (m, m)), 1)
    counts = upper + np.triu(5 - upper, 1).T
    law = kwiksort_law(table)
    costs = [sum(counts[b, a] for a, b in itertools.combinations(order, 2)) for order in all_rankings(m).tolist()]
    assert kwiksort_expected_cost(counts, table) == pytest.approx(float(law @ costs), rel=1e-12)


def test_wrong_arguments_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ParameterError, match="shape"):
        kwiksort_expected_cost(np.zeros((3, 3), dtype=int), np.full((2, 2), 0.5))
    with pytest.raises(ParameterError, match="cap"):
        kwiksort_runs(np.zeros((1, 1, 1), dtype=bool), -1, rng)
    with pytest.raises(DataError, match="booleans"):
        kwiksort_runs(np.zeros((1, 2, 2)), 1, rng)
    with pytest.raises(DataError, match="exactly one"):
        kwiksort_runs(np.zeros((1, 2, 2), dtype=bool), 1, rng)
