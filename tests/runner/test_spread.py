"""One audit in parts: the same record on any number of processes, on a pool, on Dask, and after anything ended it."""

import dataclasses
import importlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

import dpaudit
from dpaudit.auditors.blackbox import counting
from dpaudit.auditors.sampling import work
from dpaudit.auditors.sampling.work import FAILED, Work
from dpaudit.claims.record import read_record
from dpaudit.runner import Request, build_cells
from dpaudit.runner.check import run_request
from dpaudit.runner.outcome import Pending, Settings, run_cell, run_in_parts, run_part
from dpaudit.runner.parts import _Progress
from dpaudit.runner.store import NAME, Store

pytestmark = pytest.mark.slow

SAMPLES = 200_000

QUICKER = """

import dpaudit.auditors.blackbox.counting
import dpaudit.auditors.sampling.work

dpaudit.auditors.sampling.work.WORTH_SECONDS = min(dpaudit.auditors.sampling.work.WORTH_SECONDS, 0.1)
dpaudit.auditors.blackbox.counting.PART_SECONDS = 0.25
"""


@pytest.fixture
def slow(slow, monkeypatch):
    """The target with a tenth of its times, and a twentieth of those of parts, in whatever process loads it."""
    monkeypatch.setattr(work, "WORTH_SECONDS", work.WORTH_SECONDS / 20)
    monkeypatch.setattr(counting, "PART_SECONDS", counting.PART_SECONDS / 20)
    assert (work.WORTH_SECONDS, counting.PART_SECONDS) == (0.1, 0.25)
    source = Path(slow).read_text(encoding="utf-8")
    assert "seconds: float = 1e-5" in source
    Path(slow).write_text(source.replace("float = 1e-5", "float = 1e-6") + QUICKER, encoding="utf-8")
    return slow


def request(slow, claim="slow.true", **more):
    return Request(targets=[slow], claims=[claim] if claim else [], samples=SAMPLES, **more)


def text(record):
    results = [dataclasses.replace(result, witness_file=None) for result in record.results]
    return dataclasses.replace(record.reproducible(), results=tuple(results)).to_json()


def calls():
    log = Path("log")
    return len(log.read_text(encoding="utf-8").splitlines()) if log.exists() else 0


@pytest.mark.parametrize("stop_early", [False, True])
@pytest.mark.parametrize("claim", ["slow.true", "slow.false"])
def test_an_audit_in_parts_finds_what_it_finds_in_one_go(slow, claim, stop_early, monkeypatch):
    monkeypatch.setattr("dpaudit.auditors.sampling.work.WORTH_SECONDS", 0.02)
    (cell,) = build_cells(request(slow, claim, stop_early=stop_early, set={"seconds": [1e-6]}))
    whole = run_cell(cell, Settings(seed=3, witnesses=True))
    known, stages, starts = {}, [], 0
    while True:
        starts += 1
        found = run_in_parts(cell, Settings(seed=3, spread=True, witnesses=True), known)
        if not isinstance(found, Pending):
            break
        known |= found.made
        # In any order, each from nothing but the part itself.
        for part in reversed(found.parts):
            known[part.name] = run_part(cell, Settings(seed=3), part)
            stages.append(part.name.split("/")[0])
    assert found == whole
    if claim == "slow.true":
        assert {"pairs", "selection", "final"} <= set(stages)
        assert starts <= 20


def test_a_part_that_fails_elsewhere_is_done_by_the_audit(slow):
    (cell,) = build_cells(request(slow))
    known = {}
    # How many parts take long enough to be worth asking others for depends on how fast this machine is just now.
    while isinstance(outcome := run_in_parts(cell, Settings(seed=3, spread=True), known), Pending):
        assert outcome.parts
        assert not known.keys() & {part.name for part in outcome.parts}
        known |= {**outcome.made, **{part.name: FAILED for part in outcome.parts}}
    assert FAILED in known.values()
    assert outcome == run_cell(cell, Settings(seed=3))


def test_processes_and_a_pool_give_one_record(slow):
    kept = run_request(request(slow), workers=1, output=Path("one")).record
    two = run_request(request(slow), workers=2, output=Path("two")).record
    plain = run_request(request(slow), workers=1).record
    with ProcessPoolExecutor(2) as pool:
        pooled = dpaudit.check(slow, claims=["slow.true"], samples=SAMPLES, executor=pool)
    assert text(kept) == text(two) == text(plain) == text(pooled)
    assert kept.results[0].verdict == "consistent"
    rows = sqlite3.connect(Path("two", NAME)).execute("select count(*) from parts").fetchone()[0]
    assert rows == 0  # what has ended needs no parts


def test_an_instance_is_audited_by_a_pool(slow, monkeypatch):
    monkeypatch.syspath_prepend(".")
    import slow as module

    monkeypatch.setitem(sys.modules, "slow", module)
    instance = module.Slow()
    here = dpaudit.check(instance, samples=SAMPLES)
    with ProcessPoolExecutor(2) as pool:
        there = dpaudit.check(instance, samples=SAMPLES, executor=pool)
    assert text(here) == text(there)
    del sys.modules["slow"]


def test_a_run_whose_parent_was_killed_goes_on_within_the_audit(slow):
    more = ["--set", "seconds=5e-6", "--samples", str(2 * SAMPLES), "--claim", "slow.true", "--quiet"]
    command = [sys.executable, "-m", "dpaudit", "check", slow, "--workers", "2", *more, "--output"]
    assert subprocess.run([*command, "whole"], check=False, capture_output=True).returncode == 0
    needed = calls()
    Path("log").unlink()
    run = subprocess.Popen([*command, "cut"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 120
        while not any(name.startswith("final/") for name in names()) and time.monotonic() < until:
            assert run.poll() is None
            time.sleep(0.01)
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    done = len(names())
    assert done
    time.sleep(1)
    Path("log").unlink()
    assert subprocess.run([*command, "cut"], check=False, capture_output=True).returncode == 0
    assert text(read_record("cut/record.json")) == text(read_record("whole/record.json"))
    assert calls() < needed / 2


def names():
    try:
        return [name for (name,) in sqlite3.connect(Path("cut", NAME)).execute("select name from parts").fetchall()]
    except sqlite3.Error:
        return []


def test_the_part_of_a_worker_that_was_killed_is_done_by_another(slow):
    whole = run_request(request(slow), workers=2).record
    changed = {"deadly": ["once"]}
    again = run_request(request(slow, set=changed), workers=2).record
    assert Path("died").exists()
    assert again.results[0].verdict == "consistent"
    assert len(whole.results) == len(again.results)


def test_a_part_that_kills_three_workers_is_an_error_of_its_cell_only(slow):
    found = run_request(request(slow, claim=None, set={"deadly": ["always"]}), workers=2).record
    verdicts = {result.claim: result.verdict.value for result in found.results}
    assert verdicts == {"slow.true": "error", "slow.false": "error", "slow.good": "proved"}
    assert all("SIGKILL" in result.note for result in found.results if result.verdict == "error")


def test_a_worker_without_the_file_gets_its_source_and_says_which_module_it_lacks(slow, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    wanted = request(slow, "slow.good")
    # A process that begins elsewhere and finds no file there.
    with ProcessPoolExecutor(1, initializer=os.chdir, initargs=(tmp_path / "empty",)) as pool:
        assert run_request(wanted, executor=pool).record.results[0].verdict == "proved"
        (tmp_path / "helper.py").write_text("", encoding="utf-8")
        source = Path(slow).read_text(encoding="utf-8")
        Path("needy.py").write_text(f"import helper\n{source.replace('class Slow', 'class Needy')}", encoding="utf-8")
        monkeypatch.syspath_prepend(str(tmp_path))
        lacking = run_request(Request(targets=["needy.py"], claims=["slow.good"]), executor=pool).record.results[0]
    assert lacking.verdict == "error"
    assert "helper" in lacking.note
    assert "upload_file" in lacking.note
    assert lacking.status == 2


def test_parts_are_kept_and_dropped(tmp_path):
    with Store(tmp_path / NAME) as store:
        store.put_parts("cell", {"a": b"1", "b": b"2"})
        store.put_parts("cell", {"c": b"3"}, without=["a"])
        store.put_parts("other", {"a": b"4"})
    with Store(tmp_path / NAME) as store:
        assert store.parts("cell") == {"b": b"2", "c": b"3"}
        store.drop_parts("cell")
        assert (store.parts("cell"), store.parts("other")) == ({}, {"a": b"4"})


def test_without_others_nothing_is_asked_of_them(slow):
    (cell,) = build_cells(request(slow))
    assert Settings(seed=0).spread is False
    assert run_cell(cell, Settings(seed=3, spread=True)) == run_cell(cell, Settings(seed=3))
    assert Work().known == {}


def test_progress_has_speed_time_left_and_the_bound_so_far(slow, capfd, monkeypatch):
    monkeypatch.setattr("dpaudit.runner.parts.FIRST_WORD", 0.4)
    monkeypatch.setattr("dpaudit.runner.parts.NEXT_WORD", 0.4)
    wanted = Request(targets=[slow], claims=["slow.true"], samples=700_000, set={"seconds": ["4e-6"]})
    run_request(wanted, workers=2, announce=True)
    told = [line for line in capfd.readouterr().err.splitlines() if "per second" in line]
    assert told
    assert all("of 1,400,000 outputs" in line for line in told)
    assert "epsilon at least" in told[-1]
    assert "left" in told[-1]
    bound = float(told[-1].split("epsilon at least ")[1].split()[0])
    assert 0 < bound <= 1.0


def test_searches_of_huge_audits_hold_no_more_than_is_worth_choosing_from():
    class Counted(dpaudit.Mechanism):
        """Counts what it is asked for in total, and draws nothing that costs."""

        def sample(self, data, size, rng):
            return rng.random(size) + data

    from dpaudit.auditors.blackbox.audit import search_pair
    from dpaudit.auditors.sampling.budget import Budget
    from dpaudit.auditors.sampling.streams import Streams

    neighbouring = dpaudit.Neighbouring(relation="r", pairs=[(0, 1), (0, 2)], complete=True, scope="s")
    claim = dpaudit.PrivacyClaim(id="c", statement="s", epsilon=1.0)
    budget = Budget(samples=10**8)
    search = search_pair(Counted(), claim, neighbouring, budget=budget, streams=Streams(0))
    assert search.found.samples <= 4_000_000
    assert search.task.samples + search.found.samples <= 10**8 < search.task.samples + search.found.samples + 10


def test_parts_that_are_being_done_count_as_half_done():
    parts = {name: SimpleNamespace(outputs=600) for name in "abcdefghi"}
    progress = _Progress({}, parts, {"a"}, begun=0.0, done=600, planned=6000)
    assert progress.words(9.0) == "600 of 6,000 outputs, 100 per second, 51 seconds left"
    progress.under_way.clear()
    assert progress.words(6.0) == "600 of 6,000 outputs, 100 per second, 54 seconds left"


def test_how_long_sampling_takes_is_not_told_again_with_every_part(slow, monkeypatch):
    told = []

    def audit(target, claim, *, budget, streams):
        told.append(budget.announce is not None)
        raise ValueError("far enough")

    monkeypatch.setattr(importlib.import_module("dpaudit.auditors.audit"), "audit", audit)
    (cell,) = build_cells(request(slow))
    for known in ({}, {"search": b""}):
        run_in_parts(cell, Settings(seed=1, announce=True, spread=True), known)
    assert told == [True, False]
