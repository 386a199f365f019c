"""A Gaussian part released together with independent parts of other kinds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.laws.base import Comparison, Event
from dpaudit.laws.continuous import GaussianComparison
from dpaudit.laws.loss import PrivacyLoss


@dataclass(frozen=True, slots=True, eq=False)
class GaussianProductComparison(Comparison):
    """Privacy loss of a Gaussian part and of a rest that two finite losses enclose.

    The divergence of the two together is that of the Gaussian part at epsilon less the rest's loss, averaged over the
    rest: nothing of the Gaussian part is rounded.
    """

    gaussian: GaussianComparison
    below: PrivacyLoss
    above: PrivacyLoss

    def max_divergence(self) -> float:
        """Infinite, as that of the Gaussian part."""
        return math.inf

    def delta(self, epsilon: float) -> Interval:
        """Bounds from the two losses that enclose the rest."""
        return Interval(lower=self._delta(self.below, epsilon), upper=self._delta(self.above, epsilon))

    def epsilon(self, delta: float) -> Interval:
        """Invert both bounds numerically."""
        if delta == 0:
            return Interval.exact(math.inf)
        return Interval(
            lower=_inverse(lambda epsilon: self._delta(self.below, epsilon), delta),
            upper=_inverse(lambda epsilon: self._delta(self.above, epsilon), delta),
        )

    def worst_event(self, epsilon: float, delta: float) -> Event:
        """All outputs whose privacy loss exceeds ``epsilon``, the rest's loss rounded down."""
        from scipy.special import log_ndtr

        ratio, rest = self.gaussian.ratio, self.below
        distance = (epsilon - rest.losses) / ratio
        return Event(
            outcomes=f"all outputs whose likelihood ratio exceeds e^{epsilon:.10g}",
            log_p=float(np.logaddexp.reduce(rest.log_p + log_ndtr(ratio / 2 - distance))),
            log_q=float(np.logaddexp.reduce(rest.log_q + log_ndtr(-ratio / 2 - distance))),
        )

    def _delta(self, rest: PrivacyLoss, epsilon: float) -> float:
        from scipy.special import log_ndtr

        possible = rest.log_p > -np.inf
        left = epsilon - rest.losses[possible]
        ratio = self.gaussian.ratio
        with np.errstate(invalid="ignore"):
            log_p = log_ndtr(ratio / 2 - left / ratio)
            log_q = left + log_ndtr(-ratio / 2 - left / ratio)
            values = np.exp(log_p) * -np.expm1(np.minimum(0.0, log_q - log_p))
        values = np.where(np.isneginf(left), 1.0, values)
        return math.fsum(np.exp(rest.log_p[possible]) * values)


def _inverse(divergence: Callable[[float], float], delta: float) -> float:
    from scipy.optimize import brentq

    if divergence(0.0) <= delta:
        return 0.0
    high = 1.0
    while divergence(high) > delta:
        high *= 2
        if high > 1e300:
            return math.inf
    return float(brentq(lambda epsilon: divergence(epsilon) - delta, 0.0, high, xtol=1e-12))
