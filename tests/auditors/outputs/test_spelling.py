"""Which fields of a text are written otherwise than in most texts, and which words stand where."""

import json

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.contents import Content
from dpaudit.auditors.outputs.spelling import Spelling, fields_in, fixed_decimals, odd_fields
from dpaudit.auditors.outputs.text_fields import telling_fields

NO_WORDS = frozenset()


def by_name(items):
    outputs = np.empty(len(items), dtype=object)
    outputs[:] = items
    columns = Columns.fit(outputs)
    return dict(zip(columns.names, columns(outputs).T, strict=True))


@pytest.fixture(scope="module")
def written():
    """Of a whole number, one of two decimals and a word."""
    texts = [f"{i},{i / 4:.2f},{'xy'[i % 2]}" for i in range(100)]
    return Spelling.of(texts, [NO_WORDS, NO_WORDS, frozenset("xy")]).written


@pytest.mark.parametrize(
    ("text", "odd"),
    [
        ("7,2.50,x", []),
        (b"7,2.50,y", []),
        ("7,2.5,x", [1]),
        ("+7,2.50,x", [0]),
        ("7;2.50,x", [1]),
        ("7, 2.50,x", [1]),
        ("7,2.500,x", [1]),
        ("7,2.50x,x", [1]),
        ("7,2.50,xx", [2]),
        ("7,2.50,z", [2]),
        ("7,2.50,x ", [2]),
        (" 7,2.50,x", [0]),
        ("07,2.5,z", [0, 1, 2]),
        ("07,2.50,z", [0, 2]),
        ("7,2.50", [2]),
        ("7,2.50,x,7", [3]),
        ("", [0, 1, 2]),
        (",", [0, 1, 2]),
    ],
)
def test_which_fields_are_written_otherwise(written, text, odd):
    assert odd_fields([text], written).tolist() == [[odd[0], odd[-1], len(odd)] if odd else [-1, -1, 0]]


def test_many_fields_are_compared_as_each_alone():
    """Against a comparison of one field after the other, by their kinds."""
    rng = np.random.default_rng(1)
    texts = [",".join(f"{x:.2f}" for x in row) for row in rng.normal(scale=3, size=(400, 70)).tolist()]
    usual = Spelling.of(texts, [NO_WORDS] * 70)
    assert {style for _, style in usual.fields} == {f"(?:{fixed_decimals(2)})"}
    expected = []
    for row in range(400):
        fields = texts[row].split(",")
        odd = sorted(rng.choice(70, size=rng.integers(0, 5), replace=False).tolist())
        for place in odd:
            fields[place] += "0"
        texts[row] = ",".join(fields)
        odd = [place for place, field in enumerate(fields) if place in odd or field == "-0.00"]
        expected.append([odd[0], odd[-1], len(odd)] if odd else [-1, -1, 0])
    assert odd_fields(texts, usual.written).tolist() == expected


@pytest.mark.parametrize(
    ("write", "other"),
    [
        ("{:.3e}".format, "{:.3E}".format),
        (repr, lambda x: f"{x!r}0"),
        ("{:+.2f}".format, "{:.2f}".format),
        (lambda x: f"{x:.1f}ms", lambda x: f"{x:.1f}us"),
        (lambda x: str(int(x)), lambda x: f"{int(x)}."),
        (lambda x: repr(round(x, 2)), lambda x: f"{round(x, 2)}0"),
    ],
    ids=["power", "shortest", "signs", "unit", "whole", "rounded"],
)
def test_ways_to_write_numbers_are_known(write, other):
    numbers = (np.random.default_rng(2).normal(scale=30, size=(200, 3)) + 0.0001).tolist()
    texts = [" ".join(map(write, row)) for row in numbers]
    usual = Spelling.of(texts, [NO_WORDS] * 3).written
    assert not odd_fields(texts, usual)[:, 2].any()
    odd = [f"{write(abs(a) + 1)} {other(abs(b) + 1)} {write(abs(c) + 1)}" for a, b, c in numbers]
    assert odd_fields(odd, usual).tolist() == [[1, 1, 1]] * 200


def test_a_place_with_two_ways_is_compared_with_the_others():
    """A third of the numbers at one place have other decimals."""
    numbers = np.random.default_rng(3).normal(scale=30, size=(300, 4)).tolist()
    texts = [f"{a:.2f};{b:.2f};{c:.{3 if row % 3 == 0 else 2}f};{d:.2f}" for row, (a, b, c, d) in enumerate(numbers)]
    found = odd_fields(texts, Spelling.of(texts, [NO_WORDS] * 4).written)
    assert found[:, 0].tolist() == [2 if row % 3 == 0 else -1 for row in range(300)]


def test_a_spelling_is_read_as_it_was_written(written):
    usual = Spelling.read(written)
    assert usual.written == written
    texts = ["(1 .5)", "(2 .25)"] * 50
    around = Spelling.of(texts, [NO_WORDS] * len(fields_in(texts[0])))
    assert ([before for before, _ in around.fields], around.end) == (["(", " "], ")")
    assert Spelling.read(around.written) == around


@pytest.mark.parametrize("wrong", ["", "3", "[]", '[[["", "("]], [[0, 1]], ""]', '[[], [[0, 1]], ""]', "[[[]], 1, 2]"])
def test_what_is_no_spelling_is_refused(wrong):
    with pytest.raises(ValueError, match="no spelling"):
        Spelling.read(wrong)
    assert Content.of(Content("odd", "", None, wrong).path) is None


def test_columns_say_which_fields_and_words():
    words = [("yes" if i % 2 else "no", "yes" if i % 3 else "no") for i in range(400)]
    signs, decimals = [i % 7 == 0 for i in range(400)], [i % 5 == 0 for i in range(400)]
    texts = [
        f"{'+' * signed}{i},{i / 4:.{2 + more}f} {one} {other}"
        for i, (signed, more, (one, other)) in enumerate(zip(signs, decimals, words, strict=True))
    ]
    found = by_name(texts)
    either = [signed or more for signed, more in zip(signs, decimals, strict=True)]
    first = "first field of output that is written otherwise than most"
    assert found[first].tolist() == [float(more and not signed) for signed, more in zip(signs, decimals, strict=True)]
    assert found[f"kind of {first}"].tolist() == [0.0 if odd else -1.0 for odd in either]
    assert found[first.replace("first", "last")].tolist() == decimals
    number = found["number of fields of output that are written otherwise than most"]
    assert number.tolist() == [signed + more for signed, more in zip(signs, decimals, strict=True)]
    assert found["whether field 2 of output is 'yes'"].tolist() == [one == "yes" for one, _ in words]
    assert found["whether field 3 of output is 'no'"].tolist() == [other == "no" for _, other in words]


def test_texts_that_are_written_alike_have_no_such_columns():
    found = by_name([f"{i},{i / 7:.4f},{'yes' if i % 2 else 'no'}" for i in range(400)])
    assert not any("otherwise" in name or "whether field" in name for name in found)


def test_words_of_all_places_are_looked_at_before_more_of_one():
    rng = np.random.default_rng(4)
    texts = [" ".join(f"w{word}" for word in row) for row in rng.integers(0, 8, size=(1000, 60)).tolist()]
    found = telling_fields(texts).words_at
    assert len(found) == 128
    assert {place for place, _ in found} == set(range(60))


def test_words_at_their_places_leave_room_for_other_texts():
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 4, size=(500, 2, 100)).tolist()
    numbers = rng.normal(size=(500, 2)).tolist()
    texts = [
        [" ".join(f"w{each}" for each in row) + f" {x:.3f}" for row, x in zip(*both, strict=True)]
        for both in zip(rows, numbers, strict=True)
    ]
    found = by_name([{"a": one, "b": other} for one, other in texts])
    assert {f"number in field 100 of output['{key}']" for key in "ab"} <= found.keys()
    assert any(name.startswith("code of output['b']") for name in found)
    assert any(name.startswith("whether field") for name in found)


def test_contents_are_written_down_and_read_again(written):
    for content in (Content("word-at", "['line']", None, 3, "yes"), Content("first-odd", "", None, written)):
        assert Content.of(json.loads(json.dumps(content.path))) == content


def numbers_of(size, rng, many):
    return rng.normal(scale=3, size=(size, many)).tolist()


def without_zeros(data, size, rng):
    """One of 200 numbers has no zeros at its end on the second input."""
    for row in numbers_of(size, rng, 200):
        fields = [f"{x:.2f}" for x in row]
        fields[120] = repr(round(row[120], 2)) if data else fields[120]
        yield ",".join(fields)


def with_a_space(data, size, rng):
    """A space stands before one of 200 numbers in a tenth of the outputs on the second input."""
    for row in numbers_of(size, rng, 200):
        fields = [f"{x:.2f}" for x in row]
        fields[150] = " " * (data and rng.random() < 0.1) + fields[150]
        yield ",".join(fields)


def one_of_many_words(data, size, rng):
    """One of 200 words says which input it is."""
    for row in rng.random((size, 200)) < 0.5:
        row[100] = data
        yield " ".join(np.where(row, "yes", "no").tolist())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sample", "least"), [(without_zeros, 2), (with_a_space, 2), (one_of_many_words, 5)], ids=["zeros", "space", "word"]
)
def test_how_one_of_many_fields_is_written_is_seen(sample, least):
    def texts(data, size, rng):
        return list(sample(data, size, rng))

    assert dpaudit.epsilon_lower_bound(texts, 0, 1, samples=10_000, seed=1).epsilon > least


@pytest.mark.slow
@pytest.mark.parametrize("sample", [without_zeros, with_a_space, one_of_many_words], ids=lambda each: each.__name__)
def test_texts_of_one_law_have_no_bound(sample):
    def texts(data, size, rng):
        return list(sample(1, size, rng))

    assert dpaudit.epsilon_lower_bound(texts, 0, 1, samples=4_000, seed=1).epsilon == 0
