"""Gross violations are found in a few hundred outputs, and claims that hold are not refuted for that."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rates import counted, most
from scipy.stats import binom

import dpaudit
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.blackbox.sequential import EarlyTest
from dpaudit.auditors.blackbox.tasks import PairTask
from dpaudit.auditors.sampling.sampler import Sampler

FALSE_ALARM = 1e-6


def laplace(scale: float) -> Callable[..., Any]:
    return lambda data, size, rng: data + rng.laplace(0.0, scale, size)


def geometric(epsilon: float) -> Callable[..., Any]:
    share = 1 - math.exp(-epsilon)
    return lambda data, size, rng: data + rng.geometric(share, size) - rng.geometric(share, size)


def response(epsilon: float) -> Callable[..., Any]:
    return lambda data, size, rng: (rng.random(size) < 1 / (1 + math.exp(-epsilon))) == bool(data)


def leaking(epsilon: float, delta: float) -> Callable[..., Any]:
    """Randomized response that tells the input apart with probability delta."""

    def sample(data, size, rng):
        return np.where(rng.random(size) < delta, 10 + data, response(epsilon)(data, size, rng))

    return sample


def half_the_scale_in_rows(data, size, rng):
    rows = rng.laplace(0.0, 0.5, (size, 20))
    rows[:, 0] += data
    return rows


def half_the_scale_in_tuples(data, size, rng):
    return [(int(value), "count") for value in geometric(2.0)(data, size, rng)]


def without_noise(data, size, rng):
    return np.full(size, float(data))


def without_noise_for_half(data, size, rng):
    return data + rng.laplace(size=size) * (rng.random(size) < 0.5)


def two_answers(data, size, rng):
    """Each at the whole budget, so that it is spent twice."""
    return data + rng.laplace(size=(size, 2))


def two_whole_answers(data, size, rng):
    return np.stack([geometric(1.0)(data, size, rng) for _ in range(2)], axis=1)


def two_answers_in_dicts(data, size, rng):
    return [{"mean": mean, "count": count} for mean, count in two_answers(data, size, rng).tolist()]


def two_answers_in_frames(data, size, rng):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(two_answers(data, size, rng), columns=["mean", "count"])


GROSS = {
    "noise of half the scale": laplace(0.5),
    "whole noise of half the scale": geometric(2.0),
    "randomized response with twice the budget": response(2.0),
    "a row of which one number shows the input, at half the scale": half_the_scale_in_rows,
    "tuples at half the scale": half_the_scale_in_tuples,
    "two answers, each with the whole budget": two_answers,
    "two whole answers, each with the whole budget": two_whole_answers,
    "two answers in dicts": two_answers_in_dicts,
    "two answers in frames": two_answers_in_frames,
    "no noise": without_noise,
    "no noise in half of the outputs": without_noise_for_half,
}


def bet(sample, *, epsilon=1.0, delta=0.0, seed=0, confidence=0.999, samples=100_000, pairs=((0, 1),)):
    sampler = Sampler(sample, "m", Streams(seed, ("early",)))
    guarantee = dpaudit.ApproximateDP(epsilon, delta)
    test = EarlyTest(sampler, PairTask(guarantee=guarantee, samples=samples, alpha=1 - confidence, stop_early=True))
    found = test.run(list(pairs))
    return test, found


@pytest.mark.slow
@pytest.mark.parametrize("name", GROSS)
def test_gross_violations_take_500_outputs_per_input_or_fewer(name):
    """At a confidence of 0.999; a smaller one takes fewer."""
    within = beyond = 0
    # The median of 21: the first 11 on one side of it decide.
    for seed in range(21):
        test, found = bet(GROSS[name], seed=seed)
        assert not found or found[1].value > 1
        if found and test.drawn / 2 <= 500:
            within += 1
        else:
            beyond += 1
        if max(within, beyond) == 11:
            break
    assert within == 11


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sample", "delta"),
    [(response(1.0), 0.0), (geometric(1.0), 0.0), (leaking(1.0, 0.05), 0.05)],
    ids=["randomized response", "geometric", "leaking"],
)
def test_claims_that_hold_exactly_are_refuted_no_more_often_than_stated(sample, delta):
    """The bets have half of the error probability. At a small one few runs would show nothing."""
    confidence, alpha = 0.8, 0.1

    def is_refuted(seed):
        return bet(sample, delta=delta, seed=seed, confidence=confidence, samples=2000)[1] is not None

    refuted, made = counted(is_refuted, 200, alpha=alpha)
    assert refuted <= most(made, alpha)


@pytest.mark.slow
def test_the_bound_after_a_refutation_is_not_above_the_truth():
    """At a confidence of 0.6, where bounds are above the truth often enough to see it; the bets have 0.2 of it."""
    runs, above, refuted = 200, 0, 0
    for seed in range(runs):
        found = bet(response(1.6), seed=seed, confidence=0.6, samples=4000)[1]
        refuted += found is not None
        above += found is not None and found[1].value > 1.6
    assert refuted >= 0.9 * runs
    assert 0 < above <= binom.isf(FALSE_ALARM, runs, 0.2)


@pytest.mark.slow
def test_of_several_pairs_the_one_that_shows_it_is_named():
    def sample(data, size, rng):
        return (laplace(0.3) if data >= 5 else laplace(1.0))(data % 5 / 4, size, rng)

    pairs = [(0, 1), (1, 2), (2, 3), (3, 4), (5, 9)]
    for seed in range(5):
        test, found = bet(sample, seed=seed, pairs=pairs)
        assert found is not None
        assert found[0] == (5, 9)
        assert test.drawn <= 2 * 2000


@pytest.mark.slow
def test_a_function_of_two_inputs_is_refuted_early():
    bound = dpaudit.epsilon_lower_bound(laplace(0.5), 0, 1, claimed=1.0, stop_early=True, seed=3)
    assert bound.stopped_early
    assert bound.samples <= 2 * 1000
    assert 1 < bound.epsilon < 2
    assert bound.trials[0] == bound.trials[1] < 500
    assert bound == dpaudit.epsilon_lower_bound(laplace(0.5), 0, 1, claimed=1.0, stop_early=True, seed=3)


@pytest.mark.slow
def test_less_than_gross_is_left_to_larger_samples():
    bound = dpaudit.epsilon_lower_bound(laplace(0.9), 0, 1, claimed=1.0, stop_early=True, samples=400_000)
    assert bound.stopped_early
    assert 10_000 < bound.samples < 2 * 200_000
    assert 1 < bound.epsilon < 1 / 0.9
    holds = dpaudit.epsilon_lower_bound(laplace(1.0), 0, 1, claimed=1.0, stop_early=True, samples=20_000)
    assert not holds.stopped_early
    assert holds.samples == pytest.approx(40_000, rel=0.01)
    assert 0.8 < holds.epsilon < 1


class Noisy(dpaudit.Mechanism):
    """A number of 0 to 9 with noise of some scale."""

    scale: float = 1.0

    def sample(self, data, size, rng):
        return data + rng.laplace(0.0, self.scale, size)

    def neighbours(self):
        return dpaudit.Neighbouring(
            relation="by-one", pairs=[(i, i + 1) for i in range(9)], complete=True, scope="a number of 0 to 9"
        )


@pytest.mark.slow
def test_an_audit_stops_early():
    claim = dpaudit.PrivacyClaim(id="c", statement="", epsilon=1.0)
    budget = Budget(samples=100_000, stop_early=True)
    evidence = audit(Noisy(scale=0.4), claim, budget=budget, streams=Streams(1))
    assert evidence.verdict == "refuted"
    assert evidence.samples is not None
    assert evidence.samples < 10_000
    assert f"after {evidence.samples} outputs" in evidence.note
    assert "8 of 9 pairs searched" in evidence.scope
    assert evidence.witness.forces["epsilon"] == evidence.measured["epsilon"].lower > 1
    holds = audit(Noisy(), claim, budget=budget, streams=Streams(1))
    assert holds.verdict == "consistent"
    assert holds.samples == pytest.approx(200_000, rel=0.02)
