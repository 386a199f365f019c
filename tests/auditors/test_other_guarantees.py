"""One class makes a guarantee: toys for Gaussian and zero-concentrated DP, which no auditor knows."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom

import dpaudit
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.laws.continuous import GaussianComparison
from dpaudit.laws.finite import FiniteComparison
from dpaudit.statistics import bound_from_counts, detection_limit
from dpaudit.testing import assert_private

FALSE_ALARM = 1e-6


@dataclass(frozen=True, slots=True)
class GaussianDP(dpaudit.Guarantee):
    """mu-Gaussian differential privacy (Dong, Roth, Su 2022)."""

    kind: ClassVar[str] = "gaussian-dp"
    forced: ClassVar[str] = "mu"

    mu: float

    def most(self, q):
        return float(ndtr(ndtri(q) + self.mu))

    def forces(self, p, q):
        p, q = np.broadcast_arrays(np.asarray(p, float), np.asarray(q, float))
        with np.errstate(invalid="ignore"):
            return np.where(p > q, ndtri(p) - ndtri(q), 0.0)[()]

    def measure(self, comparison):
        if isinstance(comparison, GaussianComparison):
            return {"mu": dpaudit.Interval.exact(comparison.ratio)}
        if isinstance(comparison, FiniteComparison):
            _, p, q = self._tails(comparison)
            return {"mu": dpaudit.Interval.exact(self.forces(p, q).max())}
        return None

    def worst_event(self, comparison, *, frequent=False):
        level = 0.0
        if isinstance(comparison, FiniteComparison):
            losses, p, q = self._tails(comparison)
            # Events are of losses above a level.
            level = float(np.nextafter(losses[int(np.argmax(self.forces(p, q)))], -math.inf))
        return comparison.worst_event(level, 1e-300)

    def _tails(self, comparison):
        """Probabilities of the events by which Neyman and Pearson tell two laws apart."""
        loss = comparison.loss()
        tails = [np.minimum(np.cumsum(np.exp(log_mass)[::-1])[::-1], 1.0) for log_mass in (loss.log_p, loss.log_q)]
        return loss.losses, *tails


@dataclass(frozen=True, slots=True)
class ZeroConcentratedDP(dpaudit.Guarantee):
    """rho-zCDP (Bun, Steinke 2016); events by the Renyi divergences of their indicators."""

    kind: ClassVar[str] = "zero-concentrated-dp"
    forced: ClassVar[str] = "rho"
    orders: ClassVar[np.ndarray] = np.geomspace(1.01, 100, 24)

    rho: float

    def most(self, q):
        low, high = q, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (low, middle) if self.forces(middle, q) > self.rho else (middle, high)
        return low

    def forces(self, p, q):
        p, q = (np.asarray(side, float)[..., None] for side in np.broadcast_arrays(p, q))
        a = self.orders
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inside = a * np.log(p) + (1 - a) * np.log(q)
            outside = np.where(p < 1, a * np.log1p(-p) + (1 - a) * np.log1p(-q), -np.inf)
            rho = np.logaddexp(inside, outside) / (a - 1) / a
        return np.where(p[..., 0] > q[..., 0], np.maximum(rho.max(axis=-1), 0.0), 0.0)[()]

    def measure(self, comparison):
        if isinstance(comparison, GaussianComparison):
            return {"rho": dpaudit.Interval.exact(comparison.ratio**2 / 2)}
        return None

    def worst_event(self, comparison, *, frequent=False):
        return comparison.worst_event(0.0, 1e-300)


class Gaussian(dpaudit.Mechanism):
    """A number with normal noise of one standard deviation; with its law, its likelihood, or neither."""

    knows: str = ""
    distance: float = 1.0
    mu: float = 1.0

    def sample(self, data, size, rng):
        return data + rng.normal(size=size)

    def law(self, data):
        return dpaudit.GaussianLaw(data, 1.0) if self.knows == "law" else None

    def log_likelihood(self, outputs, data):
        return -((outputs - data) ** 2) / 2 if self.knows == "likelihood" else None

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0.0, self.distance], scope="two numbers")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="g.privacy", statement="It is private.", guarantee=GaussianDP(self.mu))]


class Response(dpaudit.Mechanism):
    """Randomized response with its law."""

    keep: float = 0.75

    def sample(self, data, size, rng):
        return np.where(rng.random(size) < self.keep, data, 1 - data)

    def law(self, data):
        return dpaudit.FiniteLaw.from_probabilities([data, 1 - data], [self.keep, 1 - self.keep])

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")


class Numbers(Response):
    """Laplace noise, of whose law the toys know nothing."""

    def sample(self, data, size, rng):
        return data + rng.laplace(size=size)

    def law(self, data):
        return dpaudit.LaplaceLaw(data, 1.0)


def decide(target, guarantee, *, seed=1, **budget):
    claim = dpaudit.PrivacyClaim(id="c", statement="It is private.", guarantee=guarantee)
    return audit(target, claim, budget=Budget(**budget), streams=Streams(seed))


CASES = [(GaussianDP, "mu", 1.0), (ZeroConcentratedDP, "rho", 0.5)]


@pytest.mark.slow
@pytest.mark.parametrize(("guarantee", "name", "true"), CASES)
def test_laws_decide_it_exactly(guarantee, name, true):
    for claimed, verdict in ((true, "proved"), (2 * true, "proved"), (0.999 * true, "refuted")):
        evidence = decide(Gaussian(knows="law"), guarantee(claimed))
        assert evidence.verdict == verdict
        assert evidence.method == "exact"
        assert evidence.measured[name].lower == evidence.measured[name].upper == pytest.approx(true)
        assert evidence.measured["tightness"].lower == pytest.approx(claimed / true)
        assert set(evidence.measured) == {name, "tightness", "detectable_shift"}
        assert evidence.curves is not None
    violation = evidence.witness
    assert violation.forces == {name: evidence.measured[name].lower}
    if guarantee is GaussianDP:
        assert violation.p > guarantee(0.999 * true).most(violation.q)


def test_finite_laws_decide_it_exactly():
    true = 2 * ndtri(0.75)
    assert decide(Response(), GaussianDP(true * 1.0001)).verdict == "proved"
    evidence = decide(Response(), GaussianDP(true * 0.999))
    assert evidence.verdict == "refuted"
    assert evidence.measured["mu"].lower == pytest.approx(true)
    assert (evidence.witness.p, evidence.witness.q) == pytest.approx((0.75, 0.25))
    assert evidence.finding.event["kind"] == "outcomes"


@pytest.mark.slow
@pytest.mark.parametrize(("guarantee", "name", "true"), CASES)
def test_samples_refute_it(guarantee, name, true):
    # Events fall short of zero-concentrated DP, which is about all orders at once.
    part = 0.9 if guarantee is GaussianDP else 0.5
    evidence = decide(Gaussian(), guarantee(part * true), samples=50_000)
    assert evidence.verdict == "refuted"
    assert evidence.method == "black-box"
    bound = evidence.measured[name].lower
    assert evidence.witness.forces == {name: bound}
    assert part * true < bound <= true
    assert f"bounds {name} from below" in evidence.note
    early = decide(Gaussian(), guarantee(0.4 * true), samples=100_000, stop_early=True)
    assert early.verdict == "refuted"


@pytest.mark.slow
@pytest.mark.parametrize(("guarantee", "name", "true"), CASES)
def test_what_samples_do_not_refute_has_a_detection_limit(guarantee, name, true):
    evidence = decide(Gaussian(), guarantee(true), samples=100_000)
    assert evidence.verdict == "consistent"
    assert true < evidence.measured["detection_limit"].upper < 1.6 * true
    assert 0.5 * true < evidence.measured[name].lower <= true
    assert f"a {name} of " in evidence.note


@pytest.mark.parametrize(("guarantee", "name", "true"), CASES)
def test_bounds_cover(guarantee, name, true):
    rng = np.random.default_rng(20240609)
    trials, runs, alpha = 500, 2000, 0.1
    claim = guarantee(true)
    p, q = ndtr(0.5), ndtr(-0.5)
    truth = claim.forces(p, q)
    hits = rng.binomial(trials, [p, q], (runs, 2))
    wrong = sum(bound_from_counts(claim, (a, b), (trials, trials), alpha=alpha) > truth for a, b in hits.tolist())
    assert wrong <= binom.isf(FALSE_ALARM, runs, alpha)


@pytest.mark.slow
@pytest.mark.parametrize(("guarantee", "name", "true"), CASES)
def test_the_detection_limit_falls_to_the_claim(guarantee, name, true):
    limits = [detection_limit(guarantee(true), 0.3, 10**k, alpha=1e-3) for k in (3, 4, 5, 6)]
    assert limits == sorted(limits, reverse=True)
    assert true < limits[-1] < 1.05 * true


def test_most_and_forces_are_inverse():
    for claim in (GaussianDP(0.7), ZeroConcentratedDP(0.2)):
        for q in (1e-4, 0.05, 0.4):
            assert float(claim.forces(claim.most(q), q)) == pytest.approx(claim.claimed, rel=1e-6)


def test_what_laws_cannot_decide_is_sampled():
    evidence = decide(Numbers(), GaussianDP(0.5), samples=50_000)
    assert evidence.method == "black-box"
    assert evidence.verdict == "refuted"
    with pytest.raises(dpaudit.CheckError, match=r"gaussian-dp\(mu=0.5\) cannot be computed .* use --method black-box"):
        decide(Numbers(), GaussianDP(0.5), method="exact")


def test_likelihoods_do_not_decide_it():
    evidence = decide(Gaussian(knows="likelihood"), GaussianDP(0.7), samples=50_000)
    assert (evidence.method, evidence.verdict) == ("black-box", "refuted")
    with pytest.raises(dpaudit.CheckError, match=r"does not decide gaussian-dp.*use --method black-box"):
        decide(Gaussian(knows="likelihood"), GaussianDP(0.7), method="likelihood")


def test_a_law_that_samples_contradict():
    class Wrong(Gaussian):
        def sample(self, data, size, rng):
            return 1.5 * data + rng.normal(size=size)

    with pytest.raises(dpaudit.CheckError, match="`sample` does not follow `law` for the input"):
        decide(Wrong(knows="law"), GaussianDP(2.0), samples=20_000)


@pytest.mark.slow
def test_an_assertion_says_what_is_broken():
    assert assert_private(Gaussian(knows="law"), guarantee=GaussianDP(1.0)).verdict == "proved"
    with pytest.raises(
        AssertionError, match=r"is not gaussian-dp\(mu=0.5\): refuted(.|\n)*so mu >= 1 \(claimed: 0.5\)"
    ):
        assert_private(Gaussian(knows="law"), guarantee=GaussianDP(0.5))
    with pytest.raises(dpaudit.ParameterError, match="give epsilon"):
        assert_private(Gaussian())
    with pytest.raises(dpaudit.ParameterError, match="give epsilon"):
        assert_private(Gaussian(), epsilon=1.0, guarantee=GaussianDP(1.0))
    with pytest.raises(dpaudit.ParameterError, match="leave delta out"):
        assert_private(Gaussian(), delta=0.1, guarantee=GaussianDP(1.0))
    with pytest.raises(dpaudit.ParameterError, match=r"must be a dpaudit\.Guarantee"):
        assert_private(Gaussian(), guarantee=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("knows", ["", "law"])
def test_a_witness_file_is_verified(tmp_path, monkeypatch, knows):
    source = Path(__file__).read_text(encoding="utf-8").partition("\nclass Response(")[0]
    monkeypatch.chdir(tmp_path)
    Path("gaussian.py").write_text(source, encoding="utf-8")
    from dpaudit.runner import Request
    from dpaudit.runner.check import run_request
    from dpaudit.runner.witnesses import read_witness

    request = Request(targets=["gaussian.py::Gaussian"], set={"mu": [0.5], "knows": [knows]}, samples=30_000)
    (result,) = run_request(request, output=Path("out")).record.results
    assert result.verdict == "refuted"
    assert result.claimed == {"mu": 0.5}
    claimed = read_witness(result.witness_file).claimed
    assert (claimed.guarantee, claimed.parameters) == ("gaussian-dp", {"mu": 0.5})
    found = dpaudit.verify(result.witness_file)
    assert found.confirmed
    assert (found.guarantee, dict(found.claimed)) == ("gaussian-dp", {"mu": 0.5})
    assert 0.5 < found.forces["mu"] <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("guarantee", [GaussianDP(1.0), ZeroConcentratedDP(0.5)], ids=str)
def test_a_gross_violation_of_any_guarantee_is_found_early(guarantee):
    evidence = decide(Gaussian(distance=3.0), guarantee, method="black-box", samples=100_000, stop_early=True)
    assert evidence.verdict == "refuted"
    assert evidence.samples is not None
    assert evidence.samples <= 2 * 500
    assert guarantee.claimed < evidence.measured[guarantee.forced].lower < guarantee.claimed * 9
    holds = decide(Gaussian(), guarantee, method="black-box", samples=20_000, stop_early=True)
    assert holds.verdict != "refuted"
