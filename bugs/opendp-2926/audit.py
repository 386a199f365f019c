"""From insert-delete distance to Hamming distance, at half the distance."""

import opendp.prelude as dp

import dpaudit

dp.enable_features("contrib")


def make_bounded():
    """Cast of the metric on datasets of three records."""
    return dp.t.make_metric_bounded(dp.vector_domain(dp.atom_domain(T=int), size=3), dp.insert_delete_distance())


def target():
    """The release."""
    return dpaudit.from_opendp(make_bounded(), name="bounded")


class Unordered(dpaudit.Mechanism):
    """The same cast to the distance in which order does not count, as the report proposes."""

    def claims(self):
        """Say what the release says, of another metric."""
        return [
            dpaudit.StabilityClaim(
                id="unordered.stability",
                statement="The cast is as stable as the release says.",
                transformation=list,
                domain=dpaudit.Datasets(dpaudit.Integers(-(2**31), 2**31 - 1), size=3),
                input_metric="insert-delete",
                output_metric="change-one",
                map=make_bounded().map,
            )
        ]


def twin():
    """The patched twin."""
    return Unordered()
