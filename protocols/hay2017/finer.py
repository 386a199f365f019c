"""What the paper's mechanisms satisfy in zero-concentrated differential privacy: statements of ours."""

from typing import Any

import dpaudit

from .dp_kwiksort import DPKwikSort
from .kemeny_exponential import KemenyExponential
from .paper import PAPER

CONCENTRATED = PAPER.at(note="in zero-concentrated DP")


@dpaudit.claim(
    "hay2017.exponential-concentrated",
    KemenyExponential,
    kind="privacy",
    place=CONCENTRATED,
    statement=(
        "For every ϵ > 0, m and n: the ranking of the exponential mechanism is ρ-zCDP with ρ = ϵ^2/8, the constant of "
        "all exponential mechanisms, because its privacy loss has a range of ϵ."
    ),
    ours=True,
)
def exponential_concentrated(system: KemenyExponential) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(guarantee=dpaudit.ZeroConcentratedDP.of_exponential_mechanism(system.epsilon))


@dpaudit.claim(
    "hay2017.kwiksort-concentrated",
    DPKwikSort,
    kind="privacy",
    place=CONCENTRATED,
    statement=(
        "For every ϵ > 0, m and n: the ranking of DP-KwikSort is ρ-zCDP with ρ = C(m,2) a tanh(a/2), what C(m,2) "
        "adaptive comparisons add up to that are a-DP each: a = ϵ' for a ranking that is added or removed, 2 ϵ' for "
        "one that is replaced."
    ),
    ours=True,
)
def kwiksort_concentrated(system: DPKwikSort) -> dpaudit.PrivacyClaim:
    """No run compares a pair twice, and the ranking follows from the comparisons and from public coins."""
    return dpaudit.PrivacyClaim(guarantee=dpaudit.ZeroConcentratedDP(compared(system)))


def compared(system: DPKwikSort) -> float:
    """ρ of comparisons of all pairs, one after the other."""
    changed = 2 if system.relation == "substitution" else 1
    pairs = system.alternatives * (system.alternatives - 1) / 2
    return pairs * dpaudit.ZeroConcentratedDP.of_pure(changed / system.noise.scale).rho


SHARED: dict[str, Any] = {"paper": PAPER, "exact": True}


@dpaudit.control(
    "control.exponential-without-two-concentrated",
    KemenyExponential,
    **SHARED,
    statement="The aggregate ranking is ρ-zCDP with ρ = ϵ^2/8.",
    claimed=lambda right: dpaudit.PrivacyClaim(
        guarantee=dpaudit.ZeroConcentratedDP.of_exponential_mechanism(right.epsilon)
    ),
    fixed={"instance": "unanimous", "relation": "substitution"},
    agents=4,
)
def exponential_without_two_concentrated(right: KemenyExponential) -> dpaudit.Mechanism:
    """The price is ϵ / Δ instead of ϵ / (2 Δ): the noise is half of what it should be."""
    return right.but(epsilon=2 * right.epsilon)
