"""Bits that one whole number holds, such as a Bloom filter, a bit vector or flags, as columns of their own."""

from __future__ import annotations

import math

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
    """Sum of a function of the bits that tell the inputs apart, and of numbers that have none; None without bits.

    A bit takes part if its frequencies differ by more than chance makes the largest difference of so many: many that
    say nothing would hide a few that do.
    """
    transform = make(columns, x, y)
    if not isinstance(transform, Unpacked):
        return None
    rows = _VALUES // transform.width
    of_x, of_y = (transform(side[:rows]) for side in (x, y))
    tables = Table.fit_columns(of_x, of_y)
    total = len(of_x) + len(of_y)
    apart = of_x.mean(axis=0) - of_y.mean(axis=0)
    both = (of_x.sum(axis=0, dtype=float) + of_y.sum(axis=0, dtype=float)) / total
    # Squares of the standard errors of the differences, and the largest that chance makes of so many bits.
    errors = both * (1 - both) * total / (len(of_x) * len(of_y))
    least = 2 * math.log(max(transform.width, 2))
    nothing = Table(np.empty(0), np.zeros(1))
    kept = tuple(
        nothing if is_bit and difference**2 <= least * error else table
        for table, is_bit, difference, error in zip(tables, transform.are_bits, apart, errors, strict=True)
    )
    return AdditiveScore(transform, kept) if any(table.spread > 0 for table in kept) else None


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
