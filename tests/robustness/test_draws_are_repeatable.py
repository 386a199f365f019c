"""Draws depend on the seed alone, not on what else a process has imported; no private module of Hypothesis is used."""

import os
import re
import subprocess
import sys

import pytest

from dpaudit.catalog import ROOT

PROGRAM = """
import sys

sys.path.insert(0, "")
if sys.argv[1] == "more":
    import constants
import numpy as np
from hypothesis import strategies

import dpaudit
from dpaudit.auditors import Streams
from dpaudit.auditors.counterexamples.lemma import audit_lemma

seen = []


def margin(x, n, text=None):
    seen.append((x, n))
    return 1.0


variables = {"x": dpaudit.Reals(-5.0, 1e6), "n": dpaudit.Integers(-(10**20), 10**20)}
claim = dpaudit.LemmaClaim(id="l", statement="s", margin=margin, variables=variables)
audit_lemma(claim, draws=300, streams=Streams(3))
print(seen)
values = strategies.one_of(strategies.integers(), strategies.floats(allow_nan=False), strategies.text(max_size=4))
pairs = dpaudit.DrawnPairs(strategy=strategies.tuples(values, values), relation="r", scope="s")
print(list(pairs.patterns()))
rng = np.random.default_rng(1)
print([pairs.draw(rng) for _ in range(100)])
"""


@pytest.mark.slow
def test_what_is_imported_does_not_matter(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    # Hypothesis mixes constants of modules like this one into draws of its own.
    numbers = "\n".join(f"x{i} = {i * 7919 + 13}.5, {i * 104729}, 'word{i}'" for i in range(200))
    (tmp_path / "constants.py").write_text(numbers, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    outputs = [
        subprocess.run(
            [sys.executable, "program.py", word], cwd=tmp_path, env=environment, capture_output=True, check=True
        ).stdout
        for word in ("more", "less")
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].count(b"\n") == 3


def test_no_private_module_of_hypothesis_is_used():
    private = re.compile(r"hypothesis\.(internal|_|vendor)|from hypothesis import (internal|_)")
    files = [path for folder in ("dpaudit", "protocols") for path in (ROOT / folder).rglob("*.py")]
    assert not [path for path in files if private.search(path.read_text(encoding="utf-8"))]
