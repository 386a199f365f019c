"""Every planted bug is found, from samples where it concerns privacy; SAFARI and Harmony are not accused."""

import copy

import numpy as np
import pytest

from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.audit import view_of
from dpaudit.auditors.blackbox.audit import audit_black_box
from dpaudit.catalog.yang2018 import Harmony, Safari
from dpaudit.catalog.yang2018.controls import (
    BothPhasesAtEpsilon,
    ClippedEarly,
    IndexFromData,
    NeverCleared,
    SharedHash,
)

pytestmark = pytest.mark.slow

PRIVACY = {BothPhasesAtEpsilon: 100_000, IndexFromData: 50_000, NeverCleared: 20_000}
BIASED = [ClippedEarly, SharedHash]  # still private
RIGHT = [Safari(epsilon=1.0, items=4), Harmony(epsilon=1.0, attributes=3, values=4)]


def black_box(target, samples, seed):
    claim = next(claim for claim in target.claims() if claim.kind == "privacy")
    view, neighbouring = view_of(target, claim)
    return audit_black_box(view, claim, neighbouring, budget=Budget(samples=samples), streams=Streams(seed))


@pytest.mark.parametrize("control", [*PRIVACY, *BIASED], ids=lambda control: control.name)
def test_a_control_says_its_bug_and_claims_nothing_else(control):
    (claim,) = control().claims()
    assert claim.id == f"control.{control.name}"
    assert claim.source == control.summary() != ""


@pytest.mark.parametrize("control", [*PRIVACY, *BIASED], ids=lambda control: control.name)
def test_a_planted_bug_is_found(control):
    (claim,) = control().claims()
    assert audit(control(), claim, budget=Budget(), streams=Streams(0)).verdict == "refuted"


@pytest.mark.parametrize("control", PRIVACY, ids=lambda control: control.name)
def test_a_planted_bug_is_found_from_samples(control):
    evidence = black_box(control(), PRIVACY[control], seed=0)
    assert evidence.verdict == "refuted"
    assert evidence.measured["epsilon"].lower > control().epsilon


@pytest.mark.parametrize("target", RIGHT, ids=lambda target: target.name)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_right_system_is_not_accused(target, seed):
    assert black_box(target, 20_000, seed).verdict == "consistent"


@pytest.mark.parametrize("target", RIGHT, ids=lambda target: target.name)
def test_the_right_system_is_not_accused_under_the_default_budget(target):
    evidence = black_box(target, None, seed=2)
    assert evidence.verdict == "consistent"
    assert evidence.measured["epsilon"].lower <= 1.0


@pytest.mark.parametrize("control", PRIVACY, ids=lambda control: control.name)
def test_the_controls_do_not_touch_their_input(control):
    data, _ = next(iter(control().neighbours()))
    before = copy.deepcopy(data)
    control().sample(data, 10, np.random.default_rng(0))
    assert repr(data) == repr(before)
