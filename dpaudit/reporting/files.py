"""Reports as files: those of one run in a folder, and those of all papers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from dpaudit.claims.record import Record
from dpaudit.errors import OutputError
from dpaudit.reporting.html import render_html
from dpaudit.reporting.junit import junit_parts
from dpaudit.reporting.ledger import render_ledger, render_ledger_html
from dpaudit.reporting.markdown import render_markdown
from dpaudit.reporting.overview import is_large
from dpaudit.reporting.page import render_paper
from dpaudit.reporting.pages import further_pages, is_page
from dpaudit.writing import unwritable, write_file

LEDGER = "README.md"


def report_files(records: Mapping[str, Record]) -> dict[str, str]:
    """Return the committed reports by file name: the ledger, and the record, page and figures of each paper.

    Parameters
    ----------
    records
        Records by the key of their paper. Environment and times, which differ from run to run, are left out.
    """
    records = {key: record.reproducible() for key, record in records.items()}
    files = {LEDGER: render_ledger(records)}
    for key, record in records.items():
        files |= {f"{key}.json": record.to_json(), **render_paper(record, key)}
    return files


def html_files(records: Mapping[str, Record], *, root: str = "") -> dict[str, str]:
    """Return the HTML reports by file name: ``index.html`` is the ledger, and ``KEY.html`` the page of each paper.

    Parameters
    ----------
    records
        Records by the key of their paper.
    root
        Way from the pages to the folder that the definitions of claims are relative to, or its address; without it
        they are no links.
    """
    return {
        "index.html": render_ledger_html(records),
        **{
            f"{key}.html": render_html(record, paper=key, root=root, ledger="index.html")
            for key, record in records.items()
        },
    }


def write_reports(records: Mapping[str, Record], folder: str | Path, *, html: str | Path | None = None) -> None:
    """Write the reports of papers into a folder, and as HTML into another one; figures that are no longer there go.

    Raises
    ------
    OutputError
        A folder or a file in it cannot be written.
    """
    files = report_files(records)
    _write(files, folder)
    for old in Path(folder).glob("*.svg"):
        if old.name not in files and any(old.name.startswith(f"{key}-") for key in records):
            _remove(old)
    if html is not None:
        _write(html_files(records, root=_way(html, Path(folder).parent)), html)


def check_writable(folder: str | Path) -> None:
    """Make a folder for a report, before the work is done that the report is about.

    Raises
    ------
    OutputError
        The folder cannot be written.
    """
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            # A full disk takes an empty file.
            file.write(bytes(4096))
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written ({error.strerror or error}); name another --output") from None


def write_report(record: Record, folder: str | Path) -> None:
    """Write ``record.json``, ``report.md``, ``index.html`` and ``junit.xml`` into a folder, making it if need be.

    Of a record of many results ``index.html`` summarises them, and ``results-001.html`` and so on hold them.

    Raises
    ------
    OutputError
        The folder or a file in it cannot be written.
    """
    # The record first: whatever becomes of the pages, they can be rendered from it again.
    _write({"record.json": record.json_parts()}, folder)
    before = {file.name for file in Path(folder).glob("results-*.html") if is_page(file)}
    if before or is_large(record):
        # The first page comes last: without it, the report of another record leads to none of the new pages.
        _remove(Path(folder) / "index.html")
    for name, text in further_pages(record):
        _write({name: text}, folder)
        before.discard(name)
    for name in before:
        _remove(Path(folder) / name)
    _write({"report.md": render_markdown(record), "junit.xml": junit_parts(record)}, folder)
    _write({"index.html": render_html(record)}, folder)


def _way(start: str | Path, to: Path) -> str:
    """Relative address of a folder; empty where there is none, as from one drive to another."""
    try:
        return Path(os.path.relpath(to, start)).as_posix()
    except ValueError:
        return ""


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(file, error) from None


def _write(files: Mapping[str, str | Iterable[str]], folder: str | Path) -> None:
    for name, text in files.items():
        write_file(Path(folder) / name, text)
