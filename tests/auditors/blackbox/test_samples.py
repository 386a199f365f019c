"""Bounds from samples that were drawn already: coverage, closed forms, forms of outputs, rows that come again."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import dpaudit
from dpaudit.runner.bounds import judge_samples


def laplace(rng, size, at=0.0):
    return at + rng.laplace(size=size)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [(200, 200), (150, 700)], ids=str)
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_bounds_are_rarely_above_the_truth(rows, delta):
    # Randomized response, whose epsilon is 1, so that the bound can be met.
    rng = np.random.default_rng(2)
    keep = 1 / (1 + math.exp(-1))
    true = math.log((keep - delta) / (1 - keep))
    above = 0
    for seed in range(100):
        a, b = (rng.random(size) < rate for size, rate in zip(rows, (keep, 1 - keep), strict=True))
        above += dpaudit.bound_from_samples(a, b, delta=delta, confidence=0.9, seed=seed).value > true
    assert above <= binom.isf(1e-6, 100, 0.1)


@pytest.mark.slow
def test_as_much_as_from_a_sampler():
    for n, least in ((2000, 0.5), (50_000, 0.9)):
        rng = np.random.default_rng(n)
        found = [dpaudit.bound_from_samples(laplace(rng, n), laplace(rng, n, 1.0), seed=i).epsilon for i in range(5)]
        drawn = [
            dpaudit.epsilon_lower_bound(
                lambda at, size, rng: laplace(rng, size, at), 0.0, 1.0, samples=n, seed=i
            ).epsilon
            for i in range(5)
        ]
        assert np.mean(found) > max(least, np.mean(drawn) - 0.08)
        assert max(found) <= 1.0


@pytest.mark.slow
def test_what_is_told():
    rng = np.random.default_rng(3)
    a, b = laplace(rng, 3000), laplace(rng, 5000, 1.0)
    bound = dpaudit.bound_from_samples(a, b, claimed=0.2, seed=4)
    assert bound == dpaudit.bound_from_samples(a.tolist(), b, claimed=0.2, seed=4)
    assert bound != dpaudit.bound_from_samples(a, b, claimed=0.2, seed=5)
    assert (bound.rows, bound.learned) == ((3000, 5000), 600)
    assert bound.p == bound.hits[0] / bound.trials[0] > bound.q
    assert sum(bound.trials) <= 3000 + 5000 - 2 * 600
    assert 0.3 < bound.value < bound.outlook <= 1.05
    turned = dpaudit.bound_from_samples(b, a, seed=4)
    assert turned.value == pytest.approx(bound.value, abs=0.2)
    assert dpaudit.bound_from_samples(a, laplace(rng, 3000), seed=1).value == 0


def test_a_confidence_whose_complement_is_one_is_refused():
    with pytest.raises(dpaudit.ParameterError, match="confidence must be at least 1e-15, got 1e-17"):
        dpaudit.bound_from_samples(*(laplace(np.random.default_rng(seed), 100) for seed in (1, 2)), confidence=1e-17)


@pytest.mark.parametrize("bad", [None, "1", 1j, [], 1.0, -0.1])
def test_numbers_that_are_none_are_refused(bad):
    drawn = [laplace(np.random.default_rng(seed), 100) for seed in (1, 2)]
    with pytest.raises(dpaudit.ParameterError, match="delta must be at least 0 and below 1"):
        dpaudit.bound_from_samples(*drawn, delta=bad)
    for name in ("claimed", "features"):
        if bad is not None and not (name == "claimed" and bad == 1.0):
            with pytest.raises(dpaudit.ParameterError, match=f"{name} must be"):
                dpaudit.bound_from_samples(*drawn, **{name: bad})
        if bad is not None:
            with pytest.raises(dpaudit.ParameterError, match="stop_early must be True or False"):
                dpaudit.epsilon_lower_bound(lambda data, size, rng: rng.random(size), 0, 1, stop_early=bad)
    with pytest.raises(dpaudit.ParameterError, match="samples must be at least 1000"):
        dpaudit.epsilon_lower_bound(lambda data, size, rng: rng.random(size), 0, 1, samples=None)


def test_another_guarantee():
    class Rarer(dpaudit.ApproximateDP):
        """Decided by two probabilities."""

        __slots__ = ()
        by_ratio = False

    rng = np.random.default_rng(3)
    a, b = rng.random(3000) < 0.7, rng.random(2000) < 0.3
    bound = dpaudit.bound_from_samples(a, b, guarantee=Rarer(0.5))
    assert sum(bound.trials) == 5000 - 2 * bound.learned
    assert 0.4 < bound.value < math.log(7 / 3)
    assert bound.parameter == "epsilon"
    with pytest.raises(dpaudit.ParameterError, match="leave delta"):
        dpaudit.bound_from_samples(a, b, guarantee=Rarer(0.5), delta=0.1)


@pytest.mark.slow
def test_forms_of_outputs():
    rng = np.random.default_rng(5)
    coins = [rng.random(2000) < rate for rate in (0.8, 0.2)]
    plain = dpaudit.bound_from_samples(*coins).value
    assert 0.9 < plain < math.log(4)
    for form in (
        lambda side: side.astype(float),
        lambda side: ["yes" if each else "no" for each in side],
        lambda side: np.stack([side, rng.random(2000) < 0.5], axis=1),
        lambda side: [{"answer": bool(each), "text": "a"} for each in side],
        lambda side: np.array([(each, "a") for each in side], dtype=[("x", float), ("y", object)]),
        lambda side: iter(side.tolist()),
    ):
        assert dpaudit.bound_from_samples(*map(form, coins)).value > 0.8
    # What features make equal tells nothing apart.
    assert dpaudit.bound_from_samples(*coins, features=np.zeros_like).value == 0


def test_columns_in_another_order_and_numbers_of_another_type():
    rng = np.random.default_rng(6)
    a = np.zeros(500, dtype=[("x", int), ("y", object)])
    b = np.zeros(500, dtype=[("y", object), ("x", float)])
    for side, rate in ((a, 0.9), (b, 0.1)):
        side["x"], side["y"] = rng.random(500) < rate, "t"
    bound = dpaudit.bound_from_samples(a, b)
    assert bound.value > 0.8
    assert bound.event in ({"x": 0.0, "y": "t"}, {"x": 1.0, "y": "t"})


@pytest.mark.slow
def test_rows_that_come_again():
    rng = np.random.default_rng(7)
    a, b = laplace(rng, 5000), laplace(rng, 5000, 1.43)
    with pytest.raises(dpaudit.CheckError, match="A and of B come again"):
        dpaudit.bound_from_samples(rng.choice(a, 10_000), rng.choice(b, 10_000))

    for made in (lambda x: ("n", x), lambda x: {"n": x, "tags": ["a"]}):
        with pytest.raises(dpaudit.CheckError, match="A and of B come again"):
            dpaudit.bound_from_samples(*(list(map(made, rng.choice(each, 10_000).tolist())) for each in (a, b)))
    texts = (list(map(str, rng.choice(each, 10_000).tolist())) for each in (a, b))
    assert any("come again" in note for note in dpaudit.bound_from_samples(*texts).notes)

    def again(which, size, rng):
        return rng.choice((a, b)[which], size)

    with pytest.raises(dpaudit.CheckError, match=r"again and again.*bound_from_samples"):
        dpaudit.epsilon_lower_bound(again, 0, 1, samples=5000)
    assert 0.5 < dpaudit.bound_from_samples(a, b).epsilon < 1.43


@pytest.mark.slow
@pytest.mark.parametrize(
    "sample",
    [
        lambda at, size, rng: at + rng.laplace(size=size),
        lambda at, size, rng: np.round(at + rng.laplace(size=size), 2),
        lambda at, size, rng: at * 0.3 + rng.geometric(0.5, size=size),
        lambda at, size, rng: np.float64(np.float32(at + rng.laplace(size=size))),
        lambda at, size, rng: np.where(rng.random(size) < 0.3, np.pi, at + rng.laplace(size=size)),
        lambda at, size, rng: np.sqrt(rng.integers(2, 300, size=size)),
    ],
    ids=["continuous", "rounded", "integer noise", "single precision", "an atom", "irrational values"],
)
def test_new_outputs_are_not_taken_for_old_ones(sample):
    assert dpaudit.epsilon_lower_bound(sample, 0, 1, samples=5000).epsilon >= 0


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        ([1.0], [2.0] * 50, {}, "A has 1 row;"),
        ([1.0] * 50, [], {}, "B has 0 rows"),
        (np.zeros((50, 2)), np.zeros((50, 3)), {}, "give the same columns"),
        ("a.csv", "b.csv", {}, r"A is 'a.csv', and no outputs; read the file, .* `dpaudit bound` or `assert_private`"),
        (np.zeros(50), Path("b.csv"), {}, r"B is 'b.csv', and no outputs"),
        (np.ones(50, dtype=bool), np.ones(50, dtype=int), {}, "A has truth values and B has numbers"),
        ([True] * 50, [1.0] * 50, {}, "A has truth values and B has numbers"),
        (np.zeros(50), ["a"] * 50, {"names": ("left", "right")}, "left has numbers and right has texts"),
        ([0.0] * 49 + [math.nan], [0.0] * 50, {}, "A has NaN"),
        ([0.0] * 50, 5, {}, "B is int"),
        ([0.0] * 50, [0.0] * 50, {"delta": 1.0}, "delta"),
        ([0.0] * 50, [0.0] * 50, {"confidence": 0}, "confidence"),
        ([0.0] * 50, [0.0] * 50, {"seed": -1}, "seed"),
        ([0.0] * 50, [0.0] * 50, {"guarantee": 1.0}, "guarantee must be one such as .* got 1.0"),
        ([0.0] * 50, [0.0] * 50, {"names": None}, "names must be two texts, .* got None"),
        ([0.0] * 50, [0.0] * 50, {"names": ("x",)}, r"names must be two texts, .* got \('x',\)"),
        ([0.0] * 50, [0.0] * 50, {"confidence": "0.9"}, "confidence must be .* got '0.9'"),
        ([0.0] * 50, [0.0] * 50, {"claimed": -1.0}, "claimed"),
        ([0.0] * 50, [0.0] * 50, {"features": "bits"}, "features"),
        ([0.0] * 50, [0.0] * 50, {"features": lambda outputs: outputs[:3]}, "return 25 outputs along axis 0"),
        (np.zeros((50, 0)), np.zeros((50, 0)), {}, "without any values"),
        (np.ma.masked_array(np.zeros(50), mask=True), np.zeros(50), {}, "masked"),
    ],
)
def test_refused_samples(a, b, options, message):
    with pytest.raises(dpaudit.DpauditError, match=message):
        dpaudit.bound_from_samples(a, b, **options)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_rows_says_nothing(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.laplace(size=20_000), 1 + rng.laplace(size=20_000)
    drawn, by_value = (
        dpaudit.bound_from_samples(*sides, claimed=0.5, seed=seed) for sides in ((a, b), (np.sort(a), np.sort(b)))
    )
    # The truth is 1, and either split of so many rows finds an event close to the best.
    assert 0.8 < drawn.epsilon <= 1
    assert 0.8 < by_value.epsilon <= 1


FEW_ROWS = {
    "coins": lambda rng, rows: rng.integers(2, size=rows),
    "rare": lambda rng, rows: np.where(rng.random(rows) < 0.05, 2, 0),
    "two coins": lambda rng, rows: rng.integers(2, size=(rows, 2)),
    "noise": lambda rng, rows: rng.laplace(size=rows),
    "words": lambda rng, rows: [("a", int(value)) for value in rng.integers(4, size=rows)],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FEW_ROWS)
def test_a_handful_of_rows_says_nothing_and_raises_nothing(kind):
    """Copies in which a difference is planted may be too few to learn from; numpy warned of none or one, and failed."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x, y = (FEW_ROWS[kind](rng, int(rows)) for rows in rng.integers(20, 40, size=2))
        bound = dpaudit.bound_from_samples(x, y, claimed=1.0, seed=seed)
        assert bound.value == 0
        assert bound.detection_limit == math.inf


def test_values_of_other_types_on_one_side_alone_are_compared():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=3000).tolist()
    with_none = [None if hidden else value for hidden, value in zip(rng.random(3000) < 0.3, numbers, strict=True)]
    others = rng.normal(size=3000).tolist()
    alone = dpaudit.bound_from_samples(with_none, others)
    assert alone.epsilon > 3
    assert alone.epsilon == dpaudit.bound_from_samples(with_none, np.array(others)).epsilon
    records = [pd.DataFrame({"v": pd.array(each)}) for each in ([1, None] * 1000, [1, 2] * 1000)]
    assert dpaudit.bound_from_samples(*records).epsilon > 3
    with pytest.raises(dpaudit.DataError, match="A has texts and B has numbers"):
        dpaudit.bound_from_samples(["a"] * 50, [0.5] * 50)


def test_too_few_rows_are_no_identifiers():
    """Of forty rows, a column of Laplace noise looks like one."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frames = [pd.DataFrame({"x": laplace(rng, 5000, at) * (1 - at / 2), "y": laplace(rng, 5000)}) for at in (0, 1)]
    bound = dpaudit.bound_from_samples(*(frame[:40] for frame in frames), claimed=1.0)
    assert bound.identifier == "output['y']"
    evidence = judge_samples(bound, ("A", "B"))
    assert evidence.verdict is dpaudit.Verdict.INCONCLUSIVE
    assert evidence.note.startswith("no violation could have been found with so few rows; give more")
