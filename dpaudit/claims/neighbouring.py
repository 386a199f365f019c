"""Neighbouring relations: which two inputs a privacy claim must not tell apart."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

from dpaudit.errors import TargetError

Pair = tuple[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbouring:
    """The neighbouring inputs over which a mechanism is audited.

    Attributes
    ----------
    relation
        Name of the relation: ``any-two-inputs`` (local model), ``substitution``, ``add-remove``, or your own.
    pairs
        The pairs of neighbouring inputs, or a function that returns an iterator over them. Auditors look at every
        pair in both directions, so each unordered pair is listed once.
    complete
        Whether the pairs are all that there are in the scope, up to the mechanism's symmetries. Only then can a
        claim be ``proved``.
    scope
        The inputs covered, in words.
    """

    relation: str
    pairs: Sequence[Pair] | Callable[[], Iterable[Pair]]
    complete: bool
    scope: str

    def __post_init__(self) -> None:
        if isinstance(self.pairs, Iterator):
            # Auditors go over the pairs more than once; an iterator would be spent by then.
            object.__setattr__(self, "pairs", tuple(copy.deepcopy(pair) for pair in self.pairs))

    def __iter__(self) -> Iterator[Pair]:
        # Copies, so that a generator that fills one buffer again and again does not change a pair once given.
        return (copy.deepcopy(pair) for pair in (self.pairs() if callable(self.pairs) else self.pairs))

    @classmethod
    def any_two_inputs(cls, values: Sequence[Any], *, scope: str) -> Self:
        """All pairs of a finite set of inputs of one user (local model)."""
        if len(values) < 2:
            raise TargetError(f"any_two_inputs needs at least two inputs to compare, got {len(values)}")
        return cls(relation="any-two-inputs", pairs=lambda: combinations(values, 2), complete=True, scope=scope)
