"""The record as one HTML page that needs neither network nor script."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from dpaudit.claims.record import Record
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.figures import figures, trust_figure
from dpaudit.reporting.groups import ClaimGroup, group_results
from dpaudit.reporting.regions import region_maps
from dpaudit.reporting.wording import (
    clean,
    conclusion,
    counts,
    headline,
    provenance,
    quantities,
    reason,
    standing,
    verify_command,
    witness_lines,
    witness_link,
)

if TYPE_CHECKING:
    from jinja2 import Template

SYMBOLS = {
    Verdict.PROVED: "✓",
    Verdict.CERTIFIED: "✓",
    Verdict.CONSISTENT: "≈",
    Verdict.REFUTED: "✗",
    Verdict.VACUOUS: "∅",
    Verdict.INAPPLICABLE: "–",
    Verdict.INCONCLUSIVE: "?",
    Verdict.ERROR: "!",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of numbers in a claim's table, one entry per cell."""

    title: str
    entries: tuple[str, ...]


def render_html(record: Record) -> str:
    """Return the record as one self-contained HTML page."""
    groups = group_results(record)
    return clean(
        template("report.html.j2").render(
            record=record,
            groups=groups,
            counts=counts(record),
            conclusion=conclusion(record),
            provenance=provenance(record),
            failed=[(claim, cell) for target in groups for claim, cell in target.cells if not cell.result.ok],
        )
    )


def _columns(claim: ClaimGroup) -> list[Column]:
    rows = [{row.name: row for row in quantities(cell.result)} for cell in claim.cells]
    labels = {name: quantity.label for row in rows for name, quantity in row.items()}
    columns = []
    for name, label in labels.items():
        claimed = tuple(row[name].claimed if name in row else "" for row in rows)
        measured = tuple(row[name].measured if name in row else "" for row in rows)
        if any(claimed):
            columns.append(Column(title=f"{label} claimed", entries=claimed))
            columns.append(Column(title=f"{label} measured", entries=measured))
        else:
            columns.append(Column(title=label, entries=measured))
    return columns


def _tally(claim: ClaimGroup) -> dict[Verdict, int]:
    verdicts = [cell.result.verdict for cell in claim.cells]
    return {verdict: verdicts.count(verdict) for verdict in Verdict if verdict in verdicts}


@cache
def template(name: str) -> Template:
    """Return a template of a page, with what all pages share."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("dpaudit.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(
        symbols=SYMBOLS,
        columns=_columns,
        tally=_tally,
        figures=figures,
        headline=headline,
        reason=reason,
        region_maps=region_maps,
        standing=standing,
        trust_figure=trust_figure,
        verify_command=verify_command,
        witness_lines=witness_lines,
        witness_link=witness_link,
    )
    return environment.get_template(name)
