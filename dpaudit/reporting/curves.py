"""Figures of utility claims: the value and its bounds along a parameter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dpaudit.claims.evidence import Interval
from dpaudit.reporting.drawing import BOTTOM, LEFT, RIGHT, STYLES, TOP, Axis, Figures, Line, Point, Table, svg
from dpaudit.reporting.groups import Cell, ClaimGroup
from dpaudit.reporting.numbers import format_interval, format_number

FEWEST_POINTS = 5
"""Fewer values of a parameter are a table, not a curve."""

_DRAWN = ("bound", "exact")
_LOG_SPAN = 20


def drawn_utility(claim: ClaimGroup) -> Figures | None:
    """Return one drawing for every combination of the other parameters, along the numeric one with most values.

    Numbers beside the value are drawn where their name begins with ``bound`` or ``exact``.
    """
    cells = [cell for cell in claim.cells if cell.result.kind == "utility" and "value" in cell.result.measured]
    along = _parameter(claim, cells)
    if along is None:
        return None
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        rest = [(name, value) for name, value in zip(claim.varying, cell.values, strict=True) if name != along]
        groups.setdefault(", ".join(f"{name}={value}" for name, value in rest), []).append(cell)
    svgs, tables = [], []
    for label, members in groups.items():
        members.sort(key=lambda cell: float(cell.result.parameters[along]))
        positions = [float(cell.result.parameters[along]) for cell in members]
        if len(set(positions)) < FEWEST_POINTS or len(set(positions)) < len(positions):
            continue
        title = f"{claim.claim}{' at ' + label if label else ''}"
        svgs.append(_drawing(f"curves-{members[0].number}", title, along, positions, members))
        tables.append(_table(title, along, positions, members))
    if not svgs:
        return None
    return Figures(
        caption=f"Measured value, with its confidence interval, and bounds along {along}",
        svg=tuple(svgs),
        tables=tuple(tables),
    )


def _parameter(claim: ClaimGroup, cells: Sequence[Cell]) -> str | None:
    """Return the numeric parameter with most values, if there are enough."""
    values = {
        name: {cell.result.parameters[name] for cell in cells}
        for name in claim.varying
        if all(_is_number(cell.result.parameters.get(name)) for cell in cells)
    }
    most = max(values, key=lambda name: len(values[name]), default=None)
    return most if most is not None and len(values[most]) >= FEWEST_POINTS else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _series(cell: Cell) -> Mapping[str, Interval]:
    """What is drawn of a cell, by name."""
    measured, claimed = cell.result.measured, cell.result.claimed
    beside = {name: value for name, value in measured.items() if name.startswith(_DRAWN)}
    own = {} if any(name.startswith("bound") for name in beside) else {"claimed": Interval.exact(claimed["bound"])}
    return {"measured": measured["value"], **own, **beside}


def _middle(interval: Interval) -> float | None:
    return interval.lower if interval.estimate is None else interval.estimate


def _drawing(name: str, title: str, along: str, positions: Sequence[float], cells: Sequence[Cell]) -> str:
    lines: dict[str, list[Point]] = {}
    for position, cell in zip(positions, cells, strict=True):
        for series, interval in _series(cell).items():
            value = _middle(interval)
            if value is not None and value > 0 and math.isfinite(value):
                lines.setdefault(series, []).append((position, value))
    heights = [value for points in lines.values() for _, value in points] or [1.0]
    low = 10.0 ** math.floor(math.log10(min(heights)))
    high = max(10.0 ** math.ceil(math.log10(max(heights))), 10 * low)
    x_log = positions[0] > 0 and positions[-1] > _LOG_SPAN * positions[0]
    x = Axis(label=along, low=positions[0], high=positions[-1], start=LEFT, end=RIGHT, log=x_log)
    y = Axis(label="value (log scale)", low=low, high=high, start=BOTTOM, end=TOP, log=True)
    bars = []
    for position, cell in zip(positions, cells, strict=True):
        lower, upper = cell.result.measured["value"].lower, cell.result.measured["value"].upper
        if lower is not None and upper is not None and lower < upper:
            top, bottom = y.at(upper), y.at(lower)
            bars.append(f'<path d="M{x.at(position):.1f} {top:.1f}V{bottom:.1f}" stroke-width="2"/>')
    drawn = [
        Line(name=series, points=points, dashes=dashes)
        for (series, points), dashes in zip(lines.items(), STYLES, strict=False)
    ]
    first, last = (format_interval(cell.result.measured["value"]) for cell in (cells[0], cells[-1]))
    description = (
        f"The measured value goes from {first} at {along} {format_number(positions[0])} to {last} at {along} "
        f"{format_number(positions[-1])}; bars are confidence intervals. All values are in the table."
    )
    return svg(name, title, description, x, y, drawn, "".join(bars))


def _table(title: str, along: str, positions: Sequence[float], cells: Sequence[Cell]) -> Table:
    series = [_series(cell) for cell in cells]
    names = tuple(dict.fromkeys(name for values in series for name in values))
    return Table(
        caption=title,
        headers=(along, *names),
        rows=tuple(
            (format_number(position), *(format_interval(values[name]) if name in values else "" for name in names))
            for position, values in zip(positions, series, strict=True)
        ),
    )
