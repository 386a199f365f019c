"""`dpaudit.Mechanism`: parameters are checked, values are frozen, names are derived."""

import dataclasses
import math
from typing import Literal

import numpy as np
import pytest

import dpaudit
from dpaudit.runner.instances import claims_of, instantiate


class Every(dpaudit.Mechanism):
    """A parameter of every kind."""

    epsilon: float = 1.0
    delta: float = 0.0
    number: int = dpaudit.parameter(3, minimum=1, maximum=10, doc="a number")
    scale: float = dpaudit.parameter(1.0, above=0.5)
    flag: bool = False
    word: str = "x"
    choice: Literal["a", "b"] = "a"
    several: int | Literal["auto"] = dpaudit.parameter("auto", minimum=1)


class Needy(dpaudit.Mechanism):
    """Needs a value."""

    agents: int
    epsilon: float = 1.0

    def validate(self):
        if self.agents * self.epsilon > 10:
            raise dpaudit.ParameterError("needy: too much")


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("epsilon", "0.5", 0.5),
        ("epsilon", 2, 2.0),
        ("epsilon", 1e-300, 1e-300),
        ("epsilon", np.float64(0.5), 0.5),
        ("delta", 0, 0.0),
        ("delta", 1, 1.0),
        ("number", "10", 10),
        ("number", 1.0, 1),
        ("scale", "0.6", 0.6),
        ("flag", "true", True),
        ("flag", "false", False),
        ("flag", 0, False),
        ("word", "y", "y"),
        ("choice", "b", "b"),
        ("several", "auto", "auto"),
        ("several", "4", 4),
        ("several", 4, 4),
    ],
)
def test_values_are_taken_as_the_type_says(name, given, value):
    found = getattr(Every(**{name: given}), name)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("epsilon", 0.0, "must be above 0, got 0.0"),
        ("epsilon", -1, "must be above 0"),
        ("epsilon", math.nan, "finite"),
        ("epsilon", math.inf, "finite"),
        ("epsilon", "text", "valid number"),
        ("epsilon", None, "valid number"),
        ("delta", -1e-9, "at least 0"),
        ("delta", 1.0001, "at most 1"),
        ("number", 0, "at least 1, got 0"),
        ("number", 11, "at most 10, got 11"),
        ("number", 1.5, "integer"),
        ("number", "1.5", "integer"),
        ("scale", 0.5, "above 0.5"),
        ("flag", "maybe", "boolean"),
        ("word", 5, "string"),
        ("choice", "c", "'a' or 'b'"),
        ("several", "none", "'auto'"),
        ("several", 0, "at least 1"),
    ],
)
def test_values_that_cannot_be_taken(name, given, words):
    with pytest.raises(dpaudit.ParameterError, match=words) as error:
        Every(**{name: given})
    assert f"every: parameter '{name}'" in str(error.value)
    assert repr(given) in str(error.value) or str(given) in str(error.value)


def test_an_instance_is_frozen_and_a_value():
    one = Every(epsilon=2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.epsilon = 3.0
    assert one == Every(epsilon=2.0)
    assert hash(one) == hash(Every(epsilon=2.0))
    assert one != Every()


def test_parameters_are_keywords():
    with pytest.raises(TypeError):
        Every(1.0)


def test_epsilon_may_have_a_range_of_its_own():
    class Zero(dpaudit.Mechanism):
        """Nothing is released at 0."""

        epsilon: float = dpaudit.parameter(0.0, minimum=0)

    assert Zero().epsilon == 0
    with pytest.raises(dpaudit.ParameterError, match="at least 0"):
        Zero(epsilon=-1)


def test_unknown_and_missing_parameters_by_name():
    with pytest.raises(dpaudit.ParameterError, match=r"needy has no parameter 'agnets' \(did you mean 'agents'"):
        instantiate(Needy, {"agnets": 3})
    with pytest.raises(dpaudit.ParameterError, match=r"needy needs a value for agents; give it with --set agents="):
        instantiate(Needy, {})
    assert instantiate(Needy, {"agents": "3"}) == Needy(agents=3)


def test_conditions_on_several_parameters():
    with pytest.raises(dpaudit.ParameterError, match="too much"):
        Needy(agents=11)


def test_the_table_of_parameters():
    assert Every.parameter_names() == ["epsilon", "delta", "number", "scale", "flag", "word", "choice", "several"]
    rows = {row[0]: row[1:] for row in Every.parameter_table()}
    assert rows["number"] == ("int", "3", "a number")
    assert rows["choice"][0] == "a | b"
    assert rows["several"][:2] == ("int | auto", "auto")
    assert Needy.parameter_table()[0][:3] == ("agents", "int", "required")
    assert Every(number=4).parameters()["number"] == 4


@pytest.mark.parametrize(
    ("class_name", "name"),
    [
        ("NoisyCount", "noisy-count"),
        ("LDPKwikSortRR", "ldp-kwik-sort-rr"),
        ("Count", "count"),
        ("RR2Report", "rr2-report"),
    ],
)
def test_the_name_comes_from_the_class(class_name, name):
    assert type(class_name, (dpaudit.Mechanism,), {}).name == name


def test_a_name_of_its_own_is_not_handed_down():
    class Named(dpaudit.Mechanism):
        """Has a name."""

        name = "chosen"

    class Derived(Named):
        """Has another."""

    assert (Named.name, Derived.name) == ("chosen", "derived")


def test_a_subclass_has_the_parameters_of_its_base():
    class More(Needy):
        """One parameter more."""

        extra: int = 1

    assert More.parameter_names() == ["agents", "epsilon", "extra"]
    assert More(agents=1, extra="2").extra == 2


def test_the_summary_is_the_first_line_of_the_docstring():
    class Undocumented(dpaudit.Mechanism):
        pass

    assert Every.summary() == "A parameter of every kind."
    assert Undocumented.summary() == ""


def test_what_is_not_defined():
    every = Every()
    assert every.law(0) is None
    assert every.neighbours() is None
    assert list(every.claims()) == []
    assert dict(every.views()) == {"output": every}
    with pytest.raises(dpaudit.TargetError, match="`sample"):
        every.sample(0, 1, np.random.default_rng(0))


def test_annotations_as_text_and_one_that_is_no_type():
    space: dict = {"dpaudit": dpaudit, "__name__": __name__}
    exec(
        "from __future__ import annotations\n"
        "class Late(dpaudit.Mechanism):\n    number: int = 3\n"
        "class Wrong(dpaudit.Mechanism):\n    number: Flaot = 3\n",
        space,
    )
    assert space["Late"](number="4").number == 4
    with pytest.raises(dpaudit.TargetError, match=r"Wrong: .*Flaot"):
        space["Wrong"]()


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        (lambda self: 5, "not iterable"),
        (lambda self: ["text"], "returned str"),
        (lambda self: 1 / 0, "ZeroDivisionError on line"),
        (lambda self: exit(0), "SystemExit"),
    ],
)
def test_claims_that_are_none(claims, words):
    target = type("Odd", (dpaudit.Mechanism,), {"claims": claims, "__module__": __name__})
    with pytest.raises(dpaudit.TargetError, match=words):
        claims_of(target())
