"""Recognising equal outputs, and taking structured ones apart, against Python's own equality."""

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpaudit
from dpaudit.auditors.learning.scores import OutcomeScore
from dpaudit.auditors.outputs import flat as flat_module
from dpaudit.auditors.outputs import leaves
from dpaudit.auditors.outputs import outputs as outputs_module
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.leaves import count_texts, numbers_and_categories, text_of, words
from dpaudit.auditors.outputs.outputs import Coder, Outputs, coding_of, joined, outcome_keys
from dpaudit.auditors.outputs.positions import matrix_of_positions
from dpaudit.auditors.sampling import order


@dataclass(frozen=True)
class Point:
    x: Any
    y: Any


class Pair(NamedTuple):
    first: Any
    second: Any


PARTS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.integers(), st.floats(), st.sampled_from(["a", "b", b"a"])
)

NUMBERS = ["bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"]


def structured(items):
    outputs = np.empty(len(items), dtype=object)
    outputs[:] = items
    return outputs


def same_partition(codes, values):
    """Whether outputs have equal codes exactly where they are equal."""
    pairs = set(zip(np.asarray(codes).tolist(), values, strict=True))
    return len(pairs) == len({code for code, _ in pairs}) == len({value for _, value in pairs})


def numbers(dtype, shape, rng):
    drawn = rng.integers(0, 2 if dtype == "bool" else 5, shape)
    if dtype in ("float16", "float32", "float64"):
        drawn = (drawn - 2) / 4
    if dtype.startswith("complex"):
        drawn = drawn + 1j * rng.integers(0, 2, shape)
    if dtype == "uint64":
        drawn = drawn.astype(np.uint64) + np.uint64(2**63)
    return drawn.astype(dtype)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 2)])
def test_equal_numbers_get_equal_codes(dtype, shape):
    rng = np.random.default_rng(1)
    outputs, fresh = (numbers(dtype, (500, *shape), rng) for _ in range(2))
    coder = Coder(outputs)
    values = [tuple(row) for row in outputs.reshape(500, -1).tolist()]
    assert same_partition(coder.codes, values)
    assert np.array_equal(coder(outputs), coder.codes)
    known = dict(zip(values, coder.codes.tolist(), strict=True))
    expected = [known.get(tuple(row), -1) for row in fresh.reshape(500, -1).tolist()]
    assert coder(fresh).tolist() == expected
    assert np.array_equal(coder(coder.outcomes), np.arange(len(coder.keys)))


ITEMS = {
    "texts": ["a", "b", "ab", "", "a "],
    "bytes": [b"a", b"ab", b""],
    "tuples": [("a", 1), ("a", 2), ("a", 1, None), (), ("a", (1, 2)), ("a", 1, 2)],
    "numbers of one text": ["1", 1, (1,), "(1,)", None, "None"],
    "dictionaries": [{"a": 1}, {"a": 2}, {"a": 1, "b": 2}, {}],
    "sets": [{1, 2}, {1, 3}, set(), frozenset({(1, 2)}), {"a"}],
    "markers": [None, "abort", 0.5, 1.5, ("abort",)],
}


@pytest.mark.parametrize("name", ITEMS)
def test_equal_structures_get_equal_codes(name):
    items = ITEMS[name]
    which = np.random.default_rng(2).integers(0, len(items), 300)
    coder = Coder(structured([items[i] for i in which]))
    assert same_partition(coder.codes, which.tolist())


def test_arrays_of_texts_get_equal_codes():
    words = np.array(["a", "bcd", "bc"])
    which = np.random.default_rng(3).integers(0, 3, (200, 2))
    for outputs in (words[which], words.astype("S")[which], words.astype(object)[which]):
        assert same_partition(Coder(outputs).codes, [tuple(row) for row in which.tolist()])
    # Texts longer than any that was seen are others, not their beginnings.
    assert Coder(np.array(["ab", "c"]))(np.array(["abc", "ab", "c", "d"])).tolist() == [-1, 0, 1, -1]


def orders(values):
    """Equal sets that were filled in different orders, so that they list their values differently."""
    return [set(order) for order in itertools.permutations(values)]


@pytest.mark.parametrize(
    "members",
    [[], [1], [True, 2], [1, -5, 10**30], [2**4096 - 1], [2**4096, 3], [-(2**4096), 3], ["a", b"b", None], [1, "a"]],
)
def test_sets_are_written_member_by_member(members):
    """Whole numbers and texts are written together; on their own, each is what a list of it has."""
    alone = sorted(text_of([member])[1:-1] for member in members)
    if any(isinstance(member, int) and member.bit_length() > 4096 for member in members):
        alone = sorted(repr(hex(member)) if member.bit_length() > 4096 else repr(member) for member in members)
    expected = repr(("set", alone))
    assert text_of(set(members)).startswith(expected[:256])
    assert len(expected) > 256 or text_of(frozenset(members)) == expected


MEMBERS = st.one_of(PARTS, st.tuples(PARTS, PARTS), st.frozensets(PARTS, max_size=3), st.just(Pair(1, "a")))
"""What sets may hold."""


@pytest.mark.slow
@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.lists(MEMBERS, min_size=1, max_size=12) | st.lists(st.tuples(st.integers(0, 2), st.booleans() | st.just(0.0)))
)
def test_members_that_are_looked_up_have_the_texts_that_each_has_alone(items):
    """Equal pairs of whole numbers are written once; `(1, "a")` and `(True, "a")` are equal, and two categories."""
    texts = [text_of(item) for item in items]
    _, categories = numbers_and_categories(items, lambda text: 1 + texts.index(text))
    expected = [0 if type(item) in (int, float) and item == item else 1 + texts.index(text_of(item)) for item in items]
    assert (categories.tolist() if categories is not None else [0] * len(items)) == expected
    counted = [text for text, place in zip(texts, expected, strict=True) if place]
    assert count_texts(items) == Counter(counted)
    alone = [int(words([item])[0]) for item in items]
    assert words(items).tolist() == alone


def test_equal_pairs_are_written_once(monkeypatch):
    written = []
    monkeypatch.setattr(leaves, "text_of", lambda item: (written.append(item), text_of(item))[1])
    for kind in (tuple, frozenset):
        pairs = [kind((i % 5, 7)) for i in range(100)]
        numbers_and_categories(pairs, len)
        assert len(written) == 5
        written.clear()


def test_a_score_that_knows_no_outcome_looks_at_none(monkeypatch):
    nothing = np.empty(0)
    score = OutcomeScore("text", nothing.astype(str), nothing, nothing)
    monkeypatch.setattr(outputs_module, "text_of", lambda item: pytest.fail("an output was written"))
    assert score(np.zeros((5, 3))).tolist() == [0.0] * 5


def test_sets_are_equal_in_any_order():
    colliding = (0, 8, 16)
    assert len({repr(made) for made in orders(colliding)}) > 1
    for wrap in (lambda s: s, lambda s: (s, 1.0), lambda s: {"key": [s]}, lambda s: {frozenset(s), 3}):
        assert len(np.unique(outcome_keys(structured([wrap(made) for made in orders(colliding)]), "text"))) == 1
    rows = np.empty((6, 2), dtype=object)
    for row, made in zip(rows, orders(colliding), strict=True):
        row[:] = [made, 1]
    assert len(np.unique(outcome_keys(rows, "text"))) == 1


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float64", "float32"])
@pytest.mark.parametrize(("values", "width"), [(3, 10), (2, 16), (40, 3), (256, 2)])
def test_structured_rows_of_small_numbers_never_collide(dtype, values, width):
    rows = np.array(list(itertools.product(range(values), repeat=width)), dtype=dtype)
    assert len(rows) == values**width
    assert len(np.unique(outcome_keys(rows, "row"))) == len(rows)


def test_rows_do_not_collide_whatever_their_scale():
    steps = np.array(list(itertools.product(range(-2, 3), repeat=6)))
    for rows in (steps * 2.0**-40, steps * 2**40, steps * 0.1, np.where(steps == 2, np.inf, steps), 1e300 * steps):
        assert len(np.unique(outcome_keys(rows, "row"))) == len(steps)


def test_the_sign_of_zero_makes_no_difference():
    for outputs in (np.array([0.0, -0.0]), np.array([[0.0, 1.0], [-0.0, 1.0]]), np.array([0j, -0j, complex(-0.0, 0)])):
        assert len(Coder(outputs).keys) == 1
    for inside in (
        lambda zero: (zero, "a"),
        lambda zero: [1, [zero]],
        lambda zero: {"a": zero},
        lambda zero: {zero, 1},
    ):
        assert len(Coder(structured([inside(0.0), inside(-0.0)])).keys) == 1
    records = np.array([(0.0, 1), (-0.0, 1)], dtype=[("a", float), ("b", int)])
    assert len(Coder(records).keys) == 1


def test_outcomes_that_do_not_repeat_get_no_code():
    coder = Coder(np.array([5, 7, 5, 9, 7, 5]), at_least=2)
    assert coder.codes.tolist() == [0, 1, 0, -1, 1, 0]
    assert coder.outcomes.tolist() == [5, 7]
    none = Coder(np.array([1.5, 2.5]), at_least=2)
    assert none.codes.tolist() == [-1, -1]
    assert none(np.array([1.5])).tolist() == [-1]


def test_whole_numbers_far_apart_and_beyond_what_was_seen():
    wide = np.array([-(2**63), 0, 2**63 - 1])
    assert Coder(wide)(np.r_[wide, 1]).tolist() == [0, 1, 2, -1]
    near = Coder(np.array([3, 5], dtype=np.int8))
    assert near(np.array([-128, 2, 3, 4, 5, 127], dtype=np.int8)).tolist() == [-1, -1, 0, -1, 1, -1]


def test_codings():
    assert coding_of(np.zeros(2)) == coding_of(np.zeros((2, 1))) == coding_of(np.zeros(2, dtype=bool)) == "number"
    assert coding_of(np.zeros((2, 3))) == coding_of(np.zeros(2, dtype=complex)) == "row"
    assert coding_of(np.array(["a"])) == coding_of(structured([1])) == coding_of(structured(["a", None])) == "text"
    assert coding_of(structured([(1,), "a"])) == coding_of(structured([1.5, None])) == "values"


def test_equal_structures_have_equal_keys_and_others_do_not():
    equal = [
        [(1, 2.0), [1, 2.0], Pair(1, 2.0), np.array([1, 2.0], dtype=object)],
        [Point(1, 2.0), Point(1, 2.0)],
        [(1.0, 2.0), np.array([1.0, 2.0]), [np.float64(1.0), np.float32(2.0)]],
        [{"a": 1, "b": (2,)}, {"b": [2], "a": 1}],
        [{"a": 1, "b": (2.0,)}],
        [(math.nan, 1), (-math.nan, 1)],
        [(0.0,), (-0.0,), np.array([-0.0])],
        [(0.0, "a"), (-0.0, "a"), [np.float32(-0.0), "a"]],
        [(0.0, -1j), (-0.0, complex(-0.0, -1))],
        [Point(0.0, 1), Point(-0.0, 1)],
        [{"a": 0.0}, {"a": -0.0}],
        [{0.0: "a"}, {-0.0: "a"}],
        [{0.0, "a"}, {-0.0, "a"}],
        [{0j, "b"}, {complex(-0.0, -0.0), "b"}],
        [(np.longdouble(0), "c"), (np.longdouble("-0"), "c")],
        [[[0.0], [1.0, 2.0]], [[-0.0], [1.0, 2.0]]],
        [(True, 2.0)],
        [("1", 2.0)],
        [(None, 2.0)],
        [((1, 2.0),)],
        [(1, 2.0, None)],
        [{1.5, 2.5}, {2.5, 1.5}],
        [(10**30, 1), (10**30, np.int64(1))],
        [(2**63 - 1, 1)],
        [()],
        [{}],
    ]
    items = [item for group in equal for item in group]
    labels = [i for i, group in enumerate(equal) for _ in group]
    together = outcome_keys(structured(items), "values")
    alone = np.concatenate([outcome_keys(structured([item]), "values") for item in items])
    assert np.array_equal(together, alone)
    assert same_partition(together, labels)


EXACT_PARTS = PARTS.filter(lambda part: type(part) is not int or abs(part) <= 2**53)
"""Values that are one number or category each: longer whole numbers are two, see test_long_integers.py."""

STRUCTURES = st.recursive(
    PARTS,
    lambda inside: st.one_of(
        st.lists(inside, max_size=3),
        st.tuples(inside, inside),
        st.dictionaries(st.sampled_from(["x", "y", 1, None]), inside, max_size=3),
        st.builds(Point, inside, inside),
        st.builds(Pair, inside, inside),
    ),
    max_leaves=6,
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(STRUCTURES, min_size=1, max_size=12))
def test_keys_are_equal_exactly_where_texts_are(items):
    keys = outcome_keys(structured(items), "values")
    assert same_partition(keys, [text_of(item) for item in items])
    alone = [outcome_keys(structured([item]), "values")[0] for item in items]
    assert keys.tolist() == alone


# Columns.


def rows_one_by_one(columns, outputs):
    return np.concatenate([columns(outputs[i : i + 1]) for i in range(len(outputs))])


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(STRUCTURES, min_size=2, max_size=12))
def test_columns_do_not_depend_on_the_outputs_that_are_taken_apart_together(items):
    outputs = structured(items)
    columns = Columns.fit(outputs)
    assert np.array_equal(columns(outputs), rows_one_by_one(columns, outputs))


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.lists(EXACT_PARTS, min_size=2, max_size=4).map(tuple), min_size=2, max_size=12))
def test_columns_of_sequences_are_those_of_the_definition(items):
    outputs = structured(items)
    columns = Columns.fit(outputs)
    everything = matrix_of_positions(outputs, len(columns.paths), columns.categories)
    assert columns.paths == tuple(f"[{i}]" for i in range(max(map(len, items))))
    assert np.array_equal(columns(outputs), everything[:, list(columns.kept)])
    for left_out in set(range(everything.shape[1])) - set(columns.kept):
        values, number = everything[:, left_out], everything[:, left_out - 1]
        says_whether_positive = left_out and left_out % 2 == 0 and np.array_equal(values, np.where(number > 0, 0, -1))
        assert (values == values[0]).all() or says_whether_positive


def test_columns_of_tuples_are_their_numbers_and_categories():
    columns = Columns.fit(structured([(1.5, None, 3), (2.5, "yes"), (None, None, True), ()]))
    assert columns.paths == ("[0]", "[1]", "[2]")
    assert columns.categories == ("None", "'yes'", "True")
    assert columns.names == (
        "number of values in the output",
        "output[0]",
        "kind of output[0]",
        "kind of output[1]",
        "output[2]",
        "kind of output[2]",
    )
    expected = [
        [3, 1.5, 0, 1, 3, 0],
        [2, 2.5, 0, 2, 0, -1],
        [3, 0, 1, 1, 0, 3],
        [0, 0, -1, -1, 0, -1],
        # Values never seen before share a category; what is beyond the last place shows in the number of values.
        [4, 0, 4, 0, 0, 4],
    ]
    fresh = structured([(1.5, None, 3), (2.5, "yes"), (None, None, True), (), ("no", 7, b"?", 9)])
    assert columns(fresh).tolist() == expected
    assert [columns.value_of(3, code) for code in (-1, 0, 2, 4)] == ["nothing", "a number", "'yes'", "another value"]
    assert columns.value_of(1, 0) is None


NAMED = {
    "dict": ([{"a": (1.5, [2]), "b": 1}, {"b": 3, "a": (2.5, [3])}], ["['a'][0]", "['a'][1][0]", "['b']"]),
    "named tuple": ([Pair(1, (2.5, 3)), Pair(2, (3.5, 4))], [".first", ".second[0]", ".second[1]"]),
    "dataclass": ([Point(1, {"k": 2}), Point(3, {"k": 4})], [".x", ".y['k']"]),
    "nested": ([((1, 2), [3, (4.5,)]), ((5, 6), [7, (8.5,)])], ["[0][0]", "[0][1]", "[1][0]", "[1][1][0]"]),
    "complex": ([(1 + 2j, 1.5), (3 + 4j, 2.5)], ["[0].real", "[0].imag", "[1]"]),
    "array": ([(np.arange(2), 1), (np.arange(2) + 1, 2)], ["[0][0]", "[0][1]", "[1]"]),
    "set": ([({0.5, 2.5}, 1), ({1.5, 3.5}, 2)], ["[0][0]", "[0][1]", "[1]"]),
}


@pytest.mark.parametrize("name", NAMED)
def test_places_are_written_as_python_writes_them(name):
    items, expected = NAMED[name]
    columns = Columns.fit(structured(items))
    assert list(columns.names) == [f"output{path}" for path in expected]
    if name not in ("complex", "set"):
        for item, row in zip(items, columns(structured(items)).tolist(), strict=True):
            assert row == [eval(what, {"output": item}) for what in columns.names]


def test_columns_of_records_texts_and_arrays():
    records = np.array([(1, 2.5), (3, 4.5)], dtype=[("count", "i4"), ("share", "f8")])
    assert Columns.fit(records).names == ("output['count']", "output['share']")
    assert Columns.fit(records)(records).tolist() == [[1, 2.5], [3, 4.5]]
    assert np.array_equal(outcome_keys(records, "values"), outcome_keys(structured([(1, 2.5), (3, 4.5)]), "values"))
    words = np.array(["ab", "b"])
    # How many characters, which comes first, and which second.
    assert Columns.fit(words)(words).tolist() == [[2, 2, 1], [1, 1, -1]]
    grid = np.arange(8).reshape(2, 2, 2)
    assert Columns.fit(grid)(grid).tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    plane = np.array([1 + 2j, 3 - 1j])
    assert Columns.fit(plane)(plane).tolist() == [[1, 2], [3, -1]]


def test_numbers_of_numpy_inside_of_structures_are_numbers():
    outputs = structured([(np.int64(3), np.float32(0.5), np.True_), (np.uint8(4), np.float64(1.5), np.False_)])
    columns = Columns.fit(outputs)
    assert columns.categories == ("False", "True")
    assert columns(outputs).tolist() == [[3, 0.5, 2], [4, 1.5, 1]]


def test_columns_are_finite_whatever_numbers_there_are():
    huge = 10**400
    outputs = structured([(np.inf, None), (-np.inf, 1), (np.nan, 2), (huge, 3), (-huge, 4), (huge**2, 5)])
    columns = Columns.fit(outputs)
    matrix = columns(outputs)
    assert np.isfinite(matrix).all()
    # NaN cannot be compared and is a category.
    assert columns.categories == ("None", "nan")
    found = dict(zip(columns.names, matrix.T.tolist(), strict=True))
    assert found["output[0]"] == [1e300, -1e300, 0, 0, 0, 0]
    # A category is 0 for a number and -1 where there is no value: the long numbers are elsewhere.
    assert found["kind of output[0]"] == [0, 0, 2, -1, -1, -1]
    assert found["output[0] // 2**992"] == [0, 0, 0, float(huge // 2**992), float(-huge // 2**992), 1e300]


@pytest.mark.slow
def test_parts_that_only_the_last_outputs_have_are_learned():
    outputs = structured([(1.0,)] * 20_000 + [(1.0, "late", 2.0)] * 20_000)
    columns = Columns.fit(outputs)
    assert columns.paths == ("[0]", "[1]", "[2]")
    assert columns.categories == ("'late'",)


def test_equal_sets_inside_of_tuples_are_one_category():
    outputs = structured([(made, 1.5) for made in orders((0, 8, 16))])
    columns = Columns.fit(outputs)
    assert len(columns.categories) == 1
    assert len(np.unique(columns(outputs), axis=0)) == 1


def test_wide_outputs_are_columns_in_few_bytes():
    rng = np.random.default_rng(4)
    for wrap in (lambda bits, cohort: (bits, cohort), lambda bits, cohort: (bits.tolist(), cohort)):
        outputs = structured([wrap(rng.integers(0, 2, 128), int(rng.integers(0, 8))) for _ in range(300)])
        columns = Columns.fit(outputs)
        assert columns.names == (*(f"output[0][{i}]" for i in range(128)), "output[1]")
        assert columns(outputs).dtype == np.int8
        assert columns(outputs)[5].tolist() == [*map(int, outputs[5][0]), outputs[5][1]]
    assert columns(structured([wrap(rng.integers(0, 2, 128), 1000)])).dtype == np.int16


@pytest.mark.slow
def test_of_very_many_parts_no_more_than_4096_have_columns():
    assert len(Columns.fit(structured([tuple(range(4097)), ()])).paths) == 4096
    assert Columns.fit(structured([tuple(range((1 << 17) + 1)), ()])) is None
    assert len(Columns.fit(structured([tuple(range(1000)), ()])).paths) == 1000


# Outputs that remember.


@pytest.fixture
def counted(monkeypatch):
    """Numbers of outputs that were taken apart and keyed."""
    seen = {"rows": 0, "keys": 0}
    rows, keys = Columns.__call__, outputs_module.outcome_keys

    def counting_rows(self, outputs):
        seen["rows"] += len(outputs)
        return rows(self, outputs)

    def counting_keys(outputs, coding):
        seen["keys"] += 0 if isinstance(outputs, Outputs) else len(outputs)
        return keys(outputs, coding)

    monkeypatch.setattr(Columns, "__call__", counting_rows)
    monkeypatch.setattr(outputs_module, "outcome_keys", counting_keys)
    return seen


def test_slices_and_joined_outputs_share_what_was_worked_out(counted):
    items = [(i, "ab"[i % 2], [i / 8]) for i in range(100)]
    raw = structured(items)
    columns = Columns.fit(raw)
    expected_rows, expected_keys = columns(raw), outcome_keys(raw, "values")
    counted.update(rows=0, keys=0)
    outputs, others = Outputs(raw), Outputs(raw[:7].copy())
    which = np.array([99, 3, 3, 50])
    parts = {
        "slice": (outputs[10:40], np.arange(10, 40)),
        "slice of a slice": (outputs[30:90][5:50], np.arange(35, 80)),
        "numbers": (outputs[which], which),
        "mask": (outputs[np.arange(100) % 3 == 0], np.arange(0, 100, 3)),
        "steps": (outputs[::7], np.arange(0, 100, 7)),
        "joined": (joined([outputs[50:], outputs[:50]]), np.r_[50:100, 0:50]),
        "slice of joined": (joined([outputs[50:], outputs[:50]])[40:60], np.r_[90:100, 0:10]),
        "mask of numbers": (outputs[which][np.array([True, False, True, True])], which[[0, 2, 3]]),
        "nothing": (outputs[5:5], np.arange(0)),
        "everything": (outputs, np.arange(100)),
    }
    for part, places in parts.values():
        assert len(part) == len(places)
        assert part.raw.tolist() == [items[i] for i in places]
        assert np.array_equal(part.rows(columns), expected_rows[places])
        assert np.array_equal(part.keys("values"), expected_keys[places])
    assert counted == {"rows": 100, "keys": 100}
    both = joined([outputs, others])
    picked = both[np.array([99, 100, 106])]
    assert picked.raw.tolist() == [items[i] for i in (99, 0, 6)]
    assert np.array_equal(picked.rows(columns), expected_rows[[99, 0, 6]])
    assert np.array_equal(both.rows(columns)[100:], expected_rows[:7])
    assert counted["rows"] <= 100 + 3 + 7


@pytest.mark.slow
@pytest.mark.parametrize("form", ["dicts", "tuples of two kinds", "ragged lists"])
def test_an_audit_takes_every_output_apart_once_and_keys_it_once(counted, form):
    drawn = []

    def sample(data, size, rng):
        numbers = (rng.laplace(size=(size, 4)) + 0.4 * data).tolist()
        drawn.append(size)
        if form == "dicts":
            return [dict(zip("abcd", row, strict=True)) for row in numbers]
        if form == "tuples of two kinds":
            return [(*row, None) if row[0] > 1 else (*row, "x") for row in numbers]
        return [row[: 2 + (row[0] > 0) + (row[1] > 0)] for row in numbers]

    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000, seed=1)
    assert bound.epsilon > 0.3
    calls = [size for size in drawn if size >= 1000]
    # The final sample is keyed only where outcomes are the event; nothing is ever taken apart for two scores. So many
    # outputs on either input, however many there are, are taken apart to see whether they depend on each other.
    # So are those that are drawn alone before a claim is refuted.
    alone = sum(size for size in drawn if size == 1)
    assert 0 < counted["rows"] <= sum(calls) + 2 * order._MOST_PARTS + alone
    assert 0 < counted["keys"] <= sum(drawn)


KINDS_OF_ITEMS = {
    "dicts": [{"a": i, "b": i / 3} for i in range(40)],
    "lists of two lengths": [[i, "x"] if i % 3 else [i] for i in range(40)],
    "lists of one text": [["some"], ["other"]] * 20,
    "texts and numbers": [i if i % 2 else "word" for i in range(40)],
}


@pytest.mark.parametrize("kind", KINDS_OF_ITEMS)
def test_what_is_remembered_is_what_would_be_worked_out_anew(kind):
    items = KINDS_OF_ITEMS[kind]
    raw = [structured(items[:20]), structured(items[20:])]
    x, y = map(Outputs, raw)
    halves = x[:10], y[:10]
    columns = halves[0].columns_with(halves[1])
    assert columns == Columns.fit(structured(items[:10] + items[20:30]))
    for outputs, anew in zip((*halves, x, y), (raw[0][:10], raw[1][:10], *raw), strict=True):
        assert np.array_equal(outputs.rows(columns), columns(anew))
        assert np.array_equal(outputs.keys("values"), outcome_keys(anew, "values"))


def test_structured_outputs_are_taken_apart_once(monkeypatch):
    taken = []

    def counted(items, characters, original=flat_module._flat):
        taken.extend(items)
        return original(items, characters)

    monkeypatch.setattr(flat_module, "_flat", counted)
    items = KINDS_OF_ITEMS["dicts"]
    x, y = Outputs(structured(items[:20])), Outputs(structured(items[20:]))
    columns = x.columns_with(y)
    for outputs in (x, y, x[:5], y[3:8]):
        outputs.rows(columns)
        outputs.keys("values")
    assert taken == items


GROUPS = {
    "lists of several lengths": [[0.5 * i, "ab"[i % 2]][: i % 3] for i in range(300)],
    "lists and tuples": [(i, i / 7) if i % 2 else [i / 3] for i in range(300)],
    "dicts of two sizes": [{"a": i, "b": [1.5, i]} if i % 3 else {"b": [2.5, i]} for i in range(300)],
    "lists of one text, and others": [["one"] if i % 4 else [i, None] for i in range(300)],
    "lists in lists": [[[1, 2.5], i] if i % 2 else [[i]] for i in range(300)],
}


@pytest.mark.parametrize("characters", [False, True])
@pytest.mark.parametrize("kind", GROUPS)
def test_groups_are_taken_apart_as_their_outputs_are_one_by_one(monkeypatch, kind, characters):
    outputs = structured(GROUPS[kind])
    columns, keys = Columns.fit(outputs), outcome_keys(outputs, "values")
    matrix = columns(outputs)
    assert isinstance(flat_module._flat(outputs, characters), flat_module.Grouped)
    monkeypatch.setattr(flat_module, "_grouped", lambda items, characters: None)
    assert isinstance(flat_module._flat(outputs, characters), flat_module.Varied)
    assert columns == Columns.fit(outputs)
    assert np.array_equal(matrix, columns(outputs))
    assert np.array_equal(keys, outcome_keys(outputs, "values"))


def test_outputs_that_are_no_groups_of_one_structure_are_taken_apart_one_by_one():
    deeper = [[[i], [i, i]] if i % 2 else [[i, i], [i]] for i in range(300)]
    lengths = [list(range(i % 100)) for i in range(300)]
    for items in (deeper, lengths, [*GROUPS["lists and tuples"], 1.5]):
        assert isinstance(flat_module._flat(structured(items), False), flat_module.Varied)


OTHER_ROWS = [[2, "b", 0.5, None], [1.0, "b", 0.5, None], [None, "b", 0.5, 1], [7, 8, 0.5, "c"]]


@pytest.mark.parametrize("make", [list, tuple])
@pytest.mark.parametrize("other", OTHER_ROWS)
def test_numbers_beside_other_values_stay_in_their_places(make, other):
    """Also where a later output has a value of another type at a place."""
    rows = [[i, "ab"[i % 2], i / 7, None] for i in range(50)] + [other] * 3
    (flat,) = (flat for _, flat in flat_module.blocks(structured(list(map(make, rows))), characters=True))
    assert isinstance(flat, flat_module.Uniform)
    places = list(zip(*rows, strict=True))
    assert [tuple(column) for column in flat.columns] == places
    for column, place in zip(flat.columns, places, strict=True):
        numbers = {type(value) for value in place} in ({float}, {int})
        assert isinstance(column, np.ndarray) == numbers


@pytest.mark.parametrize(
    "of", [lambda: Outputs(np.arange(10))[2:5], lambda: joined([np.arange(2, 4), np.arange(4, 5)])]
)
def test_numbers_outside_of_a_slice_select_none_of_its_neighbours(of):
    outputs = of()
    assert outputs[np.array([2, 0])].raw.tolist() == [4, 2]
    assert outputs[np.array([False, True, False])].raw.tolist() == [3]
    assert outputs[np.array([])].raw.tolist() == outputs[3:3].raw.tolist() == []
    for wrong in ([3], [-1], [0, 3], [True], [True] * 4):
        with pytest.raises(IndexError, match=r"(among|one of) 3"):
            of()[np.array(wrong)]


NO_OUTPUTS = {
    "whole numbers": np.arange(6) % 3,
    "numbers": np.arange(6) % 3 / 2,
    "truth values": np.arange(6) % 2 == 1,
    "complex numbers": np.arange(6) % 3 * 1j,
    "rows": np.ones((6, 3)),
    "rows of one number": np.ones((6, 1)),
    "an array of texts": np.array(list("ababab")),
    "bytes": np.array(list("ababab")).astype("S"),
    "rows of texts": np.array([["a", "b"]] * 6),
    "texts and numbers": structured(["a", 1] * 3),
    "tuples": structured([(1, "a"), (2.5, "b")] * 3),
    "records": np.array([(1.0, 2)] * 6, dtype=[("a", float), ("b", int)]),
}


@pytest.mark.parametrize("kind", NO_OUTPUTS)
@pytest.mark.parametrize("wrap", [lambda outputs: outputs, Outputs], ids=["arrays", "outputs"])
def test_no_outputs_have_no_codes(kind, wrap):
    some = NO_OUTPUTS[kind]
    none = some[:0]
    learned_from_none = Coder(wrap(none))
    assert len(learned_from_none.keys) == len(learned_from_none.codes) == len(learned_from_none.outcomes) == 0
    assert learned_from_none(wrap(some)).tolist() == [-1] * 6
    assert learned_from_none(wrap(none)).tolist() == []
    assert Coder(wrap(some))(wrap(none)).tolist() == []
    score = OutcomeScore.fit(wrap(some), wrap(some))
    assert score(wrap(none)).tolist() == []
    # Keys keep their type beside those of none.
    coding = coding_of(some)
    assert joined([none, some]).keys(coding).dtype == outcome_keys(some, coding).dtype
    columns = Outputs(some).columns_with(Outputs(some))
    assert Outputs(some)[3:3].rows(columns).shape == (0, columns(some).shape[1])


def test_keys_of_very_many_columns_are_those_of_each_alone(monkeypatch):
    """Columns of numbers are hashed together, however many fit at once."""
    rng = np.random.default_rng(1)
    rows = [[*rng.normal(size=50).tolist(), *rng.integers(-5, 5, 50).tolist(), "a", *rng.normal(size=50).tolist()]
            for _ in range(40)]  # fmt: skip
    rows.append(rows[0])
    together = outcome_keys(structured(rows), "values")
    alone = [int(outcome_keys(structured([row]), "values")[0]) for row in rows]
    assert together.tolist() == alone
    for at_once in (1, 100, 1000):
        monkeypatch.setattr(outputs_module, "_WORDS_AT_ONCE", at_once)
        assert outcome_keys(structured(rows), "values").tolist() == alone
