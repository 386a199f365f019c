"""Two records compared: what changed, how it is said, and the exit status."""

import dataclasses
import gc
import json
from collections.abc import Sequence

import pytest

from dpaudit.claims.evidence import Interval
from dpaudit.claims.record import Result, summarise
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


def test_another_expectation_is_told_with_its_reason(changed):
    found = changed(expected=Verdict.CONSISTENT, ok=False, reason="the law is gone")
    assert only(found).kind == "expectation"
    assert found.same_verdicts
    assert render_comparison(found, "text").splitlines() == [
        "1 other expectation, 0 unchanged; 1 of the changes not as expected",
        "proved, other expectation, not as expected: coin, paper.theorem1 at epsilon=1, agents=3",
        "    expected: none -> consistent",
        "    because: none -> the law is gone",
    ]


def test_what_matters_comes_first_and_mere_numbers_are_folded(make_record, make_result):
    def cell(verdict, n, **changes):
        return make_result(verdict, Verdict.PROVED, parameters={"n": n}, **changes)

    old = make_record(*(cell(Verdict.PROVED, n) for n in range(4)))
    numbers = {"measured": {"epsilon": Interval.exact(0.75)}}
    new = make_record(
        cell(Verdict.PROVED, 0, **numbers), cell(Verdict.PROVED, 4), cell(Verdict.REFUTED, 2), cell(Verdict.PROVED, 3)
    )
    found = compare_records(old, dataclasses.replace(new, seed=7))
    assert [(change.kind, change.unexpected) for change in found.changes] == [
        ("verdict", True),
        ("removed", False),
        ("added", False),
        ("numbers", False),
    ]
    text = render_comparison(found, "text").splitlines()
    assert text[1] == "the runs differ in seed 0 -> 7; sampled numbers change with that"
    assert text[2] == "proved -> refuted, not as expected: coin, paper.theorem1 at n=2"
    table = render_comparison(found, "markdown")
    assert table.index("| removed (proved) |") < table.index("<details>") < table.index("proved, other numbers")
    assert json.loads(render_comparison(found, "json"))["runs"] == [["seed", "0", "7"]]


@pytest.mark.slow
def test_a_comparison_fits_a_comment(make_record, make_result):
    old, new = (
        make_record(*(make_result(verdict, parameters={"n": n, "name": "long " * 20}) for n in range(1000)))
        for verdict in (Verdict.PROVED, Verdict.CONSISTENT)
    )
    numbers = make_record(*(dataclasses.replace(r, measured={"epsilon": Interval.exact(0.7)}) for r in old.results))
    for other in (new, numbers):
        page = render_comparison(compare_records(old, other), "markdown")
        assert len(page) < 65_536
        assert " more: see them with `--format text`." in page
    assert "1000 with other numbers only" in page


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


@pytest.mark.slow
def test_exit_status(tmp_path, run, make_record, make_result):
    old, new, bad = (tmp_path / name for name in ("old.json", "new.json", "bad.json"))
    old.write_text(make_record(make_result()).to_json())
    new.write_text(make_record(make_result(Verdict.REFUTED)).to_json())
    bad.write_text("{}")
    assert run(old, old)[0] == 0
    (tmp_path / "record.json").write_text(old.read_text())
    assert run(old, tmp_path)[0] == 0
    code, printed = run(old, new)
    assert code == 1
    assert printed.out.startswith("1 other verdict")
    code, printed = run(old, bad)
    assert code == 2
    assert printed.err.startswith(f"dpaudit: {bad}: key 'schema'")


class Made(Sequence):
    """Results that are made as they are asked for, and how many there were at most when it was looked."""

    def __init__(self, make, number):
        self.make, self.number, self.most = make, number, 0

    def __len__(self):
        return self.number

    def __getitem__(self, place):
        if not 0 <= place < self.number:
            raise IndexError(place)
        if place % 100 == 99:
            self.most = max(self.most, sum(type(each) is Result for each in gc.get_objects()))
        return self.make(place)


@pytest.mark.slow
def test_of_many_results_few_are_in_memory(make_record, make_result):
    def result(place, verdict=Verdict.PROVED):
        return make_result(verdict, parameters={"epsilon": 1.0, "agents": place})

    old, new = (
        Made(lambda place, changed=changed: result(place, changed.get(place, Verdict.PROVED)), number)
        for changed, number in (({}, 600), ({17: Verdict.REFUTED}, 599))
    )
    before = sum(type(each) is Result for each in gc.get_objects())
    found = compare_records(
        *(dataclasses.replace(make_record(), results=each, summary=summarise(each)) for each in (old, new))
    )
    assert [(change.kind, change.parameters) for change in found.changes] == [
        ("verdict", "epsilon=1, agents=17"),
        ("removed", "epsilon=1, agents=599"),
    ]
    assert found.unchanged == 598
    assert max(old.most, new.most) < before + 10
