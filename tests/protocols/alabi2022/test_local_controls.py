"""Every bug planted in the local systems is found from samples."""

import copy

import numpy as np
import pytest

from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.audit import view_of
from dpaudit.auditors.blackbox.audit import audit_black_box
from dpaudit.catalog.alabi2022.controls import local
from dpaudit.claims.declarations import declared_in
from dpaudit.registry import catalogue

SAMPLES = {
    "local-uncapped": 100_000,
    "local-counter-per-call": 200_000,
    "local-full-fallback": 400_000,
    "local-whole-budget-answer": 100_000,
    "local-double-half-space": 20_000,
    "local-unsplit-entries": 20_000,
}
BIASED = {"local-wrong-scale", "local-minus-half"}  # private still
CONTROLS = {declaration.targets[0].name: declaration.targets[0] for declaration in declared_in(local.__name__).values()}


def test_every_control_is_a_target_that_is_checked_here():
    assert set(CONTROLS) == {*SAMPLES, *BIASED}
    for name, control in CONTROLS.items():
        assert catalogue()[name].load() is control
        assert control.summary()


@pytest.mark.parametrize("name", sorted(BIASED))
def test_a_planted_bias_is_found(name):
    control = CONTROLS[name]()
    (claim,) = control.claims()
    assert audit(control, claim, budget=Budget(), streams=Streams(0)).verdict == "refuted"


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_a_planted_bug_is_found(name):
    control = CONTROLS[name]()
    (claim,) = control.claims()
    view, neighbouring = view_of(control, claim)
    budget = Budget(samples=SAMPLES[name])
    evidence = audit_black_box(view, claim, neighbouring, budget=budget, streams=Streams(0))
    assert evidence.verdict == "refuted"
    assert evidence.witness.forces["epsilon"] > claim.guarantee.epsilon


@pytest.mark.parametrize("name", SAMPLES)
def test_the_controls_do_not_touch_their_input(name):
    control = CONTROLS[name]()
    view, neighbouring = view_of(control, control.claims()[0])
    data, _ = next(iter(neighbouring))
    before = copy.deepcopy(data)
    view.sample(data, 10, np.random.default_rng(0))
    assert repr(data) == repr(before)
