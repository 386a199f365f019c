"""One run of LDP-KwikSort:RR: wall time at the paper's largest setting, and memory at ten million agents."""

import resource
import time

import numpy as np

from dpaudit.catalog.yan2020 import LDPKwikSortRR
from dpaudit.catalog.yan2020.profiles import draw, run

PUBLISHED_SECONDS = 4.4113  # Yan, Li, Liu 2020, Table 3: n = 5000, m = 45, on an i5-3210M


def main() -> None:
    rng = np.random.default_rng(0)

    small = LDPKwikSortRR(epsilon=2.0, agents=5000, alternatives=45, dispersion=0.5)
    profile = np.concatenate(list(draw(small, 1, rng)[1]), axis=1)[0]
    times = []
    for _ in range(20):
        start = time.perf_counter()
        small.sample(profile, 1, rng)
        times.append(time.perf_counter() - start)
    median = float(np.median(times))
    print(
        f"n = 5000, m = 45, one run: {median * 1e3:.1f} ms (median of {len(times)}); the paper's Table 3 says "
        f"{PUBLISHED_SECONDS} s on its machine, {PUBLISHED_SECONDS / median:.0f} times as long"
    )

    before = _peak()
    large = LDPKwikSortRR(epsilon=2.0, agents=10_000_000, alternatives=10, dispersion=0.5)
    start = time.perf_counter()
    run(large, 1, rng)
    print(
        f"n = 10,000,000, m = 10, drawn and run in chunks: {time.perf_counter() - start:.1f} s, peak memory "
        f"{_peak():.0f} MiB, of which {_peak() - before:.0f} MiB by this run"
    )


def _peak() -> float:
    """Peak resident memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
