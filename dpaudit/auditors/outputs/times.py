"""Times, durations and long decimals as numbers that keep all that they say."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np

_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS, _LAST_DIGITS, _LEAST_EXPONENT = 15, 12, -12
"""Digits that double precision keeps of a Decimal; the last digits that are looked at of one with more, unless it has
more decimals than amounts have: those were made from a floating-point number, and only say how that was rounded."""

_DECIMALS = (2, 6, -_LEAST_EXPONENT)
"""Decimals with which one is written out, the first that are enough: those of cents do not depend on their zeros."""

DECIMAL_PARTS = ("", f" in its last {_LAST_DIGITS} digits")
"""What a long decimal becomes."""

_PARTS: dict[type, tuple[str, ...]] = {
    timedelta: (" in microseconds",),
    date: (" in days",),
    time: (" in microseconds", " zone"),
    datetime: (" in microseconds", " zone"),
    np.datetime64: (" in its unit", " unit"),
    np.timedelta64: (" in its unit", " unit"),
}
"""What a time becomes, by its type."""

_NANOSECONDS = (" in microseconds", " nanoseconds", " zone")
"""What times and durations of pandas become, which are derived from those of the standard library."""

TIME_NAMES = frozenset([*_PARTS.values(), _NANOSECONDS])
"""All such names."""


@cache
def time_parts(kind: Any) -> tuple[str, ...] | None:
    """Names of what times and durations of a type become; None of other types, which may hold more than their time."""
    if issubclass(kind, datetime | timedelta) and hasattr(kind, "to_numpy"):
        return _NANOSECONDS
    return _PARTS.get(kind)


def time_values(item: Any) -> list[Any]:
    """Values of these parts."""
    if type(item) in _VALUES:
        return _VALUES[type(item)](item)
    # One that is not a time, as pandas marks what is missing, differs from itself.
    microseconds, rest = divmod(int(item.value), 1000) if item == item else (None, None)
    return [microseconds, rest, _zone(item)]


def is_long_decimal(value: Any) -> bool:
    """Whether a value is a decimal of more digits than double precision keeps."""
    if type(value) is not Decimal or not value.is_finite() or not value:
        return False
    digits, exponent = _significant(value)
    return len(digits) + max(exponent, 0) > _DIGITS and exponent >= _LEAST_EXPONENT


def last_digits(value: Decimal) -> int:
    """Remainder of the number without its point, which depends on its value alone: 1.10 is 1.1."""
    digits, exponent = _significant(value)
    zeros = exponent + next(decimals for decimals in _DECIMALS if exponent >= -decimals)
    written = "".join(map(str, digits[-_LAST_DIGITS:])) + "0" * min(zeros, _LAST_DIGITS)
    last = int(written[-_LAST_DIGITS:])
    return -last % 10**_LAST_DIGITS if value.is_signed() else last


def _significant(value: Decimal) -> tuple[tuple[int, ...], int]:
    """Digits and exponent of a finite number other than 0, without the zeros at the end of its decimals."""
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    end = len(digits)
    while exponent < 0 and digits[end - 1] == 0:
        end, exponent = end - 1, exponent + 1
    return digits[:end], exponent


def _of_duration(item: timedelta) -> list[Any]:
    return [item // _MICROSECOND]


def _of_date(item: date) -> list[Any]:
    return [item.toordinal() - _EPOCH.toordinal()]


def _of_time(item: time) -> list[Any]:
    seconds = (item.hour * 60 + item.minute) * 60 + item.second
    return [seconds * 1_000_000 + item.microsecond, _zone(item)]


def _of_datetime(item: datetime) -> list[Any]:
    # Without a zone, as if it were in that of the epoch: one with a zone has another value at the second place.
    zoned = item if item.utcoffset() is not None else item.replace(tzinfo=UTC)
    return [(zoned - _EPOCH) // _MICROSECOND, _zone(item)]


def _of_array(item: np.datetime64 | np.timedelta64) -> list[Any]:
    unit, count = np.datetime_data(item.dtype)
    return [None if np.isnat(item) else int(item.astype(np.int64)), f"{count} {unit}"]


def _zone(item: Any) -> str | None:
    """Zone of a time, and whether it is the second of two that clocks show alike."""
    zone, fold = getattr(item, "tzinfo", None), getattr(item, "fold", 0)
    known = [*([] if zone is None else [str(zone)]), *(["fold=1"] if fold else [])]
    return ", ".join(known) or None


_VALUES: dict[type, Callable[[Any], list[Any]]] = {
    timedelta: _of_duration,
    date: _of_date,
    time: _of_time,
    datetime: _of_datetime,
    np.datetime64: _of_array,
    np.timedelta64: _of_array,
}
