"""Inputs and events as JSON and back, exactly: types, array dtypes and every bit of a number are kept.

What JSON has stands for itself. Anything else is an object with one key that begins with ``$``: ``$tuple``, ``$array``,
``$scalar``, ``$float`` (what JSON numbers cannot hold), ``$set``, ``$frozenset``, ``$bytes``, ``$dict``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_WORDS = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
_SETS: dict[type, str] = {set: "$set", frozenset: "$frozenset"}


class NotDataError(ValueError):
    """A value cannot be written as data, or data stand for no value."""


def to_data(value: Any) -> Any:
    """Return what JSON can hold and :func:`from_data` turns back into the value.

    Raises
    ------
    NotDataError
        The value, or something in it, is of another type.
    """
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {"$float": _word(value)}
    if kind is list:
        return [to_data(item) for item in value]
    if kind is tuple:
        return {"$tuple": [to_data(item) for item in value]}
    if kind is dict:
        if all(type(key) is str and not key.startswith("$") for key in value):
            return {key: to_data(item) for key, item in value.items()}
        return {"$dict": [[to_data(key), to_data(item)] for key, item in value.items()]}
    if kind in _SETS:
        return {_SETS[kind]: sorted((to_data(item) for item in value), key=repr)}
    if kind is bytes:
        return {"$bytes": value.hex()}
    if kind is np.ndarray and (value.dtype.kind in "biuUO" or value.dtype in (np.float16, np.float32, np.float64)):
        values = [to_data(item) for item in value.ravel().tolist()]
        return {"$array": {"dtype": value.dtype.str, "shape": list(value.shape), "values": values}}
    if isinstance(value, np.generic) and value.dtype.kind in "biufU" and value.dtype != np.longdouble:
        return {"$scalar": {"dtype": value.dtype.str, "value": to_data(value.item())}}
    raise NotDataError(f"a {kind.__name__} cannot be written as data")


def from_data(raw: Any) -> Any:
    """Turn data back into the value.

    Raises
    ------
    NotDataError
        They stand for no value.
    """
    if isinstance(raw, list):
        return [from_data(item) for item in raw]
    if not isinstance(raw, dict):
        return raw
    tags = [key for key in raw if key.startswith("$")]
    if not tags:
        return {key: from_data(item) for key, item in raw.items()}
    try:
        ((tag, held),) = raw.items()
        return _tagged(tag, held)
    except NotDataError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise NotDataError(f"{tags[0]!r} does not hold what it should ({error})") from None


def _tagged(tag: str, held: Any) -> Any:
    if tag == "$float":
        return _WORDS[held]
    if tag == "$tuple":
        return tuple(_items(held))
    if tag == "$set":
        return set(_items(held))
    if tag == "$frozenset":
        return frozenset(_items(held))
    if tag == "$bytes":
        return bytes.fromhex(held)
    if tag == "$dict":
        return {from_data(key): from_data(item) for key, item in held}
    if tag == "$scalar":
        return np.array(from_data(held["value"]), dtype=_dtype(held["dtype"]))[()]
    if tag == "$array":
        values = _items(held["values"])
        flat = np.empty(len(values), dtype=_dtype(held["dtype"]))
        flat[:] = values
        return flat.reshape(held["shape"])
    raise NotDataError(f"{tag!r} is not a kind of data")


def _items(held: Any) -> list[Any]:
    if not isinstance(held, list):
        raise TypeError(f"a list is needed, got {type(held).__name__}")
    return [from_data(item) for item in held]


def _dtype(text: Any) -> np.dtype[Any]:
    if not isinstance(text, str):
        raise TypeError(f"a dtype is a text, got {text!r}")
    return np.dtype(text)


def _word(value: float) -> str:
    return next(word for word, number in _WORDS.items() if number == value or (math.isnan(value) and word == "NaN"))
