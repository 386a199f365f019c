"""Writing files for users: a file is there whole, or as it was before."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from dpaudit.errors import OutputError

_MENDS: Final = {
    errno.ENOSPC: "make room, or name another folder",
    errno.EDQUOT: "make room, or name another folder",
    errno.EFBIG: "files may not grow so large here; name another folder",
    errno.EROFS: "name a folder that can be written",
    errno.EACCES: "name a folder that can be written",
    errno.EPERM: "name a folder that can be written",
    errno.ENAMETOOLONG: "choose a shorter name",
}


_BLOCK: Final = 2**20
"""Bytes that or characters that are written at a time."""


def write_file(path: str | Path, content: str | bytes | Iterable[str]) -> None:
    """Write a file, making its folder if need be, so that whatever happens it is whole or as it was before.

    The content goes to a temporary file in the same folder, which takes the file's place once it has reached the disk.
    The file gets the mode that writing it in place would give, and a link is followed.

    Parameters
    ----------
    path
        The file.
    content
        What it is to hold, or the parts of it. Text becomes UTF-8; a lone surrogate, which only JSON can hold, becomes
        its JSON escape.

    Raises
    ------
    OutputError
        It cannot be written. Nothing is left behind.
    """
    parts = (
        [content]
        if isinstance(content, bytes)
        else (
            part.encode("utf-8", "backslashreplace")
            for part in joined([content] if isinstance(content, str) else content)
        )
    )
    try:
        # Replacing a link would cut it.
        file = Path(os.path.realpath(path))
        file.parent.mkdir(parents=True, exist_ok=True)
        _replace(file, parts, mode=_mode(file))
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: str | Path, error: OSError) -> OutputError:
    """Return the error that says that a file or folder cannot be written, and what to do."""
    mend = _MENDS.get(error.errno or 0)
    return OutputError(f"{path}: cannot be written ({error.strerror or error}){f'; {mend}' if mend else ''}")


def _mode(file: Path) -> int | None:
    """Mode of a file that is there; None where there is none. OSError where it could not be written in place."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    if not os.access(file, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return stat.S_IMODE(found.st_mode)


def _replace(file: Path, parts: Iterable[bytes], *, mode: int | None) -> None:
    temporary = file.with_name(f".dpaudit-{secrets.token_hex(8)}.tmp")
    # A new file gets its mode from the umask, as any other.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        try:
            for part in parts:
                _write(descriptor, part)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def joined(parts: Iterable[str]) -> Iterator[str]:
    """Join the parts of a text to larger ones."""
    found, size = [], 0
    for part in parts:
        found.append(part)
        size += len(part)
        if size >= _BLOCK:
            yield "".join(found)
            found, size = [], 0
    yield "".join(found)


def _write(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
