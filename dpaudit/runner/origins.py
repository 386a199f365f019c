"""Where the code of targets is, for reports that point to it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dpaudit.reading import MEBIBYTE, read_text
from dpaudit.registry.references import TargetReference
from dpaudit.runner.cells import Cell

_LARGEST = 16 * MEBIBYTE


def origins(cells: Iterable[Cell]) -> dict[str, dict[str, Any]]:
    """File and line of the targets of cells, by name; without those that are not known."""
    firsts = {cell.target: cell.reference for cell in reversed(list(cells))}
    found = {name: _origin(reference) for name, reference in firsts.items()}
    return {name: origin for name, origin in found.items() if origin is not None}


def _origin(reference: TargetReference) -> dict[str, Any] | None:
    if reference.command is not None:
        # What declares a command is its plan, or the command line.
        plan = reference.path if reference.path.endswith(".toml") else None
        return None if plan is None else {"file": _shown(Path(plan)), "line": 1}
    file = reference.file
    return None if file is None else {"file": _shown(file), "line": _line(file, reference.attribute)}


def _shown(file: Path) -> str:
    path, here = file.resolve(), Path.cwd().resolve()
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()


def _line(file: Path, name: str) -> int:
    """Line on which a name is defined in a file; 1 where that is not found."""
    try:
        body = ast.parse(read_text(file, most=_LARGEST)).body
    except (OSError, ValueError, SyntaxError, RecursionError):
        return 1
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return node.lineno
        assigned = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(each, ast.Name) and each.id == name for each in assigned):
            return node.lineno
    return 1
