"""Pages of papers: findings composed from verdicts, tables by place, a witness of each refutation, figures as files."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace

import pytest

from dpaudit.claims.evidence import Counterexample, Interval
from dpaudit.claims.record import Record, Result
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting import html_files, render_console, render_html, report_files, write_reports
from dpaudit.reporting.findings import findings, listed, tally
from dpaudit.reporting.ledger import render_ledger, render_ledger_html
from dpaudit.reporting.page import render_paper
from dpaudit.reporting.papers import papers_of

P, R, V, N, U = Verdict.PROVED, Verdict.REFUTED, Verdict.VACUOUS, Verdict.INAPPLICABLE, Verdict.INCONCLUSIVE
C, Z = Verdict.CONSISTENT, Verdict.CERTIFIED


def sentences(record: Record) -> list[str]:
    (view,) = papers_of({"ames2020": record})
    return [finding.text for finding in findings(view.claims)]


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        ([P], "Theorem 1 holds at the only setting audited."),
        ([P, P], "Theorem 1 holds at both settings audited."),
        ([P] * 34, "Theorem 1 holds at all 34 settings audited."),
        ([P, P, P, N], "Theorem 1 holds at all 3 settings where the assumptions hold."),
        (
            [V] * 52 + [P],
            "Theorem 1 is true but says nothing at 52 of the 53 audited settings (those with epsilon ≤ 52) and holds "
            "at 1.",
        ),
        ([V] * 3, "Theorem 1 is true but says nothing at any of the 3 settings audited."),
        (
            [P, R, V, V, U],
            "Theorem 1 is refuted at 1 of the 5 audited settings (that with epsilon = 2), is true but says nothing "
            "at 2 (those with epsilon from 3 to 4), is not decided at 1 (that with epsilon = 5) and holds at 1.",
        ),
        (
            [C, P, P],
            "Theorem 1 holds at 2 of the 3 audited settings; at the other one (that with epsilon = 1) no violation was "
            "found.",
        ),
        ([C, C, U], "Theorem 1 is not decided at any of the 3 settings audited."),
        ([C, C], "Theorem 1 is not decided at either of the two settings audited, but no violation was found."),
        ([C], "Theorem 1 is not decided at the only setting audited, but no violation was found."),
        (
            [R, P, P, N],
            "Theorem 1 is refuted at 1 of the 3 audited settings where the assumptions hold (that with epsilon = 1) "
            "and holds at 2.",
        ),
        ([N, N], "Theorem 1 does not apply at any of the 2 settings audited."),
    ],
)
def test_a_finding_counts_settings(verdicts: list[Verdict], sentence: str, make_paper: Callable[..., Record]) -> None:
    assert sentences(make_paper(theorem1=({"theorem": 1}, verdicts))) == [sentence]


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["A"], "A"),
        (["A, at b"], "A, at b"),
        (["A", "B"], "A and B"),
        (["A", "B", "C (d, e)"], "A, B and C (d, e)"),
        (["A, at b", "C"], "A, at b, and C"),
        (["A", "B, at c"], "A and B, at c"),
        (["A", "B, at c", "D"], "A; B, at c; and D"),
    ],
)
def test_names_with_commas_are_told_apart_by_semicolons(names: list[str], text: str) -> None:
    assert listed(names) == text


def test_findings_stand_in_the_papers_order(make_paper: Callable[..., Record]) -> None:
    record = make_paper(
        theorem10=({"section": "2", "theorem": 10}, [P]),
        theorem2=({"section": "2", "theorem": 2}, [R, P]),
        lemma1=({"section": "1", "lemma": 1}, [P, P]),
        table=({"section": "1", "table": (1, 2)}, [P], {"kind": "figure"}),
        fact=({"section": "2", "fact": (3, 4)}, [R]),
        ours=({"section": "1"}, [R], {"ours": True}),
    )
    assert sentences(record) == [
        "Lemma 1 and what is published in Section 1, Tables 1 and 2, hold at all 3 settings audited.",
        "Facts 3 and 4 are refuted at the only setting audited.",
        "Theorem 2 is refuted at 1 of the 2 audited settings (that with epsilon = 1) and holds at 1.",
        "Theorem 10 holds at the only setting audited.",
    ]


def test_claims_at_one_place_are_told_apart_where_they_differ(make_paper: Callable[..., Record]) -> None:
    place = {"section": "1", "theorem": 2}
    record = make_paper(theorem2__rr=(place, [V, P]), theorem2__lap=(place, [P, P]), theorem2__lap__meant=(place, [P]))
    assert sentences(record) == [
        "Theorem 2 as printed (theorem2-rr) is true but says nothing at 1 of the 2 audited settings (that with "
        "epsilon = 1) and holds at 1.",
        "Theorem 2 as printed (theorem2-lap) and Theorem 2 as meant hold at all 3 settings audited.",
    ]


def test_the_page_of_a_paper(make_paper: Callable[..., Record]) -> None:
    record = make_paper(
        theorem1=({"section": "1", "theorem": 1}, [P] * 34),
        theorem2=({"section": "1", "theorem": 2}, [R, P]),
        ours=({"section": "1"}, [R], {"ours": True}),
        control=({}, [R], {"bug": "Half the noise."}),
    )
    page = render_paper(record, "ames2020")["ames2020.md"]
    lines = page.splitlines()
    assert lines[0] == "# Ames, Best 2020: On coins"
    assert lines[2] == (
        "Theorem 1 holds at all 34 settings audited. Theorem 2 is refuted at 1 of the 2 audited settings (that with "
        "epsilon = 1) and holds at 1."
    )
    assert lines[4] == (
        "Of 2 claims audited, 1 holds wherever audited and 1 is refuted somewhere. The control is refuted."
    )
    assert "<https://doi.org/10.1/x>" in lines[6]
    headings = [line for line in lines if line.startswith("## ")]
    assert headings == [
        "## Headline findings",
        "## Claims of the paper",
        "## Statements of ours",
        "## Controls",
        "## Refutations, one worked out for each claim",
        "## Refutations of statements of ours",
        "## Assertions that are not audited",
        "## Errata",
        "## Record",
    ]
    link = '<a id="theorem1"></a>Theorem 1 | [theorem1](../protocols/ames2020/claims.py#L7)'
    assert f"| {link}: The coin is private. *coin* |" in page
    assert "Half the noise." in page
    section = page[page.index("### Theorem 2: theorem2") :]
    assert "- Refuted because the noise is halved." in section
    assert "- By hand: The claim allows p ≤ e^1 × q = 0.2718 at q = 0.1, and p = 0.9." in section
    assert "repeat: dpaudit check coin --claim ames2020.theorem2 --set epsilon=1.0" in section
    assert "- **Section 2.** Coins are \\| fair. Left alone: about coins in general." in page
    assert "- **Theorem 1.** Printed: a \\| b. Meant: b. Because a is c. (coin)" in page
    # Every table keeps its columns.
    for table in re.findall(r"(?:^\|.*\n)+", page, flags=re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1


def test_headlines_have_witness_command_and_what_would_mend_them(make_paper: Callable[..., Record]) -> None:
    record = make_paper(
        theorem1=({"section": "1", "theorem": 1}, [R, P]),
        theorem1__mended=({"section": "1", "theorem": 1}, [P], {"ours": True, "mends": ("ames2020.theorem1",)}),
        theorem2=({"section": "1", "theorem": 2}, [R]),
        theorem2__meant=({"section": "1", "theorem": 2}, [P, P]),
        theorem3=({"section": "1", "theorem": 3}, [V]),
        theorem4=({"section": "1", "theorem": 4}, [P]),
    )
    page = render_paper(record, "ames2020")["ames2020.md"]
    section = page[page.index("## Headline findings") : page.index("## Claims of the paper")].splitlines()
    found = [line for line in section if line.startswith("- ")]
    assert [line.split(" is ")[0] for line in found[:2]] == ["- Theorem 1", "- Theorem 2 as printed"]
    assert [line.split(" but says ")[0] for line in found[2:]] == ["- Theorem 3 is true"]
    place = section.index(found[0])
    assert section[place + 1 : place + 4] == [
        "  - Witness: at epsilon=1; data \\[1\\], neighbour \\[0\\], event 1: The claim allows p ≤ e^1 × q = 0.2718 "
        "at q = 0.1, and p = 0.9",
        "  - Command: `dpaudit check coin --claim ames2020.theorem1 --set epsilon=1.0`",
        "  - What would mend it: The coin is private. [theorem1-mended](ames2020.md#theorem1-mended): **proved**",
    ]
    second = section[section.index(found[1]) : section.index(found[2])]
    assert second[-1] == (
        "  - As evidently meant: The coin is private. [theorem2-meant](ames2020.md#theorem2-meant): **proved** × 2"
    )
    third = section[section.index(found[2]) :]
    assert third[1].startswith("  - Evidence: ")
    assert third[3] == "  - What would mend it is not known here."
    # The same on the HTML page.
    html = render_html(record, paper="ames2020")
    assert "What would mend it: The coin is private." in html
    assert "As evidently meant: The coin is private." in html
    assert "<code>dpaudit check coin --claim ames2020.theorem1 --set epsilon=1.0</code>" in html
    # The ledgers say what was found of each theorem, and lead to the rest.
    briefly = {
        "theorem1": "Theorem 1 is refuted at 1 of 2 settings.",
        "theorem2": "Theorem 2 as printed is refuted.",
        "theorem2-meant": "Theorem 2 as meant holds.",
        "theorem3": "Theorem 3 is true but says nothing.",
        "theorem4": "Theorem 4 holds.",
    }
    ledger, html = render_ledger({"ames2020": record}), render_ledger_html({"ames2020": record})
    for name, sentence in briefly.items():
        assert f"[{sentence}](ames2020.md#{name})" in ledger
        assert f'<a href="ames2020.html#ames2020.{name}">{sentence}</a>' in html


def test_what_is_ours_is_never_among_what_is_refuted_of_a_paper(make_paper: Callable[..., Record]) -> None:
    record = make_paper(
        theorem1=({"section": "1", "theorem": 1}, [P, P]),
        theorem2=({"section": "1", "theorem": 2}, [P]),
        ours=({"section": "1", "theorem": 1}, [R, R, R], {"ours": True}),
        control=({"section": "1"}, [R], {"bug": "Half the noise."}),
    )
    (view,) = papers_of({"ames2020": record})
    assert view.having(Verdict.REFUTED) == 0
    assert [finding.text for finding in findings(view.claims)] == [
        "Theorem 1 and Theorem 2 hold at all 3 settings audited."
    ]
    assert tally(view) == (
        "2 claims, 2 hold wherever audited; 1 statement of ours, 1 refuted somewhere; 1 control, 1 refuted somewhere"
    )
    ledger = render_ledger({"ames2020": record})
    row = next(line for line in ledger.splitlines() if line.startswith("| [Ames, Best 2020]"))
    assert row.endswith("| 2 | 1 | 2 | 2 | - | - | - | 1 | 1 | 1 |")
    assert "| refuted | - | 3 | 1 |" in ledger
    page = render_paper(record, "ames2020")["ames2020.md"]
    assert "## Refutations, one worked out for each claim" not in page
    assert "## Headline findings" not in page
    console = render_console(record)
    assert "Ames, Best 2020: 2 claims, 2 hold wherever audited; 1 statement of ours, 1 refuted" in console
    assert "4 refuted (3 of statements of ours and 1 of controls)" in " ".join(console.split())


def test_an_assertion_in_two_readings_is_one(make_paper: Callable[..., Record]) -> None:
    place = {"section": "1", "theorem": 1}
    record = make_paper(theorem1=(place, [R]), theorem1__meant=(place, [P]), theorem2=({"theorem": 2}, [P]))
    (view,) = papers_of({"ames2020": record})
    assert (view.audited, len(view.claims), len(view.left_alone)) == (2, 3, 1)
    html = render_ledger_html({"ames2020": record})
    assert (
        '<th scope="col" class="number">Assertions audited</th><th scope="col" class="number">Left alone</th>' in html
    )
    assert "coins are | fair" in html
    assert "coins are | fair" in render_html(record, paper="ames2020")


def test_a_missed_control_is_said(make_paper: Callable[..., Record]) -> None:
    record = make_paper(broken=({}, [R], {"bug": "One."}), spared=({}, [R, P], {"bug": "Two."}))
    page = render_paper(record, "ames2020")["ames2020.md"]
    assert "1 of 2 controls is not refuted: spared." in page


def test_figures_stand_by_themselves(make_record: Callable[..., Record], make_result: Callable[..., Result]) -> None:
    results = [
        make_result(
            Verdict.REFUTED if agents < 4 else Verdict.PROVED,
            kind="utility",
            parameters={"agents": agents, "epsilon": epsilon},
            claimed={"bound": 0.5},
            measured={"value": Interval.exact(1 / agents)},
            witness=Counterexample(
                instance="x", quantity="error", measured=1 / agents, claimed=0.5, direction="at-most"
            ),
        )
        for agents in (1, 2, 4, 8)
        for epsilon in (0.5, 1.0, 2.0)
    ]
    files = render_paper(make_record(*results), "own")
    figures = {name: text for name, text in files.items() if name.endswith(".svg")}
    assert list(figures) == ["own-paper-theorem1-1.svg", "own-paper-theorem1-2.svg"]
    for name, text in figures.items():
        assert f"]({name})" in files["own.md"]
        root = ET.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert float(root.get("width") or 0) > 100
        ids = [element.get("id") for element in root.iter() if element.get("id")]
        assert len(ids) == len(set(ids))
    assert "refuted" in figures["own-paper-theorem1-1.svg"]


def test_reports_are_written_with_nothing_that_differs_from_run_to_run(make_paper, tmp_path) -> None:
    record = make_paper(theorem1=({"theorem": 1}, [P, R]))
    records = {"ames2020": record}
    (tmp_path / "reports").mkdir()
    stale, other = tmp_path / "reports" / "ames2020-old-9.svg", tmp_path / "reports" / "else-1.svg"
    for path in (stale, other):
        path.write_text("<svg/>")
    write_reports(records, tmp_path / "reports", html=tmp_path / "site")
    assert not stale.exists()
    assert other.exists()
    files = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "reports").iterdir()}
    assert files.pop("else-1.svg")
    assert files == report_files(records)
    slower = replace(record, environment={"platform": "other"}, timing={"seconds": 99.0})
    assert report_files({"ames2020": slower}) == files
    again = {"ames2020": Record.from_json(files["ames2020.json"])}
    assert report_files(again) == files
    assert html_files(again, root="..") == {
        path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "site").iterdir()
    }


def test_the_account_of_a_claim_is_folded_under_its_answer(make_paper: Callable[..., Record]) -> None:
    page = render_html(make_paper(theorem1=({"theorem": 1}, [P, R])), paper="ames2020")
    articles = re.findall(r"<article.*?</article>", page, flags=re.DOTALL)
    assert articles
    for article in articles:
        answer, _, rest = article.partition("<details")
        assert "<strong>" in answer
        assert "<dl>" not in answer
        assert "<dl>" in rest
