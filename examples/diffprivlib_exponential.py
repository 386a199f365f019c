"""The exponential mechanism for categories in diffprivlib, on utilities that are balanced only where it looks.

`ExponentialCategorical` gives the input v the output t with probability exp(-epsilon u(v, t) / (2 s)) / Z(v), where s
is the largest utility and Z(v) makes the probabilities add up to 1. Up to half of the privacy loss comes from Z, so the
2 may be left out where Z is the same for all inputs, and the library (0.6.6) does so. But it compares the Z(v) with the
2 in place, and then draws without it, where they need no longer be equal.

Here every a is at one distance from all other a, and every b very near to one other b and far from the rest; the first
distance is such that all Z(v) agree with the 2 in place. Without it Z(b) is larger than Z(a), and the output a0 tells
a0 from b0 by epsilon + log(Z(b) / Z(a)): at epsilon 4 that is 4.269. The law that the library's own numbers make
refutes the claim, and so do its outputs alone (`--method black-box`).
"""

import math
from itertools import combinations

import numpy as np
from diffprivlib.mechanisms import ExponentialCategorical

import dpaudit

VALUES = [f"{group}{number}" for group in "ab" for number in range(4)]
NEAR = 0.001


class Exponential(dpaudit.Mechanism):
    """A category out of eight, randomised by diffprivlib."""

    epsilon: float = 4.0

    source = "diffprivlib.mechanisms.ExponentialCategorical"

    def library(self, seed=None):
        """Return the library's mechanism for utilities that it takes for balanced."""
        near, far = (math.exp(-self.epsilon * utility / 2) for utility in (NEAR, 1.0))
        among_a = -2 * math.log((near + 2 * far) / 3) / self.epsilon

        def utility(one, two):
            if one[0] != two[0]:
                return 1.0
            return among_a if one[0] == "a" else NEAR if int(one[1]) // 2 == int(two[1]) // 2 else 1.0

        utilities = [(one, two, utility(one, two)) for one, two in combinations(VALUES, 2)]
        return ExponentialCategorical(epsilon=self.epsilon, utility_list=utilities, random_state=seed)

    def sample(self, data, size, rng):
        mechanism = self.library(np.random.RandomState(rng.bit_generator))
        return np.array([mechanism.randomise(data) for _ in range(size)])

    def law(self, data):
        mechanism = self.library()
        weights = np.array([mechanism._get_prob(data, value) for value in VALUES])
        return dpaudit.FiniteLaw.from_probabilities(VALUES, weights / mechanism._normalising_constant[data])

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs(VALUES, scope="all pairs of 8 categories")

    def claims(self):
        statement = f"The category drawn is {self.epsilon:g}-differentially private."
        return [dpaudit.PrivacyClaim(id="diffprivlib.exponential", statement=statement, epsilon=self.epsilon)]
