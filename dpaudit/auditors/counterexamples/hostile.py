"""Inputs that transformations trip over: drawn, listed where they are few, and compared by how simple they are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from dpaudit.auditors.counterexamples.variables import simpler_values
from dpaudit.claims.domains import Choices, Datasets, Element, Floats, InputSpace, Integers, Nullable, Reals, Rows

_WHOLE = (0, 1, 2, 3, -1, 10, 2**24, 2**31 - 1, -(2**31), 2**32, 2**53, 2**63 - 1)
_REAL = (0.0, 1.0, -1.0, 2.0, 0.5, 0.1, 1 / 3, 10.0, 1e6, 1e16, 2.0**53, 1e-9, 5e-324, -0.0)
_LENGTHS = (0, 1, 2, 3, 4, 5, 8, 11)
_LONG = (30, 100)
_ODD_WEIGHT = 1e3


def hostile_values(element: Element) -> list[Any]:
    """Values of a domain that are worth trying, ordinary ones first: bounds, their neighbours, extremes, NaN, None."""
    if isinstance(element, Choices):
        return list(element.values)
    if isinstance(element, Nullable):
        return [*hostile_values(element.of), None]
    if isinstance(element, Rows):
        columns = [hostile_values(each) for each in element.columns]
        return [tuple(each[min(i, len(each) - 1)] for each in columns) for i in range(max(map(len, columns)))]
    if isinstance(element, Integers):
        middle = (element.low + element.high) // 2
        ends = (element.low, element.high, element.low + 1, element.high - 1, middle)
        return _distinct(value for value in (*_WHOLE, *ends) if element.low <= value <= element.high)
    values = [*_REAL]
    if math.isfinite(element.low) and math.isfinite(element.high):
        parts = (share * (element.high / 4) + (4 - share) * (element.low / 4) for share in range(5))
        values += [*parts, math.nextafter(element.low, math.inf), math.nextafter(element.high, -math.inf)]
    else:
        values += [1.7976931348623157e308, -1.7976931348623157e308]
    values += [element.low, element.high]
    if isinstance(element, Floats) and element.nan:
        values.append(math.nan)
    fitted = (fitting(element, value) for value in values)
    return _distinct(value for value in fitted if value is not None)


def fitting(element: Reals | Floats, value: float) -> float | None:
    """Return a float as the domain has it, of 32 bits where it says so; None where it is not in the domain."""
    if value != value:
        return value if isinstance(element, Floats) and element.nan else None
    if isinstance(element, Floats) and element.bits == 32:
        with np.errstate(over="ignore"):
            value = float(np.float32(value))
    return value if element.low <= value <= element.high else None


def draw_element(element: Element, rng: np.random.Generator) -> Any:
    """Draw a value: mostly a hostile one, or else one from anywhere in the domain, on all scales."""
    if isinstance(element, Rows):
        return tuple(draw_element(each, rng) for each in element.columns)
    if isinstance(element, Nullable):
        return None if rng.random() < 0.2 else draw_element(element.of, rng)
    values = hostile_values(element)
    if isinstance(element, Choices) or rng.random() < 0.7:
        # Ordinary values stand in front, and combinations of hostile and ordinary ones find most.
        return values[min(int(rng.exponential(len(values) / 2)), len(values) - 1)]
    if isinstance(element, Integers):
        width = element.high - element.low
        return element.low + int.from_bytes(rng.bytes(width.bit_length() // 8 + 9), "little") % (width + 1)
    low, high = max(element.low, -1e300), min(element.high, 1e300)
    if rng.random() < 0.5:
        share = rng.random()
        drawn = (1 - share) * low + share * high
    else:
        drawn = float(round(rng.normal() * 10 ** rng.uniform(-3, 3), int(rng.integers(4))))
    found = fitting(element, min(max(drawn, low), high))
    return values[0] if found is None else found


def near_value(element: Element, value: Any, rng: np.random.Generator) -> Any:
    """Draw another value at a small distance of one: a step of 1, of a share of it, or of the last bit."""
    if isinstance(element, Nullable):
        return draw_element(element, rng) if value is None else near_value(element.of, value, rng)
    sign = 1 if rng.random() < 0.5 else -1
    if isinstance(element, Integers):
        step = 1 if rng.random() < 0.7 else 1 + int(rng.integers(10))
        return min(max(value + sign * step, element.low), element.high)
    if isinstance(element, Reals | Floats) and math.isfinite(value):
        way = rng.random()
        if way < 0.4:
            moved = value + sign
        elif way < 0.6:
            moved = math.nextafter(value, sign * math.inf)
        else:
            moved = value + sign * float(round(10 ** rng.uniform(-4, 2), 3))
        found = fitting(element, min(max(moved, element.low), element.high))
        return value if found is None else found
    return draw_element(element, rng)


def draw_length(domain: Datasets, rng: np.random.Generator) -> int:
    """Draw a length: empty, odd and even, and now and then a long one."""
    if domain.size is not None:
        return domain.size
    lengths = _LONG if rng.random() < 0.03 else _LENGTHS
    drawn = lengths[rng.integers(len(lengths))]
    return drawn if domain.longest is None else min(drawn, domain.longest)


def draw_input(domain: InputSpace, rng: np.random.Generator) -> Any:
    """Draw an input; the records of a dataset are alike, of few kinds, ascending, or all different."""
    if not isinstance(domain, Datasets):
        return draw_element(domain, rng)
    length, way = draw_length(domain, rng), rng.integers(6)
    palette = [draw_element(domain.of, rng) for _ in range(1 if way == 0 else int(rng.integers(2, 4)))]
    if way <= 2:
        return [palette[rng.integers(len(palette))] for _ in range(length)]
    if way == 3:
        return [palette[0]] * (length // 2) + [palette[1]] * (length - length // 2)
    if way == 4:
        values = hostile_values(domain.of)
        start = int(rng.integers(len(values)))
        return [values[(start + place) % len(values)] for place in range(length)]
    return [draw_element(domain.of, rng) for _ in range(length)]


def listed_inputs(domain: InputSpace, most: int) -> list[Any] | None:
    """All inputs of a domain where they are at most so many; None otherwise."""
    if isinstance(domain, Integers):
        return list(range(domain.low, domain.high + 1)) if domain.high - domain.low < most else None
    if isinstance(domain, Reals | Floats):
        single = domain.low == domain.high and math.isfinite(domain.low) and domain.low and not _has_nan(domain)
        return [float(domain.low)] if single else None
    if isinstance(domain, Choices):
        return list(domain.values) if domain.complete and len(domain.values) <= most else None
    if isinstance(domain, Nullable):
        inner = listed_inputs(domain.of, most - 1)
        return None if inner is None else [*inner, None]
    if isinstance(domain, Rows):
        columns = [listed_inputs(each, most) for each in domain.columns]
        known = [each for each in columns if each is not None]
        if len(known) < len(columns) or math.prod(map(len, known)) > most:
            return None
        return [tuple(each) for each in product(*known)]
    longest = domain.size if domain.size is not None else domain.longest
    inner = listed_inputs(domain.of, most)
    if longest is None or inner is None:
        return None
    lengths = [longest] if domain.size is not None else range(longest + 1)
    count = 0
    for length in lengths:
        count += len(inner) ** length
        if count > most:
            return None
    return [list(each) for length in lengths for each in product(inner, repeat=length)]


def _has_nan(domain: Reals | Floats) -> bool:
    return isinstance(domain, Floats) and domain.nan


def simpler_elements(element: Element, value: Any) -> Iterator[Any]:
    """Yield values of a domain that are simpler than one, the simplest first."""
    if isinstance(element, Nullable) and value is not None:
        yield from simpler_elements(element.of, value)
    elif isinstance(element, Rows):
        for place, each in enumerate(element.columns):
            for simpler in simpler_elements(each, value[place]):
                yield (*value[:place], simpler, *value[place + 1 :])
    elif isinstance(element, Integers):
        yield from simpler_values(element, value)
    elif isinstance(element, Reals | Floats):
        yield from (each for each in (0.0, 1.0, -1.0, 0.5) if fitting(element, each) is not None)
        if math.isfinite(value) and math.isfinite(element.low) and math.isfinite(element.high):
            found = (fitting(element, each) for each in simpler_values(Reals(element.low, element.high), value))
            yield from (each for each in found if each is not None)
    else:
        yield from (each for each in hostile_values(element) if each is not None)


def weight(value: Any) -> float:
    """How far from simple a value is: long numbers and large ones weigh more, what is no number most."""
    if isinstance(value, list | tuple):
        return sum(map(weight, value))
    if isinstance(value, bool) or value is None:
        return 1.0
    if isinstance(value, int | float):
        if not math.isfinite(value):
            return _ODD_WEIGHT
        if value == 0:
            return float(repr(value).startswith("-"))
        size = math.log2(1 + abs(value)) if abs(value) < 1e300 else 1000.0
        return len(repr(value).removesuffix(".0")) + size / 100 + (0.5 if value < 0 else 0.0)
    return float(len(repr(value)))


def _distinct(values: Iterator[Any]) -> list[Any]:
    return list({repr(value): value for value in values}.values())
