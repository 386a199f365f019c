"""Laplace noise on floating-point numbers."""

import numpy as np

import dpaudit

# Releases of that time look for names that numpy 2 has dropped.
for name, kind in {"bool8": np.bool_, "float_": np.float64, "string_": np.bytes_}.items():
    if not hasattr(np, name):
        setattr(np, name, kind)

try:
    from opendp.measurements import make_base_laplace
except ImportError:
    from opendp.meas import make_base_laplace
from opendp.mod import enable_features  # noqa: E402

enable_features("contrib", "floating-point")


class Noise(dpaudit.Mechanism):
    """The measurement of the release."""

    own_randomness = True

    def sample(self, data, size, rng):
        """Draw noisy numbers."""
        measurement = make_base_laplace(1.0)
        return [measurement(data) for _ in range(size)]

    def neighbours(self):
        """Derive numbers at most 1 apart."""
        return dpaudit.Neighbouring.within(dpaudit.DerivedPairs(space=dpaudit.Floats(), relation="absolute"))

    def claims(self):
        """Say what the relation says."""
        return [dpaudit.PrivacyClaim(id="noise.privacy", statement="It is private.", epsilon=1.0)]


def target():
    """The release."""
    return Noise()
