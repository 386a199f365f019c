"""SAFA, Harmony and the flat baselines: whole collections against the exact variances, and what the claims compute."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

import dpaudit
from dpaudit import rankings
from dpaudit.catalog.yang2018 import Harmony, RankingGrr, RankingOlh, RankingRappor, RankingSh, Safa
from dpaudit.catalog.yang2018.claims import total_variance
from dpaudit.catalog.yang2018.controls import ClippedEarly, SharedHash
from dpaudit.catalog.yang2018.marginals import second_order_marginals
from dpaudit.catalog.yang2018.variances import (
    printed_crossover,
    printed_harmony_variance,
    printed_safa_variance,
    safa_variance,
    true_crossover,
)

FALSE_ALARM = 1e-6
SEED = 20261129
FLAT = [RankingGrr, RankingRappor, RankingSh, RankingOlh]


def verdict_of(target, claim):
    (result,) = dpaudit.check(target, claims=[claim], seed=SEED).results
    return result


def tuples(n, attributes, values):
    """Skewed values; the attributes of a user depend on each other."""
    first = np.repeat(np.arange(values), [n - (values - 1) * (n // 10)] + [n // 10] * (values - 1))
    return np.stack([(first * (j + 1)) % values for j in range(attributes)], axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(("collector", "projection"), [(Safa, "hadamard"), (Harmony, "hadamard"), (Harmony, "random")])
def test_collections_have_the_exact_mean_and_variance(collector, projection):
    data, runs = tuples(200, 3, 4), 1500
    target = collector(epsilon=1.0, attributes=3, values=4, agents=200, projection=projection)
    found = target.sample(data, runs, np.random.default_rng(SEED))[:, 1]
    shares = np.bincount(data[:, 1], minlength=4) / 200
    exact = np.array([exact_variance(share, 3, 4, 1.0, 200) for share in shares])
    if collector is Harmony:
        scale = ((math.e + 1) / (math.e - 1)) ** 2
        exact = (3 * scale - shares) / 200
        if projection == "random":
            exact = (3 * scale - shares - (1 - shares) / 4) / 200 + (np.sum(shares**2) - shares**2) / 4
    z = (found.mean(axis=0) - shares) / np.sqrt(exact / runs)
    assert chi2.sf(z @ z / 2, 4) > FALSE_ALARM  # halved, for the estimates are correlated
    assert found.var(axis=0) == pytest.approx(exact, rel=6 * math.sqrt(3 / runs))


def exact_variance(share, attributes, values, epsilon, n):
    """The printed variance plus what it leaves out."""
    e = math.exp(epsilon)
    printed = ((e + values - 1) * attributes - 1) / (n * (e - 1) ** 2)
    return printed + share * ((e + values - 1) * attributes - e - 1) / (n * (e - 1))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize(("attributes", "values"), [(1, 2), (9, 10), (360, 20)])
def test_the_erratum_of_theorem_three_is_the_exact_variance(attributes, values, share):
    target = Safa(epsilon=0.7, agents=100, attributes=attributes, values=values, frequency=share)
    assert safa_variance(target) == pytest.approx(exact_variance(share, attributes, values, 0.7, 100), rel=1e-12)
    assert printed_safa_variance(target) == pytest.approx(exact_variance(0.0, attributes, values, 0.7, 100), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("attributes", [1, 9, 360])
def test_crossovers_are_where_the_variances_meet(epsilon, attributes):
    e = math.exp(epsilon)
    target = Safa(epsilon=epsilon, attributes=attributes, agents=1)
    printed_harmony = (2 * attributes - 1) * (e + 1) ** 2 / (e - 1) ** 2
    assert printed_harmony_variance(target) == pytest.approx(printed_harmony, rel=1e-12)

    def safa(m):
        return ((e + m - 1) * attributes - 1) / (e - 1) ** 2

    assert safa(printed_crossover(target)) == pytest.approx(printed_harmony, rel=1e-12)
    assert safa(true_crossover(target)) == pytest.approx(attributes * (e + 1) ** 2 / (e - 1) ** 2, rel=1e-12)


def test_the_claims_say_what_was_derived():
    assert verdict_of(Safa(epsilon=0.5, attributes=360, frequency=0.0), "yang2018.safa-theorem4").verdict == "refuted"
    result = verdict_of(Harmony(epsilon=0.5, attributes=360, values=20), "yang2018.harmony-variance")
    assert result.verdict == "refuted"
    assert result.measured["value"].lower == pytest.approx(2 - 1 / 360, abs=1e-3)
    assert verdict_of(Safa(epsilon=0.5, values=20), "yang2018.grr-best").verdict == "refuted"
    assert verdict_of(Safa(epsilon=0.5, values=6), "yang2018.grr-best").verdict == "proved"


@pytest.mark.parametrize("flat", FLAT, ids=lambda flat: flat.name)
def test_total_variance_is_the_mean_squared_error_of_literal_reports(flat):
    """Every user's report, d = 3, against the sum of the exact variances and against the aggregate law."""
    target, rng, runs = flat(items=3, agents=60, postprocess="none"), np.random.default_rng(SEED), 600
    counts = np.array([30, 20, 5, 5, 0, 0])
    truths = np.repeat(np.arange(6), counts)
    oracle = target.oracle
    literal = [oracle.estimate(oracle.supports(oracle.randomize(truths, rng)), 60) for _ in range(runs)]
    for found in (np.array(literal), np.array([target.distribution(counts, rng) for _ in range(runs)])):
        errors = ((found - counts / 60) ** 2).sum(axis=1)
        spread = errors.std() / math.sqrt(runs)
        assert abs(errors.mean() - total_variance(target)) < 6 * spread


@pytest.mark.parametrize("postprocess", ["clip", "norm-sub"])
@pytest.mark.parametrize("flat", FLAT, ids=lambda flat: flat.name)
def test_distributions_are_distributions(flat, postprocess):
    target = flat(items=4, postprocess=postprocess, epsilon=0.5)
    orders = np.random.default_rng(0).permuted(np.tile(np.arange(4), (50, 1)), axis=1)
    (found,) = target.sample(orders, 1, np.random.default_rng(SEED))
    assert found.shape == (24,)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)


@pytest.mark.parametrize("flat", FLAT, ids=lambda flat: flat.name)
def test_with_little_noise_the_marginals_are_those_of_the_users(flat):
    orders = rankings.Mallows(np.arange(4), 0.5).sample(20_000, np.random.default_rng(1))
    counts = np.bincount(rankings.ranking_index(orders), minlength=24)
    truth = second_order_marginals(orders)
    for postprocess in ("none", "clip", "norm-sub"):
        found = flat(items=4, epsilon=12.0, postprocess=postprocess).marginals(counts, np.random.default_rng(SEED))
        assert np.abs(found - truth).max() < 0.05


@pytest.mark.slow
def test_what_the_controls_compute_is_what_they_do():
    """A shared hash by simulation; the bias of early clipping by simulated counts."""
    shared, runs = SharedHash(agents=200), 4000
    found = shared.estimates(runs, np.random.default_rng(SEED))
    assert abs(found.mean()) < 6 * found.std() / math.sqrt(runs)
    assert found.var() == pytest.approx(shared.variance(), rel=6 * math.sqrt(2 / runs))
    clipped = ClippedEarly(agents=200)
    p, q = math.e / (math.e + 3), 1 / (math.e + 3)
    counts = np.random.default_rng(SEED).binomial(200, q / 3, 200_000)
    estimates = np.maximum(3 * counts / 200 - q, 0) / (p - q)
    assert abs(estimates.mean() - clipped.bias()) < 6 * estimates.std() / math.sqrt(200_000)
