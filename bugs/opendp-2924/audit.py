"""Sums of four leaves in a tree, of which the map says how far apart they are in L2 distance."""

import math

import opendp.prelude as dp

import dpaudit

dp.enable_features("contrib")

LEAVES = 4


def make_tree():
    """Tree of one sum over four leaves."""
    space = dp.vector_domain(dp.atom_domain(T=int), size=LEAVES), dp.l2_distance(T=int)
    return dp.t.make_b_ary_tree(*space, leaf_count=LEAVES, branching_factor=LEAVES)


def target():
    """The release."""
    return dpaudit.from_opendp(make_tree(), name="tree")


class Tree(dpaudit.Mechanism):
    """The same tree over small leaves, with the constant that the report proposes."""

    def claims(self):
        """Say what the report says."""
        constant = math.sqrt(1 + LEAVES)
        return [
            dpaudit.StabilityClaim(
                id="tree.stability",
                statement="The sums are as near as the report says.",
                transformation=make_tree(),
                domain=dpaudit.Datasets(dpaudit.Integers(-1000, 1000), size=LEAVES),
                input_metric="l2",
                output_metric="l2",
                map=lambda distance: constant * distance,
            )
        ]


def twin():
    """The patched twin."""
    return Tree()
