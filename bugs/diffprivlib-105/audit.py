"""A linear regression on one feature in [0, 100], without intercept: the noise that it adds on two inputs."""

import inspect

import numpy as np
from diffprivlib.models import LinearRegression, linear_regression

import dpaudit

EPSILON = 1.0


def fit(data):
    """Fit the model as its documentation does; the coefficient is the output."""
    table = np.array(data, dtype=float)
    model = LinearRegression(epsilon=EPSILON, bounds_X=(0.0, 100.0), bounds_y=(0.0, 1.0), fit_intercept=False)
    return model.fit(table[:, :1], table[:, 1]).coef_


class Regression(dpaudit.Mechanism):
    """The model, with the noise inside it recorded."""

    def neighbours(self):
        """Derive tables of two records within the bounds, of which one is replaced."""
        rows = dpaudit.Rows((dpaudit.Floats(0.0, 100.0), dpaudit.Floats(0.0, 1.0)))
        space = dpaudit.Datasets(rows, size=2)
        return dpaudit.Neighbouring.within(dpaudit.DerivedPairs(space=space, relation="substitution"))

    def claims(self):
        """Say what the model says."""
        return [
            dpaudit.NoiseClaim(
                id="regression.noise", statement="Its noise covers what it is added to.", mechanism=fit, epsilon=EPSILON
            )
        ]


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
