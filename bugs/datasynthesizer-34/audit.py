"""Noisy counts from which the conditional distributions of a network are made: two binary attributes, one parent."""

import itertools

import numpy as np
import pandas as pd
from DataSynthesizer.lib.PrivBayes import get_noisy_distribution_of_attributes

import dpaudit

EPSILON = 1.0


class Counts(dpaudit.Mechanism):
    """The noisy counts of all pairs of values; every dataset holds both values of both attributes."""

    own_randomness = True

    def sample(self, data, size, rng):
        """Draw tables of counts."""
        table = pd.DataFrame(list(data), columns=["a", "b"])
        np.random.seed(rng.integers(2**32, size=8))
        return np.array(
            [get_noisy_distribution_of_attributes(["a", "b"], table, EPSILON)["count"].to_numpy() for _ in range(size)]
        )

    def neighbours(self):
        """Add one record."""
        cells = list(itertools.product((0, 1), repeat=2))
        bases = [((0, 0), (1, 1)), ((0, 0), (1, 1), (1, 1), (0, 1)), ((0, 0),) * 4 + ((1, 1),) * 4]
        pairs = [(base, (*base, cell)) for base in bases for cell in cells]
        return dpaudit.Neighbouring(
            relation="add-remove", pairs=pairs, complete=False, scope=f"{len(pairs)} pairs of small datasets"
        )

    def claims(self):
        """Say what the option epsilon says."""
        return [dpaudit.PrivacyClaim(id="counts.privacy", statement="They are private.", epsilon=EPSILON)]


def target():
    """The release."""
    return Counts()
