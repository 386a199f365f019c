"""`dpaudit verify`: witnesses of planted violations, changed and damaged files, exit statuses."""

import hashlib
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import dpaudit as package

pytestmark = pytest.mark.slow

LEAKS = '''\
import numpy as np

import dpaudit


class Report(dpaudit.Mechanism):
    """What a user sends; claims nothing by itself."""

    epsilon: float = 2.0
    mode: str = ""

    def sample(self, data, size, rng):
        if self.mode == "raise" or data == "raise":
            raise ValueError("boom\\nand more")
        print("printed by the target")
        truth = rng.random(size) < 1 / (1 + np.exp(-self.epsilon))
        return np.where(truth == (data == "a"), "a", "b")

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs(["a", "b"], scope="two letters")


class Leak(dpaudit.Mechanism):
    """Sends a report that is half as private as claimed."""

    epsilon: float = 1.0

    def views(self):
        return {"report": Report(epsilon=2 * self.epsilon)}

    def claims(self):
        return [
            dpaudit.PrivacyClaim(id="leak.report", statement="It is private.", epsilon=self.epsilon, view="report")
        ]
'''

# What the target prints would come before the one line.
QUIET = LEAKS.replace('print("printed by the target")', "pass")


@pytest.fixture
def leak(folder):
    (folder / "leak.py").write_text(LEAKS, encoding="utf-8")
    return "leak.py"


@pytest.fixture
def witness(dpaudit, leak):
    """The witness file of a view's report that is half as private as claimed."""
    outcome = dpaudit("check", leak, "--samples", "5000", "--output", "out", "--format", "json", "--seed", "3")
    assert outcome.status == 1
    (result,) = json.loads(outcome.out)["results"]
    return result["witness_file"]


def change(file, **keys):
    """Write a witness file anew with other values; a dotted key is one within a key."""
    raw = json.loads(Path(file).read_text(encoding="utf-8"))
    for name, value in keys.items():
        owner, _, key = name.rpartition("__")
        (raw[owner] if owner else raw)[key] = value
    Path(file).write_text(json.dumps(raw), encoding="utf-8")


def rewrite(old, new):
    """Change the target's code, as a fresh process sees it: imports are remembered by path."""
    from dpaudit.registry import references

    assert old in LEAKS
    Path("leak.py").write_text(LEAKS.replace(old, new), encoding="utf-8")
    references._import_file.cache_clear()


def test_a_witness_is_confirmed(dpaudit, witness):
    assert witness.startswith("out/witnesses/leak-leak.report-")
    outcome = dpaudit("verify", witness)
    assert outcome.status == 0
    first, *lines = outcome.out.splitlines()
    assert first.startswith("confirmed: epsilon is at least ")
    assert float(first.split()[5].rstrip(",")) > 1
    words = {line.split()[0]: line for line in lines}
    assert "leak.py::Leak, leak.report, epsilon=1.0" in words["target"]
    assert "report" in words["view"]
    assert {words["input"].split()[1], words["neighbour"].split()[1]} == {'"a"', '"b"'}
    assert "0.999 (seed 0, " in words["confidence"]
    assert "note" not in words
    assert "printed by the target" in outcome.err


def test_json_and_options(dpaudit, witness):
    options = ("--samples", "7000", "--confidence", "0.99", "--seed", "2", "--format", "json")
    outcome = dpaudit("verify", witness, *options)
    found = json.loads(outcome.out)
    assert found["schema"] == "dpaudit.verification/2"
    assert (found["samples"], found["confidence"], found["seed"]) == (7000, 0.99, 2)
    assert sum(found["trials"]) == 14_000
    assert found["confirmed"] is True
    assert dpaudit("verify", witness, *options).out == outcome.out
    assert package.verify(witness, samples=7000, confidence=0.99, seed=2).to_json() == outcome.out


def test_the_reports_name_the_command_and_link_the_file(dpaudit, leak):
    text = dpaudit("check", leak, "--samples", "5000", "--output", "my out").out
    command = next(line for line in text.splitlines() if "verify the witness: " in line).split(": ")[1]
    assert command.startswith("dpaudit verify 'my out/witnesses/leak-leak.report-")
    name = command.split("/")[-1].rstrip("'")
    for report in ("report.md", "index.html", "junit.xml"):
        assert f"witnesses/{name}" in Path("my out", report).read_text(encoding="utf-8")
    assert f'href="witnesses/{name}"' in Path("my out/index.html").read_text(encoding="utf-8")
    again = dpaudit("report", "my out/record.json", "--output", "again")
    assert again.status == 0
    assert "dpaudit verify" in again.out
    assert Path("again/witnesses", name).read_bytes() == Path("my out/witnesses", name).read_bytes()
    assert "dpaudit verify" not in dpaudit("check", leak, "--samples", "5000").out


def test_a_control_of_the_catalogue(dpaudit, folder):
    options = ("--claim", "control.unsplit-budget", "--set", "epsilon=1", "--method", "black-box")
    outcome = dpaudit("check", "unsplit-budget", *options, "--samples", "20000", "--output", "out", "--format", "json")
    (result,) = json.loads(outcome.out)["results"]
    assert result["verdict"] == "refuted"
    found = dpaudit("verify", result["witness_file"], "--format", "json")
    assert found.status == 0
    assert json.loads(found.out)["target"] == "unsplit-budget"


def test_changed_code_is_refused_or_said_and_checked(dpaudit, refused, witness):
    rewrite("epsilon=2 * self.epsilon", "epsilon=self.epsilon")
    assert "leak.py has changed since the audit" in refused("verify", witness)
    outcome = dpaudit("verify", witness, "--changed")
    assert outcome.status == 1
    assert outcome.out.startswith("not confirmed: ")
    assert "leak.py has changed since the audit; this checks the changed code" in outcome.out


def test_a_data_file_and_one_that_has_changed(dpaudit, folder):
    (folder / "measured.py").write_text(
        """
import dpaudit
from dpaudit import rankings

class Measured(dpaudit.Mechanism):
    '''The number of agents with too little noise.'''
    profile: rankings.Profile | None = dpaudit.parameter(None, role="dataset", loader=rankings.PREFLIB)

    def sample(self, data, size, rng):
        return data + rng.laplace(scale=0.4, size=size)

    def neighbours(self):
        agents = 1.0 if self.profile is None else float(self.profile.agents)
        return dpaudit.Neighbouring(relation="own", pairs=[(agents, agents - 1)], complete=False, scope="one less")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="m.privacy", statement="It is private.", epsilon=1.0, on_data=True)]
""",
        encoding="utf-8",
    )
    names = "".join(f"# ALTERNATIVE NAME {i}: {name}\n" for i, name in ((1, "a"), (2, "b")))
    text = f"# NUMBER ALTERNATIVES: 2\n# NUMBER VOTERS: 5\n# NUMBER UNIQUE ORDERS: 2\n{names}3: 1,2\n2: 2,1\n"
    (folder / "data.soc").write_text(text, encoding="utf-8")
    options = ("--data", "data.soc", "--samples", "5000", "--output", "out", "--format", "json")
    (result,) = json.loads(dpaudit("check", "measured.py", *options).out)["results"]
    outcome = dpaudit("verify", result["witness_file"])
    assert outcome.status == 0, outcome
    assert "data.soc (SHA-256 " in outcome.out
    assert "note" not in outcome.out
    (folder / "data.soc").write_text(text.replace("3: 1,2\n2: 2,1", "2: 1,2\n3: 2,1"), encoding="utf-8")
    outcome = dpaudit("verify", result["witness_file"])
    assert outcome.status == 2
    assert "data.soc has changed since the audit" in outcome.err
    outcome = dpaudit("verify", result["witness_file"], "--changed")
    assert outcome.status == 0
    assert "data.soc has changed since the audit; this checks the changed data" in outcome.out


def test_a_module_that_the_target_imports_and_that_has_changed(dpaudit, leak, folder):
    (folder / "scale.py").write_text("TIMES = 2\n", encoding="utf-8")
    source = LEAKS.replace("import dpaudit\n", "import dpaudit\nimport scale\n", 1).replace(
        "2 * self", "scale.TIMES * self"
    )
    (folder / "leak.py").write_text(source, encoding="utf-8")
    outcome = dpaudit("check", "leak.py", "--samples", "20000", "--output", "out", "--format", "json")
    file = json.loads(outcome.out)["results"][0]["witness_file"]
    assert dpaudit("verify", file).status == 0
    # Of another length, because Python takes a file of equal length and time for the one that it compiled.
    (folder / "scale.py").write_text("TIMES = 1.0\n", encoding="utf-8")
    outcome = dpaudit("verify", file)
    assert outcome.status == 2
    assert "scale.py has changed since the audit" in outcome.err
    outcome = dpaudit("verify", file, "--changed")
    assert outcome.status == 1
    assert "scale.py has changed since the audit; this checks the changed code" in outcome.out


def test_an_event_that_shows_no_violation(dpaudit, witness):
    raw = json.loads(Path(witness).read_text(encoding="utf-8"))
    change(witness, reverse=not raw["reverse"])
    outcome = dpaudit("verify", witness)
    assert outcome.status == 1
    assert outcome.out.startswith("not confirmed: epsilon is at least 0, which does not exceed the claimed 1")


@pytest.mark.parametrize("claimed", [1.999, 2.0])
def test_a_claim_that_holds_is_not_confirmed(dpaudit, witness, claimed):
    rewrite("epsilon=self.epsilon, view", f"epsilon={claimed}, view")
    change(witness, claimed__parameters={"epsilon": claimed, "delta": 0.0})
    assert dpaudit("verify", witness, "--samples", "20000", "--changed").status == 1


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("claim", "leak.other", "makes no privacy claim 'leak.other'; it makes: leak.report"),
        (
            "claimed__parameters",
            {"epsilon": 0.125, "delta": 0.0},
            "claims epsilon 1 and delta 0 of the view 'report', not epsilon 0.125 and delta 0 of 'report'",
        ),
        ("claimed__guarantee", "zero-concentrated-dp", "the target claims approximate-dp, not zero-concentrated-dp"),
        ("inputs", ["a", "c"], "key 'inputs' is not a pair of neighbouring inputs"),
    ],
)
def test_what_the_target_does_not_claim_is_not_checked(dpaudit, witness, key, value, words):
    change(witness, **{key: value})
    outcome = dpaudit("verify", witness)
    assert outcome.status == 2
    assert words in outcome.err


def test_a_target_that_raises(dpaudit, witness):
    rewrite('self.mode == "raise" or data == "raise"', "True")
    outcome = dpaudit("verify", witness, "--changed")
    assert outcome.status == 4
    assert outcome.out == ""
    assert [line for line in outcome.err.splitlines() if line.startswith("dpaudit: ")] == outcome.err.splitlines()[-1:]
    assert "`sample` raised ValueError: boom and more" in outcome.err
    assert "Traceback" in dpaudit("verify", witness, "--changed", "--debug").err


KEYS = """
schema target sha256 claim view parameters data claimed method inputs event reverse features found audit command
claimed__guarantee claimed__parameters found__p found__q found__hits found__trials found__forces
audit__version audit__seed audit__stream audit__samples audit__confidence audit__stop_early audit__pair_samples
audit__candidate
""".split()  # noqa: SIM905 - a list of words reads better so


def test_every_key_is_tried(witness):
    raw = json.loads(Path(witness).read_text(encoding="utf-8"))
    inner = {f"{owner}__{key}" for owner in ("claimed", "found", "audit") for key in raw[owner]}
    # Files that were written before have no key for what else the target loads.
    assert {*raw, *inner} == {*KEYS, "loaded"}


def test_a_key_that_is_missing_or_of_the_wrong_kind(refused, witness):
    text = Path(witness).read_text(encoding="utf-8")
    for name in KEYS:
        shown = name.replace("__", ".")
        owner, _, key = name.rpartition("__")
        raw = json.loads(text)
        del (raw[owner] if owner else raw)[key]
        Path(witness).write_text(json.dumps(raw), encoding="utf-8")
        message = refused("verify", witness)
        assert f"{witness}: key '{shown}' is missing" in message
        Path(witness).write_text(text, encoding="utf-8")
        # No key takes a list that holds a list and an empty object.
        change(witness, **{name: [[3], {}, {}]})
        message = refused("verify", witness)
        assert f"{witness}: key '{shown}" in message, name
        Path(witness).write_text(text, encoding="utf-8")


DIGIT = {
    "columns": [0],
    "weights": [1],
    "step": 1.0,
    "offset": 0.0,
    "modulus": 2,
    "divisor": 1,
    "residues": [0, 1],
    "values": [1.0, -1.0],
}
RESIDUES = {"kind": "residues", "positions": None, "categories": []}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"schema": "dpaudit.witness/3"}, ["'schema'", "dpaudit.witness/3", "dpaudit.witness/2"]),
        ({"tarqet": "x"}, ["unknown key 'tarqet'", "did you mean 'target'"]),
        ({"audit__sede": 1}, ["unknown key 'audit.sede'", "did you mean 'seed'"]),
        ({"target": "leek.py::Leak"}, ["'target'", "leek.py", "No such file"]),
        ({"target": "leak.py::Laek"}, ["'target'", "did you mean 'Leak'"]),
        ({"view": "output"}, ["'view'", "no view 'output'", "report"]),
        ({"loaded": {"helper.py": 3}}, ["'loaded"]),
        ({"loaded": {"helper.py": "aa"}}, ["helper.py has changed since the audit", "was aa and is unknown"]),
        ({"parameters": {"epsilo": 1}}, ["'parameters'", "did you mean 'epsilon'"]),
        ({"parameters": {"epsilon": -1}}, ["'parameters'", "'epsilon'", "above 0"]),
        ({"data": {"file": "absent.soc", "sha256": ""}}, ["absent.soc", "no such data file"]),
        (
            {"data": {"file": "leak.py", "sha256": hashlib.sha256(QUIET.encode()).hexdigest()}},
            ["takes no --data"],
        ),
        ({"claimed__parameters": {"epsilon": -1, "delta": 0}}, ["'claimed.parameters'", ">= 0"]),
        ({"claimed__parameters": {"epsilon": "NaN", "delta": 0}}, ["'claimed.parameters.epsilon'", "finite"]),
        ({"claimed__parameters": {"epsilon": 1, "delta": 2}}, ["'claimed.parameters'", "[0, 1]"]),
        ({"claimed__parameters": {"epsilon": 1}}, ["'claimed.parameters'", "delta is missing"]),
        ({"claimed__parameters": {"epsilon": 1, "delta": 0, "mu": 1}}, ["approximate-dp has no mu"]),
        ({"claimed__gaurantee": "x"}, ["unknown key 'claimed.gaurantee'", "did you mean 'guarantee'"]),
        ({"found__p": 1.5}, ["'found.p'", "[0, 1]"]),
        ({"found__hits": [5, -1]}, ["'found.hits'"]),
        ({"found__hits": None}, ["'found.hits'", "trials"]),
        ({"audit__seed": -1}, ["'audit.seed'", "at least 0"]),
        ({"audit__confidence": 1}, ["'audit.confidence'", "below 1"]),
        ({"audit__confidence": 1e-17}, ["'audit.confidence'", "at least 1e-15"]),
        ({"audit__candidate": 5}, ["'audit.candidate'", "from 0 to 4"]),
        ({"features": "bits"}, ["'features'", "float-bits"]),
        ({"features": "float-bits"}, ["float-bits looks at floating-point outputs"]),
        ({"inputs": [{"$tuple": 3}, 1]}, ["'inputs'", "$tuple"]),
        ({"inputs": [1]}, ["'inputs"]),
        ({"event": {}}, ["'event'", "kind"]),
        ({"event": {"kind": "magic"}}, ["'event'", "magic"]),
        ({"event__threshold": "x"}, ["'event'"]),
        ({"event__threshold": {"$float": "NaN"}}, ["'event.threshold'"]),
        ({"event__score": {"kind": "outcomes"}}, ["'event'"]),
        ({"event__score": {"kind": "column", "column": 7, "centre": None}}, ["'event' does not fit", "damaged"]),
        ({"event__score": RESIDUES | {"digits": [DIGIT | {"columns": [2**70]}]}}, ["'event'", "'columns'"]),
        ({"event__score": RESIDUES | {"digits": [DIGIT | {"step": 0}]}}, ["'event'", "'step'"]),
        ({"event": None, "audit__pair_samples": 0}, ["'audit.pair_samples'"]),
        ({"event": None, "method": "exact"}, ["'event'", "method"]),
        ({"inputs": None, "method": "exact"}, ["only the audit can show", "dpaudit check leak.py::Leak"]),
    ],
    ids=str,
)
def test_a_damaged_file(refused, witness, changes, words, monkeypatch):
    change(witness, **changes)
    Path("leak.py").write_text(QUIET, encoding="utf-8")
    change(witness, sha256=hashlib.sha256(Path("leak.py").read_bytes()).hexdigest())
    from dpaudit.registry import references

    references._import_file.cache_clear()
    message = refused("verify", witness)
    for word in words:
        assert word in message


def test_a_file_of_the_first_schema_is_still_checked(dpaudit, witness):
    raw = json.loads(Path(witness).read_text(encoding="utf-8"))
    parameters, forces = raw["claimed"]["parameters"], raw["found"].pop("forces")
    raw |= {"schema": "dpaudit.witness/1", "claimed": parameters}
    raw["found"] |= {"epsilon": forces["epsilon"], "delta": None}
    Path(witness).write_text(json.dumps(raw), encoding="utf-8")
    outcome = dpaudit("verify", witness)
    assert outcome.status == 0
    assert outcome.out.startswith("confirmed: epsilon is at least ")


def test_files_that_are_no_witness(refused, folder):
    assert "No such file" in refused("verify", "absent.json")
    for content, word in ((b"\xff", "UTF-8"), (b"{", "not JSON"), (b"[]", "list"), (b"[" * 100_000, "not JSON")):
        (folder / "w.json").write_bytes(content)
        assert word in refused("verify", "w.json")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--samples", "0"], "samples"),
        (["--confidence", "1"], "confidence"),
        (["--seed", "-1"], "seed"),
        (["--format", "xml"], "--format"),
    ],
    ids=str,
)
def test_options_out_of_range(refused, witness, options, word):
    assert word in refused("verify", witness, *options)


def test_the_command_that_is_printed_verifies_a_target_in_another_folder(dpaudit, folder, monkeypatch):
    (folder / "leak.py").write_text(QUIET, encoding="utf-8")
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")
    outcome = dpaudit("check", "../leak.py::Leak", "--samples", "5000", "--output", "out")
    assert outcome.status == 1
    (line,) = (line for line in outcome.out.splitlines() if "verify the witness:" in line)
    words = shlex.split(line.partition("verify the witness: dpaudit ")[2])
    assert "--target" in words
    assert dpaudit(*words).status == 0


WORDS = """
import dpaudit

class Words(dpaudit.Mechanism):
    def sample(self, data, size, rng):
        first = rng.random(size) < {"a": 0.9, "b": 0.05, "c": 0.3}[data]
        return [["above", "below"] if each else ["below", "above"] for each in first]
    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs({"a", "b", "c"}, scope="three words")
    def claims(self):
        return [dpaudit.PrivacyClaim(id="words.privacy", statement="It is private.", epsilon=1.0)]
"""


@pytest.mark.slow
def test_outcomes_that_a_witness_knows_by_their_hashes_are_shown(dpaudit, folder):
    (folder / "words.py").write_text(WORDS, encoding="utf-8")
    assert dpaudit("check", "words.py", "--samples", "3000", "--output", "out").status == 1
    (file,) = (folder / "out" / "witnesses").iterdir()
    outcome = dpaudit("verify", str(file), "--format", "json")
    assert outcome.status == 0
    assert json.loads(outcome.out)["event"] in (["above", "below"], ["below", "above"])


@pytest.mark.slow
def test_equal_seeds_give_equal_records_where_inputs_are_a_set(folder):
    (folder / "words.py").write_text(WORDS, encoding="utf-8")
    command = [sys.executable, "-m", "dpaudit", "check", "words.py", "--samples", "2000", "--format", "json"]
    records = []
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"}
    for _ in range(3):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        records.append(json.loads(done.stdout)["results"])
    assert records[0] == records[1] == records[2]
