"""Published numbers against measured ones whose truth is known."""

import numpy as np
import pytest
from scipy.stats import binom

import dpaudit
from dpaudit.auditors import Budget, Streams
from dpaudit.auditors.measures.figures import audit_figure

FALSE_ALARM = 1e-6


def decide(*, runs=20_000, seed=1, confidence=1 - FALSE_ALARM, **fields):
    claim = dpaudit.FigureClaim(**{"id": "f", "statement": "", "measure": coin(0.3), **fields})
    return audit_figure(claim, budget=Budget(samples=runs, confidence=confidence), streams=Streams(seed))


def coin(p):
    return lambda runs, rng: rng.random(runs) < p


def quotient(a, b):
    return lambda runs, rng: {"value": a + 0.01 * rng.random(runs), "over": b + 0.01 * rng.random(runs)}


@pytest.mark.parametrize(
    ("published", "tolerance", "verdict"),
    [(0.3, 0.05, "certified"), (0.3, 0.001, "consistent"), (0.35, 0.01, "refuted"), (0.2, 0.05, "refuted"),
     (0.31, 0.0, "consistent"), (None, 0.0, "inapplicable")],
)  # fmt: skip
def test_a_mean(published, tolerance, verdict):
    evidence = decide(published=published, tolerance=tolerance)
    assert evidence.verdict == verdict
    assert evidence.measured["value"].lower < 0.3 < evidence.measured["value"].upper
    assert (evidence.witness is not None) == (verdict == "refuted")
    if evidence.witness:
        assert evidence.witness.claimed == published
        assert abs(evidence.witness.measured - 0.3) < abs(published - 0.3)


@pytest.mark.parametrize(("published", "verdict"), [(50.0, "certified"), (51.5, "refuted"), (48.0, "refuted")])
def test_a_quotient_in_percent(published, verdict):
    evidence = decide(measure=quotient(0.2, 0.405), factor=100, published=published, tolerance=0.5)
    truth = 100 * 0.205 / 0.41
    value = evidence.measured["value"]
    assert value.lower < truth < value.upper
    assert evidence.verdict == verdict
    assert "over" not in evidence.measured


def test_a_negative_quotient_keeps_its_sides():
    value = decide(measure=quotient(-0.205, 0.405), support=(-1, 1), over_support=(0, 1)).measured["value"]
    assert value.lower < -0.2 / 0.41 < value.upper < 0


@pytest.mark.parametrize(
    ("direction", "bound", "tolerance", "verdict"),
    [("at-most", 0.5, 0.0, "certified"), ("at-most", 0.3, 0.0, "consistent"), ("at-most", 0.2, 0.0, "refuted"),
     ("at-most", 0.2, 0.15, "certified"), ("at-least", 0.2, 0.0, "certified"), ("at-least", 0.3, 0.0, "consistent"),
     ("at-least", 0.4, 0.0, "refuted"), ("at-least", 0.4, 0.05, "refuted")],
)  # fmt: skip
@pytest.mark.parametrize("timed", [False, True])
def test_an_inequality_is_open_to_one_side_and_no_time_certifies_it(direction, bound, tolerance, verdict, timed):
    evidence = decide(direction=direction, published=bound, tolerance=tolerance, timed=timed)
    assert evidence.verdict == ("consistent" if timed and verdict == "certified" else verdict)
    if verdict == "refuted":
        assert evidence.witness.claimed == bound
        assert (evidence.witness.measured > bound) == (direction == "at-most")
        assert evidence.witness.direction == direction


def test_times_alone_are_judged_by_nothing():
    evidence = decide(timed=True)
    assert evidence.verdict == "inapplicable"
    assert evidence.measured["value"].lower < 0.3 < evidence.measured["value"].upper


@pytest.mark.slow
def test_a_published_mean_of_few_runs_is_held_against_such_means():
    def decided(seed, runs=None):
        mean = float(np.mean(coin(0.3)(20, np.random.default_rng(seed)) + 0.001 * np.random.default_rng(1).random(20)))
        measure = lambda runs, rng: (rng.random(runs) < 0.3) + 0.001 * rng.random(runs)  # noqa: E731
        return decide(
            runs=2000, seed=seed, confidence=0.9, measure=measure, support=(0, 2), published=mean, published_runs=runs
        )

    verdicts = [decided(seed, 20).verdict for seed in range(200)]
    assert 0 < verdicts.count("refuted") <= binom.isf(FALSE_ALARM, 200, 0.15)
    assert [decided(seed).verdict for seed in range(200)].count("refuted") > 150
    measured = decided(1, 20).measured
    assert measured["mean of 20 runs"].lower < measured["value"].lower < measured["value"].upper
    spread = measured["mean of 20 runs"].upper - measured["mean of 20 runs"].lower
    assert spread == pytest.approx((measured["value"].upper - measured["value"].lower) * np.sqrt(1 + 2000 / 20))


@pytest.mark.parametrize("runs", [None, 30])
def test_a_quotient_of_few_runs(runs):
    evidence = decide(measure=quotient(0.2, 0.405), factor=100, published=51.0, tolerance=0.5, published_runs=runs)
    assert evidence.verdict == ("refuted" if runs is None else "consistent")


@pytest.mark.parametrize(("runs", "verdict"), [(30, "inconclusive"), (20_000, "consistent")])
def test_an_interval_that_tells_nothing_is_no_pass(runs, verdict):
    noisy = lambda runs, rng: rng.random(runs) - 0.4  # noqa: E731
    assert decide(runs=runs, published=0.1, measure=noisy, support=(-1, 1)).verdict == verdict
    assert decide(runs=runs, published=0.3, direction="at-most").verdict == verdict
    assert decide(runs=runs, published=0.3, direction="at-least", timed=True).verdict == verdict


def test_a_direction_that_does_not_exist():
    with pytest.raises(dpaudit.ParameterError, match="direction must be 'equal', 'at-most' or 'at-least'"):
        decide(direction="atmost", published=0.3)


def test_what_may_be_divided_by_zero_is_inconclusive():
    evidence = decide(measure=quotient(0.2, -0.005), over_support=(-1, 1), runs=100, published=1.0)
    assert evidence.verdict == "inconclusive"
    assert "may be 0" in evidence.note


@pytest.mark.slow
def test_false_refutations_stay_below_the_stated_rate():
    verdicts = [decide(runs=200, seed=seed, confidence=0.8, published=0.3).verdict for seed in range(300)]
    assert verdicts.count("refuted") <= binom.isf(FALSE_ALARM, 300, 0.2)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"published": np.nan}, "published"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"factor": 0.0}, "factor"),
        ({"support": (0.0, np.inf)}, "support"),
        ({"over_support": (1.0, 0.0)}, "support"),
        ({"direction": "at-most"}, "published"),
        ({"published_runs": 0}, "published_runs"),
        ({"timed": True, "published": 0.1}, "another machine"),
    ],
)
def test_unusable_claims_are_refused(fields, named):
    with pytest.raises(dpaudit.ParameterError, match=named):
        decide(**fields)


def test_values_outside_their_support_are_named():
    with pytest.raises(dpaudit.CheckError, match="'over' between"):
        decide(measure=quotient(0.2, 3.0))
