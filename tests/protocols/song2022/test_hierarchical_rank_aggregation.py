"""The lemmas about hierarchical rank aggregation, on profiles whose costs are known."""

import subprocess
import sys

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.catalog.ding2018 import HierarchicalRankAggregation
from dpaudit.catalog.song2022 import aggregation

# Random pivots are nearer to these agents in the mean than levels are.
WORSE = np.array([[0, 1, 2, 3], [0, 1, 2, 3], [0, 2, 3, 1], [1, 2, 3, 0], [2, 3, 0, 1], [3, 1, 2, 0], [3, 0, 2, 1]])


def decide(name, draws):
    target = HierarchicalRankAggregation(alternatives=4, agents=7)
    claim = next(claim for claim in target.claims() if claim.id == f"song2022.{name}")
    return audit(HierarchicalRankAggregation(), claim, budget=Budget(samples=draws), streams=Streams(0))


def test_costs_of_known_profiles():
    assert aggregation.hra_cost(np.array([[0, 1, 2]] * 3)) == 0
    assert aggregation.hra_cost(WORSE) == 19
    assert aggregation.kwiksort_cost(WORSE) == pytest.approx(18.5)


def test_the_order_of_the_majorities_is_found_or_its_absence():
    assert aggregation.condorcet_margin(np.array([[1, 0, 2], [1, 2, 0], [0, 1, 2]])) == 0
    assert aggregation.condorcet_margin(np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1]])) == 0


@pytest.mark.slow
def test_verdicts():
    assert decide("hra-condorcet", 300).verdict == "consistent"
    assert decide("hra-without-pivot-error", None).verdict == "refuted"


def test_an_aggregation_against_the_majorities_is_refuted(monkeypatch):
    honest = aggregation.rankings.hierarchical

    class Backwards:
        def __getattr__(self, name):
            return getattr(dpaudit.rankings, name)

        @staticmethod
        def hierarchical(margins, rng, size=None):
            return honest(-np.asarray(margins), rng, size)

    monkeypatch.setattr(aggregation, "rankings", Backwards())
    assert decide("hra-condorcet", 50).verdict == "refuted"


@pytest.mark.slow
def test_a_fresh_process_knows_the_claims_that_another_paper_makes():
    code = "import dpaudit; print(*[claim.id for claim in dpaudit.load('hierarchical-rank-aggregation')().claims()])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = ["hra-without-pivot-error", "hra-condorcet", "average-distance", "average-distance-meant"]
    names += ["hra-total-order", "score-is-borda"]
    assert found.stdout.split() == [f"song2022.{name}" for name in names]
