"""What becomes of an output does not depend on the others of its call, and calls may differ in form."""

from collections import namedtuple
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.learning.scores import ColumnScore, OutcomeScore, is_of_numbers
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.forms import Forms, as_objects, concatenated, end_to_end
from dpaudit.auditors.outputs.outputs import outcome_keys
from dpaudit.auditors.sampling.budget import Budget
from dpaudit.auditors.sampling.sampler import Sampler
from dpaudit.auditors.sampling.streams import Streams


class Colour(str, Enum):  # noqa: UP042
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1


class Name(str):
    __slots__ = ()


@dataclass(frozen=True)
class Point:
    x: object
    y: object


SEEDS = (21, 25, 29)

Pair = namedtuple("Pair", "left right")


SINGLES = [
    "ab", "", "user1", np.str_("ab"), np.str_("user2"), Colour.RED, Colour.BLUE, Name("abc"), b"ab", np.bytes_(b"ab"),
    None, 0, 1, -3, 2**63, 2**70, True, False, np.bool_(True), 1.5, -0.0, 1e400, np.float32(0.1), np.float64(2.5),
    np.int8(3), np.uint64(2**64 - 1), np.longdouble(1) / 3, Decimal("1.5"), Fraction(1, 3), 1j, np.clongdouble(1) / 3,
    np.complex64(0.1), Level.LOW, Decimal("-12345678901234567.89"), datetime(2026, 1, 1, tzinfo=UTC), date(2026, 1, 1),
    timedelta(seconds=1),
]  # fmt: skip


def output(rng, depth=2):
    kind = rng.integers(14) if depth else 0
    if kind < 5:
        return SINGLES[rng.integers(len(SINGLES))]
    parts = [output(rng, depth - 1) for _ in range(rng.integers(4))]
    if kind < 7:
        return parts
    if kind < 9:
        return tuple(parts)
    made = [
        {"abcd"[i]: part for i, part in enumerate(parts)},
        [parts[0]] if parts else [],
        np.arange(rng.integers(1, 4), dtype=rng.choice([float, np.int32, np.float16])),
        {0.5, 1.5} if rng.random() < 0.5 else frozenset({1, "a"}),
        Pair(*parts[:2]) if len(parts) > 1 else Point(parts, 1),
    ]
    return made[kind - 9]


def batches(seed):
    """Outputs of many kinds, and outputs of few."""
    rng = np.random.default_rng(seed)
    if seed % 2:
        return as_list([output(rng) for _ in range(40)])
    few = [output(rng) for _ in range(3)]
    return as_list([few[i] for i in rng.integers(3, size=40)])


def as_list(items):
    made = np.empty(len(items), dtype=object)
    made[:] = items
    return made


@pytest.mark.parametrize("seed", range(60))
def test_columns_and_keys_of_an_output_are_its_own(seed):
    outputs = batches(seed)
    columns = Columns.fit(outputs)
    whole, keys = columns(outputs), outcome_keys(outputs, "values")
    for size in (1, 7):
        parts = [outputs[i : i + size] for i in range(0, len(outputs), size)]
        assert np.array_equal(np.concatenate([columns(part) for part in parts]), whole)
        assert np.array_equal(np.concatenate([outcome_keys(part, "values") for part in parts]), keys)


@pytest.mark.parametrize("single", SINGLES, ids=repr)
def test_one_other_output_changes_no_columns(single):
    many = as_list([single, single, single])
    for other in ("xyz", (1, "a"), None, ["ab"]):
        mixed = as_list([single, other, single])
        columns = Columns.fit(as_list([*SINGLES, other]))
        assert np.array_equal(columns(mixed)[[0, 2]], columns(many)[:2])


@pytest.mark.parametrize("fields", [[("a", object)], [("a", object), ("b", float)]])
def test_records_are_taken_apart_alike(fields):
    uniform = np.array([("ab", 1.5)[: len(fields)]] * 3, dtype=fields)
    mixed = uniform.copy()
    mixed["a"][1] = (1, 2)
    columns = Columns.fit(mixed)
    assert np.array_equal(columns(mixed)[[0, 2]], columns(uniform)[:2])


@pytest.mark.slow
def test_a_rare_text_among_numpy_texts_refutes_nothing():
    names = np.array([f"user{i:05d}" for i in range(20000)])

    def ignores(data, size, rng):
        out = list(rng.choice(names, size))
        for i in np.flatnonzero(rng.random(size) < 1e-3):
            out[i] = "nobody"
        return out

    # Seeds that were refuted where the whole call decided how its texts are taken apart.
    assert [dpaudit.epsilon_lower_bound(ignores, 0, 1, samples=1000, seed=s).epsilon for s in SEEDS] == [0] * 3


def rarely(usual, other, rate):
    def sample(data, size, rng):
        values = rng.laplace(data, 1, size).tolist()
        return [other(v) if u < rate else usual(v) for u, v in zip(rng.random(size).tolist(), values, strict=True)]

    return sample


FORMS = {
    "None": (float, lambda v: None),
    "longer lists": (lambda v: [v, v], lambda v: [v, v, v]),
    "a whole number among others": (float, round),
    "a large whole number": (round, lambda v: 2**70),
    "text": (round, lambda v: "none"),
}


@pytest.mark.slow
@pytest.mark.parametrize("rate", [1e-3, 0.3])
@pytest.mark.parametrize("name", FORMS)
def test_outputs_of_a_form_that_comes_later(name, rate):
    sample = rarely(*FORMS[name], rate)
    assert dpaudit.epsilon_lower_bound(sample, 0, 1, samples=1000, stop_early=True).epsilon <= 1.0
    assert 0.5 < dpaudit.epsilon_lower_bound(sample, 0, 3, samples=2000).epsilon <= 3.0
    assert 0.3 < dpaudit.privacy_bounds(sample, 0, 3, samples=2000).epsilon(0.0) <= 3.0


def test_the_form_of_the_first_call_binds_none():
    """A first call for one output, as under a deadline, gives a number by chance."""
    calls = iter([[1.5], [None, 2.5], [3.5, 4.5]])
    sampler = Sampler(lambda d, s, r: next(calls), "m", Streams(0, ()))
    found = [sampler.draw_once(0, size, "some") for size in (1, 2, 2)]
    assert found[1].tolist() == [None, 2.5]
    assert found[2].dtype == object
    assert found[2].tolist() == [3.5, 4.5]


def test_after_the_choice_an_output_is_looked_at_alone():
    calls = iter([[1.5, 2.5], [None, 2.5, 7, np.float32(0.5), (1, 2)], [7, 8], [3.5, 4.5]])
    sampler = Sampler(lambda d, s, r: next(calls), "m", Streams(0, ()))
    sampler.draw_once(0, 2, "some")
    sampler.keep_form()
    found = [sampler.draw_once(0, size, "some") for size in (5, 2, 2)]
    assert [each.dtype for each in found] == [float] * 3
    assert [each.tolist() for each in found] == [[0, 2.5, 0, 0.5, 0], [0, 0], [3.5, 4.5]]


def test_arrays_of_numbers_of_two_forms_stay_an_error():
    forms = Forms()
    assert forms.admits(("f", ()), listed=False)
    assert not forms.admits(("i", ()), listed=False)
    assert not forms.admits(("f", (2,)), listed=False)
    assert forms.admits(("O", ()), listed=False)
    assert forms.seen == ("O", ())


def test_objects_hold_the_same_values():
    rows = np.arange(6.0).reshape(3, 2)
    assert as_objects(rows).tolist() == rows.tolist()
    assert as_objects(rows).shape == (3,)


@pytest.mark.parametrize("samples", [2e4, True, "20000"])
def test_samples_are_a_whole_number(samples):
    def sample(data, size, rng):
        return rng.random(size)

    for ask in (
        lambda: Budget(samples=samples),
        lambda: dpaudit.epsilon_lower_bound(sample, 0, 1, samples=samples),
        lambda: dpaudit.privacy_bounds(sample, 0, 1, samples=samples),
    ):
        with pytest.raises(dpaudit.ParameterError, match="samples must be a whole number"):
            ask()


def test_scores_tell_whether_they_are_of_numbers():
    numbers = np.repeat([0, 1], 50)
    assert is_of_numbers(OutcomeScore.fit(numbers, numbers))
    assert is_of_numbers(ColumnScore(0, columns=None))
    objects = as_list([None, (1, 2)] * 50)
    assert not is_of_numbers(OutcomeScore.fit(objects, objects))
    assert not is_of_numbers(ColumnScore(0, columns=Columns.fit(objects)))


@pytest.mark.parametrize(
    "parts",
    [
        [np.arange(6.0).reshape(3, 2), np.ones((4, 2)), np.zeros((1, 2))],
        [np.asfortranarray(np.arange(6.0).reshape(3, 2)), np.asfortranarray(np.ones((4, 2)))],
        [np.arange(3), np.array([0.5, 2.0]), np.arange(2)],
        [np.array(["a", "b"]), np.array(["longer"])],
        [as_objects(np.arange(2)), np.array([[1, 2], [3, 4]])],
        [np.arange(4)],
    ],
    ids=["rows", "columns in one piece", "types", "texts", "objects", "one"],
)
def test_outputs_that_come_one_after_the_other_are_as_those_that_are_joined(parts):
    expected = concatenated(parts)
    found = end_to_end(iter(parts), sum(map(len, parts)))
    assert found.dtype == expected.dtype
    assert found.flags.f_contiguous == expected.flags.f_contiguous
    assert found.tolist() == expected.tolist()


def test_a_record_is_the_same_whatever_types_other_calls_have():
    whole = np.array([(1, 2**53 + 1), (2, 2**53 + 3)], dtype=[("a", "i8"), ("b", "i8")])
    others = [np.array([(1, 0.5)], dtype=[("a", "i8"), ("b", kind)]) for kind in ("f8", object)]
    alone = outcome_keys(concatenated([whole, others[1]]), "values")[:2].tolist()
    for other in others:
        both = concatenated([whole, other])
        assert both["b"].tolist() == [2**53 + 1, 2**53 + 3, 0.5]
        assert both.dtype["a"] == "i8"
        assert outcome_keys(both, "values")[:2].tolist() == alone
        assert end_to_end(iter([whole, other]), 3)["b"].tolist() == both["b"].tolist()
