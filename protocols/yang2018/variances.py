"""Variances of SAFA and Harmony, and the domain size at which they meet: as printed (Theorems 3 and 4) and exact.

Each is of the estimate of one value, at the parameters of a collector. In formulas, e stands for e^ε', and m for the
domain size, which is the same for all attributes.
"""

import math

from .attributes import AttributeCollector
from .harmony import Harmony
from .safa import Safa


def printed_safa_variance(at: AttributeCollector) -> float:
    """Theorem 3: ((e + m - 1)|A| - 1) / (n (e - 1)^2)."""
    odds = math.exp(at.epsilon)
    return ((odds + at.values - 1) * at.attributes - 1) / (at.agents * (odds - 1) ** 2)


def safa_variance(at: AttributeCollector) -> float:
    """Exact variance of SAFA's estimate of a value that the share f of the users hold."""
    safa = Safa(**at.parameters()).report.randomizer
    return float(safa.variance(at.frequency, at.agents))


def mended_safa_variance(at: AttributeCollector) -> float:
    """Theorem 3 and what it leaves out: f (e - 1) ((e + m - 1)|A| - e - 1) / (n (e - 1)^2) more."""
    odds = math.exp(at.epsilon)
    more = at.frequency * ((odds + at.values - 1) * at.attributes - odds - 1) / (at.agents * (odds - 1))
    return printed_safa_variance(at) + more


def mended_harmony_variance(at: AttributeCollector) -> float:
    """(|A| (e + 1)^2 / (e - 1)^2 - f) / n."""
    odds = math.exp(at.epsilon)
    return (at.attributes * ((odds + 1) / (odds - 1)) ** 2 - at.frequency) / at.agents


def printed_harmony_variance(at: AttributeCollector) -> float:
    """Theorem 4: (2|A| - 1)(e + 1)^2 / (n (e - 1)^2)."""
    odds = math.exp(at.epsilon)
    return (2 * at.attributes - 1) * ((odds + 1) / (odds - 1)) ** 2 / at.agents


def harmony_variance(at: AttributeCollector) -> float:
    """Exact variance of Harmony's estimate of a value, the other values sharing the rest of the users equally."""
    harmony = Harmony(**at.parameters()).randomizer
    shares = [at.frequency] + [(1 - at.frequency) / (at.values - 1)] * (at.values - 1)
    return float(harmony.variance(shares, at.agents)[0])


def printed_crossover(at: AttributeCollector) -> float:
    """Theorem 4: domain size up to which SAFA's variance is below Harmony's."""
    odds = math.exp(at.epsilon)
    return ((2 * at.attributes - 1) * (odds + 1) ** 2 + 1) / at.attributes - odds + 1


def true_crossover(at: AttributeCollector) -> float:
    """Domain size at which the exact variances are equal, for a value that nobody holds and orthogonal columns."""
    odds = math.exp(at.epsilon)
    return odds**2 + odds + 2 + 1 / at.attributes
