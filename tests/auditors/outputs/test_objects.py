"""Objects of attrs, pydantic, msgspec and of one's own classes are told apart by their attributes."""

import dataclasses
import functools
import subprocess
import sys
import threading
import warnings
from argparse import Namespace
from enum import Enum
from fractions import Fraction

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.learning.planted import types_read_by_text
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.outputs import Coder, Outputs, outcome_keys


def structured(items):
    outputs = np.empty(len(items), dtype=object)
    outputs[:] = items
    return outputs


class Own:
    def __init__(self, v, w):
        self.v, self.w = v, w

    def __repr__(self):
        return f"Own({self.v!r}, {self.w!r})"


class Slotted:
    __slots__ = ("__w", "v")

    def __init__(self, v, w):
        self.v, self.__w = v, w

    def __repr__(self):
        return f"Slotted({self.v!r}, {self.__w!r})"


class SlottedAndMore(Slotted):
    def __init__(self, v, w):
        super().__init__(v, w)
        self.twice = 2 * v


class Struct:
    """As msgspec makes them."""

    __slots__ = ("v", "w")
    __struct_fields__ = ("v", "w")

    def __init__(self, v, w):
        self.v, self.w = v, w

    def __repr__(self):
        return f"Struct({self.v!r}, {self.w!r})"


def attrs_class(v, w):
    attrs = pytest.importorskip("attrs")
    return _made("attrs", lambda: attrs.make_class("Made", ["v", "w"]))(v, w)


def frozen_attrs_class(v, w):
    attrs = pytest.importorskip("attrs")
    return _made(
        "frozen", lambda: attrs.make_class("Made", ["v", "w"], frozen=True, slots=True, cache_hash=True, eq=True)
    )(v, w)


def pydantic_model(v, w):
    pydantic = pytest.importorskip("pydantic")
    return _made("pydantic", lambda: pydantic.create_model("Made", v=(float, ...), w=(str, ...)))(v=v, w=w)


def first_pydantic_model(v, w):
    first = pytest.importorskip("pydantic.v1")
    return _made("pydantic.v1", lambda: first.create_model("Made", v=(float, ...), w=(str, ...)))(v=v, w=w)


MADE = {}


def _made(name, make):
    if name not in MADE:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pydantic's version 1 says that it is old
            MADE[name] = make()
    return MADE[name]


KINDS = {
    "attrs": attrs_class,
    "frozen attrs with slots": frozen_attrs_class,
    "pydantic": pydantic_model,
    "pydantic 1": first_pydantic_model,
    "msgspec": Struct,
    "own": Own,
    "own with slots": Slotted,
    "own with slots and a dict": SlottedAndMore,
    "namespace of argparse": lambda v, w: Namespace(v=v, w=w),
}

NAMES = {
    "own with slots": ("output._Slotted__w", "output.v"),
    "own with slots and a dict": ("output._Slotted__w", "output.twice", "output.v"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_attributes_are_columns(kind):
    outputs = structured([KINDS[kind](float(i), "a") for i in range(20)])
    names = NAMES.get(kind, ("output.v", "output.w"))
    assert set(Columns.fit(outputs).names) == {name for name in names if not name.endswith("w")}
    assert len(Coder(outputs).keys) == 20


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_bounds_are_those_of_a_dataclass(kind):
    """Noise of half the scale: by the texts alone, nothing was seen."""

    def sample(made):
        return lambda d, s, r: [made(v, "a") for v in (d + r.laplace(scale=0.5, size=s)).tolist()]

    found, expected = (
        dpaudit.epsilon_lower_bound(sample(made), 0, 1, samples=5000, seed=1, claimed=1.0)
        for made in (KINDS[kind], dataclasses.make_dataclass("Made", ["v", "w"]))
    )
    assert found.epsilon > 1.6
    if "dict" not in kind:
        assert found.epsilon == expected.epsilon


@pytest.mark.parametrize("kind", KINDS)
def test_keys_do_not_depend_on_company(kind):
    items = [KINDS[kind](i * 0.5, "ab"[i % 2]) for i in range(8)]
    others = [*items[:4], None, (1, "x"), *items[4:], *[Own(1, None), Own([1], 2), Own({"a": 1}, Own(2, 3))]]
    alone = np.concatenate([outcome_keys(structured([item]), "values") for item in items])
    assert np.array_equal(outcome_keys(structured(items), "values"), alone)
    assert np.array_equal(outcome_keys(structured(others), "values")[[0, 1, 2, 3, 6, 7, 8, 9]], alone)
    assert len(set(alone.tolist())) == 8


def test_equal_objects_are_one_output_wherever_they_stand():
    """The order in which attributes were set is no part of them."""
    first, second = Own(1, -0.0), Own.__new__(Own)
    second.w, second.v = 0.0, 1
    for wrap in (lambda each: each, lambda each: [each, 1], lambda each: {"a": each}, lambda each: (each, None)):
        assert len(Coder(structured([wrap(first), wrap(second), wrap(first)])).keys) == 1
    for wrap in (lambda each: {each}, lambda each: {each: 1}):
        assert len(Coder(structured([wrap(Own(1, 2)), wrap(Own(1, 2))])).keys) == 1
        assert len(Coder(structured([wrap(Own(1, 2)), wrap(Own(1, 3))])).keys) == 2


def test_what_is_remembered_is_no_attribute():
    class Remembering(Own):
        @functools.cached_property
        def double(self):
            return 2 * self.v

    asked, unasked = Remembering(1, 2), Remembering(1, 2)
    assert asked.double == 2
    assert len(Coder(structured([asked, unasked])).keys) == 1


class WithRules(Own):
    """Says itself what its state is, as classes do that remember their hash."""

    def __getstate__(self):
        return {"v": self.v}


class Colour(Enum):
    RED = 1

    def __init__(self, number):
        self.number = number


class ReasonError(Exception):
    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


class Temperature(float):
    def __init__(self, value):
        self.unit = "C"


class Bare:
    def __repr__(self):
        return "Bare()"


@pytest.mark.parametrize(
    "value",
    [
        WithRules(1, 2),
        Colour.RED,
        ReasonError("x"),
        Temperature(3.5),
        Bare(),
        Fraction(1, 3),
        Own,
        functools.partial(max, 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_values_are_one_value(value):
    assert len(Columns.fit(structured([(value, float(i)) for i in range(9)] + [(0, 1.0)])).names) >= 2
    keys = outcome_keys(structured([(value, 1), (value, 1), (value, 2)]), "values")
    assert keys[0] == keys[1] != keys[2]
    assert not any("." in name for name in Columns.fit(structured([(value, i) for i in range(9)])).names)


def test_an_object_without_attributes_among_others():
    items = [Own(1, 2), Own.__new__(Own)]
    items[1].__dict__.clear()
    Own.__repr__, written = lambda self: "Own", Own.__repr__
    try:
        keys = outcome_keys(structured([*items, items[1]]), "values")
    finally:
        Own.__repr__ = written
    assert keys[1] == keys[2] != keys[0]


def test_more_than_the_declared_fields():
    pydantic = pytest.importorskip("pydantic")
    made = pydantic.create_model("Made", v=(float, ...), __config__=pydantic.ConfigDict(extra="allow"))
    outputs = structured([made(v=i, more=-i) for i in range(9)])
    assert Columns.fit(outputs).names == ("output.v", "output.more")
    assert len(Coder(structured([made(v=1, a=1, b=2), made(v=1, b=2, a=1), made(v=1, a=1)])).keys) == 2


@pytest.mark.parametrize("library", ["dataclass", "pydantic"])
def test_a_field_without_a_value(library):
    if library == "dataclass":
        made = dataclasses.make_dataclass("Made", [("v", float), ("w", str, dataclasses.field(init=False))])
        items = [made(1.0), made(1.0), made(2.0)]
    else:
        made = pytest.importorskip("pydantic").create_model("Made", v=(float, ...), w=(str, ...))
        items = [made.model_construct(v=v) for v in (1.0, 1.0, 2.0)]
    assert len(Coder(structured(items)).keys) == 2
    items[0].w = "x"
    assert len(Coder(structured(items)).keys) == 3


@pytest.mark.parametrize("held", [np.random.default_rng(1), threading.Lock(), lambda: 1])
def test_attributes_that_have_only_an_address_are_refused(held):
    with pytest.raises(dpaudit.CheckError, match="in place of an object that holds such values as attributes, return"):
        dpaudit.epsilon_lower_bound(lambda d, s, r: [Own(v, held) for v in r.random(s).tolist()], 0, 1, samples=1000)


def test_objects_that_hold_themselves_are_refused():
    def sample(data, size, rng):
        made = [Own(v, None) for v in rng.random(size).tolist()]
        for each in made:
            each.w = [each]
        return made

    with pytest.raises(dpaudit.CheckError, match="parts without end"):
        dpaudit.epsilon_lower_bound(sample, 0, 1, samples=1000)


@pytest.mark.parametrize("kind", KINDS)
def test_outcomes_have_the_names_of_their_attributes(kind):
    def sample(data, size, rng):
        return [KINDS[kind](v, "a") for v in (rng.random(size) < 0.2 + 0.5 * data).astype(float).tolist()]

    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=2000, seed=1)
    assert bound.epsilon > 0.6
    assert bound.event["v"] in (0.0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("wrap", [lambda each: each, lambda each: (each, 1)])
def test_the_note_names_what_is_seen_by_its_text_alone(wrap):
    class Target(dpaudit.Mechanism):
        def sample(self, data, size, rng):
            return [wrap(WithRules(v, 0)) for v in (data + rng.laplace(scale=0.5, size=size)).tolist()]

        def neighbours(self):
            return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")

        def claims(self):
            return [dpaudit.PrivacyClaim(id="c", statement="s", epsilon=1.0)]

    (result,) = dpaudit.check(Target(), samples=4000, seed=1).results
    assert result.verdict == "inconclusive"
    assert "of values of type WithRules only the `repr` was seen, as a whole: return a dict" in result.note


def test_types_that_are_seen_by_their_text_alone():
    seen = [1, 0.5, "a", b"a", None, True, {1}, {"a"}, 1j, Fraction(1, 3), Colour.RED, Own(1, 2), Temperature(1)]
    unseen = [WithRules(1, 2), [ReasonError("x")], {"a": (Bare(), 1)}]
    outputs = Outputs(structured([*seen, np.float32(1), np.datetime64("2020-01-01"), *unseen]))
    assert types_read_by_text(outputs, outputs) == ("Bare", "ReasonError", "WithRules")
    assert types_read_by_text(Outputs(structured(seen)), Outputs(np.zeros(3))) == ()


def test_libraries_are_not_imported():
    code = "import sys, dpaudit; assert not {'attrs', 'attr', 'msgspec'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True)
