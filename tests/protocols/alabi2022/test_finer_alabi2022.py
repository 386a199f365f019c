"""The central reductions under zero-concentrated composition: closed forms in the paper's ϵ and δ, and integrals."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad

import dpaudit
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.catalog.alabi2022 import DPKwikSortCapped, NoisyPairwise, finer

EPSILON, DELTA = 1.0, 1e-5
SHARED = {"epsilon": EPSILON, "delta": DELTA, "noise": "gaussian"}


def claim_of(target, name):
    return next(claim for claim in target.claims() if claim.id == name)


def decide(target, claim, factor=1.0):
    less = replace(claim, guarantee=claim.guarantee.at(factor * claim.guarantee.rho))
    return audit(target, less, budget=Budget(), streams=Streams(0))


@pytest.mark.slow
@pytest.mark.parametrize("agents", [1, 7])
def test_rho_of_the_noisy_weights_in_the_budget_of_the_paper(agents):
    printed = NoisyPairwise(**SHARED, alternatives=4, agents=agents, calibration="printed")
    mended = printed.but(calibration="mended")
    rho = claim_of(printed, "alabi2022.corollary4-concentrated").guarantee.rho
    assert rho == pytest.approx(6 / 16 * EPSILON**2 / (4 * math.log(1.25 / DELTA)))
    guarantee = claim_of(mended, "alabi2022.corollary4-concentrated").guarantee
    log = -math.log(DELTA)
    assert guarantee.rho == pytest.approx((math.sqrt(log + EPSILON) - math.sqrt(log)) ** 2)
    # The mended noise is that which the plain conversion asks for, so the tightest one leaves less.
    assert guarantee.rho + 2 * math.sqrt(guarantee.rho * log) == pytest.approx(EPSILON)
    assert guarantee.to_approximate(DELTA).epsilon < EPSILON


@pytest.mark.slow
def test_no_smaller_rho_holds_of_the_noisy_weights():
    target = NoisyPairwise(**SHARED, alternatives=2, agents=2)
    claim = claim_of(target, "alabi2022.corollary4-concentrated")
    assert decide(target, claim).verdict == "proved"
    assert decide(target, claim, 0.999).verdict == "refuted"


def renyi_of_laplace(order, moved):
    """Renyi divergence of Laplace noise of scale 1 around 0 from that around ``moved``, integrated."""
    total = quad(lambda x: math.exp(-abs(x) * order + (order - 1) * abs(x - moved)) / 2, -80, 80, points=[0, moved])[0]
    return math.log(total) / (order - 1)


@pytest.mark.parametrize("moved", [0.05, 0.7, 4.0])
def test_laplace_noise_costs_its_relative_entropy_and_no_order_costs_more(moved):
    rho = finer.concentration(dpaudit.randomizers.LaplaceNoise(1 / (2 * moved)), 3, 2) / 3
    quotients = [renyi_of_laplace(order, moved) / order for order in 1 + np.geomspace(1e-3, 20, 12)]
    assert max(quotients) <= rho
    assert quotients[0] == pytest.approx(rho, rel=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("cap", [0, 2, 3])
def test_answers_and_fallback_add_up_and_no_smaller_rho_holds(cap):
    target = DPKwikSortCapped(**SHARED, alternatives=3, agents=2, cap=cap, budget="meant")
    claim = claim_of(target, "alabi2022.corollary7-concentrated")
    answers = (EPSILON / 2) ** 2 / (4 * math.log(1.25 / DELTA)) if cap else 0.0
    # Printed noise Lap(9 / (n ϵ/2)) of three weights, which one ranking moves by 1/n.
    moved = EPSILON / 2 / 9
    fallback = 3 * (moved - 1 + math.exp(-moved)) if cap < 3 else 0.0
    assert claim.guarantee.rho == pytest.approx(answers + fallback, rel=1e-9)
    evidence = decide(target, claim)
    assert evidence.verdict == "proved"
    assert evidence.measured["rho"].lower == pytest.approx(claim.guarantee.rho, rel=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["alabi2022.corollary4-concentrated", "alabi2022.corollary7-concentrated"])
def test_they_are_about_gaussian_noise(name):
    for system in (NoisyPairwise, DPKwikSortCapped):
        found = [claim for claim in system().claims() if claim.id == name]
        assert all("noise = gaussian" in claim.inapplicable for claim in found)
