"""Reduction II in the local model, the whole of it: Theorem 11, Corollary 12 and Algorithm 3."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import dpaudit
from dpaudit.catalog.duchi2013 import VECTOR_MECHANISM

from ..deviations import answer_deviation, one_pair_error
from ..ldp_kwiksort_interactive import LDPKwikSortInteractive, least_cap
from ..paper import LOCAL, PAPER
from ..profiles import excess, opposed_blocs
from ..vector import VectorReport
from .local import MANY_AGENTS, TABLE2

THEOREM11 = PAPER.at(section=LOCAL, theorem=11)
ALGORITHM3 = PAPER.at(section=LOCAL, algorithm=3)
COROLLARY12 = PAPER.at(section=LOCAL, corollary=12)
MOST_ALTERNATIVES = 10**9
"""Most alternatives up to which a crossover is sought."""


@dpaudit.claim(
    "alabi2022.theorem11-budget",
    LDPKwikSortInteractive,
    kind="privacy",
    place=THEOREM11,
    statement=(
        "For every ϵ > 0, m and q: an agent's answers by Lemma 10 at ϵ/2, so at ϵ_0 = ϵm / 4q, and its report to the "
        "fallback at ϵ/2 are ϵ-LDP together."
    ),
    mends=[
        "alabi2022.algorithm3-composition",
        "alabi2022.algorithm3-privacy",
        "alabi2022.algorithm3-privacy-printed-fallback",
    ],
)
def theorem11_budget(system: LDPKwikSortInteractive) -> dpaudit.PrivacyClaim:
    """Theorem 11 as its counterpart, Theorem 5, has it; it mends Algorithm 3, which has Algorithm 2's ϵ_0."""
    return dpaudit.PrivacyClaim(epsilon=system.epsilon, view="halved-transcript-and-fallback")


@dpaudit.claim(
    "alabi2022.reduction2-cap-local",
    LDPKwikSortInteractive,
    kind="lemma",
    place=THEOREM11,
    ours=True,
    statement=(
        "At the stated m, the least q of Lemma 10 is below the number of pairs that KwikSort could compare at all."
    ),
)
def reduction2_cap_local(system: LDPKwikSortInteractive) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda: float(system.pairs - system.queries),
        instances=[{}],
        complete=True,
        explain=lambda: {
            "actual": system.queries,
            "claimed": system.pairs,
            "alternatives from which on it holds": first_from(lambda m: least_cap(m) <= math.comb(m, 2)),
            "the same for ordered pairs": first_from(lambda m: least_cap(m) <= m * (m - 1)),
        },
        scope=f"m = {system.alternatives}",
    )


@dpaudit.claim(
    "alabi2022.reduction2-against-reduction1",
    LDPKwikSortInteractive,
    kind="lemma",
    place=THEOREM11,
    ours=True,
    statement="At the stated ϵ and m, an answer of Reduction II errs less than an entry of Reduction I.",
)
def reduction2_against_reduction1(system: LDPKwikSortInteractive) -> dpaudit.LemmaClaim:
    def entry_error(alternatives: int) -> float:
        settings: dict[str, Any] = {"epsilon": system.epsilon, "alternatives": alternatives}
        return VectorReport(**settings).error(1)

    return _against(system, entry_error)


@dpaudit.claim(
    "alabi2022.reduction2-against-one-pair",
    LDPKwikSortInteractive,
    kind="lemma",
    place=THEOREM11,
    ours=True,
    statement="At the stated ϵ and m, an answer of Reduction II errs less than asking every agent for one pair.",
)
def reduction2_against_one_pair(system: LDPKwikSortInteractive) -> dpaudit.LemmaClaim:
    return _against(system, lambda m: one_pair_error(system.epsilon, m, 1))


def _against(system: LDPKwikSortInteractive, other: Callable[[int], float]) -> dpaudit.LemmaClaim:
    """Compare the largest error of an answer with another error, each at a number of alternatives and times sqrt n."""
    m = system.alternatives

    def error(alternatives: int, part: float = 0.5) -> float:
        """Error at a part of the budget and the least q."""
        budget = 0.5 * part * system.epsilon * alternatives / least_cap(alternatives)
        return answer_deviation(budget, alternatives, math.inf, 0.0)

    def explain() -> Mapping[str, float]:
        return {
            "actual": error(m),
            "claimed": other(m),
            "ratio": error(m) / other(m),
            "alternatives from which on it holds": first_from(lambda k: error(k) <= other(k)),
            "the same with all of the budget": first_from(lambda k: error(k, part=1) <= other(k)),
        }

    return dpaudit.LemmaClaim(
        margin=lambda: math.log(other(m) / error(m)),
        instances=[{}],
        complete=True,
        explain=explain,
        scope=(
            f"ϵ = {system.epsilon:g}, m = {m}, q the least that Lemma 10 allows and half of ϵ kept for the "
            "fallback; root mean squared errors times sqrt n, the largest over w_ji"
        ),
    )


def first_from(holds: Callable[[int], bool]) -> float:
    """Return the smallest number of alternatives from which on something holds that holds for all large ones."""
    if not holds(MOST_ALTERNATIVES):
        return math.inf
    # It may hold for the smallest ones too, so the search goes down from the top.
    below, above = 2, MOST_ALTERNATIVES
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if holds(middle) else (middle, above)
    return float(above)


@dpaudit.claim(
    "alabi2022.theorem11",
    LDPKwikSortInteractive,
    kind="utility",
    place=THEOREM11,
    statement=(
        "For every profile, ϵ > 0, m, n, ζ in (0, 1] and q >= 10 m ln(m/ζ): with KwikSort, of ratio 5, the expected "
        "Kemeny score is at most (5 + ζ) OPT + O(m^1.5 q / (ϵ sqrt n)), here OPT + 60 m^1.5 q / (ϵ sqrt n) (a constant "
        "chosen here)."
    ),
)
def theorem11(system: LDPKwikSortInteractive) -> dpaudit.UtilityClaim:
    """Theorem 11 with its constants: (5 + 1) m^2 errors of an answer of 10q / (ϵ sqrt(nm)) at half of the budget.

    The fallback adds 6m^3 / (ϵ sqrt n) with probability 1/m at most, which is little against that.
    """
    bound = 60 * system.alternatives**1.5 * system.queries / (system.epsilon * math.sqrt(system.agents))
    return dpaudit.UtilityClaim(**_score(system), bound=bound)


@dpaudit.claim(
    "alabi2022.algorithm3-composition",
    LDPKwikSortInteractive,
    kind="lemma",
    place=ALGORITHM3,
    statement=(
        "For every ϵ > 0, m and q >= 10 m ln m at which the fallback can run: the nominal budgets of an agent's "
        "answers by Algorithm 2, ϵ_0 = ϵm / 2q each, and of the fallback, ϵ/2, add up to at most ϵ."
    ),
)
def algorithm3_composition(system: LDPKwikSortInteractive) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda: system.epsilon / 2 - system.uses * system.answer_budget,
        instances=[{}],
        complete=True,
        explain=lambda: {
            "actual": system.epsilon / 2 + system.uses * system.answer_budget,
            "claimed": system.epsilon,
        },
        scope="sum of the nominal budgets, with ϵ_0 = ϵm / 2q",
        inapplicable=_too_few_queries(system) or _never_falls_back(system),
    )


@dpaudit.claim(
    "alabi2022.algorithm3-privacy",
    LDPKwikSortInteractive,
    kind="privacy",
    place=ALGORITHM3,
    statement=(
        "For every ϵ > 0, m and q >= 10 m ln m: what an agent sends while KwikSort runs, which compares no pair twice, "
        "and to the fallback where that can run, is ϵ-LDP; with Algorithm 2's ϵ_0 = ϵm / 2q."
    ),
)
def algorithm3_privacy(system: LDPKwikSortInteractive) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(
        epsilon=system.epsilon, view="kwiksort-transcript", inapplicable=_too_few_queries(system)
    )


@dpaudit.claim(
    "alabi2022.algorithm3-privacy-printed-fallback",
    LDPKwikSortInteractive,
    kind="privacy",
    place=[THEOREM11, VECTOR_MECHANISM],
    ours=True,
    statement=(
        "For every ϵ > 0, m and q at which the fallback can run: an agent's answers with half of Algorithm 2's ϵ_0 and "
        "its report to the fallback at ϵ/2, by the vector mechanism as it was published, are ϵ-LDP together."
    ),
)
def algorithm3_privacy_printed_fallback(system: LDPKwikSortInteractive) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(
        epsilon=system.epsilon,
        view="halved-transcript-and-printed-fallback",
        inapplicable=_never_falls_back(system),
    )


def _too_few_queries(system: LDPKwikSortInteractive) -> str:
    """Why Lemma 10 and Theorem 11 do not apply, which want more queries."""
    m, q = system.alternatives, system.queries
    return f"q = {q} is below 10 m ln m" if q < 10 * m * math.log(m) else ""


def _never_falls_back(system: LDPKwikSortInteractive) -> str:
    """Why the fallback cannot run, where KwikSort has no more pairs to compare than one set of agents may answer."""
    if system.pairs > system.uses:
        return ""
    return f"the fallback never runs: a set may answer {system.uses} queries, and there are {system.pairs} pairs"


@dpaudit.claim(
    "alabi2022.corollary12",
    LDPKwikSortInteractive,
    kind="utility",
    place=COROLLARY12,
    statement=(
        "For every profile, ξ, ϵ > 0, m and n: the expected Kemeny score is at most (5 + ξ) OPT + O_ξ(m^2.5 log m / (ϵ "
        "sqrt n)), here OPT + 700 m^2.5 ln m / (ϵ sqrt n) for ξ >= 1 (a constant chosen here)."
    ),
)
def corollary12(system: LDPKwikSortInteractive) -> dpaudit.UtilityClaim:
    """Corollary 12 with the constant of Theorem 11: 60 (10 m ln m + 1) m^1.5 <= 700 m^2.5 ln m from m = 2 on."""
    m = system.alternatives
    return dpaudit.UtilityClaim(
        **_score(system), bound=700 * m**2.5 * math.log(m) / (system.epsilon * math.sqrt(system.agents))
    )


def _score(system: LDPKwikSortInteractive) -> dict[str, Any]:
    """What is common to the bounds on the Kemeny score."""
    m, n, q = system.alternatives, system.agents, system.queries
    return {
        "measure": lambda runs, rng: measured_excess(system, runs, rng),
        "runs": 400,
        "support": (0.0, float(system.pairs)),
        "trivial": system.pairs / 2,
        "trivial_reason": "a random ranking never exceeds the least score by more than C(m, 2) / 2 in expectation",
        "quantity": f"Kemeny score above the least, {system.instance} instance",
        "scope": f"n = {n}, m = {m}, q = {q}; the excess over the least score is held to it, so with a ratio of 1",
        "inapplicable": _too_few_queries(system),
    }


@dpaudit.claim(
    "alabi2022.corollary12-rate-agents",
    LDPKwikSortInteractive,
    kind="rate",
    place=[COROLLARY12, TABLE2],
    reproduces="Table 2",
    statement="For fixed m and ϵ, the additive error on near ties grows no faster than sqrt(1/n).",
)
def corollary12_rate_agents(system: LDPKwikSortInteractive) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        **_score_rate("agents"),
        points=tuple(2e6 * 2.8**k for k in range(7)),
        exponent=-0.5,
        measure=lambda point, runs, rng: measured_excess(_near_tie(system, agents=int(point)), runs, rng),
        scope=f"m = {system.alternatives}",
    )


@dpaudit.claim(
    "alabi2022.corollary12-rate-budget",
    LDPKwikSortInteractive,
    kind="rate",
    place=[COROLLARY12, TABLE2],
    reproduces="Table 2",
    statement="For fixed m and n, the additive error on near ties grows like 1/ϵ as ϵ falls.",
)
def corollary12_rate_budget(system: LDPKwikSortInteractive) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        **_score_rate("epsilon"),
        points=tuple(system.epsilon * 2.0**k for k in range(-5, 4)),
        exponent=-1.0,
        direction="equal",
        measure=lambda point, runs, rng: measured_excess(
            _near_tie(system, epsilon=point, agents=MANY_AGENTS), runs, rng
        ),
        scope=f"n = {MANY_AGENTS}, m = {system.alternatives}",
    )


@dpaudit.claim(
    "alabi2022.corollary12-rate-alternatives",
    LDPKwikSortInteractive,
    kind="rate",
    place=[COROLLARY12, TABLE2],
    reproduces="Table 2",
    statement="For fixed ϵ and n, the additive error on near ties grows no faster than m^2.5 log m.",
)
def corollary12_rate_alternatives(system: LDPKwikSortInteractive) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        **_score_rate("alternatives"),
        points=(4, 6, 9, 14, 22, 34, 50),
        exponent=2.5,
        # C(m, 2) pairs in place of m^2.
        shape=lambda m: math.log(m) * (1 - 1 / m),
        measure=lambda point, runs, rng: measured_excess(_near_tie(system, alternatives=int(point)), runs, rng),
        resolution=0.5,
        scope="C(m, 2) in place of m^2",
    )


def _score_rate(variable: str) -> dict[str, Any]:
    return {"variable": variable, "runs": 1000, "quantity": "Kemeny score above the least, near-tie instances"}


def _near_tie(system: LDPKwikSortInteractive, **changes: Any) -> LDPKwikSortInteractive:
    return system.but(instance="near-tie", **changes)


def measured_excess(system: LDPKwikSortInteractive, runs: int, rng: np.random.Generator) -> np.ndarray:
    """Draw Kemeny scores above the least one, on the instance chosen."""
    m, n = system.alternatives, system.agents
    profile = opposed_blocs(m, n, system.instance, answer_deviation(system.answer_budget / 2, m, n, 0.5))
    return excess(system.sample(profile, runs, rng), profile)
