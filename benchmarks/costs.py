"""Seconds of single operations: the first command of the README, and laws and protocols at large sizes."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from dpaudit.catalog.yang2018 import RankingRappor, Safari
from dpaudit.laws import ComposedComparison, GaussianLoss, subsampled

COMMAND = "check yan2020.dp-kwiksort --set epsilon=1 --set alternatives=3 --set agents=2"


def main() -> None:
    """Print the processor seconds of each operation."""
    with tempfile.TemporaryDirectory() as folder:
        program = "import sys; from dpaudit.cli import main; main()"
        words = [sys.executable, "-c", program, *COMMAND.split()]
        _print(f"dpaudit {COMMAND}", lambda: subprocess.run(words, cwd=folder, check=True, capture_output=True))
    for steps in (100, 1_000, 10_000):
        _print(f"two enclosures of {steps:,} steps of subsampled Gaussian noise", partial(_composed, steps))

    rng = np.random.default_rng(0)
    counts = np.bincount(rng.integers(0, 3_628_800, 5000), minlength=3_628_800)
    flat = RankingRappor(items=10)
    flat.marginals(counts, rng)
    _print("marginals of the rankings of 10 items by RAPPOR", lambda: flat.marginals(counts, rng))
    for agents in (10_000, 100_000, 1_000_000):
        safari = Safari(items=10, agents=agents, epsilon=1.0)
        orders = safari.draw(rng)
        _print(f"SAFARI, 10 items, {agents:,} users", partial(safari.synthesise, orders, rng))


def _composed(steps: int) -> None:
    loss = subsampled(GaussianLoss(1.0), 0.01)
    for each in (loss, loss.reversed()):
        ComposedComparison([(each, steps)]).epsilon(1e-6)


def _print(name: str, operation: Callable[[], object]) -> None:
    wall, processor = time.perf_counter(), _processor()
    operation()
    print(f"{name}: {_processor() - processor:.2f} s of a processor, {time.perf_counter() - wall:.2f} s in all")


def _processor() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


if __name__ == "__main__":
    main()
