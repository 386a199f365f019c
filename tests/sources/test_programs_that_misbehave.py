"""Programs that break the protocol get one clear line with what was written where; nothing hangs."""

import os
import sys
import time

import numpy as np
import pytest

import dpaudit
from dpaudit.testing import assert_private


def draw(mechanism, size=8, data=0, seed=1):
    return mechanism.sample(data, size, np.random.default_rng(seed))


FLIP = "say(*[int(data) ^ (rng.random() < 0.25) for _ in range(size)])"
LATE = f"""
hello()
for number, (data, size, rng) in enumerate(requests()):
    if size == 8:
        {{}}
    {FLIP}
"""
"""Sound while it is held to the protocol, with answers of other sizes than 8."""

BROKEN = [
    # What it says first.
    ("say('Welcome to sampler 3.1')\nhello()", dpaudit.CheckError, ["'Welcome to sampler 3.1' in line 1", "stderr"]),
    ("say('[1, 2]')", dpaudit.CheckError, ["'[1, 2]' in line 1", "does not tell what it is"]),
    ("hello(protocol='dpaudit.sampler/9')", dpaudit.CheckError, ["'dpaudit.sampler/9' (line 1)"]),
    ("hello(format='xml')", dpaudit.CheckError, ["'format' must be one of jsonl, csv, npy, raw, arrow"]),
    ("hello(seded=False)", dpaudit.CheckError, ["unknown key 'seded' (did you mean 'seeded'?)"]),
    ("hello(seeded='no')", dpaudit.CheckError, ["'seeded' must be true or false"]),
    ("hello(format='raw')", dpaudit.CheckError, ["'dtype' must be a type of number"]),
    ("hello(format='raw', dtype='O')", dpaudit.CheckError, ["'dtype' must be a type of number"]),
    ("hello(format='raw', dtype='<i8', shape=[0])", dpaudit.CheckError, ["'shape' must be"]),
    ("hello(format='npy', dtype='<i8')", dpaudit.CheckError, ["leave 'dtype' out"]),
    ("hello(dtype='int32')", dpaudit.CheckError, ["'int64', 'float64' or 'text'"]),
    ("out.write('x' * 100_000); out.flush(); sys.stdin.read()", dpaudit.CheckError, ["line without an end", "'xxx"]),
    ("pass", dpaudit.CheckError, ["ended before its first line", "until standard input ends"]),
    ("sys.exit('no licence')", dpaudit.TargetRaisedError, ["exit status 1 before its first line", "no licence"]),
    # What it answers.
    ("hello()\nfor _ in requests(): break", dpaudit.CheckError, ["ended in its answer to request 1", "line 1 of 2"]),
    (f"hello()\ndata, size, rng = next(requests())\n{FLIP}", dpaudit.CheckError, ["one request after another"]),
    ("hello()\nfor _ in requests(): 1 / 0", dpaudit.TargetRaisedError, ["exit status 1", "ZeroDivisionError"]),
    ("hello()\nfor _ in requests(): os.abort()", dpaudit.TargetRaisedError, ["signal SIGABRT", "answer to request 1"]),
    (
        "hello()\nfor _, n, _ in requests(): say(*['0'] * (n + 1))",
        dpaudit.CheckError,
        ["more than it was asked", "'0'"],
    ),
    ("hello()\nfor _, n, _ in requests(): say(*['0'] * n, '')", dpaudit.CheckError, ["more than it was asked"]),
    (
        LATE.format("say(1, 2, 'three', *range(5)); continue"),
        dpaudit.CheckError,
        ["'three' in line 3 of its answer to request 1"],
    ),
    (LATE.format("say(*range(size), 'x'); continue"), dpaudit.CheckError, ["more than it was asked for", "'x'"]),
    (LATE.format("say(*['1,2'] + ['1'] * (size - 1)); continue"), dpaudit.CheckError, ["'1,2' in line 1"]),
    (LATE.format("say(*['[1', '2]', '1, 2'] + ['1'] * 5); continue"), dpaudit.CheckError, ["'[1' in line 1"]),
    (LATE.format("say(1, '', *range(6)); continue"), dpaudit.CheckError, ["'' in line 2"]),
    (LATE.format("say(1, '9' * 5000, *range(6)); continue"), dpaudit.CheckError, ["in line 2", "more digits"]),
    (
        LATE.format("out.buffer.write(b'1\\n\\xff\\n' + b'1\\n' * 6); out.flush(); continue"),
        dpaudit.CheckError,
        ["line 2"],
    ),
    (LATE.format("say(1, 2); os._exit(3)"), dpaudit.TargetRaisedError, ["exit status 3", "line 3 of 8"]),
    # How it draws and ends.
    (f"hello()\nfor data, size, _ in requests():\n rng = random\n {FLIP}", dpaudit.CheckError, ["same seed", "seeded"]),
    (
        f"hello()\nfor data, size, _ in requests():\n rng = random.Random(1)\n {FLIP}",
        dpaudit.CheckError,
        ["5 different"],
    ),
    (
        "hello()\nfor line in sys.stdin:\n asked = json.loads(line); data, size = asked['input'], asked['size']\n"
        f" rng = random.Random(min(asked['seed'], 2**31 - 1))\n {FLIP}",
        dpaudit.CheckError,
        ["5 different seeds near 2^53", "modulo 2^31 - 1"],
    ),
    (
        f"hello()\nfor data, size, rng in requests(): {FLIP}\nsys.exit(7)",
        dpaudit.TargetRaisedError,
        ["exit status 7", "input had ended"],
    ),
    (f"hello()\nfor data, size, rng in requests(): {FLIP}\nsay('bye')", dpaudit.CheckError, ["more than", "'bye'"]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("body", "error", "words"), BROKEN)
def test_a_broken_program_is_told_what_and_where(command, body, error, words):
    mechanism = command(body)
    with pytest.raises(dpaudit.DpauditError) as caught:
        draw(mechanism)
    message = str(caught.value)
    assert type(caught.value) is error, message
    assert message.startswith("thing: the program ")
    assert "\n" not in message
    for word in words:
        assert word.replace("stderr", "standard error") in message


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["no-such-program-anywhere"], "no such program on the PATH"),
        (["./nothing"], "no such file in"),
        (["."], "no such program"),
        (["./"], "it is not a file"),
        (["./plain"], "the file is not executable"),
        (["./broken"], "cannot be started"),
    ],
)
def test_a_program_that_cannot_run(tmp_path, words, text):
    (tmp_path / "plain").write_text("")
    (tmp_path / "broken").write_text("neither a script nor a program")
    (tmp_path / "broken").chmod(0o755)
    mechanism = dpaudit.CommandMechanism(
        command=words, parameters={"epsilon": 1.0}, pairs=[(0, 1)], folder=str(tmp_path)
    )
    with pytest.raises(dpaudit.TargetError, match=text):
        draw(mechanism)


HANGS = [
    ("time.sleep(600)", ["nothing for 0.5 seconds before its first line", 'begin with the line {"protocol": ']),
    (
        "hello()\nnext(requests())\ntime.sleep(600)",
        ["nothing for 0.5 seconds in its answer to request 1", "line 1 of 2"],
    ),
    # One output too few: it waits for the next request, and we for the last line.
    ("hello()\nfor _, n, _ in requests(): say(*['0'] * (n - 1))", ["line 2 of 2, after '0'", "exactly `size` outputs"]),
    (f"hello()\nfor data, size, rng in requests(): {FLIP}\ntime.sleep(600)", ["does not end when", "input ends"]),
    # Without a flush the answers stay in its buffer until it ends.
    ("hello()\nfor _, n, _ in requests(): out.write('0\\n' * n)", ["answered when its input was closed", "flush"]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("body", "words"), HANGS)
def test_a_program_that_hangs_is_ended(command, body, words):
    began = time.monotonic()
    with pytest.raises(dpaudit.DpauditError) as caught:
        draw(command(body, timeout=0.5))
    assert time.monotonic() - began < 15
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.slow
def test_a_program_that_trickles_is_no_offence(command):
    slow = "hello()\nfor data, size, rng in requests():\n for _ in range(size): say(rng.random()); time.sleep(0.05)"
    assert len(draw(command(slow, timeout=1.5), size=40)) == 40


@pytest.mark.slow
def test_full_pipes_do_not_wait_for_each_other(command):
    """Megabytes on standard error, and a request larger than a pipe while the answer is already coming."""
    noisy = """
hello()
for data, size, rng in requests():
    sys.stderr.write("x" * 300_000)
    say(*[rng.random() + len(data) for _ in range(size)])
"""
    large = "y" * 3_000_000
    mechanism = command(noisy, pairs=[(large, "y")])
    assert min(draw(mechanism, size=50_000, data=large)) >= 3_000_000
    early = """
hello()
while True:
    first = sys.stdin.read(40)
    if not first: break
    sys.stderr.write("e" * 200_000)
    rest = sys.stdin.readline()
    asked = json.loads(first + rest)
    say(*[random.Random(asked["seed"] + i).random() for i in range(asked["size"])])
"""
    assert len(draw(command(early, pairs=[(large, "y")], name="early"), size=70_000, data=large)) == 70_000


@pytest.mark.slow
def test_a_program_that_died_is_not_started_again(command, tmp_path):
    body = f"""
hello()
open({str(tmp_path / "starts")!r}, "a").write("x")
for data, size, rng in requests():
    {FLIP}
    if size == 9: sys.stderr.write("out of licences\\n"); os._exit(5)
"""
    mechanism = command(body)
    assert len(draw(mechanism, 8)) == 8
    assert len(draw(mechanism, 9)) == 9
    time.sleep(0.3)
    for _ in range(2):
        with pytest.raises(dpaudit.TargetRaisedError) as caught:
            draw(mechanism, 8)
        for word in (
            "exit status 5 after its answer to request 2",
            "out of licences",
            "17 outputs before",
            '"size": 8',
        ):
            assert word in str(caught.value)
    assert (tmp_path / "starts").read_text() == "xx"  # the conversation that holds it to the protocol, and this one


@pytest.mark.slow
def test_nothing_is_left_running(command, tmp_path, is_running):
    """A program that hangs, and what it started, end with the mechanism."""
    file = tmp_path / "pids"
    body = f"""
import subprocess
child = subprocess.Popen(["sleep", "600"])
open({str(file)!r}, "a").write(f"{{os.getpid()}} {{child.pid}}\\n")
hello()
for data, size, rng in requests():
    {FLIP}
"""
    mechanism = command(body)
    draw(mechanism)
    pids = [int(each) for each in file.read_text().split()]
    assert len(pids) == 4
    mechanism.__dict__.pop("_held")
    deadline = time.monotonic() + 10
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, pids))


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="commands need pipes that can be waited for")


@pytest.mark.slow
def test_randomness_of_its_own_is_declared(command):
    body = "hello(seeded=False)\nfor data, size, _ in requests():\n rng = random\n " + FLIP
    mechanism = command(body)
    assert mechanism.own_randomness
    assert assert_private(mechanism, epsilon=1.2, samples=2000).verdict == "consistent"
    with pytest.raises(AssertionError, match="randomness that no seed fixes"):
        assert_private(mechanism, epsilon=0.5, samples=20_000)


def test_an_interrupt_ends_the_program(command, monkeypatch):
    from dpaudit.sources.programs import Program

    body = "hello()\nfor data, size, rng in requests():\n if size == 8: time.sleep(600)\n " + FLIP
    mechanism = command(body)
    draw(mechanism, 3)
    process = mechanism._held._program._process
    step = Program._step

    def interrupted(self, wait, room=None):
        if wait > 0.1:
            raise KeyboardInterrupt
        return step(self, wait, room)

    monkeypatch.setattr(Program, "_step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        draw(mechanism, 8)
    assert process.returncode is not None
    assert not os.path.exists(f"/proc/{process.pid}")
