"""What DDP-Helnaksort gives away: formulas and numbers of the paper against independent calculations."""

import itertools
import json
import math
import sys

import numpy as np
import pytest
from scipy.stats import binom, norm

import dpaudit
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.catalog.song2022 import DDPHelnaksort
from dpaudit.catalog.song2022.collection import local_randomizer

SEED = 20261121


def decide(name, samples=None, seed=1, **parameters):
    target = DDPHelnaksort(**parameters)
    claim = next(claim for claim in target.claims() if claim.id == f"song2022.{name}")
    return audit(target, claim, budget=Budget(samples=samples), streams=Streams(seed))


def keep_of(epsilon, delta, queries=1):
    """Probability of a true answer after Gaussian noise and the threshold: Algorithm 1, literally."""
    sigma = queries * math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    return norm.cdf(0.5 / sigma)


def delta_of(keep, users, ones, epsilon):
    """Divergence of the number of ones when one user's 1 becomes a 0, beside ``ones`` ones; both directions."""
    others = np.convolve(
        binom.pmf(np.arange(ones + 1), ones, keep), binom.pmf(np.arange(users - ones), users - 1 - ones, 1 - keep)
    )
    p, q = np.convolve(others, [1 - keep, keep]), np.convolve(others, [keep, 1 - keep])
    level = math.exp(epsilon)
    return max(np.maximum(p - level * q, 0).sum(), np.maximum(q - level * p, 0).sum())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("central", "users", "delta", "verdict"),
    [
        (0.25, 16, 1e-4, "refuted"),
        (0.25, 100, 1e-6, "refuted"),
        (0.5, 16, 1e-4, "proved"),
        (0.25, 2, 1e-4, "proved"),
        (0.1, 2, 0.01, "refuted"),
        (1.0, 16, 1e-4, "proved"),
    ],
)
def test_theorem_3_1_by_enumerating_all_inputs(central, users, delta, verdict):
    keep = keep_of(central + math.log(users), delta)
    exact = max(delta_of(keep, users, ones, central) for ones in range(users))
    evidence = decide("theorem3.1-central", central_epsilon=central, agents=6 * users, delta=delta)
    assert evidence.verdict == verdict == ("refuted" if exact > delta else "proved")
    assert evidence.measured["delta"].lower == pytest.approx(exact, rel=1e-9, abs=1e-15)
    if verdict == "refuted":
        assert evidence.witness.p - math.exp(central) * evidence.witness.q == pytest.approx(exact, rel=1e-9)


@pytest.mark.slow
def test_the_number_in_the_documentation():
    """Central epsilon 0.25, 16 agents, delta 1e-4: 35 times the claimed delta."""
    evidence = decide("theorem3.1-central", central_epsilon=0.25, agents=96, delta=1e-4)
    assert evidence.measured["delta"].lower == pytest.approx(0.0034741, rel=1e-4)
    assert evidence.measured["epsilon"].lower == pytest.approx(0.43785, rel=1e-4)
    assert sorted(evidence.witness.data + evidence.witness.neighbour) == [0, 1, 15, 16]


@pytest.mark.slow
def test_the_papers_own_settings():
    assert DDPHelnaksort(central_epsilon=0.5).on_a_pair == 16
    assert decide("theorem3.1-central", central_epsilon=0.5).verdict == "refuted"
    assert decide("theorem3.1-central", central_epsilon=1.0).verdict == "proved"
    for epsilon in (0.5, 1.0, math.log(100 / 6) - 0.01):
        assert decide("theorem3.1-central-negative", epsilon=epsilon).verdict == "refuted"
        for who in ("", "-by-lot", "-secret-draw"):
            assert decide(f"theorem3.1-central{who}", epsilon=epsilon).verdict == "inapplicable"
    assert decide("theorem3.1-central-negative", epsilon=math.log(100 / 6) + 0.01).verdict == "inapplicable"


@pytest.mark.slow
def test_a_negative_epsilon_is_refuted_by_all_outputs_together():
    """At ϵ = 1 of the paper's Figure 2: (-1.813, 1e-4)-DP, where 1 <= e^-1.813 + 1e-4 is false."""
    evidence = decide("theorem3.1-central-negative", epsilon=1.0)
    claimed = 1.0 - math.log(100 / 6)
    assert claimed == pytest.approx(-1.813, abs=5e-4)
    assert evidence.witness.p == pytest.approx(1.0)
    assert evidence.witness.q == pytest.approx(1.0)
    assert evidence.measured["delta"].lower == pytest.approx(1 - math.exp(claimed))
    assert decide("theorem2.1", epsilon=1.0).verdict == "inapplicable"


@pytest.mark.slow
def test_a_negative_epsilon_may_hold_where_delta_is_large():
    """By hand: of n' = 16 answers and ϵ = ln 16 - 0.05, 1 - e^-0.05 is below δ = 0.4, and so is the divergence."""
    evidence = decide("theorem3.1-central-negative", epsilon=math.log(16) - 0.05, agents=96, delta=0.4)
    keep = keep_of(math.log(16) - 0.05, 0.4)
    exact = max(delta_of(keep, 16, ones, -0.05) for ones in range(16))
    assert 1 - math.exp(-0.05) < exact < 0.4
    assert evidence.verdict == "proved"
    assert evidence.measured["delta"].upper == pytest.approx(exact, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("users", [2, 16, 300])
def test_theorem_2_1_fails_for_randomized_response(users):
    epsilon = 1.0
    keep = 1 / (1 + math.exp(-epsilon) / users)
    exact = max(delta_of(keep, users, ones, epsilon) for ones in range(users))
    parameters = {"central_epsilon": epsilon, "agents": 6 * users, "randomizer": "randomized-response"}
    evidence = decide("theorem2.1", **parameters)
    assert evidence.verdict == "refuted"
    assert evidence.measured["delta"].lower == pytest.approx(exact, rel=1e-9)
    assert evidence.measured["delta"].lower > 0.35
    assert decide("theorem2.1-meant", **parameters).verdict == "proved"


def test_theorem_2_1_needs_its_premise():
    evidence = decide("theorem2.1", central_epsilon=8.0, agents=12, randomizer="gaussian")
    assert evidence.verdict == "inapplicable"
    assert "not (ϵ, δ)-LDP" in evidence.note


@pytest.mark.parametrize(
    ("epsilon", "queries"),
    [
        pytest.param(epsilon, queries, marks=pytest.mark.slow if queries > 1 else ())
        for epsilon, queries in itertools.product([1.0, 7.9, 8.1], [1, 4])
    ],
)
def test_gaussian_noise_before_the_threshold(epsilon, queries):
    ratio = math.sqrt(queries) * epsilon / (queries * math.sqrt(2 * math.log(1.25e4)))
    exact = norm.cdf(ratio / 2 - epsilon / ratio) - math.exp(epsilon) * norm.cdf(-ratio / 2 - epsilon / ratio)
    evidence = decide("gaussian-mechanism", epsilon=epsilon, queries=queries)
    assert evidence.measured["delta"].lower == pytest.approx(exact, rel=1e-6, abs=1e-14)
    assert evidence.verdict == ("refuted" if exact > 1e-4 else "proved")
    assert (evidence.verdict == "refuted") == (epsilon == 8.1 and queries == 1)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "queries"), [(1.0, 1), (8.0, 3), (40.0, 6)])
def test_theorem_3_1_local_for_thresholded_answers(epsilon, queries):
    keep = keep_of(epsilon, 1e-4, queries)
    delta = 0.0
    for wrong in range(queries + 1):
        p, q = keep ** (queries - wrong) * (1 - keep) ** wrong, keep**wrong * (1 - keep) ** (queries - wrong)
        delta += math.comb(queries, wrong) * max(p - math.exp(epsilon) * q, 0)
    evidence = decide("theorem3.1-local", epsilon=epsilon, queries=queries)
    assert evidence.measured["delta"].upper == pytest.approx(delta, rel=1e-9, abs=1e-15)
    largest = queries * math.log(keep / (1 - keep))
    assert evidence.measured["epsilon"].upper <= largest * (1 + 1e-9)


@pytest.mark.parametrize("name", ["randomized-response", "laplace-threshold"])
def test_the_other_randomizers(name):
    answer = local_randomizer(name, 1.5, 0.1).law(1)
    keep = 1 / (1 + math.exp(-1.5)) if name == "randomized-response" else 1 - math.exp(-0.75) / 2
    assert math.exp(answer.log_probabilities[1]) == pytest.approx(keep)


@pytest.mark.slow
def test_by_lot_is_the_mean_over_the_number_of_agents():
    central, agents, pairs = 0.25, 30, 6
    view = DDPHelnaksort(central_epsilon=central, agents=agents).views()["received-by-lot"]
    keep = keep_of(central + math.log(agents / pairs), 1e-4)
    weights = binom.pmf(np.arange(agents), agents - 1, 1 / pairs)
    alike = sum(w * delta_of(keep, k + 1, k, central) for k, w in enumerate(weights))
    worst = sum(w * max(delta_of(keep, k + 1, j, central) for j in range(k + 1)) for k, w in enumerate(weights))
    p, q = view.law((1, 1)), view.law((0, 1))
    assert max(p.against(q).delta(central).upper, q.against(p).delta(central).upper) == pytest.approx(alike, rel=1e-9)
    assert view.delta_at_most(central) == pytest.approx(worst, rel=1e-9)
    assert alike <= worst
    assert view.neighbours().complete == (worst <= view.delta)


@pytest.mark.slow
def test_by_lot_samples_follow_the_law():
    evidence = decide("theorem3.1-central-by-lot", central_epsilon=0.5)
    # The audit holds 100,000 samples on both inputs against the law, at a false-alarm rate of 1e-6.
    assert evidence.method == "exact"
    assert evidence.verdict == "refuted"


def test_the_number_of_other_agents_on_a_pair_is_binomial():
    """Its mean, to which the test of all outcomes of the law is nearly blind."""
    view = DDPHelnaksort(central_epsilon=0.5, agents=60).views()["received-by-lot"]
    runs, share = 40_000, 1 / view.pairs
    others = view.sample((0, 1), runs, np.random.default_rng(SEED))[:, 0]
    error = math.sqrt(59 * share * (1 - share) / runs)
    assert abs(others.mean() - 59 * share) < error * norm.isf(5e-7)


def test_without_a_shuffler_the_answer_itself_is_seen():
    target = DDPHelnaksort(central_epsilon=0.25, agents=96, shuffle=False)
    shown = {view for name, view in target.views().items() if name.startswith("received")}
    assert shown == {target.report}


@pytest.mark.parametrize(
    "claim",
    [
        "theorem2.1",
        "theorem2.1-meant",
        "theorem3.1-central",
        "theorem3.1-central-mended",
        "theorem3.1-central-by-lot",
        "theorem3.1-central-secret-draw",
        "theorem3.1-central-secret-draw-mended",
        "other-mechanisms-secret-draw",
        "shuffling-amplifies",
        "shuffling-as-noise",
        "amplification-proportional",
        "source-unguessable",
    ],
)
def test_claims_about_shuffled_answers_say_nothing_without_a_shuffler(claim):
    evidence = decide(claim, central_epsilon=0.25, agents=96, shuffle=False)
    assert evidence.verdict == "inapplicable"
    assert "no shuffler" in evidence.note
    negative = decide("theorem3.1-central-negative", epsilon=1.0, agents=96, shuffle=False)
    assert negative.verdict == "inapplicable"


@pytest.mark.slow
def test_real_answers_say_more_than_bits():
    evidence = decide("theorem2.1", 200_000, central_epsilon=0.25, agents=12, randomizer="gaussian")
    assert evidence.verdict == "refuted"
    assert evidence.method == "likelihood"
    assert decide("theorem3.1-central", central_epsilon=0.25, agents=12).verdict == "proved"


def test_a_setting_may_be_given_either_way_but_not_both():
    central = DDPHelnaksort(central_epsilon=0.25, agents=96)
    local = DDPHelnaksort(epsilon=0.25 + math.log(16), agents=96)
    assert central.local_epsilon == local.local_epsilon
    assert central.amplified == pytest.approx(local.amplified, abs=1e-15)
    assert DDPHelnaksort().epsilon == 1.0
    with pytest.raises(dpaudit.ParameterError, match="without effect; give one of the two"):
        DDPHelnaksort(epsilon=9.0, central_epsilon=0.25)


def test_likelihood_of_real_answers_is_the_mean_over_all_ways_to_assign_them():
    view = DDPHelnaksort(central_epsilon=0.5, agents=30, randomizer="gaussian").views()["received"]
    sigma = view.response.scale
    outputs = view.sample((2, 3), 7, np.random.default_rng(SEED))
    found = {yes: view.log_likelihood(outputs, (5 - yes, yes)) for yes in (3, 2)}
    for i, row in enumerate(outputs):
        exact = {}
        for yes in (3, 2):
            chosen = list(itertools.combinations(range(5), yes))
            densities = [norm.pdf(row, [float(j in ones) for j in range(5)], sigma).prod() for ones in chosen]
            exact[yes] = np.mean(densities)
        assert found[3][i] - found[2][i] == pytest.approx(math.log(exact[3] / exact[2]), rel=1e-9)


@pytest.mark.slow
def test_converse_margin_is_log_n_at_most():
    """Shuffling never makes epsilon larger, so the converse holds with up to log n to spare."""
    for users in (2, 10, 200):
        evidence = decide("theorem2.1-meant", central_epsilon=1.0, agents=6 * users)
        assert evidence.verdict == "proved"
        assert 0 <= evidence.measured["margin"].lower <= math.log(users) + 1e-9


def test_more_than_one_query_is_outside_the_theorem():
    assert decide("theorem3.1-central", central_epsilon=0.5, queries=2).verdict == "inapplicable"
    with pytest.raises(dpaudit.ParameterError, match="queries"):
        DDPHelnaksort(queries=7)
    with pytest.raises(dpaudit.ParameterError, match="central_epsilon"):
        DDPHelnaksort(central_epsilon=0.0, agents=1)


@pytest.mark.slow
def test_the_command_line_says_delta_inputs_and_verdict(monkeypatch, capsys):
    from dpaudit.cli import main

    words = "check ddp-helnaksort --workers 1 --format json --claim song2022.theorem3.1-central --set delta=1e-4"
    words += " --set central_epsilon=0.25 --set epsilon=null --set agents=96 --set alternatives=4"
    monkeypatch.setattr(sys, "argv", ["dpaudit", *words.split()])
    with pytest.raises(SystemExit) as exit_:
        main()
    assert not exit_.value.code
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert result["verdict"] == "refuted"
    assert result["measured"]["delta"]["lower"] == pytest.approx(0.0034741, rel=1e-4)
    witness = result["witness"]
    assert sorted([witness["data"], witness["neighbour"]]) in ([[0, 16], [1, 15]], [[15, 1], [16, 0]])
    assert witness["p"] - math.exp(0.25) * witness["q"] == pytest.approx(0.0034741, rel=1e-4)
