"""Choosing a family of events for a whole privacy profile, in both directions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpaudit.auditors.learning.contest import compete
from dpaudit.auditors.learning.counts import Counts, FinalTest, ThresholdEvent
from dpaudit.auditors.learning.selection import choose_from
from dpaudit.auditors.outputs.outputs import OutputsLike, as_outputs

_POINTS = 20
"""Epsilons, in each direction, for which an event is chosen."""

_MOST_SCORES = 3
_WORTH_A_SCORE = 0.01
"""How much more the events of another score must promise altogether, as a part of what is promised already."""

_CAUTION = 0.7
"""Standard errors of the sample that judges by which events may be worse than they look."""

_PURE_SHARE = 0.25
"""Part of the error probability that goes to the events chosen for epsilon at delta = 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyEvent:
    """One event of a family.

    Attributes
    ----------
    event
        The event.
    reverse
        Whether it is likelier on the second input.
    alpha
        Error probability of the region that bounds its two probabilities.
    """

    event: ThresholdEvent
    reverse: bool
    alpha: float


def choose_family(x: OutputsLike, y: OutputsLike, test: FinalTest) -> list[FamilyEvent]:
    """Choose events by which a privacy profile is bounded, from samples that play no part in the bounds.

    Parameters
    ----------
    x, y
        Samples of the two inputs, equally many.
    test
        The guarantee that says most of the ends of the profile, the size per input of the final sample, and the error
        probability of all bounds together.

    Notes
    -----
    Scores are learned on one half of the samples. On the other half, at each of twenty epsilons and in each
    direction, the event is chosen whose P(S) - e^epsilon Q(S) is largest when it is less by some standard errors. The
    events that a test of epsilon at delta = 0 would take are added; they get a quarter of the error probability, and
    all others the same part of the rest. An event and its complement are one, because a region for its
    probabilities bounds both.
    """
    x, y = as_outputs(x), as_outputs(y)
    with np.errstate(over="ignore", invalid="ignore"):  # outputs may be infinite
        tables = compete(x, y, test, thorough=True).tables
    found: dict[tuple[int, int, bool], tuple[ThresholdEvent, bool]] = {}
    for choice in choose_from(tables, test).choices:
        (number,) = (i for i, table in enumerate(tables) if table.score is choice.event.score)
        place = int(np.searchsorted(tables[number].thresholds, choice.event.threshold))
        key = _key(number, place, above=choice.event.above, reverse=choice.reverse)
        found[key] = (choice.event, choice.reverse)
    pure = set(found)
    for key, event in _along_the_profile(tables, test):
        found.setdefault(key, event)
    others = len(found) - len(pure)
    for_pure = test.alpha * (_PURE_SHARE if others else 1.0) / len(pure)
    for_others = test.alpha * (1 - _PURE_SHARE) / max(others, 1)
    return [
        FamilyEvent(event=event, reverse=reverse, alpha=for_pure if key in pure else for_others)
        for key, (event, reverse) in found.items()
    ]


def _key(table: int, place: int, *, above: bool, reverse: bool) -> tuple[int, int, bool]:
    """Identify an event with its complement: where the score is cut, and which part is likelier on the first input."""
    return table, place + (not above), above != reverse


_Found = tuple[tuple[int, int, bool], tuple[ThresholdEvent, bool]]


def _along_the_profile(tables: Sequence[Counts], test: FinalTest) -> list[_Found]:
    """Events that bound most at some epsilon, in either direction."""
    found: list[_Found] = []
    for reverse in (False, True):
        sides = [_Sides.of(table, test, reverse=reverse) for table in tables]
        end = max(side.end for side in sides)
        if end <= 0:
            continue
        # At epsilon 0 the other direction's event is the complement of this one's.
        z = np.exp(np.linspace(0.0, end, _POINTS + 1)[reverse:-1])
        best = [side.best(z) for side in sides]
        kept = _scores([value for value, _ in best])
        for j in range(len(z)):
            number = max(kept, key=lambda i: best[i][0][j])
            value, place = best[number][0][j], int(best[number][1][j])
            if value <= 0:
                continue
            size = len(tables[number].thresholds)
            above, at = place < size, place % size
            event = ThresholdEvent(tables[number].score, float(tables[number].thresholds[at]), above)
            found.append((_key(number, at, above=above, reverse=reverse), (event, reverse)))
    return found


def _scores(values: Sequence[np.ndarray]) -> list[int]:
    """Number the few scores whose events together promise most, as parts of what any promises at each epsilon."""
    most = np.maximum(np.max(values, axis=0), 1e-300)
    parts = [np.clip(value / most, 0.0, None) for value in values]
    kept: list[int] = []
    reached = np.zeros_like(most)
    while len(kept) < min(_MOST_SCORES, len(values)):
        totals = [np.maximum(reached, part).sum() for part in parts]
        best = int(np.argmax(totals))
        if kept and totals[best] <= reached.sum() * (1 + _WORTH_A_SCORE):
            break
        kept.append(best)
        reached = np.maximum(reached, parts[best])
    return kept


@dataclass(frozen=True, slots=True)
class _Sides:
    """Events above, then below, each threshold of a score, as likelier on one of the inputs.

    ``p`` and ``q`` are their frequencies there and on the other input, ``errors`` what may be taken off p and added to
    q, each alone, and ``end`` the largest epsilon at which an event bounds anything.
    """

    p: np.ndarray
    q: np.ndarray
    errors: tuple[np.ndarray, np.ndarray]
    end: float

    @classmethod
    def of(cls, table: Counts, test: FinalTest, *, reverse: bool) -> _Sides:
        hits = [np.concatenate(both) for both in zip(table.above, table.below, strict=True)]
        p_hits, q_hits = hits[::-1] if reverse else hits
        p, q = p_hits / table.rows, (q_hits + 0.5) / table.rows
        # Errors of choosing and errors of the final sample, whose regions are of about this size.
        region = math.sqrt(-2 * math.log(test.alpha / (2 * _POINTS)))
        worse = _CAUTION / math.sqrt(table.rows) + region / math.sqrt(test.size)
        of_p = worse * np.sqrt(p * np.maximum(1 - p, 1 / table.rows))
        of_q = worse * np.sqrt(q * np.maximum(1 - q, 1 / table.rows))
        with np.errstate(divide="ignore", invalid="ignore"):
            log_ratio = np.log(p / q) - worse * np.sqrt(1 / p + 1 / q)
        return cls(p, q, (of_p, of_q), float(np.nan_to_num(log_ratio, nan=-np.inf).max()))

    def best(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Largest promise at every z, and the number of the event that makes it."""
        values, places = np.empty(len(z)), np.empty(len(z), dtype=int)
        for j, each in enumerate(z):
            promised = self.p - each * self.q - np.hypot(self.errors[0], each * self.errors[1])
            places[j] = int(np.argmax(promised))
            values[j] = promised[places[j]]
        return values, places
