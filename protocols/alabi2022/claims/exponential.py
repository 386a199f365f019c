"""Table 1, last row: the exponential mechanism of Hay, Elagina, Miklau 2017, (1, m^3 log m / (ϵ n)) and ϵ-DP."""

import math

import dpaudit
from dpaudit import rankings
from dpaudit.catalog.hay2017 import PAPER as HAY
from dpaudit.catalog.hay2017 import KemenyExponential

from ..exponential_errors import additive_error, block_bound, entropy_bound, printed_bound, worst_split
from ..paper import PAPER, RESULTS

TABLE_1 = PAPER.at(section=RESULTS, table=1)
MANY_AGENTS = 10_000_000


@dpaudit.claim(
    "alabi2022.kemeny-exponential",
    KemenyExponential,
    kind="privacy",
    place=[TABLE_1, HAY.at()],
    statement=(
        "For every ϵ > 0, m and n: the aggregate ranking of the exponential mechanism is ϵ-differentially private."
    ),
)
def privacy(system: KemenyExponential) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=system.epsilon)


@dpaudit.claim(
    "alabi2022.kemeny-exponential-utility",
    KemenyExponential,
    kind="utility",
    place=TABLE_1,
    statement=(
        "For every profile, ϵ > 0, m and n: E[K(σ, Π)] is at most OPT + m^3 log m / (ϵ n): the constant in O(.) can be "
        "1."
    ),
)
def utility(system: KemenyExponential) -> dpaudit.UtilityClaim:
    return _bounded(system, printed_bound(system))


@dpaudit.claim(
    "alabi2022.kemeny-exponential-utility-entropy",
    KemenyExponential,
    kind="utility",
    place=PAPER.at(section=RESULTS, table=1, note="with its constant"),
    statement=(
        "For every profile, ϵ > 0, m and n: E[K(σ, Π)] is at most OPT + log m! / (β n): β n (E K - OPT) is an entropy "
        "less a logarithm that is at least 0."
    ),
    ours=True,
)
def utility_entropy(system: KemenyExponential) -> dpaudit.UtilityClaim:
    return _bounded(system, entropy_bound(system))


@dpaudit.claim(
    "alabi2022.kemeny-exponential-utility-blocks",
    KemenyExponential,
    kind="utility",
    place=PAPER.at(section=RESULTS, table=1, note="sharpened"),
    statement=(
        "For every profile, ϵ > 0, m and n: E[K(σ, Π)] is at most OPT + E_s + (log m! - H_s) / (β n) for every block "
        "size s, where H_s is the entropy and E_s half the pairs of rankings that are shuffled within blocks of s "
        "items."
    ),
    ours=True,
)
def utility_blocks(system: KemenyExponential) -> dpaudit.UtilityClaim:
    return _bounded(system, block_bound(system))


def _bounded(system: KemenyExponential, bound: float) -> dpaudit.UtilityClaim:
    return dpaudit.UtilityClaim(
        bound=bound,
        exact=lambda: additive_error(system),
        support=(0.0, float(system.pairs)),
        trivial=system.pairs / 2,
        trivial_reason="a uniformly random ranking errs by no more than half the pairs, whatever the profile",
        quantity="additive error E[K(σ, Π)] - OPT(Π)",
        scope=f"instance {system.instance}, n = {system.agents}, m = {system.alternatives}, {system.relation}",
    )


@dpaudit.claim(
    "alabi2022.kemeny-exponential-rate-agents",
    KemenyExponential,
    kind="rate",
    place=TABLE_1,
    statement="For fixed m and ϵ, the additive error on the worst of two opposed blocs falls like 1 / n.",
    reproduces="Table 1",
)
def rate_agents(system: KemenyExponential) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        variable="agents",
        points=(1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6),
        exponent=-1.0,
        direction="equal",
        exact=lambda agents: _split_error(system.but(agents=int(agents))),
        quantity=_WORST,
        scope=f"m = {system.alternatives}, ϵ = {system.epsilon:g}",
    )


@dpaudit.claim(
    "alabi2022.kemeny-exponential-rate-epsilon",
    KemenyExponential,
    kind="rate",
    place=TABLE_1,
    statement="For fixed m and n, the additive error on the worst of two opposed blocs falls like 1 / ϵ.",
    reproduces="Table 1",
)
def rate_epsilon(system: KemenyExponential) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        variable="epsilon",
        points=(0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
        exponent=-1.0,
        direction="equal",
        exact=lambda epsilon: _split_error(system.but(epsilon=epsilon, agents=MANY_AGENTS)),
        quantity=_WORST,
        scope=f"m = {system.alternatives}, n = {MANY_AGENTS}",
    )


@dpaudit.claim(
    "alabi2022.kemeny-exponential-rate-alternatives",
    KemenyExponential,
    kind="rate",
    place=TABLE_1,
    statement="For fixed ϵ n, the additive error on the worst of two opposed blocs grows like m^3 log m at most.",
    reproduces="Table 1",
)
def rate_alternatives(system: KemenyExponential) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        variable="alternatives",
        points=(8, 16, 32, 64, 128, 256),
        exponent=3.0,
        shape=math.log,
        exact=lambda alternatives: _split_error(system, int(alternatives)),
        quantity=_WORST,
        scope=_many(system),
    )


@dpaudit.claim(
    "alabi2022.kemeny-exponential-rate-opposed",
    KemenyExponential,
    kind="rate",
    place=PAPER.at(section=RESULTS, table=1, note="without its logarithm"),
    statement="For fixed ϵ n, the additive error on the worst of two opposed blocs grows like m^3.",
    ours=True,
)
def rate_opposed(system: KemenyExponential) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        variable="alternatives",
        points=(8, 16, 32, 64, 128, 256),
        exponent=3.0,
        direction="equal",
        exact=lambda alternatives: _split_error(system, int(alternatives)),
        quantity=_WORST,
        scope=_many(system),
    )


@dpaudit.claim(
    "alabi2022.kemeny-exponential-rate-graded",
    KemenyExponential,
    kind="rate",
    place=PAPER.at(section=RESULTS, table=1, note="with its logarithm"),
    statement=(
        "For fixed ϵ n, on majorities that shrink with the distance of the alternatives, the additive error grows like "
        "m (m - 1) log m!, so like m^3 log m."
    ),
    reproduces="Table 1",
    ours=True,
)
def rate_graded(system: KemenyExponential) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        variable="alternatives",
        points=(4, 6, 8, 10, 12, 14),
        exponent=3.0,
        shape=lambda m: (m - 1) * math.lgamma(m + 1) / m**2,
        direction="equal",
        exact=lambda m: additive_error(system.but(alternatives=int(m), agents=MANY_AGENTS, instance="graded")),
        quantity="additive error on graded majorities",
        scope=_many(system),
    )


@dpaudit.claim(
    "alabi2022.kemeny-exponential-steps",
    KemenyExponential,
    kind="lemma",
    place=TABLE_1,
    statement=(
        "For every n and m from 2 to 18: the law of the exponential mechanism takes O(m! n) steps, at most 3 m! n "
        "additions to the pairwise counts and choices of a next item."
    ),
    only={"alternatives": range(2, 19)},
)
def steps(system: KemenyExponential) -> dpaudit.LemmaClaim:
    """Table 1's time: C(m, 2) n additions, and a choice for every item of every subset, m 2^(m-1) in all.

    More agents only add room: C(m, 2) is below 3 m!.
    """

    def taken(alternatives: int) -> int:
        chosen = sum(size * len(subsets) for size, subsets in enumerate(rankings.level_sets(alternatives)))
        return math.comb(alternatives, 2) + chosen

    return dpaudit.LemmaClaim(
        margin=lambda alternatives: math.log(3 * math.factorial(alternatives) / taken(alternatives)),
        instances=[{"alternatives": m} for m in range(2, 19)],
        complete=True,
        explain=lambda alternatives: {"actual": taken(alternatives), "claimed": 3 * math.factorial(alternatives)},
        scope="n = 1, where they are nearest to m! n; counted from the recursion over subsets, not timed",
    )


_WORST = "additive error on two opposed blocs in the worst proportion"


def _many(system: KemenyExponential) -> str:
    return f"n = {MANY_AGENTS}, ϵ = {system.epsilon:g}"


def _split_error(system: KemenyExponential, alternatives: int | None = None) -> float:
    """Error on two opposed blocs in the worst proportion; of so many alternatives, where given, and many agents.

    The law is a Mallows model there, so that there may be more alternatives than the mechanism takes.
    """
    if alternatives is None:
        return worst_split(system.alternatives, system.agents, system.beta)[1]
    beta = system.price(system.epsilon, alternatives, system.relation)
    return worst_split(alternatives, MANY_AGENTS, beta)[1]
