"""The experiments of Section 5: four systems, and the settings of its figures and of its table of times.

Symbols: epsilon is the paper's ϵ, alternatives m, agents n, dispersion θ, K the number of queries. RR and Lap are the
two solutions.
"""

import math
import time
from typing import Any, Final, Literal

import numpy as np

import dpaudit
from dpaudit import rankings
from dpaudit.catalog.hay2017 import DPKwikSort

from .comparison import System, compete, four, kwiksort
from .ldp_kwiksort import LDPKwikSort, LDPKwikSortLap, LDPKwikSortRR
from .metrics import profile_margins
from .paper import OF_THE_EVALUATION, PAPER
from .profiles import profiles
from .utility import exponent, pair_error

SOLUTIONS: Final[dict[str, type[LDPKwikSort]]] = {"rr": LDPKwikSortRR, "lap": LDPKwikSortLap}

FEW_QUERIES = (1, 2, 3, 4)
"""K in Figure 3, besides m + 1 and C(m, 2)."""


class LDPKwikSortEvaluation(dpaudit.Mechanism):
    """KwikSort, DP-KwikSort and both solutions of LDP-KwikSort on the same profiles."""

    name = "ldp-kwiksort-evaluation"
    places = (PAPER.at(section="5"),)
    errata = OF_THE_EVALUATION
    trust = "Four systems side by side: no privacy, a trusted curator, and the two solutions that trust nobody."
    synthetic = ("dispersion", "convention")

    epsilon: float = dpaudit.parameter(2.0, doc="ϵ, the budget of one agent, and the whole of DP-KwikSort's")
    alternatives: int = dpaudit.parameter(15, minimum=3, doc="m", role="alternatives")
    agents: int = dpaudit.parameter(5000, minimum=1, doc="n", role="agents")
    dispersion: float = dpaudit.parameter(0.5, minimum=0, doc="θ of the Mallows model")
    convention: Literal["yan", "permallows"] = dpaudit.parameter(
        "permallows", doc="phi = 1 - θ (the paper's theorems) or exp(-θ) (the package behind its experiments)"
    )
    logarithm: Literal["natural", "binary"] = dpaudit.parameter("natural", doc="base of the logarithm in DP-KwikSort")
    profile: rankings.Profile | None = dpaudit.parameter(
        None, doc="real rankings (--data), not the Mallows model", role="dataset", loader=rankings.PREFLIB
    )

    def validate(self) -> None:
        self.solution("rr")

    @property
    def pairs(self) -> int:
        """Number of pairs of alternatives."""
        return math.comb(self.alternatives, 2)

    @property
    def setting(self) -> str:
        """The profiles in words."""
        if self.profile is not None:
            return f"the data, under new labels in every run, ϵ = {self.epsilon:g}"
        phi = self.solution("rr").phi
        return f"Mallows model with phi {phi:.6g}, n = {self.agents}, m = {self.alternatives}, ϵ = {self.epsilon:g}"

    # Section 5.1.1: the systems.

    def solution(self, name: str, *, queries: int | None = None, epsilon: float | None = None) -> Any:
        """One solution of LDP-KwikSort, with K by the paper's rule unless it is given."""
        return SOLUTIONS[name](
            epsilon=epsilon or self.epsilon,
            queries="auto" if queries is None else queries,
            alternatives=self.alternatives,
            agents=self.agents,
            dispersion=self.dispersion,
            convention=self.convention,
            centre="random",
            profile=self.profile,
        )

    def central(self) -> DPKwikSort:
        """DP-KwikSort."""
        return DPKwikSort(
            epsilon=self.epsilon, alternatives=self.alternatives, agents=self.agents, logarithm=self.logarithm
        )

    def systems(self) -> dict[str, System]:
        """All four."""
        return four(self.solution("rr"), self.solution("lap"), self.central())

    # Section 5.2: the number of queries.

    def half(self) -> int:
        """K = ϵ/2 of Section 5.2, at least 1."""
        return min(max(1, round(self.epsilon / 2)), self.pairs)

    def listed(self) -> list[int]:
        """K of Figure 3, and ϵ/2."""
        few = {k for k in (*FEW_QUERIES, self.alternatives + 1) if k <= self.pairs}
        return sorted({*few, self.pairs, self.half()})

    def rival(self, solution: str) -> int:
        """Of the K of Figure 3 other than ϵ/2, that with the largest K (2 p - 1)^2, the exponent of Equation 4."""
        protocol = self.solution(solution)
        return max((k for k in self.listed() if k != self.half()), key=lambda k: exponent(protocol, k))

    def expected_error_rate(self, solution: str, queries: int) -> float:
        """Exact expected error rate of the estimated signs against the ground truth."""
        protocol = self.solution(solution, queries=queries)
        m = self.alternatives
        agree = rankings.Mallows(np.arange(m), protocol.phi).pairwise_probability()[0]
        return math.fsum((m - d) * pair_error(protocol, float(agree[d])) for d in range(1, m)) / self.pairs

    # Section 5.4: KwikSort alone.

    def kwiksort_distance(self, runs: int, rng: np.random.Generator) -> np.ndarray:
        """KwikSort's distance to the profile, shape (runs,)."""
        return compete(self.solution("rr"), {"kwiksort": kwiksort}, runs, rng)["kwiksort"]["kendall-tau"]

    def kwiksort_distance_to_some(self, agents: int, runs: int, rng: np.random.Generator) -> np.ndarray:
        """KwikSort's distance to the rankings of some agents of the data, drawn anew for every run; shape (runs,)."""
        assert self.profile is not None
        orders = self.profile.rankings()
        chosen = np.argsort(rng.random((runs, len(orders))), axis=1)[:, :agents]
        margins = profile_margins(orders[chosen])
        found = rankings.kwiksort(rankings.comparisons(margins, rng), rng)
        return rankings.margin_distance(found, margins, agents)

    # Section 5.6: times.

    def seconds(self, runs: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Seconds that each system takes for one profile, shape (runs,).

        As in the paper: the agents' part and the curator's, without drawing the rankings and without counting the true
        margins that KwikSort and DP-KwikSort start from. Unlike there, all agents are one step of array operations, so
        that the times of the solutions say little of code that asks one agent after the other. ``noise`` is what
        DP-KwikSort does besides KwikSort.
        """
        systems, protocol = self.systems(), self.solution("rr")
        central = self.central()
        steps = {name: _sorted_by(protocol, system) for name, system in systems.items()}
        steps["noise"] = lambda orders, margins, rng: central.noisy(margins, rng)
        taken: dict[str, list[float]] = {name: [] for name in steps}
        turns = list(steps.items())
        for _ in range(runs):
            orders, margins = profiles(protocol, 1, rng)
            # The first one finds other data in the processor's caches, so the systems take turns at going first.
            turns = [*turns[1:], turns[0]]
            for name, step in turns:
                started = time.perf_counter()
                step(orders, margins, rng)
                # A clock that ticks slowly may see no time pass.
                taken[name].append(max(time.perf_counter() - started, 1e-9))
        return {name: np.array(values) for name, values in taken.items()}


def _sorted_by(protocol: LDPKwikSort, system: System) -> System:
    return lambda orders, margins, rng: protocol.aggregate(system(orders, margins, rng), rng)
