"""Many steps of Gaussian noise on records that take part at random: Renyi divergences in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.laws.composed import ComposedComparison

_LARGEST_ORDER = 1 << 16
"""Order beyond which the largest term alone is looked at."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SubsampledGaussianSteps(ComposedComparison):
    """(1 - rate) N(0) + rate N(ratio) against N(0), of deviation 1, or the reverse, each so many times.

    Parameters
    ----------
    ratio, rate, steps
        Distance of the means, above 0; probability that the record takes part, above 0 and below 1; number of steps.
    removed
        Whether the mixture is the first law.

    Notes
    -----
    **Guarantee.** Of a whole order alpha, the mixture's moment is the sum over k of C(alpha, k) (1 - rate)^(alpha - k)
    rate^k e^(k (k - 1) ratio^2 / 2), all of whose terms are positive. Between whole orders it is enclosed, because the
    order less one times the divergence is convex in the order. In the other direction divergences are no larger
    (Mironov, Talwar, Zhang, Theorem 5). All are at most those without sampling, order ratio^2 / 2. For large orders
    those of the mixture come as near to that as one likes, relatively, because of the term k = alpha: sampling takes
    nothing off rho.
    **Checked against** numerical integration.

    References
    ----------
    Mironov, Talwar, Zhang, "Renyi differential privacy of the sampled Gaussian mechanism", 2019, Section 3.
    """

    ratio: float
    rate: float
    steps: int
    removed: bool

    def renyi(self, order: float) -> Interval:
        """Renyi divergence: exact for whole orders of the mixture; from above alone in the other direction."""
        if math.isinf(order):
            return Interval.exact(max(0.0, self.max_divergence()))
        most = order * self._rho
        if order > _LARGEST_ORDER:
            lower = max(0.0, self.steps * (order / (order - 1) * math.log(self.rate) + order * self.ratio**2 / 2))
            return Interval(lower=lower if self.removed else 0.0, upper=most)
        below = max(1, math.floor(order))
        moments = [self._log_moment(each) for each in range(max(1, below - 1), below + 3)]
        here = moments[-3]
        if order == below:
            lower = upper = here
        else:
            share = order - below
            upper = (1 - share) * here + share * moments[-2]
            # A convex function is above its chords' continuations.
            lower = max(0.0, moments[-2] - (1 - share) * (moments[-1] - moments[-2]))
            if len(moments) > 3:
                lower = max(lower, here + share * (here - moments[-4]))
        if order == 1:
            return Interval(lower=0.0, upper=self.steps * self._log_moment(2))
        lower, upper = (self.steps * value / (order - 1) for value in (lower, upper))
        upper = min(upper, most)
        return Interval(lower=min(lower, upper) if self.removed else 0.0, upper=upper)

    def concentration(self) -> Interval:
        """That without sampling, which large orders of the mixture come to."""
        return Interval(lower=self._rho if self.removed else 0.0, upper=self._rho)

    @property
    def _rho(self) -> float:
        return self.steps * self.ratio**2 / 2

    def _log_moment(self, order: int) -> float:
        """Order less one times the mixture's divergence of a whole order, in one step."""
        from scipy.special import gammaln

        k = np.arange(2, order + 1)  # the other terms are what they are without any distance
        if not k.size:
            return 0.0
        logs = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
        logs = logs + (order - k) * math.log1p(-self.rate) + k * math.log(self.rate)
        grown = k * (k - 1) * (self.ratio**2 / 2)
        terms = logs + grown + np.log(-np.expm1(-grown))
        return float(np.logaddexp(0.0, np.logaddexp.reduce(terms)))
