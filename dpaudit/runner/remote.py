"""What a worker of an executor does: a call whose target may not be on its machine."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any

from dpaudit.errors import DataError, DpauditError, TargetError
from dpaudit.registry import TargetSource
from dpaudit.runner.processes import messages
from dpaudit.runner.processes.worker import answer_to

_ONE_AT_A_TIME = threading.Lock()
"""Targets need not be made for threads."""

_HOW_TO_SEND = "install it there, send it (a module by Dask's `client.upload_file`), or keep it on a disk that all see"


def perform(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    load: tuple[Callable[..., Any], tuple[Any, ...]] | None = None,
    source: TargetSource | None = None,
) -> bytes:
    """Call a function, once what it needs is loaded; return what became of that as `messages.unpacked` takes it.

    Parameters
    ----------
    function, arguments
        A function of a module, and what it is called with.
    load
        A call that loads what it needs.
    source
        The source of the target, where it is a file.
    """
    with _ONE_AT_A_TIME:
        return messages.packed("", _answer(function, arguments, load, source))


def _answer(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    load: tuple[Callable[..., Any], tuple[Any, ...]] | None,
    source: TargetSource | None,
) -> tuple[str, Any]:
    try:
        if source is not None:
            source.take()
        if load is not None:
            load[0](*load[1])
    except DpauditError as error:
        if not isinstance(error, TargetError | DataError):
            return answer_to(function, arguments)
        kind = TargetError if isinstance(error, TargetError) else DataError
        told = f"on the worker {socket.gethostname()}: {error}; where the worker lacks a file, {_HOW_TO_SEND}"
        return "refused", (kind, told, "")
    except Exception:
        # The function meets it again, and says so.
        return answer_to(function, arguments)
    return answer_to(function, arguments)
