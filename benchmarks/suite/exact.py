"""Cases over one pair of inputs, for which the log-likelihood ratio of every output is known exactly."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr

import dpaudit
from suite import oracle
from suite.case import Audited
from suite.laws import combination_cells
from suite.noise import gaussian_epsilon

SAMPLED = 1 << 19
"""Log-ratios from which an oracle is worked out without cells: as many to choose the event, and as many to value it."""

CHUNK = 1 << 16


class OnePair(Audited):
    """A mechanism with one declared pair of inputs, so that only the event has to be found."""

    pair: ClassVar[tuple[Any, Any]] = (0, 1)

    def neighbours(self):
        return dpaudit.Neighbouring(relation="neighbours", pairs=[self.pair], complete=False, scope="one pair")


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioCase:
    """One row of the second or the held-out suite.

    Attributes
    ----------
    mechanism
        What is audited.
    family
        Class of mechanisms, for each of which there is a case in either half.
    source
        Where the mechanism is from.
    epsilon
        The true epsilon at the claimed delta for the declared pair, in both directions.
    log_ratio
        Log of the probability (or density) of outputs on the first input over that on the second one; infinite where
        one of them is impossible.
    masses
        Masses of a partition of the outputs on either input, where it is known: the log-ratio is constant on every
        cell, or nearly so. Without it, the oracle is worked out from a large sample of log-ratios.
    most
        The largest number of outputs per input that the benchmark asks for, where outputs are wide.
    """

    mechanism: OnePair
    family: str
    source: str
    epsilon: Callable[[], float]
    log_ratio: Callable[[Sequence[Any]], np.ndarray]
    masses: Callable[[], tuple[np.ndarray, np.ndarray]] | None = None
    most: int | None = None

    @property
    def name(self) -> str:
        return self.mechanism.name

    @property
    def claimed(self) -> tuple[float, float]:
        return self.mechanism.epsilon, self.mechanism.delta

    def truth(self) -> float:
        """True epsilon at the claimed delta; may be infinite."""
        return float(self.epsilon())

    def best_pair(self, samples: int, confidence: float) -> tuple[Any, Any]:
        """The only pair of inputs."""
        return self.mechanism.pair

    def oracle(self, samples: int, confidence: float) -> float:
        """Bound that Clopper-Pearson gives, at the expected counts, for the best event of the pair."""
        if self.masses is not None:
            return oracle.best_bound(*self.masses(), samples, confidence, self.mechanism.delta)
        return max(
            oracle.sampled_bound(
                *(sign * self.losses(side, SAMPLED, seed) for seed in (2 * side + 1, 2 * side + 2)),
                samples,
                confidence,
                self.mechanism.delta,
            )
            for side, sign in ((0, 1), (1, -1))
        )

    def losses(self, side: int, size: int, seed: int) -> np.ndarray:
        """Log-ratios of outputs on the first (0) or the second (1) input."""
        return _losses(self, side, size, seed)


@lru_cache(maxsize=8)
def _losses(case, side, size, seed):
    rng = np.random.default_rng([seed, 16])
    data = case.mechanism.pair[side]
    parts = [min(CHUNK, size - start) for start in range(0, size, CHUNK)]
    found = np.concatenate([case.log_ratio(case.mechanism.sample(data, part, rng)) for part in parts])
    found.flags.writeable = False
    return found


def objects(outputs):
    """Outputs of varying form as an array, which keeps its form where those of one call happen to be alike."""
    return np.fromiter(outputs, object, len(outputs))


def column(outputs, at, dtype=float):
    """The values at one place of structured outputs."""
    return np.array([output[at] for output in outputs], dtype)


def laplace_loss(outputs, x, y, scale):
    """Log-ratio of numbers with Laplace noise around ``x`` and around ``y``."""
    return (np.abs(outputs - y) - np.abs(outputs - x)) / scale


def pairs_of(*parts):
    """Masses of tuples of independent parts, each given by its masses on either input."""
    return tuple(combination_cells([np.asarray(part[side], float) for part in parts]) for side in (0, 1))


def mixed(weights, *parts):
    """Masses where one of several kinds of output comes, with its probability on either input, and says which it is."""
    return tuple(
        np.concatenate(
            [weight[side] * np.asarray(part[side], float) for weight, part in zip(weights, parts, strict=True)]
        )
        for side in (0, 1)
    )


def largest_loss(masses):
    """True epsilon at a delta of 0 from masses."""
    return oracle.true_epsilon(*(np.asarray(side, float) for side in masses))


def truthful(epsilon, values):
    """Probability that randomized response over ``values`` tells the truth."""
    return math.exp(epsilon) / (math.exp(epsilon) + values - 1)


def respond(value, values, epsilon, size, rng):
    """Randomized response over the numbers from 0 to ``values`` - 1."""
    other = rng.integers(0, values - 1, size)
    kept = rng.random(size) < truthful(epsilon, values)
    return np.where(kept, value, other + (other >= value))


def response_loss(outputs, x, y, epsilon):
    """Log-ratio of answers by randomized response."""
    return epsilon * ((outputs == x) * 1.0 - (outputs == y))


def response_masses(epsilon, values):
    """Masses of the answers x, y and any other one."""
    law = np.array([math.exp(epsilon), 1.0, values - 2])
    law /= law.sum()
    return law, law[[1, 0, 2]]


def geometric(decay, size, rng):
    """Two-sided geometric noise: P(k) proportional to decay^|k|."""
    return rng.geometric(1 - decay, size) - rng.geometric(1 - decay, size)


def step_masses(decay):
    """Masses of a number with two-sided geometric noise: at most the lower, or at least the higher of two centres."""
    return np.array([1, decay]) / (1 + decay), np.array([decay, 1]) / (1 + decay)


def normal_masses(ratio, cells=8000):
    """Masses of two normal laws ``ratio`` standard deviations apart."""
    edges = np.linspace(-10, 10, cells) + ratio * np.linspace(-0.5, 0.5, cells)
    return tuple(np.diff(np.r_[0.0, ndtr(edges - centre), 1.0]) for centre in (ratio / 2, -ratio / 2))


class LinearGaussian(OnePair):
    """Known numbers plus a linear image of independent normal ones."""

    delta: float = 1e-5

    def mean(self, data):
        raise NotImplementedError

    def mixing(self):
        """Matrix that takes the independent normal numbers to the noise; their standard deviations included."""
        raise NotImplementedError

    def sample(self, data, size, rng):
        mixing = self.mixing()
        return self.mean(data) + rng.standard_normal((size, mixing.shape[1])) @ mixing.T


def gaussian_case(mechanism, family, source, variance=None, **options):
    """Case of Gaussian outputs: the log-ratio is linear, and all is as for one number (Balle and Wang, ICML 2018).

    ``variance`` is that of every coordinate where these are independent.
    """
    first, second = (np.asarray(mechanism.mean(data), float) for data in mechanism.pair)
    if variance is None:
        mixing = mechanism.mixing()
        weights = np.linalg.solve(mixing @ mixing.T, first - second)
    else:
        weights = (first - second) / variance
    ratio = math.sqrt((first - second) @ weights)
    return RatioCase(
        mechanism=mechanism,
        family=family,
        source=source,
        epsilon=lambda: gaussian_epsilon(ratio, mechanism.delta),
        log_ratio=lambda outputs: np.asarray(outputs, float) @ weights - (first + second) @ weights / 2,
        masses=lambda: normal_masses(ratio),
        **options,
    )
