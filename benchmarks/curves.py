"""How near to the truth the bounds of `dpaudit.privacy_bounds` are, and how often one of them is wrong.

Prints the table of `docs/privacy-bounds.md`: each bound as a part of the truth, in the mean over a few seeds. With
``--runs N`` it counts, of as many runs, those in which any bound is wrong anywhere, and with ``--figure FILE`` it
draws the bounds of one run against the truth.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from suite.closed import EPSILONS, KNOWN, TYPE_ONE

import dpaudit
from dpaudit.reporting.figures.drawing import (
    BOTTOM,
    DASHED,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    Line,
    svg,
)

COLUMNS = ("epsilon(0)", "epsilon(1e-5)", "epsilon(1e-2)", "mu", "rho", "renyi(2)", "renyi(10)")


def values(made):
    """What a column holds, of bounds or of the truth."""
    epsilons = [made.epsilon(delta) for delta in (0.0, 1e-5, 1e-2)]
    return np.array([*epsilons, made.mu, made.rho, made.renyi(2.0), made.renyi(10.0)])


def print_parts(samples, seeds):
    """Print the parts of the truth that so many samples reach."""
    print(f"| {samples:,} samples | {' | '.join(COLUMNS)} | seconds |\n|{'---|' * (len(COLUMNS) + 2)}")
    for name, known in KNOWN.items():
        begun, parts = time.perf_counter(), []
        for seed in range(seeds):
            bounds = dpaudit.privacy_bounds(known.sample, 0, 1, samples=samples, seed=seed)
            parts.append(values(bounds) / values(known))
        seconds = (time.perf_counter() - begun) / seeds
        means = [f"{mean:.3f}" if mean > 0 else "-" for mean in np.mean(parts, axis=0)]
        print(f"| {name} | {' | '.join(means)} | {seconds:.2f} |", flush=True)


def print_wrong(runs, samples, confidence):
    """Count runs in which any bound is wrong."""
    for name, known in KNOWN.items():
        wrong = 0
        for seed in range(runs):
            bounds = dpaudit.privacy_bounds(known.sample, 0, 1, samples=samples, confidence=confidence, seed=seed)
            wrong += bool(known.wrong(bounds))
        print(f"| {name} | {samples:,} | {confidence} | {wrong} of {runs} |", flush=True)


def figure(samples):
    """Both curves of Gaussian noise, and their bounds from one run."""
    known = KNOWN["Gaussian, mu 1"]
    bounds = dpaudit.privacy_bounds(known.sample, 0, 1, samples=samples, seed=1)
    epsilons = EPSILONS[EPSILONS <= 3]
    left = (
        Axis(label="epsilon", low=0, high=3, start=LEFT, end=RIGHT),
        Axis(label="delta", low=0, high=0.4, start=BOTTOM, end=TOP),
    )
    right = (
        Axis(label="type I error", low=0, high=1, start=LEFT, end=RIGHT),
        Axis(label="least type II error", low=0, high=1, start=BOTTOM, end=TOP),
    )
    profile = [
        Line(name="truth", points=[(e, known.delta(e)) for e in epsilons]),
        Line(name="lower bound", points=[(e, bounds.delta(e)) for e in epsilons], dashes=DASHED),
    ]
    trade_off = [
        Line(name="truth", points=[(t, known.trade_off(t)) for t in TYPE_ONE]),
        Line(name="upper bound", points=[(t, bounds.trade_off(t)) for t in TYPE_ONE], dashes=DASHED),
    ]
    about = f"of Gaussian noise with mu 1, and what {samples:,} samples say of it"
    panels = (
        svg("profile", "Privacy profile", f"Privacy profile {about}.", *left, profile),
        svg("trade-off", "Trade-off function", f"Trade-off function {about}.", *right, trade_off).replace(
            "<svg ", f'<svg x="{WIDTH + 20}" ', 1
        ),
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * WIDTH + 20}" height="{HEIGHT}" color="#1b1b1b" '
        'font-family="system-ui, sans-serif" font-size="11">\n'
        "<style>text { fill: currentColor; stroke: none }</style>\n"
        '<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(panels) + "\n</svg>\n"
    )


def main():
    """Read the command line and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--confidence", type=float, default=0.95)
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    if given.figure:
        given.figure.write_text(figure(given.samples[0]))
        return
    for samples in given.samples:
        if given.runs:
            print_wrong(given.runs, samples, given.confidence)
        else:
            print_parts(samples, given.seeds)


if __name__ == "__main__":
    main()
