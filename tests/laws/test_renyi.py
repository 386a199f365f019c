"""Renyi divergences of laws, and the supremum of divergence over order."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from dpaudit import FiniteLaw, GaussianLaw, LaplaceLaw, ProductLaw, PublicMixtureLaw, compare
from dpaudit.laws import concentration, renyi_divergence
from dpaudit.laws.joint import flattened
from dpaudit.laws.renyi import _enclosed

ORDERS = (1.0, 1.0001, 1.5, 2.0, 10.0, 200.0)


def finite(p, q):
    outcomes = list(range(len(p)))
    return FiniteLaw.from_probabilities(outcomes, p), FiniteLaw.from_probabilities(outcomes, q)


def randomized_response(epsilon):
    keep = 1 / (1 + math.exp(-epsilon))
    flip = math.exp(-epsilon) * keep
    return compare(*finite([keep, flip], [flip, keep]))


def by_definition(p, q, order):
    if order == 1:
        return float(np.sum(p * np.log(p / q)))
    return float(np.log(np.sum(np.exp(order * np.log(p) + (1 - order) * np.log(q)))) / (order - 1))


@pytest.mark.parametrize("order", [*ORDERS[2:5], 1.0])
def test_laplace_laws_by_integration(order):
    ratio = 1.3
    p, q = (lambda x, at=at: math.exp(-abs(x - at)) / 2 for at in (0.0, ratio))
    if order == 1:
        value = quad(lambda x: p(x) * math.log(p(x) / q(x)), -60, 60, points=(0, ratio), limit=200)[0]
    else:
        integral = quad(lambda x: p(x) ** order * q(x) ** (1 - order), -60, 60, points=(0, ratio), limit=200)[0]
        value = math.log(integral) / (order - 1)
    found = renyi_divergence(compare(LaplaceLaw(0, 1), LaplaceLaw(ratio, 1)), order)
    assert found.lower == found.upper == pytest.approx(value, rel=1e-7)


@pytest.mark.parametrize("order", ORDERS)
def test_finite_laws_products_and_mixtures_by_their_definition(order):
    rng = np.random.default_rng(3)
    p, q, r, s = rng.dirichlet(np.ones(5), 4)
    first, second = finite(p, q), finite(r, s)
    assert renyi_divergence(compare(*first), order).upper == pytest.approx(by_definition(p, q, order), rel=1e-9)
    products = [ProductLaw([a, b]) for a, b in zip(first, second, strict=True)]
    mixtures = [PublicMixtureLaw([0, 1], np.log([0.3, 0.7]), [a, b]) for a, b in zip(first, second, strict=True)]
    for laws in (products, mixtures):
        listed = [np.exp(flattened(law).log_probabilities) for law in laws]
        found = renyi_divergence(compare(*laws), order)
        assert found.lower == found.upper == pytest.approx(by_definition(*listed, order), rel=1e-9)


def test_divergences_that_are_tiny_infinite_or_of_infinite_order():
    near = randomized_response(1e-4)
    assert renyi_divergence(near, 1.0 + 1e-9).upper == pytest.approx(1e-4 * math.tanh(5e-5), rel=1e-9)
    assert renyi_divergence(near, math.inf).upper == pytest.approx(1e-4)
    missing = compare(*finite([0.5, 0.5], [1.0, 0.0]))
    assert renyi_divergence(missing, 2.0).upper == concentration(missing).upper == math.inf
    assert renyi_divergence(compare(*finite([1.0, 0.0], [0.5, 0.5])), 2.0).upper == pytest.approx(math.log(2))
    assert renyi_divergence(compare(GaussianLaw(0, 2), GaussianLaw(1, 2)), 3.0).upper == pytest.approx(3 / 8)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 5.0, 30.0])
def test_the_supremum_has_its_closed_forms(epsilon):
    response = concentration(randomized_response(epsilon))
    laplace = compare(LaplaceLaw(0, 1), LaplaceLaw(epsilon, 1))
    for found, value in (
        (response, epsilon * math.tanh(epsilon / 2)),
        (_enclosed([(laplace, 1)]), epsilon + math.expm1(-epsilon)),
        (concentration(laplace), epsilon + math.expm1(-epsilon)),
    ):
        assert found.lower <= value * (1 + 1e-11)
        assert found.upper >= value * (1 - 1e-11)
        assert found.upper <= found.lower * (1 + 5e-10)


def test_the_supremum_encloses_that_of_a_fine_grid():
    rng = np.random.default_rng(8)
    for size, spread in ((3, 0.2), (4, 3.0), (40, 1.0)):
        p, q = rng.dirichlet(np.full(size, spread), 2) + 1e-9
        laws = compare(*finite(p / p.sum(), q / q.sum()))
        found = concentration(laws)
        grid = np.r_[0.0, np.geomspace(1e-5, 1e4, 2000)]
        most = max(renyi_divergence(laws, 1 + s).upper / (1 + s) for s in grid.tolist())
        assert most * (1 - 1e-12) <= found.upper <= found.lower * (1 + 5e-10)
        assert found.lower <= most * (1 + 1e-4)


@pytest.mark.slow
def test_gaussian_parts_are_exact_and_bound_mixtures():
    def laws(kind):
        return compare(*(kind(x) for x in (0.0, 1.0)))

    product = laws(lambda x: ProductLaw([GaussianLaw(x, 2), GaussianLaw(x, 1)]))
    assert concentration(product).lower == concentration(product).upper == 1 / 8 + 1 / 2
    # The relative entropy of the Laplace part is the largest quotient of both parts.
    beside = concentration(laws(lambda x: ProductLaw([GaussianLaw(x, 2), LaplaceLaw(x, 1)])))
    assert beside.upper == pytest.approx(1 / 8 + math.exp(-1), rel=1e-9)
    mixture = concentration(
        laws(lambda x: PublicMixtureLaw([0, 1], np.log([0.9, 0.1]), [GaussianLaw(x, 3), GaussianLaw(x, 1)]))
    )
    assert 0.4999 < mixture.lower <= mixture.upper == 0.5
    equal = concentration(compare(*finite([0.5, 0.5], [0.5, 0.5])))
    assert equal.lower == equal.upper == 0
