"""Verdicts at parameters that no plan has, drawn around every threshold, against formulas of their own."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from dpaudit.auditors import Budget, Streams, audit
from dpaudit.catalog.shang2014 import GaussianHistogram
from dpaudit.claims.declarations import declarations_of

SEED = 20261122
DENSITY_OF_BORDA = 2.40563


def claim_of(target, name):
    (found,) = (each for each in declarations_of(GaussianHistogram) if each.id == f"shang2014.{name}")
    return found.bind(target)


def decide(target, name, runs=None):
    budget = Budget(samples=runs, confidence=1 - 1e-6)
    return audit(target, claim_of(target, name), budget=budget, streams=Streams(SEED))


def delta_of(epsilon, scale, sensitivity):
    """Balle and Wang 2018, Theorem 8."""
    ratio = sensitivity / scale
    return norm.cdf(ratio / 2 - epsilon / ratio) - math.exp(epsilon + norm.logcdf(-ratio / 2 - epsilon / ratio))


def noise_of(epsilon, delta):
    return math.sqrt(2 * math.log(2 / delta)) / epsilon


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "relation", "sensitivity"),
    [("theorem1", "add-remove", 1.0), ("theorem1-substitution", "substitution", math.sqrt(2))],
)
def test_theorem_1_around_the_largest_epsilon(name, relation, sensitivity):
    rng = np.random.default_rng(SEED)
    for i, delta in enumerate(10 ** rng.uniform(-9, -1, 4)):
        limit = brentq(lambda e: delta_of(e, noise_of(e, delta), sensitivity) / delta - 1, 1e-4, 60)  # noqa: B023
        for factor in (1 - 1e-4, 1 + 1e-4) if i else (0.3, 1 - 1e-4, 1 + 1e-4, 3.0):
            target = GaussianHistogram(epsilon=limit * factor, delta=float(delta), relation=relation)
            assert decide(target, name).verdict == ("proved" if factor < 1 else "refuted")


def test_the_mended_noise_is_private_at_every_epsilon_and_little_more():
    rng = np.random.default_rng(SEED)
    for epsilon, delta in zip(10 ** rng.uniform(-2, 3, 40), 10 ** rng.uniform(-9, -1, 40), strict=True):
        log = math.log(1 / delta)
        scale = (math.sqrt(log) + math.sqrt(log + epsilon)) / (math.sqrt(2) * epsilon)
        assert delta_of(epsilon, scale, 1.0) <= delta
        if epsilon < 0.1:
            assert scale < noise_of(epsilon, delta)
    assert decide(GaussianHistogram(delta=1e-3), "theorem1-every-epsilon-mended", 300).verdict == "consistent"


def test_laplace_noise_is_smaller_and_stronger():
    rng = np.random.default_rng(SEED)
    for epsilon, delta in zip(10 ** rng.uniform(-2, 1, 10), 10 ** rng.uniform(-9, -0.5, 10), strict=True):
        assert math.sqrt(2) / epsilon < noise_of(epsilon, delta)
        target = GaussianHistogram(epsilon=float(epsilon), delta=float(delta))
        assert decide(target, "laplace-less-noise", 100).verdict == "consistent"
        evidence = decide(target, "laplace-stronger")
        assert evidence.verdict == "consistent"
    assert decide(GaussianHistogram(agents=2000), "laplace-errs-less", 4000).verdict == "certified"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lemma2", "theorem2"])
def test_the_bounds_around_an_error_rate_of_one_half(name):
    """The rate by simulation at sizes where it is clear of one half."""
    rng = np.random.default_rng(SEED)
    scores = np.array([[1, 0.5, 0], [1, 0, 0.5], [0.5, 1, 0], [0, 1, 0.5], [0.5, 0, 1], [0, 0.5, 1]])
    verdicts = Counter()
    for epsilon in rng.uniform(0.05, 0.3, 3):
        for share_noise in (0.105, 0.15):
            scale = noise_of(epsilon, 5e-4)
            agents = round(scale / share_noise)
            shares = rng.dirichlet(np.ones(6), 40_000)
            noisy = shares + scale / agents * rng.normal(size=shares.shape)
            rate = (np.argsort(shares @ scores) != np.argsort(noisy @ scores)).any(axis=1).mean()
            assert abs(rate - 0.5) > 0.02
            verdict = decide(GaussianHistogram(epsilon=float(epsilon), agents=agents), name).verdict
            assert verdict == ("refuted" if rate > 0.5 else "proved")
            verdicts[verdict] += 1
    assert len(verdicts) == 2


def test_equation_24_around_where_it_has_no_value():
    rng = np.random.default_rng(SEED)
    for m in (3, 4, 5):
        epsilon, delta = rng.uniform(0.05, 1), 10 ** rng.uniform(-6, -2)
        # The logarithm in Equation 24 is 0 there.
        pairs, cells = m * (m - 1), math.factorial(m) - 1
        least = math.sqrt(math.pi * math.log(2 / delta)) * pairs * cells / (math.sqrt(2) * epsilon)
        for agents in (math.floor(least * 0.999), math.ceil(least * 1.001)):
            target = GaussianHistogram(epsilon=epsilon, delta=delta, alternatives=m, agents=agents)
            claim = claim_of(target, "theorem2-equation24")
            assert bool(claim.inapplicable) == (agents < least)
            assert decide(target, "equation24", 50).verdict == ("refuted" if agents < least else "consistent")
            assert decide(target, "equation24-mended", 50).verdict == (
                "inapplicable" if agents < least else "consistent"
            )


@pytest.mark.slow
def test_equation_27_around_where_guessing_does_as_well():
    rng = np.random.default_rng(SEED)
    for epsilon, delta in zip(rng.uniform(0.05, 0.5, 4), 10 ** rng.uniform(-6, -2, 4), strict=True):

        def bound(agents, epsilon=epsilon, delta=delta):
            first = 15 * math.sqrt(2 * math.log(agents) * math.log(2 / delta)) / epsilon
            return (first + 1 / (2 * math.sqrt(math.pi * math.log(agents)))) / agents

        least = brentq(lambda n: bound(n) - 5 / 6, 10, 1e6)
        for agents, verdict in ((math.floor(least * 0.99), "vacuous"), (math.ceil(least * 1.01), "proved")):
            target = GaussianHistogram(epsilon=float(epsilon), delta=float(delta), agents=agents)
            assert claim_of(target, "equation27").bound == pytest.approx(bound(agents))
            assert decide(target, "equation27").verdict == verdict


def test_lemma_3_at_equation_24_around_where_it_begins_to_fail():
    """The error rate is nearly C(M, 2) p_D(0) √(2 / π) σ / N where that is small."""
    epsilon, delta = 0.1, 5e-4

    def excess(agents):
        noise = noise_of(epsilon, delta) / agents
        x = math.sqrt(-2 * math.log(3 * 5 / math.sqrt(2) * noise * math.sqrt(2 * math.pi)))
        lemma = 3 * 2 * 5 / math.sqrt(2) * noise * x * norm.sf(x / 2) + norm.sf(x)
        return 3 * DENSITY_OF_BORDA * math.sqrt(2 / math.pi) * noise / lemma - 1

    limit = brentq(excess, 1e5, 1e7)
    assert limit == pytest.approx(5.2e5, rel=0.02)
    for agents, verdict in ((round(limit * 0.97), "proved"), (round(limit * 1.03), "refuted")):
        assert decide(GaussianHistogram(agents=agents), "lemma3-equation24").verdict == verdict


def test_equation_15_around_the_rules_for_which_it_holds():
    rng = np.random.default_rng(SEED)
    for middle in (0.5, 0.5 + 1e-6, 0.5 - 1e-6, *rng.uniform(0, 1, 4)):
        target = GaussianHistogram(rule=f"1:{middle:.9f}:0")
        assert decide(target, "equation15-reversal").verdict == ("proved" if middle == 0.5 else "refuted")
        assert decide(target, "equation15-reversal-mended").verdict == "proved"
        assert decide(target, "equation15").verdict == "proved"
    for rule, verdict in (("1:0.7:0.3:0", "proved"), ("2-approval", "proved"), ("1:0.7:0.4:0", "refuted")):
        target = GaussianHistogram(alternatives=4, rule=rule)
        scores = dict(zip(range(4), target.positional.scores, strict=True))
        opposite = all(
            math.isclose(scores[i] - scores[j], scores[3 - j] - scores[3 - i], abs_tol=1e-12)
            for i, j in itertools.permutations(range(4), 2)
        )
        assert decide(target, "equation15-reversal").verdict == verdict == ("proved" if opposite else "refuted")


def test_equation_15_against_the_characteristic_function():
    """The product over all rankings, one after the other, is that of 1 / (1 + β² t²) over those with β > 0."""
    rng = np.random.default_rng(SEED)
    for m in (3, 4):
        scores = np.sort(np.r_[1.0, rng.uniform(0, 1, m - 2), 0.0])[::-1]
        target = GaussianHistogram(alternatives=m, rule=":".join(map(repr, scores.tolist())))
        assert decide(target, "equation15").verdict == "proved"
        gaps = [scores[order.index(0)] - scores[order.index(1)] for order in itertools.permutations(range(m))]
        beta = np.array(gaps) / np.linalg.norm(gaps)
        for t in rng.uniform(-20, 20, 5):
            half = np.prod(1 / (1 + (beta[beta > 0] * t) ** 2))
            assert np.prod(1 / (1 + 1j * beta * t)) == pytest.approx(half, rel=1e-9)


def test_the_noise_for_a_replaced_ranking_is_enough_where_that_for_an_added_one_is():
    for delta, factor in itertools.product((1e-3, 1e-7), (0.5, 1 - 1e-4, 1 + 1e-4)):
        limit = brentq(lambda e: delta_of(e, noise_of(e, delta), 1.0) / delta - 1, 1e-4, 60)  # noqa: B023
        epsilon = limit * factor
        exact = delta_of(epsilon, math.sqrt(2) * noise_of(epsilon, delta), math.sqrt(2))
        claim = claim_of(GaussianHistogram(epsilon=epsilon, delta=delta, relation="substitution"), "theorem1-scaled")
        assert bool(claim.inapplicable) == (exact > delta)


def test_a_slice_through_the_origin_has_the_volume_of_equation_12():
    for rule in ("borda", "plurality", "1:0.3:0"):
        assert decide(GaussianHistogram(rule=rule), "equation13-mended").verdict == "proved"
    refuted = decide(GaussianHistogram(), "equation13")
    assert refuted.verdict == "refuted"


@pytest.mark.slow
def test_rules_that_hardly_ever_tie_err_little_with_little_noise():
    for rule in ("borda", "instant-runoff", "kemeny"):
        assert decide(GaussianHistogram(rule=rule), "any-rule-mended", 4000).verdict == "certified"
    assert decide(GaussianHistogram(rule="copeland"), "any-rule-mended").verdict == "inapplicable"


@pytest.mark.slow
def test_the_error_rate_falls_as_one_over_n_and_so_as_theorem_3_and_equation_27_say():
    for name in ("theorem3", "equation27-rate"):
        evidence = decide(GaussianHistogram(), name)
        assert evidence.verdict == "consistent"
        assert decide(GaussianHistogram(profiles="independent"), name).verdict == "inapplicable"
    claim = claim_of(GaussianHistogram(), "theorem3")
    few, many = (claim.exact(agents) for agents in (1e6, 1e8))
    assert few / many == pytest.approx(100, rel=1e-3)


def test_every_positional_rule_fails_the_condorcet_criterion():
    rng = np.random.default_rng(SEED)
    for m in (3, 4, 5):
        for _ in range(6):
            scores = np.sort(np.r_[1.0, rng.uniform(0, 1, m - 2), 0.0])[::-1]
            target = GaussianHistogram(alternatives=m, rule=":".join(f"{score:.6f}" for score in scores))
            evidence = decide(target, "positional-condorcet")
            assert evidence.verdict == "proved"
            s = np.round(scores, 6)
            fishburn = 8 * s[0] + 6 * s[1] + 3 * s[2] - (6 * s[0] + 7 * s[1] + 4 * s[2])
            assert evidence.measured["17 agents"].lower == pytest.approx(fishburn)
            assert evidence.measured["3 agents"].lower == pytest.approx(2 * s[1] + s[0] - 2 * s[0] - s[-1])


@pytest.mark.slow
def test_scores_of_independent_agents_differ_by_the_root_of_their_number():
    """The rate of Theorem 3 for independent agents against its limit, C(3, 2) pairs that are reversed now and then."""
    target = GaussianHistogram(profiles="independent")
    agents = 10_000_000
    spread = math.sqrt(agents / 6) * target.positional.gap_norm
    noise = target.noise.scale * target.positional.gap_norm
    reversed_pair = 2 * quad(lambda x: norm.pdf(x) * norm.sf(x * spread / noise), 0, 10)[0]
    claim = claim_of(target, "theorem3-independent")
    rate = claim.measure(agents, 400_000, np.random.default_rng(SEED)).mean()
    # Of three pairs hardly ever two are reversed at once.
    assert rate == pytest.approx(3 * reversed_pair, rel=0.06)
    for bound in ("theorem2", "lemma2", "lemma3", "equation27", "borda-bound", "theorem2-equation24"):
        assert decide(target, bound).verdict == "inapplicable"
    assert decide(GaussianHistogram(), "theorem3-independent").verdict == "inapplicable"


def test_the_printed_equations_of_section_iv():
    assert decide(GaussianHistogram(), "equations29-34").verdict == "proved"
    assert decide(GaussianHistogram(), "figure2-delta").verdict == "refuted"
    assert decide(GaussianHistogram(delta=5e-5), "figure2-delta-mended").verdict == "proved"
