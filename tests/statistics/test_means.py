import math

import numpy as np
import pytest
from scipy.stats import binom, ttest_1samp

from dpaudit.statistics import BettingMeans, clopper_pearson, mean_interval, student_interval

FALSE_ALARM = 1e-6
SEED = 20240610
REPEATS = 200
LAWS = {
    "bernoulli": (lambda rng, n: rng.random(n) < 0.03, 0.03, (0.0, 1.0)),
    "beta": (lambda rng, n: 5 * rng.beta(0.5, 2.0, n) - 1, 0.0, (-1.0, 4.0)),
    "two points": (lambda rng, n: np.where(rng.random(n) < 0.01, 10.0, 0.0), 0.1, (0.0, 10.0)),
    "one point": (lambda rng, n: np.full(n, 2.0), 2.0, (2.0, 3.0)),
}


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("count", [1, 2, 20, 400])
@pytest.mark.parametrize("confidence", [0.6, 0.95])
def test_interval_covers_the_mean(law, count, confidence):
    draw, mean, support = LAWS[law]
    rng = np.random.default_rng(SEED)
    misses = 0
    # A law of one point is the same every time.
    repeats = REPEATS if law != "one point" else 1
    for _ in range(repeats):
        lower, estimate, upper = mean_interval(draw(rng, count), support=support, confidence=confidence)
        assert support[0] <= lower <= estimate <= upper <= support[1]
        misses += not lower <= mean <= upper
    assert misses <= (binom.isf(FALSE_ALARM, repeats, 1 - confidence) if repeats > 1 else 0)


def test_booleans_are_counted():
    values = np.array([True] * 7 + [False] * 3)
    assert mean_interval(values, support=(0, 1), confidence=0.9)[::2] == clopper_pearson(7, 10, 0.9)


@pytest.mark.parametrize("count", [200, 5000])
def test_interval_is_narrower_than_those_that_need_no_bets(count):
    confidence, rng = 0.9999, np.random.default_rng(SEED)
    log_term = math.log(4 / (1 - confidence))
    hoeffding = math.sqrt(math.log(2 / (1 - confidence)) / (2 * count))
    for values in (rng.random(count), rng.normal(0.5, 0.01, count).clip(0, 1), rng.exponential(0.01, count).clip(0, 1)):
        spread = math.sqrt(2 * np.var(values, ddof=1) * log_term / count)
        bernstein = spread + 7 * log_term / (3 * (count - 1))
        lower, _, upper = mean_interval(values, support=(0.0, 1.0), confidence=confidence)
        # Never below what the normal approximation would give.
        assert 0.9 * spread / math.sqrt(2) < (upper - lower) / 2 < min(hoeffding, bernstein)


def test_interval_moves_with_the_unit_of_measurement():
    values = np.random.default_rng(SEED).beta(2, 3, 500)
    plain = mean_interval(values, support=(0.0, 1.0), confidence=0.99)
    moved = mean_interval(7 - 3 * values, support=(4.0, 7.0), confidence=0.99)
    np.testing.assert_allclose(moved[1], 7 - 3 * plain[1])
    # The two sides bet differently, so the mirrored interval is near to the mirror image only.
    assert moved[2] - moved[0] == pytest.approx(3 * (plain[2] - plain[0]), rel=0.1)


def test_student_interval_is_that_of_scipy():
    values = np.random.default_rng(SEED).beta(2, 5, 300)
    expected = ttest_1samp(values, 0.0).confidence_interval(0.99)
    lower, estimate, upper = student_interval(values, support=(0.0, 1.0), confidence=0.99)
    assert (lower, upper) == pytest.approx((expected.low, expected.high), rel=1e-12)
    assert estimate == values.mean()


def test_student_interval_is_rigorous_where_it_must_be():
    rng = np.random.default_rng(SEED)
    for values in (rng.random(500) < 0.1, rng.random(99), np.full(500, 0.25)):
        options = {"support": (0.0, 1.0), "confidence": 0.99}
        assert student_interval(values, **options) == mean_interval(values, **options)


@pytest.mark.slow
def test_student_interval_covers_on_a_skewed_law():
    rng, repeats = np.random.default_rng(SEED), 2000
    missed = 0
    for _ in range(repeats):
        lower, _, upper = student_interval(rng.beta(0.5, 5, 400), support=(0.0, 1.0), confidence=0.99)
        missed += not lower <= 0.5 / 5.5 <= upper
    assert missed <= binom.isf(FALSE_ALARM, repeats, 0.013)


@pytest.mark.parametrize("confidence", [0.6, 0.999])
def test_either_side_gets_half_of_the_error_probability(confidence):
    values = np.random.default_rng(1).beta(2, 5, 40)
    lower, _, upper = mean_interval(values, support=(0.0, 1.0), confidence=confidence)
    game = BettingMeans(np.full(1, (1 - confidence) / 2), horizon=len(values))
    game.update(len(values), [values])
    below, above = game.bounds()
    assert (lower, upper) == (pytest.approx(below[0]), pytest.approx(above[0]))
