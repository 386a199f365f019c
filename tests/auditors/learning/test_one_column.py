"""Where one number tells the inputs apart, the event is about that number, and nothing that is beside it."""

import numpy as np
import pytest

import dpaudit

EPSILON = 1.0


def with_a_label(data, size, rng):
    labels = rng.integers(0, 4, size).tolist()
    return [
        {"count": data + value, "city": "abcd"[label]}
        for value, label in zip(rng.laplace(size=size), labels, strict=True)
    ]


def with_a_constant_and_a_label(data, size, rng):
    labels = rng.integers(0, 3, size).tolist()
    return [
        {"mean": data + value, "n": 100, "who": "xyz"[i]}
        for value, i in zip(rng.laplace(size=size), labels, strict=True)
    ]


def with_noise(data, size, rng):
    rows = rng.laplace(size=(size, 8))
    rows[:, 3] += data
    return rows


def kept_zeros(data, size, rng):
    """A histogram whose empty bins get no noise."""
    counts = np.zeros(30)
    counts[:7], counts[7] = 20, 2 * data
    rows = counts + rng.laplace(size=(size, 30)) * (counts > 0)
    return np.where(rows < 1, 0.0, rows)


COLUMNS = {with_a_label: "count", with_a_constant_and_a_label: "mean", with_noise: "output[3]", kept_zeros: "output[7]"}


@pytest.mark.slow
@pytest.mark.parametrize("sample", COLUMNS)
def test_the_event_is_about_the_column_that_tells(sample):
    """In at least three of four audits: now and then another score is far ahead by luck."""
    found = [dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000, seed=seed) for seed in range(4)]
    plain = [bound for bound in found if len(bound.event) == 1 and COLUMNS[sample] in next(iter(bound.event))]
    assert len(plain) >= 3
    assert np.mean([bound.epsilon for bound in found]) > (5 if sample is kept_zeros else 0.9 * EPSILON)


@pytest.mark.slow
def test_many_columns_that_tell_are_not_left_for_one():
    """Each of 20 numbers says a little; all of them together say several times as much."""

    def sample(data, size, rng):
        return 0.2 * data + rng.laplace(size=(size, 20))

    assert dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000, seed=1).epsilon > 1.0
