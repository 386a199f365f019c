"""Datasets of records out of a finite set, neighbouring in one record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product
from math import comb
from typing import Any, Literal, get_args

import numpy as np

from dpaudit.claims.inputs.base import Pair, distinct, finite_values, other_than, position, whole
from dpaudit.errors import ParameterError

Relation = Literal["substitution", "add-remove"]


@dataclass(frozen=True, slots=True)
class _Change:
    """A pair by the numbers of its values: the shared records, the place of the one that changes, and its values."""

    rest: tuple[int, ...]
    place: int
    before: int
    after: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """Datasets (tuples) of records out of a finite set of values, neighbouring in one record.

    Attributes
    ----------
    values
        The values that a record can take, each listed once: at least two for substitution, one for add-remove.
    size
        Number of records, at least 1. With substitution both datasets have ``size`` records; with add-remove one has
        ``size`` records and the other one fewer.
    relation
        ``substitution`` (one record is replaced) or ``add-remove``.
    ordered
        Whether the order of the records matters. By default datasets are multisets, written in the order of
        ``values``, and each multiset occurs as one tuple only.

    Raises
    ------
    ParameterError
        An argument is out of range.

    Examples
    --------
    >>> import dpaudit
    >>> domain = dpaudit.Records(values=(0, 1), size=2)
    >>> domain.count()
    2
    >>> dpaudit.Records(values=(0,), size=2)
    Traceback (most recent call last):
        ...
    dpaudit.errors.ParameterError: Records with substitution needs at least 2 values, got 1
    """

    values: Sequence[Any]
    size: int
    relation: Relation = "substitution"
    ordered: bool = False

    def __post_init__(self) -> None:
        if self.relation not in get_args(Relation):
            raise ParameterError(f"Records: relation must be substitution or add-remove, got {self.relation!r}")
        least = 2 if self.relation == "substitution" else 1
        object.__setattr__(self, "values", finite_values(self.values, least, f"Records with {self.relation}"))
        object.__setattr__(self, "size", whole(self.size, "Records: size", 1))

    @property
    def scope(self) -> str:
        """The inputs covered, in words."""
        order = "in every order" if self.ordered else "in no order"
        counts = f"{self.size} record{'s' if self.size > 1 else ''}"
        words = "replaced" if self.relation == "substitution" else "added or removed"
        return f"datasets of {counts} out of {len(self.values)} values, {order}, with one record {words}"

    def count(self) -> int:
        """Return the number of unordered pairs."""
        values, others = len(self.values), self.size - 1
        if not self.ordered:
            rests = comb(values + others - 1, others)
            return rests * (comb(values, 2) if self.relation == "substitution" else values)
        # A record put beside an equal one gives the same dataset before it and after it.
        ways = self.size * comb(values, 2) if self.relation == "substitution" else values + others * (values - 1)
        return int(values**others) * ways

    def pairs(self) -> Iterator[Pair]:
        """Yield every pair once, by its shared records first."""
        values, others = range(len(self.values)), self.size - 1
        rests = product(values, repeat=others) if self.ordered else combinations_with_replacement(values, others)
        for rest in rests:
            for place in range(self.size if self.ordered else 1):
                for change in self._changes(rest, place):
                    yield self._pair(change)

    def patterns(self) -> Iterator[Pair]:
        """Yield pairs whose shared records are all first, all last, half and half, or spread over the values."""
        last, others = len(self.values) - 1, self.size - 1
        rests = [
            (0,) * others,
            (last,) * others,
            (0,) * (others // 2) + (last,) * (others - others // 2),
            tuple(sorted(i % (last + 1) for i in range(others))),
        ]
        changes = [(0, last), (last, 0), (0, min(1, last)), (last // 2, last), (last // 2, 0)]
        places = sorted({0, others // 2, others}, reverse=True) if self.ordered else [0]
        return distinct(
            self._pair(_Change(rest, place, before, after if self.relation == "substitution" else None))
            for (before, after), rest, place in product(changes, rests, places)
            if before != after or self.relation == "add-remove"
        )

    def draw(self, rng: np.random.Generator) -> Pair:
        """Draw a pair; the shared records are uniform, or all alike, or of two kinds."""
        values, others = len(self.values), self.size - 1
        kinds = rng.integers(values, size=(values, 1, 2)[rng.integers(3)])
        rest = tuple(int(i) for i in rng.choice(kinds, others))
        before = int(rng.integers(values))
        after = other_than(before, values, rng) if self.relation == "substitution" else None
        return self._pair(_Change(rest, int(rng.integers(self.size)), before, after))

    def vary(self, pair: Pair, rng: np.random.Generator) -> Pair:
        """Change one of the shared records, the record that differs, or (where the order matters) its place."""
        change, values = self._change(pair), len(self.values)
        rest, place, before, after = list(change.rest), change.place, change.before, change.after
        what = rng.integers(4 if self.ordered else 3)
        if what == 0 and rest:
            rest[rng.integers(len(rest))] = int(rng.integers(values))
        elif what == 1 and rest:
            rest[rng.integers(len(rest))] = rest[rng.integers(len(rest))]
        elif what == 3:
            place = int(rng.integers(self.size))
        elif after is None:
            before = int(rng.integers(values))
        elif rng.random() < 0.5:
            before = other_than(after, values, rng)
        else:
            after = other_than(before, values, rng)
        return self._pair(_Change(tuple(rest), place, before, after))

    def _changes(self, rest: tuple[int, ...], place: int) -> Iterator[_Change]:
        """Yield each change at a place once."""
        values = range(len(self.values))
        if self.relation == "substitution":
            yield from (_Change(rest, place, before, after) for before, after in combinations(values, 2))
        else:
            yield from (_Change(rest, place, v, None) for v in values if place == 0 or rest[place - 1] != v)

    def _pair(self, change: _Change) -> Pair:
        def dataset(changed: int | None) -> tuple[Any, ...]:
            middle = () if changed is None else (changed,)
            numbers = (*change.rest[: change.place], *middle, *change.rest[change.place :])
            return tuple(self.values[i] for i in (numbers if self.ordered else sorted(numbers)))

        return dataset(change.before), dataset(change.after)

    def _change(self, pair: Pair) -> _Change:
        """Take a pair of this domain apart."""
        larger, other = (tuple(position(self.values, record) for record in data) for data in pair)
        if len(larger) < len(other):
            larger, other = other, larger
        substituted = len(larger) == len(other)
        if self.ordered:
            place = next((i for i, (a, b) in enumerate(zip(larger, other, strict=False)) if a != b), len(other))
            rest, before = larger[:place] + larger[place + 1 :], larger[place : place + 1]
            after = other[place : place + 1] if substituted else ()
        else:
            place = 0
            shared = Counter(larger) & Counter(other)
            rest = tuple(sorted(shared.elements()))
            before, after = (tuple((Counter(data) - shared).elements()) for data in (larger, other))
        expected = (1, 1) if self.relation == "substitution" else (1, 0)
        if (len(before), len(after)) != expected or len(larger) != self.size or before == after:
            raise ParameterError(f"Records: {pair!r} is no pair of this domain ({self.scope})")
        return _Change(rest, place, before[0], after[0] if after else None)
