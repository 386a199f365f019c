"""The store of results: what is kept, what is taken from it, and what ends a run in the middle."""

import dataclasses
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest

import dpaudit
from dpaudit.claims.record import plain
from dpaudit.cli import main
from dpaudit.runner import Request, build_cells
from dpaudit.runner.check import run_request
from dpaudit.runner.keys import Keys
from dpaudit.runner.outcome import Settings, run_cell
from dpaudit.runner.store import NAME, Store

SLOW = '''
    """Cells that take a moment each."""

    import os
    import time

    import numpy as np

    import dpaudit


    class Slow(dpaudit.Mechanism):
        """A coin."""

        epsilon: float = 1.0
        number: int = 0

        def sample(self, data, size, rng):
            with open(os.environ["DPAUDIT_TEST_LOG"], "a") as log:
                log.write(f"{self.number}\\n")
            time.sleep(0.01)
            return rng.random(size) < (0.5 if data else 0.6)

        def neighbours(self):
            return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="one bit")

        def claims(self):
            return [dpaudit.PrivacyClaim(id="slow.privacy", statement="It is private.", epsilon=0.02 * self.number)]
'''
NUMBERS = 12


def outcomes(target):
    cells = build_cells(Request(targets=[target], samples=3000))
    return [(cell, run_cell(cell, Settings(seed=0))) for cell in cells]


@pytest.mark.slow
def test_what_is_put_is_got_again(mixed, tmp_path):
    kept = outcomes(mixed)
    path = tmp_path / "deep" / "results.sqlite"
    with Store(path) as store:
        for cell, outcome in kept:
            store.put(Keys(0).key(cell, outcome.result), outcome, 1.0)
    with Store(path) as store:
        for cell, outcome in kept:
            found = store.get(Keys(0).candidates(cell))
            assert json.dumps(plain(found.result)) == json.dumps(plain(outcome.result))
        assert store.get(["0" * 16]) is None
    with Store(path, fresh=True) as store:
        assert all(store.get(Keys(0).candidates(cell)) is None for cell, _ in kept)


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to be one" * 30, b"\x00" * 4096])
def test_a_file_that_is_no_store_is_refused(tmp_path, content):
    path = tmp_path / NAME
    path.write_bytes(content)
    with pytest.raises(dpaudit.DpauditError, match=r"results\.sqlite.*remove it"):
        Store(path)


def test_another_database_is_refused(tmp_path):
    import sqlite3

    path = tmp_path / NAME
    other = sqlite3.connect(path)
    other.execute("create table mine (x)")
    other.close()
    with pytest.raises(dpaudit.DpauditError, match="not a store of results"):
        Store(path)


@pytest.mark.slow
@pytest.mark.parametrize("page", [1, 2, 3])
def test_a_damaged_store_is_told_in_one_line(kept, page, monkeypatch, capsys):
    mixed, path = kept[0], Path("out", NAME)
    content = path.read_bytes()
    assert len(content) >= 4096 * page
    garbage = bytes(i * 37 % 256 for i in range(4096))
    path.write_bytes(content[: 4096 * (page - 1)] + garbage + content[4096 * page :])
    monkeypatch.setattr("sys.argv", ["dpaudit", "check", mixed, "--samples", "3000", "--output", str(path.parent)])
    with pytest.raises(SystemExit) as left:
        main()
    told = capsys.readouterr().err
    assert (left.value.code, told.count("\n")) == (2, 1)
    assert NAME in told
    assert "remove it" in told


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    ["update results set witness = x'ff'", "update results set result = '[1]'", "update results set result = 5"],
)
def test_rows_that_are_no_results_are_told(mixed, tmp_path, change):
    import sqlite3

    request = Request(targets=[mixed], claims=["mixed.exact"])
    run_request(request, output=tmp_path / "out")
    connection = sqlite3.connect(tmp_path / "out" / NAME)
    connection.execute(change)
    connection.commit()
    connection.close()
    with pytest.raises(dpaudit.OutputError, match="damaged"):
        run_request(request, output=tmp_path / "out")


@pytest.mark.slow
def test_the_result_of_another_claim_is_not_taken(mixed, tmp_path):
    import sqlite3

    request = Request(targets=[mixed], claims=["mixed.exact"])
    run_request(request, output=tmp_path / "out")
    connection = sqlite3.connect(tmp_path / "out" / NAME)
    connection.execute("update results set result = replace(result, 'mixed.exact', 'mixed.other')")
    connection.commit()
    connection.close()
    assert run_request(request, output=tmp_path / "out").taken == 0


@pytest.mark.slow
def test_the_same_command_again_computes_nothing_and_gives_the_same_record(kept):
    mixed, record = kept
    request = Request(targets=[mixed], samples=3000)
    again = run_request(request, output=Path("out"))
    assert again.taken == len(record.results)
    assert again.record.reproducible().to_json() == record.reproducible().to_json()
    exact = Request(targets=[mixed], samples=3000, claims=["mixed.exact"])
    assert run_request(exact, output=Path("out")).taken == 1
    assert run_request(exact, output=Path("out"), fresh=True).taken == 0


@pytest.mark.slow
def test_another_seed_or_number_of_samples_is_another_result(kept):
    mixed, out = kept[0], Path("out")
    sampled = {"targets": [mixed], "claims": ["mixed.box", "mixed.good"]}
    assert run_request(Request(**sampled, samples=3000, seed=1), output=out).taken == 0
    assert run_request(Request(**sampled, samples=3001), output=out).taken == 0
    # One more claim set changes nothing of the others.
    assert run_request(Request(targets=[mixed], samples=3000, claims=["mixed.good"]), output=out).taken == 1


@pytest.mark.slow
def test_adding_an_audit_changes_no_other_result(kept):
    mixed, record = kept
    alone = run_request(Request(targets=[mixed], samples=3000, claims=["mixed.box"])).record.results
    (same,) = (result for result in record.results if result.claim == "mixed.box")
    assert [dataclasses.replace(result, witness_file=None, command="") for result in alone] == [
        dataclasses.replace(same, witness_file=None, command="")
    ]


@pytest.mark.slow
def test_the_record_states_the_sum_of_the_error_probabilities(mixed):
    claims = ["mixed.box", "mixed.good", "mixed.lemma"]
    record = run_request(Request(targets=[mixed], samples=3000, confidence=0.99, claims=claims)).record
    sampled = [result for result in record.results if result.error_probability is not None]
    assert {result.claim for result in sampled} == {"mixed.box", "mixed.good"}
    assert {result.error_probability for result in sampled} == {0.01}
    assert record.error_probability == pytest.approx(0.02)


@pytest.mark.slow
def test_the_command_says_what_it_took_and_fresh_starts_over(kept, monkeypatch, capsys):
    def run(*more):
        command = ["dpaudit", "check", kept[0], "--samples", "3000", "--workers", "1", *more]
        monkeypatch.setattr("sys.argv", command)
        with pytest.raises(SystemExit):
            main()
        return capsys.readouterr().err

    assert "5 of 5 results were known from out already" in run("--output", "out")
    one = ("--claim", "mixed.exact")
    assert "1 of 1 results were known from out already" in run("--output", "out", *one)
    assert "known" not in run("--output", "out", "--fresh", *one)
    assert "--fresh forgets what --output DIR keeps" in run("--fresh")


@pytest.fixture
def slow(tmp_path, monkeypatch):
    """A target of many cells, and a function that starts its audit as a process."""
    monkeypatch.chdir(tmp_path)
    Path("slow.py").write_text(dedent(SLOW))
    monkeypatch.setenv("DPAUDIT_TEST_LOG", str(tmp_path / "log"))

    def start(output, workers=1):
        numbers = ",".join(map(str, range(1, NUMBERS + 1)))
        command = [sys.executable, "-m", "dpaudit", "check", "slow.py", "--set", f"number={numbers}"]
        command += ["--samples", "1000", "--workers", str(workers), "--output", output, "--quiet"]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    return start


def reproducible(folder):
    """The record in a folder, without what may differ between two runs."""
    text = dpaudit.read_record(folder / "record.json").reproducible().to_json()
    return text.replace(f"{folder.name}/witnesses", "out/witnesses")


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_where_it_was(slow, tmp_path):
    assert slow("whole").wait(120) in (0, 1, 3)
    whole = reproducible(tmp_path / "whole")
    log = tmp_path / "log"
    for workers in (1, 2):
        chance = random.Random(workers)
        killed = tmp_path / f"killed{workers}"
        # Moments that any machine reaches: so many calls of the sampler, of which a cell makes ten. At the first,
        # nothing is kept as yet; at the second, some results are, and others are not.
        for calls in (workers * chance.randrange(1, 10), workers * chance.randrange(24, 30)):
            log.write_text("")
            process = slow(killed.name, workers)
            while process.poll() is None and len(log.read_text().split()) < calls:
                time.sleep(0.005)
            assert process.poll() is None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        log.write_text("")
        assert slow(killed.name, workers).wait(120) in (0, 1, 3)
        assert reproducible(killed) == whole
        # What had been finished was not computed again.
        assert len(set(log.read_text().split())) < NUMBERS
