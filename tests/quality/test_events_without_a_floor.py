"""What the black-box auditor must find: rare decisive events, and events of every shape, at modest budgets.

Every row names what a right auditor finds with a wide margin; the truth is the reader's to compute.
"""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors import Budget, Streams, audit

pytestmark = pytest.mark.slow


def structured(items):
    outputs = np.empty(len(items), dtype=object)
    outputs[:] = items
    return outputs


# Rare events: probability 1e-4 on the first input, none on the second.

RARE = 1e-4


def rarely(data, size, rng):
    """Where the leak shows."""
    return rng.random(size) < RARE * data


def atom(data, size, rng):
    return np.where(rarely(data, size, rng), 0.25, rng.laplace(size=size))


def far_tail(data, size, rng):
    return rng.laplace(size=size) + 1000 * rarely(data, size, rng)


def needle(data, size, rng):
    return np.where(rarely(data, size, rng), 3 + 1e-6 * rng.random(size), rng.laplace(size=size))


def outcome(data, size, rng):
    return np.where(rarely(data, size, rng), 444, rng.integers(0, 1000, size) ** 2)


def string(data, size, rng):
    names = np.array([f"user {i}" for i in range(1000)] + ["user 444a"])
    return names[np.where(rarely(data, size, rng), 1000, rng.integers(0, 1000, size))]


def coordinate(data, size, rng):
    rows = rng.normal(size=(size, 5))
    rows[rarely(data, size, rng), 3] = 1.0
    return rows


def far_coordinate(data, size, rng):
    rows = rng.normal(size=(size, 5))
    rows[:, 3] += 30 * rarely(data, size, rng)
    return rows


# At delta = 0 with about 80 hits against none: log(80 / 7) - 0.3 at confidence 0.999.
RARE_EVENTS = [atom, far_tail, needle, outcome, string, coordinate, far_coordinate]


@pytest.mark.parametrize(
    ("sample", "samples"), [(atom, 2_000_000), (far_tail, 2_000_000), (outcome, 2_000_000), (string, 1_000_000)]
)
def test_rare_decisive_events_are_found(sample, samples):
    bound = dpaudit.epsilon_lower_bound(sample, 1, 0, samples=samples, seed=1)
    # Of two million, some 160 occurrences against none give log(160 / 7) and a little less; a threshold in a tail lets
    # some others in.
    assert 1.5 < bound.epsilon < math.log(230 / 7 * samples / 2_000_000)
    assert not bound.reverse


@pytest.mark.slow
@pytest.mark.parametrize("sample", [coordinate, far_coordinate])
def test_rare_decisive_values_of_one_coordinate_are_found(sample):
    assert dpaudit.epsilon_lower_bound(sample, 1, 0, samples=2_000_000, seed=1).epsilon > 2.0


def test_rare_events_are_found_from_either_side():
    forth, back = (dpaudit.epsilon_lower_bound(atom, *pair, samples=1_000_000, seed=1) for pair in ((1, 0), (0, 1)))
    assert (forth.reverse, back.reverse) == (False, True)
    assert min(forth.epsilon, back.epsilon) > 1.5


def test_the_bound_of_an_infinite_epsilon_grows_with_the_budget():
    """Noise on one side only reaches beyond 1.5 with probability 0.05: no floor on q limits the bound."""

    def sample(data, size, rng):
        return rng.random(size) + (rng.random(size) < 0.05) * data

    budgets = [20_000, 200_000, 2_000_000]
    bounds = [dpaudit.epsilon_lower_bound(sample, 1, 0, samples=samples, seed=1).epsilon for samples in budgets]
    for samples, bound in zip(budgets, bounds, strict=True):
        # 0.8 of the samples decide; nothing in n trials bounds q by log(1000) / n.
        assert bound > math.log(0.8 * samples * 0.05 / math.log(1000)) - 1.5
    assert bounds[-1] > math.log(100) + 3


def test_an_event_of_probability_a_millionth_is_no_bar_to_a_large_bound():
    """Outputs that decide, one in 2^20 under the second input, as the first input's are all decisive."""

    def sample(data, size, rng):
        return rng.random((size, 20)) < (0.5 if data else 1.0)

    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=200_000, seed=1)
    assert bound.epsilon > math.log(160_000 / 7) - 0.5
    assert bound.hits[1] <= 5


# Events of every shape.


def two_sided(data, size, rng):
    """Wider noise: both tails decide, and neither half-line does."""
    return rng.normal(scale=1 + data, size=size)


def middle(data, size, rng):
    return np.where(rng.random(size) < 0.2 * data, rng.uniform(-0.1, 0.1, size), rng.uniform(-10, 10, size))


def xor(data, size, rng):
    """Either bit is fair; only both together tell."""
    bits = rng.random((size, 6)) < 0.5
    bits[:, 4] = bits[:, 1] ^ (rng.random(size) < (0.9 if data else 0.1))
    return bits


def xor_of_signs(data, size, rng):
    rows = rng.normal(size=(size, 4))
    rows[:, 2] = np.abs(rows[:, 2]) * np.sign(rows[:, 0]) * np.where(rng.random(size) < 0.8, 1, -1) * (2 * data - 1)
    return rows


def cumulative_sums(data, size, rng):
    """The tenth step is larger: nothing in any one sum, much in a difference."""
    steps = rng.laplace(size=(size, 12))
    steps[:, 9] += 2 * data
    steps[:, 0] += rng.normal(scale=50, size=size)
    return np.cumsum(steps, axis=1)


def weak_columns(data, size, rng):
    return 0.25 * data + rng.laplace(size=(size, 20))


def opposed_columns(data, size, rng):
    return 0.25 * data * np.where(np.arange(20) % 2, 1, -1) + rng.laplace(size=(size, 20))


BUCKETS, KEEP = 4, math.exp(2) / (math.exp(2) + 3)
TABLES = np.random.default_rng(0).integers(0, BUCKETS, (8, 1000))
"""Bucket of each of 8 values under each of 1000 hash functions."""


def local_hashing(data, size, rng):
    number = rng.integers(0, 1000, size)
    bucket = TABLES[data, number]
    other = (bucket + rng.integers(1, BUCKETS, size)) % BUCKETS
    return np.column_stack([TABLES[:, number].T, np.where(rng.random(size) < KEEP, bucket, other)])


FACTOR = np.linalg.cholesky(0.1 * np.eye(6) + 0.9)


def correlated(data, size, rng):
    """Noise that moves all numbers together hides a shift of one in each, but not in their differences."""
    rows = rng.normal(size=(size, 6)) @ FACTOR.T
    rows[:, 2] += 0.8 * data
    return rows


def hundred(data, size, rng):
    return 0.2 * data + rng.normal(size=(size, 100))


def ragged(data, size, rng):
    """Numbers of markers, and in one of the forms a number that tells."""
    lengths, values = rng.geometric(0.4, size), rng.laplace(size=size) + 2 * data
    return structured(
        [("below",) * int(n) + ((float(v),) if n < 3 else ("stop",)) for n, v in zip(lengths, values, strict=True)]
    )


def rankings(data, size, rng):
    """Items by noisy scores; those of the last two are the other way round."""
    scores = np.array([0.0, 0.0, 0.0, 1.0, -1.0] if data else [0.0, 0.0, 0.0, -1.0, 1.0])
    return np.argsort(scores + rng.gumbel(size=(size, 5)), axis=1)


def mixed(data, size, rng):
    return np.where(rng.random(size) < 0.3, -1.0, data + rng.laplace(size=size))


def normal_epsilon(distance, delta):
    return dpaudit.compare(dpaudit.GaussianLaw(distance, 1), dpaudit.GaussianLaw(0, 1)).epsilon(delta).upper


def mahalanobis(shift, covariance):
    return math.sqrt(shift @ np.linalg.solve(covariance, shift))


def plackett_luce_epsilon():
    """Noisy scores with Gumbel noise rank as Plackett and Luce's model does: the lowest of ``argsort`` comes last."""

    def probability(order, scores):
        weights = np.exp(scores[list(order)[::-1]])
        return math.prod(w / rest for w, rest in zip(weights, np.cumsum(weights[::-1])[::-1], strict=True))

    laws = [
        [probability(order, np.array(scores)) for order in permutations(range(5))]
        for scores in ([0, 0, 0, 1, -1], [0, 0, 0, -1, 1])
    ]
    assert sum(laws[0]) == pytest.approx(1)
    return float(np.abs(np.log(laws[0]) - np.log(laws[1])).max())


CORRELATED = normal_epsilon(mahalanobis(np.array([0, 0, 0.8, 0, 0, 0]), 0.1 * np.eye(6) + 0.9), 0.01)
# Sampler, samples, delta, the true epsilon, and what must be found of it.
SHAPES = {
    "both tails": (two_sided, 50_000, 0.0, math.inf, 3.0),
    "the middle": (middle, 50_000, 0.0, math.log((0.2 / 0.2 + 0.8 / 20) * 20), 2.5),
    "xor of two bits": (xor, 20_000, 0.0, math.log(9), 1.9),
    "xor of two signs": (xor_of_signs, 50_000, 0.0, math.log(4), 1.15),
    "differences of sums": (cumulative_sums, 50_000, 0.0, 2.0, 1.7),
    "20 weak columns": (weak_columns, 50_000, 0.0, 5.0, 1.9),
    "20 weak columns of both signs": (opposed_columns, 50_000, 0.0, 5.0, 1.8),
    "local hashing": (local_hashing, 50_000, 0.0, 2.0, 1.7),
    "correlated numbers": (correlated, 50_000, 0.01, CORRELATED, 0.55 * CORRELATED),
    "100 dimensions": (hundred, 20_000, 0.01, normal_epsilon(2.0, 0.01), 0.6 * normal_epsilon(2.0, 0.01)),
    "markers and a number": (ragged, 20_000, 0.0, 2.0, 1.5),
    "rankings": (rankings, 20_000, 0.0, plackett_luce_epsilon(), 2.7),
    "a number or a marker": (mixed, 50_000, 0.0, 1.0, 0.85),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=pytest.mark.slow if n in ("100 dimensions", "markers and a number") else ())
        for n in SHAPES
    ],
)
def test_events_of_every_shape_are_found(name):
    sample, samples, delta, true, least = SHAPES[name]
    # Of the others either input is the mirror image of the other one.
    for pair in ((0, 1), (1, 0)) if name in ("both tails", "the middle", "a number or a marker") else ((0, 1),):
        bound = dpaudit.epsilon_lower_bound(sample, *pair, delta=delta, samples=samples, seed=5)
        assert least < bound.epsilon <= true


# Stopping early.


def response(epsilon):
    return lambda data, size, rng: (rng.random(size) < 1 / (1 + math.exp(epsilon))) ^ bool(data)


@pytest.mark.parametrize(("sample", "delta"), [(response(2.0), 0.0), (lambda d, s, r: 2 * d + r.normal(size=s), 0.01)])
def test_a_false_claim_is_refuted_early(sample, delta):
    arguments = {"delta": delta, "samples": 2_000_000, "seed": 1, "claimed": 1.0}
    early, full = (dpaudit.epsilon_lower_bound(sample, 0, 1, stop_early=stop, **arguments) for stop in (True, False))
    assert early.stopped_early
    assert early.epsilon > 1.0
    # Violations as gross as these are found before the samples that choose an event are drawn.
    assert early.samples < 0.01 * full.samples
    assert not full.stopped_early
    assert full.epsilon > early.epsilon


def test_a_true_claim_gets_the_whole_budget_and_nearly_the_whole_bound():
    arguments = {"samples": 500_000, "seed": 1, "claimed": 1.0}
    early, full = (
        dpaudit.epsilon_lower_bound(response(1.0), 0, 1, stop_early=stop, **arguments) for stop in (True, False)
    )
    assert not early.stopped_early
    assert early.samples == full.samples == 1_000_000
    # Bets take 5,000 outputs per input, at most, from the final sample, and fair coins assign that to the inputs.
    assert sum(full.trials) - 10_000 <= sum(early.trials) < sum(full.trials)
    assert full.epsilon - 0.02 < early.epsilon <= 1.0


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_an_event_in_the_tail_stops_as_soon_as_it_proves_something(delta):
    bounds = [
        dpaudit.epsilon_lower_bound(
            lambda d, s, r: 3 * d + r.laplace(size=s),
            0,
            1,
            delta=delta,
            samples=1_000_000,
            seed=2,
            claimed=claimed,
            stop_early=True,
        )
        for claimed in (0.5, 2.0, 2.9)
    ]
    assert [bound.epsilon > claimed for bound, claimed in zip(bounds, (0.5, 2.0, 2.9), strict=True)][:2] == [True, True]
    assert bounds[0].samples <= bounds[1].samples <= bounds[2].samples


# Bits of floating-point numbers.


def naive_laplace(data, size, rng):
    """Inverse of the distribution function at a number of 53 bits."""
    u = rng.random(size) - 0.5
    return data - np.sign(u) * np.log(1 - 2 * np.abs(u))


def test_naive_laplace_noise_is_refuted_by_its_bits_alone():
    arguments = {"samples": 50_000, "seed": 1, "confidence": 1 - 1e-6}
    blind = dpaudit.epsilon_lower_bound(naive_laplace, 0.0, 1.0, **arguments)
    seeing = dpaudit.epsilon_lower_bound(naive_laplace, 0.0, 1.0, features="float-bits", **arguments)
    assert 0.8 < blind.epsilon <= 1.0
    assert seeing.epsilon > 3.0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rounded_to_a_grid_it_passes_again(seed):
    def rounded(data, size, rng):
        return np.round(naive_laplace(data, size, rng) * 2**10) / 2**10

    # Where an input and its noise fall on the grid alike, rounding to it is the same shift, and the law is private.
    bound = dpaudit.epsilon_lower_bound(
        rounded, 0.0, 1.0, samples=50_000, seed=seed, confidence=1 - 1e-6, features="float-bits"
    )
    assert 0.8 < bound.epsilon <= 1.0 + 1e-6


def test_bits_through_an_audit_of_a_mechanism():
    class Naive(dpaudit.Mechanism):
        def sample(self, data, size, rng):
            return naive_laplace(data, size, rng)

        def neighbours(self):
            return dpaudit.Neighbouring(relation="substitution", pairs=[(0.0, 1.0)], complete=False, scope="one pair")

        def claims(self):
            return [dpaudit.PrivacyClaim(id="naive", statement="", epsilon=1.0)]

    for features, verdict in (("none", "consistent"), ("float-bits", "refuted")):
        budget = Budget(samples=50_000, features=features)
        assert audit(Naive(), Naive().claims()[0], budget=budget, streams=Streams(1)).verdict == verdict


@pytest.mark.slow
@pytest.mark.parametrize("wrap", [Decimal, Fraction, lambda v: frozenset([v]), lambda v: ("x", complex(v, 0.0))])
def test_numbers_in_any_wrapping_are_numbers(wrap):
    def sample(data, size, rng):
        outputs = np.empty(size, dtype=object)
        outputs[:] = [wrap(v) for v in (data + rng.laplace(scale=0.25, size=size)).tolist()]
        return outputs

    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=10_000, seed=1)
    assert 2 < bound.epsilon <= 4
