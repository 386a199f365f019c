"""Which contents of lists and sets are read off outputs, by what the first outputs hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, combinations, compress
from typing import Any

import numpy as np

from dpaudit.auditors.outputs.containers import telling_containers
from dpaudit.auditors.outputs.contents import ODD, SUMMARIES, Content, Value
from dpaudit.auditors.outputs.flat import Flat, Grouped, Structure, Uniform, Varied, paths
from dpaudit.auditors.outputs.held import (
    STEP,
    TEXTS,
    Entries,
    entries_of,
    holds_text,
    is_text,
    joined_entries,
    lists_around,
    single_values,
    texts_at,
    with_whole_texts,
)
from dpaudit.auditors.outputs.leaves import Values
from dpaudit.auditors.outputs.record_keys import MOST_OF_TABLE, NEARLY_ALL, Part, at_several_places, key_of_several
from dpaudit.auditors.outputs.text_fields import telling_fields

_LOOKED_AT, _LEAST_LOOKED_AT = 1000, 100
"""Outputs that decide about contents: in all, about, and at least, of each part that outputs come in and altogether."""

_MOST_LISTS = 16
"""Lists and sets that are looked into, at most; those that are nested least come first."""

_MOST_VALUES = 64
"""Values that are looked for in a list, at most: as many as an output has categories."""

_COMMON = 0.01
"""Share of outputs that hold a common value, at least."""

_NUMBERS = 0.5
"""Share of the values of lists of varying length that are numbers, at least, for their sum and the like to be looked
at. Chosen by hand."""

_NEW_TEXTS = 0.5
"""Share of the texts at a place, at least, that are different for their characters to be looked at: fewer are
categories, or known from counting outcomes. Chosen by hand."""

_MOST_TEXTS = 4
"""Texts of which characters are looked at, at most; of none where there are more. Chosen by hand, for time."""

_FIRST_CHARACTERS, _LAST_CHARACTERS = 64, 8
"""Characters of a text from its beginning that are looked at, and from its end where lengths differ. Chosen by hand."""

_LAST_PLACES, _MOST_ENDS = (-1,), 4
"""Places from the end of a list of varying length that are looked at, of so many parts of what it holds. Chosen by
hand."""

_MOST_KEYS = 16
"""Parts of a record that are considered as its key, at most; the first ones."""

_MOST_RECORD_PARTS, _FEW_RECORD_PARTS = 6, 4
"""Parts of records that are looked at together, at most; and up to how many of them any two are. Chosen by hand, for
time."""

_MOST_RECORDS = 128
"""Records of an output, on average, that are looked at as wholes. Chosen by hand, for time."""

_ODD = np.uint64(0x9E3779B97F4A7C15)
"""An odd number of many bits, by which numbers are spread over all of 64 bits."""

_MOST_CONTENTS = 256
"""Contents, at most: as many numbers as all ways to look at outputs deal with. From half of them on, no more lists are
looked into."""


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

    def left(self, known: Sequence[str]) -> list[str]:
        """Paths that are still looked at in their places."""
        if not self.replaced:
            return list(known)
        inside = _inside(self.replaced)
        return [path for path in known if path not in self.replaced and not inside.match(path)]


@dataclass(frozen=True, slots=True)
class Collection:
    """A list or set in outputs, and where in each of its parts a value is.

    Attributes
    ----------
    held
        Path of the list or set.
    key
        Path from a part to the value; None where the part is the value.
    is_set
        Whether outputs have a set there.
    """

    held: str
    key: str | None
    is_set: bool

    def entries(self, flat: Uniform | Varied, code: Callable[[str], int]) -> Entries:
        """Values of outputs; ``code`` numbers texts."""
        if self.key is not None:
            return entries_of(flat, self.held, (self.key,), code)
        return single_values(flat, self.held, code, sets=self.is_set)

    @property
    def members(self) -> str:
        """Path of the content that says how many members a set has; it stands among those of any set."""
        return Content("members", self.held).path

    def occurrences(self, value: Value) -> str:
        """Path of the content that says how often it holds a value."""
        return Content("occurrences", self.held, self.key, value).path


@dataclass(frozen=True, slots=True)
class Records:
    """A list of records in outputs, and by which of their parts, all together, they are told apart.

    Attributes
    ----------
    held
        Path of the list.
    parts
        Paths from a record to its parts.
    together
        Numbers of the parts that tell records apart: all of them, or two.
    """

    held: str
    parts: tuple[str, ...]
    together: tuple[tuple[int, ...], ...]

    def occurrences(self, which: tuple[int, ...], values: Sequence[Value]) -> str:
        """Path of the content that says how often it holds a record with these values of these parts."""
        (first, value), *more = zip([self.parts[part] for part in which], values, strict=True)
        return Content("occurrences", self.held, first, value, None, tuple(more)).path


@lru_cache(maxsize=64)
def _inside(replaced: frozenset[str]) -> re.Pattern[str]:
    return re.compile(f"(?:{'|'.join(map(re.escape, sorted(replaced)))}){STEP}")


def contents_of(firsts: Sequence[Flat]) -> Found:
    """Decide which contents are read off outputs.

    Parameters
    ----------
    firsts
        The first outputs of every part that they come in, taken apart.
    """
    flats = _looked_at(firsts)
    size = sum(map(len, flats))
    alike = len({each.structure for each in flats if isinstance(each, Uniform)}) <= 1
    if size < _LEAST_LOOKED_AT or (alike and all(map(_only_fractions, flats))):
        return Found()
    look = _Look(flats, size)
    found: list[Content] = []
    replaced: list[str] = []
    sets = look.set_paths()
    lists = dict(look.lists())
    for held in dict.fromkeys([*lists, *sets]):
        if any(held.startswith(f"{other}[") for other in replaced) or len(found) >= _MOST_CONTENTS // 2:
            continue
        rests = lists.get(held, [])
        made, complete = look.single_values(held, sets=held in sets) if "" in rests or held in sets else ([], False)
        if not made:
            made, complete = look.records(held, [rest for rest in rests if rest])
        # Lists in lists may be many: their contents take the place of their places, or nothing. Sets have no places.
        alone = held in sets or not re.search(STEP, held)
        made += look.last(held, rests) if alone and rests and not complete else []
        most = MOST_OF_TABLE if complete and all(content.keys for content in made) else _MOST_CONTENTS
        if len(found) + len(made) <= most and (complete or alone):
            found += made
            replaced += [held] * complete
    at_places: list[Content] = []
    most = _MOST_CONTENTS
    for text, mostly_new in look.texts().items():
        if any(text == other or text.startswith(f"{other}[") for other in replaced):
            continue
        made, words_at, is_table, complete = look.fields(text)
        if len(found) + len(made) <= (MOST_OF_TABLE if is_table else _MOST_CONTENTS):
            found += made
            at_places += words_at
            most = MOST_OF_TABLE if is_table else most
            # Of a text that is alone in an output, the characters are values. Those of a row of a wide table are too
            # many.
            replaced += [text] * ((complete or is_table) and not text)
        else:
            complete = is_table = False
        made = look.characters(text) if (text or is_table) and mostly_new and not complete else []
        if len(found) + len(made) <= _MOST_CONTENTS:
            found += made
    # What all texts say otherwise comes before words by their place, of which there may be many.
    found += at_places[: max(0, most - len(found))]
    if look.has_equal_texts():
        found.append(Content("texts"))
    found += [Content("container", path, None, what) for path, what in telling_containers(flats)]
    return Found(tuple(content.path for content in found), frozenset(replaced))


def collections_of(firsts: Sequence[Flat]) -> list[Collection]:
    """Lists and sets in outputs of which each may hold other values, however rare these are.

    Parameters
    ----------
    firsts
        The first outputs of every part that they come in, taken apart.
    """
    flats = _looked_at(firsts)
    if all(map(_only_numbers, flats)):
        return []
    look = _Look(flats, sum(map(len, flats)))
    sets = look.set_paths()
    lists = look.lists()
    found = [Collection(held, rest or None, is_set=held in sets) for held, rests in lists for rest in rests]
    found += [Collection(held, None, is_set=True) for held in sets if held not in dict(lists)]
    return found[:_MOST_LISTS]


def records_of(firsts: Sequence[Flat]) -> list[Records]:
    """Lists of records in outputs of which each may hold other records, however rare these are.

    Records are looked at only by such parts, all together or any two of a few, whose values come again together.

    Parameters
    ----------
    firsts
        The first outputs of every part that they come in, taken apart.
    """
    flats = _looked_at(firsts)
    if all(map(_only_fractions, flats)):
        return []
    look = _Look(flats, sum(map(len, flats)))
    found: list[Records] = []
    for held, rests in look.lists():
        own = [rest for rest in rests if rest][:_MOST_KEYS]
        if len(own) < 2:
            continue
        every = look.entries_at(held, own)
        of_each = (every.of(i) for i in range(len(own)))
        again = [_come_again(marked(each.numbers[:, None], each.categories[:, None])) for each in of_each]
        parts = tuple(compress(own, again))[:_MOST_RECORD_PARTS]
        several = [tuple(range(len(parts)))] if len(parts) > 1 else []
        several += list(combinations(range(len(parts)), 2)) if 2 < len(parts) <= _FEW_RECORD_PARTS else []
        if not several:
            continue
        every = look.entries_at(held, parts)
        in_outputs, numbers, categories = records_in(every, len(parts))
        if len(in_outputs) > _MOST_RECORDS * look.size:
            continue
        together = tuple(which for which in several if _come_again(marked(numbers[:, which], categories[:, which])))
        found += [Records(held, parts, together)] * bool(together)
    return found[:_MOST_LISTS]


def records_in(found: Entries, parts: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the output of every record, in the order of outputs, and the number and category of each of its parts.

    The category of a part that a record does not have is -1.
    """
    most = int(found.places.max(initial=0)) + 1
    there, record = np.unique(found.rows * most + found.places, return_inverse=True)
    numbers, categories = np.zeros((len(there), parts)), np.full((len(there), parts), -1)
    numbers[record, found.rests] = found.numbers
    categories[record, found.rests] = found.categories
    return there // most, numbers, categories


def marked(numbers: np.ndarray, categories: np.ndarray) -> np.ndarray:
    """Return one whole number for each row of values, which differs where they do, but for chance."""
    made = np.zeros(len(numbers), dtype=np.uint64)
    # Zero has two signs, which are one number.
    for column in (*(numbers + 0.0).T, *categories.astype(np.int64).T):
        made = (made ^ np.ascontiguousarray(column).view(np.uint64)) * _ODD
        made ^= made >> np.uint64(32)
    return made


def _come_again(marks: np.ndarray) -> bool:
    """Whether values come twice or more, on average."""
    return 2 * len(np.unique(marks)) <= len(marks)


def _looked_at(firsts: Sequence[Flat]) -> list[Uniform | Varied]:
    """Outputs that decide, of the first ones of every part that outputs come in."""
    rows = max(_LEAST_LOOKED_AT, _LOOKED_AT // max(1, len(firsts)))
    return [with_whole_texts(each) for flat in firsts for each in _first(flat, rows)]


def _first(flat: Flat, rows: int) -> list[Uniform | Varied]:
    if isinstance(flat, Grouped):
        return [each for at, group in flat.groups for each in _first(group, int((at < rows).sum()))]
    if isinstance(flat, Uniform):
        return [Uniform(min(rows, flat.size), flat.structure, [values[:rows] for values in flat.columns])]
    counts = flat.counts[:rows]
    return [Varied(flat.structures[:rows], counts, flat.values[: int(counts.sum())])]


def _only_numbers(flat: Uniform | Varied) -> bool:
    """Whether there are no values but numbers, at the same places in each output."""
    return isinstance(flat, Uniform) and all(isinstance(values, np.ndarray) for values in flat.columns)


def _only_fractions(flat: Uniform | Varied) -> bool:
    """Whether there are no values but floating-point numbers, at the same places in each output."""
    if not isinstance(flat, Uniform) or not flat.columns:
        return False
    return all(isinstance(values, np.ndarray) and values.dtype.kind == "f" for values in flat.columns)


def _types_in(flat: Uniform | Varied) -> set[type]:
    """Types of the values, but for those of columns that are arrays of numbers."""
    if isinstance(flat, Varied):
        return set(map(type, flat.values))
    return {kind for values in flat.columns if not isinstance(values, np.ndarray) for kind in set(map(type, values))}


@dataclass(slots=True)
class _Look:
    """The first outputs, in which contents are looked for."""

    flats: list[Uniform | Varied]
    size: int
    codes: dict[str, int] = field(default_factory=dict)

    def structures(self, *kinds: type) -> Iterator[tuple[Structure, Sequence[Any]]]:
        """Yield the structures of outputs with a value for each place: of many, a text or a set where there is one.

        Where types are given, those parts are left out that have no value of them.
        """
        for flat in self.flats:
            if kinds and not any(issubclass(each, kinds) for each in _types_in(flat)):
                continue
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
            for holders in lists_around(structure):
                for held, _, rest in holders:
                    found.setdefault(held, {})[rest] = None
        return sorted(((held, list(rests)) for held, rests in found.items()), key=_depth)[:_MOST_LISTS]

    def set_paths(self) -> list[str]:
        """Paths of sets."""
        found = {
            path: None
            for structure, values in self.structures(set, frozenset)
            for path, value in zip(paths(structure), values, strict=True)
            if isinstance(value, set | frozenset)
        }
        return list(found)[:_MOST_LISTS]

    def texts(self) -> dict[str, bool]:
        """Paths of texts of many values that most outputs have, each with whether most are new; none of many such.

        Of outputs that are a text each, the path is empty.
        """
        found = {
            path: None
            for structure, values in self.structures(*TEXTS)
            if structure != 1 and not is_text(structure)
            for path, value in zip(paths(structure), values, strict=True)
            if holds_text(value)
        }
        if any(is_text(structure) for structure, _ in self.structures()):
            found[""] = None
        kept = {}
        for path in list(found)[:_MOST_LISTS]:
            texts = self.texts_at(path)
            different = len(set(texts))
            if 2 * len(texts) >= self.size and different > _MOST_VALUES:
                kept[path] = different > _NEW_TEXTS * len(texts)
        return kept if sum(kept.values()) <= _MOST_TEXTS else {}

    def texts_at(self, path: str) -> list[Any]:
        """Texts at a path."""
        return list(chain.from_iterable(texts_at(flat, path)[1] for flat in self.flats))

    def fields(self, path: str) -> tuple[list[Content], list[Content], bool, bool]:
        """Contents of a text: numbers in its fields, common words, and which fields are written in an uncommon way.

        With them, words by their place, whether it is a row of a wide table, and whether the contents say all that is
        in it.
        """
        texts = self.texts_at(path)
        found = telling_fields(texts)
        made = [Content("field", path, None, place) for place in found.places]
        made += [Content("after", path, None, word) for word in found.before_numbers]
        made += [Content("word", path, None, word) for word in found.words]
        made += [Content(kind, path, None, found.spelling) for kind in ODD if found.spelling]
        words_at = [Content("word-at", path, None, place, word) for place, word in found.words_at]
        complete = bool(found.form) and len(texts) == self.size
        if complete:
            # Of a text that is alone in an output, the length is the number of values.
            made += [Content("form", path, None, found.form), *([Content("length", path)] if path else [])]
        return made, words_at, found.is_table, complete

    def characters(self, path: str) -> list[Content]:
        """Contents of a text: its first characters, and where lengths differ its length and its last ones."""
        lengths = set(map(len, self.texts_at(path)))
        made = [Content("character", path, None, place) for place in range(min(max(lengths), _FIRST_CHARACTERS))]
        if len(lengths) > 1:
            last = range(min(max(lengths), _LAST_CHARACTERS))
            made += [Content("length", path), *(Content("character", path, None, -1 - place) for place in last)]
        return made

    def has_equal_texts(self) -> bool:
        """Whether outputs hold several texts each, too many different ones to be categories."""
        several = any(
            sum(map(holds_text, values)) > 1 for structure, values in self.structures(*TEXTS) if not is_text(structure)
        )
        every = chain.from_iterable(
            chain.from_iterable(values for values in flat.columns if not isinstance(values, np.ndarray))
            if isinstance(flat, Uniform)
            else flat.values
            for flat in self.flats
        )
        return several and len(set(filter(holds_text, every))) > _MOST_VALUES

    def code(self, text: str) -> int:
        """Code of a text."""
        return self.codes.setdefault(text, len(self.codes) + 1)

    def entries(self, read: Callable[[Uniform | Varied], Entries]) -> Entries:
        """Values of all outputs, which are numbered through."""
        made, before = [], 0
        for flat in self.flats:
            each = read(flat)
            made.append(Entries(each.rows + before, each.places, each.rests, each.numbers, each.categories))
            before += len(flat)
        return joined_entries(*made)

    def entries_at(self, held: str, rests: Sequence[str]) -> Entries:
        """Values on some paths from the places of a list."""
        return self.entries(lambda flat: entries_of(flat, held, tuple(rests), self.code))

    def common(self, found: Entries, most: int = _MOST_VALUES) -> tuple[list[Value], np.ndarray]:
        """Values that come often, the most frequent first, and which of them every one is; their number for others."""
        least = max(2.0, _COMMON * self.size)
        if len(found.numbers) and not found.categories.any():
            # Of numbers that hardly come again, nothing is made a list.
            _, times = np.unique(found.numbers, return_counts=True, equal_nan=False)
            if times.max() < least:
                return [], np.zeros(len(found.numbers), dtype=int)
        texts = {code: text for text, code in self.codes.items()}
        values: list[Value] = [
            texts[code] if code else number
            for number, code in zip(found.numbers.tolist(), found.categories.tolist(), strict=True)
        ]
        counts = Counter(values)
        often = [value for value, count in counts.items() if count >= least]
        often = sorted(often, key=lambda value: (-counts[value], str(value)))[:most]
        index = {value: i for i, value in enumerate(often)}
        return often, np.array([index.get(value, len(often)) for value in values], dtype=int)

    def single_values(self, held: str, *, sets: bool) -> tuple[list[Content], bool]:
        """Contents of a set, of a list of varying length, or of one with texts at several places each in one order."""
        found = self.entries(lambda flat: single_values(flat, held, self.code, sets=sets))
        counts = np.bincount(found.rows, minlength=self.size)
        varies = sets or bool(counts.min() < counts.max())
        if not varies and not found.categories.all():
            return [], False
        often, which = self.common(found)
        # Members of sets have no places.
        placed = found.places >= 0
        in_order = _in_one_order(found.at(placed), which[placed])
        known = float(np.mean(which < len(often))) if often else 0.0
        summed = varies and not sets and _are_numbers(found, known)
        together = [Content(kind, held) for kind in SUMMARIES] if summed else []
        if not sets and (not often or not (varies or (in_order and at_several_places(found, which)))):
            return together, False
        complete = bool(often) and in_order and known >= NEARLY_ALL
        made = [Content("members", held)] if sets else []
        made += together
        made += [Content("occurrences", held, None, value) for value in often]
        # Where no value is common, all members of a set are others.
        made += [Content("others", held)] if often or not sets else []
        return made, complete

    def last(self, held: str, rests: list[str]) -> list[Content]:
        """The last values of a list of varying length, which have no places from its beginning."""
        rests = rests[:_MOST_ENDS]
        found = self.entries_at(held, rests)
        length = np.zeros(self.size, dtype=int)
        np.maximum.at(length, found.rows, found.places + 1)
        if length.min() == length.max():
            return []
        return [Content("last", held, None, place, rest or None) for place in _LAST_PLACES for rest in rests]

    def records(self, held: str, rests: list[str]) -> tuple[list[Content], bool]:
        """Contents of a list of records, by the key with the fewest values that comes once in an output.

        Where no part of a record does that alone, several may together, such as the two columns of a table that was
        grouped by both.
        """
        best: tuple[tuple[bool, int], str, list[Value], np.ndarray, Entries] | None = None
        common: dict[int, tuple[list[Value], np.ndarray]] = {}
        every = self.entries_at(held, rests)
        records = len(np.unique(every.rows * (int(every.places.max(initial=0)) + 1) + every.places))
        for i, rest in enumerate(rests[:_MOST_KEYS]):
            keys = every.of(i)
            if not records or len(keys.rows) < NEARLY_ALL * records:
                continue
            often, which = common[i] = self.common(keys, MOST_OF_TABLE - 1)
            once = len(np.unique(keys.rows * (len(often) + 1) + which))
            known = float(np.mean(which < len(often)))
            if len(often) < 2 or once < NEARLY_ALL * len(which) or not at_several_places(keys, which):
                continue
            rank = (not keys.categories.all(), len(often))
            if known >= NEARLY_ALL and (best is None or rank < best[0]):
                best = rank, rest, often, which, keys
        if best is None:
            return self.records_by_several(held, rests, every, common)
        _, key, often, which, keys = best
        parts = [rest for rest in rests if rest != key]
        kept, placed = _kept(len(often), len(parts), keys, which)
        often, complete = often[:kept], kept == len(often)
        made = [Content("part", held, key, value, part) for value in often for part in parts]
        made += [Content("occurrences", held, key, value) for value in often if not parts]
        made += [Content("place", held, key, value) for value in often if placed]
        return [*made, Content("others", held, key)], complete

    def records_by_several(
        self, held: str, rests: list[str], every: Entries, known: dict[int, tuple[list[Value], np.ndarray]]
    ) -> tuple[list[Content], bool]:
        """The same by the fewest parts that are a key together; of as many, by those with the fewest values.

        A part may be absent from some records, or of another kind in them, such as a total beside days. What is
        ``known`` are the common values of some parts.
        """
        several = int(every.places.max(initial=0)) + 1
        numbers, record_of = np.unique(every.rows * several + every.places, return_inverse=True)
        parts = []
        for i, rest in enumerate(rests[:_MOST_KEYS]):
            often, which = known[i] if i in known else self.common(every.of(i), MOST_OF_TABLE - 1)
            found = np.full(len(numbers), -1)
            found[record_of[every.rests == i]] = which
            parts.append(Part.of(rest, often, found))
        nothing = np.zeros(len(numbers), dtype=int)
        records = Entries(numbers // several, numbers % several, nothing, nothing.astype(float), nothing)
        key = key_of_several(records, parts)
        if key is None:
            return [], False
        others = [rest for rest in rests if rest not in key.paths]
        kept, placed = _kept(len(key.values), len(others), records, key.which)
        first, *more = key.paths
        made: list[Content] = []
        for value, *beside in key.values[:kept]:
            with_them = tuple(zip(more, beside, strict=True))
            made += [Content("part", held, first, value, part, with_them) for part in others]
            made += [Content("occurrences", held, first, value, None, with_them)] * (not others)
            made += [Content("place", held, first, value, None, with_them)] * placed
        made.append(Content("others", held, first, beside=tuple((path, None) for path in more)))
        return made, kept == len(key.values)


def _kept(keys: int, parts: int, found: Entries, which: np.ndarray) -> tuple[int, bool]:
    """How many keys of records with so many parts are looked at, and whether the places of the records are as well."""
    with_places = max(1, (_MOST_CONTENTS - 1) // (parts + 1))
    if with_places < keys <= (MOST_OF_TABLE - 1) // max(parts, 1):
        return keys, False
    return min(keys, with_places), keys > with_places or not _in_one_order(found, which)


def _are_numbers(found: Entries, known: float) -> bool:
    """Whether most values are numbers, and not nearly all of them a few that come again and again, as names do."""
    return known < NEARLY_ALL and float(np.mean(found.categories == 0)) >= _NUMBERS


def _telling(values: Values) -> Any:
    if isinstance(values, np.ndarray):
        return None
    return next((value for value in values if isinstance(value, (*TEXTS, set, frozenset))), None)


def _depth(item: tuple[str, list[str]]) -> int:
    return item[0].count("[") + item[0].count(".")


def _in_one_order(found: Entries, which: np.ndarray) -> bool:
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
        if (before & before.T).any():
            return False
    return True
