"""Peak memory of what should not take more of it for more agents, outputs or cells; each case in a process of its own.

``python benchmarks/memory.py`` prints the cases about agents and outputs, with ``--only TEXT`` those with this text in
their name; ``--cells N`` runs, reports and joins a grid of N cells by the command line, in a temporary folder.
"""

import argparse
import importlib
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

AGENTS = (10**6, 10**8)
NUMBERS = (10**7, 10**9)
WIDTH = 1000
VECTORS = (200_000, 1_000_000)

GRID = '''\
import dpaudit


class Noisy(dpaudit.Mechanism):
    """A number with Laplace noise."""

    epsilon: float = 1.0
    place: int = 0

    def sample(self, data, size, rng):
        return data + rng.laplace(scale=1 / self.epsilon, size=size)

    def claims(self):
        return [
            dpaudit.UtilityClaim(
                id="noisy.error",
                statement="The mean error is at most ten times the scale.",
                bound=10 / self.epsilon,
                exact=lambda: 1 / self.epsilon,
                support=(0.0, 1e9),
                trivial=1e6,
            )
        ]
'''


class Numbers(dpaudit.Mechanism):
    """A number with Laplace noise."""

    def sample(self, data, size, rng):
        return data + rng.laplace(size=size)

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 0.5, 1], scope="three numbers")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="numbers", statement="It is private.", epsilon=1.0)]


class Vectors(dpaudit.Mechanism):
    """A number among a thousand with Gaussian noise."""

    def sample(self, data, size, rng):
        found = rng.standard_normal((size, WIDTH))
        found[:, 0] += data
        return found

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="one bit")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="vectors", statement="It is private.", epsilon=8.0, delta=1e-3)]


def held(agents: int) -> np.ndarray:
    """How many of the agents hold each of 120 values."""
    return np.random.default_rng(0).multinomial(agents, np.full(120, 1 / 120))


def oracle(made: Callable[[], randomizers.FrequencyOracle]) -> Callable[[int], None]:
    def run(agents: int) -> None:
        found = made()
        found.estimate(found.aggregate(held(agents), np.random.default_rng(1)), agents)

    return run


def pairwise(agents: int) -> None:
    """Vector mechanism on all comparisons of four alternatives, and an exact Kemeny ranking."""
    system = importlib.import_module("dpaudit.catalog.alabi2022.local_pairwise").LocalPairwise(alternatives=4)
    orders = rankings.all_rankings(4)
    counts = np.full(len(orders), agents // len(orders))
    system.sample(rankings.Profile(orders, counts), 20, np.random.default_rng(1))


def histograms(agents: int) -> None:
    """Error rate of the Gaussian histogram of rankings of five alternatives."""
    module = importlib.import_module("dpaudit.catalog.shang2014")
    system = module.GaussianHistogram(alternatives=5, agents=agents, profiles="independent")
    errors = importlib.import_module("dpaudit.catalog.shang2014.error_rate").errors
    errors(system, 1000, np.random.default_rng(1))


def counted(agents: int) -> None:
    """Numbers of shuffled answers."""
    module = importlib.import_module("dpaudit.catalog.song2022.shuffling")
    module.AnswersOfDrawnAgents(agents=agents).sample([0, 1], 65_536, np.random.default_rng(1))


AGGREGATES: dict[str, Callable[[int], None]] = {
    "generalized randomized response": oracle(lambda: randomizers.GeneralizedRandomizedResponse(120, 1.0)),
    "unary encoding": oracle(lambda: randomizers.UnaryEncoding(120, 1.0)),
    "local hashing": oracle(lambda: randomizers.LocalHashing.optimal(120, 1.0)),
    "sign projection": oracle(lambda: randomizers.SignProjection.hadamard(120, 1.0)),
    "Hadamard response": oracle(lambda: randomizers.HadamardResponse(120, 1.0)),
    "local-pairwise (alabi2022)": pairwise,
    "gaussian-histogram (shang2014)": histograms,
    "shuffled answers (song2022)": counted,
}


def numbers(samples: int) -> None:
    """Black-box audit with so many outputs per input."""
    (result,) = dpaudit.check(Numbers(), samples=samples, method="black-box").results
    assert result.verdict == "consistent", result.verdict


def vectors(samples: int) -> None:
    """The same of vectors of a thousand numbers."""
    dpaudit.check(Vectors(), samples=samples, method="black-box")


CASES = {**AGGREGATES, "numbers": numbers, "vectors": vectors}
SIZES = {"numbers": NUMBERS, "vectors": VECTORS}


def cells(number: int) -> None:
    """Run and report a grid, in shards too, and print what each command took."""
    epsilons = ",".join(str(round(0.01 * i, 2)) for i in range(1, 101))
    places = ",".join(map(str, range(math.ceil(number / 100))))
    grid = ["--set", f"epsilon={epsilons}", "--set", f"place={places}", "--max-cells", str(10**9), "--workers", "1"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "noisy.py").write_text(GRID, encoding="utf-8")
        for words in (
            ["check", "noisy.py", *grid, "--output", "out"],
            ["check", "noisy.py", *grid, "--output", "out"],
            ["report", "out", "--output", "again"],
            *(["check", "noisy.py", *grid, "--shard", f"{i}/2", "--output", f"part{i}"] for i in (1, 2)),
            ["merge", "part1", "part2", "--output", "joined"],
        ):
            print(f"{' '.join(word for word in words if len(word) < 40)}: {timed(words, folder)}", flush=True)


def timed(words: list[str], folder: str) -> str:
    """Run a command line; return its seconds and its peak memory, and that of the largest process that it starts."""
    code = (
        "import resource, sys, time; from dpaudit.cli import main; begun = time.time(); status = main(); "
        "own, others = (resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, "
        "resource.RUSAGE_CHILDREN)); print(f'{time.time() - begun:.0f} s, {own} MiB, its processes {others} MiB "
        "at most, status {status}')"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=folder, capture_output=True, text=True, check=False)
    return (done.stdout.strip().splitlines() or [done.stderr])[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, help="measure a grid of so many cells")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases with this text in their name")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        begun, started = time.process_time(), time.monotonic()
        CASES[options.case](options.size)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        own = time.process_time() - begun
        print(f"{own:.1f} s of a processor, {time.monotonic() - started:.0f} s, {peak:.0f} MiB")
        return
    if options.cells:
        cells(options.cells)
        return
    for case in (name for name in CASES if options.only in name):
        for size in SIZES.get(case, AGENTS):
            words = [sys.executable, __file__, "--case", case, "--size", str(size)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            print(f"{case}, {size:,}: {done.stdout.strip() or done.stderr.strip().splitlines()[-1]}", flush=True)


if __name__ == "__main__":
    main()
