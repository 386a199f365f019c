"""Where a record goes: standard output, and a folder."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from dpaudit.claims.record import Record
from dpaudit.errors import OutputError

PIPE_WIDTH = 120


def emit(record: Record, format_: str, output: Path | None, *, quiet: bool = False) -> None:
    """Print a record in a format, and write the reports if there is a folder for them."""
    from dpaudit.reporting import FORMATS, print_console, write_report

    if format_ == "text":
        from rich.console import Console

        # A pipe has no width, unless one is asked for; rich would take 80 columns, which breaks most lines.
        asked = os.environ.get("COLUMNS", "").isdigit()
        width = None if sys.stdout.isatty() or asked else PIPE_WIDTH
        console = Console(file=sys.stdout, highlight=False, width=width)
        with console.capture() as captured:
            print_console(record, console, only_unexpected=quiet)
        _print(captured.get())
    else:
        _print(FORMATS[format_](record))
    if output is not None:
        write_report(record, output)
        sys.stderr.write(f"dpaudit: report written to {output / 'index.html'}\n")


def copy_witnesses(record: Record, folder: Path, output: Path) -> None:
    """Put the witness files beside a record, as far as they are still there, beside its other report too."""
    from dpaudit.reporting.wording import witness_link

    for link in filter(None, map(witness_link, record.results)):
        source, copy = folder / link, output / link
        if source.is_file() and source.resolve() != copy.resolve():
            try:
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
            except OSError as error:
                raise OutputError(f"{copy}: cannot be written ({error.strerror or error})") from None


def one_line(message: str) -> str:
    """Return a message as the one line that goes to standard error."""
    return f"dpaudit: {' '.join(message.split())}\n"


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough (`| head`); the exit status still stands.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
