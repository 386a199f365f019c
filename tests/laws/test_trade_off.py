"""Trade-off functions of two laws, and the mu of Gaussian DP that follows."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from dpaudit import FiniteLaw, GaussianLaw, LaplaceLaw, ProductLaw, PublicMixtureLaw, compare
from dpaudit.laws import gaussian_shift, trade_off
from dpaudit.laws.joint import flattened
from dpaudit.laws.trade_off import _by_duality, _shift_by_profile


def finite(p, q):
    outcomes = list(range(len(p)))
    return FiniteLaw.from_probabilities(outcomes, p), FiniteLaw.from_probabilities(outcomes, q)


def events(p, q):
    """Probabilities of all events."""
    chosen = np.array(list(itertools.product((0, 1), repeat=len(p))))
    return chosen @ p, chosen @ q


def test_finite_laws_by_enumeration_of_events():
    rng = np.random.default_rng(2)
    for _ in range(5):
        p, q = rng.dirichlet(np.ones(6), 2)
        laws = compare(*finite(p, q))
        inside, other = events(p, q)
        with np.errstate(invalid="ignore"):
            most = np.nanmax(np.where((inside > 1e-12) & (inside < 1 - 1e-12), ndtri(inside) - ndtri(other), 0.0))
        found = gaussian_shift(laws)
        assert found.lower == found.upper == pytest.approx(most, rel=1e-9)
        for type_one in (0.05, 0.3, 0.8):
            # A randomised test is on a line between two events.
            below, above = other <= type_one, other > type_one
            share = (type_one - other[below][:, None]) / (other[above] - other[below][:, None])
            mixed = inside[below][:, None] + share * (inside[above] - inside[below][:, None])
            assert trade_off(laws, type_one).upper == pytest.approx(1 - mixed.max(), abs=1e-12)


@pytest.mark.slow
def test_closed_forms_against_the_duality_with_the_privacy_profile():
    for laws in (
        compare(GaussianLaw(0, 2), GaussianLaw(1, 2)),
        compare(LaplaceLaw(0, 1), LaplaceLaw(1.5, 1)),
        compare(LaplaceLaw(0, 1), LaplaceLaw(0.1, 1)),
    ):
        for type_one in (0.01, 0.2, 0.5, 0.9):
            closed, dual = trade_off(laws, type_one), _by_duality(laws, type_one)
            assert closed.lower == closed.upper
            assert dual.lower - 1e-12 <= closed.lower <= dual.upper + 1e-12
            assert dual.upper - dual.lower < 1e-6
        enclosed = _shift_by_profile(laws)
        assert enclosed.lower <= gaussian_shift(laws).lower * (1 + 1e-9) <= enclosed.upper * (1 + 2e-9)
        assert enclosed.lower > 0.99 * gaussian_shift(laws).lower


def test_the_mu_of_laplace_laws_is_that_of_the_half_line_in_the_middle():
    for ratio in (1e-3, 0.5, 3.0, 40.0):
        ends = np.linspace(-3, ratio + 3, 60_001)
        tail = np.where(ends >= 0, np.exp(-np.abs(ends)) / 2, 1 - np.exp(-np.abs(ends)) / 2)
        other = np.where(ends >= ratio, np.exp(-np.abs(ends - ratio)) / 2, 1 - np.exp(-np.abs(ends - ratio)) / 2)
        rest = np.where(ends >= ratio, 1 - other, np.exp(-np.abs(ends - ratio)) / 2)
        most = np.max(-ndtri(rest) - ndtri(tail))
        found = gaussian_shift(compare(LaplaceLaw(0, 1), LaplaceLaw(ratio, 1)))
        assert found.lower == found.upper == pytest.approx(most, rel=1e-6)


@pytest.mark.slow
def test_products_and_mixtures_are_enclosed():
    def laws(kind):
        return [kind(x) for x in (0, 1)]

    def response(keep):
        return lambda x: FiniteLaw.from_probabilities([0, 1], [keep, 1 - keep] if x == 0 else [1 - keep, keep])

    for kind in (
        lambda x: ProductLaw([response(0.7)(x), response(0.6)(x)]),
        lambda x: PublicMixtureLaw([0, 1], np.log([0.4, 0.6]), [response(0.7)(x), response(0.6)(x)]),
    ):
        joint = laws(kind)
        listed = compare(*(flattened(law) for law in joint))
        enclosed, exact = gaussian_shift(compare(*joint)), gaussian_shift(listed)
        assert enclosed.lower <= exact.lower * (1 + 1e-9) <= enclosed.upper * (1 + 2e-9)
        assert enclosed.upper - enclosed.lower < 0.01
        for type_one in (0.1, 0.6):
            found = trade_off(compare(*joint), type_one)
            assert found.lower - 1e-9 <= trade_off(listed, type_one).lower <= found.upper + 1e-9
            assert found.upper - found.lower < 1e-3
    gaussians = compare(*laws(lambda x: ProductLaw([GaussianLaw(x, 1), GaussianLaw(x, 2)])))
    assert gaussian_shift(gaussians).upper == pytest.approx(math.sqrt(1.25))
    assert trade_off(gaussians, 0.2).upper == pytest.approx(ndtr(-ndtri(0.2) - math.sqrt(1.25)))


def test_products_of_uneven_laws_against_enumeration():
    # Losses go further down than up; two bits, one output 1 with probability 0.5 or 0.1.
    def law(p):
        return ProductLaw([FiniteLaw.from_probabilities([0, 1], [1 - p, p])] * 2)

    found = trade_off(compare(law(0.1), law(0.5)), 0.9)
    # Under type I error 0.9 the event of two zeros, one, and 0.6 of two ones is best: 0.25 + 0.5 + 0.15.
    assert found.lower <= 0.01 * 0.4 <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-6
