"""The tightest approximate differential privacy that a guarantee implies, from what it allows of single events."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpaudit.claims.guarantees.base import Guarantee

_LEAST_LOG, _POINTS = -690.0, 70
_HALVINGS = 60
_SAME = 1e-6
_UP = 1e-9
"""Relative step by which what is converted is rounded up, beyond the error of the search."""


def implied_epsilon(guarantee: Guarantee, delta: float) -> float:
    """Smallest epsilon with which the guarantee implies (epsilon, delta)-differential privacy; may be infinite."""
    from scipy.optimize import minimize_scalar

    def needed(log_q: float) -> float:
        q = math.exp(log_q)
        excess = _most_both(guarantee, q) - delta
        return math.log(excess) - log_q if excess > 0 else -math.inf

    logs = np.linspace(_LEAST_LOG, 0.0, _POINTS)
    values = [needed(float(each)) for each in logs]
    best = int(np.argmax(values))
    if best == 0 and values[0] > values[1] * (1 + _UP):
        return math.inf  # still rising where probabilities end
    around = float(logs[max(best - 1, 0)]), float(logs[min(best + 1, _POINTS - 1)])
    found = minimize_scalar(
        lambda log_q: -max(needed(float(log_q)), -1e300), bounds=around, method="bounded", options={"xatol": 1e-10}
    )
    return max(0.0, max(values[best], -float(found.fun))) * (1 + _UP)


def implied_delta(guarantee: Guarantee, epsilon: float) -> float:
    """Smallest delta with which the guarantee implies (epsilon, delta)-differential privacy."""
    from scipy.optimize import minimize_scalar

    # Rarer events than probabilities can say are left out; delta falls with epsilon, so that this errs upwards.
    epsilon = min(epsilon, -_LEAST_LOG - 50)

    def gain(log_q: float) -> float:
        q = math.exp(log_q)
        allowed = math.exp(min(0.0, epsilon + log_q))
        return _most_both(guarantee, q) - allowed

    # Where e^epsilon q is 1 nothing is left to gain.
    logs = np.linspace(_LEAST_LOG, -epsilon, _POINTS)
    values = [gain(float(each)) for each in logs]
    best = int(np.argmax(values))
    around = float(logs[max(best - 1, 0)]), float(logs[min(best + 1, len(logs) - 1)])
    found = minimize_scalar(
        lambda log_q: -gain(float(log_q)), bounds=around, method="bounded", options={"xatol": 1e-10}
    )
    return min(1.0, max(0.0, max(values[best], -float(found.fun))) * (1 + _UP))


def _most_both(guarantee: Guarantee, q: float) -> float:
    """Largest probability of an event where the guarantee holds in both directions, also of its complement."""
    most = guarantee.most(q)
    # Of guarantees that are symmetric, rounding alone; to return the larger value is on the safe side.
    if guarantee.most(1 - most) >= 1 - q * (1 + _SAME) - _SAME**2:
        return most
    low, high = q, most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if guarantee.most(1 - middle) >= 1 - q else (low, middle)
    return high


def epsilon_of_concentration(rho: float, delta: float) -> float:
    """Epsilon of rho-zero-concentrated differential privacy at a delta in (0, 1), by the bound on all orders.

    References
    ----------
    Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020, Proposition 12.
    """
    from scipy.optimize import minimize_scalar

    def epsilon(log_excess: float) -> float:
        excess = math.exp(log_excess)
        order = 1 + excess
        return rho * order - math.log1p(1 / excess) - (math.log(delta) + math.log(order)) / excess

    logs = np.linspace(math.log(1e-6), math.log(1e9), _POINTS)
    best = int(np.argmin([epsilon(float(each)) for each in logs]))
    around = float(logs[max(best - 1, 0)]), float(logs[min(best + 1, _POINTS - 1)])
    found = minimize_scalar(
        lambda each: epsilon(float(each)), bounds=around, method="bounded", options={"xatol": 1e-10}
    )
    return max(0.0, float(found.fun)) * (1 + _UP)
