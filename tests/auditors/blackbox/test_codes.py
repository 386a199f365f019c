"""Codes among numbers are told from the numbers."""

import numpy as np

from dpaudit.auditors.blackbox.codes import codes


def mixed(size, seed):
    """Numbers, with -1000 in a tenth and 0 in half of the first column; numbers alone; ones and numbers."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(size, 3))
    kind = rng.random(size)
    rows[kind < 0.6, 0] = 0.0
    rows[kind < 0.1, 0] = -1000.0
    rows[kind > 0.9, 2] = 1.0
    return rows, kind


def test_every_code_has_its_place_and_all_numbers_share_the_last_one():
    (x, of_x), (y, of_y) = mixed(3000, 1), mixed(2000, 2)
    for coded, kind in zip(codes(x, y), (of_x, of_y), strict=True):
        assert np.array_equal(coded[:, 0], np.select([kind < 0.1, kind < 0.6], [0, 1], 2))
        assert np.array_equal(coded[:, 1], np.where(kind > 0.9, 0, 1))
        assert coded.shape == (len(kind), 2)


def test_a_code_that_one_input_alone_gives_is_one():
    numbers = np.random.default_rng(3).normal(size=(1000, 2))
    other = numbers[::-1].copy() + 1
    other[::100, 1] = -1.0
    of_x, of_y = codes(numbers, other)
    assert of_x.tolist() == [[1]] * 1000
    assert np.array_equal(of_y[:, 0] == 0, np.arange(1000) % 100 == 0)


def test_values_that_come_three_times_are_no_codes():
    x = np.arange(1200.0).reshape(600, 2)
    y = x + 0.5
    assert codes(x, y) is None
    for times, found in ((3, None), (4, [[1]] * 600)):
        y[:times, 0] = -1.0
        coded = codes(x, y)
        assert (coded if coded is None else coded[0].tolist()) == found


def test_outputs_that_are_no_rows_of_numbers_have_none():
    assert codes(np.zeros(100), np.zeros(100)) is None
    assert codes(np.zeros((100, 2), dtype=int), np.ones((100, 2), dtype=int)) is None
    assert codes(np.array([[0.0, "a"]] * 100, dtype=object), np.array([[0.0, "b"]] * 100, dtype=object)) is None
