"""Scores come back from JSON as they were, and events contain what they say they contain."""

import json
import math
from functools import partial

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors import learners
from dpaudit.auditors.outputs import Columns
from dpaudit.auditors.rowscores import AdditiveScore, Transform
from dpaudit.auditors.scores import ColumnScore, OutcomeScore, score_from_json, scores_of
from dpaudit.auditors.selection import FinalTest, ThresholdEvent, select_events
from dpaudit.auditors.trees import BoostedScore

pytestmark = pytest.mark.slow

SEED = 20260302


def structured(items):
    outputs = np.empty(len(items), dtype=object)
    outputs[:] = items
    return outputs


def laplace(data, size, rng):
    return data + rng.laplace(size=size)


def whole(dtype):
    return lambda data, size, rng: (rng.geometric(0.4 + 0.2 * data, size) % 100).astype(dtype)


def fraction(dtype):
    return lambda data, size, rng: (rng.geometric(0.4 + 0.2 * data, size) / 8).astype(dtype)


def words(data, size, rng):
    return np.where(rng.random(size) < 0.3 + 0.3 * data, "heads", "é\U0001f600")


def coins(data, size, rng):
    return rng.random((size, 6)) < 0.4 + 0.2 * data


def numbers(data, size, rng):
    return 0.5 * data + rng.laplace(size=(size, 5))


def sums(data, size, rng):
    return np.cumsum(0.5 * data + rng.normal(size=(size, 5)), axis=1)


def xor(data, size, rng):
    u = rng.random(size)
    return np.column_stack([u, np.where(rng.random(size) < 0.2 + 0.6 * data, u, 1 - u) + 0.01 * rng.random(size)])


def mixed(data, size, rng):
    draws = zip(data + rng.laplace(size=size), rng.random(size), rng.integers(0, 3, size), strict=True)
    return structured([(float(v), None) if u < 0.2 else (float(v), "ab"[k % 2], int(k)) for v, u, k in draws])


def plane(data, size, rng):
    return data + rng.normal(size=(size, 2)) @ np.array([1, 1j])


def sets(data, size, rng):
    return structured([set(np.flatnonzero(row).tolist()) for row in rng.random((size, 4)) < 0.3 + 0.3 * data])


IDENTITY = Transform("identity", Columns())
SCORES = {
    "bits": (OutcomeScore.fit, lambda d, s, r: r.random(s) < 0.3 + 0.4 * d),
    **{f"outcomes {t}": (OutcomeScore.fit, whole(t)) for t in ("int64", "int8", "uint64")},
    **{f"outcomes {t}": (OutcomeScore.fit, fraction(t)) for t in ("float64", "float32", "float16")},
    "outcomes inf": (OutcomeScore.fit, lambda d, s, r: np.where(r.random(s) < 0.3 + 0.4 * d, np.inf, -np.inf)),
    "outcomes words": (OutcomeScore.fit, words),
    "outcomes rows": (OutcomeScore.fit, coins),
    "outcomes sets": (OutcomeScore.fit, sets),
    "outcomes complex": (OutcomeScore.fit, lambda d, s, r: whole("int64")(d, s, r) * (1 + 1j)),
    "half-line": (partial(learners._half_line, True), laplace),
    "half-line of one column": (partial(learners._half_line, False), lambda d, s, r: laplace(d, s, r)[:, None]),
    "distance": (partial(learners._distance, True), laplace),
    "table": (partial(learners._whole_table, IDENTITY), laplace),
    "best half-line": (learners._best_half_line, numbers),
    "additive": (partial(learners._additive, learners._identity, Columns()), numbers),
    "additive coins": (partial(learners._additive, learners._identity, Columns()), coins),
    "differences": (partial(learners._additive, learners._differences, Columns()), sums),
    "innovations": (partial(learners._additive, learners._innovations, Columns()), sums),
    "repeats": (partial(learners._repeats, IDENTITY), lambda d, s, r: np.round(numbers(d, s, r), 1)),
    "repeats structured": (
        lambda x, y: learners._repeats(Transform("identity", Columns.fit(np.r_[x, y])), x, y),
        lambda d, s, r: structured([(round(v, 1), None) for v in laplace(d, s, r).tolist()]),
    ),
    "pooled": (partial(learners._pooled, learners._identity, Columns()), numbers),
    "pooled innovations": (partial(learners._pooled, learners._innovations, Columns()), sums),
    "linear": (partial(learners._linear, IDENTITY), numbers),
    "extreme": (partial(learners._extreme, IDENTITY), numbers),
    "pairs": (partial(learners._pairs, IDENTITY), xor),
    "additive complex": (partial(learners._additive, learners._identity, Columns()), plane),
    "additive structured": (
        lambda x, y: learners._additive(learners._identity, Columns.fit(np.r_[x, y]), x, y),
        mixed,
    ),
    "pairs structured": (
        lambda x, y: learners._pairs(Transform("identity", Columns.fit(np.r_[x, y])), x, y),
        lambda d, s, r: structured([(float(a), float(b), None) for a, b in xor(d, s, r)]),
    ),
}


def fitted(name):
    fit, sample = SCORES[name]
    rng = np.random.default_rng(SEED)
    score = fit(sample(0, 8000, rng), sample(1, 8000, rng))
    return score, [sample(data, 3000, rng) for data in (0, 1)]


@pytest.mark.parametrize("name", SCORES)
def test_a_score_from_json_scores_fresh_outputs_alike(name):
    score, fresh = fitted(name)
    again = score_from_json(json.loads(json.dumps(score.to_json())))
    assert type(again) is type(score)
    for outputs in fresh:
        assert np.array_equal(again(outputs), score(outputs))
    assert again.to_json() == score.to_json()


@pytest.mark.parametrize("name", SCORES)
def test_a_score_tells_the_inputs_apart_and_puts_the_first_one_first(name):
    score, (of_x, of_y) = fitted(name)
    x, y = score(of_x), score(of_y)
    assert x.shape == y.shape == (3000,)
    assert np.isfinite(x).all() or "half-line" in name
    if not isinstance(score, ColumnScore) and name != "extreme":
        # By four standard errors of the difference of their means.
        assert x.mean() - y.mean() > 4 * math.sqrt((x.var() + y.var()) / 3000)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCORES)
def test_the_score_of_an_output_does_not_depend_on_its_company(name):
    score, (outputs, _) = fitted(name)
    alone = np.concatenate([score(outputs[i : i + 1]) for i in range(100)])
    assert score(outputs)[:100] == pytest.approx(alone, abs=1e-9)
    assert scores_of(score, outputs) == pytest.approx(score(outputs), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize("name", SCORES)
def test_an_event_from_json_contains_the_same_outputs(name, above):
    score, fresh = fitted(name)
    event = ThresholdEvent(score, float(np.quantile(score(fresh[0]), 0.3)), above)
    again = ThresholdEvent.from_json(json.loads(json.dumps(event.to_json())))
    for outputs in fresh:
        assert np.array_equal(again.contains(outputs), event.contains(outputs))
    json.dumps(event.describe(), default=str)


def described(event, outputs):
    """Read the description of a half-line or of intervals, independently of the score."""
    ((what, condition),) = event.describe().items()
    name = what.split()[0] if what.endswith("in [from, to)") else what.strip("|").split(" - ")[0]
    values = outputs if name == "output" else outputs[:, int(name[len("output[") : -1])]
    if what.endswith("in [from, to)"):
        return np.any([(values >= low) & (values < high) for low, high in condition], axis=0)
    if what.startswith("|"):
        # "|output - -0.5|"
        values = np.abs(values - float(what.strip("|").split(" - ", 1)[1]))
    side, threshold = condition.split()
    return values >= float(threshold) if side == ">=" else values <= float(threshold)


@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize(
    "name", ["half-line", "half-line of one column", "distance", "best half-line", "table", "additive of one column"]
)
def test_descriptions_of_half_lines_and_intervals_are_the_event(name, above):
    if name == "additive of one column":
        table = fitted("table")[0].tables[0]
        nothing = type(table)(np.empty(0), np.array([0.25]))
        score, fresh = AdditiveScore(IDENTITY, (nothing, table, nothing)), fitted("additive")[1]
        fresh = [outputs[:, :3] for outputs in fresh]
    else:
        score, fresh = fitted(name)
    for level in (0.0, 0.02, 0.3, 0.7, 1.0):
        event = ThresholdEvent(score, float(np.quantile(score(fresh[0]), level, method="nearest")), above)
        for outputs in fresh:
            assert np.array_equal(described(event, outputs), event.contains(outputs))


def test_descriptions_of_outcomes_list_the_event():
    score, fresh = fitted("outcomes int64")
    for above in (True, False):
        for threshold in np.unique(score.ratios):
            event = ThresholdEvent(score, float(threshold), above)
            told = event.describe()
            listed = [told] if not isinstance(told, dict) else told["any of"]
            outputs = np.concatenate(fresh)
            known = np.isin(outputs, score.outcomes)
            assert np.array_equal(np.isin(outputs[known], listed), event.contains(outputs[known]))
            others = isinstance(told, dict) and "or" in told
            assert event.contains(np.array([999])).tolist() == [others]


def test_long_lists_of_outcomes_are_cut_and_counted():
    rng = np.random.default_rng(SEED)
    x, y = rng.integers(0, 100, (2, 5000))
    told = ThresholdEvent(OutcomeScore.fit(x, y), -100.0, True).describe()
    assert len(told["any of"]) == 24
    assert told["and others, altogether"] == 100


def test_the_score_of_an_outcome_is_its_log_ratio():
    x, y = np.array([1] * 30 + [2] * 10), np.array([1] * 5 + [2] * 14 + [3])
    score = OutcomeScore.fit(x, y)
    # Half a count is added to each; twice as many samples of x halve the ratio. 3 was seen once, 4 never.
    expected = [math.log(30.5 / 5.5 / 2), math.log(10.5 / 14.5 / 2), 0, 0]
    assert score(np.array([1, 2, 3, 4])) == pytest.approx(expected)
    assert OutcomeScore.fit(np.array([1.5]), np.array([2.5])) is None


def test_innovations_are_what_the_numbers_before_do_not_predict():
    rng = np.random.default_rng(SEED)
    factor = np.tril(rng.normal(size=(4, 4))) + 3 * np.eye(4)
    x, y = (rng.normal(size=(50_000, 4)) @ factor.T for _ in range(2))
    transform = learners._innovations(Columns(), x, y)
    made = transform(x)
    correlation = np.corrcoef(np.c_[made, x], rowvar=False)[:4]
    assert np.abs(correlation[:, :4] - np.eye(4)).max() < 0.02
    # Each keeps the scale that the factor's diagonal gives it, and the numbers before it say nothing of it.
    assert made.std(axis=0) == pytest.approx(np.abs(np.diag(factor)), rel=0.03)
    assert np.abs(np.tril(correlation[:, 4:], -1)).max() < 0.02


def test_differences_are_those_of_numpy():
    rows = np.random.default_rng(SEED).normal(size=(10, 3))
    assert np.array_equal(Transform("differences", Columns())(rows), np.c_[rows[:, 0], rows[:, 1:] - rows[:, :-1]])


def test_trees_are_learned_again_and_alike():
    rng = np.random.default_rng(SEED)
    x, y = xor(0, 4000, rng), xor(1, 4000, rng)
    first, again = (BoostedScore.fit(x, y, Columns(), (), rounds=10) for _ in range(2))
    assert first.to_json() is None
    assert ThresholdEvent(first, 0.0, True).to_json() is None
    assert np.array_equal(first(x), again(x))
    assert first(x).mean() > 0.1 > -0.1 > first(y).mean()


def test_a_constant_column_is_not_the_one_that_differs_most():
    rng = np.random.default_rng(SEED)
    rows = [np.column_stack([np.zeros(2000), rng.integers(0, 2, 2000), d + rng.normal(size=2000)]) for d in (0, 0.3)]
    assert learners._best_half_line(*rows).column == 2


@pytest.mark.parametrize("raw", [{}, {"kind": "unknown"}, {"kind": "column"}, {"kind": "linear", "low": "x"}])
def test_what_is_no_score_is_refused(raw):
    with pytest.raises((KeyError, TypeError, ValueError)):
        score_from_json(raw)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.0, 0.05])
@pytest.mark.parametrize("sample", [laplace, whole("int64"), coins, mixed])
def test_chosen_events_have_the_counts_that_they_are_said_to_have(sample, delta):
    rng = np.random.default_rng(SEED)
    x, y = (sample(data, 4001, rng) for data in (0, 1))
    selection = select_events(x, y, FinalTest(dpaudit.ApproximateDP(1.0, delta), 20_000, 0.01))
    for choice in selection.choices:
        counts = [int(choice.event.contains(side[len(side) - choice.rows :]).sum()) for side in (x, y)]
        assert [choice.p_hits, choice.q_hits] == (counts[::-1] if choice.reverse else counts)
        # What is not learned is judged on all samples.
        assert choice.rows in (2001, 4001)
        assert choice.p_hits > choice.q_hits
        assert choice.steepest >= 0


def test_an_event_of_outputs_of_another_form_is_refused():
    event = ThresholdEvent(ColumnScore(None), 0.5, True)
    assert event.contains(np.array([0.0, 1.0])).tolist() == [False, True]
    with pytest.raises(dpaudit.CheckError, match="outputs of another form"):
        event.contains(np.zeros((2, 3)))
