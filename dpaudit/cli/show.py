"""``dpaudit list`` and ``dpaudit show``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dpaudit.cli.apart import tell
from dpaudit.cli.output import PIPE_WIDTH, is_terminal, say, write_out
from dpaudit.escapes import visible
from dpaudit.mechanism import Mechanism

if TYPE_CHECKING:
    from dpaudit.claims.declarations import Declaration
    from dpaudit.claims.record import Result
    from dpaudit.registry import CataloguePaper

_NARROWEST_SOURCE = 30


def list_(
    format_: Annotated[
        Literal["text", "json"], typer.Option("--format", help="What goes to standard output.")
    ] = "text",
    claims: Annotated[bool, typer.Option("--claims", help="List claims, one for each line, without targets.")] = False,
) -> None:
    """Show the catalogue: systems, claims, sources."""
    tell(_list, format_, claims, get_terminal_size().columns if is_terminal() else PIPE_WIDTH)


def _list(format_: str, claims: bool, width: int) -> None:
    from dpaudit.registry import catalogue, catalogue_claims
    from dpaudit.registry.catalogue import broken_papers

    declared = list(catalogue_claims().values())
    if claims:
        rows = [_claim_entry(declaration) for declaration in declared]
        lines = [("claim", "kind", "source", "target")]
        lines += [(row["id"], row["kind"], row["source"], ", ".join(row["targets"])) for row in rows]
    else:
        rows = [
            _entry(name, reference.load(), [each for each in declared if name in _targets(each)])
            for name, reference in catalogue().items()
        ]
        lines = [("target", "claim", "kind", "source")]
        for row in rows:
            names = [row["target"], *[""] * len(row["claims"])]
            claims_of_row = row["claims"]
            lines += [
                (name, claim["id"], claim["kind"], claim["source"])
                for name, claim in zip(names, claims_of_row, strict=False)
            ]
    for problem in broken_papers().values():
        say(f"left out: {problem}")
    if format_ == "json":
        write_out(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
        return
    _print_table(lines, width)


def _print_table(lines: Sequence[tuple[str, ...]], width: int) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_edge=False)
    for heading in lines[0]:
        wide = heading == "source"
        table.add_column(heading, overflow="fold", no_wrap=not wide, min_width=_NARROWEST_SOURCE if wide else None)
    for line in lines[1:]:
        table.add_row(*(Text(visible(cell)) for cell in line))
    # Names are there to be copied: a pipe, or a narrow terminal, gets lines as long as it takes.
    console = Console(highlight=False)
    console.width = max(width, console.measure(table).minimum)
    with console.capture() as captured:
        console.print(table)
    write_out(captured.get(), styled=True)


def _line(text: str) -> None:
    write_out(f"{text}\n")


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="TARGET|CLAIM|PAPER", help="A target as for `dpaudit check`, a claim's id, a paper's key."
        ),
    ],
) -> None:
    """Show one system, one claim or one paper.

    A system: its parameters, views, claims and errata. A claim: its statement, where it is made, the file and line that
    define it, its audits with their verdicts, and the command for one. A paper: its claims in order.
    """
    tell(_show, name)


def _show(name: str) -> None:
    from dpaudit.plan import read_plan
    from dpaudit.registry import catalogue, catalogue_claims, catalogue_papers, find_targets

    if name.endswith(".toml"):
        plan = read_plan(name)
        named = {audit.target for audit in plan.audits} if plan.paper else set(plan.targets)
        for target, reference in plan.targets.items():
            if target in named:
                _show_target(reference.load())
        return
    if ".py" not in name and ":" not in name and name not in catalogue():
        if name in catalogue_claims():
            _show_claim(catalogue_claims()[name])
            return
        papers = catalogue_papers()
        if name in papers and not papers[name].problem:
            _show_paper(papers[name])
            return
    for reference in find_targets(name):
        _show_target(reference.load())


def _targets(declaration: Declaration) -> list[str]:
    return [target.name for target in declaration.targets]


def _claim_entry(declaration: Declaration) -> dict[str, Any]:
    from dpaudit.registry.catalogue import definition

    paper, place = declaration.paper, declaration.place
    return {
        "id": declaration.id,
        "kind": declaration.kind,
        "statement": declaration.statement,
        "paper": paper.key if paper else "",
        "place": place.label if place else "",
        "source": declaration.source,
        "targets": _targets(declaration),
        "ours": declaration.ours,
        "bug": declaration.bug,
        "reproduces": declaration.reproduces,
        "mends": list(declaration.mends),
        "definition": f"{definition(declaration)}:{declaration.line}",
    }


def _entry(name: str, target: type[Mechanism], declared: list[Declaration]) -> dict[str, Any]:
    return {
        "target": name,
        "title": target.summary(),
        "source": target.cited(),
        "parameters": target.parameter_names(),
        "claims": [
            {"id": each.id, "kind": each.kind, "source": each.source, "statement": each.statement} for each in declared
        ],
    }


def _example(target: type[Mechanism]) -> Mechanism | None:
    """Return the target at its defaults, or None if a parameter has none."""
    from dpaudit.runner.instances import instantiate

    required = any(default == "required" for _, _, default, _ in target.parameter_table())
    return None if required else instantiate(target, {})


def _views(target: Mechanism) -> dict[str, str]:
    """Each view in words; those of one class with the parameters in which they differ."""
    views = target.views()
    said = {}
    for name, view in views.items():
        alike = [other for other in views.values() if type(other) is type(view)]
        own = {
            key: value
            for key, value in view.parameters().items()
            if any(other.parameters()[key] != value for other in alike)
        }
        words = type(view).summary() or view.name
        said[name] = words + (f" ({', '.join(f'{key}={value}' for key, value in own.items())})" if own else "")
    return said


def _show_target(target: type[Mechanism]) -> None:
    instance = _example(target)
    _line(f"{target.name}: {target.summary()}")
    if target.cited():
        _line(f"Source: {target.cited()}")
    if target.trust:
        _line(f"Trust model: {target.trust}")
    _line("\nParameters")
    for name, kind, default, doc in target.parameter_table():
        _line(f"  {name} = {default}  ({kind}){': ' + doc if doc else ''}")
    claims = _claims(target, instance)
    if claims is None or instance is None:
        _line("\nIts claims depend on parameters without a default; give them with `dpaudit check --set`.")
        return
    _line("\nViews")
    views = instance.views()
    for name, words in _views(instance).items():
        _line(f"  {name}: {words}")
        if views[name].notation:
            _line(f"    written: {views[name].notation}")
    _line("\nClaims")
    for claim in claims:
        ours = "ours; " if getattr(claim, "ours", False) else ""
        _line(f"  {claim.id} ({claim.kind}; {ours}{claim.source or 'no source given'})")
        _line(f"    {claim.statement}")
    _show_errata(target.errata)


def _show_errata(errata: Any) -> None:
    if errata:
        _line("\nErrata")
    for erratum in errata:
        _line(f"  {erratum.where}")
        _line(f"    printed: {erratum.printed}")
        _line(f"    meant:   {erratum.meant}")
        _line(f"    because: {erratum.reason}")


def _claims(target: type[Mechanism], instance: Mechanism | None) -> list[Any] | None:
    """Claims of a target: those that are declared, or else those that it makes at its defaults."""
    from dpaudit.claims.declarations import declarations_of
    from dpaudit.runner.instances import claims_of

    if target.claims is Mechanism.claims:
        return list(declarations_of(target))
    return None if instance is None else claims_of(instance)


def _show_claim(declaration: Declaration) -> None:
    from dpaudit.reporting.reading import verdict_regions

    _line(f"{declaration.id} ({declaration.kind}): {declaration.statement}")
    if declaration.bug:
        _line(f"A control. Its bug: {declaration.bug}")
    if declaration.source and not declaration.bug:
        _line(f"Source: {declaration.source}")
    if declaration.ours:
        _line("No paper says so: this statement is ours, for comparison.")
    if declaration.mends:
        _line(f"Mends: {', '.join(declaration.mends)}")
    if mended := _mending(declaration):
        _line(f"What would mend it: {', '.join(mended)}")
    _line(f"Target: {', '.join(_targets(declaration))}")
    if declaration.file is not None:
        _line(f"Defined in {_shown(declaration.file)}, line {declaration.line}")
    results = [result for result in _recorded(declaration) if result.claim == declaration.id]
    audits = _audits(declaration)
    if audits:
        _line("\nAudits")
    for file, line, audit in audits:
        values = ", ".join(f"{name} = {_values(value)}" for name, value in audit.set.items()) or "the defaults"
        values += f", on {' and '.join(audit.datasets)}" if audit.datasets else ""
        _line(f"  {_shown(file)}, line {line}: {values}")
        _line(f"    expected {audit.expect}: {audit.reason}")
    if results:
        where = verdict_regions(results)
        counts = Counter(result.verdict for result in results)
        words = (
            f"{count} {verdict}" + (f" ({where[verdict]})" if verdict in where else "")
            for verdict, count in counts.items()
        )
        _line(f"\nVerdicts recorded: {', '.join(words)}")
        for result in results:
            _line(f"  {result.verdict:12}  {', '.join(f'{k}={v}' for k, v in result.parameters.items())}")
        _line("\nTo audit one of them again")
        told = next((each for each in results if each.verdict == "refuted"), results[0])
        _line(f"  {told.command}")
    else:
        _line(f"\nTo audit it: dpaudit check {declaration.id}")


def _mending(declaration: Declaration) -> list[str]:
    """Ids of the claims that say what would mend one and are not refuted themselves, with the verdicts recorded."""
    from dpaudit.registry import catalogue_claims

    found = []
    for each in catalogue_claims().values():
        if declaration.id in each.mends:
            counts = Counter(result.verdict for result in _recorded(each) if result.claim == each.id)
            words = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
            found += [f"{each.id} ({words or 'not audited yet'})"] if "refuted" not in counts else []
    return found


def _values(value: Any) -> str:
    return " | ".join(map(str, value)) if isinstance(value, list) else str(value)


def _shown(file: Path) -> str:
    here = Path.cwd().resolve()
    return str(file.resolve().relative_to(here) if file.resolve().is_relative_to(here) else file)


def _audits(declaration: Declaration) -> list[tuple[Path, int, Any]]:
    """Audits of a claim in the plans of the catalogue, with file and line."""
    from dpaudit.plan import audit_lines, plans_of

    found = []
    for target in declaration.targets:
        for plan in plans_of(target.name):
            for line, audit in zip(audit_lines(plan.path), plan.audits, strict=True):
                if audit.claim == declaration.id and audit.target == target.name:
                    found.append((plan.path, line, audit))
    return found


def _recorded(declaration: Declaration) -> tuple[Result, ...]:
    """Results of the catalogue's record of the paper that a claim stands under; none where there is no such record."""
    from dpaudit.claims.record import read_record
    from dpaudit.registry.catalogue import record_of

    found: list[Result] = []
    for path in record_of(declaration):
        found += read_record(path).results
    return tuple(found)


def _show_paper(entry: CataloguePaper) -> None:
    paper = entry.paper
    if paper is not None:
        _line(f"{', '.join(paper.authors)}, {paper.title}{f', {paper.venue}' if paper.venue else ''}, {paper.year}")
        for words in filter(None, (f"https://doi.org/{paper.doi}" if paper.doi else "", paper.url)):
            _line(words)
    ordered = sorted(entry.declarations, key=lambda each: (bool(each.bug), each.ours, not each.place, each.place))
    parts = (
        ("Claims", [each for each in ordered if not each.bug and not each.ours]),
        ("Statements of ours, for comparison", [each for each in ordered if each.ours and not each.bug]),
        ("Controls", [each for each in ordered if each.bug]),
    )
    verdicts: dict[str, Counter[str]] = {}
    for result in _recorded(ordered[0]) if ordered else ():
        verdicts.setdefault(result.claim, Counter())[str(result.verdict)] += 1
    for heading, declarations in parts:
        if declarations:
            refuted = sum("refuted" in verdicts.get(each.id, ()) for each in declarations)
            _line(f"\n{heading}" + (f" ({refuted} of {len(declarations)} refuted somewhere)" if verdicts else ""))
        for each in declarations:
            counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.get(each.id, {}).items())
            _line(f"  {each.id} ({each.place.label if each.place and not each.bug else each.kind})")
            _line(f"    {each.bug or each.statement}")
            if counts:
                _line(f"    {counts}")
    if entry.left_alone:
        _line("\nAssertions that are not audited")
    for assertion in entry.left_alone:
        _line(f"  {assertion.where.label}: {assertion.says}")
        _line(f"    left alone: {assertion.reason}")
    _show_errata(sorted(entry.errata, key=lambda each: (isinstance(each.where, str), each.where)))
    if entry.plan is not None:
        _line(f"\nPlan: {_shown(entry.plan)}; `dpaudit check {entry.key}` runs it")
