"""Signals that ask a run to stop: noted, and acted upon where nothing can be lost."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_ASKING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]


@contextmanager
def noted() -> Iterator[Callable[[], bool]]:
    """Note signals that ask to stop, in place of raising wherever the process happens to be.

    Yields
    ------
    callable
        Tells whether one came.
    """
    came = False

    def note(_signal: int, _frame: FrameType | None) -> None:
        nonlocal came
        came = True

    # What is ignored (`nohup`, a job in the background) stays so.
    before = {each: signal.getsignal(each) for each in _ASKING}
    for each, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(each, note)
    try:
        yield lambda: came
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


class Interrupted(BaseException):
    """A signal asked to stop; no library takes it for its own, as it would take KeyboardInterrupt."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise `Interrupted` in place of KeyboardInterrupt."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted from None


def as_interrupts() -> None:
    """Let every signal that asks to stop raise `Interrupted`."""
    for each in _ASKING:
        if signal.getsignal(each) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(each, _raise)


def _raise(_signal: int, _frame: FrameType | None) -> None:
    raise Interrupted
