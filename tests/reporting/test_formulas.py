"""Formulas in sentences as MathML: the letters and the grouping of the source, well formed, and harmless."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from dpaudit.claims.record import read_record
from dpaudit.reporting.formulas import typeset

REPORTS = Path(__file__).parents[2] / "reports"

_MARKS = re.compile(r"[\s^_()√]|sqrt")


_SAME = str.maketrans({"−": "-", "≤": "<=", "≥": ">=", "²": "2", "'": "′"})
"""Signs that are written in one way and typeset in another."""


def _formulas(text: str) -> list[ET.Element]:
    return list(ET.fromstring(f"<p>{typeset(text)}</p>").iter("math"))


def _text(text: str) -> str:
    return "".join(ET.fromstring(f"<p>{typeset(text)}</p>").itertext())


@pytest.mark.parametrize(
    ("text", "tag", "base", "mark"),
    [
        ("at most 2^(-6 μ), where", "msup", "2", "−6μ"),
        ("at most e^-a for all", "msup", "e", "−a"),
        ("grows like (log m)^2 at most", "msup", "(logm)", "2"),
        ("for w_ji of all", "msub", "w", "ji"),
        ("odds of e^ϵ0 here", "msub", "ϵ", "0"),
        ("by x² exactly", "msup", "x", "2"),
        ("by (θ*)^2 n", "msup", "(θ*)", "2"),
    ],
)
def test_powers_and_indices(text: str, tag: str, base: str, mark: str) -> None:
    (formula,) = _formulas(text)
    found = next(formula.iter(tag))
    assert ["".join(part.itertext()) for part in found] == [base, mark]


def test_a_root_covers_what_its_brackets_hold() -> None:
    (formula,) = _formulas("of deviation sqrt(2 log(1.25/δ) C(m, 2)) / (ϵn), is private")
    (root,) = formula.iter("msqrt")
    assert "".join(root.itertext()) == "2log(1.25/δ)C(m,2)"
    assert "".join(formula.itertext()).endswith("/(ϵn)")


@pytest.mark.parametrize(
    "text",
    [
        "A ranking is (ϵ, δ)-differentially private.",
        "For every m and n a run of 3 / 4 of them ends.",
        "as of 2^",
        "a factor of a ^ b and I _ J",
        "input/output and/or",
    ],
)
def test_what_is_no_formula_stays_as_it_is(text: str) -> None:
    assert typeset(text) == text


def test_an_article_is_no_factor() -> None:
    assert typeset("is a ϵ^2 of").startswith("is a <math>")


@pytest.mark.slow
def test_no_letter_is_lost_or_moved_in_any_committed_statement() -> None:
    seen = 0
    for path in sorted(REPORTS.glob("*.json")):
        for entry in read_record(path).claims.values():
            plain, shown = (each.translate(_SAME) for each in (entry.statement, _text(entry.statement)))
            assert _MARKS.sub("", shown) == _MARKS.sub("", plain), entry.statement
            seen += bool(_formulas(entry.statement))
    assert seen > 100


@pytest.mark.parametrize("text", ["<script>x^2</script>", "x^2 & y_1 < z", '"x_1"', "(" * 900, "f(" * 400, "√" * 900])
def test_hostile_text_is_escaped_and_ends(text: str) -> None:
    html = typeset(text)
    ET.fromstring(f"<p>{html}</p>")
    assert "<script" not in html
