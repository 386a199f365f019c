"""The number of comparisons, against enumeration of all pivot orders, a simulation, and the textbook's expectation."""

from itertools import permutations, product
from math import comb, factorial

import numpy as np
import pytest

from dpaudit.errors import ParameterError
from dpaudit.rankings import quicksort_comparisons, quicksort_expected_comparisons, quicksort_tail


def compared(items, before, priority):
    """Comparisons of one run whose pivots are taken in the order of `priority`."""
    if len(items) < 2:
        return 0
    pivot = min(items, key=priority.index)
    left = [i for i in items if i != pivot and before[i][pivot]]
    right = [i for i in items if i != pivot and not before[i][pivot]]
    return len(items) - 1 + compared(left, before, priority) + compared(right, before, priority)


def transitive(m):
    return [[i < p for p in range(m)] for i in range(m)]


@pytest.mark.parametrize("m", range(1, 7))
def test_law_is_that_of_all_pivot_orders(m):
    counts = np.zeros(comb(m, 2) + 1)
    for priority in permutations(range(m)):
        counts[compared(list(range(m)), transitive(m), priority)] += 1
    np.testing.assert_allclose(quicksort_comparisons(m), counts / factorial(m), rtol=1e-13)


@pytest.mark.parametrize("m", [1, 2, 10, 60])
def test_law_has_the_expectation_of_the_textbook(m):
    law = quicksort_comparisons(m)
    assert law.sum() == pytest.approx(1, rel=1e-12)
    assert law @ np.arange(len(law)) == pytest.approx(quicksort_expected_comparisons(m), rel=1e-12)


def test_rarest_law_has_full_relative_accuracy():
    # Only if every pivot is the first or the last of its sublist are all pairs compared.
    m = 60
    assert quicksort_comparisons(m)[-1] == pytest.approx(2.0 ** (m - 2) * 2 / factorial(m), rel=1e-12)


@pytest.mark.parametrize("m", [3, 4])
def test_the_largest_expectation_of_all_tournaments_is_the_transitive_one(m):
    pairs = [(i, j) for i in range(m) for j in range(i)]
    orders = list(permutations(range(m)))
    expectations = []
    for signs in product((False, True), repeat=len(pairs)):
        before = [[False] * m for _ in range(m)]
        for (i, j), sign in zip(pairs, signs, strict=True):
            before[i][j], before[j][i] = sign, not sign
        expectations.append(sum(compared(list(range(m)), before, priority) for priority in orders) / len(orders))
    assert max(expectations) == pytest.approx(quicksort_expected_comparisons(m))
    assert min(expectations) < max(expectations)


@pytest.mark.parametrize("m", [4, 20])
def test_tail_sums_the_law(m):
    law = quicksort_comparisons(m)
    for limit in range(len(law) + 2):
        assert quicksort_tail(m, limit) == pytest.approx(law[limit + 1 :].sum(), rel=1e-12)


def test_tail_beyond_the_exact_law_is_an_upper_bound(monkeypatch):
    exact = {limit: quicksort_tail(60, limit) for limit in range(150, 1000, 50)}
    monkeypatch.setattr("dpaudit.rankings.quicksort.MAX_EXACT", 40)
    for limit, tail in exact.items():
        bound = quicksort_tail(60, limit)
        assert tail <= bound <= max(1e-13, 40 * tail)
    assert quicksort_tail(60, comb(60, 2)) == 0


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (quicksort_comparisons, (0,)),
        (quicksort_comparisons, (129,)),
        (quicksort_tail, (5, -1)),
        (quicksort_expected_comparisons, (1.5,)),
    ],
)
def test_out_of_range_is_refused(function, arguments):
    with pytest.raises(ParameterError, match=r"m is|limit is"):
        function(*arguments)
