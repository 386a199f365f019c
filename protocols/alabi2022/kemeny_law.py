"""Exact law of the Kemeny ranking of three alternatives whose pairwise weights carry independent noise."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dpaudit import ParameterError
from dpaudit.rankings import all_rankings

from .kemeny_weights import FloatArray

_NODES = 20
_REACH = 20
_PAIRS = ((0, 1), (0, 2), (1, 2))


def noisy_kemeny_law(
    margins: npt.ArrayLike,
    *,
    log_below: Callable[[FloatArray], FloatArray],
    log_density: Callable[[FloatArray], FloatArray],
    scale: float,
) -> FloatArray:
    """Law of the Kemeny ranking of three alternatives from clipped noisy weights.

    The weight of each pair is 1/2 + margin + noise, clipped to [0, 1]. If the three majorities agree, they are the
    ranking; if they form a cycle, the weakest of the three is overruled. Three clipped weights in a cycle tie, and then
    each of the three best rankings has probability 1/3.

    Parameters
    ----------
    margins : array_like of float, shape (3,)
        True weights less 1/2 of the pairs (0, 1), (0, 2), (1, 2), each in [-1/2, 1/2].
    log_below, log_density : callable
        Logarithms of the noise's distribution function and of its density: symmetric, and smooth but at 0.
    scale : float
        Scale of the noise, above 0: the quadrature resolves 40 of them around every margin.

    Returns
    -------
    ndarray of float64, shape (6,)
        Probabilities in the order of `all_rankings(3)`. Gauss-Legendre quadrature between the points where the
        integrand bends; relative error below 1e-11 for Laplace and Gaussian noise.

    Raises
    ------
    ParameterError
        When the margins or the scale are out of range.
    """
    values = np.asarray(margins, dtype=np.float64)
    if values.shape != (3,) or not (np.abs(values) <= 0.5 + 1e-12).all():
        raise ParameterError(f"margins are {margins!r}; give the three weights less 1/2, each in [-1/2, 1/2]")
    if not scale > 0:
        raise ParameterError(f"scale is {scale!r}; give a number above 0")
    orders = all_rankings(3)
    places = np.argsort(orders, axis=1)
    # +1 where a ranking puts the first of a pair first.
    signs = np.array([np.where(places[:, i] < places[:, j], 1.0, -1.0) for i, j in _PAIRS]).T
    law = np.exp(log_below(signs * values).sum(axis=1))
    for cycle in (np.array([1.0, -1.0, 1.0]), np.array([-1.0, 1.0, -1.0])):
        along = cycle * values
        tied = float(np.exp(log_below(along - 0.5).sum())) / 3
        for weakest in range(3):
            others = np.delete(np.arange(3), weakest)
            overruled = cycle.copy()
            overruled[weakest] *= -1
            row = int(np.argmax((signs == overruled).all(axis=1)))
            law[row] += tied + _weakest(along[weakest], along[others], log_below, log_density, scale)
    return np.asarray(law, dtype=np.float64)


def _weakest(
    own: float,
    others: FloatArray,
    log_below: Callable[[FloatArray], FloatArray],
    log_density: Callable[[FloatArray], FloatArray],
    scale: float,
) -> float:
    """Probability that a noisy margin lies between 0 and 1/2 and below the two others."""
    bends = np.concatenate([[0.0, 0.5, own], others])[:, None] + 2 * scale * np.arange(-_REACH, _REACH + 1)
    edges = np.unique(np.clip(bends, 0.0, 0.5))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = np.diff(edges)[:, None] / 2
    t = edges[:-1, None] + half * (1 + nodes)
    logs = log_density(t - own) + log_below(others[0] - t) + log_below(others[1] - t)
    return float((np.exp(logs) * weights * half).sum())
