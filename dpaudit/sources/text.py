"""Lines of text files that somebody else wrote, gzip'd or not; what is wrong is told with its line."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Context, Decimal
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn, cast

from dpaudit.errors import DataError
from dpaudit.reading import MEBIBYTE, check_regular, shortened

_GZIP: Final = b"\x1f\x8b"
_OTHERS: Final = {
    b"PK\x03\x04": "a zip archive",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ\x00": "compressed by xz",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"\x93NUMPY": "a npy file",
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
}
"""How files begin that are no text, and what they are."""

DIGITS: Final = 15
"""Digits of which double precision holds every decimal number, so that none is taken for another."""

_LONGEST: Final = MEBIBYTE
"""Bytes that a line may have: what has no line breaks is no table."""


def refuse(path: str | Path, what: str, *, line: int | None = None, column: str | int | None = None) -> NoReturn:
    """Raise DataError that names the file, the line and the column."""
    where = f", line {line}" if line is not None else ""
    where += f", column {column}" if column is not None else ""
    raise DataError(f"{path}{where}: {what}")


@contextmanager
def opened(path: str | Path) -> Iterator[BinaryIO]:
    """Open a regular file for reading, decompressed if its name ends in .gz.

    Raises
    ------
    DataError
        It cannot be read, or is compressed and its name does not say so, or the other way round.
    """
    try:
        check_regular(path)
        with open(path, "rb") as file:
            start = file.read(8)
            file.seek(0)
            named = str(path).lower().endswith(".gz")
            if named and start and not start.startswith(_GZIP):
                refuse(path, "its name ends in .gz, but it is not compressed by gzip; rename it")
            if not named and start.startswith(_GZIP):
                refuse(path, "it is compressed by gzip, but its name does not end in .gz; rename it or decompress it")
            if not named:
                yield file
                return
            with gzip.open(file) as inside:
                yield cast(BinaryIO, inside)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        refuse(path, "its compressed content is damaged or ends too early; make it again")
    except OSError as error:
        refuse(path, f"cannot be read ({error.strerror or error})")


def lines_of(path: str | Path, file: BinaryIO) -> Iterator[str]:
    """Yield the lines of an opened file of UTF-8 text, without a byte order mark.

    Raises
    ------
    DataError
        It is no UTF-8 text, or a line is too long.
    """
    number = 0
    while block := file.read(_LONGEST):
        # To the end of its last line.
        block += (rest := file.readline(_LONGEST + 1))
        if not number:
            for start, what in _OTHERS.items():
                if block.startswith(start):
                    refuse(path, f"it is {what} and no text; give it the ending of what it is, or decompress it")
            block = block.removeprefix(b"\xef\xbb\xbf")
            if b"\n" not in block and b"\r" in block.rstrip():
                refuse(path, "its lines end in a carriage return alone; save it with line ends of Unix or Windows")
        long = len(rest) > _LONGEST or (len(block) > _LONGEST and max(map(len, block.split(b"\n"))) > _LONGEST)
        try:
            text = block.decode("utf-8")
        except UnicodeDecodeError:
            text = "\0"
        if long or "\0" in text:
            _refuse_line(path, block, number)
        number += text.count("\n")
        yield from io.StringIO(text, newline="\n")


def _refuse_line(path: str | Path, block: bytes, before: int) -> NoReturn:
    """Raise DataError for the first bad line of a block that has one."""
    for number, raw in enumerate(block.split(b"\n"), before + 1):
        if len(raw) > _LONGEST:
            refuse(path, f"has more than {_LONGEST // MEBIBYTE} MiB; write one output a line", line=number)
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            refuse(path, "is not UTF-8 text; save the file as UTF-8", line=number)
        if "\0" in text:
            refuse(path, "has a byte of 0, as no text has; save the file as UTF-8", line=number)
    refuse(path, "is not a text that can be read; save the file as UTF-8")


def rows_of(path: str | Path, file: BinaryIO) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of an opened CSV file that are not empty, with the lines they end on.

    Blank lines at the end of a file, and between rows of several columns, hold no row. Between rows of one column they
    might be empty texts, and are refused.

    Raises
    ------
    DataError
        As `lines_of`; or it is no CSV.
    """
    reader = csv.reader(lines_of(path, file), strict=True)
    blank = 0
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            refuse(
                path, f"is no CSV ({error}); write one output a line, with commas between columns", line=reader.line_num
            )
        if not row:
            blank = blank or reader.line_num
            continue
        if blank and len(row) == 1:
            mend = 'write an empty text as "", and where a number is missing one that no other output has'
            refuse(path, f"is blank, and rows follow; {mend}", line=blank)
        yield reader.line_num, row


def number_in(text: str) -> float | None:
    """Return the number that a cell stands for; None where it stands for none."""
    # Python takes 1_000 and digits of other scripts for numbers, which no other program writes as such.
    if "_" in text or not text.isascii():
        return None
    try:
        return float(text)
    except ValueError:
        return None


def is_rounded(number: Decimal, held: float) -> bool:
    """Whether double precision holds another number, which is not printed as this one with equally many digits."""
    if Decimal(repr(held)) == number:
        return False
    return Context(prec=max(1, len(number.as_tuple().digits))).plus(Decimal(held)) != number


def columns(number: int) -> str:
    """Return a number of columns in words."""
    return "1 column" if number == 1 else f"{number} columns"


def cell(value: Any) -> str:
    """Return a cell as a message shows it."""
    return shortened(value, 60)
