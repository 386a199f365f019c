"""Joining the records of the shards of a run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from dpaudit.claims.kept import Keep
from dpaudit.claims.record import Record, Result, Shard, summarise, summed_errors
from dpaudit.errors import RecordError
from dpaudit.runner.witnesses import FOLDER as WITNESSES

_SHARD = re.compile(r" --shard \d+/\d+(?= )")

_LONGEST = 200
"""Characters of a command that a message shows."""


def merge(records: Mapping[str, Record], *, output: Path | None = None) -> Record:
    """Join the records of all shards of a run, as the record of the whole run.

    Parameters
    ----------
    records
        The records by name, in any order.
    output
        Folder of the report on the whole, in whose folder ``witnesses`` the witness files are going to be.

    Returns
    -------
    Record
        Equal to that of the whole run but for environment and timing. These are the first shard's environment, the
        earliest start, and the sum of the seconds.

    Raises
    ------
    RecordError
        A record is not that of a shard or of one that was interrupted, the records are not of one run and one
        version, a target's code or data differ between them, or a shard is missing or there twice.
    """
    shards = {name: _shard(name, record) for name, record in records.items()}
    name, first = next(iter(records.items()))
    for other, record in records.items():
        for what in ("version", "seed", "command", "of"):
            one, another = _common(first)[what], _common(record)[what]
            if one != another:
                raise RecordError(
                    f"{other}: its {what} is {another}, that of {name} is {one}; join the shards of one run"
                )
        _check_code(name, shards[name], other, shards[other])
    by_number: dict[int, str] = {}
    for other, shard in shards.items():
        if shard.number in by_number:
            raise RecordError(
                f"{other}: shard {shard.number}/{shard.of} is in {by_number[shard.number]} too; give each of them once"
            )
        by_number[shard.number] = other
    of = shards[name].of
    if lacking := [str(number) for number in range(1, of + 1) if number not in by_number]:
        raise RecordError(f"of {of} shards these are missing: {', '.join(lacking)}; give the records of all")
    taken = {place for shard in shards.values() for place in shard.places}
    if len(taken) != sum(len(record.results) for record in records.values()):
        raise RecordError(f"{name}: another shard has results at the same places; join the shards of one run")
    keep = Keep()
    for other, record in records.items():
        for place, result in zip(shards[other].places, _moved(record, output), strict=True):
            keep.add(place, result)
    _, results = keep.results()
    known: set[str] = set()
    for result in results:
        if result.key and result.key in known:
            raise RecordError(
                f"{result.target}, {result.claim}: there are two results with the key {result.key}; give the records "
                "as they were written"
            )
        known.add(result.key)
    ordered = [records[by_number[number]] for number in sorted(by_number)]
    seconds = [record.timing.get("seconds", 0.0) for record in ordered]
    started = [record.timing.get("started", 0.0) for record in ordered]
    return replace(
        ordered[0],
        command=_common(first)["command"],
        error_probability=summed_errors(results),
        claims={key: entry for key, entry in first.claims.items() if key not in _derived(first)},
        results=results,
        summary=summarise(results),
        timing={
            "started": min(each for each in started if isinstance(each, float | int)),
            "seconds": sum(each for each in seconds if isinstance(each, float | int)),
        },
        shard=None,
        partial=None,
    )


def _shard(name: str, record: Record) -> Shard:
    shard = record.shard
    if shard is None:
        raise RecordError(f"{name}: not the record of a shard; `dpaudit check --shard 1/2` writes one")
    if not 1 <= shard.number <= shard.of or len(shard.places) != len(record.results):
        raise RecordError(f"{name}: key 'shard' does not fit the results; write the record again")
    if record.partial is not None or len(record.results) < shard.cells:
        cells = (record.partial or shard).cells
        shown = record.command if len(record.command) <= _LONGEST else "it is the key 'command' of this record"
        raise RecordError(
            f"{name}: the run was interrupted after {len(record.results)} of {cells} cells; give its command again, "
            f"with the same --output, and it goes on from there: {shown}"
        )
    return shard


def _check_code(name: str, first: Shard, other: str, shard: Shard) -> None:
    """Raise RecordError where a target changed between two shards."""
    for target, digest in first.code.items():
        if digest and shard.code.get(target) not in (digest, "", None):
            raise RecordError(
                f"{other}: the code or the data of {target} is not that of {name}; audit both shards with the same"
            )


def _moved(record: Record, output: Path | None) -> Iterator[Result]:
    """Results as the run of the whole names their witness files."""
    for result in record.results:
        name = PurePath(result.witness_file or "").name
        path = (output / WITNESSES / name).as_posix() if output is not None and name else None
        yield replace(result, witness_file=path)


def _common(record: Record) -> dict[str, Any]:
    """What all shards of a run have in common."""
    return {
        "version": record.version,
        "seed": record.seed,
        "command": _SHARD.sub("", record.command),
        "of": None if record.shard is None else f"one of {record.shard.of} shards",
    }


def _derived(record: Record) -> set[str]:
    """Claims whose entries say no more than their results do, from which the whole record gets them."""
    own = replace(record, claims={}).claims
    return {key for key, entry in record.claims.items() if own.get(key) == entry}
