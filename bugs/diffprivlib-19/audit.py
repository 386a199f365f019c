"""The Laplace mechanism, whose outputs are floating-point numbers."""

import sys
import types

import dpaudit

# Models of old releases need old versions of scikit-learn; mechanisms do not.
for name in ("models", "tools"):
    sys.modules[f"diffprivlib.{name}"] = types.ModuleType(f"diffprivlib.{name}")
from diffprivlib.mechanisms import Laplace  # noqa: E402


class Noise(dpaudit.Mechanism):
    """The mechanism of the release, on numbers around 0."""

    own_randomness = True

    def sample(self, data, size, rng):
        """Draw noisy numbers."""
        mechanism = Laplace(epsilon=1.0, sensitivity=1.0)
        return [mechanism.randomise(data) for _ in range(size)]

    def neighbours(self):
        """Derive numbers at most 1 apart."""
        return dpaudit.Neighbouring.within(dpaudit.DerivedPairs(space=dpaudit.Floats(), relation="absolute"))

    def claims(self):
        """Say what the mechanism says."""
        return [dpaudit.PrivacyClaim(id="noise.privacy", statement="It is private.", epsilon=1.0)]


class Coarse(Noise):
    """The same, released in steps of 1/16, so that the last bits of a sum are not shown."""

    def sample(self, data, size, rng):
        """Draw noisy numbers."""
        return [round(16 * each) / 16 for each in super().sample(data, size, rng)]


def target():
    """The release."""
    return Noise()


def twin():
    """The patched twin."""
    return Coarse()
