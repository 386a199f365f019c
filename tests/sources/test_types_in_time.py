"""A program whose outputs change their type between answers is refused; outputs that vary in type are not."""

import sys

import numpy as np
import pytest

import dpaudit
from dpaudit.sources.changes import TypesInTime


def changes(*answers):
    types = TypesInTime()
    return [types.change(answer) for answer in answers]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ([1, 2.5], ["1", "2"], "their values were numbers and are texts"),
        (["a", "b"], [1, 2], "their values were texts and are numbers"),
        ([None, None], [1, 2], "were nulls and are numbers"),
        ([[1], [2, 3]], [["1"], ["2"]], "their values in lists were numbers and are texts"),
        ([{"n": 1, "t": "a"}], [{"n": "1", "t": "a"}], "the values of 'n' were numbers and are texts"),
    ],
)
def test_a_change_is_told(before, after, words):
    found = changes(before * 20, before * 3, after * 40)
    assert found[:2] == [None, None]
    assert words in found[2]
    # A few outputs may be of one type by chance.
    assert changes(before * 5, after * 40) == [None, None]


def test_arrays():
    assert changes(np.arange(30), np.arange(30) / 2, np.arange(30).astype(str))[:2] == [None, None]
    assert "numbers and are texts" in changes(np.arange(30), np.arange(30).astype(str))[1]


@pytest.mark.parametrize(
    "answers",
    [
        [[1, None] * 30, [1] * 30, [None] * 30],
        [[1] * 30, ["none", 1] * 30, ["none"] * 30],
        [[1] * 5, ["none"] * 5, [1] * 30, ["none"] * 30],
        [[1] * 30, [2.5] * 30, [True] * 30],
        [[{"n": 1}] * 30, [{"t": "a"}] * 30],
    ],
)
def test_what_varies_is_no_change(answers):
    assert not any(changes(*answers))


@pytest.mark.skipif(sys.platform == "win32", reason="commands need pipes that can be waited for")
def test_a_program_that_changes(command):
    body = """
hello()
for turn, (data, size, rng) in enumerate(requests()):
    say(*[json.dumps(str(rng.randrange(9)) if turn >= {turn} else {first}) for _ in range(size)])
"""
    rng = np.random.default_rng(1)
    late = command(body.format(turn=6, first="rng.randrange(9)"), name="late")
    for _ in range(6):
        late.sample(0, 40, rng)
    with pytest.raises(dpaudit.CheckError, match="changed the type of its outputs on one input: their values were"):
        late.sample(0, 40, rng)
    # On another input all outputs may be texts: that is for the audit to tell.
    apart = command("hello()\nfor data, size, rng in requests(): say(*[json.dumps(data)] * size)", name="apart")
    assert list(apart.sample(0, 2, rng)) == [0, 0]
    for data in (0, "a", 0):
        assert list(apart.sample(data, 40, rng)) == [data] * 40
