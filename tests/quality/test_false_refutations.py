"""How often the auditors accuse the innocent: mechanisms that meet their claim with equality, audited many times.

Every rate is printed (``pytest -rP``) and recorded; it must not be above what alpha allows, but for chance at 1e-6.
At a large alpha few audits show much: of 150 at 0.2 a rate of 2.5 times alpha is visible, as is an event that is chosen
with 0.8 standard deviations of luck. At 0.05 it would take 700 to show such a multiple, and 250 to show such luck.
"""

import math

import numpy as np
import pytest
from rates import MISSED, SEEN, counted, most, visible
from scipy.stats import binom, norm

import dpaudit
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.blackbox import choosing, counting, tasks
from dpaudit.statistics import mean_interval

FALSE_ALARM = 1e-6
ALPHA = 0.2


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


def unary(epsilon, values):
    """Symmetric unary encoding: two bits differ between any two inputs."""
    flip = 1 / (1 + math.exp(epsilon / 2))
    return lambda data, size, rng: (rng.random((size, values)) < flip) ^ (np.arange(values) == data)


def local_hashing(epsilon, values, buckets):
    """Optimal local hashing, as a row: the bucket of every value under the hash function, and the report."""
    tables = np.random.default_rng(0).integers(0, buckets, (100, values))
    tables[0, :2] = 0, 1
    keep = math.exp(epsilon) / (math.exp(epsilon) + buckets - 1)

    def sample(data, size, rng):
        drawn = tables[rng.integers(0, len(tables), size)]
        other = (drawn[:, data] + rng.integers(1, buckets, size)) % buckets
        return np.column_stack([drawn, np.where(rng.random(size) < keep, drawn[:, data], other)])

    return sample


GRR, GEOMETRIC, DISCRETE = grr(1.0, 8), geometric(1.0, 6, (2, 3)), discrete_gaussian(1.5, (0, 1))
CHOICE = np.exp([[1.5, 1.0, 0.0, 0.5], [1.0, 1.5, 0.5, 0.0]])
CHOICE /= CHOICE.sum(axis=1, keepdims=True)
AUDITS, SAMPLES = 150, 2000

# Sampler, the two inputs, the exact epsilon, delta.
MECHANISMS = {
    "laplace": (lambda d, s, r: d + r.laplace(size=s), 0.0, 1.0, 1.0, 0.0),
    "randomized response": (lambda d, s, r: (r.random(s) < 1 / (1 + math.e)) ^ bool(d), 0, 1, 1.0, 0.0),
    "grr over 8 values": (table(GRR), 0, 1, 1.0, 0.0),
    "truncated geometric": (table(GEOMETRIC), 0, 1, losses(*GEOMETRIC), 0.0),
    "exponential mechanism": (table(CHOICE), 0, 1, losses(*CHOICE), 0.0),
    "unary encoding": (unary(1.0, 4), 0, 1, 1.0, 0.0),
    "local hashing": (local_hashing(1.0, 6, 4), 0, 1, 1.0, 0.0),
    "laplace in 3 columns": (lambda d, s, r: d + r.laplace(size=(s, 3)), 0.0, 1 / 3, 1.0, 0.0),
    "a number or a sentinel": (
        lambda d, s, r: np.where(r.random(s) < 0.3, -1.0, d + r.laplace(size=s)),
        0.0,
        1.0,
        1.0,
        0.0,
    ),
    "gaussian": (lambda d, s, r: d + r.normal(size=s), 0.0, 1.0, gaussian_epsilon(1.0, 0.05), 0.05),
    "discrete gaussian": (table(DISCRETE), 0, 1, finite_epsilon(DISCRETE, 0.05), 0.05),
    "nothing to find": (lambda d, s, r: r.laplace(size=s), 0, 1, 0.0, 0.0),
}
EARLY = ["laplace", "randomized response", "grr over 8 values", "a number or a sentinel", "gaussian", "nothing to find"]


def false_refutations(name, sample=None, *, audits=AUDITS, alpha=ALPHA, **options):
    ours, x, y, epsilon, delta = MECHANISMS[name]

    def is_wrong(seed):
        found = dpaudit.epsilon_lower_bound(
            sample or ours, x, y, delta=delta, samples=SAMPLES, confidence=1 - alpha, seed=seed, **options
        )
        return found.epsilon > epsilon * (1 + 1e-9)

    return counted(is_wrong, audits, alpha=alpha)


def report(record_property, what, count, audits, alpha=ALPHA):
    record_property(what, count / audits)
    print(f"{what}: {count} of {audits} = {count / audits:.4f} (alpha {alpha:g})")


def check_rate(record_property, what, wrong, audits, alpha=ALPHA):
    report(record_property, what, wrong, audits, alpha)
    assert wrong <= most(audits, alpha)


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_false_refutations_of_one_pair(name, record_property):
    # Events judged on the sample that chose them are wrong most where there is nothing to find, and at a small alpha.
    audits, alpha = (400, 0.05) if name == "nothing to find" else (AUDITS, ALPHA)
    check_rate(record_property, name, *false_refutations(name, audits=audits, alpha=alpha), alpha)


@pytest.mark.slow
@pytest.mark.parametrize("name", EARLY)
def test_false_refutations_when_stopping_early(name, record_property, monkeypatch):
    """With a look after every two hundred samples, where the auditor takes one after every 65,536."""
    for module in (choosing, counting, tasks):
        monkeypatch.setattr(module, "CHUNK", 200)
    wrong = false_refutations(name, claimed=MECHANISMS[name][3], stop_early=True)
    check_rate(record_property, f"{name}, stopping early", *wrong)


@pytest.mark.slow
def test_false_refutations_with_learned_events_when_stopping_early(record_property, monkeypatch):
    for module in (choosing, counting, tasks):
        monkeypatch.setattr(module, "CHUNK", 800)
    wrong = false_refutations("laplace in 3 columns", claimed=1.0, stop_early=True)
    check_rate(record_property, "laplace in 3 columns, stopping early", *wrong)


@pytest.mark.slow
def test_false_refutations_with_the_bits_of_floating_point_numbers(record_property):
    """Whole numbers over 8, stored as such: floating point adds nothing to their law."""

    def floats(data, size, rng):
        return (table(GEOMETRIC)(data, size, rng) - 2) / 8

    wrong = false_refutations("truncated geometric", sample=floats, features="float-bits")
    check_rate(record_property, "truncated geometric, float-bits", *wrong)

    def noisy(data, size, rng):
        return np.round(rng.laplace(size=size) * 64) / 64 + data

    wrong = false_refutations("laplace", sample=noisy, features="float-bits")
    check_rate(record_property, "laplace on a grid, float-bits", *wrong)


@pytest.mark.slow
def test_bounds_are_not_right_for_being_small():
    sample, x, y, epsilon, _ = MECHANISMS["grr over 8 values"]
    bounds = [dpaudit.epsilon_lower_bound(sample, x, y, samples=2000, seed=seed).epsilon for seed in range(20)]
    assert np.mean(bounds) > 0.4 * epsilon


@pytest.mark.parametrize(("runs", "alpha"), [(150, 0.2), (400, 0.05), (300, 0.0125), (120, 0.1)])
def test_counts_that_end_early_take_no_power_away(runs, alpha):
    """Worked out over all numbers of wrong runs, from binomial likelihoods."""
    limit, high, numbers = most(runs, alpha), visible(runs, alpha), np.arange(runs + 1)
    assert binom.sf(limit, runs, alpha) <= FALSE_ALARM
    assert binom.sf(limit, runs, high) == pytest.approx(SEEN)
    ends = np.array([ends_at(wrong, runs, high, alpha / 2) for wrong in numbers])
    for rate in (alpha, 0.6 * high, 0.8 * high, high, 1.2 * high):
        counts, ended = left(rate, ends)
        assert 0 <= binom.sf(limit, runs, rate) - counts[limit + 1 :].sum() < 0.002
        if rate >= high:
            assert ended < MISSED
    # And where few are wrong, most counts end early.
    assert left(alpha / 5, ends)[1] > 0.99
    assert counted(lambda seed: False, runs, alpha=alpha) == (0, ends[0])
    assert ends[0] < 0.3 * runs
    every = -(-runs // limit)
    assert counted(lambda seed: seed % every == 0, runs, alpha=alpha) == (-(-runs // every), runs)


def ends_at(wrong, runs, high, usual):
    """After how many runs a count with so many wrong ones ends early; more than there are where it does not."""
    made = np.arange(wrong, runs + 1)
    low = np.flatnonzero(binom.logpmf(wrong, made, high) - binom.logpmf(wrong, made, usual) <= math.log(MISSED))
    return int(made[low[0]]) if len(low) else runs + 1


def left(rate, ends):
    """Probabilities of each number of wrong runs after all of them, and that the count has ended before."""
    counts, ended = np.zeros(len(ends)), 0.0
    counts[0] = 1.0
    for made in range(1, len(ends)):
        counts[1:], counts[0] = counts[1:] * (1 - rate) + counts[:-1] * rate, counts[0] * (1 - rate)
        ended += counts[made >= ends].sum()
        counts[made >= ends] = 0.0
    return counts, ended


class AnyTwoValues(dpaudit.Mechanism):
    """Generalized randomized response over 6 values: every pair of inputs meets the claim with equality."""

    def sample(self, data, size, rng):
        return (data + np.where(rng.random(size) < math.e / (math.e + 5), 0, rng.integers(1, 6, size))) % 6

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs(range(6), scope="all")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="c", statement="", epsilon=1.0)]


class Sum(AnyTwoValues):
    """Sum of a vector with Laplace noise: every pair of vectors that are one step apart in sum does."""

    def sample(self, data, size, rng):
        return np.sum(data) + rng.laplace(size=size)

    def neighbours(self):
        return dpaudit.Neighbouring.within(dpaudit.Vectors(length=3, low=0, high=4, step=1, norm="l1"))


@pytest.mark.slow
@pytest.mark.parametrize("target", [AnyTwoValues(), Sum()])
@pytest.mark.parametrize("stop_early", [False, True])
def test_false_refutations_of_a_search_over_pairs(target, stop_early, record_property, monkeypatch):
    for module in (choosing, counting, tasks):
        monkeypatch.setattr(module, "CHUNK", 1000)
    (claim,) = target.claims()
    budget = Budget(samples=5000, confidence=1 - ALPHA, stop_early=stop_early)
    wrong = counted(
        lambda seed: audit(target, claim, budget=budget, streams=Streams(seed)).verdict == "refuted",
        100,
        alpha=ALPHA,
    )
    what = f"search over pairs, {type(target).__name__}{', stopping early' * stop_early}"
    check_rate(record_property, what, *wrong)


@pytest.mark.slow
def test_false_refutations_of_a_whole_check(record_property):
    def is_wrong(seed):
        record = dpaudit.check(AnyTwoValues(), samples=2000, confidence=1 - ALPHA, seed=seed)
        return record.results[0].verdict == "refuted"

    wrong = counted(is_wrong, AUDITS, alpha=ALPHA)
    check_rate(record_property, "dpaudit.check, search over pairs", *wrong)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["beta", "bernoulli", "two points", "spike"])
def test_coverage_of_measured_means(name, record_property):
    draw, mean = {
        "beta": (lambda r: r.beta(2, 5, 60), 2 / 7),
        "bernoulli": (lambda r: r.random(60) < 0.07, 0.07),
        "two points": (lambda r: np.where(r.random(60) < 0.3, 0.9, 0.1), 0.34),
        "spike": (lambda r: np.where(r.random(60) < 0.02, 1.0, 0.0), 0.02),
    }[name]
    audits, missed = 400, 0
    for seed in range(audits):
        lower, _, upper = mean_interval(draw(np.random.default_rng(seed)), support=(0.0, 1.0), confidence=1 - ALPHA)
        missed += not lower <= mean <= upper
    check_rate(record_property, f"mean of {name}", missed, audits)


# Detection limit.


def at_limit(kind, epsilon):
    """Sampler for a pair of inputs whose true epsilon is the given one, its event as at the claim, and delta."""
    if kind == "randomized response":
        return lambda d, s, r: (r.random(s) < 1 / (1 + math.exp(epsilon))) ^ bool(d), 0.0
    if kind == "laplace":
        return lambda d, s, r: d * epsilon + r.laplace(size=s), 0.0
    if kind == "randomized response that leaks":
        return lambda d, s, r: np.where(
            r.random(s) < 0.05, 2 + d, (r.random(s) < 1 / (1 + math.exp(epsilon))) ^ bool(d)
        ), 0.05
    return table(grr(epsilon, 8)), 0.0


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["randomized response", "grr over 8 values", "laplace", "randomized response that leaks"]
)
def test_power_at_the_stated_detection_limit(kind, record_property):
    """A mechanism whose true epsilon is the limit stated for one that meets its claim is refuted."""
    claimed, samples, audits = 1.0, 20_000, 100

    def bound(epsilon, seed):
        sample, delta = at_limit(kind, epsilon)
        return dpaudit.epsilon_lower_bound(sample, 0, 1, delta=delta, samples=samples, seed=seed, claimed=claimed)

    limit = float(np.median([bound(claimed, seed).detection_limit for seed in range(9)]))
    assert claimed < limit < 2 * claimed
    missed, made = counted(lambda seed: bound(limit, 1000 + seed).epsilon <= claimed, audits, alpha=0.05)
    record_property("limit", limit)
    report(record_property, f"missed at the limit {limit:.4f} of {kind}", missed, made, 0.05)
    assert missed <= most(made, 0.05)


def test_the_limit_of_randomized_response_is_the_normal_approximation():
    """Independent of the auditor: the two-sample test of a log-ratio of rates."""
    samples, claimed, alpha, power = 200_000, 1.0, 0.001, 0.95
    bound = dpaudit.epsilon_lower_bound(
        at_limit("randomized response", claimed)[0], 0, 1, samples=samples, seed=1, claimed=claimed
    )
    p, q = 1 / (1 + math.exp(-claimed)), 1 / (1 + math.exp(claimed))
    spread = math.sqrt(1 / (0.8 * samples * p) + 1 / (0.8 * samples * q))
    nearest = claimed + (norm.isf(alpha) + norm.isf(1 - power)) * spread
    assert nearest < bound.detection_limit < claimed + 2.2 * (nearest - claimed)
