"""Whoever reads standard output may leave, or close it: the exit status is the verdict's. Where it is full, it is 2."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpaudit.catalog import ROOT

TARGET = '''\
import dpaudit


class Count(dpaudit.Mechanism):
    """A bit with Laplace noise."""

    epsilon: float = 1.0

    def sample(self, data, size, rng):
        return data + rng.laplace(scale=0.5 / self.epsilon, size=size)

    def neighbours(self):
        return dpaudit.Neighbouring(relation="substitution", pairs=[(0, 1)], complete=True, scope="two bits")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="count.privacy", statement="It is private.", epsilon=self.epsilon)]
'''


WAYS = ("gone", "full", "closed")
"""What may be the matter with standard output: its reader has gone, its disk is full, it is closed."""


def run(words, *, stdout=None, closed=(), **options):
    """Status and standard error of the command line; standard output and the descriptors that are closed are given."""

    def close():
        for descriptor in closed:
            os.close(descriptor)

    done = subprocess.run(
        [sys.executable, "-m", "dpaudit", *map(str, words)],
        stdout=stdout,
        stderr=None if 2 in closed else subprocess.PIPE,
        preexec_fn=close,
        text=True,
        timeout=300,
        check=False,
        **options,
    )
    return done.returncode, done.stderr or ""


def gone(words, **options):
    """Run with a standard output whose reader has gone."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return run(words, stdout=writer, **options)
    finally:
        os.close(writer)


def assert_status_stands(words, status, ways=WAYS, **options):
    if "gone" in ways:
        found, err = gone(words, **options)
        assert found == status
        assert "Traceback" not in err
        assert "Broken pipe" not in err
    if "full" in ways and Path("/dev/full").exists():
        with open("/dev/full", "w") as full:
            found, err = run(words, stdout=full, **options)
        # A verdict that is not as expected, or a record that differs, is worse.
        assert found == (1 if status == 1 else 2)
        assert "Traceback" not in err
        assert err.count("standard output cannot be written (") == 1
    if "closed" in ways:
        found, err = run(words, closed=(1,), **options)
        assert found == status
        assert err.count("standard output is closed") == 1
        assert "Traceback" not in err


def committed(key):
    return ROOT / "reports" / f"{key}.json"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "status"),
    [(["--version"], 0), (["compare", committed("hay2017"), committed("balcer2020")], 1)],
    ids=["--version", "compare"],
)
def test_the_status_stands(words, status):
    assert_status_stands(words, status)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["--help"], 0),
        ([], 2),
        (["check", "--help"], 0),
        (["compare", committed("hay2017"), committed("hay2017")], 0),
        (["compare", "--format", "json", committed("hay2017"), committed("balcer2020")], 1),
        (["list"], 0),
        (["show", "yan2020"], 0),
        (["report", committed("hay2017")], 0),
        (["report", "--format", "json", committed("hay2017")], 0),
        (["report", "--format", "markdown", committed("hay2017")], 0),
        (["report", "--format", "junit", committed("hay2017")], 0),
        (["schema", "record"], 0),
        # At other versions of the libraries than those of the committed reports it is outdated.
        (["report", "--check", committed("balcer2020")], None),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else str(value),
)
def test_the_status_of_every_command_stands(words, status):
    # What is made of a failure is common to all commands: those of the test above try each way.
    ways = ("gone", "full")
    if status is None:
        status = run(words)[0]
        ways = ("full",)
    assert_status_stands(words, status, ways)


@pytest.mark.slow
def test_the_status_of_an_audit_and_of_its_witness_stands(tmp_path):
    (tmp_path / "count.py").write_text(TARGET, encoding="utf-8")
    audit = ["check", "count.py", "--workers", 1, "--samples", 2000]
    assert_status_stands(audit, 1, cwd=tmp_path)
    assert_status_stands([*audit, "--format", "junit", "--output", "out"], 1, ["full"], cwd=tmp_path)
    assert (tmp_path / "out" / "junit.xml").stat().st_size
    (witness,) = (tmp_path / "out" / "witnesses").iterdir()
    assert_status_stands(["verify", witness.relative_to(tmp_path)], 0, ["gone"], cwd=tmp_path)
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("0\n1\n" * 500, encoding="utf-8")
    assert_status_stands(["bound", "a.csv", "b.csv"], 0, ["closed"], cwd=tmp_path)
    (tmp_path / "new").mkdir()
    for name in ("gone", "closed"):
        (tmp_path / "new" / name).mkdir()
    assert gone(["init", "noisy-count"], cwd=tmp_path / "new" / "gone")[0] == 0
    assert (tmp_path / "new" / "gone" / "noisy_count.toml").stat().st_size
    assert run(["init", "noisy-count"], closed=(1,), cwd=tmp_path / "new" / "closed")[0] == 0
    assert (tmp_path / "new" / "closed" / "noisy_count.toml").stat().st_size


@pytest.mark.slow
def test_no_stream_at_all():
    assert run(["--version"], closed=(0, 1, 2)) == (0, "")
    assert run(["report", "missing.json"], closed=(0, 1, 2)) == (2, "")


@pytest.mark.slow
def test_standard_error_without_a_reader():
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "dpaudit", "report", "missing.json"]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=writer, timeout=300, check=False)
    os.close(writer)
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.slow
def test_a_reader_that_is_slow_and_a_pipe_that_does_not_block():
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    words = [sys.executable, "-m", "dpaudit", "report", "--format", "json", str(committed("yan2020"))]
    process = subprocess.Popen(words, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read()
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, b"")
    assert text.decode() == committed("yan2020").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("width", ["²", "0", "-1", "ten", "1" * 5000, "1", ""])
def test_widths_of_terminals_that_are_none(width):
    environment = {**os.environ, "COLUMNS": width, "TERMINAL_WIDTH": width, "LINES": width}
    words = [sys.executable, "-m", "dpaudit", "report", str(committed("balcer2020"))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "balcer2020" in done.stdout
