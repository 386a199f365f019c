"""Outputs of programs, through pipes in every format, against the same outputs drawn in this process."""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import dpaudit
from dpaudit.auditors.sampling.streams import CHUNK

ROOT = Path(__file__).parents[1]

PROGRAM = """\
import io, json, sys
sys.path[:] = {path!r}
import numpy as np
out = sys.stdout.buffer
form = sys.argv[1]
more = {{"dtype": "<i8"}} if form == "raw" else {{}}
out.write((json.dumps({{"protocol": "dpaudit.sampler/1", "format": form, **more}}) + "\\n").encode())
out.flush()
for line in sys.stdin:
    asked = json.loads(line)
    rng, size = np.random.default_rng(asked["seed"]), asked["size"]
    values = asked["input"] + rng.geometric(0.6, size) - rng.geometric(0.6, size)
    if form == "raw":
        out.write(values)
    elif form == "npy":
        room = io.BytesIO()
        np.save(room, values)
        out.write(room.getbuffer())
    else:
        out.write(("\\n".join(map(str, values.tolist())) + "\\n").encode())
    out.flush()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--outputs", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3, help="the best of so many is printed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        programs = _programs(Path(folder))
        bare = min(_seconds(_in_process, options.outputs) for _ in range(options.repeats))
        print(f"{options.outputs:,} integers, two geometric variables each, {CHUNK:,} a request")
        print(f"{'in this process, numpy':26s} {bare:7.2f} s")
        for name, words in programs.items():
            mechanism = dpaudit.CommandMechanism(command=words, parameters={"epsilon": 1.0}, inputs=[0, 1])
            mechanism.sample(0, CHUNK, np.random.default_rng(1))
            took = min(_seconds(mechanism.sample, options.outputs) for _ in range(options.repeats))
            print(f"{name:26s} {took:7.2f} s {took / bare:6.2f} times")


def _in_process(data, size, rng):
    return data + rng.geometric(0.6, size) - rng.geometric(0.6, size)


def _seconds(sample, outputs):
    rng = np.random.default_rng(1)
    start = time.perf_counter()
    for chunk in range(-(-outputs // CHUNK)):
        found = sample(0, min(CHUNK, outputs - chunk * CHUNK), rng)
    assert len(found)
    return time.perf_counter() - start


def _programs(folder):
    script = folder / "geometric.py"
    script.write_text(PROGRAM.format(path=sys.path))
    found = {f"numpy, {form}": [sys.executable, str(script), form] for form in ("raw", "npy", "jsonl", "csv")}
    if shutil.which("gcc"):
        source = ROOT / "examples" / "commands" / "geometric.c"
        subprocess.run(["gcc", "-O2", "-o", folder / "geometric", source, "-lm"], check=True)
        found["C, raw"] = [str(folder / "geometric"), "{epsilon}"]
    return found


if __name__ == "__main__":
    main()
