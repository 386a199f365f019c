"""The record as one HTML page that needs neither network nor script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from dpaudit.claims.record import Record, Result
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.figures import figures, trust_figure
from dpaudit.reporting.findings import controls_in_words, findings, summary_of
from dpaudit.reporting.formulas import typeset
from dpaudit.reporting.glossary import GLOSSARY, with_links
from dpaudit.reporting.groups import ClaimGroup, TargetGroup, group_results
from dpaudit.reporting.headlines import headlines, mending_claims
from dpaudit.reporting.overview import is_large
from dpaudit.reporting.papers import papers_of, places_in_words
from dpaudit.reporting.reading import (
    SYMBOLS,
    Why,
    by_hand,
    most_telling,
    verdict_counts,
    verdict_sentence,
    whys,
    worked_out,
)
from dpaudit.reporting.regions import folded, region_maps
from dpaudit.reporting.wording import (
    ADDRESS,
    clean,
    conclusion,
    counts,
    headline,
    interruption,
    next_step,
    numbers_line,
    provenance,
    quantities,
    quoted,
    reason,
    standing,
    verify_command,
    witness_lines,
    witness_link,
)

if TYPE_CHECKING:
    from jinja2 import Template

_RECORD = "record"
_SHARED = ("statement", "source", "scope", "method", "samples")
_MOST_NAMED = 4
_MOST_ROWS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a claim's table, one entry per cell."""

    title: str
    entries: tuple[str, ...]
    numeric: bool = True


def render_html(record: Record, *, paper: str = "", root: str = "", ledger: str = "") -> str:
    """Return the record as one self-contained HTML page, what was found of its papers first.

    Of a record of many results it is the first page, which summarises; `dpaudit.reporting.pages` has the others.

    Parameters
    ----------
    record
        All results.
    paper
        The key of the paper that the record is about, if it is about one.
    root
        Way from the page to the folder that the definitions of claims are relative to; without it they are no links.
    ledger
        Way from the page to the ledger; without it there is no link.
    """
    if is_large(record):
        from dpaudit.reporting.pages import render_first_page

        return render_first_page(record)
    groups = group_results(record)
    views = [view for view in papers_of({paper or _RECORD: record}) if paper or view.entry]
    views.sort(key=lambda view: (view.key != paper, view.key))
    return clean(
        template("report.html.j2").render(
            record=record,
            groups=groups,
            title=f"Audit of {views[0].citation}"
            if views and (paper or len(views) == 1)
            else page_title([target.name for target in groups]),
            pages="",
            root=root,
            ledger=ledger,
            plans={paper},
            papers=views,
            record_name=f"{paper}.json" if paper else "record.json",
            findings=findings,
            headlines=headlines,
            mending=mending_claims(views),
            summary_of=summary_of,
            controls_in_words=controls_in_words,
            places_in_words=places_in_words,
            counts=counts(record),
            conclusion=conclusion(record),
            provenance=provenance(record),
            failed=[(claim, cell) for target in groups for claim, cell in target.cells if not cell.result.ok],
        )
    )


def render_part(
    record: Record, groups: Sequence[TargetGroup], *, page: int, pages: int, whole: Container[tuple[str, str]]
) -> str:
    """Return one of the pages that hold the results of a large record.

    Parameters
    ----------
    record, groups
        The results of the page, and the same in groups.
    page, pages
        Which page it is, from 1, and of how many.
    whole
        Targets and claims all results of which are on the page; a map of others would have gaps.
    """
    return clean(
        template("report.html.j2").render(
            record=record,
            groups=groups,
            title=f"{page_title([target.name for target in groups])}, page {page} of {pages}",
            root="",
            ledger="",
            plans=set(),
            papers=[],
            record_name="record.json",
            counts=counts(record),
            conclusion=conclusion(record),
            provenance=provenance(record),
            failed=[(claim, cell) for target in groups for claim, cell in target.cells if not cell.result.ok],
            page=page,
            pages=pages,
            region_maps=lambda claim: region_maps(claim) if (claim.target, claim.claim) in whole else (),
        )
    )


def definition_link(claim: ClaimGroup) -> str:
    """Return the file that declares a claim, with the text in it that a browser goes to."""
    path, _, line = claim.entry.definition.partition(":")
    name = claim.claim.removeprefix(f"{claim.entry.paper}.")
    return quoted(path) + (f"#L{quoted(line)}" if line else f"#:~:text={quoted(name).replace('-', '%2D')}")


def web_address(text: str) -> bool:
    """Return whether a text is an address that a page may link to."""
    return ADDRESS.fullmatch(text) is not None


def page_title(names: Sequence[str]) -> str:
    """Return the title of a report on targets."""
    if not names:
        return "Audit"
    shown = names if len(names) <= _MOST_NAMED else [*names[: _MOST_NAMED - 1], f"{len(names) - _MOST_NAMED + 1} more"]
    return "Audit of " + (" and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]])))


def _said_by_all(claim: ClaimGroup) -> dict[str, str]:
    return {name: claim.shared(name) for name in _SHARED}


def _inside(claim: ClaimGroup, maps: Sequence[object], drawings: Sequence[object]) -> str:
    """Say what the folded part of a claim's account has."""
    refuted = most_telling(claim).result.verdict is Verdict.REFUTED
    parts = [
        *(("witness",) if refuted else ("scope", "method")),
        "map of the settings" if maps else "",
        "figures" if drawings else "",
        f"all {len(claim.cells)} results" if len(claim.cells) > 1 else "",
    ]
    *first, last = filter(None, parts)
    said = f"{', '.join(first)} and {last}" if first else last
    return f"{said[:1].upper()}{said[1:]}"


def _facts(
    shared: Mapping[str, str], result: Result, repeated: bool, several: Set[Verdict]
) -> tuple[tuple[str, str], ...]:
    """What is known of one result, by name; ``repeated`` leaves out what stands above for all results of its claim."""
    numbers = numbers_line(result)
    above = shared if repeated else {}
    return (
        ("Not ok", reason(result)),
        ("Next step", next_step(result)),
        ("Expected because", result.reason if repeated and (not result.ok or result.verdict in several) else ""),
        ("Statement", "" if shared["statement"] else result.statement),
        ("Source", "" if shared["source"] else result.source),
        ("Scope", "" if above.get("scope") else result.scope),
        ("Method", "" if above.get("method") else result.method),
        ("Numbers", "" if numbers == "none" else numbers),
        ("Samples", "" if above.get("samples") or not result.samples else str(result.samples)),
        ("Note", result.note),
    )


def _several_reasons(reasons: Sequence[Why]) -> set[Verdict]:
    """Verdicts for which a claim has several reasons."""
    return {verdict for verdict, count in Counter(why.verdict for why in reasons).items() if count > 1}


def _columns(claim: ClaimGroup) -> tuple[list[Column], str]:
    """Return the columns of a claim's table that tell its cells apart, and what is the same in all of them as text."""
    cells = [cell.result for cell in claim.cells]
    unexpected = "" if claim.ok else "expected"
    columns = [
        Column(title=unexpected, entries=tuple(unexpected and standing(result) for result in cells), numeric=False),
        *(
            Column(title=name, entries=tuple(cell.values[place] for cell in claim.cells), numeric=False)
            for place, name in enumerate(claim.varying)
        ),
        *_quantity_columns(claim),
        Column(title="method", entries=tuple(result.method for result in cells), numeric=False),
        Column(title="samples", entries=tuple(str(result.samples or "") for result in cells)),
    ]
    same = [column for column in columns[1:] if len(set(column.entries)) == 1 and column.entries[0]]
    shared = [claim.constant, *(f"{column.title} {column.entries[0]}" for column in same)]
    return [column for column in columns if len(set(column.entries)) > 1], ", ".join(filter(None, shared))


def _quantity_columns(claim: ClaimGroup) -> list[Column]:
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


@cache
def template(name: str) -> Template:
    """Return a template of a page, with what all pages share."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("dpaudit.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["urlencode"] = quoted
    environment.filters["formulas"] = lambda text: Markup(typeset(text))  # noqa: S704  # it escapes what is no formula
    environment.filters["terms"] = lambda text: Markup(with_links(text))  # noqa: S704  # it escapes all but its links
    environment.globals.update(
        symbols=SYMBOLS,
        by_hand=by_hand,
        glossary=GLOSSARY,
        definition_link=definition_link,
        web_address=web_address,
        columns=_columns,
        facts=_facts,
        figures=figures,
        folded=folded,
        headline=headline,
        inside=_inside,
        interruption=interruption,
        most_rows=_MOST_ROWS,
        most_telling=most_telling,
        reason=reason,
        region_maps=region_maps,
        said_by_all=_said_by_all,
        several_reasons=_several_reasons,
        standing=standing,
        trust_figure=trust_figure,
        verdict_counts=verdict_counts,
        verdict_sentence=verdict_sentence,
        verify_command=verify_command,
        witness_lines=witness_lines,
        whys=whys,
        witness_link=witness_link,
        worked_out=worked_out,
    )
    return environment.get_template(name)
