"""Options and targets that cannot be used: status 2, nothing on standard output, one line that says what to mend."""

import re

import pytest

import dpaudit as package
from dpaudit.sources.libraries import sweeps

RR = "ldp-kwiksort-rr"
THEOREM = "yan2020.theorem1-rr"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--samples", "0"], ["samples", "at least 1", "0"]),
        (["--samples", "-5"], ["samples", "at least 1", "-5"]),
        (["--samples", "many"], ["--samples", "integer"]),
        (["--samples", "1.5"], ["--samples", "integer"]),
        (["--confidence", "0"], ["confidence", "above 0"]),
        (["--confidence", "1"], ["confidence", "below 1"]),
        (["--confidence", "1.5"], ["confidence", "1.5"]),
        (["--confidence", "nan"], ["confidence", "nan"]),
        (["--confidence", "high"], ["--confidence"]),
        (["--seconds", "0"], ["seconds", "above 0"]),
        (["--seconds", "-1"], ["seconds", "-1"]),
        (["--seconds", "nan"], ["seconds", "nan"]),
        (["--workers", "0"], ["workers", "at least 1"]),
        (["--seed", "-1"], ["seed", "at least 0"]),
        (["--seed", "x"], ["--seed"]),
        (["--format", "xml"], ["--format", "xml", "junit"]),
        (["--method", "magic"], ["--method", "magic", "black-box"]),
        (["--features", "bits"], ["--features", "float-bits"]),
        (["--method", "exact", "--features", "float-bits"], ["float-bits", "black-box", "not by exact"]),
        (["--nope"], ["--nope", "`dpaudit check --help` shows the usage"]),
        (["--samples", "1e5"], ["--samples", "`dpaudit check --help` shows the usage"]),
        (["--set", "epsilon"], ["--set epsilon", "NAME=VALUE"]),
        (["--set", "epsilon="], ["--set epsilon=", "NAME=VALUE"]),
        (["--set", "=1"], ["--set =1", "NAME=VALUE"]),
        (["--set", "epsilon=1,,2"], ["--set epsilon=1,,2", "NAME=VALUE"]),
        (["--set", "epsilon=1", "--set", "epsilon=2"], ["epsilon", "twice"]),
        (["--set", "epsilo=1"], ["epsilo", "did you mean 'epsilon'"]),
        (["--claim", "yan2020.theorem1-r"], ["yan2020.theorem1-r", f"did you mean '{THEOREM}'"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_an_option_that_cannot_be_used(refused, options, words):
    message = refused("check", RR, *options)
    for word in words:
        assert word in message


@pytest.mark.slow
@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "-inf", "1e999", "abc", "true!"])
def test_epsilon_must_be_a_positive_number(refused, value):
    message = refused("check", RR, "--claim", THEOREM, "--set", f"epsilon={value}")
    assert RR in message
    assert "parameter 'epsilon'" in message
    assert "got" in message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("queries=4", ["'queries'", "at most 3", "3 alternatives", "got 4"]),
        ("queries=0", ["'queries'", "at least 1", "got 0"]),
        ("queries=1.5", ["'queries'", "1.5"]),
        ("queries=some", ["'queries'", "some"]),
        ("convention=paper", ["'convention'", "'yan' or 'permallows'", "paper"]),
        ("dispersion=-0.5", ["'dispersion'", "at least 0"]),
        ("agents=0", ["'agents'", "at least 1"]),
    ],
)
def test_a_parameter_out_of_range(refused, setting, words):
    message = refused("check", RR, "--claim", THEOREM, "--set", "alternatives=3", "--set", setting)
    for word in words:
        assert word in message


@pytest.mark.slow
@pytest.mark.parametrize("value", ["-0.1", "1.1", "nan", "inf"])
def test_delta_must_be_a_probability(refused, count, value):
    message = refused("check", count, "--set", f"delta={value}")
    assert "count: parameter 'delta'" in message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("ldp-kwiksort-r", ["'ldp-kwiksort-r'", "did you mean 'ldp-kwiksort-rr'", "dpaudit list"]),
        ("qqqqqq", ["unknown target 'qqqqqq'", "dpaudit list"]),
        ("", ["unknown target ''"]),
        (".", ["unknown target '.'"]),
        ("absent.py", ["absent.py", "No such file"]),
        ("absent.toml", ["absent.toml", "No such file"]),
        ("absent.py::Count", ["absent.py", "No such file"]),
        ("count.py::Nope", ["count.py", "no mechanism 'Nope'", "Count"]),
        ("count.py::Cuont", ["did you mean 'Count'"]),
        ("json:Nope", ["json", "no mechanism 'Nope'"]),
        ("no_such_module:Nope", ["'no_such_module'", "ModuleNotFoundError"]),
        (":Nope", ["module ''"]),
    ],
)
def test_an_unknown_target(refused, count, target, words):
    message = refused("check", target)
    for word in words:
        assert word in message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"x = 1\ndef f(:\n    pass\n", ["bad.py, line 2", "syntax"]),
        (b"x = 1\n\n   y = 2\n", ["bad.py, line 3", "indent"]),
        (b"import json\nraise RuntimeError('first\\nsecond')\n", ["bad.py, line 2", "RuntimeError", "first second"]),
        (b"import no_such_module_at_all\n", ["bad.py, line 1", "ModuleNotFoundError", "no_such_module_at_all"]),
        (b"import sys\nsys.exit(0)\n", ["bad.py, line 2", "SystemExit"]),
        (b"import dpaudit\n", ["bad.py", "no target", "dpaudit.Mechanism"]),
        (b"", ["bad.py", "no target"]),
        (b"x = '\xff'\n", ["bad.py"]),
        (b"x = '\x00'\n", ["bad.py", "null bytes"]),
        (b"import broken\n", ["bad.py, line 1", "SyntaxError"]),
        (
            b"from __future__ import annotations\nimport dpaudit\n"
            b"class C(dpaudit.Mechanism):\n    epsilon: Flaot = 1.0\n    def claims(self): return []\n",
            ["C:", "Flaot"],
        ),
    ],
    ids=[
        "syntax",
        "indentation",
        "raises",
        "missing-import",
        "exits",
        "no-target",
        "empty",
        "not-utf8",
        "null",
        "other",
        "type",
    ],
)
def test_a_target_file_that_cannot_be_imported(refused, folder, content, words):
    (folder / "bad.py").write_bytes(content)
    (folder / "broken.py").write_text("def f(:\n", encoding="utf-8")
    message = refused("check", "bad.py")
    for word in words:
        assert word in message
    assert "None" not in message


@pytest.mark.slow
def test_a_folder_is_no_target_file(refused, folder):
    (folder / "a.py").mkdir()
    assert "Is a directory" in refused("check", "a.py")


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("claims", ["count: `claims` raised KeyError on line", "in claims"]),
        ("no-list", ["count: `claims` raised TypeError", "not iterable"]),
        ("junk", ["count: `claims` returned str", "dpaudit claims"]),
        ("twice", ["two claims named 'count.privacy'"]),
        ("no-claims", ["nothing to check"]),
        ("validate", ["count: `validate` raised LookupError on line", "no such thing"]),
    ],
)
def test_a_target_that_cannot_say_what_it_claims(refused, count, mode, words):
    message = refused("check", count, "--set", f"mode={mode}")
    for word in words:
        assert word in message


def test_debug_shows_where_claims_raised(dpaudit, count):
    outcome = dpaudit("check", count, "--set", "mode=claims", "--debug")
    assert outcome.status == 2
    assert "Traceback" in outcome.err
    assert outcome.err.splitlines()[-1].startswith("dpaudit: count: `claims` raised KeyError")


@pytest.mark.slow
def test_a_claim_that_is_unknown_beside_one_that_is_not(refused):
    assert "'nothing'" in refused("check", RR, "--claim", THEOREM, "--claim", "nothing")


@pytest.mark.slow
def test_a_required_parameter(refused, dpaudit, count, folder):
    text = (folder / "count.py").read_text(encoding="utf-8").replace("epsilon: float = 1.0", "epsilon: float")
    (folder / "needy.py").write_text(text, encoding="utf-8")
    assert "count needs a value for epsilon; give it with --set epsilon=" in refused("check", "needy.py")
    assert dpaudit("check", "needy.py", "--set", "epsilon=1").status == 0
    assert "epsilon = required" in dpaudit("show", "needy.py").out


@pytest.mark.parametrize("output", ["taken", "taken/below"])
def test_an_output_that_cannot_be_written(refused, count, folder, output):
    (folder / "taken").write_text("a file in the way", encoding="utf-8")
    message = refused("check", count, "--output", output)
    assert output in message
    assert "cannot be written" in message


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["nonsense"], "dpaudit"),
        (["--nope"], "dpaudit"),
        (["show"], "dpaudit show"),
        (["init"], "dpaudit init"),
        (["report"], "dpaudit report"),
        (["list", "--format", "xml"], "dpaudit list"),
    ],
)
def test_a_wrong_usage(refused, arguments, command):
    assert f"(`{command} --help` shows the usage)" in refused(*arguments)


def test_no_command_shows_the_help(dpaudit):
    outcome = dpaudit()
    assert outcome.status == 2
    assert "check" in outcome.out


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--set", "epsilon=2"], ["--set", "epsilon=2", "--set", "central_epsilon=0.5"]])
def test_a_parameter_that_another_one_decides_is_refused(refused, options):
    message = refused("check", "ddp-helnaksort", "--claim", "song2022.theorem3.1-central", *options)
    assert "epsilon" in message
    assert "central_epsilon" in message
    assert "without effect" in message


SAMPLED = '''\
import dpaudit


class Noisy(dpaudit.Mechanism):
    """A bit with Laplace noise; `law` is known where it says so."""

    law_known: bool = False

    def sample(self, data, size, rng):
        return data + rng.laplace(size=size)

    def law(self, data):
        return dpaudit.LaplaceLaw(float(data), 1.0) if self.law_known else None

    def neighbours(self):
        return dpaudit.Neighbouring(relation="substitution", pairs=[(0, 1)], complete=True, scope="the bits")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="noisy.privacy", statement="It is private.", epsilon=1.0)]
'''
TOO_FEW = (
    "samples must be at least 1000 for an audit by sampling, got 500; raise the number, or leave out noisy.privacy of "
    "noisy, which is audited so"
)


@pytest.fixture
def sampled(folder):
    (folder / "noisy.py").write_text(SAMPLED, encoding="utf-8")
    return "noisy.py"


@pytest.mark.slow
def test_fewer_samples_than_an_audit_takes_are_refused(refused, sampled):
    assert TOO_FEW in refused("check", sampled, "--samples", "500")


@pytest.mark.slow
def test_a_plan_with_fewer_samples_than_an_audit_takes_is_refused(refused, sampled, folder):
    (folder / "noisy.toml").write_text(
        f'schema = "dpaudit.plan/1"\nprotocol = "{sampled}"\n\n[[audit]]\ntarget = "noisy"\n'
        'claim = "noisy.privacy"\nset = {}\nexpect = "consistent"\nreason = "It is."\nsamples = 500\n',
        encoding="utf-8",
    )
    assert f"noisy.toml: {TOO_FEW}" in refused("check", "noisy.toml")


@pytest.mark.slow
def test_what_is_decided_exactly_takes_any_number_of_samples(dpaudit, refused, sampled):
    known = ("check", sampled, "--set", "law_known=true", "--samples", "500")
    assert dpaudit(*known).status == 0
    assert TOO_FEW in refused(*known, "--method", "black-box")
    assert TOO_FEW in refused(*known, "--features", "float-bits")


def test_python_refuses_fewer_samples_than_an_audit_takes():
    names = {"__name__": "noisy"}
    exec(SAMPLED, names)
    with pytest.raises(package.ParameterError, match=re.escape(TOO_FEW)):
        package.check(names["Noisy"](), samples=500)
    assert package.check(names["Noisy"](law_known=True), samples=500).results[0].verdict == "proved"


@pytest.mark.slow
def test_a_sweep_that_is_refused_lists_no_constructors(refused, dpaudit, sampled, monkeypatch):
    covered = sweeps.Covered(constructor="make_noisy", targets=(sampled,))
    found = sweeps.Sweep(targets=(sampled,), version="0", constructors=(covered,))
    monkeypatch.setattr(sweeps, "sweep_of", lambda library: found)
    assert TOO_FEW in refused("sweep", "opendp", "--samples", "500")
    assert "1 of 1 public constructors covered" in dpaudit("sweep", "opendp", "--samples", "1000").out


@pytest.mark.slow
def test_two_mechanisms_of_one_name_in_a_file_are_refused(folder, dpaudit):
    """Results are known by names: one of the two would not have been audited, in silence."""
    text = """
import dpaudit

def made(p):
    class Coin(dpaudit.Mechanism):
        def sample(self, data, size, rng):
            return rng.random(size) < (p if data else 1 - p)
        def neighbours(self):
            return dpaudit.Neighbouring(relation="substitution", pairs=[(0, 1)], complete=True, scope="all")
        def claims(self):
            return [dpaudit.PrivacyClaim(id="c", statement="It is private.", epsilon=0.5)]
    return Coin

Good, Bad = made(0.6), made(0.99)
"""
    (folder / "coins.py").write_text(text, encoding="utf-8")
    for targets in (["coins.py"], ["coins.py::Good", "coins.py::Bad"]):
        outcome = dpaudit("check", *targets)
        assert outcome.status == 2
        assert "coins.py::Good and coins.py::Bad are two targets named 'coin'" in outcome.err
    assert dpaudit("check", "coins.py::Bad", "--samples", "2000").status == 1
    (folder / "coins.py").write_text(
        text.replace("Bad = made(0.6), made(0.99)", "Same = (made(0.6),) * 2"), encoding="utf-8"
    )
    assert dpaudit("check", "coins.py", "--samples", "2000").status == 0


NOISY = """
import dpaudit

class A(dpaudit.Mechanism):
    epsilon: float = 0.5
    def sample(self, data, size, rng):
        return data + rng.laplace(scale=1 / self.epsilon, size=size)
    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="one bit")
    def claims(self):
        name = "small" if self.epsilon < 1 else "large"
        made = dpaudit.PrivacyClaim(id=f"a.{name}", statement="It is private.", epsilon=self.epsilon)
        return [made] if self.epsilon < 3 else []

class Misspelt(dpaudit.Mechanism):
    def sample(self, data, size, rng):
        return rng.laplace(size=size)
    def claim(self):
        return []

class WithoutClaims(A):
    def claims(self):
        return []
"""


@pytest.mark.slow
def test_what_makes_no_claim_is_refused_or_named(folder, dpaudit):
    (folder / "noisy.py").write_text(NOISY, encoding="utf-8")
    few = ("--samples", "2000")
    outcome = dpaudit("check", "noisy.py", *few)
    assert outcome.status == 0
    for name in ("Misspelt", "WithoutClaims"):
        assert f"noisy.py::{name} makes no claim, and was not audited" in outcome.err
        refused = dpaudit("check", "noisy.py::A", f"noisy.py::{name}", *few)
        assert refused.status == 2
        assert f"nothing to check of noisy.py::{name}: it makes no claim" in refused.err
    assert "makes no claim" not in dpaudit("check", "noisy.py::A", *few).err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["epsilon=0.5,5"], "a makes no claim at epsilon=5; leave these values out"),
        (["epsilon=0.5,2", "--claim", "a.small"], "a makes no claim 'a.small' at epsilon=2; leave these values out"),
        (["epsilon=5", "--claim", "a.small"], "a makes no claim at epsilon=5"),
    ],
)
def test_values_at_which_there_is_no_claim_are_refused(folder, dpaudit, options, words):
    (folder / "noisy.py").write_text(NOISY, encoding="utf-8")
    outcome = dpaudit("check", "noisy.py::A", "--samples", "2000", "--set", *options)
    assert outcome.status == 2
    assert words in outcome.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--inputs", "[0, 1]", "--claim-epsilon", "1", "--set", "epsilon=2"],
            ["--claim-epsilon 1", "both give epsilon"],
        ),
        (["--inputs", "[0, 1]", "--claim-mu", "1", "--set", "mu=1,2"], ["--claim-mu 1", "both give mu"]),
        (["--inputs", "[0, 1]", "--pairs", "[[0, 1]]", "--claim-epsilon", "1"], ["--inputs and --pairs both"]),
        (["--claim-epsilon", "1"], ["--inputs '[x, y]'", "--pairs"]),
    ],
)
def test_a_program_about_which_something_is_said_twice_or_not_at_all(refused, options, words):
    """A claim of 1 beside `--set epsilon=2` was audited as a claim of 2."""
    message = refused("check", "--command", "./sampler {epsilon}", *options)
    for word in words:
        assert word in message


def test_an_empty_command_names_no_program(refused):
    assert "names no program" in refused("check", "--command", " ", "--inputs", "[0, 1]", "--claim-epsilon", "1")
