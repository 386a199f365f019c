"""Outputs in text files, one a line: CSV and JSON Lines."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from dpaudit.reading import json_kind, parse_json
from dpaudit.sources.numpy_files import as_records
from dpaudit.sources.tables import CHUNK
from dpaudit.sources.text import cell, lines_of, number_in, opened, refuse, rows_of

_WHOLE: Final = re.compile(r"\s*[+-]?[0-9]{1,18}\s*", re.ASCII)
_HEADER_LINES: Final = 1000
"""Lines among which the first one does not come again in any cell, if it is a header of texts."""

_KINDS: Final[Mapping[str, Any]] = {"whole": np.int64, "number": np.float64, "text": object}


class LineTable(ABC):
    """Outputs of a text file; the first reading finds the type of every column, and whether all lines can be read.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    DataError
        It cannot be read, or a line has other columns, another type or a NaN; the message names line and column.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kinds: list[str] = []
        self._names: tuple[str, ...] = ()
        self._first_line = 0
        self._rows = 0
        with opened(path) as file:
            for block in self._blocks(file):
                if not self._kinds:
                    first = self._values(block[0][1])
                    self._first_line = block[0][0]
                    self._kinds = ["whole" if type(value) is int else _kind(value) for value in first]
                if self._quick(block) is None:
                    for line, raw in block:
                        self._look(line, self._values(raw))
                self._rows += len(block)

    @property
    def name(self) -> str:
        """What messages call it."""
        return str(self._path)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns; empty where they have none."""
        return self._names

    @property
    def rows(self) -> int:
        """How many outputs there are."""
        return self._rows

    def chunks(self) -> Iterator[np.ndarray]:
        """Yield all outputs in order."""
        with opened(self._path) as file:
            for block in self._blocks(file):
                made = self._quick(block)
                if made is None:
                    columns = zip(*(self._values(raw) for _, raw in block), strict=True)
                    made = [_array(column, kind) for column, kind in zip(columns, self._kinds, strict=True)]
                if self._names:
                    yield as_records(dict(zip(self._names, made, strict=True)))
                elif len(made) == 1:
                    yield made[0]
                elif "text" in self._kinds:
                    yield as_records({f"column{i + 1}": part for i, part in enumerate(made)})
                else:
                    yield np.stack([part.astype(np.float64) for part in made], axis=1)

    def _blocks(self, file: BinaryIO) -> Iterator[list[tuple[int, Sequence[Any]]]]:
        lines = self._lines(file)
        while block := list(islice(lines, CHUNK)):
            yield block

    def _quick(self, block: Sequence[tuple[int, Sequence[Any]]]) -> list[np.ndarray] | None:
        """Return the columns of many lines, and note their types; None where each line is to be looked at by itself."""
        return None

    def _values(self, raw: Sequence[Any]) -> Sequence[Any]:
        """Values of a line: int, float or str."""
        return raw

    @abstractmethod
    def _lines(self, file: BinaryIO) -> Iterator[tuple[int, Sequence[Any]]]:
        """Yield the number of every line that holds an output, and what stands there."""

    def _look(self, line: int, values: Sequence[Any]) -> None:
        if len(values) != len(self._kinds):
            refuse(
                self._path,
                f"has {len(values)} columns, where line {self._first_line} has {len(self._kinds)}",
                line=line,
            )
        for place, (value, kind) in enumerate(zip(values, self._kinds, strict=True)):
            found = type(value)
            if found is int and not -(2**63) <= value < 2**63:
                refuse(self._path, "has more digits than 64 bits hold", line=line, column=self._column(place))
            if found is int and kind == "whole":
                continue
            if found is str and kind != "text":
                what = "is empty" if not value.strip() else f"{cell(value)} is no number"
                refuse(
                    self._path,
                    f"{what}, where line {self._first_line} has one; write one type of value in a column",
                    line=line,
                    column=self._column(place),
                )
            if found is not str and kind == "text":
                refuse(
                    self._path,
                    f"{value} is a number, where line {self._first_line} has a text; write one type in a column",
                    line=line,
                    column=self._column(place),
                )
            if found is float:
                if math.isnan(value):
                    refuse(
                        self._path,
                        "is NaN; write a value that can be compared",
                        line=line,
                        column=self._column(place),
                    )
                self._kinds[place] = "number"

    def _column(self, place: int) -> str | int:
        return self._names[place] if self._names else place + 1


class CsvTable(LineTable):
    """Outputs of a CSV file, with a header or without one, gzip'd if its name ends in .gz.

    A first line of texts above a line with a number is a header, and so is one whose texts do not come again in the
    lines below it.
    """

    def __init__(self, path: Path) -> None:
        self._texts: list[bool] = []
        self._is_header: bool | None = None
        super().__init__(path)

    def _lines(self, file: BinaryIO) -> Iterator[tuple[int, Sequence[Any]]]:
        rows = rows_of(self._path, file)
        if self._is_header is None:
            first = list(islice(rows, _HEADER_LINES))
            self._settle([row for _, row in first])
            rows = chain(first, rows)
        if self._is_header:
            next(rows)
        yield from rows

    def _values(self, raw: Sequence[Any]) -> Sequence[Any]:
        if len(raw) != len(self._texts):
            return raw
        return [text if is_text else _value(text) for text, is_text in zip(raw, self._texts, strict=True)]

    def _quick(self, block: Sequence[tuple[int, Sequence[Any]]]) -> list[np.ndarray] | None:
        if {len(row) for _, row in block} != {len(self._texts)}:
            return None
        made = []
        for place, column in enumerate(zip(*(row for _, row in block), strict=True)):
            found = _array(column, "text") if self._texts[place] else _numbers(column, self._kinds[place])
            if found is None:
                return None
            if found.dtype == np.float64:
                self._kinds[place] = "number"
            made.append(found)
        return made

    def _settle(self, rows: list[list[str]]) -> None:
        """Find out about a header, and which columns are texts by the first output."""
        self._is_header = _has_header(rows)
        if self._is_header:
            self._names = tuple(name.strip() for name in rows[0])
            if len(set(self._names)) < len(self._names) or "" in self._names:
                refuse(self._path, f"its header is {', '.join(map(cell, rows[0]))}: names must differ", line=1)
        outputs = rows[1:] if self._is_header else rows
        self._texts = [number_in(text) is None for text in outputs[0]] if outputs else []


class JsonTable(LineTable):
    """Outputs of a file of JSON Lines: numbers, texts, lists of one length, or objects with the same keys.

    Lists and objects inside them are taken apart: the columns of ``{"sum": {"of": [1, 2]}}`` are ``sum.of[0]`` and
    ``sum.of[1]``.
    """

    def _lines(self, file: BinaryIO) -> Iterator[tuple[int, Sequence[Any]]]:
        keys: tuple[str, ...] | None = None
        first: int | None = None
        for line, text in enumerate(lines_of(self._path, file), 1):
            if not text.strip():
                continue
            try:
                value = parse_json(text)
            except ValueError as error:
                refuse(self._path, f"is no JSON ({error})", line=line)
            if isinstance(value, dict | list) and any(isinstance(item, dict | list) for item in _items(value)):
                parts = list(_parts_of(value, ""))
                value = dict(parts)
                if len(value) < len(parts):
                    refuse(self._path, "has two parts that would be one column; give keys other names", line=line)
            if isinstance(value, dict):
                if first is not None and keys is None:
                    refuse(self._path, f"has named parts, where line {first} has none; write one form", line=line)
                if keys is None:
                    keys = tuple(value)
                    self._names = keys
                if value.keys() != set(keys):
                    refuse(
                        self._path, f"has the keys {', '.join(value)}, where others have {', '.join(keys)}", line=line
                    )
                value = [value[key] for key in keys]
            elif keys is not None:
                refuse(self._path, f"is {json_kind(value)}, where other lines are objects", line=line)
            values = value if isinstance(value, list) else [value]
            if not values:
                refuse(self._path, "has no values; write an output in every line", line=line)
            for place, item in enumerate(values):
                if item is None:
                    column = keys[place] if keys else place + 1
                    refuse(self._path, "is null; write a number or a text", line=line, column=column)
            first = first or line
            yield line, [int(item) if isinstance(item, bool) else item for item in values]


def _items(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _parts_of(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a value that have no parts, with the way to each."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _parts_of(part, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from _parts_of(part, f"{name}[{place}]")
    else:
        yield name, value


def _has_header(rows: list[list[str]]) -> bool:
    if not rows or any(number_in(text) is not None for text in rows[0]):
        return False
    if len(rows) == 1:
        return True
    if any(number_in(text) is not None for text in rows[1]):
        return True
    return not any(text in (row[place] for row in rows[1:] if place < len(row)) for place, text in enumerate(rows[0]))


def _numbers(column: Sequence[str], kind: str) -> np.ndarray | None:
    """Numbers of a column; None where a cell is no number that a line by itself would be taken for."""
    if "_" in "".join(column):
        return None
    if kind == "whole":
        with suppress(ValueError, OverflowError):
            return np.fromiter(map(int, column), np.int64, len(column))
    try:
        found = np.fromiter(map(float, column), np.float64, len(column))
    except ValueError:
        return None
    return None if np.isnan(found).any() else found


def _value(text: str) -> Any:
    if _WHOLE.fullmatch(text):
        return int(text)
    number = number_in(text)
    return text if number is None else number


def _kind(value: Any) -> str:
    return "text" if isinstance(value, str) else "number"


def _array(values: Sequence[Any], kind: str) -> np.ndarray:
    if kind == "text":
        made = np.empty(len(values), dtype=object)
        made[:] = values
        return made
    return np.array(values, dtype=_KINDS[kind])
