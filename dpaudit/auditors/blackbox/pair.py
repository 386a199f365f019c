"""A lower confidence bound on what one pair of inputs forces, from samples alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpaudit.auditors.blackbox.alone import check_drawn_alone
from dpaudit.auditors.blackbox.choosing import chosen
from dpaudit.auditors.blackbox.counting import EventCount, Order, Rounds, limit_of, rarer_than
from dpaudit.auditors.blackbox.tasks import FINAL_SHARE, LEAST_SAMPLES, PairTask
from dpaudit.auditors.learning.counts import Choice, ThresholdEvent
from dpaudit.auditors.learning.scores import is_of_numbers
from dpaudit.auditors.learning.selection import Selection
from dpaudit.auditors.outputs.column_words import PLAIN, Naming
from dpaudit.auditors.sampling.order import MOST_LOOKS, check_independent, oddest
from dpaudit.auditors.sampling.pace import OutOfTimeError, duration
from dpaudit.auditors.sampling.sampler import Sampler
from dpaudit.auditors.sampling.trial_calls import measure_again
from dpaudit.auditors.sampling.work import WantedError
from dpaudit.claims.guarantees import Guarantee
from dpaudit.claims.inputs import input_key
from dpaudit.errors import TargetRaisedError

_DIGITS = 4
"""Digits after the point of a bound in a message. Chosen by hand; the bound is rounded down."""


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
        Whether the claim was not refuted and a planted difference went unnoticed too, other than for lack of samples
        alone; the limit is ``inf`` in both cases.
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
    learned
        Of the outputs per input that were drawn to choose the event, as many as there was time to learn from, and all
        of them; zeros where there was time for thousands.
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
    learned: tuple[int, int] = (0, 0)


def bound_pair(sampler: Sampler, x: Any, y: Any, task: PairTask) -> PairBound:
    """Choose events for a pair of inputs and bound their probabilities on fresh samples.

    Raises
    ------
    OutOfTimeError
        The deadline passed before the final sample was begun.
    CheckError
        The sampler breaks its contract, or its outputs depend on each other beyond chance or on a state.

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
    selection, selected, middles, kept = chosen(sampler, x, y, task)
    counts = _counts_of(selection, task)
    at_any_time, stopped, late = task.sequential_share, False, False
    failure: TargetRaisedError | None = None
    final = task.final
    if task.timed:
        keys = input_key(x), input_key(y)
        # What the outputs before took says how many there will be; these play no part in that.
        fitting = sampler.pace.outputs_within(FINAL_SHARE, *keys)
        if fitting < task.asked - selected and sampler.form[0] not in "biufc":
            for data in (x, y):
                measure_again(sampler, data)
            fitting = sampler.pace.outputs_within(FINAL_SHARE, *keys)
        final = max(1, int(min(task.asked - selected, fitting)))
        sampler.pace.planned = sampler.pace.drawn + 2 * final
        if sampler.pace.announce is not None:
            limit = limit_of(counts[0], task.guarantee, final, 1 - at_any_time)
            sampler.pace.announce(
                f"with {duration(sampler.pace.left)} left, about {final:,} more outputs per input: detection limit "
                f"{limit:.2g}"
            )
    events = [count.choice.event for count in counts]
    rounds = Rounds(
        sampler, x, y, final, task.guarantee, growing=task.stop_early, most=task.round_size(final), middles=middles
    )
    orders = Order(), Order()
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
    try:
        for data in (x, y) if failure is None else ():
            sampler.check_unchanged(data)
    except TargetRaisedError as error:
        if not task.may_fail:
            raise
        failure = error
    for place, (order, data) in enumerate(zip(orders, (x, y), strict=True)):
        check_independent(order.oddest(), sampler.name, data)
        check_independent(oddest(count.oddity(place) for count in counts), sampler.name, data)
    whole = not (stopped or late or failure)
    bound, best = _best(counts, task, 1 - at_any_time if whole else at_any_time, whole=whole)
    if failure is not None and not task.guarantee.exceeds(bound):
        raise _with_what_was_shown(failure, best, bound, task.guarantee) from failure.__cause__
    if failure is None and task.guarantee.exceeds(bound):
        # More events may be chosen, and sampling may stop, in one of few ways.
        check_drawn_alone(sampler, (x, y), best.choice.event, best.counted, looks=len(counts) * MOST_LOOKS)
    # Where the time was over before the sample was complete, the test is that of the bound which holds at all times.
    limit = (
        limit_of(best, task.guarantee, min(best.trials), at_any_time, at_all_times=True)
        if late
        else limit_of(best, task.guarantee, final, 1 - at_any_time)
    )
    made = _pair_bound(best, bound, limit, selected, sampler.naming)
    blind = selection.overlooks(made.value, task.guarantee)
    hidden = selection.alike and bool(sampler.may_hide or selection.by_text) and not task.guarantee.exceeds(made.value)
    fewer_fit = late or (whole and task.timed and final < task.asked - selected)
    shortened = fewer_fit and task.at_most and math.isfinite(limit)
    return replace(
        made,
        blind=blind and not selection.repeated,
        unchecked=blind and selection.unchecked,
        identifier="" if selection.identified is None else selection.identified.describe(sampler.naming),
        left_out=selection.left_out,
        by_text=selection.by_text,
        held=selection.held,
        too_few=math.isinf(limit) or selected < LEAST_SAMPLES // 5,
        fitting=selected if fewer else 0,
        learned=(selection.learned, selected) if selection.learned else (0, 0),
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
    failure: TargetRaisedError, best: EventCount, bound: float, guarantee: Guarantee
) -> TargetRaisedError:
    """Return the failure with what the outputs before it say: too little to refute, and failing is no pass."""
    digits = 10**_DIGITS
    shown = f"{guarantee.forced} of at least {math.floor(bound * digits) / digits:g}" if bound > 0 else "nothing"
    return TargetRaisedError(
        f"{failure}; the {sum(best.trials)} outputs of the final sample before that show {shown}, which is no verdict"
    )


def _found_so_far(
    rounds: Rounds, events: Sequence[ThresholdEvent], kept: bytes, selection: Selection, task: PairTask
) -> str:
    """What the rounds that are known by now bound, in words; nothing before the first."""
    counts = _counts_of(selection, task)
    for found in rounds.known(kept):
        for place in range(len(events)):
            counts[place].add(place, found)
    if not sum(counts[0].trials):
        return ""
    bound = max(_best(counts, task, task.sequential_share or 1.0, whole=False)[0], 0.0)
    return f"{task.guarantee.forced} at least {bound:.4g} so far"


def _counts_of(selection: Selection, task: PairTask) -> list[EventCount]:
    """Return empty counts of the chosen events, which share the error probability."""
    return [
        EventCount(choice, task.alpha * share)
        for choice, share in zip(selection.choices, selection.shares, strict=True)
    ]


def _best(counts: list[EventCount], task: PairTask, share: float, *, whole: bool) -> tuple[float, EventCount]:
    """Return the largest bound, with that part of the error probability, and its event."""
    bounds = [(count.bound if whole else count.anytime_bound)(task.guarantee, count.alpha * share) for count in counts]
    return max(bounds), counts[bounds.index(max(bounds))]


def _pair_bound(best: EventCount, bound: float, limit: float, selected: int, naming: Naming) -> PairBound:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class EventBound:
    """Occurrences and trials of one event on its likelier input and on the other, and the value that they force.

    With what the numbers of outputs are called.
    """

    hits: tuple[int, int]
    trials: tuple[int, int]
    value: float
    naming: Naming = PLAIN


def bound_event(
    sampler: Sampler, x: Any, y: Any, *, choice: Choice, guarantee: Guarantee, samples: int, alpha: float
) -> EventBound:
    """Bound the forced parameter by an event that other samples have chosen, from so many samples per input."""
    for data in (x, y):
        sampler.check_deterministic(data)
    if is_of_numbers(choice.event.score):
        sampler.keep_form()
    count = EventCount(choice, alpha)
    sampler = sampler.about(x, y)
    for found in Rounds(sampler, x, y, samples, guarantee, growing=False).counts([choice.event]):
        count.add(0, found)
    value = max(count.bound(guarantee, alpha), 0.0)
    return EventBound(hits=count.hits, trials=count.trials, value=value, naming=sampler.naming)
