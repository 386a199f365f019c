"""Whole numbers beyond double precision beside other values: their last bits are looked at."""

from typing import NamedTuple

import numpy as np
import pytest

import dpaudit


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


def test_they_are_written_as_two_numbers():
    def sample(data, size, rng):
        return [(2**70 + 5 * int(data), float(x)) for x in rng.normal(size=size)]

    found = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=2000, seed=3)
    assert found.event == {"output[0] % 2**32": ">= 5"} or found.event == {"output[0] % 2**32": "<= 0"}


def test_noise_beside_equal_long_integers_shows_nothing():
    def sample(data, size, rng):
        return [(2**60 + 1, float(x)) for x in rng.normal(size=size)]

    assert dpaudit.epsilon_lower_bound(sample, 0, 1, samples=6000, seed=3).epsilon == 0
