"""Sums of leaves in a b-ary tree, of which the map says how far apart they are."""

import opendp.prelude as dp

import dpaudit

dp.enable_features("contrib")


def make_tree():
    """Tree over two leaves of 32 bits."""
    space = dp.vector_domain(dp.atom_domain(T=int), size=2), dp.l1_distance(T=int)
    return dp.t.make_b_ary_tree(*space, leaf_count=2, branching_factor=2)


def target():
    """The release."""
    return dpaudit.from_opendp(make_tree(), name="tree")


class SaturatingTree(dpaudit.Mechanism):
    """The same tree, with sums that stay at the ends of the integers."""

    def claims(self):
        """Say what the release says."""
        ends = -(2**31), 2**31 - 1
        return [
            dpaudit.StabilityClaim(
                id="saturating-tree.stability",
                statement="The tree is as stable as the release says.",
                transformation=lambda leaves: [min(max(sum(leaves), ends[0]), ends[1]), *leaves],
                domain=dpaudit.Datasets(dpaudit.Integers(*ends), size=2),
                input_metric="l1",
                output_metric="l1",
                map=lambda distance: 2 * distance,
                tolerance=0.0,
            )
        ]


def twin():
    """The patched twin."""
    return SaturatingTree()
