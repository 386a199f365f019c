"""Verdicts at parameters drawn around every threshold of a claim, against formulas of their own."""

import math

import numpy as np
import pytest

from dpaudit import rankings
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.catalog.yang2018 import Harmony, RankingGrr, Safa, Safari
from dpaudit.claims.declarations import declarations_of

SEED = 20261122
DRAWS = 12


def verdict(target, name):
    claim = next(claim for claim in target.claims() if claim.id == f"yang2018.{name}")
    return audit(target, claim, budget=Budget(samples=20), streams=Streams(SEED)).verdict


@pytest.fixture
def rng():
    return np.random.default_rng(SEED)


def test_grr_is_best_where_no_oracle_has_less_variance_at_both_frequencies(rng):
    """Around m = 3 e + 2, where GRR and optimised unary encoding meet at frequency 0; at 1/m they meet below it."""
    seen = set()
    for _ in range(DRAWS):
        epsilon = float(rng.uniform(0.2, 2.0))
        e, root = math.exp(epsilon), math.exp(epsilon / 2)
        m = max(2, round(3 * e + 2 + rng.uniform(-3, 2)))
        hashes = max(2, math.floor(e + 1.5))
        own_and_other = [
            (e / (e + m - 1), 1 / (e + m - 1)),
            (root / (1 + root), 1 / (1 + root)),
            (0.5, 1 / (e + 1)),
            (e / (e + 1), 0.5),
            (e / (e + hashes - 1), 1 / hashes),
        ]

        def variances(f, pairs=own_and_other):
            return [(f * p * (1 - p) + (1 - f) * q * (1 - q)) / (p - q) ** 2 for p, q in pairs]

        for frequency in (0.0, 1 / m, float(rng.uniform())):
            grr, *rest = variances(frequency)
            found = verdict(Safa(epsilon=epsilon, values=m, frequency=frequency), "grr-best")
            assert found == ("proved" if grr <= min(rest) else "refuted")
        at_zero, *others = variances(0.0)
        assert (at_zero < min(others)) == (m < 3 * e + 2)
        assert min(others) == pytest.approx(4 * e / (e - 1) ** 2)
        seen.add(found)
    assert seen == {"proved", "refuted"}


@pytest.mark.parametrize("epsilon", [0.3, 1.7])
def test_the_domain_size_from_which_grr_is_not_best(epsilon):
    assert verdict(Safa(epsilon=epsilon, frequency=0.0), "grr-best-mended") == "proved"


@pytest.mark.slow
def test_safa_beats_harmony_below_the_true_crossover(rng):
    for _ in range(DRAWS):
        epsilon, attributes = float(rng.uniform(0.2, 1.5)), int(rng.integers(1, 12))
        e, n = math.exp(epsilon), 5000

        def better(m, e=e, a=attributes):
            return ((e + m - 1) * a - 1) / (e - 1) ** 2 < a * ((e + 1) / (e - 1)) ** 2

        printed = ((2 * attributes - 1) * (e + 1) ** 2 + 1) / attributes - e + 1
        holds = all(better(m) for m in range(2, math.ceil(printed)))
        target = Safa(epsilon=epsilon, attributes=attributes, agents=n, frequency=0.0)
        assert verdict(target, "safa-theorem4") == ("proved" if holds else "refuted")
        assert verdict(target, "safa-theorem4-meant") == "proved"


def test_the_variances_of_theorems_3_and_4_around_a_tenth(rng):
    seen = set()
    for _ in range(DRAWS):
        epsilon, m, a = float(rng.uniform(0.3, 2)), int(rng.integers(2, 12)), int(rng.integers(1, 6))
        e = math.exp(epsilon)
        given = {"epsilon": epsilon, "values": m, "attributes": a}
        frequency = min(1.0, float(0.1 / (e - 1) * rng.uniform(0.5, 2)))
        p, q = e / (e + m - 1), 1 / (e + m - 1)

        def of_one(keep, a=a, p=p, q=q):
            return keep / a * (1 - keep / a) * (a / (p - q)) ** 2

        exact = frequency * of_one(p) + (1 - frequency) * of_one(q)
        printed = ((e + m - 1) * a - 1) / (e - 1) ** 2
        found = verdict(Safa(**given, frequency=frequency), "safa-theorem3")
        assert found == ("proved" if max(exact / printed, printed / exact) <= 1.1 else "refuted")
        assert verdict(Safa(**given, frequency=frequency), "safa-theorem3-mended") == "proved"
        assert verdict(Harmony(**given, frequency=frequency), "harmony-variance-mended") == "proved"
        seen.add(found)
    assert seen == {"proved", "refuted"}


def test_where_safari_has_less_noise_than_a_flat_oracle(rng):
    for items in range(3, 11):
        epsilon = float(rng.uniform(0.5, 4))
        half, whole = math.exp(epsilon / 2), math.exp(epsilon)
        flat = (whole + math.factorial(items) - 2) / (whole - 1) ** 2
        rules = [(items * math.comb(items - 1, 2), 2 * items), (items - 1, items)]
        phases = [((half + size - 1) * count - 1) / (half - 1) ** 2 for count, size in rules]
        assert float(RankingGrr(epsilon=epsilon, items=items).oracle.variance(0.0, 1)) == pytest.approx(flat)
        expected = "proved" if max(phases) < flat else "refuted"
        assert verdict(Safari(epsilon=epsilon, items=items), "safari-less-noise-at") == expected


def test_claims_about_the_papers_data_are_inapplicable_to_others():
    claims = {claim.id: claim for claim in RankingGrr(items=3).claims()}
    assert "d = 10 items" in claims["yang2018.ranking-grr-noise"].inapplicable
    assert not {claim.id: claim for claim in RankingGrr(items=10).claims()}["yang2018.ranking-grr-noise"].inapplicable
    few = {claim.id: claim.inapplicable for claim in Safari(items=3).claims()}
    assert "fewer than four items" in few["yang2018.figure1a"]
    other = {claim.id: claim.inapplicable for claim in Safari(items=7, users="mixture").claims()}
    assert "figure1a-any-users" in other["yang2018.figure1a"]
    assert not other["yang2018.figure1a-any-users"]


def test_what_is_said_of_the_sushi_data_is_inapplicable_without_them():
    claims = declarations_of(Safari)
    on_data = {each.id: each for each in claims if each.id.endswith("-sushi")}
    assert len(on_data) == 8
    model = Safari(items=7)
    profile = rankings.Profile.from_rankings(np.random.default_rng(1).permuted(np.tile(np.arange(7), (9, 1)), axis=1))
    data = Safari(items=7, agents=9, profile=profile)
    known = {each.id: each for each in claims}
    for name, each in on_data.items():
        ours = known[name.removesuffix("-sushi")]
        assert (each.ours, ours.ours) == (False, True)
        assert "--data" in each.bind(model).inapplicable
        assert each.bind(data).inapplicable == ours.bind(data).inapplicable
