"""Scores come back from JSON as they were, and events contain what they say they contain."""

import json
import math
from functools import partial

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.learning import learners
from dpaudit.auditors.learning.bits import BitsScore
from dpaudit.auditors.learning.counts import FinalTest, ThresholdEvent
from dpaudit.auditors.learning.groups import learn_groups
from dpaudit.auditors.learning.mixtures import MixtureScore
from dpaudit.auditors.learning.packed import learn_bits, unpacked_transform
from dpaudit.auditors.learning.parities import learn_parities
from dpaudit.auditors.learning.residues import ResidueScore
from dpaudit.auditors.learning.row_scores import AdditiveScore, CoordinateScore
from dpaudit.auditors.learning.scores import ColumnScore, OutcomeScore, score_from_json, scores_of
from dpaudit.auditors.learning.selection import select_events
from dpaudit.auditors.learning.transforms import Differences, Identity
from dpaudit.auditors.learning.trees import BoostedScore
from dpaudit.auditors.learning.wholes import learn_coordinate, learn_successions, learn_totals
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.outputs import Outputs

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


def hadamard(data, size, rng):
    index = rng.integers(0, 256, size)
    return np.column_stack([index, (-1) ** ((index >> 3 * data & 1) + (rng.random(size) < 0.2))])


def filters(data, size, rng):
    """Bits of a filter as one whole number, of which two are likelier."""
    bits = rng.random((size, 12)) < 0.4
    bits[:, [2 * data, 7]] |= rng.random((size, 2)) < 0.5
    return bits @ (1 << np.arange(12))


def sums(data, size, rng):
    return np.cumsum(0.5 * data + rng.normal(size=(size, 5)), axis=1)


def xor(data, size, rng):
    u = rng.random(size)
    return np.column_stack([u, np.where(rng.random(size) < 0.2 + 0.6 * data, u, 1 - u) + 0.01 * rng.random(size)])


def history(data, size, rng):
    """States that follow one another at random, but for 1 after 2, which one input seldom has."""
    rows = rng.integers(3, size=(size, 12))
    rows[:, 1:][(rows[:, :-1] == 2) & (rows[:, 1:] == 1) & (rng.random((size, 11)) < 0.8 * data)] = 0
    return rows


def in_groups(data, size, rng):
    kind = rng.integers(3, size=size)
    return np.column_stack([kind, rng.laplace(size=size) + data * (kind - 1)])


def mixed(data, size, rng):
    draws = zip(data + rng.laplace(size=size), rng.random(size), rng.integers(0, 3, size), strict=True)
    return structured([(float(v), None) if u < 0.2 else (float(v), "ab"[k % 2], int(k)) for v, u, k in draws])


def plane(data, size, rng):
    return data + rng.normal(size=(size, 2)) @ np.array([1, 1j])


def sets(data, size, rng):
    return structured([set(np.flatnonzero(row).tolist()) for row in rng.random((size, 4)) < 0.3 + 0.3 * data])


def low_bit(data, size, rng):
    bits = rng.laplace(size=size).view(np.uint64) & ~np.uint64(1)
    return (bits | (rng.random(size) < 0.2 + 0.6 * data).astype(np.uint64)).view(np.float64)


def coarse(data, size, rng):
    drawn = rng.laplace(size=size)
    return np.where(rng.random(size) < 0.2 + 0.6 * data, np.round(drawn * 1024) / 1024, drawn)


def last_digit(data, size, rng):
    digits = np.where(rng.random(size) < 0.2 + 0.6 * data, 3, 8)
    return 10 * np.rint(rng.laplace(scale=1e4, size=size)).astype(int) + digits


IDENTITY = Identity(Columns())
SCORES = {
    "bits": (OutcomeScore.fit, lambda d, s, r: r.random(s) < 0.3 + 0.4 * d),
    **{f"outcomes {t}": (OutcomeScore.fit, whole(t)) for t in ("int64", "int8", "uint64")},
    **{f"outcomes {t}": (OutcomeScore.fit, fraction(t)) for t in ("float64", "float32", "float16")},
    "outcomes inf": (OutcomeScore.fit, lambda d, s, r: np.where(r.random(s) < 0.3 + 0.4 * d, np.inf, -np.inf)),
    "outcomes words": (OutcomeScore.fit, words),
    "outcomes rows": (OutcomeScore.fit, coins),
    "outcomes sets": (OutcomeScore.fit, sets),
    "outcomes complex": (OutcomeScore.fit, lambda d, s, r: whole("int64")(d, s, r) * (1 + 1j)),
    "half-line": (lambda x, y: ColumnScore(None), laplace),
    "half-line of one column": (
        lambda x, y: ColumnScore(0),
        lambda d, s, r: laplace(d, s, r)[:, None],
    ),
    "distance": (partial(learners.learn_distance, ColumnScore(None)), laplace),
    "table": (partial(learners.learn_whole_table, IDENTITY), laplace),
    "best half-line": (partial(learners.learn_best_half_line, Columns()), numbers),
    "additive": (partial(learners.learn_additive, learners.identity_transform, Columns()), numbers),
    "additive coins": (partial(learners.learn_additive, learners.identity_transform, Columns()), coins),
    "differences": (partial(learners.learn_additive, learners.differences_transform, Columns()), sums),
    "innovations": (partial(learners.learn_additive, learners.innovations_transform, Columns()), sums),
    "repeats": (partial(learners.learn_repeats, IDENTITY), lambda d, s, r: np.round(numbers(d, s, r), 1)),
    "repeats structured": (
        lambda x, y: learners.learn_repeats(Identity(Columns.fit(np.r_[x, y])), x, y),
        lambda d, s, r: structured([(round(v, 1), None) for v in laplace(d, s, r).tolist()]),
    ),
    "pooled": (partial(learners.learn_pooled, learners.identity_transform, Columns()), numbers),
    "pooled innovations": (partial(learners.learn_pooled, learners.innovations_transform, Columns()), sums),
    "linear": (partial(learners.learn_linear, IDENTITY), numbers),
    "lowest bits": (
        partial(BitsScore.fit, Columns()),
        lambda d, s, r: np.column_stack([low_bit(d, s, r), coarse(d, s, r)]),
    ),
    "lowest bits structured": (
        lambda x, y: BitsScore.fit(Columns.fit(np.r_[x, y]), x, y),
        lambda d, s, r: structured([(v, None if v > 1 else "a") for v in low_bit(d, s, r).tolist()]),
    ),
    "residues": (
        partial(ResidueScore.fit, Columns()),
        lambda d, s, r: np.column_stack([last_digit(d, s, r), r.laplace(size=s), last_digit(d, s, r) / 100]),
    ),
    "residues structured": (
        lambda x, y: ResidueScore.fit(Columns.fit(np.r_[x, y]), x, y),
        lambda d, s, r: structured([(2**70 + int(v), None if v > 1 else "a") for v in last_digit(d, s, r)]),
    ),
    "extreme": (partial(learners.learn_extreme, IDENTITY), numbers),
    "pairs": (partial(learners.learn_pairs, IDENTITY), xor),
    "groups": (partial(learn_groups, IDENTITY), in_groups),
    "groups structured": (
        lambda x, y: learn_groups(Identity(Columns.fit(np.r_[x, y])), x, y),
        lambda d, s, r: structured([("abc"[int(kind)], value) for kind, value in in_groups(d, s, r).tolist()]),
    ),
    "totals": (partial(learn_totals, Columns()), lambda d, s, r: np.round(numbers(d, s, r), 1)),
    "coordinate": (partial(learn_coordinate, Columns()), numbers),
    "coordinate structured": (
        lambda x, y: learn_coordinate(Columns.fit(np.r_[x, y]), x, y),
        lambda d, s, r: structured([(float(a), float(b), None) for a, b in numbers(d, s, r)[:, :2]]),
    ),
    "parities": (partial(learn_parities, IDENTITY), hadamard),
    "parities structured": (
        lambda x, y: learn_parities(Identity(Columns.fit(np.r_[x, y])), x, y),
        lambda d, s, r: structured([(index, sign > 0) for index, sign in hadamard(d, s, r).tolist()]),
    ),
    "bits of whole numbers": (
        partial(learn_bits, unpacked_transform, Columns()),
        lambda d, s, r: np.column_stack([filters(d, s, r), laplace(d, s, r).round()]),
    ),
    "bits of whole numbers structured": (
        lambda x, y: learn_bits(unpacked_transform, Columns.fit(np.r_[x, y]), x, y),
        lambda d, s, r: structured([(v, None if v % 3 else "a") for v in filters(d, s, r).tolist()]),
    ),
    "pooled values": (partial(learners.learn_pooled, learners.identity_transform, Columns()), coins),
    "successions": (partial(learn_successions, Columns()), history),
    "successions of letters": (
        lambda x, y: learn_successions(Columns.fit(np.r_[x, y]), x, y),
        lambda d, s, r: structured(["".join("abc"[i] for i in row) for row in history(d, s, r).tolist()]),
    ),
    "additive complex": (partial(learners.learn_additive, learners.identity_transform, Columns()), plane),
    "additive structured": (
        lambda x, y: learners.learn_additive(learners.identity_transform, Columns.fit(np.r_[x, y]), x, y),
        mixed,
    ),
    "pairs structured": (
        lambda x, y: learners.learn_pairs(Identity(Columns.fit(np.r_[x, y])), x, y),
        lambda d, s, r: structured([(float(a), float(b), None) for a, b in xor(d, s, r)]),
    ),
}


def test_the_linear_score_of_many_columns_is_the_solution_of_its_system():
    rng = np.random.default_rng(SEED)
    x, y = (rng.normal(size=(900, 300)) + data * np.linspace(0.2, 0.4, 300) for data in (1, 0))
    x[:, 9] = y[:, 9] = 1.0  # a column that never varies
    made = learners.learn_linear(IDENTITY, x, y)
    within = sum(np.cov(np.clip(side, made.low, made.high), rowvar=False) for side in (x, y)) / 2
    shift = np.subtract(*(np.clip(side, made.low, made.high).mean(axis=0) for side in (x, y)))
    assert np.allclose(within @ made.weights, shift, atol=1e-6)
    assert made.weights[9] == 0


def test_a_linear_score_weighs_the_columns_that_differ_most():
    rng = np.random.default_rng(SEED)
    x, y = (rng.normal(size=(60, 2100)) + data * (np.arange(2100) % 700 == 3) for data in (3, 0))
    weights = learners.learn_linear(IDENTITY, x, y).weights
    assert np.count_nonzero(weights) <= 1000
    assert set(np.arange(2100)[np.arange(2100) % 700 == 3]) <= set(np.flatnonzero(weights))


def separation(weights, shift, covariance):
    """How far apart a weighted sum is, in standard deviations, over the most that any weights reach."""
    best = math.sqrt(shift @ np.linalg.solve(covariance, shift))
    return float(weights @ shift) / math.sqrt(weights @ covariance @ weights) / best


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shifted", "shift", "correlation", "least", "gained"),
    [(5, 0.2, 0.0, 0.95, 0.2), (5, 0.2, 0.6, 0.95, 0.1), (400, 0.03, 0.0, 0.8, 0.0)],
    ids=["few", "few, correlated", "all"],
)
def test_a_linear_score_does_without_columns_that_are_noise(shifted, shift, correlation, least, gained):
    rng = np.random.default_rng(SEED)
    places = np.arange(400)
    covariance = correlation ** np.abs(places[:, None] - places) if correlation else np.eye(400)
    root = np.linalg.cholesky(covariance)
    steps = np.where(places % (400 // shifted) == 0, shift, 0.0)
    x, y = (rng.normal(size=(5000, 400)) @ root.T + data * steps for data in (1, 0))
    made = learners.learn_linear(IDENTITY, x, y)
    limited = [np.clip(side, made.low, made.high) for side in (x, y)]
    within = sum(np.cov(side, rowvar=False) for side in limited) / 2
    of_all = np.linalg.solve(within, limited[0].mean(axis=0) - limited[1].mean(axis=0))
    found, with_all = (separation(weights, steps, covariance) for weights in (made.weights, of_all))
    assert found >= least
    assert found >= with_all + gained


@pytest.mark.slow
@pytest.mark.parametrize("odd", ["scales", "constant", "copies", "certain"])
def test_a_linear_score_of_odd_columns_is_finite(odd):
    rng = np.random.default_rng(SEED)
    for width in (64, 150, 300):
        scales = 10.0 ** rng.choice([0, 0, -8, -160, -200, 8, 100, 150], width)
        steps = 0.3 * (rng.random(width) < 0.05)
        x, y = (scales * (rng.normal(size=(400, width)) + data * steps) for data in (1, 0))
        if odd == "constant":
            x[:, :5] = y[:, :5] = 1.0
        elif odd == "copies":
            x[:, 5:10], y[:, 5:10] = x[:, :5], y[:, :5]
        elif odd == "certain":
            x[:, 3], y[:, 3] = 0.0, 1.0
        made = learners.learn_linear(IDENTITY, x, y)
        assert made is not None
        assert np.isfinite(made.weights).all()


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
    if not isinstance(score, ColumnScore | CoordinateScore) and name != "extreme":
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
    compare = {">=": np.greater_equal, "<=": np.less_equal, ">": np.greater, "<": np.less}[side]
    return compare(values, float(threshold))


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


def dicts(data, size, rng):
    draws = zip(numbers(data, size, rng).tolist(), rng.random(size) < 0.2 + 0.6 * data, strict=True)
    return structured([{"count": row[0], "rest": tuple(row[1:]), "kind": "yes" if u else None} for row, u in draws])


def test_descriptions_of_structured_outputs_name_their_parts():
    rng = np.random.default_rng(SEED)
    x, y = (dicts(data, 5000, rng) for data in (0, 1))
    columns = Columns.fit(np.concatenate([x, y]))
    names = columns.names
    assert names == ("output['count']", "kind of output['kind']", *(f"output['rest'][{i}]" for i in range(4)))
    half_line = ThresholdEvent(ColumnScore(0, columns=columns), 0.5, True)
    assert half_line.describe() == {"output['count']": ">= 0.5"}
    assert half_line.contains(x).tolist() == [item["count"] >= 0.5 for item in x]
    additive = learners.learn_additive(learners.identity_transform, columns, x, y)
    nothing = type(additive.tables[0])(np.empty(0), np.zeros(1))
    only = [
        AdditiveScore(additive.transform, tuple(t if i == j else nothing for j, t in enumerate(additive.tables)))
        for i in range(len(names))
    ]
    ((what, _),) = ThresholdEvent(only[3], 0.0, True).describe().items()
    assert what == "output['rest'][1]"
    told = ThresholdEvent(only[1], 0.0, True).describe()
    assert "None" in told["output['kind'] is any of"]
    assert "'yes'" not in told["output['kind'] is any of"]
    for score in (half_line.score, only[1]):
        again = score_from_json(json.loads(json.dumps(score.to_json())))
        assert np.array_equal(again(y), score(y))
        assert again.to_json() == score.to_json()


def test_scores_that_earlier_versions_wrote_are_read():
    raw = {"name": "identity", "positions": 2, "categories": ["None"], "matrix": None}
    tables = [{"edges": [], "values": [0.0]}] * 2 + [{"edges": [0.5], "values": [0.0, 1.0]}] * 3
    score = score_from_json({"kind": "additive", "transform": raw, "tables": tables})
    outputs = structured([(1.0, None), (None, 2), (0.25,), (1, "x", 7)])
    # Length, number and category of either position.
    assert score.transform(outputs).tolist() == [[2, 1, 0, 0, 1], [2, 0, 1, 2, 0], [1, 0.25, 0, 0, -1], [3, 1, 0, 0, 2]]
    assert score(outputs).tolist() == [1, 2, 0, 1]
    assert score.to_json()["transform"] == raw
    text = {"kind": "outcomes", "coding": "text", "dtype": "<U10", "keys": ["None", "[1, 'a']"], "ratios": [1.0, 2.0]}
    assert score_from_json(text)(structured([None, (1, "a"), 3])).tolist() == [1, 2, 0]


@pytest.mark.parametrize("sample", [low_bit, coarse])
@pytest.mark.parametrize(
    "wrap", [lambda v: v, lambda v: np.column_stack([np.sin(v) / 3, v]), lambda v: [(a, "k") for a in v]]
)
def test_what_lowest_bits_carry_is_found(sample, wrap):
    found = dpaudit.epsilon_lower_bound(lambda d, s, r: wrap(sample(d, s, r)), 0, 1, samples=10_000, seed=SEED)
    assert 1.2 < found.epsilon <= math.log(4)


@pytest.mark.parametrize(("dtype", "word"), [(np.float32, np.uint32), (np.float64, np.uint64)])
def test_the_type_decides_about_lowest_bits_in_records_that_do_not(dtype, word):
    rng = np.random.default_rng(SEED)
    x, y = (rng.laplace(size=5000).astype(dtype).view(word) for _ in range(2))
    y |= word(1)
    score = BitsScore.fit(Columns(), x.view(dtype), y.view(dtype))
    raw = score.to_json()
    assert raw.pop("short") is (dtype == np.float32)
    older = score_from_json(raw)
    for outputs in (x.view(dtype), y.view(dtype)):
        assert older(outputs).tolist() == score(outputs).tolist() == score(outputs.astype(float)).tolist()
    assert (score(x.view(dtype)) > 0).tolist() == (x % 2 == 0).tolist()


@pytest.mark.parametrize("seed", range(4))
def test_the_lowest_bits_of_thirds_are_those_of_rounding(seed):
    rng = np.random.default_rng(seed)
    x, y = (data / 3 + (rng.geometric(1e-5, 4000) - rng.geometric(1e-5, 4000)) / 3 for data in (0, 1))
    assert BitsScore.fit(Columns(), x, y) is None


def test_what_rounding_does_to_sums_is_no_event():
    rng = np.random.default_rng(SEED)
    for scale in (1, 10, 0.3):
        x, y = (data + scale * rng.laplace(size=50_000) for data in (0.0, 0.7))
        assert BitsScore.fit(Columns(), x, y) is None
        assert BitsScore.fit(Columns(), x.astype(np.float32), y.astype(np.float32)) is None
        assert BitsScore.fit(Columns(), np.rint(x), np.rint(y)) is None


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
    transform = learners.innovations_transform(Columns(), x, y)
    made = transform(x)
    correlation = np.corrcoef(np.c_[made, x], rowvar=False)[:4]
    assert np.abs(correlation[:, :4] - np.eye(4)).max() < 0.02
    # Each keeps the scale that the factor's diagonal gives it, and the numbers before it say nothing of it.
    assert made.std(axis=0) == pytest.approx(np.abs(np.diag(factor)), rel=0.03)
    assert np.abs(np.tril(correlation[:, 4:], -1)).max() < 0.02


def test_differences_are_those_of_numpy():
    rows = np.random.default_rng(SEED).normal(size=(10, 3))
    assert np.array_equal(Differences(Columns())(rows), np.c_[rows[:, 0], rows[:, 1:] - rows[:, :-1]])


def test_trees_are_learned_again_and_alike():
    rng = np.random.default_rng(SEED)
    x, y = xor(0, 4000, rng), xor(1, 4000, rng)
    first, again = (BoostedScore.fit(x, y, Columns(), (), rounds=10) for _ in range(2))
    assert first.to_json() is None
    assert ThresholdEvent(first, 0.0, True).to_json() is None
    assert np.array_equal(first(x), again(x))
    assert first(x).mean() > 0.1 > -0.1 > first(y).mean()


def test_trees_take_scores_that_are_known():
    rng = np.random.default_rng(SEED)
    x, y = xor(0, 4000, rng), xor(1, 4000, rng)
    others = (learners.learn_linear(Identity(Columns()), x, y), ColumnScore(0))
    score = BoostedScore.fit(x, y, Columns(), others, rounds=5)
    assert np.array_equal(score.of_features(y, [other(y) for other in others]), score(y))
    assert not np.array_equal(score.of_features(y, [other(x) for other in others]), score(y))


def test_a_constant_column_is_not_the_one_that_differs_most():
    rng = np.random.default_rng(SEED)
    rows = [np.column_stack([np.zeros(2000), rng.integers(0, 2, 2000), d + rng.normal(size=2000)]) for d in (0, 0.3)]
    assert learners.learn_best_half_line(Columns(), *rows).column == 2


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


def test_an_event_of_outputs_of_another_form_is_refused():
    event = ThresholdEvent(ColumnScore(None), 0.5, True)
    assert event.contains(np.array([0.0, 1.0])).tolist() == [False, True]
    with pytest.raises(dpaudit.CheckError, match="outputs of another form"):
        event.contains(np.zeros((2, 3)))


def hidden_threshold(data, size, rng):
    """Whether each of six numbers is above a threshold that is drawn once for all: classes that the output hides."""
    threshold = rng.normal(size=(size, 1))
    return (rng.normal(data, 0.4, size=(size, 6)) > threshold).astype(np.int8)


def test_a_mixture_finds_the_classes_that_outputs_hide():
    rng = np.random.default_rng(SEED)
    sides = [hidden_threshold(np.array(shifts), 40_000, rng) for shifts in ([1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1])]
    columns = Columns.fit(sides[0][:100])
    transform = Identity(columns)
    score = MixtureScore.fit(transform, tuple(np.array([1.0]) for _ in range(6)), *(transform(side) for side in sides))
    fresh = [hidden_threshold(np.array(shifts), 200_000, rng) for shifts in ([1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1])]
    outcomes = [side @ (1 << np.arange(6)) for side in fresh]
    counts = [np.bincount(each, minlength=64) for each in outcomes]
    every = ((np.arange(64)[:, None] >> np.arange(6)) & 1).astype(np.int8)
    often = np.minimum(*counts) >= 100
    true = np.log(counts[0][often] / counts[1][often])
    error = score(every)[often] - true
    weight = (counts[0] + counts[1])[often]
    # A sum over the columns, without classes, is off by more than twice as much.
    assert np.sqrt(np.average(error**2, weights=weight)) < 0.15
    again = score_from_json(json.loads(json.dumps(score.to_json())))
    assert np.array_equal(again(every), score(every))
    additive = learners.learn_additive(learners.identity_transform, columns, *(Outputs(side) for side in sides))
    without = additive(every)[often] - true
    assert np.sqrt(np.average(without**2, weights=weight)) > 2 * np.sqrt(np.average(error**2, weights=weight))


def test_a_weighted_sum_names_the_columns_that_say_most():
    """A bit that is set once in a thousand has a weight of thousands after the limits, and says next to nothing."""
    rng = np.random.default_rng(SEED)
    x, y = ((rng.random((20_000, 400)) < 0.001).astype(float) for _ in range(2))
    for side, rate in ((x, 0.1), (y, 0.4)):
        side[:, 7] = rng.random(20_000) < rate
    score = learners.learn_linear(IDENTITY, x, y)
    assert "output[7]" in next(iter(score.describe(0.0, above=True)))
    assert np.allclose(score_from_json(json.loads(json.dumps(score.to_json()))).spread, score.spread)
