"""KwikSort that says which pairs it asked for."""

import math

import numpy as np
import pytest

from dpaudit import rankings
from dpaudit.errors import DataError, ParameterError


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
