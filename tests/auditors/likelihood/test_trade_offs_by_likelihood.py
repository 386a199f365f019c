"""Trade-off functions by likelihoods, held against the errors of all tests between two bits."""

import math

import numpy as np
import pytest
from rates import counted, most
from scipy.special import ndtr, ndtri

import dpaudit
from dpaudit import TradeOff
from dpaudit.auditors import Budget, Streams, audit

TYPE_ONE = (0.01, 0.05, 0.3, 0.6)
EVEN, UNEVEN, REVERSED = (0.7, 0.3), (0.5, 0.02), (0.98, 0.5)


class Bits(dpaudit.Mechanism):
    """A bit that is 1 with probability p or q."""

    p: float = 0.5
    q: float = 0.02

    def sample(self, data, size, rng):
        return (rng.random(size) < (self.p if data else self.q)).astype(int)

    def log_likelihood(self, outputs, data):
        one = self.p if data else self.q
        return np.where(outputs == 1, math.log(one), math.log1p(-one))

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")


def errors(bits, type_one):
    """Least type II errors in the worse direction: chords between the tests that look at the bit or at nothing."""
    forward = np.interp(type_one, [0, bits.q, 1], [1, 1 - bits.p, 0])
    backward = np.interp(type_one, [0, 1 - bits.p, 1], [1, bits.q, 0])
    return np.minimum(forward, backward)


def shifted(bits, shift):
    """The trade-off of the bits, promised to be harder by a shift."""
    return TradeOff({a: min(float(ndtr(ndtri(errors(bits, a)) + shift)), (1 - a) * (1 - 1e-6)) for a in TYPE_ONE})


def decide(target, guarantee, *, seed=1, **budget):
    claim = dpaudit.PrivacyClaim(id="c", statement="It is private.", guarantee=guarantee)
    return audit(target, claim, budget=Budget(method="likelihood", **budget), streams=Streams(seed))


@pytest.mark.slow
@pytest.mark.parametrize(("p", "q"), [EVEN, UNEVEN, REVERSED])
def test_verdicts_on_either_side_of_the_truth(p, q):
    bits = Bits(p=p, q=q)
    assert decide(bits, shifted(bits, -0.1), samples=50_000).verdict == "certified"
    met = decide(bits, shifted(bits, 0.0), samples=50_000)
    assert met.verdict == "inconclusive"
    assert met.measured["shift"].lower == 0.0
    broken = decide(bits, shifted(bits, 0.1), samples=50_000)
    assert broken.verdict == "refuted"
    assert 0.05 < broken.measured["shift"].lower <= 0.1 + 1e-9
    assert broken.measured["shift"].upper >= 0.1 - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("p", "q"), [EVEN, UNEVEN, REVERSED])
def test_a_true_claim_is_refuted_no_more_often_than_stated(p, q):
    bits, alpha, uppers = Bits(p=p, q=q), 0.2, []

    def is_refuted(seed):
        evidence = decide(bits, shifted(bits, 0.0), samples=2_000, confidence=1 - alpha, seed=seed)
        uppers.append(evidence.measured["shift"].upper)
        return evidence.verdict == "refuted"

    refuted, made = counted(is_refuted, 60, alpha=alpha)
    assert refuted <= most(made, alpha)
    # Bounds that refute nothing because they say nothing would pass as well.
    assert sum(each < 0.5 for each in uppers) > made / 2


@pytest.mark.slow
def test_the_witness_is_of_the_direction_that_breaks_the_claim():
    """Of an uneven pair the other direction may have the larger losses on average."""
    for p, q in (UNEVEN, REVERSED):
        bits = Bits(p=p, q=q)
        claim = shifted(bits, 0.2)
        witness = decide(bits, claim, samples=20_000).witness
        assert claim.exceeds(float(claim.forces(witness.p, witness.q)))
        assert witness.data == (1 if (p, q) == UNEVEN else 0)


def test_the_convex_hull_of_both_directions_refutes_nothing():
    """Between the trade-offs of both directions lie symmetric claims that are true and that their hull breaks."""
    bits = Bits(p=0.5, q=0.02)
    # The worse direction at each type I error; its convex hull lies below it between the two corners.
    a = np.linspace(0.005, 0.6, 12)
    claim = TradeOff(dict(zip(a.tolist(), errors(bits, a).tolist(), strict=True)))
    assert decide(bits, claim, samples=200_000).verdict == "inconclusive"


class Noise(dpaudit.Mechanism):
    """A number with Laplace noise."""

    def sample(self, data, size, rng):
        return data + rng.laplace(size=size)

    def log_likelihood(self, outputs, data):
        return -np.abs(outputs - data)

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0.0, 1.0], scope="two numbers")


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_renyi_dp_of_infinite_order_is_pure_privacy(epsilon):
    pure, renyi = (
        decide(Noise(), guarantee, samples=2_000)
        for guarantee in (dpaudit.ApproximateDP(epsilon), dpaudit.RenyiDP(math.inf, epsilon))
    )
    assert renyi.verdict == pure.verdict == ("consistent" if epsilon == 1 else "refuted")
    assert renyi.measured == pure.measured
    assert renyi.witness == pure.witness
