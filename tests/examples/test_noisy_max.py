"""OpenDP's noisy max keeps the rho that it promises; skipped without the library, which cannot be seeded."""

import runpy
from pathlib import Path

import pytest
from scipy.stats import binom

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "noisy_max.py"


@pytest.mark.slow
def test_a_true_rho_is_refuted_no_more_often_than_stated():
    pytest.importorskip("opendp.prelude")
    audited = runpy.run_path(str(BENCHMARK))["audited"]
    runs, alpha = 40, 0.1
    found = [audited(seed, samples=1_000, confidence=1 - alpha) for seed in range(runs)]
    assert sum(verdict == "refuted" for verdict, _ in found) <= binom.isf(1e-6, runs, alpha)
    # Bounds of nothing would pass as well.
    assert sum(bound > 0.03 for _, bound in found) > runs / 2
