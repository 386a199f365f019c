"""Bounds from files against bounds from the samplers that wrote them, at the same numbers of outputs; speed, memory."""

import argparse
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import dpaudit
from dpaudit.sources.files import read_table


def laplace(at, size, rng):
    return at + rng.laplace(size=size)


def gaussian(at, size, rng):
    return at + rng.normal(size=size)


def rows_of_laplace(at, size, rng):
    return rng.laplace(size=(size, 3)) + np.array([at, 0.0, 0.0])


CASES = {
    "Laplace noise, epsilon 1": (laplace, 0.0),
    "Gaussian noise, mu 1, delta 1e-5": (gaussian, 1e-5),
    "three columns, Laplace noise on one": (rows_of_laplace, 0.0),
}


def write(path, outputs):
    if path.suffix == ".npy":
        np.save(path, outputs)
    else:
        with path.open("w", encoding="utf-8") as file:
            for row in outputs.reshape(len(outputs), -1).tolist():
                file.write(",".join(map(repr, row)) + "\n")


def table(seeds, folder):
    print("| outputs | rows of each | mechanism | from files | in process | ratio |")
    print("| --- | ---: | --- | ---: | ---: | ---: |")
    for name, (sample, delta) in CASES.items():
        for rows, ending in ((1_000, ".csv"), (10_000, ".csv"), (100_000, ".npy"), (1_000_000, ".npy")):
            from_files, drawn = [], []
            for seed in range(seeds):
                rng = np.random.default_rng([seed, rows])
                paths = []
                for side, at in (("a", 0.0), ("b", 1.0)):
                    paths.append(folder / f"{side}{ending}")
                    write(paths[-1], sample(at, rows, rng))
                bound = dpaudit.bound_from_samples(*map(read_table, paths), delta=delta, confidence=0.95, seed=seed)
                from_files.append(bound.value)
                drawn.append(
                    dpaudit.epsilon_lower_bound(
                        sample, 0.0, 1.0, delta=delta, samples=rows, confidence=0.95, seed=seed
                    ).epsilon
                )
            a, b = np.mean(from_files), np.mean(drawn)
            print(f"| {ending} | {rows} | {name} | {a:.3f} | {b:.3f} | {a / b:.2f} |", flush=True)


def speed(folder, rows):
    rng = np.random.default_rng(0)
    print("\n| file | rows of each | CPU seconds | peak memory, MiB |")
    print("| --- | ---: | ---: | ---: |")
    for ending in (".npy", ".csv"):
        paths = [folder / f"{side}-large{ending}" for side in "ab"]
        for at, path in enumerate(paths):
            write(path, laplace(float(at), rows, rng))
        child = os.fork()
        if not child:
            begun = time.process_time()
            dpaudit.bound_from_samples(*map(read_table, paths))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"| {ending} | {rows} | {time.process_time() - begun:.1f} | {peak:.0f} |", flush=True)
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(child, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--only-speed", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not asked.only_speed:
            table(asked.seeds, Path(folder))
        speed(Path(folder), asked.rows)


if __name__ == "__main__":
    main()
