"""The comparison of two laws that release many independent parts, enclosed from both sides."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.errors import CheckError
from dpaudit.laws.base import Comparison, Event
from dpaudit.laws.composition import GridComposition, WindowError
from dpaudit.laws.grid import LOG_TAIL, extent, fitted_step, loss_above, loss_below
from dpaudit.laws.sources import LossSource

EPSILON_WIDTH = 1e-5
"""Width of an enclosure of epsilon that is aimed at, relative where epsilon is above 1."""

DELTA_WIDTH = 5e-5
"""Width of an enclosure of delta that is aimed at, relative to delta."""

_FIRST_CELLS, _MOST_CELLS = 1 << 12, 1 << 20
_REFINEMENTS = 6
_NOTHING = 16.0
"""Minus the log of the part of delta that is nothing, about 1e-7."""

_LEAST = 1e-20
_SEARCHES = 4
_PROFILE_TILTS, _PROFILE_CELLS = 16, 1 << 14


@dataclass(frozen=True, eq=False)
class ComposedComparison(Comparison):
    """Independent parts released together, each so many times.

    Parameters
    ----------
    above
        Losses that dominate the parts', with how often each occurs: (loss, count).
    below
        Losses that the parts' dominate; by default those above, which then are the parts' own.
    fineness
        How many times narrower than usual enclosures shall be, as far as grids allow.
    independent
        The parts themselves, with how often each occurs; empty where they are not known.

    Notes
    -----
    **Guarantee.** Every interval encloses the truth, up to the rounding of special functions and sums that the modules
    `grid` and `composition` account for. It is narrowed until it is 1e-5 wide (of epsilon, relatively above 1) or 5e-5
    wide (of delta, relatively), or as narrow as the largest grid allows.
    **Checked against** closed forms (Gaussian laws, binomial laws of randomized response), and dp-accounting's
    pessimistic and optimistic distributions.
    """

    above: Sequence[tuple[LossSource, int]]
    below: Sequence[tuple[LossSource, int]] = ()
    fineness: float = 1.0
    independent: Sequence[tuple[Comparison, int]] = ()
    _kept: dict[tuple[float, float], tuple[GridComposition, GridComposition]] = field(default_factory=dict, repr=False)
    _known: dict[tuple[str, float], Interval] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not self.above:
            raise CheckError("a composition needs at least one part")
        if not self.below:
            object.__setattr__(self, "below", self.above)

    def max_divergence(self) -> float:
        """Sum over the parts; of their upper bounds where only bounds are known."""
        if any(source.infinite > 0 for source, _ in self.above):
            return math.inf
        return math.fsum(count * source.top for source, count in self.above)

    def _grids(self, step: float, log_tail: float) -> tuple[GridComposition, GridComposition]:
        """Return the losses below and above on grids of this step, but for so much mass."""
        key = step, log_tail
        if key not in self._kept:
            if len(self._kept) >= 3:
                self._kept.pop(next(iter(self._kept)))
            below = GridComposition([(loss_below(source, step, log_tail), count) for source, count in self.below])
            above = GridComposition([(loss_above(source, step, log_tail), count) for source, count in self.above])
            self._kept[key] = below, above
        return self._kept[key]

    def _widest(self, log_tail: float) -> float:
        """Length of the longest grid."""
        extents = [extent(source, log_tail) for source, _ in (*self.above, *self.below)]
        return max(high - low for low, high in extents) or 1.0

    def _log_tail(self, delta: float) -> float:
        """Log of a mass that is nothing beside ``delta``, even where every part leaves it out."""
        count = sum(count for _, count in self.above)
        return math.log(max(delta, 1e-300)) - math.log(count) - _NOTHING

    def _fitted(self, step: float) -> float:
        return fitted_step([source for source, _ in (*self.above, *self.below)], step)

    def _enclosed(
        self,
        ask: Callable[[GridComposition, GridComposition], Interval],
        width: Callable[[Interval], float],
        log_tail: float,
    ) -> Interval:
        """Refine the grid until the enclosure is narrow enough; every enclosure on the way is true."""
        widest = self._widest(log_tail)
        step, finest = widest / _FIRST_CELLS, widest / _MOST_CELLS
        found = Interval(lower=0.0, upper=math.inf)
        for _ in range(_REFINEMENTS):
            try:
                new = ask(*self._grids(self._fitted(step), log_tail))
            except WindowError:
                step *= 2
                finest = max(finest, step)
                continue
            found = _intersection(found, new)
            excess = width(found) * self.fineness
            if excess <= 1 or step <= finest:
                break
            # The width falls with the square of the step.
            wanted = step / min(math.sqrt(2 * excess), 256.0) if math.isfinite(excess) else step / 16
            step = max(wanted, finest)
        return found

    def delta(self, epsilon: float) -> Interval:
        """Enclosure of the hockey-stick divergence."""
        if ("delta", epsilon) not in self._known:
            self._known["delta", epsilon] = self._delta(epsilon)
        return self._known["delta", epsilon]

    def _delta(self, epsilon: float) -> Interval:
        if epsilon >= self.max_divergence():
            return Interval.exact(0.0)

        def ask(below: GridComposition, above: GridComposition) -> Interval:
            low = below.tilted(below.tilt_at(epsilon)).bounds(epsilon)[0]
            high = above.tilted(above.tilt_at(epsilon)).bounds(epsilon)[1]
            return Interval(lower=max(0.0, low), upper=min(1.0, high))

        # The first grid reaches far out, and says how far is far enough.
        first = ask(*self._grids(self._fitted(self._widest(LOG_TAIL) / _FIRST_CELLS), LOG_TAIL))
        found = self._enclosed(
            ask, _excess_delta, self._log_tail(max(first.lower or 0.0, _LEAST * (first.upper or 0.0)))
        )
        return _intersection(found, first)

    def privacy_profile(self, epsilons: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds at many epsilons, on one grid."""
        below, above = self._grids(self._fitted(self._widest(LOG_TAIL) / _PROFILE_CELLS), LOG_TAIL)
        top = self.max_divergence()
        lower, upper = np.zeros(len(epsilons)), np.where(epsilons >= top, 0.0, 1.0)
        within = epsilons[epsilons < top]
        # Tilted laws at a few of the epsilons serve those between them; every bound is a true one.
        aims = np.unique(np.quantile(within, np.linspace(0.0, 1.0, _PROFILE_TILTS))) if within.size else within
        laws = [(below.tilted(below.tilt_at(aim)), above.tilted(above.tilt_at(aim))) for aim in aims.tolist()]
        for i, epsilon in enumerate(epsilons.tolist()):
            if epsilon < top:
                near = int(np.searchsorted(aims, epsilon))
                chosen = laws[max(0, near - 1) : near + 1]
                lower[i] = max(0.0, *(low.bounds(epsilon)[0] for low, _ in chosen))
                upper[i] = min(1.0, *(high.bounds(epsilon)[1] for _, high in chosen))
        return lower, upper

    def epsilon(self, delta: float) -> Interval:
        """Enclosure of the smallest epsilon at which the divergence is at most ``delta``."""
        if ("epsilon", delta) not in self._known:
            self._known["epsilon", delta] = self._epsilon(delta)
        return self._known["epsilon", delta]

    def _epsilon(self, delta: float) -> Interval:
        if delta == 0:
            return Interval.exact(max(0.0, self.max_divergence()))
        if delta >= 1:
            return Interval.exact(0.0)

        def ask(below: GridComposition, above: GridComposition) -> Interval:
            low = _epsilon(below, delta, upper=False)
            high = min(_epsilon(above, delta, upper=True), self.max_divergence())
            return Interval(lower=max(0.0, low), upper=max(0.0, high))

        return self._enclosed(ask, _excess_epsilon, self._log_tail(delta))

    def worst_event(self, epsilon: float, delta: float) -> Event:
        """All outputs whose privacy loss exceeds ``epsilon``, the losses rounded down."""
        level = epsilon if delta > 0 else min(epsilon, self.max_divergence() - 1e-9)
        below = self._grids(self._fitted(self._widest(LOG_TAIL) / _FIRST_CELLS), LOG_TAIL)[0]
        log_p, log_q = below.tilted(below.tilt_at(level)).log_tails(level)
        return Event(outcomes=f"all outputs whose likelihood ratio exceeds e^{level:.10g}", log_p=log_p, log_q=log_q)


def _excess_delta(found: Interval) -> float:
    lower, upper = found.lower or 0.0, math.inf if found.upper is None else found.upper
    return (upper - lower) / (DELTA_WIDTH * max(lower, 1e-300)) if upper > lower else 0.0


def _excess_epsilon(found: Interval) -> float:
    lower, upper = found.lower or 0.0, math.inf if found.upper is None else found.upper
    return (upper - lower) / (EPSILON_WIDTH * max(lower, 1.0)) if upper > lower else 0.0


def _intersection(one: Interval, other: Interval) -> Interval:
    lower = max(one.lower or 0.0, other.lower or 0.0)
    upper = min(math.inf if one.upper is None else one.upper, math.inf if other.upper is None else other.upper)
    # Exact values may cross by rounding.
    return Interval(lower=min(lower, upper), upper=max(lower, upper))


def _epsilon(grid: GridComposition, delta: float, *, upper: bool) -> float:
    """Best bound on epsilon over some tilts; each is a true one."""
    if grid.infinite > delta:
        return math.inf
    found: list[float] = []
    tilt = grid.tilt_for(delta)
    for _ in range(_SEARCHES):
        law = grid.tilted(tilt)
        value = law.epsilon(delta, upper=upper)
        found.append(value)
        aim = value
        if math.isinf(value):
            aim = law.mean + 2 * law.deviation if upper else law.mean - 2 * law.deviation
        if math.isfinite(value) and abs(value - law.mean) <= 0.25 * law.deviation:
            break
        new = grid.tilt_at(aim)
        if abs(new - tilt) <= 1e-2 * max(new, tilt):
            break
        tilt = new
    return min(found) if upper else max(found)
