"""Additive noise: Laplace, geometric, Gaussian, histograms, prefix sums, parallel composition, and a rare leak."""

import math

import numpy as np
from scipy.special import ndtr

import dpaudit
from suite import inputs
from suite.case import Audited, Case, Cells, enumerated_epsilon
from suite.laws import draw, laplace_cdf, laplace_index, laplace_masses, summed

CELLS = 400


class Laplace(Audited):
    """A number with Laplace noise of scale 1/epsilon."""

    def sample(self, data, size, rng):
        return data + rng.laplace(scale=1 / self.epsilon, size=size)

    def neighbours(self):
        return inputs.two_numbers(0.0, 1.0)


class LaplaceParallel(Audited):
    """The same number twenty times, each time with fresh Laplace noise."""

    epsilon: float = 0.1
    outputs: int = dpaudit.parameter(20, minimum=1)

    def sample(self, data, size, rng):
        return data + rng.laplace(scale=self.outputs / self.epsilon, size=(size, self.outputs))

    def neighbours(self):
        return inputs.two_numbers(0.0, 1.0)


class TruncatedGeometric(Audited):
    """A count from 0 to ``top`` with two-sided geometric noise, truncated to that range."""

    top: int = dpaudit.parameter(5, minimum=1)

    def sample(self, data, size, rng):
        # The difference of two geometric numbers is two-sided geometric.
        success = -math.expm1(-self.epsilon)
        noise = rng.geometric(success, size) - rng.geometric(success, size)
        return np.clip(data + noise, 0, self.top)

    def neighbours(self):
        return inputs.adjacent(self.top)

    def probabilities(self, count):
        decay = math.exp(-self.epsilon)
        law = (1 - decay) / (1 + decay) * decay ** np.abs(np.arange(self.top + 1) - count)
        law[0], law[-1] = decay**count / (1 + decay), decay ** (self.top - count) / (1 + decay)
        return law


class NoisyHistogram(Audited):
    """Counts of five bins with Laplace noise of scale 1/epsilon on each."""

    epsilon: float = 0.1
    bins: int = dpaudit.parameter(5, minimum=1)

    @property
    def scale(self):
        return 1 / self.epsilon

    def sample(self, data, size, rng):
        return np.asarray(data, float) + rng.laplace(scale=self.scale, size=(size, self.bins))

    def neighbours(self):
        return inputs.histograms(self.bins)


class NoisyHistogramInverted(NoisyHistogram):
    """Counts of five bins with Laplace noise of scale epsilon on each, mistaken for 1/epsilon."""

    @property
    def scale(self):
        return self.epsilon


class PrefixSum(Audited):
    """All partial sums of ten answers, each of which got Laplace noise of scale 10."""

    queries: int = dpaudit.parameter(10, minimum=1)

    def sample(self, data, size, rng):
        noisy = np.asarray(data, float) + rng.laplace(scale=self.queries / self.epsilon, size=(size, self.queries))
        return np.cumsum(noisy, axis=1)

    def neighbours(self):
        return inputs.vectors(self.queries)


class GaussianFalseDelta(Audited):
    """A number with Gaussian noise that suffices for a delta of 0.127, stated with one of 0.01."""

    delta: float = 0.01
    sigma: float = dpaudit.parameter(1.0, above=0)

    def sample(self, data, size, rng):
        return data + rng.normal(scale=self.sigma, size=size)

    def neighbours(self):
        return inputs.two_numbers(0.0, 1.0)


class DiscreteGaussian(Audited):
    """An integer with discrete Gaussian noise."""

    delta: float = 0.01
    sigma: float = dpaudit.parameter(2.0, above=0)

    @property
    def reach(self):
        return math.ceil(20 * self.sigma)  # the mass beyond is below 1e-80

    def sample(self, data, size, rng):
        return data - self.reach + draw(self.probabilities(0), size, rng)

    def neighbours(self):
        return inputs.two_numbers(0, 1)

    def probabilities(self, centre):
        """Probabilities of the integers from -reach to reach + 1."""
        law = np.exp(-((np.arange(-self.reach, self.reach + 2) - centre) ** 2) / (2 * self.sigma**2))
        return law / law.sum()


class RareLeak(Audited):
    """A number with Laplace noise of scale 1/epsilon, but once in 100,000 runs a code that gives it away."""

    leak: float = dpaudit.parameter(1e-5, minimum=0, maximum=1)

    def sample(self, data, size, rng):
        noisy = data + rng.laplace(scale=1 / self.epsilon, size=size)
        return np.where(rng.random(size) < self.leak, 1000.0 + data, noisy)

    def neighbours(self):
        return inputs.two_numbers(0.0, 1.0)


def _laplace_parts(scale, cells, parts_of=lambda outputs: outputs):
    """Cells of independent Laplace numbers whose coordinates differ by 1 or not at all."""

    def of(x, y):
        x, y = np.atleast_1d(np.asarray(x, float)), np.atleast_1d(np.asarray(y, float))
        differ = np.flatnonzero(x != y)
        p, q = (summed(masses, len(differ)) for masses in laplace_masses(abs(x - y)[differ[0]] / scale, cells))

        def index(outputs):
            parts = parts_of(outputs)[:, differ]
            return laplace_index(parts, x[differ], y[differ], cells).sum(axis=1)

        return Cells(p=p, q=q, index=index)

    return of


def _laplace():
    mechanism = Laplace()
    parts = _laplace_parts(1 / mechanism.epsilon, CELLS, lambda outputs: outputs[:, None])
    return Case(
        mechanism=mechanism,
        source="Dwork, McSherry, Nissim, Smith, TCC 2006",
        epsilon=lambda: mechanism.epsilon,
        cells=parts,
        pairs=lambda: [(0.0, 1.0)],
    )


def _laplace_parallel():
    mechanism = LaplaceParallel()
    parts = _laplace_parts(mechanism.outputs / mechanism.epsilon, 100)
    return Case(
        mechanism=mechanism,
        source="Bichsel, Steffen, Bogunovic, Vechev (DP-Sniper), S&P 2021: 20 outputs at 0.005 each",
        epsilon=lambda: mechanism.epsilon,
        cells=lambda x, y: parts([x] * mechanism.outputs, [y] * mechanism.outputs),
        pairs=lambda: [(0.0, 1.0)],
    )


def _truncated_geometric():
    mechanism = TruncatedGeometric()

    def cells(x, y):
        return Cells(p=mechanism.probabilities(x), q=mechanism.probabilities(y), index=lambda outputs: outputs)

    return Case(
        mechanism=mechanism,
        source="Ghosh, Roughgarden, Sundararajan, STOC 2009; counts from 0 to 5 as in DP-Sniper",
        epsilon=lambda: mechanism.epsilon,
        cells=cells,
        pairs=lambda: [(count, count + 1) for count in range(mechanism.top)],
    )


def _histogram(mechanism):
    base = (1,) * mechanism.bins
    return Case(
        mechanism=mechanism,
        source="Ding, Wang, Wang, Zhang, Kifer (StatDP), CCS 2018: 5 bins, epsilon 0.1",
        epsilon=lambda: 1 / mechanism.scale,
        cells=_laplace_parts(mechanism.scale, CELLS),
        # The bins are alike. An L1 step that is split among bins has the same largest log-ratio but less mass there.
        pairs=lambda: [(base, (2, *base[1:]))],
    )


def _prefix_sum():
    mechanism = PrefixSum()
    scale = mechanism.queries / mechanism.epsilon
    # The differences of the outputs are the noisy answers: nothing is lost by looking at these. Every coordinate that
    # differs adds an independent part, and all signs and places are alike.
    pairs = [
        ((0,) * mechanism.queries, (1,) * count + (0,) * (mechanism.queries - count))
        for count in range(1, mechanism.queries + 1)
    ]
    return Case(
        mechanism=mechanism,
        source="Wang, Ding, Wang, Kifer, Zhang, PLDI 2019; scale 1/0.1 and 10 answers as in DP-Sniper",
        epsilon=lambda: mechanism.queries / scale,
        cells=_laplace_parts(scale, 200, lambda outputs: np.diff(outputs, axis=1, prepend=0.0)),
        pairs=lambda: pairs,
    )


def gaussian_epsilon(ratio, delta):
    """Epsilon at ``delta`` of two normal laws ``ratio`` standard deviations apart (Balle and Wang, ICML 2018)."""
    from scipy.optimize import brentq

    def excess(epsilon):
        return ndtr(ratio / 2 - epsilon / ratio) - math.exp(epsilon) * ndtr(-ratio / 2 - epsilon / ratio) - delta

    return brentq(excess, 0.0, 100.0, xtol=1e-13) if excess(0.0) > 0 else 0.0


def _gaussian():
    mechanism = GaussianFalseDelta()
    edges = np.linspace(-10, 11, 8000) * mechanism.sigma

    def cells(x, y):
        p, q = (np.diff(np.r_[0.0, ndtr((edges - centre) / mechanism.sigma), 1.0]) for centre in (x, y))
        return Cells(p=p, q=q, index=lambda outputs: np.searchsorted(edges, outputs))

    return Case(
        mechanism=mechanism,
        source="Balle and Wang, ICML 2018, for the exact profile; sigma 1 gives delta 0.127 at epsilon 1",
        epsilon=lambda: gaussian_epsilon(1 / mechanism.sigma, mechanism.delta),
        cells=cells,
        pairs=lambda: [(0.0, 1.0)],
    )


def _discrete_gaussian():
    mechanism = DiscreteGaussian()

    def cells(x, y):
        return Cells(
            p=mechanism.probabilities(x),
            q=mechanism.probabilities(y),
            index=lambda outputs: outputs + mechanism.reach,
        )

    return Case(
        mechanism=mechanism,
        source="Canonne, Kamath, Steinke, NeurIPS 2020",
        epsilon=lambda: enumerated_epsilon(cells, [(0, 1)], delta=mechanism.delta),
        cells=cells,
        pairs=lambda: [(0, 1)],
    )


def _rare_leak():
    mechanism = RareLeak()
    scale = 1 / mechanism.epsilon

    def cells(x, y):
        edges = np.r_[np.linspace(min(x, y), max(x, y), CELLS + 1), 999.5, 1000.5]

        def masses(centre):
            noisy = (1 - mechanism.leak) * np.diff(np.r_[0.0, laplace_cdf(edges - centre, scale), 1.0])
            # The codes are points: cells of their own, after those of the noise.
            return np.r_[noisy, mechanism.leak * np.array([centre == x, centre == y])]

        def index(outputs):
            found = np.searchsorted(edges, outputs)
            found[outputs == 1000.0 + x], found[outputs == 1000.0 + y] = len(edges) + 1, len(edges) + 2
            return found

        return Cells(p=masses(x), q=masses(y), index=index)

    return Case(
        mechanism=mechanism,
        source="made for this suite: an event of probability 1e-5 that decides",
        epsilon=lambda: math.inf if mechanism.leak else mechanism.epsilon,
        cells=cells,
        pairs=lambda: [(0.0, 1.0)],
    )


def cases():
    return [
        _laplace(),
        _truncated_geometric(),
        _histogram(NoisyHistogram()),
        _histogram(NoisyHistogramInverted()),
        _prefix_sum(),
        _laplace_parallel(),
        _gaussian(),
        _discrete_gaussian(),
        _rare_leak(),
    ]
