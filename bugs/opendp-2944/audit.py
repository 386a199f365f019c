"""A noisy sum of the codes of two intervals."""

import numpy as np
import opendp.prelude as dp
import polars as pl

import dpaudit

dp.enable_features("contrib")

LONGEST = 101


def make_total(expression, kind):
    """Noisy sum of an expression in a column of one frame."""
    column = dp.atom_domain(T=kind, nan=False) if kind is float else dp.atom_domain(T=kind)
    domain = dp.lazyframe_domain([dp.series_domain("x", column)])
    query = pl.LazyFrame(schema={"x": pl.Float64 if kind is float else pl.Int64}).select(
        expression.dp.sum((0, 1), scale=1.0)
    )
    return dp.m.make_private_lazyframe(
        dp.with_margin(domain, dp.polars.Margin(max_length=LONGEST)),
        dp.frame_distance(dp.symmetric_distance()),
        dp.max_divergence(),
        query,
    )


class Total(dpaudit.Mechanism):
    """The noisy sum of the release."""

    own_randomness = True

    def make(self):
        """Make the measurement."""
        return make_total(pl.col("x").cut([1.0]).to_physical(), float)

    def frame(self, data):
        """Return the frame of some records."""
        return pl.LazyFrame({"x": list(data)}, schema={"x": pl.Float64})

    def sample(self, data, size, rng):
        """Draw noisy sums."""
        total, frame = self.make(), self.frame(data)
        return np.array([float(total(frame).collect().item()) for _ in range(size)])

    def neighbours(self):
        """Derive columns that differ in one record."""
        space = dpaudit.Datasets(dpaudit.Floats(-10.0, 10.0), longest=LONGEST)
        return dpaudit.Neighbouring.within(dpaudit.DerivedPairs(space=space, relation="add-remove"))

    def claims(self):
        """Take epsilon from the map."""
        epsilon = self.make().map([dp.polars.Bound(per_group=1)])
        return [dpaudit.PrivacyClaim(id="total.privacy", statement="The sum is private.", epsilon=epsilon)]


class Coded(Total):
    """The same, with codes that depend on each record alone."""

    def make(self):
        """Make the measurement on codes."""
        return make_total(pl.col("x"), int)

    def frame(self, data):
        """Return the frame of the codes."""
        return pl.LazyFrame({"x": [int(each > 1.0) for each in data]}, schema={"x": pl.Int64})


def target():
    """The release."""
    return Total()


def twin():
    """The patched twin."""
    return Coded()
