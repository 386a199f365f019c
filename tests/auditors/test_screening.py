"""Which scores are learned from all outputs, by what a few of them show."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import dpaudit
from dpaudit.auditors import learners, selection
from dpaudit.auditors.columns import Columns
from dpaudit.auditors.scorefamilies import FAMILIES
from dpaudit.auditors.scores import ColumnScore
from dpaudit.auditors.screening import Candidate, gains_little, tail_ranks, worth_learning
from dpaudit.auditors.selection import Counts, FinalTest, select_events

TEST = FinalTest(dpaudit.ApproximateDP(0.0), 100_000, 0.01)


def test_ranks_are_the_logarithms_of_the_part_of_the_outputs_that_is_as_far_out():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=50) + 2.0, rng.normal(size=50)
    places = stats.rankdata(np.r_[x, y])
    ranks = np.concatenate(tail_ranks(x, y), axis=1)
    assert np.allclose(ranks, [np.log(100 / (101 - places)), np.log(100 / places)])


def test_ranks_do_not_depend_on_which_way_a_score_runs():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=300) - 0.5, rng.normal(size=300)
    for side, turned in zip(tail_ranks(x, y), tail_ranks(-x, -y), strict=True):
        assert np.array_equal(side, turned)


def test_equal_scores_say_nothing():
    x, y = tail_ranks(np.zeros(5000), np.zeros(5000))
    assert np.abs(x.mean(axis=1) - y.mean(axis=1)).max() < 0.01


def numbers(size, shift=0.5, width=4, seed=0):
    """Rows of normal numbers on two inputs, between which all columns are shifted."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(size, width)) + shift, rng.normal(size=(size, width))


def test_a_score_gains_little_over_one_that_knows_more():
    x, y = numbers(5000)
    of_all, of_one, nearly = (
        (part(x), part(y)) for part in (lambda v: v.sum(1), lambda v: v[:, 0], lambda v: v @ [1, 1.01, 1, 0.99])
    )
    assert gains_little(of_one, of_all)
    assert gains_little(nearly, of_all)
    assert not gains_little(of_all, of_one)


def candidates(scores, works, size=5000, **form):
    judged, learned, others = (numbers(size, seed=seed, **form) for seed in (3, 4, 5))
    return [
        Candidate(
            table=Counts.counted(ColumnScore(None), tuple(map(score, judged))),
            learned=lambda score=score: tuple(map(score, learned)),
            others=lambda score=score: tuple(map(score, others)),
            work=work,
        )
        for score, work in zip(scores, works, strict=True)
    ]


SCORES = [lambda v: v[:, 0], lambda v: v.sum(axis=1), lambda v: v @ [1.0, 1.0, 1.0, 1.01], lambda v: v[:, 0] * v[:, 1]]


def test_the_cheapest_of_the_scores_that_may_win_is_learned():
    assert worth_learning(candidates(SCORES, [1, 2, 3, 4]), TEST) == [1]
    assert worth_learning(candidates(SCORES, [1, 3, 2, 4]), TEST) == [2]


def test_nothing_is_left_out_where_no_event_stands_out():
    assert worth_learning(candidates(SCORES, [1, 2, 3, 4], shift=0.03), TEST) == [0, 1, 2, 3]


def test_a_score_that_sees_something_rare_and_decisive_is_learned():
    """Few outputs show an event that hardly any other score has, and that forces far more."""

    def rare(values):
        return np.where(values[:, 1] > 2.6, 10.0 * (values[:, 0] > 0.5), 0.0)

    x, y = numbers(20_000, shift=0.0, seed=5)
    x[:, 2:] += 0.2
    y[:, 0] -= 20.0 * (y[:, 1] > 2.6)
    both = [lambda v: v[:, 2:].sum(axis=1), rare]
    made = [
        Candidate(
            table=Counts.counted(ColumnScore(None), (score(x), score(y))),
            learned=lambda score=score: (score(x), score(y)),
            others=lambda score=score: (score(x), score(y)),
            work=1.0,
        )
        for score in both
    ]
    assert 1 in worth_learning(made, TEST)


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.5, 0.02])
def test_families_learn_from_all_outputs_only_where_they_may_win(monkeypatch, shift):
    monkeypatch.setattr(selection, "_SCREEN_CELLS", 1)
    monkeypatch.setattr(selection, "_LEAST_SCREENED", 1500)
    seen = []

    def noted(family):
        def fit(form, x, y, *rest, **keywords):
            seen.append((family.name, len(x)))
            return family.fit(form, x, y, *rest, **keywords)

        return replace(family, fit=fit)

    monkeypatch.setattr(selection, "FAMILIES", tuple(map(noted, FAMILIES)))
    x, y = numbers(12_000, shift)
    found = select_events(x, y, TEST, blindness=False)
    whole = {name for name, rows in seen if rows == 6000 and name != "boosted trees"}
    always = {"counts of outcomes", "numbers that repeat", "the largest deviation", "lowest bits", "residues"}
    always.add("codes beside numbers")
    if shift == 0.5:
        # The sum of the columns is the best score there is.
        assert whole == always | {"a weighted sum"}
        assert found.main.predicted > 1
    else:
        assert len(whole) > 12


def rows(size=6000, width=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng, rng.normal(size=(size, width)), rng.normal(size=(size, width))


def hints(x, y):
    return learners.hints_of_columns(learners.identity_transform(Columns(), x, y), x, y)


@pytest.mark.parametrize("seed", range(3))
def test_independent_columns_give_no_hints(seed):
    _, x, y = rows(seed=seed)
    # That the inputs differ in several columns makes these depend on each other only in both inputs together.
    found = hints(x, y + 0.4)
    assert not found.pairs
    assert not found.dependence


@pytest.mark.parametrize("kind", ["shift", "scale", "one pair"])
def test_columns_that_depend_on_something_hidden_give_a_hint(kind):
    rng, x, y = rows()
    if kind == "shift":
        x += 0.5 * rng.normal(size=(len(x), 1))
    elif kind == "scale":
        y *= np.where(rng.random((len(y), 1)) < 0.5, 1.0, 1.6)
    else:
        x[:, 1] += 0.15 * x[:, 4]
    assert hints(x, y).dependence


def test_pairs_that_differ_between_the_inputs_give_a_hint():
    _, x, y = rows()
    x[:, 3] = np.abs(x[:, 3]) * np.sign(x[:, 0])
    assert hints(x, y).pairs


def test_columns_that_do_not_vary_give_no_hints():
    found = hints(np.ones((50, 3)), np.ones((50, 3)))
    assert not found.pairs
    assert not found.dependence
