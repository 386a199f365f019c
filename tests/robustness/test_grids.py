"""A grid is counted before it is built."""

import sys

import pytest

import dpaudit
from dpaudit.cli import main
from dpaudit.runner import MOST_CELLS, Request

TARGET = '''\
import dpaudit


class Count(dpaudit.Mechanism):
    """A bit with Laplace noise; its making is counted."""

    epsilon: float = 1.0
    users: int = 1
    rounds: int = 1

    def validate(self):
        if self.rounds > 1:
            raise SystemExit("an instance was made")

    def sample(self, data, size, rng):
        return data + rng.laplace(scale=1 / self.epsilon, size=size)

    def law(self, data):
        return dpaudit.LaplaceLaw(float(data), 1 / self.epsilon)

    def neighbours(self):
        return dpaudit.Neighbouring(relation="substitution", pairs=[(0, 1)], complete=True, scope="two bits")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="count.privacy", statement="It is private.", epsilon=self.epsilon)]
'''
PLAN = """\
schema = "dpaudit.plan/1"
protocol = "count.py"

[[audit]]
target = "count"
claim = "count.privacy"
set = {{ users = {users}, rounds = {rounds} }}
expect = "proved"
reason = "the scale is 1/epsilon"
"""
MANY = ",".join(map(str, range(1, 1001)))


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """The command line in this process: status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "count.py").write_text(TARGET, encoding="utf-8")

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["dpaudit", *words])
        with pytest.raises(SystemExit) as left:
            main()
        streams = capsys.readouterr()
        return left.value.code, streams.out, streams.err

    return run


def grid(*names):
    return [word for name in names for word in ("--set", f"{name}={MANY}")]


def test_values_on_the_command_line(call):
    status, out, err = call("check", "count.py", *grid("epsilon", "users", "rounds"))
    assert (status, out) == (2, "")
    assert err.startswith("dpaudit: this asks for 1,000,000,000 cells")
    assert f"the limit is {MOST_CELLS:,}" in err
    assert "allow them with --max-cells 1000000000" in err
    assert err.count("\n") == 1


@pytest.mark.slow
def test_a_plan(call, tmp_path):
    numbers = list(range(1, 1001))
    (tmp_path / "plan.toml").write_text(PLAN.format(users=numbers, rounds=numbers), encoding="utf-8")
    for extra in ((), ("--set", "users=1", "--set", "rounds=1")):
        status, _, err = call("check", "plan.toml", *extra)
        assert status == 2
        assert "1,000,000 cells" in err


@pytest.mark.slow
def test_declared_claims_each_count(call):
    words = (
        "check",
        "shuffled-response",
        *grid("users"),
        "--set",
        "delta=" + ",".join(f"{i}e-9" for i in range(1, 40)),
    )
    status, _, err = call(*words)
    assert status == 2
    asked = int(err.split("--max-cells ")[1])
    assert asked % 39_000 == 0
    assert asked > 39_000


@pytest.mark.slow
def test_figures_are_counted_too(call):
    status, _, err = call("reproduce", "yan2020 figure 5", *grid("epsilon", "alternatives", "agents"))
    assert status == 2
    assert "--max-cells" in err


@pytest.mark.slow
def test_more_are_allowed_and_fewer_are_refused(call, tmp_path):
    words = ("check", "count.py", "--workers", "1", "--set", "users=1,2,3", "--set", "epsilon=1,2")
    assert "this asks for 6 cells" in call(*words, "--max-cells", "5")[2]
    assert call(*words, "--max-cells", "6")[0] == 0
    assert "max-cells must be at least 1" in call(*words, "--max-cells", "0")[2]
    with pytest.raises(dpaudit.ParameterError, match="--max-cells 6"):
        dpaudit.check("count.py", set={"users": [1, 2, 3], "epsilon": [1.0, 2.0]}, max_cells=5)


def test_the_command_of_a_record_allows_as_many():
    request = Request(targets=["count.py"], max_cells=30_000)
    assert "--max-cells 30000" in request.command
    assert Request.from_command(request.command).max_cells == 30_000
    assert "--max-cells" not in Request(targets=["count.py"]).command


@pytest.mark.slow
def test_the_help_says_the_limit(call):
    for command in ("check", "reproduce"):
        assert str(MOST_CELLS) in call(command, "--help")[1]
