"""Axes, lines and tables of a figure, and the SVG that they make.

Drawings take their colour from the text around them. Lines are told apart by their dashes, and three or more of them by
marks and colours too, each of which is enough alone; every value is in a table as well.
"""

from __future__ import annotations

import csv
import io
import math
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from dpaudit.reporting.numbers import format_number

WIDTH, HEIGHT = 384, 320
LEFT, RIGHT, TOP, BOTTOM = 70, 366, 30, 224
SOLID, DASHED, DOTTED = "", "6 4", "1.5 4"
STYLES = (SOLID, DASHED, DOTTED, "9 3 1.5 3", "12 5", "3 3", "1.5 7", "14 3 3 3 3 3")
COLOURS = ("currentColor", "#2b7bd9", "#d1560a", "#2a8f4f", "#b44ad0", "#a37800", "#0b8a9e", "#d63b6a")
"""Of lines; the contrast of each is above 3.9 to 1 both on white and on the dark ground of a page."""

MARKS = (
    "m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0",
    "m-3-3h6v6h-6z",
    "m0-4l4 7h-8z",
    "m0-4l4 4-4 4-4-4z",
    "m-4 0h8m-4-4v8",
    "m-3-3l6 6m-6 0l6-6",
    "m0 4l4-7h-8z",
    "m-4-3h8m-8 6h8",
)
"""Of lines, drawn around a point: a circle, a square, a triangle, a diamond, a plus, a cross and so on."""

_FEW_LINES = 2
_MOST_MARKS = 6
"""Of a line the points of which were not measured one by one."""

_LEGEND_LINE = 17
_LEGEND_LETTERS = 46
_TITLE_LETTERS = 52
LETTER = 7.0
"""Width of a letter, the widest of the usual fonts at this size."""

_LINE = 15
"""Height of a line of text."""

_POWERS = (1e-4, 1e5)
"""Ticks of whole decades below or above these are written as powers of ten, all of an axis alike."""

_FAR_FROM_ZERO = 0.25
"""A parameter whose least value is at least this share of its largest has an axis that does not begin at 0."""

_MARGIN = 0.05
"""Room at both ends of an axis that does not begin at 0, as a share of its range."""

TABLE_DIGITS = 6
"""Digits of the values in tables, which are read by programs too."""

_UNITS = {
    "epsilon": "epsilon (privacy budget)",
    "delta": "delta (probability)",
    "agents": "agents (number)",
    "alternatives": "alternatives (number)",
    "queries": "queries per agent (number)",
}
"""What a parameter is called on an axis."""

_UNIT = re.compile(r" \([^()]*\)$")
"""The unit at the end of an axis title."""

_LEGEND = 8
_SHADE = ' fill="currentColor" fill-opacity="0.12" stroke="none"'

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Values of a figure; the first column names the row."""

    caption: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def csv(self) -> str:
        """The table as comma-separated values."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.headers, *self.rows])
        return text.getvalue()


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Figures side by side, each a complete SVG element, and their values; with headings where settings differ."""

    caption: str
    svg: tuple[str, ...]
    tables: tuple[Table, ...]
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A named line; with ``marked`` its points show, with ``bars`` (x, low, high) its intervals."""

    name: str
    points: Sequence[Point]
    dashes: str = SOLID
    marked: bool = False
    bars: Sequence[tuple[float, float, float]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """Values from ``low`` to ``high`` along ``start`` to ``end`` of the drawing."""

    label: str
    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """Place of a value; beyond an end of the axis, that end."""
        value = min(max(value, self.low), self.high)
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        place = self.start + share * (self.end - self.start)
        if not math.isfinite(place):
            raise ValueError(f"{value} has no place between {self.low} and {self.high}")
        return place

    @property
    def ticks(self) -> list[float]:
        """Values that are labelled."""
        if self.log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            decades = [10.0**exponent for exponent in range(first, last + 1, max(1, (last - first) // 5))]
            if len(decades) > 1:
                return decades
            return [value for power in range(first - 1, last + 1) for value in self._steps(power)] or [self.low]
        raw = (self.high - self.low) / 5
        scale = 10.0 ** math.floor(math.log10(raw))
        step = next(factor * scale for factor in (1, 2, 2.5, 5, 10) if factor * scale >= raw * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [i * step for i in range(first, last + 1)]

    def _steps(self, power: int) -> list[float]:
        values = [factor * 10.0**power for factor in (1, 2, 3, 5, 7)]
        return [value for value in values if self.low * (1 - 1e-9) <= value <= self.high * (1 + 1e-9)]

    @property
    def labelled(self) -> list[tuple[float, str]]:
        """Places of ticks with what is written at them, so few that no two labels touch."""
        texts = _written(self.ticks, log=self.log)
        ticks = [(self.at(value), text) for value, text in zip(self.ticks, texts, strict=True)]
        upright = abs(self.start - self.end) == BOTTOM - TOP
        for step in range(1, len(ticks) + 1):
            kept = ticks[::step]
            if all(_apart(a, b, upright=upright) for a, b in pairwise(kept)):
                return kept
        return ticks[:1]


def _written(ticks: Sequence[float], *, log: bool) -> list[str]:
    """Return what stands at ticks, in one notation on each axis."""
    powers = [round(math.log10(value)) for value in ticks] if log else []
    decades = all(math.isclose(value, 10.0**power) for value, power in zip(ticks, powers, strict=False))
    if log and decades and (ticks[0] < _POWERS[0] or ticks[-1] > _POWERS[1]):
        return [f"1e{power}" for power in powers]
    return [format_number(value, digits=3) for value in ticks]


def _apart(one: tuple[float, str], other: tuple[float, str], *, upright: bool) -> bool:
    """Whether two labels at an axis do not touch."""
    needed = _LINE if upright else LETTER * (len(one[1]) + len(other[1])) / 2 + LETTER
    return abs(one[0] - other[0]) >= needed


def titled(name: str) -> str:
    """Return what a parameter is called on an axis, with its unit where that is known."""
    return _UNITS.get(name, name.replace("_", " "))


def spanning(label: str, values: Sequence[float], start: float, end: float, *, log: bool, close: bool = False) -> Axis:
    """Axis from the smallest to the largest value; from 0 where it is linear and no value is below.

    With ``close``, a linear axis of values that lie far from 0 shows their range alone.
    """
    low, high = min(values), max(values)
    if log:
        unit = _UNIT.search(label)
        scale = f"{label[:-1]}, log scale)" if unit else f"{label} (log scale)"
        return Axis(label=scale, low=low, high=high if high > low else low * 10, start=start, end=end, log=True)
    if close and low < high and low >= _FAR_FROM_ZERO * high > 0:
        room = _MARGIN * (high - low)
        return Axis(label=label, low=low - room, high=high + room, start=start, end=end)
    low = min(low, 0.0)
    return Axis(label=label, low=low, high=high if high > low else low + 1.0, start=start, end=end)


def svg(
    name: str,
    title: str,
    description: str,
    x: Axis,
    y: Axis,
    lines: Sequence[Line],
    *,
    marker: Point | None = None,
    marker_name: str = "",
    shaded: Sequence[tuple[float, float]] = (),
    shaded_name: str = "",
) -> str:
    """Return a complete SVG element with title, description and legend.

    Parameters
    ----------
    name
        Its id, which no other element of the page has.
    title, description
        What it shows, and how to read it, in words.
    x, y, lines
        What is drawn.
    marker, marker_name
        A single point with its entry in the legend.
    shaded, shaded_name
        Intervals of x that are shaded over the whole height, and what that means.
    """
    names = [line.name for line in lines] + [marker_name] * (marker is not None) + [shaded_name] * bool(shaded)
    entries = sum(len(_wrapped(text)) for text in names)
    height = max(HEIGHT, BOTTOM + 58 + _LEGEND_LINE * entries)
    title_lines = textwrap.wrap(y.label, _TITLE_LETTERS) or [""]
    above = _LINE * (len(title_lines) - 1)
    parts = [
        f'<svg id="{name}" role="img" aria-labelledby="{name}-title {name}-desc" '
        f'viewBox="0 {-above} {WIDTH} {height + above}" width="{WIDTH}" height="{height + above}" '
        'fill="none" stroke="currentColor" font-size="11">',
        f'<title id="{name}-title">{escape(title)}</title>',
        f'<desc id="{name}-desc">{escape(description)}</desc>',
    ]
    for start, end in shaded:
        left, right = sorted((x.at(start), x.at(end)))
        parts.append(f'<rect x="{left:.1f}" y="{TOP}" width="{right - left:.1f}" height="{BOTTOM - TOP}"{_SHADE}/>')
    parts.append(f'<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"/>')
    marks = [f"M{at:.1f} {BOTTOM}v4" for at, _ in x.labelled]
    marks += [f"M{LEFT} {at:.1f}h-4" for at, _ in y.labelled]
    parts.append(f'<path d="{"".join(marks)}"/>')
    for at, text in x.labelled:
        half = LETTER * len(text) / 2
        parts.append(_text(min(at, WIDTH - half), BOTTOM + 20, text, "middle"))
    parts += [_text(LEFT - 7, at + 4, text, "end") for at, text in y.labelled]
    parts.append(_text((LEFT + RIGHT) / 2, BOTTOM + 37, x.label, "middle"))
    parts += [_text(4, 14 - above + _LINE * i, said, "start") for i, said in enumerate(title_lines)]
    legend: list[tuple[Callable[[float], str], str]] = []
    for number, line in enumerate(lines):
        colour, mark = _told_apart(number) if len(lines) > _FEW_LINES else ("", "")
        points = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in line.points)
        drawn = [f'<polyline points="{points}"{_style(line.dashes)}/>']
        if mark:
            placed = "".join(f"M{x.at(a):.1f} {y.at(b):.1f}{mark}" for a, b in _marked(line, number))
            drawn.append(f'<path d="{placed}"/>')
        elif line.marked:
            drawn += [f'<circle cx="{x.at(a):.1f}" cy="{y.at(b):.1f}" r="2.5"/>' for a, b in line.points]
        if line.bars:
            bars = "".join(f"M{x.at(a):.1f} {y.at(low):.1f}V{y.at(high):.1f}" for a, low, high in line.bars)
            drawn.append(f'<path d="{bars}"/>')
        parts += [f'<g stroke="{colour}">', *drawn, "</g>"] if colour else drawn
        legend.append((_sample(line, colour, mark), line.name))
    if marker is not None:
        left, top = x.at(marker[0]), y.at(marker[1])
        parts.append(f'<path d="M{left - 5:.1f} {top:.1f}h10M{left:.1f} {top - 5:.1f}v10" stroke-width="2"/>')
        parts.append(f'<circle cx="{left:.1f}" cy="{top:.1f}" r="5"/>')
        legend.append((lambda at: f'<circle cx="{_LEGEND + 12}" cy="{at - 4:.1f}" r="5"/>', marker_name))
    if shaded:
        legend.append((_swatch, shaded_name))
    at = float(BOTTOM + 60)
    for sample, text in legend:
        parts.append(sample(at))
        for said in _wrapped(text):
            parts.append(_text(_LEGEND + 32, at, said, "start"))
            at += _LEGEND_LINE
    return "\n".join([*parts, "</svg>"])


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _LEGEND_LETTERS) or [""]


def _swatch(at: float) -> str:
    return f'<rect x="{_LEGEND}" y="{at - 9:.1f}" width="24" height="10"{_SHADE}/>'


def _sample(line: Line, colour: str, mark: str) -> Callable[[float], str]:
    def drawn(at: float) -> str:
        sample = f'<path d="M{_LEGEND} {at - 4:.1f}h24"{_style(line.dashes)}/>'
        if not mark:
            return sample
        return f'<g stroke="{colour}">{sample}<path d="M{_LEGEND + 12} {at - 4:.1f}{mark}"/></g>'

    return drawn


def _told_apart(number: int) -> tuple[str, str]:
    """The colour and the mark of a line among many, by its place; the dashes come again before both do."""
    return COLOURS[number % len(COLOURS)], MARKS[(number + number // len(COLOURS)) % len(MARKS)]


def _marked(line: Line, number: int) -> Sequence[Point]:
    """Points that have a mark: all that were measured, or else a few, at other places on each line."""
    if line.marked or len(line.points) <= _MOST_MARKS:
        return line.points
    step = -(-len(line.points) // _MOST_MARKS)
    return line.points[number % step :: step]


def _style(dashes: str) -> str:
    return ' stroke-width="2"' + (f' stroke-dasharray="{dashes}"' if dashes else "")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
