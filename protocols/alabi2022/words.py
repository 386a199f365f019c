"""Words as rankings: the map behind the lower bounds, its inverse, what they cost, and codes of words.

Two laws, found by counting and checked by enumeration, sharpen the two observations. A ranking σ whose word ρ(σ)
differs from x in D places has K(σ, π^x) >= D (t + d) - D (D - 1) / 2, and some σ has no more. Where y differs from x in
D places, K(π^y, π^x) = D (2 t + 2 d - D).
"""

from functools import cache
from typing import Any

import numpy as np

from dpaudit import rankings


def ranking_of(x: np.ndarray, padding: int) -> np.ndarray:
    """π^x by the formula: j and j + d + t switched where x_j = -1. An involution, so its own inverse."""
    d = len(x)
    order = np.arange(2 * d + padding)
    switched = np.flatnonzero(np.asarray(x) < 0)
    order[switched], order[switched + d + padding] = switched + d + padding, switched
    return order


def word_of(orders: np.ndarray, dimensions: int) -> np.ndarray:
    """ρ as meant: +1 where j comes before j + d + t; shape (k, m) becomes (k, d)."""
    places = rankings.positions(orders)
    m = orders.shape[1]
    return np.where(places[:, :dimensions] < places[:, m - dimensions :], 1, -1)


def word(bits: int, dimensions: int) -> np.ndarray:
    """Word with x_j = -1 where bit j is set."""
    return np.where(bits >> np.arange(dimensions) & 1, -1, 1)


def padding_of(orders: np.ndarray, x: np.ndarray) -> int:
    """t, from the lengths of rankings and of a word."""
    return int(orders.shape[1]) - 2 * len(x)


def least_cost(different: Any, dimensions: int, padding: int) -> Any:
    """Least K(σ, π^x) where ρ(σ) and x differ in so many places: D (t + d) - D (D - 1) / 2."""
    return different * (padding + dimensions) - different * (different - 1) / 2


@cache
def lexicode(dimensions: int, distance: int) -> np.ndarray:
    """Greedy code: every word, in order of its bits, that differs from all before in enough places."""
    every = np.arange(2**dimensions)
    weight = np.array([int(bits).bit_count() for bits in every])
    free = np.ones(len(every), dtype=bool)
    code = []
    for bits in every:
        if free[bits]:
            code.append(int(bits))
            free &= weight[every ^ bits] >= distance
    words = np.array([word(bits, dimensions) for bits in code])
    words.setflags(write=False)
    return words
