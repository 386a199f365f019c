"""Two records compared: what changed, how it is said, and the exit status."""

import dataclasses
import json

import pytest

from dpaudit.claims.evidence import Interval
from dpaudit.claims.verdicts import Verdict
from dpaudit.cli import main
from dpaudit.reporting.compare import compare_records, render_comparison


def only(comparison):
    (change,) = comparison.changes
    return change


@pytest.fixture
def changed(make_record, make_result):
    """Compare a result with the same one after some changes."""

    def compare(**changes):
        result = make_result()
        return compare_records(make_record(result), make_record(dataclasses.replace(result, **changes)))

    return compare


def test_equal_records_have_no_changes(full_record):
    found = compare_records(full_record, full_record)
    assert found.changes == ()
    assert found.unchanged == len(full_record.results)
    assert found.same_verdicts
    assert render_comparison(found, "text") == f"{len(full_record.results)} unchanged\n"


@pytest.mark.parametrize(
    "same", [{"samples": 7}, {"note": "other words"}, {"seed": 3}, {"measured": {"delta": Interval.exact(0.0)}}]
)
def test_what_does_not_count_as_a_change(changed, same):
    if "measured" in same:
        same = {"measured": {"epsilon": Interval.exact(0.5 * (1 + 1e-12)), **same["measured"]}}
    assert not changed(**same).changes


def test_another_verdict(changed):
    found = changed(verdict=Verdict.REFUTED)
    change = only(found)
    assert (change.kind, change.old, change.new) == ("verdict", "proved", "refuted")
    assert not found.same_verdicts
    assert render_comparison(found, "text").splitlines() == [
        "1 other verdict, 0 unchanged",
        "proved -> refuted: coin, paper.theorem1 at epsilon=1, agents=3",
    ]


def test_other_numbers_are_no_other_verdict(changed):
    found = changed(measured={"epsilon": Interval(lower=0.5, upper=0.75)}, method="likelihood")
    change = only(found)
    assert change.kind == "numbers"
    assert found.same_verdicts
    assert change.details == (
        ("method", "exact", "likelihood"),
        ("epsilon", "0.5", "0.5 to 0.75"),
        ("delta", "0", "none"),
    )


def test_a_difference_beyond_the_printed_digits_is_seen(changed):
    old, new = only(changed(claimed={"epsilon": 1.0 + 1e-8, "delta": 0.0})).details[0][1:]
    assert (old, new) == ("1.0", "1.00000001")


def test_cells_that_come_and_go(make_record, make_result):
    kept, other = make_result(), make_result(parameters={"epsilon": 2.0})
    grown = compare_records(make_record(kept), make_record(kept, other))
    assert (only(grown).kind, grown.unchanged, grown.same_verdicts) == ("added", 1, True)
    shrunk = compare_records(make_record(kept, other), make_record(kept))
    assert (only(shrunk).kind, shrunk.same_verdicts) == ("removed", False)


def test_cells_audited_in_two_ways_are_told_apart(make_record, make_result):
    ways = [make_result(method="exact"), make_result(Verdict.CONSISTENT, method="black-box")]
    found = compare_records(make_record(*ways), make_record(ways[0], make_result(Verdict.REFUTED, method="black-box")))
    assert (only(found).old, only(found).new) == ("consistent", "refuted")


def test_markdown_and_json_say_the_same(changed):
    found = changed(verdict=Verdict.REFUTED, claimed={"epsilon": 2.0, "delta": 0.0})
    table = render_comparison(found, "markdown").splitlines()
    assert table[0] == "**1 other verdict, 0 unchanged**"
    assert table[-1].count("|") == 5
    assert "claimed epsilon: 1 -&gt; 2" in table[-1]
    content = json.loads(render_comparison(found, "json"))
    assert content["changes"][0]["details"] == [["claimed epsilon", "1", "2"]]


@pytest.fixture
def run(capsys, monkeypatch):
    """Exit status and what was printed of ``dpaudit compare``."""

    def status(*words):
        monkeypatch.setattr("sys.argv", ["dpaudit", "compare", *map(str, words)])
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code, capsys.readouterr()

    return status


def test_exit_status(tmp_path, run, make_record, make_result):
    old, new, bad = (tmp_path / name for name in ("old.json", "new.json", "bad.json"))
    old.write_text(make_record(make_result()).to_json())
    new.write_text(make_record(make_result(Verdict.REFUTED)).to_json())
    bad.write_text("{}")
    assert run(old, old)[0] == 0
    code, printed = run(old, new)
    assert code == 1
    assert printed.out.startswith("1 other verdict")
    code, printed = run(old, bad)
    assert code == 2
    assert printed.err.startswith(f"dpaudit: {bad}: key 'schema'")
