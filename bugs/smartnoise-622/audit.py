"""Covariances of two columns, which are clipped to the ranges that are given."""

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

SIZE, EPSILON, COLUMNS = 4, 1.0, ["a", "b"]


class Covariances(dpaudit.Mechanism):
    """The noisy covariances of the release."""

    own_randomness = True

    def sample(self, data, size, rng):
        """Draw covariances."""
        np.random.seed(rng.integers(2**32, size=8))
        ranges = pd.DataFrame({name: [0.0, 1.0] for name in COLUMNS})
        model = MODULE.DPcovariance(SIZE, COLUMNS, ranges, EPSILON)
        rows = np.array(data, dtype=float)
        found = []
        for _ in range(size):
            table = pd.DataFrame(rows.copy(), columns=COLUMNS)
            found.append(model.release(table))
        return np.array(found)

    def neighbours(self):
        """Derive tables of any numbers that differ in one row."""
        rows = dpaudit.Rows((dpaudit.Floats(-100.0, 100.0),) * 2)
        space = dpaudit.Datasets(rows, size=SIZE)
        return dpaudit.Neighbouring.within(dpaudit.DerivedPairs(space=space, relation="substitution"))

    def claims(self):
        """Say what the argument says."""
        return [dpaudit.PrivacyClaim(id="covariances.privacy", statement="They are private.", epsilon=EPSILON)]


def target():
    """The release."""
    return Covariances()
