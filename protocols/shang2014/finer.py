"""What the noise of Section II-C satisfies in finer notions than (ϵ, δ): statements of ours, exact at every ϵ and δ."""

import dpaudit

from .claims.privacy import SENSITIVITY
from .gaussian_histogram import LARGEST_AUDITED_HISTOGRAM, GaussianHistogram, NoisyHistogram
from .paper import PAPER


@dpaudit.claim(
    "shang2014.gaussian-dp",
    GaussianHistogram,
    kind="privacy",
    place=PAPER.at(section="II-C", equation=5, note="in Gaussian DP"),
    statement=(
        "At every ϵ, δ and M the noisy histogram is μ-Gaussian DP with μ = Δ/σ, and with no smaller μ: Δ = 1 for a "
        "ranking that is added or removed, √2 for one that is replaced."
    ),
    ours=True,
)
def gaussian_dp(system: GaussianHistogram) -> dpaudit.PrivacyClaim:
    return _promise(system, dpaudit.GaussianDP(shift(system)))


@dpaudit.claim(
    "shang2014.concentrated",
    GaussianHistogram,
    kind="privacy",
    place=PAPER.at(section="II-C", equation=5, note="in zero-concentrated DP"),
    statement=(
        "At every ϵ, δ and M the noisy histogram is ρ-zCDP with ρ = Δ^2 / 2σ^2: Δ = 1 for a ranking that is added or "
        "removed, √2 for one that is replaced."
    ),
    ours=True,
)
def concentrated(system: GaussianHistogram) -> dpaudit.PrivacyClaim:
    return _promise(system, dpaudit.ZeroConcentratedDP(shift(system) ** 2 / 2))


def shift(system: GaussianHistogram) -> float:
    """Δ/σ, by which one ranking moves the histogram in units of its noise."""
    return SENSITIVITY[system.relation] / system.noise.scale


def _promise(system: GaussianHistogram, guarantee: dpaudit.Guarantee) -> dpaudit.PrivacyClaim:
    large = system.alternatives > LARGEST_AUDITED_HISTOGRAM
    return dpaudit.PrivacyClaim(
        guarantee=guarantee,
        view="histogram",
        inapplicable=f"audited up to {LARGEST_AUDITED_HISTOGRAM} alternatives" if large else "",
    )


@dpaudit.control(
    "control.histogram-half-noise-concentrated",
    NoisyHistogram,
    paper=PAPER,
    statement="The noisy histogram is ρ-zCDP with ρ = 1 / 2σ^2.",
    claimed=lambda right: dpaudit.PrivacyClaim(guarantee=dpaudit.ZeroConcentratedDP(1 / (2 * right.noise.scale**2))),
    exact=True,
)
def histogram_half_noise_concentrated(right: NoisyHistogram) -> NoisyHistogram:
    """The noise has half the deviation, so that ρ is four times as large."""
    return right.but(epsilon=2 * right.epsilon)
