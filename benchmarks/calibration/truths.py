"""True epsilons of noise with a density, in closed form, and laws with finitely many outcomes.

Everything here is exact but for rounding.
"""

import math
from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr


def shifted(distance: float, scale: float) -> float:
    """Laplace or logistic noise: the log of its density has slopes of at most 1 / scale, reached in the tails.

    Laplace: log p(t) = -|t| / s. Logistic: log p(t) = -t / s - 2 log(1 + e^(-t / s)), of slope -tanh(t / 2s) / s. So
    the log-ratio of two such densities ``distance`` apart is at most distance / s, and comes as near to it as you like.
    Coordinates that are independent add up.
    """
    return abs(distance) / scale


def gaussian(distance: float, sigma: float, delta: float) -> float:
    """Balle and Wang (ICML 2018), Theorem 8: the epsilon at which the privacy profile of Gaussian noise is delta."""
    ratio = abs(distance) / sigma

    def excess(epsilon):
        return ndtr(ratio / 2 - epsilon / ratio) - math.exp(epsilon) * ndtr(-ratio / 2 - epsilon / ratio) - delta

    return 0.0 if excess(0.0) <= 0 else float(brentq(excess, 0.0, 100.0, xtol=1e-12))


def randomized_response(keep: float) -> np.ndarray:
    """The value with probability ``keep``, else the other one."""
    return np.array([[keep, 1 - keep], [1 - keep, keep]])


def several_values(keep: float, values: int) -> np.ndarray:
    """Randomized response over several values: the true one with probability ``keep``, any other equally often."""
    laws = np.full((2, values), (1 - keep) / (values - 1))
    laws[[0, 1], [0, 1]] = keep
    return laws


def clipped_geometric(epsilon: float, centres: tuple[int, int], top: int) -> np.ndarray:
    """Two-sided geometric noise around a centre, clipped to 0, 1, up to ``top``."""
    a = math.exp(-epsilon)
    laws = np.array([[(1 - a) / (1 + a) * a ** abs(out - centre) for out in range(top + 1)] for centre in centres])
    for law, centre in zip(laws, centres, strict=True):
        # All of a geometric tail: a^k (1 - a) / (1 + a) over k >= d is a^d / (1 + a).
        law[0], law[-1] = a**centre / (1 + a), a ** (top - centre) / (1 + a)
    return laws


def bits_kept(keep: float, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Unary encoding: every bit of the flags of the values is kept with that probability. Laws, and rows of bits."""
    rows = np.array(list(product((0, 1), repeat=length)))
    flags = np.eye(length, dtype=int)[:2]
    return np.array([np.where(rows == flag, keep, 1 - keep).prod(axis=1) for flag in flags]), rows


def mixed(delta: float, leak: np.ndarray, laws: np.ndarray) -> np.ndarray:
    """One law with probability ``delta``, else another one; outcomes side by side."""
    return np.hstack([delta * leak, (1 - delta) * laws])
