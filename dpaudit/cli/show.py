"""``dpaudit show``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dpaudit.cli import completion
from dpaudit.cli.apart import call_alone
from dpaudit.cli.output import write_out

if TYPE_CHECKING:
    from dpaudit.cli.facts import Facts

_LONGEST_FINDING = 160
_LONGEST_WITNESS = 400


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="TARGET|CLAIM|PAPER",
            autocompletion=completion.targets,
            help="A target as for `dpaudit check`, a claim's id or the beginning of several, a paper's key.",
        ),
    ],
    format_: Annotated[
        Literal["text", "json"], typer.Option("--format", help="What goes to standard output.")
    ] = "text",
) -> None:
    """Show one system, one claim or one paper, with the verdicts of the committed records.

    A system: its parameters, views, claims and errata. A claim: its statement, where it is made, the file and line that
    define it, its audits, the verdict at each setting, a witness, and the command that repeats it. A paper: its claims
    in order. The beginning of several ids, up to a hyphen or a dot, shows each of them.
    """
    found: list[Facts] = call_alone(_facts, name)
    if format_ == "json":
        write_out(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
        return
    say_one = {"target": _target, "claim": _claim, "paper": _paper}
    write_out("\n".join("\n".join(say_one[each["object"]](each)) + "\n" for each in found))


def _facts(name: str) -> list[Facts]:
    from dpaudit.cli.facts import facts_of

    return facts_of(name)


def _target(facts: Facts) -> list[str]:
    lines = [f"{facts['target']}: {facts['title']}"]
    if facts["source"]:
        lines.append(f"Source: {facts['source']}")
    if facts["trust"]:
        lines.append(f"Trust model: {facts['trust']}")
    lines.append("\nParameters")
    for each in facts["parameters"]:
        doc = f": {each['doc']}" if each["doc"] else ""
        lines.append(f"  {each['name']} = {each['default']}  ({each['type']}){doc}")
    if facts["claims"] is None:
        return [*lines, "\nIts claims depend on parameters without a default; give them with `dpaudit check --set`."]
    lines.append("\nViews")
    for view in facts["views"]:
        lines.append(f"  {view['name']}: {view['words']}")
        lines += [f"    written: {view['notation']}"] if view["notation"] else []
    lines.append("\nClaims")
    for claim in facts["claims"]:
        ours = "ours; " if claim["ours"] else ""
        lines.append(f"  {claim['id']} ({claim['kind']}; {ours}{claim['source'] or 'no source given'})")
        lines.append(f"    {claim['statement']}")
        lines += [f"    {_counted(claim['verdicts'])}"] if claim["verdicts"] else []
    return [*lines, *_errata(facts["errata"])]


def _claim(facts: Facts) -> list[str]:
    lines = [f"{facts['id']} ({facts['kind']}): {facts['statement']}"]
    if facts["bug"]:
        lines.append(f"A control. Its bug: {facts['bug']}")
    if facts["source"] and not facts["bug"]:
        lines.append(f"Source: {facts['source']}")
    if facts["ours"]:
        lines.append("No paper says so: this statement is ours, for comparison.")
    if facts["mends"]:
        lines.append(f"Mends: {', '.join(facts['mends'])}")
    if facts["mended_by"]:
        words = (f"{each['id']} ({_counted(each['verdicts']) or 'not audited yet'})" for each in facts["mended_by"])
        lines.append(f"What would mend it: {', '.join(words)}")
    lines.append(f"Target: {', '.join(facts['targets'])}")
    if facts["file"]:
        lines.append(f"Defined in {facts['file']}, line {facts['line']}")
    if facts["audits"]:
        lines.append("\nAudits")
    for audit in facts["audits"]:
        values = ", ".join(f"{name} = {_values(value)}" for name, value in audit["set"].items()) or "the defaults"
        values += f", on {' and '.join(audit['data'])}" if audit["data"] else ""
        lines.append(f"  {audit['file']}, line {audit['line']}: {values}")
        lines.append(f"    expected {audit['expect']}: {audit['reason']}")
    if not facts["results"]:
        return [*lines, f"\nTo audit it: {facts['command']}"]
    regions = facts["regions"]
    words = (
        f"{count} {verdict}" + (f" ({regions[verdict]})" if verdict in regions else "")
        for verdict, count in facts["verdicts"].items()
    )
    lines.append(f"\nVerdicts recorded: {', '.join(words)}")
    lines += _results(facts["results"])
    if facts["witness"]:
        lines.append("\nWitness of the result that says most")
        lines += [f"  {name}: {_printable(text)}" for name, text in facts["witness"].items()]
    return [*lines, f"\nTo audit {'it' if facts['witness'] else 'one of them'} again", f"  {facts['command']}"]


def _results(results: list[Facts]) -> list[str]:
    """A line for each result: what tells its settings from others, and the number that decides it."""
    told = [{name: f"{name}={value}" for name, value in each["parameters"].items()} for each in results]
    if len({each["method"] for each in results}) > 1:
        told = [{**each, "method": result["method"]} for each, result in zip(told, results, strict=True)]
    names = list(dict.fromkeys(name for each in told for name in each))
    varying = [name for name in names if len({each.get(name) for each in told}) > 1]
    same = ", ".join(told[0][name] for name in names if name not in varying)
    lines = [f"  All at {same}"] if same and varying else []
    for result, each in zip(results, told, strict=True):
        settings = ", ".join(each[name] for name in varying if name in each) or same
        lines.append(f"  {result['verdict']:12}  {settings + ': ' if settings else ''}{_brief(result['finding'])}")
    return lines


def _printable(text: str) -> str:
    return text if len(text) <= _LONGEST_WITNESS else "too long to print here, see the record"


def _brief(finding: str) -> str:
    """Return what was found without how tight the claim is, and of long texts the beginning."""
    text = re.split(r"; (?=tightness |slack |detection limit )", finding)[0]
    return text if len(text) <= _LONGEST_FINDING else f"{text[:_LONGEST_FINDING].rstrip()} …"


def _paper(facts: Facts) -> list[str]:
    lines = []
    if facts["title"]:
        venue = f", {facts['venue']}" if facts["venue"] else ""
        lines.append(f"{', '.join(facts['authors'])}, {facts['title']}{venue}, {facts['year']}")
        lines += [f"https://doi.org/{facts['doi']}"] if facts["doi"] else []
        lines += [facts["url"]] if facts["url"] else []
    claims = facts["claims"]
    parts = (
        ("Claims", [each for each in claims if not each["bug"] and not each["ours"]]),
        ("Statements of ours, for comparison", [each for each in claims if each["ours"] and not each["bug"]]),
        ("Controls", [each for each in claims if each["bug"]]),
    )
    recorded = any(each["verdicts"] for each in claims)
    for heading, some in parts:
        if some:
            refuted = sum("refuted" in each["verdicts"] for each in some)
            lines.append(f"\n{heading}" + (f" ({refuted} of {len(some)} refuted somewhere)" if recorded else ""))
        for each in some:
            lines.append(f"  {each['id']} ({each['place'] if each['place'] and not each['bug'] else each['kind']})")
            lines.append(f"    {each['bug'] or each['statement']}")
            lines += [f"    {_counted(each['verdicts'])}"] if each["verdicts"] else []
    if facts["left_alone"]:
        lines.append("\nAssertions that are not audited")
    for assertion in facts["left_alone"]:
        lines += [f"  {assertion['where']}: {assertion['says']}", f"    left alone: {assertion['reason']}"]
    lines += _errata(facts["errata"])
    if facts["plan"] is not None:
        lines.append(f"\nPlan: {facts['plan']}; `dpaudit check {facts['key']}` runs it")
    return lines


def _errata(errata: list[Facts]) -> list[str]:
    lines = ["\nErrata"] if errata else []
    for each in errata:
        lines += [f"  {each['where']}", f"    printed: {each['printed']}", f"    meant:   {each['meant']}"]
        lines.append(f"    because: {each['reason']}")
    return lines


def _counted(verdicts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())


def _values(value: Any) -> str:
    return " | ".join(map(str, value)) if isinstance(value, list) else str(value)
