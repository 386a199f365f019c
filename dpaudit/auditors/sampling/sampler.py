"""Drawing outputs of a mechanism in chunks, with every output checked."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit.auditors.outputs.checked_outputs import (
    RAISED,
    as_numbers,
    checked,
    features_of,
)
from dpaudit.auditors.outputs.column_words import Naming
from dpaudit.auditors.outputs.features import FeatureMap, may_hide
from dpaudit.auditors.outputs.flat import value_count
from dpaudit.auditors.outputs.foreign import listed
from dpaudit.auditors.outputs.forms import Form, Forms, concatenated, end_to_end
from dpaudit.auditors.outputs.outputs import coding_of, outcome_keys
from dpaudit.auditors.sampling.pace import OutOfTimeError, Pace, clock
from dpaudit.auditors.sampling.state_kept import StateKept
from dpaudit.auditors.sampling.streams import CHUNK, Streams
from dpaudit.auditors.sampling.supports import SupportFunction, Supports
from dpaudit.auditors.sampling.trial_calls import TrialCalls
from dpaudit.auditors.sampling.work import Recipe, State, Work
from dpaudit.claims.inputs import error_text, input_key, short_repr
from dpaudit.errors import CheckError, DpauditError, ParameterError, TargetRaisedError
from dpaudit.floating_point import their_settings
from dpaudit.sources.programs import LateAnswerError

_MOST_SELECTED = 4_000_000
"""Single numbers per input that are worth choosing an event from, at most. Chosen by hand, for memory: an audit of
Laplace noise takes about 480 MiB from 10^8 samples on (benchmarks/speed.md)."""

_MOST_SELECTED_VALUES = 8_000_000
"""The same of rows of numbers, counted in numbers; there are `_MOST_OBJECTS` rows at least. Chosen by hand, for time
and memory."""

_MOST_OBJECTS = 200_000
"""Structured outputs per input that choose an event, at most, and rows that are worth it, however wide. Chosen by hand,
for time: each is taken apart in Python."""

_LEAST_OBJECTS = 10_000
"""Outputs per input that choose an event, where there are as many, whatever memory they take. Chosen by hand."""

_MOST_HELD_VALUES = 1 << 25
"""Numbers of one input that are held in memory, however many an output has; `_LEAST_OBJECTS` outputs at least. They
take 256 MiB; before this limit, 200,000 vectors of 1,000 numbers of either input took 3.2 GB."""

_MOST_OBJECT_VALUES = 30_000_000
"""Values in structured outputs that choose an event. Chosen by hand, for memory: each takes some 30 bytes or more."""

_FEWEST_SORTED = 20
"""Distinct numbers from which on an order is not chance: these come in order with probability 2 / 20!, below 1e-18."""

SampleFunction = Callable[[Any, int, np.random.Generator], Any]


def check_function(sample: Any) -> None:
    """Raise ParameterError where it is no function that samples, such as a mechanism in place of its method."""
    method = callable(getattr(sample, "sample", None))
    if isinstance(sample, type) and method:
        raise ParameterError(
            f"sample must be a function of (data, size, rng), and {sample.__name__} is a class: give the method "
            f"`sample` of an instance, as in {sample.__name__}(...).sample"
        )
    if not callable(sample):
        mend = "; give its method `sample`" if method else ""
        raise ParameterError(f"sample must be a function of (data, size, rng), got {short_repr(sample)}{mend}")


def sampled(function: SampleFunction, name: str, data: Any, size: int, rng: np.random.Generator) -> Any:
    """Return what a function of the user's samples.

    Raises
    ------
    CheckError
        It does not take these three arguments.
    """
    try:
        with their_settings():
            return function(data, size, rng)
    except TypeError as error:
        # Looked at only now, because a call may work whatever signature an object shows.
        taken = _signature(function)
        if taken is None or _takes(taken, (data, size, rng)):
            raise
        own = "self, " if inspect.ismethod(function) else ""
        raise CheckError(
            f"{name}: `sample` takes {taken} and is called with (data, size, rng): write "
            f"`sample({own}data, size, rng)`, and return `size` outputs along axis 0"
        ) from error


def _signature(function: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return None


def _takes(signature: inspect.Signature, arguments: tuple[Any, ...]) -> bool:
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True


class Sampler:
    """A mechanism's ``sample`` with checked outputs and keyed streams.

    Parameters
    ----------
    sample
        ``sample(data, size, rng)``.
    name
        Name of the mechanism, for messages.
    streams
        Streams of this audit.
    own_randomness
        Whether the mechanism has a source of randomness that ``rng`` does not seed, so that runs differ.
    features
        Feature map, applied to the outputs.
    supports
        ``supports(outputs, data)``: whether each output speaks for an input, or None where that is not known.
    pace
        Deadline of the audit, and what sampling has taken. Under a deadline, calls are as large as the time left
        allows; otherwise the random numbers of a sample depend on its purpose and size only.

    Raises
    ------
    OutOfTimeError
        On drawing: the deadline has passed.

    Notes
    -----
    Datetimes and durations are taken as whole numbers of their unit. Lists of outputs that are numbers of one form in
    some calls only are taken as objects; after :meth:`keep_form` in the form so far, each output on its own.
    """

    def __init__(
        self,
        sample: SampleFunction,
        name: str,
        streams: Streams,
        *,
        own_randomness: bool = False,
        features: FeatureMap | None = None,
        supports: SupportFunction | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._sample = sample
        self._name = name
        self._streams = streams
        self._features = features
        self._supports = None if supports is None else Supports(supports, name)
        self._pair: tuple[Any, Any] | None = None
        self._forms = Forms(), Forms()
        self._own_randomness = own_randomness
        self._trials = TrialCalls(own_randomness=own_randomness)
        self._state_kept = StateKept()
        self.pace = pace or Pace(planned=0)
        self._seconds = 0.0
        self._taken = 0.0
        self._width = 1
        self._speed = [(0, 0.0)]
        self.work: Work | None = None
        self.asked_features = "none"

    @property
    def name(self) -> str:
        """Name of the mechanism, for messages."""
        return self._name

    @property
    def width(self) -> int:
        """Values in a structured output, about; known after :meth:`check_deterministic`."""
        return self._width

    @property
    def state(self) -> State:
        """What is known of the outputs so far; a copy."""
        forms = replace(self._forms[0]), replace(self._forms[1])
        return State(forms=forms, supports_known=self._supports_known, width=self._width, speed=self._speed[0])

    def restore(self, state: State) -> None:
        """Know of the outputs what another sampler knows."""
        for mine, other in zip(self._forms, state.forms, strict=True):
            mine.seen, mine.listed, mine.kept = other.seen, other.listed, other.kept
        if self._supports is not None:
            self._supports.known = state.supports_known
        self._width, self._speed[0] = state.width, state.speed

    def at(self, state: State) -> Sampler:
        """Sampler of the same that knows this much, and does not tell this one what it learns."""
        made = copy.copy(self)
        made._forms, made._speed = (Forms(), Forms()), [(0, 0.0)]
        made._supports = self._supports and self._supports.copy()
        made.work = None
        made.restore(state)
        return made

    @property
    def recipe_key(self) -> list[str | int]:
        """What tells its parts apart from those of other samplers of one audit."""
        return [*self._streams.key, self.asked_features]

    @property
    def recipe(self) -> Recipe:
        """What makes it again."""
        return Recipe(streams=self._streams, features=self.asked_features, pair=self._pair, state=self.state)

    @property
    def seconds_each(self) -> float:
        """Seconds that an output takes, by the largest call; 0 before the first."""
        size, seconds = self._speed[0]
        return seconds / size if size else 0.0

    def chunks(self, data: Any, size: int, *purpose: str | int) -> Iterator[np.ndarray]:
        """Yield arrays of at most ``CHUNK`` outputs, ``size`` altogether."""
        for chunk in range(-(-size // CHUNK)):
            count = min(CHUNK, size - chunk * CHUNK)
            yield self._draw(data, count, self._streams.generator(*purpose, chunk))

    def draw_once(self, data: Any, size: int, *purpose: str | int, sized: bool = False) -> np.ndarray:
        """Return ``size`` outputs of one call; of several under a deadline, unless the size is one that suits it."""
        return self._draw(data, size, self._streams.generator(*purpose), sized=sized)

    def draw(self, data: Any, size: int, *purpose: str | int) -> np.ndarray:
        """Return ``size`` outputs at once, drawn in chunks."""
        return self.draw_all([(data, size, purpose)])[0]

    def draw_all(self, wanted: Sequence[tuple[Any, int, tuple[str | int, ...]]]) -> list[np.ndarray]:
        """Return several arrays of outputs, each of an input, a size and a purpose, drawn in chunks.

        Raises
        ------
        WantedError
            There is a `Work`, and others are to draw the chunks.
        """
        if self.work is None:
            return [end_to_end(self.chunks(data, size, *purpose), size) for data, size, purpose in wanted]
        tasks = [
            Draw(data=data, size=min(CHUNK, size - chunk * CHUNK), purpose=(*purpose, chunk))
            for data, size, purpose in wanted
            for chunk in range(-(-size // CHUNK))
        ]
        drawn = iter(self.work.do(self, tasks))
        return [concatenated([next(drawn) for _ in range(-(-size // CHUNK))]) for _, size, _ in wanted]

    def about(self, x: Any, y: Any) -> Sampler:
        """Sampler for a pair of inputs, whose outputs come with which of the two they support, where that is known."""
        if self._supports is None:
            return self
        made = copy.copy(self)
        made._pair, made._supports = (x, y), self._supports.copy()
        return made

    @property
    def _supports_known(self) -> bool:
        return self._supports is not None and self._supports.known

    @property
    def supported(self) -> bool:
        """Whether outputs were drawn that came with which inputs they support."""
        return self._pair is not None and self._supports_known

    @property
    def has_features(self) -> bool:
        """Whether a feature map looks at the outputs."""
        return self._features is not None

    @property
    def has_supports(self) -> bool:
        """Whether it is asked which inputs the outputs support."""
        return self._supports is not None

    @property
    def call_seconds(self) -> float:
        """Seconds that the last call took, with what the user's functions took to look at its outputs."""
        return self._seconds

    @property
    def may_hide(self) -> bool:
        """Whether a feature map may hide all of what outputs differ in."""
        return may_hide(self._features)

    def generator(self, *purpose: str | int) -> np.random.Generator:
        """Generator for a purpose of one call."""
        return self._streams.generator(*purpose)

    def coins(self, *purpose: str | int) -> np.random.Generator:
        """Generator for decisions of the auditor's own."""
        return self._streams.generator("auditor", *purpose)

    @property
    def form(self) -> Form:
        """Kind of dtype and shape of what is audited; known after :meth:`check_deterministic`."""
        seen = self._forms[1].seen or self._forms[0].seen
        assert seen is not None
        return seen

    @property
    def naming(self) -> Naming:
        """What the parts of what is audited are called; known after :meth:`check_deterministic`."""
        kind, shape = self.form
        looked_at = self._forms[1].seen is not None
        return Naming(shape, kind == "c", self.supported, "features" if looked_at else "output")

    @property
    def _looked_at(self) -> Forms:
        return self._forms[0] if self._features is None else self._forms[1]

    def keep_form(self) -> None:
        """Give all outputs in the form so far from now on, for events that were learned in it.

        Numbers stay numbers. Whatever else comes later, of which no event knows, becomes zeros.
        """
        self._looked_at.keep()

    @property
    def selection_limit(self) -> int:
        """Most samples per input that are worth choosing an event from; known after :meth:`check_deterministic`."""
        kind, shape = self.form
        if kind not in "biufc":
            return max(_LEAST_OBJECTS, min(_MOST_OBJECTS, _MOST_OBJECT_VALUES // self._width))
        worth = max(_MOST_OBJECTS, min(_MOST_SELECTED, _MOST_SELECTED_VALUES // max(math.prod(shape), 1)))
        return min(worth, self.memory_limit)

    @property
    def memory_limit(self) -> int:
        """Most samples per input that are held in memory, if they are numbers; known like `selection_limit`."""
        _, shape = self.form
        return max(_LEAST_OBJECTS, _MOST_HELD_VALUES // max(math.prod(shape), 1))

    def check_deterministic(self, data: Any) -> None:
        """Compare calls from one stream and from others; see :meth:`TrialCalls.compare`."""
        self._trials.compare(self, data)

    def check_unchanged(self, data: Any) -> None:
        """Compare the first outputs with the last ones, and the first calls with later ones.

        See :meth:`StateKept.has_ended` and :meth:`TrialCalls.compare_again`.

        Raises
        ------
        CheckError
            The mechanism keeps a state.
        """
        if self._state_kept.has_ended(input_key(data)):
            raise self.changed("nothing but equal outputs in the end, unlike those at first,")
        self._trials.compare_again(self, data)

    def changed(self, how: str) -> CheckError:
        """Return the error of a mechanism that gave something else later on."""
        return CheckError(
            f"{self._name}: `sample` gave {how} after {self.pace.drawn:,} outputs; it keeps a state, such as a privacy "
            "budget that is used up, or puts the time out; let a call depend on nothing but its arguments"
        )

    def told_apart(self, outputs: np.ndarray, mapped: np.ndarray) -> np.ndarray:
        """Return what is looked at in outputs in the form in which the auditor tells it apart.

        Raises
        ------
        CheckError
            The outputs are sorted, or cannot be told apart.
        """
        try:
            if _is_sorted(outputs):
                raise CheckError(
                    f"`sample` returned {len(outputs)} outputs in ascending or descending order; draw `size` "
                    "independent outputs and do not sort them, or no bound holds"
                )
            if mapped.dtype.kind not in "biufc":
                self._width = max(self._width, value_count(mapped.ravel()[0]))
            return outcome_keys(mapped, coding_of(mapped))
        except CheckError as error:
            raise self.named(error) from error.__cause__

    def named(self, error: CheckError) -> CheckError:
        """Return the error with the name of the mechanism."""
        return error if str(error).startswith(self._name) else CheckError(f"{self._name}: {error}")

    def _draw(self, data: Any, size: int, rng: np.random.Generator, *, sized: bool = False) -> np.ndarray:
        parts: list[np.ndarray] = []
        left, key = size, input_key(data)
        while left or not parts:
            count = left if sized else self.pace.call_size(left, key)
            outputs = self.call(data, count, rng)
            begun = clock()
            mapped = self._in_kept_form(outputs)
            if self._state_kept.comes_again(key, mapped) and self._own_randomness:
                raise CheckError(
                    f"{self._name}: `sample` gave the same outputs in two calls, although its randomness is its own; "
                    "it seems to seed its generator in every call; let every call draw new outputs"
                )
            parts.append(self._with_supports(outputs, mapped))
            seconds = max(0.0, clock() - begun) if self.has_features or self.has_supports else 0.0
            self._note(data, count, seconds, once=0.0 if self._supports is None else self._supports.take_once())
            self.pace.end_call(count, self._seconds)
            left -= count
        return parts[0] if len(parts) == 1 else concatenated(parts)

    def shown(self, outputs: np.ndarray) -> np.ndarray:
        """Return what events are about in outputs of :meth:`call`, of one call or several."""
        return self._with_supports(outputs, self._in_kept_form(outputs))

    def _in_kept_form(self, outputs: np.ndarray) -> np.ndarray:
        return self._looked_at.as_kept(outputs if self._features is None else self.mapped(outputs), as_numbers)

    def _with_supports(self, outputs: np.ndarray, mapped: np.ndarray) -> np.ndarray:
        if self._supports is None or self._pair is None:
            return mapped
        return self._supports.beside(outputs, mapped, self._pair, timed=self.pace.timed)

    def call(self, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        """Return the outputs of one call of the mechanism's ``sample``, checked.

        Raises
        ------
        TargetRaisedError
            It raised something.
        CheckError
            It changed its input, or returned anything but ``size`` outputs.
        """
        self.pace.begin_call()
        try:
            given = copy.deepcopy(data)
        except Exception as error:
            raise CheckError(
                f"{self._name}: the input {short_repr(data)} cannot be copied ({error_text(error)}); "
                "take inputs of plain values"
            ) from error
        # A copy that is not even equal to begin with (NaN, a class without ==) cannot show a change.
        comparable = _equal(given, data)
        begun = clock()
        try:
            answer = sampled(self._sample, self._name, given, size, rng)
            raw = listed(answer, size)
        except LateAnswerError as error:
            raise OutOfTimeError from error
        except DpauditError:
            raise
        except RAISED as error:
            raise TargetRaisedError(
                f"{self._name}: `sample` raised {error_text(error)} (input {short_repr(data)}, size {size})"
            ) from error
        self._seconds = max(0.0, clock() - begun)
        if size >= self._speed[0][0]:
            self._speed[0] = size, self._seconds
        if comparable and not _equal(given, data):
            raise CheckError(f"{self._name}: `sample` changed its input {short_repr(data)}; work on a copy")
        where = f"{self._name}: `sample(data, {size}, rng)`"
        if hasattr(type(answer), "__next__") and isinstance(raw, list) and len(raw) != size:
            number = f"{len(raw)} outputs" if len(raw) < size else f"more than {size} outputs"
            raise CheckError(f"{where} yielded {number}; yield {size} of them, or return {size} outputs along axis 0")
        outputs = checked(raw, size, where, self._forms[0])
        self._taken = max(0.0, clock() - begun)
        return outputs

    def _note(self, data: Any, size: int, seconds: float, *, once: float = 0.0) -> None:
        """Take note of a call of the sampler, whose outputs took so long to be looked at, a part of it only once."""
        self._seconds += seconds
        if self.pace.timed:
            # Looking at the outputs is a part of what they take.
            self.pace.note_speed(input_key(data), size, self._taken + max(0.0, seconds - once))

    def look(self, data: Any, size: int, rng: np.random.Generator, *, supports: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return outputs of a call that does not count, and what is looked at in them.

        Where no pair is known yet, what they support of this input stands for what they support of a pair.
        """
        outputs = self.call(data, size, rng)
        begun = clock()
        mapped = outputs if self._features is None else self.mapped(outputs.copy())
        self._state_kept.note_first(input_key(data), mapped)
        between = clock()
        if supports and self._supports is not None:
            self._supports.answer(outputs, data)
        ended = clock()
        looks = self.has_features or self.has_supports
        self._note(data, size, max(0.0, ended - begun + (ended - between)) if looks else 0.0)
        return outputs, mapped

    def mapped(self, outputs: np.ndarray) -> np.ndarray:
        """Return what the feature map makes of outputs."""
        assert self._features is not None
        return features_of(self._features, outputs, f"{self._name}: `features`", self._forms[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """The task of drawing one chunk of outputs.

    Attributes
    ----------
    data, size, purpose
        The input, how many outputs, and the purpose that names their stream.
    shared
        Nothing.
    """

    data: Any
    size: int
    purpose: tuple[str | int, ...]
    shared: bytes = b""

    @property
    def name(self) -> tuple[str | int, ...]:
        """Its name."""
        return (*self.purpose, self.size)

    @property
    def stage(self) -> str:
        """What it is for."""
        return str(self.purpose[0])

    @property
    def outputs(self) -> int:
        """How many outputs it draws."""
        return self.size

    def run(self, sampler: Sampler, _shared: bytes) -> np.ndarray:
        """Draw them."""
        return sampler.draw_once(self.data, self.size, *self.purpose)


def _is_sorted(outputs: np.ndarray) -> bool:
    """Whether outputs are a number each, all distinct, and in order."""
    if outputs.dtype.kind not in "iuf" or not _FEWEST_SORTED <= len(outputs) == outputs.size:
        return False
    numbers = outputs.ravel()
    return bool((numbers[1:] > numbers[:-1]).all() or (numbers[1:] < numbers[:-1]).all())


def _equal(a: Any, b: Any) -> bool:
    """Whether two inputs are equal as far as they can be compared."""
    try:
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            if np.array_equal(a, b):
                return True
            # A NaN inside of an output is not equal to itself, but comes again in the same words.
            structured = isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype.kind == b.dtype.kind == "O"
            return structured and repr(a.tolist()) == repr(b.tolist())
        return bool(a == b)
    except Exception:
        return _text(a) == _text(b)


def _text(data: Any) -> str:
    try:
        return repr(data)
    except Exception:
        return ""
