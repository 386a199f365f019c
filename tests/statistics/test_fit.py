import math

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from dpaudit.statistics import cdf_distance, cdf_shift, detectable_shifts, goodness_of_fit

FALSE_ALARM = 1e-6
SEED = 20240611
LEVEL = 1e-3
AGREEMENT = 5e-7  # the level at which dpaudit holds a sampler to its law
LAWS = {
    "uniform": np.full(24, 1 / 24),
    "skewed": np.geomspace(1, 1e-5, 12) / np.geomspace(1, 1e-5, 12).sum(),
    "rare": np.array([0.9999, 0.0001]),
    "with zeros": np.array([0.5, 0.0, 0.5, 0.0]),
}


@pytest.mark.parametrize("law", [(0.5, 0.5, 0.0), (0.2, 0.3, 0.5), (0.9, 0.09, 0.01)])
@pytest.mark.parametrize("samples", [1, 4, 20])
def test_size_is_at_most_the_level_by_enumeration(law, samples):
    law = np.array(law)
    outcomes = [(a, b, samples - a - b) for a in range(samples + 1) for b in range(samples + 1 - a)]
    values = np.array([goodness_of_fit(np.array(counts), law) for counts in outcomes])
    mass = multinomial.pmf(outcomes, samples, law)
    assert mass.sum() == pytest.approx(1)
    for value in values:
        assert mass[values <= value].sum() <= value * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [1e-5, 0.00025, 0.001, 0.03, 0.5])
def test_size_at_the_level_of_the_agreement_check(rate):
    samples = 20_000
    hits = np.arange(2000) if rate < 0.5 else np.arange(9000, 11_001)
    law = np.array([1 - rate, rate])
    values = np.array([goodness_of_fit(np.array([samples - k, k]), law) for k in hits])
    mass = binom.pmf(hits, samples, rate)
    assert mass.sum() > 1 - 1e-12
    assert mass[values <= AGREEMENT].sum() <= AGREEMENT


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_size_by_simulation(law):
    rng, repeats = np.random.default_rng(SEED), 3000
    counts = rng.multinomial(20_000, LAWS[law], repeats)
    rejected = sum(goodness_of_fit(row, LAWS[law]) <= LEVEL for row in counts)
    assert rejected <= binom.isf(FALSE_ALARM, repeats, LEVEL)


@pytest.mark.slow
@pytest.mark.parametrize("law", ["uniform", "skewed"])
def test_a_slightly_wrong_law_is_found(law):
    """A quarter of the second outcome's mass goes to the first."""
    wrong, samples, repeats = LAWS[law].copy(), 20_000, 300
    wrong[:2] += np.array([0.25, -0.25]) * wrong[1]
    counts = np.random.default_rng(SEED).multinomial(samples, wrong, repeats)
    found = sum(goodness_of_fit(row, LAWS[law]) <= AGREEMENT for row in counts)
    assert found >= 0.9 * repeats


def test_an_impossible_outcome_settles_it():
    assert goodness_of_fit(np.array([19_999, 1]), np.array([1.0, 0.0])) == 0


def test_a_rare_outcome_that_keeps_coming_is_found():
    assert goodness_of_fit(np.array([0, 1000]), np.array([1.0, 1e-300])) == 0
    assert goodness_of_fit(np.array([980, 20]), np.array([0.999, 0.001])) < 1e-12


def test_a_perfect_fit_is_no_evidence():
    assert goodness_of_fit(np.array([50, 50]), np.array([0.5, 0.5])) == 1
    assert goodness_of_fit(np.array([100]), np.array([1.0])) == 1
    assert goodness_of_fit(np.array([100, 0]), np.array([1.0, 0.0])) == 1


def test_p_value_of_a_coin_is_four_times_its_smaller_tail():
    expected = 4 * sum(math.comb(20, k) for k in range(4)) / 2**20
    assert goodness_of_fit(np.array([3, 17]), np.array([0.5, 0.5])) == pytest.approx(expected)


def found(law, true, samples, alpha, repeats=400):
    counts = np.random.default_rng(SEED).multinomial(samples, true, repeats)
    return np.mean([goodness_of_fit(row, law) <= alpha for row in counts])


@pytest.mark.parametrize("direction", ["up", "down"])
@pytest.mark.parametrize("place", [0, 3])
def test_a_detectable_shift_is_seen_with_that_power_and_half_of_it_is_not(direction, place):
    law, samples, alpha = np.array([0.5, 0.3, 0.15, 0.05]), 20_000, AGREEMENT
    up, down = detectable_shifts(law, samples, alpha=alpha, power=0.9)
    shift = up[place] if direction == "up" else -down[place]

    def moved(by):
        # The others keep their proportions, which is least conspicuous.
        true = law * (1 - (law[place] + by)) / (1 - law[place])
        true[place] = law[place] + by
        return true

    # Three standard errors of a simulation of 400 runs.
    assert found(law, moved(shift), samples, alpha) > 0.9 - 0.045
    assert found(law, moved(shift / 2), samples, alpha) < 0.5


def test_detectable_shifts_at_the_edges():
    up, down = detectable_shifts(np.array([1.0, 0.0]), 1000, alpha=AGREEMENT, power=0.9)
    # One occurrence of the impossible is enough, and misses a thousand samples with probability 0.1 at most.
    assert up[1] == pytest.approx(1 - 0.1 ** (1 / 1000))
    assert (up[0], down[1]) == (0, 0)
    # Ten samples show nothing at this level: the least p-value is above it.
    up, down = detectable_shifts(np.array([0.5, 0.5]), 10, alpha=AGREEMENT, power=0.9)
    assert up.tolist() == down.tolist() == [0.5, 0.5]


def test_more_outcomes_are_harder_to_see():
    shifts = []
    for outcomes in (2, 20, 200):
        law = np.full(outcomes, 0.5 / (outcomes - 1))
        law[0] = 0.5
        shifts.append(detectable_shifts(law, 100_000, alpha=AGREEMENT, power=0.9)[0][0])
    assert shifts == sorted(set(shifts))


@pytest.mark.slow
@pytest.mark.parametrize("samples", [3, 100, 10_000])
def test_distances_of_distribution_functions_have_their_size(samples):
    rng, repeats = np.random.default_rng(SEED), 400
    values = np.array([cdf_distance(each, each) for each in np.sort(rng.random((repeats, samples)), axis=1)])
    assert np.count_nonzero(values <= 0.05) <= binom.isf(FALSE_ALARM, repeats, 0.05)


def test_a_detectable_error_of_a_distribution_function_is_seen_with_that_power():
    samples, repeats = 5000, 300
    shift = cdf_shift(samples, alpha=AGREEMENT, power=0.9)
    # So much mass is moved from below 1/2 to above it.
    rng = np.random.default_rng(SEED)
    uniform = rng.random((repeats, samples))
    moved = np.sort(np.where((uniform < 0.5) & (rng.random(uniform.shape) < 2 * shift), uniform + 0.5, uniform), axis=1)
    assert np.mean([cdf_distance(each, each) <= AGREEMENT for each in moved]) > 0.9 - 0.052
    assert cdf_shift(1, alpha=AGREEMENT, power=0.9) == 1
