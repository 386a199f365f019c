"""Numbers and words in texts are seen as such, whatever stands before them; texts that hold nothing else are judged."""

import hashlib
import json
import math

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.learning.planted import identifier
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.outputs import Outputs
from dpaudit.auditors.outputs.text_fields import fields_of, numbers_after, numbers_at, occurrences_of, telling_fields
from dpaudit.testing import assert_private


def as_array(items):
    made = np.empty(len(items), dtype=object)
    made[:] = items
    return made


def by_name(items):
    """Columns that fit outputs, by their names."""
    outputs = as_array(items)
    columns = Columns.fit(outputs)
    return columns, dict(zip(columns.names, columns(outputs).T, strict=True))


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("0.5,-3", ["0.5", "-3"]),
        (b"a=1; b=2", ["a", "1", "b", "2"]),
        ('{"id": 7, "mean": 1e-3}', ["id", "7", "mean", "1e-3"]),
        ("2026-11-27 10:15:00", ["2026-11-27", "10", "15", "00"]),
        ("  ", []),
        ("", []),
    ],
)
def test_what_separates_fields(text, fields):
    assert fields_of([text]) == [fields]


@pytest.mark.parametrize(
    ("field", "number"),
    [
        ("12.5ms", 12.5),
        ("$3", 3),
        ("40%", 40),
        ("-1e3", -1000),
        (".5", 0.5),
        ("1e999", None),
        ("-inf", None),
        ("nan", None),
        ("1" * 41, None),
        ("user7", None),
        ("3f9a2", None),
        ("2026-11-27", None),
        ("", None),
    ],
)
def test_which_fields_are_numbers(field, number):
    for beside in ([["1"]], [["word"]]):  # converted together, and one by one
        numbers, there = numbers_at([[field], *beside], 0)
        assert there[0] == (number is not None)
        assert numbers[0] == (number or 0)


def test_fields_are_counted_from_either_end_and_may_be_absent():
    fields = fields_of(["1 2 3", "4", ""])
    assert [numbers_at(fields, place)[0].tolist() for place in (0, 2, -1, -2)] == [
        [1, 4, 0],
        [3, 0, 0],
        [3, 4, 0],
        [2, 0, 0],
    ]
    assert numbers_at(fields, -1)[1].tolist() == [True, True, False]


def test_numbers_are_read_behind_the_first_of_a_word():
    fields = fields_of(["b 1 a 2ms a 3", "a a 4", "b", "5 a", ""])
    numbers, there = numbers_after(fields, ["a", "b"])[0]
    assert (numbers.tolist(), there.tolist()) == ([2, 0, 0, 0, 0], [True, False, False, False, False])
    assert numbers_after(fields, ["a", "b"])[1][1].tolist() == [True, False, False, False, False]


def test_numbers_behind_a_word_have_columns_where_places_vary():
    _, found = by_name(["so " * (i % 3) + f"rate={i} " + "so " * (i % 2) for i in range(400)])
    assert found["number after 'rate' in output"].tolist() == list(range(400))
    assert "number after 'so' in output" not in found
    _, found = by_name([f"rate={i}" for i in range(400)])
    assert "number after 'rate' in output" not in found


def test_words_are_counted_wherever_they_stand():
    assert occurrences_of(fields_of(["no yes no", "yes", "maybe"]), ["no", "yes"]).tolist() == [[2, 1], [0, 1], [0, 0]]


COMPLETE = {
    "numbers": lambda i: f"{i},{i / 7:.4f}",
    "one number": lambda i: f"{i / 7:.4f}",
    "without zeros at the end": lambda i: f"{round(i / 8, 2):g}",
    "a unit": lambda i: f"took {i / 7:.2f}ms",
    "punctuation at both ends": lambda i: f"({i}, {i / 7:.3f})",
    "bytes": lambda i: f"{i},{i}".encode(),
    "numbers and a word": lambda i: f"x={i} {'yes' if i % 3 else 'no'}",
    "JSON": lambda i: f'{{"a": {i}, "b": [{i % 7}, 2.5]}}',
}
OTHERS = {
    "separators that differ": lambda i: f"{i},{i}" if i % 2 else f"{i};{i}",
    "units that differ": lambda i: f"{i}ms" if i % 2 else f"{i}us",
    "more digits than double precision": lambda i: f"{i}{'7' * 15}",
    "bits": lambda i: f"{i:09b}",
    "shortest": lambda i: f"{i / 7} {i}",
    "powers": lambda i: f"{i / 7:.5e}",
    "signs of zeros": lambda i: f"{'-' * (i % 2)}0.00 {i}",
    "equally many digits": lambda i: str(1000 + i),
    "zeros at the end": lambda i: f"{i / 7:.3f}" + "0" * (i % 2),
    "signs": lambda i: f"{i}" if i % 2 else f"+{i}",
    "capitals": lambda i: f"{i / 7:.5e}" if i % 2 else f"{i / 7:.5E}",
    "groups of digits": lambda i: f"{1000 * i:_}",
    "other digits": lambda i: "".join(chr(ord("٠") + int(each)) for each in str(i)),
    "texts and bytes": lambda i: f"{i}" if i % 2 else f"{i}".encode(),
    "several numbers of fields": lambda i: "1 " * (i % 3) + str(i),
    "names": lambda i: f"user{i} 5",
    "words at two places": lambda i: f"{i} {'yes no' if i % 2 else 'no yes'}",
    "no fields": lambda i: " " * (i + 1),
}


@pytest.mark.parametrize("form", COMPLETE)
def test_texts_of_numbers_and_common_words_are_read_in_full(form):
    texts = [COMPLETE[form](i) for i in range(400)]
    assert telling_fields(texts).form
    columns, found = by_name(texts)
    assert columns.read_as_fields == {""}
    assert not any(name.startswith(("output[", "kind of output[")) for name in found)
    beside, _ = by_name([{"line": text, "n": 1} for text in texts])
    assert beside.read_as_fields == {"['line']"}


@pytest.mark.slow
@pytest.mark.parametrize("form", OTHERS)
def test_other_texts_are_looked_at_character_by_character_too(form):
    texts = [OTHERS[form](i) for i in range(400)]
    assert not telling_fields(texts).form
    columns, _ = by_name(texts)
    assert not columns.read_as_fields
    beside, found = by_name([{"line": text, "n": 1} for text in texts])
    assert not beside.read_as_fields
    assert any(name.startswith(("code of", "length of")) for name in found)


def rows_of(numbers):
    return [",".join(map(repr, row)) for row in numbers.tolist()]


@pytest.mark.parametrize("digits", [3, 17])
def test_rows_of_a_wide_table_are_read_in_full(digits):
    numbers = np.random.default_rng(1).normal(size=(300, 400)).round(digits)
    columns, found = by_name(rows_of(numbers))
    assert columns.read_as_fields == {""}
    np.testing.assert_array_equal(
        np.stack([found[f"number in field {place} of output"] for place in range(400)], axis=1), numbers
    )
    assert len(found) < 450  # and nothing of their characters


def test_rows_of_a_wide_table_in_a_way_that_is_not_known_have_their_ends_looked_at():
    numbers = np.random.default_rng(2).normal(size=(300, 150))
    _, found = by_name([";".join(f"{x:+.4e}" for x in row) for row in numbers.tolist()])
    assert {"number in field 0 of output", "number in field 149 of output"} <= found.keys()
    assert sum(name.startswith("code of ") for name in found) in range(1, 64 + 8 + 1)


@pytest.mark.parametrize("wrap", [lambda text: text, lambda text: {"histogram": text, "seconds": 1.0}])
def test_a_number_far_behind_in_a_text_is_seen(wrap):
    def sample(data, size, rng):
        counts = rng.normal(scale=3, size=(size, 200))
        counts[:, 170] += 10 * data
        return [wrap(text) for text in rows_of(counts.round(2))]

    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=2000, seed=1)
    assert bound.epsilon > 2


def test_texts_beside_lists_leave_these_as_they_are():
    _, found = by_name([f"{i} {i}" if i % 4 else [i, i + 1] for i in range(800)])
    assert {"output[0]", "output[1]"} <= found.keys()


def test_columns_are_named_written_down_and_read_again():
    texts = [f"a={i} {'yes' if i % 3 else 'no'}" for i in range(400)]
    columns, found = by_name(texts)
    assert found["number in field 1 of output"].tolist() == list(range(400))
    assert found["occurrences of 'yes' in output"].tolist() == [float(i % 3 > 0) for i in range(400)]
    again = Columns(None, columns.categories, tuple(json.loads(json.dumps(columns.paths))), columns.kept)
    np.testing.assert_array_equal(again(as_array(texts)), columns(as_array(texts)))
    np.testing.assert_array_equal(
        np.concatenate([columns(as_array(texts[i : i + 1])) for i in range(5)]), columns(as_array(texts[:5]))
    )


def test_a_number_that_is_absent_is_told_from_0():
    texts = [f"x {i if i % 2 else 'none'}" for i in range(400)] + ["x 0"]
    _, found = by_name(texts)
    assert found["number in field 1 of output"][[0, 1, 400]].tolist() == [0, 1, 0]
    assert found["kind of number in field 1 of output"][[0, 1, 400]].tolist() == [-1, 0, 0]


def laplace(rng, size, scale=1.0):
    return rng.laplace(scale=scale, size=size).tolist()


def behind_another(data, size, rng):
    """A number behind one of varying width."""
    pairs = zip(laplace(rng, size, 1000), laplace(rng, size), strict=True)
    return [f"{a:.3f},{data + b:.3f}" for a, b in pairs]


def in_a_row(data, size, rng):
    rows = rng.laplace(scale=100, size=(size, 20))
    rows[:, 7] = data + rng.laplace(size=size)
    return [",".join(f"{x:.3f}" for x in row) for row in rows.tolist()]


def as_a_sum(data, size, rng):
    """Two numbers that say something together."""
    pairs = zip(laplace(rng, size, 1000), laplace(rng, size), strict=True)
    return [f"{a:.5f};{data + b - a:.5f}" for a, b in pairs]


def behind_words(data, size, rng):
    repeats = rng.geometric(0.4, size).tolist()
    return ["ab " * many + f"{data + b:.4f}" for many, b in zip(repeats, laplace(rng, size), strict=True)]


def beside_a_digest(data, size, rng):
    digests = rng.bytes(8 * size).hex()
    return [f"{digests[16 * i :][:16]} {data + b:.4f}" for i, b in enumerate(laplace(rng, size))]


def of_bytes(data, size, rng):
    return [text.encode() for text in behind_another(data, size, rng)]


def in_dicts(data, size, rng):
    return [{"line": text, "ok": True} for text in behind_another(data, size, rng)]


def with_a_unit(data, size, rng):
    users = rng.integers(0, 100_000, size).tolist()
    return [f"INFO user{u} latency={20 + data + b:.2f}ms" for u, b in zip(users, laplace(rng, size), strict=True)]


def with_keys_that_may_be_missing(data, size, rng):
    rows = rng.normal(scale=100, size=(size, 5)).round(3)
    rows[:, 3] = (data + rng.laplace(size=size)).round(3)
    there = rng.random((size, 5)) < 0.6
    there[:, 3] = True
    return [
        json.dumps({f"key{i}": x for i, (x, is_there) in enumerate(zip(row, some, strict=True)) if is_there})
        for row, some in zip(rows.tolist(), there.tolist(), strict=True)
    ]


FORMATS = {
    "zero at the end": ("{:.6f}", "{:.6f}0"),
    "sign": ("{:.6f}", "{:+.6f}"),
    "leading zeros": ("{:.3f}", "{:010.3f}"),
    "exponent of zero": ("0.00e+00 {:.9f}", "0.00e-00 {:.9f}"),
    "sign of zero": ("0.00 -0.00 {:.9f}", "-0.00 0.00 {:.9f}"),
    "exponent": ("5.00e+00 {:.9f}", "0.50e+01 {:.9f}"),
    "capital": ("{:.6e}", "{:.6E}"),
    "point": ("{:.0f}", "{:.0f}."),
    "separator": ("1,{:.3f}", "1;{:.3f}"),
    "unit": ("{:.3f}ms", "{:.3f}us"),
    "space at the end": ("{:.3f}", "{:.3f} "),
    "other digits": ("٣ {:.3f}", "3 {:.3f}"),
    "infinity": ("inf {:.3f}", "Infinity {:.3f}"),
    "too large": ("1e400 {:.3f}", "1e401 {:.3f}"),
}


IN_DICTS = ["zero at the end", "leading zeros", "exponent", "separator"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "inside"), [*((case, False) for case in FORMATS), *((case, True) for case in IN_DICTS)]
)
def test_how_numbers_are_written_is_seen(case, inside):
    """Equal numbers, written otherwise on each input: epsilon is infinite."""

    def sample(data, size, rng):
        texts = [FORMATS[case][data].format(value) for value in laplace(rng, size, 3)]
        return [{"text": text, "id": 1} for text in texts] if inside else texts

    assert dpaudit.epsilon_lower_bound(sample, 0, 1, samples=4_000, seed=1).epsilon > 5


@pytest.mark.slow
@pytest.mark.parametrize("other", ["{:.2f}0", "+{:.2f}", "{:.2f};", "{:.2f}ms", "about {:.2f}"])
def test_a_rare_other_form_is_seen(other):
    """It comes in 4 of 1,000 outputs on one input alone."""

    def sample(data, size, rng):
        odd = rng.random(size) < 0.004 * data
        return [
            (other if is_odd else "{:.2f}").format(value)
            for value, is_odd in zip(laplace(rng, size, 3), odd, strict=True)
        ]

    assert dpaudit.epsilon_lower_bound(sample, 0, 1, samples=50_000, seed=1, confidence=0.99).epsilon > 2


def token_and_count(data, size, rng):
    """A token that says all to whoever knows how it is made, beside a noisy count."""
    nonces = rng.integers(0, 2**48, size).tolist()
    digests = (hashlib.md5(f"{nonce}{data}".encode()).hexdigest()[:8] for nonce in nonces)
    noisy = laplace(rng, size, 2)
    return [f"nonce={a:012x} token={b} count={data + c:.2f}" for a, b, c in zip(nonces, digests, noisy, strict=True)]


def number_and_count(data, size, rng):
    nonces = rng.integers(0, 10**9, size).tolist()
    return [f"id={a} count={data + c:.2f}" for a, c in zip(nonces, laplace(rng, size, 2), strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (token_and_count, "a part of the text that hardly any other has"),
        (number_and_count, "number in field 1 of output"),
    ],
)
def test_what_identifies_in_a_text_is_noticed_beside_an_event(sample, words):
    with pytest.raises(AssertionError, match=rf"inconclusive(.|\n)*by {words}(.|\n)*an epsilon of 0\.[34]"):
        assert_private(sample, pairs=[(0, 1)], epsilon=1.0, samples=20_000, seed=2)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["{:.3f}msec", "{:.3f}~ok", "a_{:.2f}_b"])
def test_numbers_within_words_identify_nothing(form):
    def sample(data, size, rng):
        return [form.format(data / 2 + value) for value in laplace(rng, size)]

    found = assert_private(sample, pairs=[(0, 1)], epsilon=1.0, samples=10_000, seed=1)
    assert found.verdict == "consistent"


@pytest.mark.slow
def test_digits_that_are_bits_are_looked_at_one_by_one():
    """The first of ten reported bits is that of the input, with epsilon 1 for it."""

    def sample(data, size, rng):
        bits = rng.random((size, 10)) < 0.5
        bits[:, 4] = (rng.random(size) < 1 / (1 + math.e)) ^ bool(data)
        return ["".join(map(str, row)) for row in bits.astype(int).tolist()]

    assert 0.9 < dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000, seed=1).epsilon <= 1


def test_long_digits_are_read_in_a_moment():
    """A pattern that backtracks would take minutes for these."""
    numbers, there = numbers_at([["1" * 100_000 + "-x"], ["1"]] * 100, 0)
    assert numbers.tolist() == [0, 1] * 100
    assert there.tolist() == [False, True] * 100


LEAKS = [
    behind_another,
    with_keys_that_may_be_missing,
    in_a_row,
    as_a_sum,
    behind_words,
    beside_a_digest,
    of_bytes,
    in_dicts,
    with_a_unit,
]


@pytest.mark.slow
@pytest.mark.parametrize("sample", LEAKS)
def test_a_shifted_number_in_a_text_is_found(sample):
    """Half of Laplace noise lies beyond the larger centre: P = 1/2 and Q = 1/(2e) at epsilon 1."""
    found = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000, seed=1, confidence=0.99)
    trials = 16_000
    oracle = math.log(0.5 / (0.5 / math.e)) - 2.33 * math.sqrt((1 / 0.5 + math.e / 0.5 - 2) / trials)
    assert 0.94 * oracle <= found.epsilon <= 1.06


@pytest.mark.slow
@pytest.mark.parametrize("sample", [behind_another, in_a_row, as_a_sum, of_bytes, in_dicts])
def test_texts_that_are_read_in_full_may_be_consistent(sample):
    found = assert_private(lambda d, s, r: sample(0, s, r), pairs=[(0, 1)], epsilon=1.0, samples=20_000, seed=3)
    assert found.verdict == "consistent"
    assert found.measured["detection_limit"].lower < 1.2


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda r: [f"{i:012d}" for i in r.integers(0, 10**12, 2000).tolist()],
        lambda r: [{"id": f"{i:012d}", "n": 1.5} for i in r.integers(0, 10**12, 2000).tolist()],
        lambda r: [{"id": f"{i:016x} 5"} for i in r.integers(0, 2**63, 2000).tolist()],
    ],
    ids=["a text", "digits beside a number", "a digest in a dict"],
)
def test_digits_that_identify_still_do(make):
    x, y = (Outputs(as_array(make(np.random.default_rng(seed)))) for seed in (1, 2))
    if isinstance(x.raw[0], dict):
        assert identifier(x, y) is not None
    with pytest.raises(AssertionError, match="inconclusive"):
        assert_private(lambda d, s, r: _drawn(make, s, r), pairs=[(0, 1)], epsilon=1.0, samples=4000, seed=1)


def _drawn(make, size, rng):
    made = []
    while len(made) < size:
        made += make(rng)
    return made[:size]
