"""The programs of examples/commands are built, keep to the protocol, and draw from the law that they say.

A client is skipped where what builds or runs it is missing.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import dpaudit
from dpaudit.testing import assert_private

EXAMPLES = Path(__file__).parents[2] / "examples" / "commands"

CLIENTS = {
    "geometric.c": (["gcc", "-O2", "-Wall", "-Werror", "-o", "{build}/c", "{file}", "-lm"], ["{build}/c"]),
    "geometric.rs": (["rustc", "-O", "-o", "{build}/rs", "{file}"], ["{build}/rs"]),
    "geometric.go": (["go", "build", "-o", "{build}/go", "{file}"], ["{build}/go"]),
    "Geometric.java": (["javac", "-d", "{build}", "{file}"], ["java", "-cp", "{build}", "Geometric"]),
    "geometric.js": (None, ["node", "{file}"]),
    "geometric.R": (None, ["Rscript", "{file}"]),
}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="commands need pipes that can be waited for")


def test_every_client_is_here():
    assert {file.name for file in EXAMPLES.iterdir()} == {*CLIENTS, "README.md"}


@pytest.fixture
def client(request, tmp_path):
    """The command of a client, built."""
    file = EXAMPLES / request.param
    build, words = CLIENTS[request.param]

    def filled(texts):
        return [text.format(build=tmp_path, file=file) for text in texts]

    for needed in ([build[0]] if build else []) + words[:1]:
        if "{" not in needed and shutil.which(needed) is None:
            pytest.skip(f"{request.param} was not run: there is no {needed} on this machine")
    if build:
        done = subprocess.run(filled(build), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return [*filled(words), "{epsilon}"]


@pytest.mark.slow
@pytest.mark.parametrize("client", list(CLIENTS), indirect=True)
def test_a_client(client):
    mechanism = dpaudit.CommandMechanism(command=client, parameters={"epsilon": 0.7}, pairs=[(-4, -3)])
    rng = np.random.default_rng(1)
    outputs = np.asarray(mechanism.sample(-4, 40_000, rng)) + 4
    # P(k) = (1 - a) / (1 + a) a^|k| with a = e^-epsilon; the false-alarm rate is 1e-7.
    a = np.exp(-0.7)
    inner = np.arange(-12, 13)
    law = (1 - a) / (1 + a) * a ** np.abs(inner)
    tail = (1 - law.sum()) / 2
    counts = [(outputs < -12).sum(), *((outputs == k).sum() for k in inner), (outputs > 12).sum()]
    assert stats.chisquare(counts, np.array([tail, *law, tail]) * len(outputs)).pvalue > 1e-7
    again = np.asarray(mechanism.sample(-4, 40_000, np.random.default_rng(1))) + 4
    assert np.array_equal(outputs, again)
    # Another parameter, and two numbers in one output would show.
    assert assert_private(mechanism, epsilon=0.7, samples=4000).verdict == "consistent"
    with pytest.raises(AssertionError, match="is not"):
        assert_private(mechanism, epsilon=0.3, samples=4000)
