"""The black-box auditor on mechanisms of known privacy, against the truth and the best bound there could be.

A row under 0.95 of the oracle bound is marked. With --best-pair, the pair of inputs that the oracle takes is given, so
that only the event is to be found. With --false-refutations: how often a bound is above the truth. With --luck, of the
first suite: how often the oracle's own event comes under 0.95 of the bound at its expected counts.
The held-out suite is there to report on: what it shows must not decide how the auditor is built.
"""

import argparse
import math
import os
import shlex
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from suite import SUITES, case_named, cases, oracle
from suite.audit import audit_case, false_refutations, sampling_time
from tables import aligned, markdown, versions

from dpaudit.statistics import clopper_pearson

ENOUGH = 0.95
LUCK_DRAWS = 100_000
TITLES = {
    "first": "Black-box audits of mechanisms from the literature",
    "second": "Black-box audits of mechanisms of the second suite",
    "held-out": "Black-box audits of held-out mechanisms",
}
LIBRARIES = ("dpaudit", "numpy", "scipy", "scikit-learn")
AUDIT_COLUMNS = (
    "mechanism",
    "claimed",
    "true epsilon",
    "oracle",
    "lower bound",
    "bound/oracle",
    "verdict",
    "samples",
    "sampler s",
    "total s",
    "overhead",
)
LUCK_COLUMNS = ("mechanism", "oracle", "P", "Q", "least tenth", "spread", "under 0.95")
RATE_COLUMNS = ("mechanism", "true epsilon", "mean bound", "above", "audits", "rate", "95 % interval", "stated")


def main(arguments=None) -> int:
    options = _parser().parse_args(arguments)
    suite = cases(options.suite)
    unknown = [name for name in options.only or () if name not in suite]
    if unknown:
        print(f"no case named {', '.join(unknown)}; there are: {', '.join(suite)}", file=sys.stderr)
        return 2
    if options.luck and options.suite != "first":
        print("--luck is for the first suite, whose outputs fall into cells of known probabilities", file=sys.stderr)
        return 2
    names = options.only or list(suite)
    if options.false_refutations:
        lines = _rates([name for name in names if math.isfinite(suite[name].truth())], options)
    elif options.luck:
        lines = _luck(names, options)
    else:
        lines = _audits(names, options)
    print("\n".join(aligned(lines)))
    if options.write:
        Path(options.write).write_text(_markdown(lines, options), encoding="utf-8")
    return 0


def _parser():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", choices=list(SUITES), default="first", help="(default: first)")
    parser.add_argument("--samples", type=int, help="per input; 10,000,000, or 2,000 with --false-refutations")
    parser.add_argument("--confidence", type=float, default=0.9)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these cases alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", metavar="FILE", help="write the table as Markdown")
    parser.add_argument("--best-pair", action="store_true", help="give the pair of inputs that the oracle takes")
    parser.add_argument("--false-refutations", action="store_true", help="many small audits of every case")
    parser.add_argument("--seeds", type=int, default=200, help="audits of each case with --false-refutations")
    parser.add_argument("--luck", action="store_true", help="no audits: the oracle's own event in other final samples")
    return parser


def _audits(names, options):
    samples = options.samples or 10_000_000
    given = (samples, options.confidence, options.seed, options.best_pair)
    rows = _in_workers(audit_case, names, given, options.workers)
    lines = [AUDIT_COLUMNS]
    for row in rows:
        epsilon, delta = row.claimed
        lines.append(
            (
                row.name,
                f"{epsilon:.4g}" + (f", {delta:g}" if delta else ""),
                _number(row.truth),
                _number(row.oracle),
                _number(row.bound),
                f"{row.ratio:.3f}" + ("" if row.ratio >= ENOUGH else " !"),
                row.verdict,
                f"{row.samples:,}",
                f"{row.sampler:.1f}",
                f"{row.total:.1f}",
                f"{row.overhead:.0%}",
            )
        )
        if row.verdict == "error":
            print(f"{row.name}: {row.note}", file=sys.stderr)
    low = sum(not row.ratio >= ENOUGH for row in rows)
    ratios = [0.0 if math.isnan(row.ratio) else row.ratio for row in rows]
    print(
        f"{len(rows)} cases, {low} under {ENOUGH} (!), median {statistics.median(ratios):.3f}, "
        f"least {min(ratios):.3f}; samplers {sum(row.sampler for row in rows):.0f} s, "
        f"audits {sum(row.total for row in rows):.0f} s altogether",
        file=sys.stderr,
    )
    return lines


def _luck(names, options):
    """How much of its bound at expected counts the best event of the best pair has in drawn counts."""
    lines, never = [LUCK_COLUMNS], 1.0
    rng = np.random.default_rng(options.seed)
    for name in names:
        case = case_named(name)
        samples = min(options.samples or 10_000_000, case.most or math.inf)
        event = case.best_event(samples, options.confidence)
        drawn = oracle.drawn_bounds(
            event, samples, options.confidence, rng, draws=LUCK_DRAWS, delta=case.mechanism.delta
        )
        parts = drawn / event.bound
        under = float(np.mean(parts < ENOUGH))
        never *= 1 - under
        lines.append(
            (
                name,
                _number(event.bound),
                f"{event.p:.3g}",
                f"{event.q:.3g}",
                f"{np.quantile(parts, 0.1):.3f}",
                f"{parts.std():.3f}",
                f"{under:.1%}",
            )
        )
    print(f"all of them at {ENOUGH} or more: {never:.0%}", file=sys.stderr)
    return lines


def _rates(names, options):
    samples = options.samples or 2000
    found = _in_workers(
        false_refutations, names, (options.seeds, samples, options.confidence, options.seed), options.workers
    )
    lines = [RATE_COLUMNS]
    stated = 1 - options.confidence
    above, audits = sum(rate.above for rate in found), sum(rate.audits for rate in found)
    lines += [
        (rate.name, _number(rate.truth), _number(rate.mean), *_rate_cells(rate.above, rate.audits, stated))
        for rate in found
    ]
    lines.append(("all", "", "", *_rate_cells(above, audits, stated)))
    return lines


def _rate_cells(above, audits, stated):
    low, high = clopper_pearson(above, audits, 0.95)
    flag = " !" if low > stated else ""
    return str(above), str(audits), f"{above / audits:.2%}{flag}", f"{low:.2%} to {high:.2%}", f"{stated:.0%}"


def _in_workers(task, names, arguments, workers):
    """Run a task for every case, the longest first; results in the order of the names."""
    # Workers share the processors already; numerical libraries keep to one thread in each of them.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    results = {}
    order = sorted(names, key=sampling_time, reverse=True)
    with ProcessPoolExecutor(max_workers=workers, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(task, name, *arguments): name for name in order}
        for done in as_completed(running):
            results[running[done]] = done.result()
            print(f"{len(results)} of {len(names)}: {running[done]}", file=sys.stderr, flush=True)
    return [results[name] for name in names]


def _number(value):
    return "infinite" if math.isinf(value) else f"{value:.4f}"


def _markdown(lines, options):
    sources = [f"- `{line[0]}`: {case_named(line[0]).source}" for line in lines if line[0] in cases(options.suite)]
    return "\n".join(
        [
            f"# {TITLES[options.suite]}" + _what(options),
            "",
            f"`{_command(options)}` with {versions(LIBRARIES)}",
            "",
            *markdown(lines),
            "",
            "Sources:",
            "",
            *sources,
            "",
        ]
    )


def _what(options):
    if options.luck:
        return ": the luck of the best event"
    return ", the best pair of inputs given" if options.best_pair else ""


def _command(options):
    """The command that makes this table, whatever it was called by."""
    parts = ["python", "benchmarks/blackbox.py"]
    if options.suite != "first":
        parts += ["--suite", options.suite]
    if options.best_pair:
        parts += ["--best-pair"]
    if options.luck:
        parts += ["--luck"]
    if options.false_refutations:
        parts += ["--false-refutations", "--seeds", str(options.seeds)]
    for name in ("samples", "confidence", "seed", "workers"):
        if getattr(options, name) is not None:
            parts += [f"--{name}", str(getattr(options, name))]
    if options.only:
        parts += ["--only", *options.only]
    return shlex.join(parts)


if __name__ == "__main__":
    sys.exit(main())
