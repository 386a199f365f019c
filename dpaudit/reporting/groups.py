"""Results by target and claim, with the parameters that vary among a claim's cells told from the others.

Targets and claims that stand in a paper come in the paper's order, all others in the order of the record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dpaudit.claims.entries import ClaimEntry, ErratumEntry
from dpaudit.claims.record import UNKNOWN_KIND, Record, Result, SystemEntry, plain
from dpaudit.reporting.numbers import format_number

_OF_THE_CLAIM = ("kind", "view", "relation", "statement", "source")

_CITABLE = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+")
"""Ids with a dot, as those of papers' claims; no other part of a page has one."""

ABSENT = "-"
"""Stands for a parameter that a cell does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What tells the results of a claim apart, where only some of them are at hand.

    Attributes
    ----------
    varying
        Names of the parameters that differ between cells.
    distinct, by_method
        Whether these tell all cells apart, and whether they do with the method.
    """

    varying: tuple[str, ...]
    distinct: bool
    by_method: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledResult:
    """One result among those of its claim, with what tells it from them.

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
    """The cells of one claim about one target.

    Attributes
    ----------
    entry
        What is the same for all results of the claim.
    varying
        Names of the parameters that differ between cells.
    constant
        The other parameters as text.
    anchor
        Place of the claim on a page: its id, where that is one that can be cited and the claim has no other place.
    """

    target: str
    claim: str
    entry: ClaimEntry
    cells: tuple[LabelledResult, ...]
    varying: tuple[str, ...]
    constant: str
    anchor: str
    _shared: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def shared(self, attribute: str) -> str:
        """Return what all cells say of an attribute; empty where they differ.

        Of the claim itself, what all cells say that say anything: a cell that raised may not know it.
        """
        if attribute not in self._shared:
            said = {getattr(cell.result, attribute) for cell in self.cells}
            if attribute in _OF_THE_CLAIM:
                said -= {None, "", UNKNOWN_KIND}
            self._shared[attribute] = str(said.pop() or "") if len(said) == 1 else ""
        return self._shared[attribute]

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
    """The claims of one target, and the errata that concern it."""

    name: str
    entry: SystemEntry | None
    claims: tuple[ClaimGroup, ...]
    errata: tuple[ErratumEntry, ...] = ()

    @property
    def title(self) -> str:
        """Name of the target and what it is."""
        return f"{self.name}: {self.entry.title}" if self.entry and self.entry.title else self.name

    def notation(self, claim: ClaimGroup) -> str:
        """How inputs and outputs are written in the view of a claim; empty where nothing says it."""
        return self.entry.notations.get(claim.shared("view"), "") if self.entry else ""

    @property
    def cells(self) -> Iterator[tuple[ClaimGroup, LabelledResult]]:
        """All cells, each with its claim."""
        return ((claim, cell) for claim in self.claims for cell in claim.cells)


def group_results(
    record: Record, *, numbers: Sequence[int] | None = None, labels: Mapping[tuple[str, str], Labels] | None = None
) -> tuple[TargetGroup, ...]:
    """Group the results of a record by target and claim.

    Claims are sorted by their places, those without one last, and targets by their first places; equal ones stay in the
    order in which they first occur.

    Parameters
    ----------
    record
        The record.
    numbers, labels
        Of a part of a larger record: the positions of the results there, and what tells those of a claim apart there,
        by target and claim.
    """
    found: dict[str, dict[str, list[tuple[int, Result]]]] = {}
    for number, result in zip(numbers or range(1, len(record.results) + 1), record.results, strict=True):
        found.setdefault(result.target, {}).setdefault(result.claim, []).append((number, result))
    placed = _placed_errata(record)
    anchors = _anchors(found)
    groups = [
        TargetGroup(
            name=target,
            entry=record.systems.get(target),
            claims=tuple(
                _claim_group(
                    target,
                    claim,
                    record.claims[claim],
                    claims[claim],
                    anchors[target, claim],
                    None if labels is None else labels[target, claim],
                )
                for claim in sorted(claims, key=lambda claim: claim_order(record.claims[claim]))
            ),
            errata=(*(record.systems[target].errata if target in record.systems else ()), *placed.get(target, ())),
        )
        for target, claims in found.items()
    ]
    return tuple(sorted(groups, key=lambda group: claim_order(group.claims[0].entry)))


def claim_order(entry: ClaimEntry) -> tuple[Any, ...]:
    """Key by which claims sort: by place, what no paper says after what a paper says there, and controls last."""
    return bool(entry.bug), entry.sort, entry.ours


def _placed_errata(record: Record) -> Mapping[str, list[ErratumEntry]]:
    """Errata of papers by the targets that they concern."""
    found: dict[str, list[ErratumEntry]] = {}
    for paper in record.papers.values():
        for erratum in paper.errata:
            placed = replace(erratum, where=f"{paper.citation}, {erratum.where}")
            for target in dict.fromkeys(erratum.systems):
                found.setdefault(target, []).append(placed)
    return found


def format_value(value: Any) -> str:
    """Return a parameter's value as text, in full."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return format_number(value, digits=17)
    return json.dumps(plain(value), ensure_ascii=False)


def _anchors(found: Mapping[str, Mapping[str, list[tuple[int, Result]]]]) -> dict[tuple[str, str], str]:
    """Places of claims on a page: the id for the first target, and with a number for all others."""
    anchors, cited = {}, set()
    for target, claims in found.items():
        for claim, results in claims.items():
            citable = _CITABLE.fullmatch(claim) is not None and claim not in cited
            anchors[target, claim] = claim if citable else f"claim-{results[0][0]}"
            cited.add(claim)
    return anchors


def _claim_group(
    target: str,
    claim: str,
    entry: ClaimEntry,
    results: list[tuple[int, Result]],
    anchor: str,
    labels: Labels | None,
) -> ClaimGroup:
    tables = [{name: format_value(value) for name, value in result.parameters.items()} for _, result in results]
    names = list(dict.fromkeys(name for table in tables for name in table))
    if labels is not None:
        varying = labels.varying
    else:
        varying = tuple(name for name in names if len({table.get(name, ABSENT) for table in tables}) > 1)
    rows = [tuple(table.get(name, ABSENT) for name in varying) for table in tables]
    if labels is not None:
        distinct, by_method = labels.distinct, labels.by_method
    else:
        distinct = len(set(rows)) == len(rows)
        by_method = len({(row, result.method) for row, (_, result) in zip(rows, results, strict=True)}) == len(rows)
    cells = []
    for i, ((number, result), values) in enumerate(zip(results, rows, strict=True), start=1):
        label = _named(varying, values)
        if not distinct:
            extra = result.method if by_method else f"cell {i if labels is None else number}"
            label = f"{label}, {extra}" if label else extra
        cells.append(LabelledResult(number=number, result=result, values=values, label=label))
    constant = [name for name in names if name not in varying]
    return ClaimGroup(
        target=target,
        claim=claim,
        entry=entry,
        cells=tuple(cells),
        varying=varying,
        constant=_named(constant, [tables[0][name] for name in constant]),
        anchor=anchor,
    )


def _named(names: list[str] | tuple[str, ...], values: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))
