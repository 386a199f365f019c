"""DP-KwikSort: KwikSort on noisy comparisons, in the central model.

It is implemented as Yan, Li, Liu 2020 restate it in Section 5.1.1. What they leave open there, the base of a logarithm
and the neighbouring relation, are parameters; the claim that it is private is theirs and is declared in their package.

Symbols: epsilon is the paper's ϵ, alternatives m, agents n, and the budget of one comparison ϵ' = ϵ / ((m - 1) log m).
"""

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

from .paper import PAPER

_LISTED_ALTERNATIVES = 5


class DPKwikSort(dpaudit.Mechanism):
    """KwikSort that adds Laplace noise to every comparison it makes."""

    name = "dp-kwiksort"
    places = (PAPER.at(),)
    model = "central"
    trust = "A trusted curator sees every ranking; the adversary sees the aggregate ranking."
    notation = "an input lists the agents' rankings, best first; the output is a ranking"

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the whole budget")
    alternatives: int = dpaudit.parameter(3, minimum=2, doc="m", role="alternatives")
    agents: int = dpaudit.parameter(2, minimum=1, doc="n", role="agents")
    logarithm: Literal["natural", "binary"] = dpaudit.parameter("natural", doc="base of the logarithm in ϵ'")
    relation: Literal["substitution", "add-remove"] = dpaudit.parameter("substitution", doc="neighbouring relation")

    @property
    def noise(self) -> randomizers.LaplaceNoise:
        """Noise of one comparison: Lap(1/ϵ')."""
        log = math.log(self.alternatives) if self.logarithm == "natural" else math.log2(self.alternatives)
        return randomizers.LaplaceNoise((self.alternatives - 1) * log / self.epsilon)

    def sends(self) -> Sequence[dpaudit.Message]:
        # Noise is drawn for every pair, and KwikSort asks for some of them.
        return [dpaudit.Message(self.noise, math.comb(self.alternatives, 2))]

    def transcript(self) -> dpaudit.Transcript:
        agreed = np.tile(np.arange(self.alternatives), (self.agents, 1))
        return dpaudit.Transcript(view="output", inputs=[agreed, agreed[:, ::-1]], runs=4)

    def noisy(self, margins: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Margins of all pairs with their noise, both of shape (runs, m, m): KwikSort asks for each at most once."""
        i, j = rankings.alternative_pairs(self.alternatives).T
        return rankings.margin_matrix(self.noise.randomize(margins[:, i, j], rng), self.alternatives)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate rankings of a profile of shape (n, m), or of a ``Profile``."""
        margins = _margins(data, self.alternatives)
        noisy = self.noisy(np.broadcast_to(margins, (size, *margins.shape)), rng)
        return rankings.kwiksort(rankings.comparisons(noisy, rng), rng)

    def law(self, data: Any) -> dpaudit.FiniteLaw | None:
        """Law over all rankings, by recursion over subsets and pivots."""
        if self.alternatives > _LISTED_ALTERNATIVES:
            return None
        margins = _margins(data, self.alternatives)
        # Item i is placed before pivot p when margin + noise is above 0, so when the noise is above -margin.
        log_before = self.noise.log_below(margins)
        return dpaudit.FiniteLaw(rankings.all_rankings(self.alternatives), rankings.kwiksort_log_law(log_before))

    def neighbours(self) -> dpaudit.Neighbouring:
        words = "replaced" if self.relation == "substitution" else "added or removed"
        # Relabelling the alternatives turns the ranking that changes into the first one.
        profiles = rankings.Profiles(
            agents=self.agents, alternatives=self.alternatives, relation=self.relation, neutral=True
        )
        return dpaudit.Neighbouring(
            relation=self.relation,
            pairs=profiles.pairs,
            complete=True,
            scope=(
                f"all profiles of {self.agents} agents over {self.alternatives} alternatives with one ranking {words}, "
                "up to the order of the agents and the names of the alternatives"
            ),
            domain=profiles,
        )


def _margins(data: Any, alternatives: int) -> np.ndarray:
    if isinstance(data, np.ndarray) and not len(data):
        return np.zeros((alternatives, alternatives), dtype=int)
    return rankings.margins(rankings.pairwise_counts(data))
