"""The three steps of LDP-KwikSort against Algorithms 1-4 taken literally, one agent and one answer at a time."""

import itertools
import math
import random
import tracemalloc

import numpy as np
import pytest
from scipy.stats import chi2_contingency, norm

import dpaudit
from dpaudit.catalog.yan2020 import LDPKwikSortLap, LDPKwikSortRR, RandomizedResponseReport, chunks
from dpaudit.catalog.yan2020.profiles import draw, run

FALSE_ALARM = 1e-6
SEED = 20261122
RR, LAP = LDPKwikSortRR, LDPKwikSortLap
PROFILE = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (0, 1, 2), (2, 0, 1), (0, 1, 2), (1, 2, 0)]


def literal_margins(profile, epsilon, queries, solution, draw):
    """One run of query assignment, Algorithm 1 or 3, and lines 1-13 of Algorithm 2 or 4."""
    pairs = list(itertools.combinations(range(len(profile[0])), 2))
    counters = {pair: [0, 0] for pair in pairs}
    for ranking in profile:
        for j, l in draw.sample(pairs, queries):  # noqa: E741
            truth = ranking.index(j) < ranking.index(l)
            if solution == "rr":
                keep = math.exp(epsilon / queries) / (math.exp(epsilon / queries) + 1)
                says_yes = truth if draw.random() <= keep else not truth
            else:
                # The difference of two exponential variables is a Laplace variable.
                rate = epsilon / queries
                says_yes = truth + draw.expovariate(rate) - draw.expovariate(rate) >= 0.5
            counters[j, l][0 if says_yes else 1] += 1
    if solution == "lap":
        return [yes - no for yes, no in counters.values()]
    keep = math.exp(epsilon / queries) / (math.exp(epsilon / queries) + 1)
    inverse = np.linalg.inv([[keep, 1 - keep], [1 - keep, keep]])
    estimates = [inverse @ counter for counter in counters.values()]
    return [float(yes - no) for yes, no in estimates]


def upper(margins):
    j, l = np.triu_indices(margins.shape[-1], k=1)  # noqa: E741
    return margins[..., j, l]


def same_law(first, second):
    """p-value of a chi-square test that two samples of values have one law; rare values are pooled."""
    values, codes = np.unique(np.r_[first, second], return_inverse=True)
    table = np.array(
        [
            np.bincount(codes[: len(first)], minlength=len(values)),
            np.bincount(codes[len(first) :], minlength=len(values)),
        ]
    )
    often = table.sum(axis=0) >= 40
    table = np.c_[table[:, often], table[:, ~often].sum(axis=1)]
    table = table[:, table.sum(axis=0) >= 40]
    return chi2_contingency(table).pvalue if table.shape[1] > 1 else 1.0


@pytest.mark.parametrize("queries", [2, *(pytest.param(number, marks=pytest.mark.slow) for number in (1, 3))])
@pytest.mark.parametrize("protocol", [RR, LAP])
def test_the_batch_path_has_the_law_of_the_literal_loop(protocol, queries):
    runs, epsilon = 4000, 2.0
    target = protocol(epsilon=epsilon, queries=queries, alternatives=3, agents=len(PROFILE))
    coins = random.Random(SEED)
    solution = "rr" if protocol is RR else "lap"
    literal = np.array([literal_margins(PROFILE, epsilon, queries, solution, coins) for _ in range(runs)])
    orders = np.broadcast_to(np.array(PROFILE), (runs, len(PROFILE), 3))
    batch = upper(target.estimate([orders], np.random.default_rng(SEED)))
    for pair in range(3):
        assert same_law(literal[:, pair].round(6), batch[:, pair].round(6)) > FALSE_ALARM / 4
    patterns = [np.sign(sample.round(9)) @ [1, 3, 9] for sample in (literal, batch)]
    assert same_law(*patterns) > FALSE_ALARM / 4


@pytest.mark.slow
def test_a_swapped_comparison_and_one_query_more_are_told_from_the_literal_loop():
    runs = 4000
    coins = random.Random(SEED)
    literal = np.array([literal_margins(PROFILE, 2.0, 2, "rr", coins) for _ in range(runs)])
    orders = np.broadcast_to(np.array(PROFILE), (runs, len(PROFILE), 3))

    class Swapped(RR):
        def votes(self, answers):
            return -super().votes(answers)

    class OneMore(RR):
        @property
        def report(self):
            return RandomizedResponseReport(epsilon=self.epsilon, queries=self.asked + 1, alternatives=3)

    for mutant in (Swapped, OneMore):
        broken = mutant(epsilon=2.0, queries=2, alternatives=3, agents=len(PROFILE))
        batch = upper(broken.estimate([orders], np.random.default_rng(SEED)))
        assert min(same_law(literal[:, i].round(6), batch[:, i].round(6)) for i in range(3)) < FALSE_ALARM / 4


@pytest.mark.slow
@pytest.mark.parametrize(("m", "queries", "epsilon"), [(3, 1, 0.5), (4, 2, 1.0), (4, 6, 3.0)])
def test_rr_margins_are_unbiased_up_to_the_share_of_agents_asked(m, queries, epsilon):
    rng = np.random.default_rng(SEED)
    profile = rng.permuted(np.tile(np.arange(m), (12, 1)), axis=1)
    truth = upper(sum(np.sign(np.subtract.outer(p, p)) for p in -profile.argsort(axis=1)))
    target = RR(epsilon=epsilon, queries=queries, alternatives=m, agents=12)
    runs = 40_000
    estimate = upper(target.estimate([np.broadcast_to(profile, (runs, 12, m))], rng))
    scaled = estimate * math.comb(m, 2) / queries
    error = (scaled.mean(axis=0) - truth) / (scaled.std(axis=0) / math.sqrt(runs))
    assert np.abs(error).max() < norm.isf(FALSE_ALARM / 2 / len(truth))


@pytest.mark.parametrize("protocol", [RR, LAP])
def test_a_huge_budget_shows_the_true_margins(protocol):
    profile = np.random.default_rng(1).permuted(np.tile(np.arange(5), (31, 1)), axis=1)
    target = protocol(epsilon=1e6, queries=10, alternatives=5, agents=31)
    estimate = upper(target.estimate([profile[None]], np.random.default_rng(2)))[0]
    pairs = itertools.combinations(range(5), 2)
    truth = [sum(1 if list(r).index(j) < list(r).index(l) else -1 for r in profile) for j, l in pairs]  # noqa: E741
    assert estimate.tolist() == pytest.approx(truth)


@pytest.mark.parametrize("protocol", [RR, LAP])
@pytest.mark.parametrize("queries", [1, 4, 15])
def test_an_unanimous_profile_is_returned_whatever_the_labels(protocol, queries):
    rng = np.random.default_rng(SEED)
    for _ in range(5):
        centre = rng.permutation(6)
        target = protocol(epsilon=1e5, queries=queries, alternatives=6, agents=400)
        profile = np.tile(centre, (400, 1))
        assert (target.sample(profile, 7, rng) == centre).all()
        assert (target.sample(dpaudit.rankings.Profile.from_rankings(profile), 7, rng) == centre).all()


@pytest.mark.parametrize("centre", ["random", "identity"])
def test_a_point_mass_makes_no_error_and_its_centre_is_drawn_as_asked(centre):
    target = RR(epsilon=1e5, queries=6, alternatives=4, agents=9, dispersion=1.0, centre=centre)
    estimate, majority, truth = run(target, 300, np.random.default_rng(SEED))
    assert (np.sign(estimate) == np.sign(truth)).all()
    assert (majority == 9 * truth).all()
    different = len(np.unique(truth.reshape(300, -1), axis=0))
    assert different == (1 if centre == "identity" else 24)


@pytest.mark.parametrize("protocol", [RR, LAP])
def test_chunks_add_up(protocol, monkeypatch):
    profile = np.random.default_rng(1).permuted(np.tile(np.arange(4), (50, 1)), axis=1)[None]
    exact = protocol(epsilon=1e6, queries=6, alternatives=4, agents=50)
    whole = exact.estimate([profile], np.random.default_rng(3))
    pieces = exact.estimate([profile[:, :7], profile[:, 7:8], profile[:, 8:]], np.random.default_rng(4))
    assert pieces == pytest.approx(whole)
    noisy = protocol(epsilon=2.0, queries=2, alternatives=4, agents=50, centre="identity")
    runs = 3000
    whole = upper(run(noisy, runs, np.random.default_rng(5))[0])
    monkeypatch.setattr(chunks, "AGENT_CHUNK", 16)
    _, drawn = draw(noisy, 3, np.random.default_rng(6))
    assert [chunk.shape for chunk in drawn] == [(3, 16, 4), (3, 16, 4), (3, 16, 4), (3, 2, 4)]
    pieces = upper(run(noisy, runs, np.random.default_rng(7))[0])
    for pair in range(6):
        assert same_law(whole[:, pair].round(6), pieces[:, pair].round(6)) > FALSE_ALARM / 6
    assert chunks.batches(10, 7) == [2, 2, 2, 2, 2]
    assert noisy.sample(profile[0], 11, np.random.default_rng(8)).shape == (11, 4)


@pytest.mark.parametrize("protocol", [RR, LAP])
def test_the_answers_of_many_queries_are_tallied_in_pieces(protocol, monkeypatch):
    profiles = np.random.default_rng(1).permuted(np.tile(np.arange(4), (2, 50, 1)), axis=2)
    exact = protocol(epsilon=1e6, queries=6, alternatives=4, agents=50)
    whole = exact.estimate([profiles], np.random.default_rng(3))
    monkeypatch.setattr(chunks, "ANSWER_CHUNK", 100)
    assert [part.shape[1] for part in chunks.parts(profiles, 6)] == [8, 8, 8, 8, 8, 8, 2]
    assert exact.estimate([profiles], np.random.default_rng(3)) == pytest.approx(whole)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_agents():
    def peak(agents):
        target = RR(epsilon=1.0, queries=1, alternatives=4, agents=agents)
        tracemalloc.start()
        run(target, 1, np.random.default_rng(1))
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    assert peak(4 * chunks.AGENT_CHUNK) < 1.25 * peak(chunks.AGENT_CHUNK)


@pytest.mark.slow
def test_one_run_is_one_run_of_literal_kwiksort():
    """The law of the aggregate ranking, from literal margins and a recursive KwikSort."""
    coins = random.Random(SEED)

    def literal_kwiksort(items, margin):
        if not items:
            return []
        pivot = coins.choice(items)
        left, right = [], []
        for item in items:
            if item != pivot:
                sign = margin(item, pivot)
                (left if sign > 0 or (sign == 0 and coins.random() < 0.5) else right).append(item)
        return [*literal_kwiksort(left, margin), pivot, *literal_kwiksort(right, margin)]

    runs = 4000
    literal = []
    for _ in range(runs):
        values = dict(zip([(0, 1), (0, 2), (1, 2)], literal_margins(PROFILE, 2.0, 1, "rr", coins), strict=True))
        values |= {(b, a): -value for (a, b), value in values.items()}
        literal.append(literal_kwiksort([0, 1, 2], lambda i, p, values=values: values[i, p]))
    target = RR(epsilon=2.0, queries=1, alternatives=3, agents=len(PROFILE))
    batch = target.sample(np.array(PROFILE), runs, np.random.default_rng(SEED))
    assert same_law(np.array(literal) @ [9, 3, 1], batch @ [9, 3, 1]) > FALSE_ALARM
