"""The lemma auditor: proved by enumeration, refuted with the smallest counterexample, determined by the seed."""

import itertools
import math

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors import Streams
from dpaudit.auditors.counterexamples.lemma import audit_lemma


def lemma(**fields):
    return dpaudit.LemmaClaim(id="l", statement="it holds", **fields)


def search(draws=500, seed=1, **fields):
    return audit_lemma(lemma(**fields), draws=draws, streams=Streams(seed))


def test_all_instances_prove_it():
    instances = [{"a": a, "b": b} for a, b in itertools.product(range(-5, 6), repeat=2)]
    evidence = search(margin=lambda a, b: a * a + b * b - 2 * a * b, instances=instances, complete=True)
    assert evidence.verdict == "proved"
    assert evidence.measured["margin"].lower == 0
    assert evidence.method == "exact"


def test_instances_that_are_not_all_are_only_consistent():
    assert search(margin=lambda a: a, instances=[{"a": 1}]).verdict == "consistent"
    with_variables = search(
        margin=lambda a: a, instances=[{"a": 1}], complete=True, variables={"a": dpaudit.Integers(0, 9)}
    )
    assert with_variables.verdict == "consistent"
    assert "drawn" in with_variables.scope


def test_the_worst_listed_instance_is_the_witness():
    evidence = search(margin=lambda a: 3 - a, instances=[{"a": a} for a in (1, 7, 4)], complete=True)
    assert evidence.verdict == "refuted"
    assert evidence.witness.instance == {"a": 7}
    assert evidence.measured["margin"].lower == -4
    assert (evidence.witness.measured, evidence.witness.claimed) == (4, 0)


def test_a_drawn_counterexample_is_shrunk_to_the_smallest():
    evidence = search(
        margin=lambda a, b: 1000 - a - b, variables={"a": dpaudit.Integers(0, 10**6), "b": dpaudit.Integers(0, 10**6)}
    )
    assert evidence.verdict == "refuted"
    assert sum(evidence.witness.instance.values()) == 1001
    real = search(margin=lambda x: 10.0 - x, variables={"x": dpaudit.Reals(0.0, 100.0)})
    assert 10 < real.witness.instance["x"] <= 11


def test_a_drawn_profile_is_shrunk():
    def margin(profile):
        return 2.5 - len(profile)

    evidence = search(margin=margin, variables={"profile": dpaudit.RankingProfiles(8, 5)})
    assert evidence.witness.instance["profile"] == [[0, 1], [0, 1], [0, 1]]


def test_drawn_values_stay_in_their_domains():
    seen = []

    def margin(x, k, profile):
        seen.append((x, k, profile))
        return 1.0

    domains = {"x": dpaudit.Reals(-1.5, 2.0), "k": dpaudit.Integers(3, 5), "profile": dpaudit.RankingProfiles(4, 3)}
    evidence = search(margin=margin, variables=domains)
    assert evidence.verdict == "consistent"
    assert evidence.samples == len(seen) >= 100
    for x, k, profile in seen:
        assert -1.5 <= x <= 2.0
        assert 3 <= k <= 5
        assert profile.shape[0] in range(1, 5)
        assert profile.shape[1] in (2, 3)
        assert (np.sort(profile, axis=1) == np.arange(profile.shape[1])).all()
    assert {k for _, k, _ in seen} == {3, 4, 5}
    assert {p.shape for _, _, p in seen} == set(itertools.product(range(1, 5), (2, 3)))


def test_the_search_goes_towards_small_margins():
    """A counterexample of measure 1e-3 that blind draws would miss half of the time is climbed to."""
    found = sum(
        search(
            700,
            seed,
            margin=lambda a, b: abs(a - 40_000) + abs(b - 7000) - 20_000,
            variables={"a": dpaudit.Integers(0, 10**6), "b": dpaudit.Integers(0, 10**6)},
        ).verdict
        == "refuted"
        for seed in range(5)
    )
    assert found >= 4


def test_equal_seeds_search_alike():
    def once(seed):
        seen = []

        def margin(x):
            seen.append(x)
            return 5 - math.sin(x) * 5.0001

        evidence = search(200, seed, margin=margin, variables={"x": dpaudit.Reals(0.0, 1e4)})
        return seen, evidence.verdict

    assert once(1) == once(1)
    assert once(1) != once(2)


def test_rounding_is_no_counterexample():
    assert search(margin=lambda a: -1e-13, instances=[{"a": 1}], complete=True).verdict == "proved"
    assert search(margin=lambda a: -1e-11, instances=[{"a": 1}], complete=True).verdict == "refuted"
    loose = search(margin=lambda a: -1e-6, instances=[{"a": 1}], complete=True, tolerance=1e-5)
    assert loose.verdict == "proved"


def test_margins_that_are_none_and_lemmas_without_instances():
    with pytest.raises(dpaudit.CheckError, match="not a number"):
        search(margin=lambda a: math.nan, instances=[{"a": 1}])
    with pytest.raises(dpaudit.CheckError, match="not a number"):
        search(margin=lambda a: math.nan, variables={"a": dpaudit.Integers(0, 3)})
    with pytest.raises(dpaudit.CheckError, match="instances"):
        search(margin=lambda: 1.0)


def test_what_the_margin_raises_comes_out():
    with pytest.raises(ZeroDivisionError):
        search(margin=lambda a: 1 / (a - a), variables={"a": dpaudit.Integers(0, 3)})


def test_explained_numbers_are_those_of_the_counterexample():
    evidence = search(
        margin=lambda a: 3 - a,
        variables={"a": dpaudit.Integers(0, 50)},
        explain=lambda a: {"actual": a, "claimed": 3},
    )
    assert (evidence.witness.measured, evidence.witness.claimed) == (4, 3)
    assert evidence.witness.details == {"actual": 4, "claimed": 3}
    assert evidence.witness.direction == "at-most"
    assert evidence.measured["actual"].lower == 4
