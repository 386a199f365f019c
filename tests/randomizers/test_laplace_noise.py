import math

import numpy as np
import pytest
from scipy.stats import kstest, laplace

from dpaudit.errors import ParameterError
from dpaudit.laws import LaplaceLaw, compare
from dpaudit.randomizers import GaussianNoise, LaplaceNoise

FALSE_ALARM = 1e-6
SEED = 20240613


@pytest.mark.parametrize(("value", "scale"), [(0.0, 1.0), (-3.0, 0.2), (10.0, 50.0)])
def test_sampler_follows_the_law(value, scale):
    noise = LaplaceNoise(scale)
    samples = noise.randomize(np.full(100_000, value), np.random.default_rng(SEED))
    assert noise.law(value) == LaplaceLaw(value, scale)
    assert kstest(samples, laplace(value, scale).cdf).pvalue > FALSE_ALARM


def test_noise_is_drawn_afresh_for_every_value():
    noisy = LaplaceNoise(1.0).randomize(np.zeros((3, 4)), np.random.default_rng(SEED))
    assert noisy.shape == (3, 4)
    assert len(np.unique(noisy)) == 12


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(0.1, 1.0), (2.0, 3.0), (1e-6, 5.0)])
def test_for_epsilon_has_that_epsilon(epsilon, sensitivity):
    noise = LaplaceNoise.for_epsilon(epsilon, sensitivity=sensitivity)
    assert compare(noise.law(0.0), noise.law(sensitivity)).max_divergence() == pytest.approx(epsilon, rel=1e-12)


@pytest.mark.parametrize("scale", [0.3, 1.0, 7.0])
def test_log_below_is_accurate_in_both_tails(scale):
    noise = LaplaceNoise(scale)
    deep = -math.log(1e-300) - math.log(2)
    thresholds = scale * np.array([-deep, -100.0, -1.0, -1e-9, 0.0, 1e-9, 1.0, 20.0])
    np.testing.assert_allclose(noise.log_below(thresholds), laplace(0, scale).logcdf(thresholds), rtol=1e-12)
    assert noise.log_below(-deep * scale) == pytest.approx(math.log(1e-300), rel=1e-14)
    # Far above, log(1 - s) is -s, where s is the mass above the threshold.
    above = scale * np.array([40.0, 100.0, deep])
    np.testing.assert_allclose(noise.log_below(above), -laplace(0, scale).sf(above), rtol=1e-12)
    assert noise.log_below(deep * scale) == pytest.approx(-1e-300, rel=1e-12)


def test_log_below_at_infinity():
    np.testing.assert_array_equal(LaplaceNoise(2.0).log_below([-math.inf, math.inf]), [-math.inf, 0.0])


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
def test_impossible_scale_is_refused(scale):
    with pytest.raises(ParameterError, match="scale must be a finite number above 0"):
        LaplaceNoise(scale)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan])
def test_impossible_epsilon_is_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon must be above 0"):
        LaplaceNoise.for_epsilon(epsilon, sensitivity=1.0)


@pytest.mark.parametrize("noise", [LaplaceNoise(0.7), GaussianNoise(0.7)], ids=["laplace", "gaussian"])
def test_density_is_the_derivative_of_the_distribution(noise):
    x, step = np.linspace(-3, 3, 61) + 0.011, 1e-5
    below = np.exp(noise.log_below(np.stack([x - step, x + step])))
    assert np.exp(noise.log_density(x)) == pytest.approx((below[1] - below[0]) / (2 * step), rel=1e-6)
