"""The ledger, and the console lines that stand for many cells."""

import re
from collections.abc import Callable

from dpaudit.claims.record import Record, Result
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting import render_console, render_html
from dpaudit.reporting.ledger import papers, render_ledger, render_ledger_html

Make = Callable[..., Record]


def cells(make_result: Callable[..., Result], count: int, **fields: object) -> list[Result]:
    return [make_result(parameters={"epsilon": float(i + 1)}, **fields) for i in range(count)]


def test_a_claim_has_one_row_with_its_verdicts_counted(make_record: Make, make_result: Callable[..., Result]) -> None:
    proved = cells(make_result, 3, verdict=Verdict.PROVED)
    refuted = [make_result(parameters={"epsilon": 9.0}, verdict=Verdict.REFUTED)]
    ledger = render_ledger({"system": make_record(*proved, *refuted), "other|<b>": make_record(*proved)})
    rows = [line for line in ledger.splitlines() if f"[{proved[0].claim}](" in line]
    assert len(rows) == 2
    assert "**refuted** x 1, **proved** x 3" in rows[0]
    assert "epsilon=9" in rows[0]
    assert "(system/README.md)" in rows[0]
    assert "| proved | 6 | - |" in ledger


def test_many_cells_as_expected_share_a_line(make_record: Make, make_result: Callable[..., Result]) -> None:
    same = {"verdict": Verdict.PROVED, "expected": Verdict.PROVED, "ok": True}
    few = render_console(make_record(*cells(make_result, 6, **same)))
    many = render_console(make_record(*cells(make_result, 7, **same)))
    assert few.count("    proved ") == 6
    assert many.count("    proved ") == 1
    assert "and 6 more like it" in many


def test_a_cell_that_is_not_as_expected_keeps_its_line(make_record: Make, make_result: Callable[..., Result]) -> None:
    same = {"verdict": Verdict.PROVED, "expected": Verdict.PROVED, "ok": True}
    odd = {"verdict": Verdict.REFUTED, "expected": Verdict.PROVED, "ok": False}
    odd_ones = [make_result(parameters={"epsilon": value}, **odd) for value in (20.0, 30.0)]
    text = render_console(make_record(*cells(make_result, 7, **same), *odd_ones))
    assert text.count("    proved ") == 1
    assert text.count("    refuted ") == 2


def test_the_page_filters_without_script(make_record: Make, make_result: Callable[..., Result]) -> None:
    proved = make_result(Verdict.PROVED, claim="a2020.theorem1", kind="privacy", source="A 2020, Theorem 1")
    refuted = make_result(Verdict.REFUTED, claim="b2021.lemma2", kind="lemma", source="B 2021, Lemma 2")
    page = render_ledger_html({"one": make_record(proved), "two": make_record(refuted)})
    assert "<script" not in page
    filters = {"paper": ["A 2020", "B 2021"], "kind": ["lemma", "privacy"], "verdict": ["proved", "refuted"]}
    for name, values in filters.items():
        for number, value in enumerate(values, start=1):
            assert f'id="show-{name}-{number}"> {value}</label>' in page
            assert f":root:has(#show-{name}-{number}:checked) .by-{name}:not(.{name}-is-{number})" in page
    sections = re.findall('<section class="by-paper paper-is-([0-9]+)".*?</section>', page, flags=re.DOTALL)
    assert sections == ["1", "2"]
    assert 'class="row by-kind by-verdict kind-is-2 verdict-is-1"' in page
    assert 'class="row by-kind by-verdict kind-is-1 verdict-is-2"' in page
    assert 'href="two/index.html#claim-1"' in page


def test_claims_stand_by_paper_in_the_order_of_their_places(
    make_record: Make, make_result: Callable[..., Result]
) -> None:
    places = ["Theorem 2", "proof of Theorem 10", "Section 4.10", "Section 4.2", "Corollary 3", "the abstract"]
    rows = [make_result(claim=f"a2020.c{i}", source=f"A, B 2020, {place}") for i, place in enumerate(places)]
    cited = make_result(claim="a2020.c9", source="C 1999, Theorem 7")
    controls = [make_result(Verdict.REFUTED, claim=f"control.c{i}", source="A bug.") for i in range(9)]
    found = papers({"one": make_record(*rows, cited), "two": make_record(*controls)})
    assert [paper.name for paper in found] == ["A, B 2020", "Controls: deliberately broken protocols"]
    assert [found[0].place(row) for row in found[0].rows] == [
        "Corollary 3",
        "Section 4.2",
        "Section 4.10",
        "Theorem 2",
        "C 1999, Theorem 7",
        "proof of Theorem 10",
        "the abstract",
    ]


def test_a_claim_counts_as_holding_only_where_nothing_speaks_against_it(
    make_record: Make, make_result: Callable[..., Result]
) -> None:
    sets = {
        "holds": [Verdict.PROVED, Verdict.CONSISTENT, Verdict.INAPPLICABLE],
        "refuted": [Verdict.PROVED, Verdict.REFUTED, Verdict.VACUOUS],
        "undecided": [Verdict.PROVED, Verdict.INCONCLUSIVE],
    }
    results = [
        make_result(verdict, claim=f"a2020.{name}", parameters={"epsilon": float(i)})
        for name, verdicts in sets.items()
        for i, verdict in enumerate(verdicts)
    ]
    (paper,) = papers({"one": make_record(*results)})
    assert len(paper.rows) == 3
    assert (paper.holding, paper.having(Verdict.REFUTED), paper.having(Verdict.VACUOUS)) == (1, 1, 1)


def test_the_page_escapes_and_lists_each_erratum_once(full_record: Record) -> None:
    page = render_ledger_html({"one": full_record, "two": full_record})
    assert "<script" not in page
    assert "<b>dice</b>" not in page
    assert page.count("the other thing") == 1
    assert "coin, coin" in page
    # Links lead to results that the pages have.
    anchors = set(re.findall(r"index\.html#(claim-\d+)", page))
    assert anchors <= set(re.findall(r'id="(claim-\d+)"', render_html(full_record)))
