"""Whether the code that runs sends the messages that were judged: recorded runs against declared messages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any

import numpy as np

from dpaudit.auditors.sampling.pace import Pace
from dpaudit.auditors.sampling.sampler import Sampler
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.inputs import short_repr
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.errors import CheckError, TargetRaisedError
from dpaudit.mechanism import Mechanism
from dpaudit.messages import Draw, Ledger, Message, Tape, Transcript, budget_of, described, record

VIEW_RUNS = 4
"""Outputs of a view that are recorded on each input of its first pair."""

_REPLAYED = 8
"""Outputs with the messages of another input, for each run that is recorded."""

_CROWD = 3
"""Users of an input that is made of inputs with one user, at least."""

_CROWD_RUNS = 8
"""Outputs on an input with several users, at most."""

_PAIRS = 1000
"""Neighbouring inputs of a view, at most, on which it is seen how far apart the numbers are that noise is added to."""

_VIEWED = 64
"""Outputs of a view that are drawn on each of them."""

_ROUNDING = 1e-6


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
    Then many outputs are drawn in one call, and runs with several users. Every message must take random numbers of its
    own from a generator that differs where the generator handed to ``sample`` does. The numbers to which noise is added
    may be no further apart on two inputs than the view has them.

    **Guarantee.** None about runs that are not recorded. A deviation that is found is a fact about a recorded run; no
    probability is involved, but for messages that at least one run must send, and for two streams of random numbers
    that pass through equal states by chance.
    **Checked against** planted bugs in which a run spends another budget than its view declares.
    """
    plan = _plan(target)
    if plan is None:
        return ""
    problem = _found(target, plan, streams, pace)
    for changes in plan.also:
        changed = target.but(**changes)
        plan = _plan(changed)
        if plan is not None and not problem:
            where = ", ".join(f"{name} = {value}" for name, value in changes.items())
            problem = _found(changed, plan, streams.child(where), pace)
            problem = problem and f"{problem} at {where}"
    return problem


def find_view_deviation(view: Mechanism, neighbouring: Neighbouring, streams: Streams, pace: Pace | None = None) -> str:
    """As `find_deviation`, for the outputs of a view against its own messages."""
    declared = _messages(view)
    pair = next(iter(neighbouring), None)
    if declared is None or pair is None or type(view).sample is Mechanism.sample:
        return ""
    recording = _Recording(view, Transcript(view=view.name, inputs=pair, runs=VIEW_RUNS), declared, streams, pace)
    return recording.alone() or recording.together()


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


def _found(target: Mechanism, plan: Transcript, streams: Streams, pace: Pace | None) -> str:
    recording = _Recording(target, plan, _declared(target, plan), streams, pace)
    view = target.views()[plan.view]
    return (
        recording.alone()
        or recording.together()
        or recording.of_crowds()
        or ("" if view is target else recording.further_apart_than(view))
    )


@dataclass(frozen=True, slots=True)
class _Apart:
    """Outputs on two inputs, of so many each, for which randomizers return the same."""

    first: Any
    second: Any
    one: Ledger
    other: Ledger
    size: int


@dataclass(slots=True)
class _Recording:
    """Runs of a mechanism, held against declared messages.

    Attributes
    ----------
    states
        States of generators from which messages were drawn.
    apart
        What was drawn on two inputs, the same messages being returned.
    """

    mechanism: Mechanism
    plan: Transcript
    declared: Sequence[Message]
    streams: Streams
    pace: Pace | None
    states: set[str] = field(default_factory=set)
    apart: list[_Apart] = field(default_factory=list)

    @property
    def wanted(self) -> str:
        return f"the view {self.plan.view!r} declares {_all(self.declared)}"

    @property
    def sampler(self) -> Sampler:
        mechanism = self.mechanism
        return Sampler(
            mechanism.sample, mechanism.name, self.streams, own_randomness=mechanism.own_randomness, pace=self.pace
        )

    def alone(self) -> str:
        """How runs that are recorded one at a time deviate, or nothing."""
        plan, sampler = self.plan, self.sampler
        silent = next((message for message in self.declared if message.times), None)
        idle: list[Draw] = []
        for side, data in enumerate(plan.inputs):
            for run in range(plan.runs):
                with record() as ledger:
                    sampler.draw_once(data, 1, side, run)
                problem = self._problem(ledger, data)
                if problem:
                    return problem
                if silent is not None and _sent(ledger, silent):
                    silent = None
                idle += ledger.draws
        if silent is not None:
            return (
                f"{self.mechanism.name}: none of {len(plan.inputs) * plan.runs} runs of `sample` sends a message "
                f"through {described(silent.randomizer)}, but {self.wanted}"
            )
        return self._without_randomness(idle)

    def together(self) -> str:
        """How many outputs of one call deviate, or where they differ on two inputs although all messages are equal."""
        plan, sampler = self.plan, self.sampler
        first, *others = plan.inputs
        size = _REPLAYED * plan.runs
        if not others:
            with record() as ledger:
                sampler.draw_once(first, 2, "together")
            return self._problem(ledger, first, size=2)
        for side, data in enumerate(others):
            problem = self._replayed(first, data, size, "replayed", side)
            if problem:
                return problem
        return ""

    def _replayed(self, first: Any, data: Any, size: int, purpose: str, side: int, *, users: int = 1) -> str:
        sampler, tape = self.sampler, Tape()
        with record(tape) as one:
            outputs = sampler.draw_once(first, size, purpose, side)
        problem = self._problem(one, first, size=size, users=users)
        if problem:
            return problem
        tape.rewind()
        with record(tape) as other:
            again = sampler.draw_once(data, size, purpose, side)
        if tape.parted and users > 1:
            # Users with equal inputs may be drawn at once.
            return self._problem(other, data, size=size, users=users, again=True)
        if tape.parted or not np.array_equal(outputs, again):
            return (
                f"{self.mechanism.name}: runs of `sample` on {short_repr(first)} and {short_repr(data)} differ "
                "although all their messages are the same, so that something of the input passes by the randomizers"
            )
        self.apart.append(_Apart(first, data, one, other, size))
        return self._problem(other, data, size=size, users=users, again=True)

    def of_crowds(self) -> str:
        """How runs with several users deviate, or nothing."""
        for number, (users, data) in enumerate(self.plan.crowds):
            with record() as ledger:
                self.sampler.draw_once(data, 1, "crowd", number)
            problem = self._problem(ledger, data, users=users)
            if problem:
                return problem
        made = None if self.plan.crowds else self._made_crowd()
        if made is None:
            return ""
        size, users = min(_CROWD_RUNS, self.plan.runs), len(made[0])
        try:
            if len(self.plan.inputs) > 1:
                return self._replayed(*made, size, "crowd", 0, users=users)
            with record() as ledger:
                self.sampler.draw_once(made[0], size, "crowd", 0)
            return self._problem(ledger, made[0], size=size, users=users)
        except (TargetRaisedError, CheckError):
            return ""  # A protocol for one user, or for so many users and no others.

    def _made_crowd(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Users who are alike, and some of whom are not, of inputs with one user."""
        inputs = self.plan.inputs
        if self.mechanism.model not in ("local", "shuffle"):
            return None
        if not all(isinstance(data, np.ndarray) and data.ndim and len(data) == 1 for data in inputs):
            return None
        if len({data.shape for data in inputs}) > 1:
            return None
        users = max(_CROWD, len(inputs))
        return np.concatenate([inputs[0]] * users), np.concatenate(list(islice(cycle(inputs), users)))

    def further_apart_than(self, view: Mechanism) -> str:
        """Say where noise is added to numbers that are further apart on two inputs than the view has them."""
        for message in self.declared:
            for apart in self.apart:
                found = _distance(apart.one, apart.other, message, apart.size)
                if found is None or self._covers(view, (apart.first, apart.second), message, found):
                    continue
                return (
                    f"{self.mechanism.name}: `sample` adds the noise of {described(message.randomizer)} to numbers "
                    f"that are {found} apart on {short_repr(apart.first)} and {short_repr(apart.second)}, further "
                    f"than the view {self.plan.view!r} has them on any two inputs"
                )
        return ""

    def _covers(self, view: Mechanism, inputs: tuple[Any, Any], message: Message, found: _Distance) -> bool:
        """Whether the numbers of the view are as far apart on some inputs, or this cannot be seen."""
        sampler = Sampler(view.sample, view.name, self.streams, own_randomness=view.own_randomness, pace=self.pace)
        most = None
        for place, pair in enumerate(_viewed_pairs(view, inputs)):
            if place == _PAIRS:
                return True
            tape = Tape()
            try:
                with record(tape) as one:
                    sampler.draw_once(pair[0], _VIEWED, "view", place)
                tape.rewind()
                with record(tape) as other:
                    sampler.draw_once(pair[1], _VIEWED, "view", place)
            except (TargetRaisedError, CheckError):
                continue  # The view takes inputs of another form.
            shown = None if tape.parted else _distance(one, other, message, _VIEWED)
            if shown is not None:
                most = shown if most is None else most.joined(shown)
                if found.is_within(most):
                    return True
        return most is None

    def _problem(self, ledger: Ledger, data: Any, *, size: int = 1, users: int = 1, again: bool = False) -> str:
        """What is wrong with recorded runs; `again` where they had the generator of others."""
        # Of several users of a crowd that was made, a protocol may ask some only.
        at_most = self.plan.at_most or (users > 1 and not self.plan.crowds)
        problem = _first_problem(ledger, self.declared, at_most=at_most, each=size * users)
        run = "a run of `sample`" if size == 1 else f"a call of `sample` for {size} outputs"
        on = short_repr(data) if users == 1 else f"{short_repr(data)}, with {users} users,"
        if problem:
            each = " for each output" * (size > 1) + " and each user" * (users > 1)
            return f"{self.mechanism.name}: {run} on {on} sends {problem}, but {self.wanted}{each}"
        problem = "" if again else self._same_coins(ledger)
        return problem and f"{self.mechanism.name}: {run} on {on} {problem}"

    def _same_coins(self, ledger: Ledger) -> str:
        """Messages that are drawn from random numbers that others were drawn from."""
        for draw in ledger.draws:
            if draw.played or not draw.number:
                continue
            words = f"draws {_messages_of(draw)}"
            if draw.source and not draw.is_generator and not self.mechanism.own_randomness:
                return f"{words} from a {draw.source}; draw them from the `rng` that it was handed"
            if draw.state in self.states:
                return (
                    f"{words} from the same random numbers as others before; draw them from the `rng` that it was "
                    "handed, and from no generator whose seed is fixed or used twice"
                )
            if draw.state:
                self.states.add(draw.state)
        return ""

    def _without_randomness(self, draws: Sequence[Draw]) -> str:
        for message in self.declared:
            own = [draw for draw in draws if draw.number and draw.is_generator and message.is_through(draw.randomizer)]
            # The coin of an infinite epsilon is not tossed.
            epsilon = budget_of(message.randomizer)
            if own and not any(draw.state for draw in own) and epsilon is not None and math.isfinite(epsilon):
                return f"{self.mechanism.name}: `sample` draws {_messages_of(own[0])} without any random numbers"
        return ""


@dataclass(frozen=True, slots=True)
class _Distance:
    """How far numbers are apart on two inputs: at most, and all of one output together where that is known."""

    most: float
    total: float | None

    def __str__(self) -> str:
        return f"{self.most:.4g}" if self.total is None else f"{self.most:.4g} (together {self.total:.4g})"

    def is_within(self, other: _Distance) -> bool:
        """Whether these are no further apart than others."""
        if self.most > other.most * (1 + _ROUNDING):
            return False
        return self.total is None or other.total is None or self.total <= other.total * (1 + _ROUNDING)

    def joined(self, other: _Distance) -> _Distance:
        """The larger of both."""
        totals = None if self.total is None or other.total is None else max(self.total, other.total)
        return _Distance(max(self.most, other.most), totals)


def _distance(one: Ledger, other: Ledger, message: Message, size: int) -> _Distance | None:
    """How far the numbers are apart to which a declared randomizer adds noise; None where it adds none."""
    parts = [np.empty(0)]
    for first, second in zip(one.draws, other.draws, strict=False):
        if first.numbers is not None and second.numbers is not None and message.is_through(first.randomizer):
            with np.errstate(invalid="ignore"):
                parts.append(np.nan_to_num(np.abs(first.numbers - second.numbers), nan=0.0, posinf=math.inf))
    gaps = np.concatenate(parts)
    if not len(gaps):
        return None
    # Of numbers that differ from output to output, and where only some are sent, the sum is a matter of chance.
    is_fixed = message.fewest * size == len(gaps) and not (np.unique(gaps, return_counts=True)[1] % size).any()
    return _Distance(float(gaps.max()), float(gaps.sum()) / size if is_fixed else None)


def _viewed_pairs(view: Mechanism, pair: tuple[Any, Any]) -> Iterator[tuple[Any, Any]]:
    """Inputs of a view: those of the transcript, if they have the form of the view's own, and its neighbouring ones."""
    if type(view).sample is Mechanism.sample:
        return
    first = _listed(view, 1)
    if not first:
        return
    if _form(first[0][0]) == _form(pair[0]):
        yield pair
    yield from _listed(view, _PAIRS + 1)


def _listed(view: Mechanism, number: int) -> list[tuple[Any, Any]]:
    try:
        return list(islice(view.neighbours() or (), number))
    except Exception:  # It is no view of this audit, and may have none at these parameters.
        return []


def _form(data: Any) -> tuple[type, tuple[int, ...]] | type:
    if isinstance(data, np.ndarray):
        return np.ndarray, (data.ndim, *data.shape[1:])
    return float if isinstance(data, int | float) else type(data)


def _first_problem(ledger: Ledger, declared: Sequence[Message], *, at_most: bool, each: int = 1) -> str:
    """Messages of a run, or of so many, of which there are too many or too few, or which are not declared at all."""
    for randomizer, number in ledger.entries:
        if not any(message.is_through(randomizer) for message in declared):
            return _spent(randomizer, number)
    for message in declared:
        # Messages of two kinds may go through randomizers that happen to be equal.
        alike = [other for other in declared if message.is_through(other.randomizer)]
        number = _sent(ledger, message)
        fewest = 0 if at_most else sum(other.fewest for other in alike)
        if not each * fewest <= number <= each * sum(other.times for other in alike):
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
    words = _numbered(randomizer, number)
    epsilon = budget_of(randomizer)
    return words if epsilon is None else f"{words}, epsilon {number * epsilon:.4g} together"


def _messages_of(draw: Draw) -> str:
    return _numbered(draw.randomizer, draw.number)


def _numbered(randomizer: Any, number: int) -> str:
    return f"{number} message{'' if number == 1 else 's'} through {described(randomizer)}"
