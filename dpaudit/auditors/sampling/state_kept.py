"""Notices a mechanism that keeps a state between its calls, from the outputs that are drawn anyway."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from dpaudit.auditors.outputs.flat import size_of
from dpaudit.auditors.outputs.foreign import is_foreign, plain
from dpaudit.errors import CheckError

_KEPT = 256
"""Outputs of an input that are kept from the first calls, and from the beginning of any call. Chosen by hand."""

_MOST_NUMBERS = 1 << 14
"""Values in these, at most, but for a single output. Chosen by hand, for time."""

_UNKNOWN = object()
"""Key of outputs that cannot be compared."""

_NO_CHANCE = 1e-9
"""Probability below which outputs are not equal by chance."""

_LUCK = 3.0
"""Standard errors by which outputs may agree less often, as far as a few of them show, than they do. Chosen by hand."""


@dataclass(slots=True)
class _Input:
    """What was seen of the outputs on one input: the first of them, beginnings of calls, and equal ones at the end.

    ``calls`` in a row began with the same output; so many ``others`` were in these, of which some are ``alike``.
    """

    first: list[Hashable] = field(default_factory=list)
    beginnings: list[list[Hashable]] = field(default_factory=list)
    last: Hashable = None
    equal: int = 0
    calls: int = 0
    others: int = 0
    alike: int = 0


class StateKept:
    """What the outputs of one audit show of a state, such as a budget that is used up or a generator seeded anew.

    Inputs without a key (see `input_key`) cannot be told from each other, so that nothing is noted of their outputs.
    """

    def __init__(self) -> None:
        self._inputs: dict[Any, _Input] = {}

    def note_first(self, key: Any, outputs: np.ndarray) -> None:
        """Take note of outputs of a call that does not count, until one that counts was made on the input."""
        seen = self._inputs.setdefault(key, _Input())
        if key is not None and not seen.beginnings and len(seen.first) < _KEPT:
            seen.first += _keys(outputs[: min(_KEPT - len(seen.first), _kept(outputs))])

    def comes_again(self, key: Any, outputs: np.ndarray) -> bool:
        """Take note of outputs that count, and say whether they begin as those of an earlier call by no chance.

        Compared are the first call on the input and the last one. Two outputs of a law that gives its values with the
        probabilities p are equal with probability ``sum p^2``, which is taken from the outputs themselves, with
        `_LUCK`. Of short calls, the first outputs are compared with the others: of c + n outputs that are alike in law,
        of which c + k have one value, the first ones of c calls all have it with probability
        ``binomial(c + k, c) / binomial(c + n, c)``.
        """
        if key is None:
            return False
        seen = self._inputs.setdefault(key, _Input())
        beginning = _keys(outputs[: _kept(outputs)])
        again = any(_agree_by_no_chance(earlier, beginning) for earlier in seen.beginnings)
        if not seen.beginnings or beginning[0] != seen.beginnings[-1][0] or beginning[0] is _UNKNOWN:
            seen.calls = seen.others = seen.alike = 0
        seen.calls += 1
        seen.others += len(beginning) - 1
        seen.alike += beginning[1:].count(beginning[0])
        chance = _ways(seen.calls + seen.alike, seen.calls) - _ways(seen.calls + seen.others, seen.calls)
        again = again or chance < math.log(_NO_CHANCE)
        seen.beginnings = [*seen.beginnings[:1], beginning]
        equal = _equal_at_the_end(outputs)
        last = _keys(outputs[-1:])[0]
        seen.equal = seen.equal + equal if equal == len(outputs) and last == seen.last else equal
        seen.last = last
        return again

    def has_ended(self, key: Any) -> bool:
        """Whether the last outputs are all equal, and too many of the first ones are not like them for chance.

        Of m + n outputs that are alike in law, of which k have another value, all of these are among the first m with
        probability ``binomial(m, k) / binomial(m + n, k)``.
        """
        seen = self._inputs.get(key, _Input())
        size, others = len(seen.first), sum(each != seen.last for each in seen.first)
        if not seen.equal or not others or _UNKNOWN in (*seen.first, seen.last):
            return False
        return _ways(size, others) - _ways(size + seen.equal, others) < math.log(_NO_CHANCE)


def _ways(of: int, chosen: int) -> float:
    """Logarithm of a binomial coefficient."""
    return math.lgamma(of + 1) - math.lgamma(chosen + 1) - math.lgamma(of - chosen + 1)


def _kept(outputs: np.ndarray) -> int:
    """How many outputs of a call are kept."""
    in_one = outputs[:1].size
    if outputs.dtype.kind == "O" and outputs.ndim == 1 and len(outputs):
        with suppress(CheckError):  # what is refused is told later on
            in_one = size_of(outputs[0])
    return max(1, min(_KEPT, _MOST_NUMBERS // max(in_one, 1)))


def _keys(outputs: np.ndarray) -> list[Hashable]:
    if outputs.dtype.kind in "biuf" and outputs.dtype.itemsize <= 8 and outputs.ndim <= 2:
        numbers = outputs.astype(float) + 0.0
        if not np.isnan(numbers).any():
            # The same keys, in an eighth of the time.
            listed: list[Any] = numbers.tolist()
            return listed if numbers.ndim == 1 else list(map(tuple, listed))
    return [_key(each) for each in outputs.tolist()]


def _key(output: Any) -> Hashable:
    """Key that is equal for equal outputs, whatever the form they come in; `_UNKNOWN` where there is none."""
    try:
        key: Hashable = _comparable(output)
        hash(key)
    except Exception:
        return _UNKNOWN
    return key


def _comparable(value: Any) -> Any:
    if type(value) is str:
        return value
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if type(value) in (float, int) or isinstance(value, Real):
        number = float(value) + 0.0
        return number if number == number else "not a number"
    kind: Any = type(value)
    if is_foreign(kind):
        value = plain(value)
    if isinstance(value, list | tuple):
        return tuple(_comparable(item) for item in value)
    if isinstance(value, Mapping):
        return frozenset((key, _comparable(item)) for key, item in value.items())
    if isinstance(value, set | frozenset):
        return frozenset(_comparable(item) for item in value)
    if value is not None and not isinstance(value, str | bytes) and not _compares(value):
        return type(value).__qualname__, repr(value)
    return value


def _compares(value: Any) -> bool:
    """Whether it may be compared with whatever an output holds elsewhere: of pandas' NA, nothing is true or false."""
    try:
        bool(value == 0)
    except Exception:
        return False
    return True


def _agree_by_no_chance(earlier: list[Hashable], later: list[Hashable]) -> bool:
    size = min(len(earlier), len(later))
    if not size or earlier[0] != later[0] or earlier[:size] != later[:size] or _UNKNOWN in later:
        return False
    equal = sum((count / size) ** 2 for count in Counter(earlier[:size]).values())
    equal = min(1.0, equal + _LUCK * math.sqrt(equal * (1 - equal) / size))
    return equal**size < _NO_CHANCE


def _equal_at_the_end(outputs: np.ndarray) -> int:
    """How many outputs at the end are equal to the last one, that one included."""
    if outputs.dtype.kind in "biuf":
        rows = outputs.reshape(len(outputs), -1)
        if len(rows) > 1 and (rows[-2] != rows[-1]).any():
            return 1
        (others,) = np.nonzero((rows != rows[-1]).any(axis=1))
        return len(rows) - 1 - int(others[-1]) if others.size else len(rows)
    last, equal = _key(outputs[-1]), 1
    while last is not _UNKNOWN and equal < len(outputs) and _key(outputs[-1 - equal]) == last:
        equal += 1
    return equal
