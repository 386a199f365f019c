"""Audit accountants on a grid of settings, and write docs/accountants.md.

    python table.py --python dp-accounting=ENV1/bin/python --python opacus=ENV2/bin/python ... [--output FILE]

dpaudit encloses the true epsilon here; every library is asked by ``ask.py`` in its own environment, so that their
requirements do not meet. A library without an environment is left out, and the page says so.
"""

import argparse
import datetime as dt
import itertools
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

from ask import ACCOUNTANTS

import dpaudit
from dpaudit import NoisySteps, Verdict

HERE = Path(__file__).parent
OUTPUT = HERE.parent.parent / "docs" / "accountants.md"

SAMPLED = [
    {"rate": rate, "noise": noise, "steps": steps, "delta": delta}
    for rate, noise, steps, delta in itertools.product((0.001, 0.01, 0.1), (0.7, 1.0, 2.0), (100, 10_000), (1e-5, 1e-8))
]
PLAIN = [
    {"rate": 1.0, "noise": noise, "steps": steps, "delta": delta}
    for noise, steps, delta in itertools.product((5.0, 50.0), (10, 100), (1e-5, 1e-8))
]
KNOWN = [{"rate": 0.00033, "noise": 4.0, "steps": 10_000, "delta": delta} for delta in (1.1e-18, 1.13e-18)]
"""The settings of microsoft/prv_accountant, issue 17."""


def asked(name, interpreter, settings, seconds):
    """Version and answers of one accountant; None where it could not be asked."""
    try:
        done = subprocess.run(  # noqa: S603  # the interpreters are those of the command line
            [interpreter, str(HERE / "ask.py"), name],
            input=json.dumps(settings),
            capture_output=True,
            text=True,
            timeout=seconds,
            check=True,
        )
    except (subprocess.SubprocessError, OSError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def judged(truth, answer, delta):
    """Verdict, claimed over true epsilon, and the part of epsilon that is missing; None where there is no number."""
    if isinstance(answer, dict):
        if answer.get("value") == "inf":
            return Verdict.PROVED, math.inf, 0.0
        return None
    found = truth.judge(answer, delta)
    return found.verdict, answer / found.epsilon.upper, max(0.0, 1 - answer / found.epsilon.lower)


def number(value):
    """Four digits."""
    return "∞" if math.isinf(value) else f"{value:.4g}"


def cell(answer, found):
    """One answer in the table."""
    if found is None:
        return "-"
    verdict, ratio, _ = found
    marks = {Verdict.PROVED: "", Verdict.REFUTED: " **unsound**", Verdict.INCONCLUSIVE: " ?"}
    return f"{number(math.inf if math.isinf(ratio) else answer)}{marks[verdict]}"


def summary(name, version, rows):
    """One line for an accountant."""
    found = [row for row in rows if row is not None]
    ratios = [ratio for verdict, ratio, _ in found if verdict is Verdict.PROVED and math.isfinite(ratio)]
    missing = [short for verdict, _, short in found if verdict is Verdict.REFUTED]
    return [
        name,
        version,
        str(len(found)),
        str(sum(verdict is Verdict.PROVED for verdict, *_ in found)),
        str(len(missing)),
        str(sum(verdict is Verdict.INCONCLUSIVE for verdict, *_ in found)),
        f"{statistics.median(ratios):.3f}" if ratios else "-",
        f"{max(ratios):.3f}" if ratios else "-",
        f"{max(missing):.2g}" if missing else "-",
        str(len(rows) - len(found)),
    ]


def table(head, rows):
    """Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main():
    """Ask, judge and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", action="append", default=[], metavar="DISTRIBUTION=INTERPRETER")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--answers", type=Path, help="file that keeps answers, for a run that goes on")
    parser.add_argument("--seconds", type=float, default=1800, help="limit for each accountant")
    options = parser.parse_args()
    interpreters = dict(item.split("=", 1) for item in options.python)

    settings = [*SAMPLED, *PLAIN, *KNOWN]
    kept = json.loads(options.answers.read_text()) if options.answers and options.answers.exists() else {}
    for name, (_, distribution) in ACCOUNTANTS.items():
        if distribution in interpreters and name not in kept:
            found = asked(name, interpreters[distribution], settings, options.seconds)
            if found is not None:
                kept[name] = found
                if options.answers:
                    options.answers.write_text(json.dumps(kept))
    answers = {name: kept[name]["answers"] for name in ACCOUNTANTS if name in kept}
    versions = {name: kept[name]["version"] for name in answers}

    enclosures = []
    verdicts = {name: [] for name in answers}
    for i, setting in enumerate(settings):
        truth = NoisySteps(noise_multiplier=setting["noise"], rate=setting["rate"], steps=setting["steps"])
        enclosures.append(truth.epsilon(setting["delta"]))
        for name in answers:
            verdicts[name].append(judged(truth, answers[name][i], setting["delta"]))
        print(f"{i + 1} of {len(settings)}", file=sys.stderr)
    options.output.write_text(page(settings, enclosures, answers, versions, verdicts), encoding="utf-8")


def page(settings, enclosures, answers, versions, verdicts):
    """The page, from what was computed."""
    unsound = {
        name: sum(row is not None and row[0] is Verdict.REFUTED for row in rows) for name, rows in verdicts.items()
    }
    guilty = [name for name, count in unsound.items() if count]
    missing = [name for name in ACCOUNTANTS if name not in answers]
    widest = max((e.upper - e.lower) / max(1.0, e.lower) for e in enclosures)
    answered = {name: [row for row in rows if row is not None] for name, rows in verdicts.items()}
    finding = "; ".join(
        f"{name} states less than the true epsilon at {unsound[name]} of {len(answered[name])} settings, by up to "
        f"{max(row[2] for row in answered[name]):.2g} of it"
        for name in guilty
    )
    finding = finding or "No accountant states less than the true epsilon at any of the settings"
    heads = ["rate", "noise", "steps", "delta", "true epsilon", *answers]
    rows = []
    for i, (setting, enclosure) in enumerate(zip(settings, enclosures, strict=True)):
        rows.append(
            [
                *(f"{setting[key]:g}" for key in ("rate", "noise", "steps", "delta")),
                f"{enclosure.lower:.5g} to {enclosure.upper:.5g}",
                *(cell(answers[name][i], verdicts[name][i]) for name in answers),
            ]
        )
    errors = sorted(
        {
            (name, answer["error"].partition("\n")[0][:150])
            for name in answers
            for answer in answers[name]
            if isinstance(answer, dict) and "error" in answer
        }
    )
    parts = [
        "# Accountants of subsampled Gaussian noise",
        f"{finding}.",
        f"""Each accountant was asked for epsilon at {len(settings)} settings of Gaussian noise on Poisson samples, with
one record added or removed. Its answer is held against dpaudit's enclosure of the true epsilon (`dpaudit.NoisySteps`),
which is at most {widest:.1e} wide (relative to an epsilon above 1). An answer below the enclosure is unsound: there are
two datasets and an event that violate it. An answer above it is sound, and its ratio to the truth says how loose it is.
`?` marks an answer inside the enclosure, and the shortfall is the part of epsilon that an unsound answer lacks. One of
the order of 1e-8 may be rounding: accountants compose in double precision, and do not add what that may cost.""",
        table(
            [
                "accountant",
                "version",
                "answers",
                "sound",
                "unsound",
                "undecided",
                "median ratio",
                "largest ratio",
                "largest shortfall",
                "no answer",
            ],
            [summary(name, versions[name], verdicts[name]) for name in answers],
        ),
        """Opacus GDP is the accountant by the central limit theorem (Bu, Dong, Long, Su 2020); it is an approximation,
and its epsilon is no bound. OpenDP accounts for no subsampling and is asked at rate 1 alone. An infinite answer is
sound and has no ratio.""",
        f"## The case of prv_accountant, issue 17\n\n{known_case(settings, enclosures, answers, verdicts, versions)}",
        "## All answers",
        table(heads, rows),
    ]
    if errors:
        parts += ["## What was raised", "\n".join(f"- {name}: `{error}`" for name, error in errors)]
    if missing:
        parts.append(f"Not asked, for want of an environment: {', '.join(missing)}.")
    parts.append(
        f"Written by `examples/accountants/table.py` with dpaudit {version_of_dpaudit()} on "
        f"{dt.datetime.now(tz=dt.UTC).date().isoformat()}; nothing on this page is typed in, apart from what the issue "
        "reports."
    )
    return "\n\n".join(parts) + "\n"


def known_case(settings, enclosures, answers, verdicts, versions):
    """What everybody says at the settings of the published report."""
    places = [i for i, setting in enumerate(settings) if setting in KNOWN]
    lines = [
        "The report: for a rate of 0.00033, noise 4 and 10,000 steps, prv-accountant gave an upper bound of 0.156 at "
        "delta 1.1e-18 and of 3.9 at delta 1.13e-18 (2021). The truth lies between "
        + " and between ".join(
            f"{enclosures[i].lower:.5f} and {enclosures[i].upper:.5f} at delta {settings[i]['delta']:g}" for i in places
        )
        + ", so that both bounds were sound, and the second was loose. Now:",
        "",
    ]
    for name in answers:
        if all(
            isinstance(answers[name][i], dict) and "NotImplemented" in answers[name][i].get("error", "") for i in places
        ):
            continue
        said = " and ".join(
            number(answers[name][i]) + (" (unsound)" if verdicts[name][i][0] is Verdict.REFUTED else "")
            if not isinstance(answers[name][i], dict)
            else answers[name][i].get("value") or "an error"
            for i in places
        )
        lines.append(f"- {name} {versions[name]}: {said}.")
    return "\n".join(lines)


def version_of_dpaudit():
    """Installed version."""
    from importlib.metadata import version

    return version(dpaudit.__name__)


if __name__ == "__main__":
    main()
