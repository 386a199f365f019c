"""Reduction I in the local model: Theorem 8 and Corollary 9."""

import math

import numpy as np

import dpaudit

from ..deviations import one_pair_error
from ..local_pairwise import LocalPairwise
from ..paper import LOCAL, PAPER, RESULTS
from ..profiles import excess, opposed_blocs

THEOREM8 = PAPER.at(section=LOCAL, theorem=8)
PROOF = PAPER.at(section=LOCAL, theorem=8, part="proof")
NAIVE = PAPER.at(section=LOCAL, theorem=8, part="after")
COROLLARY9 = PAPER.at(section=LOCAL, corollary=9)
TABLE2 = PAPER.at(section=RESULTS, table=2)
MANY_AGENTS = 900_000_000
"""Agents in whose presence the noise stays below the weights, for rates in the budget."""

LEAST_EPSILON = 1e-9
"""Least budget at which errors are computed."""


@dpaudit.claim(
    "alabi2022.theorem8-privacy",
    LocalPairwise,
    kind="privacy",
    place=THEOREM8,
    statement=(
        "For every ϵ > 0 and m: a report of all comparisons, by a vector mechanism that splits ties between the "
        "half-spaces, is ϵ-LDP."
    ),
)
def theorem8_privacy(system: LocalPairwise) -> dpaudit.PrivacyClaim:
    """Theorem 8 takes the privacy of the mechanism as given; as it was published, see `duchi2013.vector-mechanism`."""
    return dpaudit.PrivacyClaim(epsilon=system.epsilon, view="report", inapplicable=_unless("vector", system))


@dpaudit.claim(
    "alabi2022.theorem8-worst-pair",
    LocalPairwise,
    kind="lemma",
    place=THEOREM8,
    ours=True,
    statement=(
        "At the stated ϵ and m, by the vector mechanism as published: no two rankings are told apart better than a "
        "ranking and its reverse."
    ),
)
def theorem8_worst_pair(system: LocalPairwise) -> dpaudit.LemmaClaim:
    printed = system.reports()["printed-report"]
    worst = printed.response.loss
    return dpaudit.LemmaClaim(
        margin=lambda inversions: worst(printed.pairs) - worst(inversions),
        instances=[{"inversions": k} for k in range(1, printed.pairs + 1)],
        complete=True,
        explain=lambda inversions: {"actual": worst(inversions), "claimed": worst(printed.pairs)},
        scope=f"every number of differently ordered pairs of {system.alternatives} alternatives",
        inapplicable=_unless("vector", system),
    )


@dpaudit.claim(
    "alabi2022.theorem8-entry",
    LocalPairwise,
    kind="utility",
    place=PROOF,
    ours=True,
    statement=(
        "For every ϵ > 0, m and n: the vector mechanism's error per entry is O(m / (ϵ sqrt n)), here at most 3m / (2ϵ "
        "sqrt n) (a constant chosen here)."
    ),
)
def theorem8_entry(system: LocalPairwise) -> dpaudit.UtilityClaim:
    bound = 1.5 * system.alternatives / (system.epsilon * math.sqrt(system.agents))
    return _entry_claim(system, "vector", bound)


@dpaudit.claim(
    "alabi2022.theorem8-entry-meant",
    LocalPairwise,
    kind="utility",
    place=PROOF,
    statement=(
        "For every ϵ > 0, m and n: the vector mechanism's error per entry is O(m / (min(1, ϵ) sqrt n)), here at most "
        "3m / (2 min(1, ϵ) sqrt n) (a constant chosen here)."
    ),
    mends="alabi2022.theorem8-rate-epsilon",
)
def theorem8_entry_meant(system: LocalPairwise) -> dpaudit.UtilityClaim:
    bound = 1.5 * system.alternatives / (min(1.0, system.epsilon) * math.sqrt(system.agents))
    return _entry_claim(system, "vector", bound)


@dpaudit.claim(
    "alabi2022.theorem8-rate-epsilon",
    LocalPairwise,
    kind="rate",
    place=PROOF,
    statement=(
        "For every ϵ > 0, m and n: the vector mechanism's error per entry, printed as O(m / (ϵ sqrt n)), falls like "
        "1/ϵ from ϵ/64 to ϵ (a range chosen here)."
    ),
)
def theorem8_rate_epsilon(system: LocalPairwise) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        variable="epsilon",
        points=tuple(system.epsilon * 2.0**k for k in range(-6, 1)),
        exponent=-1.0,
        direction="equal",
        exact=lambda point: system.but(epsilon=point).report.error(system.agents),
        quantity="root mean squared error of an entry",
        scope=f"n = {system.agents}, m = {system.alternatives}",
        inapplicable=_unless("vector", system),
    )


@dpaudit.claim(
    "alabi2022.theorem8-against-one-pair",
    LocalPairwise,
    kind="lemma",
    place=PROOF,
    ours=True,
    statement=(
        "At the stated ϵ and m: the vector mechanism errs no more per entry than asking every agent for one pair at ϵ "
        "does."
    ),
)
def theorem8_against_one_pair(system: LocalPairwise) -> dpaudit.LemmaClaim:
    """Compare with Yan, Li, Liu 2020, whose agents answer K pairs, at K = 1."""
    m, n = system.alternatives, system.agents
    vector, one_pair = system.reports()["report"].error(n), one_pair_error(system.epsilon, m, n)
    return dpaudit.LemmaClaim(
        margin=lambda: one_pair - vector,
        instances=[{}],
        complete=True,
        explain=lambda: {"actual": vector, "claimed": one_pair, "ratio": _quotient(vector, one_pair)},
        scope=f"ϵ = {system.epsilon:g}, m = {m}, n = {n}",
        inapplicable=_unless("vector", system),
    )


@dpaudit.claim(
    "alabi2022.entrywise-privacy",
    LocalPairwise,
    kind="privacy",
    place=NAIVE,
    statement="For every ϵ > 0 and m: randomized response on every comparison, at ϵ / C(m, 2) each, is ϵ-LDP.",
)
def entrywise_privacy(system: LocalPairwise) -> dpaudit.PrivacyClaim:
    inapplicable = _unless("entrywise", system)
    return dpaudit.PrivacyClaim(epsilon=system.epsilon, view="entrywise-report", inapplicable=inapplicable)


@dpaudit.claim(
    "alabi2022.entrywise-entry",
    LocalPairwise,
    kind="utility",
    place=NAIVE,
    statement=(
        "For every ϵ > 0, m and n: randomized response on every entry has an error of O(m^2 / (ϵ sqrt n)) per entry, "
        "here at most m^2 / (2ϵ sqrt n) (a constant chosen here)."
    ),
)
def entrywise_entry(system: LocalPairwise) -> dpaudit.UtilityClaim:
    m = system.alternatives
    return _entry_claim(system, "entrywise", 0.5 * m * m / (system.epsilon * math.sqrt(system.agents)))


@dpaudit.claim(
    "alabi2022.theorem8-saving",
    LocalPairwise,
    kind="lemma",
    place=NAIVE,
    ours=True,
    statement=(
        "At the stated ϵ and m: the vector mechanism saves a factor between 2m/5 and 3m/5 of the error per entry, "
        "constants of ours for Θ(m)."
    ),
)
def theorem8_saving(system: LocalPairwise) -> dpaudit.LemmaClaim:
    _check_range(system)
    m = system.alternatives
    saved = saving(system)
    return dpaudit.LemmaClaim(
        margin=lambda: min(saved / m - 0.4, 0.6 - saved / m),
        instances=[{}],
        complete=True,
        explain=lambda: {"factor saved": saved, "of m": saved / m},
        scope=f"ϵ = {system.epsilon:g}, m = {m}",
    )


@dpaudit.claim(
    "alabi2022.theorem8-saving-rate",
    LocalPairwise,
    kind="rate",
    place=NAIVE,
    statement=(
        "For every fixed ϵ > 0, as m grows: the vector mechanism saves a factor of Θ(m) of the error of randomized "
        "response on every entry."
    ),
)
def theorem8_saving_rate(system: LocalPairwise) -> dpaudit.RateClaim:
    _check_range(system)
    return dpaudit.RateClaim(
        variable="alternatives",
        points=(64, 128, 256, 512, 1024, 2048, 4096),
        exponent=1.0,
        direction="equal",
        exact=lambda m: saving(system.but(alternatives=int(m))),
        quantity="error per entry by randomized response over that by the vector mechanism",
        scope=f"ϵ = {system.epsilon:g}; any n",
    )


@dpaudit.claim(
    "alabi2022.entrywise-rate-alternatives",
    LocalPairwise,
    kind="rate",
    place=NAIVE,
    ours=True,
    statement=(
        "For fixed ϵ and n, with randomized response on every entry: the additive error that the proof of Theorem 8 "
        "allows is Θ(m^4)."
    ),
)
def entrywise_rate_alternatives(system: LocalPairwise) -> dpaudit.RateClaim:
    return proven_rate(system, "entrywise", 4.0)


@dpaudit.claim(
    "alabi2022.corollary9",
    LocalPairwise,
    kind="utility",
    place=COROLLARY9,
    statement=(
        "For every profile, ξ, ϵ > 0, m and n: the expected Kemeny score is at most (1 + ξ) OPT + O_ξ(m^3 / (ϵ sqrt "
        "n)), by the algorithm of Theorem 8; here with exact Kemeny rankings and so ξ = 0, and with 3m^3 / (ϵ sqrt n) "
        "(a constant chosen here)."
    ),
)
def corollary9(system: LocalPairwise) -> dpaudit.UtilityClaim:
    m, n = system.alternatives, system.agents
    return dpaudit.UtilityClaim(
        bound=3 * m**3 / (system.epsilon * math.sqrt(n)),
        measure=lambda runs, rng: measured_excess(system, runs, rng),
        runs=400,
        support=(0.0, float(math.comb(m, 2))),
        trivial=math.comb(m, 2) / 2,
        trivial_reason="a random ranking never exceeds the least score by more than C(m, 2) / 2 in expectation",
        quantity=f"Kemeny score above the least, {system.instance} instance",
        scope=f"n = {n}, m = {m}, error per entry {system.report.error(n):.4g}; exact Kemeny rankings, so ξ = 0",
        inapplicable=_unless("vector", system),
    )


@dpaudit.claim(
    "alabi2022.corollary9-rate-agents",
    LocalPairwise,
    kind="rate",
    place=[COROLLARY9, TABLE2],
    reproduces="Table 2",
    statement="For fixed m and ϵ, the additive error on near ties grows no faster than sqrt(1/n).",
)
def corollary9_rate_agents(system: LocalPairwise) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        variable="agents",
        points=tuple(10.0**k for k in range(3, 10)),
        exponent=-0.5,
        measure=lambda point, runs, rng: measured_excess(system.but(agents=int(point)), runs, rng),
        runs=400,
        quantity=f"Kemeny score above the least, {system.instance} instances",
        scope=f"m = {system.alternatives}",
        inapplicable=_unless("vector", system),
    )


@dpaudit.claim(
    "alabi2022.corollary9-rate-epsilon",
    LocalPairwise,
    kind="rate",
    place=[COROLLARY9, TABLE2],
    reproduces="Table 2",
    statement="For fixed m and n, the additive error on near ties grows like 1/ϵ as ϵ falls from the stated one.",
)
def corollary9_rate_epsilon(system: LocalPairwise) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        variable="epsilon",
        points=tuple(system.epsilon * 2.0**k for k in range(-8, 1)),
        exponent=-1.0,
        direction="equal",
        measure=lambda point, runs, rng: measured_excess(system.but(epsilon=point, agents=MANY_AGENTS), runs, rng),
        runs=20_000,
        quantity=f"Kemeny score above the least, {system.instance} instances",
        scope=f"n = {MANY_AGENTS}, m = {system.alternatives}",
        inapplicable=_unless("vector", system),
    )


@dpaudit.claim(
    "alabi2022.corollary9-rate-alternatives",
    LocalPairwise,
    kind="rate",
    place=[COROLLARY9, TABLE2],
    reproduces="Table 2",
    statement=(
        "For fixed ϵ and n: the additive error that the proof allows, the errors of all entries together, is Θ(m^3)."
    ),
)
def corollary9_rate_alternatives(system: LocalPairwise) -> dpaudit.RateClaim:
    return proven_rate(system, "vector", 3.0)


def proven_rate(system: LocalPairwise, randomizer: str, exponent: float) -> dpaudit.RateClaim:
    """Exact rate, over the number of alternatives, of the additive error that the proof of Theorem 8 allows."""
    return dpaudit.RateClaim(
        variable="alternatives",
        points=(10, 20, 50, 100, 200, 500, 1000),
        exponent=exponent,
        direction="equal",
        exact=lambda point: _proven_excess(system.but(alternatives=int(point))),
        quantity="twice the sum of the entries' root mean squared errors",
        scope=f"ϵ = {system.epsilon:g}, n = {system.agents}",
        inapplicable=_unless(randomizer, system),
    )


def measured_excess(system: LocalPairwise, runs: int, rng: np.random.Generator) -> np.ndarray:
    """Draw Kemeny scores above the least one, on the instance chosen."""
    n = system.agents
    profile = opposed_blocs(system.alternatives, n, system.instance, system.report.error(n))
    return excess(system.sample(profile, runs, rng), profile)


def _proven_excess(system: LocalPairwise) -> float:
    """How far above the least score a Kemeny ranking of the estimate is at most: twice an error for each pair."""
    return 2 * system.report.pairs * system.report.error(system.agents)


def _entry_claim(system: LocalPairwise, randomizer: str, bound: float) -> dpaudit.UtilityClaim:
    m, n = system.alternatives, system.agents
    return dpaudit.UtilityClaim(
        bound=bound,
        exact=lambda: system.report.error(n),
        support=(0.0, math.inf),
        quantity="root mean squared error of an entry",
        scope=f"n = {n}, m = {m}; every w_jl has this error",
        inapplicable=_unless(randomizer, system),
    )


def _unless(randomizer: str, system: LocalPairwise) -> str:
    """Why a claim about one randomizer says nothing of the other."""
    _check_range(system)
    return "" if system.randomizer == randomizer else f"it is about randomizer = {randomizer}"


def _check_range(system: LocalPairwise) -> None:
    """Raise ParameterError where errors, which go by 1 / ϵ^2, leave the range of double precision."""
    if system.epsilon < LEAST_EPSILON:
        raise dpaudit.ParameterError(f"parameter 'epsilon' must be at least {LEAST_EPSILON:g}, got {system.epsilon:g}")


def saving(system: LocalPairwise) -> float:
    """Error of an entry by randomized response on every entry, over that by the vector mechanism."""
    reports = system.reports()
    return _quotient(reports["entrywise-report"].error(1), reports["report"].error(1))


def _quotient(error: float, other: float) -> float:
    """Quotient of two errors; 1 where both have become 0 in double precision, as for one entry at a large ϵ."""
    return error / other if other else 1.0
