"""Random partitions of the agents, against all ways to deal them, and loads of the sets, against all assignments."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpaudit import rankings
from dpaudit.catalog.alabi2022 import partition
from dpaudit.catalog.alabi2022.partition import overload_probability
from dpaudit.errors import ParameterError

SEED = 20261126


def prefers(order, j, l):  # noqa: E741
    return list(order).index(j) < list(order).index(l)


@pytest.mark.slow
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
    prefer, members = partition.partition_counts(profile, runs, np.random.default_rng(SEED))
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


def overload(queries, sets, most):
    """Number of assignments without overload by recursion over the sets, in whole numbers."""
    ways = [Fraction(1)] + [Fraction(0)] * queries
    for _ in range(sets):
        ways = [
            sum(ways[total - k] / math.factorial(k) for k in range(min(most, total) + 1))
            for total in range(queries + 1)
        ]
    return 1 - ways[queries] * math.factorial(queries) / Fraction(sets) ** queries


@pytest.mark.parametrize(
    ("queries", "sets", "most"),
    [(0, 3, 0), (1, 1, 0), (1, 4, 0), (4, 3, 1), (5, 3, 2), (12, 4, 5), (30, 7, 9), (40, 5, 39)],
)
def test_overload_probability_is_the_share_of_assignments(queries, sets, most):
    exact = overload(queries, sets, most)
    assert overload_probability(queries, sets, most) == pytest.approx(float(exact), rel=1e-10, abs=0)


def test_overload_probability_by_listing_all_assignments():
    for most in range(6):
        share = np.mean([max(map(row.count, range(3))) > most for row in itertools.product(range(3), repeat=6)])
        assert overload_probability(6, 3, most) == pytest.approx(share, rel=1e-12)


def test_small_overload_probabilities_keep_their_digits():
    exact = overload(60, 6, 45)
    assert exact < Fraction(1, 10**20)
    assert overload_probability(60, 6, 45) == pytest.approx(float(exact), rel=1e-9)


def test_overload_probability_refuses_numbers_out_of_range():
    for wrong in ((-1, 3, 1), (3, 0, 1), (3, 3, -1)):
        with pytest.raises(ParameterError):
            overload_probability(*wrong)
