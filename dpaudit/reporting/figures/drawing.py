"""Axes, lines and tables of a figure, and the SVG that they make.

Drawings take their colour from the text around them and tell lines apart by their style; every value is in a table too.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from dpaudit.reporting.numbers import format_number

WIDTH, HEIGHT = 360, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 348, 12, 206
SOLID, DASHED, DOTTED = "", "6 4", "1.5 4"
STYLES = (SOLID, DASHED, DOTTED, "9 3 1.5 3", "12 5", "3 3", "1.5 7", "14 3 3 3 3 3")
_LEGEND_LINE = 17
LETTER = 6.5
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
            return [self.low, math.sqrt(self.low * self.high), self.high]
        raw = (self.high - self.low) / 5
        scale = 10.0 ** math.floor(math.log10(raw))
        step = next(factor * scale for factor in (1, 2, 2.5, 5, 10) if factor * scale >= raw * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [i * step for i in range(first, last + 1)]


def spanning(label: str, values: Sequence[float], start: float, end: float, *, log: bool) -> Axis:
    """Axis from the smallest to the largest value; from 0 where it is linear and no value is below."""
    low, high = min(values), max(values)
    if log:
        return Axis(
            label=f"{label} (log scale)", low=low, high=high if high > low else low * 10, start=start, end=end, log=True
        )
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
    entries = len(lines) + (marker is not None) + bool(shaded)
    height = max(HEIGHT, BOTTOM + 52 + _LEGEND_LINE * entries)
    parts = [
        f'<svg id="{name}" role="img" aria-labelledby="{name}-title {name}-desc" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" fill="none" stroke="currentColor" font-size="11">',
        f'<title id="{name}-title">{escape(title)}</title>',
        f'<desc id="{name}-desc">{escape(description)}</desc>',
    ]
    for start, end in shaded:
        left, right = sorted((x.at(start), x.at(end)))
        parts.append(f'<rect x="{left:.1f}" y="{TOP}" width="{right - left:.1f}" height="{BOTTOM - TOP}"{_SHADE}/>')
    parts.append(f'<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"/>')
    marks = [f"M{x.at(value):.1f} {BOTTOM}v4" for value in x.ticks]
    marks += [f"M{LEFT} {y.at(value):.1f}h-4" for value in y.ticks]
    parts.append(f'<path d="{"".join(marks)}"/>')
    for value in x.ticks:
        text = format_number(value, digits=3)
        fits = x.at(value) + LETTER * len(text) / 2 <= WIDTH
        parts.append(_text(x.at(value) if fits else WIDTH, BOTTOM + 16, text, "middle" if fits else "end"))
    parts += [_text(LEFT - 7, y.at(value) + 4, format_number(value, digits=3), "end") for value in y.ticks]
    parts.append(_text((LEFT + RIGHT) / 2, BOTTOM + 32, x.label, "middle"))
    parts.append(_text(12, (TOP + BOTTOM) / 2, y.label, "middle", turned=True))
    legend: list[tuple[Callable[[float], str], str]] = []
    for line in lines:
        points = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in line.points)
        parts.append(f'<polyline points="{points}"{_style(line.dashes)}/>')
        if line.marked:
            parts += [f'<circle cx="{x.at(a):.1f}" cy="{y.at(b):.1f}" r="2.5"/>' for a, b in line.points]
        if line.bars:
            bars = "".join(f"M{x.at(a):.1f} {y.at(low):.1f}V{y.at(high):.1f}" for a, low, high in line.bars)
            parts.append(f'<path d="{bars}"/>')
        legend.append((_sample(line), line.name))
    if marker is not None:
        left, top = x.at(marker[0]), y.at(marker[1])
        parts.append(f'<path d="M{left - 5:.1f} {top:.1f}h10M{left:.1f} {top - 5:.1f}v10" stroke-width="2"/>')
        parts.append(f'<circle cx="{left:.1f}" cy="{top:.1f}" r="5"/>')
        legend.append((lambda at: f'<circle cx="{LEFT + 12}" cy="{at - 4:.1f}" r="5"/>', marker_name))
    if shaded:
        legend.append((_swatch, shaded_name))
    for i, (sample, text) in enumerate(legend):
        at = BOTTOM + 52 + _LEGEND_LINE * i
        parts.append(sample(at) + _text(LEFT + 32, at, text, "start"))
    return "\n".join([*parts, "</svg>"])


def _swatch(at: float) -> str:
    return f'<rect x="{LEFT}" y="{at - 9:.1f}" width="24" height="10"{_SHADE}/>'


def _sample(line: Line) -> Callable[[float], str]:
    return lambda at: f'<path d="M{LEFT} {at - 4:.1f}h24"{_style(line.dashes)}/>'


def _style(dashes: str) -> str:
    return ' stroke-width="2"' + (f' stroke-dasharray="{dashes}"' if dashes else "")


def _text(x: float, y: float, text: str, anchor: str, *, turned: bool = False) -> str:
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turn}>{escape(text)}</text>'
