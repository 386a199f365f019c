"""Second moments of rows of norm at most 1, with Wishart noise."""

import sys
import types

import numpy as np

import dpaudit

# Models of old releases need old versions of scikit-learn; mechanisms do not.
for name in ("models", "tools"):
    sys.modules[f"diffprivlib.{name}"] = types.ModuleType(f"diffprivlib.{name}")
from diffprivlib.mechanisms import Wishart  # noqa: E402

SIZE, EPSILON = 3, 1.0


class Moments(dpaudit.Mechanism):
    """The noisy matrix of the release, its entries in a row."""

    own_randomness = True

    def noisy(self, matrix):
        """Add noise to a matrix."""
        return Wishart().set_epsilon(EPSILON).set_sensitivity(1.0).randomise(matrix)

    def sample(self, data, size, rng):
        """Draw matrices."""
        np.random.seed(rng.integers(2**32, size=8))
        rows = np.array(data, dtype=float)
        moments = rows.T @ rows
        return np.array([self.noisy(moments).ravel() for _ in range(size)])

    def neighbours(self):
        """Derive tables of rows in the unit ball that differ in one row."""
        rows = dpaudit.Rows((dpaudit.Floats(-1.0, 1.0),) * 2)
        domain = dpaudit.DerivedPairs(
            space=dpaudit.Datasets(rows, size=SIZE),
            relation="substitution",
            member=lambda data: np.linalg.norm(np.array(data), axis=1).max() <= 1,
        )
        return dpaudit.Neighbouring.within(domain)

    def claims(self):
        """Say what the mechanism says."""
        return [dpaudit.PrivacyClaim(id="moments.privacy", statement="The matrix is private.", epsilon=EPSILON)]


class Laplaced(Moments):
    """The same with Laplace noise in each of the three entries, none of which moves by more than 2."""

    def noisy(self, matrix):
        """Add noise to the upper triangle, and mirror it."""
        noise = np.triu(np.random.laplace(0, 6 / EPSILON, matrix.shape))
        return matrix + noise + np.triu(noise, 1).T


def target():
    """The release."""
    return Moments()


def twin():
    """The patched twin."""
    return Laplaced()
