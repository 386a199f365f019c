"""Numbers as reports print them: short, and never rounded across the claimed value."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache

from dpaudit.claims.evidence import Interval
from dpaudit.claims.guarantees import ROUNDING

DIGITS = 4
_ALL_DIGITS = 17
_PLAIN_INTEGERS = 10**9
_REMEMBERED = 10_000
"""Numbers whose form is kept: a record says the same ones again and again."""


def format_number(value: float, *, digits: int = DIGITS, against: float | None = None) -> str:
    """Return a number in short form.

    Parameters
    ----------
    value
        Any number; whole numbers below a thousand million are printed in full.
    digits
        Significant digits.
    against
        A number beside which this one is read: as many digits more are printed as it takes to tell the two apart.
    """
    if against is not None:
        digits = max(digits, telling_digits(Interval.exact(value), against))
    return _format(value, digits, ROUND_HALF_EVEN)


def format_interval(interval: Interval, *, digits: int = DIGITS) -> str:
    """Return what is known of a quantity; a lower bound is rounded down and an upper bound up.

    Bounds that differ by no more than rounding, as those of a numerical enclosure do, are printed as one number.
    """
    lower, upper = _bounds(interval)
    if lower is not None and upper is not None and _is_one_number(interval, lower, upper):
        return _format(lower, digits, ROUND_HALF_EVEN)
    low = None if lower is None else _format(lower, digits, ROUND_FLOOR)
    high = None if upper is None else _format(upper, digits, ROUND_CEILING)
    known = low if low == high else f"{low} to {high}"
    if low is None or high is None:
        known = f"at least {low}" if low is not None else f"at most {high}" if high is not None else ""
    if interval.estimate is None:
        return known or "unknown"
    estimate = _format(interval.estimate, digits, ROUND_HALF_EVEN)
    return f"{estimate} ({known})" if known else f"about {estimate}"


def _is_one_number(interval: Interval, lower: float, upper: float) -> bool:
    if lower == upper:
        return True
    finite = math.isfinite(lower) and math.isfinite(upper)
    return interval.estimate is None and finite and upper - lower <= ROUNDING * min(abs(lower), abs(upper))


def relation(interval: Interval, claimed: float) -> str:
    """Return ``<``, ``<=``, ``=``, ``>=`` or ``>`` between a quantity and a number; empty where it is not known."""
    lower, upper = _bounds(interval)
    if lower is not None and lower == upper == claimed:
        return "="
    if lower is not None and lower >= claimed:
        return ">" if lower > claimed else ">="
    if upper is not None and upper <= claimed:
        return "<" if upper < claimed else "<="
    return ""


@lru_cache(_REMEMBERED)
def telling_digits(interval: Interval, claimed: float) -> int:
    """Digits, at least 4, at which all bounds are printed on the side of the claimed value where they lie."""
    lower, upper = _bounds(interval)
    exact = lower == upper
    printed = [
        (lower, ROUND_HALF_EVEN if exact else ROUND_FLOOR),
        (upper, ROUND_HALF_EVEN if exact else ROUND_CEILING),
        (interval.estimate, ROUND_HALF_EVEN),
    ]
    finite = [(value, way) for value, way in printed if value is not None and math.isfinite(value)]
    if not math.isfinite(claimed):
        return DIGITS
    for digits in range(DIGITS, _ALL_DIGITS):
        rounded = _rounded(claimed, digits, ROUND_HALF_EVEN)
        if all(
            _sign(_rounded(value, digits, way), rounded) == _sign(_exactly(value), _exactly(claimed))
            for value, way in finite
        ):
            return digits
    return _ALL_DIGITS


def _bounds(interval: Interval) -> tuple[float | None, float | None]:
    """Lower and upper bound, leaving out an infinite one that says nothing."""
    lower, upper = interval.lower, interval.upper
    return (
        None if lower == -math.inf and upper != -math.inf else lower,
        None if upper == math.inf and lower != math.inf else upper,
    )


@lru_cache(_REMEMBERED)
def _format(value: float, digits: int, way: str) -> str:
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    whole = _is_plain_integer(value)
    rounded = _exactly(value) if whole else _rounded(value, digits, way)
    exponent = rounded.adjusted()
    if whole or -5 < exponent < digits:
        return f"{rounded:f}"
    return f"{rounded.scaleb(-exponent).normalize():f}e{exponent}"


def _rounded(value: float, digits: int, way: str) -> Decimal:
    return Context(prec=digits, rounding=way).create_decimal(_exactly(value)).normalize()


def _is_plain_integer(value: float) -> bool:
    return abs(value) < _PLAIN_INTEGERS and value == int(value)


def _exactly(value: float) -> Decimal:
    """Return the number as Python prints it, so that 0.98 is 0.98 and not the binary fraction just below it."""
    return Decimal(int(value)) if _is_plain_integer(value) else Decimal(repr(float(value)))


def _sign(a: Decimal, b: Decimal) -> int:
    return (a > b) - (a < b)


def finite_number(value: object) -> float | None:
    """Return a number as floating point; None for what is no number, is not finite, or is too large."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
