"""Messages: what a view declares that is sent, and a ledger of what a run really sends.

A *message* is one randomized report of a user, or, in the central model, one noisy number that is computed from the
data. Randomizers put what they draw into the ledger of the run that is being recorded (`announces`). No run is
recorded unless somebody asks for it (`record`), and then nothing about the run changes.

Examples
--------
>>> import dpaudit
>>> from dpaudit import messages
>>> from dpaudit.randomizers import RandomizedResponse
>>> messages.Message(RandomizedResponse.for_epsilon(1.0), times=2).times
2
"""

from __future__ import annotations

import copy
import functools
import inspect
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from dpaudit.errors import ParameterError

Drawing = TypeVar("Drawing", bound=Callable[..., Any])

_SAME = 1e-9
"""Relative difference up to which a parameter that was computed in two ways is the same."""


@dataclass(frozen=True, slots=True)
class Message:
    """What one user sends through one randomizer, in the view of an adversary.

    In the central model, and in a view that shows several users, it is all that goes through the randomizer.

    Parameters
    ----------
    randomizer
        The object that draws the messages, such as ``RandomizedResponse.for_epsilon(1.0)``.
    times
        How many messages, at most.
    least
        How many, at least; None: exactly ``times``.
    others
        Randomizers that may take the place of the first, such as those of other domain sizes.

    Raises
    ------
    ParameterError
        A number of messages is negative, or ``least`` is above ``times``.

    Examples
    --------
    >>> import dpaudit
    >>> from dpaudit.randomizers import RandomizedResponse
    >>> one = dpaudit.Message(RandomizedResponse.for_epsilon(1.0), times=3)
    >>> one.times
    3
    """

    randomizer: Any
    times: int = 1
    least: int | None = None
    others: Sequence[Any] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.fewest <= self.times:
            raise ParameterError(
                f"messages: at least {self.fewest} and at most {self.times} are declared through "
                f"{described(self.randomizer)}; give 0 <= least <= times"
            )

    @property
    def fewest(self) -> int:
        """How many, at least."""
        return self.times if self.least is None else self.least

    def is_through(self, randomizer: Any) -> bool:
        """Whether a randomizer is one of those that are declared: of the same type, with the same parameters."""
        return any(_same(randomizer, declared) for declared in (self.randomizer, *self.others))


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """How a run of a protocol is held against the messages of a view.

    Parameters
    ----------
    view
        The view, by its name in ``views()``, that shows all that one user sends in a run; in the central model, all
        that is computed from the data.
    inputs
        Inputs on which a run is recorded. In the local and shuffle models they are inputs with one user: then every
        message of the run is that user's.
    at_most
        Whether a run may send fewer messages than the view shows, as an interactive protocol does.
    runs
        Runs to record on each input.
    also
        Parameters with other values, for runs that are recorded besides: a cap so low that runs exceed it.
    crowds
        Inputs with several users, each as (number of users, input): a run on one sends so many times the messages.
        Where the model is local or shuffle and every input is an array of one row, one is made of their rows.

    Raises
    ------
    ParameterError
        There is no input, or no run.

    Examples
    --------
    >>> import dpaudit
    >>> shown = dpaudit.Transcript(view="report", inputs=[[0, 1, 2], [2, 1, 0]], runs=4)
    >>> shown.view, shown.at_most
    ('report', False)
    """

    view: str
    inputs: Sequence[Any]
    at_most: bool = False
    runs: int = 32
    also: Sequence[Mapping[str, Any]] = ()
    crowds: Sequence[tuple[int, Any]] = ()

    def __post_init__(self) -> None:
        if not len(self.inputs) or self.runs < 1:
            raise ParameterError("a transcript needs at least one input and one run")


@dataclass(slots=True)
class Tape:
    """What randomizers returned in a run, for another run in which they are to return the same.

    Attributes
    ----------
    parted
        Whether the other run asked for other messages than the first.
    """

    parted: bool = False
    _played: list[tuple[type, int, Any, Any]] = field(default_factory=list)
    _next: int | None = None

    def rewind(self) -> None:
        """From now on return what was returned before."""
        self._next = 0

    def take(self, randomizer: Any, number: int, draw: Callable[[], Any], rng: np.random.Generator | None) -> Any:
        """Return what is drawn, or what was drawn in its place, and leave the generator as it was left then."""
        if self._next is None:
            found = draw()
            state = None if rng is None else rng.bit_generator.state
            self._played.append((type(randomizer), number, copy.deepcopy(found), state))
            return found
        if self._next < len(self._played):
            kind, count, found, state = self._played[self._next]
            if kind is type(randomizer) and count == number:
                self._next += 1
                if rng is not None and state is not None:
                    rng.bit_generator.state = state
                return copy.deepcopy(found)
        self.parted = True
        return draw()


@dataclass(slots=True)
class Draw:
    """One call of a randomizer in a run.

    Attributes
    ----------
    randomizer, number
        What drew, and how many messages; also of those that are drawn ahead and not sent.
    numbers
        Numbers to which noise was added; None for a randomizer of another kind.
    source
        What it drew from: the class of the generator that it was given, or nothing where it takes none.
    is_generator
        Whether that is a generator of numpy's.
    state
        State of the generator before, where random numbers were drawn from it, as text.
    played
        Whether nothing was drawn, as a tape said what to return.
    """

    randomizer: Any
    number: int
    numbers: npt.NDArray[np.float64] | None = None
    source: str = ""
    is_generator: bool = False
    state: str = ""
    played: bool = True

    def by(self, draw: Callable[[], Any], rng: Any) -> Any:
        """Return what is drawn, and note the random numbers that it takes."""
        self.played = False
        if not self.is_generator:
            return draw()
        before = _state_of(rng)
        found = draw()
        self.state = before if _state_of(rng) != before else ""
        return found


@dataclass(slots=True)
class Ledger:
    """Messages of a run, by the randomizer that drew them, and every call that drew some."""

    entries: list[tuple[Any, int]] = field(default_factory=list)
    tape: Tape | None = None
    draws: list[Draw] = field(default_factory=list)

    def add(self, randomizer: Any, number: int) -> None:
        """Enter messages."""
        for place, (known, count) in enumerate(self.entries):
            if _same(known, randomizer):
                self.entries[place] = (known, count + number)
                return
        if number:
            self.entries.append((randomizer, number))


@dataclass(slots=True)
class Drawn:
    """Messages that a simulation has drawn ahead, of which only those count that are sent."""

    randomizers: list[Any] = field(default_factory=list)

    def sent(self, number: Any) -> None:
        """Enter so many of them into the ledger of the run."""
        ledger = _LEDGER.get()
        if ledger is not None:
            for randomizer in self.randomizers:
                ledger.add(randomizer, int(number))


_LEDGER: ContextVar[Ledger | None] = ContextVar("dpaudit_ledger", default=None)


@contextmanager
def record(tape: Tape | None = None) -> Iterator[Ledger]:
    """Record what is sent: randomizers that draw within the block enter their messages into the ledger.

    Parameters
    ----------
    tape
        Keeps what they return; a tape that was rewound decides what they return.
    """
    ledger = Ledger(tape=tape)
    before = _LEDGER.set(ledger)
    try:
        yield ledger
    finally:
        _LEDGER.reset(before)


@contextmanager
def ahead() -> Iterator[Drawn]:
    """Draw messages ahead of knowing which of them are sent: nothing is entered before ``sent`` says how many.

    For a simulation that draws the answers to all questions, and lets a protocol ask for some of them.
    """
    drawn = Drawn()
    outer = _LEDGER.get()
    if outer is None:
        yield drawn
        return
    with record(outer.tape) as ledger:
        yield drawn
    outer.draws += ledger.draws
    drawn.randomizers = [randomizer for randomizer, _ in ledger.entries]


def announces(number: Callable[..., Any], *, adds_noise: bool = False) -> Callable[[Drawing], Drawing]:
    """Decorate a randomizer's method that draws messages, so that a ledger gets them.

    Parameters
    ----------
    number
        Called with the method's arguments after ``self``, it returns how many messages are drawn. What the method
        draws through other randomizers is part of these messages.
    adds_noise
        Whether the method adds noise to the numbers that are its first argument. How much a message says then depends
        on how far these are apart on two inputs, which is held against the view as well.

    Examples
    --------
    >>> class Coin:
    ...     @announces(lambda bits, rng: len(bits))
    ...     def randomize(self, bits, rng):
    ...         return [bit ^ (rng.random() < 0.25) for bit in bits]
    >>> with record() as ledger:
    ...     answers = Coin().randomize([0, 1, 1], np.random.default_rng(1))
    >>> ledger.entries[0][1]
    3
    """

    def decorate(draw: Drawing) -> Drawing:
        signature = inspect.signature(draw)

        @functools.wraps(draw)
        def announced(self: Any, *args: Any, **options: Any) -> Any:
            ledger = _LEDGER.get()
            if ledger is None:
                return draw(self, *args, **options)
            count = int(number(*args, **options))
            ledger.add(self, count)
            given = signature.bind(self, *args, **options).arguments
            rng = given.get(
                "rng", next((each for each in given.values() if isinstance(each, np.random.Generator)), None)
            )
            made = Draw(self, count, is_generator=isinstance(rng, np.random.Generator))
            made.source = "" if rng is None else type(rng).__name__
            made.numbers = np.array(list(given.values())[1], dtype=float).ravel() if adds_noise else None
            ledger.draws.append(made)
            inner = _LEDGER.set(None)
            try:
                if ledger.tape is None:
                    return made.by(lambda: draw(self, *args, **options), rng)
                known = rng if made.is_generator else None
                return ledger.tape.take(self, count, lambda: made.by(lambda: draw(self, *args, **options), rng), known)
            finally:
                _LEDGER.reset(inner)

        return cast(Drawing, announced)

    return decorate


def described(randomizer: Any) -> str:
    """Randomizer with its parameters, in short."""
    return f"{type(randomizer).__name__}({', '.join(_parameters(randomizer))})"


def budget_of(randomizer: Any) -> float | None:
    """Epsilon of one message about a bit or a value, or the epsilon per unit of sensitivity of Laplace noise."""
    epsilon = getattr(randomizer, "epsilon", None)
    if isinstance(epsilon, int | float):
        return float(epsilon)
    law = getattr(randomizer, "law", None)
    if law is None:
        return None
    try:
        loss = law(1).against(law(0)).epsilon(0.0).upper
    except Exception:  # A randomizer of another kind of input has no such number.
        return None
    return loss if loss is None or math.isfinite(loss) else None


def _state_of(rng: np.random.Generator) -> str:
    return json.dumps(
        rng.bit_generator.state, default=lambda part: part.tolist() if isinstance(part, np.ndarray) else repr(part)
    )


def _parameters(randomizer: Any) -> list[str]:
    if not is_dataclass(randomizer):
        return []
    words = []
    for each in fields(randomizer):
        value = getattr(randomizer, each.name)
        if not each.init:
            continue
        if is_dataclass(value):
            words.append(f"{each.name}={described(value)}")
        elif isinstance(value, np.ndarray):
            words.append(f"{each.name}=array{value.shape}")
        else:
            words.append(f"{each.name}={value:.6g}" if isinstance(value, float) else f"{each.name}={value!r}")
    return words


def _same(one: Any, other: Any) -> bool:
    """Whether two randomizers, or parameters of them, are the same but for rounding."""
    if one is other:
        return True
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=_SAME)
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.shape == other.shape and bool(np.array_equal(one, other))
    if is_dataclass(one):
        return all(_same(getattr(one, each.name), getattr(other, each.name)) for each in fields(one))
    return bool(one == other)
