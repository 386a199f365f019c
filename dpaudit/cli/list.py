"""``dpaudit list``."""

from __future__ import annotations

import json
from shutil import get_terminal_size
from typing import Annotated, Any, Literal

import typer

from dpaudit.cli import completion
from dpaudit.cli.apart import call_alone
from dpaudit.cli.output import is_terminal, say, write_out
from dpaudit.cli.rows import catalogue_rows
from dpaudit.escapes import visible

_GAP = "  "


def list_(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORD", help="Only what has all of these in its name, title, source or claims."),
    ] = None,
    paper: Annotated[
        str | None,
        typer.Option(
            metavar="KEY", autocompletion=completion.papers, help="Only what this paper defines or makes claims about."
        ),
    ] = None,
    claims: Annotated[bool, typer.Option("--claims", help="List claims in place of targets.")] = False,
    controls: Annotated[
        bool, typer.Option("--controls", help="List the controls too: variants that are broken on purpose.")
    ] = False,
    format_: Annotated[
        Literal["text", "json"], typer.Option("--format", help="What goes to standard output; json has the controls.")
    ] = "text",
) -> None:
    """Show the catalogue, one line for each target or claim."""
    rows, problems = call_alone(catalogue_rows, paper, words or [], claims)
    for problem in problems:
        say(f"left out: {problem}")
    if format_ == "json":
        write_out(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
        return
    shown = [row for row in rows if controls or not (row["bug"] if claims else row["control"])]
    _print(_claim_lines(shown) if claims else _target_lines(shown))
    if len(rows) > len(shown):
        say(f"{len(rows) - len(shown)} controls, which are broken on purpose, are left out; --controls lists them")
    if not rows:
        say(f"nothing in the catalogue {_sought(words, paper)}; `dpaudit list` shows all of it")


def _sought(words: list[str] | None, paper: str | None) -> str:
    """Say what was looked for."""
    parts = [f"has {' and '.join(map(repr, words))}"] if words else []
    parts += [f"is of the paper {paper}"] if paper else []
    return " and ".join(parts) or "can be listed"


def _target_lines(rows: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    lines = [("target", "claims", "papers", "what it is")]
    return lines + [
        (row["target"], str(len(row["claims"])), ", ".join(row["papers"]), " ".join(row["title"].split()))
        for row in rows
    ]


def _claim_lines(rows: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    lines = [("claim", "kind", "target", "what it says")]
    return lines + [
        (row["id"], row["kind"], ", ".join(row["targets"]), " ".join(row["statement"].split())) for row in rows
    ]


def _print(lines: list[tuple[str, ...]]) -> None:
    """Print a line for each row: whole names, and of the last column what a terminal has room for."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]) - 1)]
    room = get_terminal_size().columns if is_terminal() else None
    shown = []
    for line in lines:
        head = _GAP.join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=False))
        text = f"{head}{_GAP}{line[-1]}"
        if room is not None and len(text) > room:
            text = f"{text[: max(room - 1, len(head))]}…"
        shown.append(visible(text))
    write_out("\n".join(shown) + "\n")
