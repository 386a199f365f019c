from itertools import combinations, permutations
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from dpaudit.errors import DataError, ParameterError
from dpaudit.rankings import (
    Profile,
    all_rankings,
    alternative_pairs,
    check_rankings,
    pair_index,
    positions,
    ranking_at,
    ranking_index,
)


def test_positions_invert_every_ranking():
    rankings = np.array(list(permutations(range(4))))
    places = positions(rankings.reshape(2, 12, 4)).reshape(24, 4)
    for ranking, place in zip(rankings.tolist(), places.tolist(), strict=True):
        assert place == [ranking.index(j) for j in range(4)]


@pytest.mark.parametrize("m", [1, 2, 3, 5])
def test_all_rankings_are_in_lexicographic_order(m):
    expected = list(permutations(range(m)))
    rankings = all_rankings(m)
    assert list(map(tuple, rankings.tolist())) == expected
    np.testing.assert_array_equal(ranking_index(rankings), np.arange(factorial(m)))


@pytest.mark.slow
@given(st.integers(1, 20).flatmap(lambda m: st.tuples(st.just(m), st.integers(0, factorial(m) - 1))))
def test_ranking_at_and_index_are_inverse_up_to_twenty(case):
    m, index = case
    ranking = ranking_at(index, m)
    assert ranking.shape == (m,)
    assert int(ranking_index(ranking)) == index


def test_last_ranking_of_twenty_is_the_reverse():
    np.testing.assert_array_equal(ranking_at(factorial(20) - 1, 20), np.arange(20)[::-1])


def test_ranking_index_keeps_leading_axes():
    rankings = all_rankings(3)[[5, 0, 3, 1]].reshape(2, 2, 3)
    np.testing.assert_array_equal(ranking_index(rankings), [[5, 0], [3, 1]])
    np.testing.assert_array_equal(ranking_at([[5, 0], [3, 1]], 3), rankings)


@pytest.mark.parametrize("m", [1, 2, 3, 7])
def test_pairs_and_their_index(m):
    pairs = alternative_pairs(m)
    assert pairs.shape == (comb(m, 2), 2)
    assert list(map(tuple, pairs.tolist())) == list(combinations(range(m), 2))
    np.testing.assert_array_equal(pair_index(pairs[:, 0], pairs[:, 1], m), np.arange(comb(m, 2)))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: all_rankings(11), ParameterError),
        (lambda: all_rankings(0), ParameterError),
        (lambda: all_rankings(True), ParameterError),
        (lambda: ranking_at(6, 3), ParameterError),
        (lambda: ranking_at(-1, 3), ParameterError),
        (lambda: ranking_at(0, 21), ParameterError),
        (lambda: ranking_at(0.5, 3), DataError),
        (lambda: ranking_index(np.arange(21)), ParameterError),
        (lambda: pair_index(1, 1, 3), ParameterError),
        (lambda: pair_index(2, 1, 3), ParameterError),
        (lambda: pair_index(0, 3, 3), ParameterError),
        (lambda: pair_index(-1, 1, 3), ParameterError),
        (lambda: alternative_pairs(0), ParameterError),
    ],
)
def test_bad_parameters_are_refused(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize(
    ("rankings", "message"),
    [
        ([[0, 1, 2], [0, 2, 2]], "row 1: alternative 2 is repeated and alternative 1 is missing"),
        ([[0, 1, 2], [2, 1, 0], [1, 2, 3]], "row 2: alternative 3 at place 2 is out of range"),
        ([[0, -1, 1]], "row 0: alternative -1 at place 1 is out of range"),
        ([[0.0, 1.0]], "float64"),
        ([[True, False]], "bool"),
        ([[0, 1], [0]], "rectangular"),
        ([[]], "float64"),
        (np.zeros((2, 0), dtype=int), "no alternative"),
        (3, "no alternative"),
    ],
)
def test_malformed_rankings_are_named(rankings, message):
    with pytest.raises(DataError, match=message):
        check_rankings(rankings)


def test_row_number_survives_chunks():
    rankings = np.tile(np.arange(3), (1_000_000, 1))
    rankings[987_654] = [0, 0, 2]
    with pytest.raises(DataError, match="row 987654: alternative 0 is repeated and alternative 1 is missing"):
        check_rankings(rankings)
    rankings[987_654] = [0, 1, 3]
    with pytest.raises(DataError, match="row 987654: alternative 3 at place 2 is out of range"):
        check_rankings(rankings)


def test_small_integer_types_are_accepted():
    assert check_rankings(np.array([[1, 0]], dtype=np.uint8)).dtype == np.int64


def test_from_rankings_merges_and_sorts():
    profile = Profile.from_rankings([[2, 1, 0], [0, 1, 2], [2, 1, 0], [0, 2, 1]], ["x", "y", "z"])
    assert profile.orders.tolist() == [[0, 1, 2], [0, 2, 1], [2, 1, 0]]
    assert profile.counts.tolist() == [1, 1, 2]
    assert profile.names == ("x", "y", "z")
    assert (profile.agents, profile.alternatives) == (4, 3)
    assert profile.rankings().tolist() == [[0, 1, 2], [0, 2, 1], [2, 1, 0], [2, 1, 0]]


def test_from_rankings_beyond_twenty_alternatives():
    rng = np.random.default_rng(1)
    base = rng.permuted(np.tile(np.arange(25), (3, 1)), axis=1)
    profile = Profile.from_rankings(base[[0, 1, 2, 1, 1]])
    expected = {tuple(base[0].tolist()): 1, tuple(base[1].tolist()): 3, tuple(base[2].tolist()): 1}
    found = dict(zip(map(tuple, profile.orders.tolist()), profile.counts.tolist(), strict=True))
    assert found == expected
    assert list(found) == sorted(found)


def test_equality_is_by_content():
    a = Profile([[0, 1], [1, 0], [0, 1]], [1, 2, 3])
    b = Profile([[1, 0], [0, 1]], [2, 4])
    assert a == b
    assert hash(a) == hash(b)
    assert a != Profile([[1, 0], [0, 1]], [4, 2])
    assert a != Profile([[1, 0], [0, 1]], [2, 4], ("x", "y"))
    assert a != "profile"


def test_arrays_are_copied_and_read_only():
    orders, counts = np.array([[0, 1]]), np.array([3])
    profile = Profile(orders, counts)
    orders[0] = [1, 0]
    counts[0] = 9
    assert profile.orders.tolist() == [[0, 1]]
    assert profile.counts.tolist() == [3]
    with pytest.raises(ValueError, match="read-only"):
        profile.orders[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        profile.counts[0] = 1


@pytest.mark.parametrize(
    ("orders", "counts", "names", "message"),
    [
        ([[0, 1], [1, 1]], [1, 1], (), "row 1: alternative 1 is repeated"),
        ([[0, 1], [1, 0]], [1, 0], (), "row 1: the count is 0"),
        ([[0, 1]], [-2], (), "row 0: the count is -2"),
        ([[0, 1]], [1, 1], (), "one count per order"),
        ([[0, 1]], [1.0], (), "float64"),
        (np.zeros((0, 2), dtype=int), np.zeros(0, dtype=int), (), "at least one ranking"),
        (np.zeros((2, 0), dtype=int), [1, 1], (), "at least one ranking"),
        ([0, 1], [1], (), r"\(2,\)"),
        ([[0, 1]], [1], ("a",), "1 names for 2 alternatives"),
        ([[0, 1]], [1], "ab", "one string"),
        ([[0, 1]], [1], (1, 2), "one string per alternative"),
    ],
)
def test_malformed_profiles_are_refused(orders, counts, names, message):
    with pytest.raises(DataError, match=message):
        Profile(orders, counts, names)


def test_from_rankings_refuses_one_ranking_and_none():
    with pytest.raises(DataError):
        Profile.from_rankings([0, 1])
    with pytest.raises(DataError):
        Profile.from_rankings(np.zeros((0, 2), dtype=int))


def test_relabelled_renames_alternatives_not_places():
    profile = Profile([[0, 1, 2], [2, 0, 1]], [2, 5], ("a", "b", "c")).relabelled([1, 2, 0])
    assert profile.orders.tolist() == [[1, 2, 0], [0, 1, 2]]
    assert profile.counts.tolist() == [2, 5]
    assert profile.names == ("c", "a", "b")
    with pytest.raises(DataError):
        profile.relabelled([0, 1])
    with pytest.raises(DataError):
        profile.relabelled([0, 1, 1])


@pytest.mark.slow
def test_subsample_is_hypergeometric():
    profile = Profile([[0, 1, 2], [1, 0, 2], [2, 1, 0]], [6, 3, 1])
    rng = np.random.default_rng(7)
    draws = 20_000
    seen = np.zeros(4)
    for _ in range(draws):
        part = profile.subsample(4, rng)
        assert part.agents == 4
        assert part.counts.min() >= 1
        row = np.flatnonzero(part.orders[:, 0] == 1)
        seen[part.counts[row].sum()] += 1
    expected = hypergeom(10, 3, 4).pmf(np.arange(4)) * draws
    assert ((seen - expected) ** 2 / expected).sum() < 30.7  # chi-square(3) quantile at 1 - 1e-6


def test_subsample_bounds():
    profile = Profile([[0, 1], [1, 0]], [2, 3])
    rng = np.random.default_rng(0)
    assert profile.subsample(5, rng) == profile
    for size in (0, 6, 1.5, True):
        with pytest.raises(ParameterError):
            profile.subsample(size, rng)
    with pytest.raises(ParameterError, match="10\\^9"):
        Profile([[0, 1]], [10**9]).subsample(1, rng)
