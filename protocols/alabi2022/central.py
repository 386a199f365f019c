"""What both reductions of the central model share: a trusted curator who adds noise to pairwise weights.

One ranking replaced changes the C(m, 2) weights i < j by at most C(m, 2)/n in sum.
"""

import math
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

EXACT_KEMENY = 14
"""Most alternatives of which Kemeny rankings are exact."""
RUNS_AT_ONCE = 1 << 15

Noise = randomizers.LaplaceNoise | randomizers.GaussianNoise


class Central(dpaudit.Mechanism):
    """A mechanism of the central model that adds noise to pairwise weights."""

    epsilon: float = dpaudit.parameter(1.0, minimum=1e-3, doc="ϵ, the whole budget")
    delta: float = dpaudit.parameter(0.0, doc="δ: 0 with Laplace noise, above 0 with Gaussian noise")
    noise: Literal["laplace", "gaussian"] = dpaudit.parameter("laplace", doc="noise of a weight")
    calibration: Literal["printed", "classical", "tight", "mended"] = dpaudit.parameter(
        "printed",
        doc="of the noise: as printed, or to the true sensitivity, Gaussian noise classically, exactly, or by one "
        "formula for every ϵ",
    )
    alternatives: int = dpaudit.parameter(3, minimum=2, maximum=256, role="alternatives", doc="m")
    agents: int = dpaudit.parameter(2, minimum=1, role="agents", doc="n")
    instance: Literal["unanimous", "near-ties", "opposed", "cyclic"] = dpaudit.parameter(
        "near-ties", doc="profile of the utility claims: near-ties has margins of the size of the noise"
    )

    def validate(self) -> None:
        if (self.noise == "gaussian") != (0 < self.delta < 1):
            need = "above 0 and below 1" if self.noise == "gaussian" else "0"
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'delta' must be {need} with {self.noise} noise, got {self.delta}"
            )
        if self.instance == "cyclic" and self.alternatives > EXACT_KEMENY:
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'alternatives' must be at most {EXACT_KEMENY} with the instance 'cyclic', "
                f"whose optimum has no closed form here, got {self.alternatives}"
            )

    @property
    def pairs(self) -> int:
        """Number of pairs of alternatives."""
        return math.comb(self.alternatives, 2)

    def weights(self, data: Any) -> np.ndarray:
        """w_ij of the pairs i < j of a profile of shape (n, m), or of a ``Profile``."""
        counts = rankings.pairwise_counts(data)
        i, j = rankings.alternative_pairs(self.alternatives).T
        return np.asarray(counts[i, j] / (counts[i, j] + counts[j, i]))

    def calibrated(self, epsilon: float, l1: float, l2: float) -> Noise:
        """Noise for that budget: Lap(l1 / ϵ), or Gaussian noise for an L2 sensitivity."""
        if self.noise == "laplace":
            return randomizers.LaplaceNoise.for_epsilon(epsilon, sensitivity=l1)
        if self.calibration == "tight":
            return randomizers.GaussianNoise.analytic(epsilon, self.delta, sensitivity=l2)
        if self.calibration == "mended":
            # Zero-concentrated DP: ρ + 2 sqrt(ρ L) = ϵ at L = log(1/δ), and ρ = l2^2 / 2 σ^2.
            log = -math.log(self.delta)
            return randomizers.GaussianNoise(
                l2 * (math.sqrt(log) + math.sqrt(log + epsilon)) / (math.sqrt(2) * epsilon)
            )
        return randomizers.GaussianNoise.classical(epsilon, self.delta, sensitivity=l2)

    def opposites(self) -> tuple[np.ndarray, np.ndarray]:
        """Profiles of n agents who agree, but for one that has the reverse ranking in the second."""
        order = np.arange(self.alternatives)
        rest = np.tile(order, (self.agents - 1, 1))
        return np.vstack([order, rest]), np.vstack([order[::-1], rest])

    @property
    def main_noise(self) -> Noise:
        """Noise of the weights that decide the ranking."""
        raise NotImplementedError

    def neighbours(self) -> dpaudit.Neighbouring:
        profiles = rankings.Profiles(agents=self.agents, alternatives=self.alternatives, neutral=True)
        return dpaudit.Neighbouring(
            relation=profiles.relation,
            pairs=profiles.pairs,
            complete=True,
            scope=f"all {profiles.scope}",
            domain=profiles,
        )


class Weights(Central):
    """Noisy weights alone, whose privacy loss grows with every weight that changes."""

    def neighbours(self) -> dpaudit.Neighbouring:
        return dpaudit.Neighbouring(
            relation="substitution",
            pairs=[self.opposites()],
            complete=True,
            scope=(
                f"all profiles of {self.agents} agent{'s' if self.agents > 1 else ''} over {self.alternatives} "
                "alternatives with one ranking replaced; the reverse, which changes every weight by 1/n, stands for all"
                " others, because the loss depends on the changes alone and grows with them"
            ),
        )
