"""Audits on a real cluster of Dask: two processes of this machine."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_spread import SAMPLES, request, text

import dpaudit
from dpaudit.claims.record import read_record
from dpaudit.cli import main
from dpaudit.runner.check import run_request
from dpaudit.runner.dask import cluster

distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'dpaudit[dask]'")

pytestmark = [
    pytest.mark.slow,
    # What Dask says of sockets and processes that it leaves behind.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning"),
]


def test_a_cluster_gives_the_record_of_one_process(slow):
    here = run_request(request(slow)).record
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local,
        distributed.Client(local) as client,
    ):
        there = dpaudit.check(slow, claims=["slow.true"], samples=SAMPLES, executor=client.get_executor(pure=False))
        drawn = client.run(os.getpid)
    assert len(set(drawn.values()) - {os.getpid()}) == 2
    assert text(there) == text(here)


def test_a_worker_that_is_killed_in_mid_run_changes_nothing(slow):
    here = run_request(request(slow, set={"deadly": ["never"]})).record
    with cluster("local", 2) as executor:
        killed = run_request(request(slow, set={"deadly": ["once"]}), executor=executor).record
        assert Path("died").exists()
        always = run_request(request(slow, None, set={"deadly": ["always"]}), executor=executor).record
    (one,), (other,) = here.results, killed.results
    assert one.kind == other.kind == "privacy"
    assert other.verdict == "consistent"
    verdicts = {result.claim: result.verdict.value for result in always.results}
    assert verdicts == {"slow.true": "error", "slow.false": "error", "slow.good": "proved"}


def test_the_record_of_killed_workers_and_of_a_killed_parent_is_that_of_one_process(slow):
    whole = run_request(request(slow, set={"seconds": ["2e-5"]})).record
    more = ["--set", "seconds=2e-5", "--samples", str(SAMPLES), "--claim", "slow.true", "--quiet"]
    command = [sys.executable, "-m", "dpaudit", "check", slow, "--scheduler", "local", "--workers", "2", *more]
    command += ["--output", "cut"]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 120
        while not Path("log").exists() and time.monotonic() < until:
            time.sleep(0.1)
        time.sleep(3)
        assert run.poll() is None
        # The parent has the scheduler in it, and its workers end with it.
        os.kill(run.pid, signal.SIGKILL)
    finally:
        run.kill()
        run.wait()
    time.sleep(3)
    Path("log").unlink()
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    assert text(read_record("cut/record.json")) == text(whole)


def test_a_scheduler_that_is_not_there_is_told_in_one_line(slow, monkeypatch, capsys):
    monkeypatch.setattr("dpaudit.runner.dask._SECONDS", 1.0)
    monkeypatch.setattr("sys.argv", ["dpaudit", "check", slow, "--scheduler", "tcp://127.0.0.1:9"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "no scheduler answers there" in told
