"""The page of a paper as Markdown: findings, the claims by place, a witness of each refutation, and errata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dpaudit.claims.record import Record
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.figures.chosen import Chosen, chosen_figures
from dpaudit.reporting.findings import controls_in_words, findings, summary_of
from dpaudit.reporting.headlines import (
    HeadlinePlace,
    Mend,
    Mending,
    headlines,
    mending_claims,
    mends_of,
    witness_of,
)
from dpaudit.reporting.markdown import block, escape, inline
from dpaudit.reporting.papers import HOLDS, PaperClaim, PaperView, papers_of, places_in_words
from dpaudit.reporting.reading import by_hand, verdict_regions, whys, worked_out
from dpaudit.reporting.wording import (
    ADDRESS,
    clean,
    headline,
    interruption,
    provenance,
    quoted,
    shortened,
    summary_line,
    witness_lines,
)

_LONGEST_WITNESS = 300
_LONGEST_EVIDENCE = 200
_MOST_FIGURES = 4
_MOST_SENTENCES = 10
"""More of them are listed one below the other."""


def render_paper(record: Record, key: str, *, root: str = "..") -> dict[str, str]:
    """Return the page of a paper as Markdown, and the figures that it shows, by file name.

    Parameters
    ----------
    record
        All results about the paper.
    key
        The paper's key, or any name for a record of several papers or of none.
    root
        Way from the page to the folder that the definitions of claims are relative to.
    """
    views = sorted(papers_of({key: record}), key=lambda view: (view.key != key, view.key))
    mending = mending_claims(views)
    files: dict[str, str] = {}
    lines: list[str] = [f"**{escape(interruption(record))}**", ""] if record.partial is not None else []
    for view in views:
        chosen = chosen_figures(view.claims)[: _MOST_FIGURES - len(files)]
        names = {f"{key}-{figure.name}-{len(files) + i}.svg": figure for i, figure in enumerate(chosen, start=1)}
        files |= {name: clean(figure.svg) for name, figure in names.items()}
        lines += _paper(view, mending, names, root, first=view is views[0])
    lines += ["## Record", "", f"{escape(summary_line(record))}. {escape(provenance(record))}.", ""]
    lines += [f"Every number comes from the record [{escape(key)}.json]({quoted(key)}.json), which lists all results."]
    if record.command:
        lines[-1] += " To make it again:"
        lines += ["", *block(record.command, "sh")]
    return {f"{key}.md": clean("\n".join(lines).rstrip() + "\n"), **files}


def _paper(
    view: PaperView, mending: Mending, figures: Mapping[str, Chosen], root: str, *, first: bool
) -> Iterator[str]:
    title = f"{view.citation}: {view.entry.title}" if view.entry else view.key
    yield from (f"{'#' if first else '##'} {escape(title)}", "")
    deeper = "##" if first else "###"
    told = findings(view.claims)
    found = [escape(finding.text) for finding in told]
    if len(found) > _MOST_SENTENCES:
        found = [f"- {escape(finding.quoted)}" for finding in told]
    if found:
        yield from (("\n" if len(found) > _MOST_SENTENCES else " ").join(found), "")
    rest = [summary_of(view.claims), controls_in_words(view.controls)]
    if any(rest):
        yield from (" ".join(filter(None, rest)), "")
    if view.entry:
        yield from (_bibliography(view), "")
    shown, _ = headlines(view, mending)
    if shown:
        yield from (f"{deeper} Headline findings", "", "The most important first.", "")
        yield from (line for each in shown for line in headline_lines(each))
        yield ""
    for name, figure in figures.items():
        yield from (
            f"![{escape(figure.subject)}]({quoted(name)})",
            "",
            f"*{escape(figure.subject)}: {escape(figure.caption)}*",
            "",
        )
    if view.claims:
        yield from (f"{deeper} Claims of the paper", "")
        yield from ("What stands in brackets tells the audited settings apart and says nothing of others.", "")
        yield from (*_table(view.claims, root), "")
    if view.ours:
        yield from (f"{deeper} Statements of ours", "")
        yield from ("No paper makes these; they count among nobody's claims.", "", *_table(view.ours, root), "")
    if view.controls:
        yield from (f"{deeper} Controls", "")
        yield from ("Each is broken on purpose, by the bug named, and has to be refuted.", "")
        yield from ("| Control | Bug | Verdicts | Evidence |", "| --- | --- | --- | --- |")
        for claim in view.controls:
            yield _row(_link(claim, root), escape(claim.entry.bug), verdicts_in_words(claim), escape(evidence(claim)))
        yield ""
    said: set[str] = set()
    titles = ("Refutations, one worked out for each claim", "Refutations of statements of ours")
    for title, claims in zip(titles, (view.claims, view.ours), strict=True):
        refuted = [claim for claim in claims if claim.has(Verdict.REFUTED)]
        if refuted:
            yield from (f"{deeper} {title}", "")
        for claim in refuted:
            yield from _refutation(claim, f"{deeper}#", mending, said)
    if view.left_alone:
        yield from (f"{deeper} Assertions that are not audited", "")
        for assertion in view.left_alone:
            says, why = (text.removesuffix(".") for text in (assertion.says, assertion.reason))
            yield f"- **{escape(_capital(assertion.where))}.** {escape(_capital(says))}. Left alone: {escape(why)}."
        yield ""
    if view.errata:
        yield from (f"{deeper} Errata", "")
        for erratum in view.errata:
            yield (
                f"- **{escape(_capital(erratum.where))}.** Printed: {escape(erratum.printed)}. "
                f"Meant: {escape(erratum.meant)}. Because {escape(erratum.reason)}."
                + (f" ({escape(', '.join(erratum.systems))})" if erratum.systems else "")
            )
        yield ""


def _bibliography(view: PaperView) -> str:
    assert view.entry is not None
    parts = [", ".join(view.entry.authors), view.entry.title, view.entry.venue, str(view.entry.year)]
    text = ". ".join(escape(part) for part in parts if part)
    address = f"https://doi.org/{view.entry.doi}" if view.entry.doi else view.entry.url
    if ADDRESS.fullmatch(address):
        return f"{text}. <{address}>"
    return f"{text}. {escape(address)}" if address else f"{text}."


def _table(claims: Sequence[PaperClaim], root: str) -> Iterator[str]:
    yield from ("| Where | Claim | Verdicts | Evidence |", "| --- | --- | --- | --- |")
    for claim in claims:
        statement = f"{_link(claim, root)}: {escape(claim.entry.statement)} *{escape(', '.join(claim.targets))}*"
        where = f'<a id="{quoted(claim.name)}"></a>{escape(places_in_words(claim))}'
        yield _row(where, statement, verdicts_in_words(claim), escape(evidence(claim)))


def _row(*columns: str) -> str:
    return "| " + " | ".join(column or "-" for column in columns) + " |"


def _link(claim: PaperClaim, root: str) -> str:
    path, _, line = claim.entry.definition.partition(":")
    return (
        f"[{escape(claim.name)}]({root}/{quoted(path)}{f'#L{quoted(line)}' * bool(line)})"
        if path
        else escape(claim.name)
    )


def verdicts_in_words(claim: PaperClaim) -> str:
    """Return the verdicts of a claim with how often each occurs, the most telling one first, and where it fails."""
    several = sum(claim.counts.values()) > 1
    where = (
        verdict_regions(cell.result for group in claim.groups for cell in group.cells) if len(claim.counts) > 1 else {}
    )
    told = []
    for verdict, count in claim.counts.items():
        region = f" ({escape(where[verdict])})" if verdict in where and verdict not in HOLDS else ""
        told.append(f"**{verdict}**" + f" × {count}" * several + region)
    return ", ".join(told)


def evidence(claim: PaperClaim) -> str:
    """Return the number that decides the most telling result, where that is, and how it was found."""
    _, telling = claim.telling
    where = f" at {telling.label}" if telling.label else ""
    # Where one setting is audited in several ways, the label says in which.
    method = "" if telling.label.endswith(telling.result.method) else f"; {telling.result.method}"
    return f"{shortened(headline(telling.result), _LONGEST_EVIDENCE)}{shortened(where, _LONGEST_WITNESS)}{method}"


def headline_lines(each: HeadlinePlace) -> Iterator[str]:
    """Return a list item for a place: what was found, the evidence, the command, and what would mend the claims."""
    alone = len(each.parts) == 1
    if not alone:
        yield f"- {escape(_capital(each.heading))}:"
    for part in each.parts:
        indent = "" if alone else "  "
        yield f"{indent}- {escape(part.finding.quoted)}"
        yield f"{indent}  - {part.kind}: {escape(part.evidence)}"
        if part.command:
            yield f"{indent}  - Command: {inline(part.command)}"
    for mend in each.mends:
        yield f"  - {_mended(mend)}"
    if each.unknown:
        yield f"  - {escape(each.unknown)}"


def _mended(mend: Mend) -> str:
    """What would mend a claim, or how it is evidently meant, with the verdict of that."""
    link = f"[{escape(mend.claim.name)}]({quoted(mend.claim.page)}.md#{quoted(mend.claim.name)})"
    return f"{escape(mend.start)}: {escape(mend.statement)} {link}: {verdicts_in_words(mend.claim)}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _refutation(claim: PaperClaim, heading: str, mending: Mending, said: set[str]) -> Iterator[str]:
    refuted = [cell for group in claim.groups for cell in group.cells if cell.result.verdict is Verdict.REFUTED]
    cell = witness_of(claim, refuted, mending)
    result = cell.result
    group = next(group for group in claim.groups if cell in group.cells)
    yield from (f"{heading} {escape(claim.entry.place or claim.entry.source)}: {escape(claim.name)}", "")
    yield from (escape(claim.entry.statement), "")
    for why in whys(group):
        if why.verdict is Verdict.REFUTED:
            yield f"- Refuted because {escape(why.reason)}."
    where = f"At {cell.label}: " if cell.label else ""
    yield f"- {escape(shortened(where, _LONGEST_WITNESS) + result.scope)}."
    if worked_out(result):
        yield f"- {by_hand(result)}: {escape(worked_out(result))}."
    for mend in mends_of([claim], mending, said):
        yield f"- {_mended(mend)}"
    yield ""
    # The command, and not the page, shows a witness that takes pages.
    lines = [f"{name}: {shortened(text, _LONGEST_WITNESS)}" for name, text in witness_lines(result)]
    yield from block("\n".join([*lines, *([f"repeat: {result.command}"] if result.command else [])]), "text")
    yield ""
