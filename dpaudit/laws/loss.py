"""Privacy loss as a finite distribution: composition, mixture, privacy profile."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from dpaudit.errors import CheckError

_MOST_SUMS = 1 << 26
_MERGE_DIGITS = 1e-13
"""Losses closer than this, relative to the largest, are the same value up to rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class PrivacyLoss:
    """Distribution of log P(o)/Q(o), with the mass of each value under P and under Q.

    Attributes
    ----------
    losses
        Distinct values in ascending order, shape (k,); may end in ``inf`` (Q misses) or begin with ``-inf``.
    log_p, log_q
        Log-mass of each value under P and under Q, shape (k,).

    References
    ----------
    Sommer, Meiser, Mohammadi, "Privacy Loss Classes", PoPETs 2019.
    """

    losses: np.ndarray
    log_p: np.ndarray
    log_q: np.ndarray

    @classmethod
    def from_log_probabilities(cls, log_p: np.ndarray, log_q: np.ndarray) -> PrivacyLoss:
        """Loss of two laws on the same outcomes, given their log-probabilities."""
        present = (log_p > -np.inf) | (log_q > -np.inf)
        log_p, log_q = log_p[present], log_q[present]
        with np.errstate(invalid="ignore"):
            losses = log_p - log_q
        return cls._merged(losses, log_p, log_q)

    @classmethod
    def _merged(cls, losses: np.ndarray, log_p: np.ndarray, log_q: np.ndarray) -> PrivacyLoss:
        if not losses.size:
            raise CheckError("a privacy loss needs at least one outcome of positive probability")
        order = np.argsort(losses, kind="stable")
        losses, log_p, log_q = losses[order], log_p[order], log_q[order]
        finite = losses[np.isfinite(losses)]
        width = _MERGE_DIGITS * max(1.0, float(np.abs(finite).max()) if finite.size else 1.0)
        with np.errstate(invalid="ignore"):
            new = np.r_[True, ~((losses[1:] == losses[:-1]) | (losses[1:] - losses[:-1] <= width))]
        starts = np.flatnonzero(new)
        # The last of a run of equal losses stands for it: rounding then never lowers an epsilon.
        last = np.r_[starts[1:], len(losses)] - 1
        return cls(losses[last], np.logaddexp.reduceat(log_p, starts), np.logaddexp.reduceat(log_q, starts))

    def composed_with(self, other: PrivacyLoss) -> PrivacyLoss:
        """Loss of two independent parts released together."""
        if len(self.losses) * len(other.losses) > _MOST_SUMS:
            raise CheckError(
                f"the composed privacy loss would have {len(self.losses) * len(other.losses):,} values; "
                "compose fewer parts, or audit by sampling (--method black-box)"
            )
        with np.errstate(invalid="ignore"):
            losses = np.add.outer(self.losses, other.losses).ravel()
        log_p = np.add.outer(self.log_p, other.log_p).ravel()
        log_q = np.add.outer(self.log_q, other.log_q).ravel()
        # An output that either law misses: +inf and -inf may meet in one pair of parts, and nobody can produce it.
        present = (log_p > -np.inf) | (log_q > -np.inf)
        return self._merged(losses[present], log_p[present], log_q[present])

    @classmethod
    def composition(cls, parts: Sequence[PrivacyLoss]) -> PrivacyLoss:
        """Loss of independent parts released together."""
        return reduce(cls.composed_with, parts)

    @classmethod
    def mixture(cls, log_weights: np.ndarray, parts: Sequence[PrivacyLoss]) -> PrivacyLoss:
        """Loss when part i is released with probability exp(``log_weights[i]``), and i with it."""
        losses = np.concatenate([part.losses for part in parts])
        log_p = np.concatenate([weight + part.log_p for weight, part in zip(log_weights, parts, strict=True)])
        log_q = np.concatenate([weight + part.log_q for weight, part in zip(log_weights, parts, strict=True)])
        return cls._merged(losses, log_p, log_q)

    def max_divergence(self) -> float:
        """Largest loss that P can produce."""
        possible = self.losses[self.log_p > -np.inf]
        return float(possible[-1]) if possible.size else -math.inf

    def delta(self, epsilon: float) -> float:
        """Hockey-stick divergence at ``epsilon``: the sum of p (1 - e^(epsilon - loss)) over losses above it."""
        above = self.losses > epsilon
        gaps = np.minimum(epsilon - self.losses[above], 0.0)
        return math.fsum(np.exp(self.log_p[above]) * -np.expm1(gaps))

    def privacy_profile(self, epsilons: np.ndarray) -> np.ndarray:
        """Hockey-stick divergence at many epsilons, shape (k,)."""
        p = np.exp(self.log_p)
        starts = np.searchsorted(self.losses, epsilons, side="right")
        return np.array([np.sum(p[i:] * -np.expm1(e - self.losses[i:])) for i, e in zip(starts, epsilons, strict=True)])

    def epsilon(self, delta: float) -> float:
        """Smallest epsilon >= 0 at which the hockey-stick divergence is at most ``delta``."""
        if delta == 0:
            return max(0.0, self.max_divergence())
        if delta >= 1 or self.delta(0.0) <= delta:
            return 0.0
        # Between two neighbouring losses the divergence is P(tail) - e^epsilon Q(tail), so it can be inverted there.
        positive = self.losses > 0
        losses, log_p, log_q = self.losses[positive], self.log_p[positive], self.log_q[positive]
        # The last grid point at which the divergence still exceeds delta; it falls with epsilon.
        below = np.r_[0.0, losses[:-1]]
        i = bisect_left(range(1, len(below)), True, key=lambda k: self.delta(float(below[k])) <= delta)
        excess = math.exp(np.logaddexp.reduce(log_p[i:])) - delta
        log_q_tail = float(np.logaddexp.reduce(log_q[i:]))
        if excess <= 0:
            return float(losses[i])
        if log_q_tail == -math.inf:
            return math.inf
        return min(max(math.log(excess) - log_q_tail, float(below[i])), float(losses[i]))
