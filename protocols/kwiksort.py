"""KwikSort: the rank aggregation without privacy that the private protocols start from.

Source: Ailon, Charikar, Newman, "Aggregating inconsistent information", J. ACM 55(5), 2008, as restated in Section 2.1
of Yan, Li, Liu, "Private rank aggregation under local differential privacy", Int. J. Intell. Syst. 35(10), 2020, and in
Alabi, Ghazi, Kumar, Manurangsi, "Private rank aggregation in central and local models", AAAI 2022.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import dpaudit
from dpaudit import rankings

RATIO = 11 / 7
CAP_FACTOR = 4
"""Constant chosen for the number of comparisons that Alabi et al. state as O(m log m): at most 4 m ln m."""

LARGEST_COUNTED = 128


class KwikSort(dpaudit.Mechanism):
    """KwikSort on the majority of every pair: a non-private baseline."""

    name = "kwiksort"
    source = "Yan, Li, Liu 2020, Section 2.1; Ailon, Charikar, Newman 2008"
    model = "none"
    trust = "The curator sees every ranking; nothing is randomized but the pivots and the placement of ties."

    alternatives: int = dpaudit.parameter(5, minimum=2, maximum=12, doc="m, largest number searched")
    agents: int = dpaudit.parameter(7, minimum=1, doc="n, largest number searched")

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate rankings of a profile of shape (n, m), or of a ``Profile``."""
        margins = rankings.margins(rankings.pairwise_counts(data))
        return rankings.kwiksort(rankings.comparisons(margins, rng, size), rng)

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [
            dpaudit.LemmaClaim(
                id="yan2020.kwiksort-ratio",
                source="Yan, Li, Liu 2020, Section 2.1 and 4.2.1",
                statement="KwikSort's expected total Kendall tau distance is at most 11/7 of the optimum.",
                margin=_ratio_margin,
                instances=[{"profile": profile} for profile in _hard_profiles(self.alternatives)],
                variables={"profile": dpaudit.RankingProfiles(self.agents, self.alternatives)},
                explain=_explain_ratio,
                scope=(
                    f"exact expected cost over exact optimum; one item that floats over a chain, up to "
                    f"{self.alternatives} alternatives, and any profile of up to {self.agents} agents"
                ),
            ),
            dpaudit.RateClaim(
                id="alabi2022.comparisons-expected",
                source="Alabi, Ghazi, Kumar, Manurangsi 2022, Concrete Bounds via KwikSort",
                statement="The expected number of comparisons that KwikSort makes grows like m log m.",
                variable="alternatives",
                points=(4, 8, 16, 32, 64, 128, 256, 512, 1024),
                exponent=1.0,
                shape=math.log,
                direction="equal",
                exact=lambda m: rankings.quicksort_expected_comparisons(int(m)),
                quantity="expected number of comparisons",
                scope="comparisons that contradict each other nowhere, which is where there are most",
            ),
            dpaudit.LemmaClaim(
                id="alabi2022.comparisons-tail",
                source="Alabi, Ghazi, Kumar, Manurangsi 2022, Concrete Bounds via KwikSort",
                statement=(
                    f"KwikSort makes at most q = {CAP_FACTOR} m ln m comparisons with probability at least 1 - 1/m^4."
                ),
                margin=_tail_margin,
                instances=[{"alternatives": m} for m in range(2, LARGEST_COUNTED + 1)],
                complete=True,
                explain=_explain_tail,
                tolerance=0.0,
                scope=(
                    f"2 to {LARGEST_COUNTED} alternatives and comparisons that contradict each other nowhere; the "
                    f"constant {CAP_FACTOR} is chosen here, O(m log m) is printed"
                ),
            ),
        ]


def _ratio(profile: np.ndarray | rankings.Profile) -> float:
    counts = rankings.pairwise_counts(profile)
    optimum = rankings.kemeny(counts).cost
    cost = rankings.kwiksort_expected_cost(counts)
    return cost / optimum if optimum else (1.0 if cost == 0 else np.inf)


def _ratio_margin(profile: np.ndarray | rankings.Profile) -> float:
    return RATIO - _ratio(profile)


def _explain_ratio(profile: np.ndarray | rankings.Profile) -> dict[str, float]:
    return {"actual": _ratio(profile), "claimed": RATIO}


def _tail(alternatives: int) -> float:
    return rankings.quicksort_tail(alternatives, math.floor(CAP_FACTOR * alternatives * math.log(alternatives)))


def _tail_margin(alternatives: int) -> float:
    return alternatives**-4 - _tail(alternatives)


def _explain_tail(alternatives: int) -> dict[str, float]:
    return {"actual": _tail(alternatives), "claimed": alternatives**-4}


def _hard_profiles(alternatives: int) -> Iterator[rankings.Profile]:
    """Profiles on which a pivot tears a unanimous order apart.

    All agents agree on a chain; half put one further item first, half put it last, and a single agent decides against
    whom the floating item wins: it loses to the later half of the chain and beats the earlier, the wrong way round.
    """
    halves = 1000
    for m in range(3, alternatives + 1):
        chain = np.arange(m - 1)
        half = (m - 1) // 2
        first, last = np.r_[m - 1, chain], np.r_[chain, m - 1]
        decider = np.r_[chain[half:], m - 1, chain[:half]]
        yield rankings.Profile(np.stack([first, last, decider]), np.array([halves, halves, 1]))
