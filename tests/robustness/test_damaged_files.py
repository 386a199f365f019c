"""Every file that dpaudit reads, damaged: it is read, or refused in one line that names it, and never a traceback."""

import copy
import dataclasses
import json
import random
import sqlite3
import sys
from pathlib import Path

import pytest

from dpaudit.catalog import ROOT
from dpaudit.claims.record import read_record, summarise
from dpaudit.cli import main
from dpaudit.errors import DpauditError
from dpaudit.plan import read_plan
from dpaudit.rankings.preflib import read_preflib
from dpaudit.registry import targets_in
from dpaudit.reporting import FORMATS
from dpaudit.reporting.compare import compare_records
from dpaudit.runner import Request
from dpaudit.runner.check import run_request
from dpaudit.runner.store import Store
from dpaudit.runner.witnesses import read_witness

TARGET = '''\
"""A user's own file."""

import dpaudit


class Count(dpaudit.Mechanism):
    """A bit with Laplace noise."""

    name = "count"
    epsilon: float = dpaudit.parameter(1.0, doc="the budget")
    mode: str = "sound"

    def sample(self, data, size, rng):
        return data + rng.laplace(scale=0.5 / self.epsilon, size=size)

    def neighbours(self):
        return dpaudit.Neighbouring(relation="substitution", pairs=[(0, 1)], complete=True, scope="two bits")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="count.privacy", statement="It is private.", epsilon=self.epsilon)]
'''

PLAN = """\
schema = "dpaudit.plan/1"
protocol = "count.py"
error_probability = 1e-6

[[audit]]
target = "count"
claim = "count.privacy"
set = { epsilon = [0.5, 1.0], mode = "sound" }
expect = "refuted"
reason = "half the noise"
method = "black-box"
samples = 20_000
features = "none"
stop_early = false

[[audit]]
target = "count"
claim = "count.privacy"
set = { epsilon = 2 }
expect = "refuted"
reason = '''half
the noise'''
"""

SOC = """\
# FILE NAME: small.soc
# DATA TYPE: soc
# NUMBER ALTERNATIVES: 3
# NUMBER VOTERS: 6
# NUMBER UNIQUE ORDERS: 2
# ALTERNATIVE NAME 1: a
# ALTERNATIVE NAME 2: b
# ALTERNATIVE NAME 3: c, d
4: 1,2,3
2: 3,1,2
"""

TOI = """\
# FILE NAME: small.toi
# DATA TYPE: toi
# NUMBER ALTERNATIVES: 4
# NUMBER VOTERS: 7
# NUMBER UNIQUE ORDERS: 3
# ALTERNATIVE NAME 1: a
# ALTERNATIVE NAME 2: b
# ALTERNATIVE NAME 3: c
# ALTERNATIVE NAME 4: d
4: {1,2},3
2: 3,{1,4}
1: {1,2,3,4}
"""

TEXTS = [
    *(
        b"",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\r",
        b"\n",
        b"\r\n",
        b"\x1b[31m",
        b"\xed\xa0\x80",
        b"\\ud800",
        b"\\u0000",
    ),
    *(b"[" * 3000, b"{" * 700, b'{"a":' * 700, b"9" * 5001, b"-0.0", b"1e999", b"NaN", b"Infinity", b"-1", b"true"),
    *(b"null", b'"', b"'", b"\\", b"#", b"=", b"0x" + b"f" * 5000, b"1" + b"0" * 17, b"/dev/zero", b".", b"2020-01-01"),
    *("²".encode(), "\u2028".encode(), "\u202e".encode(), b"[[audit]]\n", b"{}", b"[]", b'"":', b","),
]
VALUES = [
    *(
        None,
        True,
        False,
        0,
        -1,
        3,
        10**30,
        -(10**400),
        0.5,
        -0.0,
        1e308,
        5e-324,
        "",
        "x",
        "NaN",
        "Infinity",
        "-Infinity",
    ),
    *("\0", "\ud800", "\u202e", "1e999", "proved", "error", "a\nb", "/dev/zero", "../x", [], {}, [[]], [None], [0, 1]),
    *({"": 1}, {"lower": 1}, {"lower": 0, "upper": None}, {"lower": "NaN", "upper": "Infinity"}, {"$tuple": 3}),
    *(
        {"$array": {"dtype": "O", "shape": [-1], "values": [1]}},
        {"$scalar": {"dtype": "<U1", "value": 3}},
        "²",
        "a" * 5000,
    ),
]


def damaged(content: bytes, draw: random.Random) -> bytes:
    """The content truncated, with bits flipped, or with something put in, moved or taken out."""
    way = draw.randrange(7)
    at = draw.randrange(len(content) + 1)
    if way == 0:
        return content[:at]
    if way == 1:
        changed = bytearray(content)
        for _ in range(draw.choice((1, 1, 1, 2, 8, 64))):
            changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
        return bytes(changed)
    if way == 2:
        return content[:at] + draw.randbytes(draw.choice((1, 2, 16))) + content[at + draw.choice((0, 0, 1, 5)) :]
    if way == 3:
        return content[:at] + draw.choice(TEXTS) + content[at:]
    if way == 4:
        return content[:at] + content[at + draw.choice((1, 2, 10, 100)) :]
    if way == 5:
        start = draw.randrange(len(content))
        return content[:at] + content[start : start + draw.choice((1, 10, 100, 1000))] + content[at:]
    lines = content.split(b"\n")
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[one], lines[other] = lines[other], draw.choice((lines[one], draw.choice(TEXTS)))
    return b"\n".join(lines)


def other_values(content: bytes, draw: random.Random) -> bytes:
    """JSON in which one value or a few are others, are gone, or have another name."""
    raw = json.loads(content)
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        holders = []
        level = [raw]
        while level:
            holders += level
            level = [
                item
                for holder in level
                for item in (holder.values() if isinstance(holder, dict) else holder)
                if isinstance(item, dict | list) and item
            ]
        holder = draw.choice(holders)
        key = draw.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        way = draw.randrange(10)
        if way == 0:
            del holder[key]
            if not raw:
                return b"{}"
        elif way == 1 and isinstance(holder, dict):
            holder[draw.choice(("x", "\ud800", "", "epsilon", "delta"))] = holder.pop(key)
        else:
            # A copy: a value that is a list or a table may be changed in its turn.
            holder[key] = copy.deepcopy(draw.choice(VALUES))
    return json.dumps(raw).encode()


class Readers:
    """What reads a file of each kind, as the commands do."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.number = folder, 0

    def file(self, content: bytes, ending: str) -> Path:
        self.number += 1
        path = self.folder / f"damaged{self.number if ending == '.py' else ''}{ending}"
        path.write_bytes(content)
        return path

    def plan(self, content: bytes) -> None:
        read_plan(self.file(content, ".toml"))

    def record(self, content: bytes) -> None:
        found = read_record(self.file(content, ".json"))
        found.status  # noqa: B018 - computed
        if self.number % 8 == 0:
            for render in FORMATS.values():
                render(found).encode("utf-8")
            compare_records(found, found)

    def witness(self, content: bytes) -> None:
        read_witness(self.file(content, ".json"))

    def soc(self, content: bytes) -> None:
        read_preflib(self.file(content, ".soc")).kind  # noqa: B018

    def toi(self, content: bytes) -> None:
        read_preflib(self.file(content, ".toi")).kind  # noqa: B018

    def target(self, content: bytes) -> None:
        for reference in targets_in(str(self.file(content, ".py"))):
            reference.load()

    def store(self, content: bytes) -> None:
        path = self.file(content, ".sqlite")
        for kind in ("-wal", "-shm"):
            # Of the damaged file before; SQLite would wait for the process that seems to write it.
            path.with_name(path.name + kind).unlink(missing_ok=True)
        with Store(path) as store:
            store.get(["key1", "key2"])


def _part(key, wanted):
    """The first results of a committed record that are wanted."""
    record = read_record(ROOT / "reports" / f"{key}.json")
    results = tuple(result for result in record.results if wanted(result))[:4]
    assert results
    claims = {result.claim: record.claims[result.claim] for result in results}
    systems = {result.target: record.systems[result.target] for result in results}
    return dataclasses.replace(record, results=results, claims=claims, systems=systems, summary=summarise(results))


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """A sound file of each kind."""
    folder = tmp_path_factory.mktemp("originals")
    (folder / "count.py").write_text(TARGET, encoding="utf-8")
    (folder / "count.toml").write_text(PLAN, encoding="utf-8")
    request = Request(targets=[str(folder / "count.toml")], samples=20_000)
    run = run_request(request, output=folder / "out")
    assert run.record.summary == {"refuted": 3}
    store = folder / "out" / "results.sqlite"
    with sqlite3.connect(store) as connection:
        connection.execute("pragma journal_mode = delete")
        connection.execute("update results set key = 'key1' where key = (select min(key) from results)")
    connection.close()
    witness = next(iter(sorted((folder / "out" / "witnesses").iterdir())))
    return {
        "plan": PLAN.encode(),
        "record": run.record.to_json().encode(),
        "lemmas": (ROOT / "reports" / "balcer2020.json").read_bytes(),
        "rates": _part("alabi2022", lambda result: result.growth).to_json().encode(),
        "figures": _part("yan2020", lambda result: result.kind in ("figure", "utility")).to_json().encode(),
        "first record": (ROOT / "tests" / "claims" / "record_v1.json").read_bytes(),
        "witness": witness.read_bytes(),
        "soc": SOC.encode(),
        "toi": TOI.encode(),
        "target": TARGET.encode(),
        "store": store.read_bytes(),
    }


KINDS = {
    "plan": ("plan", 500, False),
    "record": ("record", 375, True),
    "lemmas": ("record", 150, True),
    "rates": ("record", 75, True),
    "figures": ("record", 75, True),
    "first record": ("record", 250, True),
    "witness": ("witness", 375, True),
    "soc": ("soc", 250, False),
    "toi": ("toi", 250, False),
    "target": ("target", 100, False),
    "store": ("store", 100, False),
}
"""Reader, damaged files of the long test, and whether the file is JSON; 2,500 in all."""

SAMPLE = 30


def damage(kind, content, numbers):
    """Damaged contents, each with the seed that makes it again."""
    is_json = KINDS[kind][2]
    for number in numbers:
        draw = random.Random(f"{kind} {number}")
        yield number, (other_values if is_json and number % 2 else damaged)(content, draw)


def assert_read_or_refused(kind, originals, folder, numbers):
    """Read damaged files; return how many were refused."""
    (folder / "count.py").write_text(TARGET, encoding="utf-8")
    readers = Readers(folder)
    read = getattr(readers, KINDS[kind][0])
    refused = 0
    for number, content in damage(kind, originals[kind], numbers):
        try:
            read(content)
        except DpauditError as error:
            refused += 1
            # A plan may also name a file that is not there, and says which.
            if "damaged" not in str(error):
                raise AssertionError(f"{kind} {number}: the file is not named in {error}") from error
        except Exception as error:
            raise AssertionError(f"{kind} {number}: {type(error).__name__}: {error}") from error
    return refused


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_read_or_refused(kind, originals, tmp_path):
    assert assert_read_or_refused(kind, originals, tmp_path, range(SAMPLE)) > SAMPLE // 10


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "store"])
def test_a_refused_file_is_one_line_and_status_2(kind, originals, tmp_path, monkeypatch, capsys):
    reader, ending = KINDS[kind][0], {"plan": ".toml", "soc": ".soc", "toi": ".toi", "target": ".py"}
    path = tmp_path / f"damaged{ending.get(reader, '.json')}"
    (tmp_path / "count.py").write_text(TARGET, encoding="utf-8")
    path.write_bytes(originals[kind][: len(originals[kind]) // 2] + b"\x1b\xff")
    data = ["check", "ldp-kwiksort-rr", "--data"]
    words = {"plan": ["show"], "target": ["show"], "witness": ["verify"], "soc": data, "toi": data}.get(
        reader, ["report"]
    )
    monkeypatch.setattr(sys, "argv", ["dpaudit", *words, str(path)])
    with pytest.raises(SystemExit) as left:
        main()
    out, err = capsys.readouterr()
    assert (left.value.code, out) == (2, "")
    assert err.startswith("dpaudit: ")
    assert err.count("\n") == 1
    assert path.name in err


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_damaged_files_are_read_or_refused(kind, originals, tmp_path):
    count = KINDS[kind][1]
    assert assert_read_or_refused(kind, originals, tmp_path, range(SAMPLE, SAMPLE + count)) > count // 10
