"""How many outputs `--stop-early` takes to refute gross violations of a claim of epsilon 1, and how often true claims.

Only the bets on the first few thousand outputs are run. The violations are noise of half its scale, a budget spent
twice and missing noise, in outputs of several forms, at a confidence of 99.9 %. The claims that hold do so exactly, at
a confidence of 80 %, so that a tenth of the runs may be refuted by the bets.
"""

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from tables import aligned, versions

from dpaudit.auditors.blackbox.sequential import EarlyTest
from dpaudit.auditors.blackbox.tasks import PairTask
from dpaudit.auditors.sampling.sampler import Sampler
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.guarantees import ApproximateDP

Sample = Callable[[int, int, np.random.Generator], Any]

SAMPLES, FEW_SAMPLES = 100_000, 4000
"""Samples per input of the audits that the bets begin: of violations, and of claims that hold."""


def laplace(scale: float, columns: int = 1) -> Sample:
    return lambda data, size, rng: data + rng.laplace(0.0, scale, (size, columns) if columns > 1 else size)


def geometric(epsilon: float) -> Sample:
    share = 1 - math.exp(-epsilon)
    return lambda data, size, rng: data + rng.geometric(share, size) - rng.geometric(share, size)


def response(epsilon: float) -> Sample:
    return lambda data, size, rng: (rng.random(size) < 1 / (1 + math.exp(-epsilon))) == bool(data)


def gaussian(data: int, size: int, rng: np.random.Generator) -> Any:
    """Noise of standard deviation 0.5, which has no pure epsilon."""
    return data + rng.normal(0.0, 0.5, size)


def two_whole_answers(data: int, size: int, rng: np.random.Generator) -> Any:
    return np.stack([geometric(1.0)(data, size, rng) for _ in range(2)], axis=1)


def one_of_twenty(data: int, size: int, rng: np.random.Generator) -> Any:
    rows = rng.laplace(0.0, 0.5, (size, 20))
    rows[:, 0] += data
    return rows


def histogram(scale: float, *, substituted: bool) -> Sample:
    """Five counts in a dict; one record more, or one that moves from a count to another."""

    def sample(data: int, size: int, rng: np.random.Generator) -> Any:
        rows = rng.laplace(0.0, scale, (size, 5)) + np.array([10, 20 + data, 5 - data * substituted, 3, 8])
        return [dict(zip("abcde", row, strict=True)) for row in rows.tolist()]

    return sample


def in_dicts(sample: Sample) -> Sample:
    def made(data: int, size: int, rng: np.random.Generator) -> Any:
        return [{"mean": mean, "count": count} for mean, count in sample(data, size, rng).tolist()]

    return made


def in_tuples(sample: Sample) -> Sample:
    return lambda data, size, rng: [(value, "count") for value in sample(data, size, rng).tolist()]


def in_sets(data: int, size: int, rng: np.random.Generator) -> Any:
    bits = rng.random((size, 6)) < 0.3
    bits[:, 0] = response(2.0)(data, size, rng)
    return [set(np.flatnonzero(row).tolist()) for row in bits]


def largest_of_four(data: int, size: int, rng: np.random.Generator) -> Any:
    return (np.array([1.0 + data, 1.5, 1.5 - data, 0.0]) + rng.laplace(0.0, 0.5, (size, 4))).argmax(axis=1)


def without_noise_for_half(data: int, size: int, rng: np.random.Generator) -> Any:
    return data + rng.laplace(size=size) * (rng.random(size) < 0.5)


VIOLATIONS: dict[str, Sample] = {
    "Laplace noise of half the scale": laplace(0.5),
    "geometric noise of half the scale": geometric(2.0),
    "Gaussian noise in place of Laplace noise": gaussian,
    "half the scale, one of 20 numbers": one_of_twenty,
    "half the scale, in tuples beside a text": in_tuples(geometric(2.0)),
    "half the scale, counts in dicts": histogram(0.5, substituted=False),
    "scale for one count where two change, in dicts": histogram(1.0, substituted=True),
    "half the scale, the largest of four": largest_of_four,
    "budget spent twice, randomized response": response(2.0),
    "budget spent twice, on a member of a set": in_sets,
    "budget spent twice, two Laplace answers": laplace(1.0, columns=2),
    "budget spent twice, two such answers in dicts": in_dicts(laplace(1.0, columns=2)),
    "budget spent twice, two geometric answers": two_whole_answers,
    "no noise in half of the outputs": without_noise_for_half,
    "no noise": lambda data, size, rng: np.full(size, float(data)),
}

HELD: dict[str, Sample] = {
    "randomized response": response(1.0),
    "geometric noise": geometric(1.0),
    "Laplace noise": laplace(1.0),
    "two Laplace answers of half the budget": laplace(2.0, columns=2),
}


def bet(sample: Sample, seed: int, *, samples: int, alpha: float) -> tuple[int, bool]:
    """Outputs per input, and whether the claim was refuted."""
    task = PairTask(guarantee=ApproximateDP(1.0), samples=samples, alpha=alpha, stop_early=True)
    test = EarlyTest(Sampler(sample, "benchmark", Streams(seed, ("early",))), task)
    found = test.run([(0, 1)])
    return test.drawn // 2, found is not None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=41, help="runs of every violation")
    parser.add_argument("--runs", type=int, default=1000, help="runs of every claim that holds")
    parser.add_argument("--first-seed", type=int, default=0)
    arguments = parser.parse_args()
    print(versions(("dpaudit", "numpy", "scipy")))
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    rows: list[tuple[str, ...]] = [("violation", "median", "quartiles", "most", "seconds")]
    for name, sample in VIOLATIONS.items():
        begun = time.process_time()
        drawn = [
            outputs if refuted else math.inf
            for outputs, refuted in (bet(sample, s, samples=SAMPLES, alpha=0.001) for s in seeds)
        ]
        low, middle, high = np.quantile(drawn, [0.25, 0.5, 0.75], method="inverted_cdf")
        took = (time.process_time() - begun) / len(drawn)
        rows.append((name, f"{middle:.0f}", f"{low:.0f} to {high:.0f}", f"{max(drawn):.0f}", f"{took:.2f}"))
    print("\n".join(aligned(rows)))
    rows = [("claim that holds", "runs", "refuted", "allowed")]
    for name, sample in HELD.items():
        seeds = range(arguments.first_seed, arguments.first_seed + arguments.runs)
        refuted = sum(bet(sample, seed, samples=FEW_SAMPLES, alpha=0.2)[1] for seed in seeds)
        rows.append((name, str(arguments.runs), str(refuted), f"{0.1 * arguments.runs:.0f}"))
    if arguments.runs:
        print("\n".join(aligned(rows)))


if __name__ == "__main__":
    main()
