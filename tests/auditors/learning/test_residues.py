"""The lowest digit of numbers on a grid, the offset of the grid, and checksums of rows."""

import json
import math
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from rates import counted, most
from scipy.stats import binom, chi2_contingency

import dpaudit
from dpaudit.auditors.learning.counts import ThresholdEvent
from dpaudit.auditors.learning.residues import ResidueScore, _luck
from dpaudit.auditors.learning.scores import score_from_json
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.grids import Grid
from dpaudit.auditors.sampling.again import drawn_again

SEED = 16
KEPT = 0.95
EPSILON = math.log(KEPT / (1 - KEPT))
FALSE_ALARM = 1e-6


def objects(items):
    made = np.empty(len(items), dtype=object)
    made[:] = items
    return made


def test_one_input_may_have_narrow_numbers_and_the_other_long_ones():
    def sample(data, size, rng):
        return [(number, "a") for number in rng.integers(0, 2 ** (50 if data else 31) - 1, size).tolist()]

    assert dpaudit.epsilon_lower_bound(sample, 0, 1, samples=2000).epsilon > 3


def noise(size, rng, scale=1e4):
    return np.rint(rng.laplace(scale=scale, size=size)).astype(np.int64)


def response(data, size, rng):
    """Randomized response to one bit: all that depends on the input."""
    return np.where(rng.random(size) < KEPT, data, 1 - data)


def parity(data, size, rng, scale=1e4):
    return 2 * noise(size, rng, scale) + response(data, size, rng)


def decimal_digit(data, size, rng):
    return 10 * noise(size, rng) + np.where(response(data, size, rng), 7, 2)


def beside(data, size, rng, *, checked, modulus):
    """Rows of five numbers, the last of which makes a sum of some of them what the input wants it to be."""
    rows = np.column_stack([noise(size, rng) for _ in range(4)])
    others = rows[:, checked].sum(axis=1)
    return np.column_stack([rows, modulus * noise(size, rng) + (response(data, size, rng) - others) % modulus])


LEAKS = {
    "the parity": parity,
    "the parity, noise of scale 10^6": lambda d, s, r: parity(d, s, r, 1e6),
    "the parity beside 2^62": lambda d, s, r: 2**62 + parity(d, s, r),
    "the parity beyond 2^63": lambda d, s, r: np.uint64(2**63) + (parity(d, s, r) + 2**20).astype(np.uint64),
    "the parity of 32 bits": lambda d, s, r: parity(d, s, r).astype(np.int32),
    "the parity in single precision": lambda d, s, r: parity(d, s, r).astype(np.float32),
    "the last decimal": decimal_digit,
    "a digit above four others": lambda d, s, r: 10**4 * decimal_digit(d, s, r) + r.integers(0, 10**4, s),
    "a bit above twenty others": lambda d, s, r: (parity(d, s, r) << 20) | r.integers(0, 1 << 20, s),
    "cents": lambda d, s, r: decimal_digit(d, s, r) / 100,
    "multiples of 1/1024": lambda d, s, r: parity(d, s, r) / 1024,
    "cents by two": lambda d, s, r: parity(d, s, r) / 100,
    "cents, a few of them far out": lambda d, s, r: np.where(r.random(s) < 1e-3, 1e18, decimal_digit(d, s, r) / 100),
    "cents beside infinity": lambda d, s, r: objects(
        [(v if r.random() > 1e-3 else math.inf,) for v in (decimal_digit(d, s, r) / 100).tolist()]
    ),
    "the parity of floats beside 10^15": lambda d, s, r: 1e15 + parity(d, s, r),
    "the parity beside 4 * 10^15": lambda d, s, r: objects([(4 * 10**15 + v,) for v in parity(d, s, r).tolist()]),
    "the parity in single precision beyond 2^20": lambda d, s, r: parity(d, s, r, 3e5).astype(np.float32),
    "means of 37": lambda d, s, r: parity(d, s, r) / 37,
    "Python's integers beyond 2^70": lambda d, s, r: objects([2**70 + v for v in decimal_digit(d, s, r).tolist()]),
    "decimals": lambda d, s, r: objects([Decimal(v) / 100 for v in decimal_digit(d, s, r).tolist()]),
    "decimals of 24 digits": lambda d, s, r: objects(
        [Decimal(10**23 + v).scaleb(-6) for v in decimal_digit(d, s, r).tolist()]
    ),
    "fractions": lambda d, s, r: objects([Fraction(v, 37) for v in parity(d, s, r).tolist()]),
    "seconds of a time": lambda d, s, r: objects(
        [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=v) for v in parity(d, s, r).tolist()]
    ),
    "microseconds of a time": lambda d, s, r: objects(
        [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(microseconds=v) for v in parity(d, s, r).tolist()]
    ),
    "durations": lambda d, s, r: objects([timedelta(seconds=v) for v in parity(d, s, r).tolist()]),
    "one of a dict": lambda d, s, r: objects(
        [{"n": n, "kind": "ab"[n % 7 > 2]} for n in decimal_digit(d, s, r).tolist()]
    ),
    "one of five columns": lambda d, s, r: np.column_stack([*(noise(s, r) for _ in range(4)), parity(d, s, r)]),
    "cents beside fractions": lambda d, s, r: np.column_stack([r.laplace(size=(s, 4)), decimal_digit(d, s, r) / 100]),
    "the sum of a row by 10": lambda d, s, r: beside(d, s, r, checked=[0, 1, 2, 3], modulus=10),
    "two low bits of a row": lambda d, s, r: beside(d, s, r, checked=[1], modulus=2),
    "an offset of 7": lambda d, s, r: response(d, s, r) + 7 * noise(s, r),
    "an offset of 1009": lambda d, s, r: response(d, s, r) + 1009 * noise(s, r),
}
OFFSETS = {
    "a step of 1009": lambda d, s, r: d + 1009 * noise(s, r),
    "a step of 0.7371": lambda d, s, r: d + 0.7371 * noise(s, r),
    "a step without decimals": lambda d, s, r: 0.3 * d + math.pi / 10 * noise(s, r),
    "limited numbers": lambda d, s, r: np.clip(0.3 * d + math.pi / 10 * noise(s, r), -9000.1, 9000.1),
}


LARGE = ["cents, a few of them far out", "the parity of floats beside 10^15", "microseconds of a time"]


def found(sample, samples=10_000):
    return dpaudit.epsilon_lower_bound(sample, 0, 1, samples=samples, seed=SEED)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["the parity", "cents", "an offset of 1009", *LARGE])
def test_a_leak_in_the_lowest_digit_is_found(name):
    assert 2.4 < found(LEAKS[name]).epsilon <= EPSILON


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAKS)
def test_leaks_in_the_lowest_digit_of_all_kinds_of_numbers_are_found(name):
    assert 2.4 < found(LEAKS[name]).epsilon <= EPSILON


@pytest.mark.parametrize("name", OFFSETS)
def test_a_grid_whose_offset_is_the_input_is_found(name):
    # Noise that is added before rounding hides the input; rounded noise does not, whatever its scale.
    assert found(OFFSETS[name]).epsilon > 5


@pytest.mark.slow
def test_a_weak_leak_is_found_with_more_samples():
    def sample(data, size, rng):
        return 2 * noise(size, rng) + (rng.random(size) < 0.5 + 0.05 * data)

    truth = math.log(0.5 / 0.45)
    assert 0.7 * truth < found(sample, samples=200_000).epsilon <= truth


def fitted(name, size=4000):
    rng = np.random.default_rng(SEED)
    x, y = (np.asarray((LEAKS | OFFSETS)[name](data, size, rng)) for data in (0, 1))
    columns = Columns.fit(np.concatenate([x, y]))
    return ResidueScore.fit(columns, x, y), x


@pytest.mark.parametrize("name", ["the parity beyond 2^63", "the parity beside 2^62", "a digit above four others"])
def test_descriptions_list_the_residues_of_the_event(name):
    score, outputs = fitted(name)
    for above in (True, False):
        event = ThresholdEvent(score, 0.0, above)
        (what, listed), *_ = event.describe().items()
        divisor, modulus = re.fullmatch(r"output (?:// (\d+) )?% (\d+) is any of", what).groups(default="1")
        # Python's integers have no last bit that rounding could take.
        assert event.contains(outputs).tolist() == [
            int(value) // int(divisor) % int(modulus) in listed for value in outputs
        ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("columns", [2**70]),
        ("columns", [-1]),
        ("columns", [0, 0]),
        ("columns", []),
        ("weights", [0]),
        ("weights", [2**63]),
        ("weights", [1.5]),
        ("step", 0),
        ("step", math.nan),
        ("step", -1.0),
        ("step", 10**400),
        ("step", "1"),
        ("offset", math.inf),
        ("short", 1),
        ("modulus", 2**63),
        ("modulus", 1),
        ("modulus", True),
        ("divisor", 2**63),
        ("divisor", 2**62),
        ("divisor", 0),
        ("residues", [1, 0]),
        ("residues", [0, 2**63]),
        ("residues", [0, 3]),
        ("residues", []),
        ("residues", 3),
        ("values", [1.0]),
        ("values", [1.0, math.nan]),
        ("values", [1.0, "1"]),
        ("values", [1.0, 10**400]),
        ("values", [[1.0], [2.0]]),
    ],
)
def test_a_damaged_score_is_none(key, value):
    raw = fitted("cents by two")[0].to_json()
    assert raw["digits"][0]["residues"] == [0, 1]
    score_from_json(raw)
    raw["digits"][0][key] = value
    with pytest.raises((TypeError, ValueError)):
        score_from_json(raw)


def test_a_score_of_no_digits_is_none():
    with pytest.raises(ValueError, match="at least one"):
        score_from_json({**fitted("cents")[0].to_json(), "digits": []})


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAKS | OFFSETS)
def test_a_score_comes_back_from_json_as_it_was(name):
    score, outputs = fitted(name)
    again = score_from_json(json.loads(json.dumps(score.to_json())))
    assert isinstance(again, ResidueScore)
    assert again.to_json() == score.to_json()
    assert np.array_equal(again(outputs), score(outputs))
    # An output alone is scored as it is among others.
    assert [float(again(outputs[i : i + 1])[0]) for i in range(50)] == score(outputs)[:50].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("modulus", [14, 19, 23, 37, 49, 54, 58, 89, 97, 101, 127, 128])
def test_every_modulus_up_to_128_is_tried(modulus):
    rng = np.random.default_rng(SEED)

    def draw(rate):
        number = np.round(3e7 * rng.laplace(size=20_000)).astype(np.int64)
        return number // modulus * modulus + np.where(rng.random(20_000) < rate, 0, rng.integers(1, modulus, 20_000))

    score = ResidueScore.fit(Columns(), draw(0.3), draw(0.1))
    (digit,) = score.digits
    assert modulus % digit.modulus == 0 if modulus == 128 else digit.modulus == modulus
    # A leak of log(0.3 / 0.1) that a divisor of the modulus dilutes.
    assert float(score(np.array([modulus * 1000]))[0]) == pytest.approx(math.log(3), abs=0.2)


def test_the_residues_of_numbers_that_are_on_no_grid_stay_apart():
    score, _ = fitted("cents")
    odd = np.array([np.nan, np.inf, -np.inf, 0.123456, 1e300])
    assert score(odd).tolist() == [0.0] * 5


def mostly_cents(size, rng):
    numbers = rng.laplace(scale=1000, size=size)
    return np.where(rng.random(size) < 0.05, numbers, np.round(numbers, 2)).astype(np.float32)


@pytest.mark.parametrize(
    "draw",
    [mostly_cents, lambda size, rng: rng.laplace(scale=1000, size=size).astype(np.float32)],
    ids=["residues", "bits"],
)
def test_equal_numbers_are_one_whatever_type_holds_them(draw):
    def sample(data, size, rng):
        return draw(size, rng).astype(np.float64 if data else np.float32)

    assert dpaudit.epsilon_lower_bound(sample, 0, 1, samples=5000, confidence=0.9, seed=SEED).epsilon < 0.5


@pytest.mark.parametrize("offset", [0.0, 0.3, 1e6])
@pytest.mark.parametrize("scale", [1.0, 1e5])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rounding_is_no_grid(offset, scale, dtype):
    rng = np.random.default_rng(SEED)
    x, y = ((offset + scale * (data + rng.laplace(size=(4000, 2)))).astype(dtype) for data in (0, 1))
    assert Grid.of(x[:, 0]) is None
    assert ResidueScore.fit(Columns(), x, y) is None


@pytest.mark.parametrize(("offset", "dtype"), [(6e15, np.float64), (1.1e7, np.float32)])
def test_numbers_that_rounding_alone_makes_whole_are_on_no_grid(offset, dtype):
    numbers = (offset + np.random.default_rng(SEED).laplace(scale=1e5, size=4000)).astype(dtype)
    assert np.array_equal(numbers, np.rint(numbers))
    assert Grid.of(numbers) is None


@pytest.mark.parametrize("step", [1.0, 0.01, 0.5, 1 / 37, math.pi / 10, 1234.5])
@pytest.mark.parametrize("offset", [0.0, 0.2])
def test_a_grid_is_found(step, offset):
    numbers = offset + step * noise(2000, np.random.default_rng(SEED))
    grid = Grid.of(numbers)
    # A grid that is finer by a whole number contains it.
    assert math.remainder(step, grid.step) == pytest.approx(0, abs=1e-9 * step)
    places, on_grid = grid.places(numbers)
    assert on_grid.all()
    assert grid.offset + grid.step * places == pytest.approx(numbers, abs=1e-8 * step)


def test_a_lattice_is_no_fixed_array():
    rng = np.random.default_rng(SEED)
    x, y = (shift + math.pi / 10 * noise(8000, rng) for shift in (0.0, 0.3))
    assert drawn_again(x, y) is None
    fixed = [values[rng.integers(5000, size=8000)] for values in rng.laplace(size=(2, 5000))]
    assert drawn_again(*fixed) is not None


def test_luck_is_the_logarithm_of_the_p_value():
    rng = np.random.default_rng(SEED)
    for cells in (2, 10, 60):
        x, y = rng.poisson(np.linspace(80, 120, cells), size=(2, cells))
        p_value = chi2_contingency([x, y], correction=False).pvalue
        assert float(_luck(x[None], y[None])[0]) == pytest.approx(math.log(p_value), rel=1e-6)
    # So far out that the probability itself is 0: for one degree of freedom it is twice that of a normal deviate.
    far = float(_luck(np.array([[2000, 0]]), np.array([[0, 2000]]))[0])
    deviate = math.sqrt(4000)
    assert far == pytest.approx(-(deviate**2) / 2 - math.log(deviate * math.sqrt(math.pi / 2)), rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "draw",
    [
        lambda shift, r: shift + noise(2000, r),
        lambda shift, r: np.round(shift + r.laplace(scale=300, size=2000), 2),
        lambda shift, r: np.column_stack([shift + noise(2000, r), noise(2000, r), noise(2000, r)]),
    ],
    ids=["whole numbers", "cents", "rows"],
)
def test_where_no_residue_tells_the_inputs_apart_one_is_seldom_learned(draw):
    rng = np.random.default_rng(SEED)
    learned = sum(ResidueScore.fit(Columns(), draw(0, rng), draw(300, rng)) is not None for _ in range(200))
    print(f"learned in {learned} of 200")
    assert binom.sf(learned - 1, 200, 0.05) > FALSE_ALARM


@pytest.mark.slow
def test_discrete_noise_that_meets_its_claim_is_refuted_no_more_often_than_stated():
    ratio = math.exp(-1 / 1e4)

    def geometric(data, size, rng):
        return 10_000 * data + rng.geometric(1 - ratio, size) - rng.geometric(1 - ratio, size)

    def is_above(seed):
        return dpaudit.epsilon_lower_bound(geometric, 0, 1, samples=4000, confidence=0.9, seed=seed).epsilon > 1

    wrong, made = counted(is_above, 200, alpha=0.1)
    print(f"above the truth in {wrong} of {made}")
    assert wrong <= most(made, 0.1)
