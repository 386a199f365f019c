"""Exit statuses, what goes to which stream, and how one run's statuses combine."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib import resources
from types import SimpleNamespace

import jsonschema
import pytest

from dpaudit.cli import application, began
from dpaudit.errors import ParameterError
from dpaudit.runner.outcome import Settings

pytestmark = pytest.mark.slow

SAMPLES = ("--samples", "2000")
EXPECTATION = """
[[audit]]
target = "count"
claim = "count.privacy"
set = {{ mode = "sound", factor = {factor} }}
expect = "{expect}"
reason = "for the test"
"""
HEAD = 'schema = "dpaudit.plan/1"\nprotocol = "count.py"\n'
DESIGN_KEYS = {
    *("target", "claim", "parameters", "scope", "method", "verdict", "expected", "ok", "claimed", "measured", "command")
}


def records(outcome):
    """Results by claim, each with what the record says of the claim, and its reason in words."""
    raw = json.loads(outcome.out)
    found = {}
    for result in raw["results"]:
        words = {"reason": raw["reasons"][result["reason"]]} if "reason" in result else {}
        found[result["claim"]] = {**raw["claims"][result["claim"]], **result, **words}
    return found


# Exit status.


@pytest.mark.parametrize(
    ("settings", "status"),
    [
        (["mode=sound"], 0),
        (["factor=0.5"], 1),
        (["mode=shape"], 2),
        (["mode=none"], 2),
        (["mode=no-pairs"], 2),
        (["mode=law"], 2),
        (["mode=sample"], 4),
        (["mode=leave"], 4),
        (["mode=neighbours"], 4),
        # 1 before 2 before 4 before 3 before 0.
        (["mode=sound,sample"], 4),
        (["mode=sound,sample,shape"], 2),
        (["mode=sound,sample,shape", "factor=0.5"], 1),
    ],
    ids=str,
)
def test_status_without_a_plan(dpaudit, count, settings, status):
    options = [word for setting in settings for word in ("--set", setting)]
    outcome = dpaudit("check", count, *options, *SAMPLES)
    assert outcome.status == status
    assert "Traceback" not in outcome.err


def test_inconclusive(dpaudit, count):
    outcome = dpaudit("check", count, "--seconds", "1e-9", "--format", "json")
    assert outcome.status == 3
    found = records(outcome)
    assert {result["verdict"] for result in found.values()} == {"inconclusive"}
    assert not any(result["ok"] for result in found.values())
    assert found["count.privacy"]["kind"] == "privacy"
    assert found["count.privacy"]["relation"] == "substitution"
    assert "--seconds" in found["count.privacy"]["note"]


@pytest.mark.parametrize(
    ("factor", "expect", "status"),
    [
        (1.0, "proved", 0),
        (0.5, "refuted", 0),
        (0.5, "proved", 1),
        (1.0, "refuted", 1),
        (1.0, "consistent", 1),
        (1.0, "inconclusive", 1),
    ],
)
def test_status_with_a_plan(dpaudit, plan, factor, expect, status):
    text = HEAD + EXPECTATION.format(factor=factor, expect=expect)
    outcome = dpaudit("check", plan(text=text), "--claim", "count.privacy", "--format", "json")
    assert outcome.status == status
    (result,) = records(outcome).values()
    assert result["expected"] == expect
    assert result["reason"] == "for the test"
    assert result["ok"] == (status == 0)


def test_a_plan_beside_a_file_is_found(dpaudit, plan, folder):
    plan(text=HEAD + EXPECTATION.format(factor=0.5, expect="refuted"))
    (folder / "plan.toml").rename(folder / "count.toml")
    assert dpaudit("check", "count.py").status == 0
    assert dpaudit("check", "count.py::Count").status == 0
    assert dpaudit("check", "count.py", "--set", "factor=0.6").status == 1
    found = records(
        dpaudit("check", "count.py", "--set", "factor=0.5,1", "--claim", "count.utility", "--format", "json")
    )
    assert found["count.utility"]["expected"] is None


def test_plans_in_the_current_folder_are_the_default(dpaudit, plan, folder):
    plan("count.py", "../count.py")
    (folder / "audits").mkdir()
    (folder / "plan.toml").rename(folder / "audits" / "count.toml")
    outcome = dpaudit("check", "--format", "json")
    assert outcome.status == 0
    assert {result["target"] for result in records(outcome).values()} == {"count"}


@pytest.mark.parametrize("plan_here", [False, True])
def test_where_there_is_no_plan_for_the_folder_the_catalogue_is_announced(
    dpaudit, plan, folder, monkeypatch, plan_here
):
    """Its audit takes minutes, and who has just written a plan beside a file may expect another."""
    if plan_here:
        plan("count.py", "count.py")
    # What cannot be read as a plan is nobody's business.
    (folder / "folder.toml").mkdir()
    (folder / "bytes.toml").write_bytes(bytes(range(128, 256)))

    def run_request(request, **options):
        raise ParameterError("enough is known")

    monkeypatch.setattr("dpaudit.runner.check.run_request", run_request)
    told = dpaudit("check").err
    assert "there is no plan in ./audits, so that the whole catalogue is audited" in told
    assert ("`dpaudit check plan.toml` audits plan.toml alone" in told) is plan_here
    assert "whole catalogue" not in dpaudit("check", "--quiet").err
    (folder / "audits").mkdir()
    (folder / "audits" / "own.toml").touch()
    assert "whole catalogue" not in dpaudit("check").err


def test_a_wrong_shape_names_the_shape_and_the_others_go_on(dpaudit, count):
    outcome = dpaudit("check", count, "--set", "mode=shape", "--format", "json", *SAMPLES)
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert outcome.err.startswith("dpaudit: count, count.privacy: ")
    assert "(65, 2)" in outcome.err
    found = records(outcome)
    assert found["count.privacy"]["verdict"] == "error"
    assert found["count.utility"]["verdict"] == "proved"


CHAIN = """
import dpaudit
from scipy.signal import lfilter


class Chain(dpaudit.Mechanism):
    \"\"\"Both inputs have one law.\"\"\"

    def sample(self, data, size, rng):
        return lfilter([0.1], [1, -0.995], rng.normal(size=size))

    def neighbours(self):
        return dpaudit.Neighbouring(relation="r", pairs=[(0, 1)], complete=False, scope="s")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="chain", statement="It is private.", epsilon=0.1)]
"""


@pytest.mark.parametrize("options", [(), ("--stop-early",)], ids=["whole", "early"])
def test_outputs_that_depend_on_each_other_are_no_refutation(dpaudit, folder, options):
    (folder / "chain.py").write_text(CHAIN, encoding="utf-8")
    outcome = dpaudit("check", "chain.py", "--samples", "20000", "--format", "json", *options)
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert "chain: outputs of `sample` on the input 0 depend on those next to them" in outcome.err
    assert records(outcome)["chain"]["verdict"] == "error"


def test_what_raises_is_one_line_and_debug_shows_where(dpaudit, count):
    quiet = dpaudit("check", count, "--set", "mode=sample", "--format", "json", *SAMPLES)
    assert quiet.err.count("\n") == 1
    assert "ValueError: boom and a second line" in quiet.err
    assert records(quiet)["count.utility"]["verdict"] == "proved"
    debug = dpaudit("check", count, "--set", "mode=sample", "--format", "json", "--debug", *SAMPLES)
    assert debug.status == 4
    assert debug.out.split('"environment"')[0] == quiet.out.split('"environment"')[0]
    assert "Traceback" in debug.err
    assert 'raise ValueError("boom' in debug.err


def test_a_law_that_does_not_add_up_to_one(dpaudit, count):
    outcome = dpaudit("check", count, "--set", "mode=law")
    assert outcome.status == 2
    assert "probabilities add up to 0.9" in outcome.err


# The systems of the issue.


def test_dp_kwiksort_of_the_issue(dpaudit):
    settings = ["epsilon=1", "alternatives=3", "agents=2", "logarithm=natural", "relation=substitution"]
    options = [word for setting in settings for word in ("--set", setting)]
    outcome = dpaudit("check", "dp-kwiksort", "--claim", "yan2020.dp-kwiksort", *options, "--format", "json")
    assert outcome.status == 0
    (exact,) = json.loads(outcome.out)["results"]
    assert exact["method"] == "exact"
    assert exact["verdict"] == exact["expected"] == "refuted"
    assert exact["measured"]["epsilon"]["lower"] == pytest.approx(2.1754, abs=5e-5)
    assert exact["measured"]["epsilon"]["lower"] == exact["measured"]["epsilon"]["upper"]
    witness = exact["witness"]
    assert witness["p"] > witness["q"] * 2.718
    assert len(witness["data"]) == len(witness["neighbour"]) == 2


def test_expectations_hold_for_the_parameters_they_name(dpaudit):
    options = ["--set", "epsilon=1,1.5", "--set", "alternatives=3", "--set", "agents=2", "--set", "logarithm=natural"]
    outcome = dpaudit(
        "check",
        "dp-kwiksort",
        "--claim",
        "yan2020.dp-kwiksort",
        *options,
        "--set",
        "relation=substitution",
        "--method",
        "exact",
        "--format",
        "json",
    )
    assert outcome.status == 1
    expected = {r["parameters"]["epsilon"]: r["expected"] for r in json.loads(outcome.out)["results"]}
    assert expected == {1.0: "refuted", 1.5: None}


def test_a_grid_of_the_issue(dpaudit):
    outcome = dpaudit(
        *("check", "ldp-kwiksort-rr", "--claim", "yan2020.theorem1-rr", "--set", "epsilon=1", "--set", "queries=1,2,3"),
        *("--set", "alternatives=3,4", "--format", "json"),
    )
    assert outcome.status == 0
    results = json.loads(outcome.out)["results"]
    cells = [(r["parameters"]["queries"], r["parameters"]["alternatives"]) for r in results]
    assert sorted(cells) == [(q, m) for q in (1, 2, 3) for m in (3, 4)]
    for result in results:
        assert result["verdict"] == "proved"
        assert result["measured"]["epsilon"]["lower"] == pytest.approx(1.0, abs=1e-9)
        assert result["measured"]["epsilon"]["upper"] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("way", ["exact", "black-box"])
def test_the_command_of_a_result_repeats_it(dpaudit, count, way):
    import shlex

    options = () if way == "exact" else ("--stop-early", "--features", "float-bits")
    first = records(
        dpaudit("check", count, "--set", "factor=0.5", "--seed", "5", "--format", "json", *SAMPLES, *options)
    )
    assert first["count.privacy"]["method"] == way
    words = shlex.split(first["count.privacy"]["command"])
    assert words[:2] == ["dpaudit", "check"]
    again = records(dpaudit(*words[1:], "--format", "json"))
    assert again["count.privacy"] == first["count.privacy"]


# Streams.


def test_json_alone_on_standard_output_follows_the_schema(command, count, folder):
    outcome = command(
        *("check", count, "ldp-kwiksort-rr", "--claim", "count.privacy", "--claim", "count.utility"),
        *("--claim", "yan2020.rr-beats-lap", "--set", "mode=sound,sample,print", "--set", "factor=1,0.5"),
        *("--samples", "2000", "--workers", "2", "--output", "report", "--format", "json"),
    )
    assert outcome.status == 1
    record = json.loads(outcome.out)
    schema = json.loads(resources.files("dpaudit.claims").joinpath("record.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(record, schema)
    for result in record["results"]:
        assert set(result) >= DESIGN_KEYS
        assert record["claims"][result["claim"]]["kind"] in ("privacy", "utility", "lemma")
    assert {"proved", "refuted", "error"} <= set(record["summary"])
    assert "printed by the target" in outcome.err
    assert (folder / "report" / "record.json").read_text(encoding="utf-8") == outcome.out


@pytest.mark.parametrize("format_", ["text", "json", "markdown", "junit"])
def test_no_escape_codes_in_a_pipe(dpaudit, count, format_, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    outcome = dpaudit("check", count, "--set", "factor=1,0.5", "--format", format_)
    assert "\x1b" not in outcome.out + outcome.err
    assert outcome.err == ""
    assert "count.privacy" in outcome.out


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal")
@pytest.mark.parametrize("no_color", [True, False])
def test_a_terminal_has_colours_unless_told_not_to(count, folder, no_color):
    import pty

    terminal, end = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "CI", "FORCE_COLOR")}
    environment |= {"TERM": "xterm-256color", **({"NO_COLOR": "1"} if no_color else {})}
    words = [sys.executable, "-m", "dpaudit", "check", count, "--workers", "1"]
    process = subprocess.Popen(words, stdout=end, stderr=subprocess.PIPE, env=environment, text=True)
    os.close(end)
    text = b""
    try:
        while part := os.read(terminal, 4096):
            text += part
    except OSError:
        pass
    assert process.wait() == 0, process.communicate()
    process.communicate()
    os.close(terminal)
    assert b"proved" in text
    assert (b"\x1b[32m" in text) is not no_color


def test_quiet_prints_only_what_is_unexpected(dpaudit, count):
    quiet = dpaudit("check", count, "--set", "factor=1,0.5", "--claim", "count.privacy", "--quiet")
    loud = dpaudit("check", count, "--set", "factor=1,0.5", "--claim", "count.privacy")
    assert "refuted" in quiet.out
    assert "proved  " not in quiet.out
    assert "proved  " in loud.out


def test_an_encoding_without_greek_letters(command):
    outcome = command("list", "--format", "json", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert outcome.status == 0
    assert "ϵ" in json.dumps(json.loads(outcome.out), ensure_ascii=False)


def test_a_reader_that_has_seen_enough_changes_no_status(count):
    line = f"'{sys.executable}' -m dpaudit check {count} --set factor=0.5 --workers 1 --format json | head -c 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == ""


# Runs that end early.


def test_the_time_allowed_counts_from_the_start_of_the_command(dpaudit, monkeypatch):
    """That includes loading the command line, which takes a second or more: here, 3 seconds on a clock of its own."""
    now, passed = [1000.0], {}

    def loaded(run=application.main):
        now[0] += 3.0
        return run()

    def run_request(request, **options):
        passed.update(options)
        raise ParameterError("enough is known")

    monkeypatch.setattr(application, "main", loaded)
    monkeypatch.setattr(began, "time", SimpleNamespace(time=lambda: now[0]))
    monkeypatch.setattr("dpaudit.runner.check.run_request", run_request)
    assert dpaudit("check", "ldp-kwiksort-rr", "--seconds", "10").err == "dpaudit: enough is known\n"
    assert (now[0], passed["seconds"], passed["started"]) == (1003.0, 10.0, 1000.0)
    assert Settings(seed=0).limited(passed["seconds"], passed["started"]).deadline == 1010.0
    assert began.command_began() == 1003.0  # no command is under way any more


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupt_keeps_what_was_computed(folder, workers):
    (folder / "slow.py").write_text(
        """
import time
import dpaudit

class Slow(dpaudit.Mechanism):
    '''Waits.'''
    number: int = 0

    def claims(self):
        def wait():
            if self.number >= 2:
                open(f"begun{self.number}", "w").close()
                time.sleep(60)
            return 0.5
        return [dpaudit.UtilityClaim(id="slow.wait", statement="It waits.", bound=0.6, exact=wait)]
""",
        encoding="utf-8",
    )
    words = [sys.executable, "-m", "dpaudit", "check", "slow.py", "--set", "number=0,1,2,3", "--workers", workers]
    process = subprocess.Popen(
        [*words, "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    started = time.monotonic()
    # On two processes the third cell begins while the second may still be under way; the fourth needs the result of
    # both before it.
    last = folder / f"begun{1 + int(workers)}"
    while not last.exists() and time.monotonic() < started + 30:
        time.sleep(0.05)
    # As a terminal does it: to all processes of the group.
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    results = json.loads(out)["results"]
    assert [result["parameters"]["number"] for result in results] == [0, 1]
    assert {result["verdict"] for result in results} == {"proved"}
    assert err == "dpaudit: interrupted; 2 of 4 results are kept\n"


SLOW = """
import time
import dpaudit

class Slow(dpaudit.Mechanism):
    '''Laplace noise that takes its time.'''
    call: float = 0.0
    output: float = 0.0

    def sample(self, data, size, rng):
        time.sleep(self.call + (self.output * size if size < 1000 else 0.0))
        return data + rng.laplace(size=size)

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="slow.privacy", statement="It is private.", epsilon=1.0)]
"""


def test_seconds_end_an_audit_under_way(dpaudit, folder):
    (folder / "slow.py").write_text(SLOW, encoding="utf-8")
    begun = time.monotonic()
    outcome = dpaudit("check", "slow.py", "--set", "call=1", "--seconds", "4", "--format", "json")
    assert time.monotonic() < begun + 20
    assert outcome.status == 3
    (result,) = json.loads(outcome.out)["results"]
    assert result["verdict"] == "inconclusive"
    assert re.search(r"after \d of 2000000 samples", result["note"])
    assert "--seconds 4" in result["command"]
    assert all(line.startswith("dpaudit: slow, slow.privacy: ") for line in outcome.err.splitlines())


def test_long_sampling_is_announced_on_standard_error(dpaudit, folder):
    (folder / "slow.py").write_text(SLOW, encoding="utf-8")
    words = ["check", "slow.py", "--set", "output=0.001", "--samples", "100000", "--format", "json"]
    told = dpaudit(*words)
    assert told.err == (
        "dpaudit: slow, slow.privacy: sampling will take about 3 minutes; "
        "--samples N draws fewer, --seconds S ends it in time\n"
    )
    silent = dpaudit(*words, "--quiet")
    assert silent.err == ""
    assert json.loads(silent.out)["results"] == json.loads(told.out)["results"]
    planned = dpaudit(*words, "--seconds", "4").err.splitlines()[0]
    assert re.fullmatch(
        r"dpaudit: slow, slow.privacy: with .* left, about [\d,]+ outputs per input of the 100,000 drawn without .*",
        planned,
    )


def test_a_target_that_ends_its_worker_is_an_error_and_the_others_go_on(command, count):
    outcome = command("check", count, "--set", "mode=sound,die,none", "--workers", "2", "--format", "json")
    record = json.loads(outcome.out)
    results = {(r["parameters"]["mode"], r["claim"]): r for r in record["results"]}
    assert len(results) == 6
    died = results["die", "count.privacy"]
    assert died["verdict"] == "error"
    assert "ended with exit status 7" in died["note"]
    assert record["claims"]["count.privacy"]["kind"] == "privacy"
    assert "kind" not in died
    assert results["sound", "count.privacy"]["verdict"] == "proved"
    assert all(results[mode, "count.utility"]["verdict"] == "proved" for mode in ("sound", "die", "none"))
    assert "Traceback" not in outcome.err


def test_sarif_and_a_badge(dpaudit, count, folder):
    outcome = dpaudit("check", count, "--set", "factor=0.5", "--format", "sarif", "--badge", "shown/badge.json")
    assert outcome.status == 1
    (result,) = json.loads(outcome.out)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "count.py"
    assert json.loads((folder / "shown" / "badge.json").read_text())["color"] == "red"
    dpaudit("check", count, "--output", "out")
    assert (
        json.loads(dpaudit("report", "out", "--format", "sarif", "--badge", "b.json").out)["runs"][0]["results"] == []
    )
    assert json.loads((folder / "b.json").read_text())["message"] == "2 proved"
    outcome = dpaudit("check", count, "--badge", "out")
    assert outcome.status == 2
    assert "out" in outcome.err
