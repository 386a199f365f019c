"""Discrete Laplace and discrete Gaussian laws, against sums over listed outcomes."""

import math

import numpy as np
import pytest

import dpaudit
from dpaudit import DiscreteGaussianLaw, DiscreteLaplaceLaw, FiniteLaw, compare
from dpaudit.laws import concentration, gaussian_shift, renyi_divergence, trade_off

CASES = [
    (DiscreteLaplaceLaw, 0, 1, 1.0),
    (DiscreteLaplaceLaw, 5, 2, 2.5),
    (DiscreteLaplaceLaw, -1, -1, 1.0),
    (DiscreteGaussianLaw, 0, 1, 1.0),
    (DiscreteGaussianLaw, 2, -1, 4.0),
    (DiscreteGaussianLaw, 0, 1, 0.4),
]


def listed(law, low=-60, high=60):
    """Probabilities by the definition."""
    steps = np.arange(low, high + 1)
    apart = np.abs(steps - law.location) / law.scale
    weights = -apart if isinstance(law, DiscreteLaplaceLaw) else -(apart**2) / 2
    return FiniteLaw(steps.tolist(), weights - np.log(np.exp(weights).sum()))


@pytest.mark.parametrize(("kind", "p", "q", "scale"), CASES)
def test_laws_agree_with_listed_outcomes(kind, p, q, scale):
    laws = compare(kind(p, scale), kind(q, scale))
    reference = compare(listed(kind(p, scale)), listed(kind(q, scale)))
    epsilons = np.array([0.0, 0.1, 0.5, 1.0])
    np.testing.assert_allclose(laws.privacy_profile(epsilons)[0], reference.privacy_profile(epsilons)[0], atol=1e-12)
    assert laws.epsilon(1e-4).upper == pytest.approx(reference.epsilon(1e-4).upper, abs=1e-8)
    # Listed weights of far outcomes are too small to be divided, so that large orders are left out.
    for order in (1.0, 1.2, 1.7):
        assert renyi_divergence(laws, order).upper == pytest.approx(renyi_divergence(reference, order).upper, rel=1e-7)
    assert trade_off(laws, 0.1).upper == pytest.approx(trade_off(reference, 0.1).upper, abs=1e-9)
    event = laws.worst_event(0.05, 0.1)
    gain = event.p - math.exp(0.05) * event.q
    assert max(gain, 0.0) == pytest.approx(laws.delta(0.05).upper, abs=1e-12)


def test_events_are_half_lines():
    laws = compare(DiscreteLaplaceLaw(3, 1.0), DiscreteLaplaceLaw(0, 1.0))
    event = laws.worst_event(0.0, 0.1)
    assert event.outcomes == {"at least": 2}
    steps = np.arange(-80, 81)
    for law, found in ((DiscreteLaplaceLaw(3, 1.0), event.p), (DiscreteLaplaceLaw(0, 1.0), event.q)):
        weights = np.exp(-np.abs(steps - law.location))
        assert weights[steps >= 2].sum() / weights.sum() == pytest.approx(found)
    assert compare(DiscreteGaussianLaw(0, 2.0), DiscreteGaussianLaw(4, 2.0)).worst_event(0.0, 0.1).outcomes == {
        "at most": 1
    }


@pytest.mark.parametrize("scale", [0.4, 1.0, 20.0])
def test_the_discrete_gaussian_is_concentrated_as_the_continuous_one(scale):
    laws = compare(DiscreteGaussianLaw(0, scale), DiscreteGaussianLaw(3, scale))
    rho = 9 / (2 * scale**2)
    assert concentration(laws).lower == concentration(laws).upper == pytest.approx(rho)
    for order in (2.0, 3.0):
        assert renyi_divergence(laws, order).upper == pytest.approx(order * rho, rel=1e-9)
    assert renyi_divergence(laws, 1.5).upper <= 1.5 * rho
    mu = gaussian_shift(laws)
    assert mu.upper is None
    # It is not Gaussian-private with the mu of the continuous noise.
    assert mu.lower > 3 / scale


def test_discrete_laplace_is_randomized_response_between_neighbours():
    laws = compare(DiscreteLaplaceLaw(0, 1.0), DiscreteLaplaceLaw(1, 1.0))
    assert concentration(laws).upper == pytest.approx(math.tanh(0.5))
    assert laws.max_divergence() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", [DiscreteLaplaceLaw, DiscreteGaussianLaw])
def test_what_is_no_law_is_refused(kind):
    with pytest.raises(dpaudit.ParameterError, match="whole number"):
        kind(0.5, 1.0)
    with pytest.raises(dpaudit.ParameterError, match="finite scale above 0"):
        kind(0, 0.0)
    with pytest.raises(dpaudit.CheckError, match="different scales"):
        compare(kind(0, 1.0), kind(0, 2.0))
    finite = kind(2, 1.5).listed()
    np.testing.assert_allclose(np.exp(finite.log_probabilities).sum(), 1.0)
    assert finite.outcomes[int(np.argmax(finite.log_probabilities))] == 2
