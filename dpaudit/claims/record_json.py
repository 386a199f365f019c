"""Records as JSON: schema ``dpaudit.record/2``.

What is the same for many results stands once: the words of a claim in the table ``claims``, and each distinct reason
and curve in the tables ``reasons`` and ``curves``, to which results refer by its place there. A key that has its
default value (null, false, 0, an empty text) is left out, and so are the seed of a result that is the run's, upper
bounds on a curve that are the lower ones, and type I errors that are those of the first curve. There is one line for
each result and each curve, so that two records can be compared line by line. Numbers that JSON cannot hold are written
as the strings ``"Infinity"``, ``"-Infinity"`` and ``"NaN"``.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from dpaudit.claims.evidence import Curves
from dpaudit.claims.kept import ResultFile, kept
from dpaudit.claims.record import SCHEMA, Record, Result, plain
from dpaudit.claims.record_lines import Lines, tables_of
from dpaudit.errors import RecordError
from dpaudit.escapes import visible
from dpaudit.reading import json_kind, parse_json, shortened

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T", bound=Hashable)

_OF_THE_CLAIM = ("kind", "source", "statement")
_ALONG = {
    "curves": {"epsilon": ("delta_lower", "delta_upper"), "type_one": ("type_two_lower", "type_two_upper")},
    "growth": {"points": ("values", "shape")},
}
_TABLES = ("systems", "claims", "reasons", "results", "curves", "environment", "timing")
_OPEN = {"papers": 3, **dict.fromkeys(_TABLES, 1)}
"""Levels of each part that are written over several lines."""


def write_json(record: Record) -> str:
    """Return a record as JSON text; `Record.to_json`."""
    return "".join(json_parts(record))


def json_parts(record: Record) -> Iterator[str]:
    """Return the text of a record in parts; `Record.json_parts`."""
    # Whoever looks at the file in a terminal sees what is in it.
    return map(visible, _parts(record))


def _parts(record: Record) -> Iterator[str]:
    reasons = _numbered(result.reason for result in record.results if result.reason)
    curves = _CurveTable(record.results)
    raw = _plain_but(record, "results")
    for key in ("shard", "partial"):
        if raw[key] is None:
            del raw[key]
    for key in ("papers", "systems", "claims"):
        raw[key] = {name: _without_defaults(entry, raw[key][name]) for name, entry in getattr(record, key).items()}
    last = {key: raw.pop(key) for key in ("environment", "timing")}
    times: dict[str, Any] = {}
    yield "{\n"
    for key, value in {**raw, "reasons": list(reasons)}.items():
        yield f"{_member(key, value)},\n"
    yield from _listed("results", _lines(record, reasons, curves, times))
    yield ",\n"
    yield from _listed("curves", map(_text, curves.drawn()))
    if any(part["measured"] or part["witness"] for part in times.values()):
        last["timing"]["measured"] = times
    for key, value in last.items():
        yield f",\n{_member(key, value)}"
    yield "\n}\n"


def _lines(record: Record, reasons: Mapping[str, int], curves: _CurveTable, times: dict[str, Any]) -> Iterator[str]:
    """Return the line of each result; note what timed ones measured, which stands elsewhere."""
    for place, result in enumerate(record.results):
        line = _line(record, result)
        if result.reason:
            line["reason"] = reasons[result.reason]
        if result.curves is not None:
            line["curves"] = curves.number(place, result.curves)
        if result.timed:
            times[str(place)] = {"measured": line["measured"], "witness": line.pop("witness", None)}
            line["measured"] = {}
        yield _text(line)


class _CurveTable:
    """Numbers the distinct curves of results as they come; of many results it holds no curve, but where they are."""

    def __init__(self, results: Sequence[Result]) -> None:
        self._results, self._holds = results, not isinstance(results, ResultFile)
        self._numbers: dict[Hashable, int] = {}
        self._firsts = array("Q")

    def number(self, place: int, curves: Curves) -> int:
        """Return the number of the curves of the result at a place."""
        number = self._numbers.setdefault(curves if self._holds else _digest(curves), len(self._firsts))
        if number == len(self._firsts):
            self._firsts.append(place)
        return number

    def drawn(self) -> Iterator[dict[str, Any]]:
        """Return the curves as JSON holds them, in the order of their numbers."""
        first: Curves | None = None
        for place in self._firsts:
            curves = self._results[place].curves
            assert curves is not None
            first = curves if first is None else first
            yield _curve(curves, first)


def _digest(curves: Curves) -> bytes:
    return hashlib.sha256(_text(plain(curves)).encode()).digest()[:16]


def _numbered(values: Iterable[T]) -> dict[T, int]:
    """Distinct values with their place in a table of them."""
    return {value: number for number, value in enumerate(dict.fromkeys(values))}


def _line(record: Record, result: Result) -> dict[str, Any]:
    """Return a result as JSON holds it, but for what is in tables."""
    line = _plain_but(result, "curves")
    if result.seed == record.seed:
        del line["seed"]
    entry = record.claims[result.claim]
    for key in _OF_THE_CLAIM:
        if getattr(result, key) == getattr(entry, key):
            del line[key]
    return _without_defaults(result, line)


def _plain_but(value: Any, left_out: str) -> dict[str, Any]:
    names = (item.name for item in dataclasses.fields(value))
    return {name: plain(getattr(value, name)) for name in names if name != left_out}


def _curve(curves: Curves, first: Curves) -> dict[str, Any]:
    raw: dict[str, Any] = plain(curves)
    if curves is not first and curves.type_one == first.type_one:
        del raw["type_one"]
    return {name: values for name, values in raw.items() if _lower(name) == name or values != raw[_lower(name)]}


def _lower(name: str) -> str:
    return name.replace("_upper", "_lower")


def _without_defaults(value: Any, raw: Mapping[str, Any]) -> dict[str, Any]:
    """JSON of a dataclass without the keys that have their default value; entries within it likewise."""
    left = {}
    for item in dataclasses.fields(value):
        if item.name not in raw:
            continue
        own = getattr(value, item.name)
        default = item.default if item.default_factory is dataclasses.MISSING else item.default_factory()
        if own == default and type(own) is type(default):
            continue
        entries = isinstance(own, tuple) and any(map(dataclasses.is_dataclass, own))
        left[item.name] = (
            [_without_defaults(part, text) for part, text in zip(own, raw[item.name], strict=True)]
            if entries
            else raw[item.name]
        )
    return left


def _member(key: str, value: Any) -> str:
    """JSON of a part of a record."""
    return f" {_text(key)}: {_opened(value, _OPEN.get(key, 0), ' ')}"


def _listed(key: str, lines: Iterator[str]) -> Iterator[str]:
    """JSON of a part of a record that is a list, whose entries are a line each."""
    before = f" {_text(key)}: ["
    empty = True
    for line in lines:
        yield f"{before if empty else ','}\n  {line}"
        empty = False
    yield f"{before}]" if empty else "\n ]"


def _opened(value: Any, levels: int, indent: str) -> str:
    """JSON of a value, its outer levels over several lines."""
    if not levels or not value or not isinstance(value, dict | list):
        return _text(value)
    inner = indent + " "
    if isinstance(value, dict):
        parts = [f"{inner}{_text(key)}: {_opened(item, levels - 1, inner)}" for key, item in value.items()]
    else:
        parts = [inner + _opened(item, levels - 1, inner) for item in value]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return f"{first}\n" + ",\n".join(parts) + f"\n{indent}{last}"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def read_json(text: str, name: str) -> Record:
    """Read a record; `Record.from_json`."""
    from dpaudit.claims import record_v1

    try:
        raw = parse_json(text)
    except ValueError as error:
        raise RecordError(f"{name}: not JSON ({error}); give the record.json that `dpaudit check` wrote") from None
    if not isinstance(raw, dict):
        raise RecordError(
            f"{name}: not a record, whose key 'schema' is {SCHEMA!r}, but {json_kind(raw)}; give a record.json"
        )
    schema = raw.get("schema")
    if schema not in (SCHEMA, record_v1.SCHEMA):
        raise RecordError(
            f"{name}: key 'schema' is {shortened(schema)}, this version reads {SCHEMA!r} and {record_v1.SCHEMA!r}"
        )
    from pydantic import ValidationError

    try:
        if schema == record_v1.SCHEMA:
            return _drawable(record_v1.read(raw))
        return _checked(_record(_adapter().validate_python(raw)))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise RecordError(f"{name}: key '{where}': {first['msg']}; write the record again") from None
    except _MisfitError as error:
        raise RecordError(f"{name}: {error}; write the record again") from None


class _MisfitError(Exception):
    pass


def _checked(record: Record) -> Record:
    """Return a record whose counts are those of its results, and whose curves can be drawn."""
    from dpaudit.claims.record import summarise

    if summarise(record.results) != dict(record.summary):
        raise _MisfitError("key 'summary' does not count the results")
    partial = record.partial
    if partial is not None and not partial.results == len(record.results) < partial.cells:
        raise _MisfitError("key 'partial' does not fit the results")
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
        file = _adapter().validate_python(raw)
    except (ValueError, ValidationError):
        # What is wrong with a file is said by what reads all of it.
        return None
    line, curves = _parts_adapters()
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
    for key in _OF_THE_CLAIM:
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
    return Curves(**{name: values[_lower(name)] if each is None else each for name, each in values.items()})


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


def record_schema() -> dict[str, Any]:
    """JSON schema of the record."""
    schema: dict[str, Any] = with_infinities(_adapter().json_schema())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def with_infinities(schema: Any) -> Any:
    """Let every number of a schema be one of the words that stand for what JSON cannot hold."""
    if isinstance(schema, list):
        return [with_infinities(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "number":
        others = {key: item for key, item in schema.items() if key != "type"}
        return {**others, "anyOf": [{"type": "number"}, {"enum": ["Infinity", "-Infinity", "NaN"]}]}
    return {key: with_infinities(item) for key, item in schema.items()}


@cache
def _adapter() -> TypeAdapter[Any]:
    """Reader of the record as the file holds it: as in memory, but for the words of claims and for the curves."""
    from pydantic import TypeAdapter

    line: Any
    curves: Any
    line, curves = _parts_types()
    tables = {"results": tuple[line, ...], "reasons": tuple[str, ...], "curves": tuple[curves, ...]}
    return TypeAdapter(_like(Record, tables))


@cache
def _parts_types() -> tuple[Any, Any]:
    """Types of a result and of curves as the file holds them."""
    numbers = ("reason", "curves", "seed")
    line: Any = _like(Result, {**dict.fromkeys(_OF_THE_CLAIM, str | None), **dict.fromkeys(numbers, int | None)})
    left_out = ("type_one", "delta_upper", "type_two_upper")
    return line, _like(Curves, dict.fromkeys(left_out, tuple[float, ...] | None))


@cache
def _parts_adapters() -> tuple[TypeAdapter[Any], TypeAdapter[Any]]:
    """Readers of a result and of curves."""
    from pydantic import TypeAdapter

    line, curves = _parts_types()
    return TypeAdapter(line), TypeAdapter(curves)


def _like(of: type, changed: Mapping[str, Any]) -> type:
    """Dataclass with the fields of another one, of which some have other types, or which are added, as optional."""
    hints = {name: hint for name, hint in get_type_hints(of).items() if not name.startswith("__")}
    known = {item.name: item for item in dataclasses.fields(of)}
    fields: list[Any] = []
    for name in dict.fromkeys([*known, *changed]):
        item, hint = known.get(name), changed.get(name, hints.get(name))
        if name in changed and name != "results" and item is not None:
            fields.append((name, hint, dataclasses.field(default=None)))
        elif item is None:
            fields.append((name, hint, dataclasses.field(default=())))
        elif item.default_factory is not dataclasses.MISSING:
            fields.append((name, hint, dataclasses.field(default_factory=item.default_factory)))
        elif item.default is not dataclasses.MISSING:
            fields.append((name, hint, dataclasses.field(default=item.default)))
        else:
            fields.append((name, hint))
    made = dataclasses.make_dataclass(of.__name__, fields, kw_only=True, frozen=True)
    made.__doc__ = of.__doc__
    made.__pydantic_config__ = {"extra": "forbid"}  # type: ignore[attr-defined]
    return made
