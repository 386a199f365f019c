"""The reports of LDP-KwikSort: their laws against loops written here, simulation, and all pairs of rankings."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chisquare, laplace

import dpaudit
from dpaudit.auditors.exact import audit_exact
from dpaudit.catalog.yan2020 import LDPKwikSortLap, LDPKwikSortRR

FALSE_ALARM = 1e-6
SEED = 20261121
RR, LAP = LDPKwikSortRR, LDPKwikSortLap
SMALL = [(m, k) for m in (3, 4) for k in (1, 2, 3)]


def everyone(m):
    return list(itertools.permutations(range(m)))


def prefers(ranking, j, l):  # noqa: E741
    return list(ranking).index(j) < list(ranking).index(l)


def disagreements(a, b):
    return sum(prefers(a, j, l) != prefers(b, j, l) for j, l in itertools.combinations(range(len(a)), 2))  # noqa: E741


def brute_rr_law(ranking, epsilon, queries):
    """Algorithm 1 as meant, by looping over what may be asked and what may be answered."""
    pairs = list(itertools.combinations(range(len(ranking)), 2))
    keep = math.exp(epsilon / queries) / (math.exp(epsilon / queries) + 1)
    sets = list(itertools.combinations(range(len(pairs)), queries))
    law = {}
    for asked in sets:
        for replies in itertools.product((0, 1), repeat=queries):
            p = 1 / len(sets)
            for number, reply in zip(asked, replies, strict=True):
                p *= keep if prefers(ranking, *pairs[number]) == bool(reply) else 1 - keep
            law[(*asked, *replies)] = p
    return law


def law_of(report, ranking):
    law = report.law(np.array(ranking))
    return {tuple(int(v) for v in o): math.exp(p) for o, p in zip(law.outcomes, law.log_probabilities, strict=True)}


@pytest.mark.parametrize(("m", "queries"), SMALL)
@pytest.mark.parametrize("epsilon", [0.1, 4.0])
def test_law_of_the_rr_report_is_the_loop_over_queries_and_answers(m, queries, epsilon):
    report = RR(epsilon=epsilon, queries=queries, alternatives=m).report
    for ranking in everyone(m):
        assert law_of(report, ranking) == pytest.approx(brute_rr_law(ranking, epsilon, queries), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("m", "queries"), SMALL)
def test_rr_reports_follow_the_brute_force_law(m, queries):
    ranking = everyone(m)[-2]
    law = brute_rr_law(ranking, 1.5, queries)
    report = RR(epsilon=1.5, queries=queries, alternatives=m).report
    outputs = report.sample(np.array(ranking), 100_000, np.random.default_rng(SEED))
    seen, counts = np.unique(outputs, axis=0, return_counts=True)
    found = dict(zip(map(tuple, seen.tolist()), counts.tolist(), strict=True))
    assert set(found) <= set(law)
    observed = [found.get(outcome, 0) for outcome in law]
    assert chisquare(observed, np.array(list(law.values())) * len(outputs)).pvalue > FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize(("m", "queries"), SMALL)
def test_lap_reports_are_true_answers_plus_laplace_noise(m, queries):
    ranking, epsilon, runs = everyone(m)[3], 1.5, 100_000
    report = LAP(epsilon=epsilon, queries=queries, alternatives=m).report
    outputs = report.sample(np.array(ranking), runs, np.random.default_rng(SEED))
    pairs = list(itertools.combinations(range(m), 2))
    sets = {asked: i for i, asked in enumerate(itertools.combinations(range(len(pairs)), queries))}
    chosen = np.array([sets[tuple(row)] for row in outputs[:, :queries].astype(int).tolist()])
    truth = np.array([prefers(ranking, *pair) for pair in pairs], dtype=float)[outputs[:, :queries].astype(int)]
    edges = laplace.ppf([0.2, 0.5, 0.9], scale=queries / epsilon)
    cells = np.searchsorted(edges, outputs[:, queries:] - truth)
    codes = chosen * 4**queries + cells @ (4 ** np.arange(queries))
    one = np.array([0.2, 0.3, 0.4, 0.1])
    shape = one
    for _ in range(queries - 1):
        shape = np.multiply.outer(one, shape).ravel()
    expected = np.tile(shape, len(sets)) / len(sets) * runs
    assert chisquare(np.bincount(codes, minlength=len(expected)), expected).pvalue > FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize(("m", "queries"), SMALL)
@pytest.mark.parametrize("epsilon", [0.1, 5.0])
def test_epsilon_over_every_pair_of_rankings(m, queries, epsilon):
    """The listed pairs, one ranking per number of inversions, stand for all m! (m! - 1) ordered pairs."""
    rr = RR(epsilon=epsilon, queries=queries, alternatives=m).report
    lap = LAP(epsilon=epsilon, queries=queries, alternatives=m).report
    brute = {ranking: np.log(list(brute_rr_law(ranking, epsilon, queries).values())) for ranking in everyone(m)}
    laps = {ranking: lap.law(np.array(ranking)) for ranking in everyone(m)}
    by_distance = {}
    for a, b in itertools.permutations(everyone(m), 2):
        loss = float(np.max(brute[a] - brute[b]))
        distance = disagreements(a, b)
        assert loss == pytest.approx(epsilon / queries * min(queries, distance), abs=1e-12)
        assert dpaudit.compare(laps[a], laps[b]).max_divergence() == pytest.approx(loss, abs=1e-12)
        by_distance.setdefault(distance, loss)
    for report in (rr, lap):
        neighbouring = report.neighbours()
        listed = [
            (disagreements(a.tolist(), b.tolist()), dpaudit.compare(report.law(a), report.law(b)).max_divergence())
            for a, b in neighbouring
        ]
        assert dict(listed) == pytest.approx(by_distance, abs=1e-12)
        claim = dpaudit.PrivacyClaim(id="c", statement="", epsilon=epsilon)
        evidence, _ = audit_exact(report, claim, neighbouring)
        assert evidence.verdict == "proved"
        assert evidence.measured["epsilon"].lower == pytest.approx(epsilon, abs=1e-9)
        assert evidence.measured["epsilon"].upper == pytest.approx(epsilon, abs=1e-9)


@pytest.mark.parametrize("epsilon", [800.0, 5000.0])
@pytest.mark.parametrize("protocol", [RR, LAP])
def test_a_budget_beyond_the_range_of_doubles_is_still_computed(protocol, epsilon):
    report = protocol(epsilon=epsilon, queries=1, alternatives=3).report
    claim = dpaudit.PrivacyClaim(id="c", statement="", epsilon=epsilon)
    evidence, _ = audit_exact(report, claim, report.neighbours())
    assert evidence.verdict == "proved"
    assert evidence.measured["epsilon"].upper == pytest.approx(epsilon)


@pytest.mark.parametrize("m", [2, 3, 4, 5, 6, 9])
def test_there_is_a_ranking_for_every_number_of_inversions(m):
    for inversions in range(math.comb(m, 2) + 1):
        ranking = dpaudit.rankings.ranking_with_inversions(m, inversions).tolist()
        assert sorted(ranking) == list(range(m))
        assert disagreements(range(m), ranking) == inversions


@pytest.mark.parametrize("protocol", [RR, LAP])
@pytest.mark.parametrize(("m", "queries"), [(3, 1), (4, 3), (4, 6), (10, 45)])
def test_queries_are_different_pairs_and_every_pair_is_asked_alike(protocol, m, queries):
    report = protocol(queries=queries, alternatives=m).report
    asked = report.assign(60_000, np.random.default_rng(SEED))
    assert (np.diff(asked, axis=1) > 0).all()
    pairs = math.comb(m, 2)
    if queries < pairs:
        _, counts = np.unique(asked, axis=0, return_counts=True)
        counts = np.r_[counts, np.zeros(math.comb(pairs, queries) - len(counts))]
        assert chisquare(counts).pvalue > FALSE_ALARM
    else:
        assert (asked == np.arange(pairs)).all()
