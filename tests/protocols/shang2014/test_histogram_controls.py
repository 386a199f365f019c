"""Every bug planted in the Gaussian histogram is found from samples; the right histogram is never accused."""

import copy

import numpy as np
import pytest

from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.audit import view_of
from dpaudit.auditors.blackbox.audit import audit_black_box
from dpaudit.catalog.shang2014 import GaussianHistogram, controls

SAMPLES = {
    controls.histogram_half_noise: 1_000_000,
    controls.histogram_one_noise: 20_000,
    controls.histogram_raw_ties: 100_000,
}


def black_box(target, claim, samples, seed=0):
    view, neighbouring = view_of(target, claim)
    return audit_black_box(view, claim, neighbouring, budget=Budget(samples=samples), streams=Streams(seed))


@pytest.mark.slow
@pytest.mark.parametrize("control", SAMPLES)
def test_a_planted_bug_is_found(control):
    target = control()
    (claim,) = target.claims()
    evidence = black_box(target, claim, SAMPLES[control])
    assert evidence.verdict == "refuted"
    assert evidence.measured["epsilon"].lower > claim.guarantee.epsilon


@pytest.mark.slow
def test_a_planted_bias_is_found():
    target = controls.HistogramClipped()
    (claim,) = target.claims()
    assert audit(target, claim, budget=Budget(), streams=Streams(0)).verdict == "refuted"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("relation", ["add-remove", "substitution"])
def test_the_right_histogram_is_not_accused(relation, seed):
    target = GaussianHistogram(epsilon=0.5, delta=1e-4, relation=relation)
    claim = next(claim for claim in target.claims() if claim.id == "shang2014.theorem1")
    assert black_box(target, claim, 20_000, seed).verdict == "consistent"


@pytest.mark.parametrize("control", SAMPLES)
def test_a_control_makes_its_own_claim_only_and_leaves_its_input_alone(control):
    target = control()
    assert [claim.id for claim in target.claims()] == [f"control.{target.name}"]
    assert list(target.parameters()) == ["epsilon", "delta", "alternatives"]
    data, _ = next(iter(target.neighbours()))
    before = copy.deepcopy(data)
    target.sample(data, 10, np.random.default_rng(0))
    assert repr(data) == repr(before)
