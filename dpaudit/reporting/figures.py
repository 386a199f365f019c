"""Figures of the HTML report: the privacy profile and the trade-off function of one cell of a claim, as SVG.

They take their colour from the text around them and tell lines apart by their style; every value is also in a table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from dpaudit.claims.evidence import Curves, Interval
from dpaudit.claims.record import Result
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.groups import Cell, ClaimGroup
from dpaudit.reporting.numbers import format_interval, format_number

_WIDTH, _HEIGHT = 360, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 348, 12, 206
_SOLID, _DASHED, _DOTTED = "", "6 4", "1.5 4"
_LOG_SPAN = 50
"""A claimed delta this many times smaller than the largest one shown makes the axis logarithmic."""
_DECADES = 12
_LARGEST_EXPONENT = 700.0

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Values of a figure; the first column names the row."""

    caption: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Figures of one cell, each a complete SVG element, and their values."""

    caption: str
    svg: tuple[str, ...]
    tables: tuple[Table, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    name: str
    points: Sequence[Point]
    dashes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Axis:
    """Values from ``low`` to ``high`` along ``start`` to ``end`` of the drawing."""

    label: str
    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        value = min(max(value, self.low), self.high)
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        if self.log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            return [10.0**exponent for exponent in range(first, last + 1, max(1, (last - first) // 5))]
        raw = (self.high - self.low) / 5
        scale = 10.0 ** math.floor(math.log10(raw))
        step = next(factor * scale for factor in (1, 2, 2.5, 5, 10) if factor * scale >= raw * (1 - 1e-9))
        return [self.low + i * step for i in range(int((self.high - self.low) / step + 1e-9) + 1)]


def figures(claim: ClaimGroup) -> Figures | None:
    """Return the figures of the cell that says most: refuted by most, or else with the tightest claim."""
    cells = [cell for cell in claim.cells if cell.result.curves and {"epsilon", "delta"} <= set(cell.result.claimed)]
    if not cells:
        return None
    cell = max(cells, key=lambda cell: (cell.result.verdict is Verdict.REFUTED, _ratio(cell.result)))
    curves = cell.result.curves
    assert curves is not None
    where = f" at {cell.label}" if cell.label else ""
    return Figures(
        caption=f"Worst pair of inputs{where}: privacy profile and trade-off function against the claim",
        svg=(_profile(cell, curves, f"{claim.claim}{where}"), _trade_off(cell, curves, f"{claim.claim}{where}")),
        tables=(
            _table("Privacy profile", "epsilon", "delta", curves.epsilon, curves.delta_lower, curves.delta_upper),
            _table(
                "Trade-off function",
                "type I error",
                "least type II error",
                curves.type_one,
                curves.type_two_lower,
                curves.type_two_upper,
            ),
        ),
    )


def _ratio(result: Result) -> float:
    """What was measured over what is claimed."""
    name = "delta" if result.claimed["delta"] > 0 else "epsilon"
    interval, claimed = result.measured.get(name), result.claimed[name]
    if interval is None:
        return 0.0
    side = interval.lower if result.verdict is Verdict.REFUTED or interval.upper is None else interval.upper
    return (side or 0.0) / claimed if claimed > 0 else math.inf


def _profile(cell: Cell, curves: Curves, what: str) -> str:
    epsilon, delta = cell.result.claimed["epsilon"], cell.result.claimed["delta"]
    highest = max(*curves.delta_upper, delta) or 1.0
    smallest = min((value for value in (delta, *curves.delta_upper) if value > 0), default=highest)
    log = 0 < delta < highest / _LOG_SPAN
    low = (
        10.0 ** math.floor(math.log10(max(min(smallest, delta), delta / 100, highest * 10.0**-_DECADES))) if log else 0
    )
    x = _Axis(label="epsilon", low=0, high=max(curves.epsilon[-1], epsilon) or 1.0, start=_LEFT, end=_RIGHT)
    label = "delta (log scale)" if log else "delta"
    y = _Axis(label=label, low=low, high=highest if log else highest * 1.05, start=_BOTTOM, end=_TOP, log=log)
    lines = _bounds(curves.epsilon, curves.delta_lower, curves.delta_upper, "delta of the mechanism")
    point = f"({format_number(epsilon)}, {format_number(delta)})"
    left, top = x.at(epsilon), y.at(delta)
    marker = f'<path d="M{left - 5:.1f} {top:.1f}h10M{left:.1f} {top - 5:.1f}v10" stroke-width="2"/>'
    marker += f'<circle cx="{left:.1f}" cy="{top:.1f}" r="5"/>'
    description = (
        f"delta falls from {_first(curves.delta_lower, curves.delta_upper, 0)} at epsilon "
        f"{format_number(curves.epsilon[0])} to {_first(curves.delta_lower, curves.delta_upper, -1)} at epsilon "
        f"{format_number(curves.epsilon[-1])}. The claim is the point {point}: it holds for this pair where the curve "
        "does not pass above it."
    )
    return _svg(
        f"profile-{cell.number}", f"Privacy profile, {what}", description, x, y, lines, marker, f"claim {point}"
    )


def _trade_off(cell: Cell, curves: Curves, what: str) -> str:
    epsilon, delta = cell.result.claimed["epsilon"], cell.result.claimed["delta"]
    x = _Axis(label="type I error", low=0, high=1, start=_LEFT, end=_RIGHT)
    y = _Axis(label="least type II error", low=0, high=1, start=_BOTTOM, end=_TOP)
    kink = (1 - delta) / (1 + math.exp(min(epsilon, _LARGEST_EXPONENT)))
    claimed = ((0.0, 1 - delta), (kink, kink), (1 - delta, 0.0), (1.0, 0.0))
    lines = _bounds(curves.type_one, curves.type_two_lower, curves.type_two_upper, "least error of the mechanism")
    lines.append(_Line(name="least error that the claim allows", points=claimed, dashes=_DOTTED))
    description = (
        "The least type II error of a test that tells the two inputs apart, by its type I error. The claim "
        f"(epsilon {format_number(epsilon)}, delta {format_number(delta)}) holds for this pair where the curve does "
        "not pass below the dotted line."
    )
    return _svg(f"trade-off-{cell.number}", f"Trade-off function, {what}", description, x, y, lines)


def _bounds(x: Sequence[float], lower: Sequence[float], upper: Sequence[float], name: str) -> list[_Line]:
    below, above = list(zip(x, lower, strict=True)), list(zip(x, upper, strict=True))
    if below == above:
        return [_Line(name=name, points=below, dashes=_SOLID)]
    return [
        _Line(name=f"{name}, at least", points=below, dashes=_SOLID),
        _Line(name=f"{name}, at most", points=above, dashes=_DASHED),
    ]


def _svg(
    name: str,
    title: str,
    description: str,
    x: _Axis,
    y: _Axis,
    lines: Sequence[_Line],
    marker: str = "",
    marker_name: str = "",
) -> str:
    parts = [
        f'<svg id="{name}" role="img" aria-labelledby="{name}-title {name}-desc" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="currentColor" font-size="11">',
        f'<title id="{name}-title">{escape(title)}</title>',
        f'<desc id="{name}-desc">{escape(description)}</desc>',
        f'<path d="M{_LEFT} {_TOP}V{_BOTTOM}H{_RIGHT}"/>',
    ]
    for value in x.ticks:
        parts.append(f'<path d="M{x.at(value):.1f} {_BOTTOM}v4"/>')
        parts.append(_text(x.at(value), _BOTTOM + 16, format_number(value, digits=3), "middle"))
    for value in y.ticks:
        parts.append(f'<path d="M{_LEFT} {y.at(value):.1f}h-4"/>')
        parts.append(_text(_LEFT - 7, y.at(value) + 4, format_number(value, digits=3), "end"))
    parts.append(_text((_LEFT + _RIGHT) / 2, _BOTTOM + 32, x.label, "middle"))
    middle = (_TOP + _BOTTOM) / 2
    parts.append(_text(12, middle, y.label, "middle", turned=True))
    for line in lines:
        points = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in line.points)
        parts.append(f'<polyline points="{points}"{_style(line.dashes)}/>')
    parts.append(marker)
    legend: list[tuple[Callable[[float], str], str]] = [(_sample(line), line.name) for line in lines]
    if marker:
        legend.append((lambda at: f'<circle cx="{_LEFT + 12}" cy="{at - 4:.1f}" r="5"/>', marker_name))
    for i, (sample, text) in enumerate(legend):
        at = _BOTTOM + 52 + 17 * i
        parts.append(sample(at) + _text(_LEFT + 32, at, text, "start"))
    return "\n".join(part for part in [*parts, "</svg>"] if part)


def _sample(line: _Line) -> Callable[[float], str]:
    return lambda at: f'<path d="M{_LEFT} {at - 4:.1f}h24"{_style(line.dashes)}/>'


def _style(dashes: str) -> str:
    return ' stroke-width="2"' + (f' stroke-dasharray="{dashes}"' if dashes else "")


def _text(x: float, y: float, text: str, anchor: str, *, turned: bool = False) -> str:
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="currentColor" stroke="none"{turn}>'
        f"{escape(text)}</text>"
    )


def _first(lower: Sequence[float], upper: Sequence[float], at: int) -> str:
    return format_interval(Interval(lower=lower[at], upper=upper[at]))


def _table(
    caption: str, x_name: str, y_name: str, x: Sequence[float], lower: Sequence[float], upper: Sequence[float]
) -> Table:
    exact = list(lower) == list(upper)
    columns = (lower,) if exact else (lower, upper)
    return Table(
        caption=caption,
        headers=(x_name, y_name) if exact else (x_name, f"{y_name}, at least", f"{y_name}, at most"),
        rows=tuple(tuple(format_number(value) for value in row) for row in zip(x, *columns, strict=True)),
    )
