"""Parts of an audit that any process can do: outputs drawn, pairs compared, events counted, each from own streams.

An audit by sampling that is given a `Work` says which parts it needs (`WantedError`) in place of doing them, where they
take long. Whoever started it has them done, wherever that may be, and starts it again with what came of them: it takes
what is known and goes on from there. No number depends on who does a part, on which parts are done together, or on how
often the audit was started, because a part depends on the streams of its name and on the state of the sampler before
it, and on no other part.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from dpaudit.auditors.outputs.forms import Forms, merged
from dpaudit.auditors.sampling.streams import Streams

if TYPE_CHECKING:
    from dpaudit.auditors.sampling.sampler import Sampler

WORTH_SECONDS = 2.0
"""Seconds, about, that sampling takes from which on others are asked to do it."""

PART_SECONDS = 5.0
"""Seconds, about, that a part takes which is made of several rounds."""

_KEPT_SECONDS = 0.1
"""Seconds of work from which on what came of it is kept for the next start."""

FAILED = b""
"""Outcome of a part that failed elsewhere: it is done here, and raises what it raises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a sampler has learned of its outputs.

    Attributes
    ----------
    forms
        Form of the outputs, and of what is looked at in them.
    supports_known
        Whether outputs came with which inputs they support.
    width
        Values in a structured output.
    speed
        Size and seconds of the largest call.
    """

    forms: tuple[Forms, Forms]
    supports_known: bool = False
    width: int = 1
    speed: tuple[int, float] = (0, 0.0)


def together(before: State, after: Iterable[State]) -> State:
    """State after parts that all began in one state."""
    states = [before, *after]
    return State(
        forms=(merged([each.forms[0] for each in states]), merged([each.forms[1] for each in states])),
        supports_known=any(each.supports_known for each in states),
        width=max(each.width for each in states),
        speed=max(each.speed for each in states),
    )


class Task(Protocol):
    """What a part does.

    ``name`` is unique within one sampler's work, ``stage`` says what it is for, and ``outputs`` how many it draws.
    ``shared`` is what many tasks need, as bytes; it travels apart.
    """

    @property
    def name(self) -> tuple[str | int, ...]: ...  # noqa: D102

    @property
    def stage(self) -> str: ...  # noqa: D102

    @property
    def outputs(self) -> int: ...  # noqa: D102

    @property
    def shared(self) -> bytes: ...  # noqa: D102

    def run(self, sampler: Sampler, shared: bytes) -> Any: ...  # noqa: D102


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A task with the sampler that it needs, as data that can be sent to another process.

    Attributes
    ----------
    name
        Its name within the audit.
    outputs
        How many outputs it draws.
    seconds
        What that takes, about.
    shared, own
        What it needs: what others need too, and the rest.
    """

    name: str
    outputs: int
    seconds: float
    shared: bytes
    own: bytes


class WantedError(BaseException):
    """The audit needs parts that others are to do; no error, and not to be caught as one.

    Parameters
    ----------
    parts
        The parts.
    drawn, planned
        Outputs that the audit has drawn so far, and that it is going to draw altogether.

    Attributes
    ----------
    found
        What the audit knows so far, in words.
    """

    def __init__(self, parts: Sequence[Part], drawn: int = 0, planned: int = 0) -> None:
        super().__init__(f"{len(parts)} parts")
        self.parts, self.drawn, self.planned = tuple(parts), drawn, planned
        self.found = ""


@dataclass(slots=True)
class Work:
    """What is known of the parts of one audit.

    Attributes
    ----------
    known
        Outcomes of parts by name.
    made
        Outcomes that were found here and are worth keeping.
    """

    known: Mapping[str, bytes] = field(default_factory=dict)
    made: dict[str, bytes] = field(default_factory=dict)

    def do(self, sampler: Sampler, tasks: Sequence[Task]) -> list[Any]:
        """Return what came of tasks that do not depend on each other.

        Raises
        ------
        WantedError
            They take long, and others are to do them.
        """
        self.ask(sampler, tasks)
        before = sampler.state
        names = [name_of(sampler, task.stage, *task.name) for task in tasks]
        values, after = [], []
        for name, task in zip(names, tasks, strict=True):
            value, state = self._outcome(sampler, before, name, task)
            values.append(value)
            after.append(state)
        sampler.restore(together(before, after))
        return values

    def ask(self, sampler: Sampler, tasks: Sequence[Task]) -> None:
        """Raise WantedError where others are to do a part of tasks, because they take long."""
        named = [(name_of(sampler, task.stage, *task.name), task) for task in tasks]
        missing = [(name, task) for name, task in named if name not in self.known and name not in self.made]
        wanted = sum(task.outputs for _, task in missing)
        if wanted * sampler.seconds_each >= WORTH_SECONDS:
            parts = self._parts(sampler, missing)
            if parts:
                done = sum(task.outputs for task in tasks) - wanted
                raise WantedError(parts, sampler.pace.drawn + done, sampler.pace.planned)

    def keep(self, sampler: Sampler, stage: str, find: Callable[[], Any], *name: str | int) -> tuple[Any, bytes]:
        """Return what a function finds, and that as bytes; empty where it cannot be kept."""
        full = name_of(sampler, stage, *name)
        content = self.known.get(full) or self.made.get(full)
        if not content:
            found = find()
            content = _pickled(found)
            if content:
                self.made[full] = content
            return found, content
        return pickle.loads(content), content  # noqa: S301 - what an audit of the same target wrote

    def has(self, sampler: Sampler, stage: str, *name: str | int) -> bool:
        """Whether the outcome of a part is known."""
        full = name_of(sampler, stage, *name)
        return full in self.known or full in self.made

    def _outcome(self, sampler: Sampler, before: State, name: str, task: Task) -> tuple[Any, State]:
        content = self.known.get(name) or self.made.get(name)
        if content:
            value, state, seconds = pickle.loads(content)  # noqa: S301
            sampler.pace.end_call(task.outputs, seconds)
            return value, state
        begun = time.monotonic()
        alone = sampler.at(before)
        value = task.run(alone, task.shared)
        seconds = time.monotonic() - begun
        if seconds >= _KEPT_SECONDS and (content := _pickled((value, alone.state, seconds))):
            self.made[name] = content
        return value, alone.state

    def _parts(self, sampler: Sampler, tasks: Sequence[tuple[str, Task]]) -> list[Part]:
        """Tasks as parts; none where they cannot leave this process."""
        parts = []
        for name, task in tasks:
            own = _pickled((sampler.recipe, replace(task, shared=b"")))  # type: ignore[type-var]
            if not own:
                return []
            seconds = task.outputs * sampler.seconds_each
            parts.append(Part(name=name, outputs=task.outputs, seconds=seconds, shared=task.shared, own=own))
        return parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What makes a sampler again in another process: its streams, features, pair of inputs and state."""

    streams: Streams
    features: str
    pair: tuple[Any, Any] | None
    state: State


def name_of(sampler: Sampler, stage: str, *name: str | int) -> str:
    """Name of a part within an audit: its stage, the sampler's streams, and its own name."""
    home = hashlib.sha256(json.dumps(sampler.recipe_key).encode()).hexdigest()[:12]
    return f"{stage}/{home}/{hashlib.sha256(json.dumps(name).encode()).hexdigest()[:20]}"


def needless(chosen: Iterable[str], names: Iterable[str]) -> set[str]:
    """Names of outcomes that are no longer needed: outputs once events have been chosen from them."""
    homes = {name.split("/")[1] for name in chosen if name.startswith("chosen/")}
    return {name for name in names if name.startswith("selection/") and name.split("/")[1] in homes}


def perform(own: bytes, shared: bytes, sampler_for: Callable[[Recipe], Sampler]) -> bytes:
    """Do a part; return its outcome, `FAILED` where that cannot leave the process.

    Parameters
    ----------
    own, shared
        The part.
    sampler_for
        Makes the sampler of a recipe.
    """
    recipe, task = pickle.loads(own)  # noqa: S301 - the process that asks for it is the one that started this
    sampler = sampler_for(recipe)
    begun = time.monotonic()
    value = task.run(sampler, shared)
    return _pickled((value, sampler.state, time.monotonic() - begun))


def _pickled(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except Exception:
        return b""
