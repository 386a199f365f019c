"""What reports of many results cost: CPU seconds and peak memory of every format, for records of several shapes.

Run with ``python benchmarks/reporting.py``; ``--results`` says how many, ``--against FOLDER`` compares with another
checkout, in one run, ``--only WORD`` takes the rows that hold a word. It takes a few minutes.
"""

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dpaudit.claims.entries import ClaimEntry, ErratumEntry, PaperEntry, PlaceEntry
from dpaudit.claims.evidence import Counterexample, Curves, Interval, Violation
from dpaudit.claims.record import Record, Result, SystemEntry, summarise
from dpaudit.claims.verdicts import Verdict, status_of

_LONG_NOTE = "the target raised on line 12 because of something that takes many words to say; " * 25
_LIMIT = 120


def result(i, **changes):
    """Return a result of a synthetic record."""
    values = {
        "target": "coin",
        "claim": "paper.theorem1",
        "kind": "privacy",
        "source": "Paper 2020, Theorem 1",
        "statement": "The report is ϵ-differentially private.",
        "parameters": {"epsilon": 1.0 + i % 200, "agents": i // 200, "queries": 3},
        "view": "report",
        "relation": "substitution",
        "guarantee": "approximate-dp",
        "scope": "all 6 pairs of inputs",
        "method": "exact",
        "verdict": Verdict.PROVED,
        "expected": None,
        "claimed": {"epsilon": 1.0, "delta": 0.0},
        "measured": {"epsilon": Interval.exact(0.5), "delta": Interval.exact(0.0), "tightness": Interval.exact(2.0)},
        "seed": 0,
        "command": f"dpaudit check coin --claim paper.theorem1 --set epsilon={1.0 + i % 200} --set agents={i // 200}",
        **changes,
    }
    if values["kind"] != "privacy":
        values |= {"view": None, "relation": None, "guarantee": None}
    return Result(**values, ok=status_of(values["verdict"], values["expected"]) == 0)


def record(results, **changes):
    """Return a synthetic record."""
    made = tuple(results)
    return Record(version="0", seed=0, results=made, summary=summarise(made), **changes)


def of_one_claim(n):
    """Cells of one claim, most of them as expected, of several verdicts for several reasons."""
    verdicts = (Verdict.PROVED, Verdict.VACUOUS, Verdict.REFUTED, Verdict.PROVED)
    return record(
        result(i, verdict=verdicts[i % 4], expected=verdicts[i % 4], reason=f"reason {i % 3}") for i in range(n)
    )


def of_as_many_claims(n):
    """Claims of one cell each, of one target and of a paper."""
    claims = {
        f"paper.claim{i}": ClaimEntry(
            kind="privacy", paper="paper", places=(PlaceEntry(label=f"Theorem {i}", sort=(1, i), numbered=True),)
        )
        for i in range(n)
    }
    paper = PaperEntry(title="Coins", authors=("Doe",), year=2020)
    verdicts = (Verdict.PROVED, Verdict.VACUOUS, Verdict.REFUTED)
    return record(
        (result(i, claim=name, verdict=verdicts[i % 3], expected=verdicts[i % 3]) for i, name in enumerate(claims)),
        claims=claims,
        papers={"paper": paper},
    )


def of_as_many_targets(n):
    """Targets of one cell each, each with an erratum and with a claim of its own."""
    errata = tuple(
        ErratumEntry(where=f"line {i}", printed="a", meant="b", reason="c", sort=(i,), systems=(f"coin{i}",))
        for i in range(n)
    )
    systems = {f"coin{i}": SystemEntry(title="a coin", description="thrown", source="") for i in range(n)}
    paper = PaperEntry(title="Coins", authors=("Doe",), year=2020, errata=errata)
    claims = {f"paper.claim{i}": ClaimEntry(kind="privacy", paper="paper") for i in range(n)}
    return record(
        (result(i, target=f"coin{i}", claim=f"paper.claim{i}") for i in range(n)),
        systems=systems,
        papers={"paper": paper},
        claims=claims,
    )


def refuted_alike(n):
    """Equal refutations with witnesses."""
    witness = Violation(
        data=[[2, 1, 0], [0, 1, 2]],
        neighbour=[[0, 1, 2], [0, 1, 2]],
        event={"outcomes": [[2, 1, 0]]},
        p=1 / 6,
        q=0.019,
        forces={"epsilon": 2.17},
    )
    measured = {"epsilon": Interval(lower=2.17, upper=None), "delta": Interval.exact(0.0)}
    return record(result(0, verdict=Verdict.REFUTED, witness=witness, measured=measured) for _ in range(n))


def raised(n):
    """Errors with long notes."""
    return record(
        result(i, verdict=Verdict.ERROR, method="raised", measured={}, note=f"{i}: {_LONG_NOTE}") for i in range(n)
    )


def along_a_parameter(n):
    """Cells of a utility bound along one parameter, some of which break it."""
    results = []
    for i in range(n):
        wrong = i % 5 == 0
        results.append(
            result(
                i,
                kind="utility",
                parameters={"agents": i + 1},
                verdict=Verdict.REFUTED if wrong else Verdict.CERTIFIED,
                expected=Verdict.CERTIFIED,
                claimed={"bound": 0.5},
                measured={
                    "value": Interval(lower=0.6 if wrong else 0.1, upper=0.7, estimate=0.65),
                    "trivial": Interval.exact(1.0),
                },
                witness=Counterexample(
                    instance={"agents": i}, quantity="mean", measured=0.65, claimed=0.5, direction="at-most"
                )
                if wrong
                else None,
            )
        )
    return record(results)


def with_curves(n):
    """Cells of a privacy claim with a curve each."""
    grid = tuple(k / 20 for k in range(20))
    return record(
        result(
            i,
            curves=Curves(
                epsilon=grid,
                delta_lower=(i / n,) * 20,
                delta_upper=(i / n,) * 20,
                type_one=grid,
                type_two_lower=grid[::-1],
                type_two_upper=grid[::-1],
            ),
        )
        for i in range(n)
    )


SHAPES = (
    of_one_claim,
    of_as_many_claims,
    of_as_many_targets,
    refuted_alike,
    raised,
    along_a_parameter,
    with_curves,
)


def works(made):
    """Return by name what is measured, each a function that returns text."""
    from dpaudit.reporting import FORMATS, ledger, page, render_console, render_html
    from dpaudit.reporting.compare import compare_records, render_comparison

    def comparison(form):
        other = record(made.results[::2], papers=made.papers, systems=made.systems, claims=made.claims)
        return render_comparison(compare_records(other, made), form)

    text = made.to_json()
    return {
        **{name: lambda render=render: render(made) for name, render in FORMATS.items()},
        "text in colour": lambda: render_console(made, color=True),
        "reading JSON": lambda: Record.from_json(text).version,
        "HTML of a paper": lambda: render_html(made, paper="paper"),
        "page of a paper": lambda: page.render_paper(made, "paper")["paper.md"],
        "ledger": lambda: ledger.render_ledger({"paper": made}),
        "ledger as HTML": lambda: ledger.render_ledger_html({"paper": made}),
        **{f"compare as {form}": lambda form=form: comparison(form) for form in ("text", "markdown", "json")},
        "show a claim": lambda: shown(made, text, claim=True),
        "show a paper": lambda: shown(made, text, claim=False),
    }


def shown(made, text, *, claim):
    """Return what ``dpaudit show`` prints of the claims of a record, which is read from a file."""
    from dpaudit.claims.declarations import Declaration
    from dpaudit.cli import show
    from dpaudit.registry import CataloguePaper, catalogue

    declarations = tuple(
        Declaration(
            id=name, kind=entry.kind, statement=entry.statement, targets=(), function=print, module="dpaudit", line=1
        )
        for name, entry in made.claims.items()
    )
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as printed:
        path = Path(folder, "paper.json")
        path.write_text(text, encoding="utf-8")
        catalogue.record_of = lambda _: [path]
        if claim:
            show._show_claim(declarations[0])
        else:
            show._show_paper(CataloguePaper(key="paper", module="dpaudit", targets={}, declarations=declarations))
    return printed.getvalue()


def measured(work):
    """Return CPU seconds, peak MiB and characters of the output, found in a process of its own; None past the limit."""
    receiver, sender = multiprocessing.Pipe(duplex=False)

    def run():
        start = time.process_time()
        length = len(work())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        sender.send((time.process_time() - start, peak, length))

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(_LIMIT) else None
    except EOFError:
        return None
    finally:
        process.kill()
        process.join()


def rows(number, only):
    """Yield (shape, format, what was measured)."""
    for shape in SHAPES:
        made = shape(number)
        for name, work in works(made).items():
            if only in f"{shape.__name__} {name}":
                yield shape.__name__, name, measured(work)


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=int, default=20_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--against", type=Path, help="folder of another checkout")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    before = {}
    if options.against is not None:
        command = [sys.executable, __file__, "--json", "--results", str(options.results), "--only", options.only]
        env = {**os.environ, "PYTHONPATH": str(options.against.resolve())}
        done = subprocess.run(command, env=env, cwd=options.against, check=True, stdout=subprocess.PIPE, text=True)
        before = {(shape, name): found for shape, name, found in map(json.loads, done.stdout.splitlines())}
    if not options.json:
        print(f"| {options.results} results | format | CPU seconds | before | peak MiB | before | million characters |")
        print("|---|---|---:|---:|---:|---:|---:|")
    for shape, name, found in rows(options.results, options.only):
        if options.json:
            print(json.dumps([shape, name, found]), flush=True)
            continue
        old = before.get((shape, name), ("", "", ""))
        old, new = (_texts(each) for each in (old, found))
        columns = (shape.replace("_", " "), name, new[0], old[0], new[1], old[1], new[2])
        print("| " + " | ".join(columns) + " |", flush=True)


def _texts(found):
    if found is None:
        return f"over {_LIMIT}", "", ""
    return tuple(
        f"{number:.{digits}f}" if number != "" else ""
        for number, digits in zip((*found[:2], found[2] if found[2] == "" else found[2] / 1e6), (2, 0, 1), strict=True)
    )


if __name__ == "__main__":
    main()
