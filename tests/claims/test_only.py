"""Values of parameters that a statement names: at others the claim is inapplicable."""

import pytest

import dpaudit
from dpaudit.claims.declarations import claim, declarations_of
from dpaudit.errors import TargetError
from dpaudit.registry import catalogue, catalogue_claims
from dpaudit.runner import Request, build_cells


def declared(**only):
    class Target(dpaudit.Mechanism):
        """A mechanism."""

        synthetic = ("spread",)

        epsilon: float = 1.0
        agents: int = dpaudit.parameter(100, role="agents")
        spread: float = 0.5
        rule: str = "borda"

    @claim("a.b", Target, kind="lemma", statement="It is.", only=only)
    def is_it(target):
        return dpaudit.LemmaClaim(margin=lambda: 1.0, instances=[{}], complete=True)

    return Target


@pytest.mark.parametrize(
    ("only", "inside", "outside", "words"),
    [
        ({"agents": 100}, [100], [99, 101], "agents = 100"),
        ({"epsilon": (0.5, 1.0)}, [0.5, 1.0, 0.1 + 0.9], [0.75, 1.001], "epsilon = 0.5 or 1"),
        ({"agents": range(3, 9)}, [3, 8], [2, 9], "agents = 3 to 8"),
        ({"epsilon": dpaudit.Between(0.05, 0.24)}, [0.05, 0.1, 0.3 * 0.8], [0.049, 0.25], "epsilon = 0.05 to 0.24"),
        ({"rule": "borda"}, ["borda"], ["b", "kemeny"], "rule = borda"),
    ],
)
def test_values(only, inside, outside, words):
    target = declared(**only)
    (declaration,) = declarations_of(target)
    (name,) = only
    for value in inside:
        assert not declaration.bind(target(**{name: value})).inapplicable
    for value in outside:
        assert declaration.bind(target(**{name: value})).inapplicable == f"it is about {words}"


def test_what_data_decide_does_not_count_on_data():
    target = declared(agents=100, spread=0.5, epsilon=1.0)
    (declaration,) = declarations_of(target)
    values = {"agents": 7, "spread": 0.1, "epsilon": 1.0}
    assert declaration.outside(target, values)
    assert not declaration.outside(target, values, on_data=True)
    assert declaration.outside(target, {**values, "epsilon": 2.0}, on_data=True) == "it is about epsilon = 1"


def test_a_parameter_that_does_not_exist_is_refused():
    with pytest.raises(TargetError, match="no parameter 'agent'"):
        declared(agent=100)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("song2022.figure2-kwiksort", {"agents": 10, "alternatives": 5}),
        ("song2022.figure3", {"epsilon": 1.0, "queries": 2}),
        ("song2022.figure4-noise", {"agents": 1000}),
        ("yan2020.figure3-least-rr", {"agents": 100}),
        ("yan2020.figure3-least-lap", {"dispersion": 0.4}),
        ("yan2020.figure3-kendall-tau-rr", {"alternatives": 10}),
        ("yan2020.recommended-epsilon", {"epsilon": 2.0}),
        ("yang2018.rule1-size", {"items": 9}),
        ("yang2018.small-domains", {"thin": 2}),
        ("shang2014.figure2-delta", {"agents": 3}),
        ("shang2014.equations29-34", {"alternatives": 4, "rule": "plurality"}),
        ("shang2014.figure3", {"epsilon": 0.2, "delta": "0.1/n"}),
        ("alabi2022.comparisons-any", {"alternatives": 6}),
    ],
)
def test_what_statements_of_the_catalogue_name_is_enforced(name, settings):
    declaration = catalogue_claims()[name]
    for target in declaration.targets:
        assert declaration.bind(target(**settings)).inapplicable


@pytest.mark.slow
def test_plans_audit_what_statements_name():
    """Where a plan leaves that, it expects the claim to be inapplicable."""
    for cell in build_cells(Request(targets=sorted(catalogue()), with_figures=True)):
        declaration = cell.declaration()
        assert declaration is not None
        outside = declaration.outside(cell.reference.load(), cell.described, on_data=cell.data is not None)
        assert not outside or cell.expected in ("inapplicable", None), (cell.claim, cell.parameters, outside)
