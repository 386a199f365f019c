"""Notices a mechanism that keeps a state between its calls, from the outputs that are drawn anyway."""

from __future__ import annotations

import hashlib
import math
import pickle
from collections import Counter
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

_KEPT = 64
"""Outputs of an input that are kept from the first calls, and from the beginning of any call. Chosen by hand."""

_MOST_NUMBERS = 1 << 17
"""Numbers in these, at most, but for a single output. Chosen by hand, for time."""

_NO_CHANCE = 1e-9
"""Probability below which outputs are not equal by chance."""

_LUCK = 3.0
"""Standard errors by which outputs may agree less often, as far as a few of them show, than they do. Chosen by hand."""


@dataclass(slots=True)
class _Input:
    """What was seen of the outputs on one input: the first of them, beginnings of calls, and equal ones at the end."""

    first: list[object] = field(default_factory=list)
    beginnings: list[list[object]] = field(default_factory=list)
    last: object = None
    equal: int = 0


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
        `_LUCK`.
        """
        if key is None:
            return False
        seen = self._inputs.setdefault(key, _Input())
        beginning = _keys(outputs[: _kept(outputs)])
        again = any(_agree_by_no_chance(earlier, beginning) for earlier in seen.beginnings)
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
        if not seen.equal or not others:
            return False
        return math.comb(size, others) / math.comb(size + seen.equal, others) < _NO_CHANCE


def _kept(outputs: np.ndarray) -> int:
    """How many outputs of a call are kept."""
    return max(1, min(_KEPT, _MOST_NUMBERS // max(outputs[:1].size, 1)))


def _keys(outputs: np.ndarray) -> list[object]:
    """Keys that are equal for equal outputs only; a number has one, whatever its type."""
    if outputs.dtype.kind in "biuf":
        return [_digest(row.tobytes()) for row in outputs.reshape(len(outputs), -1).astype(float) + 0.0]
    return [_key(each) for each in outputs.tolist()]


def _key(output: Any) -> object:
    try:
        if isinstance(output, Real):
            return _digest(np.float64(float(output) + 0.0).tobytes())
        return _digest(pickle.dumps(output))
    except Exception:
        return object()


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _agree_by_no_chance(earlier: list[object], later: list[object]) -> bool:
    size = min(len(earlier), len(later))
    if not size or earlier[0] != later[0] or earlier[:size] != later[:size]:
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
    while equal < len(outputs) and _key(outputs[-1 - equal]) == last:
        equal += 1
    return equal
