"""When the command began, from which the time that a user allows it counts.

Loading the rest of the command line takes a second or more; this module loads nothing that takes long.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class _State:
    at: float | None = None


@contextmanager
def beginning() -> Iterator[None]:
    """Let the command begin now."""
    _State.at = time.time()
    try:
        yield
    finally:
        _State.at = None


def command_began() -> float:
    """Time in seconds since the epoch at which the command began; now, where no command is under way."""
    return time.time() if _State.at is None else _State.at
