"""Bitmask subsets of up to about 16 items, for the dynamic programmes."""

import numpy as np

from dpaudit.rankings.orders import BoolArray, IntArray


def subset_bits(m: int) -> BoolArray:
    """Membership table of all subsets of m items.

    Parameters
    ----------
    m : int
        Up to about 18: the table has 2^m rows.

    Returns
    -------
    ndarray of bool, shape (2^m, m)
        Row `mask`, column j says whether bit j of the mask is set.

    Examples
    --------
    >>> from dpaudit.rankings import subset_bits
    >>> subset_bits(2)
    array([[False, False],
           [ True, False],
           [False,  True],
           [ True,  True]])
    """
    return ((np.arange(1 << m)[:, None] >> np.arange(m)) & 1).astype(bool)


def level_sets(m: int) -> list[IntArray]:
    """Masks of the subsets of m items by their number of members.

    Parameters
    ----------
    m : int

    Returns
    -------
    list of ndarray of int64
        Entry s holds the masks of the subsets with s members.

    Examples
    --------
    >>> from dpaudit.rankings import level_sets
    >>> [masks.tolist() for masks in level_sets(2)]
    [[0], [1, 2], [3]]
    """
    sizes = subset_bits(m).sum(axis=1)
    order = np.argsort(sizes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(sizes))[:-1])
