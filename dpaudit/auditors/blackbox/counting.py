"""Counting chosen events in fresh samples of one pair of inputs, in rounds that may be given to several processes."""

from __future__ import annotations

import hashlib
import math
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dpaudit.auditors.blackbox.tasks import FIRST_ROUND
from dpaudit.auditors.learning.counts import Choice, ThresholdEvent
from dpaudit.auditors.learning.scores import Score
from dpaudit.auditors.outputs.outputs import Outputs
from dpaudit.auditors.sampling.order import Middles, Oddity, oddest, of_counts, of_event, of_later_call, of_neighbours
from dpaudit.auditors.sampling.sampler import Sampler
from dpaudit.auditors.sampling.streams import CHUNK
from dpaudit.auditors.sampling.work import PART_SECONDS
from dpaudit.claims.guarantees import Guarantee
from dpaudit.claims.inputs import input_key
from dpaudit.statistics import anytime_bound, best_share, bound_from_counts, detection_limit, event_that_forces

_AHEAD = 8
"""Rounds that are given to workers at a time where sampling may stop after each of them. Chosen by hand: more keep more
workers busy, and at most seven of them are drawn in vain."""

_MOST_DOUBLINGS = 20
"""Number of sizes that a task of counting may have: 1, 2, 4 rounds and so on, up to two to the power of 19. So many
rounds of `CHUNK` outputs, 3 * 10^10 altogether, take longer than the seconds that a task is meant to take."""


class Scored:
    """Outputs of one call with the scores of them that were asked for: events of one score share these."""

    __slots__ = ("_outputs", "_scores")

    def __init__(self, outputs: Outputs | None) -> None:
        self._outputs = outputs
        self._scores: list[tuple[Score, np.ndarray]] = []

    def __len__(self) -> int:
        return 0 if self._outputs is None else len(self._outputs)

    def occurrences(self, event: ThresholdEvent) -> int:
        """How many of the outputs are in an event."""
        return int(np.count_nonzero(self.inside(event)))

    def inside(self, event: ThresholdEvent) -> np.ndarray:
        """Which of the outputs are in an event."""
        if self._outputs is None:
            return np.zeros(0, dtype=bool)
        scores = next((scores for score, scores in self._scores if score is event.score), None)
        if scores is None:
            scores = event.scores(self._outputs)
            self._scores.append((event.score, scores))
        return event.contains_scores(scores)


@dataclass(slots=True)
class EventCount:
    """Occurrences of one event in the final sample so far, on its likelier input and on the other."""

    choice: Choice
    alpha: float
    hits: tuple[int, int] = (0, 0)
    trials: tuple[int, int] = (0, 0)

    def add(self, place: int, found: tuple[RoundCounts, RoundCounts]) -> None:
        """Add what was found on the first and on the second input, where this is the event at that place."""
        counts = [side.hits[place] for side in found]
        sizes = [side.trials for side in found]
        if self.choice.reverse:
            counts, sizes = counts[::-1], sizes[::-1]
        self.hits = (self.hits[0] + counts[0], self.hits[1] + counts[1])
        self.trials = (self.trials[0] + sizes[0], self.trials[1] + sizes[1])

    @property
    def counted(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Occurrences and outputs of the first and of the second input."""
        sides = (self.hits[0], self.trials[0]), (self.hits[1], self.trials[1])
        return sides[::-1] if self.choice.reverse else sides

    def bound(self, guarantee: Guarantee, alpha: float) -> float:
        """Lower bound on the forced parameter from the whole final sample."""
        # How the two counts share the error probability is chosen on the judging sample.
        return bound_from_counts(guarantee, self.hits, self.trials, alpha=alpha, share=self.share(guarantee, alpha))

    def share(self, guarantee: Guarantee, alpha: float) -> float:
        """Part of the error probability for the first count, or by the ratio, as the judging sample advises."""
        choice = self.choice
        return best_share(guarantee, choice.p_hits, choice.q_hits, choice.rows, alpha=alpha)

    def oddity(self, place: int) -> Oddity:
        """How odd its occurrences on the first (0) or second input are, compared with those by which it was chosen."""
        choice = self.choice
        if not choice.judged or not all(self.trials):
            return Oddity()
        side = 1 - place if choice.reverse else place
        before = (choice.p_hits, choice.q_hits)[side]
        return of_event((before, choice.rows), (self.hits[side], self.trials[side]))

    def anytime_bound(self, guarantee: Guarantee, alpha: float) -> float:
        """Lower bound on the forced parameter that holds at all times at once."""
        prior = (self.choice.p_hits + 0.5, self.choice.q_hits + 0.5)
        rows = self.choice.rows
        return anytime_bound(guarantee, self.hits, self.trials, alpha=alpha, prior=prior, prior_trials=rows)


class RoundCounts(NamedTuple):
    """How many outputs on one input were drawn, and how many of them are in each event.

    Also the same for each call, outputs first, and what is oddest about the order within calls.
    """

    hits: list[int]
    trials: int
    calls: tuple[tuple[int, ...], ...] = ()
    oddity: Oddity = Oddity()


@dataclass(slots=True)
class Order:
    """What the order of outputs of the final sample on one input says so far against their independence."""

    calls: list[tuple[int, ...]] = field(default_factory=list)
    oddity: Oddity = field(default_factory=Oddity)

    def add(self, found: RoundCounts) -> None:
        """Add what was found in further calls."""
        self.calls += found.calls
        self.oddity = oddest([self.oddity, found.oddity])

    def oddest(self) -> Oddity:
        """What is oddest in any call, or between calls."""
        events = range(1, len(self.calls[0]) if self.calls else 1)
        between = [of_counts([(call[event], call[0]) for call in self.calls]) for event in events]
        return oddest([self.oddity, *between])


@dataclass(frozen=True, slots=True, kw_only=True)
class _CountRounds:
    """The task of counting events in rounds of the final sample on one input.

    Attributes
    ----------
    data, side
        The input, and which of the two it is.
    first, sizes
        Number of the first round, and outputs of each round.
    events
        Hash of the choice of the events.
    shared
        That choice.
    """

    data: Any
    side: int
    first: int
    sizes: tuple[int, ...]
    events: str
    shared: bytes = b""

    @property
    def name(self) -> tuple[str | int, ...]:
        return ("final", self.side, self.first, len(self.sizes), self.events)

    @property
    def stage(self) -> str:
        return "final"

    @property
    def outputs(self) -> int:
        return sum(self.sizes)

    def run(self, sampler: Sampler, shared: bytes) -> RoundCounts:
        selection, _, state, middles = pickle.loads(shared)  # noqa: S301 - what an audit of the same target wrote
        return self.count(sampler.at(state), [choice.event for choice in selection.choices], middles)

    def count(
        self,
        sampler: Sampler,
        events: Sequence[ThresholdEvent],
        middles: tuple[Middles, Middles] = (Middles(), Middles()),
    ) -> RoundCounts:
        """Count events, and compare outputs with the middles of those before."""
        calls, found = [], []
        for number, size in enumerate(self.sizes, start=self.first):
            if size:
                outputs = Outputs(sampler.draw_once(self.data, size, "final", self.side, number, sized=True))
                scored, hits = Scored(outputs), []
                for event in events:
                    inside = scored.inside(event)
                    hits.append(int(np.count_nonzero(inside)))
                    found.append(of_neighbours(inside))
                found.append(of_later_call(outputs, middles[self.side]))
                calls.append((size, *hits))
                # The next outputs may then take their place in memory.
                del outputs, scored
        totals = [sum(call[1 + place] for call in calls) for place in range(len(events))]
        return RoundCounts(totals, sum(self.sizes), tuple(calls), oddest(found))


@dataclass(slots=True)
class Rounds:
    """The final sample, in rounds of about ``most`` outputs per input; of fewer where sampling may stop soon."""

    sampler: Sampler
    x: Any
    y: Any
    samples: int
    guarantee: Guarantee
    growing: bool = False
    most: int = CHUNK
    middles: tuple[Middles, Middles] = (Middles(), Middles())

    def counts(self, events: Sequence[ThresholdEvent], kept: bytes = b"") -> Iterator[tuple[RoundCounts, RoundCounts]]:
        """Yield what is found on the two inputs, in one round or several at a time.

        Parameters
        ----------
        events
            What is counted.
        kept
            The choice of these events as bytes, where others may do the counting.
        """
        if not kept or self.sampler.work is None:
            for number, sizes in enumerate(self._sizes()):
                x, y = (task.count(self.sampler, events, self.middles) for task in self._tasks(number, [sizes]))
                yield x, y
            return
        rounds = list(self._sizes())
        ahead = _AHEAD if self.growing else len(rounds)
        for begin in range(0, len(rounds), ahead):
            groups = list(self._groups(rounds, begin, min(begin + ahead, len(rounds)), kept))
            self.sampler.work.ask(self.sampler, [task for tasks in groups for task in tasks])
            for tasks in groups:
                x, y = self.sampler.work.do(self.sampler, tasks)
                yield x, y

    def known(self, kept: bytes) -> Iterator[tuple[RoundCounts, RoundCounts]]:
        """Yield what is known of both inputs, in any rounds."""
        work, rounds = self.sampler.work, list(self._sizes())
        assert work is not None
        for tasks in self._groups(rounds, 0, len(rounds), kept):
            if all(work.has(self.sampler, task.stage, *task.name) for task in tasks):
                x, y = work.do(self.sampler, tasks)
                yield x, y

    def _groups(
        self, rounds: list[tuple[int, int]], begin: int, end: int, kept: bytes
    ) -> Iterator[tuple[_CountRounds, _CountRounds]]:
        """Tasks for groups of rounds: as they were formed before, or else as many rounds as take some seconds.

        A group of 2**k rounds begins at a multiple of 2**k, so that those of another run fit between those known.
        """
        work, each = self.sampler.work, self.sampler.seconds_each
        events = hashlib.sha256(kept).hexdigest()
        assert work is not None
        most = 1 if self.growing else max(1, int(PART_SECONDS / max(each * CHUNK, 1e-9)))
        while begin < end:
            sizes = [2**k for k in range(_MOST_DOUBLINGS) if begin % 2**k == 0 and begin + 2**k <= end]
            made = [(size, self._tasks(begin, rounds[begin : begin + size], kept, events)) for size in sizes]
            known = [size for size, tasks in made if any(work.has(self.sampler, t.stage, *t.name) for t in tasks)]
            fitting = [size for size in sizes if size <= most]
            size = max(known or fitting)
            yield dict(made)[size]
            begin += size

    def _tasks(
        self, first: int, sizes: Sequence[tuple[int, int]], kept: bytes = b"", events: str = ""
    ) -> tuple[_CountRounds, _CountRounds]:
        on_x, on_y = (
            _CountRounds(
                data=data, side=side, first=first, sizes=tuple(both[side] for both in sizes), events=events, shared=kept
            )
            for side, data in enumerate((self.x, self.y))
        )
        return on_x, on_y

    def _sizes(self) -> Iterator[tuple[int, int]]:
        """Outputs of each round on the two inputs."""
        sampler = self.sampler
        coins = sampler.coins("assignment")
        keys = (input_key(self.x), input_key(self.y)) if sampler.pace.timed else (None, None)
        drawn = 0
        while drawn < self.samples:
            size = min(self.most, self.samples - drawn)
            if self.growing:
                size = min(size, max(FIRST_ROUND, drawn))
            size = sampler.pace.call_size(size, *keys)
            sizes = (size, size)
            if self.guarantee.by_ratio:
                # Fair coins assign the trials, so that the hits' split is binomial whatever their number.
                first = int(coins.binomial(2 * size, 0.5))
                sizes = (first, 2 * size - first)
            yield sizes
            drawn += size


def limit_of(best: EventCount, guarantee: Guarantee, trials: int, share: float, *, at_all_times: bool = False) -> float:
    """Detection limit of the test of an event with that part of its error probability, on so many trials."""
    choice, alpha = best.choice, best.alpha * share
    rate, complement = choice.rates
    if at_all_times:
        return detection_limit(guarantee, rate, trials, complement=complement, alpha=alpha, prior_trials=choice.rows)
    share = best.share(guarantee, alpha)
    return detection_limit(guarantee, rate, trials, complement=complement, alpha=alpha, share=share)


def rarer_than(choice: Choice, guarantee: Guarantee, limit: float) -> float:
    """Probability of the event that a limit is about, where none as likely as the one chosen forces it; else 0."""
    rate, complement = choice.rates
    if math.isinf(limit):
        return 0.0
    found = event_that_forces(guarantee, limit, rate, complement)
    return found if found < rate else 0.0
