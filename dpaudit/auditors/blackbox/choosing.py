"""Choosing the events of one pair of inputs from a part of its samples, in the time that a deadline leaves."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from dpaudit.auditors.blackbox.counting import Scored
from dpaudit.auditors.blackbox.tasks import FINAL_SHARE, LEAST_SELECTED, PairTask
from dpaudit.auditors.learning.counts import FinalTest
from dpaudit.auditors.learning.planted import identifier
from dpaudit.auditors.learning.selection import Selection, select_events
from dpaudit.auditors.outputs.flat import size_of
from dpaudit.auditors.outputs.forms import alike, concatenated
from dpaudit.auditors.outputs.outputs import Outputs
from dpaudit.auditors.sampling.order import Middles, check_independent, of_calls
from dpaudit.auditors.sampling.pace import Pace, TooLongError, clock, ready_by
from dpaudit.auditors.sampling.sampler import Sampler
from dpaudit.auditors.sampling.streams import CHUNK
from dpaudit.auditors.sampling.work import State
from dpaudit.claims.inputs import input_key

_SAMPLING_SHARE = 0.8
"""Part of the time until the deadline that sampling is planned for; the rest is for learning. Chosen by hand."""

_FAR_MORE = 1.5
"""How many times as many samples as were planned must fit for more to be planned. Chosen by hand: estimates of what an
output takes vary by less, unless calls take long whatever their size."""

_FEWEST = 20
"""Fewest samples per input that are planned, however little time there is: half of them are the `LEAST_SELECTED` that
choose an event."""

_ORDER_SHARE = 0.05
"""Part of the time left in which the order of the outputs on one input is looked at. Chosen by hand."""

_SELECTION_TIME = 0.35
"""Part of the time left after which no further selection samples are drawn, whatever was planned. Chosen by hand:
sampling may turn out slower than planned, and the final sample should still have most of the time."""

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

_FIRST_VALUES, _LEFT_FOR_MORE = 25_000, 3.0
"""Values of structured outputs, for each second left, from which events are chosen first where so many seconds are
left, but no fewer outputs than otherwise. Measured: 100 dicts of three numbers took 0.4 seconds, 400 took 0.8 and 1,600
took 1.0; 100 texts of 180 characters took 1.4, and 350 took 1.8."""

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

_FEW_SHARE = 0.6
"""Part of the time left in which a step below `_FEW_LEARNED` outputs ends, as long as the final sample has many more
outputs than that step. Chosen by hand."""

_FINAL_PER_LEARNED = 4
"""How many times as many outputs these are: where there is no deadline, a fifth of all outputs chooses the event."""

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
    while drawn < task.selection and (clock() < until or drawn < LEAST_SELECTED):
        if drawn >= LEAST_SELECTED and not sampler.pace.leaves_a_call(*keys):
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
        seconds = _ORDER_SHARE * sampler.pace.left
        oddity, middles = of_calls(np.split(outputs.raw, ends[:-1]), sampler.width, seconds, sampler.naming)
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
    rows, most, first = first_rows(sides[0]), len(sides[0]), latest
    if sides[0].dtype.kind == "O" and pace.left >= _LEFT_FOR_MORE:
        fitting = int(_FIRST_VALUES * pace.left) // max(size_of(sides[0].raw[0]), 1)
        rows = min(most, _LEARNING_ROWS, max(rows, fitting))
        first = clock() + _FEW_SHARE * pace.left
    fewer, shorter = 0, 0.0
    before: Selection | None = None
    checked: Selection | None = None
    while True:
        begun = clock()
        selection = select_events(sides[0][:rows], sides[1][:rows], test, until=latest if before else first)
        ended = clock()
        if before is not None and selection.left_out and before.main.predicted >= selection.main.predicted:
            return _looked_through(before, sides, fewer, test, latest)
        if rows < min(most, _FEW_LEARNED):
            selection = replace(selection, learned=rows)
        if rows < _CHECKED_ROWS and selection.blind and selection.identified is None:
            # So few tell no difference, whatever the outputs are.
            selection = replace(selection, blind=False, unchecked=True)
        if not selection.unchecked:
            checked = selection if rows >= _CHECKED_ROWS else None
        elif checked is not None:
            # What fewer outputs may hide, more of them may hide.
            known = {
                name: getattr(checked, name)
                for name in ("blind", "repeated", "identified", "by_text", "held", "unchecked")
            }
            selection = replace(selection, **known)
        pace.extra = _seconds_per_counted_output(selection, sides, pace.left)
        spare = pace.left * max(0.0, 1 - final / max(pace.outputs_within(FINAL_SHARE, *keys), 1.0))
        until = max(until, ended + _LEARNING_SPARE * spare)
        latest = max(latest, ended + _LATEST_SPARE * spare)
        seconds = max(ended - begun, 1e-9)
        # What learning takes however few the outputs are would make each of a few outputs seem slow.
        each = max((seconds - shorter) / (rows - fewer) if fewer else 0.0, _LEARNING_PART * seconds / rows)
        fixed = max(seconds - each * rows, 0.0)
        caution = _LESS_CAUTION if fewer and rows < _FEW_LEARNED else float(_LEARNING_CAUTION)
        end = max(until, latest) if rows < _FEW_LEARNED else until
        affordable = max(end - clock() - fixed, 0.0) / (caution * each)
        if rows < _FEW_LEARNED:
            # An event that few outputs chose is bounded no better by very many.
            later = ended + _FEW_SHARE * pace.left
            many = (1 - _FEW_SHARE) * pace.outputs_within(FINAL_SHARE, *keys) / _FINAL_PER_LEARNED
            more = min(max(later - clock() - fixed, 0.0) / (caution * each), many)
            if more > affordable:
                affordable, latest = more, max(latest, later)
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
    until = max(latest, clock() + _LEAST_LOOK)
    if sides[0].dtype.kind == "O" and clock() + more * _seconds_per_identified_output(sides) > until:
        return replace(selection, blind=False, unchecked=True)
    with suppress(TooLongError), ready_by(until):
        found = identifier(sides[0][:more], sides[1][:more])
        return selection if found is None else replace(selection, blind=True, repeated=False, identified=found)
    return replace(selection, blind=False, unchecked=True)


def _seconds_per_identified_output(sides: tuple[Outputs, Outputs]) -> float:
    """Seconds that it takes to look for what identifies in one more structure of either input."""
    rows = first_rows(sides[0])
    fresh = [Outputs(side[:rows].raw) for side in sides]
    begun = clock()
    identifier(*fresh)
    return (clock() - begun) / rows


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


def chosen(sampler: Sampler, x: Any, y: Any, task: PairTask) -> tuple[Selection, int, tuple[Middles, Middles], bytes]:
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
