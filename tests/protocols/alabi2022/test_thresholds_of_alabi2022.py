"""Verdicts at parameters drawn around every threshold of a claim, against formulas of their own."""

import itertools
import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm

from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.exact import audit_exact
from dpaudit.catalog.alabi2022 import (
    DPKwikSortCapped,
    LDPKwikSortInteractive,
    LocalPairwise,
    MarginalsReduction,
    NoisyPairwise,
)
from dpaudit.catalog.duchi2013 import VectorMechanism

SEED = 20261122
DRAWS = 12


def claim_of(target, name):
    return next(claim for claim in target.claims() if claim.id == name)


def privacy(target, name):
    claim = claim_of(target, name)
    assert not claim.inapplicable
    view = target.views()[claim.view]
    return audit_exact(view, claim, view.neighbours())[0]


def verdict(target, name):
    return audit(target, claim_of(target, name), budget=Budget(), streams=Streams(SEED)).verdict


@pytest.fixture
def rng():
    return np.random.default_rng(SEED)


@pytest.mark.slow
def test_corollary_6_spends_more_than_its_budget_wherever_the_fallback_can_run(rng):
    for _ in range(DRAWS):
        m, epsilon = int(rng.integers(2, 8)), float(rng.uniform(0.05, 8))
        pairs = math.comb(m, 2)
        cap = max(0, pairs + int(rng.integers(-2, 2)))
        calibration = str(rng.choice(["printed", "tight"]))
        target = DPKwikSortCapped(epsilon=epsilon, alternatives=m, agents=1, cap=cap, calibration=calibration)
        name, other = ("-tight", "") if calibration == "tight" else ("", "-tight")
        assert claim_of(target, f"alabi2022.corollary6-budget{other}").inapplicable
        if cap >= pairs:
            assert "the fallback never runs" in claim_of(target, f"alabi2022.corollary6-budget{name}").inapplicable
            continue
        spent = epsilon * min(cap, 1) + epsilon / 2 * (1 if calibration == "tight" else (m - 1) / (2 * m))
        found = privacy(target, f"alabi2022.corollary6-budget{name}")
        assert found.measured["epsilon"].upper == pytest.approx(spent, rel=1e-9)
        assert found.verdict == ("refuted" if spent > epsilon * (1 + 1e-9) else "proved")
        meant = privacy(target.but(budget="meant"), "alabi2022.theorem5-budget")
        assert meant.verdict == "proved"


def gaussian_delta(epsilon, sensitivity, deviation):
    """Balle and Wang 2018, Theorem 8."""
    ratio = sensitivity / deviation
    return norm.cdf(ratio / 2 - epsilon / ratio) - math.exp(epsilon + norm.logcdf(-ratio / 2 - epsilon / ratio))


@pytest.mark.slow
def test_corollary_4_fails_from_its_threshold_on_and_the_mended_noise_never(rng):
    for _ in range(DRAWS):
        m, delta = int(rng.integers(3, 7)), float(10 ** rng.uniform(-9, -2))
        log = math.log(1.25 / delta)
        # About where room of 2m / (m - 1) is used up.
        epsilon = float(4 * log * m / (m - 1) * rng.uniform(0.3, 1.8))
        sensitivity = math.sqrt(math.comb(m, 2))
        given = {"delta": delta, "noise": "gaussian", "alternatives": m, "agents": 1}
        exact = gaussian_delta(epsilon, sensitivity, m * math.sqrt(2 * log) / epsilon)
        found = privacy(NoisyPairwise(epsilon=epsilon, **given), "alabi2022.corollary4-privacy")
        assert found.measured["delta"].upper == pytest.approx(exact, rel=1e-6)
        assert found.verdict == ("refuted" if exact > delta else "proved")
        inverse = -math.log(delta)
        deviation = sensitivity * (math.sqrt(inverse) + math.sqrt(inverse + epsilon)) / math.sqrt(2) / epsilon
        mended = NoisyPairwise(epsilon=epsilon, calibration="mended", **given)
        assert mended.main_noise.scale == pytest.approx(deviation)
        assert gaussian_delta(epsilon, sensitivity, deviation) <= delta
        assert privacy(mended, "alabi2022.corollary4-privacy-mended").verdict == "proved"


@pytest.mark.slow
def test_the_vector_mechanism_fails_at_every_even_dimension_and_mended_at_none(rng):
    for d, epsilon in zip(rng.integers(1, 40, DRAWS).tolist(), rng.uniform(0.1, 6, DRAWS).tolist(), strict=True):
        target = VectorMechanism(epsilon=epsilon, dimensions=d)
        printed = target.but(ties="both")
        assert "ties = both" in claim_of(target, "duchi2013.vector-mechanism").inapplicable
        assert "ties = split" in claim_of(printed, "duchi2013.vector-mechanism-mended").inapplicable
        loss = epsilon if d % 2 else math.log1p(math.exp(epsilon))
        found = privacy(printed, "duchi2013.vector-mechanism")
        assert found.measured["epsilon"].upper == pytest.approx(loss, rel=1e-9)
        assert found.verdict == ("proved" if d % 2 else "refuted")
        assert privacy(target, "duchi2013.vector-mechanism-mended").verdict == "proved"


def vector_error(m, epsilon, n):
    """B by the sum over all corners of the half-space, for C(m, 2) signs with ties split."""
    d = math.comb(m, 2)
    mean = sum(math.comb(d, k) * abs(2 * k - d) for k in range(d + 1)) / 2**d / d
    return math.sqrt(((1 / (mean * math.tanh(epsilon / 2))) ** 2 - 1) / 4 / n)


def test_the_error_of_theorem_8_is_not_of_the_order_of_1_over_epsilon(rng):
    seen = set()
    for _ in range(DRAWS):
        m, n, epsilon = int(rng.integers(3, 30)), 10_000, float(rng.uniform(0.2, 8))
        error = vector_error(m, epsilon, n)
        printed = 1.5 * m / (epsilon * math.sqrt(n))
        target = LocalPairwise(epsilon=epsilon, alternatives=m, agents=n)
        assert target.report.error(n) == pytest.approx(error, rel=1e-9)
        found = verdict(target, "alabi2022.theorem8-entry")
        assert found == ("proved" if error <= printed else "refuted")
        assert verdict(target, "alabi2022.theorem8-entry-meant") == "proved"
        seen.add(found)
    assert seen == {"proved", "refuted"}


def test_the_error_of_lemma_10_is_not_of_the_order_of_1_over_epsilon(rng):
    seen = set()
    for _ in range(DRAWS):
        m, n, epsilon = int(rng.integers(3, 20)), 1_000, float(10 ** rng.uniform(0, 3.5))
        q = math.floor(10 * m * math.log(m)) + 1
        error = math.sqrt(m / n) / math.tanh(epsilon * m / (4 * q))
        target = LDPKwikSortInteractive(epsilon=epsilon, alternatives=m, agents=n)
        found = verdict(target, "alabi2022.lemma10-error")
        assert found == ("proved" if error <= 5 * q / (epsilon * math.sqrt(n * m)) else "refuted")
        assert verdict(target, "alabi2022.lemma10-error-mended") == "proved"
        seen.add(found)
    assert seen == {"proved", "refuted"}


@pytest.mark.slow
def test_algorithm_3_at_unseen_numbers_of_alternatives(rng):
    for _ in range(4):
        m, epsilon = int(rng.integers(9, 16)), float(rng.uniform(0.2, 6))
        q = math.floor(10 * m * math.log(m)) + 1
        pairs, uses = math.comb(m, 2), 2 * q // m
        spent = min(uses, pairs) * math.log((1 + math.exp(epsilon * m / (2 * q))) / 2)
        spent += epsilon / 2 if pairs > uses else 0
        found = privacy(LDPKwikSortInteractive(epsilon=epsilon, alternatives=m), "alabi2022.algorithm3-privacy")
        assert found.measured["epsilon"].upper == pytest.approx(spent, rel=1e-9)
        assert found.verdict == ("refuted" if spent > epsilon else "proved")


@pytest.mark.slow
def test_observation_16_holds_up_to_as_much_padding_as_dimensions(rng):
    for d, t in rng.integers(1, 5, (DRAWS, 2)).tolist():
        target = MarginalsReduction(dimensions=d, padding=t)
        holds = all(k * (2 * t + 2 * d - k) <= t * k + 2 * d * d for k in range(d + 1))
        assert verdict(target, "alabi2022.observation16") == ("proved" if holds else "refuted")
        assert verdict(target, "alabi2022.observation16-meant") == "proved"


def test_the_saving_of_the_vector_mechanism_is_proportional_to_m_at_every_epsilon(rng):
    for epsilon in rng.uniform(0.1, 30, 4).tolist():
        claim = claim_of(LocalPairwise(epsilon=epsilon), "alabi2022.theorem8-saving-rate")
        shares = [claim.exact(m) / m for m in claim.points]
        assert shares[-1] == pytest.approx(2 * math.tanh(epsilon / 2) / epsilon / math.sqrt(math.pi), rel=2e-3)
        assert all(abs(b - shares[-1]) <= abs(a - shares[-1]) for a, b in pairwise(shares))


def test_algorithm_3_is_about_as_many_queries_as_lemma_10_wants(rng):
    for m in rng.integers(3, 30, 6).tolist():
        least = math.ceil(10 * m * math.log(m))
        for cap in (least - 1, least):
            claim = claim_of(LDPKwikSortInteractive(alternatives=m, cap=cap), "alabi2022.algorithm3-privacy")
            assert bool(claim.inapplicable) == (cap < least)


def rest_at_random(m, cap, rng):
    """One run on agents who agree, step by step: number of pairs in the wrong order."""
    asked, order = 0, []
    parts = [list(range(m))]
    while parts:
        part = parts.pop(0)
        if len(part) < 2:
            order += part
        elif asked + len(part) - 1 > cap:
            for left in (part, *parts):
                order += rng.permutation(left).tolist()
            break
        else:
            pivot = part[int(rng.integers(len(part)))]
            asked += len(part) - 1
            parts[:0] = [[x for x in part if x < pivot], [pivot], [x for x in part if x > pivot]]
    return sum(a > b for i, a in enumerate(order) for b in order[i + 1 :])


@pytest.mark.slow
@pytest.mark.parametrize(("m", "cap"), [(5, 8), (6, 9), (8, 14)])
def test_what_is_left_unsorted_costs_whatever_the_number_of_agents(m, cap, rng):
    target = DPKwikSortCapped(alternatives=m, cap=cap)
    claim = claim_of(target, "alabi2022.unsorted-rest")
    costs = np.array([rest_at_random(m, cap, rng) for _ in range(20_000)])
    assert abs(costs.mean() - claim.exact()) < 5 * costs.std() / math.sqrt(20_000)
    assert claim.exact() >= claim.bound > 0
    assert verdict(target, "alabi2022.unsorted-rest") == "proved"
    if m == 5:
        assert claim.exact() == pytest.approx(0.3)


@pytest.mark.slow
def test_what_is_left_unsorted_is_nothing_where_the_cap_is_the_number_of_pairs():
    target = DPKwikSortCapped(alternatives=5, cap=10)
    assert verdict(target, "alabi2022.unsorted-rest") == "inapplicable"


def test_the_core_of_theorem_1_by_brute_force(rng):
    """Costs by counting inverted pairs, for drawn weights; the bound is met within a few times over."""
    claim = claim_of(MarginalsReduction(), "alabi2022.theorem1-core")
    orders = list(itertools.permutations(range(3)))
    for _ in range(60):
        alpha, values = float(rng.uniform(1, 5)), rng.uniform(0, 1, (2, 3))
        w, noisy = (dict(zip(((0, 1), (0, 2), (1, 2)), row, strict=True)) for row in values.tolist())

        def cost(order, weights):
            place = [order.index(k) for k in range(3)]
            return sum(1 - v if place[i] < place[j] else v for (i, j), v in weights.items())

        least = min(cost(order, noisy) for order in orders)
        worst = max(cost(order, w) for order in orders if cost(order, noisy) <= alpha * least)
        best = min(cost(order, w) for order in orders)
        bound = alpha * best + (alpha + 1) * 2 * np.abs(values[0] - values[1]).sum()
        names = [f"{matrix}_{pair}" for matrix in ("w", "w~") for pair in ("01", "02", "12")]
        given = dict(zip(names, values.ravel().tolist(), strict=True))
        assert claim.margin(alpha=alpha, **given) == pytest.approx(bound - worst)
        assert bound >= worst
