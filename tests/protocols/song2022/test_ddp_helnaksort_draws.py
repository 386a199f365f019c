"""Theorem 3.1 of DDP-Helnaksort by who knows which pair an agent drew, against all reports of all agents listed."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom, chi2_contingency, chisquare, norm, poisson

from dpaudit import laws
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.catalog.song2022 import DDPHelnaksort
from dpaudit.catalog.song2022.collection import Votes, cast, collect, truths
from dpaudit.catalog.song2022.shuffling import AnswersOfDrawnAgents, AnswersOfSecretDraws

SEED = 20261121
FALSE_ALARM = 1e-6
PAIRS = [(0, 1), (0, 2), (1, 2)]
ORDERS = list(itertools.permutations(range(3)))
UNIFORM = (1 / 3, 1 / 3, 1 / 3)


def decide(name, **parameters):
    target = DDPHelnaksort(**parameters)
    claim = next(claim for claim in target.claims() if claim.id == f"song2022.{name}")
    return audit(target, claim, budget=Budget(samples=None), streams=Streams(1))


def keep_of(epsilon, delta=1e-4):
    """Probability of a true answer after Gaussian noise and the threshold: Algorithm 1, literally."""
    return norm.cdf(0.5 * epsilon / math.sqrt(2 * math.log(1.25 / delta)))


def report_law(order, keep, draw=UNIFORM):
    """Probabilities of the reports (pair, answer) of one agent, in the order (0, 0), (0, 1), (1, 0), ..."""
    truths = [order.index(a) < order.index(b) for a, b in PAIRS]
    return np.array(
        [
            share * (keep if answer == true else 1 - keep)
            for share, true in zip(draw, truths, strict=True)
            for answer in (0, 1)
        ]
    )


def seen_of(agents, known):
    """For every list of reports of all agents, what is seen of it: number of a multiset, with all draws if known."""
    numbers: dict = {}
    return np.array(
        [
            numbers.setdefault((tuple(sorted(reports)), tuple(r // 2 for r in reports) if known else ()), len(numbers))
            for reports in itertools.product(range(6), repeat=agents)
        ]
    )


def law_of(orders, keep, seen, draw=UNIFORM):
    """Law of what is seen of the reports of agents with these rankings."""
    joint = np.ones(1)
    for order in orders:
        joint = np.multiply.outer(joint, report_law(order, keep, draw)).ravel()
    return np.bincount(seen, joint)


def divergence(p, q, epsilon):
    level = math.exp(epsilon)
    return max(np.maximum(p - level * q, 0).sum(), np.maximum(q - level * p, 0).sum())


@pytest.mark.slow
@pytest.mark.parametrize("agents", [2, 3, 5])
@pytest.mark.parametrize(("local", "central"), [(0.7, 0.03), (3.0, 0.1), (12.0, 0.4)])
def test_secret_draws_against_all_rankings_of_all_agents(agents, local, central):
    """The worst of all profiles is one of a ranking and its reverse, and the bound for all rankings is above it."""
    view = AnswersOfSecretDraws(epsilon=local, agents=agents, claimed=central)
    keep, seen = keep_of(local), seen_of(agents, known=False)
    first = ORDERS[0]
    worst = max(
        divergence(law_of((first, *others), keep, seen), law_of((changed, *others), keep, seen), central)
        for others in itertools.combinations_with_replacement(ORDERS, agents - 1)
        for changed in ORDERS[1:]
    )
    listed = max(
        comparison.delta(central).upper
        for data, neighbour in view.neighbours()
        for comparison in (
            view.law(data).against(view.law(neighbour)),
            view.law(neighbour).against(view.law(data)),
        )
    )
    assert listed == pytest.approx(worst, rel=1e-9)
    assert worst <= view.delta_at_most(central) * (1 + 1e-9)
    assert view.neighbours().complete == (view.delta_at_most(central) <= 1e-4)


@pytest.mark.parametrize("draw", [UNIFORM, (0.7, 0.2, 0.1)])
def test_for_a_ranking_and_its_reverse_the_pairs_say_nothing(draw):
    """The multiset of reports tells as much as the number of answers that agree, whatever the rule of the draw."""
    agents, local, central = 3, 6.0, 0.2
    keep, seen = keep_of(local), seen_of(agents, known=False)
    view = AnswersOfSecretDraws(epsilon=local, agents=agents)
    order, reverse = ORDERS[0], ORDERS[0][::-1]
    for reversed_agents in range(agents):
        p, q = (
            law_of((reverse,) * k + (order,) * (agents - k), keep, seen, draw)
            for k in (reversed_agents, reversed_agents + 1)
        )
        laws_of_counts = [view.law((k, agents - k)) for k in (reversed_agents, reversed_agents + 1)]
        for epsilon in (0.0, central, 0.6):
            found = max(a.against(b).delta(epsilon).upper for a, b in (laws_of_counts, laws_of_counts[::-1]))
            assert found == pytest.approx(divergence(p, q, epsilon), rel=1e-9, abs=1e-15)


def test_a_draw_that_is_not_uniform_matters_between_other_rankings():
    """Alone, an agent who swaps two neighbours shows as often as it draws their pair."""
    keep, central, seen = keep_of(6.0), 0.2, seen_of(1, known=False)
    for draw in (UNIFORM, (0.7, 0.2, 0.1)):
        found = divergence(law_of([(0, 1, 2)], keep, seen, draw), law_of([(1, 0, 2)], keep, seen, draw), central)
        assert found == pytest.approx(draw[0] * (keep - math.exp(central) * (1 - keep)))


def test_draws_that_are_known_say_more():
    """Where the draws are known, delta is that of the claim by lot, and larger."""
    agents, central, delta = 4, 0.05, 0.5
    keep = keep_of(central + math.log(agents / 3), delta)
    target = DDPHelnaksort(central_epsilon=central, agents=agents, alternatives=3, delta=delta)
    for others in (ORDERS[0], ORDERS[0][::-1]):
        profiles = [(order, *[others] * (agents - 1)) for order in (ORDERS[0], ORDERS[0][::-1])]
        secret, known = (
            divergence(*(law_of(profile, keep, seen_of(agents, known=k)) for profile in profiles), central)
            for k in (False, True)
        )
        lot = target.views()["received-by-lot"]
        bit = int(others == ORDERS[0])
        p, q = lot.law((1, bit)), lot.law((0, bit))
        by_lot = max(p.against(q).delta(central).upper, q.against(p).delta(central).upper)
        assert known == pytest.approx(by_lot, rel=1e-9)
        assert 0 < secret < 0.9 * known


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parameters", "known", "secret"),
    [
        ({"central_epsilon": 0.25, "agents": 96}, "refuted", "proved"),
        ({"central_epsilon": 0.25, "agents": 48, "alternatives": 3, "delta": 1e-6}, "refuted", "refuted"),
        ({"central_epsilon": 0.1, "agents": 96}, "refuted", "refuted"),
        ({"central_epsilon": 0.1, "agents": 600}, "refuted", "certified"),
        ({"central_epsilon": 0.5}, "refuted", "proved"),
        ({"central_epsilon": 1.0}, "proved", "proved"),
    ],
)
def test_theorem_3_1_by_who_knows_the_pairs(parameters, known, secret):
    assert decide("theorem3.1-central", **parameters).verdict == known
    evidence = decide("theorem3.1-central-secret-draw", **parameters)
    assert evidence.verdict == secret
    target = DDPHelnaksort(**parameters)
    agents, delta = target.voters, target.delta
    keep, level = keep_of(target.local_epsilon, delta), math.exp(target.central_epsilon)
    # All others agree with each other: the number of answers that agree with them, by scipy.
    w = binom.pmf(np.arange(-1, agents + 1), agents - 1, keep)
    p, q = keep * w[:-1] + (1 - keep) * w[1:], (1 - keep) * w[:-1] + keep * w[1:]
    alike = max(np.maximum(p - level * q, 0).sum(), np.maximum(q - level * p, 0).sum())
    exact = evidence.measured["delta"].lower
    assert alike <= exact * (1 + 1e-9) + 1e-15
    assert exact <= 1.1 * alike + 1e-15
    assert (exact > delta) == (secret == "refuted")


@pytest.mark.slow
def test_the_witness_of_secret_draws_is_recomputed():
    evidence = decide("theorem3.1-central-secret-draw", central_epsilon=0.1, agents=96)
    assert (evidence.witness.data, evidence.witness.neighbour) == ((0, 96), (1, 95))
    assert evidence.witness.p - math.exp(0.1) * evidence.witness.q == pytest.approx(9.2225e-4, rel=1e-4)


@pytest.mark.slow
def test_two_alternatives_have_one_pair_and_no_secret():
    parameters = {"central_epsilon": 0.25, "agents": 16, "alternatives": 2}
    known, secret = (decide(f"theorem3.1-central{name}", **parameters) for name in ("", "-secret-draw"))
    assert known.measured == secret.measured


@pytest.mark.slow
@pytest.mark.parametrize("central", [0.25, 1.0, 2.0])
def test_randomized_response_leaves_a_poisson_number_of_false_answers(central):
    """With n' large, C(m, 2) e^-ϵ false answers in the mean, or one more, where all others agree: in closed form."""
    evidence = decide(
        "other-mechanisms-secret-draw",
        central_epsilon=central,
        agents=6000,
        randomizer="randomized-response",
    )
    mean = 6 * math.exp(-central)
    most = np.arange(20)
    limit = (poisson.cdf(most, mean) - math.exp(central) * poisson.cdf(most - 1, mean)).max()
    assert 0.998 * limit <= evidence.measured["delta"].lower <= 1.05 * limit
    assert evidence.verdict == "refuted"


def test_bound_for_all_rankings_is_that_of_fair_coins():
    """The privacy blanket, literally: the mean of the positive part over all reports of M agents more."""
    local, central, agents = 6.0, 0.2, 4
    keep = keep_of(local)
    base = np.full(6, 1 / 6)
    for changed, equal in (((2, 1, 0), True), ((1, 0, 2), False), ((1, 2, 0), False)):
        gains = (report_law(ORDERS[0], keep) - math.exp(central) * report_law(changed, keep)) / base
        mean = 0.0
        for others, weight in enumerate(binom.pmf(np.arange(agents), agents - 1, 2 * (1 - keep))):
            sums = np.zeros(1)
            for _ in range(others + 1):
                sums = np.add.outer(sums, gains).ravel()
            mean += weight * np.maximum(sums, 0).mean() / (others + 1)
        bound = AnswersOfSecretDraws(epsilon=local, agents=agents).delta_at_most(central)
        if equal:
            assert mean == pytest.approx(bound, rel=1e-9)
        else:
            assert mean < bound


def test_secret_draws_of_the_protocol_follow_the_law():
    """Every agent draws a pair and answers about it: the answers that agree with a ranking, agent by agent."""
    agents, runs = 12, 60_000
    view = AnswersOfSecretDraws(epsilon=6.0, agents=agents)
    rng = np.random.default_rng(SEED)
    orders = np.array([[2, 1, 0]] * 5 + [[0, 1, 2]] * 7)
    votes = cast(truths(np.broadcast_to(orders, (runs, agents, 3))), view.response, rng)
    drawn = rng.integers(0, 3, (runs, agents, 1))
    agree = (np.take_along_axis(votes.values, drawn, axis=2)[:, :, 0] > 0).sum(axis=1)
    expected = runs * np.exp([dict(zip(*_table(view.law((5, 7))), strict=True))[k] for k in range(agents + 1)])
    assert chisquare(*_pooled(np.bincount(agree, minlength=agents + 1), expected)).pvalue > FALSE_ALARM
    sampled = view.sample((5, 7), runs, rng)
    assert chisquare(*_pooled(np.bincount(sampled, minlength=agents + 1), expected)).pvalue > FALSE_ALARM


def test_known_draws_are_made_by_every_agent_for_itself():
    """How many others share the pair, and how many of the answers are 1, by scipy's binomial laws."""
    agents, pairs, runs = 15, 3, 60_000
    view = AnswersOfDrawnAgents(epsilon=6.0, agents=agents, pairs=pairs)
    keep = keep_of(6.0)
    drawn = view.sample((1, 0), runs, np.random.default_rng(SEED))
    expected, observed = [], []
    for others in range(agents):
        w = binom.pmf(np.arange(-1, others + 2), others, 1 - keep)
        ones = keep * w[:-1] + (1 - keep) * w[1:]
        expected.append(runs * binom.pmf(others, agents - 1, 1 / pairs) * ones)
        observed.append(np.bincount(drawn[drawn[:, 0] == others, 1], minlength=others + 2))
    assert chisquare(*_pooled(np.concatenate(observed), np.concatenate(expected))).pvalue > FALSE_ALARM


def test_agents_draw_their_questions_independently():
    """Algorithm 1: two agents with one question each have the same pair in 1 of 6 runs; so have agents in two runs."""
    runs = 20_000
    margins = collect(Votes(np.ones((runs, 2, 6))), 1, np.random.default_rng(SEED))
    same = (np.triu(margins, 1).max(axis=(1, 2)) == 2).sum()
    assert chisquare([same, runs - same], [runs / 6, runs * 5 / 6]).pvalue > FALSE_ALARM
    one = collect(Votes(np.ones((runs, 1, 6))), 1, np.random.default_rng(SEED))
    where = np.triu(one, 1).reshape(runs, -1).argmax(1)
    _, places = np.unique(where, return_inverse=True)
    table = np.zeros((6, 6))
    np.add.at(table, (places[:-1:2], places[1::2]), 1)
    assert chi2_contingency(table).pvalue > FALSE_ALARM
    assert chisquare(table.sum(axis=0)).pvalue > FALSE_ALARM


def _table(law):
    return law.outcomes, law.log_probabilities


def _pooled(observed, expected):
    """Cells with few expected counts as one."""
    rare = expected < 10
    return (
        np.append(observed[~rare], observed[rare].sum()),
        np.append(expected[~rare], expected[rare].sum()) * observed.sum() / expected.sum(),
    )


def test_a_bound_that_is_too_large_proves_nothing():
    view = DDPHelnaksort(central_epsilon=0.1, agents=600).views()["received-of-secret-draws"]
    assert not view.neighbours().complete
    assert (
        view.delta_at_most(0.1)
        > 1e-4
        > laws.Shuffle([view.response.law(0), view.response.law(1)], view.agents).worst(0.1).delta
    )
