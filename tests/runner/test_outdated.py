"""On a copy of the project: which results a change of its code outdates. Nothing is audited; only keys are computed."""

import json
import os
import re
import subprocess
import sys
from textwrap import dedent

import pytest

from dpaudit.auditors.revisions import revisions
from dpaudit.catalog import ROOT
from dpaudit.runner.revisions import changed_auditors, code_of_auditor

pytestmark = pytest.mark.slow

KEYS = """
    import json
    import sys
    from dpaudit.registry import catalogue_papers
    from dpaudit.runner import Request, build_cells
    from dpaudit.runner.keys import Keys
    from dpaudit.runner.revisions import changed_auditors

    keys, found = Keys(0), {}
    for key, entry in catalogue_papers().items():
        if entry.plan is not None:
            for cell in build_cells(Request(targets=[key], with_figures=True)):
                way = [cell.target, cell.claim, cell.described, cell.method, cell.samples, cell.features]
                found[json.dumps(way, sort_keys=True)] = keys.candidates(cell)
    print(json.dumps({"keys": found, "auditors": changed_auditors() if "auditors" in sys.argv else None}))
"""


def state(project, *, auditors=False):
    """Keys that the results of all cells may have, and where it is asked for the auditors that changed."""
    done = subprocess.run(
        [sys.executable, "-c", dedent(KEYS), *(["auditors"] if auditors else [])],
        capture_output=True,
        text=True,
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def before():
    """The state without any change, which is the same for all tests."""
    return state(ROOT)


def outdated(before, after):
    """Claims of the cells whose keys are others now."""
    assert set(before["keys"]) == set(after["keys"])
    return {json.loads(cell)[1] for cell in before["keys"] if before["keys"][cell] != after["keys"][cell]}


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_docstrings_and_comments_anywhere_outdate_nothing(copied_project, before):
    edited = 0
    for folder in ("dpaudit", "protocols"):
        for path in (copied_project / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if '"""' in text:
                # The end of every docstring of one line, with a comment behind the first.
                text = re.sub(r'("""[^"\n]+)"""\n', r'\1 And more."""\n', text)
                path.write_text(f"# A comment.\n{text}# Another comment.\n", encoding="utf-8")
                edited += 1
    assert edited > 150
    after = state(copied_project, auditors=True)
    assert outdated(before, after) == set()
    assert after["auditors"] == []


def test_a_claims_formula_outdates_that_claim_only(copied_project, before):
    claims = copied_project / "protocols" / "yan2020" / "claims.py"
    edit(claims, '@dpaudit.claim(\n    "yan2020.rr-beats-lap"', '@dpaudit.claim(\n    "yan2020.rr-beats-lap"')
    text = claims.read_text(encoding="utf-8")
    start = text.index('"yan2020.rr-beats-lap"')
    head, tail = text[:start], text[start:]
    claims.write_text(head + tail.replace("700.0", "600.0", 1), encoding="utf-8")
    assert outdated(before, state(copied_project)) == {"yan2020.rr-beats-lap"}


def test_a_constant_of_a_learner_is_the_black_box_auditors_alone(copied_project, before):
    learners = copied_project / "dpaudit" / "auditors" / "learning" / "learners.py"
    text = learners.read_text(encoding="utf-8")
    constant = re.search(r"^(_[A-Z_]+ = )(\d[\d_.e]*)$", text, re.MULTILINE)
    assert constant is not None
    learners.write_text(text.replace(constant[0], f"{constant[1]}{constant[2]} * 2"), encoding="utf-8")
    file = copied_project / "dpaudit" / "auditors" / "revisions.json"
    raw = json.loads(file.read_text())
    raw["black-box"]["revision"] += 1
    file.write_text(json.dumps(raw))
    raised = state(copied_project, auditors=True)
    # The code recorded with the revision is the old one, for which the test below asks.
    assert raised["auditors"] == ["black-box"]
    for cell, keys in before["keys"].items():
        moved = [one != other for one, other in zip(keys, raised["keys"][cell], strict=True)]
        # A privacy claim may be decided by its assumptions, exactly, by likelihoods or by samples: only the last moves.
        assert moved == ([False, False, False, True] if len(keys) == 4 else [False] * len(keys))


def test_the_code_of_every_auditor_is_that_of_its_revision():
    """Where this fails, `make revisions` says what to do: show equal numbers, or give a new revision."""
    assert changed_auditors() == []
    assert {name: each.code for name, each in revisions().items()} == {
        name: code_of_auditor(name) for name in revisions()
    }


ADDED = '''
    """A paper of its own: a protocol, a claim and a control."""

    import dpaudit
    from dpaudit import randomizers

    PAPER = dpaudit.Paper(key="added2026", title="An added paper", authors=("Author",), year=2026)


    class AddedResponse(dpaudit.Mechanism):
        """One answer by randomized response."""

        name = "added-response"
        notation = "an input is a bit; so is the output"
        places = (PAPER.at(section="2"),)

        epsilon: float = dpaudit.parameter(1.0, doc="the budget")

        @property
        def response(self):
            return randomizers.RandomizedResponse.for_epsilon(self.epsilon)

        def sample(self, data, size, rng):
            return self.response.randomize([bool(data)] * size, rng)

        def law(self, data):
            return self.response.law(bool(data))

        def neighbours(self):
            return dpaudit.Neighbouring.any_two_inputs([False, True], scope="one bit")


    @dpaudit.claim(
        "added2026.theorem1",
        AddedResponse,
        kind="privacy",
        place=PAPER.at(section="2", theorem=1),
        statement="The answer is ϵ-locally differentially private.",
    )
    def theorem1(mechanism):
        return dpaudit.PrivacyClaim(epsilon=mechanism.epsilon)


    @dpaudit.control("control.added-twice", AddedResponse, paper=PAPER, statement="The answer is ϵ-LDP.")
    def twice(right):
        """The answer gets twice its budget."""
        return right.but(epsilon=2 * right.epsilon)
'''

ADDED_PLAN = """
    schema = "dpaudit.plan/1"
    paper = "added2026"
    error_probability = 1e-6

    [[audit]]
    target = "added-response"
    claim = "added2026.theorem1"
    set = { epsilon = [0.5, 1.0] }
    expect = "proved"
    reason = "randomized response with the right coin"

    [[audit]]
    target = "added-twice"
    claim = "control.added-twice"
    set = { epsilon = 1.0 }
    expect = "refuted"
    reason = "twice the budget"
"""


def test_a_protocol_with_a_claim_a_plan_and_a_control_takes_two_files_and_outdates_nothing(copied_project, before):
    (copied_project / "protocols" / "added2026.py").write_text(dedent(ADDED))
    (copied_project / "audits" / "added2026.toml").write_text(dedent(ADDED_PLAN))
    after = state(copied_project)
    assert {cell: after["keys"].get(cell) for cell in before["keys"]} == before["keys"]
    assert len(after["keys"]) == len(before["keys"]) + 3
    environment = {**os.environ, "PYTHONPATH": str(copied_project)}
    done = subprocess.run(
        [sys.executable, "-m", "dpaudit", "check", "added2026"],
        capture_output=True,
        text=True,
        cwd=copied_project,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 proved, 1 refuted" in done.stdout
