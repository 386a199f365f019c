"""Reports: a record as text, JSON, Markdown, JUnit XML or HTML. Reads the record and nothing else."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from dpaudit.claims.record import Record
from dpaudit.errors import OutputError
from dpaudit.reporting.console import print_console, render_console
from dpaudit.reporting.html import render_html
from dpaudit.reporting.jsonformat import render_json
from dpaudit.reporting.junit import render_junit
from dpaudit.reporting.markdown import render_markdown

__all__ = [
    "FORMATS",
    "check_writable",
    "print_console",
    "render_console",
    "render_html",
    "render_json",
    "render_junit",
    "render_markdown",
    "write_report",
]

FORMATS: dict[str, Callable[[Record], str]] = {
    "text": render_console,
    "json": render_json,
    "markdown": render_markdown,
    "junit": render_junit,
    "html": render_html,
}
"""Every format by its name; each is a function of the record alone."""

_FILES = {"record.json": "json", "report.md": "markdown", "index.html": "html", "junit.xml": "junit"}


def check_writable(folder: str | Path) -> None:
    """Make a folder for a report, before the work is done that the report is about.

    Raises
    ------
    OutputError
        The folder cannot be written.
    """
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written ({error.strerror or error}); name another --output") from None


def write_report(record: Record, folder: str | Path) -> None:
    """Write ``record.json``, ``report.md``, ``index.html`` and ``junit.xml`` into a folder, making it if need be.

    Raises
    ------
    OutputError
        The folder or a file in it cannot be written.
    """
    # A lone surrogate, which only JSON can hold, becomes its JSON escape.
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        # The record first: whatever becomes of the pages, they can be rendered from it again.
        for name, form in _FILES.items():
            (Path(folder) / name).write_bytes(FORMATS[form](record).encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written ({error.strerror or error})") from None
