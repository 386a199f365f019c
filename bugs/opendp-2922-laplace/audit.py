"""Noisy counts of which those above a threshold are released: delta as the map says."""

import opendp.prelude as dp

import dpaudit

dp.enable_features("contrib")

THRESHOLD = 3


def make_counts():
    """Counts of keys with Laplace noise."""
    domain = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
    metric = dp.l01inf_distance(dp.absolute_distance(T=int))
    return dp.m.make_laplace_threshold(domain, metric, scale=1.0, threshold=THRESHOLD)


def target():
    """The release."""
    return dpaudit.from_opendp(make_counts(), name="counts")


class Above:
    """The same release, without the counts that equal the threshold."""

    def __init__(self):
        """Take everything else from the release."""
        made = make_counts()
        self.input_domain, self.input_metric = made.input_domain, made.input_metric
        self.output_measure, self.map, self.made = made.output_measure, made.map, made
        self.input_distance_type = made.input_distance_type

    def __call__(self, data):
        """Release."""
        return {key: count for key, count in self.made(data).items() if count > THRESHOLD}


def twin():
    """The patched twin."""
    return dpaudit.from_opendp(Above(), name="counts")
