"""Reports with a hash function of their own: what they support tells inputs apart, where outputs alone do not."""

import math

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.learning.scores import ColumnScore
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.sampling.sampler import Sampler
from dpaudit.testing import assert_private

BUCKETS = 4


def hashed(seed, value):
    mixed = (np.asarray(seed, dtype=np.uint64) + np.uint64(977 * value + 1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return ((mixed >> np.uint64(33)) % np.uint64(BUCKETS)).astype(int)


def report(data, size, rng, epsilon):
    seeds = rng.integers(0, 2**40, size)
    true = hashed(seeds, data)
    lie = (true + rng.integers(1, BUCKETS, size)) % BUCKETS
    kept = rng.random(size) < math.exp(epsilon) / (math.exp(epsilon) + BUCKETS - 1)
    return seeds, np.where(kept, true, lie)


class LocalHashing(dpaudit.Mechanism):
    """Optimal local hashing as a library's client returns it: a seed and a bucket."""

    epsilon: float = 1.0
    form: str = "tuples"

    def sample(self, data, size, rng):
        seeds, buckets = report(data, size, rng, self.epsilon)
        if self.form == "rows":
            return np.column_stack([seeds, buckets])
        return [{"seed": seed, "bucket": bucket} for seed, bucket in zip(seeds.tolist(), buckets.tolist(), strict=True)]

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1, 2], scope="values")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="c", statement="s", epsilon=0.5)]


class Supported(LocalHashing):
    """The same, which says what its reports support."""

    def supports(self, outputs, data):
        if self.form == "rows":
            return hashed(outputs[:, 0], data) == outputs[:, 1]
        seeds, buckets = (np.array([each[name] for each in outputs]) for name in ("seed", "bucket"))
        return hashed(seeds, data) == buckets


@pytest.mark.slow
@pytest.mark.parametrize("form", ["rows", "dicts"])
def test_what_reports_support_tells_inputs_apart(form):
    record = dpaudit.check(Supported(form=form), samples=6000, seed=4)
    (result,) = record.results
    assert result.verdict == "refuted"
    assert 0.7 < result.measured["epsilon"].lower <= 1.0
    (without,) = dpaudit.check(LocalHashing(form=form), samples=6000, seed=4).results
    assert without.verdict != "refuted"


@pytest.mark.slow
def test_reports_that_keep_their_promise_are_not_refuted():
    claim = dpaudit.PrivacyClaim(id="c", statement="s", epsilon=1.0)
    for seed in range(3):
        found = audit(Supported(form="rows"), claim, budget=Budget(samples=4000), streams=Streams(seed))
        assert found.verdict == "consistent"


@pytest.mark.slow
def test_the_bound_of_one_pair_looks_at_what_outputs_support():
    """A report of four buckets supports its own value e^epsilon times as often as it would another's."""
    mechanism = Supported(form="rows", epsilon=1.0)
    arguments = {"samples": 5000, "confidence": 1 - 1e-6, "seed": 3}
    seen = dpaudit.epsilon_lower_bound(mechanism.sample, 0, 1, supports=mechanism.supports, **arguments)
    assert 0.5 < seen.epsilon <= 1.0
    unseen = dpaudit.epsilon_lower_bound(mechanism.sample, 0, 1, **arguments)
    assert unseen.epsilon < 0.1
    unknown = dpaudit.epsilon_lower_bound(mechanism.sample, 0, 1, supports=lambda outputs, data: None, **arguments)
    assert unknown == unseen


@pytest.mark.slow
def test_bets_on_one_pair_look_at_what_outputs_support():
    mechanism = Supported(form="rows", epsilon=1.0)
    arguments = {"samples": 2000, "claimed": 0.2, "stop_early": True, "seed": 3}
    assert dpaudit.epsilon_lower_bound(mechanism.sample, 0, 1, supports=mechanism.supports, **arguments).stopped_early
    assert not dpaudit.epsilon_lower_bound(mechanism.sample, 0, 1, **arguments).stopped_early


def test_the_bound_of_one_pair_refuses_supports_that_look_at_other_outputs():
    def ranked(outputs, data):
        return np.argsort(np.argsort(outputs[:, 0])) % 2 == 0

    sample = LocalHashing(form="rows").sample
    with pytest.raises(dpaudit.CheckError, match="on its own"):
        dpaudit.epsilon_lower_bound(sample, 0, 1, samples=1000, supports=ranked)
    with pytest.raises(dpaudit.ParameterError, match="supports must be a function"):
        dpaudit.epsilon_lower_bound(sample, 0, 1, samples=1000, supports="bucket")


def draw(supports, form="rows"):
    sampler = Sampler(LocalHashing(form=form).sample, "thing", Streams(1), supports=supports)
    return sampler.about(0, 1).draw(0, 200, "final")


def test_support_is_appended_to_what_is_looked_at():
    drawn = draw(Supported(form="rows").supports)
    plain = Sampler(LocalHashing(form="rows").sample, "thing", Streams(1)).draw(0, 200, "final")
    assert np.array_equal(drawn[:, :2], plain)
    assert np.array_equal(drawn[:, 2], hashed(plain[:, 0], 0) == plain[:, 1])
    assert np.array_equal(drawn[:, 3], hashed(plain[:, 0], 1) == plain[:, 1])
    mapped = draw(Supported(form="dicts").supports, "dicts")
    assert [tuple(item) for item in mapped] == [
        ({"seed": seed, "bucket": bucket}, bool(x), bool(y)) for seed, bucket, x, y in drawn.tolist()
    ]
    assert np.array_equal(draw(lambda outputs, data: None), plain)


def test_events_say_in_words_which_input_a_report_speaks_for():
    drawn = draw(Supported(form="dicts").supports, "dicts")
    columns = Columns.fit(drawn)
    told = {name: column for column, name in enumerate(columns.names) if "speaks" in name}
    assert list(told) == [f"whether the report speaks for the {which} input" for which in ("first", "second")]
    for name, column in told.items():
        score = ColumnScore(column, columns=columns)
        codes = score(drawn)
        high = max(codes)
        (value,) = {str(bool(item[1 if "first" in name else 2])) for item in drawn[codes == high].tolist()}
        # There are no other answers than these two.
        assert score.describe(high, above=True) == {f"{name} is any of": [value]}
        (others,) = score.describe(high - 1, above=False).values()
        assert others == [{"True": "False", "False": "True"}[value]]


@pytest.mark.slow
def test_a_function_under_test_says_what_its_reports_support():
    mechanism = Supported(form="rows")
    arguments = {"epsilon": 0.1, "pairs": [(0, 1)], "samples": 4000}
    with pytest.raises(AssertionError, match="epsilon >= 0"):
        assert_private(mechanism.sample, supports=mechanism.supports, **arguments)
    for target, supports, words in (
        (mechanism.sample, "bucket", "must be a function"),
        (mechanism, mechanism.supports, "as a method of the class"),
    ):
        options = arguments if callable(target) else {"epsilon": 0.1, "samples": 4000}
        with pytest.raises(dpaudit.ParameterError, match=words):
            assert_private(target, supports=supports, **options)


@pytest.mark.parametrize(
    ("supports", "error", "words"),
    [
        (lambda outputs, data: np.zeros(3, dtype=bool), dpaudit.CheckError, r"of bool of shape \(\d+,\)$"),
        (lambda output, data: output[0] == output[1], dpaudit.CheckError, "outputs, which it was given at once"),
        (lambda output, data: output["seed"] == data, dpaudit.TargetRaisedError, r"IndexError.*\d outputs at once"),
        (lambda output, data: output[0, 1, 2] == data, dpaudit.TargetRaisedError, r"an array of shape \(\d+, \d\)"),
        (lambda outputs, data: np.zeros(len(outputs)), dpaudit.CheckError, "array of bool"),
        (lambda outputs, data: np.argsort(np.argsort(outputs[:, 0])) % 2 == 0, dpaudit.CheckError, "on its own"),
        (lambda outputs, data: 1 / 0, dpaudit.TargetRaisedError, "ZeroDivisionError"),
        (lambda outputs, data: np.ma.masked_equal(outputs[:, 1], 1) == data, dpaudit.CheckError, "masked values"),
    ],
)
def test_what_supports_may_not_do(supports, error, words):
    with pytest.raises(error, match=words):
        draw(supports)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["rows", "dicts"])
def test_events_of_audits_name_what_reports_support(form):
    mechanism = Supported(form=form)
    found = dpaudit.epsilon_lower_bound(mechanism.sample, 0, 1, samples=4000, supports=mechanism.supports)
    told = str(found.event)
    assert "whether the report speaks for the first input" in told
    assert "output[2]" not in told
    assert "output.output" not in told
