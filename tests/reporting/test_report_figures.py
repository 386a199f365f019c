"""Figures of the HTML report: well formed, escaped, of the right cell, with the values that they are drawn from."""

import csv
import itertools
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest

from dpaudit.claims.evidence import Curves, Growth, Interval, Role
from dpaudit.claims.record import Record, Result, read_record
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting import render_html, render_json
from dpaudit.reporting.figures import figures, trust_figure
from dpaudit.reporting.figures.drawing import BOTTOM, COLOURS, LEFT, RIGHT, TOP, Axis, spanning
from dpaudit.reporting.groups import group_results
from dpaudit.reporting.regions import region_maps

HOSTILE = "</svg><script>alert('1')</script>&\""


REPORTS = Path(__file__).parents[2] / "reports"
WIDTHS = {
    **dict.fromkeys("0123456789", 0.636),
    **dict.fromkeys("ABCDEGHKNOQRUVX", 0.72),
    **dict.fromkeys("ij.,:;'|l ", 0.32),
    **dict.fromkeys("frt()[]-", 0.4),
    **dict.fromkeys("mwMW", 0.97),
    **dict.fromkeys("=<>+", 0.838),
}
"""Widths of letters in DejaVu Sans, in parts of the font size; a group has the width of its widest or usual letter."""


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
        assert {element.get("stroke") for element in svg.iter()} <= {*COLOURS, "none", None}
        numbers = [float(n) for line in svg.iter("polyline") for n in re.findall(r"[-\d.]+", line.get("points", ""))]
        assert all(0 <= number <= 384 for number in numbers)
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
            measured={"epsilon": Interval.exact(measured), "tightness": Interval.exact(claimed / measured)},
            curves=_curves(),
        )

    proved = [cell(Verdict.PROVED, 0.5, 1.0), cell(Verdict.PROVED, 1.9, 2.0)]
    refuted = [cell(Verdict.REFUTED, 3.5, 3.0), cell(Verdict.REFUTED, 8.0, 4.0), cell(Verdict.REFUTED, 6.0, 5.0)]
    for results, number in ((proved, "profile-2"), (proved + refuted, "profile-4")):
        assert _drawn(make_record(*results))[0].get("id") == number
    (target,) = group_results(make_record(*proved, *refuted))
    (drawn,) = figures(target.claims[0])
    assert "epsilon=4:" in drawn.caption


def _growth(make_result: Callable[..., Result], verdict: Verdict = Verdict.CONSISTENT, **changes: object) -> Result:
    growth = Growth(variable="agents", points=(10, 100, 1000), values=(8.0, 0.9, 0.1), shape=(1.0, 1.0, 1.0))
    values = {
        "claimed": {"exponent": -1.0},
        "measured": {"exponent": Interval(lower=-1.05, estimate=-0.95, upper=-0.9)},
        "growth": growth,
        "kind": "rate",
    }
    return make_result(verdict, **(values | changes))


def test_a_rate_is_drawn_against_the_claimed_growth(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    (svg,) = _drawn(make_record(_growth(make_result)))
    measured, claimed = ([p.split(",") for p in line.get("points").split()] for line in svg.iter("polyline"))
    assert len(measured) == len(claimed) == 3
    # Through the last value; on both logarithmic axes the claimed growth of 1 / agents is straight.
    assert measured[-1] == claimed[-1]
    heights = [float(y) for _, y in claimed]
    assert heights[1] - heights[0] == pytest.approx(heights[2] - heights[1], abs=0.2)
    assert "exponent -1" in (svg[1].text or "")
    assert [circle.get("r") for circle in svg.iter("circle")] == ["2.5"] * 3


def test_the_refuted_rate_is_the_one_that_is_drawn(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    results = [
        _growth(make_result, verdict, parameters={"epsilon": i})
        for i, verdict in enumerate((Verdict.CONSISTENT, Verdict.REFUTED, Verdict.INCONCLUSIVE))
    ]
    assert _drawn(make_record(*results))[0].get("id") == "growth-2"
    odd = _growth(make_result, growth=Growth(variable="n", points=(1, 2), values=(0.0, 1.0), shape=(1.0, 1.0)))
    assert not _drawn(make_record(odd))


def _bounded(make_result: Callable[..., Result], **changes: object) -> list[Result]:
    return [
        make_result(
            Verdict.VACUOUS if bound > 1 else Verdict.CERTIFIED,
            parameters={"agents": agents, "rule": "borda"} | changes,
            claimed={"bound": bound},
            measured={
                "value": Interval(lower=value * 0.9, estimate=value, upper=value * 1.1),
                "other_bound": Interval(lower=bound / 2, upper=bound / 2, role=Role.BOUND),
                "slack": Interval.exact(bound / value),
            },
            kind="utility",
        )
        for agents, value, bound in ((100, 0.2, 1.6), (1000, 0.05, 0.4), (10000, 0.01, 0.04))
    ]


def test_values_are_drawn_along_the_parameter_against_all_bounds(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    page = make_record(*_bounded(make_result))
    (svg,) = _drawn(page)
    lines = [line.get("points").split() for line in svg.iter("polyline")]
    assert [len(line) for line in lines] == [3, 3, 3]
    texts = [text.text for text in svg.iter("text")]
    assert {"value", "claimed bound", "other bound", "vacuous", "agents (number, log scale)"} <= set(texts)
    assert "slack" not in texts
    # The bounds are one, two, four times as high as they say: on a logarithmic axis a half is a constant distance.
    claimed, other = ([float(p.split(",")[1]) for p in line] for line in lines[1:])
    assert {round(b - a) for a, b in zip(claimed, other, strict=True)} == {round(other[0] - claimed[0])}
    # Shaded: the first point up to half way to the second, and the swatch of the legend.
    shade, _ = (rect for rect in svg.iter("rect"))
    assert float(shade.get("x") or "nan") == pytest.approx(70)


def test_every_setting_of_the_other_parameters_has_its_own_drawing(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    few = [result for rule in ("borda", "veto") for result in _bounded(make_result, rule=rule)]
    assert [svg.find("title").text.partition("at ")[2] for svg in _drawn(make_record(*few))] == [
        "rule=borda",
        "rule=veto",
    ]
    many = [result for i in range(6) for result in _bounded(make_result, rule=str(i))]
    assert len(_drawn(make_record(*many))) == 4
    assert "the first 4 of 6 settings" in render_html(make_record(*many))


def test_two_values_make_no_line(make_record: Callable[..., Record], make_result: Callable[..., Result]) -> None:
    assert not _drawn(make_record(*_bounded(make_result)[:2]))


def test_a_region_map_has_every_verdict_in_its_place(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    results = [
        make_result(
            Verdict.REFUTED if epsilon * agents > 4 else Verdict.PROVED,
            parameters={"epsilon": epsilon, "agents": agents, "shuffle": True},
        )
        for epsilon in (0.5, 1.0, 10.0)
        for agents in (2, 8)
        if (epsilon, agents) != (0.5, 8)
    ]
    (target,) = group_results(make_record(*results))
    (region,) = region_maps(target.claims[0])
    assert (region.down, region.across, region.columns) == ("agents", "epsilon", ("0.5", "1", "10"))
    found = [(row, [cell and cell.result.verdict.value for cell in cells]) for row, cells in region.rows]
    assert found == [("2", ["proved", "proved", "refuted"]), ("8", [None, "refuted", "refuted"])]
    page = render_html(make_record(*results))
    assert "not audited" in page
    assert 'href="#result-3"' in page
    flat = [result for result in results if result.parameters["agents"] == 2]
    (target,) = group_results(make_record(*flat))
    assert region_maps(target.claims[0]) == ()


def test_what_has_no_curves_has_no_figure(full_record: Record) -> None:
    assert "<svg" not in render_html(full_record)


def test_the_values_are_in_tables(make_record: Callable[..., Record], make_result: Callable[..., Result]) -> None:
    page = render_html(make_record(make_result(curves=_curves())))
    assert page.count("<figure>") == page.count("Values of the figures") == 1
    for value in ("0.147152", "0.176582", "0.49"):
        assert f">{value}<" in page


def test_a_parameter_that_two_others_determine_is_no_axis(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    results = [
        make_result(
            Verdict.REFUTED if users < 10 else Verdict.PROVED,
            parameters={"epsilon": central + math.log(users), "central": central, "users": users, "delta": delta},
        )
        for central in (0.1, 0.5, 1.0)
        for users in (2, 16, 100)
        for delta in (1e-4, 1e-2)
    ]
    (target,) = group_results(make_record(*results))
    maps = region_maps(target.claims[0])
    assert [{region.down, region.across} for region in maps] == [{"central", "users"}] * 2
    assert [region.setting for region in maps] == ["delta=0.0001", "delta=0.01"]
    assert all(cell is not None for region in maps for _, cells in region.rows for cell in cells)


def test_the_values_can_be_downloaded(make_record: Callable[..., Record], make_result: Callable[..., Result]) -> None:
    page = render_html(make_record(_growth(make_result, claim=HOSTILE)))
    (link,) = re.findall(r'<a download="Growth.csv" href="data:text/csv;charset=utf-8,([^"]*)">', page)
    rows = list(csv.reader(unquote(link).splitlines()))
    assert rows[0] == ["agents", "value", "claimed growth"]
    assert rows[-1] == ["1000", "0.1", "0.1"]


@pytest.mark.parametrize(
    ("model", "seen"),
    [
        ("local", "randomized reports"),
        ("shuffle", "shuffled reports"),
        ("central", "randomized output"),
        ("none", None),
    ],
)
def test_the_trust_model_says_what_the_adversary_sees(model: str, seen: str | None) -> None:
    svg = ET.fromstring(trust_figure(model, 3))
    texts = [text.text for text in svg.iter("text")]
    assert texts[0] == "agents"
    assert svg.get("id") == "trust-3"
    # The adversary's line begins under the first hand-over that it sees.
    said = [text for text in svg.iter("text") if "adversary" in (text.text or "")]
    assert len(said) == (seen is not None)
    if seen is not None:
        first = next(text for text in svg.iter("text") if text.text == seen.split()[0] and _near(text, said[0]))
        assert first is not None


def _near(one: ET.Element, other: ET.Element) -> bool:
    return abs(float(one.get("x") or "nan") - float(other.get("x") or "nan")) < 6


def test_published_numbers_stand_beside_those_measured_again(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    results = [
        make_result(
            verdict,
            claim="paper.figure5",
            kind="figure",
            parameters={"agents": agents},
            claimed={"published": published},
            measured={
                "value": Interval(lower=measured - 1, estimate=measured, upper=measured + 1),
                "thirty": Interval(lower=measured - 9, estimate=measured, upper=measured + 9, role=Role.MEAN_OF_RUNS),
            },
        )
        for agents, published, measured, verdict in (
            (100, 10.0, 10.5, Verdict.CERTIFIED),
            (200, 20.0, -10.0, Verdict.REFUTED),
        )
    ]
    unpublished = make_result(claim="paper.figure5", kind="figure", parameters={"agents": 300}, claimed={}, measured={})
    (svg,) = _drawn(make_record(*results, unpublished))
    dots = [float(circle.get("cx") or "nan") for circle in svg.iter("circle")][:-1]
    crosses = [
        float(path.get("d", "M0").split()[0][1:]) + 5 for path in svg.iter("path") if "m0 -10" in path.get("d", "")
    ][:-1]
    # On one scale: dots at 10.5 and -10, crosses at 10 and 20.
    scale = (crosses[1] - crosses[0]) / 10
    assert dots[0] - crosses[0] == pytest.approx(0.5 * scale, abs=0.2)
    assert dots[1] - crosses[0] == pytest.approx(-20 * scale, abs=0.2)
    wide = [path.get("d", "") for path in svg.iter("path") if re.fullmatch(r"M[\d.]+ \d+H[\d.]+", path.get("d", ""))]
    ends = [tuple(map(float, re.fullmatch(r"M([\d.]+) \d+H([\d.]+)", one).groups())) for one in wide]
    assert [round((right - left) / scale) for left, right in ends[1:]] == [2, 18, 2, 18]
    texts = [text.text or "" for text in svg.iter("text")]
    assert "what a mean of as few runs may be" in texts
    assert {"certified at agents=100", "refuted at agents=200", "0", "10"} <= set(texts)


def test_what_was_measured_for_comparison_is_drawn_along_the_parameter(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    results = [
        make_result(
            parameters={"epsilon": epsilon},
            kind="utility",
            claimed={},
            measured={
                "value": Interval.exact(-0.1),
                "rr": Interval(lower=0.1, estimate=0.2, upper=0.3, role=Role.COMPARISON),
                "lap": Interval(lower=0.2, estimate=0.3 / epsilon, upper=0.5, role=Role.COMPARISON),
                "other_bound": Interval(lower=1.0, upper=1.0, role=Role.BOUND),
            },
        )
        for epsilon in (0.5, 1.0, 1.5)
    ]
    (svg,) = _drawn(make_record(*results))
    assert (svg.get("id") or "").startswith("comparison-")
    texts = [text.text for text in svg.iter("text")]
    assert {"rr", "lap"} <= set(texts)
    assert "other bound" not in texts
    assert len(list(svg.iter("polyline"))) == 2


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def test_many_lines_differ_by_dashes_and_marks_and_colours_that_both_grounds_show(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    names = [f"K = {number}" for number in (1, 2, 16, 105, 3, 4, 5, 8)]
    results = [
        make_result(
            parameters={"epsilon": epsilon},
            kind="utility",
            claimed={},
            measured={
                name: Interval(lower=place + epsilon, upper=place + epsilon, role=Role.COMPARISON)
                for place, name in enumerate(names)
            },
        )
        for epsilon in (0.5, 1.0, 1.5)
    ]
    (svg,) = _drawn(make_record(*results))
    assert [text.text for text in svg.iter("text")][-8:] == [f"K = {number}" for number in (1, 2, 3, 4, 5, 8, 16, 105)]
    lines, samples = [each for each in svg.iter("g") if each.find("polyline") is not None], []
    for each in svg.iter("g"):
        paths = each.findall("path")
        if each.find("polyline") is None and len(paths) == 2:
            samples.append(
                (each.get("stroke"), paths[0].get("stroke-dasharray"), (paths[1].get("d") or "").partition("m")[2])
            )
    assert len(lines) == len(samples) == 8
    for line, (colour, dashes, mark) in zip(lines, samples, strict=True):
        assert line.get("stroke") == colour
        assert line.find("polyline").get("stroke-dasharray") == dashes
        assert (line.find("path").get("d") or "").count(mark) == 3, "every measured point has the mark of the legend"
    for told in zip(*samples, strict=True):
        assert len(set(told)) == 8, "each of dashes, marks and colours is enough alone"
    for ground in ("#ffffff", "#16171a"):
        for colour, _, _ in samples[1:]:
            light, dark = sorted(map(_luminance, (colour, ground)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) > 3, (colour, ground)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (-11.0, 20.0, [-10.0, 0.0, 10.0, 20.0]),
        (0.0, 1.0, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (-0.3, 0.0, [-0.3, -0.2, -0.1, 0.0]),
    ],
)
def test_ticks_are_round_numbers(low: float, high: float, ticks: list[float]) -> None:
    assert Axis(label="x", low=low, high=high, start=0, end=100).ticks == pytest.approx(ticks)


@pytest.mark.slow
def test_an_unknown_trust_model_is_not_drawn(full_record: Record) -> None:
    assert trust_figure("", 1) == trust_figure("quantum", 1) == ""
    assert "Who sees what" not in render_html(full_record)


@pytest.mark.parametrize(
    "measured",
    [
        {"value": Interval.exact(0.5), "x": Interval.exact(float("inf")), "y": Interval.exact(float("nan"))},
        {"value": Interval.exact(-1e20)},
        {"value": Interval.exact(-1.7e308)},
        {"value": Interval.exact(0.0)},
        {"value": Interval.exact(5e-324)},
    ],
)
@pytest.mark.parametrize("bound", [1.0, -1e20, 1.7e308, 5e-324])
def test_numbers_that_cannot_be_drawn_lose_no_report(
    measured: dict[str, Interval], bound: float, make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    results = [
        make_result(parameters={"n": n}, kind="utility", claimed={"bound": bound}, measured=measured)
        for n in (1, 10**400, 2, 3)
    ]
    page = render_html(make_record(*results))
    assert "All 4 results" in page
    assert not re.search(r'(?:points|x|y|cx|cy|d)="[^"]*(?:nan|inf)', page)
    rate = make_result(
        kind="rate",
        claimed={"exponent": -400.0},
        measured={"exponent": Interval.exact(-1.0)},
        growth=Growth(variable="n", points=(1e-3, 3200.0), values=(1.0, 2.0), shape=(1.0, 1.0)),
    )
    assert "To repeat it" in render_html(make_record(rate))


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(
    ("low", "high"), [(1e-6, 10), (1e-37, 0.02), (0.3, 0.9), (2, 3), (1, 1e9), (120, 190), (5, 80)]
)
def test_labels_of_an_axis_do_not_touch(low: float, high: float, log: bool) -> None:
    for start, end in ((LEFT, RIGHT), (BOTTOM, TOP)):
        axis = spanning("value", [low, high], start, end, log=log)
        labels = sorted(axis.labelled)
        assert labels
        assert all(math.isclose(at, axis.at(float(text)), abs_tol=3) for at, text in labels)
        for (one, first), (other, second) in itertools.pairwise(labels):
            room = other - one
            assert room >= (12 if start == BOTTOM else 3.5 * (len(first) + len(second)))


def test_a_long_axis_title_is_written_in_full(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    title = "expected squared distance of the raw estimates to the true counts of all items of the universe"
    record = make_record(*(replace(result, scope=title) for result in _bounded(make_result)))
    drawing = next(figure for figure in _drawn(record) if figure.get("id", "").startswith("values-"))
    texts = [text.text or "" for text in drawing.iter() if text.tag.endswith("text")]
    assert title in " ".join(texts)
    _, top, width, height = map(float, drawing.get("viewBox", "").split())
    assert (width, height) == (float(drawing.get("width", "")), float(drawing.get("height", "")))
    assert all(
        top + 10 <= float(text.get("y", "")) <= top + height for text in drawing.iter() if text.tag.endswith("text")
    )


@pytest.mark.parametrize(
    ("label", "written"),
    [
        ("delta (probability)", "delta (probability, log scale)"),
        ("cost over OPT(P)", "cost over OPT(P) (log scale)"),
        ("value", "value (log scale)"),
    ],
)
def test_a_logarithmic_axis_says_so_after_its_unit(label: str, written: str) -> None:
    assert spanning(label, [1.0, 100.0], LEFT, RIGHT, log=True).label == written


def test_large_and_small_powers_of_ten_are_written_alike() -> None:
    for low, high in ((1.0, 1e9), (1e-7, 1.0)):
        axis = spanning("value", [low, high], LEFT, RIGHT, log=True)
        assert {text[:2] for _, text in axis.labelled} == {"1e"}
    assert [text for _, text in spanning("value", [1, 1000], LEFT, RIGHT, log=True).labelled][-1] == "1000"


def test_an_axis_far_from_zero_shows_its_range() -> None:
    assert spanning("items", [4, 10], LEFT, RIGHT, log=False, close=True).low > 3
    assert spanning("items", [1, 10], LEFT, RIGHT, log=False, close=True).low == 0
    assert spanning("items", [4, 10], LEFT, RIGHT, log=False).low == 0


@pytest.mark.slow
def test_no_text_of_a_committed_figure_touches_another() -> None:
    drawn = 0
    for path in sorted(REPORTS.glob("*.json")):
        for target in group_results(read_record(path)):
            for claim in target.claims:
                for made in figures(claim):
                    for text in made.svg:
                        _assert_apart(ET.fromstring(text))
                        drawn += 1
    assert drawn > 200


def _assert_apart(drawing: ET.Element) -> None:
    boxes = [_box(text) for text in drawing.iter() if text.tag.endswith("text")]
    left, top, width, height = map(float, drawing.get("viewBox", "").split())
    for text, (x0, x1, y0, y1) in boxes:
        assert left - 1 <= x0 <= x1 <= left + width + 1, (drawing.get("id"), text)
        assert top - 1 <= y0 <= y1 <= top + height + 1, (drawing.get("id"), text)
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        wide, tall = min(a[1], b[1]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[2], b[2])
        assert wide <= 1 or tall <= 1, (drawing.get("id"), one, other)


def _box(text: ET.Element) -> tuple[str, tuple[float, float, float, float]]:
    """A text with its left, right, top and bottom, as wide as it is in DejaVu Sans, among the widest of fonts."""
    said, x, y = text.text or "", float(text.get("x", "")), float(text.get("y", ""))
    width = sum(11 * WIDTHS.get(letter, 0.61) for letter in said)
    start = {"start": x, "middle": x - width / 2, "end": x - width}[text.get("text-anchor", "start")]
    return said, (start, start + width, y - 9, y + 2)


def test_a_caption_names_the_point_to_look_at(
    make_record: Callable[..., Record], make_result: Callable[..., Result]
) -> None:
    def caption(verdicts: list[Verdict], values: list[float], bounds: list[float]) -> str:
        results = [
            make_result(
                verdict,
                kind="utility",
                parameters={"agents": 10 * (i + 1)},
                claimed={"bound": bound},
                measured={"value": Interval.exact(value)},
            )
            for i, (verdict, value, bound) in enumerate(zip(verdicts, values, bounds, strict=True))
        ]
        [drawn] = figures(group_results(make_record(*results))[0].claims[0])
        return drawn.caption.partition(". ")[2]

    holds = [Verdict.PROVED] * 3
    assert caption(holds, [1, 3, 1], [2, 4, 8]) == (
        "At agents=20, where they are nearest in proportion, the measured value is 3 and the bound 4."
    )
    assert caption(holds, [-3, -1, -2], [0, 0, 0]) == (
        "At agents=20, where they are nearest, the measured value is -1 and the bound 0."
    )
    assert caption([Verdict.PROVED, Verdict.REFUTED, Verdict.REFUTED], [1, 3, 9], [1, 2, 3]) == (
        "At agents=30, where the violation is largest in proportion, the measured value is 9 and the bound 3."
    )
