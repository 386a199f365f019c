import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from dpaudit.errors import ParameterError
from dpaudit.laws import compare
from dpaudit.randomizers import RandomizedResponse

FALSE_ALARM = 1e-6
SEED = 20240612
EPSILONS = [1e-9, 1e-4, 0.1, 1.0, math.log(3), 5.0, 15.0, 25.0, 30.0, 300.0]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_for_epsilon_has_that_epsilon(epsilon):
    response = RandomizedResponse.for_epsilon(epsilon)
    assert response.epsilon == pytest.approx(epsilon, rel=1e-14, abs=1e-15)
    for p, q in ((True, False), (False, True)):
        loss = compare(response.law(p), response.law(q)).max_divergence()
        assert loss == pytest.approx(epsilon, rel=1e-14, abs=1e-15)
    assert response.flip == pytest.approx(math.exp(-epsilon) / (1 + math.exp(-epsilon)), rel=1e-14)
    assert response.keep + response.flip == pytest.approx(1, rel=1e-15)


@pytest.mark.parametrize("keep", [0.5000001, 0.6, 0.75, 0.999, 1 - 2**-40])
def test_epsilon_of_a_given_keep(keep):
    response = RandomizedResponse(keep)
    exact = Fraction(keep) / (1 - Fraction(keep))
    assert math.exp(response.epsilon) == pytest.approx(float(exact), rel=1e-13)
    assert response.flip == 1 - keep


def test_a_truthful_report_has_no_privacy():
    response = RandomizedResponse(1.0)
    assert response.epsilon == compare(response.law(True), response.law(False)).max_divergence() == math.inf


@pytest.mark.parametrize("bit", [False, True])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_sampler_follows_the_law(bit, epsilon):
    response, count = RandomizedResponse.for_epsilon(epsilon), 200_000
    reports = response.randomize(np.full(count, bit), np.random.default_rng(SEED))
    law = response.law(bit)
    assert list(law.outcomes) == [0, 1]
    expected = count * np.exp(law.log_probabilities)
    assert chisquare(np.bincount(reports, minlength=2), expected).pvalue > FALSE_ALARM


def test_reports_are_independent_bits_of_the_same_shape():
    response = RandomizedResponse(0.75)
    reports = response.randomize(np.zeros((2, 100_000)), np.random.default_rng(SEED))
    assert (reports.shape, reports.dtype) == ((2, 100_000), np.bool_)
    counts = np.bincount(2 * reports[0] + reports[1], minlength=4)
    assert chisquare(counts, 100_000 * np.array([9, 3, 3, 1]) / 16).pvalue > FALSE_ALARM


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 8.0])
@pytest.mark.parametrize("truth", [[], [1, 1, 1], [0, 0], [1, 0, 0, 1, 0]])
def test_estimator_is_unbiased_over_all_reports(epsilon, truth):
    response = RandomizedResponse.for_epsilon(epsilon)
    laws = [np.exp(response.law(bool(bit)).log_probabilities) for bit in truth]
    expectation = sum(
        math.prod(law[report] for law, report in zip(laws, reports, strict=True))
        * float(response.unbiased(sum(reports), len(truth)))
        for reports in np.ndindex(*[2] * len(truth))
    )
    assert expectation == pytest.approx(sum(truth), abs=1e-9)


@pytest.mark.parametrize("keep", [0.5, 0.3, 1.1, math.nan])
def test_impossible_keep_is_refused(keep):
    with pytest.raises(ParameterError, match="keep must be above 1/2 and at most 1"):
        RandomizedResponse(keep)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan])
def test_impossible_epsilon_is_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon must be above 0"):
        RandomizedResponse.for_epsilon(epsilon)
