"""Errors of positional rules under Gaussian noise, on profiles that are uniform on the simplex of shares of rankings.

The share of every ranking among the agents is a coordinate of a uniform point of the simplex (Section III-A). The noise
on the shares is independent. The distance of a pair of alternatives is the signed distance of the point from the
hyperplane where the two have equal totals; noise changes it by a Gaussian variable with the standard deviation of the
noise on one share.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import inf

import numpy as np
import numpy.typing as npt

from dpaudit import ParameterError, rankings

from .positional import FloatArray, PositionalRule
from .simplex import linear_form_density, plane_image_density

_NODES = 12
_ANGLES = 16


def pair_distance_density(rule: PositionalRule, distance: npt.ArrayLike) -> FloatArray:
    """Density of the signed distance from the hyperplane where two given alternatives tie.

    Parameters
    ----------
    rule
        m >= 3.
    distance : array_like of float

    Returns
    -------
    ndarray of float64
        The volume of the slice of the simplex at that distance, over the volume of the simplex.
    """
    if rule.alternatives < 3:
        raise ParameterError("two alternatives have two rankings, too few for a density of the distance; take m >= 3")
    gaps, counts = rule.gap_coefficients()
    return linear_form_density(gaps / rule.gap_norm, counts, distance)


def largest_pair_distance(rule: PositionalRule) -> float:
    """Largest distance of a point of the simplex from the hyperplane where two alternatives tie."""
    return float(rule.gap_coefficients()[0].max() / rule.gap_norm)


@cache
def pair_flip_probability(rule: PositionalRule, noise: float, *, within: float = inf) -> float:
    """Probability that two given alternatives are at most so far from a tie and that noise reverses their order.

    Parameters
    ----------
    rule
        m >= 3.
    noise
        Standard deviation of the noise on the share of one ranking, at least 0.
    within
        Largest distance from the hyperplane where the two tie.

    Returns
    -------
    float
        ``2 int_0^within p(l) Q(l / noise) dl``, to about 1e-11.
    """
    if noise == 0 or within <= 0:
        return 0.0
    from scipy.special import ndtr

    farthest = min(within, largest_pair_distance(rule))
    knots = rule.gap_coefficients()[0] / rule.gap_norm
    panels = np.unique(np.clip(np.r_[0.0, knots, _graded(noise, farthest), farthest], 0.0, farthest))
    at, weights = _gauss(panels[:-1], panels[1:])
    return float(2 * np.sum(weights * pair_distance_density(rule, at) * ndtr(-at / noise)))


@cache
def three_way_error(rule: PositionalRule, noise: float, *, beyond: float = 0.0) -> tuple[float, float]:
    """Exact error rate of a positional rule over three alternatives.

    Parameters
    ----------
    rule
        m = 3.
    noise
        Standard deviation of the noise on the share of one ranking, at least 0.
    beyond
        Only points that are at least that far from all three hyperplanes are counted.

    Returns
    -------
    error, mass : float
        Probability that a point is counted and its ranking with noise differs from the one without, and probability
        that it is counted; to about 1e-9.

    Raises
    ------
    ParameterError
        There are not three alternatives.

    Notes
    -----
    Scores matter through the plane of their differences only, which is cut into six wedges of 60 degrees. In
    coordinates that are the distances from both sides of a wedge, the density is piecewise cubic, and the noise has
    correlation -1/2.
    **Checked against** simulation, its limits, and the pair's flip probability.
    """
    if rule.alternatives != 3:
        raise ParameterError(f"the error rate is integrated for 3 alternatives, got {rule.alternatives}")
    if beyond >= largest_pair_distance(rule):
        return 0.0, 0.0
    scores = np.array(rule.scores)[rankings.positions(rankings.all_rankings(3))]
    vertices = np.stack([scores[:, 0] - scores[:, 1], scores[:, 1] - scores[:, 2]], axis=1) / rule.gap_norm
    outer, outer_weights, inner, inner_weights = _quadrant(vertices, noise, beyond)
    first = np.broadcast_to(outer[:, None], inner.shape)
    density = plane_image_density(vertices, first, inner) * outer_weights[:, None] * inner_weights
    mass = 6 * float(density.sum())
    if noise == 0:
        return 0.0, mass
    return 6 * float((density * _leaves_wedge(first / noise, inner / noise)).sum()), mass


def order_kept_probability(scores: npt.ArrayLike, noise: float, rng: np.random.Generator) -> FloatArray:
    """Probability that independent Gaussian noise on scores keeps their order, given the noise on every other one.

    Parameters
    ----------
    scores : array_like of float, shape (runs, m)
    noise
        Standard deviation of the noise on one score, above 0.

    Returns
    -------
    ndarray of float64, shape (runs,)
        Independent values in [0, 1], each with the probability that the order is kept as its expectation.

    Notes
    -----
    Given the noisy scores at places 1, 3, ..., those at places 0, 2, ... must lie between their neighbours,
    independently of each other.
    """
    from scipy.special import ndtr

    ordered = -np.sort(-np.asarray(scores, dtype=float), axis=1)
    runs, m = ordered.shape
    drawn = ordered[:, 1::2] + noise * rng.normal(size=(runs, m // 2))
    bounds = np.concatenate([np.full((runs, 1), inf), drawn, np.full((runs, 1), -inf)], axis=1)
    free = ordered[:, 0::2]
    above, below = bounds[:, : free.shape[1]], bounds[:, 1 : free.shape[1] + 1]
    inside = ndtr((above - free) / noise) - ndtr((below - free) / noise)
    return np.asarray(np.where((above > below).all(axis=1), np.maximum(inside, 0.0).prod(axis=1), 0.0))


def _quadrant(
    vertices: FloatArray, noise: float, start: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Nodes and weights of a product rule on the quadrant, whose panels end where the density has a kink."""
    farthest = float(vertices.max())
    lines = [_line(a, b) for a, b in combinations(vertices, 2) if np.abs(a - b).max() > 1e-12]
    crossings = [
        (line[2] * other[1] - other[2] * line[1]) / determinant
        for line, other in combinations(lines, 2)
        if abs(determinant := line[0] * other[1] - other[0] * line[1]) > 1e-12
    ]
    # Where a kink crosses the lower end of the inner range, the number of inner panels changes.
    entries = [(line[2] - line[1] * start) / line[0] for line in lines if abs(line[0]) > 1e-12]
    graded = _graded(noise, farthest)
    ends = np.clip(np.r_[start, start + graded, vertices[:, 0], crossings, entries, farthest], start, farthest)
    panels = np.unique(np.round(ends, 12))
    outer, outer_weights = _gauss(panels[:-1], panels[1:])
    kinks = [(line[2] - line[0] * outer) / line[1] for line in lines if abs(line[1]) > 1e-12]
    fixed = np.broadcast_to(np.r_[start, start + graded, farthest], (len(outer), len(graded) + 2))
    breaks = np.sort(np.clip(np.concatenate([fixed, np.stack(kinks, axis=1)], axis=1), start, farthest), axis=1)
    inner, inner_weights = _gauss(breaks[:, :-1], breaks[:, 1:])
    return outer, outer_weights, inner, inner_weights


def _line(a: FloatArray, b: FloatArray) -> tuple[float, float, float]:
    """Line p x + q y = r through two points, with (p, q) of length 1."""
    direction = (b - a) / np.hypot(*(b - a))
    return float(direction[1]), float(-direction[0]), float(direction[1] * a[0] - direction[0] * a[1])


def _graded(noise: float, farthest: float) -> FloatArray:
    """Distances that double from the noise's own scale on."""
    if noise <= 0 or noise >= farthest:
        return np.zeros(0)
    return np.asarray(noise * 2.0 ** np.arange(0, int(np.log2(farthest / noise)) + 1))


def _gauss(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes and weights on panels, the last axis of both flattened."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = (high - low)[..., None] / 2
    at = (low + high)[..., None] / 2 + half * nodes
    return at.reshape(*low.shape[:-1], -1), (half * weights).reshape(*low.shape[:-1], -1)


def _leaves_wedge(first: FloatArray, second: FloatArray) -> FloatArray:
    """Probability that one of two standard normals of correlation -1/2 is below -first or -second.

    Both at once: Drezner and Wesolowsky, "On the computation of the bivariate normal integral", J. Statist. Comput.
    Simulation 35, 1990.
    """
    from scipy.special import ndtr

    nodes, weights = np.polynomial.legendre.leggauss(_ANGLES)
    both = ndtr(-first) * ndtr(-second)
    for node, weight in zip(nodes, weights, strict=True):
        sine = np.sin(np.pi / 12 * (node + 1))
        exponent = (first**2 + second**2 + 2 * first * second * sine) / (2 * (1 - sine**2))
        both = both - weight * np.pi / 12 / (2 * np.pi) * np.exp(-exponent)
    return np.asarray(ndtr(-first) + ndtr(-second) - both)
