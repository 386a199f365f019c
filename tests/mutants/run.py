"""Plant bugs one at a time in a copy of the project, and say which verdict or which test finds each.

``mutants.toml`` lists the bugs: a piece of a file's text, what stands there instead, the audits that should come out
otherwise, and the tests. The audits run first, then the tests of the fast set, then slow ones where any are named; the
first that fails kills the mutant. Without its bug, the copy must pass all of them.

``python tests/mutants/run.py`` tries all and writes the table in ``tests/README.md``; with ``--only WORD`` it tries
those whose names hold the word, and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import runpy
import shlex
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LIST = HERE / "mutants.toml"
TABLE = ROOT / "tests" / "README.md"
BEGIN, END = "<!-- mutants: begin -->", "<!-- mutants: end -->"

COPIED = ("dpaudit", "protocols", "audits", "tests", "pyproject.toml", "README.md", "CONTRIBUTING.md")
LONGEST = 900
"""Seconds after which an audit or a test counts as failed."""

STARTED = multiprocessing.get_context("forkserver")
LIBRARIES = "numpy scipy.optimize scipy.stats sklearn.ensemble statsmodels.api pytest pydantic typer rich jinja2"
STARTED.set_forkserver_preload(LIBRARIES.split())

VERDICT, FAST, SLOW, SURVIVES = "verdict", "fast test", "slow test", "survives"
_FAILED = re.compile(r"^FAILED (?:tests/)?(\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One bug.

    Attributes
    ----------
    name, kind
        What the bug is, and of what: a randomizer, budget, cap, debiasing, shuffler, fallback, formula, analyzer, or
        what judges.
    file, old, new
        The text that stands once in the file, and what stands there instead.
    check
        Calls of ``dpaudit check`` whose verdicts should change.
    tests, slow
        Tests of the fast set, and slow ones.
    """

    name: str
    kind: str
    file: str
    old: str
    new: str
    check: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    slow: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a mutant: what kind of thing killed it, and which."""

    by: str
    which: str = ""


def mutants(path: Path = LIST) -> list[Mutant]:
    """Read the list."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    return [
        Mutant(**{name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()})
        for entry in entries
    ]


def _run_module(folder: str, out: str, err: str, arguments: Sequence[str]) -> None:
    """Run a module as ``python -m`` does, in a process that has imported the libraries but nothing of the project."""
    for descriptor, file in ((1, out), (2, err)):
        with open(file, "wb") as opened:
            os.dup2(opened.fileno(), descriptor)
    os.chdir(folder)
    # A bug of the same length, planted within a second, would not outdate what was compiled before.
    sys.dont_write_bytecode = True
    os.environ.update(PYTHONPATH=folder, PYTHONDONTWRITEBYTECODE="1", NO_COLOR="1")
    sys.path.insert(0, folder)
    sys.argv = list(arguments)
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)


class Copy:
    """A copy of the project in which a bug can be planted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in COPIED:
            source = ROOT / name
            ignored = shutil.ignore_patterns("__pycache__", "*.sqlite*")
            _ = (
                shutil.copytree(source, folder / name, ignore=ignored)
                if source.is_dir()
                else shutil.copy2(source, folder)
            )

    def run(self, *arguments: str) -> tuple[int | None, str, str]:
        """Exit status and output of a Python module; no status where it took too long."""
        out, err = self.folder / "stdout", self.folder / "stderr"
        process = STARTED.Process(target=_run_module, args=(str(self.folder), str(out), str(err), arguments))
        process.start()
        process.join(LONGEST)
        if process.exitcode is None:
            process.kill()
            process.join()
            return None, "", ""
        return process.exitcode, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8")

    def verdict(self, call: str) -> str | None:
        """What of an audit is not as expected, in words; None where everything is."""
        status, out, err = self.run(
            "dpaudit", "check", *shlex.split(call), "--quick", "--format", "json", "--workers", "1"
        )
        if status in (0, 3):
            return None
        results = json.loads(out)["results"] if out.strip().startswith("{") else []
        wrong = [result for result in results if not result["ok"]]
        if not wrong:
            raise SystemExit(f"dpaudit check {call}: status {status}, but no result says why: {err.strip()}")
        first = wrong[0]
        return f"`{first['claim']}`: {first['verdict']}, not {first['expected']}"

    def test(self, names: Sequence[str], *, slow: bool) -> str | None:
        """The first test that fails; None where all pass."""
        marked = [] if slow else ["-m", "not slow"]
        quiet = ("-q", "-x", "-n", "0", "-p", "no:cacheprovider")
        status, out, err = self.run("pytest", *quiet, *marked, *(f"tests/{name}" for name in names))
        if status in (0, 5):  # passed, or nothing of that set
            return None
        failed = _FAILED.search(out)
        if status is None or (status == 1 and failed):
            return "no test ends" if failed is None else f"`{failed[1].partition('[')[0]}`"
        raise SystemExit(f"pytest {' '.join(names)}: status {status}\n{out[-2000:]}{err[-2000:]}")

    def fate(self, mutant: Mutant) -> Fate:
        """Plant the bug, see what finds it, and take it out again."""
        path = self.folder / mutant.file
        text, times = path.read_text(encoding="utf-8"), path.stat()
        if text.count(mutant.old) != 1:
            raise SystemExit(f"{mutant.name}: {mutant.old!r} stands {text.count(mutant.old)} times in {mutant.file}")
        path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        try:
            return self.tried(mutant)
        finally:
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def tried(self, mutant: Mutant) -> Fate:
        for call in mutant.check:
            if (wrong := self.verdict(call)) is not None:
                return Fate(VERDICT, wrong)
        for by, names in ((FAST, mutant.tests), (SLOW, mutant.slow)):
            if names and (failed := self.test(names, slow=by == SLOW)) is not None:
                return Fate(by, failed)
        return Fate(SURVIVES)


def table(fates: Sequence[tuple[Mutant, Fate]]) -> str:
    """The table of ``tests/README.md``, with a sentence that counts."""
    counts = {by: sum(fate.by == by for _, fate in fates) for by in (VERDICT, FAST, SLOW, SURVIVES)}
    early = 100 * (counts[VERDICT] + counts[FAST]) // len(fates)
    lines = [
        f"Of {len(fates)} mutants a verdict kills {counts[VERDICT]}, a fast test {counts[FAST]}, a slow test "
        f"{counts[SLOW]}; {counts[SURVIVES]} survive. Verdicts and fast tests kill {early} %.",
        "",
        "| mutant | of | where | killed by |",
        "| --- | --- | --- | --- |",
    ]
    for mutant, fate in fates:
        which = f": {fate.which}" if fate.which else ""
        lines.append(f"| {mutant.name} | {mutant.kind} | `{mutant.file}` | {fate.by}{which} |")
    return "\n".join(lines)


def written(text: str, made: str) -> str:
    """Return the page with the table in it."""
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    return f"{text[:start]}\n{made}\n{text[end:]}"


def _each(chosen: Sequence[Mutant], workers: int, work: Callable[[Copy, Mutant], Fate]) -> list[tuple[Mutant, Fate]]:
    """Do something with every mutant, in as many copies of the project as there are workers."""
    with tempfile.TemporaryDirectory() as folder:
        free: SimpleQueue[Copy] = SimpleQueue()
        for number in range(workers):
            (place := Path(folder) / str(number)).mkdir()
            free.put(Copy(place))

        def one(mutant: Mutant) -> tuple[Mutant, Fate]:
            copy = free.get()
            try:
                fate = work(copy, mutant)
            finally:
                free.put(copy)
            print(f"{mutant.name}: {fate.by} {fate.which}", flush=True)
            return mutant, fate

        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(one, chosen))


def unharmed(copy: Copy, mutant: Mutant) -> Fate:
    """See that nothing is found where no bug is."""
    return copy.tried(mutant)


def main() -> None:
    """Try the mutants, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], help="a word of the names of those to try (repeatable)")
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 1) - 1))
    parser.add_argument("--unharmed", action="store_true", help="run audits and tests without any bug instead")
    options = parser.parse_args()
    chosen = [each for each in mutants() if not options.only or any(word in each.name for word in options.only)]
    fates = _each(chosen, options.workers, unharmed if options.unharmed else Copy.fate)
    if options.unharmed:
        wrong = [mutant.name for mutant, fate in fates if fate.by != SURVIVES]
        raise SystemExit(f"found without a bug: {', '.join(wrong)}" if wrong else 0)
    if not options.only:
        TABLE.write_text(written(TABLE.read_text(encoding="utf-8"), table(fates)), encoding="utf-8")
    survivors = [mutant.name for mutant, fate in fates if fate.by == SURVIVES]
    raise SystemExit(f"survive: {', '.join(survivors)}" if survivors else 0)


if __name__ == "__main__":
    main()
