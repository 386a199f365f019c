"""Frequency oracles: laws against loops written here, estimators against exact moments, aggregates against reports."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from scipy.stats import binom, chi2, chisquare, poisson

from dpaudit.errors import ParameterError
from dpaudit.laws import compare
from dpaudit.laws.joint import flattened
from dpaudit.randomizers import (
    GeneralizedRandomizedResponse,
    HadamardResponse,
    LocalHashing,
    SignProjection,
    UnaryEncoding,
    clipped,
    hadamard,
    norm_sub,
)
from dpaudit.randomizers.oracle import binomial_counts

FALSE_ALARM = 1e-6
SEED = 20261126
MAKE = {
    "grr": GeneralizedRandomizedResponse,
    "sue": UnaryEncoding,
    "oue": lambda k, e: UnaryEncoding(k, e, "optimised"),
    "blh": LocalHashing.binary,
    "olh": LocalHashing.optimal,
    "hadamard projection": SignProjection.hadamard,
    "hadamard response": HadamardResponse,
}
ORACLES = pytest.mark.parametrize("name", MAKE)


def report_law(oracle, value):
    """Outcomes as rows of the report, and their probabilities."""
    law = flattened(oracle.law(value))
    rows = [
        [int(v) for v in np.concatenate([np.ravel(part) for part in np.atleast_1d(o)])]
        if not isinstance(o, tuple)
        else [int(v) for part in o for v in np.ravel(part)]
        for o in law.outcomes
    ]
    return np.array(rows), np.exp(law.log_probabilities)


# Textbook probabilities, written out again.
def test_probabilities_are_those_of_the_papers():
    e = math.exp(1.5)
    assert MAKE["grr"](7, 1.5).own == pytest.approx(e / (e + 6), rel=1e-14)
    assert MAKE["grr"](7, 1.5).other == pytest.approx(1 / (e + 6), rel=1e-14)
    half = math.exp(0.75)
    assert MAKE["sue"](7, 1.5).own == pytest.approx(half / (half + 1), rel=1e-14)
    assert MAKE["sue"](7, 1.5).other == pytest.approx(1 / (half + 1), rel=1e-14)
    assert (MAKE["oue"](7, 1.5).own, MAKE["oue"](7, 1.5).other) == (0.5, pytest.approx(1 / (e + 1), rel=1e-14))
    olh = MAKE["olh"](7, 1.5)
    assert olh.hashes == 5
    assert olh.own == pytest.approx(e / (e + 4), rel=1e-14)
    assert olh.other == 0.2
    assert MAKE["blh"](7, 1.5).own == pytest.approx(e / (e + 1), rel=1e-14)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_variances_for_a_rare_value_are_those_of_wang_et_al(epsilon):
    """Table of USENIX Security 2017: n Var* of each oracle, in the order of its formulas."""
    e, k = math.exp(epsilon), 9
    half = math.exp(epsilon / 2)
    published = {
        "grr": (k - 2 + e) / (e - 1) ** 2,
        "sue": half / (half - 1) ** 2,
        "oue": 4 * e / (e - 1) ** 2,
        "blh": (e + 1) ** 2 / (e - 1) ** 2,
        "hadamard projection": (e + 1) ** 2 / (e - 1) ** 2,
        "hadamard response": (e + 1) ** 2 / (e - 1) ** 2,
    }
    for name, value in published.items():
        assert 100 * MAKE[name](k, epsilon).variance(0.0, 100) == pytest.approx(value, rel=1e-12)
    g = round(e) + 1
    olh = (e - 1 + g) ** 2 / ((e - 1) ** 2 * (g - 1))
    assert 100 * MAKE["olh"](k, epsilon).variance(0.0, 100) == pytest.approx(olh, rel=1e-12)


@ORACLES
@pytest.mark.parametrize(("values", "epsilon"), [(2, 0.5), (3, 1.0)])
def test_every_pair_of_values_is_at_exactly_epsilon(name, values, epsilon):
    oracle = MAKE[name](values, epsilon)
    losses = [
        compare(oracle.law(v), oracle.law(w)).max_divergence() for v, w in itertools.permutations(range(values), 2)
    ]
    assert losses == pytest.approx([epsilon] * len(losses), abs=1e-12)


@ORACLES
def test_estimates_are_unbiased_with_the_stated_variance_over_all_reports(name):
    oracle = MAKE[name](4, 0.9)
    for held in range(4):
        rows, p = report_law(oracle, held)
        assert p.sum() == pytest.approx(1, abs=1e-12)
        estimates = np.array([oracle.estimate(oracle.supports(row[None]), 1) for row in rows])
        mean = p @ estimates
        assert mean == pytest.approx(np.eye(4)[held], abs=1e-12)
        variance = p @ (estimates - mean) ** 2
        assert variance == pytest.approx(oracle.variance(np.eye(4)[held], 1), rel=1e-10)


@ORACLES
def test_reports_follow_the_law(name):
    oracle, count = MAKE[name](3, 1.0), 20_000
    rows, p = report_law(oracle, 2)
    seen, counts = np.unique(
        oracle.randomize(np.full(count, 2), np.random.default_rng(SEED)), axis=0, return_counts=True
    )
    found = dict(zip(map(tuple, seen.tolist()), counts.tolist(), strict=True))
    assert set(found) <= set(map(tuple, rows.tolist()))
    observed = [found.get(tuple(row), 0) for row in rows.tolist()]
    assert chisquare(observed, p * count).pvalue > FALSE_ALARM


def joint_moments(oracle, counts):
    """Mean and covariance of the supports, from the law of each report."""
    mean, cov = 0, 0
    for value, count in enumerate(counts):
        rows, p = report_law(oracle, value)
        bits = np.array([oracle.supports(row[None]) for row in rows])
        one = p @ bits
        mean = mean + count * one
        cov = cov + count * ((bits * p[:, None]).T @ bits - np.outer(one, one))
    return mean, cov


@ORACLES
def test_the_aggregate_law_has_the_joint_moments_of_the_reports(name):
    """Chi-square of the mean of many draws, with the exact covariance, for the aggregate and for literal reports."""
    oracle, counts, draws = MAKE[name](4, 1.0), np.array([30, 9, 1, 0]), 500
    mean, cov = joint_moments(oracle, counts)
    rng = np.random.default_rng(SEED)
    truths = np.repeat(np.arange(4), counts)
    inverse, rank = np.linalg.pinv(cov), np.linalg.matrix_rank(cov, tol=1e-9)
    for draw in (lambda: oracle.aggregate(counts, rng), lambda: oracle.supports(oracle.randomize(truths, rng))):
        drawn = np.array([draw() for _ in range(draws)])
        off = drawn.mean(axis=0) - mean
        assert chi2.sf(draws * off @ inverse @ off, rank) > FALSE_ALARM
        # Fourth moments are at most those of near-normal sums: 6 standard errors of about sqrt(2 / draws).
        assert np.cov(drawn.T) == pytest.approx(cov, abs=6 * math.sqrt(2 / draws) * np.diag(cov).max())


@ORACLES
def test_nobody_gives_nothing(name):
    oracle = MAKE[name](4, 1.0)
    assert oracle.aggregate(np.zeros(4, dtype=int), np.random.default_rng(SEED)).tolist() == [0, 0, 0, 0]


@ORACLES
@pytest.mark.parametrize(
    ("values", "epsilon", "words"), [(1, 1.0, "values"), (3, 0.0, "epsilon"), (3, math.nan, "eps")]
)
def test_impossible_parameters_are_refused(name, values, epsilon, words):
    with pytest.raises(ParameterError, match=words):
        MAKE[name](values, epsilon)


@ORACLES
@pytest.mark.parametrize("truths", [[4], [-1], [0.5]])
def test_values_out_of_range_are_refused(name, truths):
    with pytest.raises(ParameterError, match=r"value lies outside|must be integers"):
        MAKE[name](4, 1.0).randomize(truths, np.random.default_rng(SEED))


def test_random_signs_leak_by_their_overlaps():
    rng = np.random.default_rng(SEED)
    oracle = SignProjection.random(5, 1.0, rows=4, rng=rng)
    shares = np.array([0.5, 0.3, 0.2, 0.0, 0.0])
    mean = variance = 0
    for value, share in enumerate(shares):
        rows, p = report_law(oracle, value)
        estimates = np.array([oracle.estimate(oracle.supports(row[None]), 1) for row in rows])
        one = p @ estimates
        mean = mean + share * one
        variance = variance + share * (p @ (estimates - one) ** 2)
    assert oracle.expectation(shares) == pytest.approx(mean, abs=1e-12)
    assert oracle.variances(shares, 10) == pytest.approx(variance / 10, rel=1e-10)
    assert np.abs(mean - shares).max() > 0.05


@pytest.mark.parametrize("order", [1, 2, 8, 32])
def test_hadamard_matrices_are_orthogonal(order):
    matrix = hadamard(order)
    assert (matrix @ matrix.T == order * np.eye(order)).all()
    with pytest.raises(ParameterError, match="power of two"):
        hadamard(order + 2 if order > 2 else 3)


@pytest.mark.parametrize(
    ("trials", "probability"), [(5000, 0.1192), (5000, 0.5), (20000, 1e-4), (7, 0.9), (1, 0.3), (40, 0.0), (40, 1.0)]
)
def test_many_binomial_numbers_follow_their_law(trials, probability):
    size = 2**17
    drawn = binomial_counts(trials, probability, size, np.random.default_rng(SEED))
    assert drawn.shape == (size,)
    expected = size * binom.pmf(np.arange(trials + 1), trials, probability)
    seen = np.bincount(drawn, minlength=trials + 1)
    often = expected > 5
    pooled = [np.r_[counts[often], counts[~often].sum()] for counts in (seen, expected)]
    if pooled[1][-1] < 5:
        assert pooled[0][-1] < poisson.isf(1e-9, max(pooled[1][-1], 1e-12)) + 1
        pooled = [counts[:-1] for counts in pooled]
    statistic = ((pooled[0] - pooled[1]) ** 2 / pooled[1]).sum()
    assert statistic <= chi2.isf(1e-6, max(len(pooled[0]) - 1, 1))


@pytest.mark.slow
@pytest.mark.parametrize(("trials", "probability"), [(10**8, 2.0**-16), (10**8, 0.3), (10**12, 1e-12)])
def test_many_binomial_numbers_of_many_trials_take_little_memory(trials, probability):
    rng = np.random.default_rng(SEED)
    tracemalloc.start()
    drawn = binomial_counts(trials, probability, 2**16, rng)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**25
    deviation = math.sqrt(trials * probability * (1 - probability))
    assert abs(drawn.mean() - trials * probability) < 5 * deviation / 2**8
    assert drawn.std() == pytest.approx(deviation, rel=0.03)


@pytest.mark.slow
def test_norm_sub_of_a_long_row_is_that_of_rows():
    values = np.random.default_rng(SEED).normal(scale=0.01, size=200_000)
    assert norm_sub(values) == pytest.approx(norm_sub(values[None])[0], abs=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_norm_sub_is_the_nearest_distribution(seed):
    """Against sorting, and the conditions of optimality."""
    rng = np.random.default_rng(seed)
    values = rng.normal(scale=rng.choice([0.01, 1.0, 30.0]), size=(3, 12))
    found = norm_sub(values)
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-9)
    for row, out in zip(values, found, strict=True):
        ordered = np.sort(row)[::-1]
        thresholds = (np.cumsum(ordered) - 1) / np.arange(1, 13)
        shift = thresholds[np.flatnonzero(ordered > thresholds)[-1]]
        assert out == pytest.approx(np.maximum(row - shift, 0), abs=1e-9)


def test_clipped_estimates_are_scaled():
    assert clipped([[0.5, -1.0, 1.5], [-1.0, -2.0, 0.0]]) == pytest.approx(
        np.array([[0.25, 0, 0.75], [1 / 3, 1 / 3, 1 / 3]])
    )


@pytest.mark.parametrize("kind", ["grr", "sue", "oue", "olh"])
def test_supports_and_estimates_agree_with_pure_ldp(kind):
    """The library's servers, fed with reports of ours, come to the same estimates."""
    pytest.importorskip("pure_ldp")
    from pure_ldp.frequency_oracles import direct_encoding, unary_encoding

    if kind == "olh":
        from pure_ldp.frequency_oracles.local_hashing import LHServer

        server, oracle = LHServer(1.0, 6, use_olh=True), MAKE["olh"](6, 1.0)
        assert server.g == oracle.hashes
        assert server.p == pytest.approx(oracle.own)
        return
    oracle = MAKE[kind](6, 1.0)
    reports = oracle.randomize(np.arange(600) % 6, np.random.default_rng(SEED))
    server = (
        direct_encoding.DEServer(1.0, 6) if kind == "grr" else unary_encoding.UEServer(1.0, 6, use_oue=kind == "oue")
    )
    for row in reports:
        server.aggregate(int(row[0]) if kind == "grr" else row)
    ours = 600 * oracle.estimate(oracle.supports(reports), 600)
    theirs = [server.estimate(value, suppress_warnings=True) for value in range(1, 7)]
    assert ours == pytest.approx(theirs, abs=1e-6)
