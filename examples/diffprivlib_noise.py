"""The noise inside two functions that use diffprivlib, one of which forgets to clip."""

import numpy as np
from diffprivlib.mechanisms import Laplace

import dpaudit

EPSILON, LARGEST = 1.0, 100.0


def clipped_sum(data):
    """Sum of numbers from 0 to 100."""
    total = float(np.sum(np.clip(data, 0.0, LARGEST)))
    return Laplace(epsilon=EPSILON, sensitivity=LARGEST).randomise(total)


def unclipped_sum(data):
    """The same, of whatever numbers there are."""
    return Laplace(epsilon=EPSILON, sensitivity=LARGEST).randomise(float(np.sum(data)))


class Sums(dpaudit.Mechanism):
    """Sums with Laplace noise, for a record more or less."""

    def neighbours(self):
        data = np.array([0.0, 20.0, 100.0])
        pairs = [(data, np.append(data, record)) for record in (100.0, 500.0)]
        return dpaudit.Neighbouring(relation="add-remove", pairs=pairs, complete=False, scope="a record added")

    def claims(self):
        statement = "What is noised changes by the sensitivity at most, and the noise is enough for epsilon."
        return [
            dpaudit.NoiseClaim(id=name, statement=statement, mechanism=function, epsilon=EPSILON)
            for name, function in (("clipped-sum.noise", clipped_sum), ("unclipped-sum.noise", unclipped_sum))
        ]
