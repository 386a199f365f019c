"""What lists and sets hold, wherever it stands in them: common values, records by a key of theirs, equal texts.

The place of a value in a list says little where the list is of varying length or in random order, and members of a set
have no places. What is read off such outputs is called a *content*: how often a common value occurs, and the parts of
the record whose key has a common value. Contents are named among the paths of structured outputs, as JSON.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any, Literal, Self

import numpy as np

from dpaudit.auditors.flat import Flat, Grouped, Structure, Uniform, Varied, paths, steps
from dpaudit.auditors.leaves import Values, numbers_and_categories

_LOOKED_AT, _LEAST_LOOKED_AT = 1000, 100
"""Outputs that decide about contents: in all, about, and at least, of each part that outputs come in and altogether."""

_MOST_LISTS = 16
"""Lists and sets that are looked into, at most; those that are nested least come first."""

_MOST_VALUES = 64
"""Values that are looked for in a list, and values of a key, at most: as many as an output has categories."""

_COMMON = 0.01
"""Share of outputs that hold a common value, at least."""

_NEARLY_ALL = 0.99
"""Share of what a list holds that its common values are, at least, to stand for the list; and share of the records, at
least, that are the only one of their key in an output."""

_MOST_KEYS = 16
"""Parts of a record that are considered as its key, at most; the first ones."""

_MOST_PARTS = 256
"""Parts of records, over all values of the key, at most: as many numbers as all ways to look at outputs deal with."""

_REMEMBERED = 1024

_Kind = Literal["occurrences", "others", "members", "part", "place", "texts"]
_KINDS: tuple[_Kind, ...] = ("occurrences", "others", "members", "part", "place", "texts")
_TEXTS = (str, bytes)

Value = str | float
"""A number, or the text of a value that is none."""


@dataclass(frozen=True, slots=True)
class Content:
    """What is read off an output.

    Attributes
    ----------
    kind
        ``occurrences`` of a value, or of all ``others``, among the values of a list or set, or the keys of records;
        number of ``members`` of a set; a ``part`` of the record that has a key, or its ``place``; number of distinct
        ``texts``.
    held
        Path of the list or set.
    key
        Path from a record to its key; None for single values.
    value
        The value, or that of the key.
    part
        Path from a record to its part.
    """

    kind: _Kind
    held: str = ""
    key: str | None = None
    value: Value | None = None
    part: str | None = None

    @property
    def path(self) -> str:
        """The content written down; no path of a value begins alike."""
        return json.dumps({name: each for name, each in asdict(self).items() if each is not None})

    @classmethod
    def of(cls, path: str) -> Self | None:
        """Read what was written down; None for the path of a value, and for what cannot be read."""
        if not path.startswith("{"):
            return None
        try:
            made = cls(**json.loads(path))
        except (ValueError, TypeError):
            return None
        texts = all(each is None or isinstance(each, str) for each in (made.held, made.key, made.part))
        return made if made.kind in _KINDS and texts and isinstance(made.value, str | float | int | None) else None

    @property
    def name(self) -> str:
        """What it is, in words."""
        if self.kind == "texts":
            return "number of distinct texts in output"
        value = f"{self.value:g}" if isinstance(self.value, float | int) else self.value
        key = (self.key or "").removeprefix(".")
        if key.startswith("['") and key.endswith("']") and key.count("[") == 1:
            key = key[2:-2]
        if self.kind == "members":
            return f"number of members of output{self.held}"
        if self.kind == "others":
            return f"number of other {'values' if self.key is None else f'values of {key}'} in output{self.held}"
        if self.kind == "occurrences":
            return f"occurrences of {value} in output{self.held}"
        if self.kind == "place":
            return f"place where {key} = {value} in output{self.held}"
        return f"output{self.held}[where {key} = {value}]{self.part}"


# Where values stand in lists.


@lru_cache(maxsize=_REMEMBERED)
def _holders(structure: Structure) -> tuple[tuple[tuple[str, int, str], ...], ...]:
    """For every value, the lists that it is in: path of each, place in it, and path from there."""
    made: list[tuple[tuple[str, int, str], ...]] = []

    def walk(inner: Structure, path: str, above: tuple[tuple[str, int, str], ...]) -> None:
        if inner is None:
            made.append(above)
            return
        is_list = isinstance(inner, int) or inner[0] == "list"
        for place, (step, part) in enumerate(steps(inner)):
            within = tuple((held, at, rest + step) for held, at, rest in above)
            walk(part, path + step, (*within, (path, place, "")) if is_list else within)

    walk(structure, "", ())
    return tuple(made)


def _is_text(structure: Structure) -> bool:
    """Whether an output is a text, whose values are characters."""
    if not isinstance(structure, tuple):
        return False
    what, _, parts = structure
    return what == "text" or (what == "list" and len(parts) == 1 and _is_text(parts[0]))


def _with_whole_texts(flat: Uniform | Varied) -> Uniform | Varied:
    """Put texts together again that were taken apart because each is alone in a list: one member among others."""
    if isinstance(flat, Uniform):
        if not _is_list_of_text(flat.structure):
            return flat
        columns = flat.columns or [[""] * flat.size]
        return Uniform(flat.size, 1, [list(map(_put_together, zip(*columns, strict=True)))])
    if not any(map(_is_list_of_text, flat.structures)):
        return flat
    structures: list[Structure] = []
    values: list[Any] = []
    start = 0
    for structure, count in zip(flat.structures, flat.counts.tolist(), strict=True):
        own = flat.values[start : start + count]
        apart = _is_list_of_text(structure)
        structures.append(1 if apart else structure)
        values += [_put_together(own)] if apart else own
        start += count
    counts = np.where(list(map(_is_list_of_text, flat.structures)), 1, flat.counts)
    return Varied(structures, counts, values)


def _is_list_of_text(structure: Structure) -> bool:
    return _is_text(structure) and structure[0] == "list" and structure[2][0][0] == "text"


def _put_together(characters: Sequence[Any]) -> str | bytes:
    of_bytes = bool(characters) and not isinstance(characters[0], str)
    return bytes(characters) if of_bytes else "".join(characters)


@dataclass(frozen=True, slots=True)
class _Entries:
    """Values in a list, in the order of their places.

    Attributes
    ----------
    rows, places, rests
        Which output has it, at which place of the list, and which of the wanted paths leads there from the place.
    numbers, categories
        The number, and the code of the text of what is none.
    """

    rows: np.ndarray
    places: np.ndarray
    rests: np.ndarray
    numbers: np.ndarray
    categories: np.ndarray

    def of(self, rest: int) -> _Entries:
        """Values of one path."""
        return self.at(self.rests == rest)

    def at(self, which: np.ndarray) -> _Entries:
        """Some of them."""
        return _Entries(*(getattr(self, name)[which] for name in self.__slots__))


@lru_cache(maxsize=_REMEMBERED)
def _placed(structure: Structure, held: str, rests: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Place of every value in a list, and which of the wanted paths leads to it from there; -1 for others."""
    places, found = (np.full(len(_holders(structure)), -1) for _ in range(2))
    for i, holders in enumerate(_holders(structure)):
        for path, place, rest in holders:
            if path == held and rest in rests:
                places[i], found[i] = place, rests.index(rest)
    return places, found


def _entries(flat: Uniform | Varied, held: str, rests: tuple[str, ...], code: Callable[[str], int]) -> _Entries:
    if isinstance(flat, Uniform):
        places, found = _placed(flat.structure, held, rests)
        wanted = np.flatnonzero(found >= 0)
        read = [_numbers(flat.columns[slot], code) for slot in wanted.tolist()]
        nothing = _numbers([], code)
        numbers, categories = (np.concatenate([nothing[which], *(each[which] for each in read)]) for which in range(2))
        rows = np.tile(np.arange(flat.size), len(wanted))
        places, found = (np.repeat(each[wanted], flat.size) for each in (places, found))
    else:
        each_placed = [_placed(structure, held, rests) for structure in flat.structures]
        places, found = (
            np.concatenate([np.empty(0, dtype=int), *(each[which] for each in each_placed)]) for which in range(2)
        )
        wanted = np.flatnonzero(found >= 0)
        numbers, categories = _numbers([flat.values[i] for i in wanted.tolist()], code)
        rows = np.repeat(np.arange(len(flat)), flat.counts)[wanted]
        places, found = places[wanted], found[wanted]
    return _Entries(rows, places, found, numbers, categories)


def _numbers(values: Values, code: Callable[[str], int]) -> tuple[np.ndarray, np.ndarray]:
    numbers, categories = numbers_and_categories(values, code) if len(values) else (np.empty(0), None)
    return numbers, np.zeros(len(numbers), dtype=int) if categories is None else categories


def _sets(flat: Uniform | Varied, held: str) -> tuple[np.ndarray, list[Any]]:
    """Outputs that have a set at a path, and these."""
    if isinstance(flat, Uniform):
        known = paths(flat.structure)
        values = flat.columns[known.index(held)] if held in known else []
        rows = np.arange(len(values))
    else:
        ends = np.cumsum(flat.counts)
        at = [
            (row, end - count + known.index(held))
            for row, (end, count, known) in enumerate(
                zip(ends.tolist(), flat.counts.tolist(), map(paths, flat.structures), strict=True)
            )
            if held in known
        ]
        rows, values = np.array([row for row, _ in at], dtype=int), [flat.values[i] for _, i in at]
    if isinstance(values, np.ndarray):
        return np.empty(0, dtype=int), []
    are = [isinstance(value, set | frozenset) for value in values]
    return rows[np.array(are, dtype=bool)], [value for value, is_set in zip(values, are, strict=True) if is_set]


def _single_values(flat: Uniform | Varied, held: str, code: Callable[[str], int], *, sets: bool) -> _Entries:
    """Values of the lists at a path, and of the sets there: an output has one or the other."""
    found = _entries(flat, held, ("",), code)
    if not sets:
        return found
    rows, members = _sets(flat, held)
    rows = np.repeat(rows, np.fromiter(map(len, members), int, len(members)))
    nowhere = np.full(len(rows), -1)
    return _joined(found, _Entries(rows, nowhere, nowhere, *_numbers(list(chain.from_iterable(members)), code)))


def _joined(*several: _Entries) -> _Entries:
    return _Entries(*(np.concatenate([getattr(each, name) for each in several]) for name in _Entries.__slots__))


# What contents are.


@dataclass(slots=True)
class _Held:
    """Contents of a list or set, each with its place among the paths."""

    is_set: bool = False
    key: str | None = None
    values: dict[Value, int] = field(default_factory=dict)
    parts: dict[str, int] = field(default_factory=dict)
    wanted: list[tuple[int, Content]] = field(default_factory=list)


@lru_cache(maxsize=64)
def _by_list(
    known: tuple[str, ...], wanted: tuple[bool, ...]
) -> tuple[dict[tuple[str, str | None], _Held], int | None]:
    """Contents of every list and set, and the place of the number of distinct texts."""
    made: dict[tuple[str, str | None], _Held] = {}
    texts = None
    for slot, path in enumerate(known):
        content = Content.of(path)
        if content is None:
            continue
        if content.kind == "texts":
            texts = slot if wanted[slot] else None
            continue
        held = made.setdefault((content.held, content.key), _Held(key=content.key))
        held.is_set |= content.kind == "members"
        # A value that is not wanted still is none of the others.
        if content.value is not None:
            held.values.setdefault(content.value, len(held.values))
        if wanted[slot]:
            held.wanted.append((slot, content))
            if content.part is not None:
                held.parts.setdefault(content.part, len(held.parts))
    return {at: held for at, held in made.items() if held.wanted}, texts


Reading = tuple[int, np.ndarray, np.ndarray]
"""Place of a content among the paths, its number in every output and its category, as in `columns`."""


def readings(
    flat: Uniform | Varied, known: tuple[str, ...], wanted: tuple[bool, ...], categories: Sequence[str]
) -> Iterator[Reading]:
    """Yield the contents of outputs.

    Parameters
    ----------
    flat
        Outputs, taken apart.
    known, wanted
        Paths, among them contents, and which of these to read.
    categories
        Texts of the categories of columns.
    """
    flat = _with_whole_texts(flat)
    lists, texts = _by_list(known, wanted)
    if texts is not None:
        yield texts, _distinct_texts(flat), np.zeros(len(flat))
    if not lists:
        return
    own = chain.from_iterable(held.values for held in lists.values())
    codes = {text: i for i, text in enumerate(dict.fromkeys([*categories, *(v for v in own if isinstance(v, str))]), 1)}

    def code(text: str) -> int:
        return codes.get(text, len(codes) + 1)

    for (path, _), held in lists.items():
        if held.key is not None:
            yield from _records(flat, path, held, code, codes, len(categories))
        else:
            found = _single_values(flat, path, code, sets=held.is_set)
            yield from _occurrences(len(flat), held, found.rows, _which(found, held.values, codes))


def _which(found: _Entries, values: dict[Value, int], codes: dict[str, int]) -> np.ndarray:
    """Which of some values each one is; their number for another one."""
    by_code = np.full(len(codes) + 2, len(values))
    numbers = sorted((value, i) for value, i in values.items() if not isinstance(value, str))
    for value, i in values.items():
        if isinstance(value, str):
            by_code[codes[value]] = i
    made: np.ndarray = by_code[found.categories]
    if numbers:
        known, which = np.array([value for value, _ in numbers]), np.array([i for _, i in numbers])
        at = np.minimum(np.searchsorted(known, found.numbers), len(known) - 1)
        same = (found.categories == 0) & (known[at] == found.numbers)
        made[same] = which[at[same]]
    return made


def _occurrences(size: int, held: _Held, rows: np.ndarray, which: np.ndarray) -> Iterator[Reading]:
    several = len(held.values) + 1
    counts = np.bincount(rows * several + which, minlength=size * several).reshape(size, several)
    nothing = np.zeros(size)
    for slot, content in held.wanted:
        if content.kind == "occurrences" and content.value is not None:
            yield slot, counts[:, held.values[content.value]], nothing
        elif content.kind == "others":
            yield slot, counts[:, -1], nothing
        elif content.kind == "members":
            yield slot, counts.sum(axis=1), nothing


def _records(
    flat: Uniform | Varied, path: str, held: _Held, code: Callable[[str], int], codes: dict[str, int], own: int
) -> Iterator[Reading]:
    assert held.key is not None
    size, several = len(flat), len(held.values)
    found = _entries(flat, path, (held.key, *held.parts), code)
    keys = found.of(0)
    which = _which(keys, held.values, codes)
    yield from _occurrences(size, held, keys.rows, which)
    # Of records of one key, the first counts.
    keys, which = keys.at(which < several), which[which < several]
    nowhere = int(found.places.max(initial=-1)) + 1
    places: np.ndarray = np.full((size, several), nowhere)
    np.minimum.at(places, (keys.rows, which), keys.places)
    first = places[keys.rows, which] == keys.places
    record = np.full((size, nowhere), -1)
    record[keys.rows[first], keys.places[first]] = which[first]
    parts = found.at(found.rests > 0)
    of_key = record[parts.rows, parts.places]
    parts, of_key = parts.at(of_key >= 0), of_key[of_key >= 0]
    numbers = np.zeros((len(held.parts), several, size))
    categories = np.full((len(held.parts), several, size), -1)
    numbers[parts.rests - 1, of_key, parts.rows] = parts.numbers
    categories[parts.rests - 1, of_key, parts.rows] = np.minimum(parts.categories, own + 1)
    for slot, content in held.wanted:
        if content.value is None:
            continue
        at = held.values[content.value]
        if content.kind == "place":
            absent = places[:, at] == nowhere
            yield slot, np.where(absent, 0, places[:, at]), np.where(absent, -1, 0)
        elif content.kind == "part" and content.part is not None:
            yield slot, numbers[held.parts[content.part], at], categories[held.parts[content.part], at]


def _distinct_texts(flat: Uniform | Varied) -> np.ndarray:
    if isinstance(flat, Uniform):
        lists = [] if _is_text(flat.structure) else flat.columns
        columns = [each for each in lists if not isinstance(each, np.ndarray) and any(map(_holds_text, each))]
        if len(columns) < 2 or all(set(map(type, each)) <= {str, bytes} for each in columns):
            counts: Iterable[int] = map(len, map(set, zip(*columns, strict=True)))
        else:
            counts = map(_distinct, zip(*columns, strict=True))
        return np.fromiter(counts, int, flat.size) if columns else np.zeros(flat.size)
    ends = np.cumsum(flat.counts).tolist()
    starts = [0, *ends[:-1]]
    return np.array(
        [
            0 if _is_text(structure) else _distinct(flat.values[start:end])
            for structure, start, end in zip(flat.structures, starts, ends, strict=True)
        ]
    )


def _holds_text(value: Any) -> bool:
    return isinstance(value, _TEXTS)


def _distinct(values: Iterable[Any]) -> int:
    return len(set(filter(_holds_text, values)))


# Which contents there are.


@dataclass(frozen=True, slots=True)
class Found:
    """Contents of outputs.

    Attributes
    ----------
    contents
        Their paths.
    replaced
        Paths of the lists and sets whose contents say all that is in them, so that their places need not be looked at.
    """

    contents: tuple[str, ...] = ()
    replaced: frozenset[str] = frozenset()

    def left(self, structure: Structure) -> list[bool]:
        """Say which values of a structure are still looked at in their places."""
        if not self.replaced:
            return [True] * len(paths(structure))
        return [
            path not in self.replaced and self.replaced.isdisjoint(held for held, _, _ in holders)
            for path, holders in zip(paths(structure), _holders(structure), strict=True)
        ]


def contents_of(firsts: Sequence[Flat]) -> Found:
    """Decide which contents are read off outputs.

    Parameters
    ----------
    firsts
        The first outputs of every part that they come in, taken apart.
    """
    rows = max(_LEAST_LOOKED_AT, _LOOKED_AT // max(1, len(firsts)))
    flats = [_with_whole_texts(each) for flat in firsts for each in _first(flat, rows)]
    size = sum(map(len, flats))
    if size < _LEAST_LOOKED_AT or all(map(_only_fractions, flats)):
        return Found()
    look = _Look(flats, size)
    found: list[Content] = []
    replaced: list[str] = []
    sets = look.set_paths()
    lists = dict(look.lists())
    for held in dict.fromkeys([*lists, *sets]):
        if any(held.startswith(f"{other}[") for other in replaced):
            continue
        rests = lists.get(held, [])
        made, complete = look.single_values(held, sets=held in sets) if "" in rests or held in sets else ([], False)
        if not made:
            made, complete = look.records(held, [rest for rest in rests if rest])
        found += made
        replaced += [held] * complete
    if look.has_equal_texts():
        found.append(Content("texts"))
    return Found(tuple(content.path for content in found), frozenset(replaced))


def _first(flat: Flat, rows: int) -> list[Uniform | Varied]:
    if isinstance(flat, Grouped):
        return [each for at, group in flat.groups for each in _first(group, int((at < rows).sum()))]
    if isinstance(flat, Uniform):
        return [Uniform(min(rows, flat.size), flat.structure, [values[:rows] for values in flat.columns])]
    counts = flat.counts[:rows]
    return [Varied(flat.structures[:rows], counts, flat.values[: int(counts.sum())])]


def _only_fractions(flat: Uniform | Varied) -> bool:
    """Whether there are no values but floating-point numbers, at the same places in each output."""
    if not isinstance(flat, Uniform) or not flat.columns:
        return False
    return all(isinstance(values, np.ndarray) and values.dtype.kind == "f" for values in flat.columns)


@dataclass(slots=True)
class _Look:
    """The first outputs, in which contents are looked for."""

    flats: list[Uniform | Varied]
    size: int
    codes: dict[str, int] = field(default_factory=dict)

    def structures(self) -> Iterator[tuple[Structure, Sequence[Any]]]:
        """Yield the structures of outputs with a value for each place: of many, a text or a set where there is one."""
        for flat in self.flats:
            if isinstance(flat, Uniform):
                yield flat.structure, [_telling(values) for values in flat.columns]
            else:
                start = 0
                for structure, count in zip(flat.structures, flat.counts.tolist(), strict=True):
                    yield structure, flat.values[start : start + count]
                    start += count

    def lists(self) -> list[tuple[str, list[str]]]:
        """Paths of lists, the least nested first, each with the paths from its parts to the values in them."""
        found: dict[str, dict[str, None]] = {}
        for structure in dict.fromkeys(structure for structure, _ in self.structures()):
            for holders in _holders(structure):
                for held, _, rest in holders:
                    found.setdefault(held, {})[rest] = None
        return sorted(((held, list(rests)) for held, rests in found.items()), key=_depth)[:_MOST_LISTS]

    def set_paths(self) -> list[str]:
        """Paths of sets."""
        found = {
            path: None
            for structure, values in self.structures()
            for path, value in zip(paths(structure), values, strict=True)
            if isinstance(value, set | frozenset)
        }
        return list(found)[:_MOST_LISTS]

    def has_equal_texts(self) -> bool:
        """Whether outputs hold several texts each, too many different ones to be categories."""
        several = any(
            sum(map(_holds_text, values)) > 1 for structure, values in self.structures() if not _is_text(structure)
        )
        every = chain.from_iterable(
            chain.from_iterable(values for values in flat.columns if not isinstance(values, np.ndarray))
            if isinstance(flat, Uniform)
            else flat.values
            for flat in self.flats
        )
        return several and len(set(filter(_holds_text, every))) > _MOST_VALUES

    def code(self, text: str) -> int:
        """Code of a text."""
        return self.codes.setdefault(text, len(self.codes) + 1)

    def entries(self, read: Callable[[Uniform | Varied], _Entries]) -> _Entries:
        """Values of all outputs, which are numbered through."""
        made, before = [], 0
        for flat in self.flats:
            each = read(flat)
            made.append(_Entries(each.rows + before, each.places, each.rests, each.numbers, each.categories))
            before += len(flat)
        return _joined(*made)

    def common(self, found: _Entries) -> tuple[list[Value], np.ndarray]:
        """Values that come often, the most frequent first, and which of them every one is; their number for others."""
        texts = {code: text for text, code in self.codes.items()}
        values: list[Value] = [
            texts[code] if code else number
            for number, code in zip(found.numbers.tolist(), found.categories.tolist(), strict=True)
        ]
        counts = Counter(values)
        often = [value for value, count in counts.items() if count >= max(2.0, _COMMON * self.size)]
        often = sorted(often, key=lambda value: (-counts[value], str(value)))[:_MOST_VALUES]
        index = {value: i for i, value in enumerate(often)}
        return often, np.array([index.get(value, len(often)) for value in values], dtype=int)

    def single_values(self, held: str, *, sets: bool) -> tuple[list[Content], bool]:
        """Contents of a set, of a list of varying length, or of one with texts at several places each but in one order."""
        found = self.entries(lambda flat: _single_values(flat, held, self.code, sets=sets))
        counts = np.bincount(found.rows, minlength=self.size)
        varies = sets or bool(counts.min() < counts.max())
        if not varies and not found.categories.all():
            return [], False
        often, which = self.common(found)
        # Members of sets have no places.
        placed = found.places >= 0
        in_order = _in_one_order(found.at(placed), which[placed])
        if not sets and (not often or not (varies or (in_order and _at_several_places(found, which)))):
            return [], False
        complete = bool(often) and in_order and float(np.mean(which < len(often))) >= _NEARLY_ALL
        made = [Content("members", held)] if sets else []
        made += [Content("occurrences", held, None, value) for value in often]
        return [*made, Content("others", held)], complete

    def records(self, held: str, rests: list[str]) -> tuple[list[Content], bool]:
        """Contents of a list of records, by the key with the fewest values that comes once in an output."""
        best: tuple[tuple[bool, int], str, list[Value], bool] | None = None
        every = self.entries(lambda flat: _entries(flat, held, tuple(rests), self.code))
        records = len(np.unique(every.rows * (int(every.places.max(initial=0)) + 1) + every.places))
        for i, rest in enumerate(rests[:_MOST_KEYS]):
            keys = every.of(i)
            if not records or len(keys.rows) < _NEARLY_ALL * records:
                continue
            often, which = self.common(keys)
            once = len(np.unique(keys.rows * (len(often) + 1) + which))
            known = float(np.mean(which < len(often)))
            if len(often) < 2 or once < _NEARLY_ALL * len(which) or not _at_several_places(keys, which):
                continue
            rank = (not keys.categories.all(), len(often))
            if known >= _NEARLY_ALL and (best is None or rank < best[0]):
                best = rank, rest, often, _in_one_order(keys, which)
        if best is None:
            return [], False
        _, key, often, in_order = best
        parts = [rest for rest in rests if rest != key]
        kept = often[: max(1, _MOST_PARTS // max(1, len(parts)))]
        made = [Content("part", held, key, value, part) for value in kept for part in parts]
        made += [Content("occurrences", held, key, value) for value in kept if not parts]
        made += [Content("place", held, key, value) for value in kept if not in_order]
        return [*made, Content("others", held, key)], len(kept) == len(often)


def _telling(values: Values) -> Any:
    if isinstance(values, np.ndarray):
        return None
    return next((value for value in values if isinstance(value, (*_TEXTS, set, frozenset))), None)


def _depth(item: tuple[str, list[str]]) -> int:
    return item[0].count("[") + item[0].count(".")


def _at_several_places(found: _Entries, which: np.ndarray) -> bool:
    """Whether values come at more than one place each, so that a place says not already which value it is."""
    several = int(found.places.max(initial=0)) + 1
    together = np.unique(which * several + found.places) // several
    return len(together) > len(np.unique(which))


def _in_one_order(found: _Entries, which: np.ndarray) -> bool:
    """Whether values never repeat, and no two of them come in both orders."""
    by_output = np.lexsort((found.places, found.rows))
    rows, which = found.rows[by_output], which[by_output]
    several = int(which.max(initial=0)) + 1
    before = np.zeros((several, several), dtype=bool)
    for lag in range(1, len(rows)):
        same = rows[lag:] == rows[:-lag]
        if not same.any():
            break
        before[which[:-lag][same], which[lag:][same]] = True
    return not (before & before.T).any()
