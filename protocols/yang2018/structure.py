"""Learning the structure of a K-thin chain from tripletwise mutual information (Section II-B, Definition 1).

Source: Huang and Guestrin, "Learning hierarchical riffle independent groupings from rankings", ICML 2010.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .riffle import Chain, FloatArray, thin_leaf_sizes
from .rule_one import triplets


def triplet_information(joint: npt.ArrayLike) -> FloatArray:
    """Tripletwise mutual information of the place of x and the order of y and z, in nats.

    Parameters
    ----------
    joint : array_like of float, shape (..., places, 2)
        Probabilities; those of a triplet add up to 1.

    Returns
    -------
    ndarray of float64, shape (...)
        Entropy of the place plus that of the order less that of both, at least 0.
    """
    both = np.asarray(joint, dtype=float)
    inside = _plogp(both).sum(axis=(-2, -1))
    apart = _plogp(both.sum(axis=-1)).sum(axis=-1) + _plogp(both.sum(axis=-2)).sum(axis=-1)
    return np.asarray(np.maximum(inside - apart, 0.0))


def information_cube(alternatives: int, values: npt.ArrayLike) -> FloatArray:
    """Arrange one number per triplet, in the order of ``triplets``, as [x, y, z], the same for [x, z, y]; else 0."""
    cube = np.zeros((alternatives,) * 3)
    x, y, z = triplets(alternatives).T
    cube[x, y, z] = cube[x, z, y] = np.asarray(values, dtype=float)
    return cube


def split_cost(information: FloatArray, first: Sequence[int], second: Sequence[int]) -> float:
    """Sum over the triplets with x on one side and the pair on the other; 0 for riffle independent sides."""
    a, b = list(first), list(second)
    return float(information[np.ix_(a, b, b)].sum() + information[np.ix_(b, a, a)].sum()) / 2


def best_split(
    information: FloatArray, items: Sequence[int], size: int, *, exhaustive: bool = False
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Split a set into one of a given size and the rest, with the least ``split_cost``.

    Parameters
    ----------
    information
        From ``information_cube``.
    items
        The set to be split.
    size
        Size of the side that is split off, below that of the set.
    exhaustive
        Try every subset. Otherwise the Anchors method: for every two anchors, kept on the other side, split off those
        whose places tell least about the anchors' order. With fewer than two alternatives on the other side there
        are no anchors, and every subset is tried.

    Returns
    -------
    tuple of two tuples
        The side split off and the rest, both ascending. Equal costs: the first found.
    """
    candidates: list[tuple[int, ...]]
    if exhaustive or len(items) - size < 2:
        candidates = list(itertools.combinations(sorted(items), size))
    else:
        candidates = []
        for first, second in itertools.combinations(sorted(items), 2):
            others = [item for item in sorted(items) if item not in (first, second)]
            ranked = np.argsort(information[others, first, second], kind="stable")[:size]
            candidates.append(tuple(sorted(others[place] for place in ranked)))
        candidates = list(dict.fromkeys(candidates))
    costs = [split_cost(information, part, [item for item in items if item not in part]) for part in candidates]
    chosen = candidates[int(np.argmin(costs))]
    return chosen, tuple(sorted(set(items) - set(chosen)))


def learn_chain(information: FloatArray, thin: int, *, exhaustive: bool = False) -> Chain:
    """K-thin chain by splitting off K alternatives at a time, from one cube of mutual information for all sets."""
    rest: tuple[int, ...] = tuple(range(len(information)))
    leaves = []
    for size in thin_leaf_sizes(len(rest), thin)[:-1]:
        leaf, rest = best_split(information, rest, size, exhaustive=exhaustive)
        leaves.append(leaf)
    return Chain((*leaves, rest))


def _plogp(values: FloatArray) -> FloatArray:
    positive = values > 0
    return np.asarray(np.where(positive, values * np.log(np.where(positive, values, 1.0)), 0.0))
