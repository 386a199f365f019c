"""Errors of positional rules under Gaussian noise: exact against simulated, limits, and each other."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom, multivariate_normal, norm

from dpaudit import ParameterError
from dpaudit.catalog.shang2014.exact_errors import (
    largest_pair_distance,
    order_kept_probability,
    pair_distance_density,
    pair_flip_probability,
    three_way_error,
)
from dpaudit.catalog.shang2014.positional import PositionalRule

FALSE_ALARM = 1e-6
SEED = 20261121
BORDA = PositionalRule.named("borda", 3)
RULES = ["borda", "plurality", "veto", "1:0.2:0"]


def named(name, m=3):
    return PositionalRule.named(name, m)


def uniform_scores(rule, runs, noise, rng):
    """Total scores of uniform shares, without and with noise on every share; independent of the code under test."""
    places = np.array([[order.index(j) for j in range(len(order))] for order in permutations(rule.alternatives)])
    scores = np.array(rule.scores)[places]
    shares = rng.dirichlet(np.ones(len(scores)), runs)
    return shares @ scores, (shares + noise * rng.normal(size=shares.shape)) @ scores


def permutations(m):
    return list(itertools.permutations(range(m)))


def assert_rate(count, runs, probability):
    assert min(binom.cdf(count, runs, probability), binom.sf(count - 1, runs, probability)) > FALSE_ALARM / 2


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("noise", [0.01, 0.1, 1.0])
def test_the_exact_error_rate_is_what_simulation_shows(name, noise):
    rule, runs = named(name), 40_000
    truth, noisy = uniform_scores(rule, runs, noise, np.random.default_rng(SEED))
    wrong = (np.argsort(truth, axis=1) != np.argsort(noisy, axis=1)).any(axis=1)
    error, mass = three_way_error(rule, noise)
    assert mass == pytest.approx(1, abs=1e-12)
    assert_rate(int(wrong.sum()), runs, error)


@pytest.mark.parametrize("name", RULES)
def test_the_error_rate_far_from_hyperplanes_is_what_simulation_shows(name):
    rule, runs, noise, beyond = named(name), 40_000, 0.08, 0.05
    truth, noisy = uniform_scores(rule, runs, noise, np.random.default_rng(SEED))
    gaps = np.abs(truth[:, [0, 1, 0]] - truth[:, [1, 2, 2]]).min(axis=1) / rule.gap_norm
    wrong = (np.argsort(truth, axis=1) != np.argsort(noisy, axis=1)).any(axis=1)
    error, mass = three_way_error(rule, noise, beyond=beyond)
    assert_rate(int((gaps > beyond).sum()), runs, mass)
    assert_rate(int((wrong & (gaps > beyond)).sum()), runs, error)


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_limits_of_the_error_rate(name):
    rule = named(name)
    assert three_way_error(rule, 1e5)[0] == pytest.approx(5 / 6, abs=1e-5)
    at_zero = float(pair_distance_density(rule, 0.0))
    slope = 3 * at_zero * math.sqrt(2 / math.pi)
    assert three_way_error(rule, 1e-6)[0] == pytest.approx(slope * 1e-6, rel=1e-4)
    assert three_way_error(rule, 0.0)[0] == 0
    assert three_way_error(rule, 0.1, beyond=largest_pair_distance(rule)) == (0.0, 0.0)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("noise", [1e-3, 0.05, 0.5])
def test_the_pairs_bound_the_error_rate_from_both_sides(name, noise):
    rule = named(name)
    flip, error = pair_flip_probability(rule, noise), three_way_error(rule, noise)[0]
    # At least one of two adjacent pairs is reversed where the ranking changes, and a reversed pair changes it.
    assert flip < error < 3 * flip


@pytest.mark.parametrize(("name", "m"), [("borda", 3), ("plurality", 4), ("borda", 5)])
@pytest.mark.parametrize("within", [math.inf, 0.04])
def test_the_probability_of_a_reversal_is_what_simulation_shows(name, m, within):
    rule, runs, noise = named(name, m), 20_000, 0.03
    truth, noisy = uniform_scores(rule, runs, noise, np.random.default_rng(SEED))
    gap, moved = truth[:, 0] - truth[:, 1], noisy[:, 0] - noisy[:, 1]
    reversed_pairs = (np.sign(gap) != np.sign(moved)) & (np.abs(gap) / rule.gap_norm < within)
    assert_rate(int(reversed_pairs.sum()), runs, pair_flip_probability(rule, noise, within=within))


def test_the_density_at_zero_of_borda_and_plurality():
    # The divided difference by hand: 5 * 2 / 4 for plurality; for Borda sqrt(12) * 25 / 36.
    assert float(pair_distance_density(named("plurality"), 0.0)) == pytest.approx(2.5, rel=1e-12)
    assert float(pair_distance_density(BORDA, 0.0)) == pytest.approx(math.sqrt(12) * 25 / 36, rel=1e-12)
    assert largest_pair_distance(BORDA) == pytest.approx(1 / math.sqrt(3))
    assert largest_pair_distance(named("plurality")) == pytest.approx(1 / 2)


@pytest.mark.parametrize("m", [2, 3, 4, 5])
def test_the_order_is_kept_as_often_as_its_gaps_stay_positive(m):
    scores, noise = np.random.default_rng(m).normal(size=m), 0.8
    gaps = -np.diff(-np.sort(-scores))
    covariance = 2 * np.eye(m - 1) - np.eye(m - 1, k=1) - np.eye(m - 1, k=-1)
    exact = multivariate_normal(np.zeros(m - 1), noise**2 * covariance, seed=1).cdf(gaps)
    values = order_kept_probability(np.tile(scores, (200_000, 1)), noise, np.random.default_rng(SEED))
    assert values.min() >= 0
    assert values.max() <= 1
    assert abs(values.mean() - exact) < 5.5 * values.std() / math.sqrt(len(values)) + 1e-5


def test_two_scores_are_kept_in_order_with_a_normal_probability():
    values = order_kept_probability(np.array([[1.0, 3.0]] * 100_000), 1.5, np.random.default_rng(SEED))
    exact = norm.cdf(2 / (1.5 * math.sqrt(2)))
    assert abs(values.mean() - exact) < 5.5 * values.std() / math.sqrt(len(values))


def test_other_numbers_of_alternatives_are_refused():
    with pytest.raises(ParameterError, match="3 alternatives"):
        three_way_error(named("borda", 4), 0.1)
    with pytest.raises(ParameterError, match="m >= 3"):
        pair_distance_density(named("borda", 2), 0.1)
