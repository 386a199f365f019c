"""Broken variants of the two reductions in the central model; what they break is private with the meant budgets."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

MATRIX: Any = dpaudit.load("noisy-pairwise")


class _Broken(dpaudit.Mechanism):
    """Noisy weights that a broken variant reveals: a law of independent Laplace answers."""

    notation = (
        "an input lists the agents' rankings, best first; an output holds noisy weights of the pairs (0, 1), (0, 2), …"
    )

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget that is claimed")
    alternatives: int = dpaudit.parameter(3, minimum=2, doc="m")
    agents: int = dpaudit.parameter(1, minimum=1, doc="n")

    source = "a bug planted in noisy-pairwise or dp-kwiksort-capped"
    trust = "The adversary sees every noisy weight that a longest run computes."

    @property
    def pairs(self) -> int:
        return math.comb(self.alternatives, 2)

    def answers(self) -> list[tuple[float, int]]:
        """Scale of the noise, and how many of the weights get it, of every part of the run."""
        raise NotImplementedError

    def weights(self, data: Any) -> np.ndarray:
        i, j = rankings.alternative_pairs(self.alternatives).T
        return np.asarray(rankings.pairwise_counts(data)[i, j] / self.agents)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        weights = self.weights(data)
        return np.concatenate(
            [
                randomizers.LaplaceNoise(scale).randomize(np.tile(weights[:count], (size, 1)), rng)
                for scale, count in self.answers()
            ],
            axis=1,
        )

    def law(self, data: Any) -> dpaudit.Law:
        weights = self.weights(data)
        return dpaudit.ProductLaw(
            [randomizers.LaplaceNoise(scale).law(w) for scale, count in self.answers() for w in weights[:count]]
        )

    def neighbours(self) -> dpaudit.Neighbouring:
        view = MATRIX(alternatives=self.alternatives, agents=self.agents).views()["noisy-matrix"]
        found: dpaudit.Neighbouring = view.neighbours()
        return found

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [
            dpaudit.PrivacyClaim(
                id=f"control.{self.name}",
                source=self.summary(),
                statement="The noisy weights of a run are ϵ-differentially private.",
                epsilon=self.epsilon,
            )
        ]


class WeightsHalfSensitivity(_Broken):
    """Noise for half the true sensitivity of the weights: C(m, 2)/2, the average change, instead of C(m, 2)."""

    def answers(self) -> list[tuple[float, int]]:
        return [(self.pairs / 2 / (self.epsilon * self.agents), self.pairs)]


class WeightsUndividedBudget(_Broken):
    """Every weight gets the whole budget, as if there were only one."""

    def answers(self) -> list[tuple[float, int]]:
        return [(1 / (self.epsilon * self.agents), self.pairs)]


class QueriesAddRemove(_Broken):
    """Noise on w_ji - w_ij for one ranking added, 1/n, where one replaced changes it by 2/n; cap and fallback right."""

    def answers(self) -> list[tuple[float, int]]:
        margin_noise = 2 * 2 / (self.epsilon * self.agents)
        return [(margin_noise / 2, 2), (2 * self.pairs / (self.epsilon * self.agents), self.pairs)]


class CapNotEnforced(_Broken):
    """Budget ϵ/2 split over one query, but every comparison is answered and the fallback never runs."""

    def answers(self) -> list[tuple[float, int]]:
        return [(2 / (self.epsilon * self.agents), self.pairs)]


class FallbackFullBudget(_Broken):
    """Queries at ϵ/2 up to a cap of 2, then the fallback with the whole budget instead of ϵ/2."""

    def answers(self) -> list[tuple[float, int]]:
        return [
            (2 * 2 / (self.epsilon * self.agents), 2),
            (self.pairs / (self.epsilon * self.agents), self.pairs),
        ]


class QueriesUndividedBudget(_Broken):
    """Every query gets the ϵ/2 that all q = C(m, 2) of them should share."""

    alternatives: int = dpaudit.parameter(4, minimum=2, doc="m")

    def answers(self) -> list[tuple[float, int]]:
        return [(2 / (self.epsilon * self.agents), self.pairs)]


class CounterNotShared(_Broken):
    """Every part starts a counter of its own: with a cap of m - 1 no part exceeds it, and all pairs are answered."""

    alternatives: int = dpaudit.parameter(12, minimum=5, doc="m")

    def answers(self) -> list[tuple[float, int]]:
        return [(2 * (self.alternatives - 1) / (self.epsilon * self.agents), self.pairs)]
