"""What a target does to its process changes nothing but its own result: no gate is passed by accident."""

import json
import socket
import subprocess
import sys

import pytest

from dpaudit.cli import main

TARGET = '''\
"""A bit with Laplace noise; `deed` says what it does to its process, and `where`."""

import ctypes, os, signal, subprocess, sys, time

import dpaudit


class _Odd(BaseException):
    """No Exception."""


def _raise(error):
    raise error


def _junk():
    for number in range(3, 64):
        try:
            os.write(number, b"junk" * 100)
        except OSError:
            pass


def _close_one():
    try:
        os.close(1)
    except OSError:
        pass


def _fork():
    """Go on twice."""
    os.fork()


ARMED, DONE = [], []


def _arm():
    """Let the next cell that is audited in this process end it."""
    ARMED.append(True)


DEEDS = {
    "nothing": lambda: None,
    "leave": lambda: os._exit(0),
    "crash": lambda: ctypes.string_at(0),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "terminate": lambda: os.kill(os.getpid(), signal.SIGTERM),
    "alarm": lambda: (signal.alarm(1), time.sleep(60)),
    "exit": lambda: sys.exit(0),
    "odd": lambda: _raise(_Odd("odd")),
    "generator": lambda: _raise(GeneratorExit("generator")),
    "interrupt": lambda: _raise(KeyboardInterrupt("by the target")),
    "close": lambda: (sys.stdout.close(), sys.stderr.close()),
    "close-one": _close_one,
    "close-all": lambda: os.closerange(0, 256),
    "replace": lambda: (setattr(sys, "stdout", None), setattr(sys, "stderr", 5)),
    "folder": lambda: os.chdir("/"),
    "fork": _fork,
    "handlers": lambda: [signal.signal(each, signal.SIG_IGN) for each in (signal.SIGINT, signal.SIGTERM)],
    "recursion": lambda: sys.setrecursionlimit(300),
    "junk": _junk,
    "write": lambda: os.write(1, b"written to 1"),
    "print": lambda: (print("printed"), sys.__stdout__.write("written"), sys.__stdout__.flush()),
    "program": lambda: subprocess.run(["echo", "printed by a program"], check=True),
    "arm": _arm,
}


class Bit(dpaudit.Mechanism):
    """A bit with noise."""

    number: int = 0
    deed: str = "nothing"
    where: str = "sample"

    def do(self, where):
        if self.number and ARMED:
            os._exit(0)
        if where == self.where and not self.number and (self.deed not in DONE or self.deed == "fork"):
            DONE.append(self.deed)
            DEEDS[self.deed]()

    def sample(self, data, size, rng):
        self.do("sample")
        return data + rng.laplace(size=size)

    def neighbours(self):
        self.do("neighbours")
        return dpaudit.Neighbouring(relation="own", pairs=[(0, 1)], complete=True, scope="the bits")

    def claims(self):
        self.do("claims")
        return [dpaudit.PrivacyClaim(id="bit.privacy", statement="It is private.", epsilon=2.0)]
'''

CACHED = '''\
"""Noise whose scale is kept for all budgets alike."""

import dpaudit

SCALE = {}


class Cached(dpaudit.Mechanism):
    """A bit with noise for the budget that came first."""

    epsilon: float = 1.0

    def sample(self, data, size, rng):
        scale = SCALE.setdefault("scale", {1.0: 1.0, 2.0: 0.2}[self.epsilon])
        return data + rng.laplace(scale=scale, size=size)

    def neighbours(self):
        return dpaudit.Neighbouring(relation="own", pairs=[(0, 1)], complete=True, scope="the bits")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="cached.privacy", statement="It is private.", epsilon=self.epsilon)]
'''

ENDS = {"leave": "exit status 0", "crash": "SIGSEGV", "kill": "SIGKILL", "terminate": "SIGTERM", "alarm": "SIGALRM"}
RAISES = {"exit": "SystemExit", "odd": "_Odd", "generator": "GeneratorExit", "interrupt": "KeyboardInterrupt"}
LOSES = {"close-all": "", "junk": ""}
# What closes standard output comes last: while cells are chosen, one process does all of it.
HARMLESS = ["folder", "fork", "handlers", "recursion", "write", "print", "program", "close", "replace", "close-one"]


@pytest.fixture
def bit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bit.py").write_text(TARGET, encoding="utf-8")
    return "bit.py"


def run(*words, timeout=120):
    command = [sys.executable, "-m", "dpaudit", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)


@pytest.fixture
def called(monkeypatch, capfd):
    """The command line in this process: a target is loaded, and does what it does, in others."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["dpaudit", *words])
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        return int(left.value.code or 0), *capfd.readouterr()

    return call


def audited(*words, numbers="0,1", workers=1):
    """Status, results by number and deed, and the text of an audit; a deed is done where the number is 0."""
    done = run(
        "check", "bit.py", "--set", f"number={numbers}", *words, "--samples", "4000", "--format", "json", "--workers",
        str(workers), "--quiet",
    )  # fmt: skip
    # Nothing but the record reaches standard output.
    results = json.loads(done.stdout)["results"]
    return done.returncode, {(each["parameters"]["number"], each["parameters"]["deed"]): each for each in results}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workers", "deeds"),
    [
        (2, {**ENDS, **RAISES, **LOSES}),
        (1, {key: {**ENDS, **RAISES, **LOSES}[key] for key in ("leave", "odd", "junk")}),
    ],
    ids=["2", "1"],
)
def test_a_target_that_ends_its_process_is_an_error_of_its_cell_alone(bit, workers, deeds):
    status, results = audited("--set", f"deed={','.join(deeds)}", workers=workers)
    assert status == 4
    for (number, deed), result in results.items():
        assert result["verdict"] == ("consistent" if number else "error"), deed
        assert number or deeds[deed] in result["note"], deed
    assert len(results) == 2 * len(deeds)


@pytest.mark.slow
def test_one_cell_that_ends_its_process_passes_no_gate(bit):
    status, results = audited("--set", "deed=leave", numbers="0")
    assert status == 4
    assert [result["verdict"] for result in results.values()] == ["error"]


@pytest.mark.slow
@pytest.mark.parametrize("where", ["sample", "neighbours", "claims"])
def test_what_a_target_does_to_its_process_is_undone(bit, where):
    status, results = audited("--set", f"deed={','.join(HARMLESS)}", "--set", f"where={where}")
    assert {key: result["verdict"] for key, result in results.items() if result["verdict"] != "consistent"} == {}
    assert status == 0


@pytest.mark.slow
def test_a_cell_does_not_see_what_another_did(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cached.py").write_text(CACHED, encoding="utf-8")
    for numbers in ("1,2", "2,1"):
        done = run("check", "cached.py", "--set", f"epsilon={numbers}", "--workers", "1", "--format", "json", "--quiet")
        verdicts = {each["parameters"]["epsilon"]: each["verdict"] for each in json.loads(done.stdout)["results"]}
        assert verdicts == {1.0: "consistent", 2.0: "refuted"}


@pytest.mark.slow
def test_a_fork_server_that_is_ended_costs_no_other_result(bit, monkeypatch):
    from dpaudit.runner import Request
    from dpaudit.runner.check import run_request
    from dpaudit.runner.processes import starting

    ended = []

    def end(cell, result):
        if not ended and starting.CAN_COPY:
            ended.extend(each for each in list(starting._CONTROLS) if each.control.fileno() >= 0)
            for each in ended:
                # As if the process at the other end had gone.
                each.control.shutdown(socket.SHUT_RDWR)

    request = Request(targets=[bit], set={"number": [1, 2, 3, 4]}, samples=2000)
    record = run_request(request, begin=lambda prepared: end).record
    assert [result.verdict for result in record.results].count("consistent") >= 3
    assert {result.verdict for result in record.results} <= {"consistent", "error"}


@pytest.mark.slow
def test_a_relative_place_of_modules_means_the_same_in_workers(bit, tmp_path, monkeypatch):
    import dpaudit

    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "noise_of_mine.py").write_text("SCALE = 1.0", encoding="utf-8")
    text = (tmp_path / bit).read_text(encoding="utf-8")
    (tmp_path / bit).write_text(f"{text}\nimport noise_of_mine\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", ["beside", *sys.path])
    assert dpaudit.check(bit, samples=2000).summary == {"consistent": 1}


@pytest.mark.slow
def test_what_cannot_leave_a_process_is_named(bit, tmp_path):
    text = (tmp_path / bit).read_text(encoding="utf-8")
    (tmp_path / bit).write_text(text.replace('statement="It is private."', "statement=DEEDS"), encoding="utf-8")
    done = run("check", bit, "--samples", "2000")
    assert done.returncode in (2, 4)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_what_a_target_left_behind_is_not_the_next_cell_s_error(bit):
    # The next cell's process is ended by the one before it: that cell is audited again.
    status, results = audited("--set", "deed=arm", numbers="0,1,2,3")
    assert status == 0
    assert {result["verdict"] for result in results.values()} == {"consistent"}


@pytest.mark.slow
@pytest.mark.parametrize("deed", [*ENDS, "interrupt", "close-all"])
def test_a_target_that_ends_its_process_while_cells_are_chosen_is_an_error(bit, called, deed):
    status, out, err = called("check", "bit.py", "--set", f"deed={deed}", "--set", "where=claims", "--quiet")
    assert status == 4
    assert out == ""
    assert err.startswith("dpaudit: ")


@pytest.mark.slow
@pytest.mark.parametrize("statement", ["os._exit(0)", "ctypes.string_at(0)", "raise KeyboardInterrupt"])
@pytest.mark.parametrize("command", [["check"], ["show"]])
def test_a_file_that_ends_the_process_when_it_is_imported(bit, called, tmp_path, statement, command):
    (tmp_path / "ends.py").write_text(f"import ctypes, os\n{statement}\n", encoding="utf-8")
    status, out, err = called(*command, "ends.py")
    assert (status, out) == (4, "")
    assert err.count("\n") == 1 or "Fatal" in err


@pytest.mark.slow
@pytest.mark.parametrize("error", ["GeneratorExit", "SystemExit(0)", "BaseException('x')"])
def test_a_file_that_raises_no_exception_when_it_is_imported(bit, called, tmp_path, error):
    (tmp_path / "raises.py").write_text(f"raise {error}\n", encoding="utf-8")
    status, out, err = called("check", "raises.py")
    assert (status, out) == (2, "")
    assert "raises.py, line 1: the file raised" in err
    assert err.count("\n") == 1


@pytest.mark.slow
def test_workers_that_are_new_interpreters_do_the_same(bit, monkeypatch):
    from dpaudit.runner import Request
    from dpaudit.runner.check import run_request
    from dpaudit.runner.processes import starting

    monkeypatch.setattr(starting, "CAN_COPY", False)
    request = Request(targets=[bit], set={"number": [0, 1], "deed": ["leave", "nothing"]}, samples=4000)
    record = run_request(request, workers=2).record
    assert sorted(result.verdict for result in record.results) == ["consistent"] * 3 + ["error"]
