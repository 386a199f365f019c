"""What the paper says of distances, scores and shuffling, and the paired runs, against independent calculations."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from dpaudit import rankings
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.catalog.ding2018 import HierarchicalRankAggregation
from dpaudit.catalog.song2022 import DDPHelnaksort
from dpaudit.catalog.song2022.aggregation import printed_distance
from dpaudit.catalog.song2022.collection import cast, collect, truths
from dpaudit.catalog.song2022.paired import by_levels, opposite, paired
from dpaudit.catalog.song2022.paper import ERRATA, LEFT_ALONE, PAPER
from dpaudit.catalog.song2022.score import collect_wins, levels

SEED = 20261122
FALSE_ALARM = 1e-6


def claim_of(target, name):
    return next(claim for claim in target.claims() if claim.id == f"song2022.{name}")


def anywhere(claim):
    """Return a claim at other values than its statement names, where it is measured all the same."""
    named = claim.inapplicable.startswith("it is about ")
    return dataclasses.replace(claim, inapplicable="") if named else claim


def decide(name, target=DDPHelnaksort, **parameters):
    made = target(**parameters)
    return audit(made, anywhere(claim_of(made, name)), budget=Budget(samples=200), streams=Streams(1))


def test_the_printed_distance_of_a_ranking_and_its_reverse_is_2():
    for m in (2, 3, 5):
        order = np.random.default_rng(m).permutation(m)
        assert printed_distance(order, order) == 0
        assert printed_distance(order, order[::-1]) == 2


def test_the_printed_distance_is_twice_the_share_of_pairs():
    orders = list(itertools.permutations(range(4)))
    for other in orders:
        assert printed_distance(np.array(orders[7]), np.array(other)) == pytest.approx(
            2 * rankings.kendall_tau(np.array(orders[7]), np.array(other)) / 6
        )


def test_the_distance_is_normalised_twice():
    refuted = decide("average-distance", HierarchicalRankAggregation, alternatives=3, agents=2)
    assert refuted.verdict == "refuted"
    assert refuted.witness.details["claimed"] == pytest.approx(3 * refuted.witness.details["actual"])
    assert decide("average-distance-meant", HierarchicalRankAggregation).verdict == "consistent"


def test_the_score_is_the_borda_count_in_disguise():
    assert decide("score-is-borda", HierarchicalRankAggregation).verdict == "consistent"
    assert claim_of(HierarchicalRankAggregation(), "score-is-borda").margin(np.array([[2, 0, 1]])) == 0


def test_the_two_scores_by_hand():
    """A circle that C_aj splits by its margins, 1, 0 and -1, and the Borda count by who was asked about most."""
    wins = np.array([[0, 5, 1], [1, 0, 2], [3, 1, 0]], dtype=float)
    margins = wins - wins.T
    assert (margins.sum(axis=1) == [2, -3, 1]).all()
    assert (wins.sum(axis=1) == [6, 3, 4]).all()
    cycle = np.array([[0, 3, 2], [2, 0, 9], [3, 8, 0]], dtype=float)
    assert ((cycle - cycle.T).sum(axis=1) == [0, 0, 0]).all()
    assert (cycle.sum(axis=1) == [5, 11, 11]).all()
    rng = np.random.default_rng(SEED)
    tops = {borda: set(levels(np.repeat(cycle[None], 200, axis=0), rng, borda=borda)[:, 0]) for borda in (False, True)}
    assert tops == {False: {0, 1, 2}, True: {1, 2}}


def test_levels_by_c_are_hierarchical_rank_aggregation():
    rng = np.random.default_rng(SEED)
    wins = rng.integers(0, 3, (3000, 5, 5)).astype(float)
    margins = wins - np.swapaxes(wins, 1, 2)
    ours = levels(wins, np.random.default_rng(1), borda=False)
    assert (ours == rankings.hierarchical(margins, np.random.default_rng(1))).all()


def test_answers_are_counted_for_either_side():
    target = DDPHelnaksort(epsilon=1.0, agents=30)
    rng = np.random.default_rng(SEED)
    votes = cast(truths(target.electorates(50, rng)), target.report.response, rng)
    wins = collect_wins(votes, 2, np.random.default_rng(2))
    assert (wins - np.swapaxes(wins, 1, 2) == collect(votes, 2, np.random.default_rng(2))).all()
    assert (wins.sum(axis=(1, 2)) == 60).all()


def test_the_score_saves_no_budget():
    for queries in (1, 3):
        refuted = decide("score-saves-budget", queries=queries)
        assert refuted.verdict == "refuted"
        details = refuted.witness.details
        x = 1 / queries / (2 * math.sqrt(2 * math.log(12_500)))
        assert (
            details["actual"]
            == details["claimed"]
            == pytest.approx(queries * math.log(norm.cdf(x) / norm.cdf(-x)), rel=1e-9)
        )


@pytest.mark.slow
def test_levels_are_nearer_than_pivots_without_noise():
    """The mean of HRA's and of KwikSort's exact costs over the same agents, against the measured difference."""
    target = DDPHelnaksort(epsilon=1.0, agents=5)
    found = claim_of(target, "hra-without-pivots").measure(1000, np.random.default_rng(SEED))
    profiles = target.electorates(1000, np.random.default_rng(SEED))
    costs = [rankings.kwiksort_expected_cost(rankings.pairwise_counts(profile)) / 30 for profile in profiles]
    assert found["KwikSort"].mean() == pytest.approx(np.mean(costs), abs=6 * np.std(costs) / math.sqrt(1000))
    assert found["value"].mean() < 0


@pytest.mark.slow
def test_without_a_shuffler_half_of_the_budget_is_a_noisier_answer():
    target = DDPHelnaksort(central_epsilon=4.0, agents=2, alternatives=2, dispersion=40.0, delta=0.1)
    found = claim_of(target, "figure4-budget-without").measure(20_000, np.random.default_rng(SEED))
    spread = 2 * math.sqrt(2 * math.log(12.5))
    for name, epsilon in (("at ϵ", 4.0), ("at ϵ/2", 2.0)):
        # Two agents who agree, one question: as often wrong as an answer.
        assert found[name].mean() == pytest.approx(norm.sf(epsilon / spread), abs=0.02)
    assert claim_of(DDPHelnaksort(epsilon=1.0), "figure4-budget-without").inapplicable


def test_the_source_of_a_shuffled_answer_is_any_of_the_agents():
    assert decide("source-unguessable-meant").verdict == "proved"
    claim = claim_of(DDPHelnaksort(), "source-unguessable-meant")
    assert claim.explain(agents=4)["actual"] == pytest.approx(0.25)


def test_shuffled_answers_are_as_true_as_before():
    """By hand, at ϵ = 0.5: Φ(0.5 (0.5 + ln(100 / 6)) / sqrt(2 ln 12500)) against Φ(0.25 / sqrt(2 ln 12500))."""
    evidence = decide("shuffling-as-noise", central_epsilon=0.5)
    spread = math.sqrt(2 * math.log(12_500))
    assert evidence.verdict == "refuted"
    assert evidence.measured["actual"].lower == pytest.approx(norm.cdf(0.5 * (0.5 + math.log(100 / 6)) / spread))
    assert evidence.measured["claimed"].lower == pytest.approx(norm.cdf(0.25 / spread))
    assert decide("shuffling-as-noise-meant", central_epsilon=0.5).verdict == "proved"
    assert decide("shuffling-keeps-utility").verdict == "proved"


@pytest.mark.slow
def test_amplification_is_logarithmic():
    evidence = decide("amplification-proportional", agents=96)
    assert evidence.measured["actual"].lower == pytest.approx(math.log(32))
    assert evidence.measured["claimed"].lower == pytest.approx(2 * math.log(16))
    assert evidence.verdict == "refuted"
    for agents in (12, 36, 90):
        assert decide("amplification-proportional-meant", agents=agents).verdict == "proved"
        assert decide("shuffling-amplifies", agents=agents).verdict == "proved"


def test_expected_distance_of_the_mallows_model_by_enumeration():
    for theta in (0.0, 0.25, 1.0):
        orders = np.array(list(itertools.permutations(range(4))))
        distances = rankings.kendall_tau(orders, np.arange(4))
        weights = np.exp(-theta * distances)
        exact = (weights * distances).sum() / weights.sum()
        assert rankings.Mallows(np.arange(4), math.exp(-theta)).expected_distance() == pytest.approx(exact)
    assert decide("dispersion", alternatives=6).verdict == "proved"


def test_an_opposite_vote_has_the_same_law_and_mirrored_noise():
    """A true answer is as likely, both are true where the vote is forced, with 2p - 1, and both false nowhere."""
    response = DDPHelnaksort(epsilon=6.0).report.response
    truth = math.exp(response.law(1).log_probabilities[1])
    preferred = np.random.default_rng(1).random((1, 40_000, 1)) < 0.3
    votes = cast(preferred, response, np.random.default_rng(SEED))
    mirrored = opposite(votes, preferred, response, np.random.default_rng(SEED + 1))
    right = [(each.values > 0) == preferred for each in (votes, mirrored)]
    assert binomtest(int(right[1].sum()), 40_000, truth).pvalue > FALSE_ALARM
    assert binomtest(int((right[0] & right[1]).sum()), 40_000, 2 * truth - 1).pvalue > FALSE_ALARM
    assert not (~right[0] & ~right[1]).any()


@pytest.mark.slow
def test_paired_runs_have_the_mean_of_independent_ones():
    """The same expected distance, with less spread, and none between a curve and itself."""
    target = DDPHelnaksort(epsilon=3.0, agents=20)
    response = target.report.response
    curves = {"one": (response, by_levels(1)), "again": (response, by_levels(1))}
    found = paired(target, 4000, np.random.default_rng(SEED), curves)
    assert (found["one"] == found["again"]).all()
    rng = np.random.default_rng(SEED)
    preferred = truths(target.electorates(4000, rng))
    alone = by_levels(1)(cast(preferred, response, rng), preferred, rng)
    spread = math.hypot(alone.std(), found["one"].std()) / math.sqrt(4000)
    assert found["one"].mean() == pytest.approx(alone.mean(), abs=6 * spread)
    assert found["one"].std() < 0.8 * alone.std()


@pytest.mark.slow
def test_the_shuffler_of_panel_b_costs():
    """Fewer agents than pairs: with the same draws the noisier answers are never nearer in the mean."""
    target = DDPHelnaksort(central_epsilon=0.5, alternatives=15)
    values = claim_of(target, "figure4").measure(1500, np.random.default_rng(SEED))["value"]
    assert values.mean() > 5 * values.std() / math.sqrt(1500)


def test_assertions_left_alone_stand_in_order_with_a_reason():
    keys = [each.where.sort_key for each in LEFT_ALONE]
    assert keys == sorted(keys)
    assert all(each.where.paper is PAPER and each.says.endswith(".") and each.reason for each in LEFT_ALONE)
    assert len({each.says for each in LEFT_ALONE}) == len(LEFT_ALONE)
    assert len(ERRATA) == 12
