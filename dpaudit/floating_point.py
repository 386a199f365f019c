"""What numpy does where a number overflows, underflows or is not defined: in our own code, and in that of users."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import numpy as np

_OURS: Final[dict[str, Any]] = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
"""Those of numpy itself, whatever a caller has set: a probability may underflow to 0."""

_theirs: ContextVar[dict[str, Any] | None] = ContextVar("_theirs", default=None)
"""What the caller had set, while our code runs."""


@contextmanager
def our_settings() -> Iterator[None]:
    """Compute with our settings for floating-point errors, and restore the caller's in the end; also a decorator."""
    if _theirs.get() is not None:
        yield
        return
    before = _theirs.set(dict(np.geterr()))
    try:
        with np.errstate(**_OURS):
            yield
    finally:
        _theirs.reset(before)


@contextmanager
def their_settings() -> Iterator[None]:
    """Run code of a user's with the settings of the caller; what it sets itself ends with it."""
    before = _theirs.get()
    inside = _theirs.set(None)
    try:
        with np.errstate(**(before or {})):
            yield
    finally:
        _theirs.reset(inside)
