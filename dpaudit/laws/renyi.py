"""Renyi divergences of two laws, and the supremum of divergence over order that zero-concentrated DP is about."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.laws.base import Comparison
from dpaudit.laws.composed import ComposedComparison
from dpaudit.laws.continuous import GaussianComparison, LaplaceComparison
from dpaudit.laws.enclosed import EnclosedLoss
from dpaudit.laws.finite import FiniteComparison
from dpaudit.laws.joint import ProductComparison, PublicMixtureComparison

_LARGEST_EXPONENT = 700.0
_TOLERANCE = 2e-10
"""Relative width of the enclosure of a supremum at which the search ends; a fifth of what counts as rounding."""

_FIRST_EXCESSES = np.geomspace(2.0**-6, 2.0**40, 47)
_SMALLER = 16.0
_MOST_STEPS = 4000

Divergence = Callable[[float], Interval | None]
"""A Renyi divergence as a function of its order less one."""


def renyi_divergence(comparison: Comparison, order: float) -> Interval | None:
    """Renyi divergence of two laws; None where it is not known for laws of this kind.

    Parameters
    ----------
    comparison
        The laws. A comparison of another kind than dpaudit's own may have a method ``renyi(order)``.
    order
        At least 1, where it is the relative entropy; may be infinite, where it is the max divergence.

    Notes
    -----
    **Guarantee.** Exact up to rounding for finite, Gaussian and Laplace laws, and for products and public mixtures of
    laws of which it is.
    **Checked against** numerical integration, and sums over listed outcomes.

    References
    ----------
    van Erven, Harremoes, "Renyi divergence and Kullback-Leibler divergence", IEEE Transactions on Information Theory
    60, 2014. For Laplace laws: Mironov, "Renyi differential privacy", CSF 2017, Proposition 6.
    """
    own = getattr(comparison, "renyi", None)
    if own is not None:
        found: Interval | None = own(order)
        return found
    if math.isinf(order):
        return Interval.exact(max(0.0, comparison.max_divergence()))
    excess = order - 1
    if isinstance(comparison, GaussianComparison):
        return Interval.exact(order * (comparison.ratio * comparison.ratio) / 2)
    if isinstance(comparison, LaplaceComparison):
        return Interval.exact(_of_laplace(comparison.ratio, excess))
    if isinstance(comparison, FiniteComparison):
        return Interval.exact(of_masses(comparison.log_p, comparison.log_q, excess))
    if parts := independent_parts(comparison):
        return _sum_of_divergences(parts, order)
    if isinstance(comparison, PublicMixtureComparison):
        possible = comparison.log_weights > -np.inf
        weights = np.exp(comparison.log_weights[possible])
        chosen = [part for part, can in zip(comparison.parts, possible, strict=True) if can]
        return _joined(
            [renyi_divergence(part, order) for part in chosen], lambda each: _averaged(weights, each, excess)
        )
    return None


def independent_parts(comparison: Comparison) -> Sequence[tuple[Comparison, int]]:
    """Independent parts that two laws are made of, with how often each occurs; none where they are not known."""
    if isinstance(comparison, ProductComparison):
        return [(part, 1) for part in comparison.parts]
    if isinstance(comparison, EnclosedLoss | ComposedComparison):
        return comparison.independent
    return ()


def _joined(parts: list[Interval | None], join: Callable[[list[float]], float]) -> Interval | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return Interval(
        lower=join([part.lower or 0.0 for part in known]),
        upper=join([math.inf if part.upper is None else part.upper for part in known]),
    )


def _averaged(weights: np.ndarray, divergences: list[float], excess: float) -> float:
    each = np.array(divergences)
    if excess == 0:
        return float(weights @ each)
    largest = float(each.max())
    if math.isinf(largest):
        return math.inf
    if excess * largest < 1:
        return math.log1p(float(weights @ np.expm1(excess * each))) / excess
    return largest + math.log(float(weights @ np.exp(excess * (each - largest)))) / excess


def of_masses(log_p: np.ndarray, log_q: np.ndarray, excess: float) -> float:
    """Renyi divergence of order 1 + ``excess`` of two laws by their log-probabilities."""
    possible = log_p > -np.inf
    log_p, log_q = log_p[possible], log_q[possible]
    if (log_q == -np.inf).any():
        return math.inf
    loss = log_p - log_q
    if excess == 0:
        return max(0.0, math.fsum(np.exp(log_p) * loss))
    exponents = excess * loss
    top = float(exponents.max())
    if top < 1:
        # Of probabilities that add up to 1 this keeps the digits of small divergences.
        return max(0.0, math.log1p(math.fsum(np.exp(log_p) * np.expm1(exponents))) / excess)
    total = log_p + exponents
    top = float(total.max())
    return max(0.0, (top + math.log(math.fsum(np.exp(total - top)))) / excess)


def _of_laplace(ratio: float, excess: float) -> float:
    if excess == 0:
        return ratio + math.expm1(-ratio)
    rise, fall = excess * ratio, -(1 + excess) * ratio
    if rise < 1:
        gain = ((1 + excess) * math.expm1(rise) + excess * math.expm1(fall)) / (2 * excess + 1)
        return math.log1p(gain) / excess
    rest = ((1 + excess) + excess * math.exp(fall - rise)) / (2 * excess + 1)
    return ratio + math.log(rest) / excess


def concentration(comparison: Comparison) -> Interval | None:
    """Supremum over orders a > 1 of the Renyi divergence of order a over a: the smallest rho of zero-concentrated DP.

    Notes
    -----
    **Guarantee.** Exact for Gaussian laws, whose divergences are proportional to the order; otherwise enclosed. With
    s = a - 1, K(s) = s D_a is convex and 0 at 0, being a cumulant generating function of the privacy loss, so that a
    chord bounds it from above between two orders; the quotient of a chord and s (s + 1) has at most one maximum, in
    closed form. Intervals with the largest bound are halved until the enclosure has a relative width of 2e-10.
    Where the losses lie within a range R, a second bound holds: K is 0 at -1 as well, so that the quotient is K's
    divided difference at -1, 0 and s, and its second derivative a fourth cumulant over 12, of size R^4 / 96 at most.
    Beyond the last order the divergence is at most the max divergence; where that is infinite, the parts of a product
    or a mixture are bounded on their own.
    **Checked against** closed forms of Laplace laws and randomized response (Harrison, Manurangsi, "Exact zCDP
    characterizations for fundamental differentially private mechanisms", 2025), and the quotient on fine grids.
    """
    own = getattr(comparison, "concentration", None)
    if own is not None:
        found: Interval | None = own()
        return found
    if isinstance(comparison, GaussianComparison):
        return Interval.exact(comparison.ratio * comparison.ratio / 2)
    if isinstance(comparison, LaplaceComparison):
        return Interval.exact(_of_laplace(comparison.ratio, 0.0))
    if parts := independent_parts(comparison):
        ratios = [(part.ratio, n) for part, n in parts if isinstance(part, GaussianComparison)]
        gaussian = math.fsum(n * (ratio * ratio) / 2 for ratio, n in ratios)
        others = [(part, n) for part, n in parts if not isinstance(part, GaussianComparison)]
        if not others:
            return Interval.exact(gaussian)
        single = len(others) == 1 and others[0][1] == 1
        rest = concentration(others[0][0]) if single else _attained_together(others) or _enclosed(others)
        return rest and Interval(lower=gaussian + (rest.lower or 0.0), upper=_plus(gaussian, rest.upper))
    return _enclosed([(comparison, 1)])


def _attained_together(parts: Sequence[tuple[Comparison, int]]) -> Interval | None:
    """Sum of the parts' suprema where all are attained at the order 2, as those of discrete Gaussian laws are."""
    if not all(hasattr(part, "concentration") for part, _ in parts):
        return None
    suprema, at_two = [concentration(part) for part, _ in parts], _sum_of_divergences(parts, 2.0)
    if at_two is None or any(value is None or value.upper is None for value in suprema):
        return None
    lower = (at_two.lower or 0.0) / 2
    upper = math.fsum(n * (value.upper or 0.0) for value, (_, n) in zip(suprema, parts, strict=True) if value)
    return Interval(lower=lower, upper=max(lower, upper)) if upper <= lower * (1 + _TOLERANCE) else None


def _plus(value: float, upper: float | None) -> float | None:
    return None if upper is None else value + upper


def _enclosed(parts: Sequence[tuple[Comparison, int]]) -> Interval | None:
    if any(renyi_divergence(part, 2.0) is None for part, _ in parts):
        return None
    return largest_rate(
        lambda excess: _sum_of_divergences(parts, 1 + excess),
        lambda excess: _rate_beyond(parts, excess),
        spread=math.fsum(count * _spread(part) for part, count in parts),
    )


def _sum_of_divergences(parts: Sequence[tuple[Comparison, int]], order: float) -> Interval | None:
    counts = [count for _, count in parts]
    return _joined(
        [renyi_divergence(part, order) for part, _ in parts],
        lambda each: math.fsum(count * value for count, value in zip(counts, each, strict=True)),
    )


def _rate_beyond(parts: Sequence[tuple[Comparison, int]], excess: float) -> float:
    """Upper bound on divergence over order, of parts released together, for all orders of at least 1 + ``excess``."""
    most = math.fsum(count * part.max_divergence() for part, count in parts)
    if math.isfinite(most):
        return max(0.0, most) / (1 + excess)
    return math.fsum(count * _rate_of_one(part, excess) for part, count in parts)


def _rate_of_one(comparison: Comparison, excess: float) -> float:
    if math.isfinite(most := comparison.max_divergence()):
        return max(0.0, most) / (1 + excess)
    if parts := independent_parts(comparison):
        return _rate_beyond(parts, excess)
    if isinstance(comparison, PublicMixtureComparison):
        possible = zip(comparison.log_weights, comparison.parts, strict=True)
        return max(_rate_of_one(part, excess) for weight, part in possible if weight > -np.inf)
    if isinstance(comparison, GaussianComparison) or hasattr(comparison, "concentration"):
        rho = concentration(comparison)
        return math.inf if rho is None or rho.upper is None else rho.upper
    return math.inf


def _spread(comparison: Comparison) -> float:
    """Range of the privacy losses, at most."""
    lowest, highest = _extremes(comparison)
    return highest - lowest


def _extremes(comparison: Comparison) -> tuple[float, float]:
    if isinstance(comparison, LaplaceComparison):
        return -comparison.ratio, comparison.ratio
    if isinstance(comparison, FiniteComparison):
        loss = comparison.loss().losses
        return float(loss[0]), float(loss[-1])
    if parts := independent_parts(comparison):
        ends = [_extremes(part) for part, _ in parts]
        low, high = (math.fsum(n * end[i] for end, (_, n) in zip(ends, parts, strict=True)) for i in (0, 1))
        return low, high
    if isinstance(comparison, PublicMixtureComparison):
        lowest, highest = zip(*map(_extremes, comparison.parts), strict=True)
        return min(lowest), max(highest)
    return -math.inf, math.inf


def largest_rate(divergence: Divergence, beyond: Callable[[float], float], *, spread: float = math.inf) -> Interval:
    """Enclose the supremum of divergence over order, by branch and bound.

    Parameters
    ----------
    divergence
        The divergence, by its order less one.
    beyond
        Upper bound on the quotient for all orders at least 1 more than its argument.
    spread
        Range of the privacy losses, at most.
    """
    bend = spread**4 / 96 if math.isfinite(spread) else math.inf

    def bound(left: tuple[float, float, float], right: tuple[float, float, float]) -> float:
        (s, _, low), (t, _, high) = left, right
        ends = max(low / (1 + s), high / (1 + t))
        return min(_chord_rate(left, right), ends + bend * (t - s) ** 2 / 8)

    def at(excess: float) -> tuple[float, float, float]:
        value = divergence(excess)
        assert value is not None
        return excess, value.lower or 0.0, math.inf if value.upper is None else value.upper

    start = at(0.0)
    best, rest = start[1], 0.0
    if math.isinf(best):
        return Interval.exact(math.inf)
    points = [start]
    for excess in _FIRST_EXCESSES.tolist():
        points.append(at(excess))
        best = max(best, points[-1][1] / (1 + excess))
        rest = beyond(excess)
        if math.isinf(best) or rest <= best * (1 + _TOLERANCE):
            break
    if math.isinf(best):
        return Interval.exact(math.inf)
    queue = [(-bound(left, right), left, right) for left, right in pairwise(points)]
    heapq.heapify(queue)
    for _ in range(_MOST_STEPS):
        most, left, right = queue[0]
        if -most <= best * (1 + _TOLERANCE):
            break
        middle = at(math.sqrt(left[0] * right[0]) if left[0] > 0 else right[0] / _SMALLER)
        if not left[0] < middle[0] < right[0]:
            break
        best = max(best, middle[1] / (1 + middle[0]))
        heapq.heapreplace(queue, (-bound(left, middle), left, middle))
        heapq.heappush(queue, (-bound(middle, right), middle, right))
    return Interval(lower=best, upper=max(best, min(max(-queue[0][0], rest), beyond(0.0))))


def _chord_rate(left: tuple[float, float, float], right: tuple[float, float, float]) -> float:
    """Largest value of (c + m s) / (s (s + 1)) between two points, of the chord c + m s of s times the divergence."""
    (s, _, low), (t, _, high) = left, right
    if math.isinf(high) or math.isinf(low):
        return math.inf
    if s == 0:
        return high  # a chord through the origin, whose quotient is its slope over the order
    ends = max(low / (1 + s), high / (1 + t))
    slope = (t * high - s * low) / (t - s)
    offset = s * (low - slope)
    if offset >= 0 or slope <= 0:
        return ends
    at = (-offset + math.sqrt(offset * offset - slope * offset)) / slope
    return max(ends, (offset + slope * at) / (at * (at + 1))) if s < at < t else ends
