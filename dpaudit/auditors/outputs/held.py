"""Values in the lists and sets of structured outputs: which output has each, at which place, and what it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from dpaudit.auditors.outputs.flat import (
    Flat,
    Grouped,
    Structure,
    Uniform,
    Varied,
    paths,
    steps,
)
from dpaudit.auditors.outputs.leaves import Values, numbers_and_categories

_REMEMBERED = 1024
_MOST_PLACED, _MOST_PLACES = 64, 1 << 20
"""Lists for which places are remembered, and numbers for each of them: half a gigabyte at most."""


STEP = r"\[(\d+)\]"
"""How the way from a list to one of its places is written."""

TEXTS = (str, bytes)
"""Types of texts."""


@lru_cache(maxsize=_REMEMBERED)
def lists_around(structure: Structure) -> tuple[tuple[tuple[str, int, str], ...], ...]:
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


def is_text(structure: Structure) -> bool:
    """Whether an output is a text, whose values are characters."""
    if not isinstance(structure, tuple):
        return False
    what, _, parts = structure
    return what == "text" or (what == "list" and len(parts) == 1 and is_text(parts[0]))


def with_whole_texts(flat: Uniform | Varied) -> Uniform | Varied:
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
    return is_text(structure) and structure[0] == "list" and structure[2][0][0] == "text"


def _put_together(characters: Sequence[Any]) -> str | bytes:
    of_bytes = bool(characters) and not isinstance(characters[0], str)
    return bytes(characters) if of_bytes else "".join(characters)


@dataclass(frozen=True, slots=True)
class Entries:
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

    def of(self, rest: int) -> Entries:
        """Values of one path."""
        return self.at(self.rests == rest)

    def at(self, which: np.ndarray) -> Entries:
        """Some of them."""
        return Entries(*(getattr(self, name)[which] for name in self.__slots__))


class _Placed(dict[str, tuple[int, int]]):
    """Place of a path in a list, and which of the wanted paths leads to it from there; -1 for others."""

    def __init__(self, held: str, rests: tuple[str, ...]) -> None:
        super().__init__()
        self._inside = re.compile(re.escape(held) + STEP + "(.*)", re.DOTALL)
        self._rests = {rest: i for i, rest in enumerate(rests)}
        self._structures: dict[Structure, np.ndarray] = {}
        self._room = _MOST_PLACES

    def __missing__(self, path: str) -> tuple[int, int]:
        inside = self._inside.fullmatch(path)
        found = (int(inside[1]), self._rests[inside[2]]) if inside and inside[2] in self._rests else (-1, -1)
        self[path] = found
        return found

    def of(self, structure: Structure) -> np.ndarray:
        """Places and paths of all values of a structure, shape (values, 2)."""
        found = self._structures.get(structure)
        if found is None:
            found = np.array([self[path] for path in paths(structure)], dtype=int).reshape(-1, 2)
            if self._room >= found.size:
                self._room -= found.size
                self._structures[structure] = found
        return found


_placed = lru_cache(maxsize=_MOST_PLACED)(_Placed)


def entries_of(flat: Uniform | Varied, held: str, rests: tuple[str, ...], code: Callable[[str], int]) -> Entries:
    """Values that are found in a list on some paths from its places; ``code`` numbers texts."""
    where = _placed(held, rests)
    # Structures may be as many as outputs, but paths are few.
    structures = [flat.structure] if isinstance(flat, Uniform) else flat.structures
    of_structure = {structure: where.of(structure) for structure in dict.fromkeys(structures)}
    places, found = np.concatenate([of_structure[structure] for structure in structures]).T
    wanted = np.flatnonzero(found >= 0)
    places, found = places[wanted], found[wanted]
    if isinstance(flat, Uniform):
        read = [_numbers(flat.columns[slot], code) for slot in wanted.tolist()]
        nothing = _numbers([], code)
        numbers, categories = (np.concatenate([nothing[which], *(each[which] for each in read)]) for which in range(2))
        rows = np.tile(np.arange(flat.size), len(wanted))
        places, found = np.repeat(places, flat.size), np.repeat(found, flat.size)
    else:
        values = flat.values if len(wanted) == len(flat.values) else [flat.values[i] for i in wanted.tolist()]
        numbers, categories = _numbers(values, code)
        rows = np.repeat(np.arange(len(flat)), flat.counts)[wanted]
    return Entries(rows, places, found, numbers, categories)


def _numbers(values: Values, code: Callable[[str], int]) -> tuple[np.ndarray, np.ndarray]:
    numbers, categories = numbers_and_categories(values, code) if len(values) else (np.empty(0), None)
    return numbers, np.zeros(len(numbers), dtype=int) if categories is None else categories


def _values_at(flat: Uniform | Varied, held: str) -> tuple[np.ndarray, Values]:
    """Outputs that have a value at a path, and these."""
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
    return rows, values


def values_of_type(flat: Uniform | Varied, held: str, kinds: tuple[type, ...]) -> tuple[np.ndarray, list[Any]]:
    """Outputs that have a value of some types at a path, and these."""
    rows, values = _values_at(flat, held)
    if isinstance(values, np.ndarray):
        return np.empty(0, dtype=int), []
    are = [isinstance(value, kinds) for value in values]
    return rows[np.array(are, dtype=bool)], [value for value, is_one in zip(values, are, strict=True) if is_one]


def texts_at(flat: Uniform | Varied, held: str) -> tuple[np.ndarray, list[Any]]:
    """Outputs that have a text at a path, or are one where the path is empty, and these texts."""
    if held:
        return values_of_type(flat, held, TEXTS)
    if isinstance(flat, Uniform):
        if not _is_one_text(flat.structure):
            return np.empty(0, dtype=int), []
        texts = list(map(_put_together, zip(*flat.columns, strict=True))) if flat.columns else [""] * flat.size
        return np.arange(flat.size), texts
    rows = [row for row, structure in enumerate(flat.structures) if _is_one_text(structure)]
    ends = np.cumsum(flat.counts).tolist()
    starts = [0, *ends]
    return np.array(rows, dtype=int), [_put_together(flat.values[starts[row] : ends[row]]) for row in rows]


def texts_by_path(flats: Iterable[Flat], most: int) -> dict[str, list[Any]]:
    """Texts of all outputs, in their order, at those of the first paths at which every output has one.

    The path of texts that are the whole outputs is empty.
    """
    found: dict[str, list[Any]] | None = None
    for flat in flats:
        groups = flat.groups if isinstance(flat, Grouped) else [(np.arange(len(flat)), flat)]
        groups = [(at, with_whole_texts(group)) for at, group in groups]
        if found is None:
            _, group = groups[0]
            first = group.structure if isinstance(group, Uniform) else group.structures[0]
            found = {path: [] for path in ([""] if _is_one_text(first) else paths(first)[:most])}
        for path in list(found):
            texts: np.ndarray = np.full(len(flat), None, dtype=object)
            for at, group in groups:
                rows, own = texts_at(group, path)
                texts[at[rows]] = own
            if any(text is None for text in texts):
                del found[path]
            else:
                found[path] += texts.tolist()
    return found or {}


def _is_one_text(structure: Structure) -> bool:
    return isinstance(structure, tuple) and structure[0] == "text"


def single_values(flat: Uniform | Varied, held: str, code: Callable[[str], int], *, sets: bool) -> Entries:
    """Values of the lists at a path, and of the sets there: an output has one or the other."""
    found = entries_of(flat, held, ("",), code)
    if not sets:
        return found
    rows, members = values_of_type(flat, held, (set, frozenset))
    rows = np.repeat(rows, np.fromiter(map(len, members), int, len(members)))
    nowhere = np.full(len(rows), -1)
    return joined_entries(found, Entries(rows, nowhere, nowhere, *_numbers(list(chain.from_iterable(members)), code)))


def joined_entries(*several: Entries) -> Entries:
    """Put values together."""
    return Entries(*(np.concatenate([getattr(each, name) for each in several]) for name in Entries.__slots__))


def holds_text(value: Any) -> bool:
    """Whether a value is a text."""
    return isinstance(value, TEXTS)
