"""Values in lists and sets that one input gives more often than the other, among very many that are possible.

Mechanisms that release keys, words or records choose from vocabularies of thousands. Which of the values are looked
for in all outputs is decided before anything is learned, by how common they are (`content_choice`); here the counts of
all values on both inputs decide, so that a rare one may be found that tells more.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, repeat
from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy

from dpaudit.auditors.learning.learners import identity_transform, learn_additive
from dpaudit.auditors.learning.row_scores import AdditiveScore
from dpaudit.auditors.outputs.columns import LEAST_COMMON, Columns
from dpaudit.auditors.outputs.content_choice import (
    Collection,
    Records,
    collections_of,
    marked,
    records_in,
    records_of,
)
from dpaudit.auditors.outputs.contents import NOTHING, Content, Value
from dpaudit.auditors.outputs.flat import Flat, Grouped, Uniform, Varied, outputs_by_structure
from dpaudit.auditors.outputs.flat import paths as paths_of
from dpaudit.auditors.outputs.held import entries_of, with_whole_texts
from dpaudit.auditors.outputs.outputs import Outputs, OutputsLike, as_outputs

_Counted = list[tuple[int, np.ndarray, np.ndarray]]
"""Of blocks of outputs: their side, the distinct values in them, and the number of outputs with each."""

_EVIDENCE = 1.5
"""Twice the logarithm of the likelihood ratio of a value that is taken, at least, over the logarithm of the number of
values. Measured on one of 3,000 words in lists (0.6 % against 0.06 %, 40,000 outputs, eight seeds at 90 %): the mean
bound is 1.06 with 2, 1.25 with 1.5 and 0.78 with 1, where the best event has 1.81."""

_MANY_PATHS = LEAST_COMMON
"""Places in outputs from which on there may be others that have no columns."""

_MOST_COUNTED = 1 << 20
"""Records of either side, about, that are counted at most. Chosen by hand, for time."""

_MOST_TELLING = 32
"""Values, at most, whose occurrences a score looks at. Chosen by hand, for time."""


def learn_members(columns: Columns, x: OutputsLike, y: OutputsLike) -> AdditiveScore | None:
    """Learn a sum of functions of how often values occur in lists and sets; None where no value tells inputs apart.

    Places in outputs, such as the keys of dicts, are looked at in the same way where they are so many that not all of
    them have columns.

    Notes
    -----
    A value counts once in an output. Of those whose counts on the two inputs are likelier by two probabilities than by
    one, so that twice the logarithm of the likelihood ratio exceeds `_EVIDENCE` times that of the number of values, the
    likeliest are taken. Some of them are there by chance: other samples judge the score.
    """
    sides = as_outputs(x), as_outputs(y)
    firsts = [flat for side in sides for part in side.apart() for flat in islice(part, 1)]
    looked_into = collections_of(firsts)
    tallies: list[_Tally | _TallyOfRecords] = [_Tally(each) for each in looked_into]
    tallies += [_TallyOfRecords(each) for each in records_of(firsts)]
    if tallies:
        for side, outputs in enumerate(sides):
            for group in (group for part in outputs.apart() for flat in part for group in _groups(flat)):
                for tally in tallies:
                    tally.add(side, group)
    several = [tally.several() for tally in tallies]
    hits, values_in_all = [each.hits for each in several], sum(each.distinct for each in several)
    places: list[str] = []
    if len(columns.paths or ()) >= _MANY_PATHS:
        places, of_places = _tally_of_places(sides)
        hits.append(of_places)
        values_in_all += len(places)
    if not hits:
        return None
    apart = [likelihood_ratios(each, np.array([[len(x)], [len(y)]])) for each in hits]
    least = _EVIDENCE * math.log(max(2, values_in_all))
    found: list[tuple[float, str]] = []
    for tally, each, ratios in zip(tallies, several, apart, strict=False):
        found += [(-ratios[i], tally.occurrences(each.values[i])) for i in np.flatnonzero(ratios > least)]
    found += [(-apart[-1][i], places[i]) for i in np.flatnonzero(apart[-1] > least)] if places else []
    # In which order a set lists its members, and so their counts come, is another one in each process.
    telling = [path for _, path in sorted(found)[:_MOST_TELLING]]
    if not telling:
        return None
    # Of a place, its number and its kind, which says where there is nothing.
    kept = chain.from_iterable(
        (2 * i + 1,) if Content.of(path) else (2 * i + 1, 2 * i + 2) for i, path in enumerate(telling)
    )
    own = Columns(
        None, columns.categories, (*telling, *(each.members for each in looked_into if each.is_set)), tuple(kept)
    )
    return learn_additive(identity_transform, own, x, y)


class _Several(NamedTuple):
    """Values that are in more than one output, and how many of either side each is in.

    Attributes
    ----------
    values
        Numbers before texts.
    hits
        Outputs with each value, shape (2, values).
    distinct
        How many values there are, those included that are in one output alone.
    """

    values: list[Any]
    hits: np.ndarray
    distinct: int


@dataclass(slots=True)
class _Tally:
    """In how many outputs of either side each value of a collection is."""

    collection: Collection
    codes: dict[str, int] = field(default_factory=dict)
    numbers: _Counted = field(default_factory=list)
    texts: _Counted = field(default_factory=list)

    def add(self, side: int, group: Uniform | Varied) -> None:
        """Count the values of some outputs."""
        entries = self.collection.entries(with_whole_texts(group), self._code)
        is_text = entries.categories > 0
        for counted, some, values in (
            (self.numbers, entries.at(~is_text), entries.numbers[~is_text]),
            (self.texts, entries.at(is_text), entries.categories[is_text]),
        ):
            ordered = np.sort(values)
            if not (ordered[1:] == ordered[:-1]).any():
                counted.append((side, ordered, np.ones(len(ordered), dtype=int)))
                continue
            distinct, which = np.unique(values, return_inverse=True)
            once = np.unique(some.rows * len(distinct) + which) % len(distinct)
            counted.append((side, distinct, np.bincount(once, minlength=len(distinct))))

    def several(self) -> _Several:
        """Values that are in more than one output: one output tells nothing from luck."""
        numbers, of_numbers, distinct_numbers = _summed(self.numbers)
        codes, of_texts, distinct_texts = _summed(self.texts)
        texts = list(self.codes)
        values = [*numbers.tolist(), *(texts[code - 1] for code in codes.tolist())]
        return _Several(values, np.hstack([of_numbers, of_texts]), distinct_numbers + distinct_texts)

    def occurrences(self, value: Value) -> str:
        """Path of the content that says how often outputs hold a value."""
        return self.collection.occurrences(value)

    def _code(self, text: str) -> int:
        return self.codes.setdefault(text, len(self.codes) + 1)


class _CountedRecords(NamedTuple):
    """The distinct records of some outputs of one side, told by some of their parts.

    Attributes
    ----------
    side, parts
        Side, and numbers of these parts.
    marks, counts
        What marks each record, and how many outputs have it.
    numbers, categories
        Number and category of each of these parts, shape (records, parts).
    """

    side: int
    parts: tuple[int, ...]
    marks: np.ndarray
    counts: np.ndarray
    numbers: np.ndarray
    categories: np.ndarray


class _Told(NamedTuple):
    """Records, told by some of their parts: the number and category of each of these."""

    parts: tuple[int, ...]
    numbers: np.ndarray
    categories: np.ndarray


@dataclass(slots=True)
class _TallyOfRecords:
    """In how many outputs of either side each record of a list is, told by the values of some of its parts."""

    records: Records
    codes: dict[str, int] = field(default_factory=dict)
    counted: list[_CountedRecords] = field(default_factory=list)
    seen: list[int] = field(default_factory=lambda: [0, 0])
    told: list[_Told] = field(default_factory=list)

    def add(self, side: int, group: Uniform | Varied) -> None:
        """Count the records of some outputs."""
        if self.seen[side] >= _MOST_COUNTED:
            return
        found = entries_of(with_whole_texts(group), self.records.held, self.records.parts, self._code)
        rows, *values = records_in(found, len(self.records.parts))
        self.seen[side] += len(rows)
        for parts in self.records.together if len(rows) else ():
            numbers, categories = (each[:, parts] for each in values)
            marks = marked(numbers, categories)
            # Rows ascend, and so they do among equal records.
            order = np.argsort(marks, kind="stable")
            marks, at = marks[order], rows[order]
            new = np.r_[True, marks[1:] != marks[:-1]]
            first = np.flatnonzero(new)
            in_output = new | np.r_[True, at[1:] != at[:-1]]
            counts = np.add.reduceat(in_output.astype(int), first)
            own = order[first]
            self.counted.append(_CountedRecords(side, parts, marks[first], counts, numbers[own], categories[own]))

    def several(self) -> _Several:
        """Records that are in more than one output, each as where it is in ``told``."""
        places: list[tuple[int, int]] = []
        hits, distinct = [np.zeros((2, 0), dtype=int)], 0
        for parts in self.records.together:
            own = [each for each in self.counted if each.parts == parts]
            if not own:
                continue
            every, example, which = np.unique(
                np.concatenate([each.marks for each in own]), return_index=True, return_inverse=True
            )
            counts = np.zeros((2, len(every)), dtype=int)
            sides = np.repeat([each.side for each in own], [len(each.marks) for each in own])
            np.add.at(counts, (sides, which), np.concatenate([each.counts for each in own]))
            again = counts.sum(axis=0) > 1
            places += zip(repeat(len(self.told)), range(int(again.sum())))
            numbers, categories = ([getattr(each, name) for each in own] for name in ("numbers", "categories"))
            self.told.append(
                _Told(parts, *(np.concatenate(values)[example[again]] for values in (numbers, categories)))
            )
            hits.append(counts[:, again])
            distinct += len(every)
        return _Several(places, np.hstack(hits), distinct)

    def occurrences(self, place: tuple[int, int]) -> str:
        """Path of the content that says how often outputs hold a record."""
        told, at = self.told[place[0]], place[1]
        texts = list(self.codes)
        values: list[Value] = [
            NOTHING if category < 0 else texts[category - 1] if category else number
            for number, category in zip(told.numbers[at].tolist(), told.categories[at].tolist(), strict=True)
        ]
        return self.records.occurrences(told.parts, values)

    def _code(self, text: str) -> int:
        return self.codes.setdefault(text, len(self.codes) + 1)


def _tally_of_places(sides: Sequence[Outputs]) -> tuple[list[str], np.ndarray]:
    """Places in outputs, and how many of either side have each, shape (2, places)."""
    counts: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    for outputs, count in zip(sides, counts, strict=True):
        for flat in (flat for part in outputs.apart() for flat in part):
            for structure, size in outputs_by_structure(flat).items():
                if size == 1:
                    count.update(paths_of(structure))
                else:
                    count.update(dict.fromkeys(paths_of(structure), size))
    places = list(counts[0] | counts[1])
    return places, np.array([[count[place] for place in places] for count in counts])


def _groups(flat: Flat) -> list[Uniform | Varied]:
    return [group for _, group in flat.groups] if isinstance(flat, Grouped) else [flat]


def _summed(counted: _Counted) -> tuple[np.ndarray, np.ndarray, int]:
    """Values that are in more than one output, their counts on either side, and how many distinct values there are."""
    values = np.concatenate([values for _, values, _ in counted])
    counts = np.concatenate([counts for *_, counts in counted])
    sides = np.repeat([side for side, *_ in counted], [len(values) for _, values, _ in counted])
    ordered = np.sort(values)
    again = ordered[1:] == ordered[:-1]
    several = np.unique(np.concatenate([ordered[1:][again], values[counts > 1]]))
    hits = np.zeros((2, len(several)), dtype=int)
    if len(several):
        which = np.minimum(np.searchsorted(several, values), len(several) - 1)
        known = several[which] == values
        np.add.at(hits, (sides[known], which[known]), counts[known])
    return several, hits, len(values) - int(np.count_nonzero(again))


def likelihood_ratios(hits: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Twice the logarithm of how many times likelier counts are by two probabilities than by one.

    Parameters
    ----------
    hits
        Counts on the two inputs, shape (2, values).
    sizes
        Outputs on either input, shape (2, 1).
    """

    def log_likelihood(hits: np.ndarray, size: np.ndarray) -> np.ndarray:
        return np.asarray(xlogy(hits, hits / size) + xlogy(size - hits, 1 - hits / size))

    both = log_likelihood(hits.sum(axis=0), sizes.sum(axis=0))
    return np.asarray(2 * (log_likelihood(hits, sizes).sum(axis=0) - both))
