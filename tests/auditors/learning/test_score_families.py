"""Families of scores: which are tried, in which order, and what happens to those that do not fit the budget."""

import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtri

import dpaudit
from dpaudit.auditors.learning import contest, learners
from dpaudit.auditors.learning import score_families as scorefamilies
from dpaudit.auditors.learning.bits import BitsScore
from dpaudit.auditors.learning.counts import FinalTest
from dpaudit.auditors.learning.residues import ResidueScore
from dpaudit.auditors.learning.score_families import FAMILIES, Allowance, Form
from dpaudit.auditors.learning.scores import ColumnScore
from dpaudit.auditors.learning.selection import select_events
from dpaudit.auditors.learning.transforms import Identity
from dpaudit.auditors.learning.trees import BoostedScore
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.outputs import Outputs
from dpaudit.auditors.sampling import pace


def coin(data, size, rng):
    return rng.integers(2, size=size)


TEST = FinalTest(dpaudit.ApproximateDP(1.0), 40_000, 0.1)


def rows(shift, size=4000, width=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(size, width)) + shift * (np.arange(width) == 1)


def sides(shift=1.0, **form):
    return rows(0.0, seed=1, **form), rows(shift, seed=2, **form)


def tried(monkeypatch, x, y, **options):
    """Names of the families that were fitted, in order."""
    names = []

    def noted(family):
        def fit(*arguments, **keywords):
            names.append(family.name)
            return family.fit(*arguments, **keywords)

        return replace(family, fit=fit)

    monkeypatch.setattr(contest, "FAMILIES", tuple(map(noted, FAMILIES)))
    return names, select_events(x, y, TEST, **options)


def test_names_are_distinct():
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)


@pytest.mark.slow
def test_the_cheapest_are_tried_first_and_trees_last(monkeypatch):
    x, y = sides()
    names, chosen = tried(monkeypatch, x, y)
    form = Form.of(Outputs(x[:2000]), Outputs(y[:2000]), thorough=True)
    cost = {family.name: family.work(form, 1) for family in FAMILIES}
    simple = [name for name in dict.fromkeys(names) if name != "boosted trees"]
    assert {"the best column", "a weighted sum", "pairs of columns", "hidden classes"} <= set(simple)
    assert [cost[name] for name in simple] == sorted(cost[name] for name in simple)
    assert list(dict.fromkeys(names))[-1] == "boosted trees"
    assert chosen.left_out == ()


@pytest.mark.slow
@pytest.mark.parametrize("form", [{"width": 300}, {"width": 30}], ids=["wide", "narrow"])
def test_what_does_not_suit_a_form_is_not_tried(monkeypatch, form):
    names, _ = tried(monkeypatch, *sides(**form))
    assert ("boosted trees" in names) == ("step functions of differences" in names) == (form["width"] < 256)
    assert "half-lines" not in names
    assert "a weighted sum" in names


@pytest.mark.slow
def test_what_does_not_fit_is_left_out_and_named(monkeypatch):
    monkeypatch.setattr(scorefamilies, "_TIMES_SAMPLING", 0)
    # The outputs are learned from and judged on at 20,000 numbers each.
    monkeypatch.setattr(scorefamilies, "_LEAST_WORK", 120_000)
    x, y = sides()
    names, chosen = tried(monkeypatch, x, y)
    assert {"hidden classes", "boosted trees"} <= set(chosen.left_out)
    assert names
    assert not set(names) & set(chosen.left_out)
    assert chosen.main.predicted > 0
    bound = dpaudit.epsilon_lower_bound(
        lambda data, size, rng: rng.normal(size=(size, 5)) + data, 0.0, 1.0, samples=10_000
    )
    assert "hidden classes" in bound.left_out
    assert dpaudit.epsilon_lower_bound(coin, 0, 1, samples=10_000).left_out == ()


@pytest.mark.slow
def test_equal_samples_give_equal_events_whatever_the_clock(monkeypatch):
    x, y = sides()
    first = select_events(x, y, TEST)
    monkeypatch.setattr(scorefamilies, "clock", lambda: pytest.fail("the clock was looked at without a deadline"))
    again = select_events(x, y, TEST)
    assert [(choice.event.threshold, choice.predicted) for choice in first.choices] == [
        (choice.event.threshold, choice.predicted) for choice in again.choices
    ]


def test_a_deadline_leaves_out_what_takes_longer(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(scorefamilies, "clock", lambda: now[0])
    form = Form("f", False, Columns(), 10, True)
    cheap, dear = (next(f for f in FAMILIES if f.name == name) for name in ("a weighted sum", "hidden classes"))
    allowance = Allowance.of(1000, 10, 101.0)
    work = cheap.work(form, 10_000)
    assert allowance.fits(cheap, work)

    def slowly():
        now[0] += 0.3

    allowance.spend(cheap, work, slowly)
    # It took 0.3 s, so that what costs about seven times as much takes longer than the 0.7 s left.
    assert not allowance.fits(dear, dear.work(form, 10_000))
    assert allowance.fits(cheap, work)
    assert allowance.left_out == ["hidden classes"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["half-lines of columns", "numbers that repeat", "step functions", "bits", "residues"])
def test_what_looks_at_every_column_ends_with_the_time_for_it(monkeypatch, name):
    """The clock goes on by a second whenever it is looked at, and there are more columns than seconds."""
    now = iter(range(10**6))
    monkeypatch.setattr(pace, "clock", lambda: next(now))
    rng, form = np.random.default_rng(1), Columns()
    x, y = (Outputs(np.round(rng.normal(size=(300, 200)), 1)) for _ in range(2))
    learn = {
        "half-lines of columns": lambda: learners.learn_best_half_line(form, x, y),
        "numbers that repeat": lambda: learners.learn_repeats(Identity(form), x, y),
        "step functions": lambda: learners.learn_additive(learners.identity_transform, form, x, y),
        "bits": lambda: BitsScore._of_rows(form, False, x.raw, y.raw),
        "residues": lambda: ResidueScore.fit(form, x, y),
    }[name]
    learn()
    assert next(now) == 0
    with pytest.raises(pace.TooLongError), pace.ready_by(100.0):
        learn()
    assert next(now) == 101
    learn()


def test_trees_are_not_begun_where_importing_their_library_would_take_too_long(monkeypatch):
    monkeypatch.setattr(pace, "clock", lambda: 100.0)
    x, y = (np.random.default_rng(1).normal(size=(200, 2)) for _ in range(2))
    learn = partial(BoostedScore.fit, x, y, Columns(), (), rounds=2)
    learn()  # which imports it
    with pace.ready_by(101.0):
        learn()
    monkeypatch.delitem(sys.modules, "sklearn.ensemble")
    with pytest.raises(pace.TooLongError), pace.ready_by(101.0):
        learn()
    assert "sklearn.ensemble" not in sys.modules


def test_a_family_that_is_ended_is_left_out(monkeypatch):
    now = [100.0]
    for module in (scorefamilies, pace):
        monkeypatch.setattr(module, "clock", lambda: now[0])
    allowance = Allowance.of(1000, 10, 101.0)

    def slowly():
        now[0] += 2.0
        pace.check_time()

    assert allowance.spend(FAMILIES[0], 1.0, slowly) is None
    assert allowance.left_out == [FAMILIES[0].name]
    pace.check_time()


@pytest.mark.slow
def test_where_time_is_over_nothing_is_learned_and_nothing_is_said_to_be_hidden(monkeypatch):
    """All families would notice that rows of identifiers may hide anything."""
    rng = np.random.default_rng(1)
    x, y = (np.column_stack([rng.integers(0, 2**60, 2000), rng.integers(0, 2, 2000)]) for _ in range(2))
    assert select_events(x, y, TEST).identified
    for module in (scorefamilies, pace):
        monkeypatch.setattr(module, "clock", lambda: 100.0)
    late = select_events(x, y, TEST, until=100.0)
    assert (late.identified, late.blind) == (None, False)
    assert "counts of outcomes" in late.left_out


@pytest.mark.slow
def test_a_difference_in_a_column_is_noticed_by_the_first_that_sees_it(monkeypatch):
    """Blindness is a question of whether anything sees a planted difference: what is dear is not asked."""
    names, chosen = tried(monkeypatch, rows(0.0, seed=1), rows(0.0, seed=2))
    assert not chosen.blind
    assert names.count("hidden classes") == 1
    assert names.count("the best column") == 2


def weak_effect(seed, size=4000, shift=0.06, scale=1.0):
    rng = np.random.default_rng(seed)
    x, y = rng.laplace(size=size), scale * rng.laplace(size=size) + shift
    return select_events(x, y, FinalTest(dpaudit.ApproximateDP(1.0), 4 * size, 0.1), blindness=False)


@pytest.mark.slow
def test_half_lines_are_tested_of_a_weak_shift_though_luck_favours_a_learned_score():
    """Of effects as small as their errors, luck often makes the distance from the middle look better."""
    chosen = [weak_effect(seed) for seed in range(40)]
    for found in chosen:
        assert sum(found.shares) == pytest.approx(1.0)
        assert min(found.shares) > 0
        assert len({(choice.event.threshold, choice.event.above) for choice in found.choices[:2]}) == min(
            2, len(found.choices)
        )
    halves = [[c for c in found.choices if getattr(c.event.score, "centre", 0) is None] for found in chosen]
    assert sum(any(c.rows == 4000 and c.p_hits + c.q_hits > 800 for c in found) for found in halves) >= 38
    # Luck seldom costs them more than a little of the error probability.
    assert np.mean([found.shares[0] for found in chosen]) > 0.85


@pytest.mark.slow
def test_a_learned_score_is_tested_where_the_counts_are_likelier_by_it():
    """Wider noise: the distance from the middle tells, and either half-line tells less."""
    chosen = [weak_effect(seed, shift=0.0, scale=1.09) for seed in range(20)]
    common = [(found.main, *found.beside) for found in chosen]
    learned = [any(c.event.score.centre is not None for c in found if c.rows == 2000) for found in common]
    assert sum(learned) >= 15


@pytest.mark.slow
@pytest.mark.parametrize("name", ["laplace", "norm", "logistic"])
def test_thresholds_of_weak_effects_are_good_for_noise_of_every_kind(name):
    """The bound to be expected of the half-line chosen, by exact probabilities, against that of the median."""
    law, shift, size = getattr(stats, name)(), 0.1, 1600
    laws = law.cdf, lambda at: law.cdf(at - shift)

    def expected(threshold, above, part):
        p, q = (float(1 - cdf(threshold) if above else cdf(threshold)) for cdf in laws)
        p, q = max(p, q), min(p, q)
        return np.log(p / q) + ndtri(0.1 * part) * np.sqrt((1 / p + 1 / q) / (4 * size))

    reached = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x, y = (law.rvs(size=size, random_state=rng) + d for d in (0.0, shift))
        found = select_events(x, y, FinalTest(dpaudit.ApproximateDP(0.0), 4 * size, 0.1), blindness=False)
        events = [
            (choice.event, part)
            for choice, part in zip(found.choices, found.shares, strict=True)
            if isinstance(choice.event.score, ColumnScore) and choice.event.score.centre is None
        ]
        reached.append(max([0.0, *(expected(event.threshold, event.above, part) for event, part in events)]))
    assert np.mean(reached) > 0.9 * expected(0.0, False, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("depends", [False, True])
def test_hidden_classes_are_given_up_where_columns_are_independent(depends):
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=(20_000, 20)) + 2.0 * depends * rng.normal(size=(20_000, 1)) for _ in range(2))
    found = learners.learn_mixture(learners.identity_transform(Columns(), x, y), x, y)
    assert (found is not None) == depends


@pytest.mark.parametrize("correlation", [0.0, 0.05])
def test_numbers_are_predicted_only_where_they_are_correlated(correlation):
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=(20_000, 6)) + correlation**0.5 * rng.normal(size=(20_000, 1)) for _ in range(2))
    # A difference of the inputs is no correlation.
    found = learners.innovations_transform(Columns(), x, y + 0.5)
    assert (found is not None) == (correlation > 0)


def test_pairs_are_found_among_many_columns():
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=(20_000, 12)) for _ in range(2))
    y[:, 7] = np.abs(y[:, 7]) * np.sign(y[:, 2])
    found = learners.learn_pairs(learners.identity_transform(Columns(), x, y), x, y)
    assert [2, 7] in found.pairs.tolist()


def test_columns_are_counted_as_one_by_one():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30_000, 5))
    y = 1.1 * x + 0.2
    x[:, 2], x[3, 4] = np.round(x[:, 2], 1), np.inf
    x[:, 3] = y[:, 3] = 3.0
    for a, b, table in zip(x.T, y.T, learners.Table.fit_columns(x, y), strict=True):
        alone = learners.Table.fit_quickly(a, b)
        assert np.array_equal(table.edges, alone.edges)
        assert np.array_equal(table.values, alone.values)


@pytest.mark.slow
@pytest.mark.parametrize("constant", [False, True])
def test_a_rough_look_at_correlations_decides_as_an_exact_one(monkeypatch, constant):
    """Around the correlations from which on columns predict one another."""
    decided = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        common = 0.01 * (seed % 10) ** 1.5 * rng.normal(size=(2, 3000, 1))
        x, y = (rng.normal(size=(3000, 6)) + each for each in common)
        if constant:
            x[:, 2] = y[:, 2] = 0.1
        y[:, 1] += 0.3
        roughly = learners.innovations_transform(Columns(), x, y)
        with monkeypatch.context() as patch:
            patch.setattr(learners, "_maybe_correlated", lambda *_: True)
            exactly = learners.innovations_transform(Columns(), x, y)
        decided.append((roughly is None, exactly is None))
    assert all(rough == exact for rough, exact in decided)
    assert {rough for rough, _ in decided} == {True, False}
