import math

import pytest

from dpaudit.claims.evidence import Interval
from dpaudit.reporting.numbers import format_interval, format_number, relation, telling_digits


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (100.0, "100"),
        (40000, "40000"),
        (123456789.0, "123456789"),
        (1234567.8, "1.235e6"),
        (2.1754206556575384, "2.175"),
        (0.1, "0.1"),
        (-0.00123456789, "-0.001235"),
        (1e-5, "1e-5"),
        (1.5e-300, "1.5e-300"),
        (1e22, "1e22"),
        (0.9999999999, "1"),
        (math.inf, "infinite"),
        (-math.inf, "minus infinite"),
        (math.nan, "not a number"),
    ],
)
def test_number(value: float, text: str) -> None:
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("value", "claimed", "text"),
    [(1.0000004, 1.0, "1.0000004"), (0.9999999, 1.0, "0.9999999"), (1.5, 1.0, "1.5"), (1.0, 1.0, "1")],
)
def test_number_beside_another_is_never_rounded_onto_it(value: float, claimed: float, text: str) -> None:
    assert format_number(value, against=claimed) == text


@pytest.mark.parametrize("claimed", [1.0, 0.6931471805599453, 1.0000003, 1e-9, 1.2345672, 123456.7, 5e-324])
@pytest.mark.parametrize("offset", [1e-3, 1e-7, 1e-12, 2e-16])
def test_bounds_are_printed_on_their_side_of_the_claimed_value(claimed: float, offset: float) -> None:
    for value in (claimed * (1 + offset), claimed * (1 - offset)):
        for interval in (
            Interval.exact(value),
            Interval(lower=value, upper=None),
            Interval(lower=None, upper=value),
            Interval(lower=value, upper=value * 1.3),
        ):
            digits = telling_digits(interval, claimed)
            printed = format_interval(interval, digits=digits)
            number = float(printed.removeprefix("at least ").removeprefix("at most ").split(" to ")[0])
            other = float(format_number(claimed, digits=digits))
            assert (number > other) == (value > claimed), printed
            assert (number < other) == (value < claimed), printed


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval.exact(2.1754), "2.175"),
        (Interval(lower=0.98, upper=None), "at least 0.98"),
        (Interval(lower=0.98, upper=math.inf), "at least 0.98"),
        (Interval(lower=None, upper=0.98), "at most 0.98"),
        (Interval(lower=0.12345678, upper=0.22345611), "0.1234 to 0.2235"),
        (Interval(lower=0.1, upper=0.3, estimate=0.2), "0.2 (0.1 to 0.3)"),
        (Interval(lower=None, upper=None, estimate=0.2), "about 0.2"),
        (Interval(lower=None, upper=None), "unknown"),
        (Interval.exact(math.inf), "infinite"),
    ],
)
def test_interval(interval: Interval, text: str) -> None:
    assert format_interval(interval) == text


@pytest.mark.parametrize(
    ("interval", "sign"),
    [
        (Interval.exact(1.0), "="),
        (Interval.exact(1.1), ">"),
        (Interval(lower=1.0, upper=1.1), ">="),
        (Interval(lower=0.9, upper=1.0), "<="),
        (Interval(lower=0.9, upper=None), ""),
        (Interval(lower=0.9, upper=1.1), ""),
        (Interval.exact(math.inf), ">"),
    ],
)
def test_relation_to_one(interval: Interval, sign: str) -> None:
    assert relation(interval, 1.0) == sign


def test_bounds_that_differ_by_rounding_are_one_number() -> None:
    assert format_interval(Interval(lower=1 / 3 - 1e-11, upper=1 / 3 + 1e-11)) == "0.3333"
    assert format_interval(Interval(lower=1 / 3 - 1e-9, upper=1 / 3 + 1e-9)) == "0.3333 to 0.3334"
    assert format_interval(Interval(lower=-1e-300, upper=1e-300)) == "-1e-300 to 1e-300"
