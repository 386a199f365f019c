"""Bounds from one run of a training, by the ways of choosing how many canaries to guess about."""

import argparse
import math

import numpy as np

import dpaudit
from dpaudit.auditors.blackbox.one_run import numbers_of_guesses
from dpaudit.statistics import epsilon_of_guesses, mu_of_guesses

SPLIT = 0.2
"""Part of the canaries that choose, where some are set aside for it."""

PARTS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.0)


def scores(kind, m, rng):
    """Scores of canaries, and which were in: as a training with orthogonal canaries and Gaussian noise gives them, or
    such that a seventh of the canaries is remembered, or with Laplace noise."""
    included = rng.random(m) < 0.5
    if kind == "a seventh":
        return 5.0 * (included & (rng.random(m) < 0.15)) + rng.normal(size=m), included
    if kind == "Laplace, epsilon 1":
        return included + rng.laplace(size=m), included
    return float(kind.split()[-1]) * included + rng.normal(size=m), included


def bound(right, number, m, way, alpha):
    if way == "mu":
        return mu_of_guesses(right, number, m, alpha=alpha)
    return epsilon_of_guesses(right, number, m, delta=way, alpha=alpha)


def right(order, guesses):
    high, low = guesses
    return int(order[:high].sum() + (~order[len(order) - low :]).sum())


def sides(m):
    """Numbers of guesses to choose from: on both sides, and on the high side alone."""
    for part in PARTS:
        number = max(1, round(part * m))
        yield (number + 1) // 2, number // 2
        if part < 1:
            yield number, 0


def set_aside(values, included, way, alpha, rng):
    """Bound on one part of the canaries by the numbers that promise most on the other (sound at delta 0 alone)."""
    learning = rng.random(len(values)) < SPLIT
    learn, judge = (included[part][np.argsort(-values[part])] for part in (learning, ~learning))
    promised = []
    for guesses in sides(len(judge)):
        scaled = tuple(max(1, round(side * len(learn) / len(judge))) if side else 0 for side in guesses)
        share = (right(learn, scaled) + 1) / (sum(scaled) + 2)
        promised.append((bound(math.floor(share * sum(guesses)), sum(guesses), len(judge), way, alpha), guesses))
    guesses = max(promised)[1]
    return bound(right(judge, guesses), sum(guesses), len(judge), way, alpha)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=30)
    asked = parser.parse_args()
    print("| canaries | scores | bound on | confidence | best number | share of it: here | set aside |")
    print("| ---: | --- | --- | ---: | ---: | ---: | ---: |")
    for m in (200, 1000, 5000):
        for kind in ("Gaussian, mu 0.5", "Gaussian, mu 1", "Gaussian, mu 2", "a seventh", "Laplace, epsilon 1"):
            rng = np.random.default_rng(3)
            runs = [scores(kind, m, rng) for _ in range(asked.runs)]
            for way, confidence in ((0.0, 0.95), (1e-5, 0.95), ("mu", 0.95), (1e-5, 0.999)):
                alpha = 1 - confidence
                orders = [included[np.argsort(-values)] for values, included in runs]
                best, guesses = max(
                    (np.mean([bound(right(order, g), sum(g), m, way, alpha) for order in orders]), g) for g in sides(m)
                )
                options = {"guarantee": "gaussian"} if way == "mu" else {"delta": way}
                here = np.mean([dpaudit.one_run_bound(*run, confidence=confidence, **options).value for run in runs])
                other = np.mean([set_aside(*run, way, alpha, rng) for run in runs])
                what = "mu" if way == "mu" else f"epsilon, delta {way:g}"
                print(
                    f"| {m} | {kind} | {what} | {confidence} | {best:.2f} at {guesses[0]}, {guesses[1]} "
                    f"| {here / best:.2f} | {other / best:.2f} |",
                    flush=True,
                )
    print()
    print("Numbers tried here:", {m: [guesses for guesses, _ in numbers_of_guesses(m)] for m in (200, 1000, 5000)})


if __name__ == "__main__":
    main()
