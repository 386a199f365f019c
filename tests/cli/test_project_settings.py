"""The table [tool.dpaudit] of pyproject.toml, and the schemas that editors complete by."""

import json
import tomllib

import jsonschema
import pytest

from dpaudit.catalog import ROOT
from dpaudit.cli.check import check
from dpaudit.cli.project import project_settings
from dpaudit.cli.project_model import Settings


@pytest.fixture
def project(count, folder):
    def write(text: str) -> None:
        (folder / "pyproject.toml").write_text(text, encoding="utf-8")

    return write


@pytest.mark.slow
def test_settings_stand_for_options_that_are_left_out(project, dpaudit):
    project('[tool.dpaudit]\ntargets = ["count.py"]\nclaims = ["count.utility"]\nseed = 7\nconfidence = 0.99\n')
    outcome = dpaudit("check", "--format", "json")
    assert outcome.status == 0, outcome
    assert "pyproject.toml sets targets, claims, confidence, seed" in outcome.err
    record = json.loads(outcome.out)
    assert record["seed"] == 7
    assert [each["claim"] for each in record["results"]] == ["count.utility"]
    assert "--claim count.utility" in record["command"]
    assert "--confidence 0.99" in record["command"]


@pytest.mark.slow
def test_the_command_line_comes_first(project, dpaudit):
    project('[tool.dpaudit]\nclaims = ["count.utility"]\nseed = 7\n')
    outcome = dpaudit("check", "count.py", "--claim", "count.privacy", "--seed", "0", "--quiet", "--format", "json")
    record = json.loads(outcome.out)
    assert record["seed"] == 0
    assert [each["claim"] for each in record["results"]] == ["count.privacy"]
    assert outcome.err == ""


@pytest.mark.slow
def test_the_command_line_says_how_many_samples(project, dpaudit):
    project('[tool.dpaudit]\ntargets = ["count.py"]\nquick = true\n')
    outcome = dpaudit("check", "--samples", "2000", "--method", "black-box", "--format", "json")
    assert "pyproject.toml sets targets where" in outcome.err
    assert "--samples 2000" in json.loads(outcome.out)["command"]
    assert "--quick" not in json.loads(outcome.out)["command"]
    project('[tool.dpaudit]\ntargets = ["count.py"]\nsamples = 2000\n')
    assert "--quick" in json.loads(dpaudit("check", "--quick", "--format", "json").out)["command"]


@pytest.mark.slow
def test_the_command_line_turns_off_what_a_project_turns_on(project, dpaudit):
    project('[tool.dpaudit]\ntargets = ["count.py"]\nclaims = ["count.utility"]\nquick = true\nstop-early = true\n')
    command = json.loads(dpaudit("check", "--format", "json").out)["command"]
    assert "--quick" in command
    assert "--stop-early" in command
    command = json.loads(dpaudit("check", "--no-quick", "--no-stop-early", "--format", "json").out)["command"]
    assert "--quick" not in command
    assert "--stop-early" not in command


def test_other_tools_and_other_folders_set_nothing(project, folder):
    assert project_settings(folder) == {}
    project('[tool.ruff]\nline-length = 3\n[project]\nname = "dpaudit-like"\n')
    assert project_settings(folder) == {}
    project("this is [not TOML")
    assert project_settings(folder) == {}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("sample = 3", ["'tool.dpaudit.sample' is unknown", "did you mean 'samples'"]),
        ("samples = '3'", ["'tool.dpaudit.samples'", "integer", "'3'"]),
        ("samples = 0", ["'tool.dpaudit.samples'", "greater than or equal to 1"]),
        ("method = 'guess'", ["'tool.dpaudit.method'", "exact"]),
        ("confidence = 1.0", ["'tool.dpaudit.confidence'", "less than 1"]),
        ("seconds = nan", ["'tool.dpaudit.seconds'", "finite"]),
        ("stop_early = true", ["'tool.dpaudit.stop_early'", "did you mean 'stop-early'"]),
        ("seed = ", ["not TOML", "line 2"]),
    ],
)
def test_a_table_that_cannot_be_used(project, refused, line, words):
    project(f"[tool.dpaudit]\n{line}\n")
    message = refused("check", "count.py")
    assert "pyproject.toml: " in message
    assert all(word in message for word in words), message


def test_a_table_that_is_none(project, refused):
    project("[tool]\ndpaudit = 3\n")
    assert "write [tool.dpaudit]" in refused("check", "count.py")


def test_every_key_is_an_option_of_check():
    others = {"targets": "target", "claims": "claim"}
    assert {others.get(name, name) for name in Settings.model_fields} <= set(check.__annotations__)


@pytest.mark.slow
def test_plans_of_the_catalogue_and_a_new_one_are_valid_by_the_schema(dpaudit, folder):
    schema = json.loads(dpaudit("schema", "plan").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    dpaudit("init", "first")
    for path in [*(ROOT / "audits").glob("*.toml"), folder / "first.toml"]:
        plan = tomllib.loads(path.read_text(encoding="utf-8"))
        jsonschema.validate(plan, schema)
        plan["audit"][0]["expct"] = "proved"
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(plan, schema)


@pytest.mark.slow
def test_records_and_witnesses_are_valid_by_their_schemas(dpaudit, count, folder):
    settings = ["--set", "factor=0.5", "--claim", "count.privacy"]
    dpaudit("check", count, *settings, "--output", "out", "--format", "json")
    jsonschema.validate(
        json.loads((folder / "out" / "record.json").read_text()), json.loads(dpaudit("schema", "record").out)
    )
    (witness,) = (folder / "out" / "witnesses").glob("*.json")
    schema = json.loads(dpaudit("schema", "witness").out)
    jsonschema.validate(json.loads(witness.read_text()), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**json.loads(witness.read_text()), "more": 1}, schema)


def test_settings_are_valid_by_their_schema(dpaudit):
    schema = json.loads(dpaudit("schema", "settings").out)
    jsonschema.validate({"targets": ["count.py"], "stop-early": True, "samples": 10}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"sample": 10}, schema)
