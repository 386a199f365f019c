"""Bugs planted in the central reductions are found from samples or by their law; the right one is not accused."""

import copy

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors import Budget, Streams
from dpaudit.auditors.audit import view_of
from dpaudit.auditors.blackbox.audit import audit_black_box
from dpaudit.auditors.exact import audit_exact

FAST = {
    "weights-half-sensitivity": 20_000,
    "weights-undivided-budget": 20_000,
    "queries-add-remove": 20_000,
    "cap-not-enforced": 20_000,
    "fallback-full-budget": 20_000,
    "queries-undivided-budget": 20_000,
}
"""Samples per input with which the bug is found."""


def black_box(target, samples, seed):
    claim = next(claim for claim in target.claims() if claim.kind == "privacy")
    view, neighbouring = view_of(target, claim)
    return audit_black_box(view, claim, neighbouring, budget=Budget(samples=samples), streams=Streams(seed))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "samples"), FAST.items())
def test_a_planted_bug_is_found(name, samples):
    target = dpaudit.load(name)()
    evidence = black_box(target, samples, seed=0)
    assert evidence.verdict == "refuted"
    assert evidence.witness.forces["epsilon"] > target.claims()[0].epsilon


@pytest.mark.slow
def test_a_loss_that_is_spread_over_many_answers_is_found_by_its_law():
    target = dpaudit.load("counter-not-shared")()
    (claim,) = target.claims()
    evidence, _ = audit_exact(target, claim, target.neighbours())
    assert evidence.verdict == "refuted"
    assert evidence.measured["epsilon"].lower == pytest.approx(3.0, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "samples"), [(0, 20_000), (1, 20_000), (2, None)])
def test_the_right_mechanism_is_not_accused(seed, samples):
    evidence = black_box(dpaudit.load("noisy-pairwise")(epsilon=1.0, calibration="tight"), samples, seed)
    assert evidence.verdict == "consistent"
    assert evidence.measured["epsilon"].lower <= 1.0


@pytest.mark.parametrize("name", FAST)
def test_the_controls_do_not_touch_their_input(name):
    target = dpaudit.load(name)()
    data, _ = next(iter(target.neighbours()))
    before = copy.deepcopy(data)
    target.sample(data, 10, np.random.default_rng(0))
    assert repr(data) == repr(before)
