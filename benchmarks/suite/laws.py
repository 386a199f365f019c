"""Laplace laws, quadrature and sampling that several families share."""

from functools import reduce
from itertools import pairwise

import numpy as np

GAUSS_NODES, GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(16)
TAIL = 60.0
"""Scales of a Laplace law beyond which its mass, e^-60, is left out."""


def laplace_density(t, scale):
    return np.exp(-np.abs(t) / scale) / (2 * scale)


def laplace_cdf(t, scale):
    t = np.asarray(t, float) / scale
    tail = np.exp(-np.abs(t)) / 2
    return np.where(t < 0, tail, 1 - tail)


def log_laplace_cdf(t, scale):
    t = np.asarray(t, float) / scale
    tail = np.exp(-np.abs(t)) / 2
    return np.where(t < 0, -np.abs(t) - np.log(2), np.log1p(-tail))


def laplace_quadrature(scale, kinks, finest=None):
    """Nodes and weights that integrate against a Laplace law a function that is smooth between ``kinks``.

    ``finest`` is the smallest scale on which that function varies.
    """
    finest = scale if finest is None else min(scale, finest)
    kinks = np.unique(np.r_[0.0, np.asarray(kinks, float)])
    inner = [np.linspace(low, high, 1 + int(np.ceil((high - low) / finest))) for low, high in pairwise(kinks)]
    tail, widths = [0.0], finest
    while tail[-1] < TAIL * scale:
        tail.append(tail[-1] + widths)
        widths = min(widths * 1.5, 6 * finest)
    tail = np.array(tail)
    edges = np.unique(np.concatenate([kinks[0] - tail, kinks[-1] + tail, *inner]))
    half = np.diff(edges)[:, None] / 2
    nodes = ((edges[:-1, None] + half) + half * GAUSS_NODES).ravel()
    weights = (half * GAUSS_WEIGHTS).ravel()
    return nodes, weights * laplace_density(nodes, scale)


def laplace_masses(ratio, cells):
    """Masses of a Laplace output on two inputs ``ratio`` scales apart, in the cells of :func:`laplace_index`.

    The first and the last cell are the half-lines where the log-ratio is constant, so the largest one is exact.
    """
    edges = laplace_cdf(ratio * np.linspace(-1, 0, cells + 1), 1.0)
    p = np.r_[edges[0], np.diff(edges), 0.5]
    return p, p[::-1].copy()


def laplace_index(outputs, x, y, cells):
    """Cell of every output: 0 beyond y, 1 to ``cells`` from y to x, and the last one beyond x."""
    return np.clip(np.ceil((outputs - y) / (x - y) * cells), 0, cells + 1).astype(int)


def summed(masses, parts):
    """Masses of the sum of the cell numbers of independent outputs; it orders them as their total log-ratio does."""
    return reduce(np.convolve, [masses] * parts)


def draw(probabilities, size, rng):
    """Indices drawn from a table of probabilities."""
    cumulative = np.cumsum(probabilities)
    return np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")


def combination_cells(parts):
    """Masses of tuples of independent finite outputs, in the order of ``np.ravel_multi_index``."""
    return reduce(lambda a, b: np.multiply.outer(a, b).ravel(), parts)
