"""Which events of one score are tested, and with which parts of the error probability, as its log-ratio may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from dpaudit.auditors.learning.smoothing import Curve, starts_of_groups

if TYPE_CHECKING:
    from dpaudit.auditors.learning.counts import FinalTest

_PLACES = 60
"""Thresholds, about, that are compared on either side: neighbours of these say nearly the same. Chosen for time alone
(benchmarks/weak_effects.md). With 30 or 120, the mean in benchmarks/sensitivity.md changes by 0.002 of the oracle's
bound at most, one row by up to 0.088."""

_PARTS = (0.03, 0.1, 0.2, 0.35, 0.5)
"""Parts of the error probability that another event may take from those before it: from next to nothing to as much as
all others. How many there are was chosen for time alone (benchmarks/weak_effects.md)."""

_WORTH = 0.003
"""What another event must take from the mean square of the part of the best bound that is missed. Chosen by hand: a
twentieth of the bound, squared, is 0.0025. With 0.0015 or 0.006, the mean in benchmarks/sensitivity.md changes by 0.001
of the oracle's bound at most, one row by up to 0.035."""

_LEAST_HITS = 1e-3
"""Occurrences that stand for none where a bound is worked out from expected counts, so that no logarithm is infinite.
Any number far below one would do. Neither 0.0005 nor 0.002 changes a bound of benchmarks/sensitivity.md by 0.1 %."""


@dataclass(frozen=True, slots=True)
class Allotted:
    """An event with its part of the error probability.

    Attributes
    ----------
    place, above, reverse
        Place of its threshold, whether it is above that, and whether it is likelier on the second input.
    expected
        Bound to be expected with the whole error probability: the mean over what the log-ratio may be, where a bound
        that says nothing is 0.
    share
        Part of the error probability.
    """

    place: int
    above: bool
    reverse: bool
    expected: float
    share: float


def allotted(
    curve: Curve, occurrences: Mapping[bool, np.ndarray], rows: int, test: FinalTest, *, least: float, most: int
) -> list[Allotted]:
    """Choose the events that together miss least, with their parts of the error probability.

    What they miss is the part of the best event's bound that the largest of theirs falls short by, squared, in the mean
    over what the log-ratio may be: the draws of the curve, without those under which no event would say anything. An
    event that is best only under some of what the log-ratio may be, such as the half-line of the other
    direction or one farther out in the tail, is worth a part of the error probability where the counts leave that open.

    Parameters
    ----------
    curve
        The smooth log-ratio.
    occurrences
        Of the events above (True), and below (False), each threshold, on both inputs together; of one of these alone
        where the log-ratio explains no others.
    rows
        Samples per input that were counted.
    test
        The test that the events are for.
    least
        Occurrences, at least, of an event. At most half of the outputs are in it.
    most
        Events, at most.

    Returns
    -------
    list of Allotted
        That of the largest part first; empty where no event occurs often enough.
    """
    events = _events(curve, occurrences, rows, test, least)
    if events is None:
        return []
    full = events.bounds(1.0)
    most_of_each = full.max(axis=0)
    told = most_of_each > 0
    means = np.maximum(full, 0.0) @ events.likely
    if not told.any():
        return [events.event(int(np.argmax(full @ events.likely)), 0.0, 1.0)]

    def shortfall(bounds: np.ndarray) -> np.ndarray:
        missed = 1 - np.maximum(bounds[..., told], 0.0) / most_of_each[told]
        return np.asarray(missed**2 @ (events.likely[told] / events.likely[told].sum()))

    first = int(np.argmin(shortfall(full)))
    chosen, shares, least_missed = [first], [1.0], float(shortfall(full[first]))
    with_part = {part: events.bounds(part) for part in _PARTS}
    while len(chosen) < most:
        best: tuple[float, int, float] = (least_missed - _WORTH, -1, 0.0)
        for part, bounds in with_part.items():
            reached = events.reached(chosen, [share * (1 - part) for share in shares])
            values = shortfall(np.maximum(bounds, reached))
            found = int(np.argmin(values))
            best = min(best, (float(values[found]), found, part))
        least_missed, another, part = best
        if another < 0:
            break
        chosen, shares = [*chosen, another], [*(share * (1 - part) for share in shares), part]
    order = sorted(range(len(chosen)), key=lambda i: -shares[i])
    return [events.event(chosen[i], float(means[chosen[i]]), shares[i]) for i in order]


def compared_places(
    cells: int, occurrences: Mapping[bool, np.ndarray], rows: int, least: float
) -> dict[bool, tuple[np.ndarray, np.ndarray]]:
    """Places of the thresholds whose events are compared, and of these places among the groups of cells, by side.

    Parameters are those of :func:`allotted`, and how many cells there are.
    """
    starts = starts_of_groups(cells, 2 * _PLACES)
    ends = np.append(starts[1:], cells) - 1
    found = {}
    for above, both in occurrences.items():
        at = starts if above else ends
        groups = np.flatnonzero((both[at] >= least) & (both[at] <= rows))
        found[above] = at[groups], groups
    return found


@dataclass(frozen=True, slots=True)
class _Events:
    """Events with the occurrences that each draw of the log-ratio makes to be expected in the final sample."""

    places: np.ndarray
    above: np.ndarray
    reverse: np.ndarray
    p_hits: np.ndarray
    q_hits: np.ndarray
    likely: np.ndarray
    test: FinalTest

    def bounds(self, part: float, which: Sequence[int] | slice = slice(None)) -> np.ndarray:
        """Bounds with a part of the error probability, under each draw, shape (events, draws)."""
        test = self.test
        found = test.guarantee.expected(self.p_hits[which], self.q_hits[which], test.size, test.alpha * part)
        return np.asarray(found)

    def reached(self, chosen: Sequence[int], shares: Sequence[float]) -> np.ndarray:
        """Largest bound of some events with these parts of the error probability, under each draw."""
        each = [self.bounds(share, [i])[0] for i, share in zip(chosen, shares, strict=True)]
        return np.asarray(np.max(each, axis=0))

    def event(self, i: int, expected: float, share: float) -> Allotted:
        return Allotted(int(self.places[i]), bool(self.above[i]), bool(self.reverse[i]), expected, share)


def _events(
    curve: Curve, occurrences: Mapping[bool, np.ndarray], rows: int, test: FinalTest, least: float
) -> _Events | None:
    """Events of both sides and directions, at some of the thresholds."""
    places, sides, reverses, hits = [], [], [], []
    compared = compared_places(len(curve.total), occurrences, rows, least)
    if not any(len(at) for at, _ in compared.values()):
        return None
    from_each, up_to_each, likely = curve.draws(starts_of_groups(len(curve.total), 2 * _PLACES))
    for above, (at, groups) in compared.items():
        drawn = (from_each if above else up_to_each).T[groups]
        count = occurrences[above][at][:, None] * (test.size / rows)
        for reverse in (False, True):
            log_ratio = (-1.0 if reverse else 1.0) * drawn
            hits.append(np.stack([count * expit(log_ratio), count * expit(-log_ratio)]))
            places.append(at)
            sides.append(np.full(len(count), above))
            reverses.append(np.full(len(count), reverse))
    p_hits, q_hits = np.concatenate(hits, axis=1)
    return _Events(
        places=np.concatenate(places),
        above=np.concatenate(sides),
        reverse=np.concatenate(reverses),
        p_hits=np.clip(p_hits, _LEAST_HITS, test.size),
        q_hits=np.clip(q_hits, _LEAST_HITS, test.size),
        likely=likely,
        test=test,
    )
