"""The utility claims of LDP-KwikSort: formulas against literal transcriptions, verdicts against known truth."""

import itertools
import math
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, norm

from dpaudit import rankings
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.catalog.yan2020 import LDPKwikSortLap, LDPKwikSortRR, profiles
from dpaudit.catalog.yan2020.utility import coins_at_least, mu, pair_bound, pair_error

FALSE_ALARM = 1e-6
SEED = 20261123
RR, LAP = LDPKwikSortRR, LDPKwikSortLap
SETTINGS = [
    {"epsilon": 1.0, "alternatives": 4, "agents": 20, "queries": 1, "dispersion": 0.5},
    {"epsilon": 4.0, "alternatives": 3, "agents": 11, "queries": 2, "dispersion": 0.25},
    {"epsilon": 2.0, "alternatives": 4, "agents": 7, "queries": 6, "dispersion": 0.8, "convention": "permallows"},
    {"epsilon": 0.3, "alternatives": 5, "agents": 30, "queries": "auto", "dispersion": 0.0},
]


def claim_of(target, name):
    return next(claim for claim in target.claims() if claim.id == name)


def decide(target, name, runs=None, confidence=1 - FALSE_ALARM, seed=1):
    budget = Budget(samples=runs, confidence=confidence)
    return audit(target, claim_of(target, name), budget=budget, streams=Streams(seed))


def phi_of(setting):
    theta = setting["dispersion"]
    return math.exp(-theta) if setting.get("convention") == "permallows" else 1 - theta


def solution_of(protocol):
    return "rr" if protocol is RR else "lap"


def keep_of(solution, epsilon_k):
    return 1 / (1 + math.exp(-epsilon_k)) if solution == "rr" else 1 - math.exp(-epsilon_k / 2) / 2


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("protocol", [RR, LAP])
def test_pair_error_is_the_sum_over_agents_asked_and_right_answers(protocol, setting):
    target = protocol(**setting)
    agree = 1 / (1 + phi_of(setting))
    keep = keep_of(solution_of(protocol), target.epsilon / target.asked)
    right = agree * keep + (1 - agree) * (1 - keep)
    n, share = target.agents, target.asked / math.comb(target.alternatives, 2)
    wrong = 0.0
    for asked in range(n + 1):
        weight = math.comb(n, asked) * share**asked * (1 - share) ** (n - asked)
        for good in range(asked + 1):
            if good < asked - good:
                wrong += weight * math.comb(asked, good) * right**good * (1 - right) ** (asked - good)
    assert pair_error(target) == pytest.approx(wrong, rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", [RR, LAP])
@pytest.mark.parametrize("setting", SETTINGS[:3])
def test_pair_error_is_what_simulated_runs_show(protocol, setting):
    target = protocol(**setting, centre="identity")
    runs = 20_000
    estimate, _, truth = profiles.run(target, runs, np.random.default_rng(SEED))
    for pair in ((0, 1), (target.alternatives - 2, target.alternatives - 1)):
        assert (truth[:, pair[0], pair[1]] > 0).all()
        errors = int(np.count_nonzero(estimate[:, pair[0], pair[1]] < 0))
        tail = min(binom.cdf(errors, runs, pair_error(target)), binom.sf(errors - 1, runs, pair_error(target)))
        assert tail > FALSE_ALARM / 4


@pytest.mark.slow
def test_neighbours_in_the_ground_truth_are_the_least_certain_pair():
    target = RR(epsilon=2.0, alternatives=4, agents=20, queries=2, dispersion=0.5, centre="identity")
    estimate, _, _ = profiles.run(target, 20_000, np.random.default_rng(SEED))
    errors = {(j, l): int((estimate[:, j, l] < 0).sum()) for j, l in itertools.combinations(range(4), 2)}  # noqa: E741
    slack = 5 * math.sqrt(20_000) / 2
    assert all(errors[pair] < min(errors[0, 1], errors[1, 2], errors[2, 3]) + slack for pair in errors)


def test_a_large_setting_is_exact_where_the_terms_left_out_vanish():
    target = RR(epsilon=1.0, alternatives=4, agents=200_000, queries=1, dispersion=0.01)
    right = 0.5 + (1 / (2 - 0.01) - 0.5) * math.tanh(0.5)
    asked = 200_000 / 6
    # Without the sign's discreteness: a normal tail of the number of right less wrong answers.
    z = asked * (2 * right - 1) / math.sqrt(asked)
    assert pair_error(target) == pytest.approx(norm.sf(z), rel=0.03)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("protocol", [RR, LAP])
def test_pair_bound_and_mu_are_equation_4_and_the_theorems(protocol, setting):
    target = protocol(**setting)
    eps, K, n, m = target.epsilon, target.asked, target.agents, target.alternatives
    theta = 1 - phi_of(setting)
    theta_star = theta / (2 - theta)
    g = eps**2 * K / (eps + 2 * K) ** 2 if protocol is RR else (1 - math.exp(-eps / (2 * K))) ** 2 * K
    bound = 2 * math.exp(-g * theta_star**2 * n / (m * (m - 1)))
    assert pair_bound(target) == pytest.approx(bound, rel=1e-13)
    assert mu(target) == pytest.approx(m * (m - 1) / 2 * bound, rel=1e-13)
    assert pair_error(target) <= bound


@pytest.mark.parametrize(
    ("epsilon", "alternatives", "rule"), [(0.1, 4, 1), (1, 4, 1), (2, 4, 1), (4, 4, 2), (10, 4, 5), (10, 3, 3)]
)
def test_the_rule_for_k_gives_the_queries_of_section_5(epsilon, alternatives, rule):
    assert RR(epsilon=epsilon, alternatives=alternatives).asked == rule


@pytest.mark.parametrize("protocol", [RR, LAP])
@pytest.mark.parametrize("epsilon", [0.05, 0.9, 1.7, 3.0, 4.4, 5.0, 7.3, 9.0, 12.0, 40.0])
def test_the_rule_for_k_compares_g_at_the_integers_beside_half_epsilon(protocol, epsilon):
    target = protocol(epsilon=epsilon, alternatives=5)

    def g(k):
        if protocol is RR:
            return epsilon**2 * k / (epsilon + 2 * k) ** 2
        return (1 - math.exp(-epsilon / (2 * k))) ** 2 * k

    beside = {min(max(k, 1), 10) for k in (math.floor(epsilon / 2), math.ceil(epsilon / 2))}
    assert g(target.rule()) == max(map(g, beside))
    assert target.rule() in beside


@pytest.mark.parametrize("protocol", [RR, LAP])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 3.0, 4.0, 5.0, 7.5, 10.0, 20.0])
def test_optimal_queries_against_every_k(protocol, epsilon):
    target = protocol(epsilon=epsilon, alternatives=5)
    solution = solution_of(protocol)
    exponents = {k: k * (2 * keep_of(solution, epsilon / k) - 1) ** 2 for k in range(1, 11)}
    evidence = decide(target, f"yan2020.optimal-queries-{solution}")
    true = exponents[target.rule()] >= max(exponents.values()) - 1e-12
    assert evidence.verdict == ("proved" if true else "refuted")
    assert exponents[int(evidence.measured["best queries"].lower)] == pytest.approx(max(exponents.values()))
    assert evidence.measured["queries by the rule"].lower == target.rule()
    x = brentq(lambda x: math.sinh(2 * x) - 4 * x, 0.5, 3) if protocol is RR else 1.2564312086261697
    assert evidence.measured["best real K over epsilon"].lower == pytest.approx(1 / (2 * x), rel=1e-4)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 6.0])
def test_where_g_of_real_k_is_largest(epsilon):
    root = brentq(lambda x: math.expm1(x) - 2 * x, 0.5, 3)
    assert root == pytest.approx(1.2564312086, rel=1e-9)
    for target, best in ((RR(epsilon=epsilon), epsilon / 2), (LAP(epsilon=epsilon), epsilon / (2 * root))):
        around = best * np.linspace(0.2, 4, 400)
        assert all(target.g(k) <= target.g(best) for k in around)
        assert target.g(best) > max(target.g(best * 0.99), target.g(best * 1.01))
    assert RR(epsilon=epsilon).g(epsilon / 2) == pytest.approx(epsilon / 8)


@pytest.mark.parametrize("epsilon_k", [1e-6, 0.3, 1.0, 3.0, 20.0])
def test_bias_is_twice_the_probability_of_a_right_answer_less_one(epsilon_k):
    for protocol in (RR, LAP):
        target = protocol(epsilon=2 * epsilon_k, queries=2)
        assert target.bias(2) == pytest.approx(2 * keep_of(solution_of(protocol), epsilon_k) - 1, rel=1e-9)


@pytest.mark.parametrize("pairs", [1, 3, 6, 10])
def test_coin_tail_by_enumeration(pairs):
    for limit in [0.001, 0.5, 1.0, 2.0, 2.5, pairs - 0.5, pairs]:
        wrong = sum(sum(coins) >= limit for coins in itertools.product((0, 1), repeat=pairs)) / 2**pairs
        assert coins_at_least(pairs, limit) == pytest.approx(wrong)


@pytest.mark.parametrize("name", ["theorem2", "theorem2-meant"])
def test_theorem_2_says_nothing_where_6_mu_is_more_than_the_pairs(name):
    target = RR(epsilon=1.0, alternatives=4, agents=1000, dispersion=0.25)
    assert 6 * mu(target) > 6
    assert decide(target, f"yan2020.{name}").verdict == "vacuous"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["theorem2", "theorem2-meant"])
def test_theorem_2_is_certified_where_it_says_something(name):
    target = RR(epsilon=4.0, alternatives=5, agents=1474, dispersion=0.5, queries=2)
    limit = 6 * mu(target)
    assert 1 < limit < 3
    assert 2**-limit < coins_at_least(10, limit)
    assert decide(target, f"yan2020.{name}", 300).verdict == "certified"


@pytest.mark.slow
def test_theorem_2_is_vacuous_where_coins_meet_it():
    target = RR(epsilon=4.0, alternatives=5, agents=4300, dispersion=0.5, queries=2)
    assert 0 < 6 * mu(target) < 1e-3
    assert 2 ** (-6 * mu(target)) >= 1 - 2**-10
    assert decide(target, "yan2020.theorem2-meant", 100).verdict == "vacuous"


class IgnoresItsInput(RR):
    """Prefers the alternative with the smaller label, whatever the agents say."""

    def estimate(self, chunks, rng):
        shapes = [chunk.shape for chunk in chunks]
        margins = np.full(self.pairs, float(sum(agents for _, agents, _ in shapes)))
        m = self.alternatives
        return np.broadcast_to(rankings.margin_matrix(margins, m), (shapes[0][0], m, m))


@pytest.mark.slow
def test_an_aggregation_that_ignores_its_input_looks_perfect_only_to_a_fixed_centre():
    setting = {"epsilon": 4.0, "alternatives": 5, "agents": 1474, "dispersion": 0.5, "queries": 2}
    fixed = decide(IgnoresItsInput(**setting, centre="identity"), "yan2020.theorem2-meant", 300)
    assert fixed.verdict == "certified"
    assert fixed.measured["value"].estimate == 0
    assert IgnoresItsInput(**setting).centre == "random"
    for name in ("theorem2", "theorem2-meant"):
        drawn = decide(IgnoresItsInput(**setting), f"yan2020.{name}", 300)
        assert drawn.verdict == "refuted"
        assert drawn.measured["value"].lower > 0.5


SMALL_PROFILE = rankings.Profile.from_rankings(
    [(0, 1, 2, 3)] * 40 + [(1, 0, 2, 3)] * 20 + [(0, 2, 1, 3)] * 15 + [(3, 0, 1, 2)] * 10 + [(2, 3, 1, 0)] * 5
)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["kendall-tau", "error-rate"])
def test_section_5_on_a_small_profile(metric):
    target = RR(epsilon=2.0, alternatives=4, agents=90, profile=SMALL_PROFILE)
    evidence = decide(target, f"yan2020.section5-{metric}", confidence=0.999)
    assert evidence.verdict == "certified"
    assert evidence.measured["value"].upper <= 0
    order = ["kwiksort", "dp-kwiksort", "ldp-kwiksort-rr", "ldp-kwiksort-lap"]
    estimates = [evidence.measured[name].estimate for name in order]
    assert estimates == sorted(estimates)
    counts = rankings.pairwise_counts(SMALL_PROFILE)
    exact = rankings.kwiksort_expected_cost(counts) / (90 * 6) if metric == "kendall-tau" else 0.0
    baseline = evidence.measured["kwiksort"]
    assert baseline.lower <= exact <= baseline.upper


def test_the_metrics_of_the_comparison_are_the_papers():
    """The vectorised average Kendall tau distance and the labels against counting by hand."""
    target = RR(epsilon=2.0, alternatives=4, agents=90, profile=SMALL_PROFILE)
    orders, margins = profiles.profiles(target, 6, np.random.default_rng(SEED))
    assert len({tuple(run[0]) for run in orders.tolist()}) > 1
    drawn = np.random.default_rng(1).permuted(np.tile(np.arange(4), (6, 1)), axis=1)
    found = rankings.margin_distance(drawn, margins, 90)
    for run in range(6):
        distances = []
        for ranking in orders[run].tolist():
            one = drawn[run].tolist()
            distances.append(
                sum(
                    (ranking.index(j) < ranking.index(l)) != (one.index(j) < one.index(l))
                    for j, l in itertools.combinations(range(4), 2)  # noqa: E741
                )
            )
        assert found[run] == pytest.approx(sum(distances) / 90 / 6)


def test_new_labels_rename_the_same_profile():
    target = RR(epsilon=2.0, alternatives=4, agents=90, profile=SMALL_PROFILE)
    orders, _ = profiles.profiles(target, 4, np.random.default_rng(SEED))
    original = SMALL_PROFILE.rankings()
    for run in orders:
        labels = dict(zip(original[0].tolist(), run[0].tolist(), strict=True))
        assert [[labels[a] for a in row] for row in original.tolist()] == run.tolist()


@pytest.mark.skipif("DPAUDIT_DATA" not in os.environ, reason="set DPAUDIT_DATA to a folder of PrefLib .soc files")
@pytest.mark.parametrize(("pattern", "agents"), [("*24-0000*.soc", 795), ("*25-0000*.soc", 793)])
def test_the_papers_own_data(pattern, agents):
    found = [rankings.read_profile(path) for path in sorted(Path(os.environ["DPAUDIT_DATA"]).rglob(pattern))]
    if not found:
        pytest.skip(f"no {pattern} in DPAUDIT_DATA")
    assert {profile.alternatives for profile in found} == {4}
    assert agents in {profile.agents for profile in found}
    profile = next(profile for profile in found if profile.agents == agents)
    target = RR(epsilon=2.0, alternatives=4, agents=agents, profile=profile)
    evidence = decide(target, "yan2020.section5-kendall-tau", 500, confidence=0.999)
    assert evidence.verdict in ("certified", "inconclusive")
    exact = rankings.kwiksort_expected_cost(rankings.pairwise_counts(profile)) / (agents * 6)
    assert evidence.measured["kwiksort"].lower <= exact <= evidence.measured["kwiksort"].upper


@pytest.mark.slow
def test_randomized_response_never_flips_more_often_than_laplace():
    for epsilon_k in np.geomspace(1e-6, 50, 200):
        assert 1 - keep_of("rr", epsilon_k) <= (1 - keep_of("lap", epsilon_k)) * (1 + 1e-12)
    assert decide(RR(epsilon=3.0), "yan2020.rr-beats-lap", 200).verdict == "consistent"
