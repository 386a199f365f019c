"""Bounds on a privacy profile at some points, and what follows from them everywhere."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context

import numpy as np

from dpaudit.claims.evidence import Curves, Interval
from dpaudit.claims.guarantees import ProfilePoint
from dpaudit.laws.base import Comparison

LARGEST_EPSILON = 500.0
"""Beyond it e^epsilon leaves the range in which its products with probabilities are safe."""

_NEAR_POINTS, _FAR_POINTS, _FINE_POINTS = 17, 9, 65
_LITTLE = 1e-6
"""Divergence below which little is left to see."""

_TYPE_ONE = np.r_[0.0, 0.001, 0.005, 0.01, 0.02, np.arange(1, 21) / 20]
_DIGITS = 6
_APART = 1e-9
"""Relative distance of e^epsilon below which two points are one, because slopes between them would be rounding."""

_SAME = 1e-12
"""Bounds this close are one value, up to the rounding of double precision."""


class PrivacyProfileBounds:
    """Lower and upper bounds on a privacy profile delta(epsilon) at ascending epsilons >= 0.

    Between the points the bounds follow from convexity: delta is a convex, falling function of e^epsilon that is 1 at
    e^epsilon = 0, because it is the largest of the linear functions P(S) - e^epsilon Q(S).

    Parameters
    ----------
    epsilons
        Distinct, ascending, in [0, 500], shape (k,).
    lower, upper
        Bounds there, in [0, 1], shape (k,), all of them true at once.

    Notes
    -----
    **Guarantee.** Where the bounds given are true, so is everything derived from them: a grid widens what is derived
    and never moves it off the truth.
    **Checked against** closed forms of Laplace and Gaussian laws and of randomized response.
    """

    def __init__(self, epsilons: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
        z = np.exp(epsilons)
        apart = np.r_[True, np.diff(z) > _APART * z[1:]]
        self._z, lower = z[apart], lower[apart]
        self._upper = np.minimum.accumulate(upper[apart])
        lower = np.minimum(np.maximum.accumulate(lower[::-1])[::-1], self._upper)
        slopes = self._slopes(lower)
        from_left = np.r_[0.0, lower[:-1] - slopes[0][:-1] * np.diff(self._z)]
        from_right = np.r_[lower[1:] + slopes[1][:-1] * np.diff(self._z), 0.0]
        self._lower = np.minimum(np.maximum(lower, np.maximum(from_left, from_right)), self._upper)
        self._knots = self._envelope()

    def _slopes(self, lower: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Steepest fall to the right of every point, and least fall to the left of its right neighbour."""
        z = self._z
        falls = (np.r_[1.0, self._upper[:-1]] - lower) / np.diff(z, prepend=0.0)
        rises = np.maximum(lower[:-1] - self._upper[1:], 0.0) / np.diff(z)
        return np.maximum(falls, 0.0), np.r_[rises[1:], 0.0, 0.0]

    def _envelope(self) -> tuple[np.ndarray, np.ndarray]:
        """Points between which the lower bound is linear in e^epsilon; it is 0 beyond the last."""
        z, lower = self._z, self._lower
        left, right = self._slopes(lower)
        steep, gentle, width = left[:-1], right[:-1], np.diff(z)
        # The line that falls steeply from one point and the gentle one that reaches the next cross in between.
        with np.errstate(divide="ignore", invalid="ignore"):
            step = (lower[:-1] - lower[1:] - gentle * width) / (steep - gentle)
        step = np.where((step > 0) & (step < width), step, width)
        value = np.maximum(lower[:-1] - steep * step, lower[1:] + gentle * (width - step))
        last = z[-1] + (lower[-1] / left[-1] if left[-1] > 0 else 0.0)
        knots = np.r_[z, z[:-1] + step, last]
        values = np.r_[lower, np.where(step < width, value, lower[1:]), 0.0]
        order = np.argsort(knots, kind="stable")
        return knots[order], values[order]

    def delta(self, epsilons: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds at any epsilons >= the first point."""
        z = np.exp(np.minimum(epsilons, LARGEST_EPSILON))
        return np.interp(z, *self._knots, right=0.0), np.interp(z, self._z, self._upper)

    def epsilon(self, delta: float) -> Interval:
        """Smallest epsilon >= 0 at which the profile is at most ``delta``; unbounded above where no point shows one."""
        z, lower = self._knots
        beyond = np.flatnonzero(lower > delta)
        least = 0.0
        if beyond.size:
            i = int(beyond[-1])
            least = math.log(z[i] + (z[i + 1] - z[i]) * (lower[i] - delta) / (lower[i] - lower[i + 1]))
        within = np.flatnonzero(self._upper <= delta)
        if not within.size:
            return Interval(lower=max(0.0, least), upper=None)
        i = int(within[0])
        if i == 0:
            return Interval(lower=0.0, upper=float(np.log(self._z[0])))
        share = (self._upper[i - 1] - delta) / (self._upper[i - 1] - self._upper[i])
        most = math.log(self._z[i - 1] + (self._z[i] - self._z[i - 1]) * share)
        return Interval(lower=max(0.0, least), upper=max(most, least))

    def trade_off(
        self, type_one: np.ndarray, reverse: PrivacyProfileBounds | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds on the least type II error at each type I error in [0, 1].

        With delta and rho as the profiles of P against Q and of Q against P, it is the supremum over epsilons >= 0 of
        max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - rho - a)), where the type I error a is a probability under Q.
        The lower bound takes the supremum over the points alone, which errs downwards; the upper one over all
        epsilons, with the lower bounds on both profiles, which errs upwards.

        Parameters
        ----------
        type_one
            Type I errors, shape (k,).
        reverse
            Bounds on the profile of Q against P. Without them these bounds are used for both: with the larger profile
            of the two directions what results is the best symmetric trade-off function that holds, whose upper bound
            is none for the errors of tests, which may be larger.

        References
        ----------
        Dong, Roth, Su, "Gaussian differential privacy", JRSS B 2022, Section 2 (duality with privacy profiles).
        """
        other = self if reverse is None else reverse
        least = np.maximum(_steepest(self._z, self._upper, type_one), _flattest(other._z, other._upper, type_one))
        most = np.maximum(_steepest(*self._knots, type_one), _flattest(*other._knots, type_one))
        return least, np.minimum(most, 1 - type_one)

    def curves(self, epsilons: np.ndarray) -> Curves:
        """Both curves in few digits: bounds rounded outwards, exact values to the nearest."""
        delta_lower, delta_upper = _rounded(*self.delta(epsilons))
        beta_lower, beta_upper = _rounded(*self.trade_off(_TYPE_ONE))
        return Curves(
            epsilon=tuple(epsilons.tolist()),
            delta_lower=delta_lower,
            delta_upper=delta_upper,
            type_one=tuple(_TYPE_ONE.tolist()),
            type_two_lower=beta_lower,
            type_two_upper=beta_upper,
        )


def privacy_curves(comparison: Comparison, reverse: Comparison, point: ProfilePoint | None) -> Curves:
    """Privacy profile and trade-off function of one pair of laws, from its privacy profile at many epsilons.

    Parameters
    ----------
    comparison, reverse
        The two laws in both directions.
    point
        The point of the privacy profile that is claimed, which is shown as well; None where no single point is.
    """
    claimed = 0.0 if point is None else point.epsilon
    top = min(max(_largest_loss(comparison, point), _largest_loss(reverse, point)), LARGEST_EPSILON)
    end = max(top, min(claimed, LARGEST_EPSILON)) or 1.0
    # Where the claim is far off, both the part that matters and the way to the claim are shown.
    shown = short(np.r_[np.linspace(0, top, _NEAR_POINTS), np.linspace(0, end, _FAR_POINTS)])
    if point is not None and claimed <= LARGEST_EPSILON:
        shown = np.unique(np.append(shown, claimed))
    points = np.unique(np.r_[shown, np.linspace(0, top, _FINE_POINTS)])
    lower, upper = np.maximum(comparison.privacy_profile(points), reverse.privacy_profile(points))
    return PrivacyProfileBounds(points, lower, upper).curves(shown)


def _largest_loss(comparison: Comparison, point: ProfilePoint | None) -> float:
    """Largest privacy loss, or where it is infinite the epsilon beyond which little is left to see."""
    largest = comparison.max_divergence()
    if math.isinf(largest):
        little = min(point.delta / 100, _LITTLE) if point is not None and point.delta > 0 else _LITTLE
        largest = comparison.epsilon(little).upper or 0.0
    return largest if math.isfinite(largest) else 2 * max(1.0 if point is None else point.epsilon, 1.0)


def short(values: np.ndarray) -> np.ndarray:
    """Numbers to six significant digits, ascending and distinct."""
    return np.unique([float(f"{value:.{_DIGITS}g}") for value in values])


def _steepest(z: np.ndarray, delta: np.ndarray, type_one: np.ndarray) -> np.ndarray:
    """Supremum over points of 1 - delta - z a, at least 0."""
    lines: np.ndarray = np.maximum((1 - delta - z * type_one[:, None]).max(axis=1), 0.0)
    return lines


def _flattest(z: np.ndarray, delta: np.ndarray, type_one: np.ndarray) -> np.ndarray:
    """Supremum over points of (1 - delta - a) / z, at least 0."""
    lines: np.ndarray = np.maximum(((1 - delta - type_one[:, None]) / z).max(axis=1), 0.0)
    return lines


def _rounded(lower: np.ndarray, upper: np.ndarray) -> tuple[tuple[float, ...], tuple[float, ...]]:
    pairs = []
    for low, high in zip(lower.tolist(), upper.tolist(), strict=True):
        if high - low <= _SAME * max(high, 1e-3):
            pairs.append((_round((low + high) / 2, ROUND_HALF_EVEN),) * 2)
        else:
            pairs.append((_round(low, ROUND_FLOOR), _round(high, ROUND_CEILING)))
    below, above = zip(*pairs, strict=True)
    return tuple(below), tuple(above)


def _round(value: float, way: str) -> float:
    return float(Context(prec=_DIGITS, rounding=way).create_decimal(value))
