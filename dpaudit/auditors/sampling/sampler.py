"""Drawing outputs of a mechanism in chunks, with every output checked."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from dpaudit.auditors.outputs.checked_outputs import (
    COMPARED,
    FEW,
    RAISED,
    as_numbers,
    check_alone,
    checked,
    close,
    features_of,
    objects,
    seen_apart,
)
from dpaudit.auditors.outputs.features import FeatureMap, may_hide
from dpaudit.auditors.outputs.flat import value_count
from dpaudit.auditors.outputs.foreign import listed
from dpaudit.auditors.outputs.forms import Form, Forms, concatenated, end_to_end
from dpaudit.auditors.outputs.outputs import coding_of, outcome_keys
from dpaudit.auditors.sampling.pace import Pace, clock
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.auditors.sampling.work import Recipe, State, Work
from dpaudit.claims.inputs import error_text, input_key, short_repr
from dpaudit.errors import CheckError, DpauditError, TargetRaisedError

CHUNK = 1 << 16
"""Samples drawn in one call; fixed, because it decides which random numbers go into which sample. Chosen by hand: what
a call takes is then little beside what its outputs take, and these fit into memory."""

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

_TIMED = 320
"""Outputs of a call that only serves to tell what calls take from what outputs take: five times as many as of the call
before it (`COMPARED`). Chosen by hand."""

_CHECK_SHARE = 0.005
"""Part of the time left that a call of the comparison may take on the first input where there is a deadline; on the
second it is half of that, and so on. Chosen by hand."""

_TRIAL_SHARE = 0.01
"""Part of the time left that a call may take that only measures the sampler's speed. Chosen by hand."""

_TRIAL_GROWTH = 8
"""Factor by which the outputs of such calls grow. Chosen by hand: six calls reach half of `CHUNK`, and the last takes
most of the time."""

_TRIALS_AGAIN = 2
"""Calls on either input that measure it again before the final sample. Chosen by hand: one may be slow by chance."""

_TRIALS_SHARE = 0.1
"""Part of the time left that all these calls may take. Chosen by hand."""

_SPLIT_SHARE = 0.25
"""Part of the time left that the second of them may take by what the first has taken: only two calls tell what outputs
take from what a call takes. Chosen by hand."""

_FEW_CALLS = 12.0
"""Calls, as long as the last one, within the time left, below which one call at most checks whether outputs come again:
the four that are needed (`_CALLS_NEEDED`), and eight, since comparing both inputs takes six or more. With 7, ten
seconds of calls that take one each were spent on comparing, and left nothing to bound."""

_CALLS_NEEDED = 4.0
"""Calls without which there is no bound: choosing an event and bounding it takes one on either input each."""

_AGAIN_SHARE = 0.25
"""Part of the time that `supports` takes which asking it about some outputs again may take besides, where there is a
deadline; after that it is not asked again. Chosen by hand: about an eighth of the outputs of a call, or of 64, it is
asked again, so that more time is what a call takes whatever its size."""

_LEAST_SECONDS = 1e-9
"""Seconds that a call takes at least, so that nothing is divided by 0. A clock tells no smaller times."""

_FEWEST_LATER = 20
"""Outputs of a call that later ones are compared with, at least: 20 others are all equal with probability 7e-12."""

_NO_CHANCE = 1e-9
"""Probability below which later outputs are not equal by chance."""

_SLOW = 2.0
"""Seconds of a call from which on an input is compared less thoroughly, if it is not the first. Chosen by hand."""

_SECONDS_AFTER = 0.05
"""Seconds of a call that may be made after the time is over. Chosen by hand: four of them are a fifth of a second."""

_MOST_KEPT = 1 << 20
"""Bytes of the first outputs on an input that are kept until the end. Chosen by hand, for memory."""

SupportFunction = Callable[[np.ndarray, Any], np.ndarray | None]

SampleFunction = Callable[[Any, int, np.random.Generator], Any]


def sampled(function: SampleFunction, name: str, data: Any, size: int, rng: np.random.Generator) -> Any:
    """Return what a function of the user's samples.

    Raises
    ------
    CheckError
        It does not take these three arguments.
    """
    try:
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


class Supported(NamedTuple):
    """An output, and which of two inputs it supports."""

    output: Any
    supports_x: bool
    supports_y: bool


@dataclass(slots=True)
class _Asked:
    """Seconds that ``supports`` took to be asked, and to be asked again about some of the outputs.

    ``once`` are those of the first time that it was asked again, which says nothing of other calls.
    """

    first: float = 0.0
    again: float = 0.0
    once: float = 0.0

    def note(self, first: float, again: float) -> None:
        if not self.again:
            self.once = again
        self.first += first
        self.again += again


class _Compared(NamedTuple):
    """Outputs of a call, what is looked at in them, and that in the form in which the auditor tells it apart."""

    outputs: np.ndarray
    mapped: np.ndarray
    keys: np.ndarray


class _First(NamedTuple):
    """A first call on an input: its stream, what was known before it, what is looked at in its outputs, its seconds.

    The keys are those of the outputs; what is looked at is None where that takes much memory.
    """

    stream: tuple[str | int, ...]
    before: State
    keys: np.ndarray
    mapped: np.ndarray | None
    seconds: float


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
        self._own_randomness = own_randomness
        self._features = features
        self._supports = supports
        self._supports_known = False
        self._pair: tuple[Any, Any] | None = None
        self._forms = Forms(), Forms()
        self._compared: set[Any] = set()
        self._first: dict[Any, list[_First]] = {}
        self._few_calls = False
        self.pace = pace or Pace(planned=0)
        self._seconds = 0.0
        self._taken = 0.0
        self._width = 1
        self._speed = [(0, 0.0)]
        self._asked = _Asked()
        self._checks = 0
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
        self._supports_known, self._width, self._speed[0] = state.supports_known, state.width, state.speed

    def at(self, state: State) -> Sampler:
        """Sampler of the same that knows this much, and does not tell this one what it learns."""
        made = copy.copy(self)
        made._forms, made._speed = (Forms(), Forms()), [(0, 0.0)]
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
        made._pair = (x, y)
        return made

    @property
    def supported(self) -> bool:
        """Whether outputs were drawn that came with which inputs they support."""
        return self._pair is not None and self._supports_known

    @property
    def _looks(self) -> bool:
        """Whether functions of the user's look at the outputs."""
        return self._features is not None or self._supports is not None

    @property
    def may_hide(self) -> bool:
        """Whether a feature map may hide all of what outputs differ in."""
        return may_hide(self._features)

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
        """Draw twice from one stream and once from others, as often as it takes, and compare.

        Raises
        ------
        CheckError
            The sampler takes randomness from elsewhere than ``rng``, or none from it although its outputs vary; or its
            outputs cannot be told apart; or the feature map does not look at every output on its own.
        """
        key = input_key(data)
        if key is not None and key in self._compared:
            return
        self._checks += 1
        if self.work is None:
            self._compare(data, key)
            return

        def check() -> State:
            self._compare(data, key)
            return self.state

        self.restore(self.work.keep(self, "checked", check, self._checks)[0])
        self._compared.add(key)

    def _compare(self, data: Any, key: Any) -> None:
        is_first = not self._compared
        self._compared.add(key)
        size = COMPARED
        if self.pace.timed:
            if is_first:
                self._measure_speed(data)
            if self._few_calls:
                return
            share = _CHECK_SHARE / len(self._compared)
            size = max(1, int(min(COMPARED, self.pace.outputs_in_call(share, key))))
        before = self.state
        first, seconds = self._compared_call(data, "one", size), self._seconds
        if is_first:
            form = self.form
            self._time_calls(data)
            if self.form != form:
                before = self.state
                first = self._compared_call(data, "one", size)
        self._keep_first(key, ("determinism", "one"), before, first.mapped, first.keys, seconds)
        is_dear = self.pace.timed and seconds > _CHECK_SHARE * self.pace.left
        if self._features is None or (is_dear and not is_first):
            self._compare_whole(data, first)
        else:
            self._compare_apart(data, first, fewest=is_dear)
        if self._own_randomness:
            return
        if size < COMPARED or (seconds > _SLOW and not is_first):
            return  # few outputs may agree by chance; a generator of its own would have shown on the first input
        keys = first.keys
        varied, differs = bool((keys != keys[0]).any()), False
        for i in range(4):
            other = self._compared_call(data, f"other {i}", size).keys
            differs = differs or not np.array_equal(keys, other)
            varied = varied or bool((other != other[0]).any())
            if varied and differs:
                return
        if differs:
            raise CheckError(
                f"{self._name}: `sample` gave {COMPARED} equal outputs in one call and others in the next; "
                "draw `size` independent outputs"
            )
        # Varied outputs come again with probability 0.006 at most, so four times over by chance at 1.1e-9 at most.
        if varied:
            raise CheckError(
                f"{self._name}: `sample` gave the same varied outputs for two different `rng` states; "
                "it seems to ignore `rng` and to seed its own generator; take all randomness from the `rng` argument"
            )

    def check_unchanged(self, data: Any) -> None:
        """Compare outputs that are drawn now with the first ones, where there is time for it.

        Without this, a mechanism that keeps count of a privacy budget of its own, and answers with a constant once that
        is used up, could pass: one that is constant is private.

        Raises
        ------
        CheckError
            The sampler gives other outputs for the stream of its first call on this input; or, where no stream decides
            them, outputs that are all equal, as too few of the first ones were.

        Notes
        -----
        Of 2 m outputs that are alike in law, of which m + k have one value, all of the last m have it with probability
        ``binomial(m + k, m) / binomial(2 m, m)``.
        """
        seconds = self._seconds
        for first in self._first.get(input_key(data), []):
            # One that has become slow is not called again when the time is over.
            if max(first.seconds, seconds) > max(_SECONDS_AFTER, min(_SLOW, self.pace.left / 4)):
                return
            then = self.at(first.before)
            then.pace = Pace(planned=0)
            outputs, mapped = then._look(data, len(first.keys), self._streams.generator(*first.stream), supports=False)
            keys = then._told_apart(outputs, mapped)
            if not self._own_randomness:
                changed = not np.array_equal(first.keys, keys)
                how = "other outputs for the same randomness than at first"
            else:
                changed, how = _are_equal_by_no_chance(first, mapped, keys), "equal outputs, unlike those at first,"
            if changed:
                raise CheckError(
                    f"{self._name}: `sample` gave {how} after {self.pace.drawn:,} outputs; it keeps a state, such as a "
                    "privacy budget that is used up; let a call depend on nothing but its arguments"
                )

    def _wants_first(self, key: Any, size: int) -> bool:
        """Whether a call is the first on an input, or the first of so many outputs that chance can be ruled out.

        Inputs without a key cannot be told from each other, so that none is.
        """
        if key is None:
            return False
        kept = self._first.get(key, [])
        return not kept or (size >= _FEWEST_LATER > max(len(each.keys) for each in kept))

    def _keep_first(
        self,
        key: Any,
        stream: tuple[str | int, ...],
        before: State,
        mapped: np.ndarray,
        keys: np.ndarray,
        seconds: float,
    ) -> None:
        if self._wants_first(key, len(keys)):
            kept = mapped if mapped.nbytes <= _MOST_KEPT else None
            self._first.setdefault(key, []).append(_First(stream, before, keys, kept, seconds))

    def _compare_whole(self, data: Any, first: _Compared) -> None:
        """Check that a call from the same stream gives the same."""
        if self._own_randomness:
            return
        again = self._compared_call(data, "one", len(first.outputs))
        if not np.array_equal(first.keys, again.keys):
            raise CheckError(self._other_randomness)

    def _compare_apart(self, data: Any, first: _Compared, *, fewest: bool) -> None:
        """Check the same, and that the feature map looks at every output on its own: it is given them a few at a time.

        So every call of the map checks both; only where something differs, further calls tell why.
        """
        if self._own_randomness:
            self._check_alone(first)
            return
        again = self._outputs(data, len(first.outputs), self._streams.generator("determinism", "one"))
        shown = seen_apart(self._mapped, again, first.mapped, fewest=fewest)
        if not close(shown, first.mapped):
            self._check_alone(first)
            raise CheckError(self._other_randomness)
        if not np.array_equal(first.keys, self._told_apart(again, shown)):
            # Rounding depends on how many outputs come at once.
            self._compare_whole(data, first)

    def _check_alone(self, first: _Compared, *, fewest: bool = False) -> None:
        try:
            check_alone(self._mapped, first.outputs, first.mapped, fewest=fewest)
        except CheckError as error:
            raise self._named(error) from error.__cause__

    @property
    def _other_randomness(self) -> str:
        return (
            f"{self._name}: `sample` gave different outputs for the same `rng` state; "
            "take all randomness from the `rng` argument, or declare `own_randomness = True` where that cannot be"
        )

    def _time_calls(self, data: Any) -> None:
        """Tell a slow call from slow outputs, where it makes a difference that the user should know of."""
        if self._supports is not None and self.pace.announce is not None and not self.pace.timed:
            self._look(data, COMPARED, self._streams.generator("time", COMPARED), supports=True)
        seconds = self._seconds
        if self.pace.is_doubtful(COMPARED, seconds):
            self._look(data, _TIMED, self._streams.generator("time"), supports=True)
            self.pace.compare_calls((COMPARED, seconds), (_TIMED, self._seconds))

    def _measure_speed(self, data: Any) -> None:
        """Call with more and more outputs, until their time, or that of the calls, is a part of the time left."""
        key, size, until = input_key(data), 1, clock() + _TRIALS_SHARE * self.pace.left
        while True:
            begun, before = clock(), self.state
            looked_at = self._look(data, size, self._streams.generator("time", size), supports=True)
            if self._wants_first(key, size):
                keys = self._told_apart(*looked_at)
                self._keep_first(key, ("time", size), before, looked_at[1], keys, self._seconds)
            # What the sampler is asked about a pair of inputs it was asked about one of them.
            calls = self.pace.left / max(clock() - begun, self._seconds, _LEAST_SECONDS)
            fitting = min(CHUNK, self.pace.outputs_in_call(_TRIAL_SHARE, key))
            if size * _TRIAL_GROWTH <= fitting and clock() <= until:
                size *= _TRIAL_GROWTH
            elif not self.pace.is_split(key) and 2 * size * self.pace.each(key) <= _SPLIT_SHARE * self.pace.left:
                size *= 2
            elif not self.pace.is_split(key) and _CALLS_NEEDED <= calls < _FEW_CALLS + 1:
                # Were it the outputs that are so slow, no event could be chosen anyway.
                size *= 2
            else:
                break
        self._few_calls = calls < _FEW_CALLS
        if not self._few_calls:
            return
        first = _Compared(*looked_at, self._told_apart(*looked_at))
        if calls > _CALLS_NEEDED + 1 and not self._own_randomness:
            # The last call serves as the first of the two that are compared.
            again = self._told_apart(*self._look(data, size, self._streams.generator("time", size), supports=True))
            if not np.array_equal(first.keys, again):
                raise CheckError(self._other_randomness)
        if self._features is not None and calls > _CALLS_NEEDED + 3 and size > 1:
            self._check_alone(first, fewest=True)

    def measure_again(self, data: Any) -> None:
        """Make a few calls that only measure the sampler's speed, where they take a small part of the time left.

        As long as structured outputs were held, making more of them took up to ten times as long: Python looks through
        all of them now and then. So it is measured again before others are planned that are not held.
        """
        key = input_key(data)
        for call in range(_TRIALS_AGAIN):
            size = int(min(CHUNK, self.pace.outputs_in_call(_TRIAL_SHARE, key)))
            if size < _TIMED or self.pace.fixed(key) > _TRIAL_SHARE * self.pace.left:
                return
            if call == 0:
                self.pace.begin_again(key)
            self._look(data, size, self._streams.generator("time", "again", call), supports=True)

    def _compared_call(self, data: Any, purpose: str, size: int) -> _Compared:
        """Outputs of a call that is only compared with others."""
        generator = self._streams.generator("determinism", purpose)
        outputs, mapped = self._look(data, size, generator, supports=self.pace.timed)
        return _Compared(outputs, mapped, self._told_apart(outputs, mapped))

    def _told_apart(self, outputs: np.ndarray, mapped: np.ndarray) -> np.ndarray:
        """What is looked at in outputs in the form in which the auditor tells it apart, if these keep the rules."""
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
            raise self._named(error) from error.__cause__

    def _named(self, error: CheckError) -> CheckError:
        return error if str(error).startswith(self._name) else CheckError(f"{self._name}: {error}")

    def _draw(self, data: Any, size: int, rng: np.random.Generator, *, sized: bool = False) -> np.ndarray:
        parts: list[np.ndarray] = []
        left, key = size, input_key(data) if self.pace.timed else None
        while left or not parts:
            count = left if sized else self.pace.call_size(left, key)
            outputs = self._outputs(data, count, rng)
            begun = clock()
            mapped = self._looked_at.as_kept(outputs if self._features is None else self._mapped(outputs), as_numbers)
            parts.append(mapped if self._pair is None else self._with_support(outputs, mapped))
            seconds = max(0.0, clock() - begun) if self._looks else 0.0
            self._note(data, count, seconds, once=self._asked.once)
            self._asked.once = 0.0
            self.pace.end_call(count, self._seconds)
            left -= count
        return parts[0] if len(parts) == 1 else concatenated(parts)

    def _with_support(self, outputs: np.ndarray, mapped: np.ndarray) -> np.ndarray:
        """Append to what is looked at in every output which of the two inputs it supports."""
        assert self._pair is not None
        x, y = (self._support(outputs, data, again) for data, again in zip(self._pair, (_last, _few), strict=True))
        if x is None or y is None:
            return mapped
        if mapped.dtype.kind in "biufc":
            return np.column_stack([mapped.reshape(len(mapped), -1), x, y])
        return objects([Supported(*parts) for parts in zip(mapped.tolist(), x.tolist(), y.tolist(), strict=True)])

    def _support(
        self, outputs: np.ndarray, data: Any, again_of: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray | None:
        """What `supports` says of outputs, which it is to say again of those at the places that its answers choose.

        One call suffices, since every call of the sampler is followed by one about either input.
        """
        where, begun = f"{self._name}: `supports`", clock()
        found = self._supported(outputs, data, where)
        if found is None:
            if self._supports_known:
                raise CheckError(
                    f"{where} returned None for some outputs and an answer for others; answer for all or none"
                )
            return None
        self._supports_known = True
        took = max(0.0, clock() - begun)
        some = again_of(found)
        if self.pace.timed:
            if self._asked.again > _AGAIN_SHARE * self._asked.first:
                return found
            some = some[: len(outputs) // FEW] if self._asked.again else some[:1]
        if not len(some):
            return found
        begun = clock()
        again = self._supported(outputs[some], data, where)
        self._asked.note(took, max(clock() - begun, _LEAST_SECONDS))
        if again is None or not np.array_equal(again, found[some]):
            raise CheckError(
                f"{where} said something else of an output among other outputs; "
                "look at every output on its own, or no bound holds"
            )
        return found

    def _supported(self, outputs: np.ndarray, data: Any, where: str) -> np.ndarray | None:
        """What `supports` says of outputs, checked."""
        assert self._supports is not None
        try:
            raw = self._supports(outputs.copy(), copy.deepcopy(data))
            found = None if raw is None else np.asarray(raw)
        except DpauditError:
            raise
        except RAISED as error:
            raise TargetRaisedError(
                f"{where} raised {error_text(error)} (input {short_repr(data)}); it was given "
                f"{len(outputs)} outputs at once, {_in_words(outputs)}, and returns an array with a bool for each"
            ) from error
        if found is not None and (found.dtype.kind != "b" or found.shape != (len(outputs),)):
            raise CheckError(
                f"{where} returned an array of {found.dtype} of shape {found.shape} for {len(outputs)} outputs, which "
                f"it was given at once, {_in_words(outputs)}; return whether each output supports the input, an array "
                f"of bool of shape ({len(outputs)},)"
            )
        return found

    def _outputs(self, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
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

    def _look(self, data: Any, size: int, rng: np.random.Generator, *, supports: bool) -> tuple[np.ndarray, np.ndarray]:
        """Outputs of a call that does not count, and what is looked at in them.

        Where no pair is known yet, what they support of this input stands for what they support of a pair.
        """
        outputs = self._outputs(data, size, rng)
        begun = clock()
        mapped = outputs if self._features is None else self._mapped(outputs.copy())
        between = clock()
        if supports and self._supports is not None:
            self._supported(outputs, data, f"{self._name}: `supports`")
        ended = clock()
        self._note(data, size, max(0.0, ended - begun + (ended - between)) if self._looks else 0.0)
        return outputs, mapped

    def _mapped(self, outputs: np.ndarray) -> np.ndarray:
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


def _are_equal_by_no_chance(first: _First, mapped: np.ndarray, keys: np.ndarray) -> bool:
    """Whether later outputs are all equal, and too few of the first ones are like them for that to be chance."""
    size = len(keys)
    if size < _FEWEST_LATER or (keys != keys[0]).any():
        return False
    if first.mapped is not None:
        # In one form, since a rare output may have changed it.
        both = concatenated([first.mapped, mapped])
        together = outcome_keys(both, coding_of(both))
        equal = int(np.sum(together[:size] == together[-1]))
    elif first.keys.dtype == keys.dtype:
        equal = int(np.sum(first.keys == keys[0]))
    else:
        return False
    return math.comb(size + equal, size) / math.comb(2 * size, size) < _NO_CHANCE


def _last(answers: np.ndarray) -> np.ndarray:
    """Places of the last outputs, in reverse order."""
    return np.arange(len(answers))[-COMPARED:][::-1]


def _few(answers: np.ndarray) -> np.ndarray:
    """Places of a few outputs with the commoner answer: what compares them with each other tells them apart."""
    (places,) = np.nonzero(answers == (2 * np.count_nonzero(answers) >= len(answers)))
    return places[:: max(-(-len(places) // FEW), 1)][::-1]


def _in_words(outputs: np.ndarray) -> str:
    of_objects = "of objects " if outputs.dtype.kind == "O" else ""
    return f"an array {of_objects}of shape {outputs.shape}"


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
