"""DP-KwikSort: its exact law against a recursion written here and simulation, its epsilon against all profiles."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy.stats import chisquare

import dpaudit
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.exact import audit_exact
from dpaudit.catalog.hay2017 import DPKwikSort
from dpaudit.catalog.yan2020.claims import dp_kwiksort

FALSE_ALARM = 1e-6
SEED = 20261124
DP = DPKwikSort


def everyone(m):
    return list(itertools.permutations(range(m)))


@cache
def scale_of(m, logarithm, epsilon=1.0):
    return (m - 1) * (math.log(m) if logarithm == "natural" else math.log2(m)) / epsilon


def brute_law(profile, m, scale):
    """KwikSort's recursion on lists: every pivot, every outcome of every noisy comparison."""

    def before(i, p):
        margin = sum(1 if r.index(i) < r.index(p) else -1 for r in profile)
        tail = math.exp(-abs(margin) / scale) / 2
        return 1 - tail if margin > 0 else tail if margin < 0 else 0.5

    @cache
    def law(items):
        if not items:
            return {(): 1.0}
        total = {}
        for pivot in items:
            others = [item for item in items if item != pivot]
            for sides in itertools.product((True, False), repeat=len(others)):
                chance = 1 / len(items)
                for item, left in zip(others, sides, strict=True):
                    chance *= before(item, pivot) if left else 1 - before(item, pivot)
                lefts = tuple(item for item, left in zip(others, sides, strict=True) if left)
                rights = tuple(item for item, left in zip(others, sides, strict=True) if not left)
                for (a, p), (b, q) in itertools.product(law(lefts).items(), law(rights).items()):
                    order = (*a, pivot, *b)
                    total[order] = total.get(order, 0.0) + chance * p * q
        return total

    found = law(tuple(range(m)))
    return np.array([found[order] for order in everyone(m)])


def brute_epsilon(m, agents, scale, relation):
    """Worst log-ratio over ALL ordered pairs of neighbouring profiles of ordered agents."""
    laws = {}

    def law_of(profile):
        key = tuple(sorted(profile))
        if key not in laws:
            laws[key] = np.log(brute_law(key, m, scale))
        return laws[key]

    worst = 0.0
    for profile in itertools.product(everyone(m), repeat=agents):
        for place in range(agents):
            rest = (*profile[:place], *profile[place + 1 :])
            if relation == "add-remove":
                others = [rest]
            else:
                others = [(*profile[:place], other, *profile[place + 1 :]) for other in everyone(m)]
            for other in others:
                worst = max(worst, float(np.abs(law_of(profile) - law_of(other)).max()))
    return worst


PROFILES = {
    3: [(0, 1, 2), (2, 0, 1), (0, 2, 1)],
    4: [(0, 1, 2, 3), (1, 0, 3, 2), (3, 0, 1, 2), (0, 2, 1, 3)],
}


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("logarithm", ["natural", "binary"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_law_is_the_recursion_over_pivots(m, logarithm, epsilon):
    target = DP(epsilon=epsilon, alternatives=m, agents=3, logarithm=logarithm)
    for profile in ([(*range(m),)], [(*range(m),), (*reversed(range(m)),)], PROFILES.get(m, [(0, 1)])):
        law = target.law(np.array(profile))
        assert law.outcomes.tolist() == [list(order) for order in everyone(m)]
        brute = brute_law(tuple(profile), m, scale_of(m, logarithm, epsilon))
        assert np.exp(law.log_probabilities) == pytest.approx(brute, rel=1e-12)


@pytest.mark.parametrize("m", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_a_million_runs_follow_the_law(m):
    target = DP(epsilon=2.0, alternatives=m, agents=len(PROFILES[m]))
    counts = np.zeros(math.factorial(m))
    rng = np.random.default_rng(SEED)
    for _ in range(10):
        runs = target.sample(np.array(PROFILES[m]), 100_000, rng)
        counts += np.bincount(dpaudit.rankings.ranking_index(runs), minlength=len(counts))
    expected = brute_law(tuple(PROFILES[m]), m, scale_of(m, "natural", 2.0)) * counts.sum()
    assert chisquare(counts, expected).pvalue > FALSE_ALARM


CELLS = list(itertools.product(["natural", "binary"], ["substitution", "add-remove"]))


@pytest.mark.slow
@pytest.mark.parametrize(("logarithm", "relation"), CELLS)
@pytest.mark.parametrize(("m", "agents"), [(2, 3), (3, 1), (3, 2), (3, 3), (4, 1)])
def test_epsilon_over_all_profiles_without_symmetry(m, agents, logarithm, relation):
    target = DP(epsilon=1.0, alternatives=m, agents=agents, logarithm=logarithm, relation=relation)
    worst = brute_epsilon(m, agents, scale_of(m, logarithm), relation)
    budget, streams = Budget(), Streams(1)
    evidence = audit(target, dp_kwiksort(target), budget=budget, streams=streams)
    assert evidence.method == "exact"
    assert evidence.measured["epsilon"].lower == pytest.approx(worst, rel=1e-9)
    assert evidence.measured["epsilon"].upper == pytest.approx(worst, rel=1e-9)
    assert evidence.verdict == ("refuted" if worst > 1 + 1e-9 else "proved")
    if evidence.verdict == "refuted":
        witness = evidence.witness
        place = everyone(m).index(tuple(witness.event))
        for data, p in ((witness.data, witness.p), (witness.neighbour, witness.q)):
            profile = tuple(map(tuple, np.asarray(data).tolist()))
            assert brute_law(profile, m, scale_of(m, logarithm))[place] == pytest.approx(p, rel=1e-9)
        assert math.log(witness.p / witness.q) == pytest.approx(worst, rel=1e-9)


def test_the_number_that_the_issue_asks_for():
    target = DP(epsilon=1.0, alternatives=3, agents=2, logarithm="natural", relation="substitution")
    evidence, _ = audit_exact(target, dp_kwiksort(target), target.neighbours())
    assert round(evidence.measured["epsilon"].lower, 4) == 2.1754
    assert evidence.verdict == "refuted"


def test_half_the_noise_has_another_law():
    """The mutant with half the noise is told from the law by the same chi-square test."""
    honest, mutant = DP(epsilon=1.0), DP(epsilon=2.0)
    profile = np.array(PROFILES[3])
    counts = np.bincount(
        dpaudit.rankings.ranking_index(mutant.sample(profile, 100_000, np.random.default_rng(SEED))), minlength=6
    )
    assert chisquare(counts, np.exp(honest.law(profile).log_probabilities) * counts.sum()).pvalue < FALSE_ALARM
