"""Every verdict of the utility auditor on claims whose truth is known, in both directions."""

import math

import numpy as np
import pytest
from scipy.stats import binom

import dpaudit
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.measures.utility import audit_utility

FALSE_ALARM = 1e-6


def coin(p):
    return lambda runs, rng: rng.random(runs) < p


def decide(runs=2000, seed=1, method="auto", confidence=1 - FALSE_ALARM, **fields):
    claim = dpaudit.UtilityClaim(id="u", statement="", **fields)
    return audit_utility(
        claim, budget=Budget(samples=runs, confidence=confidence, method=method), streams=Streams(seed)
    )


CASES = [
    ("at-most", 0.5, 0.3, None, "certified"),
    ("at-most", 0.2, 0.3, None, "refuted"),
    ("at-most", 0.301, 0.3, None, "inconclusive"),
    ("at-most", 0.5, 0.3, 0.4, "vacuous"),
    ("at-most", 0.5, 0.3, 0.6, "certified"),
    ("at-most", 0.2, 0.3, 0.1, "refuted"),
    ("at-most", 1.0, 0.3, None, "vacuous"),
    ("at-least", 0.1, 0.3, None, "certified"),
    ("at-least", 0.5, 0.3, None, "refuted"),
    ("at-least", 0.301, 0.3, None, "inconclusive"),
    ("at-least", 0.1, 0.3, 0.2, "vacuous"),
    ("at-least", 0.1, 0.3, 0.05, "certified"),
    ("at-least", 0.0, 0.3, None, "vacuous"),
    ("at-least", -3.0, 0.3, None, "vacuous"),
]


@pytest.mark.parametrize(("direction", "bound", "truth", "trivial", "verdict"), CASES)
def test_measured(direction, bound, truth, trivial, verdict):
    evidence = decide(direction=direction, bound=bound, measure=coin(truth), trivial=trivial)
    assert evidence.verdict == verdict
    if "value" in evidence.measured:
        value = evidence.measured["value"]
        assert value.lower <= truth <= value.upper
        assert evidence.samples == 2000
        assert evidence.method == "simulation"
    if verdict == "refuted":
        assert evidence.witness.claimed == bound
        beyond = evidence.witness.measured - bound
        assert (beyond > 0) == (direction == "at-most")


@pytest.mark.parametrize(("direction", "bound", "truth", "trivial", "verdict"), CASES)
def test_exact(direction, bound, truth, trivial, verdict):
    expected = {"certified": "proved", "inconclusive": "proved" if direction == "at-most" else "refuted"}
    evidence = decide(direction=direction, bound=bound, exact=lambda: truth, trivial=trivial)
    assert evidence.verdict == expected.get(verdict, verdict)
    assert evidence.samples == 0


@pytest.mark.parametrize("direction", ["at-most", "at-least"])
def test_a_bound_met_with_equality_up_to_rounding_is_proved(direction):
    bound = 0.1 + 0.2
    assert decide(direction=direction, bound=bound, exact=lambda: 0.3).verdict == "proved"
    off = 0.3 * (1 + 1e-7) if direction == "at-most" else 0.3 * (1 - 1e-7)
    assert decide(direction=direction, bound=bound, exact=lambda: off).verdict == "refuted"


def test_slack_is_bound_over_value():
    slack = decide(bound=0.6, exact=lambda: 0.2).measured["slack"]
    assert slack.lower == slack.upper == pytest.approx(3)
    slack = decide(direction="at-least", bound=0.2, exact=lambda: 0.6).measured["slack"]
    assert slack.lower == slack.upper == pytest.approx(3)


def test_exact_decides_where_there_are_both_and_is_held_to_the_measurement():
    evidence = decide(bound=0.5, exact=lambda: 0.1, measure=coin(0.1))
    assert (evidence.verdict, evidence.method) == ("proved", "exact")
    with pytest.raises(dpaudit.CheckError, match=r"`exact` gives 0\.9, but `measure`"):
        decide(bound=0.5, exact=lambda: 0.9, measure=coin(0.1))
    assert decide(bound=0.5, exact=lambda: 0.9, method="black-box").verdict == "refuted"


@pytest.mark.parametrize("fields", [{"exact": lambda: 10.0}, {"measure": lambda n, r: np.full(n, 10.0)}])
def test_a_bound_that_nothing_can_violate_is_no_excuse_for_a_wrong_support(fields):
    with pytest.raises(dpaudit.CheckError, match="outside the declared support"):
        decide(bound=5.0, **fields)


def test_one_value_copied_is_not_many_runs():
    with pytest.raises(dpaudit.CheckError, match="independent runs"):
        decide(bound=0.6, measure=lambda n, r: np.full(n, r.random()))


def test_a_tiny_bound_is_no_excuse_for_a_larger_value():
    assert decide(bound=1e-20, exact=lambda: 1e-13).verdict == "refuted"
    assert decide(bound=1e-13, exact=lambda: 1e-20).verdict == "proved"


def test_a_bound_of_zero_is_met_up_to_rounding():
    assert decide(bound=0.0, exact=lambda: 0.1 + 0.2 - 0.3).verdict == "proved"


def test_inapplicable():
    claim = dpaudit.UtilityClaim(id="u", statement="", bound=0.5, inapplicable="n is too small")
    evidence = audit(None, claim, budget=Budget(), streams=Streams(1))
    assert (evidence.verdict, evidence.note) == ("inapplicable", "n is too small")


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        (lambda n, r: r.random(n + 1), "one real number per run"),
        (lambda n, r: r.random((n, 1)), "one real number per run"),
        (lambda n, r: 0.5, "one real number per run"),
        (lambda n, r: {"value": r.random(n), "other": r.random(2)}, "'other'"),
        (lambda n, r: {"other": r.random(n)}, "name the audited quantity 'value'"),
        (lambda n, r: {}, "name the audited quantity 'value'"),
        (lambda n, r: np.where(r.random(n) < 0.5, np.nan, 0.1), "not a finite number"),
        (lambda n, r: np.full(n, np.inf), "not a finite number"),
        (lambda n, r: 1.5 * r.random(n), "outside the declared support"),
        (lambda n, r: -r.random(n), "outside the declared support"),
        (lambda n, r: {"value": r.random(n), "beside": 3 * r.random(n)}, "'beside'"),
    ],
)
def test_measurements_that_are_none(measure, words):
    with pytest.raises(dpaudit.CheckError, match=words):
        decide(bound=0.5, measure=measure)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_exact_values_that_are_none(value):
    with pytest.raises(dpaudit.CheckError, match="not a finite number"):
        decide(bound=0.5, exact=lambda: value)


def test_beside_values_have_their_own_support_and_hold_together():
    def measure(runs, rng):
        return {"value": rng.random(runs) - 0.5, "one": rng.random(runs) < 0.2, "two": 5 * rng.random(runs)}

    evidence = decide(bound=0.2, measure=measure, support=(-1.0, 1.0), beside_support=(0.0, 5.0))
    assert evidence.verdict == "certified"
    for name, mean in (("value", 0.0), ("one", 0.2), ("two", 2.5)):
        interval = evidence.measured[name]
        assert interval.lower <= mean <= interval.upper
    alone = decide(bound=0.9, measure=lambda runs, rng: rng.random(runs) < 0.2).measured["value"]
    together = evidence.measured["one"]
    assert together.upper - together.lower > 1.02 * (alone.upper - alone.lower)


def test_equal_seeds_give_equal_intervals_and_runs_are_fresh():
    first, again, other = (decide(bound=0.5, measure=coin(0.3), seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    seen = []
    decide(bound=0.5, runs=1000, measure=lambda runs, rng: seen.append(rng.random()) or rng.random(runs))
    assert len(set(seen)) == len(seen) == 4


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["at-most", "at-least"])
def test_intervals_and_refutations_at_equality(direction, record_property):
    """The bound is met with equality: refuting it is a false alarm."""
    audits, alpha, truth = 1500, 0.1, 0.3
    wrong = missed = 0
    for seed in range(audits):
        evidence = decide(100, seed, confidence=1 - alpha, direction=direction, bound=truth, measure=coin(truth))
        wrong += evidence.verdict in ("refuted", "certified")
        value = evidence.measured["value"]
        missed += not value.lower <= truth <= value.upper
    record_property("missed", missed / audits)
    assert wrong <= missed <= binom.isf(FALSE_ALARM, audits, alpha)


def test_known_numbers_are_reported_beside_every_verdict():
    for bound in (0.1, 0.4, 2.0):
        evidence = decide(
            bound=bound,
            exact=lambda: 0.3,
            trivial=0.9,
            beside={"another method": 0.5},
            bounds={"of another paper": 0.7},
        )
        roles = {name: interval.role for name, interval in evidence.measured.items()}
        assert list(roles)[1:3] == ["another method", "of another paper"]
        assert roles["another method"] == "comparison"
        assert roles["of another paper"] == "bound"
        assert roles.get("trivial", "comparison") == "comparison"
        assert {roles[name] for name in ("value", "slack", "worst") if name in roles} == {"value"}
        assert evidence.measured["of another paper"] == dpaudit.Interval.exact(0.7, role=dpaudit.Role.BOUND)
    with pytest.raises(dpaudit.ParameterError, match="'slack'"):
        decide(bound=0.4, exact=lambda: 0.3, beside={"slack": 0.7})


def test_other_bounds_and_numbers_for_comparison_are_reported():
    evidence = decide(bound=0.5, measure=coin(0.3), beside={"simple": 0.4}, bounds={"trivial bound": 0.9})
    assert {"simple": 0.4, "trivial bound": 0.9}.items() <= {
        name: interval.lower for name, interval in evidence.measured.items()
    }.items()
