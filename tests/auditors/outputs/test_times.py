"""Times, durations and long decimals are looked at as numbers that keep all that they say."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.outputs import coding_of, outcome_keys

CET = timezone(timedelta(hours=1), "CET")
NAIVE = datetime(2026, 3, 1, 12, 0, 0, 7)
VALUES = [
    NAIVE,
    NAIVE.replace(tzinfo=UTC),
    NAIVE.replace(tzinfo=CET),
    NAIVE + timedelta(microseconds=1),
    datetime(9999, 12, 31, tzinfo=UTC),
    date(2026, 3, 1),
    date(1, 1, 1),
    time(12, 0, 0, 7),
    time(12, 0, 0, 7, tzinfo=UTC),
    NAIVE.replace(fold=1),
    NAIVE.replace(tzinfo=CET, fold=1),
    time(12, 0, 0, 7, fold=1),
    timedelta(days=-3, microseconds=1),
    timedelta(microseconds=1),
    None,
    Decimal("-123456789012345678.90"),
    Decimal("123456789012345678.91"),
    Decimal("1.5"),
    Decimal("NaN"),
    Decimal.from_float(0.1),
]


def objects(items):
    made = np.empty(len(items), dtype=object)
    made[:] = items
    return made


def column(items, name):
    outputs = objects(items)
    columns = Columns.fit(outputs)
    return columns(outputs)[:, columns.names.index(name)].tolist()


def test_they_are_numbers():
    later = [NAIVE.replace(tzinfo=UTC) + timedelta(microseconds=i) for i in range(3)]
    first = int(datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()) * 10**6 + 7
    assert column(later, "output in microseconds") == [first, first + 1, first + 2]
    assert column([date(1970, 1, 1), date(1971, 1, 1)], "output in days") == [0, 365]
    assert column([time(0, 1), time(0, 0, 0, 5)], "output in microseconds") == [60_000_000, 5]
    assert column([-timedelta(days=1), timedelta(0)], "output in microseconds") == [-86_400_000_000, 0]
    long = [Decimal("123456789012345678.91"), Decimal("-123456789012345678.91")]
    assert column(long, "output in its last 12 digits") == [901234567891, 10**12 - 901234567891]


@pytest.mark.parametrize(
    "texts",
    [
        ("12345678901234567.1", "12345678901234567.10", "12345678901234567.1000000000000000"),
        ("-12345678901234567", "-12345678901234567.0"),
        ("123456789012345", "123456789012345.00", "1.23456789012345E+14"),
        ("150000000000000000", "1.5E+17", "150000000000000000.00"),
        ("0", "0.0000000000000000000", "0E+30", "-0"),
    ],
)
def test_decimals_of_one_value_are_one_number(texts):
    rest = [Decimal("-98765432109876543.21"), Decimal("0.5")]
    outputs = objects([(Decimal(text), "a") for text in texts] + [(value, "a") for value in rest])
    rows = Columns.fit(outputs)(outputs)
    assert len(np.unique(rows[: len(texts)], axis=0)) == 1
    assert len(np.unique(rows, axis=0)) == 3


def test_no_two_of_them_are_one():
    outputs = objects(VALUES)
    keys = outcome_keys(outputs, coding_of(outputs)).tolist()
    assert len(set(keys)) == len(VALUES)
    # Each has the key that it has in other company, and so do its columns.
    columns = Columns.fit(outputs)
    alone = [objects([value]) for value in VALUES]
    assert [outcome_keys(each, coding_of(outputs)).tolist()[0] for each in alone] == keys
    assert np.array_equal(np.concatenate([columns(each) for each in alone]), columns(outputs))


def test_those_of_numpy_and_pandas_are_numbers():
    days = [(np.datetime64("2026-01-01") + i, "a") for i in range(3)]
    assert column(days, "output[0] in its unit") == [20454, 20455, 20456]
    pandas = pytest.importorskip("pandas")
    moments = [pandas.Timestamp("2026-01-01", tz="UTC") + pandas.Timedelta(nanoseconds=1001 * i) for i in range(3)]
    first = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp()) * 10**6
    assert column(moments, "output in microseconds") == [first, first + 1, first + 2]
    assert column(moments, "output nanoseconds") == [0, 1, 2]
    missing = [pandas.NaT, np.datetime64("NaT"), np.datetime64("NaT", "s"), pandas.Timestamp(0)]
    outputs = objects([*moments, *missing])
    assert len(np.unique(outcome_keys(outputs, coding_of(outputs)))) == 7


def test_decimals_that_are_no_numbers_are_categories():
    items = [Decimal(1), Decimal("sNaN"), Decimal("NaN"), Decimal("-Infinity")]
    for wrap in (lambda item: item, lambda item: (item, "a"), lambda item: {"a": item}):
        outputs = objects([wrap(item) for item in items])
        assert len(np.unique(outcome_keys(outputs, coding_of(outputs)))) == 4
        rows = Columns.fit(outputs)(outputs)
        assert rows[[0, 3], 0].tolist() == [1, -1e300]
        assert (rows[:, 1] != 0).tolist() == [False, True, True, False]


@pytest.mark.parametrize("unit", ["us", "s", "D", "ns", "Y", "generic"])
def test_durations_of_numpy_are_numbers(unit):
    items = [np.timedelta64(i, unit) for i in (3, -2, "NaT")]
    pairs = [(item, "a") for item in items]
    assert column(pairs, "output[0] in its unit") == [3, -2, 0]
    assert [bool(kind) for kind in column(pairs, "kind of output[0] in its unit")] == [False, False, True]
    # Beside others, bare and inside of a dict.
    others = [np.timedelta64(3, "ms"), np.timedelta64("NaT", "ms"), np.datetime64(3, "s"), timedelta(3), 3]
    for wrap in (lambda item: item, lambda item: {"a": item, "b": 1}):
        outputs = objects([wrap(item) for item in [*items, *others]])
        assert len(np.unique(outcome_keys(outputs, coding_of(outputs)))) == 8
        assert len(Columns.fit(outputs)(outputs)) == 8


@pytest.mark.slow
@pytest.mark.parametrize(
    "made",
    [
        lambda v: (np.datetime64("2026-01-01", "ms") + np.timedelta64(round(1e6 * v), "ms"), "a"),
        lambda v: NAIVE + timedelta(seconds=v),
        lambda v: ("a", {"at": NAIVE.replace(tzinfo=CET) + timedelta(minutes=v)}),
        lambda v: timedelta(days=v),
        lambda v: (np.timedelta64(round(1e6 * v), "us"), "a"),
        lambda v: (NAIVE + timedelta(days=1000 * v)).date(),
    ],
)
def test_noise_that_shifts_them_is_measured(made):
    def sample(data, size, rng):
        return objects([made(v) for v in rng.laplace(data, size=size).tolist()])

    assert 0.8 < dpaudit.epsilon_lower_bound(sample, 0, 1, samples=10_000, seed=1).epsilon <= 1
