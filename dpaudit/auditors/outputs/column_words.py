"""What the columns that outputs are taken apart into are called in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.event_words import Axis, listed

SUPPORTED = Columns(paths=(".supports_x", ".supports_y"), kept=(2, 4)).names
"""What comes with outputs where it is known which of two inputs they support."""

_ANSWERS = ("False", "True")
"""What `supports` can say."""

_THEMSELVES = ".output"
"""Where the outputs themselves are then."""

_KIND = "kind of "

_REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class Naming:
    """What the parts of an output are called.

    Attributes
    ----------
    shape
        Shape of one output that is an array of numbers; None where it is not known, and numbers are counted.
    is_complex
        Whether each number is two.
    supported
        Whether it is appended to the numbers which of two inputs the output supports.
    base
        What the output is called.

    Examples
    --------
    >>> Naming((2, 3)).of(4, 6)
    'output[1][1]'
    """

    shape: tuple[int, ...] | None = None
    is_complex: bool = False
    supported: bool = False
    base: str = "output"

    def of(self, column: int, width: int) -> str:
        """Return the name of a column of rows of numbers, of which there are ``width``."""
        if self.shape is None:
            return self.base if width == 1 else f"{self.base}[{column}]"
        number, part = divmod(column, 2) if self.is_complex else (column, None)
        own = math.prod(self.shape)
        if number >= own:
            return SUPPORTED[number - own] if self.supported else f"{self.base}[{column}]"
        at = "".join(f"[{place}]" for place in np.unravel_index(number, self.shape)) if self.shape else ""
        return self.base + at + ("" if part is None else (".real", ".imag")[part])


PLAIN = Naming()
"""Columns by their numbers."""


@lru_cache(maxsize=_REMEMBERED)
def names_of(columns: Columns, base: str = PLAIN.base) -> tuple[str, ...]:
    """Return what every column of structured outputs is, these being called ``base``; nothing for arrays of numbers."""
    if columns.positions is not None:
        # Of records that earlier versions wrote.
        numbered = tuple(f" number {position + 1} of its values" for position in range(columns.positions))
        return Columns(paths=numbered, kept=tuple(range(1 + 2 * columns.positions))).named(base)
    names = columns.named(base)
    if not set(SUPPORTED) & set(names):
        return names
    return tuple(name.replace(base + _THEMSELVES, base, 1) for name in names)


def named(columns: Columns, column: int, width: int, naming: Naming = PLAIN) -> str:
    """Return what a column is; ``width`` is the number of columns."""
    return naming.of(column, width) if columns.numeric else names_of(columns, naming.base)[column]


def part(columns: Columns, column: int, width: int, naming: Naming = PLAIN) -> str:
    """Return the part of an output that a column is of: as `named`, but for kinds, what they are the kind of."""
    return named(columns, column, width, naming).removeprefix(_KIND)


def value_of(columns: Columns, column: int, code: float) -> str | None:
    """Return the text of a category in a column of categories; None if the column holds numbers."""
    if columns.positions is not None:
        every = tuple("" for _ in range(columns.positions))
        columns = Columns(None, columns.categories, every, tuple(range(1 + 2 * columns.positions)))
    return columns.value_of(column, code)


def values_of(columns: Columns, column: int, codes: Sequence[float], name: str) -> list[str]:
    """Return the texts of some categories in a column of categories of that name: those that it can have."""
    texts = [value_of(columns, column, code) or "" for code in codes]
    possible = [text for text in texts if text in _ANSWERS] if name in SUPPORTED else texts
    return possible or texts


def axis(columns: Columns, column: int, width: int, edges: np.ndarray, naming: Naming = PLAIN) -> Axis:
    """Return a column cut into cells, one for every category where it holds categories."""
    name = part(columns, column, width, naming)
    if value_of(columns, column, 0) is None:
        if name in SUPPORTED:
            return Axis(name, np.array([0.0, 1.0]), np.ones(1), ("False", "True"))
        return Axis.of_numbers(name, edges)
    texts = {code: value_of(columns, column, code) or "" for code in range(-1, len(columns.categories) + 2)}
    if name in SUPPORTED:
        texts = {code: text for code, text in texts.items() if text in _ANSWERS}
    codes = np.array(list(texts), dtype=float)
    return Axis(name, codes, codes[1:], tuple(texts.values()))


def legend(columns: Columns, which: Sequence[int]) -> dict[str, str]:
    """Say what categories are as numbers, where some of these columns hold any."""
    if all(value_of(columns, column, 0) is None for column in which):
        return {}
    texts = ["nothing", "a number", *columns.categories, "another value"]
    return {"kinds are": listed([f"{code} for {text}" for code, text in enumerate(texts, -1)])}
