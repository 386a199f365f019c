"""Whether reports are up to date: after a change of the plan, the protocol, the code, or the pages themselves."""

import dataclasses
import json
from textwrap import dedent

import pytest

import dpaudit
from dpaudit.cli import main
from dpaudit.reporting import render_html
from dpaudit.runner import freshness
from dpaudit.runner.freshness import check_reports, read_records

PROTOCOL = '''
    """A protocol."""

    import dpaudit


    class Sum(dpaudit.Mechanism):
        """Nothing random."""

        def claims(self):
            return [dpaudit.UtilityClaim(id="one", statement="1 <= 2", bound=2.0, exact=lambda: 1.0, support=(0, 9))]
'''
PLAN = """
    schema = "dpaudit.plan/1"
    protocol = "sum.py"

    [[audit]]
    target = "sum"
    claim = "one"
    set = {}
    expect = "proved"
    reason = "arithmetic"
"""
FILES = {"index.html": render_html}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A folder with a plan, its protocol, and a report of it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sum.py").write_text(dedent(PROTOCOL))
    (tmp_path / "sum.toml").write_text(dedent(PLAN))
    record = dpaudit.check("sum.toml")
    folder = tmp_path / "report"
    folder.mkdir()
    (folder / "record.json").write_text(record.to_json())
    (folder / "index.html").write_text(render_html(record))
    return tmp_path


def state(folder):
    (found,) = check_reports(folder / "report", FILES)
    return found.state, list(found.reasons)


def test_a_report_just_made_is_up_to_date(made):
    assert state(made) == ("up to date", [])
    sources = json.loads((made / "report" / "record.json").read_text())["sources"]
    assert set(sources) == {"sum.py", "sum.toml", "dpaudit"}


@pytest.mark.parametrize("name", ["sum.py", "sum.toml"])
def test_a_changed_or_missing_source_is_named(made, name):
    path = made / name
    path.write_text(path.read_text() + "# changed\n")
    assert state(made) == ("outdated", [f"{name} changed"])
    path.unlink()
    assert state(made) == ("outdated", [f"{name} is gone"])


def test_changed_code_is_told(made, monkeypatch):
    monkeypatch.setattr(freshness, "_NOT_COUNTED", (*freshness._NOT_COUNTED, "laws"))
    assert state(made) == ("outdated", ["the code of dpaudit changed"])


def test_a_page_that_was_edited_is_told(made):
    page = made / "report" / "index.html"
    page.write_text(page.read_text().replace("proved", "certified"))
    assert state(made) == ("outdated", ["index.html is not what is rendered from the record now"])


def test_a_record_without_sources_is_unknown(made):
    path = made / "report" / "record.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "sources": {}}))
    assert state(made)[0] == "unknown"


def test_a_protocol_that_loads_others_depends_on_them_all(made, monkeypatch):
    (made / "sum.py").write_text(dedent(PROTOCOL) + '\n\nOTHER = dpaudit.load("kwiksort")\n')
    record = dpaudit.check("sum.toml")
    (made / "report" / "record.json").write_text(record.to_json())
    (made / "report" / "index.html").write_text(render_html(record))
    assert freshness.ALL_PROTOCOLS in record.sources
    assert state(made) == ("up to date", [])
    monkeypatch.setattr(freshness, "protocol_files", lambda: [made / "sum.py"])
    assert state(made) == ("outdated", ["a protocol of the catalogue changed"])


@pytest.mark.parametrize(("change", "status"), [("", 0), ("# changed\n", 1)])
def test_the_command_prints_a_line_for_each_record(made, monkeypatch, capsys, change, status):
    path = made / "sum.py"
    path.write_text(path.read_text() + change)
    monkeypatch.setattr("sys.argv", ["dpaudit", "report", "--check", "report"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == status
    words = "outdated: sum.py changed" if change else "up to date"
    assert capsys.readouterr().out == f"report/record.json: {words}\n"


def test_a_folder_without_records_is_refused(tmp_path):
    with pytest.raises(dpaudit.RecordError, match=r"no record\.json"):
        check_reports(tmp_path, FILES)


def test_the_figures_that_were_reproduced_belong_to_the_report(made):
    folder = made / "report"
    record = dpaudit.read_record(folder / "record.json")
    figures = dataclasses.replace(
        record, sources={**record.sources, "other.toml": "0" * 64}, command="dpaudit reproduce"
    )
    (folder / "reproduced.json").write_text(figures.to_json())
    found, reasons = state(made)
    assert found == "outdated"
    assert reasons == ["other.toml is gone", "index.html is not what is rendered from the record now"]
    figures = dataclasses.replace(figures, sources=record.sources)
    (folder / "reproduced.json").write_text(figures.to_json())
    both = read_records(folder / "record.json")
    assert len(both.results) == 2
    assert both.summary == {"proved": 2}
    assert both.command == f"{record.command} && dpaudit reproduce"
    (folder / "index.html").write_text(render_html(both))
    assert state(made) == ("up to date", [])


def test_the_ledger_is_checked_too(made):
    (made / "README.md").write_text("an old ledger")
    ledger = {"README.md": lambda records: f"ledger of {list(records)}"}
    assert [report.state for report in check_reports(made, FILES, ledger)] == ["up to date", "outdated"]
    (made / "README.md").write_text("ledger of ['report']")
    assert [report.state for report in check_reports(made, FILES, ledger)] == ["up to date", "up to date"]


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
