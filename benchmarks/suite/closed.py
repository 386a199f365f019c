"""Mechanisms on the inputs 0 and 1 whose privacy profile, and all that follows from it, have closed forms."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

EPSILONS = np.linspace(0.0, 4.0, 33)
DELTAS = (1e-5, 1e-3, 1e-2, 0.1)
ORDERS = (1.0, 1.2, 2.0, 2.5, 3.0, 10.0, 50.0)
TYPE_ONE = np.linspace(0.0, 1.0, 41)
_ROUNDING = 1e-9
_RHO_ORDERS = 1 + np.geomspace(1e-4, 50, 4000)


@dataclass(frozen=True)
class Known:
    """A mechanism and the truth about it, in the worse direction.

    ``delta`` is a function of epsilon, ``renyi`` of an order of at least 1, ``trade_off`` of the type I error.
    """

    sample: Callable[[Any, int, np.random.Generator], np.ndarray]
    delta: Callable[[float], float]
    renyi: Callable[[float], float]
    trade_off: Callable[[float], float]
    mu: float
    pure_epsilon: float

    @cached_property
    def rho(self):
        """Largest Renyi divergence over its order."""
        return max(self.renyi(order) / order for order in _RHO_ORDERS)

    def epsilon(self, delta):
        """Smallest epsilon of a delta, by bisection."""
        if delta == 0:
            return self.pure_epsilon
        low, high = 0.0, 60.0
        if self.delta(low) <= delta:
            return 0.0
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle) <= delta else (middle, high)
        return high

    @cached_property
    def _truth(self):
        return {
            "delta": [self.delta(e) for e in EPSILONS],
            "epsilon": [self.epsilon(d) for d in (0.0, *DELTAS)],
            "renyi": [self.renyi(a) for a in ORDERS],
            "trade-off": [self.trade_off(t) for t in TYPE_ONE],
            "mu": [self.mu],
            "rho": [self.rho],
        }

    def wrong(self, bounds):
        """Names of those bounds of a `PrivacyBounds` that are on the wrong side of the truth."""
        found = {
            "delta": [bounds.delta(e) for e in EPSILONS],
            "epsilon": [bounds.epsilon(d) for d in (0.0, *DELTAS)],
            "renyi": [bounds.renyi(a) for a in ORDERS],
            "trade-off": [bounds.trade_off(t) for t in TYPE_ONE],
            "mu": [bounds.mu],
            "rho": [bounds.rho],
        }
        sign = {name: -1.0 if name == "trade-off" else 1.0 for name in found}
        truth = self._truth
        return [
            name
            for name, values in found.items()
            if np.any(sign[name] * np.array(values) > sign[name] * np.array(truth[name]) + _ROUNDING)
        ]


def gaussian(mu, width=1):
    """Gaussian noise, in one number or spread over several."""

    def sample(data, size, rng):
        return rng.normal(mu * data / math.sqrt(width), 1.0, size if width == 1 else (size, width))

    return Known(
        sample=sample,
        delta=lambda e: ndtr(mu / 2 - e / mu) - math.exp(e) * ndtr(-mu / 2 - e / mu),
        renyi=lambda a: a * mu**2 / 2,
        trade_off=lambda t: ndtr(ndtri(1 - t) - mu),
        mu=mu,
        pure_epsilon=math.inf,
    )


def laplace(epsilon):
    """Laplace noise."""

    def renyi(a):
        if a == 1:
            return epsilon + math.expm1(-epsilon)
        one, other = a / (2 * a - 1) * math.exp((a - 1) * epsilon), (a - 1) / (2 * a - 1) * math.exp(-a * epsilon)
        return math.log(one + other) / (a - 1)

    def trade_off(t):
        if t < math.exp(-epsilon) / 2:
            return 1 - math.exp(epsilon) * t
        return math.exp(-epsilon) / (4 * t) if t <= 0.5 else math.exp(-epsilon) * (1 - t)

    return Known(
        sample=lambda data, size, rng: rng.laplace(epsilon * data, 1.0, size),
        delta=lambda e: max(0.0, -math.expm1((e - epsilon) / 2)),
        renyi=renyi,
        trade_off=trade_off,
        mu=2 * ndtri(1 - math.exp(-epsilon / 2) / 2),
        pure_epsilon=epsilon,
    )


def bits_divergence(p, q, order):
    """Renyi divergence of one bit from another, in this direction."""
    if order == 1:
        return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))
    return math.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (order - 1)


def bits(p, q):
    """A single bit that is 1 with probability p on the input 0, and with a smaller q on the input 1."""

    def trade_off(t):
        # Both directions, and the largest convex function that is symmetric: lines of the slopes of either.
        slopes = sorted({1.0, p / q, (1 - q) / (1 - p)})
        lines = [(1 - known.delta(math.log(z)), z) for z in slopes if z >= 1]
        return max(0.0, *(max(top - z * t, (top - t) / z) for top, z in lines))

    known = Known(
        sample=lambda data, size, rng: rng.random(size) < (q if data else p),
        delta=lambda e: max(0.0, p - math.exp(e) * q, (1 - q) - math.exp(e) * (1 - p)),
        renyi=lambda a: max(bits_divergence(p, q, a), bits_divergence(q, p, a)),
        trade_off=trade_off,
        mu=ndtri(p) - ndtri(q),
        pure_epsilon=math.log(max(p / q, (1 - q) / (1 - p))),
    )
    return known


def response(epsilon):
    """Randomized response."""
    p = 1 / (1 + math.exp(-epsilon))
    return bits(p, 1 - p)


def geometric(epsilon):
    """Two-sided geometric noise, whose privacy profile is that of randomized response."""

    def sample(data, size, rng):
        return rng.geometric(-math.expm1(-epsilon), size) - rng.geometric(-math.expm1(-epsilon), size) + data

    like = response(epsilon)
    return Known(sample, like.delta, like.renyi, like.trade_off, like.mu, epsilon)


KNOWN = {
    "Gaussian, mu 0.3": gaussian(0.3),
    "Gaussian, mu 1": gaussian(1.0),
    "Gaussian, mu 1, in 10 numbers": gaussian(1.0, width=10),
    "Laplace, epsilon 1": laplace(1.0),
    "randomized response, epsilon 1": response(1.0),
    "geometric, epsilon 1": geometric(1.0),
    "permute-and-flip, epsilon 2": bits(0.5, math.exp(-2) / 2),
}
