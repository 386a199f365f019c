"""Report noisy max in its four variants, and the exponential mechanism."""

import math
from functools import cache

import numpy as np

import dpaudit
from suite import inputs
from suite.case import Audited, Case, Cells, enumerated_epsilon, unordered_pairs
from suite.laws import draw, laplace_cdf, laplace_quadrature

SOURCE = "Ding, Wang, Wang, Zhang, Kifer (StatDP), CCS 2018: 5 queries, noise of scale 2/epsilon"


class NoisyMax(Audited):
    """Common to the four variants."""

    queries: int = dpaudit.parameter(5, minimum=1)

    @property
    def scale(self):
        return 2 / self.epsilon

    def neighbours(self):
        return inputs.vectors(self.queries)


class NoisyMaxLaplace(NoisyMax):
    """Index of the largest answer after Laplace noise."""

    def sample(self, data, size, rng):
        return np.argmax(np.asarray(data) + rng.laplace(scale=self.scale, size=(size, self.queries)), axis=1)


class NoisyMaxExponential(NoisyMax):
    """Index of the largest answer after exponential noise."""

    def sample(self, data, size, rng):
        return np.argmax(np.asarray(data) + rng.exponential(self.scale, (size, self.queries)), axis=1)


class NoisyMaxLaplaceValue(NoisyMax):
    """The largest noisy answer itself, with Laplace noise that suffices for its index only."""

    def sample(self, data, size, rng):
        return np.max(np.asarray(data) + rng.laplace(scale=self.scale, size=(size, self.queries)), axis=1)


class NoisyMaxExponentialValue(NoisyMax):
    """The largest noisy answer itself, with exponential noise that suffices for its index only."""

    def sample(self, data, size, rng):
        return np.max(np.asarray(data) + rng.exponential(self.scale, (size, self.queries)), axis=1)


class ExponentialMechanism(Audited):
    """An index drawn with probability proportional to exp(epsilon answer / 2)."""

    queries: int = dpaudit.parameter(5, minimum=1)

    def sample(self, data, size, rng):
        return draw(exponential_mechanism_law(tuple(data), self.epsilon), size, rng)

    def neighbours(self):
        return inputs.vectors(self.queries)


def exponential_mechanism_law(data, epsilon):
    weights = np.exp(epsilon * np.asarray(data, float) / 2)
    return weights / weights.sum()


@cache
def laplace_argmax_law(data, scale):
    """Probability of every index; the noisy answer that wins is integrated over."""
    data = np.asarray(data, float)
    law = []
    for i, centre in enumerate(data):
        nodes, weights = laplace_quadrature(scale, data - centre)
        others = np.delete(data, i)[:, None]
        law.append(np.prod(laplace_cdf(nodes + centre - others, scale), axis=0) @ weights)
    return np.array(law)


@cache
def exponential_argmax_law(data, scale):
    """Probability of every index: a polynomial in u = e^(-(v - top) / scale), integrated exactly over (0, 1)."""
    gaps = np.exp((np.asarray(data, float) - max(data)) / scale)
    nodes, weights = np.polynomial.legendre.leggauss(len(data))
    u, weights = (nodes + 1) / 2, weights / 2
    kept = 1 - gaps[:, None] * u
    return np.array([gaps[i] * (np.prod(np.delete(kept, i, axis=0), axis=0) @ weights) for i in range(len(data))])


def exponential_cdf(t, scale):
    return -np.expm1(-np.maximum(t, 0.0) / scale)


def argmax_case(mechanism, law, source=SOURCE):
    def cells(x, y):
        return Cells(p=law(tuple(x)), q=law(tuple(y)), index=lambda outputs: outputs)

    # A permutation of the answers permutes the outputs, so that their order does not matter.
    return Case(
        mechanism=mechanism,
        source=source,
        epsilon=lambda: enumerated_epsilon(cells, unordered_pairs(mechanism.queries)),
        cells=cells,
        pairs=lambda: unordered_pairs(mechanism.queries),
    )


def value_case(mechanism, cdf, epsilon):
    scale = mechanism.scale
    # Below the smallest answer the log-ratio is constant with Laplace noise; above the largest one it levels out.
    edges = np.r_[np.linspace(inputs.LOW, inputs.HIGH, 401), inputs.HIGH + scale * np.linspace(0, 14, 300)[1:]]

    def masses(data):
        below = np.prod([cdf(edges - answer, scale) for answer in data], axis=0)
        return np.diff(np.r_[0.0, below, 1.0])

    def cells(x, y):
        return Cells(p=masses(x), q=masses(y), index=lambda outputs: np.searchsorted(edges, outputs))

    return Case(
        mechanism=mechanism,
        source=SOURCE,
        epsilon=epsilon,
        cells=cells,
        pairs=lambda: unordered_pairs(mechanism.queries),
    )


def cases():
    laplace, exponential = NoisyMaxLaplace(), NoisyMaxExponential()
    laplace_value, exponential_value = NoisyMaxLaplaceValue(), NoisyMaxExponentialValue()
    choice = ExponentialMechanism()
    return [
        argmax_case(laplace, lambda data: laplace_argmax_law(data, laplace.scale)),
        argmax_case(exponential, lambda data: exponential_argmax_law(data, exponential.scale)),
        # Every answer rises by 1: below all of them the distribution function is a product of exponentials.
        value_case(laplace_value, laplace_cdf, lambda: laplace_value.queries / laplace_value.scale),
        # No noisy answer is below the answer itself, so that some outputs are impossible after a rise of the largest.
        value_case(exponential_value, exponential_cdf, lambda: math.inf),
        argmax_case(
            choice,
            lambda data: exponential_mechanism_law(data, choice.epsilon),
            "McSherry and Talwar, FOCS 2007",
        ),
    ]
