"""Hierarchical rank aggregation against a literal recursion, and what it must satisfy whatever the votes."""

import itertools

import numpy as np
import pytest

import dpaudit
from dpaudit import rankings

SEED = 20261121
FALSE_ALARM = 1e-6


def recursion(votes, priority):
    """Algorithm 2 as meant, on counts of votes, literally: recursion on lists of alternatives."""

    def rank(level):
        if len(level) == 1:
            return level
        relation = {}
        for i, j in itertools.permutations(level, 2):
            total = votes[i][j] + votes[j][i]
            share = votes[i][j] / total if total else 0.5
            relation[i, j] = 1.0 if share > 0.5 else 0.0 if share < 0.5 else 0.5
        score = {i: sum(relation[i, j] for j in level if j != i) for i in level}
        if len(set(score.values())) == 1:
            sums = {i: sum(votes[i][j] - votes[j][i] for j in level if j != i) for i in level}
            winner = max(level, key=lambda i: (sums[i], priority[i]))
            return [winner, *rank([i for i in level if i != winner])]
        ranked = []
        for value in sorted(set(score.values()), reverse=True):
            ranked += rank([i for i in level if score[i] == value])
        return ranked

    return rank(list(range(len(votes))))


def random_votes(rng, m, most):
    votes = rng.integers(0, most + 1, (m, m))
    np.fill_diagonal(votes, 0)
    return votes


@pytest.mark.parametrize("m", [1, 2, 3, 4, 6, 9])
@pytest.mark.parametrize("most", [0, 1, 2, 20])
def test_equals_the_recursion_with_the_same_tie_breaks(m, most):
    rng = np.random.default_rng((SEED, m, most))
    votes = np.stack([random_votes(rng, m, most) for _ in range(60)])
    margins = votes - votes.transpose(0, 2, 1)
    found = rankings.hierarchical(margins, np.random.default_rng(5))
    priority = np.random.default_rng(5).permuted(np.tile(np.arange(m), (60, 1)), axis=1)
    for run in range(60):
        assert found[run].tolist() == recursion(votes[run].tolist(), priority[run])


def test_levels_that_tie_are_split_by_the_sum_of_their_own_margins():
    # 0, 1, 2 beat each other in a circle and all beat 3; against 3 alone 0 is best, within the circle 1 is.
    margins = np.zeros((4, 4))
    for i, j, by in ((0, 1, 1), (1, 2, 5), (2, 0, 2), (0, 3, 50), (1, 3, 1), (2, 3, 1)):
        margins[i, j], margins[j, i] = by, -by
    assert rankings.hierarchical(margins, np.random.default_rng(0), 3).tolist() == [[1, 2, 0, 3]] * 3


def test_total_and_deterministic_given_the_tie_breaking_stream():
    rng = np.random.default_rng(SEED)
    votes = np.stack([random_votes(rng, 7, 1) for _ in range(500)])
    margins = votes - votes.transpose(0, 2, 1)
    first, again = (rankings.hierarchical(margins, np.random.default_rng(3)) for _ in range(2))
    assert (np.sort(first, axis=1) == np.arange(7)).all()
    assert (first == again).all()
    assert (first != rankings.hierarchical(margins, np.random.default_rng(4))).any()


def test_is_the_condorcet_order_where_one_exists():
    rng = np.random.default_rng(SEED)
    for m in range(2, 9):
        order = rng.permutation(m)
        margins = np.zeros((m, m))
        for a, b in itertools.combinations(range(m), 2):
            by = rng.integers(1, 100)
            margins[order[a], order[b]], margins[order[b], order[a]] = by, -by
        assert (rankings.hierarchical(margins, rng, 5) == order).all()


def test_unanimous_agents_get_their_ranking():
    order = np.array([3, 0, 4, 1, 2])
    margins = rankings.margins(rankings.pairwise_counts(np.tile(order, (7, 1))))
    assert (rankings.hierarchical(margins, np.random.default_rng(0), 4) == order).all()


def test_neutral_under_relabelling():
    """Without ties at random the ranking of renamed alternatives is the renamed ranking."""
    rng = np.random.default_rng(SEED)
    for _ in range(50):
        upper = np.triu(rng.normal(size=(6, 6)), 1)
        margins = upper - upper.T
        names = rng.permutation(6)
        renamed = np.empty_like(margins)
        renamed[np.ix_(names, names)] = margins
        ranking = rankings.hierarchical(margins, rng, 1)[0]
        assert rankings.hierarchical(renamed, rng, 1)[0].tolist() == names[ranking].tolist()


def test_neutral_where_ties_are_broken_at_random():
    """Nothing but ties: all rankings are equally likely. Two that only tie: each comes first half of the time."""
    runs = 24_000
    found = rankings.hierarchical(np.zeros((4, 4)), np.random.default_rng(SEED), runs)
    counts = np.bincount(rankings.ranking_index(found), minlength=24)
    from scipy.stats import chisquare

    assert chisquare(counts).pvalue > FALSE_ALARM
    margins = np.zeros((3, 3))
    margins[0, 1], margins[1, 0], margins[0, 2], margins[2, 0] = 3, -3, 3, -3
    found = rankings.hierarchical(margins, np.random.default_rng(SEED), runs)
    assert (found[:, 0] == 0).all()
    assert abs(np.count_nonzero(found[:, 1] == 1) - runs / 2) < 5 * np.sqrt(runs / 4)


def test_the_borda_count_of_full_rankings_orders_a_level_alike():
    """The fallback of the method without privacy: on full rankings both sums have the same largest alternatives."""
    rng = np.random.default_rng(SEED)
    for _ in range(50):
        profile = rng.permuted(np.tile(np.arange(5), (9, 1)), axis=1)
        counts = rankings.pairwise_counts(profile)
        borda = (4 - rankings.positions(profile)).sum(axis=0)
        assert ((rankings.margins(counts).sum(axis=1) + 9 * 4) / 2 == borda).all()


@pytest.mark.parametrize(
    ("margins", "message"),
    [
        (np.ones((2, 2)), "antisymmetric"),
        (np.full((2, 2), np.nan), "finite"),
        (np.array([["a", "b"], ["c", "d"]]), "numbers"),
    ],
)
def test_margins_that_cannot_be_are_refused(margins, message):
    with pytest.raises(dpaudit.DataError, match=message):
        rankings.hierarchical(margins, np.random.default_rng(0), 1)
    with pytest.raises(dpaudit.ParameterError, match="shape"):
        rankings.hierarchical(np.zeros((2, 3)), np.random.default_rng(0), 1)
