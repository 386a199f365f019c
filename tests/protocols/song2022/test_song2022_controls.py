"""Every planted bug of DDP-Helnaksort is found from samples; LDP-QuickSort, which has none, is never accused."""

import copy

import numpy as np
import pytest

from dpaudit.auditors import Budget, Streams
from dpaudit.auditors.audit import view_of
from dpaudit.auditors.blackbox.audit import audit_black_box
from dpaudit.catalog.song2022 import LDPQuickSort, controls

CONTROLS = [
    controls.shuffler_keeps_order,
    controls.two_bits_per_user,
    controls.threshold_after_shuffling,
    controls.noise_without_queries,
]
BY_NAME = {"argvalues": CONTROLS, "ids": [control.name for control in CONTROLS]}


def black_box(target, samples, seed):
    (claim,) = [claim for claim in target.claims() if claim.kind == "privacy"]
    view, neighbouring = view_of(target, claim)
    return audit_black_box(view, claim, neighbouring, budget=Budget(samples=samples), streams=Streams(seed))


@pytest.mark.slow
@pytest.mark.parametrize("control", **BY_NAME)
def test_a_planted_bug_is_found(control):
    (claim,) = control().claims()
    evidence = black_box(control(), 100_000, seed=0)
    assert evidence.verdict == "refuted"
    assert evidence.witness.forces["epsilon"] > claim.epsilon
    assert claim.source == control.summary()


@pytest.mark.parametrize("control", **BY_NAME)
def test_the_claim_is_at_most_the_budget_of_one_agent(control):
    (claim,) = control().claims()
    assert 0 < claim.epsilon <= control().epsilon
    assert claim.delta == control().delta


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "samples"), [(0, 20_000), (1, 20_000), (2, None)])
def test_the_right_protocol_is_not_accused(seed, samples):
    evidence = black_box(LDPQuickSort(epsilon=1.0, queries=2), samples, seed)
    assert evidence.verdict == "consistent"
    assert evidence.measured["epsilon"].lower <= 1.0


@pytest.mark.parametrize("control", **BY_NAME)
def test_a_control_does_not_touch_its_input(control):
    data, _ = next(iter(control().neighbours()))
    before = copy.deepcopy(data)
    control().sample(data, 10, np.random.default_rng(0))
    np.testing.assert_array_equal(data, before)
