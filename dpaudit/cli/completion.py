"""What a shell completes: names in the catalogue's plans. Nothing is imported, so that completing runs no code."""

from __future__ import annotations

import re
from pathlib import Path

from dpaudit.catalog import ROOT

_NAMED = re.compile(r'^(target|claim|paper) = "([^"]+)"$', flags=re.MULTILINE)


def targets(incomplete: str) -> list[str]:
    """Targets, claims and papers of the catalogue that begin with a text, and files that do."""
    return [*_names(incomplete, "target", "claim", "paper"), *_files(incomplete)]


def claims(incomplete: str) -> list[str]:
    """Claims of the catalogue that begin with a text."""
    return _names(incomplete, "claim")


def papers(incomplete: str) -> list[str]:
    """Papers of the catalogue that begin with a text."""
    return _names(incomplete, "paper")


def _names(incomplete: str, *kinds: str) -> list[str]:
    found = {
        name
        for path in sorted((ROOT / "audits").glob("*.toml"))
        for kind, name in _NAMED.findall(path.read_text(encoding="utf-8"))
        if kind in kinds and name.startswith(incomplete)
    }
    return sorted(found)


def _files(incomplete: str) -> list[str]:
    """Python files and plans, and folders, in the folder that a text names."""
    folder, slash, start = incomplete.rpartition("/")
    try:
        inside = sorted(Path(f"{folder}{slash}" or ".").iterdir())
    except OSError:
        return []
    return [
        f"{folder}{slash}{path.name}{'/' if path.is_dir() else ''}"
        for path in inside
        if path.name.startswith(start)
        and (start or not path.name.startswith("."))
        and (path.is_dir() or path.suffix in (".py", ".toml"))
    ]
