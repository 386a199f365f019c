"""Noisy counts from which the conditional distributions of a network are made: two binary attributes, one parent."""

import numpy as np
import pandas as pd
from DataSynthesizer.lib.PrivBayes import get_noisy_distribution_of_attributes

import dpaudit

EPSILON = 1.0


def has_all_values(data):
    """Whether both values of both attributes occur, without which there is no distribution."""
    return all(len(set(column)) == 2 for column in zip(*data, strict=True)) and len(data) > 0


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
        """Derive datasets that differ in one record."""
        bit = dpaudit.Choices((0, 1))
        domain = dpaudit.DerivedPairs(
            space=dpaudit.Datasets(dpaudit.Rows((bit, bit))), relation="add-remove", member=has_all_values
        )
        return dpaudit.Neighbouring.within(domain)

    def claims(self):
        """Say what the option epsilon says."""
        return [dpaudit.PrivacyClaim(id="counts.privacy", statement="They are private.", epsilon=EPSILON)]


def target():
    """The release."""
    return Counts()
