"""Whether a record still is what its command would give: after a change of the plan, the protocol, or the pages."""

import dataclasses
import json
import shutil
from textwrap import dedent

import pytest

import dpaudit
from dpaudit.claims.record import Partial, read_record, summarise
from dpaudit.cli import main
from dpaudit.runner import Request
from dpaudit.runner.check import run_request
from dpaudit.runner.freshness import check_record, check_reports

PROTOCOL = '''
    """A protocol."""

    import dpaudit


    def bound():
        return 2.0


    class Sum(dpaudit.Mechanism):
        """Nothing random."""

        number: int = 1

        def claims(self):
            return [
                dpaudit.UtilityClaim(id="one", statement="1 <= 2", bound=bound(), exact=lambda: 1.0, support=(0, 9))
            ]
'''
PLAN = """
    schema = "dpaudit.plan/1"
    protocol = "sum.py"

    [[audit]]
    target = "sum"
    claim = "one"
    set = { number = [1, 2] }
    expect = "proved"
    reason = "arithmetic"
"""


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """A folder with a plan, its protocol, and a report of it; made once, so that tests get copies."""
    folder = tmp_path_factory.mktemp("reported")
    (folder / "sum.py").write_text(dedent(PROTOCOL))
    (folder / "sum.toml").write_text(dedent(PLAN))
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(folder)
        command = ["dpaudit", "check", "sum.toml", "--output", "report", "--workers", "1", "--quiet"]
        monkeypatch.setattr("sys.argv", command)
        with pytest.raises(SystemExit) as left:
            main()
    assert left.value.code == 0
    return folder


@pytest.fixture
def made(reported, tmp_path, monkeypatch):
    """A copy of that folder, which is the current one."""
    shutil.copytree(reported, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(monkeypatch, capsys, path="report"):
    """Exit status and output of ``dpaudit report --check``."""
    capsys.readouterr()
    monkeypatch.setattr("sys.argv", ["dpaudit", "report", "--check", path])
    with pytest.raises(SystemExit) as left:
        main()
    return left.value.code, capsys.readouterr().out


@pytest.fixture
def check(made, monkeypatch, capsys):
    return lambda path="report": checked(monkeypatch, capsys, path)


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.slow
def test_a_report_just_made_is_up_to_date(check):
    status, out = check()
    assert status == 0
    assert "up to date" in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("sum.py", '"""Nothing random."""', '"""Nothing at all is random."""'),
        ("sum.py", "def bound():", "# A comment.\n\ndef bound():"),
        ("sum.toml", "[[audit]]", "# A comment.\n[[audit]]"),
    ],
)
def test_words_outdate_nothing(made, check, file, old, new):
    edit(made / file, old, new)
    assert check()[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "reason"),
    [
        ("sum.py", "return 2.0", "return 3.0", "2 of 2 results (one): code, parameters"),
        ("sum.toml", "[1, 2]", "[1, 2, 3]", "1 of 3 results (one): code, parameters"),
        ("sum.toml", '"proved"', '"refuted"', "2 of 2 results (one): the plan expects something else"),
        ("sum.toml", "arithmetic", "because", "2 of 2 results (one): the plan expects something else"),
        ("sum.toml", 'protocol = "sum.py"', 'protocol = "gone.py"', "its command cannot be run any more"),
    ],
)
def test_what_changed_is_told(made, check, file, old, new, reason):
    edit(made / file, old, new)
    status, out = check()
    assert status == 1
    assert reason in out


@pytest.mark.slow
def test_a_result_that_is_no_longer_planned_is_told(made, check):
    edit(made / "sum.toml", "[1, 2]", "[1]")
    status, out = check()
    assert status == 1
    assert "no longer asked for" in out


@pytest.mark.slow
def test_a_page_that_was_edited_is_told(made, check):
    edit(made / "report" / "index.html", "proved", "certified")
    status, out = check()
    assert status == 1
    assert "index.html is not what is rendered from the record now" in out


@pytest.mark.slow
def test_a_record_without_keys_is_unknown(made, check):
    path = made / "report" / "record.json"
    record = dpaudit.read_record(path)
    bare = tuple(dataclasses.replace(result, key="") for result in record.results)
    path.write_text(dataclasses.replace(record, results=bare).to_json())
    status, out = check()
    assert status == 1
    assert "unknown: the record does not say what its results depend on" in out


@pytest.mark.slow
def test_results_that_a_deadline_left_unfinished_are_no_changed_code(made, monkeypatch):
    words = ["dpaudit", "check", "sum.toml", "--seconds", "100", "--output", "limited", "--workers", "1", "--quiet"]
    monkeypatch.setattr("sys.argv", words)
    with pytest.raises(SystemExit):
        main()
    path = made / "limited" / "record.json"
    record = dpaudit.read_record(path)
    assert check_record(path, record).state == "up to date"
    first, *others = record.results
    some = dataclasses.replace(record, results=(dataclasses.replace(first, key=""), *others))
    found = check_record(path, some)
    assert (found.state, found.reasons) == (
        "unknown",
        ("1 of 2 results (one): not finished; its command has --seconds: run it again with more",),
    )
    none = dataclasses.replace(record, results=tuple(dataclasses.replace(result, key="") for result in record.results))
    assert check_record(path, none).reasons[0].startswith("no result was finished; its command has --seconds")


@pytest.mark.slow
def test_a_forged_verdict_is_not_noticed_by_keys_but_by_the_pages(made, check):
    edit(made / "report" / "record.json", '"proved"', '"certified"')
    assert check()[0] == 1


def test_a_folder_without_records_is_refused(tmp_path):
    with pytest.raises(dpaudit.RecordError, match="no record in this folder"):
        check_reports(tmp_path, lambda record: {}, lambda records: {})


@pytest.mark.slow
def test_the_ledger_is_checked_too(made):
    (made / "report" / "second.json").write_text((made / "report" / "record.json").read_text())

    def ledger(records):
        return {"LEDGER.md": f"ledger of {', '.join(sorted(records))}"}

    def states():
        return [each.state for each in check_reports(made / "report", lambda record: {}, ledger)]

    assert states() == ["up to date", "up to date", "outdated"]
    (made / "report" / "LEDGER.md").write_text("ledger of record, second")
    assert states() == ["up to date", "up to date"]


@pytest.mark.slow
def test_the_command_of_a_record_makes_it_again(made, capsys, monkeypatch):
    record = dpaudit.check("sum.toml", samples=30, seed=4, confidence=0.99)
    assert record.command == "dpaudit check sum.toml --samples 30 --confidence 0.99 --seed 4"
    monkeypatch.setattr("sys.argv", [*record.command.split(), "--format", "json"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 0
    again = json.loads(capsys.readouterr().out)
    assert again["results"] == json.loads(record.to_json())["results"]
    assert again["command"] == record.command


@pytest.mark.slow
def test_cells_without_a_result_of_an_interrupted_run_are_told_from_those_that_changed(made, monkeypatch, capsys):
    file = made / "report" / "record.json"
    whole = read_record(file)
    one = whole.results[:1]
    for results, said in (
        (one, "1 of 2 results (one): the run was interrupted; its command with the same --output goes on from there"),
        ((), "the run was interrupted before it had any result"),
    ):
        cut = dataclasses.replace(
            whole, results=results, summary=summarise(results), partial=Partial(cells=2, results=len(results))
        )
        file.write_text(cut.to_json(), encoding="utf-8")
        status, out = checked(monkeypatch, capsys)
        assert status == 1
        assert out.splitlines()[0].endswith(f"record.json: outdated: {said}")


BIT = """
    import numpy as np

    import dpaudit


    class Bit(dpaudit.Mechanism):
        epsilon: float = 1.0

        def sample(self, data, size, rng):
            return np.where(rng.random(size) < 1 / (1 + np.exp(-self.epsilon)), data, 1 - data)

        def law(self, data):
            keep = 1 / (1 + np.exp(-self.epsilon))
            return dpaudit.FiniteLaw.from_probabilities([data, 1 - data], [keep, 1 - keep])

        def neighbours(self):
            return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")

        def claims(self):
            return [dpaudit.PrivacyClaim(id="bit.privacy", statement="It is private.", epsilon=self.epsilon)]
"""
WAYS = """
    schema = "dpaudit.plan/1"
    protocol = "bit.py"
"""
WAY = """
    [[audit]]
    target = "bit"
    claim = "bit.privacy"
    set = {{ epsilon = [1.0] }}
    expect = "{expect}"
    reason = "the noise is that of the claim"
    samples = 2000
    method = "{method}"
    stop_early = {early}
"""
CHANGED = "1 of 3 results (bit.privacy): code, parameters, plan, data or libraries that decide it changed"


def lacking(number):
    """What is said of cells that an interrupted run did not come to."""
    goes_on = "its command with the same --output goes on from there"
    return f"{number} of 3 results (bit.privacy): the run was interrupted; {goes_on}"


@pytest.mark.slow
def test_ways_to_audit_one_cell_are_told_apart_in_an_interrupted_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bit.py").write_text(dedent(BIT), encoding="utf-8")
    ways = [("exact", "proved", "false"), ("black-box", "consistent", "false"), ("black-box", "consistent", "true")]
    audits = [WAY.format(method=method, expect=expect, early=early) for method, expect, early in ways]
    (tmp_path / "bit.toml").write_text(dedent(WAYS + "".join(audits)), encoding="utf-8")
    whole = run_request(Request(targets=["bit.toml"]), apart=False).record
    assert [result.method for result in whole.results] == ["exact", "black-box", "black-box"]
    assert [result.command.count("--stop-early") for result in whole.results] == [0, 0, 1]

    def reasons(*places, other=()):
        """What is said where the record has the results at these places, some of them with another key."""
        results = [
            dataclasses.replace(whole.results[place], key="0" * 16) if place in other else whole.results[place]
            for place in places
        ]
        partial = Partial(cells=3, results=len(places)) if len(places) < 3 else None
        record = dataclasses.replace(whole, results=tuple(results), summary=summarise(results), partial=partial)
        return list(check_record(tmp_path / "record.json", record).reasons)

    assert reasons(0, 1, 2) == []
    for place in range(3):
        assert reasons(place) == [lacking(2)]
        assert reasons(place, other=[place]) == [lacking(2), CHANGED]
        assert reasons(0, 1, 2, other=[place]) == [CHANGED]
    assert reasons(0, 2) == [lacking(1)]
    assert reasons(0, 2, other=[0]) == [lacking(1), CHANGED]
