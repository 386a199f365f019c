"""What Song, Lan, Li, Li 2022 claim of privacy and of hierarchical rank aggregation, in the paper's order.

What they claim of their experiments is in `evaluation`.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

import dpaudit
from dpaudit import rankings
from dpaudit.catalog.cheu2019 import PAPER as CHEU
from dpaudit.catalog.ding2018 import HierarchicalRankAggregation

from .ddp_helnaksort import DDPHelnaksort
from .ldp_quicksort import LDPQuickSort
from .paper import PAPER
from .shuffling import shuffled

TIE_BREAKS = 64
"""Ways to break ties among which the best is chosen for HRA."""


@dpaudit.claim(
    "song2022.hra-without-pivot-error",
    HierarchicalRankAggregation,
    kind="lemma",
    place=PAPER.at(section=("1", "4.2.1")),
    statement="Without pivots, HRA is at least as near to the agents as KwikSort is in the mean.",
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
    statement="HRA ranks by the majorities wherever these make an order of all alternatives.",
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


def _profiles(protocol: HierarchicalRankAggregation) -> Mapping[str, Any]:
    return {"profile": dpaudit.RankingProfiles(protocol.agents, protocol.alternatives)}


def _searched(protocol: HierarchicalRankAggregation) -> str:
    return f"any profile of up to {protocol.agents} agents over up to {protocol.alternatives} alternatives"


@dpaudit.claim(
    "song2022.theorem2.1",
    DDPHelnaksort,
    kind="privacy",
    place=PAPER.at(section="2.3", theorem="2.1"),
    statement="Shuffled reports of n agents by any (ϵ + ln n, δ)-LDP randomizer are (ϵ, δ)-DP.",
)
def theorem2_1(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(
        view="received", inapplicable=_no_amplification(protocol) or _no_premise(protocol), **_amplified(protocol)
    )


@dpaudit.claim(
    "song2022.theorem2.1-meant",
    DDPHelnaksort,
    kind="lemma",
    place=(
        PAPER.at(section="2.3", theorem="2.1", note="as the work cited for it has it"),
        CHEU.at(note="on protocols of single messages"),
    ),
    statement="Where shuffled reports of n agents are (ϵ, δ)-DP, the randomizer is (ϵ + ln n, δ)-LDP.",
)
def theorem2_1_meant(protocol: DDPHelnaksort) -> dpaudit.LemmaClaim:
    setting = (
        f"ϵ = {protocol.local_epsilon:.4g} of one agent, {protocol.on_a_pair} agents on a pair, {protocol.randomizer}"
    )

    def margin() -> float:
        numbers = explain()
        return numbers["claimed"] - numbers["actual"]

    def explain() -> Mapping[str, float]:
        shuffle = shuffled(protocol.randomizer, protocol.local_epsilon, protocol.delta, protocol.on_a_pair)
        central = shuffle.epsilon(protocol.delta).epsilon
        local = dpaudit.compare(shuffle.reports[1], shuffle.reports[0]).epsilon(protocol.delta).upper or 0.0
        return {
            "epsilon of the shuffled reports": central,
            "claimed": central + math.log(protocol.on_a_pair),
            "actual": local,
        }

    return dpaudit.LemmaClaim(
        margin=margin,
        instances=[{}],
        complete=True,
        explain=explain,
        tolerance=1e-9,
        scope=f"this randomizer at this δ; {setting}",
        inapplicable=_no_exact_law(protocol),
    )


@dpaudit.claim(
    "song2022.theorem3.1-local",
    DDPHelnaksort,
    kind="privacy",
    place=PAPER.at(section="3.4", theorem="3.1"),
    statement="The K answers of one agent, with noise for ϵ/K and δ each, are (ϵ, δ)-LDP.",
)
def theorem3_1_local(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=protocol.local_epsilon, delta=protocol.delta, view="report")


@dpaudit.claim(
    "song2022.theorem3.1-central",
    DDPHelnaksort,
    kind="privacy",
    place=PAPER.at(section="3.4", theorem="3.1"),
    statement=(
        "At K = 1 the shuffled answers of n' agents about a pair are (ϵ - ln n', δ)-DP, for a curator who knows which "
        "agents it asked about the pair."
    ),
)
def theorem3_1_central(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(view="received", inapplicable=_no_amplification(protocol), **_amplified(protocol))


@dpaudit.claim(
    "song2022.theorem3.1-central-by-lot",
    DDPHelnaksort,
    kind="privacy",
    place=PAPER.at(section="3.4", theorem="3.1"),
    statement=(
        "At K = 1 the shuffled answers are (ϵ - ln n', δ)-DP with n' = n / C(m, 2), when every agent draws its pair, "
        "for a curator who knows who drew which."
    ),
)
def theorem3_1_central_by_lot(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    given = "" if protocol.agents_per_pair is None else "the number of agents on a pair is given, not drawn"
    return dpaudit.PrivacyClaim(
        view="received-by-lot",
        inapplicable=_no_amplification(protocol) or _no_exact_law(protocol) or given,
        **_amplified(protocol),
    )


@dpaudit.claim(
    "song2022.theorem3.1-central-secret-draw",
    DDPHelnaksort,
    kind="privacy",
    place=PAPER.at(section="3.4", theorem="3.1"),
    statement=(
        "At K = 1 the shuffled reports (pair, noisy answer) of all n agents are (ϵ - ln n', δ)-DP with "
        "n' = n / C(m, 2), when every agent draws its pair and nobody else knows which."
    ),
)
def theorem3_1_central_secret_draw(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(
        view="received-of-secret-draws",
        inapplicable=_no_amplification(protocol) or _no_exact_law(protocol),
        **_amplified(protocol),
    )


def _amplified(protocol: DDPHelnaksort) -> dict[str, Any]:
    """What is claimed after shuffling: ϵ - ln n', or 0 where that is negative and the claim inapplicable, and δ."""
    return {"epsilon": max(0.0, protocol.amplified), "delta": protocol.delta}


def _no_amplification(protocol: DDPHelnaksort) -> str:
    """Why the theorems about shuffling say nothing at these parameters."""
    if protocol.queries != 1:
        return f"the claim is about K = 1, got K = {protocol.queries}"
    if protocol.amplified < 0:
        meaning = (
            "no mechanism satisfies it, since all outputs together have probability 1 on every input"
            if protocol.delta < -math.expm1(protocol.amplified)
            else "and differential privacy is defined for ϵ >= 0"
        )
        return f"ϵ - ln n' = {protocol.amplified:.4g} is negative: {meaning}"
    return ""


def _no_premise(protocol: DDPHelnaksort) -> str:
    """Why the premise of Theorem 2.1 does not hold: the exact δ of one answer, at the ϵ of one agent, is too large."""
    response = protocol.report.but(queries=1).response
    exact = dpaudit.compare(response.law(1), response.law(0)).delta(protocol.local_epsilon).upper or 0.0
    return f"one answer is not (ϵ, δ)-LDP to begin with: its δ is {exact:.4g}" if exact > protocol.delta else ""


def _no_exact_law(protocol: DDPHelnaksort) -> str:
    """Why nothing is computed exactly at these parameters."""
    return "real answers in random order have no exact law here" if protocol.randomizer == "gaussian" else ""


@dpaudit.claim(
    "song2022.ldp-quicksort",
    LDPQuickSort,
    kind="privacy",
    place=PAPER.at(section="4.1.2"),
    statement="The K answers of one agent to LDP-QuickSort, with noise for ϵ/K and δ each, are (ϵ, δ)-LDP.",
)
def ldp_quicksort(protocol: LDPQuickSort) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=protocol.epsilon, delta=protocol.delta, view="report")
