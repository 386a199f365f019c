"""Scores of the canaries of one run, and which of them were in: a CSV file."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from dpaudit.sources.text import cell, columns, number_in, opened, refuse, rows_of

_COLUMNS: Final = ("score", "included")
_INCLUDED: Final = {"true": True, "in": True, "yes": True} | {"false": False, "out": False, "no": False}
_MEND: Final = "write two columns, score and included"


@dataclass(frozen=True, slots=True, kw_only=True)
class Canaries:
    """Scores of canaries, and which of them were in.

    Attributes
    ----------
    scores, included
        Arrays of numbers and of booleans, shape (m,).
    """

    scores: np.ndarray
    included: np.ndarray


def read_canaries(path: str | Path) -> Canaries:
    """Read scores and coins from a CSV file with the columns ``score`` and ``included``.

    With a header they may stand in any order among others; without one they are the only two, in this order.
    ``included`` is a number equal to 1, true, in or yes, or else a number equal to 0, false, out or no, in any case.

    Raises
    ------
    DataError
        The file cannot be read, or a cell is no score or says neither in nor out; the message names line and column.
    """
    scores, included = array("d"), bytearray()
    with opened(path) as file:
        places: tuple[int, int] | None = None
        width = 0
        for line, row in rows_of(path, file):
            if places is None:
                places, width = _places(path, line, row), len(row)
                if number_in(row[places[0]]) is None:
                    continue
            if len(row) != width:
                refuse(path, f"has {columns(len(row))}, where the first line has {width}; {_MEND}", line=line)
            score, told = (row[place].strip() for place in places)
            value = number_in(score)
            if value is None or math.isnan(value):
                refuse(path, f"{cell(score)} is not a number; score every canary", line=line, column="score")
            inside = _is_in(told)
            if inside is None:
                refuse(path, f"{cell(told)} says neither in nor out; write 1 or 0", line=line, column="included")
            scores.append(value)
            included.append(inside)
    if not scores:
        refuse(path, f"there are no canaries in it; {_MEND}")
    return Canaries(scores=np.array(scores), included=np.frombuffer(bytes(included), dtype=bool))


def _is_in(told: str) -> bool | None:
    """Whether a cell says that a canary was in; None where it says neither."""
    # numpy writes coins as 1.000000000000000000e+00.
    number = number_in(told)
    return _INCLUDED.get(told.lower()) if number is None else {1.0: True, 0.0: False}.get(number)


def _places(path: str | Path, line: int, row: list[str]) -> tuple[int, int]:
    """Return where score and included stand, by the first row, be it a header or not."""
    names = [name.strip().lower() for name in row]
    if all(number_in(name) is None for name in names):
        missing = [name for name in _COLUMNS if names.count(name) != 1]
        if missing:
            many = "stands more than once" if missing[0] in names else "is missing"
            refuse(path, f"its header is {', '.join(map(cell, row))}: {missing[0]} {many}; {_MEND}", line=line)
        return names.index(_COLUMNS[0]), names.index(_COLUMNS[1])
    if len(row) != len(_COLUMNS):
        refuse(path, f"has {columns(len(row))} and there is no header; {_MEND}", line=line)
    return 0, 1
