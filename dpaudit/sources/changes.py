"""Notices programs whose outputs are of one type for a while, and then of another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np

_FEWEST: Final = 20
"""Outputs of either type in a row that are no chance: independent ones would do it with probability 2^-40 at most."""

_MIXED: Final = ""


class TypesInTime:
    """The types of the outputs on one input, answer by answer.

    Outputs that vary in type, such as a null among numbers, are of no one type. What is looked for is a change: only
    one type in all answers up to some time, and only another one after it.
    """

    def __init__(self) -> None:
        self._runs: dict[str, list[tuple[str, int]]] = {}

    def change(self, outputs: Any) -> str | None:
        """Add an answer; return what changed with it, in words, or None where nothing did."""
        for place, kind, number in _types_in(outputs, "their values"):
            runs = self._runs.setdefault(place, [])
            if runs and runs[-1][0] == kind:
                runs[-1] = kind, runs[-1][1] + number
            elif len(runs) < 3:
                # A third run is a mixture.
                runs.append((kind, number))
            if len(runs) == 2 and all(kind != _MIXED and number >= _FEWEST for kind, number in runs):
                return f"{place} were {runs[0][0]} and are {runs[1][0]} from some answer on"
        return None


def _types_in(outputs: Any, place: str) -> Iterator[tuple[str, str, int]]:
    """Yield what parts of outputs are called, their type, and how many there are."""
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "biufcUS":
        yield place, "texts" if outputs.dtype.kind in "US" else "numbers", len(outputs)
        return
    values: Sequence[Any] = outputs if isinstance(outputs, list) else list(outputs)
    kinds = set(map(type, values))
    if kinds == {dict}:
        for key in dict.fromkeys(chain.from_iterable(values)):
            yield from _types_in([value[key] for value in values if key in value], f"the values of {key!r}")
    elif kinds and kinds <= {list, tuple}:
        yield from _types_in(list(chain.from_iterable(values)), f"{place} in lists")
    elif kinds:
        yield place, _name(kinds), len(values)


def _name(kinds: set[type]) -> str:
    if kinds <= {int, float, bool}:
        return "numbers"
    if len(kinds) > 1:
        return _MIXED
    return {str: "texts", type(None): "nulls"}.get(next(iter(kinds)), _MIXED)
