"""A run that is interrupted, at whatever moment and by whatever signal, keeps what it has and leaves nothing behind."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpaudit.cli import application, interrupts

TARGET = '''\
"""A bit, sampled slowly."""

import time

import dpaudit


class Bit(dpaudit.Mechanism):
    """A bit with noise; every cell takes some time."""

    number: int = 0
    seconds: float = 0.15

    def sample(self, data, size, rng):
        return data + rng.laplace(size=size)

    def neighbours(self):
        time.sleep(self.seconds)
        return dpaudit.Neighbouring(relation="own", pairs=[(0, 1)], complete=True, scope="the bits")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="bit.privacy", statement="It is private.", epsilon=2.0)]
'''

CELLS = 8
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bit.py").write_text(TARGET, encoding="utf-8")
    return tmp_path


def start(*words, output="out", seconds=0.1):
    numbers = ",".join(map(str, range(CELLS)))
    command = [
        sys.executable, "-m", "dpaudit", "check", "bit.py", "--set", f"number={numbers}", "--set", f"seconds={seconds}",
        "--samples", "2000", "--output", output, "--format", "json", "--workers", "2", *words,
    ]  # fmt: skip
    # What a test's own process ignores, such as SIGINT in the background, would stay ignored.
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=_restore_signals
    )


def _restore_signals():
    for each in SIGNALS:
        signal.signal(each, signal.SIG_DFL)


def left_behind(folder):
    """Processes that are in a folder."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cwd"):
        try:
            inside = Path(os.readlink(each)) == folder
        except OSError:
            continue
        if inside and int(each.parent.name) != os.getpid():
            found.append(int(each.parent.name))
    return found


def soon(holds, seconds=60.0):
    limit = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.02)


def kept(folder):
    """How many results the store holds."""
    import sqlite3

    try:
        with sqlite3.connect(f"file:{folder / 'out' / 'results.sqlite'}?mode=ro", uri=True) as connection:
            return connection.execute("select count(*) from results").fetchone()[0]
    except sqlite3.Error:
        return 0


@pytest.mark.parametrize(
    ("number", "again"),
    # Once SIGINT alone: tests/cli/test_status_and_output.py.
    [(signal.SIGINT, True), (signal.SIGTERM, True), (signal.SIGHUP, False)],
)
def test_a_signal_keeps_what_was_computed(folder, number, again):
    process = start(seconds=0.6)
    soon(lambda: kept(folder) >= 2)
    for _ in range(5 if again else 1):
        process.send_signal(number)
        time.sleep(0.02)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    written = json.loads((folder / "out" / "record.json").read_text(encoding="utf-8"))
    assert json.loads(out)["results"] == written["results"]
    assert written["partial"] == {"cells": CELLS, "results": len(written["results"])}
    assert 2 <= len(written["results"]) < CELLS
    assert "Traceback" not in err
    assert f"interrupted; {len(written['results'])} of {CELLS} results are kept" in err
    soon(lambda: not left_behind(folder))


def test_workers_end_with_their_parent(folder):
    process = start(seconds=0.6)
    soon(lambda: kept(folder) >= 2)
    assert len(left_behind(folder)) >= 3
    process.kill()
    process.communicate(timeout=60)
    soon(lambda: not left_behind(folder))
    before = kept(folder)
    process = start(seconds=0.6)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0
    assert f"{before} of {CELLS} results were known" in err
    assert "partial" not in json.loads((folder / "out" / "record.json").read_text(encoding="utf-8"))


MOMENTS = 5


def test_an_interrupt_at_any_moment_loses_nothing(folder):
    generator = random.Random(0)
    begun = time.monotonic()
    process = start(output="whole", seconds=0.05)
    process.communicate(timeout=120)
    assert process.returncode == 0
    whole = time.monotonic() - begun
    seen = 0
    # Spread evenly over a run and a little more, and taken in any order; every fourth run begins afresh.
    moments = [(i + generator.random()) * 1.1 * whole / MOMENTS for i in range(MOMENTS)]
    generator.shuffle(moments)
    for number, moment in enumerate(moments):
        process = start("--fresh", seconds=0.05) if number % 4 == 0 else start(seconds=0.05)
        time.sleep(moment)
        process.send_signal(generator.choice(SIGNALS))
        out, err = process.communicate(timeout=60)
        assert "Traceback" not in err, err
        # Before Python itself has begun, a signal ends the process at once.
        assert process.returncode in (0, 130, *(-each for each in SIGNALS)), err
        if process.returncode == 130:
            assert err.count("interrupted") == 1
        if out:
            json.loads(out)
        now = kept(folder)
        assert number % 4 == 0 or now >= seen
        seen = now
        record = folder / "out" / "record.json"
        if record.exists():
            json.loads(record.read_text(encoding="utf-8"))
    soon(lambda: not left_behind(folder))


@pytest.mark.parametrize("given", ["cause", "context"])
def test_an_error_that_a_signal_made_is_an_interrupt(monkeypatch, capsys, given):
    """A library in C that is being loaded when the signal comes fails with an ImportError."""

    def interrupted(**_options):
        try:
            raise interrupts.Interrupted
        except interrupts.Interrupted as error:
            if given == "cause":
                raise ImportError("initialization failed") from error
            raise ImportError("initialization failed")  # noqa: B904

    monkeypatch.setattr(application, "app", interrupted)
    assert application.main() == 130
    assert capsys.readouterr().err.strip() == "dpaudit: interrupted before it had finished"


def test_a_signal_that_is_swallowed_is_not_printed(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: told.append(unraisable.exc_type))

    class Raising:
        def __init__(self, error):
            self.error = error

        def __del__(self):
            raise self.error

    with interrupts.handled():
        Raising(interrupts.Interrupted())
        Raising(ValueError())
    Raising(interrupts.Interrupted())
    assert told == [ValueError, interrupts.Interrupted]
