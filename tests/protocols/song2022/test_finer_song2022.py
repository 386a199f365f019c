"""Gaussian DP of an agent's answers, before the threshold and behind it."""

import math
from dataclasses import replace

import pytest
from scipy.special import ndtr, ndtri

from dpaudit.auditors import Budget, Streams, audit
from dpaudit.catalog.song2022 import DDPHelnaksort

DELTA = 1e-4


def decide(name, factor=1.0, **parameters):
    target = DDPHelnaksort(delta=DELTA, **parameters)
    claim = next(claim for claim in target.claims() if claim.id == name)
    less = replace(claim, guarantee=claim.guarantee.at(factor * claim.guarantee.mu))
    return claim.guarantee.mu, audit(target, less, budget=Budget(), streams=Streams(0))


@pytest.mark.slow
@pytest.mark.parametrize("queries", [1, 3])
def test_mu_of_noisy_answers_is_the_length_of_the_shift_over_the_deviation(queries):
    deviation = queries * math.sqrt(2 * math.log(1.25 / DELTA)) / 2.0
    mu, evidence = decide("song2022.noise-gaussian-dp", epsilon=2.0, queries=queries)
    assert mu == pytest.approx(math.sqrt(queries) / deviation, rel=1e-12)
    assert evidence.verdict == "proved"
    assert evidence.measured["mu"].lower == pytest.approx(mu, rel=1e-9)


@pytest.mark.slow
def test_the_threshold_takes_nothing_off_mu_of_one_answer():
    deviation = math.sqrt(2 * math.log(1.25 / DELTA)) / 2.0
    true = float(ndtr(0.5 / deviation))
    mu, evidence = decide("song2022.report-gaussian-dp", epsilon=2.0)
    assert evidence.verdict == "proved"
    assert evidence.measured["mu"].lower == pytest.approx(ndtri(true) - ndtri(1 - true), rel=1e-9)
    assert evidence.measured["mu"].lower == pytest.approx(mu, rel=1e-9)
    assert decide("song2022.report-gaussian-dp", 0.999, epsilon=2.0)[1].verdict == "refuted"


@pytest.mark.slow
def test_of_several_answers_it_takes_something():
    mu, evidence = decide("song2022.report-gaussian-dp", epsilon=2.0, queries=3)
    assert evidence.verdict == "proved"
    assert evidence.measured["mu"].upper < 0.9 * mu


def test_other_randomizers_are_not_meant():
    assert decide("song2022.report-gaussian-dp", randomizer="laplace-threshold")[1].verdict == "inapplicable"
