"""Margins of many profiles and the error rate of their estimates, against loops and hand counts."""

import numpy as np
import pytest

from dpaudit import DataError
from dpaudit.catalog.yan2020 import metrics
from dpaudit.catalog.yan2020.metrics import error_rate, profile_margins, sign_errors
from dpaudit.rankings import margins, pairwise_counts


def test_sign_errors_count_opposite_signs_above_the_diagonal():
    truth = np.array([[0, 3, -2, 0], [-3, 0, 1, 5], [2, -1, 0, -4], [0, -5, 4, 0]])
    guess = np.array([[0, -1, 2, 7], [9, 0, 0, 0.1], [9, 9, 0, -1e-9], [9, 9, 9, 0]])
    assert sign_errors(truth, guess) == 2
    assert error_rate(truth, guess) == pytest.approx(2 / 6)
    batch = np.stack([guess, truth, -truth, -guess, 0 * guess])
    assert sign_errors(truth, batch).tolist() == [2, 0, 5, 2, 0]
    np.testing.assert_allclose(error_rate(truth, batch), np.array([2, 0, 5, 2, 0]) / 6)


def test_sign_errors_refuse_nan_and_shapes():
    with pytest.raises(DataError, match="NaN"):
        sign_errors([[0, 1], [-1, 0]], [[0, np.nan], [0, 0]])
    with pytest.raises(DataError, match="shape"):
        sign_errors(np.zeros((2, 2)), np.zeros((3, 3)))
    with pytest.raises(DataError, match="two alternatives"):
        error_rate([[0]], [[0]])


@pytest.mark.parametrize("agents", [1, 7, 600])
def test_margins_of_many_profiles_are_those_of_each(agents, monkeypatch):
    profiles = np.random.default_rng(4).permuted(np.tile(np.arange(6), (3, agents, 1)), axis=2)
    expected = [margins(pairwise_counts(profile)).tolist() for profile in profiles]
    assert profile_margins(profiles).tolist() == expected
    monkeypatch.setattr(metrics, "CHUNK_CELLS", 35)
    assert profile_margins(profiles).tolist() == expected


def test_margins_of_more_alternatives_than_a_byte_counts():
    profiles = np.random.default_rng(5).permuted(np.tile(np.arange(260), (1, 3, 1)), axis=2)
    assert profile_margins(profiles)[0].tolist() == margins(pairwise_counts(profiles[0])).tolist()


@pytest.mark.parametrize("bad", [[[0, 1]], np.zeros((1, 0, 3), dtype=int), [[[0, 0]]], [[[0.5, 1.0]]]])
def test_margins_of_many_profiles_refuse_malformed_rankings(bad):
    with pytest.raises(DataError):
        profile_margins(bad)
