"""The ledger: every claim of several records on one page, by paper."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dpaudit.claims.papers import Erratum
from dpaudit.claims.record import Record
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.groups import ClaimGroup, group_results
from dpaudit.reporting.html import template
from dpaudit.reporting.markdown import escape
from dpaudit.reporting.numbers import format_interval
from dpaudit.reporting.reading import most_telling
from dpaudit.reporting.reading import verdict_counts as claim_verdicts
from dpaudit.reporting.wording import clean, headline

CONTROLS = "control"
"""What the ids of claims of deliberately broken protocols begin with: they are no paper's."""

_TIGHTNESS_DIGITS = 3
_PAPER = re.compile(r"^(.*?\b(?:19|20)\d\d[a-z]?\)?)(?:, |$)(.*)$", re.DOTALL)
_PLACE = re.compile(r"\b([A-Z][a-z]+?)s? ([0-9IVX]+(?:[.-][0-9A-Z]+)*)")
_HOLDS = {Verdict.PROVED, Verdict.CERTIFIED, Verdict.CONSISTENT}


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """One claim of one system.

    Attributes
    ----------
    folder, anchor
        Folder of its report, and its place on the page there.
    target, claim, kind, statement, source
        The claim.
    verdicts
        How often each verdict occurs over the parameters, the most telling one first.
    evidence
        The number that decides the most telling result, and where.
    tightness
        Claimed epsilon over measured epsilon there, or the bound over the measured value; empty where neither is known.
    """

    folder: str
    anchor: str
    target: str
    claim: str
    kind: str
    statement: str
    source: str
    verdicts: tuple[tuple[Verdict, int], ...]
    evidence: str
    tightness: str

    @property
    def paper(self) -> str:
        """What the claim's id begins with."""
        return self.claim.partition(".")[0]

    def has(self, verdict: Verdict) -> bool:
        """Whether the claim has this verdict at any parameters."""
        return any(verdict is found for found, _ in self.verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Misprint:
    """An erratum with the systems that it is about."""

    erratum: Erratum
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """The claims of one paper, in the order of their places in it: Corollary 3, Corollary 12, Theorem 2.

    Attributes
    ----------
    key
        What the ids of its claims begin with.
    name
        Authors and year, as the sources of its claims have them; the key where they do not.
    misprints
        Its errata.
    """

    key: str
    name: str
    rows: tuple[LedgerRow, ...]
    misprints: tuple[Misprint, ...]

    @property
    def holding(self) -> int:
        """Number of claims that hold wherever they were audited and apply."""
        found = ({verdict for verdict, _ in row.verdicts} - {Verdict.INAPPLICABLE} for row in self.rows)
        return sum(bool(verdicts) and verdicts <= _HOLDS for verdicts in found)

    def having(self, verdict: Verdict) -> int:
        """Return the number of claims that have this verdict at some parameters."""
        return sum(row.has(verdict) for row in self.rows)

    def place(self, row: LedgerRow) -> str:
        """Return where in the paper a claim stands; its whole source where that is another."""
        found = _PAPER.match(row.source)
        return (found[2] if found and found[1] == self.name else "") or row.source


def ledger_rows(records: Mapping[str, Record]) -> list[LedgerRow]:
    """Return the claims of several records, which come by the folder that holds their report."""
    return [
        _row(folder, target.name, claim)
        for folder, record in records.items()
        for target in group_results(record)
        for claim in target.claims
    ]


def papers(records: Mapping[str, Record]) -> list[Paper]:
    """Return the papers of several records, that of the most claims first and the controls last."""
    by_key: dict[str, list[LedgerRow]] = {}
    for row in ledger_rows(records):
        by_key.setdefault(row.paper, []).append(row)
    found = misprints(records)
    listed = [_paper(key, rows, found) for key, rows in by_key.items()]
    return sorted(listed, key=lambda paper: (paper.key == CONTROLS, -len(paper.rows), paper.key))


def misprints(records: Mapping[str, Record]) -> list[Misprint]:
    """Return the errata of several records, each once."""
    found: dict[Erratum, list[str]] = {}
    for record in records.values():
        for target in group_results(record):
            for erratum in target.entry.errata if target.entry else ():
                found.setdefault(erratum, []).append(target.name)
    return [Misprint(erratum=erratum, targets=tuple(targets)) for erratum, targets in found.items()]


def verdict_counts(records: Mapping[str, Record]) -> dict[Verdict, tuple[int, int]]:
    """Count the verdicts that occur, in the order of the vocabulary: of papers' claims, and of controls."""
    results = [result for record in records.values() for result in record.results]
    verdicts = Counter((result.verdict, result.claim.startswith(f"{CONTROLS}.")) for result in results)
    counts = {verdict: (verdicts[verdict, False], verdicts[verdict, True]) for verdict in Verdict}
    return {verdict: both for verdict, both in counts.items() if any(both)}


def render_ledger(records: Mapping[str, Record]) -> str:
    """Return the ledger as Markdown.

    Parameters
    ----------
    records
        Records by the folder, relative to the ledger, that holds their report as ``README.md``.
    """
    listed = papers(records)
    lines = [
        "# Ledger of all claims",
        "",
        "Generated by `make reports`. Each row is one claim; its verdicts are counted over the parameters at which it "
        "was audited, and the evidence is that of the most telling one. The names link to the full reports; "
        "`index.html` is the same with filters.",
        "",
        "Claims that hold do so wherever they were audited; those refuted or vacuous are so at some parameters.",
        "",
        "| Paper | Claims | Hold | Refuted | Vacuous | Errata |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| {escape(paper.name)} | {len(paper.rows)} | {paper.holding} | {paper.having(Verdict.REFUTED)} "
            f"| {paper.having(Verdict.VACUOUS)} | {len(paper.misprints)} |"
            for paper in listed
        ),
        "",
        "| Verdict | Results | Of controls | Meaning |",
        "| --- | ---: | ---: | --- |",
        *(
            f"| {verdict} | {count} | {controls or '-'} | {verdict.meaning} |"
            for verdict, (count, controls) in verdict_counts(records).items()
        ),
    ]
    for paper in listed:
        lines += ["", f"## {escape(paper.name)}", "", *_markdown_section(paper)]
    errata = _by_place(misprints(records))
    if errata:
        lines += ["", "## Errata", ""]
    for misprint in errata:
        erratum = misprint.erratum
        lines.append(
            f"- {escape(erratum.where)}. Printed: {escape(erratum.printed)}. Meant: {escape(erratum.meant)}. "
            f"Because {escape(erratum.reason)}. ({', '.join(misprint.targets)})"
        )
    return clean("\n".join(lines) + "\n")


def render_ledger_html(records: Mapping[str, Record]) -> str:
    """Return the ledger as one HTML page that needs neither network nor script.

    Parameters
    ----------
    records
        Records by the folder, relative to the ledger, that holds their report as ``index.html``.
    """
    listed = papers(records)
    return clean(
        template("ledger.html.j2").render(
            papers=listed,
            controls=CONTROLS,
            counts=verdict_counts(records),
            errata=_by_place(misprints(records)),
            kinds=sorted({row.kind for paper in listed for row in paper.rows}),
            refuted=Verdict.REFUTED,
            vacuous=Verdict.VACUOUS,
        )
    )


def _paper(key: str, rows: Sequence[LedgerRow], found: Sequence[Misprint]) -> Paper:
    names = Counter(match[1] for row in rows if key != CONTROLS and (match := _PAPER.match(row.source)))
    name = names.most_common(1)[0][0] if names else key
    targets = {row.target for row in rows}
    own = tuple(misprint for misprint in found if _is_of(misprint, name, targets))
    if key == CONTROLS:
        name = "Controls: deliberately broken protocols"
    paper = Paper(key=key, name=name, rows=(), misprints=own)
    ordered = rows if key == CONTROLS else sorted(rows, key=lambda row: _place_key(paper.place(row)))
    return Paper(key=key, name=name, rows=tuple(ordered), misprints=own)


def _is_of(misprint: Misprint, paper: str, targets: set[str]) -> bool:
    """Whether an erratum is a paper's: by its name, or else, where it names no paper, by what it is about."""
    where = misprint.erratum.where
    return where.startswith(paper) or (_PAPER.match(where) is None and not targets.isdisjoint(misprint.targets))


def _by_place(found: Sequence[Misprint]) -> list[Misprint]:
    """Errata by paper, in the order of their places in it."""

    def key(misprint: Misprint) -> tuple[bool, str, tuple[bool, str, tuple[tuple[int, str], ...]]]:
        where = misprint.erratum.where
        paper = _PAPER.match(where)
        return paper is None, paper[1] if paper else where, _place_key(paper[2] if paper else "")

    return sorted(found, key=key)


def _place_key(place: str) -> tuple[bool, str, tuple[tuple[int, str], ...]]:
    """Order of places: by what it is and its number, wherever in the text it is named; places without a number last."""
    found = _PLACE.search(place)
    if found is None:
        return True, place, ()
    parts = re.split(r"[.-]", found[2])
    return False, found[1], tuple((int(part), "") if part.isdigit() else (0, part) for part in parts)


def _row(folder: str, target: str, claim: ClaimGroup) -> LedgerRow:
    telling = most_telling(claim)
    result = telling.result
    tightness = next((result.measured[name] for name in ("tightness", "slack") if name in result.measured), None)
    where = f" at {telling.label}" if telling.label else ""
    return LedgerRow(
        folder=folder,
        anchor=claim.anchor,
        target=target,
        claim=claim.claim,
        kind=result.kind,
        statement=result.statement,
        source=result.source,
        verdicts=claim_verdicts(claim),
        evidence=f"{headline(result)}{where}; {result.method}",
        tightness="" if tightness is None else format_interval(tightness, digits=_TIGHTNESS_DIGITS),
    )


def _markdown_section(paper: Paper) -> Iterator[str]:
    yield "| Where | Claim | Verdicts | Evidence | Statement |"
    yield "| --- | --- | --- | --- | --- |"
    for row in paper.rows:
        several = sum(count for _, count in row.verdicts) > 1
        columns = (
            escape(paper.place(row)),
            f"[{escape(row.claim)}]({row.folder}/README.md), {escape(row.target)}",
            ", ".join(f"**{verdict}**" + (f" x {count}" if several else "") for verdict, count in row.verdicts),
            escape(row.evidence),
            escape(row.statement),
        )
        yield "| " + " | ".join(columns) + " |"
