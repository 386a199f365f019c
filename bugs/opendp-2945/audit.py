"""A noisy sum in a group whose length is known to be 1 at most."""

import numpy as np
import opendp.prelude as dp
import polars as pl

import dpaudit

dp.enable_features("contrib")

SCHEMA = {"A": pl.String, "B": pl.Int32}


def make_total():
    """Noisy sum of the one group."""
    query = pl.LazyFrame(schema=SCHEMA).group_by("A").agg(pl.col("B").dp.sum((-10, 10), scale=20.0))
    domain = dp.with_margin(
        dp.lazyframe_domain(
            [dp.series_domain("A", dp.atom_domain(T=str)), dp.series_domain("B", dp.atom_domain(T=int))]
        ),
        dp.polars.Margin(by=["A"], max_length=1, max_groups=1, invariant="keys"),
    )
    return dp.m.make_private_lazyframe(domain, dp.symmetric_distance(), dp.max_divergence(), query)


class Total(dpaudit.Mechanism):
    """The noisy sum of the release."""

    own_randomness = True
    distance = 2
    """Symmetric distance of two frames of one record each."""
    factor = 1

    def sample(self, data, size, rng):
        """Draw noisy sums."""
        total, frame = make_total(), pl.LazyFrame({"A": ["a"] * len(data), "B": list(data)}, schema=SCHEMA)
        return np.array([float(total(frame).collect()["B"].item()) for _ in range(size)])

    def neighbours(self):
        """Derive groups of one record, which is replaced."""
        space = dpaudit.Datasets(dpaudit.Integers(-10, 10), size=1)
        return dpaudit.Neighbouring.within(dpaudit.DerivedPairs(space=space, relation="substitution"))

    def claims(self):
        """Take epsilon from the map."""
        epsilon = self.factor * make_total().map(self.distance)
        return [dpaudit.PrivacyClaim(id="total.privacy", statement="The sum is private.", epsilon=epsilon)]


class Doubled(Total):
    """The same with a change of up to two records in a group of one, as the report proposes."""

    factor = 2


def target():
    """The release."""
    return Total()


def twin():
    """The patched twin."""
    return Doubled()
