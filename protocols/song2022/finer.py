"""What Gaussian noise makes of an agent's answers in Gaussian differential privacy: statements of ours."""

import math

import dpaudit

from .ddp_helnaksort import DDPHelnaksort
from .paper import PAPER


@dpaudit.claim(
    "song2022.noise-gaussian-dp",
    DDPHelnaksort,
    kind="privacy",
    place=PAPER.at(section="3.4", equation=2, note="in Gaussian DP"),
    statement=(
        "At every ϵ, δ and K the K answers with the noise of Equation 2 are μ-Gaussian DP with μ = √K/σ = "
        "ϵ / √(2 K ln(1.25/δ)), and with no smaller μ."
    ),
    ours=True,
)
def noise_gaussian_dp(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(guarantee=dpaudit.GaussianDP(shift(protocol)), view="noise")


@dpaudit.claim(
    "song2022.report-gaussian-dp",
    DDPHelnaksort,
    kind="privacy",
    place=PAPER.at(section="3.4", theorem="3.1", note="the local part, in Gaussian DP"),
    statement=(
        "At every ϵ, δ and K the K thresholded answers are μ-Gaussian DP with the μ of the answers before the "
        "threshold, √K/σ; at K = 1 with no smaller μ, so that the threshold takes nothing off it."
    ),
    ours=True,
    only={"randomizer": "gaussian-threshold"},
)
def report_gaussian_dp(protocol: DDPHelnaksort) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(guarantee=dpaudit.GaussianDP(shift(protocol)), view="report")


def shift(protocol: DDPHelnaksort) -> float:
    """μ of K answers, each moved by 1 under noise of deviation K √(2 ln(1.25/δ)) / ϵ."""
    return protocol.local_epsilon / math.sqrt(2 * protocol.queries * math.log(1.25 / protocol.delta))
