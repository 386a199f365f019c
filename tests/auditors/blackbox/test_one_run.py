"""Bounds from one run: scores of nothing, published bounds, choices that void the guarantee, calls that are refused."""

import numpy as np
import pytest
from scipy.stats import beta, binom, norm

import dpaudit
from dpaudit.auditors.blackbox.one_run import numbers_of_guesses
from dpaudit.statistics import epsilon_of_guesses, mu_of_guesses

RUNS, CONFIDENCE = 1000, 0.95
MOST_ABOVE_0 = int(binom.isf(1e-6, RUNS, 1 - CONFIDENCE))
"""So many of the runs with scores of nothing, or fewer, may give bounds above 0."""


def run(m, rng, *, mu=0.0):
    included = rng.random(m) < 0.5
    return mu * included + rng.normal(size=m), included


def right(scores, included, high, low):
    order = included[np.argsort(-scores)]
    return int(order[:high].sum() + (~order[len(order) - low :]).sum())


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"delta": 1e-4}, {"guarantee": "gaussian"}], ids=str)
def test_scores_of_nothing_give_0(options):
    rng = np.random.default_rng(5)
    runs = [run(m, rng) for m in (3, 40, 150, 400) for _ in range(RUNS // 4)]
    above = sum(dpaudit.one_run_bound(*each, confidence=CONFIDENCE, **options).value > 0 for each in runs)
    assert above <= (1 - CONFIDENCE) * RUNS < MOST_ABOVE_0


@pytest.mark.slow
def test_numbers_of_guesses_chosen_on_the_same_coins_void_the_bound():
    rng = np.random.default_rng(6)
    chosen = absolute = 0
    for _ in range(100):
        scores, included = run(200, rng)
        order = included[np.argsort(-scores)]
        high, low = np.cumsum(order), np.cumsum(~order[::-1])
        k = np.arange(1, 201)
        # As `epsilon_of_guesses` for every number of guesses: above 0 where a fair coin would rarely be so often right.
        least = min(binom.sf(high - 1, k, 0.5).min(), binom.sf(low - 1, k, 0.5).min())
        chosen += min(least, binom.sf(high[:100] + low[:100] - 1, 2 * k[:100], 0.5).min()) < 0.05
        absolute += absolute_mu(scores, included) > 1
    # 100 draws with a probability of 0.05 are above 22 less than once in 10^6 times.
    assert binom.sf(22, 100, 0.05) < 1e-6
    assert chosen > 22
    # The other fault that gives 3.5 on scores of nothing: the sign of a bound below 0 is dropped (jax_privacy PR 270).
    assert absolute == 100


def absolute_mu(scores, included):
    """|isf(FPR) - ppf(FNR)| with Clopper-Pearson limits of both, at the best threshold: no lower bound."""

    def upper(k, n):
        return np.where(k < n, beta.ppf(1 - 0.05 / 2 / len(scores), k + 1, np.maximum(n - k, 1)), 1.0)

    cuts = np.sort(scores)
    false_in = upper((scores[~included][:, None] >= cuts).sum(axis=0), np.count_nonzero(~included))
    false_out = upper((scores[included][:, None] < cuts).sum(axis=0), np.count_nonzero(included))
    usable = (false_in < 1) & (false_out < 1)
    return float(np.max(np.abs(norm.isf(false_in[usable]) - norm.ppf(false_out[usable]))))


def test_a_given_number_of_guesses_gives_the_published_bound():
    scores, included = run(1000, np.random.default_rng(7), mu=2.0)
    for guesses, (high, low) in ((100, (50, 50)), (33, (17, 16)), ((40, 0), (40, 0)), ((0, 70), (0, 70))):
        number = right(scores, included, high, low)
        bound = dpaudit.one_run_bound(scores, included, delta=1e-5, guesses=guesses, confidence=0.95)
        assert (bound.guesses, bound.right, bound.tried) == ((high, low), number, 1)
        assert bound.epsilon == epsilon_of_guesses(number, high + low, 1000, delta=1e-5, alpha=0.05) > 1
        assert bound.mu is None
        of_mu = dpaudit.one_run_bound(scores, included, guarantee="gaussian", guesses=guesses, confidence=0.95)
        assert of_mu.mu == mu_of_guesses(number, high + low, 1000, alpha=0.05) > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"delta": 1e-5}, {"guarantee": "gaussian"}], ids=str)
def test_the_default_numbers_are_nearly_as_good_as_the_best(options):
    rng = np.random.default_rng(8)
    for m, mu in ((200, 1.5), (1000, 1.0), (1000, 2.0)):
        runs = [run(m, rng, mu=mu) for _ in range(8)]
        found = [dpaudit.one_run_bound(*each, confidence=0.95, **options).value for each in runs]
        # The number that would have been best on average over these runs, which nobody knows beforehand.
        fixed = [
            np.mean([dpaudit.one_run_bound(*each, confidence=0.95, guesses=k, **options).value for each in runs])
            for k in (m // 50, m // 12, m // 6, m // 3, m)
        ]
        assert np.mean(found) > 0.8 * max(fixed)
        true = mu if options.get("guarantee") else {1.0: 4.37, 1.5: 7.05, 2.0: 9.99}[mu]
        assert max(found) <= true


def test_what_is_told():
    scores, included = run(400, np.random.default_rng(9), mu=3.0)
    bound = dpaudit.one_run_bound(scores, included, delta=1e-6)
    assert (bound.canaries, bound.included, bound.tried) == (400, included.sum(), 4)
    assert bound.guesses in [guesses for guesses, _ in numbers_of_guesses(400)]
    assert bound.right == right(scores, included, *bound.guesses)
    assert 0 < bound.value < bound.outlook < 18.2
    assert bound.value < bound.ceiling
    assert dpaudit.one_run_bound(list(scores), included.astype(int).tolist(), delta=1e-6) == bound
    # All guesses right reach the ceiling.
    sure = dpaudit.one_run_bound(included, included, confidence=0.95, guesses=150)
    assert sure.value == sure.ceiling > 3


@pytest.mark.parametrize("m", [1, 2, 3, 10, 50, 1000, 10**6])
def test_the_default_numbers(m):
    tried = numbers_of_guesses(m)
    assert sum(share for _, share in tried) == pytest.approx(1, abs=1e-12)
    assert sum(share for _, share in tried) <= 1 + 1e-12
    assert all(1 <= high + low <= m for (high, low), _ in tried)


def test_the_order_of_equal_scores_says_nothing():
    included = np.arange(2000) < 1000
    for flipped in (included, ~included):
        assert dpaudit.one_run_bound(np.zeros(2000), flipped, guesses=1000, confidence=0.95).value == 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scores": [[1.0], [2.0]]}, "shape"),
        ({"scores": ["a", "b"]}, "numbers"),
        ({"scores": [1.0, np.nan]}, "canary 1 is NaN"),
        ({"scores": [1.0]}, "shape"),
        ({"scores": [], "included": []}, "no canaries"),
        ({"included": [0, 2]}, "true or false"),
        ({"included": ["in", "out"]}, "true or false"),
        ({"scores": np.arange(100), "included": np.ones(100)}, "fair coin"),
        ({"delta": 1.0}, "delta"),
        ({"delta": 0.1, "guarantee": "gaussian"}, "no delta"),
        ({"confidence": 1.0}, "confidence"),
        ({"guarantee": "renyi"}, "approximate, gaussian"),
        ({"guesses": 3}, "between 1 and the 2"),
        ({"guesses": (0, 0)}, "guesses"),
        ({"guesses": (-1, 2)}, "guesses"),
        ({"guesses": True}, "guesses"),
        ({"guesses": 1.5}, "guesses"),
        ({"seed": -1}, "seed"),
    ],
    ids=str,
)
def test_refused_calls(changed, message):
    options = {"scores": [0.5, 1.0], "included": [True, False]} | changed
    with pytest.raises(dpaudit.ParameterError, match=message):
        dpaudit.one_run_bound(options.pop("scores"), options.pop("included"), **options)


@pytest.mark.parametrize("times", [2, 20])
def test_canaries_that_are_listed_several_times_are_refused(times):
    """Scores of nothing, once for every epoch, gave bounds above 0 in every second run."""
    rng = np.random.default_rng(4)
    scores, included = rng.normal(size=100), rng.integers(0, 2, 100)
    with pytest.raises(dpaudit.DpauditError, match="give one row per canary"):
        dpaudit.one_run_bound(np.tile(scores, times), np.tile(included, times), delta=1e-5)
    limited = np.minimum(scores, 0.123456789012)
    with pytest.raises(dpaudit.DpauditError, match="give one row per canary"):
        dpaudit.one_run_bound(np.tile(limited, times), np.tile(included, times), delta=1e-5)


def test_equal_scores_of_different_canaries_are_none_of_one():
    rng = np.random.default_rng(5)
    included = rng.integers(0, 2, 1000)
    for scores in (
        (rng.normal(size=1000) + 4 * included).round(2),
        np.minimum(rng.normal(size=1000), 0.123456789012),
        included / 7,
        (rng.integers(0, 40, 1000) + included) / 7,
    ):
        assert dpaudit.one_run_bound(scores, included, delta=1e-5).canaries == 1000
