"""Any two values of a finite set: the relation of the local model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import comb
from typing import Any

import numpy as np

from dpaudit.claims.inputs.base import Pair, distinct, finite_values, other_than, position

_PATTERNS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyTwo:
    """Any two values of a finite set, as in the local model, where an input is one user's.

    Attributes
    ----------
    values
        The inputs, at least two, each listed once.
    relation
        Name of the relation.

    Raises
    ------
    ParameterError
        There are fewer than two values, or one is listed twice.

    Examples
    --------
    >>> import dpaudit
    >>> domain = dpaudit.AnyTwo(values=["yes", "no", "unsure"])
    >>> dpaudit.Neighbouring.within(domain).relation
    'any-two-inputs'
    >>> dpaudit.AnyTwo(values=["yes"])
    Traceback (most recent call last):
        ...
    dpaudit.errors.ParameterError: AnyTwo needs at least 2 values, got 1
    """

    values: Sequence[Any]
    relation: str = "any-two-inputs"

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", finite_values(self.values, 2, "AnyTwo"))

    @property
    def scope(self) -> str:
        """The inputs covered, in words."""
        return f"any two of {len(self.values)} inputs"

    def count(self) -> int:
        """Return the number of unordered pairs."""
        return comb(len(self.values), 2)

    def pairs(self) -> Iterator[Pair]:
        """Yield every pair, in the order of the values."""
        return combinations(self.values, 2)

    def patterns(self) -> Iterator[Pair]:
        """Yield the first value against the last, and values spread over the list against the first and the next."""
        last = len(self.values) - 1
        spread = sorted({round(i * last / (_PATTERNS // 2)) for i in range(_PATTERNS // 2 + 1)})
        against_first = ((0, i) for i in reversed(spread))
        against_next = ((i, min(i + 1, last)) for i in spread)
        indices = distinct((a, b) for a, b in chain(against_first, against_next) if a != b)
        return ((self.values[a], self.values[b]) for a, b in indices)

    def draw(self, rng: np.random.Generator) -> Pair:
        """Draw two different values uniformly."""
        first = int(rng.integers(len(self.values)))
        return self.values[first], self.values[other_than(first, len(self.values), rng)]

    def vary(self, pair: Pair, rng: np.random.Generator) -> Pair:
        """Keep one of the two values and replace the other one; half of the time by one listed next to it."""
        if len(self.values) == 2:
            return pair
        indices = [position(self.values, value) for value in pair]
        changed = int(rng.integers(2))
        kept, index = indices[1 - changed], indices[changed]
        if rng.random() < 0.5:
            near = [i for i in range(index - 2, index + 3) if 0 <= i < len(self.values) and i not in indices]
            if near:
                indices[changed] = int(rng.choice(near))
        else:
            indices[changed] = other_than(kept, len(self.values), rng)
        return self.values[indices[0]], self.values[indices[1]]
