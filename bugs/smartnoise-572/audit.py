"""A quantile of records of which all but one are alike, at the size in the report; an exception is an output."""

import importlib.util
from pathlib import Path

import numpy as np

import dpaudit

# The package itself needs a database and Spark; the file with the quantile does not.
HOME = Path(importlib.util.find_spec("snsql").origin).parent
SPEC = importlib.util.spec_from_file_location("approx_bounds", HOME / "sql" / "_mechanisms" / "approx_bounds.py")
MODULE = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(MODULE)


class Quantile(dpaudit.Mechanism):
    """The quantile that is released; -1 where it raises."""

    own_randomness = True

    def release(self, data):
        """Release a quantile."""
        try:
            return float(MODULE.quantile(list(data), 0.5, 1, 0, 1))
        except ValueError:
            return -1.0

    def sample(self, data, size, rng):
        """Draw releases."""
        np.random.seed(rng.integers(2**32, size=8))
        return np.array([self.release(data) for _ in range(size)])

    def neighbours(self):
        """Add one record to those of the report."""
        pair = ((0,) * 1491 + (1,), (0,) * 1492 + (1,))
        return dpaudit.Neighbouring(
            relation="add-remove", pairs=[pair], complete=False, scope="the two datasets of the report"
        )

    def claims(self):
        """Say what the function says."""
        return [dpaudit.PrivacyClaim(id="quantile.privacy", statement="It is private.", epsilon=1.0)]


class Shifted(Quantile):
    """The same by the exponential mechanism with utilities counted from the best."""

    def release(self, data):
        """Draw an interval, and a place in it."""
        edges = np.sort(np.concatenate([[0, 1], data]).astype(float))
        utility = -np.abs(np.arange(len(edges) - 1) - 0.5 * len(data))
        with np.errstate(divide="ignore"):
            score = np.log(np.diff(edges)) + utility / 2
        weights = np.exp(score - score.max())
        place = np.random.choice(len(weights), p=weights / weights.sum())
        return float(np.random.uniform(edges[place], edges[place + 1]))


def target():
    """The release."""
    return Quantile()


def twin():
    """The patched twin."""
    return Shifted()
