"""Where two long inputs differ is said in words, and only where that is short."""

import numpy as np
import pytest

from dpaudit.reporting.differences import difference
from dpaudit.testing import assert_private

RECORDS = [{"name": f"person {number}", "visits": [number, 1]} for number in range(30)]


def changed(place, **values):
    return [{**record, **values} if number == place else record for number, record in enumerate(RECORDS)]


@pytest.mark.parametrize(
    ("data", "neighbour", "words"),
    [
        (RECORDS, changed(17, visits=[17, 2]), '[17]["visits"][1]: 1 on the input, 2 on the neighbour'),
        (RECORDS, RECORDS[:4] + RECORDS[5:], '[4]: {"name": "person 4", "visits": [4, 1]} on the input alone'),
        (RECORDS[:-1], RECORDS, '[29]: {"name": "person 29", "visits": [29, 1]} on the neighbour alone'),
        (np.zeros(100), np.eye(100)[3], "[3]: 0.0 on the input, 1.0 on the neighbour"),
        ({"a" * 300: 1}, {"a" * 300: 1, "b": 2}, '["b"]: 2 on the neighbour alone'),
        ([0] * 100, [1] * 100, ""),
        ("a" * 300, "b" * 300, ""),
        ([0, 1], [0, 2], ""),
        (RECORDS, RECORDS, ""),
        ([7] * 100, [7] * 99, "[99]: 7 on the input alone"),
    ],
)
def test_where_inputs_differ(data, neighbour, words):
    assert difference(data, neighbour) == words


def test_a_failed_test_says_where_its_long_inputs_differ():
    def count(data, size, rng):
        return len(data) + rng.laplace(scale=0.1, size=size)

    with pytest.raises(AssertionError, match=r"they differ in \[29\]: .* on the (input|neighbour) alone"):
        assert_private(count, epsilon=1.0, pairs=[(RECORDS[:-1], RECORDS)], samples=2000)
