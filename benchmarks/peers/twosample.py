"""Two-sample tests: whether the laws of the outputs on the two inputs are equal, which is a claim of epsilon 0.

A test that is no more than that can refute no claim of a positive epsilon. The Kolmogorov-Smirnov distance bounds the
total variation t from below, and (epsilon, delta)-differential privacy has e^epsilon >= (1 + t - 2 delta) / (1 - t):
add the definition for the event of that distance and for its complement. So it has a bound as well, which is best for
randomized response and weak for anything that is steep on rare outputs.
"""

import math

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import ks_2samp
from suite.given import Given

from peers.common import Rows, Said, Source

KERNEL_SAMPLES = 1000
PERMUTATIONS = 999


def kolmogorov_smirnov(row: Given, samples: int, confidence: float, seed: int) -> Said | None:
    """Kolmogorov-Smirnov test of every column, with Bonferroni's correction; the bound is by Massart's inequality."""
    x, y = Source(row, seed).both(samples, "final")
    rows = Rows.fit(x, y)
    if rows is None:
        return None
    sides = [rows(side) for side in (x, y)]
    columns = sides[0].shape[1]
    tests = [ks_2samp(*(side[:, i] for side in sides), method="asymp") for i in range(columns)]
    # Each empirical distribution function is so close to its own, at every point, with half of the column's error.
    off = math.sqrt(math.log(4 * columns / (1 - confidence)) / (2 * samples))
    distance = max(test.statistic for test in tests) - 2 * off
    return Said(
        samples=samples,
        bound=epsilon_of(distance, row.mechanism.delta),
        p_value=min(1.0, columns * min(float(test.pvalue) for test in tests)),
    )


def epsilon_of(distance: float, delta: float) -> float:
    """Least epsilon at that delta of laws with so large a total variation; at least 0."""
    return max(0.0, math.log(max(1 + distance - 2 * delta, 1e-300) / (1 - distance))) if distance > 0 else 0.0


def kernel(row: Given, samples: int, confidence: float, seed: int) -> Said | None:
    """Maximum mean discrepancy with a Gaussian kernel as wide as the median distance, tested by permutations.

    Gretton, Borgwardt, Rasch, Schölkopf, Smola, JMLR 2012. Its cost is quadratic, so that it takes fewer samples.
    """
    size = min(KERNEL_SAMPLES, samples)
    x, y = Source(row, seed).both(size, "final")
    rows = Rows.fit(x, y)
    if rows is None:
        return None
    data = np.concatenate([rows(side) for side in (x, y)])
    scale = data.std(axis=0)
    data = data[:, scale > 0] / scale[scale > 0]
    squares = cdist(data, data, "sqeuclidean")
    width = float(np.median(squares[squares > 0])) if squares.any() else 1.0
    similar = np.exp(-squares / width)
    signs = np.repeat([1.0, -1.0], size)
    rng = np.random.default_rng([seed, 23])
    signs = np.column_stack([signs, *(rng.permutation(signs) for _ in range(PERMUTATIONS))])
    found = np.einsum("ij,ij->j", signs, similar @ signs)
    return Said(samples=size, p_value=float(np.mean(found >= found[0] * (1 - 1e-12))))
