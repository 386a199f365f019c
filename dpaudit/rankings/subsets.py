"""Bitmask subsets of up to about 16 items, for the dynamic programmes."""

import numpy as np

from dpaudit.rankings.orders import BoolArray, IntArray


def subset_bits(m: int) -> BoolArray:
    """Membership table of shape (2^m, m): row `mask`, column j says whether bit j of the mask is set."""
    return ((np.arange(1 << m)[:, None] >> np.arange(m)) & 1).astype(bool)


def level_sets(m: int) -> list[IntArray]:
    """Masks of the subsets with 0, 1, ..., m members, one array for each size."""
    sizes = subset_bits(m).sum(axis=1)
    order = np.argsort(sizes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(sizes))[:-1])
