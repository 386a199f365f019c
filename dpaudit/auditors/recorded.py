"""Whether the code that runs sends the messages that were judged: recorded runs against declared messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpaudit.auditors.sampler import Sampler
from dpaudit.auditors.streams import Streams
from dpaudit.claims.inputs import short_repr
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.errors import CheckError
from dpaudit.mechanism import Mechanism
from dpaudit.messages import Ledger, Message, Transcript, budget_of, described, record

VIEW_RUNS = 4
"""Outputs of a view that are recorded on each input of its first pair."""


def find_deviation(target: Mechanism, streams: Streams) -> str:
    """Record runs of a target, and hold what is sent against the messages of the view that the target names.

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

    Notes
    -----
    **Guarantee.** None about runs that are not recorded. A deviation that is found is a fact about a recorded run; no
    probability is involved, but for messages that at least one run must send.
    **Checked against** planted bugs in which a run spends another budget than its view declares.
    """
    plan = target.transcript()
    if plan is None:
        return ""
    for number, changes in enumerate(({}, *plan.also)):
        problem = _run_deviation(target.but(**changes), streams.child(number))
        if problem:
            where = ", ".join(f"{name} = {value}" for name, value in changes.items())
            return f"{problem} at {where}" if changes else problem
    return ""


def find_view_deviation(view: Mechanism, neighbouring: Neighbouring, streams: Streams) -> str:
    """As `find_deviation`, for the outputs of a view against its own messages."""
    declared = view.sends()
    if declared is None or type(view).sample is Mechanism.sample:
        return ""
    return _deviation(view, next(iter(neighbouring)), "`sends`", declared, VIEW_RUNS, streams, at_most=False)


def _run_deviation(target: Mechanism, streams: Streams) -> str:
    plan = target.transcript()
    if plan is None:
        return ""
    whose = f"the view {plan.view!r}"
    return _deviation(target, plan.inputs, whose, _declared(target, plan), plan.runs, streams, at_most=plan.at_most)


def _declared(target: Mechanism, plan: Transcript) -> Sequence[Message]:
    views: Mapping[str, Mechanism] = target.views()
    if plan.view not in views:
        raise CheckError(
            f"{target.name}: `transcript` names the view {plan.view!r}; the views are {', '.join(map(repr, views))}"
        )
    declared = views[plan.view].sends()
    if declared is None:
        raise CheckError(
            f"{target.name}: `transcript` names the view {plan.view!r}, which declares no messages; "
            "define `sends` there"
        )
    return declared


def _deviation(
    mechanism: Mechanism,
    inputs: Sequence[Any],
    whose: str,
    declared: Sequence[Message],
    runs: int,
    streams: Streams,
    *,
    at_most: bool,
) -> str:
    sampler = Sampler(mechanism.sample, mechanism.name, streams, own_randomness=mechanism.own_randomness)
    silent = next((message for message in declared if message.times), None)
    for side, data in enumerate(inputs):
        for run in range(runs):
            with record() as ledger:
                sampler.draw_once(data, 1, side, run)
            problem = _first_problem(ledger, declared, at_most=at_most)
            if problem:
                return (
                    f"{mechanism.name}: a run of `sample` sends {problem}, but {whose} declares {_all(declared)} "
                    f"(input {short_repr(data)})"
                )
            if silent is not None and _sent(ledger, silent):
                silent = None
    if silent is None:
        return ""
    return (
        f"{mechanism.name}: none of {len(inputs) * runs} runs of `sample` sends a message through "
        f"{described(silent.randomizer)}, but {whose} declares {_all(declared)}"
    )


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
