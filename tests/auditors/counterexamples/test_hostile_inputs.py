"""Targets that once got a wrong verdict out of the auditors, or a false alarm."""

import itertools
import json
import math

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors import Budget, Streams, audit


class Flip(dpaudit.Mechanism):
    """Randomized response on a bit, with everything else to be overridden."""

    def flip(self, epsilon, bit, size, rng):
        return (rng.random(size) < 1 / (1 + math.exp(-epsilon))) == bool(bit)

    def response_law(self, epsilon, bit):
        keep = 1 / (1 + math.exp(-epsilon))
        return dpaudit.FiniteLaw.from_probabilities([0, 1], [1 - keep, keep] if bit else [keep, 1 - keep])

    def claims(self):
        return [dpaudit.PrivacyClaim(id="c", statement="", epsilon=1.0)]


def neighbouring(pairs):
    return dpaudit.Neighbouring(relation="r", pairs=pairs, complete=True, scope="s")


def decide(mechanism, **budget):
    return audit(mechanism, mechanism.claims()[0], budget=Budget(**budget), streams=Streams(1))


def test_a_sampler_that_is_broken_off_the_worst_pair_of_its_law():
    class Broken(Flip):
        def sample(self, data, size, rng):
            return self.flip(1.0, data % 2, size, rng) if data < 2 else np.full(size, data % 2 == 1)

        def law(self, data):
            return self.response_law(1.0 if data < 2 else 0.5, data % 2)

        def neighbours(self):
            return neighbouring([(0, 1), (2, 3)])

    assert decide(Broken()).verdict == "refuted"


@pytest.mark.parametrize("method", ["exact", "black-box"])
def test_an_iterator_of_pairs_loses_none(method):
    class Once(Flip):
        def sample(self, data, size, rng):
            return self.flip(5.0 if data < 2 else 1.0, data % 2, size, rng)

        def law(self, data):
            return self.response_law(5.0 if data < 2 else 1.0, data % 2)

        def neighbours(self):
            return neighbouring(pair for pair in [(0, 1), (2, 3)])

    assert decide(Once(), method=method, samples=20_000).verdict == "refuted"


def test_a_generator_that_reuses_its_buffer():
    class Buffer(Flip):
        def sample(self, data, size, rng):
            return self.flip(6.0 if data[0] else 0.1, data.any(), size, rng)

        def neighbours(self):
            def pairs():
                x, y = np.zeros(3, dtype=int), np.zeros(3, dtype=int)
                for i in range(3):
                    y[:] = 0
                    y[i] = 1
                    yield x, y

            return neighbouring(pairs)

    evidence = decide(Buffer(), samples=20_000)
    assert evidence.verdict == "refuted"
    assert {tuple(evidence.witness.data), tuple(evidence.witness.neighbour)} == {(0, 0, 0), (1, 0, 0)}


def test_inputs_of_one_repr_are_two_inputs():
    class Long(Flip):
        def law(self, data):
            return self.response_law(10.0, data["x"][1500])

        def neighbours(self):
            x, y = np.zeros(3000), np.zeros(3000)
            y[1500] = 1
            return neighbouring([({"x": x}, {"x": y})])

    assert decide(Long()).verdict == "refuted"


def test_a_law_that_refills_its_array():
    table = np.zeros(2)

    class Refill(Flip):
        def law(self, data):
            table[:] = np.log([0.9, 0.1] if data else [0.1, 0.9])
            return dpaudit.FiniteLaw([0, 1], table)

        def neighbours(self):
            return neighbouring([(0, 1)])

    assert decide(Refill()).verdict == "refuted"


def test_a_shared_list_of_outcomes_with_one_twice():
    outcomes = [0, 0, 1]

    class Twice(Flip):
        def law(self, data):
            return dpaudit.FiniteLaw.from_probabilities(outcomes, [0.5, 0, 0.5] if data else [0, 0.5, 0.5])

        def neighbours(self):
            return neighbouring([(0, 1)])

    with pytest.raises(dpaudit.CheckError, match="twice"):
        decide(Twice())


@pytest.mark.slow
@pytest.mark.parametrize("pair", [(1, "1"), ("a", "a\0"), (2**53, 2**53 + 1), (2**63, 2**63 + 1)])
def test_outputs_that_numpy_would_merge_are_told_apart(pair):
    def sample(data, size, rng):
        kept = rng.random(size) < 1 / (1 + math.exp(-4.0))
        neutral = rng.random(size) < 0.2
        third = {int: -1, str: 2.5}[type(pair[1])]
        return [third if n else pair[bool(data) == k] for k, n in zip(kept.tolist(), neutral.tolist(), strict=True)]

    assert dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000).epsilon > 3


def test_one_draw_copied_is_not_many_draws():
    def sample(data, size, rng):
        return np.full(size, (rng.random() < 0.6) == data)

    with pytest.raises(dpaudit.CheckError, match="independent outputs"):
        dpaudit.epsilon_lower_bound(sample, False, True, samples=20_000)


def test_randomness_from_elsewhere_on_the_second_input_only():
    def sample(data, size, rng):
        return np.random.random(size) if data else rng.random(size)  # noqa: NPY002

    with pytest.raises(dpaudit.CheckError, match="take all randomness"):
        dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"margin": lambda x: x < 0.5}, dpaudit.CheckError),
        ({"margin": lambda x: -5.0, "tolerance": math.nan}, dpaudit.ParameterError),
        ({"margin": lambda x: -5.0, "tolerance": math.inf}, dpaudit.ParameterError),
        ({"margin": lambda x: 5.0, "tolerance": -1.0}, dpaudit.ParameterError),
    ],
)
def test_a_lemma_that_cannot_fail_is_no_lemma(fields, error):
    def decide_lemma():
        claim = dpaudit.LemmaClaim(id="l", statement="", instances=[{"x": 1.0}], complete=True, **fields)
        return audit(None, claim, budget=Budget(), streams=Streams(1))

    with pytest.raises(error):
        decide_lemma()


def test_large_epsilons_do_not_overflow():
    assert dpaudit.compare(dpaudit.GaussianLaw(0, 1), dpaudit.GaussianLaw(0, 1)).delta(800.0).upper == 0
    assert dpaudit.compare(dpaudit.LaplaceLaw(0, 1), dpaudit.LaplaceLaw(1, 1)).delta(2000.0).upper == 0


def bound_of(sample, **options):
    return dpaudit.epsilon_lower_bound(sample, 0, 1, samples=5000, seed=1, **options)


@pytest.mark.slow
def test_nan_inside_of_an_output_is_one_more_value():
    """It is not equal to itself, which once looked like randomness from elsewhere."""

    def sample(data, size, rng):
        draws = rng.random((size, 2)).tolist()
        return [(v, math.nan) if u < 0.2 + 0.4 * data else (v, None) for u, v in draws]

    assert 0.7 < bound_of(sample).epsilon <= math.log(3)


@pytest.mark.slow
def test_whole_numbers_beyond_floating_point_are_numbers():
    def sample(data, size, rng):
        draws = rng.random((size, 2)).tolist()
        return [(10**400 if u < 0.2 + 0.4 * data else -(10**400), v) for u, v in draws]

    assert 0.7 < bound_of(sample).epsilon <= math.log(3)


@pytest.mark.slow
def test_numbers_of_numpy_inside_of_tuples_are_numbers():
    def sample(data, size, rng):
        return [(np.int64(v), None) for v in data * 10 + rng.integers(0, 10_000, size) ** 2 // 100]

    plain = bound_of(lambda d, s, r: [(int(v), w) for v, w in sample(d, s, r)])
    assert bound_of(sample).event == plain.event


@pytest.mark.parametrize("dtype", [np.longdouble, np.clongdouble])
def test_numbers_longer_than_double_precision_go_into_records(dtype):
    bound = bound_of(lambda d, s, r: (r.random(s) < 0.2 + 0.4 * d).astype(dtype))
    assert 0.7 < bound.epsilon <= math.log(3)
    json.dumps(bound.recipe)
    assert bound.recipe is not None


def test_numbers_that_double_precision_cannot_hold_are_told_apart_without_a_recipe():
    near, far = np.longdouble("1e4000"), np.longdouble("2e4000")
    bound = bound_of(lambda d, s, r: np.where(r.random(s) < 0.2 + 0.4 * d, near, far))
    assert 0.7 < bound.epsilon <= math.log(3)
    assert bound.recipe is None


class Uncopied:
    def __deepcopy__(self, memo):
        raise TypeError("a lock cannot be copied")


def broken_off():
    yield 0, 1
    raise ZeroDivisionError("seven")


@pytest.mark.parametrize(
    ("pairs", "error", "words"),
    [
        ([(0, 1), (1, 2, 3)], dpaudit.CheckError, r"lists \(1, 2, 3\) at place 1; list tuples"),
        ([0, 1], dpaudit.CheckError, "lists 0 at place 0; list tuples"),
        (["ab"], dpaudit.CheckError, "lists 'ab' at place 0; list tuples"),
        ({0: 1}, dpaudit.CheckError, "lists 0 at place 0; list tuples"),
        ([(0, 1), (2, 2)], dpaudit.CheckError, "the two inputs of pair 1 are equal: 2; give two inputs that differ"),
        ([((1, 0), (1, 0))], dpaudit.CheckError, r"the two inputs of pair 0 are equal: \(1, 0\)"),
        (lambda: iter([(np.zeros(2), np.zeros(2))]), dpaudit.CheckError, r"of pair 0 are equal: \[0.0, 0.0\]"),
        (None, dpaudit.ParameterError, "pairs must be a list of tuples .*, got None"),
        ([(Uncopied(), Uncopied())], dpaudit.CheckError, "place 0 that cannot be copied"),
        (broken_off, dpaudit.TargetRaisedError, "`neighbours` raised ZeroDivisionError after 1 pairs: seven"),
    ],
)
def test_neighbours_that_are_no_pairs(pairs, error, words):
    class Listed(Flip):
        def sample(self, data, size, rng):
            return self.flip(1.0, True, size, rng)

        def neighbours(self):
            return neighbouring(pairs)

    with pytest.raises(error, match=words):
        decide(Listed(), samples=2000)


@pytest.mark.slow
def test_pairs_without_end_are_searched_as_far_as_the_budget_goes():
    class Endless(Flip):
        def sample(self, data, size, rng):
            return self.flip(1.0, data % 2, size, rng)

        def neighbours(self):
            return neighbouring(lambda: ((n, n + 1) for n in itertools.count()))

    evidence = decide(Endless(), samples=20_000)
    assert evidence.verdict == "consistent"
    assert "of infinitely or uncountably many" in evidence.scope


def test_inputs_of_any_size():
    class Large(Flip):
        def sample(self, data, size, rng):
            return self.flip(2.0, data % 2, size, rng)

        def neighbours(self):
            return neighbouring([(10**5000, 10**5000 + 1), (10**5000, 10**5000 + 2)])

    evidence = decide(Large(), samples=20_000)
    assert evidence.verdict == "refuted"
    assert {evidence.witness.data, evidence.witness.neighbour} == {10**5000, 10**5000 + 1}
