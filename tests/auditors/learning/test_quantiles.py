"""Quantiles of columns against those of numpy."""

import numpy as np
import pytest

from dpaudit.auditors.learning.quantiles import lower_quantiles, quantiles_of_columns, turned

LEVELS = [0.0, 0.001, 0.25, 0.5, 0.75, 0.999, 1.0]


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize("law", ["normal", "few values", "large"])
def test_quantiles_of_columns_are_those_of_numpy(size, law):
    rng = np.random.default_rng(size)
    rows = {
        "normal": rng.normal(size=(size, 4)),
        "few values": rng.integers(0, 3, (size, 4)).astype(float),
        "large": 1e300 * rng.normal(size=(size, 4)),
    }[law]
    before = rows.copy()
    np.testing.assert_allclose(quantiles_of_columns(rows, LEVELS), np.quantile(rows, LEVELS, axis=0), rtol=1e-14)
    assert (rows == before).all()


def test_infinite_numbers_stay_infinite():
    rows = np.array([[-np.inf], [0.0], [1.0], [np.inf], [np.inf]])
    assert quantiles_of_columns(rows, [0.0, 0.5, 1.0])[:, 0].tolist() == [-np.inf, 1.0, np.inf]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_lower_quantiles_are_those_of_numpy(size):
    numbers = np.sort(np.random.default_rng(size).normal(size=size))
    assert (lower_quantiles(numbers, LEVELS) == np.quantile(numbers, LEVELS, method="lower")).all()


def test_columns_are_turned_into_pieces():
    rows = np.arange(6.0).reshape(3, 2)
    assert turned(rows).tolist() == [[0, 2, 4], [1, 3, 5]]
    assert turned(rows).flags["C_CONTIGUOUS"]
