"""The documentation: every block of code runs, every link leads somewhere, and the site's own pages are made.

A block of Python runs with those before it on its page. ``<!-- file: NAME -->`` before one writes it to a file instead.
Of a block of shell, the lines that call dpaudit or pytest run; ``<!-- status: N -->`` says how the last of them ends.
"""

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer

import dpaudit
from dpaudit.auditors import epsilon_lower_bound, one_run_bound
from dpaudit.catalog import ROOT
from dpaudit.cli import main
from dpaudit.cli.application import app
from dpaudit.cli.examples import EXAMPLES

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(path for path in DOCS.rglob("*.md") if path.name != "accountants.md")]
LINKED = [*PAGES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "benchmarks").glob("*.md"))]
BLOCK = re.compile(r"(?:^<!-- (\w+): (\S+) -->\n)?^```(\w+)[^\n]*\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!`)\]\(([^)#\s]+)(?:#([^)\s]*))?\)")

ELSEWHERE = {
    "docs/audit-a-library.md": "tests/examples runs it, where the libraries are installed",
    "docs/audit-what-is-not-python.md": "tests/sources and tests/examples run it, where compilers are installed",
    "docs/calibrate-a-tool.md": "tests/quality/test_calibration.py runs its tool",
    "docs/faults.md": "shows reports of faults, and no code",
}
"""Pages whose blocks need what is not at hand here, and what runs them; their commands are parsed."""

LONG = {"README.md", "docs/files.md", "docs/handbook.md", "docs/scale.md"}
"""Pages whose commands are parsed here and run elsewhere: they take minutes, or need files of a user's, or Dask."""


def _pages(blocks):
    return [pytest.param(page, id=_name(page)) for page in PAGES if _name(page) not in ELSEWHERE and blocks(page)]


def _name(page):
    return page.relative_to(ROOT).as_posix()


def _blocks(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("page", _pages(lambda page: any(kind in ("python", "sh") for _, _, kind, _ in _blocks(page))))
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page", **(_composed() if page.name == "composition.md" else {})}
    ran = 0
    for key, value, kind, text in _blocks(page):
        if key == "file":
            Path(value).write_text(text, encoding="utf-8")
        elif kind == "python":
            if "import opendp" not in text or importlib.util.find_spec("opendp"):
                exec(compile(text, str(page), "exec"), names)
                ran += 1
        elif kind == "sh" and _name(page) not in LONG:
            commands = [line for line in _lines(text) if line.startswith(("dpaudit ", "python -m pytest"))]
            statuses = [_run(command, monkeypatch) for command in commands]
            assert statuses[:-1] == [0] * len(statuses[:-1]), commands
            assert statuses[-1:] in ([], [int(value) if key == "status" else 0]), commands
            ran += len(commands)
    assert ran


@pytest.mark.parametrize("page", [pytest.param(page, id=_name(page)) for page in PAGES])
def test_the_commands_of_a_page_can_be_parsed(page):
    commands = typer.main.get_command(app).commands
    for _, _, kind, text in _blocks(page):
        for line in _lines(text) if kind == "sh" else ():
            program, *words = shlex.split(line, comments=True) or [""]
            if program == "dpaudit":
                words = words[: words.index(">")] if ">" in words else words
                commands[words[0]].make_context(words[0], words[1:])


def _composed():
    """What the page on composition calls mechanisms without saying what they are."""

    class Sum(dpaudit.Mechanism):
        def sample(self, data, size, rng):
            return sum(data) + rng.laplace(size=size)

        def neighbours(self):
            return dpaudit.Neighbouring(relation="substitution", pairs=[((0,) * 32, (1, *(0,) * 31))])

        def claims(self):
            return [dpaudit.PrivacyClaim(id="sum.privacy", statement="1-DP.", epsilon=1.0)]

    return {"first": Sum(), "second": Sum(), "mechanism": Sum()}


def _lines(text):
    return text.replace("\\\n", " ").splitlines()


def _run(command, monkeypatch):
    program, *words = shlex.split(command, comments=True)
    if program == "dpaudit":
        # In this process, which has its workers already.
        with monkeypatch.context() as patched:
            patched.setattr(sys, "argv", [program, *words])
            patched.setattr(sys, "path", [*sys.path])
            with pytest.raises(SystemExit) as left:
                main()
        status = int(left.value.code or 0)
        assert status in (0, 1), command
        return status
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode in (0, 1), done
    return done.returncode


@pytest.mark.parametrize("page", [pytest.param(page, id=_name(page)) for page in PAGES])
def test_plans_and_settings_on_a_page_are_toml(page):
    for _, _, kind, text in _blocks(page):
        if kind == "toml":
            tomllib.loads(text)


@pytest.mark.parametrize("page", [pytest.param(page, id=_name(page)) for page in LINKED])
def test_the_links_of_a_page_lead_somewhere(page):
    made = set(_hooks().names())
    for link, anchor in LINK.findall(re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)):
        if link.startswith(("http:", "https:")):
            continue
        target = (page.parent / link).resolve()
        inside = target.relative_to(DOCS).as_posix() if target.is_relative_to(DOCS) else ""
        assert target.exists() or inside in made, f"{_name(page)}: {link}"
        if anchor and target.suffix == ".md" and target.exists():
            assert anchor in _anchors(target), f"{_name(page)}: {link}#{anchor}"


def test_measurements_that_the_code_refers_to_have_a_page():
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "benchmarks").glob("*.md")}
    for file in (ROOT / "dpaudit").rglob("*.py"):
        named = set(re.findall(r"benchmarks/\w+\.md", file.read_text(encoding="utf-8")))
        assert named <= pages, file


def _anchors(page):
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    slugs = {re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}
    return slugs | set(re.findall(r'id="([^"]+)"', page.read_text(encoding="utf-8")))


def test_the_site_lists_every_page():
    listed = re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    pages = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    made = [name for name in _hooks().names() if not name.startswith("papers/")]
    assert sorted(listed) == sorted([*pages, *made])


@pytest.mark.slow
def test_the_pages_that_are_made_say_what_the_code_says():
    made = _hooks().pages()
    assert set(made) == set(_hooks().names())
    python = made["reference/python.md"]
    for name in dpaudit.__all__:
        home = dpaudit._HOMES[name]
        assert f"::: {home if home == f'dpaudit.{name}' else f'{home}.{name}'}\n" in python
    cli = made["reference/cli.md"]
    assert all(example in cli for examples in EXAMPLES.values() for example in examples)
    assert "`--confidence`" in cli
    auditors = made["explanation/auditors.md"]
    for function in (epsilon_lower_bound, one_run_bound):
        assert f"## {function.__name__}\n" in auditors
        assert " ".join(function.__doc__.split("**Guarantee.**")[1].split()[:12]) in " ".join(auditors.split())
    assert "dpaudit.plan/1" in made["reference/schemas.md"]
    links = re.findall(r"\]\((papers/[^)#]+)", made["findings.md"])
    assert links
    assert all(link in made or (ROOT / "reports" / Path(link).name).exists() for link in links)


@pytest.mark.slow
def test_the_site_is_built(tmp_path):
    pytest.importorskip("mkdocs", reason="`make docs` installs it")
    words = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "dpaudit.mechanism.Mechanism" in (tmp_path / "site" / "reference" / "python.html").read_text(
        encoding="utf-8"
    )


def test_workflows_are_what_actionlint_accepts(tmp_path):
    linter = shutil.which("actionlint")
    if linter is None:
        pytest.skip("actionlint is not installed")
    files = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    for number, (key, value, kind, text) in enumerate(_blocks(DOCS / "how-to" / "gate-a-pull-request.md")):
        if kind == "yaml":
            assert (key, value) == ("lint", "actionlint")
            files.append(tmp_path / f"{number}.yml")
            files[-1].write_text(text, encoding="utf-8")
    done = subprocess.run([linter, *map(str, files)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def _hooks():
    spec = importlib.util.spec_from_file_location("docs_hooks", DOCS / "hooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
