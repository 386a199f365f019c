"""`dpaudit verify` runs nothing that a witness file names but what is in the current folder, as it was audited."""

import hashlib
import json
import os
import py_compile
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import dpaudit
from dpaudit.catalog import ROOT
from dpaudit.claims.record import read_record
from dpaudit.errors import TargetError, WitnessError
from dpaudit.registry import code_file, references
from dpaudit.registry.locate import local_path, module_file
from dpaudit.runner import Request
from dpaudit.runner.check import run_request
from dpaudit.runner.freshness import check_record

LEAK = '''\
import pathlib

import numpy as np

import dpaudit

pathlib.Path(__file__).with_name("ran").touch()


class Leak(dpaudit.Mechanism):
    """Randomized response with twice the budget."""

    epsilon: float = 1.0

    def sample(self, data, size, rng):
        truth = rng.random(size) < 1 / (1 + np.exp(-2 * self.epsilon))
        return np.where(truth, data, 1 - data)

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="leak.privacy", statement="It is private.", epsilon=self.epsilon)]
'''


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The current folder, with folders beside it that are not below it."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path, ""])
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] in ("package", "beyond", "loose")]:
        del sys.modules[name]


@pytest.fixture
def witness(here):
    """A witness of a target in the folder ``code``, below the current one; nothing has run since."""
    (here / "code").mkdir()
    (here / "code/leak.py").write_text(LEAK, encoding="utf-8")
    (result,) = run_request(Request(targets=["code/leak.py"], samples=5000), output=Path("out")).record.results
    forget(here)
    return Path(result.witness_file)


def forget(folder):
    """Have everything imported anew, as in another process."""
    references._import_file.cache_clear()
    for ran in folder.parent.rglob("ran"):
        ran.unlink()


def change(file, **keys):
    raw = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**raw, **keys}), encoding="utf-8")


def ran(folder):
    return any(folder.parent.rglob("ran"))


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.slow
def test_what_was_audited_is_run(here, witness):
    assert dpaudit.verify(witness).confirmed
    assert ran(here)


@pytest.mark.slow
def test_changed_code_is_not_run(here, witness):
    (here / "code/leak.py").write_text(LEAK + "\n", encoding="utf-8")
    with pytest.raises(WitnessError, match=r"code/leak.py has changed since the audit \(its SHA-256 was .* --changed"):
        dpaudit.verify(witness)
    assert not ran(here)
    found = dpaudit.verify(witness, changed=True)
    assert found.confirmed
    assert found.notes == ("code/leak.py has changed since the audit; this checks the changed code",)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["{beside}/leak.py::Leak", "../beside/leak.py::Leak", "link/leak.py::Leak"])
def test_code_elsewhere_is_not_run_unless_the_user_names_it(here, witness, name):
    beside = here.parent / "beside"
    beside.mkdir()
    (beside / "leak.py").write_text(LEAK, encoding="utf-8")
    (here / "link").symlink_to(beside)
    change(witness, target=name.format(beside=beside))
    with pytest.raises(WitnessError, match="outside of the current folder; if you trust that code, name it yourself"):
        dpaudit.verify(witness)
    with pytest.raises(WitnessError, match="outside of the current folder"):
        dpaudit.verify(witness, changed=True)
    assert not ran(here)
    for named in ("../beside/leak.py", "../beside/leak.py::Leak"):
        assert dpaudit.verify(witness, target=named).confirmed
    (beside / "leak.py").write_text(LEAK + "\n", encoding="utf-8")
    forget(here)
    with pytest.raises(WitnessError, match="has changed"):
        dpaudit.verify(witness, target="../beside/leak.py")
    assert not ran(here)


@pytest.mark.slow
def test_a_target_of_the_users_own_replaces_the_one_of_the_file(here, witness):
    change(witness, target="os:system")
    assert dpaudit.verify(witness, target="code/leak.py::Leak").confirmed


@pytest.mark.slow
def test_modules(here, witness):
    package = here / "package"
    package.mkdir()
    (package / "__init__.py").write_text("import pathlib; pathlib.Path(__file__).with_name('ran').touch()")
    (package / "leak.py").write_text(LEAK, encoding="utf-8")
    change(witness, target="package.leak:Leak", sha256=digest("something else"))
    with pytest.raises(WitnessError, match=r"package\.leak:Leak has changed"):
        dpaudit.verify(witness)
    assert not ran(here), "not even the package around it"
    change(witness, sha256=digest(LEAK))
    assert dpaudit.verify(witness).confirmed


@pytest.mark.slow
@pytest.mark.parametrize("name", ["antigravity:Leak", "idlelib.idle:Leak", "beyond.leak:Leak", "loose.deep.leak:Leak"])
def test_modules_elsewhere(here, witness, monkeypatch, name):
    for folder in ("beyond", "loose/deep"):
        beside = here.parent / "site" / folder
        beside.mkdir(parents=True)
        (beside / "leak.py").write_text(LEAK, encoding="utf-8")
    (here.parent / "site/beyond/__init__.py").write_text("raise SystemExit", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [*sys.path, str(here.parent / "site")])
    change(witness, target=name)
    before = set(sys.modules)
    with pytest.raises(WitnessError, match="outside of the current folder"):
        dpaudit.verify(witness)
    assert not ran(here)
    assert name.partition(":")[0] not in set(sys.modules) - before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("absent.py::Leak", "absent.py: cannot read the target file"),
        ("coda::Leak", "cannot be imported"),
        ("code.py/::Leak", "is not a module"),
        ("sys:Leak", "has no file"),
        ("json.nothing:Leak", "there is no module 'json.nothing'"),
        ("..:Leak", "is not a module"),
        ("", "unknown target"),
        ("a\0b.py::Leak", "cannot"),
    ],
)
def test_names_of_nothing(here, witness, name, words):
    change(witness, target=name)
    with pytest.raises(dpaudit.DpauditError, match=words):
        dpaudit.verify(witness)
    assert not ran(here)


def test_files_of_modules_are_found_without_importing_anything(here):
    before = set(sys.modules)
    assert module_file("xml.dom.minidom").name == "minidom.py"
    assert module_file("concurrent.futures.process").name == "process.py"
    assert code_file("ldp-kwiksort-rr") is None
    assert code_file("dpaudit.catalog.hay2017:DPKwikSort") is None
    assert not {"xml.dom.minidom", "xml.dom"} & (set(sys.modules) - before)
    with pytest.raises(TargetError):
        module_file("xml.dom.minidom.deeper")


@pytest.mark.slow
@pytest.mark.skipif(os.sep == "\\", reason="these are the separators here")
def test_paths_of_windows_are_understood(here, witness):
    change(witness, target="code\\leak.py::Leak")
    assert dpaudit.verify(witness).confirmed
    assert local_path("a\\b.soc") == "a/b.soc"
    (here / "a\\b.soc").touch()
    assert local_path("a\\b.soc") == "a\\b.soc"


@pytest.mark.slow
def test_what_is_compared_is_what_runs(here, witness):
    """A compiled file that passes for that of the target, whatever that holds, is not run in its place."""
    file = here / "code/leak.py"
    file.write_text(f"{LEAK}\nraise SystemExit('the compiled file ran')\n", encoding="utf-8")
    py_compile.compile(str(file), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    file.write_text(LEAK, encoding="utf-8")
    assert dpaudit.verify(witness).confirmed


@pytest.mark.parametrize("target", ["../beside/leak.py", "antigravity:Leak", "../beside/plan.toml"])
def test_a_record_is_not_held_against_code_elsewhere(here, target):
    beside = here.parent / "beside"
    beside.mkdir()
    (beside / "leak.py").write_text(LEAK, encoding="utf-8")
    (beside / "plan.toml").write_text('schema = "dpaudit.plan/1"\nprotocol = "leak.py"\naudit = []\n', encoding="utf-8")
    record = read_record(ROOT / "reports/hay2017.json")
    found = check_record(Path("record.json"), replace(record, command=f"dpaudit check {target}"))
    assert found.state == "unknown"
    assert f"{target}, which is outside of the current folder" in found.reasons[0]
    assert not ran(here)


@pytest.mark.slow
def test_the_catalogue_may_run_from_anywhere(here, monkeypatch):
    options = {"set": {"epsilon": [1.0]}, "method": "black-box", "samples": 20_000}
    request = Request(targets=["unsplit-budget"], claims=["control.unsplit-budget"], **options)
    (result,) = run_request(request, output=Path("out")).record.results
    elsewhere = here.parent / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    witness = here / result.witness_file
    assert dpaudit.verify(witness).confirmed
    change(witness, sha256=digest("an older version"))
    with pytest.raises(WitnessError, match="has changed since the audit"):
        dpaudit.verify(witness)
    assert dpaudit.verify(witness, changed=True).confirmed


@pytest.mark.slow
def test_on_the_command_line(here, witness):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def verify(*words):
        words = [sys.executable, "-m", "dpaudit", "verify", str(witness), *words]
        return subprocess.run(words, capture_output=True, text=True, check=False, env=environment, timeout=120)

    (here.parent / "leak.py").write_text(LEAK + "\n", encoding="utf-8")
    change(witness, target="../leak.py::Leak")
    refused = verify()
    assert refused.returncode == 2
    assert "--target ../leak.py::Leak" in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert "with --changed" in verify("--target", "../leak.py").stderr
    assert not ran(here)
    done = verify("--target", "../leak.py", "--changed")
    assert done.returncode == 0
    assert "../leak.py has changed since the audit" in done.stdout
