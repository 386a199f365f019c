import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom

from dpaudit.statistics import BettingMeans

FALSE_ALARM = 1e-6
SEED = 20240610
REPEATS = 200
LAWS = {
    "bernoulli": (lambda rng, n: rng.random(n) < 0.03, 0.03),
    "rare": (lambda rng, n: (rng.random(n) < 0.004) * rng.random(n), 0.002),
    "narrow": (lambda rng, n: 0.01 * rng.random(n), 0.005),
    "beta": (lambda rng, n: rng.beta(0.5, 2.0, n), 0.2),
    "zero": (lambda rng, n: np.zeros(n), 0.0),
    "one": (lambda rng, n: np.ones(n), 1.0),
}


def played(columns, alpha, horizon):
    """Bounds at the end, and after every block of the last three quarters."""
    means = BettingMeans(np.asarray(alpha), horizon=horizon)
    found, start = [], 0
    while start < len(columns[0]):
        stop = min(start + means.block_size, len(columns[0]))
        means.update(stop - start, [column[start:stop].astype(float) for column in columns])
        start = stop
        if start >= horizon / 4:
            found.append(means.bounds())
    return means.bounds(), found


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("count", [1, 400])
@pytest.mark.parametrize("alpha", [0.1])
def test_bounds_cover_the_mean_at_every_look(law, count, alpha):
    draw, mean = LAWS[law]
    rng = np.random.default_rng(SEED)
    misses = np.zeros(2, dtype=int)
    for _ in range(REPEATS):
        (lower, upper), looks = played([draw(rng, count)], [alpha], count)
        assert 0 <= lower[0] <= upper[0] <= 1
        misses += [any(low[0] > mean for low, _ in looks), any(high[0] < mean for _, high in looks)]
    assert misses.max() <= binom.isf(FALSE_ALARM, REPEATS, alpha)


def chernoff(mean, count, alpha):
    def excess(other):
        terms = (mean * math.log(mean / other) if mean else 0) + (1 - mean) * math.log((1 - mean) / (1 - other))
        return count * terms - math.log(1 / alpha)

    upper = brentq(excess, max(mean, 1e-12), 1 - 1e-12)
    return (brentq(excess, 1e-12, mean) if mean else 0.0), upper


@pytest.mark.parametrize("rate", [0.0, 1e-3, 0.1, 0.5])
def test_booleans_get_what_chernoff_gives_though_the_stakes_are_learnt(rate):
    count, alpha = 200_000, 1e-4
    values = np.random.default_rng(SEED).random(count) < rate
    (lower, upper), _ = played([values], [alpha], count)
    low, high = chernoff(values.mean(), count, alpha)
    assert upper[0] - values.mean() <= 1.2 * (high - values.mean())
    assert values.mean() - lower[0] <= 1.05 * (values.mean() - low) + 1e-12


def test_values_that_vary_little_are_bounded_below_by_their_deviation_and_above_by_what_may_be_unseen():
    count, alpha = 200_000, 1e-4
    values = 1e-3 * np.random.default_rng(SEED).random(count)
    (lower, upper), _ = played([values], [alpha], count)
    mean = values.mean()
    assert mean - lower[0] < 1.2 * math.sqrt(2 * math.log(1 / alpha) / count) * values.std()
    # A value of 1 may come with this probability and yet be missed.
    assert upper[0] - mean < 1.2 * math.log(1 / alpha) / count


def test_zeros_may_be_left_out_and_means_do_not_disturb_each_other():
    rng = np.random.default_rng(SEED)
    columns = [draw(rng, 5000).astype(float) for draw, _ in LAWS.values()]
    alpha = np.geomspace(1e-6, 0.1, len(columns))
    (lower, upper), _ = played(columns, alpha, 5000)
    for i, column in enumerate(columns):
        (low, high), _ = played([column], alpha[[i]], 5000)
        assert (low[0], high[0]) == pytest.approx((lower[i], upper[i]))
    sparse, dense = (BettingMeans(np.array([0.01]), horizon=64) for _ in range(2))
    values = columns[1][:64]
    sparse.update(64, [values[values > 0]])
    dense.update(64, [values])
    assert sparse.bounds() == dense.bounds()


def test_nothing_seen_bounds_nothing():
    assert [float(side[0]) for side in BettingMeans(np.array([0.1]), horizon=10).bounds()] == [0, 1]
