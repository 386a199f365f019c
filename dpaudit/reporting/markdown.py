"""The record as Markdown, for a code-hosting site or the summary of a CI job."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import IntEnum

from dpaudit.claims.record import Record, Result
from dpaudit.reporting.groups import ClaimGroup, LabelledResult, TargetGroup, group_results
from dpaudit.reporting.overview import MOST_SHOWN, is_large, overview_of
from dpaudit.reporting.reading import by_hand, verdict_counts, worked_out
from dpaudit.reporting.wording import (
    clean,
    conclusion,
    counts,
    interruption,
    next_step,
    numbers_line,
    provenance,
    reason,
    standing,
    summary_line,
    verify_command,
    witness_lines,
)

_SPECIAL = re.compile(r"[\\`*\[\]|~$#]|(?<!\w)_|_(?!\w)")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_SCHEME = re.compile(r":(?=//)|(?<=\bmailto):|(?<=\bxmpp):|(?<=\bwww)\.", re.IGNORECASE)
_AT = re.compile(r"@(?=\w)")
_BLOCK = re.compile(r"^(\d{1,9})?([-+=]+|(?<=\d)[.)])(?=\s|$)")
"""What begins a list or a heading at the start of a line."""

LARGEST = 1_000_000
"""Bytes that a page may have, so that the summary of a CI job (1 MiB for GitHub) takes it."""

_MOST_OPEN = 60
"""Of more results than this the tables and details of each target are folded."""

_MOST_ATTENTION = 100
_MOST_CLAIMS = 1000


class _Detail(IntEnum):
    """How much is said of what is as expected."""

    COUNTS = 0
    TABLES = 1
    ALL = 2


def render_markdown(record: Record) -> str:
    """Return the record as Markdown: the conclusion, what needs attention, then every target, and the errata.

    Where that is more than a summary of a CI job may hold, what is as expected is told in less detail.
    """
    if is_large(record):
        return _joined(_summary(record, MOST_SHOWN), largest=LARGEST) or _joined(_summary(record, 0))
    groups = group_results(record)
    pages = (_joined(_page(record, groups, detail), largest=LARGEST) for detail in sorted(_Detail, reverse=True))
    return next(filter(None, pages), "") or _joined(_page(record, groups, _Detail.COUNTS, most=_MOST_ATTENTION))


def _joined(lines: Iterable[str], *, largest: float = math.inf) -> str:
    """Lines as a page; empty where that is larger, which no further line is made to find out."""
    kept, size = [], 0
    for line in lines:
        kept.append(line)
        # At least as many bytes remain of it, whatever is cleaned and cut off.
        size += len(line.strip()) - line.count("\r\n")
        if size > largest:
            return ""
    page = clean("\n".join(kept).rstrip() + "\n")
    return page if len(page.encode("utf-8", "backslashreplace")) <= largest else ""


def _summary(record: Record, most: int) -> Iterator[str]:
    """Return the page on many results: the counts, some of what needs attention, and the verdicts of each claim."""
    overview = overview_of(record)
    light = overview.light(record)
    yield from _head(light)
    shown = overview.bad[:most]
    if overview.bad:
        yield from ("## Needs attention", "")
    for target in overview.part(record, shown):
        for claim, cell in target.cells:
            yield from _attention(claim, cell, target.notation(claim))
    yield from _not_listed(len(overview.bad) - len(shown))
    yield from ("The results are in `record.json` and on the pages of the HTML report; this is the summary.", "")
    yield from ("## Claims", "", "| Target | Claim | Verdicts |", "| --- | --- | --- |")
    ordered = overview.ordered(record)
    for each in ordered[:_MOST_CLAIMS]:
        words = ", ".join(f"{count} {verdict}" for verdict, count in each.counts)
        yield f"| {escape(each.target)} | {escape(each.claim)} | {words} |"
    if len(ordered) > _MOST_CLAIMS:
        yield from ("", f"{len(ordered) - _MOST_CLAIMS} more claims are not listed here.")


def _not_listed(more: int) -> list[str]:
    if not more:
        return []
    return [f"{more} more are not listed here: they are in the other formats of this report.", ""]


def _page(record: Record, groups: Sequence[TargetGroup], detail: _Detail, *, most: int | None = None) -> Iterator[str]:
    yield from _head(record)
    yield from _needing_attention(groups, most)
    if detail < _Detail.ALL:
        yield from ("What is as expected is cut short here; the other formats of this report hold all of it.", "")
    if len(groups) > 1:
        yield from ("## Targets", "", "| Target | Verdicts | Conclusion |", "| --- | --- | --- |")
        for target in groups:
            part = _part(record, target)
            words = ", ".join(f"{count} {verdict}" for verdict, count in counts(part).items())
            yield f"| {escape(target.name)} | {words} | {conclusion(part)} |"
        yield ""
    for target in groups:
        yield from _target(record, target, detail)
    if any(target.errata for target in groups):
        yield from ("## Errata", "")
        for target in groups:
            yield from _errata(target)


def _head(record: Record) -> Iterator[str]:
    yield from ("# Audit of privacy and utility claims", "", f"**{_capital(conclusion(record))}.**", "")
    if record.partial is not None:
        yield from (escape(interruption(record)), "")
    if record.results:
        yield from ("| Verdict | Results | Meaning |", "| --- | ---: | --- |")
        for verdict, count in counts(record).items():
            yield f"| {verdict} | {count} | {escape(verdict.meaning)} |"
        yield ""
    yield from (escape(provenance(record)) + ".", "")
    if record.command:
        yield from ("To make the whole record again:", "", *block(record.command, "sh"), "")


def _needing_attention(groups: Sequence[TargetGroup], most: int | None) -> Iterator[str]:
    bad = [(target, claim, cell) for target in groups for claim, cell in target.cells if not cell.result.ok]
    if bad:
        yield from ("## Needs attention", "")
    for target, claim, cell in bad[:most]:
        yield from _attention(claim, cell, target.notation(claim))
    yield from _not_listed(len(bad) - most if most is not None and bad[most:] else 0)


def _part(record: Record, target: TargetGroup) -> Record:
    """The record of one target's results."""
    return replace(record, partial=None, results=tuple(cell.result for _, cell in target.cells))


def _attention(claim: ClaimGroup, cell: LabelledResult, notation: str) -> Iterator[str]:
    """All there is to say of a result that is not ok, what to do first."""
    result = cell.result
    where = f" at {cell.label}" if cell.label else ""
    yield from (f"### {result.verdict}: {escape(claim.target)}, {escape(claim.claim + where)}", "")
    yield from _items(
        ("not ok", reason(result)),
        ("note", result.note),
        ("next step", next_step(result)),
        ("expected because", result.reason),
        ("claim", f"{result.statement} ({result.source})" if result.source else result.statement),
        ("numbers", numbers_line(result)),
        ("parameters", claim.constant),
        ("scope", result.scope),
        ("samples", str(result.samples) if result.samples else ""),
        ("notation", notation if result.witness else ""),
    )
    yield ""
    yield from _witness(result)
    yield from _command("To repeat it:", result.command)
    yield from _command("To verify the witness on fresh samples:", verify_command(result))


def _target(record: Record, target: TargetGroup, detail: _Detail) -> Iterator[str]:
    yield from (f"## {escape(target.name)}", "")
    if target.entry:
        for text in (target.entry.title, target.entry.description, target.entry.source):
            if text:
                yield from (escape(text), "")
    if detail is _Detail.COUNTS:
        return
    for claim in target.claims:
        words = ", ".join(f"**{verdict}**" + f" x {count}" * (count > 1) for verdict, count in verdict_counts(claim))
        statement = claim.shared("statement")
        yield f"- {words}: {escape(claim.claim)}" + (f". {escape(statement)}" if statement else "")
    yield ""
    summary = summary_line(_part(record, target))
    yield from (f"<details{' open' * (len(record.results) <= _MOST_OPEN)}>", f"<summary>{summary}</summary>", "")
    yield "| Verdict | Claim | Parameters | Expected | Evidence | Method |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for claim, cell in target.cells:
        result = cell.result
        verdict = f"**{result.verdict}**" if result.ok else f"**{result.verdict}** ({escape(_standing(result))})"
        columns = [claim.claim, cell.label, result.expected or "", numbers_line(result), result.method]
        yield f"| {verdict} | " + " | ".join(escape(column) or "-" for column in columns) + " |"
    yield ""
    if detail is _Detail.ALL:
        for claim in target.claims:
            yield from _claim(claim, target.notation(claim))
    yield from ("</details>", "")


def _standing(result: Result) -> str:
    return standing(result).rpartition(", ")[2]


_SHARED = ("statement", "source", "scope", "reason", "note")


def _claim(claim: ClaimGroup, notation: str) -> Iterator[str]:
    """What a claim's cells that are ok share, one command for all of them, and what is not common to all."""
    fine = replace(claim, cells=tuple(cell for cell in claim.cells if cell.result.ok))
    if not fine.cells:
        return
    shared = {name: fine.shared(name) for name in _SHARED}
    yield from (f"### {escape(claim.claim)}", "")
    yield from _items(
        ("statement", shared["statement"]),
        ("source", shared["source"]),
        ("kind", claim.nature),
        ("parameters", claim.constant),
        ("scope", shared["scope"]),
        ("expected because", shared["reason"]),
        ("note", shared["note"]),
        ("notation", notation if any(cell.result.witness for cell in fine.cells) else ""),
    )
    yield ""
    yield from _command("To repeat one:" if len(fine.cells) > 1 else "To repeat it:", fine.cells[0].result.command)
    alike: dict[tuple[str, ...], list[LabelledResult]] = {}
    for cell in fine.cells:
        own = tuple("" if shared[name] else getattr(cell.result, name) for name in _SHARED)
        single = "" if cell.result.witness is None else str(cell.number)
        if any(own) or single:
            alike.setdefault((*own, cell.result.verdict, single), []).append(cell)
    for own, cells in alike.items():
        labels = "; ".join(cell.label for cell in cells if cell.label)
        yield from (f"**{cells[0].result.verdict}**" + (f" at {escape(labels)}" if labels else ""), "")
        items = _items(*zip(("statement", "source", "scope", "expected because", "note"), own, strict=False))
        yield from [*items, ""] if items else []
        yield from _witness(cells[0].result)
        yield from _command("To verify the witness on fresh samples:", verify_command(cells[0].result))


def _witness(result: Result) -> Iterator[str]:
    lines = witness_lines(result)
    if lines:
        yield from ("Witness:", "", *block("\n".join(f"{name}: {text}" for name, text in lines), "text"), "")
    if worked_out(result):
        yield from (f"{by_hand(result)}: {escape(worked_out(result))}.", "")


def _command(words: str, command: str) -> Iterator[str]:
    if command:
        yield from (words, "", *block(command, "sh"), "")


def _errata(target: TargetGroup) -> Iterator[str]:
    if not target.errata:
        return
    yield from (f"### {escape(target.name)}: errata", "")
    for erratum in target.errata:
        yield f"- **{escape(erratum.where)}**"
        for name in ("printed", "meant", "reason"):
            yield f"  - {name}: {escape(getattr(erratum, name))}"
    yield ""


def _items(*items: tuple[str, str]) -> list[str]:
    return [f"- {name}: {escape(text)}" for name, text in items if text]


def block(text: str, language: str) -> list[str]:
    """Return a fenced block that outlasts backticks in its text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", text, fence]


def inline(text: str) -> str:
    """Return code within a line that outlasts backticks in its text."""
    line = " ".join(text.split())
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    return f"{fence} {line} {fence}" if "`" in line else f"`{line}`"


def escape(text: str) -> str:
    """Return text on one line in which nothing is markup, an address is no link, and ``@name`` calls nobody."""
    line = _SPECIAL.sub(r"\\\g<0>", " ".join(text.split())).translate(_ENTITIES)
    line = _BLOCK.sub(lambda match: f"{match[1] or ''}\\{match[2]}", _SCHEME.sub(lambda match: "\\" + match[0], line))
    return _AT.sub("@<!-- -->", line)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
