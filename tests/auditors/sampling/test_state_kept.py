"""Mechanisms that keep a state are noticed from the outputs that are drawn anyway, and others hardly ever."""

from types import SimpleNamespace

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.outputs.checked_outputs import objects
from dpaudit.auditors.sampling import pace
from dpaudit.auditors.sampling.state_kept import StateKept, _keys


def coins(rng, size):
    return rng.integers(0, 2, size)


def mostly_zero(rng, size):
    return np.where(rng.random(size) < 0.02, rng.laplace(size=size), 0.0)


def rows(rng, size):
    return rng.laplace(size=(size, 3))


def dicts(rng, size):
    values = np.empty(size, dtype=object)
    values[:] = [{"count": value} for value in rng.integers(0, 3, size).tolist()]
    return values


@pytest.fixture
def clock(monkeypatch):
    """Time that passes only where a sampler takes it."""
    made = SimpleNamespace(now=0.0)
    monkeypatch.setattr(pace, "time", SimpleNamespace(time=lambda: made.now))
    return made


LAWS = [coins, mostly_zero, rows, dicts]


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_independent_calls_do_not_come_again(law):
    """Of 3,000 calls of every size."""
    rng, kept = np.random.default_rng(0), StateKept()
    assert not any(kept.comes_again("x", law(rng, int(size))) for size in rng.integers(1, 200, 3000))


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_independent_outputs_do_not_end(law, size):
    for seed in range(300):
        rng, kept = np.random.default_rng(seed), StateKept()
        kept.note_first("x", law(rng, min(size, 64)))
        for _ in range(3):
            kept.comes_again("x", law(rng, size))
            assert not kept.has_ended("x")


@pytest.mark.parametrize(("law", "size"), [(coins, 64), (rows, 64), (rows, 20), (dicts, 64)])
def test_a_generator_that_is_seeded_anew_comes_again(law, size):
    kept = StateKept()
    assert not kept.comes_again("x", law(np.random.default_rng(1), size))
    assert not kept.comes_again("y", law(np.random.default_rng(1), size))
    assert kept.comes_again("x", law(np.random.default_rng(1), size))


@pytest.mark.parametrize(
    ("law", "first", "later"), [(rows, 3, 3000), (rows, 64, 30), (coins, 64, 100), (dicts, 64, 100)]
)
def test_constants_at_the_end_are_unlike_the_first_outputs(law, first, later):
    rng, kept = np.random.default_rng(2), StateKept()
    kept.note_first("x", law(rng, first))
    kept.comes_again("x", law(rng, 10))
    assert not kept.has_ended("x")
    constant = law(rng, 1)
    for _ in range(later // 10):
        kept.comes_again("x", np.repeat(constant, 10, axis=0))
    assert kept.has_ended("x")
    # One other output ends what was equal.
    kept.comes_again("x", law(rng, 5))
    assert not kept.has_ended("x")


def test_how_a_number_is_given_makes_no_difference():
    kept = StateKept()
    kept.note_first("x", np.array([0.0, -0.0, 0.0] * 20))
    kept.comes_again("x", np.zeros(100_000, dtype=int))
    kept.comes_again("x", np.array([0, 0.0, False, np.float32(0)] * 100, dtype=object))
    assert not kept.has_ended("x")


def test_inputs_without_a_key_are_left_alone():
    kept = StateKept()
    kept.note_first(None, np.arange(50.0))
    assert not any(kept.comes_again(None, np.zeros(100)) for _ in range(10))
    assert not kept.has_ended(None)


@pytest.mark.parametrize("form", ["numbers", "integers", "dicts"])
@pytest.mark.parametrize("stop_early", [False, True])
def test_a_generator_of_its_own_that_is_seeded_in_every_call_is_refused(form, stop_early):
    """Otherwise the outputs that choose an event would be those that judge it."""

    def sample(data, size, rng):
        noise = data + np.random.default_rng(5).laplace(size=size)
        if form == "numbers":
            return noise
        whole = np.floor(noise).astype(int)
        return whole if form == "integers" else [{"count": value} for value in whole.tolist()]

    with pytest.raises(dpaudit.CheckError, match="seed its generator in every call"):
        dpaudit.epsilon_lower_bound(sample, 0, 1, samples=3000, claimed=1.0, stop_early=stop_early, own_randomness=True)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("each", "seconds"), [(0.02, 4.0), (0.005, 3.0), (0.02, 20.0), (0.1, 60.0)])
def test_a_seed_in_every_call_is_noticed_in_short_calls_too(clock, each, seconds, seed):
    def sample(data, size, rng):
        clock.now += each * size
        return data + np.random.default_rng(seed).laplace(size=size)

    with pytest.raises(dpaudit.CheckError, match="seed its generator in every call"):
        dpaudit.epsilon_lower_bound(sample, 0, 1, seconds=seconds, seed=seed, own_randomness=True)


def test_a_seed_in_every_call_is_noticed_in_answers_of_two_values():
    def sample(data, size, rng):
        return (np.random.default_rng(5).random(size) < 0.8) == bool(data)

    with pytest.raises(dpaudit.CheckError, match="seed its generator in every call"):
        dpaudit.epsilon_lower_bound(sample, 0, 1, samples=3000, own_randomness=True)


HONEST = {
    "lists of two lengths": lambda data, size, rng: [
        [0.0, 0.0] if u > 0.01 else [1.0 + data] for u in rng.random(size).tolist()
    ],
    "rarely None in a tuple": lambda data, size, rng: [(0, 0) if u > 0.01 else (0, None) for u in rng.random(size)],
    "rarely None": lambda data, size, rng: [np.zeros(3) if u > 0.01 else None for u in rng.random(size)],
    "another type in small calls": lambda data, size, rng: [
        {"n": int(number)} if size > 1000 else {"n": number}
        for number in np.where(rng.random(size) < 0.001, 1 + data, 0)
    ],
    "sets and no objects": lambda data, size, rng: [
        {"a", 1} if u > 0.02 else {1.0, "a", u} for u in rng.random(size).tolist()
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("own_randomness", [False, True])
@pytest.mark.parametrize("case", HONEST)
def test_honest_outputs_are_not_refused_in_whatever_form_they_come(case, own_randomness):
    for seed in range(5):
        options = {"samples": 3000, "seed": seed, "own_randomness": own_randomness}
        assert dpaudit.epsilon_lower_bound(HONEST[case], 0, 1, **options).epsilon >= 0


@pytest.mark.parametrize("own_randomness", [False, True])
@pytest.mark.parametrize(("call", "each", "budget"), [(0.3, 0.001, 100), (0.06, 0.002, 100), (1.0, 0.001, 20)])
def test_a_budget_that_is_used_up_within_a_deadline_is_refused(clock, own_randomness, call, each, budget):
    """A call takes too long to be made again when the time is over."""
    left = [budget]

    def sample(data, size, rng):
        clock.now += call + each * size
        outputs = data + rng.laplace(scale=0.1, size=size) if left[0] > 0 else np.zeros(size)
        left[0] -= size
        return outputs

    with pytest.raises(dpaudit.CheckError, match=r"keeps a state|different outputs for the same|depend on the call"):
        dpaudit.epsilon_lower_bound(sample, 0, 1, seconds=12, claimed=1.0, own_randomness=own_randomness)
    assert clock.now < 14


@pytest.mark.parametrize("dtype", [bool, "i2", "u8", "f4", "f8", np.longdouble])
@pytest.mark.parametrize("shape", [(40,), (40, 3), (40, 2, 2)])
def test_outputs_of_an_array_have_the_keys_that_they_have_in_a_list(dtype, shape):
    outputs = (np.random.default_rng(1).normal(size=shape) * 3).astype(dtype)
    outputs[0] = 0 * outputs[0]
    assert _keys(outputs) == _keys(objects(list(outputs)))
    assert _keys(-outputs if dtype is not bool else outputs)[0] == _keys(objects(list(outputs)))[0]
