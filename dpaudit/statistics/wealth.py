"""Bets against a privacy guarantee, whose gains are evidence at whatever time one stops."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.claims.guarantees import ApproximateDP, Guarantee

_GRID = 200
"""Points at which the largest allowed probability is computed, for guarantees of which only that is known."""

_SLOPES = 24
_LEAST = 1e-9
_HALVINGS = 40
_LARGEST_LOSS = 0.98
"""Part of the stake that a single output can lose, at most, so that no single output ends the game."""


@dataclass(frozen=True, slots=True)
class PairBet:
    """A bet on one output of each input: that an event is likelier on one input than a guarantee allows.

    One output X of the input on which the event S seems likelier, and one output Y of the other, multiply the wealth
    by (1 + a (1[X in S] - p0)) (1 - a s (1[Y in S] - q0)).

    Attributes
    ----------
    stake
        The factor a.
    slope
        The factor s, of a line p = s q + c that no pair of probabilities lies above which the guarantee allows.
    p0, q0
        A point of that line.

    Notes
    -----
    **Guarantee.** Where the guarantee holds, the factor has a mean of at most 1. With p <= s q + c and d = q - q0, the
    first mean is at most 1 + a s d and the second 1 - a s d; their product is 1 - (a s d)^2. X and Y must be
    independent, and the bet chosen without them.
    """

    stake: float
    slope: float
    p0: float
    q0: float

    def scaled(self, part: float) -> PairBet:
        """Return the bet with a part of its stake, which is a bet of the same kind."""
        return PairBet(self.stake * part, self.slope, self.p0, self.q0)

    def log_gain(self, hits: tuple[int, int], trials: int) -> float:
        """Logarithm of the factor by which occurrences on both inputs, in so many trials on each, multiply wealth."""
        a, b = self.stake, self.stake * self.slope
        return (
            hits[0] * math.log1p(a * (1 - self.p0))
            + (trials - hits[0]) * math.log1p(-a * self.p0)
            + hits[1] * math.log1p(-b * (1 - self.q0))
            + (trials - hits[1]) * math.log1p(b * self.q0)
        )


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
            at = np.clip(slope * middle + intercept, _LEAST, 1 - _LEAST)
            middle_q = np.clip(middle, _LEAST, 1 - _LEAST)
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
    return best, [PairBet(*map(float, column)) for column in found.T]
