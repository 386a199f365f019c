"""Neighbouring inputs of an OpenDP domain under a metric, ordinary pairs first and hostile ones behind."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from dpaudit.claims.inputs import Pair
from dpaudit.errors import ParameterError
from dpaudit.sources.libraries.spaces import Space

_LENGTHS = (0, 1, 2, 3, 4, 11)
"""Lengths of the shared records where any length is allowed: empty, odd and even."""

_MOST_CATEGORIES = 8

RELATIONS = {
    "SymmetricDistance": "add-remove",
    "InsertDeleteDistance": "add-remove",
    "ChangeOneDistance": "substitution",
    "HammingDistance": "substitution",
    "DiscreteDistance": "any-two-inputs",
}


def metric_name(text: str) -> str:
    """Name of a metric, without its type: ``L1Distance`` of ``L1Distance(i32)``."""
    return re.split(r"[(<]", text, maxsplit=1)[0].strip()


def relation_of(metric: str, distance: Any) -> str:
    """Name of the neighbouring relation."""
    name = metric_name(metric)
    return RELATIONS.get(name, f"{name} at most {distance}")


def pairs_of(space: Space, metric: str, distance: Any) -> list[Pair]:
    """Pairs of inputs of a domain whose distance is at most what is given.

    Parameters
    ----------
    space
        The domain.
    metric
        The metric as OpenDP writes it.
    distance
        The largest distance of two neighbours: a number, or (groups, total, each) for maps.

    Raises
    ------
    ParameterError
        No pairs can be derived for this metric on this domain.
    """
    name = metric_name(metric)
    if name == "DiscreteDistance":
        return list(combinations(_inputs(space), 2))
    if name in RELATIONS and space.form == "vector":
        return list(_datasets(space, name, int(distance)))
    if name == "AbsoluteDistance" and space.form == "atom":
        return list(_numbers(space, distance))
    if name in ("L1Distance", "L2Distance", "LInfDistance") and space.form == "vector":
        return list(_vectors(space, name, distance, monotonic="monotonic" in metric))
    if name.startswith(("L01Inf", "L02Inf")) and space.form == "map":
        return list(_maps(space, distance))
    raise ParameterError(
        f"no neighbouring inputs can be derived for the metric {metric} on this domain; give pairs yourself"
    )


def _inputs(space: Space) -> list[Any]:
    """Inputs of a domain of which any two are neighbours."""
    if space.form == "bits":
        # The domain does not say how long a vector is.
        return [b"\x00\x00", b"\x01\x00", b"\x03\x00", b"\x00\x80", b"\x01"]
    if space.form == "vector":
        records = space.records()[:3]
        sizes = (space.size,) if space.size is not None else (0, 1, 2)
        return [[record] * size for size in sizes for record in (records if size else records[:1])]
    if space.form == "map":
        return [{}, {"a": space.number(1)}, {"a": space.number(2)}]
    return [*space.records(), *([None] if space.form == "option" else [])][:_MOST_CATEGORIES]


def _numbers(space: Space, distance: Any) -> Iterator[Pair]:
    """Two numbers at the distance: around 0, at the ends of the bounds, and at the extremes of the type."""
    bases: list[Any] = [0, 1, -1, -distance]
    if space.bounded or space.integers:
        bases += [space.low, space.high - distance, space.low / 2 + space.high / 2]
    if space.integers:
        bases += [2**24, 2**53]
    if space.floats:
        bases += [0.1, 1 / 3, 1e6, 2.0**24, 2.0**53 - 2 * distance, -1e9]
    for base in bases:
        x = space.number(base)
        y = space.number(x + distance)
        if space.holds(x) and space.holds(y) and x != y and abs(y - x) <= distance:
            yield x, y
    if space.floats and space.holds(0.0):
        yield 0.0, -0.0
        yield 0.0, 5e-324 if space.atom == "f64" else 1.401298464324817e-45


def _vectors(space: Space, norm: str, distance: Any, *, monotonic: bool) -> Iterator[Pair]:
    """Two vectors at the distance: all of it in one coordinate, or shared by all, in one direction or several."""
    sizes = (1, 2, 3, 4) if space.size is None else (space.size,)
    for size in sizes:
        bases: list[list[Any]] = [[0] * size, list(range(size)), [distance] * size, [-distance] * size]
        if space.bounded or space.integers:
            bases += [[space.low] * size, [space.high] * size, [space.high, *[space.low] * (size - 1)]]
        for base in bases:
            for step in _steps(size, norm, distance, whole=space.integers, monotonic=monotonic):
                # At the upper end the step goes the other way.
                for sign in (1, -1):
                    x = [space.number(value) for value in base]
                    y = [space.number(value + sign * each) for value, each in zip(x, step, strict=True)]
                    if all(map(space.holds, [*x, *y])) and x != y and _apart(x, y, norm) <= distance:
                        yield x, y
                        break


def _steps(size: int, norm: str, distance: Any, *, whole: bool, monotonic: bool) -> Iterator[list[Any]]:
    if size == 0:
        return
    yield [distance, *[0] * (size - 1)]
    if size > 1:
        share = distance / {"L1Distance": size, "L2Distance": math.sqrt(size), "LInfDistance": 1}[norm]
        # A share that is rounded up would make a pair that the metric does not allow.
        share = math.floor(share) if whole else share * (1 if norm == "LInfDistance" else 1 - 2**-40)
        if share:
            yield [share] * size
            if not monotonic:
                yield [share if place % 2 == 0 else -share for place in range(size)]
                yield [share, *[-share] * (size - 1)]


def _apart(x: Sequence[Any], y: Sequence[Any], norm: str) -> float:
    steps = [abs(b - a) for a, b in zip(x, y, strict=True)]
    if norm == "LInfDistance":
        return float(max(steps))
    return float(sum(steps)) if norm == "L1Distance" else math.hypot(*steps)


def _datasets(space: Space, metric: str, distance: int) -> Iterator[Pair]:
    """Two datasets that differ in records: added or replaced, in front or behind, among ties and extremes."""
    records = space.records()
    adds = metric in ("SymmetricDistance", "InsertDeleteDistance")
    reorders = metric in ("SymmetricDistance", "ChangeOneDistance")
    # Where the size is fixed, a record that is replaced is one that goes and one that comes.
    replaces = not adds or space.size is not None
    changes = distance // 2 if adds and replaces else distance
    if changes < 1 or (space.size is not None and changes > space.size):
        return
    sizes = _LENGTHS if space.size is None else (space.size - changes,)
    ends = (records[0], records[min(1, len(records) - 1)])
    for size in sizes:
        # All records are tried once; among other shared records, the first two.
        tried = records if size in (sizes[-1], 2) else list(ends)
        for rest in _shared(ends, size):
            for record in tried[1:] if replaces else tried:
                yield [*rest, *([ends[0]] * changes if replaces else [])], [*rest, *[record] * changes]
    if space.size is not None:
        return
    first, second = ends
    if adds:
        yield [first, second], [second, first, second]
        if distance >= 2:
            yield [first, second, first], [first, second, second]
    if reorders:
        yield [first, second, second], [second, second, first]


def _shared(ends: tuple[Any, Any], size: int) -> Iterator[list[Any]]:
    """Shared records: all alike, at either end, or half and half."""
    yield [ends[0]] * size
    if size:
        yield [ends[1]] * size
    if size > 1:
        yield [ends[0]] * (size // 2) + [ends[1]] * (size - size // 2)


def _maps(space: Space, distance: Any) -> Iterator[Pair]:
    """Two maps that differ in one key that comes and goes, or in its value."""
    each = distance[-1]
    one = space.number(each)
    shared: list[dict[str, Any]] = [{}, {"b": space.number(1)}, {"b": space.number(100)}]
    for rest in shared:
        yield dict(rest), {**rest, "a": one}
        for value in (1, 10, 100, 1000):
            x, y = space.number(value), space.number(value + each)
            if space.holds(x) and space.holds(y):
                yield {**rest, "a": x}, {**rest, "a": y}
    if distance[0] > 1 and distance[1] >= 2 * each:
        yield {}, {"a": one, "b": one}
