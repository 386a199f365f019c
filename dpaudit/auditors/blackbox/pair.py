"""A lower confidence bound on what one pair of inputs forces, from samples alone."""

from __future__ import annotations

import hashlib
import math
import pickle
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from dpaudit.auditors.learning.counts import Choice, FinalTest, ThresholdEvent
from dpaudit.auditors.learning.planted import identifier
from dpaudit.auditors.learning.scores import Score, is_of_numbers
from dpaudit.auditors.learning.selection import Selection, select_events
from dpaudit.auditors.outputs.column_words import PLAIN, Naming
from dpaudit.auditors.outputs.forms import alike, concatenated
from dpaudit.auditors.outputs.outputs import Outputs
from dpaudit.auditors.sampling.order import (
    Middles,
    Oddity,
    check_independent,
    oddest,
    of_calls,
    of_counts,
    of_event,
    of_later_call,
    of_neighbours,
)
from dpaudit.auditors.sampling.pace import OutOfTimeError, Pace, TooLongError, clock, duration, ready_by
from dpaudit.auditors.sampling.sampler import CHUNK, Sampler
from dpaudit.auditors.sampling.work import PART_SECONDS, State, WantedError
from dpaudit.claims.guarantees import Guarantee
from dpaudit.claims.inputs import input_key
from dpaudit.errors import ParameterError, TargetRaisedError
from dpaudit.statistics import anytime_bound, best_share, bound_from_counts, detection_limit, event_that_forces

LEAST_SAMPLES = 1000
"""Fewest samples per input that an audit may be asked for. Chosen by hand: a fifth of them, 200, choose the event, and
fewer say next to nothing about one."""

_SELECTION_SHARE = 0.2
"""Part of the samples that chooses the event, of up to `_MANY` samples. Measured: where the effect is weak, 0.2 reached
0.974 of the oracle's bound, 0.3 reached 0.948 and 0.4 reached 0.899 (Laplace noise, epsilon 0.01, 40 seeds;
benchmarks/weak_effects.md)."""

_MANY = 1_000_000
"""Samples per input from which on that part falls. Chosen by hand: an event is then chosen from 200,000 or more."""

_MANY_POWER = 0.75
"""Power of the samples with which the selection sample grows beyond `_MANY`. Chosen by hand: at 10^7 samples a ninth
chooses the event, and nearly all of them bound it."""

_DIGITS = 4
"""Digits after the point of a bound in a message. Chosen by hand; the bound is rounded down."""

_MOST_SELECTED = 4_000_000
"""Samples per input that choose the event, at most: they are held in memory, which this bounds. An audit of Laplace
noise takes about 480 MiB from 10^8 samples on (benchmarks/speed.md)."""

_FIRST_ROUND = 1000
"""Outputs per input of the first round of a final sample that may stop early; each round doubles all outputs so far.
Chosen by hand: as few as a whole audit may have (`LEAST_SAMPLES`)."""

_SAMPLING_SHARE = 0.8
"""Part of the time until the deadline that sampling is planned for; the rest is for learning. Chosen by hand."""

_FAR_MORE = 1.5
"""How many times as many samples as were planned must fit for more to be planned. Chosen by hand: estimates of what an
output takes vary by less, unless calls take long whatever their size."""

_FEWEST = 20
"""Fewest samples per input that are planned, however little time there is: half of them are the `_LEAST_SELECTED` that
choose an event."""

_FINAL_SHARE = 0.9
"""Part of the time left that the final sample is planned for, so that it ends in time and its own bound holds. Chosen
by hand; 0.95 before a time limit alone could decide how many samples there are."""

_SELECTION_TIME = 0.35
"""Part of the time left after which no further selection samples are drawn, whatever was planned. Chosen by hand:
sampling may turn out slower than planned, and the final sample should still have most of the time."""

_LEAST_SELECTED = 10
"""Outputs per input without which no event is chosen, even after the time for them is over. Chosen by hand."""

_LEARNING_SHARE = 0.15
"""Part of the time left at which choosing events from more outputs ends, where there is a deadline. Chosen by hand."""

_LATEST_SHARE = 0.4
"""Part of the time left after which no more scores are learned, where what was begun took longer. Chosen by hand."""

_LEARNING_SPARE = 0.6
"""As `_LEARNING_SHARE`, of the time that all samples asked for would leave unused, where that is later: such time goes
to choosing the event. Chosen by hand."""

_LATEST_SPARE = 0.8
"""As `_LATEST_SHARE`, of that unused time. Chosen by hand."""

_LEARNING_ROWS = 1000
"""Outputs per input from which events are chosen first, to measure how long that takes. They also time the counting of
events. Chosen by hand."""

_LEARNING_VALUES = 1_000_000
"""Numbers of either input from which events are chosen first, where outputs are so wide that this makes fewer outputs;
`_LEAST_LEARNING_ROWS` at least. Chosen by hand: 1,000 outputs of 1,000 numbers."""

_LEAST_LEARNING_ROWS = 100
"""The fewest of these outputs, and as many as are first where outputs are no numbers: what is in them takes far longer
to look at, and how long is known only then. Chosen by hand."""

_CHECKED_ROWS = 400
"""Outputs per input from which it is known what outputs hide, where there is no time to find it out from more. Chosen
by hand: a factor of three that was planted in dicts of a number and a text went unnoticed in none of 20 samples of 400,
in 11 of 200 and in all of 100."""

_IDENTIFIED_ROWS = 3200
"""Outputs per input in which it is looked for what identifies them, where the event is chosen from fewer for lack of
time. Chosen by hand: in so many, little honest noise is told from random digits (`digits._LEAST_ROWS`)."""

_LEAST_LOOK = 0.1
"""Seconds that this may take at least. Chosen by hand: 3,200 dicts of 16 numbers on either input take 0.04."""

_FEW_LEARNED = 20_000
"""Outputs per input below which more of the time goes into choosing events. Measured: for 256 pixels of which 16 are
shifted by a quarter of the noise, 200,000 outputs and 20 seconds, events were chosen from 1,000 outputs and bounded
0.69 where 2.44 is reached without a deadline."""

_LEARNING_GROWTH = 4
"""Factor, at most, by which the outputs that events are chosen from grow at a time. Chosen by hand: the last step takes
most of the time, and a larger one is harder to foresee."""

_LEARNING_CAUTION = 2
"""How many times longer than before an output is expected to take in a larger step, at most. Chosen by hand: sorting
takes longer, and more outputs let scores take part that fewer do not."""

_LESS_CAUTION = 1.3
"""The same below `_FEW_LEARNED` outputs, once two steps have shown what an output takes. Chosen by hand: what takes
longer after all is ended in time, and the events from fewer outputs are kept where they promise as much."""

_LEARNING_PART = 0.25
"""Part of the time of a step that its outputs are taken to need at least, however little longer it took than a smaller
step. Chosen by hand: equal steps do not take equally long."""

_LOOKING_ROWS = 16_000
"""Outputs per input, at most, that are counted to measure what one more takes. Chosen by hand: what a call takes
however few its outputs are then hardly counts."""

_LOOKING_GROWTH = 8
"""Factor, at most, by which the outputs of this measurement grow at a time. Chosen by hand."""

_LOOKING_SHARE = 0.01
"""Part of the time left that a step of this measurement may take, by what the one before it has taken. Chosen by
hand."""

_AHEAD = 8
"""Rounds that are given to workers at a time where sampling may stop after each of them. Chosen by hand: more keep more
workers busy, and at most seven of them are drawn in vain."""

_MOST_DOUBLINGS = 20
"""Number of sizes that a task of counting may have: 1, 2, 4 rounds and so on, up to two to the power of 19. So many
rounds of `CHUNK` outputs, 3 * 10^10 altogether, take longer than the seconds that a task is meant to take."""

_SEQUENTIAL_SHARE = 0.5
"""Part of the error probability of the bound that holds whenever sampling stops, where it is meant to stop early.
Chosen by hand: the bound for the whole sample gets as much. At 99.9 % confidence that bound is then 3.29 standard
errors below the estimate in place of 3.09, 6 % more."""

_TIMED_SHARE = 0.2
"""The same where a deadline may pass, although the samples are planned for it. Chosen by hand: 3.16 standard errors at
99.9 % confidence, 2 % more."""

_RESERVE = 0.05
"""The same where only a failure of the target would end sampling early. Chosen by hand: 3.11 standard errors at 99.9 %
confidence, 0.5 % more."""

_ROUNDS = 8
"""Rounds, about, of the final sample of a target that may fail. A round that fails counts for nothing, an eighth of the
sample. Chosen by hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairBound:
    """Lower confidence bound on the forced parameter of a guarantee, for one pair of inputs.

    Attributes
    ----------
    value
        The bound: with the stated confidence no smaller value holds; 0 where nothing can be said.
    detection_limit
        Smallest value that would have been refuted with 95 % power, if an event about as likely as this one forced it;
        ``inf`` if none. What other events show, such as rarer ones, may be larger and be missed.
    event
        The event, in a form that can be recomputed.
    reverse
        Whether the event is likelier on the second input.
    hits, trials
        Occurrences and trials on the likelier and on the other input, in the final sample.
    p, q
        Observed frequencies of the event on the likelier and on the other input.
    samples
        Samples drawn from both inputs altogether.
    stopped_early
        Whether sampling ended before the budget, because the claim had been refuted.
    out_of_time
        Whether sampling ended before the budget that was asked for, because its deadline had passed.
    shortened
        Whether the deadline left time for fewer samples than there are without one, and nobody asked for as many.
    recipe
        The event as data, from which `dpaudit verify` makes it again; None where it can only be learned again.
    candidate
        Which of the events chosen this one is: 0 for the main one, others beside it.
    rounds
        Rounds of a few outputs after which bets refuted the claim; 0 where the bound is that of the counts.
    blind
        Whether the claim was not refuted and a planted difference went unnoticed too; the limit is ``inf`` then.
    identifier
        The part of an output that is like an identifier, in words; empty where none is known.
    failure
        What the target failed with before the final sample was complete; empty where it did not.
    left_out
        Names of the families of scores that would have taken too long.
    fitting
        Outputs per input that chose the event, where memory holds no more of that width; 0 where it holds as many as
        are worth it.
    by_text
        Names of the types of which only the ``repr`` was seen, where a planted difference went unnoticed.
    unchecked
        Whether the time was over before it was known if a planted difference would be noticed; it counts as blind.
    too_few
        Whether there were too few outputs for a planted difference to be noticed, whatever they are.
    rarer
        Probability of the event that the limit is about, where none as likely as this one can force so much; else 0.
    hidden
        How many features chose the event, where all were equal and the claim was not refuted; the limit is ``inf``
        then. 0 where they were not, and where the outputs themselves are looked at: one that is constant is private.
    held
        What the outputs are or hold, where a planted difference went unnoticed (`Selection.held`).
    """

    value: float
    detection_limit: float
    event: Any
    reverse: bool
    hits: tuple[int, int]
    trials: tuple[int, int]
    p: float
    q: float
    samples: int
    stopped_early: bool = False
    out_of_time: bool = False
    shortened: bool = False
    recipe: dict[str, Any] | None = None
    candidate: int = 0
    rounds: int = 0
    blind: bool = False
    identifier: str = ""
    failure: str = ""
    left_out: tuple[str, ...] = ()
    fitting: int = 0
    by_text: tuple[str, ...] = ()
    unchecked: bool = False
    too_few: bool = False
    rarer: float = 0.0
    hidden: int = 0
    held: tuple[str, ...] = ()


def check_samples(samples: int) -> None:
    """Raise ParameterError where samples are too few to be split."""
    if samples < LEAST_SAMPLES:
        raise ParameterError(f"samples must be at least {LEAST_SAMPLES} for an audit by sampling, got {samples}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTask:
    """What one pair is audited for: a guarantee, a number of samples per input, an error probability.

    ``most_selected`` limits the samples per input that choose the event; ``timed`` says that a deadline may end
    sampling at any time, ``asked`` how many samples per input there would be without it, and ``at_most`` that nobody
    asked for as many. ``may_fail`` says that the target may end sampling by failing, after which what was drawn before
    still counts.
    """

    guarantee: Guarantee
    samples: int
    alpha: float
    stop_early: bool = False
    timed: bool = False
    most_selected: int = _MOST_SELECTED
    asked: int = 0
    at_most: bool = False
    may_fail: bool = False

    @property
    def selection(self) -> int:
        """Samples per input that choose the event."""
        least = min(LEAST_SAMPLES // 5, max(self.samples // 2, _LEAST_SELECTED))
        beyond = max(self.samples / _MANY, 1.0)
        share = _SELECTION_SHARE * beyond ** (_MANY_POWER - 1)
        return min(max(least, int(self.samples * share)), self.most_selected)

    @property
    def final(self) -> int:
        """Samples per input that bound its probabilities."""
        return self.samples - self.selection

    def round_size(self, final: int) -> int:
        """Outputs per input of a round of the final sample, at most."""
        return min(CHUNK, max(_FIRST_ROUND, -(-final // _ROUNDS))) if self.may_fail else CHUNK

    @property
    def test(self) -> FinalTest:
        """The test that these samples make."""
        return FinalTest(self.guarantee, self.final, self.alpha)

    @property
    def sequential_share(self) -> float:
        """Part of the error probability that the bound gets which holds at all times."""
        if self.stop_early:
            return _SEQUENTIAL_SHARE
        if self.timed:
            return _TIMED_SHARE
        return _RESERVE if self.may_fail else 0.0


def planned_in_time(sampler: Sampler, x: Any, y: Any, task: PairTask) -> PairTask:
    """Plan no more samples than the deadline allows, by what outputs on a pair of inputs took so far."""
    for data in (x, y):
        sampler.check_deterministic(data)
    samples = int(min(task.samples, max(_in_time(sampler.pace, x, y), _FEWEST)))
    sampler.pace.plan(2 * samples)
    return replace(task, samples=samples)


def _in_time(pace: Pace, x: Any, y: Any) -> float:
    """How many outputs on each of two inputs are planned for the time left."""
    return _SAMPLING_SHARE * pace.outputs_within(1.0, input_key(x), input_key(y))


def choose_for_pair(sampler: Sampler, x: Any, y: Any, task: PairTask) -> Selection:
    """Choose the events of a pair of inputs from its selection samples."""
    sampler = sampler.about(x, y)
    sides, _, task = _selection_samples(sampler, x, y, task)
    return _choose(sampler, sides, task, (input_key(x), input_key(y)))


def _selection_samples(
    sampler: Sampler, x: Any, y: Any, task: PairTask
) -> tuple[tuple[Outputs, Outputs], list[int], PairTask]:
    """Draw the samples that choose the events; return also how many each call on one input drew, and the task.

    The task has more samples where they took less time. They are fewer than planned where a part of the time left is
    over before.
    """
    if not task.timed:
        wanted = [(data, task.selection, ("selection", side)) for side, data in enumerate((x, y))]
        of_x, of_y = alike(*sampler.draw_all(wanted))
        sampler.keep_form()
        calls = [min(CHUNK, len(of_x) - first) for first in range(0, len(of_x), CHUNK)]
        return (Outputs(of_x), Outputs(of_y)), calls, task
    until = clock() + _SELECTION_TIME * sampler.pace.left
    parts: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    drawn = 0
    keys = input_key(x), input_key(y)
    while drawn < task.selection and (clock() < until or drawn < _LEAST_SELECTED):
        if drawn >= _LEAST_SELECTED and not sampler.pace.leaves_a_call(*keys):
            break
        size = sampler.pace.call_size(min(CHUNK, task.selection - drawn), *keys)
        for side, data in enumerate((x, y)):
            parts[side].append(sampler.draw_once(data, size, "selection", side, len(parts[side]), sized=True))
        drawn += size
        # Larger calls show what an output takes where a call takes long whatever its size.
        fitting = min(task.asked, drawn + _in_time(sampler.pace, x, y))
        if fitting > _FAR_MORE * task.samples:
            task = replace(task, samples=int(fitting))
    of_x, of_y = alike(*map(concatenated, parts))
    sampler.keep_form()
    return (Outputs(of_x), Outputs(of_y)), [len(part) for part in parts[0]], task


def _check_order(
    sampler: Sampler, sides: tuple[Outputs, Outputs], calls: Sequence[int], inputs: tuple[Any, Any]
) -> tuple[Middles, Middles]:
    """Return the middles of what was drawn on either input.

    Raises
    ------
    CheckError
        Outputs depend on each other.
    """
    ends = np.cumsum(calls).tolist()
    found = []
    for outputs, data in zip(sides, inputs, strict=True):
        oddity, middles = of_calls(np.split(outputs.raw, ends[:-1]), sampler.width)
        check_independent(oddity, sampler.name, data)
        found.append(middles)
    return found[0], found[1]


def _choose(sampler: Sampler, sides: tuple[Outputs, Outputs], task: PairTask, keys: tuple[Any, Any]) -> Selection:
    with sampler.pace.doing(f"choosing an event from {len(sides[0]):,} outputs per input"):
        test = replace(task.test, supported=sampler.supported)
        if not task.timed:
            return select_events(*sides, test)
        return _choose_in_time(sides, test, sampler.pace, task.asked - len(sides[0]), keys)


def _choose_in_time(
    sides: tuple[Outputs, Outputs], test: FinalTest, pace: Pace, final: int, keys: tuple[Any, Any]
) -> Selection:
    """Choose events from as many outputs as the time for choosing allows, by what fewer of them have taken.

    That is a part of the time left, or of what ``final`` outputs on the inputs of these keys leave of it; a larger part
    below `_FEW_LEARNED` outputs, which choose poor events of wide outputs. What it takes to count the events goes into
    the pace. Where families of scores were left out for lack of time, fewer outputs may have chosen a better event.
    """
    until, latest = (clock() + share * pace.left for share in (_LEARNING_SHARE, _LATEST_SHARE))
    rows, most = first_rows(sides[0]), len(sides[0])
    fewer, shorter = 0, 0.0
    before: Selection | None = None
    checked: Selection | None = None
    while True:
        begun = clock()
        selection = select_events(sides[0][:rows], sides[1][:rows], test, until=latest)
        ended = clock()
        if before is not None and selection.left_out and before.main.predicted >= selection.main.predicted:
            return _looked_through(before, sides, fewer, test, latest)
        if rows < _CHECKED_ROWS and selection.blind and selection.identified is None:
            # So few tell no difference, whatever the outputs are.
            selection = replace(selection, blind=False, unchecked=True)
        if not selection.unchecked:
            checked = selection if rows >= _CHECKED_ROWS else None
        elif checked is not None:
            # What fewer outputs may hide, more of them may hide.
            known = {name: getattr(checked, name) for name in ("blind", "identified", "by_text", "held", "unchecked")}
            selection = replace(selection, **known)
        pace.extra = _seconds_per_counted_output(selection, sides, pace.left)
        spare = pace.left * max(0.0, 1 - final / max(pace.outputs_within(_FINAL_SHARE, *keys), 1.0))
        until = max(until, ended + _LEARNING_SPARE * spare)
        latest = max(latest, ended + _LATEST_SPARE * spare)
        seconds = max(ended - begun, 1e-9)
        # What learning takes however few the outputs are would make each of a few outputs seem slow.
        each = max((seconds - shorter) / (rows - fewer) if fewer else 0.0, _LEARNING_PART * seconds / rows)
        fixed = max(seconds - each * rows, 0.0)
        caution = _LESS_CAUTION if fewer and rows < _FEW_LEARNED else float(_LEARNING_CAUTION)
        end = max(until, latest) if rows < _FEW_LEARNED else until
        affordable = max(end - clock() - fixed, 0.0) / (caution * each)
        if rows == most or affordable < 2 * rows:
            return _looked_through(selection, sides, rows, test, latest)
        before, fewer, shorter = selection, rows, seconds
        rows = int(min(affordable, _LEARNING_GROWTH * rows, most))


def _looked_through(
    selection: Selection, sides: tuple[Outputs, Outputs], rows: int, test: FinalTest, latest: float
) -> Selection:
    """Look for what identifies in more outputs than there was time to learn from, which takes far less time."""
    more = min(_IDENTIFIED_ROWS, len(sides[0]))
    known = selection.identified is not None or selection.unchecked or test.supported
    if known or rows >= more or sides[0].dtype.kind in "fc":
        return selection
    with suppress(TooLongError), ready_by(max(latest, clock() + _LEAST_LOOK)):
        found = identifier(sides[0][:more], sides[1][:more])
        return selection if found is None else replace(selection, blind=True, identified=found)
    return replace(selection, blind=False, unchecked=True)


def first_rows(outputs: Outputs) -> int:
    """Return from how many of these outputs events are chosen first where there is a deadline."""
    fitting = _LEARNING_VALUES // outputs.width if outputs.dtype.kind in "biufc" else _LEAST_LEARNING_ROWS
    return min(len(outputs), _LEARNING_ROWS, max(_LEAST_LEARNING_ROWS, fitting))


def _seconds_per_counted_output(selection: Selection, sides: tuple[Outputs, Outputs], left: float) -> float:
    """Seconds that it takes to look for the events in one more output.

    More and more outputs are looked at, as long as that takes a small part of the time left: what a look takes however
    few outputs it is at would make each of a few outputs seem slow, and all outputs too many for the time left.
    """
    rows, most = first_rows(sides[0]), min(_LOOKING_ROWS, len(sides[0]))
    seconds = _looking(selection, sides, rows)
    if seconds <= _LOOKING_SHARE * left:
        seconds = min(seconds, _looking(selection, sides, rows))
    each = seconds / (2 * rows)
    while rows < most and 2 * each * (more := min(_LOOKING_GROWTH * rows, most)) <= _LOOKING_SHARE * left:
        # Whatever else the machine does makes a look longer, and never shorter.
        took = min(_looking(selection, sides, more) for _ in range(2))
        each = max(took - seconds, 0.0) / (2 * (more - rows))
        rows, seconds = more, took
    return each


def _looking(selection: Selection, sides: tuple[Outputs, Outputs], rows: int) -> float:
    """Seconds that it takes to look for the events in so many outputs of either input."""
    # What was worked out for these outputs while they were learned from is to be worked out for others.
    fresh = [Scored(Outputs(side[:rows].raw)) for side in sides]
    begun = clock()
    for choice in selection.choices:
        for side in fresh:
            side.occurrences(choice.event)
    return max(clock() - begun, 0.0)


def _chosen(sampler: Sampler, x: Any, y: Any, task: PairTask) -> tuple[Selection, int, tuple[Middles, Middles], bytes]:
    """Choose the events of a pair; return also from how many outputs per input, and all that as bytes where possible.

    The middles of these outputs are a part of it, for comparisons with later ones, and so is what the sampler knows of
    the outputs by then: the events belong to outputs of that form.
    """

    def choose() -> tuple[Selection, int, State, tuple[Middles, Middles]]:
        sides, calls, planned = _selection_samples(sampler, x, y, task)
        middles = _check_order(sampler, sides, calls, (x, y))
        keys = input_key(x), input_key(y)
        return _choose(sampler, sides, planned, keys), len(sides[0]), sampler.state, middles

    if sampler.work is None:
        selection, selected, _, middles = choose()
        return selection, selected, middles, b""
    before = sampler.pace.drawn
    (selection, selected, state, middles), kept = sampler.work.keep(sampler, "chosen", choose, "events")
    if sampler.pace.drawn == before:
        # They were drawn before this audit was started again.
        sampler.pace.drawn += 2 * selected
    sampler.restore(state)
    return selection, selected, middles, kept


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
class _EventCount:
    """Occurrences of one event in the final sample so far, on its likelier input and on the other."""

    choice: Choice
    alpha: float
    hits: tuple[int, int] = (0, 0)
    trials: tuple[int, int] = (0, 0)

    def add(self, place: int, found: tuple[_RoundCounts, _RoundCounts]) -> None:
        """Add what was found on the first and on the second input, where this is the event at that place."""
        counts = [side.hits[place] for side in found]
        sizes = [side.trials for side in found]
        if self.choice.reverse:
            counts, sizes = counts[::-1], sizes[::-1]
        self.hits = (self.hits[0] + counts[0], self.hits[1] + counts[1])
        self.trials = (self.trials[0] + sizes[0], self.trials[1] + sizes[1])

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


def bound_pair(sampler: Sampler, x: Any, y: Any, task: PairTask) -> PairBound:
    """Choose events for a pair of inputs and bound their probabilities on fresh samples.

    Raises
    ------
    OutOfTimeError
        The deadline passed before the final sample was begun.
    CheckError
        The sampler breaks its contract; outputs that depend on each other beyond chance do.

    Notes
    -----
    **Guarantee.** As `epsilon_lower_bound`, also where sampling stops early. Two bounds share the error probability:
    one for the whole final sample, and one that holds at all times at once (`anytime_lower`). Whichever is reported,
    and whatever made sampling stop, be it the outcome so far, the time that the outputs took, or a target that failed,
    it is wrong only where that bound is wrong at some time. A round of which only a part was drawn counts for nothing.
    A failure is no output of an event, so that the bound is one on a mechanism for which failing is an output too.
    """
    for data in (x, y):
        sampler.check_deterministic(data)
    planned = task.selection
    task = replace(task, most_selected=sampler.selection_limit)
    fewer = sampler.selection_limit == sampler.memory_limit and task.selection < planned
    sampler = sampler.about(x, y)
    selection, selected, middles, kept = _chosen(sampler, x, y, task)
    chosen = zip(selection.choices, selection.shares, strict=True)
    counts = [_EventCount(choice, task.alpha * share) for choice, share in chosen]
    at_any_time, stopped, late = task.sequential_share, False, False
    failure: TargetRaisedError | None = None
    final = task.final
    if task.timed:
        keys = input_key(x), input_key(y)
        # What the outputs before took says how many there will be; these play no part in that.
        fitting = sampler.pace.outputs_within(_FINAL_SHARE, *keys)
        if fitting < task.asked - selected and sampler.form[0] not in "biufc":
            for data in (x, y):
                sampler.measure_again(data)
            fitting = sampler.pace.outputs_within(_FINAL_SHARE, *keys)
        final = max(1, int(min(task.asked - selected, fitting)))
        sampler.pace.planned = sampler.pace.drawn + 2 * final
        if sampler.pace.announce is not None:
            limit = _limit(counts[0], task.guarantee, final, 1 - at_any_time)
            sampler.pace.announce(
                f"with {duration(sampler.pace.left)} left, about {final:,} more outputs per input: detection limit "
                f"{limit:.2g}"
            )
    events = [count.choice.event for count in counts]
    rounds = _Rounds(
        sampler, x, y, final, task.guarantee, growing=task.stop_early, most=task.round_size(final), middles=middles
    )
    orders = _Order(), _Order()
    try:
        # A target that may fail is drawn from here, so that a failure leaves the rounds before it.
        for found in rounds.counts(events, b"" if task.may_fail else kept):
            for place, count in enumerate(counts):
                count.add(place, found)
            for order, side in zip(orders, found, strict=True):
                order.add(side)
            if sampler.pace.announce is not None:
                bound = max(_best(counts, task, at_any_time or 1.0, whole=False)[0], 0.0)
                sampler.pace.found = f"{task.guarantee.forced} at least {bound:.4g} so far"
            stopped = task.stop_early and task.guarantee.exceeds(_best(counts, task, at_any_time, whole=False)[0])
            if stopped:
                break
    except OutOfTimeError:
        late = True
    except WantedError as error:
        error.found = _found_so_far(rounds, events, kept, selection, task)
        raise
    except TargetRaisedError as error:
        if not task.may_fail or not any(counts[0].trials):
            raise
        failure = error
    for place, (order, data) in enumerate(zip(orders, (x, y), strict=True)):
        check_independent(order.oddest(), sampler.name, data)
        check_independent(oddest(count.oddity(place) for count in counts), sampler.name, data)
    whole = not (stopped or late or failure)
    bound, best = _best(counts, task, 1 - at_any_time if whole else at_any_time, whole=whole)
    if failure is not None and not task.guarantee.exceeds(bound):
        raise _with_what_was_shown(failure, best, bound, task.guarantee) from failure.__cause__
    # Where the time was over before the sample was complete, the test is that of the bound which holds at all times.
    limit = (
        _limit(best, task.guarantee, min(best.trials), at_any_time, at_all_times=True)
        if late
        else _limit(best, task.guarantee, final, 1 - at_any_time)
    )
    made = _pair_bound(best, bound, limit, selected, naming_of(sampler))
    blind = selection.overlooks(made.value, task.guarantee)
    hidden = selection.alike and sampler.may_hide and not task.guarantee.exceeds(made.value)
    fewer_fit = late or (whole and task.timed and final < task.asked - selected)
    shortened = fewer_fit and task.at_most and math.isfinite(limit)
    return replace(
        made,
        blind=blind,
        unchecked=blind and selection.unchecked,
        identifier="" if selection.identified is None else selection.identified.describe(naming_of(sampler)),
        left_out=selection.left_out,
        by_text=selection.by_text,
        held=selection.held,
        too_few=math.isinf(limit) or selected < LEAST_SAMPLES // 5,
        fitting=selected if fewer else 0,
        detection_limit=math.inf if blind or hidden else limit,
        rarer=rarer_than(best.choice, task.guarantee, limit),
        hidden=2 * selected if hidden else 0,
        candidate=next(place for place, count in enumerate(counts) if count is best),
        stopped_early=stopped,
        out_of_time=fewer_fit and not shortened,
        shortened=shortened,
        failure="" if failure is None else str(failure),
    )


def _with_what_was_shown(
    failure: TargetRaisedError, best: _EventCount, bound: float, guarantee: Guarantee
) -> TargetRaisedError:
    """Return the failure with what the outputs before it say: too little to refute, and failing is no pass."""
    digits = 10**_DIGITS
    shown = f"{guarantee.forced} of at least {math.floor(bound * digits) / digits:g}" if bound > 0 else "nothing"
    return TargetRaisedError(
        f"{failure}; the {sum(best.trials)} outputs of the final sample before that show {shown}, which is no verdict"
    )


def _found_so_far(
    rounds: _Rounds, events: Sequence[ThresholdEvent], kept: bytes, selection: Selection, task: PairTask
) -> str:
    """What the rounds that are known by now bound, in words; nothing before the first."""
    chosen = zip(selection.choices, selection.shares, strict=True)
    counts = [_EventCount(choice, task.alpha * share) for choice, share in chosen]
    for found in rounds.known(kept):
        for place in range(len(events)):
            counts[place].add(place, found)
    if not sum(counts[0].trials):
        return ""
    bound = max(_best(counts, task, task.sequential_share or 1.0, whole=False)[0], 0.0)
    return f"{task.guarantee.forced} at least {bound:.4g} so far"


def _best(counts: list[_EventCount], task: PairTask, share: float, *, whole: bool) -> tuple[float, _EventCount]:
    """Return the largest bound, with that part of the error probability, and its event."""
    bounds = [(count.bound if whole else count.anytime_bound)(task.guarantee, count.alpha * share) for count in counts]
    return max(bounds), counts[bounds.index(max(bounds))]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventBound:
    """Occurrences and trials of one event on its likelier input and on the other, and the value that they force.

    With what the numbers of outputs are called.
    """

    hits: tuple[int, int]
    trials: tuple[int, int]
    value: float
    naming: Naming = PLAIN


def naming_of(sampler: Sampler) -> Naming:
    """Return what the numbers of its outputs are called in words, after some were drawn."""
    kind, shape = sampler.form
    looked_at = sampler.state.forms[1].seen is not None
    return Naming(shape, kind == "c", sampler.supported, "features" if looked_at else "output")


def bound_event(
    sampler: Sampler, x: Any, y: Any, *, choice: Choice, guarantee: Guarantee, samples: int, alpha: float
) -> EventBound:
    """Bound the forced parameter by an event that other samples have chosen, from so many samples per input."""
    for data in (x, y):
        sampler.check_deterministic(data)
    if is_of_numbers(choice.event.score):
        sampler.keep_form()
    count = _EventCount(choice, alpha)
    sampler = sampler.about(x, y)
    for found in _Rounds(sampler, x, y, samples, guarantee, growing=False).counts([choice.event]):
        count.add(0, found)
    value = max(count.bound(guarantee, alpha), 0.0)
    return EventBound(hits=count.hits, trials=count.trials, value=value, naming=naming_of(sampler))


class _RoundCounts(NamedTuple):
    """How many outputs on one input were drawn, and how many of them are in each event.

    Also the same for each call, outputs first, and what is oddest about the order within calls.
    """

    hits: list[int]
    trials: int
    calls: tuple[tuple[int, ...], ...] = ()
    oddity: Oddity = Oddity()


@dataclass(slots=True)
class _Order:
    """What the order of outputs of the final sample on one input says so far against their independence."""

    calls: list[tuple[int, ...]] = field(default_factory=list)
    oddity: Oddity = field(default_factory=Oddity)

    def add(self, found: _RoundCounts) -> None:
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

    def run(self, sampler: Sampler, shared: bytes) -> _RoundCounts:
        selection, _, state, middles = pickle.loads(shared)  # noqa: S301 - what an audit of the same target wrote
        return self.count(sampler.at(state), [choice.event for choice in selection.choices], middles)

    def count(
        self,
        sampler: Sampler,
        events: Sequence[ThresholdEvent],
        middles: tuple[Middles, Middles] = (Middles(), Middles()),
    ) -> _RoundCounts:
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
        return _RoundCounts(totals, sum(self.sizes), tuple(calls), oddest(found))


@dataclass(slots=True)
class _Rounds:
    """The final sample, in rounds of about ``most`` outputs per input; of fewer where sampling may stop soon."""

    sampler: Sampler
    x: Any
    y: Any
    samples: int
    guarantee: Guarantee
    growing: bool = False
    most: int = CHUNK
    middles: tuple[Middles, Middles] = (Middles(), Middles())

    def counts(
        self, events: Sequence[ThresholdEvent], kept: bytes = b""
    ) -> Iterator[tuple[_RoundCounts, _RoundCounts]]:
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

    def known(self, kept: bytes) -> Iterator[tuple[_RoundCounts, _RoundCounts]]:
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
                size = min(size, max(_FIRST_ROUND, drawn))
            size = sampler.pace.call_size(size, *keys)
            sizes = (size, size)
            if self.guarantee.by_ratio:
                # Fair coins assign the trials, so that the hits' split is binomial whatever their number.
                first = int(coins.binomial(2 * size, 0.5))
                sizes = (first, 2 * size - first)
            yield sizes
            drawn += size


def _limit(best: _EventCount, guarantee: Guarantee, trials: int, share: float, *, at_all_times: bool = False) -> float:
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


def _pair_bound(best: _EventCount, bound: float, limit: float, selected: int, naming: Naming) -> PairBound:
    choice = best.choice
    return PairBound(
        value=max(bound, 0.0),
        detection_limit=limit,
        event=choice.event.describe(naming),
        reverse=choice.reverse,
        hits=best.hits,
        trials=best.trials,
        p=best.hits[0] / max(best.trials[0], 1),
        q=best.hits[1] / max(best.trials[1], 1),
        samples=2 * selected + sum(best.trials),
        recipe=choice.event.to_json(),
    )
