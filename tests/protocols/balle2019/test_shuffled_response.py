"""Shuffled randomized response: verdicts of the published bounds, and the sampler against the law."""

import pytest

import dpaudit
from dpaudit.auditors import Budget, Streams, audit

TARGET = dpaudit.load("shuffled-response")


def decide(name, **parameters):
    target = TARGET(**parameters)
    claim = next(claim for claim in target.claims() if claim.id == name)
    return claim, audit(target, claim, budget=Budget(), streams=Streams(1))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["balle2019.blanket", "balle2019.hoeffding", "feldman2021.clones", "feldman2023.closed-form"]
)
def test_published_bounds_hold_with_room(name):
    claim, evidence = decide(name, epsilon=0.5, users=2000, delta=1e-6)
    assert evidence.verdict == "proved"
    assert 1 < evidence.measured["slack"].lower < 8
    assert evidence.measured["value"].lower < claim.bound < 0.5


def test_exact_blanket_is_the_sharpest_of_the_published_bounds():
    bounds = {claim.id: claim.bound for claim in TARGET(epsilon=1.0, users=5000).claims() if claim.kind == "utility"}
    assert min(bounds, key=bounds.get) == "balle2019.blanket"


@pytest.mark.slow
def test_bounds_are_claimed_in_their_range_only():
    assert decide("feldman2021.theorem3.1", epsilon=2.0, users=100)[1].verdict == "inapplicable"
    assert decide("feldman2021.theorem3.1", epsilon=0.5, users=20_000)[1].verdict == "proved"


@pytest.mark.slow
@pytest.mark.parametrize("users", [1, 7, 300])
def test_shuffling_changes_nothing_without_delta(users):
    _, evidence = decide("balcer2020.pure", epsilon=1.5, users=users)
    assert evidence.verdict == "proved"
    assert evidence.measured["epsilon"].lower == pytest.approx(1.5)
    assert evidence.measured["tightness"].lower == pytest.approx(1)
