"""Every planted bug is found from samples; the protocols that they were planted in are never accused."""

import copy

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.audit import view_of
from dpaudit.auditors.blackbox import audit_black_box
from dpaudit.auditors.exact import audit_exact
from dpaudit.registry import protocol_files, targets_in

pytestmark = pytest.mark.slow

EVERY = [
    reference.load()
    for path in protocol_files()
    if path.parent.name == "controls"
    for reference in targets_in(str(path))
]
CONTROLS = [control for control in EVERY if any(claim.kind == "privacy" for claim in control().claims())]
FAST = {
    "local-uncapped": 100_000,
    "local-counter-per-call": 200_000,
    "local-full-fallback": 400_000,
    "local-whole-budget-answer": 100_000,
    "local-double-half-space": 20_000,
    "local-unsplit-entries": 20_000,
]


def black_box(target, samples, seed):
    claim = next(claim for claim in target.claims() if claim.kind == "privacy")
    view, neighbouring = view_of(target, claim)
    return audit_black_box(view, claim, neighbouring, budget=Budget(samples=samples), streams=Streams(seed))


def test_there_are_enough_controls():
    assert len(CONTROLS) >= 8
    assert {control.name for control in CONTROLS} == set(FAST) | EXACT
    assert {control.name for control in EVERY} == set(FAST) | EXACT | BIASED
    assert all(control.summary() for control in EVERY)


@pytest.mark.parametrize("control", [pytest.param(each, id=each.name) for each in EVERY if each.name in BIASED])
def test_a_planted_bias_is_found(control):
    (claim,) = control().claims()
    assert audit(control(), claim, budget=Budget(), streams=Streams(0)).verdict == "refuted"


@pytest.mark.parametrize(
    "control",
    [
        pytest.param(control, id=control.name, marks=pytest.mark.slow if FAST[control.name] > 500_000 else ())
        for control in CONTROLS
        if control.name not in EXACT
    ],
)
def test_a_planted_bug_is_found(control):
    target = control()
    evidence = black_box(target, FAST[control.name], seed=0)
    assert evidence.verdict == "refuted"
    assert evidence.witness.epsilon > next(claim for claim in target.claims() if claim.kind == "privacy").epsilon


@pytest.mark.parametrize("control", [control for control in CONTROLS if control.name in EXACT])
def test_a_planted_bug_is_found_by_its_law(control):
    target = control()
    (claim,) = target.claims()
    evidence, _ = audit_exact(target, claim, target.neighbours())
    assert evidence.verdict == "refuted"


@pytest.mark.parametrize(("name", "parameters"), CORRECT)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_right_protocol_is_not_accused(name, parameters, seed):
    evidence = black_box(dpaudit.load(name)(**parameters), 20_000, seed)
    assert evidence.verdict == "consistent"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), CORRECT)
@pytest.mark.parametrize("seed", [2])
def test_the_right_protocol_is_not_accused_under_the_default_budget(name, parameters, seed):
    evidence = black_box(dpaudit.load(name)(**parameters), None, seed)
    assert evidence.verdict == "consistent"
    assert evidence.measured["epsilon"].lower <= 1.0


def test_the_controls_do_not_touch_their_input():
    for control in CONTROLS:
        target = control()
        claim = next(claim for claim in target.claims() if claim.kind == "privacy")
        view, neighbouring = view_of(target, claim)
        data, _ = next(iter(neighbouring))
        if control.name in EXACT:
            continue
        before = copy.deepcopy(data)
        view.sample(data, 10, np.random.default_rng(0))
        assert repr(data) == repr(before), control.name
