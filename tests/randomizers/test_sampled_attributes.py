"""SAFA and Harmony as building blocks: law, mean and variance by enumeration, and by simulation of collections."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chi2, chisquare

from dpaudit.errors import ParameterError
from dpaudit.randomizers import SampledProjection, SampledResponse

FALSE_ALARM = 1e-6
SEED = 20261127


def brute_safa(truths, sizes, epsilon):
    """Algorithms 1 and 2, by looping."""
    law = {}
    for j, (truth, m) in enumerate(zip(truths, sizes, strict=True)):
        for k in range(m):
            p = math.exp(epsilon) if k == truth else 1
            law[(j, k)] = p / (math.exp(epsilon) + m - 1) / len(sizes)
    return law


def test_law_is_the_loop_over_attributes_and_values():
    safa = SampledResponse(np.array([2, 3, 5]), 1.3)
    law = safa.law([1, 0, 3])
    found = {o: math.exp(p) for o, p in zip(law.outcomes, law.log_probabilities, strict=True)}
    assert found == pytest.approx(brute_safa([1, 0, 3], [2, 3, 5], 1.3), rel=1e-12)


def test_reports_follow_the_law_whatever_the_domain():
    sizes, truths, count = np.array([2, 3, 5]), np.array([1, 0, 3]), 90_000
    safa, rng = SampledResponse(sizes, 1.3), np.random.default_rng(SEED)
    asked = safa.assign(count, rng)
    tally = safa.tally(asked, safa.randomize(asked, truths[asked], rng))
    brute = brute_safa(truths, sizes, 1.3)
    observed = [tally[key] for key in brute]
    assert sum(observed) == count
    assert chisquare(observed, count * np.array(list(brute.values()))).pvalue > FALSE_ALARM


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(("attributes", "values", "epsilon"), [(1, 4, 1.0), (5, 2, 0.3), (3, 9, 2.0)])
def test_mean_and_variance_are_those_of_all_reports(attributes, values, epsilon, share):
    """One user holds the value, or another; n users of both kinds add up."""
    safa = SampledResponse(np.full(attributes, values), epsilon)
    moments = []
    for truth in (0, 1):
        law = safa.law([truth] * attributes)
        p = np.exp(law.log_probabilities)
        estimates = np.array([safa.estimate(safa.tally(*np.array([[j], [k]])), 1)[0, 0] for j, k in law.outcomes])
        mean = p @ estimates
        moments.append((mean, p @ (estimates - mean) ** 2))
    assert share * moments[0][0] + (1 - share) * moments[1][0] == pytest.approx(share, abs=1e-9)
    variance = (share * moments[0][1] + (1 - share) * moments[1][1]) / 700
    assert safa.variance(share, 700) == pytest.approx(variance, rel=1e-9)


def test_printed_variance_is_the_exact_one_of_a_value_that_nobody_holds():
    e, m, count, n = math.exp(0.5), 20, 360, 5000
    safa = SampledResponse(np.full(count, m), 0.5)
    assert safa.variance(0.0, n) == pytest.approx(((e + m - 1) * count - 1) / (n * (e - 1) ** 2), rel=1e-12)


@pytest.mark.parametrize("projection", ["hadamard", "random"])
def test_harmony_is_unbiased_with_the_stated_variance(projection):
    """By simulation: chi-square of the mean, and the variance within six standard errors."""
    harmony, rng = SampledProjection(3, 5, 1.0, projection), np.random.default_rng(SEED)
    shares, runs = np.array([0.5, 0.3, 0.2, 0.0, 0.0]), 2000
    truths = np.repeat(np.arange(5), (200 * shares).astype(int))
    found = np.empty((runs, 5))
    for run in range(runs):
        matrices = harmony.matrices(rng)
        asked = harmony.assign(200, rng)
        found[run] = harmony.estimate(matrices, asked, harmony.randomize(matrices, asked, truths, rng))[1]
    exact = harmony.variance(shares, 200)
    z = (found.mean(axis=0) - shares) / np.sqrt(exact / runs)
    assert chi2.sf(z @ z, 5) > FALSE_ALARM / 10  # correlated, so the tail is a little heavier
    assert found.var(axis=0) == pytest.approx(exact, rel=6 * math.sqrt(3 / runs))


def test_harmony_variance_with_orthogonal_columns_is_exact():
    harmony = SampledProjection(3, 4, 0.8)
    matrices = harmony.orthogonal()
    law = harmony.law([2, 0, 1], matrices)
    p = np.exp(law.log_probabilities)
    outcomes = np.array(law.outcomes)
    estimates = np.array([harmony.estimate(matrices, row[:1], row[None, 1:])[0] for row in outcomes])
    mean = p @ estimates
    assert mean == pytest.approx(np.eye(4)[2], abs=1e-12)
    assert p @ (estimates - mean) ** 2 == pytest.approx(harmony.variance(np.eye(4)[2], 1), rel=1e-10)


def test_a_report_tells_exactly_epsilon():
    harmony = SampledProjection(2, 3, 0.7)
    for a, b in itertools.permutations(itertools.product(range(3), repeat=2), 2):
        p, q = (harmony.law(x, harmony.orthogonal()).log_probabilities for x in (a, b))
        assert np.max(p - q) == pytest.approx(0.7, abs=1e-12)


@pytest.mark.parametrize("sizes", [[], [1, 3], [[2, 3]]])
def test_impossible_domains_are_refused(sizes):
    with pytest.raises((ParameterError, ValueError), match=r"sizes|values"):
        SampledResponse(np.array(sizes, dtype=int), 1.0)
