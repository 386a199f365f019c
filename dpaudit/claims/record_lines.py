"""A record file as it is written, a line for each result and each curve: read a line at a time."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple, overload

from dpaudit.claims.kept import OpenFile
from dpaudit.errors import RecordError
from dpaudit.reading import MEBIBYTE, check_regular

_TABLES: Final = {b' "results": [\n': "results", b' "curves": [\n': "curves"}
_LONGEST: Final = 64 * MEBIBYTE
"""Bytes that a line, and all that is no line of a table, may have."""


class Lines(Sequence[str]):
    """Lines of a table in a file, without the commas between them, read as they are asked for."""

    def __init__(self, file: OpenFile) -> None:
        self._file, self._starts, self._ends = file, array("Q"), array("Q")

    def add(self, start: int, end: int) -> None:
        """Add a line of the file."""
        self._starts.append(start)
        self._ends.append(end)

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        return self._file.read(self._starts[place], self._ends[place]).decode().removesuffix(",")


class Tables(NamedTuple):
    """A record without its tables, and these.

    Attributes
    ----------
    rest
        JSON of the record, in which the tables are empty.
    results, curves
        JSON of each result and of each curve.
    """

    rest: str
    results: Lines
    curves: Lines


def tables_of(path: str | Path) -> Tables | None:
    """Return the tables of a record file; None where it is laid out in another way than a record is written.

    Raises
    ------
    RecordError
        The file cannot be read.
    """
    try:
        check_regular(path)
        file = open(path, "rb")  # noqa: SIM115 - as long as its lines
        held = OpenFile(file)
        found = {"results": Lines(held), "curves": Lines(held)}
        rest, size, start = [], 0, 0
        table: Lines | None = None
        while line := file.readline(_LONGEST):
            if table is not None and line.startswith(b"  {"):
                table.add(start, start + len(line) - 1)
                if not line.endswith((b"},\n", b"}\n")):
                    return None
            else:
                table = found[_TABLES[line]] if line in _TABLES else None
                size += len(line)
                if size > _LONGEST or (table is not None and len(table)):
                    return None
                rest.append(line)
            start += len(line)
        return Tables(b"".join(rest).decode(), found["results"], found["curves"])
    except OSError as error:
        raise RecordError(f"{path}: cannot read the record ({error.strerror})") from None
    except UnicodeDecodeError:
        return None
