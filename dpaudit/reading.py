"""Reading files that somebody else may have written: regular ones only, so large and so deep at most."""

from __future__ import annotations

import errno
import json
import math
import os
import stat
from pathlib import Path
from typing import Any, Final, NoReturn

MOST_DEPTH: Final = 100
"""Lists and objects in each other that JSON may have."""

MEBIBYTE: Final = 2**20


def check_regular(path: str | Path) -> None:
    """Raise OSError, with the reason in ``strerror``, where a path does not lead to a file that can be read to its end.

    A device or a pipe may have no end, or no beginning.
    """
    try:
        mode = os.stat(path).st_mode
    except ValueError:
        raise OSError(0, "no file can have this name") from None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(0, "it is not a regular file; copy what it gives into one")


def read_bytes(path: str | Path, *, most: int) -> bytes:
    """Return the content of a regular file of at most so many bytes.

    Raises
    ------
    OSError
        It cannot be read, is no regular file or is larger; ``strerror`` says which.
    """
    check_regular(path)
    with open(path, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(0, f"it is larger than {most // MEBIBYTE} MiB")
    return content


def read_text(path: str | Path, *, most: int) -> str:
    """Return a file as UTF-8 text, without a byte order mark; raise also UnicodeDecodeError."""
    return read_bytes(path, most=most).decode("utf-8-sig").replace("\r\n", "\n")


class RepeatedKeyError(ValueError):
    """A JSON object names a key twice, so that one of its values would be lost."""


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these keys and values, as a decoder of JSON asks for it.

    Raises
    ------
    RepeatedKeyError
        A key stands twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise RepeatedKeyError(f"key {shortened(next(name for name in names if names.count(name) > 1))} stands twice")
    return found


def parse_json(text: str) -> Any:
    """Return what JSON text stands for.

    Raises
    ------
    ValueError
        It is not JSON, names a key twice (then `RepeatedKeyError`), has a number that is none, or is nested too deeply.
    """
    try:
        found = _DECODER.decode(text)
    except RecursionError:
        _too_deep()
    except RepeatedKeyError:
        raise
    except json.JSONDecodeError as error:
        # Whoever reads a line of a file tells which one it is.
        place = f"line {error.lineno}, column {error.colno}" if "\n" in text.strip() else f"character {error.pos + 1}"
        raise ValueError(f"{error.msg}: {place}") from None
    except ValueError as error:
        raise ValueError(digits_told(error)) from None
    if text.count("[") + text.count("{") <= MOST_DEPTH:
        return found
    level = [found]
    for _ in range(MOST_DEPTH + 1):
        outer = [item for item in level if isinstance(item, dict | list)]
        if not outer:
            return found
        level = [inner for item in outer for inner in (item.values() if isinstance(item, dict) else item)]
    return _too_deep()


def digits_told(error: ValueError) -> str:
    """Return what an error says, without advice to programmers where a number has too many digits to be read."""
    text = str(error)
    return "a number has more digits than can be read (4300)" if text.startswith("Exceeds the limit") else text


def json_kind(value: Any) -> str:
    """Return what JSON calls the kind of a value."""
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def shortened(value: Any, most: int = 200) -> str:
    """Return the ``repr`` of a value for a message, cut where it is long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return f"{type(value).__name__} of many digits or parts"
    return text if len(text) <= most else f"{text[:most]}…"


def _too_deep() -> NoReturn:
    raise ValueError(f"nested more than {MOST_DEPTH} deep")


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _fraction(text: str) -> float:
    found = float(text)
    if math.isinf(found):
        raise ValueError(f"{shortened(text, 40)} is larger than double precision holds")
    return found


_DECODER: Final = json.JSONDecoder(object_pairs_hook=object_of, parse_constant=_constant, parse_float=_fraction)
