"""Searches that halve an interval end where its ends are so large, or so small, that nothing lies between them."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import dpaudit
from dpaudit.catalog import balle2019
from dpaudit.laws.gaussian_product import _inverse
from dpaudit.randomizers import GaussianNoise
from dpaudit.statistics import anytime_lower, anytime_upper, detection_limit

HUGE = [1e15, 9e15, 1e16, 1e300]
TINY = [5e-324, 1e-320, 1e-308]


@dataclass(frozen=True, slots=True)
class Scaled(dpaudit.Guarantee):
    """Of one bit, where the value counts in units: a large one is no large ratio."""

    kind: ClassVar[str] = "scaled"
    forced: ClassVar[str] = "value"

    value: float
    unit: float = 1.0

    def most(self, q):
        return min(1.0, q * math.exp(min(self.value / self.unit, 700.0)))

    def forces(self, p, q):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(np.asarray(p) > q, self.unit * (np.log(p) - np.log(q)), 0.0)[()]

    def measure(self, comparison):
        return None

    def worst_event(self, comparison, *, frequent=False):
        return comparison.worst_event(0.0, 0.0)


@pytest.mark.parametrize("claimed", HUGE)
@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_no_event_is_seen_above_a_huge_epsilon(claimed, delta):
    assert detection_limit(dpaudit.ApproximateDP(claimed, delta), 0.1, 10**5, alpha=1e-3) == math.inf


@pytest.mark.parametrize("claimed", HUGE)
@pytest.mark.parametrize("q", [1e-6, 0.3])
def test_a_guarantee_in_other_units_has_its_limit(claimed, q):
    guarantee = Scaled(claimed, unit=claimed)
    found = detection_limit(guarantee, q, 10**5, alpha=1e-3)
    assert found == math.inf or claimed < found < 20 * claimed


@pytest.mark.parametrize("claimed", [*TINY, 0.0])
def test_a_tiny_claim_has_a_limit(claimed):
    assert 0 < detection_limit(dpaudit.ApproximateDP(claimed), 0.1, 10**5, alpha=1e-3) < 1


@pytest.mark.parametrize("ratio", HUGE)
def test_huge_distances_of_laws(ratio):
    gaussian = dpaudit.compare(dpaudit.GaussianLaw(ratio, 1.0), dpaudit.GaussianLaw(0.0, 1.0)).epsilon(1e-5)
    assert gaussian.upper == (pytest.approx(ratio**2 / 2, rel=1e-6) if ratio < 1e150 else math.inf)
    laplace = dpaudit.compare(dpaudit.LaplaceLaw(ratio, 1.0), dpaudit.LaplaceLaw(0.0, 1.0)).epsilon(1e-5)
    assert laplace.upper == pytest.approx(ratio)


@pytest.mark.parametrize("epsilon", [*HUGE, *TINY])
def test_calibrated_noise(epsilon):
    assert 0 < GaussianNoise.analytic(epsilon, 1e-5, sensitivity=1.0).scale < 1e5


@pytest.mark.parametrize("delta", TINY)
def test_noise_for_a_tiny_delta(delta):
    assert 30 < GaussianNoise.analytic(1.0, delta, sensitivity=1.0).scale < 60


@pytest.mark.parametrize("epsilon", [*HUGE, *TINY])
def test_smallest_epsilon_of_a_bound(epsilon):
    found = balle2019.smallest_epsilon(lambda at, whole, users: float(at < whole / 3), epsilon, 10, 1e-6)
    assert epsilon / 4 <= found <= epsilon


@pytest.mark.parametrize("epsilon", HUGE)
def test_inverses_of_a_profile(epsilon):
    assert _inverse(lambda at: float(at < epsilon), 1e-5) in (math.inf, pytest.approx(epsilon, rel=1e-9))


@pytest.mark.parametrize("count", [10**15, 9 * 10**15, 10**16, 10**300])
def test_bounds_that_hold_at_all_times(count):
    assert 0 <= anytime_lower(count, count, 1e-3) <= 0.5 <= anytime_upper(count, count, 1e-3) <= 1


@pytest.mark.parametrize("epsilon", HUGE)
@pytest.mark.parametrize("method", ["exact", "black-box"])
def test_a_huge_claim_is_audited(epsilon, method):
    class Bit(dpaudit.Mechanism):
        """A fair coin."""

        def sample(self, data, size, rng):
            return rng.integers(2, size=size)

        def law(self, data):
            return dpaudit.FiniteLaw.from_probabilities([0, 1], [0.5, 0.5])

        def neighbours(self):
            return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")

        def claims(self):
            return [dpaudit.PrivacyClaim(id="bit.privacy", statement="It is private.", epsilon=epsilon)]

    (result,) = dpaudit.check(Bit(), method=method, samples=2000).results
    assert result.verdict == ("proved" if method == "exact" else "inconclusive")
