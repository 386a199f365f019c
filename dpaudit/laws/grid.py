"""Privacy losses on a grid that enclose another one from above and from below."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpaudit.laws.sources import FiniteLoss, LossSource, rounding

LOG_TAIL = -92.0
"""Log of the mass beyond the ends of a grid where nothing else is asked for, about 1e-40."""

_SHARE = 0.9
"""Largest part of an interval that goes to its neighbours."""

_ROUNDS = 60
_NUDGE = 1e-12
"""How far single losses lie above the points of the grid below, so that rounding does not put them under these."""


@dataclass(frozen=True, slots=True, eq=False)
class GridLoss:
    """Masses under P of the losses ``start + step * j``, j = 0, 1, ..., and of an infinite loss.

    Attributes
    ----------
    start, step
        First loss and spacing.
    masses
        Shape (n,), not negative. They need not add up to 1: what is missing has the loss minus infinity.
    infinite
        Mass where Q has none.
    """

    start: float
    step: float
    masses: np.ndarray
    infinite: float

    @property
    def losses(self) -> np.ndarray:
        """The losses, shape (n,)."""
        values: np.ndarray = self.start + self.step * np.arange(len(self.masses))
        return values


_ON_A_POINT = 1e-6
"""Part of a step by which a single loss may miss its point."""


_FOLLOWED = 64
_SETTLED = 0.01
"""Part of a step by which an edge may miss the middle of its interval."""


def extent(source: LossSource, log_tail: float = LOG_TAIL) -> tuple[float, float]:
    """Ends beyond which the loss has mass e^``log_tail`` at most."""
    low, high = source.span(log_tail)
    return max(low, source.bottom), min(high, source.top)


def fitted_step(sources: Sequence[LossSource], step: float) -> float:
    """Return the largest step, at most ``step``, that divides the lattice of the first source that has one.

    Where there is nothing besides single losses on one lattice, its own spacing is all that is needed.
    """
    lattices = [source.lattice for source in sources if source.lattice is None or source.lattice[1] > 0]
    spacing = next((lattice[1] for lattice in lattices if lattice is not None), 0.0)
    if spacing == 0:
        return step
    if all(
        isinstance(source, FiniteLoss)
        and source.lattice is not None
        and math.isclose(source.lattice[1] or spacing, spacing, rel_tol=1e-14)
        for source in sources
    ):
        return spacing
    return spacing / max(1, math.ceil(spacing / step * (1 - 1e-12)))


def loss_above(source: LossSource, step: float, log_tail: float = LOG_TAIL) -> GridLoss:
    """Loss on a grid that dominates the source: at the grid's points both have the same hockey-stick divergence.

    Every interval's mass goes to its two ends, P's and Q's share of each end being such that both keep their totals.
    The divergence, a convex function of e^epsilon, is thereby replaced by its chords.

    References
    ----------
    Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, "Connect the dots: tighter discrete approximations of privacy loss
    distributions", PoPETs 2022.
    """
    start, count = _points(source, step, 0.0, log_tail)
    edges = start + step * np.arange(-1, count + 1)
    log_p, log_q = source.cells(np.r_[-np.inf, edges, np.inf])
    error = rounding(log_p, log_q)
    p = np.exp(log_p) * (1 + error)
    with np.errstate(invalid="ignore"):
        # Of an interval's mass under P, the part at its upper end.
        kept = np.exp(edges[:-1] + log_q[1:-1] - log_p[1:-1])
        part = np.clip((1 - kept * (1 - 2 * error[1:-1]) + 2 * error[1:-1]) / -math.expm1(-step), 0.0, 1.0)
        beyond = np.clip(1 - np.exp(edges[-1] + log_q[-1] - log_p[-1]) * (1 - 2 * error[-1]), 0.0, 1.0)
    masses = np.zeros(count + 2)
    inside = p[1:-1] > 0
    masses[:-1][inside] += (p[1:-1] * (1 - part))[inside]
    masses[1:][inside] += (p[1:-1] * part)[inside]
    masses *= 1 + 1e-14
    masses[0] += p[0]
    infinite = source.infinite
    if p[-1] > 0:
        masses[-1] += p[-1]
        infinite += float(p[-1] * beyond)
    return GridLoss(float(edges[0]), step, masses, min(1.0, infinite))


def loss_below(source: LossSource, step: float, log_tail: float = LOG_TAIL) -> GridLoss:
    """Loss on a grid that the source dominates: outputs are merged so that each merged loss is a point of the grid.

    The outputs between the middles of the grid's intervals are merged first. Where the loss that results is too small
    for its point, a part of the next outputs is merged with them, and where it is too large, a part of those before.
    What cannot be brought to its point is moved down to the one before.

    Notes
    -----
    Merging outputs is data processing. The divergence, a convex function of e^epsilon, is thereby replaced by tangents
    that meet at the grid's points.
    """
    nudge = 0.0
    if source.lattice is not None and source.lattice[1] > 0:
        nudge = _NUDGE * max(1.0, abs(source.bottom), abs(source.top))
    start, count = _points(source, step, nudge, log_tail)
    start, count = start - step, count + 1  # room for what is moved down from the first point
    points = start + step * np.arange(count)
    edges = np.r_[-np.inf, points[:-1] + step / 2, np.inf]
    if source.lattice is not None and source.lattice[1] == 0 and not source.pinned:
        points, edges = _cut(source, points, edges, step)
        start, count = float(points[0]), len(points)
    if nudge and count > 4:
        # Single losses at both ends stay apart from what lies between: nothing beyond them could make up for it.
        edges[1], edges[2] = points[1] - step * _ON_A_POINT, points[1] + step * _ON_A_POINT
        edges[-2] = points[-1] - step * _ON_A_POINT
    log_p, log_q = source.cells(edges)
    error = rounding(log_p, log_q)
    p = np.exp(log_p)
    with np.errstate(invalid="ignore"):
        low = np.exp(points + log_q - log_p)
    present = p > 0
    low = np.where(present, low, 1.0)
    high = low * (1 + 4 * error + 1e-14)
    low = low * (1 - 4 * error)
    up, down = math.exp(step), math.exp(-step)

    next_high, before_high = np.r_[high[1:], 1.0], np.r_[1.0, high[:-1]]
    gain = 1 - next_high * down  # of what is taken from the next outputs, the part above this point
    fall = before_high * up - 1  # of what is taken from those before, the part below it
    has_next, has_before = np.r_[present[1:], False], np.r_[False, present[:-1]]
    with np.errstate(divide="ignore", invalid="ignore"):
        from_next = np.where(present & (high > 1) & has_next & (gain > 0), p * (high - 1) / gain, 0.0)
        from_before = np.where(present & (high < 1) & has_before & (fall > 0), p * (1 - high) / fall, 0.0)
    most_next, most_before = np.r_[p[1:], 0.0] * (_SHARE / 2), np.r_[0.0, p[:-1]] * (_SHARE / 2)
    left = np.ones(count)
    for _ in range(_ROUNDS):
        taken_next = np.minimum(from_next * left, most_next)
        taken_before = np.minimum(from_before * left, most_before)
        given = np.r_[0.0, taken_next[:-1]] + np.r_[taken_before[1:], 0.0]
        with np.errstate(divide="ignore", invalid="ignore"):
            updated = np.where(present, 1 - given / np.where(present, p, 1.0), 1.0)
        change = float(np.abs(updated - left).max())
        left = updated
        if change < 1e-15:
            break
    # What the last round took is fixed, and decides which merged losses reach their points.
    own = p * left
    excess = own * (1 - high) + taken_next * gain - taken_before * fall
    reaches = excess >= -1e-15 * p
    next_low, before_low = np.r_[low[1:], 0.0], np.r_[0.0, low[:-1]]
    masses = own * low + taken_next * next_low * down + taken_before * before_low * up
    masses = np.where(present, masses, 0.0) * (1 - 1e-14)
    lowered = np.where(reaches, masses, 0.0)
    lowered[:-1] += np.where(reaches, 0.0, masses)[1:] * down
    if not (lowered > 0).any() and source.infinite < 1:
        # Double precision does not tell the losses apart: all finite ones are merged, which any source dominates.
        point = step * (math.floor(math.log1p(-source.infinite) / step) - 1)
        return GridLoss(point, step, np.array([math.exp(point)]), source.infinite)
    return GridLoss(start, step, np.maximum(lowered, 0.0), source.infinite)


def _cut(source: LossSource, points: np.ndarray, edges: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Leave out points at both ends where the loss is so rare that its neighbours have nothing to give.

    All outputs beyond are merged with those of the first or of the last point that is left, and the grid lies so that
    the merged loss is this point itself.
    """

    def below(edge: float) -> float:
        return _loss_between(source, -math.inf, edge)

    def above(edge: float) -> float:
        return _loss_between(source, edge, math.inf)

    low, high = float(points[0]), float(points[-1])
    first = _crossing(lambda point: not below(point + step / 2) <= point, low, high)
    last = -_crossing(lambda point: not above(-point - step / 2) >= -point, -high, -low)
    aligned = first if first > low else last
    if low < aligned < high:
        # The point itself belongs to the grid, so that the middles of the grid's intervals are the edges.
        points = points - step + (aligned - low) % step
        edges = np.r_[-np.inf, points[:-1] + step / 2, np.inf]
    kept = np.ones(len(points), dtype=bool)
    if first > low:
        kept &= points > first - step / 4
    elif last < high:
        kept &= points < last + step / 4
    if kept.sum() < 4:
        return points, edges
    points = points[kept]
    edges = np.r_[-np.inf, points[:-1] + step / 2, np.inf]
    # Next to the cut, where the mass changes much from point to point, edges are found one after the other, inwards.
    followed = edges.copy()
    best, until = math.inf, 0
    for k in range(1, min(_FOLLOWED, len(points) // 2)):
        if first > low:
            point, other = float(points[k]), float(followed[k])
            edge = _crossing(partial(_too_low, source, other, point, upper=True), point, point + step)
            followed[k + 1], off = edge, abs(edge - point - step / 2)
        elif last < high:
            point, other = float(points[-1 - k]), float(followed[-1 - k])
            edge = _crossing(partial(_too_low, source, other, point, upper=False), point - step, point)
            followed[-2 - k], off = edge, abs(edge - point + step / 2)
        else:
            break
        if off < best:
            best, until = off, k
        if off < _SETTLED * step:
            break
    if first > low:
        followed[until + 2 :] = edges[until + 2 :]
    elif last < high:
        followed[: len(edges) - 2 - until] = edges[: len(edges) - 2 - until]
    return points, followed if (np.diff(followed) > 0).all() else edges


def _too_low(source: LossSource, other: float, point: float, edge: float, *, upper: bool) -> bool:
    """Whether the outputs between two edges, of which ``edge`` is the upper or the lower one, merge to less."""
    low, high = (other, edge) if upper else (edge, other)
    if low >= high:
        return upper  # an edge beyond the other one is to be moved back
    return not _loss_between(source, low, high) >= point


def _loss_between(source: LossSource, low: float, high: float) -> float:
    """Loss of the outputs between two losses, merged; NaN where there are none."""
    (log_p,), (log_q,) = source.cells(np.array([low, high]))
    return float(log_p - log_q) if log_p > -np.inf and log_q > -np.inf else math.nan


def _crossing(early: Callable[[float], bool], low: float, high: float) -> float:
    """First place, from the left, that is not early; ``low`` where it is not."""
    if not early(low):
        return low
    for _ in range(36):
        middle = (low + high) / 2
        low, high = (middle, high) if early(middle) else (low, middle)
    return high


def _points(source: LossSource, step: float, nudge: float, log_tail: float) -> tuple[float, int]:
    """First point of a grid over practically all of the loss, and the number of points."""
    low, high = extent(source, log_tail)
    anchor = low if source.lattice is None else source.lattice[0] - nudge
    first = math.floor((low - anchor) / step + _ON_A_POINT)
    last = math.ceil((high - anchor) / step - _ON_A_POINT)
    return anchor + first * step, max(last - first + 1, 2)
