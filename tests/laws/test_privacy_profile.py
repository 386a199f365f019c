"""Bounds on a privacy profile against closed forms, between the points too."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from dpaudit.laws import FiniteLaw, GaussianLaw, LaplaceLaw, PrivacyProfileBounds, ProductLaw, PublicMixtureLaw, compare

ROUNDING = 1e-12


def gaussian(mu):
    return compare(GaussianLaw(0.0, 1.0), GaussianLaw(mu, 1.0))


def bounds_of(comparison, top, points, slack=0.0):
    epsilons = np.linspace(0, top, points)
    lower, upper = comparison.privacy_profile(epsilons)
    return PrivacyProfileBounds(epsilons, lower * (1 - slack), np.minimum(upper * (1 + slack), 1.0))


@pytest.mark.parametrize("slack", [0.0, 0.02])
@pytest.mark.parametrize("points", [2, 5, 30, 120])
@pytest.mark.parametrize(
    ("comparison", "top"),
    [(gaussian(0.1), 0.6), (gaussian(1.2), 8.0), (compare(LaplaceLaw(0.0, 1.0), LaplaceLaw(1.5, 1.0)), 1.5)],
)
def test_what_is_derived_encloses_the_truth(comparison, top, points, slack):
    bounds = bounds_of(comparison, top, points, slack)
    epsilons = np.linspace(0, 1.2 * top, 301)
    truth = comparison.privacy_profile(epsilons)[0]
    lower, upper = bounds.delta(epsilons)
    assert np.all(lower <= truth + ROUNDING)
    assert np.all(truth <= upper + ROUNDING)
    for delta in (0.3, 0.05, 1e-3, 1e-5):
        interval, exact = bounds.epsilon(delta), comparison.epsilon(delta).lower
        assert interval.lower <= exact + 1e-9
        assert interval.upper is None or exact - 1e-9 <= interval.upper
    if points == 120 and not slack:
        assert np.max(upper - lower) < 1e-3


@pytest.mark.parametrize("mu", [0.05, 1.0, 3.0])
def test_trade_off_of_a_gaussian(mu):
    top = gaussian(mu).epsilon(1e-6).upper
    type_one = np.linspace(0, 1, 201)
    lower, upper = bounds_of(gaussian(mu), top, 100).trade_off(type_one)
    truth = norm.cdf(norm.ppf(1 - type_one) - mu)
    assert np.all(lower <= truth + ROUNDING)
    assert np.all(truth <= upper + ROUNDING)
    assert np.max(upper - lower) < 3e-3
    coarse = bounds_of(gaussian(mu), top, 4, 0.01).trade_off(type_one)
    assert np.all(coarse[0] <= truth)
    assert np.all(truth <= coarse[1])


def test_trade_off_of_randomized_response_is_exact():
    epsilon = 1.3
    p = 1 / (1 + math.exp(-epsilon))
    laws = [FiniteLaw.from_probabilities([0, 1], q) for q in ([p, 1 - p], [1 - p, p])]
    bounds = bounds_of(compare(*laws), epsilon, 7)
    type_one = np.linspace(0, 1, 101)
    truth = np.maximum(np.maximum(1 - math.exp(epsilon) * type_one, math.exp(-epsilon) * (1 - type_one)), 0)
    for side in bounds.trade_off(type_one):
        np.testing.assert_allclose(side, truth, atol=1e-12)
    curves = bounds.curves(np.array([0.0, 0.5, 1.3]))
    assert curves.delta_lower == curves.delta_upper
    assert curves.type_two_lower == curves.type_two_upper


def test_numbers_are_rounded_outwards():
    bounds = bounds_of(gaussian(1.0), 5.0, 12, 0.01)
    epsilons = np.array([0.0, 0.3, 1.7, 4.0])
    curves, (lower, upper) = bounds.curves(epsilons), bounds.delta(epsilons)
    assert np.all(np.array(curves.delta_lower) <= lower)
    assert np.all(upper <= np.array(curves.delta_upper))
    np.testing.assert_allclose(curves.delta_lower, lower, rtol=1e-5)
    np.testing.assert_allclose(curves.delta_upper, upper, rtol=1e-5)
    assert all(len(f"{value:.17g}") <= 12 or float(f"{value:.6g}") == value for value in curves.delta_lower)


def test_points_that_double_precision_cannot_tell_apart():
    epsilons = np.array([0.0, 1e-17, 0.3, 0.1 + 0.2, 1.0])
    lower, upper = gaussian(1.0).privacy_profile(epsilons)
    with np.errstate(all="raise"):
        curves = PrivacyProfileBounds(epsilons, lower, upper).curves(epsilons)
    assert curves.delta_lower[2] == pytest.approx(lower[2], abs=1e-6)


def test_the_profile_of_every_kind_of_law_is_its_delta_point_by_point():
    gauss = [GaussianLaw(0.0, 1.0), GaussianLaw(1.0, 1.0)]
    laplace = [LaplaceLaw(0.0, 1.0), LaplaceLaw(1.0, 1.0)]
    finite = [FiniteLaw.from_probabilities([0, 1, 2], p) for p in ([0.5, 0.3, 0.2], [0.5, 0.0, 0.5])]
    products = [ProductLaw([a, b]) for a, b in zip(laplace, finite, strict=True)]
    mixtures = [PublicMixtureLaw("ab", np.log([0.3, 0.7]), [a, b]) for a, b in zip(laplace, finite, strict=True)]
    epsilons = np.array([0.0, 0.2, 1.0, 3.0])
    for pair in (gauss, laplace, finite, products, mixtures, [ProductLaw([law] * 3) for law in gauss]):
        comparison = compare(*pair)
        values = [comparison.delta(epsilon) for epsilon in epsilons]
        lower, upper = comparison.privacy_profile(epsilons)
        np.testing.assert_allclose(lower, [value.lower for value in values], rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(upper, [value.upper for value in values], rtol=1e-12, atol=1e-15)
