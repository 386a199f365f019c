"""The riffle independent model (Section II-B): interleavings, K-thin chains, and rankings drawn from them.

Source: Huang and Guestrin, "Riffled independence for ranked data", NIPS 2009, and "Learning hierarchical riffle
independent groupings from rankings", ICML 2010.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, factorial

import numpy as np
import numpy.typing as npt

import dpaudit
from dpaudit import rankings

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@cache
def interleavings(first: int, second: int) -> npt.NDArray[np.bool_]:
    """List the ways to interleave two ordered lists.

    Parameters
    ----------
    first, second : int
        Their lengths, at least 0.

    Returns
    -------
    ndarray of bool, shape (C(first + second, first), first + second)
        True at the places of the first list; in lexicographic order of those places.
    """
    total = first + second
    table = np.zeros((comb(total, first), total), dtype=bool)
    for row, places in enumerate(itertools.combinations(range(total), first)):
        table[row, list(places)] = True
    table.setflags(write=False)
    return table


def relative_positions(positions: IntArray, items: Sequence[int]) -> IntArray:
    """Places of some alternatives among themselves, shape (n, len(items)), from their places in rankings (n, m)."""
    places = positions[:, list(items)]
    return np.asarray((places[:, None, :] < places[:, :, None]).sum(axis=2))


@dataclass(frozen=True, slots=True)
class Chain:
    """A K-thin chain: the alternatives are split into leaf sets, each riffled into all that come after it.

    Parameters
    ----------
    leaves
        Disjoint non-empty sets that hold 0 to m - 1; leaf i is interleaved with the union of the leaves behind it.
    """

    leaves: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        items = sorted(itertools.chain.from_iterable(self.leaves))
        if items != list(range(len(items))) or not all(self.leaves):
            raise dpaudit.ParameterError(
                f"the leaves of a chain must split the alternatives 0 to m - 1, got {self.leaves}"
            )
        object.__setattr__(self, "leaves", tuple(tuple(sorted(leaf)) for leaf in self.leaves))

    @property
    def alternatives(self) -> int:
        """Number of alternatives m."""
        return sum(map(len, self.leaves))

    @property
    def ordered_leaves(self) -> list[int]:
        """Numbers of the leaves with more than one alternative, whose order is to be known."""
        return [number for number, leaf in enumerate(self.leaves) if len(leaf) > 1]

    @property
    def splits(self) -> int:
        """Number of internal sets, each with its interleaving."""
        return len(self.leaves) - 1

    def behind(self, number: int) -> tuple[int, ...]:
        """Alternatives of all leaves behind leaf ``number``, ascending."""
        return tuple(sorted(itertools.chain.from_iterable(self.leaves[number + 1 :])))

    def sizes(self) -> IntArray:
        """Number of values of each attribute: the orders of the leaves, then the interleavings of the splits."""
        orders = [factorial(len(self.leaves[number])) for number in self.ordered_leaves]
        riffles = [comb(len(leaf) + len(self.behind(i)), len(leaf)) for i, leaf in enumerate(self.leaves[:-1])]
        return np.array(orders + riffles, dtype=np.int64)

    def values(self, positions: IntArray, asked: IntArray) -> IntArray:
        """Value of one attribute for each ranking.

        Parameters
        ----------
        positions
            Places of the alternatives, shape (n, m).
        asked
            Attribute of each ranking, numbered as in ``sizes``, shape (n,).

        Returns
        -------
        ndarray of int64, shape (n,)
            Lexicographic index of the order of the leaf, or of the places that the leaf takes in the interleaving.
        """
        found = np.empty(len(asked), dtype=np.int64)
        ordered = self.ordered_leaves
        for attribute in range(len(ordered) + self.splits):
            rows = np.flatnonzero(asked == attribute)
            own = positions[rows]
            if attribute < len(ordered):
                leaf = self.leaves[ordered[attribute]]
                found[rows] = rankings.ranking_index(rankings.positions(relative_positions(own, leaf)))
                continue
            number = attribute - len(ordered)
            leaf, rest = self.leaves[number], self.behind(number)
            places = np.sort(own[:, list(leaf)], axis=1)
            others = own[:, list(rest)]
            # Place in the internal set: one's own number in the leaf plus how many of the rest are ahead.
            ahead = (others[:, None, :] < places[:, :, None]).sum(axis=2) + np.arange(len(leaf))
            found[rows] = _combination_index(ahead, len(leaf) + len(rest))
        return found

    def sample(self, laws: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
        """Draw rankings whose leaves and interleavings are independent.

        Parameters
        ----------
        laws
            Probabilities of the values of each attribute, shape (attributes, largest domain), numbered as in
            ``sizes`` and 0 beyond each domain.
        size
            Number of rankings.

        Returns
        -------
        ndarray of int64, shape (size, m)
        """
        ordered, sizes = self.ordered_leaves, self.sizes()

        def draw(attribute: int) -> IntArray:
            steps = np.cumsum(laws[attribute, : sizes[attribute]])
            drawn = np.searchsorted(steps, rng.random(size) * steps[-1], side="right")
            return np.asarray(np.minimum(drawn, sizes[attribute] - 1))

        ranked: IntArray = np.empty((size, 0), dtype=np.int64)
        for number in range(len(self.leaves) - 1, -1, -1):
            leaf = np.array(self.leaves[number])
            own = np.broadcast_to(leaf, (size, len(leaf)))
            if number in ordered:
                own = leaf[rankings.all_rankings(len(leaf))[draw(ordered.index(number))]]
            if number < self.splits:
                taken = interleavings(len(leaf), ranked.shape[1])[draw(len(ordered) + number)]
                merged = np.empty(taken.shape, dtype=np.int64)
                merged[taken], merged[~taken] = own.ravel(), ranked.ravel()
                ranked = merged
            else:
                ranked = np.array(own)
        return ranked


def thin_leaf_sizes(alternatives: int, thin: int) -> list[int]:
    """Leaf sizes of a K-thin chain: K as long as more than K alternatives are left, then what is left."""
    if thin < 1:
        raise dpaudit.ParameterError(f"K must be at least 1, got {thin}")
    return [min(thin, alternatives - start) for start in range(0, alternatives, thin)]


def random_chain(alternatives: int, thin: int, rng: np.random.Generator) -> Chain:
    """Chain that deals the alternatives out to the leaves at random."""
    return Chain(tuple(_cut(rng.permutation(alternatives).tolist(), thin)))


def chain_in_order(alternatives: int, thin: int) -> Chain:
    """Chain that splits the alternatives off in the order of their labels."""
    return Chain(tuple(_cut(range(alternatives), thin)))


@cache
def all_chains(alternatives: int, thin: int) -> list[Chain]:
    """All K-thin chains, each once."""
    found = {
        tuple(tuple(sorted(leaf)) for leaf in _cut(order, thin))
        for order in rankings.all_rankings(alternatives).tolist()
    }
    return [Chain(leaves) for leaves in sorted(found)]


def _cut(order: Sequence[int], thin: int) -> list[tuple[int, ...]]:
    """Cut an order of the alternatives into the leaves of a K-thin chain."""
    ends = np.cumsum(thin_leaf_sizes(len(order), thin)).tolist()
    return [tuple(order[start:end]) for start, end in zip([0, *ends], ends, strict=False)]


def _combination_index(places: IntArray, total: int) -> IntArray:
    """Lexicographic index of ascending places (n, k) among the k-subsets of 0 to total - 1."""
    k = places.shape[1]
    index = np.full(len(places), comb(total, k) - 1, dtype=np.int64)
    for column in range(k):
        # Combinations behind this one that agree up to here and have a larger place here.
        table = np.array([comb(total - 1 - place, k - column) for place in range(total)], dtype=np.int64)
        index -= table[places[:, column]]
    return index
