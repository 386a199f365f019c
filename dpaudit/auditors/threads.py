"""One thread for numerical libraries: audits run beside each other as processes, and idle threads spin."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the libraries' threads to one, where no code of a target runs; also a decorator.

    On processors that others use too, the threads of a product of a matrix and a vector wait for each other longer
    than they compute.
    """
    with _controller("sklearn" in sys.modules).limit(limits=1):
        yield


@cache
def _controller(learner: bool) -> Any:
    """Return what limits the libraries that are loaded by now; the learner brings one of its own."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
