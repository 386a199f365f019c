"""Every guarantee by every auditor: laws, likelihoods and samples, and the rates of false refutations."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom

import dpaudit
from dpaudit import (
    ApproximateDP,
    DiscreteGaussianLaw,
    DiscreteLaplaceLaw,
    GaussianDP,
    PrivacyProfile,
    RenyiCurve,
    RenyiDP,
    TradeOff,
    ZeroConcentratedDP,
)
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.exact import audit_exact
from dpaudit.claims.guarantees.decisions import NO_SINGLE_EVENT
from dpaudit.statistics import forced_lower
from dpaudit.testing import assert_private


class Gaussian(dpaudit.Mechanism):
    """A number with normal noise of scale 2; with its law, its likelihood, or neither."""

    knows: str = ""
    claimed: str = "zcdp"

    def sample(self, data, size, rng):
        return data + 2 * rng.normal(size=size)

    def law(self, data):
        return dpaudit.GaussianLaw(data, 2.0) if self.knows == "law" else None

    def log_likelihood(self, outputs, data):
        return -((outputs - data) ** 2) / 8 if self.knows == "likelihood" else None

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0.0, 1.0], scope="two numbers")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="g.privacy", statement="It is private.", guarantee=BROKEN[self.claimed])]


BROKEN = {
    "zcdp": dpaudit.ZeroConcentratedDP(0.05),
    "approximate": dpaudit.ZeroConcentratedDP(0.02, 0.01),
    "renyi": dpaudit.RenyiDP(3, 0.15),
    "curve": dpaudit.RenyiCurve({2: 0.11, 10: 0.6}),
    "gdp": dpaudit.GaussianDP(0.4),
    "profile": dpaudit.PrivacyProfile({0: 0.15, 1: 0.002}),
    "trade-off": dpaudit.TradeOff({0.05: 0.9, 0.3: 0.6}),
}
"""Guarantees that the mechanism above is far from meeting."""


class Bits(dpaudit.Mechanism):
    """An event of two probabilities; with its law or without."""

    p: float = 0.5
    q: float = 0.0677
    knows: str = ""

    def sample(self, data, size, rng):
        return (rng.random(size) < (self.p if data else self.q)).astype(int)

    def law(self, data):
        p = self.p if data else self.q
        return dpaudit.FiniteLaw.from_probabilities([1, 0], [p, 1 - p]) if self.knows else None

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")


def decide(target, guarantee, *, seed=1, **budget):
    claim = dpaudit.PrivacyClaim(id="c", statement="It is private.", guarantee=guarantee)
    return audit(target, claim, budget=Budget(**budget), streams=Streams(seed))


def profile_of_gaussian(epsilon, mu=0.5):
    return ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)


EXACT = [
    (ZeroConcentratedDP(1 / 8), ZeroConcentratedDP(1 / 8 * (1 - 1e-6)), 1 / 8),
    (GaussianDP(0.5), GaussianDP(0.5 * (1 - 1e-6)), 0.5),
    (RenyiDP(3, 3 / 8), RenyiDP(3, 3 / 8 * (1 - 1e-6)), 3 / 8),
    (RenyiCurve({2: 0.25, 10: 1.25}), RenyiCurve({2: 0.25, 10: 1.25 * (1 - 1e-6)}), 1.0),
    (
        PrivacyProfile(profile_of_gaussian, epsilons=[0.0, 0.5, 1.0]),
        PrivacyProfile(lambda epsilon: profile_of_gaussian(epsilon) - 1e-6, epsilons=[0.0, 0.5, 1.0]),
        0.0,
    ),
    (
        TradeOff(lambda a: ndtr(-0.5 - ndtri(a)), type_one=[0.05, 0.3]),
        TradeOff(lambda a: ndtr(-0.5 - ndtri(a)) + 1e-6, type_one=[0.05, 0.3]),
        0.0,
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("holds", "fails", "true"), EXACT, ids=lambda each: str(each)[:20])
def test_gaussian_noise_meets_it_and_nothing_below(holds, fails, true):
    name = holds.forced
    for claim, verdict in ((holds, "proved"), (fails, "refuted")):
        evidence = decide(Gaussian(knows="law"), claim)
        assert (evidence.verdict, evidence.method) == (verdict, "exact")
        assert evidence.measured[name].lower == pytest.approx(true, rel=2e-6, abs=1e-4)
    witness = evidence.witness
    assert witness.forces == {name: evidence.measured[name].lower}
    by_event = fails.exceeds(float(fails.forces(witness.p, witness.q)))
    assert by_event == (NO_SINGLE_EVENT not in witness.event)
    # A file for `verify` needs an event that shows it.
    assert by_event or evidence.finding is None


class Quiet(Gaussian):
    """Noise so large that rho is 5e-13."""

    def law(self, data):
        return dpaudit.GaussianLaw(data, 1e6)


@pytest.mark.parametrize(
    ("rho", "verdict"), [(5e-13, "proved"), (4.99e-13, "inconclusive"), (4.5e-13, "inconclusive"), (3.9e-13, "refuted")]
)
def test_less_than_the_truth_is_not_proved_however_small(rho, verdict):
    claim = dpaudit.PrivacyClaim(id="g.privacy", statement="It is private.", guarantee=ZeroConcentratedDP(rho))
    quiet = Quiet(knows="law")
    evidence = audit_exact(quiet, claim, quiet.neighbours())[0]
    assert evidence.verdict == verdict
    assert (verdict == "inconclusive") == ("rounding" in evidence.note)


class TwoLaws(Bits):
    """Any two laws."""

    def __init__(self, p, q):
        super().__init__()
        object.__setattr__(self, "laws", (p, q))

    def law(self, data):
        return self.laws[data]


def finite(*masses):
    return dpaudit.FiniteLaw.from_probabilities(range(len(masses)), masses)


@pytest.mark.parametrize("seed", range(20))
def test_profiles_that_are_met_with_equality_are_proved(seed):
    """Outcome 2 is impossible on the first input, and alone has a loss above 1 in either direction."""
    delta = float(np.random.default_rng(seed).uniform(1e-7, 1e-3))
    laws = TwoLaws(finite(0.5, 0.5), finite(0.5, 0.5 - delta, delta))
    for guarantee in (PrivacyProfile({1: delta}), ApproximateDP(1.0, delta)):
        assert decided(laws, guarantee) == "proved"
    for guarantee in (PrivacyProfile({1: delta * (1 - 1e-6)}), ApproximateDP(1.0, delta * (1 - 1e-6))):
        assert decided(laws, guarantee) == "refuted"


def test_a_tiny_difference_does_not_prove_that_there_is_none():
    tiny = 4e-10
    laws = TwoLaws(finite(0.5 + tiny / 2, 0.5 - tiny / 2), finite(0.5 - tiny / 2, 0.5 + tiny / 2))
    assert decided(laws, PrivacyProfile({0: tiny})) == "proved"
    for delta in (0.0, 1e-15, tiny / 2):
        assert decided(laws, PrivacyProfile({0: delta})) == "inconclusive"
        assert decided(laws, ApproximateDP(0.0, delta)) == "refuted"
    apart = TwoLaws(finite(0.1 + 5e-9, 0.9 - 5e-9), finite(0.1, 0.9))
    assert decided(apart, TradeOff({0.1: 0.9 - 5e-9})) == "proved"
    assert decided(apart, TradeOff({0.1: 0.9})) != "proved"


def decided(target, guarantee):
    claim = dpaudit.PrivacyClaim(id="c", statement="It is private.", guarantee=guarantee)
    return audit_exact(target, claim, target.neighbours())[0].verdict


@pytest.mark.slow
def test_events_that_show_it_are_those_of_the_guarantee():
    bits = Bits(knows="law")
    for guarantee in (ZeroConcentratedDP(0.5), GaussianDP(1.0), RenyiDP(2, 0.5), ApproximateDP(1.5)):
        evidence = decide(bits, guarantee)
        assert evidence.verdict == "refuted"
        assert (evidence.witness.p, evidence.witness.q) == pytest.approx((0.5, 0.0677))
        assert evidence.finding.event["kind"] == "outcomes"
    assert decide(bits, ZeroConcentratedDP(0.5)).measured["rho"].lower == pytest.approx(0.7273, abs=1e-4)


@pytest.mark.slow
def test_an_approximate_form_is_enclosed():
    encloses = decide(Gaussian(knows="law"), ZeroConcentratedDP(0.1, 0.01))
    assert encloses.verdict == "inconclusive"
    assert "the bounds on rho enclose the claim" in encloses.note
    assert encloses.measured["rho"].lower < 0.1 < encloses.measured["rho"].upper
    assert decide(Gaussian(knows="law"), ZeroConcentratedDP(0.125, 0.01)).verdict == "proved"
    assert decide(Gaussian(knows="law"), ZeroConcentratedDP(0.05, 0.01)).verdict == "refuted"
    # A mechanism that gives itself away with probability 0.01, and otherwise keeps a bit with odds of e.
    keep, flip = 0.99 / (1 + math.exp(-1)), 0.99 / (1 + math.exp(1))

    class GivesAway(Gaussian):
        def law(self, data):
            odds = [keep, flip, 0.01, 0.0] if data else [flip, keep, 0.0, 0.01]
            return dpaudit.FiniteLaw.from_probabilities(["1", "0", "it was 1", "it was 0"], odds)

        def sample(self, data, size, rng):
            odds = np.exp(self.law(data).log_probabilities)
            return rng.choice(["1", "0", "it was 1", "it was 0"], size, p=odds)

    rho = math.tanh(0.5)
    assert decide(GivesAway(), ZeroConcentratedDP(rho * (1 + 1e-6), 0.01)).verdict == "proved"
    assert decide(GivesAway(), ZeroConcentratedDP(rho * 0.999, 0.01)).verdict != "proved"
    assert decide(GivesAway(), ZeroConcentratedDP(10.0)).verdict == "refuted"


@pytest.mark.slow
@pytest.mark.parametrize("law", [DiscreteLaplaceLaw, DiscreteGaussianLaw])
def test_discrete_noise_is_held_against_its_law(law):
    rho = math.tanh(0.5) if law is DiscreteLaplaceLaw else 0.5

    class Counts(Gaussian):
        slip: float = 0.0

        def law(self, data):
            return law(int(data), 1.0)

        def sample(self, data, size, rng):
            finite = law(int(data), 1.0).listed()
            return rng.choice(finite.outcomes, size, p=np.exp(finite.log_probabilities)) + (
                rng.random(size) < self.slip
            )

    assert decide(Counts(), ZeroConcentratedDP(rho)).verdict == "proved"
    assert decide(Counts(), ZeroConcentratedDP(rho * 0.999)).verdict == "refuted"
    with pytest.raises(dpaudit.CheckError, match="does not follow `law`"):
        decide(Counts(slip=0.05), ZeroConcentratedDP(rho))


LIKELIHOOD = [
    (GaussianDP(0.45), "refuted"),
    (GaussianDP(0.5), "consistent"),
    (ZeroConcentratedDP(0.115), "refuted"),
    (ZeroConcentratedDP(0.125), "consistent"),
    (RenyiDP(3, 0.34), "refuted"),
    (RenyiDP(3, 0.375), "consistent"),
    (RenyiCurve({2: 0.25, 5: 0.5}), "refuted"),
    (PrivacyProfile({0.0: 0.21, 0.5: 0.1}), "certified"),
    (PrivacyProfile({0.0: 0.18, 0.5: 0.1}), "refuted"),
    (PrivacyProfile({0.0: profile_of_gaussian(0.0)}), "inconclusive"),
    (TradeOff({0.05: 0.83, 0.3: 0.45}), "certified"),
    (TradeOff({0.05: 0.84, 0.3: 0.58}), "refuted"),
    (TradeOff({0.05: 0.84, 0.3: 0.51}), "inconclusive"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("guarantee", "verdict"), LIKELIHOOD, ids=str)
def test_likelihoods_bound_it(guarantee, verdict):
    evidence = decide(Gaussian(knows="likelihood"), guarantee, samples=100_000)
    assert (evidence.verdict, evidence.method) == (verdict, "likelihood")
    value = evidence.measured[guarantee.forced]
    if isinstance(guarantee, PrivacyProfile | TradeOff):
        truth = decide(Gaussian(knows="law"), guarantee).measured[guarantee.forced].lower
        assert value.lower <= truth <= value.upper + 1e-12
    else:
        truth = decide(Gaussian(knows="law"), guarantee).measured[guarantee.forced].upper
        assert 0.95 * truth < value.lower <= truth
        assert value.upper is None
    assert (evidence.witness is not None) == (verdict == "refuted")


@pytest.mark.slow
def test_likelihoods_that_do_not_belong_to_their_sampler():
    class Wrong(Gaussian):
        def log_likelihood(self, outputs, data):
            return -((outputs - data) ** 2) / 18

    with pytest.raises(dpaudit.CheckError, match="does not belong to `sample`"):
        decide(Wrong(), GaussianDP(0.5), samples=50_000, method="likelihood")
    with pytest.raises(dpaudit.CheckError, match=r"does not decide 0\.01-approximate"):
        decide(Gaussian(knows="likelihood"), ZeroConcentratedDP(0.1, 0.01), method="likelihood")


@pytest.mark.slow
def test_a_concentrated_claim_is_refuted_by_an_event_of_its_own():
    """Permute-and-flip's loss between two neighbouring inputs: an event of 0.5 against 0.0677."""
    evidence = decide(Bits(), ZeroConcentratedDP(0.5), samples=50_000, seed=0)
    assert evidence.verdict == "refuted"
    assert 0.68 <= evidence.measured["rho"].lower <= 0.7273
    bounds = [
        decide(Bits(), ZeroConcentratedDP(0.5), samples=50_000, seed=s).measured["rho"].lower for s in range(1, 6)
    ]
    assert min(bounds) > 0.65


@pytest.mark.slow
def test_the_event_that_samples_show_is_the_guarantee_s_own():
    """The best event for rho is not the best one for epsilon."""
    for_rho = decide(Gaussian(), BROKEN["zcdp"], samples=50_000).witness
    for_epsilon = decide(Gaussian(), ApproximateDP(0.2), samples=50_000).witness
    assert for_rho.p > 1.2 * for_epsilon.p


TIGHT = [ZeroConcentratedDP(1.0), ZeroConcentratedDP(1.0, 0.05), RenyiDP(2, 1.0), RenyiDP(1.2, 1.0), GaussianDP(1.0)]
TIGHT += [RenyiCurve({2: 0.2, 8: 1.0}), PrivacyProfile({0: 0.1, 0.5: 0.05}), TradeOff({0.1: 0.8, 0.4: 0.5})]


@pytest.mark.parametrize("guarantee", TIGHT, ids=str)
@pytest.mark.parametrize(("p", "q"), [(0.7, 0.3), (0.3, 0.1)])
def test_bounds_cover_by_enumeration(guarantee, p, q):
    """Of all counts that two bits can give which meet a guarantee exactly, those whose bound is too large are rare."""
    trials, alpha = 60, 0.1
    truth = float(guarantee.forces(p, q))
    assert truth > 0
    hits = np.arange(trials + 1)
    bounds = forced_lower(guarantee, hits[:, None], trials, hits, trials, alpha=alpha)
    wrong = binom.pmf(hits, trials, p)[:, None] * binom.pmf(hits, trials, q) * (bounds > truth)
    assert wrong.sum() <= alpha
    assert (bounds > 0).any()


@pytest.mark.slow
@pytest.mark.parametrize("guarantee", [GaussianDP(1.0), RenyiDP(2, 1.0), ZeroConcentratedDP(0.3)], ids=str)
def test_what_is_met_exactly_is_rarely_refuted(guarantee):
    tight = guarantee.at(float(guarantee.forces(0.7, 0.3)))
    runs, alpha = 15, 0.1
    refuted = sum(
        decide(Bits(p=0.7, q=0.3), tight, seed=seed, samples=1000, confidence=1 - alpha).verdict == "refuted"
        for seed in range(runs)
    )
    assert refuted <= binom.isf(1e-6, runs, alpha)


@pytest.mark.slow
@pytest.mark.parametrize("knows", ["", "law"])
def test_records_and_witness_files_say_what_is_claimed(tmp_path, monkeypatch, knows):
    source = Path(__file__).read_text(encoding="utf-8").partition("\nclass Bits(")[0]
    kept = source[source.index("class Gaussian(") :]
    monkeypatch.chdir(tmp_path)
    Path("noise.py").write_text(f"import dpaudit\n\n\n{kept}", encoding="utf-8")
    from dpaudit.reporting import FORMATS
    from dpaudit.runner import Request
    from dpaudit.runner.check import run_request

    request = Request(targets=["noise.py::Gaussian"], set={"claimed": list(BROKEN), "knows": [knows]}, samples=50_000)
    record = run_request(request, output=Path("out")).record
    for result, guarantee in zip(record.results, BROKEN.values(), strict=True):
        assert result.verdict == "refuted", guarantee
        assert result.guarantee == guarantee.kind
        assert result.claimed == dict(guarantee.parameters)
        assert result.measured[guarantee.forced].lower > guarantee.claimed
        if result.witness_file:
            found = dpaudit.verify(result.witness_file)
            assert found.confirmed
            assert found.guarantee == guarantee.kind
            assert dict(found.claimed) == dict(guarantee.parameters)
            assert found.forces[guarantee.forced] > guarantee.claimed
    assert sum(result.witness_file is not None for result in record.results) >= 4
    for name, render in FORMATS.items():
        page = render(record)
        for word in ("rho", "mu", "epsilon at 2", "delta at 1", "shift"):
            assert word in page or name == "json", (name, word)


@pytest.mark.slow
def test_assertions_take_every_guarantee():
    assert assert_private(Gaussian(knows="law"), guarantee=ZeroConcentratedDP(1 / 8)).verdict == "proved"
    with pytest.raises(AssertionError, match=r"is not 0.4-GDP: refuted(.|\n)*so mu >= 0.5 \(claimed: 0.4\)"):
        assert_private(Gaussian(knows="law"), guarantee=GaussianDP(0.4))
