"""Objects by their named fields: dataclasses, models of libraries, none of which is imported, and one's own classes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from enum import Enum
from functools import cache, cached_property
from numbers import Number
from typing import Any

_WRITTEN_IN_PYTHON = 1 << 9
"""Flag of types that a statement ``class`` makes; those that Python and most libraries write in C do not have it."""

_STATE = ("__reduce__", "__reduce_ex__", "__getstate__")
"""By what a class says what an object's state is, where that is not all of its attributes."""


@cache
def is_object(kind: Any) -> bool:
    """Whether values of a type are told apart by their attributes."""
    return _declared(kind) is not None or _is_own(kind)


@cache
def field_names(kind: Any) -> tuple[str, ...] | None:
    """Names of the fields that objects of a type have; None where an object may have attributes of its own."""
    return None if _is_open(kind) else _declared(kind)


def attributes(item: Any) -> dict[str, Any] | None:
    """Attributes by their names, in an order that depends on nothing else: fields as declared, others by name.

    None of an object whose class declares no fields and that has no attributes: its text is all that it says.
    """
    kind: Any = type(item)
    names = _declared(kind)
    if names is None:
        return dict(sorted(_states([item], kind)[0].items())) or None
    # An attribute of a field may be missing, as where a model was made without validation.
    found = {name: getattr(item, name) for name in names if hasattr(item, name)}
    if _is_open(kind):
        more = vars(item) if _is_first_pydantic(kind) else item.__pydantic_extra__ or {}
        found |= {name: more[name] for name in sorted(more.keys() - found.keys())}
        return found or None
    return found


def all_attributes(items: Sequence[Any], kind: Any) -> list[dict[str, Any]]:
    """Attributes of objects of one type, for which there are no :func:`field_names`, in any order; empty for none."""
    return _states(items, kind) if _declared(kind) is None else [attributes(item) or {} for item in items]


@cache
def _declared(kind: Any) -> tuple[str, ...] | None:
    """Names of declared fields, of dataclasses and of classes of attrs, msgspec and pydantic."""
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind))
    if hasattr(kind, "__attrs_attrs__"):
        return tuple(field.name for field in kind.__attrs_attrs__)
    if hasattr(kind, "__struct_fields__"):
        return tuple(kind.__struct_fields__)
    if hasattr(kind, "__pydantic_validator__"):
        # Versions before 2.10 have the public name alone.
        return tuple(kind.__pydantic_fields__ if hasattr(kind, "__pydantic_fields__") else kind.model_fields)
    return tuple(kind.__fields__) if _is_first_pydantic(kind) else None


@cache
def _is_first_pydantic(kind: Any) -> bool:
    """Whether a type is a model of pydantic's version 1."""
    # Later versions warn where the old names are asked for.
    is_later = hasattr(kind, "__pydantic_validator__")
    return not is_later and all(hasattr(kind, name) for name in ("__fields__", "__fields_set__", "__config__"))


@cache
def _is_open(kind: Any) -> bool:
    """Whether a type is a model of pydantic that takes values of other names besides its fields."""
    if hasattr(kind, "__pydantic_validator__"):
        return bool(getattr(kind, "model_config", {}).get("extra") == "allow")
    return _is_first_pydantic(kind) and bool(kind.__config__.extra == "allow")


@cache
def _is_own(kind: Any) -> bool:
    """Whether a class is written in Python, says by a ``repr`` that its objects are values, and hides none of them.

    What derives from a type that is not written in Python may hold more than attributes, and a class that has rules of
    its own for copies may hold attributes that are no part of its value, such as a hash that it remembers.
    """
    return (
        kind.__repr__ is not object.__repr__
        and not issubclass(kind, Number | Enum)
        and all(base.__flags__ & _WRITTEN_IN_PYTHON for base in kind.__mro__[:-1])
        and all(getattr(kind, name) is getattr(object, name) for name in _STATE)
    )


def _states(items: Sequence[Any], kind: Any) -> list[dict[str, Any]]:
    """Attributes of objects whose class declares none; those of them that have none have an empty dict."""
    remembered, slots = _remembered(kind), _has_slots(kind)
    if not remembered and not slots and kind.__dictoffset__:
        return list(map(vars, items))
    found: list[dict[str, Any]] = []
    for item in items:
        state = item.__getstate__()
        if isinstance(state, tuple):
            own, of_slots = state
            state = {**(own or {}), **of_slots}
        found.append({name: value for name, value in (state or {}).items() if name not in remembered})
    return found


@cache
def _remembered(kind: Any) -> frozenset[str]:
    """Names of attributes that are worked out from others when they are first asked for."""
    return frozenset(
        name for base in kind.__mro__ for name, value in vars(base).items() if isinstance(value, cached_property)
    )


@cache
def _has_slots(kind: Any) -> bool:
    return any(vars(base).get("__slots__") for base in kind.__mro__)
