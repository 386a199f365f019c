"""Throughput of the black-box auditor against the bare samplers."""

import time

import numpy as np

import dpaudit

SAMPLES = 2_000_000
CHUNK = 1 << 16


def main() -> None:
    print(f"{'mechanism':26s} {'sampler':>12s} {'auditor':>12s} {'overhead':>9s}")
    print(f"{'':26s} {'samples/s':>12s} {'samples/s':>12s}")
    for name, mechanism, (x, y) in _mechanisms():
        start = time.perf_counter()
        for data in (x, y):
            for chunk in range(SAMPLES // CHUNK):
                mechanism.sample(data, CHUNK, np.random.default_rng(chunk))
        bare = time.perf_counter() - start
        drawn = 2 * (SAMPLES // CHUNK) * CHUNK
        start = time.perf_counter()
        bound = dpaudit.epsilon_lower_bound(mechanism.sample, x, y, samples=drawn // 2, seed=0)
        audit = time.perf_counter() - start
        print(f"{name:26s} {drawn / bare:12,.0f} {bound.samples / audit:12,.0f} {audit / bare - 1:8.0%}")


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
