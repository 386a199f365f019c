"""What the black-box auditor must find: rare decisive events, and events of every shape, at modest budgets.

Every row names what a right auditor finds with a wide margin; the truth is the reader's to compute.
"""

import math
from dataclasses import dataclass, field

import numpy as np
import pytest

import dpaudit


def structured(items):
    outputs = np.empty(len(items), dtype=object)
    outputs[:] = items
    return outputs


# Rare events: probability 1e-4 on the first input, none on the second.

RARE = 1e-4


def rarely(data, size, rng):
    """Where the leak shows."""
    return rng.random(size) < RARE * data


def atom(data, size, rng):
    return np.where(rarely(data, size, rng), 0.25, rng.laplace(size=size))


def far_tail(data, size, rng):
    return rng.laplace(size=size) + 1000 * rarely(data, size, rng)


def needle(data, size, rng):
    return np.where(rarely(data, size, rng), 3 + 1e-6 * rng.random(size), rng.laplace(size=size))


def outcome(data, size, rng):
    return np.where(rarely(data, size, rng), 444, rng.integers(0, 1000, size) ** 2)


def string(data, size, rng):
    names = np.array([f"user {i}" for i in range(1000)] + ["user 444a"])
    return names[np.where(rarely(data, size, rng), 1000, rng.integers(0, 1000, size))]


def coordinate(data, size, rng):
    rows = rng.normal(size=(size, 5))
    rows[rarely(data, size, rng), 3] = 1.0
    return rows


def far_coordinate(data, size, rng):
    rows = rng.normal(size=(size, 5))
    rows[:, 3] += 30 * rarely(data, size, rng)
    return rows


# At delta = 0 with about 80 hits against none: log(80 / 7) - 0.3 at confidence 0.999.
RARE_EVENTS = [atom, far_tail, needle, outcome, string, coordinate, far_coordinate]


@pytest.mark.parametrize("sample", [atom, far_tail, outcome, pytest.param(string, marks=pytest.mark.slow)])
def test_rare_decisive_events_are_found(sample):
    bound = dpaudit.epsilon_lower_bound(sample, 1, 0, samples=2_000_000, seed=1)
    # Some 160 occurrences against none; Clopper and Pearson give log(160 / 7) and a little less.
    assert 2.2 < bound.epsilon < math.log(230 / 7)
    assert bound.hits[1] <= 3
    assert not bound.reverse


@pytest.mark.slow
@pytest.mark.parametrize("sample", [coordinate, far_coordinate])
def test_rare_decisive_values_of_one_coordinate_are_found(sample):
    assert dpaudit.epsilon_lower_bound(sample, 1, 0, samples=2_000_000, seed=1).epsilon > 2.0


def test_rare_events_are_found_from_either_side():
    forth, back = (dpaudit.epsilon_lower_bound(atom, *pair, samples=1_000_000, seed=1) for pair in ((1, 0), (0, 1)))
    assert (forth.reverse, back.reverse) == (False, True)
    assert min(forth.epsilon, back.epsilon) > 1.5


def test_the_bound_of_an_infinite_epsilon_grows_with_the_budget():
    """Noise on one side only reaches beyond 1.5 with probability 0.05: no floor on q limits the bound."""

    def sample(data, size, rng):
        return rng.random(size) + (rng.random(size) < 0.05) * data

    budgets = [20_000, 200_000, 2_000_000]
    bounds = [dpaudit.epsilon_lower_bound(sample, 1, 0, samples=samples, seed=1).epsilon for samples in budgets]
    for samples, bound in zip(budgets, bounds, strict=True):
        # 0.8 of the samples decide; nothing in n trials bounds q by log(1000) / n.
        assert bound > math.log(0.8 * samples * 0.05 / math.log(1000)) - 0.5
    assert bounds[-1] > math.log(100) + 3


def test_an_event_of_probability_a_millionth_is_no_bar_to_a_large_bound():
    """Outputs that decide, one in 2^20 under the second input, as the first input's are all decisive."""

    def sample(data, size, rng):
        return rng.random((size, 20)) < (0.5 if data else 1.0)

    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=200_000, seed=1)
    assert bound.epsilon > math.log(160_000 / 7) - 0.5
    assert bound.hits[1] <= 5


# Events of every shape.


def two_sided(data, size, rng):
    """Wider noise: both tails decide, and neither half-line does."""
    return rng.normal(scale=1 + data, size=size)


def middle(data, size, rng):
    return np.where(rng.random(size) < 0.2 * data, rng.uniform(-0.1, 0.1, size), rng.uniform(-10, 10, size))


def xor(data, size, rng):
    """Either bit is fair; only both together tell."""
    bits = rng.random((size, 6)) < 0.5
    bits[:, 4] = bits[:, 1] ^ (rng.random(size) < (0.9 if data else 0.1))
    return bits


def xor_of_signs(data, size, rng):
    rows = rng.normal(size=(size, 4))
    rows[:, 2] = np.abs(rows[:, 2]) * np.sign(rows[:, 0]) * np.where(rng.random(size) < 0.8, 1, -1) * (2 * data - 1)
    return rows


def cumulative_sums(data, size, rng):
    """The tenth step is larger: nothing in any one sum, much in a difference."""
    steps = rng.laplace(size=(size, 12))
    steps[:, 9] += 2 * data
    steps[:, 0] += rng.normal(scale=50, size=size)
    return np.cumsum(steps, axis=1)


def weak_columns(data, size, rng):
    return 0.25 * data + rng.laplace(size=(size, 20))


def opposed_columns(data, size, rng):
    return 0.25 * data * np.where(np.arange(20) % 2, 1, -1) + rng.laplace(size=(size, 20))


BUCKETS, KEEP = 4, math.exp(2) / (math.exp(2) + 3)
TABLES = np.random.default_rng(0).integers(0, BUCKETS, (8, 1000))
"""Bucket of each of 8 values under each of 1000 hash functions."""


def local_hashing(data, size, rng):
    number = rng.integers(0, 1000, size)
    bucket = TABLES[data, number]
    other = (bucket + rng.integers(1, BUCKETS, size)) % BUCKETS
    return np.column_stack([TABLES[:, number].T, np.where(rng.random(size) < KEEP, bucket, other)])


FACTOR = np.linalg.cholesky(0.1 * np.eye(6) + 0.9)


def correlated(data, size, rng):
    """Noise that moves all numbers together hides a shift of one in each, but not in their differences."""
    rows = rng.normal(size=(size, 6)) @ FACTOR.T
    rows[:, 2] += 0.8 * data
    return rows


def hundred(data, size, rng):
    return 0.2 * data + rng.normal(size=(size, 100))


def ragged(data, size, rng):
    """Numbers of markers, and in one of the forms a number that tells."""
    lengths, values = rng.geometric(0.4, size), rng.laplace(size=size) + 2 * data
    return structured(
        [("below",) * int(n) + ((float(v),) if n < 3 else ("stop",)) for n, v in zip(lengths, values, strict=True)]
    )


def rankings(data, size, rng):
    """Items by noisy scores; those of the last two are the other way round."""
    scores = np.array([0.0, 0.0, 0.0, 1.0, -1.0] if data else [0.0, 0.0, 0.0, -1.0, 1.0])
    return np.argsort(scores + rng.gumbel(size=(size, 5)), axis=1)


def mixed(data, size, rng):
    return np.where(rng.random(size) < 0.3, -1.0, data + rng.laplace(size=size))


@dataclass(frozen=True)
class Case:
    """What is sampled, how often, and the epsilon that the bound must exceed, below the true one."""

    sample: object
    samples: int
    least: float
    true: float = math.inf
    delta: float = 0.0
    pair: tuple = field(default=(0, 1))


def normal_epsilon(distance, delta):
    return dpaudit.compare(dpaudit.GaussianLaw(distance, 1), dpaudit.GaussianLaw(0, 1)).epsilon(delta).upper
