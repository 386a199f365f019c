"""One thread for numerical libraries: audits run beside each other as processes, and idle threads spin."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


class _Limits:
    """What limits the threads while anybody computes: audits may run in threads of the caller's, and in each other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._computing = 0
        self._limits: list[Any] = []
        self._learner = False

    def begin(self) -> None:
        with self._lock:
            # The learner brings a library of its own, which is limited once it is loaded.
            learner = "sklearn" in sys.modules
            if not self._computing or learner > self._learner:
                self._limits.append(_controller(learner).limit(limits=1))
            self._learner = learner
            self._computing += 1

    def end(self) -> None:
        with self._lock:
            self._computing -= 1
            while self._limits and not self._computing:
                self._limits.pop().restore_original_limits()


_limits = _Limits()


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the libraries' threads to one, where no code of a target runs; also a decorator.

    On processors that others use too, the threads of a product of a matrix and a vector wait for each other longer
    than they compute.
    """
    _limits.begin()
    try:
        yield
    finally:
        _limits.end()


@cache
def _controller(learner: bool) -> Any:
    """Return what limits the libraries that are loaded by now."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
