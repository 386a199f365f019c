"""Bugs put into correct code, each with the check that catches it: the check passes before and fails after."""

import math
import sys
from functools import cache

import numpy as np
import pytest
from rates import counted, exceeding, most
from scipy.stats import binom, binomtest

import dpaudit
from dpaudit import randomizers
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.blackbox import choosing, counting, lower_bound, pair, tasks
from dpaudit.auditors.learning import counts
from dpaudit.auditors.learning.counts import Choice, ThresholdEvent
from dpaudit.auditors.learning.scores import ColumnScore
from dpaudit.auditors.learning.selection import Selection
from dpaudit.auditors.sampling.sampler import Sampler
from dpaudit.claims.guarantees import ApproximateDP
from dpaudit.statistics import forced_lower, log_ratio_lower

pytestmark = pytest.mark.slow

FALSE_ALARM = 1e-6
RR, LAP, DP = (dpaudit.load(name) for name in ("ldp-kwiksort-rr", "ldp-kwiksort-lap", "dp-kwiksort"))
MODULE = sys.modules[RR.__module__]
SETTING = {"epsilon": 1.0, "queries": 2, "alternatives": 3}


def verdict(report, **budget):
    claim = dpaudit.PrivacyClaim(id="c", statement="", epsilon=report.epsilon)
    return audit(report, claim, budget=Budget(**budget), streams=Streams(1)).verdict


@cache
def right_verdict(base, **budget):
    """The verdict on a report without a bug, which several bugs are put into."""
    return verdict(base(**SETTING), **budget)


def report_class(base, **methods):
    return type(f"Mutant{base.__name__}", (base,), methods)


def laplace_for(epsilon):
    noise = property(lambda self: randomizers.LaplaceNoise.for_epsilon(epsilon(self), sensitivity=1.0))
    return MODULE.LaplaceReport, {"noise": noise}


def response_for(epsilon, excess=0.0):
    def response(self):
        return randomizers.RandomizedResponse(randomizers.RandomizedResponse.for_epsilon(epsilon(self)).keep + excess)

    return MODULE.RandomizedResponseReport, {"response": property(response)}


REPORTS = {
    "halved noise": laplace_for(lambda report: 2 * report.epsilon / report.queries),
    "budget not split, laplace": laplace_for(lambda report: report.epsilon),
    "budget split over K - 1": laplace_for(lambda report: report.epsilon / (report.queries - 1)),
    "biased coin": response_for(lambda report: report.epsilon / report.queries, excess=0.02),
    "budget not split, response": response_for(lambda report: report.epsilon),
}


# The Laplace reports need a learned event.
LEARNED = [bug for bug in REPORTS if REPORTS[bug][0] is MODULE.LaplaceReport]


@pytest.mark.parametrize("bug", [pytest.param(b, marks=pytest.mark.slow if b in LEARNED[1:] else ()) for b in REPORTS])
def test_a_bug_in_the_local_randomizer_is_refuted_by_sampling(bug):
    base, methods = REPORTS[bug]
    assert right_verdict(base, samples=20_000, method="black-box") == "consistent"
    blind = {"law": lambda self, data: None}
    samples = 100_000 if base is MODULE.LaplaceReport else 400_000
    assert verdict(report_class(base, **methods, **blind)(**SETTING), samples=samples) == "refuted"


@pytest.mark.parametrize("bug", [pytest.param(b, marks=pytest.mark.slow if b in LEARNED[1:] else ()) for b in LEARNED])
def test_a_bug_that_the_law_shares_is_refuted_exactly(bug):
    base, methods = REPORTS[bug]
    assert right_verdict(base) == "proved"
    assert verdict(report_class(base, **methods)(**SETTING)) == "refuted"


@pytest.mark.parametrize("excess", [0.02, 0.04, 0.1])
def test_a_bug_that_the_law_does_not_share_is_refuted_by_samples(excess):
    """The law keeps to ϵ/K, the sampler does not: no proof comes of it."""
    base, methods = response_for(lambda report: report.epsilon / report.queries, excess)
    assert right_verdict(base) == "proved"
    assert verdict(report_class(base, **methods)(**SETTING)) == "refuted"


def test_one_query_more_than_the_budget_is_for():
    def more(self, size, rng):
        return dpaudit.rankings.random_subsets(self.pairs, self.queries + 1, size, rng)

    mutant = report_class(MODULE.RandomizedResponseReport, assign=more, law=lambda self, data: None)
    assert verdict(mutant(**SETTING), samples=100_000) == "refuted"


def test_a_comparison_the_wrong_way_round_shows_in_the_utility():
    setting = {"epsilon": 4.0, "alternatives": 5, "agents": 1474, "dispersion": 0.5, "queries": 2}

    def decide(protocol):
        target = protocol(**setting)
        claim = next(claim for claim in target.claims() if claim.id == "yan2020.theorem2")
        return audit(target, claim, budget=Budget(samples=200), streams=Streams(1)).verdict

    assert decide(RR) == "certified"
    assert decide(report_class(RR, votes=lambda self, answers: np.where(answers, -1.0, 1.0))) == "refuted"


def test_half_the_noise_in_the_central_protocol():
    right = {"epsilon": 1.0, "logarithm": "binary", "relation": "add-remove"}
    half = report_class(DP, noise=property(lambda self: randomizers.LaplaceNoise(math.log2(3) * 2 / self.epsilon / 2)))
    for protocol, expected in ((DP, "proved"), (half, "refuted")):
        target = protocol(**right)
        claim = next(claim for claim in target.claims() if claim.id == "yan2020.dp-kwiksort")
        evidence = audit(target, claim, budget=Budget(), streams=Streams(1))
        assert evidence.verdict == expected


# The auditor's own.


def splits_alpha(bound):
    """Whether each of the two counts has a bound at half of the error probability, as scipy computes them."""
    for hits_p, hits_q, delta, alpha in [(80, 20, 0.0, 0.1), (95, 3, 0.05, 0.01), (100, 0, 0.1, 0.3)]:
        # A two-sided interval spends half of alpha on each side.
        low = binomtest(hits_p, 100).proportion_ci(1 - alpha).low - delta
        high = binomtest(hits_q, 100).proportion_ci(1 - alpha).high
        if bound(ApproximateDP(0.0, delta), hits_p, 100, hits_q, 100, alpha=alpha) != pytest.approx(
            math.log(low / high), rel=1e-9
        ):
            return False
    return True


def test_alpha_not_split_between_the_two_bounds():
    """Enumeration cannot show it: unsplit, the two bounds together still err less than alpha where both counts vary."""

    def unsplit(*counts, alpha):
        return forced_lower(*counts, alpha=2 * alpha)

    assert splits_alpha(forced_lower)
    assert not splits_alpha(unsplit)


def test_the_conditional_bound_with_trials_assigned_by_coins():
    """Its error by enumeration over coins and counts; given the hits altogether, their split is binomial."""
    alpha, trials = 0.05, 30
    for p, q in [(0.9, 0.3), (0.5, 0.3), (0.5, 0.05), (0.1, 0.05)]:
        error = 0.0
        for given in range(2 * trials + 1):
            a, b = np.arange(given + 1)[:, None], np.arange(2 * trials - given + 1)
            mass = binom.pmf(a, given, p) * binom.pmf(b, 2 * trials - given, q) * binom.pmf(given, 2 * trials, 0.5)
            error += mass[log_ratio_lower(a, b, alpha=alpha) > math.log(p / q) + 1e-12].sum()
        assert error <= alpha


def laplace(data, size, rng):
    return data + rng.laplace(size=size)


def is_refuted(seed):
    return dpaudit.epsilon_lower_bound(laplace, 0.0, 1.0, samples=2000, confidence=0.95, seed=seed).epsilon > 1


@pytest.mark.slow
def test_judging_on_the_sample_that_chose_the_event_is_visible(monkeypatch, record_property):
    """The selection sample reused as the final one: the rate of false refutations leaves what alpha allows."""
    # A threshold that a smooth log-ratio advises hardly follows the luck of one sample.
    monkeypatch.setattr(counts, "fitted_curve", lambda cells, scores, estimates: None)
    fresh = Sampler.draw_once

    def reused(self, data, size, *purpose, **options):
        if purpose[0] == "final":
            # Numbers 666 to 1332 of the selection's stream chose the threshold.
            return self.draw(data, 666 + size, "selection", 0 if data == 0.0 else 1)[666:]
        return fresh(self, data, size, *purpose, **options)

    def plant():
        monkeypatch.setattr(Sampler, "draw_once", reused)
        monkeypatch.setattr(lower_bound, "drawn_again", lambda *_: None)
        monkeypatch.setattr(tasks, "_SELECTION_SHARE", 2 / 3)

    rate_check(record_property, "on the selection sample", is_refuted, plant, 200, 0.05)


def test_pilot_selection_and_final_samples_share_no_stream(monkeypatch):
    used = []
    generator = Streams.generator

    def recorded(self, *key):
        used.append((*self.key, *key))
        return generator(self, *key)

    monkeypatch.setattr(Streams, "generator", recorded)
    pairs = [(0.0, 1.0), (0.0, 0.5), (0.5, 1.0)]
    target = type(
        "Noisy",
        (dpaudit.Mechanism,),
        {
            "sample": lambda self, data, size, rng: laplace(data, size, rng),
            "neighbours": lambda self: dpaudit.Neighbouring(relation="r", pairs=pairs, complete=True, scope=""),
        },
    )()
    claim = dpaudit.PrivacyClaim(id="c", statement="", epsilon=1.0)
    audit(target, claim, budget=Budget(samples=200_000), streams=Streams(1))
    drawn = [key for key in used if key[0] != "determinism"]
    purposes = [key[0] for key in drawn]
    assert {"pilot", "selection", "final"} <= set(purposes)
    # Three pairs and then the better two, both inputs, which share a stream, since they are only compared.
    assert purposes.count("pilot") == 10
    assert len({key for key in drawn if key[0] == "pilot"}) == 5
    # Two sides of the selection; two of two final rounds, whose assignment is the auditor's own. Nothing is shared.
    assert purposes.count("selection") == 2
    assert purposes.count("final") == 4
    drawn = [*{key for key in drawn if key[0] == "pilot"}, *(key for key in drawn if key[0] != "pilot")]
    assert len(drawn) == len(set(drawn))
    states = [generator(Streams(1), *key).bit_generator.state["state"]["state"] for key in drawn]
    assert len(set(states)) == len(states)


def rate_check(record_property, what, is_wrong, plant, audits, alpha):
    """The rate stays under alpha as it is, and leaves what alpha allows of all audits with the bug."""
    honest, made = counted(is_wrong, audits, alpha=alpha)
    plant()
    mutant, of = exceeding(is_wrong, audits, alpha=alpha)
    record_property("honest", honest / made)
    record_property("mutant", mutant / of)
    print(f"false refutations: honest {honest} of {made}, {what} {mutant} of {of} (alpha {alpha:g})")
    assert honest <= most(made, alpha)
    assert mutant > most(audits, alpha)


def test_a_conditional_bound_on_trials_that_no_coins_assigned_is_visible(monkeypatch, record_property):
    """Equal inputs, and an event that always happens: equal numbers of trials are equal counts in every audit."""
    alpha, coins = 0.6, Sampler.coins

    def is_wrong(seed):
        bound = dpaudit.epsilon_lower_bound(
            lambda data, size, rng: np.zeros(size), 0, 1, samples=2000, confidence=1 - alpha, seed=seed
        )
        return bound.epsilon > 0

    class Half:
        def binomial(self, trials, share):
            return trials // 2

    def fixed(self, *purpose):
        return Half() if purpose == ("assignment",) else coins(self, *purpose)

    def plant():
        monkeypatch.setattr(Sampler, "coins", fixed)

    rate_check(record_property, "trials not assigned by coins", is_wrong, plant, 200, alpha)


def test_alpha_not_split_between_two_events_is_visible(monkeypatch, record_property):
    """Two outcomes that both meet the claim with equality, one of which is taken for a gamble."""
    alpha, count = 0.2, counting.EventCount
    laws = np.array([[0.4, 0.4, 0.2], [0.4 / math.e, 0.4 / math.e, 1 - 0.8 / math.e]])

    def sample(data, size, rng):
        return np.searchsorted(np.cumsum(laws[data])[:2], rng.random(size))

    def two(x, y, test):
        del x, y, test
        choices = [
            Choice(
                event=ThresholdEvent(ColumnScore(None, centre), 0.25, above=False),
                reverse=False,
                predicted=1.0,
                p_hits=40,
                q_hits=15,
                rows=100,
            )
            for centre in (0.0, 1.0)
        ]
        return Selection(main=choices[0], others=(choices[1],))

    monkeypatch.setattr(choosing, "select_events", two)

    def is_wrong(seed):
        return dpaudit.epsilon_lower_bound(sample, 0, 1, samples=2000, confidence=1 - alpha, seed=seed).epsilon > 1

    def plant():
        monkeypatch.setattr(pair, "EventCount", lambda choice, share_of_alpha: count(choice, alpha))

    rate_check(record_property, "alpha not split between two events", is_wrong, plant, 600, alpha)


def test_a_bound_for_one_time_at_every_look_is_visible(monkeypatch, record_property):
    alpha = 0.2
    for module in (choosing, counting, tasks):
        monkeypatch.setattr(module, "CHUNK", 10)

    def response(data, size, rng):
        return (rng.random(size) < 1 / (1 + math.exp(-1))) == bool(data)

    def is_wrong(seed):
        bound = dpaudit.epsilon_lower_bound(
            response, 0, 1, samples=1000, confidence=1 - alpha, seed=seed, claimed=1.0, stop_early=True
        )
        return bound.epsilon > 1

    def plant():
        monkeypatch.setattr(
            counting.EventCount, "anytime_bound", lambda self, guarantee, _: self.bound(guarantee, self.alpha)
        )

    # The bets leave half of the error probability to the looks, so that it takes more runs to see than one in five.
    rate_check(record_property, "a fixed bound at every look", is_wrong, plant, 400, alpha)
