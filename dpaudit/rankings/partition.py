"""Random partitions of the agents of a profile, as many sets as alternatives."""

import numpy as np

from dpaudit.rankings.orders import IntArray
from dpaudit.rankings.pairwise import pairwise_counts
from dpaudit.rankings.profiles import Profile

MOST_MERGED = 64
"""Most different rankings of a profile that are dealt kind by kind, not agent by agent."""


def partition_counts(profile: Profile, runs: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Partition the agents into m sets of equal size at random, and count who prefers what in each.

    Parameters
    ----------
    profile : Profile
        n agents over m alternatives; where m does not divide n, dummies without preferences fill the sets up.
    runs : int
        Number of partitions, independent of each other.
    rng : numpy.random.Generator

    Returns
    -------
    prefer : ndarray of int64, shape (runs, m, m, m)
        Entry [b, s, j, l] is the number of agents of set s who prefer j to l.
    members : ndarray of int64, shape (runs, m)
        Number of agents of each set, dummies left out.
    """
    m, n = profile.alternatives, profile.agents
    size = -(-n // m)
    if len(profile.orders) <= MOST_MERGED:
        held = _dealt(np.append(profile.counts, m * size - n), m, size, runs, rng)[:, :, :-1]
        first = np.stack([pairwise_counts(order[None]) for order in profile.orders])
        return np.tensordot(held, first, axes=1), held.sum(axis=2)
    prefer = np.empty((runs, m, m, m), dtype=np.int64)
    members = np.empty((runs, m), dtype=np.int64)
    holder = np.append(np.repeat(np.arange(len(profile.orders)), profile.counts), np.full(m * size - n, -1))
    for run in range(runs):
        for group, drawn in enumerate(rng.permutation(holder).reshape(m, size)):
            real = drawn[drawn >= 0]
            members[run, group] = len(real)
            prefer[run, group] = pairwise_counts(profile.orders[real])
    return prefer, members


def _dealt(counts: IntArray, sets: int, size: int, runs: int, rng: np.random.Generator) -> IntArray:
    """How many of each kind every set gets, shape (runs, sets, kinds), when ``size`` are dealt to each at random."""
    left = np.tile(counts, (runs, 1))
    dealt = np.empty((runs, sets, len(counts)), dtype=np.int64)
    for group in range(sets):
        wanted = np.full(runs, size)
        for kind in range(len(counts)):
            others = left[:, kind + 1 :].sum(axis=1)
            dealt[:, group, kind] = rng.hypergeometric(left[:, kind], others, wanted)
            wanted = wanted - dealt[:, group, kind]
        left = left - dealt[:, group]
    return dealt
