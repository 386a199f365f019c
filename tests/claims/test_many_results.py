"""Results of large runs: kept in a temporary file, written and read as streams, the same to the byte."""

import json
import multiprocessing
import os
import pickle
import random
import tempfile
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from dpaudit.claims import kept, record
from dpaudit.claims.evidence import Curves, Interval
from dpaudit.claims.kept import Keep, ResultFile
from dpaudit.claims.record import Record, Result, read_record, summarise
from dpaudit.claims.verdicts import Verdict
from dpaudit.errors import OutputError, RecordError


def one(place, **changes):
    values = {
        "target": "coin",
        "claim": f"coin.claim{place % 3}",
        "kind": "privacy",
        "source": "",
        "statement": f"It is private, {place % 3}.",
        "parameters": {"place": place},
        "scope": "all pairs",
        "method": "exact",
        "verdict": Verdict.PROVED,
        "expected": None,
        "reason": ("", "so it is", "so they say")[place % 5 % 3],
        "ok": True,
        "claimed": {"epsilon": 1.0},
        "measured": {"epsilon": Interval.exact(place / 7)},
        "seed": 0,
        "command": f"dpaudit check coin --set place={place}",
    }
    return Result(**(values | changes))


def curves(number):
    points = (0.0, 0.5, 1.0)
    return Curves(
        **dict.fromkeys(Curves.__dataclass_fields__, points)
        | {"delta_lower": (number / 8, 0.1, 0.0), "delta_upper": (1.0, 0.2, 0.0)}
    )


def several(number=40):
    """Results of which some share curves, reasons and claims, and some are timed."""
    found = []
    for place in range(number):
        drawn = None if place % 4 == 0 else curves(place % 7)
        found.append(one(place, curves=drawn, timed=place % 9 == 0))
    return tuple(found)


def record_of(results):
    return Record(version="1", seed=0, results=results, summary=summarise(results), timing={"seconds": 1.5})


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(kept, "MOST_AT_ONCE", 10)


def in_a_file(results):
    found = kept.kept(iter(results))
    assert isinstance(found, ResultFile)
    return found


def test_results_that_arrive_in_any_order_are_kept_in_theirs(few):
    results = several()
    order = list(range(40))
    random.Random(1).shuffle(order)
    keep = Keep()
    for number in order:
        keep.add(2 * number, results[number])
    numbers, found = keep.results()
    assert isinstance(found, ResultFile)
    assert list(numbers) == list(range(0, 80, 2))
    assert list(found) == list(results) == list(found[:])
    assert found == results
    assert found[-1] == results[-1]
    assert found[3:9:2] == results[3:9:2]
    assert found != results[:-1]
    with pytest.raises(IndexError):
        found[40]


@pytest.mark.slow
def test_threads_and_forked_processes_read_what_they_ask_for(few):
    results = several(400)
    found = in_a_file(results)
    with ThreadPoolExecutor(4) as pool:
        assert all(list(pool.map(lambda _: list(found) == list(results), range(8))))
    if hasattr(os, "fork"):
        children = [multiprocessing.get_context("fork").Process(target=read_all, args=(found, results)) for _ in "ab"]
        for child in children:
            child.start()
        read_all(found, results)
        for child in children:
            child.join()
            assert child.exitcode == 0


def read_all(found, results):
    for _ in range(5):
        assert list(found) == list(results)


def test_a_record_whose_summary_does_not_count_its_results_is_refused(tmp_path, few):
    whole = record_of(several()).to_json()
    lines = whole.splitlines(keepends=True)
    gone = next(i for i, line in enumerate(lines) if line.startswith('  {"target"'))
    for text in ("".join(lines[:gone] + lines[gone + 1 :]), whole.replace('{"proved":40}', '{"proved":41}')):
        assert text != whole
        (tmp_path / "record.json").write_text(text, encoding="utf-8")
        with pytest.raises(RecordError, match=r"key 'summary' does not count the results"):
            read_record(tmp_path / "record.json")
        with pytest.raises(RecordError, match=r"key 'summary' does not count the results"):
            Record.from_json(text)


def test_few_results_are_a_tuple(few):
    assert kept.kept(iter(several(10))) == several(10)
    assert isinstance(kept.kept(iter(several(10))), tuple)


def test_a_record_travels_with_its_results(few):
    whole = record_of(in_a_file(several()))
    again = pickle.loads(pickle.dumps(whole))
    assert again.to_json() == whole.to_json()


def test_a_record_is_the_same_to_the_byte_wherever_its_results_are(few):
    results = several()
    large, small = record_of(in_a_file(results)), record_of(results)
    assert large.to_json() == small.to_json()
    assert large.reproducible().to_json() == small.reproducible().to_json()
    assert isinstance(large.reproducible().results, ResultFile)
    # The tables hold each once.
    raw = json.loads(large.to_json())
    assert len(raw["curves"]) == 7
    assert sorted(raw["reasons"]) == ["so it is", "so they say"]


def test_a_large_file_is_read_as_a_small_one_is(few, tmp_path, monkeypatch):
    path = tmp_path / "record.json"
    path.write_text(record_of(several()).to_json(), encoding="utf-8")
    expected = read_record(path)
    monkeypatch.setattr(record, "_STREAMED", 0)
    monkeypatch.setattr(record, "read_text", None)
    found = read_record(path)
    assert isinstance(found.results, ResultFile)
    assert found == expected
    assert found.to_json() == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("indent", [None, 1, 2])
def test_a_large_file_that_somebody_has_laid_out_anew_is_read(tmp_path, monkeypatch, indent):
    path = tmp_path / "record.json"
    text = record_of(several()).to_json()
    path.write_text(json.dumps(json.loads(text), indent=indent), encoding="utf-8")
    monkeypatch.setattr(record, "_STREAMED", 0)
    assert read_record(path).to_json() == text


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"verdict":"proved"', '"verdict":"perhaps"', "key 'results.0.verdict'"),
        ('"curves":6', '"curves":66', "its table has no entry 66"),
        ('"reason":1', '"reason":9', "its table has no entry 9"),
        ('"epsilon":1.0', '"epsilon":1.0.0', "not JSON"),
        ('"delta_lower":[', '"delta_lower":[0.5,', "has not one value for each point"),
        ('"version": "1"', '"version": 1', "key 'version'"),
        ('"scope":', '"scape":', "key 'results.0.s"),
    ],
)
def test_what_is_wrong_with_a_large_file_is_told(tmp_path, monkeypatch, old, new, told):
    path = tmp_path / "record.json"
    text = record_of(several()).to_json()
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    monkeypatch.setattr(record, "_STREAMED", 0)
    with pytest.raises(RecordError, match=r"record\.json: ") as error:
        read_record(path)
    assert told in str(error.value)


def test_a_temporary_folder_that_is_full_is_told(few, monkeypatch):
    def full(**options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(OutputError, match=r"No space left on device\); make room, or name another folder in TMPDIR"):
        kept.kept(iter(several()))


@pytest.mark.slow
def test_memory_does_not_grow_with_what_results_say(monkeypatch):
    monkeypatch.setattr(kept, "MOST_AT_ONCE", 100)
    number, size = 600, 20_000

    def results():
        for place in range(number):
            points = tuple(place + i / 1000 for i in range(20))
            drawn = replace(curves(0), **dict.fromkeys(Curves.__dataclass_fields__, points))
            yield one(place, note=f"{place:4} " * (size // 5), curves=drawn)

    tracemalloc.start()
    try:
        found = record_of(kept.kept(results()))
        written = sum(map(len, found.json_parts()))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert written > number * size
    # Of each result only its place is in memory, of its curves a number, and of few results all.
    assert peak < 400 * (size + 5000)
