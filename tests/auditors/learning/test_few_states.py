"""Noise from a generator of few states: outputs that hardly come again, and never on the other input."""

import json
import math

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.learning.scores import OutcomeScore
from dpaudit.claims.guarantees import ApproximateDP
from dpaudit.statistics import bound_from_counts

STATES = 2**16
SAMPLES = 50_000


def coarse(data, size, rng):
    """Laplace noise from uniform numbers of 16 bits: the values on inputs 0 and 1 have nearly none in common."""
    uniform = rng.integers(1, STATES, size) / STATES
    return data - np.sign(rng.random(size) - 0.5) * np.log(uniform)


def of_seeds(data, size, rng):
    """Records whose noise is seeded with one of 30,000 numbers."""
    made = np.random.default_rng(5).laplace(size=(30_000, 3))[rng.integers(0, 30_000, size)]
    return [{"a": a + data, "b": b, "c": c} for a, b, c in made.tolist()]


def reachable(states):
    """Bound of the event that the output was among those that chose the event, a tenth of all, on one input only."""
    final = 0.8 * SAMPLES
    inside = 1 - math.exp(-SAMPLES / 10 / states)
    return bound_from_counts(ApproximateDP(0.0), (round(final * inside), 0), (final, final), alpha=0.001)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sample", "states"),
    [
        (lambda *given: list(map(repr, coarse(*given).tolist())), 2 * STATES),
        (lambda *given: list(map(json.dumps, of_seeds(*given))), 30_000),
    ],
    ids=["numbers", "seeds"],
)
def test_outputs_that_were_seen_once_tell_the_inputs_apart(sample, states):
    bound = dpaudit.epsilon_lower_bound(sample, 0.0, 1.0, samples=SAMPLES, seed=1)
    assert bound.epsilon > 0.9 * reachable(states)
    assert "any of" in str(bound.event)
    assert any("outputs again and again; if there are others" in note for note in bound.notes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "sample",
    [
        coarse,
        lambda *given: coarse(*given).tolist(),
        lambda *given: [("count", number) for number in coarse(*given).tolist()],
        lambda *given: [{"count": number, "unit": "rows"} for number in coarse(*given).tolist()],
        lambda *given: np.array([(number, 1) for number in coarse(*given)], dtype=[("count", float), ("of", int)]),
        lambda *given: iter(coarse(*given).tolist()),
        of_seeds,
    ],
    ids=["array", "list", "tuples", "dicts", "records", "iterator", "seeds"],
)
def test_others_are_refused_with_advice_that_helps(sample):
    with pytest.raises(dpaudit.CheckError, match=r"a random generator of few states.*return them as texts"):
        dpaudit.epsilon_lower_bound(sample, 0.0, 1.0, samples=SAMPLES, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "sample",
    [
        lambda data, size, rng: np.full(size, data / 3),
        lambda data, size, rng: [{"mean": data / 3, "kind": "exact"}] * size,
        lambda data, size, rng: [(data / 3, count) for count in rng.geometric(0.01, size).tolist()],
        lambda data, size, rng: data / 3 + rng.integers(0, 3, size) * np.pi,
    ],
    ids=["constant", "constant in dicts", "beside a count", "few values"],
)
def test_exact_answers_are_no_generator_of_few_states(sample):
    bound = dpaudit.epsilon_lower_bound(sample, 1, 2, samples=4000, seed=1)
    assert bound.epsilon > 5
    assert bound.notes == ()


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "epsilon"), [(0.0, 0.0), (0.5, 0.5)])
def test_bounds_are_above_the_truth_no_more_often_than_stated(shift, epsilon):
    """Of 60 audits at 80 % confidence, 12 may be wrong in the mean, and more than 24 with probability 1e-4."""
    known = np.random.default_rng(5).random(4000).tolist()

    def sample(data, size, rng):
        upper = rng.random(size) < 1 / (1 + math.exp(-shift * data))
        if not shift:
            upper = rng.random(size) < 0.5
        return [{"id": known[place]} for place in (rng.integers(0, 2000, size) + 2000 * upper).tolist()]

    found = [
        dpaudit.epsilon_lower_bound(sample, 0, 1, samples=4000, confidence=0.8, seed=seed).epsilon > epsilon
        for seed in range(60)
    ]
    assert sum(found) <= 24


def test_a_score_of_outcomes_seen_once_says_so_and_is_made_again_from_json():
    rng = np.random.default_rng(1)
    x, y = (list(map(str, rng.integers(0, 20_000, 2000))) for _ in range(2))
    score = OutcomeScore.fit(np.array(x), np.array(y))
    assert score.once
    assert len(score.keys) == len(set(x) | set(y))
    again = OutcomeScore.from_json(score.to_json())
    new = np.array([*x[:5], "new"])
    assert np.array_equal(again(new), score(new))
    assert again(new)[-1] == 0
    for each in (score, again):
        assert each.describe(-1.0, above=True)["or"] == "an outcome that the selection sample did not show"
    few = OutcomeScore.fit(np.array(x), np.array([text[-1] for text in y]))
    assert not few.once
