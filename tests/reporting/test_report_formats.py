import dataclasses
import itertools
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser

import pytest

from dpaudit.claims.evidence import Interval, Violation
from dpaudit.claims.record import Record, Result
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting import FORMATS, render_console, render_html, render_json, render_junit, render_markdown
from dpaudit.reporting.wording import clean, numbers_line

_VOID = {"meta", "link", "br", "hr", "img", "input"}
_RENDERED = ("text", "markdown", "junit", "html")


class _Page(HTMLParser):
    """Tags in order, with what is not closed; and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def _plain(name: str, page: str) -> str:
    """The words of a page without markup and line breaks."""
    if name in ("html", "junit"):
        page = unescape(re.sub("<[^>]*>", " ", page) + " ".join(re.findall('="([^"]*)"', page)))
    if name == "markdown":
        page = unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", page.replace("<!-- -->", "")))
    return " ".join(page.split())


@pytest.mark.parametrize("name", _RENDERED)
def test_every_format_holds_every_claim_verdict_note_and_command(name: str, full_record: Record) -> None:
    text = _plain(name, FORMATS[name](full_record))
    for result in full_record.results:
        for part in (result.target, result.claim, result.verdict):
            assert " ".join(clean(part).split()) in text
        if not result.ok:
            assert " ".join(clean(result.note).split()) in text
            assert result.command in text
            assert numbers_line(result) in text or name == "html"


@pytest.mark.parametrize("name", _RENDERED)
def test_every_format_holds_the_numbers_and_the_witness(name: str, full_record: Record) -> None:
    text = _plain(name, FORMATS[name](full_record))
    for part in ("infinite", "at least 0.98", "0.93 (0.91 to 0.95)", "[[2, 1, 0], [0, 1, 2]]", "0.16666666666666666"):
        assert part in text


@pytest.mark.parametrize("name", FORMATS)
def test_formats_are_functions_of_the_results_alone(name: str, full_record: Record) -> None:
    page = FORMATS[name](full_record)
    assert page == FORMATS[name](full_record)
    assert page.endswith("\n")
    assert not page.endswith("\n\n")
    if name != "json":
        elsewhere = dataclasses.replace(full_record, environment={"platform": "other"}, timing={})
        assert page == FORMATS[name](elsewhere)


@pytest.mark.parametrize("name", FORMATS)
def test_a_record_read_back_gives_the_same_report(
    name: str, make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    witness = Violation(
        data=(1, 2), neighbour={"a": 1.5}, event=[True, None], p=0.5, q=0.0, forces={"epsilon": float("inf")}
    )
    record = make_record(
        make_result(Verdict.REFUTED, witness=witness, measured={"epsilon": Interval.exact(float("inf"))})
    )
    assert FORMATS[name](Record.from_json(render_json(record))) == FORMATS[name](record)


@pytest.mark.parametrize("name", FORMATS)
def test_a_record_without_results_renders(name: str, make_record: Callable[..., Record]) -> None:
    assert FORMATS[name](make_record())


def test_console_without_colour_has_no_codes_and_with_colour_has_the_same_words(full_record: Record) -> None:
    page = render_console(full_record)
    assert "\x1b" not in page
    coloured = render_console(full_record, color=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == page


@pytest.mark.parametrize("width", [20, 60, 200])
def test_console_loses_nothing_at_any_width(width: int, full_record: Record) -> None:
    page = render_console(full_record, width=width)
    assert page.split() == render_console(full_record, width=100).split()


def test_console_prints_the_beginning_of_a_long_event(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    event = {"sum of step functions of output['count']": ">= 1", "pairs": "p" * 400}
    witness = Violation(data=[0] * 300, neighbour=[1], event=event, p=0.5, q=0.1, forces={"epsilon": 1.5})
    page = render_console(make_record(make_result(Verdict.REFUTED, witness=witness)), width=1000)
    assert """event: {"sum of step functions of output['count']": ">= 1", "pairs": "ppp""" in page
    more = len(json.dumps(event)) - 400
    assert f"p… ({more} more characters, see the record)" in page
    assert "data: too long to print here, see the record" in page


def test_console_keeps_to_its_width_but_for_commands(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    record = make_record(*(make_result(v, note="some words " * 30) for v in Verdict))
    lines = render_console(record, width=60).splitlines()
    assert all(len(line) <= 60 or "repeat: " in line for line in lines)
    assert all(line == line.rstrip() for line in lines)


def test_console_tells_what_needs_attention_and_the_next_step(full_record: Record) -> None:
    page = render_console(full_record)
    assert "\nNeeds attention: 5 of 10\n" in page
    details = page[page.index("Needs attention") :]
    assert details.count("\n    next step: ") == 4  # one has a note instead
    assert details.count("\n    repeat: ") == 5


def test_console_starts_each_result_with_its_verdict(full_record: Record) -> None:
    lines = [line.split()[0] for line in render_console(full_record, width=500).splitlines() if line.startswith("    ")]
    verdicts = [word for word in lines if word in set(Verdict)]
    assert sorted(verdicts) == sorted(result.verdict for result in full_record.results)


def test_html_is_well_formed_and_loads_nothing(full_record: Record) -> None:
    page = _Page(render_html(full_record))
    assert page.open == []
    assert not {"script", "link", "img", "iframe", "b"} & {tag for tag, _ in page.tags}
    references = [value for _, attributes in page.tags for key, value in attributes.items() if key in ("href", "src")]
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {str(reference) for reference in references} <= {f"#{name}" for name in ids}
    assert "url(" not in render_html(full_record)


def test_html_tables_have_captions_and_scopes(full_record: Record) -> None:
    page = _Page(render_html(full_record))
    names = [tag for tag, _ in page.tags]
    assert names.count("table") == names.count("caption") > 3
    assert all(attributes.get("scope") in ("row", "col") for tag, attributes in page.tags if tag == "th")
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_html_rows_have_as_many_cells_as_headers(full_record: Record) -> None:
    for table in re.findall("<table>.*?</table>", render_html(full_record), flags=re.DOTALL):
        rows = [len(re.findall("<t[hd][ >]", row)) for row in re.findall("<tr>.*?</tr>", table, flags=re.DOTALL)]
        assert len(set(rows)) == 1


def test_html_opens_the_details_of_what_is_not_ok(full_record: Record) -> None:
    details = [attributes for tag, attributes in _Page(render_html(full_record)).tags if tag == "details"]
    opened = {attributes["id"] for attributes in details if "open" in attributes and "id" in attributes}
    only_one_of_its_claim = {"result-8"}
    assert opened | only_one_of_its_claim == {
        f"result-{i}" for i, result in enumerate(full_record.results, start=1) if not result.ok
    }


def test_markdown_tables_keep_their_columns_and_hold_no_html_but_folds(full_record: Record) -> None:
    page = render_markdown(full_record)
    assert "\n| **certified** (not as expected) |" in page
    outside = re.sub("^(`{3,}).*?^\\1$", "", page, flags=re.DOTALL | re.MULTILINE)
    assert outside.count("<details open>\n<summary>") == outside.count("</summary>\n\n") == 2
    assert outside.count("\n</details>\n") == 2
    assert "<" not in re.sub("</?(details|details open|summary)>", "", outside)
    rows = [line for line in outside.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4, 7}


def test_markdown_fences_outlast_backticks_in_data(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    witness = Violation(data="```\n# not a heading", neighbour="y", event="x", p=1.0, q=0.0, forces={})
    page = render_markdown(make_record(make_result(Verdict.REFUTED, witness=witness, command="echo ````")))
    assert "````text\n" in page
    assert "`````sh\necho ````\n`````\n" in page


def test_markdown_begins_with_what_needs_attention(full_record: Record) -> None:
    page = render_markdown(full_record)
    headings = [line for line in page.splitlines() if re.match("##? ", line)]
    assert headings[:3] == ["# Audit of privacy and utility claims", "## Needs attention", "## Targets"]
    attention = page[page.index("## Needs attention") : page.index("## Targets")]
    assert attention.count("\n### ") == sum(not result.ok for result in full_record.results)
    assert attention.count("\n- next step: ") == 4  # one has a note instead
    assert page.index("not as expected") < page.index("## Needs attention")


def test_markdown_without_trouble_has_no_such_section(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    page = render_markdown(make_record(make_result(Verdict.PROVED, Verdict.PROVED)))
    assert "Needs attention" not in page
    assert "**All as expected.**" in page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("good", "bad", "kept"), [(3000, 1, "| **proved** |"), (4800, 1, ""), (10, 2000, "more are not listed here")]
)
def test_markdown_fits_a_jobs_summary(
    make_record: Callable[..., Record], make_result: Callable[..., Result], good: int, bad: int, kept: str
) -> None:
    def results(count: int, verdict: Verdict) -> list[Result]:
        return [
            make_result(verdict, Verdict.PROVED, parameters={"agents": n}, scope=f"{n} agents, " + "long " * 40)
            for n in range(count)
        ]

    page = render_markdown(make_record(*results(good, Verdict.PROVED), *results(bad, Verdict.REFUTED)))
    assert len(page.encode()) < 1 << 20
    assert "What is as expected is cut short here" in page
    assert "### refuted: coin, paper.theorem1" in page
    assert kept in page


def test_junit_parses_and_counts_match(full_record: Record) -> None:
    root = ET.fromstring(render_junit(full_record))
    assert root.attrib == {"name": "dpaudit", "tests": "10", "failures": "2", "errors": "3", "time": "0"}
    for suite in root:
        cases = suite.findall("testcase")
        assert suite.get("tests") == str(len(cases))
        assert suite.get("failures") == str(len(suite.findall("testcase/failure")))
        assert suite.get("errors") == str(len(suite.findall("testcase/error")))
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(names) == len(set(names)) == 10
    assert [error.get("type") for error in root.iter("error")] == ["inconclusive", "error", "error"]
    assert [failure.get("type") for failure in root.iter("failure")] == ["unexpected", "refuted"]


def test_junit_has_only_what_the_common_schema_allows(full_record: Record) -> None:
    # junit-10.xsd of Jenkins' xUnit plugin: attributes and children of every element.
    allowed = {
        "testsuites": ({"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
        "testsuite": (
            {"name", "tests", "failures", "errors", "skipped", "time"},
            {"properties", "testcase", "system-out"},
        ),
        "properties": (set(), {"property"}),
        "property": ({"name", "value"}, set()),
        "testcase": ({"name", "time", "classname"}, {"error", "failure", "system-out"}),
        "failure": ({"type", "message"}, set()),
        "error": ({"type", "message"}, set()),
        "system-out": (set(), set()),
    }
    for element in ET.fromstring(render_junit(full_record)).iter():
        attributes, children = allowed[element.tag]
        assert set(element.attrib) <= attributes
        assert {child.tag for child in element} <= children
        if element.tag == "testcase":
            assert len(element) == 1


def test_junit_says_what_to_do_about_a_failure(full_record: Record) -> None:
    root = ET.fromstring(render_junit(full_record))
    for problem in (*root.iter("failure"), *root.iter("error")):
        text = problem.text or ""
        assert "\nrepeat: dpaudit check" in text
        assert "\nnext step: " in text or "\nnote: " in text
        assert (problem.get("message") or "").split(":")[0] in set(Verdict)
    messages = [problem.get("message") for problem in root.iter("error")]
    assert "error: raised KeyError: 'x'" in messages


def test_junit_fails_whatever_is_not_ok(full_record: Record) -> None:
    root = ET.fromstring(render_junit(full_record))
    bad = [case for case in root.iter("testcase") if len(case) and case[0].tag in ("failure", "error")]
    assert len(bad) == sum(not result.ok for result in full_record.results)


def test_junit_never_passes_inconclusive(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    root = ET.fromstring(render_junit(make_record(make_result(Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE))))
    assert root.get("errors") == "1"


def test_errata_are_printed(full_record: Record) -> None:
    (erratum,) = full_record.systems["coin"].errata
    for name in ("markdown", "html"):
        assert clean(erratum.printed) in _plain(name, FORMATS[name](full_record))
        assert erratum.meant in FORMATS[name](full_record)
