"""Files, names and folders that are not what they should be: one line, status 2, and an end."""

import os
import subprocess
import sys

import pytest

from dpaudit.cli import main

PLAN = """\
schema = "dpaudit.plan/1"
protocol = "count.py"

[[audit]]
target = "count"
claim = "count.privacy"
set = {{ epsilon = {value} }}
expect = "proved"
reason = "none"
{more}
"""
COUNT = """\
import dpaudit


class Count(dpaudit.Mechanism{meta}):
    name = "count"
    epsilon: float = 1.0

    def sample(self, data, size, rng):
        raise ValueError("boom \\x1b[31m \\u202e \\x9b31m")

    def neighbours(self):
        return dpaudit.Neighbouring(relation="substitution", pairs=[(0, 1)], complete=True, scope="two bits")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="count.\\x1b[31mprivacy", statement="[red]x\\x9b", epsilon=self.epsilon)]
"""
META = """\
import dpaudit


class Meta(type(dpaudit.Mechanism)):
    on = False

    def __getattribute__(cls, name):
        if Meta.on and name not in {allowed}:
            raise RuntimeError("no " + name)
        return super().__getattribute__(name)

    def __subclasscheck__(cls, other):
        raise RuntimeError("no subclass")


"""
ENDLESS = ["/dev/zero", "/dev/stdin", "/dev/full"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "count.py").write_text(COUNT.format(meta=""), encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(folder, monkeypatch, capfd, copies_alone):
    """The command line in this process: status, standard output and standard error."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["dpaudit", *map(str, words)])
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capfd.readouterr()
        return left.value.code, out, err

    return run


@pytest.fixture
def refused(run):
    """Run a call that cannot be used; return its one line."""

    def refused(*words):
        status, out, err = run(*words)
        assert (status, out) == (2, ""), err
        assert err.startswith("dpaudit: ")
        assert err.count("\n") == 1
        assert err.isprintable() or err[:-1].isprintable()
        return err

    return refused


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "more", "words"),
    [
        ("[[1]]", "", "lists of them"),
        ("[1, [2]]", "", "lists of them"),
        ("[" * 600 + "]" * 600, "", "too deep"),
        ("[" * 5000 + "]" * 5000, "", "too deep"),
        ("9" * 5001, "", "more digits than can be read"),
        ("0x" + "f" * 5000, "", "4096 bits"),
        ("[1, 0x" + "f" * 5000 + "]", "", "4096 bits"),
        ("inf", "", "finite numbers"),
        ("nan", "", "finite numbers"),
        ("2020-01-01", "", "finite numbers"),
        ("{ a = 1 }", "", "finite numbers"),
        ("1", "samples = true", "valid integer"),
        ("1", "samples = 1.0", "valid integer"),
        ("1", "samples = 10000000000000000000000", "at most 10^15"),
        ("1", "samples = 0x" + "f" * 5000, "at most 10^15"),
        ("1", 'stop_early = "yes"', "valid boolean"),
        ("1", "published = true", "valid number"),
        ("1", 'expect = "proved"', "not TOML"),
    ],
    ids=lambda text: text[:20],
)
def test_a_plan(refused, folder, value, more, words):
    (folder / "plan.toml").write_text(PLAN.format(value=value, more=more), encoding="utf-8")
    message = refused("show", "plan.toml")
    assert message.startswith("dpaudit: plan.toml: ")
    assert words in message
    assert len(message) < 600


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["\\u0000.py", "a" * 5000 + ".py", "loop.py", "\\u001b[31m.py", "pipe.py"])
def test_the_file_of_a_plan(refused, folder, protocol):
    os.symlink("loop.py", "loop.py")
    os.mkfifo("pipe.py")
    text = PLAN.format(value="1", more="").replace("count.py", protocol)
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    assert "there is no Python file" in refused("check", "plan.toml")


@pytest.mark.slow
@pytest.mark.parametrize(
    "change", [lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")], ids=["BOM", "CRLF"]
)
def test_plans_as_windows_writes_them(run, folder, change):
    text = change(PLAN.format(value="1", more="").replace("count.privacy", "count.\\u001b[31mprivacy"))
    (folder / "plan.toml").write_bytes(text.encode())
    status, out, _ = run("show", "plan.toml")
    assert status == 0
    assert r"count.\u001b[31mprivacy" in out
    assert r"[red]x\u009b" in out


@pytest.mark.slow
def test_what_a_target_raises_is_escaped(run, folder):
    status, out, err = run("check", "count.py", "--workers", "1")
    assert status == 4
    for text in (out, err):
        assert r"boom \u001b[31m \u202e \u009b31m" in text.replace("\n", " ") or r"\u001b[31m" in text
        assert text.replace("\n", "").isprintable()
    _, _, err = run("check", "count.py", "--workers", "1", "--debug")
    assert "Traceback" in err
    assert "\x1b" not in err


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        '{"a":' * 600 + "1" + "}" * 600,
        "[" * 3000 + "]" * 3000,
        '{"schema": ' + "9" * 5001 + "}",
        '{"schema": "\\ud800"}',
        '{"schema": "\\u001b[31m"}',
        '{"schema": NaN}',
        '{"schema": -Infinity}',
        '{"schema": "x", "schema": "dpaudit.record/2"}',
        "[]",
        "null",
        "-0.0",
        "1e400",
        "",
    ],
    ids=lambda text: text[:20],
)
@pytest.mark.parametrize("command", ["report", "verify", "compare"])
def test_records_and_witnesses(refused, folder, text, command):
    (folder / "file.json").write_text(text, encoding="utf-8")
    words = ["file.json"] * (2 if command == "compare" else 1)
    assert "file.json" in refused(command, *words)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["endless", "pipe", "folder", "loop", "long", "UTF-16"])
@pytest.mark.parametrize(
    ("words", "ending"),
    [
        (["report"], ".json"),
        (["verify"], ".json"),
        (["compare", "other.json"], ".json"),
        (["show"], ".py"),
        (["check"], ".py"),
        (["check"], ".toml"),
        (["check", "ldp-kwiksort-rr", "--data"], ".soc"),
        (["reproduce", "yan2020 figure 3", "--data"], ".soc"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_what_is_no_file(refused, folder, kind, words, ending):
    name = f"file{ending}"
    (folder / "other.json").write_text("{}", encoding="utf-8")
    if kind == "endless":
        os.symlink("/dev/zero", name)
    elif kind == "pipe":
        os.mkfifo(name)
    elif kind == "folder":
        os.mkdir(name)
    elif kind == "loop":
        os.symlink(name, name)
    elif kind == "long":
        name = "a" * 300 + ending
    else:
        (folder / name).write_bytes("x = 1".encode("utf-16"))
    refused(*words, name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["endless", "pipe", "folder", "loop", "text"])
def test_a_store_that_is_none(refused, folder, kind):
    os.mkdir("out")
    {
        "endless": lambda: os.symlink("/dev/zero", "out/results.sqlite"),
        "pipe": lambda: os.mkfifo("out/results.sqlite"),
        "folder": lambda: os.mkdir("out/results.sqlite"),
        "loop": lambda: os.symlink("results.sqlite", "out/results.sqlite"),
        "text": lambda: (folder / "out" / "results.sqlite").write_text("x" * 100, encoding="utf-8"),
    }[kind]()
    assert "out/results.sqlite" in refused("check", "count.py", "--workers", "1", "--output", "out")


@pytest.mark.parametrize("name", ["a" * 300, "a" * 5000, "\x1b[31m", "a\u202eb", "", ".", "\udcff", "a/b", "²"])
def test_names_for_init(refused, folder, name):
    assert "NAME" in refused("init", name)
    assert [path.name for path in folder.iterdir()] == ["count.py"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("check", "ldp-kwiksort-rr", "--set", f"alternatives={10**23}"),
        ("check", "ldp-kwiksort-rr", "--set", f"agents={10**23}"),
        ("check", "ldp-kwiksort-rr", "--set", f"alternatives={'9' * 5000}"),
        ("check", "ldp-kwiksort-rr", "--samples", "9" * 40),
        ("check", "ldp-kwiksort-rr", "--workers", "9" * 30),
        ("check", "ldp-kwiksort-rr", "--seconds", "inf"),
        ("check", "a" * 5000),
        ("check", "count.py::" + "a" * 5000),
        ("check", ":"),
        ("show", "\x1b[31m"),
        ("\x1b[31m",),
    ],
    ids=lambda words: " ".join(words)[:60],
)
def test_calls(refused, words):
    assert len(refused(*words)) < 3200


@pytest.mark.parametrize(
    ("allowed", "status"),
    [("()", 2), ('("__module__", "claims", "__qualname__", "__dict__", "__mro__")', 4)],
    ids=["at once", "later"],
)
def test_a_metaclass_that_raises(run, folder, allowed, status):
    text = META.format(allowed=allowed) + COUNT.format(meta=", metaclass=Meta").removeprefix("import dpaudit\n\n\n")
    (folder / "meta.py").write_text(f"{text}\n\nMeta.on = True\n", encoding="utf-8")
    found, _, err = run("show", "meta.py")
    assert found == status
    assert err.startswith("dpaudit: ")
    assert "RuntimeError" in err
    assert err.count("\n") == 1


@pytest.mark.slow
def test_what_raises_when_it_is_looked_at_is_no_target(run, folder):
    odd = "class Odd:\n    def __getattribute__(self, name):\n        raise RuntimeError(name)\n\n\nodd = Odd()\n"
    (folder / "odd.py").write_text(COUNT.format(meta="") + "\n\n" + odd, encoding="utf-8")
    assert run("show", "odd.py")[0] == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="names of files that are no text")
def test_names_that_are_no_text(refused, folder):
    name = os.fsdecode(b"n\xff\xfe")
    for ending, words in ((".py", "show"), (".toml", "show"), (".json", "report")):
        (folder / f"{name}{ending}").write_text("import nothing_there_at_all", encoding="utf-8")
        assert r"n\udcff\udcfe" in refused(words, f"{name}{ending}")


@pytest.mark.slow
def test_the_current_folder_is_gone(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    program = f"import os, sys; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r}); sys.argv = ['dpaudit', 'list']; " + (
        "from dpaudit.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "dpaudit: the current folder is gone; change to one that exists\n"
