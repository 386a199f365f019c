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
from typing import Any, TypeVar

from dpaudit.claims.evidence import Curves
from dpaudit.claims.kept import ResultFile
from dpaudit.claims.record import Record, Result, plain
from dpaudit.escapes import visible

T = TypeVar("T", bound=Hashable)

OF_THE_CLAIM = ("kind", "source", "statement")
"""What stands in the table of claims, and in a result where it differs."""

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
    for key in OF_THE_CLAIM:
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
    return {name: values for name, values in raw.items() if lower_of(name) == name or values != raw[lower_of(name)]}


def lower_of(name: str) -> str:
    """Return the name of the lower bounds that belong to upper ones."""
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
