"""Audit plans: what is read; what is refused is tested through the command line (tests/cli/test_bad_plans.py)."""

import pytest

import dpaudit
from dpaudit.claims.verdicts import Verdict
from dpaudit.plan import audit_lines, grid, plan_beside, plans, plans_of, read_plan
from dpaudit.registry import catalogue_claims, catalogue_papers

TARGET = """
import dpaudit

class One(dpaudit.Mechanism):
    '''One.'''
    epsilon: float = 1.0
    def claims(self):
        return [dpaudit.PrivacyClaim(id="one.p", statement="s", epsilon=self.epsilon)]

class Two(One):
    '''Two.'''
    def claims(self):
        return super().claims()
"""
PLAN = """
schema = "dpaudit.plan/1"
protocol = "{protocol}"

[[audit]]
target = "two"
claim = "one.p"
set = {{ epsilon = [0.5, 1] }}
method = "black-box"
samples = 1_000
expect = "consistent"
reason = "because"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "both.py").write_text(TARGET, encoding="utf-8")
    return tmp_path


def test_a_plan_is_read(folder):
    (folder / "p.toml").write_text(PLAN.format(protocol="code/both.py"), encoding="utf-8")
    plan = read_plan("p.toml")
    assert plan.protocol == (folder / "code" / "both.py").resolve()
    assert list(plan.targets) == ["one", "two"]
    (audit,) = plan.audits
    assert (audit.target, audit.claim, audit.method, audit.samples) == ("two", "one.p", "black-box", 1000)
    assert audit.expect is Verdict.CONSISTENT
    assert list(audit.cells()) == [{"epsilon": 0.5}, {"epsilon": 1}]


def test_the_protocol_is_found_from_the_plans_folder(folder, monkeypatch):
    (folder / "p.toml").write_text(PLAN.format(protocol="code/both.py"), encoding="utf-8")
    monkeypatch.chdir(folder / "code")
    assert read_plan("../p.toml").protocol == (folder / "code" / "both.py").resolve()


def test_the_plan_of_a_file_lies_beside_it(folder):
    file = folder / "code" / "both.py"
    assert plan_beside(file) is None
    (folder / "code" / "both.toml").write_text(PLAN.format(protocol="both.py"), encoding="utf-8")
    assert plan_beside(file) is not None
    (folder / "code" / "other.py").write_text(TARGET, encoding="utf-8")
    (folder / "code" / "both.toml").write_text(PLAN.format(protocol="other.py"), encoding="utf-8")
    assert plan_beside(file) is None


def test_plans_of_a_target_of_the_catalogue_are_those_of_all_papers_that_speak_of_it():
    assert {plan.path.stem for plan in plans_of("kwiksort")} == {"alabi2022", "yan2020"}
    assert {plan.path.stem for plan in plans_of("gaussian-histogram")} == {"shang2014"}
    assert plans_of("no-such-target") == []


@pytest.mark.slow
def test_every_plan_of_the_catalogue_can_be_read_and_every_paper_with_claims_has_one():
    read = {plan.paper: plan for plan in map(read_plan, plans())}
    assert set(read) == {key for key, entry in catalogue_papers().items() if entry.declarations or entry.plan}
    for plan in read.values():
        assert len(audit_lines(plan.path)) == len(plan.audits)
        assert plan.error_probability is not None
        for audit in plan.audits:
            assert audit.reason
            assert audit.expect is not Verdict.INCONCLUSIVE
            assert list(audit.cells())


@pytest.mark.slow
def test_every_claim_of_the_catalogue_is_audited():
    audited = {audit.claim for path in plans() for audit in read_plan(path).audits}
    assert audited == set(catalogue_claims())


def test_grid():
    assert list(grid({"a": [1, 2], "b": "x", "c": [True]})) == [
        {"a": 1, "b": "x", "c": True},
        {"a": 2, "b": "x", "c": True},
    ]
    assert list(grid({})) == [{}]


@pytest.mark.parametrize(
    "text", ["", "x = 1", "= 1", 'schema = "dpaudit.plan/1"\nprotocol = "code/both.py"\naudit = [1]']
)
def test_what_cannot_be_read_is_a_plan_error(folder, text):
    (folder / "p.toml").write_text(text, encoding="utf-8")
    with pytest.raises(dpaudit.PlanError, match=r"^p\.toml: "):
        read_plan("p.toml")


def test_two_targets_of_one_name_are_refused(tmp_path):
    text = """
import dpaudit

class {name}(dpaudit.Mechanism):
    name = "twin"
    epsilon: float = 1.0
    def claims(self):
        return [dpaudit.PrivacyClaim(id="c", statement="", epsilon=self.epsilon)]
"""
    (tmp_path / "two.py").write_text(text.format(name="A") + text.format(name="B"), encoding="utf-8")
    (tmp_path / "two.toml").write_text('schema = "dpaudit.plan/1"\nprotocol = "two.py"\naudit = []\n', encoding="utf-8")
    with pytest.raises(dpaudit.PlanError, match="two targets named 'twin'"):
        read_plan(tmp_path / "two.toml")
