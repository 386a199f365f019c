import itertools
import math

import numpy as np
import pytest
from scipy.stats import chisquare

from dpaudit.errors import ParameterError
from dpaudit.rankings import (
    alternative_pairs,
    margin_matrix,
    margins,
    pair_tally,
    pairwise_counts,
    random_subsets,
)

FALSE_ALARM = 1e-6


@pytest.mark.parametrize(("population", "subset"), [(5, 1), (5, 2), (6, 3), (4, 4)])
def test_every_subset_is_as_likely_as_any_other(population, subset):
    rows = random_subsets(population, subset, 60_000, np.random.default_rng(1))
    every = list(itertools.combinations(range(population), subset))
    keys, counts = np.unique(rows, axis=0, return_counts=True)
    assert [tuple(key) for key in keys.tolist()] == every
    assert len(counts) == math.comb(population, subset)
    if len(counts) > 1:
        assert chisquare(counts).pvalue > FALSE_ALARM


@pytest.mark.parametrize("subset", [-1, 4])
def test_a_subset_larger_than_the_population(subset):
    with pytest.raises(ParameterError, match="cannot be drawn"):
        random_subsets(3, subset, 1, np.random.default_rng(0))


def test_tallies_are_sums_by_pair():
    pairs, values = np.array([[0, 2], [2, 1]]), np.array([[1.0, -1.0], [0.5, 2.0]])
    assert pair_tally(pairs, values, 4).tolist() == [1.0, 2.0, -0.5, 0.0]


def test_margins_by_pair_fill_the_matrix_of_margins():
    rankings = np.random.default_rng(3).permuted(np.tile(np.arange(5), (7, 1)), axis=1)
    matrix = margins(pairwise_counts(rankings))
    j, l = alternative_pairs(5).T  # noqa: E741
    assert np.array_equal(margin_matrix(np.stack([matrix[j, l]] * 2), 5), np.stack([matrix] * 2))
