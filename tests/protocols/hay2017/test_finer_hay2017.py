"""Zero-concentrated DP of the exponential mechanism and of DP-KwikSort: closed forms, and divergences summed up."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from dpaudit.auditors import Budget, Streams, audit
from dpaudit.catalog.hay2017 import DPKwikSort, KemenyExponential, finer

ORDERS = 1 + np.geomspace(1e-4, 1e3, 400)


def decide(target, name, rho=None):
    claim = next(claim for claim in target.claims() if claim.id == name)
    if rho is not None:
        claim = replace(claim, guarantee=claim.guarantee.at(rho))
    return claim.guarantee, audit(target, claim, budget=Budget(), streams=Streams(0))


def rho_of(target):
    """Largest quotient of a Renyi divergence and its order, over many orders and all pairs in both directions."""
    found = 0.0
    for pair in target.neighbours():
        logs = [target.law(data).log_probabilities for data in pair]
        for one, other in (logs, logs[::-1]):
            sums = logsumexp(ORDERS[:, None] * one + (1 - ORDERS[:, None]) * other, axis=1)
            found = max(found, float((sums / (ORDERS - 1) / ORDERS).max()))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 8.0])
def test_two_alternatives_and_one_agent_are_randomized_response_with_half_the_budget(epsilon):
    target = KemenyExponential(epsilon=epsilon, alternatives=2, agents=1)
    guarantee, evidence = decide(target, "hay2017.exponential-concentrated")
    assert guarantee.rho == epsilon**2 / 8
    assert evidence.verdict == "proved"
    assert evidence.measured["rho"].upper == pytest.approx(epsilon / 2 * math.tanh(epsilon / 4), rel=1e-6)
    # The constant 1/8 is attained at small budgets.
    assert evidence.measured["tightness"].lower < 1.001 or epsilon > 1


@pytest.mark.slow
def test_a_small_budget_leaves_half_the_variance_of_the_loss():
    # One agent, three alternatives: the loss is (2 K - 3) epsilon / 6, with K = 0, 1, 1, 2, 2, 3.
    _, evidence = decide(KemenyExponential(epsilon=0.01, agents=1), "hay2017.exponential-concentrated")
    assert evidence.measured["rho"].upper == pytest.approx(22 / 6 / 36 / 2 * 0.01**2, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["substitution", "add-remove"])
@pytest.mark.parametrize("system", [KemenyExponential, DPKwikSort])
def test_rho_is_the_largest_quotient_over_the_orders_and_a_smaller_claim_is_refuted(system, relation):
    target = system(epsilon=3.0, agents=2, relation=relation)
    name = "hay2017.exponential-concentrated" if system is KemenyExponential else "hay2017.kwiksort-concentrated"
    guarantee, evidence = decide(target, name)
    expected = rho_of(target)
    assert evidence.verdict == "proved"
    assert evidence.measured["rho"].upper == pytest.approx(expected, rel=1e-3)
    assert guarantee.rho > expected
    assert decide(target, name, 0.99 * expected)[1].verdict == "refuted"


def test_kwiksort_is_charged_for_three_comparisons():
    budget = 3.0 / (2 * math.log(3))
    for relation, changed in (("add-remove", 1), ("substitution", 2)):
        each = changed * budget
        rho = 3 * each * (math.exp(each) - 1) / (math.exp(each) + 1)
        assert finer.compared(DPKwikSort(epsilon=3.0, relation=relation)) == pytest.approx(rho, rel=1e-12)


@pytest.mark.slow
def test_half_the_noise_is_refuted():
    target = finer.exponential_without_two_concentrated()
    guarantee, evidence = decide(target, "control.exponential-without-two-concentrated")
    assert evidence.verdict == "refuted"
    assert evidence.measured["rho"].lower > 1.5 * guarantee.rho
