"""How often a tool is wrong about a case, and how often it finds what is broken."""

from __future__ import annotations

import json
import math
import time
import zlib
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import asdict, dataclass, replace
from numbers import Real
from pathlib import Path

import numpy as np

from calibration.interface import ROUNDING, Case, FileError, Mechanism, Tool
from dpaudit.statistics import clopper_pearson

LEVEL = 0.95
"""Confidence of the intervals of rates."""

FEWEST = 5
"""Audits from which on equal bounds are no coincidence: two or three may have equal counts."""

COMPARED = 100
"""Outputs of each call by which two audits are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What a tool said about a case, run after run with other seeds.

    Attributes
    ----------
    runs
        Audits that returned a bound; a tool that does not apply has none.
    alarms, found
        How many of those bounds are above the true epsilon, and above the promised one.
    nothing
        Audits that returned None.
    failures, failure
        Audits that raised, or returned what is no number, and the message of the first of them.
    bound
        The bound, where all are equal.
    outputs
        A checksum of what was drawn, where it is equal in all audits.
    drawn
        The most outputs that an audit drew of an input.
    seconds
        Processor time of all audits.
    """

    runs: int = 0
    alarms: int = 0
    found: int = 0
    nothing: int = 0
    failures: int = 0
    failure: str = ""
    bound: float | None = None
    outputs: int | None = None
    drawn: int = 0
    seconds: float = 0.0

    @property
    def applies(self) -> bool:
        return self.runs > 0

    @property
    def audits(self) -> int:
        """All of them, with a bound or without."""
        return self.runs + self.nothing + self.failures

    @property
    def power(self) -> float:
        """Share of all audits that found the bug: one without a bound has found nothing."""
        return self.found / self.audits

    @property
    def gaps(self) -> str:
        """What the audits without a bound did, where it is not that the tool does not apply."""
        said = []
        if self.nothing and (self.runs or self.failures):
            said.append(f"None in {self.nothing:,} of {self.audits:,} audits")
        if self.failures:
            said.append(f"no bound in {self.failures:,} of {self.audits:,} audits, the first time: {self.failure}")
        return "; ".join(said)


def above(bound: float, limit: float) -> bool:
    """Whether a bound is above a limit by more than rounding."""
    return bound > limit * (1 + ROUNDING) + ROUNDING


def seed_of(case: Case, samples: int, run: int) -> int:
    """A seed of its own for every case, number of samples and run; the same for all tools."""
    name = zlib.crc32(case.name.encode())
    return int(np.random.SeedSequence([name, samples, run]).generate_state(1)[0])


def tallied(tool: Tool, case: Case, samples: int, confidence: float, runs: int, done: Tally | None = None) -> Tally:
    """Run a tool on a case with several seeds, and count; ``done`` is of the first of them.

    An audit without a bound, whatever the reason, says nothing about the others.
    """
    done = done or Tally()
    truth, promised = case.truth(), case.mechanism.epsilon
    counted, nothing, failures, failure = done.runs, done.nothing, done.failures, done.failure
    alarms, found = done.alarms, done.found
    equal, outputs, drawn = done.bound, done.outputs, done.drawn
    start = time.process_time()
    for run in range(done.audits, runs):
        watched = _Watched(case.mechanism)
        try:
            bound = _number(tool.bound(watched.mechanism, *case.pair, samples, confidence, seed_of(case, samples, run)))
        except (Exception, SystemExit) as error:  # a tool that exits must not end the benchmark
            failures += 1
            failure = failure or _described(error)
            continue
        finally:
            drawn = max(drawn, watched.most)
            outputs = watched.checksum if run == 0 or outputs == watched.checksum else None
        if bound is None:
            nothing += 1
            continue
        equal = bound if counted == 0 or equal == bound else None
        counted += 1
        alarms += above(bound, truth)
        found += above(bound, promised)
    return Tally(
        runs=counted,
        alarms=alarms,
        found=found,
        nothing=nothing,
        failures=failures,
        failure=failure,
        bound=equal,
        outputs=outputs,
        drawn=drawn,
        seconds=done.seconds + time.process_time() - start,
    )


class _Watched:
    """A mechanism of which it is seen what an audit draws."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.checksum = 0
        self._drawn: Counter[object] = Counter()

        def sample(data: object, size: int, rng: np.random.Generator) -> np.ndarray:
            outputs = mechanism.sample(data, size, rng)
            self._drawn[data if isinstance(data, Hashable) else repr(data)] += len(outputs)
            self.checksum = zlib.crc32(np.ascontiguousarray(outputs[:COMPARED]).tobytes(), self.checksum)
            return outputs

        self.mechanism = replace(mechanism, sample=sample)

    @property
    def most(self) -> int:
        """Outputs of the input of which there are most."""
        return max(self._drawn.values(), default=0)


def repeated(tally: Tally, case: Case) -> str:
    """What shows that audits with other seeds were one audit again and again; empty where nothing does.

    Only outputs that never come again show it. A bound of 0 is what cautious tools return most of the time, and where
    the true epsilon is infinite, all audits may see the same.
    """
    if tally.audits < FEWEST or not _never_again(case):
        return ""
    if tally.runs >= FEWEST and tally.bound is not None and tally.bound > 0 and math.isfinite(case.truth()):
        return f"all {tally.runs:,} bounds are equal"
    if tally.drawn and tally.outputs is not None:
        return f"all {tally.audits:,} audits drew the same outputs"
    return ""


def _never_again(case: Case) -> bool:
    """Whether the outputs are of a continuous law, or of so many values that none comes twice."""
    rows = case.mechanism.sample(case.pair[0], COMPARED, np.random.default_rng(0)).reshape(COMPARED, -1)
    return len(np.unique(rows, axis=0)) == COMPARED


class _NoNumberError(Exception):
    """A tool returned what is no bound."""


def _number(bound: object) -> float | None:
    """What a tool returned, if it is a number or None."""
    if bound is None:
        return None
    if isinstance(bound, bool) or not isinstance(bound, Real):
        raise _NoNumberError(f"returned {type(bound).__name__}; a bound is a float, or None")
    if math.isnan(bound):
        raise _NoNumberError("returned NaN")
    return float(bound)


def _described(error: BaseException) -> str:
    """The error in one line."""
    text = " ".join(str(error).split())
    return text if isinstance(error, _NoNumberError) else f"{type(error).__name__}: {text}"


class Kept:
    """Tallies in a file of JSON Lines, so that a run that was interrupted goes on, and one of more audits adds to
    it."""

    def __init__(self, path: str | None) -> None:
        self._path = path and Path(path)
        self._found: dict[str, Tally] = {}
        if self._path and self._path.exists():
            lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
            for number, line in enumerate(lines, 1):
                try:
                    key, tally = json.loads(line)
                    self._found[json.dumps(key)] = Tally(**tally)
                except (TypeError, ValueError) as error:
                    raise FileError(f"{path}, line {number}: no counts of this benchmark; give another file") from error

    def tallied(self, tool: Tool, case: Case, samples: int, confidence: float, runs: int) -> Tally:
        """As the function, but for the runs that were kept."""
        key = [tool.name, case.name, samples, confidence]
        done = self._found.get(json.dumps(key))
        if done and done.audits == runs:
            return done
        tally = tallied(tool, case, samples, confidence, runs, done if done and done.audits < runs else None)
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
    """The counts of all of them as one; what was raised stays with its case."""
    some = [tally for tally in tallies if tally.applies]
    return Tally(
        runs=sum(tally.runs for tally in some),
        alarms=sum(tally.alarms for tally in some),
        found=sum(tally.found for tally in some),
        nothing=sum(tally.nothing for tally in some),
        failures=sum(tally.failures for tally in some),
        seconds=sum(tally.seconds for tally in some),
    )
