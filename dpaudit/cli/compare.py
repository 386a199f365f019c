"""``dpaudit compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from dpaudit.cli.output import write_out


def compare(
    old: Annotated[
        Path, typer.Argument(metavar="OLD.json", help="A record that `dpaudit check` wrote, or its folder.")
    ],
    new: Annotated[Path, typer.Argument(metavar="NEW.json", help="Another one.")],
    format_: Annotated[
        Literal["text", "json", "markdown"], typer.Option("--format", help="What goes to standard output.")
    ] = "text",
) -> None:
    """Say which verdicts and numbers changed: status 0 if no verdict did, 1 if one did or is gone."""
    from dpaudit.claims.record import read_record
    from dpaudit.reporting.compare import compare_records, render_comparison

    paths = (path / "record.json" if path.is_dir() else path for path in (old, new))
    found = compare_records(*map(read_record, paths))
    write_out(render_comparison(found, format_))
    raise typer.Exit(0 if found.same_verdicts else 1)
