"""KwikSort with its comparisons counted: against a recursion on lists and against runs."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy.stats import chisquare

from dpaudit.catalog.alabi2022.kwiksort_counted import kwiksort_counted_law, kwiksort_wrong_pairs
from dpaudit.errors import ParameterError
from dpaudit.rankings import (
    all_rankings,
    kwiksort_expected_cost,
    kwiksort_law,
    kwiksort_runs,
    quicksort_comparisons,
    ranking_index,
)

FALSE_ALARM = 1e-6
SEED = 20261121


def probabilities(m, seed=SEED):
    table = np.zeros((m, m))
    i, j = np.triu_indices(m, k=1)
    table[i, j] = np.random.default_rng(seed).random(len(i))
    table[j, i] = 1 - table[i, j]
    return table


def brute_law(before):
    """KwikSort on lists: every pivot, every outcome; the probability of (ranking, number of comparisons)."""

    @cache
    def law(items):
        if not items:
            return {((), 0): 1.0}
        total = {}
        for pivot in items:
            others = [item for item in items if item != pivot]
            for sides in itertools.product((True, False), repeat=len(others)):
                chance = 1 / len(items)
                for item, left in zip(others, sides, strict=True):
                    chance *= before[item, pivot] if left else before[pivot, item]
                lefts = tuple(item for item, left in zip(others, sides, strict=True) if left)
                rights = tuple(item for item, left in zip(others, sides, strict=True) if not left)
                for ((a, x), p), ((b, y), q) in itertools.product(law(lefts).items(), law(rights).items()):
                    key = (*a, pivot, *b), len(others) + x + y
                    total[key] = total.get(key, 0.0) + chance * p * q
        return total

    return law(tuple(range(len(before))))


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_counted_law_against_the_recursion_on_lists(m):
    table = probabilities(m)
    law, brute = kwiksort_counted_law(table), brute_law(table)
    assert law.shape == (math.factorial(m), math.comb(m, 2) + 1)
    for row, order in enumerate(all_rankings(m).tolist()):
        for count in range(law.shape[1]):
            assert law[row, count] == pytest.approx(brute.get((tuple(order), count), 0.0), rel=1e-12)
    assert law.sum(axis=1) == pytest.approx(kwiksort_law(table), rel=1e-12)


def test_counted_law_of_true_comparisons_is_quicksorts():
    before = np.triu(np.ones((6, 6)), 1)
    law = kwiksort_counted_law(before)
    assert law[0] == pytest.approx(quicksort_comparisons(6), rel=1e-12)
    assert law[1:].sum() == 0


@pytest.mark.slow
@pytest.mark.parametrize("m", [3, 4, 5])
def test_runs_follow_the_counted_law(m):
    table, runs = probabilities(m), 100_000
    rng = np.random.default_rng(SEED)
    made = kwiksort_runs(outcomes(table, runs, rng), 2, rng)
    law = kwiksort_counted_law(table)
    counts = np.zeros(law.shape)
    np.add.at(counts, (ranking_index(made.rankings), made.comparisons), 1)
    expected = law.ravel() * runs
    assert counts.ravel()[expected == 0].sum() == 0
    some = expected > 5
    pooled = (
        [*expected[some], expected[~some].sum() + 1e-9],
        [*counts.ravel()[some], counts.ravel()[~some].sum() + 1e-9],
    )
    assert chisquare(pooled[1], pooled[0]).pvalue > FALSE_ALARM


def outcomes(table, runs, rng):
    m = len(table)
    i, j = np.triu_indices(m, k=1)
    before = np.zeros((runs, m, m), dtype=bool)
    before[:, i, j] = rng.random((runs, len(i))) < table[i, j]
    before[:, j, i] = ~before[:, i, j]
    return before


@pytest.mark.parametrize("m", [2, 3, 5, 8])
@pytest.mark.parametrize("flip", [0.0, 0.1, 0.5, 1.0])
def test_wrong_pairs_against_the_recursion_over_subsets(m, flip):
    before = np.where(np.triu(np.ones((m, m)), 1) > 0, 1 - flip, flip)
    unanimous = np.triu(np.ones((m, m), dtype=int), 1)
    assert kwiksort_wrong_pairs(m, flip)[m] == pytest.approx(kwiksort_expected_cost(unanimous, before), abs=1e-12)


def test_wrong_arguments_are_refused():
    with pytest.raises(ParameterError, match="from 1 to 6"):
        kwiksort_counted_law(np.full((7, 7), 0.5))
    with pytest.raises(ParameterError, match="add up to 1"):
        kwiksort_counted_law(np.full((3, 3), 0.4))
    with pytest.raises(ParameterError, match="flip"):
        kwiksort_wrong_pairs(3, 1.5)
    with pytest.raises(ParameterError, match="alternatives"):
        kwiksort_wrong_pairs(0, 0.5)
