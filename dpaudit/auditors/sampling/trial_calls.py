"""Calls of a sampler that do not count: they are compared with each other, and show what calls and outputs take."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpaudit.auditors.outputs.checked_outputs import COMPARED, check_alone, close, seen_apart
from dpaudit.auditors.outputs.forms import concatenated
from dpaudit.auditors.outputs.outputs import coding_of, outcome_keys
from dpaudit.auditors.sampling.pace import Pace, clock
from dpaudit.auditors.sampling.streams import CHUNK
from dpaudit.auditors.sampling.work import State
from dpaudit.claims.inputs import input_key
from dpaudit.errors import CheckError

if TYPE_CHECKING:
    from dpaudit.auditors.sampling.sampler import Sampler

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


class _Compared(NamedTuple):
    """Outputs of a call, what is looked at in them, that in the form in which it is told apart, and its seconds."""

    outputs: np.ndarray
    mapped: np.ndarray
    keys: np.ndarray
    seconds: float


class _First(NamedTuple):
    """A first call on an input: its stream, what was known before it, what is looked at in its outputs, its seconds.

    The keys are those of the outputs; what is looked at is None where that takes much memory. The seconds are those of
    the call, and of telling its outputs apart.
    """

    stream: tuple[str | int, ...]
    before: State
    keys: np.ndarray
    mapped: np.ndarray | None
    seconds: tuple[float, float]


class TrialCalls:
    """The calls on each input that do not count, and what they have shown.

    Parameters
    ----------
    own_randomness
        Whether the mechanism has a source of randomness that no stream seeds, so that equal calls differ.
    """

    def __init__(self, *, own_randomness: bool) -> None:
        self._own_randomness = own_randomness
        self._compared: set[Any] = set()
        self._first: dict[Any, list[_First]] = {}
        self._few_calls = False
        self._checks = 0

    def compare(self, sampler: Sampler, data: Any) -> None:
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
        if sampler.work is None:
            self._compare(sampler, data, key)
            return

        def check() -> State:
            self._compare(sampler, data, key)
            return sampler.state

        sampler.restore(sampler.work.keep(sampler, "checked", check, self._checks)[0])
        self._compared.add(key)

    def _compare(self, sampler: Sampler, data: Any, key: Any) -> None:
        is_first = not self._compared
        self._compared.add(key)
        size = COMPARED
        if sampler.pace.timed:
            if is_first:
                self._measure_speed(sampler, data)
            if self._few_calls:
                return
            share = _CHECK_SHARE / len(self._compared)
            size = max(1, int(min(COMPARED, sampler.pace.outputs_in_call(share, key))))
        before = sampler.state
        first, seconds = _compared_call(sampler, data, "one", size), sampler.call_seconds
        if is_first:
            form = sampler.form
            _time_calls(sampler, data)
            if sampler.form != form:
                before = sampler.state
                first = _compared_call(sampler, data, "one", size)
        self._keep_first(key, ("determinism", "one"), before, first, seconds)
        is_dear = sampler.pace.timed and seconds > _CHECK_SHARE * sampler.pace.left
        if not sampler.has_features or (is_dear and not is_first):
            self._compare_whole(sampler, data, first)
        else:
            self._compare_apart(sampler, data, first, fewest=is_dear)
        if self._own_randomness:
            return
        if size < COMPARED or (seconds > _SLOW and not is_first):
            return  # few outputs may agree by chance; a generator of its own would have shown on the first input
        varied, differs = bool((first.keys != first.keys[0]).any()), False
        for i in range(4):
            keys, other = _keys_alike(first, _compared_call(sampler, data, f"other {i}", size))
            differs = differs or not np.array_equal(keys, other)
            varied = varied or bool((other != other[0]).any())
            if varied and differs:
                return
        if differs:
            raise CheckError(
                f"{sampler.name}: `sample` gave {COMPARED} equal outputs in one call and others in the next; "
                "draw `size` independent outputs"
            )
        # Varied outputs come again with probability 0.006 at most, so four times over by chance at 1.1e-9 at most.
        if varied:
            raise CheckError(
                f"{sampler.name}: `sample` gave the same varied outputs for two different `rng` states; "
                "it seems to ignore `rng` and to seed its own generator; take all randomness from the `rng` argument"
            )

    def compare_again(self, sampler: Sampler, data: Any) -> None:
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
        seconds = sampler.call_seconds
        for first in self._first.get(input_key(data), []):
            # One that has become slow is not called again when the time is over.
            call, apart = first.seconds
            if max(call, seconds) + apart > max(_SECONDS_AFTER, min(_SLOW, sampler.pace.left / 4)):
                return
            then = sampler.at(first.before)
            then.pace = Pace(planned=0)
            outputs, mapped = then.look(data, len(first.keys), sampler.generator(*first.stream), supports=False)
            keys = then.told_apart(outputs, mapped)
            if not self._own_randomness:
                changed = not np.array_equal(first.keys, keys)
                how = "other outputs for the same randomness than at first"
            else:
                changed, how = _are_equal_by_no_chance(first, mapped, keys), "equal outputs, unlike those at first,"
            if changed:
                raise sampler.changed(how)

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
        found: _Compared,
        seconds: float,
    ) -> None:
        if self._wants_first(key, len(found.keys)):
            kept = found.mapped if found.mapped.nbytes <= _MOST_KEPT else None
            self._first.setdefault(key, []).append(_First(stream, before, found.keys, kept, (seconds, found.seconds)))

    def _compare_whole(self, sampler: Sampler, data: Any, first: _Compared) -> None:
        """Check that a call from the same stream gives the same."""
        if self._own_randomness:
            return
        again = _compared_call(sampler, data, "one", len(first.outputs))
        if not np.array_equal(first.keys, again.keys):
            raise CheckError(_other_randomness(sampler))

    def _compare_apart(self, sampler: Sampler, data: Any, first: _Compared, *, fewest: bool) -> None:
        """Check the same, and that the feature map looks at every output on its own: it is given them a few at a time.

        So every call of the map checks both; only where something differs, further calls tell why.
        """
        if self._own_randomness:
            _check_alone(sampler, first)
            return
        again = sampler.call(data, len(first.outputs), sampler.generator("determinism", "one"))
        shown = seen_apart(sampler.mapped, again, first.mapped, fewest=fewest)
        if not close(shown, first.mapped):
            _check_alone(sampler, first)
            raise CheckError(_other_randomness(sampler))
        if not np.array_equal(first.keys, sampler.told_apart(again, shown)):
            # Rounding depends on how many outputs come at once.
            self._compare_whole(sampler, data, first)

    def _measure_speed(self, sampler: Sampler, data: Any) -> None:
        """Call with more and more outputs, until their time, or that of the calls, is a part of the time left."""
        key, size, until = input_key(data), 1, clock() + _TRIALS_SHARE * sampler.pace.left
        is_first = True
        while True:
            begun, before = clock(), sampler.state
            looked_at = sampler.look(data, size, sampler.generator("time", size), supports=True)
            if self._wants_first(key, size):
                seconds = sampler.call_seconds
                self._keep_first(key, ("time", size), before, _told_apart(sampler, *looked_at), seconds)
            # What the sampler is asked about a pair of inputs it was asked about one of them.
            calls = sampler.pace.left / max(clock() - begun, sampler.call_seconds, _LEAST_SECONDS)
            if is_first and calls < _CALLS_NEEDED:
                # Were all calls so slow, there would be no bound; but the first one may have had to prepare something.
                is_first, until = False, clock() + _TRIALS_SHARE * sampler.pace.left
                continue
            is_first = False
            fitting = min(CHUNK, sampler.pace.outputs_in_call(_TRIAL_SHARE, key))
            if size * _TRIAL_GROWTH <= fitting and clock() <= until:
                size *= _TRIAL_GROWTH
            elif (
                not sampler.pace.is_split(key) and 2 * size * sampler.pace.each(key) <= _SPLIT_SHARE * sampler.pace.left
            ):
                size *= 2
            elif not sampler.pace.is_split(key) and _CALLS_NEEDED <= calls < _FEW_CALLS + 1:
                # Were it the outputs that are so slow, no event could be chosen anyway.
                size *= 2
            else:
                break
        self._few_calls = calls < _FEW_CALLS
        if not self._few_calls:
            return
        first = _told_apart(sampler, *looked_at)
        if calls > _CALLS_NEEDED + 1 and not self._own_randomness:
            # The last call serves as the first of the two that are compared.
            again = sampler.told_apart(*sampler.look(data, size, sampler.generator("time", size), supports=True))
            if not np.array_equal(first.keys, again):
                raise CheckError(_other_randomness(sampler))
        if sampler.has_features and calls > _CALLS_NEEDED + 3 and size > 1:
            _check_alone(sampler, first, fewest=True)


def measure_again(sampler: Sampler, data: Any) -> None:
    """Make a few calls that only measure the sampler's speed, where they take a small part of the time left.

    As long as structured outputs were held, making more of them took up to ten times as long: Python looks through
    all of them now and then. So it is measured again before others are planned that are not held.
    """
    key = input_key(data)
    for call in range(_TRIALS_AGAIN):
        size = int(min(CHUNK, sampler.pace.outputs_in_call(_TRIAL_SHARE, key)))
        if size < _TIMED or sampler.pace.fixed(key) > _TRIAL_SHARE * sampler.pace.left:
            return
        if call == 0:
            sampler.pace.begin_again(key)
        sampler.look(data, size, sampler.generator("time", "again", call), supports=True)


def _compared_call(sampler: Sampler, data: Any, purpose: str, size: int) -> _Compared:
    """Outputs of a call that is only compared with others."""
    generator = sampler.generator("determinism", purpose)
    outputs, mapped = sampler.look(data, size, generator, supports=sampler.pace.timed)
    return _told_apart(sampler, outputs, mapped)


def _told_apart(sampler: Sampler, outputs: np.ndarray, mapped: np.ndarray) -> _Compared:
    begun = clock()
    keys = sampler.told_apart(outputs, mapped)
    return _Compared(outputs, mapped, keys, clock() - begun)


def _keys_alike(first: _Compared, other: _Compared) -> tuple[np.ndarray, np.ndarray]:
    """Keys of the outputs of two calls in one form: that of texts alone differs from that of other values."""
    if first.keys.dtype.kind == other.keys.dtype.kind:
        return first.keys, other.keys
    both = concatenated([first.mapped, other.mapped])
    keys = outcome_keys(both, coding_of(both))
    return keys[: len(first.keys)], keys[len(first.keys) :]


def _check_alone(sampler: Sampler, first: _Compared, *, fewest: bool = False) -> None:
    try:
        check_alone(sampler.mapped, first.outputs, first.mapped, fewest=fewest)
    except CheckError as error:
        raise sampler.named(error) from error.__cause__


def _time_calls(sampler: Sampler, data: Any) -> None:
    """Tell a slow call from slow outputs, where it makes a difference that the user should know of."""
    if sampler.has_supports and sampler.pace.announce is not None and not sampler.pace.timed:
        sampler.look(data, COMPARED, sampler.generator("time", COMPARED), supports=True)
    seconds = sampler.call_seconds
    if sampler.pace.is_doubtful(COMPARED, seconds):
        sampler.look(data, _TIMED, sampler.generator("time"), supports=True)
        sampler.pace.compare_calls((COMPARED, seconds), (_TIMED, sampler.call_seconds))


def _other_randomness(sampler: Sampler) -> str:
    return (
        f"{sampler.name}: `sample` gave different outputs for the same `rng` state; "
        "take all randomness from the `rng` argument, leave times of day out of outputs, and keep no state, such as a "
        "budget that is used up; where `rng` cannot be used, declare `own_randomness = True` in the class, or give it "
        "beside the function"
    )


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
