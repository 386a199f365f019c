"""Ranking rules on histograms against plain loops; noise on their statistics against noise on every count."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chi2

from dpaudit import DataError, ParameterError, rankings
from dpaudit.catalog.shang2014.other_rules import (
    copeland,
    histogram_margins,
    instant_runoff,
    kemeny_of_margins,
    randomize_margins,
)
from dpaudit.catalog.shang2014.positional import PositionalRule as Rule
from dpaudit.catalog.shang2014.positional import rank_by_scores, ranking_histogram

FALSE_ALARM = 1e-6
SEED = 20261121


def histograms(m, runs, seed=SEED):
    """Histograms with negative counts and no ties."""
    return np.random.default_rng(seed).normal(0.3, 1.0, (runs, math.factorial(m)))


def generator():
    return np.random.default_rng(1)


@pytest.mark.parametrize(
    ("name", "m", "scores"),
    [
        ("plurality", 4, (1, 0, 0, 0)),
        ("veto", 4, (1, 1, 1, 0)),
        ("2-approval", 4, (1, 1, 0, 0)),
        ("borda", 3, (1, 0.5, 0)),
        ("borda", 5, (1, 0.75, 0.5, 0.25, 0)),
        ("1:0.3:0", 3, (1, 0.3, 0)),
    ],
)
def test_named_rules_have_the_scores_of_their_definition(name, m, scores):
    assert Rule.named(name, m).scores == pytest.approx(scores)


@pytest.mark.parametrize(
    ("name", "words"),
    [("bordas", "unknown"), ("4-approval", "approve 1 to 3"), ("1:0", "2 scores"), ("0:1:2:3", "fall")],
)
def test_wrong_rules_are_refused(name, words):
    with pytest.raises(ParameterError, match=words):
        Rule.named(name, 4)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_total_scores_are_sums_over_rankings(m):
    rule = Rule.named("borda", m)
    q = histograms(m, 2)
    for row, totals in zip(q, rule.score_histograms(q), strict=True):
        expected = np.zeros(m)
        for weight, order in zip(row, itertools.permutations(range(m)), strict=True):
            for place, item in enumerate(order):
                expected[item] += weight * (m - 1 - place) / (m - 1)
        assert totals == pytest.approx(expected)


def test_profile_and_histogram_have_the_same_totals():
    profile = rankings.Profile.from_rankings(
        np.random.default_rng(SEED).permuted(np.tile(np.arange(4), (50, 1)), axis=1)
    )
    histogram = ranking_histogram(profile)
    assert histogram.sum() == 50
    for name in ("borda", "plurality", "veto"):
        rule = Rule.named(name, 4)
        assert rule.score_profile(profile) == pytest.approx(rule.score_histograms(histogram))
    margins = rankings.margins(rankings.pairwise_counts(profile))[np.triu_indices(4, k=1)]
    assert histogram_margins(histogram[None].astype(float), 4)[0] == pytest.approx(margins)


@pytest.mark.parametrize("name", ["borda", "plurality", "veto", "2-approval", "3:1:1:0"])
def test_gap_coefficients_are_those_of_all_rankings(name):
    rule = Rule.named(name, 4)
    places = rankings.positions(rankings.all_rankings(4))
    gaps = np.array(rule.scores)[places[:, 2]] - np.array(rule.scores)[places[:, 0]]
    values, counts = np.unique(np.round(gaps, 12), return_counts=True)
    found = rule.gap_coefficients()
    assert found[0] == pytest.approx(values)
    assert found[1].tolist() == counts.tolist()
    assert rule.gap_norm == pytest.approx(np.linalg.norm(gaps))


def test_equal_scores_are_ranked_in_every_order_alike():
    orders = rank_by_scores(np.tile([1.0, 2.0, 1.0, 0.0], (4000, 1)), generator())
    assert (orders[:, 0] == 1).all()
    assert (orders[:, 3] == 3).all()
    assert abs(np.count_nonzero(orders[:, 1] == 0) - 2000) < 5 * math.sqrt(1000)
    with pytest.raises(DataError, match="numbers"):
        rank_by_scores([[1.0, math.nan]], generator())


def prefers(order, j, l):  # noqa: E741
    return order.index(j) < order.index(l)


@pytest.mark.parametrize("m", [3, 4])
def test_copeland_and_kemeny_against_loops(m):
    q = histograms(m, 40)
    margins = histogram_margins(q, m)
    by_copeland = copeland(margins, m, generator())
    kemeny = kemeny_of_margins(margins, m, generator())
    every = list(itertools.permutations(range(m)))
    for row, by_wins, best in zip(q, by_copeland, kemeny, strict=True):
        margin = {
            (j, l): sum(w * (1 if prefers(order, j, l) else -1) for w, order in zip(row, every, strict=True))
            for j, l in itertools.permutations(range(m), 2)  # noqa: E741
        }
        wins = [sum(margin[j, l] > 0 for l in range(m) if l != j) for j in range(m)]  # noqa: E741
        assert [wins[j] for j in by_wins] == sorted(wins, reverse=True)
        cost = {order: -sum(margin[pair] for pair in itertools.combinations(order, 2)) for order in every}
        assert cost[tuple(best)] == pytest.approx(min(cost.values()))


def test_kemeny_by_enumeration_is_the_dynamic_programme_on_profiles():
    for seed in range(10):
        profile = rankings.Profile.from_rankings(
            np.random.default_rng(seed).permuted(np.tile(np.arange(5), (7, 1)), axis=1)
        )
        counts = rankings.pairwise_counts(profile)
        margins = rankings.margins(counts)[np.triu_indices(5, k=1)][None]
        found = kemeny_of_margins(margins, 5, generator())[0]
        assert rankings.kendall_cost(found, counts) == rankings.kemeny(counts).cost


@pytest.mark.parametrize("m", [3, 4])
def test_instant_runoff_against_loops(m):
    q = histograms(m, 60)
    every = list(itertools.permutations(range(m)))
    for row, found in zip(q, instant_runoff(q, m, generator()), strict=True):
        left, out = set(range(m)), []
        while len(left) > 1:
            votes = dict.fromkeys(left, 0.0)
            for weight, order in zip(row, every, strict=True):
                votes[next(item for item in order if item in left)] += weight
            last = min(votes, key=votes.get)
            left.remove(last)
            out.append(last)
        assert found.tolist() == [*left, *reversed(out)]


def test_ties_of_instant_runoff_and_kemeny_are_broken_at_random():
    empty = np.zeros((6000, 6))
    for orders in (
        instant_runoff(empty, 3, generator()),
        kemeny_of_margins(histogram_margins(empty, 3), 3, generator()),
        copeland(histogram_margins(empty, 3), 3, generator()),
    ):
        counts = np.bincount(rankings.ranking_index(orders), minlength=6)
        assert ((counts - 1000) ** 2 / 1000).sum() < chi2.isf(FALSE_ALARM / 3, 5)


def test_histograms_of_the_wrong_size_are_refused():
    with pytest.raises(DataError, match="6"):
        instant_runoff(np.zeros((2, 5)), 3, generator())
    with pytest.raises(ParameterError, match="up to m = 8"):
        histogram_margins(np.zeros((1, 3)), 9)


@pytest.mark.parametrize("name", ["borda", "plurality", "veto"])
def test_noise_on_total_scores_has_the_covariance_of_noise_on_all_counts(name):
    rule, m, runs = Rule.named(name, 4), 4, 200_000
    every = np.array(rule.scores)[rankings.positions(rankings.all_rankings(m))]
    exact = 1.7**2 * every.T @ every
    noise = rule.randomize_scores(np.zeros((runs, m)), 1.7, generator())
    assert_covariance(noise, exact)


def test_noise_on_margins_has_the_covariance_of_noise_on_all_counts():
    noise = randomize_margins(np.zeros((200_000, 6)), 4, 0.6, generator())
    signs = histogram_margins(np.eye(24), 4)
    assert_covariance(noise, 0.36 * signs.T @ signs)


def assert_covariance(noise, exact):
    variance = np.diag(exact)
    spread = np.sqrt((exact**2 + np.outer(variance, variance)) / len(noise))
    assert (np.abs(noise.T @ noise / len(noise) - exact) < 6 * spread).all()
