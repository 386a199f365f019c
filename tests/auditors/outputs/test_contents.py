"""What lists and sets hold is seen wherever it stands in them."""

import collections
import datetime as dt
import itertools
import json
from dataclasses import dataclass

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.learning.scores import score_from_json
from dpaudit.auditors.learning.transforms import Identity, Transform
from dpaudit.auditors.outputs import column_words as columnwords
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.contents import Content
from dpaudit.auditors.outputs.outputs import Outputs

THINGS = ["zebra", "apple", "moon", "kite", "tree"]
CITIES = [f"city{i}" for i in range(6)]
Row = collections.namedtuple("Row", "city count")


@dataclass(frozen=True)
class Entry:
    city: str
    count: int


def as_array(items):
    made = np.empty(len(items), dtype=object)
    made[:] = items
    return made


def subsets(size=400, seed=1, members=5, share=0.5):
    chosen = np.random.default_rng(seed).random((size, members)) < share
    return [np.flatnonzero(row).tolist() for row in chosen]


def shuffled(make, size=400, seed=1, repeats=False):
    """Records of all cities in random order; with repeats, one output in 200 has the first city twice."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(-9, 10, (size, len(CITIES))).tolist()
    made = []
    for number, row in enumerate(counts):
        records = [make(CITIES[i], row[i]) for i in rng.permutation(len(CITIES))]
        made.append([*records, make(CITIES[0], 99)] if repeats and number % 200 == 0 else records)
    return made


def by_name(items):
    """Columns that fit outputs, by their names."""
    outputs = as_array(items)
    columns = Columns.fit(outputs)
    return dict(zip(columnwords.names_of(columns), columns(outputs).T, strict=True))


SETS = {
    "frozensets of texts": (lambda items: frozenset(f"m{i}" for i in items), "'m{}'"),
    "sets of whole numbers": (set, "{}"),
    "sorted lists of texts": (lambda items: [f"m{i}" for i in items], "'m{}'"),
    "sorted tuples of whole numbers": (tuple, "{}"),
    "lists in a fixed order that is none of texts": (lambda items: [THINGS[i] for i in items], None),
}  # fmt: skip


@pytest.mark.parametrize("form", SETS)
def test_members_have_columns_of_their_own(form):
    make, text = SETS[form]
    found = by_name([make(items) for items in subsets()])
    for i in range(5):
        name = text.format(i) if text else repr(THINGS[i])
        assert found[f"occurrences of {name} in output"].tolist() == [i in items for items in subsets()]
    # Members say all that there is, but for their number.
    assert len(found) == 6


def test_members_of_sets_inside_of_outputs_and_other_ones():
    items = [{"n": 1.5, "tags": frozenset([*(f"m{i}" for i in chosen), *(["rare"] * (k == 7))])}
             for k, chosen in enumerate(subsets())]  # fmt: skip
    found = by_name(items)
    assert found["occurrences of 'm3' in output['tags']"].tolist() == ["m3" in item["tags"] for item in items]
    assert found["number of members of output['tags']"].tolist() == [len(item["tags"]) for item in items]
    assert found["number of other values in output['tags']"].tolist() == [k == 7 for k in range(400)]
    assert not any("kind" in name for name in found)


def test_a_set_of_members_that_hardly_come_again_has_their_number_as_a_column():
    rng = np.random.default_rng(1)
    sets = [set(rng.choice(10**6, rng.integers(3, 9), replace=False).tolist()) for _ in range(400)]
    for found in (by_name(sets), by_name([(each, 1.5) for each in sets])):
        ((name, numbers),) = found.items()
        assert name in ("number of members of output", "number of members of output[0]")
        assert numbers.tolist() == list(map(len, sets))


@pytest.mark.slow
def test_the_parity_of_the_size_of_a_set_beside_a_number_is_seen():
    def sample(data, size, rng):
        odd = rng.random(size) < (0.3 if data else 0.1)
        shifted = (0.3 * data + rng.laplace(size=size)).tolist()
        sizes = 2 * rng.integers(5, 15, size) + odd
        return [
            (set(rng.choice(10**6, many, replace=False).tolist()), v) for many, v in zip(sizes, shifted, strict=True)
        ]

    # The parity alone is worth log(0.3 / 0.1), and the shift 0.3 more.
    assert 0.7 < dpaudit.epsilon_lower_bound(sample, 0, 1, samples=10_000, seed=1).epsilon <= np.log(3) + 0.3


RECORDS = {
    "named tuples": (Row, "output[where city = '{}'].count"),
    "dicts": (lambda city, count: {"city": city, "count": count}, "output[where city = '{}']['count']"),
    "tuples": (lambda city, count: (city, count), "output[where [0] = '{}'][1]"),
    "dataclasses": (Entry, "output[where city = '{}'].count"),
}


@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("form", RECORDS)
def test_records_in_random_order_have_columns_by_their_key(form, repeats):
    make, name = RECORDS[form]
    outputs = shuffled(make, repeats=repeats)
    found = by_name(outputs)
    plain = shuffled(Row, repeats=repeats)
    for city in CITIES:
        # Of records of one key, the first counts.
        first = [next((place, row.count) for place, row in enumerate(rows) if row.city == city) for rows in plain]
        assert found[name.format(city)].tolist() == [count for _, count in first]
        key = "[0]" if form == "tuples" else "city"
        assert found[f"place where {key} = '{city}' in output"].tolist() == [place for place, _ in first]
    assert not any(each.startswith(("output[0]", "kind of output[0]")) for each in found)


def grouped(*sizes, size=300, seed=1, missing=0.0):
    """Counts of every combination of so many values of several columns, in random order; some may be missing."""
    rng = np.random.default_rng(seed)
    cells = list(itertools.product(*(range(most) for most in sizes)))
    made = []
    for _ in range(size):
        there = [cells[i] for i in rng.permutation(len(cells)) if rng.random() >= missing]
        made.append([(cell, int(count)) for cell, count in zip(there, rng.integers(-9, 10, len(there)), strict=True)])
    return made


@pytest.mark.parametrize(
    "sizes", [(3, 4), (2, 2, 3), *(pytest.param(sizes, marks=pytest.mark.slow) for sizes in ((10, 12), (16, 17)))]
)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_records_have_columns_by_several_keys_together(sizes, missing):
    """The rows of a table that was grouped by two columns or three."""
    outputs = grouped(*sizes, missing=missing)
    names = ["region", "age", "sex"][: len(sizes)]

    def record(cell, count):
        return {**{name: f"{name}{value}" for name, value in zip(names, cell, strict=True)}, "n": count}

    found = by_name([[record(*each) for each in output] for output in outputs])
    for cell in itertools.product(*(range(most) for most in sizes)):
        keys = sorted(f"{name} = '{name}{value}'" for name, value in zip(names, cell, strict=True))
        counts = [dict(output).get(cell, 0) for output in outputs]
        assert found[f"output[where {' and '.join(keys)}]['n']"].tolist() == counts
        if len(outputs[0]) <= 120:
            places = [next((place for place, (own, _) in enumerate(output) if own == cell), 0) for output in outputs]
            assert found[f"place where {' and '.join(keys)} in output"].tolist() == places
    # They say all that there is.
    assert not any(name.startswith(("output[0]", "kind of output[0]")) for name in found)


def with_day(day, **rest):
    return rest if day is ABSENT else {"day": day, **rest}


ABSENT = object()
FIRST_DAYS = range(dt.date(1970, 1, 2).toordinal(), dt.date(1970, 1, 5).toordinal())
DAYS = {
    "days and none": ([None, *map(dt.date.fromordinal, FIRST_DAYS)], "day in days = {}", [None, 1, 2, 3]),
    "days and a total": (["all", *map(dt.date.fromordinal, FIRST_DAYS)], "day in days = {}", [None, 1, 2, 3]),
    "numbers and no key": ([ABSENT, 10, 20, 30], "day = {}", [None, 10, 20, 30]),
    "texts and no key": ([ABSENT, "a", "b", "c"], "day = {}", [None, "'a'", "'b'", "'c'"]),
}


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("form", DAYS)
def test_a_key_may_be_of_another_kind_in_one_record_or_be_missing(form, alone):
    days, name, values = DAYS[form]
    outputs = grouped(4, 1 if alone else 3)
    rows = [
        [with_day(days[i], n=count) if alone else with_day(days[i], city="xyz"[j], n=count) for (i, j), count in output]
        for output in outputs
    ]
    found = by_name(rows)
    for (i, value), j in itertools.product(enumerate(values), range(1 if alone else 3)):
        key = name.format("nothing" if value is None else value)
        where = [key] if alone else [f"city = '{'xyz'[j]}'", key]
        name_of = {f"output[where {' and '.join(order)}]['n']" for order in (where, where[::-1])}
        (column,) = name_of & found.keys()
        assert found[column].tolist() == [dict(output)[i, j] for output in outputs]


def edges(size=300, nodes=12, share=0.2):
    rng = np.random.default_rng(1)
    pairs = list(itertools.combinations(range(nodes), 2))
    made = []
    for row in rng.random((size, len(pairs))) < share:
        there = [pairs[i] for i in np.flatnonzero(row)]
        made.append([list(there[i]) for i in rng.permutation(len(there))])
    return made


def test_edges_are_looked_at_by_both_of_their_ends():
    """No edge comes twice in an output; at random, 12 of 66 would in most."""
    outputs = edges()
    found = by_name(outputs)
    for pair in itertools.combinations(range(12), 2):
        there = [list(pair) in output for output in outputs]
        (name,) = {f"occurrences of {pair[0]} and {pair[1]} in output"} & found.keys()
        assert found[name].tolist() == there


def test_a_part_that_is_a_key_alone_has_no_other_beside_it():
    outputs = [[(city, city[-1], count) for city, count in rows] for rows in shuffled(Row)]
    contents = [Content.of(path) for path in Columns.fit(as_array(outputs)).paths]
    assert {each.keys for each in contents if each is not None} == {("[0]",)}


def test_far_more_combinations_than_known_ones_take_no_memory():
    """1,500 values of each of three keys would be 3 billion combinations."""
    contents = [
        Content("part", "", "[0]", float(i), "[3]", (("[1]", float(i)), ("[2]", float(i)))) for i in range(1500)
    ]
    columns = Columns(None, (), tuple(each.path for each in contents), tuple(range(1, 3001, 2)))
    found = columns(as_array([[(3, 3, 3, 7.0), (1499, 1499, 1499, 8.0)], [(1, 2, 3, 5.0), (0, 0, 0, 6.0)]]))
    assert [np.flatnonzero(row).tolist() for row in found] == [[3, 1499], [0]]
    assert (found[0, 3], found[0, 1499], found[1, 0]) == (7.0, 8.0, 6.0)


def test_several_keys_are_written_down_and_read_again():
    for content in (
        Content("part", "", "['region']", "'r1'", "['n']", (("['age']", 30),)),
        Content("place", "['rows']", "[0]", 1.5, None, (("[1]", "'a'"), ("[2]", "None"))),
        Content("others", "", "[0]", beside=(("[1]", None),)),
    ):
        assert Content.of(content.path) == content
    for damaged in ('{"kind": "others", "beside": [1]}', '{"kind": "others", "beside": [[1, 2]]}'):
        assert Content.of(damaged) is None
    assert Content.of('{"kind": "others", "held": "", "beside": [["[1]", [2]]]}') is None
    content = Content("place", "['rows']", "[0]", 1.5, None, (("[1]", "'a'"),))
    assert content.name("output") == "place where [0] = 1.5 and [1] = 'a' in output['rows']"


@pytest.mark.slow
def test_a_total_that_is_exact_is_seen_in_a_table_of_two_columns():
    """The last cell of a region makes up for the noise of the others, and the rows are in random order."""

    def sample(data, size, rng):
        made = []
        for row in np.round(50 + rng.laplace(size=(size, 4, 5)), 2):
            row[2, 4] = 250 + data - row[2, :4].sum()
            made.append([{"region": f"r{i}", "age": f"a{j}", "n": float(row[i, j])} for i, j in
                         (divmod(int(k), 5) for k in rng.permutation(20))])  # fmt: skip
        return made

    assert dpaudit.epsilon_lower_bound(sample, 0, 1, samples=4000, seed=1).epsilon > 4


def test_records_that_may_be_absent_in_their_usual_order():
    rows = [[Row(CITIES[i], -1 - i) for i in items] for items in subsets()]
    found = by_name(rows)
    assert not any(name.startswith("place") for name in found)
    for i in range(5):
        there = [i in items for items in subsets()]
        assert found[f"output[where city = 'city{i}'].count"].tolist() == [(-1 - i) * each for each in there]
        assert found[f"kind of output[where city = 'city{i}'].count"].tolist() == [each - 1 for each in there]


@pytest.mark.parametrize("several", [False, True])
def test_equal_texts_are_counted(several):
    tokens = np.random.default_rng(1).integers(0, 10**9, (400, 4)).astype(str).tolist()
    items = [[*row, row[2]] if number % 3 == 0 else [*row, "other"] for number, row in enumerate(tokens)]
    items = [{"ids": item, "n": None} if several and number % 2 else item for number, item in enumerate(items)]
    found = by_name(items)
    assert found["number of distinct texts in output"].tolist() == [4 + (number % 3 > 0) for number in range(400)]


def drawn(make, size=300):
    rng = np.random.default_rng(1)
    return [make(rng) for _ in range(size)]


WITHOUT = {
    "a table in one order": [[Row(city, i * k % 7) for i, city in enumerate(CITIES)] for k in range(300)],
    "fields": drawn(lambda rng: (str(rng.choice(["m", "f"])), str(rng.choice(["yes", "no"])), int(rng.integers(9)))),
    "answers": drawn(lambda rng: rng.choice(["a", "b", "c"], 5).tolist()),
    "a ranking": drawn(lambda rng: rng.permutation(5).tolist()),
    "matrices": drawn(lambda rng: rng.integers(0, 9, (3, 3)).tolist()),
    "lists of fractions": drawn(lambda rng: rng.random(4).tolist()),
    "texts": drawn(lambda rng: "".join(rng.choice(list("abc"), rng.integers(2, 6)))),
    "few": [["a"], ["a", "b"]] * 20,
    "keys that hardly come again": drawn(lambda rng: [Row(str(rng.random()), 1), Row(str(rng.random()), 2)]),
}


@pytest.mark.parametrize("form", WITHOUT)
def test_other_outputs_are_looked_at_in_their_places_alone(form):
    columns = Columns.fit(as_array(WITHOUT[form]))
    contents = filter(None, map(Content.of, columns.paths))
    assert [each for each in contents if each.kind not in ("texts", "character", "length", "field", "word")] == []


MIXED = {
    **{form: [make(items) for items in subsets()] for form, (make, _) in SETS.items()},
    **{form: shuffled(make, repeats=True) for form, (make, _) in RECORDS.items()},
    "days": [[with_day(i or ABSENT, n=count) for (i, _), count in rows] for rows in grouped(4, 1, missing=0.1)],
    "edges": edges(),
    "two keys": [[(f"r{i}", j, count) for (i, j), count in rows] for rows in grouped(3, 4, missing=0.2)],
    "odd": [*subsets(200), *(set(items) for items in subsets(200)), None, "text", [], set(), [["a"]], {1.5},
            [Row("city0", "x")], ["m1"], [b"m1"], [""], [1, "m", None], *shuffled(Row, 200), {"tags": {1, "a"}}, 7],
}  # fmt: skip


@pytest.mark.parametrize("form", MIXED)
def test_contents_of_an_output_are_its_own_and_are_written_down(form):
    outputs = as_array(MIXED[form])
    columns = Columns.fit(outputs)
    whole = columns(outputs)
    for size, until in ((1, 40), (29, len(outputs))):
        parts = [columns(outputs[start : start + size]) for start in range(0, until, size)]
        assert np.array_equal(np.concatenate(parts), whole[:until])
    again = Transform.from_json(json.loads(json.dumps(Identity(columns).to_json())))
    assert again.columns == columns
    assert np.array_equal(again(Outputs(outputs)), whole)


def of_several_lengths(size=400, seed=1, least=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=length).tolist() for length in rng.integers(least, 9, size)]


@pytest.mark.parametrize("form", ["lists", "in a record", "with texts"])
def test_numbers_of_lists_of_several_lengths_are_looked_at_together(form):
    lists = of_several_lengths()
    made = {
        "lists": lambda: lists,
        "in a record": lambda: [{"id": "a", "visits": each} for each in lists],
        "with texts": lambda: [["a", *each] for each in lists],
    }[form]()
    columns = by_name(made)
    where = "output['visits']" if form == "in a record" else "output"
    for name, function in (("sum", sum), ("mean", np.mean), ("smallest", min), ("largest", max)):
        found = columns[f"{name} of the numbers in {where}"]
        assert found == pytest.approx([function(each) if each else 0.0 for each in lists], abs=1e-12)


def test_numbers_of_lists_of_one_length_and_of_names_are_not_summed():
    rng = np.random.default_rng(1)
    equal = [row.tolist() for row in rng.normal(size=(400, 3))]
    names = [rng.integers(0, 5, length).tolist() for length in rng.integers(1, 9, 400)]
    for made in (equal, names):
        assert not any("of the numbers in" in name for name in by_name(made))


@pytest.mark.slow
def test_a_shift_of_all_numbers_of_lists_of_many_lengths_is_found():
    def sample(data, size, rng):
        return [(0.1 * data + rng.normal(size=length)).tolist() for length in rng.integers(1, 801, size)]

    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=5000, seed=1)
    assert bound.epsilon > 3
    assert "of the numbers in output" in str(bound.event)


def test_the_last_values_of_lists_are_read():
    """Of lists of numbers and words in a dict, of which some are empty, and of records."""
    rng = np.random.default_rng(1)
    lists = [[["a", "b", 3.5, -1][each] for each in rng.integers(0, 4, length)] for length in rng.integers(0, 9, 400)]
    found = by_name([{"of": each, "x": 1.0 + i} for i, each in enumerate(lists)])
    last = [each[-1] if each else None for each in lists]
    assert found["output['of'][-1]"].tolist() == [
        0.0 if each is None or isinstance(each, str) else each for each in last
    ]
    kinds = found["kind of output['of'][-1]"]
    codes = {each: set(kinds[[other == each for other in last]].tolist()) for each in ("a", "b", 3.5, -1, None)}
    assert codes[None] == {-1}
    assert codes[3.5] == codes[-1] == {0}
    assert sorted(len(each) for each in codes.values()) == [1] * 5
    assert codes["a"] != codes["b"]

    lengths = rng.integers(1, 9, 400)
    records = [[{"n": int(n), "s": float(n) / 7} for n in rng.integers(0, 99, length)] for length in lengths]
    found = by_name(records)
    for part in ("n", "s"):
        assert found[f"output[-1]['{part}']"].tolist() == [each[-1][part] for each in records]
    # Where lists have one length, the last place is one from the beginning.
    assert not any("[-1]" in name for name in by_name([each[:1] for each in records]))


@pytest.mark.slow
def test_a_shift_of_the_last_of_many_numbers_is_found():
    def sample(data, size, rng):
        return [
            [*rng.normal(size=length).tolist(), data + rng.laplace(scale=0.5)] for length in rng.integers(60, 120, size)
        ]

    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=5000, seed=1)
    assert 1.4 < bound.epsilon <= 2
    assert list(bound.event) == ["output[-1]"]


def test_paths_that_cannot_be_read_are_of_nothing():
    for path in (
        '{"kind": "another"}',
        '{"kind": "part", "held": 3}',
        '{"more": 1}',
        "{",
        '{"kind": "place", "value": []}',
    ):
        assert Content.of(path) is None
        assert Columns(None, (), (path,), (0, 1, 2))(as_array([("a", 1)])).tolist() == [[2, 0, -1]]


# Audits.


def group_by(data, size, rng):
    counts = (30 + data * (np.arange(6) == 2) + rng.geometric(0.4, (size, 6)) - rng.geometric(0.4, (size, 6))).tolist()
    orders = rng.permuted(np.tile(np.arange(6), (size, 1)), axis=1).tolist()
    return [[Row(CITIES[i], row[i]) for i in order] for row, order in zip(counts, orders, strict=True)]


def members(form, member=0.2, both=0.5):
    """Sets in which m3 is more often in the first input's, or m2 and m7 more often together."""

    def sample(data, size, rng):
        chosen = rng.random((size, 20)) < 0.5
        chosen[:, 3] = rng.random(size) < (0.5, 0.5 - member)[data]
        chosen[:, 7] = chosen[:, 2] ^ (rng.random(size) >= (both, 0.5)[data])
        return [form(f"m{i:02d}" for i in np.flatnonzero(row)) for row in chosen]

    return sample


def repeated_tokens(data, size, rng):
    tokens = rng.integers(0, 1 << 32, (size, 5))
    same = rng.random(size) < (0.3, 0.1)[data]
    tokens[same, 4] = tokens[same, 1]
    return [tuple(f"{token:08x}" for token in row) for row in tokens.tolist()]


AUDITS = {
    "records in random order": (group_by, 0.4),
    "frozensets": (members(frozenset), 0.35),
    "sorted lists": (members(list), 0.35),
    "two members": (members(list, 0.0, 0.75), 0.4),
    "equal tokens": (repeated_tokens, 0.9),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", AUDITS)
def test_what_is_nowhere_in_particular_is_found(name):
    sample, least = AUDITS[name]
    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=10_000, confidence=0.95, seed=1)
    assert bound.epsilon > least
    words = json.dumps(bound.event)
    assert "where city = 'city2'" in words or "occurrences of 'm" in words or "number of distinct texts" in words
    if bound.recipe is not None:
        score = score_from_json(json.loads(json.dumps(bound.recipe))["score"])
        outputs = as_array(sample(0, 500, np.random.default_rng(5)))
        assert np.array_equal(score(outputs), np.concatenate([score(outputs[:100]), score(outputs[100:])]))


@pytest.mark.slow
@pytest.mark.parametrize("name", AUDITS)
def test_equal_laws_are_not_refuted(name):
    sample, _ = AUDITS[name]
    bounds = [
        dpaudit.epsilon_lower_bound(lambda data, size, rng: sample(0, size, rng), 0, 1, samples=1000, seed=seed)
        for seed in range(6)
    ]
    assert [bound.epsilon for bound in bounds] == [0] * 6


def tokens(size, seed=1, *, rare=0.5, special="ff", usual="ab"):
    """Random texts of ten characters, of which the first two may be special."""
    rng = np.random.default_rng(seed)
    which = rng.random(size) < rare
    letters = np.array(list("0123456789abcdef"))[rng.integers(0, 16, (size, 8))]
    return [(special if one else usual) + "".join(row) for one, row in zip(which, letters, strict=True)]


BESIDE = {
    "tuples": lambda number, text: (number, text),
    "dicts": lambda number, text: {"id": text, "value": number},
    "dataclasses": lambda number, text: Entry(text, number),
    "bytes": lambda number, text: (number, text.encode()),
    "another length": lambda number, text: (number, text + "!" * (number % 3)),
    "another structure": lambda number, text: (number, text) if number % 7 else (number, text, None),
}


@pytest.mark.parametrize("kind", BESIDE)
def test_a_text_beside_a_number_has_its_characters_as_columns(kind):
    numbers = list(range(400))
    items = [BESIDE[kind](number, text) for number, text in zip(numbers, tokens(400), strict=True)]
    path = {"dicts": "['id']", "dataclasses": ".city"}.get(kind, "[1]")
    columns = by_name(items)
    texts = [item["id"] if kind == "dicts" else item.city if kind == "dataclasses" else item[1] for item in items]
    for place in range(10):
        codes = [text[place] if isinstance(text, bytes) else ord(text[place]) for text in texts]
        assert columns[f"code of output{path}[{place}]"].tolist() == codes
    if kind == "another length":
        assert columns[f"length of output{path}"].tolist() == list(map(len, texts))
        assert columns[f"code of output{path}[-1]"].tolist() == [ord(text[-1]) for text in texts]
        assert columns[f"code of output{path}[11]"].tolist() == [
            ord(text[11]) if len(text) > 11 else 0 for text in texts
        ]
    else:
        assert f"length of output{path}" not in columns


def test_texts_that_are_categories_or_alone_have_no_characters_beside_them():
    few = [(number, CITIES[number % 6]) for number in range(400)]
    assert not any(name.startswith("code of") for name in by_name(few))
    assert not any(name.startswith("code of") for name in by_name([[text] for text in tokens(400)]))
    assert not any(name.startswith("code of") for name in by_name(tokens(400)))


def test_a_character_is_written_down_and_read_again():
    for content in (
        Content("character", "['id']", None, 3),
        Content("character", "[1]", None, -2),
        Content("length", ".x"),
    ):
        assert Content.of(content.path) == content
    assert Content("character", "[1]", None, -2).name("output") == "code of output[1][-2]"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tuples", "bytes", "another length"])
def test_a_rare_beginning_of_a_text_beside_a_number_is_found(kind):
    def sample(data, size, rng):
        numbers = rng.integers(0, 1000, size).tolist()
        texts = tokens(size, int(rng.integers(1 << 30)), rare=0.02 if data else 0.002)
        return [BESIDE[kind](number, text) for number, text in zip(numbers, texts, strict=True)]

    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=60_000, confidence=0.95)
    assert 1.6 < bound.epsilon <= np.log(10)
