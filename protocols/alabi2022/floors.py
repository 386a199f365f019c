"""Floors under the error of private algorithms on the hard instances.

The floor of Theorem 13: n agents who all hold π^x are n replacements away from n who hold π^y. The probabilities of
one output for two words are therefore within e^(ϵ n) of each other, and the expected error of an ϵ-DP algorithm,
averaged over the words, is at least its average under the best such weights: e^(ϵ n) on the words near ρ(σ), and 1 on
the others.
"""

import math

import numpy as np

from .marginals_reduction import MarginalsReduction
from .words import least_cost, lexicode

SHARE = 0.01
"""Theorem 13: the additive error over m^2."""
AGENTS_SHARE = 0.25
"""Theorem 13 with n = o(m / ϵ) made explicit: n is at most this many m / ϵ."""


def packing_floor(instances: MarginalsReduction) -> float:
    """The floor as the proof has it: success means that ρ(σ) is nearer than half the distance to the true word.

    The balls of that radius are disjoint, so one output is a success for one word at most.
    """
    radius = -(-instances.distance // 2)
    return _failure(instances, 1) * float(least_cost(radius, instances.dimensions, instances.padding))


def approximate_floor(instances: MarginalsReduction) -> float:
    """The floor for (ϵ, δ): the failures within every radius, each weighted by what the next step costs."""
    words, d = instances.words(), instances.dimensions
    nearest = np.zeros(d + 1, dtype=int)
    for guess in lexicode(d, 1):
        within = np.cumsum(np.bincount((words != guess).sum(axis=1), minlength=d + 1))
        nearest = np.maximum(nearest, within)
    steps = np.diff(least_cost(np.arange(d + 1), d, instances.padding))
    return math.fsum(step * _failure(instances, int(count)) for step, count in zip(steps, nearest, strict=False))


def pure_floor(instances: MarginalsReduction) -> float:
    """The least average error over the code that probabilities within e^(ϵ n) of each other allow."""
    words, d = instances.words(), instances.dimensions
    least = math.inf
    for guess in lexicode(d, 1):
        sizes = np.bincount((words != guess).sum(axis=1), minlength=d + 1)
        least = min(least, _least_average(sizes, d, instances.padding, instances.epsilon * instances.agents))
    return least


def largest_floor(alternatives: int) -> float:
    """Floor over all words at d = m / 2 and ϵ n = AGENTS_SHARE m; over m^2 it tends to 0.01176.

    The limit is (δ - δ^2 / 2) / 4 where log 2 - h(δ) = 1/2, h the entropy in nats.
    """
    from scipy.special import gammaln

    d = alternatives // 2
    places = np.arange(d + 1)
    log_sizes = gammaln(d + 1) - gammaln(places + 1) - gammaln(d - places + 1)
    return _least_average(np.exp(log_sizes - log_sizes.max()), d, alternatives - 2 * d, AGENTS_SHARE * alternatives)


def _failure(instances: MarginalsReduction, within: int) -> float:
    """Least probability of not being near the true word, averaged over the N words, where ``within`` are near any.

    Summed over all pairs of words, the probability s of being near obeys (N - 1) s <= e^(ϵ n) (within - s) +
    (N - 1) δ_n, with δ_n = δ (e^(ϵ n) - 1) / (e^ϵ - 1) for n replacements.
    """
    others = len(instances.words()) - 1
    spent = instances.epsilon * instances.agents
    # All divided by e^(ϵ n), which may overflow.
    unlikely = math.exp(-spent)
    group = instances.delta * -math.expm1(-spent) / math.expm1(instances.epsilon)
    return max(0.0, ((1 - within) + others * (unlikely - group)) / (others * unlikely + 1))


def _least_average(sizes: np.ndarray, dimensions: int, padding: int, spent: float) -> float:
    """Least mean error under weights within e^spent of each other; sizes[D] words differ in D places from a guess."""
    cost = least_cost(np.arange(dimensions + 1), dimensions, padding)
    scaled = sizes / sizes.max()
    near, near_cost = np.cumsum(scaled), np.cumsum(scaled * cost)
    far, far_cost = near[-1] - near, near_cost[-1] - near_cost
    discount = math.exp(-spent)
    total = near + discount * far
    return float(np.min((near_cost + discount * far_cost)[total > 0] / total[total > 0]))
