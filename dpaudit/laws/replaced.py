"""Privacy losses of a record that is replaced by another one, where batches are random."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpaudit.laws.sources import LossSource, log_normal_cells


@dataclass(frozen=True, slots=True)
class SubstitutedGaussianLoss(LossSource):
    """(1 - rate) N(0) + rate N(ratio) against (1 - rate) N(0) + rate N(-ratio), all of deviation 1.

    A record +1 that takes part with probability ``rate``, replaced by -1, where all other records are 0.
    """

    ratio: float
    rate: float
    bottom = -math.inf
    top = math.inf
    lattice = (0.0, 0.0)

    def _place(self, loss: np.ndarray) -> np.ndarray:
        """Return the output whose loss this is: the root of a quadratic equation in e^(ratio x), for loss >= 0."""
        size = np.abs(loss)
        log_double = math.log(2 * self.rate) - self.ratio**2 / 2
        with np.errstate(invalid="ignore", divide="ignore"):
            rise = -(1 - self.rate) * np.expm1(-size)
            root = np.log(rise + np.hypot(rise, np.exp(log_double - size / 2)))
            x = (size + root - log_double) / self.ratio
        x = np.where(size == 0, 0.0, np.where(np.isinf(size), np.inf, x))
        placed: np.ndarray = np.copysign(x, loss)
        return placed

    def cells(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log-masses of the intervals under the two mixtures."""
        x = self._place(edges)
        centre = math.log1p(-self.rate) + log_normal_cells(x, 0.0)
        sides = (math.log(self.rate) + log_normal_cells(x, place) for place in (self.ratio, -self.ratio))
        log_p, log_q = (np.logaddexp(centre, side) for side in sides)
        return log_p, log_q

    def span(self, log_tail: float) -> tuple[float, float]:
        """Return the losses at both ends of the central part."""
        reach = math.sqrt(-2 * log_tail) + self.ratio
        x = self.ratio * reach - self.ratio**2 / 2
        end = float(np.logaddexp(math.log1p(-self.rate), math.log(self.rate) + x)) - math.log1p(-self.rate)
        return -end, end

    def reversed(self) -> LossSource:
        """Return the same: it is its own mirror image."""
        return self


@dataclass(frozen=True, slots=True)
class SplicedLoss(LossSource):
    """The pair whose divergences are those of ``above`` from e^epsilon = 1 on and those of ``below`` up to it.

    The two must agree at 1; the rest of the mass has the loss 0.

    References
    ----------
    Zhu, Dong, Wang, "Optimal accounting of differential privacy via characteristic function", AISTATS 2022,
    on sampling without replacement under substitution. It follows from advanced joint convexity (Balle, Barthe,
    Gaboardi, "Privacy amplification by subsampling", NeurIPS 2018, Theorem 2).
    """

    above: LossSource
    below: LossSource
    pinned = True

    @property
    def bottom(self) -> float:  # type: ignore[override]
        """That of ``below``."""
        return min(self.below.bottom, 0.0)

    @property
    def top(self) -> float:  # type: ignore[override]
        """That of ``above``."""
        return max(self.above.top, 0.0)

    @property
    def lattice(self) -> tuple[float, float] | None:  # type: ignore[override]
        """Loss 0, where the parts have no single losses."""
        parts = (self.above.lattice, self.below.lattice)
        return (0.0, 0.0) if all(part is not None and part[1] == 0 for part in parts) else None

    def cells(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log-masses of the parts, and what is missing from 1 at the loss 0."""
        zero = int(np.searchsorted(edges, 0.0, side="left"))
        low = np.r_[edges[:zero], -np.finfo(float).tiny]
        high = np.r_[0.0, edges[zero:][edges[zero:] > 0]]
        (low_p, low_q), (high_p, high_q) = self.below.cells(low), self.above.cells(high)
        outside = np.exp(self.below.cells(np.array([-np.inf, -np.finfo(float).tiny]))[0])
        rest = 1 - float(outside[0]) - float(np.exp(self.above.cells(np.array([0.0, np.inf]))[0][0]))
        log_p, log_q = (np.r_[low_side, high_side] for low_side, high_side in ((low_p, high_p), (low_q, high_q)))
        at_zero = math.log(rest) if rest > 0 else -math.inf
        n = len(edges) - 1
        if zero == 0 or zero > n:
            return (high_p[-n:], high_q[-n:]) if zero == 0 else (low_p[:n], low_q[:n])
        # The interval that holds 0 gets the end of one part, the single loss, and the beginning of the other.
        merged = []
        for side in (log_p, log_q):
            middle = side[zero - 1]
            if edges[zero] > 0:
                joined = np.logaddexp(np.logaddexp(middle, side[zero]), at_zero)
                merged.append(np.r_[side[: zero - 1], joined, side[zero + 1 :]])
            else:
                merged.append(np.r_[side[: zero - 1], np.logaddexp(middle, at_zero), side[zero:]])
        return merged[0], merged[1]

    def span(self, log_tail: float) -> tuple[float, float]:
        """From that of ``below`` to that of ``above``."""
        return min(self.below.span(log_tail)[0], 0.0), max(self.above.span(log_tail)[1], 0.0)
