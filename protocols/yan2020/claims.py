"""What the paper claims outside its figures and tables, in the paper's order."""

import math
from collections.abc import Iterator, Mapping

import numpy as np

import dpaudit
from dpaudit import rankings
from dpaudit.catalog.ailon2008 import KwikSort
from dpaudit.catalog.hay2017 import DPKwikSort

from .chunks import batches
from .comparison import METRICS, compete, four
from .ldp_kwiksort import LDPKwikSort, LDPKwikSortLap, LDPKwikSortRR
from .metrics import sign_errors
from .paper import OF_DP_KWIKSORT, OF_KWIKSORT, PAPER
from .profiles import run, setting
from .utility import (
    best_queries,
    best_real_queries,
    coins_at_least,
    exponent,
    laplace_flip,
    mu,
    pair_bound,
    pair_error,
    response_flip,
)

# What is misprinted or left open of the systems that the paper takes from others.
DPKwikSort.errata = OF_DP_KWIKSORT
KwikSort.errata = OF_KWIKSORT

RATIO = 11 / 7

MU_RR = "μ = 2 C(m,2) exp(-(ϵ^2 K / (ϵ + 2K)^2) θ*^2 n / (m (m - 1))) and θ* = θ / (2 - θ)"
MU_LAP = "μ = 2 C(m,2) exp(-(1 - e^(-ϵ/2K))^2 K θ*^2 n / (m (m - 1))) and θ* = θ / (2 - θ)"
BEST_QUERIES = (
    "At every ϵ and m, of all K from 1 to C(m,2), the integer next to ϵ/2 with the larger g(K) has the largest "
    'exponent of Equation 4 before its approximation, K (2p - 1)^2 (what "optimal performance" is read as here).'
)

# Section 2.1: KwikSort.


@dpaudit.claim(
    "yan2020.kwiksort-ratio",
    KwikSort,
    kind="lemma",
    place=[PAPER.at(section="2.1"), PAPER.at(section="4.2.1")],
    statement="KwikSort's expected total Kendall tau distance is at most 11/7 of the optimum.",
)
def kwiksort_ratio(kwiksort: KwikSort) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda profile: RATIO - ratio(profile),
        instances=[{"profile": profile} for profile in hard_profiles(kwiksort.alternatives)],
        variables={"profile": dpaudit.RankingProfiles(kwiksort.agents, kwiksort.alternatives)},
        explain=lambda profile: {"actual": ratio(profile), "claimed": RATIO},
        scope=(
            f"exact expected cost over exact optimum; one item that floats over a chain, up to "
            f"{kwiksort.alternatives} alternatives, and any profile of up to {kwiksort.agents} agents"
        ),
    )


def ratio(profile: np.ndarray | rankings.Profile) -> float:
    """KwikSort's exact expected cost over the least cost of any ranking."""
    counts = rankings.pairwise_counts(profile)
    optimum = rankings.kemeny(counts).cost
    cost = rankings.kwiksort_expected_cost(counts)
    return cost / optimum if optimum else (1.0 if cost == 0 else np.inf)


def hard_profiles(alternatives: int) -> Iterator[rankings.Profile]:
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


# Section 4.1: privacy.


@dpaudit.claim(
    "yan2020.theorem1-rr",
    LDPKwikSortRR,
    kind="privacy",
    place=PAPER.at(section="4.1", theorem=1),
    statement="An agent's report, K answers of budget ϵ/K each, is ϵ-locally differentially private.",
)
def theorem1_rr(protocol: LDPKwikSortRR) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=protocol.epsilon, view="report")


@dpaudit.claim(
    "yan2020.theorem1-lap",
    LDPKwikSortLap,
    kind="privacy",
    place=PAPER.at(section="4.1", theorem=1),
    statement="An agent's report, K answers of budget ϵ/K each, is ϵ-locally differentially private.",
)
def theorem1_lap(protocol: LDPKwikSortLap) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=protocol.epsilon, view="report")


# Section 4.2.1: utility of LDP-KwikSort:RR.


@dpaudit.claim(
    "yan2020.theorem2",
    LDPKwikSortRR,
    kind="utility",
    place=PAPER.at(section="4.2.1", theorem=2),
    statement=(
        "For all n, m, K, ϵ and θ and agents of the Mallows model, fewer than 6 μ pairs contradict the majority of "
        f"the agents, except with probability at most 2^(-6 μ), where {MU_RR}."
    ),
)
def theorem2(protocol: LDPKwikSortRR) -> dpaudit.UtilityClaim:
    return _many_errors(protocol, against_majority=True)


@dpaudit.claim(
    "yan2020.theorem2-meant",
    LDPKwikSortRR,
    kind="utility",
    place=PAPER.at(section="4.2.1", theorem=2, note="as its proof has it"),
    statement=(
        "For all n, m, K, ϵ and θ and agents of the Mallows model, fewer than 6 μ pairs contradict the ground truth, "
        f"except with probability at most 2^(-6 μ), where {MU_RR}."
    ),
)
def theorem2_meant(protocol: LDPKwikSortRR) -> dpaudit.UtilityClaim:
    return _many_errors(protocol, against_majority=False)


@dpaudit.claim(
    "yan2020.pairwise-bound",
    LDPKwikSortRR,
    kind="utility",
    place=PAPER.at(section="4.2.1", equation=4),
    statement=(
        "For all n, m, K, ϵ and θ and agents of the Mallows model, the estimated order of a pair contradicts the "
        "ground truth with probability at most 2 exp(-g(K) θ*^2 n / (m (m - 1))), where g(K) = ϵ^2 K / (ϵ + 2K)^2."
    ),
)
def pairwise_bound(protocol: LDPKwikSortRR) -> dpaudit.UtilityClaim:
    return _one_error(protocol)


@dpaudit.claim(
    "yan2020.optimal-queries-rr",
    LDPKwikSortRR,
    kind="lemma",
    place=PAPER.at(section="5.2", note="comparing g(K) at the integers next to ϵ/2"),
    statement=BEST_QUERIES,
)
def optimal_queries_rr(protocol: LDPKwikSortRR) -> dpaudit.LemmaClaim:
    return _optimal_queries(protocol)


# Section 4.2.2: utility of LDP-KwikSort:Lap.


@dpaudit.claim(
    "yan2020.theorem3",
    LDPKwikSortLap,
    kind="utility",
    place=PAPER.at(section="4.2.2", theorem=3),
    statement=(
        "For all n, m, K, ϵ and θ and agents of the Mallows model, fewer than 6 μ pairs contradict the majority of "
        f"the agents, except with probability at most 2^(-6 μ), where {MU_LAP}."
    ),
)
def theorem3(protocol: LDPKwikSortLap) -> dpaudit.UtilityClaim:
    return _many_errors(protocol, against_majority=True)


@dpaudit.claim(
    "yan2020.theorem3-meant",
    LDPKwikSortLap,
    kind="utility",
    place=PAPER.at(section="4.2.2", theorem=3, note="as its proof has it"),
    statement=(
        "For all n, m, K, ϵ and θ and agents of the Mallows model, fewer than 6 μ pairs contradict the ground truth, "
        f"except with probability at most 2^(-6 μ), where {MU_LAP}."
    ),
)
def theorem3_meant(protocol: LDPKwikSortLap) -> dpaudit.UtilityClaim:
    return _many_errors(protocol, against_majority=False)


@dpaudit.claim(
    "yan2020.pairwise-bound-lap",
    LDPKwikSortLap,
    kind="utility",
    place=PAPER.at(section="4.2.2", equation=4, note="with p_lap for p_rr"),
    statement=(
        "For all n, m, K, ϵ and θ and agents of the Mallows model, the estimated order of a pair contradicts the "
        "ground truth with probability at most 2 exp(-g(K) θ*^2 n / (m (m - 1))), where g(K) = (1 - e^(-ϵ/2K))^2 K."
    ),
)
def pairwise_bound_lap(protocol: LDPKwikSortLap) -> dpaudit.UtilityClaim:
    return _one_error(protocol)


@dpaudit.claim(
    "yan2020.optimal-queries-lap",
    LDPKwikSortLap,
    kind="lemma",
    place=PAPER.at(section="5.2", note="comparing g(K) at the integers next to ϵ/2"),
    statement=BEST_QUERIES,
)
def optimal_queries_lap(protocol: LDPKwikSortLap) -> dpaudit.LemmaClaim:
    return _optimal_queries(protocol)


def _many_errors(protocol: LDPKwikSort, *, against_majority: bool) -> dpaudit.UtilityClaim:
    """P(error >= 6 μ) <= 2^(-6 μ), where the error is the number of pairs with the wrong sign."""
    limit = 6 * mu(protocol)

    def measure(runs: int, rng: np.random.Generator) -> np.ndarray:
        parts = []
        for batch in batches(runs, protocol.agents):
            estimate, majority, truth = run(protocol, batch, rng)
            parts.append(sign_errors(majority if against_majority else truth, estimate) >= limit)
        return np.concatenate(parts)

    impossible = limit > protocol.pairs
    return dpaudit.UtilityClaim(
        bound=2**-limit,
        exact=(lambda: 0.0) if impossible else None,
        measure=None if impossible else measure,
        trivial=0.0 if impossible else coins_at_least(protocol.pairs, limit),
        trivial_reason=(
            f"6 μ = {limit:.6g} is more than the {protocol.pairs} pairs there are, so no protocol can err so often"
            if impossible
            else "a fair coin for every pair, and no report at all, does as well"
        ),
        quantity=f"probability of at least 6 μ = {limit:.6g} wrong pairs out of {protocol.pairs}",
        scope=setting(protocol),
    )


def _one_error(protocol: LDPKwikSort) -> dpaudit.UtilityClaim:
    return dpaudit.UtilityClaim(
        bound=pair_bound(protocol),
        exact=lambda: pair_error(protocol),
        trivial=0.5,
        trivial_reason="a fair coin errs with probability one half",
        quantity="error probability of the least certain pair",
        scope=f"{setting(protocol)}; two neighbours in the ground truth",
    )


def _optimal_queries(protocol: LDPKwikSort) -> dpaudit.LemmaClaim:
    def explain() -> Mapping[str, float]:
        best = best_queries(protocol)
        return {
            "queries by the rule": protocol.rule(),
            "best queries": best,
            "claimed": exponent(protocol, protocol.rule()),
            "actual": exponent(protocol, best),
            "best real K over epsilon": best_real_queries(protocol) / protocol.epsilon,
        }

    return dpaudit.LemmaClaim(
        margin=lambda: exponent(protocol, protocol.rule()) - exponent(protocol, best_queries(protocol)),
        instances=[{}],
        complete=True,
        explain=explain,
        scope=f"every K from 1 to {protocol.pairs}; exponent of Eq. 4 before its approximation",
    )


# The two solutions against each other. The paper says which errs less in the end; that an answer is flipped less often
# is why, and no sentence of it says so.


@dpaudit.claim(
    "yan2020.rr-beats-lap",
    LDPKwikSortRR,
    kind="lemma",
    place=[PAPER.at(section="4.2"), PAPER.at(section="5.7")],
    statement="At equal ϵ_k randomized response flips an answer at most as often as the Laplace solution.",
    ours=True,
)
def rr_beats_lap(protocol: LDPKwikSortRR) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda epsilon_k: epsilon_k / 2 + math.log1p(math.exp(-epsilon_k)) - math.log(2),
        instances=[{"epsilon_k": protocol.epsilon / protocol.asked}],
        variables={"epsilon_k": dpaudit.Reals(1e-9, 700.0)},
        explain=lambda epsilon_k: {"actual": response_flip(epsilon_k), "claimed": laplace_flip(epsilon_k)},
        scope="ϵ_k of this setting, and ϵ_k drawn from 1e-9 to 700",
    )


# Section 5.1.1: DP-KwikSort.


@dpaudit.claim(
    "yan2020.dp-kwiksort",
    DPKwikSort,
    kind="privacy",
    place=PAPER.at(section="5.1.1"),
    statement=(
        "At every ϵ, m and n (here m = 3 and 4), the aggregate ranking of DP-KwikSort with noise Lap((m - 1) log m / "
        "ϵ) is ϵ-differentially private."
    ),
)
def dp_kwiksort(protocol: DPKwikSort) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=protocol.epsilon)


# Sections 5.3 and 5.7: the comparison at any parameters, and on data.


@dpaudit.claim(
    "yan2020.section5-kendall-tau",
    LDPKwikSortRR,
    kind="utility",
    place=[PAPER.at(section="5.3", note="at any parameters"), PAPER.at(section="5.7")],
    statement=(
        "At the stated ϵ, n, m and θ, or on the data: LDP-KwikSort:RR's average normalised Kendall tau distance is at "
        "most LDP-KwikSort:Lap's."
    ),
    ours=True,
    on_data=True,
)
def section5_kendall_tau(protocol: LDPKwikSortRR) -> dpaudit.UtilityClaim:
    return _against_lap(protocol, "kendall-tau")


@dpaudit.claim(
    "yan2020.section5-error-rate",
    LDPKwikSortRR,
    kind="utility",
    place=[PAPER.at(section="5.3", note="at any parameters"), PAPER.at(section="5.7")],
    statement=(
        "At the stated ϵ, n, m and θ, or on the data: LDP-KwikSort:RR's error rate (Equation 5) is at most "
        "LDP-KwikSort:Lap's."
    ),
    ours=True,
    on_data=True,
)
def section5_error_rate(protocol: LDPKwikSortRR) -> dpaudit.UtilityClaim:
    return _against_lap(protocol, "error-rate")


def _against_lap(protocol: LDPKwikSortRR, metric: str) -> dpaudit.UtilityClaim:
    """E[metric of RR - metric of Lap] <= 0, with every competitor's metric beside it."""

    def measure(runs: int, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
        laplace = LDPKwikSortLap(**protocol.parameters())
        central = DPKwikSort(epsilon=protocol.epsilon, alternatives=protocol.alternatives, agents=protocol.agents)
        measured = compete(protocol, four(protocol, laplace, central), runs, rng)
        values = {name: both[metric] for name, both in measured.items()}
        return {"value": values["ldp-kwiksort-rr"] - values["ldp-kwiksort-lap"], **values}

    return dpaudit.UtilityClaim(
        bound=0.0,
        measure=measure,
        runs=20_000,
        support=(-1.0, 1.0),
        beside_support=(0.0, 1.0),
        quantity=f"{METRICS[metric]}, RR less Lap",
        scope=(
            f"{'the data' if protocol.profile is not None else setting(protocol)}; "
            "beside it each system's own, DP-KwikSort with the natural logarithm"
        ),
    )
