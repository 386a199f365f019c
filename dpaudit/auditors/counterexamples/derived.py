"""Neighbouring inputs derived from a promised domain: its ends and corners, extremes, ties, few records and none."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, islice, product
from typing import Any, Literal, get_args

import numpy as np

from dpaudit.auditors.counterexamples.hostile import draw_element, draw_input, fitting, hostile_values, near_value
from dpaudit.claims.domains import Choices, Datasets, Element, Floats, InputSpace, Integers, Nullable, Reals, Rows
from dpaudit.claims.inputs import Pair, distinct, input_key
from dpaudit.errors import ParameterError

Relation = Literal["substitution", "add-remove", "any-two-inputs", "absolute"]

_PATTERNS = 96
_CORNERS = 16
_VALUES = 8
"""Most corners of a record, and values of an input, that are combined with one another."""
_SIZES = (1, 8, 2, 3)
"""Sizes of the larger of two datasets; a single record first, because its neighbour is empty."""
_KINDS = 5
"""Kinds of shared records."""
_TRIES = 1000
"""Draws in a row that may lie outside of the domain, or give twice the same input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedPairs:
    """Neighbouring inputs that are derived from a domain alone, hostile ones first.

    Attributes
    ----------
    space
        The inputs that are promised to be taken: `Datasets` of a domain, or single values.
    relation
        ``substitution`` or ``add-remove`` (datasets that differ in one record), ``any-two-inputs``, or ``absolute``
        (numbers at most ``distance`` apart).
    distance
        Largest distance of two numbers, above 0; for ``absolute`` alone.
    member
        Says which inputs belong to the domain, where ``space`` alone does not say it. Datasets are tuples.

    Raises
    ------
    ParameterError
        An argument is out of range, or relation and domain do not go together; on drawing, hardly any input belongs
        to the domain.

    Notes
    -----
    **Guarantee.** None: pairs that leak may be left out.

    Examples
    --------
    >>> import dpaudit
    >>> pairs = dpaudit.DerivedPairs(space=dpaudit.Floats(0, 10), relation="absolute", distance=1.0)
    >>> dpaudit.Neighbouring.within(pairs).relation
    'absolute'
    """

    space: InputSpace
    relation: Relation
    distance: float = 1.0
    member: Callable[[Any], bool] | None = None

    def __post_init__(self) -> None:
        if self.relation not in get_args(Relation):
            raise ParameterError(
                f"DerivedPairs: relation must be one of {', '.join(get_args(Relation))}, got {self.relation!r}"
            )
        records = self.relation in ("substitution", "add-remove")
        if records and not isinstance(self.space, Datasets):
            raise ParameterError(
                f"DerivedPairs: {self.relation} is about records; give Datasets of them, not "
                f"{type(self.space).__name__}"
            )
        if self.relation == "absolute" and not isinstance(self.space, Integers | Reals | Floats):
            raise ParameterError(
                f"DerivedPairs: absolute is about numbers; give Integers, Reals or Floats, not "
                f"{type(self.space).__name__}"
            )
        if not (math.isfinite(self.distance) and self.distance > 0):
            raise ParameterError(f"DerivedPairs: distance must be finite and above 0, got {self.distance}")
        if isinstance(self.space, Integers) and self.relation == "absolute" and self.distance < 1:
            raise ParameterError(f"DerivedPairs: whole numbers are at least 1 apart, got distance={self.distance}")
        if records and self._most() == 0:
            raise ParameterError(f"DerivedPairs: datasets without records have no neighbours by {self.relation}")

    @property
    def scope(self) -> str:
        """The inputs covered, in words."""
        if self.relation == "absolute":
            words = f"numbers at most {self.distance:g} apart"
        elif self.relation == "any-two-inputs":
            words = "any two inputs"
        else:
            words = f"datasets with one record {'replaced' if self.relation == 'substitution' else 'added or removed'}"
        return f"{words}, derived from {self.space}"

    def count(self) -> int | None:
        """Return None: what is derived is never all that there is."""
        return None

    def pairs(self) -> Iterator[Pair]:
        """Yield the patterns."""
        return self.patterns()

    def patterns(self) -> Iterator[Pair]:
        """Yield pairs at ends and corners first, among ties and few records."""
        if isinstance(self.space, Datasets) and self.relation != "any-two-inputs":
            found = self._datasets(self.space)
        elif self.relation == "absolute":
            found = self._numbers()
        else:
            values = self._values()
            # A value that is left alone meets the first one.
            places = ((first, second if second != first else 0) for first, second in _in_twos(len(values)))
            found = ((values[first], values[second]) for first, second in places)
        return islice(distinct(pair for pair in found if self._holds(pair)), _PATTERNS)

    def draw(self, rng: np.random.Generator) -> Pair:
        """Draw a pair; its values are mostly hostile ones."""
        return self._first_that_holds(lambda: self._drawn(rng))

    def vary(self, pair: Pair, rng: np.random.Generator) -> Pair:
        """Change a shared record, the record that differs, the number of records, or both numbers alike."""
        return self._first_that_holds(lambda: self._varied(pair, rng))

    def _most(self) -> int | None:
        assert isinstance(self.space, Datasets)
        return self.space.size if self.space.size is not None else self.space.longest

    def _holds(self, pair: Pair) -> bool:
        return self.member is None or all(map(self.member, pair))

    def _first_that_holds(self, drawn: Callable[[], Pair]) -> Pair:
        pair = next((pair for pair in distinct(drawn() for _ in range(_TRIES)) if self._holds(pair)), None)
        if pair is None:
            raise ParameterError(
                f"DerivedPairs: of {_TRIES} pairs of {self.scope} none has two different inputs that belong to the "
                "domain; say more of it in the space, and less in `member`"
            )
        return pair

    def _values(self) -> list[Any]:
        """Inputs that are worth trying, of which any two are neighbours."""
        if not isinstance(self.space, Datasets):
            return corners(self.space)[:_CORNERS]
        records = corners(self.space.of)[:_VALUES]
        sizes = (self.space.size,) if self.space.size is not None else filter(self._fits, (0, *_SIZES))
        found = [(record,) * size for size in sizes for record in records]
        return list({repr(data): data for data in found}.values())

    def _fits(self, size: int) -> bool:
        most = self._most()
        return most is None or size <= most

    def _datasets(self, space: Datasets) -> Iterator[Pair]:
        """Pairs in which one record changes from corner to corner, among records that are alike, halved, or varied."""
        adds = self.relation == "add-remove"
        # With a fixed size, what is added makes the larger dataset of that size.
        sizes = [space.size] if space.size is not None else [each for each in _SIZES if self._fits(each)]
        if space.size is None and space.longest is not None:
            sizes.append(space.longest)
        records = corners(space.of)[:_CORNERS]
        alike = [each for each in records if self.member is None or self.member((each,) * max(sizes))]
        records = alike or records
        structures = list(product(dict.fromkeys(sizes), range(_KINDS)))
        for first, second in _in_twos(len(records)):
            for turn, (number, (size, kind)) in product(range(2), enumerate(structures)):
                # Both are tried in every structure, and in turn, so that few pairs see either of them.
                places = (first, second) if (number + turn) % 2 == 0 else (second, first)
                record, other = (records[place] for place in places)
                rest, in_front = _shared(records, record, other, size - 1, kind)
                x, y = ((each, *rest) if in_front else (*rest, each) for each in (record, other))
                yield (rest, x) if adds else (x, y)

    def _numbers(self) -> Iterator[Pair]:
        """Two numbers at the distance, on either side of hostile ones."""
        space = self.space
        assert isinstance(space, Integers | Reals | Floats)
        for value in hostile_values(space):
            for moved in (self._moved(value, 1), self._moved(value, -1)):
                if moved is not None and moved != value:
                    yield value, moved
        if not isinstance(space, Integers) and space.low <= 0.0 <= space.high:
            yield 0.0, -0.0

    def _moved(self, value: Any, sign: float) -> Any:
        """Return the number that is the distance away from one, or a little less; None outside of the domain."""
        space = self.space
        if isinstance(space, Integers):
            moved = value + int(sign * math.floor(self.distance))
            return moved if space.low <= moved <= space.high else None
        assert isinstance(space, Reals | Floats)
        if not math.isfinite(value):
            return None
        found = fitting(space, value + sign * self.distance)
        if found is not None and not self._near(value, found):
            found = fitting(space, math.nextafter(found, value))
        return found if found is not None and self._near(value, found) else None

    def _near(self, value: float, other: float) -> bool:
        """Whether two floats are no farther apart than the distance, exactly."""
        return math.isfinite(other) and abs(Fraction(other) - Fraction(value)) <= self.distance

    def _drawn(self, rng: np.random.Generator) -> Pair:
        space = self.space
        if self.relation == "any-two-inputs":
            return _hashable(draw_input(space, rng)), _hashable(draw_input(space, rng))
        if self.relation == "absolute":
            assert not isinstance(space, Datasets)
            value = draw_element(space, rng)
            moved = self._moved(value, (1 if rng.random() < 0.5 else -1) * (1 if rng.random() < 0.7 else rng.random()))
            return value, value if moved is None else moved
        assert isinstance(space, Datasets)
        records = list(draw_input(space, rng))
        if not records:
            records = [draw_element(space.of, rng)]
        return self._changed(records, int(rng.integers(len(records))), draw_element(space.of, rng))

    def _changed(self, records: list[Any], place: int, other: Any) -> Pair:
        """Return a dataset and its neighbour that has another record, or none, in a place."""
        rest = records[:place], records[place + 1 :]
        instead = [] if self.relation == "add-remove" else [other]
        return tuple(records), (*rest[0], *instead, *rest[1])

    def _varied(self, pair: Pair, rng: np.random.Generator) -> Pair:
        space = self.space
        if not isinstance(space, Datasets) or self.relation == "any-two-inputs":
            return self._varied_value(pair, rng)
        larger, other = sorted(map(list, pair), key=len, reverse=True)
        differing = (i for i, (a, b) in enumerate(zip(larger, other, strict=False)) if input_key(a) != input_key(b))
        place = next(differing, len(larger) - 1)
        instead = larger[place] if self.relation == "add-remove" else other[place]
        way = rng.integers(5)
        if way == 0:
            model = larger[rng.integers(len(larger))]
            larger = [model if i != place else each for i, each in enumerate(larger)]
        elif way == 1 and len(larger) > 1:
            larger[rng.integers(len(larger))] = draw_element(space.of, rng)
        elif way == 2 and space.size is None:
            if rng.random() < 0.5 and self._fits(len(larger) + 1):
                larger.append(larger[rng.integers(len(larger))])
            elif len(larger) > 1:
                del larger[-1]
                place = min(place, len(larger) - 1)
        elif way == 3:
            place = int(rng.integers(len(larger)))
        else:
            instead = near_value(space.of, instead, rng) if rng.random() < 0.5 else draw_element(space.of, rng)
            if self.relation == "add-remove":
                larger[place] = instead
        return self._changed(larger, place, instead)

    def _varied_value(self, pair: Pair, rng: np.random.Generator) -> Pair:
        space = self.space
        first, second = pair if rng.random() < 0.5 else pair[::-1]
        if self.relation == "any-two-inputs":
            if isinstance(space, Datasets) or rng.random() < 0.5:
                return first, _hashable(draw_input(space, rng))
            return first, near_value(space, second, rng)
        assert not isinstance(space, Datasets)
        value = near_value(space, first, rng)
        moved = self._moved(value, 1 if second > first else -1)
        return value, value if moved is None else moved


def corners(element: Element) -> list[Any]:
    """Values of a domain to combine: its ends, or the corners of several columns; then the middle of each face."""
    if isinstance(element, Nullable):
        return [*corners(element.of)[: _CORNERS - 1], None]
    if isinstance(element, Choices):
        return list(element.values)
    if isinstance(element, Rows):
        ends = [_ends(each) for each in element.columns]
        middle = tuple(_middle(each) for each in element.columns)
        outer: Iterator[tuple[Any, ...]] = _few_corners(ends)
        if math.prod(map(len, ends)) <= _CORNERS // 2:
            outer = chain(islice(outer, 0, None, 3), product(*ends))
        faces = (
            (*middle[:place], value, *middle[place + 1 :]) for place, values in enumerate(ends) for value in values
        )
        return list({repr(each): each for each in chain(outer, faces, [middle])}.values())
    return list({repr(each): each for each in (*_ends(element), *hostile_values(element))}.values())


def _few_corners(ends: list[list[Any]]) -> Iterator[tuple[Any, ...]]:
    """Corners where all columns, all but one, or every other one are at the same end."""
    for near, far in ((0, -1), (-1, 0)):
        yield tuple(each[near] for each in ends)
        yield tuple(each[(near, far)[place % 2]] for place, each in enumerate(ends))
        yield tuple(each[near if place else far] for place, each in enumerate(ends))


def _ends(element: Element) -> list[Any]:
    """Bounds of a column where it has any, or else its first values."""
    if isinstance(element, Integers | Reals | Floats) and math.isfinite(element.low) and math.isfinite(element.high):
        number = int if isinstance(element, Integers) else float
        ends = [number(element.low), number(element.high)]
        return ends if ends[0] != ends[1] else ends[:1]
    if isinstance(element, Rows | Nullable):
        return corners(element)[:2]
    return hostile_values(element)[:2]


def _middle(element: Element) -> Any:
    if isinstance(element, Integers):
        return (element.low + element.high) // 2
    if isinstance(element, Reals | Floats) and math.isfinite(element.low) and math.isfinite(element.high):
        found = fitting(element, element.low / 2 + element.high / 2)
        return element.low if found is None else found
    return _ends(element)[0]


def _in_twos(count: int) -> Iterator[tuple[int, int]]:
    """Two places at a time: first each of them once, then further combinations; a single place with itself."""
    yield from ((place, min(place + 1, count - 1)) for place in range(0, count, 2))
    yield from (pair for pair in combinations(range(count), 2) if pair[0] % 2 or pair[1] != pair[0] + 1)


def _shared(records: list[Any], record: Any, other: Any, size: int, kind: int) -> tuple[tuple[Any, ...], bool]:
    """Shared records, and whether the record that changes stands in front of them.

    They are all like it, all of another corner, one of each corner, or half and half.
    """
    half = size // 2
    several = tuple(records[place % len(records)] for place in range(size))
    return (
        ((record,) * size, False),
        ((other,) * size, True),
        (several, False),
        ((other,) * size, False),
        ((record,) * half + (other,) * (size - half), False),
    )[kind]


def _hashable(data: Any) -> Any:
    return tuple(data) if isinstance(data, list) else data
