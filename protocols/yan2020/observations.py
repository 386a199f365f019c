"""What Section 4.2 observes of μ: how it depends on the numbers of agents and alternatives, the budget and θ."""

import itertools
import math
from collections.abc import Callable
from functools import cache

import dpaudit

from .evaluation import FEW_QUERIES
from .ldp_kwiksort import LDPKwikSort, LDPKwikSortLap, LDPKwikSortRR
from .paper import PAPER
from .profiles import setting
from .proof_steps import expected_wrong
from .utility import mu

AFTER_THEOREM2 = PAPER.at(section="4.2.1", theorem=2, part="after")
AFTER_THEOREM3 = PAPER.at(section="4.2.2", theorem=3, part="after")

LARGE_BUDGET = 1e12
"""Budget that stands for an infinite one."""

NO_ERROR = 1e-9
"""What is called zero."""

LEAST_ERROR = 1e-24
"""Expected number of wrong pairs up to which two are not told apart: errors below 1e-30 are left out of the sums."""

BUDGET = (
    "As ϵ grows at fixed n, m and θ, and at fixed K or at K = C(m,2), where K = ϵ/2 has to end, μ falls to zero, that "
    "is below 1e-6 (a constant chosen here)."
)
SMALLER = (
    "At every n, m, ϵ and θ, of any two K of Figure 3, ϵ/2 among them, that with the smaller μ has the smaller error, "
    "the expected number of pairs that contradict the ground truth."
)


def largest_at_half(protocol: LDPKwikSort) -> dpaudit.LemmaClaim:
    """g(K) against its value at ϵ/2, for every real K."""
    half = protocol.epsilon / 2
    return dpaudit.LemmaClaim(
        margin=lambda queries: protocol.g(half) - protocol.g(queries),
        variables={"queries": dpaudit.Reals(protocol.epsilon * 1e-3, protocol.epsilon * 1e3)},
        explain=lambda queries: {"claimed": protocol.g(half), "actual": protocol.g(queries)},
        scope=f"real K from ϵ/1000 to 1000 ϵ at ϵ = {protocol.epsilon:g}",
    )


def largest_below_half(protocol: LDPKwikSort) -> dpaudit.LemmaClaim:
    """g(K) at any K from ϵ/2 on, against the K that is best of all."""
    half = protocol.epsilon / 2
    below = max((half * step / 1000 for step in range(1, 1000)), key=protocol.g)
    return dpaudit.LemmaClaim(
        margin=lambda queries: protocol.g(below) - protocol.g(queries),
        variables={"queries": dpaudit.Reals(half, protocol.epsilon * 1e3)},
        explain=lambda queries: {"best K over ϵ": below / protocol.epsilon, "at this K": protocol.g(queries)},
        scope=f"real K from ϵ/2 to 1000 ϵ at ϵ = {protocol.epsilon:g}, against one below ϵ/2",
    )


def smaller_where_mu_is(protocol: LDPKwikSort) -> dpaudit.LemmaClaim:
    """The expected number of wrong pairs at any two K of Figure 3, and the order that μ puts them in."""
    half, pairs = max(1, round(protocol.epsilon / 2)), protocol.pairs
    listed = sorted({k for k in (*FEW_QUERIES, half, protocol.alternatives + 1, pairs) if k <= pairs})
    bound = {k: mu(protocol.but(queries=k)) for k in listed}

    @cache
    def error(queries: int) -> float:
        return expected_wrong(protocol.but(queries=queries))

    def margin(queries: int, other: int) -> float:
        small, large = error(queries), error(other)
        return 0.0 if max(small, large) < LEAST_ERROR else math.log(max(large, LEAST_ERROR) / max(small, LEAST_ERROR))

    return dpaudit.LemmaClaim(
        margin=margin,
        instances=[
            {"queries": k, "other": other}
            for k, other in itertools.permutations(listed, 2)
            if bound[k] < bound[other] * (1 - 1e-9)
        ],
        complete=True,
        explain=lambda queries, other: {
            "actual": error(queries),
            "claimed": error(other),
            "its μ": bound[queries],
            "the other's μ": bound[other],
        },
        scope=f"{setting(protocol)}, any two of K = {', '.join(map(str, listed))} in its place; exact errors",
    )


def falls_with_agents(protocol: LDPKwikSort) -> dpaudit.LemmaClaim:
    """μ at n, at 2 n, and at an n that stands for infinity."""

    def at(agents: int) -> float:
        return mu(protocol.but(agents=agents))

    return dpaudit.LemmaClaim(
        margin=lambda agents: min(at(agents) - at(2 * agents), NO_ERROR - at(agents * 10**12)),
        instances=[{"agents": 10**power} for power in range(7)],
        explain=lambda agents: {"at n": at(agents), "at 2 n": at(2 * agents), "at 1e12 n": at(agents * 10**12)},
        scope=f"{setting(protocol)}; n from 1 to 1e6, and 1e12 times as many",
        inapplicable="" if protocol.phi < 1 else "with θ = 0 there is no ground truth to be found",
    )


def falls_with_budget(protocol: LDPKwikSort, limit: Callable[[LDPKwikSort], float]) -> dpaudit.LemmaClaim:
    """μ at a budget that stands for infinity."""
    fixed = protocol.but(queries=protocol.asked)

    def at_most() -> dict[str, float]:
        return {"claimed": limit(fixed), "actual": mu(fixed.but(epsilon=LARGE_BUDGET))}

    return dpaudit.LemmaClaim(
        margin=lambda: -abs(at_most()["claimed"] - at_most()["actual"]),
        instances=[{}],
        complete=True,
        explain=at_most,
        tolerance=1e-6 * (1 + limit(fixed)),
        scope=f"{setting(protocol)}; μ at ϵ = {LARGE_BUDGET:g} and this K, of at most C(m,2) = {fixed.pairs}",
    )


def infinite_budget(protocol: LDPKwikSort) -> float:
    """2 C(m, 2) exp(-K θ*^2 n / (m (m - 1))): what is left of μ where no answer is flipped."""
    theta = 1 - protocol.phi
    spread = (theta / (2 - theta)) ** 2 * protocol.agents / (protocol.alternatives * (protocol.alternatives - 1))
    return 2 * protocol.pairs * math.exp(-protocol.asked * spread)


def grows_with_alternatives(protocol: LDPKwikSort) -> dpaudit.LemmaClaim:
    """μ at m and at m + 1."""
    fixed = protocol.but(queries=protocol.asked)
    least = next(m for m in range(2, 10**6) if math.comb(m, 2) >= fixed.asked)

    def at(alternatives: int) -> float:
        return mu(fixed.but(alternatives=alternatives))

    return dpaudit.LemmaClaim(
        margin=lambda alternatives: at(alternatives + 1) - at(alternatives),
        variables={"alternatives": dpaudit.Integers(least, least + 200)},
        explain=lambda alternatives: {"at m": at(alternatives), "at m + 1": at(alternatives + 1)},
        scope=f"{setting(protocol)}; m from {least} to {least + 200}, K as it is",
    )


def falls_with_dispersion(protocol: LDPKwikSort) -> dpaudit.LemmaClaim:
    """μ at a dispersion and at a larger one."""

    def at(dispersion: float) -> float:
        return mu(protocol.but(dispersion=dispersion, convention="yan"))

    return dpaudit.LemmaClaim(
        margin=lambda dispersion, step: at(dispersion) - at(dispersion + step * (1 - dispersion)),
        variables={"dispersion": dpaudit.Reals(0.0, 1.0), "step": dpaudit.Reals(0.0, 1.0)},
        scope=f"n = {protocol.agents}, m = {protocol.alternatives}, K = {protocol.asked}; any θ and any larger one",
    )


dpaudit.claim(
    "yan2020.g-largest-at-half",
    LDPKwikSortRR,
    kind="lemma",
    place=AFTER_THEOREM2,
    statement="At every ϵ, of all real K > 0, g(K) = ϵ^2 K / (ϵ + 2K)^2 is largest, and μ smallest, at K = ϵ/2.",
)(largest_at_half)

dpaudit.claim(
    "yan2020.smaller-mu-rr",
    LDPKwikSortRR,
    kind="lemma",
    place=AFTER_THEOREM2,
    statement=SMALLER,
)(smaller_where_mu_is)

dpaudit.claim(
    "yan2020.mu-agents",
    LDPKwikSortRR,
    kind="lemma",
    place=AFTER_THEOREM2,
    statement="As n grows at fixed ϵ, K, m and θ > 0, μ falls to zero.",
)(falls_with_agents)

dpaudit.claim(
    "yan2020.mu-budget",
    LDPKwikSortRR,
    kind="lemma",
    place=AFTER_THEOREM2,
    statement=BUDGET,
)(lambda protocol: falls_with_budget(protocol, lambda fixed: 0.0))

dpaudit.claim(
    "yan2020.mu-budget-mended",
    LDPKwikSortRR,
    kind="lemma",
    place=PAPER.at(section="4.2.1", theorem=2, part="after", note="to what the agents disagree about"),
    statement="As ϵ grows at fixed n, K, m and θ, μ falls to 2 C(m,2) exp(-K θ*^2 n / (m (m - 1))).",
    ours=True,
)(lambda protocol: falls_with_budget(protocol, infinite_budget))

dpaudit.claim(
    "yan2020.mu-alternatives",
    LDPKwikSortRR,
    kind="lemma",
    place=AFTER_THEOREM2,
    statement="As m grows at fixed n, K, ϵ and θ, μ grows.",
)(grows_with_alternatives)

dpaudit.claim(
    "yan2020.mu-dispersion",
    LDPKwikSortRR,
    kind="lemma",
    place=AFTER_THEOREM2,
    statement="The larger θ at fixed n, m, K and ϵ, the smaller μ.",
)(falls_with_dispersion)

dpaudit.claim(
    "yan2020.g-largest-below-half",
    LDPKwikSortLap,
    kind="lemma",
    place=AFTER_THEOREM3,
    statement="At every ϵ, of all real K > 0, g(K) = (1 - e^(-ϵ/2K))^2 K is largest, and μ smallest, at some K < ϵ/2.",
)(largest_below_half)

dpaudit.claim(
    "yan2020.smaller-mu-lap",
    LDPKwikSortLap,
    kind="lemma",
    place=AFTER_THEOREM3,
    statement=SMALLER,
)(smaller_where_mu_is)

dpaudit.claim(
    "yan2020.mu-agents-lap",
    LDPKwikSortLap,
    kind="lemma",
    place=AFTER_THEOREM3,
    statement="As n grows at fixed ϵ, K, m and θ > 0, μ falls to zero.",
)(falls_with_agents)

dpaudit.claim(
    "yan2020.mu-budget-lap",
    LDPKwikSortLap,
    kind="lemma",
    place=AFTER_THEOREM3,
    statement=BUDGET,
)(lambda protocol: falls_with_budget(protocol, lambda fixed: 0.0))

dpaudit.claim(
    "yan2020.mu-budget-lap-mended",
    LDPKwikSortLap,
    kind="lemma",
    place=PAPER.at(section="4.2.2", theorem=3, part="after", note="to what the agents disagree about"),
    statement="As ϵ grows at fixed n, K, m and θ, μ falls to 2 C(m,2) exp(-K θ*^2 n / (m (m - 1))).",
    ours=True,
)(lambda protocol: falls_with_budget(protocol, infinite_budget))

dpaudit.claim(
    "yan2020.mu-alternatives-lap",
    LDPKwikSortLap,
    kind="lemma",
    place=AFTER_THEOREM3,
    statement="As m grows at fixed n, K, ϵ and θ, μ grows.",
)(grows_with_alternatives)

dpaudit.claim(
    "yan2020.mu-dispersion-lap",
    LDPKwikSortLap,
    kind="lemma",
    place=AFTER_THEOREM3,
    statement="The larger θ at fixed n, m, K and ϵ, the smaller μ.",
)(falls_with_dispersion)
