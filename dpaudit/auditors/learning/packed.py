"""Bits that one whole number holds, such as a Bloom filter, a bit vector or flags, as columns of their own."""

from __future__ import annotations

import numpy as np

from dpaudit.auditors.learning.learners import MakeTransform
from dpaudit.auditors.learning.row_scores import AdditiveScore
from dpaudit.auditors.learning.tables import Table
from dpaudit.auditors.learning.transforms import Identity, Unpacked
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.outputs import OutputsLike

MOST_PACKED = 8
"""Numbers in an output, at most, of which bits are looked at. Chosen by hand, for time."""

_LOOKED_AT = 1000
"""Outputs of either input by which it is decided which numbers are taken apart. Chosen by hand."""

_LEAST_VALUES = 129
"""Distinct values among them, at least. Chosen by hand: fewer are seen often enough one by one, and may be groups
within which others are looked at (`groups._MOST_GROUPS`)."""

_MOST_BITS = 256
"""Bits of an output, at most: each takes as long as a column. Chosen by hand, for time."""

_VALUES = 8_000_000
"""Bits and other numbers of either input that learn, at most. Chosen by hand, for memory."""


def learn_bits(make: MakeTransform, columns: Columns, x: OutputsLike, y: OutputsLike) -> AdditiveScore | None:
    """Sum of a function of every bit, and of every number that has none; None where no bits are there or tell."""
    transform = make(columns, x, y)
    if not isinstance(transform, Unpacked):
        return None
    rows = _VALUES // transform.width
    tables = tuple(Table.fit_columns(*(transform(side[:rows]) for side in (x, y))))
    return AdditiveScore(transform, tables) if any(table.spread > 0 for table in tables) else None


def unpacked_transform(columns: Columns, x: OutputsLike, y: OutputsLike) -> Unpacked | None:
    """Bits in the place of whole numbers from 0 on that have many values; None where there are none."""
    identity = Identity(columns)
    first = np.concatenate([identity(side[:_LOOKED_AT]) for side in (x, y)])
    packed = [column for column, numbers in enumerate(first.T) if _is_packed(numbers)]
    if not packed:
        return None
    largest = np.maximum(*(identity(side)[:, packed].max(axis=0) for side in (x, y)))
    bits, left = [0] * first.shape[1], _MOST_BITS
    for column, most in zip(packed, largest.tolist(), strict=True):
        count = int(most).bit_length() if most < 1 << Unpacked.MOST else Unpacked.MOST
        if count <= left:
            bits[column] = count
            left -= count
    return Unpacked(columns, tuple(bits)) if any(bits) else None


def _is_packed(numbers: np.ndarray) -> bool:
    if numbers.min() < 0 or (numbers.dtype.kind == "f" and not (numbers == np.rint(numbers)).all()):
        return False
    return len(np.unique(numbers)) >= _LEAST_VALUES
