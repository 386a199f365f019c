"""What axes and captions of figures say: the quantity, and the point to look at."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.groups import LabelledResult
from dpaudit.reporting.numbers import format_interval, format_number


def quantity(cells: Sequence[LabelledResult], *, otherwise: str) -> str:
    """Return what the values are of, in the words of the scope, where all cells say the same."""
    said = {cell.result.scope.partition(";")[0].strip() for cell in cells}
    return said.pop() if len(said) == 1 and "" not in said else otherwise


def at_setting(cell: LabelledResult) -> str:
    """Return the setting of a cell as the beginning of a sentence."""
    return f"At {cell.label}," if cell.label else "Here,"


def nearest(cells: Sequence[LabelledResult], claimed: str) -> str:
    """Return a sentence about the cell that says most: the largest violation, or the value nearest to what is claimed.

    Parameters
    ----------
    cells
        Cells with a measured ``value``.
    claimed
        The name of the claimed number, which the sentence calls so too.
    """
    refuted = [cell for cell in cells if cell.result.verdict is Verdict.REFUTED]
    absolute = any(cell.result.claimed[claimed] == 0 for cell in cells)
    choose = max if refuted else min
    cell = choose(refuted or cells, key=lambda cell: _distance(cell, claimed, absolute=absolute))
    measured, number = cell.result.measured["value"], cell.result.claimed[claimed]
    most = "the violation is largest" if refuted else "they are nearest"
    share = "" if absolute or len(cells) == 1 else " in proportion"
    return (
        f"{at_setting(cell)} where {most}{share}, the measured value is {format_interval(measured)} and the {claimed} "
        f"{format_number(number)}."
    )


def furthest(cells: Sequence[LabelledResult]) -> str:
    """Return a sentence about the cell whose measured value is furthest from the published number."""
    cell = max(cells, key=lambda cell: _distance(cell, "published", absolute=False))
    measured, number = cell.result.measured["value"], cell.result.claimed["published"]
    return (
        f"{at_setting(cell)} where they differ most in proportion, {format_number(number)} is published and "
        f"{format_interval(measured)} is measured."
    )


def _distance(cell: LabelledResult, claimed: str, *, absolute: bool) -> float:
    """How far a measured value is from a claimed number; as a share of the larger one unless ``absolute``."""
    measured, number = cell.result.measured["value"], cell.result.claimed[claimed]
    known = [side for side in (measured.lower, measured.upper) if side is not None]
    value = measured.estimate if measured.estimate is not None else sum(known) / len(known) if known else number
    largest = 1.0 if absolute else max(abs(value), abs(number))
    return abs(value - number) / largest if largest else 0.0
