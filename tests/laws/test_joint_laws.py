import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from dpaudit.errors import CheckError
from dpaudit.laws import FiniteLaw, GaussianLaw, LaplaceLaw, ProductLaw, PublicMixtureLaw, compare
from dpaudit.laws.joint import flattened

FALSE_ALARM = 1e-6
SEED = 20240608


def finite(*probabilities):
    return FiniteLaw.from_probabilities([f"outcome {i}" for i in range(len(probabilities))], probabilities)


def laplaces(ratios, sign=1):
    """Noise of unequal scales around locations at these distances in scales."""
    scales = [1.0 + 0.5 * i for i in range(len(ratios))]
    return ProductLaw([LaplaceLaw(sign * r * s / 2, s) for r, s in zip(ratios, scales, strict=True)])


def laplace_excess(ratio, epsilon):
    """E over P of (1 - e^(epsilon - loss))+ for one Laplace pair, by its three pieces."""
    if epsilon >= ratio:
        return 0.0
    return 1 - math.exp((epsilon - ratio) / 2) if epsilon > -ratio else 1 - math.exp(epsilon)


def convolved_excess(first, second, epsilon):
    """Delta of two Laplace parts: the second's delta, averaged over the first part's loss."""

    def integrand(loss):
        return math.exp((loss - first) / 2) / 4 * laplace_excess(second, epsilon - loss)

    breaks = sorted({-first, first, *(x for x in (epsilon - second, epsilon + second) if -first < x < first)})
    inside = math.fsum(quad(integrand, a, b, epsrel=1e-12)[0] for a, b in pairwise(breaks))
    atoms = laplace_excess(second, epsilon - first) / 2 + math.exp(-first) / 2 * laplace_excess(second, epsilon + first)
    return inside + atoms


PARTS = [(finite(0.2, 0.8), finite(0.5, 0.5)), (finite(0.1, 0.0, 0.9), finite(0.3, 0.1, 0.6))]


@pytest.mark.parametrize("epsilon", [-0.3, 0.0, 0.4, 0.9])
@pytest.mark.parametrize("swap", [False, True])
def test_product_of_finite_laws_agrees_with_its_list_of_outcomes(epsilon, swap):
    laws = [ProductLaw([pair[side] for pair in PARTS]) for side in ((1, 0) if swap else (0, 1))]
    parts, listed = compare(*laws), compare(*(law.flattened() for law in laws))
    assert parts.delta(epsilon).lower == parts.delta(epsilon).upper == pytest.approx(listed.delta(epsilon).upper)
    assert parts.max_divergence() == pytest.approx(listed.max_divergence())
    assert parts.epsilon(0.05).upper == pytest.approx(listed.epsilon(0.05).upper)
    event, same = parts.worst_event(0.4, 0.0), listed.worst_event(0.4, 0.0)
    assert (event.log_p, event.log_q) == (pytest.approx(same.log_p), pytest.approx(same.log_q))
    event = parts.worst_event(0.3, 0.1)
    assert event.p - math.exp(0.3) * event.q == pytest.approx(parts.delta(0.3).upper)


def test_flattened_product_multiplies_probabilities():
    law = ProductLaw([PARTS[0][0], PARTS[1][0]]).flattened()
    found = dict(zip(law.outcomes, np.exp(law.log_probabilities), strict=True))
    assert found["outcome 1", "outcome 2"] == pytest.approx(0.72)
    assert found["outcome 0", "outcome 1"] == 0
    assert sum(found.values()) == pytest.approx(1)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0, 8.0])
def test_gaussian_parts_add_their_squared_distances(epsilon):
    many = compare(
        ProductLaw([GaussianLaw(3.0, 1.0), GaussianLaw(0.0, 0.5)]),
        ProductLaw([GaussianLaw(0.0, 1.0), GaussianLaw(2.0, 0.5)]),
    )
    one = compare(GaussianLaw(5.0, 1.0), GaussianLaw(0.0, 1.0))
    assert many.delta(epsilon).upper == pytest.approx(one.delta(epsilon).upper, rel=1e-12)
    assert many.epsilon(1e-5).upper == pytest.approx(one.epsilon(1e-5).upper, rel=1e-10)
    event = many.worst_event(epsilon, 1e-3)
    assert event.p - math.exp(epsilon) * event.q == pytest.approx(one.delta(epsilon).upper, rel=1e-10)
    assert many.max_divergence() == many.epsilon(0.0).lower == math.inf


def test_gaussian_parts_have_an_event_that_refutes_any_pure_epsilon():
    laws = [ProductLaw([GaussianLaw(x, 1.0), GaussianLaw(0.0, 1.0)]) for x in (1.0, 0.0)]
    for epsilon in (0.1, 1.0, 8.0):
        event = compare(*laws).worst_event(epsilon, 0.0)
        assert event.log_p - event.log_q > epsilon


@pytest.mark.parametrize("ratios", [(1.0, 1.0), (0.3, 1.7), (0.013, 2.0), (5.0, 0.4), (2.0, 1e-5)])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.6, 0.95, 1.0])
def test_two_laplace_parts_enclose_the_numeric_convolution(ratios, share):
    epsilon = share * sum(ratios)
    found = compare(laplaces(ratios), laplaces(ratios, -1)).delta(epsilon)
    expected = convolved_excess(*ratios, epsilon)
    assert found.lower - 1e-12 <= expected <= found.upper + 1e-12
    assert found.upper - found.lower <= 3e-3 * expected + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("ratios", [(0.5,) * 3, (0.1, 0.7, 0.33), (2.0, 0.01, 1.1, 0.3, 0.3)])
def test_laplace_parts_enclose_simulation(ratios):
    rng = np.random.default_rng(SEED)
    count = 400_000
    losses = np.zeros(count)
    for ratio in ratios:
        noise = rng.laplace(size=count)
        losses += np.abs(noise + ratio) - np.abs(noise)
    comparison = compare(laplaces(ratios), laplaces(ratios, -1))
    radius = math.sqrt(math.log(2 * 4 / FALSE_ALARM) / (2 * count))  # Hoeffding, on four epsilons
    for epsilon in np.array([0.0, 0.3, 0.6, 0.9]) * sum(ratios):
        found = comparison.delta(epsilon)
        average = np.mean(-np.expm1(np.minimum(epsilon - losses, 0)))
        assert found.lower - radius <= average <= found.upper + radius


@pytest.mark.slow
@pytest.mark.parametrize("ratios", [(1.0,), (0.2,) * 7, (0.01,) * 100, tuple(np.linspace(0.01, 0.2, 30))])
def test_laplace_enclosures_are_ordered_and_narrow(ratios):
    comparison = compare(laplaces(ratios), laplaces(ratios, -1))
    for share in (0.0, 0.3, 0.6, 0.9):
        found = comparison.delta(share * sum(ratios))
        assert 0 < found.lower <= found.upper <= 1.03 * found.lower
    for delta in (1e-9, 1e-3, 0.1):
        found = comparison.epsilon(delta)
        assert found.lower <= found.upper <= 1.01 * found.lower + 1e-3
        assert found.upper <= sum(ratios) * (1 + 1e-12)
        assert comparison.delta(found.lower).lower >= delta * (1 - 1e-9) - 1e-15 or found.lower == 0
        assert comparison.delta(found.upper).upper <= delta * (1 + 1e-9) + 1e-15


@pytest.mark.parametrize("ratios", [(1 / 3,) * 3, (0.1, 0.7, 0.33), (0.01,) * 50, (20.0, 30.0)])
def test_laplace_parts_keep_their_pure_epsilon_at_any_delta(ratios):
    comparison = compare(laplaces(ratios), laplaces(ratios, -1))
    assert comparison.max_divergence() == comparison.epsilon(0.0).upper == pytest.approx(sum(ratios), rel=1e-12)
    assert comparison.delta(comparison.max_divergence()).upper <= 1e-13
    event = comparison.worst_event(0.0, 0.0)
    assert event.log_p - event.log_q == pytest.approx(sum(ratios), rel=1e-12)
    assert event.log_p == pytest.approx(-len(ratios) * math.log(2))


@pytest.mark.parametrize("ratio", [0.01, 1.0, 9.0, 60.0])
def test_one_laplace_part_encloses_the_closed_form(ratio):
    single = compare(LaplaceLaw(ratio, 1.0), LaplaceLaw(0.0, 1.0))
    joint = compare(ProductLaw([LaplaceLaw(ratio, 1.0)]), ProductLaw([LaplaceLaw(0.0, 1.0)]))
    for epsilon in np.linspace(0, ratio, 13):
        exact, found = single.delta(epsilon).upper, joint.delta(epsilon)
        assert found.lower - 1e-13 <= exact <= found.upper + 1e-13
    for delta in (1e-12, 1e-3, 0.2):
        exact, found = single.epsilon(delta).upper, joint.epsilon(delta)
        assert found.lower - 1e-12 <= exact <= found.upper + 1e-12


def test_worst_event_of_laplace_parts_reaches_the_lower_bound():
    comparison = compare(laplaces((0.4, 1.3)), laplaces((0.4, 1.3), -1))
    event = comparison.worst_event(0.6, 1e-3)
    assert event.p - math.exp(0.6) * event.q == pytest.approx(comparison.delta(0.6).lower, rel=1e-9)
    assert "e^0.6" in event.outcomes


def test_finite_and_laplace_parts_together_enclose_their_composition():
    laws = [ProductLaw([LaplaceLaw(x, 1.0), pair]) for x, pair in ((0.8, PARTS[0][0]), (0.0, PARTS[0][1]))]
    p, q = (np.exp(law.log_probabilities) for law in PARTS[0])
    for epsilon in (0.0, 0.5, 1.2):
        expected = p @ [laplace_excess(0.8, epsilon - math.log(a / b)) for a, b in zip(p, q, strict=True)]
        found = compare(*laws).delta(epsilon)
        assert found.lower - 1e-12 <= expected <= found.upper + 1e-12
        assert found.upper - found.lower <= 1e-4


def test_equal_continuous_parts_add_nothing():
    still = [LaplaceLaw(1.0, 1.0), GaussianLaw(2.0, 1.0)]
    with_them = compare(ProductLaw([*still, PARTS[0][0]]), ProductLaw([*still, PARTS[0][1]]))
    without = compare(*PARTS[0])
    assert with_them.delta(0.1).lower == with_them.delta(0.1).upper == pytest.approx(without.delta(0.1).upper)
    nothing = compare(ProductLaw(still), ProductLaw(still))
    assert nothing.delta(0.0).upper == nothing.epsilon(0.0).upper == nothing.epsilon(0.1).upper == 0


WEIGHTS = np.array([0.5, 0.25, 0.25, 0.0])
LABELS = ["a", "b", "c", "never"]
BRANCHES = [*PARTS, (finite(0.6, 0.4), finite(0.4, 0.6)), (finite(1.0, 0.0), finite(0.0, 1.0))]


def mixture(side, labels=LABELS, weights=WEIGHTS):
    with np.errstate(divide="ignore"):
        return PublicMixtureLaw(labels, np.log(weights), [branch[side] for branch in BRANCHES])


@pytest.mark.parametrize("epsilon", [-0.2, 0.0, 0.3, 0.8, 1.1])
@pytest.mark.parametrize("sides", [(0, 1), (1, 0)])
def test_mixture_agrees_with_its_list_of_outcomes(epsilon, sides):
    laws = [mixture(side) for side in sides]
    choices, listed = compare(*laws), compare(*(law.flattened() for law in laws))
    assert choices.delta(epsilon).lower == choices.delta(epsilon).upper == pytest.approx(listed.delta(epsilon).upper)
    assert choices.max_divergence() == pytest.approx(listed.max_divergence())
    for delta in (0.0, 0.01, 0.1, 0.5):
        assert choices.epsilon(delta).upper == pytest.approx(listed.epsilon(delta).upper, abs=1e-12)
    pure = choices.worst_event(0.0, 0.0)
    assert pure.log_p - pure.log_q == pytest.approx(listed.max_divergence())
    assert pure.outcomes["public choice"] != "never"
    event = choices.worst_event(0.3, 0.1)
    assert event.p - math.exp(0.3) * event.q == pytest.approx(choices.delta(0.3).upper)


def test_a_choice_that_never_happens_does_not_count():
    assert compare(mixture(0), mixture(1)).max_divergence() < math.inf


def test_mixture_of_laplace_parts_averages_their_deltas():
    ratios, weights = (0.5, 2.0), np.array([0.3, 0.7])
    sides = [
        PublicMixtureLaw("xy", np.log(weights), [ProductLaw([LaplaceLaw(x * r, 1.0)]) for r in ratios]) for x in (1, 0)
    ]
    comparison = compare(*sides)
    for epsilon in (0.0, 0.4, 1.5):
        expected = weights @ [laplace_excess(ratio, epsilon) for ratio in ratios]
        found = comparison.delta(epsilon)
        assert found.lower - 1e-12 <= expected <= found.upper + 1e-12
        back = comparison.epsilon(expected)
        assert back.lower - 1e-9 <= epsilon <= back.upper + 1e-9
        assert back.upper - back.lower <= 1e-3


def test_nested_laws_are_flattened_or_left_alone():
    nested = PublicMixtureLaw(["x"], np.zeros(1), [ProductLaw([PARTS[0][0], PARTS[1][0]])])
    assert flattened(nested).outcomes[5] == ("x", ("outcome 1", "outcome 2"))
    product = flattened(ProductLaw([PARTS[0][0], nested]))
    assert len(product.outcomes) == len(PARTS[0][0].outcomes) * len(flattened(nested).outcomes)
    assert np.exp(product.log_probabilities).sum() == pytest.approx(1)
    assert flattened(ProductLaw([LaplaceLaw(0.0, 1.0), PARTS[0][0]])) is None
    assert flattened(PublicMixtureLaw(["x"], np.zeros(1), [LaplaceLaw(0.0, 1.0)])) is None
    assert flattened(GaussianLaw(0.0, 1.0)) is None


def test_public_choice_that_depends_on_the_input_is_refused():
    with pytest.raises(CheckError, match="it is not public"):
        compare(mixture(0), mixture(1, weights=np.array([0.25, 0.5, 0.25, 0.0])))


@pytest.mark.parametrize("labels", [["b", "a", "c", "never"], ["a", "b", "c", "other"]])
def test_public_choices_listed_differently_are_refused(labels):
    with pytest.raises(CheckError, match="same ones in the same order"):
        compare(mixture(0), mixture(1, labels=labels, weights=np.array([0.5, 0.25, 0.25, 0.0])))


def test_malformed_joint_laws_are_refused():
    with pytest.raises(CheckError, match="at least one part"):
        ProductLaw([])
    with pytest.raises(CheckError, match="of 1 and 2 parts"):
        compare(ProductLaw([finite(1.0)]), ProductLaw([finite(1.0)] * 2))
    with pytest.raises(CheckError, match="2 choices but 1 laws"):
        PublicMixtureLaw("ab", np.log([0.5, 0.5]), [finite(1.0)])
    with pytest.raises(CheckError, match=r"add up to 0\.9"):
        PublicMixtureLaw("ab", np.log([0.5, 0.4]), [finite(1.0)] * 2)
    with pytest.raises(CheckError, match="a FiniteLaw cannot be compared with a GaussianLaw"):
        compare(ProductLaw([finite(1.0)]), ProductLaw([GaussianLaw(0.0, 1.0)]))


@pytest.mark.slow
def test_gaussian_among_other_kinds_is_enclosed():
    """Against a double integral over both parts, by the midpoint rule."""
    laws = [ProductLaw([GaussianLaw(x, 1.0), LaplaceLaw(x, 2.0)]) for x in (1.0, 0.0)]
    y = np.arange(-30, 30, 1e-2) + 5e-3
    gaussian, laplace = [
        [np.exp(f) / np.exp(f).sum() for f in g]
        for g in ([-((y - x) ** 2) / 2 for x in (1.0, 0.0)], [-abs(y - x) / 2 for x in (1.0, 0.0)])
    ]
    p, q = np.outer(gaussian[0], laplace[0]), np.outer(gaussian[1], laplace[1])
    comparison = compare(*laws)
    for epsilon in (-0.3, 0.0, 0.5, 1.7):
        delta = comparison.delta(epsilon)
        exact = np.maximum(p - math.exp(epsilon) * q, 0).sum()
        assert delta.upper - delta.lower < 1e-4
        assert delta.lower - 2e-5 <= exact <= delta.upper + 2e-5
    epsilon = comparison.epsilon(1e-3)
    assert comparison.delta(epsilon.lower).lower == pytest.approx(1e-3, rel=1e-9)
    assert comparison.delta(epsilon.upper).upper == pytest.approx(1e-3, rel=1e-9)
    assert comparison.max_divergence() == math.inf
    event = comparison.worst_event(0.5, 1e-3)
    loss = np.log(p) - np.log(q)
    assert event.p == pytest.approx(p[loss > 0.5].sum(), abs=2e-3)
    assert event.q == pytest.approx(q[loss > 0.5].sum(), abs=2e-3)


def test_gaussian_among_finite_parts_is_exact():
    """A coin of loss log 3 or -log 3 beside a Gaussian part: the average of two Gaussian profiles."""
    gaussian = compare(GaussianLaw(1.0, 2.0), GaussianLaw(0.0, 2.0))
    coins = [FiniteLaw.from_probabilities([0, 1], [p, 1 - p]) for p in (0.75, 0.25)]
    both = compare(ProductLaw([coins[0], GaussianLaw(1.0, 2.0)]), ProductLaw([coins[1], GaussianLaw(0.0, 2.0)]))
    delta = both.delta(0.4)
    expected = 0.75 * gaussian.delta_at(0.4 - math.log(3)) + 0.25 * gaussian.delta_at(0.4 + math.log(3))
    assert delta.lower == pytest.approx(expected, rel=1e-12)
    assert delta.upper == pytest.approx(expected, rel=1e-12)
