"""Broken variants of the Gaussian histogram. Each carries one bug, and each must come out ``refuted``."""

import math
from typing import Any

import numpy as np

import dpaudit
from dpaudit import rankings

from .gaussian_histogram import GaussianHistogram, NoisyHistogram
from .paper import PAPER
from .positional import PositionalRule, rank_by_scores

PRIVATE = "The noisy histogram is (ϵ, δ)-differentially private."


@dpaudit.control("control.histogram-half-noise", NoisyHistogram, paper=PAPER, statement=PRIVATE)
def histogram_half_noise(right: NoisyHistogram) -> NoisyHistogram:
    """The noise is for half the sensitivity."""
    return right.but(epsilon=2 * right.epsilon)


def rounded_difference(right: NoisyHistogram, outputs: np.ndarray) -> np.ndarray:
    """Difference of the first cell and the last, in which common noise cancels, without its rounding errors."""
    return np.asarray(np.round(outputs[:, :1] - outputs[:, -1:], 6))


@dpaudit.control(
    "control.histogram-one-noise", NoisyHistogram, paper=PAPER, statement=PRIVATE, features=rounded_difference
)
def histogram_one_noise(right: NoisyHistogram, data: Any, size: int, rng: np.random.Generator) -> Any:
    """One draw of the noise is used for all cells."""
    return right.counts(data) + rng.normal(0.0, right.noise.scale, (size, 1))


def tie_and_ranking(right: NoisyHistogram, outputs: np.ndarray) -> np.ndarray:
    """Whether totals tie, and the ranking."""
    cells = math.factorial(right.alternatives)
    return np.column_stack([is_tied(right, outputs[:, :cells]), outputs[:, cells:]])


@dpaudit.control("control.histogram-raw-ties", NoisyHistogram, paper=PAPER, statement=PRIVATE, features=tie_and_ranking)
def histogram_raw_ties(right: NoisyHistogram, data: Any, size: int, rng: np.random.Generator) -> Any:
    """Noisy counts are published rounded, with a ranking that the raw histogram decides where totals tie."""
    rounded = np.round(right.sample(data, size, rng))
    raw = np.broadcast_to(right.counts(data), rounded.shape)
    decided = np.where(is_tied(right, rounded)[:, None], borda_totals(right, raw), borda_totals(right, rounded))
    return np.concatenate([rounded, rank_by_scores(decided, rng)], axis=1)


def borda_totals(right: NoisyHistogram, histograms: np.ndarray) -> np.ndarray:
    """Total scores by Borda's rule."""
    return PositionalRule.named("borda", right.alternatives).score_histograms(histograms)


def is_tied(right: NoisyHistogram, histograms: np.ndarray) -> np.ndarray:
    """Whether two alternatives have equal totals."""
    totals = np.sort(borda_totals(right, histograms), axis=1)
    return np.asarray((np.diff(totals, axis=1) == 0).any(axis=1))


class HistogramClipped(dpaudit.Mechanism):
    """Negative noisy counts are set to 0, which is private but biased: rare rankings gain."""

    source = "a bug planted in gaussian-histogram"
    model = "central"
    notation = "an input is a histogram of the rankings of three alternatives; an output is a ranking, best first"

    epsilon: float = dpaudit.parameter(0.1, doc="ϵ")
    delta: float = dpaudit.parameter(1e-4, above=0, maximum=1, doc="δ")
    alternatives: int = dpaudit.parameter(3, minimum=3, maximum=3, doc="M", role="alternatives")
    supporters: int = dpaudit.parameter(400, minimum=2, doc="agents for the first alternative")

    @property
    def system(self) -> GaussianHistogram:
        """The right system, under Borda's rule."""
        shared: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta, "alternatives": self.alternatives}
        return GaussianHistogram(**shared)

    def profile(self) -> np.ndarray:
        """Histogram, four of its cells 0, in which the first alternative is ahead by half a point of Borda's scores."""
        index = rankings.ranking_index(np.array([[0, 2, 1], [1, 0, 2]]))
        histogram = np.zeros(6)
        histogram[index] = self.supporters, 2 * self.supporters - 1
        return histogram

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        noisy = self.system.noise.randomize(np.broadcast_to(data, (size, 6)), rng)
        return self.system.aggregate(np.maximum(noisy, 0.0), rng)

    def reversals(self, runs: int, rng: np.random.Generator) -> np.ndarray:
        """Whether the first two alternatives come out in the wrong order; shape (runs,)."""
        places = rankings.positions(self.sample(self.profile(), runs, rng))
        return np.asarray(places[:, 0] > places[:, 1])


@dpaudit.claim(
    "control.histogram-clipped",
    HistogramClipped,
    kind="utility",
    place=PAPER.at(),
    statement="Noise reverses two alternatives with probability at most 1/2, as symmetric noise must.",
    bug=HistogramClipped.summary(),
)
def histogram_clipped(clipped: HistogramClipped) -> dpaudit.UtilityClaim:
    return dpaudit.UtilityClaim(
        bound=0.5,
        measure=clipped.reversals,
        runs=20_000,
        quantity="probability of a reversal",
        scope="a profile with four rankings that no agent holds",
    )
