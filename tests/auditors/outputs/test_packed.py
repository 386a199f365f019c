"""Rows of Python's numbers that are read from how they are written down, against numpy's own reading."""

from collections import defaultdict, namedtuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.auditors.outputs.checked_outputs import as_numbers
from dpaudit.auditors.outputs.flat import Uniform, Varied, blocks
from dpaudit.auditors.outputs.packed import Packed

Point = namedtuple("Point", "a b")

fractions = st.floats(allow_nan=False)
small = st.integers(-(2**31), 2**31 - 1)


def objects(items):
    made = np.empty(len(items), dtype=object)
    made[:] = items
    return made


@pytest.mark.slow
@given(st.lists(st.tuples(fractions, small, fractions), min_size=1), st.sampled_from([tuple, list]))
def test_columns_are_the_numbers(rows, kind):
    packed = Packed.of_rows([kind(row) for row in rows])
    assert [column.tolist() for column in packed.columns()] == [list(column) for column in zip(*rows, strict=True)]
    assert [column.dtype.kind for column in packed.columns()] == ["f", "i", "f"]
    assert packed.table() is None


@pytest.mark.slow
@given(st.lists(st.tuples(fractions, fractions), min_size=1))
def test_a_table_of_one_type(rows):
    assert np.array_equal(Packed.of_rows(rows).table(), np.array(rows))
    cells = [number for row in rows for number in row]
    assert np.array_equal(Packed.of_cells(cells, 2).table(), np.array(rows))


@pytest.mark.slow
@given(st.lists(st.lists(st.one_of(fractions, small, st.booleans(), st.none(), st.text(max_size=3)), max_size=3)))
def test_whatever_is_packed_is_equal_to_what_was_given(rows):
    packed = Packed.of_rows(rows)
    if packed is None:
        types = {tuple(map(type, row)) for row in rows}
        assert len(types) != 1 or not types.pop() or not all(type(part) in (int, float) for part in rows[0])
    else:
        read = [tuple(row) for row in zip(*(column.tolist() for column in packed.columns()), strict=True)]
        assert [list(map(repr, row)) for row in read] == [list(map(repr, row)) for row in rows]


@pytest.mark.parametrize(
    "rows",
    [
        [(1.0, 2.0), [1.0, 2.0]],
        [(1.0, 2.0), (1.0, 2)],
        [(1.0, 2.0), (1.0, np.float64(2.0))],
        [(1.0, 2.0), (1.0,), (1.0, 2.0, 3.0)],
        [(1, 2), (1, 2**31)],
        [(1, 0), (1, True)],
        [Point(1.0, 2.0), Point(1.0, 2.0)],
        [(1.0, (2.0,)), (1.0, (2.0,))],
        [(), ()],
    ],
    ids=["list", "int", "numpy", "lengths", "large", "bool", "named", "nested", "empty"],
)
def test_other_rows_are_left_to_others(rows):
    assert Packed.of_rows(rows) is None


def test_numbers_of_several_types_are_no_array():
    assert as_numbers([(1.0, 2)] * 3) is None
    assert as_numbers([(1, 2)] * 3).dtype.kind == "i"


def test_dicts_of_other_orders_are_one_structure():
    ((_, flat),) = blocks(objects([{"b": 1.0, "a": 2}, {"a": 3, "b": 4.0}]), characters=True)
    assert isinstance(flat, Uniform)
    assert [np.asarray(column).tolist() for column in flat.columns] == [[2, 3], [1.0, 4.0]]


def test_dicts_are_not_changed():
    given = [defaultdict(float, a=1.0, b=2.0), defaultdict(float, a=1.0, c=2.0)]
    ((_, flat),) = blocks(objects(given), characters=True)
    assert isinstance(flat, Varied)
    assert [sorted(each) for each in given] == [["a", "b"], ["a", "c"]]


def test_dicts_of_other_keys_are_of_several_structures():
    ((_, flat),) = blocks(objects([{"a": 1.0, "b": 2.0}, {"a": 1.0, "c": 2.0}]), characters=True)
    assert isinstance(flat, Varied)
