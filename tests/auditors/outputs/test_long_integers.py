"""Whole numbers beyond double precision beside other values: their last bits are looked at."""

from typing import NamedTuple

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.outputs.flat import _limbs, _parts_of_long
from dpaudit.auditors.outputs.outputs import Outputs


class Named(NamedTuple):
    count: int
    noise: float


def records(numbers, noise):
    made = np.zeros(len(noise), dtype=[("count", "i8"), ("noise", "f8")])
    made["count"], made["noise"] = numbers, noise
    return made


FORMS = {
    "tuples": lambda numbers, noise: list(zip(numbers, noise, strict=True)),
    "named tuples": lambda numbers, noise: list(map(Named, numbers, noise)),
    "dicts": lambda numbers, noise: [{"count": n, "noise": x} for n, x in zip(numbers, noise, strict=True)],
    "lists of two lengths": lambda numbers, noise: [
        [n, x, 0.5][: 2 + (x > 0)] for n, x in zip(numbers, noise, strict=True)
    ],
    "arrays": lambda numbers, noise: [(np.array([n, 3]), x) for n, x in zip(numbers, noise, strict=True)],
    "records": records,
    "rows": lambda numbers, noise: np.column_stack([np.array(numbers), np.round(100 * np.array(noise)).astype(int)]),
    "tables": lambda numbers, noise: np.array([[[n, round(100 * x)]] for n, x in zip(numbers, noise, strict=True)]),
    "tuples of whole numbers": lambda numbers, noise: [
        (n, round(100 * x)) for n, x in zip(numbers, noise, strict=True)
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("first", [2**53, 2**60, -(2**60)])
@pytest.mark.parametrize("form", FORMS)
def test_their_last_bits_are_seen(form, first):
    def sample(data, size, rng):
        # Randomized response at epsilon 2, written into the last bit.
        bits = (rng.random(size) < 1 / (1 + np.exp(2.0))) ^ bool(data)
        return FORMS[form]([first + int(bit) for bit in bits], rng.normal(size=size).tolist())

    found = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=6000, seed=3)
    assert 1.5 < found.epsilon <= 2


def test_rows_with_numbers_that_are_long_in_some_outputs_alone_stay_as_they_are():
    rng = np.random.default_rng(1)
    identifiers = np.column_stack([rng.integers(0, 2**60, 2000), rng.integers(0, 2, 2000)])
    long = np.column_stack([2**60 + rng.integers(0, 2, 2000), rng.integers(0, 2, 2000)])
    for rows, taken_apart in ((identifiers, False), (long, True), (long % 2, False)):
        columns = Outputs(rows[:1000]).columns_with(Outputs(rows[1000:]))
        assert columns.numeric is not taken_apart
        # How an output is looked at does not depend on those beside it.
        assert np.array_equal(columns(rows)[:5], np.concatenate([columns(row[None]) for row in rows[:5]]))


def test_no_rows_at_all_are_taken_apart_or_not_as_the_others_are():
    rows = np.array([[2**60, 1], [2**60 + 1, 0]])
    for some in (rows, rows % 2):
        assert Outputs(some).columns_with(Outputs(some[:0])).numeric is (some is not rows)
        assert Outputs(some[:0]).columns_with(Outputs(some[:0])).numeric


@pytest.mark.slow
def test_they_are_written_as_two_numbers():
    def sample(data, size, rng):
        return [(2**70 + 5 * int(data), float(x)) for x in rng.normal(size=size)]

    found = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=2000, seed=3)
    assert found.event == {"output[0] % 2**32": ">= 5"} or found.event == {"output[0] % 2**32": "<= 0"}


@pytest.mark.slow
def test_noise_beside_equal_long_integers_shows_nothing():
    def sample(data, size, rng):
        return [(2**60 + 1, float(x)) for x in rng.normal(size=size)]

    assert dpaudit.epsilon_lower_bound(sample, 0, 1, samples=6000, seed=3).epsilon == 0


@pytest.mark.slow
@pytest.mark.parametrize(("bits", "place"), [(96, 40), (128, 77), (256, 200)])
def test_any_bit_of_a_very_long_number_is_seen(bits, place):
    def sample(data, size, rng):
        told = (rng.random(size) < 0.7) ^ bool(data)
        numbers = [int.from_bytes(rng.bytes(bits // 8), "little") for _ in range(size)]
        return [n & ~(1 << place) | int(bit) << place for n, bit in zip(numbers, told.tolist(), strict=True)]

    found = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=8000, seed=3)
    assert 0.7 < found.epsilon <= np.log(7 / 3)


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (2**60 + 3, 2),
        (-(2**63), 2),
        (2**64 - 1, 2),
        (2**64, 4),
        (-(2**100) + 7, 4),
        (2**128 - 1, 4),
        (-(2**127), 4),
        (-(2**127) - 1, 8),
        (2**300 + 12345, 16),
        (-(2**900), 32),
    ],
)
def test_their_parts_are_the_number(value, count):
    limbs = _limbs(value)
    assert limbs == count
    parts = _parts_of_long(value, limbs)
    assert len(parts) == limbs
    assert sum(part << 32 * place for place, part in enumerate(reversed(parts))) == value
    assert -(2**31) <= parts[0] < 2**32
    assert all(0 <= part < 2**32 for part in parts[1:])


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [[2**60, 2**70], [2**64, -(2**64)], [3, 2**100], [2**2000, 2**2000 + 1]])
def test_numbers_of_any_length_are_counted_beside_each_other(numbers):
    def sample(data, size, rng):
        return [(numbers[bit], 0.5) for bit in ((rng.random(size) < 0.8) ^ bool(data)).astype(int)]

    found = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=4000, seed=3)
    assert 1.1 < found.epsilon <= np.log(4)


def test_events_of_numbers_that_python_does_not_write_are_hexadecimal():
    def sample(data, size, rng):
        return [10**6000 * int(rng.integers(1, 4)) + data for _ in range(size)]

    found = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=2000)
    assert set(found.event["any of"]) <= {hex(i * 10**6000 + data) for i in (1, 2, 3) for data in (0, 1)}
    assert "0x" in repr(found)
    assert found.epsilon > 4
