"""Results by target and claim, with the parameters that vary among a claim's cells told from the others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dpaudit.claims.record import Record, Result, SystemEntry, plain
from dpaudit.reporting.numbers import format_number

_OF_THE_CLAIM = ("kind", "view", "relation", "statement", "source")

ABSENT = "-"
"""Stands for a parameter that a cell does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One result among those of its claim.

    Attributes
    ----------
    number
        Position of the result in the record, from 1.
    values
        Values of the parameters that vary.
    label
        The same as text; empty where the claim has one cell.
    """

    number: int
    result: Result
    values: tuple[str, ...]
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimGroup:
    """The cells of one claim.

    Attributes
    ----------
    varying
        Names of the parameters that differ between cells.
    constant
        The other parameters as text.
    """

    target: str
    claim: str
    cells: tuple[Cell, ...]
    varying: tuple[str, ...]
    constant: str

    def shared(self, attribute: str) -> str:
        """Return what all cells say of an attribute; empty where they differ.

        Of the claim itself, what all cells say that say anything: a cell that raised may not know it.
        """
        said = {getattr(cell.result, attribute) for cell in self.cells}
        if attribute in _OF_THE_CLAIM:
            said -= {None, "", "unknown"}
        return str(said.pop() or "") if len(said) == 1 else ""

    @property
    def anchor(self) -> str:
        """Place of the claim on a page."""
        return f"claim-{self.cells[0].number}"

    @property
    def ok(self) -> bool:
        """Whether every cell is as expected."""
        return all(cell.result.ok for cell in self.cells)

    @property
    def nature(self) -> str:
        """Kind of the claim, and for privacy the view and the neighbouring relation."""
        words = [self.shared("kind")]
        words += [f"{name}: {self.shared(name)}" for name in ("view", "relation") if self.shared(name)]
        return ", ".join(word for word in words if word)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetGroup:
    """The claims of one target, in the order of the record."""

    name: str
    entry: SystemEntry | None
    claims: tuple[ClaimGroup, ...]

    @property
    def title(self) -> str:
        """Name of the target and what it is."""
        return f"{self.name}: {self.entry.title}" if self.entry and self.entry.title else self.name

    def notation(self, claim: ClaimGroup) -> str:
        """How inputs and outputs are written in the view of a claim; empty where nothing says it."""
        return self.entry.notations.get(claim.shared("view"), "") if self.entry else ""

    @property
    def cells(self) -> Iterator[tuple[ClaimGroup, Cell]]:
        """All cells, each with its claim."""
        return ((claim, cell) for claim in self.claims for cell in claim.cells)


def group_results(record: Record) -> tuple[TargetGroup, ...]:
    """Group the results of a record by target and claim, each in the order in which it first occurs."""
    found: dict[str, dict[str, list[tuple[int, Result]]]] = {}
    for number, result in enumerate(record.results, start=1):
        found.setdefault(result.target, {}).setdefault(result.claim, []).append((number, result))
    return tuple(
        TargetGroup(
            name=target,
            entry=record.systems.get(target),
            claims=tuple(_claim_group(target, claim, results) for claim, results in claims.items()),
        )
        for target, claims in found.items()
    )


def format_value(value: Any) -> str:
    """Return a parameter's value as text, in full."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return format_number(value, digits=17)
    return json.dumps(plain(value), ensure_ascii=False)


def _claim_group(target: str, claim: str, results: list[tuple[int, Result]]) -> ClaimGroup:
    tables = [{name: format_value(value) for name, value in result.parameters.items()} for _, result in results]
    names = list(dict.fromkeys(name for table in tables for name in table))
    varying = tuple(name for name in names if len({table.get(name, ABSENT) for table in tables}) > 1)
    rows = [tuple(table.get(name, ABSENT) for name in varying) for table in tables]
    distinct = len(set(rows)) == len(rows)
    by_method = len({(row, result.method) for row, (_, result) in zip(rows, results, strict=True)}) == len(rows)
    cells = []
    for i, ((number, result), values) in enumerate(zip(results, rows, strict=True), start=1):
        label = _named(varying, values)
        if not distinct:
            extra = result.method if by_method else f"cell {i}"
            label = f"{label}, {extra}" if label else extra
        cells.append(Cell(number=number, result=result, values=values, label=label))
    constant = [name for name in names if name not in varying]
    return ClaimGroup(
        target=target,
        claim=claim,
        cells=tuple(cells),
        varying=varying,
        constant=_named(constant, [tables[0][name] for name in constant]),
    )


def _named(names: list[str] | tuple[str, ...], values: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))
