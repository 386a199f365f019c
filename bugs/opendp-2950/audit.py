"""Pairwise predictions of Theil-Sen regression, on tables of up to three rows, which leave nothing to chance."""

import numpy as np
import opendp.prelude as dp
from opendp.extras.sklearn.linear_model._make_private_theil_sen import make_pairwise_predict

import dpaudit

dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")

CUTS = np.array([25.0, 75.0])


def claim(predict, promised):
    """Return the claim about a function that predicts."""
    return dpaudit.StabilityClaim(
        id="predictions.stability",
        statement="Predictions are as far apart as the map says.",
        transformation=lambda rows: predict(np.array(rows, dtype=float).reshape(-1, 2)),
        domain=dpaudit.Datasets(dpaudit.Rows((dpaudit.Integers(0, 9), dpaudit.Integers(0, 9))), longest=3),
        input_metric="symmetric",
        output_metric="symmetric",
        map=promised,
    )


class Predictions(dpaudit.Mechanism):
    """The release's predictions."""

    def claims(self):
        """Take the map as the release has it."""
        predict = make_pairwise_predict(CUTS, runs=1)
        return [claim(predict, predict.map)]


class Shuffled(dpaudit.Mechanism):
    """The same, with the row that is left over drawn at random, and not the last one."""

    def claims(self):
        """Say what the release says."""
        predict = make_pairwise_predict(CUTS, runs=1)
        rng = np.random.default_rng(1)
        return [claim(lambda rows: predict(rng.permutation(rows)), predict.map)]


def target():
    """The release."""
    return Predictions()


def twin():
    """The patched twin."""
    return Shuffled()
