"""The same audit on one process, on two, and on a local cluster of Dask: speed-up, overhead, and cost by samples.

The sampler waits a millisecond for each output, so that what is measured is how the work is spread, whatever else the
processors do meanwhile; `--busy` has it compute for as long. `--linear` measures what more outputs cost on one
process, and writes the table and the figure `scaling.svg` of speed.md.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import dpaudit
from dpaudit.reporting.figures import drawing
from dpaudit.runner import Request
from dpaudit.runner.check import run_request

SAMPLES = 40_000
MILLISECOND = 1e-3
CHUNK = 1 << 16
HERE = Path(__file__).parent
BEGIN, END = "<!-- written by scaling.py -->\n", "<!-- end -->\n"


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


class Fast(Slow):
    """A bit with Laplace noise, as fast as numpy draws it."""

    def sample(self, data, size, rng):
        return data + rng.laplace(size=size)

    def claims(self):
        return [dpaudit.PrivacyClaim(id="fast.true", statement="It is private.", epsilon=1.0)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=SAMPLES, help="outputs per input")
    parser.add_argument("--busy", action="store_true", help="compute in place of waiting")
    parser.add_argument("--linear", action="store_true", help="measure cost by outputs, and write table and figure")
    options = parser.parse_args()
    if options.linear:
        _write_linear()
        return
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


def _write_linear():
    """Measure audits of more and more outputs; write the lines of the table and the figure."""
    lines, rows = [], []
    for name, target, sizes in (
        ("1 ms an output", "Slow", (5_000, 10_000, 20_000, 40_000, 80_000)),
        ("Laplace noise", "Fast", (10_000_000, 20_000_000, 40_000_000, 80_000_000, 160_000_000)),
    ):
        points = []
        for samples in sizes:
            seconds, _ = _audit(samples, False, target=target, workers=1)
            points.append((2.0 * samples, seconds))
            rows.append(f"| {name} | {2 * samples:,} | {seconds:.2f} | {seconds / (2 * samples) * 1e6:,.3g} |")
            print(rows[-1], flush=True)
        lines.append(drawing.Line(name=name, points=points, marked=True, dashes=drawing.STYLES[len(lines)]))
    every = [point for line in lines for point in line.points]
    x = drawing.spanning("outputs", [x for x, _ in every], drawing.LEFT, drawing.RIGHT, log=True)
    y = drawing.spanning("seconds", [y for _, y in every], drawing.BOTTOM, drawing.TOP, log=True)
    drawn = drawing.svg("scaling", "Seconds by outputs", "Seconds that an audit takes, by outputs.", x, y, lines)
    figure = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{drawing.WIDTH}" height="{drawing.HEIGHT}" color="#1b1b1b" '
        'font-family="system-ui, sans-serif" font-size="11">\n'
        "<style>text { fill: currentColor; stroke: none }</style>\n"
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n{drawn}\n</svg>\n'
    )
    HERE.joinpath("scaling.svg").write_text(figure, encoding="utf-8")
    table = ["| sampler | outputs | seconds | microseconds an output |", "| --- | ---: | ---: | ---: |", *rows]
    page = HERE.joinpath("speed.md")
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    page.write_text("\n".join([f"{before}{BEGIN}", *table, f"{END}{rest.split(END)[1]}"]), encoding="utf-8")


def _bare(samples, busy):
    mechanism = Slow(busy=busy)
    begun = time.perf_counter()
    for data in (0, 1):
        for start in range(0, samples, CHUNK):
            mechanism.sample(data, min(CHUNK, samples - start), np.random.default_rng(start))
    return time.perf_counter() - begun


def _audit(samples, busy, target="Slow", **how):
    values = {"busy": [busy]} if target == "Slow" else {}
    request = Request(targets=[f"{__file__}::{target}"], samples=samples, set=values)
    begun = time.perf_counter()
    record = run_request(request, **how).record
    return time.perf_counter() - begun, record.reproducible().to_json()


if __name__ == "__main__":
    main()
