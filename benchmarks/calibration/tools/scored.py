"""Outputs as rows of numbers, and scores of them by logistic regression, for tools that take scores."""

import numpy as np

from calibration.interface import Mechanism

MOST_CATEGORIES = 16


def matrix(outputs: np.ndarray) -> np.ndarray:
    """Rows of numbers."""
    return np.asarray(outputs, float).reshape(len(outputs), -1)


def sampled(mechanism: Mechanism, x, y, samples: int, key: list[int]) -> list[np.ndarray]:
    """Rows of both inputs, from generators of their own."""
    return [
        matrix(mechanism.sample(data, samples, np.random.default_rng([*key, side]))) for side, data in enumerate((x, y))
    ]


def scorer(x: np.ndarray, y: np.ndarray):
    """A score of rows, larger for the first input; a single column of few values becomes a flag for each of them."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    rows = np.concatenate([x, y])
    few = rows.shape[1] == 1 and len(np.unique(rows)) <= MOST_CATEGORIES
    first = OneHotEncoder(handle_unknown="ignore") if few else StandardScaler()
    model = make_pipeline(first, LogisticRegression())
    model.fit(rows, np.repeat([1, 0], [len(x), len(y)]))
    return model.decision_function
