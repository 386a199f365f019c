"""Bounds from fixed numbers of rows: exact coverage over coins and trials, and the numbers of coins."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.claims.guarantees import ApproximateDP
from dpaudit.statistics import forced_lower, log_ratio_lower
from dpaudit.statistics.finite import SPILL, bound_by_coins, share_of_fixed, tosses_for, trials_by_coins


@pytest.mark.parametrize("rows", [(1, 1), (1, 50), (3, 2), (20, 20), (100, 37), (1000, 4000), (10**6, 10**6)])
def test_coins_rarely_ask_for_more_than_there_is(rows):
    def spills(tosses, coin):
        return binom.sf(rows[0], tosses, coin) + binom.sf(rows[1], tosses, 1 - coin)

    tosses, coin = tosses_for(rows)
    assert coin == rows[0] / sum(rows)
    assert spills(tosses, coin) <= SPILL < spills(tosses + 1, coin)
    assert tosses >= min(rows)
    for seed in range(20):
        found = trials_by_coins(rows, np.random.default_rng(seed))
        assert (sum(found.trials), found.coin) == (tosses, coin)
        assert found.fits(rows) == (found.trials[0] <= rows[0] and found.trials[1] <= rows[1])


def test_few_rows_are_lost_of_many():
    assert tosses_for((100, 100))[0] > 0.8 * 200
    assert tosses_for((80_000, 80_000))[0] > 0.99 * 160_000


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.01])
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.5), (0.4, 0.2), (0.9, 0.3), (0.05, 0.01), (1.0, 0.6)])
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_coverage(alpha, p, q, delta):
    guarantee = ApproximateDP(0.0, delta)
    true = guarantee.forces(p, q)
    for rows in ((9, 9), (6, 14), (15, 5)):
        tosses, coin = tosses_for(rows)
        wrong = 0.0
        for first in range(tosses + 1):
            trials = first, tosses - first
            weight = binom.pmf(first, tosses, coin)
            if first > rows[0] or tosses - first > rows[1]:
                # Two bounds on all rows, with the same error probability.
                for hits in itertools.product(range(rows[0] + 1), range(rows[1] + 1)):
                    mass = binom.pmf(hits[0], rows[0], p) * binom.pmf(hits[1], rows[1], q)
                    if mass > 1e-12:
                        bound = forced_lower(guarantee, hits[0], rows[0], hits[1], rows[1], alpha=alpha / (1 + SPILL))
                        wrong += weight * mass * (bound > true + 1e-9)
                continue
            for hits in itertools.product(range(trials[0] + 1), range(trials[1] + 1)):
                mass = binom.pmf(hits[0], trials[0], p) * binom.pmf(hits[1], trials[1], q)
                if mass > 1e-12:
                    bound = bound_by_coins(guarantee, hits, trials, coin=coin, alpha=alpha / (1 + SPILL))
                    wrong += weight * mass * (bound > true + 1e-9)
        assert wrong <= alpha


def test_a_fair_coin_gives_the_bound_by_the_ratio():
    for hits in ((30, 10), (5, 0), (10, 10), (0, 3)):
        expected = log_ratio_lower(*hits, alpha=0.01)
        bound = bound_by_coins(ApproximateDP(0.0), hits, (50, 50), coin=0.5, alpha=0.01)
        assert bound == pytest.approx(expected, abs=1e-12)
    # Twice the rows on the likelier side are worth a factor of two, and no more.
    one = bound_by_coins(ApproximateDP(0.0), (400, 50), (1000, 500), coin=2 / 3, alpha=0.01)
    other = bound_by_coins(ApproximateDP(0.0), (400, 50), (1000, 1000), coin=0.5, alpha=0.01)
    assert one == pytest.approx(other - math.log(2), abs=1e-9)


def test_the_count_that_matters_more_gets_more():
    rare = share_of_fixed(ApproximateDP(0.0, 1e-3), (0.5, 0.001), (1000, 1000), alpha=0.01)
    common = share_of_fixed(ApproximateDP(0.0, 0.3), (0.4, 0.5), (1000, 1000), alpha=0.01)
    assert rare <= 0.35
    assert 0 < common < 1
