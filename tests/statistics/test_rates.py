"""Exponents against power laws in closed form, and the coverage of the fitted ones under noise."""

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.statistics import fitted_exponent, local_exponents

FALSE_ALARM = 1e-6
SEED = 20261121
POINTS = np.geomspace(10, 1000, 8)


@pytest.mark.parametrize("exponent", [-1.5, 0.0, 0.5, 4.0])
@pytest.mark.parametrize("corrected", [False, True])
def test_a_power_law_has_one_local_exponent(exponent, corrected):
    found = local_exponents(POINTS, 7 * POINTS**exponent, corrected=corrected)
    np.testing.assert_allclose([found.lower, found.estimate, found.upper], exponent, atol=1e-9)


def test_the_correction_takes_up_its_own_factor_and_most_of_a_lower_order_term():
    found = local_exponents(POINTS, POINTS**2 * np.exp(-5 / POINTS), corrected=True)
    np.testing.assert_allclose([found.lower, found.upper], 2, atol=1e-9)
    pairs = POINTS * (POINTS - 1) / 2
    plain, corrected = local_exponents(POINTS, pairs), local_exponents(POINTS, pairs, corrected=True)
    assert plain.upper - 2 > 0.05
    assert abs(corrected.upper - 2) < abs(corrected.lower - 2) + 0.01 < 0.02


def test_local_exponents_are_slopes_between_neighbours():
    found = local_exponents(np.array([1.0, 2.0, 8.0]), np.array([1.0, 8.0, 16.0]))
    assert (found.lower, found.estimate, found.upper) == pytest.approx((0.5, 1.75, 3.0))


def test_a_fit_without_noise_is_exact():
    values = np.repeat(3 * POINTS[:, None] ** 2.5, 4, axis=1)
    found = fitted_exponent(POINTS, values, confidence=0.99)
    assert found.estimate == pytest.approx(2.5, abs=1e-9)
    assert found.upper - found.lower < 1e-6


def test_intervals_are_hc3_of_the_textbook():
    rng = np.random.default_rng(SEED)
    values = POINTS[:, None] ** 0.7 * np.exp(rng.normal(0, 0.05, (8, 5)) * np.linspace(1, 6, 8)[:, None])
    x = np.stack([np.ones(40), np.log(np.repeat(POINTS, 5))], axis=1)
    inverse = np.linalg.inv(x.T @ x)
    coefficients = inverse @ x.T @ np.log(values.ravel())
    left = (np.log(values.ravel()) - x @ coefficients) / (1 - np.einsum("ij,jk,ik->i", x, inverse, x))
    error = np.sqrt((inverse @ (x.T * left**2) @ x @ inverse)[1, 1])
    found = fitted_exponent(POINTS, values, confidence=0.95)
    # Student's quantile at 38 degrees of freedom.
    assert found.upper - found.estimate == pytest.approx(2.0243942 * error, rel=1e-6)
    assert found.estimate == pytest.approx(coefficients[1], rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("corrected", [False, True])
def test_fitted_intervals_cover_under_unequal_noise(corrected):
    rng, repeats = np.random.default_rng(SEED), 400
    spread = np.linspace(0.02, 0.2, len(POINTS))[:, None]
    missed = 0
    for _ in range(repeats):
        values = POINTS[:, None] ** -0.5 * np.exp(rng.normal(0, 1, (len(POINTS), 20)) * spread)
        found = fitted_exponent(POINTS, values, confidence=0.95, corrected=corrected)
        missed += not found.lower <= -0.5 <= found.upper
    assert missed <= binom.isf(FALSE_ALARM, repeats, 0.055)
