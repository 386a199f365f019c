"""Texts, nothing, and numbers too large in the place of parameters: an error that names the parameter."""

import math

import numpy as np
import pytest

import dpaudit
from dpaudit import (
    ApproximateDP,
    GaussianDP,
    PrivacyProfile,
    RenyiCurve,
    RenyiDP,
    TradeOff,
    ZeroConcentratedDP,
)
from dpaudit.claims.ranges import array_of, in_range
from dpaudit.composition import composed
from dpaudit.laws import ComposedLaw, FiniteLaw, GaussianLaw, GaussianMixtureLaw, ProductLaw

ODD = ["x", None, math.nan, -1, [1], {}, 10**400]


def _normal(data, size, rng):
    return rng.normal(data, size=size)


MADE = [
    (lambda v: ApproximateDP(v), "epsilon"),
    (lambda v: ApproximateDP(1.0, v), "delta"),
    (lambda v: ZeroConcentratedDP(v), "rho"),
    (lambda v: ZeroConcentratedDP(1.0, v), "delta"),
    (lambda v: ZeroConcentratedDP.of_pure(v), "epsilon"),
    (lambda v: ZeroConcentratedDP.of_exponential_mechanism(v), "epsilon"),
    (lambda v: RenyiDP(v, 1.0), "alpha"),
    (lambda v: RenyiDP(2, v), "epsilon"),
    (lambda v: RenyiCurve([(2, v)]), "epsilon at alpha|points"),
    (lambda v: RenyiCurve({2: 1.0}, v), "scale"),
    (lambda v: GaussianDP(v), "mu"),
    (lambda v: PrivacyProfile([(v, 0.1)]), "epsilon"),
    (lambda v: PrivacyProfile([(1.0, v)]), "delta"),
    (lambda v: PrivacyProfile({1.0: 0.1}, v), "shift"),
    (lambda v: PrivacyProfile(lambda _: v, epsilons=[0.0]), "the function must return|delta"),
    (lambda v: PrivacyProfile(lambda _: 0.1, epsilons=[v]), "epsilon"),
    (lambda v: TradeOff([(v, 0.1)]), "type I error"),
    (lambda v: TradeOff([(0.1, v)]), "type II error"),
    (lambda v: TradeOff({0.1: 0.5}, v), "shift"),
    (lambda v: GaussianDP(1.0).to_approximate(v), "delta"),
    (lambda v: GaussianDP(1.0).delta_at(v), "epsilon"),
    (lambda v: dpaudit.NoisySteps(steps=2).epsilon(v), "delta"),
    (lambda v: dpaudit.NoisySteps(steps=2).delta(v), "epsilon"),
    (lambda v: dpaudit.one_run_bound([1.0, 2.0], [0, 1], delta=v), "delta"),
    (lambda v: dpaudit.one_run_bound([1.0, 2.0], [0, 1], confidence=v), "confidence"),
    (lambda v: dpaudit.privacy_bounds(_normal, 0, 1, confidence=v), "confidence"),
    (lambda v: dpaudit.epsilon_lower_bound(_normal, 0, 1, delta=v), "delta"),
    (lambda v: GaussianLaw(0.0, v), "scale"),
    (lambda v: dpaudit.LaplaceLaw(0.0, v), "scale"),
    (lambda v: dpaudit.DiscreteGaussianLaw(0, v), "scale"),
    (lambda v: dpaudit.DiscreteLaplaceLaw(0, v), "scale"),
    (lambda v: FiniteLaw.from_probabilities([0], [v]), "probabilit"),
    (lambda v: GaussianMixtureLaw(np.zeros(1), np.zeros(1), v), "scale"),
    (lambda v: ComposedLaw([(GaussianLaw(0.0, 1.0), v)]), "composed law"),
    (lambda v: ProductLaw([v]), "product law"),
]


@pytest.mark.parametrize("value", ODD, ids=[repr(value)[:8] for value in ODD])
@pytest.mark.parametrize(("make", "words"), MADE)
def test_the_message_names_the_parameter(make, words, value):
    with pytest.raises(dpaudit.DpauditError, match=words):
        make(value)


@pytest.mark.parametrize("value", [1e160, 1e308, math.inf])
def test_squares_that_overflow(value):
    with pytest.raises(dpaudit.ParameterError, match="epsilon"):
        ZeroConcentratedDP.of_exponential_mechanism(value)
    with pytest.raises(dpaudit.ParameterError, match="mu"):
        composed([(GaussianDP(min(value, 1e308)), 3)])


def test_ranges():
    assert in_range(1, 0, 1)
    assert in_range(np.float64(0.5), 0, 1)
    assert in_range(math.inf, 1, infinite=True)
    assert not in_range(math.inf, 1)
    assert not in_range(1.0, 0, 1, without=(1.0,))
    assert not in_range("0.5", 0, 1)
    assert not in_range(np.array([0.5]), 0, 1)
    with pytest.raises(dpaudit.ParameterError, match="weights must be numbers, got 'x'"):
        array_of("x", "weights")


GUARANTEES = [
    ApproximateDP(1.0, 1e-3),
    ZeroConcentratedDP(0.5),
    ZeroConcentratedDP(0.5, 0.01),
    RenyiDP(2, 0.5),
    GaussianDP(1.0),
    PrivacyProfile({1.0: 0.1}),
    TradeOff({0.1: 0.5}),
]


class Known(dpaudit.Mechanism):
    """Two laws."""

    first: object = None
    second: object = None

    def law(self, data):
        return self.second if data else self.first

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")


COINS = FiniteLaw.from_probabilities([0, 1], [0.6, 0.4])


@pytest.mark.slow
@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
@pytest.mark.parametrize("size", [1e100, 1e140, 1e160, 1e308])
def test_laws_far_apart_or_of_huge_scales_give_a_verdict_or_a_message(guarantee, size):
    from dpaudit.auditors import Budget, Streams, audit

    claim = dpaudit.PrivacyClaim(id="c", statement="It is private.", guarantee=guarantee)
    for law in (GaussianLaw, dpaudit.LaplaceLaw):
        for first, second, broken in ((law(0.0, 1.0), law(size, 1.0), True), (law(0.0, size), law(1.0, size), False)):
            for wrapped in (lambda each: each, lambda each: ComposedLaw([(each, 3), (COINS, 2)])):
                target = Known(first=wrapped(first), second=wrapped(second))
                try:
                    found = str(audit(target, claim, budget=Budget(), streams=Streams(1)).verdict)
                except dpaudit.CheckError as error:
                    found = str(error)
                known = "refuted" if broken else "proved"
                assert found == known or "scales apart" in found or "double precision" in found
