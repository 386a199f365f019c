"""Figures of utility claims: which are drawn, along what, and that they show the values of the record."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpaudit.claims.evidence import Interval
from dpaudit.claims.record import Record, Result
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting import render_html, render_json
from dpaudit.reporting.curves import drawn_utility
from dpaudit.reporting.groups import group_results

EPSILONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)


@pytest.fixture
def make_cell(make_result: Callable[..., Result]) -> Callable[..., Result]:
    def cell(epsilon: Any, value: float, agents: int = 10, claim: str = "paper.figure1", **beside: float) -> Result:
        return make_result(
            Verdict.CERTIFIED,
            claim=claim,
            kind="utility",
            parameters={"epsilon": epsilon, "agents": agents},
            claimed={"bound": 0.9},
            measured={
                "value": Interval(lower=value * 0.9, estimate=value, upper=value * 1.1),
                "tightest tau": Interval.exact(1e-9),
                **{name.replace("_", " "): Interval.exact(number) for name, number in beside.items()},
            },
        )

    return cell


def _drawn(record: Record) -> list[ET.Element]:
    return [ET.fromstring(svg) for svg in re.findall("<svg.*?</svg>", render_html(record), flags=re.DOTALL)]


def _points(line: ET.Element) -> np.ndarray:
    return np.array([[float(n) for n in point.split(",")] for point in (line.get("points") or "").split()])


def test_a_curve_along_the_parameter_that_varies_most(
    make_record: Callable[..., Record], make_cell: Callable[..., Result]
) -> None:
    cells = [
        make_cell(epsilon, 0.5 * 10**-epsilon / agents, agents, bound_of_theorem=0.8, exact=0.49 * 10**-epsilon)
        for epsilon in reversed(EPSILONS)
        for agents in (1, 2)
    ]
    record = make_record(*cells)
    first, second = _drawn(record)
    assert "agents=1" in (first[0].text or "") + (second[0].text or "")
    names = [text.text for text in first.iter("text")]
    assert {"measured", "bound of theorem", "exact", "epsilon"} <= set(names)
    assert not {"tightest tau", "claimed"} & set(names)
    measured = _points(next(first.iter("polyline")))
    assert len(measured) == len(EPSILONS)
    # Ascending along epsilon, and affine in the logarithm of the value.
    assert (np.diff(measured[:, 0]) > 0).all()
    slope, at_zero = np.polyfit(EPSILONS, measured[:, 1], 1)
    assert measured[:, 1] == pytest.approx(slope * np.array(EPSILONS) + at_zero, abs=0.1)
    assert slope > 0
    assert render_html(record) == render_html(Record.from_json(render_json(record)))


def test_the_claimed_bound_is_drawn_where_no_other_is(
    make_record: Callable[..., Record], make_cell: Callable[..., Result]
) -> None:
    (svg,) = _drawn(make_record(*(make_cell(epsilon, 0.3) for epsilon in EPSILONS)))
    assert {"measured", "claimed"} <= {text.text for text in svg.iter("text")}


def test_every_value_is_in_the_table(make_record: Callable[..., Record], make_cell: Callable[..., Result]) -> None:
    record = make_record(*(make_cell(epsilon, 0.3, bound_of_lemma=0.7) for epsilon in EPSILONS))
    (claim,) = group_results(record)[0].claims
    drawn = drawn_utility(claim)
    assert drawn is not None
    (table,) = drawn.tables
    assert table.headers == ("epsilon", "measured", "bound of lemma")
    assert [row[0] for row in table.rows] == [str(epsilon) for epsilon in EPSILONS]
    assert {row[2] for row in table.rows} == {"0.7"}


@pytest.mark.parametrize("epsilons", [EPSILONS[:4], ("a", "b", "c", "d", "e", "f")])
def test_few_points_and_words_are_not_drawn(
    make_record: Callable[..., Record], make_cell: Callable[..., Result], epsilons: tuple[Any, ...]
) -> None:
    assert _drawn(make_record(*(make_cell(epsilon, 0.3) for epsilon in epsilons))) == []


def test_values_of_zero_leave_a_gap(make_record: Callable[..., Record], make_cell: Callable[..., Result]) -> None:
    values = (0.3, 0.2, 0.0, 0.1, 0.0, 0.05)
    (svg,) = _drawn(make_record(*(make_cell(e, v) for e, v in zip(EPSILONS, values, strict=True))))
    assert len(_points(next(svg.iter("polyline")))) == 4


def test_a_wide_range_has_a_logarithmic_axis_whose_labels_stay_inside(
    make_record: Callable[..., Record], make_cell: Callable[..., Result]
) -> None:
    agents = (1000, 2000, 5000, 10000, 20000, 100000)
    (svg,) = _drawn(make_record(*(make_cell(0.1, 0.3, n) for n in agents)))
    x = _points(next(svg.iter("polyline")))[:, 0]
    slope, at_zero = np.polyfit(np.log(agents), x, 1)
    assert x == pytest.approx(slope * np.log(agents) + at_zero, abs=0.1)
    last = next(text for text in svg.iter("text") if text.text == "100000")
    assert last.get("text-anchor") == "end"
