"""Random partitions of the agents, and what comes of assigning queries to sets at random."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpaudit import rankings
from dpaudit.errors import DataError, ParameterError
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
    assert rankings.overload_probability(queries, sets, most) == pytest.approx(float(exact), rel=1e-10, abs=0)


def test_overload_probability_by_listing_all_assignments():
    for most in range(6):
        share = np.mean([max(map(row.count, range(3))) > most for row in itertools.product(range(3), repeat=6)])
        assert rankings.overload_probability(6, 3, most) == pytest.approx(share, rel=1e-12)


def test_small_overload_probabilities_keep_their_digits():
    exact = overload(60, 6, 45)
    assert exact < Fraction(1, 10**20)
    assert rankings.overload_probability(60, 6, 45) == pytest.approx(float(exact), rel=1e-9)


def test_overload_probability_refuses_numbers_out_of_range():
    for wrong in ((-1, 3, 1), (3, 0, 1), (3, 3, -1)):
        with pytest.raises(ParameterError):
            rankings.overload_probability(*wrong)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_kwiksort_on_consistent_answers_is_kwiksort(m):
    margins = np.triu(np.random.default_rng(1).normal(size=(500, m, m)), 1)
    before = rankings.comparisons(margins - margins.swapaxes(1, 2), np.random.default_rng(2))
    orders, asked = rankings.kwiksort_queries(before, np.random.default_rng(3))
    assert (orders == rankings.kwiksort(before, np.random.default_rng(3))).all()
    assert not (asked & asked.swapaxes(1, 2)).any()


def test_what_kwiksort_asks_for_decides_its_ranking():
    """A literal run on each table, with the pivots that the asked pairs show."""
    before = np.random.default_rng(4).random((300, 4, 4)) < 0.5
    orders, asked = rankings.kwiksort_queries(before, np.random.default_rng(5))

    def literal(items, table, queries):
        if len(items) < 2:
            return items
        (pivot,) = [p for p in items if all(queries[i, p] for i in items if i != p)] if len(items) > 2 else [None]
        if pivot is None:
            pivot = items[0] if queries[items[1], items[0]] else items[1]
        left = [i for i in items if i != pivot and table[i, pivot]]
        right = [i for i in items if i != pivot and not table[i, pivot]]
        return [*literal(left, table, queries), pivot, *literal(right, table, queries)]

    for order, table, queries in zip(orders, before, asked, strict=True):
        assert literal([0, 1, 2, 3], table, queries) == order.tolist()


def test_kwiksort_asks_as_often_as_quicksort_compares():
    m, runs = 6, 20_000
    before = np.broadcast_to(np.triu(np.ones((m, m), dtype=bool), 1), (runs, m, m))
    count = rankings.kwiksort_queries(before, np.random.default_rng(6))[1].sum(axis=(1, 2))
    expected = 2 * (m + 1) * sum(1 / k for k in range(1, m + 1)) - 4 * m
    assert abs(count.mean() - expected) < 6 * count.std() / math.sqrt(runs)


def test_kwiksort_queries_refuses_what_is_no_table():
    with pytest.raises(DataError):
        rankings.kwiksort_queries(np.zeros((1, 2, 2)), np.random.default_rng(0))
    with pytest.raises(ParameterError):
        rankings.kwiksort_queries(np.zeros((2, 2), dtype=bool), np.random.default_rng(0))


def test_a_ranking_with_each_number_of_inversions():
    for m in (1, 2, 4, 6):
        for inversions in range(math.comb(m, 2) + 1):
            ranking = rankings.ranking_with_inversions(m, inversions)
            assert rankings.kendall_tau(ranking, np.arange(m)) == inversions
    for wrong in (-1, 7):
        with pytest.raises(ParameterError):
            rankings.ranking_with_inversions(4, wrong)
