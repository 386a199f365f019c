"""Many short rows of Python's numbers as columns, read from how Python writes them down instead of one by one."""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

_VERSION = 2
"""Format in which fractions are written in binary, and nothing refers to what was written before."""

_HEAD = 5
"""Bytes before the parts of a list or tuple: its type, and how many there are."""

_TYPES: dict[int, tuple[str, Any]] = {ord("g"): ("<f8", np.float64), ord("i"): ("<i4", np.int64)}
"""How a ``float`` and a small ``int`` are written, by the byte before them, and as what they are read."""


@dataclass(frozen=True, slots=True)
class Packed:
    """Rows of as many numbers each, of the same types at the same places.

    Attributes
    ----------
    written
        The rows as `marshal` writes them.
    rows, length
        How many there are, and the bytes of each.
    places
        Where in a row's bytes every number's type is.
    """

    written: bytes
    rows: int
    length: int
    places: tuple[int, ...]

    @classmethod
    def of_rows(cls, rows: Sequence[Any]) -> Self | None:
        """Write rows down; None unless all are tuples, or all lists, of ``float`` and small ``int`` in the same places.

        What is of a derived type, such as numpy's numbers and named tuples, is written in another way or not at all.
        """
        if not isinstance(rows, list | tuple) or not rows or type(rows[0]) not in (list, tuple):
            return None
        return cls._of(rows, rows[0], len(rows), _HEAD)

    @classmethod
    def of_cells(cls, cells: list[Any], width: int) -> Self | None:
        """As :meth:`of_rows`, of rows that follow each other in one list."""
        return cls._of(cells, cells[:width], len(cells) // width, 0)

    @classmethod
    def _of(cls, values: list[Any] | tuple[Any, ...], first: Sequence[Any], rows: int, head: int) -> Self | None:
        if not first or not set(map(type, first)) <= {float, int}:
            return None
        sizes = [9 if type(number) is float else 5 for number in first]
        places = tuple(head + sum(sizes[:place]) for place in range(len(sizes)))
        length = head + sum(sizes)
        try:
            written = marshal.dumps(values, _VERSION)
        except ValueError:
            return None
        if len(written) != _HEAD + rows * length:
            return None
        # Where the first bytes of a row say how many parts it has, and the byte before each of these what it is, the
        # rows can only be read as rows of these types.
        table = np.frombuffer(written, np.uint8, offset=_HEAD).reshape(rows, length)
        told = table[:, [*range(head), *places]]
        if not {int(kind) for kind in told[0, head:]} <= _TYPES.keys() or (told != told[0]).any():
            return None
        return cls(written, rows, length, places)

    def columns(self) -> list[np.ndarray]:
        """Numbers at every place, in one piece of memory each."""
        return [self._read(place, 1)[:, 0] for place in self.places]

    def table(self) -> np.ndarray | None:
        """All numbers, shape (rows, places); None where they are not of one type."""
        if len({self._kind(place) for place in self.places}) > 1:
            return None
        return self._read(self.places[0], len(self.places))

    def _kind(self, place: int) -> int:
        return self.written[_HEAD + place]

    def _read(self, place: int, count: int) -> np.ndarray:
        """Numbers of one type from a place on, shape (rows, count)."""
        stored, dtype = _TYPES[self._kind(place)]
        step = 1 + np.dtype(stored).itemsize
        found: np.ndarray = np.ndarray((self.rows, count), stored, self.written, _HEAD + place + 1, (self.length, step))
        return found.astype(dtype, order="C")
