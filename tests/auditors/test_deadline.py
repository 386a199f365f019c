"""Audits that a deadline ends, on a clock that the samplers themselves turn on."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom

import dpaudit
from dpaudit.auditors import Budget, Streams, audit, pace, pair
from dpaudit.auditors.pace import LONG, Pace
from dpaudit.statistics import log_ratio_lower

FALSE_ALARM = 1e-6
CALL = 1 << 16


class Clock:
    """Time in seconds, which passes only where a sampler takes it."""

    def __init__(self):
        self.now = 0.0

    def time(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(pace, "time", SimpleNamespace(time=made.time))
    return made


def response(epsilon, data, size, rng):
    return (rng.random(size) < 1 / (1 + math.exp(-epsilon))) == bool(data)


def slow(clock, true, claimed, *, delta=0.0, law=False, likelihood=False):
    """Randomized response at the true epsilon, of which every second output takes a second of the clock's 65,536."""

    class Slow(dpaudit.Mechanism):
        def sample(self, data, size, rng):
            clock.now += size / CALL
            return response(true, data, size, rng)

        def neighbours(self):
            return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")

    if law:
        keep = 1 / (1 + math.exp(-true))
        Slow.law = lambda self, data: dpaudit.FiniteLaw.from_probabilities(
            [False, True], [1 - keep, keep] if data else [keep, 1 - keep]
        )
    if likelihood:
        Slow.log_likelihood = lambda self, outputs, data: np.where(outputs == bool(data), true, 0.0)
    return Slow(), dpaudit.PrivacyClaim(id="c", statement="", epsilon=claimed, delta=delta)


def decide(target, claim, deadline, **budget):
    budget = Budget(samples=1_000_000, deadline=deadline, **budget)
    return audit(target, claim, budget=budget, streams=Streams(1))


def test_before_there_is_an_event(clock):
    evidence = decide(*slow(clock, 1.0, 1.0), 3.0)
    assert evidence.verdict == "inconclusive"
    # The clock stands at 3 after the third call, so that three are the last.
    assert evidence.samples == 3 * CALL
    assert f"after {3 * CALL} of 2000000 samples" in evidence.note
    assert "--seconds" in evidence.note
    assert not evidence.measured


@pytest.mark.parametrize(("true", "verdict"), [(1.0, "inconclusive"), (1.2, "refuted")])
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_in_the_middle_of_the_final_sample(clock, true, verdict, delta):
    evidence = decide(*slow(clock, true, 1.0, delta=delta), 15.0)
    assert evidence.verdict == verdict
    assert 15 * CALL <= evidence.samples + 2 * CALL <= 18 * CALL
    assert "of 2000000 samples" in evidence.note
    assert 0.9 < evidence.measured["epsilon"].lower <= true
    assert (evidence.witness is None) == (verdict == "inconclusive")
    assert "detection_limit" not in evidence.measured or verdict == "refuted"


def test_a_deadline_that_is_not_reached_costs_little(clock):
    target, claim = slow(clock, 1.0, 1.0)
    free, timed = (decide(target, claim, deadline) for deadline in (None, 1e9))
    assert free.verdict == timed.verdict == "consistent"
    assert free.samples == timed.samples
    bounds = [evidence.measured["epsilon"].lower for evidence in (timed, free)]
    assert bounds[1] - 0.002 < bounds[0] < bounds[1]


@pytest.mark.slow
def test_a_clock_that_runs_out_whenever_it_looks_bad(monkeypatch, clock):
    """Sampling ends as soon as the bound for a fixed sample exceeds the claim, which is more often than it may.

    Were that bound reported, more than half of these runs would refute a claim that is true.
    """
    p, q, confidence, runs = 0.5, 0.1, 0.8, 200
    alpha = 0.7 * (1 - confidence)  # what a rarer event leaves
    claim = dpaudit.PrivacyClaim(id="c", statement="", epsilon=math.log(p / q))
    monkeypatch.setattr(pair, "CHUNK", 15)
    hits, chosen = [0, 0], [False]

    class Adversary(dpaudit.Mechanism):
        def sample(self, data, size, rng):
            outputs = rng.random(size) < (p if data else q)
            if size > 100:  # choosing the event
                hits[:] = 0, 0
                chosen[0] = True
            elif chosen[0]:
                hits[data] += int(outputs.sum())
                if data == 1:
                    bound = log_ratio_lower(hits[1], hits[0], alpha=alpha)
                    clock.now = float(bound > claim.guarantee.claimed)
            return outputs

        def neighbours(self):
            return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")

    refuted = stopped = 0
    for seed in range(runs):
        clock.now, chosen[0] = 0.0, False
        budget = Budget(samples=5000, confidence=confidence, deadline=1.0)
        evidence = audit(Adversary(), claim, budget=budget, streams=Streams(seed))
        refuted += evidence.verdict == "refuted"
        stopped += "of 10000 samples" in evidence.note
    most = binom.isf(FALSE_ALARM, runs, 1 - confidence)
    assert stopped > most
    assert refuted <= most


@pytest.mark.slow
@pytest.mark.parametrize(
    ("true", "claimed", "delta", "verdict"),
    [
        (1.0, 1.0, 0.0, "inconclusive"),
        (1.5, 1.0, 0.0, "refuted"),
        (1.0, 0.9, 0.0696, "inconclusive"),
        (1.0, 0.9, 0.02, "refuted"),
        (1.0, 0.9, 0.2, "inconclusive"),
    ],
)
def test_likelihoods_say_by_the_samples_there_are(clock, true, claimed, delta, verdict):
    evidence = decide(*slow(clock, true, claimed, delta=delta, likelihood=True), 10.0)
    assert evidence.method == "likelihood"
    assert evidence.verdict == verdict
    assert 9 * CALL <= evidence.samples <= 11 * CALL
    assert "after" in evidence.note
    assert "of 2000000 samples" in evidence.note
    assert ("detection_limit_delta" in evidence.measured) is False


def test_likelihoods_without_time_for_a_pilot(clock):
    evidence = decide(*slow(clock, 1.0, 1.0, likelihood=True), 1e-4)
    assert (evidence.verdict, evidence.method) == ("inconclusive", "likelihood")


@pytest.mark.parametrize("deadline", [0.5, 3.5])
def test_a_law_that_there_is_no_time_to_compare_with_its_sampler_proves_nothing(clock, deadline):
    target, claim = slow(clock, 1.0, 1.0, law=True)
    assert decide(target, claim, None).verdict == "proved"
    clock.now = 0.0
    evidence = decide(target, claim, deadline)
    assert evidence.verdict == "inconclusive"
    assert "proved by `law`" in evidence.note


def test_long_sampling_is_announced_once():
    told = []
    slow = Pace(planned=1_000_000, announce=told.append)
    slow.end_call(CALL, 0.1)
    assert not told
    slow.end_call(CALL, 10.0)
    slow.end_call(CALL, 10.0)
    assert told == [pytest.approx(10.1 + (1_000_000 - 2 * CALL) * 10 / CALL)]


def test_a_slow_call_is_told_from_slow_outputs():
    told = []
    fixed, each = (Pace(planned=2_000_000, announce=told.append) for _ in range(2))
    assert fixed.is_doubtful(64, 0.1)
    fixed.compare_calls((64, 0.1), (320, 0.1))
    assert not told
    each.compare_calls((64, 0.1), (320, 0.5))
    assert told == [pytest.approx(2_000_000 * 0.1 / 64, rel=1e-3)]
    assert told[0] > LONG


def test_nobody_listens_nobody_waits():
    assert not Pace(planned=2_000_000).is_doubtful(64, 100.0)
