"""A command goes the whole way: command line and plan, workers, records, keys, witnesses, pickles, deadlines."""

import copy
import json
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.cli import main
from dpaudit.errors import ParameterError
from dpaudit.plan import read_plan
from dpaudit.runner.request import Request
from dpaudit.sources.declarations import command_target, declaration_of
from dpaudit.testing import assert_private

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="commands need pipes that can be waited for")

GEOMETRIC = """
import math
epsilon = float(sys.argv[1])
hello()
for data, size, rng in requests():
    draw = lambda: int(math.log(1 - rng.random()) / -epsilon)
    say(*[data + draw() - draw() for _ in range(size)])
"""

PLAN = """\
schema = "dpaudit.plan/1"
command = ["./geometric", "{each}"]
inputs = [0, 1]
relation = "counts that differ by one"
timeout = 20

[[audit]]
target = "geometric"
claim = "geometric.privacy"
set = { each = [0.5, 1.0], epsilon = 1.0 }
expect = "consistent"
reason = "two geometric variables"
samples = 4000
"""


@pytest.fixture
def folder(program, tmp_path, monkeypatch):
    """The current folder, with a program and a plan."""
    program(GEOMETRIC, "geometric")
    (tmp_path / "plan.toml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["dpaudit", *map(str, words)])
    with pytest.raises(SystemExit) as left:
        main()
    status = left.value.code
    out, err = capsys.readouterr()
    return status, out, err


ASKED = ["--inputs", "[0, 1]", "--samples", "4000", "--format", "json", "--quiet"]


@pytest.mark.slow
def test_the_command_line(folder, capsys, monkeypatch):
    status, out, _ = run(
        capsys, monkeypatch, "check", "--command", "./geometric {epsilon}", "--claim-epsilon", 1, *ASKED
    )
    record = json.loads(out)
    (result,) = record["results"]
    assert (status, result["verdict"], result["claimed"]) == (0, "consistent", {"epsilon": 1.0, "delta": 0.0})
    assert (result["target"], result["claim"]) == ("geometric", "geometric.privacy")
    assert result["parameters"] == {"epsilon": 1.0, "delta": 0.0}
    assert "--command './geometric {epsilon}' --inputs '[0, 1]' --claim-epsilon 1.0" in record["command"]
    # The command of the record, and that of the result, ask for the same again.
    for command in (record["command"], result["command"]):
        again = Request.from_command(command)
        assert declaration_of(again.targets[0]) == declaration_of(Request.from_command(record["command"]).targets[0])
    status, out, _ = run(
        capsys, monkeypatch, "check", "--command", "./geometric {epsilon}", "--set", "epsilon=0.5,1,2", *ASKED
    )
    found = json.loads(out)["results"]
    assert (status, [each["parameters"]["epsilon"] for each in found]) == (0, [0.5, 1.0, 2.0])
    status, out, _ = run(
        capsys, monkeypatch, "check", "--command", "./geometric 1", "--claim-epsilon", 0.5, "--claim-delta", 0.1, *ASKED
    )
    assert (status, json.loads(out)["results"][0]["verdict"]) == (1, "refuted")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--command", "./geometric 1"], "give the inputs as well: --inputs"),
        (["--command", "./geometric 1", "--inputs", "[0]"], "one input"),
        (["--command", "./geometric 1", "--inputs", "[]"], "nothing to compare"),
        (["--command", "./geometric 1", "--inputs", "0, 1"], "--inputs: '0, 1' is not JSON"),
        (["--command", "./geometric 1", "--inputs", '{"a": 1}'], "`inputs` must be a list"),
        (["--command", "./geometric 1", "--pairs", "[0, 1]"], "list pairs [x, y]"),
        (["--command", "./geometric 'x", "--inputs", "[0, 1]"], "No closing quotation"),
        (["--command", "", "--inputs", "[0, 1]"], "names no program"),
        (["--command", "{epsilon}", "--inputs", "[0, 1]"], "which no parameter may decide"),
        (["--command", "./geometric {name}", "--inputs", "[0, 1]"], "no parameter can be called 'name'"),
        (["--command", "./geometric {each}", "--inputs", "[0, 1]", "--claim-epsilon", "1"], "needs a value for each"),
        (["--command", "./geometric 1", "--inputs", "[0, 1]"], "needs a value for epsilon"),
        (["--command", "./geometric 1", "--inputs", "[0, 1]", "--claim-epsilon", "0"], "must be above 0"),
        (["--command", "./geometric 1", "--inputs", "[0, 1]", "--claim-epsilon", "-1"], "must be a finite number"),
        (["--command", "./geometric 1", "--inputs", "[0, 1]", "--timeout", "0"], "timeout must be"),
        (["--command", "./nothing", "--inputs", "[0, 1]", "--claim-epsilon", "1"], "no such file"),
        (["--command", "geometric", "--inputs", "[0, 1]", "--claim-epsilon", "1"], "is called ./geometric"),
        (["plan.toml", "--command", "./geometric 1", "--inputs", "[0, 1]"], "leave plan.toml out"),
        (["plan.toml", "--claim-epsilon", "1"], "--claim-epsilon is about a program; give --command"),
        (["plan.toml", "--claim-rho", "1"], "--claim-rho is about a program; give --command"),
        (["--command", "./geometric 1", "--inputs", "[0, 1]", "--claim-rho", "-1"], "--claim-rho must be"),
        (["--command", "./geometric 1", "--inputs", "[0, 1]", "--claim-rho", "1", "--claim-mu", "1"], "no claim of"),
        (["--command", "./geometric 1", "--inputs", "[0, 1]", "--guarantee", "renyi"], "at an order"),
        (["--command", "./geometric 1", "--inputs", "[0, 1]", "--guarantee", "gaussian"], "needs a value for mu"),
    ],
)
@pytest.mark.slow
def test_calls_that_cannot_be_used(folder, capsys, monkeypatch, words, text):
    status, out, err = run(capsys, monkeypatch, "check", *words)
    assert (status, out) == (2, "")
    assert text in err
    assert len(err.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "place"),
    [(["--pairs", '[[0, 1], [[1, "a"], [1, "a"]]]'], 1), (["--inputs", '[[1, "a"], [1, "a"]]'], 0)],
)
def test_equal_inputs_are_refused(folder, capsys, monkeypatch, words, place):
    status, _, err = run(capsys, monkeypatch, "check", "--command", "./geometric 1", "--claim-epsilon", 1, *words)
    assert status == 2
    assert f"the two inputs of pair {place} are equal: [1, 'a']; give two inputs that differ" in err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "expected", "text"),
    [
        ("say('hello')", 2, "'hello' in line 1"),
        ("hello()\nfor _ in requests(): sys.exit('out of memory')", 4, "exit status 1"),
        ("hello()\nfor _ in requests(): time.sleep(600)", 4, "wrote nothing for 1 seconds"),
        ("hello()\nwhile True: out.write('1\\n')", 2, "more than it was asked for"),
        ("hello()\nfor _ in requests():\n  while True: out.write('1')", 2, "a line without an end"),
        ("while True: out.write('Welcome')", 2, "a line without an end"),
        ("hello()\nfor _, n, _ in requests():\n say(*[random.Random(1 + i).random() for i in range(n)])", 2, "seeds"),
    ],
)
def test_what_the_program_does_wrong_decides_the_status(folder, program, capsys, monkeypatch, body, expected, text):
    program(body, "broken")
    words = ["check", "--command", "./broken", "--claim-epsilon", 1, "--timeout", 1, *ASKED]
    status, out, err = run(capsys, monkeypatch, *words)
    assert status == expected
    assert json.loads(out)["results"][0]["verdict"] == "error"
    assert text in err


FIRST = 'begin with the line {"protocol"'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "texts"),
    [
        ("time.sleep(600)", ["wrote nothing for", "before its first line", FIRST]),
        ("for _, n, _ in requests(): say(*[0] * n)", ["wrote nothing for", "before its first line", FIRST]),
        ("out.write('Ready> '); out.flush(); time.sleep(600)", ["wrote no whole line for", "after 'Ready>'", FIRST]),
        (
            "while True: out.write('.'); out.flush(); time.sleep(0.1)",
            ["wrote no whole line for", "before its first line", FIRST],
        ),
        (
            'out.write(\'{"protocol": "dpaudit.sampler/1", "format": "jsonl"}\\n\')\nsys.stdin.read()',
            ["before its first line", "it answered when its input was closed", "flush standard output"],
        ),
        ("hello()\nfor _ in requests(): time.sleep(600)", ["in its answer to request 1", "exactly `size` outputs"]),
        ("hello()\nfor _, n, _ in requests(): out.write('0\\n' * n)", ["answered when its input was closed"]),
        (
            "hello()\nfor _, n, rng in requests(): say(*[rng.random() for _ in range(n)])\ntime.sleep(600)",
            ["does not end when its standard input ends"],
        ),
    ],
    ids=["nothing", "no first line", "half a line", "dots", "buffered line", "no answer", "buffered answer", "no end"],
)
def test_a_program_that_never_answers_is_an_error_at_the_deadline(command, body, texts):
    mechanism = command(body, timeout=60)
    seconds, began = 2.5, time.time()
    settings = Budget(samples=5000, deadline=began + seconds)
    with pytest.raises(dpaudit.DpauditError) as caught:
        audit(mechanism, mechanism.claims()[0], budget=settings, streams=Streams(1))
    # Half a second shows what is in a buffer; the rest is for a busy machine.
    assert seconds - 0.1 < time.time() - began < seconds + 3
    assert all(text in str(caught.value) for text in [*texts, "when the time for the audit was over"])


@pytest.mark.slow
def test_a_program_that_writes_nothing_has_the_status_that_it_has_without_a_deadline(
    folder, program, capsys, monkeypatch
):
    program("time.sleep(600)", "silent")
    statuses = set()
    for limit in (["--seconds", 6], ["--timeout", 1]):
        words = ["check", "--command", "./silent", "--claim-epsilon", 1, *limit, *ASKED]
        status, out, _ = run(capsys, monkeypatch, *words)
        (result,) = json.loads(out)["results"]
        assert (result["verdict"], "begin with the line" in result["note"]) == ("error", True)
        statuses.add(status)
    assert statuses == {4}


# It hangs at a time, and not after a number of outputs, for the audit to have chosen an event by then on any machine.
HANGS_LATER = """
hello()
for data, size, rng in requests():
    if time.time() > {when}: {half}; time.sleep(600)
    say(*[int(data) ^ (rng.random() < 0.25) for _ in range(size)])
"""


@pytest.mark.slow
@pytest.mark.parametrize("half", ["pass", "say(0)"], ids=["nothing", "a part"])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_of_a_program_that_hangs_after_answers_what_was_drawn_counts_at_the_deadline(command, epsilon, half):
    seconds, began = 5, time.time()
    body = HANGS_LATER.format(when=began + 0.65 * seconds, half=half)
    mechanism = command(body, timeout=60, parameters={"epsilon": epsilon})
    budget = Budget(samples=10**7, deadline=began + seconds)
    try:
        evidence = audit(mechanism, mechanism.claims()[0], budget=budget, streams=Streams(1))
    except dpaudit.TargetRaisedError as error:
        assert epsilon == 3.0
        text = str(error)
        assert "which is no verdict" in text
    else:
        assert epsilon == 0.5
        assert evidence.verdict == "refuted"
        text = evidence.note
    assert seconds - 0.1 < time.time() - began < seconds + 3
    assert "so that it is taken to hang" in text
    assert "outputs before" in text


@pytest.mark.slow
def test_a_program_that_hangs_after_answers_is_told_of_before_its_process_is_ended(
    folder, program, capsys, monkeypatch
):
    words = ["check", "--command", "./later", "--claim-epsilon", 0.5, "--seconds", 5, "--inputs", "[0, 1]"]
    words += ["--samples", 10**7, "--format"]
    program(HANGS_LATER.format(when=time.time() + 3.25, half="pass"), "later")
    status, out, _ = run(capsys, monkeypatch, *words, "json")
    (result,) = json.loads(out)["results"]
    assert (status, result["verdict"]) == (1, "refuted")
    assert "so that it is taken to hang" in result["note"]
    words[words.index(0.5)] = 3
    program(HANGS_LATER.format(when=time.time() + 3.25, half="pass"), "later")
    status, out, _ = run(capsys, monkeypatch, *words, "text")
    assert status == 4
    assert "next step: give the program the request in the note" in out


@pytest.mark.slow
def test_a_slow_program_that_has_answered_before_is_no_error_at_the_deadline(command):
    body = "hello()\nfor _, n, rng in requests():\n time.sleep(0.3)\n say(*[rng.random() for _ in range(n)])"
    mechanism = command(body)
    budget = Budget(samples=5000, deadline=time.time() + 4)
    evidence = audit(mechanism, mechanism.claims()[0], budget=budget, streams=Streams(1))
    assert evidence.verdict == "inconclusive"
    assert "--seconds allowed no more" in evidence.note


@pytest.mark.slow
def test_a_program_that_becomes_slow_within_an_answer_is_out_of_time(command):
    """It has answered quickly before, and writes a line in 20 ms now: that is no program that hangs."""
    body = """
hello()
for number, (data, size, rng) in enumerate(requests()):
    for _ in range(size):
        if number > 6: time.sleep(0.02); out.flush()
        say(rng.random())
"""
    mechanism, began = command(body), time.time()
    budget = Budget(samples=10**6, deadline=began + 4)
    evidence = audit(mechanism, mechanism.claims()[0], budget=budget, streams=Streams(1))
    assert evidence.verdict == "inconclusive"
    assert "--seconds allowed no more" in evidence.note
    assert time.time() - began < 7


@pytest.mark.slow
def test_other_guarantees(folder, capsys, monkeypatch, tmp_path):
    """Geometric noise at epsilon 1 is at most tanh(1 / 2) = 0.46-zCDP, and more than 0.05."""
    cases = [
        (["--claim-rho", "0.47"], "zero-concentrated-dp", {"rho": 0.47, "delta": 0.0}, 0),
        (["--claim-rho", "0.05"], "zero-concentrated-dp", {"rho": 0.05, "delta": 0.0}, 1),
        (["--claim-mu", "0.2"], "gaussian-dp", {"mu": 0.2}, 1),
        (["--order", "2", "--claim-epsilon", "0.9"], "renyi-dp", {"alpha": 2.0, "epsilon": 0.9}, 0),
        (["--order", "2", "--claim-epsilon", "0.1"], "renyi-dp", {"alpha": 2.0, "epsilon": 0.1}, 1),
    ]
    for claim, kind, claimed, expected in cases:
        status, out, err = run(capsys, monkeypatch, "check", "--command", "./geometric 1", *claim, *ASKED)
        record = json.loads(out)
        (result,) = record["results"]
        assert (status, result["guarantee"], result["claimed"]) == (expected, kind, claimed), err
        again = Request.from_command(result["command"])
        assert declaration_of(again.targets[0]) == declaration_of(Request.from_command(record["command"]).targets[0])
    plan = PLAN.replace("{each}", "1").replace("each = [0.5, 1.0], epsilon = 1.0", "rho = [0.05, 0.47]")
    plan = plan.replace("timeout = 20", 'guarantee = "zero-concentrated"').replace('"consistent"', '"refuted"')
    (tmp_path / "other.toml").write_text(plan)
    status, out, err = run(capsys, monkeypatch, "check", "other.toml", "--format", "json", "--quiet")
    results = json.loads(out)["results"]
    assert [(each["claimed"]["rho"], each["verdict"]) for each in results] == [(0.05, "refuted"), (0.47, "consistent")]


CRASHES = """
hello()
for number, (data, size, rng) in enumerate(requests()):
    if number >= 12: sys.stderr.write("out of memory\\n"); os.abort()
    say(*[int(data) ^ (rng.random() < 0.25) for _ in range(size)])
"""


@pytest.mark.slow
def test_what_was_drawn_before_a_crash_counts(folder, program, capsys, monkeypatch):
    """A violation seen by then is one, a claim that held so far is an error, and other results are kept."""
    program(CRASHES, "crashes")
    words = ["--claim-epsilon", "0.1", "--inputs", "[0, 1]", "--samples", "40000", "--format", "json", "--quiet"]
    status, out, _ = run(capsys, monkeypatch, "check", "--command", "./crashes", *words, "--output", "out")
    (result,) = json.loads(out)["results"]
    assert (status, result["verdict"]) == (1, "refuted")
    assert 0.1 < result["measured"]["epsilon"]["lower"] < np.log(3)
    for said in (
        "only what was drawn before counts",
        "signal SIGABRT",
        "answer to request 13",
        "outputs before",
        "memory",
    ):
        assert said in result["note"]
    words = ["--set", "epsilon=0.1,2", *words[2:]]
    status, out, err = run(capsys, monkeypatch, "check", "--command", "./crashes", *words, "--output", "out")
    first, second = json.loads(out)["results"]
    assert (status, first["verdict"], second["verdict"]) == (1, "refuted", "error")
    assert "show epsilon of at least 1.0" in second["note"]
    assert "Traceback" not in err


@pytest.mark.slow
def test_a_program_that_breaks_the_protocol_in_mid_audit_refutes_nothing(folder, program, capsys, monkeypatch):
    """Whose answers do not have the form asked for may have answered something else before, too."""
    program(CRASHES.replace('sys.stderr.write("out of memory\\n"); os.abort()', "say('three')"), "crashes")
    words = ["--claim-epsilon", "0.1", "--inputs", "[0, 1]", "--samples", "40000", "--format", "json", "--quiet"]
    status, out, _ = run(capsys, monkeypatch, "check", "--command", "./crashes", *words)
    (result,) = json.loads(out)["results"]
    assert (status, result["verdict"]) == (2, "error")
    for said in ("'three' in line 1 of its answer to request 13", "outputs before"):
        assert said in result["note"]


@pytest.mark.slow
def test_a_plan(folder, capsys, monkeypatch, tmp_path):
    status, out, _ = run(capsys, monkeypatch, "check", "plan.toml", "--format", "json", "--workers", 2)
    found = json.loads(out)["results"]
    assert status == 0
    assert [(each["parameters"]["each"], each["expected"]) for each in found] == [
        (0.5, "consistent"),
        (1, "consistent"),
    ]
    assert {each["relation"] for each in found} == {"counts that differ by one"}
    # Paths are relative to the plan, and results do not depend on how many workers there are, or on the folder.
    monkeypatch.chdir("/")
    status, again, _ = run(capsys, monkeypatch, "check", tmp_path / "plan.toml", "--format", "json", "--workers", 1)
    same = [[{**each, "command": ""} for each in json.loads(text)["results"]] for text in (out, again)]
    assert status == 0
    assert same[0] == same[1]


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('command = ["./geometric", "{each}"]', "", "give one of the keys 'protocol'"),
        ("inputs = [0, 1]", "", "give `pairs`"),
        ("inputs = [0, 1]", "pairs = [[0, 1, 2]]", "`pairs` has [0, 1, 2] at place 0"),
        ("inputs = [0, 1]", "pairs = '[[0, 1]'", "key 'pairs': '[[0, 1]' is not JSON"),
        ("inputs = [0, 1]", "inputs = [0, 2021-01-01]", "cannot be sent as JSON"),
        ("timeout = 20", "timeout = -1", "key 'timeout'"),
        ("timeout = 20", "tiemout = 1", "unknown key 'tiemout' (did you mean 'timeout'?)"),
        ('"./geometric", "{each}"', "", "give a list of words"),
        ('"./geometric", "{each}"', '"./other", "{each}"', "no such file"),
        ("each = [0.5, 1.0]", "other = 1", "unknown parameter 'other'"),
        ('command = ["./geometric", "{each}"]', 'paper = "yan2020"', "'inputs' is about a 'command'"),
    ],
)
def test_plans_that_cannot_be_used(folder, old, new, text):
    (folder / "plan.toml").write_text(PLAN.replace(old, new))
    with pytest.raises(dpaudit.DpauditError) as caught:
        read_plan("plan.toml")
    assert text in str(caught.value)


@pytest.mark.slow
def test_results_are_kept_until_the_program_is_built_again(folder, program, capsys, monkeypatch):
    (folder / "scale.txt").write_text("1")
    words = ["check", "--command", "./geometric {epsilon} scale.txt", "--claim-epsilon", 1, *ASKED]
    words += ["--output", "out", "--workers", 1]
    keys = []

    def keep():
        status, out, _ = run(capsys, monkeypatch, *words)
        assert status == 0
        keys.append(json.loads(out)["results"][0]["key"])
        return keys[-1]

    first = keep()
    assert len(first) == 16
    assert keep() == first
    words[words.index("--inputs") + 1] = "[1, 0]"
    assert keep() != first
    words[words.index("--inputs") + 1] = "[0, 1]"
    program(f"{GEOMETRIC}\n# built again", "geometric")
    assert keep() != first
    program(GEOMETRIC, "geometric")
    assert keep() == first
    # So do files that other words name.
    (folder / "scale.txt").write_text("2")
    assert keep() not in keys[:-1]


@pytest.mark.slow
def test_a_witness(folder, program, capsys, monkeypatch):
    words = ["check", "--command", "./geometric {each}", "--set", "each=1", "--claim-epsilon", 0.5, *ASKED]
    status, out, _ = run(capsys, monkeypatch, *words, "--output", "out")
    assert status == 1
    (witness,) = Path("out/witnesses").iterdir()
    status, out, err = run(capsys, monkeypatch, "verify", witness)
    assert (status, out) == (2, "")
    assert "runs only where you name it yourself" in err
    assert "--target './geometric {each}'" in err
    status, out, err = run(capsys, monkeypatch, "verify", witness, "--target", "./geometric {each} more")
    assert status == 2
    status, out, err = run(capsys, monkeypatch, "verify", witness, "--target", "./geometric {each}", "--format", "json")
    assert status == 0, err
    assert json.loads(out)["confirmed"]
    program(f"{GEOMETRIC}\n# built again", "geometric")
    status, _, err = run(capsys, monkeypatch, "verify", witness, "--target", "./geometric {each}")
    assert status == 2
    assert "has changed since the audit" in err
    status, _, _ = run(capsys, monkeypatch, "verify", witness, "--target", "./geometric {each}", "--changed")
    assert status == 0


@pytest.mark.slow
def test_a_witness_of_a_plan(folder, program, capsys, monkeypatch):
    (folder / "plan.toml").write_text(PLAN.replace("epsilon = 1.0", "epsilon = 0.3").replace("[0.5, 1.0]", "1.0"))
    status, _, _ = run(capsys, monkeypatch, "check", "plan.toml", "--quiet", "--output", "out")
    assert status == 1
    (witness,) = Path("out/witnesses").iterdir()
    assert run(capsys, monkeypatch, "verify", witness)[0] == 0
    program(f"{GEOMETRIC}\n# built again", "geometric")
    status, _, err = run(capsys, monkeypatch, "verify", witness)
    assert status == 2
    assert "has changed since the audit" in err


@pytest.mark.slow
def test_an_instance_goes_anywhere(command):
    mechanism = command()
    before = mechanism.sample(0, 20, np.random.default_rng(5))
    for other in (pickle.loads(pickle.dumps(mechanism)), copy.copy(mechanism), copy.deepcopy(mechanism)):
        assert other == mechanism
        assert type(other) is type(mechanism)
        assert "_held" not in other.__dict__
        assert other.sample(0, 20, np.random.default_rng(5)) == before
    assert mechanism.but(epsilon=2).parameters() == {"epsilon": 2.0, "delta": 0.0}
    assert isinstance(mechanism, dpaudit.CommandMechanism)
    record = dpaudit.check(mechanism.but(epsilon=1.2), samples=4000, seed=3)
    assert record.results[0].verdict == "consistent"
    assert dpaudit.check(mechanism.but(epsilon=0.5), samples=4000).results[0].verdict == "refuted"


IDENTIFIED = """
hello()
for data, size, rng in requests():
    say(*[json.dumps({"id": "%032x" % rng.getrandbits(128), "bit": data ^ (rng.random() < 0.25)}) for _ in range(size)])
"""


def bits(outputs):
    return np.array([each["bit"] for each in outputs])


def speaks(outputs, data):
    return bits(outputs) == data


class Bits(dpaudit.CommandMechanism):
    """Looks at the bits of a program's outputs."""

    def features(self, outputs):
        return bits(outputs)


GIVEN = {"inputs": [0, 1], "parameters": {"epsilon": 1.2}}


@pytest.mark.slow
def test_what_to_look_at_in_the_outputs_of_a_program(program):
    """Randomized response at ln 3, with an identifier beside the bit."""
    words = [str(program(IDENTIFIED))]
    plain = dpaudit.CommandMechanism(command=words, **GIVEN)
    told = dpaudit.CommandMechanism(command=words, features=bits, **GIVEN)
    for mechanism in (told, Bits(command=words, **GIVEN), plain.looking_at(features=bits)):
        evidence = assert_private(mechanism, samples=4000, seed=3)
        assert 0.8 < evidence.measured["epsilon"].lower <= 1.1
        for other in (pickle.loads(pickle.dumps(mechanism)), copy.deepcopy(mechanism), mechanism.but(epsilon=2.0)):
            assert type(other) is type(mechanism)
    assert isinstance(Bits(command=words, **GIVEN), Bits)
    assert type(plain.looking_at(features=bits)) is type(told)
    assert type(plain) is type(dpaudit.CommandMechanism(command=words, **GIVEN))
    assert type(plain) is not type(told)
    with pytest.raises(AssertionError, match=r"refuted[\s\S]*features=bits"):
        assert_private(plain, epsilon=0.5, samples=4000, features=bits)
    assert assert_private(plain, samples=4000, features=bits, supports=speaks).verdict == "consistent"


@pytest.mark.slow
def test_what_to_do_about_a_program_that_writes_identifiers(program):
    plain = dpaudit.CommandMechanism(command=[str(program(IDENTIFIED))], **GIVEN)
    (result,) = dpaudit.check(plain, samples=2000).results
    assert result.verdict == "inconclusive"
    assert "leave the identifying part (output['id']) out of what the program writes" in result.note
    assert "`dpaudit.CommandMechanism` takes `features` and `supports`" in result.note
    assert "or define `features`" not in result.note


@pytest.mark.slow
def test_a_class_that_looks_at_the_outputs_of_any_program_is_no_target(tmp_path):
    file = tmp_path / "looks.py"
    file.write_text(
        "import dpaudit\n\n\nclass Bits(dpaudit.CommandMechanism):\n    def features(self, outputs):\n"
        "        return outputs\n"
    )
    with pytest.raises(dpaudit.TargetError, match="defines no target"):
        dpaudit.check(str(file))


def test_what_looks_at_outputs_must_be_functions():
    with pytest.raises(ParameterError, match="features must be a function of outputs, got 3"):
        dpaudit.CommandMechanism(command=["./program"], features=3, **GIVEN)

    class Unhashable:
        __hash__ = None

        def __call__(self, outputs):
            return bits(outputs)

    made = dpaudit.CommandMechanism(command=["./program"], features=Unhashable(), **GIVEN)
    assert made.features(np.array([{"bit": 1}], dtype=object)).tolist() == [1]
    with pytest.raises(ParameterError, match="give the parameter 'scale' of the command in `parameters`"):

        class _Scaled(dpaudit.CommandMechanism):
            scale: float = 1.0


def test_parameters_in_words():
    made = dpaudit.CommandMechanism(
        command="./program --scale={scale} {mode} {{mode}} '{\"a\": 1}' {epsilon}",
        parameters={"epsilon": 1, "scale": 0.5, "mode": "fast"},
        pairs=[(0, 1)],
    )
    words = made.declaration.words(made.parameters())
    assert words == ["./program", "--scale=0.5", "fast", "{mode}", '{"a": 1}', "1.0"]
    assert made.parameter_names() == ["epsilon", "delta", "scale", "mode"]
    with pytest.raises(ParameterError, match="begins with '-'"):
        made.but(mode="--delete-all")
    assert made.but(mode=-3).parameters()["mode"] == -3
    with pytest.raises(ParameterError, match="above 0"):
        made.but(epsilon=0)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["./noisy_count", "x.py"], "noisy_count"),
        (["python3", "tools/noisy-count.py", "{epsilon}"], "noisy-count"),
        (["java", "-jar", "build/Count.jar"], "Count"),
        (["/usr/bin/node", "count.js"], "count"),
        (["./a b!c"], "a-b-c"),
    ],
)
def test_names(words, name):
    assert dpaudit.CommandMechanism(command=words, parameters={"epsilon": 1}, pairs=[(0, 1)]).name == name


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"pairs": [(0, float("nan"))]}, "the input nan cannot be sent as JSON"),
        ({"pairs": [(0, {1, 2})]}, "cannot be sent as JSON"),
        ({"pairs": [(0, 1)], "inputs": [0, 1]}, "give `pairs`"),
        ({"pairs": [(0, 1)], "name": "a b"}, "must be of letters"),
        ({"pairs": [(0, 1)], "parameters": {"epsilon": None}}, "must be a number or a text"),
        ({"pairs": [(0, 1)], "parameters": {"class": 1}}, "cannot be the name of a parameter"),
        ({"pairs": [(0, 1)], "parameters": [1]}, "must map names to values"),
        ({"pairs": [(0, 1)], "timeout": True}, "timeout must be"),
        ({"pairs": 3}, "`pairs` must be a list"),
    ],
)
def test_declarations_that_cannot_be(given, text):
    with pytest.raises(ParameterError) as caught:
        dpaudit.CommandMechanism(command=["./program"], **{"parameters": {"epsilon": 1.0}, **given})
    assert text in str(caught.value)


def test_a_target_is_written_in_one_way():
    text = command_target("./a {epsilon}", inputs="[0, [1, null]]", claimed={"--claim-epsilon": 1.0})
    said = declaration_of(text)
    assert said.text == text
    assert said.inputs == (0, [1, None])
    assert declaration_of(said.whole) == said


@pytest.mark.slow
def test_interrupts_and_time_limits_end_programs(folder, program, tmp_path, is_running):
    body = f"open({str(tmp_path / 'pids')!r}, 'a').write(f'{{os.getpid()}}\\n')\nhello()\nfor _ in requests(): "
    program(body + "time.sleep(600)", "slow")
    words = [sys.executable, "-m", "dpaudit", "check", "--command", "./slow", "--claim-epsilon", "1", *ASKED]
    # On a busy machine the time may be over before a program has begun, which is no error of the program.
    for more, stop, expected in ((["--seconds", "3"], None, (3, 4)), ([], signal.SIGINT, (130,))):
        (tmp_path / "pids").unlink(missing_ok=True)
        process = subprocess.Popen([*words, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        limit = time.monotonic() + 60
        while not (tmp_path / "pids").exists() and process.poll() is None and time.monotonic() < limit:
            time.sleep(0.05)
        if stop is not None:
            process.send_signal(stop)
        _, err = process.communicate(timeout=60)
        assert process.returncode in expected, err
        begun = (tmp_path / "pids").read_text().split() if stop or (tmp_path / "pids").exists() else []
        for pid in begun:
            limit = time.monotonic() + 10
            while is_running(pid) and time.monotonic() < limit:
                time.sleep(0.05)
            assert not is_running(pid)
