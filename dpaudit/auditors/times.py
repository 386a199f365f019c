"""Times, durations and long decimals as numbers that keep all that they say."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS, _LAST_DIGITS, _LEAST_EXPONENT = 15, 12, -12
"""Digits that double precision keeps of a Decimal; the last digits that are looked at of one with more, unless it has
more decimals than amounts have: those were made from a floating-point number, and only say how that was rounded."""

DECIMAL_PARTS = ("", f" in its last {_LAST_DIGITS} digits")
"""What a long decimal becomes."""

TIME_PARTS: dict[type, tuple[str, ...]] = {
    timedelta: (" in microseconds",),
    date: (" in days",),
    time: (" in microseconds", " zone"),
    datetime: (" in microseconds", " zone"),
}
"""What a time becomes, by its type. Types that are derived from these may hold more; they are compared as a whole."""


def time_values(item: Any) -> list[Any]:
    """Values of these parts."""
    return _VALUES[type(item)](item)


def is_long_decimal(value: Any) -> bool:
    """Whether a value is a decimal of more digits than double precision keeps."""
    if type(value) is not Decimal or not value.is_finite():
        return False
    _, digits, exponent = value.as_tuple()
    return len(digits) > _DIGITS and isinstance(exponent, int) and _LEAST_EXPONENT <= exponent <= 0


def last_digits(value: Decimal) -> int:
    """Remainder of the number without its point."""
    sign, digits, _ = value.as_tuple()
    last = int("".join(map(str, digits[-_LAST_DIGITS:])))
    return -last % 10**_LAST_DIGITS if sign else last


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


def _zone(item: time | datetime) -> str | None:
    return None if item.tzinfo is None else str(item.tzinfo)


_VALUES: dict[type, Callable[[Any], list[Any]]] = {
    timedelta: _of_duration,
    date: _of_date,
    time: _of_time,
    datetime: _of_datetime,
}
