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
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from dpaudit.claims.evidence import Curves
from dpaudit.claims.record import SCHEMA, Record, Result, plain
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
    reasons = _numbered(result.reason for result in record.results if result.reason)
    curves = _numbered(result.curves for result in record.results if result.curves is not None)
    lines, times = [], {}
    for place, result in enumerate(record.results):
        line = _line(record, result)
        if result.reason:
            line["reason"] = reasons[result.reason]
        if result.curves is not None:
            line["curves"] = curves[result.curves]
        if result.timed:
            times[str(place)] = {"measured": line["measured"], "witness": line.pop("witness", None)}
            line["measured"] = {}
        lines.append(line)
    raw = _plain_but(record, "results")
    if record.shard is None:
        del raw["shard"]
    for key in ("papers", "systems", "claims"):
        raw[key] = {name: _without_defaults(entry, raw[key][name]) for name, entry in getattr(record, key).items()}
    if any(part["measured"] or part["witness"] for part in times.values()):
        raw["timing"]["measured"] = times
    last = {key: raw.pop(key) for key in ("environment", "timing")}
    drawn = [_curve(found, next(iter(curves))) for found in curves]
    raw |= {"reasons": list(reasons), "results": lines, "curves": drawn, **last}
    # Whoever looks at the file in a terminal sees what is in it.
    return visible(_laid_out(raw) + "\n")


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
    kept = {}
    for item in dataclasses.fields(value):
        if item.name not in raw:
            continue
        own = getattr(value, item.name)
        default = item.default if item.default_factory is dataclasses.MISSING else item.default_factory()
        if own == default and type(own) is type(default):
            continue
        entries = isinstance(own, tuple) and any(map(dataclasses.is_dataclass, own))
        kept[item.name] = (
            [_without_defaults(part, text) for part, text in zip(own, raw[item.name], strict=True)]
            if entries
            else raw[item.name]
        )
    return kept


def _laid_out(raw: Mapping[str, Any]) -> str:
    parts = (f" {_text(key)}: {_opened(value, _OPEN.get(key, 0), ' ')}" for key, value in raw.items())
    return "{\n" + ",\n".join(parts) + "\n}"


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
        return _drawable(_record(_adapter().validate_python(raw)))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise RecordError(f"{name}: key '{where}': {first['msg']}; write the record again") from None
    except _MisfitError as error:
        raise RecordError(f"{name}: {error}; write the record again") from None


class _MisfitError(Exception):
    pass


def _entry(table: Sequence[T], number: int, key: str) -> T:
    if not 0 <= number < len(table):
        raise _MisfitError(f"key '{key}': its table has no entry {number}")
    return table[number]


def _record(file: Any) -> Record:
    """Return the record that a validated file holds."""
    timing = dict(file.timing)
    times = timing.pop("measured", None)
    times = times if isinstance(times, Mapping) else {}
    curves = [_curves(found, file.curves[0]) for found in file.curves]
    results = []
    for place, line in enumerate(file.results):
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
        results.append(Result(**values))
    names = [item.name for item in dataclasses.fields(Record) if item.name not in ("results", "timing")]
    return Record(**{name: getattr(file, name) for name in names}, results=tuple(results), timing=timing)


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

    numbers = ("reason", "curves", "seed")
    line: Any = _like(Result, {**dict.fromkeys(_OF_THE_CLAIM, str | None), **dict.fromkeys(numbers, int | None)})
    left_out = ("type_one", "delta_upper", "type_two_upper")
    curves: Any = _like(Curves, dict.fromkeys(left_out, tuple[float, ...] | None))
    tables = {"results": tuple[line, ...], "reasons": tuple[str, ...], "curves": tuple[curves, ...]}
    return TypeAdapter(_like(Record, tables))


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
