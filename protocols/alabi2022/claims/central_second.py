"""Central model, Reduction II: KwikSort with few queries (Theorem 5, Corollaries 6 and 7)."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import rankings

from ..central import EXACT_KEMENY
from ..central_errors import MANY_AGENTS, cost_range, costs, instance_profile, kwiksort_error, mean_absolute, optimum
from ..dp_kwiksort_capped import EXACT_LAW, DPKwikSortCapped
from ..kwiksort_counted import kwiksort_counted_law
from ..noisy_pairwise import NoisyPairwise
from ..paper import CENTRAL, PAPER
from .central_shared import (
    AGENTS,
    EPSILONS,
    GAUSSIAN,
    LAPLACE,
    LOG_INVERSE_DELTAS,
    TABLE_1,
    about,
    expected_cost,
    varied,
)

KWIKSORT = PAPER.at(section=CENTRAL, corollary=6, part="before", note="Concrete Bounds via KwikSort")
COROLLARY_6 = PAPER.at(section=CENTRAL, corollary=6)
COROLLARY_7 = PAPER.at(section=CENTRAL, corollary=7)
IMPROVED = PAPER.at(section=CENTRAL, corollary=7, part="after")

CROSSOVER = "alternatives from which on it holds"
LARGEST_COMPARED = 128
"""Up to it the tail of KwikSort's comparisons is exact."""


@dpaudit.claim(
    "alabi2022.comparisons-any",
    DPKwikSortCapped,
    kind="lemma",
    place=KWIKSORT,
    statement=(
        "For every tournament of 2 to 5 alternatives and every limit: KwikSort exceeds it no more often than QuickSort."
    ),
    only={"alternatives": range(2, 6)},
)
def comparisons_any(system: DPKwikSortCapped) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=margin_to_quicksort,
        instances=[
            {"alternatives": size, "outcomes": outcomes}
            for size in range(2, EXACT_LAW + 1)
            for outcomes in range(1 << math.comb(size, 2))
        ],
        complete=True,
        scope=f"every tournament of 2 to {EXACT_LAW} alternatives, every limit; the law is exact",
    )


@dpaudit.claim(
    "alabi2022.corollary6",
    DPKwikSortCapped,
    kind="utility",
    place=COROLLARY_6,
    statement=(
        "For every profile, ϵ > 0 and ξ > 0, q exceeded with probability at most ξ/m^4: the expected cost is at most "
        "(5 + ξ) OPT + 6 m^2 e + 6 ξ / (ϵn), e the noise's mean absolute value."
    ),
)
@about(LAPLACE)
def corollary6(system: DPKwikSortCapped) -> dpaudit.UtilityClaim:
    return cost(system)


@dpaudit.claim(
    "alabi2022.corollary6-rate-agents",
    DPKwikSortCapped,
    kind="rate",
    place=[COROLLARY_6, TABLE_1],
    statement="For fixed m and ϵ, the additive error on the worst of two opposed blocs is proportional to 1/n.",
    reproduces="Table 1",
)
@about(LAPLACE)
def corollary6_rate_agents(system: DPKwikSortCapped) -> dpaudit.RateClaim:
    return rate(system, "agents", AGENTS, -1.0)


@dpaudit.claim(
    "alabi2022.corollary6-rate-epsilon",
    DPKwikSortCapped,
    kind="rate",
    place=[COROLLARY_6, TABLE_1],
    statement="For fixed m and n, the additive error on the worst of two opposed blocs is proportional to 1/ϵ.",
    reproduces="Table 1",
)
@about(LAPLACE)
def corollary6_rate_epsilon(system: DPKwikSortCapped) -> dpaudit.RateClaim:
    return rate(system, "epsilon", EPSILONS, -1.0)


@dpaudit.claim(
    "alabi2022.corollary6-rate-alternatives",
    DPKwikSortCapped,
    kind="rate",
    place=[COROLLARY_6, TABLE_1],
    statement="For fixed ϵ n, the additive error on the worst of two opposed blocs grows no faster than m^3 log m.",
    reproduces="Table 1",
)
@about(LAPLACE)
def corollary6_rate_alternatives(system: DPKwikSortCapped) -> dpaudit.RateClaim:
    return rate_in_alternatives(system, 3.0, math.log)


@dpaudit.claim(
    "alabi2022.corollary7",
    DPKwikSortCapped,
    kind="utility",
    place=COROLLARY_7,
    statement=(
        "For every profile, ϵ > 0 and ξ > 0, q exceeded with probability at most ξ/m^4: the expected cost is at most "
        "(5 + ξ) OPT + 6 m^2 e + 6 ξ / (ϵn), e the noise's mean absolute value."
    ),
)
@about(GAUSSIAN)
def corollary7(system: DPKwikSortCapped) -> dpaudit.UtilityClaim:
    return cost(system)


@dpaudit.claim(
    "alabi2022.corollary7-rate-agents",
    DPKwikSortCapped,
    kind="rate",
    place=[COROLLARY_7, TABLE_1],
    statement="For fixed m and ϵ, the additive error on the worst of two opposed blocs is proportional to 1/n.",
    reproduces="Table 1",
)
@about(GAUSSIAN)
def corollary7_rate_agents(system: DPKwikSortCapped) -> dpaudit.RateClaim:
    return rate(system, "agents", AGENTS, -1.0)


@dpaudit.claim(
    "alabi2022.corollary7-rate-epsilon",
    DPKwikSortCapped,
    kind="rate",
    place=[COROLLARY_7, TABLE_1],
    statement="For fixed m and n, the additive error on the worst of two opposed blocs is proportional to 1/ϵ.",
    reproduces="Table 1",
)
@about(GAUSSIAN)
def corollary7_rate_epsilon(system: DPKwikSortCapped) -> dpaudit.RateClaim:
    return rate(system, "epsilon", EPSILONS, -1.0)


@dpaudit.claim(
    "alabi2022.corollary7-rate-delta",
    DPKwikSortCapped,
    kind="rate",
    place=[COROLLARY_7, TABLE_1],
    statement=(
        "For fixed m, n and ϵ, the additive error on the worst of two opposed blocs is proportional to sqrt(log(1/δ))."
    ),
    reproduces="Table 1",
)
@about(GAUSSIAN)
def corollary7_rate_delta(system: DPKwikSortCapped) -> dpaudit.RateClaim:
    return rate(system, "log(1/δ)", LOG_INVERSE_DELTAS, 0.5)


@dpaudit.claim(
    "alabi2022.corollary7-rate-alternatives",
    DPKwikSortCapped,
    kind="rate",
    place=[COROLLARY_7, TABLE_1],
    statement=(
        "For fixed ϵ n and δ, the additive error on the worst of two opposed blocs grows no faster than m^2.5 sqrt(log "
        "m)."
    ),
    reproduces="Table 1",
)
@about(GAUSSIAN)
def corollary7_rate_alternatives(system: DPKwikSortCapped) -> dpaudit.RateClaim:
    return rate_in_alternatives(system, 2.5, lambda m: math.sqrt(math.log(m)))


@dpaudit.claim(
    "alabi2022.corollary6-improvement",
    DPKwikSortCapped,
    kind="rate",
    place=IMPROVED,
    statement="As m grows, Corollary 6's noise is smaller than Corollary 3's by a factor of Θ(m / log m).",
)
@about(LAPLACE)
def corollary6_improvement(system: DPKwikSortCapped) -> dpaudit.RateClaim:
    return improvement(system, 1.0, lambda m: 1 / math.log(m))


@dpaudit.claim(
    "alabi2022.corollary7-improvement",
    DPKwikSortCapped,
    kind="rate",
    place=IMPROVED,
    statement="As m grows, Corollary 7's noise is smaller than Corollary 4's by a factor of Θ(sqrt(m / log m)).",
)
@about(GAUSSIAN)
def corollary7_improvement(system: DPKwikSortCapped) -> dpaudit.RateClaim:
    return improvement(system, 0.5, lambda m: 1 / math.sqrt(math.log(m)))


@dpaudit.claim(
    "alabi2022.reduction2-cap",
    DPKwikSortCapped,
    kind="utility",
    place=IMPROVED,
    statement=(
        "At the stated m, the cap q is below the number of pairs: fewer queries than in Reduction I are paid for."
    ),
    ours=True,
)
def reduction2_cap(system: DPKwikSortCapped) -> dpaudit.UtilityClaim:
    return dpaudit.UtilityClaim(
        bound=1 - 1 / system.pairs,
        exact=lambda: system.limit / system.pairs,
        beside={CROSSOVER: crossover("cap", *settings(system))},
        quantity="cap over number of pairs",
        scope=f"{system.alternatives} alternatives, q = {system.limit} of {system.pairs}",
    )


@dpaudit.claim(
    "alabi2022.reduction2-noise",
    DPKwikSortCapped,
    kind="utility",
    place=IMPROVED,
    statement="At the stated m, a query of Reduction II has less noise than a weight of Reduction I.",
    ours=True,
)
def reduction2_noise(system: DPKwikSortCapped) -> dpaudit.UtilityClaim:
    ratio = noise_ratio(system)
    return dpaudit.UtilityClaim(
        bound=1.0 - 1e-6,
        exact=lambda: ratio,
        support=(0.0, math.inf),
        beside={CROSSOVER: crossover("noise", *settings(system))},
        quantity="scale of the noise, Reduction II over I",
        scope=f"{system.alternatives} alternatives, q = {system.limit}, both calibrations {system.calibration}",
    )


@dpaudit.claim(
    "alabi2022.reduction2-error",
    DPKwikSortCapped,
    kind="utility",
    place=IMPROVED,
    statement="At the stated m, on the stated profile, Reduction II costs less than Reduction I.",
    ours=True,
)
def reduction2_error(system: DPKwikSortCapped) -> dpaudit.UtilityClaim:
    first = first_reduction(system)
    profile = instance_profile(system)
    low, high = cost_range(system, optimum(system, profile))

    def difference(runs: int, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
        second_cost = costs(system.sample(profile, runs, rng), profile)
        first_cost = costs(first.sample(profile, runs, rng), profile)
        return {"value": second_cost - first_cost, "reduction I": first_cost, "reduction II": second_cost}

    too_large = f"an exact Kemeny ranking takes too long beyond {EXACT_KEMENY} alternatives"
    return dpaudit.UtilityClaim(
        bound=0.0,
        measure=difference,
        runs=4000,
        support=(low - high, high - low),
        beside_support=(low, high),
        quantity="expected cost, Reduction II less I",
        scope=f"{system.instance} profile of {system.agents} agents over {system.alternatives} alternatives",
        inapplicable="" if system.alternatives <= EXACT_KEMENY else too_large,
    )


def cost(system: DPKwikSortCapped) -> dpaudit.UtilityClaim:
    """Theorem 5 with the constants of its proof, where the cap keeps its promise."""
    m, q = system.alternatives, system.limit
    exceeds = rankings.quicksort_tail(m, q)
    beta = 6 * m**2 * mean_absolute(system.main_noise) + 6 * system.xi / (system.epsilon * system.agents)
    too_often = f"the cap {q} is exceeded with probability {exceeds:.3g}, not with at most ξ/m^4"
    return expected_cost(system, 5 + system.xi, beta, "" if exceeds <= system.xi / m**4 else too_often)


_TAIL = "; without the fallback, which adds at most ξ C(m, 2)/m^4"


def rate(system: DPKwikSortCapped, variable: str, points: Sequence[float], exponent: float) -> dpaudit.RateClaim:
    """Exact rate over agents, the budget or log(1/δ), on two opposed blocs and without the fallback."""
    many = "" if variable == "agents" else f"; {MANY_AGENTS} agents"
    return dpaudit.RateClaim(
        variable=variable,
        points=points,
        exponent=exponent,
        direction="equal",
        exact=lambda point: kwiksort_error(varied(system.but(agents=MANY_AGENTS), variable, point)),
        quantity="largest additive error E[K(σ, Π)] - OPT",
        scope=f"two opposed blocs over {system.alternatives} alternatives, the worst margin{many}{_TAIL}",
    )


def rate_in_alternatives(
    system: DPKwikSortCapped, exponent: float, shape: Callable[[float], float]
) -> dpaudit.RateClaim:
    """Exact rate over the number of alternatives, on two opposed blocs and without the fallback."""
    return dpaudit.RateClaim(
        variable="alternatives",
        points=(16, 20, 24, 32, 40, 48, 64, 80, 96, 112, 128),
        exponent=exponent,
        shape=shape,
        exact=lambda point: kwiksort_error(system.but(agents=MANY_AGENTS, alternatives=int(point), cap="auto")),
        resolution=0.5,
        quantity="largest additive error E[K(σ, Π)] - OPT",
        scope=(
            f"two opposed blocs, the worst margin; {MANY_AGENTS} agents{_TAIL}; at these m the default cap and "
            "the share of wrong pairs still approach their rates from below"
        ),
    )


def improvement(system: DPKwikSortCapped, exponent: float, shape: Callable[[float], float]) -> dpaudit.RateClaim:
    """Exact rate, over the number of alternatives, of the quotient of the noises that the additive errors rest on."""
    return dpaudit.RateClaim(
        variable="alternatives",
        points=(16, 20, 24, 32, 40, 48, 64, 80, 96, 112, 128),
        exponent=exponent,
        shape=shape,
        direction="equal",
        exact=lambda m: 1 / noise_ratio(system.but(alternatives=int(m), cap="auto")),
        quantity="scale of the noise, Reduction I over II",
        scope=f"calibration {system.calibration}, ξ = {system.xi:g}; the default cap approaches its rate from below",
    )


def margin_to_quicksort(alternatives: int, outcomes: int) -> float:
    """Smallest difference of the tails, QuickSort's less KwikSort's on the tournament, over all limits."""
    pairs = rankings.alternative_pairs(alternatives)
    wins = (outcomes >> np.arange(len(pairs))) & 1
    before = np.zeros((alternatives, alternatives))
    before[pairs[:, 0], pairs[:, 1]] = wins
    before[pairs[:, 1], pairs[:, 0]] = 1 - wins
    law = kwiksort_counted_law(before).sum(axis=0)
    return float((np.cumsum(law) - np.cumsum(rankings.quicksort_comparisons(alternatives))).min())


def first_reduction(system: DPKwikSortCapped) -> NoisyPairwise:
    """Reduction I at the same budget and calibration."""
    own = ("cap", "xi", "budget")
    return NoisyPairwise(**{name: value for name, value in system.parameters().items() if name not in own})


def noise_ratio(system: DPKwikSortCapped) -> float:
    """Scale of the noise of a query over that of a weight in Reduction I."""
    return system.main_noise.scale / first_reduction(system).main_noise.scale


def settings(system: DPKwikSortCapped) -> tuple[tuple[str, Any], ...]:
    """What the crossovers depend on; neither agents nor the profile do."""
    general = {"agents": 1, "alternatives": 2, "instance": "opposed", "cap": "auto"}
    return tuple({**system.parameters(), **general}.items())


@lru_cache(maxsize=64)
def crossover(what: Literal["cap", "noise"], *settings: tuple[str, Any]) -> float:
    """From how many alternatives on, up to the largest compared, Reduction II asks for less or has less noise."""
    first = math.inf
    for m in range(LARGEST_COMPARED, 1, -1):
        made = DPKwikSortCapped(**{**dict(settings), "alternatives": m})
        if not (made.limit < made.pairs if what == "cap" else noise_ratio(made) < 1):
            break
        first = float(m)
    return first
