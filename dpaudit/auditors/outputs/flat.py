"""Structured outputs as the values inside of them, position by position, with the structure that holds them.

Outputs of one structure are taken apart together: their values at one position are one column, made by transposition
instead of output by output.

A structure is ``None`` for a single value, a number n for a sequence of n single values, and otherwise a tuple: what it
is, the names of its parts or their number, and the structures of its parts where these are not single values.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from functools import cache, lru_cache
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any, Literal

import numpy as np

from dpaudit.auditors.outputs.fields import all_attributes, attributes, field_names, is_object
from dpaudit.auditors.outputs.foreign import is_foreign, plain
from dpaudit.auditors.outputs.leaves import ATOMS, Values, text_of
from dpaudit.auditors.outputs.packed import Packed
from dpaudit.auditors.outputs.times import (
    DECIMAL_PARTS,
    TIME_NAMES,
    is_long_decimal,
    last_digits,
    time_parts,
    time_values,
)
from dpaudit.errors import CheckError

Structure = Any
"""Hashable description of how an output is made of single values."""

_MOST_COLUMNS = 6
"""Columns of a table that is an output, at most, for its rows to be taken apart as records."""

_BLOCK_VALUES = 1 << 18
_LEAST_BLOCK = 256
_STRUCTURES = 4096
"""Structures that are kept in mind."""

_MOST_GROUPS, _LEAST_IN_GROUP = 64, 16
"""Groups of outputs of one structure, at most, and the outputs that there are in each on the average, at least."""

_DEEPEST = 100
"""Levels of lists in lists, or of other values with parts, that can be taken apart for certain."""

_ENDLESS = 10_000
"""Levels from which on an output is said to contain itself."""

_Kind = Literal["leaf", "list", "fields", "dict", "object", "array", "set", "complex", "time", "foreign"]

_PLAIN = ATOMS | {int, float, np.float64, np.float32, np.int64, np.int32}
"""The usual types of single values."""


_WHOLE: frozenset[type] = frozenset({int, np.int64, np.uint64})
_EXACT = 1 << 53
"""Whole numbers beyond this are not all numbers of double precision; they become two that are."""

_LIMB = 32
_LIMBS = (2, 4, 8, 16, 32)
"""Bits of the numbers that they become, and how many these are: of up to 64 bits, two; the most for all above 512."""


def _structure_of_long(limbs: int) -> Structure:
    """Structure of a long whole number: its highest part, with the sign, those in the middle, and the lowest."""
    middle = (f" // 2**{_LIMB * place} % 2**{_LIMB}" for place in range(limbs - 2, 0, -1))
    names = (f" // 2**{_LIMB * (limbs - 1)}", *middle, f" % 2**{_LIMB}")
    return "whole", names, (None,) * limbs


_LONG = {limbs: _structure_of_long(limbs) for limbs in _LIMBS}

_LONG_DECIMAL: Structure = ("decimal", DECIMAL_PARTS, (None, None))

_STEPS = frozenset([DECIMAL_PARTS, *(names for _, names, _ in _LONG.values())]) | TIME_NAMES
"""Names of parts that stand behind the name of the whole as they are."""


_NAMED = "named tuple "
"""What the structures of named tuples are, before the name of the class."""


class _VariedError(Exception):
    """Outputs do not have one structure."""


@dataclass(frozen=True, slots=True)
class Uniform:
    """Outputs of one structure: the values at every position."""

    size: int
    structure: Structure
    columns: list[Values]

    def __len__(self) -> int:
        return self.size


@dataclass(frozen=True, slots=True)
class Varied:
    """Outputs of several structures: all their values in a row, those of an output after those of the one before."""

    structures: list[Structure]
    counts: np.ndarray
    values: list[Any]

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, slots=True)
class Grouped:
    """Outputs of a few structures: the places of those of one structure, and these."""

    size: int
    groups: list[tuple[np.ndarray, Uniform]]

    def __len__(self) -> int:
        return self.size


Flat = Uniform | Grouped | Varied


def structures_of(flat: Flat) -> list[Structure]:
    """Distinct structures of outputs, in the order in which they first come."""
    return list(outputs_by_structure(flat))


def outputs_by_structure(flat: Flat) -> dict[Structure, int]:
    """How many outputs have each structure, in the order in which these first come."""
    if isinstance(flat, Uniform):
        return {flat.structure: flat.size}
    if isinstance(flat, Grouped):
        found: Counter[Structure] = Counter()
        for at, group in flat.groups:
            found[group.structure] += len(at)
        return dict(found)
    return dict(Counter(flat.structures))


def blocks(items: np.ndarray, *, characters: bool) -> Iterator[tuple[slice, Flat]]:
    """Take outputs apart, block by block.

    Parameters
    ----------
    items
        Outputs along axis 0.
    characters
        Whether outputs that are texts are taken apart too.
    """
    if not len(items):
        return
    first = _items(items[:1])[0]
    # Members of sets are looked at together, too.
    values = len(first) if isinstance(first, set | frozenset) else value_count(first)
    rows = max(_LEAST_BLOCK, _BLOCK_VALUES // max(1, values))
    for start in range(0, len(items), rows):
        at = slice(start, min(start + rows, len(items)))
        try:
            flat = _flat(items[at], characters)
        except RecursionError as error:
            raise _not_taken_apart(_items(items[at])) from error
        yield at, flat


class Apart:
    """Outputs that are taken apart block by block as they are asked for; each block once, where it is remembered.

    Parameters
    ----------
    outputs
        Outputs along axis 0. Those that are texts are taken apart too.
    remembered
        Whether blocks are kept.
    """

    __slots__ = ("_blocks", "_known", "_outputs")

    def __init__(self, outputs: np.ndarray, *, remembered: bool) -> None:
        self._outputs = outputs
        self._known: list[Flat] | None = [] if remembered else None
        self._blocks = blocks(outputs, characters=True)

    def __iter__(self) -> Iterator[Flat]:
        if self._known is None:
            for _, flat in blocks(self._outputs, characters=True):
                yield flat
            return
        place = 0
        while True:
            if place == len(self._known):
                following = next(self._blocks, None)
                if following is None:
                    return
                self._known.append(following[1])
            yield self._known[place]
            place += 1

    @property
    def texts(self) -> bool:
        """Whether any output was a text, or a list of one, that would have been a single value otherwise."""
        return any(_is_of_text(structure) for flat in self for structure in structures_of(flat))


def _is_of_text(structure: Structure) -> bool:
    if not isinstance(structure, tuple):
        return False
    what, names, parts = structure
    return what == "text" or (what == "list" and names == 1 and _is_of_text(parts[0]))


def value_count(item: Any) -> int:
    """How many single values an output holds.

    Raises
    ------
    CheckError
        It contains itself, or is nested too deeply.
    """
    return len(_values_in(item))


def size_of(item: Any) -> int:
    """How many single values an output holds, where those of sets count, too: how long it takes to look at.

    Raises
    ------
    CheckError
        It contains itself, or is nested too deeply.
    """
    return sum(_size_of_value(value) for value in _values_in(item))


def _size_of_value(value: Any) -> int:
    """One, and that of all members where it is a set; these may be tuples and sets."""
    return 1 + sum(map(_size_of_value, value)) if isinstance(value, set | frozenset | tuple) else 1


def _values_in(item: Any) -> list[Any]:
    values: list[Any] = []
    try:
        _flatten(item, values, characters=True)
    except RecursionError as error:
        raise _not_taken_apart([item]) from error
    return values


def _not_taken_apart(items: list[Any]) -> CheckError:
    """Say what is wrong with outputs that were too much for Python's recursion."""
    levels = 0
    while items and levels < _ENDLESS:
        # An output that contains itself is looked at once on each level.
        items = list({id(part): part for item in items for part in _parts_of(item)}.values())
        levels += bool(items)
    if levels == _ENDLESS:
        return CheckError(
            "an output cannot be told from others, because its parts have parts without end (RecursionError); return "
            "numbers, strings, or lists, tuples, sets or dicts of them"
        )
    return CheckError(
        f"an output cannot be told from others, because its parts are nested {levels} levels deep (RecursionError); "
        f"return lists, tuples and dicts that are nested at most {_DEEPEST} levels deep"
    )


def _parts_of(item: Any) -> list[Any]:
    own: Any = type(item)
    kind = _kind(own)
    if kind == "object":
        return list((attributes(item) or {}).values())
    if kind == "dict":
        return list(item.values())
    if kind in ("list", "fields"):
        return list(item)
    if kind in ("foreign", "array"):
        return _parts_of(plain(item) if kind == "foreign" else item.tolist())
    return []


@lru_cache(maxsize=_STRUCTURES)
def paths(structure: Structure) -> tuple[str, ...]:
    """Where every value of a structure is found, as Python writes it."""
    found: list[str] = []
    _add_paths(structure, "", found)
    return tuple(found)


def named_tuple_of(what: str) -> str:
    """Return the class of the named tuples that structures of this kind are of; "" where they are of none."""
    return what.removeprefix(_NAMED) if what.startswith(_NAMED) else ""


@lru_cache(maxsize=_STRUCTURES)
def written(structure: Structure) -> str:
    """Write a structure so that two are the same exactly where equal outputs may have them."""
    if structure is None:
        return "."
    if isinstance(structure, int):
        return f"[{'.' * structure}]"
    what, names, parts = structure
    if what == "dict":
        return f"{{{','.join(f'{name}:{written(part)}' for name, part in zip(names, parts, strict=True))}}}"
    inside = "".join(map(written, parts))
    if what in ("list", "record") or named_tuple_of(what):
        return f"[{inside}]"
    return f"{what}({names!r}:{inside})"


def _items(outputs: np.ndarray) -> list[Any]:
    if outputs.ndim == 1:
        return list(outputs) if outputs.dtype == np.longdouble else outputs.tolist()
    if is_table(outputs.shape):
        # Of rows that may be records.
        tables: list[Any] = outputs.tolist()
        return tables
    return outputs.reshape(len(outputs), -1).tolist()


def is_table(shape: tuple[int, ...]) -> bool:
    """Whether each of the outputs of an array of this shape is a table of a few columns."""
    return len(shape) == 3 and shape[2] <= _MOST_COLUMNS


def _flat(outputs: np.ndarray, characters: bool) -> Flat:
    columns: list[Values] = []
    records = outputs.dtype.names if outputs.ndim == 1 else None
    # Fields have names, so that a record of one text is no list of one text.
    characters = characters and not records
    items = _items(outputs)
    try:
        structure = _records(outputs, columns) if records else _transposed(items, columns, characters=characters)
        return Uniform(len(items), structure, columns)
    except _VariedError:
        grouped = None if records else _grouped(items, characters=characters)
        if grouped is not None:
            return grouped
    structures: list[Structure] = []
    values: list[Any] = []
    counts = np.zeros(len(items), dtype=int)
    for i, item in enumerate(items):
        before = len(values)
        structure = _flatten(item, values, characters=characters)
        structures.append(_as_record(structure, records) if records else structure)
        counts[i] = len(values) - before
    return Varied(structures, counts, values)


def _grouped(items: list[Any], *, characters: bool) -> Grouped | None:
    """Group lists, tuples and dicts by how many parts they have; None where that makes no groups of one structure."""
    if not set(map(type, items)) <= {list, tuple, dict}:
        return None
    places: dict[tuple[type, int], list[int]] = {}
    for i, mark in enumerate(zip(map(type, items), map(len, items), strict=True)):
        places.setdefault(mark, []).append(i)
    if len(places) > min(_MOST_GROUPS, len(items) // _LEAST_IN_GROUP):
        return None
    groups: list[tuple[np.ndarray, Uniform]] = []
    for at in places.values():
        columns: list[Values] = []
        try:
            structure = _transposed([items[i] for i in at], columns, characters=characters)
        except _VariedError:
            return None
        groups.append((np.array(at), Uniform(len(at), structure, columns)))
    return Grouped(len(items), groups)


@cache
def _kind(kind: Any) -> _Kind:
    if is_foreign(kind):
        return "foreign"
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return "fields"
    if issubclass(kind, list | tuple):
        return "list"
    if issubclass(kind, dict):
        return "dict"
    if issubclass(kind, np.ndarray):
        return "array"
    if issubclass(kind, set | frozenset):
        return "set"
    if issubclass(kind, complex | np.complexfloating):
        return "complex"
    if time_parts(kind) is not None:
        return "time"
    return "object" if is_object(kind) else "leaf"


@cache
def _is_text(kind: Any) -> bool:
    """Whether values of a type are taken apart into characters; members of an enumeration are categories as a whole."""
    return issubclass(kind, str | bytes) and not issubclass(kind, Enum)


def _holds_text(item: Any) -> bool:
    kind: Any = type(item)
    return _is_text(kind)


# Many outputs of one structure. Each output is taken apart independently of the others: :func:`_flatten` decides how.


def _transposed(column: Sequence[Any], into: list[Values], *, characters: bool = False) -> Structure:
    """Append the values at every position of outputs of one structure, and return this."""
    types = set(map(type, column))
    texts = {_is_text(each) for each in types} if characters else {False}
    if len(texts) > 1:
        raise _VariedError
    if True in texts:
        return "text", _one(map(len, column)), _parts(zip(*column, strict=True), into)
    if types <= _PLAIN:
        return _leaves(column, types, into)
    kinds = {_kind(each) for each in types}
    if len(kinds) > 1:
        raise _VariedError
    if "foreign" in kinds:
        return _transposed([plain(item) for item in column], into, characters=characters)
    kind = kinds.pop()
    if kind == "leaf":
        return _leaves(column, types, into)
    if kind in ("object", "fields", "time") and len(types) > 1:
        raise _VariedError
    return _TRANSPOSERS[kind](column, types.pop() if len(types) == 1 else object, into, characters)


def _leaves(column: Sequence[Any], types: set[type], into: list[Values]) -> Structure:
    """Append single values: those of a position, or the halves of all where they are long whole numbers."""
    if types & _WHOLE and _are_long(column, types):
        limbs = _one(map(_limbs, column))
        into += map(list, zip(*(_parts_of_long(value, limbs) for value in column), strict=True))
        return _LONG[limbs]
    if Decimal in types and _one(map(is_long_decimal, column)):
        into += [column, list(map(last_digits, column))]
        return _LONG_DECIMAL
    if types == {float}:
        into.append(np.fromiter(column, float, len(column)))
    else:
        into.append(np.array(column, dtype=np.int64) if types == {int} else column)
    return None


def _is_long(value: Any) -> bool:
    return type(value) in _WHOLE and not -_EXACT <= value <= _EXACT


def _are_long(column: Sequence[Any], types: set[type]) -> bool:
    """Whether all values are whole numbers beyond double precision; raises where only some are."""
    if types == {int} and min(column) >= -_EXACT and max(column) <= _EXACT:
        return False
    long = set(map(_is_long, column))
    if len(long) > 1:
        raise _VariedError
    return long.pop()


def _limbs(value: Any) -> int:
    """How many numbers a long whole number becomes."""
    number = int(value)
    # Without a sign, numbers of 64 bits are as long as with one.
    bits = max(number.bit_length() if number >= 0 else (~number).bit_length() + 1, 2 * _LIMB)
    return next((limbs for limbs in _LIMBS if bits <= _LIMB * limbs), _LIMBS[-1])


def _parts_of_long(value: Any, limbs: int) -> list[int]:
    """Numbers that a long whole number becomes, the highest first."""
    number, lowest = int(value), (1 << _LIMB) - 1
    if limbs == _LIMBS[0]:
        return [number >> _LIMB, number & lowest]
    return [number >> _LIMB * (limbs - 1), *(number >> _LIMB * place & lowest for place in range(limbs - 2, -1, -1))]


def _parts(columns: Any, into: list[Values]) -> tuple[Structure, ...]:
    return tuple(_transposed(column, into) for column in columns)


def _cells(cells: list[Any], width: int, into: list[Values]) -> tuple[Structure, ...]:
    """Columns of a table whose rows follow each other."""
    if (packed := Packed.of_cells(cells, width)) is not None:
        into.extend(packed.columns())
        return (None,) * width
    if set(map(type, cells)) == {int}:
        try:
            table = np.array(cells, dtype=np.int64)
        except OverflowError:
            pass
        else:
            if not _has_long(table):
                into.extend(np.ascontiguousarray(table.reshape(-1, width).T))
                return (None,) * width
    others = [i for i in range(width) if type(cells[i]) not in (float, int)]
    if 0 < len(others) < width:
        # Numbers stand beside other values: without these, they may be read together.
        rest, left = cells.copy(), width
        for i in reversed(others):
            del rest[i::left]
            left -= 1
        packed = Packed.of_cells(rest, left)
    if packed is None:
        return _parts((cells[i::width] for i in range(width)), into)
    numbers = iter(packed.columns())
    structures: list[Structure] = []
    for i in range(width):
        if i in others:
            structures.append(_transposed(cells[i::width], into))
        else:
            into.append(next(numbers))
            structures.append(None)
    return tuple(structures)


def _has_long(numbers: np.ndarray) -> bool:
    """Whether whole numbers are beyond double precision."""
    return bool(
        numbers.dtype.kind in "iu"
        and numbers.dtype.itemsize == 8
        and numbers.size
        and (numbers.max() > _EXACT or numbers.min() < -_EXACT)
    )


def are_long(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which numbers of rows are beyond double precision in some of them, and which in all."""
    rows = rows.reshape(len(rows), math.prod(rows.shape[1:]))
    if not _has_long(rows):
        return np.zeros(rows.shape[1], dtype=bool), np.full(rows.shape[1], not len(rows))
    long = (rows > _EXACT) | (rows < -_EXACT)
    return np.asarray(long.any(axis=0)), np.asarray(long.all(axis=0))


def _one(values: Any) -> Any:
    """Return the one value that all these are."""
    distinct = set(values)
    if len(distinct) != 1:
        raise _VariedError
    return distinct.pop()


def _sequence(parts: tuple[Structure, ...]) -> Structure:
    return ("list", len(parts), parts) if any(part is not None for part in parts) else len(parts)


def _lists(column: Sequence[Any], kind: type, into: list[Values], characters: bool) -> Structure:
    length = _one(map(len, column))
    if characters and length == 1 and any(_holds_text(item[0]) for item in column):
        return _sequence((_transposed([item[0] for item in column], into, characters=True),))
    return _sequence(_cells(list(chain.from_iterable(column)), length, into)) if length else 0


def _fields(column: Sequence[Any], kind: type, into: list[Values], characters: bool) -> Structure:
    names = tuple(kind._fields)  # type: ignore[attr-defined]
    return (
        _NAMED + kind.__qualname__,
        names,
        _cells(list(chain.from_iterable(column)), len(names), into) if names else (),
    )


def _dicts(column: Sequence[Any], kind: type, into: list[Values], characters: bool) -> Structure:
    first = column[0]
    names = _ordered(first)
    if kind is dict and set(map(type, first)) == {str} and len(names) > 1 and len(set(map(len, column))) == 1:
        # As many keys, and the same: the values are taken in the order of their texts. Dicts of a derived type may make
        # up values of keys that they do not have.
        take = itemgetter(*(name for name, _ in names))
        try:
            cells = list(chain.from_iterable(map(take, column)))
        except KeyError:
            raise _VariedError from None
        return "dict", tuple(text for _, text in names), _cells(cells, len(names), into)
    listed = set(map(tuple, column))
    if len(listed) > 1 and any(each.keys() != first.keys() for each in column):
        raise _VariedError
    if not names:
        return "dict", (), ()
    texts = tuple(text for _, text in names)
    # Keys that are equal may be written differently, as 1 and 1.0.
    if not all(type(name) is str for name, _ in names) and len({tuple(map(type, each)) for each in column}) > 1:
        raise _VariedError
    take = itemgetter(*(name for name, _ in names))
    columns = zip(*map(take, column), strict=True) if len(names) > 1 else [list(map(take, column))]
    return "dict", texts, _parts(columns, into)


def _objects(column: Sequence[Any], kind: type, into: list[Values], characters: bool) -> Structure:
    names = field_names(kind)
    if names is not None:
        try:
            columns = [list(map(attrgetter(name), column)) for name in names]
        except AttributeError:
            raise _VariedError from None
        return kind.__qualname__, names, _parts(columns, into)
    rows = all_attributes(column, kind)
    if not _one(map(bool, rows)):
        return _leaves(column, {kind}, into)
    first = rows[0].keys()
    if len(set(map(tuple, rows))) > 1 and any(row.keys() != first for row in rows):
        raise _VariedError
    names = tuple(attributes(column[0]) or ())
    take = itemgetter(*names)
    cells = list(chain.from_iterable(map(take, rows)) if len(names) > 1 else map(take, rows))
    return kind.__qualname__, names, _cells(cells, len(names), into)


def _arrays(column: Sequence[Any], kind: type, into: list[Values], characters: bool) -> Structure:
    shape, dtype = _one((item.shape, item.dtype) for item in column)
    if dtype.kind not in "iuf" or not shape or not all(shape):
        return _transposed([item.tolist() for item in column], into)
    table = np.stack(column)
    if _has_long(table):
        return _transposed([item.tolist() for item in column], into)
    into.extend(np.ascontiguousarray(table.reshape(len(column), -1).T))
    return _nested(shape)


def _nested(shape: tuple[int, ...]) -> Structure:
    structure: Structure = shape[-1]
    for length in reversed(shape[:-1]):
        structure = ("list", length, (structure,) * length)
    return structure


def _sets(column: Sequence[Any], kind: type, into: list[Values], characters: bool) -> Structure:
    if not _one(map(_is_set_of_reals, column)):
        into.append(column)
        return None
    length = _one(map(len, column))
    into.extend(zip(*map(sorted, column), strict=True))
    return "set", length, (None,) * length


def _planes(column: Sequence[Any], kind: type, into: list[Values], characters: bool) -> Structure:
    values = np.array(column, dtype=complex)
    into += [values.real.copy(), values.imag.copy()]
    return "complex", ("real", "imag"), (None, None)


def _times(column: Sequence[Any], kind: type, into: list[Values], characters: bool) -> Structure:
    return kind.__name__, time_parts(kind), _parts(zip(*map(time_values, column), strict=True), into)


_TRANSPOSERS: dict[str, Callable[[Sequence[Any], type, list[Values], bool], Structure]] = {
    "list": _lists,
    "fields": _fields,
    "dict": _dicts,
    "object": _objects,
    "array": _arrays,
    "set": _sets,
    "complex": _planes,
    "time": _times,
}


def _records(outputs: np.ndarray, into: list[Values]) -> Structure:
    parts: list[Structure] = []
    names = outputs.dtype.names
    assert names is not None
    for name in names:
        part = outputs[name]
        if part.dtype.kind in "iuf" and part.ndim == 1 and not _has_long(part):
            into.append(np.ascontiguousarray(part))
            parts.append(None)
        else:
            parts.append(_transposed(part.tolist(), into))
    return "record", tuple(map(_quoted, names)), tuple(parts)


def _as_record(structure: Structure, names: tuple[str, ...]) -> Structure:
    parts = (None,) * structure if isinstance(structure, int) else structure[2]
    return "record", tuple(map(_quoted, names)), parts


# One output.


def _flatten(item: Any, into: list[Any], *, characters: bool = False) -> Structure:
    """Append the values inside of an output in order, and return its structure."""
    own: Any = type(item)
    kind = _kind(own)
    if kind == "leaf":
        if characters and _is_text(own):
            into.extend(item)
            return "text", len(item), (None,) * len(item)
        if _is_long(item):
            limbs = _limbs(item)
            into += _parts_of_long(item, limbs)
            return _LONG[limbs]
        if is_long_decimal(item):
            into += [item, last_digits(item)]
            return _LONG_DECIMAL
        into.append(item)
        return None
    if kind == "list":
        if characters and len(item) == 1 and _holds_text(item[0]):
            return _sequence((_flatten(item[0], into, characters=True),))
        types = set(map(type, item))
        if types <= _PLAIN and (types.isdisjoint(_WHOLE) or not any(map(_is_long, item))):
            into.extend(item)
            return len(item)
        return _sequence(tuple(_flatten(part, into) for part in item))
    if kind == "fields":
        return _NAMED + own.__qualname__, tuple(item._fields), tuple(_flatten(part, into) for part in item)
    if kind == "dict":
        entries = _ordered(item)
        return "dict", tuple(text for _, text in entries), tuple(_flatten(item[name], into) for name, _ in entries)
    if kind == "object":
        fields = attributes(item)
        if fields is None:
            into.append(item)
            return None
        return own.__qualname__, tuple(fields), tuple(_flatten(value, into) for value in fields.values())
    if kind == "set":
        if not _is_set_of_reals(item):
            into.append(item)
            return None
        into.extend(sorted(item))
        return "set", len(item), (None,) * len(item)
    if kind == "complex":
        value = complex(item)
        into += [value.real, value.imag]
        return "complex", ("real", "imag"), (None, None)
    if kind == "time":
        return own.__name__, time_parts(own), tuple(_flatten(part, into) for part in time_values(item))
    if kind == "foreign":
        return _flatten(plain(item), into, characters=characters)
    return _flatten(item.tolist(), into)


def _ordered(item: dict[Any, Any]) -> list[tuple[Any, str]]:
    """Keys with their texts, in the order of these."""
    if all(type(name) is str for name in item):
        return [(name, _quoted(name)) for name in sorted(item)]
    return sorted(((name, text_of(name)) for name in item), key=lambda entry: entry[1])


@cache
def _quoted(name: str) -> str:
    return text_of(name)


def _is_set_of_reals(item: Any) -> bool:
    """Whether a set holds numbers that hardly come again, so that it is no category as a whole.

    Numbers that have no order are none.
    """
    return bool(item) and all(isinstance(part, float) and part == part for part in item)


def steps(structure: Structure) -> list[tuple[str, Structure]]:
    """Parts of a structure that has any: how each is reached, as Python writes it, and its own structure."""
    if isinstance(structure, int):
        return [(f"[{i}]", None) for i in range(structure)]
    what, names, parts = structure
    if names in _STEPS:
        found = names
    elif what in ("dict", "record"):
        found = tuple(f"[{name}]" for name in names)
    elif isinstance(names, tuple):
        found = tuple(f".{name}" for name in names)
    else:
        found = tuple(f"[{i}]" for i in range(len(parts)))
    return list(zip(found, parts, strict=True))


def _add_paths(structure: Structure, path: str, found: list[str]) -> None:
    if structure is None:
        found.append(path)
        return
    for step, part in steps(structure):
        if part is None:
            found.append(path + step)
        else:
            _add_paths(part, path + step, found)
