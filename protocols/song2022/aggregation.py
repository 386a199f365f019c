"""What Song, Lan, Li, Li 2022 say of hierarchical rank aggregation and of distances, without privacy."""

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

import dpaudit
from dpaudit import rankings
from dpaudit.catalog.ding2018 import HierarchicalRankAggregation

from .paper import PAPER

TIE_BREAKS = 64
"""Ways to break ties among which the best is chosen for HRA."""


@dpaudit.claim(
    "song2022.hra-without-pivot-error",
    HierarchicalRankAggregation,
    kind="lemma",
    place=PAPER.at(section=("1", "4.2.1"), note="on every profile"),
    statement="On every profile, without pivots, HRA is at least as near to the agents as KwikSort is in the mean.",
    ours=True,
)
def hra_without_pivot_error(protocol: HierarchicalRankAggregation) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda profile: kwiksort_cost(profile) - hra_cost(profile),
        variables=_profiles(protocol),
        explain=lambda profile: {"actual": hra_cost(profile), "claimed": kwiksort_cost(profile)},
        scope=f"{_searched(protocol)}; total Kendall tau distance, ties broken as is best for HRA",
    )


def hra_cost(profile: np.ndarray) -> float:
    """Total Kendall tau distance of HRA, the smallest over many ways to break ties."""
    counts = rankings.pairwise_counts(profile)
    found = rankings.hierarchical(rankings.margins(counts), np.random.default_rng(0), TIE_BREAKS)
    return float(rankings.kendall_cost(found, counts).min())


def kwiksort_cost(profile: np.ndarray) -> float:
    """Expected total Kendall tau distance of KwikSort."""
    return float(rankings.kwiksort_expected_cost(rankings.pairwise_counts(profile)))


@dpaudit.claim(
    "song2022.hra-condorcet",
    HierarchicalRankAggregation,
    kind="lemma",
    place=PAPER.at(section="2.1.2"),
    statement="On every profile whose majorities make an order of all alternatives, HRA ranks by it, as KwikSort does.",
    ours=True,
)
def hra_condorcet(protocol: HierarchicalRankAggregation) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(margin=condorcet_margin, variables=_profiles(protocol), scope=_searched(protocol))


def condorcet_margin(profile: np.ndarray) -> float:
    """Return minus the number of pairs that HRA ranks against an order that all majorities make."""
    margins = rankings.margins(rankings.pairwise_counts(profile))
    wins = (margins > 0).sum(axis=1)
    if sorted(wins.tolist()) != list(range(len(wins))):
        return 0.0
    found = rankings.hierarchical(margins, np.random.default_rng(0), 1)[0]
    return -float(np.count_nonzero(wins[found] != np.arange(len(wins))[::-1]))


@dpaudit.claim(
    "song2022.average-distance",
    HierarchicalRankAggregation,
    kind="lemma",
    place=PAPER.at(section=("2.1.1", "4.1.3")),
    statement=(
        "For every profile and ranking the average distance 2 / (n m (m - 1)) times the sum of K(R, p_u) is that of "
        "Section 2.1.1, with K(R, p_u) as defined there, 1 / C(m, 2) times a sum over all i ≠ j."
    ),
)
def average_distance(protocol: HierarchicalRankAggregation) -> dpaudit.LemmaClaim:
    def numbers(profile: np.ndarray) -> Mapping[str, float]:
        each = [printed_distance(row, profile[0]) for row in profile]
        return {"actual": sum(each) / math.comb(profile.shape[1], 2) / len(each), "claimed": sum(each) / len(each)}

    return _equal(numbers, protocol)


@dpaudit.claim(
    "song2022.average-distance-meant",
    HierarchicalRankAggregation,
    kind="lemma",
    place=PAPER.at(section=("2.1.1", "4.1.3")),
    statement=(
        "For every profile and ranking the average distance 2 / (n m (m - 1)) times the sum of K(R, p_u) is that of "
        "Section 2.1.1, with K(R, p_u) in the former the number of pairs in different order, and in the latter their "
        "share; it is in [0, 1]."
    ),
)
def average_distance_meant(protocol: HierarchicalRankAggregation) -> dpaudit.LemmaClaim:
    def numbers(profile: np.ndarray) -> Mapping[str, float]:
        m = profile.shape[1]
        pairs = rankings.kendall_tau(profile, profile[0])
        shares = [printed_distance(row, profile[0]) / 2 for row in profile]
        found = 2 * float(pairs.sum()) / (len(profile) * m * (m - 1))
        return {"actual": found, "claimed": sum(shares) / len(shares)}

    return _equal(numbers, protocol)


def printed_distance(one: np.ndarray, other: np.ndarray) -> float:
    """K of Section 2.1.1 as printed: 1 / C(m, 2) times a sum over all i ≠ j, which has every pair twice."""
    m = len(one)
    first, second = np.argsort(one), np.argsort(other)
    differ = [(first[i] < first[j]) != (second[i] < second[j]) for i, j in itertools.permutations(range(m), 2)]
    return sum(differ) / math.comb(m, 2)


def _equal(numbers: Any, protocol: HierarchicalRankAggregation) -> dpaudit.LemmaClaim:
    """Claim that two numbers are equal on every profile of at least two alternatives."""

    def margin(profile: np.ndarray) -> float:
        if profile.shape[1] < 2:
            return 0.0
        one, other = numbers(profile).values()
        return -abs(one - other)

    return dpaudit.LemmaClaim(
        margin=margin,
        instances=[{"profile": np.array([[0, 1, 2], [2, 1, 0]])}],
        variables=_profiles(protocol),
        explain=numbers,
        scope=f"{_searched(protocol)}; average distance to its first ranking, Section 4.1.3 (actual), 2.1.1 (claimed)",
    )


@dpaudit.claim(
    "song2022.hra-total-order",
    HierarchicalRankAggregation,
    kind="lemma",
    place=(PAPER.at(section="2.1.2"), PAPER.at(section="3.3", algorithm=2)),
    statement="On every profile HRA ends, with one alternative in each level: it consolidates them into a total order.",
)
def hra_total_order(protocol: HierarchicalRankAggregation) -> dpaudit.LemmaClaim:
    def margin(profile: np.ndarray) -> float:
        margins = rankings.margins(rankings.pairwise_counts(profile))
        found = rankings.hierarchical(margins, np.random.default_rng(0), TIE_BREAKS)
        return -float(np.count_nonzero(np.sort(found, axis=1) != np.arange(profile.shape[1])))

    circle = np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1]])
    return dpaudit.LemmaClaim(
        margin=margin, instances=[{"profile": circle}], variables=_profiles(protocol), scope=_searched(protocol)
    )


@dpaudit.claim(
    "song2022.score-is-borda",
    HierarchicalRankAggregation,
    kind="lemma",
    place=PAPER.at(section="3.3", equation=1),
    statement=(
        "On every profile where all agents answer about all pairs, C_aj is 2 times the Borda count of a_j less n (m - "
        "1), so that the score that replaces the Borda count orders alternatives as it does."
    ),
    ours=True,
)
def score_is_borda(protocol: HierarchicalRankAggregation) -> dpaudit.LemmaClaim:
    def margin(profile: np.ndarray) -> float:
        agents, m = profile.shape
        scores = rankings.margins(rankings.pairwise_counts(profile)).sum(axis=1)
        borda = np.zeros(m)
        for row in profile:
            borda[row] += m - 1 - np.arange(m)
        return -float(np.abs(scores - (2 * borda - agents * (m - 1))).max())

    return dpaudit.LemmaClaim(margin=margin, variables=_profiles(protocol), scope=_searched(protocol))


def _profiles(protocol: HierarchicalRankAggregation) -> Mapping[str, Any]:
    return {"profile": dpaudit.RankingProfiles(protocol.agents, protocol.alternatives)}


def _searched(protocol: HierarchicalRankAggregation) -> str:
    return f"any profile of up to {protocol.agents} agents over up to {protocol.alternatives} alternatives"
