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


class Tree(dpaudit.Mechanism):
    """The tree of the release, over leaves so small that no sum overflows, which would be report 2925."""

    def promised(self, tree, distance):
        """Ask the map, which takes whole distances, for the next one."""
        return tree.map(math.ceil(distance))

    def claims(self):
        """Say what the map says."""
        tree = make_tree()
        return [
            dpaudit.StabilityClaim(
                id="tree.stability",
                statement="The sums are as near as promised.",
                transformation=tree,
                domain=dpaudit.Datasets(dpaudit.Integers(-1000, 1000), size=LEAVES),
                input_metric="l2",
                output_metric="l2",
                map=lambda distance: self.promised(tree, distance),
            )
        ]


class Corrected(Tree):
    """The same with the constant that the report proposes."""

    def promised(self, tree, distance):
        """Count that the sum changes by each of the leaves."""
        return math.sqrt(1 + LEAVES) * distance


def target():
    """The release."""
    return Tree()


def twin():
    """The patched twin."""
    return Corrected()
