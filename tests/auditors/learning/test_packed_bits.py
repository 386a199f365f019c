"""Bits of whole numbers: unpacked against Python's own, reports of bit vectors, and what is no bit vector."""

import math

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.learning.packed import learn_bits, unpacked_transform
from dpaudit.auditors.learning.transforms import Unpacked
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.outputs import as_outputs

SET, UNSET = 0.7, 0.4
TRUTH = 2 * math.log(SET * (1 - UNSET) / (UNSET * (1 - SET)))
OWN = ((3, 17), (22, 30))


def bits_of(data, size, rng, own=OWN):
    """Bits of a Bloom filter with permanent noise, as RAPPOR reports them."""
    bits = rng.random((size, 32)) < UNSET
    bits[:, own[data]] = rng.random((size, 2)) < SET
    return bits


def packed(bits):
    return bits @ (1 << np.arange(32))


def in_cohorts(data, size, rng):
    """A cohort of 16, which decides which bits a value has."""
    own = np.random.default_rng(0).permuted(np.tile(np.arange(32), (16, 1)), axis=1)[:, :4]
    cohort = rng.integers(0, 16, size)
    bits = rng.random((size, 32)) < UNSET
    for place in own[cohort][:, 2 * data : 2 * data + 2].T:
        bits[np.arange(size), place] = rng.random(size) < SET
    return np.column_stack([cohort, packed(bits)])


SAMPLERS = {
    "numbers": lambda data, size, rng: packed(bits_of(data, size, rng)),
    "fractions": lambda data, size, rng: packed(bits_of(data, size, rng)).astype(float),
    "dicts": lambda data, size, rng: [
        {"flags": flags, "day": day}
        for flags, day in zip(packed(bits_of(data, size, rng)).tolist(), rng.normal(size=size).tolist(), strict=True)
    ],
    "two words": lambda data, size, rng: np.column_stack(
        [rng.integers(0, 1 << 40, size), packed(bits_of(data, size, rng))]
    ),
    "cohorts": in_cohorts,
}


@pytest.mark.slow
@pytest.mark.parametrize("form", SAMPLERS)
def test_the_bits_that_a_report_holds_are_put_together(form):
    bound = dpaudit.epsilon_lower_bound(SAMPLERS[form], 0, 1, samples=100_000, confidence=0.9, seed=2)
    assert 0.9 * TRUTH < bound.epsilon < TRUTH
    assert "bit 17 of" in str(bound.event) or form == "cohorts"


@pytest.mark.slow
def test_bits_that_say_nothing_refute_no_more_often_than_stated():
    def sample(data, size, rng):
        return SAMPLERS["two words"](0, size, rng)

    found = [dpaudit.epsilon_lower_bound(sample, 0, 1, samples=2000, confidence=0.8, seed=seed) for seed in range(60)]
    # With probability 0.2 each, more than 23 come once in 3,000 such tests.
    assert sum(bound.epsilon > 0 for bound in found) <= 23


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64])
def test_bits_are_those_of_python(dtype):
    rng = np.random.default_rng(1)
    numbers = np.r_[0, 1, 2**53 - 1, rng.integers(0, 2**53, 50)].astype(dtype)
    rows = np.column_stack([numbers, np.arange(len(numbers)).astype(dtype)])
    made = Unpacked(Columns(), (53, 0)).of_rows(rows)
    assert made.shape == (len(rows), 54)
    assert np.array_equal(made[:, 53], rows[:, 1].astype(float))
    for number, bits in zip(numbers.tolist(), made[:, :53].astype(int).tolist(), strict=True):
        assert sum(bit << place for place, bit in enumerate(bits)) == int(number)


def test_all_64_bits_of_whole_numbers_are_unpacked():
    numbers = np.array([2**64 - 1, 2**63, 5], dtype=np.uint64)[:, None]
    made = Unpacked(Columns(), (64,)).of_rows(numbers)
    assert made.sum(axis=1).tolist() == [64, 1, 2]
    # Of fractions, none is whole there.
    assert not Unpacked(Columns(), (64,)).of_rows(np.array([[1e300], [-1.0]])).any()


@pytest.mark.parametrize(
    "rows",
    [
        np.random.default_rng(0).normal(size=(500, 3)),
        np.random.default_rng(0).integers(-50, 5000, (500, 2)),
        np.random.default_rng(0).integers(0, 100, (500, 2)),
        np.full((500, 2), np.nan),
    ],
    ids=["fractions", "below 0", "few values", "not numbers"],
)
def test_other_numbers_are_not_unpacked(rows):
    assert unpacked_transform(Columns(), as_outputs(rows), as_outputs(rows[::-1])) is None


def test_numbers_beyond_256_bits_altogether_stay():
    rng = np.random.default_rng(0)
    rows = as_outputs(rng.integers(0, 2**60, (500, 5)) | 1 << 59)
    assert unpacked_transform(Columns(), rows, rows).bits == (60, 60, 60, 60, 0)


@pytest.mark.parametrize("odd", [math.inf, math.nan, 1e300])
def test_a_later_number_that_is_none_of_64_bits_does_no_harm(odd):
    numbers = np.random.default_rng(0).integers(0, 1 << 30, (5000, 1)).astype(float)
    rows = as_outputs(np.r_[numbers, [[odd]]])
    assert unpacked_transform(Columns(), rows, rows).bits == (64,)
    assert learn_bits(unpacked_transform, Columns(), rows, as_outputs(numbers[::-1])) is None
