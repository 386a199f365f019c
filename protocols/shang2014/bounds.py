"""Right sides of the paper's bounds on the error rate, as functions of x = τ / σ̂ or at their best τ."""

import math

from .exact_errors import pair_flip_probability
from .gaussian_histogram import GaussianHistogram
from .positional import PositionalRule


def rule_of(system: GaussianHistogram) -> PositionalRule:
    """Return the system's rule; Borda's for one that is not positional, to which no such bound applies."""
    return system.positional or PositionalRule.named("borda", system.alternatives)


def pairs(system: GaussianHistogram) -> int:
    """Number of pairs of alternatives, C(M, 2)."""
    return math.comb(system.alternatives, 2)


def general_density(system: GaussianHistogram) -> float:
    """Equation 22: p_D(0) <= (M! - 1) / √2."""
    return (math.factorial(system.alternatives) - 1) / math.sqrt(2)


def theorem2(system: GaussianHistogram, x: float, *, density: float, tail: float = 1.0) -> float:
    """Right side of Theorem 2 with a density in place of (M! - 1) / √2, and with a factor of its last term."""
    return pairs(system) * density * system.share_noise * x + tail * upper_tail(x)


def tightest(system: GaussianHistogram, *, density: float, tail: float = 1.0) -> float:
    """Equation 24 over σ̂: where the right side of Theorem 2, convex in x, is smallest; 0 where it is undefined."""
    argument = equation24_argument(system, density=density, tail=tail)
    return math.sqrt(-2 * math.log(argument)) if argument < 1 else 0.0


def equation24_argument(system: GaussianHistogram, *, density: float, tail: float = 1.0) -> float:
    """What Equation 24 takes the logarithm of."""
    return pairs(system) * density * system.share_noise * math.sqrt(2 * math.pi) / tail


def undefined(system: GaussianHistogram) -> str:
    """Why Equation 24 has no value; empty where it has one."""
    least = pairs(system) * general_density(system) * system.noise.scale * math.sqrt(2 * math.pi)
    if system.agents > least:
        return ""
    return f"Eq. 24 takes the root of a negative number unless N is above {least:.6g}; no τ > 0 is best"


def theorem2_at_best(system: GaussianHistogram, *, density: float, tail: float = 1.0) -> float:
    """Infimum of the right side of Theorem 2 over all τ > 0."""
    return theorem2(system, tightest(system, density=density, tail=tail), density=density, tail=tail)


def equation26_at_best(system: GaussianHistogram, *, factor: float) -> float:
    """Infimum of Equation 26 over τ, with the factor of its last term: 1/2 as printed, 1 as Equation 25 gives."""
    from scipy.optimize import brentq

    slope = pairs(system) * general_density(system) * system.share_noise
    # The derivative vanishes where factor φ(x) (1 + 1 / x^2) = slope; the left side falls from infinity to 0.
    x = brentq(lambda x: factor * normal_density(x) * (1 + x**-2) - slope, 1e-60, 38.0)
    return float(slope * x + factor * normal_density(x) / x)


def equation27(system: GaussianHistogram) -> float:
    """Equation 27, which is Theorem 2 and Equation 25 at τ = 2 √(ln N ln(2/δ)) / (ϵ N)."""
    log = math.log(system.agents)
    first = math.sqrt(2 * log * math.log(2 / system.failure)) / system.epsilon
    second = 1 / (2 * math.sqrt(math.pi * log))
    return (pairs(system) * (math.factorial(system.alternatives) - 1) * first + second) / system.agents


def lemma3(system: GaussianHistogram, x: float) -> float:
    """Right side of Lemma 3."""
    reversals = 2 * pairs(system) * general_density(system) * system.share_noise * x * upper_tail(x / 2)
    return reversals + upper_tail(x)


def lemma3_corrected(system: GaussianHistogram, density: float) -> float:
    """C(M, 2) 2 p_D(0) ∫ Q(l / σ̂) dl over all l > 0, which is C(M, 2) p_D(0) σ̂ √(2 / π)."""
    return pairs(system) * density * system.share_noise * math.sqrt(2 / math.pi)


def union(system: GaussianHistogram) -> float:
    """C(M, 2) 2 ∫ p_D(l) Q(l / σ̂) dl over all l > 0: the probabilities that a pair is reversed, added up."""
    return pairs(system) * pair_flip_probability(rule_of(system), system.share_noise)


def upper_tail(x: float) -> float:
    """Q(x)."""
    return math.erfc(x / math.sqrt(2)) / 2


def normal_density(x: float) -> float:
    """Density of the standard normal law."""
    return math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def tail_integral(x: float) -> float:
    """∫ Q(t) dt for t from 0 to x."""
    return x * upper_tail(x) + normal_density(0.0) - normal_density(x)
