"""Measured values along a parameter, against the claimed bounds and others."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from dpaudit.claims.evidence import Interval, Role
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.figures.drawing import (
    BOTTOM,
    LEFT,
    RIGHT,
    SOLID,
    STYLES,
    TABLE_DIGITS,
    TOP,
    Axis,
    Figures,
    Line,
    Point,
    Table,
    spanning,
    svg,
    titled,
)
from dpaudit.reporting.figures.saying import at_setting, nearest, quantity
from dpaudit.reporting.groups import ClaimGroup, LabelledResult
from dpaudit.reporting.numbers import finite_number, format_interval, format_number
from dpaudit.reporting.reading import verdicts_in_words

_FEWEST_POINTS = 3
_MOST_PANELS = 4
_LEAST_DRAWN = 1e-12
_LOG_SPAN = 20
"""Positive values this many times apart make an axis logarithmic."""

_VALUE, _TRIVIAL = "value", "trivial"
_NUMBERED = re.compile(r"(?P<name>.*\D)(?P<value>\d+(?:\.\d+)?)")

Series = dict[str, list[tuple[float, Interval]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """What is drawn along a parameter.

    Attributes
    ----------
    name
        What the ids of the drawings begin with.
    caption, reading
        Of the figure and of how to read it; ``{along}`` stands for the parameter.
    table
        What the values are called.
    series
        Lines by name, from the values of the parameter and the cells.
    to_see
        The sentence of the caption that says what to look at, from the cells.
    all_measured
        Whether every line was measured, and shows its points and intervals.
    """

    name: str
    caption: str
    reading: str
    table: str
    series: Callable[[Sequence[float], Sequence[LabelledResult]], Series]
    to_see: Callable[[Sequence[LabelledResult]], str]
    all_measured: bool


def value_figures(claim: ClaimGroup, *, most: int = _MOST_PANELS) -> Figures | None:
    """Return figures along the numeric parameter of the most values, for the first settings of the others."""
    cells = [cell for cell in claim.cells if "value" in cell.result.measured and "bound" in cell.result.claimed]
    return _figures(claim, cells, _AGAINST_BOUNDS, most)


def comparison_figures(claim: ClaimGroup, *, most: int = _MOST_PANELS) -> Figures | None:
    """Return figures of what was measured for comparison, such as the same quantity of other systems."""
    cells = [cell for cell in claim.cells if len(_compared(cell)) > 1]
    return _figures(claim, cells, _COMPARED, most)


def _figures(claim: ClaimGroup, cells: Sequence[LabelledResult], drawn: _Drawn, most: int) -> Figures | None:
    along = _longest(claim.varying, cells)
    panels = [] if along is None else _panels(along, claim.varying, cells)
    if along is None or not panels:
        return None
    more = f" (the first {most} of {len(panels)} settings)" if len(panels) > most else ""
    made = [_panel(claim.claim, along, setting, panel, drawn) for setting, panel in panels[:most]]
    shown = [cell for _, panel in panels[:most] for cell in panel]
    return Figures(
        caption=f"{drawn.caption.format(along=titled(along))}{more}: {verdicts_in_words(shown)}. {drawn.to_see(shown)}",
        svg=tuple(image for image, _ in made),
        tables=tuple(table for _, table in made),
        headings=tuple(setting for setting, _ in panels[:most]),
    )


def _number(cell: LabelledResult, name: str) -> float | None:
    return finite_number(cell.result.parameters.get(name))


def _longest(varying: Sequence[str], cells: Sequence[LabelledResult]) -> str | None:
    counts = {name: len({_number(cell, name) for cell in cells} - {None}) for name in varying}
    longest = max(counts, key=lambda name: counts[name], default=None)
    return longest if longest is not None and counts[longest] >= _FEWEST_POINTS else None


def _panels(
    along: str, varying: Sequence[str], cells: Sequence[LabelledResult]
) -> list[tuple[str, list[LabelledResult]]]:
    others = [name for name in varying if name != along]

    def setting(cell: LabelledResult) -> str:
        return ", ".join(f"{name}={cell.result.parameters.get(name)}" for name in others)

    found = []
    for text, group in groupby(sorted(cells, key=setting), key=setting):
        # One cell for each value: that of the method that comes first.
        panel = list({_number(cell, along): cell for cell in reversed(list(group))}.items())
        usable = sorted((value, cell) for value, cell in panel if value is not None)
        if len(usable) >= _FEWEST_POINTS:
            found.append((text, [cell for _, cell in usable]))
    return found


def _panel(claim: str, along: str, setting: str, cells: Sequence[LabelledResult], drawn: _Drawn) -> tuple[str, Table]:
    x_values = [_number(cell, along) or 0.0 for cell in cells]
    series = drawn.series(x_values, cells)
    numbers = [
        number
        for line in series.values()
        for _, interval in line
        for number in (interval.lower, interval.upper, interval.estimate)
        if number is not None and math.isfinite(number)
    ]
    if max(map(abs, numbers), default=0.0) < _LEAST_DRAWN:
        raise ValueError("nothing can be seen of such small values")
    positive = [number for number in numbers if number > 0]
    log = bool(positive) and len(positive) >= len(numbers) - len(x_values) and max(positive) > _LOG_SPAN * min(positive)
    x = spanning(
        titled(along),
        x_values,
        LEFT,
        RIGHT,
        log=min(x_values) > 0 and max(x_values) >= _LOG_SPAN * min(x_values),
        close=True,
    )
    y = spanning(quantity(cells, otherwise="value"), positive if log else numbers, BOTTOM, TOP, log=log)
    lines = [
        Line(
            name=name,
            points=_points(line, y),
            dashes=style,
            marked=drawn.all_measured or name == _VALUE,
            bars=_bars(line, y) if drawn.all_measured or name == _VALUE else (),
        )
        for (name, line), style in zip(series.items(), (*STYLES, *[SOLID] * len(series)), strict=False)
    ]
    vacuous = _stretches(x_values, [cell.result.verdict is Verdict.VACUOUS for cell in cells])
    where = f"{along}{f', at {setting}' if setting else ''}"
    image = svg(
        f"{drawn.name}-{cells[0].number}",
        f"{claim}, {drawn.name} along {where}",
        drawn.reading.format(along=along),
        x,
        y,
        [line for line in lines if line.points],
        shaded=vacuous,
        shaded_name="vacuous",
    )
    by_value = [dict(reversed(line)) for line in series.values()]
    rows = tuple(
        (
            format_number(value, digits=TABLE_DIGITS),
            *(format_interval(line[value], digits=TABLE_DIGITS) if value in line else "" for line in by_value),
            cell.result.verdict.value,
        )
        for value, cell in zip(x_values, cells, strict=True)
    )
    return image, Table(caption=f"{drawn.table} by {where}", headers=(along, *series, "verdict"), rows=rows)


def _series(x_values: Sequence[float], cells: Sequence[LabelledResult]) -> Series:
    """What is drawn: the value, the claimed bound, and other bounds."""
    series: Series = {}
    for value, cell in zip(x_values, cells, strict=True):
        result = cell.result
        series.setdefault(_VALUE, []).append((value, result.measured[_VALUE]))
        series.setdefault("claimed bound", []).append((value, Interval.exact(result.claimed["bound"])))
        for name, interval in result.measured.items():
            if name == _TRIVIAL or interval.role is Role.BOUND:
                series.setdefault(name.replace("_", " "), []).append((value, interval))
    return series


def _compared(cell: LabelledResult) -> dict[str, Interval]:
    """What was measured for comparison, by name."""
    result = cell.result
    if result.kind not in ("utility", "figure"):
        return {}
    return {
        name: interval
        for name, interval in result.measured.items()
        if interval.role is Role.COMPARISON and name not in (_VALUE, _TRIVIAL, "over")
    }


def _comparison_series(x_values: Sequence[float], cells: Sequence[LabelledResult]) -> Series:
    series: Series = {}
    for value, cell in zip(x_values, cells, strict=True):
        for name, interval in _compared(cell).items():
            series.setdefault(name.replace("_", " "), []).append((value, interval))
    return _in_order(series)


def _in_order(series: Series) -> Series:
    """Lines that are named after values of one parameter, as K = 1 and K = 16, by these values."""
    named = [_NUMBERED.fullmatch(name) for name in series]
    found = [each for each in named if each]
    if len(found) < len(named) or len({each["name"] for each in found}) > 1:
        return series
    return {each.string: series[each.string] for each in sorted(found, key=lambda each: float(each["value"]))}


def _extremes(cells: Sequence[LabelledResult]) -> str:
    """Which of the compared quantities is the least and which the largest where they are furthest apart."""
    found = []
    for cell in cells:
        known = [
            (middle, name.replace("_", " "))
            for name, interval in _compared(cell).items()
            if (middle := _middle(interval)) is not None
        ]
        if known:
            found.append((max(known)[0] - min(known)[0], min(known), max(known), cell))
    _, (least, low), (largest, high), cell = max(found, key=lambda each: each[0])
    return (
        f"{at_setting(cell)} the values lie furthest apart: {format_number(least)} ({low}) to "
        f"{format_number(largest)} ({high})."
    )


def _middle(interval: Interval) -> float | None:
    if interval.estimate is not None:
        return interval.estimate
    known = [side for side in (interval.lower, interval.upper) if side is not None and math.isfinite(side)]
    return sum(known) / len(known) if known else None


def _points(line: Sequence[tuple[float, Interval]], y: Axis) -> list[Point]:
    middles = ((at, _middle(interval)) for at, interval in line)
    return [(at, value) for at, value in middles if value is not None and (value > 0 or not y.log)]


def _bars(line: Sequence[tuple[float, Interval]], y: Axis) -> list[tuple[float, float, float]]:
    floor = y.low if y.log else -math.inf
    return [
        (at, max(interval.lower, floor), max(interval.upper, floor))
        for at, interval in line
        if interval.lower is not None and interval.upper is not None and interval.lower < interval.upper
    ]


def _stretches(x_values: Sequence[float], chosen: Sequence[bool]) -> list[tuple[float, float]]:
    """Intervals around the chosen values, each up to half way to the next one."""
    edges = [
        x_values[0],
        *((a + b) / 2 for a, b in pairwise(x_values)),
        x_values[-1],
    ]
    return [(edges[i], edges[i + 1]) for i, one in enumerate(chosen) if one]


_AGAINST_BOUNDS = _Drawn(
    name="values",
    caption="Measured value along {along}, against the bound",
    reading="What was measured, with its interval, and the bounds, by {along}. A claim holds where the value does not "
    "cross its bound; shaded where the claim is vacuous.",
    table="Values",
    series=_series,
    to_see=lambda cells: nearest(cells, "bound"),
    all_measured=False,
)
_COMPARED = _Drawn(
    name="comparison",
    caption="What was measured for comparison, along {along}",
    reading="Everything that was measured for comparison with the audited quantity, with intervals, by {along}.",
    table="Measured for comparison",
    series=_comparison_series,
    to_see=_extremes,
    all_measured=True,
)
