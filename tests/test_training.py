"""Steps of noise on random batches, and verdicts on what accountants say of them."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

import dpaudit
from dpaudit import ApproximateDP, NoisySteps, PrivacyClaim, Verdict
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.laws import GaussianLaw, compare
from dpaudit.training import WITH, WITHOUT


def test_without_sampling_it_is_gaussian_noise():
    for relation, distance in (("add-remove", 1.0), ("substitution", 2.0)):
        steps = NoisySteps(noise_multiplier=3.0, rate=1.0, steps=25, relation=relation)
        truth = compare(GaussianLaw(5 * distance / 3, 1.0), GaussianLaw(0.0, 1.0)).epsilon(1e-6).lower
        assert steps.epsilon(1e-6).lower == pytest.approx(truth, rel=1e-12)


@pytest.mark.slow
def test_the_enclosures_of_relations_are_in_order():
    """One in a hundred records, 200 steps: replacing costs more than removing and at most twice going by the middle."""
    removed = NoisySteps(steps=50).epsilon(1e-5)
    replaced = NoisySteps(steps=50, relation="substitution").epsilon(1e-5)
    drawn = NoisySteps(steps=50, relation="substitution", sampling="without-replacement").epsilon(1e-5)
    assert removed.upper - removed.lower < 1e-3
    assert removed.upper < replaced.lower < replaced.upper
    assert replaced.lower < drawn.lower < drawn.upper


@pytest.mark.slow
@pytest.mark.parametrize(("multiplier", "rate"), [(1e6, 1e-9), (1e5, 1e-7), (1e4, 1e-6)])
def test_losses_that_double_precision_does_not_tell_apart_are_enclosed(multiplier, rate):
    """At delta 0.000001 epsilon is 0: the steps are about Gaussian noise with mu = rate sqrt(steps) / multiplier."""
    found = NoisySteps(noise_multiplier=multiplier, rate=rate, steps=10**7).epsilon(1e-6)
    assert found.lower == 0
    assert found.upper < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claimed", "verdict"), [(2.12, Verdict.REFUTED), (2.13, Verdict.PROVED), (math.inf, Verdict.PROVED)]
)
def test_verdicts_on_an_accountant(claimed, verdict):
    """The truth is 2.1245 (dp-accounting 0.6.0: at most 2.1246)."""
    found = NoisySteps().judge(claimed, 1e-6)
    assert found.verdict is verdict
    assert found.tightness.lower == pytest.approx(claimed / 2.1245, rel=1e-4)


@pytest.mark.slow
def test_a_claim_inside_the_enclosure_is_inconclusive():
    steps = NoisySteps(steps=50, relation="substitution")
    truth = steps.epsilon(1e-5)
    assert steps.judge((truth.lower + truth.upper) / 2, 1e-5).verdict is Verdict.INCONCLUSIVE


class Claimed(NoisySteps):
    """An accountant that says what it is told to say."""

    claimed: float = 2.13

    def claims(self):
        guarantee = ApproximateDP(self.claimed, 1e-6)
        return [PrivacyClaim(id="accountant.epsilon", statement="what it says", guarantee=guarantee)]


@pytest.mark.slow
@pytest.mark.parametrize(("claimed", "verdict"), [(2.12, Verdict.REFUTED), (2.13, Verdict.PROVED)])
def test_check_audits_an_accountant_like_any_claim(claimed, verdict):
    (result,) = dpaudit.check(Claimed(claimed=claimed), seed=1).results
    assert result.verdict is verdict
    assert result.measured["epsilon"].lower == pytest.approx(2.1245, abs=1e-3)


def test_what_has_no_known_pair_is_refused():
    with pytest.raises(dpaudit.ParameterError, match="without replacement"):
        NoisySteps(sampling="without-replacement")
    with pytest.raises(dpaudit.ParameterError, match="delta must be"):
        NoisySteps().epsilon(1.5)
    with pytest.raises(dpaudit.ParameterError, match="nan"):
        NoisySteps().judge(math.nan, 1e-5)


def test_the_examples_of_the_docstrings_run():
    import doctest

    from dpaudit import composition, training

    for module in (composition, training):
        found = doctest.testmod(module)
        assert found.attempted
        assert not found.failed


@pytest.mark.parametrize("order", [1.5, 2, 3, 7.5, 12])
def test_renyi_divergences_of_subsampled_steps_against_quadrature(order):
    rate, ratio, count = 0.05, 1 / 1.5, 7
    steps = NoisySteps(noise_multiplier=1.5, rate=rate, steps=count)

    def log_mixed(x):
        return np.logaddexp(math.log1p(-rate) - x * x / 2, math.log(rate) - (x - ratio) ** 2 / 2)

    def divergence(first, second):
        moment, _ = quad(
            lambda x: math.exp(order * first(x) + (1 - order) * second(x)) / math.sqrt(2 * math.pi),
            -25,
            35,
            points=[0.0, order * ratio],
            limit=400,
        )
        return count * math.log(moment) / (order - 1)

    def plain(x):
        return -x * x / 2

    removed, added = (compare(steps.law(x), steps.law(y)) for x, y in ((WITH, WITHOUT), (WITHOUT, WITH)))
    for comparison, truth in ((removed, divergence(log_mixed, plain)), (added, divergence(plain, log_mixed))):
        found = comparison.renyi(order)
        assert found.lower <= truth * (1 + 1e-9)
        assert truth * (1 - 1e-9) <= found.upper
    if order == int(order):
        assert removed.renyi(order).upper == pytest.approx(divergence(log_mixed, plain), rel=1e-9)


@pytest.mark.slow
def test_renyi_and_zcdp_claims_on_subsampled_steps_are_decided():
    def verdict(guarantee, **parameters):
        claim = dpaudit.PrivacyClaim(id="c", statement="It is private.", guarantee=guarantee)
        target = NoisySteps(noise_multiplier=1.5, rate=0.05, steps=7, **parameters)
        return audit(target, claim, budget=Budget(), streams=Streams(1)).verdict

    assert verdict(dpaudit.RenyiDP(3, 0.015146)) == "proved"
    assert verdict(dpaudit.RenyiDP(3, 0.015144)) == "refuted"
    # Large orders lose nothing by sampling, so that rho is that of all records in every step.
    rho = 7 / (2 * 1.5**2)
    assert verdict(dpaudit.ZeroConcentratedDP(rho * (1 + 1e-9))) == "proved"
    assert verdict(dpaudit.ZeroConcentratedDP(rho * 0.999)) == "refuted"
    with pytest.raises(dpaudit.CheckError, match=r"claim \(epsilon, delta\), a privacy profile or a trade-off"):
        verdict(dpaudit.ZeroConcentratedDP(rho), relation="substitution")
