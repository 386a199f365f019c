from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chi2

from dpaudit.errors import DataError, ParameterError
from dpaudit.rankings import (
    all_rankings,
    comparisons,
    kendall_cost,
    kwiksort,
    kwiksort_exact,
    kwiksort_expected_cost,
    kwiksort_law,
    kwiksort_log_law,
    margins,
    orders,
    ranking_index,
)


def random_probabilities(m, rng, lead=()):
    table = rng.random((*lead, m, m))
    upper = np.triu(table, 1)
    return upper + np.swapaxes(np.triu(1 - upper, 1), -1, -2)


def reference_law(probability, items):
    """The textbook recursion, one comparison outcome at a time; a dict from ranking to probability."""
    if not items:
        return {(): 1.0}
    law = {}
    for pivot in items:
        others = [i for i in items if i != pivot]
        for choice in range(1 << len(others)):
            left = [i for bit, i in enumerate(others) if choice >> bit & 1]
            right = [i for i in others if i not in left]
            weight = 1 / len(items)
            for i in left:
                weight *= probability[i][pivot]
            for i in right:
                weight *= probability[pivot][i]
            for a, pa in reference_law(probability, left).items():
                for b, pb in reference_law(probability, right).items():
                    ranking = (*a, pivot, *b)
                    law[ranking] = law.get(ranking, 0.0) + weight * pa * pb
    return law


def reference_vector(probability):
    m = len(probability)
    law = reference_law(probability.tolist(), list(range(m)))
    return np.array([law[r] for r in permutations(range(m))])


def fits(index, law):
    """Chi-square test at 1e-6 of indices against a law; cells of probability 0 must be empty."""
    seen = np.bincount(index, minlength=len(law))
    assert seen[law == 0].sum() == 0
    seen, expected = seen[law > 0], law[law > 0] * len(index)
    assert expected.min() > 5
    return ((seen - expected) ** 2 / expected).sum() < chi2.isf(1e-6, max(1, len(expected) - 1))


def random_counts(m, rng, n=9):
    upper = np.triu(rng.integers(0, n + 1, (m, m)), 1)
    return upper + np.triu(n - upper, 1).T


def test_transitive_comparisons_sort():
    order = np.array([3, 0, 4, 1, 2])
    place = np.argsort(order)
    before = place[:, None] < place[None, :]
    np.testing.assert_array_equal(kwiksort(before, np.random.default_rng(0), 200), np.tile(order, (200, 1)))


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_law_against_the_textbook_recursion(m):
    probability = random_probabilities(m, np.random.default_rng(m))
    np.testing.assert_allclose(kwiksort_law(probability), reference_vector(probability), rtol=1e-12)


def test_law_of_five_with_leading_axes_and_chunks(monkeypatch):
    probability = random_probabilities(5, np.random.default_rng(11), (2, 3))
    law = kwiksort_law(probability)
    assert law.shape == (2, 3, 120)
    np.testing.assert_allclose(law[1, 0], reference_vector(probability[1, 0]), rtol=1e-12)
    np.testing.assert_allclose(law.sum(axis=-1), 1, rtol=1e-12)
    monkeypatch.setattr(kwiksort_exact, "CHUNK_CELLS", 300)
    np.testing.assert_array_equal(kwiksort_law(probability), law)


def test_law_of_two_and_its_orientation():
    np.testing.assert_allclose(kwiksort_law([[0, 0.9], [0.1, 0]]), [0.9, 0.1])


@pytest.mark.parametrize("m", [3, 6, 7])
def test_fair_coins_give_equal_laws_under_relabelling(m):
    fair = np.full((m, m), 0.5)
    np.testing.assert_allclose(kwiksort_law(fair), 1 / len(all_rankings(m)), rtol=1e-12)


def test_law_is_equivariant_under_relabelling():
    probability = random_probabilities(5, np.random.default_rng(8))
    rename = np.array([2, 4, 1, 0, 3])
    renamed = np.empty_like(probability)
    renamed[np.ix_(rename, rename)] = probability
    moved = ranking_index(rename[all_rankings(5)])
    np.testing.assert_allclose(kwiksort_law(renamed)[moved], kwiksort_law(probability), rtol=1e-12)


def test_condorcet_cycle_gives_its_rotations():
    beats = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=float)
    law = dict(zip(permutations(range(3)), kwiksort_law(beats), strict=True))
    for ranking, probability in law.items():
        assert probability == pytest.approx(1 / 3 if ranking in {(0, 1, 2), (1, 2, 0), (2, 0, 1)} else 0)


@pytest.mark.parametrize("m", [1, 3, 5, 7])
def test_log_law_agrees_with_law(m):
    probability = random_probabilities(m, np.random.default_rng(m), (2,))
    with np.errstate(divide="ignore"):
        log_law = kwiksort_log_law(np.log(probability))
    np.testing.assert_allclose(log_law, np.log(kwiksort_law(probability)), rtol=0, atol=1e-12)


def test_log_law_where_probabilities_underflow():
    a = -400.0
    log_before = np.array([[0, 0, 0], [a, 0, 0], [a, a, 0]])
    log_law = kwiksort_log_law(log_before)
    assert log_law[0] == pytest.approx(0, abs=1e-12)
    # every pair inverted: pivot 1 and the ends pay 2a for their pairs; sublists of two pay a more
    assert log_law[-1] == pytest.approx(np.logaddexp(np.log(2 / 3) + 3 * a, np.log(1 / 3) + 2 * a), rel=1e-14)
    assert kwiksort_law(np.exp(log_before))[-1] == 0


def test_log_law_keeps_impossible_rankings():
    log_law = kwiksort_log_law([[0, 0, 0], [-np.inf, 0, 0], [-np.inf, -np.inf, 0]])
    assert log_law[0] == pytest.approx(0, abs=1e-15)
    assert (log_law[1:] == -np.inf).all()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[0, 0.6], [0.5, 0]], r"\[0, 1\]"),
        ([[0, 1.5], [-0.5, 0]], r"\[0, 1\]"),
        ([[0, np.nan], [0.5, 0]], "add up to 1"),
        ([0.5, 0.5], "shape"),
        (np.full((9, 9), 0.5), "m is 9"),
    ],
)
def test_law_refuses_what_is_no_law(table, message):
    with pytest.raises(ParameterError, match=message):
        kwiksort_law(table)


def test_log_law_refuses_what_is_no_law():
    for bad in (0.6, np.nan, np.inf):
        with pytest.raises(ParameterError, match=r"\[0, 1\]"):
            kwiksort_log_law([[0, bad], [np.log(0.5), 0]])


def test_diagonal_is_not_read():
    assert kwiksort_law([[np.nan, 0.9], [0.1, 7]]).tolist() == [0.9, 0.1]
    np.testing.assert_allclose(kwiksort_log_law([[np.nan, np.log(0.9)], [np.log(0.1), 1e9]]), np.log([0.9, 0.1]))


def test_runs_follow_the_law_for_fixed_comparisons():
    before = random_probabilities(4, np.random.default_rng(21)) > 0.5
    assert np.count_nonzero(kwiksort_law(before.astype(float))) > 1
    rankings = kwiksort(before, np.random.default_rng(1), 40_000)
    assert fits(ranking_index(rankings), kwiksort_law(before.astype(float)))


def test_runs_follow_the_law_for_random_comparisons(monkeypatch):
    monkeypatch.setattr(orders, "CHUNK_CELLS", 10_000)
    rng = np.random.default_rng(31)
    probability = 0.25 + 0.5 * random_probabilities(4, rng)
    wins = np.triu(rng.random((60_000, 4, 4)) < probability, 1)
    before = wins | np.swapaxes(np.triu(~wins, 1), 1, 2)
    assert fits(ranking_index(kwiksort(before, rng)), kwiksort_law(probability))


def test_comparisons_follow_signs_and_toss_fair_coins():
    table = np.array([[0, 2, 0], [-2, 0, -1], [0, 1, 0]])
    before = comparisons(table, np.random.default_rng(5), 20_000)
    assert before[:, 0, 1].all()
    assert before[:, 2, 1].all()
    np.testing.assert_array_equal(before ^ np.swapaxes(before, 1, 2), np.tile(~np.eye(3, dtype=bool), (20_000, 1, 1)))
    assert abs(before[:, 0, 2].mean() - 0.5) < 4.9 * 0.5 / np.sqrt(20_000)


def test_coins_of_different_pairs_are_independent():
    before = comparisons(np.zeros((3, 3)), np.random.default_rng(6), 40_000)
    code = before[:, 0, 1] * 4 + before[:, 0, 2] * 2 + before[:, 1, 2]
    assert fits(code, np.full(8, 1 / 8))


def test_ties_follow_the_law_with_halves():
    table = np.array([[0, 1, 0, -2], [-1, 0, 0, 3], [0, 0, 0, -1], [2, -3, 1, 0]])
    rng = np.random.default_rng(17)
    rankings = kwiksort(comparisons(table, rng, 60_000), rng)
    assert fits(ranking_index(rankings), kwiksort_law((1 + np.sign(table)) / 2))


def test_batched_comparisons_take_each_matrix():
    table = np.array([[[0, 1], [-1, 0]], [[0, -0.5], [0.5, 0]]])
    before = comparisons(table, np.random.default_rng(0))
    assert before.tolist() == [[[False, True], [False, False]], [[False, False], [True, False]]]
    assert kwiksort(before, np.random.default_rng(0)).tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda r: kwiksort(np.array([[False, True], [True, False]]), r, 2), DataError, r"\[0, 1\] and \[1, 0\]"),
        (lambda r: kwiksort(np.zeros((3, 2, 2), dtype=bool), r), DataError, "matrix 0"),
        (lambda r: kwiksort(np.zeros((2, 2)), r, 2), DataError, "booleans"),
        (lambda r: kwiksort(np.tri(2, k=-1, dtype=bool), r), ParameterError, "size is not given"),
        (lambda r: kwiksort(np.tri(2, k=-1, dtype=bool)[None], r, 2), ParameterError, "holds 1 matrices"),
        (lambda r: kwiksort(np.tri(2, k=-1, dtype=bool), r, -1), ParameterError, "size"),
        (lambda r: kwiksort(np.zeros((2, 3), dtype=bool), r, 1), ParameterError, "shape"),
        (lambda r: comparisons([[0, 1], [1, 0]], r, 1), DataError, "opposite signs"),
        (lambda r: comparisons([[0, 0], [1, 0]], r, 1), DataError, "opposite signs"),
        (lambda r: comparisons([[0, np.nan], [1, 0]], r, 1), DataError, "NaN"),
        (lambda r: comparisons([[0, 1], [-1, 0]], r), ParameterError, "size is not given"),
        (lambda r: comparisons([["a"]], r, 1), DataError, "numbers"),
    ],
)
def test_bad_runs_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(np.random.default_rng(0))


@pytest.mark.parametrize("m", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("n", [2, 9])
def test_expected_cost_against_the_law(m, n):
    counts = random_counts(m, np.random.default_rng(10 * m + n), n)
    law = kwiksort_law((1 + np.sign(margins(counts))) / 2)
    expected = law @ kendall_cost(all_rankings(m), counts)
    assert kwiksort_expected_cost(counts) == pytest.approx(expected, rel=1e-12)


def test_expected_cost_of_the_condorcet_cycle():
    # three agents 012, 120, 201: every rotation costs 1 + 1 + 2
    assert kwiksort_expected_cost([[0, 2, 1], [1, 0, 2], [2, 1, 0]]) == pytest.approx(4)


def test_expected_cost_against_runs_for_twelve():
    rng = np.random.default_rng(12)
    counts = random_counts(12, rng, 4)
    costs = kendall_cost(kwiksort(comparisons(margins(counts), rng, 20_000), rng), counts)
    error = costs.std() / np.sqrt(len(costs))
    assert abs(costs.mean() - kwiksort_expected_cost(counts)) < 4.9 * error


def test_expected_cost_of_equal_counts_and_limits():
    assert kwiksort_expected_cost(3 - 3 * np.eye(12, dtype=int)) == pytest.approx(3 * 66, rel=1e-12)
    with pytest.raises(ParameterError, match="m is 15"):
        kwiksort_expected_cost(1 - np.eye(15, dtype=int))
    with pytest.raises(DataError):
        kwiksort_expected_cost([[0, 1]])
