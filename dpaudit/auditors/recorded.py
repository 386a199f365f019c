"""Whether the code that runs sends the messages that were judged: recorded runs against declared messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpaudit.auditors.pace import Pace
from dpaudit.auditors.sampler import Sampler
from dpaudit.auditors.streams import Streams
from dpaudit.claims.inputs import short_repr
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.errors import CheckError
from dpaudit.mechanism import Mechanism
from dpaudit.messages import Ledger, Message, Tape, Transcript, budget_of, described, record

VIEW_RUNS = 4
"""Outputs of a view that are recorded on each input of its first pair."""

_REPLAYED = 8
"""Outputs with the messages of another input, for each run that is recorded."""


def find_deviation(target: Mechanism, streams: Streams, pace: Pace | None = None) -> str:
    """Record runs of a target, and hold what is sent against the messages of the view that the target names.

    Runs are recorded one at a time, so that what is sent in each is known.

    Returns
    -------
    str
        How a run deviates from the view, or nothing; nothing also where the target names no view.

    Raises
    ------
    CheckError
        The target names a view that it has not, or one that declares no messages.
    TargetRaisedError
        The target raised.
    OutOfTimeError
        The deadline of ``pace`` passed.

    Notes
    -----
    **Guarantee.** None about runs that are not recorded. A deviation that is found is a fact about a recorded run; no
    probability is involved, but for messages that at least one run must send.
    **Checked against** planted bugs in which a run spends another budget than its view declares.
    """
    plan = _plan(target)
    if plan is None:
        return ""
    problem = _deviation(target, plan, _declared(target, plan), streams, pace)
    for changes in plan.also:
        changed = target.but(**changes)
        plan = _plan(changed)
        if plan is not None and not problem:
            where = ", ".join(f"{name} = {value}" for name, value in changes.items())
            problem = _deviation(changed, plan, _declared(changed, plan), streams.child(where), pace)
            problem = problem and f"{problem} at {where}"
    return problem


def find_view_deviation(view: Mechanism, neighbouring: Neighbouring, streams: Streams, pace: Pace | None = None) -> str:
    """As `find_deviation`, for the outputs of a view against its own messages."""
    declared = _messages(view)
    pair = next(iter(neighbouring), None)
    if declared is None or pair is None or type(view).sample is Mechanism.sample:
        return ""
    return _deviation(view, Transcript(view=view.name, inputs=pair, runs=VIEW_RUNS), declared, streams, pace)


def _plan(target: Mechanism) -> Transcript | None:
    # A parameter of the user's may have the name.
    plan = target.transcript() if callable(target.transcript) else None
    if plan is None or isinstance(plan, Transcript):
        return plan
    raise CheckError(
        f"{target.name}: `transcript` returned {type(plan).__name__}; return a dpaudit.Transcript, or None"
    )


def _messages(view: Mechanism) -> Sequence[Message] | None:
    declared = view.sends() if callable(view.sends) else None
    if declared is None:
        return None
    if isinstance(declared, Sequence) and all(isinstance(message, Message) for message in declared):
        return declared
    raise CheckError(f"{view.name}: `sends` returned {declared!r}; return a list of dpaudit.Message, or None")


def _declared(target: Mechanism, plan: Transcript) -> Sequence[Message]:
    views: Mapping[str, Mechanism] = target.views()
    if plan.view not in views:
        raise CheckError(
            f"{target.name}: `transcript` names the view {plan.view!r}; the views are {', '.join(map(repr, views))}"
        )
    declared = _messages(views[plan.view])
    if declared is None:
        raise CheckError(
            f"{target.name}: `transcript` names the view {plan.view!r}, which declares no messages; "
            "define `sends` there"
        )
    return declared


def _deviation(
    mechanism: Mechanism, plan: Transcript, declared: Sequence[Message], streams: Streams, pace: Pace | None
) -> str:
    """How recorded runs of a mechanism deviate from declared messages, or nothing."""
    sampler = Sampler(mechanism.sample, mechanism.name, streams, own_randomness=mechanism.own_randomness, pace=pace)
    silent = next((message for message in declared if message.times), None)
    wanted = f"the view {plan.view!r} declares {_all(declared)}"
    for side, data in enumerate(plan.inputs):
        for run in range(plan.runs):
            with record() as ledger:
                sampler.draw_once(data, 1, side, run)
            problem = _first_problem(ledger, declared, at_most=plan.at_most)
            if problem:
                return f"{mechanism.name}: a run of `sample` on {short_repr(data)} sends {problem}, but {wanted}"
            if silent is not None and _sent(ledger, silent):
                silent = None
    if silent is not None:
        return (
            f"{mechanism.name}: none of {len(plan.inputs) * plan.runs} runs of `sample` sends a message through "
            f"{described(silent.randomizer)}, but {wanted}"
        )
    return _leak(mechanism, plan, sampler)


def _leak(mechanism: Mechanism, plan: Transcript, sampler: Sampler) -> str:
    """Say where outputs on two inputs differ although randomizers return the same on both."""
    first, *others = plan.inputs
    size = _REPLAYED * plan.runs
    for side, data in enumerate(others):
        tape = Tape()
        with record(tape):
            outputs = sampler.draw_once(first, size, "replayed", side)
        tape.rewind()
        with record(tape):
            again = sampler.draw_once(data, size, "replayed", side)
        if tape.parted or not np.array_equal(outputs, again):
            return (
                f"{mechanism.name}: runs of `sample` on {short_repr(first)} and {short_repr(data)} differ although all "
                "their messages are the same, so that something of the input passes by the randomizers"
            )
    return ""


def _first_problem(ledger: Ledger, declared: Sequence[Message], *, at_most: bool) -> str:
    """Messages of a run of which there are too many or too few, or which are not declared at all."""
    for randomizer, number in ledger.entries:
        if not any(message.is_through(randomizer) for message in declared):
            return _spent(randomizer, number)
    for message in declared:
        # Messages of two kinds may go through randomizers that happen to be equal.
        alike = [other for other in declared if message.is_through(other.randomizer)]
        number = _sent(ledger, message)
        fewest = 0 if at_most else sum(other.fewest for other in alike)
        if not fewest <= number <= sum(other.times for other in alike):
            return _spent(message.randomizer, number)
    return ""


def _sent(ledger: Ledger, message: Message) -> int:
    return sum(number for randomizer, number in ledger.entries if message.is_through(randomizer))


def _all(declared: Sequence[Message]) -> str:
    words = [
        ("at most " if message.fewest < message.times else "") + _spent(message.randomizer, message.times)
        for message in declared
    ]
    return " and ".join(words) or "none"


def _spent(randomizer: Any, number: int) -> str:
    """So many messages through a randomizer, with the epsilon that they spend together."""
    words = f"{number} message{'' if number == 1 else 's'} through {described(randomizer)}"
    epsilon = budget_of(randomizer)
    return words if epsilon is None else f"{words}, epsilon {number * epsilon:.4g} together"
