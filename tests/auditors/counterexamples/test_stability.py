"""Stability claims: wrong maps are refuted with minimal pairs, right ones are not, small domains are proved."""

import math
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dpaudit
from dpaudit.auditors.counterexamples.stability import audit_stability
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.metrics import metric, root
from dpaudit.errors import CheckError

WHOLE = dpaudit.Integers(-(2**31), 2**31 - 1)


def audited(transformation, domain, input_metric, output_metric, promise, *, draws=1500, deadline=None, **more):
    claim = dpaudit.StabilityClaim(
        id="s",
        statement="It is stable.",
        transformation=transformation,
        domain=domain,
        input_metric=input_metric,
        output_metric=output_metric,
        map=promise,
        **more,
    )
    return audit_stability(claim, draws=draws, deadline=deadline, streams=Streams(0))


def tree(leaves):
    """Sums of neighbouring leaves in 32 bits, as a b-ary tree that does not guard against overflow has them."""
    counts = np.array(leaves, dtype=np.int32)
    return [int((counts[:1] + counts[1:])[0]), *counts.tolist()]


def test_a_sum_that_wraps_around_is_refuted():
    evidence = audited(tree, dpaudit.Datasets(WHOLE, size=2), "l1", "l1", lambda d: 2 * d)
    assert evidence.verdict == "refuted"
    assert (evidence.witness.measured, evidence.witness.claimed) == (2.0**32, 2.0)
    data, neighbour = evidence.witness.instance["data"], evidence.witness.instance["neighbour"]
    assert sum(abs(a - b) for a, b in zip(data, neighbour, strict=True)) == 1
    # The witness is recomputed from the function alone.
    assert sum(abs(a - b) for a, b in zip(tree(data), tree(neighbour), strict=True)) == 2**32


def test_insertions_and_deletions_are_not_replacements():
    domain = dpaudit.Datasets(WHOLE, size=3)
    evidence = audited(list, domain, "insert-delete", "hamming", lambda d: d // 2)
    assert evidence.verdict == "refuted"
    assert (evidence.witness.measured, evidence.witness.claimed) == (3.0, 1.0)


@pytest.mark.slow
def test_order_matters_to_floating_point_sums():
    def total(values):
        result = 0.0
        for each in values:
            result += each
        return result

    domain = dpaudit.Datasets(dpaudit.Floats(-1e16, 1e16), size=3)
    evidence = audited(total, domain, "symmetric", "absolute", lambda d: d / 2 * 2e16, draws=4000)
    assert evidence.verdict == "refuted"
    data, neighbour = evidence.witness.instance["data"], evidence.witness.instance["neighbour"]
    assert sorted(data) == sorted(neighbour)
    assert total(data) != total(neighbour)


RIGHT = {
    "sum of clamped": (lambda x: sum(min(max(v, 0), 10) for v in x), "symmetric", "absolute", lambda d: 10 * d),
    "count": (len, "symmetric", "absolute", lambda d: d),
    "distinct": (lambda x: len(set(x)), "symmetric", "absolute", lambda d: d),
    "sorted": (sorted, "symmetric", "symmetric", lambda d: d),
    "evens": (lambda x: [v for v in x if v % 2 == 0], "insert-delete", "insert-delete", lambda d: d),
    "reversed": (lambda x: x[::-1], "insert-delete", "insert-delete", lambda d: d),
    "squares": (lambda x: [v * v for v in x], "insert-delete", "insert-delete", lambda d: d),
    "histogram": (lambda x: [sum(v < 0 for v in x), sum(v >= 0 for v in x)], "symmetric", "l1", lambda d: d),
    "whether any": (any, "symmetric", "discrete", lambda d: 1 if d else 0),
    "first five": (lambda x: x[:5], "insert-delete", "insert-delete", lambda d: 2 * d),
    "mean of sized": (lambda x: sum(x) / len(x), "symmetric", "absolute", lambda d: math.inf if d else 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_right_transformations_are_not_refuted(name):
    function, input_metric, output_metric, promise = RIGHT[name]
    size = 4 if "sized" in name else None
    evidence = audited(function, dpaudit.Datasets(WHOLE, size=size), input_metric, output_metric, promise)
    assert evidence.verdict == "consistent"
    assert "no violation among 1500 pairs" in evidence.note


@pytest.mark.slow
def test_a_small_domain_is_proved_and_a_wrong_map_on_it_is_refuted():
    domain = dpaudit.Datasets(dpaudit.Integers(0, 2), longest=4)
    proved = audited(sum, domain, "symmetric", "absolute", lambda d: 2 * d)
    inputs = sum(3**n for n in range(5))
    assert (proved.verdict, proved.method) == ("proved", "exact")
    assert f"{inputs * (inputs - 1) // 2} pairs of inputs (all)" in proved.scope
    refuted = audited(sum, domain, "symmetric", "absolute", lambda d: 1.5 * d)
    assert (refuted.witness.measured, refuted.witness.claimed) == (2.0, 1.5)


def test_texts_that_are_only_examples_prove_nothing():
    some = audited(len, dpaudit.Choices(("a", "bb"), complete=False), "discrete", "absolute", lambda d: d)
    all_of_them = audited(len, dpaudit.Choices(("a", "bb")), "discrete", "absolute", lambda d: d)
    assert (some.verdict, all_of_them.verdict) == ("consistent", "proved")


@pytest.mark.slow
@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_a_hostile_value_is_tried(value):
    def misled(data):
        return 9 if any(each is value or each == value for each in data) or repr(value) in map(repr, data) else 0

    element = dpaudit.Nullable(dpaudit.Floats(nan=True))
    evidence = audited(misled, dpaudit.Datasets(element), "symmetric", "absolute", lambda d: d)
    assert evidence.verdict == "refuted"
    assert evidence.witness.measured == 9.0


@pytest.mark.slow
def test_exceptions_on_one_side_count_unless_they_mark_the_domain():
    domain = dpaudit.Datasets(dpaudit.Integers(0, 9))

    def mean(data):
        return sum(data) / len(data)

    evidence = audited(mean, domain, "symmetric", "absolute", lambda d: 9 * d)
    assert evidence.verdict == "refuted"
    assert evidence.witness.instance["data"] == [] or evidence.witness.instance["neighbour"] == []
    kept = audited(mean, domain, "symmetric", "absolute", lambda d: 9 * d, raising_counts=False)
    assert kept.verdict == "consistent"


@pytest.mark.slow
def test_rounding_counts_only_where_it_is_asked_for():
    def mean(data):
        return sum(data) / 3

    domain = dpaudit.Datasets(dpaudit.Floats(0.0, 1.0), size=3)
    assert audited(mean, domain, "symmetric", "absolute", lambda d: d / 6).verdict == "consistent"
    assert audited(mean, domain, "symmetric", "absolute", lambda d: d / 6, tolerance=0.0).verdict == "refuted"


def test_a_random_transformation_is_never_refuted_or_passed():
    rng = np.random.default_rng(1)
    evidence = audited(
        lambda x: list(rng.permutation(x)), dpaudit.Datasets(WHOLE), "insert-delete", "hamming", lambda d: math.inf
    )
    assert evidence.verdict == "inconclusive"
    assert "not deterministic" in evidence.note


def test_a_search_that_time_cuts_short_is_no_pass():
    evidence = audited(len, dpaudit.Datasets(WHOLE), "symmetric", "absolute", lambda d: d, draws=10**6, deadline=0.0)
    assert (evidence.verdict, evidence.remedy) == ("inconclusive", "time")


def test_a_map_that_gives_no_number_is_an_error():
    with pytest.raises(dpaudit.CheckError, match=r"map\(1\) gives no distance"):
        audited(len, dpaudit.Datasets(WHOLE), "symmetric", "absolute", lambda d: "much")


@pytest.mark.parametrize(
    "fields",
    [
        {"domain": [1, 2]},
        {"domain": dpaudit.Integers(0, 1)},
        {"output_metric": "manhattan"},
        {"distance_type": str},
        {"tolerance": -1.0},
    ],
)
def test_a_claim_that_cannot_be_is_refused(fields):
    good = {"domain": dpaudit.Datasets(WHOLE), "input_metric": "symmetric", "output_metric": "absolute"}
    with pytest.raises(dpaudit.ParameterError, match="claim s"):
        dpaudit.StabilityClaim(id="s", statement="", transformation=len, map=lambda d: d, **(good | fields))


def test_check_reports_the_pair():
    class Doubling(dpaudit.Mechanism):
        """Doubles."""

        def claims(self):
            return [
                dpaudit.StabilityClaim(
                    id="doubling.stability",
                    statement="It is 1-stable.",
                    transformation=lambda x: 2 * x,
                    domain=dpaudit.Integers(-1000, 1000),
                    input_metric="absolute",
                    output_metric="absolute",
                    map=lambda d: d,
                )
            ]

    (result,) = dpaudit.check(Doubling(), seed=1).results
    assert (result.kind, result.verdict, result.witness.measured, result.witness.claimed) == (
        "stability",
        "refuted",
        2.0,
        1.0,
    )


@pytest.mark.parametrize(
    ("name", "x", "y", "distance"),
    [
        ("symmetric", [1, 1, 2], [2, 1, 3], 2),
        ("insert-delete", [0, 1, 2], [1, 2, 3], 2),
        ("insert-delete", [1, 2], [2, 1], 2),
        ("change-one", [1, 2, 3], [3, 2, 9], 1),
        ("change-one", [1], [1, 2], math.inf),
        ("hamming", [0, 1, 2], [1, 2, 3], 3),
        ("absolute", 2**60 + 1, 2**60, 1),
        ("absolute", math.nan, 0.0, math.inf),
        ("absolute", math.nan, math.nan, 0),
        ("l1", [1, 2], [2, 0], 3),
        ("l1", {"a": 1}, {"b": 2}, 3),
        ("l2", [0, 0], [3, 4], 5),
        ("linf", [1, 2], [2, 0], 2),
        ("linf", [1], [1, 2], math.inf),
        ("discrete", "a", "b", 1),
    ],
)
def test_distances(name, x, y, distance):
    assert metric(name).between_inputs(x, y) == metric(name).between_outputs(x, y) == distance


def test_zeros_are_different_inputs_and_the_same_output():
    assert metric("symmetric").between_inputs([0.0], [-0.0]) == 2
    assert metric("symmetric").between_outputs([0.0], [-0.0]) == 0


def test_a_root_is_enclosed():
    lower, upper = root(Fraction(2))
    assert lower**2 < 2 < upper**2
    assert upper - lower < 1e-30


@pytest.mark.parametrize("of", [lambda x: Fraction(x, 5), lambda x: Decimal(x) / 5])
@pytest.mark.parametrize("name", ["absolute", "l1"])
def test_fractions_and_decimals_are_numbers(of, name):
    """A fifth of a number changes by a fifth of its change, and never by more than the promise or less than a tenth."""
    in_list = (lambda x: [of(x)]) if name == "l1" else of
    domain = dpaudit.Integers(0, 3)
    assert audited(in_list, domain, "absolute", name, lambda d: d).verdict == "proved"
    refuted = audited(in_list, domain, "absolute", name, lambda d: d / 10)
    assert refuted.verdict == "refuted"
    assert refuted.measured["output_distance"].lower == pytest.approx(0.2)


def test_a_negative_distance_is_an_error():
    with pytest.raises(dpaudit.CheckError, match="at least 0, got -1"):
        audited(lambda x: x, dpaudit.Integers(0, 3), "absolute", lambda a, b: -1.0, lambda d: 0)


NUMBERS = dpaudit.Datasets(dpaudit.Floats(0, 10), size=4)


@pytest.mark.parametrize(
    ("transformation", "output_metric"),
    [
        (lambda data: np.fft.fft(np.array(data), norm="ortho"), "l2"),
        (lambda data: [{"total": sum(data)}], "l1"),
        (lambda data: {"sums": [sum(data), timedelta(0)]}, "l1"),
        (lambda data: timedelta(seconds=sum(data)), "absolute"),
        (lambda data: str(sum(data)), "absolute"),
    ],
)
def test_outputs_that_a_metric_of_numbers_cannot_read_are_no_violation(transformation, output_metric):
    """An orthonormal Fourier transform keeps distances, and was refuted at an infinite distance."""
    with pytest.raises(CheckError, match="is no number"):
        audited(transformation, NUMBERS, "l2", output_metric, lambda d: d)


def test_a_series_is_a_list_of_numbers():
    evidence = audited(lambda data: pd.Series(data) * 2, NUMBERS, "l2", "l2", lambda d: 2 * d * (1 + 1e-9), draws=300)
    assert evidence.verdict == "consistent"
    assert audited(lambda data: pd.Series(data) * 2, NUMBERS, "l2", "l2", lambda d: d, draws=300).verdict == "refuted"


def test_a_transformation_that_is_rarely_random_is_not_refuted():
    """The outputs that broke the promise do not come again."""
    for seed in range(5):
        rng = np.random.default_rng(seed)

        def count(data, rng=rng):
            return len(data) + (100 if rng.random() < 1e-3 else 0)

        domain = dpaudit.Datasets(dpaudit.Integers(0, 10))
        evidence = audited(count, domain, "symmetric", "absolute", lambda d: d)
        assert evidence.verdict in ("inconclusive", "consistent")
