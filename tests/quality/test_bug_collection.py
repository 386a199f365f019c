"""The collection of bugs: every folder is described, and the table says what was found and nothing else."""

import importlib.util
import json
from pathlib import Path

import pytest

import dpaudit

HOME = Path(__file__).resolve().parents[2] / "bugs"
SPEC = importlib.util.spec_from_file_location("bugs_run", HOME / "run.py")
RUN = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(RUN)
FOLDERS = sorted(file.parent for file in HOME.glob("*/bug.toml"))
RESULTS = json.loads((HOME / "results.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_bug_is_described_and_audited(folder):
    bug = RUN.read_bug(folder)
    needed = {"library", "broken", "link", "kind", "promise", "expected"}
    assert needed <= set(bug) <= needed | {"fixed", "needs", "pair_given", "samples", "features"}
    text = (folder / "audit.py").read_text(encoding="utf-8")
    assert "def target" in text
    assert bug.get("fixed") or "twin" in text
    assert set(RESULTS[folder.name]) == {"broken", "fixed"}


def test_the_table_is_what_the_results_say():
    rows = [(folder, RUN.read_bug(folder), RESULTS[folder.name]) for folder in FOLDERS]
    assert (HOME / "README.md").read_text(encoding="utf-8") == RUN.HEAD + RUN.table(rows)


@pytest.mark.parametrize(
    ("broken", "fixed", "bug", "words"),
    [
        ("refuted", "consistent", {"expected": "refuted"}, "unaided, inputs listed"),
        ("refuted", "consistent", {"expected": "refuted", "pair_given": True}, "pair given"),
        ("consistent", "consistent", {"expected": "refuted"}, "missed (consistent)"),
        ("refuted", "refuted", {"expected": "refuted"}, "false: the mended side is refuted"),
        ("consistent", "consistent", {"expected": "consistent"}, "does not reproduce"),
    ],
)
def test_outcomes(broken, fixed, bug, words):
    assert RUN.outcome(bug, {"broken": {"verdict": broken}, "fixed": {"verdict": fixed}}) == words


def test_inputs_that_an_audit_lists_are_told_from_derived_ones():
    class Noise(dpaudit.Mechanism):
        def claims(self):
            return [dpaudit.PrivacyClaim(id="noise.privacy", statement="It is private.", epsilon=1.0)]

    class Listed(Noise):
        def neighbours(self):
            return dpaudit.Neighbouring(relation="r", pairs=[(0, 1)], complete=False, scope="one pair")

    class Derived(Noise):
        def neighbours(self):
            return dpaudit.Neighbouring.any_two_inputs((0, 1), scope="both")

    assert not RUN.has_derived_inputs(Listed())
    assert RUN.has_derived_inputs(Derived())
    refuted = {"verdict": "refuted", "derived": True}
    assert RUN.outcome({"expected": "refuted"}, {"broken": refuted, "fixed": {"verdict": "consistent"}}) == "unaided"
