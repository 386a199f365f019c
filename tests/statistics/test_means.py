import math

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.statistics import clopper_pearson, mean_interval

FALSE_ALARM = 1e-6
SEED = 20240610
REPEATS = 1500
LAWS = {
    "bernoulli": (lambda rng, n: rng.random(n) < 0.03, 0.03, (0.0, 1.0)),
    "beta": (lambda rng, n: 5 * rng.beta(0.5, 2.0, n) - 1, 0.0, (-1.0, 4.0)),
    "two points": (lambda rng, n: np.where(rng.random(n) < 0.01, 10.0, 0.0), 0.1, (0.0, 10.0)),
    "one point": (lambda rng, n: np.full(n, 2.0), 2.0, (2.0, 3.0)),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("count", [1, 2, 20, 400])
@pytest.mark.parametrize("confidence", [0.6, 0.95])
def test_interval_covers_the_mean(law, count, confidence):
    draw, mean, support = LAWS[law]
    rng = np.random.default_rng(SEED)
    misses = 0
    for _ in range(REPEATS):
        lower, estimate, upper = mean_interval(draw(rng, count), support=support, confidence=confidence)
        assert support[0] <= lower <= estimate <= upper <= support[1]
        misses += not lower <= mean <= upper
    assert misses <= binom.isf(FALSE_ALARM, REPEATS, 1 - confidence)


def test_booleans_are_counted():
    values = np.array([True] * 7 + [False] * 3)
    assert mean_interval(values, support=(0, 1), confidence=0.9)[::2] == clopper_pearson(7, 10, 0.9)


def test_interval_is_the_narrower_of_hoeffding_and_bernstein():
    support, confidence, count = (0.0, 2.0), 0.99, 1000
    hoeffding = 2 * math.sqrt(math.log(4 / 0.01) / (2 * count))
    wide = np.tile([0.0, 2.0], count // 2)
    lower, estimate, upper = mean_interval(wide, support=support, confidence=confidence)
    assert (estimate, upper - lower) == (1, pytest.approx(2 * hoeffding))
    narrow = np.tile([0.99, 1.01], count // 2)
    lower, _, upper = mean_interval(narrow, support=support, confidence=confidence)
    log_term = math.log(8 / 0.01)
    bernstein = math.sqrt(2 * np.var(narrow, ddof=1) * log_term / count) + 7 * 2 * log_term / (3 * (count - 1))
    assert upper - lower == pytest.approx(2 * bernstein)
    assert bernstein < hoeffding
