"""Messages between a process and its workers: pickles in frames that noise on the same descriptor cannot look like."""

from __future__ import annotations

import io
import pickle
import socket
import struct
from typing import Any, Final

from dpaudit.catalog import NAME as CATALOGUE

_MARK: Final = b"dpaudit\x00"
_HEADER: Final = struct.Struct(">8sQ")
_PIECE: Final = 1 << 20
_KNOWN: Final = ("builtins", "collections", "datetime", "fractions", "numpy", "pathlib", "dpaudit")


class NoiseError(Exception):
    """What arrived is no message."""


def send(connection: socket.socket, message: object) -> None:
    """Send a message.

    Raises
    ------
    OSError
        The other side has gone.
    """
    content = pickle.dumps(message)
    connection.sendall(_HEADER.pack(_MARK, len(content)))
    connection.sendall(content)


def send_checked(connection: socket.socket, token: str, answer: tuple[str, Any]) -> None:
    """Send an answer that an `Inbox` will take; in place of one with objects of other classes, what is wrong with it.

    Raises
    ------
    OSError
        The other side has gone.
    """
    content = packed(token, answer)
    connection.sendall(_HEADER.pack(_MARK, len(content)))
    connection.sendall(content)


def packed(token: str, answer: tuple[str, Any]) -> bytes:
    """Return an answer for `unpacked`; in place of one with objects of other classes, what is wrong with it."""
    try:
        content = pickle.dumps((token, *answer))
        unpacked(content)
    except Exception as error:
        what = f"what cannot leave its process: {error}"
        content = pickle.dumps((token, "raised", (what, "")))
    return content


def receive(connection: socket.socket) -> Any:
    """Wait for a message; any class may be in it, so that only a worker, which runs any code anyway, calls this.

    Raises
    ------
    EOFError
        The other side has gone.
    """
    mark, size = _HEADER.unpack(_exactly(connection, _HEADER.size))
    if mark != _MARK:
        raise EOFError
    return pickle.loads(_exactly(connection, size))  # noqa: S301 - the sender is the process that started this one


def _exactly(connection: socket.socket, size: int) -> bytes:
    content = bytearray()
    while len(content) < size:
        piece = connection.recv(min(_PIECE, size - len(content)))
        if not piece:
            raise EOFError
        content += piece
    return bytes(content)


class Inbox:
    """Messages as they arrive on a connection that never blocks; no code of a target is loaded for them.

    Parameters
    ----------
    connection
        The connection.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._content = bytearray()
        self.closed = False

    def messages(self) -> list[Any]:
        """Return what has arrived since the last call.

        Raises
        ------
        NoiseError
            Something arrived that is no message.
        """
        self._read()
        found = []
        while len(self._content) >= _HEADER.size:
            mark, size = _HEADER.unpack_from(self._content)
            if mark != _MARK:
                raise NoiseError
            if len(self._content) < _HEADER.size + size:
                break
            with memoryview(self._content) as view:
                content = bytes(view[_HEADER.size : _HEADER.size + size])
            del self._content[: _HEADER.size + size]
            found.append(unpacked(content))
        if self._content and not _MARK.startswith(self._content[: len(_MARK)]):
            raise NoiseError
        return found

    def _read(self) -> None:
        while not self.closed:
            try:
                piece = self._connection.recv(_PIECE, socket.MSG_DONTWAIT) if _DONTWAIT else self._recv_ready()
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                piece = b""
            self.closed = not piece
            self._content += piece

    def _recv_ready(self) -> bytes:
        self._connection.setblocking(False)
        try:
            return self._connection.recv(_PIECE)
        finally:
            self._connection.setblocking(True)


_DONTWAIT: Final = hasattr(socket, "MSG_DONTWAIT")


class _Unpickler(pickle.Unpickler):
    """Loads nothing that would import a target."""

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] not in _KNOWN or module == CATALOGUE or module.startswith(f"{CATALOGUE}."):
            raise NoiseError(f"an object of {module}.{name}, in place of a text or a number")
        return super().find_class(module, name)


def unpacked(content: bytes) -> Any:
    """Return what was packed, without loading code of a target.

    Raises
    ------
    NoiseError
        There are objects of other classes in it, or it is no message.
    """
    try:
        return _Unpickler(io.BytesIO(content)).load()
    except NoiseError:
        raise
    except Exception as error:
        raise NoiseError(str(error)) from None
