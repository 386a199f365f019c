"""What reading a large PrefLib file costs: CPU seconds and peak memory, each in a process of its own.

Run with ``python benchmarks/datafiles.py``; ``--voters`` and ``--alternatives`` say how large the files are.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

CHUNK = 10_000


def write(path, voters, alternatives, times):
    """Write a file of random orders, each held by so many voters."""
    rng = np.random.default_rng(0)
    orders = voters // times
    with path.open("w", encoding="utf-8") as file:
        file.write(f"# NUMBER ALTERNATIVES: {alternatives}\n# NUMBER VOTERS: {orders * times}\n")
        file.write(f"# NUMBER UNIQUE ORDERS: {orders}\n")
        file.writelines(f"# ALTERNATIVE NAME {k}: {k}\n" for k in range(1, alternatives + 1))
        for start in range(0, orders, CHUNK):
            base = np.tile(np.arange(1, alternatives + 1), (min(CHUNK, orders - start), 1))
            rows = rng.permuted(base, axis=1)
            file.writelines(f"{times}: {','.join(map(str, row))}\n" for row in rows.tolist())


def read(path):
    """Print what reading a file takes."""
    from dpaudit.rankings import read_profile

    start = time.process_time()
    profile = read_profile(path)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{profile.agents} | {len(profile.orders)} | {profile.alternatives} | {seconds:.1f} | {peak:.0f}")


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--voters", type=int, default=10**6)
    parser.add_argument("--alternatives", type=int, default=100)
    parser.add_argument("--read")
    options = parser.parse_args()
    if options.read:
        read(options.read)
        return
    print("| voters | distinct orders | alternatives | CPU seconds | peak MiB |\n|---:|---:|---:|---:|---:|")
    for times in (1, 10):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "large.soc")
            write(path, options.voters, options.alternatives, times)
            done = subprocess.run(
                [sys.executable, __file__, "--read", str(path)], check=True, stdout=subprocess.PIPE, text=True
            )
            print(f"| {done.stdout.strip()} |", flush=True)


if __name__ == "__main__":
    main()
