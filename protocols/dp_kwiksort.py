"""DP-KwikSort: KwikSort on noisy comparisons, in the central model.

Source: Hay, Elagina, Miklau, "Differentially private rank aggregation", SDM 2017, as restated in Section 5.1.1 of Yan,
Li, Liu, "Private rank aggregation under local differential privacy", Int. J. Intell. Syst. 35(10), 2020.

Symbols: epsilon is the paper's ϵ, alternatives m, agents n, and the budget of one comparison ϵ' = ϵ / ((m - 1) log m).
"""

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

_LISTED_ALTERNATIVES = 5


class DPKwikSort(dpaudit.Mechanism):
    """KwikSort that adds Laplace noise to every comparison it makes."""

    name = "dp-kwiksort"
    source = "Yan, Li, Liu 2020, Section 5.1.1; Hay, Elagina, Miklau 2017"
    model = "central"
    trust = "A trusted curator sees every ranking; the adversary sees the aggregate ranking."
    notation = "an input lists the agents' rankings, best first; the output is a ranking"
    errata = (
        dpaudit.Erratum(
            where="Yan, Li, Liu 2020, Section 5.1.1",
            printed="the budget of one comparison is ϵ / ((m - 1) log m), without the base of the logarithm",
            meant="left open: the parameter `logarithm` audits both the natural and the binary one",
            reason="no base is stated; the binary logarithm is what the count of comparisons of a QuickSort suggests",
        ),
        dpaudit.Erratum(
            where="Yan, Li, Liu 2020, Section 5.1.1",
            printed="noise Lap(1/ϵ') on a difference of counts, for neighbours that differ on one record",
            meant="left open: the parameter `relation` audits substitution and add-remove",
            reason="replacing one ranking changes a difference of counts by 2, adding or removing one changes it by 1",
        ),
        dpaudit.Erratum(
            where="Yan, Li, Liu 2020, Section 5.3",
            printed="DP-KwikSort is based on the local model of DP",
            meant="the central model",
            reason="the curator adds the noise to counts of true answers",
        ),
    )

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the whole budget")
    alternatives: int = dpaudit.parameter(3, minimum=2, doc="m")
    agents: int = dpaudit.parameter(2, minimum=1, doc="n")
    logarithm: Literal["natural", "binary"] = dpaudit.parameter("natural", doc="base of the logarithm in ϵ'")
    relation: Literal["substitution", "add-remove"] = dpaudit.parameter("substitution", doc="neighbouring relation")

    @property
    def noise(self) -> randomizers.LaplaceNoise:
        """Noise of one comparison: Lap(1/ϵ')."""
        log = math.log(self.alternatives) if self.logarithm == "natural" else math.log2(self.alternatives)
        return randomizers.LaplaceNoise((self.alternatives - 1) * log / self.epsilon)

    def noise_of(self, runs: int, rng: np.random.Generator) -> np.ndarray:
        """Antisymmetric noise on the margins of all pairs, (runs, m, m): KwikSort asks for each at most once."""
        zeros = np.zeros((runs, math.comb(self.alternatives, 2)))
        return rankings.margin_matrix(self.noise.randomize(zeros, rng), self.alternatives)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate rankings of a profile of shape (n, m), or of a ``Profile``."""
        noisy = _margins(data, self.alternatives) + self.noise_of(size, rng)
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

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [
            dpaudit.PrivacyClaim(
                id="yan2020.dp-kwiksort",
                source="Yan, Li, Liu 2020, Section 5.1.1",
                statement="The aggregate ranking of DP-KwikSort is ϵ-differentially private.",
                epsilon=self.epsilon,
            )
        ]


def _margins(data: Any, alternatives: int) -> np.ndarray:
    if isinstance(data, np.ndarray) and not len(data):
        return np.zeros((alternatives, alternatives), dtype=int)
    return rankings.margins(rankings.pairwise_counts(data))
