"""Parities of bits: the transform against a sum term by term, reports of Hadamard responses, and nothing by chance."""

import math

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.learning.parities import _walsh, learn_parities
from dpaudit.auditors.learning.transforms import Identity, parity
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.outputs import as_outputs

EPSILON = 1.5
KEPT = math.exp(EPSILON) / (1 + math.exp(EPSILON))


def bits(number):
    return bin(number).count("1")


def hadamard(data, size, rng):
    """An index of 4,096, and the entry of the Hadamard matrix there and at the user's value, or its opposite."""
    index = rng.integers(0, 4096, size)
    sign = 1 - 2 * parity(index & data)
    return index, np.where(rng.random(size) < KEPT, sign, -sign)


FORMS = {
    "rows": lambda index, sign: np.column_stack([index, sign]),
    "dicts": lambda index, sign: [
        {"index": i, "bit": s > 0} for i, s in zip(index.tolist(), sign.tolist(), strict=True)
    ],
    "tuples": lambda index, sign: [(i, "+-"[s < 0]) for i, s in zip(index.tolist(), sign.tolist(), strict=True)],
}


def test_sums_of_counts_are_those_term_by_term():
    counts = np.random.default_rng(0).integers(0, 9, 32).astype(float)
    expected = [sum((-1) ** bits(i & j) * count for j, count in enumerate(counts)) for i in range(32)]
    assert np.array_equal(_walsh(counts), expected)
    numbers = np.arange(1 << 16)
    assert parity(numbers)[::771].tolist() == [bits(number) % 2 for number in numbers[::771].tolist()]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_the_bits_of_both_inputs_are_found_in_hadamard_responses(form):
    # Of the four agreements with the two inputs, the best event is the one with the first and not the second.
    bound = dpaudit.epsilon_lower_bound(
        lambda data, size, rng: FORMS[form](*hadamard(data, size, rng)), 1 << 9, 1 << 4, samples=20_000, seed=1
    )
    assert 1.3 < bound.epsilon <= EPSILON
    assert "0b10000" in str(bound.event)
    assert "0b1000000000" in str(bound.event)


@pytest.mark.slow
def test_a_parity_of_the_bits_of_one_number_is_found():
    def sample(data, size, rng):
        number = rng.integers(0, 4096, size)
        wrong = (parity(number & 0b101010101011) == data) != (rng.random(size) < KEPT)
        return number ^ wrong

    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000, seed=1)
    assert 1.3 < bound.epsilon <= EPSILON


@pytest.mark.slow
def test_chance_lets_few_parities_through():
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(200):
        rows = [as_outputs(np.column_stack(hadamard(5, 2000, rng))) for _ in range(2)]
        found += learn_parities(Identity(Columns()), *rows) is not None
    assert found <= 3


@pytest.mark.parametrize(
    "rows",
    [
        np.random.default_rng(0).normal(size=(500, 3)),
        np.full((500, 2), np.nan),
        np.random.default_rng(0).integers(-50, 50, (500, 2)),
        np.random.default_rng(0).integers(0, 1 << 40, (500, 2)),
    ],
    ids=["fractions", "not numbers", "below 0", "large"],
)
def test_other_numbers_have_no_parities(rows):
    assert learn_parities(Identity(Columns()), as_outputs(rows), as_outputs(rows[::-1])) is None
