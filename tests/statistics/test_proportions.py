from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from dpaudit.statistics import clopper_pearson, proportion_lower, proportion_upper
from dpaudit.statistics.proportions import binomial_quantile

TRUTHS = [0.0, 1e-6, 0.01, 0.2, 0.37, 0.5, 0.8, 0.999, 1.0]
ALPHAS = [0.5, 0.1, 0.01, 1e-6]


@pytest.mark.parametrize("trials", [1, 2, 7, 40])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_one_sided_bounds_cover_exactly(trials, alpha):
    counts = np.arange(trials + 1)
    lower, upper = proportion_lower(counts, trials, alpha), proportion_upper(counts, trials, alpha)
    # The coverage is smallest just beyond a bound, so that every bound is tried as a truth too.
    for truth in [*TRUTHS, *np.nextafter(lower, 0), *np.nextafter(upper, 1)]:
        mass = binom.pmf(counts, trials, truth)
        assert mass[lower > truth].sum() <= alpha * (1 + 1e-9)
        assert mass[upper < truth].sum() <= alpha * (1 + 1e-9)


@pytest.mark.parametrize("trials", [1, 5, 30])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_two_sided_interval_covers_exactly(trials, confidence):
    intervals = [clopper_pearson(k, trials, confidence) for k in range(trials + 1)]
    for truth in TRUTHS:
        missed = [k for k, (low, high) in enumerate(intervals) if not low <= truth <= high]
        assert binom.pmf(missed, trials, truth).sum() <= (1 - confidence) * (1 + 1e-9)


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (3, 10), (0, 50), (50, 50), (123, 100_000)])
@pytest.mark.parametrize("confidence", [0.9, 0.999, 1 - 1e-6])
def test_interval_is_that_of_scipy(successes, trials, confidence):
    expected = binomtest(successes, trials).proportion_ci(confidence, method="exact")
    np.testing.assert_allclose(clopper_pearson(successes, trials, confidence), expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(("successes", "trials"), [(1, 1), (1, 25), (3, 10), (9, 10), (24, 25), (25, 25)])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_bounds_are_rounded_outwards(successes, trials, alpha):
    """In rational arithmetic, the tail at the bound is at most alpha, and hardly less."""

    def at_least(k, bound):
        p = Fraction(bound)
        return sum(comb(trials, j) * p**j * (1 - p) ** (trials - j) for j in range(k, trials + 1))

    lower = float(proportion_lower(successes, trials, alpha))
    assert (1 - 1e-9) * alpha < at_least(successes, lower) <= Fraction(alpha)
    upper = float(proportion_upper(successes - 1, trials, alpha))
    assert (1 - 1e-4) * alpha < 1 - at_least(successes, upper) <= Fraction(alpha)


def test_bounds_broadcast_and_reach_the_ends():
    assert proportion_lower(np.array([0, 4]), np.array([[4], [9]]), 0.05).shape == (2, 2)
    assert proportion_lower(0, 10, 0.05) == 0
    assert proportion_upper(10, 10, 0.05) == 1
    assert (proportion_lower(0, 0, 0.05), proportion_upper(0, 0, 0.05)) == (0, 1)


def test_one_sided_bounds_at_the_ends_have_closed_forms():
    assert proportion_upper(0, 1000, 0.01) == pytest.approx(1 - 0.01 ** (1 / 1000), rel=1e-10)
    assert proportion_lower(1000, 1000, 0.01) == pytest.approx(0.01 ** (1 / 1000), rel=1e-10)


@pytest.mark.parametrize("trials", [1, 20, 100_000])
def test_quantiles_are_those_of_scipy(trials):
    probabilities = np.array([1e-9, 0.001, 0.3, 0.5, 0.999])
    for level in (1e-9, 0.025, 0.5, 0.975):
        assert (binomial_quantile(level, trials, probabilities) == binom.ppf(level, trials, probabilities)).all()
    assert binomial_quantile(0.5, trials, np.array([0.0, 1.0])).tolist() == [0, trials]
