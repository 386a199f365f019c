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
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy

from dpaudit.auditors.learning.learners import identity_transform, learn_additive
from dpaudit.auditors.learning.row_scores import AdditiveScore
from dpaudit.auditors.outputs.columns import LEAST_COMMON, Columns
from dpaudit.auditors.outputs.content_choice import Collection, Records, collections_of, records_of
from dpaudit.auditors.outputs.contents import NOTHING, Content, Value
from dpaudit.auditors.outputs.flat import Flat, Grouped, Uniform, Varied, outputs_by_structure
from dpaudit.auditors.outputs.flat import paths as paths_of
from dpaudit.auditors.outputs.held import Entries, entries_of, with_whole_texts
from dpaudit.auditors.outputs.outputs import Outputs, OutputsLike, as_outputs

_Counted = list[tuple[int, np.ndarray, np.ndarray]]
"""Of blocks of outputs: their side, the distinct values in them, and the number of outputs with each."""

_EVIDENCE = 1.5
"""Twice the logarithm of the likelihood ratio of a value that is taken, at least, over the logarithm of the number of
values. Measured on one of 3,000 words in lists (0.6 % against 0.06 %, 40,000 outputs, eight seeds at 90 %): the mean
bound is 1.06 with 2, 1.25 with 1.5 and 0.78 with 1, where the best event has 1.81."""

_MANY_PATHS = LEAST_COMMON
"""Places in outputs from which on there may be others that have no columns."""

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


@dataclass(slots=True)
class _TallyOfRecords:
    """In how many outputs of either side each record of a list is, told by the values of some of its parts."""

    records: Records
    codes: dict[str, int] = field(default_factory=dict)
    counts: tuple[Counter[tuple[Value, ...]], Counter[tuple[Value, ...]]] = field(
        default_factory=lambda: (Counter(), Counter())
    )

    def add(self, side: int, group: Uniform | Varied) -> None:
        """Count the records of some outputs."""
        found = entries_of(with_whole_texts(group), self.records.held, self.records.parts, self._code)
        if not len(found.rows):
            return
        most = int(found.places.max()) + 1
        at, record = np.unique(found.rows * most + found.places, return_inverse=True)
        together = np.zeros(len(at), dtype=int)
        for part in range(len(self.records.parts)):
            own = found.rests == part
            # What a record does not have is a value too.
            which = np.zeros(len(at), dtype=int)
            which[record[own]] = 1 + _numbered(found.numbers[own], found.categories[own])
            together = np.unique(together * (int(which.max()) + 1) + which, return_inverse=True)[1]
        distinct, first = np.unique(together, return_index=True)
        once = np.unique(at // most * len(distinct) + together) % len(distinct)
        values = self._values(found, record, first)
        self.counts[side].update(dict(zip(values, np.bincount(once).tolist(), strict=True)))

    def several(self) -> _Several:
        """Records that are in more than one output."""
        one, other = self.counts
        every = one | other
        several = [values for values in every if one[values] + other[values] > 1]
        hits = np.array([[count[values] for values in several] for count in self.counts], dtype=int)
        return _Several(several, hits.reshape(2, -1), len(every))

    def occurrences(self, values: tuple[Value, ...]) -> str:
        """Path of the content that says how often outputs hold a record."""
        return self.records.occurrences(values)

    def _values(self, found: Entries, record: np.ndarray, chosen: np.ndarray) -> list[tuple[Value, ...]]:
        """Values of the parts of some records."""
        texts = [NOTHING, *self.codes]
        wanted = np.full(int(record.max()) + 1, -1)
        wanted[chosen] = np.arange(len(chosen))
        values: list[list[Value]] = [[NOTHING] * len(self.records.parts) for _ in chosen]
        at = np.flatnonzero(wanted[record] >= 0)
        for i, part, number, code in zip(
            wanted[record[at]].tolist(),
            found.rests[at].tolist(),
            found.numbers[at].tolist(),
            found.categories[at].tolist(),
            strict=True,
        ):
            values[i][part] = texts[code] if code else number
        return list(map(tuple, values))

    def _code(self, text: str) -> int:
        return self.codes.setdefault(text, len(self.codes) + 1)


def _numbered(numbers: np.ndarray, categories: np.ndarray) -> np.ndarray:
    """Number values, of which those of one category are one, and numbers those that are equal."""
    made = categories.copy()
    are = categories == 0
    made[are] = int(categories.max(initial=0)) + 1 + np.unique(numbers[are], return_inverse=True)[1]
    return made


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
