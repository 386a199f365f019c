"""Reports on many results: the same as on few, where all results are said, and summaries and pages elsewhere."""

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

from dpaudit.claims import kept
from dpaudit.claims.record import Record, read_record
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import OutputError
from dpaudit.reporting import overview, render_console, render_html, render_junit, render_markdown, render_sarif
from dpaudit.reporting import write_report as write


@pytest.fixture
def few(monkeypatch):
    """Let a record of more than 20 results be a large one, with 8 results on a page."""
    monkeypatch.setattr(overview, "PER_PAGE", 8)
    return lambda: monkeypatch.setattr(kept, "MOST_AT_ONCE", 20)


@pytest.fixture
def many(make_result, make_record, make_paper):
    """Results of three claims about two targets, interleaved, of which some are not ok and some tell nothing apart."""
    results = []
    for place in range(20):
        for claim in ("ames2020.theorem2", "ames2020.theorem1"):
            verdict = Verdict.REFUTED if place % 7 == 0 and claim.endswith("1") else Verdict.PROVED
            results.append(
                make_result(
                    verdict, Verdict.PROVED, claim=claim, parameters={"epsilon": float(place // 2), "agents": place % 2}
                )
            )
        results.append(make_result(target="<b>dice</b>", claim="other", parameters={"sides": 6}))
    paper = make_paper(theorem1=({"theorem": 1}, [Verdict.PROVED]), theorem2=({"theorem": 2}, [Verdict.PROVED]))
    return make_record(*results, papers=paper.papers, claims=paper.claims)


class Page(HTMLParser):
    """Ids and links of a page."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if tag == "a" and "href" in found else []


def written(record, folder):
    write(record, folder)
    return {path.name: Page(path.read_text(encoding="utf-8")) for path in folder.glob("*.html")}


@pytest.mark.parametrize("render", [render_junit, render_sarif])
def test_formats_that_say_all_results_are_the_same_to_the_byte(many, few, render):
    # Cells that nothing tells apart are numbered: in a large record, by their places in it.
    results = tuple(result for result in many.results if result.claim != "other")
    record = Record(version="1", seed=0, results=results, summary={}, claims=many.claims, papers=many.papers)
    expected = render(record)
    few()
    assert render(record) == expected
    assert render(Record(version="1", seed=0, results=kept.kept(iter(results)), summary={}, claims=many.claims,
                         papers=many.papers)) == expected  # fmt: skip


def test_every_case_of_a_large_suite_has_a_name_of_its_own(many, few):
    few()
    suites = ET.fromstring(render_junit(many).encode())
    names = [(case.get("classname"), case.get("name")) for case in suites.iter("testcase")]
    assert len(set(names)) == len(names) == int(suites.get("tests")) == 60
    assert len(suites.findall(".//failure")) == int(suites.get("failures")) == 3


@pytest.mark.slow
def test_every_result_is_on_one_page_and_every_link_leads_to_it(many, few, tmp_path):
    few()
    pages = written(many, tmp_path)
    assert sorted(pages) == ["index.html", *(f"results-{number:03}.html" for number in range(1, 9))]
    where = {name: page for page, found in pages.items() for name in found.ids if re.fullmatch(r"result-\d+", name)}
    assert sorted(where, key=lambda name: int(name[7:])) == [f"result-{number}" for number in range(1, 61)]
    for page, found in pages.items():
        assert len(set(found.ids)) == len(found.ids)
        assert sum(bool(re.fullmatch(r"result-\d+", name)) for name in found.ids) <= 8
        for link in found.links:
            target, _, anchor = link.partition("#")
            assert not anchor or anchor in pages[target or page].ids, (page, link)
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    linked = {link for link in pages["index.html"].links if "#result-" in link}
    bad = [number for number, result in enumerate(many.results, start=1) if not result.ok]
    assert len(bad) == 3
    assert {f"{where[f'result-{number}']}#result-{number}" for number in bad} <= linked
    assert "60 results: 3 not as expected." in text
    assert "<script>" not in text
    assert "&lt;b&gt;dice" in text


def test_pages_are_in_the_order_of_the_paper_with_the_labels_of_the_whole(many, few, tmp_path):
    few()
    write(many, tmp_path)
    first = (tmp_path / "results-001.html").read_text(encoding="utf-8")
    # Eight results of the first theorem: nobody could tell from them that `agents` varies but for the whole.
    assert "ames2020.theorem1" in first
    assert "ames2020.theorem2" not in first
    assert "at epsilon=0, agents=1" in first.replace("epsilon=0.0", "epsilon=0")


@pytest.mark.slow
def test_no_page_says_of_a_result_on_another_one_that_it_was_not_audited(
    make_result, make_record, few, tmp_path, monkeypatch
):
    few()
    monkeypatch.setattr(overview, "PER_PAGE", 30)
    results = [
        make_result(
            Verdict.REFUTED if row < column else Verdict.PROVED,
            claim=claim,
            parameters={"epsilon": row, "agents": column},
        )
        for claim, size in (("a.small", 4), ("b.large", 8))
        for row in range(size)
        for column in range(size)
    ]
    write(make_record(*results), tmp_path)
    pages = [path.read_text(encoding="utf-8") for path in sorted(tmp_path.glob("results-*.html"))]
    assert len(pages) == 3
    assert "<td>not audited</td>" not in "".join(pages)
    assert 'aria-label="Region map of a.small"' in pages[0]
    assert "Region map of b.large" not in "".join(pages)


@pytest.mark.slow
def test_a_small_report_is_one_page_and_the_pages_of_a_large_one_go(many, few, tmp_path, monkeypatch):
    expected = render_html(many)
    few()
    write(many, tmp_path)
    assert render_html(many) != expected
    for mine in ("results-of-mine.html", "results-2024.html"):
        (tmp_path / mine).write_text("kept", encoding="utf-8")
    monkeypatch.setattr(kept, "MOST_AT_ONCE", 60)
    write(many, tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.html")) == [
        "index.html",
        "results-2024.html",
        "results-of-mine.html",
    ]
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == expected


@pytest.mark.slow
def test_a_report_that_is_cut_short_has_no_first_page_that_leads_to_others(many, few, tmp_path):
    write(many, tmp_path)
    few()
    (tmp_path / "results-003.html").mkdir()
    with pytest.raises(OutputError, match="results-003"):
        write(many, tmp_path)
    assert not (tmp_path / "index.html").exists()


def test_the_console_says_a_result_of_each_verdict_and_the_counts(many, few, monkeypatch):
    few()
    text = render_console(many, width=300)
    assert "and 16 more like it" in text
    assert "and 2 more like it" in text
    assert text.count("and 19 more like it") == 2
    assert text.count("repeat: ") == 3
    assert "60 results: 57 proved, 3 refuted; 3 not as expected" in text
    monkeypatch.setattr("dpaudit.reporting.console.MOST_SHOWN", 2)
    text = render_console(many, width=300)
    assert text.count("repeat: ") == 2
    assert "1 more are not listed here" in text
    monkeypatch.setattr("dpaudit.reporting.console._MOST_CLAIMS", 2)
    text = render_console(many, width=300)
    assert "1 more claims are not listed here" in text
    assert "<b>dice</b>" not in text


def test_markdown_summarises(many, few, monkeypatch):
    few()
    text = render_markdown(many)
    assert "| <!-- -->" not in text
    assert re.search(r"\| coin \| ames2020\.theorem1 \| 3 refuted, 17 proved \|", text)
    assert text.count("### refuted: coin") == 3
    assert "**3 not as expected.**" in text
    monkeypatch.setattr("dpaudit.reporting.markdown.LARGEST", 1500)
    text = render_markdown(many)
    assert "### refuted: coin" not in text
    assert "3 more are not listed here: they are in the other formats of this report." in text


@pytest.mark.slow
def test_a_report_that_is_rendered_again_is_the_same(many, few, tmp_path):
    few()
    written(many, tmp_path / "one")
    written(read_record(tmp_path / "one" / "record.json"), tmp_path / "two")
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert len(files) == 12
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
