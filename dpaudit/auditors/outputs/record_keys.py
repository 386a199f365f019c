"""Which parts of the records in a list are a key of them together, such as both columns of a table grouped by two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from dpaudit.auditors.outputs.contents import NOTHING, Value
from dpaudit.auditors.outputs.held import Entries

NEARLY_ALL = 0.99
"""Share of what a list holds that its common values are, at least, to stand for the list; and share of the records, at
least, that are the only one of their key in an output."""

MOST_OF_TABLE = 2048
"""Contents of a list of records, at most, where they stand for all of it: a dict may have 4,096 keys."""

_MOST_TOGETHER, _MOST_PARTS = 3, 6
"""How many parts of a record are considered as its key together, at most, where no part alone is its key; and among how
many of its first parts they are looked for."""

_BY_CHANCE = 0.1
"""How often keys may come again within an output, as a part of how often they would if each record had its own at
random: numbers that hardly come again because there are many of them, as in the rows of a matrix, are no keys."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of records, as one of several that may be a key.

    Attributes
    ----------
    path
        Path from a record to it.
    values
        Its common values; `NOTHING` is among them where some records do not have it.
    which
        Which of these every record has; their number for others.
    """

    path: str
    values: list[Value]
    which: np.ndarray

    @classmethod
    def of(cls, path: str, common: list[Value], found: np.ndarray) -> Part:
        """Return the part of which ``found`` says the value of every record, as ``which``; -1 where there is none."""
        without = found < 0
        if not without.any():
            return cls(path, common, found)
        others = found == len(common)
        return cls(path, [*common, NOTHING], np.where(without, len(common), found + others))

    @property
    def is_told(self) -> bool:
        """Whether nearly all records have one of several common values."""
        return len(self.values) > 1 and float(np.mean(self.which < len(self.values))) >= NEARLY_ALL


class Key(NamedTuple):
    """Parts of records that are a key together.

    Attributes
    ----------
    paths
        Paths from a record to the parts.
    values
        What the parts are together, the most frequent first.
    which
        Which of these every record has; their number for others.
    different
        How many different values the parts have together, common or not.
    """

    paths: tuple[str, ...]
    values: list[tuple[Value, ...]]
    which: np.ndarray
    different: int


def key_of_several(records: Entries, parts: Sequence[Part]) -> Key | None:
    """Return the fewest parts that are a key together; of as many, those with the fewest values; None if none are.

    Parameters
    ----------
    records
        Output and place of every record.
    parts
        Parts of the records; the first ones that are told are considered.
    """
    told = [part for part in parts if part.is_told][:_MOST_PARTS]
    for together in range(1, _MOST_TOGETHER + 1):
        best: Key | None = None
        for chosen in combinations(told, together):
            key = _as_key(records, chosen, fewer=math.inf if best is None else best.different)
            best = key or best
        if best is not None:
            return best
    return None


def _as_key(records: Entries, parts: Sequence[Part], fewer: float) -> Key | None:
    """Return parts of records as a key; None where they are none, or are together not of ``fewer`` different values."""
    shape = tuple(len(part.values) + 1 for part in parts)
    codes = np.ravel_multi_index(tuple(part.which for part in parts), shape)
    found, which, times = np.unique(codes, return_inverse=True, return_counts=True)
    if len(found) >= fewer or not _tell_apart(records, which, times):
        return None
    common = np.argsort(-times, kind="stable")[: MOST_OF_TABLE - 1]
    number = np.full(len(found), len(common))
    number[common] = np.arange(len(common))
    if times[common].sum() < NEARLY_ALL * len(which) or not at_several_places(records, number[which]):
        return None
    columns = (column.tolist() for column in np.unravel_index(found[common], shape))
    values = [
        tuple(part.values[each] for part, each in zip(parts, together, strict=True))
        for together in zip(*columns, strict=True)
        if all(each < len(part.values) for part, each in zip(parts, together, strict=True))
    ]
    return Key(tuple(part.path for part in parts), values, number[which], len(found))


def _tell_apart(records: Entries, which: np.ndarray, times: np.ndarray) -> bool:
    """Whether hardly any output has two records of one value, and fewer than if values were independent."""
    again = len(which) - len(np.unique(records.rows * len(times) + which))
    counts = np.bincount(records.rows)
    pairs = float(np.sum(counts * (counts - 1) / 2))
    by_chance = pairs * float(np.sum((times / len(which)) ** 2))
    return again <= min(_BY_CHANCE * by_chance, (1 - NEARLY_ALL) * len(which))


def at_several_places(found: Entries, which: np.ndarray) -> bool:
    """Whether values come at more than one place each, so that a place says not already which value it is."""
    several = int(found.places.max(initial=0)) + 1
    together = np.unique(which * several + found.places) // several
    return len(together) > len(np.unique(which))
