from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy.stats import kendalltau

from dpaudit.errors import DataError, ParameterError
from dpaudit.rankings import (
    Profile,
    all_rankings,
    average_kendall_tau,
    kendall_cost,
    kendall_tau,
    pairwise_counts,
    positions,
    ranking_with_inversions,
)


def brute_tau(a, b):
    return sum((a.index(j) < a.index(k)) != (b.index(j) < b.index(k)) for j, k in combinations(range(len(a)), 2))


def test_all_pairs_of_rankings_against_loops():
    rankings = all_rankings(4)
    found = kendall_tau(rankings[:, None], rankings[None])
    assert found.tolist() == [[brute_tau(a, b) for b in rankings.tolist()] for a in rankings.tolist()]


def test_against_scipy():
    rng = np.random.default_rng(2)
    a, b = (rng.permuted(np.tile(np.arange(9), (40, 1)), axis=1) for _ in range(2))
    distance = kendall_tau(a, b)
    for i in range(40):
        tau = kendalltau(positions(a[i]), positions(b[i])).statistic
        assert distance[i] == round((1 - tau) * comb(9, 2) / 2)


def test_distances_of_five_are_the_mahonian_numbers():
    # OEIS A008302, row 5
    distance = kendall_tau(all_rankings(5), np.arange(5))
    assert np.bincount(distance).tolist() == [1, 4, 9, 15, 20, 22, 20, 15, 9, 4, 1]


def test_broadcasting_and_errors():
    assert kendall_tau([0, 1, 2], [2, 1, 0]).shape == ()
    assert kendall_tau([[0, 1]] * 3, [1, 0]).tolist() == [1, 1, 1]
    with pytest.raises(DataError, match="of 2 and of 3"):
        kendall_tau([0, 1], [0, 1, 2])
    with pytest.raises(DataError, match="do not fit"):
        kendall_tau([[0, 1]] * 3, [[0, 1]] * 2)


@pytest.fixture
def rankings():
    weights = np.linspace(1, 3, 24)
    return all_rankings(4)[np.random.default_rng(4).choice(24, size=50, p=weights / weights.sum())]


def test_cost_is_the_sum_over_agents(rankings):
    candidates = all_rankings(4)
    expected = [sum(brute_tau(r, agent) for agent in rankings.tolist()) for r in candidates.tolist()]
    assert kendall_cost(candidates, pairwise_counts(rankings)).tolist() == expected


def test_average_is_over_agents(rankings):
    profile = Profile.from_rankings(rankings)
    candidates = all_rankings(4).reshape(4, 6, 4)
    expected = kendall_tau(candidates[:, :, None], rankings).mean(axis=-1)
    np.testing.assert_allclose(average_kendall_tau(candidates, profile), expected, rtol=1e-14)
    np.testing.assert_allclose(average_kendall_tau(candidates, pairwise_counts(profile)), expected, rtol=1e-14)
    np.testing.assert_allclose(average_kendall_tau(candidates, profile, normalized=True), expected / 6, rtol=1e-14)


def test_average_of_one_alternative_is_zero():
    assert average_kendall_tau([0], Profile([[0]], [4])) == 0
    assert average_kendall_tau([0], Profile([[0]], [4]), normalized=True) == 0


def test_average_refuses_uneven_counts():
    with pytest.raises(DataError, match="different totals"):
        average_kendall_tau([0, 1, 2], [[0, 1, 1], [1, 0, 1], [2, 1, 0]])
    with pytest.raises(DataError, match="give the same number"):
        kendall_cost([0, 1, 2], [[0, 1], [1, 0]])


def test_a_ranking_with_each_number_of_inversions():
    for m in (1, 2, 4, 6):
        for inversions in range(comb(m, 2) + 1):
            ranking = ranking_with_inversions(m, inversions)
            assert kendall_tau(ranking, np.arange(m)) == inversions
    for wrong in (-1, 7):
        with pytest.raises(ParameterError):
            ranking_with_inversions(4, wrong)
