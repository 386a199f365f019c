"""What an agent's report satisfies in zero-concentrated differential privacy: statements of ours, met with equality."""

import math

import dpaudit

from .ldp_kwiksort import LDPKwikSortLap, LDPKwikSortRR
from .paper import PAPER
from .reports import LaplaceReport

CONCENTRATED = PAPER.at(section="4.1", theorem=1, note="in zero-concentrated DP")


@dpaudit.claim(
    "yan2020.report-rr-concentrated",
    LDPKwikSortRR,
    kind="privacy",
    place=CONCENTRATED,
    statement=(
        "At every ϵ, K and m an agent's report by randomized response is ρ-zCDP with ρ = ϵ tanh(ϵ/2K), and with no "
        "smaller ρ: K answers of (ϵ/K) tanh(ϵ/2K) each."
    ),
    ours=True,
)
def report_rr_concentrated(protocol: LDPKwikSortRR) -> dpaudit.PrivacyClaim:
    one = dpaudit.ZeroConcentratedDP.of_pure(protocol.epsilon / protocol.asked)
    return dpaudit.PrivacyClaim(guarantee=dpaudit.ZeroConcentratedDP(protocol.asked * one.rho), view="report")


@dpaudit.claim(
    "yan2020.report-lap-concentrated",
    LDPKwikSortLap,
    kind="privacy",
    place=CONCENTRATED,
    statement=(
        "At every ϵ, K and m an agent's report by Laplace noise is ρ-zCDP with ρ = K (a - 1 + e^-a) and a = ϵ/K, and "
        "with no smaller ρ."
    ),
    ours=True,
)
def report_lap_concentrated(protocol: LDPKwikSortLap) -> dpaudit.PrivacyClaim:
    """The relative entropy of Laplace noise shifted by a of its scales; no Renyi divergence over its order is above."""
    rho = of_laplace(protocol.epsilon / protocol.asked, protocol.asked)
    return dpaudit.PrivacyClaim(guarantee=dpaudit.ZeroConcentratedDP(rho), view="report")


def of_laplace(a: float, answers: int) -> float:
    """ρ of so many answers with Laplace noise, each moved by a of its scales."""
    return answers * (a + math.expm1(-a))


@dpaudit.control(
    "control.report-half-noise-concentrated",
    LaplaceReport,
    paper=PAPER,
    statement="The report is ρ-zCDP with ρ = K (a - 1 + e^-a) and a = ϵ/K.",
    claimed=lambda right: dpaudit.PrivacyClaim(
        guarantee=dpaudit.ZeroConcentratedDP(of_laplace(right.epsilon / right.queries, right.queries))
    ),
    exact=True,
)
def report_half_noise_concentrated(right: LaplaceReport) -> LaplaceReport:
    """The Laplace noise has half the scale that it should have."""
    return right.but(epsilon=2 * right.epsilon)
