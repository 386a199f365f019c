"""Bounds on a whole privacy profile hold together, and are not far from the truth."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import binom, norm

import dpaudit

EPSILONS = np.linspace(0.0, 4.0, 33)
ORDERS = np.array([1.0, 1.2, 2.0, 2.5, 3.0, 10.0, 50.0])
TYPE_ONE = np.linspace(0.0, 1.0, 41)
FALSE_ALARM = 1e-6


@dataclass(frozen=True)
class Case:
    """A mechanism on the inputs 0 and 1 with what is known of it in closed form."""

    sample: object
    delta: object
    renyi: object
    trade_off: object
    mu: float
    rho: float
    epsilon: float

    def epsilons(self, delta):
        """Smallest epsilon of that delta, by bisection of the closed form."""
        low, high = 0.0, 60.0
        if self.delta(low) <= delta:
            return 0.0
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle) <= delta else (middle, high)
        return high


def gaussian(mu):
    return Case(
        sample=lambda data, size, rng: rng.normal(mu * data, 1.0, size),
        delta=lambda e: norm.cdf(mu / 2 - e / mu) - math.exp(e) * norm.cdf(-mu / 2 - e / mu),
        renyi=lambda a: a * mu**2 / 2,
        trade_off=lambda t: norm.cdf(norm.ppf(1 - t) - mu),
        mu=mu,
        rho=mu**2 / 2,
        epsilon=math.inf,
    )


def laplace():
    def renyi(a):
        if a == 1:
            return math.exp(-1.0)
        return math.log(a / (2 * a - 1) * math.exp(a - 1) + (a - 1) / (2 * a - 1) * math.exp(-a)) / (a - 1)

    def trade_off(t):
        if t < math.exp(-1) / 2:
            return 1 - math.e * t
        return math.exp(-1) / (4 * t) if t <= 0.5 else math.exp(-1) * (1 - t)

    return Case(
        sample=lambda data, size, rng: rng.laplace(data, 1.0, size),
        delta=lambda e: max(0.0, 1 - math.exp((e - 1) / 2)),
        renyi=renyi,
        trade_off=trade_off,
        mu=2 * norm.ppf(1 - math.exp(-0.5) / 2),
        rho=max(renyi(a) / a for a in 1 + np.geomspace(1e-3, 50, 2000)),
        epsilon=1.0,
    )


def response(sample):
    """Randomized response at epsilon 1; geometric noise has the same privacy profile."""
    p = 1 / (1 + math.exp(-1))

    def renyi(a):
        if a == 1:
            return math.tanh(0.5)
        return math.log(p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)) / (a - 1)

    return Case(
        sample=sample,
        delta=lambda e: max(0.0, p - math.exp(e) * (1 - p)),
        renyi=renyi,
        trade_off=lambda t: max(1 - math.e * t, math.exp(-1) * (1 - t)),
        mu=2 * norm.ppf(p),
        rho=max(renyi(a) / a for a in 1 + np.geomspace(1e-3, 50, 2000)),
        epsilon=1.0,
    )


def _noise(rng, size):
    return rng.geometric(1 - math.exp(-1), size) - rng.geometric(1 - math.exp(-1), size)


CASES = {
    "gaussian": gaussian(1.0),
    "laplace": laplace(),
    "response": response(lambda data, size, rng: (rng.random(size) < 1 / (1 + math.exp(-1))) == bool(data)),
    "geometric": response(lambda data, size, rng: data + _noise(rng, size)),
}


def violations(case, bounds):
    """Names of the bounds that are on the wrong side of the truth."""
    found = []
    if any(bounds.delta(e) > case.delta(e) + 1e-12 for e in EPSILONS):
        found.append("delta")
    if any(bounds.epsilon(d) > case.epsilons(d) + 1e-9 for d in (1e-5, 1e-3, 1e-2, 0.1)):
        found.append("epsilon")
    if bounds.epsilon(0.0) > case.epsilon + 1e-12:
        found.append("pure epsilon")
    if any(bounds.renyi(a) > case.renyi(a) + 1e-12 for a in ORDERS):
        found.append("renyi")
    if any(bounds.trade_off(t) < case.trade_off(t) - 1e-12 for t in TYPE_ONE):
        found.append("trade_off")
    if bounds.mu > case.mu:
        found.append("mu")
    if bounds.rho > case.rho * (1 + 1e-9):
        found.append("rho")
    return found


def wrong_runs(case, *, runs, samples, confidence, first=0):
    made = (
        dpaudit.privacy_bounds(case.sample, 0, 1, samples=samples, confidence=confidence, seed=seed)
        for seed in range(first, first + runs)
    )
    return sum(bool(violations(case, bounds)) for bounds in made)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_all_bounds_hold_at_once_as_often_as_stated(name):
    runs, error = 60, 0.2
    wrong = wrong_runs(CASES[name], runs=runs, samples=2000, confidence=1 - error)
    assert binom.sf(wrong - 1, runs, error) > FALSE_ALARM, f"{wrong} of {runs} runs are wrong somewhere"


@pytest.mark.slow
def test_all_bounds_hold_of_rare_events_in_few_samples():
    # An atom that one input has and the other hardly ever: counts of 0 and 1 decide.
    p, q = 0.01, 0.001
    case = Case(
        sample=lambda data, size, rng: rng.random(size) < (q if data else p),
        delta=lambda e: max(0.0, p - math.exp(e) * q, (1 - q) - math.exp(e) * (1 - p)),
        renyi=lambda a: max(_bits(p, q, a), _bits(q, p, a)),
        trade_off=lambda t: 0.0,
        mu=norm.ppf(p) - norm.ppf(q),
        rho=max(max(_bits(p, q, a), _bits(q, p, a)) / a for a in 1 + np.geomspace(1e-3, 50, 2000)),
        epsilon=math.log(p / q),
    )
    runs, error = 150, 0.3
    wrong = wrong_runs(case, runs=runs, samples=1000, confidence=1 - error)
    assert binom.sf(wrong - 1, runs, error) > FALSE_ALARM, f"{wrong} of {runs} runs are wrong somewhere"


def _bits(p, q, a):
    if a == 1:
        return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))
    return math.log(p**a * q ** (1 - a) + (1 - p) ** a * (1 - q) ** (1 - a)) / (a - 1)


PARTS = {
    # Parts of the truth that 100,000 samples reach: epsilon at delta 1e-5 and 1e-2, mu, rho, renyi(2), renyi(10).
    "gaussian": (0.45, 0.84, 0.96, 0.88, 0.84, 0.35),
    "laplace": (0.93, 0.93, 0.96, 0.93, 0.93, 0.93),
    "response": (0.94, 0.94, 0.95, 0.93, 0.93, 0.94),
    "geometric": (0.94, 0.94, 0.95, 0.93, 0.93, 0.94),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_bounds_are_near_the_truth(name):
    case = CASES[name]
    bounds = dpaudit.privacy_bounds(case.sample, 0, 1, samples=100_000, seed=1)
    found = (bounds.epsilon(1e-5), bounds.epsilon(1e-2), bounds.mu, bounds.rho, bounds.renyi(2), bounds.renyi(10))
    exact = (case.epsilons(1e-5), case.epsilons(1e-2), case.mu, case.rho, case.renyi(2), case.renyi(10))
    parts = np.array(found) / np.array(exact)
    assert np.all(parts <= 1)
    assert np.all(parts >= PARTS[name]), parts


def test_permute_and_flip_has_a_larger_rho_than_the_exponential_mechanism():
    # Of two candidates whose scores differ by 0 and by 1, at epsilon 2: the second is chosen with 0.5 and e^-2 / 2.
    # Exactly, rho is 0.7275 at order 1.46; the exponential mechanism's constant, epsilon^2 / 8, is 0.5.
    def permute_and_flip(data, size, rng):
        return rng.random(size) < (math.exp(-2) / 2 if data else 0.5)

    found = [dpaudit.privacy_bounds(permute_and_flip, 0, 1, samples=50_000, seed=seed).rho for seed in range(5)]
    assert 0.68 <= np.mean(found)
    assert 0.65 < min(found)
    assert max(found) < 0.7276
