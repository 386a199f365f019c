"""What programs answer arrives as it was written, in every format."""

import json
import math
import sys

import numpy as np
import pytest

import dpaudit

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="commands need pipes that can be waited for")

NUMPY = """
sys.path[:] = {path!r}
import numpy as np
hello(format={form!r}, seeded=False{more})
def save(values):
    # numpy looks for the position in a file, which a pipe has not.
    import io
    room = io.BytesIO()
    np.save(room, values, allow_pickle=True)
    out.buffer.write(room.getvalue())
for data, size, rng in requests():
    values = np.asarray({values})
    {write}
    out.buffer.flush()
"""


def draw(mechanism, size=8, data=0, seed=1):
    return mechanism.sample(data, size, np.random.default_rng(seed))


def lines(*values, **more):
    """A program whose outputs are these lines, again and again."""
    return (
        f"hello(seeded=False, {', '.join(f'{key}={value!r}' for key, value in more.items())})\n"
        f"import itertools\nfor _, size, _ in requests(): say(*itertools.islice(itertools.cycle({values!r}), size))"
    )


@pytest.mark.parametrize(
    ("written", "more", "expected"),
    [
        (["1", "-2", "9007199254740993"], {}, [1, -2, 9007199254740993]),
        (["1", "2.5", "1e3"], {}, [1, 2.5, 1000.0]),
        (["1", "2"], {"dtype": "float64"}, np.array([1.0, 2.0])),
        (['"a"', '"b, c"'], {}, ["a", "b, c"]),
        (["[1, 2]", "[3, 4]"], {"dtype": "int64"}, np.array([[1, 2], [3, 4]])),
        (['{"count": 3}', "null"], {}, [{"count": 3}, None]),
        (["true", "false"], {}, [True, False]),
        (["1e999", "-Infinity"], {}, [math.inf, -math.inf]),
        (["1\r", "2\r"], {}, [1, 2]),
        (["7", "9007199254740993"], {"format": "csv"}, np.array([7, 9007199254740993])),
        (["0.5,1", "-1e-3,2"], {"format": "csv"}, np.array([[0.5, 1.0], [-0.001, 2.0]])),
        (["1,x", '2,"y, z"'], {"format": "csv"}, [(1, "x"), (2, "y, z")]),
        (["01", "1"], {"format": "csv", "dtype": "text"}, ["01", "1"]),
        (["1", "0.5"], {"format": "csv", "dtype": "float64"}, np.array([1.0, 0.5])),
        (["inf", "-inf"], {"format": "csv"}, np.array([math.inf, -math.inf])),
    ],
)
@pytest.mark.slow
def test_lines(command, written, more, expected):
    found = draw(command(lines(*written, **more), name="lines"), 2 * len(written))
    twice = np.concatenate([expected, expected]) if isinstance(expected, np.ndarray) else expected * 2
    if isinstance(expected, np.ndarray):
        assert found.dtype == twice.dtype
        assert np.array_equal(found, twice)
    else:
        assert list(found) == twice
        assert [type(each) for each in found] == [type(each) for each in twice]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("written", "more", "words"),
    [
        (["1", "2", "3", "4", "x"], {"format": "csv"}, ["'x' in line 5", "no int64, which its first answer had"]),
        (["1", "2", "3", "4", "0.5"], {"format": "csv"}, ["'0.5' in line 5", 'say "dtype": "float64"']),
        (["1", "2", "3", "4", "5,6"], {"format": "csv"}, ["'5,6' in line 5", "2 columns, and others have 1"]),
        (["1", "2", "3", "4", ""], {"format": "csv"}, ["'' in line 5", "empty"]),
        (
            ["1", "2", "3", "4", "99999999999999999999"],
            {"format": "csv", "dtype": "int64"},
            ["no int64, which the first"],
        ),
        (["1", "2", "3", "4", "1_0"], {"format": "csv", "dtype": "float64"}, ["'1_0' in line 5", "no float64"]),
        (["a", "b", "c", "d", '"e'], {"format": "csv"}, ["line 5", "no CSV"]),
        (["1", "2", "3", "4", "true"], {"dtype": "float64"}, ["'true' in line 5", "no float64"]),
        (["1", "2", "3", "4", "1.5"], {"dtype": "int64"}, ["'1.5' in line 5", "no int64"]),
        (['"a"', '"b"', '"c"', '"d"', "5"], {"dtype": "text"}, ["'5' in line 5", "not text"]),
        (["[1]", "[1]", "[1]", "[1]", "[1, 2]"], {"dtype": "int64"}, ["not an array of int64"]),
        (['{"a": 1}'] * 4 + ['{"a": 1, "b": 0, "a": 2}'], {}, ["in line 5", "key 'a' stands twice", "every key once"]),
        (["[{}]"] * 4 + ['[{"b": {"a": 1, "a": 1}}]'], {}, ["in line 5", "key 'a' stands twice", "would be lost"]),
    ],
)
def test_a_line_that_does_not_fit(command, written, more, words):
    body = lines(*written, **more)
    with pytest.raises(dpaudit.CheckError) as caught:
        draw(command(body), 10)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def numpy_program(form, values, write, more=""):
    return NUMPY.format(path=sys.path, form=form, values=values, write=write, more=more)


SAVE = "save(values)"
ARRAYS = [
    ("npy", "np.arange(size) - 3", SAVE, "", np.arange(8) - 3),
    ("npy", "np.arange(size) / 4", SAVE, "", np.arange(8) / 4),
    ("npy", "np.arange(size, dtype='>i2')", SAVE, "", np.arange(8, dtype=np.int16)),
    ("npy", "np.arange(3 * size).reshape(size, 3)", SAVE, "", np.arange(24).reshape(8, 3)),
    ("npy", "np.asfortranarray(np.arange(3 * size).reshape(size, 3))", SAVE, "", np.arange(24).reshape(8, 3)),
    ("npy", "np.arange(size) > 3", SAVE, "", np.arange(8) > 3),
    ("npy", "np.array(['ab', 'c'] * (size // 2))", SAVE, "", np.array(["ab", "c"] * 4)),
    ("raw", "np.arange(size)", "out.buffer.write(values.tobytes())", ", dtype='<i8'", np.arange(8)),
    ("raw", "np.arange(size, dtype='>u4')", "out.buffer.write(values)", ", dtype='>u4'", np.arange(8, dtype=np.uint32)),
    (
        "raw",
        "np.arange(4.0 * size)",
        "out.buffer.write(values.tobytes())",
        ", dtype='float64', shape=[2, 2]",
        np.arange(32.0).reshape(8, 2, 2),
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("form", "values", "write", "more", "expected"), ARRAYS)
def test_arrays(command, form, values, write, more, expected):
    found = draw(command(numpy_program(form, values, write, more)))
    assert np.array_equal(found, expected)
    assert found.dtype == expected.dtype
    assert found.dtype.isnative


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "values", "write", "more", "words"),
    [
        ("npy", "np.arange(size - 1)", SAVE, "", ["shape (1,)", "too few for the 2 outputs"]),
        ("npy", "np.arange(size + 1)", SAVE, "", ["shape (3,)", "too many for the 2 outputs"]),
        ("npy", "7", SAVE, "", ["shape ()", "too few"]),
        ("npy", "[None] * size", SAVE, "", ["array of object"]),
        ("npy", "np.arange(size)", "out.buffer.write(b'[0, 1, 2, 3]')", "", ["where a npy file should begin"]),
        ("npy", "np.arange(size)", SAVE + "; out.buffer.write(b'x')", "", ["more than it was asked for"]),
        ("raw", "np.arange(size)", "out.buffer.write(values.tobytes()); os._exit(0)", ", dtype='<i8'", ["ended"]),
        ("raw", "np.arange(size + 1)", "out.buffer.write(values.tobytes())", ", dtype='<i8'", ["more than it was"]),
    ],
)
def test_arrays_that_do_not_fit(command, form, values, write, more, words):
    with pytest.raises(dpaudit.CheckError) as caught:
        draw(command(numpy_program(form, values, write, more)))
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.slow
def test_outputs_depend_on_the_seed_and_not_on_how_they_are_written(command):
    """One generator behind every format gives the same numbers in all of them."""
    table = {
        "jsonl": "say(*values)",
        "csv": "say(*values)",
        "npy": SAVE,
    }
    values = "[rng.getrandbits(40) for _ in range(size)]"
    found = {form: draw(command(numpy_program(form, values, write), name=form), 100) for form, write in table.items()}
    found["raw"] = draw(
        command(numpy_program("raw", values, "out.buffer.write(values.tobytes())", ", dtype='<i8'")), 100
    )
    for each in found.values():
        assert list(each) == list(found["jsonl"])
    assert len(set(found["jsonl"])) > 90


@pytest.mark.slow
def test_arrow(command):
    pytest.importorskip("pyarrow")
    write = """pa = __import__("pyarrow")
    table = pa.table({"a": values, "b": values / 2})
    with pa.ipc.new_stream(out.buffer, table.schema) as stream: stream.write_table(table, max_chunksize=3)"""
    body = numpy_program("arrow", "np.arange(size)", write)
    assert np.array_equal(draw(command(body)), np.column_stack([np.arange(8), np.arange(8) / 2]))
    one = body.replace(', "b": values / 2', "")
    assert np.array_equal(draw(command(one, name="one")), np.arange(8))
    texts = body.replace('"b": values / 2', '"b": [None if v % 2 else str(v) for v in values]')
    assert draw(command(texts, name="texts"), 3) == [(0, "0"), (1, None), (2, "2")]
    short = body.replace("np.arange(size)", "np.arange(size + 1)")
    with pytest.raises(dpaudit.CheckError, match="wrote 3 rows in its answer to request 1, where 2"):
        draw(command(short, name="short"))
    with pytest.raises(dpaudit.CheckError, match="where an Arrow IPC stream should begin"):
        draw(command(numpy_program("arrow", "np.arange(size)", "out.buffer.write(b'x' * 100)"), name="noise"))


@pytest.mark.slow
def test_arrow_without_its_library(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(dpaudit.ParameterError, match=r"need pyarrow; pip install 'dpaudit\[arrow\]'"):
        draw(command("hello(format='arrow')\nsys.stdin.read()"))


@pytest.mark.slow
def test_requests_are_as_the_protocol_says(command, tmp_path):
    file = tmp_path / "requests"
    body = f"""
hello()
for line in sys.stdin:
    open({str(file)!r}, "a").write(line)
    asked = json.loads(line)
    say(*[random.Random(f"{{asked['seed']}} {{i}}").random() for i in range(asked["size"])])
"""
    pair = ({"ages": [1, 2.5], "name": "é"}, np.arange(3))
    mechanism = command(body, pairs=[pair])
    for place, data in enumerate(mechanism.neighbours().pairs[0]):
        draw(mechanism, 5 + place, data, seed=place)
    asked = [json.loads(line) for line in file.read_text().splitlines()]
    assert all(set(each) == {"input", "size", "seed"} for each in asked)
    assert [(each["input"], each["size"]) for each in asked[-2:]] == [(pair[0], 5), ([0, 1, 2], 6)]
    assert len({each["seed"] for each in asked[-2:]}) == 2
    assert all(0 <= each["seed"] < 2**53 for each in asked)
