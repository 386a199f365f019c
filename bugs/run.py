"""Audit every bug of the collection: the release that has it, and the one that has not, or its patched twin.

    python bugs/run.py             all bugs, and the table in bugs/README.md
    python bugs/run.py NAME ...    some of them; the table keeps the other rows

Each release is installed by pip without its dependencies into a folder of its own below build/bugs, which comes first
on the path of the process that runs the audit. Verdicts are computed; nothing but the description of a bug comes from
`bug.toml`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
import tomllib
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = ROOT / "build" / "bugs"
RESULTS = HERE / "results.json"
LEFT_OUT = HERE / "left-out.toml"
SECONDS = 600
SEED = 1
KINDS = (
    "sampler",
    "sensitivity",
    "stability map",
    "budget",
    "accountant",
    "floating point",
    "neighbouring relation",
    "exception",
)
FOUND = {"unaided", "unaided, inputs listed", "pair given"}
HEAD = """# Bugs of released libraries

Each folder is one report about a library: `bug.toml` says what is promised, where the report is and which releases
are affected, and `audit.py` is the audit, written from the promise alone. `make bugs` installs each release into a
folder of its own, audits it and its mended release (or a patched twin, where none is released), and writes this
table. It needs a package index.

*unaided*: refuted on neighbouring inputs that dpaudit derived from the promised domain, or looked at completely.
*unaided, inputs listed*: the audit lists ends and corners of the promised domain itself. *pair given*: refuted on
inputs that the audit takes from the report. *missed*: not refuted. *does not reproduce*: the report is not confirmed,
and the audit says the same. A bug is *false* if the mended release is refuted. Parameters, such as a size or a
threshold, are the audit's choice everywhere. What `findings/` describes is ours, and no maintainer has confirmed it:
opacus-renyi-orders, smartnoise-covariance.

"""


def main(names: list[str]) -> int:
    """Run the audits of some bugs, or of all, and write the table; 1 where something is not as expected."""
    folders = sorted(file.parent for file in HERE.glob("*/bug.toml"))
    unknown = sorted(set(names) - {folder.name for folder in folders})
    if unknown:
        print(f"bugs/run.py: there is no bug {unknown[0]!r}; there are: {', '.join(each.name for each in folders)}")
        return 2
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    results = {folder.name: kept[folder.name] for folder in folders if folder.name in kept}
    for folder in folders:
        if names and folder.name not in names:
            continue
        bug = read_bug(folder)
        results[folder.name] = {which: run(folder, bug, which) for which in ("broken", "fixed")}
        print(f"{folder.name}: {outcome(bug, results[folder.name])}", flush=True)
        write(folders, results)
    rows = write(folders, results)
    return int(any(not as_expected(bug, result) for _, bug, result in rows))


def write(folders: list[Path], results: dict[str, Any]) -> list[tuple[Path, dict[str, Any], dict[str, Any]]]:
    """Write the results so far, and the table of them; return its rows."""
    RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    rows = [(folder, read_bug(folder), results[folder.name]) for folder in folders if folder.name in results]
    (HERE / "README.md").write_text(HEAD + table(rows), encoding="utf-8")
    return rows


def read_bug(folder: Path) -> dict[str, Any]:
    """Read the description of a bug."""
    bug = tomllib.loads((folder / "bug.toml").read_text(encoding="utf-8"))
    assert bug["kind"] in KINDS, f"{folder.name}: kind must be one of {', '.join(KINDS)}, got {bug['kind']!r}"
    return bug


def run(folder: Path, bug: dict[str, Any], which: str) -> dict[str, Any]:
    """Audit one side of a bug in a process of its own."""
    version = bug["broken"] if which == "broken" else bug.get("fixed") or bug["broken"]
    packages = [f"{bug['library']}=={version}", *bug.get("needs", [])]
    path = os.pathsep.join([str(environment(packages)), str(ROOT)])
    command = [sys.executable, "-W", "ignore", __file__, "--audit", str(folder), which]
    try:
        done = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return {"verdict": "error", "note": f"not finished after {SECONDS} s", "version": version}
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        return {"verdict": "error", "note": " ".join(done.stderr.split())[-300:], "version": version}
    return {**json.loads(lines[-1]), "version": version}


def environment(packages: list[str]) -> Path:
    """Folder with some packages, installed once."""
    folder = BUILD / "+".join(packages).replace("==", "-")
    if not folder.exists():
        unfinished = folder.with_name(f"{folder.name}.unfinished")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "--target", str(unfinished), *packages], check=True)
        unfinished.rename(folder)
    return folder


def audit(folder: Path, which: str) -> dict[str, Any]:
    """Audit one side of a bug in this process."""
    import dpaudit

    bug = read_bug(folder)
    warnings.simplefilter("ignore")
    spec = importlib.util.spec_from_file_location("audit", folder / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["audit"] = module
    spec.loader.exec_module(module)
    make = module.twin if which == "fixed" and not bug.get("fixed") else module.target
    options = {name: bug[name] for name in ("samples", "features") if name in bug}
    started = time.perf_counter()
    mechanism = make()
    (result,) = dpaudit.check(mechanism, seed=SEED, **options).results
    seconds = time.perf_counter() - started
    witness = result.witness
    shown = ""
    if isinstance(witness, dpaudit.Counterexample):
        shown = f"{witness.quantity}: {witness.measured:.10g}, promised {witness.claimed:.10g}"
    elif witness is not None:
        forces = ", ".join(f"{name} at least {value:.4g}" for name, value in witness.forces.items())
        shown = f"{forces} (p = {witness.p:.3g}, q = {witness.q:.3g})"
    note = "" if witness is not None else result.note[:200]
    return {
        "verdict": str(result.verdict),
        "claimed": {name: float(f"{value:.4g}") for name, value in result.claimed.items()},
        "shown": shown,
        "note": note,
        "samples": result.samples,
        "seconds": round(seconds, 1),
        "derived": has_derived_inputs(mechanism),
    }


def has_derived_inputs(mechanism: Any) -> bool:
    """Whether no inputs are listed: they are a library object's own, drawn from a domain, or all that there are."""
    import dpaudit
    from dpaudit.sources.libraries.objects import LibraryMechanism

    if isinstance(mechanism, LibraryMechanism):
        return mechanism.given is None
    if all(isinstance(claim, dpaudit.StabilityClaim) for claim in mechanism.claims()):
        return True
    neighbouring = mechanism.neighbours()
    return neighbouring.domain is not None or isinstance(mechanism, dpaudit.NoisySteps)


def outcome(bug: dict[str, Any], result: dict[str, Any]) -> str:
    """What came of a bug, in a few words."""
    broken, fixed = result["broken"]["verdict"], result["fixed"]["verdict"]
    if "error" in (broken, fixed):
        return "error: " + next(each["note"] for each in result.values() if each["verdict"] == "error")
    if fixed == "refuted":
        return "false: the mended side is refuted"
    if bug["expected"] != "refuted":
        return "does not reproduce" if broken == bug["expected"] else f"{broken}, expected {bug['expected']}"
    if broken != "refuted":
        return f"missed ({broken})"
    if bug.get("pair_given"):
        return "pair given"
    return "unaided" if result["broken"].get("derived") else "unaided, inputs listed"


def as_expected(bug: dict[str, Any], result: dict[str, Any]) -> bool:
    """Whether a bug is found, or a report that does not reproduce is not, and the mended side is not refuted."""
    return result["broken"]["verdict"] == bug["expected"] and result["fixed"]["verdict"] not in ("refuted", "error")


def table(rows: list[tuple[Path, dict[str, Any], dict[str, Any]]]) -> str:
    """Markdown table of all bugs, and its sums."""
    words = [outcome(bug, result) for _, bug, result in rows]
    reproduced = [each for (_, bug, _), each in zip(rows, words, strict=True) if bug["expected"] == "refuted"]
    false = sum(result["fixed"]["verdict"] == "refuted" for _, _, result in rows)
    lines = [
        f"{len(rows)} reports; {len(reproduced)} bugs: {reproduced.count('unaided')} refuted unaided, "
        f"{reproduced.count('unaided, inputs listed')} with inputs listed, {reproduced.count('pair given')} with the "
        f"pair given, {sum(map(reproduced.count, {*reproduced} - FOUND))} missed; {false} false. "
        f"{len(rows) - len(reproduced)} reports are not confirmed.",
        "",
        "| bug | library | kind | promised | outcome | what was found | mended | time | samples |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for (folder, bug, result), word in zip(rows, words, strict=True):
        broken, fixed = result["broken"], result["fixed"]
        mended = bug.get("fixed") or "patched twin"
        found = broken.get("shown") or broken.get("note", "")
        cells = (
            f"[{folder.name}]({folder.name}/audit.py)",
            f"[{bug['library']} {bug['broken']}]({bug['link']})",
            bug["kind"],
            bug["promise"],
            word,
            found,
            f"{mended}: {fixed['verdict']}",
            f"{broken.get('seconds', 0):g} s",
            str(broken.get("samples", 0)),
        )
        lines.append("| " + " | ".join(each.replace("|", "\\|").replace("\n", " ") for each in cells) + " |")
    return "\n".join(lines) + "\n" + left_out()


def left_out() -> str:
    """Markdown table of the reports that were looked at and have no audit."""
    reports = tomllib.loads(LEFT_OUT.read_text(encoding="utf-8"))["report"]
    lines = ["", "## Reports without an audit", "", "| report | why |", "|---|---|"]
    lines += [f"| [{each['name']}]({each['link']}) | {each['why']} |" for each in reports]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--audit"]:
        print(json.dumps(audit(Path(sys.argv[2]), sys.argv[3])))
    else:
        sys.exit(main(sys.argv[1:]))
