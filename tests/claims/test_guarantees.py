"""Guarantees: what an event may be, what it forces, and what follows where a class says no more than that."""

import math

import numpy as np
import pytest

import dpaudit
from dpaudit.claims.guarantees import Guarantee

CLAIMS = [dpaudit.ApproximateDP(epsilon, delta) for epsilon in (0.0, 0.5, 3.0) for delta in (0.0, 1e-6, 0.1)]


class Plain(dpaudit.ApproximateDP):
    """Approximate differential privacy with nothing overridden that follows from the rest."""

    largest = Guarantee.largest
    balanced = Guarantee.balanced
    steps = Guarantee.steps
    expected = Guarantee.expected
    exceeds = Guarantee.exceeds


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_what_an_event_may_be_and_what_it_forces_are_inverse(claim):
    for q in (1e-9, 0.01, 0.2):
        p = claim.most(q)
        assert p == pytest.approx(min(1.0, math.exp(claim.epsilon) * q + claim.delta))
        assert claim.forces(p, q) == pytest.approx(min(claim.epsilon, math.log((1 - claim.delta) / q)), abs=1e-6)
        assert claim.at(claim.epsilon + 0.1).most(q) >= p
    assert claim.most(0.0) == claim.delta
    assert claim.most(1.0) == 1.0


def test_extreme_probabilities():
    claim = dpaudit.ApproximateDP(1.0)
    assert claim.forces(0.5, 0.0) == math.inf
    assert claim.forces(0.0, 0.5) == 0.0
    assert claim.forces(0.5, 0.5) == 0.0
    assert dpaudit.ApproximateDP(2000.0).most(1e-300) == 1.0


def test_numbers_and_arrays_force_the_same():
    claim = dpaudit.ApproximateDP(1.0, 0.01)
    p, q = np.meshgrid(np.linspace(0, 1, 21), np.linspace(0.01, 1, 21))
    each = [[claim.forces(float(a), float(b)) for a, b in zip(*row, strict=True)] for row in zip(p, q, strict=True)]
    np.testing.assert_allclose(claim.forces(p, q), each, rtol=1e-12)


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_what_follows_agrees_with_the_closed_forms(claim):
    plain = Plain(claim.epsilon, claim.delta)
    assert plain.balanced == pytest.approx(claim.balanced, rel=1e-9)
    assert claim.most(claim.balanced) == pytest.approx(1 - claim.balanced)
    for q in (1e-6, 0.03, 0.3):
        assert plain.largest(q) == pytest.approx(claim.largest(q))
        p = min(0.9, 2 * q + claim.delta)
        assert plain.steps(p, q) == pytest.approx(claim.steps(p, q), rel=1e-3)


def test_the_bound_to_be_expected_is_larger_for_events_that_tell_more():
    hits_p, hits_q = np.array([50.0, 500.0, 500.0, 900.0]), np.array([50.0, 400.0, 100.0, 1.0])
    for claim in (dpaudit.ApproximateDP(1.0), dpaudit.ApproximateDP(1.0, 0.01), Plain(1.0, 0.01)):
        assert (np.diff(claim.expected(hits_p, hits_q, 1000, 0.01)) > 0).all()


def test_what_is_claimed_and_how_it_is_written():
    claim = dpaudit.ApproximateDP(1.0, 1e-6)
    assert dict(claim.parameters) == {"epsilon": 1.0, "delta": 1e-6}
    assert (claim.kind, claim.forced, claim.decisive, claim.claimed) == ("approximate-dp", "epsilon", "delta", 1.0)
    assert str(claim) == "(1, 1e-06)-DP"
    assert str(dpaudit.ApproximateDP(0.5)) == "0.5-DP"
    assert dpaudit.ApproximateDP(0.5).decisive == "epsilon"
    assert not claim.exceeds(1 + 1e-10)
    assert claim.exceeds(1 + 1e-8)
    assert not claim.exceeds(1e-6 * (1 + 1e-10), "delta")
    assert claim.exceeds(1.1e-6, "delta")


@pytest.mark.parametrize(("epsilon", "delta"), [(-1.0, 0.0), (math.inf, 0.0), (math.nan, 0.0), (1.0, -0.1), (1.0, 1.1)])
def test_parameters_out_of_range(epsilon, delta):
    with pytest.raises(dpaudit.ParameterError, match="must be"):
        dpaudit.ApproximateDP(epsilon, delta)


def test_a_claim_takes_a_guarantee_or_the_shorthand():
    assert dpaudit.PrivacyClaim(epsilon=1.0, delta=0.1).guarantee == dpaudit.ApproximateDP(1.0, 0.1)
    assert dpaudit.PrivacyClaim(guarantee=dpaudit.ApproximateDP(1.0)).epsilon is None
    with pytest.raises(dpaudit.ParameterError, match="give `guarantee`"):
        dpaudit.PrivacyClaim()
    with pytest.raises(dpaudit.ParameterError, match="leave `epsilon` and `delta` out"):
        dpaudit.PrivacyClaim(guarantee=dpaudit.ApproximateDP(1.0), epsilon=2.0)
