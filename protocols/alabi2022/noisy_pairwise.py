"""Reduction I in the central model: noise on every pairwise weight (Theorem 1, Corollaries 3 and 4)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import dpaudit
from dpaudit import rankings

from .central import RUNS_AT_ONCE, Central, Noise, Weights
from .kemeny_law import noisy_kemeny_law
from .kemeny_weights import kemeny_rankings
from .paper import CENTRAL, COROLLARY_3, FACT_2, PAPER


class NoisyMatrix(Weights):
    """The noisy weights of Reduction I, before they are clipped."""

    notation = (
        "an input lists the agents' rankings, best first; an output holds a noisy weight for each pair (0, "
        "1), (0, 2), …"
    )

    @property
    def main_noise(self) -> Noise:
        """As printed for m^2 queries; the true sensitivities are C(m, 2)/n and sqrt(C(m, 2))/n."""
        squares = self.alternatives**2 if self.calibration == "printed" else self.pairs
        return self.calibrated(self.epsilon, squares / self.agents, math.sqrt(squares) / self.agents)

    def sends(self) -> Sequence[dpaudit.Message]:
        return [dpaudit.Message(self.main_noise, self.pairs)]

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        return self.main_noise.randomize(np.tile(self.weights(data), (size, 1)), rng)

    def law(self, data: Any) -> dpaudit.ProductLaw:
        return dpaudit.ProductLaw([self.main_noise.law(weight) for weight in self.weights(data)])


class NoisyPairwise(Central):
    """Reduction I: noise on every pairwise weight, clipped to [0, 1], and a Kemeny ranking of what results."""

    name = "noisy-pairwise"
    places = (PAPER.at(section=CENTRAL, note="Reduction I"),)
    trust = "A trusted curator sees every ranking; the adversary sees the ranking, or every noisy weight."
    notation = "an input lists the agents' rankings, best first; the output is a ranking"
    errata = (FACT_2, COROLLARY_3)

    xi: float = dpaudit.parameter(0.0, minimum=0, doc="ξ: the Kemeny ranking may cost 1 + ξ times the least, m > 14")

    @property
    def matrix(self) -> NoisyMatrix:
        """The noisy weights."""
        shared = {name: value for name, value in self.parameters().items() if name != "xi"}
        return NoisyMatrix(**shared)

    @property
    def main_noise(self) -> Noise:
        return self.matrix.main_noise

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        return {"output": self, "noisy-matrix": self.matrix}

    def transcript(self) -> dpaudit.Transcript:
        return dpaudit.Transcript(view="noisy-matrix", inputs=self.opposites(), runs=4)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Kemeny rankings of noisy weights; equal ones are told apart by random labels."""
        parts = [np.empty((0, self.alternatives), dtype=np.int64)]
        for start in range(0, size, RUNS_AT_ONCE):
            noisy = self.matrix.sample(data, min(RUNS_AT_ONCE, size - start), rng)
            clipped = rankings.margin_matrix(np.clip(noisy, 0, 1) - 0.5, self.alternatives) + 0.5
            clipped[:, range(self.alternatives), range(self.alternatives)] = 0
            parts.append(kemeny_rankings(clipped, rng, gap=self.xi / (1 + self.xi)))
        return np.concatenate(parts)

    def law(self, data: Any) -> dpaudit.FiniteLaw | None:
        """Law over the rankings of two or three alternatives."""
        if self.alternatives > 3:
            return None
        noise, margins = self.main_noise, self.weights(data) - 0.5
        if self.alternatives == 2:
            return dpaudit.FiniteLaw(rankings.all_rankings(2), noise.log_below(np.array([margins[0], -margins[0]])))
        law = noisy_kemeny_law(margins, log_below=noise.log_below, log_density=noise.log_density, scale=noise.scale)
        return dpaudit.FiniteLaw.from_probabilities(rankings.all_rankings(3), law)
