"""Bounds on a whole privacy profile hold together, and are not far from the truth."""

import math

import numpy as np
import pytest
from scipy.stats import binom
from suite.closed import DELTAS, EPSILONS, KNOWN, ORDERS, TYPE_ONE, bits

import dpaudit

FALSE_ALARM = 1e-6


def assert_wrong_as_rarely_as_stated(known, *, runs, samples, error):
    wrong = sum(
        bool(known.wrong(dpaudit.privacy_bounds(known.sample, 0, 1, samples=samples, confidence=1 - error, seed=seed)))
        for seed in range(runs)
    )
    assert binom.sf(wrong - 1, runs, error) > FALSE_ALARM, f"{wrong} of {runs} runs are wrong somewhere"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Gaussian, mu 1", "Laplace, epsilon 1", "geometric, epsilon 1"])
def test_all_bounds_hold_at_once_as_often_as_stated(name):
    assert_wrong_as_rarely_as_stated(KNOWN[name], runs=50, samples=2000, error=0.2)


@pytest.mark.slow
@pytest.mark.parametrize(("p", "q"), [(0.01, 0.001), (0.75, 0.25)])
def test_all_bounds_hold_of_a_bit_in_few_samples(p, q):
    assert_wrong_as_rarely_as_stated(bits(p, q), runs=100, samples=1000, error=0.3)


PARTS = {
    # Parts of the truth that 100,000 samples reach: epsilon at delta 1e-5 and 1e-2, mu, rho, renyi(2), renyi(10).
    "Gaussian, mu 0.3": (0.48, 0.74, 0.90, 0.75, 0.75, 0.6),
    "Gaussian, mu 1": (0.45, 0.84, 0.96, 0.88, 0.84, 0.35),
    "Laplace, epsilon 1": (0.93, 0.93, 0.96, 0.93, 0.93, 0.93),
    "randomized response, epsilon 1": (0.94, 0.94, 0.95, 0.93, 0.93, 0.94),
    "geometric, epsilon 1": (0.94, 0.94, 0.95, 0.93, 0.93, 0.94),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTS)
def test_bounds_are_near_the_truth(name):
    known = KNOWN[name]
    bounds = dpaudit.privacy_bounds(known.sample, 0, 1, samples=100_000, seed=1)
    found = [bounds.epsilon(1e-5), bounds.epsilon(1e-2), bounds.mu, bounds.rho, bounds.renyi(2), bounds.renyi(10)]
    exact = [known.epsilon(1e-5), known.epsilon(1e-2), known.mu, known.rho, known.renyi(2), known.renyi(10)]
    parts = np.array(found) / exact
    assert np.all(parts <= 1)
    assert np.all(parts >= PARTS[name]), parts


def test_the_truths_are_those_of_the_exact_auditor():
    response, noise = KNOWN["randomized response, epsilon 1"], KNOWN["Laplace, epsilon 1"]
    p = 1 / (1 + math.exp(-1))
    pairs = [
        (response, dpaudit.FiniteLaw((0, 1), np.log([p, 1 - p])), dpaudit.FiniteLaw((0, 1), np.log([1 - p, p]))),
        (noise, dpaudit.LaplaceLaw(0.0, 1.0), dpaudit.LaplaceLaw(1.0, 1.0)),
    ]
    for known, *laws in pairs:
        comparison = dpaudit.compare(*laws)
        for epsilon in EPSILONS:
            assert known.delta(epsilon) == pytest.approx(comparison.delta(epsilon).upper, abs=1e-9)
        for delta in DELTAS:
            assert known.epsilon(delta) == pytest.approx(comparison.epsilon(delta).upper, abs=1e-9)


SYMMETRIC = [name for name in KNOWN if "permute" not in name and "10 numbers" not in name]


@pytest.mark.parametrize("name", SYMMETRIC)
def test_the_truths_agree_with_each_other(name):
    # Renyi divergences and trade-off functions follow from the privacy profile, where both directions have the same.
    known, z = KNOWN[name], np.exp(np.linspace(0, 14, 2001))
    delta = np.array([known.delta(math.log(each)) for each in z])
    for order in ORDERS[:5]:
        moment = np.trapezoid((z ** (order - 2) + z ** (-order - 1)) * delta, z)
        whole = moment if order == 1 else math.log1p(order * (order - 1) * moment) / (order - 1)
        assert known.renyi(order) == pytest.approx(whole, rel=1e-3)
    t = TYPE_ONE[:, None]
    most = np.maximum(1 - delta - z * t, (1 - delta - t) / z).max(axis=1)
    assert [known.trade_off(t) for t in TYPE_ONE] == pytest.approx(np.maximum(most, 0).tolist(), abs=2e-3)


def test_permute_and_flip_has_a_larger_rho_than_the_exponential_mechanism():
    # Two candidates: the second is chosen with 0.5 or with e^-2 / 2. The exponential mechanism's constant is 0.5.
    known = KNOWN["permute-and-flip, epsilon 2"]
    assert known.rho == pytest.approx(0.7275, abs=1e-4)
    found = [dpaudit.privacy_bounds(known.sample, 0, 1, samples=50_000, seed=seed).rho for seed in range(5)]
    assert np.mean(found) >= 0.68
    assert min(found) > 0.65
    assert max(found) < known.rho
