"""Audits of the suite's cases, by name, so that they can run in worker processes."""

import time
from dataclasses import dataclass

import numpy as np

import dpaudit
from suite import case_named

CHUNK = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Outcome of one audit; times in seconds."""

    name: str
    claimed: tuple[float, float]
    truth: float
    oracle: float
    bound: float
    verdict: str
    note: str
    samples: int
    sampler: float
    total: float

    @property
    def ratio(self) -> float:
        """Share of the oracle bound that was reached; all of it where so few samples can show nothing."""
        return self.bound / self.oracle if self.oracle else 1.0

    @property
    def overhead(self) -> float:
        """The auditor's own time over the sampler's."""
        return (self.total - self.sampler) / self.sampler


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often a bound was above the truth."""

    name: str
    truth: float
    above: int
    audits: int
    mean: float


class Clock:
    """Time spent in a sampler."""

    def __init__(self) -> None:
        self.seconds = 0.0


def timed(mechanism, clock, pair=None):
    """Return the same mechanism with a clock around its sampler, and with one pair of inputs where it is given."""

    class Timed(type(mechanism)):
        name = mechanism.name

        def neighbours(self):
            if pair is None:
                return super().neighbours()
            return dpaudit.Neighbouring(
                relation="given", pairs=[pair], complete=False, scope="the pair of the oracle's bound"
            )

        def sample(self, data, size, rng):
            start = time.perf_counter()
            try:
                return super().sample(data, size, rng)
            finally:
                clock.seconds += time.perf_counter() - start

    return Timed(**mechanism.parameters())


def audit_case(name, samples, confidence, seed, best_pair=False) -> Row:
    """Audit one case from samples alone; with ``best_pair``, the pair of inputs that the oracle takes is given."""
    case = case_named(name)
    samples = min(samples, case.most or samples)
    clock = Clock()
    mechanism = timed(case.mechanism, clock, case.best_pair(samples, confidence) if best_pair else None)
    start = time.perf_counter()
    record = dpaudit.check(mechanism, samples=samples, confidence=confidence, method="black-box", seed=seed)
    total = time.perf_counter() - start
    result = record.results[0]
    return Row(
        name=name,
        claimed=case.claimed,
        truth=case.truth(),
        oracle=case.oracle(samples, confidence),
        bound=_bound(result),
        verdict=result.verdict,
        note=result.note,
        samples=result.samples,
        sampler=clock.seconds,
        total=total,
    )


def false_refutations(name, seeds, samples, confidence, seed) -> Rate:
    """Audit one case many times over, and count the bounds above the truth."""
    case = case_named(name)
    truth = case.truth()
    bounds = np.array(
        [
            _bound(
                dpaudit.check(
                    case.mechanism, samples=samples, confidence=confidence, method="black-box", seed=seed + i
                ).results[0]
            )
            for i in range(seeds)
        ]
    )
    if np.isnan(bounds).any():
        raise RuntimeError(f"{name}: an audit ended in an error; run it alone with --only {name} to see why")
    above = int(np.count_nonzero(bounds > truth * (1 + 1e-9)))
    return Rate(name=name, truth=truth, above=above, audits=seeds, mean=float(bounds.mean()))


def _bound(result):
    measured = result.measured.get("epsilon")
    return float("nan") if measured is None else measured.lower


def sampling_time(name) -> float:
    """Seconds that one chunk of outputs takes."""
    mechanism = case_named(name).mechanism
    x, _ = next(iter(mechanism.neighbours()))
    start = time.perf_counter()
    mechanism.sample(x, CHUNK, np.random.default_rng(0))
    return time.perf_counter() - start
