import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from dpaudit.cli import main

COUNT = '''\
"""A user's own file; `mode` chooses how it misbehaves."""

import os

import numpy as np

import dpaudit


class Count(dpaudit.Mechanism):
    """A bit with Laplace noise."""

    epsilon: float = 1.0
    delta: float = 0.0
    factor: float = 1.0  # scale of the noise times epsilon
    mode: str = "sound"

    def validate(self):
        if self.mode == "validate":
            raise LookupError("no such thing")

    def sample(self, data, size, rng):
        if self.mode == "sample":
            raise ValueError("boom\\nand a second line")
        if self.mode == "leave":
            raise SystemExit(0)
        if self.mode == "shape":
            return np.zeros((size + 1, 2))
        if self.mode == "print":
            print("printed by the target")
        return data + rng.laplace(scale=self.factor / self.epsilon, size=size)

    def law(self, data):
        if self.mode == "law":
            return dpaudit.FiniteLaw([0, 1], np.log([0.5, 0.4]))
        if self.mode in ("sample", "leave", "shape", "print", "die"):
            return None
        return dpaudit.LaplaceLaw(float(data), self.factor / self.epsilon)

    def neighbours(self):
        if self.mode == "die":
            os._exit(7)
        if self.mode == "none":
            return None
        if self.mode == "neighbours":
            raise ZeroDivisionError("in neighbours")
        pairs = [] if self.mode == "no-pairs" else [(0, 1)]
        return dpaudit.Neighbouring(relation="substitution", pairs=pairs, complete=True, scope="the bits 0 and 1")

    def claims(self):
        privacy = dpaudit.PrivacyClaim(
            id="count.privacy", statement="It is private.", epsilon=self.epsilon, delta=self.delta
        )
        utility = dpaudit.UtilityClaim(id="count.utility", statement="It is good.", bound=0.6, exact=lambda: 0.5)
        if self.mode == "claims":
            raise KeyError("in claims")
        if self.mode == "no-list":
            return 5
        return {"junk": [privacy, "text"], "twice": [privacy, privacy], "no-claims": []}.get(
            self.mode, [privacy, utility]
        )
'''

PLAN = """\
schema = "dpaudit.plan/1"
protocol = "count.py"

[[audit]]
target = "count"
claim = "count.privacy"
set = { epsilon = [0.5, 1.0] }
expect = "proved"
reason = "the scale is 1/epsilon"
"""


class Outcome(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """An empty folder of a user's own, which is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


@pytest.fixture
def count(folder) -> str:
    (folder / "count.py").write_text(COUNT, encoding="utf-8")
    return "count.py"


@pytest.fixture
def plan(count, folder) -> Callable[..., str]:
    """Write PLAN with changes beside count.py."""

    def write(old: str = "", new: str = "", *, text: str | None = None) -> str:
        if text is None:
            assert old in PLAN
            text = PLAN.replace(old, new) if old else PLAN + new
        (folder / "plan.toml").write_text(text, encoding="utf-8")
        return "plan.toml"

    return write


@pytest.fixture
def dpaudit(folder, monkeypatch, capfd, copies_alone) -> Callable[..., Outcome]:
    """The command line in this process."""

    def run(*arguments: str) -> Outcome:
        words = [str(argument) for argument in arguments]
        if words and words[0] in ("check", "reproduce") and "--workers" not in words:
            words += ["--workers", "1"]
        monkeypatch.setattr(sys, "argv", ["dpaudit", *words])
        capfd.readouterr()
        with pytest.raises(SystemExit) as exit_:
            main()
        streams = capfd.readouterr()
        return Outcome(int(exit_.value.code or 0), streams.out, streams.err)

    return run


@pytest.fixture
def command(folder) -> Callable[..., Outcome]:
    """The command line as a process of its own."""

    def run(*arguments: str, **options: object) -> Outcome:
        words = [sys.executable, "-m", "dpaudit", *arguments]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, **options)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def refused(dpaudit) -> Callable[..., str]:
    """Run a call that cannot be used; return its one line."""

    def run(*arguments: str) -> str:
        outcome = dpaudit(*arguments)
        assert outcome.status == 2, outcome
        assert outcome.out == ""
        assert outcome.err.startswith("dpaudit: ")
        assert outcome.err.endswith("\n")
        assert outcome.err.count("\n") == 1, outcome.err
        assert "Traceback" not in outcome.err
        return outcome.err

    return run
