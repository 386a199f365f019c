"""Noise on every weight, and KwikSort with a cap: laws, budgets, caps and rates against computations made here."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chisquare, kstest, laplace, norm

import dpaudit
from dpaudit import rankings
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.exact import audit_exact
from dpaudit.catalog.alabi2022 import DPKwikSortCapped, NoisyPairwise
from dpaudit.catalog.alabi2022.central_errors import cost_range, instance_profile, kwiksort_error, optimum
from dpaudit.catalog.alabi2022.claims.central_second import margin_to_quicksort

FALSE_ALARM = 1e-6
SEED = 20261121
FIRST = NoisyPairwise
SECOND = DPKwikSortCapped
EVERYONE = list(itertools.permutations(range(3)))
PROFILE = np.array([(0, 1, 2), (2, 0, 1), (0, 2, 1)])


def claim_of(target, name):
    return next(claim for claim in target.claims() if claim.id == f"alabi2022.{name}")


def evidence_of(target, name, samples=None):
    return audit(target, claim_of(target, name), budget=Budget(samples=samples), streams=Streams(1))


def weight(profile, i, j):
    return sum(list(r).index(i) < list(r).index(j) for r in np.asarray(profile).tolist()) / len(profile)


def worst_epsilon(view, agents, alternatives):
    """Largest divergence over all neighbouring profiles, no symmetry used but that of the agents."""
    profiles = rankings.Profiles(agents=agents, alternatives=alternatives)
    return max(
        dpaudit.compare(view.law(p), view.law(q)).max_divergence()
        for x, y in profiles.pairs()
        for p, q in ((x, y), (y, x))
    )


@pytest.mark.slow
@pytest.mark.parametrize(("m", "agents"), [(2, 3), (3, 1), (3, 2)])
def test_the_reverse_stands_for_all_and_the_printed_noise_is_too_much(m, agents):
    """Claimed over exact epsilon is 2m / (m - 1) with the printed noise, and 1 with the tight one."""
    for calibration, tightness in (("printed", 2 * m / (m - 1)), ("tight", 1.0)):
        target = FIRST(epsilon=0.7, alternatives=m, agents=agents, calibration=calibration)
        exact = evidence_of(target, "corollary3-privacy").measured["epsilon"].upper
        assert exact == pytest.approx(worst_epsilon(target.views()["noisy-matrix"], agents, m), rel=1e-9)
        assert 0.7 / exact == pytest.approx(tightness, rel=1e-9)


@pytest.mark.parametrize(
    ("noise", "delta", "law"),
    [
        ("laplace", 0.0, lambda m, n, eps: laplace(scale=m**2 / (eps * n))),
        ("gaussian", 1e-3, lambda m, n, eps: norm(scale=m * math.sqrt(2 * math.log(1250)) / (eps * n))),
    ],
)
def test_the_noise_of_the_weights_is_as_printed(noise, delta, law):
    target = FIRST(epsilon=2.0, delta=delta, noise=noise, alternatives=4, agents=3)
    profile = np.array([(0, 1, 2, 3), (3, 0, 1, 2), (0, 2, 1, 3)])
    noisy = target.views()["noisy-matrix"].sample(profile, 20_000, np.random.default_rng(SEED))
    truth = np.array([weight(profile, i, j) for i, j in itertools.combinations(range(4), 2)])
    expected = law(4, 3, 2.0)
    assert kstest((noisy - truth).ravel(), expected.cdf).pvalue > FALSE_ALARM
    assert kstest(2 * (noisy - truth).ravel(), expected.cdf).pvalue < FALSE_ALARM
    assert abs(np.corrcoef(noisy.T) - np.eye(6)).max() < 0.05


@pytest.mark.parametrize("target", [FIRST(epsilon=3.0, agents=3), FIRST(epsilon=6.0, agents=3, calibration="tight")])
def test_noisy_pairwise_runs_follow_the_law(target):
    runs = target.sample(PROFILE, 100_000, np.random.default_rng(SEED))
    counts = np.bincount(rankings.ranking_index(runs), minlength=6)
    assert chisquare(counts, np.exp(target.law(PROFILE).log_probabilities) * counts.sum()).pvalue > FALSE_ALARM


def tournament_law(target, profile):
    """Capped KwikSort by tournaments and orders of the pivots: (law within the cap, probability beyond it)."""
    scale = target.limit * (1 if target.budget == "printed" else 2) / (target.epsilon * target.agents)
    noise, pairs, m = laplace(scale=scale), list(itertools.combinations(range(target.alternatives), 2)), 3
    within, beyond = dict.fromkeys(EVERYONE, 0.0), 0.0
    for outcome in itertools.product((True, False), repeat=len(pairs)):
        ahead = {}
        chance = 1.0
        for (i, j), first in zip(pairs, outcome, strict=True):
            p = noise.sf(0.5 - weight(profile, i, j))
            chance *= p if first else 1 - p
            ahead[i, j], ahead[j, i] = first, not first

        def sort(items, priority, ahead=ahead):
            if not items:
                return [], 0
            pivot = next(item for item in priority if item in items)
            left = [item for item in items if item != pivot and ahead[item, pivot]]
            right = [item for item in items if item != pivot and not ahead[item, pivot]]
            (a, x), (b, y) = sort(left, priority), sort(right, priority)
            return [*a, pivot, *b], len(items) - 1 + x + y

        for priority in itertools.permutations(range(m)):
            order, count = sort(list(range(m)), priority)
            if count <= target.limit:
                within[tuple(order)] += chance / math.factorial(m)
            else:
                beyond += chance / math.factorial(m)
    return np.array([within[order] for order in EVERYONE]), beyond


@pytest.mark.parametrize("cap", [1, 2, 3])
@pytest.mark.parametrize("budget", ["printed", "meant"])
def test_capped_law_against_all_tournaments(cap, budget):
    target = SECOND(epsilon=3.0, agents=3, cap=cap, budget=budget)
    within, beyond = tournament_law(target, PROFILE)
    fallback = FIRST(epsilon=1.5, agents=3).law(PROFILE)
    expected = within + beyond * np.exp(fallback.log_probabilities)
    assert np.exp(target.law(PROFILE).log_probabilities) == pytest.approx(expected, rel=1e-10)
    assert (beyond > 0) == (cap < 3)
    assert beyond > 0.5 or cap > 1


@pytest.mark.slow
@pytest.mark.parametrize(("m", "runs"), [(3, 100_000), (4, 300_000), (5, 300_000)])
def test_capped_runs_follow_the_law(m, runs):
    profile = np.array([[*range(m)], [*range(m)], [m - 1, *range(m - 1)]])
    target = SECOND(epsilon=9.0, alternatives=m, agents=3, cap=2 if m == 3 else "auto")
    rng, counts = np.random.default_rng(SEED), np.zeros(math.factorial(m))
    for _ in range(runs // 100_000):
        counts += np.bincount(rankings.ranking_index(target.sample(profile, 100_000, rng)), minlength=len(counts))
    law = np.exp(target.law(profile).log_probabilities)
    assert chisquare(counts, law * runs).pvalue > FALSE_ALARM
    halved = np.exp(SECOND(epsilon=18.0, alternatives=m, agents=3, cap=target.cap).law(profile).log_probabilities)
    assert chisquare(counts, halved * runs).pvalue < FALSE_ALARM


def log_cells(scale):
    """Log-probabilities of a noisy 0 and of a noisy 1 to lie at most at 0, up to 1/2, up to 1, or beyond."""
    edges = np.array([0.0, 0.5, 1.0])
    below = [laplace.cdf(edges, loc=w, scale=scale) for w in (0.0, 1.0)]
    return [np.log(np.diff(np.concatenate([[0.0], row, [1.0]]))) for row in below]


def coarse_epsilon(target):
    """Largest log-ratio over all coarse transcripts of three alternatives and one agent."""
    query, fallback = log_cells(target.main_noise.scale), log_cells(target.fallback.main_noise.scale)
    worst = 0.0
    for p, q in itertools.permutations(EVERYONE, 2):

        def ratios(i, j, cells, p=p, q=q):
            first, second = (int(r.index(i) < r.index(j)) for r in (p, q))
            return cells[first] - cells[second]

        again = sum(max(ratios(i, j, fallback)) for i, j in itertools.combinations(range(3), 2))
        for pivot in range(3):
            a, b = (i for i in range(3) if i != pivot)
            for x, y in itertools.product(range(4), repeat=2):
                asked = sum([ratios(a, pivot, query)[x], ratios(b, pivot, query)[y]][: target.limit])
                third = (x >= 2) == (y >= 2)
                if target.limit < 2 or (third and target.limit < 3):
                    worst = max(worst, asked + again)
                elif third:
                    worst = max(worst, asked + max(ratios(a, b, query)))
                else:
                    worst = max(worst, asked)
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("cap", [0, 1, 2, 3])
@pytest.mark.parametrize("calibration", ["printed", "tight"])
@pytest.mark.parametrize("budget", ["printed", "meant"])
def test_no_transcript_exceeds_the_longest_run(cap, calibration, budget):
    target = SECOND(epsilon=1.3, agents=1, cap=cap, calibration=calibration, budget=budget)
    view = target.views()["longest-run"]
    printed = dpaudit.PrivacyClaim(epsilon=1.3, view="longest-run")
    exact = audit_exact(view, printed, view.neighbours())[0].measured["epsilon"].upper
    assert exact == pytest.approx(coarse_epsilon(target), rel=1e-9)
    queries = 0.0 if cap == 0 else 1.0 if budget == "printed" else 0.5
    again = 0.0 if cap == 3 else 0.5 if calibration == "tight" else 0.5 / 3
    assert exact == pytest.approx(1.3 * (queries + again), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("m", "exceeded"), [(5, False), (10, False), (11, True), (30, True)])
def test_the_budget_with_the_default_cap(m, exceeded):
    meant = evidence_of(SECOND(alternatives=m, agents=1, budget="meant"), "theorem5-budget")
    assert meant.verdict == "proved"
    assert bool(claim_of(SECOND(alternatives=m, agents=1), "corollary6-budget").inapplicable) != exceeded
    if exceeded:
        printed = evidence_of(SECOND(alternatives=m, agents=1), "corollary6-budget")
        assert printed.verdict == "refuted"
        assert printed.measured["epsilon"].upper == pytest.approx((5 * m - 1) / (4 * m), rel=1e-9)


def test_the_default_cap_is_the_least_one():
    for m in (4, 10, 11, 20, 64):
        law = np.ones(1)
        laws = [law, law]
        for size in range(2, m + 1):
            total = np.zeros(math.comb(size, 2) + 1)
            for left in range(size):
                both = np.convolve(laws[left], laws[size - 1 - left])
                total[size - 1 : size - 1 + len(both)] += both / size
            laws.append(total)
        tail = np.append(np.cumsum(laws[m][::-1])[::-1], 0.0)
        for xi in (0.1, 1.0):
            cap = SECOND(alternatives=m, xi=xi).limit
            assert tail[cap + 1] <= xi / m**4
            assert tail[cap] > xi / m**4
    assert [SECOND(alternatives=m).limit for m in (3, 10, 11)] == [3, 45, 53]
    assert SECOND(alternatives=4, cap=40).limit == 6


def test_transcripts_have_the_density_that_they_say():
    target = SECOND(epsilon=1.0, agents=1, cap=2)
    view = target.views()["transcript"]
    rows = view.sample(PROFILE[:1], 2000, np.random.default_rng(SEED))
    asked, answers, ran, again = rows[:, :3], rows[:, 3:6], rows[:, 6], rows[:, 7:]
    assert (asked.sum(axis=1) == 2).all()
    assert ((answers != 0) == asked).all()
    assert ((again != 0) == ran[:, None]).all()
    # Two answers: a third comparison is needed where the pivot is first or last of the three.
    for a, y, r in zip(asked.astype(bool), answers, ran, strict=True):
        pairs = [pair for pair, was in zip(itertools.combinations(range(3), 2), a, strict=True) if was]
        pivot = set(pairs[0]).intersection(pairs[1]).pop()
        first = [(y[k] > 0.5) == (i == pivot) for k, (i, _) in enumerate(itertools.combinations(range(3), 2)) if a[k]]
        assert bool(r) == (first[0] == first[1])
    truth = np.array([1.0, 1.0, 1.0])
    query, fallback = laplace(scale=2.0), laplace(scale=18.0)
    expected = (asked * query.logpdf(answers - truth)).sum(axis=1) + ran * fallback.logpdf(again - truth).sum(axis=1)
    assert view.log_likelihood(rows, PROFILE[:1]) == pytest.approx(expected, rel=1e-12)


def test_the_classical_gaussian_fails_at_a_large_epsilon():
    shared = {"delta": 1e-5, "noise": "gaussian", "agents": 1}
    for calibration, holds, fails in (("classical", 8.4, 8.5), ("printed", 70.8, 70.9)):
        for epsilon, verdict in ((holds, True), (fails, False)):
            view = FIRST(epsilon=epsilon, calibration=calibration, **shared).views()["noisy-matrix"]
            pair = next(iter(view.neighbours()))
            delta = dpaudit.compare(*map(view.law, pair)).delta(epsilon).upper
            ratio = math.sqrt(3) / view.main_noise.scale
            exact = norm.cdf(ratio / 2 - epsilon / ratio) - math.exp(epsilon) * norm.cdf(-ratio / 2 - epsilon / ratio)
            assert delta == pytest.approx(exact, rel=1e-6)
            assert (delta <= 1e-5) == verdict


@pytest.mark.parametrize("instance", ["unanimous", "near-ties", "opposed", "cyclic"])
@pytest.mark.parametrize("m", [3, 4])
def test_the_instances_and_their_optimum(instance, m):
    target = FIRST(alternatives=m, agents=1000, instance=instance)
    profile = instance_profile(target)
    assert profile.agents == 1000
    best = min(rankings.average_kendall_tau(np.array(order), profile) for order in itertools.permutations(range(m)))
    assert optimum(target, profile) == pytest.approx(float(best), rel=1e-12)
    low, high = cost_range(target, float(best))
    worst = max(rankings.average_kendall_tau(np.array(order), profile) for order in itertools.permutations(range(m)))
    assert low <= best <= worst <= high


@pytest.mark.slow
def test_the_error_of_the_worst_blocs():
    """Against a search over margins with KwikSort's exact expected cost."""
    target = SECOND(alternatives=5, agents=100_000, budget="meant")
    found = kwiksort_error(target)
    scale = 2 * 10 / 100_000
    best = 0.0
    for margin in np.linspace(0.2, 4, 200) * scale:
        flip = math.exp(-margin / scale) / 2
        before = np.where(np.triu(np.ones((5, 5)), 1) > 0, 1 - flip, flip)
        wrong = rankings.kwiksort_expected_cost(np.triu(np.ones((5, 5), dtype=int), 1), before)
        best = max(best, 2 * margin * wrong)
    assert found == pytest.approx(best, rel=1e-3)
    assert found >= best


@pytest.mark.slow
def test_kwiksort_on_any_tournament_makes_no_more_comparisons():
    claim = claim_of(SECOND(), "comparisons-any")
    transitive = {"alternatives": 3, "outcomes": 0b111}
    cyclic = {"alternatives": 3, "outcomes": 0b101}
    assert claim.margin(**transitive) == pytest.approx(0, abs=1e-12)
    assert claim.margin(**cyclic) == pytest.approx(0, abs=1e-12)
    assert margin_to_quicksort(4, 0) == pytest.approx(0, abs=1e-12)
    assert len(claim.instances) == 2 + 8 + 64 + 1024


def test_parameters_that_do_not_fit_are_refused():
    with pytest.raises(dpaudit.ParameterError, match="'delta' must be 0 with laplace noise"):
        FIRST(delta=0.1)
    with pytest.raises(dpaudit.ParameterError, match="'delta' must be above 0 and below 1 with gaussian noise"):
        SECOND(noise="gaussian")


@pytest.mark.slow
def test_claims_about_another_noise_or_budget_are_inapplicable():
    printed = {claim.id: claim.inapplicable for claim in SECOND(alternatives=3, cap=2).claims()}
    assert printed["alabi2022.corollary6-rate-agents"] == ""
    assert printed["alabi2022.corollary7-rate-agents"] == "it is about noise = gaussian"
    assert printed["alabi2022.corollary6-budget"] == ""
    assert printed["alabi2022.theorem5-budget"] == "it is about budget = meant"
    gaussian = {claim.id: claim.inapplicable for claim in FIRST(noise="gaussian", delta=1e-5).claims()}
    assert gaussian["alabi2022.corollary3"] == "it is about noise = laplace"
    assert gaussian["alabi2022.corollary4"] == ""
