"""Reading records from JSON: schema ``dpaudit.record/2`` as `dpaudit.claims.record_json` writes it, and version 1."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dpaudit.claims.evidence import Curves
from dpaudit.claims.kept import kept
from dpaudit.claims.record import SCHEMA, Partial, Record, Result, summarise
from dpaudit.claims.record_json import OF_THE_CLAIM, lower_of
from dpaudit.claims.record_lines import Lines, tables_of
from dpaudit.claims.record_schema import parts_readers, record_reader
from dpaudit.errors import RecordError
from dpaudit.reading import json_kind, parse_json, shortened

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")

_ALONG = {
    "curves": {"epsilon": ("delta_lower", "delta_upper"), "type_one": ("type_two_lower", "type_two_upper")},
    "growth": {"points": ("values", "shape")},
}


def read_json(text: str, name: str) -> Record:
    """Read a record; `Record.from_json`."""
    from dpaudit.claims import record_v1

    try:
        raw = parse_json(text)
    except ValueError as error:
        raise RecordError(
            f"{name}: the file is not JSON ({error}); give the record.json that `dpaudit check` wrote"
        ) from None
    if not isinstance(raw, dict):
        raise RecordError(
            f"{name}: not a record, whose key 'schema' is {SCHEMA!r}, but {json_kind(raw)}; give a record.json"
        )
    schema = raw.get("schema")
    if schema not in (SCHEMA, record_v1.SCHEMA):
        raise RecordError(
            f"{name}: key 'schema' is {shortened(schema)}, this version reads {SCHEMA!r} and {record_v1.SCHEMA!r}; "
            "give the record.json that `dpaudit check` wrote"
        )
    from pydantic import ValidationError

    try:
        if schema == record_v1.SCHEMA:
            return _drawable(record_v1.read(raw))
        return _checked(_record(record_reader().validate_python(raw)))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise RecordError(f"{name}: key '{where}': {first['msg']}; write the record again") from None
    except _MisfitError as error:
        raise RecordError(f"{name}: {error}; write the record again") from None


class _MisfitError(Exception):
    pass


def _checked(record: Record) -> Record:
    """Return a record whose counts are those of its results, and whose curves can be drawn; a part says so."""
    if summarise(record.results) != dict(record.summary):
        raise _MisfitError("key 'summary' does not count the results")
    partial = record.partial
    if partial is not None and not partial.results == len(record.results) < partial.cells:
        raise _MisfitError("key 'partial' does not fit the results")
    shard = record.shard
    if shard is not None and partial is not None and partial.cells != shard.cells:
        raise _MisfitError(f"key 'partial' has {partial.cells} cells, key 'shard' has {shard.cells}")
    if shard is not None and partial is None and len(record.results) < shard.cells:
        # Versions without `partial` said of shards only that they were interrupted, by their number of cells.
        record = dataclasses.replace(record, partial=Partial(cells=shard.cells, results=len(record.results)))
    return _drawable(record)


def _entry(table: Sequence[T], number: int, key: str) -> T:
    if not 0 <= number < len(table):
        raise _MisfitError(f"key '{key}': its table has no entry {number}")
    return table[number]


def read_streamed(path: str | Path) -> Record | None:
    """Read a record file a line at a time; None where it is no record that is laid out as one is written.

    Raises
    ------
    RecordError
        The file cannot be read, or something in it does not fit.
    """
    tables = tables_of(path)
    if tables is None or not tables.results:
        return None
    from pydantic import ValidationError

    try:
        raw = parse_json(tables.rest)
        if not isinstance(raw, dict) or raw.get("schema") != SCHEMA:
            return None
        file = record_reader().validate_python(raw)
    except (ValueError, ValidationError):
        # What is wrong with a file is said by what reads all of it.
        return None
    line, curves = parts_readers()
    results = (_valid(line, text, f"results.{place}") for place, text in enumerate(tables.results))
    try:
        return _checked(_record(file, results, _Validated(tables.curves, curves)))
    except _MisfitError as error:
        raise RecordError(f"{path}: {error}; write the record again") from None


def _valid(adapter: TypeAdapter[Any], text: str, key: str) -> Any:
    """Return an entry of a table that was read from its line."""
    from pydantic import ValidationError

    try:
        return adapter.validate_python(parse_json(text))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join([key, *(str(part) for part in first["loc"])])
        raise _MisfitError(f"key '{where}': {first['msg']}") from None
    except ValueError as error:
        raise _MisfitError(f"key '{key}': not JSON ({error})") from None


class _Validated(Sequence[Any]):
    """Curves as a file holds them, read as they are asked for."""

    def __init__(self, lines: Lines, adapter: TypeAdapter[Any]) -> None:
        self._lines, self._adapter = lines, adapter

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, number: Any) -> Any:
        return _valid(self._adapter, self._lines[number], f"curves.{number}")


class _Curves(Sequence[Any]):
    """Curves as in memory, made of those of a file as they are asked for."""

    def __init__(self, found: Sequence[Any], first: Any) -> None:
        self._found, self._first = found, first

    def __len__(self) -> int:
        return len(self._found)

    def __getitem__(self, number: Any) -> Any:
        return _curves(self._found[number], self._first)


def _record(file: Any, lines: Iterable[Any] | None = None, curves: Sequence[Any] | None = None) -> Record:
    """Return the record that a validated file holds; where they are given, its results and curves are these."""
    timing = dict(file.timing)
    times = timing.pop("measured", None)
    times = times if isinstance(times, Mapping) else {}
    lines = file.results if lines is None else lines
    found: Sequence[Any] = file.curves if curves is None else curves
    first = found[0] if found else None
    drawn = _Curves(found, first) if curves is not None else [_curves(each, first) for each in found]
    results = kept(_result(place, line, file, drawn, times) for place, line in enumerate(lines))
    names = [item.name for item in dataclasses.fields(Record) if item.name not in ("results", "timing")]
    return Record(**{name: getattr(file, name) for name in names}, results=results, timing=timing)


def _result(place: int, line: Any, file: Any, curves: Sequence[Curves], times: Mapping[str, Any]) -> Result:
    values = {item.name: getattr(line, item.name) for item in dataclasses.fields(line)}
    entry = file.claims.get(line.claim)
    for key in OF_THE_CLAIM:
        if values[key] is None:
            values[key] = getattr(entry, key, "")
    values["reason"] = "" if line.reason is None else _entry(file.reasons, line.reason, f"results.{place}.reason")
    if line.seed is None:
        values["seed"] = file.seed
    if line.curves is not None:
        values["curves"] = _entry(curves, line.curves, f"results.{place}.curves")
    if line.timed and str(place) in times:
        values |= {"measured": times[str(place)].measured, "witness": times[str(place)].witness}
    return Result(**values)


def _curves(found: Any, first: Any) -> Curves:
    """Curves as in memory, with what the file leaves out."""
    values = {item.name: getattr(found, item.name) for item in dataclasses.fields(Curves)}
    if found.type_one is None:
        values["type_one"] = first.type_one or ()
    return Curves(**{name: values[lower_of(name)] if each is None else each for name, each in values.items()})


def _drawable(record: Record) -> Record:
    """Return the record; raise where what is to be drawn has no points, or another number of values."""
    for place, result in enumerate(record.results):
        for name, along in _ALONG.items():
            drawn = getattr(result, name)
            for points, others in () if drawn is None else along.items():
                number = len(getattr(drawn, points))
                odd = next((other for other in others if len(getattr(drawn, other)) != number), None)
                if not number or odd:
                    raise _MisfitError(f"key 'results.{place}.{name}.{odd or points}' has not one value for each point")
    return record
