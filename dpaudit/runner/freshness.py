"""Whether the results of a record still are what its command would give, by their keys."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from dpaudit.auditors.sampling.budget import Features, Method
from dpaudit.catalog import ROOT
from dpaudit.claims.record import Record, Result, read_record
from dpaudit.errors import DpauditError, RecordError
from dpaudit.registry import catalogue_papers
from dpaudit.runner.cells import Cell, build_cells
from dpaudit.runner.entries import claim_entries, paper_entries_of
from dpaudit.runner.keys import Keys
from dpaudit.runner.request import Request
from dpaudit.runner.trust import targets_elsewhere

RECORD = "record.json"
"""The record that `dpaudit check --output` writes."""

_NAMED = 3

_MORE_TIME = "its command has --seconds: run it again with more"

_Way = tuple[Method, Features, bool]
"""Method, features and whether to stop early: what tells apart cells that are otherwise the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """The state of one record or page.

    Attributes
    ----------
    path
        Its file.
    state
        ``up to date``, ``outdated``, or ``unknown`` where it cannot be told.
    reasons
        What changed, or why it cannot be told.
    """

    path: Path
    state: Literal["up to date", "outdated", "unknown"]
    reasons: tuple[str, ...] = ()


def check_record(path: Path, record: Record) -> Freshness:
    """Say whether every result of a record has the key that its cell has now, and nothing is missing or left over."""
    if record.partial is not None and not record.results:
        return Freshness(path=path, state="outdated", reasons=("the run was interrupted before it had any result",))
    if record.command and record.results and _ended_early(record) and not any(result.key for result in record.results):
        return Freshness(path=path, state="unknown", reasons=(f"no result was finished; {_MORE_TIME}",))
    if not record.command or not any(result.key for result in record.results):
        return Freshness(path=path, state="unknown", reasons=("the record does not say what its results depend on",))
    try:
        request = Request.from_command(record.command)
        if elsewhere := targets_elsewhere(request.targets):
            reason = (
                f"its command names {elsewhere[0]}, which is outside of the current folder, so that nothing was run"
            )
            return Freshness(path=path, state="unknown", reasons=(reason,))
        cells = build_cells(request)
    except DpauditError as error:
        return Freshness(path=path, state="outdated", reasons=(f"its command cannot be run any more: {error}",))
    if _ended_early(record):
        cells = [replace(cell, timed=True) for cell in cells]
    keys = Keys(record.seed)
    results = {_place(result.target, result.claim, result.parameters, result.key): result for result in record.results}
    made, ended_early = _Made(record, cells), _ended_early(record)
    outdated, expected_anew, without, unfinished = [], [], [], []
    for cell in cells:
        found = next(
            (
                results.pop(place)
                for key in keys.candidates(cell)
                if (place := _place(cell.target, cell.claim, cell.described, key)) in results
            ),
            None,
        )
        if found is None and ended_early and _place(cell.target, cell.claim, cell.described, "") in results:
            unfinished.append(cell.claim)
        elif found is None and record.partial and cell not in made:
            without.append(cell.claim)
        elif found is None:
            # Where the data were not at hand, neither is a result; one that is there was made of something else.
            if not cell.missing or cell in made:
                outdated.append(cell.claim)
        elif found.expected is not cell.expected or found.reason != cell.reason:
            expected_anew.append(cell.claim)
    asked = {_place(cell.target, cell.claim, cell.described, "") for cell in cells}
    gone = [
        result.claim
        for result in results.values()
        if _place(result.target, result.claim, result.parameters, "") not in asked
    ]
    reasons = [
        *_words_changed(record, cells),
        _counted(without, "the run was interrupted; its command with the same --output goes on from there", len(cells)),
        _counted(outdated, "code, parameters, plan, data or libraries that decide it changed", len(cells)),
        _counted(expected_anew, "the plan expects something else, or for another reason", len(cells)),
        _counted(gone, "no longer asked for", len(record.results)),
    ]
    told = tuple(reason for reason in reasons if reason)
    if unfinished and not told:
        return Freshness(
            path=path, state="unknown", reasons=(_counted(unfinished, f"not finished; {_MORE_TIME}", len(cells)),)
        )
    return Freshness(path=path, state="outdated" if told else "up to date", reasons=told)


def _ended_early(record: Record) -> bool:
    """Whether a deadline may have ended what a record is of."""
    return "--seconds" in record.command


class _Made:
    """The cells that a record has a result of, whatever its key; only asked for cells whose key is not there."""

    def __init__(self, record: Record, cells: Sequence[Cell]) -> None:
        self._record = record
        asked = Counter(_place(cell.target, cell.claim, cell.described, "") for cell in cells)
        self._several = {place for place, number in asked.items() if number > 1}

    def __contains__(self, cell: Cell) -> bool:
        place = _place(cell.target, cell.claim, cell.described, "")
        ways = self._ways.get(place, set())
        return bool({None, (cell.method, cell.features, cell.stop_early)} & ways)

    @cached_property
    def _ways(self) -> dict[tuple[str, str, str, str], set[_Way | None]]:
        """How the results at each place were made; None for any way, where the place is audited in one way only."""
        ways: dict[tuple[str, str, str, str], set[_Way | None]] = {}
        for result in self._record.results:
            place = _place(result.target, result.claim, result.parameters, "")
            ways.setdefault(place, set()).add(_way(result) if place in self._several else None)
        return ways


def _way(result: Result) -> _Way | None:
    """How a result was asked for, by its command, since its method may be what ``auto`` chose; None if unreadable."""
    try:
        request = Request.from_command(result.command)
    except DpauditError:
        return None
    return request.method or "auto", request.features, request.stop_early


def _words_changed(record: Record, cells: Sequence[Cell]) -> Iterator[str]:
    """Say which claims and papers are described otherwise now; a control's bug is a docstring, which does not count."""
    claims = {
        name: (record.claims.get(name), entry)
        for name, entry in claim_entries(cells).items()
        if not entry.bug and name in {result.claim for result in record.results}
    }
    changed = [name for name, (old, new) in claims.items() if old != new]
    changed += [key for key, paper in paper_entries_of(cells).items() if record.papers.get(key) != paper]
    if changed:
        named = f"{', '.join(changed[:_NAMED])}{' and more' * (len(changed) > _NAMED)}"
        yield f"{named}: statement, place, bibliography or errata changed; `make reports` audits nothing for that"


def _place(target: str, claim: str, parameters: Mapping[str, object], key: str) -> tuple[str, str, str, str]:
    return target, claim, json.dumps(parameters, sort_keys=True), key


def _counted(claims: Sequence[str], problem: str, of: int) -> str:
    """``3 of 40 results (yan2020.theorem1-rr, …): problem``; empty where there are none."""
    if not claims:
        return ""
    names = list(dict.fromkeys(claims))
    more = f" and {len(names) - _NAMED} more claims" if len(names) > _NAMED else ""
    return f"{len(claims)} of {of} results ({', '.join(names[:_NAMED])}{more}): {problem}"


def outdated_cells(cells: Sequence[Cell], results: Sequence[Result], seed: int) -> list[Cell]:
    """Cells whose result is not among those that are given."""
    keys, known = Keys(seed), {result.key for result in results}
    return [cell for cell in cells if not known & set(keys.candidates(cell))]


def check_reports(
    path: Path,
    beside: Callable[[Record], Mapping[str, str]],
    together: Callable[[Mapping[str, Record]], Mapping[str, str]],
) -> list[Freshness]:
    """Say of a record, or of every record in a folder, and of the pages there, whether they are up to date.

    Parameters
    ----------
    path
        A record, or a folder of records.
    beside
        What may lie beside a ``record.json``, by file name: what `dpaudit check --output` writes.
    together
        What lies in a folder of records of papers, from all of them by the stems of their files.

    Raises
    ------
    RecordError
        There is no such path, or no record in the folder.
    """
    if not path.exists():
        raise RecordError(f"{path}: there is no such record or folder")
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise RecordError(f"{path}: there is no record in this folder; name one that `dpaudit check` wrote")
    found, records = [], {}
    for file in files:
        try:
            record = records[file.stem] = read_record(file)
        except RecordError as error:
            found.append(Freshness(path=file, state="unknown", reasons=(str(error),)))
            continue
        found.append(check_record(file, record))
        if file.name == RECORD:
            found += _pages(file.parent, beside(record), required=False)
    if path.resolve() == ROOT / "reports":
        found += _without_record(path, records)
    if path.is_dir() and [file.name for file in files] != [RECORD] and len(records) == len(files):
        found += _pages(path, together(records), required=True)
    return found


def _without_record(folder: Path, records: Mapping[str, Record]) -> list[Freshness]:
    """Papers of the catalogue that have a plan and no record, or that cannot be imported."""
    found = []
    for key, entry in catalogue_papers().items():
        problem = entry.problem or ("the paper has a plan and no record" if entry.plan and key not in records else "")
        if problem:
            found.append(Freshness(path=folder / f"{key}.json", state="outdated", reasons=(problem,)))
    return found


def _pages(folder: Path, texts: Mapping[str, str], *, required: bool) -> list[Freshness]:
    """State of the pages that are not as they are rendered now."""
    found = []
    for name, text in texts.items():
        page = folder / name
        if page.is_file():
            # A checkout may have other line ends.
            same = page.read_bytes().replace(b"\r\n", b"\n") == text.encode("utf-8", "backslashreplace")
            problem = "" if same else f"{name} is not what is rendered from the record now"
        else:
            problem = f"{name} is missing" if required else ""
        if problem:
            found.append(Freshness(path=page, state="outdated", reasons=(problem,)))
    return found
