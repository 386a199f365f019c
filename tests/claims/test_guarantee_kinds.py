"""The guarantees beside approximate differential privacy: what events force, parameters, and what they imply."""

import itertools
import math
import re

import numpy as np
import pytest
from scipy.special import ndtr

import dpaudit
from dpaudit import GaussianDP, PrivacyProfile, RenyiCurve, RenyiDP, TradeOff, ZeroConcentratedDP
from dpaudit.claims.guarantees.bits import rate_of_bits, renyi_of_bits
from dpaudit.laws import compare

KINDS = [
    ZeroConcentratedDP(0.5),
    ZeroConcentratedDP(0.5, 0.01),
    RenyiDP(2, 1.0),
    RenyiDP(1.3, 0.2),
    RenyiDP(math.inf, 1.0),
    RenyiCurve({2: 0.5, 8: 2.5}),
    GaussianDP(1.0),
    PrivacyProfile({0.0: 0.3, 1.0: 0.1}),
    TradeOff({0.1: 0.6, 0.3: 0.3}),
]


def divergence_of_bits(p, q, alpha):
    """The definition, in the larger direction."""
    sums = [a**alpha * b ** (1 - alpha) + (1 - a) ** alpha * (1 - b) ** (1 - alpha) for a, b in ((p, q), (q, p))]
    return math.log(max(sums)) / (alpha - 1)


@pytest.mark.parametrize("claim", KINDS, ids=str)
def test_what_an_event_may_be_and_what_it_forces_are_inverse(claim):
    for q in (1e-9, 0.2, 0.6):
        p = claim.most(q)
        assert p > q
        assert float(claim.forces(p, q)) <= claim.claimed + 1e-9
        if p < 1:
            assert float(claim.forces(min(1.0, p * (1 + 1e-6)), q)) > claim.claimed
            assert claim.at(claim.claimed + 0.1).most(q) > p
    assert claim.most(1.0) == 1.0
    assert claim.most(claim.balanced) == pytest.approx(1 - claim.balanced, abs=1e-9)
    if not isinstance(claim, ZeroConcentratedDP):  # where the general search takes long
        assert claim.balanced == pytest.approx(dpaudit.Guarantee.balanced.fget(claim), rel=1e-6)


@pytest.mark.parametrize("claim", KINDS, ids=str)
def test_what_is_forced_rises_with_p_and_falls_with_q(claim):
    p = np.linspace(0.01, 0.99, 99)
    forced = claim.forces(p[:, None], p)
    assert forced.shape == (99, 99)
    assert (np.diff(forced, axis=0) >= -1e-4 * forced[1:]).all()
    assert (np.diff(forced, axis=1) <= 1e-4 * forced[:, :-1]).all()
    assert (forced[np.arange(99)[:, None] <= np.arange(99)] == 0).all()
    assert float(claim.forces(0.4, 0.1)) == pytest.approx(forced[39, 9])


@pytest.mark.parametrize("claim", KINDS, ids=str)
def test_parameters_make_the_guarantee_again(claim):
    assert type(claim).from_parameters(claim.parameters) == claim
    assert all(isinstance(value, float | int) for value in claim.parameters.values())
    assert claim.parameters[claim.forced] == claim.claimed
    assert claim.at(claim.claimed) == claim


def test_points_in_any_form():
    by_function = PrivacyProfile(lambda epsilon: 0.3 / (1 + epsilon), epsilons=[1, 0])
    assert by_function == PrivacyProfile([(1.0, 0.15), (0.0, 0.3)]) == PrivacyProfile({0: 0.3, 1: 0.15})
    assert dict(by_function.parameters) == {"shift": 0.0, "delta_at_0": 0.3, "delta_at_1": 0.15}
    assert dict(RenyiCurve({2.5: 0.5}).parameters) == {"scale": 1.0, "epsilon_at_2.5": 0.5}
    assert TradeOff(lambda a: (1 - a) ** 2, type_one=[0.5]) == TradeOff({0.5: 0.25})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ZeroConcentratedDP(-0.1), "rho must be a finite number >= 0"),
        (lambda: ZeroConcentratedDP(0.1, 1.0), "delta must be in [0, 1)"),
        (lambda: RenyiDP(1.0, 0.1), "alpha must be above 1"),
        (lambda: RenyiDP(2.0, math.inf), "epsilon must be a finite number >= 0"),
        (lambda: RenyiCurve({}), "needs at least one point"),
        (lambda: RenyiCurve({2: 0.0}), "epsilon at alpha 2 must be a finite number > 0"),
        (lambda: RenyiCurve([(2, 1), (2, 3)]), "must differ in their first number"),
        (lambda: RenyiCurve([1, 2]), "needs points (alpha, epsilon)"),
        (lambda: GaussianDP(math.nan), "mu must be a finite number >= 0"),
        (lambda: PrivacyProfile({-1.0: 0.1}), "epsilon must be a finite number >= 0"),
        (lambda: PrivacyProfile({1.0: 1.5}), "delta at epsilon 1 must be in [0, 1]"),
        (lambda: PrivacyProfile(lambda epsilon: 0.1), "needs `epsilons`"),
        (lambda: TradeOff({0.5: 0.6}), "type II error at 0.5 must be above 0 and at most 0.5"),
        (lambda: TradeOff(lambda a: 1 - a), "needs `type_one`"),
        (lambda: PrivacyProfile.from_parameters({"shift": 0.0, "delta_1": 0.1}), "names that begin with 'delta_at_'"),
        (lambda: GaussianDP(1.0).to_approximate(0.0), "implies no epsilon below 690 at delta 0"),
        (lambda: GaussianDP(1.0).to_approximate(2.0), "delta must be in [0, 1]"),
    ],
)
def test_what_is_no_guarantee_is_refused(make, message):
    with pytest.raises(dpaudit.ParameterError, match=re.escape(message)):
        make()


def test_divergences_of_bits():
    for p, q in ((0.5, 0.0677), (0.9, 0.2), (0.99, 0.98), (0.02, 0.001)):
        for alpha in (1.01, 1.5, 2.0, 20.0):
            assert renyi_of_bits(p, q, alpha) == pytest.approx(divergence_of_bits(p, q, alpha), rel=1e-9)
        assert renyi_of_bits(p, q, math.inf) == pytest.approx(max(math.log(p / q), math.log((1 - q) / (1 - p))))
        orders = 1 + np.geomspace(1e-6, 100, 8001)
        rate = max(divergence_of_bits(p, q, alpha) / alpha for alpha in orders)
        assert 0.99995 * rate <= rate_of_bits(p, q) <= rate * (1 + 1e-6)
    # Where the best order is 1.5.
    assert rate_of_bits(0.5, 0.0677) == pytest.approx(0.727, abs=5e-4)
    assert rate_of_bits(0.5, 0.0) == rate_of_bits(1.0, 0.5) == math.inf


def test_rare_events_force_less_of_approximate_concentration():
    """Mixtures of which a part of 0.05 is anything whatever, and the rest has the divergences."""
    rng = np.random.default_rng(5)
    claim, delta = ZeroConcentratedDP(0.3, 0.05), 0.05
    reached = 0.0
    for inner_q in rng.random(12):
        inner_p = ZeroConcentratedDP(0.3).most(inner_q)
        p, q = ((1 - delta) * inner + delta * rest for inner, rest in zip((inner_p, inner_q), (1.0, 0.0), strict=True))
        forced = float(claim.forces(p, q))
        assert forced <= 0.3 * (1 + 1e-6)
        reached = max(reached, forced)
        assert float(ZeroConcentratedDP(0.3).forces(p, q)) > 0.3
    assert reached == pytest.approx(0.3, rel=1e-4)


@pytest.mark.parametrize("mu", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("delta", [1e-10, 1e-3, 0.05])
def test_gaussian_dp_implies_what_its_closed_form_says(mu, delta):
    epsilon = GaussianDP(mu).to_approximate(delta).epsilon
    if epsilon == 0:
        assert 2 * ndtr(mu / 2) - 1 <= delta
        return
    exact = ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
    assert delta * (1 - 1e-6) < exact <= delta * (1 + 1e-12)
    assert GaussianDP(mu).delta_at(epsilon) == pytest.approx(delta, rel=1e-6)


def by_orders(divergence, delta, orders):
    """Canonne, Kamath, Steinke 2020, Proposition 12."""
    excess = orders - 1
    return np.min(divergence + (math.log(1 / delta) + excess * np.log1p(-1 / orders) - np.log(orders)) / excess)


@pytest.mark.slow
def test_concentration_implies_no_more_than_published_conversions():
    orders = 1 + np.geomspace(1e-4, 1e4, 20_001)
    for rho, delta in ((0.01, 1e-6), (0.5, 0.05)):
        epsilon = ZeroConcentratedDP(rho).to_approximate(delta).epsilon
        published = by_orders(rho * orders, delta, orders)
        assert 0.95 * published < epsilon <= published * (1 + 1e-6)
        assert published < rho + 2 * math.sqrt(rho * math.log(1 / delta))
    single = RenyiDP(2, 1.0).to_approximate(1e-5).epsilon
    published = by_orders(1.0, 1e-5, np.array([2.0]))
    assert 0.9 * published < single < published
    # No smaller epsilon does: a bit has it.
    reached = [(RenyiDP(2, 1.0).most(q) - 1e-5) / q for q in np.geomspace(1e-12, 0.9, 200)]
    assert 0.999 * single < math.log(max(reached)) <= single


def test_what_pure_privacy_and_exponential_mechanisms_imply():
    assert ZeroConcentratedDP.of_pure(1.0).rho == pytest.approx(math.tanh(0.5))
    assert ZeroConcentratedDP.of_pure(0.01).rho == pytest.approx(0.01**2 / 2, rel=1e-4)
    assert ZeroConcentratedDP.of_exponential_mechanism(2.0).rho == 0.5
    assert str(dpaudit.ApproximateDP(1.0).to_approximate(0.0)) == "1-DP"
    # A part of delta that is given up makes room for the other part's ratio.
    implied = dpaudit.ApproximateDP(1.0, 1e-3).to_approximate(0.1)
    assert implied.epsilon <= 1.0


def test_deltas_at_huge_epsilons_err_upwards():
    from scipy.special import ndtr

    assert GaussianDP(50.0).delta_at(1000.0) >= ndtr(25 - 20) - 1e-12
    assert dpaudit.ApproximateDP(700.0).delta_at(695.0) >= -math.expm1(-5.0)


def test_what_is_promised_is_returned_as_it_is():
    claim = dpaudit.ApproximateDP(0.123456789, 1e-5)
    assert claim.to_approximate(1e-5) == claim
    assert claim.delta_at(0.123456789) == 1e-5
    profile = dpaudit.PrivacyProfile({0.3: 0.1, 1.0: 0.01}, 0.05)
    assert profile.to_approximate(0.1).epsilon == 0.35
    assert profile.delta_at(1.05) == 0.01
    assert dpaudit.RenyiDP(math.inf, 0.7).to_approximate(0.0).epsilon == 0.7


@pytest.mark.slow
def test_approximate_concentration_falls_with_delta():
    rng = np.random.default_rng(20240701)
    deltas = np.r_[0.0, np.geomspace(1e-6, 0.99, 20)].tolist()
    for _ in range(20):
        p, q = (
            dpaudit.FiniteLaw.from_probabilities(range(4), masses) for masses in rng.dirichlet(np.full(4, 0.7), size=2)
        )
        found = [dpaudit.ZeroConcentratedDP(1.0, delta).measure(compare(p, q))["rho"] for delta in deltas]
        for before, after in itertools.pairwise(found):
            assert after.upper <= before.upper * (1 + 1e-9)
            assert after.lower <= before.lower * (1 + 1e-3)
        # Where no event differs by more than delta, the rest of both laws can be the same.
        apart = float(np.abs(np.exp(p.log_probabilities) - np.exp(q.log_probabilities)).sum() / 2)
        assert dpaudit.ZeroConcentratedDP(1.0, apart).measure(compare(p, q))["rho"].upper == 0.0
    for law in (dpaudit.GaussianLaw, dpaudit.LaplaceLaw):
        pair = compare(law(0.0, 1.0), law(1.0, 1.0))
        uppers = [dpaudit.ZeroConcentratedDP(1.0, delta).measure(pair)["rho"].upper for delta in deltas]
        assert uppers == sorted(uppers, reverse=True)
        assert uppers[-1] == 0.0


@pytest.mark.parametrize("delta", [1e-3, 0.05, 0.2, 0.35])
def test_approximate_concentration_of_two_bits_is_that_of_their_event(delta):
    p, q = 0.7, 0.3
    pair = compare(*(dpaudit.FiniteLaw.from_probabilities([1, 0], [side, 1 - side]) for side in (p, q)))
    found = dpaudit.ZeroConcentratedDP(1.0, delta).measure(pair)["rho"]
    # Either bit can give up its likelier value alone: what is left are two bits again.
    forced = float(rate_of_bits((p - delta) / (1 - delta), min(q / (1 - delta), 1.0)))
    assert found.lower == pytest.approx(forced, rel=1e-3)
    kept = (p - delta) / (1 - delta)
    assert found.upper == pytest.approx((2 * kept - 1) * math.log(kept / (1 - kept)), rel=1e-6)
