"""Thresholded noise in closed form, and the shuffler behind any local randomizer."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest, norm

import dpaudit
from dpaudit import randomizers

SEED = 20261121
FALSE_ALARM = 1e-6


@pytest.mark.parametrize("scale", [0.3, 1.4, 20.0])
def test_thresholded_gaussian_noise_in_closed_form(scale):
    bit = randomizers.Thresholded(randomizers.GaussianNoise(scale))
    keep = norm.cdf(0.5 / scale)
    assert np.exp(bit.law(1).log_probabilities) == pytest.approx([1 - keep, keep])
    assert np.exp(bit.law(0).log_probabilities) == pytest.approx([keep, 1 - keep])


def test_thresholded_laplace_noise_in_closed_form():
    bit = randomizers.Thresholded(randomizers.LaplaceNoise(0.5), threshold=0.25)
    assert math.exp(bit.law(1).log_probabilities[0]) == pytest.approx(math.exp(-1.5) / 2)
    assert math.exp(bit.law(0).log_probabilities[1]) == pytest.approx(math.exp(-0.5) / 2)


def test_both_probabilities_keep_their_digits():
    law = randomizers.Thresholded(randomizers.GaussianNoise(0.02)).law(1)
    assert law.log_probabilities[0] == pytest.approx(norm.logcdf(-25))
    assert law.log_probabilities[1] == pytest.approx(0, abs=1e-100)


@pytest.mark.parametrize("value", [0, 1])
def test_thresholded_samples_follow_the_law(value):
    bit = randomizers.Thresholded(randomizers.GaussianNoise(0.8))
    drawn = bit.randomize(np.full(100_000, value), np.random.default_rng(SEED))
    hits = int(np.count_nonzero(drawn))
    assert binomtest(hits, 100_000, math.exp(bit.law(value).log_probabilities[1])).pvalue > FALSE_ALARM


def test_shuffled_reports_lose_their_order_and_nothing_else():
    shuffler = randomizers.Shuffler(randomizers.RandomizedResponse.for_epsilon(20.0))
    truth = np.array([1, 0, 0, 0, 0])
    reports = shuffler.randomize(truth, 50_000, np.random.default_rng(SEED))
    assert (reports.sum(axis=1) == 1).all()
    for place in range(5):
        assert binomtest(int(reports[:, place].sum()), 50_000, 0.2).pvalue > FALSE_ALARM


def test_any_randomizer_with_a_finite_law_can_be_shuffled():
    class OneOfThree:
        def randomize(self, values, rng):
            return np.where(rng.random(np.shape(values)) < 0.4, values, rng.integers(0, 3, np.shape(values)))

        def law(self, value):
            return dpaudit.FiniteLaw.from_probabilities(range(3), [0.6 if i == value else 0.2 for i in range(3)])

    shuffler = randomizers.Shuffler(OneOfThree(), inputs=(0, 1, 2))
    law = shuffler.of(3).law((1, 2, 0))
    drawn = shuffler.randomize(np.array([0, 1, 1]), 60_000, np.random.default_rng(SEED))
    for histogram, value in zip(law.outcomes, law.log_probabilities, strict=True):
        hits = np.count_nonzero([(drawn == i).sum(axis=1) == histogram[i] for i in range(3)], axis=0) == 3
        assert binomtest(int(hits.sum()), 60_000, math.exp(value)).pvalue > FALSE_ALARM / 10


def test_reports_of_several_bits_stay_together():
    inputs = [(0, 0), (0, 1), (1, 0), (1, 1)]
    response = randomizers.HypercubeResponse(2, 1.0)
    shuffler = randomizers.Shuffler(response, inputs=inputs)
    law = shuffler.of(2).law((1, 0, 0, 1))
    drawn = shuffler.randomize(np.array([[0, 0], [1, 1]]), 60_000, np.random.default_rng(SEED))
    kinds = [tuple(map(bool, outcome)) for outcome in shuffler.of(2).outcomes]
    number = np.array([kinds.index(kind) for kind in [(False, False), (False, True), (True, False), (True, True)]])
    sent = number[drawn[..., 0] * 2 + drawn[..., 1]]
    for histogram, value in zip(law.outcomes, law.log_probabilities, strict=True):
        hits = np.all([(sent == i).sum(axis=1) == histogram[i] for i in range(4)], axis=0)
        assert binomtest(int(hits.sum()), 60_000, math.exp(value)).pvalue > FALSE_ALARM / 10


def test_real_reports_have_no_finite_law():
    with pytest.raises(dpaudit.ParameterError, match="finitely many reports"):
        randomizers.Shuffler(randomizers.GaussianNoise(1.0)).of(3)


def test_a_shuffler_needs_two_inputs():
    with pytest.raises(dpaudit.ParameterError, match="two possible inputs"):
        randomizers.Shuffler(randomizers.RandomizedResponse(0.7), inputs=(1,))
