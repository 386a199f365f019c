"""Which scores are worth learning from all outputs, by what a few of them show.

A score is left out only where an event stands out clearly in a few outputs already, and these show by more than chance
that the score cannot reach it, or that it gains next to nothing over one that takes less time. Where no event stands
out that clearly, nothing is left out: scores of weaker effects need all outputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpaudit.auditors.selection import Choice, Counts, FinalTest

_STANDS_OUT, _CAUTION = 15.0, 2.0
"""Standard errors by which an event has to stand out for scores to be left out at all; and those by which the event
that must be reached is worse than seen, and those of other scores are better."""

_LEAST_SEEN, _RARE = 100, 1.0
"""Occurrences on both inputs together from which on an event may be better than seen; a rarer one has to promise as
much where it is worse than seen by that many standard errors."""

_SLIGHT, _SURELY, _MORE_SURELY = 0.02, 1.0, 3.0
"""What another score must gain to be worth its time, as a part; the standard errors that its gain may be larger than
seen; and those by which a score is worse than another that takes longer."""

_ROUNDING = 1e-9
"""What a rank may differ by from the logarithm that it is."""

Scores = tuple[np.ndarray, np.ndarray]
"""Of the same outputs, on both inputs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A score that was learned from a few outputs.

    Attributes
    ----------
    table
        Counts of its events in a few others, which are the same for all candidates.
    learned
        Returns its scores of the outputs that it was learned from.
    others
        Returns its scores of more outputs, of which neither it nor the counts have seen any.
    work
        What learning it from all outputs takes.
    """

    table: Counts
    learned: Callable[[], Scores]
    others: Callable[[], Scores]
    work: float


def worth_learning(candidates: Sequence[Candidate], test: FinalTest) -> list[int]:
    """Return the places of the scores that may promise most when they are learned from all outputs.

    More outputs make a learned score better on others, and worse on those that it was learned from, until it is as good
    on either. So scores are compared by the mean of what they reach on both.
    """
    if not stands_out((each.table for each in candidates), test):
        return list(range(len(candidates)))
    chosen = [each.table.best(test, _CAUTION) for each in candidates]
    promised = [choice.predicted for choice in chosen]
    most = [_at_most(each.table, test) for each in candidates]
    able = [place for place in range(len(candidates)) if most[place] >= max(promised)]
    ranks = {
        place: [tail_ranks(*scores) for scores in (candidates[place].table.scores, candidates[place].learned())]
        for place in able
    }
    others = _Once(candidates)

    def replaces(other: int, place: int) -> bool:
        """Whether another score may promise what one does already, with an event as rare as that of this one too."""
        if other == place or most[other] < promised[place]:
            return False
        choice, scores = chosen[place], candidates[place].table.scores
        # The best of many events looks better than others by luck, which other outputs do not repeat.
        return not (
            _is_better_event(choice, scores, ranks[other][0])
            and _is_better_event(choice, others.scores(place), others.ranks(other))
        )

    kept: list[int] = []
    for place in sorted(able, key=lambda each: candidates[each].work):
        if not any(_gains_little(ranks[place], ranks[other]) and replaces(other, place) for other in kept):
            kept.append(place)
    return sorted(
        place
        for place in kept
        if not any(_is_worse(ranks[place], ranks[other]) and replaces(other, place) for other in kept)
    )


def stands_out(tables: Iterable[Counts], test: FinalTest) -> bool:
    """Whether few outputs leave no doubt that some event forces something."""
    return any(table.best(test, _STANDS_OUT).predicted > 0 for table in tables)


def _at_most(table: Counts, test: FinalTest) -> float:
    """What some event may promise."""
    least = _LEAST_SEEN / (2 * table.rows)
    return max(table.best(test, -_CAUTION, least=least).predicted, table.best(test, _RARE).predicted)


class _Once:
    """Scores of more outputs, and their ranks, each worked out when it is first asked for."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self._candidates = candidates
        self._scores: dict[int, Scores] = {}
        self._ranks: dict[int, Scores] = {}

    def scores(self, place: int) -> Scores:
        if place not in self._scores:
            self._scores[place] = self._candidates[place].others()
        return self._scores[place]

    def ranks(self, place: int) -> Scores:
        if place not in self._ranks:
            self._ranks[place] = tail_ranks(*self.scores(place))
        return self._ranks[place]


def _is_better_event(choice: Choice, scores: Scores, others: Scores) -> bool:
    """Whether an event forces more, by more than chance, than that of as many outputs by another score's ranks."""
    own = [choice.event.contains_scores(side) for side in scores]
    size = sum(int(side.sum()) for side in own)
    if not size:
        return False
    far = math.log(sum(map(len, own)) / size) - _ROUNDING
    theirs = [side[1 if choice.reverse else 0] >= far for side in others]
    counts = [(int(a.sum()), int(b.sum()), int((a ^ b).sum())) for a, b in zip(own, theirs, strict=True)]
    (p, other_p, moved_p), (q, other_q, moved_q) = counts[::-1] if choice.reverse else counts
    gain = math.log((p + 0.5) / (other_p + 0.5)) - math.log((q + 0.5) / (other_q + 0.5))
    variance = moved_p / ((p + 0.5) * (other_p + 0.5)) + moved_q / ((q + 0.5) * (other_q + 0.5))
    return gain > _SURELY * math.sqrt(variance)


def tail_ranks(x: np.ndarray, y: np.ndarray) -> Scores:
    """How far up, and how far down, each output is among all by its score; on both inputs, shape (2, outputs).

    The k-th of n is ``log(n / k)`` up: so all sizes of events count alike, from half of the outputs to a few. Up is
    where the outputs of the first input are, whichever way the score runs. Equal scores are ranked in the order of the
    outputs, which is that of luck.
    """
    scores = np.concatenate([x, y])
    size = len(scores)
    # Outputs of both inputs in turn, so that equal scores do not put those of the first input first.
    turn = np.empty(size, dtype=np.intp)
    turn[0::2], turn[1::2] = np.arange(len(x)), len(x) + np.arange(len(y))
    order = turn[np.argsort(scores[turn], kind="stable")]
    ranks = np.empty((2, size))
    logs = np.log(size) - np.log(np.arange(size, 0, -1))
    ranks[0, order], ranks[1, order] = logs, logs[::-1]
    x_ranks, y_ranks = ranks[:, : len(x)], ranks[:, len(x) :]
    up, down = x_ranks.mean(axis=1) - y_ranks.mean(axis=1)
    return (x_ranks, y_ranks) if up >= down else (x_ranks[::-1], y_ranks[::-1])


def gains_little(scores: Scores, others: Scores) -> bool:
    """Whether a score tells the inputs apart hardly better than another does, at most, on the same outputs."""
    return _gains_little([tail_ranks(*scores)], [tail_ranks(*others)])


def _gains_little(ranks: Sequence[Scores], others: Sequence[Scores]) -> bool:
    return all(gain + _SURELY * error <= _SLIGHT * max(base, 0.0) for gain, error, base in _gains(ranks, others))


def _is_worse(ranks: Sequence[Scores], others: Sequence[Scores]) -> bool:
    return all(gain + _MORE_SURELY * error < 0 for gain, error, _ in _gains(ranks, others))


def _gains(ranks: Sequence[Scores], others: Sequence[Scores]) -> Iterator[tuple[float, float, float]]:
    """Yield what a score gains over another, the standard error of that, and what the other reaches.

    First in events that are likelier on the first input, then in those that are likelier on the second one; in the mean
    of several samples.
    """
    for direction, sign in enumerate((1.0, -1.0)):
        gains, variances, bases = [], [], []
        for (x, y), (other_x, other_y) in zip(ranks, others, strict=True):
            more_x, more_y = x[direction] - other_x[direction], y[direction] - other_y[direction]
            gains.append(sign * float(more_x.mean() - more_y.mean()))
            variances.append(float(more_x.var() / len(more_x) + more_y.var() / len(more_y)))
            bases.append(sign * float(other_x[direction].mean() - other_y[direction].mean()))
        count = len(gains)
        yield sum(gains) / count, sum(variances) ** 0.5 / count, sum(bases) / count
