"""Outputs as rows of numbers: numeric ones as they are, structured ones taken apart position by position."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import Any, Self

import numpy as np

from dpaudit.auditors.outputs.content_choice import Found, contents_of
from dpaudit.auditors.outputs.contents import Content, readings
from dpaudit.auditors.outputs.flat import (
    Apart,
    Flat,
    Grouped,
    Uniform,
    Varied,
    outputs_by_structure,
    paths,
    structures_of,
)
from dpaudit.auditors.outputs.leaves import Values, count_texts, numbers_and_categories
from dpaudit.auditors.outputs.positions import matrix_of_positions

_MOST_PATHS = 4096
"""Places in outputs, at most, that have columns."""

LEAST_COMMON = 256
"""Of more places, such as the keys of large dicts, those have columns that half of the outputs have, and at least so
many of the commonest: a column of every rare place would take far more time and memory than it says."""

_MOST_PATHS_COUNTED = 1 << 17
"""Places, at most, of which the commonest are found."""

_MOST_CATEGORIES = 64
_LOOKED_AT = 40_000
"""Outputs of varied structure, at most, that decide about columns."""

_SUPPORTED = {
    ".supports_x": "whether the report speaks for the first input",
    ".supports_y": "whether the report speaks for the second input",
}
"""In words, what comes with outputs where it is known which of two inputs they support."""

_REMEMBERED = 1024
_NARROW = (np.int8, np.int16, np.int32)


@dataclass(frozen=True, slots=True)
class Columns:
    """Outputs as rows of numbers: numeric ones as they are, structured ones taken apart place by place.

    A structured output becomes the number of its values and, for every place where a value may be, the number there
    (0 if none) and a category (0 for a number, -1 for nothing, otherwise which other value). What lists and sets hold
    wherever it stands in them (`contents`) has columns like a place. Columns that never vary are left out.

    Attributes
    ----------
    positions
        Of records written by earlier versions: number of positions of structured outputs, named by their order.
    categories
        The other values, by their text.
    paths
        Places in structured outputs, as Python writes them (``["count"]``, ``[0].x``), and contents of lists and sets;
        None for arrays of numbers.
    kept
        Which of those columns there are.
    """

    positions: int | None = None
    categories: tuple[str, ...] = ()
    paths: tuple[str, ...] | None = None
    kept: tuple[int, ...] = ()

    @classmethod
    def fit(cls, outputs: np.ndarray) -> Self | None:
        """Form that suits these outputs; None where they have no parts, or more than there is time to count."""
        if outputs.dtype.kind in "biufc":
            return cls()
        return cls.fit_apart([Apart(outputs, remembered=False)])

    @classmethod
    def fit_apart(cls, parts: Sequence[Apart]) -> Self | None:
        """As :meth:`fit`, of structured outputs in several parts."""
        contents = contents_of([flat for part in parts for flat in islice(part, 1)])
        found: dict[str, None] = {}
        texts: Counter[str] = Counter()
        seen = 0
        for flat in chain.from_iterable(parts):
            if not isinstance(flat, Uniform) and seen >= _LOOKED_AT:
                break
            seen += len(flat)
            for values in _values_of(flat, contents):
                texts.update(count_texts(values))
            for structure in structures_of(flat):
                found.update(dict.fromkeys(contents.left(paths(structure))))
            if len(found) > _MOST_PATHS_COUNTED:
                return None
        if len(found) > _MOST_PATHS:
            found = dict.fromkeys(_commonest(parts, contents))
        # Of very many, those that come once are names of outputs, and which of them come first is luck.
        many = len(texts) > _MOST_CATEGORIES
        again = [text for text, count in texts.items() if count > 1 or not many]
        common = sorted(again, key=lambda text: (-texts[text], text))[:_MOST_CATEGORIES]
        found.update(dict.fromkeys(contents.contents))
        everything = cls(None, tuple(common), tuple(found), tuple(range(1 + 2 * len(found))))
        return cls(None, tuple(common), tuple(found), everything._varying(parts, seen))

    @property
    def numeric(self) -> bool:
        """Whether outputs are arrays of numbers."""
        return self.positions is None and self.paths is None

    @property
    def read_as_fields(self) -> frozenset[str]:
        """Paths of texts whose fields say all, so that no character has a column; empty for that of a whole output."""
        contents = (Content.of(path) for path in self.paths or ())
        return frozenset(found.held for found in contents if found is not None and found.kind == "form")

    @property
    def names(self) -> tuple[str, ...]:
        """What every column of structured outputs is, in words."""
        return self.named("output")

    def named(self, output: str) -> tuple[str, ...]:
        """As :attr:`names`, of outputs that are called ``output``."""
        if self.paths is None:
            return ()
        return tuple(_name(self.paths, column, output) for column in self.kept)

    def value_of(self, column: int, code: float) -> str | None:
        """Text of a category in a column of categories; None if the column holds numbers."""
        if self.paths is None or not self.kept[column] or self.kept[column] % 2:
            return None
        if code <= 0:
            return "a number" if code == 0 else "nothing"
        return self.categories[int(code) - 1] if code <= len(self.categories) else "another value"

    def __call__(self, outputs: np.ndarray) -> np.ndarray:
        """Matrix of finite numbers, shape (size, columns)."""
        if self.numeric:
            rows = outputs.reshape(len(outputs), math.prod(outputs.shape[1:]))
            if rows.dtype.kind == "c":
                rows = np.ascontiguousarray(rows.astype(complex)).view(float)
            return rows
        if self.positions is not None:
            return matrix_of_positions(outputs, self.positions, self.categories)
        return self.of_apart(Apart(outputs, remembered=False))

    def of_apart(self, outputs: Apart) -> np.ndarray:
        """Matrix of structured outputs."""
        made = [_narrow(self._block(flat)) for flat in outputs]
        return np.concatenate(made) if made else np.zeros((0, len(self.kept)))

    def _block(self, flat: Flat) -> np.ndarray:
        place = _places(self.paths or (), self.kept)
        codes = {text: i + 1 for i, text in enumerate(self.categories)}

        def code(text: str) -> int:
            return codes.get(text, len(codes) + 1)

        if isinstance(flat, Uniform):
            return self._uniform(flat, place, code)
        if isinstance(flat, Grouped):
            matrix = np.empty((flat.size, len(self.kept)))
            for at, group in flat.groups:
                matrix[at] = self._uniform(group, place, code)
            return matrix
        return self._varied(flat, place, code)

    def _uniform(self, flat: Uniform, place: np.ndarray, code: Any) -> np.ndarray:
        slots = _slots(self.paths or (), flat.structure)
        # Filled column by column, where that is how memory is laid out, and turned at the end.
        turned = np.zeros((len(self.kept), flat.size))
        absent = np.ones(len(place), dtype=bool)
        for slot, values in zip(slots.tolist(), flat.columns, strict=True):
            if slot < 0:
                continue
            absent[2 + 2 * slot] = False
            at_number, at_category = place[1 + 2 * slot], place[2 + 2 * slot]
            if at_number < 0 and at_category < 0:
                continue
            numbers, categories = numbers_and_categories(values, code)
            if at_number >= 0:
                turned[at_number] = numbers
            if at_category >= 0 and categories is not None:
                turned[at_category] = categories
        if place[0] >= 0:
            turned[place[0]] = len(flat.columns)
        missing = place[2::2][absent[2::2]]
        turned[missing[missing >= 0]] = -1
        for at, numbers in self._contents(flat, place):
            turned[at] = numbers
        return np.ascontiguousarray(turned.T)

    def _varied(self, flat: Varied, place: np.ndarray, code: Any) -> np.ndarray:
        assert self.paths is not None
        # One more column takes what is not kept.
        matrix = np.zeros((len(flat.counts), len(self.kept) + 1))
        categories_at = place[2::2]
        matrix[:, categories_at[categories_at >= 0]] = -1
        if place[0] >= 0:
            matrix[:, place[0]] = flat.counts
        slots_of = {structure: _slots(self.paths, structure) for structure in dict.fromkeys(flat.structures)}
        if any((each >= 0).any() for each in slots_of.values()):
            numbers, categories = numbers_and_categories(flat.values, code)
            slots = np.concatenate([slots_of[structure] for structure in flat.structures])
            rows = np.repeat(np.arange(len(flat.counts)), flat.counts)
            known = slots >= 0
            rows, slots = rows[known], slots[known]
            matrix[rows, place[1 + 2 * slots]] = numbers[known]
            matrix[rows, place[2 + 2 * slots]] = 0 if categories is None else categories[known]
        for at, numbers in self._contents(flat, place):
            matrix[:, at] = numbers
        return matrix[:, :-1]

    def _contents(self, flat: Uniform | Varied, place: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the columns of what lists and sets hold, and where they are."""
        assert self.paths is not None
        wanted = _contents_kept(self.paths, self.kept)
        if wanted is None:
            return
        for slot, numbers, categories in readings(flat, self.paths, wanted, self.categories):
            for at, values in ((place[1 + 2 * slot], numbers), (place[2 + 2 * slot], categories)):
                if at >= 0:
                    yield int(at), values

    def _varying(self, parts: Sequence[Apart], rows: int) -> tuple[int, ...]:
        """Columns that are not the same for all of the first outputs; the first number if all are.

        A kind is left out, too, that says only whether there is a number, where all are above 0: none counts as 0.
        """
        low = high = np.empty(0)
        says_more = np.zeros(len(self.paths or ()), dtype=bool)
        for flat in chain.from_iterable(parts):
            if rows <= 0:
                break
            rows -= len(flat)
            matrix = self._block(flat)
            lowest, highest = matrix.min(axis=0), matrix.max(axis=0)
            low = np.minimum(low, lowest) if len(low) else lowest
            high = np.maximum(high, highest) if len(high) else highest
            least, most = lowest[2::2], highest[2::2]
            says_more |= (most > 0) | ((least == 0) & (lowest[1::2] <= 0))
            for place in np.flatnonzero((least < 0) & (most == 0) & ~says_more).tolist():
                says_more[place] = (matrix[matrix[:, 2 + 2 * place] == 0, 1 + 2 * place] <= 0).any()
        varies = low < high
        varies[2::2] &= says_more
        varying = tuple(np.flatnonzero(varies).tolist())
        return varying or (min(1, len(self.kept) - 1),)


def _commonest(parts: Sequence[Apart], contents: Found) -> list[str]:
    """Places that most of the first outputs have, in the order in which they first come."""
    counts: Counter[str] = Counter()
    seen = 0
    for flat in chain.from_iterable(parts):
        if seen >= _LOOKED_AT:
            break
        seen += len(flat)
        for structure, outputs in outputs_by_structure(flat).items():
            counts.update(dict.fromkeys(contents.left(paths(structure)), outputs))
    ordered = sorted(counts, key=counts.__getitem__, reverse=True)[:_MOST_PATHS]
    kept = {path for i, path in enumerate(ordered) if i < LEAST_COMMON or 2 * counts[path] >= seen}
    return [path for path in counts if path in kept]


def _values_of(flat: Flat, contents: Found) -> list[Values]:
    """All values inside of outputs, in several sequences; of sets that are looked into, none."""
    if isinstance(flat, Varied):
        return [flat.values]
    groups = [flat] if isinstance(flat, Uniform) else [group for _, group in flat.groups]
    return [
        values
        for group in groups
        for path, values in zip(paths(group.structure), group.columns, strict=True)
        if path not in contents.replaced
    ]


def _name(places: tuple[str, ...], column: int, output: str) -> str:
    if column == 0:
        return f"number of values in the {output}"
    place = places[(column - 1) // 2]
    content = Content.of(place)
    if content is not None:
        name = content.name(output)
        return name if column % 2 else f"kind of {name}"
    if column % 2 == 0 and place in _SUPPORTED and _SUPPORTED.keys() <= set(places):
        return _SUPPORTED[place]
    what = f"{output}{place}"
    return what if column % 2 else f"kind of {what}"


@lru_cache(maxsize=_REMEMBERED)
def _slots(known: tuple[str, ...], structure: Any) -> np.ndarray:
    """Which of the places each value of a structure has; -1 for one that is not among them."""
    index = _index(known)
    return np.array([index.get(path, -1) for path in paths(structure)], dtype=int)


@lru_cache(maxsize=_REMEMBERED)
def _contents_kept(known: tuple[str, ...], kept: tuple[int, ...]) -> tuple[bool, ...] | None:
    """Which of the places are contents of which there is a column; None where none is."""
    places = {(column - 1) // 2 for column in kept if column}
    wanted = tuple(i in places and Content.of(path) is not None for i, path in enumerate(known))
    return wanted if any(wanted) else None


@lru_cache(maxsize=_REMEMBERED)
def _index(known: tuple[str, ...]) -> dict[str, int]:
    return {path: i for i, path in enumerate(known)}


@lru_cache(maxsize=_REMEMBERED)
def _places(known: tuple[str, ...], kept: tuple[int, ...]) -> np.ndarray:
    """Where in the matrix each column is; -1 for one that is left out."""
    place = np.full(1 + 2 * len(known), -1)
    place[list(kept)] = np.arange(len(kept))
    return place


def _narrow(matrix: np.ndarray) -> np.ndarray:
    """Return the same numbers in fewer bytes, where all are small whole numbers."""
    if not matrix.size:
        return matrix
    low, high = float(matrix.min()), float(matrix.max())
    for dtype in _NARROW:
        limits = np.iinfo(dtype)
        if limits.min <= low and high <= limits.max:
            narrow = matrix.astype(dtype)
            return narrow if np.array_equal(narrow, matrix) else matrix
    return matrix
