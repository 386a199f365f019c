"""Distances of inputs and outputs of a transformation, exact or enclosed, so that rounding never makes a violation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpaudit.errors import ParameterError

Number = int | float | Fraction
Enclosure = tuple[Number, Number]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A distance of two values.

    Attributes
    ----------
    name
        Its name.
    enclose
        ``enclose(x, y, apart)`` returns a lower and an upper bound on the distance, equal where it is exact. ``apart``
        says whether values that compare equal but are not the same, such as 0.0 and -0.0, or 1 and 1.0, are different.
    datasets
        Whether it compares sequences of records, of which order or multiplicity count.
    """

    name: str
    enclose: Callable[[Any, Any, bool], Enclosure]
    datasets: bool = False

    def between_inputs(self, x: Any, y: Any) -> Number:
        """Upper bound on the distance of two inputs."""
        return self.enclose(x, y, True)[1]

    def between_outputs(self, x: Any, y: Any) -> Number:
        """Lower bound on the distance of two outputs."""
        return self.enclose(x, y, False)[0]


def metric(given: str | Callable[[Any, Any], float]) -> Metric:
    """Return a metric by its name, or a function ``distance(x, y)`` of the user's own.

    Parameters
    ----------
    given
        ``symmetric`` (records added and removed, in any order), ``insert-delete`` (in order), ``change-one`` (records
        replaced, in any order), ``hamming`` (places that differ), ``absolute``, ``l1``, ``l2``, ``linf``, ``discrete``
        (0 or 1); or a function.

    Raises
    ------
    ParameterError
        There is no such metric.
    """
    if callable(given):
        distance = given

        def enclose(x: Any, y: Any, apart: bool) -> Enclosure:
            value = exact(distance(x, y))
            if value < 0:
                raise ParameterError(f"a distance must be at least 0, got {float(value):g}")
            return value, value

        return Metric(name=getattr(given, "__name__", "distance"), enclose=enclose)
    if given not in METRICS:
        raise ParameterError(f"metric must be one of {', '.join(METRICS)}, or a function of two values, got {given!r}")
    return METRICS[given]


def exact(value: Any) -> Number:
    """Return a number as a fraction, or an infinity as it is.

    Raises
    ------
    ParameterError
        It is no number.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Fraction):
        return value
    if not isinstance(value, int | float) or value != value:
        raise ParameterError(f"a distance must be a number, got {value!r}")
    return Fraction(value) if math.isfinite(value) else float(value)


def plain_value(value: Any) -> Any:
    """Return a value in Python's own types: arrays as lists."""
    if isinstance(value, np.ndarray):
        return plain_value(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list):
        return [plain_value(each) for each in value]
    if isinstance(value, tuple):
        return tuple(plain_value(each) for each in value)
    if isinstance(value, Mapping):
        return {plain_value(key): plain_value(each) for key, each in value.items()}
    return value


def value_key(value: Any, apart: bool = True) -> Any:
    """Key of a value, equal for NaN and NaN; of numbers that compare equal, the same unless they are kept apart."""
    if isinstance(value, np.ndarray | np.generic):
        value = plain_value(value)
    if isinstance(value, float) and value != value:
        return ("NaN",)
    if isinstance(value, list | tuple):
        return tuple(value_key(each, apart) for each in value)
    if isinstance(value, Mapping):
        return tuple(sorted(((value_key(k, apart), value_key(v, apart)) for k, v in value.items()), key=repr))
    if apart and isinstance(value, bool | int | float):
        return (type(value).__name__, repr(value))
    return value


def _keys(values: Any, apart: bool) -> list[Any]:
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ParameterError(f"this metric compares datasets, sequences of records; got {values!r}")
    return [value_key(each, apart) for each in values]


def _symmetric(x: Any, y: Any, apart: bool) -> Enclosure:
    first, second = Counter(_keys(x, apart)), Counter(_keys(y, apart))
    count = sum(((first - second) + (second - first)).values())
    return count, count


def _change_one(x: Any, y: Any, apart: bool) -> Enclosure:
    first, second = _keys(x, apart), _keys(y, apart)
    if len(first) != len(second):
        return math.inf, math.inf
    count = sum((Counter(first) - Counter(second)).values())
    return count, count


def _hamming(x: Any, y: Any, apart: bool) -> Enclosure:
    first, second = _keys(x, apart), _keys(y, apart)
    if len(first) != len(second):
        return math.inf, math.inf
    count = sum(a != b for a, b in zip(first, second, strict=True))
    return count, count


def _insert_delete(x: Any, y: Any, apart: bool) -> Enclosure:
    first, second = _keys(x, apart), _keys(y, apart)
    start = 0
    while start < min(len(first), len(second)) and first[start] == second[start]:
        start += 1
    end = 0
    while end < min(len(first), len(second)) - start and first[-1 - end] == second[-1 - end]:
        end += 1
    first, second = first[start : len(first) - end], second[start : len(second) - end]
    # Length of the longest common subsequence, a row at a time.
    row = [0] * (len(second) + 1)
    for each in first:
        before = 0
        for place, other in enumerate(second):
            before, row[place + 1] = row[place + 1], before + 1 if each == other else max(row[place + 1], row[place])
    count = len(first) + len(second) - 2 * row[-1]
    return count, count


def _discrete(x: Any, y: Any, apart: bool) -> Enclosure:
    value = int(value_key(x, apart) != value_key(y, apart))
    return value, value


def _absolute(x: Any, y: Any, apart: bool) -> Enclosure:
    value = _gap(x, y)
    return value, value


def _gap(x: Any, y: Any) -> Number:
    """Distance of two numbers; infinite of a number and something else, and 0 of twice the same."""
    x, y = plain_value(x), plain_value(y)
    if value_key(x, False) == value_key(y, False):
        return 0
    finite = all(isinstance(each, int | float | Fraction | Decimal) and math.isfinite(each) for each in (x, y))
    return abs(Fraction(x) - Fraction(y)) if finite else math.inf


def _gaps(x: Any, y: Any) -> list[Number]:
    """Distances entry by entry; of maps, keys that one lacks count as 0. Infinite where the lengths differ."""
    if isinstance(x, Mapping) and isinstance(y, Mapping):
        return [_gap(x.get(key, 0), y.get(key, 0)) for key in {**x, **y}]
    first, second = _flat(x), _flat(y)
    return [_gap(a, b) for a, b in zip(first, second, strict=True)] if len(first) == len(second) else [math.inf]


def _flat(value: Any) -> list[Any]:
    value = plain_value(value)
    if isinstance(value, list | tuple):
        return [each for item in value for each in _flat(item)]
    return [value]


def _l1(x: Any, y: Any, apart: bool) -> Enclosure:
    value = _total(_gaps(x, y))
    return value, value


def _linf(x: Any, y: Any, apart: bool) -> Enclosure:
    value = max(_gaps(x, y), default=0)
    return value, value


def _l2(x: Any, y: Any, apart: bool) -> Enclosure:
    square = _total([each * each for each in _gaps(x, y)])
    return root(square) if square != math.inf else (math.inf, math.inf)


def _total(values: Sequence[Number]) -> Number:
    return math.inf if math.inf in values else sum(values, Fraction(0))


def root(square: Number) -> Enclosure:
    """Enclosure of a square root by fractions, exact where it is one."""
    fraction = Fraction(square)
    scale = 1 << 120
    whole = math.isqrt(fraction.numerator * fraction.denominator * scale * scale)
    lower = Fraction(whole, fraction.denominator * scale)
    return lower, lower if lower * lower == fraction else lower + Fraction(1, fraction.denominator * scale)


METRICS: Final = {
    each.name: each
    for each in (
        Metric(name="symmetric", enclose=_symmetric, datasets=True),
        Metric(name="insert-delete", enclose=_insert_delete, datasets=True),
        Metric(name="change-one", enclose=_change_one, datasets=True),
        Metric(name="hamming", enclose=_hamming, datasets=True),
        Metric(name="absolute", enclose=_absolute),
        Metric(name="l1", enclose=_l1),
        Metric(name="l2", enclose=_l2),
        Metric(name="linf", enclose=_linf),
        Metric(name="discrete", enclose=_discrete),
    )
}
"""Metrics by name."""
