"""The peers that the benchmarks compare with, and the measurement of the detection limit's power."""

import math

import numpy as np
import pytest
from detection import audited
from peers import PEERS, ldp, sniper, twosample
from suite.given import given

from dpaudit.auditors.blackbox.audit import sampler_of
from dpaudit.auditors.blackbox.pair import bound_pair
from dpaudit.auditors.blackbox.tasks import PairTask
from dpaudit.auditors.outputs.outputs import Outputs
from dpaudit.auditors.sampling.budget import Budget
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.guarantees import ApproximateDP

SURE = 1 - 1e-7


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_total_variation_of_randomized_response_forces_its_epsilon(epsilon):
    # Two answers: e^epsilon / (1 + e^epsilon) and its complement are tanh(epsilon / 2) apart.
    assert twosample.epsilon_of(math.tanh(epsilon / 2), 0.0) == pytest.approx(epsilon)


def test_total_variation_of_a_release_with_probability_delta_forces_nothing():
    # Nothing but a certain difference with probability delta: the laws are delta apart, and epsilon is 0.
    assert twosample.epsilon_of(0.01, 0.01) == 0
    # Randomized response otherwise: delta + (1 - delta) tanh(epsilon / 2) apart.
    assert twosample.epsilon_of(0.01 + 0.99 * math.tanh(0.5), 0.01) == pytest.approx(1.0)


def test_snipers_event_has_its_probability_ties_included():
    probabilities = np.repeat([0.9, 0.7, 0.2], [4, 20, 976])
    threshold, ties = sniper._event(probabilities)
    inside = np.mean((probabilities > threshold) + ties * (probabilities == threshold))
    assert threshold == 0.7
    assert inside == pytest.approx(sniper.C)


def test_attack_guesses_any_member_of_a_set_and_any_value_of_none():
    rng = np.random.default_rng(3)
    bits = np.repeat(np.array([[1, 0, 1, 0], [0, 0, 0, 0]]), 20_000, axis=0)
    guesses = ldp._any_set(bits, None, rng)
    of_two, of_none = (np.bincount(part, minlength=4) / 20_000 for part in (guesses[:20_000], guesses[20_000:]))
    # Six standard errors of a share are at most 0.022.
    np.testing.assert_allclose(of_two, [0.5, 0, 0.5, 0], atol=0.022)
    np.testing.assert_allclose(of_none, np.full(4, 0.25), atol=0.022)
    assert of_two[1] == of_two[3] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["laplace", "randomized-response", "gaussian-false-delta"])
def test_peers_bounds_are_below_the_truth_and_find_most_of_it(name):
    row = given(name, 20_000, 0.9)
    for peer in PEERS.values():
        said = peer(row, 20_000, SURE, 1)
        if said is not None and said.bound is not None:
            assert 0.1 * row.truth < said.bound <= row.truth


@pytest.mark.slow
def test_the_limit_that_is_measured_is_the_one_that_an_audit_states():
    row = given("noisy-max-laplace-value", 4000, 0.9)
    streams = Streams(5, ("detection", row.mechanism.name))
    sampler = sampler_of(row.mechanism, Budget(samples=4000, confidence=0.9), streams)
    pool = [Outputs(sampler.draw(data, 2000, "pool", side)) for side, data in enumerate(row.pair)]
    audit = audited(row, 4000, 0.9, 5, pool)
    claim = audit.claim_for(row.truth, 0.0)
    stated = bound_pair(sampler, *row.pair, PairTask(guarantee=ApproximateDP(claim, 0.0), samples=4000, alpha=1 - 0.9))
    assert stated.value == audit.bound
    # Whole counts make the limit rise in steps; it is the largest of at most the truth.
    assert 0.99 * row.truth < stated.detection_limit <= row.truth * (1 + 1e-6)
