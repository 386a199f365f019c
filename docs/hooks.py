"""Pages of the site that are made from the code, the command line and the committed reports."""

from __future__ import annotations

import ast
import inspect
import json
import re
import typing
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def on_files(files: Any, config: Any) -> Any:
    """Add the pages to those of the folder."""
    from mkdocs.structure.files import File

    for name, content in pages().items():
        files.append(File.generated(config, name, content=content))
    for svg in (ROOT / "reports").glob("*.svg"):
        files.append(File.generated(config, f"papers/{svg.name}", abs_src_path=str(svg)))
    return files


def pages() -> dict[str, str]:
    """Return the pages by file name."""
    return {
        "reference/python.md": python_reference(),
        "reference/cli.md": cli_reference(),
        "reference/schemas.md": schemas(),
        "explanation/auditors.md": auditors(),
        **papers(),
    }


def names() -> list[str]:
    """Return the names of the pages, which making them takes longer to find out."""
    papers = [f"papers/{path.name}" for path in (ROOT / "reports").glob("*.md") if path.name != "README.md"]
    reference = [f"reference/{name}.md" for name in ("python", "cli", "schemas")]
    return [*reference, "explanation/auditors.md", "findings.md", *papers]


def python_reference() -> str:
    """Return a page with every public name."""
    import dpaudit

    lines = ["# Python", "", "Every name is an attribute of `dpaudit`.", ""]
    for name in dpaudit.__all__:
        home = dpaudit._HOMES[name]
        module = home == f"dpaudit.{name}"
        lines += [f"::: {home if module else f'{home}.{name}'}", *(_SHALLOW if module else ()), ""]
    return "\n".join(lines)


_SHALLOW = ("    options:", "      members: false")
"""Of a module its docstring alone: its own names would be a page each."""


def cli_reference() -> str:
    """Return a page with every command, its arguments, options and examples."""
    import typer

    from dpaudit.cli.application import app
    from dpaudit.cli.examples import EXAMPLES

    lines = ["# Command line", ""]
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        lines += [f"## dpaudit {name}", "", inspect.cleandoc(command.help or ""), ""]
        lines += ["| argument or option | meaning |", "|---|---|"]
        kinds = typing.get_type_hints(inspect.unwrap(command.callback))
        for parameter in command.params:
            spelled = ", ".join(f"`{each}`" for each in parameter.opts) if parameter.param_type_name == "option" else ""
            kind = kinds.get(parameter.name)
            choices = "|".join(typing.get_args(kind)) if typing.get_origin(kind) is typing.Literal else ""
            metavar = choices or parameter.metavar or (parameter.name or "").upper()
            shown = f"{spelled} {'' if getattr(parameter, 'is_flag', False) else metavar}" if spelled else metavar
            lines.append(f"| {_cell(shown)} | {_cell(getattr(parameter, 'help', '') or '')} |")
        lines += ["", "```sh", *EXAMPLES.get(name, ()), "```", ""]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def schemas() -> str:
    """Return a page with the JSON schemas."""
    from dpaudit.cli.schema import schema_of

    lines = ["# Schemas", "", "`dpaudit schema NAME` prints each of these.", ""]
    for name in ("plan", "record", "witness", "settings"):
        lines += [f"## {name}", "", "```json", json.dumps(schema_of(name), indent=1, ensure_ascii=False), "```", ""]
    return "\n".join(lines)


def auditors() -> str:
    """Return a page with the guarantee of every auditor, from its docstring."""
    lines = [
        "# What each auditor guarantees",
        "",
        "A statement that rests on samples is true with at least the stated confidence, which covers everything that",
        "was done to reach it: choosing the event, several events, several pairs. The record states the sum of the",
        "error probabilities of all results. What is computed exactly has no error probability.",
        "",
    ]
    for path in sorted((ROOT / "dpaudit" / "auditors").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
                continue
            text = ast.get_docstring(node) or ""
            found = re.search(r"\*\*Guarantee\.?\*\*.*?(?=\n\n|\Z)", text, flags=re.DOTALL)
            if found:
                first = text.split("\n\n")[0]
                lines += [f"## {node.name}", "", first, "", found.group().replace("**Checked", "\n\n**Checked"), ""]
    return "\n".join(lines)


def papers() -> dict[str, str]:
    """Return the ledger and the pages of papers, as they are committed."""
    found = {f"papers/{path.name}": path.read_text(encoding="utf-8") for path in (ROOT / "reports").glob("*.md")}
    ledger = found.pop("papers/README.md")
    found["findings.md"] = re.sub(r"\]\((?!https?:|#|/|\.\.)", "](papers/", ledger)
    return found
