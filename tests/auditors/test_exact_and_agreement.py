"""The exact auditor against brute force over events, and laws that their samplers do not follow."""

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import binom

import dpaudit
from dpaudit.auditors import Budget, Streams, audit

FALSE_ALARM = 1e-6
OUTCOMES = np.arange(5)


class Table(dpaudit.Mechanism):
    """One of three laws on five outcomes; the sampler may follow others."""

    epsilon: float = dpaudit.parameter(1.0)
    seed: int = dpaudit.parameter(0)
    wrong: float = dpaudit.parameter(0.0)
    complete: bool = dpaudit.parameter(True)

    def laws(self):
        return np.random.default_rng(self.seed).dirichlet(np.full(5, 3.0), 3)

    def law(self, data):
        return dpaudit.FiniteLaw.from_probabilities(OUTCOMES, self.laws()[data])

    def sample(self, data, size, rng):
        p = self.laws()[data]
        moved = p[0] * self.wrong
        return rng.choice(OUTCOMES, size, p=p + np.array([-moved, moved, 0, 0, 0]))

    def neighbours(self):
        pairs = [(0, 1), (0, 2), (1, 2)]
        return dpaudit.Neighbouring(relation="any", pairs=pairs, complete=self.complete, scope="all three")


class Noise(dpaudit.Mechanism):
    """Laplace noise; its law understates or overstates the scale."""

    epsilon: float = dpaudit.parameter(1.0)
    actual: float = dpaudit.parameter(1.0, doc="epsilon of the sampler")

    def law(self, data):
        return dpaudit.LaplaceLaw(float(data), 1 / self.epsilon)

    def sample(self, data, size, rng):
        return data + rng.laplace(scale=1 / self.actual, size=size)

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0.0, 1.0], scope="both")


def decide(target, epsilon=None, delta=0.0, seed=1, **budget):
    claim = dpaudit.PrivacyClaim(
        id="p", statement="", epsilon=target.epsilon if epsilon is None else epsilon, delta=delta
    )
    return audit(target, claim, budget=Budget(**budget), streams=Streams(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("delta", [0.0, 0.02, 0.2])
def test_exact_is_the_worst_event_of_the_worst_pair(seed, delta):
    target = Table(seed=seed)
    laws = target.laws()
    events = [list(e) for size in range(1, 6) for e in itertools.combinations(range(5), size)]
    worst = 0.0
    for p, q in itertools.permutations(laws, 2):
        for event in events:
            if p[event].sum() > delta:
                worst = max(worst, math.log((p[event].sum() - delta) / q[event].sum()))
    evidence = decide(target, epsilon=10.0, delta=delta)
    assert evidence.verdict == "proved"
    assert evidence.measured["epsilon"].lower == pytest.approx(worst, abs=1e-9)
    assert evidence.measured["epsilon"].upper == pytest.approx(worst, abs=1e-9)
    at = decide(target, epsilon=worst * (1 + 1e-12), delta=delta)
    assert at.verdict == "proved"
    if delta > 0:
        claimed = worst * 0.7
        excess = max(
            p[event].sum() - math.exp(claimed) * q[event].sum()
            for p, q in itertools.permutations(laws, 2)
            for event in events
        )
        below = decide(target, epsilon=claimed, delta=delta)
        assert below.measured["delta"].lower == pytest.approx(excess)
    else:
        below = decide(target, epsilon=worst * 0.999)
    assert below.verdict == "refuted"
    witness = below.witness
    chosen = witness.event if isinstance(witness.event, list) else [witness.event]
    assert laws[witness.data][chosen].sum() == pytest.approx(witness.p)
    assert laws[witness.neighbour][chosen].sum() == pytest.approx(witness.q)
    assert witness.p - math.exp(below.measured["epsilon"].lower * 0.99) * witness.q > (delta if delta == 0 else -1)


def test_pairs_that_are_not_all_only_certify():
    assert decide(Table(complete=False), epsilon=10.0).verdict == "certified"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("delta", [0.0, 0.02])
def test_black_box_agrees_with_exact(seed, delta):
    target = Table(seed=seed)
    exact = decide(target, epsilon=10.0, delta=delta).measured["epsilon"].upper
    sampled = decide(
        target, epsilon=exact, delta=delta, samples=200_000, method="black-box", confidence=1 - FALSE_ALARM
    )
    assert sampled.verdict == "consistent"
    assert 0.8 * exact <= sampled.measured["epsilon"].lower <= exact


@pytest.mark.parametrize("wrong", [0.2, 0.8, -0.2])
def test_a_sampler_that_does_not_follow_its_finite_law(wrong):
    with pytest.raises(dpaudit.CheckError, match="does not follow `law`"):
        decide(Table(wrong=wrong), epsilon=10.0)


def test_a_sampler_with_an_outcome_that_the_law_lacks():
    class Extra(Table):
        def sample(self, data, size, rng):
            return np.where(rng.random(size) < 0.001, 9, super().sample(data, size, rng))

    with pytest.raises(dpaudit.CheckError, match="does not follow `law`"):
        decide(Extra(), epsilon=10.0)


@pytest.mark.slow
@pytest.mark.parametrize("actual", [1.4, 2.0])
def test_a_law_of_numbers_that_understates_the_leakage(actual):
    evidence = decide(Noise(actual=actual))
    assert (evidence.verdict, evidence.method) == ("refuted", "black-box")
    assert "does not follow `law`" in evidence.note


@pytest.mark.slow
def test_a_law_of_numbers_that_overstates_the_leakage():
    with pytest.raises(dpaudit.CheckError, match="does not follow `law`"):
        decide(Noise(actual=0.5))


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("base", [Table, Noise])
def test_a_sampler_that_is_wrong_on_one_input_only(base, side):
    """Too little for any search of a violation, and right on the other input."""

    class OneSided(base):
        def sample(self, data, size, rng):
            outputs = super().sample(data, size, rng)
            if data != side:
                return outputs
            return outputs + 0.05 if base is Noise else np.where(rng.random(size) < 0.05, 0, outputs)

        def neighbours(self):
            return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="both")

    with pytest.raises(dpaudit.CheckError, match=rf"does not follow `law` for the input {side}\b"):
        decide(OneSided(), epsilon=10.0)


@pytest.mark.slow
def test_the_result_says_which_error_of_the_sampler_would_have_been_seen():
    measured = decide(Table(), epsilon=10.0).measured
    shift, variation = measured["detectable_shift"].upper, measured["detectable_variation"].upper
    assert 0 < shift < 0.02
    assert shift < variation < 5 * shift
    # A law of numbers is held to its distribution function, by which not every difference shows.
    numeric = decide(Noise()).measured
    assert 0 < numeric["detectable_shift"].upper < 0.02
    assert "detectable_variation" not in numeric
    assert not any(name.startswith("detectable") for name in decide(Noise(), method="black-box").measured)


@pytest.mark.slow
def test_over_two_thousand_outcomes_a_variation_of_one_per_cent_is_not_seen():
    class Wide(dpaudit.Mechanism):
        """Two thousand outcomes, of which one is twice as likely."""

        def law(self, data):
            weights = np.ones(2000)
            weights[int(data)] = 2
            return dpaudit.FiniteLaw.from_probabilities(np.arange(2000), weights / weights.sum())

        def sample(self, data, size, rng):
            drawn = rng.integers(0, 2001, size)
            return np.where(drawn == 2000, int(data), drawn)

        def neighbours(self):
            return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="both")

    claim = dpaudit.PrivacyClaim(id="p", statement="", epsilon=1.0)
    measured = audit(Wide(), claim, budget=Budget(), streams=Streams(1)).measured
    assert measured["detectable_shift"].upper < 0.001
    assert measured["detectable_variation"].upper > 0.5


@pytest.mark.slow
def test_a_sampler_that_follows_its_law_is_left_in_peace():
    """At a false-alarm rate of 1e-6, 50 audits raise nothing."""
    for seed in range(25):
        assert decide(Noise(), seed=seed).verdict == "proved"
        assert decide(Table(seed=seed), epsilon=10.0, seed=seed).verdict == "proved"


def test_laws_that_are_none():
    class NoLaw(Table):
        def law(self, data):
            return [0.1, 0.9]

    class SomeLaws(Table):
        def law(self, data):
            return super().law(data) if data == 0 else None

    with pytest.raises(dpaudit.CheckError, match="return a dpaudit law"):
        decide(NoLaw())
    with pytest.raises(dpaudit.CheckError, match="not known for the input"):
        decide(SomeLaws())
    with pytest.raises(dpaudit.CheckError, match="black-box"):
        decide(type("Blind", (Table,), {"law": lambda self, data: None})(), method="exact")


def test_views_and_neighbours_that_are_none():
    claim = dpaudit.PrivacyClaim(id="p", statement="", epsilon=1.0, view="reports")
    with pytest.raises(dpaudit.CheckError, match="no view 'reports'"):
        audit(Table(), claim, budget=Budget(), streams=Streams(1))
    with pytest.raises(dpaudit.CheckError, match=r"return a dpaudit\.Neighbouring"):
        decide(type("Alone", (Table,), {"neighbours": lambda self: None})())


@pytest.mark.parametrize("name", ["randomized response", "laplace"])
def test_the_counts_behind_a_black_box_witness_are_likely_under_the_law(name):
    if name == "laplace":
        target, law_p = Noise(), None
    else:
        target, law_p = Table(), Table().laws()
    evidence = decide(target, epsilon=0.05, samples=50_000, method="black-box")
    assert evidence.verdict == "refuted"
    assert evidence.witness.forces["epsilon"] > 0.05
    assert 0 < evidence.witness.q < evidence.witness.p < 1
    if law_p is not None:
        event = evidence.witness.event
        chosen = event["any of"] if isinstance(event, dict) else [event]
        words = evidence.note.split()
        hits, trials = int(words[3]), int(words[5])
        p = law_p[evidence.witness.data][chosen].sum()
        assert min(binom.cdf(hits, trials, p), binom.sf(hits - 1, trials, p)) > FALSE_ALARM


@pytest.mark.slow
def test_an_audit_of_finite_laws_does_not_load_scipy_stats():
    """It takes half a second, in every process that audits anything."""
    code = (
        "import sys, dpaudit; from dpaudit.auditors import Budget, Streams, audit;"
        "from dpaudit.catalog.alabi2022 import LocalPairwise;"
        "view = LocalPairwise(alternatives=2).report;"
        "claim = dpaudit.PrivacyClaim(id='p', statement='', epsilon=view.epsilon);"
        "assert audit(view, claim, budget=Budget(), streams=Streams(1)).verdict == 'proved';"
        "assert 'scipy.stats' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


class Tiny(dpaudit.Mechanism):
    """Randomized response with odds e^actual, however small."""

    actual: float = 1e-10

    def law(self, data):
        half = self.actual / 2
        logs = np.array([half, -half]) - np.logaddexp(half, -half)
        return dpaudit.FiniteLaw([0, 1], logs if data else logs[::-1])

    def neighbours(self):
        return dpaudit.Neighbouring(relation="any", pairs=[(0, 1)], complete=True, scope="both")


@pytest.mark.parametrize("epsilon", [1e-12, 1e-10, 1e-6, 1e-3, 1.0])
def test_an_excess_that_is_no_rounding_refutes_however_small_the_claim_is(epsilon):
    assert decide(Tiny(actual=1.2 * epsilon), epsilon).verdict == "refuted"
    assert decide(Tiny(actual=epsilon * (1 + 1e-8) + 2e-13), epsilon).verdict == "refuted"
    for equal in (epsilon, epsilon * (1 + 5e-10), epsilon + 5e-14):
        assert decide(Tiny(actual=equal), epsilon).verdict == "proved"


@pytest.mark.parametrize("epsilon", [1e-10, 1e-6])
def test_the_witness_of_a_tiny_excess_is_that_pair(epsilon):
    class Three(Tiny):
        """As there; the last pair is well within the claim."""

        def law(self, data):
            return Tiny(actual=self.actual).law(data) if data < 2 else Tiny(actual=self.actual / 2).law(data % 2)

        def neighbours(self):
            return dpaudit.Neighbouring(relation="any", pairs=[(0, 1), (2, 3)], complete=True, scope="all")

    evidence = decide(Three(actual=1.5 * epsilon), epsilon)
    assert evidence.verdict == "refuted"
    assert {evidence.witness.data, evidence.witness.neighbour} == {0, 1}
    assert evidence.witness.p / evidence.witness.q - 1 == pytest.approx(1.5 * epsilon, rel=1e-4)


@pytest.mark.parametrize("outcomes", [[math.nan, 1.0], np.array([math.nan, 1.0]), [None, np.float64("nan")]])
def test_a_law_with_an_outcome_that_does_not_equal_itself_is_refused(outcomes):
    """Two equal laws were refuted, because they had no such outcome in common."""

    class Answer(dpaudit.Mechanism):
        """An answer that may be missing."""

        def law(self, data):
            return dpaudit.FiniteLaw.from_probabilities(list(outcomes), [0.5, 0.5])

        def neighbours(self):
            return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")

    with pytest.raises(dpaudit.CheckError, match="`law` has NaN among its outcomes"):
        decide(Answer(), epsilon=0.1)


def test_only_a_truth_value_says_that_pairs_are_complete():
    class Listed(Noise):
        """Pairs of which a text says that they are not all."""

        def neighbours(self):
            return dpaudit.Neighbouring(relation="any", pairs=[(0.0, 1.0)], complete="no", scope="both")

    with pytest.raises(dpaudit.CheckError, match=r"`complete` of the neighbouring inputs .* must be True or False"):
        decide(Listed(), epsilon=1.0)


class Changes(dpaudit.Mechanism):
    """How often a series changes, with Laplace noise of scale 1: one record may change it by 2."""

    ordered: bool = False
    of_sum: bool = False

    def law(self, data):
        changes = sum(a != b for a, b in itertools.pairwise(data))
        return dpaudit.LaplaceLaw(float(sum(data) if self.of_sum else changes), 1.0)

    def neighbours(self):
        domain = dpaudit.Records(values=(0, 1), size=5, relation="substitution", ordered=self.ordered)
        return dpaudit.Neighbouring.within(domain)

    def claims(self):
        return [dpaudit.PrivacyClaim(id="changes.privacy", statement="1-DP", epsilon=1.0)]


def test_a_law_that_depends_on_the_order_is_not_proved_on_datasets_in_one_order():
    found = dpaudit.check(Changes()).results[0]
    assert found.verdict == "error"
    assert "say Records(..., ordered=True)" in found.note
    ordered = dpaudit.check(Changes(ordered=True)).results[0]
    assert (ordered.verdict, ordered.measured["epsilon"].lower) == ("refuted", 2.0)
    assert dpaudit.check(Changes(of_sum=True)).results[0].verdict == "proved"
