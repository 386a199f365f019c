"""The black-box auditor against exact laws in closed form."""

import copy
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.stats import beta, binom, poisson

import dpaudit
from dpaudit.auditors import Budget, Streams
from dpaudit.auditors.blackbox import lower_bound
from dpaudit.auditors.blackbox.audit import audit_black_box
from dpaudit.auditors.blackbox.choosing import choose_for_pair
from dpaudit.auditors.blackbox.counting import Scored
from dpaudit.auditors.blackbox.pair import bound_pair
from dpaudit.auditors.blackbox.tasks import PairTask
from dpaudit.auditors.learning.counts import ThresholdEvent
from dpaudit.auditors.outputs.outputs import Coder, Outputs
from dpaudit.auditors.sampling.sampler import Sampler
from dpaudit.statistics import best_share, detection_limit

FALSE_ALARM = 1e-6
SEED = 20261125


def bit(flip):
    return lambda data, size, rng: (rng.random(size) < flip) ^ bool(data)


def table(laws):
    return lambda data, size, rng: rng.choice(len(laws[data]), size, p=laws[data])


def truncated_geometric(epsilon, top):
    """Two-sided geometric noise on 0..top, its tails put on the ends (Ghosh, Roughgarden, Sundararajan)."""
    a = math.exp(-epsilon)
    laws = []
    for centre in range(top + 1):
        law = np.array([(1 - a) / (1 + a) * a ** abs(out - centre) for out in range(top + 1)])
        law[0], law[-1] = a**centre / (1 + a), a ** (top - centre) / (1 + a)
        laws.append(law)
    return laws


def exponential_mechanism(epsilon, qualities):
    """Weights exp(epsilon u / 2), as for a quality of sensitivity 1."""
    laws = [np.exp(epsilon * np.array(quality) / 2) for quality in qualities]
    return [law / law.sum() for law in laws]


def worst_loss(p, q):
    return float(np.abs(np.log(p) - np.log(q)).max())


GEOMETRIC = truncated_geometric(0.7, 6)
CHOICE = exponential_mechanism(1.2, [(3, 2, 0, 1), (2, 3, 1, 0)])
RESPONSE = 1 / (1 + math.e)
PURE = {
    "laplace": (lambda data, size, rng: data + rng.laplace(size=size), 0.0, 0.8, 0.8),
    "randomized response": (bit(RESPONSE), 0, 1, 1.0),
    "truncated geometric": (table(GEOMETRIC), 2, 3, worst_loss(GEOMETRIC[2], GEOMETRIC[3])),
    "exponential mechanism": (table(CHOICE), 0, 1, worst_loss(*CHOICE)),
    "two laplace numbers": (lambda data, size, rng: data + rng.laplace(size=(size, 2)), 0.0, 0.5, 1.0),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name.startswith("two") else ()) for name in PURE]
)
@pytest.mark.parametrize("seed", [1, 2])
def test_lower_bound_is_below_the_exact_epsilon_and_near_it(name, seed):
    sample, x, y, epsilon = PURE[name]
    bound = dpaudit.epsilon_lower_bound(sample, x, y, samples=1_000_000, confidence=1 - FALSE_ALARM, seed=seed)
    assert bound.epsilon <= epsilon
    # A product of two half-lines has to be learned, and is rarer the nearer it comes to the supremum.
    assert bound.epsilon >= (0.8 if name == "two laplace numbers" else 0.9) * epsilon
    assert bound.detection_limit > 0


@pytest.mark.slow
@pytest.mark.parametrize("delta", [1e-3, 0.01, 0.1])
@pytest.mark.parametrize("distance", [0.5, 1.0])
def test_gaussian_with_delta(delta, distance):
    exact = dpaudit.compare(dpaudit.GaussianLaw(distance, 1), dpaudit.GaussianLaw(0, 1)).epsilon(delta).upper
    bound = dpaudit.epsilon_lower_bound(
        lambda data, size, rng: data + rng.normal(size=size), 0.0, distance, delta=delta, samples=1_000_000, seed=SEED
    )
    assert bound.epsilon <= exact
    assert bound.epsilon >= 0.8 * exact


def test_the_reported_event_has_the_reported_counts_and_probabilities():
    sample = PURE["laplace"][0]
    bound = dpaudit.epsilon_lower_bound(sample, 0.0, 2.0, samples=100_000, seed=SEED)
    ((what, condition),) = bound.event.items()
    if what == "output":
        side, threshold = condition.split()
        inside = (lambda v: v >= float(threshold)) if side == ">=" else (lambda v: v <= float(threshold))
    else:
        inside = lambda v: np.any([(v >= a) & (v < b) for a, b in condition], axis=0)  # noqa: E731
    likelier, other = (2.0, 0.0) if bound.reverse else (0.0, 2.0)
    for data, hits, trials in zip((likelier, other), bound.hits, bound.trials, strict=True):
        share = inside(sample(data, 1_000_000, np.random.default_rng(SEED))).mean()
        assert min(binom.cdf(hits, trials, share), binom.sf(hits - 1, trials, share)) > FALSE_ALARM
    assert bound.p <= bound.hits[0] / bound.trials[0]
    assert bound.q >= bound.hits[1] / bound.trials[1]
    assert sum(bound.trials) == 2 * 80_000
    assert bound.samples == 200_000


def test_both_directions_and_both_orders_are_considered():
    laws = [np.array([0.5, 0.5 - 1e-3, 1e-3]), np.array([0.5, 0.4, 0.1])]
    for x, y in ((0, 1), (1, 0)):
        bound = dpaudit.epsilon_lower_bound(table(laws), x, y, samples=200_000, seed=SEED)
        assert 0.7 * math.log(100) < bound.epsilon <= math.log(100)
        assert bound.event == 2
        assert bound.reverse == (x == 0)


def test_a_certain_event_gives_a_large_bound():
    bound = dpaudit.epsilon_lower_bound(lambda data, size, rng: np.full(size, data), 0, 1, samples=10_000, seed=1)
    assert bound.epsilon > 6
    assert math.isfinite(bound.epsilon)


@pytest.mark.slow
def test_a_sampler_that_does_not_look_at_its_input_gives_no_bound():
    for name, (sample, x, y, _) in PURE.items():
        blind = partial(lambda sample, x, data, size, rng: sample(x, size, rng), sample, x)
        bound = dpaudit.epsilon_lower_bound(blind, x, y, samples=5000, confidence=1 - FALSE_ALARM, seed=1)
        assert bound.epsilon == 0, name


@pytest.mark.parametrize("value", [0, "a", (1.5, 2), [0, 1], np.arange(3)], ids=str)
def test_twice_the_same_input_is_refused(value):
    def never(data, size, rng):
        raise AssertionError

    with pytest.raises(dpaudit.ParameterError, match=r"x and y are equal: .*; give two inputs that differ"):
        dpaudit.epsilon_lower_bound(never, value, copy.deepcopy(value))


def strings(data, size, rng):
    return [("yes", "b" * int(n)) for n in rng.geometric(0.2 + 0.2 * data, size)]


def sets(data, size, rng):
    draws = rng.random((size, 3)) < 0.2 + 0.4 * data
    return [set(np.flatnonzero(row).tolist()) for row in draws]


def nested_sets(data, size, rng):
    return [{frozenset({"a", "b", f"c{int(u < 0.2 + 0.4 * data)}"}), 1} for u in rng.random(size)]


def ragged(data, size, rng):
    outputs = np.empty(size, dtype=object)
    outputs[:] = [list(range(int(n))) for n in rng.geometric(0.2 + 0.2 * data, size)]
    return outputs


def grids(data, size, rng):
    return (rng.random((size, 2, 2)) < 0.2 + 0.4 * data).astype(int)


def words(data, size, rng):
    return np.where(rng.random(size) < 0.2 + 0.4 * data, "heads", "tails")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sample", "epsilon"),
    [
        (strings, math.inf),
        (sets, 3 * math.log(3)),
        (nested_sets, math.log(3)),
        (ragged, math.inf),
        (grids, 4 * math.log(3)),
        (words, math.log(3)),
    ],
)
def test_structured_outputs(sample, epsilon):
    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000, confidence=1 - FALSE_ALARM, seed=SEED)
    assert bound.epsilon <= epsilon
    assert bound.epsilon > (1.2 if math.isinf(epsilon) else 0.75 * epsilon)


@pytest.mark.slow
def test_a_clear_answer_in_a_hundred_is_found():
    """Laplace noise, but the truth goes out as it is with probability 0.01: an atom of infinite loss."""

    def sample(data, size, rng):
        return np.where(rng.random(size) < 0.01, data, data + rng.laplace(size=size))

    bound = dpaudit.epsilon_lower_bound(sample, 0.0, 1.0, samples=100_000, seed=SEED)
    assert bound.epsilon > 3

    def rows(data, size, rng):
        truth = np.full((size, 3), float(data))
        return np.where(rng.random((size, 3)) < 0.01, truth, truth + rng.laplace(size=(size, 3)))

    assert dpaudit.epsilon_lower_bound(rows, 0.0, 0.25, samples=400_000, seed=SEED).epsilon > 1.5


@pytest.mark.slow
def test_a_large_effect_in_one_column_does_not_hide_a_rare_larger_one_in_two_others():
    """Once in 125 times columns 5 and 9 are beyond their 95 % quantiles together; on the other input, either one is."""

    def sample(data, size, rng):
        rows = rng.laplace(size=(size, 20))
        rows[:, 0] += 0.5 * data
        far = math.log(10) + rng.exponential(size=(size, 2))
        moved = rng.random((size, 2)) < 0.008
        if data:
            moved = moved[:, :1] & np.ones(2, dtype=bool)
        else:
            moved &= rng.permuted(np.broadcast_to([True, False], (size, 2)), axis=1)
            moved |= (rng.random(size) < 0.004)[:, None] & rng.permuted(
                np.broadcast_to([True, False], (size, 2)), axis=1
            )
        rows[:, [5, 9]] = np.where(moved, far, rows[:, [5, 9]])
        return rows

    assert dpaudit.epsilon_lower_bound(sample, 0, 1, samples=1_000_000, seed=SEED).epsilon > 1


@pytest.mark.slow
def test_infinite_outputs_are_outputs():
    def sample(data, size, rng):
        return np.where(rng.random(size) < 0.1 + 0.4 * data, np.inf, rng.normal(size=size))

    assert 1.2 < dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000, seed=SEED).epsilon <= math.log(5)

    def rows(data, size, rng):
        return np.c_[sample(data, size, rng), rng.normal(size=size)]

    assert 1.0 < dpaudit.epsilon_lower_bound(rows, 0, 1, samples=20_000, seed=SEED).epsilon <= math.log(5)


@pytest.mark.parametrize("rows", [[("a", "b"), ("a", "ccc")], [(0.0, 1.0), (-0.0, 1.0)], [(1, 2, 3), (1, 2, 4)]])
def test_equal_outputs_get_equal_codes(rows):
    array = np.array(rows)
    coder = Coder(array[:1])
    longer = np.concatenate([array, array[:1]])
    expected = [0 if row == array[0].tolist() else -1 for row in longer.tolist()]
    assert coder(longer).tolist() == expected


@pytest.mark.parametrize("seed", range(3))
def test_counts_of_few_values_are_told_apart_by_half_lines(seed):
    """Counting each of them puts those that came by luck first, and leaves out the rarest."""
    bound = dpaudit.epsilon_lower_bound(
        lambda data, size, rng: rng.poisson((2.5, 4)[data], size), 0, 1, samples=50_000, seed=seed
    )
    counts = np.arange(8, 12)
    p, q = (poisson.sf(counts - 1, mean) for mean in (4, 2.5))
    low = beta.ppf(0.0005, 40_000 * p, 40_000 * (1 - p) + 1)
    high = beta.ppf(0.9995, 40_000 * q + 1, 40_000 * (1 - q))
    assert bound.epsilon > 0.8 * np.log(low / high).max()
    assert str(bound.event) in [str({"output": f">= {count}"}) for count in counts]


@pytest.mark.parametrize("settings", [{}, {"delta": 0.01}])
def test_a_confidence_whose_complement_is_one_is_refused(settings):
    with pytest.raises(dpaudit.ParameterError, match="confidence must be at least 1e-15, got 1e-17"):
        dpaudit.epsilon_lower_bound(bit(0.3), 0, 1, samples=1000, confidence=1e-17, **settings)


class NoisyCount(dpaudit.Mechanism):
    """A count."""

    def sample(self, data, size, rng):
        return rng.laplace(data, 1.0, size)


@pytest.mark.parametrize("bound", [dpaudit.epsilon_lower_bound, dpaudit.privacy_bounds])
@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (NoisyCount, r"NoisyCount is a class: give the method `sample` of an instance"),
        (NoisyCount(), r"got NoisyCount\(\); give its method `sample`"),
        (5, r"sample must be a function of \(data, size, rng\), got 5$"),
    ],
    ids=["class", "mechanism", "number"],
)
def test_what_is_no_function_is_refused_with_what_to_give(bound, sample, words):
    with pytest.raises(dpaudit.ParameterError, match=words):
        bound(sample, 0, 1, samples=2000)
    assert bound(NoisyCount().sample, 0, 1, samples=2000).samples == 4000


def test_features_that_are_no_function_are_refused_before_anything_is_drawn():
    with pytest.raises(dpaudit.ParameterError, match="features must be a function or one of float-bits, got 3"):
        dpaudit.epsilon_lower_bound(lambda data, size, rng: pytest.fail("drawn"), 0, 1, features=3)


@pytest.mark.parametrize("confidence", [0.999, np.float64(0.999)], ids=["Python's", "numpy's"])
def test_the_error_probability_is_not_above_the_one_stated(confidence, monkeypatch):
    # In floating point 1 - 0.999 is above 0.001.
    tasks = []

    def remember(sampler, x, y, task):
        tasks.append(task)
        return bound_pair(sampler, x, y, task)

    monkeypatch.setattr(lower_bound, "bound_pair", remember)
    dpaudit.epsilon_lower_bound(lambda x, size, rng: rng.random(size), 0, 1, samples=1000, confidence=confidence)
    assert [task.alpha for task in tasks] == [0.001]


@pytest.mark.slow
def test_equal_seeds_give_equal_bounds():
    sample, x, y, _ = PURE["two laplace numbers"]
    first, again, other = (dpaudit.epsilon_lower_bound(sample, x, y, samples=5000, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    "wrong", [{"samples": 999}, {"delta": 1.0}, {"delta": -0.1}, {"confidence": 1.0}, {"confidence": math.nan}]
)
def test_impossible_budgets_are_refused(wrong):
    with pytest.raises(dpaudit.ParameterError):
        dpaudit.epsilon_lower_bound(bit(0.3), 0, 1, **wrong)


class Counter(dpaudit.Mechanism):
    """A number with Laplace noise; only one of the listed pairs is far apart."""

    epsilon: float = dpaudit.parameter(1.0)
    pairs: int = dpaudit.parameter(40)

    def sample(self, data, size, rng):
        return data + rng.laplace(scale=1 / self.epsilon, size=size)

    def neighbours(self):
        pairs = [(0.0, 0.1 + 1e-6 * i) for i in range(self.pairs - 1)]
        pairs.insert(self.pairs // 3, (0.0, 1.0))
        return dpaudit.Neighbouring(relation="substitution", pairs=pairs, complete=True, scope="all")


def search(target, claimed, samples=100_000, seed=1, confidence=0.999):
    claim = dpaudit.PrivacyClaim(id="c", statement="", epsilon=claimed)
    budget = Budget(samples=samples, confidence=confidence)
    return audit_black_box(target, claim, target.neighbours(), budget=budget, streams=Streams(seed))


@pytest.mark.slow
@pytest.mark.parametrize(("pairs", "samples"), [(2, 50_000), (40, 100_000), (200, 1_000_000)])
def test_the_worst_pair_is_found(pairs, samples):
    evidence = search(Counter(epsilon=1.0, pairs=pairs), 0.7, samples)
    assert evidence.verdict == "refuted"
    assert {evidence.witness.data, evidence.witness.neighbour} == {0.0, 1.0}
    assert evidence.witness.forces["epsilon"] <= 1.0
    assert f"{pairs} pairs searched" in evidence.scope


@pytest.mark.slow
def test_many_pairs_are_searched_at_random():
    evidence = search(Counter(epsilon=1.0, pairs=1000), 3.0, 200_000)
    searched = int(evidence.scope.split("; ")[1].split(" of 1000 pairs searched")[0])
    assert 20 <= searched <= 256
    assert evidence.verdict == "consistent"


def test_too_few_samples_for_any_violation_are_inconclusive():
    evidence = search(Counter(epsilon=1.0, pairs=1), 9.0, 1000)
    assert evidence.verdict == "inconclusive"
    assert math.isinf(evidence.measured["detection_limit"].lower)


def test_the_verdict_states_the_detection_limit():
    evidence = search(Counter(epsilon=1.0, pairs=1), 1.0)
    assert evidence.verdict == "consistent"
    limit = evidence.measured["detection_limit"].lower
    assert limit > 1.0
    assert f"{limit:.4g}" in evidence.note
    assert "about as likely as the one chosen here" in evidence.note
    assert "that only rarer outputs show would not" in evidence.note


@pytest.mark.slow
def test_the_detection_limit_is_that_of_the_event_and_adds_nothing():
    """Counts of rarer events say too little of what they force to be added to what the one chosen would show."""
    guarantee = dpaudit.ApproximateDP(1.0)
    task = PairTask(guarantee=guarantee, samples=20_000, alpha=0.1)
    laws = np.cumsum([[0.6, 0.07], [0.3, 0.03]], axis=1)
    for seed in range(5):
        sampler = Sampler(lambda d, s, r: np.searchsorted(laws[d], r.random(s)), "three", Streams(seed, ("limit",)))
        bound = bound_pair(sampler, 0, 1, task)
        selection = choose_for_pair(sampler, 0, 1, task)
        choice = selection.choices[bound.candidate]
        alpha = task.alpha * selection.shares[bound.candidate]
        share = best_share(guarantee, choice.p_hits, choice.q_hits, choice.rows, alpha=alpha)
        rate = choice.q_hits / choice.rows
        assert bound.detection_limit == detection_limit(guarantee, rate, task.final, alpha=alpha, share=share)


def test_no_pair_and_too_few_samples_are_said():
    target = Counter()
    claim = dpaudit.PrivacyClaim(id="c", statement="", epsilon=1.0)
    none = dpaudit.Neighbouring(relation="r", pairs=[], complete=True, scope="")
    with pytest.raises(dpaudit.CheckError, match="lists no pair"):
        audit_black_box(target, claim, none, budget=Budget(), streams=Streams(1))
    with pytest.raises(dpaudit.ParameterError, match="at least 1000"):
        search(target, 1.0, 999)


def test_events_of_one_score_count_what_each_contains_and_score_outputs_once():
    scored = []

    class Own:
        def __call__(self, outputs):
            scored.append(len(outputs))
            return outputs.raw.astype(float)

    score, other = Own(), Own()
    events = [ThresholdEvent(score, 2.0, True), ThresholdEvent(score, 1.0, False), ThresholdEvent(other, 0.0, False)]
    outputs = Scored(Outputs(np.arange(5)))
    assert [outputs.occurrences(event) for event in events] == [3, 2, 1]
    assert scored == [5, 5]
    assert [Scored(None).occurrences(event) for event in events] == [0, 0, 0]
    assert scored == [5, 5]


def test_a_bound_is_printed_without_its_recipe():
    """The event as data may take thousands of characters; it still tells two bounds apart."""
    bound = dpaudit.epsilon_lower_bound(bit(0.1), 0, 1, samples=2000, seed=SEED)
    assert bound.recipe is not None
    assert "recipe" not in repr(bound)
    assert str(bound.recipe) not in repr(bound)
    assert repr(bound.event) in repr(bound)
    assert bound != replace(bound, recipe=None)
