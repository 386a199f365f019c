"""SARIF and badges: valid, pointing to the right lines, and red for the right reasons."""

import dataclasses
import json
import os
from pathlib import Path

import jsonschema
import pytest

import dpaudit
from dpaudit.catalog import ROOT
from dpaudit.reporting import render_badge, render_sarif

# The part of the standard's schema that is used here; DPAUDIT_SARIF_SCHEMA names a copy of the whole.
TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
LOCATION = {
    "type": "object",
    "required": ["physicalLocation"],
    "properties": {
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation", "region"],
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "required": ["uri"],
                    "properties": {
                        "uri": {"type": "string", "format": "uri-reference"},
                        "uriBaseId": {"const": "SRCROOT"},
                    },
                    "additionalProperties": False,
                },
                "region": {
                    "type": "object",
                    "required": ["startLine"],
                    "properties": {"startLine": {"type": "integer", "minimum": 1}},
                    "additionalProperties": False,
                },
            },
        }
    },
}
RULE = {
    "type": "object",
    "required": ["id", "shortDescription"],
    "properties": {"id": {"type": "string"}, "shortDescription": TEXT, "fullDescription": TEXT},
}
RESULT = {
    "type": "object",
    "required": ["ruleId", "ruleIndex", "message", "level", "kind"],
    "properties": {
        "level": {"enum": ["none", "note", "warning", "error"]},
        "kind": {"const": "fail"},
        "message": TEXT,
        "ruleIndex": {"type": "integer", "minimum": 0},
        "locations": {"type": "array", "items": LOCATION, "minItems": 1},
        "suppressions": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["kind"],
                "properties": {
                    "kind": {"enum": ["inSource", "external"]},
                    "status": {"enum": ["accepted", "underReview", "rejected"]},
                    "justification": {"type": "string"},
                },
                "additionalProperties": False,
            },
        },
    },
}
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name", "rules"],
                                "properties": {"rules": {"type": "array", "items": RULE, "uniqueItems": True}},
                            }
                        },
                    },
                    "results": {"type": "array", "items": RESULT},
                },
            },
        },
    },
}


def _read(record):
    sarif = json.loads(render_sarif(record))
    jsonschema.validate(sarif, SARIF)
    if whole := os.environ.get("DPAUDIT_SARIF_SCHEMA"):
        jsonschema.validate(sarif, json.loads(Path(whole).read_text(encoding="utf-8")))
    (run,) = sarif["runs"]
    return run


@pytest.fixture(scope="module")
def paper():
    return dpaudit.read_record(ROOT / "reports" / "yan2020.json")


def test_a_record_of_a_paper_suppresses_what_it_expects(paper):
    run = _read(paper)
    refuted = [result for result in paper.results if result.verdict == "refuted"]
    assert len(run["results"]) == len(refuted)
    for found, result in zip(run["results"], refuted, strict=True):
        assert found["level"] == "note"
        assert found["suppressions"][0]["justification"] == result.reason
        assert run["tool"]["driver"]["rules"][found["ruleIndex"]]["id"] == found["ruleId"] == result.claim
        assert result.command in found["message"]["text"]
    prints = [each["partialFingerprints"]["dpaudit/1"] for each in run["results"]]
    assert len(set(prints)) == len(prints)


def test_what_is_not_as_expected_is_an_error_and_what_is_open_a_warning(paper):
    proved = next(result for result in paper.results if result.verdict == "proved")
    bad = dataclasses.replace(proved, ok=False, expected=dpaudit.Verdict.REFUTED)
    open_ = dataclasses.replace(proved, ok=False, verdict=dpaudit.Verdict.INCONCLUSIVE)
    run = _read(dataclasses.replace(paper, results=(proved, bad, open_)))
    assert [each["level"] for each in run["results"]] == ["error", "warning"]
    assert not any("suppressions" in each for each in run["results"])


FILE = '''\
"""One mechanism that keeps its claim, and one that does not."""

import dpaudit


class Sound(dpaudit.Mechanism):
    """A bit with Laplace noise."""

    factor = 1.0

    def sample(self, data, size, rng):
        return data + rng.laplace(scale=self.factor, size=size)

    def law(self, data):
        return dpaudit.LaplaceLaw(float(data), self.factor)

    def neighbours(self):
        return dpaudit.Neighbouring(relation="substitution", pairs=[(0, 1)], complete=True, scope="one bit")

    def claims(self):
        return [dpaudit.PrivacyClaim(id=f"{self.name}.privacy", statement="It is private.", epsilon=1.0)]


class Leaky(Sound):
    """Half of the noise."""

    factor = 0.5
'''


@pytest.mark.slow
def test_a_refuted_claim_points_to_the_class_of_its_mechanism(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my code").mkdir()
    (tmp_path / "my code" / "own.py").write_text(FILE, encoding="utf-8")
    record = dpaudit.check("my code/own.py")
    (result,) = _read(record)["results"]
    assert result["ruleId"] == "leaky.privacy"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "my%20code/own.py", "uriBaseId": "SRCROOT"}
    assert FILE.splitlines()[place["region"]["startLine"] - 1] == "class Leaky(Sound):"
    assert "locations" not in _read(record.reproducible())["results"][0]
    assert dpaudit.check("my code/own.py").reproducible().to_json() == record.reproducible().to_json()


@pytest.mark.slow
def test_places_in_a_damaged_record_are_left_out(paper):
    for sources in ("x", {"ldp-kwiksort-rr": 5}, {"ldp-kwiksort-rr": {"file": 3}}):
        damaged = dataclasses.replace(paper, environment={"sources": sources})
        assert not any("locations" in each for each in _read(damaged)["results"])


def test_a_badge_says_what_a_gate_would(paper):
    badge = json.loads(render_badge(paper))
    assert (badge["schemaVersion"], badge["label"], badge["color"]) == (1, "dpaudit", "brightgreen")
    assert f"{paper.summary['refuted']} refuted" in badge["message"]
    bad = dataclasses.replace(paper.results[0], ok=False, verdict=dpaudit.Verdict.REFUTED)
    badge = json.loads(render_badge(dataclasses.replace(paper, results=(bad, *paper.results[1:]))))
    assert (badge["color"], badge["isError"]) == ("red", True)
    assert badge["message"] == f"1 of {len(paper.results)} not as expected"
    late = dataclasses.replace(paper.results[0], ok=False, verdict=dpaudit.Verdict.INCONCLUSIVE)
    record = dataclasses.replace(paper, results=(late,), summary={"inconclusive": 1})
    assert json.loads(render_badge(record))["color"] == "yellow"
