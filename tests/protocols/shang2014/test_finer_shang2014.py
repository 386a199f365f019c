"""Gaussian and zero-concentrated DP of the noisy histogram: closed forms, and claims a little below them."""

import math
from dataclasses import replace

import pytest
from scipy.special import ndtr

import dpaudit
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.catalog.shang2014 import GaussianHistogram, finer

EPSILON, DELTA = 9.5, 1e-4
CHANGED = {"add-remove": 1, "substitution": 2}
"""Counts that one ranking changes by 1."""


def decide(target, claim, factor=1.0):
    guarantee = claim.guarantee.at(factor * claim.guarantee.claimed)
    return audit(target, replace(claim, guarantee=guarantee), budget=Budget(), streams=Streams(0))


def claims_of(relation):
    target = GaussianHistogram(epsilon=EPSILON, delta=DELTA, relation=relation)
    return target, {claim.id.partition(".")[2]: claim for claim in target.claims()}


@pytest.mark.slow
@pytest.mark.parametrize("relation", CHANGED)
def test_mu_and_rho_are_those_of_the_closed_form_and_no_smaller_ones(relation):
    target, claims = claims_of(relation)
    rho = CHANGED[relation] * EPSILON**2 / (4 * math.log(2 / DELTA))
    for name, parameter, value in (("concentrated", "rho", rho), ("gaussian-dp", "mu", math.sqrt(2 * rho))):
        claim = claims[name]
        evidence = decide(target, claim)
        assert claim.guarantee.claimed == pytest.approx(value, rel=1e-12)
        assert (evidence.verdict, evidence.method) == ("proved", "exact")
        assert evidence.measured[parameter].lower == pytest.approx(value, rel=1e-9)
        assert decide(target, claim, 0.999).verdict == "refuted"


@pytest.mark.parametrize("relation", CHANGED)
def test_the_profile_of_the_histogram_is_that_of_its_mu(relation):
    target, claims = claims_of(relation)
    mu = claims["gaussian-dp"].guarantee.mu
    view = target.views()["histogram"]
    (pair,) = view.neighbours()
    comparison = dpaudit.compare(*(view.law(data) for data in pair))
    for epsilon in (0.0, 1.0, 5.0):
        profile = ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
        assert comparison.delta(epsilon).upper == pytest.approx(profile, rel=1e-9)


@pytest.mark.slow
def test_a_histogram_with_half_the_noise_is_refuted_at_four_times_rho():
    target = finer.histogram_half_noise_concentrated()
    (claim,) = target.claims()
    evidence = decide(target, claim)
    assert evidence.verdict == "refuted"
    assert evidence.measured["rho"].lower == pytest.approx(4 * claim.guarantee.rho)
