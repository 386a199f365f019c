"""The model of outputs over all inputs, by which a search proposes pairs."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors import Streams
from dpaudit.auditors.blackbox.search import find_pair
from dpaudit.auditors.blackbox.surrogate import Counted, Surrogate, counted
from dpaudit.auditors.learning.counts import FinalTest
from dpaudit.claims.guarantees import ApproximateDP
from dpaudit.claims.inputs import pair_key

LENGTH = 6
DOMAIN = dpaudit.Vectors(length=LENGTH, low=0, high=2, norm="linf", integer=True)
SLOPES = np.array([0.3, -0.25, 0.2, -0.15, 0.1, 0.0])
SIZE, ALPHA = 100_000, 0.1


def chances(data):
    """Probability that each bit is 1; coordinate 5 is never looked at."""
    return 1 / (1 + np.exp(-SLOPES * (np.asarray(data) - 1)))


def bits(data, size, rng):
    return (rng.random((size, LENGTH)) < chances(data)).astype(np.int8)


def numbers(data, size, rng):
    return rng.normal(SLOPES * (np.asarray(data) - 1), size=(size, LENGTH))


def promise(pair):
    """Bound that the best event of all outcomes promises, exactly."""
    outcomes = np.array(list(itertools.product((0, 1), repeat=LENGTH)))
    p, q = (np.prod(np.where(outcomes, chances(data), 1 - chances(data)), axis=1) for data in pair)
    order = np.argsort(q / p)
    guarantee = ApproximateDP(0.0)
    return max(
        float(np.max(guarantee.expected(np.cumsum(a) * SIZE, np.cumsum(b) * SIZE, SIZE, ALPHA)))
        for a, b in ((p[order], q[order]), (q[order[::-1]], p[order[::-1]]))
    )


def taught(sample, size, domain=DOMAIN, pairs=60, seed=0):
    rng = np.random.default_rng(seed)
    surrogate = Surrogate(FinalTest(ApproximateDP(0.0), SIZE, ALPHA))
    surrogate.begin()
    for pair in itertools.chain(
        itertools.islice(domain.patterns(), pairs // 2), (domain.draw(rng) for _ in range(pairs // 2))
    ):
        surrogate.add(pair, *(counted(sample(data, size, rng)) for data in pair))
    return surrogate, rng


@pytest.mark.slow
def test_promises_are_those_of_the_exact_probabilities():
    surrogate, rng = taught(bits, 2000)
    pairs = [DOMAIN.draw(rng) for _ in range(40)]
    exact, promised = np.array([promise(pair) for pair in pairs]), surrogate.values(pairs)
    assert np.corrcoef(exact, promised)[0, 1] > 0.97
    clear = exact > 0.2
    assert clear.sum() >= 10
    assert np.abs(promised[clear] / exact[clear] - 1).max() < 0.2


def climbed(surrogate, rng, count):
    return [surrogate.climbed(DOMAIN.draw(rng), lambda pair: DOMAIN.vary(pair, rng)) for _ in range(count)]


SIGNED = (np.where(SLOPES > 0, 1, 2), np.where(SLOPES > 0, 2, 1))
"""A pair in which every coordinate takes the step that its bit takes note of."""


@pytest.mark.slow
def test_climbing_finds_pairs_as_good_as_those_that_know_all_signs():
    surrogate, rng = taught(bits, 1000)
    assert min(map(promise, climbed(surrogate, rng, 5))) > 0.95 * promise(SIGNED)


@pytest.mark.slow
def test_climbing_finds_the_longest_step_of_numbers():
    surrogate, rng = taught(numbers, 1000)
    for x, y in climbed(surrogate, rng, 5):
        assert np.sum(((y - x) * SLOPES) ** 2) > 0.9 * np.sum(SLOPES**2)


@pytest.mark.slow
def test_few_outputs_of_each_pair_say_much_together():
    """100 outputs of each of 60 pairs tell the best pair, which 12,000 outputs of it alone would show."""
    surrogate, rng = taught(bits, 100)
    assert np.mean(list(map(promise, climbed(surrogate, rng, 8)))) > 0.85 * promise(SIGNED)


def test_datasets_of_any_length_are_described_by_how_often_values_come():
    domain = dpaudit.Records(values=("a", "b", "c"), size=8, relation="add-remove")
    weights = {"a": 0.0, "b": 0.1, "c": 0.5}

    def noisy_sum(data, size, rng):
        return sum(map(weights.get, data)) + rng.laplace(size=size)

    surrogate, rng = taught(noisy_sum, 2000, domain)
    values = surrogate.values([(("a",) * 4 + (letter,) * 4, ("a",) * 4 + (letter,) * 3) for letter in "abc"])
    assert values[2] > max(values[:2])
    found = surrogate.climbed(next(domain.patterns()), lambda pair: domain.vary(pair, rng))
    assert abs(sum(map(weights.get, found[0])) - sum(map(weights.get, found[1]))) == pytest.approx(0.5)


@pytest.mark.parametrize("code", [np.finfo(float).max, np.longdouble("1e4000")])
def test_a_code_may_be_as_large_as_numbers_can_be(code):
    domain = dpaudit.Vectors(length=3, low=0, high=2, integer=True)

    def coded(data, size, rng):
        noisy = rng.normal(data, size=(size, 3))
        return np.where(rng.random((size, 3)) < 1 / 3, np.copysign(code, noisy), noisy)

    surrogate, _ = taught(coded, 500, domain)
    nothing, step, far = np.zeros(3), np.array([0, 0, 1]), np.full(3, 2)
    near, distant = surrogate.values([(nothing, step), (nothing, far)])
    assert 0 < near < distant


@pytest.mark.parametrize(
    "inputs",
    [
        ("yes", "no"),
        ({"a": 1}, {"a": 2}),
        ((object(),), (object(),)),
        (np.array([math.nan]), np.array([1.0])),
        (np.array([1e200]), np.array([-1e200])),
        ([[1]], [[2], [3]]),
    ],
    ids=["texts", "dicts", "objects", "not a number", "squares without end", "nested"],
)
def test_inputs_that_are_no_numbers_have_no_model(inputs):
    surrogate = Surrogate(FinalTest(ApproximateDP(0.0), SIZE, ALPHA))
    surrogate.begin()
    outputs = np.zeros(10), np.ones(10)
    surrogate.add(inputs, *map(counted, outputs))
    assert not surrogate.fitted
    assert surrogate.values([inputs]).tolist() == [-math.inf]


@pytest.mark.parametrize(
    "outputs",
    [
        np.zeros((50, 3)),
        np.full((50, 2), np.nan),
        np.array([[math.inf, -math.inf]] * 50),
        np.array([{"a": 1}, {"b": [1, "x"]}] * 25, dtype=object),
        np.array(["yes", "no"] * 25),
        np.zeros((50, 2000)),
        np.ones((50, 2), dtype=complex),
        np.zeros((50, 0)),
        np.arange(50, dtype=np.uint64) + 2**63,
    ],
    ids=["constant", "nan", "inf", "structures", "texts", "wide", "complex", "empty", "large"],
)
def test_any_outputs_leave_finite_promises_or_no_model(outputs):
    surrogate = Surrogate(FinalTest(ApproximateDP(0.0), SIZE, ALPHA))
    surrogate.begin()
    pairs = list(itertools.islice(DOMAIN.patterns(), 6))
    for pair in pairs:
        surrogate.add(pair, counted(outputs), counted(outputs[::-1]))
    promised = surrogate.values(pairs)
    assert not np.isnan(promised).any()
    assert promised.max() <= 1e-9


class Lying:
    """A guide that prefers pairs whose first coordinate is large."""

    fitted = True

    def begin(self):
        pass

    def values(self, pairs):
        return [float(pair[0][0] + pair[1][0]) for pair in pairs]

    def climbed(self, pair, vary):
        return max((vary(pair) for _ in range(20)), key=lambda varied: self.values([varied])[0])


@pytest.mark.slow
def test_a_model_that_is_wrong_costs_a_quarter_at_most():
    def worth(pair):
        return float(np.abs(np.asarray(pair[1]) - np.asarray(pair[0])).sum()) - float(pair[0][0] + pair[1][0])

    for seed in range(4):
        found, alone = (
            find_pair(
                dpaudit.Neighbouring.within(DOMAIN),
                lambda pair, size, purpose: 10 + worth(pair),
                samples=200_000,
                streams=Streams(seed),
                guide=guide,
            )
            for guide in (Lying(), None)
        )
        assert 10 + worth(found.pair) >= 0.75 * (10 + worth(alone.pair))


@pytest.mark.slow
def test_what_a_guide_proposes_is_compared_and_no_pair_twice():
    seen = []

    def predict(pair, size, purpose):
        seen.append(pair_key(pair))
        return 0.0

    found = find_pair(dpaudit.Neighbouring.within(DOMAIN), predict, samples=200_000, streams=Streams(0), guide=Lying())
    assert found.searched == len(set(seen))
    assert found.pair[0][0] + found.pair[1][0] == 4  # the best that there is


@pytest.mark.slow
@pytest.mark.parametrize(("length", "kept"), [(2, False), (LENGTH, True)])
def test_only_a_search_that_leaves_pairs_out_keeps_outputs_for_a_model(monkeypatch, length, kept):
    added = []
    monkeypatch.setattr(Surrogate, "add", lambda self, pair, *outputs: added.append(outputs))

    class Sum(dpaudit.Mechanism):
        def sample(self, data, size, rng):
            return np.sum(data) + rng.laplace(size=size)

        def neighbours(self):
            return dpaudit.Neighbouring.within(dpaudit.Vectors(length=length, low=0, high=2, integer=True))

        def claims(self):
            return [dpaudit.PrivacyClaim(id="c", statement="", epsilon=9.0)]

    (result,) = dpaudit.check(Sum(), samples=50_000, method="black-box").results
    assert result.verdict != "error"
    assert bool(added) is kept


def test_few_structures_of_many_values_are_kept():
    lists = np.empty(2000, dtype=object)
    lists[:] = [[0.5] * 400 for _ in range(2000)]
    kept = counted(lists)
    assert len(kept.outputs) == kept.counts.sum() < 100


def test_all_outputs_are_counted_where_few_are_distinct_and_some_kept_otherwise():
    rng = np.random.default_rng(5)
    few = bits((1,) * LENGTH, 50_000, rng)
    kept = counted(few)
    assert kept.counts.sum() == 50_000
    of_each = dict(zip(map(tuple, kept.outputs.tolist()), kept.counts.tolist(), strict=True))
    assert of_each == Counter(map(tuple, few.tolist()))
    many = numbers((1,) * LENGTH, 50_000, rng)
    kept = counted(many)
    assert np.array_equal(kept.outputs, many[: len(kept.outputs)])
    assert kept.counts.tolist() == [1] * 2000


@pytest.mark.slow
def test_counted_outputs_and_the_same_outputs_one_by_one_make_one_model():
    pairs = list(itertools.islice(DOMAIN.patterns(), 40))
    draws = np.random.default_rng(6)
    seen = [[bits(data, 2000, draws) for data in pair] for pair in pairs]
    values = []
    for count in (counted, lambda outputs: Counted(outputs, np.ones(len(outputs), dtype=int)), merged):
        surrogate = Surrogate(FinalTest(ApproximateDP(0.0), SIZE, ALPHA))
        surrogate.begin()
        for pair, outputs in zip(pairs, seen, strict=True):
            surrogate.add(pair, *map(count, outputs))
        values.append(surrogate.values(pairs))
    assert np.allclose(values[0], values[1])
    assert np.allclose(values[0], values[2])


def merged(outputs):
    """Outputs counted by `Counter`."""
    found = Counter(map(tuple, outputs.tolist()))
    return Counted(np.array(list(found), dtype=outputs.dtype), np.array(list(found.values())))


@pytest.mark.slow
def test_pairs_that_repeat_themselves_without_end_are_those_there_are():
    endless = dpaudit.Neighbouring(
        relation="r", pairs=lambda: ((i % 5, i % 5 + 1) for i in itertools.count()), complete=False, scope=""
    )
    found = find_pair(endless, lambda pair, size, purpose: float(pair[0]), samples=50_000, streams=Streams(0))
    assert (found.pair, found.searched) == ((4, 5), 5)


@pytest.mark.slow
def test_under_a_deadline_outputs_are_compared_and_no_model_is_asked(monkeypatch):
    def asked(self):
        raise AssertionError

    monkeypatch.setattr(Surrogate, "begin", asked)

    class Bits(dpaudit.Mechanism):
        def sample(self, data, size, rng):
            return bits(data, size, rng)

        def neighbours(self):
            return dpaudit.Neighbouring.within(DOMAIN)

        def claims(self):
            return [dpaudit.PrivacyClaim(id="c", statement="", epsilon=0.3)]

    (result,) = dpaudit.check(Bits(), samples=20_000, seconds=20, method="black-box").results
    assert result.verdict != "error"
    (untimed,) = dpaudit.check(Bits(), samples=20_000, method="black-box").results
    assert untimed.verdict == "error"


@pytest.mark.slow
@pytest.mark.parametrize("odd", [None, "refused", ()])
def test_outputs_of_another_kind_on_some_inputs_are_no_part_of_the_model(odd):
    def sample(data, size, rng):
        made = np.empty(size, dtype=object)
        made[:] = [odd] * size if data[0] == 2 else rng.normal(data[1], size=size).tolist()
        return made if data[0] == 2 else made.astype(float)

    surrogate = Surrogate(FinalTest(ApproximateDP(0.0), SIZE, ALPHA))
    rng = np.random.default_rng(1)
    surrogate.begin()
    for pair in itertools.islice((DOMAIN.draw(rng) for _ in range(100)), 40):
        surrogate.add(pair, *(counted(sample(data, 500, rng)) for data in pair))
    promised = surrogate.values([tuple(np.array([data, step, 0, 0, 0, 0]) for step in (0, 1)) for data in (0, 1)])
    assert np.isfinite(promised).all()
