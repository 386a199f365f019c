"""The local reductions: laws by enumeration, the protocols against literal ones, errors against all partitions."""

import itertools
import json
import math
import sys

import numpy as np
import pytest
from scipy.stats import binom, chi2_contingency, chisquare, norm

import dpaudit
from dpaudit import rankings
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.exact import audit_exact
from dpaudit.catalog.alabi2022 import LDPKwikSortInteractive, LocalPairwise
from dpaudit.catalog.alabi2022.answers import SignedAnswer
from dpaudit.catalog.alabi2022.claims import local
from dpaudit.catalog.alabi2022.claims.local_adaptive import first_from
from dpaudit.catalog.alabi2022.deviations import answer_deviation, mean_answer, one_pair_error
from dpaudit.catalog.alabi2022.ldp_kwiksort_interactive import least_cap
from dpaudit.catalog.alabi2022.profiles import excess, opposed_blocs

FALSE_ALARM = 1e-6
SEED = 20261127
EVERYONE = {m: list(itertools.permutations(range(m))) for m in (2, 3, 4)}


def claim_of(target, name):
    return next(claim for claim in target.claims() if claim.id == f"alabi2022.{name}")


def decide(target, name, runs=None, seed=1):
    return audit(target, claim_of(target, name), budget=Budget(samples=runs), streams=Streams(seed))


def exact_epsilon(target, name):
    claim = claim_of(target, name)
    view = target.views()[claim.view]
    return audit_exact(view, claim, view.neighbours())[0].measured["epsilon"].lower


def signs_of(order):
    places = list(itertools.combinations(range(len(order)), 2))
    return np.array([1 if order.index(a) < order.index(b) else -1 for a, b in places])


def vector_law(signs, epsilon, ties):
    """Log-probabilities of all corners, by the definition."""
    d = len(signs)
    corners = np.array(list(itertools.product([-1, 1], repeat=d)))
    products = corners @ signs
    tied = np.where(products == 0, 1.0 if ties == "both" else 0.5, 0.0)
    own, other = np.where(products > 0, 1.0, tied), np.where(products < 0, 1.0, tied)
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    return np.log(keep * own / own.sum() + (1 - keep) * other / other.sum())


def answer_law(truth, eps0):
    """Algorithm 2's probabilities of -d and d, with the d that it defines."""
    d = (math.exp(eps0) + 1) / (math.exp(eps0) - 1)
    return np.log([0.5 * (1 - truth / d), 0.5 * (1 + truth / d)])


# Reduction I.


@pytest.mark.parametrize(("report", "ties"), [("printed-report", "both"), ("report", "split")])
@pytest.mark.parametrize("m", [2, 3, 4])
def test_epsilon_of_a_report_over_all_pairs_of_rankings(m, report, ties):
    laws = [vector_law(signs_of(order), 1.0, ties) for order in EVERYONE[m]]
    worst = max(float((p - q).max()) for p, q in itertools.permutations(laws, 2))
    view = LocalPairwise(alternatives=m).views()[report]
    found = audit_exact(view, dpaudit.PrivacyClaim(epsilon=1.0), view.neighbours())[0].measured["epsilon"].lower
    assert found == pytest.approx(worst, rel=1e-12)
    assert worst == pytest.approx(math.log1p(math.e) if (m, ties) == (4, "both") else 1.0)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_epsilon_of_entrywise_reports_is_reached_at_the_reverse(m):
    assert exact_epsilon(LocalPairwise(alternatives=m, epsilon=2.0), "entrywise-privacy") == pytest.approx(
        2.0, rel=1e-12
    )


@pytest.mark.slow
def test_at_twenty_alternatives_the_published_mechanism_loses_log_1_plus_e():
    assert LocalPairwise(alternatives=20).views()["printed-report"].response.loss(1) == pytest.approx(
        math.log1p(math.e)
    )
    assert exact_epsilon(LocalPairwise(alternatives=20), "theorem8-privacy") == pytest.approx(1.0, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("randomizer", ["vector", "entrywise"])
def test_the_error_of_an_entry_is_that_of_simulated_runs(randomizer):
    target = LocalPairwise(alternatives=4, agents=300, epsilon=2.0, randomizer=randomizer)
    profile = rankings.Profile(np.array([[0, 1, 2, 3], [3, 1, 0, 2], [2, 3, 0, 1]]), np.array([100, 150, 50]))
    runs = 2000
    ones = target.reported(profile, runs, np.random.default_rng(SEED))
    true = profile.counts @ (np.stack([signs_of(order) for order in profile.orders.tolist()]) > 0)
    size = target.report.response.scale if randomizer == "vector" else 1 / math.tanh(2 / 6 / 2)
    errors = (150 + size * (ones - 150) - true) / 300 / target.report.error(300)
    assert np.abs(errors.mean(axis=0)).max() < 6 / math.sqrt(runs)
    assert np.abs((errors**2).mean(axis=0) - 1).max() < 6 * math.sqrt(2 / runs)


@pytest.mark.parametrize("m", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_aggregate_rankings_follow_a_literal_protocol(m):
    """Listed reports, the unbiased estimate, and a ranking of least cost among all, ties at random."""
    orders = np.array([EVERYONE[m][k] for k in (0, 3, 0, 5, 1)])
    rng = np.random.default_rng(SEED)
    corners = np.array(list(itertools.product([-1, 1], repeat=math.comb(m, 2))))
    laws = [np.exp(vector_law(signs_of(order), 2.0, "split")) for order in orders.tolist()]
    every = np.stack([signs_of(order) for order in EVERYONE[m]])
    counts = np.zeros((2, len(every)))
    runs = 4000
    for _ in range(runs):
        total = sum(corners[rng.choice(len(law), p=law)] for law in laws)
        costs = -(every @ total)
        counts[0, rng.choice(np.flatnonzero(costs == costs.min()))] += 1
    sampled = LocalPairwise(alternatives=m, epsilon=2.0).sample(orders, 20_000, rng)
    counts[1] = np.bincount(rankings.ranking_index(sampled), minlength=len(every))
    assert chi2_contingency(counts[:, counts.sum(axis=0) > 0]).pvalue > FALSE_ALARM


@pytest.mark.slow
def test_a_tally_of_entries_has_the_mean_of_its_reports():
    target = LocalPairwise(alternatives=3, epsilon=3.0, randomizer="entrywise")
    truths, counts = np.array([[True, True, False], [False, True, False]]), np.array([300, 100])
    rng, runs = np.random.default_rng(SEED), 2000
    tallies = np.array([target.report.tally(truths, counts, rng) for _ in range(runs)])
    keep = 1 / (1 + math.exp(-1.0))
    expected = (counts[:, None] * np.where(truths, keep, 1 - keep)).sum(axis=0)
    error = math.sqrt(400 * keep * (1 - keep) / runs)
    assert np.abs(tallies.mean(axis=0) - expected).max() < error * norm.isf(FALSE_ALARM / 6)


def test_more_alternatives_than_are_listed_are_aggregated_exactly_too():
    target = LocalPairwise(alternatives=7, epsilon=3.0, agents=200_000, instance="unanimous")
    order = rankings.ranking_with_inversions(7, 10)
    profile = rankings.Profile(order[None], np.array([200_000]))
    assert target.sample(profile, 2, np.random.default_rng(SEED)).tolist() == [order.tolist()] * 2


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 6.0])
@pytest.mark.parametrize("m", [3, 4, 10])
def test_errors_in_closed_form(m, epsilon):
    d = math.comb(m, 2)
    assert LocalPairwise(alternatives=m, epsilon=epsilon, randomizer="entrywise").report.error(100) == pytest.approx(
        math.sqrt((((math.exp(epsilon / d) + 1) / (math.exp(epsilon / d) - 1)) ** 2 - 1) / 400), rel=1e-9
    )
    # One pair in d, its answer ±d / tanh: the second moment of an entry is that squared, divided by d.
    size = d * (math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)
    assert one_pair_error(epsilon, m, 100) == pytest.approx(math.sqrt((size**2 / d - 1) / 400), rel=1e-12)
    assert one_pair_error(epsilon, m, 100) < LocalPairwise(alternatives=m, epsilon=epsilon).report.error(100)


def test_the_excess_is_the_score_above_the_least_of_all_rankings():
    profile = opposed_blocs(4, 1001, "near-tie", 0.1)
    counts = rankings.pairwise_counts(profile)
    every = rankings.all_rankings(4)
    scores = rankings.kendall_cost(every, counts) / 1001
    assert excess(every, profile) == pytest.approx(scores - scores.min(), abs=1e-12)
    assert profile.counts[0] == 601


# Reduction II: privacy.


@pytest.mark.parametrize("m", [2, 3, 4, 10])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_an_answer_and_a_transcript_lose_what_the_formula_says(m, epsilon):
    target = LDPKwikSortInteractive(epsilon=epsilon, alternatives=m)
    q = math.floor(10 * m * math.log(m)) + 1
    eps0 = 0.5 * epsilon * m / q
    use = math.log((1 + math.exp(eps0)) / 2)
    measured = decide(target, "lemma10-privacy").measured
    assert measured["loss per use"].lower == pytest.approx(use, rel=1e-9)
    assert measured["claimed per use"].lower == pytest.approx(eps0, rel=1e-12)
    assert measured["loss in total"].lower == pytest.approx(math.floor(2 * q / m) * use, rel=1e-9)
    assert measured["claimed in total"].lower == epsilon
    assert exact_epsilon(target, "lemma10-privacy-use") == pytest.approx(use, rel=1e-9)
    assert exact_epsilon(target, "lemma10-privacy-total") == pytest.approx(math.floor(2 * q / m) * use, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "part", "ties"),
    [
        ("lemma10-privacy-total", 1.0, None),
        ("algorithm3-privacy-printed-fallback", 0.5, "both"),
        ("theorem11-budget", 0.5, "split"),
    ],
)
@pytest.mark.parametrize(("m", "cap"), [(2, 2), (3, 3), (3, 4), (4, 4), (4, 6)])
def test_no_rankings_and_no_queries_lose_more_than_the_transcript(m, cap, name, part, ties):
    """Over all pairs of rankings and, for each, the worst public queries; two-way pairs, repeated ones among them."""
    target = LDPKwikSortInteractive(epsilon=1.0, alternatives=m, cap=cap)
    eps0, uses = part * 0.5 * m / cap, 2 * cap // m
    worst = 0.0
    for one, two in itertools.permutations(EVERYONE[m], 2):
        losses = [
            float((answer_law(one.index(j) < one.index(i), eps0) - answer_law(two.index(j) < two.index(i), eps0)).max())
            for j, i in itertools.permutations(range(m), 2)
        ]
        fallback = 0.0
        if ties:
            fallback = float((vector_law(signs_of(one), 0.5, ties) - vector_law(signs_of(two), 0.5, ties)).max())
        worst = max(worst, uses * max(losses) + fallback)
    assert exact_epsilon(target, name) == pytest.approx(worst, rel=1e-9)


def test_epsilon_of_a_small_transcript_by_listing_its_outputs():
    target = LDPKwikSortInteractive(epsilon=1.0, alternatives=3, cap=3)
    view = target.views()["halved-transcript-and-fallback"]
    flat = [view.law(np.array(order)).flattened() for order in ([0, 1, 2], [2, 1, 0])]
    ratio = np.abs(flat[0].log_probabilities - flat[1].log_probabilities).max()
    assert exact_epsilon(target, "theorem11-budget") == pytest.approx(ratio, rel=1e-12)
    assert len(flat[0].outcomes) == 2**2 * 2**3


@pytest.mark.parametrize("m", [3, 4])
def test_transcripts_are_sampled_from_their_law(m):
    view = LDPKwikSortInteractive(epsilon=3.0, alternatives=m, cap=m).views()["halved-transcript-and-fallback"]
    for order in ([*range(m)], [*reversed(range(m))]):
        law = view.law(np.array(order)).flattened()
        rows = [np.concatenate([np.atleast_1d(part) for part in outcome]) for outcome in law.outcomes]
        weights = 1 << np.arange(len(rows[0]))
        seen = np.bincount(view.sample(np.array(order), 100_000, np.random.default_rng(SEED)) @ weights)
        expected = np.zeros(2 ** len(weights))
        expected[np.array(rows) @ weights] = 100_000 * np.exp(law.log_probabilities)
        assert chisquare(np.resize(seen, len(expected)), expected).pvalue > FALSE_ALARM


def test_kwiksort_alone_asks_an_agent_for_no_more_than_all_pairs():
    views = LDPKwikSortInteractive(alternatives=10).views()
    assert views["kwiksort-transcript"].answers == 45
    assert views["kwiksort-transcript"].fallback == 0
    views = LDPKwikSortInteractive(alternatives=11).views()
    assert (views["kwiksort-transcript"].answers, views["kwiksort-transcript"].fallback) == (48, 0.5)
    assert views["transcript"].answers == 48


# Reduction II: the estimate.


@pytest.mark.parametrize(("n", "yes"), [(6, 2), (7, 3), (8, 8), (5, 0)])
def test_the_answer_has_the_mean_and_the_deviation_of_all_partitions(n, yes):
    m, budget = 3, 0.8
    size = (math.exp(budget) + 1) / (math.exp(budget) - 1)
    per_set = -(-n // m)
    means, squares = [], []
    for chosen in itertools.combinations(range(per_set * m), per_set):
        w = [1.0 if k < yes else 0.0 for k in chosen if k < n]
        mean = sum(w)
        variance = sum(size**2 - each**2 for each in w)
        means.append(m / n * mean)
        squares.append((m / n) ** 2 * (variance + mean**2))
    assert np.mean(means) == pytest.approx(yes / n, rel=1e-12)
    deviation = math.sqrt(np.mean(squares) - np.mean(means) ** 2)
    assert answer_deviation(budget, m, n, yes / n) == pytest.approx(deviation, rel=1e-9)
    target = LDPKwikSortInteractive(epsilon=budget * 2 * 10 / m, cap=10, alternatives=m, agents=n)
    assert target.answer_budget == pytest.approx(budget)
    for counted in (n, per_set * m):
        assert mean_answer(target.answer_budget, m, n, yes, counted) == pytest.approx(yes / counted, abs=1e-12)


@pytest.mark.parametrize("agents", [40, 43])
def test_simulated_answers_have_that_mean_and_deviation(agents):
    m, budget, runs = 4, 1.5, 4000
    first = agents // 3
    profile = rankings.Profile(np.array([[0, 1, 2, 3], [3, 2, 1, 0]]), np.array([first, agents - first]))
    target = LDPKwikSortInteractive(alternatives=m, agents=agents)
    rng = np.random.default_rng(SEED)
    estimates = target.answers(profile, rng.integers(0, m, (runs, m, m)), SignedAnswer(budget), rng)[0]
    for j, i in itertools.permutations(range(m), 2):
        share = (first if j < i else agents - first) / agents
        errors = (estimates[:, j, i] - share) / answer_deviation(budget, m, agents, share)
        assert abs(errors.mean()) < 6 / math.sqrt(runs)
        assert abs((errors**2).mean() - 1) < 6 * (errors**2).std() / math.sqrt(runs)


def test_the_deviation_is_largest_where_nobody_agrees_and_tends_to_its_limit():
    shares = np.linspace(0, 1, 101)
    for agents in (40, 41, 10**6, math.inf):
        deviations = [answer_deviation(0.3, 4, agents, share) for share in shares]
        assert max(deviations) == deviations[0]
    for share in (0.0, 0.3, 1.0):
        large = answer_deviation(0.3, 4, 4e9, share) * math.sqrt(4e9)
        assert large == pytest.approx(answer_deviation(0.3, 4, math.inf, share), rel=1e-6)


# Reduction II: the protocol.


def literal_run(target, orders, rng):
    """Algorithm 3 as meant, agent by agent; None where it ends in ⊥."""
    n, m = orders.shape
    per_set = -(-n // m)
    slots = rng.permutation(per_set * m)
    members = [[k for k in slots[p * per_set : (p + 1) * per_set] if k < n] for p in range(m)]
    assigned = rng.integers(0, m, (m, m))
    used = np.zeros(m, dtype=int)
    eps0 = 0.25 * target.epsilon * m / target.cap
    d = (math.exp(eps0) + 1) / (math.exp(eps0) - 1)

    class BottomError(Exception):
        pass

    def ask(j, i):
        group = assigned[j, i]
        used[group] += 1
        if used[group] > 2 * target.cap / m:
            raise BottomError
        total = 0.0
        for k in members[group]:
            order = orders[k].tolist()
            w = order.index(j) < order.index(i)
            total += d if rng.random() < 0.5 * (1 + w / d) else -d
        return m / n * total

    def sort(items):
        if not items:
            return []
        pivot = items[rng.integers(len(items))]
        left = [j for j in items if j != pivot and ask(j, pivot) > 0.5]
        asked = [j for j in items if j != pivot and j not in left]
        return [*sort(left), pivot, *sort(asked)]

    try:
        return tuple(sort(list(range(m))))
    except BottomError:
        return None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cap", "agents"),
    [(3, 7), *(pytest.param(*each, marks=pytest.mark.slow) for each in [(2, 7), (4, 7), (100, 7), (100, 10)])],
)
def test_the_protocol_follows_a_literal_one(cap, agents):
    """Caps with 2q/m = 1.33, 2, 2.67 and 66.7, an answer at ϵ_0 = 1, three sets that two dummies fill up."""
    target = LDPKwikSortInteractive(epsilon=4 * cap / 3, alternatives=3, cap=cap, agents=agents)
    orders = np.array([EVERYONE[3][k] for k in np.resize((0, 0, 1, 5, 0, 2, 0), agents)])
    rng = np.random.default_rng(SEED)
    counts = np.zeros((2, 7))
    for _ in range(8000):
        found = literal_run(target, orders, rng)
        counts[0, 6 if found is None else EVERYONE[3].index(found)] += 1
    sampled, failed = target.run(orders, 30_000, rng)
    index = np.where(failed, 6, rankings.ranking_index(sampled))
    counts[1] = np.bincount(index, minlength=7)
    assert chi2_contingency(counts[:, counts.sum(axis=0) > 0]).pvalue > FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize(("cap", "uses"), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3)])
def test_how_often_a_run_ends_in_bottom(cap, uses):
    """Three alternatives take two comparisons with the middle one as pivot, otherwise three."""
    target = LDPKwikSortInteractive(epsilon=1e6, alternatives=3, cap=cap, agents=3000)
    assert target.uses == uses
    profile = rankings.Profile(np.array([[1, 2, 0]]), np.array([3000]))
    runs = 500 if uses < 2 else 20_000
    orders, failed = target.run(profile, runs, np.random.default_rng(SEED))
    crowded = {
        k: np.mean([max(map(row.count, row)) > uses for row in itertools.product(range(3), repeat=k)]) for k in (2, 3)
    }
    expected = crowded[2] / 3 + crowded[3] * 2 / 3
    assert abs(failed.mean() - expected) <= 6 * math.sqrt(expected * (1 - expected) / runs)
    assert (orders == [1, 2, 0]).all()


@pytest.mark.slow
def test_the_fallback_is_reduction_1_at_half_of_the_budget():
    target = LDPKwikSortInteractive(epsilon=2.0, alternatives=3, cap=1, agents=9)
    orders = np.array([[0, 1, 2]] * 6 + [[2, 1, 0]] * 3)
    runs = 5000
    ranked, failed = target.run(orders, runs, np.random.default_rng(SEED))
    assert failed.all()
    half = LocalPairwise(epsilon=1.0, alternatives=3).sample(orders, runs, np.random.default_rng(SEED + 1))
    whole = LocalPairwise(epsilon=2.0, alternatives=3).sample(orders, runs, np.random.default_rng(SEED + 2))
    table = [np.bincount(rankings.ranking_index(found), minlength=6) for found in (ranked, half, whole)]
    assert chi2_contingency(table[:2]).pvalue > FALSE_ALARM
    assert chi2_contingency([table[0], table[2]]).pvalue < FALSE_ALARM


def test_features_are_sums_that_leave_out_only_the_order_of_answers():
    transcript = LDPKwikSortInteractive(alternatives=3, cap=6).views()["halved-transcript-and-fallback"]
    assert transcript.features(np.array([[1, 0, 1, 1, 0, 1, 0], [0, 0, 0, 0, 1, 1, 1]])).tolist() == [
        [3, 0, 1, 0],
        [0, 1, 1, 1],
    ]
    report = LocalPairwise(alternatives=6).report
    outputs = report.sample(np.array([3, 1, 0, 2, 5, 4]), 50, np.random.default_rng(SEED))
    features = report.features(outputs)
    assert features[:, 0].tolist() == outputs.sum(axis=1).tolist()
    for row, bits in zip(features, outputs, strict=True):
        wins = np.zeros(6)
        for (j, i), bit in zip(itertools.combinations(range(6), 2), bits, strict=True):
            wins[[j, i]] += (bit, -bit)
        assert row[1:].tolist() == wins.tolist()


def test_an_item_goes_before_the_pivot_above_one_half_only(monkeypatch):
    def answers(self, data, assigned, budget, rng):
        estimates = np.where(np.tri(4, dtype=bool), 0.5 + 1e-9, 0.5)[None].repeat(len(assigned), axis=0)
        return estimates, np.zeros((len(assigned), 4), dtype=int)

    monkeypatch.setattr(LDPKwikSortInteractive, "answers", answers)
    found = LDPKwikSortInteractive(alternatives=4).sample(np.array([[0, 1, 2, 3]]), 200, np.random.default_rng(SEED))
    assert (found == [3, 2, 1, 0]).all()


def test_sets_may_be_empty():
    profile = rankings.Profile(np.array([[2, 1, 0, 3]]), np.array([2]))
    target = LDPKwikSortInteractive(alternatives=4, agents=2)
    estimates = target.answers(
        profile, np.zeros((400, 4, 4), dtype=int), SignedAnswer(5.0), np.random.default_rng(SEED)
    )[0]
    assert set(np.unique(estimates[:, 0, 1])) <= {0.0, *(4 / 2 / math.tanh(2.5) * np.array([-1.0, 1.0]))}
    assert claim_of(target, "lemma10-unbiased").margin(yes=1) > -1e-12


# Claims.


@pytest.mark.slow
def test_the_record_of_the_command_has_the_loss_per_use_and_in_total(capsys, monkeypatch):
    from dpaudit.cli import main

    command = ["check", "ldp-kwiksort-interactive", "--claim", "alabi2022.lemma10-privacy", "--set", "epsilon=1"]
    monkeypatch.setattr(sys, "argv", ["dpaudit", *command, "--format", "json", "--quiet", "--workers", "1"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    for result in json.loads(capsys.readouterr().out)["results"]:
        m, measured = result["parameters"]["alternatives"], result["measured"]
        q = math.floor(10 * m * math.log(m)) + 1
        use = math.log((1 + math.exp(m / q / 2)) / 2)
        assert result["verdict"] == "proved"
        assert measured["loss per use"]["lower"] == pytest.approx(use, rel=1e-9)
        assert measured["loss in total"]["upper"] == pytest.approx(2 * q // m * use, rel=1e-9)


def test_the_crossovers_by_going_through_all_numbers_of_alternatives():
    allowed = {k: math.floor(10 * k * math.log(k)) + 1 for k in range(2, 400)}
    unordered = max(k for k, q in allowed.items() if q > k * (k - 1) / 2) + 1
    ordered = max(k for k, q in allowed.items() if q > k * (k - 1)) + 1
    assert first_from(lambda k: least_cap(k) <= math.comb(k, 2)) == unordered == 92
    assert first_from(lambda k: least_cap(k) <= k * (k - 1)) == ordered == 38


@pytest.mark.parametrize(("name", "constant"), [("reduction1", math.sqrt(math.pi) / 4), ("one-pair", math.sqrt(1 / 8))])
def test_the_crossovers_agree_with_the_leading_terms(name, constant):
    """An answer: d = 2 / eps0 with eps0 = 1 / (40 ln m), so 80 ln m sqrt m; the others: constant m / tanh(1/2)."""
    found = (
        decide(LDPKwikSortInteractive(), f"reduction2-against-{name}")
        .measured["alternatives from which on it holds"]
        .lower
    )

    def gap(m):
        return 80 * math.log(m) * math.sqrt(m) - constant * m / math.tanh(0.5)

    assert gap(0.999 * found) > 0 > gap(1.001 * found)
    assert (
        decide(LDPKwikSortInteractive(alternatives=int(found), agents=10**8), f"reduction2-against-{name}").verdict
        == "proved"
    )
    before = LDPKwikSortInteractive(alternatives=int(found) - 1, agents=10**8)
    assert decide(before, f"reduction2-against-{name}").verdict == "refuted"


@pytest.mark.slow
def test_bottom_for_different_queries_agrees_with_simulated_loads():
    target = LDPKwikSortInteractive(alternatives=60)
    exact = claim_of(target, "lemma10-bottom-informed").exact()
    loads = np.random.default_rng(SEED).multinomial(60 * 59, np.full(60, 1 / 60), 20_000).max(axis=1)
    share = np.mean(loads > 2 * target.queries // 60)
    assert abs(share - exact) < 6 * math.sqrt(exact * (1 - exact) / 20_000)
    assert exact > math.exp(-0.1 * target.queries / 60)


@pytest.mark.parametrize(("epsilon", "m"), [(1.0, 11), (1.0, 12), (3.2, 12), (3.5, 12), (1.0, 20), (0.5, 13)])
def test_the_budget_of_algorithm_3_holds_by_luck_or_not_at_all(epsilon, m):
    target = LDPKwikSortInteractive(epsilon=epsilon, alternatives=m)
    uses, eps0 = 2 * target.queries // m, 0.5 * epsilon * m / target.queries
    total = uses * math.log((1 + math.exp(eps0)) / 2) + epsilon / 2
    assert exact_epsilon(target, "algorithm3-privacy") == pytest.approx(total, rel=1e-9)
    if m == 11:
        assert total == pytest.approx(1.0026, abs=5e-5)


@pytest.mark.slow
def test_where_the_fallback_never_runs_algorithm_3_keeps_its_budget():
    for m in range(3, 11):
        target = LDPKwikSortInteractive(alternatives=m)
        assert "the fallback never runs" in claim_of(target, "algorithm3-composition").inapplicable
        assert exact_epsilon(target, "algorithm3-privacy") < 1
    assert not claim_of(LDPKwikSortInteractive(alternatives=11), "algorithm3-composition").inapplicable


@pytest.mark.slow
@pytest.mark.parametrize(("instance", "agents"), [("near-tie", 10**6), ("unanimous", 9), ("near-tie", 11)])
def test_the_excess_of_two_alternatives_in_closed_form(instance, agents):
    """One pair: the excess is the advantage times the probability of the wrong sign, a sum of two binomials."""
    runs = 20_000
    target = LocalPairwise(alternatives=2, agents=agents, instance=instance)
    first = int(opposed_blocs(2, agents, instance, target.report.error(agents)).counts[0])
    keep = math.e / (1 + math.e)
    if agents > 100:
        share, error = first / agents, target.report.error(agents)
        expected = (2 * share - 1) * norm.cdf((0.5 - share) / error)
    else:
        ones = np.convolve(
            binom.pmf(range(first + 1), first, keep), binom.pmf(range(agents - first + 1), agents - first, 1 - keep)
        )
        expected = (2 * first / agents - 1) * ones[: agents // 2 + 1].sum()
    found = local.measured_excess(target, runs, np.random.default_rng(SEED))
    assert abs(found.mean() - expected) < 6 * found.std() / math.sqrt(runs) + 1e-3 * expected


def test_claims_of_one_randomizer_say_nothing_of_the_other():
    about = {"vector": ["theorem8-privacy", "theorem8-entry", "corollary9"], "entrywise": ["entrywise-privacy"]}
    for randomizer, names in about.items():
        for other in about:
            claims = {claim.id: claim for claim in LocalPairwise(randomizer=other).claims()}
            for name in names:
                assert bool(claims[f"alabi2022.{name}"].inapplicable) == (other != randomizer)


def test_budgets_at_which_errors_overflow_are_refused():
    for epsilon in (1e-200, 1e-10):
        with pytest.raises(dpaudit.ParameterError, match="'epsilon' must be at least 1e-09"):
            LocalPairwise(epsilon=epsilon).claims()
    assert dpaudit.check(LocalPairwise(epsilon=1e-9), claims=["alabi2022.theorem8-entry"]).status == 0
