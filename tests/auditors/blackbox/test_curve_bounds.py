"""Bounds on a whole privacy profile from one run: what goes in, what comes out, and what must agree."""

import math
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from rates import counted, most

import dpaudit
from dpaudit.auditors.learning.counts import FinalTest
from dpaudit.auditors.learning.event_families import choose_family
from dpaudit.errors import DataError, ParameterError


def gaussian(data, size, rng):
    return rng.normal(data, 1.0, size)


def response(data, size, rng):
    return np.where(rng.random(size) < 0.75, data, 1 - data)


@pytest.fixture(scope="module")
def bounds():
    return dpaudit.privacy_bounds(gaussian, 0.0, 1.0, samples=20_000, seed=1)


@pytest.mark.slow
def test_equal_seeds_give_equal_bounds(bounds):
    again = dpaudit.privacy_bounds(gaussian, 0.0, 1.0, samples=20_000, seed=1)
    assert (again.epsilon(0.01), again.mu, again.rho, again.events) == (
        bounds.epsilon(0.01),
        bounds.mu,
        bounds.rho,
        bounds.events,
    )
    assert dpaudit.privacy_bounds(gaussian, 0.0, 1.0, samples=20_000, seed=2).mu != bounds.mu


def test_bounds_agree_with_each_other(bounds):
    for epsilon in (0.1, 0.5, 1.0):
        assert bounds.epsilon(bounds.delta(epsilon)) == pytest.approx(epsilon, rel=1e-6)
    assert bounds.delta(bounds.epsilon(0.0) + 1e-6) == 0.0
    assert bounds.renyi(math.inf) == bounds.epsilon(0.0)
    orders = [bounds.renyi(order) for order in (1, 1.5, 2, 2.5, 4, 16, 200)]
    assert orders == sorted(orders)
    assert orders[-1] <= bounds.epsilon(0.0)
    assert bounds.rho >= max(bounds.renyi(order) / order for order in (1.1, 2.0, 4.0)) * (1 - 1e-3)
    # At its best, more than any one event says of rho.
    assert bounds.rho > 1.15 * bounds.forces(dpaudit.ZeroConcentratedDP(0.0))
    # A test with the smallest sum of errors is what delta at epsilon 0 is about.
    type_one = np.linspace(0, 1, 401)
    sums = [value + bounds.trade_off(value) for value in type_one]
    assert min(sums) == pytest.approx(1 - bounds.delta(0.0), abs=3e-3)


def test_what_one_event_forces_of_any_guarantee(bounds):
    assert bounds.forces(dpaudit.GaussianDP(0.5)) == bounds.mu
    assert bounds.forces(dpaudit.ApproximateDP(1.0, 0.01)) == bounds.epsilon(0.01)
    at_one = bounds.forces(dpaudit.PrivacyProfile({0.0: 0.2, 1.0: 0.05}))
    assert at_one == pytest.approx(max(bounds.epsilon(0.2), bounds.epsilon(0.05) - 1.0))


def test_both_directions_count():
    def one_way(data, size, rng):
        return rng.random(size) < (0.5 if data else 0.05)

    forth, back = (dpaudit.privacy_bounds(one_way, *pair, samples=20_000, seed=3) for pair in ((0, 1), (1, 0)))
    for each in (forth, back):
        assert len(each.events) == 1
        assert math.log(10) * 0.85 < each.epsilon(0.0) < math.log(10)
        assert each.mu == pytest.approx(1.645, rel=0.08)
    assert forth.events[0].reverse != back.events[0].reverse
    assert forth.events[0].hits[0] > 5 * forth.events[0].hits[1]
    assert back.events[0].hits[0] > 5 * back.events[0].hits[1]


def test_one_event_has_all_of_the_error_probability():
    bounds = dpaudit.privacy_bounds(response, 0, 1, samples=20_000, confidence=0.99, seed=1)
    (event,) = bounds.events
    assert event.alpha == pytest.approx(0.01)
    assert bounds.trials == 16_000
    assert bounds.samples == 40_000
    assert sum(event.alpha for event in dpaudit.privacy_bounds(gaussian, 0, 1, samples=5000).events) <= 0.001 * (
        1 + 1e-9
    )


def test_an_event_and_its_complement_are_one():
    rng = np.random.default_rng(1)
    family = choose_family(
        rng.normal(0, 1, 20_000), rng.normal(1, 1, 20_000), FinalTest(dpaudit.ApproximateDP(0.0), 80_000, 0.001)
    )
    assert 15 < len(family) <= 45
    assert sum(each.alpha for each in family) == pytest.approx(0.001)
    cuts = [(id(each.event.score), each.event.threshold, each.event.above) for each in family]
    assert len(set(cuts)) == len(cuts)


def test_equal_laws_are_not_told_apart():
    bounds = dpaudit.privacy_bounds(lambda data, size, rng: rng.normal(0, 1, size), 0, 1, samples=10_000, seed=1)
    assert (bounds.epsilon(0.0), bounds.mu, bounds.rho, bounds.renyi(2), bounds.delta(0.0)) == (0, 0, 0, 0, 0)
    assert bounds.trade_off(0.3) == pytest.approx(0.7)
    assert bounds.curves().delta_lower == (0.0,) * len(bounds.curves().epsilon)


@pytest.mark.parametrize(
    "sample",
    [
        lambda data, size, rng: np.where(response(data, size, rng), "yes", "no"),
        lambda data, size, rng: [(bool(bit), "text") for bit in response(data, size, rng)],
        lambda data, size, rng: np.stack([response(data, size, rng), rng.integers(0, 5, size)], axis=1),
    ],
)
def test_outputs_of_any_form(sample):
    bounds = dpaudit.privacy_bounds(sample, 0, 1, samples=10_000, seed=1)
    assert 0.85 * math.log(3) < bounds.epsilon(0.0) < math.log(3)


def test_a_feature_map_is_looked_at():
    def hidden(data, size, rng):
        return np.stack([rng.normal(size=size), 1000.0 + response(data, size, rng)], axis=1)

    def looked_at(outputs):
        return outputs[:, 0] * 0

    assert dpaudit.privacy_bounds(hidden, 0, 1, samples=5000, features=looked_at).epsilon(0.0) == 0
    assert dpaudit.privacy_bounds(hidden, 0, 1, samples=5000, features=lambda rows: rows[:, 1]).epsilon(0.0) > 0.8


def test_curves_are_data(bounds):
    curves = bounds.curves()
    assert list(curves.delta_lower) == sorted(curves.delta_lower, reverse=True)
    assert curves.epsilon[-1] == pytest.approx(bounds.epsilon(0.0))
    assert curves.type_two_upper[0] == pytest.approx(1.0, abs=0.02)
    assert set(curves.delta_upper) == {1.0}
    assert set(curves.type_two_lower) == {0.0}


def test_it_says_what_it_is_in_a_line(bounds):
    said = repr(bounds)
    assert said.startswith("<PrivacyBounds epsilon >= ")
    assert "confidence 0.999" in said
    assert "16,000 outputs per input" in said
    assert float(said.split("mu >= ")[1].split(";")[0]) <= bounds.mu
    again = pickle.loads(pickle.dumps(bounds))
    assert repr(again) == said


@pytest.mark.slow
def test_outputs_that_were_drawn_already_say_as_much(bounds):
    rng = np.random.default_rng(4)
    x, y = rng.normal(0.0, 1.0, 20_000), rng.normal(1.0, 1.0, 30_000)
    found = dpaudit.privacy_bounds_from_samples(x, y, seed=2)
    assert 0.85 < found.mu < 1
    assert found.samples == 50_000
    assert found.trials < 20_000
    assert found.forces(dpaudit.GaussianDP(0.0)) == found.mu
    assert found.curves() == dpaudit.privacy_bounds_from_samples(x.tolist(), y.tolist(), seed=2).curves()
    turned = dpaudit.privacy_bounds_from_samples(y, x, seed=2)
    assert turned.mu == pytest.approx(found.mu, rel=0.1)


@pytest.mark.slow
def test_bounds_from_samples_are_wrong_no_more_often_than_stated():
    """Laplace noise with epsilon 1 at confidence 0.9: the bounds of 200 files are on the right side."""

    def is_wrong(seed):
        rng = np.random.default_rng(seed)
        x, y = rng.laplace(size=2000), 1 + rng.laplace(size=3000)
        found = dpaudit.privacy_bounds_from_samples(x, y, confidence=0.9, seed=seed)
        half = np.exp(-0.5)
        deltas = [(each, 1 - np.exp((each - 1) / 2)) for each in (0.0, 0.3, 0.6)]
        return (
            found.epsilon(0.0) > 1 + 1e-9
            or any(found.delta(each) > delta + 1e-9 for each, delta in deltas)
            or found.trade_off(half / 2) < half / 2 - 1e-9
        )

    wrong, made = counted(is_wrong, 200, alpha=0.1)
    assert wrong <= most(made, 0.1)


def test_files_that_cannot_be_used_are_named():
    with pytest.raises(DataError, match="left has 3 rows; a bound takes at least 20"):
        dpaudit.privacy_bounds_from_samples([1, 2, 3], range(100), names=("left", "right"))
    with pytest.raises(ParameterError, match="confidence"):
        dpaudit.privacy_bounds_from_samples(np.arange(99), np.arange(99), confidence=1.0)
    numbers = np.random.default_rng(1).permutation(99)
    bounds = dpaudit.privacy_bounds_from_samples(numbers, 1 + numbers[::-1])
    with pytest.raises(ParameterError, match=r"guarantee must be one such as dpaudit.ApproximateDP"):
        bounds.forces(3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"samples": 10}, "samples must be at least 1000"),
        ({"confidence": 1.0}, "confidence"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"features": "bits"}, "features must be a function or one of float-bits"),
    ],
)
def test_calls_that_cannot_be_used(arguments, message):
    with pytest.raises(dpaudit.ParameterError, match=message):
        dpaudit.privacy_bounds(gaussian, 0, 1, **{"samples": 2000, **arguments})


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda bounds: bounds.delta(-0.1), "epsilon must be at least 0"),
        (lambda bounds: bounds.delta(math.nan), "epsilon must be at least 0"),
        (lambda bounds: bounds.epsilon(1.5), r"delta must be in \[0, 1\]"),
        (lambda bounds: bounds.renyi(0.5), "alpha must be at least 1"),
        (lambda bounds: bounds.trade_off(-1), r"type_one must be in \[0, 1\]"),
    ],
)
def test_questions_that_have_no_answer(bounds, ask, message):
    with pytest.raises(dpaudit.ParameterError, match=message):
        ask(bounds)


def test_the_example_of_the_docs_runs(capsys):
    page = (Path(__file__).parents[3] / "docs" / "privacy-bounds.md").read_text()
    example, *_ = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    exec(compile(example, "example", "exec"), {})
    first, second, third, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("<PrivacyBounds epsilon >= 2.")
    assert 1.9 < float(second.split()[0]) < 2.32
    assert [float(number) > part for number, part in zip(third.split(), (0.96, 0.44, 0.84), strict=True)] == [True] * 3
