"""Outputs of every odd form: randomized response keeps its epsilon however its two answers are written."""

import hashlib
import json
import math
from fractions import Fraction

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.outputs.outputs import Coder
from dpaudit.claims.record import Record
from dpaudit.testing import assert_private

EPSILON = 1.0


def objects(items):
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def response(data, size, rng):
    return (rng.random(size) < 1 / (1 + math.exp(-EPSILON))) == bool(data)


def choose(one, zero, form=objects):
    return lambda data, size, rng: form([one if kept else zero for kept in response(data, size, rng).tolist()])


def typed(one, zero, dtype=None):
    answers = np.array([zero, one], dtype=dtype)
    return lambda data, size, rng: answers[response(data, size, rng).astype(int)]


class Quarrelsome:
    """Identified by its text alone."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        raise RuntimeError("no comparison")

    __hash__ = None

    def __repr__(self):
        return f"Quarrelsome({self.value})"


TWO_ANSWERS = {
    "half precision": typed(0.5, 1.5, np.float16),
    "extended precision": typed(0.5, 1.5, np.longdouble),
    "beyond double precision": typed(np.longdouble("1e4000"), np.longdouble("2e4000")),
    "rows of extended precision": lambda d, s, r: np.repeat(typed(1, 2, np.longdouble)(d, s, r)[:, None], 3, axis=1),
    "imaginary": typed(1j, 2j),
    "infinite": typed(np.inf, -np.inf),
    "complex and infinite": typed(complex(np.inf, 0), complex(0, -np.inf)),
    "dates": typed(np.datetime64("2020-01-01"), np.datetime64("2020-01-02")),
    "durations": typed(np.timedelta64(1, "s"), np.timedelta64(2, "s")),
    "bytes": typed(b"a", b"bc"),
    "an empty text": typed("", "x"),
    "a trailing NUL": choose("a", "a\0"),
    "a lone surrogate": choose("a", "\ud800\n\x1b[31m"),
    "long texts": choose("a" * 5000, "a" * 5000 + "b", list),
    "the largest integers": typed(np.uint64(2**64 - 1), np.uint64(2**64 - 2)),
    "the ends of the integers": typed(-(2**63), 2**63 - 1),
    "integers of a hundred digits": choose(10**100, 10**100 + 1, list),
    "integers of five thousand digits": choose(10**5000, 10**5000 + 1),
    "keys of five thousand digits": choose({10**5000: 0}, {10**5000: 1}, list),
    "keys with a part of five thousand digits": choose({(10**5000, 1): 0}, {(10**5000, 1): 1}, list),
    "subnormal numbers": typed(5e-324, 0.0),
    "the largest numbers": typed(1.7e308, -1.7e308),
    "a matrix": lambda d, s, r: typed(1.0, 2.0)(d, s, r)[:, None].view(np.matrix),
    "another byte order": typed(1, 2, ">i4"),
    "records": lambda d, s, r: np.array(
        [(int(v), np.nan) for v in response(d, s, r)], dtype=[("a", "i4"), ("b", "f8")]
    ),
    "None": choose(None, 0),
    "a number among tuples": choose((1, math.nan), 1.0),
    "a set and a dict": choose({1, 2}, {1: 2}),
    "arrays": choose(np.arange(2), np.arange(3)),
    "fractions": choose(Fraction(1, 3), Fraction(2, 3), list),
    "values without comparison": choose(Quarrelsome(1), Quarrelsome(2)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TWO_ANSWERS)
def test_two_answers_however_written(name):
    class Response(dpaudit.Mechanism):
        def sample(self, data, size, rng):
            return TWO_ANSWERS[name](data, size, rng)

        def neighbours(self):
            return dpaudit.Neighbouring.any_two_inputs([False, True], scope="a bit")

        def claims(self):
            return [dpaudit.PrivacyClaim(id="c", statement="s", epsilon=0.4)]

    record = dpaudit.check(Response(), samples=5000, seed=3)
    (result,) = record.results
    assert result.verdict == "refuted", result.note
    assert 0.7 < result.measured["epsilon"].lower <= EPSILON
    assert result.witness.p > 0.6
    text = record.to_json()
    assert Record.from_json(text).to_json() == text


def largest(rows):
    """The largest numbers of both signs in place of those beyond 1."""
    return np.where(np.abs(rows) > 1, np.copysign(np.finfo(float).max, rows), rows)


NOISY = {
    "half precision": lambda v: v.astype(np.float16),
    "extended precision": lambda v: v.astype(np.longdouble) * np.longdouble("1e4000"),
    "subnormal": lambda v: np.column_stack([v, v]) * 1e-310,
    "very large": lambda v: np.column_stack([v, -v]) * 1e307,
    "the sum too large": lambda v: np.column_stack([v, v]) * 2e307,
    "very large, in single precision": lambda v: (np.column_stack([v, v, v]) * 1e37).astype(np.float32),
    "codes as large as numbers can be": lambda v: largest(np.column_stack([v, v, v])),
    "beside infinities": lambda v: np.column_stack([np.full(len(v), np.inf), v, np.full(len(v), -np.inf)]),
    "milliseconds": lambda v: np.datetime64("2020-01-01", "ms") + (1000 * v).astype("timedelta64[ms]"),
    "narrow integers": lambda v: np.clip(50 * v, -128, 127).astype(np.int8),
    "integers beyond 2**63": lambda v: np.uint64(2**63 + 10**6) + (100 * v).astype(np.int64).astype(np.uint64),
    "rows beyond 2**63": lambda v: np.column_stack(
        [np.uint64(2**63 + 2000) + (100 * v).astype(np.int64).astype(np.uint64)] * 2
    ),
    "values of a dict": lambda v: [{"noisy": number, "name": "x"} for number in v.tolist()],
    "beside an integer of 400 digits": lambda v: [(10**400, number) for number in v.tolist()],
    "None below zero": lambda v: objects([number if number > 0 else None for number in v.tolist()]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NOISY)
def test_noisy_numbers_however_written(name):
    def sample(data, size, rng):
        return NOISY[name](np.clip(data + rng.laplace(size=size), -8, 8))

    found = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=8000, seed=5)
    assert 0.55 < found.epsilon <= 1.0
    json.dumps(found.recipe)


def test_narrow_integers_keep_their_outcomes_apart():
    numbers = np.arange(-100, 101, dtype=np.int8)
    coder = Coder(numbers)
    assert np.array_equal(coder.codes, np.arange(201))
    assert np.array_equal(coder(numbers[::-1]), np.arange(201)[::-1])


@pytest.mark.slow
def test_outputs_that_never_vary_are_consistent_and_outputs_that_cannot_be_learned_are_not():
    def verdict(sample):
        class Target(dpaudit.Mechanism):
            def sample(self, data, size, rng):
                return sample(data, size, rng)

            def neighbours(self):
                return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")

            def claims(self):
                return [dpaudit.PrivacyClaim(id="c", statement="s", epsilon=0.1)]

        (result,) = dpaudit.check(Target(), samples=2000, seed=1).results
        return result.verdict, result.note

    assert verdict(lambda d, s, r: np.zeros(s))[0] == "consistent"

    def sealed(data, size, rng):
        return [hashlib.shake_256(f"{data + noise!r}".encode()).hexdigest(700) for noise in rng.laplace(size=size)]

    found, note = verdict(sealed)
    assert found == "inconclusive"
    assert "come only once" in note


class Sealed:
    """What is read by its `repr`, which shows nothing."""

    def __init__(self, value):
        self.value = value

    def __reduce__(self):
        return Sealed, (self.value,)

    def __repr__(self):
        return "****"


class Quiet(int):
    """A number that does not write its value."""

    def __repr__(self):
        return "a number"


class Incomparable:
    """What raises where it is compared."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        raise RuntimeError("cannot be compared")

    def __hash__(self):
        return 1

    def __repr__(self):
        return f"Incomparable({self.value})"


@pytest.mark.slow
@pytest.mark.parametrize("inside", [lambda each: each, lambda each: (each, 1), lambda each: {"a": each}])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.str_("a\0"), np.str_("a")),
        (Quiet(1), Quiet(0)),
        ("NA", 1),
        ("NA", "NaT"),
        (Incomparable(1), Incomparable(0)),
    ],
    ids=["zero at the end", "numbers", "NA and 1", "NA and NaT", "incomparable"],
)
def test_values_that_compare_or_write_themselves_oddly_are_told_apart(first, second, inside):
    if isinstance(first, str) and first == "NA":
        pd = pytest.importorskip("pandas")
        first, second = pd.NA, pd.NaT if second == "NaT" else second
    sample = choose(inside(first), inside(second), list)
    assert 0.7 < dpaudit.epsilon_lower_bound(sample, 0, 1, samples=5000).epsilon <= EPSILON


@pytest.mark.slow
@pytest.mark.parametrize("inside", [lambda each: each, lambda each: (each, 1)])
def test_outputs_that_look_the_same_by_their_repr_are_inconclusive(inside):
    sample = choose(inside(Sealed(1)), inside(Sealed(0)))
    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=5000)
    assert (bound.epsilon, bound.detection_limit) == (0, np.inf)
    assert "of values of type Sealed only the `repr` is seen" in bound.notes[0]
    with pytest.raises(AssertionError, match="inconclusive"):
        assert_private(sample, epsilon=3.0, pairs=[(0, 1)], samples=5000)
    drawn = tuple(sample(data, 5000, np.random.default_rng(data)) for data in (0, 1))
    with pytest.raises(AssertionError, match="of values of type Sealed only the `repr` is seen"):
        assert_private(drawn, epsilon=3.0)


def test_a_negative_zero_is_seen_in_the_bits():
    def sample(data, size, rng):
        return np.where(response(data, size, rng), 0.0, -0.0)

    assert dpaudit.epsilon_lower_bound(sample, 0, 1, samples=5000).epsilon == 0
    assert dpaudit.epsilon_lower_bound(sample, 0, 1, samples=5000, features="float-bits").epsilon > 0.7


def test_a_long_range_is_its_ends():
    def sample(data, size, rng):
        return [range(10**7 + int(n)) for n in data + rng.geometric(0.5, size)]

    # The shortest comes on input 0 alone.
    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=5000, seed=1)
    assert bound.epsilon > 3
    assert bound.event == range(10**7 + 1)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_nothing_warns_where_a_part_of_a_text_tells_all():
    def sample(data, size, rng):
        tag = hashlib.md5(str(data).encode(), usedforsecurity=False).hexdigest()
        return [f"{value:.2f}|{tag}" for value in rng.laplace(size=size)]

    assert dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000, seed=1).epsilon > 7
