"""Ding, Han, Dezert, Yang 2018: hierarchical rank aggregation, from which DDP-Helnaksort starts.

It is implemented as Section 2.1.2 of Song, Lan, Li, Li 2022 restates it; what is claimed about it is in their package.
"""

from typing import Any

import numpy as np

import dpaudit
from dpaudit import rankings

PAPER = dpaudit.Paper(
    key="ding2018",
    title="A new hierarchical ranking aggregation method",
    authors=("Ding", "Han", "Dezert", "Yang"),
    year=2018,
    venue="Information Sciences 453, 168-185",
)


class HierarchicalRankAggregation(dpaudit.Mechanism):
    """HRA on the rankings themselves: the baseline without privacy."""

    name = "hierarchical-rank-aggregation"
    places = (PAPER.at(note="as restated by Song, Lan, Li, Li 2022, Section 2.1.2"),)
    model = "none"
    trust = "The curator sees every ranking; only the order of alternatives that tie in everything is random."

    alternatives: int = dpaudit.parameter(5, minimum=2, maximum=9, doc="m, largest number searched")
    agents: int = dpaudit.parameter(7, minimum=1, doc="n, largest number searched")

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate the rankings of a profile of shape (n, m), or of a ``Profile``."""
        return rankings.hierarchical(rankings.margins(rankings.pairwise_counts(data)), rng, size)
