"""Runs of more cells than are held in memory: the same records, reports and shards."""

from pathlib import Path

import pytest

from dpaudit.claims import kept as results_kept
from dpaudit.claims.kept import ResultFile
from dpaudit.claims.record import read_record
from dpaudit.cli import main
from dpaudit.reporting import overview
from dpaudit.runner import Request
from dpaudit.runner.check import run_request

TARGET = '''\
import dpaudit


class Noisy(dpaudit.Mechanism):
    """A number with Laplace noise."""

    epsilon: float = 1.0
    place: int = 0

    def sample(self, data, size, rng):
        return data + rng.laplace(scale=1 / self.epsilon, size=size)

    def claims(self):
        return [
            dpaudit.UtilityClaim(
                id="noisy.error",
                statement="The mean error is at most ten.",
                bound=10.0,
                exact=lambda: 1 / self.epsilon,
                support=(0.0, 1e9),
                trivial=1e6,
            )
        ]
'''
GRID = {"epsilon": [0.05, 0.5], "place": list(range(12))}


@pytest.fixture
def noisy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("noisy.py").write_text(TARGET, encoding="utf-8")
    return monkeypatch


def run(folder, **changes):
    done = run_request(Request(targets=["noisy.py"], set=GRID, **changes), output=Path(folder), apart=False)
    return done.record


def status_of(monkeypatch, *words):
    monkeypatch.setattr("sys.argv", ["dpaudit", *map(str, words)])
    try:
        return main()
    except SystemExit as left:
        return left.code


@pytest.mark.slow
def test_the_record_does_not_depend_on_where_results_are_kept(noisy):
    small = run("small")
    noisy.setattr(results_kept, "MOST_AT_ONCE", 5)
    large = run("large")
    assert isinstance(large.results, ResultFile)
    assert large.reproducible().to_json() == small.reproducible().to_json()
    # Taken from the store, they are the same again.
    assert run("small").reproducible().to_json() == small.reproducible().to_json()
    assert large.summary == {"proved": 12, "refuted": 12}
    assert large.status == small.status == 1


@pytest.mark.slow
def test_shards_of_a_large_run_are_joined_and_reported(noisy, capsys):
    noisy.setattr(overview, "PER_PAGE", 10)
    noisy.setattr("dpaudit.claims.record._STREAMED", 0)
    noisy.setattr(results_kept, "MOST_AT_ONCE", 5)
    whole = run("out")
    for number in (1, 2):
        part = run(f"part{number}", shard=(number, 2))
        assert isinstance(part.results, ResultFile)
        Path(f"part{number}", "record.json").write_text(part.to_json(), encoding="utf-8")
    assert status_of(noisy, "merge", "part2", "part1", "--output", "joined", "--quiet") == 1
    joined = read_record("joined/record.json")
    assert isinstance(joined.results, ResultFile)
    assert joined.reproducible().to_json() == whole.reproducible().to_json()
    assert "Needs attention: 12 of 24" in capsys.readouterr().out
    assert sorted(path.name for path in Path("joined").glob("*.html")) == [
        "index.html",
        *(f"results-00{number}.html" for number in (1, 2, 3)),
    ]
    assert status_of(noisy, "report", "joined", "--format", "json") == 0
    assert capsys.readouterr().out == Path("joined/record.json").read_text(encoding="utf-8")


@pytest.mark.slow
def test_few_of_many_errors_are_told_one_by_one(noisy, capsys):
    noisy.setattr("dpaudit.cli.check._MOST_ERRORS", 2)
    Path("noisy.py").write_text(
        TARGET.replace("exact=lambda: 1 / self.epsilon", "exact=lambda: {}[3]"), encoding="utf-8"
    )
    places = ",".join(map(str, range(5)))
    assert status_of(noisy, "check", "noisy.py", "--set", f"place={places}", "--quiet", "--workers", "1") == 4
    told = capsys.readouterr().err
    assert told.count("noisy, noisy.error: ") == 2
    assert "3 more results are errors; the record has the reason of each" in told
