"""Reports: a record as text, JSON, Markdown, JUnit XML or HTML. Reads the record and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dpaudit.claims.record import Record
from dpaudit.reporting.badge import render_badge
from dpaudit.reporting.console import print_console, render_console
from dpaudit.reporting.files import check_writable, html_files, report_files, write_report, write_reports
from dpaudit.reporting.html import render_html
from dpaudit.reporting.jsonformat import render_json
from dpaudit.reporting.junit import junit_parts, render_junit
from dpaudit.reporting.markdown import render_markdown
from dpaudit.reporting.sarif import render_sarif, sarif_parts

__all__ = [
    "FORMATS",
    "PARTS",
    "check_writable",
    "html_files",
    "print_console",
    "render_badge",
    "render_console",
    "render_html",
    "render_json",
    "render_junit",
    "render_markdown",
    "render_sarif",
    "report_files",
    "write_report",
    "write_reports",
]

FORMATS: dict[str, Callable[[Record], str]] = {
    "text": render_console,
    "json": render_json,
    "markdown": render_markdown,
    "junit": render_junit,
    "sarif": render_sarif,
    "html": render_html,
}
"""Every format by its name; each is a function of the record alone."""

PARTS: dict[str, Callable[[Record], Iterator[str]]] = {
    "json": Record.json_parts,
    "junit": junit_parts,
    "sarif": sarif_parts,
}
"""Formats that hold every result, as functions that return the text in parts."""
