"""Draws from Hypothesis that equal seeds repeat."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reproducible_draws() -> Iterator[None]:
    """Keep Hypothesis from mixing in constants of the modules that happen to be imported.

    They differ between processes, so equal seeds would not give equal draws; collecting them leaves a folder behind.
    """
    from unittest import mock

    from hypothesis.internal.conjecture import providers
    from hypothesis.internal.constants_ast import Constants

    providers.CONSTANTS_CACHE.cache.clear()
    try:
        with mock.patch.object(providers.HypothesisProvider, "_local_constants", Constants()):
            yield
    finally:
        providers.CONSTANTS_CACHE.cache.clear()
