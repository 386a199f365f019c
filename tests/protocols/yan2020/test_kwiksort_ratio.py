"""KwikSort's approximation ratio: exact costs by brute force, and a planted false bound."""

import itertools
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors import Streams
from dpaudit.auditors.counterexamples.lemma import audit_lemma
from dpaudit.catalog.ailon2008 import KwikSort
from dpaudit.catalog.yan2020 import claims


def brute_ratio(profile):
    rows = [list(row) for row in np.asarray(profile).tolist()]
    m = len(rows[0])
    prefer = {(i, j): sum(r.index(i) < r.index(j) for r in rows) for i in range(m) for j in range(m) if i != j}

    def cost(order):
        return sum(prefer[later, earlier] for earlier, later in itertools.combinations(order, 2))

    @cache
    def expected(items):
        if len(items) < 2:
            return Fraction(0)
        total = Fraction(0)
        for pivot in items:
            others = [i for i in items if i != pivot]
            tied = [i for i in others if prefer[i, pivot] == prefer[pivot, i]]
            for coins in itertools.product((True, False), repeat=len(tied)):
                left = {i for i in others if prefer[i, pivot] > prefer[pivot, i]}
                left |= {i for i, coin in zip(tied, coins, strict=True) if coin}
                right = [i for i in others if i not in left]
                left = [i for i in others if i in left]
                paid = sum(prefer[pivot, i] for i in left) + sum(prefer[i, pivot] for i in right)
                paid += sum(prefer[b, a] for a in left for b in right)
                total += (paid + expected(tuple(left)) + expected(tuple(right))) / 2 ** len(tied)
        return total / len(items)

    optimum = min(cost(order) for order in itertools.permutations(range(m)))
    return expected(tuple(range(m))) / optimum if optimum else Fraction(1)


@pytest.mark.parametrize("m", [3, 4, 5, 6])
def test_the_exact_ratio_of_the_hard_profiles(m):
    profile = list(claims.hard_profiles(m))[-1].rankings()
    assert profile.shape[1] == m
    assert claims.ratio(profile) == pytest.approx(float(brute_ratio(profile)), rel=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_the_exact_ratio_of_random_profiles(seed):
    rng = np.random.default_rng(seed)
    profile = rng.permuted(np.tile(np.arange(4), (rng.integers(1, 6), 1)), axis=1)
    assert claims.ratio(profile) == pytest.approx(float(brute_ratio(profile)), rel=1e-12)


def test_a_planted_bound_is_refuted_by_a_listed_profile(monkeypatch):
    monkeypatch.setattr(claims, "RATIO", 1.2)
    found = audit_lemma(claims.kwiksort_ratio(KwikSort(alternatives=5, agents=5)), draws=200, streams=Streams(1))
    assert found.verdict == "refuted"
    assert found.samples == 0
    ratio = brute_ratio(found.witness.instance["profile"].rankings())
    assert ratio > Fraction(6, 5)
    assert found.witness.measured == pytest.approx(float(ratio))


@pytest.mark.slow
def test_a_planted_bound_is_refuted_by_a_drawn_profile_that_is_shrunk(monkeypatch):
    """Over 3 alternatives no profile of 3 agents or fewer has a ratio above 1.15, and one of 4 agents has 7/6."""
    monkeypatch.setattr(claims, "RATIO", 1.15)
    planted = claims.kwiksort_ratio(KwikSort(alternatives=4, agents=5))
    drawn = dpaudit.LemmaClaim(
        id="planted", statement="the ratio is at most 1.15", margin=planted.margin, variables=planted.variables
    )
    found = audit_lemma(drawn, draws=2000, streams=Streams(1))
    assert found.verdict == "refuted"
    profile = np.array(found.witness.instance["profile"])
    assert brute_ratio(profile) > Fraction(115, 100)
    assert len(profile) <= 4
    assert profile.shape[1] <= 4


@pytest.mark.slow
def test_the_published_bound_withstands_the_search():
    claim = claims.kwiksort_ratio(KwikSort(alternatives=6, agents=5))
    assert audit_lemma(claim, draws=80, streams=Streams(1)).verdict == "consistent"
