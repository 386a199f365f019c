"""Broken variants of the two reductions in the central model; what they break is private with the meant budgets."""

import math
from typing import Any

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

from ..noisy_pairwise import NoisyMatrix
from ..paper import PAPER

ANSWERS: dict[str, Any] = {
    "paper": PAPER,
    "statement": "The noisy weights of a run are ϵ-differentially private.",
    "exact": True,
}


class NoisyAnswers(dpaudit.Mechanism):
    """Noisy weights that a longest run reveals: all of them, with Laplace noise for their true sensitivity."""

    notation = (
        "an input lists the agents' rankings, best first; an output holds noisy weights of the pairs (0, 1), (0, 2), …"
    )
    trust = "The adversary sees every noisy weight that a longest run computes."

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget that is claimed")
    alternatives: int = dpaudit.parameter(3, minimum=2, role="alternatives", doc="m")
    agents: int = dpaudit.parameter(1, minimum=1, role="agents", doc="n")

    @property
    def pairs(self) -> int:
        """Number of pairs of alternatives."""
        return math.comb(self.alternatives, 2)

    def scale(self, answers: int, epsilon: float) -> float:
        """Scale of the noise that so many answers need to spend that budget together."""
        return answers / (epsilon * self.agents)

    def parts(self) -> tuple[tuple[float, int], ...]:
        """Scale of the noise, and how many of the weights get it, of every part of the run."""
        return ((self.scale(self.pairs, self.epsilon), self.pairs),)

    def revealing(self, *parts: tuple[float, int]) -> "Revealed":
        """Noisy answers with these scales, about so many weights."""
        return Revealed(**self.parameters(), revealed=parts)

    def weights(self, data: Any) -> np.ndarray:
        i, j = rankings.alternative_pairs(self.alternatives).T
        return np.asarray(rankings.pairwise_counts(data)[i, j] / self.agents)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        weights = self.weights(data)
        return np.concatenate(
            [
                randomizers.LaplaceNoise(scale).randomize(np.tile(weights[:count], (size, 1)), rng)
                for scale, count in self.parts()
            ],
            axis=1,
        )

    def law(self, data: Any) -> dpaudit.ProductLaw:
        weights = self.weights(data)
        return dpaudit.ProductLaw(
            [randomizers.LaplaceNoise(scale).law(w) for scale, count in self.parts() for w in weights[:count]]
        )

    def neighbours(self) -> dpaudit.Neighbouring:
        settings: dict[str, Any] = {"alternatives": self.alternatives, "agents": self.agents}
        return NoisyMatrix(**settings).neighbours()


class Revealed(NoisyAnswers):
    """Noisy answers about some of the weights, with whatever noise they have."""

    revealed: tuple[tuple[float, int], ...] = dpaudit.parameter((), doc="scale of the noise, and number of weights")

    def parts(self) -> tuple[tuple[float, int], ...]:
        return self.revealed


@dpaudit.control("control.weights-half-sensitivity", NoisyAnswers, **ANSWERS)
def weights_half_sensitivity(right: NoisyAnswers) -> dpaudit.Mechanism:
    """Noise for half the true sensitivity of the weights: C(m, 2)/2, the average change, instead of C(m, 2)."""
    return right.but(epsilon=2 * right.epsilon)


@dpaudit.control("control.weights-undivided-budget", NoisyAnswers, **ANSWERS)
def weights_undivided_budget(right: NoisyAnswers) -> dpaudit.Mechanism:
    """Every weight gets the whole budget, as if there were only one."""
    return right.but(epsilon=right.epsilon * right.pairs)


@dpaudit.control("control.queries-add-remove", NoisyAnswers, **ANSWERS)
def queries_add_remove(right: NoisyAnswers) -> dpaudit.Mechanism:
    """Noise on w_ji - w_ij for one ranking added, 1/n, where one replaced changes it by 2/n; cap and fallback right."""
    half = right.epsilon / 2
    return right.revealing((right.scale(2, half) / 2, 2), (right.scale(right.pairs, half), right.pairs))


@dpaudit.control("control.cap-not-enforced", NoisyAnswers, **ANSWERS)
def cap_not_enforced(right: NoisyAnswers) -> dpaudit.Mechanism:
    """Budget ϵ/2 split over one query, but every comparison is answered and the fallback never runs."""
    return right.revealing((right.scale(1, right.epsilon / 2), right.pairs))


@dpaudit.control("control.fallback-full-budget", NoisyAnswers, **ANSWERS)
def fallback_full_budget(right: NoisyAnswers) -> dpaudit.Mechanism:
    """Queries at ϵ/2 up to a cap of 2, then the fallback with the whole budget instead of ϵ/2."""
    return right.revealing(
        (right.scale(2, right.epsilon / 2), 2), (right.scale(right.pairs, right.epsilon), right.pairs)
    )


@dpaudit.control("control.queries-undivided-budget", NoisyAnswers, **ANSWERS, alternatives=4)
def queries_undivided_budget(right: NoisyAnswers) -> dpaudit.Mechanism:
    """Every query gets the ϵ/2 that all q = C(m, 2) of them should share."""
    return right.revealing((right.scale(1, right.epsilon / 2), right.pairs))


@dpaudit.control("control.counter-not-shared", NoisyAnswers, **ANSWERS, alternatives=12)
def counter_not_shared(right: NoisyAnswers) -> dpaudit.Mechanism:
    """Every part starts a counter of its own: with a cap of m - 1 no part exceeds it, and all pairs are answered."""
    return right.revealing((right.scale(right.alternatives - 1, right.epsilon / 2), right.pairs))
