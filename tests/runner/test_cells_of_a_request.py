"""From plans, settings and claims to cells."""

import dataclasses
from pathlib import Path

import pytest

import dpaudit
from dpaudit.runner import Request, build_cells

AUDIT = """
[[audit]]
target = "mixed"
claim = "mixed.exact"
set = {{ epsilon = {epsilon} }}
expect = "{expect}"
reason = "{reason}"
{more}
"""


@pytest.fixture
def planned(mixed):
    def write(*audits):
        text = 'schema = "dpaudit.plan/1"\nprotocol = "mixed.py"\n'
        for audit in audits:
            text += AUDIT.format(**{"epsilon": "1.0", "expect": "proved", "reason": "r", "more": "", **audit})
        Path("mixed.toml").write_text(text, encoding="utf-8")
        return mixed

    return write


def cells(target, claim="mixed.exact", **request):
    return [cell for cell in build_cells(Request(targets=[target], **request)) if cell.claim == claim]


def test_every_claim_is_a_cell_without_a_plan(mixed):
    found = build_cells(Request(targets=[mixed]))
    assert [cell.claim for cell in found] == ["mixed.exact", "mixed.box", "mixed.good", "mixed.lemma", "mixed.false"]
    assert all(cell.expected is None for cell in found)


def test_settings_make_a_grid_in_the_order_written(mixed):
    found = cells(mixed, set={"epsilon": [2, 1], "broken": [False, True]})
    assert [tuple(cell.parameters.values()) for cell in found] == [(2, False), (2, True), (1, False), (1, True)]


def test_settings_replace_the_plans_and_expectations_stay_where_they_match(planned):
    target = planned({"epsilon": "[0.5, 1.0]"}, {"epsilon": "3.0", "expect": "refuted"})
    assert [cell.expected for cell in cells(target)] == ["proved", "proved", "refuted"]
    assert [cell.expected for cell in cells(target, set={"epsilon": [1, 2, 3]})] == ["proved", None, "refuted"]
    # The default value of a parameter is the same cell as that value given.
    assert [cell.expected for cell in cells(target, set={"broken": ["false"]})] == ["proved", "proved", "refuted"]
    assert [cell.expected for cell in cells(target, set={"broken": ["true"]})] == [None, None, None]


@pytest.mark.slow
def test_what_is_set_need_suit_the_claims_that_are_named_only():
    # The plan has other claims at a distance of 2, which no word of length 1 allows.
    request = Request(targets=["marginals-reduction"], set={"dimensions": [1], "padding": [2]})
    with pytest.raises(dpaudit.ParameterError, match="'distance' must be at most 1"):
        build_cells(request)
    (cell,) = build_cells(dataclasses.replace(request, claims=["alabi2022.observation16"]))
    assert cell.expected == "refuted"
    with pytest.raises(dpaudit.TargetError, match=r"did you mean 'alabi2022\.observation16'"):
        build_cells(dataclasses.replace(request, claims=["alabi2022.observation61"]))


def test_text_from_the_command_line_is_the_same_cell_as_the_plans_number(planned):
    assert [cell.expected for cell in cells(planned({}), set={"epsilon": ["1"]})] == ["proved"]


def test_an_expectation_is_of_one_method(planned):
    target = planned({}, {"more": 'method = "black-box"\nsamples = 3000', "expect": "consistent"})
    assert [(cell.method, cell.expected) for cell in cells(target)] == [
        ("auto", "proved"),
        ("black-box", "consistent"),
    ]
    assert [(cell.method, cell.expected) for cell in cells(target, method="exact")] == [("exact", "proved")]
    assert [(c.method, c.expected, c.samples) for c in cells(target, method="black-box", samples=10)] == [
        ("black-box", "consistent", 10)
    ]
    alone = planned({"epsilon": "2.0"})
    assert [cell.expected for cell in cells(alone, method="black-box")] == [None]


def test_who_sets_parameters_gets_each_cell_once_by_the_strongest_method(planned):
    target = planned({"more": 'method = "black-box"', "expect": "consistent"}, {})
    assert [cell.method for cell in cells(target, set={"epsilon": [1.0, 2.0]})] == ["auto", "auto"]
    only = planned({"more": 'method = "black-box"', "expect": "consistent"})
    found = cells(only, set={"epsilon": [1.0, 2.0]})
    assert [(cell.method, cell.expected) for cell in found] == [("black-box", "consistent"), ("black-box", None)]


def test_features_and_early_stopping_are_ways_of_their_own(planned):
    target = planned({}, {"more": 'features = "float-bits"\nstop_early = true\nsamples = 3000', "expect": "refuted"})
    assert [(c.method, c.features, c.stop_early, c.expected) for c in cells(target)] == [
        ("auto", "none", False, "proved"),
        ("auto", "float-bits", True, "refuted"),
    ]
    (asked,) = cells(target, features="float-bits", stop_early=True, set={"epsilon": [1.0]})
    assert (asked.features, asked.stop_early, asked.samples, asked.expected) == ("float-bits", True, 3000, "refuted")
    (plain,) = cells(target, set={"epsilon": [1.0]})
    assert (plain.features, plain.stop_early, plain.samples, plain.expected) == ("none", False, None, "proved")
    # What insists on another method has no use for features.
    assert {(c.method, c.features) for c in cells(target, method="exact")} == {("exact", "none")}
    exact = planned({"more": 'method = "exact"'})
    assert [(c.method, c.features, c.expected) for c in cells(exact, features="float-bits")] == [
        ("exact", "none", "proved")
    ]


def test_a_plan_named_and_its_file_named_are_the_same(planned):
    target = planned({})
    assert cells(target) == cells("mixed.toml") == cells("mixed.py::Mixed")
    assert len(build_cells(Request(targets=[target, target, "mixed.toml"]))) == 5


def test_unknown_names(mixed):
    with pytest.raises(dpaudit.TargetError, match=r"did you mean 'mixed.exact'"):
        build_cells(Request(targets=[mixed], claims=["mixed.exac"]))
    with pytest.raises(dpaudit.ParameterError, match="did you mean 'epsilon'"):
        build_cells(Request(targets=[mixed], set={"epsilom": [1.0]}))


def test_a_parameter_of_one_of_two_targets(mixed):
    found = build_cells(Request(targets=[mixed, "kwiksort"], set={"broken": [True]}))
    assert {cell.target for cell in found} == {"mixed", "kwiksort"}
    assert all(("broken" in cell.parameters) == (cell.target == "mixed") for cell in found)
