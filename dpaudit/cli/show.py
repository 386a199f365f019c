"""``dpaudit list`` and ``dpaudit show``."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any, Literal

import typer

from dpaudit.cli.output import PIPE_WIDTH
from dpaudit.mechanism import Mechanism

_NARROWEST_SOURCE = 30


def list_(
    format_: Annotated[
        Literal["text", "json"], typer.Option("--format", help="What goes to standard output.")
    ] = "text",
) -> None:
    """Show the catalogue: systems, claims, sources."""
    from dpaudit.registry import catalogue

    rows = [_entry(name, reference.load()) for name, reference in catalogue().items()]
    if format_ == "json":
        sys.stdout.write(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_edge=False)
    for heading in ("target", "claim", "kind", "source"):
        table.add_column(
            heading,
            overflow="fold",
            no_wrap=heading != "source",
            min_width=_NARROWEST_SOURCE if heading == "source" else None,
        )
    for row in rows:
        for i, claim in enumerate(row["claims"]):
            table.add_row(row["target"] if i == 0 else "", claim["id"], claim["kind"], claim["source"])
    # Names are there to be copied: a pipe, or a narrow terminal, gets lines as long as it takes.
    console = Console(highlight=False)
    console.width = max(console.width if sys.stdout.isatty() else PIPE_WIDTH, console.measure(table).minimum)
    console.print(table)


def show(target: Annotated[str, typer.Argument(metavar="TARGET", help="As for `dpaudit check`.")]) -> None:
    """Show one system: parameters, claims, views, sources, errata."""
    from rich.console import Console

    from dpaudit.registry import find_targets
    from dpaudit.plan import read_plan

    console = Console(highlight=False, markup=False, soft_wrap=True)
    for reference in read_plan(target).targets.values() if target.endswith(".toml") else find_targets(target):
        _show(reference.load(), console)


def _entry(name: str, target: type[Mechanism]) -> dict[str, Any]:
    from dpaudit.runner.instances import claims_of

    instance = _example(target)
    return {
        "target": name,
        "title": target.summary(),
        "source": target.source,
        "parameters": [row[0] for row in target.parameter_table()],
        "claims": [
            {"id": claim.id, "kind": claim.kind, "source": claim.source, "statement": claim.statement}
            for claim in (claims_of(instance) if instance else ())
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


def _show(target: type[Mechanism], console: Any) -> None:
    from dpaudit.runner.instances import claims_of

    instance = _example(target)
    console.print(f"{target.name}: {target.summary()}")
    if target.source:
        console.print(f"Source: {target.source}")
    if target.trust:
        console.print(f"Trust model: {target.trust}")
    console.print("\nParameters")
    for name, kind, default, doc in target.parameter_table():
        console.print(f"  {name} = {default}  ({kind}){': ' + doc if doc else ''}")
    if instance is None:
        console.print("\nIts claims depend on parameters without a default; give them with `dpaudit check --set`.")
        return
    console.print("\nViews")
    views = instance.views()
    for name, words in _views(instance).items():
        console.print(f"  {name}: {words}")
        if views[name].notation:
            console.print(f"    written: {views[name].notation}")
    console.print("\nClaims")
    for claim in claims_of(instance):
        console.print(f"  {claim.id} ({claim.kind}; {claim.source or 'no source given'})")
        console.print(f"    {claim.statement}")
    if target.errata:
        console.print("\nErrata")
        for erratum in target.errata:
            console.print(f"  {erratum.where}")
            console.print(f"    printed: {erratum.printed}")
            console.print(f"    meant:   {erratum.meant}")
            console.print(f"    because: {erratum.reason}")
