"""A parameter that is set and then has no effect is refused, in a command and in a plan."""

from pathlib import Path

import pytest

import dpaudit
from dpaudit.claims.record import plain
from dpaudit.plan import plans_of
from dpaudit.registry import catalogue
from dpaudit.runner import Request, build_cells

TARGET = '''\
from typing import Literal

import dpaudit


class Split(dpaudit.Mechanism):
    """A budget, given in one of several ways."""

    epsilon: float = 1.0
    half: float | None = None
    rule: str = "borda"
    most: int = 10
    agents: int = 1000
    groups: int = 1
    cap: int | Literal["auto"] = "auto"

    def validate(self):
        if self.half is not None:
            object.__setattr__(self, "epsilon", 2 * self.half)
        object.__setattr__(self, "rule", self.rule.lower())
        object.__setattr__(self, "most", 10)
        object.__setattr__(self, "agents", self.agents // self.groups * self.groups)
        if self.cap == "auto":
            object.__setattr__(self, "cap", 7)

    def sample(self, data, size, rng):
        return rng.integers(0, 2, size)

    def claims(self):
        return [
            dpaudit.LemmaClaim(id=f"split.{name}", statement="1 is above 0.", margin=lambda: 1.0, variables={})
            for name in ("one", "other")
        ]
'''

PLAN = """\
schema = "dpaudit.plan/1"
protocol = "split.py"

[[audit]]
target = "split"
claim = "split.one"
set = {{ {one} }}
expect = "proved"
reason = "it is"

[[audit]]
target = "split"
claim = "split.other"
set = {{ epsilon = [1.0, 2.0] }}
expect = "proved"
reason = "it is"
"""


@pytest.fixture
def split(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("split.py").write_text(TARGET, encoding="utf-8")

    def planned(one=""):
        if one:
            Path("split.toml").write_text(PLAN.format(one=one), encoding="utf-8")
        return "split.py"

    return planned


def chosen(target, claim="split.one", **values):
    found = build_cells(Request(targets=[target], claims=[claim] if claim else [], set=values))
    return [cell.described for cell in found]


def test_what_the_plan_replaces_is_refused_and_may_be_given_back(split):
    target = split("half = 0.25")
    line = r"--set epsilon=2\.0: without effect on split\.one of split, where epsilon is 0\.5 because of half=0\.25; "
    with pytest.raises(dpaudit.ParameterError, match=line + "leave it out, or take that back: --set half=null"):
        chosen(target, epsilon=[2.0])
    # Whichever claims are asked for: those that would not change are refused too.
    with pytest.raises(dpaudit.ParameterError, match=line):
        chosen(target, claim="", epsilon=[2.0])
    assert [each["epsilon"] for each in chosen(target, epsilon=[2.0], half=[None])] == [2.0]
    assert [each["epsilon"] for each in chosen(target, claim="split.other", epsilon=[3.0])] == [3.0]


def test_two_that_are_set_and_of_which_one_replaces_the_other_are_refused(split):
    for target in (split(), split("half = 0.25"), split("epsilon = 1.0")):
        for value in (1.0, 2.0):
            with pytest.raises(dpaudit.ParameterError, match=r"because of half=0\.75; leave one of them out"):
                chosen(target, epsilon=[value], half=[0.75])


def test_what_replaces_the_plans_parameter_is_no_error(split):
    target = split("epsilon = [1.0, 2.0]")
    assert {each["half"] for each in chosen(target, half=[0.5])} == {0.5}


def test_a_plan_that_sets_both_is_refused(split):
    target = split("half = 0.25, epsilon = 2.0")
    with pytest.raises(dpaudit.PlanError, match=r"split\.toml: epsilon=2\.0: without effect .* leave one of them out"):
        chosen(target)


def test_what_the_mechanism_decides_by_itself_is_refused(split):
    with pytest.raises(dpaudit.ParameterError, match=r"--set most=12: without effect .* most is 10 whatever is set"):
        chosen(split(), most=[12])
    assert chosen(split(), most=[10])


def test_a_value_that_the_mechanism_changes_a_little_or_works_out_is_no_error(split):
    assert [each["agents"] for each in chosen(split(), agents=[1000, 505], groups=[7])] == [994, 504]
    assert [each["cap"] for each in chosen(split(), cap=["auto", 3])] == [7, 3]


def test_a_value_that_is_written_in_another_way_is_no_error(split):
    assert [each["rule"] for each in chosen(split(), rule=["Copeland", "borda"])] == ["copeland", "borda"]


def test_what_describes_made_up_inputs_is_refused_with_data(tmp_path):
    data = tmp_path / "few.soc"
    header = "# DATA TYPE: soc\n# NUMBER ALTERNATIVES: 3\n# NUMBER VOTERS: 2\n# NUMBER UNIQUE ORDERS: 1\n"
    names = "".join(f"# ALTERNATIVE NAME {number}: {number}\n" for number in (1, 2, 3))
    data.write_text(f"{header}{names}2: 1,2,3\n", encoding="utf-8")
    with pytest.raises(dpaudit.ParameterError, match=r"--set dispersion: without effect .* leave it out"):
        build_cells(Request(targets=["ldp-kwiksort-rr"], data=str(data), set={"dispersion": [0.5]}))


@pytest.mark.slow
def test_the_command_of_a_cell_sets_nothing_without_effect():
    cells = build_cells(Request(targets=["song2022"], with_figures=True))
    replaced = [cell for cell in cells if cell.described.get("central_epsilon") is not None and cell.data is None]
    assert replaced
    for cell in {cell.claim: cell for cell in replaced}.values():
        (again,) = build_cells(
            Request(
                targets=[cell.called],
                claims=[cell.claim],
                set={name: [value] for name, value in cell.parameters.items()},
                method=cell.method,
                features=cell.features,
                stop_early=cell.stop_early,
            )
        )
        assert again.described == cell.described
        assert again.expected == cell.expected


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(catalogue()))
def test_each_parameter_that_a_plan_sets_has_an_effect_or_is_refused(name):
    target = catalogue()[name].load()
    values: dict[str, list] = {}
    for plan in plans_of(name):
        for audit in plan.audits:
            for parameter, given in audit.set.items() if audit.target == name else ():
                values.setdefault(parameter, []).extend(given if isinstance(given, list) else [given])
    for parameter, given in values.items():
        value = next((each for each in given if each is not None), None)
        try:
            cells = build_cells(Request(targets=[name], set={parameter: [value]}))
        except dpaudit.ParameterError:
            continue
        assert cells
        for cell in cells:
            assert cell.described[parameter] == plain(target.converted(parameter, value)), (cell.claim, parameter)
