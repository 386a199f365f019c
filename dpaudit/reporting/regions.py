"""Region maps: the verdicts of a claim over two of its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.groups import ClaimGroup, LabelledResult
from dpaudit.reporting.numbers import finite_number

_MOST_MAPS = 12
_MOST_OF_THEM = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionMap:
    """Verdicts over a grid; a cell is None where the claim was not audited.

    Attributes
    ----------
    setting
        The parameters that vary but are fixed here, as text.
    down, across
        Names of the parameters along the rows and the columns.
    columns
        Values of ``across``.
    rows
        Each the value of ``down`` and a cell for every column.
    """

    setting: str
    down: str
    across: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[LabelledResult | None, ...]], ...]

    @property
    def verdicts(self) -> set[Verdict]:
        """The verdicts that occur."""
        return {cell.result.verdict for _, row in self.rows for cell in row if cell}


def folded(maps: Sequence[RegionMap]) -> tuple[tuple[RegionMap, ...], tuple[str, ...]]:
    """Return the maps that show more than one verdict, and a sentence for the others of each verdict."""
    shown = tuple(each for each in maps if len(each.verdicts) > 1)
    settings: dict[Verdict, list[RegionMap]] = {}
    for each in maps:
        if len(each.verdicts) == 1:
            settings.setdefault(each.verdicts.pop(), []).append(each)
    return shown, tuple(_folded(verdict, alike) for verdict, alike in settings.items())


def _folded(verdict: Verdict, alike: Sequence[RegionMap]) -> str:
    first = alike[0]
    where = "; ".join(f"with {each.setting}" for each in alike if each.setting)
    count = sum(cell is not None for each in alike for _, row in each.rows for cell in row)
    names = f"{first.down} and {first.across}"
    return f"{verdict} at every audited pair of {names}{f', {where}' if where else ''} ({count} settings)"


def region_maps(claim: ClaimGroup) -> tuple[RegionMap, ...]:
    """Return the maps of a claim, over the two numeric parameters of the most values; one for each setting of the rest.

    None where all verdicts are the same, where there are not two such parameters or too few cells to make a map, or so
    many settings that the table of all cells is easier to read.
    """
    if len({cell.result.verdict for cell in claim.cells}) < 2:
        return ()
    values = {name: _values(name, claim.cells) for name in claim.varying}
    free = _free(claim, values)
    numeric = sorted((name for name in free if len(values[name]) > 1), key=lambda name: -len(values[name]))
    if len(numeric) < 2 or len(values[numeric[0]]) < 3:
        return ()
    across, down = numeric[:2]
    rest = [name for name in free if name not in (across, down)]
    settings: dict[str, dict[tuple[float, float], LabelledResult]] = {}
    for cell in claim.cells:
        place = (_number(cell, down), _number(cell, across))
        text = ", ".join(f"{name}={_text(claim, cell, name)}" for name in rest)
        if place[0] is not None and place[1] is not None:
            settings.setdefault(text, {}).setdefault((place[0], place[1]), cell)
    maps = [_map(claim, text, down, across, cells) for text, cells in settings.items() if len(cells) > 3]
    return tuple(maps) if len(maps) <= _MOST_MAPS else ()


def _free(claim: ClaimGroup, values: Mapping[str, set[float]]) -> list[str]:
    """Parameters that vary, without numbers that the others determine, as one budget does another."""
    free = list(claim.varying)
    while determined := [name for name in free if len(values[name]) > 1 and _is_determined(claim, name, free)]:
        free.remove(max(determined, key=lambda name: len(values[name])))
    return free


def _is_determined(claim: ClaimGroup, name: str, free: Sequence[str]) -> bool:
    others = [other for other in free if other != name]
    seen: dict[tuple[str, ...], set[str]] = {}
    for cell in claim.cells:
        seen.setdefault(tuple(_text(claim, cell, other) for other in others), set()).add(_text(claim, cell, name))
    alone = sum(len(texts) == 1 for texts in seen.values())
    # A few cells may be set up in another way. Where the settings are no more than the values, as along a line, nothing
    # says which of the parameters depends on which.
    return alone >= _MOST_OF_THEM * len(seen) and len(seen) > len({_text(claim, cell, name) for cell in claim.cells})


def _map(
    claim: ClaimGroup, setting: str, down: str, across: str, cells: dict[tuple[float, float], LabelledResult]
) -> RegionMap:
    names = {("down", place[0]): _text(claim, cell, down) for place, cell in cells.items()}
    names |= {("across", place[1]): _text(claim, cell, across) for place, cell in cells.items()}
    lines, columns = (sorted({place[side] for place in cells}) for side in (0, 1))
    return RegionMap(
        setting=setting,
        down=down,
        across=across,
        columns=tuple(names["across", value] for value in columns),
        rows=tuple((names["down", line], tuple(cells.get((line, column)) for column in columns)) for line in lines),
    )


def _number(cell: LabelledResult, name: str) -> float | None:
    return finite_number(cell.result.parameters.get(name))


def _values(name: str, cells: Sequence[LabelledResult]) -> set[float]:
    return {value for cell in cells if (value := _number(cell, name)) is not None}


def _text(claim: ClaimGroup, cell: LabelledResult, name: str) -> str:
    return cell.values[claim.varying.index(name)]
