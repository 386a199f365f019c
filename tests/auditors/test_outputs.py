"""Recognising equal outputs, and taking structured ones apart, against Python's own equality."""

import itertools

import numpy as np
import pytest

from dpaudit.auditors.columns import Columns
from dpaudit.auditors.outputs import Coder, coding_of, outcome_keys

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
    assert coding_of(np.array(["a"])) == coding_of(structured([1])) == "text"


# Columns.


def test_columns_of_tuples_are_their_numbers_and_categories():
    columns = Columns.fit(structured([(1.5, None, 3), (2.5, "yes"), (None, None, True), ()]))
    assert columns.positions == 3
    assert columns.categories == ("None", "'yes'", "True")
    expected = [
        [3, 1.5, 0, 0, 1, 3, 0],
        [2, 2.5, 0, 0, 2, 0, -1],
        [3, 0, 1, 0, 1, 0, 3],
        [0, 0, -1, 0, -1, 0, -1],
        # Values never seen before share a category; what is beyond the last position shows in the length.
        [4, 0, 4, 7, 0, 0, 4],
    ]
    fresh = structured([(1.5, None, 3), (2.5, "yes"), (None, None, True), (), ("no", 7, b"?", 9)])
    assert columns(fresh).tolist() == expected


def test_columns_of_nested_structures_texts_and_arrays():
    assert Columns.fit(structured([((1, 2), [3, (4.5,)])]))(structured([((1, 2), [3, (4.5,)])])).tolist() == [
        [4, 1, 0, 2, 0, 3, 0, 4.5, 0]
    ]
    words = np.array(["ab", "b"])
    assert Columns.fit(words)(words).tolist() == [[2, 0, 2, 0, 1], [1, 0, 1, 0, -1]]
    grid = np.arange(8).reshape(2, 2, 2)
    assert Columns.fit(grid)(grid).tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    plane = np.array([1 + 2j, 3 - 1j])
    assert Columns.fit(plane)(plane).tolist() == [[1, 2], [3, -1]]


def test_numbers_of_numpy_inside_of_structures_are_numbers():
    outputs = structured([(np.int64(3), np.float32(0.5), np.True_), (np.uint8(4), np.float64(1.5), np.False_)])
    columns = Columns.fit(outputs)
    assert columns.categories == ("False", "True")
    assert columns(outputs).tolist() == [[3, 3, 0, 0.5, 0, 0, 2], [3, 4, 0, 1.5, 0, 0, 1]]


def test_columns_are_finite_whatever_numbers_there_are():
    huge = 10**400
    outputs = structured([(np.inf, None), (-np.inf, 1), (np.nan, 2), (huge, 3), (-huge, 4)])
    columns = Columns.fit(outputs)
    matrix = columns(outputs)
    assert np.isfinite(matrix).all()
    # NaN cannot be compared and is a category.
    assert columns.categories == ("None", "nan")
    assert matrix[:, 1].tolist() == [1e300, -1e300, 0, 1e300, -1e300]
    assert matrix[:, 2].tolist() == [0, 0, 2, 0, 0]


@pytest.mark.slow
def test_parts_that_only_the_last_outputs_have_are_learned():
    outputs = structured([(1.0,)] * 20_000 + [(1.0, "late", 2.0)] * 20_000)
    columns = Columns.fit(outputs)
    assert columns.positions == 3
    assert columns.categories == ("'late'",)


def test_equal_sets_inside_of_tuples_are_one_category():
    outputs = structured([(made, 1.5) for made in orders((0, 8, 16))])
    columns = Columns.fit(outputs)
    assert len(columns.categories) == 1
    assert len(np.unique(columns(outputs), axis=0)) == 1


def test_very_long_structures_have_no_columns():
    assert Columns.fit(structured([tuple(range(129)), ()])) is None
    assert Columns.fit(structured([tuple(range(128)), ()])).positions == 128
