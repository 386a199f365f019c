"""Throughput of the black-box auditor against the bare samplers, and of structured outputs against rows."""

import argparse
import time
from typing import NamedTuple

import numpy as np

import dpaudit

SAMPLES = 2_000_000
CHUNK = 1 << 16
WIDTH = 11


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=SAMPLES, help="outputs per input")
    parser.add_argument("--structured", action="store_true", help="only audits of structured outputs")
    options = parser.parse_args()
    if not options.structured:
        _overhead(options.samples)
    _structured(options.samples // 2)


def _overhead(samples):
    print(f"{'mechanism':26s} {'sampler':>12s} {'auditor':>12s} {'overhead':>9s}")
    print(f"{'':26s} {'samples/s':>12s} {'samples/s':>12s}")
    for name, mechanism, (x, y) in _mechanisms():
        start = time.perf_counter()
        for data in (x, y):
            for chunk in range(samples // CHUNK):
                mechanism.sample(data, CHUNK, np.random.default_rng(chunk))
        bare = time.perf_counter() - start
        drawn = 2 * (samples // CHUNK) * CHUNK
        start = time.perf_counter()
        bound = dpaudit.epsilon_lower_bound(mechanism.sample, x, y, samples=drawn // 2, seed=0)
        audit = time.perf_counter() - start
        print(f"{name:26s} {drawn / bare:12,.0f} {bound.samples / audit:12,.0f} {audit / bare - 1:8.0%}")


class Report(NamedTuple):
    """A row with names."""

    a: float
    b: float
    c: float
    d: float
    e: float
    f: float
    g: float
    h: float
    i: float
    j: float
    k: float


NAMES = Report._fields

STRUCTURES = {
    "rows": lambda rows: rows,
    "tuples": lambda rows: list(map(tuple, rows.tolist())),
    "lists": lambda rows: rows.tolist(),
    "dicts": lambda rows: [dict(zip(NAMES, row, strict=True)) for row in rows.tolist()],
    "named tuples": lambda rows: list(map(Report._make, rows.tolist())),
    "tuples with a marker": lambda rows: [(*row[:10], "ab"[row[10] > 0]) for row in rows.tolist()],
    "lists of two lengths": lambda rows: [row if row[10] > 0 else row[:10] for row in rows.tolist()],
}


def _structured(samples):
    """Audit the same numbers in other forms; making these is subtracted, since it is the sampler's own work."""
    print(f"{'outputs of 11 numbers':26s} {'sampler':>10s} {'audit':>10s} {'of rows':>9s} {'without sampler':>16s}")
    _audit(STRUCTURES["rows"], 20_000)  # imports
    first = None
    for name, wrap in STRUCTURES.items():
        bare, audit = _audit(wrap, samples)
        first = first or (bare, audit)
        own = (audit - bare) / (first[1] - first[0])
        print(f"{name:26s} {bare:9.1f}s {audit:9.1f}s {audit / first[1]:8.2f}x {own:15.2f}x")


def _audit(wrap, samples):
    """CPU seconds of the sampler within an audit, and of the audit."""
    spent = 0.0

    def sample(data, size, rng):
        nonlocal spent
        begun = time.process_time()
        made = wrap(0.3 * data * (np.arange(WIDTH) < 3) + rng.laplace(size=(size, WIDTH)))
        spent += time.process_time() - begun
        return made

    begun = time.process_time()
    dpaudit.epsilon_lower_bound(sample, 0, 1, samples=samples, seed=0)
    return spent, time.process_time() - begun


class _Laplace(dpaudit.Mechanism):
    """A number with Laplace noise of scale 1."""

    def sample(self, data, size, rng):
        return data + rng.laplace(size=size)


def _mechanisms():
    identity = np.arange(4)
    opposite = (identity, identity[::-1].copy())
    rr = dpaudit.load("ldp-kwiksort-rr")(epsilon=1.0, queries=2)
    lap = dpaudit.load("ldp-kwiksort-lap")(epsilon=1.0, queries=2)
    yield "Laplace", _Laplace(), (0.0, 1.0)
    yield "LDP-KwikSort:RR report", rr.report, opposite
    yield "LDP-KwikSort:Lap report", lap.report, opposite
    single = (identity[None], identity[None, ::-1].copy())
    yield "DP-KwikSort, m = 4", dpaudit.load("dp-kwiksort")(alternatives=4), single


if __name__ == "__main__":
    main()
