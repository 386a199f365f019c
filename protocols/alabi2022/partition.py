"""Random partitions of the agents of a profile into as many sets as alternatives, and how queries fall on the sets."""

import numpy as np

import dpaudit
from dpaudit import rankings

MOST_MERGED = 64
"""Most different rankings of a profile that are dealt kind by kind, not agent by agent."""


def partition_counts(profile: rankings.Profile, runs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Partition the agents into m sets of equal size at random, and count who prefers what in each.

    Parameters
    ----------
    profile : dpaudit.rankings.Profile
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
        first = np.stack([rankings.pairwise_counts(order[None]) for order in profile.orders])
        return np.tensordot(held, first, axes=1), held.sum(axis=2)
    prefer = np.empty((runs, m, m, m), dtype=np.int64)
    members = np.empty((runs, m), dtype=np.int64)
    holder = np.append(np.repeat(np.arange(len(profile.orders)), profile.counts), np.full(m * size - n, -1))
    for run in range(runs):
        for group, drawn in enumerate(rng.permutation(holder).reshape(m, size)):
            real = drawn[drawn >= 0]
            members[run, group] = len(real)
            prefer[run, group] = rankings.pairwise_counts(profile.orders[real])
    return prefer, members


def _dealt(counts: np.ndarray, sets: int, size: int, runs: int, rng: np.random.Generator) -> np.ndarray:
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


def overload_probability(queries: int, sets: int, most: int) -> float:
    """Exact probability that one of several sets of agents is assigned more than ``most`` of the queries.

    Parameters
    ----------
    queries
        Number of queries, at least 0, each assigned to a uniformly random set.
    sets
        Number of sets, at least 1.
    most
        Queries that a set may get, at least 0.

    Returns
    -------
    float
        O(queries^2 log sets) time. The numbers of queries are independent Poisson variables given their sum; sets are
        joined by doubling, those with an overloaded one among them apart, so that only positive numbers are added and
        a small probability keeps its digits.

    Raises
    ------
    ParameterError
        A number is out of range.
    """
    if queries < 0 or sets < 1 or most < 0:
        raise dpaudit.ParameterError(f"{queries} queries to {sets} sets, at most {most} each: out of range")
    from scipy.stats import poisson

    if most >= queries:
        return 0.0
    loads = np.arange(queries + 1)
    one = poisson.pmf(loads, queries / sets)
    calm, full = np.where(loads <= most, one, 0.0), np.where(loads > most, one, 0.0)

    def join(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        conv = [np.convolve(x, y)[: queries + 1] for x, y in ((a[0], b[0]), (a[1], b[0] + b[1]), (a[0], b[1]))]
        return conv[0], conv[1] + conv[2]

    empty = np.zeros(queries + 1)
    empty[0] = 1.0
    total, power = (empty, np.zeros(queries + 1)), (calm, full)
    left = sets
    while left:
        if left & 1:
            total = join(total, power)
        left >>= 1
        if left:
            power = join(power, power)
    return float(total[1][queries] / (total[0][queries] + total[1][queries]))
