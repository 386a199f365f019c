"""The steps of DDP-Helnaksort and LDP-QuickSort, and the claims about the figures."""

import dataclasses
import math
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from dpaudit import randomizers, rankings
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.catalog.ding2018 import HierarchicalRankAggregation
from dpaudit.catalog.song2022 import DDPHelnaksort, LDPQuickSort
from dpaudit.catalog.song2022.collection import Votes, cast, collect, true_margins, truths
from dpaudit.catalog.song2022.ldp_quicksort import quicksort
from dpaudit.catalog.song2022.shuffler_figures import as_exact, most_truthful

SEED = 20261121
FALSE_ALARM = 1e-6


class Truthful:
    """A randomizer that leaves answers as they are."""

    def randomize(self, values, rng):
        return np.asarray(values)


def claim_of(target, name):
    return next(claim for claim in target.claims() if claim.id == f"song2022.{name}")


def anywhere(claim):
    """Return a claim at other values than its statement names, where it is measured all the same."""
    named = claim.inapplicable.startswith("it is about ")
    return dataclasses.replace(claim, inapplicable="") if named else claim


def decide(name, samples, **parameters):
    target = DDPHelnaksort(**parameters)
    return audit(target, anywhere(claim_of(target, name)), budget=Budget(samples=samples), streams=Streams(1))


def random_orders(runs, agents, m, seed=SEED):
    return np.random.default_rng(seed).permuted(np.tile(np.arange(m), (runs, agents, 1)), axis=2)


def test_all_true_answers_make_the_margins_of_the_profile():
    orders = random_orders(4, 9, 5)
    votes = cast(truths(orders), Truthful(), np.random.default_rng(0))
    margins = collect(votes, 10, np.random.default_rng(0))
    for run in range(4):
        exact = rankings.margins(rankings.pairwise_counts(orders[run]))
        assert (margins[run] == exact).all()
        assert (true_margins(truths(orders))[run] == exact).all()


def test_every_agent_answers_k_different_questions():
    votes = Votes(np.ones((3, 20, 6)))
    for queries in (1, 2, 6):
        margins = collect(votes, queries, np.random.default_rng(SEED))
        assert np.triu(margins, 1).sum(axis=(1, 2)) == pytest.approx(20 * queries)
        assert np.abs(margins).max() <= 20
    runs = 3000
    one = collect(Votes(np.ones((runs, 1, 6))), 1, np.random.default_rng(SEED))
    assert binomtest(int((one[:, 1, 2] > 0).sum()), runs, 1 / 6).pvalue > FALSE_ALARM


def test_answers_carry_the_noise_of_the_paper():
    target = DDPHelnaksort(epsilon=3.0, queries=2, delta=1e-3)
    sigma = 2 * math.sqrt(2 * math.log(1250)) / 3
    assert target.report.response.noise.scale == pytest.approx(sigma)
    votes = cast(np.ones((1, 50_000, 1), dtype=bool), target.report.response, np.random.default_rng(SEED))
    from scipy.stats import norm

    assert binomtest(int((votes.values > 0).sum()), 50_000, norm.cdf(0.5 / sigma)).pvalue > FALSE_ALARM


def test_distance_is_the_average_kendall_tau_distance():
    orders = random_orders(6, 7, 5)
    aggregates = random_orders(6, 1, 5, seed=1)[:, 0]
    found = rankings.margin_distance(aggregates, true_margins(truths(orders)), 7)
    for run in range(6):
        counts = rankings.pairwise_counts(orders[run])
        assert found[run] == pytest.approx(rankings.average_kendall_tau(aggregates[run], counts, normalized=True))


def test_quicksort_sorts_by_the_answers_that_it_asks_for():
    truth = np.array([2, 0, 3, 1])
    votes = cast(truths(np.tile(truth, (50, 5, 1))), Truthful(), np.random.default_rng(0))
    assert (quicksort(votes, 6, np.random.default_rng(SEED)) == truth).all()


def quicksort_of_one_run(votes, queries, rng):
    """LDP-QuickSort in one run, on lists: pivots in a random order, each splits the block that it is in."""
    agents, m = len(votes), 3
    number = {(0, 1): 0, (0, 2): 1, (1, 2): 2}
    chance = min(1.0, queries / (8 / 3))
    left = [queries] * agents
    blocks = [[0, 1, 2]]
    for pivot in rng.permutation(m).tolist():
        place = next(i for i, block in enumerate(blocks) if pivot in block)
        before, after = [], []
        for item in blocks[place]:
            if item == pivot:
                continue
            total = 0
            for agent in range(agents):
                if left[agent] > 0 and rng.random() < chance:
                    left[agent] -= 1
                    total += votes[agent][number[tuple(sorted((item, pivot)))]] * (1 if item < pivot else -1)
            ahead = total > 0 or (total == 0 and rng.random() < 0.5)
            (before if ahead else after).append(item)
        blocks[place : place + 1] = [block for block in (before, [pivot], after) if block]
    return [item for block in blocks for item in block]


@pytest.mark.slow
@pytest.mark.parametrize("queries", [1, 2])
def test_quicksort_follows_the_law_of_one_run_after_another(queries):
    """Two agents who would always be right: how often each ranking comes out shows how often they are asked."""
    runs, slow_runs = 60_000, 6_000
    votes = cast(truths(np.tile([0, 1, 2], (runs, 2, 1))), Truthful(), np.random.default_rng(0))
    fast = np.bincount(rankings.ranking_index(quicksort(votes, queries, np.random.default_rng(SEED))), minlength=6)
    rng = np.random.default_rng(SEED)
    slow = [quicksort_of_one_run(votes.values[0].tolist(), queries, rng) for _ in range(slow_runs)]
    from scipy.stats import chi2_contingency

    table = np.stack([fast, np.bincount(rankings.ranking_index(np.array(slow)), minlength=6)])
    assert chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue > FALSE_ALARM


def test_noise_makes_quicksort_err_as_often_as_the_answers():
    """Two alternatives and one agent who answers everything: wrong as often as a false answer."""
    response = LDPQuickSort(epsilon=2.0, queries=1, alternatives=2, delta=0.1).report.response
    runs = 40_000
    votes = cast(np.ones((runs, 1, 1), dtype=bool), response, np.random.default_rng(SEED))
    wrong = int((quicksort(votes, 1, np.random.default_rng(1))[:, 0] == 1).sum())
    assert binomtest(wrong, runs, math.exp(response.law(1).log_probabilities[0])).pvalue > FALSE_ALARM


def test_samples_are_rankings():
    profile = random_orders(1, 12, 4)[0]
    for target in (
        DDPHelnaksort(epsilon=5.0, queries=2),
        LDPQuickSort(epsilon=5.0, queries=2),
        HierarchicalRankAggregation(alternatives=4),
    ):
        drawn = target.sample(profile, 20, np.random.default_rng(SEED))
        assert (np.sort(drawn, axis=1) == np.arange(4)).all()


def test_new_labels_are_no_help():
    """An aggregation that always returns the order of the labels is as far from the agents as a random one."""
    target = DDPHelnaksort(dispersion=3.0)
    preferred = truths(target.electorates(2000, np.random.default_rng(SEED)))
    distance = rankings.margin_distance(np.tile(np.arange(4), (2000, 1)), true_margins(preferred), 100)
    assert distance.mean() == pytest.approx(0.5, abs=6 * distance.std() / math.sqrt(2000))


def test_a_profile_is_drawn_from_without_replacement():
    profile = rankings.Profile.from_rankings([(0, 1, 2)] * 30 + [(2, 1, 0)] * 10)
    target = DDPHelnaksort(alternatives=3, agents=40, profile=profile, drawn=25)
    assert target.voters == 25
    assert target.share == 25 / 3
    assert [target.views()[view].agents for view in ("received-by-lot", "received-of-secret-draws")] == [25, 25]
    orders = target.electorates(50, np.random.default_rng(SEED))
    assert orders.shape == (50, 25, 3)
    for run in orders:
        kinds, counts = np.unique(run, axis=0, return_counts=True)
        assert len(kinds) <= 2
        assert counts.min() <= 10


def keep_of(budget, delta):
    """Probability that Gaussian noise of the classical calibration leaves an answer on its side of 1/2."""
    from scipy.stats import norm

    return norm.cdf(0.5 * budget / math.sqrt(2 * math.log(1.25 / delta)))


def distance_of_one_agent(keep):
    """Expected distance from an agent with the ranking 0, 1, 2 that answers all three questions, by all its answers.

    Right answers give its ranking, and three false ones the reverse. One false answer on a pair of neighbours swaps
    them, and two with one of them right are as far from the reverse. The others make a circle: broken at random it
    gives one of three rankings, at the distances 0, 2, 2 of 3 with one false answer, and 1, 1, 3 with two.
    """
    false = 1 - keep
    one, two = 1 / 3 + 1 / 3 + 4 / 9, 2 / 3 + 2 / 3 + 5 / 9
    return keep**2 * false * one + keep * false**2 * two + false**3


def error_at(runs):
    """Half-width of a Hoeffding interval for a mean in [0, 1]."""
    return math.sqrt(math.log(2 / FALSE_ALARM) / (2 * runs))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "budgets"),
    [
        ("figure2-kwiksort", {"DDP-Helnaksort": 4.0, "LDP-KwikSort": 4.0}),
        ("figure2-quicksort", {"DDP-Helnaksort": 4.0, "LDP-QuickSort": 4.0}),
        ("figure3", {"K = 3": 4.0}),
    ],
)
def test_figures_split_the_budget_among_the_answers(name, budgets):
    """One agent, asked all three questions on a budget of 12 in all: the distance is that of answers at 4 each."""
    runs = 20_000
    target = DDPHelnaksort(epsilon=12.0, queries=3, delta=0.1, alternatives=3, agents=1)
    found = claim_of(target, name).measure(runs, np.random.default_rng(SEED))
    for protocol, budget in budgets.items():
        exact = distance_of_one_agent(keep_of(budget, 0.1))
        assert found[protocol].mean() == pytest.approx(exact, abs=error_at(runs))
        assert abs(exact - distance_of_one_agent(keep_of(12.0, 0.1))) > 5 * error_at(runs)


@pytest.mark.slow
def test_figure_3_gives_one_answer_the_whole_budget():
    """One agent, one of three questions, at a budget of 2: the other pairs are ties."""
    runs = 20_000
    target = DDPHelnaksort(epsilon=2.0, queries=3, delta=0.1, alternatives=3, agents=1)
    found = claim_of(target, "figure3").measure(runs, np.random.default_rng(SEED))["K = 1"].mean()
    # A true answer puts one above the other, and between them, above or below, comes the third.
    right = np.mean([expected_distance_after_one_answer(pair) for pair in [(0, 1), (0, 2), (1, 2)]])
    wrong = np.mean([expected_distance_after_one_answer(pair) for pair in [(1, 0), (2, 0), (2, 1)]])
    keep = keep_of(2.0, 0.1)
    assert found == pytest.approx(keep * right + (1 - keep) * wrong, abs=error_at(runs))
    share = keep_of(2.0 / 3, 0.1)
    assert abs((keep - share) * (wrong - right)) > 3 * error_at(runs)


def expected_distance_after_one_answer(pair):
    """Distance from 0, 1, 2 where one answer is all that is known: the level scores are 1.5, 1 and 0.5."""
    above, below = pair
    (third,) = {0, 1, 2} - {above, below}
    order = [above, third, below]
    return sum(order.index(a) > order.index(b) for a, b in [(0, 1), (0, 2), (1, 2)]) / 3


@pytest.mark.slow
def test_figure_4_gives_the_shuffler_the_logarithm_more():
    """Two agents who agree on two alternatives, K = 1: as often wrong as an answer, since one of each is a tie."""
    runs, delta = 20_000, 0.1
    target = DDPHelnaksort(central_epsilon=1.0, delta=delta, alternatives=2, agents=2, dispersion=40.0)
    found = claim_of(target, "figure4").measure(runs, np.random.default_rng(SEED))
    with_shuffler, alone = 1 - keep_of(1.0 + math.log(2), delta), 1 - keep_of(1.0, delta)
    assert found["with a shuffler"].mean() == pytest.approx(with_shuffler, abs=error_at(runs))
    assert found["without"].mean() == pytest.approx(alone, abs=error_at(runs))
    assert alone - with_shuffler > 3 * error_at(runs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("figure2-kwiksort", {"epsilon": 16.0, "queries": 1}),
        ("figure2-quicksort", {"epsilon": 16.0, "queries": 6}),
        ("figure3", {"central_epsilon": 0.5, "queries": 6}),
        ("figure4", {"central_epsilon": 0.5}),
    ],
)
def test_figures_on_mallows_profiles(name, parameters):
    assert decide(name, 12_000, **parameters).verdict == "certified"


def test_figure_4_has_fewer_agents_than_pairs_on_the_synthetic_data():
    assert decide("figure4-noise", None, central_epsilon=0.5, alternatives=15).verdict == "refuted"
    assert decide("figure4-noise", None, central_epsilon=0.5, alternatives=4).verdict == "proved"
    assert decide("figure4-mended", None, central_epsilon=0.5, alternatives=15).verdict == "inapplicable"
    assert decide("figure4-mended", None, central_epsilon=0.5, alternatives=14).verdict == "proved"


@pytest.mark.slow
def test_less_budget_is_a_longer_distance_with_a_shuffler():
    claim = claim_of(DDPHelnaksort(central_epsilon=8.0), "figure4-budget")
    found = claim.measure(2000, np.random.default_rng(3))
    np.testing.assert_allclose(found["value"], found["at ϵ"] - found["at ϵ/2"])
    assert found["value"].mean() < -5 * found["value"].std() / math.sqrt(2000)


def test_exact_calibration_uses_up_epsilon_and_delta():
    with_shuffler, alone = as_exact(DDPHelnaksort(central_epsilon=0.5))
    assert alone.keep - math.exp(0.5) * (1 - alone.keep) == pytest.approx(1e-4)
    assert randomizers.Shuffler(with_shuffler).of(16).worst(0.5).delta == pytest.approx(1e-4, rel=1e-5)
    assert with_shuffler.keep > alone.keep
    # At one agent there is nothing to shuffle.
    assert most_truthful(1, 0.5, 1e-4) == pytest.approx(alone.keep, abs=1e-8)


@pytest.mark.slow
@pytest.mark.skipif("DPAUDIT_DATA" not in os.environ, reason="set DPAUDIT_DATA to a folder of PrefLib .soc files")
@pytest.mark.parametrize(
    ("name", "parameters", "samples"),
    [
        ("figure2-kwiksort", {"epsilon": 1.0, "queries": 1}, 40_000),
        ("figure2-quicksort", {"epsilon": 1.0, "queries": 1}, 60_000),
        ("figure3", {"central_epsilon": 1.0, "queries": 4}, 10_000),
        ("figure4", {"central_epsilon": 1.0}, 10_000),
    ],
)
def test_figures_on_the_papers_own_data(name, parameters, samples):
    found = sorted(Path(os.environ["DPAUDIT_DATA"]).rglob("*24-00000001.soc"))
    if not found:
        pytest.skip("no TurkDots in DPAUDIT_DATA")
    profile = rankings.read_profile(found[0])
    evidence = decide(name, samples, profile=profile, agents=profile.agents, **parameters)
    assert evidence.verdict == "certified"
