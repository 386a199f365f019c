"""The objective of a linear regression on one feature in [0, 100], without intercept."""

import inspect

import numpy as np
from diffprivlib.models import linear_regression

import dpaudit

EPSILON = 1.0


class Regression(dpaudit.Mechanism):
    """The noisy quadratic that the model minimises; what it releases is computed from that alone."""

    def sample(self, data, size, rng):
        """Draw the three coefficients of the quadratic."""
        state = np.random.RandomState(rng.bit_generator)
        table = np.array(data, dtype=float)
        bounds = [(np.array([low]), np.array([high])) for low, high in ((0.0, 100.0), (0.0, 1.0))]
        found = []
        for _ in range(size):
            _, noisy = linear_regression._construct_regression_obj(
                table[:, :1], table[:, 1:], *bounds, EPSILON, 0.0, state
            )
            found.append([float(np.ravel(each)[0]) for each in noisy])
        return np.array(found)

    def neighbours(self):
        """Replace one of two records, at the bounds."""
        corners = [(x, y) for x in (0.0, 100.0) for y in (0.0, 1.0)]
        pairs = [((common, a), (common, b)) for common in corners for a in corners for b in corners if a < b]
        return dpaudit.Neighbouring(
            relation="substitution",
            pairs=pairs,
            complete=False,
            scope=f"{len(pairs)} pairs of two records at the bounds",
        )

    def claims(self):
        """Say what the model says."""
        return [dpaudit.PrivacyClaim(id="regression.privacy", statement="It is private.", epsilon=EPSILON)]


def target():
    """The release."""
    return Regression()


def twin():
    """The same with the sensitivity that the report proposes."""
    source = inspect.getsource(linear_regression._construct_regression_obj)
    mended = source.replace("bounds_X[0][i], bounds_X[0][i]]", "bounds_X[0][i], bounds_X[1][i]]")
    assert mended != source
    exec(compile(mended, "mended", "exec"), linear_regression.__dict__)
    return Regression()
