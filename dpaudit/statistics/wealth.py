"""Bets against a privacy guarantee, whose gains are evidence at whatever time one stops."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from dpaudit.claims.guarantees import ApproximateDP, Guarantee

_GRID = 200
"""Points at which the largest allowed probability is computed, for guarantees of which only that is known."""

_SLOPES = 24
_LEAST = 1e-9
_HALVINGS = 40
_LARGEST_LOSS = 0.98
"""Part of the stake that a single output can lose, at most, so that no single output ends the game."""


_NEWTON_STEPS = 30
_CLOSE = 1e-12
_ARMIJO = 0.1
"""Newton's method for the points of a bet on two events: steps, the fall of the sum at which it ends, and the part of
the fall that its slope predicts which a step must reach."""

Hits = tuple[int, int]
Probabilities = tuple[Any, Any]


class PairHits(NamedTuple):
    """Occurrences, on the first input and on the other, of an event that seems likelier on the first input.

    ``opposite`` are those of one that seems likelier on the other; the two have no output in common.
    """

    event: Hits
    opposite: Hits = (0, 0)


NO_HITS = PairHits((0, 0))
"""Of no trials."""


@dataclass(frozen=True, slots=True)
class PairBet:
    """A bet on one output of each input: that each of two events is likelier on one than a guarantee allows.

    The event S seems likelier on the first input, and the event T, which has no output in common with it, on the other.
    One output X of the first input and one output Y of the other multiply the wealth by
    (1 + a (1[X in S] - p0) - b t (1[X in T] - v0)) (1 - a s (1[Y in S] - q0) + b (1[Y in T] - u0)).

    Attributes
    ----------
    stake, opposite_stake
        The factors a and b; b is 0 where nothing is bet on T.
    slope, opposite_slope
        The factors s and t, of lines p = s q + c and u = t v + d that no pair of probabilities lies above which the
        guarantee allows.
    point, opposite_point
        Points of these lines: (p0, q0), and (u0, v0).

    Notes
    -----
    **Guarantee.** Where the guarantee holds, the factor has a mean of at most 1. Let S have probabilities p and q, and
    T have v and u. With p - p0 <= s (q - q0) and u - u0 <= t (v - v0), the two means exceed 1 by amounts whose sum is
    at most 0; neither is negative, so that their product is at most 1. X and Y must be independent, and the bet chosen
    without them.
    """

    stake: float
    slope: float
    point: tuple[float, float]
    opposite_stake: float = 0.0
    opposite_slope: float = 1.0
    opposite_point: tuple[float, float] = (0.0, 0.0)

    def scaled(self, part: float) -> PairBet:
        """Return the bet with a part of its stakes, which is a bet of the same kind."""
        return replace(self, stake=self.stake * part, opposite_stake=self.opposite_stake * part)

    def log_gain(self, hits: PairHits, trials: int) -> float:
        """Logarithm of the factor by which occurrences on both inputs, in so many trials on each, multiply wealth."""
        a, b, (p0, q0), (u0, v0) = self.stake, self.opposite_stake, self.point, self.opposite_point
        (on_x, on_y), (opposite_on_x, opposite_on_y) = hits
        of_x = _log_gain((a, -b * self.opposite_slope), (p0, v0), (on_x, opposite_on_x), trials)
        return of_x + _log_gain((-a * self.slope, b), (q0, u0), (on_y, opposite_on_y), trials)


def _log_gain(stakes: tuple[float, float], probabilities: tuple[float, float], hits: Hits, trials: int) -> float:
    """Logarithm of the factor by which occurrences of two disjoint events multiply wealth, less their means."""
    mean = sum(stake * probability for stake, probability in zip(stakes, probabilities, strict=True))
    gained = sum(count * math.log1p(stake - mean) for stake, count in zip(stakes, hits, strict=True) if count)
    return gained + (trials - sum(hits)) * math.log1p(-mean)


def lines_above(guarantee: Guarantee) -> np.ndarray:
    """Lines, each as its slope and its intercept, that no pair of probabilities which is allowed lies above.

    Notes
    -----
    **Guarantee.** p <= slope q + intercept wherever p <= `Guarantee.most` (q). Between points of a grid, that follows
    from its rising.
    """
    if isinstance(guarantee, ApproximateDP):
        return np.array([[math.exp(min(guarantee.epsilon, 700.0)), guarantee.delta]])
    grid = np.unique(np.r_[0.0, np.geomspace(_LEAST, 1.0, _GRID // 2), np.linspace(0.0, 1.0, _GRID // 2)])
    most = np.array([guarantee.most(float(q)) for q in grid])
    slopes = np.unique(np.maximum(np.diff(most), 0.0) / np.diff(grid))
    slopes = slopes[(slopes > 0) & np.isfinite(slopes)]
    slopes = slopes[np.unique(np.linspace(0, len(slopes) - 1, min(_SLOPES, len(slopes))).astype(int))]
    intercepts = [float(np.max(most[1:] - slope * grid[:-1])) for slope in slopes]
    return np.stack([slopes, np.maximum(intercepts, 0.0)], axis=1) if len(slopes) else np.empty((0, 2))


def best_bets(lines: np.ndarray, p: Any, q: Any) -> tuple[np.ndarray, list[PairBet]]:
    """Bets that gain most, on average, where an event has these probabilities.

    Parameters
    ----------
    lines
        As `lines_above` returns them.
    p, q
        Probabilities on the input where the event seems likelier and on the other, arrays of one shape, in (0, 1).

    Returns
    -------
    growth : ndarray
        Mean logarithm of the factor of one output on each input; 0 where the guarantee allows the probabilities.
    bets : list of PairBet
        The bets, with a stake of 0 where there is nothing to gain.

    Notes
    -----
    Of all bets against one line this one gains most: the point of the line is that with the least sum of relative
    entropies. Turner, Ly and Grünwald, "Generic E-variables for exact sequential k-sample tests that allow for optional
    stopping", Journal of Statistical Planning and Inference 230, 2024.
    """
    p, q = (np.atleast_1d(np.asarray(value, float)) for value in (p, q))
    best = np.zeros(len(p))
    found = np.zeros((4, len(p)))
    for slope, intercept in lines:
        low, high = q, np.minimum((p - intercept) / slope, 1.0)
        beyond = high > low
        if not beyond.any():
            continue
        low, high = np.where(beyond, low, 0.25), np.where(beyond, high, 0.25)
        for _ in range(_HALVINGS):
            # The sum of the relative entropies falls as long as its derivative is below 0.
            middle = (low + high) / 2
            # As numpy.clip, whose checks take longer than this.
            at = np.minimum(np.maximum(slope * middle + intercept, _LEAST), 1 - _LEAST)
            middle_q = np.minimum(np.maximum(middle, _LEAST), 1 - _LEAST)
            rising = (middle_q - q) / (middle_q * (1 - middle_q)) > slope * (p - at) / (at * (1 - at))
            low, high = np.where(rising, low, middle), np.where(rising, middle, high)
        q0 = np.clip((low + high) / 2, _LEAST, 1 - _LEAST)
        p0 = slope * q0 + intercept
        usable = beyond & (p0 < 1) & (p0 < p)
        p0 = np.where(usable, p0, 0.5)
        stake = np.where(usable, (p - p0) / (p0 * (1 - p0)), 0.0)
        stake = np.minimum(stake, _LARGEST_LOSS / np.maximum(p0, slope * (1 - q0)))
        growth = (
            p * np.log1p(stake * (1 - p0))
            + (1 - p) * np.log1p(-stake * p0)
            + q * np.log1p(-stake * slope * (1 - q0))
            + (1 - q) * np.log1p(stake * slope * q0)
        )
        better = usable & (growth > best)
        best = np.where(better, growth, best)
        found = np.where(better, np.stack([stake, np.full(len(p), slope), p0, q0]), found)
    return best, [PairBet(stake, slope, (p0, q0)) for stake, slope, p0, q0 in found.T.tolist()]


def joint_bets(lines: np.ndarray, event: Probabilities, opposite: Probabilities) -> tuple[np.ndarray, list[PairBet]]:
    """Bets that gain most, on average, where two events without a common output have these probabilities.

    Parameters
    ----------
    lines
        As `lines_above` returns them.
    event
        Probabilities of the event that seems likelier on the first input, on that and on the other; two arrays of one
        shape, in (0, 1).
    opposite
        Those of the event that seems likelier on the other input, on that and on the first.

    Returns
    -------
    growth, bets
        As of `best_bets`. Where only one of the events breaks the guarantee, or it is worth more alone, nothing is bet
        on the opposite one, or on the other.

    Notes
    -----
    The points are those from which the probabilities of the two events and of neither have the least sum of relative
    entropies, the points being on the lines by which each event gains most alone. That sum is convex in the two
    probabilities which determine them, and Newton's method finds its least value. The guarantee of `PairBet` does not
    depend on how well it does.
    """
    p, q, u, v = (np.atleast_1d(np.asarray(value, float)) for value in (*event, *opposite))
    of_both, made = best_bets(lines, np.concatenate([p, u]), np.concatenate([q, v]))
    growth, other_growth, bets, others = of_both[: len(p)], of_both[len(p) :], made[: len(p)], made[len(p) :]
    best = np.maximum(growth, other_growth)
    found = [
        one if at_least else PairBet(0.0, 1.0, (0.0, 0.0), other.stake, other.slope, other.point)
        for one, other, at_least in zip(bets, others, growth >= other_growth, strict=True)
    ]
    both = np.flatnonzero((growth > 0) & (other_growth > 0))
    if len(both):
        joint = _joint(
            np.array([[_line(bets[i]), _line(others[i])] for i in both]).T, p[both], q[both], u[both], v[both]
        )
        for i, reached, bet in zip(both, *joint, strict=True):
            if reached > best[i]:
                best[i], found[i] = reached, bet
    return best, found


def _line(bet: PairBet) -> tuple[float, float]:
    """Slope and intercept of the line that a bet is against."""
    return bet.slope, bet.point[0] - bet.slope * bet.point[1]


@np.errstate(divide="ignore", invalid="ignore", over="ignore")
def _joint(
    lines: np.ndarray, p: np.ndarray, q: np.ndarray, u: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, list[PairBet]]:
    """Bets on both events, of either of which each alone may gain; ``lines`` has shape (2, 2, size)."""
    (s, t), (c, d) = lines
    on_x, on_y = (np.maximum(1 - one - other, _LEAST) for one, other in ((p, v), (q, u)))

    def points(y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, ...]:
        p0, u0 = s * y + c, t * z + d
        return p0, y, u0, z, 1 - p0 - z, 1 - y - u0

    def entropy(y: np.ndarray, z: np.ndarray) -> np.ndarray:
        at = np.stack(points(y, z))
        logarithms = np.log(np.where(at > 0, at, 1.0))
        total = -(np.stack([p, q, u, v, on_x, on_y]) * logarithms).sum(axis=0)
        return np.where((at > 0).all(axis=0), total, np.inf)

    y = z = np.minimum((1 - c) / (1 + s), (1 - d) / (1 + t)) / 2
    value = entropy(y, z)
    for _ in range(_NEWTON_STEPS):
        p0, q0, u0, v0, x_rest, y_rest = points(y, z)
        # Derivatives by the two probabilities.
        by_y = -p * s / p0 - q / q0 + on_x * s / x_rest + on_y / y_rest
        by_z = -u * t / u0 - v / v0 + on_x / x_rest + on_y * t / y_rest
        yy = p * (s / p0) ** 2 + q / q0**2 + on_x * (s / x_rest) ** 2 + on_y / y_rest**2
        zz = u * (t / u0) ** 2 + v / v0**2 + on_x / x_rest**2 + on_y * (t / y_rest) ** 2
        yz = on_x * s / x_rest**2 + on_y * t / y_rest**2
        # Slopes may be as large as numbers can be: where a step cannot be worked out, none is made.
        steps = np.stack([yz * by_z - zz * by_y, yz * by_y - yy * by_z]) / (yy * zz - yz**2)
        to_y, to_z = np.where(np.isfinite(steps).all(axis=0), steps, 0.0)
        falling = -(by_y * to_y + by_z * to_z)
        if (falling <= _CLOSE).all():
            break
        part = np.ones_like(y)
        for _ in range(_HALVINGS):
            ahead = entropy(y + part * to_y, z + part * to_z)
            short = ahead > value - _ARMIJO * part * falling
            if not short.any():
                break
            part = np.where(short, part / 2, part)
        better = ahead < value
        y, z, value = (
            np.where(better, new, old) for new, old in ((y + part * to_y, y), (z + part * to_z, z), (ahead, value))
        )
        if not better.any():
            break
    p0, q0, u0, v0, x_rest, y_rest = points(y, z)
    a, b = np.maximum(p / p0 - on_x / x_rest, 0.0), np.maximum(u / u0 - on_y / y_rest, 0.0)
    x_mean, y_mean = a * p0 - b * t * v0, b * u0 - a * s * q0
    loss = np.max([x_mean, x_mean + b * t, y_mean, y_mean + a * s], axis=0)
    kept = np.minimum(1.0, _LARGEST_LOSS / np.maximum(loss, _LEAST))
    a, b, x_mean, y_mean = (kept * each for each in (a, b, x_mean, y_mean))
    growth = (
        p * np.log1p(a - x_mean)
        + v * np.log1p(-b * t - x_mean)
        + on_x * np.log1p(-x_mean)
        + q * np.log1p(-a * s - y_mean)
        + u * np.log1p(b - y_mean)
        + on_y * np.log1p(-y_mean)
    )
    made = np.stack([a, s, p0, q0, b, t, u0, v0], axis=1).tolist()
    return growth, [PairBet(a, s, (p0, q0), b, t, (u0, v0)) for a, s, p0, q0, b, t, u0, v0 in made]
