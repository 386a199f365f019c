"""The script that asks accountants and the page that it writes, on answers made up for the purpose."""

import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from dpaudit import NoisySteps, Verdict

FOLDER = Path(__file__).parents[2] / "examples" / "accountants"


@pytest.fixture
def table(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    specification = importlib.util.spec_from_file_location("accountants_table", FOLDER / "table.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_a_library_that_is_not_there_is_an_error_and_no_answer():
    setting = {"rate": 1.0, "noise": 1.0, "steps": 1, "delta": 0.1}
    asked = subprocess.run(
        [sys.executable, "-c", f"import ask, json; print(json.dumps(ask.ask('Opacus GDP', [{setting}])))"],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        check=True,
    )
    (answer,) = json.loads(asked.stdout)
    assert isinstance(answer, float) or set(answer) == {"error"}


@pytest.mark.slow
def test_answers_are_judged(table):
    truth = NoisySteps()
    assert table.judged(truth, 2.0, 1e-6)[0] is Verdict.REFUTED
    assert table.judged(truth, 3.0, 1e-6)[0] is Verdict.PROVED
    assert table.judged(truth, {"value": "inf"}, 1e-6) == (Verdict.PROVED, math.inf, 0.0)
    assert table.judged(truth, {"error": "no"}, 1e-6) is None


@pytest.mark.slow
def test_the_page_names_who_is_unsound(table):
    settings = [{"rate": 0.01, "noise": 1.0, "steps": 1000, "delta": 1e-6}, *table.KNOWN]
    truths = [NoisySteps(noise_multiplier=s["noise"], rate=s["rate"], steps=s["steps"]) for s in settings]
    enclosures = [truth.epsilon(s["delta"]) for truth, s in zip(truths, settings, strict=True)]
    answers = {"good": [2.2, 0.1, 0.1], "bad": [2.0, 0.1, {"error": "raised"}]}
    verdicts = {
        name: [table.judged(t, a, s["delta"]) for t, a, s in zip(truths, given, settings, strict=True)]
        for name, given in answers.items()
    }
    page = table.page(settings, enclosures, answers, {"good": "1", "bad": "2"}, verdicts)
    assert "bad states less than the true epsilon at 1 of 2 settings, by up to 0.059 of it." in page
    assert "good states less" not in page
    assert "| 0.01 | 1 | 1000 | 1e-06 | 2.1245 to 2.1245 | 2.2 | 2 **unsound** |" in page
    assert "- bad: `raised`" in page


def test_the_written_page_was_written_by_the_script(table):
    page = (FOLDER.parents[1] / "docs" / "accountants.md").read_text(encoding="utf-8")
    assert "nothing on this page is typed in" in page
    for name in table.ACCOUNTANTS:
        assert f"| {name} |" in page
