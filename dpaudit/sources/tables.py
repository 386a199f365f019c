"""Tables of outputs: a row is an output; they are read in chunks, as often as asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Protocol

import numpy as np

CHUNK: Final = 65_536
"""Rows of a chunk."""


class Table(Protocol):
    """Outputs of one input.

    Attributes
    ----------
    name
        What messages call it.
    columns
        Names of the columns; empty where they have none.
    rows
        How many outputs there are.
    """

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns; empty where they have none."""

    @property
    def rows(self) -> int:
        """How many outputs there are."""

    def chunks(self) -> Iterator[np.ndarray]:
        """Yield all outputs along axis 0, in order, the same each time, in arrays of one type and of any length."""


class ArrayTable:
    """Outputs in memory.

    Parameters
    ----------
    outputs
        Along axis 0.
    name
        What messages call it.
    """

    def __init__(self, outputs: np.ndarray, name: str) -> None:
        self._outputs, self._name = outputs, name

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._name

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns; empty where they have none."""
        return self._outputs.dtype.names or ()

    @property
    def rows(self) -> int:
        """How many outputs there are."""
        return len(self._outputs)

    def chunks(self) -> Iterator[np.ndarray]:
        """Yield all outputs in order."""
        for start in range(0, len(self._outputs), CHUNK):
            yield self._outputs[start : start + CHUNK]


def form_of(outputs: np.ndarray) -> Any:
    """Return what two tables of outputs must have in common: the kind of values, and the columns."""
    if outputs.dtype.names:
        return tuple((name, _kind(outputs.dtype[name])) for name in outputs.dtype.names)
    return _kind(outputs.dtype), outputs.shape[1:]


def in_order(outputs: np.ndarray, names: tuple[str, ...] | None) -> np.ndarray:
    """Return records with their columns in this order, where they are the same; other outputs as they are."""
    mine = outputs.dtype.names
    if not names or not mine or mine == names or set(mine) != set(names):
        return outputs
    ordered: np.ndarray = outputs[list(names)]
    return ordered


def shared_type(first: Any, second: Any) -> np.dtype[Any]:
    """Return the type of array that holds outputs of both types, which have one form.

    Raises
    ------
    TypeError
        They are times of units that have none in common; the message names both.
    """
    if first.names:
        return np.dtype([(name, shared_type(first[name], second[name])) for name in first.names])
    if first.kind in "mM":
        return _shared_unit(first, second)
    if first.kind == second.kind and first.kind != "U":
        return np.promote_types(first, second)
    both = {first.kind, second.kind}
    if both <= set("iuf"):
        return np.promote_types(first, second)
    return np.dtype(object)


def _shared_unit(first: Any, second: Any) -> np.dtype[Any]:
    """Return times in the finer of two units, or in one that divides both."""
    generic = [np.datetime_data(dtype)[0] == "generic" for dtype in (first, second)]
    if generic[0] == generic[1]:
        try:
            return np.promote_types(first, second)
        except (TypeError, OverflowError):
            pass
    raise TypeError(f"{first} and {second}")


_KINDS: Final = {
    "b": "truth value",
    **dict.fromkeys("iuf", "number"),
    "c": "complex number",
    "M": "datetime",
    "m": "duration",
    "S": "byte string",
}
"""What values are called in the singular, by the kind of their type; all others are texts."""


def _kind(dtype: Any) -> str:
    return _KINDS.get(dtype.kind, "text")
