"""A linear regression on one feature, with an intercept: the noise that it adds on two inputs."""

import inspect
import textwrap

import numpy as np
from diffprivlib.models import LinearRegression, linear_regression

import dpaudit

EPSILON = 1.0


def fit(data):
    """Fit the model as its documentation does; coefficient and intercept are the output."""
    table = np.array(data, dtype=float)
    model = LinearRegression(epsilon=EPSILON, bounds_X=(0.0, 1.0), bounds_y=(0.0, 1.0))
    model.fit(table[:, :1], table[:, 1])
    return np.array([*model.coef_, model.intercept_])


class Regression(dpaudit.Mechanism):
    """The model, with the noise inside it recorded."""

    def neighbours(self):
        """Derive tables of two records within the bounds, of which one is replaced."""
        rows = dpaudit.Rows((dpaudit.Floats(0.0, 1.0), dpaudit.Floats(0.0, 1.0)))
        space = dpaudit.Datasets(rows, size=2)
        return dpaudit.Neighbouring.within(dpaudit.DerivedPairs(space=space, relation="substitution"))

    def claims(self):
        """Say what the model says: all noise together costs epsilon."""
        return [
            dpaudit.NoiseClaim(
                id="regression.budget",
                statement="Its noise costs epsilon at most.",
                mechanism=fit,
                epsilon=EPSILON,
                released="noised values",
            )
        ]


def mend(function, old, new):
    """Return a function of the module with another line."""
    source = textwrap.dedent(inspect.getsource(function))
    assert old in source
    found = {}
    exec(compile(source.replace(old, new), "mended", "exec"), linear_regression.__dict__, found)
    return found[function.__name__]


def target():
    """The release, with the sensitivity of the report's first point mended, so that its second is what is audited."""
    linear_regression._construct_regression_obj = mend(
        linear_regression._construct_regression_obj,
        "bounds_X[0][i], bounds_X[0][i]]",
        "bounds_X[0][i], bounds_X[1][i]]",
    )
    return Regression()


def twin():
    """The same with half the budget of the means for each of the two."""
    regression = target()
    LinearRegression.fit = mend(LinearRegression.fit, "epsilon_intercept_scale,", "epsilon_intercept_scale / 2,")
    return regression
