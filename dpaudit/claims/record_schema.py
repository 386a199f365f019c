"""The record as a file holds it, as types: what checks one when it is read, and its JSON schema."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, get_type_hints

from dpaudit.claims.evidence import Curves
from dpaudit.claims.record import Record, Result
from dpaudit.claims.record_json import OF_THE_CLAIM

if TYPE_CHECKING:
    from pydantic import TypeAdapter


def record_schema() -> dict[str, Any]:
    """Return the JSON schema of the record."""
    schema: dict[str, Any] = with_infinities(record_reader().json_schema())
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
def record_reader() -> TypeAdapter[Any]:
    """Return the reader of the record as a file holds it: as in memory, but for the words of claims and the curves."""
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
    line: Any = _like(Result, {**dict.fromkeys(OF_THE_CLAIM, str | None), **dict.fromkeys(numbers, int | None)})
    left_out = ("type_one", "delta_upper", "type_two_upper")
    return line, _like(Curves, dict.fromkeys(left_out, tuple[float, ...] | None))


@cache
def parts_readers() -> tuple[TypeAdapter[Any], TypeAdapter[Any]]:
    """Return the readers of a result and of curves."""
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
