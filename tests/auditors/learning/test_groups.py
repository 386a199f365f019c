"""The score of columns within groups, against exact log-ratios, counts one pair at a time, and Stein's estimate."""

import math

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.learning import groups
from dpaudit.auditors.learning.groups import learn_groups
from dpaudit.auditors.learning.learners import identity_transform
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.outputs import as_outputs

FLIPPED = 0.25


class Cohorts:
    """Bits that are flipped with probability 1/4, two of which an input sets in each cohort, and the cohort."""

    def __init__(self, bits, cohorts, place=-1):
        rng = np.random.default_rng(7)
        self.bits, self.cohorts, self.place = bits, cohorts, place
        self.set = np.zeros((cohorts, 2, bits), dtype=bool)
        for of_cohort in self.set:
            of_cohort[0, rng.choice(bits, 2, replace=False)] = True
            of_cohort[1, rng.choice(bits, 2, replace=False)] = True

    def sample(self, data, size, rng):
        cohort = rng.integers(self.cohorts, size=size)
        shown = self.set[cohort, data] ^ (rng.random((size, self.bits)) < FLIPPED)
        place = self.bits if self.place < 0 else self.place
        return np.insert(shown.astype(np.int8), place, cohort, axis=1)

    def log_ratio(self, rows):
        """Logarithm of the probability on input 0 over that on input 1."""
        cohort, shown = rows[:, -1], rows[:, :-1] == 1
        agree = [(shown == self.set[cohort, data]).sum(axis=1) for data in (0, 1)]
        return (agree[0] - agree[1]) * math.log((1 - FLIPPED) / FLIPPED)


def learned(sample, rows, seed=0):
    x, y = (as_outputs(sample(data, rows, np.random.default_rng([seed, data]))) for data in (0, 1))
    return learn_groups(identity_transform(Columns(), x, y), x, y)


@pytest.mark.slow
@pytest.mark.parametrize(("bits", "cohorts", "least"), [(20, 4, 0.99), (100, 8, 0.99), (100, 64, 0.95)])
def test_bits_of_a_cohort_have_nearly_their_exact_log_ratio(bits, cohorts, least):
    mechanism = Cohorts(bits, cohorts)
    score = learned(mechanism.sample, 50_000)
    assert set(score.pairs[:, 0].tolist()) == {bits}
    fresh = mechanism.sample(0, 20_000, np.random.default_rng(1))
    assert np.corrcoef(score(as_outputs(fresh)), mechanism.log_ratio(fresh))[0, 1] > least


def test_the_column_that_makes_groups_may_stand_anywhere():
    assert set(learned(Cohorts(30, 6, place=11).sample, 20_000).pairs[:, 0].tolist()) == {11}


def shifted_in_one_group(data, size, rng):
    kind = rng.integers(3, size=size)
    return np.column_stack([rng.laplace(size=(size, 5)) + 0.5 * data * (kind == 1)[:, None], kind])


def test_numbers_may_be_shifted_within_one_group_alone():
    score = learned(shifted_in_one_group, 20_000)
    assert set(score.pairs[:, 0].tolist()) == {5}
    rows = shifted_in_one_group(0, 20_000, np.random.default_rng(1))
    spread = [score(as_outputs(rows[rows[:, 5] == kind])).std() for kind in range(3)]
    assert spread[1] > 5 * max(spread[0], spread[2])


def shifted_alone(data, size, rng):
    rows = (rng.random((size, 40)) < 0.5 + 0.2 * data * (np.arange(40) == 3)).astype(np.int8)
    return np.column_stack([rows, rng.integers(10, size=size, dtype=np.int8)])


@pytest.mark.slow
@pytest.mark.parametrize("sample", [shifted_alone, lambda d, s, r: shifted_alone(0, s, r)], ids=["alone", "no effect"])
def test_there_is_no_score_where_groups_say_nothing(sample):
    """Chance would let one of 1,000 through."""
    assert [learned(sample, 4000, seed) for seed in range(40)] == [None] * 40


@pytest.mark.parametrize("rows", [np.ones((4000, 3)), np.random.default_rng(0).normal(size=(4000, 3))])
def test_there_is_no_score_without_a_column_of_few_values(rows):
    assert learned(lambda data, size, rng: rows, 4000) is None


def test_columns_are_compared_as_pair_by_pair():
    sides = [np.random.default_rng(side).integers(0, [2, 3, 4, 1], size=(5000, 4)) for side in (0, 1)]
    sides[1][:, 2] = np.where(sides[1][:, 0] == 1, sides[1][:, 1], sides[1][:, 2])
    edges = {0: np.array([1.0]), 1: np.array([1.0, 2.0]), 2: np.array([1.0, 2.0, 3.0]), 3: np.empty(0)}
    cells = [groups._Cells.of(edges, side) for side in sides]

    def surprise(i):
        squares, count = 0.0, 0
        for j in {0, 1, 2} - {i}:
            extra, variances = groups._beyond_alone([groups._counted(each, each, i, j) for each in cells])
            squares, count = squares + float(np.sum(extra**2 / variances)), count + extra.size
        return groups._surprise(squares, count)

    expected = max(range(3), key=surprise)
    assert surprise(expected) > groups._SURPRISING
    assert groups._most_surprising(cells, cells) == expected


def test_of_columns_of_many_values_some_are_compared():
    """All of 60 columns of 100 values would take 10^11 operations."""
    edges = {i: np.arange(1.0, 100.0 if i else 5.0) for i in range(60)}
    kept = groups._affordable(edges, 60 * 8)
    assert 0 in kept
    assert 2 * 60 * 8 * groups._FIRST * sum(len(edge) + 1 for edge in kept.values()) <= groups._OPERATIONS


def test_estimates_shrink_by_the_least_of_steins_estimates():
    rng = np.random.default_rng(0)
    for values in (np.r_[np.full(5, 8.0), np.zeros(200)] + rng.normal(size=205), 2 + rng.normal(size=50)):
        sizes = np.abs(values)
        risks = [len(values) - 2 * np.sum(sizes <= t) + np.sum(np.minimum(sizes, t) ** 2) for t in (0.0, *sizes)]
        moved = (0.0, *sizes)[int(np.argmin(risks))]
        expected = np.sign(values) * np.maximum(sizes - moved, 0)
        assert np.allclose(groups._shrunk(values, np.ones(len(values))), expected)
        assert np.allclose(groups._shrunk(3 * values, np.full(len(values), 3.0)), 3 * expected)


def test_few_large_values_are_kept_and_many_that_are_nothing_are_not():
    rng = np.random.default_rng(1)
    truth = np.r_[np.full(5, 10.0), np.zeros(500)]
    shrunk = groups._shrunk(truth + rng.normal(size=505), np.ones(505))
    assert np.sum((shrunk - truth) ** 2) < 505 / 5
    assert np.all(shrunk[:5] > 5)


@pytest.mark.slow
def test_an_audit_finds_bits_of_a_cohort():
    """Without groups, the bound was 1.0 with 128 bits and 64 cohorts; four bits differ, each by log 3."""
    bound = dpaudit.epsilon_lower_bound(Cohorts(128, 64).sample, 0, 1, samples=200_000, confidence=0.9, seed=1)
    truth = 4 * math.log(3)
    assert 0.85 * truth < bound.epsilon < truth
