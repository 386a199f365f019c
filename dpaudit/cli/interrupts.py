"""Signals that ask a run to stop: noted always, and acted upon where nothing can be lost.

This module is loaded before anything else, so that a signal in the first moments is handled too.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_ASKING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]


class Interrupted(BaseException):
    """A signal asked to stop; no library takes it for its own, as it would take KeyboardInterrupt."""


class _State:
    came = False
    """Whether a signal came. Libraries that load may swallow what a signal raises; this stays."""
    only_noted = False


@contextmanager
def handled() -> Iterator[None]:
    """Let signals that ask to stop raise `Interrupted`, but for blocks in which they are only `noted`.

    What is ignored (`nohup`, a job in the background) stays so.
    """
    _State.came = _State.only_noted = False
    before = {}
    told = sys.unraisablehook

    def tell(unraisable: sys.UnraisableHookArgs) -> None:
        # Code in C and `__del__` may swallow what a signal raises; it was noted, and there is nothing to say.
        if unraisable.exc_type is not Interrupted:
            told(unraisable)

    sys.unraisablehook = tell
    for each in _ASKING:
        # Only the main thread may set handlers.
        with suppress(ValueError):
            if signal.getsignal(each) in (signal.SIG_DFL, signal.default_int_handler):
                before[each] = signal.signal(each, _handle)
    try:
        yield
    finally:
        sys.unraisablehook = told
        # The status is known now, and what is left to do is to end.
        for each in before:
            signal.signal(each, signal.SIG_IGN)


def _handle(_signal: int, _frame: FrameType | None) -> None:
    _State.came = True
    if not _State.only_noted:
        raise Interrupted


def made_by_signal(error: BaseException | None) -> bool:
    """Whether an error stands for what a signal raised: a library in C that is being loaded raises one of its own."""
    while error is not None:
        if isinstance(error, Interrupted):
            return True
        error = error.__cause__ or error.__context__
    return False


@contextmanager
def noted() -> Iterator[Callable[[], bool]]:
    """Only note signals within the block, and raise `Interrupted` in place of KeyboardInterrupt.

    Yields
    ------
    callable
        Tells whether a signal came, within the block or before it.
    """
    before, _State.only_noted = _State.only_noted, True
    try:
        yield lambda: _State.came
    except KeyboardInterrupt:
        raise Interrupted from None
    finally:
        _State.only_noted = before
