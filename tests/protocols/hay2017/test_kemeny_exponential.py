"""The exponential mechanism over rankings: law, epsilon and error against enumeration written here."""

import dataclasses
import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy.stats import chisquare

import dpaudit
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.exact import audit_exact
from dpaudit.auditors.measures.rates import audit_rate
from dpaudit.auditors.measures.utility import audit_utility
from dpaudit.catalog.alabi2022.claims import exponential
from dpaudit.catalog.alabi2022.exponential_errors import (
    additive_error,
    block_bound,
    entropy_bound,
    graded_margins,
    instance_counts,
    printed_bound,
    worst_split,
)
from dpaudit.catalog.hay2017 import KemenyExponential
from dpaudit.rankings import Profile, Profiles, pairwise_counts, ranking_index

FALSE_ALARM = 1e-6
TARGET = KemenyExponential


def stated(target):
    """The claim that the ranking is ϵ-differentially private."""
    return next(claim for claim in target.claims() if claim.id == "alabi2022.kemeny-exponential")


def everyone(m):
    return list(itertools.permutations(range(m)))


@cache
def distance(a, b):
    return sum((a.index(i) < a.index(j)) != (b.index(i) < b.index(j)) for i, j in itertools.combinations(a, 2))


def brute_law(profile, m, beta):
    scores = np.array([math.exp(-beta * sum(distance(order, row) for row in profile)) for order in everyone(m)])
    return scores / scores.sum()


def brute_epsilon(m, agents, beta, relation):
    """Worst log-ratio over ALL ordered pairs of neighbouring profiles of ordered agents."""
    law = cache(lambda profile: np.log(brute_law(profile, m, beta)))
    worst = 0.0
    for profile in itertools.product(everyone(m), repeat=agents):
        rest = profile[1:]
        others = [rest] if relation == "add-remove" else [(other, *rest) for other in everyone(m)]
        worst = max(worst, *(float(np.abs(law(profile) - law(other)).max()) for other in others))
    return worst


PROFILES = {3: [(0, 1, 2), (2, 0, 1), (0, 2, 1)], 4: [(0, 1, 2, 3), (1, 0, 3, 2), (3, 0, 1, 2)]}


@pytest.mark.parametrize("m", [3, 4])
@pytest.mark.parametrize(("relation", "range_"), [("substitution", 2), ("add-remove", 1)])
def test_law_likelihood_and_sampler_agree_with_the_definition(m, relation, range_):
    target = TARGET(epsilon=2.0, alternatives=m, agents=3, relation=relation)
    brute = brute_law(PROFILES[m], m, 2.0 / (range_ * m * (m - 1) / 2))
    data = np.array(PROFILES[m])
    law = target.law(data)
    assert law.outcomes.tolist() == [list(order) for order in everyone(m)]
    assert np.exp(law.log_probabilities) == pytest.approx(brute, rel=1e-12)
    assert np.exp(target.log_likelihood(law.outcomes, data)) == pytest.approx(brute, rel=1e-12)
    sample = target.sample(Profile.from_rankings(data), 40_000, np.random.default_rng(7))
    counts = np.bincount(ranking_index(sample), minlength=math.factorial(m))
    assert chisquare(counts, brute * counts.sum()).pvalue > FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["substitution", "add-remove"])
@pytest.mark.parametrize(("m", "agents"), [(2, 3), (3, 1), (3, 2), (3, 3), (4, 1)])
@pytest.mark.parametrize("epsilon", [1.0, 12.0])
def test_epsilon_over_all_profiles_without_symmetry(m, agents, relation, epsilon):
    target = TARGET(epsilon=epsilon, alternatives=m, agents=agents, relation=relation)
    pairs = m * (m - 1) / 2
    worst = brute_epsilon(m, agents, epsilon / (2 * pairs if relation == "substitution" else pairs), relation)
    evidence, _ = audit_exact(target, stated(target), target.neighbours())
    assert evidence.verdict == "proved"
    assert evidence.measured["epsilon"].lower == pytest.approx(worst, rel=1e-9)
    if agents == 1 and relation == "substitution":
        assert worst == pytest.approx(epsilon / 2, rel=1e-12)


@pytest.mark.slow
def test_the_factor_two_is_needed_in_the_limit():
    target = TARGET(epsilon=20.0, alternatives=3, agents=6)
    epsilon = audit_exact(target, stated(target), target.neighbours())[0].measured["epsilon"].lower
    assert 20.0 * (1 - 1e-5) < epsilon <= 20.0


@pytest.mark.slow
def test_by_likelihood_where_the_law_is_not_listed():
    target = TARGET(epsilon=1.0, alternatives=9, agents=30)
    data, _ = next(iter(target.neighbours()))
    assert target.law(data) is None
    evidence = audit(target, stated(target), budget=Budget(samples=2000), streams=Streams(0))
    assert (evidence.verdict, evidence.method) == ("consistent", "likelihood")
    assert not target.neighbours().complete


def test_more_alternatives_than_subsets_allow():
    with pytest.raises(
        dpaudit.ParameterError, match="must be at most 18, because the law is computed over 2\\^m subsets"
    ):
        TARGET(alternatives=19)


def brute_error(target, counts):
    """E K - OPT from pairwise counts and the definition of the law."""
    m = target.alternatives
    cost = np.array(
        [sum(counts[later, earlier] for earlier, later in itertools.combinations(o, 2)) for o in everyone(m)]
    )
    p = np.exp(-target.beta * (cost - cost.min()))
    return ((p / p.sum()) * (cost - cost.min())).sum() / target.agents


@pytest.mark.parametrize("instance", ["unanimous", "split", "cycle", "graded"])
@pytest.mark.parametrize(("m", "agents"), [(3, 20), (4, 301), (5, 3000)])
def test_errors_by_enumeration(instance, m, agents):
    target = TARGET(epsilon=1.5, alternatives=m, agents=agents, instance=instance)
    (counts,) = instance_counts(target)
    assert (counts + counts.T == agents * (1 - np.eye(m, dtype=int))).all()
    assert counts.min() >= 0
    assert additive_error(target) == pytest.approx(brute_error(target, counts), rel=1e-9)
    assert additive_error(target) <= block_bound(target) <= entropy_bound(target) <= printed_bound(target)


def test_graded_majorities_are_those_of_a_profile():
    m, agents = 4, 301
    target = TARGET(alternatives=m, agents=agents, instance="graded")
    margins = graded_margins(target)
    rows = [list(range(m))]  # the odd agent
    for j, k in itertools.combinations(range(m), 2):
        rest = [item for item in range(m) if item not in (j, k)]
        rows += [[j, k, *rest], [*reversed(rest), j, k]] * ((margins[j, k] - 1) // 2)
    assert len(rows) <= agents
    rows += [list(range(m)), list(reversed(range(m)))] * ((agents - len(rows)) // 2)
    (counts,) = instance_counts(target)
    assert (pairwise_counts(rows) == counts).all()
    assert len(np.unique(margins[np.triu_indices(m, k=1)])) > 1


def test_every_profile_has_the_worst_of_all():
    target = TARGET(epsilon=8.0, alternatives=3, agents=4, instance="every")
    worst = max(
        brute_error(target, pairwise_counts(np.array(profile))) for profile in itertools.product(everyone(3), repeat=4)
    )
    assert additive_error(target) == pytest.approx(worst, rel=1e-12)
    assert (
        sum(1 for _ in instance_counts(target))
        == Profiles(agents=4, alternatives=3, relation="add-remove", neutral=True).count()
    )
    with pytest.raises(dpaudit.ParameterError, match="'every' means 98280 profiles"):
        additive_error(TARGET(alternatives=4, agents=6, instance="every"))


def test_the_split_is_the_worst_of_all_splits():
    target = TARGET(epsilon=1.0, alternatives=4, agents=60, instance="split")
    ahead = np.triu(np.ones((4, 4), dtype=int), k=1)
    errors = [brute_error(target, size * ahead + (60 - size) * ahead.T) for size in range(30, 61)]
    assert additive_error(target) == pytest.approx(max(errors), rel=1e-3)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_block_bound_is_that_of_shuffled_blocks(size):
    m, agents = 5, 7
    target = TARGET(epsilon=3.0, alternatives=m, agents=agents)
    shuffled = [o for o in everyone(m) if all(o[place] // size == place // size for place in range(m))]
    excess = np.mean([distance(order, tuple(range(m))) for order in shuffled])
    bound = (math.lgamma(m + 1) - math.log(len(shuffled))) / (target.beta * agents) + excess
    assert block_bound(target) <= bound * (1 + 1e-12)
    assert block_bound(target) >= additive_error(target)


def test_the_block_bound_is_the_least_of_the_blocks():
    # m = 3: blocks of 1, 2 and 3 items hold 1, 2 and 6 rankings, which cost 0, 1/2 and 3/2 on average
    for agents in (1, 3, 10, 100):
        target = TARGET(epsilon=3.0, alternatives=3, agents=agents)
        costs = [math.log(6 / count) / (target.beta * agents) + cost for count, cost in ((1, 0), (2, 0.5), (6, 1.5))]
        assert block_bound(target) == pytest.approx(min(costs), rel=1e-12)


RATES = ["agents", "epsilon", "alternatives", "opposed", "graded"]


@pytest.mark.slow
@pytest.mark.parametrize("name", RATES)
def test_rates_and_their_neighbours(name):
    claim = next(c for c in TARGET(alternatives=6).claims() if c.id == f"alabi2022.kemeny-exponential-rate-{name}")
    assert audit_rate(claim, budget=Budget(), streams=Streams(0)).verdict == "consistent"
    lower = dataclasses.replace(claim, exponent=claim.exponent - 0.5)
    assert audit_rate(lower, budget=Budget(), streams=Streams(0)).verdict == "refuted"
    higher = dataclasses.replace(claim, exponent=claim.exponent + 0.75, direction="equal")
    assert audit_rate(higher, budget=Budget(), streams=Streams(0)).verdict == "refuted"


def test_graded_majorities_pay_a_growing_share_of_the_entropy():
    shares = []
    for m in (4, 6, 8, 10, 12):
        target = TARGET(epsilon=1.0, alternatives=m, agents=10**7, instance="graded")
        shares.append(additive_error(target) / entropy_bound(target))
    assert (np.diff(shares) > 0).all()
    assert shares[0] > 0.4


def test_the_law_of_a_split_is_a_mallows_model():
    target = TARGET(epsilon=1.0, alternatives=7, agents=500, instance="split")
    majority, error = worst_split(7, 500, target.beta)
    assert additive_error(target) == pytest.approx(error, rel=1e-10)
    assert 250 < majority <= 500


def test_a_bound_that_is_too_small_is_refuted(monkeypatch):
    target = TARGET(epsilon=1.0, alternatives=8, agents=10**6, instance="graded")
    monkeypatch.setattr(exponential, "entropy_bound", lambda system: math.lgamma(9) / system.beta / system.agents / 2.4)
    claim = next(claim for claim in target.claims() if claim.id.endswith("-entropy"))
    assert audit_utility(claim, budget=Budget(), streams=Streams(0)).verdict == "refuted"


@pytest.mark.parametrize("agents", [1000, 30])
def test_bounds_say_something_from_a_number_of_agents_on(agents):
    target = TARGET(epsilon=1.0, alternatives=8, agents=agents)
    claim = next(claim for claim in target.claims() if claim.id.endswith("-entropy"))
    verdict = audit_utility(claim, budget=Budget(), streams=Streams(0)).verdict
    assert verdict == ("proved" if agents > 4 * math.lgamma(9) else "vacuous")
