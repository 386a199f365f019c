"""OpenDP's Laplace mechanism on an integer count.

OpenDP does not only claim, it computes: `map(d_in)` of a measurement is the epsilon that it promises for inputs at
distance `d_in`, here 1. That number is audited. OpenDP draws from the operating system's generator, which cannot be
seeded, so two runs with the same `--seed` differ.
"""

import numpy as np
import opendp.prelude as dp

import dpaudit

dp.enable_features("contrib")


class OpendpLaplace(dpaudit.Mechanism):
    """A count with OpenDP's Laplace noise, which is discrete on integers."""

    scale: float = dpaudit.parameter(1.0, above=0, doc="scale of the noise")

    source = "OpenDP, make_laplace"
    own_randomness = True

    @property
    def measurement(self):
        """OpenDP's own object. Each number of a list gets noise of its own, so one call makes many releases."""
        return dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=self.scale)

    def sample(self, data, size, rng):
        return np.array(self.measurement([data] * size))

    def neighbours(self):
        return dpaudit.Neighbouring(relation="add-remove", pairs=[(10, 11)], complete=False, scope="counts 10 and 11")

    def claims(self):
        epsilon = self.measurement.map(1)
        statement = f"The noisy count is {epsilon:g}-differentially private, which is OpenDP's map(1)."
        return [dpaudit.PrivacyClaim(id="opendp.laplace", statement=statement, epsilon=epsilon)]
