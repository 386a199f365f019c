"""The ledger, and the console lines that stand for many cells."""

import re
from collections.abc import Callable
from dataclasses import replace

from dpaudit.claims.entries import ClaimEntry, ErratumEntry, PaperEntry, PlaceEntry
from dpaudit.claims.papers import Paper
from dpaudit.claims.record import Record, Result
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting import render_console, render_html
from dpaudit.reporting.findings import summary_of, tally
from dpaudit.reporting.ledger import render_ledger, render_ledger_html
from dpaudit.reporting.papers import papers_of

Make = Callable[..., Record]
A = Paper(key="a2020", title="On A", authors=("Ames", "Best"), year=2020, sections=("1", "4.2", "4.10"))
ENTRY = PaperEntry(title=A.title, authors=A.authors, year=A.year)


def cells(make_result: Callable[..., Result], count: int, **fields: object) -> list[Result]:
    return [make_result(parameters={"epsilon": float(i + 1)}, **fields) for i in range(count)]


def claim(kind: str = "privacy", *, paper: str = "a2020", **changes: object) -> ClaimEntry:
    steps = changes.pop("at", {"theorem": 1})
    places = (PlaceEntry.of(A.at(**steps)),) if steps else ()
    return ClaimEntry(kind=kind, statement="It holds.", paper=paper, places=places, **changes)


def test_a_claim_has_one_row_with_its_verdicts_counted(make_record: Make, make_result: Callable[..., Result]) -> None:
    proved = cells(make_result, 3, verdict=Verdict.PROVED)
    refuted = [make_result(parameters={"epsilon": 9.0}, verdict=Verdict.REFUTED)]
    ledger = render_ledger({"system": make_record(*proved, *refuted), "other|<b>": make_record(*proved)})
    rows = [line for line in ledger.splitlines() if f"[{proved[0].claim}](" in line]
    assert len(rows) == 2
    assert "**refuted** × 1 (that with epsilon = 9), **proved** × 3" in rows[1]
    assert "(system.md#paper.theorem1)" in rows[1]
    assert "(other%7C%3Cb%3E.md#paper.theorem1)" in rows[0]
    assert "| proved | 6 | - | - |" in ledger


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
    one = make_record(
        make_result(Verdict.PROVED, claim="a2020.theorem1"),
        papers={"a2020": ENTRY},
        claims={"a2020.theorem1": claim()},
    )
    two = make_record(make_result(Verdict.REFUTED, claim="lemma2", kind="lemma"))
    page = render_ledger_html({"a2020": one, "own": two})
    assert "<script" not in page
    filters = {"paper": ["Ames, Best 2020", "own"], "kind": ["lemma", "privacy"], "verdict": ["proved", "refuted"]}
    for name, values in filters.items():
        for number, value in enumerate(values, start=1):
            assert f'<option value="{number}">{value}</option>' in page
            assert (
                f':root:has(#show-{name} option[value="{number}"]:checked) .by-{name}:not(.{name}-is-{number})' in page
            )
    sections = re.findall('<section class="by-paper paper-is-([0-9]+)".*?</section>', page, flags=re.DOTALL)
    assert sections == ["1", "2"]
    assert 'class="row by-place place-is-1 by-kind by-verdict kind-is-2 verdict-is-1"' in page
    assert 'class="row by-place place-is-3 by-kind by-verdict kind-is-1 verdict-is-2"' in page
    assert 'href="own.html#claim-1"' in page


def test_claims_stand_under_their_papers_in_the_order_of_their_places(
    make_record: Make, make_result: Callable[..., Result]
) -> None:
    places = [
        {"section": "4.10"},
        {"section": "4.2", "theorem": 10},
        {"section": "4.2", "theorem": 2},
        {"section": "4.2", "theorem": 10, "part": "proof"},
        {"section": "1"},
    ]
    claims = {f"a2020.c{i}": claim(at=at) for i, at in enumerate(places)}
    claims["b1999.theorem7"] = claim(paper="b1999")
    claims["a2020.ours"] = claim(at={"section": "1"}, ours=True)
    claims["control.broken"] = claim(at={}, bug="It is broken.")
    results = [make_result(claim=name) for name in claims]
    other = PaperEntry(title="On B", authors=("Crest",), year=1999)
    record = make_record(*results, claims=claims, papers={"a2020": ENTRY, "b1999": other})
    paper, cited = papers_of({"a2020": record})
    assert [claim.entry.place for claim in paper.claims] == [
        "Section 1",
        "Theorem 2",
        "Theorem 10",
        "proof of Theorem 10",
        "Section 4.10",
    ]
    assert [claim.id for claim in paper.ours] == ["a2020.ours"]
    assert [claim.id for claim in paper.controls] == ["control.broken"]
    assert (cited.citation, cited.page) == ("Crest 1999", "a2020")
    # The results come in the same order, controls last.
    groups = [line for line in render_console(record).splitlines() if re.match(r"  [a-z0-9]+\.\S+ \(", line)]
    assert [line.split()[0] for line in groups] == [
        *("a2020.c4", "a2020.ours", "a2020.c2", "a2020.c1", "a2020.c3", "a2020.c0", "b1999.theorem7"),
        "control.broken",
    ]


def test_a_claim_about_two_targets_is_one_claim(make_record: Make, make_result: Callable[..., Result]) -> None:
    results = [make_result(target=name, claim="a2020.theorem1") for name in ("coin", "dice")]
    record = make_record(*results, papers={"a2020": ENTRY}, claims={"a2020.theorem1": claim()})
    ((only,),) = (view.claims for view in papers_of({"a2020": record}))
    assert only.targets == ("coin", "dice")
    assert only.counts == {Verdict.PROVED: 2}


def test_a_claim_counts_as_holding_only_where_nothing_speaks_against_it(
    make_record: Make, make_result: Callable[..., Result]
) -> None:
    sets = {
        "holds": [Verdict.PROVED, Verdict.CERTIFIED, Verdict.INAPPLICABLE],
        "nowhere": [Verdict.INAPPLICABLE],
        "searched": [Verdict.PROVED, Verdict.CONSISTENT],
        "silent": [Verdict.VACUOUS, Verdict.CONSISTENT],
        "refuted": [Verdict.PROVED, Verdict.REFUTED, Verdict.VACUOUS],
        "undecided": [Verdict.PROVED, Verdict.INCONCLUSIVE],
    }
    results = [
        make_result(verdict, claim=f"a2020.{name}", parameters={"epsilon": float(i)})
        for name, verdicts in sets.items()
        for i, verdict in enumerate(verdicts)
    ]
    (paper,) = papers_of({"one": make_record(*results)})
    assert len(paper.claims) == 6
    assert (paper.holding, paper.undecided) == (1, 2)
    assert (paper.having(Verdict.REFUTED), paper.having(Verdict.VACUOUS)) == (1, 2)
    assert summary_of(paper.claims) == (
        "Of 6 claims audited, 1 holds wherever audited, 1 is refuted somewhere, 1 says nothing somewhere, 2 are not "
        "decided at some setting and 1 applies at no setting audited."
    )
    assert tally(paper) == (
        "6 claims, 1 holds wherever audited, 1 refuted somewhere, 2 vacuous somewhere and 2 not decided somewhere"
    )
    assert "| 6 | - | 6 | 1 | 2 | 1 | 2 | - | - | - |" in render_ledger({"one": make_record(*results)})


def test_the_page_escapes_and_lists_each_erratum_once(full_record: Record) -> None:
    erratum = ErratumEntry(
        where="Theorem 1", printed="<b>this</b>", meant="that thing", reason="it is", systems=("coin", "<b>dice</b>")
    )
    record = replace(
        full_record, papers={"a2020": replace(ENTRY, errata=(erratum,))}, claims={"paper.theorem1": claim()}
    )
    page = render_ledger_html({"a2020": record, "two": record})
    assert "<script" not in page
    assert "<b>" not in page
    assert page.count("that thing") == 1
    assert render_html(record, paper="a2020").count("that thing") == 2  # under each of the two systems
    # Links lead to results that the pages have.
    anchors = set(re.findall(r'a2020\.html#([^"]+)', page))
    assert anchors
    assert anchors <= set(re.findall(r'id="([^"]+)"', render_html(record)))
