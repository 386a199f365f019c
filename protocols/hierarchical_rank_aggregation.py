"""Hierarchical rank aggregation: the rank aggregation without privacy that DDP-Helnaksort starts from.

Source: Ding, Han, Dezert, Yang, "A new hierarchical ranking aggregation method", Information Sciences 453, 2018, as
restated in Section 2.1.2 of Song, Lan, Li, Li, "Distributed differentially private ranking aggregation", PAKDD 2022.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

import dpaudit
from dpaudit import rankings

PAPER = "Song, Lan, Li, Li 2022"
TIE_BREAKS = 64


class HierarchicalRankAggregation(dpaudit.Mechanism):
    """HRA on the rankings themselves: the baseline without privacy."""

    name = "hierarchical-rank-aggregation"
    source = f"{PAPER}, Section 2.1.2; Ding, Han, Dezert, Yang 2018"
    model = "none"
    trust = (
        "The curator sees every ranking; nothing is randomized but the order of alternatives that tie in everything."
    )

    alternatives: int = dpaudit.parameter(5, minimum=2, maximum=9, doc="m, largest number searched")
    agents: int = dpaudit.parameter(7, minimum=1, doc="n, largest number searched")

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate rankings of a profile of shape (n, m), or of a ``Profile``."""
        return rankings.hierarchical(rankings.margins(rankings.pairwise_counts(data)), rng, size)

    def claims(self) -> Sequence[dpaudit.Claim]:
        profiles = {"profile": dpaudit.RankingProfiles(self.agents, self.alternatives)}
        scope = f"any profile of up to {self.agents} agents over up to {self.alternatives} alternatives"
        return [
            dpaudit.LemmaClaim(
                id="song2022.hra-condorcet",
                source=f"{PAPER}, Section 2.1.2",
                statement="HRA ranks by the majorities wherever these make an order of all alternatives.",
                margin=_condorcet_margin,
                variables=profiles,
                scope=scope,
            ),
            dpaudit.LemmaClaim(
                id="song2022.hra-without-pivot-error",
                source=f"{PAPER}, Sections 1 and 4.2.1",
                statement="Without pivots, HRA is at least as near to the agents as KwikSort is in the mean.",
                margin=lambda profile: _kwiksort_cost(profile) - _hra_cost(profile),
                variables=profiles,
                explain=lambda profile: {"actual": _hra_cost(profile), "claimed": _kwiksort_cost(profile)},
                scope=f"{scope}; total Kendall tau distance, ties broken as is best for HRA",
            ),
        ]


def _condorcet_margin(profile: np.ndarray) -> float:
    """Pairs that HRA ranks against an order that all majorities make; negative where there are any."""
    margins = rankings.margins(rankings.pairwise_counts(profile))
    wins = (margins > 0).sum(axis=1)
    if sorted(wins.tolist()) != list(range(len(wins))):
        return 0.0
    found = rankings.hierarchical(margins, np.random.default_rng(0), 1)[0]
    return -float(np.count_nonzero(wins[found] != np.arange(len(wins))[::-1]))


def _hra_cost(profile: np.ndarray) -> float:
    """Total Kendall tau distance of HRA, the smallest over many ways to break ties."""
    counts = rankings.pairwise_counts(profile)
    found = rankings.hierarchical(rankings.margins(counts), np.random.default_rng(0), TIE_BREAKS)
    return float(rankings.kendall_cost(found, counts).min())


def _kwiksort_cost(profile: np.ndarray) -> float:
    return float(rankings.kwiksort_expected_cost(rankings.pairwise_counts(profile)))
