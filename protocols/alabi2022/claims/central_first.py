"""Central model, Reduction I: noise on all entries (Theorem 1, Corollaries 3 and 4)."""

from collections.abc import Sequence

import numpy as np

import dpaudit
from dpaudit import randomizers

from ..central_errors import bloc_excess, kemeny_distance, largest_bloc_error, mean_absolute
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

COROLLARY_3 = PAPER.at(section=CENTRAL, corollary=3)
COROLLARY_4 = PAPER.at(section=CENTRAL, corollary=4)
NOISE_4 = PAPER.at(section=CENTRAL, corollary=4, part="before", note="the noise")
NOISE_7 = PAPER.at(section=CENTRAL, corollary=7, part="before", note="the noise")

PRINTED_NOISE = {"calibration": "printed"}


@dpaudit.claim(
    "alabi2022.corollary3-privacy",
    NoisyPairwise,
    kind="privacy",
    place=COROLLARY_3,
    statement="For every ϵ > 0, m and n: the noisy weights, and so what is made of them, are ϵ-differentially private.",
)
@about(LAPLACE)
def corollary3_privacy(system: NoisyPairwise) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=system.epsilon, delta=system.delta, view="noisy-matrix")


@dpaudit.claim(
    "alabi2022.corollary3-output",
    NoisyPairwise,
    kind="privacy",
    place=COROLLARY_3,
    statement="For every ϵ > 0, m and n: the ranking is ϵ-differentially private.",
)
@about(LAPLACE)
def corollary3_output(system: NoisyPairwise) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=system.epsilon, delta=system.delta)


@dpaudit.claim(
    "alabi2022.corollary3",
    NoisyPairwise,
    kind="utility",
    place=COROLLARY_3,
    statement=(
        "For every profile, ϵ > 0 and ξ >= 0: the expected cost is at most (1 + ξ) OPT + (2 + ξ) m^2 e, e the printed "
        "noise's mean absolute value."
    ),
)
@about(LAPLACE)
def corollary3(system: NoisyPairwise) -> dpaudit.UtilityClaim:
    return cost(system)


@dpaudit.claim(
    "alabi2022.corollary3-rate-agents",
    NoisyPairwise,
    kind="rate",
    place=[COROLLARY_3, TABLE_1],
    statement="For fixed m and ϵ, the additive error on the worst of two opposed blocs is proportional to 1/n.",
    reproduces="Table 1",
)
@about(LAPLACE)
def corollary3_rate_agents(system: NoisyPairwise) -> dpaudit.RateClaim:
    return rate(system, "agents", AGENTS, -1.0)


@dpaudit.claim(
    "alabi2022.corollary3-rate-epsilon",
    NoisyPairwise,
    kind="rate",
    place=[COROLLARY_3, TABLE_1],
    statement="For fixed m and n, the additive error on the worst of two opposed blocs is proportional to 1/ϵ.",
    reproduces="Table 1",
)
@about(LAPLACE)
def corollary3_rate_epsilon(system: NoisyPairwise) -> dpaudit.RateClaim:
    return rate(system, "epsilon", EPSILONS, -1.0)


@dpaudit.claim(
    "alabi2022.corollary3-rate-alternatives",
    NoisyPairwise,
    kind="rate",
    place=[COROLLARY_3, TABLE_1],
    statement="For fixed ϵ n, the additive error on two opposed blocs grows no faster than m^4.",
    reproduces="Table 1",
)
@about(LAPLACE)
def corollary3_rate_alternatives(system: NoisyPairwise) -> dpaudit.RateClaim:
    return rate_in_alternatives(system, 4.0)


@dpaudit.claim(
    "alabi2022.corollary4-deviation",
    NoisyPairwise,
    kind="rate",
    place=[NOISE_4, NOISE_7],
    statement=(
        "For every ϵ > 0 and δ: with some constant Gaussian noise of the printed deviations, O(sqrt(log(1/δ)) / ϵ) at "
        "sensitivity 1, is private at every budget up to ϵ, so that the deviation that is needed falls like 1/ϵ; here "
        "from ϵ/128 to ϵ (a range chosen here)."
    ),
)
@about(GAUSSIAN)
def corollary4_deviation(system: NoisyPairwise) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        variable="epsilon",
        points=tuple(system.epsilon * 2.0**k for k in range(-7, 1)),
        exponent=-1.0,
        exact=lambda epsilon: randomizers.GaussianNoise.analytic(epsilon, system.delta, sensitivity=1.0).scale,
        quantity="least deviation that is (ϵ, δ)-DP at sensitivity 1",
        scope=f"δ = {system.delta:g}, ϵ up to {system.epsilon:g}",
    )


@dpaudit.claim(
    "alabi2022.corollary4-privacy",
    NoisyPairwise,
    kind="privacy",
    place=COROLLARY_4,
    ours=True,
    statement=(
        "For every ϵ > 0, δ, m and n: weights with Gaussian noise of the printed deviation O(m sqrt(log(1/δ)) / (ϵn)), "
        "here m sqrt(2 log(1.25/δ)) / (ϵn) (a constant chosen here), are (ϵ, δ)-differentially private."
    ),
)
@about(GAUSSIAN)
@about(PRINTED_NOISE)
def corollary4_privacy(system: NoisyPairwise) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=system.epsilon, delta=system.delta, view="noisy-matrix")


@dpaudit.claim(
    "alabi2022.corollary4-privacy-classical",
    NoisyPairwise,
    kind="privacy",
    place=COROLLARY_4,
    ours=True,
    statement=(
        "For every ϵ > 0, δ, m and n: weights with the classical noise for their true sensitivity, of deviation sqrt(2 "
        "log(1.25/δ) C(m, 2)) / (ϵn), are (ϵ, δ)-differentially private."
    ),
)
@about(GAUSSIAN)
@about({"calibration": "classical"})
def corollary4_privacy_classical(system: NoisyPairwise) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=system.epsilon, delta=system.delta, view="noisy-matrix")


@dpaudit.claim(
    "alabi2022.corollary4-privacy-mended",
    NoisyPairwise,
    kind="privacy",
    place=COROLLARY_4,
    ours=True,
    statement=(
        "For every ϵ > 0, δ, m and n: weights with Gaussian noise of deviation (sqrt(L) + sqrt(L + ϵ)) sqrt(C(m, 2) / "
        "2) / (ϵn), L = log(1/δ), are (ϵ, δ)-differentially private."
    ),
    mends=[
        "alabi2022.corollary4-privacy",
        "alabi2022.corollary4-deviation",
        "alabi2022.corollary4-privacy-classical",
    ],
)
@about(GAUSSIAN)
@about({"calibration": "mended"})
def corollary4_privacy_mended(system: NoisyPairwise) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=system.epsilon, delta=system.delta, view="noisy-matrix")


@dpaudit.claim(
    "alabi2022.corollary4-output",
    NoisyPairwise,
    kind="privacy",
    place=COROLLARY_4,
    statement="At the stated ϵ, δ, m and n: the ranking is (ϵ, δ)-differentially private.",
)
@about(GAUSSIAN)
def corollary4_output(system: NoisyPairwise) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=system.epsilon, delta=system.delta)


@dpaudit.claim(
    "alabi2022.corollary4",
    NoisyPairwise,
    kind="utility",
    place=COROLLARY_4,
    statement=(
        "For every profile, ϵ > 0 and ξ >= 0: the expected cost is at most (1 + ξ) OPT + (2 + ξ) m^2 e, e the printed "
        "noise's mean absolute value."
    ),
)
@about(GAUSSIAN)
def corollary4(system: NoisyPairwise) -> dpaudit.UtilityClaim:
    return cost(system)


@dpaudit.claim(
    "alabi2022.corollary4-rate-agents",
    NoisyPairwise,
    kind="rate",
    place=[COROLLARY_4, TABLE_1],
    statement="For fixed m and ϵ, the additive error on the worst of two opposed blocs is proportional to 1/n.",
    reproduces="Table 1",
)
@about(GAUSSIAN)
def corollary4_rate_agents(system: NoisyPairwise) -> dpaudit.RateClaim:
    return rate(system, "agents", AGENTS, -1.0)


@dpaudit.claim(
    "alabi2022.corollary4-rate-epsilon",
    NoisyPairwise,
    kind="rate",
    place=[COROLLARY_4, TABLE_1],
    statement="For fixed m and n, the additive error on the worst of two opposed blocs is proportional to 1/ϵ.",
    reproduces="Table 1",
)
@about(GAUSSIAN)
def corollary4_rate_epsilon(system: NoisyPairwise) -> dpaudit.RateClaim:
    return rate(system, "epsilon", EPSILONS, -1.0)


@dpaudit.claim(
    "alabi2022.corollary4-rate-delta",
    NoisyPairwise,
    kind="rate",
    place=[COROLLARY_4, TABLE_1],
    statement=(
        "For fixed m, n and ϵ, the additive error on the worst of two opposed blocs is proportional to sqrt(log(1/δ))."
    ),
    reproduces="Table 1",
)
@about(GAUSSIAN)
def corollary4_rate_delta(system: NoisyPairwise) -> dpaudit.RateClaim:
    return rate(system, "log(1/δ)", LOG_INVERSE_DELTAS, 0.5)


@dpaudit.claim(
    "alabi2022.corollary4-rate-alternatives",
    NoisyPairwise,
    kind="rate",
    place=[COROLLARY_4, TABLE_1],
    statement="For fixed ϵ n and δ, the additive error on two opposed blocs grows no faster than m^3.",
    reproduces="Table 1",
)
@about(GAUSSIAN)
def corollary4_rate_alternatives(system: NoisyPairwise) -> dpaudit.RateClaim:
    return rate_in_alternatives(system, 3.0)


def cost(system: NoisyPairwise) -> dpaudit.UtilityClaim:
    """Theorem 1 with α = 1 + ξ: ratio α and additive error (α + 1) m^2 e."""
    e = mean_absolute(system.but(calibration="printed").main_noise)
    return expected_cost(system, 1 + system.xi, (2 + system.xi) * system.alternatives**2 * e)


def rate(system: NoisyPairwise, variable: str, points: Sequence[float], exponent: float) -> dpaudit.RateClaim:
    """Exact rate over agents, the budget or log(1/δ), three alternatives."""

    def error(point: float) -> float:
        made = varied(system.but(alternatives=3, agents=10**6), variable, point)
        return largest_bloc_error(made.main_noise, kemeny_distance)

    many = "" if variable == "agents" else "; 10^6 agents"
    return dpaudit.RateClaim(
        variable=variable,
        points=points,
        exponent=exponent,
        direction="equal",
        exact=error,
        quantity="largest additive error E[K(σ, Π)] - OPT",
        scope=f"two opposed blocs over three alternatives, the worst margin{many}",
    )


def rate_in_alternatives(system: NoisyPairwise, exponent: float) -> dpaudit.RateClaim:
    """Measured rate over the number of alternatives."""

    def excess(alternatives: float, runs: int, rng: np.random.Generator) -> np.ndarray:
        return bloc_excess(system.but(alternatives=int(alternatives)), runs, rng)

    return dpaudit.RateClaim(
        variable="alternatives",
        points=(2, 3, 4, 5, 8, 12),
        exponent=exponent,
        measure=excess,
        runs=4000,
        resolution=0.5,
        quantity="additive error E[K(σ, Π)] - OPT in units of ϵ^-1 n^-1",
        scope=(
            "two opposed blocs with margin 2 / sqrt(m) times the noise, where it is near its largest; at "
            "these m the exponent of C(m, 2) alone is 2.5 falling to 2.1"
        ),
    )
