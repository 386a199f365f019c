"""What a neural estimate of the density ratio would add to the black-box auditor, and what it costs.

Every row is audited with and without it on the same samples: the network is one more score, fitted, judged and chosen
as the others are. PyTorch is needed.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import numpy as np
from peers.ours import audited
from suite import SUITES, cases
from suite.given import given
from tables import aligned, markdown, versions

ENOUGH = 0.02
COLUMNS = (
    "mechanism",
    "seeds",
    "oracle",
    "without",
    "with",
    "gain",
    "its error",
    "chosen",
    "s without",
    "s with",
)


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", choices=list(SUITES), nargs="+", default=["first", "second"])
    parser.add_argument("--samples", type=int, default=200_000, help="per input (default: 200,000)")
    parser.add_argument("--confidence", type=float, default=0.9)
    parser.add_argument("--seeds", type=int, default=1, help="audits of every row")
    parser.add_argument("--more-seeds", type=int, default=8, help="audits of a row that seems to change by 1 %%")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these cases alone")
    parser.add_argument("--write", metavar="FILE", help="write the table as Markdown")
    options = parser.parse_args(arguments)
    try:
        from peers.neural import with_network
    except ImportError as missing:
        print(f"{missing}: pip install torch", file=sys.stderr)
        return 2
    lines = [COLUMNS]
    for suite in options.suite:
        for name, case in cases(suite).items():
            if options.only and name not in options.only:
                continue
            lines.append(_line(name, case, options, with_network))
            print("  ".join(lines[-1]), file=sys.stderr, flush=True)
    print("\n".join(aligned(lines)))
    if options.write:
        text = [
            "# What a neural density ratio adds",
            "",
            f"`python benchmarks/neural.py --suite {' '.join(options.suite)} --samples {options.samples}` with "
            + versions(("dpaudit", "numpy", "scikit-learn", "torch")),
            "",
            "Bounds are means over the seeds; the gain is relative to the oracle, with its standard error over the "
            "seeds; `!` marks gains of two per cent and more. Where the first seeds change by less than one per cent, "
            "no more are audited. *Chosen* counts the seeds in which the network made a difference.",
            "",
            *markdown(lines),
        ]
        Path(options.write).write_text("\n".join(text) + "\n", encoding="utf-8")
    return 0


def _line(name, case, options, with_network):
    samples = min(options.samples, case.most or options.samples)
    row = given(name, samples, options.confidence)
    bounds, seconds = ([], []), ([], [])

    def audit(seed):
        for which in (0, 1):
            start = time.process_time()
            if which:
                with with_network():
                    bound = audited(row, samples, options.confidence, seed).bound
            else:
                bound = audited(row, samples, options.confidence, seed).bound
            bounds[which].append(bound)
            seconds[which].append(time.process_time() - start)

    for seed in range(options.seeds):
        audit(seed)
    reference = row.oracle or 1.0
    gains = np.subtract(bounds[1], bounds[0]) / reference
    if np.abs(gains).max() >= ENOUGH / 2:
        for seed in range(options.seeds, options.more_seeds):
            audit(seed)
        gains = np.subtract(bounds[1], bounds[0]) / reference
    gain = float(gains.mean())
    error = f"{gains.std(ddof=1) / len(gains) ** 0.5:.1%}" if len(gains) > 1 else ""
    return (
        name,
        str(len(gains)),
        f"{row.oracle:.4g}",
        *(f"{statistics.mean(side):.4g}" for side in bounds),
        f"{gain:+.1%}{' !' if abs(gain) >= ENOUGH else ''}",
        error,
        f"{np.count_nonzero(gains)} of {len(gains)}",
        *(f"{statistics.mean(side):.2f}" for side in seconds),
    )


if __name__ == "__main__":
    sys.exit(main())
