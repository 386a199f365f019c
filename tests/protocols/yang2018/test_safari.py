"""SAFARI: the joint channel against loops written here, its phases with little noise, and what its claims compute."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chi2, chisquare

import dpaudit
from dpaudit import rankings
from dpaudit.catalog.yang2018 import Safari, SafariNoPrivacy, Uniform
from dpaudit.catalog.yang2018.claims import rank_gap
from dpaudit.catalog.yang2018.marginals import second_order_marginals, variation_distances
from dpaudit.catalog.yang2018.measures import FLAT, errors
from dpaudit.catalog.yang2018.riffle import all_chains, chain_in_order
from dpaudit.catalog.yang2018.rule_one import rule_one, triplet_distributions, triplets
from dpaudit.laws.joint import flattened

FALSE_ALARM = 1e-6
SEED = 20261130


def brute_channel(order, epsilon, *, learned=True):
    """Both phases for three items at K = 1: (triplet, value, chain, attribute, value), all chains equally likely."""
    d, place = len(order), {x: order.index(x) for x in order}
    half = epsilon / 2 if learned else epsilon
    chains = sorted(itertools.permutations(range(d)))
    first = {(): 1.0}
    if learned:
        asked = [(x, y, z) for x in range(d) for y, z in itertools.combinations([i for i in range(d) if i != x], 2)]
        first = {}
        for j, (x, y, z) in enumerate(asked):
            truth = 2 * place[x] + (place[y] > place[z])
            for k in range(2 * d):
                first[j, k] = grr(k == truth, 2 * d, half) / len(asked)
    law = {}
    for (key, p), (number, chain) in itertools.product(first.items(), enumerate(chains)):
        for i in range(d - 1):
            ahead = sum(place[other] < place[chain[i]] for other in chain[i + 1 :])
            for k in range(d - i):
                law[(*key, number, i, k)] = p / len(chains) * grr(k == ahead, d - i, half) / (d - 1)
    return law


def grr(true, m, epsilon):
    return (math.exp(epsilon) if true else 1) / (math.exp(epsilon) + m - 1)


def law_of(report, order):
    law = flattened(report.law(np.array(order)))

    def values(outcome):
        return [v for part in outcome for v in (values(part) if isinstance(part, tuple) else [int(part)])]

    return {tuple(values(o)): math.exp(p) for o, p in zip(law.outcomes, law.log_probabilities, strict=True)}


@pytest.mark.parametrize("chain", ["learned", "random"])
def test_the_joint_channel_is_the_loop_over_both_phases(chain):
    report = Safari(items=3, epsilon=1.4, chain=chain).report
    for order in itertools.permutations(range(3)):
        brute = brute_channel(order, 1.4, learned=chain == "learned")
        assert law_of(report, order) == pytest.approx(brute, rel=1e-12)


@pytest.mark.parametrize("chain", ["learned", "random"])
def test_reports_follow_the_joint_channel(chain):
    brute = brute_channel((2, 0, 1), 1.4, learned=chain == "learned")
    report = Safari(items=3, epsilon=1.4, chain=chain).report
    outputs = report.sample(np.array([2, 0, 1]), 60_000, np.random.default_rng(SEED))
    seen, counts = np.unique(outputs, axis=0, return_counts=True)
    found = dict(zip(map(tuple, seen.tolist()), counts.tolist(), strict=True))
    assert set(found) <= set(brute)
    assert chisquare([found.get(o, 0) for o in brute], 60_000 * np.array(list(brute.values()))).pvalue > FALSE_ALARM


@pytest.mark.parametrize("epsilon", [0.1, 4.0])
def test_every_two_rankings_are_at_exactly_epsilon(epsilon):
    laws = {o: np.log(list(brute_channel(o, epsilon).values())) for o in itertools.permutations(range(3))}
    for a, b in itertools.permutations(laws, 2):
        assert np.max(laws[a] - laws[b]) == pytest.approx(epsilon, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("items", "thin"), [(3, 1), (4, 1), (4, 2), (5, 2), (10, 1), (10, 3)])
def test_the_listed_pairs_are_at_exactly_epsilon(items, thin):
    report = Safari(items=items, thin=thin, epsilon=0.8).report
    for a, b in itertools.islice(report.neighbours(), 4):
        assert dpaudit.compare(report.law(a), report.law(b)).max_divergence() == pytest.approx(0.8, abs=1e-12)


def test_all_chains_are_listed_once():
    assert len(all_chains(4, 1)) == 24
    assert len(all_chains(4, 2)) == math.comb(4, 2)
    assert len(all_chains(4, 3)) == 4


@pytest.mark.parametrize("items", [3, 5])
def test_rule_one(items):
    orders = np.random.default_rng(0).permuted(np.tile(np.arange(items), (40, 1)), axis=1)
    places = rankings.positions(orders)
    for asked, (x, y, z) in enumerate(triplets(items).tolist()):
        found = rule_one(places, np.full(40, asked))
        rows = [row.index(x) * 2 + (row.index(y) > row.index(z)) for row in orders.tolist()]
        assert found.tolist() == rows


@pytest.mark.slow
def test_triplet_estimates_have_the_mean_and_the_variance_of_half_the_budget():
    """A forgotten split of ε would leave about a third of the variance."""
    target, rng, runs = Safari(items=3, epsilon=1.0, agents=300), np.random.default_rng(SEED), 1500
    orders = rankings.Mallows(np.arange(3), 0.5).sample(300, np.random.default_rng(1))
    places = rankings.positions(orders)
    truth = triplet_distributions(places).reshape(3, 6)
    e, m, count = math.exp(0.5), 6, 3
    exact = ((e + m - 1) * count - 1) / (300 * (e - 1) ** 2) + truth * ((e + m - 1) * count - e - 1) / (300 * (e - 1))
    found = np.array([target.triplet_frequencies(places, rng) for _ in range(runs)])
    z = (found.mean(axis=0) - truth) / np.sqrt(exact / runs)
    assert chi2.sf((z**2).sum() / 2, z.size) > FALSE_ALARM
    assert found.var(axis=0) == pytest.approx(exact, rel=6 * math.sqrt(3 / runs))


@pytest.mark.slow
@pytest.mark.parametrize(("chain", "budget"), [("learned", 0.5), ("fixed", 1.0)])
def test_chain_estimates_have_the_variance_of_their_budget(chain, budget):
    target, rng, runs = Safari(items=4, epsilon=1.0, chain=chain), np.random.default_rng(SEED), 1500
    places = rankings.positions(rankings.Mallows(np.arange(4), 0.5).sample(300, np.random.default_rng(1)))
    line = chain_in_order(4, 1)
    found = np.array([target.chain_frequencies(line, places, rng)[0] for _ in range(runs)])
    share = np.bincount(places[:, 0], minlength=4) / 300
    e, m, count = math.exp(budget), 4, 3
    exact = ((e + m - 1) * count - 1) / (300 * (e - 1) ** 2) + share * ((e + m - 1) * count - e - 1) / (300 * (e - 1))
    assert np.abs(found.mean(axis=0) - share).max() < 6 * math.sqrt(exact.max() / runs)
    assert found.var(axis=0) == pytest.approx(exact, rel=6 * math.sqrt(3 / runs))


@pytest.mark.parametrize("thin", [1, 2])
@pytest.mark.parametrize("split", ["anchors", "exhaustive"])
@pytest.mark.parametrize("ranks", ["absolute", "relative"])
def test_with_little_noise_riffle_independent_rankings_come_out_again(thin, split, ranks):
    """A Mallows model, which any thin chain along its centre describes; uniform rankings are 0.37 away."""
    rng = np.random.default_rng(SEED)
    shared = {"items": 5, "thin": thin, "split": split, "ranks": ranks, "agents": 20_000}
    for target in (SafariNoPrivacy(**shared), Safari(epsilon=24.0, **shared)):
        orders = target.draw(rng)
        found = second_order_marginals(target.synthesise(orders, rng))
        assert variation_distances(found, second_order_marginals(orders), 2).mean() < 0.04


def test_rounds_deal_every_user_to_one_split():
    target = Safari(items=6, thin=1, ranks="relative")
    groups = target.groups(1000, [1] * 5, np.random.default_rng(SEED))
    assert len(groups) == 5
    assert sorted(np.concatenate(groups).tolist()) == list(range(1000))
    weights = [6 * 10, 5 * 6, 4 * 3, 3, 1]
    assert [len(group) for group in groups] == pytest.approx([1000 * w / sum(weights) for w in weights], abs=1)


@pytest.mark.parametrize("target", [Safari, SafariNoPrivacy, Uniform], ids=lambda target: target.name)
def test_synthetic_rankings_are_rankings_as_many_as_users(target):
    orders = rankings.all_rankings(4)
    found = target(items=4, thin=2).sample(orders, 3, np.random.default_rng(SEED))
    assert found.shape == (3, 24, 4)
    assert (np.sort(found, axis=-1) == np.arange(4)).all()


def test_uniform_rankings_are_uniform():
    (found,) = Uniform(items=4).sample(np.tile(np.arange(4), (24_000, 1)), 1, np.random.default_rng(SEED))
    assert chisquare(np.bincount(rankings.ranking_index(found), minlength=24)).pvalue > FALSE_ALARM


def test_plackett_luce_users_choose_by_weights():
    target = Safari(items=3, users="plackett-luce", dispersion=0.5, agents=40_000)
    orders = target.draw(np.random.default_rng(SEED))
    _, counts = np.unique(orders, axis=0, return_counts=True)
    expected = []
    for order in itertools.permutations((1.0, 0.5, 0.25)):
        a, b, c = order
        expected.append(a / 1.75 * b / (b + c))
    # The labels are drawn, so the shares are compared in order of size.
    assert chisquare(np.sort(counts), 40_000 * np.sort(expected)).pvalue > FALSE_ALARM / 720


def test_what_s3_leaves_open():
    assert rank_gap(4) == 0
    assert rank_gap(5) == 109 - 120


def test_errors_of_all_systems_are_on_the_same_users():
    target, rng = Safari(items=4, epsilon=30.0, agents=20_000), np.random.default_rng(SEED)
    names = ["safari", "random chain", "safari-noprivacy", "uniform", *FLAT]
    found = errors(target, target.draw(rng), names, rng)
    assert list(found) == names
    assert found["ranking-grr"] < 0.03
    assert found["safari-noprivacy"] < 0.03
    assert 0.2 < found["uniform"] <= 1


def verdict(claim, runs, **parameters):
    (result,) = dpaudit.check(Safari(**parameters), claims=[f"yang2018.{claim}"], samples=runs, seed=SEED).results
    return result.verdict


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "parameters", "expected"),
    [
        ("figure1a", {"epsilon": 1.0, "items": 7, "postprocess": "clip"}, "certified"),
        ("figure1a-any-users", {"epsilon": 4.0, "items": 3, "users": "plackett-luce"}, "refuted"),
        ("figure1a-uniform", {"epsilon": 0.5, "items": 7, "users": "mixture"}, "refuted"),
        ("figure2", {"epsilon": 4.0, "items": 7}, "certified"),
        ("figure2", {"epsilon": 1.0, "items": 7}, "refuted"),
        ("learned-chain", {"epsilon": 1.0, "items": 7}, "refuted"),
        ("figure1a-small", {"items": 5}, "inapplicable"),
        ("figure1a-sushi", {"items": 7}, "inapplicable"),
        ("figure1b-nopriv-large", {"epsilon": 1.0, "items": 7}, "certified"),
        ("learned-chain", {"chain": "fixed"}, "inapplicable"),
    ],
)
def test_figures_on_other_seeds_than_the_plan(claim, parameters, expected):
    assert verdict(claim, 40, **parameters) == expected


@pytest.mark.slow
def test_data_say_how_many_items_there_are(tmp_path):
    header = ["# FILE NAME: data.soc", "# NUMBER ALTERNATIVES: 4", "# NUMBER VOTERS: 40", "# NUMBER UNIQUE ORDERS: 2"]
    names = [f"# ALTERNATIVE NAME {i}: item {i}" for i in range(1, 5)]
    path = tmp_path / "data.soc"
    path.write_text("\n".join([*header, *names, "30: 1,2,3,4", "10: 4,3,2,1"]) + "\n", encoding="utf-8")
    record = dpaudit.check("safari", data=str(path), claims=["yang2018.figure1a-uniform"], samples=20)
    (result,) = record.results
    assert (result.parameters["items"], result.parameters["agents"]) == (4, 40)
    assert {"safari", "uniform"} <= set(result.measured)


def test_items_must_fit_the_data():
    profile = rankings.Profile.from_rankings([[0, 1, 2], [2, 1, 0]])
    with pytest.raises(dpaudit.ParameterError, match="the data rank 3"):
        Safari(items=4, profile=profile)


@pytest.mark.slow
def test_without_noise_nothing_degrades():
    claims = {claim.id: claim for claim in Safari(epsilon=60.0, items=4, agents=2000).claims()}
    found = claims["yang2018.figure1b-degrades"].measure(5, np.random.default_rng(2))
    assert found["value"].all()
    assert np.abs(found["safari at ε"] - found["safari at ε/2"]).max() < 0.1
    claims = {claim.id: claim for claim in Safari(epsilon=1.0, items=4, agents=2000).claims()}
    found = claims["yang2018.figure1b-degrades"].measure(10, np.random.default_rng(2))
    assert (found["safari at ε/2"] > found["safari at ε"]).mean() > 0.5


@pytest.mark.slow
def test_a_million_users_and_ten_items():
    target, rng = Safari(items=10, agents=1_000_000, epsilon=1.0), np.random.default_rng(SEED)
    orders = target.draw(rng)
    found = target.synthesise(orders, rng)
    assert found.shape == (1_000_000, 10)
