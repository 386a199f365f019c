"""The figures of LDP-KwikSort's evaluation: exact rates against enumeration, mutants that must change the verdict."""

import dataclasses
import itertools
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest

import dpaudit
from dpaudit import rankings
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.catalog.yan2020 import LDPKwikSortEvaluation, LDPKwikSortRR
from dpaudit.catalog.yan2020.comparison import compete

FALSE_ALARM = 1e-6
EVALUATION = LDPKwikSortEvaluation
SMALL = {"epsilon": 2.0, "alternatives": 4, "agents": 300, "dispersion": 0.5}


def anywhere(claim):
    """Return a claim at other values than its statement names, where it is measured all the same."""
    named = claim.inapplicable.startswith("it is about ")
    return dataclasses.replace(claim, inapplicable="") if named else claim


def decide(target, name, runs=None, seed=1, **published):
    claim = next(claim for claim in target.claims() if claim.id == f"yan2020.{name}")
    claim = dataclasses.replace(anywhere(claim), **published)
    return audit(target, claim, budget=Budget(samples=runs, confidence=1 - FALSE_ALARM), streams=Streams(seed))


class Swapped(EVALUATION):
    """Takes RR for Lap, and Lap for RR."""

    def systems(self):
        found = super().systems()
        return {**found, "ldp-kwiksort-rr": found["ldp-kwiksort-lap"], "ldp-kwiksort-lap": found["ldp-kwiksort-rr"]}


class UnsplitRR(LDPKwikSortRR):
    """Gives every answer the whole budget."""

    @property
    def report(self):
        return type(super().report)(
            epsilon=self.epsilon * self.asked, queries=self.asked, alternatives=self.alternatives
        )

    def bias(self, queries):
        return math.tanh(self.epsilon / 2)


class Unsplit(EVALUATION):
    """Measures the solution that forgets to split the budget."""

    def solution(self, name, **options):
        whole = super().solution(name, **options)
        return UnsplitRR(**{**whole.parameters(), "queries": whole.asked})


class WrongK(EVALUATION):
    """Takes another K for ϵ/2."""

    def half(self):
        return 3


# Figure 3.


@pytest.mark.parametrize("solution", ["rr", "lap"])
def test_the_expected_error_rate_by_enumeration(solution):
    agents, queries, epsilon, phi = 3, 2, 1.5, math.exp(-0.5)
    target = EVALUATION(epsilon=epsilon, alternatives=3, agents=agents, dispersion=0.5)
    epsilon_k = epsilon / queries
    keep = 1 / (1 + math.exp(-epsilon_k)) if solution == "rr" else 1 - math.exp(-epsilon_k / 2) / 2
    orders = list(itertools.permutations(range(3)))
    weights = {order: phi ** sum(order.index(a) > order.index(b) for a, b in PAIRS) for order in orders}
    expected = 0.0
    for a, b in PAIRS:
        agree = sum(w for order, w in weights.items() if order.index(a) < order.index(b)) / sum(weights.values())
        right = agree * keep + (1 - agree) * (1 - keep)
        # Every agent says nothing, the right or the wrong order.
        law = {0: 1 - queries / 3, 1: queries / 3 * right, -1: queries / 3 * (1 - right)}
        for said in itertools.product(law, repeat=agents):
            expected += math.prod(law[vote] for vote in said) * (sum(said) < 0) / 3
    assert target.expected_error_rate(solution, queries) == pytest.approx(expected, rel=1e-12)


PAIRS = list(itertools.combinations(range(3), 2))


@pytest.mark.parametrize(
    ("epsilon", "alternatives", "listed", "half"),
    [(1.0, 4, [1, 2, 3, 4, 5, 6], 1), (2.0, 10, [1, 2, 3, 4, 11, 45], 1), (4.0, 15, [1, 2, 3, 4, 16, 105], 2),
     (10.0, 15, [1, 2, 3, 4, 5, 16, 105], 5), (10.0, 3, [1, 2, 3], 3)],
)  # fmt: skip
def test_the_numbers_of_queries_of_figure_3(epsilon, alternatives, listed, half):
    target = EVALUATION(epsilon=epsilon, alternatives=alternatives, agents=50)
    assert target.listed() == listed
    assert target.half() == half
    assert target.rival("rr") in listed
    assert target.rival("rr") != half


def test_the_best_other_number_of_queries_by_hand():
    # K tanh(ϵ / 2K)^2 at ϵ = 10: 2.608 at 3, 2.878 at 4, 2.900 at 5; Lap's K (1 - exp(-ϵ / 2K))^2: 1.974, 2.036, 1.998.
    assert [EVALUATION(epsilon=10.0).rival(name) for name in ("rr", "lap")] == [4, 4]
    # At ϵ = 4: 0.929 at 1, 1.160 at 2, 1.019 at 3; Lap's: 0.748 at 1, 0.799 at 2, 0.710 at 3.
    assert [EVALUATION(epsilon=4.0).rival(name) for name in ("rr", "lap")] == [3, 1]


@pytest.mark.parametrize(
    ("target", "name", "verdict"),
    [
        (EVALUATION, "figure3-least-rr", "proved"),
        (EVALUATION, "figure3-rising-rr", "proved"),
        (WrongK, "figure3-least-rr", "refuted"),
        (WrongK, "figure3-least-lap", "refuted"),
        (Unsplit, "figure3-least-rr", "refuted"),
        (Unsplit, "figure3-rising-rr", "refuted"),
    ],
)
def test_figure_3_exactly(target, name, verdict):
    assert decide(target(**{**SMALL, "epsilon": 1.0}), name).verdict == verdict


@pytest.mark.slow
@pytest.mark.parametrize(("target", "verdict"), [(EVALUATION, "certified"), (WrongK, "refuted"), (Unsplit, "refuted")])
@pytest.mark.parametrize("metric", ["kendall-tau", "error-rate"])
def test_figure_3_measured(target, verdict, metric):
    evidence = decide(target(**SMALL), f"figure3-{metric}-rr", 1200)
    assert evidence.verdict == verdict
    assert set(evidence.measured) == {"value", *(f"K = {k}" for k in (1, 2, 3, 4, 5, 6))}


@pytest.mark.slow
def test_what_is_measured_for_figure_3_is_what_is_computed():
    # So many agents that the majority is the ground truth.
    target = EVALUATION(epsilon=1.0, alternatives=4, agents=1500, dispersion=0.75)
    measured = decide(target, "figure3-error-rate-lap", 600).measured
    for k in target.listed():
        interval = measured[f"K = {k}"]
        assert interval.lower <= target.expected_error_rate("lap", k) <= interval.upper


def test_at_larger_budgets_no_growth_is_claimed_and_of_data_no_ground_truth_is_known():
    assert decide(EVALUATION(epsilon=4.0), "figure3-rising-rr").verdict == "inapplicable"
    profile = rankings.Profile.from_rankings([(0, 1, 2)] * 5)
    target = EVALUATION(alternatives=3, agents=5, profile=profile)
    assert decide(target, "figure3-least-rr").verdict == "inapplicable"
    assert decide(target, "figure3-kendall-tau-rr", 40).measured["K = 1"].estimate is not None


# Figure 4.


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["kendall-tau", "error-rate"])
@pytest.mark.parametrize(("target", "verdict"), [(EVALUATION, "certified"), (Swapped, "refuted")])
def test_rr_outperforms_lap_and_not_the_other_way_round(target, verdict, metric):
    evidence = decide(target(**SMALL), f"figure4-{metric}", 3000)
    assert evidence.verdict == verdict
    assert set(evidence.measured) == {"value", "kwiksort", "dp-kwiksort", "ldp-kwiksort-rr", "ldp-kwiksort-lap"}


@pytest.mark.slow
def test_kwiksort_is_the_lower_bound_and_dp_kwiksort_comes_near_it():
    for name in ("dp", "rr", "lap"):
        assert (
            decide(EVALUATION(**{**SMALL, "epsilon": 0.1}), f"figure4-lower-bound-{name}", 1000).verdict == "certified"
        )
    assert decide(EVALUATION(epsilon=0.1, dispersion=0.75), "figure4-dp-approaches", 120).verdict == "certified"
    # Noise of scale 79 on margins of some 2: no better than a coin.
    assert (
        decide(EVALUATION(epsilon=0.1, agents=10, alternatives=5), "figure4-dp-approaches", 1000).verdict == "refuted"
    )
    scales = [
        EVALUATION(epsilon=1.0, logarithm=base, alternatives=8).central().noise.scale for base in ("natural", "binary")
    ]
    assert scales == pytest.approx([7 * math.log(8), 7 * 3])


@pytest.mark.slow
@pytest.mark.parametrize("solution", ["rr", "lap"])
def test_errors_fall_with_the_budget(solution):
    for metric in ("kendall-tau", "error-rate"):
        assert decide(EVALUATION(**SMALL), f"figure4-{metric}-improves-{solution}", 1500).verdict == "certified"


class Halved(EVALUATION):
    """Looks at twice the budget where it should look at half."""

    def solution(self, name, *, epsilon=None, **options):
        return super().solution(name, epsilon=epsilon and 4 * epsilon, **options)


@pytest.mark.slow
def test_a_larger_budget_where_half_is_meant_is_found():
    assert decide(Halved(**SMALL), "figure4-error-rate-improves-rr", 1500).verdict == "refuted"


# Figure 5.


@pytest.mark.slow
def test_the_three_readings_of_a_gap_are_of_one_gap():
    target = EVALUATION(**SMALL)
    distances = compete(target.solution("rr"), target.systems(), 3000, np.random.default_rng(1))
    rr, lap = (float(distances[f"ldp-kwiksort-{name}"]["kendall-tau"].mean()) for name in ("rr", "lap"))
    for reading, expected in (("of-lap", 100 * (lap - rr) / lap), ("of-rr", 100 * (lap - rr) / rr)):
        value = decide(target, f"figure5-gap-{reading}", 3000, published=expected).measured["value"]
        assert value.lower <= expected <= value.upper
        assert value.lower > 0
    exactly = {"published": 100 * (lap - rr), "published_runs": None}
    assert decide(target, "figure5-gap-in-points", 3000, **exactly).verdict == "consistent"
    assert decide(Swapped(**SMALL), "figure5-gap-in-points", 3000, **exactly).verdict == "refuted"


def test_a_published_gap_is_a_mean_of_30_runs():
    evidence = decide(EVALUATION(**SMALL), "figure5-gap-in-points", 300, published=1.5)
    value, mean = evidence.measured["value"], evidence.measured["mean of 30 runs"]
    assert mean.upper - mean.lower == pytest.approx((value.upper - value.lower) * math.sqrt(1 + 300 / 30))


@pytest.mark.slow
def test_kwiksorts_distance_is_that_of_the_centre_of_a_large_profile():
    target = EVALUATION(alternatives=30, agents=2000, dispersion=0.75)
    evidence = decide(target, "figure5-kwiksort-decreases", 100)
    assert evidence.verdict == "certified"
    for m in (15, 30):
        centre = rankings.Mallows(np.arange(m), math.exp(-0.75)).expected_distance() / math.comb(m, 2)
        interval = evidence.measured[f"m = {m}"]
        assert interval.lower <= centre <= interval.upper
    assert decide(EVALUATION(alternatives=15), "figure5-kwiksort-decreases").verdict == "inapplicable"


@pytest.mark.parametrize(("phi", "verdict"), [(0.5, "certified"), (1.0, "refuted")])
def test_figure_5b_on_data_of_its_size(phi, verdict):
    orders = rankings.Mallows(np.arange(4), phi).sample(793, np.random.default_rng(1))
    target = EVALUATION(alternatives=4, agents=793, profile=rankings.Profile.from_rankings(orders))
    evidence = decide(target, "figure5-kwiksort-at-100", 150)
    assert evidence.verdict == verdict
    counts = rankings.pairwise_counts(orders)
    whole = rankings.kwiksort_expected_cost(counts) / (793 * 6)
    assert evidence.measured["n = 793"].lower <= whole <= evidence.measured["n = 793"].upper
    # Who has few agents to please pleases them better.
    assert evidence.measured["n = 10"].estimate < evidence.measured["n = 100"].lower
    assert decide(EVALUATION(alternatives=4, agents=793), "figure5-kwiksort-at-100").verdict == "inapplicable"


@pytest.mark.slow
@pytest.mark.skipif("DPAUDIT_DATA" not in os.environ, reason="set DPAUDIT_DATA to a folder of PrefLib .soc files")
def test_figure_5b_on_its_own_data():
    found = sorted(Path(os.environ["DPAUDIT_DATA"]).rglob("*25-0000*.soc"))
    if not found:
        pytest.skip("no *25-0000*.soc in DPAUDIT_DATA")
    profile = rankings.read_profile(found[0])
    target = EVALUATION(alternatives=4, agents=profile.agents, profile=profile)
    assert decide(target, "figure5-kwiksort-at-100").verdict == "certified"


# Table 3.

TABLE = {
    5: (0.0001, 0.0008, 2.5783, 2.9015),
    10: (0.0001, 0.0030, 2.6125, 2.9026),
    15: (0.0002, 0.0076, 2.8551, 2.9294),
    30: (0.0005, 0.0285, 3.3530, 2.9812),
    45: (0.0007, 0.0626, 4.4113, 3.1288),
}


def timed(m, kwiksort, central, rr, lap):
    class Timed(EVALUATION):
        def seconds(self, runs, rng):
            taken = {"kwiksort": kwiksort, "dp-kwiksort": central, "ldp-kwiksort-rr": rr, "ldp-kwiksort-lap": lap}
            taken["noise"] = abs(central - kwiksort)
            return {name: value * rng.uniform(0.99, 1.01, runs) for name, value in taken.items()}

    return Timed(alternatives=m)


@pytest.mark.parametrize("m", TABLE)
def test_the_published_times_contradict_the_text_nowhere_by_a_clear_factor(m):
    target = timed(m, *TABLE[m])
    assert decide(target, "table3-kwiksort-least").verdict == "consistent"
    assert decide(target, "table3-dp-small-increase").verdict == "consistent"
    assert decide(target, "table3-rr-faster").verdict == ("consistent" if m == 5 else "inapplicable")
    assert decide(target, "table3-rr-slower").verdict == ("consistent" if m >= 15 else "inapplicable")


@pytest.mark.parametrize(
    ("name", "m", "seconds"),
    [
        ("kwiksort-least", 5, (0.0021, 0.0010, 2.0, 2.0)),
        ("kwiksort-least", 5, (0.0021, 0.0030, 2.0, 0.0010)),
        ("dp-small-increase", 15, (0.0002, 0.6, 2.8, 2.9)),
        ("rr-faster", 5, (0.0001, 0.0008, 5.9, 2.9)),
        ("rr-slower", 30, (0.0001, 0.0008, 2.9, 5.9)),
    ],
)
def test_times_that_contradict_the_text_by_a_clear_factor_refute_it(name, m, seconds):
    assert decide(timed(m, *seconds), f"table3-{name}").verdict == "refuted"


@pytest.mark.slow
def test_times_stand_apart_from_the_results():
    target = EVALUATION(alternatives=5, agents=200)
    claims = ["yan2020.table3-kwiksort-least", "yan2020.table3-rr-faster"]
    one, two = (dpaudit.check(target, claims=claims, samples=100) for _ in range(2))
    assert [result.verdict for result in one.results] == ["consistent", "consistent"]
    seconds = one.results[0].measured
    assert {f"{name} seconds" for name in (*target.systems(), "noise")} == set(seconds) - {"value"}
    assert all(interval.estimate > 0 for name, interval in seconds.items() if name != "value")
    assert seconds != two.results[0].measured
    first, second = (json.loads(record.to_json()) for record in (one, two))
    assert first["results"] == second["results"]
    assert set(first["timing"]["measured"]) == {"0", "1"}
    assert one.reproducible().to_json() == two.reproducible().to_json()
