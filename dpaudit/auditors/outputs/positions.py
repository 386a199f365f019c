"""Structured outputs as earlier versions took them apart, by the order of their parts: for the witnesses they wrote."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from dpaudit.auditors.outputs.leaves import canonical, text_of

_LARGEST = 1e300


def matrix_of_positions(outputs: np.ndarray, positions: int, categories: tuple[str, ...]) -> np.ndarray:
    """Length, and a number and a category for every position: shape (size, 1 + 2 * positions)."""
    index = {text: i + 1 for i, text in enumerate(categories)}
    matrix = np.zeros((len(outputs), 1 + 2 * positions))
    matrix[:, 2::2] = -1
    for row, item in zip(matrix, outputs.reshape(len(outputs), -1).tolist(), strict=True):
        parts = parts_of(item)
        row[0] = len(parts)
        for position, part in enumerate(parts[:positions]):
            if _is_number(part):
                # Whole numbers may be larger than any floating-point number.
                row[1 + 2 * position], row[2 + 2 * position] = float(max(-_LARGEST, min(_LARGEST, part))), 0
            else:
                row[2 + 2 * position] = index.get(text_of(part), len(index) + 1)
    return matrix


def parts_of(item: Any) -> list[Any]:
    """Parts of a structured output in order, nested ones flattened; a text's characters."""
    if isinstance(item, Sequence) and not isinstance(item, str | bytes):
        if len(item) == 1 and isinstance(item[0], str | bytes):
            return list(item[0])
        return [part for inner in item for part in (parts_of(inner) if _is_nested(inner) else [_part(inner)])]
    if isinstance(item, np.ndarray):
        return parts_of(item.tolist())
    if isinstance(item, dict):
        # The same keys are at the same positions, each in front of what it holds.
        entries = sorted(((text_of(key), value) for key, value in item.items()), key=lambda entry: entry[0])
        return [
            part
            for key, value in entries
            for part in (key, *(parts_of(value) if _is_nested(value) else [_part(value)]))
        ]
    if _is_set_of_reals(item):
        return sorted(item)
    if isinstance(item, complex):
        return [item.real, item.imag]
    return [float(item) if isinstance(item, Decimal) else _part(item)]


def _part(item: Any) -> Any:
    """A number as it is, whatever it writes itself as, and all else in its canonical form."""
    return item if _is_number(item) else canonical(item)


def _is_number(part: Any) -> bool:
    """Whether a part is a number that can be compared: not NaN, which counts as one more category."""
    return isinstance(part, Real) and not isinstance(part, bool) and part == part


def _is_nested(item: Any) -> bool:
    return isinstance(item, list | tuple | dict | np.ndarray | complex | Decimal) or _is_set_of_reals(item)


def _is_set_of_reals(item: Any) -> bool:
    """Whether a set holds numbers that hardly come again, so that it is no category as a whole."""
    return isinstance(item, set | frozenset) and bool(item) and all(isinstance(part, float) for part in item)
