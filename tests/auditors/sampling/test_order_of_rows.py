"""Rows that depend on each other are noted by their order; random, sorted and grouped orders are not."""

import math

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.outputs.outputs import as_outputs
from dpaudit.auditors.sampling.again import copied, drawn_again, most_looked_at
from dpaudit.auditors.sampling.order import apart_notes, order_notes, row_numbers
from dpaudit.runner.bounds import judge_samples


def drawn(seed, size=5000):
    return np.random.default_rng(seed).laplace(size=size)


def records(**columns):
    size = len(next(iter(columns.values())))
    made = np.empty(size, dtype=[(name, np.asarray(values).dtype) for name, values in columns.items()])
    for name, values in columns.items():
        made[name] = values
    return made


@pytest.mark.parametrize("seed", range(20))
def test_random_orders_are_not_noted(seed):
    rng = np.random.default_rng(seed)
    for rows in (
        drawn(seed),
        np.round(drawn(seed)),
        rng.random(5000) < 0.1,
        rng.normal(size=(5000, 3)),
        np.array(["a", "b", "c"], dtype=object)[rng.integers(3, size=5000)],
        records(x=drawn(seed), t=np.array(["a", "b"], dtype=object)[rng.integers(2, size=5000)]),
    ):
        assert order_notes(rows, "A") == []


def test_sorted_and_grouped_rows_are_not_noted():
    groups = np.repeat(np.array([3, 1, 2]), [2000, 1000, 2000])
    for rows in (np.sort(drawn(1)), np.sort(np.round(drawn(2)))[::-1], groups, np.zeros(5000)):
        assert order_notes(rows, "A") == []
    ordered = np.sort(np.round(drawn(3)))
    assert order_notes(records(x=ordered, y=np.cumsum(drawn(4))), "A") == []


@pytest.mark.parametrize(
    "rows",
    [
        np.repeat(np.round(drawn(1, 500)), 10),
        np.repeat(drawn(1, 500), 10),
        np.cumsum(drawn(2)),
        np.repeat(np.array(["a", "b"], dtype=object)[np.random.default_rng(3).integers(2, size=500)], 10),
        records(x=drawn(4), y=np.cumsum(drawn(5))),
        np.tile(drawn(6, 2500), 2),
    ],
    ids=["repeated whole numbers", "repeated numbers", "walk", "repeated texts", "walk in a column", "written twice"],
)
def test_rows_that_depend_on_each_other(rows):
    (note,) = order_notes(rows, "A")
    assert note.startswith("rows of A seem to depend on those before them")


def test_row_numbers():
    (note,) = order_notes(records(i=np.arange(5000), x=drawn(1)), "A")
    assert note.startswith("column i of A grows by the same step from row to row")
    (note,) = order_notes(np.arange(5000)[::-1] * 0.5, "A")
    assert note.startswith("the output of A grows")


def structures(*rows):
    made = np.empty(len(rows), dtype=object)
    made[:] = rows
    return made


def tagged(seed, **columns):
    """Dicts with a noisy number and lists of varying length, and columns beside them."""
    sizes = np.random.default_rng(seed).integers(1, 4, size=5000).tolist()
    named = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)] or [{}] * 5000
    each = zip(named, drawn(seed).tolist(), sizes, strict=True)
    return structures(*({**beside, "x": x, "tags": ["a"] * size} for beside, x, size in each))


@pytest.mark.parametrize(
    "texts",
    [
        [f"{number:08x}" for number in sorted(set(np.random.default_rng(1).integers(2**32, size=4000).tolist()))],
        [str(np.datetime64("2024-01-01") + int(10 * step)) for step in np.cumsum(1 + drawn(2)[:100] ** 2)],
        [chr(0x4E00 + place) for place in range(4000)],
        ["a", "b"] * 2000,
    ],
    ids=["hexadecimal identifiers", "irregular days", "letters in order", "two texts"],
)
def test_texts_in_order_are_no_row_numbers(texts):
    """A table in the order of its key says nothing against the independence of its rows."""
    column = np.array(texts, dtype=object)
    assert row_numbers(records(id=column, x=drawn(1)[: len(column)])) == []
    assert row_numbers(column) == []


@pytest.mark.parametrize(
    "texts",
    [
        [f"run-{number}" for number in range(4000)],
        [f"run-{number:05}.csv" for number in range(4000, 8000)],
        [str(number) for number in range(4000, 0, -1)],
        [str(np.datetime64("2024-01-01") + day) for day in range(400)],
        [str(np.datetime64("2024-01-01T00:00:00") + 90 * step) for step in range(4000)],
    ],
)
def test_numbered_texts_are_row_numbers(texts):
    """Of two halves of one table, they would tell every row of either from those of the other."""
    column = np.array(texts, dtype=object)
    assert row_numbers(records(id=column, x=drawn(1)[: len(column)])) == ["column id"]
    assert row_numbers(column) == row_numbers(np.array(texts)) == [""]
    assert row_numbers(structures(*([text] for text in texts))) == ["output[0]"]


@pytest.mark.parametrize("text", [str, str.encode, lambda text: [text]], ids=["text", "bytes", "list of one"])
def test_halves_of_numbered_texts_are_refused(text):
    a, b = ([text(f"user{number}") for number in range(3000 * half, 3000 * (half + 1))] for half in (1, 2))
    mend = "leave it out of both" if isinstance(a[0], list) else "give what the mechanism puts out"
    with pytest.raises(dpaudit.CheckError, match=f"of A grows by the same step .*; {mend}"):
        dpaudit.bound_from_samples(a, b)


def test_numbers_in_an_array_of_each_record_are_columns():
    rows = np.zeros(5000, dtype=[("v", float, 3), ("k", int)])
    rows["v"][:, 0], rows["v"][:, 2], rows["k"] = drawn(1), np.arange(5000), drawn(2) > 0
    assert row_numbers(rows) == ["column v, number 3"]


@pytest.mark.slow
def test_row_numbers_in_structures():
    (note,) = order_notes(tagged(1, id=range(5000)), "A")
    assert note.startswith("output['id'] of A grows by the same step from row to row, as a row number does; leave it")
    rng = np.random.default_rng(2)
    values = [[i, *rng.laplace(size=rng.integers(3)).tolist()] for i in range(5000)]
    assert order_notes(structures(*values), "A")[0].startswith("output[0] of A grows by the same step")
    counted = [{"run": {"number": i}, "n": None if hidden else 1} for i, hidden in enumerate(rng.random(5000) < 0.3)]
    (note,) = order_notes(structures(*counted), "A")
    assert note.startswith("output['run']['number'] of A grows by the same step")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_random_orders_of_structures_are_not_noted(seed):
    rng = np.random.default_rng(seed)
    assert order_notes(tagged(seed), "A") == []
    assert order_notes(tagged(seed, y=sorted(drawn(seed + 100).tolist())), "A") == []
    assert order_notes(structures(*({str(k): 1 for k in rng.integers(9, size=3)} for _ in range(5000))), "A") == []
    assert order_notes(structures(*([f"u{rng.random()}"] * rng.integers(3) for _ in range(5000))), "A") == []
    assert order_notes(structures(*(set(rng.integers(500, size=200).tolist()) for _ in range(500))), "A") == []


@pytest.mark.slow
def test_structures_that_depend_on_each_other():
    (note,) = order_notes(tagged(1, y=np.cumsum(drawn(2)).tolist()), "A")
    assert note.startswith("rows of A seem to depend on those before them")
    (note, other) = order_notes(tagged(1, id=range(5000), y=np.cumsum(drawn(2)).tolist()), "A")
    assert note.startswith("output['id'] of A grows")
    assert other.startswith("rows of A seem to depend on those before them")


@pytest.mark.slow
def test_notes_reach_the_evidence():
    a, b = np.cumsum(drawn(1)), drawn(2)
    bound = dpaudit.bound_from_samples(a, b, claimed=1)
    assert len(bound.notes) == 1
    assert bound.notes[0] in judge_samples(bound, ("A", "B")).note
    assert dpaudit.bound_from_samples(b, drawn(3)).notes == ()


def copies(seed):
    rng = np.random.default_rng(seed)
    numbers, coins = rng.integers(0, 1000, 5000), rng.integers(0, 2, 5000)
    nearly = np.where(rng.random(5000) < 0.05, rng.integers(0, 1000, 5000), numbers)
    texts = [f"{value:.2f}" for value in rng.laplace(size=5000)]
    return {
        "numbers": (numbers, numbers.copy()),
        "in another order": (numbers, rng.permutation(numbers)),
        "nearly all": (numbers, nearly),
        "coins": (coins, coins.copy()),
        "texts": (texts, list(texts)),
        "rows": (rng.normal(size=(5000, 3)),) * 2,
        "with row numbers": (np.column_stack([np.arange(5000), numbers]), np.column_stack([np.arange(5000), nearly])),
        "the first of more": (numbers, np.concatenate([numbers, rng.integers(0, 1000, 2000)])),
    }


@pytest.mark.parametrize("kind", copies(0))
def test_copies_are_refused(kind):
    a, b = copies(1)[kind]
    with pytest.raises(dpaudit.CheckError, match=r"x and y have the same rows? .*were drawn independently"):
        dpaudit.bound_from_samples(a, b, names=("x", "y"))


@pytest.mark.parametrize(
    "law", ["coins", "numbers", "rounded", "sorted", "constant", "cycle", "row numbers", "weekdays"]
)
def test_independent_samples_are_no_copies(law):
    rng = np.random.default_rng(4)
    for _ in range(100):
        draws = [
            {
                "coins": lambda: rng.integers(0, 2, 2000),
                "numbers": lambda: rng.integers(0, 1000, 2000),
                "rounded": lambda: np.round(rng.laplace(size=2000)),
                "sorted": lambda: np.sort(rng.integers(0, 30, 2000)),
                "constant": lambda: (rng.random(2000) < 0.001).astype(int),
                "row numbers": lambda: np.column_stack([np.arange(2000), rng.integers(0, 2, 2000)]),
                "weekdays": lambda: np.column_stack([np.arange(2000) % 7, rng.integers(0, 2, 2000)]),
                "cycle": lambda: np.arange(2000) % 3 + rng.integers(0, 2, 2000),
            }[law]()
            for _ in range(2)
        ]
        assert copied(*map(as_outputs, draws), complete=True) == ""


def test_few_values_that_recur_are_a_discrete_law():
    rng = np.random.default_rng(1)
    a, b = (values[rng.integers(3, size=5000)] for values in rng.random((2, 3)))
    assert dpaudit.bound_from_samples(a, b, claimed=1).epsilon > 5
    a, b = (values[rng.integers(500, size=5000)] for values in rng.random((2, 500)))
    with pytest.raises(dpaudit.CheckError, match="drawn again and again"):
        dpaudit.bound_from_samples(a, b)


@pytest.mark.slow
@pytest.mark.parametrize("first", ["continuous", "discrete"])
def test_rows_of_wide_fixed_arrays_are_noticed(first):
    """Of 1,000 columns fewer rows are looked at; columns of few numbers recur in new rows too."""
    rng = np.random.default_rng(2)

    def drawn(array, size):
        return array[rng.integers(len(array), size=size)]

    arrays = rng.random((2, 1500, 1000))
    if first == "discrete":
        arrays[:, :, :900] = arrays[:, :, :900] < 0.5
    x, y = (drawn(array, 4000) for array in arrays)
    assert drawn_again(x, y) == pytest.approx(1500 * (1 - math.exp(-4000 / 1500)), rel=0.05)
    assert most_looked_at(x) == 4000
    assert drawn_again(*rng.random((2, 4000, 1000))) is None


@pytest.mark.slow
def test_a_function_that_draws_from_wide_fixed_arrays_is_noticed():
    arrays = np.random.default_rng(3).random((2, 700, 400))
    with pytest.raises(dpaudit.CheckError, match=r"draw some [67][0-9][0-9] outputs again and again"):
        dpaudit.epsilon_lower_bound(
            lambda data, size, rng: arrays[data][rng.integers(700, size=size)], 0, 1, samples=4000
        )


STEPS = np.cumsum(np.random.default_rng(3).integers(1, 4, 8000))


@pytest.mark.slow
@pytest.mark.parametrize(
    "values",
    [
        STEPS,
        STEPS.astype("datetime64[s]"),
        np.arange(8000) // 100,
        np.array([f"run-{step}" for step in STEPS], dtype=object),
        np.array([str(step) for step in STEPS.astype("datetime64[s]")], dtype=object),
    ],
    ids=["numbers with gaps", "times", "days of a hundred", "numbered texts", "written times"],
)
def test_columns_that_go_on_from_one_file_to_the_other_are_noted(values):
    first, second = (records(t=half, x=drawn(seed, 4000)) for seed, half in enumerate((values[:4000], values[4000:])))
    for sides in ((first, second), (second, first)):
        (note,) = apart_notes(sides, ("A", "B"))
        assert note.startswith("column t never falls from row to row, and all its values in A are on one side of those")
    bound = dpaudit.bound_from_samples(first, second)
    assert bound.epsilon > 3
    assert any("column t never falls" in each for each in bound.notes)


def test_columns_of_one_range_and_those_in_no_order_are_not_noted():
    times = records(t=STEPS[:4000], x=drawn(1, 4000))
    assert apart_notes((times, times), ("A", "B")) == []
    later = records(t=np.random.default_rng(4).permutation(STEPS[4000:]), x=drawn(2, 4000))
    assert apart_notes((times, later), ("A", "B")) == []
    assert apart_notes((np.zeros(4000), np.ones(4000)), ("A", "B")) == []
    names = (np.array([letter] * 4000, dtype=object) for letter in "ab")
    assert apart_notes(tuple(names), ("A", "B")) == []


def test_times_in_structures_that_go_on_are_noted():
    rows = [[{"t": int(step), "x": x} for step, x in zip(half, drawn(seed, 4000).tolist(), strict=True)]
            for seed, half in enumerate((STEPS[:4000], STEPS[4000:]))]  # fmt: skip
    sides = tuple(as_outputs(structures(*half)).raw for half in rows)
    (note,) = apart_notes(sides, ("A", "B"))
    assert note.startswith("output['t'] never falls")


def test_columns_that_are_each_sorted_are_noted():
    """Sorted by itself, each column pairs numbers of different outputs; rows in the order of one column stay rows."""
    outputs = np.random.default_rng(5).laplace(size=(4000, 3))
    (note,) = order_notes(np.sort(outputs, axis=0), "A")
    assert note.startswith("column 1, column 2 and column 3 of A are each in order from row to row;")
    (note,) = order_notes(np.sort(outputs, axis=0)[::-1] * [1, -1, 1], "A")
    assert note.startswith("column 1, column 2 and column 3 of A")
    assert order_notes(outputs[np.argsort(outputs[:, 1])], "A") == []
    beside = outputs.copy()
    beside[:, 0] = np.sort(beside[:, 0])
    beside[:, 2] = np.sort(beside[:, 2] > 0)
    assert order_notes(beside, "A") == []


@pytest.mark.slow
def test_a_bound_from_files_of_sorted_columns_has_the_note():
    rows = [np.sort(np.random.default_rng(seed).laplace(size=(4000, 2)), axis=0) for seed in (6, 7)]
    bound = dpaudit.bound_from_samples(*rows)
    assert any("are each in order from row to row" in note for note in bound.notes)


WRITTEN = {
    "run": "run-{}",
    "padded": "run-{:06d}",
    "in front": "{}-run",
    "inside": "r{}/x",
    "hexadecimal": "{:08x}",
    "hexadecimal behind": "id {:06X}",
    "times": None,
}


def written(name, number):
    if WRITTEN[name] is None:
        return str(np.datetime64("2024-01-01T00:00:00") + number)
    return WRITTEN[name].format(number)


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize(
    ("made", "label"),
    [
        (lambda text, x: {"id": text, "x": x}, "output['id']"),
        (lambda text, x: (text, x), "output[0]"),
        (lambda text, x: {"meta": {"id": text}, "x": x, "tags": ["a"] * (x > 0)}, "output['meta']['id']"),
    ],
    ids=["dicts", "tuples", "varied"],
)
def test_texts_in_structures_that_count_are_refused(name, made, label):
    rows = [[made(written(name, at + 4000), x) for at, x in enumerate(drawn(seed, 3000).tolist())] for seed in (1, 2)]
    assert row_numbers(structures(*rows[0])) == [label]
    with pytest.raises(dpaudit.CheckError, match=r"A grows by the same step.*leave it out of both"):
        dpaudit.bound_from_samples(*rows)


def test_flat_texts_that_count_in_hexadecimal_are_refused():
    texts = np.array([f"{0x0FF0 + at:08x}" for at in range(3000)], dtype=object)
    assert row_numbers(records(id=texts, x=drawn(1, 3000))) == ["column id"]
    shuffled = np.random.default_rng(1).permutation(texts)
    assert row_numbers(records(id=shuffled, x=drawn(1, 3000))) == []
    assert row_numbers(np.array(["same"] * 3000, dtype=object)) == []
    words = np.array([f"{word}s" for word in ["bead", "cafe", "face", "deed"] * 750], dtype=object)
    assert row_numbers(words) == []


@pytest.mark.slow
@pytest.mark.parametrize("gap", [1.0, 1.05])
def test_columns_that_grow_in_both_files_are_noted(gap):
    rng = np.random.default_rng(2)
    sides = [np.column_stack([np.cumsum(rng.exponential(each, 4000)), rng.laplace(size=4000)]) for each in (1.0, gap)]
    (note,) = apart_notes(tuple(sides), ("A", "B"))
    assert note.startswith("column 1 never falls from row to row in A and in B; if it says when a row was written")
    assert any("column 1 never falls" in each for each in dpaudit.bound_from_samples(*sides).notes)
    assert apart_notes((sides[0], sides[1][::-1]), ("A", "B")) == []
    assert apart_notes(tuple(side[:, 0] for side in sides), ("A", "B")) == []
