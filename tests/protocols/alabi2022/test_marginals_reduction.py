"""The lower bounds' map, observations and floors, against the printed formulas and linear programmes written here."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

import dpaudit
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.counterexamples.lemma import audit_lemma
from dpaudit.auditors.measures.utility import audit_utility
from dpaudit.catalog.alabi2022 import MarginalsReduction, floors
from dpaudit.catalog.alabi2022.claims import observations
from dpaudit.catalog.alabi2022.claims.notation import fact2_margin
from dpaudit.catalog.alabi2022.floors import approximate_floor, packing_floor, pure_floor
from dpaudit.catalog.alabi2022.words import least_cost, ranking_of, word_of
from dpaudit.catalog.hay2017 import KemenyExponential
from dpaudit.rankings import Mallows, positions


def claim_of(target, name):
    return next(claim for claim in target.claims() if claim.id == f"alabi2022.{name}")


def verdict(name, draws=200, **parameters):
    return audit_lemma(claim_of(MarginalsReduction(**parameters), name), draws=draws, streams=Streams(1))


def printed_positions(x, t):
    """The displayed formula: positions of the items 1 to 2 d + t."""
    d = len(x)
    pi = {item: item for item in range(d + 1, d + t + 1)}
    for j in range(1, d + 1):
        pi[j], pi[j + d + t] = (j, j + d + t) if x[j - 1] == 1 else (j + d + t, j)
    return [pi[item] for item in range(1, 2 * d + t + 1)]


def inversions(a, b):
    """Kendall tau of two lists of positions."""
    return sum((a[i] < a[j]) != (b[i] < b[j]) for i, j in itertools.combinations(range(len(a)), 2))


def words(d):
    return list(itertools.product((1, -1), repeat=d))


@pytest.mark.parametrize(("d", "t"), [(1, 0), (1, 3), (2, 1), (3, 2)])
def test_the_map_is_the_displayed_formula_and_its_inverse_goes_back(d, t):
    for x in words(d):
        order = ranking_of(np.array(x), t)
        assert (positions(order) + 1).tolist() == printed_positions(x, t)
        assert word_of(order[None], d)[0].tolist() == list(x)


@pytest.mark.parametrize(("d", "t"), [(1, 2), (2, 1), (2, 0)])
def test_the_two_sharp_laws_by_brute_force(d, t):
    x = words(d)[1]
    base = printed_positions(x, t)
    least = {}
    for sigma in itertools.permutations(range(2 * d + t)):
        different = sum((sigma[j] < sigma[j + d + t]) != (x[j] == 1) for j in range(d))
        least[different] = min(least.get(different, math.inf), inversions(sigma, base))
    for different, cost in least.items():
        assert least_cost(different, d, t) == cost
    for y in words(d):
        different = sum(a != b for a, b in zip(x, y, strict=True))
        assert inversions(printed_positions(y, t), base) == different * (2 * t + 2 * d - different)


@pytest.mark.parametrize(
    ("name", "padding", "expected"),
    [
        ("observation15", 0, "proved"),
        ("observation15", 1, "refuted"),
        ("observation15-meant", 1, "proved"),
        ("observation15-text", 1, "proved"),
        ("observation15-sharp", 1, "proved"),
        ("observation15-constant", 1, "proved"),
        ("rho-inverse", 1, "refuted"),
        ("rho-inverse-meant", 1, "proved"),
        ("observation16", 2, "proved"),
        ("observation16", 3, "refuted"),
        ("observation16-meant", 3, "proved"),
        ("observation16-sharp", 3, "proved"),
        ("observation16-exact", 3, "proved"),
    ],
)
def test_verdicts_at_two_dimensions(name, padding, expected):
    assert verdict(name, dimensions=2, padding=padding).verdict == expected


@pytest.mark.slow
def test_least_counterexamples():
    drawn = verdict("observation15", dimensions=3, padding=5).witness
    sigma, d = np.array(drawn.instance["sigma"]), drawn.instance["dimensions"]
    assert (sigma.shape, d) == ((1, 3), 1)
    assert (drawn.measured, drawn.claimed) == (0, 1)
    listed = verdict("observation16", dimensions=1, padding=2).witness
    assert (listed.measured, listed.claimed) == (5, 4)


def test_a_law_that_is_off_by_one_is_refuted(monkeypatch):
    off = lambda different, d, t: least_cost(different, d, t) + (different == d)  # noqa: E731
    monkeypatch.setattr(observations, "least_cost", off)
    assert verdict("observation15-sharp", dimensions=2, padding=1).verdict == "refuted"


@pytest.mark.slow
def test_the_formula_for_the_cost_and_fact_2():
    assert verdict("kemeny-formula", dimensions=1, padding=1).verdict == "proved"
    assert verdict("kemeny-formula", dimensions=2, padding=1).verdict == "consistent"
    assert verdict("fact2", draws=100).verdict == "consistent"
    assert verdict("fact2-halved", draws=100).verdict == "consistent"


def test_half_the_sum_is_not_enough_without_the_probability_constraint():
    values = {f"{matrix}_{i}{j}": 0.0 for matrix in "wv" for i in range(3) for j in range(3) if i != j}
    assert fact2_margin(values | {"w_01": 1.0}, constrained=False) == 0
    upper = {name: value for name, value in values.items() if name[-2] < name[-1]}
    assert fact2_margin(upper | {"w_01": 1.0}, constrained=True) == 0


@pytest.mark.parametrize(("d", "distance", "size"), [(3, 1, 8), (8, 2, 128), (7, 3, 16), (8, 4, 16), (5, 5, 2)])
def test_codes_have_their_distance(d, distance, size):
    code = MarginalsReduction(dimensions=d, distance=distance).words()
    assert len(code) == size
    assert min((a != b).sum() for a, b in itertools.combinations(code, 2)) >= distance


def best_channel(code, d, t, spent, slack=0.0):
    """Least average error of a (spent, slack)-private channel from the code to all words, by linear programme."""
    guesses = words(d)
    n, k = len(code), len(guesses)
    cost = np.array([[least_cost(sum(a != b for a, b in zip(x, y, strict=True)), d, t) for y in guesses] for x in code])
    pairs = list(itertools.permutations(range(n), 2))
    # Variables: p[x, y], then for every pair the excess of p[x, y] over e^spent p[x', y].
    size = n * k + len(pairs) * k
    rows, limits = [], []
    for number, (a, b) in enumerate(pairs):
        for y in range(k):
            row = np.zeros(size)
            row[a * k + y], row[b * k + y], row[n * k + number * k + y] = 1, -math.exp(spent), -1
            rows.append(row)
            limits.append(0)
        row = np.zeros(size)
        row[n * k + number * k : n * k + (number + 1) * k] = 1
        rows.append(row)
        limits.append(slack)
    total = np.zeros((n, size))
    for a in range(n):
        total[a, a * k : (a + 1) * k] = 1
    objective = np.concatenate([cost.ravel() / n, np.zeros(len(pairs) * k)])
    return linprog(objective, A_ub=np.array(rows), b_ub=limits, A_eq=total, b_eq=np.ones(n)).fun


@pytest.mark.parametrize(("d", "t", "distance"), [(1, 2, 1), (2, 0, 1), (2, 3, 1), (3, 1, 2), (3, 0, 3)])
@pytest.mark.parametrize(("epsilon", "agents"), [(0.3, 1), (0.5, 4), (1.5, 3)])
def test_the_floor_is_what_the_best_private_channel_reaches(d, t, distance, epsilon, agents):
    target = MarginalsReduction(dimensions=d, padding=t, distance=distance, epsilon=epsilon, agents=agents)
    best = best_channel(target.words().tolist(), d, t, epsilon * agents)
    assert packing_floor(target) <= pure_floor(target) * (1 + 1e-12)
    assert pure_floor(target) <= best * (1 + 1e-7)
    if distance == 1:
        assert pure_floor(target) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize(("d", "distance"), [(1, 1), (2, 1), (3, 3)])
@pytest.mark.parametrize("delta", [0.01, 0.1])
def test_the_packing_floor_with_delta_is_below_the_best_channel(d, distance, delta):
    epsilon, agents = 0.5, 2
    target = MarginalsReduction(
        dimensions=d, padding=1, distance=distance, epsilon=epsilon, agents=agents, delta=delta, system="noisy-pairwise"
    )
    slack = delta * (1 + math.exp(epsilon))
    best = best_channel(target.words().tolist(), d, 1, epsilon * agents, slack)
    assert 0 < packing_floor(target) <= approximate_floor(target) * (1 + 1e-12)
    assert approximate_floor(target) <= best * (1 + 1e-7)
    if d == 1:
        assert packing_floor(target) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize(("d", "distance"), [(4, 1), (6, 2), (8, 3)])
def test_the_approximate_floor_tends_to_one_below_the_pure_one(d, distance):
    target = MarginalsReduction(dimensions=d, padding=2, distance=distance, epsilon=0.2, agents=3)
    assert packing_floor(target) < approximate_floor(target) <= pure_floor(target)
    floors = [
        approximate_floor(
            MarginalsReduction(
                dimensions=d, padding=2, distance=distance, epsilon=0.2, agents=3, delta=delta, system="noisy-pairwise"
            )
        )
        for delta in (1e-12, 1e-3, 0.05)
    ]
    assert floors == sorted(floors, reverse=True)
    assert floors[0] == pytest.approx(approximate_floor(target), rel=1e-9)


def test_the_floor_does_not_underflow():
    assert pure_floor(MarginalsReduction(dimensions=4, padding=0, agents=500)) > 0
    assert packing_floor(MarginalsReduction(dimensions=4, padding=0, agents=500)) > 0


@pytest.mark.parametrize("m", [2, 3, 7, 16])
def test_the_floor_of_theorem_13_is_that_of_all_words(m, monkeypatch):
    monkeypatch.setattr(floors, "AGENTS_SHARE", 0.25)
    target = MarginalsReduction(dimensions=m // 2, padding=m % 2, epsilon=0.25 * m, agents=1)
    assert floors.largest_floor(m) == pytest.approx(pure_floor(target), rel=1e-12)


def test_the_constant_of_theorem_13_cannot_be_much_larger(monkeypatch):
    assert verdict("theorem13-constant").verdict == "proved"
    monkeypatch.setattr(floors, "SHARE", 0.0121)
    assert verdict("theorem13-constant").verdict == "refuted"


@pytest.mark.parametrize(("d", "t"), [(1, 3), (3, 2)])
def test_the_error_of_the_exponential_mechanism(d, t):
    target = MarginalsReduction(dimensions=d, padding=t, epsilon=2.0, agents=6)
    m = 2 * d + t
    closed = Mallows(np.arange(m), math.exp(-6 * 2.0 / (m * (m - 1)))).expected_distance()
    assert target.exact_error() == pytest.approx(closed, rel=1e-10)
    errors = target.errors(4000, np.random.default_rng(5))
    # six standard errors: a false alarm has probability 2e-9
    assert abs(errors.mean() - closed) < 6 * errors.std() / math.sqrt(len(errors))


def test_a_system_that_spends_more_falls_below_the_floor(monkeypatch):
    target = MarginalsReduction(dimensions=4, padding=0, epsilon=0.25, agents=8)
    honest = target.aggregate()
    claim = claim_of(target, "theorem13-floor")
    assert audit_utility(claim, budget=Budget(), streams=Streams(0)).verdict == "proved"
    spender = KemenyExponential(epsilon=100.0, alternatives=8, agents=8)
    assert honest.epsilon == 0.25
    monkeypatch.setattr(MarginalsReduction, "aggregate", lambda self: spender)
    assert audit_utility(claim, budget=Budget(), streams=Streams(0)).verdict == "refuted"


def test_a_sampled_system_is_measured_against_the_floor():
    target = MarginalsReduction(dimensions=3, padding=0, epsilon=1.0, agents=2, system="dp-kwiksort")
    evidence = audit(target, claim_of(target, "theorem13-floor"), budget=Budget(samples=500), streams=Streams(0))
    assert (evidence.verdict, evidence.method) == ("certified", "simulation")


def test_claims_that_do_not_apply_say_why():
    assert (
        "above 0.25 m"
        in claim_of(MarginalsReduction(dimensions=2, padding=0, agents=2), "theorem13-one-system").inapplicable
    )
    assert "delta is 0" in claim_of(MarginalsReduction(), "theorem14-packing").inapplicable
    gaussian = MarginalsReduction(delta=1e-6, system="noisy-pairwise")
    assert "delta is above 0" in claim_of(gaussian, "theorem13-floor").inapplicable
    assert not claim_of(gaussian, "theorem14-packing").inapplicable
    much = MarginalsReduction(delta=0.5, agents=9, system="noisy-pairwise")
    assert claim_of(much, "theorem14-packing").bound == 0


def test_bad_parameters_are_refused():
    with pytest.raises(dpaudit.ParameterError, match="'distance' must be at most 2"):
        MarginalsReduction(dimensions=2, distance=3)
    with pytest.raises(dpaudit.ParameterError, match="kemeny-exponential has no Gaussian noise"):
        MarginalsReduction(delta=0.1)
    with pytest.raises(dpaudit.ParameterError, match="codes are listed up to 10"):
        MarginalsReduction(dimensions=11).words()
