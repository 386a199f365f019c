"""Structured outputs come back in an event's description with the names of their parts."""

import collections
import dataclasses
import json

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.outputs.leaves import with_names
from dpaudit.claims.record import plain

Released = collections.namedtuple("Released", "count label")


@dataclasses.dataclass
class Dataclass:
    count: int
    label: str


def parts(data, size, rng):
    """A count, which tells the inputs apart, and a label, which does not."""
    return (5 * data + rng.integers(-3, 4, size)).tolist(), rng.choice(["a", "b"], size).tolist()


def dicts(data, size, rng):
    return [{"count": count, "label": label} for count, label in zip(*parts(data, size, rng), strict=True)]


def named_tuples(data, size, rng):
    return [Released(*each) for each in zip(*parts(data, size, rng), strict=True)]


def dataclasses_(data, size, rng):
    return [Dataclass(*each) for each in zip(*parts(data, size, rng), strict=True)]


def records(data, size, rng):
    return np.array(list(zip(*parts(data, size, rng), strict=True)), dtype=[("count", "i8"), ("label", "U1")])


def frames(data, size, rng):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(dicts(data, size, rng))


def polars_frames(data, size, rng):
    polars = pytest.importorskip("polars")
    return polars.DataFrame(dicts(data, size, rng))


@pytest.mark.parametrize("sample", [dicts, named_tuples, dataclasses_, records, frames, polars_frames])
def test_outcomes_have_the_names_of_their_parts(sample):
    drawn = [sample(data, 3000, np.random.default_rng(data)) for data in (0, 1)]
    found = [
        dpaudit.epsilon_lower_bound(sample, 0, 1, samples=3000, confidence=0.99),
        dpaudit.bound_from_samples(*drawn, confidence=0.99),
    ]
    for bound in found:
        event = json.loads(json.dumps(plain(bound.event)))
        # No count of one input but 2 and 3 is one of the other.
        listed = event["any of"]
        assert all(set(each) == {"count", "label"} for each in listed)
        assert all(type(each["count"]) is int for each in listed)
        assert not {each["count"] for each in listed} & {2, 3}
        assert bound.epsilon > 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dicts", "tuples", "records", "frames", "polars"])
def test_numbers_are_called_by_their_names(kind):
    def sample(data, size, rng):
        made = {"count": 3 * data + rng.normal(size=size), "noise": rng.normal(size=size)}
        if kind in ("frames", "polars"):
            library = pytest.importorskip({"frames": "pandas", "polars": "polars"}[kind])
            return library.DataFrame(made)
        rows = list(zip(*(part.tolist() for part in made.values()), strict=True))
        if kind == "dicts":
            return [dict(zip(made, row, strict=True)) for row in rows]
        if kind == "tuples":
            return [Pair(*row) for row in rows]
        return np.array(rows, dtype=[(name, "f8") for name in made])

    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=4000, confidence=0.99)
    (name,) = bound.event
    assert "count" in name
    assert "weighted sum of" not in name
    assert bound.epsilon > 1


Pair = collections.namedtuple("Pair", "count noise")


def test_a_column_of_structs_is_taken_apart():
    class Series(list):
        """A column of polars that holds several numbers in each row."""

        def to_numpy(self):
            return np.array([list(each.values()) for each in self])

        def to_list(self):
            return list(self)

    class Frame:
        shape = (3000, 1)
        columns = ("inner",)

        def __init__(self, column):
            self.column = column

        def __len__(self):
            return len(self.column)

        def __getitem__(self, name):
            return self.column

        def to_numpy(self):
            raise AssertionError

    def sample(data, size, rng):
        return Frame(Series({"k": k, "half": 0.5} for k in parts(data, size, rng)[0]))

    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=3000, confidence=0.99)
    assert bound.epsilon > 2
    assert bound.event["any of"][0]["inner"]["half"] == 0.5


@pytest.mark.parametrize(
    ("output", "event"),
    [
        (lambda bit: ValueError(bit), ["ValueError(0)", "ValueError(1)"]),
        (lambda bit: memoryview(bytes([bit])), [b"\x00", b"\x01"]),
        (lambda bit: (memoryview(np.array([0.5, bit])), KeyError(1)), [([0.5, i], "KeyError(1)") for i in (0.0, 1.0)]),
    ],
    ids=["exceptions", "bytes in memory", "inside of a tuple"],
)
def test_exceptions_have_their_type_and_views_of_memory_what_they_hold(output, event):
    """The text of the one is a message without a type, and that of the other an address."""

    def sample(data, size, rng):
        return [output(int(bit)) for bit in (rng.random(size) < 0.25) ^ (data == 1)]

    outcomes = np.fromiter([output(bit) for bit in (0, 1)], object, 2)
    assert with_names(outcomes) == event
    found = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=2000, seed=1)
    assert found.event in event
