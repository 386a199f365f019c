"""The values of a rate claim against the claimed growth."""

from __future__ import annotations

from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.figures.drawing import (
    BOTTOM,
    DASHED,
    LEFT,
    RIGHT,
    TABLE_DIGITS,
    TOP,
    Figures,
    Line,
    Table,
    spanning,
    svg,
    titled,
)
from dpaudit.reporting.figures.saying import quantity
from dpaudit.reporting.groups import ClaimGroup
from dpaudit.reporting.numbers import format_interval, format_number
from dpaudit.reporting.wording import EXPONENTS

_FIT = "exponent"


def rate_figures(claim: ClaimGroup) -> Figures | None:
    """Return the figure of the cell that says most: a refuted one, or else the last."""
    cells = [cell for cell in claim.cells if cell.result.growth and set(EXPONENTS) & set(cell.result.claimed)]
    if not cells:
        return None
    cell = max(cells, key=lambda cell: (cell.result.verdict is Verdict.REFUTED, cell.number))
    growth = cell.result.growth
    exponent = next(cell.result.claimed[name] for name in EXPONENTS if name in cell.result.claimed)
    assert growth is not None
    if not all(0 < value < float("inf") for value in (*growth.points, *growth.values, *growth.shape)):
        return None
    try:
        claimed = [
            growth.values[-1] * (point / growth.points[-1]) ** exponent * factor / growth.shape[-1]
            for point, factor in zip(growth.points, growth.shape, strict=True)
        ]
    except OverflowError:
        return None
    if not all(0 < value < float("inf") for value in claimed):
        return None
    where = f" at {cell.label}" if cell.label else ""
    x = spanning(titled(growth.variable), growth.points, LEFT, RIGHT, log=True)
    y = spanning(quantity([cell], otherwise="value"), [*growth.values, *claimed], BOTTOM, TOP, log=True)
    lines = [
        Line(name="value", points=list(zip(growth.points, growth.values, strict=True)), marked=True),
        Line(
            name="claimed growth, through the last value",
            points=list(zip(growth.points, claimed, strict=True)),
            dashes=DASHED,
        ),
    ]
    factor = " times the claimed further factor" if set(growth.shape) != {1.0} else ""
    fitted = cell.result.measured.get(_FIT)
    found = f" Found: {format_interval(fitted)}." if fitted and not factor else ""
    description = (
        f"Both axes are logarithmic, so that a power of {growth.variable} is a straight line. Claimed: exponent "
        f"{format_number(exponent)}{factor}.{found} A value that grows faster than claimed lies below the dashed line "
        "on the left."
    )
    name = f"growth-{cell.number}"
    return Figures(
        caption=f"Growth with {titled(growth.variable)}{where}, against the claim: {cell.result.verdict}, claimed "
        f"exponent {format_number(exponent)}{factor}"
        + (f", found {format_interval(fitted)}" if fitted and not factor else ""),
        svg=(svg(name, f"Growth, {claim.claim}{where}", description, x, y, lines),),
        tables=(
            Table(
                caption="Growth",
                headers=(growth.variable, "value", "claimed growth"),
                rows=tuple(
                    tuple(format_number(number, digits=TABLE_DIGITS) for number in row)
                    for row in zip(growth.points, growth.values, claimed, strict=True)
                ),
            ),
        ),
    )
