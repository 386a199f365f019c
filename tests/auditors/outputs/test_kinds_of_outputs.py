"""Outputs that were drawn already and those of a sampler are checked alike: what the one takes, so does the other."""

from collections import deque

import numpy as np
import pytest

import dpaudit

ROWS = 1000
LARGE = 2**63


def objects(items):
    made = np.empty(len(items), dtype=object)
    made[:] = items
    return made


def typed(zero, one, dtype=None):
    return lambda coins: np.array([zero, one], dtype=dtype)[coins.astype(int)]


def chosen(zero, one, form=list):
    return lambda coins: form([one if each else zero for each in coins.tolist()])


def unit(name):
    return typed(np.datetime64("2024-01-01", name), np.datetime64("2024-01-02", name))


ACCEPTED = {
    "an array of numbers": typed(0.5, 1.5),
    "an array of rows": lambda coins: np.column_stack([coins, ~coins]).astype(float),
    "a list of numbers": chosen(0.5, 1.5),
    "a list of numbers of numpy": chosen(np.float64(0.5), np.float64(1.5)),
    "a list of single precision": chosen(np.float32(0.5), np.float32(1.5)),
    "a list of rows": chosen([0, 1], [1, 0]),
    "a list of arrays": chosen(np.array([0, 1]), np.array([1, 0])),
    "a tuple of numbers": chosen(0, 1, tuple),
    "tuples of two kinds": chosen((0, "a"), (1, "b")),
    "a deque": chosen(0, 1, deque),
    "lists of different lengths": chosen([1], [1, 2]),
    "truth values of numpy": chosen(np.bool_(False), np.bool_(True)),
    "complex numbers": typed(1j, 2j),
    "datetimes": unit("s"),
    "durations": typed(np.timedelta64(1, "ms"), np.timedelta64(2, "ms")),
    "a list of datetimes": chosen(np.datetime64("2024-01-01", "s"), np.datetime64("2024-01-02", "s")),
    "large whole numbers": chosen(LARGE, LARGE + 1),
    "whole numbers above and below 2^63": chosen(-1, LARGE),
    "rows of large whole numbers": chosen((-1, 5), (LARGE, 5)),
    "whole numbers of no type of numpy": chosen(10**30, 10**30 + 1),
    "an array of large whole numbers": typed(LARGE, LARGE + 1, np.uint64),
    "texts": chosen("no", "yes"),
    "an array of texts": typed("no", "yes"),
    "bytes": typed(b"no", b"yes"),
    "numbers and texts": chosen(1, "1"),
    "None": chosen(None, 0, objects),
    "dicts": chosen({"a": 1}, {"a": 2}),
    "an infinite number": chosen(0.0, float("inf")),
    "not a number inside": chosen((0, float("nan")), (1, float("nan"))),
}

REFUSED = {
    "NaN in an array": typed(0.5, np.nan),
    "NaN in a list": chosen(0.5, float("nan")),
    "NaN of numpy in a list": chosen(np.float64(0.5), np.float64("nan")),
    "NaN among objects": chosen(None, float("nan"), objects),
    "a complex NaN": typed(0j, complex(0, np.nan)),
    "NaT": typed(np.datetime64("2024-01-01"), np.datetime64("NaT")),
    "a masked array": lambda coins: np.ma.masked_array(coins, mask=coins),
    "a list of masked arrays": chosen(np.ma.masked_array([1.0], mask=[True]), np.ma.masked_array([1.0])),
    "rows of no values": lambda coins: np.zeros((len(coins), 0)),
    "a number": lambda coins: 5,
    "a dict of outputs": lambda coins: dict(enumerate(coins.tolist())),
    "a text": lambda coins: "x" * len(coins),
}

SAME = {
    "numbers": (
        typed(0, 1, np.int64),
        chosen(0, 1),
        chosen(0, 1, tuple),
        chosen(0, 1, deque),
        chosen(np.int64(0), np.int64(1)),
        chosen(np.int8(0), np.int8(1)),
    ),
    "large numbers": (
        chosen(LARGE, LARGE + 1),
        chosen(LARGE, LARGE + 1, objects),
        typed(LARGE, LARGE + 1, np.uint64),
        chosen(np.uint64(LARGE), np.uint64(LARGE + 1)),
    ),
    "texts": (chosen("no", "yes"), typed("no", "yes"), chosen("no", "yes", objects)),
    "rows": (
        typed((0.5, 1.0), (1.5, 1.0)),
        chosen((0.5, 1.0), (1.5, 1.0)),
        chosen(np.array([0.5, 1.0]), np.array([1.5, 1.0])),
    ),
}
"""Ways to write the same outputs."""


def coins(side, size, rng, rates=(0.03, 0.97)):
    return rng.random(size) < rates[side]


def drawn_already(first, second, **options):
    rng = np.random.default_rng(5)
    sides = [form(coins(side, ROWS, rng, **options)) for side, form in enumerate((first, second))]
    return bound_of(lambda: dpaudit.bound_from_samples(*sides))


def from_a_sampler(first, second, **options):
    def sample(side, size, rng):
        return (first, second)[side](coins(side, size, rng, **options))

    return bound_of(lambda: dpaudit.epsilon_lower_bound(sample, 0, 1, samples=ROWS))


def bound_of(make):
    """Bound on epsilon; None where the outputs are refused."""
    try:
        return make().epsilon
    except (dpaudit.CheckError, dpaudit.DataError):
        return None


@pytest.mark.slow
@pytest.mark.parametrize("name", ACCEPTED)
def test_the_same_kinds_are_accepted_and_told_apart(name):
    form = ACCEPTED[name]
    for found in (drawn_already(form, form), from_a_sampler(form, form)):
        assert found is not None
        assert found > 1.5


@pytest.mark.parametrize("name", REFUSED)
def test_the_same_kinds_are_refused(name):
    form = REFUSED[name]
    assert (drawn_already(form, form), from_a_sampler(form, form)) == (None, None)


@pytest.mark.slow
@pytest.mark.parametrize("name", SAME)
def test_ways_to_write_the_same_outputs_are_the_same(name):
    ways = SAME[name]
    for other in ways[1:]:
        for pair in ((ways[0], other), (other, ways[0])):
            for found in (drawn_already(*pair, rates=(0.5, 0.5)), from_a_sampler(*pair, rates=(0.5, 0.5))):
                assert found is not None
                assert found < 1


def test_numbers_of_numpy_in_a_list_are_those_of_an_array():
    numbers = np.random.default_rng(1).laplace(size=(2, 500))
    of_arrays = dpaudit.bound_from_samples(*numbers)
    assert dpaudit.bound_from_samples(list(numbers[0]), numbers[1]) == of_arrays


@pytest.mark.slow
def test_a_list_of_large_numbers_is_not_rounded():
    rng = np.random.default_rng(2)
    even = [2 * each for each in rng.integers(0, 2**63, size=50).tolist()]
    a, b = ([even[i] + odd for i in rng.integers(0, 50, size=2000)] for odd in (0, 1))
    assert dpaudit.bound_from_samples(a, b).epsilon > 4
    # One side may hold none that is too large for an array.
    few = chosen(-1, 1)(coins(0, ROWS, rng))
    assert dpaudit.bound_from_samples(few, chosen(-1, LARGE)(coins(1, ROWS, rng))).epsilon > 1.5
    assert dpaudit.bound_from_samples(few, chosen(-1, 1, objects)(coins(0, ROWS, rng))).epsilon == 0
    positive = chosen(LARGE, LARGE + 1)(coins(0, ROWS, rng))
    assert dpaudit.bound_from_samples(few, positive).epsilon > 4


TIMES = (np.random.default_rng(3).laplace(size=(2, 2000)) * 1000).astype(np.int64)


@pytest.mark.slow
@pytest.mark.parametrize("kind", "mM")
@pytest.mark.parametrize(("unit", "units"), [("s", "s ms"), ("s", "ns s"), ("5m", "25s 60s"), ("D", "D h")])
def test_times_of_two_units_are_compared_in_the_finer_one(kind, unit, units):
    a, b = (
        side.astype(f"{kind}8[{unit}]").astype(f"{kind}8[{each}]")
        for side, each in zip(TIMES, units.split(), strict=True)
    )
    bound = dpaudit.bound_from_samples(a, b)
    assert bound.epsilon < 0.5
    finer = np.promote_types(a.dtype, b.dtype)
    assert bound == dpaudit.bound_from_samples(a.astype(finer), b.astype(finer))
    assert bound == dpaudit.bound_from_samples(list(a), b)
    assert dpaudit.privacy_bounds_from_samples(a, b).epsilon() < 0.5


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("m8[M]", "m8[D]", r"A and B have times of types timedelta64\[M\] and timedelta64\[D\]"),
        ("m8[s]", "m8", r"timedelta64\[s\] and timedelta64, whose units have none in common"),
        ("m8[s]", "M8[s]", "A has durations and B has datetimes"),
        ("m8[s]", "i8", "A has durations and B has numbers"),
        ("M8[s]", "O", "A has datetimes and B has values of type int"),
    ],
)
def test_times_that_cannot_be_compared(first, second, message):
    with pytest.raises(dpaudit.DataError, match=message):
        dpaudit.bound_from_samples(TIMES[0].astype(first), TIMES[1].astype(second))


def test_times_that_the_finer_unit_does_not_hold():
    with pytest.raises(dpaudit.DataError, match=r"A: has times of type datetime64\[s\] that are too far away"):
        dpaudit.bound_from_samples((TIMES[0] * 10**12).astype("M8[s]"), TIMES[1].astype("M8[ns]"))


def test_times_in_columns():
    def records(side, unit):
        made = np.zeros(len(side), dtype=[("t", f"m8[{unit}]"), ("n", int)])
        made["t"] = side.astype("m8[s]")
        return made

    assert dpaudit.bound_from_samples(records(TIMES[0], "s"), records(TIMES[1], "ms")).epsilon < 0.5
    with pytest.raises(dpaudit.DataError, match="whose units have none in common"):
        dpaudit.bound_from_samples(records(TIMES[0], "s"), np.zeros(50, dtype=[("t", "m8"), ("n", int)]))
    far = records(TIMES[0], "s")
    far["t"] *= 10**12
    with pytest.raises(dpaudit.DataError, match="A, column t: has times of type"):
        dpaudit.bound_from_samples(far, records(TIMES[1], "ns"))


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["us", "ns"])
def test_times_in_frames(unit):
    pd = pytest.importorskip("pandas")
    # Of a column of nanoseconds numpy makes whole numbers, where other units become times of Python.
    a, b = (
        pd.DataFrame({"t": side.astype("M8[s]").astype(f"M8[{each}]"), "n": "a"})
        for side, each in zip(TIMES, ("s", unit), strict=True)
    )
    assert dpaudit.bound_from_samples(a, b).epsilon < 0.5
    assert dpaudit.bound_from_samples(b, a).epsilon < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("wrap", [lambda each: (each, 1), lambda each: {"t": [each]}, lambda each: [np.array([each])]])
def test_times_inside_of_structures_keep_their_units(wrap):
    a, b, finer = (
        [wrap(each) for each in side.astype("m8[s]").astype(f"m8[{unit}]")]
        for side, unit in zip((*TIMES, TIMES[1]), ("s", "s", "ms"), strict=True)
    )
    assert dpaudit.bound_from_samples(a, b).epsilon < 0.5
    with pytest.raises(dpaudit.DataError, match=r"A holds times of type timedelta64\[s\] and B holds .*\[ms\]"):
        dpaudit.bound_from_samples(a, finer)


def test_texts_are_no_bytes():
    with pytest.raises(dpaudit.DataError, match="A has texts and B has byte strings"):
        dpaudit.bound_from_samples(np.array(["a"] * 50), np.array([b"a"] * 50))


def among_others(outputs):
    return np.full(len(outputs), int(np.floor(outputs.sum())) % 2)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (among_others, "`features` gave an output other features among other outputs"),
        (lambda outputs: np.argsort(np.argsort(outputs)) < len(outputs) / 2, "other features among other outputs"),
        (lambda outputs: outputs - outputs.max(), "other features among other outputs"),
        (lambda outputs: np.where(outputs < 0, np.nan, outputs), "`features` returned NaN"),
        (
            lambda outputs: outputs - 1 if len(outputs) > 1 else outputs * np.nan,
            "NaN .* for an output alone",
        ),
        (lambda outputs: [5], "return .* outputs along axis 0"),
        (lambda outputs: 1 / 0, "`features` raised ZeroDivisionError"),
    ],
)
def test_features_are_checked_alike(features, message):
    rng = np.random.default_rng(4)
    sides = rng.laplace(size=(2, 2000))
    for make in (
        lambda: dpaudit.bound_from_samples(*sides, features=features),
        lambda: dpaudit.privacy_bounds_from_samples(*sides, features=features),
        lambda: dpaudit.epsilon_lower_bound(lambda x, size, rng: rng.laplace(size=size), 0, 1, features=features),
    ):
        with pytest.raises((dpaudit.CheckError, dpaudit.TargetRaisedError), match=message):
            make()


def test_features_of_any_form_are_accepted():
    a, b = coins(0, 2000, np.random.default_rng(6)), coins(1, 2000, np.random.default_rng(7))
    for features in (
        lambda outputs: [np.float32(each) for each in outputs],
        lambda outputs: [(bool(each), "x") for each in outputs],
        # A list of numbers in some calls only.
        lambda outputs: [1 if each else None for each in outputs],
        lambda outputs: outputs.astype("m8[s]"),
    ):
        assert dpaudit.bound_from_samples(a, b, features=features).epsilon > 1.5


def test_features_may_change_what_they_are_given():
    def doubled(outputs):
        outputs *= 2
        return outputs

    a, b = np.random.default_rng(8).laplace(size=(2, 1000))
    before = a.copy()
    dpaudit.bound_from_samples(a, b, features=doubled)
    assert np.array_equal(a, before)
