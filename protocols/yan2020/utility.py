"""The mathematics of Section 4.2: the paper's bounds, and the exact values that they are about."""

import math

import numpy as np

from .ldp_kwiksort import LDPKwikSort


def pair_bound(protocol: LDPKwikSort) -> float:
    """Equation 4: 2 exp(-g(K) θ*^2 n / (m (m - 1))) with θ* = θ / (2 - θ)."""
    theta = 1 - protocol.phi
    spread = (theta / (2 - theta)) ** 2 * protocol.agents / (protocol.alternatives * (protocol.alternatives - 1))
    return 2 * math.exp(-protocol.g(protocol.asked) * spread)


def mu(protocol: LDPKwikSort) -> float:
    """Theorems 2 and 3: μ, the bound of Equation 4 summed over the pairs."""
    return protocol.pairs * pair_bound(protocol)


def pair_error(protocol: LDPKwikSort, agree: float | None = None) -> float:
    """Exact probability that the estimated sign of a pair contradicts the ground truth.

    ``agree`` is the probability that an agent orders the pair as the ground truth does; None: that of two neighbours
    there. The number of agents asked about the pair is binomial(n, K / C(m, 2)), and so are the right answers among
    them.
    """
    from scipy.stats import binom

    agree = 1 / (1 + protocol.phi) if agree is None else agree
    right = 0.5 + (agree - 0.5) * protocol.bias(protocol.asked)
    share = protocol.asked / protocol.pairs
    # Beyond 12 standard deviations and 40 lies a probability below 1e-30.
    reach = 12 * math.sqrt(protocol.agents * share * (1 - share)) + 40
    centre = protocol.agents * share
    asked = np.arange(max(0, math.floor(centre - reach)), min(protocol.agents, math.ceil(centre + reach)) + 1)
    fewer_right_than_wrong = binom.cdf(np.ceil(asked / 2) - 1, asked, right)
    return float(np.sum(binom.pmf(asked, protocol.agents, share) * fewer_right_than_wrong))


def coins_at_least(pairs: int, limit: float) -> float:
    """Probability that fair coins get at least ``limit`` of the pairs wrong."""
    from scipy.stats import binom

    return float(binom.sf(math.ceil(limit) - 1, pairs, 0.5))


def exponent(protocol: LDPKwikSort, queries: float) -> float:
    """K (2 p - 1)^2: g(K) before the approximation of Equation 4."""
    return queries * protocol.bias(queries) ** 2


def best_queries(protocol: LDPKwikSort) -> int:
    """K with the largest exponent."""
    return max(range(1, protocol.pairs + 1), key=lambda k: exponent(protocol, k))


def best_real_queries(protocol: LDPKwikSort) -> float:
    """Real K with the largest exponent."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda k: -exponent(protocol, k),
        bounds=(protocol.epsilon * 1e-3, protocol.epsilon),
        method="bounded",
        options={"xatol": 1e-9 * protocol.epsilon},
    )
    return float(found.x)


def response_flip(epsilon_k: float) -> float:
    """1 - p_rr, the probability that randomized response flips an answer."""
    return math.exp(-epsilon_k) / (1 + math.exp(-epsilon_k))


def laplace_flip(epsilon_k: float) -> float:
    """1 - p_lap, the probability that Laplace noise takes an answer across 0.5."""
    return math.exp(-epsilon_k / 2) / 2
