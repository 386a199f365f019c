"""A noisy count of all rows, of which each user has one in at most 25 groups; the groups are merged before the count.

A record of the audit is a user: how many groups the user is in.
"""

import numpy as np
import opendp.prelude as dp
import polars as pl

import dpaudit

dp.enable_features("contrib")

GROUPS, SCALE = 25, 50.0
SCHEMA = {"id": pl.Int64, "g": pl.Int64}


def make_counts(merged):
    """Noisy counts by group; of the groups that are counted, each user may be in 25."""
    plan = (
        pl.LazyFrame(schema=SCHEMA)
        .filter(pl.int_range(pl.len()).over("id", "g") < 1)
        .filter(pl.struct("g").rank("dense").over("id") < GROUPS + 1)
    )
    plan = plan.with_columns(g=pl.lit(0, dtype=pl.Int64)) if merged else plan
    groups = [0] if merged else list(range(GROUPS))
    query = pl.LazyFrame({"g": groups}).join(plan.group_by("g").agg(dp.len(scale=SCALE)), on="g", how="left")
    columns = [dp.series_domain(name, dp.atom_domain(T="i64")) for name in SCHEMA]
    return dp.m.make_private_lazyframe(
        dp.lazyframe_domain(columns),
        dp.symmetric_id_distance(identifier=pl.col("id")),
        dp.zero_concentrated_divergence(),
        query,
    )


class Count(dpaudit.Mechanism):
    """The noisy count of the release."""

    own_randomness = True
    merged = True

    def sample(self, data, size, rng):
        """Draw noisy counts."""
        rows = [(user, group) for user, groups in enumerate(data) for group in range(groups)]
        frame = pl.LazyFrame(rows, schema=SCHEMA, orient="row")
        counts = make_counts(self.merged)
        return np.array([float(counts(frame).collect()["len"].sum()) for _ in range(size)])

    def neighbours(self):
        """Derive tables that differ in one user."""
        users = dpaudit.Datasets(dpaudit.Integers(1, 2 * GROUPS), longest=4)
        return dpaudit.Neighbouring.within(dpaudit.DerivedPairs(space=users, relation="add-remove"))

    def claims(self):
        """Take rho from the map."""
        rho = make_counts(self.merged).map(1)
        guarantee = dpaudit.ZeroConcentratedDP(rho)
        return [dpaudit.PrivacyClaim(id="count.privacy", statement="The count is private.", guarantee=guarantee)]


class Apart(Count):
    """The same with groups that stay apart; what is looked at is the sum of the noisy counts."""

    merged = False


def target():
    """The release."""
    return Count()


def twin():
    """The patched twin."""
    return Apart()
