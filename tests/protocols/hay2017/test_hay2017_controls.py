"""Every bug planted in DP-KwikSort is found, and DP-KwikSort is not accused where it is right."""

import copy

import numpy as np
import pytest

from dpaudit.auditors import Budget, Streams
from dpaudit.auditors.audit import view_of
from dpaudit.auditors.blackbox.audit import audit_black_box
from dpaudit.auditors.exact import audit_exact
from dpaudit.catalog.hay2017 import DPKwikSort, controls
from dpaudit.claims.declarations import declared_in

FAST = {"central-half-noise": 200_000, "central-unsplit-budget": 20_000}
CONTROLS = [target for target in vars(controls).values() if getattr(target, "name", None) in FAST]
CORRECT = [DPKwikSort(epsilon=1.0, logarithm="binary", relation="add-remove")]


def black_box(target, samples, seed):
    claim = next(
        claim for claim in target.claims() if claim.kind == "privacy" and not claim.id.endswith("-concentrated")
    )
    view, neighbouring = view_of(target, claim)
    return audit_black_box(view, claim, neighbouring, budget=Budget(samples=samples), streams=Streams(seed))


def test_every_control_is_tried():
    declared = {each.id for each in declared_in(controls.__name__).values()}
    assert declared == {f"control.{name}" for name in FAST}
    assert {control.name for control in CONTROLS} == set(FAST)


@pytest.mark.slow
@pytest.mark.parametrize("control", [pytest.param(control, id=control.name) for control in CONTROLS])
def test_a_planted_bug_is_found(control):
    target = control()
    (claim,) = target.claims()
    evidence = black_box(target, FAST[control.name], seed=0)
    assert evidence.verdict == "refuted"
    assert evidence.witness.forces["epsilon"] > claim.epsilon


@pytest.mark.parametrize("control", [pytest.param(control, id=control.name) for control in CONTROLS])
def test_a_planted_bug_is_found_by_its_law(control):
    target = control()
    evidence, _ = audit_exact(target, *target.claims(), target.neighbours())
    assert evidence.verdict == "refuted"


@pytest.mark.slow
@pytest.mark.parametrize("target", CORRECT)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_right_protocol_is_not_accused(target, seed):
    assert black_box(target, 20_000, seed).verdict == "consistent"


@pytest.mark.slow
@pytest.mark.parametrize("target", CORRECT)
def test_the_right_protocol_is_not_accused_under_the_default_budget(target):
    evidence = black_box(target, 300_000 if target.name == "ldp-kwiksort-lap" else None, seed=2)
    assert evidence.verdict == "consistent"
    assert evidence.measured["epsilon"].lower <= 1.0


def test_the_controls_do_not_touch_their_input():
    for control in CONTROLS:
        target = control()
        (claim,) = target.claims()
        view, neighbouring = view_of(target, claim)
        data, _ = next(iter(neighbouring))
        before = copy.deepcopy(data)
        view.sample(data, 10, np.random.default_rng(0))
        assert repr(data) == repr(before), control.name
