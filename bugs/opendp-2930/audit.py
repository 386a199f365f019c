"""Randomized response on vectors of bits of which one is set at most."""

import opendp.prelude as dp

import dpaudit

dp.enable_features("contrib")


def make_response():
    """Randomized response in every bit."""
    return dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=0.5)


def target():
    """The release."""
    return dpaudit.from_opendp(make_response(), name="response")


class OfOneLength:
    """The same release, on vectors of two bytes alone."""

    def __init__(self):
        """Take everything else from the release."""
        made = make_response()
        self.input_domain, self.input_metric = made.input_domain, made.input_metric
        self.output_measure, self.map, self.made = made.output_measure, made.map, made
        self.input_distance_type = made.input_distance_type

    def __call__(self, data):
        """Respond with two bytes, whatever the length."""
        return self.made(data[:2].ljust(2, b"\0"))


def twin():
    """The patched twin."""
    return dpaudit.from_opendp(OfOneLength(), name="response")
