"""Which families compete on all rows, and what that must not lose."""

import math

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.learning.contest import Contest
from dpaudit.auditors.learning.counts import FinalTest
from dpaudit.auditors.learning.selection import select_events
from dpaudit.auditors.outputs.outputs import Outputs
from dpaudit.claims.guarantees import ApproximateDP

SIZE = 200_000
TEST = FinalTest(dpaudit.ApproximateDP(0.0), 800_000, 0.1)


def shifted(data, rng, shift=0.5, columns=1):
    rows = rng.laplace(size=(SIZE, 20))
    rows[:, :columns] += shift * data
    return rows


def entrants(sample):
    sides = (Outputs(sample(data, np.random.default_rng(3 + data))) for data in (0, 1))
    return {family.name for family in Contest(*sides, TEST, thorough=True, until=None)._entrants()}


def bound(sample):
    sides = (sample(data, np.random.default_rng(3 + data)) for data in (0, 1))
    return select_events(*sides, TEST, blindness=False)


@pytest.mark.slow
def test_of_many_rows_few_families_learn_from_all_where_an_event_stands_out():
    found = entrants(shifted)
    assert "the best column" in found
    # As good here, and dearer.
    assert not {"a weighted sum", "step functions of numbers in order"} & found
    # What looks for what is rare, or for what no other sees, always takes part.
    assert {"numbers that repeat", "the largest deviation", "boosted trees"} <= found


@pytest.mark.slow
def test_more_families_learn_from_all_rows_where_no_event_stands_out():
    weak = entrants(lambda data, rng: shifted(data, rng, 0.01))
    assert len(weak) > len(entrants(shifted))


@pytest.mark.slow
def test_a_corner_of_two_columns_is_found_beside_a_shift_of_another():
    def sample(data, rng):
        rows = shifted(data, rng)
        # Both are large together once in 125 outputs, and once in 540 on the other input.
        corner = rng.random(SIZE) < (0.008 if data else 0.008 / 4.3)
        rows[np.ix_(corner, (5, 7))] = 3 + rng.random((corner.sum(), 2))
        return rows

    # The shift alone has an epsilon of 0.5; together it is up to log(4.3) + 0.5.
    assert bound(sample).main.predicted > 1.4


@pytest.mark.slow
def test_the_parity_of_three_columns_is_found_beside_a_shift_of_another():
    def sample(data, rng):
        rows = rng.integers(0, 2, (SIZE, 20))
        rows[:, 0] |= data * (rng.random(SIZE) < 0.2)
        together = data * (rng.random(SIZE) < 0.6) == 1
        rows[together, 9] = rows[together][:, 4:7].sum(axis=1) % 2
        return rows

    # Without the parity: log(0.5 / 0.4) = 0.22.
    assert bound(sample).main.predicted > 0.45


@pytest.mark.slow
def test_a_rare_order_of_four_numbers_is_found_beside_a_shift_of_another():
    def sample(data, rng):
        rows = rng.laplace(size=(SIZE, 5))
        rows[:, 0] += 0.5 * data
        ordered = rng.random(SIZE) < (0.02 if data else 0.002)
        rows[ordered, 1:] = np.sort(rows[ordered, 1:], axis=1)
        return rows

    # Of 24 orders, this one has probability (1 / 24) * 0.98 + 0.02 and (1 / 24) * 0.998 + 0.002; the shift adds to it.
    assert bound(sample).main.predicted > math.log(0.0608 / 0.0436) + 0.2


@pytest.mark.slow
def test_a_rare_phase_is_found_beside_a_shift_of_another_column():
    def sample(data, rng):
        rows = np.round(1000 * rng.laplace(size=(SIZE, 4)))
        rows[:, 0] += 500 * data
        multiples = rng.random(SIZE) < (0.02 if data else 0.002)
        rows[multiples, 2] -= rows[multiples, 2] % 7
        return rows

    # The shift alone has 0.5.
    assert bound(sample).main.predicted > 0.52


@pytest.mark.slow
def test_a_jump_at_any_time_of_a_series_is_found_beside_a_shift():
    def sample(data, rng):
        series = rng.normal(size=(SIZE, 30)).cumsum(axis=1)
        jumps = rng.random(SIZE) < (0.02 if data else 0.002)
        after = np.arange(30) >= rng.integers(5, 25, SIZE)[:, None]
        return np.column_stack([rng.laplace(0.3 * data, 1.0, SIZE), series + 8.0 * (after & jumps[:, None])])

    found = bound(sample)
    # The jump alone has log(10) = 2.3, or 1.9 with so few.
    assert max(choice.predicted for choice in found.choices) > 1.5


@pytest.mark.slow
def test_two_numbers_that_seldom_are_nearly_equal_are_found_beside_a_shift():
    def sample(data, rng):
        rows = np.column_stack([rng.laplace(0.3 * data, 1.0, SIZE), rng.normal(0, 100, (SIZE, 2))])
        equal = rng.random(SIZE) < (0.02 if data else 0.002)
        rows[equal, 2] = rows[equal, 1] + 0.01 * rng.normal(size=equal.sum())
        return rows

    assert max(choice.predicted for choice in bound(sample).choices) > 1.7


def test_fractions_of_which_nothing_but_equal_ones_was_looked_at_are_no_pass():
    """A deadline that is over leaves out all families; with time, half-lines see that nothing differs."""
    rng = np.random.default_rng(0)
    sides = Outputs(rng.laplace(size=4000)), Outputs(rng.laplace(size=4000))
    guarantee = ApproximateDP(1.0)
    late, in_time = (select_events(*sides, FinalTest(guarantee, 4000, 0.01), until=until) for until in (0.0, None))
    assert "half-lines" in late.left_out
    assert late.unchecked
    assert late.overlooks(0.0, guarantee)
    assert not in_time.overlooks(0.0, guarantee)
