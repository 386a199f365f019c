import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import kstest, norm

from dpaudit.errors import ParameterError
from dpaudit.laws import GaussianLaw, compare
from dpaudit.randomizers import GaussianNoise

FALSE_ALARM = 1e-6
SEED = 20261121


def exact_delta(ratio, epsilon):
    """Balle and Wang, Theorem 8, for distance `ratio` in standard deviations, in plain arithmetic."""
    return ndtr(ratio / 2 - epsilon / ratio) - math.exp(epsilon) * ndtr(-ratio / 2 - epsilon / ratio)


@pytest.mark.parametrize(("value", "scale"), [(0.0, 1.0), (-3.0, 0.2), (10.0, 50.0)])
def test_sampler_follows_the_law(value, scale):
    noise = GaussianNoise(scale)
    samples = noise.randomize(np.full(100_000, value), np.random.default_rng(SEED))
    assert noise.law(value) == GaussianLaw(value, scale)
    assert kstest(samples, norm(value, scale).cdf).pvalue > FALSE_ALARM


def test_noise_is_drawn_afresh_for_every_value():
    noisy = GaussianNoise(1.0).randomize(np.zeros((3, 4)), np.random.default_rng(SEED))
    assert noisy.shape == (3, 4)
    assert len(np.unique(noisy)) == 12


@pytest.mark.parametrize("sensitivity", [0.01, 1.0, 7.0])
@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-12])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0, 20.0])
def test_analytic_is_the_least_noise(epsilon, delta, sensitivity):
    noise = GaussianNoise.analytic(epsilon, delta, sensitivity=sensitivity)
    assert exact_delta(sensitivity / noise.scale, epsilon) == pytest.approx(delta, rel=1e-7)
    assert compare(noise.law(sensitivity), noise.law(0.0)).delta(epsilon).upper <= delta
    less = GaussianNoise(noise.scale * (1 - 1e-9))
    assert compare(less.law(sensitivity), less.law(0.0)).delta(epsilon).lower > delta


def test_classical_holds_below_one_and_fails_at_a_large_epsilon():
    for epsilon in (0.01, 0.1, 0.5, 0.99):
        for delta in (1e-2, 1e-5, 1e-10):
            scale = GaussianNoise.classical(epsilon, delta, sensitivity=1.0).scale
            assert scale == math.sqrt(2 * math.log(1.25 / delta)) / epsilon
            assert exact_delta(1 / scale, epsilon) <= delta
    scale = GaussianNoise.classical(20.0, 1e-2, sensitivity=1.0).scale
    assert exact_delta(1 / scale, 20.0) > 1e-2


def test_log_below_is_accurate_in_both_tails():
    noise = GaussianNoise(2.0)
    thresholds = np.array([-70.0, -3.0, 0.0, 1e-9, 3.0, 70.0])
    np.testing.assert_allclose(noise.log_below(thresholds), norm(0, 2).logcdf(thresholds), rtol=1e-12)


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
def test_impossible_scale_is_refused(scale):
    with pytest.raises(ParameterError, match="scale must be a finite number above 0"):
        GaussianNoise(scale)


@pytest.mark.parametrize("calibration", [GaussianNoise.classical, GaussianNoise.analytic])
@pytest.mark.parametrize(
    ("epsilon", "delta", "sensitivity", "named"),
    [(0.0, 0.1, 1.0, "epsilon"), (math.nan, 0.1, 1.0, "epsilon"), (1.0, 0.0, 1.0, "delta"), (1.0, 1.0, 1.0, "delta"),
     (1.0, 0.1, 0.0, "sensitivity"), (1.0, 0.1, math.inf, "sensitivity")],
)  # fmt: skip
def test_impossible_targets_are_refused(calibration, epsilon, delta, sensitivity, named):
    with pytest.raises(ParameterError, match=f"{named} must be"):
        calibration(epsilon, delta, sensitivity=sensitivity)
