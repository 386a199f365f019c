"""A wheel of a clean copy of the checkout, installed apart from it, works in an empty folder."""

import configparser
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info", "tests", "benchmarks")
TEMPLATES = ("ledger.html.j2", "macros.html.j2", "report.html.j2", "style.css")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, folder / "checkout", ignore=LEFT_OUT)
    # Without the build backend in this environment, pip fetches it.
    isolation = ["--no-build-isolation"] if importlib.util.find_spec("hatchling") else []
    _run("-m", "pip", "wheel", *isolation, "--no-deps", "--wheel-dir", folder / "dist", folder / "checkout", cwd=folder)
    (path,) = (folder / "dist").glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    _run("-m", "pip", "install", "--no-deps", "--target", folder, wheel, cwd=folder)
    return folder


TEMPLATES = ("ledger.html.j2", "macros.html.j2", "report.html.j2", "style.css")


def _run(*words, cwd, path=None):
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    done = subprocess.run(
        [sys.executable, *map(str, words)], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_a_wheel_holds(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"dpaudit"}
    assert len(tops) == 2
    expected = [
        "dpaudit/__main__.py",
        "dpaudit/py.typed",
        "dpaudit/claims/record.schema.json",
        "dpaudit/cli/starter.py.txt",
        "dpaudit/cli/starter.toml.txt",
        *(f"dpaudit/reporting/templates/{name}" for name in TEMPLATES),
        *(f"dpaudit/catalog/{path.relative_to(ROOT / 'protocols')}" for path in (ROOT / "protocols").rglob("*.py")),
        *(f"dpaudit/catalog/{path.relative_to(ROOT)}" for path in (ROOT / "audits").rglob("*.toml")),
        *(f"dpaudit/catalog/{path.relative_to(ROOT)}" for path in (ROOT / "reports").glob("*.json")),
    ]
    assert set(expected) <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc") or "/tests/" in name]
    assert len(names) == len(set(names))


def test_a_wheel_declares_the_command_and_the_pytest_plugin(wheel):
    archive = zipfile.ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt"))
    declared = configparser.ConfigParser()
    declared.read_string(archive.read(name).decode())
    assert {section: dict(declared[section]) for section in declared.sections()} == {
        "console_scripts": {"dpaudit": "dpaudit.cli:main"},
        "pytest11": {"dpaudit": "dpaudit.pytest_plugin"},
    }


def test_pytest_finds_the_plugin_of_an_installed_wheel(installed, tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import pytest\n\n\n"
        "@pytest.mark.privacy(epsilon=2.5, samples=20_000)\n"
        "def test_it(assert_private):\n"
        "    sample = lambda data, size, rng: data + rng.laplace(scale=0.5, size=size)\n"
        "    assert_private(sample, pairs=[(0.0, 1.0)])\n"
    )
    out = _run("-m", "pytest", "--strict-markers", "-p", "no:cacheprovider", cwd=tmp_path, path=installed)
    assert "1 passed" in out
    assert "dpaudit: 1 privacy audit (1 by sampling); " in out


def test_the_installed_wheel_is_the_one_that_runs(installed, tmp_path):
    out = _run("-c", "import dpaudit; print(dpaudit.__file__)", cwd=tmp_path, path=installed)
    assert Path(out.strip()).is_relative_to(installed)
    assert sorted(path.name for path in installed.iterdir() if path.suffix != ".dist-info") in (
        ["dpaudit"],
        ["bin", "dpaudit"],
    )


def test_list_and_check_from_an_empty_folder(installed, tmp_path):
    targets = {
        row["target"]
        for row in json.loads(_run("-m", "dpaudit", "list", "--format", "json", cwd=tmp_path, path=installed))
    }
    assert {"kwiksort", "dp-kwiksort", "ldp-kwiksort-rr", "ldp-kwiksort-lap"} <= targets
    words = ["--claim", "yan2020.theorem1-rr", "--set", "epsilon=1", "--set", "queries=1", "--set", "alternatives=3"]
    out = _run(
        "-m", "dpaudit", "check", "ldp-kwiksort-rr", *words, "--output", "report", "--format", "json",
        cwd=tmp_path,
        path=installed,
    )  # fmt: skip
    (result,) = json.loads(out)["results"]
    assert (result["verdict"], result["expected"]) == ("proved", "proved")
    assert (tmp_path / "report" / "index.html").stat().st_size > 1000


def test_init_and_check_from_an_empty_folder(installed, tmp_path):
    _run("-m", "dpaudit", "init", "mine", cwd=tmp_path, path=installed)
    assert "5 results" in _run("-m", "dpaudit", "check", "mine.toml", cwd=tmp_path, path=installed)
