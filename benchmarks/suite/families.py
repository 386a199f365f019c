"""Families of cases that both later suites draw on: finitely many outcomes, hashing, RAPPOR, quantiles, subsampling."""

import hashlib
import math
from functools import cache

import numpy as np
from scipy.special import ndtr

from suite import exact, oracle
from suite.exact import RatioCase
from suite.laws import summed


def finite_case(mechanism, family, source, law_of, index, epsilon=None):
    """Case of finitely many outcomes."""

    @cache
    def masses():
        return tuple(np.asarray(law_of(data), float) for data in mechanism.pair)

    def log_ratio(outputs):
        with np.errstate(divide="ignore"):
            logs = [np.log(side) for side in masses()]
        # An outcome that is impossible on both inputs does not occur.
        return np.subtract(*logs, where=np.isfinite(logs[0]) | np.isfinite(logs[1]), out=np.zeros(len(logs[0])))[
            index(outputs)
        ]

    return RatioCase(
        mechanism=mechanism,
        family=family,
        source=source,
        epsilon=epsilon or (lambda: oracle.true_epsilon(*masses(), mechanism.delta)),
        log_ratio=log_ratio,
        masses=masses,
    )


def hashed(seed, value, hashes):
    """Hash of a value under a seed (the finalizer of splitmix64)."""
    with np.errstate(over="ignore"):
        z = np.asarray(seed, np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(value + 1) * np.uint64(
            0xD1B54A32D192ED03
        )
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return ((z ^ (z >> np.uint64(31))) % np.uint64(hashes)).astype(int)


def support_case(mechanism, family, source, supports):
    """Case of local hashing: only whether the report supports either input matters.

    The masses are those of a perfect hash function; of the seeds, 2^32 in number, shares differ from that by some 1e-5.
    """
    x, y = mechanism.pair
    g = mechanism.hashes
    kept = exact.truthful(mechanism.spent, g)

    def masses():
        p = np.r_[kept / g, np.array([kept, (1 - kept) / (g - 1)]) * (g - 1) / g]
        p = np.r_[p, 1 - p.sum()]
        return p, p[[0, 2, 1, 3]]

    return RatioCase(
        mechanism=mechanism,
        family=family,
        source=source,
        epsilon=lambda: mechanism.spent,
        log_ratio=lambda outputs: mechanism.spent * (supports(outputs, x) * 1.0 - supports(outputs, y)),
        masses=masses,
    )


@cache
def bloom_filters(value, cohorts, bits, hashes):
    """Bits set for a value in every cohort; the hash functions are public."""
    found = np.zeros((cohorts, bits), dtype=bool)
    for cohort in range(cohorts):
        for i in range(hashes):
            digest = hashlib.sha256(f"{cohort}:{i}:{value}".encode()).digest()
            found[cohort, int.from_bytes(digest[:8], "big") % bits] = True
    return found


def rappor_case(mechanism, family, source, parsed):
    """Case of bits that are each kept with probability 1 - f/2, in one of several cohorts."""
    kept = 1 - mechanism.f / 2
    bit = math.log(kept / (1 - kept))
    of_x, of_y = (mechanism.filters(value) for value in mechanism.pair)
    differing = (of_x != of_y).sum(axis=1)

    def log_ratio(outputs):
        bits, cohort = parsed(outputs)
        return bit * np.sum((bits == of_x[cohort]) * 1.0 - (bits == of_y[cohort]), axis=1)

    def masses():
        sums = [
            [
                summed(np.array(law), int(number)) if number else np.ones(1)
                for law in ((1 - kept, kept), (kept, 1 - kept))
            ]
            for number in differing
        ]
        share = 1 / mechanism.cohorts
        return exact.mixed([(share, share)] * mechanism.cohorts, *sums)

    return RatioCase(
        mechanism=mechanism,
        family=family,
        source=source,
        epsilon=lambda: bit * int(differing.max()),
        log_ratio=log_ratio,
        masses=masses,
    )


@cache
def hadamard(size):
    """The Hadamard matrix of Sylvester, with entries 1 and -1; ``size`` is a power of 2."""
    matrix = np.ones((1, 1), dtype=int)
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix


def quantile_case(mechanism, family, source, values):
    """Case of a number whose density is constant between the data."""
    cuts = np.unique(np.concatenate([mechanism.intervals(data)[0] for data in mechanism.pair]))

    def law_of(data):
        edges, density = mechanism.intervals(data)
        return density[np.searchsorted(edges, (cuts[1:] + cuts[:-1]) / 2) - 1] * np.diff(cuts)

    return finite_case(
        mechanism,
        family,
        source,
        law_of,
        lambda outputs: np.clip(np.searchsorted(cuts, values(outputs)) - 1, 0, len(cuts) - 2),
    )


def subsampled_loss(values, sigma, rate):
    """Log-ratio of a normal law around 0 over the same with a part of ``rate`` moved to 1."""
    return -np.logaddexp(math.log1p(-rate), math.log(rate) + (2 * np.asarray(values) - 1) / (2 * sigma**2))


def subsampled_masses(sigma, rate, edges):
    """Masses of both between ``edges``."""
    p, shifted = (np.diff(np.r_[0.0, ndtr((edges - centre) / sigma), 1.0]) for centre in (0, 1))
    return p, (1 - rate) * p + rate * shifted


LOSS_STEP = 1e-4


def composed(p, q, loss, steps):
    """Masses of the sum of ``steps`` independent log-ratios, each rounded to a multiple of LOSS_STEP.

    Rounding moves a sum by LOSS_STEP * sqrt(steps / 12) in the mean square.
    """
    cells = np.rint(loss / LOSS_STEP).astype(int)
    low = cells.min()
    length = 1 << math.ceil(math.log2((cells.max() - low + 1) * steps))
    sums = [
        np.fft.irfft(np.fft.rfft(np.bincount(cells - low, side, minlength=length)) ** steps, length) for side in (p, q)
    ]
    present = sums[0] + sums[1] > 1e-14
    return tuple(np.maximum(side[present], 1e-17) for side in sums)
