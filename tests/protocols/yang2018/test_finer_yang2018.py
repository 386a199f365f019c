"""Zero-concentrated DP of SAFA's report, from its divergences at many orders."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from dpaudit.auditors import Budget, Streams, audit
from dpaudit.catalog.yang2018 import Safa

ORDERS = 1 + np.geomspace(1e-5, 1e3, 4000)


def decide(factor=1.0, **parameters):
    target = Safa(**parameters)
    claim = next(claim for claim in target.claims() if claim.id == "yang2018.safa-concentrated")
    less = replace(claim, guarantee=claim.guarantee.at(factor * claim.guarantee.rho))
    return claim.guarantee.rho, audit(target, less, budget=Budget(), streams=Streams(0))


@pytest.mark.slow
@pytest.mark.parametrize("values", [2, 4, 16])
def test_rho_is_the_largest_quotient_of_a_divergence_and_its_order(values):
    epsilon = 1.5
    true = math.exp(epsilon) / (math.exp(epsilon) + values - 1)
    false = (1 - true) / (values - 1)
    one = np.log([true, false, *[false] * (values - 2)])
    other = np.log([false, true, *[false] * (values - 2)])
    sums = logsumexp(ORDERS[:, None] * one + (1 - ORDERS[:, None]) * other, axis=1)
    expected = float((sums / (ORDERS - 1) / ORDERS).max())
    rho, evidence = decide(epsilon=epsilon, values=values)
    assert rho == pytest.approx(epsilon * math.tanh(epsilon / 2))
    assert evidence.verdict == "proved"
    assert evidence.measured["rho"].upper == pytest.approx(expected, rel=1e-4)
    assert (evidence.measured["tightness"].upper < 1 + 1e-8) == (values == 2)


@pytest.mark.slow
def test_two_values_need_all_of_it():
    assert decide(0.999, epsilon=1.5, values=2)[1].verdict == "refuted"
