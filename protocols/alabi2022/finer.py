"""The reductions of the central model under the composition of zero-concentrated DP: statements of ours.

With Gaussian noise of deviation σ on k weights that one ranking changes by 1/n each, ρ = k / (2 n^2 σ^2); with Laplace
noise of scale b, ρ = k (a - 1 + e^-a) with a = 1 / (n b). What is revealed of both adds up.
"""

import math

import dpaudit
from dpaudit import randomizers

from .central import Noise
from .claims.central_shared import GAUSSIAN, about
from .dp_kwiksort_capped import DPKwikSortCapped
from .noisy_pairwise import NoisyMatrix, NoisyPairwise
from .paper import CENTRAL, PAPER


@dpaudit.claim(
    "alabi2022.corollary4-concentrated",
    NoisyPairwise,
    kind="privacy",
    place=PAPER.at(section=CENTRAL, corollary=4, note="in zero-concentrated DP"),
    statement=(
        "At every ϵ, δ, m and n the noisy weights, with Gaussian noise of deviation σ, are ρ-zCDP with "
        "ρ = C(m,2) / (2 n^2 σ^2), and with no smaller ρ."
    ),
    ours=True,
)
@about(GAUSSIAN)
def corollary4_concentrated(system: NoisyPairwise) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(guarantee=of_matrix(system.matrix), view="noisy-matrix")


@dpaudit.claim(
    "alabi2022.corollary7-concentrated",
    DPKwikSortCapped,
    kind="privacy",
    place=PAPER.at(section=CENTRAL, corollary=7, note="in zero-concentrated DP"),
    statement=(
        "At every ϵ, δ, m, n and q: q answers with Gaussian noise of deviation σ and the fallback with Laplace noise "
        "of scale b are together ρ-zCDP with ρ = q / (2 n^2 σ^2) + C(m,2) (a - 1 + e^-a) and a = 1 / (n b)."
    ),
    ours=True,
)
@about(GAUSSIAN)
def corollary7_concentrated(system: DPKwikSortCapped) -> dpaudit.PrivacyClaim:
    rho = concentration(system.main_noise, system.limit, system.agents)
    if system.capped:
        rho += concentration(system.fallback.main_noise, system.pairs, system.agents)
    return dpaudit.PrivacyClaim(guarantee=dpaudit.ZeroConcentratedDP(rho), view="longest-run")


def concentration(noise: Noise, weights: int, agents: int) -> float:
    """ρ of so many noisy weights, each of which one ranking changes by 1/n."""
    moved = 1 / (agents * noise.scale)
    if isinstance(noise, randomizers.GaussianNoise):
        return weights * moved**2 / 2
    return weights * (moved + math.expm1(-moved))


def of_matrix(matrix: NoisyMatrix) -> dpaudit.ZeroConcentratedDP:
    """ρ-zCDP of the noisy weights of all pairs."""
    return dpaudit.ZeroConcentratedDP(concentration(matrix.main_noise, matrix.pairs, matrix.agents))
