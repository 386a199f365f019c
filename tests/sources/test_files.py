"""Files of outputs: every form gives the same arrays, chunk by chunk, and what is wrong is told with its place."""

import gzip
import json
import sys
import zipfile
from decimal import Decimal

import numpy as np
import pytest

import dpaudit
from dpaudit.sources import rows as row_files
from dpaudit.sources import tables
from dpaudit.sources.files import by_label, pairs_in, read_table

X, N, T = [1.5, -2.0, 3e300, 4.0], [1, -2, 3, 4], ["a", "b c", "ä,", "a"]


def read(path):
    table = read_table(path)
    chunks = list(table.chunks())
    assert sum(map(len, chunks)) == table.rows
    return np.concatenate(chunks) if chunks else None


def write(folder, name, content):
    content = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return folder / name


@pytest.fixture(params=[2, 65_536], ids=["chunks of two", "one chunk"])
def chunk(request, monkeypatch):
    for module in (
        tables,
        row_files,
        sys.modules["dpaudit.sources.numpy_files"],
        sys.modules["dpaudit.sources.columnar"],
    ):
        monkeypatch.setattr(module, "CHUNK", request.param)


@pytest.mark.usefixtures("chunk")
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_csv(tmp_path, ending):
    def of(content):
        return read(write(tmp_path, f"x.{ending}", content))

    assert of("1\n-2\n3\n4\n").tolist() == N
    assert of("1\n-2\n3\n4\n").dtype == np.int64
    assert of("x\n1.5\n-2\n3e300\n4\n\n\n").tolist() == X
    assert of("1,2\n\n3,4\n").tolist() == [[1, 2], [3, 4]]
    assert of("1\n-2\n3.5\n4").tolist() == [1, -2, 3.5, 4]
    assert of("1,2\r\n3,4\r\n").tolist() == [[1, 2], [3, 4]]
    assert of("\ufeffa\nb\na\nb\na\n").tolist() == ["a", "b", "a", "b", "a"]
    assert of("who\na\nb\na\n").tolist() == ["a", "b", "a"]
    named = of('n,x,t\n1,1.5,a\n-2,-2.0,b c\n3,3e300,"ä,"\n4,4.0,a\n')
    assert named.dtype.names == ("n", "x", "t")
    assert [named[name].tolist() for name in named.dtype.names] == [N, X, T]
    assert of("1,a\n2,b\n").dtype.names == ("column1", "column2")
    assert of("a,1\nb,inf\n")["column2"].tolist() == [1, np.inf]
    # A text that looks like a number is one of the texts of its column.
    assert of("t,x\na,1\n2,1\n")["t"].tolist() == ["a", "2"]


@pytest.mark.usefixtures("chunk")
@pytest.mark.parametrize("ending", ["jsonl", "ndjson.gz"])
def test_json_lines(tmp_path, ending):
    def of(*values):
        return read(write(tmp_path, f"x.{ending}", "\n".join(map(json.dumps, values))))

    assert of(*N).tolist() == N
    assert of(1, 2.5, 3).tolist() == [1, 2.5, 3]
    assert of(*T).tolist() == T
    assert of([1, 2], [3, 4.5]).tolist() == [[1, 2], [3, 4.5]]
    assert of(True, False).tolist() == [1, 0]
    nested = of({"sum": {"of": [1, 2]}, "t": "a"}, {"t": "b", "sum": {"of": [3, 4.5]}})
    assert nested.dtype.names == ("sum.of[0]", "sum.of[1]", "t")
    assert nested.tolist() == [(1, 2, "a"), (3, 4.5, "b")]
    assert of([{"x": 1}, {"x": "a"}], [{"x": 2}, {"x": "b"}]).dtype.names == ("[0].x", "[1].x")
    named = of({"t": "a", "x": 1}, {"x": 2.5, "t": "b"})
    assert named.dtype.names == ("t", "x")
    assert [named[name].tolist() for name in ("t", "x")] == [["a", "b"], [1, 2.5]]


@pytest.mark.usefixtures("chunk")
@pytest.mark.parametrize(
    "values",
    [
        [{"oslo": 1, "rome": [2.5]}, {"rome": [], "oslo": True}, {}, {"bonn": "a"}],
        [{"x": 1}, {"x": [1]}, {"x": {"y": "null"}}],
        [[1, 2], [3, 4], ["a"], [[]]],
        [[], [{"name": "a", "n": 1}], []],
        [[{"name": "a", "n": 1}], [], [{"name": "a", "n": 1}]],
        [[1, [2]], [1, 2]],
        [{"n": None}, {"n": 1}, {"n": "a"}],
        [{"n": 1}, {"n": None}, {"n": 2.5}],
        [{"x": {"y": [1, None]}}, {"x": {"y": [1, 2]}}],
        [[1, 2], [None, 3]],
    ],
    ids=str,
)
def test_json_lines_whose_parts_vary(tmp_path, values):
    found = read(write(tmp_path, "x.jsonl", "\n".join(map(json.dumps, values))))
    assert (found.dtype, found.shape) == (object, (len(values),))
    assert found.tolist() == values


def noisy_groups(rng, probability, size):
    """Counts of two groups, the second of which is there with a probability."""
    there = rng.random(size) < probability
    return [
        {"oslo": int(n), **({"rome": 2} if more else {})} for n, more in zip(rng.poisson(3, size), there, strict=True)
    ]


def json_file(folder, name, values):
    return write(folder, name, "\n".join(map(json.dumps, values)))


@pytest.mark.parametrize("pair", [("often", "rarely"), ("often", "never"), ("always", "rarely"), ("always", "never")])
@pytest.mark.slow
def test_structures_of_files_are_those_of_lists(tmp_path, pair):
    rng = np.random.default_rng(1)
    probabilities = {"often": 0.9, "rarely": 0.1, "never": 0.0, "always": 1.0}
    sides = [noisy_groups(rng, probabilities[name], 1000) for name in pair]
    files = [json_file(tmp_path, f"{name}.jsonl", side) for name, side in zip(pair, sides, strict=True)]
    expected = dpaudit.bound_from_samples(*sides)
    found = dpaudit.bound_from_samples(*map(read_table, files))
    assert found.epsilon == expected.epsilon > 1.0
    assert (found.event, found.hits, found.trials) == (expected.event, expected.hits, expected.trials)
    varying = {name for name in pair if any(f"{name}.jsonl, line" in note for note in found.notes)}
    assert varying == set(pair) & {"often", "rarely"}
    assert found.notes
    assert all("compared as structures whose parts may be absent or null" in note for note in found.notes)


@pytest.mark.slow
def test_nulls_of_files_are_the_none_of_lists(tmp_path):
    rng = np.random.default_rng(1)
    sides = [
        [{"n": None if hidden else int(n)} for n, hidden in zip(rng.poisson(3, 500), rng.random(500) < p, strict=True)]
        for p in (0.5, 0.1)
    ]
    expected = dpaudit.bound_from_samples(*sides)
    found = dpaudit.bound_from_samples(*(read_table(json_file(tmp_path, f"{i}.jsonl", sides[i])) for i in (0, 1)))
    assert found.epsilon == expected.epsilon > 0.8
    assert (found.event, found.hits) == (expected.event, expected.hits)
    assert "0.jsonl, line 1, column n: is null; outputs are compared as structures whose parts" in found.notes[0]
    # A file without nulls is compared as structures, too, if the other one has some.
    numbers = [{"n": 1}] * 500
    alone = dpaudit.bound_from_samples(
        read_table(json_file(tmp_path, "numbers.jsonl", numbers)), read_table(tmp_path / "0.jsonl")
    )
    assert alone.epsilon == dpaudit.bound_from_samples(numbers, sides[0]).epsilon > 1
    with pytest.raises(dpaudit.DataError, match="column 'who' has an empty label"):
        by_label(json_file(tmp_path, "x.jsonl", [{"who": who, "n": 1} for who in (1, None)]), "who")


@pytest.mark.slow
@pytest.mark.usefixtures("chunk")
def test_structures_are_told_apart_by_a_label(tmp_path):
    rng = np.random.default_rng(1)
    sides = [noisy_groups(rng, probability, 100) for probability in (0.2, 0.8)]
    labelled = [{"who": i, **value} for i, side in enumerate(sides) for value in side]
    rng.shuffle(labelled)
    pair = by_label(json_file(tmp_path, "x.jsonl", labelled), "who")
    for i, table in enumerate(pair):
        values = np.concatenate(list(table.chunks())).tolist()
        assert values == [{k: v for k, v in each.items() if k != "who"} for each in labelled if each["who"] == i]
        assert table.rows == 100
    (note,) = dpaudit.bound_from_samples(*pair).notes
    assert "has other parts than line 1" in note


def test_structures_without_that_label(tmp_path):
    path = write(tmp_path, "x.jsonl", '{"oslo": 1, "who": 1}\n{"oslo": 2, "who": 0, "rome": 1}\n')
    with pytest.raises(dpaudit.DataError, match="has no column 'rome'; it has oslo, who"):
        by_label(path, "rome")
    with pytest.raises(dpaudit.DataError, match="its columns have no names"):
        by_label(write(tmp_path, "y.jsonl", "[1]\n[1, 2]\n"), "who")


def test_objects_are_not_compared_with_lists(tmp_path):
    objects = write(tmp_path, "x.jsonl", '{"a": 1}\n{"b": 1}\n' * 20)
    lists = write(tmp_path, "y.jsonl", "[1, 2]\n" * 20)
    with pytest.raises(dpaudit.DataError, match=r"y.jsonl: an output is a list, and of .*x.jsonl an object"):
        dpaudit.bound_from_samples(read_table(objects), read_table(lists))


@pytest.mark.usefixtures("chunk")
def test_numpy_files(tmp_path):
    for array in (np.array(X), np.array(N, np.int8), np.array(T), np.ones((5, 3), np.float32)):
        np.save(tmp_path / "x.npy", array)
        np.savez(tmp_path / "x.npz", array)
        for name in ("x.npy", "x.npz"):
            found = read(tmp_path / name)
            assert found.tolist() == array.tolist()
            assert found.dtype == (object if array.dtype.kind == "U" else array.dtype)
    np.savez_compressed(tmp_path / "x.npz", n=N, t=T)
    named = read(tmp_path / "x.npz")
    assert [named[name].tolist() for name in ("n", "t")] == [N, T]


@pytest.mark.usefixtures("chunk")
def test_parquet_and_arrow(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"n": N, "x": X, "t": pa.array(T).dictionary_encode(), "b": [True, False, True, True]})
    parquet.write_table(table, tmp_path / "x.parquet")
    for name, opened in (("file.arrow", pa.ipc.new_file), ("stream.arrow", pa.ipc.new_stream)):
        with pa.OSFile(str(tmp_path / name), "wb") as sink, opened(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=3)
    for name in ("x.parquet", "file.arrow", "stream.arrow"):
        found = read(tmp_path / name)
        assert [found[column].tolist() for column in "nxt"] == [N, X, T]
        assert found["b"].dtype == bool
    parquet.write_table(pa.table({"x": X}), tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet").tolist() == X
    for bad, words in (
        ({"x": [1.0, None]}, "column 'x', row 1: is null"),
        ({"x": [1.0, float("nan")]}, "row 1: is NaN"),
        ({"x": [[1], [2]]}, "type list"),
    ):
        parquet.write_table(pa.table(bad), tmp_path / "bad.parquet")
        with pytest.raises(dpaudit.DataError, match=words):
            read(tmp_path / "bad.parquet")
    write(tmp_path, "bad.parquet", b"PAR1 and no more")
    write(tmp_path, "bad.arrow", b"ARROW1 and no more")
    for name in ("bad.parquet", "bad.arrow"):
        with pytest.raises(dpaudit.DataError, match=f"{name}: cannot be read"):
            read(tmp_path / name)


def test_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(dpaudit.ParameterError, match=r"pip install 'dpaudit\[arrow\]'"):
        read_table(write(tmp_path, "x.parquet", b""))


BAD = {
    "x.csv": [
        ("1\n2\nabc\n", r"line 3, column 1: 'abc' is not a number, where line 1 has one"),
        ("x,y\n1,2\n3,\n", r"line 3, column y: is empty, where line 2 has a number; write a number that no other"),
        ("x,y\n1,2\n3,N/A\n", r"line 3, column y: is 'N/A', where line 2 has a number"),
        ("x,y\n,2\n3,4\n", r"line 2, column x: is empty, where line 3 has a number; write a number that no other"),
        ("x,y\nNA,2\n,1\n3,4\n", r"line 2, column x: is 'NA', where line 4 has a number"),
        ("x\n" + "NA\n" * 2000 + "0.5\n", r"line 2, column x: is 'NA', where line 2002 has a number"),
        ("NA\n1\n2\n", r"line 1, column 1: is 'NA', where line 2 has a number; .* or give --header if the line has"),
        (",0\n0,1.5\n1,2.5\n", r"line 1, column 1: is empty, where line 2 has a number"),
        ("x\n1,2\n", r"line 2: has 2 columns, where the header in line 1 names 1; name every column"),
        ("1\nnan\n", r"line 2, column 1: is NaN"),
        ("1,2\n3\n", r"line 2: has 1 column, where line 1 has 2"),
        ("x,x\n1,2\n", r"names must differ"),
        (",x\n0,2\n1,3\n", r"line 1, column 1: has no name in the header; .* write `to_csv\(..., index=False\)`, or"),
        ("x, \n0,2\n1,3\n", r"line 1, column 2: has no name in the header; name it"),
        (b"1\n\xff\n", r"line 2: is not UTF-8"),
        (gzip.compress(b"1\n", mtime=0), r"compressed by gzip"),
        (b"PK\x03\x04", r"zip archive"),
        (b"1" * (2**20 + 2), r"line 1: has more than 1 MiB"),
        ('1\n"2\n', r"is no CSV"),
        (f"1\n{2**64}\n", r"line 2, column 1: has more digits than 64 bits hold"),
        (f"0.5\n{2**64 + 1}\n", r"line 2, column 1: has more digits than 64 bits hold"),
        (f"1\n{'9' * 6000}\n", r"line 2, column 1: has more digits than 64 bits hold"),
        (f"0\n{2**60 + 1}\n0.5\n", r"line 2, column 1: is a whole number that would be rounded"),
        (f"x\n0.5\n{-(2**60) - 1}\n", r"line 3, column x: is a whole number that would be rounded"),
        (f"0,0.5\n{2**60 + 1},1\n", r"line 2, column 1: is a whole number that would be rounded"),
        ("1\n1e400\n", r"line 2, column 1: '1e400' is larger than double precision holds"),
        ("1;2\n3;4\n", r"seem to be separated by ';'"),
        ("0,5;1,2\n3,5;4,1\n", r"seem to be separated by ';'"),
        ("x\ty\n1\t2\n", r"seem to be separated by '\\t'"),
        ("x;y\n0.5;a\n1.5;b\n", r"seem to be separated by ';', which lines have as often as the first one; .* without"),
        ("x;y\n0,5;a\n1,5;b\n", r"seem to be separated by ';', which"),
        ("x\ty\n0.5\ta\n1.5\tb\n", r"seem to be separated by '\\t', which"),
        ("x;y\n" + "0.5;a\n" * 50 + "0.5;a;\n", r"seem to be separated by ';', which"),
        ("a\n\nb\na\n", r'line 2: is blank, and rows follow; write an empty text as "", and where a number is missing'),
        ("1\n2\n\n\n3\n", r"line 3: is blank"),
        ("1,\n2,\n", r"column 2: is empty in every line; leave it out"),
        ("1\r2\r3\r", r"carriage return alone"),
        ("1\n\u0661\u0662\n", r"line 2, column 1: '\u0661\u0662' is not a number"),
    ],
    "x.jsonl": [
        ("1\n-1e400\n", r"line 2: is not JSON \('-1e400' is larger than double precision holds\)"),
        ("1\n[\n", r"line 2: is not JSON \(Expecting value: character 3\); write an output a line: a number"),
        ('{"a": 1}\n{"a": 1, "b": 0, "a": 2}\n', r"line 2: key 'a' stands twice, .* would be lost; write every key"),
        ('{"x": [{"b": 0, "b": 0}]}\n', r"line 1: key 'b' stands twice"),
        ("1\nNaN\n", r"line 2: is not JSON"),
        ("1\nnull\n", r'line 2: is null; write an object in every line, such as \{"output": 1\}; .* may be null'),
        ("[null]\nnull\n", r"line 2: is null; write an object in every line"),
        ('1\n{"x": 1}\n', r"line 2: has named parts, where line 1 has none"),
        ('{"x": 1}\n{}\n[1]\n', r"line 3: is a list, where line 1 is an object; write one form"),
        ("[1]\n[1, 2]\n3\n", r"line 3: is a number, where line 1 is a list"),
        ("3\n[]\n", r"line 1: is a number, where others are lists or objects"),
        ('{"x.y": 1, "x": {"y": 2}}\n', r"line 1: has two parts that would be one column"),
        (b'"\xff"\n', r"line 1: is not UTF-8"),
        (gzip.compress(b"1\n", mtime=0), r"compressed by gzip, but its name does not end in .gz"),
        ('1\n"a"\n', r"line 2, column 1: 'a' is not a number"),
        ('"a"\n1\n', r"line 2, column 1: 1 is a number, where line 1 has a text"),
        ("1\ntrue\n", r"line 2, column 1: is true, where line 1 has a number or a text; write one type of value"),
        ('"a"\nfalse\n', r"line 2, column 1: is false, where line 1 has a number or a text"),
        ('{"a": {"b": true}}\n{"a": {"b": 1}}\n', r"line 2, column a.b: is a number, where line 1 has true or false"),
        ('[1, false]\n[1, "x"]\n', r"line 2, column 2: is a text, where line 1 has true or false"),
        ('{"x": 1}\n1\n', r"line 2: is a number, where other lines are objects"),
        ("[]\n", r"line 1: has no values"),
        (f"{2**63}\n", r"64 bits"),
        (f"{2**60 + 1}\n0.5\n", r"line 1, column 1: is a whole number that would be rounded"),
    ],
    "x.npy": [
        (b"1\n2\n", r"x.npy: it is not a file of numpy"),
        (b"", r"damaged|no file of numpy|no data"),
        (b"\x93NUMPY\x01\x00", r"damaged"),
        (
            b"\x93NUMPY\x01\x00\x36\x00{'descr': '<f8', 'fortran_order': False, 'shape': (9,   \n" + bytes(72),
            r"damaged",
        ),
    ],
    "x.csv.gz": [],
    "x.txt": [("1\n", r"its ending does not say what it is; known: \.csv")],
    "x.json": [("[1, 2]\n", r"that end in \.json are not read; write one output a line, .* ends in \.jsonl")],
    "x.TSV.gz": [("1\t2\n", r"that end in \.tsv are not read; separate columns by commas, .* ends in \.csv")],
}


@pytest.mark.parametrize(
    ("name", "content", "words"), [(name, *each) for name, cases in BAD.items() for each in cases], ids=str
)
def test_files_that_cannot_be_read(tmp_path, name, content, words):
    with pytest.raises(dpaudit.DataError, match=words):
        read(write(tmp_path, name, content))


@pytest.mark.usefixtures("chunk")
def test_large_numbers_and_truth_values(tmp_path):
    def of(content):
        return read(write(tmp_path, "x.csv", content)).tolist()

    assert of(f"{2**62 + 1}\n1\n{-(2**63)}\n") == [2**62 + 1, 1, -(2**63)]
    assert of(f"{2**62 + 1},1\n1,2\n") == [[2**62 + 1, 1], [1, 2]]
    # Whole numbers that double precision holds may stand among others, however large they are.
    assert of(f"{2**62}\n0.5\n-inf\n1\n") == [2.0**62, 0.5, -np.inf, 1.0]
    assert of("True\nFALSE\ntrue\nfalse\n") == ["true", "false", "true", "false"]
    # One text is a text, whatever marks it has.
    assert of("1;x\n2;y\n1;x\n") == ["1;x", "2;y", "1;x"]
    assert of("a,\nb,\na,x\nb,\n") == [("a", ""), ("b", ""), ("a", "x"), ("b", "")]
    assert of("out\n1;x\n2;y\n3;z\n") == ["1;x", "2;y", "3;z"]
    assert of("out;put\na\nb;c\nd;e\na\n") == ["a", "b;c", "d;e", "a"]
    assert of("x,y\na;b,1\nc;d,2\n") == [("a;b", 1), ("c;d", 2)]


@pytest.mark.usefixtures("chunk")
def test_texts_among_which_one_is_empty_or_missing(tmp_path):
    def of(content):
        return read(write(tmp_path, "x.csv", content)).tolist()

    assert of("x,y\nNA,1\n2,2\nb,3\n") == [("NA", 1), ("2", 2), ("b", 3)]
    assert of("x,y\n,1\na,2\n,3\n") == [("", 1), ("a", 2), ("", 3)]
    assert of("x,y\nnone,1\nnone,2\n") == [("none", 1), ("none", 2)]
    assert of("x,y\n" + "NA,1\n" * 1500 + "7,1\na,1\n")[-2:] == [("7", 1), ("a", 1)]
    assert of("none\na\nb\n") == ["none", "a", "b"]
    assert of('""\na\nb\n') == ["", "a", "b"]


def test_whole_numbers_beside_others_are_not_rounded():
    large = np.full(100, 2**60 + 1)
    for other in (np.full(100, 0.5), np.arange(100, dtype=np.uint64) + 2**63):
        with pytest.raises(dpaudit.DataError, match=r"A: has whole numbers above 2\^53 that would be rounded"):
            dpaudit.bound_from_samples(large, other)
    same = dpaudit.bound_from_samples(np.full(100, 2**60), np.full(100, 2.0**60))
    assert same.epsilon == 0


def test_lines_of_the_first_chunk_are_parsed_twice_in_all(tmp_path, monkeypatch):
    parsed = []

    def parse(text, *, of=row_files.parse_json):
        parsed.append(text)
        return of(text)

    monkeypatch.setattr(row_files, "parse_json", parse)
    monkeypatch.setattr(row_files, "CHUNK", 50)
    lines = [json.dumps({"x": i % 7}) for i in range(60)]
    short, long = (read_table(write(tmp_path, f"{rows}.jsonl", "\n".join(lines[:rows]) + "\n")) for rows in (50, 60))
    assert len(parsed) == 50 + 60
    for _ in range(5):
        # Whoever asks for types and widths looks at the first chunk alone.
        assert [next(iter(table.chunks())).tolist()[:2] for table in (short, long)] == [[0, 1], [0, 1]]
    assert len(parsed) == 50 + 60 + 50 + 50
    assert [np.concatenate(list(table.chunks())).tolist() for table in (short, long)] == [
        [i % 7 for i in range(rows)] for rows in (50, 60)
    ]
    assert len(parsed) == 50 + 60 + 50 + 50 + 60
    with pytest.raises(ValueError, match="read-only"):
        next(iter(short.chunks()))[0] = 1


def test_rows_without_values(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((100, 0)))
    with pytest.raises(dpaudit.DataError, match=r"rows without any values \(shape \(100, 0\)\)"):
        read_table(tmp_path / "x.npy")


def sparse(file, rows, *, declared=None):
    """Write a npy file of so many float64 that holds no data on the disk; its header may declare another number."""
    with file.open("wb") as made:
        header = {"descr": "<f8", "fortran_order": False, "shape": (declared or rows,)}
        np.lib.format.write_array_header_1_0(made, header)
        made.truncate(made.tell() + 8 * rows)


def test_a_thousand_million_rows(tmp_path):
    """They are refused before any of them is read; a header that declares more than there is, is damaged."""
    sparse(tmp_path / "huge.npy", 10**9)
    sparse(tmp_path / "short.npy", 1000, declared=10**9)
    np.save(tmp_path / "small.npy", np.arange(100.0))
    assert read_table(tmp_path / "huge.npy").rows == 10**9
    for pair in (("huge.npy", "small.npy"), ("small.npy", "huge.npy")):
        with pytest.raises(dpaudit.DataError, match=r"huge.npy has 1000000000 rows; give fewer than 10\^9 of them"):
            dpaudit.bound_from_samples(*(read_table(tmp_path / name) for name in pair))
    with pytest.raises(dpaudit.DataError, match=r"short.npy: it is damaged"):
        read_table(tmp_path / "short.npy")


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "jsonl", "ndjson", "npy", "npz", "parquet", "arrow", "feather"])
def test_files_of_no_bytes(tmp_path, ending):
    if ending in ("parquet", "arrow", "feather"):
        pytest.importorskip("pyarrow")
    (tmp_path / f"x.{ending}").write_bytes(b"")
    with pytest.raises(dpaudit.DataError, match=rf"x\.{ending}") as caught:
        dpaudit.bound_from_samples(read_table(tmp_path / f"x.{ending}"), [1] * 30)
    assert "\n" not in str(caught.value)


def test_columnar_files_that_cannot_be_used(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({"x": [1, 2], "y": [1, 2]}), tmp_path / "good.parquet")
    whole = (tmp_path / "good.parquet").read_bytes()
    (tmp_path / "short.parquet").write_bytes(whole[:-9])
    (tmp_path / "text.parquet").write_text("x,y\n1,2\n")
    (tmp_path / "text.arrow").write_text("x,y\n1,2\n")
    (tmp_path / "gzip.parquet").write_bytes(gzip.compress(whole, mtime=0))
    parquet.write_table(pa.table({"x": [1, None]}), tmp_path / "null.parquet")
    parquet.write_table(pa.table({"x": [[1], [2]]}), tmp_path / "lists.parquet")
    for name, words in {
        "short.parquet": "cannot be read as what its ending says",
        "text.parquet": "cannot be read as what its ending says",
        "text.arrow": "cannot be read as what its ending says",
        "gzip.parquet": "cannot be read as what its ending says",
        "null.parquet": "column 'x', row 1: is null",
        "lists.parquet": "has type list",
    }.items():
        with pytest.raises(dpaudit.DataError, match=words) as caught:
            read(tmp_path / name)
        assert "\n" not in str(caught.value)
    parquet.write_table(pa.table({"x": [1.5, 2.5] * 20}), tmp_path / "other.parquet")
    parquet.write_table(pa.table({"x": ["a", "b"] * 20}), tmp_path / "texts.parquet")
    with pytest.raises(dpaudit.DataError, match="give the same columns"):
        dpaudit.bound_from_samples(read_table(tmp_path / "other.parquet"), read_table(tmp_path / "texts.parquet"))


def test_more_files_that_cannot_be_read(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.save(tmp_path / "nan.npy", np.array([1.0, np.nan]))
    np.save(tmp_path / "one.npy", np.array(1.0))
    np.save(tmp_path / "times.npy", np.array(["2020-01-01"], dtype="M8[D]"))
    np.savez(tmp_path / "lengths.npz", a=[1], b=[1, 2])
    np.savez(tmp_path / "axes.npz", a=[[1]], b=[1])
    np.savez(tmp_path / "none.npz")
    with zipfile.ZipFile(tmp_path / "bad.npz", "w") as made:
        made.writestr("a.npy", b"nonsense")
    (tmp_path / "plain.csv.gz").write_bytes(b"1\n")
    (tmp_path / "short.csv.gz").write_bytes(gzip.compress(b"1\n" * 9999)[:-9])
    (tmp_path / "folder.csv").mkdir()
    for name, words in {
        "objects.npy": "Python objects",
        "nan.npy": "row 1: is NaN",
        "one.npy": "a single value",
        "times.npy": "numbers or texts",
        "lengths.npz": "different lengths",
        "axes.npz": "2 axes",
        "none.npz": "no arrays",
        "bad.npz": "not a file of numpy|damaged",
        "plain.csv.gz": "not compressed by gzip",
        "short.csv.gz": "damaged or ends too early",
        "folder.csv": "Is a directory",
        "missing.csv": "No such file",
        "missing.npy": "No such file",
    }.items():
        with pytest.raises(dpaudit.DataError, match=words):
            read(tmp_path / name)


@pytest.mark.usefixtures("chunk")
def test_true_and_1_are_no_pair(tmp_path):
    def pair(*contents):
        return tuple(
            write(tmp_path, f"{name}.jsonl", content * 200) for name, content in zip("ab", contents, strict=True)
        )

    # Columns of nothing but true and false are compared; so are structures, in which both are told apart.
    bound = dpaudit.bound_from_samples(*map(read_table, pair("true\n", "false\n")))
    assert bound.epsilon > 1
    bound = dpaudit.bound_from_samples(*map(read_table, pair('{"x": true}\n{}\n', '{"x": 1}\n{}\n')))
    assert bound.epsilon > 1
    for first, second, where in (
        ("true\n", "1\n", r"b.jsonl, column 1: does not hold true and false, as this column of .*a.jsonl does"),
        ('{"x": [1, 0]}\n', '{"x": [1, false]}\n', r"a.jsonl, column x\[1\]: does not hold true and false"),
        ('{"x": "true"}\n', '{"x": true}\n', r"a.jsonl, column x: does not hold true and false"),
    ):
        with pytest.raises(dpaudit.DataError, match=where):
            dpaudit.bound_from_samples(*map(read_table, pair(first, second)))


def damaged(content, rng):
    """The bytes of a file, one to three of them changed, and some of the end left out now and then."""
    made = bytearray(content)
    for place in rng.integers(0, min(len(made), 1000), rng.integers(1, 4)).tolist():
        made[place] = rng.choice([*b"(){}',: \n\x00\xff", rng.integers(256)])
    return bytes(made if rng.random() < 0.9 else made[: rng.integers(len(made))])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.csv.gz", "x.jsonl", "x.parquet", "x.arrow", "x.feather"])
def test_damaged_files_are_read_or_refused(tmp_path, name):
    rng = np.random.default_rng(1)
    path = tmp_path / name
    columns = {"a": rng.integers(0, 9, 300), "b": np.array(["x", "yz", "ä"] * 100)}
    if name.endswith(".npy"):
        np.save(path, columns["a"])
    elif name.endswith(".npz"):
        np.savez_compressed(path, **columns)
    elif name.startswith("x.csv"):
        write(tmp_path, name, "".join(f"{each},{each * each}\n" for each in range(300)))
    elif name.endswith(".jsonl"):
        write(tmp_path, name, '{"a": [1, true], "b": "x"}\n{"a": [2, false], "b": "yz"}\n' * 3)
    else:
        arrow = pytest.importorskip("pyarrow")
        table = arrow.table(columns)
        if name.endswith(".parquet"):
            pytest.importorskip("pyarrow.parquet").write_table(table, path)
        else:
            with arrow.OSFile(str(path), "wb") as file, arrow.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
    content, refused = path.read_bytes(), []
    for _ in range(400):
        path.write_bytes(damaged(content, rng))
        try:
            list(read_table(path).chunks())
        except dpaudit.DataError as error:
            refused.append(str(error))
    assert len(refused) > 20
    assert all(name in each for each in refused)


@pytest.mark.usefixtures("chunk")
def test_labels(tmp_path):
    path = write(tmp_path, "x.csv", "who,x,t\n1,5,a\n0,6,b\n1,7,c\n1,8,d\n")
    first, second = by_label(path, "who")
    assert (first.rows, second.rows) == (1, 3)
    assert "who 0" in first.name
    assert np.concatenate(list(second.chunks()))["x"].tolist() == [5, 7, 8]
    assert np.concatenate(list(second.chunks())).dtype.names == ("x", "t")
    one, _ = by_label(write(tmp_path, "y.csv", "x,who\n1,a\n2,b\n"), "who")
    assert np.concatenate(list(one.chunks())).tolist() == [1]
    for content, words in (
        ("1\n2\n", "columns have no names"),
        ("x,y\n1,2\n", "has no column 'who'; it has x, y"),
        ("who\n1\n2\n", "the outputs are missing"),
        ("who,x\n1,1\n2,2\n3,3\n", "more than two values"),
        ("who,x\n1,1\n1,2\n", "must have two values"),
        ("who,x\na,1\n,2\n", "has an empty label"),
    ):
        with pytest.raises(dpaudit.DataError, match=words):
            by_label(write(tmp_path, "bad.csv", content), "who")


def test_folders(tmp_path):
    for name in ("one-a.csv", "one-b.csv", "two_A.npy", "two_B.npy", "notes.txt"):
        write(tmp_path, name, "1\n")
    (tmp_path / "three").mkdir()
    for name in ("x.csv", "y.npy"):
        write(tmp_path / "three", name, "1\n")
    pairs = pairs_in(tmp_path)
    assert list(pairs) == ["one", "three", "two"]
    assert [path.name for path in pairs["one"]] == ["one-a.csv", "one-b.csv"]
    assert [path.name for path in pairs["three"]] == ["x.csv", "y.npy"]
    write(tmp_path, "lone-a.csv", "1\n")
    with pytest.raises(dpaudit.DataError, match=r"lone-a.csv: there is no lone-b.csv beside it"):
        pairs_in(tmp_path)
    (tmp_path / "lone-a.csv").unlink()
    write(tmp_path, "other.csv", "1\n")
    with pytest.raises(dpaudit.DataError, match=r"other.csv: belongs to no pair"):
        pairs_in(tmp_path)
    (tmp_path / "other.csv").unlink()
    write(tmp_path / "three", "z.csv", "1\n")
    with pytest.raises(dpaudit.DataError, match="three: has 3 files"):
        pairs_in(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(dpaudit.DataError, match="no pairs"):
        pairs_in(tmp_path / "empty")


@pytest.mark.parametrize(
    ("others", "words"),
    [
        (["x_a.csv", "x_b.csv"], "x_a.csv: x-a.csv is of another pair named x; rename one of the two pairs"),
        (["x-a.jsonl", "x-b.jsonl"], "x-a.jsonl: x-a.csv is of another pair named x"),
        (["x/1.csv", "x/2.csv"], "x: x-a.csv is of another pair named x"),
        (["w-a.tsv", "w-b.tsv"], "w-a.tsv: is named as a file of a pair, but its format is none of .*.csv"),
        (["w/1.csv", "w/2.csv", "w/v_a.dat"], "v_a.dat: is named as a file of a pair"),
        (["s/t/v-a.csv", "s/t/v-b.csv"], "v-a.csv: lies more than one folder below .*; give its folder"),
    ],
)
def test_no_pair_of_a_folder_is_left_out(tmp_path, others, words):
    """A pair that nobody looks at would be a pass."""
    (tmp_path / "notes.txt").write_text("other files may lie beside the pairs", encoding="utf-8")
    for name in ("x-a.csv", "x-b.csv"):
        (tmp_path / name).write_text("1\n", encoding="utf-8")
    assert list(pairs_in(tmp_path)) == ["x"]
    for name in others:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1\n", encoding="utf-8")
    with pytest.raises(dpaudit.DataError, match=words):
        pairs_in(tmp_path)


def test_numbers_that_begin_with_zeros_are_noted(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("code,x\n" + "7,0.5\n" * 4 + '"007",0.5\n', encoding="utf-8")
    table = read_table(file)
    assert table.notes == (
        f"column code of {file} has a number that begins with 0, as 007 does, in line 6; 007 and 7 are one number, so "
        "write texts in JSON Lines if the zeros belong to the output",
    )
    file.write_text("code,x\n" + "7,0.5\n0,0\n0.25,1\n-0.5,2020\n", encoding="utf-8")
    assert read_table(file).notes == ()


def test_numbers_that_are_rounded_and_truth_values_of_several_spellings_are_noted(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("t,x\n" + "true,0.5\n" * 4 + "maybe,9007199254740993.0\nTRUE,0.5\n", encoding="utf-8")
    assert read_table(file).notes == (
        f"column x of {file} has numbers such as '9007199254740993.0', which are rounded to double precision; write "
        "texts in JSON Lines if their last digits belong to the output",
        f"column t of {file} has TRUE and true, which are one text; write them in JSON Lines if the capitals belong to "
        "the output",
    )
    numbers = np.random.default_rng(0).laplace(size=500) * 10.0 ** np.arange(-250, 250)
    for form in ("{!r}", "{:.17g}", "{:.16g}", "{:.30f}", "{:.40e}", "{:.5f}"):
        file.write_text("\n".join(["t,x", *(f"TRUE,{form.format(each)}" for each in numbers.tolist())]))
        assert read_table(file).notes == (), form


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a.b": 1}', '{"a": {"b": 1}}'),
        ('{"a[0]": 1}', '{"a": [1]}'),
        ('{"a.b": {"c": 1}}', '{"a": {"b.c": 1}}'),
        ('{"a": 1, "b": {}}', '{"a": 1}'),
        ('{"a": 1, "b": []}', '{"a": 1, "b": {}}'),
    ],
)
def test_objects_that_would_have_the_same_columns_are_told_apart(tmp_path, one, other):
    rng = np.random.default_rng(0)
    mixed = [
        write(tmp_path, f"{name}.jsonl", "\n".join(one if it else other for it in rng.random(4000) < p))
        for name, p in (("a", 0.9), ("b", 0.1))
    ]
    assert 1.5 < dpaudit.bound_from_samples(*map(read_table, mixed)).epsilon < np.log(9)
    alone = [write(tmp_path, f"{name}.jsonl", f"{line}\n" * 400) for name, line in (("c", one), ("d", other))]
    assert dpaudit.bound_from_samples(*map(read_table, alone)).epsilon > 3


def test_parquet_and_arrow_lose_no_digits(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    def of(values, *form):
        parquet.write_table(pa.table({"x": pa.array(list(map(Decimal, values)), pa.decimal128(*form))}), file)
        return read(file)

    file = tmp_path / "x.parquet"
    assert of([2**62 + 1, -1], 38, 0).tolist() == [2**62 + 1, -1]
    assert of(["0.10", "-12.50"], 5, 2).tolist() == [0.1, -12.5]
    # As many digits as the type has, of which double precision holds all.
    exact = ["1.1", "0.1000000000000000055511151231258", "1234567.25"]
    assert of(exact, 38, 31).tolist() == [1.1, 0.1, 1234567.25]
    for values, form, told in (
        ([1, 2**70], (38, 0), "row 1: 1180591620717411303424 has more digits than 64 bits hold"),
        (["1", "1.00000000000000000001"], (38, 20), "row 1: 1.00000000000000000001 has more digits than double"),
    ):
        with pytest.raises(dpaudit.DataError, match=f"column 'x', {told}.*; round it, or write it as a text"):
            of(values, *form)


def test_texts_of_arrow_in_all_forms(tmp_path):
    pa = pytest.importorskip("pyarrow")
    file = tmp_path / "x.arrow"
    views = pa.array(T, pa.string_view()) if hasattr(pa, "string_view") else pa.array(T)
    for column in (
        views,
        pa.array(T, pa.large_string()),
        pa.DictionaryArray.from_arrays(pa.array([1, 0, 2, 1]), views),
        pa.RunEndEncodedArray.from_arrays(pa.array([1, 3, 4], pa.int32()), pa.array(T[:3])),
    ):
        table = pa.table({"x": column})
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        assert read(file).tolist() == column.to_pylist()
    for table, told in (
        (pa.table({}), "has no columns"),
        (pa.Table.from_arrays([views, views], ["x", "x"]), "has two columns 'x'; give them different names"),
    ):
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        with pytest.raises(dpaudit.DataError, match=told):
            read(file)


def test_structures_are_not_called_texts(tmp_path):
    numbers, objects = tmp_path / "a.csv", tmp_path / "b.jsonl"
    numbers.write_text("x\n" + "0.5\n" * 50, encoding="utf-8")
    objects.write_text('{"x": [1]}\n{"x": [1, 2]}\n' * 25, encoding="utf-8")
    with pytest.raises(dpaudit.DataError, match=r"a.csv has numbers and .*b.jsonl has structures; give the same"):
        dpaudit.bound_from_samples(read_table(numbers), read_table(objects))
