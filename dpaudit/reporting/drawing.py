"""Line drawings of reports, as SVG, with the tables of their values.

They take their colour from the text around them and tell lines apart by their style.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from dpaudit.reporting.numbers import format_number

WIDTH = 360
LEFT, RIGHT, TOP, BOTTOM = 58, 348, 12, 206
SOLID, DASHED, DOTTED = "", "6 4", "1.5 4"
STYLES = (SOLID, DASHED, DOTTED, "10 3 2 3", "3 3", "12 4", "1.5 2", "6 2 1.5 2 1.5 2", "2 7", "14 3 6 3")
"""Dashes of lines, as many as a drawing can tell apart."""

_LEAST_HEIGHT = 300
_LEGEND, _ROW, _UNDER, _LETTER = 52, 17, 8, 6.5

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Values of a figure; the first column names the row."""

    caption: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Figures of a claim, each a complete SVG element, and their values."""

    caption: str
    svg: tuple[str, ...]
    tables: tuple[Table, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line with its name in the legend."""

    name: str
    points: Sequence[Point]
    dashes: str


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
        """Return where a value is in the drawing; values beyond an end are put there."""
        value = min(max(value, self.low), self.high)
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        """About five round values, or powers of ten."""
        if self.log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            return [10.0**exponent for exponent in range(first, last + 1, max(1, (last - first) // 5))]
        raw = (self.high - self.low) / 5
        scale = 10.0 ** math.floor(math.log10(raw))
        step = next(factor * scale for factor in (1, 2, 2.5, 5, 10) if factor * scale >= raw * (1 - 1e-9))
        return [self.low + i * step for i in range(int((self.high - self.low) / step + 1e-9) + 1)]


def svg(
    name: str,
    title: str,
    description: str,
    x: Axis,
    y: Axis,
    lines: Sequence[Line],
    marker: str = "",
    marker_name: str = "",
) -> str:
    """Return a complete SVG element: axes, lines, an optional marker, and a legend.

    Parameters
    ----------
    name
        Identifier, unique in the page.
    title, description
        What is seen, for those who do not see it.
    x, y
        The axes.
    lines
        Lines, each in a style of its own.
    marker, marker_name
        SVG of further marks, and what they are, if anything.
    """
    rows = len(lines) + bool(marker_name)
    height = max(_LEAST_HEIGHT, BOTTOM + _LEGEND + _ROW * (rows - 1) + _UNDER)
    parts = [
        f'<svg id="{name}" role="img" aria-labelledby="{name}-title {name}-desc" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" fill="none" stroke="currentColor" font-size="11">',
        f'<title id="{name}-title">{escape(title)}</title>',
        f'<desc id="{name}-desc">{escape(description)}</desc>',
        f'<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"/>',
    ]
    for value in x.ticks:
        parts.append(f'<path d="M{x.at(value):.1f} {BOTTOM}v4"/>')
        text = format_number(value, digits=3)
        fits = x.at(value) + _LETTER * len(text) / 2 <= WIDTH
        parts.append(_text(x.at(value) if fits else WIDTH, BOTTOM + 16, text, "middle" if fits else "end"))
    for value in y.ticks:
        parts.append(f'<path d="M{LEFT} {y.at(value):.1f}h-4"/>')
        parts.append(_text(LEFT - 7, y.at(value) + 4, format_number(value, digits=3), "end"))
    parts.append(_text((LEFT + RIGHT) / 2, BOTTOM + 32, x.label, "middle"))
    middle = (TOP + BOTTOM) / 2
    parts.append(_text(12, middle, y.label, "middle", turned=True))
    for line in lines:
        points = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in line.points)
        parts.append(f'<polyline points="{points}"{_style(line.dashes)}/>')
    parts.append(marker)
    legend: list[tuple[Callable[[float], str], str]] = [(_sample(line), line.name) for line in lines]
    if marker_name:
        legend.append((lambda at: f'<circle cx="{LEFT + 12}" cy="{at - 4:.1f}" r="5"/>', marker_name))
    for i, (sample, text) in enumerate(legend):
        at = BOTTOM + _LEGEND + _ROW * i
        parts.append(sample(at) + _text(LEFT + 32, at, text, "start"))
    return "\n".join(part for part in [*parts, "</svg>"] if part)


def _sample(line: Line) -> Callable[[float], str]:
    return lambda at: f'<path d="M{LEFT} {at - 4:.1f}h24"{_style(line.dashes)}/>'


def _style(dashes: str) -> str:
    return ' stroke-width="2"' + (f' stroke-dasharray="{dashes}"' if dashes else "")


def _text(x: float, y: float, text: str, anchor: str, *, turned: bool = False) -> str:
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="currentColor" stroke="none"{turn}>'
        f"{escape(text)}</text>"
    )
