"""The record as SARIF 2.1.0, which code hosts show at the lines that it is about."""

from __future__ import annotations

import hashlib
import json
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dpaudit.claims.entries import ClaimEntry
from dpaudit.claims.record import Record, Result, plain
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.reading import by_hand, worked_out
from dpaudit.reporting.wording import clean, headline, interruption, next_step, numbers_line, reason, witness_lines

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "SRCROOT"
_INDENT = " " * 4


def render_sarif(record: Record) -> str:
    """Return the record as SARIF: a rule for each claim, a result for each cell that is refuted or not as expected.

    What is refuted as the plan expects is suppressed, with the plan's reason. A result points to the class of its
    mechanism, where the record knows it; ``environment`` says so in the record of a run, and not in one that was
    stripped of what differs from run to run. A run that was interrupted is an invocation that was not successful.
    """
    return "".join(sarif_parts(record))


def sarif_parts(record: Record) -> Iterator[str]:
    """Return the text of `render_sarif` in parts."""
    found = dict.fromkeys(result.claim for result in record.results if _is_shown(result))
    places = {name: place for place, name in enumerate(found)}
    sources = record.environment.get("sources")
    sources = sources if isinstance(sources, Mapping) else {}
    run = {
        "tool": {
            "driver": {
                "name": "dpaudit",
                "version": record.version,
                "semanticVersion": record.version,
                "rules": [_rule(name, record.claims[name], record) for name in places],
            }
        },
        "columnKind": "unicodeCodePoints",
        **_interrupted(record),
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The folder in which dpaudit was run."}}},
        "results": [],
    }
    text = json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=False)
    # The results come last.
    start, _, end = text.rpartition("[]")
    yield clean(f"{start}[")
    empty = True
    for result in filter(_is_shown, record.results):
        found_here = _result(result, places[result.claim], sources.get(result.target))
        one = textwrap.indent(json.dumps(found_here, indent=1, ensure_ascii=False), _INDENT)
        yield clean(f"{'' if empty else ','}\n{one}")
        empty = False
    yield clean(f"]{end}\n" if empty else f"\n   ]{end}\n")


def _interrupted(record: Record) -> dict[str, Any]:
    """Say that a run was interrupted, by key of the run; nothing of a whole one."""
    if record.partial is None:
        return {}
    notice = {"level": "error", "descriptor": {"id": "interrupted"}, "message": {"text": interruption(record)}}
    return {"invocations": [{"executionSuccessful": False, "toolExecutionNotifications": [notice]}]}


def _is_shown(result: Result) -> bool:
    return not result.ok or result.verdict is Verdict.REFUTED


def _rule(name: str, entry: ClaimEntry, record: Record) -> dict[str, Any]:
    statement = entry.statement or f"The claim {name} holds."
    rule: dict[str, Any] = {
        "id": name,
        "shortDescription": {"text": statement},
        "fullDescription": {"text": f"{statement} ({entry.source})" if entry.source else statement},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["differential-privacy", entry.kind]},
    }
    paper = record.papers.get(entry.paper)
    if paper is not None and (paper.doi or paper.url):
        rule["helpUri"] = f"https://doi.org/{quote(paper.doi)}" if paper.doi else paper.url
    return rule


def _result(result: Result, rule: int, source: Any) -> dict[str, Any]:
    parameters = ", ".join(f"{name}={value}" for name, value in result.parameters.items())
    lines = [
        f"{result.target}, {result.claim}" + (f" at {parameters}" if parameters else ""),
        f"{result.verdict}: {headline(result)}",
        "" if result.ok else reason(result),
        "" if result.ok else next_step(result),
        result.note,
        f"numbers: {numbers}" if (numbers := numbers_line(result)) else "",
        *(f"{name}: {text}" for name, text in witness_lines(result)),
        f"{by_hand(result).lower()}: {worked_out(result)}" if worked_out(result) else "",
        f"repeat: {result.command}",
    ]
    identity = json.dumps([result.target, result.claim, plain(result.parameters), result.method], sort_keys=True)
    found: dict[str, Any] = {
        "ruleId": result.claim,
        "ruleIndex": rule,
        "kind": "fail",
        "level": _level(result),
        "message": {"text": "\n".join(filter(None, lines))},
        "partialFingerprints": {"dpaudit/1": hashlib.sha256(identity.encode()).hexdigest()},
        "properties": {"verdict": result.verdict.value, "target": result.target, "method": result.method},
    }
    if location := _location(source):
        found["locations"] = [location]
    if result.ok:
        found["suppressions"] = [
            {"kind": "external", "status": "accepted", "justification": result.reason or "expected by the plan"}
        ]
    return found


def _level(result: Result) -> str:
    if result.ok:
        return "note"
    return "warning" if result.verdict is Verdict.INCONCLUSIVE else "error"


def _location(source: Any) -> dict[str, Any] | None:
    """Where a mechanism is defined, as SARIF has it; None where that is not known."""
    if not isinstance(source, Mapping) or not isinstance(source.get("file"), str):
        return None
    file, line = source["file"], source.get("line")
    absolute = Path(file).is_absolute()
    artifact = {"uri": Path(file).as_uri()} if absolute else {"uri": quote(file), "uriBaseId": _ROOT}
    start = line if isinstance(line, int) and not isinstance(line, bool) and line >= 1 else 1
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": start}}}
