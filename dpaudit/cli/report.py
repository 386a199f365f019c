"""``dpaudit report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from dpaudit.claims.record import read_record
from dpaudit.cli.output import copy_witnesses, emit


def report(
    record: Annotated[Path, typer.Argument(metavar="RECORD.json", help="A record that `dpaudit check` wrote.")],
    output: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write record.json, report.md, index.html and junit.xml there.")
    ] = None,
    format_: Annotated[
        Literal["text", "json", "markdown", "junit"], typer.Option("--format", help="What goes to standard output.")
    ] = "text",
) -> None:
    """Render a record again, without running anything."""
    found = read_record(record)
    emit(found, format_, output)
    if output is not None:
        copy_witnesses(found, record.parent, output)
