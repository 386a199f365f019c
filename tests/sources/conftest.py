"""Small programs that tests write and run."""

import sys
from pathlib import Path

import pytest

import dpaudit

START = """\
import json, os, random, sys, time
out = sys.stdout
def say(*lines):
    for line in lines:
        out.write(f"{line}\\n")
    out.flush()
def hello(**more):
    say(json.dumps({"protocol": "dpaudit.sampler/1", "format": "jsonl", **more}))
def requests():
    for line in sys.stdin:
        asked = json.loads(line)
        yield asked["input"], asked["size"], random.Random(asked["seed"])
"""

FLIPS = """
hello()
for data, size, rng in requests():
    say(*[int(data) ^ (rng.random() < 0.25) for _ in range(size)])
"""
"""Randomized response that keeps the truth with probability 3/4, which is ln 3-private."""


@pytest.fixture
def program(tmp_path):
    """Write a program of some lines of Python; return its file."""

    def write(body, name="program"):
        file = tmp_path / name
        file.write_text(f"#!{sys.executable} -SE\n{START}{body}")
        file.chmod(0o755)
        return file

    return write


@pytest.fixture
def is_running():
    """Tell whether there is a process of that number that has not ended; of one that nobody buried, it says no."""

    def running(pid):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        return state != "Z"

    return running


@pytest.fixture
def command(program):
    """A mechanism of a program of some lines of Python."""
    made = []

    def make(body=FLIPS, **options):
        given = {"pairs": [(0, 1)], "parameters": {"epsilon": 1.0}, "timeout": 30, "name": "thing", **options}
        mechanism = dpaudit.CommandMechanism(command=[str(program(body, given["name"]))], **given)
        made.append(mechanism)
        return mechanism

    return make
