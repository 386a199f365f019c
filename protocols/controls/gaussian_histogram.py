"""Broken variants of the Gaussian histogram. Each carries one bug, and each must come out ``refuted``."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import dpaudit
from dpaudit import rankings

SYSTEM: Any = dpaudit.load("gaussian-histogram")


class _Broken(dpaudit.Mechanism):
    """A noisy histogram of rankings with a bug; no law is declared, so that the black-box auditor has to find it."""

    notation = (
        "an input lists the agents' rankings, best first; an output begins with the noisy number of agents "
        "with each ranking, in lexicographic order"
    )

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, as claimed")
    delta: float = dpaudit.parameter(1e-4, minimum=1e-300, maximum=0.5, doc="δ, as claimed")
    alternatives: int = dpaudit.parameter(3, minimum=3, maximum=5, doc="M")

    source = "a bug planted in the Gaussian histogram"
    model = "central"
    trust = "As the Gaussian histogram: the adversary sees the noisy histogram."

    @property
    def system(self) -> Any:
        """The right system."""
        return SYSTEM(epsilon=self.epsilon, delta=self.delta, alternatives=self.alternatives)

    @property
    def honest(self) -> Any:
        """Its noisy histogram."""
        return self.system.views()["histogram"]

    def neighbours(self) -> dpaudit.Neighbouring:
        pairs: dpaudit.Neighbouring = self.honest.neighbours()
        return pairs

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [
            dpaudit.PrivacyClaim(
                id=f"control.{self.name}",
                source=self.summary(),
                statement="The noisy histogram is (ϵ, δ)-differentially private.",
                epsilon=self.epsilon,
                delta=self.delta,
            )
        ]


class HistogramHalfNoise(_Broken):
    """The noise is for half the sensitivity."""

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        counts = self.honest.counts(data)
        return np.asarray(counts + rng.normal(0.0, self.system.noise.scale / 2, (size, len(counts))))

    def features(self, outputs: np.ndarray) -> np.ndarray:
        """The cell in which the neighbouring inputs differ."""
        return np.asarray(outputs[:, :1])


class HistogramOneNoise(_Broken):
    """One draw of the noise is used for all cells."""

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        return np.asarray(self.honest.counts(data) + rng.normal(0.0, self.system.noise.scale, (size, 1)))

    def features(self, outputs: np.ndarray) -> np.ndarray:
        """The difference of the first cell and the last, in which the noise cancels, without its rounding errors."""
        return np.asarray(np.round(outputs[:, :1] - outputs[:, -1:], 6))


class HistogramRawTies(_Broken):
    """Noisy counts are published rounded, with a ranking that the raw histogram decides where totals tie."""

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        rounded = np.round(self.honest.sample(data, size, rng))
        totals = self.system.positional.score_histograms(rounded)
        raw = np.broadcast_to(self.honest.counts(data), rounded.shape)
        decided = np.where(self.tied(rounded)[:, None], self.system.positional.score_histograms(raw), totals)
        return np.concatenate([rounded, rankings.rank_by_scores(decided, rng)], axis=1)

    def tied(self, histograms: np.ndarray) -> np.ndarray:
        """Whether two alternatives have equal totals."""
        totals = np.sort(self.system.positional.score_histograms(histograms), axis=1)
        return np.asarray((np.diff(totals, axis=1) == 0).any(axis=1))

    def features(self, outputs: np.ndarray) -> np.ndarray:
        """Whether totals tie, and the ranking."""
        cells = math.factorial(self.alternatives)
        return np.column_stack([self.tied(outputs[:, :cells]), outputs[:, cells:]])


class HistogramClipped(_Broken):
    """Negative noisy counts are set to 0, which is private but biased: rare rankings gain."""

    alternatives: int = dpaudit.parameter(3, minimum=3, maximum=3, doc="M")
    epsilon: float = dpaudit.parameter(0.1, doc="ϵ")
    supporters: int = dpaudit.parameter(400, minimum=2, doc="agents for the first alternative")

    def profile(self) -> np.ndarray:
        """Histogram, four of its cells 0, in which half a point of Borda's scores puts the first alternative ahead."""
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

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [
            dpaudit.UtilityClaim(
                id=f"control.{self.name}",
                source=self.summary(),
                statement="Noise reverses two alternatives with probability at most 1/2, as symmetric noise must.",
                bound=0.5,
                measure=self.reversals,
                runs=20_000,
                quantity="probability of a reversal",
                scope="a profile with four rankings that no agent holds",
            )
        ]
