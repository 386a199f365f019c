"""Data that a plan names and does not carry: audited where they are, left out with a word where they are not."""

import hashlib
import json
import os
from pathlib import Path
from textwrap import dedent

import pytest

from dpaudit.catalog import ROOT
from dpaudit.cli import main
from dpaudit.errors import PlanError
from dpaudit.plan import read_plan
from dpaudit.rankings import read_profile
from dpaudit.runner.cells import build_cells
from dpaudit.runner.instances import DATA_FOLDER
from dpaudit.runner.request import Request

VOTES = """# FILE NAME: votes.soc
# DATA TYPE: soc
# NUMBER ALTERNATIVES: 3
# NUMBER VOTERS: 6
# NUMBER UNIQUE ORDERS: 2
# ALTERNATIVE NAME 1: A
# ALTERNATIVE NAME 2: B
# ALTERNATIVE NAME 3: C
5: 2,1,3
1: 3,2,1
"""
PROTOCOL = '''
    """A protocol."""

    import dpaudit
    from dpaudit import rankings


    class Votes(dpaudit.Mechanism):
        """Nothing random."""

        synthetic = ("spread",)

        number: int = 1
        spread: float = 0.5
        agents: int = dpaudit.parameter(10, role="agents")
        alternatives: int = dpaudit.parameter(4, role="alternatives")
        profile: rankings.Profile | None = dpaudit.parameter(None, role="dataset", loader=rankings.PREFLIB)

        def claims(self):
            counted = self.agents if self.profile is None else self.profile.agents
            common = {"statement": "few", "support": (0, 99), "exact": lambda: float(counted)}
            return [
                dpaudit.UtilityClaim(id="few", bound=8.0, on_data=True, **common),
                dpaudit.UtilityClaim(id="made-up", bound=80.0, **common),
            ]
'''
PLAN = """
    schema = "dpaudit.plan/1"
    protocol = "votes.py"

    [data.poll]
    file = "votes.soc"
    sha256 = "{digest}"
    sizes = {{ agents = 6, alternatives = 3 }}

    [[audit]]
    target = "votes"
    claim = "few"
    set = {{ spread = 0.1 }}
    expect = "refuted"
    reason = "ten agents"

    [[audit]]
    target = "votes"
    claim = "few"
    set = {{ number = [1, 2] }}
    data = "poll"
    expect = "proved"
    reason = "six agents"

    [[audit]]
    target = "votes"
    claim = "made-up"
    set = {{ }}
    expect = "proved"
    reason = "ten agents"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A protocol with a plan, and the folder of its data, which the variable names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "votes.py").write_text(dedent(PROTOCOL), encoding="utf-8")
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "votes.soc"
    file.write_text(VOTES, encoding="utf-8", newline="\n")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    (tmp_path / "votes.toml").write_text(dedent(PLAN.format(digest=digest)), encoding="utf-8")
    monkeypatch.setenv(DATA_FOLDER, str(tmp_path / "data"))
    return tmp_path


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a command; its exit status, record and messages."""

    def command(*words):
        capsys.readouterr()
        monkeypatch.setattr("sys.argv", ["dpaudit", *words])
        with pytest.raises(SystemExit) as left:
            main()
        told = capsys.readouterr()
        return left.value.code, told.out, told.err

    return command


def checked(run, *words):
    status, out, err = run("check", "votes.toml", "--workers", "1", "--format", "json", *words)
    return status, json.loads(out)["results"], err


@pytest.mark.slow
def test_cells_on_data_have_the_data_s_name_and_hash_and_no_synthetic_parameters(folder, run):
    status, results, err = checked(run)
    on_data = [result for result in results if "data" in result["parameters"]]
    assert (status, len(results), len(on_data)) == (0, 4, 2)
    assert "left out" not in err
    for number, result in enumerate(on_data, 1):
        data = result["parameters"].pop("data")
        assert data.startswith("votes.soc (SHA-256 ")
        assert result["parameters"] == {"number": number, "agents": 6, "alternatives": 3}
        assert (result["verdict"], result["expected"]) == ("proved", "proved")
        # No path of this machine, and a command that works where the variable is set.
        assert str(folder) not in json.dumps(result)
        again = json.loads(run(*result["command"].split()[1:], "--format", "json")[1])["results"]
        assert [each["measured"] for each in again] == [result["measured"]]


@pytest.mark.slow
def test_without_the_data_their_cells_are_left_out_with_a_word(folder, run, monkeypatch):
    (folder / "data" / "votes.soc").write_text(VOTES.replace("5: 2,1,3", "5: 1,2,3"), encoding="utf-8")
    status, results, err = checked(run)
    # Another file in its place is an error, and no lack of data.
    assert (status, len(results)) == (2, 2)
    assert "2 audits on real data were left out" in err
    assert "not the file that the plan means" in err
    (folder / "data" / "votes.soc").unlink()
    status, results, err = checked(run)
    assert (status, len(results)) == (0, 2)
    assert "2 audits on real data were left out: votes.soc: there is no such file" in err
    monkeypatch.delenv(DATA_FOLDER)
    assert "2 audits on real data were left out: votes.soc: set DPAUDIT_DATA" in checked(run)[2]


@pytest.mark.slow
def test_a_claim_that_is_asked_for_and_has_no_data_is_an_error(folder, run, monkeypatch):
    text = (folder / "votes.toml").read_text(encoding="utf-8")
    synthetic = text.index('[[audit]]\ntarget = "votes"\nclaim = "few"\nset = { spread')
    on_data = text.index("[[audit]]", synthetic + 1)
    (folder / "votes.toml").write_text(text[:synthetic] + text[on_data:], encoding="utf-8")
    monkeypatch.delenv(DATA_FOLDER)
    status, results, err = checked(run, "--claim", "few")
    assert (status, results) == (2, [])
    assert "claim few: nothing was checked, for want of data" in err
    assert checked(run, "--claim", "few", "--claim", "made-up")[0] == 2
    assert checked(run)[0] == 0


@pytest.mark.slow
def test_what_is_set_is_about_synthetic_inputs(folder, run):
    _, results, err = checked(run, "--claim", "few", "--set", "number=7")
    assert ["data" in result["parameters"] for result in results] == [False]
    assert "left out" not in err


@pytest.mark.slow
def test_kept_results_stay_valid_without_the_data(folder, run, monkeypatch):
    checked(run, "--output", "report")
    made = (folder / "report" / "record.json").read_text(encoding="utf-8")
    monkeypatch.delenv(DATA_FOLDER)
    assert run("report", "--check", "report")[0] == 0
    status, results, err = checked(run, "--output", "report")
    assert (status, len(results)) == (0, 4)
    assert "left out" not in err
    assert json.loads((folder / "report" / "record.json").read_text())["results"] == json.loads(made)["results"]


@pytest.mark.slow
def test_kept_results_of_other_code_are_outdated_without_the_data(folder, run, monkeypatch):
    checked(run, "--output", "report")
    text = (folder / "votes.py").read_text(encoding="utf-8")
    (folder / "votes.py").write_text(text.replace("bound=8.0", "bound=7.0"), encoding="utf-8")
    monkeypatch.delenv(DATA_FOLDER)
    status, out, _ = run("report", "--check", "report")
    assert status != 0
    assert "4 of 4 results" in out


@pytest.mark.slow
def test_a_record_made_without_the_data_is_up_to_date_without_them_only(folder, run, monkeypatch):
    monkeypatch.delenv(DATA_FOLDER)
    checked(run, "--output", "report")
    assert run("report", "--check", "report")[0] == 0
    monkeypatch.setenv(DATA_FOLDER, str(folder / "data"))
    status, out, _ = run("report", "--check", "report")
    assert status != 0
    assert "2 of 4 results (few)" in out


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('data = "poll"', 'data = "pole"', "'data' names 'pole' (did you mean 'poll'?)"),
        ("set = { number = [1, 2] }", "set = { agents = 7 }", "'set' has 'agents', which the data decide"),
        ("set = { number = [1, 2] }", "set = { spread = 0.2 }", "'set' has 'spread', which the data decide"),
        ("agents = 6,", "agent = 6,", "votes has no parameter 'agent'"),
        ('file = "votes.soc"', 'file = "data/votes.soc"', "file"),
        ("sha256 = ", 'sha256 = "beef"\n# ', "sha256"),
    ],
)
def test_plans_that_cannot_be_meant(folder, old, new, problem):
    text = (folder / "votes.toml").read_text(encoding="utf-8")
    assert old in text
    (folder / "votes.toml").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(PlanError) as raised:
        read_plan(folder / "votes.toml")
    assert problem in str(raised.value)


def test_a_claim_that_is_not_measured_on_data(folder):
    text = (folder / "votes.toml").read_text(encoding="utf-8")
    changed = text.replace('claim = "made-up"', 'claim = "made-up"\ndata = "poll"')
    (folder / "votes.toml").write_text(changed, encoding="utf-8")
    with pytest.raises(PlanError, match="claim made-up is not measured on data"):
        build_cells(Request(targets=["votes.toml"]))


@pytest.mark.slow
def test_the_catalogue_s_data_are_what_its_plans_say():
    folder = os.environ.get(DATA_FOLDER)
    planned = [data for path in sorted((ROOT / "audits").glob("*.toml")) for data in read_plan(path).data.values()]
    assert planned
    if folder is None:
        pytest.skip("set DPAUDIT_DATA to a folder of PrefLib .soc files")
    for data in planned:
        file = Path(folder) / data.file
        if not file.is_file():
            continue
        profile = read_profile(file)
        assert hashlib.sha256(file.read_bytes()).hexdigest() == data.sha256
        assert data.sizes == {"agents": profile.agents, "alternatives": profile.alternatives}
