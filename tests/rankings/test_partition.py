"""Random partitions of the agents, against all ways to deal them."""

import itertools
import math

import numpy as np
import pytest

from dpaudit import rankings
from dpaudit.rankings import partition

SEED = 20261126


def prefers(order, j, l):  # noqa: E741
    return list(order).index(j) < list(order).index(l)


@pytest.mark.parametrize("merged", [0, 64])
@pytest.mark.parametrize("agents", [6, 7, 8])
def test_partition_has_the_moments_of_all_ways_to_deal(agents, merged, monkeypatch):
    monkeypatch.setattr(partition, "MOST_MERGED", merged)
    orders = np.array([[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 1, 2], [0, 2, 1], [2, 0, 1], [1, 2, 0], [2, 1, 0]])[:agents]
    profile = rankings.Profile.from_rankings(orders)
    slots = 3 * -(-agents // 3)
    # The agents of one set are any subset of the slots of that size; dummies come last.
    dealt = [[k for k in chosen if k < agents] for chosen in itertools.combinations(range(slots), slots // 3)]
    runs = 4000
    prefer, members = rankings.partition_counts(profile, runs, np.random.default_rng(SEED))
    assert prefer.shape == (runs, 3, 3, 3)
    assert members.shape == (runs, 3)
    assert (members.sum(axis=1) == agents).all()
    assert (prefer.sum(axis=1) == rankings.pairwise_counts(profile)).all()
    off_diagonal = ~np.eye(3, dtype=bool)
    both = (prefer + prefer.swapaxes(2, 3))[:, :, off_diagonal]
    assert (both == members[:, :, None]).all()
    for j, l in itertools.permutations(range(3), 2):  # noqa: E741
        exact = np.array([sum(prefers(orders[k], j, l) for k in chosen) for chosen in dealt])
        for group in range(3):
            seen = prefer[:, group, j, l]
            assert abs(seen.mean() - exact.mean()) < 6 * exact.std() / math.sqrt(runs)
            assert set(seen) <= set(exact)
            moment = (exact - exact.mean()) ** 2
            assert abs(((seen - exact.mean()) ** 2).mean() - moment.mean()) < 6 * moment.std() / math.sqrt(runs)
