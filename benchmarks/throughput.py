"""CPU of the black-box auditor against that of the bare samplers, and of structured outputs against rows."""

import argparse
import statistics
import time
from typing import NamedTuple

import numpy as np

import dpaudit

SAMPLES = 2_000_000
CHUNK = 1 << 16
WIDTH = 11
WIDE = 20
SLOW_SAMPLES = 100_000
SLOW_SECONDS = 50e-6
WARM_UP = 50_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=SAMPLES, help="outputs per input")
    parser.add_argument("--seeds", type=int, default=1, help="audits of each, of which the overheads are listed")
    parser.add_argument("--structured", action="store_true", help="only audits of structured outputs")
    options = parser.parse_args()
    if not options.structured:
        _overhead(options.samples, options.seeds)
    for samples in (options.samples // 20, options.samples // 2):
        _structured(samples)


def _overhead(samples, seeds):
    """What audits take beside drawing as many outputs in a bare loop, in CPU seconds."""
    print(f"{'mechanism':26s} {'outputs':>10s} {'sampler':>9s} {'audit':>9s} {'overhead':>9s}")
    for name, sample, (x, y), size in _samplers(samples):
        dpaudit.epsilon_lower_bound(sample, x, y, samples=min(WARM_UP, size), seed=0)  # imports
        begun = time.process_time()
        for data in (x, y):
            for start in range(0, size, CHUNK):
                sample(data, min(CHUNK, size - start), np.random.default_rng(start))
        bare = time.process_time() - begun
        spent = []
        for seed in range(seeds):
            begun = time.process_time()
            dpaudit.epsilon_lower_bound(sample, x, y, samples=size, seed=seed)
            spent.append(time.process_time() - begun)
        audit = statistics.median(spent)
        each = "" if seeds == 1 else f"  of each seed: {', '.join(f'{one / bare - 1:.2f}' for one in spent)}"
        print(f"{name:26s} {size:10,d} {bare:8.2f}s {audit:8.2f}s {audit / bare - 1:8.2f}x{each}")


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
    """Audit the same numbers in other forms: in total, and without the sampler, whose own work it is to make these."""
    print(f"{samples:,} outputs per input")
    print(f"{'outputs of 11 numbers':26s} {'sampler':>10s} {'audit':>10s} {'of rows':>9s} {'without sampler':>16s}")
    _audit(STRUCTURES["rows"], WARM_UP)  # imports
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


def _samplers(samples):
    for name, mechanism, pair in _mechanisms():
        yield name, mechanism.sample, pair, samples
    for size in (samples // 2, 5 * samples):
        yield "20 numbers, normal", _normal, (0.0, 0.1), size
        yield "20 numbers, Laplace", _laplace, (0.0, 0.1), size
        yield "20 numbers, one shifted", _one_shifted, (0.0, 0.5), size
    yield "20 numbers, 50 us each", _slow, (0.0, 0.1), SLOW_SAMPLES


def _normal(data, size, rng):
    return data + rng.normal(size=(size, WIDE))


def _laplace(data, size, rng):
    return data + rng.laplace(size=(size, WIDE))


def _one_shifted(data, size, rng):
    return data * (np.arange(WIDE) == 3) + rng.laplace(size=(size, WIDE))


def _slow(data, size, rng):
    """Normal rows, after CPU time that a slow sampler takes for each."""
    until = time.process_time() + SLOW_SECONDS * size
    while time.process_time() < until:
        pass
    return _normal(data, size, rng)


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
