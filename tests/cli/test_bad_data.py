"""Data files and records that cannot be used."""

import json

import pytest

RR = "ldp-kwiksort-rr"
METRIC = "yan2020.section5-kendall-tau"
HEADER = [
    "# FILE NAME: data.soc",
    "# NUMBER ALTERNATIVES: 3",
    "# NUMBER VOTERS: 5",
    "# NUMBER UNIQUE ORDERS: 2",
    "# ALTERNATIVE NAME 1: a",
    "# ALTERNATIVE NAME 2: b",
    "# ALTERNATIVE NAME 3: c",
]
ORDERS = ["3: 1,2,3", "2: 3,2,1"]


def _write(folder, lines):
    (folder / "data.soc").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return "data.soc"


@pytest.mark.slow
def test_data_that_can_be_used(dpaudit, folder):
    data = _write(folder, HEADER + ORDERS)
    outcome = dpaudit("check", RR, "--data", data, "--samples", "300", "--set", "epsilon=2", "--format", "json")
    record = json.loads(outcome.out)
    assert outcome.status in (0, 1, 3)
    assert {result["claim"] for result in record["results"]} == {METRIC, "yan2020.section5-error-rate"}
    for result in record["results"]:
        assert result["parameters"]["agents"] == 5
        assert result["parameters"]["alternatives"] == 3
        assert result["parameters"]["data"].startswith("data.soc (SHA-256 ")
        assert {"kwiksort", "dp-kwiksort", "ldp-kwiksort-rr", "ldp-kwiksort-lap"} <= set(result["measured"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], ["data.soc", "empty"]),
        (HEADER, ["data.soc", "no order"]),
        ([*HEADER, "3: 1,2,2", "2: 3,2,1"], ["line 8", "alternative 2 appears twice"]),
        ([*HEADER, "3: 1,2,3", "2: 3,2"], ["line 9", "alternative 1 is missing"]),
        ([*HEADER, "3: 1,2,4", "2: 3,2,1"], ["line 8", "'4'"]),
        ([*HEADER, "x: 1,2,3", "2: 3,2,1"], ["line 8", "count"]),
        ([*HEADER, "1,2,3", "2: 3,2,1"], ["line 8", "colon"]),
        ([*HEADER, "3: 1,2,3", "", "2: 3,2,1"], ["line 9", "blank"]),
        ([*HEADER, "4: 1,2,3", "2: 3,2,1"], ["line 3", "NUMBER VOTERS"]),
        (["not a PrefLib file at all"], ["NUMBER ALTERNATIVES"]),
    ],
    ids=["empty", "no-order", "repeated", "missing", "unknown", "count", "colon", "blank", "voters", "other"],
)
def test_a_malformed_file(refused, folder, lines, words):
    message = refused("check", RR, "--data", _write(folder, lines))
    for word in words:
        assert word in message


@pytest.mark.slow
def test_a_file_of_no_bytes(refused, folder):
    (folder / "data.soc").write_bytes(b"")
    assert "empty" in refused("check", RR, "--data", "data.soc")


@pytest.mark.slow
def test_no_file(refused):
    assert "absent.soc" in refused("check", RR, "--data", "absent.soc")


@pytest.mark.slow
def test_a_folder(refused, folder):
    (folder / "data.soc").mkdir()
    assert "directory" in refused("check", RR, "--data", "data.soc")


@pytest.mark.slow
def test_another_file_ending(refused, folder):
    (folder / "data.csv").write_text("1,2,3\n", encoding="utf-8")
    assert ".soc" in refused("check", RR, "--data", "data.csv")


@pytest.mark.slow
def test_a_target_that_takes_no_data(refused, folder):
    assert "takes no --data" in refused("check", "dp-kwiksort", "--data", _write(folder, HEADER + ORDERS))


@pytest.mark.slow
def test_a_claim_that_is_not_measured_on_data(refused, folder):
    data = _write(folder, HEADER + ORDERS)
    message = refused("check", RR, "--claim", "yan2020.theorem1-rr", "--data", data)
    assert "yan2020.theorem1-rr" in message
    assert "--data" in message


@pytest.mark.slow
@pytest.mark.parametrize("name", ["agents", "alternatives"])
def test_sizes_that_the_data_give(refused, folder, name):
    message = refused("check", RR, "--data", _write(folder, HEADER + ORDERS), "--set", f"{name}=5")
    assert f"--set {name}" in message


@pytest.fixture
def record(dpaudit, count):
    return json.loads(dpaudit("check", count, "--format", "json").out)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["not JSON"]),
        ("nonsense", ["not JSON"]),
        ("[" * 100_000, ["not JSON"]),
        ("[]", ["'schema'", "dpaudit.record/2"]),
        ("null", ["'schema'"]),
        ('{"schema": "dpaudit.record/3"}', ["'schema'", "dpaudit.record/3", "dpaudit.record/2"]),
        ('{"schema": "dpaudit.record/1"}', ["'version'"]),
    ],
    ids=["empty", "text", "deep", "list", "null", "other-schema", "bare"],
)
def test_a_file_that_is_no_record(refused, folder, text, words):
    (folder / "record.json").write_text(text, encoding="utf-8")
    message = refused("report", "record.json")
    assert "record.json" in message
    for word in words:
        assert word in message


@pytest.mark.slow
def test_a_truncated_record(refused, folder, record):
    (folder / "record.json").write_text(json.dumps(record)[:-100], encoding="utf-8")
    assert "not JSON" in refused("report", "record.json")


def test_a_record_that_is_no_text(refused, folder):
    (folder / "record.json").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in refused("report", "record.json")


def test_a_record_that_is_not_there(refused, folder):
    (folder / "folder").mkdir()
    assert "absent.json" in refused("report", "absent.json")
    assert "directory" in refused("report", "folder")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        (["results", 0, "verdict"], None, "results.0.verdict"),
        (["results", 0, "verdict"], "perhaps", "results.0.verdict"),
        (["results", 0, "method"], None, "results.0.method"),
        (["results", 0, "claimed", "epsilon"], "much", "results.0.claimed.epsilon"),
        (["results", 0, "surprise"], 1, "results.0.surprise"),
        (["results", 0, "measured", "epsilon", "surprise"], 1, "surprise"),
        (["surprise"], 1, "surprise"),
        (["summary"], None, "summary"),
    ],
)
def test_a_record_with_a_key_amiss(refused, folder, record, path, value, where):
    *parents, last = path
    place = record
    for key in parents:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    (folder / "record.json").write_text(json.dumps(record), encoding="utf-8")
    message = refused("report", "record.json")
    assert "record.json" in message
    assert where in message


@pytest.mark.slow
def test_a_record_is_rendered_again(dpaudit, folder, record):
    (folder / "record.json").write_text(json.dumps(record), encoding="utf-8")
    assert json.loads(dpaudit("report", "record.json", "--format", "json").out) == record
    outcome = dpaudit("report", "record.json", "--output", "again")
    assert outcome.status == 0
    assert "count.privacy" in outcome.out
    assert sorted(path.name for path in (folder / "again").iterdir()) == [
        "index.html",
        "junit.xml",
        "record.json",
        "report.md",
    ]
