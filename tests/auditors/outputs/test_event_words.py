"""Events say which parts of an output they look at, and a rule that contains the same outputs."""

import re

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.learning.bits import BitsScore
from dpaudit.auditors.learning.coded_score import learn_coded
from dpaudit.auditors.learning.counts import ThresholdEvent
from dpaudit.auditors.learning.mixtures import MixtureScore
from dpaudit.auditors.learning.row_scores import AdditiveScore, ExtremeScore, LinearScore, PairScore
from dpaudit.auditors.learning.scores import ColumnScore, score_from_json
from dpaudit.auditors.learning.tables import Table
from dpaudit.auditors.learning.transforms import Coded, Differences, Directions, Identity, Innovations, Ordered
from dpaudit.auditors.outputs import column_words as columnwords
from dpaudit.auditors.outputs.column_words import Naming
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.event_words import LONGEST_RULE, Axis, added, listed, rule
from dpaudit.auditors.outputs.outputs import as_outputs

SEED = 20261123
IDENTITY = Identity(Columns())
NOTHING = Table(np.empty(0), np.zeros(1))


def structured(items):
    outputs = np.empty(len(items), dtype=object)
    outputs[:] = items
    return outputs


def table(edges, values):
    return Table(np.array(edges, dtype=float), np.array(values, dtype=float))


def holds(text, outputs):
    """Evaluate a rule about numbers as Python reads it."""
    python = re.sub(r"(?<![<>!])= ", "== ", text.replace("; or", " or"))
    code = compile(python, "rule", "eval")
    return np.array([bool(eval(code, {"output": row})) for row in outputs])


def adds(text, outputs):
    """Evaluate a sum that says what every number adds."""
    *parts, limit = text.split("; ")
    sums = np.zeros(len(outputs))
    for part in parts:
        name, amounts = part.split(" adds ")
        *steps, otherwise = amounts.split(", ")
        numbers = outputs[:, int(name.removeprefix("output[").removesuffix("]"))]
        values = np.full(len(outputs), float(otherwise.removesuffix(" otherwise")))
        for step in reversed(steps):
            amount, below, edge = re.fullmatch(r"(\S+) (below|up to) (\S+)", step).groups()
            values[numbers < float(edge) if below == "below" else numbers <= float(edge)] = float(amount)
        sums += values
    side, least = re.fullmatch(r"the event is a sum of at (least|most) (\S+)", limit).groups()
    # Half of what the last decimal is worth.
    off = 0.5 * 10.0 ** -len(least.partition(".")[2])
    return sums >= float(least) - off if side == "least" else sums <= float(least) + off


def told(score, threshold, *, above=True, naming=None):
    event = ThresholdEvent(score, threshold, above)
    return event.describe() if naming is None else event.describe(naming)


def test_a_value_and_everything_else_are_told_in_short():
    axis = Axis.of_numbers("x", np.array([0.0, np.nextafter(0.0, 1), 2.0]))
    assert axis.condition(np.array([False, True, False, False])) == "x = 0"
    assert axis.condition(np.array([True, False, True, True])) == "x != 0"
    assert axis.condition(np.array([False, False, True, True])) == "x > 0"
    assert axis.condition(np.array([True, False, True, False])) == "x < 0 or 0 < x < 2"


@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize("threshold", [-1.5, -0.2, 0.0, 0.55, 1.3])
@pytest.mark.parametrize("whole", [True, False])
def test_a_rule_of_conditions_contains_the_same_outputs(above, threshold, whole):
    rng = np.random.default_rng(SEED)
    outputs = rng.integers(-2, 4, (2000, 4)).astype(float) if whole else rng.normal(size=(2000, 4))
    # The middle edge is what cuts off a value that comes again: everything above it.
    first, last = table([-1.0, np.nextafter(0.0, 1), 2.0], [0.8, -0.9, 0.3, 1.1]), table([1.0], [-0.5, 0.4])
    additive = AdditiveScore(IDENTITY, (first, NOTHING, NOTHING, last))
    pairs = PairScore(
        additive, tuple(np.array([1.0]) for _ in range(4)), np.array([[0, 3]]), (np.array([0, 1, -1, 0]),)
    )
    extreme = ExtremeScore(IDENTITY, np.zeros(4), np.ones(4))
    for score in (additive, pairs, extreme):
        text = told(score, threshold, above=above).get("in short")
        inside = ThresholdEvent(score, threshold, above).contains(outputs)
        if text is None:
            # What is always so, or never, takes no rule.
            assert inside.all() or not inside.any()
        else:
            assert holds(text, outputs).tolist() == inside.tolist()
            assert len(text) <= LONGEST_RULE


def test_a_sum_that_takes_many_conditions_says_what_every_number_adds():
    rng = np.random.default_rng(SEED)
    amounts = [0.31, -0.42, 0.77], [1, 0.13, -1], [0.25, 0.6, 1.1]
    tables = [table([0.0, 2.0], values) for values in amounts]
    score = AdditiveScore(IDENTITY, (*tables, NOTHING))
    event = told(score, 1.23)
    assert event["in short"].endswith("the event is a sum of at least 1.23")
    outputs = rng.integers(-1, 4, (3000, 4)).astype(float)
    assert adds(event["in short"], outputs).tolist() == ThresholdEvent(score, 1.23, True).contains(outputs).tolist()
    assert list(event)[1] == "sum of step functions of output[0], output[1] and output[2]"
    # With one more number, nothing short does.
    assert "in short" not in told(AdditiveScore(IDENTITY, (*tables, *tables)), 1.23)


def test_rounding_keeps_sums_apart_that_differ_by_little():
    axes = [Axis.of_numbers(name, np.array([0.0])) for name in "ab"]
    values = [np.array([0.0, 0.12345]), np.array([0.0, 0.12344])]
    score = lambda rows: np.where(rows[:, 0] >= 0, 0.12345, 0.0) + np.where(rows[:, 1] >= 0, 0.12344, 0.0)  # noqa: E731
    text = added(axes, values, score, 0.123445, above=True)
    assert "0.12345 otherwise" in text
    assert "0.12344 otherwise" in text


def test_values_that_are_no_numbers_are_called_what_they_are():
    outputs = structured(
        [{"group": group, "count": count} for group in ("north", "south", "west") for count in (1.5, 2.5)]
    )
    columns = Columns.fit(outputs)
    assert columns.names == ("output['count']", "kind of output['group']")
    code = columns.categories.index("'north'") + 1
    values = np.where(np.arange(-1, 5) == code, 1.0, 0.0)
    by_group = Table(np.arange(0.0, 5.0), values)
    score = AdditiveScore(Identity(columns), (table([2.0], [0, 1]), by_group))
    assert told(score, 1.5)["in short"] == "output['count'] >= 2 and output['group'] is 'north'"
    assert told(score, 0.5, above=False)["in short"] == "output['count'] < 2 and output['group'] is not 'north'"
    inside = ThresholdEvent(score, 1.5, True).contains(outputs)
    assert inside.tolist() == [item["count"] >= 2 and item["group"] == "north" for item in outputs]
    only = AdditiveScore(Identity(columns), (NOTHING, by_group))
    assert told(only, 0.5) == {"output['group'] is any of": ["'north'"]}


@pytest.mark.slow
def test_codes_are_called_what_they_stand_for():
    rng = np.random.default_rng(SEED)

    def draw(data):
        groups = rng.choice(["north", "south", "west"], 3000, p=[0.3 + 0.2 * data, 0.4, 0.3 - 0.2 * data])
        numbers = rng.normal(data, size=(3000, 2)).tolist()
        return structured([{"count": c, "sum": s, "group": str(g)} for (c, s), g in zip(numbers, groups, strict=True)])

    x, y = draw(1), draw(0)
    columns = Columns.fit(np.concatenate([x, y]))
    score = learn_coded(Identity(columns), as_outputs(x), as_outputs(y))
    (what, _), *rest = told(score, 0.5).items()
    for code, text in enumerate(columns.categories, 1):
        assert f"{text} (or {code})" in what
    assert "output['group']" in what
    rest = dict(rest)
    assert rest["codes are counted in"] == "output['count'], kind of output['group'] and output['sum']"
    assert rest["smallest and largest"] == "of these that are not 1, 2 and 3"


def test_hidden_classes_name_their_columns_and_say_a_short_rule():
    rng = np.random.default_rng(SEED)
    x, y = (np.column_stack([a := rng.random(4000) < 0.5, a ^ (rng.random(4000) < share)]) for share in (0.2, 0.8))
    score = MixtureScore.fit(IDENTITY, (np.ones(1), np.ones(1)), x, y)
    event = told(score, 0.0)
    assert any(name.endswith("which are output[0] and output[1]") for name in event)
    for outputs in (x, y):
        assert holds(event["in short"], outputs).tolist() == (outputs[:, 0] == outputs[:, 1]).tolist()


def test_numbers_in_order_say_which_and_of_which_numbers():
    outputs = structured([[None if v is None else {"v": v}] for v in (None, -0.5, 1.5, None, 2.5)])
    columns = Columns.fit(outputs)
    width = 2 * len(columns.names) - 1
    tables = [table([1.0], [0, 1]) if i in (0, 1, width - 1) else NOTHING for i in range(width)]
    event = told(AdditiveScore(Ordered(columns), tuple(tables)), 0.5)
    assert "the smallest, the 2nd smallest and the largest less" in str(event)
    assert event["the numbers in order are"] == listed(columns.names)
    assert event["kinds are"] == "-1 for nothing, 0 for a number, 1 for None and 2 for another value"


def test_differences_and_predictions_are_written_out():
    tables = (NOTHING, NOTHING, table([1.0], [0, 1]))
    (what,) = told(AdditiveScore(Differences(Columns()), tables), 0.5)
    assert what == "output[2] - output[1]"
    matrix = np.array([[1, 0, 0.5], [0, 1, -0.25], [0, 0, 1]])
    score = AdditiveScore(Innovations(Columns(), matrix), tables)
    assert told(score, 0.5) == {"output[2] + 0.5 output[0] - 0.25 output[1]": ">= 1"}
    row = np.array([[3.0, 4.0, 0.2]])
    assert score.transform(row)[0, 2] == pytest.approx(0.2 + 0.5 * 3 - 0.25 * 4)


def test_rules_about_weighted_sums_have_all_digits_of_the_weights():
    transform = Directions(Columns(), np.array([[1 / 3, 0.0], [-1 / 3 - 1e-6, 1.0]]))
    event = told(AdditiveScore(transform, (table([0.0], [0, 1]), table([0.0], [0, 1]))), 2.0)
    weights = "0.3333333333333333 output[0] - 0.3333343333333333 output[1]"
    assert event["in short"] == f"{weights} >= 0 and output[1] >= 0"
    assert "0.3333 output[0] - 0.3333 output[1]" in str(event)


def test_codes_that_are_large_whole_numbers_are_told_apart():
    coded = Coded(Columns(), (1_700_000_001.0, 1_700_000_002.0))
    names = [coded.named(column, 5) for column in (3, 4)]
    assert names == ["occurrences of 1700000001", "occurrences of 1700000002"]


def test_many_parts_are_counted_and_those_that_weigh_most_are_named():
    tables = [table([0.0], [0, 5 if i in (4, 17) else 1]) if i != 8 else NOTHING for i in range(20)]
    (what,) = told(AdditiveScore(IDENTITY, tuple(tables)), 0.5)
    assert (
        what == "sum of step functions of output[0], output[1], output[2], output[3], output[4], output[17] and 13 more"
    )
    tables[8] = tables[0]
    (what,) = told(AdditiveScore(IDENTITY, tuple(tables)), 0.5)
    assert what == "sum of step functions of output[0] to output[19]"


def test_a_single_value_is_written_as_one():
    score = AdditiveScore(IDENTITY, (NOTHING, table([1.5, np.nextafter(1.5, 2)], [0, 1, 0])))
    assert told(score, 0.5)["in short"] == "output[1] = 1.5"
    assert told(score, 0.5)["output[1] in [from, to)"] == [[1.5, np.nextafter(1.5, 2)]]
    apart = AdditiveScore(IDENTITY, (table([1.5, 4.5], [0, 1, 0]),))
    assert told(apart, 0.5) == {"output in [from, to)": [[1.5, 4.5]]}


@pytest.mark.parametrize("above", [True, False])
def test_what_a_report_supports_is_true_or_false(above):
    naming = Naming((2,), supported=True)
    for score in (ColumnScore(2), AdditiveScore(IDENTITY, (NOTHING, NOTHING, table([1.0], [0, 1]), NOTHING))):
        event = told(score, 0.5, above=above, naming=naming)
        assert event == {"whether the report speaks for the first input is any of": [str(above)]}


def test_a_lowest_bit_is_named():
    table_of_bits = table([1.0, 2.0], [-1, 1, -1])
    event = told(BitsScore(Columns(), (NOTHING, table_of_bits)), 0.5)
    assert event["in short"] == "the end of the significand is a 1"
    assert "sum of functions of the lowest bits of output[1]" in event


@pytest.mark.parametrize(
    ("naming", "column", "name"),
    [
        (Naming((2, 3)), 4, "output[1][1]"),
        (Naming(()), 0, "output"),
        (Naming((1,)), 0, "output[0]"),
        (Naming((), is_complex=True), 1, "output.imag"),
        (Naming((2,), is_complex=True), 2, "output[1].real"),
        (Naming((2,), supported=True), 2, "whether the report speaks for the first input"),
        (Naming((), supported=True), 2, "whether the report speaks for the second input"),
        (Naming((4,), base="features"), 3, "features[3]"),
    ],
)
def test_numbers_of_arrays_are_called_as_python_reads_them(naming, column, name):
    assert naming.of(column, 9) == name


@pytest.mark.parametrize(
    "made",
    [
        [{"count": 1.5, "days": ["a", "b"]}, {"count": 2.5, "days": ["b"]}],
        [(1.5, "x 3"), (2.5, "x 4")],
        [[1.5], [2.5, 3.5]],
    ],
)
def test_parts_of_features_are_called_parts_of_features(made):
    features = Columns.fit(structured(made * 100))
    names = columnwords.names_of(features, "features")
    assert names
    assert [name.replace("features", "output") for name in names] == list(columnwords.names_of(features))
    assert not any("output" in name for name in names)


@pytest.mark.slow
def test_events_of_audits_of_features_that_are_records_name_features():
    def counts(data, size, rng):
        return rng.laplace(5 * data, 1, size)

    def as_records(outputs):
        return [{"count": float(output)} for output in outputs]

    event = dpaudit.epsilon_lower_bound(counts, 0, 1, samples=2000, features=as_records).event
    assert "features['count']" in str(event)
    drawn = [counts(data, 2000, np.random.default_rng(data)) for data in (0, 1)]
    assert "features['count']" in str(dpaudit.bound_from_samples(*drawn, features=as_records).event)


@pytest.mark.slow
def test_events_of_audits_call_numbers_as_python_reads_them():
    def grid(data, size, rng):
        made = rng.normal(size=(size, 2, 2))
        made[:, 1, 0] += 4 * data
        return made

    drawn = [grid(data, 2000, np.random.default_rng(data)) for data in (0, 1)]
    for event in (
        dpaudit.epsilon_lower_bound(grid, 0, 1, samples=2000).event,
        dpaudit.bound_from_samples(*drawn).event,
    ):
        assert "output[1][0]" in str(event)
        assert "output[2]" not in str(event)


def test_records_of_earlier_versions_name_values_by_their_order():
    raw = {"name": "identity", "positions": 2, "categories": ["None"], "matrix": None}
    tables = [{"edges": [], "values": [0.0]}] * 2 + [{"edges": [0.5], "values": [0.0, 1.0]}] * 3
    event = told(score_from_json({"kind": "additive", "transform": raw, "tables": tables}), 0.5)
    (what,) = (name for name in event if name.startswith("sum of"))
    assert what == "sum of step functions of output number 1 of its values and output number 2 of its values"
    raw["name"] = "shuffled"
    with pytest.raises(ValueError, match="'name' of a transform"):
        score_from_json({"kind": "additive", "transform": raw, "tables": tables})


def test_what_takes_many_words_has_no_rule():
    axes = [Axis.of_numbers(f"output[{i}]", np.arange(30.0)) for i in range(3)]
    assert rule(axes, lambda rows: np.sin(rows.sum(axis=1)), 0.0, above=True) == ""
    assert rule(axes * 3, lambda rows: rows[:, 0], 0.0, above=True) == ""
    assert rule(axes, lambda rows: rows[:, 0], 3.0, above=True) == "output[0] >= 3"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_rules_of_any_step_functions_contain_the_same_outputs(seed):
    rng = np.random.default_rng([SEED, seed])
    grid = np.arange(-2.0, 4.0)
    ruled = 0
    for _ in range(150):
        width = int(rng.integers(2, 5))
        edges = [np.sort(rng.choice(grid, int(rng.integers(0, 4)), replace=False)) for _ in range(width)]
        score = AdditiveScore(IDENTITY, tuple(Table(each, rng.normal(size=len(each) + 1).round(1)) for each in edges))
        if rng.random() < 0.5:
            i, j = sorted(rng.choice(width, 2, replace=False).tolist())
            crossed = rng.normal(size=(len(edges[i]) + 1) * (len(edges[j]) + 1)).round(1)
            score = PairScore(score, tuple(edges), np.array([[i, j]]), (crossed,))
        outputs = rng.integers(-4, 5, (200, width)).astype(float)
        event = ThresholdEvent(score, float(rng.choice(score(outputs))), bool(rng.random() < 0.5))
        text = event.describe().get("in short", "")
        if text and " adds " not in text:
            ruled += 1
            assert holds(text, outputs).tolist() == event.contains(outputs).tolist()
    assert ruled > 50


def cut(rng, offset, width, *, whole):
    """Edges of a table, of which some cut off a single value, in a range that is as wide and begins there."""
    numbers = offset + width * rng.random(int(rng.integers(1, 4)))
    numbers = np.floor(numbers) if whole else numbers
    return np.unique(np.concatenate([numbers, np.nextafter(numbers[rng.random(len(numbers)) < 0.3], np.inf)]))


@pytest.mark.slow
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("width", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("offset", [0.0, 1e5, 1.7e9, 1e12])
def test_numbers_of_any_size_have_the_digits_that_the_event_takes(offset, width, whole):
    rng = np.random.default_rng([SEED, int(offset), int(width * 1000), whole])
    kinds = set()
    for _ in range(40):
        columns = int(rng.integers(2, 4))
        edges = [cut(rng, offset, width, whole=whole) for _ in range(columns)]
        # Random numbers, and those on edges and next to them that were observed: an edge is one, or is just above one.
        outputs = offset + width * (1.2 * rng.random((150, columns)) - 0.1)
        outputs = np.floor(outputs) if whole else outputs
        for column, each in enumerate(edges):
            outputs[: len(each), column] = each
        tables = tuple(Table(each, rng.normal(size=len(each) + 1).round(1)) for each in edges)
        additive = AdditiveScore(IDENTITY, tables)
        crossed = rng.normal(size=(len(edges[0]) + 1) * (len(edges[1]) + 1)).round(1)
        scale = width * (0.5 + rng.random(columns))
        for score in (
            additive,
            PairScore(additive, tuple(edges), np.array([[0, 1]]), (crossed,)),
            AdditiveScore(IDENTITY, (tables[0], *[NOTHING] * (columns - 1))),
            ExtremeScore(IDENTITY, outputs[0], np.ceil(scale) if whole else scale),
        ):
            event = ThresholdEvent(score, float(rng.choice(score(outputs))), bool(rng.random() < 0.5))
            told = event.describe()
            text = told.get("in short", "")
            if not text:
                (name, side), *others = told.items()
                if others or not name.startswith("output") or not isinstance(side, str):
                    continue
                text = f"{name} {side}"
            assert "e+" not in text
            kinds.add(" adds " in text)
            found = adds(text, outputs) if " adds " in text else holds(text, outputs)
            assert found.tolist() == event.contains(outputs).tolist(), text
    assert False in kinds


def test_a_number_has_as_many_digits_as_its_column_needs():
    near = AdditiveScore(IDENTITY, (table([1 / 3, 1 / 3 + 1e-4], [0, 1, 2]), table([2 / 3], [0, 1])))
    assert told(near, 3.0)["in short"] == "output[0] >= 0.3334333333 and output[1] >= 0.666666"
    seconds = AdditiveScore(IDENTITY, (table([1_700_000_010.0], [0, 1]), table([1.7e9 + 1 / 3], [0, 1])))
    assert told(seconds, 2.0)["in short"] == "output[0] >= 1700000010 and output[1] > 1700000000.333333"


def test_a_value_that_comes_again_is_written_in_full():
    value = 1 / 3
    axis = Axis.of_numbers("x", np.array([value, np.nextafter(value, 1)]))
    assert axis.condition(np.array([False, True, False])) == "x = 0.3333333333333333"
    assert axis.condition(np.array([False, False, True])) == "x > 0.3333333333333333"


def test_neighbouring_values_are_not_joined():
    first = -2 - 2**-51
    axis = Axis.of_numbers("x", np.array([first, -2.0, np.nextafter(-2.0, 0)]))
    assert axis.condition(np.array([False, True, False, False])) == "x = -2.0000000000000004"
    assert axis.condition(np.array([False, True, True, False])) == "-2.000000000000001 < x <= -2"


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(1.7e9, 1.7e9 + 1 / 3, "1700000000 to 1700000000.333"), (0.5, 1 / 3 + 1, "0.5 to 1.33333")],
)
def test_limits_of_a_weighted_sum_are_told_apart(low, high, words):
    score = LinearScore(IDENTITY, np.array([low, 0.0]), np.array([high, 1.0]), np.array([1.0, 1.0]))
    (what,) = told(score, 0.923)
    assert words in what
    assert told(score, 0.923)[what] == ">= 0.923"


def test_scores_that_look_at_nothing_say_so():
    event = told(AdditiveScore(IDENTITY, (NOTHING, NOTHING)), 0.5)
    assert event == {"sum of step functions of nothing": ">= 0.5"}


def test_conditions_of_which_one_is_enough_are_joined_by_or():
    score = AdditiveScore(IDENTITY, (table([0.0], [0, 1]), NOTHING, table([2.0], [1, 0])))
    assert told(score, 1.0)["in short"] == "output[0] >= 0 or output[2] < 2"
    assert told(score, 2.0)["in short"] == "output[0] >= 0 and output[2] < 2"
