"""Lower Bounds, before the theorems: from how many agents on the additive errors are below the trivial m^2."""

import math
from collections.abc import Callable

import dpaudit

from .. import floors
from ..central_errors import MANY_AGENTS, mean_absolute
from ..deviations import answer_deviation
from ..dp_kwiksort_capped import DPKwikSortCapped
from ..ldp_kwiksort_interactive import LDPKwikSortInteractive, least_cap
from ..paper import LOWER_BOUNDS, PAPER
from .central_shared import GAUSSIAN, LAPLACE, about

NON_TRIVIAL = PAPER.at(section=LOWER_BOUNDS, theorem=13, part="before")
MATCHED = PAPER.at(section=LOWER_BOUNDS, theorem=14, part="after")
POINTS = (16, 20, 24, 32, 40, 48, 64, 80, 96, 112, 128)
LOCAL_POINTS = tuple(2.0**k for k in range(5, 17))


@dpaudit.claim(
    "alabi2022.nontrivial-laplace",
    DPKwikSortCapped,
    kind="rate",
    place=NON_TRIVIAL,
    statement=(
        "For fixed ϵ, as m grows: with Laplace noise Reduction II has an additive error of 0.01 m^2 from n = Θ(m log m "
        "/ ϵ) agents on."
    ),
)
@about(LAPLACE)
def nontrivial_laplace(system: DPKwikSortCapped) -> dpaudit.RateClaim:
    return _central(system, 1.0, math.log)


@dpaudit.claim(
    "alabi2022.nontrivial-gaussian",
    DPKwikSortCapped,
    kind="rate",
    place=NON_TRIVIAL,
    statement=(
        "For fixed ϵ and δ, as m grows: with Gaussian noise Reduction II has an additive error of 0.01 m^2 from n = "
        "Θ(sqrt(m log m) / ϵ) agents on."
    ),
)
@about(GAUSSIAN)
def nontrivial_gaussian(system: DPKwikSortCapped) -> dpaudit.RateClaim:
    return _central(system, 0.5, lambda m: math.sqrt(math.log(m)))


def _central(system: DPKwikSortCapped, exponent: float, shape: Callable[[float], float]) -> dpaudit.RateClaim:
    """Rate of the least n at which the proof's additive error, 6 m^2 errors of a query, is 0.01 m^2."""

    def agents(alternatives: float) -> float:
        # The error of a query is proportional to 1/n.
        made = system.but(alternatives=int(alternatives), agents=MANY_AGENTS, cap="auto")
        return 6 * mean_absolute(made.main_noise) * MANY_AGENTS / floors.SHARE

    return dpaudit.RateClaim(
        variable="alternatives",
        points=POINTS,
        exponent=exponent,
        shape=shape,
        direction="equal",
        exact=agents,
        quantity="agents from which on six errors of a query are at most 0.01",
        scope=f"ϵ = {system.epsilon:g}, default cap, which still approaches its rate from below",
    )


@dpaudit.claim(
    "alabi2022.nontrivial-local",
    LDPKwikSortInteractive,
    kind="rate",
    place=NON_TRIVIAL,
    statement=(
        "For fixed ϵ, as m grows: in the local model Reduction II has an additive error of 0.01 m^2 from n = Θ(m (log "
        "m)^2 / ϵ^2) agents on."
    ),
)
def nontrivial_local(system: LDPKwikSortInteractive) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        variable="alternatives",
        points=LOCAL_POINTS,
        exponent=1.0,
        shape=lambda m: math.log(m) ** 2,
        direction="equal",
        exact=lambda m: _local_agents(system.epsilon, int(m)),
        quantity=_LOCAL,
        scope=f"ϵ = {system.epsilon:g}, the least q of Lemma 10",
    )


@dpaudit.claim(
    "alabi2022.nontrivial-local-epsilon",
    LDPKwikSortInteractive,
    kind="rate",
    place=[NON_TRIVIAL, MATCHED],
    statement=(
        "For fixed m, as ϵ falls from the stated one: in the local model that number of agents grows like 1/ϵ^2, so by "
        "a factor of 1/ϵ more than the m / ϵ of Theorem 13."
    ),
)
def nontrivial_local_epsilon(system: LDPKwikSortInteractive) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        variable="epsilon",
        points=tuple(system.epsilon * 2.0**k for k in range(-7, 1)),
        exponent=-2.0,
        direction="equal",
        exact=lambda epsilon: _local_agents(epsilon, system.alternatives),
        quantity=_LOCAL,
        scope=f"m = {system.alternatives}, the least q of Lemma 10",
    )


_LOCAL = "agents from which on six errors of an answer are at most 0.01"


def _local_agents(epsilon: float, alternatives: int) -> float:
    """Least n at which six errors of an answer, at half of the budget, are 0.01; the error falls like 1 / sqrt n."""
    budget = 0.25 * epsilon * alternatives / least_cap(alternatives)
    return (6 * answer_deviation(budget, alternatives, math.inf, 0.0) / floors.SHARE) ** 2
