"""Examples in every help, what a shell completes, and how far a run says it is."""

import os
import re
import shlex
import subprocess
import sys

import pytest
import typer

from dpaudit.catalog import ROOT
from dpaudit.claims.record import read_record
from dpaudit.cli import completion
from dpaudit.cli.application import app
from dpaudit.cli.examples import EXAMPLES
from dpaudit.cli.progress import Pace
from dpaudit.registry import catalogue, catalogue_claims, catalogue_papers
from dpaudit.runner import Request, build_cells

SLOW = '''\
import time

import dpaudit


class Slow(dpaudit.Mechanism):
    """A number that takes its time."""

    def sample(self, data, size, rng):
        return rng.laplace(size=size)

    def claims(self):
        return [dpaudit.UtilityClaim(id="slow.utility", statement="It is good.", bound=0.6, exact=self.value)]

    def value(self):
        time.sleep(2)
        return 0.5
'''

COMMANDS = typer.main.get_command(app).commands
FIRST = "dpaudit check yan2020.dp-kwiksort --set epsilon=1 --set alternatives=3 --set agents=2"


def test_every_command_has_examples():
    assert set(EXAMPLES) == set(COMMANDS)


@pytest.mark.parametrize("example", [each for some in EXAMPLES.values() for each in some])
def test_an_example_can_be_parsed(example):
    program, name, *words = shlex.split(example)
    assert program == "dpaudit"
    assert example in EXAMPLES[name]
    COMMANDS[name].make_context(name, words[: words.index(">")] if ">" in words else words)


def test_help_shows_the_examples(dpaudit, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    text = dpaudit("compare", "--help").out
    assert EXAMPLES["compare"][0] in " ".join(text.split())


@pytest.mark.slow
def test_what_is_completed_are_the_names_of_the_catalogue(folder):
    assert set(completion.papers("")) <= set(catalogue_papers())
    assert set(completion.claims("")) <= set(catalogue_claims())
    assert len(completion.claims("")) > 200
    assert set(completion._names("", "target")) <= set(catalogue())
    (folder / "own").mkdir()
    (folder / "own.py").touch()
    (folder / "own.txt").touch()
    assert completion.targets("own") == ["own/", "own.py"] or completion.targets("own") == ["own.py", "own/"]


@pytest.mark.slow
def test_a_shell_is_told_what_goes_on():
    environment = {
        **os.environ,
        "_DPAUDIT_COMPLETE": "complete_bash",
        "COMP_WORDS": "dpaudit show yan2020.theorem1",
        "COMP_CWORD": "2",
    }
    program = "import sys; sys.argv = ['dpaudit']; from dpaudit.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout.split() == ["yan2020.theorem1-lap", "yan2020.theorem1-rr"], done


@pytest.mark.slow
def test_the_first_command_shows_one_witness(command):
    assert FIRST in " ".join((ROOT / "README.md").read_text(encoding="utf-8").replace("\\\n", " ").split())
    outcome = command(*shlex.split(FIRST)[1:])
    assert outcome.status == 0
    assert len(re.findall("^Witness", outcome.out, flags=re.MULTILINE)) == 1
    assert "by hand: The claim allows" in outcome.out
    # Four verdicts and one witness, on a terminal of 80 columns.
    assert len(outcome.out.splitlines()) <= 36


def test_pace_says_what_is_done_left_and_under_way(count):
    cells = build_cells(Request(targets=[count], claims=["count.privacy"], set={"epsilon": list("123456")}))
    pace = Pace(total=len(cells))
    result = read_record(ROOT / "reports" / "hay2017.json").results[0]
    pace.note(cells[0], result)  # known already, in no time
    pace.note(cells[1], None)
    pace.note(cells[2], None)
    assert pace.line == f"1 of 6 results; now {cells[1].target} {cells[1].claim} epsilon=2, and 1 more"
    assert pace.left is None
    for cell in cells[1:4]:
        pace.note(cell, None)
        pace.note(cell, result)
    pace.started -= 30
    assert pace.left == pytest.approx(20, abs=1)
    assert pace.line.startswith("4 of 6 results; about 20 s left")


@pytest.mark.slow
def test_a_pipe_gets_a_line_now_and_then(folder, monkeypatch, dpaudit):
    monkeypatch.setattr("dpaudit.cli.progress.HEARTBEAT", 0.2)
    (folder / "slow.py").write_text(SLOW, encoding="utf-8")
    outcome = dpaudit("check", "slow.py", "--format", "json")
    assert outcome.status == 0
    lines = [line for line in outcome.err.splitlines() if " of 1 results; now slow " in line]
    assert len(lines) >= 3
    assert "results; now" not in dpaudit("check", "slow.py", "--quiet").err


def test_a_paragraph_of_help_breaks_where_the_terminal_does(monkeypatch, dpaudit):
    monkeypatch.setenv("COLUMNS", "400")
    lines = [line.strip() for line in dpaudit("show", "--help").out.splitlines()]
    (paragraph,) = (line for line in lines if line.startswith("A system: its parameters"))
    assert paragraph.endswith("shows each of them.")
