"""Outputs in JSON Lines whose parts vary: objects with other keys in some lines, lists of other lengths, nulls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dpaudit.reading import json_kind
from dpaudit.sources.rows import NULL_MEND, JsonTable, VaryingPartsError, as_object_array, json_lines
from dpaudit.sources.tables import Table
from dpaudit.sources.text import refuse

_EXACT = 2.0**53


class StructureTable(JsonTable):
    """Outputs of a file of JSON Lines as they are: dicts or lists, as a sampler returns them.

    Parameters
    ----------
    path
        The file. Its lines are all objects, or all lists.
    reason
        Why they are not taken apart into columns, for a note; empty for none.

    Raises
    ------
    DataError
        It cannot be read, or a line is something else; the message names the line.
    """

    def __init__(self, path: Path, reason: str) -> None:
        note = f"{reason}; outputs are compared as structures whose parts may be absent or null"
        self.notes = (note,) if reason else ()
        self.kind = ""
        """What JSON calls an output."""
        super().__init__(path)

    def _lines(self, file: BinaryIO) -> Iterator[tuple[int, Sequence[Any]]]:
        first, filled = None, False
        for line, value in json_lines(self._path, file):
            kind = json_kind(value)
            if value is None:
                refuse(self._path, f"is null; {NULL_MEND}", line=line)
            if first is None:
                first, self.kind = line, kind
            if kind != self.kind:
                refuse(self._path, f"is {kind}, where line {first} is {self.kind}; write one form", line=line)
            if not isinstance(value, dict | list):
                refuse(self._path, f"is {kind}, where others are lists or objects; write one form", line=line)
            filled = filled or bool(value)
            yield line, [value]
        if first is not None and not filled:
            refuse(self._path, "has no values, and neither has any other line; write an output", line=first)

    def _quick(self, block: Sequence[tuple[int, Sequence[Any]]]) -> list[np.ndarray]:
        return [as_object_array([_with_whole_numbers(value) for _, (value,) in block])]


def _with_whole_numbers(value: Any) -> Any:
    """Return a structure with whole numbers as such, whether a program wrote them as 2 or as 2.0."""
    if isinstance(value, float):
        # Zero has a sign, and beyond 2^53 a floating-point number stands for others too.
        return int(value) if (value.is_integer() and 0 < abs(value) <= _EXACT) or repr(value) == "0.0" else value
    if isinstance(value, list):
        return [_with_whole_numbers(each) for each in value]
    if isinstance(value, dict):
        return {key: _with_whole_numbers(each) for key, each in value.items()}
    return value


def json_table(path: Path) -> JsonTable:
    """Return the outputs of a file of JSON Lines: in columns, or as structures where parts vary or are null."""
    try:
        return JsonTable(path)
    except VaryingPartsError as error:
        return StructureTable(path, str(error))


def in_one_form(first: Table, second: Table) -> tuple[Table, Table]:
    """Return two tables, both of structures if they are JSON Lines with other keys, or one of them is of structures."""
    if not (isinstance(first, JsonTable) and isinstance(second, JsonTable)):
        return first, second
    if not (isinstance(first, StructureTable) or isinstance(second, StructureTable)):
        if not first.columns or not second.columns or first.ways == second.ways:
            for column in sorted(set(first.truth_values) ^ set(second.truth_values), key=str):
                one, other = (first, second) if column in first.truth_values else (second, first)
                what = f"does not hold true and false, as this column of {one.name} does"
                refuse(other.name, f"{what}; write one type of value in both files", column=column)
            return first, second
        first = StructureTable(Path(first.name), f"{first.name} and {second.name} have other keys")
    one, other = (
        table if isinstance(table, StructureTable) else StructureTable(Path(table.name), "")
        for table in (first, second)
    )
    if one.kind != other.kind:
        refuse(other.name, f"an output is {other.kind}, and of {one.name} {one.kind}; write one form")
    return one, other
