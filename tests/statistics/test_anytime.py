"""Bounds that hold at all times, exactly: every path is accounted for, stopped at the moment that suits it worst."""

import math
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.statistics import anytime_lower, anytime_upper, proportion_lower, proportion_upper

SHARES = [0.02, 0.3, 0.5, 0.9]
PRIORS = [(0.5, 0.5), (3.5, 2.5), (40.5, 20.5)]


def wrong_at_any_time(bound, share, trials):
    """Probability that ``bound(successes, failures)`` ever misses, summed over the lattice of counts."""
    alive, missed = np.array([1.0]), 0.0
    for n in range(1, trials + 1):
        alive = np.r_[alive * (1 - share), 0.0] + np.r_[0.0, alive * share]
        for k in np.flatnonzero(alive):
            if bound(int(k), n - int(k)):
                missed += alive[k]
                alive[k] = 0.0
    return missed


@cache
def lower(k, failures, alpha, prior):
    return anytime_lower(k, failures, alpha, prior=prior)


@cache
def upper(k, failures, alpha, prior):
    return anytime_upper(k, failures, alpha, prior=prior)


@pytest.mark.slow
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("trials", [12, 100])
def test_the_bounds_are_ever_wrong_with_probability_alpha_at_most(share, prior, trials):
    alpha = 0.2
    assert wrong_at_any_time(lambda k, f: lower(k, f, alpha, prior) > share, share, trials) <= alpha
    assert wrong_at_any_time(lambda k, f: upper(k, f, alpha, prior) < share, share, trials) <= alpha


@pytest.mark.slow
def test_they_use_a_good_part_of_their_alpha():
    alpha, prior = 0.2, (0.5, 0.5)
    assert wrong_at_any_time(lambda k, f: lower(k, f, alpha, prior) > 0.5, 0.5, 100) > alpha / 5


def test_a_bound_for_one_time_that_is_looked_at_every_time_is_wrong_too_often():
    """What the mixture is for: Clopper and Pearson's bound at every look."""
    alpha = 0.2
    assert wrong_at_any_time(lambda k, f: proportion_lower(k, k + f, alpha) > 0.5, 0.5, 100) > 2 * alpha


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("prior", PRIORS)
def test_what_is_refuted_is_a_martingale_at_its_threshold(share, prior):
    """Enumeration of all paths: evidence is fair at every step, and the bounds are where it reaches 1 / alpha."""
    trials, alpha = 10, 0.3

    def evidence(path):
        """Chain of predictive probabilities of the beta law against the null's; by Bayes, not by beta functions."""
        value, (a, b) = 1.0, prior
        for bit in path:
            predicted = a / (a + b) if bit else b / (a + b)
            value *= predicted / (share if bit else 1 - share)
            a, b = a + bit, b + 1 - bit
        return value

    for n in range(trials):
        for path in product([0, 1], repeat=n):
            step = share * evidence((*path, 1)) + (1 - share) * evidence((*path, 0))
            assert step == pytest.approx(evidence(path))
            k = sum(path)
            refuted = evidence(path) >= 1 / alpha
            assert (lower(k, n - k, alpha, prior) > share * (1 + 1e-8)) == (refuted and k > n * share)
            assert (upper(k, n - k, alpha, prior) < share * (1 - 1e-8)) == (refuted and k < n * share)


COUNTS = [(1, 0), (1, 9), (3, 7), (50, 50), (5, 99_995), (900, 100), (10_000, 0), (4_000_000, 1_000_000)]


@pytest.mark.parametrize(("successes", "failures"), COUNTS)
@pytest.mark.parametrize("alpha", [0.1, 1e-3, 1e-9])
def test_they_are_beyond_the_bounds_for_one_time_but_not_far(successes, failures, alpha):
    trials = successes + failures
    share = successes / trials
    fixed = proportion_lower(successes, trials, alpha), proportion_upper(successes, trials, alpha)
    # A law of the proportion learned from a tenth as many trials, as the judging sample gives.
    prior = (successes / 10 + 0.5, failures / 10 + 0.5)
    low, high = (bound(successes, failures, alpha, prior=prior) for bound in (anytime_lower, anytime_upper))
    assert low < fixed[0]
    assert high > fixed[1] or high == 1
    if min(successes, failures) >= 50:
        # In standard errors, the root of 2 log(1 / alpha) + log(11) in place of a normal quantile.
        farthest = {0.1: 2.2, 1e-3: 1.5, 1e-9: 1.3}[alpha]
        assert share - low < farthest * (share - fixed[0])
        assert high - share < farthest * (fixed[1] - share)
    assert low > fixed[0] * 1e-2
    assert failures == 0 or 1 - high > 1e-2 * (1 - fixed[1])


def test_a_law_nearer_to_the_truth_is_tighter():
    bounds = [anytime_lower(90, 10, 0.01, prior=prior) for prior in ((0.5, 0.5), (9.5, 1.5), (45.5, 5.5))]
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1] < 0.9


def test_upper_and_lower_bounds_mirror_each_other():
    for k, failures in [(3, 17), (17, 3), (0, 5), (400, 1)]:
        mirrored = 1 - anytime_upper(failures, k, 0.01, prior=(2.5, 1.5))
        assert anytime_lower(k, failures, 0.01, prior=(1.5, 2.5)) == pytest.approx(mirrored, abs=1e-7)


def test_nothing_seen_bounds_nothing():
    assert (anytime_lower(0, 0, 0.1), anytime_upper(0, 0, 0.1)) == (0, 1)
    assert (anytime_lower(0, 9, 0.1), anytime_upper(9, 0, 0.1)) == (0, 1)


def test_events_that_never_happened_have_a_closed_form():
    """B(1/2, n + 1/2) / B(1/2, 1/2) = (1 - s)^n / alpha; the left side is a Wallis ratio."""
    n, alpha = 50, 0.01
    wallis = math.prod((2 * i - 1) / (2 * i) for i in range(1, n + 1))
    assert anytime_upper(0, n, alpha) == pytest.approx(1 - (alpha * wallis) ** (1 / n), rel=1e-6)


@pytest.mark.slow
def test_the_guarantee_on_simulated_paths_that_stop_at_the_worst_moment():
    rng, alpha, share, looks, chunk, repeats = np.random.default_rng(1), 0.1, 0.7, 40, 500, 400
    counts = np.cumsum(rng.binomial(chunk, share, (repeats, looks)), axis=1)
    prior = (70.5, 30.5)
    wrong = 0
    for path in counts.tolist():
        # The bound rises with the successes: the worst look is the one of the largest evidence, so all are tried.
        wrong += any(
            k > share * n and anytime_lower(k, n - k, alpha, prior=prior) > share
            for n, k in zip(range(chunk, chunk * looks + 1, chunk), path, strict=True)
        )
    assert wrong <= binom.isf(1e-6, repeats, alpha)
