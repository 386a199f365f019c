import math

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from dpaudit.claims.guarantees import ApproximateDP
from dpaudit.statistics import (
    BY_RATIO,
    best_share,
    bound_from_counts,
    detection_limit,
    event_that_forces,
    forced_lower,
    log_ratio_lower,
    proportion_lower,
    proportion_upper,
)

FALSE_ALARM = 1e-6
SEED = 20240609
GRID = [(0.5, 0.5), (0.9, 0.9), (0.05, 0.05), (0.6, 0.2), (1.0, 0.4), (0.3, 0.0), (0.0, 0.0), (0.2, 0.6), (1.0, 1.0)]
ALPHAS = [0.4, 0.1, 0.01]


def true_epsilon(p, q, delta=0.0):
    if p <= delta:
        return 0.0
    return max(0.0, math.log((p - delta) / q)) if q > 0 else math.inf


@pytest.mark.parametrize(("p", "q"), GRID)
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("delta", [0.0, 0.1])
@pytest.mark.parametrize("trials", [(3, 3), (25, 25), (30, 8)])
def test_forced_lower_covers_exactly(p, q, alpha, delta, trials):
    hits_p, hits_q = np.arange(trials[0] + 1)[:, None], np.arange(trials[1] + 1)
    mass = binom.pmf(hits_p, trials[0], p) * binom.pmf(hits_q, trials[1], q)
    bound = forced_lower(ApproximateDP(0.0, delta), hits_p, trials[0], hits_q, trials[1], alpha=alpha)
    assert mass[bound > true_epsilon(p, q, delta)].sum() <= alpha


@pytest.mark.parametrize(("p", "q"), GRID)
@pytest.mark.parametrize("share", [0.05, 0.3, 0.95])
@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_forced_lower_covers_exactly_however_alpha_is_shared(p, q, share, delta):
    trials = (25, 30)
    hits_p, hits_q = np.arange(trials[0] + 1)[:, None], np.arange(trials[1] + 1)
    mass = binom.pmf(hits_p, trials[0], p) * binom.pmf(hits_q, trials[1], q)
    for alpha in ALPHAS:
        bound = forced_lower(ApproximateDP(0.0, delta), hits_p, trials[0], hits_q, trials[1], alpha=alpha, share=share)
        assert mass[bound > true_epsilon(p, q, delta)].sum() <= alpha


@pytest.mark.parametrize("share", [0.05, 0.3, 0.95])
def test_either_count_gets_its_share(share):
    low, high = proportion_lower(70, 100, 0.01 * share), proportion_upper(10, 90, 0.01 * (1 - share))
    bound = forced_lower(ApproximateDP(0.0, 0.1), 70, 100, 10, 90, alpha=0.01, share=share)
    assert bound == pytest.approx(math.log((low - 0.1) / high))


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.2), (0.3, 1e-3), (0.9, 0.5), (0.02, 1e-4), (0.06, 0.01), (0.05, 0.0)])
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_the_best_share_loses_next_to_nothing_against_all_shares(p, q, delta):
    trials, alpha = 100_000, 1e-3

    def bound(share):
        hits = round(p * trials), round(q * trials)
        return bound_from_counts(ApproximateDP(0.0, delta), hits, (trials, trials), alpha=alpha, share=share)

    # Chosen on a tenth of the trials, as the judging sample is smaller than the final one.
    counts = round(p * trials / 10), round(q * trials / 10), trials // 10
    chosen = bound(best_share(ApproximateDP(0.0, delta), *counts, alpha=alpha))
    assert chosen >= 0.99 * max(bound(share) for share in [BY_RATIO, *np.linspace(0.01, 0.99, 99)])
    assert chosen >= bound(0.5) * (1 - 1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.01, 0.1, 0.3])
@pytest.mark.parametrize(("p", "q"), [(0.4, 0.05), (0.9, 0.3), (0.5, 0.0), (0.32, 0.1)])
def test_a_bound_by_the_ratio_covers_where_coins_assign_the_trials(delta, p, q):
    trials, alpha = 10, 0.1
    guarantee = ApproximateDP(0.0, delta)
    truth = guarantee.forces(p, q) if q else math.inf
    wrong = 0.0
    for on_p in range(2 * trials + 1):
        chance = binom.pmf(on_p, 2 * trials, 0.5)
        for hits_p in range(on_p + 1):
            for hits_q in range(2 * trials - on_p + 1):
                sizes = (max(on_p, 1), max(2 * trials - on_p, 1))
                found = bound_from_counts(guarantee, (hits_p, hits_q), sizes, alpha=alpha, share=BY_RATIO)
                if found > truth:
                    hits = binom.pmf(hits_p, on_p, p) * binom.pmf(hits_q, 2 * trials - on_p, q)
                    wrong += chance * hits
    assert wrong <= alpha


def test_a_small_delta_costs_a_bound_next_to_nothing():
    hits, trials = (3000, 1000), (100_000, 100_000)
    pure, small = (ApproximateDP(0.0, delta) for delta in (0.0, 1e-6))
    share = best_share(small, 300, 100, 10_000)
    assert share == BY_RATIO
    two_bounds = bound_from_counts(small, hits, trials, share=0.5)
    by_ratio = bound_from_counts(small, hits, trials, share=share)
    assert two_bounds < by_ratio < bound_from_counts(pure, hits, trials) < by_ratio + 0.002


def test_the_best_share_stays_inside_of_its_limits():
    for counts in [(0, 0, 1), (0, 10, 10), (10, 0, 10), (10**6, 1, 10**6), (1, 10**6, 10**6)]:
        for delta in (0.0, 0.5):
            share = best_share(ApproximateDP(0.0, delta), *counts)
            assert share == BY_RATIO or 0.05 <= share <= 0.95


@pytest.mark.parametrize(("p", "q"), GRID)
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("trials", [1, 6, 20])
def test_conditional_bound_covers_exactly_when_coins_assign_the_trials(p, q, alpha, trials):
    missed = total = 0.0
    for to_p in range(trials + 1):
        hits_p, hits_q = np.arange(to_p + 1)[:, None], np.arange(trials - to_p + 1)
        mass = binom.pmf(to_p, trials, 0.5) * binom.pmf(hits_p, to_p, p) * binom.pmf(hits_q, trials - to_p, q)
        missed += mass[log_ratio_lower(hits_p, hits_q, alpha=alpha) > true_epsilon(p, q)].sum()
        total += mass.sum()
    assert total == pytest.approx(1)
    assert missed <= alpha


def test_conditional_bound_uses_its_alpha():
    """At p = q the error approaches alpha as the hits grow, rather than being far below it."""
    hits = np.arange(1001)
    mass = binom.pmf(hits, 1000, 0.5)
    missed = mass[log_ratio_lower(hits, 1000 - hits, alpha=0.05) > 0].sum()
    assert 0.04 < missed <= 0.05


def test_forced_lower_is_the_ratio_of_the_two_bounds():
    low, high = proportion_lower(70, 100, 0.005), proportion_upper(10, 90, 0.005)
    bound = forced_lower(ApproximateDP(0.0, 0.1), 70, 100, 10, 90, alpha=0.01)
    assert bound == pytest.approx(math.log((low - 0.1) / high))
    assert forced_lower(ApproximateDP(0.0), 50, 100, 50, 100, alpha=0.01) == 0


def test_conditional_bound_without_hits_says_nothing():
    assert log_ratio_lower(0, 0) == 0
    assert log_ratio_lower(5, 5) == 0
    share = 0.001 ** (1 / 40)
    assert log_ratio_lower(40, 0, alpha=0.001) == pytest.approx(math.log(share / (1 - share)))


def found_rate(rng, q, trials, claimed, epsilon, delta, alpha, repeats):
    """Share of simulated audits that refute the claim when the truth is ``epsilon``."""
    p = min(1.0, math.exp(epsilon) * q + delta)
    if delta == 0:
        to_p = rng.binomial(2 * trials, 0.5, repeats)
        bound = log_ratio_lower(rng.binomial(to_p, p), rng.binomial(2 * trials - to_p, q), alpha=alpha)
    else:
        hits = rng.binomial(trials, p, repeats), rng.binomial(trials, q, repeats)
        bound = forced_lower(ApproximateDP(0.0, delta), hits[0], trials, hits[1], trials, alpha=alpha)
    return np.mean(bound > claimed)


@pytest.mark.parametrize(
    ("q", "trials", "claimed", "delta"),
    [
        (0.3, 200, 0.2, 0.0),
        (0.4, 120, 0.1, 0.0),
        (0.6, 10_000, 0.434, 0.0),
        (0.01, 20_000, 1.0, 0.0),
        (0.05, 3000, 0.5, 0.02),
        (0.3, 400, 0.1, 0.1),
    ],
)
def test_a_violation_at_the_detection_limit_is_found_and_a_smaller_one_is_not(q, trials, claimed, delta):
    rng, repeats, alpha = np.random.default_rng(SEED), 20_000, 0.01
    limit = detection_limit(ApproximateDP(claimed, delta), q, trials, alpha=alpha)
    assert claimed < limit < math.inf
    power = found_rate(rng, q, trials, claimed, limit, delta, alpha, repeats)
    assert power * repeats >= binom.ppf(FALSE_ALARM, repeats, 0.95)
    smaller = claimed + 0.4 * (limit - claimed)
    assert found_rate(rng, q, trials, claimed, smaller, delta, alpha, repeats) < 0.5


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_detection_limit_falls_to_the_claim_with_more_trials(delta):
    limits = [detection_limit(ApproximateDP(0.5, delta), 0.1, 10**k, alpha=1e-3) for k in range(2, 9)]
    assert limits == sorted(limits, reverse=True)
    assert limits[-1] == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("q", "trials", "claimed", "delta"),
    [
        (0.0, 1000, 1.0, 0.0),
        (0.3, 3, 0.1, 0.0),
        (0.1, 1000, 0.0, 1.0),
    ],
)
def test_nothing_can_be_found_along_a_hopeless_event(q, trials, claimed, delta):
    assert detection_limit(ApproximateDP(claimed, delta), q, trials, alpha=1e-3) == math.inf


@pytest.mark.parametrize(("q", "claimed", "delta"), [(0.5, 1.0, 0.0), (0.7, 1.0, 0.0), (0.6, 0.0, 0.5)])
def test_an_event_too_likely_to_violate_the_claim_gives_way_to_that_of_randomized_response(q, claimed, delta):
    limit = detection_limit(ApproximateDP(claimed, delta), q, 10**6, alpha=1e-3)
    rarer = (1 - delta) / (1 + math.exp(limit))
    assert limit == pytest.approx(detection_limit(ApproximateDP(claimed, delta), rarer, 10**6, alpha=1e-3), abs=1e-5)


@pytest.mark.parametrize(
    ("q", "complement", "claimed", "delta"), [(1.0, 1e-3, 1.0, 0.0), (0.95, 0.04, 0.5, 0.1), (0.9, 0.1, 0.2, 0.0)]
)
def test_an_event_more_likely_than_that_of_randomized_response_gives_way_to_its_complement(
    q, complement, claimed, delta
):
    claim = ApproximateDP(claimed, delta)
    limit = detection_limit(claim, q, 10**5, complement=complement, alpha=1e-3)
    assert limit == pytest.approx(detection_limit(claim, complement, 10**5, alpha=1e-3), abs=1e-5)


def test_an_event_that_always_occurs_on_both_inputs_has_no_limit():
    """Its complement never occurs, so that neither forces anything."""
    assert detection_limit(ApproximateDP(1.0), 1.0, 10**6, alpha=1e-3) == math.inf
    # One that was not seen in 1000 outputs may be that likely.
    assert detection_limit(ApproximateDP(1.0), 1.0, 10**6, complement=1e-3, alpha=1e-3) > 1.0


EVENTS = [
    (q, complement, claimed)
    for q, complement in [(0.05, 0.95), (0.3, 0.6), (0.5, 0.5), (0.7, 0.2), (0.9, 0.1), (1.0, 0.05)]
    for claimed in (0.0, 0.4, 1.0)
]


def exact_power(p, q, trials, claimed, delta, alpha):
    """Probability that the counts refute the claim, summed over all of them."""
    if delta:
        hits = np.arange(trials + 1)
        chance = binom.pmf(hits[:, None], trials, p) * binom.pmf(hits, trials, q)
        counts = hits[:, None], trials, hits, trials
        return chance[forced_lower(ApproximateDP(0.0, delta), *counts, alpha=alpha) > claimed].sum()
    # Fair coins assign the trials: each is a hit on one input, a hit on the other, or none.
    hits_p, hits_q = np.arange(2 * trials + 1)[:, None], np.arange(2 * trials + 1)
    chance = multinomial.pmf(
        np.stack(np.broadcast_arrays(hits_p, hits_q, 2 * trials - hits_p - hits_q), axis=-1),
        2 * trials,
        [p / 2, q / 2, 1 - (p + q) / 2],
    )
    return chance[log_ratio_lower(hits_p, hits_q, alpha=alpha) > claimed].sum()


@pytest.mark.parametrize("delta", [0.0, 0.1])
@pytest.mark.parametrize(("q", "complement", "claimed"), EVENTS)
def test_the_event_of_a_detection_limit_exists_and_has_its_power_by_enumeration(q, complement, claimed, delta):
    trials, alpha, claim = 60, 0.1, ApproximateDP(claimed, delta)
    limit = detection_limit(claim, q, trials, complement=complement, alpha=alpha)
    assert claimed < limit < math.inf
    rarer = event_that_forces(claim, limit, q, complement)
    # Such an event exists where its probability on the other input is at most 1.
    forced = rarer * math.exp(limit) + delta
    assert forced <= 1 + 1e-9
    assert exact_power(min(forced, 1.0), rarer, trials, claimed, delta, alpha) >= 0.95 - 1e-9
    # The event at hand is left only where none of its probability could force so much, whatever p is.
    largest = max(true_epsilon(p, q, delta) for p in np.linspace(0.0, 1.0, 1001))
    assert (rarer == q) == (largest >= limit - 1e-9)
