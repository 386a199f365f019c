"""``dpaudit report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from dpaudit.cli.apart import tell
from dpaudit.cli.output import copy_witnesses, emit, say, write, write_badge, write_out


def report(
    record: Annotated[
        Path,
        typer.Argument(
            metavar="RECORD.json",
            help="A record that `dpaudit check` wrote, or its folder; with --check also a folder of many.",
        ),
    ],
    output: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write record.json, report.md, index.html and junit.xml there.")
    ] = None,
    format_: Annotated[
        Literal["text", "json", "markdown", "junit", "sarif"],
        typer.Option("--format", help="What goes to standard output."),
    ] = "text",
    badge: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the JSON of a badge there, for shields.io's endpoint.")
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Say whether the record and the reports beside it match the code and the plans."),
    ] = False,
) -> None:
    """Render a record again, without running anything; or check that reports are up to date."""
    if check:
        tell(_check, record)
    from dpaudit.claims.record import read_record

    record = record / "record.json" if record.is_dir() else record
    found = read_record(record)
    if output is not None:
        write(found, output)
    if badge is not None:
        write_badge(found, badge)
    emit(found, format_)
    if output is not None:
        copy_witnesses(found, record.parent, output)


def _check(path: Path) -> int:
    """Print a line per record; 0 where all are up to date, 1 otherwise."""
    from dpaudit.reporting import FORMATS, report_files
    from dpaudit.runner.freshness import check_reports

    pages = {"report.md": "markdown", "index.html": "html", "junit.xml": "junit"}
    found = check_reports(
        path, lambda record: {name: FORMATS[form](record) for name, form in pages.items()}, report_files
    )
    for report in found:
        reasons = f": {'; '.join(report.reasons)}" if report.reasons else ""
        write_out(f"{report.path}: {report.state}{reasons}\n")
    stale = sum(report.state != "up to date" for report in found)
    if stale:
        say(
            f"{stale} of {len(found)} not up to date; where code, a plan or a protocol changed, audit again (the "
            "record holds the command); where only pages differ, `dpaudit report RECORD.json --output DIR`"
        )
    return 1 if stale else 0
