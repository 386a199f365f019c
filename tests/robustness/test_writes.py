"""What is written for a user is there whole, or as it was before: full disks, failing calls, modes, links."""

import errno
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from dpaudit import writing
from dpaudit.catalog import ROOT
from dpaudit.claims.record import read_record
from dpaudit.cli.output import copy_witnesses
from dpaudit.errors import OutputError
from dpaudit.reporting import write_report, write_reports
from dpaudit.runner.witnesses import write_witness
from dpaudit.writing import write_file

RECORD = ROOT / "reports" / "hay2017.json"
PAGES = ["index.html", "junit.xml", "record.json", "report.md"]
TARGET = '''\
import dpaudit


class Count(dpaudit.Mechanism):
    """A bit with too little Laplace noise."""

    epsilon: float = 1.0

    def sample(self, data, size, rng):
        return data + rng.laplace(scale=0.5 / self.epsilon, size=size)

    def neighbours(self):
        return dpaudit.Neighbouring(relation="substitution", pairs=[(0, 1)], complete=True, scope="two bits")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="count.privacy", statement="It is private.", epsilon=self.epsilon)]
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder):
    """Content of all files below a folder, temporary ones included."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def failing(monkeypatch, name, error, *, after=0):
    """Let a function of the system fail from its call number ``after`` on."""
    real, calls = getattr(os, name), []

    def call(*arguments, **options):
        calls.append(arguments)
        if len(calls) > after:
            raise error
        return real(*arguments, **options)

    monkeypatch.setattr(writing.os, name, call)


@pytest.mark.parametrize("call", ["open", "write", "fsync", "close", "chmod", "replace"])
@pytest.mark.parametrize(
    ("number", "mend"),
    [(errno.ENOSPC, "make room"), (errno.EROFS, "can be written"), (errno.EACCES, "can be written"), (errno.EIO, "")],
)
def test_whatever_fails_the_old_file_is_whole(folder, monkeypatch, call, number, mend):
    Path("record.json").write_text("old", encoding="utf-8")
    with monkeypatch.context() as patched:
        failing(patched, call, OSError(number, os.strerror(number)))
        with pytest.raises(OutputError) as error:
            write_file("record.json", "new")
    assert str(error.value).startswith(f"record.json: cannot be written ({os.strerror(number)})")
    assert mend in str(error.value)
    assert files(folder) == {"record.json": b"old"}


def test_an_interrupt_leaves_nothing_behind(folder, monkeypatch):
    Path("record.json").write_text("old", encoding="utf-8")
    for call in ("write", "fsync", "replace"):
        with monkeypatch.context() as patched:
            failing(patched, call, KeyboardInterrupt())
            with pytest.raises(KeyboardInterrupt):
                write_file("record.json", "new")
        assert files(folder) == {"record.json": b"old"}


def test_a_write_that_takes_a_part_is_gone_on_with(folder, monkeypatch):
    real = os.write
    monkeypatch.setattr(writing.os, "write", lambda descriptor, data: real(descriptor, data[:3]))
    write_file("a", "0123456789")
    assert files(folder) == {"a": b"0123456789"}


def test_it_has_reached_the_disk_before_it_takes_the_files_place(folder, monkeypatch):
    done = []
    for name in ("write", "fsync", "close", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(writing.os, name, lambda *a, real=real, name=name: (done.append(name), real(*a))[1])
    write_file("a", "text")
    assert done == ["write", "fsync", "close", "replace"]


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_the_mode_is_that_of_a_normal_write(folder, mask):
    old = os.umask(mask)
    try:
        Path("normal").write_text("x", encoding="utf-8")
        write_file("new", "x")
        Path("kept").write_text("x", encoding="utf-8")
        Path("kept").chmod(0o640)
        write_file("kept", "y")
    finally:
        os.umask(old)
    modes = {name: stat.S_IMODE(Path(name).stat().st_mode) for name in ("normal", "new", "kept")}
    assert modes["new"] == modes["normal"]
    assert modes["kept"] == 0o640


def test_a_link_is_followed(folder):
    Path("real").write_text("old", encoding="utf-8")
    Path("link").symlink_to("real")
    write_file("link", "new")
    assert Path("link").is_symlink()
    assert Path("real").read_text(encoding="utf-8") == "new"


def test_a_file_that_is_protected_is_left_alone(folder, monkeypatch):
    Path("a").write_text("old", encoding="utf-8")
    # For root, who may write everything, too.
    monkeypatch.setattr(writing.os, "access", lambda path, mode: False)
    with pytest.raises(OutputError, match="Permission denied"):
        write_file("a", "new")
    assert files(folder) == {"a": b"old"}


def test_what_is_no_regular_file_is_told(folder):
    Path("taken").mkdir()
    with pytest.raises(OutputError, match="Is a directory"):
        write_file("taken", "x")
    os.mkfifo("pipe")
    with pytest.raises(OutputError, match="not a regular file"):
        write_file("pipe", "x")
    with pytest.raises(OutputError, match="choose a shorter name"):
        write_file("a" * 300, "x")


@pytest.mark.slow
def test_everything_for_a_user_is_written_in_this_way(folder, monkeypatch):
    record = read_record(RECORD)
    writers = [
        lambda: write_report(record, "out"),
        lambda: write_reports({"hay2017": record}, "reports", html="html"),
        lambda: write_witness("{}", Path("out"), "w.json"),
    ]
    for write in writers:
        write()
    assert not [name for name in files(folder) if name.endswith(".tmp")]
    shutil.rmtree("out")
    shutil.rmtree("reports")
    failing(monkeypatch, "replace", OSError(errno.ENOSPC, "No space left on device"))
    for write in writers:
        with pytest.raises(OutputError, match="make room"):
            write()
    assert not [name for name in files(folder) if not name.startswith("html")]


def test_no_module_writes_a_file_by_itself():
    """Whoever writes for a user calls `write_file`."""
    ways = (".write_text(", ".write_bytes(", "copyfile(", "json.dump(", "savefig(")
    found = [
        (path.relative_to(ROOT).as_posix(), way)
        for folder in ("dpaudit", "protocols", "reports")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for way in ways
        if way in path.read_text(encoding="utf-8")
    ]
    assert not found


def test_witnesses_are_copied_in_this_way(folder, monkeypatch):
    record = read_record(RECORD)
    monkeypatch.setattr("dpaudit.reporting.wording.witness_link", lambda result: "witnesses/a.json")
    Path("old/witnesses").mkdir(parents=True)
    Path("old/witnesses/a.json").write_text("{}", encoding="utf-8")
    copy_witnesses(record, Path("old"), Path("new"))
    assert Path("new/witnesses/a.json").read_bytes() == b"{}"


def command(*words, limit=None):
    """Run the command line, where no file may grow beyond a limit."""

    def limited():
        import resource

        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-m", "dpaudit", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=environment,
        preexec_fn=limited,
    )


needs_limits = pytest.mark.skipif(sys.platform == "win32", reason="there are no limits of a process here")


@pytest.mark.slow
@needs_limits
def test_a_good_record_survives_where_files_may_not_grow(folder):
    write_report(read_record(RECORD), "out")
    before = files(folder)
    done = command("report", str(RECORD), "--output", "out", "--format", "json", limit=2000)
    assert done.returncode == 2
    assert "record.json: cannot be written (File too large)" in done.stderr
    assert done.stderr.count("\n") == 1
    assert files(folder) == before


@pytest.mark.slow
@needs_limits
def test_init_writes_both_files_or_none(folder):
    assert command("init", "my-count", limit=1500).returncode == 2
    assert files(folder) == {}
    assert command("init", "my-count").returncode == 0
    assert set(files(folder)) == {"my_count.py", "my_count.toml"}


@needs_limits
@pytest.mark.slow
def test_a_run_whose_results_cannot_be_kept_has_its_verdicts(folder):
    Path("count.py").write_text(TARGET, encoding="utf-8")
    words = ("check", "count.py", "--samples", "5000", "--workers", "1", "--format", "json", "--set", "epsilon=1,2,3")
    whole = command(*words, "--output", "whole")
    assert whole.returncode == 1
    # Enough for the store's empty tables.
    cramped = command(*words, "--output", "out", limit=40_000)
    assert cramped.returncode == 1, cramped.stderr
    assert "Traceback" not in cramped.stderr
    found = [json.loads(done.stdout)["summary"] for done in (whole, cramped)]
    assert found[0] == found[1] == {"refuted": 3}


def full(folder, script):
    """Run a script of the shell in a folder of its own file system of 256 KiB, as a user who may mount one."""
    unshare = shutil.which("unshare")
    mounted = f"mount -t tmpfs -o size=256k none {folder} && cd {folder}"
    if unshare is None or subprocess.run([unshare, "-rm", "sh", "-c", mounted], capture_output=True).returncode:
        pytest.skip("no file system of one's own can be mounted here")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "PYTHON": sys.executable}
    done = subprocess.run(
        [unshare, "-rm", "sh", "-c", f"{mounted} && {script}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=environment,
    )
    return done.stdout.splitlines(), done.stderr


FILL = "dd if=/dev/zero of=ballast bs=1k count=1000 2>/dev/null"


@pytest.mark.slow
def test_a_good_report_survives_a_full_disk(folder):
    small = "head -c 20000 /dev/zero > room"
    script = f"""
        {small} && "$PYTHON" -m dpaudit check ldp-kwiksort-rr --claim yan2020.theorem1-rr --quiet \
            --set epsilon=1 --set queries=1 --set alternatives=3 --output out --format json > /dev/null; echo "first $?"
        cp -r out /dev/shm/before.$$ ; rm -f out/results.sqlite* /dev/shm/before.$$/results.sqlite*; {FILL}; rm room
        "$PYTHON" -m dpaudit report out --output out > /dev/null; echo "again $?"
        diff -r out /dev/shm/before.$$ > /dev/null; echo "changed $?"; rm -r /dev/shm/before.$$
        ls -A out | tr '\\n' ' '
    """
    lines, errors = full(folder, script)
    assert lines[0] == "first 0", errors
    assert lines[1:3] == ["again 2", "changed 0"]
    assert lines[3].split() == PAGES
    assert "No space left on device" in errors
    assert "make room" in errors


@pytest.mark.slow
def test_a_disk_that_is_full_from_the_start_is_told_before_anything_is_computed(folder):
    lines, errors = full(folder, f'{FILL}; "$PYTHON" -m dpaudit check ldp-kwiksort-rr --output out; echo "$?"')
    assert lines == ["2"]
    assert "No space left on device" in errors
    assert errors.count("\n") == 1
