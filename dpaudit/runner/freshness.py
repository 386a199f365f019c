"""Whether a report still matches the code, plans and protocols that it was made from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Literal

from dpaudit.catalog import ROOT
from dpaudit.claims.record import Record, joined, read_record
from dpaudit.errors import RecordError
from dpaudit.runner.cells import Cell

CODE = "dpaudit"
"""Stands for the toolkit's own code among the sources."""

ALL_PROTOCOLS = "protocols"
"""Stands for all protocols of the catalogue, where one may load others."""

RECORD, REPRODUCED = "record.json", "reproduced.json"
"""The record that a report is made from; that of the published figures, which takes longer, may lie beside it."""

_LOADS = "dpaudit.load("
_LONGEST_NAME = 200

_PACKAGE = Path(__file__).parents[1]
_NOT_COUNTED = ("reporting", "cli", "catalog")
"""What decides no result. That the pages are as `reporting` makes them is checked by making them again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """The state of one report.

    Attributes
    ----------
    path
        Its record.
    state
        ``up to date``, ``outdated``, or ``unknown`` where the record does not say what it was made from.
    reasons
        What changed, or cannot be told.
    """

    path: Path
    state: Literal["up to date", "outdated", "unknown"]
    reasons: tuple[str, ...] = ()


def sources_of(cells: Sequence[Cell]) -> dict[str, str]:
    """SHA-256 of every file that the results of these cells come from, and of the toolkit's code."""
    paths = {Path(path) for cell in cells for path in (cell.reference.path, cell.plan, (cell.data or ("",))[0]) if path}
    # A module of an installed package has no file here.
    found = {_name(path): _digest(path) for path in sorted(paths) if path.is_file()}
    if any(_LOADS in path.read_text(encoding="utf-8") for path in paths if path.suffix == ".py" and path.is_file()):
        found[ALL_PROTOCOLS] = _digests(sorted((ROOT / "protocols").rglob("*.py")))
    return {**found, CODE: _digests(_code())}


def read_records(path: Path) -> Record:
    """Return a record, with that of the published figures beside it where there is one.

    Raises
    ------
    RecordError
        A file cannot be read or is not a record.
    """
    return reduce(joined, map(read_record, _together(path)))


def is_up_to_date(path: Path) -> bool:
    """Whether a record is there, can be read, and matches everything that it was made from."""
    try:
        record = read_record(path)
    except RecordError:
        return False
    return bool(record.sources) and not any(_changes(record, path.parent))


def check_reports(
    path: Path,
    files: Mapping[str, Callable[[Record], str]],
    ledgers: Mapping[str, Callable[[Mapping[str, Record]], str]] | None = None,
) -> list[Freshness]:
    """Say of a record, or of every ``record.json`` in a folder and below it, whether it is up to date.

    Parameters
    ----------
    path
        A record or a folder.
    files
        What else lies beside a record, and how it is rendered from it; a file that is not there is not missed.
    ledgers
        What lies in the folder itself, and how it is rendered from all records below it.

    Raises
    ------
    RecordError
        There is no such path, or no record in the folder.
    """
    if not path.exists():
        raise RecordError(f"{path}: there is no such record or folder")
    records = sorted(path.rglob(RECORD)) if path.is_dir() else [path]
    if not records:
        raise RecordError(f"{path}: there is no record.json in this folder; name one that `dpaudit check` wrote")
    found = [_freshness(record, files) for record in records]
    if path.is_dir() and path / RECORD not in records and all(report.state != "unknown" for report in found):
        every = {record.parent.relative_to(path).as_posix(): read_records(record) for record in records}
        for name, render in (ledgers or {}).items():
            ledger = path / name
            if ledger.is_file():
                reasons = _differs(ledger, render(every))
                found.append(Freshness(path=ledger, state="outdated" if reasons else "up to date", reasons=reasons))
    return found


def _freshness(path: Path, files: Mapping[str, Callable[[Record], str]]) -> Freshness:
    try:
        records = [read_record(found) for found in _together(path)]
    except RecordError as error:
        return Freshness(path=path, state="unknown", reasons=(str(error),))
    if not all(record.sources for record in records):
        return Freshness(path=path, state="unknown", reasons=("the record does not say what it was made from",))
    reasons = list(dict.fromkeys(change for record in records for change in _changes(record, path.parent)))
    for name, render in files.items():
        if path.with_name(name).is_file():
            reasons += _differs(path.with_name(name), render(reduce(joined, records)))
    return Freshness(path=path, state="outdated" if reasons else "up to date", reasons=tuple(reasons))


def _together(path: Path) -> list[Path]:
    beside = path.with_name(REPRODUCED)
    return [path, beside] if path.name == RECORD and beside.is_file() else [path]


def _differs(path: Path, text: str) -> tuple[str, ...]:
    same = _content(path) == text.encode("utf-8", "backslashreplace")
    return () if same else (f"{path.name} is not what is rendered from the record now",)


def _changes(record: Record, near: Path) -> Iterator[str]:
    """What changed of the sources, which are looked for here, in the catalogue, and above the folder of the record."""
    above = [near.resolve(), *near.resolve().parents]
    return filter(None, (_changed(name, digest, above) for name, digest in record.sources.items()))


def _changed(name: str, digest: str, above: Sequence[Path]) -> str:
    """Return what happened to a source; empty where it is the same."""
    if name == CODE:
        return "" if _digests(_code()) == digest else "the code of dpaudit changed"
    if name == ALL_PROTOCOLS:
        return "" if _digests(sorted((ROOT / "protocols").rglob("*.py"))) == digest else "a protocol of the catalogue changed"
    root = ROOT
    places = [Path(name), *([root / name] if root else []), *(folder / name for folder in above)]
    try:
        found = next((place for place in places if place.is_file()), None)
        if found is None:
            return f"{name} is gone"
        return "" if _digest(found) == digest else f"{name} changed"
    except OSError as error:
        return f"{name[:_LONGEST_NAME]} cannot be read ({error.strerror})"


def _name(path: Path) -> str:
    """Return the path as seen from the catalogue, or from here, or else as it is."""
    for root in (ROOT, Path.cwd()):
        if root is not None and path.resolve().is_relative_to(root.resolve()):
            return path.resolve().relative_to(root.resolve()).as_posix()
    return path.as_posix()


def _code() -> Iterator[Path]:
    return (path for path in _PACKAGE.rglob("*.py") if path.relative_to(_PACKAGE).parts[0] not in _NOT_COUNTED)


def _digests(paths: Iterable[Path]) -> str:
    lines = sorted(f"{path.parent.name}/{path.name}\0{_digest(path)}" for path in paths)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _digest(path: Path) -> str:
    return hashlib.sha256(_content(path)).hexdigest()


def _content(path: Path) -> bytes:
    """Content with the line ends of Unix: a checkout may have others."""
    return path.read_bytes().replace(b"\r\n", b"\n")
