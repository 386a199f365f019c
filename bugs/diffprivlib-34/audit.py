"""What a linear regression releases of one feature in [-1, 1] and a target in [0, 100]: the noise on two inputs."""

import importlib.util
import sys
import types
from pathlib import Path

import numpy as np

import dpaudit

# Models of old releases need old versions of scikit-learn; the function that adds the noise does not.
HOME = Path(importlib.util.find_spec("diffprivlib").origin).parent
sys.modules["diffprivlib.models"] = types.ModuleType("diffprivlib.models")
sys.modules["diffprivlib.tools"] = types.ModuleType("diffprivlib.tools")
sys.modules["diffprivlib.tools"].mean = None
SPEC = importlib.util.spec_from_file_location(
    "diffprivlib.models.linear_regression", HOME / "models" / "linear_regression.py"
)
MODULE = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(MODULE)

BOUNDS = (np.array([-1.0]), np.array([1.0])), (np.array([0.0]), np.array([100.0]))


def fit(data):
    """Release noisy coefficients of the objective, as `fit` does."""
    table = np.array(data, dtype=float)
    _, coefficients = MODULE._construct_regression_obj(table[:, :1], table[:, 1], *BOUNDS, epsilon=1.0, alpha=0)
    return np.concatenate([each.ravel() for each in coefficients])


class Regression(dpaudit.Mechanism):
    """The model, with the noise inside it recorded."""

    def neighbours(self):
        """Derive tables of two records within the bounds, of which one is replaced."""
        rows = dpaudit.Rows((dpaudit.Floats(-1.0, 1.0), dpaudit.Floats(0.0, 100.0)))
        space = dpaudit.Datasets(rows, size=2)
        return dpaudit.Neighbouring.within(dpaudit.DerivedPairs(space=space, relation="substitution"))

    def claims(self):
        """Say what the mechanisms inside rely on."""
        return [
            dpaudit.NoiseClaim(
                id="regression.noise", statement="Its noise covers what it is added to.", mechanism=fit, epsilon=1.0
            )
        ]


def target():
    """The release."""
    return Regression()
