"""The record of an interrupted run says so to whoever reads it, in every format, and a whole one says nothing."""

import dataclasses
import json
import xml.etree.ElementTree as ET
from collections import Counter

import pytest

from dpaudit.claims.record import Partial, Record, Shard, read_record, summarise
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import RecordError
from dpaudit.reporting import FORMATS, render_badge, report_files
from dpaudit.reporting.compare import compare_records, render_comparison
from dpaudit.reporting.overview import kept
from dpaudit.runner.merge import merge

SAID = "3 of 8 cells"


@pytest.fixture
def whole(make_record, make_result):
    """Three results, one as a plan expects and two without a plan."""
    results = [
        make_result(Verdict.REFUTED, Verdict.REFUTED),
        *(make_result(Verdict.PROVED, None, parameters={"epsilon": 1.0, "agents": agents}) for agents in (4, 5)),
    ]
    return make_record(*results, command="dpaudit check coin --set agents=3,4,5,6,7,8,9,10")


@pytest.fixture
def cut(whole):
    return dataclasses.replace(whole, partial=Partial(cells=8, results=3))


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_says_that_the_run_was_interrupted(whole, cut, form):
    assert SAID not in FORMATS[form](whole)
    text = " ".join(FORMATS[form](cut).split())
    assert "nterrupted" in text or form == "json"
    assert (SAID in text) is (form != "json")


@pytest.mark.parametrize(("form", "before"), [("text", "refuted"), ("markdown", "| Verdict |"), ("html", "<h2")])
def test_it_stands_above_what_was_found(cut, form, before):
    text = " ".join(FORMATS[form](cut).split())
    assert text.index(f"Interrupted: {SAID} have a result") < text.index(before)


def test_a_large_record_says_it_on_its_first_page_and_in_its_summaries(cut, monkeypatch):
    monkeypatch.setattr(kept, "MOST_AT_ONCE", 2)
    for form in ("text", "markdown", "html", "junit"):
        assert f"Interrupted: {SAID} have a result" in " ".join(FORMATS[form](cut).split())


def test_the_record_holds_it_and_a_whole_one_has_no_such_key(whole, cut):
    raw = json.loads(cut.to_json())
    assert raw["partial"] == {"cells": 8, "results": 3}
    assert "partial" not in json.loads(whole.to_json())
    assert Record.from_json(cut.to_json()) == cut
    assert Record.from_json(cut.to_json()).to_json() == cut.to_json()
    assert cut.reproducible().partial == cut.partial
    assert (whole.status, cut.status) == (0, 130)
    assert "3 of 8 cells" in repr(cut)


@pytest.mark.parametrize("partial", [{"cells": 8, "results": 2}, {"cells": 3, "results": 3}])
def test_a_record_whose_counts_do_not_fit_is_refused(cut, partial):
    text = cut.to_json().replace('"partial": {"cells":8,"results":3}', f'"partial": {json.dumps(partial)}')
    assert text != cut.to_json()
    with pytest.raises(RecordError, match="key 'partial' does not fit the results"):
        Record.from_json(text)


@pytest.mark.parametrize("most", [5000, 2])
def test_junit_has_a_case_that_is_an_error(whole, cut, monkeypatch, most):
    monkeypatch.setattr(kept, "MOST_AT_ONCE", most)
    root = ET.fromstring(FORMATS["junit"](cut))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("4", "0", "1")
    (error,) = root.iter("error")
    assert error.get("type") == "interrupted"
    assert SAID in error.get("message")
    assert cut.command in error.text
    assert sum(int(suite.get("tests")) for suite in root) == len(list(root.iter("testcase"))) == 4
    assert ET.fromstring(FORMATS["junit"](whole)).get("errors") == "0"


def test_sarif_has_an_invocation_that_failed(whole, cut):
    (run,) = json.loads(FORMATS["sarif"](cut))["runs"]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert SAID in invocation["toolExecutionNotifications"][0]["message"]["text"]
    assert len(run["results"]) == 1
    assert "invocations" not in json.loads(FORMATS["sarif"](whole))["runs"][0]


def test_the_badge_is_not_green(whole, cut, make_result):
    assert json.loads(render_badge(whole))["color"] == "brightgreen"
    badge = json.loads(render_badge(cut))
    assert (badge["color"], badge["message"], badge["isError"]) == ("yellow", "interrupted: 3 of 8 audited", True)
    bad = (*cut.results[:2], make_result(Verdict.REFUTED, None))
    red = json.loads(render_badge(dataclasses.replace(cut, results=bad, summary=summarise(bad))))
    assert (red["color"], red["message"]) == ("red", "1 of 3 not as expected")


def test_the_page_of_a_paper_begins_with_it(whole, cut):
    assert report_files({"x": cut})["x.md"].startswith("**Interrupted: 3 of 8 cells have a result")
    assert SAID not in report_files({"x": whole})["x.md"]


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_a_comparison_says_which_record_is_of_a_part(whole, cut, make_result, form):
    more = (*whole.results, make_result(parameters={"epsilon": 1.0, "agents": 6}))
    full = dataclasses.replace(whole, results=more, summary=summarise(more))
    found = compare_records(full, cut)
    assert [change.kind for change in found.changes] == ["removed"]
    text = render_comparison(found, form)
    if form == "json":
        assert json.loads(text)["partial"] == {"old": None, "new": {"cells": 8, "results": 3}}
    else:
        assert "the run of the new record was interrupted: 3 of 8 cells have a result" in text
        assert "interrupted" not in render_comparison(compare_records(full, whole), form)


SEVERAL = "have a result; a cell without one counts as"


@pytest.mark.parametrize(
    ("old", "new", "kinds", "said"),
    [
        (2, 3, {"added": 1}, [f"old record was interrupted: 2 of 8 cells {SEVERAL} added if the new record has"]),
        (3, 2, {"removed": 1}, [f"new record was interrupted: 2 of 8 cells {SEVERAL} removed if the old record has"]),
        (
            3,
            3,
            {},
            [
                f"old record was interrupted: 3 of 8 cells {SEVERAL} added if the new record has",
                f"new record was interrupted: 3 of 8 cells {SEVERAL} removed if the old record has",
            ],
        ),
        (
            1,
            2,
            {"added": 1},
            [
                "old record was interrupted: 1 of 8 cells has a result; a cell without one counts as added",
                f"new record was interrupted: 2 of 8 cells {SEVERAL} removed if the old record has",
            ],
        ),
    ],
)
def test_a_comparison_says_nothing_of_cells_that_neither_record_has(whole, old, new, kinds, said):
    def first(number, *, cut):
        results = whole.results[:number]
        partial = Partial(cells=8, results=number) if cut else None
        return dataclasses.replace(whole, results=results, summary=summarise(results), partial=partial)

    both = len(said) == 2
    found = compare_records(first(old, cut=both or old < new), first(new, cut=both or new < old))
    assert Counter(change.kind for change in found.changes) == kinds
    lines = [line for line in render_comparison(found, "text").splitlines() if "interrupted" in line]
    assert len(lines) == len(said)
    for line, words in zip(lines, said, strict=True):
        assert words in line


@pytest.fixture
def shard(whole):
    """The first of two shards, with three of eight cells, as versions without `partial` wrote it."""
    command = f"{whole.command} --shard 1/2 --seed 0"
    return dataclasses.replace(whole, command=command, shard=Shard(number=1, of=2, cells=8, places=(0, 2, 4)))


def test_a_shard_with_fewer_results_than_cells_is_read_as_a_part(shard, tmp_path):
    assert '"partial"' not in shard.to_json()
    (tmp_path / "record.json").write_text(shard.to_json(), encoding="utf-8")
    for read in (Record.from_json(shard.to_json()), read_record(tmp_path / "record.json")):
        assert read == dataclasses.replace(shard, partial=Partial(cells=8, results=3))
        assert read.status == 130
        assert SAID in FORMATS["text"](read)
    all_there = dataclasses.replace(shard, shard=dataclasses.replace(shard.shard, cells=3))
    assert Record.from_json(all_there.to_json()) == all_there


@pytest.mark.parametrize("cells", [3, 7, 9])
def test_a_part_of_a_shard_that_has_another_number_of_cells_is_refused(shard, cells):
    other = dataclasses.replace(shard.shard, cells=cells)
    record = dataclasses.replace(shard, shard=other, partial=Partial(cells=8, results=3))
    with pytest.raises(RecordError, match=f"key 'partial' has 8 cells, key 'shard' has {cells}"):
        Record.from_json(record.to_json())


def test_a_join_does_not_pass_a_part_for_the_whole(shard, make_result):
    rest = [make_result(parameters={"epsilon": 1.0, "agents": agents}) for agents in (6, 7)]
    first = dataclasses.replace(shard, shard=dataclasses.replace(shard.shard, cells=3))
    second = dataclasses.replace(
        shard,
        command=shard.command.replace("1/2", "2/2"),
        results=tuple(rest),
        summary=summarise(rest),
        shard=Shard(number=2, of=2, cells=2, places=(1, 3)),
    )
    joined = merge({"one": first, "two": second})
    assert (joined.partial, joined.shard, len(joined.results)) == (None, None, 5)
    for cut in (shard, dataclasses.replace(first, partial=Partial(cells=8, results=3))):
        with pytest.raises(RecordError, match="one: the run was interrupted after 3 of 8 cells"):
            merge({"one": cut, "two": second})


@pytest.mark.parametrize("agents", [5, 5000])
def test_a_join_shows_the_command_of_a_part_only_where_it_is_short(shard, agents):
    command = f"dpaudit check coin --set agents={','.join(map(str, range(agents)))} --shard 1/2 --seed 0"
    with pytest.raises(RecordError) as refused:
        merge({"out/part1": dataclasses.replace(shard, command=command)})
    message = str(refused.value)
    assert message.startswith("out/part1: the run was interrupted after 3 of 8 cells; give its command again")
    assert (command in message) is (agents == 5)
    assert ("the key 'command' of this record" in message) is (agents == 5000)
    assert len(message) < 400
