"""Randomized response on one truth value."""

import numpy as np

import dpaudit

# Releases of that time look for names that numpy 2 has dropped.
for name, kind in {"bool8": np.bool_, "float_": np.float64, "string_": np.bytes_}.items():
    if not hasattr(np, name):
        setattr(np, name, kind)

from opendp.meas import make_randomized_response_bool  # noqa: E402
from opendp.mod import binary_search, enable_features  # noqa: E402

enable_features("contrib")

TRUTH = 0.75


class Response(dpaudit.Mechanism):
    """The measurement of the release."""

    own_randomness = True

    def sample(self, data, size, rng):
        """Draw responses."""
        respond = make_randomized_response_bool(TRUTH)
        return [respond(data) for _ in range(size)]

    def neighbours(self):
        """Both truth values."""
        return dpaudit.Neighbouring.any_two_inputs((False, True), scope="both truth values")

    def claims(self):
        """Take the smallest epsilon that the release's own relation grants."""
        respond = make_randomized_response_bool(TRUTH)
        epsilon = binary_search(lambda each: respond.check(1, each), bounds=(0.0, 10.0))
        return [dpaudit.PrivacyClaim(id="response.privacy", statement="A response is private.", epsilon=epsilon)]


def target():
    """The release."""
    return Response()
