"""Zero-concentrated DP of an agent's report: closed forms, and claims a little below them."""

import math
from dataclasses import replace

import pytest
from scipy.integrate import quad

from dpaudit.auditors import Budget, Streams, audit
from dpaudit.catalog.yan2020 import LDPKwikSortLap, LDPKwikSortRR, finer


def entropy_of_response(budget):
    """Relative entropy of two answers by randomized response."""
    keep = 1 / (1 + math.exp(-budget))
    return keep * math.log(keep / (1 - keep)) + (1 - keep) * math.log((1 - keep) / keep)


def entropy_of_laplace(budget):
    """Relative entropy of Laplace noise of scale 1/budget around 0 to that around 1, integrated."""
    return quad(
        lambda x: budget / 2 * math.exp(-budget * abs(x)) * budget * (abs(x - 1) - abs(x)), -60, 61, points=[0, 1]
    )[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "name", "one"),
    [
        (LDPKwikSortRR, "yan2020.report-rr-concentrated", entropy_of_response),
        (LDPKwikSortLap, "yan2020.report-lap-concentrated", entropy_of_laplace),
    ],
)
def test_rho_is_the_relative_entropy_of_the_answers_and_no_less(system, name, one):
    target = system(epsilon=4.0, queries=2, alternatives=3)
    claim = next(claim for claim in target.claims() if claim.id == name)
    assert claim.guarantee.rho == pytest.approx(2 * one(2.0), rel=1e-7)
    evidence = audit(target, claim, budget=Budget(), streams=Streams(0))
    assert evidence.verdict == "proved"
    assert evidence.measured["tightness"].lower == pytest.approx(1, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("system", [LDPKwikSortRR, LDPKwikSortLap])
def test_a_claim_a_little_below_is_refuted(system):
    target = system(epsilon=4.0, queries=1, alternatives=2)
    claim = next(claim for claim in target.claims() if claim.id.endswith("-concentrated"))
    less = replace(claim, guarantee=claim.guarantee.at(0.999 * claim.guarantee.rho))
    assert audit(target, less, budget=Budget(), streams=Streams(0)).verdict == "refuted"


@pytest.mark.slow
def test_half_the_noise_is_refuted():
    target = finer.report_half_noise_concentrated(epsilon=1.0, alternatives=2)
    (claim,) = target.claims()
    evidence = audit(target, claim, budget=Budget(), streams=Streams(0))
    assert evidence.verdict == "refuted"
    assert evidence.measured["rho"].lower == pytest.approx(entropy_of_laplace(2.0), rel=1e-6)
