"""The same audit on one process, on two, and on a local cluster of Dask: speed-up, overhead, and cost by samples.

The sampler waits a millisecond for each output, so that what is measured is how the work is spread, whatever else the
processors do meanwhile; `--busy` has it compute for as long.
"""

import argparse
import time

import numpy as np

import dpaudit
from dpaudit.runner import Request
from dpaudit.runner.check import run_request

SAMPLES = 40_000
MILLISECOND = 1e-3
CHUNK = 1 << 16


class Slow(dpaudit.Mechanism):
    """A bit with Laplace noise, a millisecond each."""

    busy: bool = False

    def sample(self, data, size, rng):
        if self.busy:
            until = time.thread_time() + MILLISECOND * size
            while time.thread_time() < until:
                rng.bit_generator.random_raw(1000, output=False)
        else:
            time.sleep(MILLISECOND * size)
        return data + np.random.default_rng(rng.integers(2**63)).laplace(size=size)

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="one bit")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="slow.true", statement="It is private.", epsilon=1.0)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=SAMPLES, help="outputs per input")
    parser.add_argument("--busy", action="store_true", help="compute in place of waiting")
    options = parser.parse_args()
    bare = _bare(options.samples, options.busy)
    print(f"bare loop, {2 * options.samples} outputs: {bare:.1f} s")
    one, first = _audit(options.samples, options.busy, workers=1)
    print(f"1 process: {one:.1f} s, {one / bare - 1:+.1%} of the bare loop")
    two, second = _audit(options.samples, options.busy, workers=2)
    print(f"2 processes: {two:.1f} s, speed-up {one / two:.2f}, record {'equal' if first == second else 'DIFFERS'}")
    try:
        from dpaudit.runner.dask import cluster

        with cluster("local", 2) as executor:
            dask, third = _audit(options.samples, options.busy, executor=executor)
        same = "equal" if first == third else "DIFFERS"
        print(f"LocalCluster of 2: {dask:.1f} s, speed-up {one / dask:.2f}, record {same}")
    except dpaudit.ParameterError as error:
        print(f"LocalCluster: {error}")
    for samples in (options.samples // 4, options.samples // 2):
        seconds, _ = _audit(samples, options.busy, workers=1)
        print(f"1 process, {samples} per input: {seconds:.1f} s, {seconds / (2 * samples) * 1e3:.3f} ms an output")
    print(f"1 process, {options.samples} per input: {one:.1f} s, {one / (2 * options.samples) * 1e3:.3f} ms an output")


def _bare(samples, busy):
    mechanism = Slow(busy=busy)
    begun = time.perf_counter()
    for data in (0, 1):
        for start in range(0, samples, CHUNK):
            mechanism.sample(data, min(CHUNK, samples - start), np.random.default_rng(start))
    return time.perf_counter() - begun


def _audit(samples, busy, **how):
    request = Request(targets=[__file__], samples=samples, set={"busy": [busy]})
    begun = time.perf_counter()
    record = run_request(request, **how).record
    return time.perf_counter() - begun, record.reproducible().to_json()


if __name__ == "__main__":
    main()
