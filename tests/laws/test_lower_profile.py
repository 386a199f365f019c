"""What follows from lower bounds on a privacy profile, against closed forms of laws whose profile is known."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from dpaudit.laws.lower_profile import LowerProfile


def profile_of(p, q):
    """From events whose probabilities are known, the complements among them."""
    p, q = np.atleast_1d(p)[:, None], np.atleast_1d(q)[:, None]
    return LowerProfile.from_corners((p, q), (1 - q, 1 - p))


def bits_divergence(p, q, order):
    def one_way(p, q):
        if order == 1:
            return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))
        return math.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (order - 1)

    return max(one_way(p, q), one_way(q, p))


ORDERS = (1, 1.01, 1.5, 2, 2.3, 2.9, 3, 7.5, 30)


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.0677), (0.73, 0.27), (0.95, 0.6), (1e-4, 1e-6)])
def test_one_event_gives_the_divergences_of_two_bits(p, q):
    found = profile_of(p, q).renyi(np.array(ORDERS, dtype=float))
    exact = np.array([bits_divergence(p, q, order) for order in ORDERS])
    assert np.all(found <= exact)
    assert np.all(found >= exact * (1 - 1e-3))


def test_concentration_of_two_bits_is_the_largest_rate():
    rates = [bits_divergence(0.5, 0.0677, order) / order for order in np.linspace(1.001, 6, 5000)]
    found = profile_of(0.5, 0.0677).concentration()
    assert max(rates) * (1 - 1e-3) <= found <= max(rates) * (1 + 1e-7)


def gaussian(mu, points=400):
    threshold = np.linspace(mu - 7, 7, points)
    return profile_of(norm.sf(threshold - mu), norm.sf(threshold))


@pytest.mark.parametrize("mu", [0.2, 1.0])
def test_many_events_give_the_divergences_of_gaussian_laws(mu):
    profile = gaussian(mu)
    orders = np.array([1.0, 1.1, 2.0, 2.5, 4.0])
    found = profile.renyi(orders) / (orders * mu**2 / 2)
    assert np.all(found <= 1)
    assert np.all(found >= 0.998)
    assert 0.998 <= profile.concentration() / (mu**2 / 2) <= 1


def test_the_trade_off_function_is_enclosed_from_above():
    type_one = np.linspace(0, 1, 101)
    found = gaussian(1.0).trade_off(type_one)
    exact = norm.cdf(norm.ppf(1 - type_one) - 1.0)
    assert np.all(found >= exact - 1e-12)
    assert np.all(found <= exact + 2e-3)


def test_the_trade_off_of_one_event_is_that_of_the_worse_direction():
    type_one = np.linspace(0, 1, 101)
    # The event (p, q) = (0.5, 0.1), and in the other direction (0.9, 0.5).
    line = np.maximum(1 - 5 * type_one, (1 - type_one) * 5 / 9)
    mirrored = np.maximum(1 - 9 / 5 * type_one, (1 - type_one) / 5)
    # The convex function below both is smaller at 0.2 and 0.4, but no test reaches it.
    assert profile_of(0.5, 0.1).trade_off(type_one) == pytest.approx(np.minimum(line, mirrored), rel=1e-6, abs=1e-9)


def test_events_that_say_nothing_bound_nothing():
    profile = profile_of([0.3, 0.5], [0.4, 0.5])
    assert profile.renyi(np.array([1.0, 2.0, 50.0])).tolist() == [0.0, 0.0, 0.0]
    assert profile.concentration() == 0
    assert profile.trade_off(np.array([0.0, 0.25, 1.0])).tolist() == [1.0, 0.75, 0.0]


def test_an_event_of_the_other_direction_counts():
    reverse = profile_of(0.1, 0.5)
    assert reverse.concentration() == 0
    p, q = np.array([[0.5]]), np.array([[0.1]])
    other = LowerProfile.from_corners((1 - q, 1 - p), (p, q))
    assert other.concentration() == pytest.approx(profile_of(0.5, 0.1).concentration(), rel=1e-9)


def test_the_worst_of_several_corners_counts():
    one = LowerProfile.from_corners(
        (np.array([[0.5, 0.6]]), np.array([[0.2, 0.3]])), (np.zeros((1, 2)), np.ones((1, 2)))
    )
    # p - z q is 0.5 - 0.2 z or 0.6 - 0.3 z: the first below z = 1, the second above.
    assert one.forward.z[-1] == pytest.approx(2.0)
    assert one.forward.left[0] == pytest.approx(0.3)
    area = np.sum((one.forward.left + one.forward.right) / 2 * np.diff(one.forward.z))
    assert area == pytest.approx(0.15, rel=1e-6)
    assert math.exp(one.forward.log_moment(np.zeros(1))[0]) == pytest.approx(area, rel=1e-9)
