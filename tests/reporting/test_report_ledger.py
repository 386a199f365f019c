"""The ledger, and the console lines that stand for many cells."""

from collections.abc import Callable

from dpaudit.claims.record import Record, Result
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting import render_console
from dpaudit.reporting.ledger import render_ledger

Make = Callable[..., Record]


def cells(make_result: Callable[..., Result], count: int, **fields: object) -> list[Result]:
    return [make_result(parameters={"epsilon": float(i + 1)}, **fields) for i in range(count)]


def test_a_claim_has_one_row_with_its_verdicts_counted(make_record: Make, make_result: Callable[..., Result]) -> None:
    proved = cells(make_result, 3, verdict=Verdict.PROVED)
    refuted = [make_result(parameters={"epsilon": 9.0}, verdict=Verdict.REFUTED)]
    ledger = render_ledger({"system": make_record(*proved, *refuted), "other|<b>": make_record(*proved)})
    rows = [line for line in ledger.splitlines() if f"`{proved[0].claim}`" in line]
    assert len(rows) == 2
    assert "**refuted** x 1, **proved** x 3" in rows[0]
    assert "epsilon=9" in rows[0]
    assert "(system/README.md)" in rows[0]
    assert "| proved | 6 |" in ledger


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
