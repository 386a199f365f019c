"""A privacy loss between two finite ones, or equal to one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.laws.base import Comparison, Event
from dpaudit.laws.loss import PrivacyLoss

_MOST_SUMS = 1 << 12


@dataclass(frozen=True, slots=True, eq=False)
class EnclosedLoss(Comparison):
    """Two laws whose privacy loss lies between two finite ones.

    Parameters
    ----------
    below, above
        Losses of a pair of laws that the two laws dominate, and of one that dominates them; the same one where the
        loss is known.
    independent
        Independent parts that the two laws are made of, with how often each occurs; empty where they are not known.
    """

    below: PrivacyLoss
    above: PrivacyLoss
    independent: Sequence[tuple[Comparison, int]] = ()

    @property
    def known_loss(self) -> PrivacyLoss | None:
        """The loss where both sides are the same one."""
        return self.above if self.above is self.below else None

    def max_divergence(self) -> float:
        """Largest loss of the upper side."""
        return self.above.max_divergence()

    def delta(self, epsilon: float) -> Interval:
        """Hockey-stick divergences of both sides."""
        return Interval(lower=min(1.0, self.below.delta(epsilon)), upper=min(1.0, self.above.delta(epsilon)))

    def privacy_profile(self, epsilons: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Hockey-stick divergences of both sides at many epsilons."""
        lower, upper = (np.minimum(side.privacy_profile(epsilons), 1.0) for side in (self.below, self.above))
        return lower, upper

    def epsilon(self, delta: float) -> Interval:
        """Smallest epsilons of both sides."""
        return Interval(lower=self.below.epsilon(delta), upper=self.above.epsilon(delta))

    def worst_event(self, epsilon: float, delta: float) -> Event:
        """All outputs whose privacy loss exceeds ``epsilon``; those of the largest loss where delta is 0."""
        loss = self.below
        possible = loss.losses[loss.log_p > -np.inf]
        level = epsilon if delta > 0 else np.nextafter(possible[-1], -np.inf)
        above = loss.losses > level
        impossible = math.isinf(loss.losses[above].min(initial=math.inf))
        shown = f"all outputs whose likelihood ratio exceeds e^{level:.10g}"
        return Event(
            outcomes="all outputs that the other input never gives" if impossible else shown,
            log_p=float(np.logaddexp.reduce(loss.log_p[above], initial=-np.inf)),
            log_q=float(np.logaddexp.reduce(loss.log_q[above], initial=-np.inf)),
        )


def composed_exactly(parts: Sequence[tuple[PrivacyLoss, int]]) -> PrivacyLoss | None:
    """Loss of independent parts released together, each so many times; None where it has too many values."""
    sums = math.prod(math.comb(count + len(loss.losses) - 1, len(loss.losses) - 1) for loss, count in parts)
    if sums > _MOST_SUMS:
        return None
    total = PrivacyLoss(np.zeros(1), np.zeros(1), np.zeros(1))
    for loss, count in parts:
        power = loss
        while count:
            if count & 1:
                total = total.composed_with(power)
            count >>= 1
            if count:
                power = power.composed_with(power)
    return total
