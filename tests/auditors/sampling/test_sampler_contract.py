"""Samplers that break the contract get one clear line; sound ones with odd outputs do not."""

import contextlib
import functools
import itertools
import math
import time

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.sampling.sampler import Sampler
from dpaudit.auditors.sampling.streams import CHUNK, Streams
from dpaudit.testing import assert_private


def bound(sample, x=0, y=1, samples=1000):
    return dpaudit.epsilon_lower_bound(sample, x, y, samples=samples, seed=1, name="thing")


def late(broken, after=2):
    """Sound at first and broken later."""
    calls = 0

    def sample(data, size, rng):
        nonlocal calls
        calls += 1
        return rng.random(size) if calls <= after else broken(data, size, rng)

    return sample


def fail(data, size, rng):
    raise ZeroDivisionError("seven")


class UnspeakableError(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def fail_without_words(data, size, rng):
    raise UnspeakableError


def close(data, size, rng):
    raise GeneratorExit


def with_nan(data, size, rng):
    values = rng.random(size)
    values[-1] = np.nan
    return values


@pytest.mark.parametrize("wrap", [lambda broken: broken, late])
@pytest.mark.parametrize(
    ("broken", "error", "words"),
    [
        (fail, dpaudit.TargetRaisedError, ["raised ZeroDivisionError: seven", "input 0", "size"]),
        (with_nan, dpaudit.CheckError, ["NaN", "None in a list"]),
        (
            fail_without_words,
            dpaudit.TargetRaisedError,
            ["UnspeakableError, whose `str` raised RuntimeError", "(input 0"],
        ),
        (close, dpaudit.TargetRaisedError, ["raised GeneratorExit (input 0"]),
        (lambda d, s, r: r.random(s + 1), dpaudit.CheckError, ["shape", "outputs along axis 0"]),
        (
            lambda d, s, r: r.random(),
            dpaudit.CheckError,
            ["of type float, which is no array; return"],
        ),
        (
            lambda d, s, r: np.float64(1.0),
            dpaudit.CheckError,
            ["returned 1.0, a single value; return 64 outputs"],
        ),
        (lambda d, s, r: "yes", dpaudit.CheckError, ["returned 'yes' of type str, which is no array; return"]),
        (lambda d, s, r: None, dpaudit.CheckError, ["returned None, which is no array; return"]),
        (lambda d, s, r: list(r.random(s - 1)), dpaudit.CheckError, ["outputs along axis 0"]),
        (lambda d, s, r: np.zeros((s, 0)), dpaudit.CheckError, ["without any values"]),
        (lambda d, s, r: (x for x in range(s - 1)), dpaudit.CheckError, ["yielded", "outputs along axis 0"]),
        (lambda d, s, r: itertools.count(), dpaudit.CheckError, ["yielded more than", "outputs along axis 0"]),
        (lambda d, s, r: {1, 2}, dpaudit.CheckError, ["returned a value of type set, which is no array"]),
        (lambda d, s, r: np.ma.masked_array(r.random(s), r.random(s) < 0.1), dpaudit.CheckError, ["mask", "filled"]),
    ],
)
def test_broken_samplers_are_told_what_to_do(wrap, broken, error, words):
    with pytest.raises(error) as caught:
        bound(wrap(broken))
    message = str(caught.value)
    assert message.startswith("thing: `sample")
    assert "\n" not in message
    assert all(word in message for word in words)


class Counts(dpaudit.Mechanism):
    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")

    def claims(self):
        return [dpaudit.PrivacyClaim(id=f"{self.name}.c", statement="", epsilon=1.0)]


class OneInput(Counts):
    def sample(self, data):
        return data


class NoRandomness(Counts):
    def sample(self, data, size):
        return [data] * size


class KeywordsOnly(Counts):
    def sample(self, data, *, size, rng):
        return rng.random(size)


@pytest.mark.parametrize(
    ("kind", "taken"), [(OneInput, "(data)"), (NoRandomness, "(data, size)"), (KeywordsOnly, "(data, *, size, rng)")]
)
def test_a_method_that_takes_something_else(kind, taken):
    (result,) = dpaudit.check(kind(), samples=1000).results
    assert result.verdict == "error"
    assert f"`sample` takes {taken} and is called with (data, size, rng)" in result.note
    assert "write `sample(self, data, size, rng)`" in result.note


def test_a_function_that_takes_something_else():
    calls = (
        lambda sample: bound(sample),
        lambda sample: assert_private(sample, epsilon=1.0, pairs=[(0, 1)], samples=1000),
        lambda sample: dpaudit.privacy_bounds(sample, 0, 1, samples=1000),
    )
    for call in calls:
        with pytest.raises(dpaudit.CheckError, match=r"takes \(data\) .* write `sample\(data, size, rng\)`"):
            call(lambda data: data)


def test_type_errors_of_a_sampler_that_takes_what_it_is_given_are_its_own():
    def adapted(function):
        @functools.wraps(function)
        def sample(*arguments):
            return function(arguments[0]) + "1"

        return sample

    for sample in (lambda data, size, rng: size + "1", adapted(lambda data: data)):
        with pytest.raises(dpaudit.TargetRaisedError, match="raised TypeError: unsupported operand"):
            bound(sample)


def test_the_exception_of_the_target_stays_attached():
    with pytest.raises(dpaudit.TargetRaisedError) as caught:
        bound(fail)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("other", [lambda s, r: r.integers(0, 2, s), lambda s, r: r.random((s, 2))])
def test_another_form_for_another_input(other):
    with pytest.raises(dpaudit.CheckError, match="one form for every input"):
        bound(lambda d, s, r: r.random(s) if d == 0 else other(s, r))


@pytest.mark.slow
def test_lists_that_are_rarely_longer_tell_nothing():
    def sample(data, size, rng):
        return [list(range(2 + (u < 0.004))) for u in rng.random(size)]

    assert bound(sample, samples=20_000).epsilon == 0


@pytest.mark.parametrize("data", [np.arange(3), [1, 2, 3], {"a": 1}])
def test_a_changed_input(data):
    def sample(given, size, rng):
        if isinstance(given, dict):
            given["b"] = 2
        elif not isinstance(given, str):
            given[0] = 9
        return rng.random(size)

    with pytest.raises(dpaudit.CheckError, match="changed its input"):
        bound(sample, data, "another")
    assert len(data) == (1 if isinstance(data, dict) else 3)
    assert "b" not in data if isinstance(data, dict) else data[0] != 9


class Opaque:
    """Has no ==, so that its copy differs from it."""

    shift = 1.0


@pytest.mark.parametrize("data", [Opaque(), np.array([np.nan, 1.0]), float("nan"), (np.arange(2), "x")])
def test_inputs_whose_copies_are_not_equal_are_no_offence(data):
    assert bound(lambda d, s, r: r.random(s), data, "another").epsilon == 0


def test_randomness_from_elsewhere():
    hidden = np.random.default_rng(1)
    with pytest.raises(dpaudit.CheckError, match="take all randomness from the `rng` argument"):
        bound(lambda d, s, r: hidden.random(s))


def test_randomness_from_elsewhere_that_is_declared():
    hidden = np.random.default_rng(1)
    sample = lambda d, s, r: hidden.random(s) < 0.2 + 0.3 * d  # noqa: E731
    found = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=5000, own_randomness=True)
    assert 0.5 < found.epsilon < np.log(2.5)


@pytest.mark.parametrize("own_randomness", [False, True])
@pytest.mark.parametrize(
    "order",
    [
        np.sort,
        lambda v: np.sort(v)[::-1],
        lambda v: np.sort(v)[:, None],
        lambda v: np.sort((1000 * v).astype("m8[us]")),
    ],
    ids=["ascending", "descending", "a column", "durations"],
)
def test_outputs_in_order_are_no_independent_outputs(order, own_randomness):
    with pytest.raises(dpaudit.CheckError, match="thing: `sample` returned 64 outputs in ascending or"):
        dpaudit.epsilon_lower_bound(
            lambda d, s, r: order(1000 * r.laplace(size=s)), 0, 1, own_randomness=own_randomness, name="thing"
        )


@pytest.mark.parametrize(
    "sample",
    [
        lambda d, s, r: np.sort(r.laplace(size=(s, 3))),
        lambda d, s, r: r.geometric(1e-9, s) * 2.0**40,
        lambda d, s, r: np.sort(r.integers(0, 4, s)),
        lambda d, s, r: np.full(s, 3.0),
    ],
    ids=["each row sorted", "no order", "few values", "one value"],
)
def test_other_outputs_are_in_no_such_order(sample):
    Sampler(sample, "m", Streams(3)).check_deterministic(0)


async def sample_later(data, size, rng):
    return rng.random(size)


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (sample_later, "from a function without `async`"),
        (lambda d, s, r: r.random((3, s)), "its last axis has as many: transpose it"),
        (lambda d, s, r: (r.random(s), r.random(s)), r"its 2 parts have 64 values each: return `np.column_stack`"),
        (
            lambda d, s, r: {"a": r.random(s), "b": [0] * s},
            "its 2 parts have 64 values each: return a list of dicts or",
        ),
    ],
    ids=["coroutine", "transposed", "columns", "dict of columns"],
)
def test_how_other_forms_become_outputs_along_axis_0(sample, words):
    with pytest.raises(dpaudit.CheckError, match=rf"return 64 outputs along axis 0.* ?{words}"):
        bound(sample)


def test_a_generator_of_its_own():
    with pytest.raises(dpaudit.CheckError, match="seed its own generator"):
        bound(lambda d, s, r: np.random.default_rng(1).random(s))


def raise_on_repr(self):
    raise ZeroDivisionError("seven")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.datetime64("NaT"), "returned NaT"),
        (type("Plain", (), {})(), "type Plain, whose `repr` does not identify them"),
        ((1, {"a": type("Plain", (), {})()}), "type Plain, whose `repr` does not identify them"),
        (type("Silent", (), {"__repr__": raise_on_repr})(), "type Silent .* `repr` raised ZeroDivisionError: seven"),
    ],
)
def test_outputs_that_cannot_be_told_apart(value, words):
    form = np.array if isinstance(value, np.datetime64) else list
    with pytest.raises(dpaudit.CheckError, match=words) as caught:
        bound(lambda d, s, r: form([value] * s))
    assert str(caught.value).startswith("thing: ")


class Plain:
    def method(self):
        return 1


ADDRESSES = {
    "function": lambda: lambda: 1,
    "generator": lambda: (i for i in (1, 2)),
    "method": lambda: Plain().method,
    "builtin_function_or_method": lambda: [1].append,
    "partial": lambda: functools.partial(max, key=lambda part: part),
    "list_iterator": lambda: iter([1]),
    "ValueError": lambda: ValueError(Plain()),
}


@pytest.mark.parametrize("own_randomness", [False, True])
@pytest.mark.parametrize("kind", ADDRESSES)
def test_values_that_have_only_an_address_are_refused(kind, own_randomness):
    """Each is made anew, so that comparing addresses would tell nothing, and find every output new."""

    def sample(data, size, rng):
        return [(u, ADDRESSES[kind]()) for u in rng.random(size).tolist()]

    words = f"type {kind}, whose `repr` does not identify them"
    with pytest.raises(dpaudit.CheckError, match=words):
        dpaudit.epsilon_lower_bound(sample, 0, 1, samples=1000, own_randomness=own_randomness)


class Address(Plain):
    def __repr__(self):
        return "<Address 0x7f00>"


@pytest.mark.slow
@pytest.mark.parametrize(
    "value", [len, Plain, functools.partial(max, 1), Address(), Address().method, ValueError(1), "at 0x7f00"]
)
def test_values_whose_text_identifies_them_are_accepted(value):
    assert bound(lambda d, s, r: [(value, u) for u in r.random(s).tolist()]).epsilon == 0


@pytest.mark.slow
@pytest.mark.parametrize("form", ["a memory view", "a tuple with one"])
def test_views_of_memory_are_what_they_hold(form):
    def sample(data, size, rng):
        views = [memoryview(bytes([bit])) for bit in (rng.random(size) < 0.2 + 0.3 * data).tolist()]
        return views if form == "a memory view" else [(1, view) for view in views]

    assert bound(sample, samples=5000).epsilon > 0.5


@pytest.mark.slow
def test_views_of_numbers_are_taken_apart():
    found = bound(lambda d, s, r: [memoryview(row) for row in d + r.laplace(size=(s, 2))], samples=5000)
    assert 0.5 < found.epsilon <= 2


def test_not_a_number_in_an_array_of_objects():
    with pytest.raises(dpaudit.CheckError, match="returned NaN"):
        bound(lambda d, s, r: np.array([math.nan, None] * (s // 2), dtype=object))


@pytest.mark.slow
def test_lists_without_end_are_refused():
    endless = []
    endless.append(endless)
    with pytest.raises(dpaudit.CheckError, match="parts without end"):
        bound(lambda d, s, r: [endless] * s)


def nested(value, levels):
    for _ in range(levels):
        value = [value]
    return value


def nested_answers(levels):
    return lambda d, s, r: [nested(bit, levels) for bit in (r.random(s) < 0.2 + 0.3 * d).tolist()]


@pytest.mark.slow
def test_a_hundred_levels_are_taken_apart():
    assert bound(nested_answers(100), samples=5000).epsilon > 0.5


@pytest.mark.slow
def test_outputs_that_are_nested_too_deeply_are_refused():
    with pytest.raises(dpaudit.CheckError, match=r"nested 1000 levels deep .* at most 100 levels"):
        bound(nested_answers(1000))


def test_a_sampler_that_fills_one_buffer_again_and_again():
    buffer = np.empty(CHUNK)

    def sample(data, size, rng):
        rng.random(out=buffer[:size])
        return buffer[:size]

    drawn = Sampler(sample, "m", Streams(3)).draw(0, 2 * CHUNK, "final")
    assert len(np.unique(drawn)) == len(drawn)
    assert bound(sample).epsilon == 0


@pytest.mark.parametrize(
    "features",
    [
        lambda outputs: np.full(len(outputs), outputs.mean()),
        lambda outputs: np.argsort(np.argsort(outputs)),
        lambda outputs: np.repeat(outputs[:1] > 0.5, len(outputs)),
    ],
)
def test_features_that_look_at_more_than_one_output(features):
    with pytest.raises(dpaudit.CheckError, match="every output on its own"):
        dpaudit.epsilon_lower_bound(
            lambda d, s, r: d + r.laplace(size=s), 0, 1, samples=1000, features=features, name="thing"
        )


def codes_of(outputs):
    """Number of every output among the different ones, in order of appearance."""
    return np.array([list(dict.fromkeys(outputs.tolist())).index(each) for each in outputs.tolist()])


@pytest.mark.parametrize(
    ("among_others", "sample"),
    [
        (lambda outputs: np.column_stack([outputs, outputs / (1 + outputs.std())]), "numbers"),
        (lambda outputs: outputs == outputs.max(), "numbers"),
        (lambda outputs: outputs > np.median(outputs), "numbers"),
        (lambda outputs: np.arange(len(outputs)) % 2, "numbers"),
        (lambda outputs: np.unique(outputs, return_inverse=True)[1], "letters"),
        (codes_of, "letters"),
    ],
    ids=["scaled", "largest", "above the median", "place", "codes in order", "codes by appearance"],
)
def test_few_calls_show_features_that_look_at_other_outputs(among_others, sample):
    samples = {
        "numbers": lambda data, size, rng: data + rng.laplace(size=size),
        "letters": lambda data, size, rng: rng.choice(np.array(["a", "b", "c"]), size, p=[0.6, 0.3, 0.1]),
    }
    for seed in range(20):
        with pytest.raises(dpaudit.CheckError, match="every output on its own"):
            dpaudit.epsilon_lower_bound(samples[sample], 0, 1, features=among_others, samples=1000, seed=seed)


@pytest.mark.parametrize(
    "among_others",
    [
        lambda outputs, data: outputs > outputs.mean() + data,
        lambda outputs, data: outputs == outputs.max(),
        lambda outputs, data: np.argsort(np.argsort(outputs)) % 2 == 0,
    ],
    ids=["above the mean", "largest", "rank"],
)
def test_few_calls_show_supports_that_look_at_other_outputs(among_others):
    for seed in range(20):
        with pytest.raises(dpaudit.CheckError, match="every output on its own"):
            dpaudit.epsilon_lower_bound(
                lambda d, s, r: d + r.laplace(size=s), 0, 1, supports=among_others, samples=1000, seed=seed
            )


@pytest.mark.slow
@pytest.mark.parametrize(("what", "calls"), [("features", 20), ("supports", 24)])
def test_functions_of_the_users_are_called_a_few_times(what, calls):
    """Fourteen times, features are only looked at again, and `supports` once more after each of its calls.

    Outputs drawn alone, as a claim is refuted, are looked at together: features of either input once, and what they
    support eight times: either input's about either input, twice.
    """
    sizes = []

    def look(outputs, *data):
        sizes.append(len(outputs))
        return outputs > 0.5 if data else outputs

    found = dpaudit.epsilon_lower_bound(
        lambda d, s, r: d + r.laplace(size=s), 0, 1, samples=5000, seed=1, **{what: look}
    )
    assert len(sizes) == calls
    assert found.epsilon > 0.5


def test_features_of_a_sampler_that_differs_are_not_blamed():
    hidden = np.random.default_rng(1)
    with pytest.raises(dpaudit.CheckError, match="different outputs for the same `rng` state"):
        dpaudit.epsilon_lower_bound(lambda d, s, r: hidden.random(s), 0, 1, features=lambda outputs: outputs > 0.5)


@pytest.mark.slow
def test_features_that_differ_by_rounding_are_no_offence():
    weights = np.random.default_rng(1).normal(size=(200, 3))
    found = dpaudit.epsilon_lower_bound(
        lambda d, s, r: d + r.normal(size=(s, 200)), 0, 0.1, samples=2000, features=lambda outputs: outputs @ weights
    )
    assert found.epsilon >= 0


class Locked:
    """Cannot be copied."""

    def __deepcopy__(self, memo):
        raise TypeError("cannot pickle a lock")


def test_an_input_that_cannot_be_copied():
    with pytest.raises(dpaudit.CheckError, match="cannot be copied"):
        bound(lambda d, s, r: r.random(s), Locked(), Locked())


def test_calls_that_only_compare_are_few():
    calls = []

    def sample(data, size, rng):
        calls.append((data, size))
        return rng.random(size)

    sampler = Sampler(sample, "m", Streams(3))
    for data in (0, 1, 0, 1):
        sampler.check_deterministic(data)
    assert [data for data, _ in calls] == [0, 0, 0, 1, 1, 1]
    assert {size for _, size in calls} == {64}


USED_UP = r"keeps a state|same `rng` state|depend on those next|mixed"
"""What an audit says, whichever check a budget is used up in."""


def budgeted(outputs, then, own):
    """Sound for so many outputs, and a constant after these, as a library with a budget of its own may answer."""
    left = outputs
    alone = np.random.default_rng(7)

    def sample(data, size, rng):
        nonlocal left
        answer = (data + (alone if own else rng).laplace(scale=0.2, size=size)).tolist()
        sound, left = min(size, max(left, 0)), left - size
        return answer[:sound] + [then] * (size - sound)

    return sample


@pytest.mark.slow
@pytest.mark.parametrize("own", [False, True], ids=["rng", "own randomness"])
@pytest.mark.parametrize("then", [0.0, "exhausted"])
@pytest.mark.parametrize("outputs", [50, 150, 500, 800, 2000, 3999])
def test_a_budget_of_its_own_that_is_used_up_is_no_pass(outputs, then, own):
    with pytest.raises(dpaudit.CheckError, match=USED_UP):
        assert_private(budgeted(outputs, then, own), pairs=[(0, 1)], epsilon=6.0, samples=2000, own_randomness=own)


@pytest.mark.slow
@pytest.mark.parametrize("own", [False, True], ids=["rng", "own randomness"])
@pytest.mark.parametrize("outputs", [100, 3000])
def test_nor_is_it_under_a_deadline(outputs, own):
    """How many outputs a call asks for depends on the clock, and so does the check in which the budget is used up."""
    with pytest.raises(dpaudit.CheckError, match=USED_UP):
        assert_private(budgeted(outputs, "exhausted", own), pairs=[(0, 1)], epsilon=6.0, seconds=2, own_randomness=own)


@pytest.mark.parametrize("own", [False, True], ids=["rng", "own randomness"])
@pytest.mark.parametrize("rate", [0.0, 1e-6, 1 / 64, 0.5])
def test_outputs_that_are_mostly_equal_keep_no_state(rate, own):
    for seed in range(20):
        sampler = Sampler(lambda d, s, r: r.random(s) < rate, "m", Streams(seed), own_randomness=own)
        sampler.check_deterministic(0)
        sampler.check_unchanged(0)


@pytest.mark.slow
@pytest.mark.parametrize("values", [("a", "other"), (0, 0.5), ([1], [1, 2]), (3, 2**70), (0, None)], ids=str)
def test_a_rare_output_that_changes_the_form_of_all_is_no_state(values):
    def sample(data, size, rng):
        return [values[int(u < 0.03)] for u in rng.random(size).tolist()]

    for seed in range(60):
        sampler = Sampler(sample, "m", Streams(seed), own_randomness=True)
        sampler.check_deterministic(0)
        # Later outputs are others, as those of a generator of its own are.
        sampler._streams = Streams(1000 + seed)
        sampler.check_unchanged(0)


def test_inputs_without_a_key_are_not_taken_for_each_other():
    sampler = Sampler(lambda d, s, r: d[0]() + r.laplace(size=s), "m", Streams(1))
    inputs = [(lambda: 0.0, [1]), (lambda: 5.0, [1])]
    for data in inputs:
        sampler.check_deterministic(data)
    for data in inputs:
        sampler.check_unchanged(data)


@pytest.mark.slow
def test_a_sampler_that_has_become_slow_is_not_called_again_after_the_time():
    began = time.monotonic()

    def sample(data, size, rng):
        time.sleep(0.5 * (time.monotonic() - began > 1))
        return data + rng.laplace(size=size)

    assert_private(sample, pairs=[(0, 1)], epsilon=1.3, seconds=3)
    assert time.monotonic() - began < 3 + 0.5 + 0.6


@pytest.mark.parametrize(("equal", "changed"), [(38, True), (39, False)])
def test_how_many_equal_outputs_at_first_make_equal_ones_later_no_surprise(equal, changed):
    """All 64 are by chance with probability binomial(64 + k, 64) / binomial(128, 64): 6e-10 at k = 38, 1.6e-9 at 39."""
    given = iter([[True] * equal + [False] * (64 - equal), [True] * 64])
    sampler = Sampler(lambda d, s, r: np.array(next(given)), "m", Streams(1), own_randomness=True)
    sampler.check_deterministic(0)
    outcome = pytest.raises(dpaudit.CheckError, match="equal outputs, unlike those at first")
    with outcome if changed else contextlib.nullcontext():
        sampler.check_unchanged(0)


@pytest.mark.slow
def test_a_constant_output_and_rare_outputs_are_no_offence():
    assert bound(lambda d, s, r: np.zeros(s)).epsilon == 0

    def rare(data, size, rng):
        return rng.random(size) < 1 / 64

    # Among 2000 pairs of streams several give the same 64 outputs, one of them different from the others.
    same = 0
    for seed in range(2000):
        Sampler(rare, "rare", Streams(seed)).check_deterministic(0)
        one, two = (Streams(seed).generator("determinism", key) for key in ("one", "other 0"))
        first, second = rare(0, 64, one), rare(0, 64, two)
        same += bool(first.any() and np.array_equal(first, second))
    assert same >= 1


def test_chunks_are_of_fixed_size_and_their_streams_differ():
    sizes, states = [], []

    def sample(data, size, rng):
        sizes.append(size)
        states.append(rng.bit_generator.state["state"]["state"])
        return rng.random(size)

    sampler = Sampler(sample, "m", Streams(3))
    drawn = sampler.draw(0, 2 * CHUNK + 5, "final", 0)
    assert sizes == [CHUNK, CHUNK, 5]
    assert len(drawn) == 2 * CHUNK + 5
    assert len(set(states)) == 3
    assert len(np.unique(drawn)) == len(drawn)
    assert np.array_equal(sampler.draw(0, CHUNK, "final", 0), drawn[:CHUNK])


@pytest.mark.parametrize("form", [list, tuple, np.array])
def test_lists_tuples_and_arrays_are_the_same(form):
    results = {bound(lambda d, s, r: form((r.random(s) < 0.2 + 0.3 * d).tolist())).hits for _ in range(2)}
    assert results == {bound(lambda d, s, r: r.random(s) < 0.2 + 0.3 * d).hits}
