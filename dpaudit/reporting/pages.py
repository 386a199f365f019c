"""A record of many results as HTML: a first page that summarises, and pages with a bounded number of results each."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from dpaudit.claims.record import Record
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.findings import tally
from dpaudit.reporting.groups import ClaimGroup, LabelledResult
from dpaudit.reporting.html import page_title, render_part, template
from dpaudit.reporting.overview import MOST_SHOWN, ClaimOverview, Overview, is_large, overview_of
from dpaudit.reporting.papers import papers_of
from dpaudit.reporting.wording import clean, conclusion, counts, provenance

_PAGE_NAME: Final = re.compile(r"results-\d{3,}\.html")
_MARK: Final = b'<a href="index.html">All results</a>'
"""What every further page has."""

_MOST_CLAIMS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A claim on the first page: its verdicts, the result that says most, and the pages of its results."""

    claim: ClaimGroup
    counts: tuple[tuple[Verdict, int], ...]
    telling: LabelledResult
    telling_page: int
    first: int
    first_page: int
    last_page: int


def render_first_page(record: Record) -> str:
    """Return the page that summarises a record of many results."""
    overview = overview_of(record)
    pages = _pages(overview, record)
    light, ordered = overview.light(record), overview.ordered(record)
    failed = [
        (claim, cell, pages[cell.number - 1])
        for target in overview.part(record, overview.bad[:MOST_SHOWN])
        for claim, cell in target.cells
    ]
    return clean(
        template("overview.html.j2").render(
            record=record,
            title=page_title(list(dict.fromkeys(claim.target for claim in ordered))),
            conclusion=conclusion(light),
            counts=counts(light),
            provenance=provenance(light),
            papers=[view for view in papers_of({"": light}) if view.entry],
            tally=tally,
            failed=failed,
            more_failed=len(overview.bad) - len(failed),
            rows=[_row(record, overview, claim, pages) for claim in ordered[:_MOST_CLAIMS]],
            more_claims=max(len(ordered) - _MOST_CLAIMS, 0),
            pages=max(pages),
            page_name=page_name,
        )
    )


def further_pages(record: Record) -> Iterator[tuple[str, str]]:
    """Return the names and texts of the pages that hold the results; none of a small record."""
    if not is_large(record):
        return
    overview = overview_of(record)
    number = max(_pages(overview, record))
    for page, places in enumerate(overview.pages(record), start=1):
        part = replace(record, command="", results=tuple(record.results[place] for place in places))
        groups = overview.part(record, places)
        whole = {
            (claim.target, claim.claim)
            for target in groups
            for claim in target.claims
            if len(claim.cells) == len(overview.claims[claim.target, claim.claim].places)
        }
        yield page_name(page), render_part(part, groups, page=page, pages=number, whole=whole)


def is_page(file: Path) -> bool:
    """Whether a file is a further page of a report, by its name and by what is in it."""
    try:
        return _PAGE_NAME.fullmatch(file.name) is not None and _MARK in file.read_bytes()
    except OSError:
        return False


def page_name(page: int) -> str:
    """Return the name of a page, from 1."""
    return f"results-{page:03}.html"


def _pages(overview: Overview, record: Record) -> array[int]:
    """Page of each result, by its place."""
    found = array("L", bytes(array("L").itemsize * len(record.results)))
    for page, places in enumerate(overview.pages(record), start=1):
        for place in places:
            found[place] = page
    return found


def _row(record: Record, overview: Overview, claim: ClaimOverview, pages: array[int]) -> Row:
    (target,) = overview.part(record, [claim.telling])
    (group,) = target.claims
    (telling,) = group.cells
    return Row(
        claim=group,
        counts=claim.counts,
        telling=telling,
        telling_page=pages[claim.telling],
        first=claim.places[0] + 1,
        first_page=pages[claim.places[0]],
        last_page=pages[claim.places[-1]],
    )
