"""Parts of a run on several machines, and their records joined."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

import dpaudit
from dpaudit.claims.record import read_record, summarise
from dpaudit.cli import main
from dpaudit.runner import Request, build_cells
from dpaudit.runner.check import run_request
from dpaudit.runner.request import shard_of
from dpaudit.runner.store import NAME


def status_of(monkeypatch, *words):
    monkeypatch.setattr("sys.argv", ["dpaudit", *map(str, words)])
    try:
        return main()
    except SystemExit as left:
        return left.code


BROKEN = {"broken": [False, True]}


def shards(of, folder=Path()):
    """Run the shards of the audit whose whole is kept in `out`; return their folders."""
    for number in range(1, of + 1):
        request = Request(targets=["mixed.py"], samples=3000, set=BROKEN, shard=(number, of))
        done = run_request(request, output=folder / f"part{number}", apart=False)
        (folder / f"part{number}" / "record.json").write_text(done.record.to_json(), encoding="utf-8")
    return [folder / f"part{number}" for number in range(1, of + 1)]


def test_every_cell_is_in_one_shard_and_the_sizes_differ_by_one_at_most(mixed):
    values = {"epsilon": [0.5, 1.0, 2.0], **BROKEN}
    request = Request(targets=[mixed], set=values)
    every = build_cells(request)
    parts = [build_cells(Request(targets=request.targets, set=values, shard=(i, 4))) for i in (1, 2, 3, 4)]
    names = [[repr(cell) for cell in part] for part in parts]
    assert sorted(name for part in names for name in part) == sorted(map(repr, every))
    sizes = list(map(len, parts))
    assert len(every) == 30
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("of", [1, 3, 8])
def test_the_joined_record_is_that_of_the_whole_run(kept, of, monkeypatch, capsys):
    parts = shards(of)
    whole = run_request(Request(targets=["mixed.py"], samples=3000, set=BROKEN), output=Path("out")).record
    assert status_of(monkeypatch, "merge", *reversed(parts), "--output", "joined", "--quiet") == whole.status == 1
    joined = read_record("joined/record.json")
    assert joined.shard is None
    expected = whole.reproducible().to_json().replace("out/witnesses/", "joined/witnesses/")
    assert joined.reproducible().to_json() == expected
    files = [sorted(path.name for path in Path(folder, "witnesses").iterdir()) for folder in ("out", "joined")]
    assert files[0] == files[1] != []
    # The whole run finds everything in the joined store.
    assert run_request(Request(targets=["mixed.py"], samples=3000, set=BROKEN), output=Path("joined")).taken == len(
        whole.results
    )


@pytest.mark.slow
def test_a_join_that_is_not_of_one_whole_run_is_refused(kept, monkeypatch, capsys):
    parts = shards(2)
    Path("whole.json").write_text(kept[1].to_json(), encoding="utf-8")
    other = run_request(Request(targets=["mixed.py"], samples=3001, shard=(2, 2)), apart=False).record
    Path("other.json").write_text(other.to_json(), encoding="utf-8")
    cut = read_record(parts[1] / "record.json")
    cut = cut.__class__.from_json(cut.to_json().replace(f'"cells":{cut.shard.cells}', f'"cells":{cut.shard.cells + 1}'))
    Path("cut.json").write_text(cut.to_json(), encoding="utf-8")
    twice = read_record(parts[0] / "record.json")
    twice = replace(twice, results=(twice.results[1], *twice.results[1:]))
    Path("twice.json").write_text(replace(twice, summary=summarise(twice.results)).to_json(), encoding="utf-8")
    for words, told in {
        ("part1",): "missing: 2",
        ("twice.json", "part2"): "two results with the key",
        ("part1", "part1"): "given twice",
        ("part1", "part1/record.json", "part2"): "is in part1 too",
        ("part1", "other.json"): "its command is",
        ("part1", "cut.json"): "interrupted",
        ("whole.json",): "not the record of a shard",
    }.items():
        assert status_of(monkeypatch, "merge", *words) == 2
        error = capsys.readouterr().err
        assert told in error
        assert error.count("\n") == 1


def test_the_whole_is_not_written_over_a_shard(mixed, monkeypatch, capsys):
    Path("part1").mkdir()
    record = run_request(Request(targets=[mixed], claims=["mixed.lemma"], shard=(1, 1)), apart=False).record
    Path("part1/record.json").write_text(record.to_json(), encoding="utf-8")
    before = Path("part1/record.json").read_bytes()
    assert status_of(monkeypatch, "merge", "part1", "--output", "./part1") == 2
    assert "--output part1 is one of the shards, which it would replace" in capsys.readouterr().err
    assert Path("part1/record.json").read_bytes() == before


def test_shards_of_a_target_that_changed_between_them_are_refused(mixed, monkeypatch, capsys):
    for number, factor in ((1, "1.3"), (2, "1.1")):
        Path(mixed).write_text(Path(mixed).read_text(encoding="utf-8").replace("1.3", factor), encoding="utf-8")
        request = Request(targets=[mixed], claims=["mixed.exact"], set=BROKEN, shard=(number, 2))
        record = run_request(request, apart=False).record
        Path(f"{number}.json").write_text(record.to_json(), encoding="utf-8")
    assert status_of(monkeypatch, "merge", "1.json", "2.json") == 2
    error = capsys.readouterr().err
    assert "2.json: the code or the data of" in error
    assert error.count("\n") == 1


@pytest.mark.slow
def test_a_shard_goes_on_where_it_was(kept):
    (first, _) = shards(2)
    request = Request(targets=["mixed.py"], samples=3000, set=BROKEN, shard=(1, 2))
    again = run_request(request, output=first)
    assert again.taken == len(again.prepared.cells)
    rows = sqlite3.connect(first / NAME).execute("select count(*) from results").fetchone()[0]
    assert rows == again.taken


def test_the_command_of_a_shard_names_it():
    request = Request(targets=["x.py"], shard=(2, 5))
    assert "--shard 2/5" in request.command
    assert Request.from_command(request.command).shard == (2, 5)


@pytest.mark.parametrize("text", ["", "2", "0/3", "4/3", "2/", "/3", "-1/3", "1.5/3", "²/3", "1/" + "9" * 5000])
def test_a_shard_that_is_none_is_refused(text):
    with pytest.raises(dpaudit.DpauditError, match="--shard"):
        shard_of(text)
