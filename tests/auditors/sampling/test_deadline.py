"""Audits that a deadline ends, on a clock that the samplers themselves turn on."""

import math
import re
import threading
from collections import Counter
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom

import dpaudit
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.blackbox import choosing, counting, lower_bound, sequential, tasks
from dpaudit.auditors.learning.selection import select_events
from dpaudit.auditors.outputs.outputs import Outputs
from dpaudit.auditors.sampling import pace
from dpaudit.auditors.sampling.pace import Pace, duration
from dpaudit.auditors.sampling.sampler import Sampler
from dpaudit.claims.evidence import Remedy
from dpaudit.statistics import log_ratio_lower
from dpaudit.testing import assert_private

FALSE_ALARM = 1e-6
CALL = 1 << 16


class Clock:
    """Time in seconds, which passes only where a sampler takes it."""

    def __init__(self):
        self.now = 0.0
        self.purpose = ""
        self.drawn = Counter()

    def time(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(pace, "time", SimpleNamespace(time=made.time))
    generator = Streams.generator

    def noted(self, *purpose):
        if purpose[0] != "auditor":
            made.purpose = purpose[0]
        return generator(self, *purpose)

    monkeypatch.setattr(Streams, "generator", noted)
    return made


def response(epsilon, data, size, rng):
    return (rng.random(size) < 1 / (1 + math.exp(-epsilon))) == bool(data)


def slow(clock, true, claimed, *, delta=0.0, law=False, likelihood=False, each=1 / CALL, slower=1, call=0.0, values=2):
    """Randomized response at the true epsilon, of which a call takes time, and every output, on input 1 more."""

    class Slow(dpaudit.Mechanism):
        def sample(self, data, size, rng):
            clock.now += call + size * each * (slower if data == 1 else 1)
            clock.drawn[clock.purpose] += size
            return response(true, data, size, rng)

        def neighbours(self):
            return dpaudit.Neighbouring.any_two_inputs(range(values), scope="a bit")

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
    target, claim = slow(clock, 1.0, 1.0)
    evidence = decide(target, claim, 0.5 / CALL)
    assert evidence.verdict == "inconclusive"
    assert evidence.samples == 0
    assert "after 0 of 2000000 samples" in evidence.note
    assert "--seconds" in evidence.note
    assert not evidence.measured


@pytest.mark.parametrize(("seconds", "told"), [(1.0, False), (2.0, True)])
def test_what_all_outputs_would_take_is_not_told_where_calls_take_as_long_whatever_their_size(seconds, told):
    pace = Pace(planned=2_000_000, deadline=0.0)
    for size, each in ((1, 1.0), (2, seconds)):
        pace.note_speed("x", size, each)
        pace.end_call(size, each)
    assert ("which would take about" in pace.out_of_time) is told


@pytest.mark.slow
@pytest.mark.parametrize("deadline", [0.01, 3.0, 15.0, 30.0])
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_the_time_there_is_is_used_and_kept(clock, deadline, delta):
    evidence = decide(*slow(clock, 1.0, 1.0, delta=delta), deadline)
    assert evidence.verdict == "inconclusive"
    assert 0.85 * deadline <= clock.now <= 1.1 * deadline
    assert 0.8 * deadline * CALL <= evidence.samples <= clock.now * CALL
    assert f"after {evidence.samples} of 2000000 samples" in evidence.note
    assert "detection_limit" not in evidence.measured
    assert (0.8 if deadline > 1 else 0.0) <= evidence.measured["epsilon"].lower <= 1.0


@pytest.mark.parametrize("each", [0.005, 0.3, 2.0])
@pytest.mark.parametrize("stop_early", [False, True])
def test_slow_outputs_are_planned_for(clock, each, stop_early):
    """Choosing the event and bounding its probabilities share what 20 seconds allow, down to ten outputs."""
    target, claim = slow(clock, 1.0, 1.0, each=each)
    evidence = decide(target, claim, 20.0, stop_early=stop_early)
    assert evidence.verdict == "inconclusive"
    assert clock.now <= 20.0 + max(2.0, each)
    if each == 0.005:
        assert evidence.samples >= 0.8 * 20 / each
        # The event is chosen from a fifth of what is left after early bets; the final sample has most of the outputs.
        assert clock.drawn["final"] >= (0.45 if stop_early else 0.6) * evidence.samples


@pytest.mark.parametrize("slower", [1, 50])
def test_an_input_may_be_slower_than_the_other(clock, slower):
    target, claim = slow(clock, 1.0, 1.0, each=0.002, slower=slower)
    evidence = decide(target, claim, 20.0)
    assert evidence.verdict == "inconclusive"
    assert 17.0 <= clock.now <= 22.0
    assert evidence.samples >= 0.75 * 20 / (0.002 * (1 + slower) / 2)


def test_calls_that_take_long_whatever_their_size(clock):
    target, claim = slow(clock, 2.0, 1.0, call=0.2)
    evidence = decide(target, claim, 60.0)
    assert evidence.verdict == "refuted"
    assert clock.now <= 66.0


def test_calls_that_take_half_a_second_whatever_their_size_become_large(clock):
    """All 20 seconds allow some 30 calls after the first checks; small ones would draw a few thousand outputs."""
    target, claim = slow(clock, 1.0, 1.0, each=1e-7, call=0.5)
    evidence = audit(target, claim, budget=Budget(deadline=20.0), streams=Streams(1))
    assert evidence.verdict == "consistent"
    assert 16.0 <= clock.now <= 21.0
    assert evidence.samples >= 500_000


@pytest.mark.parametrize(
    ("seconds", "each", "samples"),
    [(20.0, 1e-6, 100), (60.0, 1e-6, 20_000), (60.0, 1e-3, 10_000), (300.0, 0.01, 10_000)],
)
def test_calls_grow_where_a_call_takes_two_seconds_whatever_its_size(clock, seconds, each, samples):
    target, claim = slow(clock, 1.0, 1.0, each=each, call=2.0)
    evidence = decide(target, claim, seconds)
    assert evidence.verdict == "inconclusive"
    assert evidence.samples >= samples
    assert clock.now <= max(1.1 * seconds, seconds + 2.0 + 64 * each)


@pytest.mark.parametrize("what", ["supports", "features"])
@pytest.mark.parametrize("each", [1e-3, 0.02])
def test_what_the_users_functions_take_is_a_part_of_what_outputs_take(clock, what, each):
    """Sampling takes no time; to look at an output takes some, on two inputs in turn where `supports` does."""
    target, claim = slow(clock, 1.0, 1.0, each=0.0)

    def look(self, outputs, *data):
        clock.now += each * len(outputs)
        return outputs == bool(data[0]) if data else outputs

    setattr(type(target), what, look)
    told = []
    evidence = decide(target, claim, 20.0, announce=told.append)
    assert evidence.verdict == "inconclusive"
    assert 17.0 <= clock.now <= 21.0
    assert 0.75 * 20 / each <= evidence.samples * (2 if what == "supports" else 1) <= 20 / each
    assert evidence.measured["epsilon"].lower > 0.4
    assert told
    assert told[0].startswith("with ")


def test_the_rate_told_counts_what_the_users_functions_take(clock):
    kept = Pace(planned=1000)

    def supports(outputs, data):
        clock.now += 0.001 * len(outputs)
        return outputs > data

    sampler = Sampler(lambda data, size, rng: rng.random(size), "thing", Streams(1), supports=supports, pace=kept)
    sampler.about(0, 1).draw(0, 500, "final")
    # Two answers for every output, and once more one for 64 of them and the other for 8.
    assert kept.seconds == pytest.approx(0.001 * (2 * 500 + 64 + 8))


@pytest.mark.parametrize(("seconds", "checks"), [(15.0, 2), (18.0, 2), (24.0, 3)])
def test_few_calls_go_to_outputs_rather_than_to_checks(clock, seconds, checks):
    """A call takes three seconds; an event needs two, and its bound needs two more.

    Within 15 there is no bound, unless the second call shows that only the first one took so long.
    """
    target, claim = slow(clock, 1.0, 1.0, each=1e-6, call=3.0)
    calls = []
    sample = type(target).sample
    type(target).sample = lambda self, data, size, rng: (calls.append(clock.purpose), sample(self, data, size, rng))[1]
    evidence = decide(target, claim, seconds)
    assert clock.now <= seconds + 0.001
    assert evidence.samples > 0
    assert sum(purpose in ("time", "determinism") for purpose in calls) == checks
    assert ("final" in calls) is (seconds > 15)


def test_a_sampler_of_few_calls_is_compared_with_itself(clock):
    counted = iter(range(10**6))

    class Other(dpaudit.Mechanism):
        def sample(self, data, size, rng):
            clock.now += 3.0
            return np.array([next(counted) for _ in range(size)])

        def neighbours(self):
            return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")

    with pytest.raises(dpaudit.CheckError, match="different outputs for the same"):
        decide(Other(), dpaudit.PrivacyClaim(id="c", statement="", epsilon=1.0), 24.0)


@pytest.fixture
def paced(clock):
    """Pace with 100 seconds left, on whose inputs calls take what a line in their size says."""
    made = Pace(planned=1000, deadline=100.0)

    def note(key, fixed, each, *sizes):
        for size in sizes:
            made.note_speed(key, size, fixed + each * size)
        return made

    return note


def test_a_line_through_calls_of_two_sizes(paced):
    known = paced("x", 2.0, 0.25, 1, 8, 9)
    assert known.each("x") == pytest.approx(0.25)
    assert known.fixed("x") == pytest.approx(2.0)
    # An input not seen yet is taken to be four times as slow, in calls that take as long.
    assert known.each("y") == pytest.approx(1.0)
    assert known.fixed("y") == pytest.approx(2.0)


def test_what_a_single_call_took_is_all_taken_by_its_outputs(paced):
    known = paced("x", 2.0, 0.25, 4)
    assert not known.is_split("x")
    assert (known.each("x"), known.fixed("x")) == (0.75, 0.0)
    assert paced("x", 2.0, 0.25, 5).is_split("x")


def test_calls_of_equal_time_leave_a_twentieth_to_their_outputs(paced):
    known = paced("x", 2.0, 0.0, 1, 10)
    assert known.each("x") == pytest.approx(0.05 * 2.0 / 10)
    assert known.fixed("x") == pytest.approx(1.9)


def test_a_first_call_that_had_to_prepare_is_forgotten(paced):
    known = paced("x", 0.0, 5.0, 1)
    known = paced("x", 0.0, 0.1, 8)
    assert (known.each("x"), known.fixed("x")) == pytest.approx((0.1, 0.0))


def test_one_call_that_took_long_does_not_make_all_outputs_slow(paced):
    known = paced("x", 0.0, 1e-6, 8, 64, 512, 4096, 32_768)
    known.note_speed("x", 32_768, 10 * 32_768e-6)
    assert known.each("x") <= 6e-6
    # Calls of half or an eighth as many outputs count, too.
    known = paced("x", 0.0, 1e-6, *[16_384] * 6, *[8000] * 8)
    assert known.each("x") <= 2e-6
    # Where all calls take longer than before, they have a say at once.
    known.note_speed("x", 32_768, 10 * 32_768e-6)
    assert known.each("x") >= 5e-6


def test_a_call_is_as_long_as_the_time_left_allows(paced):
    # 3 % of 100 seconds without time of its own; three times its own time where that is more.
    assert paced("x", 0.0, 0.01, 100, 1000).call_size(10**6, "x") == 300
    assert paced("z", 2.0, 0.01, 100, 1000).call_size(10**6, "z") == 600
    # The rest is not worth a call of its own.
    assert paced("z", 2.0, 0.01, 1000).call_size(899, "z") == 899
    assert paced("z", 2.0, 0.01, 1000).call_size(901, "z") == 600


def test_a_call_asks_for_eight_times_as_many_outputs_as_any_before_at_most(paced):
    # Nine more outputs took 0.18 seconds, which is more than noise: 300 outputs should fit, but were never seen to.
    known = paced("x", 2.0, 0.02, 1, 10)
    assert known.call_size(10**6, "x") == 80
    # All that calls took is 0.001 seconds per output: more fit into 3 seconds for certain.
    assert paced("y", 0.0, 0.001, 10, 11).call_size(10**6, "y") == 3000


def test_calls_grow_at_once_where_a_larger_one_took_no_longer(paced):
    """Nine more outputs take a tenth of a second at most, and the outputs of a call may take three times 2 seconds."""
    known = paced("x", 2.0, 0.0, 1, 10)
    assert 6 / (0.1 / 9) <= known.call_size(10**6, "x") <= 6 / (0.1 / 10)
    # A smaller call that takes as long does not make the outputs of larger ones look slow.
    known.note_speed("x", 8, 2.0)
    assert known.call_size(10**6, "x") > 500
    # Nor does the first call on another input, where as many outputs took as long on this one.
    known.note_speed("y", 10, 2.0)
    assert known.call_size(10**6, "x", "y") > 200
    # Had it taken longer, its outputs might have.
    known.note_speed("z", 10, 3.0)
    assert known.call_size(10**6, "x", "z") < 100


@pytest.mark.parametrize(
    ("seconds", "call", "noise", "least"), [(10.0, 1.0, 0.01, 0.2), (10.0, 1.0, 0.0, 0.2), (20.0, 2.0, 0.0, 0.2)]
)
def test_ten_calls_that_take_long_whatever_their_size_are_enough_for_a_bound(clock, seconds, call, noise, least):
    times = np.random.default_rng(0)

    def sample(data, size, rng):
        clock.now += call * (1 + noise * times.uniform(-1, 1))
        return data + rng.laplace(size=size)

    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, seconds=seconds, claimed=0.2, seed=1)
    assert clock.now <= seconds
    assert least < bound.epsilon <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "first", "seconds"), [(0.1, 3.0, 10.0), (0.1, 2.0, 10.0), (0.3, 2.0, 10.0), (0.1, 1.5, 6.0)]
)
def test_a_first_call_that_takes_long_leaves_time_for_a_bound(clock, call, first, seconds):
    begun = []

    def sample(data, size, rng):
        clock.now += call if begun else call + first
        begun.append(size)
        return data + rng.laplace(size=size)

    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, seconds=seconds, seed=1)
    assert clock.now <= 1.05 * seconds
    assert 0.9 < bound.epsilon <= 1.0


@pytest.mark.parametrize(("call", "noise", "seconds"), [(1.0, 0.2, 10.0), (1.0, 0.0, 15.0), (2.0, 0.1, 20.0)])
def test_the_last_calls_give_as_many_outputs_as_cost_nothing(clock, call, noise, seconds):
    times, sizes = np.random.default_rng(0), []

    def sample(data, size, rng):
        clock.now += call * (1 + noise * times.random())
        sizes.append(size)
        return data + rng.laplace(size=size)

    dpaudit.epsilon_lower_bound(sample, 0, 1, seconds=seconds, seed=1)
    assert clock.now <= 1.1 * seconds
    assert sizes[-1] > 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "call", "seconds", "checks"),
    [("features", 0.5, 8.0, 9), ("features", 0.2, 6.0, 11), ("supports", 0.2, 6.0, 10), ("supports", 1.0, 20.0, 5)],
)
def test_what_the_users_functions_take_whatever_they_are_given_leaves_time_for_a_bound(
    clock, what, call, seconds, checks
):
    """Of 16 to 30 calls, up to eleven check the functions; 24 to 49 left nothing to bound."""
    asked = []

    def look(outputs, *data):
        clock.now += call
        asked.append(clock.purpose)
        return outputs > 0.5 if data else outputs

    bound = dpaudit.epsilon_lower_bound(
        lambda data, size, rng: data + rng.laplace(size=size), 0, 1, seconds=seconds, seed=1, **{what: look}
    )
    assert clock.now <= 1.05 * seconds
    assert 0.7 < bound.epsilon <= 1.0
    # Beside these, one call in the selection sample asks `supports` about an output again.
    assert sum(purpose in ("time", "determinism") for purpose in asked) <= checks


@pytest.mark.slow
@pytest.mark.parametrize("call", [0.0, 0.5])
def test_structures_are_quicker_where_no_others_are_held(clock, call):
    """To draw one while the selection sample is held takes ten times as long as it does in the final sample."""

    def sample(data, size, rng):
        held = clock.purpose == "selection"
        clock.now += call + size * (1e-4 if held else 1e-5)
        clock.drawn[clock.purpose] += size
        return [{"bit": bool(bit)} for bit in response(1.0, data, size, rng)]

    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, seconds=10.0, claimed=1.0, seed=1)
    assert (0.7 if call else 0.8) * 10 <= clock.now <= 10.5
    assert bound.out_of_time
    if call:
        # Where a call takes long whatever its size, none only measures.
        assert clock.drawn["time"] < 1000
    else:
        assert bound.samples >= 300_000
    assert 0.5 < bound.epsilon <= 1.0


@pytest.mark.slow
def test_bets_end_where_choosing_them_takes_long(clock, monkeypatch):
    """Without a deadline, choosing from 50 outputs and more takes a second each time, and is done many times."""
    chosen = []

    def choose(x, y, test, **options):
        chosen.append(len(x))
        clock.now += 1.0
        return select_events(x, y, test, **options)

    monkeypatch.setattr(sequential, "select_events", choose)
    sample = slow_function(clock, 1.0, 1e-6)
    free = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000, stop_early=True, claimed=1.0, seed=1)
    assert len(chosen) > 10
    chosen.clear()
    clock.now = 0.0
    timed = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000, seconds=10.0, stop_early=True, claimed=1.0)
    assert 2 <= len(chosen) <= 3
    assert clock.now <= 4.0
    assert timed.samples == free.samples == 40_000
    assert timed.epsilon > 0.8


def test_what_counting_takes_is_measured_on_outputs_that_nothing_is_known_of():
    """Events were learned from these very outputs, which would be found in no time."""
    sides = tuple(Outputs(np.array([f"{i % 7}" for i in range(100)], dtype=object)) for _ in range(2))
    seen = []

    class Event:
        def scores(self, outputs):
            seen.append(outputs)
            return np.zeros(len(outputs))

        score = contains_scores = np.asarray

    choosing._looking(SimpleNamespace(choices=[SimpleNamespace(event=Event())]), sides, 50)
    assert [len(outputs) for outputs in seen] == [50, 50]
    assert not any(store is side._stores[0] for side in sides for outputs in seen for store in outputs._stores)


def test_what_counting_takes_whatever_the_outputs_is_not_taken_for_what_they_take(clock, monkeypatch):
    """A look takes 5 milliseconds, and a third of a microsecond for every output; the first one is at 100."""
    looks = []

    def looking(selection, sides, rows):
        looks.append(rows)
        seconds = 0.005 + 2 * rows / 3e6
        clock.now += seconds
        return seconds

    monkeypatch.setattr(choosing, "_looking", looking)
    sides = tuple(Outputs(np.array([(1, "a")] * 20_000 + [None], dtype=object)[:-1]) for _ in range(2))
    assert choosing._seconds_per_counted_output(None, sides, 5.0) == pytest.approx(1 / 3e6)
    assert looks[0] == 100
    assert clock.now <= 0.05 * 5.0
    # Where looks take long, no other is begun, and the outputs may be slow.
    clock.now = 0.0
    assert choosing._seconds_per_counted_output(None, sides, 0.1) == pytest.approx(0.00507 / 200, rel=0.01)
    assert clock.now <= 0.01


def structures(size, *, values):
    """Tuples of so many values."""
    return filled(size, ("a", *range(values - 1)))


def filled(size, output):
    """The same output so many times."""
    made = np.empty(size, dtype=object)
    made[:] = [output] * size
    return made


@dataclass(frozen=True, kw_only=True)
class Learned:
    """What the auditor asks of a `Selection` while it learns from more and more outputs."""

    main: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(predicted=0.0))
    left_out: tuple[str, ...] = ()
    choices: tuple[()] = ()
    blind: bool = False
    unchecked: bool = False
    repeated: bool = False
    identified: str | None = None
    by_text: tuple[()] = ()
    held: tuple[()] = ()
    learned: int = 0


def learned_in(seconds, clock, monkeypatch):
    """Numbers of outputs from which events are chosen, each time in so many seconds for them."""
    rows = []

    def learn(x, y, test, **options):
        rows.append(len(x))
        clock.now += seconds(len(x))
        return Learned(unchecked=True)

    monkeypatch.setattr(choosing, "select_events", learn)
    return rows


def choose_by(deadline, *, values, a_second):
    """Choose an event from 20,000 outputs of so many values, of which so many are drawn in a second."""
    sides = tuple(Outputs(structures(20_000, values=values)) for _ in range(2))
    test = choosing.FinalTest(dpaudit.PrivacyClaim(id="c", statement="", epsilon=1.0).guarantee, 1000, 0.001)
    known = Pace(planned=1000, deadline=deadline)
    known.note_speed("x", a_second, 1.0)
    return choosing._choose_in_time(sides, test, known, 10**6, ("x", "x"))


@pytest.mark.parametrize(("fixed", "each", "learned"), [(0.1, 1e-6, 20_000), (0.0, 1e-3, 6000), (0.1, 1e-3, 6000)])
def test_what_learning_takes_whatever_the_outputs_is_not_taken_for_what_they_take(
    clock, monkeypatch, fixed, each, learned
):
    """The first step takes 0.1 seconds for 100 outputs, and all 20,000 may take 8."""
    rows = learned_in(lambda size: fixed + each * size, clock, monkeypatch)
    chosen = choose_by(20.0, values=6000, a_second=1000)
    # Where all chose it, nothing is said.
    assert (rows[0], chosen.learned) == (100, rows[-1] if rows[-1] < 20_000 else 0)
    assert learned / 2 <= rows[-1] <= learned
    assert clock.now <= 0.4 * 20.0


def test_a_few_outputs_that_take_long_to_learn_from_are_not_all_that_an_event_is_chosen_from(clock, monkeypatch):
    """Below 20,000 outputs, a step may take more than the usual part of the time left, but none that is too long."""
    rows = learned_in(lambda size: 0.1 + 1e-4 * size, clock, monkeypatch)
    choose_by(2.0, values=300, a_second=1000)
    assert rows[-1] >= 300
    assert clock.now <= 0.4 * 2.0


def test_events_from_fewer_outputs_are_kept_where_more_left_scores_out(clock, monkeypatch):
    """A step that is ended for lack of time may have missed the score that the one before it has found."""
    promises = {100: (2.0, ()), 400: (3.0, ()), 1600: (1.0, ("boosted trees",))}

    def learn(x, y, test, **options):
        clock.now += 1e-3
        predicted, left_out = promises[len(x)]
        return Learned(main=SimpleNamespace(predicted=predicted), left_out=left_out, identified="nothing")

    monkeypatch.setattr(choosing, "select_events", learn)
    outputs = Outputs(structures(5000, values=20_000))
    test = choosing.FinalTest(dpaudit.PrivacyClaim(id="c", statement="", epsilon=1.0).guarantee, 1000, 0.001)
    chosen = choosing._choose_in_time((outputs, outputs), test, Pace(planned=1000, deadline=50.0), 1000, ("x", "y"))
    assert (chosen.main.predicted, chosen.left_out, chosen.learned) == (3.0, (), 400)


def test_a_short_deadline_leaves_thousands_of_quick_structures_to_choose_an_event_from(clock, monkeypatch):
    """Learning takes 0.5 seconds and 0.2 milliseconds an output, of which 50,000 are drawn in a second."""
    rows = learned_in(lambda size: 0.5 + 2e-4 * size, clock, monkeypatch)
    choose_by(4.0, values=3, a_second=50_000)
    assert rows[-1] > 2000
    assert clock.now < 0.7 * 4.0


@pytest.mark.parametrize(
    ("outputs", "rows"),
    [
        (np.broadcast_to(0.5, (5000, 3)), 1000),
        (np.broadcast_to(0.5, (5000, 1000)), 1000),
        (np.broadcast_to(0.5, (5000, 4000)), 250),
        (np.broadcast_to(0.5, (5000, 10**6)), 100),
        (structures(5000, values=2), 1000),
        (structures(5000, values=300), 333),
        (structures(5000, values=3000), 100),
        (filled(5000, frozenset(range(199))), 500),
        (filled(5000, frozenset((place, 1) for place in range(100))), 332),
        (filled(5000, ("a", [frozenset(range(397)), 1])), 250),
        (np.broadcast_to(0.5, (20, 10**6)), 20),
    ],
)
def test_events_are_chosen_from_few_outputs_first_where_these_are_wide(clock, monkeypatch, outputs, rows):
    """The first choice says how long others take, and is not to take long itself."""
    learned = learned_in(lambda size: 100.0, clock, monkeypatch)
    sides = Outputs(outputs), Outputs(outputs)
    test = choosing.FinalTest(dpaudit.PrivacyClaim(id="c", statement="", epsilon=1.0).guarantee, 1000, 0.001)
    choosing._choose_in_time(sides, test, Pace(planned=1000, deadline=4.0), 1000, ("x", "y"))
    assert learned == [rows]


@pytest.mark.parametrize(
    ("found", "blind", "unchecked"),
    [
        ([(True, False)], False, True),
        ([(True, False), (False, False)], False, False),
        ([(True, False), (False, True)], False, True),
        ([(True, False), (True, False), (False, True)], True, False),
        ([(False, False), (False, False), (False, True)], False, False),
    ],
    ids=["few outputs", "more", "no time for more", "known from fewer", "known not to"],
)
def test_what_outputs_hide_is_known_from_enough_of_them(clock, monkeypatch, found, blind, unchecked):
    """Choosing from 100, 400 and 1,600 outputs; after the last of them the time is over."""
    steps = iter(found)

    def learn(x, y, test, **options):
        blind, unchecked = next(steps)
        clock.now += 1e-3 if next(left, None) else 100.0
        return Learned(blind=blind, unchecked=unchecked)

    left = iter(range(1, len(found)))
    monkeypatch.setattr(choosing, "select_events", learn)
    monkeypatch.setattr(choosing, "_FIRST_VALUES", 0)
    outputs = Outputs(structures(5000, values=2))
    test = choosing.FinalTest(dpaudit.PrivacyClaim(id="c", statement="", epsilon=1.0).guarantee, 1000, 0.001)
    chosen = choosing._choose_in_time((outputs, outputs), test, Pace(planned=1000, deadline=50.0), 1000, ("x", "y"))
    assert (chosen.blind, chosen.unchecked) == (blind, unchecked)
    assert next(steps, None) is None


@pytest.mark.parametrize(("each", "sizes", "unchecked"), [(1e-3, [100], True), (1e-4, [100, 3200], False)])
def test_what_identifies_is_not_looked_for_where_that_takes_too_long(clock, monkeypatch, each, sizes, unchecked):
    """There are 1.2 seconds for 3,200 outputs; what 100 take says whether all fit."""
    looked_at = []

    def look(x, y):
        looked_at.append(len(x))
        clock.now += each * len(x)

    monkeypatch.setattr(choosing, "identifier", look)
    sides = tuple(Outputs(structures(5000, values=300)) for _ in range(2))
    test = choosing.FinalTest(dpaudit.PrivacyClaim(id="c", statement="", epsilon=1.0).guarantee, 1000, 0.001)
    selection = select_events(sides[0][:100], sides[1][:100], test)
    found = choosing._looked_through(selection, sides, 100, test, latest=1.2)
    assert looked_at == sizes
    assert found.unchecked is unchecked
    assert clock.now <= 1.2


@pytest.mark.parametrize("each", [0.0, 1e-3])
def test_a_note_says_how_many_outputs_chose_the_event(clock, monkeypatch, each):
    learned = slow_learning(clock, monkeypatch, each)
    evidence = decide(*slow(clock, 1.0, 1.0, each=1e-4), 20.0)
    if each:
        assert 1000 <= learned[-1] < 20_000
        told = rf"{learned[-1]:,} of \d+,\d+ outputs per input chose the event, for there was no time"
        assert re.search(told, evidence.note)
    else:
        assert "chose the event" not in evidence.note
    assert clock.now <= 22.0


def test_outputs_within_a_time_pay_for_their_calls(paced):
    """Calls of 600 outputs take 8 seconds, 6 of these for outputs; 80 seconds are ten of them."""
    assert paced("x", 2.0, 0.01, 100, 1000).outputs_within(0.8, "x") == pytest.approx(6000)
    assert paced("x", 2.0, 0.01, 1000).outputs_within(0.03, "x") == pytest.approx(100)
    # Where there is no time for a call, it still gives the outputs that take a twentieth of what it takes anyway.
    assert paced("x", 2.0, 0.01, 1000).outputs_within(0.01, "x") == pytest.approx(10)


def test_many_pairs_share_the_time(clock):
    target, claim = slow(clock, 1.0, 1.0, each=0.005, values=12)
    evidence = decide(target, claim, 20.0)
    assert evidence.verdict == "inconclusive"
    assert 15.0 <= clock.now <= 22.0
    assert "66 pairs searched" in evidence.scope
    assert evidence.measured["epsilon"].lower > 0


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_a_violation_before_the_deadline(clock, delta):
    evidence = decide(*slow(clock, 1.2, 1.0, delta=delta), 15.0)
    assert evidence.verdict == "refuted"
    assert 12 * CALL <= evidence.samples <= 16 * CALL
    assert "of 2000000 samples" in evidence.note
    assert 1.0 < evidence.measured["epsilon"].lower <= 1.2


def slow_learning(clock, monkeypatch, each):
    """Make events take so many seconds per output to choose; return a list that gets the outputs of every choice."""
    learned = []

    def learn(x, y, test, **options):
        learned.append(len(x))
        clock.now += each * len(x)
        return select_events(x, y, test, **options)

    monkeypatch.setattr(choosing, "select_events", learn)
    return learned


@pytest.mark.parametrize(
    ("each", "seconds", "verdict"),
    # Drawing all outputs takes a twentieth of the time, or more than there is.
    [(1e-6, (0.15 * 40, 0.6 * 38), "consistent"), (4e-5, (3.0, 0.6 * 40), "inconclusive")],
    ids=["time to spare", "none to spare"],
)
def test_choosing_the_event_is_a_part_of_the_time(clock, monkeypatch, each, seconds, verdict):
    """Learning takes a second per 1,000 outputs; all of the outputs planned would take 200.

    Below 20,000 outputs it is more than the usual part of the time, because the final sample has far more of them.
    """
    learned = slow_learning(clock, monkeypatch, each=1 / 1000)
    target, claim = slow(clock, 1.0, 1.0, each=each)
    evidence = decide(target, claim, 40.0)
    assert clock.now <= 40.5
    assert seconds[0] <= sum(learned) / 1000 <= seconds[1]
    assert evidence.verdict == verdict


@pytest.mark.slow
def test_where_nobody_asks_for_a_number_of_samples_the_time_decides_it(clock):
    target, claim = slow(clock, 1.0, 1.0, each=0.001)
    timed = Budget(deadline=20.0)
    evidence = audit(target, claim, budget=timed, streams=Streams(1))
    assert evidence.verdict == "consistent"
    assert evidence.samples >= 0.75 * 20 / 0.001
    assert f"--seconds left time for {evidence.samples} of the 2000000 samples drawn without it" in evidence.note
    asked = decide(target, claim, clock.now + 20.0)
    assert asked.verdict == "inconclusive"
    # What the limit promises, for a mechanism whose true epsilon is that limit and whose claim is smaller.
    limit = evidence.measured["detection_limit"].lower
    broken, _ = slow(clock, limit, 1.0, each=0.001)
    for seed in range(5):
        timed = Budget(deadline=clock.now + 20.0)
        assert audit(broken, claim, budget=timed, streams=Streams(seed)).verdict == "refuted"


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_a_sampler_that_grows_slower_than_planned_leaves_a_limit(clock, delta):
    """The final sample is cut off, and what is left is tested by the bound that holds at all times."""

    def slowed(epsilon):
        target, claim = slow(clock, epsilon, 1.0, delta=delta, each=0.0005)
        sample = type(target).sample

        def slower(self, data, size, rng):
            clock.now += size * (0.001 if clock.drawn["final"] > 2000 else 0.0)
            return sample(self, data, size, rng)

        type(target).sample = slower
        return target, claim

    def decided(epsilon, seed, samples=None):
        clock.drawn.clear()
        budget = Budget(samples=samples, deadline=clock.now + 20.0)
        return audit(*slowed(epsilon), budget=budget, streams=Streams(seed))

    evidence = decided(1.0, 1)
    assert evidence.verdict == "consistent"
    assert clock.now >= 20.0
    assert decided(1.0, 1, samples=100_000).verdict == "inconclusive"
    limit = evidence.measured["detection_limit"].lower
    broken = [decided(limit, seed) for seed in range(20)]
    assert sum(each.verdict == "refuted" for each in broken) >= 15
    assert 1.1 < limit < 2.0


def test_too_little_time_for_any_limit_is_inconclusive(clock):
    target, claim = slow(clock, 1.0, 1.0, each=0.5)
    evidence = audit(target, claim, budget=Budget(deadline=20.0), streams=Streams(1))
    assert (evidence.verdict, evidence.remedy) == ("inconclusive", Remedy.TIME)
    # 0.5 seconds an output, 2,000,000 of them, are 11.6 days.
    assert re.search(r"ended after \d+ of 2000000 samples, which would take about 12 days", evidence.note)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "less than a second"),
        (0.4, "less than a second"),
        (0.6, "1 second"),
        (1.4, "1 second"),
        (1.6, "2 seconds"),
        (119.0, "119 seconds"),
        (120.0, "2 minutes"),
        (7200.0, "2 hours"),
        (86400.0 * 2, "2 days"),
    ],
)
def test_durations_in_words(seconds, words):
    assert duration(seconds) == words


def test_time_to_spare_makes_a_deadline_cost_nothing_but_error_probability(clock, monkeypatch):
    """Events are chosen from as many outputs as without a deadline."""
    learned = slow_learning(clock, monkeypatch, each=1 / 50_000)
    target, claim = slow(clock, 1.0, 1.0, each=1e-6)
    decide(target, claim, 60.0)
    assert learned[-1] == 200_000


@pytest.mark.slow
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
    p, q, confidence, runs = 0.5, 0.1, 0.8, 80
    alpha = 0.7 * (1 - confidence)  # what a rarer event leaves
    claim = dpaudit.PrivacyClaim(id="c", statement="", epsilon=math.log(p / q))
    for module in (choosing, counting, tasks):
        monkeypatch.setattr(module, "CHUNK", 15)
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
    assert 7 * CALL <= evidence.samples <= 11 * CALL
    assert "after" in evidence.note
    assert "of 2000000 samples" in evidence.note
    assert ("detection_limit_delta" in evidence.measured) is False


def test_likelihoods_without_time_for_a_pilot(clock):
    evidence = decide(*slow(clock, 1.0, 1.0, likelihood=True), 1e-4)
    assert (evidence.verdict, evidence.method) == ("inconclusive", "likelihood")


@pytest.mark.slow
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
    assert told == ["sampling will take about 2 minutes; --samples N draws fewer, --seconds S ends it in time"]


def test_a_slow_call_is_told_from_slow_outputs():
    told = []
    fixed, each = (Pace(planned=2_000_000, announce=told.append) for _ in range(2))
    assert fixed.is_doubtful(64, 0.1)
    fixed.compare_calls((64, 0.1), (320, 0.1))
    assert not told
    each.compare_calls((64, 0.1), (320, 0.5))
    assert told == ["sampling will take about 52 minutes; --samples N draws fewer, --seconds S ends it in time"]


def test_nobody_listens_nobody_waits():
    assert not Pace(planned=2_000_000).is_doubtful(64, 100.0)


def test_how_far_sampling_has_come_is_told_while_it_goes_on(monkeypatch):
    monkeypatch.setattr(pace, "FIRST_WORD", 0.02)
    monkeypatch.setattr(pace, "NEXT_WORD", 0.02)
    told, go_on = [], threading.Event()
    within = Pace(planned=1000, announce=lambda words: (told.append(words), len(told) > 1 and go_on.set()))
    within.end_call(250, 50.0)
    within.found = "epsilon at least 0.5 so far"
    told.clear()
    with within.told():
        assert go_on.wait(10)
    assert set(told) == {"250 of 1,000 outputs, 5 per second, 2 minutes left; epsilon at least 0.5 so far"}
    told.clear()
    with Pace(planned=1000).told():
        pass
    assert not told


def test_the_bound_so_far_is_told(clock):
    told = []
    target, claim = slow(clock, 1.5, 1.0, each=0.005)
    evidence = decide(target, claim, 20.0, announce=told.append)
    assert evidence.verdict == "refuted"
    planned, outlook = told
    assert re.fullmatch(
        r"with 2\d seconds left, about 1,[4-6]\d\d outputs per input of the 1,000,000 drawn without --seconds", planned
    )
    found = re.fullmatch(r"with 1\d seconds left, about 1,\d\d\d more outputs per input: detection limit (.+)", outlook)
    assert float(found[1]) == pytest.approx(evidence.measured["detection_limit"].lower, rel=0.06)  # two digits


@pytest.mark.slow
def test_without_a_deadline_equal_seeds_give_equal_results_however_fast_the_sampler_is(clock):
    results = [decide(*slow(clock, 1.0, 1.0, each=each), None) for each in (0.0, 1e-3)]
    assert results[0] == results[1]
    early = [decide(*slow(clock, 1.5, 1.0, each=each), None, stop_early=True) for each in (0.0, 1e-3)]
    assert early[0] == early[1]
    assert early[0].samples < 2000


def slow_function(clock, true, each):
    def sample(data, size, rng):
        clock.now += size * each
        return response(true, data, size, rng)

    return sample


@pytest.mark.slow
@pytest.mark.parametrize("stop_early", [False, True])
@pytest.mark.parametrize("seconds", [3.0, 20.0])
def test_the_bound_of_one_pair_uses_the_time_there_is(clock, seconds, stop_early):
    sample = slow_function(clock, 1.0, 1 / CALL)
    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, seconds=seconds, claimed=1.0, stop_early=stop_early, seed=1)
    assert 0.85 * seconds <= clock.now <= 1.1 * seconds
    assert 0.8 * seconds * CALL <= bound.samples <= clock.now * CALL
    assert bound.out_of_time
    assert not bound.stopped_early
    assert 0.8 <= bound.epsilon <= 1.0
    assert bound.event is not None


def test_the_bound_of_one_pair_that_is_done_in_time(clock):
    sample = slow_function(clock, 2.0, 1 / CALL)
    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000, seconds=100.0, seed=1)
    assert not bound.out_of_time
    assert clock.now <= 10.0
    assert 1.8 <= bound.epsilon <= 2.0
    assert math.isfinite(bound.detection_limit)


@pytest.mark.parametrize("stop_early", [False, True])
def test_the_bound_of_one_pair_before_there_is_an_event(clock, stop_early):
    sample = slow_function(clock, 1.0, 1.0)
    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, seconds=2.0, stop_early=stop_early, seed=1)
    assert (bound.epsilon, bound.detection_limit, bound.event) == (0.0, math.inf, None)
    assert (bound.hits, bound.trials) == ((0, 0), (0, 0))
    assert bound.out_of_time
    assert clock.now <= 4.0


@pytest.mark.parametrize(("each", "compared"), [(2e-4, [3000]), (4e-4, [500])])
def test_outputs_are_compared_before_the_deadline_or_few_of_them_after_it(clock, monkeypatch, each, compared):
    """Where all 3,000 of either input that are looked at are there before the end, that is when it is done."""
    looked_at = []

    def drawn_again(x, y):
        looked_at.append(len(x))
        clock.now += 1e-4 * (len(x) + len(y))

    monkeypatch.setattr(lower_bound, "drawn_again", drawn_again)

    def sample(data, size, rng):
        clock.now += each * size
        return [{"a": float(one), "b": [float(other)]} for one, other in rng.laplace(data, size=(size, 2))]

    dpaudit.epsilon_lower_bound(sample, 0, 1, seconds=4.0, seed=1)
    assert looked_at == compared
    assert clock.now <= 4.2


def test_a_test_that_is_out_of_time_fails_and_says_so(clock):
    """With a `sample` that needs a week for the usual number of samples."""
    sample = slow_function(clock, 1.0, 0.3)
    with pytest.raises(AssertionError) as caught:
        assert_private(sample, epsilon=1.0, pairs=[(0, 1)], seconds=30.0)
    assert clock.now <= 33.0
    text = str(caught.value)
    assert "is not shown to be (1, 0)-DP: inconclusive" in text
    assert "`seconds` allowed no more: sampling ended after" in text
    # With a number of samples, less than what was asked for would be no pass.
    assert "to see it again: seed=0, confidence=0.999, seconds=30.0" in text
    assert "another run may give others" in text


@pytest.mark.slow
def test_a_test_that_is_refuted_or_done_in_time(clock):
    with pytest.raises(AssertionError, match="refuted"):
        assert_private(slow_function(clock, 2.0, 1e-3), epsilon=1.0, pairs=[(0, 1)], seconds=30.0)
    assert clock.now <= 33.0
    quick = slow_function(clock, 1.0, 1e-6)
    assert assert_private(quick, epsilon=1.0, pairs=[(0, 1)], samples=5000, seconds=30.0).verdict == "consistent"


@pytest.mark.parametrize("seconds", [0, -1.0, math.inf, math.nan, "60", True])
def test_seconds_that_are_no_time(seconds):
    with pytest.raises(dpaudit.ParameterError, match="seconds must be above 0 and finite"):
        dpaudit.epsilon_lower_bound(lambda x, size, rng: rng.random(size), 0, 1, seconds=seconds)
    with pytest.raises(dpaudit.ParameterError, match="seconds must be above 0 and finite"):
        assert_private(lambda x, size, rng: rng.random(size), epsilon=1.0, pairs=[(0, 1)], seconds=seconds)


def test_outputs_that_were_drawn_already_need_no_time():
    with pytest.raises(dpaudit.ParameterError, match="seconds says nothing of outputs that were drawn already"):
        assert_private(([0, 1], [0, 1]), epsilon=1.0, seconds=1.0)
