"""Scores of rows in which codes stand beside numbers."""

import numpy as np
import pytest
from scipy import stats

import dpaudit
from dpaudit.auditors.learning.coded_score import learn_coded
from dpaudit.auditors.learning.counts import FinalTest
from dpaudit.auditors.learning.learners import identity_transform, learn_additive
from dpaudit.auditors.learning.scores import score_from_json
from dpaudit.auditors.learning.selection import select_events
from dpaudit.auditors.learning.transforms import Coded, Identity
from dpaudit.auditors.outputs.outputs import as_outputs
from dpaudit.claims.guarantees import ApproximateDP

CODE, STOPPED = -1000.0, -2000.0


def rows_of(shift, size, rng):
    """Two numbers, or a code where a coin says so; then, where both are codes, so are the five columns behind them."""
    rows = rng.normal(shift, size=(size, 7))
    rows[:, 2:] = rng.normal(size=(size, 5))
    coins = rng.random((size, 2)) < 0.3 + 0.2 * shift
    rows[:, :2][coins] = CODE
    rows[coins.all(axis=1), 2:] = STOPPED
    return rows


def log_ratio(rows, shift):
    """Of rows of numbers on shift and on no shift: by the densities of the first two columns alone."""
    coded = rows[:, :2] == CODE
    of_codes = np.where(coded, np.log((0.3 + 0.2 * shift) / 0.3), np.log((0.7 - 0.2 * shift) / 0.7))
    of_numbers = np.where(coded, 0.0, stats.norm.logpdf(rows[:, :2], shift) - stats.norm.logpdf(rows[:, :2]))
    return (of_codes + of_numbers).sum(axis=1)


def identity_of(x, y):
    return Identity(as_outputs(x).columns_with(as_outputs(y)))


@pytest.mark.slow
def test_columns_that_depend_on_one_another_are_counted_once():
    rng = np.random.default_rng(0)
    x, y = rows_of(0.5, 40_000, rng), rows_of(0.0, 40_000, rng)
    new = np.concatenate([rows_of(0.5, 20_000, rng), rows_of(0.0, 20_000, rng)])
    true = log_ratio(new, 0.5)
    identity = identity_of(x, y)
    together = learn_coded(identity, as_outputs(x), as_outputs(y))(as_outputs(new))
    apart = learn_additive(identity_transform, identity.columns, as_outputs(x), as_outputs(y))(as_outputs(new))
    stopped = (new[:, 2:] == STOPPED).all(axis=1)
    # Cells make steps of what is linear. The log-ratio itself has a standard deviation of 0.67.
    assert np.sqrt(np.mean((together - true) ** 2)) < 0.15
    # Columns one by one say six times what both codes together say once.
    assert np.abs(together[stopped] - true[stopped]).max() < 0.1
    assert np.abs(apart[stopped] - true[stopped]).min() > 0.5


def test_extremes_and_counts_are_of_the_numbers_and_codes_of_each_row():
    rng = np.random.default_rng(1)
    rows = rows_of(0.0, 500, rng)
    rows[0] = CODE
    transform = Coded(identity_of(rows, rows).columns, (STOPPED, CODE))
    made = transform(as_outputs(rows))
    for row, new in zip(rows, made, strict=True):
        numbers = [value for value in row if value not in (CODE, STOPPED)]
        assert new[:7].tolist() == row.tolist()
        assert new[7:9].tolist() == ([min(numbers), max(numbers)] if numbers else [STOPPED, STOPPED])
        assert new[9:].tolist() == [np.sum(row == STOPPED), np.sum(row == CODE)]
    assert transform.named(7, 11) == "smallest number"
    assert transform.named(10, 11) == "occurrences of -1000"


@pytest.mark.parametrize(
    "rows", [np.random.default_rng(2).normal(size=(3000, 4)), np.random.default_rng(2).poisson(3.0, size=(3000, 4))]
)
def test_numbers_alone_and_whole_numbers_have_no_codes(rows):
    assert learn_coded(identity_of(rows, rows), as_outputs(rows), as_outputs(rows)) is None


def test_a_score_made_again_from_its_json_is_the_same():
    rng = np.random.default_rng(3)
    x, y = rows_of(0.5, 3000, rng), rows_of(0.0, 3000, rng)
    score = learn_coded(identity_of(x, y), as_outputs(x), as_outputs(y))
    again = score_from_json(score.to_json())
    assert np.array_equal(again(as_outputs(x)), score(as_outputs(x)))
    told = score.describe(0.5, above=True)
    (what, side), *rest = told.items()
    assert "of how often each of -2000 and -1000 occurs" in what
    assert side == ">= 0.5"
    numbers = "output[0] to output[6]"
    assert dict(rest) == {
        "codes are counted in": numbers,
        "smallest and largest": "of these that are not -2000 and -1000",
    }


def answers(queries, size, rng):
    """Noisy answers above a hidden noisy threshold: the numbers themselves, until there were two of them."""
    noisy = np.asarray(queries, float) + rng.laplace(scale=4.0, size=(size, len(queries)))
    above = noisy >= 1 + rng.laplace(scale=2.0, size=(size, 1))
    rows = np.where(above, noisy, CODE)
    rows[np.cumsum(above, axis=1) - above >= 2] = STOPPED
    return rows


@pytest.mark.slow
def test_a_chosen_score_learns_again_from_all_samples_and_its_event_keeps_its_part_of_them():
    rng = np.random.default_rng(4)
    x, y = (as_outputs(answers(queries, 60_000, rng)) for queries in ([2] * 9 + [0], [1] * 10))
    selection = select_events(x, y, FinalTest(ApproximateDP(0.0), 500_000, 0.05), blindness=False)
    main = selection.main
    assert main.event.score.to_json()["additive"]["transform"]["name"] == "coded"
    inside = sum(int(main.event.contains(side[30_000:]).sum()) for side in (x, y))
    assert inside == main.occurrences
    every, half = (learn_coded(identity_of(x, y), x[:rows], y[:rows]) for rows in (60_000, 30_000))
    assert np.array_equal(main.event.score(x), every(x))
    assert not np.array_equal(main.event.score(x), half(x))


@pytest.mark.slow
def test_codes_among_whole_numbers_of_lists_have_words():
    def sample(data, size, rng):
        shown = rng.random(size) > (0.5 if data else 0.1)
        return [
            [i if show else None, i // 2] for i, show in zip(rng.integers(0, 10**6, size).tolist(), shown, strict=True)
        ]

    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=2000, confidence=0.95, seed=1)
    assert bound.event
