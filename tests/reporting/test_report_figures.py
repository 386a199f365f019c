"""Figures of the HTML report: well formed, escaped, of the right cell, with the values that they are drawn from."""

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import numpy as np
import pytest

from dpaudit.claims.evidence import Curves, Interval
from dpaudit.claims.record import Record, Result
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting import render_html, render_json
from dpaudit.reporting.figures import figures
from dpaudit.reporting.groups import group_results

HOSTILE = "</svg><script>alert('1')</script>&\""


def _curves(exact: bool = False, scale: float = 1.0) -> Curves:
    epsilon = tuple(np.linspace(0, 2 * scale, 9))
    lower = tuple(0.4 * math.exp(-e / scale) for e in epsilon)
    type_one = tuple(np.linspace(0, 1, 11))
    beta = tuple((1 - a) ** 2 for a in type_one)
    return Curves(
        epsilon=epsilon,
        delta_lower=lower,
        delta_upper=lower if exact else tuple(1.2 * value for value in lower),
        type_one=type_one,
        type_two_lower=beta,
        type_two_upper=beta if exact else tuple(min(1 - a, b + 0.01) for a, b in zip(type_one, beta, strict=True)),
    )


def _drawn(record: Record) -> list[ET.Element]:
    return [ET.fromstring(svg) for svg in re.findall("<svg.*?</svg>", render_html(record), flags=re.DOTALL)]


@pytest.mark.parametrize(
    ("epsilon", "delta", "scale"),
    [(1.0, 0.0, 1.0), (1.0, 1e-9, 1.0), (0.0, 0.1, 1.0), (400.0, 0.5, 250.0), (1000.0, 1.0, 1e-6), (1.0, 5e-324, 1.0)],
)
@pytest.mark.parametrize("exact", [False, True])
def test_each_figure_is_well_formed_small_and_described(
    make_record: Callable[..., Record],
    make_result: Callable[..., Result],
    epsilon: float,
    delta: float,
    scale: float,
    exact: bool,
) -> None:
    result = make_result(claimed={"epsilon": epsilon, "delta": delta}, curves=_curves(exact, scale), claim=HOSTILE)
    record = make_record(result)
    drawn = _drawn(record)
    assert len(drawn) == 2
    for svg in drawn:
        assert len(ET.tostring(svg)) < 15_000
        assert [child.tag for child in svg][:2] == ["title", "desc"]
        assert HOSTILE in (svg[0].text or "")
        assert svg.get("role") == "img"
        assert svg.get("aria-labelledby") == f"{svg[0].get('id')} {svg[1].get('id')}"
        assert {element.get("stroke") for element in svg.iter()} <= {"currentColor", "none", None}
        numbers = [float(n) for line in svg.iter("polyline") for n in re.findall(r"[-\d.]+", line.get("points", ""))]
        assert all(0 <= number <= 360 for number in numbers)
        styles = [line.get("stroke-dasharray") for line in svg.iter("polyline")]
        assert len(styles) == len(set(styles))
    assert "<script" not in render_html(record)
    assert render_html(record) == render_html(Record.from_json(render_json(record)))


def test_the_drawing_follows_the_values(make_record: Callable[..., Record], make_result: Callable[..., Result]) -> None:
    curves = _curves(exact=True)
    result = make_result(claimed={"epsilon": 1.0, "delta": 0.2}, curves=curves)
    profile, trade_off = _drawn(make_record(result))
    (line,) = profile.iter("polyline")
    points = np.array([[float(n) for n in p.split(",")] for p in (line.get("points") or "").split()])
    # Linear axes: positions are affine in the values, x upwards and y downwards.
    for axis, values, sign in ((0, curves.epsilon, 1), (1, curves.delta_lower, -1)):
        slope, at_zero = np.polyfit(values, points[:, axis], 1)
        assert slope * sign > 0
        np.testing.assert_allclose(points[:, axis], slope * np.array(values) + at_zero, atol=0.11)
        marker = next(profile.iter("circle")).get("cx" if axis == 0 else "cy")
        assert float(marker or "nan") == pytest.approx(slope * (1.0, 0.2)[axis] + at_zero, abs=0.2)
    assert [line.get("stroke-dasharray") for line in trade_off.iter("polyline")] == [None, "1.5 4"]


def test_a_tiny_delta_makes_the_axis_logarithmic(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    for delta, log in ((1e-5, True), (0.1, False), (0.0, False)):
        page = render_html(make_record(make_result(claimed={"epsilon": 1.0, "delta": delta}, curves=_curves())))
        assert ("log scale" in page) is log


def test_one_cell_of_a_claim_is_drawn_the_one_that_says_most(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    def cell(verdict: Verdict, measured: float, claimed: float) -> Result:
        return make_result(
            verdict,
            parameters={"epsilon": claimed},
            claimed={"epsilon": claimed, "delta": 0.0},
            measured={"epsilon": Interval.exact(measured)},
            curves=_curves(),
        )

    proved = [cell(Verdict.PROVED, 0.5, 1.0), cell(Verdict.PROVED, 1.9, 2.0)]
    refuted = [cell(Verdict.REFUTED, 3.5, 3.0), cell(Verdict.REFUTED, 8.0, 4.0), cell(Verdict.REFUTED, 6.0, 5.0)]
    for results, number in ((proved, "profile-2"), (proved + refuted, "profile-4")):
        assert _drawn(make_record(*results))[0].get("id") == number
    (target,) = group_results(make_record(*proved, *refuted))
    drawn = figures(target.claims[0])
    assert drawn is not None
    assert "epsilon=4:" in drawn.caption


def test_what_has_no_curves_has_no_figure(full_record: Record) -> None:
    assert "<svg" not in render_html(full_record)


def test_the_values_are_in_tables(make_record: Callable[..., Record], make_result: Callable[..., Result]) -> None:
    page = render_html(make_record(make_result(curves=_curves())))
    assert page.count("<figure>") == page.count("Values of the figures") == 1
    for value in ("0.147152", "0.176582", "0.49"):
        assert f">{value}<" in page
