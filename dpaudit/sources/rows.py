"""Outputs in text files, one a line: CSV and JSON Lines."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn

import numpy as np

from dpaudit.errors import DataError
from dpaudit.reading import RepeatedKeyError, json_kind, parse_json
from dpaudit.sources.numpy_files import as_records
from dpaudit.sources.tables import CHUNK
from dpaudit.sources.text import DIGITS, cell, columns, is_rounded, lines_of, number_in, opened, refuse, rows_of

_PADDED: Final = re.compile(r"^\s*[+-]?0[0-9]", re.ASCII | re.MULTILINE)
"""Numbers that begin with 0, as codes of one length do."""

_WHOLE: Final = re.compile(r"\s*[+-]?[0-9]+\s*", re.ASCII)
_EXACT: Final = 2**53
"""Whole numbers up to this one, and some above it, are floating-point numbers too."""

_FIRST: Final = 1000
"""Numbers of a column, in every part of a file, of which all digits are looked at."""

_HEADER_LINES: Final = 1000
"""Lines among which the first one does not come again in any cell, if it is a header of texts."""

_BOOLEANS: Final = {"True": "true", "TRUE": "true", "False": "false", "FALSE": "false"}
_TRUTH_VALUES: Final = {*_BOOLEANS, *_BOOLEANS.values()}

_MISSING: Final = {"", "na", "n/a", "#n/a", "<na>", "null", "none", "nil", "-", "?", "."}
"""What programs write into a column of numbers where one is missing, in small letters; NaN is refused as a number."""

_NEARLY_ALL: Final = 0.95
"""Share of the lines with as many separators as the first one from which on they separate columns. Chosen by hand: a
text in a column may have one more."""

_JSON_OUTPUTS: Final = "a number, a text in double quotes, a list or an object"

NULL_MEND: Final = 'write an object in every line, such as {"output": 1}; what stands in it may be null'
"""What to do about a line that is null."""

Way = tuple[str | int, ...]
"""Keys of objects and places in lists that lead to a value."""

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
        self._inexact: dict[int, int] = {}
        self._first_chunk: np.ndarray | None = None
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
        self._check_exact()

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
        """Yield all outputs in order; of the first chunk, which is asked for most often, the lines are read once."""
        if self._first_chunk is not None:
            yield self._first_chunk
            if self._rows == len(self._first_chunk):
                return
        with opened(self._path) as file:
            for number, block in enumerate(self._blocks(file)):
                if number:
                    yield self._chunk(block)
                elif self._first_chunk is None:
                    self._first_chunk = self._chunk(block)
                    self._first_chunk.flags.writeable = False
                    yield self._first_chunk

    def _chunk(self, block: Sequence[tuple[int, Sequence[Any]]]) -> np.ndarray:
        """Return the outputs of a block of lines."""
        made = self._quick(block)
        if made is None:
            columns = zip(*(self._values(raw) for _, raw in block), strict=True)
            made = [_array(column, kind) for column, kind in zip(columns, self._kinds, strict=True)]
        if self._names:
            return as_records(dict(zip(self._names, made, strict=True)))
        if len(made) == 1:
            return made[0]
        if "text" in self._kinds:
            return as_records({f"column{i + 1}": part for i, part in enumerate(made)})
        if set(self._kinds) == {"whole"}:
            return np.stack(made, axis=1)
        return np.stack([part.astype(np.float64) for part in made], axis=1)

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
                f"has {columns(len(values))}, where line {self._first_line} has {len(self._kinds)}",
                line=line,
            )
        for place, (value, kind) in enumerate(zip(values, self._kinds, strict=True)):
            found = type(value)
            if found is int and not -(2**63) <= value < 2**63:
                refuse(
                    self._path,
                    "has more digits than 64 bits hold; write smaller numbers, or texts in JSON Lines",
                    line=line,
                    column=self._column(place),
                )
            if found is int and not _is_exact(value):
                self._inexact.setdefault(place, line)
            if found is int and kind == "whole":
                continue
            if found is str and kind != "text":
                what = "is empty" if not value.strip() else f"{cell(value)} is not a number"
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

    def _check_exact(self) -> None:
        """Refuse whole numbers that would be rounded because other numbers stand in their column, or beside it."""
        together = not self._names and "text" not in self._kinds and "number" in self._kinds
        for place, line in self._inexact.items():
            if together or self._kinds[place] == "number":
                refuse(
                    self._path,
                    "is a whole number that would be rounded, as all numbers of a column with decimals are held in "
                    "double precision; write whole numbers alone in a column with a name, or round them yourself",
                    line=line,
                    column=self._column(place),
                )

    def _column(self, place: int) -> str | int:
        return self._names[place] if self._names else place + 1


class CsvTable(LineTable):
    """Outputs of a CSV file, with a header or without one, gzip'd if its name ends in .gz.

    A first line of texts above a line with a number is a header, and so is one whose texts do not come again in the
    lines below it.

    Parameters
    ----------
    path
        The file.
    header
        Whether its first line has the names of the columns; None to guess it.
    """

    def __init__(self, path: Path, *, header: bool | None = None) -> None:
        self._texts: list[bool] = []
        self._is_header: bool | None = None
        self._header = header
        self.notes: tuple[str, ...] = ()
        """What was guessed, in words."""
        self._looked_at: Sequence[str] = ()
        self._padded: dict[int, int] = {}
        self._rounded: dict[int, str] = {}
        self._spellings: dict[int, set[str]] = {}
        super().__init__(path)
        self._check_undecided()
        self.notes += tuple(
            f"column {self._column(place)} of {path} has a number that begins with 0, as 007 does, in line {line}; 007 "
            "and 7 are one number, so write texts in JSON Lines if the zeros belong to the output"
            for place, line in sorted(self._padded.items())
        )
        self.notes += tuple(
            f"column {self._column(place)} of {path} has numbers such as {cell(text)}, which are rounded to double "
            "precision; write texts in JSON Lines if their last digits belong to the output"
            for place, text in sorted(self._rounded.items())
        )
        self.notes += tuple(
            f"column {self._column(place)} of {path} has {' and '.join(sorted(spelled))}, which are one text; write "
            "them in JSON Lines if the capitals belong to the output"
            for place, spelled in sorted(self._spellings.items())
            if len({_BOOLEANS.get(each, each) for each in spelled}) < len(spelled)
        )

    def _lines(self, file: BinaryIO) -> Iterator[tuple[int, Sequence[Any]]]:
        rows = rows_of(self._path, file)
        if self._is_header is None:
            first = list(islice(rows, _HEADER_LINES))
            self._settle(first)
            rows = chain(first, rows)
        if self._is_header:
            next(rows)
        yield from rows

    def _values(self, raw: Sequence[Any]) -> Sequence[Any]:
        self._looked_at = raw
        if len(raw) != len(self._texts):
            return raw
        cells = zip(_texts(raw), self._texts, strict=True)
        return [text if is_text else _value(text) for text, is_text in cells]

    def _quick(self, block: Sequence[tuple[int, Sequence[Any]]]) -> list[np.ndarray] | None:
        if {len(row) for _, row in block} != {len(self._texts)}:
            return None
        made = []
        for place, column in enumerate(zip(*(row for _, row in block), strict=True)):
            found = _array(_texts(column), "text") if self._texts[place] else _numbers(column, self._kinds[place])
            if found is None:
                return None
            if not self._texts[place] and place not in self._padded:
                together = "\n".join(column)
                if (padded := _PADDED.search(together)) is not None:
                    self._padded[place] = block[together.count("\n", 0, padded.start())][0]
            if self._texts[place]:
                self._spellings.setdefault(place, set()).update(_TRUTH_VALUES.intersection(column))
            elif found.dtype == np.float64:
                self._kinds[place] = "number"
                if place not in self._rounded and (text := _rounded_in(column)) is not None:
                    self._rounded[place] = text
            elif found.dtype == np.int64 and place not in self._inexact:
                for row in np.flatnonzero((found > _EXACT) | (found < -_EXACT)).tolist():
                    if not _is_exact(int(found[row])):
                        self._inexact[place] = block[row][0]
                        break
            made.append(found)
        return made

    def _look(self, line: int, values: Sequence[Any]) -> None:
        for place, (value, text) in enumerate(zip(values, self._looked_at, strict=False)):
            if type(value) is float and math.isinf(value) and "inf" not in text.lower():
                refuse(
                    self._path,
                    f"{cell(text)} is larger than double precision holds; write a number below 1.8e308, or inf",
                    line=line,
                    column=self._column(place),
                )
        if len(values) == len(self._texts):
            for place, value in enumerate(values):
                if not self._texts[place] and _is_missing(value):
                    self._refuse_missing(line, place, value, self._first_line)
        super()._look(line, values)

    def _refuse_missing(self, line: int, place: int, text: str, number_line: int) -> NoReturn:
        mend = "write a number that no other output has where one is missing"
        if line == 1 and self._header is None:
            mend += ", or give --header if the line has the names of the columns"
        what = f"is {cell(text)}" if text.strip() else "is empty"
        refuse(
            self._path,
            f"{what}, where line {number_line} has a number; {mend}",
            line=line,
            column=self._column(place),
        )

    def _settle(self, numbered: Sequence[tuple[int, list[str]]]) -> None:
        """Find out about a header, and which columns are texts, by the first lines."""
        rows = [row for _, row in numbered]
        self._is_header = bool(rows) and (_has_header(rows) if self._header is None else self._header)
        if self._is_header:
            self._names = tuple(name.strip() for name in rows[0])
            if "" in self._names:
                place = self._names.index("") + 1
                mend = "name it"
                if place == 1:
                    mend = "if it is the index that pandas writes, write `to_csv(..., index=False)`, or else name it"
                refuse(self._path, f"has no name in the header; {mend}", line=1, column=place)
            if len(set(self._names)) < len(self._names):
                refuse(self._path, f"its header is {', '.join(map(cell, rows[0]))}: names must differ", line=1)
        outputs = rows[1:] if self._is_header else rows
        self._check_separated(rows[:1] if self._is_header else [], outputs)
        if self._is_header and outputs and len(outputs[0]) != len(rows[0]):
            refuse(
                self._path,
                f"has {columns(len(outputs[0]))}, where the header in line {numbered[0][0]} names {len(rows[0])}; name "
                "every column",
                line=numbered[1][0],
            )
        if self._is_header and self._header is None and not _has_number(rows[1:2]):
            self.notes = (
                f"the first line of {self._path}, {', '.join(map(cell, rows[0]))}, was taken for the names of the "
                "columns; give --no-header if it is an output",
            )
        self._texts = [number_in(text) is None for text in outputs[0]] if outputs else []
        self._undecided = [
            place
            for place in range(len(self._texts))
            if _is_missing(outputs[0][place])
            and all(_is_missing(row[place]) or number_in(row[place]) is not None for row in outputs if row[place:])
        ]

    def _check_separated(self, header: Sequence[Sequence[str]], outputs: Sequence[Sequence[str]]) -> None:
        """Refuse columns that something else than commas separates."""
        for mark in ";\t|":
            if outputs and _are_separated(outputs, mark):
                refuse(
                    self._path,
                    f"its columns seem to be separated by {mark!r}; separate them by commas, and write decimals with a "
                    "point",
                )
            if header and outputs and _are_separated_as(header[0], outputs, mark):
                refuse(
                    self._path,
                    f"its columns seem to be separated by {mark!r}, which lines have as often as the first one; "
                    "separate them by commas, and write decimals with a point; if there is one column of texts, head "
                    f"it by a name without {mark!r}",
                )

    def _check_undecided(self) -> None:
        """Refuse a column that begins with a missing value and has numbers, or nothing at all, in all other lines.

        Nothing at all stands in the column after a comma at the end of every line.
        """
        if not self._rows or not self._undecided:
            return
        missing: dict[int, tuple[int, str]] = {}
        numbers: dict[int, int] = {}
        undecided, filled = set(self._undecided), set()
        with opened(self._path) as file:
            for line, row in self._lines(file):
                for place in tuple(undecided):
                    text = row[place]
                    if text.strip():
                        filled.add(place)
                    if _is_missing(text):
                        missing.setdefault(place, (line, text))
                    elif number_in(text) is None:
                        undecided.remove(place)
                    else:
                        numbers.setdefault(place, line)
                if not undecided:
                    return
        for place in sorted(undecided):
            if place in numbers:
                line, text = missing[place]
                self._refuse_missing(line, place, text, numbers[place])
            if place not in filled:
                refuse(
                    self._path,
                    "is empty in every line; leave it out, and commas at the ends of lines",
                    column=self._column(place),
                )


class VaryingPartsError(DataError):
    """Lines of JSON have other keys, lists of other lengths or a null in them, so that they make no columns."""


class JsonTable(LineTable):
    """Outputs of a file of JSON Lines: numbers, texts, lists of one length, or objects with the same keys.

    Lists and objects inside them are taken apart: the columns of ``{"sum": {"of": [1, 2]}}`` are ``sum.of[0]`` and
    ``sum.of[1]``. A column of true and false is held as 1 and 0, and has nothing else in it.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    DataError
        It cannot be read, or a line has other parts or a null in it (then `VaryingPartsError`) or another type.
    """

    def __init__(self, path: Path) -> None:
        self._truth_values: list[bool] = []
        self.ways: frozenset[Way] = frozenset()
        """Ways to the values of an object; two may have one name, as ``{"a.b": 1}`` and ``{"a": {"b": 1}}`` do."""
        super().__init__(path)

    @property
    def truth_values(self) -> tuple[str | int, ...]:
        """Columns that hold true and false, by their names, or by their numbers where they have none."""
        return tuple(self._column(place) for place, is_one in enumerate(self._truth_values) if is_one)

    def _lines(self, file: BinaryIO) -> Iterator[tuple[int, Sequence[Any]]]:
        keys: tuple[str, ...] | None = None
        first: int | None = None
        only_lists, nested = True, False
        for line, value in json_lines(self._path, file):
            only_lists = only_lists and isinstance(value, list)
            ways: frozenset[Way] | None = None
            if isinstance(value, dict | list) and any(isinstance(item, dict | list) for item in _items(value)):
                parts = dict(parts_of(value))
                ways = frozenset(parts)
                value = {_name(way): part for way, part in parts.items()}
                if len(value) < len(parts):
                    refuse(self._path, "has two parts that would be one column; give keys other names", line=line)
                if any(isinstance(part, dict | list) for part in value.values()):
                    raise VaryingPartsError(f"{self._path}, line {line}: has a list or an object without values")
            if isinstance(value, dict):
                if first is not None and keys is None:
                    if only_lists:
                        self._varies(line, first)
                    refuse(self._path, f"has named parts, where line {first} has none; write one form", line=line)
                if keys is None:
                    keys = tuple(value)
                    self._names = keys
                    self.ways = frozenset((key,) for key in keys) if ways is None else ways
                    nested = ways is not None
                if value.keys() != set(keys) or (nested if ways is None else ways != self.ways):
                    self._varies(line, first)
                value = [value[key] for key in keys]
            elif keys is not None:
                if only_lists:
                    self._varies(line, first)
                refuse(self._path, f"is {json_kind(value)}, where other lines are objects", line=line)
            if value is None:
                refuse(self._path, f"is null; {NULL_MEND}", line=line)
            values = value if isinstance(value, list) else [value]
            if not values:
                self._varies(line, None)
            if None in values:
                place = values.index(None)
                column = keys[place] if keys else place + 1
                raise VaryingPartsError(f"{self._path}, line {line}, column {column}: is null")
            truth_values = [isinstance(item, bool) for item in values]
            if first is None:
                first, self._truth_values = line, truth_values
            if truth_values != self._truth_values:
                self._check_truth_values(line, values, first)
            yield line, [int(item) if isinstance(item, bool) else item for item in values]

    def _check_truth_values(self, line: int, values: Sequence[Any], first: int) -> None:
        """Refuse true or false in a column of something else, and something else in a column of these."""
        for place, (value, is_one) in enumerate(zip(values, self._truth_values, strict=False)):
            if isinstance(value, bool) and not is_one:
                refuse(
                    self._path,
                    f"is {str(value).lower()}, where line {first} has a number or a text; write one type of value in a "
                    "column",
                    line=line,
                    column=self._column(place),
                )
            if is_one and not isinstance(value, bool):
                refuse(
                    self._path,
                    f"is {json_kind(value)}, where line {first} has true or false; write one type of value in a column",
                    line=line,
                    column=self._column(place),
                )

    def _look(self, line: int, values: Sequence[Any]) -> None:
        if len(values) != len(self._kinds):
            self._varies(line, self._first_line)
        super()._look(line, values)

    def _varies(self, line: int, first: int | None) -> NoReturn:
        """Raise VaryingPartsError for a line with other parts than another one, or without any."""
        parts = "no parts" if first is None else f"other parts than line {first}"
        raise VaryingPartsError(f"{self._path}, line {line}: has {parts}")


def json_lines(path: Path, file: BinaryIO) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of every line of JSON that is not blank.

    Raises
    ------
    DataError
        A line is not JSON, or names a key twice.
    """
    for line, text in enumerate(lines_of(path, file), 1):
        if not text.strip():
            continue
        try:
            value = parse_json(text)
        except RepeatedKeyError as error:
            refuse(path, f"{error}, and one of its values would be lost; write every key once", line=line)
        except ValueError as error:
            refuse(path, f"is not JSON ({error}); write an output a line: {_JSON_OUTPUTS}", line=line)
        yield line, value


def _items(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def parts_of(value: Any, way: Way = ()) -> Iterator[tuple[Way, Any]]:
    """Yield the parts of a value that have no parts, empty lists and objects among them, with the way to each."""
    if value and isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from parts_of(part, (*way, key))
    else:
        yield way, value


def _name(way: Way) -> str:
    """Name of the column at the end of a way, such as ``sum.of[1]``."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in way).removeprefix(".")


def _has_header(rows: list[list[str]]) -> bool:
    if not rows or any(number_in(text) is not None or text in _TRUTH_VALUES for text in rows[0]):
        return False
    if all(map(_is_missing, rows[0])):
        return False
    if len(rows) == 1:
        return True
    if any(number_in(text) is not None for text in rows[1]):
        return True
    return not any(text in (row[place] for row in rows[1:] if place < len(row)) for place, text in enumerate(rows[0]))


def _has_number(rows: Sequence[Sequence[str]]) -> bool:
    return any(number_in(text) is not None for row in rows for text in row)


def _numbers(column: Sequence[str], kind: str) -> np.ndarray | None:
    """Numbers of a column; None where a cell is no number that a line by itself would be taken for."""
    together = "".join(column)
    if "_" in together or not together.isascii():
        return None
    if kind == "whole":
        try:
            return np.fromiter(map(int, column), np.int64, len(column))
        except OverflowError:
            return None
        except ValueError:
            pass
    try:
        found = np.fromiter(map(float, column), np.float64, len(column))
    except ValueError:
        return None
    if np.isnan(found).any():
        return None
    for row in np.flatnonzero(np.abs(found) >= _EXACT).tolist():
        # What is rounded, or too large, is told with its line.
        text = column[row]
        if np.isinf(found[row]) and "inf" not in text.lower():
            return None
        if _WHOLE.fullmatch(text) and not _is_exact(_value(text)):
            return None
    return found


def _rounded_in(column: Sequence[str]) -> str | None:
    """Return one of the first numbers of a column of which double precision does not hold all digits."""
    for text in column[:_FIRST]:
        if len(text) <= DIGITS or text == repr(held := float(text)):
            continue
        if math.isfinite(held) and is_rounded(Decimal(text), held):
            return text
    return None


def _texts(column: Sequence[str]) -> list[str]:
    """Cells of texts, with truth values written in one way whatever program wrote them."""
    return [_BOOLEANS.get(text, text) for text in column]


def _are_separated(rows: Sequence[Sequence[str]], mark: str) -> bool:
    """Whether a mark stands between the numbers of every row, equally often."""
    lines = [",".join(row) for row in rows]
    counts = {line.count(mark) for line in lines}
    if len(counts) > 1 or counts == {0}:
        return False
    return all(number_in(part.replace(",", ".")) is not None for line in lines for part in line.split(mark))


def _are_separated_as(header: Sequence[str], rows: Sequence[Sequence[str]], mark: str) -> bool:
    """Whether a mark stands as often in nearly all rows as in a header without commas."""
    number = header[0].count(mark)
    if len(header) > 1 or not number:
        return False
    same = sum(",".join(row).count(mark) == number for row in rows)
    return same >= _NEARLY_ALL * len(rows)


def _is_missing(value: Any) -> bool:
    return isinstance(value, str) and value.strip().lower() in _MISSING


def _is_exact(value: int) -> bool:
    """Whether a whole number is one in double precision too."""
    return -_EXACT <= value <= _EXACT or int(float(value)) == value


def _value(text: str) -> Any:
    if _WHOLE.fullmatch(text):
        try:
            return int(text)
        except ValueError:
            # Thousands of digits, which Python does not read: a number beyond 64 bits, as they are.
            return 1 << 64
    number = number_in(text)
    return text if number is None else number


def _kind(value: Any) -> str:
    return "text" if isinstance(value, str) else "number"


def as_object_array(values: Sequence[Any]) -> np.ndarray:
    """Return an array of values as they are."""
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def _array(values: Sequence[Any], kind: str) -> np.ndarray:
    if kind == "text":
        return as_object_array(values)
    return np.array(values, dtype=_KINDS[kind])
