"""Gibbs laws of rankings against enumeration, the Mallows model, and samples."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import chisquare

from dpaudit.catalog.hay2017.gibbs import Gibbs
from dpaudit.errors import DataError, ParameterError
from dpaudit.rankings import Mallows, all_rankings, kemeny, kendall_cost, pairwise_counts, ranking_index

FALSE_ALARM = 1e-6


def brute_costs(weights):
    """Cost of every ranking, from the definition."""
    m = len(weights)
    return np.array(
        [
            math.fsum(weights[later][earlier] for earlier, later in itertools.combinations(order, 2))
            for order in itertools.permutations(range(m))
        ]
    )


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("beta", [0.0, 0.3, 4.0, 300.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_against_enumeration(m, beta, seed):
    weights = np.random.default_rng(seed).normal(scale=2.0, size=(m, m))
    law = Gibbs(weights, beta)
    costs = brute_costs(weights)
    log_z = logsumexp(-beta * (costs - costs.min()))
    expected = -beta * (costs - costs.min()) - log_z
    assert law.log_law() == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert law.log_pmf(all_rankings(m)[::-1]) == pytest.approx(expected[::-1], rel=1e-11, abs=1e-11)
    assert law.optimum == pytest.approx(costs.min(), abs=1e-12)
    assert law.log_partition == pytest.approx(log_z, rel=1e-9, abs=1e-11)
    assert law.expected_excess == pytest.approx((np.exp(expected) * (costs - costs.min())).sum(), rel=1e-9, abs=1e-12)
    assert law.expected_cost == pytest.approx((np.exp(expected) * costs).sum(), rel=1e-9, abs=1e-12)


def test_tiny_excess_keeps_its_relative_accuracy():
    # one swap costs 2, everything else much more: the excess is 2 (m - 1) e^(-2 beta) to first order
    m, beta = 6, 100.0
    law = Gibbs(2.0 * np.triu(np.ones((m, m)), k=1), beta)
    assert law.expected_excess == pytest.approx(2 * (m - 1) * math.exp(-2 * beta), rel=1e-12, abs=0)
    assert law.log_partition == pytest.approx((m - 1) * math.exp(-2 * beta), rel=1e-12, abs=0)


def test_an_optimum_above_the_pairwise_minima_is_met():
    # a Condorcet cycle: two of three agents for 0 > 1, 1 > 2, 2 > 0
    counts = pairwise_counts(np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1]]))
    law = Gibbs(counts, 50.0)
    assert law.optimum == kemeny(counts).cost == 4
    assert law.log_partition == pytest.approx(math.log(3), rel=1e-15)
    assert law.expected_excess == pytest.approx(math.exp(-50.0), rel=1e-12, abs=0)


@pytest.mark.parametrize("m", [2, 6, 10, 13])
@pytest.mark.parametrize("theta", [0.05, 0.7, 3.0])
def test_one_ranking_gives_the_mallows_model(m, theta):
    rng = np.random.default_rng(m)
    centre = rng.permutation(m)
    law = Gibbs(7 * pairwise_counts(centre[None]), theta / 7)
    model = Mallows(centre, math.exp(-theta))
    orders = model.sample(50, rng)
    assert law.log_pmf(orders) == pytest.approx(model.log_pmf(orders), rel=1e-10)
    assert law.expected_cost == pytest.approx(7 * model.expected_distance(), rel=1e-10)


@pytest.mark.parametrize("beta", [0.0, 0.4])
def test_samples_follow_the_law(beta):
    weights = np.random.default_rng(5).normal(scale=2.0, size=(4, 4))
    law = Gibbs(weights, beta)
    counts = np.bincount(ranking_index(law.sample(60_000, np.random.default_rng(1))), minlength=24)
    costs = brute_costs(weights)
    expected = np.exp(-beta * costs) / np.exp(-beta * costs).sum() * counts.sum()
    assert chisquare(counts, expected).pvalue > FALSE_ALARM
    # 10 % more or less of beta would be told apart
    for other in (0.9 * beta, 1.1 * beta) if beta else ():
        wrong = np.exp(-other * costs) / np.exp(-other * costs).sum() * counts.sum()
        assert chisquare(counts, wrong).pvalue < FALSE_ALARM


@pytest.mark.slow
def test_samples_of_many_alternatives_have_the_expected_excess():
    rng = np.random.default_rng(3)
    counts = pairwise_counts(rng.permuted(np.tile(np.arange(12), (9, 1)), axis=1))
    law = Gibbs(counts, 0.05)
    sample = law.sample(20_000, rng)
    excess = kendall_cost(sample, counts) - kemeny(counts).cost
    assert law.excess(sample) == pytest.approx(excess)
    # six standard errors: a false alarm has probability 2e-9
    assert abs(excess.mean() - law.expected_excess) < 6 * excess.std() / math.sqrt(len(excess))


def test_equal_seeds_give_equal_samples_and_none_is_an_empty_array():
    law = Gibbs(np.ones((3, 3)), 1.0)
    first, second = (law.sample(5, np.random.default_rng(1)) for _ in range(2))
    assert (first == second).all()
    assert law.sample(0, np.random.default_rng(1)).shape == (0, 3)


def test_bad_arguments_are_refused():
    with pytest.raises(
        ParameterError, match="m is 19; the Gibbs law of rankings is computed over 2\\^m subsets up to m = 18"
    ):
        Gibbs(np.zeros((19, 19)), 1.0)
    with pytest.raises(ParameterError, match="beta is -1"):
        Gibbs(np.zeros((3, 3)), -1.0)
    with pytest.raises(ParameterError, match="beta is inf"):
        Gibbs(np.zeros((3, 3)), math.inf)
    with pytest.raises(DataError, match="shape"):
        Gibbs(np.zeros((3, 2)), 1.0)
    with pytest.raises(DataError, match=r"\[0, 1\] is nan"):
        Gibbs([[0, math.nan], [1, 0]], 1.0)
    with pytest.raises(DataError, match="rankings of 2 alternatives under a law of 3"):
        Gibbs(np.zeros((3, 3)), 1.0).log_pmf([0, 1])
    with pytest.raises(ParameterError, match="m is 9; the law is listed"):
        Gibbs(np.zeros((9, 9)), 1.0).log_law()
    with pytest.raises(ParameterError, match="size"):
        Gibbs(np.zeros((3, 3)), 1.0).sample(-1, np.random.default_rng(0))
