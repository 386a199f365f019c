"""Section II-C: privacy of the noisy histogram."""

import math
from functools import cache, partial
from typing import Literal

import numpy as np

import dpaudit

from ..gaussian_histogram import LARGEST_AUDITED_HISTOGRAM, GaussianHistogram, calibrated_noise
from ..paper import PAPER
from .shared import LazyNumbers

THEOREM1 = PAPER.at(section="II-C", theorem=1)
SENSITIVITY = {"add-remove": 1.0, "substitution": math.sqrt(2)}


@dpaudit.claim(
    "shang2014.theorem1",
    GaussianHistogram,
    kind="privacy",
    place=[THEOREM1, PAPER.at(section="II-C", equation=5)],
    statement="With σ^2 = 2 ln(2/δ) / ϵ^2 the noisy histogram is (ϵ, δ)-differentially private.",
)
def theorem1(system: GaussianHistogram) -> dpaudit.PrivacyClaim:
    return _private(system, view="histogram")


@dpaudit.claim(
    "shang2014.theorem1-scaled",
    GaussianHistogram,
    kind="privacy",
    place=[THEOREM1, PAPER.at(section="II-C", equation=4)],
    statement="With the sensitivity of the relation as a factor of σ it is (ϵ, δ)-differentially private.",
)
def theorem1_scaled(system: GaussianHistogram) -> dpaudit.PrivacyClaim:
    return _private(system, view="scaled-histogram")


@dpaudit.claim(
    "shang2014.theorem1-every-epsilon",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="II-C", theorem=1, note="which states no range of ϵ"),
    statement="With σ^2 = 2 ln(2/δ) / ϵ^2 the noisy histogram is (ϵ, δ)-DP at every ϵ > 0.",
)
def theorem1_every_epsilon(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    delta, relation = system.failure, system.relation
    factors = np.geomspace(1e-3, 1.01, 100).tolist()

    def threshold(factor: float = 1.0) -> float:
        return largest_private_epsilon(delta, relation) * factor

    return dpaudit.LemmaClaim(
        margin=lambda epsilon: 1 - exact_delta(epsilon, delta, relation) / delta,
        instances=[LazyNumbers({"epsilon": partial(threshold, factor)}) for factor in factors],
        explain=lambda epsilon: {
            "claimed": delta,
            "actual": exact_delta(epsilon, delta, relation),
            "holds up to epsilon": threshold(),
        },
        scope=f"δ = {delta:g}, {relation}; exact δ at 100 ϵ up to 1.01 of where it fails first",
        inapplicable=_unless_audited(system),
    )


def exact_delta(epsilon: float, delta: float, relation: Literal["add-remove", "substitution"]) -> float:
    """Exact δ of the noisy histogram at ϵ, with the noise that Equation 5 takes for ϵ and the claimed δ."""
    scale = calibrated_noise(epsilon, delta).scale
    laws = dpaudit.GaussianLaw(SENSITIVITY[relation], scale), dpaudit.GaussianLaw(0.0, scale)
    exact = dpaudit.compare(*laws).delta(epsilon).upper
    assert exact is not None
    return exact


@cache
def largest_private_epsilon(delta: float, relation: Literal["add-remove", "substitution"]) -> float:
    """ϵ above which Equation 5 gives too little noise: the first on a fine grid, refined."""
    from scipy.optimize import brentq

    def excess(log_epsilon: float) -> float:
        return exact_delta(math.exp(log_epsilon), delta, relation) / delta - 1

    grid = np.linspace(math.log(1e-6), math.log(1e3), 400).tolist()
    first = next(i for i, log_epsilon in enumerate(grid) if excess(log_epsilon) > 0)
    return math.exp(brentq(excess, grid[first - 1], grid[first], xtol=1e-12))


def _private(system: GaussianHistogram, *, view: str) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(
        epsilon=system.epsilon, delta=system.failure, view=view, inapplicable=_unless_audited(system)
    )


def _unless_audited(system: GaussianHistogram) -> str:
    if system.alternatives <= LARGEST_AUDITED_HISTOGRAM:
        return ""
    return f"audited up to {LARGEST_AUDITED_HISTOGRAM} alternatives; the further cells do not change"
