"""The Gaussian mechanism of the library that whitenoise calls, for numbers that differ by 0.01 at most."""

import ctypes
import importlib.util
import math
from pathlib import Path

import numpy as np

import dpaudit

EPSILON, DELTA, SENSITIVITY = 1.0, 1e-5, 0.01

# The package itself needs an old protobuf; the compiled library with the mechanism does not.
(FOLDER,) = importlib.util.find_spec("opendp").submodule_search_locations
LIBRARY = ctypes.CDLL(str(Path(FOLDER) / "whitenoise" / "core" / "lib" / "libwhitenoise_ffi.so"))
LIBRARY.gaussian_mechanism.restype = ctypes.c_double
LIBRARY.gaussian_mechanism.argtypes = [ctypes.c_double] * 4 + [ctypes.c_bool]


class Noise(dpaudit.Mechanism):
    """The mechanism of the release."""

    own_randomness = True

    def release(self, value):
        """Add noise."""
        return LIBRARY.gaussian_mechanism(value, EPSILON, DELTA, SENSITIVITY, False)

    def sample(self, data, size, rng):
        """Draw noisy numbers."""
        return np.array([self.release(data) for _ in range(size)])

    def neighbours(self):
        """Derive numbers at most the sensitivity apart."""
        pairs = dpaudit.DerivedPairs(space=dpaudit.Floats(-10.0, 10.0), relation="absolute", distance=SENSITIVITY)
        return dpaudit.Neighbouring.within(pairs)

    def claims(self):
        """Say what the arguments say."""
        guarantee = dpaudit.ApproximateDP(EPSILON, DELTA)
        return [dpaudit.PrivacyClaim(id="noise.privacy", statement="It is private.", guarantee=guarantee)]


class Rescaled(Noise):
    """The same with noise of the scale whose square the release takes."""

    def release(self, value):
        """Add noise."""
        scale = SENSITIVITY * math.sqrt(2 * math.log(1.25 / DELTA)) / EPSILON
        return value + super().release(0.0) / scale


def target():
    """The release."""
    return Noise()


def twin():
    """The patched twin."""
    return Rescaled()
