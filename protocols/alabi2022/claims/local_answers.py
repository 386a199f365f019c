"""Reduction II in the local model, answering queries: Lemma 10 and Algorithm 2."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

import dpaudit

from ..deviations import answer_deviation, mean_answer
from ..ldp_kwiksort_interactive import LDPKwikSortInteractive
from ..paper import LOCAL, PAPER
from ..partition import overload_probability

LEMMA10 = PAPER.at(section=LOCAL, lemma=10)
PROOF10 = PAPER.at(section=LOCAL, lemma=10, part="proof")
TEXT10 = PAPER.at(section=LOCAL, lemma=10, note="the text after it")
DUMMY_USERS = PAPER.at(section=LOCAL, lemma=10, note="the remark on dummy users")
ALGORITHM2 = PAPER.at(section=LOCAL, algorithm=2)
MOST_COUNTS = 64
"""Most agents for whom every number of them who prefer j to i is listed."""


@dpaudit.claim(
    "alabi2022.lemma10-privacy",
    LDPKwikSortInteractive,
    kind="lemma",
    place=LEMMA10,
    statement=(
        "For every ϵ > 0, m and q: one answer loses at most ϵ_0 = ϵm / 2q, and an agent's 2q/m answers together at "
        "most ϵ."
    ),
)
def lemma10_privacy(system: LDPKwikSortInteractive) -> dpaudit.LemmaClaim:
    def losses() -> dict[str, tuple[float, float]]:
        claimed = {"answer": system.answer_budget, "transcript": system.epsilon}
        return {view: (_loss(system.views()[view]), budget) for view, budget in claimed.items()}

    def explain() -> Mapping[str, float]:
        (use, budget), (total, epsilon) = losses().values()
        return {
            "loss per use": use,
            "claimed per use": budget,
            "loss in total": total,
            "claimed in total": epsilon,
            "answers of an agent": system.uses,
            "tightness": epsilon / total,
        }

    return dpaudit.LemmaClaim(
        margin=lambda: min(claimed - actual for actual, claimed in losses().values()),
        instances=[{}],
        complete=True,
        explain=explain,
        scope="any two rankings and any queries, from the laws of one answer and of a whole transcript",
    )


@dpaudit.claim(
    "alabi2022.lemma10-privacy-use",
    LDPKwikSortInteractive,
    kind="privacy",
    place=LEMMA10,
    statement="For every ϵ > 0, m and q: one answer is ϵ_0-LDP with ϵ_0 = ϵm / 2q.",
)
def lemma10_privacy_use(system: LDPKwikSortInteractive) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=system.answer_budget, view="answer")


@dpaudit.claim(
    "alabi2022.lemma10-privacy-total",
    LDPKwikSortInteractive,
    kind="privacy",
    place=LEMMA10,
    statement="For every ϵ > 0, m and q: an agent's answers, 2q/m at most, are ϵ-LDP together.",
    mends="alabi2022.lemma10-cap-text",
)
def lemma10_privacy_total(system: LDPKwikSortInteractive) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=system.epsilon, view="transcript")


@dpaudit.claim(
    "alabi2022.lemma10-cap-text",
    LDPKwikSortInteractive,
    kind="lemma",
    place=TEXT10,
    statement=(
        "For every m and q: ⊥ after at least 2q/m earlier uses keeps the budgets ϵ_0 of an agent's answers within ϵ."
    ),
)
def lemma10_cap_text(system: LDPKwikSortInteractive) -> dpaudit.LemmaClaim:
    uses = -(-2 * system.queries // system.alternatives)  # before there have been at least 2q/m
    return dpaudit.LemmaClaim(
        margin=lambda: system.epsilon - uses * system.answer_budget,
        instances=[{}],
        complete=True,
        explain=lambda: {
            "actual": uses * system.answer_budget,
            "claimed": system.epsilon,
            "uses by the text": uses,
            "uses by Algorithm 2": system.uses,
        },
        scope=f"2q/m = {2 * system.queries / system.alternatives:.6g}; sum of the nominal budgets ϵ_0",
    )


@dpaudit.claim(
    "alabi2022.lemma10-error",
    LDPKwikSortInteractive,
    kind="utility",
    place=LEMMA10,
    ours=True,
    statement=(
        "For every ϵ > 0, m, n and q: the expected error of an answer is O(q / (ϵ sqrt(nm))), here at most 5q / (ϵ "
        "sqrt(nm)) (a constant chosen here)."
    ),
)
def lemma10_error(system: LDPKwikSortInteractive) -> dpaudit.UtilityClaim:
    m, n, q = system.alternatives, system.agents, system.queries
    return dpaudit.UtilityClaim(
        bound=5 * q / (system.epsilon * math.sqrt(n * m)),
        exact=lambda: answer_deviation(system.answer_budget, m, n, 0.0),
        support=(0.0, math.inf),
        quantity="root mean squared error of an answer",
        scope=f"q = {q}, m = {m}, n = {n}; the largest over w_ji, which is at w_ji = 0",
    )


@dpaudit.claim(
    "alabi2022.lemma10-error-mended",
    LDPKwikSortInteractive,
    kind="utility",
    place=LEMMA10,
    ours=True,
    statement=(
        "For every ϵ > 0, m, n and q: the expected error of an answer is at most 4q / (ϵ sqrt(nm)) + sqrt(m/n), the "
        "latter for the fair coins of the agents who say no."
    ),
    mends=["alabi2022.lemma10-error", "alabi2022.lemma10-rate-epsilon"],
)
def lemma10_error_mended(system: LDPKwikSortInteractive) -> dpaudit.UtilityClaim:
    """Lemma 10 for every ϵ: 1 / tanh(x / 2) <= 1 + 2 / x at x = ϵm / 2q."""
    m, n, q = system.alternatives, system.agents, system.queries
    return dpaudit.UtilityClaim(
        bound=4 * q / (system.epsilon * math.sqrt(n * m)) + math.sqrt(m / n),
        exact=lambda: answer_deviation(system.answer_budget, m, n, 0.0),
        support=(0.0, math.inf),
        quantity="root mean squared error of an answer",
        scope=f"q = {q}, m = {m}, n = {n}; the largest over w_ji, which is at w_ji = 0",
    )


@dpaudit.claim(
    "alabi2022.lemma10-rate-epsilon",
    LDPKwikSortInteractive,
    kind="rate",
    place=LEMMA10,
    statement=(
        "For every ϵ > 0, m, n and q: the error of an answer, printed as O(q / (ϵ sqrt(nm))), falls like 1/ϵ from ϵ/64 "
        "to ϵ (a range chosen here)."
    ),
)
def lemma10_rate_epsilon(system: LDPKwikSortInteractive) -> dpaudit.RateClaim:
    m, n, q = system.alternatives, system.agents, system.queries
    return dpaudit.RateClaim(
        variable="epsilon",
        points=tuple(system.epsilon * 2.0**k for k in range(-6, 1)),
        exponent=-1.0,
        direction="equal",
        exact=lambda point: answer_deviation(0.5 * point * m / q, m, n, 0.0),
        quantity="root mean squared error of an answer",
        scope=f"n = {n}, m = {m}, q = {q}",
    )


@dpaudit.claim(
    "alabi2022.lemma10-unbiased",
    LDPKwikSortInteractive,
    kind="lemma",
    place=[LEMMA10, DUMMY_USERS],
    statement=(
        "For every m, n and w_ji: the answer (m/n) Σ w~_ji^k has the expectation w_ji, also where m does not divide n."
    ),
    mends="alabi2022.lemma10-unbiased-padded",
)
def lemma10_unbiased(system: LDPKwikSortInteractive) -> dpaudit.LemmaClaim:
    return _unbiased(system, counted=system.agents, more="; n counts the real ones")


@dpaudit.claim(
    "alabi2022.lemma10-unbiased-padded",
    LDPKwikSortInteractive,
    kind="lemma",
    place=DUMMY_USERS,
    ours=True,
    statement=(
        "For every m, n and w_ji: the answer (m/n) Σ w~_ji^k has the expectation w_ji where n counts the dummy users "
        "too, who make it divisible by m."
    ),
)
def lemma10_unbiased_padded(system: LDPKwikSortInteractive) -> dpaudit.LemmaClaim:
    return _unbiased(system, counted=system.agents + -system.agents % system.alternatives)


def _unbiased(system: LDPKwikSortInteractive, *, counted: int, more: str = "") -> dpaudit.LemmaClaim:
    m, n = system.alternatives, system.agents
    counts = range(n + 1) if n <= MOST_COUNTS else sorted({0, 1, n // 3, n // 2, n - 1, n})

    def mean(yes: int) -> float:
        return mean_answer(system.answer_budget, m, n, yes, counted)

    return dpaudit.LemmaClaim(
        margin=lambda yes: -abs(mean(yes) - yes / n),
        instances=[{"yes": yes} for yes in counts],
        complete=len(counts) > n,
        explain=lambda yes: {"actual": mean(yes), "claimed": yes / n},
        tolerance=1e-9,
        scope=f"n = {n}, m = {m}, {-n % m} dummy users{more}",
    )


@dpaudit.claim(
    "alabi2022.lemma10-bottom",
    LDPKwikSortInteractive,
    kind="utility",
    place=LEMMA10,
    statement=(
        "For every m, q > 10 m ln m and sequence of q queries, repeated ones among them: they end in ⊥ with "
        "probability at most exp(-0.1 q/m)."
    ),
)
def lemma10_bottom(system: LDPKwikSortInteractive) -> dpaudit.UtilityClaim:
    return dpaudit.UtilityClaim(
        **_bottom(system),
        exact=lambda: float(system.queries > system.uses),
        quantity="probability of ⊥",
        scope=f"{_setting(system)}; the same query q times, which goes to the same set every time",
    )


@dpaudit.claim(
    "alabi2022.lemma10-bottom-informed",
    LDPKwikSortInteractive,
    kind="utility",
    place=LEMMA10,
    ours=True,
    statement=(
        "For every m and q > 10 m ln m: q different queries, chosen by who knows ℓ, as the algorithm lets one, end in "
        "⊥ with probability at most exp(-0.1 q/m)."
    ),
)
def lemma10_bottom_informed(system: LDPKwikSortInteractive) -> dpaudit.UtilityClaim:
    m, ordered = system.alternatives, 2 * system.pairs
    return dpaudit.UtilityClaim(
        **_bottom(system),
        exact=lambda: overload_probability(ordered, m, system.uses),
        quantity="probability that some set is assigned to more pairs than it may answer",
        scope=f"{_setting(system)}; the {ordered} ordered pairs",
    )


@dpaudit.claim(
    "alabi2022.lemma10-bottom-meant",
    LDPKwikSortInteractive,
    kind="utility",
    place=LEMMA10,
    statement=(
        "For every m and q > 10 m ln m: q different queries, chosen without knowing ℓ, end in ⊥ with probability at "
        "most exp(-0.1 q/m)."
    ),
    mends=["alabi2022.algorithm2-counter", "alabi2022.lemma10-bottom-informed"],
)
def lemma10_bottom_meant(system: LDPKwikSortInteractive) -> dpaudit.UtilityClaim:
    m, different = system.alternatives, min(system.queries, 2 * system.pairs)

    def measure(runs: int, rng: np.random.Generator) -> np.ndarray:
        loads = rng.multinomial(different, np.full(m, 1 / m), runs)
        return np.asarray(loads.max(axis=1) > system.uses, dtype=float)

    return dpaudit.UtilityClaim(
        **_bottom(system),
        exact=lambda: overload_probability(different, m, system.uses),
        measure=measure,
        quantity="probability of ⊥",
        scope=f"{_setting(system)}; {different} different queries, each assigned to a uniform set",
    )


@dpaudit.claim(
    "alabi2022.lemma10-chernoff",
    LDPKwikSortInteractive,
    kind="lemma",
    place=PROOF10,
    statement="For every m and q > 10 m ln m: q different queries give ⊥ with probability at most m exp(-q/3m).",
)
def lemma10_chernoff(system: LDPKwikSortInteractive) -> dpaudit.LemmaClaim:
    m, q = system.alternatives, system.queries

    def explain() -> dict[str, float]:
        return {"actual": overload_probability(q, m, system.uses), "claimed": m * math.exp(-q / (3 * m))}

    return dpaudit.LemmaClaim(
        margin=lambda: explain()["claimed"] - explain()["actual"],
        instances=[{}],
        complete=True,
        explain=explain,
        scope=f"{_setting(system)}; as if there were q different queries",
        inapplicable=_bottom(system)["inapplicable"],
    )


@dpaudit.claim(
    "alabi2022.lemma10-union-bound",
    LDPKwikSortInteractive,
    kind="utility",
    place=PROOF10,
    statement="For every m and q > 10 m ln m: m exp(-q/3m) <= exp(-0.1 q/m).",
)
def lemma10_union_bound(system: LDPKwikSortInteractive) -> dpaudit.UtilityClaim:
    m, q = system.alternatives, system.queries
    return dpaudit.UtilityClaim(
        **_bottom(system),
        exact=lambda: m * math.exp(-q / (3 * m)),
        support=(0.0, math.inf),
        quantity="m exp(-q/3m)",
        scope=_setting(system),
    )


@dpaudit.claim(
    "alabi2022.algorithm2-counter",
    LDPKwikSortInteractive,
    kind="utility",
    place=ALGORITHM2,
    statement=(
        "For every m, n and q > 10 m ln m: with the counter as printed, a first query is answered by ⊥ with "
        "probability at most exp(-0.1 q/m)."
    ),
)
def algorithm2_counter(system: LDPKwikSortInteractive) -> dpaudit.UtilityClaim:
    m, n, q = system.alternatives, system.agents, system.queries
    return dpaudit.UtilityClaim(
        **_bottom(system),
        exact=lambda: float(n // m > 2 * q / m),
        quantity="probability of ⊥",
        scope=f"{_setting(system)}, n = {n}; one query, whose set has at least {n // m} agents",
    )


def _bottom(system: LDPKwikSortInteractive) -> dict[str, Any]:
    """Bound on the probability of ⊥, and why it does not apply."""
    m, q = system.alternatives, system.queries
    least = 10 * m * math.log(m)
    too_small = f"q = {q} is not above 10 m ln m = {least:.6g}" if q <= least else ""
    return {"bound": math.exp(-0.1 * q / m), "inapplicable": too_small}


def _setting(system: LDPKwikSortInteractive) -> str:
    return f"q = {system.queries}, m = {system.alternatives}, at most {system.uses} uses of a set"


def _loss(view: dpaudit.Mechanism) -> float:
    """Exact epsilon of a view, from its laws on the pairs of inputs that it lists."""
    worst = 0.0
    for pair in view.neighbours() or ():
        laws = [view.law(data) for data in pair]
        for p, q in (laws, laws[::-1]):
            assert p is not None
            assert q is not None
            worst = max(worst, dpaudit.compare(p, q).max_divergence())
    return worst
