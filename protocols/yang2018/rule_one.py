"""Rule I (Section III-B): an attribute for each triplet of items, by which the distributions S3 are collected."""

from __future__ import annotations

import itertools

import numpy as np

from dpaudit import rankings

from .riffle import FloatArray, IntArray

CHUNK = 20_000
"""Rankings that are counted at a time, which bounds the memory."""


def triplets(alternatives: int) -> IntArray:
    """List (x, y, z) with y < z, both different from x, in lexicographic order: shape (m C(m-1, 2), 3)."""
    rows = [
        (x, y, z)
        for x in range(alternatives)
        for y, z in itertools.combinations([other for other in range(alternatives) if other != x], 2)
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def triplet_distributions(positions: IntArray) -> FloatArray:
    """Joint distributions of the place of x and the order of y and z over given rankings, for all triplets.

    Parameters
    ----------
    positions
        Places of the alternatives, shape (n, m), n >= 1.

    Returns
    -------
    ndarray of float64, shape (m C(m-1, 2), m, 2)
        In the order of ``triplets``; the last index is 1 where y is behind z.
    """
    n, m = positions.shape
    pairs = rankings.alternative_pairs(m)
    places = np.zeros((m, m))
    behind = np.zeros((m * m, len(pairs)))
    for start in range(0, n, CHUNK):
        rows = positions[start : start + CHUNK]
        at = (rows[:, :, None] == np.arange(m)).reshape(len(rows), m * m).astype(np.float32)
        later = (rows[:, pairs[:, 0]] > rows[:, pairs[:, 1]]).astype(np.float32)
        places += at.sum(axis=0, dtype=float).reshape(m, m)
        behind += at.T @ later
    number = np.zeros((m, m), dtype=np.int64)
    number[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
    x, y, z = triplets(m).T
    second = behind.reshape(m, m, len(pairs))[x, :, number[y, z]]
    return np.asarray(np.stack([places[x] - second, second], axis=-1) / n)


def rule_one(positions: IntArray, asked: IntArray) -> IntArray:
    """Value of one attribute of Rule I for each user.

    Parameters
    ----------
    positions
        Places of the items, shape (n, d).
    asked
        Attribute that each user is asked about, numbered as in ``triplets``, shape (n,).

    Returns
    -------
    ndarray of int64, shape (n,)
        2 (place of x) + [z before y].
    """
    x, y, z = triplets(positions.shape[1])[asked].T
    users = np.arange(len(positions))
    return np.asarray(2 * positions[users, x] + (positions[users, y] > positions[users, z]))


def rule_one_sizes(items: int) -> IntArray:
    """Domain sizes of the attributes of Rule I: 2 d each."""
    return np.full(len(triplets(items)), 2 * items)
