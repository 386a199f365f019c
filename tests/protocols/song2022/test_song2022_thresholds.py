"""Exact verdicts at parameters that no plan has, drawn around every threshold of a claim, against brute force."""

import dataclasses
import math
import sys

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import binom, norm

from dpaudit.auditors import Budget, Streams, audit
from dpaudit.catalog.song2022 import DDPHelnaksort, LDPQuickSort
from dpaudit.catalog.song2022.below_zero import ApproximateDPBelowZero, claimed_after_shuffling

SEED = 20261122


def anywhere(claim):
    """Return a claim at other values than its statement names, where it is measured all the same."""
    named = claim.inapplicable.startswith("it is about ")
    return dataclasses.replace(claim, inapplicable="") if named else claim


def decide(name, target=DDPHelnaksort, **parameters):
    made = target(**parameters)
    claim = next(claim for claim in made.claims() if claim.id == f"song2022.{name}")
    return audit(made, anywhere(claim), budget=Budget(samples=2000), streams=Streams(1))


def draws(number, *ranges):
    """Seeded parameters, each uniform in its range."""
    rng = np.random.default_rng([SEED, len(ranges), number])
    return [tuple(float(rng.uniform(low, high)) for low, high in ranges) for _ in range(number)]


def deviation(epsilon, delta, queries):
    return queries * math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def divergence_of_answers(epsilon, delta, queries):
    """Hockey-stick divergence at ϵ of K thresholded answers, by the number of false ones."""
    x = 0.5 / deviation(epsilon, delta, queries)
    true, false = log_ndtr(x), log_ndtr(-x)
    total = 0.0
    for wrong in range(queries + 1):
        log_p = (queries - wrong) * true + wrong * false
        log_q = wrong * true + (queries - wrong) * false
        total += math.comb(queries, wrong) * math.exp(log_p) * max(0.0, -math.expm1(epsilon + log_q - log_p))
    return total


def divergence_of_counts(keep, agents, epsilon):
    """Largest divergence of the number of ones over all inputs of n' agents, in both directions, for any sign of ϵ."""
    worst, level = 0.0, math.exp(epsilon)
    for ones in range(agents):
        others = np.convolve(
            binom.pmf(np.arange(ones + 1), ones, keep), binom.pmf(np.arange(agents - ones), agents - 1 - ones, 1 - keep)
        )
        p, q = np.convolve(others, [1 - keep, keep]), np.convolve(others, [keep, 1 - keep])
        worst = max(worst, np.maximum(p - level * q, 0).sum(), np.maximum(q - level * p, 0).sum())
    return worst


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "log_delta"), draws(8, (6.0, 11.0), (-6.0, -2.0)))
def test_gaussian_noise_around_the_epsilon_where_its_calibration_fails(epsilon, log_delta):
    delta = 10**log_delta
    ratio = 1 / deviation(epsilon, delta, 1)
    exact = norm.cdf(ratio / 2 - epsilon / ratio) - math.exp(epsilon) * norm.cdf(-ratio / 2 - epsilon / ratio)
    assert decide("gaussian-mechanism", epsilon=epsilon, delta=delta).verdict == (
        "refuted" if exact > delta else "proved"
    )
    assert decide("gaussian-mechanism-mended", epsilon=epsilon, delta=delta).verdict == "inapplicable"


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "log_delta"), draws(8, (0.9, 1.1), (-5.0, -2.0)))
def test_thresholded_answers_around_the_epsilon_where_they_lose_more(factor, log_delta):
    delta = 10**log_delta
    # Of large x, ln(Φ(x) / Φ(-x)) is about x^2 / 2, so that it passes ϵ near 8 times 2 ln(1.25 / δ).
    epsilon = factor * 16 * math.log(1.25 / delta)
    exact = divergence_of_answers(epsilon, delta, 1)
    verdict = "refuted" if exact > delta else "proved"
    assert decide("theorem3.1-local", epsilon=epsilon, delta=delta).verdict == verdict
    assert decide("ldp-quicksort", LDPQuickSort, epsilon=epsilon, delta=delta).verdict == verdict
    assert decide("theorem3.1-local-mended", epsilon=epsilon, delta=delta).verdict == "proved"


@pytest.mark.slow
@pytest.mark.parametrize(("share", "gap", "log_delta"), draws(12, (2.0, 24.0), (-0.4, 0.4), (-4.0, -0.5)))
def test_theorem_3_1_on_both_sides_of_the_logarithm(share, gap, log_delta):
    """Claimed ϵ of either sign, and δ both above and below what e^ϵ leaves."""
    agents, delta = 6 * round(share), 10**log_delta
    local = math.log(agents / 6) + gap
    if local <= 0:
        pytest.skip("no budget")
    keep = norm.cdf(0.5 / deviation(local, delta, 1))
    exact = divergence_of_counts(keep, agents // 6, gap)
    name, other = ("theorem3.1-central-negative", "theorem3.1-central")[:: 1 if gap < 0 else -1]
    evidence = decide(name, epsilon=local, agents=agents, delta=delta)
    assert decide(other, epsilon=local, agents=agents, delta=delta).verdict == "inapplicable"
    assert evidence.measured["delta"].lower == pytest.approx(exact, rel=1e-8, abs=1e-14)
    assert evidence.verdict == ("refuted" if exact > delta else "proved")
    if exact > delta:
        assert evidence.witness.p - math.exp(gap) * evidence.witness.q == pytest.approx(exact, rel=1e-8)
    assert decide("theorem3.1-central-mended", epsilon=local, agents=agents, delta=delta).verdict == "proved"


@pytest.mark.parametrize(("agents", "alternatives"), [(40, 9), (40, 10), (105, 15), (104, 15), (100, 15), (91, 14)])
def test_figure_4_around_as_many_agents_as_pairs(agents, alternatives):
    enough = agents >= math.comb(alternatives, 2)
    shared = {"central_epsilon": 0.7, "agents": agents, "alternatives": alternatives}
    assert decide("figure4-noise", **shared).verdict == ("proved" if enough else "refuted")
    assert decide("figure4-mended", **shared).verdict == ("proved" if enough else "inapplicable")


@pytest.mark.slow
@pytest.mark.parametrize("agents", [9_999, 10_000, 10_001])
def test_guessing_the_source_around_one_over_delta(agents):
    verdict = decide("source-unguessable", agents=agents).verdict
    assert verdict == ("refuted" if agents < 10_000 else "proved")


def test_quicksort_against_its_recursion():
    """Expected comparisons by c(m) = m - 1 + 2/m (c(0) + ... + c(m - 1)), which is 2 m ln m in the limit."""
    mean = [0.0]
    for m in range(1, 1025):
        mean.append(m - 1 + 2 * math.fsum(mean) / m)
    claim = next(each for each in LDPQuickSort().claims() if each.id == "song2022.quicksort-comparisons")
    assert [claim.exact(m) for m in (5, 64, 1024)] == pytest.approx([mean[5], mean[64], mean[1024]])
    ratios = [mean[m] / claim.shape(m) for m in (64, 1024)]
    assert ratios[0] < ratios[1] < 2
    assert decide("quicksort-comparisons", LDPQuickSort).verdict == "consistent"


@pytest.mark.slow
@pytest.mark.parametrize("central", [0.3, 0.69, 0.7, 1.0])
def test_the_rule_of_yan_by_either_epsilon(central):
    assert decide("yan-rule", central_epsilon=central).verdict == "proved"
    local = central + math.log(100 / 6)

    def g(k):
        return local**2 * k / (local + 2 * k) ** 2

    assert (g(2) > g(1)) == (decide("yan-rule-local", central_epsilon=central).verdict == "refuted")
    # Between 1 and 2 g is larger at 2 where the root of 2 is below half of ϵ.
    for epsilon in (2 * math.sqrt(2) - 1e-6, 2 * math.sqrt(2) + 1e-6):
        verdict = decide("yan-rule-local", epsilon=epsilon).verdict
        assert verdict == ("refuted" if epsilon > 2 * math.sqrt(2) else "proved")


def test_a_claim_below_zero_allows_what_its_definition_says():
    guarantee = claimed_after_shuffling(-1.0, 0.1)
    assert isinstance(guarantee, ApproximateDPBelowZero)
    assert guarantee.most(1.0) == pytest.approx(math.exp(-1) + 0.1)
    assert guarantee.forces(1.0, 1.0) == pytest.approx(1 - math.exp(-1))
    assert guarantee.exceeds(0.11)
    assert not guarantee.exceeds(0.1)
    assert str(guarantee) == "(-1, 0.1)-DP"
    assert str(claimed_after_shuffling(0.0, 0.1)) == "(0, 0.1)-DP"


@pytest.mark.slow
def test_a_budget_that_would_be_without_effect_is_an_error(monkeypatch, capsys):
    from dpaudit.cli import main

    words = ["check", "song2022.figure4-noise", "--set", "epsilon=2", "--workers", "1"]
    monkeypatch.setattr(sys, "argv", ["dpaudit", *words])
    with pytest.raises(SystemExit) as exit_:
        main()
    assert exit_.value.code == 2
    message = capsys.readouterr().err
    assert "'epsilon' (2)" in message
    assert "--set central_epsilon=null" in message
    assert "Traceback" not in message
