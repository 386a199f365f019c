"""How often the auditors accuse the innocent: mechanisms that meet their claim with equality, audited many times.

Every rate is printed (``pytest -rP``) and recorded; it must not be above what alpha allows, but for chance at 1e-6.
"""

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

import dpaudit
from dpaudit.auditors import Budget, Streams
from dpaudit.auditors.blackbox import audit_black_box
from dpaudit.statistics import mean_interval

FALSE_ALARM = 1e-6
ALPHA = 0.05


def table(laws):
    cumulative = np.cumsum(laws, axis=1)
    return lambda data, size, rng: np.searchsorted(cumulative[data], rng.random(size) * cumulative[data][-1])


def losses(p, q):
    return float(np.abs(np.log(p) - np.log(q)).max())


def grr(epsilon, values):
    law = np.full((2, values), 1 / (math.exp(epsilon) + values - 1))
    law[[0, 1], [0, 1]] *= math.exp(epsilon)
    return law


def geometric(epsilon, top, centres):
    a = math.exp(-epsilon)
    laws = np.array([[(1 - a) / (1 + a) * a ** abs(out - centre) for out in range(top + 1)] for centre in centres])
    for law, centre in zip(laws, centres, strict=True):
        law[0], law[-1] = a**centre / (1 + a), a ** (top - centre) / (1 + a)
    return laws


def discrete_gaussian(sigma, centres, reach=30):
    support = np.arange(-reach, reach + 1)
    laws = np.exp(-((support[None] - np.array(centres)[:, None]) ** 2) / (2 * sigma**2))
    return laws / laws.sum(axis=1, keepdims=True)


def gaussian_epsilon(distance, delta):
    return dpaudit.compare(dpaudit.GaussianLaw(distance, 1), dpaudit.GaussianLaw(0, 1)).epsilon(delta).upper


def finite_epsilon(laws, delta):
    made = [dpaudit.FiniteLaw.from_probabilities(range(len(law)), law) for law in laws]
    return max(dpaudit.compare(p, q).epsilon(delta).upper for p, q in (made, made[::-1]))


GRR, GEOMETRIC, DISCRETE = grr(1.0, 8), geometric(1.0, 6, (2, 3)), discrete_gaussian(1.5, (0, 1))
CHOICE = np.exp([[1.5, 1.0, 0.0, 0.5], [1.0, 1.5, 0.5, 0.0]])
CHOICE /= CHOICE.sum(axis=1, keepdims=True)
# sampler, the two inputs, the exact epsilon, delta, audits, samples
MECHANISMS = {
    "laplace": (lambda d, s, r: d + r.laplace(size=s), 0.0, 1.0, 1.0, 0.0, 250, 3000),
    "randomized response": (lambda d, s, r: (r.random(s) < 1 / (1 + math.e)) ^ bool(d), 0, 1, 1.0, 0.0, 250, 3000),
    "grr over 8 values": (table(GRR), 0, 1, 1.0, 0.0, 250, 3000),
    "truncated geometric": (table(GEOMETRIC), 0, 1, losses(*GEOMETRIC), 0.0, 250, 3000),
    "exponential mechanism": (table(CHOICE), 0, 1, losses(*CHOICE), 0.0, 250, 3000),
    "discrete gaussian": (table(DISCRETE), 0, 1, finite_epsilon(DISCRETE, 0.05), 0.05, 250, 3000),
    "gaussian": (lambda d, s, r: d + r.normal(size=s), 0.0, 1.0, gaussian_epsilon(1.0, 0.05), 0.05, 250, 3000),
    "two laplace numbers": (lambda d, s, r: d + r.laplace(size=(s, 2)), 0.0, 0.5, 1.0, 0.0, 200, 2000),
}


def report(record_property, what, count, audits, alpha=ALPHA):
    record_property(what, count / audits)
    print(f"{what}: {count} of {audits} = {count / audits:.4f} (alpha {alpha:g})")


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_false_refutations_of_one_pair(name, record_property):
    sample, x, y, epsilon, delta, audits, samples = MECHANISMS[name]
    wrong = sum(
        dpaudit.epsilon_lower_bound(sample, x, y, delta=delta, samples=samples, confidence=1 - ALPHA, seed=seed).epsilon
        > epsilon * (1 + 1e-9)
        for seed in range(audits)
    )
    report(record_property, name, wrong, audits)
    assert wrong <= binom.isf(FALSE_ALARM, audits, ALPHA)


def test_false_refutations_in_the_fast_set(record_property):
    sample, x, y, epsilon, _, _, _ = MECHANISMS["grr over 8 values"]
    audits = 100
    bounds = [
        dpaudit.epsilon_lower_bound(sample, x, y, samples=2000, confidence=1 - ALPHA, seed=seed).epsilon
        for seed in range(audits)
    ]
    wrong = sum(bound > epsilon for bound in bounds)
    report(record_property, "grr, fast", wrong, audits)
    assert wrong <= binom.isf(FALSE_ALARM, audits, ALPHA)
    assert np.mean(bounds) > 0.5 * epsilon


class ManyPairs(dpaudit.Mechanism):
    """Generalized randomized response over 6 values: every pair of inputs meets the claim with equality."""

    epsilon: float = dpaudit.parameter(1.0)

    def sample(self, data, size, rng):
        law = np.ones(6)
        law[data] = math.exp(self.epsilon)
        return rng.choice(6, size, p=law / law.sum())

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs(range(6), scope="all")


@pytest.mark.slow
def test_false_refutations_of_a_search_over_pairs(record_property):
    target, audits = ManyPairs(), 300
    claim = dpaudit.PrivacyClaim(id="c", statement="", epsilon=1.0)
    wrong = 0
    for seed in range(audits):
        evidence = audit_black_box(
            target, claim, target.neighbours(), budget=Budget(samples=5000, confidence=1 - ALPHA), streams=Streams(seed)
        )
        wrong += evidence.verdict == "refuted"
    report(record_property, "search over 15 pairs", wrong, audits)
    assert wrong <= binom.isf(FALSE_ALARM, audits, ALPHA)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["beta", "bernoulli", "two points", "spike"])
def test_coverage_of_measured_means(name, record_property):
    draw, mean = {
        "beta": (lambda r: r.beta(2, 5, 60), 2 / 7),
        "bernoulli": (lambda r: r.random(60) < 0.07, 0.07),
        "two points": (lambda r: np.where(r.random(60) < 0.3, 0.9, 0.1), 0.34),
        "spike": (lambda r: np.where(r.random(60) < 0.02, 1.0, 0.0), 0.02),
    }[name]
    audits, missed = 4000, 0
    for seed in range(audits):
        lower, _, upper = mean_interval(draw(np.random.default_rng(seed)), support=(0.0, 1.0), confidence=1 - ALPHA)
        missed += not lower <= mean <= upper
    report(record_property, f"mean of {name}", missed, audits)
    assert missed <= binom.isf(FALSE_ALARM, audits, ALPHA)


# Detection limit.


def at_limit(kind, epsilon):
    """A pair of inputs whose true epsilon is the given one, and whose best event is as at the claim."""
    if kind == "randomized response":
        return lambda d, s, r: (r.random(s) < 1 / (1 + math.exp(epsilon))) ^ bool(d)
    if kind == "laplace":
        return lambda d, s, r: d * epsilon + r.laplace(size=s)
    return table(grr(epsilon, 8))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["randomized response", "grr over 8 values", "laplace"])
def test_power_at_the_stated_detection_limit(kind, record_property):
    """A mechanism whose true epsilon is the limit stated for one that meets its claim is refuted."""
    claimed, samples, audits = 1.0, 20_000, 200
    honest = [
        dpaudit.epsilon_lower_bound(at_limit(kind, claimed), 0, 1, samples=samples, seed=seed, claimed=claimed)
        for seed in range(20)
    ]
    limit = float(np.median([bound.detection_limit for bound in honest]))
    assert claimed < limit < 2 * claimed
    found = sum(
        dpaudit.epsilon_lower_bound(at_limit(kind, limit), 0, 1, samples=samples, seed=1000 + seed).epsilon > claimed
        for seed in range(audits)
    )
    record_property("limit", limit)
    report(record_property, f"power at the limit {limit:.4f} of {kind}", found, audits, 0.001)
    # The limit is that of the event's own log-ratio. Discrete mechanisms have an event that attains epsilon; the
    # half-line chosen for a Laplace law falls short of it by a few per cent, and its power with it.
    required = 0.5 if kind == "laplace" else 0.95
    assert found >= binom.ppf(FALSE_ALARM, audits, required)


def test_the_limit_of_randomized_response_is_the_normal_approximation():
    """Independent of the auditor: the two-sample test of a log-ratio of rates."""
    samples, claimed, alpha, power = 200_000, 1.0, 0.001, 0.95
    bound = dpaudit.epsilon_lower_bound(
        at_limit("randomized response", claimed), 0, 1, samples=samples, seed=1, claimed=claimed
    )
    p, q = 1 / (1 + math.exp(-claimed)), 1 / (1 + math.exp(claimed))
    spread = math.sqrt(1 / (0.8 * samples * p) + 1 / (0.8 * samples * q))
    nearest = claimed + (norm.isf(alpha) + norm.isf(1 - power)) * spread
    assert nearest < bound.detection_limit < claimed + 2.2 * (nearest - claimed)
