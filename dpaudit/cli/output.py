"""Where a record goes: standard output, and a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from dpaudit.claims.record import Record


def emit(record: Record, format_: str, output: Path | None, *, quiet: bool = False) -> None:
    """Print a record in a format, and write the reports if there is a folder for them."""
    from dpaudit.reporting import FORMATS, print_console, write_report

    if format_ == "text":
        from rich.console import Console

        print_console(record, Console(file=sys.stdout, highlight=False), only_unexpected=quiet)
    else:
        sys.stdout.write(FORMATS[format_](record))
    if output is not None:
        write_report(record, output)
        sys.stderr.write(f"dpaudit: report written to {output / 'index.html'}\n")
