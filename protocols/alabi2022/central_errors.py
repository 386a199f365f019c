"""Errors of the reductions in the central model: the profiles of the utility claims, and the worst opposed blocs."""

import math
from collections.abc import Callable

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

from .central import Central, Noise
from .dp_kwiksort_capped import DPKwikSortCapped
from .kemeny_law import noisy_kemeny_law
from .kwiksort_counted import kwiksort_wrong_pairs

MANY_AGENTS = 10**9
"""Agents in whose presence the noise is far below the weights, for rates in other things."""
_EXACT_COST = 12


def instance_profile(system: Central) -> rankings.Profile:
    """The system's instance: blocs that hold an order and its reverse, or the m rotations of one order."""
    orders = np.arange(system.alternatives)
    if system.instance == "cyclic":
        orders = (orders + orders[:, None]) % system.alternatives
        counts = np.full(system.alternatives, system.agents // system.alternatives)
        counts[: system.agents % system.alternatives] += 1
    else:
        margins = {"unanimous": 0.5, "near-ties": min(0.5, system.main_noise.scale), "opposed": 0.0}
        ahead = math.ceil(system.agents * (0.5 + margins[system.instance]) - 1e-9)
        orders = np.stack([orders, orders[::-1]])
        counts = np.array([ahead, system.agents - ahead])
    return rankings.Profile(orders[counts > 0], counts[counts > 0])


def optimum(system: Central, profile: rankings.Profile) -> float:
    """OPT: of two opposed blocs every pair costs the smaller one."""
    if system.instance == "cyclic":
        return rankings.kemeny(rankings.pairwise_counts(profile)).cost / system.agents
    weights = system.weights(profile)
    return float(np.minimum(weights, 1 - weights).sum())


def cost_range(system: Central, least: float) -> tuple[float, float]:
    """Costs of all rankings: a ranking and its reverse together cost C(m, 2). Widened for rounding."""
    return least - 1e-9, system.pairs - least + 1e-9


def costs(orders: np.ndarray, profile: rankings.Profile) -> np.ndarray:
    """K(σ, Π) of many rankings."""
    return np.asarray(rankings.average_kendall_tau(orders, profile))


def exact_cost(system: Central, profile: rankings.Profile) -> Callable[[], float] | None:
    """Computes E[K(σ, Π)], where the law over all rankings is known or the cap cannot be exceeded; else None."""
    if isinstance(system, DPKwikSortCapped) and not system.capped:
        if system.alternatives > _EXACT_COST:
            return None
        counts, before = rankings.pairwise_counts(profile), system.before(profile)
        return lambda: rankings.kwiksort_expected_cost(counts, before) / system.agents
    if system.alternatives > 3:
        return None

    def from_law() -> float:
        law = system.law(profile)
        assert isinstance(law, dpaudit.FiniteLaw)
        return float(np.exp(law.log_probabilities) @ costs(np.asarray(law.outcomes), profile))

    return from_law


def mean_absolute(noise: Noise) -> float:
    """E of the noise's absolute value."""
    return noise.scale if isinstance(noise, randomizers.LaplaceNoise) else noise.scale * math.sqrt(2 / math.pi)


def largest_bloc_error(noise: Noise, distance: Callable[[float, Noise], float]) -> float:
    """Largest additive error on two opposed blocs, over their margin: every wrong pair costs twice the margin."""
    from scipy.optimize import minimize_scalar

    def error(scales: float) -> float:
        margin = scales * noise.scale
        return 2 * margin * distance(margin, noise)

    limit = min(6.0, 0.5 / noise.scale)
    found = minimize_scalar(lambda scales: -error(scales), bounds=(0.0, limit), method="bounded")
    return max(-float(found.fun), error(limit))


def kemeny_distance(margin: float, noise: Noise) -> float:
    """Expected distance of the Kemeny ranking of three alternatives to the larger bloc's order."""
    law = noisy_kemeny_law(
        np.full(3, margin), log_below=noise.log_below, log_density=noise.log_density, scale=noise.scale
    )
    return float(law @ rankings.kendall_tau(rankings.all_rankings(3), np.arange(3)))


def kwiksort_error(system: DPKwikSortCapped) -> float:
    """Largest additive error of Reduction II on two opposed blocs, without the fallback."""

    def distance(margin: float, noise: Noise) -> float:
        flip = float(np.exp(noise.log_below(-margin)))
        return float(kwiksort_wrong_pairs(system.alternatives, flip)[-1])

    return largest_bloc_error(system.main_noise, distance)


def bloc_excess(system: Central, runs: int, rng: np.random.Generator) -> np.ndarray:
    """Additive error times n ϵ of runs on two opposed blocs whose margin is a few times the noise over sqrt(m)."""
    made = system.but(agents=MANY_AGENTS)
    margin = 2 * made.main_noise.scale / math.sqrt(made.alternatives)
    ahead = round(MANY_AGENTS * (0.5 + margin))
    order = np.arange(made.alternatives)
    profile = rankings.Profile(np.stack([order, order[::-1]]), np.array([ahead, MANY_AGENTS - ahead]))
    wrong = rankings.kendall_tau(made.sample(profile, runs, rng), order)
    return np.asarray(wrong * (2 * ahead - MANY_AGENTS) * made.epsilon)
