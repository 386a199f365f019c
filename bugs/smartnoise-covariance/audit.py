"""Covariances of three columns, of which one has a wider range than the others."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd

import dpaudit

# The package itself needs PyTorch; the file with the covariance does not.
HOME = Path(importlib.util.find_spec("snsynth").origin).parent
SPEC = importlib.util.spec_from_file_location("dp_covariance", HOME / "models" / "dp_covariance.py")
MODULE = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(MODULE)

SIZE, EPSILON, HIGHS = 4, 1.0, {"a": 1.0, "b": 100.0, "c": 1.0}


class Covariances(dpaudit.Mechanism):
    """The noisy covariances of the release."""

    own_randomness = True

    def model(self):
        """Make the model."""
        ranges = pd.DataFrame({name: [0.0, high] for name, high in HIGHS.items()})
        return MODULE.DPcovariance(SIZE, list(HIGHS), ranges, EPSILON)

    def sample(self, data, size, rng):
        """Draw covariances."""
        np.random.seed(rng.integers(2**32, size=8))
        model, rows = self.model(), np.array(data, dtype=float)
        return np.array([model.release(pd.DataFrame(rows.copy(), columns=list(HIGHS))) for _ in range(size)])

    def neighbours(self):
        """Derive tables within the ranges that differ in one row."""
        rows = dpaudit.Rows(tuple(dpaudit.Floats(0.0, high) for high in HIGHS.values()))
        space = dpaudit.Datasets(rows, size=SIZE)
        return dpaudit.Neighbouring.within(dpaudit.DerivedPairs(space=space, relation="substitution"))

    def claims(self):
        """Say what the argument says."""
        return [dpaudit.PrivacyClaim(id="covariances.privacy", statement="They are private.", epsilon=EPSILON)]


class Ordered(Covariances):
    """The same with sensitivities in the order of the covariances: of the lower triangle, row by row."""

    def model(self):
        """Make the model, and put its sensitivities in order."""
        model, highs = super().model(), list(HIGHS.values())
        model.sens = 2 / SIZE * np.array([highs[row] * highs[col] for row in range(3) for col in range(row + 1)])
        return model


def target():
    """The release."""
    return Covariances()


def twin():
    """The patched twin."""
    return Ordered()
