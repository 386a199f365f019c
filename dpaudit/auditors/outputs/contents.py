"""What lists, sets and texts hold: common values and records by a key of theirs, wherever they stand, and characters.

The place of a value in a list says little where the list is of varying length or in random order, and members of a set
have no places. A text that hardly comes again is no category, but its characters may say something. What is read off
such outputs is called a *content*: how often a common value occurs, the parts of the record whose key has a common
value, the characters of a text. Contents are named among the paths of structured outputs, as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any, Literal, Self, get_args

import numpy as np

from dpaudit.auditors.outputs.containers import containers
from dpaudit.auditors.outputs.event_words import in_full
from dpaudit.auditors.outputs.flat import Uniform, Varied
from dpaudit.auditors.outputs.held import (
    TEXTS,
    Entries,
    entries_of,
    holds_text,
    is_text,
    single_values,
    texts_at,
    with_whole_texts,
)
from dpaudit.auditors.outputs.spelling import Spelling, odd_fields
from dpaudit.auditors.outputs.text_fields import (
    are_word,
    fields_of,
    have_form,
    numbers_after,
    numbers_at,
    occurrences_of,
)

_REMEMBERED = 1024

Summary = Literal["sum", "mean", "smallest", "largest"]
SUMMARIES: tuple[Summary, ...] = get_args(Summary)
"""What the numbers of a list are together."""

_Odd = Literal["first-odd", "last-odd", "odd"]
ODD: tuple[_Odd, ...] = get_args(_Odd)
"""Fields of a text that are not written as in most texts: the first, the last, and their number."""

_OfText = Literal["character", "length", "field", "after", "word", "word-at", "form", _Odd]
_OF_TEXTS: tuple[_OfText, ...] = get_args(_OfText)
_Kind = Literal[_OfText, "occurrences", "others", "members", "part", "place", "last", "texts", "container", Summary]
_KINDS: tuple[_Kind, ...] = get_args(_Kind)

Value = str | float
"""A number, or the text of a value that is none."""


NOTHING = "nothing"
"""Value of a key that a record does not have; as a text of its own, it would have quotation marks."""

_OF_A_DICT = re.compile(r"\['([^']*)'\]( .*)?")


@dataclass(frozen=True, slots=True)
class Content:
    """What is read off an output.

    Attributes
    ----------
    kind
        ``occurrences`` of a value, or of all ``others``, among the values of a list or set, or the keys of records;
        number of ``members`` of a set; a ``part`` of the record that has a key, or its ``place``; one of the ``last``
        values of a list; number of distinct ``texts``; a ``character`` of a text, its ``length``, the number in a
        ``field`` of it or ``after`` a word, how often it has a ``word``, whether a field is a certain word
        (``word-at``), whether the text has another ``form`` than most, its ``first-odd`` or ``last-odd`` field that is
        written otherwise than in most texts, or how many such fields it has (``odd``); the ``sum``, the ``mean``, the
        ``smallest`` or the ``largest`` of the numbers in a list; or whether something is a ``container`` of some kind.
    held
        Path of the list, set, text or container.
    key
        Path from a record to its key; None for single values.
    value
        The value, the word, the form (`text_fields`), how fields are written (`spelling`), or that of the key, or the
        place of the character, field or last value: from -1 down, counted from the end. Of a container, what it is
        (`containers`).
    part
        Path from a record to its part, or the word at a place; None for single values.
    beside
        Paths from a record to further keys, where only several together tell the records of an output apart, each with
        its value; None where the content is of no value.
    """

    kind: _Kind
    held: str = ""
    key: str | None = None
    value: Value | None = None
    part: str | None = None
    beside: tuple[tuple[str, Value | None], ...] = ()

    @property
    def path(self) -> str:
        """The content written down; no path of a value begins alike."""
        return json.dumps({name: each for name, each in asdict(self).items() if each is not None and each != ()})

    @classmethod
    def of(cls, path: str) -> Self | None:
        """Read what was written down; None for the path of a value, and for what cannot be read."""
        if not path.startswith("{"):
            return None
        try:
            read = json.loads(path)
            made = cls(**{**read, "beside": tuple((beside, value) for beside, value in read.get("beside", ()))})
            if made.kind in ODD:
                Spelling.read(str(made.value))
        except (ValueError, TypeError):
            return None
        texts = (made.held, made.key, made.part, *(beside for beside, _ in made.beside))
        values = (made.value, *(value for _, value in made.beside))
        of_texts = all(each is None or isinstance(each, str) for each in texts)
        of_values = all(isinstance(each, str | float | int | None) for each in values)
        return made if made.kind in _KINDS and of_texts and of_values else None

    @property
    def keys(self) -> tuple[str, ...]:
        """Paths from a record to its keys; none for single values."""
        return () if self.key is None else (self.key, *(path for path, _ in self.beside))

    @property
    def values(self) -> tuple[Value, ...] | None:
        """The value, or those of all keys; None where the content is of no value."""
        found = tuple(value for value in (self.value, *(value for _, value in self.beside)) if value is not None)
        return found or None

    @property
    def place(self) -> int:
        """Which character, field or last value it is."""
        return self.value if isinstance(self.value, int) else 0

    def name(self, output: str) -> str:
        """Return what it is, in words, of an output that is called ``output``."""
        held = output + self.held
        if self.kind == "texts":
            return f"number of distinct texts in {output}"
        if self.kind == "container":
            return f"whether {held} is {self.value}"
        if self.kind == "length":
            return f"length of {held}"
        if self.kind == "character":
            return f"code of {held}[{self.value:g}]"
        if self.kind == "field":
            return f"number in field {self.value:g} of {held}"
        if self.kind == "form":
            return f"whether {held} has another form than most"
        if self.kind == "after":
            return f"number after {self.value!r} in {held}"
        if self.kind == "word-at":
            return f"whether field {self.value:g} of {held} is {self.part!r}"
        if self.kind == "odd":
            return f"number of fields of {held} that are written otherwise than most"
        if self.kind in ODD:
            return f"{self.kind.removesuffix('-odd')} field of {held} that is written otherwise than most"
        if self.kind == "word":
            return f"occurrences of {self.value!r} in {held}"
        value = _written(self.value)
        keys, values = [_key_name(key) for key in self.keys], [_written(each) for each in self.values or ()]
        where = " and ".join(map(" = ".join, zip(keys, values, strict=False)))
        if self.kind in SUMMARIES:
            return f"{self.kind} of the numbers in {held}"
        if self.kind == "members":
            return f"number of members of {held}"
        if self.kind == "others":
            of_keys = f" of {' and '.join(keys)}" if keys else ""
            return f"number of other values{of_keys} in {held}"
        if self.kind == "occurrences":
            return f"occurrences of {' and '.join(values)} in {held}"
        if self.kind == "place":
            return f"place where {where} in {held}"
        if self.kind == "last":
            return f"{held}[{value}]{self.part or ''}"
        return f"{held}[where {where}]{self.part}"


def _written(value: Value | None) -> str:
    """Write a value as events list it: texts are written already."""
    return in_full(value) if isinstance(value, float | int) else str(value)


def _key_name(key: str) -> str:
    found = _OF_A_DICT.fullmatch(key)
    return key.removeprefix(".") if found is None else f"{found[1]}{found[2] or ''}"


@dataclass(slots=True)
class _Held:
    """Contents of a list or set, each with its place among the paths."""

    is_set: bool = False
    keys: tuple[str, ...] = ()
    values: dict[tuple[Value, ...], int] = field(default_factory=dict)
    parts: dict[str, int] = field(default_factory=dict)
    wanted: list[tuple[int, Content]] = field(default_factory=list)


@dataclass(slots=True)
class _Ends:
    """The last values of a list: the parts of records there, of which the longest list is known, and what is wanted."""

    parts: dict[str, int] = field(default_factory=dict)
    wanted: list[tuple[int, Content]] = field(default_factory=list)


@dataclass(slots=True)
class _Wanted:
    """What is read off outputs: of every list and set, of every text, and the place of the number of distinct texts."""

    lists: dict[tuple[str, tuple[str, ...]], _Held] = field(default_factory=dict)
    ends: dict[str, _Ends] = field(default_factory=dict)
    texts: dict[str, list[tuple[int, Content]]] = field(default_factory=dict)
    containers: list[tuple[int, Content]] = field(default_factory=list)
    distinct: int | None = None


@lru_cache(maxsize=64)
def _wanted(known: tuple[str, ...], wanted: tuple[bool, ...]) -> _Wanted:
    made, found = _Wanted(), dict[tuple[str, tuple[str, ...]], _Held]()
    for slot, path in enumerate(known):
        content = Content.of(path)
        if content is None:
            continue
        if content.kind == "texts":
            made.distinct = slot if wanted[slot] else None
            continue
        if content.kind == "container":
            made.containers += [(slot, content)] * wanted[slot]
            continue
        if content.kind in _OF_TEXTS:
            if wanted[slot]:
                made.texts.setdefault(content.held, []).append((slot, content))
            continue
        if content.kind == "last":
            # A part that is not wanted still says how long the list is.
            ends = made.ends.setdefault(content.held, _Ends())
            ends.parts.setdefault(content.part or "", len(ends.parts))
            if wanted[slot]:
                ends.wanted.append((slot, content))
            continue
        held = found.setdefault((content.held, content.keys), _Held(keys=content.keys))
        held.is_set |= content.kind == "members"
        # A value that is not wanted still is none of the others.
        if content.values is not None:
            held.values.setdefault(content.values, len(held.values))
        if wanted[slot]:
            held.wanted.append((slot, content))
            if content.part is not None:
                held.parts.setdefault(content.part, len(held.parts))
    made.lists = {at: held for at, held in found.items() if held.wanted}
    return made


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
    read = _wanted(known, wanted)
    for slot, content in read.containers:
        yield slot, _is_container(flat, content), np.zeros(len(flat))
    flat = with_whole_texts(flat)
    if read.distinct is not None:
        yield read.distinct, _distinct_texts(flat), np.zeros(len(flat))
    for path, contents in read.texts.items():
        yield from _of_texts(flat, path, contents)
    if not read.lists and not read.ends:
        return
    own = chain.from_iterable(chain.from_iterable(held.values) for held in read.lists.values())
    codes = {text: i for i, text in enumerate(dict.fromkeys([*categories, *(v for v in own if isinstance(v, str))]), 1)}

    def code(text: str) -> int:
        return codes.get(text, len(codes) + 1)

    for (path, _), held in read.lists.items():
        if held.keys:
            yield from _records(flat, path, held, code, codes, len(categories))
        else:
            found = single_values(flat, path, code, sets=held.is_set)
            which = _which(found, {value: i for (value,), i in held.values.items()}, codes)
            yield from _occurrences(len(flat), held, found.rows, which)
            yield from _summaries(len(flat), held, found)
    for path, ends in read.ends.items():
        if ends.wanted:
            yield from _last(len(flat), ends, entries_of(flat, path, tuple(ends.parts), code), len(categories))


def _is_container(flat: Uniform | Varied, content: Content) -> np.ndarray:
    """Whether every output has a container of a kind at a path, as 1 and 0."""
    if isinstance(flat, Uniform):
        return np.full(flat.size, float(containers(flat.structure).get(content.held) == content.value))
    found = {
        structure: float(containers(structure).get(content.held) == content.value)
        for structure in dict.fromkeys(flat.structures)
    }
    return np.fromiter(map(found.__getitem__, flat.structures), float, len(flat))


def _of_texts(flat: Uniform | Varied, path: str, contents: list[tuple[int, Content]]) -> Iterator[Reading]:
    """Codes of characters of a text, 0 where it has none there, its length, and what its fields hold."""
    rows, texts = texts_at(flat, path)
    nothing = np.zeros(len(flat))
    yield from _fields(len(flat), rows, texts, contents)
    of_type = {kind: np.array([isinstance(text, kind) for text in texts], dtype=bool) for kind in TEXTS}
    for from_end in (False, True):
        places_of = [(slot, content.place) for slot, content in contents if content.kind == "character"]
        wanted = [(slot, place) for slot, place in places_of if (place < 0) is from_end]
        if not wanted:
            continue
        places = np.array([-1 - place if from_end else place for _, place in wanted])
        codes = np.zeros((len(flat), len(wanted)))
        for kind, are in of_type.items():
            if are.any():
                own = texts if are.all() else [text for text in texts if isinstance(text, kind)]
                codes[rows[are]] = _codes(own, kind, int(places.max()) + 1, from_end=from_end)[:, places]
        for column, (slot, _) in enumerate(wanted):
            yield slot, codes[:, column], nothing
    for slot, content in contents:
        if content.kind == "length":
            lengths = np.zeros(len(flat))
            lengths[rows] = np.fromiter(map(len, texts), int, len(texts))
            yield slot, lengths, nothing


def _fields(size: int, rows: np.ndarray, texts: list[Any], contents: list[tuple[int, Content]]) -> Iterator[Reading]:
    """Numbers in fields of a text, absent where a field is none, and how often the text has some words."""
    places = [(slot, content.place) for slot, content in contents if content.kind == "field"]
    at_places = [(slot, content) for slot, content in contents if content.kind == "word-at"]
    after, words, forms = (
        [(slot, str(content.value)) for slot, content in contents if content.kind == kind]
        for kind in ("after", "word", "form")
    )
    for slot, form in forms:
        other = np.zeros(size)
        other[rows] = ~have_form(texts, form)
        yield slot, other, np.zeros(size)
    yield from _odd(size, rows, texts, contents)
    if not (places or at_places or after or words):
        return
    fields = fields_of(texts)
    behind = numbers_after(fields, [word for _, word in after]) if after else []
    read = chain(
        ((slot, numbers_at(fields, place)) for slot, place in places),
        ((slot, found) for (slot, _), found in zip(after, behind, strict=True)),
    )
    for slot, (own, there) in read:
        numbers, absent = np.zeros(size), np.full(size, -1)
        numbers[rows] = own
        absent[rows[there]] = 0
        yield slot, numbers, absent
    for slot, content in at_places:
        is_word = np.zeros(size)
        is_word[rows] = are_word(fields, content.place, content.part or "")
        yield slot, is_word, np.zeros(size)
    if words:
        counts = np.zeros((size, len(words)))
        counts[rows] = occurrences_of(fields, [word for _, word in words])
        for column, (slot, _) in enumerate(words):
            yield slot, counts[:, column], np.zeros(size)


def _odd(size: int, rows: np.ndarray, texts: list[Any], contents: list[tuple[int, Content]]) -> Iterator[Reading]:
    """Which fields of a text are written otherwise than in most texts; places are absent where none is."""
    wanted = [(slot, content) for slot, content in contents if content.kind in ODD]
    for spelling in dict.fromkeys(str(content.value) for _, content in wanted):
        found = np.full((size, len(ODD)), -1)
        found[rows] = odd_fields(texts, spelling)
        for slot, content in wanted:
            if content.value == spelling:
                own = np.maximum(found[:, ODD.index(content.kind)], 0)
                yield slot, own, np.zeros(size) if content.kind == "odd" else np.where(found[:, 0] < 0, -1, 0)


def _codes(texts: list[Any], kind: type, many: int, *, from_end: bool) -> np.ndarray:
    """Codes of the first characters, or of the last ones in reverse order; 0 where a text has fewer."""
    cut = [text[: -many - 1 : -1] for text in texts] if from_end else [text[:many] for text in texts]
    letter, dtype = ("U", np.uint32) if kind is str else ("S", np.uint8)
    return np.array(cut, dtype=f"{letter}{many}").view(dtype).reshape(len(texts), many)


def _which(found: Entries, values: dict[Value, int], codes: dict[str, int]) -> np.ndarray:
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
        if content.kind == "occurrences" and content.values is not None:
            yield slot, counts[:, held.values[content.values]], nothing
        elif content.kind == "others":
            yield slot, counts[:, -1], nothing
        elif content.kind == "members":
            yield slot, counts.sum(axis=1), nothing


def _summaries(size: int, held: _Held, found: Entries) -> Iterator[Reading]:
    """What the numbers of each output are together; absent, and 0, where there are none."""
    wanted = [(slot, content.kind) for slot, content in held.wanted if content.kind in SUMMARIES]
    if not wanted:
        return
    are = found.categories == 0
    rows, numbers = found.rows[are], found.numbers[are]
    counts = np.bincount(rows, minlength=size)
    absent = np.where(counts, 0, -1)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.bincount(rows, weights=numbers, minlength=size)
    for slot, kind in wanted:
        if kind in ("sum", "mean"):
            made = sums if kind == "sum" else sums / np.maximum(counts, 1)
        else:
            reduction, nothing = (np.minimum, np.inf) if kind == "smallest" else (np.maximum, -np.inf)
            made = np.full(size, nothing)
            reduction.at(made, rows, numbers)
        yield slot, np.where(counts, np.nan_to_num(made, nan=0.0, posinf=np.inf, neginf=-np.inf), 0.0), absent


def _last(size: int, ends: _Ends, found: Entries, own: int) -> Iterator[Reading]:
    """The last values of a list, or their parts; absent where it is shorter."""
    length = np.zeros(size, dtype=int)
    np.maximum.at(length, found.rows, found.places + 1)
    from_end = found.places - length[found.rows]
    for slot, content in ends.wanted:
        own_place = found.at((from_end == content.place) & (found.rests == ends.parts[content.part or ""]))
        numbers, categories = np.zeros(size), np.full(size, -1)
        numbers[own_place.rows] = own_place.numbers
        categories[own_place.rows] = np.minimum(own_place.categories, own + 1)
        yield slot, numbers, categories


def _records(
    flat: Uniform | Varied, path: str, held: _Held, code: Callable[[str], int], codes: dict[str, int], own: int
) -> Iterator[Reading]:
    size, several = len(flat), len(held.values)
    found = entries_of(flat, path, (*held.keys, *held.parts), code)
    nowhere = int(found.places.max(initial=-1)) + 1
    keys, which = _keyed(found, held, codes, size, nowhere)
    yield from _occurrences(size, held, keys.rows, which)
    # Of records of one key, the first counts.
    keys, which = keys.at(which < several), which[which < several]
    places: np.ndarray = np.full((size, several), nowhere)
    np.minimum.at(places, (keys.rows, which), keys.places)
    first = places[keys.rows, which] == keys.places
    record = np.full((size, nowhere), -1)
    record[keys.rows[first], keys.places[first]] = which[first]
    parts = found.at(found.rests >= len(held.keys))
    of_key = record[parts.rows, parts.places]
    parts, of_key = parts.at(of_key >= 0), of_key[of_key >= 0]
    numbers = np.zeros((len(held.parts), several, size))
    categories = np.full((len(held.parts), several, size), -1)
    rests = parts.rests - len(held.keys)
    numbers[rests, of_key, parts.rows] = parts.numbers
    categories[rests, of_key, parts.rows] = np.minimum(parts.categories, own + 1)
    for slot, content in held.wanted:
        if content.values is None:
            continue
        at = held.values[content.values]
        if content.kind == "place":
            absent = places[:, at] == nowhere
            yield slot, np.where(absent, 0, places[:, at]), np.where(absent, -1, 0)
        elif content.kind == "part" and content.part is not None:
            yield slot, numbers[held.parts[content.part], at], categories[held.parts[content.part], at]


def _keyed(found: Entries, held: _Held, codes: dict[str, int], size: int, most: int) -> tuple[Entries, np.ndarray]:
    """Where records with all keys are, and which of the known values these have together; their number for others.

    ``size`` is how many outputs there are, and ``most`` how many records an output has at most.
    """
    several = len(held.values)
    if len(held.keys) == 1 and (NOTHING,) not in held.values:
        keys = found.of(0)
        return keys, _which(keys, {value: i for (value,), i in held.values.items()}, codes)
    together, have = np.zeros(size * most, dtype=int), np.ones(size * most, dtype=bool)
    number_of = dict.fromkeys(held.values, 0)
    for place in range(len(held.keys)):
        own = found.of(place)
        values = {value: i for i, value in enumerate(dict.fromkeys(known[place] for known in held.values))}
        which = np.full(size * most, -1)
        which[own.rows * most + own.places] = _which(own, values, codes)
        if NOTHING in values:
            without = np.zeros(size * most, dtype=bool)
            without[found.rows * most + found.places] = True
            which[without & (which < 0)] = values[NOTHING]
        have &= which >= 0
        together = together * (len(values) + 1) + which
        number_of = {known: number * (len(values) + 1) + values[known[place]] for known, number in number_of.items()}
    at = np.flatnonzero(have)
    nothing = np.zeros(len(at), dtype=int)
    keys = Entries(at // most, at % most, nothing, nothing.astype(float), nothing)
    # There may be far more combinations than those that are known.
    ordered = sorted((number, held.values[known]) for known, number in number_of.items())
    numbers, known_as = np.array([*ordered, (-1, several)], dtype=int).T
    found_at = np.searchsorted(numbers[:-1], together[at])
    return keys, np.where(numbers[found_at] == together[at], known_as[found_at], several)


def _distinct_texts(flat: Uniform | Varied) -> np.ndarray:
    if isinstance(flat, Uniform):
        lists = [] if is_text(flat.structure) else flat.columns
        columns = [each for each in lists if not isinstance(each, np.ndarray) and any(map(holds_text, each))]
        if len(columns) < 2 or all(set(map(type, each)) <= {str, bytes} for each in columns):
            counts: Iterable[int] = map(len, map(set, zip(*columns, strict=True)))
        else:
            counts = map(_distinct, zip(*columns, strict=True))
        return np.fromiter(counts, int, flat.size) if columns else np.zeros(flat.size)
    ends = np.cumsum(flat.counts).tolist()
    starts = [0, *ends[:-1]]
    return np.array(
        [
            0 if is_text(structure) else _distinct(flat.values[start:end])
            for structure, start, end in zip(flat.structures, starts, ends, strict=True)
        ]
    )


def _distinct(values: Iterable[Any]) -> int:
    return len(set(filter(holds_text, values)))
