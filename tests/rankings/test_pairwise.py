import numpy as np
import pytest

from dpaudit.errors import DataError, ParameterError
from dpaudit.rankings import Profile, alternative_pairs, answers, margins, pairwise_counts
from dpaudit.rankings import orders as orders_module


def brute_counts(rankings):
    m = len(rankings[0])
    table = [[0] * m for _ in range(m)]
    for ranking in rankings:
        for place, winner in enumerate(ranking):
            for loser in ranking[place + 1 :]:
                table[winner][loser] += 1
    return table


@pytest.fixture
def rankings():
    return np.random.default_rng(3).permuted(np.tile(np.arange(5), (60, 1)), axis=1)


def test_counts_of_one_ranking():
    assert pairwise_counts([[2, 0, 1]]).tolist() == [[0, 1, 0], [0, 0, 0], [1, 1, 0]]


def test_counts_against_loops(rankings):
    expected = brute_counts(rankings.tolist())
    assert pairwise_counts(rankings).tolist() == expected
    assert pairwise_counts(Profile.from_rankings(rankings)).tolist() == expected


def test_counts_do_not_depend_on_chunks(rankings, monkeypatch):
    expected = pairwise_counts(rankings)
    profile = Profile.from_rankings(rankings)
    monkeypatch.setattr(orders_module, "CHUNK_CELLS", 35)
    np.testing.assert_array_equal(pairwise_counts(rankings), expected)
    np.testing.assert_array_equal(pairwise_counts(profile), expected)


def test_counts_use_multiplicities():
    assert pairwise_counts(Profile([[0, 1], [1, 0]], [3, 10**12])).tolist() == [[0, 3], [10**12, 0]]


def test_one_alternative():
    assert pairwise_counts([[0], [0]]).tolist() == [[0]]


@pytest.mark.parametrize("bad", [[0, 1], np.zeros((0, 3), dtype=int), [[0, 0]], [[0.5, 1.0]]])
def test_counts_refuse_malformed_rankings(bad):
    with pytest.raises(DataError):
        pairwise_counts(bad)


def test_margins_are_wins_minus_losses():
    assert margins([[0, 7], [2, 0]]).tolist() == [[0, 5], [-5, 0]]


@pytest.mark.parametrize("bad", [[[0, 1]], [[0, -1], [2, 0]], [[1, 1], [1, 0]], [[0.0, 1.0], [1.0, 0.0]], [], [0]])
def test_margins_refuse_malformed_counts(bad):
    with pytest.raises(DataError):
        margins(bad)


def test_answers_to_common_pairs(rankings):
    pairs = np.concatenate([alternative_pairs(5), alternative_pairs(5)[:, ::-1]])
    expected = [[r.index(j) < r.index(k) for j, k in pairs.tolist()] for r in rankings.tolist()]
    assert answers(rankings, pairs).tolist() == expected


def test_answers_to_own_pairs(rankings):
    rng = np.random.default_rng(5)
    pairs = rng.permuted(np.tile(np.arange(5), (60, 3, 1)), axis=2)[:, :, :2]
    found = answers(rankings, pairs)
    assert found.shape == (60, 3)
    for ranking, asked, said in zip(rankings.tolist(), pairs.tolist(), found.tolist(), strict=True):
        assert said == [ranking.index(j) < ranking.index(k) for j, k in asked]


def test_answers_do_not_depend_on_chunks(rankings, monkeypatch):
    pairs = np.broadcast_to(alternative_pairs(5), (60, 10, 2))
    expected = answers(rankings, pairs)
    monkeypatch.setattr(orders_module, "CHUNK_CELLS", 50)
    np.testing.assert_array_equal(answers(rankings, pairs), expected)
    np.testing.assert_array_equal(answers(rankings, pairs[0]), expected)


def test_answers_add_up_to_counts(rankings):
    pairs = alternative_pairs(5)
    counts = pairwise_counts(rankings)
    np.testing.assert_array_equal(answers(rankings, pairs).sum(axis=0), counts[pairs[:, 0], pairs[:, 1]])


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([[0, 5]], "outside 0 to 4"),
        ([[-1, 0]], "outside 0 to 4"),
        ([[2, 2]], "with itself"),
        ([0, 1], "shape"),
        ([[0, 1, 2]], "shape"),
        (np.zeros((3, 1, 2), dtype=int), "shape"),
    ],
)
def test_answers_refuse_malformed_pairs(rankings, pairs, message):
    with pytest.raises(ParameterError, match=message):
        answers(rankings, pairs)


def test_answers_refuse_a_single_ranking():
    with pytest.raises(DataError):
        answers([0, 1], [[0, 1]])
