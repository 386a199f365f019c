"""Shuffled reports against enumeration of all reports, all inputs, and simulated shuffles."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import binom, binomtest, chisquare

import dpaudit
from dpaudit import laws, randomizers
from dpaudit.laws import FiniteLaw, Shuffle, compare

SEED = 20261121
FALSE_ALARM = 1e-6


def bits(zero, one):
    return [FiniteLaw.from_probabilities([0, 1], [1 - p, p]) for p in (zero, one)]


def three(keep):
    """Reports of one of three values, kept or replaced by another one."""
    rest = (1 - keep) / 2
    return [FiniteLaw.from_probabilities("abc", [keep if i == j else rest for j in range(3)]) for i in range(3)]


def neighbours(inputs, users):
    """All ordered pairs of data sets that differ in one user, as numbers of users with each input."""
    for others in itertools.product(range(users), repeat=inputs):
        if sum(others) == users - 1:
            for i, j in itertools.permutations(range(inputs), 2):
                yield (
                    tuple(np.add(others, np.eye(inputs, dtype=int)[i])),
                    tuple(np.add(others, np.eye(inputs, dtype=int)[j])),
                )


def brute_force(reports, data):
    """Law of the histogram, report by report."""
    users = [law for law, count in zip(reports, data, strict=True) for _ in range(count)]
    kinds = list(reports[0].outcomes)
    found = Counter()
    for sent in itertools.product(range(len(kinds)), repeat=len(users)):
        probability = math.prod(math.exp(law.log_probabilities[i]) for law, i in zip(users, sent, strict=True))
        found[tuple(sent.count(i) for i in range(len(kinds)))] += probability
    return found


def test_law_of_bits_is_that_of_all_reports():
    shuffle = Shuffle(bits(0.2, 0.7), 5)
    for zeros in range(6):
        exact = brute_force(shuffle.reports, (zeros, 5 - zeros))
        law = shuffle.law((zeros, 5 - zeros))
        for ones, value in zip(law.outcomes, law.log_probabilities, strict=True):
            assert math.exp(value) == pytest.approx(exact[5 - ones, ones], rel=1e-12)


def test_law_of_three_reports_is_that_of_all_reports():
    shuffle = Shuffle(three(0.5), 5)
    law = shuffle.law((2, 2, 1))
    exact = brute_force(shuffle.reports, (2, 2, 1))
    assert len(law.outcomes) == len(exact) == 21
    for histogram, value in zip(law.outcomes, law.log_probabilities, strict=True):
        assert math.exp(value) == pytest.approx(exact[histogram], rel=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_worst_case_of_bits_is_that_of_all_inputs(seed):
    rng = np.random.default_rng((SEED, seed))
    zero, one = rng.beta(0.5, 0.5, 2)
    users, delta = int(rng.integers(1, 9)), float(rng.choice([0.1, 1e-3, 1e-6, 1e-12]))
    shuffle = Shuffle(bits(zero, one), users)
    pairs = [compare(shuffle.law(p), shuffle.law(q)) for p, q in neighbours(2, users)]
    epsilon = float(rng.uniform() * abs(math.log(zero / one)))
    worst = shuffle.worst(epsilon)
    assert worst.delta == pytest.approx(max(pair.delta(epsilon).upper for pair in pairs), rel=1e-9, abs=1e-14)
    shown = compare(shuffle.law(worst.data), shuffle.law(worst.neighbour))
    assert shown.delta(epsilon).upper == pytest.approx(worst.delta, rel=1e-9, abs=1e-14)
    assert math.exp(worst.log_p) - math.exp(epsilon + worst.log_q) == pytest.approx(worst.delta, rel=1e-9, abs=1e-14)
    side, limit = next(iter(worst.event.items()))
    for data, log_probability in ((worst.data, worst.log_p), (worst.neighbour, worst.log_q)):
        law = np.exp(shuffle.law(data).log_probabilities)
        event = law[limit:] if side == "at least" else law[: limit + 1]
        assert event.sum() == pytest.approx(math.exp(log_probability), rel=1e-9, abs=1e-14)
    assert shuffle.epsilon(delta).epsilon == pytest.approx(max(pair.epsilon(delta).upper for pair in pairs), abs=1e-9)


@pytest.mark.slow
def test_worst_case_of_three_reports_is_that_of_all_inputs():
    shuffle = Shuffle(three(0.6), 4)
    pairs = [compare(shuffle.law(p), shuffle.law(q)) for p, q in neighbours(3, 4)]
    assert shuffle.worst(0.3).delta == pytest.approx(max(pair.delta(0.3).upper for pair in pairs), rel=1e-12)
    found = shuffle.epsilon(1e-3)
    assert found.epsilon == pytest.approx(max(pair.epsilon(1e-3).upper for pair in pairs), rel=1e-9)


def test_reports_that_say_the_same_are_merged_for_nothing():
    reports = [
        FiniteLaw.from_probabilities("abcd", [0.4, 0.2, 0.3, 0.1]),
        FiniteLaw.from_probabilities("abcd", [0.2, 0.4, 0.3, 0.1]),
    ]
    shuffle = Shuffle(reports, 6)
    merged = shuffle.merged()
    assert merged.outcomes == ["a", "b", ("c", "d")]
    assert merged.worst(0.2).delta == pytest.approx(shuffle.worst(0.2).delta, rel=1e-12)


def test_one_user_is_not_helped_and_no_shuffle_changes_the_largest_loss():
    response = randomizers.RandomizedResponse.for_epsilon(1.5)
    alone = randomizers.Shuffler(response).of(1)
    assert alone.worst(0.5).delta == pytest.approx(response.keep - math.exp(0.5) * response.flip)
    many = randomizers.Shuffler(response).of(9)
    assert compare(many.law((0, 9)), many.law((1, 8))).max_divergence() == pytest.approx(1.5)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_limit_of_randomized_response_whose_epsilon_grows_like_log_n(epsilon):
    """With ϵ0 = ϵ + log n the false reports are a Poisson number, and none is false with probability e^(-e^-ϵ)."""
    none = math.exp(-math.exp(-epsilon))
    for users in (1000, 100_000):
        response = randomizers.RandomizedResponse.for_epsilon(epsilon + math.log(users))
        worst = randomizers.Shuffler(response).of(users).worst(epsilon)
        assert none - 2 / users < worst.delta < 1
    assert laws.Shuffle([response.law(0), response.law(1)], users).divergence(
        (0, users), (1, users - 1), epsilon
    ).delta == pytest.approx(none, abs=1e-4)


@pytest.mark.slow
def test_100_000_users_in_time():
    shuffle = randomizers.Shuffler(randomizers.RandomizedResponse.for_epsilon(2.0)).of(100_000)
    found = shuffle.epsilon(1e-6)
    assert shuffle.worst(found.epsilon).delta == pytest.approx(1e-6, rel=1e-9)
    assert 0.02 < found.epsilon < 0.03


def direct_blanket(epsilon, local, users):
    """E[(L_1 + ... + L_N)_+] / (gamma n) as printed, with the two values of L for randomized response."""
    share, keep = 2 / (math.exp(local) + 1), 1 / (1 + math.exp(-local))
    high, low = 2 * (keep - math.exp(epsilon) * (1 - keep)), 2 * (1 - keep - math.exp(epsilon) * keep)
    total = 0.0
    for size in range(1, users + 1):
        j = np.arange(size + 1)
        gain = np.maximum(j * high + (size - j) * low, 0)
        total += binom.pmf(size, users, share) * float(binom.pmf(j, size, 0.5) @ gain)
    return total / (share * users)


@pytest.mark.parametrize("users", [1, 2, 16, 60])
@pytest.mark.parametrize("local", [0.3, 1.0, 3.0])
def test_privacy_blanket_is_the_printed_expectation(users, local):
    for epsilon in (0.0, 0.1 * local, 0.7 * local):
        found = laws.blanket_delta(epsilon, local, users)
        assert found == pytest.approx(direct_blanket(epsilon, local, users), rel=1e-9)
        exact = randomizers.Shuffler(randomizers.RandomizedResponse.for_epsilon(local)).of(users).worst(epsilon)
        bounds = [found, laws.clones_delta(epsilon, local, users), laws.blanket_hoeffding_delta(epsilon, local, users)]
        assert exact.delta <= min(bounds) * (1 + 1e-9)


def test_closed_bounds_lie_above_the_exact_epsilon():
    for users, local in ((1000, 0.2), (1000, 1.0), (10_000, 2.0)):
        exact = randomizers.Shuffler(randomizers.RandomizedResponse.for_epsilon(local)).of(users).epsilon(1e-6).epsilon
        clones, stronger = (bound(local, users, 1e-6) for bound in (laws.clones_epsilon, laws.stronger_clones_epsilon))
        assert exact < stronger < clones
    assert laws.clones_epsilon(5.0, 100, 1e-6) == math.inf
    # (e - 1) (4 sqrt(2 log 4e6 / ((e + 1) 1e4)) + 4 / 1e4) = 1.718282 * 0.114784.
    assert laws.stronger_clones_epsilon(1.0, 10_000, 1e-6) == pytest.approx(math.log(1 + 1.718282 * 0.114784), rel=1e-4)
    # (e - 1) / (e + 1) = 0.46212, 8 sqrt(e log 4e6 / 1e4) = 0.51426, 8 e / 1e4 = 0.0021746.
    assert laws.clones_epsilon(1.0, 10_000, 1e-6) == pytest.approx(math.log(1 + 0.46212 * 0.516434), rel=1e-4)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Shuffle(bits(0.2, 0.7)[:1], 3), "two inputs"),
        (lambda: Shuffle(bits(0.2, 0.7), 0), "users"),
        (lambda: Shuffle(bits(0.2, 0.7), 3).law((1, 1)), "3 in all"),
        (lambda: Shuffle(bits(0.2, 0.7), 3).worst(-1.0), "epsilon"),
        (lambda: Shuffle(bits(0.2, 0.7), 3).epsilon(0.0), "delta"),
        (lambda: Shuffle(bits(0.2, 0.7), 3).divergence((3, 0), (1, 2), 0.1), "one user"),
        (lambda: Shuffle(three(0.5), 5000).law((5000, 0, 0)), "too many histograms"),
        (lambda: Shuffle(three(0.5), 500).worst(0.1), "too many data sets"),
        (lambda: laws.clones_epsilon(-1.0, 10, 0.1), "local_epsilon"),
        (lambda: laws.clones_epsilon(1.0, 10, 0.0), "delta"),
        (lambda: laws.blanket_delta(0.1, 1.0, 0), "users"),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(dpaudit.DpauditError, match=message):
        make()


@pytest.mark.slow
@pytest.mark.parametrize("swapped", [False, True])
def test_exact_agrees_with_a_million_simulated_shuffles(swapped):
    """Reports of 16 agents, permuted one by one, at the paper's randomizer and the worst inputs that were found."""
    noise = randomizers.GaussianNoise.classical(0.25 + math.log(16), 1e-4, sensitivity=1.0)
    shuffler = randomizers.Shuffler(randomizers.Thresholded(noise))
    worst = shuffler.of(16).worst(0.25)
    data, log_probability = (worst.neighbour, worst.log_q) if swapped else (worst.data, worst.log_p)
    rng = np.random.default_rng((SEED, swapped))
    counts = np.zeros(17, dtype=np.int64)
    for _ in range(10):
        reports = shuffler.randomize(np.repeat([0, 1], data), 100_000, rng)
        counts += np.bincount(reports.sum(axis=1), minlength=17)
    law = np.exp(shuffler.of(16).law(data).log_probabilities)
    rare = law < 1e-5
    observed, expected = np.append(counts[~rare], counts[rare].sum()), np.append(law[~rare], law[rare].sum()) * 1e6
    assert chisquare(observed[expected > 0], expected[expected > 0]).pvalue > FALSE_ALARM / 2
    side, limit = next(iter(worst.event.items()))
    hits = int(counts[limit:].sum() if side == "at least" else counts[: limit + 1].sum())
    assert binomtest(hits, 1_000_000, math.exp(log_probability)).pvalue > FALSE_ALARM / 2
