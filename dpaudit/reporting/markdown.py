"""The record as Markdown, for a code-hosting site or the summary of a CI job."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dpaudit.claims.record import Record, Result
from dpaudit.reporting.groups import Cell, ClaimGroup, TargetGroup, group_results
from dpaudit.reporting.wording import (
    clean,
    conclusion,
    counts,
    numbers_line,
    provenance,
    reason,
    standing,
    verify_command,
    witness_lines,
)

_SPECIAL = re.compile(r"[\\`*\[\]|~$#]|(?<!\w)_|_(?!\w)")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def render_markdown(record: Record) -> str:
    """Return the record as Markdown: counts, a table per target, the details, and the errata."""
    groups = group_results(record)
    lines = ["# Audit of privacy and utility claims", "", f"**{_capital(conclusion(record))}.**", ""]
    if record.results:
        lines += ["| Verdict | Results | Meaning |", "| --- | ---: | --- |"]
        lines += [f"| {verdict} | {count} | {escape(verdict.meaning)} |" for verdict, count in counts(record).items()]
        lines.append("")
    lines += [escape(provenance(record)) + ".", ""]
    if record.command:
        lines += ["To make the whole record again:", "", *_block(record.command, "sh"), ""]
    for target in groups:
        lines += _target(target)
    errata = [line for target in groups for line in _errata(target)]
    if errata:
        lines += ["## Errata", "", *errata]
    return clean("\n".join(lines).rstrip() + "\n")


def _target(target: TargetGroup) -> Iterator[str]:
    yield from (f"## {escape(target.name)}", "")
    if target.entry:
        for text in (target.entry.title, target.entry.description, target.entry.source):
            if text:
                yield from (escape(text), "")
    yield "| Verdict | Claim | Parameters | Expected | Evidence | Method |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for claim, cell in target.cells:
        result = cell.result
        parameters = ", ".join(part for part in (cell.label, claim.constant) if part)
        verdict = f"**{result.verdict}**" if result.ok else f"**{result.verdict}** ({escape(_standing(result))})"
        columns = [claim.claim, parameters, result.expected or "", numbers_line(result), result.method]
        yield f"| {verdict} | " + " | ".join(escape(column) or "-" for column in columns) + " |"
    yield ""
    for claim in target.claims:
        yield from _claim(claim)


def _standing(result: Result) -> str:
    return standing(result).rpartition(", ")[2]


def _claim(claim: ClaimGroup) -> Iterator[str]:
    yield from (f"### {escape(claim.claim)}", "")
    yield from _items(("statement", claim.shared("statement")), ("source", claim.shared("source")))
    yield from _items(("kind", claim.nature), ("parameters", claim.constant), ("scope", claim.shared("scope")))
    yield ""
    for cell in claim.cells:
        yield from _cell(claim, cell)


def _cell(claim: ClaimGroup, cell: Cell) -> Iterator[str]:
    result = cell.result
    yield from (f"**{result.verdict}**" + (f" at {escape(cell.label)}" if cell.label else ""), "")
    items = _items(
        *((name, getattr(result, name)) for name in ("statement", "source", "scope") if not claim.shared(name)),
        ("not ok", reason(result)),
        ("expected because", result.reason),
        ("note", result.note),
        ("samples", str(result.samples) if result.samples else ""),
    )
    yield from items
    yield from [""] if items else []
    witness = witness_lines(result)
    if witness:
        yield from ("Witness:", "", *_block("\n".join(f"{name}: {text}" for name, text in witness), "text"), "")
    yield from ("To repeat it:", "", *_block(result.command, "sh"), "")
    if verify_command(result):
        yield from ("To verify the witness on fresh samples:", "", *_block(verify_command(result), "sh"), "")


def _errata(target: TargetGroup) -> Iterator[str]:
    if not target.entry or not target.entry.errata:
        return
    yield from (f"### {escape(target.name)}: errata", "")
    for erratum in target.entry.errata:
        yield f"- **{escape(erratum.where)}**"
        for name in ("printed", "meant", "reason"):
            yield f"  - {name}: {escape(getattr(erratum, name))}"
    yield ""


def _items(*items: tuple[str, str]) -> list[str]:
    return [f"- {name}: {escape(text)}" for name, text in items if text]


def _block(text: str, language: str) -> list[str]:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", text, fence]


def escape(text: str) -> str:
    """Return text on one line in which nothing is markup."""
    line = _SPECIAL.sub(lambda match: "\\" + match[0], " ".join(text.split()))
    return "".join(_ENTITIES.get(character, character) for character in line)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
