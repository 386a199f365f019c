"""The record as JUnit XML, which CI servers show claim by claim."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence

from dpaudit.claims.record import Partial, Record, Result
from dpaudit.claims.verdicts import Verdict
from dpaudit.reporting.groups import ClaimGroup, LabelledResult, TargetGroup, group_results
from dpaudit.reporting.overview import PER_PAGE, is_large, overview_of
from dpaudit.reporting.wording import (
    clean,
    headline,
    interruption,
    next_step,
    numbers_line,
    provenance,
    reason,
    standing,
    verify_command,
    witness_lines,
)

_TIME = {"time": "0"}


def render_junit(record: Record) -> str:
    """Return the record as JUnit XML: a suite per target, a case per result.

    A result that is not ok is a failure; ``error`` and ``inconclusive`` are errors, never passes, and so is, in a suite
    of its own, that the run was interrupted before every cell had a result. Valid by the schema
    of Jenkins' xUnit plugin (junit-10.xsd). Every ``time`` is 0, because a record does not say how long a result took,
    and some readers make "NaN" of none.
    """
    return "".join(junit_parts(record))


def junit_parts(record: Record) -> Iterator[str]:
    """Return the text of `render_junit` in parts."""
    if is_large(record):
        yield from map(clean, _large_parts(record))
    else:
        yield _whole(record)


def _large_parts(record: Record) -> Iterator[str]:
    """Return the text for many results, of which few are in memory at a time."""
    overview = overview_of(record)
    light = overview.light(record)
    run_by = provenance(light)
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n{_opening(_of_all(light))}\n'
    for suite in _interrupted(light):
        ET.indent(suite, level=1)
        yield f"  {ET.tostring(suite, encoding='unicode').strip()}\n"
    for target in group_results(light):
        suite = _suite(target, run_by)
        ET.indent(suite, level=1)
        properties = suite[0]
        yield f"  {_opening(suite)}\n    {ET.tostring(properties, encoding='unicode').strip()}\n"
        claims = [overview.claims[target.name, claim.claim] for claim in target.claims]
        for claim in claims:
            for start in range(0, len(claim.places), PER_PAGE):
                for group in overview.part(record, claim.places[start : start + PER_PAGE]):
                    cases = ET.Element("testsuite")
                    _add_cases(cases, group)
                    for case in cases:
                        ET.indent(case, level=2)
                        yield f"    {ET.tostring(case, encoding='unicode').strip()}\n"
        yield "  </testsuite>\n"
    yield "</testsuites>\n"


def _opening(element: ET.Element) -> str:
    """Return the tag that opens an element."""
    text = ET.tostring(ET.Element(element.tag, element.attrib), encoding="unicode", short_empty_elements=False)
    return text.removesuffix(f"</{element.tag}>")


def _of_all(record: Record) -> ET.Element:
    return ET.Element("testsuites", {"name": "dpaudit", **_tally(record.results, record.partial), **_TIME})


def _interrupted(record: Record) -> Iterator[ET.Element]:
    """Return a suite that says so where a run was interrupted; none of a whole run."""
    if record.partial is not None:
        suite = ET.Element("testsuite", {"name": "dpaudit", **_tally([], record.partial), "skipped": "0", **_TIME})
        case = ET.SubElement(suite, "testcase", _TIME, classname="dpaudit", name="every cell has a result")
        said = interruption(record)
        lines = [said, *([f"repeat: {record.command}"] if record.command else [])]
        ET.SubElement(case, "error", type="interrupted", message=said).text = "\n".join(lines)
        yield suite


def _suite(target: TargetGroup, run_by: str) -> ET.Element:
    """Return the suite of a target without its cases."""
    results = [cell.result for _, cell in target.cells]
    suite = ET.Element("testsuite", {"name": target.name, **_tally(results), "skipped": "0", **_TIME})
    properties = ET.SubElement(suite, "properties")
    run = {"run": run_by, "title": target.title, "source": target.entry.source if target.entry else ""}
    for name, value in run.items():
        if value:
            ET.SubElement(properties, "property", name=name, value=value)
    return suite


def _whole(record: Record) -> str:
    root = _of_all(record)
    root.extend(_interrupted(record))
    run_by = provenance(record)
    for target in group_results(record):
        suite = _suite(target, run_by)
        root.append(suite)
        _add_cases(suite, target)
    ET.indent(root)
    return clean('<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n")


def _add_cases(suite: ET.Element, target: TargetGroup) -> None:
    for claim, cell in target.cells:
        result = cell.result
        name = f"{claim.claim} [{cell.label}]" if cell.label else claim.claim
        case = ET.SubElement(suite, "testcase", _TIME, classname=target.name, name=name)
        outcome = _outcome(result)
        if outcome is None:
            ET.SubElement(case, "system-out").text = _details(claim, cell, target.notation(claim))
        else:
            kind = result.verdict.value if outcome == "error" else "refuted"
            if outcome == "failure" and result.verdict is not Verdict.REFUTED:
                kind = "unexpected"
            ET.SubElement(case, outcome, type=kind, message=_message(result)).text = _details(
                claim, cell, target.notation(claim)
            )


def _outcome(result: Result) -> str | None:
    if result.verdict in (Verdict.ERROR, Verdict.INCONCLUSIVE):
        return "error"
    return None if result.ok else "failure"


def _message(result: Result) -> str:
    """The line that lists of failures show."""
    told = result.note if result.verdict is Verdict.ERROR and result.note else headline(result)
    why = "" if result.verdict is Verdict.ERROR else f"{reason(result) or standing(result)}; "
    return " ".join(f"{result.verdict}: {why}{told}".split())


def _details(claim: ClaimGroup, cell: LabelledResult, notation: str) -> str:
    result = cell.result
    lines = [f"{result.verdict}: {headline(result)}", standing(result)]
    if not result.ok:
        lines += [f"{name}: {text}" for name, text in (("note", result.note), ("next step", next_step(result))) if text]
    parameters = ", ".join(part for part in (cell.label, claim.constant) if part)
    named = [
        ("expected because", result.reason),
        ("claim", result.statement),
        ("source", result.source),
        ("parameters", parameters),
        ("numbers", numbers_line(result)),
        ("scope", result.scope),
        ("method", result.method),
        ("note", result.note if result.ok else ""),
        ("notation", notation if result.witness else ""),
        *witness_lines(result),
        ("repeat", result.command),
        ("verify the witness", verify_command(result)),
    ]
    return "\n".join([*lines, *(f"{name}: {text}" for name, text in named if text)])


def _tally(results: Sequence[Result], partial: Partial | None = None) -> dict[str, str]:
    outcomes = [_outcome(result) for result in results] + ["error"] * (partial is not None)
    return {
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count("failure")),
        "errors": str(outcomes.count("error")),
    }
