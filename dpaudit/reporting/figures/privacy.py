"""The privacy profile and the trade-off function of one cell of a claim."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpaudit.claims.evidence import Curves, Interval
from dpaudit.claims.guarantees import ApproximateDP
from dpaudit.claims.record import Result
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.figures.drawing import (
    BOTTOM,
    DASHED,
    DOTTED,
    LEFT,
    RIGHT,
    SOLID,
    TABLE_DIGITS,
    TOP,
    Axis,
    Figures,
    Line,
    Table,
    svg,
)
from dpaudit.reporting.groups import ClaimGroup, LabelledResult
from dpaudit.reporting.numbers import format_interval, format_number
from dpaudit.reporting.reading import most_telling

_LOG_SPAN = 50
"""A claimed delta this many times smaller than the largest one shown makes the axis logarithmic."""
_DECADES = 12
_NAMES = ("epsilon", "delta")
_LARGEST_EXPONENT = 700.0
_READING = {
    True: "breaks: its profile passes above the marked point",
    False: "is not seen to break: its profile does not pass above the marked point",
}


def privacy_figures(claim: ClaimGroup) -> Figures | None:
    """Return the figures of the cell that says most; where it has no curves, of one refuted by most or the tightest."""
    cells = [
        cell
        for cell in claim.cells
        if cell.result.curves and cell.result.guarantee == ApproximateDP.kind and {*_NAMES} <= {*cell.result.claimed}
    ]
    if not cells:
        return None
    telling = most_telling(claim)
    cell = max(
        cells,
        key=lambda cell: (cell.number == telling.number, cell.result.verdict is Verdict.REFUTED, _ratio(cell.result)),
    )
    curves = cell.result.curves
    assert curves is not None
    where = f" at {cell.label}" if cell.label else ""
    point = cell.result.claimed["epsilon"], cell.result.claimed["delta"]
    # Where samples bound the profile from below, the claim may be refuted by an event that shows more.
    passes = min(curves.delta_upper) < 1 or np.interp(point[0], curves.epsilon, curves.delta_lower, right=0) > point[1]
    return Figures(
        caption=f"Worst pair of inputs{where}: privacy profile and trade-off function against the claim, which the "
        f"mechanism {_READING[cell.result.verdict is Verdict.REFUTED and bool(passes)]}",
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


def _profile(cell: LabelledResult, curves: Curves, what: str) -> str:
    epsilon, delta = cell.result.claimed["epsilon"], cell.result.claimed["delta"]
    shown = curves.delta_lower if min(curves.delta_upper) == 1 else curves.delta_upper
    highest = max(*shown, delta) or 1.0
    smallest = min((value for value in (delta, *shown) if value > 0), default=highest)
    log = 0 < delta < highest / _LOG_SPAN
    low = (
        10.0 ** math.floor(math.log10(max(min(smallest, delta), delta / 100, highest * 10.0**-_DECADES))) if log else 0
    )
    x = Axis(
        label="epsilon (privacy budget)", low=0, high=max(curves.epsilon[-1], epsilon) or 1.0, start=LEFT, end=RIGHT
    )
    label = "delta (probability, log scale)" if log else "delta (probability)"
    y = Axis(label=label, low=low, high=highest if log else highest * 1.05, start=BOTTOM, end=TOP, log=log)
    lines = _bounds(curves.epsilon, curves.delta_lower, curves.delta_upper, "delta of the mechanism")
    point = f"({format_number(epsilon)}, {format_number(delta)})"
    description = (
        f"delta falls from {_first(curves.delta_lower, curves.delta_upper, 0)} at epsilon "
        f"{format_number(curves.epsilon[0])} to {_first(curves.delta_lower, curves.delta_upper, -1)} at epsilon "
        f"{format_number(curves.epsilon[-1])}. The claim is the point {point}: it holds for this pair where the curve "
        "does not pass above it."
    )
    return svg(
        f"profile-{cell.number}",
        f"Privacy profile, {what}",
        description,
        x,
        y,
        lines,
        marker=(epsilon, delta),
        marker_name=f"claim {point}",
    )


def _trade_off(cell: LabelledResult, curves: Curves, what: str) -> str:
    epsilon, delta = cell.result.claimed["epsilon"], cell.result.claimed["delta"]
    x = Axis(label="type I error (probability)", low=0, high=1, start=LEFT, end=RIGHT)
    y = Axis(label="least type II error (probability)", low=0, high=1, start=BOTTOM, end=TOP)
    kink = (1 - delta) / (1 + math.exp(min(epsilon, _LARGEST_EXPONENT)))
    claimed = ((0.0, 1 - delta), (kink, kink), (1 - delta, 0.0), (1.0, 0.0))
    lines = _bounds(curves.type_one, curves.type_two_lower, curves.type_two_upper, "least error of the mechanism")
    lines.append(Line(name="least error that the claim allows", points=claimed, dashes=DOTTED))
    description = (
        "The least type II error of a test that tells the two inputs apart, by its type I error. The claim "
        f"(epsilon {format_number(epsilon)}, delta {format_number(delta)}) holds for this pair where the curve does "
        "not pass below the dotted line."
    )
    return svg(f"trade-off-{cell.number}", f"Trade-off function, {what}", description, x, y, lines)


def _bounds(x: Sequence[float], lower: Sequence[float], upper: Sequence[float], name: str) -> list[Line]:
    below, above = list(zip(x, lower, strict=True)), list(zip(x, upper, strict=True))
    if below == above:
        return [Line(name=name, points=below, dashes=SOLID)]
    # From samples, one side is bounded alone.
    if min(upper) == 1:
        return [Line(name=f"{name}, at least", points=below, dashes=SOLID)]
    if not max(lower):
        return [Line(name=f"{name}, at most", points=above, dashes=SOLID)]
    return [
        Line(name=f"{name}, at least", points=below, dashes=SOLID),
        Line(name=f"{name}, at most", points=above, dashes=DASHED),
    ]


def _first(lower: Sequence[float], upper: Sequence[float], at: int) -> str:
    return format_interval(Interval(lower=lower[at], upper=None if min(upper) == 1 else upper[at]))


def _table(
    caption: str, x_name: str, y_name: str, x: Sequence[float], lower: Sequence[float], upper: Sequence[float]
) -> Table:
    exact = list(lower) == list(upper)
    columns = (lower,) if exact else (lower, upper)
    return Table(
        caption=caption,
        headers=(x_name, y_name) if exact else (x_name, f"{y_name}, at least", f"{y_name}, at most"),
        rows=tuple(
            tuple(format_number(value, digits=TABLE_DIGITS) for value in row) for row in zip(x, *columns, strict=True)
        ),
    )
