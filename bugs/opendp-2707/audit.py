"""Randomized response on eight bits of which one is set at most."""

import numpy as np
import opendp.prelude as dp

import dpaudit

dp.enable_features("contrib")


class Response(dpaudit.Mechanism):
    """The measurement of the release, on vectors of one length."""

    own_randomness = True

    def make(self):
        """Make the measurement."""
        return dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=0.5)

    def sample(self, data, size, rng):
        """Draw responses."""
        made, byte = self.make(), bytes([data])
        return np.array([made(byte)[0] for _ in range(size)])

    def neighbours(self):
        """Take any two bytes with one bit set, or none."""
        space = dpaudit.Integers(0, 255)
        return dpaudit.Neighbouring.within(
            dpaudit.DerivedPairs(space=space, relation="any-two-inputs", member=lambda x: x.bit_count() <= 1)
        )

    def claims(self):
        """Take epsilon from the map."""
        return [
            dpaudit.PrivacyClaim(id="response.privacy", statement="It is private.", epsilon=float(self.make().map(1)))
        ]


def target():
    """The release."""
    return Response()
