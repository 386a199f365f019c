"""Mechanisms that nearly always refuse to answer: what they answer otherwise is looked at, however rare it is."""

import math

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.learning.score_families import Form
from dpaudit.auditors.outputs.outputs import Outputs
from dpaudit.claims.guarantees import ApproximateDP
from dpaudit.statistics import bound_from_counts

SHIFT = 10.0


def answers(share):
    """A number with Laplace noise with this probability, and else None."""

    def sample(data, size, rng):
        answered = rng.random(size) < share
        numbers = data + rng.laplace(size=size)
        return [number if given else None for number, given in zip(numbers.tolist(), answered.tolist(), strict=True)]

    return sample


FORMS = {
    "None": lambda found: found,
    "a number": lambda found: np.array([-1000.0 if each is None else each for each in found]),
    "pairs": lambda found: [("refused", 0.0) if each is None else ("answered", each) for each in found],
    "lists": lambda found: [[] if each is None else [each] for each in found],
    "dicts": lambda found: [{"answer": each} for each in found],
    "texts": lambda found: ["refused" if each is None else f"{each:.2f}" for each in found],
}


def reachable(share, size):
    """Bound of the event that the number is below half of the shift, at its expected counts in the final sample."""
    beyond = math.exp(-SHIFT / 2) / 2
    final = 0.8 * size
    counts = round(final * share * (1 - beyond)), round(final * share * beyond)
    return bound_from_counts(ApproximateDP(0.0), counts, (final, final), alpha=0.001)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share", [0.01, 0.002])
def test_an_answer_that_is_rare_is_looked_at(form, share):
    def sample(data, size, rng):
        return FORMS[form](answers(share)(data, size, rng))

    bound = dpaudit.epsilon_lower_bound(sample, 0.0, SHIFT, samples=100_000, seed=1)
    # The numbers of 20,000 outputs, 200 or 40, choose the event. Counts of outcomes alone bound nothing.
    assert 0.6 * reachable(share, 100_000) < bound.epsilon < SHIFT


@pytest.mark.slow
def test_propose_test_release_with_too_low_a_threshold():
    """It answers with probability e * delta on one input; Dwork and Lei 2009, section 3, add 1 to the threshold."""
    delta = 1e-3

    def sample(data, size, rng):
        value, distance = data
        passed = distance + rng.laplace(size=size) >= math.log(1 / (2 * delta))
        numbers = value + rng.laplace(size=size)
        return [number if given else None for number, given in zip(numbers.tolist(), passed.tolist(), strict=True)]

    claim = {"claimed": 2.0, "delta": delta}
    bound = dpaudit.epsilon_lower_bound(sample, (0.0, 1.0), (10.0, 0.0), samples=300_000, seed=1, **claim)
    assert bound.epsilon > 2.5


@pytest.mark.slow
def test_a_cell_of_a_thresholded_histogram_that_is_rarely_shown():
    def sample(data, size, rng):
        noisy = np.asarray(data) + rng.laplace(size=(size, 5))
        return np.where(noisy > 6, noisy, 0.0)

    bound = dpaudit.epsilon_lower_bound(sample, (0, 0, 2, 0, 0), (0, 0, 0, 0, 0), samples=100_000, seed=1)
    assert 1.3 < bound.epsilon < 2.0


@pytest.mark.parametrize(
    ("outputs", "counting"),
    [
        (np.zeros(5000), True),
        (np.arange(5000) % 4, True),
        (np.random.default_rng(0).geometric(0.7, 5000), True),
        (np.where(np.arange(5000) % 500 == 0, np.arange(5000) / 7, 0.0), False),
        # Not among the first outputs.
        (np.where(np.arange(5000) >= 4990, np.arange(5000) / 7, 0.0), False),
        (np.arange(5000) % 20, False),
    ],
    ids=["constant", "four", "geometric", "rare numbers", "rare numbers at the end", "twenty"],
)
def test_counting_is_all_there_is_to_do_where_outcomes_come_again(outputs, counting):
    form = Form.of(Outputs(outputs), Outputs(outputs[::-1] * (1 + 1e-9)), thorough=True)
    assert (form.columns is None) is counting


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rare", "likelier", "samples", "least"),
    [
        (0.001, 0.003, 20_000, 0.2),
        (0.001, 0.003, 50_000, 0.5),
        (0.0003, 0.003, 20_000, 0.9),
        (0.003, 0.01, 20_000, 0.6),
    ],
)
def test_of_two_outcomes_the_rare_one_is_tested(rare, likelier, samples, least):
    """All outputs together, an event that forces nothing, promised the most: the mean bounds were 0.03 to 0.55."""

    def sample(data, size, rng):
        return rng.random(size) < (likelier if data else rare)

    found = [
        dpaudit.epsilon_lower_bound(sample, 0, 1, samples=samples, seed=seed, confidence=0.99) for seed in range(20)
    ]
    assert np.mean([each.epsilon for each in found]) > least
    assert sum(each.epsilon > math.log(likelier / rare) for each in found) <= 3
