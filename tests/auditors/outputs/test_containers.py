"""Outputs with the same values on the same paths that differ in what holds these."""

import dataclasses
from collections import namedtuple
from typing import NamedTuple

import attrs
import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.containers import containers, telling_containers
from dpaudit.auditors.outputs.flat import Apart


@dataclasses.dataclass
class Above:
    value: float


@dataclasses.dataclass
class Below:
    value: float


@attrs.define
class Over:
    value: float


@attrs.define
class Under:
    value: float


class AboveTuple(NamedTuple):
    value: float


class BelowTuple(NamedTuple):
    value: float


class Written:
    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"{type(self).__name__}({self.value})"


class Other(Written):
    pass


CASES = {
    "absent or []": (lambda x: {"n": x, "errors": []}, lambda x: {"n": x}, "whether output['errors'] is []"),
    "absent or {}": (lambda x: {"n": x, "errors": {}}, lambda x: {"n": x}, "whether output['errors'] is {}"),
    "[] or {}": (lambda x: {"n": x, "e": []}, lambda x: {"n": x, "e": {}}, "whether output['e'] is []"),
    "[] or [[]]": (lambda x: [x, []], lambda x: [x, [[]]], "whether output[1] is []"),
    "empty groups": (
        lambda x: {"n": x, "g": [[]] * 3},
        lambda x: {"n": x, "g": [[]] * 2},
        "whether output['g'][2] is []",
    ),
    "dataclasses": (Above, Below, "whether output is of class Above"),
    "attrs": (Over, Under, "whether output is of class Over"),
    "named tuples": (AboveTuple, BelowTuple, "whether output is of class AboveTuple"),
    "objects": (Written, Other, "whether output is of class Other"),
    "in a list": (lambda x: [Above(x), 1.5], lambda x: [Below(x), 1.5], "whether output[0] is of class Above"),
    "list or dict": (lambda x: {"a": {0: x}}, lambda x: {"a": [x]}, "whether output['a'] is a dict"),
    "list or set": (lambda x: {"a": {x}}, lambda x: {"a": [x]}, "whether output['a'] is a list"),
    "text or list": (lambda x: ("ab", x), lambda x: (["ab"], x), None),
}


def drawn(case, size, rng, share=0.5):
    first, second, _ = CASES[case]
    coins = rng.random(size) < share
    return [
        (first if coin else second)(x) for x, coin in zip(rng.normal(size=size).tolist(), coins.tolist(), strict=True)
    ]


def as_array(items):
    made = np.empty(len(items), dtype=object)
    made[:] = items
    return made


@pytest.mark.parametrize("case", CASES)
def test_columns_tell_containers_apart(case):
    first, second, _ = CASES[case]
    outputs = as_array([first(0.5), second(0.5)] * 200)
    columns = Columns.fit(outputs)
    rows = columns(outputs)
    assert (rows[0] != rows[1]).any()
    assert (rows[::2] == rows[0]).all()
    assert (rows[1::2] == rows[1]).all()


@pytest.mark.parametrize("case", [case for case, (_, _, name) in CASES.items() if name])
def test_a_container_has_a_name_and_one_column(case):
    rng = np.random.default_rng(1)
    outputs = drawn(case, 400, rng)
    columns = Columns.fit(as_array(outputs))
    (name,) = (name for name in columns.names if name.startswith("whether"))
    first, second, expected = CASES[case]
    assert name == expected
    column = columns(as_array([first(1.0), second(1.0)]))[:, columns.names.index(name)]
    assert sorted(column) == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "options", [{}, {"seconds": 10}, {"stop_early": True, "claimed": 1.0}], ids=["", "timed", "early"]
)
def test_a_leak_by_containers_is_found(case, options):
    """One of two with probability 0.9 on one input and 0.1 on the other: epsilon is ln 9."""

    def sample(data, size, rng):
        return drawn(case, size, rng, 0.9 if data else 0.1)

    found = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=4000, seed=1, **options).epsilon
    assert (1.0 if options.get("stop_early") else 1.7) < found <= np.log(9)


def test_outputs_that_paths_tell_apart_have_no_such_column():
    rng = np.random.default_rng(2)
    many = [
        [rng.normal(size=length).tolist() for length in rng.integers(0, 9, 400)],
        [{"a": 1.0, "b": [2.0] * length} for length in rng.integers(1, 4, 400)],
        [{"a": x} if x > 0 else {"b": x} for x in rng.normal(size=400).tolist()],
        [None if x > 0 else Above(x) for x in rng.normal(size=400).tolist()],
        [Above(x) for x in rng.normal(size=400).tolist()],
        [[x, []] for x in rng.normal(size=400).tolist()],
    ]
    for outputs in many:
        assert telling_containers(list(Apart(as_array(outputs), remembered=False))) == []
        columns = Columns.fit(as_array(outputs))
        assert not any(name.startswith("whether") for name in columns.names)


def test_containers_of_a_structure_by_hand():
    assert containers(("dict", ("'a'", "'b'"), (0, ("list", 2, (None, ("dict", (), ())))))) == {
        "": "a dict",
        "['a']": "[]",
        "['b']": "a list",
        "['b'][1]": "{}",
    }
    assert containers(None) == {}
    assert containers(3) == {"": "a list"}
    local = namedtuple("local", "x y")
    (flat,) = Apart(as_array([local(1, 2)] * 4), remembered=False)
    assert containers(flat.structure) == {"": "of class local"}


def test_many_containers_are_those_that_are_there_about_as_often_as_not():
    rng = np.random.default_rng(3)
    shares = np.linspace(0.05, 0.95, 60)
    outputs = [{"x": x, **{f"k{i}": [] for i in np.flatnonzero(rng.random(60) < shares)}} for x in rng.normal(size=900)]
    found = telling_containers(list(Apart(as_array(outputs), remembered=False)))
    assert len(found) == 32
    assert {what for _, what in found} == {"[]"}
    assert all(0.2 < shares[int(path[3:-2])] < 0.8 for path, _ in found)
