"""What a reader is told first of a claim."""

import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dpaudit.claims.evidence import Interval, Violation
from dpaudit.claims.record import Record, Result, read_record
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting import render_html
from dpaudit.reporting.groups import ClaimGroup, group_results
from dpaudit.reporting.ledger import render_ledger_html
from dpaudit.reporting.reading import most_telling, verdict_sentence, whys, worked_out

REPORTS = Path(__file__).parents[2] / "reports"
RECORDS = sorted(REPORTS.glob("*.json"))
committed = pytest.mark.skipif(not RECORDS, reason="the reports have not been generated; run `make reports`")

Make = Callable[..., Record]
MakeResult = Callable[..., Result]


def claim_of(record: Record) -> ClaimGroup:
    ((claim,),) = (target.claims for target in group_results(record))
    return claim


def cells(make_result: MakeResult, *verdicts: Verdict, **fields: object) -> list[Result]:
    return [
        make_result(verdict, verdict, parameters={"epsilon": i + 1.0}, **fields) for i, verdict in enumerate(verdicts)
    ]


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        ([Verdict.PROVED], "Proved"),
        ([Verdict.PROVED] * 2, "Proved at both settings"),
        ([Verdict.PROVED] * 5, "Proved at all 5 settings"),
        (
            [Verdict.PROVED, Verdict.REFUTED, Verdict.PROVED, Verdict.VACUOUS],
            "Refuted at 1 of the 4 audited settings (that with epsilon = 2), vacuous at 1 (that with epsilon = 4), "
            "proved at 2",
        ),
    ],
)
def test_the_first_sentence_counts_the_settings(
    verdicts: list[Verdict], sentence: str, make_record: Make, make_result: MakeResult
) -> None:
    assert verdict_sentence(claim_of(make_record(*cells(make_result, *verdicts)))) == sentence


def test_the_result_that_says_most_is_the_worst_exact_one(make_record: Make, make_result: MakeResult) -> None:
    def result(epsilon: float, verdict: Verdict, tightness: float, **changes: object) -> Result:
        measured = {"epsilon": Interval.exact(1.0), "tightness": Interval.exact(tightness)}
        return make_result(verdict, verdict, parameters={"epsilon": epsilon}, measured=measured, **changes)

    mixed = [
        result(1.0, Verdict.PROVED, 1.0),
        result(2.0, Verdict.REFUTED, 0.9),
        result(3.0, Verdict.REFUTED, 0.5),
        result(4.0, Verdict.REFUTED, 0.4, method="black-box"),
    ]
    assert most_telling(claim_of(make_record(*mixed))).label == "epsilon=3"
    held = [result(1.0, Verdict.PROVED, 3.0), result(2.0, Verdict.PROVED, 1.5), result(3.0, Verdict.PROVED, 2.0)]
    assert most_telling(claim_of(make_record(*held))).label == "epsilon=2"


def test_each_reason_is_said_once_with_the_settings_that_it_is_for(make_record: Make, make_result: MakeResult) -> None:
    refuted = cells(make_result, *[Verdict.REFUTED] * 4, reason="half the noise")
    proved = make_result(Verdict.PROVED, Verdict.PROVED, parameters={"epsilon": 9.0}, reason="so much noise")
    odd = make_result(Verdict.VACUOUS, Verdict.PROVED, parameters={"epsilon": 10.0}, reason="said too soon")
    found = whys(claim_of(make_record(proved, *refuted, odd)))
    assert [(why.verdict, why.count, why.where, why.reason) for why in found] == [
        (Verdict.REFUTED, 4, "", "half the noise"),
        (Verdict.PROVED, 1, "epsilon=9", "so much noise"),
    ]


def test_a_privacy_witness_is_worked_out(make_result: MakeResult) -> None:
    witness = Violation(data=[1], neighbour=[0], event=1, p=0.75, q=0.25, forces={})
    claimed = {"epsilon": math.log(2), "delta": 0.0}
    text = worked_out(make_result(Verdict.REFUTED, witness=witness, claimed=claimed))
    assert text == "The claim allows p ≤ e^0.6931 × q = 0.5 at q = 0.25, and p = 0.75"
    text = worked_out(make_result(Verdict.REFUTED, witness=witness, claimed=claimed | {"delta": 0.125}))
    assert text == "The claim allows p ≤ e^0.6931 × q + 0.125 = 0.625 at q = 0.25, and p = 0.75"
    assert worked_out(make_result(Verdict.REFUTED, witness=witness, claimed={"epsilon": 1.5, "delta": 0.0})) == ""
    sampled = make_result(Verdict.REFUTED, witness=witness, claimed=claimed, method="black-box")
    assert worked_out(sampled).endswith("both are frequencies in samples")


def test_what_is_allowed_and_what_was_found_never_look_the_same(make_result: MakeResult) -> None:
    witness = Violation(data=[1], neighbour=[0], event=1, p=0.5 + 1e-9, q=0.25, forces={})
    text = worked_out(make_result(Verdict.REFUTED, witness=witness, claimed={"epsilon": math.log(2), "delta": 0.0}))
    assert text.endswith("and p = 0.500000001")


@pytest.mark.slow
@committed
def test_every_refutation_in_the_committed_reports_is_worked_out() -> None:
    refuted = [result for path in RECORDS for result in read_record(path).results if result.verdict is Verdict.REFUTED]
    assert len(refuted) > 100
    assert [result.command for result in refuted if not worked_out(result)] == []


def test_the_page_says_the_verdict_before_the_witness(make_record: Make, make_result: MakeResult) -> None:
    witness = Violation(data=[1], neighbour=[0], event=1, p=0.75, q=0.1, forces={})
    page = render_html(
        make_record(*cells(make_result, Verdict.PROVED, Verdict.REFUTED, witness=witness, reason="half the noise"))
    )
    order = [
        "Refuted at 1 of the 2 audited settings (that with epsilon = 2), proved at 1.",
        "half the noise",
        "Scope",
        "Witness:",
        "By hand:",
        "To repeat it",
    ]
    places = [page.index(text) for text in order]
    assert places == sorted(places)


def test_what_a_witness_breaks_is_told_apart_at_any_distance(make_result: MakeResult) -> None:
    for more in 10.0 ** -np.arange(3, 13):
        q = 0.123456789
        witness = Violation(data=[1], neighbour=[0], event=1, p=math.exp(0.1) * q * (1 + more), q=q, forces={})
        text = worked_out(make_result(Verdict.REFUTED, witness=witness, claimed={"epsilon": 0.1, "delta": 0.0}))
        allowed, p = re.search(r"= (\S+) at q = \S+, and p = (\S+)$", text).groups()
        assert float(p) > float(allowed)


def test_one_cells_note_is_not_said_of_the_others(make_record: Make, make_result: MakeResult) -> None:
    noted = make_result(Verdict.PROVED, parameters={"epsilon": 2.0}, note="the event occurred 7 times")
    claim = claim_of(make_record(*cells(make_result, Verdict.PROVED, Verdict.PROVED), noted))
    assert claim.shared("note") == ""
    assert claim.shared("statement") == noted.statement


def test_ids_of_the_pages_are_unique(full_record: Record) -> None:
    for page in (render_html(full_record), render_ledger_html({"one": full_record, "two": full_record})):
        ids = re.findall(r'\sid="([^"]*)"', page)
        assert len(ids) == len(set(ids))
        assert {name for names in re.findall('aria-labelledby="([^"]*)"', page) for name in names.split()} <= set(ids)


@pytest.mark.slow
@committed
def test_the_committed_reports_can_be_reviewed() -> None:
    files = [path for path in REPORTS.iterdir() if path.suffix in (".md", ".json", ".svg")]
    # In proportion to what was audited, pages and figures included.
    results = sum(len(read_record(path).results) for path in files if path.suffix == ".json")
    assert sum(path.stat().st_size for path in files) < 1_600 * results
    assert sum(path.read_bytes().count(b"\n") for path in files) < 60_000
