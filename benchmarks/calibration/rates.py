"""How often a tool is wrong about a case, and how often it finds what is broken."""

from __future__ import annotations

import json
import math
import time
import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from calibration.interface import ROUNDING, Case, FileError, Tool
from dpaudit.statistics import clopper_pearson

LEVEL = 0.95
"""Confidence of the intervals of rates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What a tool said about a case, run after run with other seeds.

    ``alarms`` counts bounds above the true epsilon, ``found`` bounds above the promised one. ``seconds`` is processor
    time. A tool that raised has the message in ``failure``, and one that does not apply has no runs.
    """

    runs: int = 0
    alarms: int = 0
    found: int = 0
    seconds: float = 0.0
    failure: str = ""

    @property
    def applies(self) -> bool:
        return self.runs > 0


def above(bound: float, limit: float) -> bool:
    """Whether a bound is above a limit by more than rounding."""
    return bound > limit * (1 + ROUNDING) + ROUNDING


def seed_of(case: Case, samples: int, run: int) -> int:
    """A seed of its own for every case, number of samples and run; the same for all tools."""
    name = zlib.crc32(case.name.encode())
    return int(np.random.SeedSequence([name, samples, run]).generate_state(1)[0])


def tallied(tool: Tool, case: Case, samples: int, confidence: float, runs: int, done: Tally | None = None) -> Tally:
    """Run a tool on a case with several seeds, and count; ``done`` is of the first of them."""
    done = done or Tally()
    truth, promised = case.truth(), case.mechanism.epsilon
    alarms, found = done.alarms, done.found
    start = time.process_time()
    for run in range(done.runs, runs):
        try:
            bound = tool.bound(case.mechanism, *case.pair, samples, confidence, seed_of(case, samples, run))
        except Exception as error:
            return Tally(failure=f"{type(error).__name__}: {error}")
        if bound is None:
            return Tally()
        if math.isnan(bound):
            return Tally(failure="returned NaN")
        alarms += above(bound, truth)
        found += above(bound, promised)
    return Tally(runs=runs, alarms=alarms, found=found, seconds=done.seconds + time.process_time() - start)


class Kept:
    """Tallies in a file of JSON Lines, so that a run that was interrupted goes on, and one of more audits adds to
    it."""

    def __init__(self, path: str | None) -> None:
        self._path = path and Path(path)
        self._found: dict[str, Tally] = {}
        if self._path and self._path.exists():
            for number, line in enumerate(self._path.read_text(encoding="utf-8").splitlines(), 1):
                try:
                    key, tally = json.loads(line)
                    self._found[json.dumps(key)] = Tally(**tally)
                except (TypeError, ValueError) as error:
                    raise FileError(f"{path}, line {number}: no counts of this benchmark; give another file") from error

    def tallied(self, tool: Tool, case: Case, samples: int, confidence: float, runs: int) -> Tally:
        """As the function, but for the runs that were kept."""
        key = [tool.name, case.name, samples, confidence]
        done = self._found.get(json.dumps(key))
        if done and done.runs == runs:
            return done
        tally = tallied(tool, case, samples, confidence, runs, done if done and done.runs < runs else None)
        if self._path:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, asdict(tally)]) + "\n")
        return tally


def interval(count: int, runs: int, comparisons: int = 1) -> tuple[float, float]:
    """Clopper-Pearson interval of a rate; narrow enough a level that as many of them hold together at 95 %."""
    return clopper_pearson(count, runs, 1 - (1 - LEVEL) / comparisons)


def mark(count: int, runs: int, stated: float, comparisons: int = 1) -> str:
    """``!`` where the rate is above what is stated, ``-`` where it is below, else nothing."""
    low, high = interval(count, runs, comparisons)
    return "!" if low > stated else "-" if high < stated else ""


def summed(tallies: Iterable[Tally]) -> Tally:
    """All of them as one."""
    some = [tally for tally in tallies if tally.applies]
    return Tally(
        runs=sum(tally.runs for tally in some),
        alarms=sum(tally.alarms for tally in some),
        found=sum(tally.found for tally in some),
        seconds=sum(tally.seconds for tally in some),
    )
