"""Mixtures of normal laws: what is left of Gaussian noise where it is random which records take part."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.claims.ranges import array_of, in_range
from dpaudit.errors import CheckError, ParameterError
from dpaudit.laws.base import Comparison, Event, Law, check_distance
from dpaudit.laws.enclosed import EnclosedLoss
from dpaudit.laws.loss import PrivacyLoss
from dpaudit.laws.replaced import SubstitutedGaussianLoss
from dpaudit.laws.sources import (
    FiniteLoss,
    GaussianLoss,
    LossSource,
    log_normal_cells,
    subsampled,
)

_MOST_COMPONENTS = 1 << 10
_CELLS = 1 << 15
_REACH = 13.0
"""Deviations beyond the outermost means at which the cells end; less than 1e-38 lies beyond."""

_SAME = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class GaussianMixtureLaw(Law):
    """A mixture of normal laws of one scale.

    Parameters
    ----------
    locations
        Means, shape (k,), at most 1,024 different ones.
    log_weights
        Log-probabilities of the components, shape (k,); they must add up to 1 within 1e-9.
    scale
        Standard deviation of every component, above 0.

    Raises
    ------
    ParameterError
        Something is out of range.
    """

    locations: np.ndarray
    log_weights: np.ndarray
    scale: float

    def __post_init__(self) -> None:
        places, weights = array_of(self.locations, "locations"), array_of(self.log_weights, "log_weights")
        if places.ndim != 1 or places.shape != weights.shape or not len(places):
            shapes = f"{places.shape} and {weights.shape}"
            raise ParameterError(f"a mixture needs as many weights as means, got arrays of shapes {shapes}")
        if not (np.isfinite(places).all() and in_range(self.scale, 0, without=(0.0,))):
            raise ParameterError("a mixture of normal laws needs finite means and a scale above 0")
        if not abs(float(np.exp(weights).sum()) - 1) <= 1e-9:
            raise ParameterError(f"the weights of a mixture add up to {np.exp(weights).sum():.12g} instead of 1")
        places, inverse = np.unique(places[weights > -np.inf], return_inverse=True)
        merged = np.full(len(places), -np.inf)
        np.logaddexp.at(merged, inverse, weights[weights > -np.inf])
        if len(places) > _MOST_COMPONENTS:
            raise ParameterError(f"a mixture of {len(places)} normal laws is too long; {_MOST_COMPONENTS} is the most")
        object.__setattr__(self, "locations", places)
        object.__setattr__(self, "log_weights", merged)

    def against(self, other: Law) -> GaussianMixtureComparison:
        """Compare with a mixture of the same scale."""
        assert isinstance(other, GaussianMixtureLaw)
        if not math.isclose(self.scale, other.scale, rel_tol=1e-12):
            raise CheckError(
                f"mixtures of normal laws of different scales ({self.scale:g} and {other.scale:g}) cannot be compared "
                "here; audit by sampling (--method black-box)"
            )
        return GaussianMixtureComparison(self, other)


@dataclass(frozen=True, eq=False)
class GaussianMixtureComparison(Comparison):
    """Two mixtures of normal laws of one scale, enclosed from both sides.

    Three cases have a loss that rises with the output and whose intervals' masses are known in closed form: a mixture
    of two against one of its components, the reverse, and the mixtures of a record that is replaced by its opposite.
    Otherwise the line is cut into cells. Cells taken as outputs give the lower side. For the upper one every cell's
    loss is spread to the ends of the range in which it lies: since the loss changes by at most the spread of the means
    over the squared scale for each unit of the output, that range is known.
    """

    p: GaussianMixtureLaw
    q: GaussianMixtureLaw

    def __post_init__(self) -> None:
        spread = float(np.ptp(np.r_[self.p.locations, self.q.locations])) / self.p.scale
        if spread > 0:
            check_distance(spread)

    @cached_property
    def source(self) -> LossSource | None:
        """The loss in closed form, where it has one; None elsewhere."""
        p, q = self.p, self.q
        if len(p.locations) == len(q.locations) == 1 and p.locations[0] != q.locations[0]:
            return GaussianLoss(abs(float(p.locations[0] - q.locations[0])) / p.scale)
        for mixed, single, turned in ((p, q, False), (q, p, True)):
            if len(mixed.locations) == 2 and len(single.locations) == 1:
                place = np.flatnonzero(mixed.locations == single.locations[0])
                if place.size:
                    ratio = float(mixed.locations[1] - mixed.locations[0]) / p.scale
                    loss = subsampled(GaussianLoss(ratio), math.exp(float(mixed.log_weights[1 - place[0]])))
                    return loss.reversed() if turned else loss
        return self._substituted()

    def _substituted(self) -> LossSource | None:
        p, q = self.p, self.q
        if len(p.locations) != 2 or len(q.locations) != 2:
            return None
        shared = np.intersect1d(p.locations, q.locations)
        if len(shared) != 1:
            return None
        (i,), (j,) = np.flatnonzero(p.locations != shared[0]), np.flatnonzero(q.locations != shared[0])
        at_p, at_q = float(p.locations[i] - shared[0]), float(q.locations[j] - shared[0])
        opposite = math.isclose(at_p, -at_q, rel_tol=_SAME)
        if not opposite or not math.isclose(p.log_weights[i], q.log_weights[j], rel_tol=_SAME):
            return None
        return SubstitutedGaussianLoss(abs(at_p) / p.scale, math.exp(float(p.log_weights[i])))

    @cached_property
    def bounding_losses(self) -> tuple[PrivacyLoss, PrivacyLoss]:
        """Privacy losses that enclose this one from below and from above."""
        p, q = self.p, self.q
        means = np.r_[p.locations, q.locations] / p.scale
        low, high = float(means.min()) - _REACH, float(means.max()) + _REACH
        edges = np.linspace(low, high, _CELLS + 1)
        log_p, log_q = (_log_cells(law, np.r_[-np.inf, edges, np.inf]) for law in (p, q))
        below = PrivacyLoss.from_log_probabilities(log_p, log_q)
        reach = float(np.ptp(means)) * (edges[1] - edges[0])
        inside_p, inside_q = log_p[1:-1], log_q[1:-1]
        # Each cell's loss goes to the ends of its range; P's and Q's masses keep their totals.
        more, less = -math.log1p(math.exp(-reach)), -math.log1p(math.exp(reach))
        centre = inside_p - inside_q
        losses = np.r_[centre - reach, centre + reach]
        at_p = np.r_[inside_p + less, inside_p + more]
        at_q = np.r_[inside_q + more, inside_q + less]
        # Beyond the last cells nothing is known of the loss.
        ends_p = np.array([float(np.logaddexp(log_p[0], log_p[-1])), -np.inf])
        ends_q = np.array([-np.inf, float(np.logaddexp(log_q[0], log_q[-1]))])
        order = np.argsort(losses, kind="stable")
        above = PrivacyLoss(
            np.r_[-np.inf, losses[order], np.inf],
            np.r_[ends_p[1], at_p[order], ends_p[0]],
            np.r_[ends_q[1], at_q[order], ends_q[0]],
        )
        return below, above

    def sources(self) -> tuple[LossSource, LossSource]:
        """Losses below and above, to be composed."""
        if self.source is not None:
            return self.source, self.source
        below, above = self.bounding_losses
        return FiniteLoss(below), FiniteLoss(above)

    @cached_property
    def _composed(self) -> Comparison:
        from dpaudit.laws.composed import ComposedComparison

        below, above = self.sources()
        return ComposedComparison([(above, 1)], [(below, 1)])

    @cached_property
    def equal(self) -> bool:
        """Whether both mixtures are the same."""
        p, q = self.p, self.q
        return len(p.locations) == len(q.locations) and bool(
            np.allclose(p.locations, q.locations, rtol=_SAME, atol=0.0)
            and np.allclose(p.log_weights, q.log_weights, rtol=0.0, atol=_SAME)
        )

    def max_divergence(self) -> float:
        """In closed form where the loss has one; otherwise from the outermost components."""
        if self.equal:
            return 0.0
        if self.source is not None:
            return self.source.top
        ends = []
        for place in (0, -1):
            p, q = self.p.locations[place], self.q.locations[place]
            outer = (p < q) if place == 0 else (p > q)
            if outer:
                return math.inf
            ends.append(float(self.p.log_weights[place] - self.q.log_weights[place]) if p == q else -math.inf)
        upper = self.bounding_losses[1]
        inner = upper.losses[(upper.log_p > -np.inf) & np.isfinite(upper.losses)]
        return max(*ends, float(inner[-1]))

    def delta(self, epsilon: float) -> Interval:
        """Enclosure of the hockey-stick divergence."""
        if self.equal:
            return Interval.exact(-math.expm1(min(epsilon, 0.0)))
        if self.source is not None:
            return self._composed.delta(epsilon)
        return EnclosedLoss(*self.bounding_losses).delta(epsilon)

    def epsilon(self, delta: float) -> Interval:
        """Enclosure of the smallest epsilon."""
        if self.equal:
            return Interval.exact(0.0)
        if delta == 0:
            return Interval.exact(max(0.0, self.max_divergence()))
        if self.source is not None:
            return self._composed.epsilon(delta)
        return EnclosedLoss(*self.bounding_losses).epsilon(delta)

    def worst_event(self, epsilon: float, delta: float) -> Event:
        """All outputs whose privacy loss exceeds ``epsilon``."""
        return EnclosedLoss(*self.bounding_losses).worst_event(epsilon, delta)


def _log_cells(law: GaussianMixtureLaw, edges: np.ndarray) -> np.ndarray:
    """Log-masses of the cells between ``edges``, in units of the scale."""
    total = np.full(len(edges) - 1, -np.inf)
    for place, weight in zip((law.locations / law.scale).tolist(), law.log_weights.tolist(), strict=True):
        total = np.logaddexp(total, weight + log_normal_cells(edges, place))
    return total
