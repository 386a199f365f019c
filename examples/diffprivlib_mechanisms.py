"""Additive noise in diffprivlib: its geometric, Laplace and analytic Gaussian mechanisms.

Each claims (epsilon, delta)-differential privacy for inputs that differ by at most the `sensitivity` it is told. The
inputs here differ by 2, as a sum of votes of -1 or 1 does when one vote is replaced: the claim stands with
`sensitivity` 2, and `--set sensitivity=1`, the mistake of counting a replaced vote once, gets it refuted.
"""

from typing import ClassVar

import numpy as np
from diffprivlib import mechanisms

import dpaudit


class _NoisyVotes(dpaudit.Mechanism):
    epsilon: float = 1.0
    sensitivity: int = dpaudit.parameter(2, minimum=1, doc="what the library is told; it is 2 in truth")

    source = "diffprivlib.mechanisms"
    library: ClassVar[type[mechanisms.base.DPMechanism]]

    def sample(self, data, size, rng):
        mechanism = self.library(**self.parameters(), random_state=np.random.RandomState(rng.bit_generator))
        return np.array([mechanism.randomise(data) for _ in range(size)])

    def neighbours(self):
        return dpaudit.Neighbouring(relation="substitution", pairs=[(4, 6)], complete=False, scope="sums 4 and 6")

    def claims(self):
        epsilon, delta = self.epsilon, self.parameters().get("delta", 0.0)
        statement = f"The noisy sum is ({epsilon:g}, {delta:g})-differentially private."
        return [dpaudit.PrivacyClaim(id=f"diffprivlib.{self.name}", statement=statement, epsilon=epsilon, delta=delta)]


class Geometric(_NoisyVotes):
    """Votes with two-sided geometric noise."""

    library = mechanisms.Geometric


class Laplace(_NoisyVotes):
    """Votes with Laplace noise, which the library makes from four uniform numbers."""

    library = mechanisms.Laplace


class GaussianAnalytic(_NoisyVotes):
    """Votes with normal noise of the smallest sufficient variance."""

    delta: float = 0.05
    library = mechanisms.GaussianAnalytic
