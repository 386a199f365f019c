"""Changes of coordinates: directions of different variance, the order of numbers, and where numbers are in a period."""

import itertools
import json
import math
from datetime import datetime, timedelta
from decimal import Decimal

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.learning import directions
from dpaudit.auditors.learning import score_families as scorefamilies
from dpaudit.auditors.learning.contest import Contest
from dpaudit.auditors.learning.counts import FinalTest, ThresholdEvent
from dpaudit.auditors.learning.directions import directions_transform
from dpaudit.auditors.learning.learners import decimals_transform, learn_quadratic
from dpaudit.auditors.learning.mixtures import MixtureScore
from dpaudit.auditors.learning.periods import phases_transform
from dpaudit.auditors.learning.row_scores import ExtremeScore, QuadraticScore, cell_numbers
from dpaudit.auditors.learning.scores import score_from_json, scores_of
from dpaudit.auditors.learning.selection import select_events
from dpaudit.auditors.learning.transforms import (
    Decimals,
    Directions,
    Identity,
    Phases,
    Places,
    Transform,
    decimals,
    phase,
)
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.outputs import Outputs, as_outputs

COLUMNS = Columns()


def bound(sample, *, samples=60_000, seed=1, **options):
    return dpaudit.epsilon_lower_bound(sample, 0, 1, samples=samples, confidence=0.95, seed=seed, **options).epsilon


def cancelling(shift, scale):
    """Twelve numbers of size 100 that sum to Laplace noise of size 0.001, as masks of a secure sum do."""

    def sample(data, size, rng):
        rows = 100 * rng.normal(size=(size, 12))
        noise = rng.laplace(shift * data, 1 + (scale - 1) * data, size) * 1e-3
        rows[:, 11] = noise - rows[:, :11].sum(axis=1)
        return rows

    return sample


@pytest.mark.slow
def test_a_sum_that_nearly_cancels_is_found():
    assert 0.9 < bound(cancelling(1.0, 1.0)) < 1.02
    # Twice the scale: the log-ratio grows with the size of the sum, and 48,000 samples of the oracle force 3.7.
    assert bound(cancelling(0.0, 2.0)) > 3.2


@pytest.mark.slow
@pytest.mark.parametrize(("width", "variance", "least"), [(20, 1.7, 1.9), (60, 2.5, 3.8)])
def test_a_variance_in_an_oblique_direction_is_found(width, variance, least):
    towards = np.random.default_rng(width).normal(size=width)
    towards /= np.linalg.norm(towards)

    def sample(data, size, rng):
        rows = rng.normal(size=(size, width))
        return rows + data * (math.sqrt(variance) - 1) * np.outer(rows @ towards, towards)

    assert bound(sample) > least


@pytest.mark.slow
def test_a_series_differs_in_many_directions():
    def sample(data, size, rng):
        rows = rng.normal(size=(size, 24))
        for t in range(2, 24):
            rows[:, t] += 0.2 * data * rows[:, t - 2]
        return rows

    assert bound(sample) > 2.2


def test_the_quadratic_score_is_the_log_ratio_of_normal_laws():
    rng = np.random.default_rng(4)
    matrix = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, -0.3], [0.0, 0.0, 1.0]])
    x, y = rng.normal(size=(50_000, 3)), rng.normal(0.3, 1.5, size=(50_000, 3)) @ matrix
    score = learn_quadratic(directions_transform, COLUMNS, as_outputs(x), as_outputs(y))
    assert score is not None
    covariance = 2.25 * matrix.T @ matrix
    at = np.concatenate([x[:200], y[:200]])
    away = at - 0.3 * matrix.sum(axis=0)
    exact = (np.einsum("ij,ij->i", away @ np.linalg.inv(covariance), away) - np.einsum("ij,ij->i", at, at)) / 2
    found = score(as_outputs(at))
    assert np.abs((found - found.mean()) - (exact - exact.mean())).max() < 0.15 * np.ptp(exact)
    assert np.corrcoef(found, exact)[0, 1] > 0.999


@pytest.mark.parametrize("noise", ["normal", "laplace", "exponential", "lognormal"])
def test_chance_makes_no_direction(noise):
    rng = np.random.default_rng(8)
    for width in (2, 5, 20):
        for _ in range(5):
            x, y = (as_outputs(getattr(rng, noise)(size=(4000, width))) for _ in range(2))
            assert directions_transform(COLUMNS, x, y) is None


@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((3000, 4)),
        np.full((3000, 3), np.inf),
        np.repeat([[1e300, -1e300, 0.0]], 3000, axis=0) * np.linspace(0.5, 1, 3000)[:, None],
        np.arange(9000).reshape(3000, 3) % 2,
        np.repeat(np.random.default_rng(1).normal(size=(3000, 1)), 3, axis=1),
    ],
    ids=["equal", "infinite", "huge", "bits", "repeated"],
)
def test_rows_without_directions_end_nothing(rows):
    other = rows[::-1].copy()
    with np.errstate(over="ignore", invalid="ignore"):
        assert directions_transform(COLUMNS, as_outputs(rows), as_outputs(other)) is None
    assert directions_transform(COLUMNS, as_outputs(rows[:5]), as_outputs(other[:5])) is None


def test_infinite_squares_of_both_signs_say_nothing():
    score = QuadraticScore(Directions(COLUMNS, np.eye(2)), np.ones(2), np.array([1.0, -1.0]))
    assert score(as_outputs(np.array([[1e200, 1e200], [2.0, 1.0]]))).tolist() == [0.0, 6.0]


# The order of numbers.


def test_each_order_of_few_numbers_has_a_number_of_its_own():
    rows = np.array(list(itertools.permutations([0.5, 1.0, 7.0, -2.0])))
    codes = Places(COLUMNS)(as_outputs(rows))[:, 0]
    assert sorted(codes) == list(range(24))
    # Only the order counts.
    assert Places(COLUMNS)(as_outputs(np.exp(rows)))[:, 0].tolist() == codes.tolist()


def test_of_many_numbers_the_places_of_the_largest_and_the_smallest_count():
    rows = np.random.default_rng(2).normal(size=(50, 9))
    made = Places(COLUMNS)(as_outputs(rows))
    assert made.tolist() == [[row.tolist().index(row.max()), row.tolist().index(row.min())] for row in rows]


def is_even(rows):
    inversions = sum((rows[:, i] > rows[:, j]).astype(int) for i, j in itertools.combinations(range(rows.shape[1]), 2))
    return inversions % 2 == 0


def parity(data, size, rng):
    rows = rng.normal(size=(size, 4))
    turned = is_even(rows) != (rng.random(size) < (0.75, 0.25)[data])
    rows[turned] = rows[turned][:, [1, 0, 2, 3]]
    return rows


def largest_moved(data, size, rng):
    rows = rng.normal(size=(size, 12))
    moved = np.flatnonzero(rng.random(size) < 0.2 * data)
    places = rows[moved].argmax(axis=1)
    rows[moved, places], rows[moved, 3] = rows[moved, 3], rows[moved, places]
    return rows


@pytest.mark.slow
@pytest.mark.parametrize(("sample", "truth"), [(parity, math.log(3)), (largest_moved, math.log(0.8 + 0.2 * 12))])
def test_the_order_of_numbers_tells_inputs_apart(sample, truth):
    assert 0.9 * truth < bound(sample) < 1.02 * truth


# Periods.


def ripple(data, size, rng):
    made = rng.exponential(size=4 * size)
    sign = 1 - 2 * data
    return made[1.8 * rng.random(4 * size) < 1 + 0.8 * sign * np.cos(2 * np.pi * made / 1e-3)][:size]


def grid(data, size, rng):
    """Laplace noise on multiples of a step that is no power of two, added to the input."""
    return data * 1e-7 + 3e-7 * np.round(rng.laplace(size=size) / 3e-7)


START = datetime(2024, 1, 1)


def hours(data, size, rng):
    day = rng.integers(0, 3000, size)
    seconds = 86_400 * rng.random(4 * size)
    sign = 1 - 2 * data
    kept = seconds[1.5 * rng.random(4 * size) < 1 + 0.5 * sign * np.cos(2 * np.pi * seconds / 86_400)][:size]
    return [START + timedelta(days=int(d), seconds=s) for d, s in zip(day, kept.tolist(), strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sample", "least", "truth"),
    [(ripple, 1.9, math.log(9)), (grid, 6.0, math.inf), (hours, 0.8, math.log(3))],
)
def test_where_numbers_are_in_their_period_tells_inputs_apart(sample, least, truth):
    assert least < bound(sample) < truth


@pytest.mark.parametrize("period", [168, 1440, 3600, 86_400])
def test_whole_numbers_have_periods_that_no_one_listed(period):
    rng = np.random.default_rng(period)
    x, y = (
        rng.integers(0, 5000, 20_000) * period + (rng.random(20_000) ** power * period).astype(int) for power in (1, 2)
    )
    found = phases_transform(COLUMNS, as_outputs(x), as_outputs(y))
    assert found is not None
    ((column, length),) = found.periods
    assert column == 0
    assert length == pytest.approx(period, rel=1e-4)


@pytest.mark.slow
def test_chance_makes_no_period():
    rng = np.random.default_rng(11)
    for draw in (rng.normal, rng.laplace, rng.exponential, rng.random):
        for _ in range(10):
            assert phases_transform(COLUMNS, as_outputs(draw(size=5000)), as_outputs(draw(size=5000))) is None


HOURS = ("hour of the day", 86_400, 3600)
DAYS = ("day of the week", 604_800, 86_400)


def times(rng, size, period, part, *, often, origin=0):
    """Times of some 100 periods, whose fourth part comes with this probability."""
    parts = period // part
    which = np.where(rng.random(size) < often, 3, (rng.integers(1, parts, size) + 3) % parts)
    return origin + rng.integers(0, 100, size) * period + which * part + rng.integers(0, part, size)


@pytest.mark.parametrize("unit", [1, 1000, 10**6])
@pytest.mark.parametrize(("name", "period", "part"), [HOURS, DAYS], ids=lambda value: str(value))
def test_a_rare_part_of_a_calendar_period_is_found_in_few_outputs(name, period, part, unit):
    """The part has probability 0.02 against 0.002, which no peak of the characteristic functions shows in so few."""
    rng = np.random.default_rng(period)
    origin = 1_700_000_000 // period * period
    sides = [
        as_outputs((times(rng, 5000, period, part, often=often, origin=origin) * unit).astype(float))
        for often in (0.02, 0.002)
    ]
    found = phases_transform(COLUMNS, *sides)
    assert found is not None
    ((column, length),) = found.periods
    assert (column, length) == (0, period * unit)


def test_a_period_is_known_well_enough_for_a_narrow_part_of_it():
    """After a thousand periods, an error of 0.002 % moves a number by its width."""
    rng = np.random.default_rng(5)
    sides = [np.floor(rng.random(50_000) * 1000) + rng.random(50_000) for _ in range(2)]
    narrow = rng.random(50_000) < 0.03
    sides[0][narrow] = np.floor(sides[0][narrow]) + 0.5 + 0.02 * rng.random(narrow.sum())
    ((_, length),) = phases_transform(COLUMNS, *(as_outputs(77.123 * side) for side in sides)).periods
    assert length % 77.123 == pytest.approx(0, abs=0.002) or length == pytest.approx(77.123, abs=0.002)


@pytest.mark.slow
def test_chance_makes_no_calendar_period():
    rng = np.random.default_rng(9)
    found = 0
    for _ in range(300):
        sides = (as_outputs(times(rng, 2000, 86_400, 3600, often=1 / 24).astype(float)) for _ in range(2))
        found += phases_transform(COLUMNS, *sides) is not None
    # Twice 1 in 1,000 are stated: for a calendar and for any other period.
    assert found <= 5


def test_a_phase_is_below_one():
    numbers = np.array([-1e-18, 0.0, 0.25, -0.25, 1e300, -1e300, np.inf])
    assert phase(numbers, 0.5).tolist() == [0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_decimals_are_those_of_the_number_as_it_is_written(dtype, scale):
    rng = np.random.default_rng(4)
    numbers = (scale * rng.laplace(size=400)).astype(dtype)
    for place in range(300):
        numbers[place] = np.round(numbers[place], place % 9)

    def written(number):
        shortest = Decimal(np.format_float_positional(number, unique=True, trim="-"))
        return min(max(-shortest.as_tuple().exponent, 0), 7)

    found = decimals(numbers, 6)
    assert found.tolist() == [written(number) for number in numbers]
    # Whatever type holds them.
    assert np.array_equal(found, decimals(numbers.astype(float), 6))


def test_decimals_of_odd_numbers():
    numbers = np.array([0.0, -0.0, 3.0, -2.5, 1e300, 1e22, 0.1 + 0.2, 1e-9, np.inf])
    assert decimals(numbers, 6).tolist() == [0, 0, 0, 1, 0, 0, 7, 7, 0]


def test_decimals_are_looked_at_where_few_and_many_are_mixed():
    rng = np.random.default_rng(5)
    full = rng.laplace(scale=100, size=(2, 500, 3))
    assert decimals_transform(COLUMNS, *map(as_outputs, full)) is None
    assert decimals_transform(COLUMNS, *map(as_outputs, np.round(full, 2))) is None
    assert decimals_transform(COLUMNS, *map(as_outputs, full.astype(int))) is None
    full[1, :20, 2] = np.round(full[1, :20, 2], 2)
    assert decimals_transform(COLUMNS, *map(as_outputs, full)).places == (2,)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["numbers", "rows", "dicts"])
@pytest.mark.parametrize("digits", [0, 2, 3])
def test_rounding_that_the_input_makes_likelier_is_found(form, digits):
    def sample(data, size, rng):
        numbers = rng.laplace(scale=1000, size=size)
        numbers = np.where(rng.random(size) < (0.3 if data else 0.1), np.round(numbers, digits), numbers)
        if form == "rows":
            return np.column_stack([rng.laplace(size=size), numbers, rng.laplace(size=size)])
        if form == "dicts":
            return [{"count": 3, "sum": number} for number in numbers.tolist()]
        return numbers

    assert 0.85 < bound(sample, samples=20_000) <= math.log(3)


# What all of them have in common.

RNG = np.random.default_rng(3)
TRANSFORMS = [
    Directions(COLUMNS, RNG.normal(size=(4, 2))),
    Places(COLUMNS),
    Phases(COLUMNS, ((0, 0.37), (3, 12.0))),
    Decimals(COLUMNS, (1, 3)),
]


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda transform: transform.name)
def test_a_transform_is_read_from_json_and_looks_at_every_output_alone(transform):
    again = Transform.from_json(json.loads(json.dumps(transform.to_json())))
    rows = RNG.normal(size=(40, 4))
    whole = again(as_outputs(rows))
    assert np.array_equal(whole, transform(as_outputs(rows)))
    alone = np.concatenate([again(as_outputs(row[None])) for row in rows])
    assert alone == pytest.approx(whole, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"name": "other"}, "'name' of a transform"),
        ({"name": "directions", "matrix": [1.0]}, "'matrix'"),
        ({"name": "phases", "periods": [[0, -1.0]]}, "'periods'"),
        ({"name": "decimals", "places": []}, "'places'"),
        ({"name": "decimals", "places": [1.5]}, "'places'"),
    ],
)
def test_what_is_no_transform_is_refused(raw, message):
    with pytest.raises(ValueError, match=message):
        Transform.from_json({"positions": None, "categories": [], "matrix": None, **raw})


def test_events_say_what_they_look_at():
    steps = np.ones(1), np.ones(1)
    narrow = QuadraticScore(Directions(COLUMNS, np.array([[1.0], [-0.5]])), np.array([2.0]), np.array([-0.25]))
    assert narrow.describe(1.5, above=True) == {
        "2 (output[0] - 0.5 output[1]) - 0.25 (output[0] - 0.5 output[1])**2": ">= 1.5",
        "the weighted sums are of": "output[0] and output[1]",
    }
    wide = QuadraticScore(Directions(COLUMNS, np.ones((9, 1))), *steps)
    assert wide.describe(1.0, above=False) == {
        "(weighted sum 1) + (weighted sum 1)**2": "<= 1",
        "the weighted sums are of": "output[0] to output[8]",
    }
    assert score_from_json(json.loads(json.dumps(narrow.to_json())))(as_outputs(np.ones((1, 2)))) == pytest.approx(
        2 * 0.5 - 0.25 * 0.25
    )


# What a review found.


@pytest.mark.slow
def test_the_order_of_the_inputs_does_not_decide_which_families_are_left():
    def sample(data, size, rng):
        rows = rng.normal(size=(size, 300))
        rows[:, 7] += 0.5 * data
        return rows

    x, y = (sample(data, 60_000, np.random.default_rng(5 + data)) for data in (0, 1))
    test = FinalTest(dpaudit.ApproximateDP(0.0), 60_000, 0.05)
    kept = [
        {f.name for f in Contest(Outputs(a), Outputs(b), test, thorough=True, until=None)._entrants()}
        for a, b in ((x, y), (y, x))
    ]
    assert kept[0] == kept[1]


@pytest.mark.slow
def test_a_planted_difference_without_time_is_no_blindness(monkeypatch):
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(4000, 2)), rng.normal(size=(4000, 2))
    test = FinalTest(dpaudit.ApproximateDP(1.0), 16_000, 0.05)
    fits = scorefamilies.Allowance.fits
    begun = []

    def late(allowance, family, work):
        begun.append(allowance)
        if allowance is not begun[0]:
            # The second contest is that of the planted difference.
            allowance.left_out.append(family.name)
            return False
        return fits(allowance, family, work)

    monkeypatch.setattr(scorefamilies.Allowance, "fits", late)
    assert not select_events(x, y, test, until=math.inf).blind
    assert any(allowance is not begun[0] for allowance in begun)


def test_laws_of_hidden_classes_add_up_to_one():
    rng = np.random.default_rng(7)
    hidden = rng.integers(0, 2, 6000)[:, None]
    x, y = rng.normal(2 * hidden, 1, (6000, 4)), rng.normal(1.5 * hidden, 1, (6000, 4))
    edges = tuple(np.linspace(-2, 4, 9) for _ in range(4))
    score = MixtureScore.fit(Identity(COLUMNS), edges, x, y)
    assert score is not None
    # Halves of the difference between the inputs are added to either law; their geometric mean is the common law.
    common = np.exp((score.laws[0] + score.laws[1]) / 2)
    assert common.reshape(4, 10, -1).sum(axis=1) == pytest.approx(1.0, abs=1e-9)


def test_whole_numbers_at_the_ends_of_their_type_keep_their_cells():
    edges = np.array([1.0, 2.0, 3.0])
    assert cell_numbers(edges, np.array([0, 2, 2**63 + 5], dtype=np.uint64)).tolist() == [0, 2, 3]
    assert cell_numbers(edges, np.array([-(2**63), 2**63 - 1])).tolist() == [0, 3]
    assert cell_numbers(edges, np.array([False, True])).tolist() == [0, 1]
    assert cell_numbers(np.array([-2.0, -1.0, 0.0]), np.array([0, 255], dtype=np.uint8)).tolist() == [3, 3]


def test_the_rule_of_the_largest_deviation_keeps_what_is_on_its_edge():
    score = ExtremeScore(Identity(COLUMNS), np.zeros(1), np.full(1, 2 / 3))
    (text,) = (ThresholdEvent(score, 1.0, above=True).describe()["in short"],)
    assert text == "output <= -0.666666 or output >= 0.666666"
    assert ThresholdEvent(score, 1.0, above=True).contains(np.array([[2 / 3]])).all()


def test_rows_with_far_tails_still_have_usual_ones():
    assert 0 < directions._LEAST_USUAL < 1
    rng = np.random.default_rng(9)
    x, y = rng.standard_cauchy((20_000, 6)), rng.standard_cauchy((20_000, 6))
    y[:, 5] = y[:, :5].sum(axis=1) + 0.01 * rng.normal(size=20_000)
    found = directions_transform(COLUMNS, as_outputs(x), as_outputs(y))
    assert found is not None
    assert np.isfinite(scores_of(learn_quadratic(lambda *_: found, COLUMNS, as_outputs(x), as_outputs(y)), x)).all()
