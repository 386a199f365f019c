"""Outputs of any form as what an auditor can count: numbered outcomes, and columns of numbers, each worked out once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np

from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.flat import Apart, Flat, Grouped, Uniform, are_long, blocks, value_count, written
from dpaudit.auditors.outputs.forms import concatenated
from dpaudit.auditors.outputs.leaves import ATOMS, Values, digest, mixed, text_of, words

Coding = Literal["number", "row", "text", "values"]
"""How equal outputs are recognised: as numbers, by a hash of a row of numbers, by their text, or by a hash of the
values inside of them."""

_DIRECT = 1 << 20
"""Values, at most, that whole numbers may span to be looked up in a table instead of searched."""

_BLOCK_VALUES = 1 << 15
_LEAST_BLOCK = 512
_WORDS_AT_ONCE = 1 << 16
"""Values, at most, that are hashed at once. Chosen by hand, for memory and time: of 90,000 columns of 64 outputs, each
took 20 microseconds whatever is in it."""

_HASH_SEED = 0x9E3779B97F4A7C15
_TEXTS = ATOMS | {int}
"""Types whose values are written as texts, if outputs are nothing else."""

_MOST_REMEMBERED = 1 << 26
"""Numbers that columns are remembered up to; beyond, they are worked out anew, to save memory."""


_MOST_APART = 1 << 22
"""Values inside of outputs up to which they are kept as they were taken apart, for whoever asks next."""


class Outputs:
    """Outputs of a sampler, with the keys and columns that were worked out for them.

    Slices and concatenations share what is known with the outputs that they come from: each output is keyed and taken
    apart once, whoever asks first.

    Parameters
    ----------
    raw
        Outputs along axis 0.

    Attributes
    ----------
    raw
        The outputs themselves.
    """

    __slots__ = ("_at", "_fitted", "_raw", "_stores")

    def __init__(self, raw: np.ndarray) -> None:
        self._raw: np.ndarray | None = raw
        self._stores: list[_Store] = [_Store(raw)]
        self._at: list[slice | np.ndarray] = [slice(0, len(raw))]
        self._fitted: tuple[Outputs, Columns | None] | None = None

    @property
    def raw(self) -> np.ndarray:
        """The outputs themselves."""
        if self._raw is None:
            parts = [store.raw[at] for store, at in zip(self._stores, self._at, strict=True)]
            self._raw = concatenated(parts)
        return self._raw

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the array of outputs."""
        return self._stores[0].raw.dtype

    @property
    def ndim(self) -> int:
        """Axes of the array of outputs."""
        return self._stores[0].raw.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array of outputs."""
        return (len(self), *self._stores[0].raw.shape[1:])

    @property
    def width(self) -> int:
        """How many values an output holds, about."""
        return self._stores[0].width

    def __len__(self) -> int:
        return sum(_length(at) for at in self._at)

    def __getitem__(self, which: slice | np.ndarray) -> Outputs:
        """Select outputs by a slice, by their numbers, from 0 on, or by a mask of as many.

        Raises
        ------
        IndexError
            There are no outputs of these numbers.
        """
        made = object.__new__(Outputs)
        made._raw, made._stores, made._at, made._fitted = None, [], [], None
        if isinstance(which, slice):
            start, stop, step = which.indices(len(self))
            if step != 1:
                return self[np.arange(start, stop, step)]
            for begins, store, at in self._placed():
                low, high = max(start - begins, 0), min(stop - begins, _length(at))
                if low < high or not made._stores:
                    high = max(low, high)
                    made._stores.append(store)
                    made._at.append(slice(at.start + low, at.start + high) if isinstance(at, slice) else at[low:high])
            if len(made._stores) > 1 and not _length(made._at[0]):
                del made._stores[0], made._at[0]
            return made
        places = self._numbered(which)
        store = self._stores[0] if len(self._stores) == 1 else _Store.joined(self)
        at = self._at[0] if len(self._stores) == 1 else slice(0, len(self))
        made._stores = [store]
        made._at = [places + at.start if isinstance(at, slice) else at[places]]
        return made

    def _numbered(self, which: np.ndarray) -> np.ndarray:
        """Numbers of outputs, checked: beyond a slice lie other outputs, which are not to be taken for its own."""
        if which.dtype == bool:
            if len(which) != len(self):
                raise IndexError(f"a mask of {len(which)} outputs is not one of {len(self)}")
            return np.flatnonzero(which)
        if len(which) and (int(which.min()) < 0 or int(which.max()) >= len(self)):
            raise IndexError(f"outputs {which.min()} to {which.max()} are not among {len(self)}, numbered from 0 on")
        return which if len(which) else np.empty(0, dtype=np.intp)

    def columns_with(self, other: Outputs) -> Columns | None:
        """Columns that suit these outputs and others; None where they have no parts, or too many to count."""
        if self._fitted is None or self._fitted[0] is not other:
            if self.dtype.kind in "biufc" and not self._taken_apart_with(other):
                self._fitted = (other, Columns())
            else:
                parts = [part for outputs in (self, other) for part in outputs.apart()]
                self._fitted = (other, Columns.fit_apart(parts))
        return self._fitted[1]

    def _taken_apart_with(self, other: Outputs) -> bool:
        """Whether some numbers of rows are too long for double precision, each of them in all outputs or in none."""
        if self.dtype.kind not in "iu" or other.dtype.kind not in "iu":
            return False
        (some, every), (others, every_other) = self._long(), other._long()
        some |= others
        return bool(some.any() and np.array_equal(some, every & every_other))

    def _long(self) -> tuple[np.ndarray, np.ndarray]:
        """Which numbers of rows are, in some and in all outputs, whole and beyond what double precision holds."""
        if self.width == 1:
            return np.zeros(1, dtype=bool), np.ones(1, dtype=bool)
        parts = [are_long(store.raw[at]) for store, at in zip(self._stores, self._at, strict=True)]
        some, every = (np.stack(each) for each in zip(*parts, strict=True))
        return np.asarray(some.any(axis=0)), np.asarray(every.all(axis=0))

    def keys(self, coding: Coding) -> np.ndarray:
        """One sortable value per output, equal for equal outputs; shape (size,)."""
        return self._gathered(lambda store, at: store.keys(coding, at))

    def rows(self, columns: Columns) -> np.ndarray:
        """Matrix of numbers, shape (size, columns); not to be changed."""
        return self._gathered(lambda store, at: store.rows(columns, at))

    def coding(self) -> Coding:
        """How equal outputs are recognised."""
        codings = [store.coding(at) for store, at in zip(self._stores, self._at, strict=True)]
        return codings[0] if len(set(codings)) == 1 else "values"

    def apart(self) -> list[Apart]:
        """The outputs taken apart, in the parts in which they lie in memory."""
        return [store.apart(at) for store, at in zip(self._stores, self._at, strict=True)]

    def _gathered(self, take: Callable[[_Store, slice | np.ndarray], np.ndarray]) -> np.ndarray:
        parts = [take(store, at) for store, at in zip(self._stores, self._at, strict=True)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _placed(self) -> list[tuple[int, _Store, slice | np.ndarray]]:
        begins = np.cumsum([0, *(_length(at) for at in self._at)]).tolist()
        return list(zip(begins[:-1], self._stores, self._at, strict=True))


OutputsLike = Outputs | np.ndarray
"""Outputs, or an array of them from outside of an audit."""


def as_outputs(outputs: OutputsLike) -> Outputs:
    """Return outputs that remember what is worked out for them."""
    return outputs if isinstance(outputs, Outputs) else Outputs(outputs)


def raw_of(outputs: OutputsLike) -> np.ndarray:
    """Return the array of outputs."""
    return outputs.raw if isinstance(outputs, Outputs) else outputs


def joined(parts: Sequence[OutputsLike]) -> Outputs:
    """Join outputs end to end, with all that is known of them."""
    made = object.__new__(Outputs)
    made._raw, made._stores, made._at, made._fitted = None, [], [], None
    for part in map(as_outputs, parts):
        made._stores += part._stores
        made._at += part._at
    return made


class _Store:
    """An array of outputs with what was worked out for a part of them."""

    __slots__ = ("_apart", "_codings", "_keys", "_rows", "_width", "raw")

    def __init__(self, raw: np.ndarray) -> None:
        self.raw = raw
        self._keys: dict[Coding, _Known] = {}
        self._rows: dict[Columns, _Known] = {}
        self._codings: dict[tuple[int, int], Coding] = {}
        self._apart: dict[tuple[int, int], Apart] = {}
        self._width: int | None = None

    @classmethod
    def joined(cls, outputs: Outputs) -> _Store:
        """One array in place of several, with all that is known of each."""
        made = cls(outputs.raw)
        for begins, store, at in outputs._placed():
            both: list[Any] = [
                (made._keys, store._keys),
                (made._rows, store._rows),
            ]
            for mine, other in both:
                for what, known in other.items():
                    found = np.flatnonzero(known.done[at])
                    if len(found):
                        mine.setdefault(what, _Known(len(made.raw))).put(begins + found, known.values[at][found])
        return made

    @property
    def width(self) -> int:
        if self._width is None:
            if self.raw.dtype.kind in "biufc":
                self._width = max(1, self.raw[:1].size)
            else:
                self._width = max(1, value_count(self.raw[0])) if len(self.raw) else 1
        return self._width

    def coding(self, at: slice | np.ndarray) -> Coding:
        if not isinstance(at, slice):
            return coding_of(self.raw[at])
        where = (at.start, at.stop)
        if where not in self._codings:
            self._codings[where] = coding_of(self.raw[at])
        return self._codings[where]

    def apart(self, at: slice | np.ndarray) -> Apart:
        """Outputs taken apart, which is remembered of slices unless they hold very many values."""
        if not isinstance(at, slice) or _length(at) * self.width > _MOST_APART:
            return Apart(self.raw[at], remembered=False)
        where = (at.start, at.stop)
        if where not in self._apart:
            self._apart[where] = Apart(self.raw[at], remembered=True)
        return self._apart[where]

    def _around(self, at: slice | np.ndarray) -> tuple[slice, Apart] | None:
        """Outputs that were taken apart and hold these."""
        if isinstance(at, slice):
            for (start, stop), apart in self._apart.items():
                if start <= at.start and at.stop <= stop:
                    return slice(start, stop), apart
        return None

    def keys(self, coding: Coding, at: slice | np.ndarray) -> np.ndarray:
        if coding == "number":
            return outcome_keys(self.raw[at], coding)
        known = self._keys.setdefault(coding, _Known(len(self.raw)))
        around = self._around(at) if coding == "values" else None
        if around is not None and not known.done[around[0]].all() and not around[1].texts:
            known.put(around[0], _keys_of_blocks(around[1]))
        return known.get(at, lambda places: outcome_keys(self.raw[places], coding))

    def rows(self, columns: Columns, at: slice | np.ndarray) -> np.ndarray:
        if columns.numeric:
            return columns(self.raw[at])
        if len(self.raw) * max(1, len(columns.kept)) > _MOST_REMEMBERED:
            return columns(self.raw[at])
        known = self._rows.setdefault(columns, _Known(len(self.raw)))
        around = self._around(at) if columns.paths is not None else None
        if around is not None and not known.done[around[0]].all():
            known.put(around[0], columns.of_apart(around[1]))
        return known.get(at, lambda places: columns(self.raw[places]))


class _Known:
    """Values for a part of some outputs."""

    __slots__ = ("done", "values")

    def __init__(self, size: int) -> None:
        self.done = np.zeros(size, dtype=bool)
        self.values: np.ndarray = np.empty(0)

    def get(self, at: slice | np.ndarray, work_out: Callable[[slice | np.ndarray], np.ndarray]) -> np.ndarray:
        if not _length(at):
            # Which has the type and the shape of values that are not known yet.
            return work_out(at)
        missing = ~self.done[at]
        if missing.any():
            places: slice | np.ndarray = at
            if not missing.all() or not isinstance(at, slice):
                numbers = np.arange(at.start, at.stop) if isinstance(at, slice) else at
                places = np.unique(numbers[missing])
            self.put(places, work_out(places))
        return self.values[at]

    def put(self, places: slice | np.ndarray, values: np.ndarray) -> None:
        if not self.done.any():
            self.values = np.empty((len(self.done), *values.shape[1:]), dtype=values.dtype)
        elif self.values.dtype != values.dtype:
            common = np.result_type(self.values, values)
            if common != self.values.dtype:
                self.values = self.values.astype(common)
        self.values[places] = values
        self.done[places] = True


def _length(at: slice | np.ndarray) -> int:
    return at.stop - at.start if isinstance(at, slice) else len(at)


def coding_of(outputs: OutputsLike) -> Coding:
    """Return how equal outputs are recognised."""
    if isinstance(outputs, Outputs):
        return outputs.coding()
    if outputs.dtype.kind in "biufc":
        return "number" if outputs.dtype.kind != "c" and math.prod(outputs.shape[1:]) == 1 else "row"
    if outputs.ndim > 1 or outputs.dtype.names:
        return "values"
    return "text" if outputs.dtype.kind != "O" or set(map(type, outputs.tolist())) <= _TEXTS else "values"


def outcome_keys(outputs: OutputsLike, coding: Coding) -> np.ndarray:
    """One sortable value per output, equal for equal outputs; shape (size,).

    Rows of numbers and the values inside of structures are hashed to 64 bits. Two outcomes with one hash would be
    treated as one, which weakens an event but never invalidates its bound.
    """
    if isinstance(outputs, Outputs):
        return outputs.keys(coding)
    if coding == "values":
        return _keys_of_blocks(flat for _, flat in blocks(outputs, characters=False))
    if coding == "text":
        if outputs.dtype.kind == "U" and outputs.ndim == 1:
            return outputs.astype(str)
        is_list = outputs.ndim == 1 and outputs.dtype.kind == "O"
        items = outputs if is_list else outputs.reshape(len(outputs), math.prod(outputs.shape[1:])).tolist()
        return np.array([text_of(item) for item in items], dtype=str)
    rows = outputs.reshape(len(outputs), math.prod(outputs.shape[1:]))
    if coding == "number":
        return rows[:, 0] if outputs.dtype.kind != "b" else rows[:, 0].view(np.uint8)
    block = max(_LEAST_BLOCK, _BLOCK_VALUES // rows.shape[1])
    return np.concatenate([_hashed(rows[start : start + block]) for start in range(0, max(len(rows), 1), block)])


def _keys_of_blocks(apart: Iterable[Flat]) -> np.ndarray:
    made = [_keys_of_values(flat) for flat in apart]
    return np.concatenate(made) if made else np.empty(0, dtype=np.uint64)


def _keys_of_values(flat: Flat) -> np.ndarray:
    """Hash of the structure of every output and of its values in order."""
    if isinstance(flat, Grouped):
        keys = np.empty(flat.size, dtype=np.uint64)
        for at, group in flat.groups:
            keys[at] = _keys_of_values(group)
        return keys
    if isinstance(flat, Uniform):
        total = np.full(flat.size, digest(written(flat.structure)), dtype=np.uint64)
        factors = _position_factors(len(flat.columns))
        for places, values in _of_one_type(flat.columns, max(1, _WORDS_AT_ONCE // max(flat.size, 1))):
            hashed = words(values).reshape(len(places), flat.size)
            total += (hashed * factors[places, None]).sum(axis=0)
        return mixed(total)
    digests = {structure: digest(written(structure)) for structure in dict.fromkeys(flat.structures)}
    total = np.array([digests[structure] for structure in flat.structures], dtype=np.uint64)
    if flat.values:
        ends = np.cumsum(flat.counts)
        starts = ends - flat.counts
        within = np.arange(ends[-1]) - np.repeat(starts, flat.counts)
        sums = np.cumsum(words(flat.values) * _position_factors(int(flat.counts.max()))[within])
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), sums])
        total += sums[ends] - sums[starts]
    return mixed(total)


def _of_one_type(columns: list[Values], at_once: int) -> Iterator[tuple[list[int], Values]]:
    """Yield values with the places of their columns: of columns of numbers so many at once, others one by one."""
    by_type: dict[Any, list[int]] = {}
    for place, values in enumerate(columns):
        if isinstance(values, np.ndarray) and values.dtype.kind in "if":
            by_type.setdefault(values.dtype, []).append(place)
        else:
            yield [place], values
    for places in by_type.values():
        for start in range(0, len(places), at_once):
            some = places[start : start + at_once]
            yield some, np.concatenate([columns[place] for place in some])


@cache
def _position_factors(count: int) -> np.ndarray:
    """Odd factors, the first of which are the same however many there are."""
    numbers = (np.arange(count, dtype=np.uint64) + np.uint64(1)) * np.uint64(_HASH_SEED)
    return mixed(numbers) | np.uint64(1)


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

    def __init__(self, outputs: OutputsLike, at_least: int = 1) -> None:
        self.coding = coding_of(outputs)
        keys = outcome_keys(outputs, self.coding)
        ordered = np.sort(keys)
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        kept = starts[np.diff(np.r_[starts, len(keys)]) >= at_least]
        self.keys = ordered[kept]
        self._direct = _direct_table(self.keys)
        if not len(kept):
            self.codes, self.outcomes = np.full(len(keys), -1), raw_of(outputs[:0])
            return
        self.codes = find_keys(self.keys, keys, self._direct)
        # Where each key comes first; what has no code falls on the place behind the last.
        first = np.zeros(len(self.keys) + 1, dtype=int)
        first[self.codes[::-1]] = np.arange(len(keys))[::-1]
        self.outcomes = raw_of(outputs)[first[:-1]]

    def __call__(self, outputs: OutputsLike) -> np.ndarray:
        """Code of every output."""
        return find_keys(self.keys, outcome_keys(outputs, self.coding), self._direct)


def find_keys(known: np.ndarray, keys: np.ndarray, direct: np.ndarray | None = None) -> np.ndarray:
    """Position of every key among the ``known`` ones, ascending; -1 where it is not among them."""
    if not len(known) or not len(keys):
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
