"""Outputs of any form as what an auditor can count: numbered outcomes, and columns of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from hashlib import sha256
from numbers import Real
from typing import Any, Literal, Self

import numpy as np

from dpaudit.errors import CheckError

Coding = Literal["number", "row", "text"]

_DIRECT = 1 << 20
"""Values, at most, that whole numbers may span to be looked up in a table instead of searched."""

_MOST_POSITIONS = 128
_BLOCK_VALUES = 1 << 15
_LEAST_BLOCK = 512
_HASH_SEED = 0x9E3779B97F4A7C15
_LARGEST = 1e300
_LONGEST_TEXT = 256
_MOST_BITS = 4096
"""Larger integers are written in hexadecimal, because Python refuses to write them in decimal."""

_ADDRESS: Any = object.__repr__
"""Says only where in memory a value lies."""


def coding_of(outputs: np.ndarray) -> Coding:
    """Return how equal outputs are recognised: as numbers, by a hash of a row of numbers, or by their text."""
    if outputs.dtype.kind not in "biufc":
        return "text"
    return "number" if outputs.dtype.kind != "c" and outputs[0].size == 1 else "row"


def outcome_keys(outputs: np.ndarray, coding: Coding) -> np.ndarray:
    """One sortable value per output, equal for equal outputs; shape (size,).

    Rows of numbers are hashed to 64 bits. Two outcomes with one hash would be treated as one, which weakens an event
    but never invalidates its bound.
    """
    if coding == "text":
        if outputs.dtype.kind == "U" and outputs.ndim == 1:
            return outputs.astype(str)
        items = (
            outputs if outputs.ndim == 1 and outputs.dtype.kind == "O" else outputs.reshape(len(outputs), -1).tolist()
        )
        return np.array([_text(item) for item in items])
    rows = outputs.reshape(len(outputs), -1)
    if coding == "number":
        return rows[:, 0] if outputs.dtype.kind != "b" else rows[:, 0].view(np.uint8)
    block = max(_LEAST_BLOCK, _BLOCK_VALUES // rows.shape[1])
    return np.concatenate([_hashed(rows[start : start + block]) for start in range(0, len(rows), block)])


def _hashed(rows: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # extended precision may exceed the range of double precision
        if rows.dtype.kind == "f":
            words = (rows.astype(float) + 0.0).view(np.uint64)  # -0.0 and 0.0 are equal but differ in their bits
        elif rows.dtype.kind == "c":
            words = (np.ascontiguousarray(rows.astype(complex)).view(float) + 0.0).view(np.uint64)
        else:
            words = rows.astype(np.int64).view(np.uint64)
    # High bits fold into low ones, so that the odd factors spread the few that distinguish small whole numbers.
    folded = words ^ (words >> np.uint64(32))
    hashed = folded @ _odd_factors(words.shape[1])
    hashed = (hashed ^ (hashed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.asarray(hashed ^ (hashed >> np.uint64(27)))


@cache
def _odd_factors(count: int) -> np.ndarray:
    return np.random.default_rng(_HASH_SEED).integers(0, 1 << 63, count, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def _text(item: Any) -> str:
    """Text that identifies an outcome, long ones by their digest.

    Raises
    ------
    CheckError
        The outcome has no text, or one that says only where in memory it lies.
    """
    try:
        text = repr(canonical(item))
    except CheckError:
        raise
    except Exception as error:
        raise CheckError(
            f"an output of type {type(item).__name__} cannot be told from others, because its `repr` raised "
            f"{type(error).__name__}: {error}; return numbers, strings, or lists, tuples, sets or dicts of them"
        ) from error
    if len(text) <= _LONGEST_TEXT:
        return text
    return f"{text[:_LONGEST_TEXT]} {sha256(text.encode(errors='surrogatepass')).hexdigest()}"


def canonical(item: Any) -> Any:
    """Return a value whose ``repr`` is the same for equal outcomes, whatever order a set is listed in."""
    if type(item).__repr__ is _ADDRESS:
        raise CheckError(
            f"outputs hold values of type {type(item).__name__}, whose `repr` does not identify them; return numbers, "
            "strings, or lists, tuples, sets or dicts of them, or define `__repr__`"
        )
    if isinstance(item, int) and item.bit_length() > _MOST_BITS:
        return hex(item)
    if isinstance(item, np.ndarray):
        return canonical(item.tolist())
    if isinstance(item, set | frozenset):
        return ("set", sorted(repr(canonical(part)) for part in item))
    if isinstance(item, dict):
        return ("dict", sorted((repr(canonical(key)), repr(canonical(value))) for key, value in item.items()))
    if isinstance(item, list | tuple):
        return [canonical(part) for part in item]
    if isinstance(item, np.generic):
        return item.item()
    return item


class Coder:
    """Numbers the distinct outputs, so that equal outputs get equal codes; -1 for outputs not seen before.

    Parameters
    ----------
    outputs
        Outputs to number.
    at_least
        Outcomes seen fewer times get no number.

    Attributes
    ----------
    keys, outcomes
        Key of every outcome, ascending, and the outcome itself.
    codes
        Codes of the given outputs.
    """

    def __init__(self, outputs: np.ndarray, at_least: int = 1) -> None:
        self.coding = coding_of(outputs)
        keys = outcome_keys(outputs, self.coding)
        ordered = np.sort(keys)
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        kept = starts[np.diff(np.r_[starts, len(keys)]) >= at_least]
        self.keys = ordered[kept]
        self._direct = _direct_table(self.keys)
        if not len(kept):
            self.codes, self.outcomes = np.full(len(keys), -1), outputs[:0]
            return
        self.codes = find_keys(self.keys, keys, self._direct)
        # Where each key comes first; what has no code falls on the place behind the last.
        first = np.zeros(len(self.keys) + 1, dtype=int)
        first[self.codes[::-1]] = np.arange(len(keys))[::-1]
        self.outcomes = outputs[first[:-1]]

    def __call__(self, outputs: np.ndarray) -> np.ndarray:
        """Code of every output."""
        return find_keys(self.keys, outcome_keys(outputs, self.coding), self._direct)


def find_keys(known: np.ndarray, keys: np.ndarray, direct: np.ndarray | None = None) -> np.ndarray:
    """Position of every key among the ``known`` ones, ascending; -1 where it is not among them."""
    if not len(known):
        return np.full(len(keys), -1)
    if direct is not None and keys.dtype.kind in "iu":
        low = int(known[0])
        if keys.min() >= low and keys.max() < low + len(direct):
            return np.asarray(direct[_offsets(keys, low)])
    if known.dtype.kind == "U":
        # Far faster than comparing texts one with another.
        position = {text: i for i, text in enumerate(known.tolist())}
        return np.fromiter((position.get(text, -1) for text in keys.tolist()), int, len(keys))
    at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[at] == keys, at, -1)


def _direct_table(keys: np.ndarray) -> np.ndarray | None:
    if keys.dtype.kind not in "iu" or not len(keys) or int(keys[-1]) - int(keys[0]) >= _DIRECT:
        return None
    table = np.full(int(keys[-1]) - int(keys[0]) + 1, -1)
    table[_offsets(keys, int(keys[0]))] = np.arange(len(keys))
    return table


def _offsets(keys: np.ndarray, low: int) -> np.ndarray:
    """Distances of whole numbers from the lowest, which narrow integers cannot always hold."""
    if not low:
        return keys
    return np.asarray(keys.astype(np.uint64 if keys.dtype.kind == "u" else np.int64, copy=False) - low)


@dataclass(frozen=True, slots=True)
class Columns:
    """Outputs as rows of numbers: numeric ones as they are, structured ones taken apart position by position.

    A structured output becomes its length and, for every position, the number there (0 if none) and a category (0 for
    a number, -1 for nothing, otherwise which other value).

    Attributes
    ----------
    positions
        Positions of structured outputs; None for arrays of numbers.
    categories
        The other values, by their text.
    """

    positions: int | None = None
    categories: tuple[str, ...] = ()

    @classmethod
    def fit(cls, outputs: np.ndarray) -> Self | None:
        """Form that suits these outputs; None where they have no parts."""
        if outputs.dtype.kind in "biufc":
            return cls()
        items = [_parts(item) for item in outputs.reshape(len(outputs), -1).tolist()]
        longest = max(len(parts) for parts in items)
        if longest > _MOST_POSITIONS:
            return None
        texts: dict[str, int] = {}
        for parts in items:
            for part in parts:
                if not _is_number(part):
                    text = _text(part)
                    texts[text] = texts.get(text, 0) + 1
        common = sorted(texts, key=lambda text: (-texts[text], text))[:_MOST_CATEGORIES]
        return cls(longest, tuple(common))

    def __call__(self, outputs: np.ndarray) -> np.ndarray:
        """Matrix of finite numbers, shape (size, columns)."""
        if self.positions is None:
            rows = outputs.reshape(len(outputs), -1)
            if rows.dtype.kind == "c":
                rows = np.ascontiguousarray(rows.astype(complex)).view(float)
            return rows
        items = outputs.reshape(len(outputs), -1).tolist()
        if outputs.ndim == 1 and all(type(item[0]) is str for item in items):
            # Texts tend to repeat.
            number = {text: i for i, text in enumerate(dict.fromkeys(outputs.tolist()))}
            distinct = self._matrix([[text] for text in number])
            return np.asarray(distinct[np.fromiter((number[item[0]] for item in items), int, len(items))])
        return self._matrix(items)

    def _matrix(self, items: list[Any]) -> np.ndarray:
        assert self.positions is not None
        index = {text: i + 1 for i, text in enumerate(self.categories)}
        matrix = np.zeros((len(items), 1 + 2 * self.positions))
        matrix[:, 2::2] = -1
        for row, item in zip(matrix, items, strict=True):
            parts = _parts(item)
            row[0] = len(parts)
            for position, part in enumerate(parts[: self.positions]):
                if _is_number(part):
                    # Whole numbers may be larger than any floating-point number.
                    row[1 + 2 * position], row[2 + 2 * position] = float(max(-_LARGEST, min(_LARGEST, part))), 0
                else:
                    row[2 + 2 * position] = index.get(_text(part), len(index) + 1)
        return matrix


_MOST_CATEGORIES = 64


def _is_number(part: Any) -> bool:
    """Whether a part is a number that can be compared: not NaN, which counts as one more category."""
    return isinstance(part, Real) and not isinstance(part, bool) and part == part


def _parts(item: Any) -> list[Any]:
    """Parts of a structured output in order, nested ones flattened; a text's characters."""
    if isinstance(item, Sequence) and not isinstance(item, str | bytes):
        if len(item) == 1 and isinstance(item[0], str | bytes):
            return list(item[0])
        return [part for inner in item for part in (_parts(inner) if _is_nested(inner) else [canonical(inner)])]
    if isinstance(item, np.ndarray):
        return _parts(item.tolist())
    if isinstance(item, dict):
        # The same keys are at the same positions, each in front of what it holds.
        entries = sorted(((_text(key), value) for key, value in item.items()), key=lambda entry: entry[0])
        return [
            part
            for key, value in entries
            for part in (key, *(_parts(value) if _is_nested(value) else [canonical(value)]))
        ]
    if _is_set_of_reals(item):
        return sorted(item)
    if isinstance(item, complex):
        return [item.real, item.imag]
    return [float(item) if isinstance(item, Decimal) else canonical(item)]


def _is_nested(item: Any) -> bool:
    return isinstance(item, list | tuple | dict | np.ndarray | complex | Decimal) or _is_set_of_reals(item)


def _is_set_of_reals(item: Any) -> bool:
    """Whether a set holds numbers that hardly come again, so that it is no category as a whole."""
    return isinstance(item, set | frozenset) and bool(item) and all(isinstance(part, float) for part in item)
