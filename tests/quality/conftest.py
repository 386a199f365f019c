"""The suite of the benchmarks is tested here; it is no part of the package."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
