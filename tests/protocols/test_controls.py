"""Every planted bug is found from samples; the protocols that they were planted in are never accused."""

import copy
import itertools

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors import Budget, Streams
from dpaudit.auditors.audit import view_of
from dpaudit.auditors.blackbox import audit_black_box
from dpaudit.catalog import protocol_files, targets_in

pytestmark = pytest.mark.slow

CONTROLS = [
    reference.load()
    for path in protocol_files()
    if path.parent.name == "controls"
    for reference in targets_in(str(path))
]
BY_PRIVACY = [control for control in CONTROLS if any(claim.kind == "privacy" for claim in control().claims())]
BY_UTILITY = [control for control in CONTROLS if control not in BY_PRIVACY]
FAST = {
    "central-half-noise": 200_000,
    "central-unsplit-budget": 20_000,
    "unsplit-budget": 20_000,
    "extra-answer": 20_000,
    "same-pair-twice": 20_000,
    "one-coin": 20_000,
    "queries-from-data": 200_000,
    "half-noise": 20_000,
    "clear-answer": 100_000,
    "biased-coin": 400_000,
    "occasional-truth": 1_000_000,
    "both-phases-at-epsilon": 100_000,
    "index-from-data": 50_000,
    "never-cleared": 20_000,
}
CORRECT = [
    ("ldp-kwiksort-rr", {"epsilon": 1.0, "queries": 2, "alternatives": 4}),
    ("ldp-kwiksort-rr", {"epsilon": 1.0, "queries": 6, "alternatives": 4}),
    ("ldp-kwiksort-lap", {"epsilon": 1.0, "queries": 2, "alternatives": 4}),
    ("dp-kwiksort", {"epsilon": 1.0, "logarithm": "binary", "relation": "add-remove"}),
]


def black_box(target, samples, seed):
    claim = next(claim for claim in target.claims() if claim.kind == "privacy")
    view, neighbouring = view_of(target, claim)
    return audit_black_box(view, claim, neighbouring, budget=Budget(samples=samples), streams=Streams(seed))


def test_there_are_enough_controls():
    assert len(CONTROLS) >= 8
    assert {control.name for control in BY_PRIVACY} == set(FAST)
    assert all(control.summary() for control in CONTROLS)


@pytest.mark.parametrize(
    "control",
    [
        pytest.param(control, id=control.name, marks=pytest.mark.slow if FAST[control.name] > 500_000 else ())
        for control in BY_PRIVACY
    ],
)
def test_a_planted_bug_is_found(control):
    evidence = black_box(control(), FAST[control.name], seed=0)
    assert evidence.verdict == "refuted"
    assert evidence.witness.epsilon > 1.0


# A learned event takes its time: one seed for the reports that are rows of real numbers, five for the others.
SEEDS = [
    pytest.param(control, seed, id=f"{control.name}-{seed}")
    for control in BY_PRIVACY
    for seed in range(1, 2 if control.name in ("half-noise", "clear-answer") else 6)
]


@pytest.mark.slow
@pytest.mark.parametrize(("control", "seed"), SEEDS)
def test_a_planted_bug_is_found_under_the_default_budget(control, seed):
    assert black_box(control(), None, seed).verdict == "refuted"


@pytest.mark.parametrize(("name", "parameters"), CORRECT)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_right_protocol_is_not_accused(name, parameters, seed):
    evidence = black_box(dpaudit.load(name)(**parameters), 20_000, seed)
    assert evidence.verdict == "consistent"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), CORRECT)
@pytest.mark.parametrize("seed", [2])
def test_the_right_protocol_is_not_accused_under_the_default_budget(name, parameters, seed):
    samples = 300_000 if name == "ldp-kwiksort-lap" else None
    evidence = black_box(dpaudit.load(name)(**parameters), samples, seed)
    assert evidence.verdict == "consistent"
    assert evidence.measured["epsilon"].lower <= 1.0


def test_the_controls_do_not_touch_their_input():
    for control in BY_PRIVACY:
        for pair in itertools.islice(control().neighbours(), 2):
            before = copy.deepcopy(pair)
            for data in pair:
                control().sample(data, 10, np.random.default_rng(0))
            np.testing.assert_equal(pair, before)


@pytest.mark.parametrize("control", BY_UTILITY, ids=lambda control: control.name)
def test_a_planted_loss_of_utility_is_found(control):
    record = dpaudit.check(control(), seed=0)
    assert [result.verdict for result in record.results] == ["refuted"]
