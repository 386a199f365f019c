"""The black-box auditor and its peers on the same mechanisms, pairs of inputs and numbers of samples.

Every auditor draws its own samples, as many per input; what they take counts in its processor time. A bound is the
mean over the seeds, and stands beside the oracle's: what Clopper-Pearson gives for the best event of the pair.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

from peers import PEERS, ldp, ours, sniper, twosample
from suite import SUITES, case_named, cases
from suite.given import given
from tables import aligned, markdown, versions

LIBRARIES = ("dpaudit", "numpy", "scipy", "scikit-learn")
OURS = "dpaudit"
ROWS = {
    "laplace": "one number",
    "gaussian-false-delta": "one number, delta",
    "needle-thousandth": "spike",
    "truncated-geometric": "outcomes",
    "noisy-max-laplace": "outcomes, noisy max",
    "randomized-response": "local",
    "optimized-unary-encoding": "local",
    "subset-selection": "local",
    "optimized-local-hashing": "local",
    "seeded-local-hashing-features": "local, features",
    "sparse-vector-2": "sparse vector",
    "sparse-vector-4": "sparse vector",
    "noisy-histogram": "rows",
    "laplace-parallel": "rows",
    "tree-counter": "rows, delta",
    "sorted-noisy-values": "rows, sorted",
    "one-character": "strings",
    "profile-dict": "dicts",
    "winner-and-gap": "tuples",
}


AUDITORS = {OURS: ours.audited, **PEERS}


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=200_000, help="per input (default: 200,000)")
    parser.add_argument("--confidence", type=float, default=0.9)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these cases, of any suite")
    parser.add_argument("--auditors", nargs="+", choices=list(AUDITORS), default=list(AUDITORS), metavar="NAME")
    parser.add_argument("--write", metavar="FILE", help="write the tables as Markdown")
    options = parser.parse_args(arguments)
    known = {name for suite in SUITES for name in cases(suite)}
    names = options.only or list(ROWS)
    if unknown := [name for name in names if name not in known]:
        print(f"no case named {', '.join(unknown)}; there are: {', '.join(sorted(known))}", file=sys.stderr)
        return 2
    bounds = [("mechanism", "class", "true epsilon", "oracle", *options.auditors)]
    times = [("mechanism", *options.auditors)]
    ratios: dict[str, list[float]] = {name: [] for name in options.auditors}
    for name in names:
        row = given(name, options.samples, options.confidence)
        said, seconds = [], []
        for auditor in options.auditors:
            found, spent = _run(AUDITORS[auditor], row, options)
            said.append(_cell(found, row, options.confidence))
            seconds.append(f"{spent:.2f}" if found else "")
            if found and found[0].bound is not None and row.oracle > 0:
                ratios[auditor].append(statistics.mean(each.bound for each in found) / row.oracle)
        family = ROWS.get(name) or getattr(case_named(name), "family", "")
        bounds.append((name, family, f"{row.truth:.4g}", f"{row.oracle:.4g}", *said))
        times.append((name, *seconds))
        print("  ".join(bounds[-1]), "|", "  ".join(seconds), file=sys.stderr, flush=True)
    summary = [("auditor", "rows with a bound", "median of the oracle", "least", "most")]
    for auditor, found in ratios.items():
        if found:
            summary.append((auditor, str(len(found)), *(f"{f(found):.3f}" for f in (statistics.median, min, max))))
    for table in (bounds, times, summary):
        print("\n".join(aligned(table)), end="\n\n")
    if options.write:
        Path(options.write).write_text(_page(bounds, times, summary, options), encoding="utf-8")
    return 0


def _run(auditor, row, options):
    """What an auditor says with every seed, and processor seconds of one run; nothing where it does not apply."""
    # The first run loads what it needs.
    if auditor(row, 2000, options.confidence, 0) is None:
        return [], 0.0
    start = time.process_time()
    found = [auditor(row, options.samples, options.confidence, seed) for seed in range(options.seeds)]
    return found, (time.process_time() - start) / options.seeds


def _cell(found, row, confidence):
    if not found:
        return ""
    parts = []
    if found[0].bound is not None:
        bound = statistics.mean(each.bound for each in found)
        ratio = f" ({bound / row.oracle:.2f})" if row.oracle > 0 else ""
        parts.append(f"{bound:.4g}{ratio}")
    else:
        parts.append("epsilon > 0" if all(each.p_value <= 1 - confidence for each in found) else "nothing")
    if found[0].p_value is not None:
        most = max(each.p_value for each in found)
        parts.append(f"p {'< 1e-9' if most < 1e-9 else f'{most:.2g}'}")
    return ", ".join(parts)


def _page(bounds, times, summary, options) -> str:
    command = (
        f"python benchmarks/peers.py --samples {options.samples} --confidence {options.confidence} --seeds "
        f"{options.seeds}"
    )
    if options.only:
        command += f" --only {' '.join(options.only)}"
    parts = [
        "# dpaudit and its peers",
        "",
        f"`{command}` with {versions(LIBRARIES)}",
        "",
        f"Lower bounds on epsilon at {options.confidence:.0%} confidence from {options.samples:,} samples per input, "
        "for one pair of inputs that all are given; in brackets, parts of the oracle's bound. A blank says that the "
        "method does not apply. A two-sample test has a p-value for equal laws, the largest of the seeds: a small one "
        f"shows that epsilon is above 0, and refutes no other claim. The kernel test takes "
        f"{twosample.KERNEL_SAMPLES:,} samples per input, since its cost is quadratic.",
        "",
        *markdown(bounds),
        "",
        *markdown(summary),
        "",
        "## Processor seconds of one run, its samples included",
        "",
        *markdown(times),
        "",
        "## How the peers were made",
        "",
    ]
    for module in (sniper, ldp, twosample):
        title, *rest = module.__doc__.splitlines()
        parts += [f"**{title.rstrip('.')}.**", *rest[1:], ""]
    return "\n".join(parts).rstrip() + "\n"


if __name__ == "__main__":
    sys.exit(main())
